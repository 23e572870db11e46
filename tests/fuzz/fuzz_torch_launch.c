/* Kernel launches in arbitrary bytes. Launches that stand apart are replaced in place, others are
 * searched for in the whole text; a comment at the end that looks like half a launch asks for the
 * second way, which must give the same. The edits of the trace must give it too, and an error must
 * have a line. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "hipify/torch/text/passes.h"
#include "lang/python/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void check_edits(struct arena *a, struct str source, struct str want)
{
	struct torch_trace trace = {.a = a, .source = source};
	struct hipify_text t = {0};
	struct str whole = {0};
	size_t done = 0;
	require(!torch_launches(a, source, &trace, &whole) && str_eq(whole, want));
	torch_trace_end(&trace, &t);
	BUF(b, a);
	VEC_EACH (const struct hipify_edit, e, &t.edits) {
		require(e->from >= done && e->to >= e->from && e->to <= source.n && e->line);
		buf_add(&b, str_sub(source, done, e->from));
		buf_add(&b, e->with);
		done = e->to;
	}
	buf_add(&b, str_sub(source, done, source.n));
	require(str_eq(buf_str(&b), want));
}

/* The text with the comment, translated, without it again; "" when that is not to be told. */
static struct str the_other_way(struct arena *a, struct str source)
{
	struct str comment = S("\n//<<<"), got;
	BUF(b, a);
	buf_add(&b, source);
	buf_add(&b, comment);
	struct err *e = torch_launches(a, buf_str(&b), NULL, &got);
	require(!e && str_ends(got, comment));
	return str_sub(got, 0, got.n - comment.n);
}

/* Has each launch its "("? */
static bool is_whole(struct str s)
{
	size_t last = 0;
	for (size_t at = 0; (at = py_str_find(s, S(">>>"), at)) != SIZE_MAX; at++)
		last = at;
	return py_str_find(s, S("("), last) != SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str source = {.p = (const char *)data, .n = size}, got = {0};
	struct err *e = torch_launches(&a, source, NULL, &got);
	require(!e || (e->code == E_HIPIFY && e->line));
	/* What is no UTF-8 comes here from no file, and a name may end where it is cut. */
	if (!e && size <= 2000 && is_whole(source) && utf8_end(source) == source.n)
		require(str_eq(the_other_way(&a, source), got));
	if (!e && size <= 2000 && got.n < 1 << 20)
		check_edits(&a, source, got);
	err_free(e);
	return 0;
}
