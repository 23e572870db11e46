/* Wheels made of a wheel, which has the METADATA, WHEEL, one more text by its name, and a file by its name that are given with NULs
 * between them: another tag and version, fewer GPUs, split and merged again. What is made can be opened and checked. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "wheel/split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "x-1.0+rocm7.0.0-cp312-cp312-linux_x86_64.whl"
#define INFO "x-1.0+rocm7.0.0.dist-info"

static void check(bool good)
{
	if (!good)
		abort();
}

static void open_again(struct arena *a, struct str path)
{
	struct wheel w;
	struct err *e = wheel_open(a, path, &w);
	check(!e);
	e = wheel_check(&w, 1, "reading", NULL, NULL);
	check(!e);
	wheel_close(&w);
}

static struct err *make(struct arena *a, struct str path, struct str rest)
{
	struct zip_input v[4] = {{.name = S(INFO "/METADATA"), .mode = 0644},
		{.name = S(INFO "/WHEEL"), .mode = 0644}};
	struct wheel_inputs in = {.v = v, .n = 2, .cap = 4, .info = S(INFO)};
	const struct zip_writer how = {.path = path, .jobs = 1};
	struct str name;
	(void)str_cut(rest, 0, &v[0].content, &rest);
	(void)str_cut(rest, 0, &v[1].content, &rest);
	for (unsigned i = 0; i < 2; i++) {
		struct zip_input file = {.mode = 0644};
		(void)str_cut(rest, 0, &name, &rest);
		file.name = i ? name : str_fmt(a, INFO "/%.*s", STR(name));
		if (i)
			file.content = rest;
		else
			(void)str_cut(rest, 0, &file.content, &rest);
		if (name.n)
			v[in.n++] = file;
	}
	return wheel_write(a, &in, &how);
}

static struct err *retag(struct arena *a, struct str path, struct str dir)
{
	struct wheel_done done;
	struct wheel_request q = {.from = path,
		.to = dir,
		.jobs = 1,
		.force = true,
		.local = S("rocm7.0.1"),
		.platform = S("+manylinux_2_28_x86_64")};
	*VEC_PUSH(a, &q.renames) = (struct wheel_rename){S("7.0.0"), S("7.0.1")};
	TRY(wheel_retag(a, &q, &done));
	open_again(a, done.path);
	return NULL;
}

static struct err *slim(struct arena *a, struct str path, struct str to)
{
	struct target gpu = target_read(S("gfx1100"));
	const struct slim_keep k = {.v = &gpu, .n = 1};
	struct slim_report r = {.path = path, .output = to};
	strs_add(a, &r.gpus, S("gfx1100"));
	TRY(wheel_slim(a, &k, true, 1, &r));
	open_again(a, to);
	return NULL;
}

static struct err *split(struct arena *a, struct str path, struct str dir, unsigned format)
{
	const struct split_request q = {.from = path,
		.to = dir,
		.format = format,
		.force = true,
		.jobs = 1,
		.variants = true};
	struct split_done parts = {0};
	struct merge_done whole = {0};
	struct merge_request m = {.to = str_fmt(a, "%.*s/merged/" NAME, STR(dir)), .jobs = 1};
	TRY(wheel_split(a, &q, &parts));
	VEC_EACH (const struct split_wheel, w, &parts.wheels) {
		if (w->role == SPLIT_VARIANT) /* its label is no part of a name that is read */
			continue;
		open_again(a, w->path);
		strs_add(a, &m.from, w->path);
	}
	TRY(fs_mkdirs(path_dir(m.to)));
	TRY(wheel_merge(a, &m, &whole));
	open_again(a, whole.output);
	return NULL;
}

static void judge(struct err *e)
{
	check(!e || e->code != E_INTERNAL);
	err_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	const char *tmp = getenv("TMPDIR");
	struct str dir = str_fmt(&a, "%s/fuzz-rewrite-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct str path = path_join(&a, dir, S(NAME)), out = path_join(&a, dir, S("out"));
	check(!fs_mkdirs(out));
	struct err *e = make(&a, path, (struct str){.p = (const char *)data, .n = size});
	if (!e) {
		judge(retag(&a, path, out));
		judge(slim(&a, path, path_join(&a, out, S(NAME))));
		judge(split(&a, path, path_join(&a, dir, S("plain")), SPLIT_PLAIN));
		judge(split(&a, path, path_join(&a, dir, S("kpack")), SPLIT_KPACK));
	}
	err_free(e);
	err_free(fs_remove_tree(dir));
	return 0;
}
