/* A stranger's project: pyproject.toml, setup.cfg, PKG-INFO, setup.py, CMakeLists.txt and .gitmodules, with NULs between them. What
 * is read of them is an error or a source, and submodules lie inside. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/vec.h"
#include "source/cmake.h"
#include "source/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void calls(struct arena *a, struct str text)
{
	struct cmake_text t = {.rest = text};
	struct cmake_call c = {0};
	unsigned line = 1;
	for (size_t before = text.n + 1; cmake_next(a, &t, &c); before = t.rest.n) {
		check(t.rest.n < before && c.line >= line && c.words.n <= text.n);
		line = c.line;
	}
}

static void modules(struct arena *a, struct str text)
{
	struct strs paths = {0};
	source_submodule_paths(a, text, &paths);
	VEC_EACH (const struct str, path, &paths)
		check(path_is_inside(*path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = {"pyproject.toml", "setup.cfg", "PKG-INFO", "setup.py",
		"CMakeLists.txt", ".gitmodules", NULL};
	ARENA(a);
	struct source s;
	struct source_gpu gpu;
	const char *tmp = getenv("TMPDIR");
	struct str text, rest = {.p = (const char *)data, .n = size};
	struct str dir = str_fmt(&a, "%s/fuzz-source-%d", tmp ? tmp : "/tmp", (int)getpid());
	check(!fs_mkdirs(dir) && !fs_write(path_join(&a, dir, S("k.cu")), S(""), 0644));
	for (unsigned i = 0; files[i]; i++) {
		(void)str_cut(rest, 0, &text, &rest);
		if (text.n)
			check(!fs_write(path_join(&a, dir, str_from(files[i])), text, 0644));
		if (i == 4)
			calls(&a, text);
	}
	modules(&a, text);
	struct err *e = source_read(&a, dir, &s);
	check(!e || e->code != E_INTERNAL);
	e = e ? e : source_gpu_read(&a, &s, &gpu);
	check(!e || e->code != E_INTERNAL);
	err_free(e);
	err_free(source_submodules(&a, dir));
	err_free(fs_remove_tree(dir));
	return 0;
}
