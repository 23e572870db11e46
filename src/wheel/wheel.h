/* Wheels: file names, tags, dist-info; assembling one.
 *
 * Sources: PEP 427 and the living binary distribution format, PEP 425 and 600 tags, PEP 440, core
 * metadata 2.4, PEP 639 licences. platform.c has the libraries and symbol versions of the manylinux policies, with their
 * source.
 */
#pragma once

#include <limits.h>

#include "formats/zip.h"
#include "lang/python/dist_info.h"
#include "lang/python/requirement.h"
#include "slim/slim.h"

struct wheel_name { /* NAME-VERSION(-BUILD)-PY-ABI-PLATFORM.whl */
	struct str dist, version, build, python, abi, platform;
};

/* `file` may have folders in front. E_WHEEL names the part that is wrong. */
MUST_USE struct err *wheel_name_parse(struct arena *a, struct str file, struct wheel_name *ret);
struct str wheel_name_text(struct arena *a, const struct wheel_name *n);
/* Is the folder "demo-1.0.dist-info" that of this wheel, however the two are spelled? */
bool wheel_owns_info(const struct wheel_name *n, struct str folder);
struct str wheel_normalise(struct arena *a, struct str project); /* "My.Pkg" -> "my_pkg" */
bool wheel_same_version(struct str x, struct str y);             /* however they are spelled */
enum { WHEEL_TAGS = 1000 };
/* PY-ABI-PLATFORM, each dotted part expanded: "py2.py3-none-any" -> py2-none-any py3-none-any; at most WHEEL_TAGS. */
struct strs wheel_tags(struct arena *a, const struct wheel_name *n);
/* Adds the tags that a Tag line of WHEEL means; a malformed one is added unchanged. */
void wheel_tags_add(struct arena *a, struct str tag, struct strs *list);

/* ---- the platform tag ---- */
struct wheel_elf { /* an ELF file of a wheel, with the libraries and versions that it needs */
	struct str name;
	uint16_t machine;
	struct elf_dynamic dyn; /* filled in by elf_needs() */
	/* calls HIP's registration (__hipRegister...) without needing libamdhip64 */
	bool calls_hip;
	/* symbols in torch's namespaces, filled in by verify/torch.c: names that it needs, hashes of those it defines */
	struct strs asks;
	VEC(uint64_t) gives;
};

struct wheel_elfs VEC_OF(struct wheel_elf);

/* The lowest platform tag that is true for some ELF files. */
struct wheel_platform {
	struct str tag;       /* "linux_x86_64", "manylinux_2_34_x86_64"; "any" without ELF files */
	struct str glibc;     /* newest glibc needed: "2.34", "" = none */
	unsigned glibc_minor; /* its minor version: 34 */
	struct str glibc_by;  /* file that needs it */
	unsigned minor;       /* the manylinux tag that symbol versions alone allow */
	struct str minor_by;  /* the reason: "GLIBCXX_3.4.30 of 'pkg/_C.so'" */
	struct strs outside;  /* needed libraries that PEP 600 does not allow: "libamdhip64.so.6" */
	struct str not_musl;  /* a needed library that is not musl's, "" = none */
	struct str beyond;    /* a symbol version that no policy has, "" = none */
	struct str why;       /* one sentence */
};

/* A symbol version that a file of a wheel needs, and that this machine's own library lacks. */
struct wheel_lack {
	struct str version, name; /* "GLIBCXX_3.4.32", the file that needs it */
	struct str library,
		newest; /* its path here, and the newest version of that kind that it has: "GLIBCXX_3.4.30" */
};

struct wheel_lacks VEC_OF(struct wheel_lack);

/* Finds the tag for these files on disk; files that are not ELF are passed over. A library that one of them needs
 * counts as inside if another of them is that library, by soname or file name. E_WHEEL when they are for different
 * processors. */
MUST_USE struct err *wheel_platform(
	struct arena *a, const struct strs *elf_paths, struct wheel_platform *ret);
