/* Looking at single files of a tree, as a run of hipify sees them: for explanations, diffs, and the
 * compiler's messages about the result.
 */
#include "hipify/hipify.h"

#include "base/fs.h"
#include "changes/manifest.h"
#include "changes/view.h"
#include "hipify/torch/run/run.h"

/* The sources of o->dir as they were before any translation. */
static struct err *pristine(struct arena *a, const struct hipify_options *o, struct view *ret)
{
	struct manifest *ours;
	struct str root = path_abs(a, o->dir);
	TRY(manifest_read(a, root, &ours));
	if (ours)
		manifest_index(ours);
	view_open(ret, root, ours);
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

static struct err *not_taken(const struct hipify_options *o, struct str rel)
{
	return err_new(E_NOENT, "hipify does not look at '%.*s' of '%.*s'", STR(rel), STR(o->dir));
}

static struct err *torch_file(struct arena *a, const struct hipify_options *o,
	struct str *ret_source, struct torch_one *io)
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
	if (!e && !io->found)
		e = not_taken(o, io->rel);
	*ret_source = io->source;
	return e;
}

static struct hipify_options looking(const struct hipify_options *o)
{
	struct hipify_options look = *o;
	look.look_only = true;
	look.in_place = false;
	look.out = S("");
	return look;
}

/* The names that stay in one file: a name that another one declares is no name of CUDA's. */
static struct err *untranslated_of(struct arena *a, const struct hipify_options *o, struct str rel,
	struct untranslated_list *ret)
{
	struct hipify_options look = looking(o);
	struct hipify_tree t = {0};
	struct err *e = hipify_run(a, &look, &t);
	VEC_EACH (const struct untranslated, l, &t.untranslated)
		if (!e && str_eq(l->path, rel))
			*VEC_PUSH(a, ret) = *l;
	hipify_tree_free(&t);
	return e;
}

/* The other files tell which headers are the project's own, and what they use. */
static struct err *standalone_file(struct arena *a, const struct hipify_options *o, struct str rel,
	struct str *ret_source, struct hipify_text *ret)
{
	struct hipify_options look = looking(o);
	struct hipify_tree t = {0};
	bool found = false;
	struct err *e = hipify_run(a, &look, &t);
	VEC_EACH (struct change, f, &t.changes) {
		if (!str_eq(f->source, rel))
			continue;
		found = true;
		e = err_join(e, f->error);
		f->error = NULL;
	}
	if (!e && !found)
		e = not_taken(o, rel);
	if (!e)
		e = hipify_source(a, o, rel, ret_source);
	if (!e)
		e = hipify_text_in(a, *ret_source, rel, &t.context, ret);
	hipify_tree_free(&t);
	return e;
}

struct err *hipify_file_text(struct arena *a, const struct hipify_options *o, struct str rel,
	struct str *ret_source, struct hipify_text *ret)
{
	if (!hipify_by_torch(o))
		return standalone_file(a, o, rel, ret_source, ret);
	struct torch_one one = {.rel = rel};
	TRY(torch_file(a, o, ret_source, &one));
	*ret = one.text;
	return o->want_untranslated ? untranslated_of(a, o, rel, &ret->untranslated) : NULL;
}
