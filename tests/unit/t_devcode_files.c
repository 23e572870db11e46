/* Where device code is looked for: files by themselves, folders, wheels, AOTriton's archives in them, source
 * distributions; and what is said of those that are damaged. */
#include "unit/fixture_archive.h"
#include "unit/fixture_devcode.h"
#include "unit/fixture_elf.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/proc.h"
#include "devcode/devcode.h"
#include "formats/zip.h"
#include "slim/slim.h"

enum { GFX90A = 0x53f, GFX942 = 0x54c, GFX1100 = 0x41 };

static struct str object(struct arena *a, unsigned flags)
{
	return fx_code_object(a, (struct fx_object){.flags = flags, .kernels = 1});
}

static struct str put(struct arena *a, struct str dir, const char *name, struct str bytes)
{
	struct str path = path_join(a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path, bytes, 0644));
	return path;
}

/* "path:format:target ..." of all files, then "id path: message" of each finding. */
static struct str seen(struct arena *a, const struct devcode *d)
{
	BUF(b, a);
	VEC_EACH (const struct devcode_file, f, &d->files) {
		buf_fmt(&b, "%s%.*s:%s", b.n ? " " : "", STR(f->path), f->format);
		VEC_EACH (const struct code_object, o, &f->objects)
			buf_fmt(&b, ":%.*s", STR(o->target));
	}
	VEC_EACH (const struct finding, f, &d->findings)
		buf_fmt(&b, "\n%s %.*s: %.*s", f->id, STR(f->path), STR(f->message));
	return buf_str(&b);
}

static struct str scanned(struct arena *a, struct str path)
{
	struct devcode d;
	assert_ok(devcode_scan(a, path, 0, &d));
	assert_str(d.path, path.p);
	return seen(a, &d);
}

static struct str zip_of(
	struct arena *a, struct str dir, const char *name, const struct zip_input *v, size_t n)
{
	struct str path = path_join(a, dir, str_from(name));
	struct zip_writer w = {.path = path, .v = v, .n = n, .jobs = 1};
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(zip_write(a, &w, NULL));
	return path;
}

/* ---- source distributions ---- */

static void what_tars_hold_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int filter;
	} kinds[] = {{"x.tar.gz", ARCHIVE_FILTER_GZIP}, {"x.tar.xz", ARCHIVE_FILTER_XZ},
		{"x.tar.bz2", ARCHIVE_FILTER_BZIP2}, {"x.tar.zst", ARCHIVE_FILTER_ZSTD},
		{"x.tar", ARCHIVE_FILTER_NONE}, {"named-as-anything", ARCHIVE_FILTER_GZIP}};
	ARENA(a);
	struct str dir = test_dir(&a), o = object(&a, GFX942), empty = path_join(&a, dir, S("tmp"));
	struct member v[] = {FILE_("p/setup.py", "x"), FILE_("p/k.co", o.p),
		{.name = "p/sub", .type = AE_IFDIR, .mode = 0755}, FILE_("p/sub/bad.co", o.p)};
	v[1].size = o.n;
	v[3].size = o.n - 1;
	assert_ok(fs_mkdirs(empty));
	setenv("TMPDIR", empty.p, 1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct str path = path_join(&a, dir, str_from(kinds[i].name));
		struct strs left;
		put_tar(path, kinds[i].filter, v, 4);
		struct str got = scanned(&a, path);
		assert_true(str_starts(got, S("p/k.co:object:gfx942")));
		assert_ok(fs_list(&a, empty, &left)); /* what was unpacked is gone */
		assert_int_equal(left.n, 0);
	}
	/* A link that leads out is refused, and then, too, nothing stays. */
	const struct member out[] = {FILE_("p/a", "x"), LINK_("p/l", "../../x")};
	struct str path = path_join(&a, dir, S("bad.tar.gz"));
	struct strs left;
	struct devcode d;
	put_tar(path, ARCHIVE_FILTER_GZIP, out, 2);
	assert_err_says(devcode_scan(&a, path, 0, &d), E_ARCHIVE, "cannot inspect '");
	assert_ok(fs_list(&a, empty, &left));
	assert_int_equal(left.n, 0);
	assert_err(devcode_scan(&a, put(&a, dir, "x.gz", S("\x1f\x8b no more")), 0, &d), E_ARCHIVE);
	unsetenv("TMPDIR");
	test_dir_remove(dir);
}

