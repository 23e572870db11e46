/* Logs of any kind: know/diagnosis.h. Every cause stands in the log, and packed input ends. */
#include "know/diagnosis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct log_patterns *patterns;
	ARENA(a);
	struct log_answer answer;
	struct err *e = patterns ? NULL : log_patterns_new(&patterns);
	if (e) {
		err_free(e);
		return 0;
	}
	struct stream *s = stream_new(-1, (struct str){(const char *)data, size}, S("log"));
	e = log_read(&a, patterns, s, &answer);
	stream_freep(&s);
	if (e) {
		err_free(e);
		return 0;
	}
	VEC_EACH (struct log_cause, c, &answer.causes)
		if (!c->entry || c->at.line == 0 || c->at.line > answer.lines + 1)
			__builtin_trap();
	return 0;
}
