/* The facts about this computer, or about a recorded one, from the kernel and the file system only.
 *
 * A machine is read below a root: "" is this computer; a folder (`doctor --sysroot`) mirrors sys/, proc/, etc/, dev/
 * and opt/; a machine file holds all of that in one text. No program is run, and no file outside the root is read
 * (links in a sysroot are followed as chroot(2) would). Reading goes on whatever a file contains: a file that cannot be
 * read or understood leaves its facts empty and, where that matters, a finding. Sources: Linux Documentation/ABI
 * (sysfs-class-drm, sysfs-bus-pci), drivers/gpu/drm/amd/amdkfd (kfd_topology.c), proc(5), os-release(5), group(5),
 * modprobe.d(5).
 */
#pragma once

#include "formats/finding.h"
#include "target/target.h"

struct machine_part { /* a part with a version: a component of ROCm, or a firmware */
	struct str name, version;
};

struct machine_parts VEC_OF(struct machine_part);

struct machine_unknown { /* a parameter that the module does not have, so that the kernel ignores it */
	struct str name;    /* "amdgpu.gtt_size" */
	struct str nearest; /* a parameter of similar name: "gttsize"; "" = none */
};

struct machine_gpu {       /* a GPU that the compute driver (KFD) lists */
	unsigned node;     /* KFD topology node */
	unsigned index;    /* from 0, as ROCR_VISIBLE_DEVICES counts */
	struct str target; /* "gfx1100"; "" if the driver is too old to report it */
	struct str name;   /* the board's or the driver's name, may be "" */
	/* "Radeon RX 7900 GRE", by its device, revision and memory (board_name()); "" = not known */
	struct str product;
	uint32_t vendor, device;
	struct str revision; /* "0xc8", or "" */
	struct str pci;      /* "0000:03:00.0" */
	struct str render;   /* "/dev/dri/renderD128", "" = none */
	uint64_t vram;       /* bytes of the pool that KFD reports; on an APU, a share of the RAM */
	uint64_t gtt;        /* bytes of RAM that the driver lets it map; 0 = not known */
	/* APUs only: bytes of RAM that the firmware reserves for it; 0 = not known */
	uint64_t carve_out;
	unsigned compute_units, wave_size;
	bool apu;
	bool no_atomics; /* a link to the CPU lacks 32-bit or 64-bit PCIe atomics */
	/* link speed now (idle GPUs may show less) and the most that both ends support: "16.0 GT/s PCIe x8"; "" on an
	 * APU */
	struct str link, link_max;
	struct str link_card; /* the most that the card itself supports */
	struct str vbios;
	struct machine_parts firmware; /* "mes" "0x80", as sysfs writes them */
	struct str override; /* the environment variable that overrides its target; "" = none */
	/* the target that it sets: "gfx1100" (may be its own); "" = none, or not valid */
	struct str override_target;
};

struct machine_display {   /* an AMD display or accelerator function on the PCI bus */
	struct str pci;    /* "0000:03:00.0", or "" */
	struct str driver; /* "amdgpu", "vfio-pci", "" = none */
	uint32_t vendor, device, class;
	struct str revision; /* "0xc8", or "" */
	struct str product;  /* as for a GPU; if not known, "GPU 1002:73df" */
};

struct machine_node {           /* a device node and who may open it */
	struct str path, group; /* group: its name, or its number if etc/group does not name it */
	unsigned mode, uid, gid;
	bool usable; /* the machine's user may open it for reading and writing */
	bool acl; /* the mode does not allow that, but the kernel does (an ACL); live machine only */
};

struct machine_driver {
	bool loaded;        /* amdgpu is active, built in or as a module */
	struct str state;   /* "live"; "" = built in, or not known */
	struct str version; /* version of an out-of-tree module, or "" */
	bool blacklisted;
	struct str blacklisted_by; /* the file, or "/proc/cmdline" */
	bool secure_boot; /* Secure Boot is on: only signed modules load; false if amdgpu is loaded already */
	/* the module that lends RAM to GPUs: "ttm", or "amdttm" of AMD's own driver */
	struct str ttm;
	/* parameters of amdgpu and ttm that modprobe.d sets or the kernel shows: "amdgpu.gttsize=122880" */
	struct strs options;
	/* parameters in `options` or on the command line that the module lacks */
	VEC(struct machine_unknown) unknown;
	/* version of AMD's own driver, if DKMS has it but no build of it for this kernel; else "" */
	struct str dkms;
	struct str dkms_log; /* path of the log of its failed build for this kernel, or "" */
};