/* ---- zip archives in wheels and folders ---- */

static void archives_of_aotriton_are_looked_into(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), bytes;
	const struct zip_input inner[] = {
		{.name = S("flash/"), .mode = 0755},
		{.name = S("flash/a.hsaco"), .content = object(&a, GFX942), .mode = 0644},
		{.name = S("deep.zip"), .content = S("PK\3\4"), .mode = 0644},
		{.name = S("text"), .content = S("nothing"), .mode = 0644},
	};
	struct str zip = zip_of(&a, dir, "aotriton.images/amd-gfx942.zip", inner + 1, 3);
	assert_ok(fs_read(&a, zip, 1 << 20, &bytes));
	assert_str(scanned(&a, dir), /* which also knows of which archive that one is */
		"aotriton.images/amd-gfx942.zip/flash/a.hsaco:object:gfx942\n"
		"file-damaged aotriton.images/amd-gfx942.zip/deep.zip: "
		"'aotriton.images/amd-gfx942.zip/deep.zip' is not a zip file: it has no end "
		"record");
	assert_str(scanned(&a, zip), "flash/a.hsaco:object:gfx942");
	struct zip_input outer[] = {
		{.name = S("t/lib/aotriton.images/amd-gfx942.zip"), .content = bytes, .mode = 0644},
		{.name = S("t/other/amd-gfx942.zip"), .content = bytes, .mode = 0644},
		{.name = S("t/lib/aotriton.images/bad.zip"),
			.content = str_sub(bytes, 0, bytes.n - 1),
			.mode = 0644},
		{.name = S("t/k.co"), .content = object(&a, GFX90A), .mode = 0644},
	};
	struct str whl = zip_of(&a, dir, "w/x.whl", outer, 4);
	assert_str(scanned(&a, whl),
		"t/lib/aotriton.images/amd-gfx942.zip/flash/a.hsaco:object:gfx942 "
		"t/k.co:object:gfx90a\n"
		"file-damaged t/lib/aotriton.images/bad.zip: 't/lib/aotriton.images/bad.zip' is "
		"not a zip file: it has no end record");
	/* Of a folder the wheel's name stands in front; other zip files are nobody's business. */
	put(&a, dir, "w/other.zip", bytes);
	assert_ok(fs_remove(zip));
	assert_str(scanned(&a, dir),
		"w/x.whl/t/lib/aotriton.images/amd-gfx942.zip/flash/a.hsaco:object:gfx942 "
		"w/x.whl/t/k.co:object:gfx90a\n"
		"file-damaged w/x.whl/t/lib/aotriton.images/bad.zip: "
		"'w/x.whl/t/lib/aotriton.images/bad.zip' is not a zip file: it has no end record");
	test_dir_remove(dir);
}

/* An archive in such an archive is not opened: its stores are one level deep. */
static void archives_are_not_followed_for_ever(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), bytes;
	const struct zip_input k = {.name = S("k.co"), .content = object(&a, GFX942), .mode = 0644};
	assert_ok(fs_read(&a, zip_of(&a, dir, "1.zip", &k, 1), 1 << 20, &bytes));
	for (unsigned depth = 1; depth < 4; depth++) {
		const struct zip_input v[] = {
			k, {.name = S("aotriton.images/i.zip"), .content = bytes, .mode = 0644}};
		struct devcode d;
		struct str path = zip_of(&a, dir, "n.zip", v, 2);
		assert_ok(devcode_scan(&a, path, 0, &d));
		assert_int_equal(d.files.n, 2);
		assert_ok(fs_read(&a, path, 1 << 20, &bytes));
	}
	test_dir_remove(dir);
}

