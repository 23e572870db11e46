/* Wheels for fewer GPUs: what goes, what keeps its compressed bytes, and what verify says of the result. */
#include "fixture_wheel.h"
#include "unit/fixture_fat.h"

#define KIT_MORE                                                                                   \
	struct str wheel, out;                                                                     \
	struct fx_built lib;
#include "unit/kit.h"

#include "base/proc.h"
#include "wheel/wheel.h"

static int setup_wheel(void **state)
{
	setup(state);
	struct fixture *f = *state;
	f->lib = fx_fat_library(&f->a, (struct fx_fat){0});
	f->wheel = fx_write(&f->a, f->dir,
		(struct fx_wheel){
			.files = {
				{"pkg/__init__.py",
					S("print('a text that is packed, packed, packed')\n")},
				{"pkg/lib.so", f->lib.file},
				{"pkg/cut.so", str_sub(f->lib.file, 0, 9000)},
				{"pkg/library/K_gfx90a.co", S("other")},
				{"pkg/library/K_gfx1100.co", S("mine")},
			}});
	f->out = at(f, "out/demo-1.0-py3-none-any.whl");
	assert_ok(fs_mkdirs(path_dir(f->out)));
	return 0;
}

static struct err *slim(struct fixture *f, struct str from, struct str to, const char *gpus,
	bool force, struct slim_report *r)
{
	struct targets t = {0};
	struct strs words = str_split(&f->a, str_from(gpus), ' ');
	assert_ok(targets_parse(&f->a, &words, &t));
	struct slim_keep k = {.v = t.v, .n = t.n};
	*r = (struct slim_report){.path = from, .output = to, .gpus = words};
	return wheel_slim(&f->a, &k, force, 1, r);
}

static void open_zip(struct fixture *f, struct str path, struct zip *ret)
{
	assert_ok(zip_open(&f->a, path, NULL, ret));
}

static struct str member(struct fixture *f, const struct zip *z, const char *name)
{
	struct str text = S("");
	const struct zip_member *m = zip_find(z, str_from(name));
	assert_non_null(m);
	assert_ok(zip_read(&f->a, z, m, 1 << 24, &text));
	return text;
}

/* Compressed bytes, date and mode as they were. */
static void is_same(const struct zip *x, const struct zip *y, const char *name)
{
	static char one[1 << 16], two[1 << 16];
	const struct zip_member *a = zip_find(x, str_from(name)), *b = zip_find(y, str_from(name));
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(a->stored, b->stored);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->mode, b->mode);
	assert_true(a->stored <= sizeof(one));
	assert_ok(bytes_read(&x->src, one, a->stored, a->data));
	assert_ok(bytes_read(&y->src, two, b->stored, b->data));
	assert_memory_equal(one, two, a->stored);
}

static void members_without_device_code_are_taken_over(void **state)
{
	struct fixture *f = *state;
	CLEANUP(zip_close) struct zip old = {.fd = -1};
	CLEANUP(zip_close) struct zip now = {.fd = -1};
	struct slim_report r;
	assert_ok(slim(f, f->wheel, f->out, "gfx1100", false, &r));
	assert_int_equal(r.files.n, 2);
	open_zip(f, f->wheel, &old);
	open_zip(f, f->out, &now);
	is_same(&old, &now, "pkg/__init__.py");
	is_same(&old, &now, "pkg/cut.so");
	is_same(&old, &now, "pkg/library/K_gfx1100.co");
	is_same(&old, &now, "demo-1.0.dist-info/WHEEL");
	assert_null(zip_find(&now, S("pkg/library/K_gfx90a.co")));
	assert_true(member(f, &now, "pkg/lib.so").n < f->lib.file.n);
	assert_str(
		cut_list_describe(&f->a, member(f, &now, "demo-1.0.dist-info/rocsmith-slim.json")),
		"slimmed for gfx1100: without gfx90a:xnack-, gfx1201");
}

/* Every member but RECORD, with its hash and size, as hashes of the content say. */
static void record_is_made_anew(void **state)
{
	struct fixture *f = *state;
	CLEANUP(zip_close) struct zip now = {.fd = -1};
	struct slim_report r;
	struct dist_record rows = {0};
	assert_ok(slim(f, f->wheel, f->out, "gfx1100", false, &r));
	open_zip(f, f->out, &now);
	assert_ok(
		dist_record_parse(&f->a, member(f, &now, "demo-1.0.dist-info/RECORD"), 100, &rows));
	assert_int_equal(rows.n, now.members.n);
	VEC_EACH (const struct dist_row, e, &rows) {
		struct str text = member(f, &now, str_z(&f->a, e->path));
		struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
		if (str_ends(e->path, S("/RECORD")))
			continue;
		assert_true(str_eq(e->hash, digest_base64url(&f->a, &d)));
		assert_true(str_eq(e->size, str_fmt(&f->a, "%zu", text.n)));
	}
}