MUST_USE struct err *wheel_platform_of(
	struct arena *a, const struct wheel_elfs *elfs, struct wheel_platform *ret);
/* Compares the needs of the files with the libraries of this machine, where ld.so looks by default: each version that
 * would keep it from loading one of them is added once. Nothing is added for files of another processor, or for
 * libraries that are not found here. */
void wheel_lacks_here(struct arena *a, const struct wheel_elfs *elfs, struct wheel_lacks *ret);
struct manylinux_symbols { /* data/manylinux.yaml; NULL: not there */
	unsigned minor;
	union {
		struct {
			const char *glibcxx, *cxxabi, *gcc, *zlib, *libatomic;
		};
		const char *newest[5];
	};
};
struct manylinux_libraries {
	const char *const *allowed;
};
struct manylinux_machine {
	uint16_t machine;
	unsigned floor;
	const char *name;
};
struct manylinux_tag {
	const char *prefix;
	unsigned minor;
};
TABLE(manylinux_symbols);
const struct manylinux_libraries *manylinux_libraries_table(void); /* one row */
TABLE(manylinux_machine);
TABLE(manylinux_tag);
/* The lowest glibc minor whose distributions have a symbol version: 34 for GLIBC_2.34; 36 for GLIBC_ABI_DT_RELR, which
 * came with it; UINT_MAX for one that no policy promises, such as GLIBC_PRIVATE. */
unsigned wheel_version_minor(struct str version, bool *ret_glibc);
/* PEP 600 and the policy table: may a manylinux wheel expect this library on the machine? */
bool wheel_library_allowed(struct str soname);
/* "x86_64" for EM_X86_64, ...; "" for a processor that has no name in wheel tags. */
struct str wheel_machine_name(uint16_t machine);
/* The glibc minor that a platform tag promises: 17 for manylinux2014_*, UINT_MAX for linux_*, 0 for other tags. ret_arch:
 * "x86_64". */
unsigned wheel_tag_glibc(struct str platform, struct str *ret_arch);
/* Is it musl's C library, by its own name or by Alpine's? */
bool wheel_library_musl(struct str soname);
/* Is it musllinux_1_2_x86_64 or its like (PEP 656)? */
bool wheel_tag_musl(struct str platform, struct str *ret_arch);
/* Reads the facts for wheel_platform_of(); *ret_elf = false when src is not an ELF64 file for a CPU. */
MUST_USE struct err *wheel_elf_read(struct arena *a, const struct bytes *src, struct str name,
	struct wheel_elf *ret, bool *ret_elf);

/* ---- search paths ---- */
/* The folder of the wheel to which an element of a member's search path leads, such as "$ORIGIN/../lib"; "" for
 * elements without $ORIGIN. */
struct str wheel_origin(struct arena *a, struct str element, struct str member);
/* The reverse: the element by which files in one folder of the wheel find another folder. */
struct str wheel_way(struct arena *a, struct str from, struct str to);

struct wheel_path {
	struct str file, path; /* a member, and its new search path */
};

/* A library of the SDK by a name of CUDA's, which projects that bring CUDA's libraries along copy into their wheels. */
struct wheel_copy {
	struct str name, path; /* "libcudart.so"; the library's file */
};

/* Removes the build machine from a wheel that another build system made: elements of its libraries' search paths that
 * are empty or lie in the folders `gone`. Libraries of the wheel to which no search path leads are found by $ORIGIN then, as meson-python
 * 0.22 and CMake projects without install paths leave them; not where a library has an RPATH, by which others may be found. */
struct wheel_relocation {
	struct str from, to; /* paths of the wheels */
	struct str scratch;  /* an empty folder */
	struct strs gone;    /* absolute paths of folders */
	VEC(struct wheel_copy)
	copies; /* members that are such a copy are left out: nothing needs that name */
	/* a requirement to add if a library needs one of ROCm's and no other requirement brings them; then "" if not added */
	struct str requires;
	int64_t epoch;
	unsigned jobs;
	/* empty, as is `requires`: nothing had to change, and `to` was not written */
	VEC(struct wheel_path) changed;
	struct strs kept;     /* members that could not be changed */
	struct strs left_out; /* members that are copies */
};

