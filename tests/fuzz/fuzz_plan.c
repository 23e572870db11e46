/* A saved plan, which may be a stranger's: an error, or a plan whose paths lie in the project, and that is written and read again
 * as the same. "@" at the beginning of a text stands for the project's folder. */
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_paths(const struct plan *p)
{
	VEC_EACH (const struct plan_source, s, &p->sources)
		check(path_is_inside(s->path) && path_is_inside(s->output));
	VEC_EACH (const struct plan_module, m, &p->modules)
		check(path_is_inside(m->file));
	VEC_EACH (const struct str, s, &p->python_files)
		check(path_is_inside(*s));
	if (p->foreign)
		VEC_EACH (const struct plan_file, f, &p->foreign->files)
			check(path_is_inside(f->path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct plan_wish wish, again;
	const char *tmp = getenv("TMPDIR");
	struct str text = {.p = (const char *)data, .n = size};
	struct str dir = str_fmt(&a, "%s/fuzz-plan-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct str path = path_join(&a, dir, S("plan.json"));
	text = str_replace(&a, text, S("\"@"), str_fmt(&a, "\"%.*s", STR(dir)));
	check(!fs_mkdirs(dir) && !fs_write(path_join(&a, dir, S("a.cu")), S(""), 0644));
	check(!fs_write(path, text, 0644));
	struct err *e = plan_read(&a, path, &wish);
	check(!e || e->code != E_INTERNAL);
	if (!e) {
		check_paths(&wish.plan);
		text = json_document(&a, 2, plan_fields, &wish.plan);
		check(!fs_write(path, text, 0644));
		e = plan_read(&a, path, &again);
		check(!e && str_eq(text, json_document(&a, 2, plan_fields, &again.plan)));
	}
	err_free(e);
	err_free(fs_remove_tree(dir));
	return 0;
}
