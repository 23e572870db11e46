/* Kernels one by one: a wish, a NUL, and a file with device code. Every kernel that is listed is in the file, is unchanged when it is
 * compared with itself, and what is taken out has names of ours. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "devcode/kernels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void scan(struct arena *a, const struct bytes *src, struct devcode *d)
{
	enum { FLAGS = DEVCODE_KERNELS | DEVCODE_RESOURCES | DEVCODE_EVERY | DEVCODE_NAMES };
	err_free(devcode_scan_src(a, src, S("input"), FLAGS | DEVCODE_CODE | DEVCODE_INNER, d));
	devcode_finish(a, d);
}

static void take(struct arena *a, const struct kernel_wish *w, struct str content)
{
	const char *tmp = getenv("TMPDIR");
	struct str dir = str_fmt(a, "%s/fuzz-kernels-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct str path = path_join(a, dir, S("lib x.so"));
	const struct strs paths = {.v = &path, .n = 1};
	struct taken t = {.a = a, .wish = *w, .dir = path_join(a, dir, S("out")), .names.a = a};
	struct strs files;
	check(!fs_mkdirs(dir) && !fs_write(path, content, 0644));
	struct err *e = kernels_extract(a, &paths, &t);
	if (!e) {
		e = fs_list(a, t.dir, &files);
		check(!e && files.n == t.objects.n);
		VEC_EACH (const struct str, name, &files)
			for (size_t i = 0; i < name->n; i++)
				check(ascii_alnum(name->p[i]) ||
					str_chr(S("._+-"), name->p[i]) < 4);
	}
	err_free(e);
	err_free(fs_remove_tree(dir));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str wish, content, all = {.p = (const char *)data, .n = size};
	struct devcode d = {0}, other = {0};
	struct kernel_places list = {0};
	struct kernel_changes changes = {0};
	struct kernel_wish w;
	(void)str_cut(all, 0, &wish, &content);
	struct bytes src = bytes_mem(content);
	struct budget budget;
	budget_set(&budget, 2 * size);
	src.budget = &budget;
	scan(&a, &src, &d);
	scan(&a, &src, &other);
	kernels_list(&a, &d, &list);
	check(list.n == d.resources);
	if (d.resources == other.resources) {
		kernels_compare(&a, &d, &other, &changes);
		VEC_EACH (const struct kernel_change, c, &changes.kernels)
			check(c->old && c->now);
	}
	struct err *e = kernel_wish_read(&a, wish, size % 2, &w);
	if (!e && wish.n < 64)
		take(&a, &w, content);
	err_free(e);
	return 0;
}
