/* A unified diff and a text, with a NUL between them: an error, or a result that has every line that
 * was added, and that the diff knows to be there already. */
#include <stdlib.h>

#include "base/fs.h"
#include "formats/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct arena *a, const struct diff_file *f, struct str old)
{
	struct diff_result r;
	struct err *e = diff_apply(a, f, old, &r);
	if (e && e->code != E_LIMIT)
		abort();
	if (!e && r.fit != DIFF_NOT && !r.text.p)
		abort();
	if (!e && r.fit == DIFF_FITS)
		VEC_EACH (const struct diff_hunk, h, &f->hunks)
			VEC_EACH (const struct diff_line, l, &h->lines)
				if (l->kind == '+' && !str_contains(r.text, l->text))
					abort();
	err_free(e);
}

static void try(struct str diff, struct str old, enum diff_kind kind)
{
	ARENA(a);
	struct diff d;
	CLEANUP(err_freep) struct err *e = diff_parse(&a, diff, S("r.yaml"), kind, &d);
	if (e && (e->code != E_SYNTAX || !e->line))
		abort();
	if (e)
		return;
	VEC_EACH (const struct diff_file, f, &d) {
		if (!path_is_inside(f->path))
			abort();
		check(&a, f, old);
		check(&a, f, (struct str){0});
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str diff, old, text = {.p = (const char *)data, .n = size};
	(void)str_cut(text, '\0', &diff, &old);
	try(diff, old, DIFF_RECIPE);
	try(diff, old, DIFF_PATCH);
	return 0;
}
