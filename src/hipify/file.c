/* Translates single files of a tree as a run of hipify does, for explanations, diffs, and the
 * compiler's messages about the result.
 */
#include "base/fs.h"
#include "changes/manifest.h"
#include "hipify/hipify_int.h"

/* Opens a view of o->dir as it was before any translation. */
static struct err *pristine(struct arena *a, const struct hipify_options *o, struct view *ret)
{
	struct manifest *known;
	struct str root = path_abs(a, o->dir);
	TRY(manifest_read(a, changes_journal(a, root, S("")), &known));
	if (known)
		manifest_index(known);
	view_open(ret, root, known);
	TRY(fs_guard_sources(root, &ret->guard));
	struct str out = o->out.n ? path_abs(a, o->out) : S("");
	if (out.n && path_is_inside(path_rel(a, out, root)))
		strs_add(a, &ret->hidden, out);
	return NULL;
}

struct err *hipify_source(
	struct arena *a, const struct hipify_options *o, struct str rel, struct str *ret)
{
	struct view view = {0};
	struct err *e = pristine(a, o, &view);
	if (!e)
		e = view_read(&view, a, path_join(a, view.root, rel), ret);
	view_close(&view);
	return e;
}

/* Translates one file by the rules of a torch. */
static struct err *torch_file(struct arena *a, const struct hipify_options *o, struct torch_one *io)
{
	struct torch_source s;
	struct view view = {0};
	struct hipify_options with_map = *o;
	TRY(hipify_options_load_map(a, &with_map));
	TRY(torch_open(a, o->torch.n ? o->torch : o->dir, &s));
	struct err *e = pristine(a, o, &view);
	if (!e)
		e = torch_run_file(a, &with_map, &s, &view, io);
	view_close(&view);
	return e;
}

struct err *hipify_file_text(struct arena *a, const struct hipify_options *o, struct str rel,
	struct str *ret_source, struct hipify_text *ret)
{
	struct torch_one one = {.rel = rel};
	struct hipify_tree t = {0};
	struct hipify_options dry = *o;
	bool by_torch = hipify_by_torch(o), found = by_torch;
	if (by_torch) {
		TRY(torch_file(a, o, &one));
		*ret_source = one.source;
		*ret = one.text;
		if (!o->want_untranslated)
			return NULL;
	}
	/* The other files of the tree show which names and headers are the project's own. */
	dry.look_only = true;
	dry.in_place = false;
	dry.out = S("");
	struct err *e = hipify_run(a, &dry, &t);
	VEC_EACH (struct change, c, &t.changes) {
		if (e || by_torch || !str_eq(c->source, rel))
			continue;
		found = true;
		e = c->error;
		c->error = NULL;
	}
	if (!e && !found)
		e = err_new(
			E_NOENT, "hipify does not look at '%.*s' of '%.*s'", STR(rel), STR(o->dir));
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
