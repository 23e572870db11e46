/* The translator on arbitrary bytes. Beyond not crashing: an accepted text has edits in order that
 * give the result, the result is accepted again and does not change, no NUL comes in, and places of
 * reports lie in the text. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "hipify/hipify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void check_edits(struct arena *a, struct str source, const struct hipify_text *t)
{
	BUF(b, a);
	size_t done = 0;
	VEC_EACH (const struct hipify_edit, e, &t->edits) {
		require(e->from >= done && e->to >= e->from && e->to <= source.n && e->rule);
		buf_add(&b, str_sub(source, done, e->from));
		buf_add(&b, e->with);
		done = e->to;
	}
	buf_add(&b, str_sub(source, done, source.n));
	require(str_eq(buf_str(&b), t->text));
}

static void check_left(struct str source, const struct hipify_text *t)
{
	size_t lines = 1;
	for (size_t i = 0; i < source.n; i++)
		lines += source.p[i] == '\n';
	VEC_EACH (const struct untranslated, l, &t->untranslated)
		require(l->line >= 1 && l->line <= lines && l->col >= 1 && l->name.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str source = {.p = (const char *)data, .n = size};
	struct str path = size && data[0] % 2 ? S("f.cu") : S("f.h");
	struct hipify_text t, again;
	struct err *e = hipify_text(&a, source, path, NULL, &t);
	if (e) {
		require(e->code == E_HIPIFY && e->line);
		err_free(e);
		return 0;
	}
	check_edits(&a, source, &t);
	check_left(source, &t);
	require(!memchr(t.text.p, 0, t.text.n));
	struct changes_diff d = {.old_name = path, .new_name = path, .old = source, .new = t.text};
	require(!changes_diff(&a, &d).n == str_eq(source, t.text));
	e = hipify_text(&a, t.text, path, NULL, &again);
	require(!e && str_eq(again.text, t.text));
	return 0;
}
