/* What is in the folder of a matrix, which other machines fill: plan and results of two cells, with NULs between them. What is read
 * names no file outside, and adds up. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "flow/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = {"plan/result.json", "plan/plan.json",
		"build/result.json", "verify/result.json", "sdk/result.json"};
	ARENA(a);
	const char *tmp = getenv("TMPDIR");
	struct str text, rest = {.p = (const char *)data, .n = size};
	struct str dir = str_fmt(&a, "%s/fuzz-matrix-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct matrix m = {.name = S("m"), .file = S("/m.yaml"), .state = dir};
	*VEC_PUSH(&a, &m.cells) = (struct matrix_cell){.name = S("one"), .project = S("/p")};
	*VEC_PUSH(&a, &m.cells) = (struct matrix_cell){.name = S("two"), .project = S("/p")};
	VEC_EACH (const struct matrix_cell, c, &m.cells)
		for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
			struct str path =
				str_fmt(&a, "%.*s/cells/%.*s/%s", STR(dir), STR(c->name), files[i]);
			(void)str_cut(rest, 0, &text, &rest);
			check(!fs_mkdirs(path_dir(path)));
			check(text.n ? !fs_write(path, text, 0644 | FS_LOOSE) : !fs_remove(path));
		}
	struct err *e = matrix_look_all(&a, &m);
	check(!e || e->code != E_INTERNAL);
	check(e || m.done + m.failed + m.missing == m.cells.n);
	VEC_EACH (const struct matrix_cell, c, &m.cells)
		VEC_EACH (const struct matrix_step, s, &c->steps) {
			check(path_is_inside(s->name) && str_chr(s->name, '/') == s->name.n);
			check(!s->result.wheel.n || path_is_inside(s->result.wheel) ||
				s->state == MATRIX_MISSING);
		}
	check(json_document(&a, 2, matrix_fields, &m).n && matrix_html(&a, &m).n);
	err_free(e);
	err_free(fs_remove_tree(dir));
	return 0;
}