/* Whatever is no device code is counted, and said nothing of. */
static void all_files_are_looked_at(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct devcode d;
	const struct zip_input v[] = {{.name = S("a"), .content = S("text"), .mode = 0644},
		{.name = S("b"), .content = S(""), .mode = 0644},
		{.name = S("k.co"), .content = object(&a, GFX942), .mode = 0644}};
	zip_of(&a, dir, "x.whl", v, 3);
	put(&a, dir, "none", S(""));
	put(&a, dir, "short.so", S("\177ELF"));
	put(&a, dir, "k.co", object(&a, GFX942));
	assert_ok(devcode_scan(&a, dir, 0, &d));
	assert_int_equal(d.looked_at, 6);
	assert_str(seen(&a, &d), "k.co:object:gfx942 x.whl/k.co:object:gfx942");
	test_dir_remove(dir);
}

/* A single file that is damaged as a whole is an error, of many it is a finding. */
static void damage_is_told_with_its_causes(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), cut = object(&a, GFX942);
	struct devcode d;
	put_le((char *)(uintptr_t)cut.p + 32, UINT64_MAX, 8); /* where segments are */
	struct str path = put(&a, dir, "cut.co", cut);
	assert_err_says(devcode_scan(&a, path, 0, &d), E_ELF, "cannot inspect '");
	assert_str(scanned(&a, dir),
		str_fmt(&a,
			"\nfile-damaged cut.co: cannot read the program headers: 168 bytes at "
			"offset 18446744073709551615 are not inside the file of %zu bytes",
			cut.n)
			.p);
	put(&a, dir, "x.whl", S("PK\3\4 and no more"));
	assert_true(str_contains(scanned(&a, dir), S("file-damaged x.whl: '")));
	assert_err_says(devcode_scan(&a, path_join(&a, dir, S("x.whl")), 0, &d), E_ZIP,
		"it has no end record");
	test_dir_remove(dir);
}

static struct err *take_nothing(void *user, const struct devcode_file *f,
	const struct code_object *o, const struct bytes *src)
{
	(void)user, (void)f, (void)o, (void)src;
	return NULL;
}

/* Folders that lie too deep to be listed, which root cannot read either. The rest is shown, and one finding has the count;
 * objects are taken out of all or none. */
static void folders_that_cannot_be_read_are_counted(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct devcode d;
	const char *const tops[] = {"deep", "deep2"};
	put(&a, dir, "k.co", object(&a, GFX942));
	for (size_t i = 0; i < 2; i++) {
		assert_ok(fs_mkdirs(path_join(&a, dir, str_from(tops[i]))));
		int at = open(str_z(&a, path_join(&a, dir, str_from(tops[i]))), O_RDONLY);
		for (unsigned level = 0; level < 900; level++) {
			assert_int_equal(mkdirat(at, "level", 0700), 0);
			int next = openat(at, "level", O_RDONLY);
			close(at);
			at = next;
		}
		close(at);
	}
	assert_ok(devcode_scan(&a, dir, 0, &d));
	assert_int_equal(d.files.n, 1);
	assert_int_equal(d.findings.n, 1);
	assert_string_equal(d.findings.v[0].id, "folder-unreadable");
	assert_str(d.findings.v[0].path, dir.p);
	assert_true(str_starts(d.findings.v[0].message, S("2 items left out: cannot l")));
	assert_int_equal(findings_worst(&d.findings), SEV_ERROR);
	const struct devcode_taker taker = {take_nothing, NULL};
	CLEANUP(err_freep) struct err *e = devcode_take(&a, dir, 0, &taker, &d);
	assert_non_null(e); /* how deep is too deep depends on this machine */
	assert_true(str_starts(str_from(e->msg), S("cannot inspect '")));
	test_dir_remove(dir);
}

/* Files of the running kernel, of which some never end. */
static void live_folders_are_left_alone(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct devcode d;
	assert_false(fs_is_live(dir));
	if (!fs_exists(S("/proc/self/fd")))
		skip();
	assert_true(fs_is_live(S("/proc/self/fd")));
	assert_ok(devcode_scan(&a, S("/proc"), 0, &d));
	assert_int_equal(d.looked_at, 0);
	test_dir_remove(dir);
}

