/* Wheels: file names, dist-info, RECORD, tags; assembling one.
 * Sources: PEP 427 and the living wheel specification, PEP 425/600 tags, PEP 440, core
 * metadata 2.4.
 */
#pragma once

#include "formats/zip.h"

struct wheel_name { /* NAME-VERSION(-BUILD)-PY-ABI-PLATFORM.whl */
	struct str dist, version, build, python, abi, platform;
};

MUST_USE struct err *wheel_name_parse(struct arena *a, struct str file, struct wheel_name *ret);
struct str wheel_name_text(struct arena *a, const struct wheel_name *n);
struct str wheel_normalise(struct arena *a, struct str project); /* "My.Pkg" -> "my_pkg" */

/* The lowest platform tag that tells the truth about some ELF files. */
struct wheel_platform {
	struct str tag;      /* "linux_x86_64", "manylinux_2_34_x86_64" */
	struct str glibc;    /* newest version needed: "2.34", "" = none */
	struct str glibc_by; /* file that needs it */
	struct strs outside; /* needed libraries that PEP 600 does not allow: "libamdhip64.so.6" */
	struct str why;      /* one sentence */
};

struct wheel_file {
	struct str name, path; /* in the wheel; on disk */
	struct str content;    /* when path is "" */
	bool executable;
};

struct wheel_spec {
	struct str name, version, summary, license, requires_python;
	struct strs requires;   /* Requires-Dist */
	struct str python, abi; /* "cp311" "cp311", "cp38" "abi3", "py3" "none" */
	struct str platform;    /* "" = computed by wheel_platform() */
	VEC(struct wheel_file) files;
	VEC(struct wheel_file) info; /* further files of the dist-info folder */
	int64_t epoch;               /* SOURCE_DATE_EPOCH */
	unsigned jobs;
};

/* Finds the tag for these ELF files; names maps sonames that the wheel itself holds. */
MUST_USE struct err *wheel_platform(
	struct arena *a, const struct strs *elf_paths, struct wheel_platform *ret);
/* Writes DIR/NAME-...whl atomically; the same input gives the same bytes. */
MUST_USE struct err *wheel_build(
	struct arena *a, const struct wheel_spec *spec, struct str dir, struct str *ret_path);
