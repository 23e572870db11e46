/* What the sources assume of the GPU that a target of the plan does not keep: waves of 32 lanes. */
#include "hipify/waves.h"
#include "base/fs.h"
#include "plan/plan_int.h"

/* PyTorch itself knows both sizes. */
struct err *plan_waves(struct arena *a, struct plan *p, struct str build_dir, bool keep)
{
	enum { MOST = 50 };
	struct targets targets = {0};
	bool wave64 = false;
	if (p->gpus.n)
		TRY(targets_parse(a, &p->gpus, &targets));
	VEC_EACH (const struct target, t, &targets)
		wave64 |= t->gpu && !t->gpu->wave32;
	if (!wave64 || p->hipify.mode == HIPIFY_TORCH)
		return NULL;
	struct strs files = {0};
	VEC_EACH (const struct plan_source, s, &p->sources)
		strs_add(a, &files, s->path);
	strs_add_all(a, &files, &p->headers);
	struct waves_request q = {.dir = p->project,
		.files = p->foreign ? NULL : &files,
		.by_torch = hipify_by_torch(&p->hipify) || (p->foreign && p->foreign->torch),
		.most = MOST,
		.state = path_join(a, build_dir, S("waves")),
		.keep = keep};
	return waves_find(a, &q, &p->findings);
}