struct machine_sdk { /* an installed ROCm: a tree such as /opt/rocm-7.1.0, the distribution's packages, or wheels */
	struct str path, version;
	struct str kind; /* "tree", "system" (libraries in /usr), "pip" (rocm wheels) */
	/* "hip" "6.4.43482": from headers and names of library files */
	struct machine_parts components;
	struct strs rocblas;   /* GPUs that its rocBLAS has kernel files for; empty = not known */
	bool slim;             /* `rocsmith slim` removed device code from it */
	struct strs slim_gpus; /* GPUs whose code it kept */
};

struct machine_package { /* a distribution in a Python environment */
	struct str name; /* normalized (PEP 503); listed twice if a folder has two versions */
	struct str version;
	struct str path; /* its dist-info folder */
	/* requirements on listed packages that do not hold: "torch==2.6.0, but 2.9.0 is here" */
	struct strs unmet;
};

struct machine_torch {      /* the torch of a Python environment, read from its files */
	struct str path;    /* the folder torch; "" = only its dist-info exists */
	struct str version; /* "2.9.1+rocm6.4": from torch/version.py, else from its dist-info */
	/* platform of its libraries: "rocm", "cuda", "xpu", "cpu"; "" = not known */
	struct str build;
	struct str hip;   /* from torch/version.py: "6.4.43484-123eb5128" */
	struct str rocm;  /* "6.4": from `hip`, else its local version, else its ROCm libraries */
	bool bundled;     /* ROCm's libraries are in its own folder */
	bool bundled_hsa; /* so is the HSA runtime, which users of WSL remove */
	bool split; /* its device code is in kpack archives, which other wheels bring, one for each GPU */
	struct strs targets; /* GPUs that libtorch_hip*.so have code for: see python.h */
	/* GPUs for which the data files that these three libraries will read exist; empty = not known */
	struct strs rocblas, hipblaslt, miopen;
	/* kpack archives of one mode of a GPU that hold next to nothing, beside a full one for all modes; the runtime takes
	 * the former: "gfx90a:xnack-" */
	struct strs shadowed;
	struct strs needed; /* ROCm libraries that its libraries need: "libamdhip64.so.6" */
	/* members of `needed` that neither it nor a ROCm of this machine has; in WSL also "librocdxg.so",
	 * which the runtime of ROCm 7.2 and later opens */
	struct strs missing;
	struct str runpath; /* RUNPATH of libtorch_hip.so, else its RPATH */
	bool slim;          /* `rocsmith slim` removed device code from it */
	bool unloaded; /* rocm wheels have some of the missing libraries, but it does not load from there */
};

struct machine_extension { /* a package with libraries that link to torch's */
	struct str name;   /* its folder or module: "torch_scatter" */
	struct str path;   /* its first such library */
	/* the platform whose torch libraries they need: "cuda", "rocm", else "cpu" */
	struct str build;
	/* ROCm libraries that they need and that this torch's ROCm lacks */
	struct strs missing;
};

struct machine_python {     /* a Python environment */
	struct str path;    /* "/home/USER/venv", "/usr" */
	struct str kind;    /* "system", "user", "venv", "conda", "pyenv" */
	struct str version; /* "3.12" */
	bool active; /* `python3` of this shell is this one; kind "user": that one imports its packages */
	bool has_torch;
	struct machine_torch torch;
	/* the development files of ROCm's wheels: "packed" (rocm-sdk init has not unpacked them), "stale" (unpacked, but
	 * those of another version), "expanded"; "" = not installed */
	struct str rocm_devel;
	VEC(struct machine_extension) extensions; /* filled only if torch is built for ROCm */
	/* packages related to PyTorch or ROCm (package_matters()), sorted by name */
	VEC(struct machine_package) packages;
};

struct machine_variable { /* an environment variable that ROCm or PyTorch reads */
	struct str name, value;
	const char *effect; /* its description in data/variables.yaml */
};

struct machine_disk {
	struct str use;      /* its use: "cache", "home", "tmp"; in a container "shm" */
	struct str path;     /* the folder */
	uint64_t size, free; /* bytes */
};

/* A row of data/variables.yaml: the effect of an environment variable, and the evidence for it. */
struct variable {
	const char *name, *effect, *evidence;
	bool build; /* it affects builds, not running programs */
};
TABLE(variable); /* sorted by name */

