/* Evaluates the conditions of entries on this machine or a recorded one; see diagnosis.h. */
#include <string.h>

#include "know/diagnosis.h"
#include "know/predicate.h"

bool log_asks_machine(const struct log_answer *answer)
{
	VEC_EACH (const struct log_cause, c, &answer->causes)
		if (c->asks_amd || (c->entry->when && !c->context_only))
			return true;
	return false;
}

/* Evaluates a cause's condition. Returns "fits this machine: kernel is 6.8.0-31". */
static struct str fits(
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

struct err *log_compare(
	struct arena *a, struct log_answer *answer, const struct machine *m, bool own)
{
	static const char *const stages[] = {"install", "import", "runtime", "configure", NULL};
	const struct node *facts;
	bool amd = (m->gpus.n || m->displays.n) && !m->nvidia;
	TRY(facts_of(a, m, &facts));
	VEC_EACH (struct log_cause, c, &answer->causes) {
		enum truth t = TRUTH_UNKNOWN;
		if (c->asks_amd && amd && str_is_one_of(str_from(c->entry->stage), stages)) {
			c->context_only = false;
			c->reason = S("");
			c->here = S("this machine has an AMD GPU");
		}
		if (!c->entry->when || c->context_only)
			continue;
		c->here = fits(a, c->entry, facts, &t);
		c->context_only = own && t == TRUTH_NO && c->entry->decides;
		c->reason = c->context_only ? c->here : c->reason;
	}
	log_sort(a, answer);
	return NULL;
}
