/* PyTorch's own sources are translated while the copy is made, on top of what recipes change there, as
 * tools/amd_build/build_amd.py would do it in place. */
#include "base/fs.h"
#include "base/map.h"
#include "foreign/foreign_int.h"
#include "hipify/hipify.h"

struct err *foreign_translate(struct foreign *f, const struct view *view, struct change_set *io)
{
	struct hipify_tree tree;
	struct view patched = *view;
	MAP(texts, f->a);
	if (f->plan->hipify.mode != HIPIFY_TORCH)
		return NULL;
	VEC_EACH (struct change, c, io)
		if (c->text.p)
			map_put(&texts, path_join(f->a, view->root, c->output), &c->text);
	patched.over = &texts;
	struct hipify_options o = f->plan->hipify;
	o.dir = f->plan->project;
	o.jobs = f->jobs;
	hipify_options_complete(f->a, &o);
	struct err *e = hipify_changes(f->a, &o, &patched, &tree);
	struct change_set all = {0};
	VEC_EACH (const struct change, c, io)
		*VEC_PUSH(f->a, &all) = *c;
	VEC_EACH (const struct change, c, &tree.changes) /* later ones win */
		*VEC_PUSH(f->a, &all) = *c;
	*io = all;
	return e;
}
