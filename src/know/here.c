/* Evaluates the conditions of entries on this machine or a recorded one; see diagnosis.h. */
#include "know/diagnosis.h"
#include "know/predicate.h"

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
	static const char *const stages[] = {"install", "import", "runtime", "configure", NULL};
	struct scope s = {0};
	bool amd = (m->gpus.n || m->displays.n) && !m->nvidia;
	TRY(facts_of(a, m, &s.value));
	VEC_EACH (struct log_cause, c, &answer->causes) {
		if (c->asks_amd && amd && str_is_one_of(str_from(c->entry->stage), stages)) {
			c->context_only = false;
			c->reason = S("");
			c->here = S("this machine has an AMD GPU");
		}
		const char *when = c->entry->when;
		if (!when || c->context_only)
			continue;
		enum truth t;
		struct strs because = {0};
		struct err *e = predicate_ask(a, &s, str_from(when), &because, &t);
		bool blind = !node_get(s.value, S("gpus"))->n && strstr(when, " gpus");
		/* a machine without a visible GPU proves nothing about GPUs; the tests find malformed conditions */
		if (e || (blind && t == TRUTH_NO))
			t = TRUTH_UNKNOWN;
		err_free(e);
		if (t == TRUTH_UNKNOWN)
			c->here = str_fmt(
				a, "may fit this machine: whether '%s' holds is not known", when);
		else
			c->here = str_fmt(a, "%s this machine: %.*s",
				t == TRUTH_YES ? "fits" : "does not fit",
				STR(str_join(a, &because, S(", "))));
		c->context_only = own && t == TRUTH_NO && c->entry->decides;
		c->reason = c->context_only ? c->here : c->reason;
	}
	log_sort(a, answer);
	return NULL;
}