struct machine {
	struct str root;
	struct str kernel, arch; /* "6.1.0-31-amd64", "x86_64" */
	struct str distro, distro_id,
		distro_version;             /* "Debian GNU/Linux 12 (bookworm)", "debian", "12" */
	struct str cpu;                     /* model name */
	unsigned cpus;                      /* online */
	uint64_t memory, memory_free, swap; /* bytes */
	/* bytes of RAM that GPUs may map, as the module ttm limits it; 0 = not known */
	uint64_t gtt_limit;
	double pressure; /* percent of the last 10 s in which all tasks stalled on memory; 0 = none, or no PSI */
	struct str seccomp; /* this process's mode: "off", "strict", "filter"; "" = not known */
	struct str iommu;   /* "on", "passthrough", "off"; "" = not known */
	bool wsl, container, virtual;
	bool selinux;              /* the kernel has an SELinux policy, enforcing or not */
	struct str container_kind; /* "docker", "podman", "kubernetes", "lxc", ...; "" */
	bool has_identity;         /* uid, gid and groups are known */
	unsigned uid, gid;
	VEC(unsigned) gids; /* supplementary */
	/* names of gid and gids if they are system groups, else their numbers */
	struct strs groups;
	/* the user's groups in /etc/group, which the next login will have */
	struct strs account_groups;
	struct strs parameters; /* words of the kernel command line that concern GPUs */
	struct machine_driver driver;
	bool has_kfd;                 /* the kernel has the compute driver's topology */
	bool has_dxg;                 /* /dev/dxg exists: GPUs by way of WSL */
	unsigned hidden;              /* KFD nodes that this container's device rules hide */
	VEC(struct machine_gpu) gpus; /* sorted by node */
	VEC(struct machine_display) displays;
	bool nvidia;                    /* there is an NVIDIA GPU as well */
	VEC(struct machine_node) nodes; /* /dev/kfd, /dev/dri/renderD* */
	VEC(struct machine_sdk) sdks;
	VEC(struct machine_disk) disks;
	VEC(struct machine_variable) variables; /* variables of data/variables.yaml that are set */
	VEC(struct machine_python) pythons;     /* filled by machine_read_all() only */
	/* files that could not be read; the rules add theirs (know/rule.h) */
	struct findings findings;
};

/* Read the machine at root: "" = this computer, else a folder or a machine file. E_NOENT if it is neither, E_SYNTAX for
 * a malformed machine file. machine_read() leaves out Python environments, which only diagnoses need. */
MUST_USE struct err *machine_read(struct arena *a, struct str root, struct machine *ret);
MUST_USE struct err *machine_read_all(struct arena *a, struct str root, struct machine *ret);
/* Reads ret->gpus alone, from a dozen files of the compute driver: node, target, memory, APU or card; neither firmware
 * nor PCIe link. */
MUST_USE struct err *machine_gpus(struct arena *a, struct str root, struct machine *ret);
/* Bytes of memory that programs can still allocate now, within the limits of our control groups too; 0 = unknown.
 * root: as for machine_read(). */
uint64_t machine_memory_free(struct str root);
/* Bytes that a program which starts beside others may want: those that are free, but none while the kernel's pressure stall
 * information (PSI) says that all tasks stalled on memory for a tenth of the last ten seconds, in the whole system or in one of
 * our control groups. */
uint64_t machine_memory_room(struct str root);
/* The facts: member "facts" of `doctor --json` (know/rule.h) */
extern const struct json_field machine_fields[];
/* Records the files that machine_read_all() reads into `to`, so that --sysroot gives the same facts elsewhere: a
 * machine file if its name ends in .machine, an archive of a folder for .tar, .tar.gz and .tgz, else a folder (new or
 * empty). Serial numbers, unique ids, user names, host names, network and build addresses are left out (redact.c); this
 * user's home becomes "/home/user". In a folder, a device node is an empty file with its mode, owner and group; if the
 * owner cannot be set (in an archive, or without root rights), the file .nodes lists them. The file .disks lists the
 * sizes of disks. A dry run writes nothing. */
MUST_USE struct err *machine_record(struct str root, struct str to, unsigned *ret_files);

/* The C library, gcc and Python that the host side of a build can use, found by reading files and running python3. An
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
	struct str python_path;    /* its search path for packages: folders separated by ':' */
};

/* Fills the fields that need no program to run: all but Python's. */
MUST_USE struct err *host_look(struct arena *a, struct host *ret);
/* Fills all fields. python: the interpreter that --python names (a path, a name, an environment's folder, or a version such as
 * "3.12"; an error if it does not work), "" = python3 of PATH, if any. */
MUST_USE struct err *host_read(struct arena *a, struct str python, struct host *ret);
