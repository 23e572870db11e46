/* Evaluates the conditions of entries on this machine or a recorded one; see diagnosis.h. */
#include <string.h>

#include "know/diagnosis.h"
#include "know/predicate.h"

/* Evaluates an entry's condition. Returns the text "fits this machine: ...". */
static struct str compare(
	struct arena *a, const struct diagnosis *d, const struct node *facts, enum truth *ret)
{
	const struct scope s = {.value = facts};
	struct strs because = {0};
	struct err *e = predicate_ask(a, &s, str_from(d->when), &because, ret);
	bool blind = !node_get(facts, S("gpus"))->n && strstr(d->when, " gpus");
	/* a machine without a visible GPU proves nothing about GPUs; malformed conditions are found by the tests */
	if (e || (blind && *ret == TRUTH_NO))
		*ret = TRUTH_UNKNOWN;
	err_free(e);
	if (*ret == TRUTH_UNKNOWN)
		return str_fmt(a, "may fit this machine: whether '%s' holds is not known", d->when);
	return str_fmt(a, "%s this machine: %.*s", *ret == TRUTH_YES ? "fits" : "does not fit",
		STR(str_join(a, &because, S(", "))));
}

/* Does the machine show that the log is of an AMD GPU? */
static bool points_to_amd(const struct machine *m, const struct log_cause *c)
{
	static const char *const stages[] = {"install", "import", "runtime", "configure", NULL};
	return (m->gpus.n || m->displays.n) && !m->nvidia &&
	       str_is_one_of(str_from(c->entry->stage), stages);
}

bool log_asks_machine(const struct log_answer *answer)
{
	VEC_EACH (const struct log_cause, c, &answer->causes)
		if (c->asks_amd || (c->entry->when && !c->context_only))
			return true;
	return false;
}

struct err *log_compare(
	struct arena *a, struct log_answer *answer, const struct machine *m, bool own)
{
	const struct node *facts;
	TRY(facts_of(a, m, &facts));
	VEC_EACH (struct log_cause, c, &answer->causes) {
		enum truth t = TRUTH_UNKNOWN;
		if (c->asks_amd && points_to_amd(m, c)) {
			c->context_only = false;
			c->reason = S("");
			c->here = S("this machine has an AMD GPU");
		}
		if (!c->entry->when || c->context_only)
			continue;
		c->here = compare(a, c->entry, facts, &t);
		c->context_only = own && t == TRUTH_NO && c->entry->decides;
		c->reason = c->context_only ? c->here : c->reason;
	}
	log_sort(a, answer);
	return NULL;
}
