/* Everything that can be proved about a wheel without a GPU.
 *
 * Checks: strict zip, RECORD, METADATA and WHEEL, bills of materials, tags against the real needs of the ELF files,
 * DT_NEEDED closure with reasons, RPATH sanity, device code for the required targets, and what several wheels
 * require of each other. All members are unpacked, hashed and looked at in one pass, in parallel. The finding ids are
 * those of data/findings.def and of doc/man/rocsmith-verify.1.scd. Memory: 4 MiB a thread, what the ELF tables take,
 * and for a large ELF file a view (formats/zip.h).
 */
#pragma once

#include "formats/finding.h"
#include "formats/kpack.h"
#include "target/target.h"
#include "wheel/split.h"

struct verify_options {
	/* Targets that every file with device code must serve: exactly, by a variant or a generic target. */
	struct targets require;
	bool device_code;  /* device code is expected (implied by require) */
	struct strs allow; /* sonames that may come from outside: "libamdhip64.so.*" */
	/* The name of an SDK whose libraries the wheel will run with, and the folders that hold them: libraries in there are
	 * provided, and ROCm's libraries must be. "" = none. */
	struct str sdk;
	struct strs sdk_dirs;
	bool run; /* also run wheels that pass on emulated GPUs: all required ones, or all that are served */
	struct str launcher; /* the emulator, "" = rocjitsu of PATH */
	unsigned jobs;       /* 0 = one per CPU, 16 at most */
};

struct verify_library { /* its device code is in kpack archives, of this wheel or others */
	struct str member, installed; /* installed: below the folder of packages */
	struct kpack_host host;
	bool split;        /* by `rocsmith split`: `absent` is known */
	struct map absent; /* numbers and targets that it never had code for; see split_member */
};

struct verify_archive {
	struct str member, installed;
	VEC(struct kpack_object) objects; /* path, index and target */
};

struct verdict {
	struct str path;
	uint64_t size;
	bool pass; /* no finding of severity error */
	struct findings findings;
	struct strs served; /* targets in every file with device code */
	/* Facts for other wheels: names are normalised, and "" if they could not be read. */
	struct str project, version, platform; /* platform: the lowest true tag */
	VEC(struct requirement) requires;
	struct map extras; /* by name */
	VEC(struct verify_library) libraries;
	VEC(struct verify_archive) archives;
};

/* Findings are data: a missing file, a folder or a file that is not a wheel is a failed verdict. Errors mean that the wheel
 * could not be examined: E_IO, E_CANCELLED. */
MUST_USE struct err *verify_wheel(
	struct arena *a, struct str path, const struct verify_options *o, struct verdict *ret);
struct verdicts {
	VEC(struct verdict) wheels;
};

/* Each wheel by itself, then all together. The worst findings come first. */
MUST_USE struct err *verify_wheels(struct arena *a, const struct strs *paths,
	const struct verify_options *o, struct verdicts *ret);
/* Requirements between the wheels: versions, extras, device wheels; and the order of their versions. */
void verify_set(struct arena *a, struct verdicts *v);
/* Expands a folder to all *.whl in it; a folder without any, and any other path, stays. */
MUST_USE struct err *verify_paths(struct arena *a, struct str path, struct strs *ret);

/* The document of `rocsmith verify --json`: schema rocsmith.verify/1. */
extern const struct json_field verdicts_fields[]; /* fields of struct verdicts */
/* The same as a log of SARIF 2.1.0 (OASIS); its rules are the ids that occur. */
struct str verdicts_sarif(struct arena *a, const struct verdicts *v);
