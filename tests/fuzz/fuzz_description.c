/* A description of a project from bytes: what it says and what its features come to, or an error. */
#include <stdlib.h>

#include "base/fs.h"
#include "plan/plan_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct project p;
	struct plan_request r = {0};
	struct plan_foreign how = {.release = S("2.6.0")};
	struct plan plan = {.project = S("/nowhere"), .name = S("p"), .foreign = &how};
	struct description d = {.dir = S("/"), .config = S("d.yaml")};
	d.text = size ? (struct str){.p = (const char *)data, .n = size} : S("");
	CLEANUP(err_freep) struct err *e = project_read(&a, &d, &p);
	plan.host.triplet = S("x86_64-linux-gnu");
	strs_add(&a, &plan.gpus, S("gfx90a:xnack-"));
	if (!e)
		e = known_fits(&a, &p, &plan);
	if (!e)
		e = features_choose(&a, &r, &p, &plan);
	if (!e)
		VEC_EACH (const struct plan_file, f, &how.files)
			if (!path_is_inside(f->path))
				abort();
	return 0;
}
