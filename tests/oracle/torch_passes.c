/* Single passes of the engine that equals PyTorch's hipify, as a server for the comparisons in this
 * folder: frames on stdin, answers on stdout, one process for very many texts.
 *
 * "KIND N\n" and N bytes; the answer is "ok N\n" and the text, or "err LINE N\n" and the message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "hipify/torch/text/passes.h"

typedef struct err *pass(struct arena *a, struct str text, struct str *ret);

static struct err *launches(struct arena *a, struct str text, struct str *ret)
{
	return torch_launches(a, text, NULL, ret);
}

/* The same text, put together from the source and the edits of the trace. */
static struct err *traced(struct arena *a, struct str text, struct str *ret)
{
	struct torch_trace trace = {.a = a, .source = text};
	struct hipify_text edits = {0};
	struct str whole = {0};
	size_t done = 0;
	TRY(torch_launches(a, text, &trace, &whole));
	torch_trace_end(&trace, &edits);
	BUF(b, a);
	VEC_EACH (const struct hipify_edit, e, &edits.edits) {
		buf_add(&b, str_sub(text, done, e->from));
		buf_add(&b, e->with);
		done = e->to;
	}
	buf_add(&b, str_sub(text, done, text.n));
	*ret = buf_str(&b);
	return str_eq(*ret, whole) ? NULL : err_new(E_INTERNAL, "edits differ from the text");
}

static const struct {
	const char *name;
	pass *run;
} passes[] = {{"launch", launches}, {"traced", traced}};

static void answer(const char *kind, struct str text)
{
	ARENA(a);
	struct str ret = {0};
	struct err *e = err_new(E_USAGE, "unknown kind of frame");
	for (size_t i = 0; i < sizeof(passes) / sizeof(*passes); i++) {
		if (strcmp(passes[i].name, kind) != 0)
			continue;
		err_free(e);
		e = passes[i].run(&a, text, &ret);
	}
	if (e)
		printf("err %u %zu\n%s", e->line, strlen(e->msg), e->msg);
	else
		printf("ok %zu\n", ret.n);
	if (!e && ret.n)
		fwrite(ret.p, 1, ret.n, stdout);
	fflush(stdout);
	err_free(e);
}

int main(void)
{
	char kind[16];
	size_t n;
	while (scanf("%15s %zu", kind, &n) == 2 && getchar() == '\n') {
		char *p = malloc(n + 1);
		if (!p || fread(p, 1, n, stdin) != n)
			return 1;
		answer(kind, (struct str){.p = p, .n = n});
		free(p);
	}
	return 0;
}
