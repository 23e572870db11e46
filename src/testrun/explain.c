/* The words of `explain` about the log of a process; and findings that end with them. */
#include "base/fs.h"
#include "know/diagnosis.h"
#include "testrun/testrun_int.h"

void test_run_end(struct test_run *r)
{
	log_patterns_freep(&r->patterns);
}

/* The first cause that the log shows, or its first error. Without Hyperscan, nothing is said. */
struct err *test_run_explain(struct test_run *r, struct str log, struct str *ret)
{
	struct log_answer answer = {0};
	*ret = S("");
	struct str path = path_join(r->a, r->out->logs, log);
	struct err *e = log_read_file(r->a, &r->patterns, path, &answer);
	if (e && e->code == E_CANCELLED)
		return e;
	err_free(e);
	VEC_EACH (const struct log_cause, c, &answer.causes)
		if (!c->context_only && !ret->n)
			*ret = str_fmt(r->a, "; explain: %s [%s]", c->title, c->id);
	if (!ret->n && answer.first_error.line)
		*ret = str_fmt(r->a, "; the first error in its log: %.*s",
			STR(str_sub(answer.first_error.text, 0, 300)));
	return NULL;
}

struct err *test_run_say(struct test_run *r, const char *id, struct str log, const char *fmt, ...)
{
	struct str why;
	FORMAT(text, r->a, fmt);
	if (r->silent)
		return NULL;
	TRY(test_run_explain(r, log, &why));
	evidence_say(r->a, r->out, SEV_ERROR, id, "%.*s%.*s (%.*s)", STR(text), STR(why), STR(log));
	return NULL;
}
