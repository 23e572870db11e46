/* What is in this computer, or in a recorded one: facts from the kernel and the file system only.
 *
 * A machine is read below a root ("" = this computer; a folder for `doctor --sysroot`
 * mirrors sys/, proc/, etc/, dev/, opt/; a machine file has all of it in one text). Nothing is run, nothing outside the root is read (links
 * in a sysroot are followed as chroot(2) would), and whatever a file says, reading goes on: a file
 * that cannot be read or understood leaves its facts empty and, where that matters, a finding.
 * Sources: Linux Documentation/ABI (sysfs-class-drm, sysfs-bus-pci), drivers/gpu/drm/amd/amdkfd
 * (kfd_topology.c), proc(5), os-release(5), group(5), modprobe.d(5).
 */
#pragma once

#include "formats/finding.h"
#include "target/target.h"

struct machine_part { /* something with a version: a component of ROCm, a firmware */
	struct str name, version;
};

struct machine_parts {
	struct machine_part *v;
	size_t n, cap;
};

struct machine_unknown {    /* a parameter that a module does not have: the kernel passes it over */
	struct str name;    /* "amdgpu.gtt_size" */
	struct str nearest; /* "gttsize", or "" */
};

struct machine_gpu {       /* a GPU that the compute driver (KFD) lists */
	unsigned node;     /* KFD topology node */
	unsigned index;    /* from 0, as ROCR_VISIBLE_DEVICES counts */
	struct str target; /* "gfx1100"; "" when the driver is too old to say */
	struct str name;   /* the board's or the driver's name, may be "" */
	uint32_t vendor, device;
	struct str pci;    /* "0000:03:00.0" */
	struct str render; /* "/dev/dri/renderD128", "" = none */
	uint64_t
		vram; /* bytes of the pool that KFD reports; on an APU this is a share of the RAM */
	uint64_t gtt; /* bytes of RAM that the driver lets it map; 0 = not known */
	uint64_t
		carve_out; /* of an APU: bytes that the firmware sets aside for it; 0 = not known */
	unsigned compute_units, wave_size;
	bool apu;
	bool no_atomics; /* the way to the processor carries no PCIe atomics of 32 or 64 bits */
	struct str link,
		link_max; /* "16.0 GT/s PCIe x8": now, where an idle GPU may be slower, and what both ends can do; "" on an APU */
	struct str link_card; /* what the card alone could do */
	struct str vbios;
	struct machine_parts firmware; /* "mes" "0x80", as sysfs writes them */
	struct str override;           /* the variable that says what it passes for; "" = none */
	struct str override_target;    /* "gfx1100"; its own: nothing changes; "" also = not read */
};

struct machine_display {   /* an AMD display or accelerator function on the PCI bus */
	struct str pci;    /* "0000:03:00.0", or "" */
	struct str driver; /* "amdgpu", "vfio-pci", "" = none */
	uint32_t vendor, device, class;
};

struct machine_node {           /* a device node and who may open it */
	struct str path, group; /* group: its name, or the number when it has none here */
	unsigned mode, uid, gid;
	bool usable; /* for reading and writing, by the machine's identity */
	bool acl;    /* the mode alone would not allow it, but the kernel does; live machine only */
};

struct machine_driver {
	bool loaded;        /* amdgpu is there, built in or as a module */
	struct str state;   /* "live"; "" = built in, or not known */
	struct str version; /* of an out-of-tree module, or "" */
	bool blacklisted;
	struct str blacklisted_by; /* the file, or "/proc/cmdline" */
	bool secure_boot; /* the firmware lets in only modules that are signed; not asked when it is loaded */
	struct str ttm; /* the module that lends memory to GPUs: "ttm", of AMD's driver "amdttm" */
	struct strs
		options; /* of amdgpu and ttm, by modprobe.d and the kernel: "amdgpu.gttsize=122880" */
	VEC(struct machine_unknown) unknown; /* parameters, of these and of the command line */
	struct str
		dkms; /* version of AMD's driver that DKMS has and did not build for this kernel */
	struct str dkms_log; /* of its build for this kernel, which failed, or "" */
};

