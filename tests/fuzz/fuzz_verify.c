/* Two wheels, each of texts with NULs between them: METADATA, WHEEL, RECORD, a bill of materials and what `split` says of a part. Then a
 * file of each: its name, and of the first the size in decimal, each with a NUL, and the content. They are verified, together, and the
 * verdicts are documents that can be read. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "formats/node.h"
#include "verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXTS = 5 };

static void check(bool good)
{
	if (!good)
		abort();
}

static void write_wheel(struct arena *a, struct str path, struct str *texts, struct zip_input file)
{
	static const char *const names[TEXTS] = {
		"METADATA", "WHEEL", "RECORD", "sboms/x.json", SPLIT_MANIFEST};
	struct zip_input v[TEXTS + 1];
	struct zip_writer w = {.path = path, .jobs = 1, .v = v};
	for (unsigned i = 0; i < TEXTS; i++) {
		struct str text;
		(void)str_cut(*texts, 0, &text, texts);
		if (text.n)
			v[w.n++] = (struct zip_input){
				.name = str_fmt(a, "%.*s.dist-info/%s",
					STR(path_base(path_dir(path))), names[i]),
				.content = text,
				.mode = 0644};
	}
	if (file.name.n)
		v[w.n++] = file;
	err_free(zip_write(
		a, &w, NULL)); /* a name that may not be in an archive, or is there twice */
}

static void read_again(struct arena *a, struct str text)
{
	const struct node *doc;
	struct err *e = json_parse(a, text, S("verdict"), &doc);
	check(!e);
}

/* What is behind the texts, as a file of each wheel. */
static void take_files(struct str rest, struct zip_input files[2])
{
	struct str digits;
	uint64_t n = 0;
	(void)str_cut(rest, 0, &files[0].name, &rest);
	(void)str_cut(rest, 0, &digits, &rest);
	n = str_u64(digits, 10, &n) && n < rest.n ? n : rest.n;
	files[0].content = str_sub(rest, 0, n);
	(void)str_cut(str_sub(rest, n, rest.n), 0, &files[1].name, &files[1].content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct verdicts all = {0};
	const char *tmp = getenv("TMPDIR");
	struct str rest = {.p = (const char *)data, .n = size}, both = rest;
	struct str dir = str_fmt(&a, "%s/fuzz-verify-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct str host =
		path_join(&a, dir, S("x-1.0/x-1.0-cp312-cp312-manylinux_2_28_x86_64.whl"));
	struct str device = path_join(&a, dir,
		S("amd_x_device_gfx1100-1.0/amd_x_device_gfx1100-1.0-py3-none-linux_x86_64.whl"));
	struct strs paths = {.v = (struct str[]){host, device}, .n = 2};
	struct target gpu = target_read(S("gfx1100"));
	struct zip_input files[2] = {{.mode = 0644}, {.mode = 0644}};
	struct str skipped;
	const struct verify_options o = {.jobs = 1,
		.policy = size % 2 ? 28 : 0,
		.require = {.v = &gpu, .n = size % 3 ? 1 : 0},
		.torch = size % 4 ? S("") : host,
		.optional = size % 5};
	for (unsigned i = 0; i < 2 * TEXTS; i++)
		(void)str_cut(rest, 0, &skipped, &rest);
	take_files(rest, files);
	check(!fs_mkdirs(path_dir(host)) && !fs_mkdirs(path_dir(device)));
	write_wheel(&a, host, &both, files[0]);
	write_wheel(&a, device, &both, files[1]);
	struct err *e = verify_wheels(&a, &paths, &o, &all);
	check(!e || e->code != E_INTERNAL);
	if (!e) {
		read_again(&a, json_document(&a, 2, verdicts_fields, &all));
		read_again(&a, verdicts_sarif(&a, &all));
	}
	err_free(e);
	err_free(fs_remove_tree(dir));
	return 0;
}
