/* Reading the texts of the kernel and of configuration files. Pure functions of untrusted bytes:
 * what is not understood is absent. Numbers that do not fit are absent too.
 */
#pragma once

#include "base/buf.h"
#include "machine/machine.h"

/* Without control characters and at most 200 bytes: for names that will be shown. */
struct str clean_text(struct arena *a, struct str s);
struct str clean_long(struct arena *a, struct str s); /* at most 8 KiB: for lists of folders */

/* The trimmed value of the first line "KEY SEP VALUE"; "" when there is none. For properties files
 * of KFD (' '), /proc/meminfo, status and cpuinfo (':'), uevent ('='). */
struct str line_value(struct str text, char sep, struct str key);
/* Its leading decimal number ("16384 kB"), or 0. */
uint64_t line_number(struct str text, char sep, struct str key);

/* One GPU's or CPU's node of /sys/class/kfd/kfd/topology/nodes; names as in the properties file. */
struct kfd_props {
	uint64_t cpu_cores_count, simd_count, simd_per_cu, wave_front_size, gfx_target_version;
	uint64_t vendor_id, device_id, location_id, domain, drm_render_minor;
};
struct kfd_props parse_kfd(struct str text);
/* Bytes of a memory bank when it is local to the GPU (heap_type 1 or 2), else 0. */
uint64_t parse_kfd_bank(struct str text);
/* domain and location_id (bus << 8 | device << 3 | function) as "0000:03:00.0". */
struct str kfd_pci_address(struct arena *a, const struct kfd_props *p);

/* A variable of os-release(5), quotes and escapes removed. */
struct str parse_os_release(struct arena *a, struct str text, struct str key);
/* Effective ids and supplementary groups of /proc/PID/status; false when they are not there. */
bool parse_identity(struct arena *a, struct str status, struct machine *m);
/* The name of a group in group(5) format, or "". */
struct str parse_group(struct str text, unsigned gid);
/* A field of a user's line in passwd(5) format, or "". */
enum passwd_field { PASSWD_NAME, PASSWD_GID = 3, PASSWD_HOME = 5 };
struct str parse_passwd(struct str text, unsigned uid, enum passwd_field field);
/* "6.1.0-31-amd64" of "Linux version 6.1.0-31-amd64 (who@where) ...": the third word. */
struct str parse_kernel_version(struct str text);
/* Does /proc/cpuinfo show the flag of a virtual machine? */
bool parse_hypervisor(struct str cpuinfo);
/* How many CPUs "0-3,8-11" are. */
unsigned parse_cpu_list(struct str text);
/* Does /proc/modules list the module? */
bool parse_modules(struct str text, struct str module);
/* Does a modprobe.d(5) file keep the module from being loaded by itself (blacklist, install false)?
 */
bool parse_modprobe(struct str text, struct str module);
/* Adds to ret what modprobe.d(5) sets of amdgpu and the ttm modules: "amdgpu.gttsize=122880"; at most 100. */
void parse_options(struct arena *a, struct str text, struct strs *ret);
/* Words of a kernel command line that concern GPUs. */
struct strs parse_cmdline(struct arena *a, struct str text);
/* Do such words keep the module from being loaded? */
bool cmdline_blocks(const struct strs *words, struct str module);
/* What /proc/1/cgroup tells about a container; NULL: nothing. */
struct cgroup_mark {
	const char *mark, *kind; /* what stands there, and "docker", "kubernetes", "podman" ... */
};
const struct cgroup_mark *parse_cgroup(struct str text);
/* The value of a variable in /proc/PID/environ (separated by NUL); p is NULL when it is not set. */
struct str parse_environ(struct str text, struct str name);
/* What follows "#define NAME", or "". */
struct str define_value(struct str text, struct str name);
/* "7.1.0" from the header of ROCm (prefix "ROCM_VERSION_") or of HIP ("HIP_VERSION_"), or "". */
struct str parse_version_header(struct arena *a, struct str text, const char *prefix);
/* HSA_OVERRIDE_GFX_VERSION as gfx_target_version of the topology: "11.0.1" is 110001; 0: it is no version. */
uint32_t parse_override(struct arena *a, struct str version);

/* ---- ROCm and Python ---- */

/* Names, as PEP 503 has them, of packages that have to do with PyTorch or ROCm. */
bool package_matters(struct str name);
/* The whole lines of a METADATA of which METADATA_HEAD bytes were read. */
enum { METADATA_HEAD = 128 << 10 };
struct str metadata_lines(struct str text);
/* The next Requires-Dist of a METADATA or PKG-INFO that asks for such a package; false at the end of the header. */
bool next_requirement(struct str *rest, struct str *ret);
/* The GPUs whose code a cut list of `rocsmith slim` kept; of a list that goes on the beginning is enough. */
struct strs parse_slim_gpus(struct arena *a, struct str text);
