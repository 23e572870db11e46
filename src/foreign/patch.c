/* Recipes for known stops, applied to the copy while it is made: the project's own folder stays as it
 * is, and a build that goes on sees no change. What they say for the environment goes there. */
#include "base/fs.h"
#include "base/progress.h"
#include "foreign/foreign_int.h"
#include "recipe/recipe.h"

struct foreign_recipes {
	struct recipes all;
	struct recipe_request request;
};

struct err *foreign_recipes(struct foreign *f, struct str *ret_identity)
{
	struct foreign_recipes *r = f->recipes = NEW(f->a, struct foreign_recipes);
	r->request = (struct recipe_request){.tree = f->plan->project, .at = f->tree};
	r->request.facts.gpus = f->plan->gpus;
	sdk_recipe_facts(f->a, f->sdk, &r->request.facts);
	r->request.facts.sdk = f->rocm; /* as the build sees it */
	r->request.facts.sdk_at = S("");
	if (!f->plan->host_native) { /* its headers, and its programs */
		r->request.facts.sysroot = f->sdk->root;
		strs_add(f->a, &r->request.facts.path, path_join(f->a, f->rocm, S("bin")));
	}
	TRY(recipes_load(f->a, NULL, &r->all));
	*ret_identity = recipes_identity(f->a, &r->all, &r->request);
	return NULL;
}

static void say(struct foreign *f, const struct recipe_report *report)
{
	VEC_EACH (const struct recipe_entry, e, &report->recipes)
		if (e->state == RECIPE_APPLIED || e->state == RECIPE_BUILD)
			strs_add(f->a, &f->patched, e->id);
	if (f->patched.n)
		progress_note(S("Patched"), "by recipes: %.*s",
			STR(str_join(f->a, &f->patched, S(", "))));
}

struct err *foreign_patch(struct foreign *f, const struct view *view, struct change_set *ret)
{
	const struct foreign_recipes *r = f->recipes;
	struct recipe_report report;
	TRY_CTX(recipes_changes(f->a, &r->all, &r->request, view, &report),
		"cannot try the recipes on '%.*s'", STR(f->plan->project));
	for (unsigned cmake = 0; cmake < 2; cmake++) {
		struct strs lines = recipe_environment(f->a, &report, &f->env, cmake);
		VEC_EACH (const struct str, line, &lines)
			foreign_set_line(f, *line);
	}
	say(f, &report);
	*ret = report.changes;
	VEC_EACH (const struct plan_file, file, &f->plan->foreign->files)
		*VEC_PUSH(f->a, ret) = (struct change){
			.source = file->path, .output = file->path, .text = file->text};
	return NULL;
}
