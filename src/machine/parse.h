/* Parsers for texts of the kernel and for configuration files. They are pure functions of untrusted bytes: a value that
 * is malformed or does not fit its type counts as absent.
 */
#pragma once

#include "machine/machine.h"

/* The text trimmed, without control characters, and cut to 200 bytes: for names that will be shown. */
struct str clean_text(struct arena *a, struct str s);
/* Like clean_text(), but cut to 8 KiB and not trimmed: for lists of folders. */
struct str clean_long(struct arena *a, struct str s);

/* The fact that shows a path below the root: "/opt/rocm" for "opt/rocm". */
struct str shown_path(struct arena *a, struct str path);

/* The trimmed value of the first line "KEY SEP VALUE"; "" if there is none. SEP is ' ' in properties files of KFD and in
 * /proc/modules, ':' in /proc/meminfo, status and cpuinfo, '=' in uevent. */
struct str line_value(struct str text, char sep, struct str key);
/* The leading decimal number of that value ("16384 kB"), or 0. */
uint64_t line_number(struct str text, char sep, struct str key);

/* kfd.c: a number of a GPU's or CPU's "properties" in /sys/class/kfd/kfd/topology/nodes, or 0. */
uint64_t kfd_number(struct str properties, struct str key);
/* The size in bytes of a memory bank if it is local to the GPU (heap_type 1 or 2), else 0. */
uint64_t kfd_bank_size(struct str properties);
/* domain and location_id (bus << 8 | device << 3 | function) as "0000:03:00.0". */
struct str kfd_pci_address(struct arena *a, struct str properties);

/* A variable of os-release(5), quotes and escapes removed. */
struct str parse_os_release(struct arena *a, struct str text, struct str key);
/* Reads effective ids and supplementary groups from /proc/PID/status; false if it has no ids. */
bool parse_identity(struct arena *a, struct str status, struct machine *m);
/* A field of the user's line in passwd(5) format, or of the group's in group(5), or "". */
enum passwd_field { PASSWD_NAME, PASSWD_GID = 3, PASSWD_HOME = 5 };
struct str parse_passwd(struct str text, unsigned id, enum passwd_field field);
/* The third word of "Linux version 6.1.0-31-amd64 (who@where) ...". */
struct str parse_kernel_version(struct str text);
/* Does /proc/cpuinfo show the flag of a virtual machine? */
bool parse_hypervisor(struct str cpuinfo);
/* The number of CPUs in a list such as "0-3,8-11". */
unsigned parse_cpu_list(struct str text);
/* Does a modprobe.d(5) file keep the module from being loaded automatically (blacklist, install false)? */
bool parse_modprobe(struct str text, struct str module);
/* Adds the parameters of amdgpu and the ttm modules that a modprobe.d(5) file sets: "amdgpu.gttsize=122880"; at most
 * 100. */
void parse_options(struct arena *a, struct str text, struct strs *ret);
/* The words of a kernel command line that concern GPUs. */
struct strs parse_cmdline(struct arena *a, struct str text);
/* Do these words keep the module from being loaded? */
bool cmdline_blocks(const struct strs *words, struct str module);
/* The kind of container that /proc/1/cgroup shows; parse_cgroup() returns NULL if it shows none. */
struct cgroup_mark { /* data/machine.yaml */
	/* part of a path ("/docker"), and the kind: "docker", "kubernetes", "podman" ... */
	const char *mark, *kind;
};
TABLE(cgroup_mark);
const struct cgroup_mark *parse_cgroup(struct str text);
/* The value of a variable in /proc/PID/environ (separated by NUL); p is NULL if it is not set. */
struct str parse_environ(struct str text, struct str name);
/* The text after "#define NAME", or "". */
struct str define_value(struct str text, struct str name);
/* "7.1.0" from the header of ROCm (prefix "ROCM_VERSION_") or of HIP ("HIP_VERSION_"), or "". */
struct str parse_version_header(struct arena *a, struct str text, const char *prefix);
/* The first two of them, "6.8"; "" if it has only one. */
struct str major_minor(struct arena *a, struct str version);
/* Does it consist of numbers and dots only? */
bool is_version(struct str s);
/* HSA_OVERRIDE_GFX_VERSION in the form of the topology's gfx_target_version: 110001 for "11.0.1"; 0 if malformed. */
uint32_t parse_override(struct arena *a, struct str version);

/* ---- ROCm and Python ---- */

/* Is it the name, normalized (PEP 503), of a package that is related to PyTorch or ROCm? */
bool package_matters(struct str name);
/* The requirements on such packages in a METADATA or PKG-INFO, of which METADATA_HEAD bytes were read. */
enum { METADATA_HEAD = 128 << 10 };
struct strs parse_requirements(struct arena *a, struct str text);
/* The GPUs whose code `rocsmith slim` kept, from its cut list; the beginning of a longer list is enough. */
struct strs parse_slim_gpus(struct arena *a, struct str text);
