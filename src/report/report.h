/* Reports: one self-contained HTML page (inline CSS and SVG, no scripts from elsewhere), or text
 * and JSON, out of what a build left in its folder: facts, plan, steps with times, device code,
 * verdict.
 */
#pragma once

#include "devcode/devcode.h"
#include "make/make.h"
#include "verify/verify.h"

struct report {
	const struct machine *machine;
	const struct plan *plan;
	const struct make_result *result;
	const struct devcode *devcode;
	const struct verdict *verdict;
};

/* The whole page. */
struct str report_html(struct arena *a, const struct report *r);
