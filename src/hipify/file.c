/* Translates single files of a tree as a run of hipify does, for explanations, diffs, and the
 * compiler's messages about the result.
 */
#include "base/fs.h"
#include "changes/manifest.h"
#include "hipify/hipify_int.h"

struct err *hipify_source(
	struct arena *a, const struct hipify_options *o, struct str rel, struct str *ret)
{
	struct manifest *known;
	struct view view;
	struct str root = path_abs(a, o->dir);
	TRY(manifest_read(a, changes_journal(a, root, S("")), &known));
	view_open(&view, root, known);
	struct err *e = fs_guard_sources(root, &view.guard);
	if (!e)
		e = view_read(&view, a, path_join(a, view.root, rel), ret);
	view_close(&view);
	return e;
}

struct err *hipify_file_text(struct arena *a, const struct hipify_options *o, struct str rel,
	struct str *ret_source, struct hipify_text *ret)
{
	struct torch_one one = {.rel = rel};
	struct hipify_tree t = {0};
	struct hipify_options dry = *o;
	bool by_torch = hipify_by_torch(o), found = false;
	/* The other files of the tree show which names and headers are the project's own. */
	dry.look_only = true;
	dry.in_place = false;
	dry.out = S("");
	dry.one = &one;
	struct err *e = hipify_run(a, &dry, &t);
	VEC_EACH (struct change, c, &t.changes) {
		if (e || !str_eq(c->source, rel))
			continue;
		found = true;
		e = c->error;
		c->error = NULL;
	}
	if (!e && by_torch && !one.found)
		e = err_new(E_NOENT, "'%.*s' is not among the files that are translated", STR(rel));
	else if (!e && !by_torch && !found)
		e = err_new(
			E_NOENT, "hipify does not look at '%.*s' of '%.*s'", STR(rel), STR(o->dir));
	*ret_source = one.source;
	*ret = one.text;
	if (!e && !by_torch)
		e = hipify_source(a, o, rel, ret_source);
	if (!e && !by_torch)
		e = hipify_text(a, *ret_source, rel, &t.context, ret);
	VEC_EACH (const struct untranslated, u, &t.untranslated)
		if (!e && by_torch && str_eq(u->path, rel))
			*VEC_PUSH(a, &ret->untranslated) = *u;
	hipify_tree_free(&t);
	return e;
}