struct machine_sdk { /* a ROCm that was found: a tree such as /opt/rocm-7.1.0, or a system's packages */
	struct str path, version;
	struct str kind; /* "tree", "system" (libraries in /usr), "pip" (rocm wheels) */
	struct machine_parts components; /* "hip" "6.4.43482": from headers, names of libraries */
	struct strs rocblas;             /* GPUs of its rocBLAS's files; none: not known */
	bool slim;                       /* rocsmith slim took device code out of it */
	struct strs slim_gpus;           /* and left that of these */
};

struct machine_package { /* a distribution in a Python environment */
	struct str name; /* as PEP 503 normalises it; twice, when a folder has two versions */
	struct str version;
	struct str path; /* of its dist-info folder */
	struct strs
		unmet; /* "torch==2.6.0, but 2.9.0 is here": what it requires of such packages */
};

struct machine_torch {      /* the torch of a Python environment, read from its files */
	struct str path;    /* of the folder torch; "" = only its dist-info is there */
	struct str version; /* "2.9.1+rocm6.4", of torch/version.py, else of its dist-info */
	struct str build; /* "rocm", "cuda", "xpu", "cpu": what its libraries were built for; "" */
	struct str hip;   /* of torch/version.py: "6.4.43484-123eb5128" */
	struct str rocm;  /* "6.4": of hip, of its local version, of its ROCm libraries */
	bool bundled;     /* its ROCm libraries lie in it */
	bool bundled_hsa; /* the runtime, too: not where it was taken out for WSL */
	bool split; /* its code lies in kpack archives, which other wheels bring: one for each GPU */
	struct strs targets; /* GPUs that libtorch_hip*.so have code for: see library.h */
	struct strs rocblas, hipblaslt,
		miopen;      /* GPUs of the side files that it will read; none: not known */
	struct strs needed;  /* ROCm libraries that its libraries ask for: "libamdhip64.so.6" */
	struct strs missing; /* of these, those that neither it nor a ROCm of this machine has;
				in WSL also "librocdxg.so", which the runtime of ROCm 7.2 and later opens */
	struct str runpath;  /* of libtorch_hip.so, or its RPATH */
	bool slim;           /* rocsmith slim took device code out of it */
	bool unloaded; /* rocm wheels have some of the missing ones, but it does not load them from there */
};

struct machine_extension { /* libraries of a package that load torch's */
	struct str name;   /* of its folder or module: "torch_scatter" */
	struct str path;   /* of the first one */
	struct str build;  /* "cuda", "rocm", else "cpu": whose code they load */
	struct strs
		missing; /* ROCm libraries that they ask for, and the ROCm of this torch does not have */
};

struct machine_python {     /* a Python environment */
	struct str path;    /* "/home/USER/venv", "/usr" */
	struct str kind;    /* "system", "user", "venv", "conda", "pyenv" */
	struct str version; /* "3.12" */
	bool active;        /* `python3` of this shell is this one, or (user) sees its packages */
	bool has_torch;
	struct machine_torch torch;
	VEC(struct machine_extension) extensions; /* of a torch for ROCm */
	VEC(struct machine_package) packages; /* torch and what goes with it, ROCm's own; sorted */
};

struct machine_variable { /* an environment variable that ROCm or PyTorch looks at */
	struct str name, value;
	const char *effect; /* what it does, of data/variables.yaml */
};

struct machine_disk {
	struct str use;  /* "cache", "home", "tmp": what would be written there */
	struct str path; /* the folder */
	uint64_t size, free;
};

/* What is known about an environment variable: data/variables.yaml. */
struct variable {
	const char *name, *effect, *evidence;
	bool build; /* it matters to builds, not to programs that run */
};
const struct variable *variable_table(void); /* sorted by name */
extern const size_t variable_count;

