/* Tries one recipe on the texts that the recipes before it leave. */
#include "recipe/recipe_int.h"

/* If the problem is not there: do the sources already have the cure? */
static struct err *check_present(struct trial *t, enum recipe_state *ret)
{
	struct trial other = {.w = t->w, .recipe = t->recipe, .found = t->found};
	bool fits;
	VEC_EACH (const struct recipe_step, s, &t->recipe->steps)
		if (s->kind == STEP_OVERLAY || s->kind == STEP_GENERATE)
			return NULL;
	TRY(steps_try(&other, &fits));
	if (fits && other.there) {
		*ret = RECIPE_PRESENT;
		t->why = S("the sources have it already");
	}
	return NULL;
}

static struct err *try_recipe(struct trial *t, enum recipe_state *ret)
{
	enum recipe_state applies;
	bool yes, generates = false;
	TRY(recipe_applies(t, &applies));
	*ret = applies;
	if (applies == RECIPE_OTHER)
		return NULL;
	struct str unsure = t->why;
	TRY(checks_hold(t, &t->recipe->detect, &yes));
	*ret = t->unknown ? RECIPE_UNKNOWN : RECIPE_NOT;
	if (!yes)
		return t->unknown ? NULL : check_present(t, ret);
	*ret = RECIPE_UNKNOWN;
	if (applies == RECIPE_UNKNOWN) {
		t->why = unsure;
		return NULL;
	}
	struct str why = t->why;
	TRY(steps_try(t, &yes));
	VEC_EACH (const struct recipe_step, s, &t->recipe->steps)
		generates = generates || s->kind == STEP_GENERATE;
	if (yes && t->recipe->verify.n && (!generates || t->w->make)) {
		TRY(checks_hold(t, &t->recipe->verify, &yes));
		t->why = str_fmt(t->w->a, "afterwards %.*s", STR(t->why));
	}
	*ret = !yes                 ? RECIPE_CONFLICT
	       : t->there           ? RECIPE_PRESENT
	       : t->recipe->steps.n ? RECIPE_NEEDED
				    : RECIPE_BUILD;
	if (yes)
		t->why = t->there ? S("the sources have it already") : why;
	return NULL;
}

struct err *trial_run(struct trial *t, enum recipe_state *ret)
{
	*ret = RECIPE_REFUSED;
	t->why = t->recipe->refused;
	if (t->why.n)
		return NULL;
	struct err *e = try_recipe(t, ret);
	if (!e || e->code != E_RECIPE)
		return e;
	t->why = str_dup(t->w->a, str_from(e->msg)); /* a name that has no value */
	*ret = RECIPE_UNKNOWN;
	err_free(e);
	return NULL;
}