/* What `rocsmith slim` left in a folder or wheel, or beside a file, is said in one line; what is none is not. */
static void manifests_of_slim_are_said(void **state)
{
	(void)state;
#define SAID "slimmed for gfx942: without gfx90a"
	ARENA(a);
	struct str dir = test_dir(&a), k = object(&a, GFX942);
	struct slim_report r = {.path = S("x"), .output = S("y")};
	strs_add(&a, &r.gpus, S("gfx942"));
	*VEC_PUSH(&a, &r.targets) = (struct slim_sum){.target = S("gfx90a")};
	struct str text = cut_list_text(&a, &r), path = put(&a, dir, "k.co", k), whl;
	put(&a, dir, CUT_LIST, S("[]"));
	put(&a, dir, "deeper/" CUT_LIST, text);
	assert_str(scanned(&a, dir), "k.co:object:gfx942");
	put(&a, dir, CUT_LIST, text);
	assert_str(scanned(&a, dir), "k.co:object:gfx942\nslimmed " CUT_LIST ": " SAID);
	put(&a, dir, "k.co" CUT_LIST_END, text);
	assert_str(scanned(&a, path), str_fmt(&a,
					      "%.*s:object:gfx942\nslimmed "
					      "%.*s" CUT_LIST_END ": " SAID,
					      STR(path), STR(path))
					      .p);
	struct zip_input v[] = {{.name = S("k.co"), .content = k, .mode = 0644},
		{.name = S("x-1.dist-info/" CUT_LIST), .content = text, .mode = 0644},
		{.name = S("x/" CUT_LIST), .content = text, .mode = 0644}};
	whl = zip_of(&a, dir, "w/x.whl", v, 3);
	assert_str(
		scanned(&a, whl), "k.co:object:gfx942\nslimmed x-1.dist-info/" CUT_LIST ": " SAID);
	for (size_t n = 2 << 20; n <= (2 << 20) + 1; n++) { /* none is of more than 2 MiB */
		BUF(large, &a);
		buf_add(&large, text);
		memset(buf_space(&large, n - text.n), ' ', n - text.n);
		v[1].content = buf_str(&large);
		struct str got = scanned(&a, zip_of(&a, dir, "w/x.whl", v, 3));
		assert_int_equal(str_contains(got, S(SAID)), n == 2 << 20);
		put(&a, dir, CUT_LIST, buf_str(&large));
		assert_ok(fs_remove_tree(path_join(&a, dir, S("w"))));
		assert_int_equal(str_contains(scanned(&a, dir), S(SAID)), n == 2 << 20);
	}
	test_dir_remove(dir);
}

/* Handlers of the runtime have no kernels, and so lack none: what else is there decides what all serve. */
static void handlers_of_the_runtime_lack_nothing(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct devcode d;
	const struct fx_host_section v = {.name = ".data",
		.flags = 3,
		.bytes = fx_code_object(&a, (struct fx_object){.flags = GFX90A})};
	put(&a, dir, "lib/handlers.so", host_elf(&a, (struct fx_host){.v = &v, .n = 1}));
	put(&a, dir, "k.co", object(&a, GFX942));
	assert_ok(devcode_scan(&a, dir, DEVCODE_INNER, &d));
	assert_int_equal(d.files.n, 2);
	assert_str(str_join(&a, &d.served, S(" ")), "gfx942");
	assert_str(str_join(&a, &d.some, S(" ")), "gfx942");
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tars_hold_is_found),
		cmocka_unit_test(archives_of_aotriton_are_looked_into),
		cmocka_unit_test(archives_are_not_followed_for_ever),
		cmocka_unit_test(all_files_are_looked_at),
		cmocka_unit_test(damage_is_told_with_its_causes),
		cmocka_unit_test(folders_that_cannot_be_read_are_counted),
		cmocka_unit_test(live_folders_are_left_alone),
		cmocka_unit_test(manifests_of_slim_are_said),
		cmocka_unit_test(handlers_of_the_runtime_lack_nothing),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("devcode_files");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
