/* Everything that can be proved about a wheel without a GPU.
 *
 * Checks: strict zip, RECORD, METADATA and WHEEL, tags against the real needs of the ELF files,
 * DT_NEEDED closure with reasons, RPATH sanity, device code for the required targets. The finding
 * ids are listed in doc/man/rocsmith-verify.1.scd.
 */
#pragma once

#include "formats/finding.h"
#include "target/target.h"

struct verify_options {
	struct targets
		require;  /* each covered by every file with device code: exact, variant, generic */
	bool device_code; /* device code is expected (implied by require) */
	struct strs allow; /* sonames that may come from outside: "libamdhip64.so.*" */
};

struct verdict {
	struct str path;
	bool pass;
	struct findings findings;
	struct strs served; /* targets in every file with device code */
};

/* Findings are data: the error is for "could not look" (no such file). A folder or a file that is
 * no wheel is a failed verdict. */
MUST_USE struct err *verify_wheel(
	struct arena *a, struct str path, const struct verify_options *o, struct verdict *ret);
void verdict_json(struct json *j, const struct verdict *v);
