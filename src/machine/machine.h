/* What is in this computer, or in a recorded one: facts from the kernel and the file system only.
 *
 * A machine is read below a root folder ("" = this computer; a sysroot for `doctor --sysroot`
 * mirrors sys/, proc/, etc/, dev/, opt/, home/). Nothing is run and nothing outside the root is
 * read. Sources: Linux Documentation/ABI (kfd, drm), /sys/class/kfd/kfd/topology, /proc.
 */
#pragma once

#include "formats/finding.h"
#include "target/target.h"

struct machine_gpu {
	unsigned node;           /* KFD topology node */
	struct str target;       /* "gfx1100" */
	struct str name;         /* marketing or asic name, may be "" */
	uint32_t vendor, device; /* PCI ids */
	struct str pci;          /* "0000:03:00.0" */
	struct str render;       /* "/dev/dri/renderD128" */
	uint64_t vram;           /* bytes */
	unsigned compute_units, wave_size;
	bool apu;
};

struct machine_node { /* a device node and who may open it */
	struct str path, group;
	unsigned mode, uid, gid;
	bool usable; /* by the identity of the machine's proc/self/status */
};

struct machine_driver {
	bool loaded;        /* amdgpu is there, built in or as a module */
	struct str version; /* of an out-of-tree module, or "" */
	bool blacklisted;
};

struct machine_sdk { /* a ROCm tree that was found, e.g. /opt/rocm-7.1.0 */
	struct str path, version;
};

struct machine {
	struct str root;
	struct str kernel, distro, arch; /* "6.1.0-31-amd64", "Debian GNU/Linux 12 (bookworm)" */
	struct str cpu;
	unsigned cpus;
	uint64_t memory, memory_free, swap; /* bytes */
	bool wsl, container;
	struct str container_kind; /* "docker", "podman", "" */
	unsigned uid, gid;
	struct strs groups; /* names, or numbers where there is no name */
	struct machine_driver driver;
	VEC(struct machine_gpu) gpus;
	VEC(struct machine_node) nodes;
	VEC(struct machine_sdk) sdks;
	struct findings findings; /* unreadable or contradictory facts */
};

MUST_USE struct err *machine_read(struct arena *a, struct str root, struct machine *ret);
/* The facts as the JSON object of `doctor --json` (member "facts"). */
void machine_json(struct json *j, const struct machine *m);
/* Copies what machine_read() looks at into dir, so that --sysroot dir gives the same facts. Names,
 * serial numbers and addresses are left out. */
MUST_USE struct err *machine_record(struct str root, struct str dir);

/* What the host side of a build can use here; found by looking at files and by asking python3. */
struct host {
	struct str libc;        /* "2.36", "" when there are no development files */
	struct str include_dir; /* the C library's headers, e.g. "/usr/include" */
	struct str gcc_dir;     /* "/usr/lib/gcc/x86_64-linux-gnu/12", "" = none with C++ headers */
	struct str triplet;     /* "x86_64-linux-gnu" */
	struct str python;      /* "/usr/bin/python3", "" = none */
	struct str python_version; /* "3.11" */
	struct str python_include; /* folder that holds Python.h, "" = none */
	struct str python_tag;     /* "cp311" */
	struct str python_abi;     /* "cp311" */
	struct str ext_suffix;     /* ".cpython-311-x86_64-linux-gnu.so" */
};

/* python: the interpreter asked for with --python, "" = python3 of PATH. */
MUST_USE struct err *host_read(struct arena *a, struct str python, struct host *ret);
