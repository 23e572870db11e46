/* Parsers for texts of the kernel and for configuration files. They are pure functions of untrusted bytes: a value that
 * is malformed or does not fit its type counts as absent.
 */
#pragma once

#include "base/buf.h"
#include "machine/machine.h"

/* The text trimmed, without control characters, and cut to 200 bytes: for names that will be shown. */
struct str clean_text(struct arena *a, struct str s);
/* Like clean_text(), but cut to 8 KiB and not trimmed: for lists of folders. */
struct str clean_long(struct arena *a, struct str s);

/* The trimmed value of the first line "KEY SEP VALUE"; "" if there is none. SEP is ' ' in properties files of KFD, ':'
 * in /proc/meminfo, status and cpuinfo, '=' in uevent. */
struct str line_value(struct str text, char sep, struct str key);
/* The leading decimal number of that value ("16384 kB"), or 0. */
uint64_t line_number(struct str text, char sep, struct str key);

/* A GPU's or CPU's node in /sys/class/kfd/kfd/topology/nodes, with the names of its properties file. */
struct kfd_props {
	uint64_t cpu_cores_count, simd_count, simd_per_cu, wave_front_size, gfx_target_version;
	uint64_t vendor_id, device_id, location_id, domain, drm_render_minor;
};
struct kfd_props parse_kfd(struct str text);
/* The size in bytes of a memory bank if it is local to the GPU (heap_type 1 or 2), else 0. */
uint64_t parse_kfd_bank(struct str text);
/* domain and location_id (bus << 8 | device << 3 | function) as "0000:03:00.0". */
struct str kfd_pci_address(struct arena *a, const struct kfd_props *p);

/* A variable of os-release(5), quotes and escapes removed. */
struct str parse_os_release(struct arena *a, struct str text, struct str key);
/* Reads effective ids and supplementary groups from /proc/PID/status; false if it has no ids. */
bool parse_identity(struct arena *a, struct str status, struct machine *m);
/* The name of a group in group(5) format, or "". */
struct str parse_group(struct str text, unsigned gid);
/* A field of a user's line in passwd(5) format, or "". */
enum passwd_field { PASSWD_NAME, PASSWD_GID = 3, PASSWD_HOME = 5 };
struct str parse_passwd(struct str text, unsigned uid, enum passwd_field field);
/* The third word of "Linux version 6.1.0-31-amd64 (who@where) ...". */
struct str parse_kernel_version(struct str text);
/* Does /proc/cpuinfo show the flag of a virtual machine? */
bool parse_hypervisor(struct str cpuinfo);
/* The number of CPUs in a list such as "0-3,8-11". */
unsigned parse_cpu_list(struct str text);
/* Does /proc/modules list the module? */
bool parse_modules(struct str text, struct str module);
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
struct cgroup_mark {
	/* part of a path ("/docker"), and the kind: "docker", "kubernetes", "podman" ... */
	const char *mark, *kind;
};
const struct cgroup_mark *parse_cgroup(struct str text);
/* The value of a variable in /proc/PID/environ (separated by NUL); p is NULL if it is not set. */
struct str parse_environ(struct str text, struct str name);
/* The text after "#define NAME", or "". */
struct str define_value(struct str text, struct str name);
/* "7.1.0" from the header of ROCm (prefix "ROCM_VERSION_") or of HIP ("HIP_VERSION_"), or "". */
struct str parse_version_header(struct arena *a, struct str text, const char *prefix);
/* HSA_OVERRIDE_GFX_VERSION in the form of the topology's gfx_target_version: 110001 for "11.0.1"; 0 if malformed. */
uint32_t parse_override(struct arena *a, struct str version);

/* ---- ROCm and Python ---- */

/* Is it the name, normalized (PEP 503), of a package that is related to PyTorch or ROCm? */
bool package_matters(struct str name);
/* The text without its last line if METADATA_HEAD bytes of a METADATA were read, as that line may be cut off. */
enum { METADATA_HEAD = 128 << 10 };
struct str metadata_lines(struct str text);
/* Finds the next Requires-Dist of a METADATA or PKG-INFO that names such a package; false at the end of the header. */
bool next_requirement(struct str *rest, struct str *ret);
/* The GPUs whose code `rocsmith slim` kept, from its cut list; the beginning of a longer list is enough. */
struct strs parse_slim_gpus(struct arena *a, struct str text);
