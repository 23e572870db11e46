/* Findings: what doctor, inspect, verify and plan have to say about what they looked at.
 *
 * A finding is data, not an error. Ids are stable once released ("record-hash-mismatch"). JSON:
 * {"id","severity","message","path","fix":[...]}. Of a list about a stranger's file only so many of
 * each kind are kept; one finding counts the others. Texts are cut at 1000 bytes.
 */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"

enum severity { SEV_INFO, SEV_WARNING, SEV_ERROR };

struct finding {
	const char *id;
	enum severity severity;
	struct str message, path;
	struct strs fix;
	const struct rule *rule; /* what it follows from, of doctor's (know/rule.h); else NULL */
};

struct finding_kind {
	const char *id;
	size_t n, more; /* all of them; where the finding is that counts those not kept */
};

enum { FINDINGS_OF_A_KIND = 50 }; /* what `most` is for files of strangers */

struct findings {
	struct finding *v;
	size_t n, cap;
	size_t most; /* of each id; 0 = all */
	VEC(struct finding_kind) kinds;
	struct finding *unseen; /* takes what is said about those that are not kept */
};

/* Adds one; path and texts go to a. One that is too many is given back without an id, and is in no
 * list: what is said about it costs nothing. */
struct finding *finding_add(struct arena *a, struct findings *list, const char *id,
	enum severity severity, struct str path) MUST_USE;
void finding_say(struct arena *a, struct finding *f, const char *fmt, ...) PRINTF(3, 4);
void finding_vsay(struct arena *a, struct finding *f, const char *fmt, va_list ap) PRINTF(3, 0);
void finding_fix(struct arena *a, struct finding *f, const char *fmt, ...) PRINTF(3, 4);
/* The worst first, those of a severity in their order; for a list that is complete. */
void findings_sort(struct arena *a, struct findings *list);
enum severity findings_worst(const struct findings *list);
const char *severity_name(enum severity s);
/* A list of findings in a table: FIELD_LIST("findings", T, findings, finding_fields). */
extern const struct json_field finding_fields[];