/* Is it a requirement on torch or on the package rocm, with which ROCm's libraries come? */
bool wheel_brings_rocm(struct arena *a, struct str requirement);
/* The same wheel gives the same bytes. E_ZIP or E_WHEEL when it cannot be read. */
MUST_USE struct err *wheel_relocate(struct arena *a, struct wheel_relocation *r);

/* ---- fewer GPUs ---- */
/* slim_file() for a wheel that wheel_open() and wheel_check() accept: other members keep their compressed bytes; RECORD is
 * new, and the dist-info folder gets the cut list. */
MUST_USE struct err *wheel_slim(struct arena *a, const struct slim_keep *k, bool force,
	unsigned jobs, struct slim_report *r);

/* Finds the HIP runtime in a wheel, if there is one. */
MUST_USE struct err *wheel_runtime(struct arena *a, struct str path, struct slim_runtime *ret);
/* Fills r->restore with the commands that install again what the changed files of r belong to, by the RECORDs below and
 * above r->path, then by the lists of files in the folder `dpkg` ("": the system's, for what is below /usr and /opt); and r->unlisted with the number of files that nothing
 * lists, of those that are there. A list that cannot be read lists nothing. */
void wheel_restore(struct arena *a, struct slim_report *r, struct str dpkg);
/* A slim_then_fn: wheel_restore(), then updates the RECORDs of distributions installed in that folder. A RECORD that
 * differs from the form in which pip and uv write it stays unchanged. */
MUST_USE struct err *wheel_slim_installed(struct arena *result, struct slim_report *all);

/* ---- building ---- */
struct wheel_spec {
	struct str name, version, summary, license, requires_python;
	struct strs requires, extras; /* Requires-Dist, Provides-Extra */
	struct str python, abi;       /* "cp311" "cp311", "cp38" "abi3", "py3" "none" */
	struct str platform;          /* "" = computed by wheel_platform() */
	VEC(struct zip_input) files;  /* mode 0 = 0644 */
	/* more files of the dist-info folder; each one in licenses/ gets a License-File line */
	VEC(struct zip_input) info;
	int64_t epoch; /* SOURCE_DATE_EPOCH; see wheel_epoch() */
	unsigned jobs; /* 0 = one per CPU */
};

/* The bill of materials' name in the dist-info folder. A wheel with machine code gets one, unless it has files in
 * sboms/. */
#define WHEEL_SBOM "sboms/rocsmith.cdx.json"

/* $SOURCE_DATE_EPOCH, else 1980-01-01, where zip times begin. */
MUST_USE struct err *wheel_epoch(int64_t *ret);
/* Writes DIR/NAME-...whl atomically; the same input gives the same bytes, in whatever order the files are listed.
 * E_WHEEL for texts of METADATA and WHEEL that installers would refuse. */
MUST_USE struct err *wheel_build(
	struct arena *a, const struct wheel_spec *spec, struct str dir, struct str *ret_path);

/* ---- the distributions in a virtual environment, each with its device code ---- */
struct devcode;

struct venv_dist {
	struct str name, version; /* as its dist-info folder has them */
	uint64_t files;           /* files with device code */
	uint64_t size, stored;    /* bytes of these files, and of the objects in them */
	struct strs served;       /* GPUs that every file serves, side files aside */
	bool asked;               /* there are files other than side files */
};

struct venv_dists VEC_OF(struct venv_dist);

/* d is a scan of the environment's folder. Distributions without device code are left out, and so are those whose RECORD
 * cannot be read. E_NOENT when there is no site-packages in lib/pythonX or Lib. */
MUST_USE struct err *venv_dists(
	struct arena *a, struct str dir, const struct devcode *d, struct venv_dists *ret);
