/* Kernel launches in arbitrary bytes. The index must give what replacing each launch in the whole
 * text gives, the edits of the trace must give it too, and an error must have a line. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "hipify/torch/text/launch_int.h"
#include "lang/python/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static bool find(struct arena *a, struct launch_work *w)
{
	w->a = a;
	w->masked = arena_alloc(a, w->text.n + 1);
	launch_mask(w->text, w->masked);
	struct str s = {.p = w->masked, .n = w->text.n};
	for (size_t at = 0; (at = py_str_find(s, S("<<<"), at)) != SIZE_MAX;) {
		size_t end = py_str_find(s, S(">>>"), at);
		if (end == SIZE_MAX)
			return false;
		struct launch l = {.at = at, .end = end + 3};
		if (launch_name(w->text, 0, &l) == LAUNCH_NONE)
			return false;
		size_t round = py_str_find(w->text, S("("), l.end);
		l.stop = round == SIZE_MAX ? l.start : round + 1;
		*VEC_PUSH(a, &w->launches) = l;
		at = l.end;
	}
	return true;
}

/* As the original does it; *ret untouched when it would get too large. */
static bool literally(struct arena *a, struct str text, struct str *ret)
{
	struct launch_work w = {.text = text};
	struct str out = text, hip;
	if (!find(a, &w))
		return false;
	VEC_EACH (const struct launch, l, &w.launches) {
		struct str old = str_sub(text, l->start, l->stop);
		if (!launch_hip(a, &w, l, &hip))
			return false;
		if (hip.n * py_str_count(out, old) + out.n > 1 << 20)
			return true;
		out = py_str_replace(a, out, old, hip);
	}
	*ret = out;
	return true;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str source = {.p = (const char *)data, .n = size}, got = {0}, want = {0};
	/* Joining lines is the first step of both; what is joined cannot be joined again. */
	struct err *e = torch_launches(&a, source, NULL, &got);
	bool plain = py_str_find(source, S("detai"), 0) == SIZE_MAX && utf8_end(source) == source.n;
	if (!plain || size > 2000) {
		require(!e || (e->code == E_HIPIFY && e->line));
	} else if (e) {
		require(e->code == E_HIPIFY && e->line);
		require(!literally(&a, source, &want) || !want.p);
	} else {
		require(literally(&a, source, &want));
		require(!want.p || str_eq(got, want));
	}
	if (!e && size <= 2000 && got.n < 1 << 20)
		check_edits(&a, source, got);
	err_free(e);
	return 0;
}
