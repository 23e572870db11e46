/* Everything that can be proved about a wheel without a GPU.
 *
 * Checks: strict zip, RECORD, METADATA and WHEEL, tags against the real needs of the ELF files,
 * DT_NEEDED closure with reasons, RPATH sanity, device code for the required targets. All members
 * are unpacked, hashed and looked at in one pass, in parallel. The finding ids are those of
 * data/findings.def and of doc/man/rocsmith-verify.1.scd. Memory: 4 MiB a thread and what the ELF
 * tables take; larger ELF members go through an unnamed file in $TMPDIR.
 */
#pragma once

#include "formats/finding.h"
#include "target/target.h"

struct verify_options {
	/* Each covered by every file with device code: exactly, by a variant or a generic one. */
	struct targets require;
	bool device_code;  /* device code is expected (implied by require) */
	struct strs allow; /* sonames that may come from outside: "libamdhip64.so.*" */
	/* An SDK on whose libraries the wheel is to run, by name, and the folders that hold them: what is
	 * in there is provided, and ROCm's libraries have to be. "" = none. */
	struct str sdk;
	struct strs sdk_dirs;
	unsigned jobs; /* 0 = one per CPU, 16 at most */
};

struct verdict {
	struct str path;
	bool pass; /* no finding of severity error */
	struct findings findings;
	struct strs served; /* targets in every file with device code */
};

/* Findings are data: a missing file, a folder or a file that is no wheel is a failed verdict. The
 * error is for "could not look": E_IO, E_NOSPACE for the temporary files, E_CANCELLED. */
MUST_USE struct err *verify_wheel(
	struct arena *a, struct str path, const struct verify_options *o, struct verdict *ret);
/* The wheels that a path means: itself, or for a folder all *.whl in it (none: the folder). */
MUST_USE struct err *verify_paths(struct arena *a, struct str path, struct strs *ret);

struct verdicts {
	VEC(struct verdict) wheels;
};

/* The document of `rocsmith verify --json`: schema rocsmith.verify/1. */
extern const struct json_field verdicts_fields[]; /* of struct verdicts */