/* An object that the linker has not had yet stays whole, and the others do not wait for it. */
static void an_object_stays_whole(void **state)
{
	struct fixture *f = *state;
	CLEANUP(zip_close) struct zip now = {.fd = -1};
	struct slim_report r;
	struct str object = str_dup(&f->a, f->lib.file), wheel;
	((char *)object.p)[16] = 1; /* e_type: ET_REL */
	assert_ok(fs_mkdirs(at(f, "object")));
	wheel = fx_write(&f->a, at(f, "object"),
		(struct fx_wheel){.files = {{"pkg/lib.so", f->lib.file}, {"pkg/part.o", object}}});
	assert_ok(slim(f, wheel, f->out, "gfx1100", false, &r));
	assert_int_equal(r.files.n, 1);
	assert_int_equal(r.refused.n, 1);
	assert_str(r.refused.v[0].path, "pkg/part.o");
	open_zip(f, f->out, &now);
	assert_true(str_eq(member(f, &now, "pkg/part.o"), object));
	assert_true(member(f, &now, "pkg/lib.so").n < f->lib.file.n);
}

static void the_same_wheel_gives_the_same_bytes(void **state)
{
	struct fixture *f = *state;
	struct str other = at(f, "other.whl"), one, two;
	struct slim_report r;
	assert_ok(slim(f, f->wheel, f->out, "gfx1100", false, &r));
	assert_ok(fs_rename(f->out, other));
	assert_ok(slim(f, f->wheel, f->out, "gfx1100", false, &r));
	assert_ok(fs_read(&f->a, other, 1 << 24, &one));
	assert_ok(fs_read(&f->a, f->out, 1 << 24, &two));
	assert_true(str_eq(one, two));
	/* a second run changes nothing, and keeps the manifest */
	assert_ok(slim(f, f->out, other, "gfx1100", true, &r));
	assert_int_equal(r.files.n, 0);
	assert_ok(fs_read(&f->a, other, 1 << 24, &two));
	assert_true(str_eq(one, two));
}

static void what_is_there_is_not_overwritten(void **state)
{
	struct fixture *f = *state;
	struct slim_report r;
	test_put(f->out, "something");
	assert_err_says(slim(f, f->wheel, f->out, "gfx1100", false, &r), E_USAGE, "exists");
	assert_err_says(slim(f, f->wheel, f->out, "gfx942", true, &r), E_NOTHING, "has no code");
	test_has(f->out, "something");
	assert_ok(slim(f, f->wheel, f->out, "gfx1100", true, &r));
	struct str none = fx_write(&f->a, f->dir,
		(struct fx_wheel){.file = "demo-2.0-py3-none-any.whl", .record = ""});
	assert_err(slim(f, none, f->out, "gfx1100", true, &r), E_WHEEL);
}

/* A folder of a system: packages of dpkg list it; what nothing lists is counted. */
static void packages_are_installed_again(void **state)
{
	struct fixture *f = *state;
	struct str opt = at(f, "opt/rocm"), dpkg = at(f, "dpkg"), real;
	struct slim_done done[] = {{S("lib/a.so"), 2, 1}, {S("lib/b.so"), 2, 1},
		{S("lib/own.so"), 2, 1}, {S("lib/gone.co"), 2, 0}, {S("../out.so"), 2, 1}};
	struct slim_report r = {.path = opt};
	r.files.v = done;
	r.files.n = 5;
	assert_ok(fs_mkdirs(path_join(&f->a, opt, S("lib"))));
	assert_true(fs_real(&f->a, opt, &real));
	for (size_t i = 0; i < 3; i++)
		test_put(path_join(&f->a, opt, done[i].path), "x");
	assert_ok(fs_mkdirs(dpkg));
	test_put(path_join(&f->a, dpkg, S("rocblas.list")),
		str_fmt(&f->a, "/.\n%.*s/lib/a.so\n%.*s/lib/gone.co", STR(real), STR(real)).p);
	test_put(path_join(&f->a, dpkg, S("libb0:amd64.list")),
		str_fmt(&f->a, "%.*s/lib\n%.*s/lib/b.so\n", STR(real), STR(real)).p);
	test_put(path_join(&f->a, dpkg, S("other.list")), "/usr/bin/x\n");
	test_put(path_join(&f->a, dpkg, S("other.md5sums")), "x\n");
	wheel_restore(&f->a, &r, dpkg);
	assert_int_equal(r.restore.n, 1);
	assert_str(r.restore.v[0], "apt-get install --reinstall libb0:amd64 rocblas");
	assert_int_equal(r.unlisted, 1);
	r = (struct slim_report){.path = opt, .files = r.files};
	wheel_restore(&f->a, &r, at(f, "missing"));
	assert_int_equal(r.restore.n, 0);
	assert_int_equal(r.unlisted, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			members_without_device_code_are_taken_over, setup_wheel, teardown),
		cmocka_unit_test_setup_teardown(record_is_made_anew, setup_wheel, teardown),
		cmocka_unit_test_setup_teardown(an_object_stays_whole, setup_wheel, teardown),
		cmocka_unit_test_setup_teardown(
			the_same_wheel_gives_the_same_bytes, setup_wheel, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_there_is_not_overwritten, setup_wheel, teardown),
		cmocka_unit_test_setup_teardown(
			packages_are_installed_again, setup_wheel, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
