/* Findings: what doctor, inspect, verify and plan have to say about what they looked at.
 *
 * A finding is data, not an error. Ids are stable once released ("record-hash-mismatch"). JSON:
 * {"id","severity","message","path","fix":[...]}.
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
};

struct findings {
	struct finding *v;
	size_t n, cap;
};

/* Adds one; path and texts go to a. */
struct finding *finding_add(struct arena *a, struct findings *list, const char *id,
	enum severity severity, struct str path) MUST_USE;
void finding_say(struct arena *a, struct finding *f, const char *fmt, ...) PRINTF(3, 4);
void finding_fix(struct arena *a, struct finding *f, const char *fmt, ...) PRINTF(3, 4);
enum severity findings_worst(const struct findings *list);
const char *severity_name(enum severity s);
/* A list of findings in a table: FIELD_LIST("findings", T, findings, finding_fields). */
extern const struct json_field finding_fields[];
