/* Findings: the judgements of doctor, inspect, verify and plan.
 *
 * A finding is data, not an error. Ids are stable once released ("record-hash-mismatch"). JSON:
 * {"id","severity","message","path","fix":[...]}. A list about an untrusted file keeps a limited number of each kind;
 * one more finding counts the rest. Texts are cut at 1000 bytes. */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"

enum severity { SEV_INFO, SEV_WARNING, SEV_ERROR };

struct finding {
	const char *id;
	enum severity severity;
	struct str message, path;
	struct strs fix;
	const struct rule *rule; /* doctor: the rule that produced it (know/rule.h); else NULL */
};

struct finding_kind {
	const char *id;
	size_t n, more; /* number of findings; index of the one that counts those not kept */
};

enum { FINDINGS_OF_A_KIND = 50 }; /* `most` for untrusted files */

struct findings {
	VEC(struct finding);
	size_t most; /* limit of each kind; 0 = none */
	VEC(struct finding_kind) kinds;
	struct finding *unseen; /* stands in for the findings that are not kept */
};

struct finding_row { /* a row of data/findings.def */
	const char *id;
	enum severity severity; /* the usual one */
	const char *meaning;
};
extern const struct finding_row finding_rows[]; /* an empty one ends them */
enum severity finding_severity(const char *id); /* the usual one */
/* Adds a finding with that severity, and a message; path and texts are copied to a. Beyond the limit, the returned finding
 * has no id and is in no list, and its texts are dropped. */
struct finding *finding_note(struct arena *a, struct findings *list, const char *id,
	struct str path, const char *fmt, ...) PRINTF(5, 6);
/* The same in two steps, for a finding of another severity. */
struct finding *finding_add(struct arena *a, struct findings *list, const char *id,
	enum severity severity, struct str path) MUST_USE;
void finding_say(struct arena *a, struct finding *f, const char *fmt, ...) PRINTF(3, 4);
void finding_vsay(struct arena *a, struct finding *f, const char *fmt, va_list ap) PRINTF(3, 0);
void finding_fix(struct arena *a, struct finding *f, const char *fmt, ...) PRINTF(3, 4);
/* Sorts the worst first, keeping the order within a severity; for a list that is complete. */
void findings_sort(struct arena *a, struct findings *list);
enum severity findings_worst(const struct findings *list);
const char *severity_name(enum severity s);
/* The fields of a finding; a list: FIELD_LIST("findings", T, findings, finding_fields). */
extern const struct json_field finding_fields[];