struct machine {
	struct str root;
	struct str kernel, arch; /* "6.1.0-31-amd64", "x86_64" */
	struct str distro, distro_id,
		distro_version;             /* "Debian GNU/Linux 12 (bookworm)", "debian", "12" */
	struct str cpu;                     /* model name */
	unsigned cpus;                      /* online */
	uint64_t memory, memory_free, swap; /* bytes */
	uint64_t gtt_limit; /* bytes that GPUs may map of it, by the module ttm; 0 = not known */
	double pressure;    /* see machine_memory_pressure() */
	struct str seccomp; /* of this process: "off", "strict", "filter"; "" = not known */
	struct str iommu;   /* "on", "passthrough", "off"; "" = not known */
	bool wsl, container, virtual;
	struct str container_kind; /* "docker", "podman", "kubernetes", "lxc", ...; "" */
	bool has_identity;         /* uid, gid and groups are known */
	unsigned uid, gid;
	VEC(unsigned) gids;         /* supplementary */
	struct strs groups;         /* of gid and gids: names of system groups, else numbers */
	struct strs account_groups; /* those that /etc/group gives the user: of the next login */
	struct strs parameters;     /* of the kernel command line, those that concern GPUs */
	struct machine_driver driver;
	bool has_kfd;                 /* the kernel has the compute driver's topology */
	bool has_dxg;                 /* /dev/dxg: GPUs of WSL */
	unsigned hidden;              /* KFD nodes that this container's device rules hide */
	VEC(struct machine_gpu) gpus; /* in the order of their nodes */
	VEC(struct machine_display) displays;
	bool nvidia;                    /* a display of NVIDIA is there, too */
	VEC(struct machine_node) nodes; /* /dev/kfd, /dev/dri/renderD* */
	VEC(struct machine_sdk) sdks;
	VEC(struct machine_disk) disks;
	VEC(struct machine_variable) variables; /* those that are set */
	VEC(struct machine_python) pythons;     /* only of machine_read_all() */
	struct findings
		findings; /* files that could not be read; the rules add theirs (know/rule.h) */
};

/* root: "" = this computer; a folder or a machine file. E_NOENT when it is neither, E_SYNTAX. machine_read() leaves out
 * Python environments, which only diagnoses need. */
MUST_USE struct err *machine_read(struct arena *a, struct str root, struct machine *ret);
MUST_USE struct err *machine_read_all(struct arena *a, struct str root, struct machine *ret);
/* Reads ret->gpus alone, from a dozen files of the compute driver: node, target, memory, APU or card; no board's
 * firmware or link. */
MUST_USE struct err *machine_gpus(struct arena *a, struct str root, struct machine *ret);
/* Bytes that programs could still take now, within the limits of our control groups too; 0 = unknown.
 * root: as for machine_read(). */
uint64_t machine_memory_free(struct str root);
/* Percent of the last ten seconds in which nothing could go on for want of memory, here or in one of our
 * control groups, as the kernel tells it (PSI); 0 = none, or it does not. */
double machine_memory_pressure(struct str root);
/* The facts: member "facts" of `doctor --json` (know/rule.h) */
extern const struct json_field machine_fields[];
/* Records what machine_read_all() looks at into `to`, so that --sysroot gives the same facts elsewhere: a machine file when
 * it is named .machine, an archive of a folder for .tar, .tar.gz and .tgz, else a folder (new or empty). Serial numbers,
 * unique ids, user names, host names, network and build addresses are left out (redact.c); this user's folder is
 * "/home/user". In a folder, a device node is an empty file with its mode, owner and group; where the owner cannot be set
 * (in an archive, or without root rights), .nodes has them. .disks has the sizes of disks. A dry run writes nothing. */
MUST_USE struct err *machine_record(struct str root, struct str to, unsigned *ret_files);

/* What the host side of a build can use here; found by looking at files and by asking python3. An
 * empty field means that there is none. */
struct host {
	struct str libc;           /* "2.36": glibc with headers and start files */
	struct str include_dir;    /* the C library's headers, e.g. "/usr/include" */
	struct str gcc_dir;        /* "/usr/lib/gcc/x86_64-linux-gnu/12": newest with C++ headers */
	struct str triplet;        /* "x86_64-linux-gnu" */
	struct str python;         /* "/usr/bin/python3" */
	struct str python_version; /* "3.11" */
	struct str python_include; /* folder that holds Python.h */
	struct str python_tag;     /* "cp311" */
	struct str python_abi;     /* "cp311" */
	struct str ext_suffix;     /* ".cpython-311-x86_64-linux-gnu.so" */
	struct str python_path;    /* where it looks for packages: folders with ':' between */
};

/* What of it is found by looking at files alone. */
MUST_USE struct err *host_look(struct arena *a, struct host *ret);
/* python: the interpreter asked for with --python (a path, a name, or a number such as "3.12"; an
 * error when it does not work), "" = python3 of PATH, if any. */
MUST_USE struct err *host_read(struct arena *a, struct str python, struct host *ret);
