/* Carries out the steps of a recipe on texts in memory. */
#include "base/buf.h"
#include "base/fs.h"
#include "recipe/recipe_int.h"

enum { FILE_LIMIT = 64 << 20 };

static uint64_t count_text(struct str text, struct str what)
{
	uint64_t n = 0;
	for (size_t at; (at = str_find(text, what)) < text.n; n++)
		text = str_sub(text, at + what.n, text.n);
	return n;
}

/* The text must occur exactly as often as the recipe says; otherwise the file is not the one that the recipe was
 * written for. */
static struct err *replace_text(struct trial *t, const struct recipe_step *s, bool *ret)
{
	struct arena *a = t->w->a;
	struct str text;
	TRY(trial_text(t, s->file, &text));
	*ret = text.p != NULL;
	if (!text.p) {
		t->why = str_fmt(a, "there is no %.*s", STR(s->file));
		return NULL;
	}
	uint64_t from = count_text(text, s->replace),
		 to = s->with.n ? count_text(text, s->with) : 0;
	if (from == s->count * count_text(s->with, s->replace) && (to == s->count || !s->with.n))
		return NULL;
	t->there = false;
	*ret = from == s->count;
	if (*ret)
		trial_put(t, s->file, str_replace(a, text, s->replace, s->with));
	else
		t->why = str_fmt(a,
			"the text to be replaced (line %u of the recipe) stands %llu times in "
			"%.*s, not %llu times",
			s->at->at.line, (unsigned long long)from, STR(s->file),
			(unsigned long long)s->count);
	return NULL;
}

static struct err *patch_files(struct trial *t, const struct recipe_step *s, bool *ret)
{
	VEC_EACH (const struct diff_file, f, &s->diff) {
		struct diff_result r;
		struct str old;
		TRY(trial_text(t, f->path, &old));
		TRY(diff_apply(t->w->a, f, old, &r));
		if (r.fit == DIFF_THERE)
			continue;
		t->there = false;
		*ret = r.fit == DIFF_FITS;
		if (!*ret) {
			t->why = str_join(t->w->a, &r.notes, S("; "));
			return NULL;
		}
		strs_add_all(t->w->a, &t->notes, &r.notes);
		trial_put(t, f->path, r.text);
	}
	return NULL;
}

static struct err *add_overlay(struct trial *t, const struct recipe_step *s)
{
	const struct found *f = s->copy.n ? trial_found(t, s->copy) : NULL;
	struct str text;
	if (s->copy.n && !f)
		return err_new(E_RECIPE, "'%.*s' is not known", STR(s->copy));
	if (!f)
		TRY(expand(t, s->text, &text));
	else if (f->text.n)
		text = f->text;
	else
		TRY(fs_read(t->w->a, f->path, FILE_LIMIT, &text));
	t->there = false;
	trial_put(t, path_join(t->w->a, S(RECIPE_OVERLAY), s->overlay), text);
	return NULL;
}

struct err *steps_try(struct trial *t, bool *ret)
{
	*ret = true;
	t->there = t->recipe->steps.n > 0;
	VEC_EACH (const struct recipe_step, s, &t->recipe->steps) {
		switch (s->kind) {
		case STEP_REPLACE:
			TRY(replace_text(t, s, ret));
			break;
		case STEP_PATCH:
			TRY(patch_files(t, s, ret));
			break;
		case STEP_OVERLAY:
			TRY(add_overlay(t, s));
			break;
		case STEP_GENERATE:
			t->there = false;
			TRY(generate(t, s, ret));
			break;
		}
		if (!*ret)
			return NULL;
	}
	return NULL;
}
