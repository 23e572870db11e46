/* Kernels in lists, by the names that people give them, and compared; tests/cases/inspect has what is taken out of files. */
#include "unit/kit.h"

#include "base/fs.h"
#include "devcode/kernels.h"
#include "lang/cxx/demangle.h"

static struct devcode scan(struct arena *a, const char *name)
{
	struct devcode d;
	struct str path = str_fmt(a, "tests/data/devcode/%s.hsaco", name);
	assert_ok(devcode_scan(a, path, DEVCODE_KERNELS | DEVCODE_RESOURCES | DEVCODE_EVERY, &d));
	return d;
}

static void kernels_have_code_and_two_names(void **state)
{
	(void)state;
	ARENA(a);
	struct devcode d = scan(&a, "kernels-new");
	struct kernel_places all = {0};
	kernels_list(&a, &d, &all);
	assert_int_equal(all.n, 5);
	assert_str(all.v[1].kernel->name, "_Z4axpyIfEvPT_");
	assert_str(kernel_title(all.v[1].kernel), "void axpy<float>(float*)");
	assert_str(kernel_title(all.v[3].kernel), "same");
	assert_int_equal(all.v[1].kernel->size, 160);
	assert_int_equal(kernel_stored(&all.v[1]), 160);
	assert_int_equal(kernel_spills(all.v[1].kernel), 12);
	assert_int_equal(
		kernel_spills(&(struct code_kernel){.vgpr_spills = UINT64_MAX, .sgpr_spills = 2}),
		UINT64_MAX);
	kernels_list(&a, &d, &all); /* of two scans, in one order */
	assert_int_equal(all.n, 10);
	assert_str(all.v[0].kernel->name, "=1+1");
	assert_str(all.v[1].kernel->name, "=1+1");
}

/* The work that a scan takes off a budget. */
static uint64_t paid(struct arena *a, struct bytes src, unsigned flags, struct devcode *ret)
{
	struct budget budget = {.work = 1 << 30, .memory = 1 << 30};
	src.budget = &budget;
	*ret = (struct devcode){0};
	assert_ok(devcode_scan_src(a, &src, S("x.hsaco"), flags, ret));
	assert_int_equal(ret->findings.n, 0);
	return (1 << 30) - budget.work;
}

/* A short name can take a millisecond, and a small bundle can have a million kernels. */
static void names_that_are_demangled_are_paid_for(void **state)
{
	(void)state;
	ARENA(a);
	struct devcode d;
	struct str text;
	uint64_t work = 0;
	assert_ok(fs_read(&a, S("tests/data/devcode/kernels-new.hsaco"), 1 << 20, &text));
	uint64_t before = paid(&a, bytes_mem(text), DEVCODE_KERNELS | DEVCODE_RESOURCES, &d);
	uint64_t now =
		paid(&a, bytes_mem(text), DEVCODE_KERNELS | DEVCODE_RESOURCES | DEVCODE_EVERY, &d);
	VEC_EACH (const struct code_kernel, k, &d.files.v[0].objects.v[0].resources)
		(void)cxx_demangle(&a, k->name, &work);
	assert_true(work > 0);
	assert_int_equal(now - before, work);
}

/* The share that a kernel has of a compressed object; lying sizes never give more than all of it. */
static void code_in_compressed_objects_counts_by_its_share(void **state)
{
	(void)state;
	struct code_object o = {.size = 1000, .stored = 250};
	struct code_kernel k = {.size = 100};
	struct kernel_place p = {.object = &o, .kernel = &k};
	assert_int_equal(kernel_stored(&p), 25);
	k.size = UINT64_MAX;
	assert_int_equal(kernel_stored(&p), 250);
	o.size = 0;
	assert_int_equal(kernel_stored(&p), 0);
}

static bool takes(struct arena *a, const char *wish, bool alone)
{
	struct devcode d = scan(a, "kernels-new");
	struct kernel_wish w;
	assert_ok(kernel_wish_read(a, str_from(wish), alone, &w));
	return object_wished(&w, &d.files.v[0].objects.v[0]);
}

static void kernels_are_found_by_any_of_their_names(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const good[] = {"gfx1100", "all", "gfx11-generic", "gfx1100:same",
		"all:same", "all:_Z4axpyIfEvPT_", "all:axpy", "all:axpy<float>",
		"all:void axpy<float>(float*)", "all:new", "all:fast::new", "all:fast::new()",
		"all:*axpy*", "all:sh*nks", "all:=1+1", NULL};
	static const char *const bad[] = {"gfx1101", "gfx90a", "gfx90a:xnack-:same", "all:am",
		"all:float", "all:xpy", "all:ast::new", "all:fast", "all:axpy<", "all:nosuch",
		"all:*.nosuch", NULL};
	static const char *const alone[] = {
		"same", "fast::new", "axpy", "gfx1100:same", "all:same", NULL};
	for (const char *const *w = good + 3; *w; w++)
		assert_true(takes(&a, *w, false));
	assert_true(takes(&a, good[0], false));
	assert_true(takes(&a, good[1], false));
	for (const char *const *w = bad; *w; w++)
		if (takes(&a, *w, false))
			fail_msg("%s", *w);
	for (const char *const *w = alone; *w; w++)
		assert_true(takes(&a, *w, true));
}

static void wishes_without_a_kernel_or_a_target_are_refused(void **state)
{
	(void)state;
	ARENA(a);
	struct kernel_wish w;
	assert_err(kernel_wish_read(&a, S(""), false, &w), E_USAGE);
	assert_err(kernel_wish_read(&a, S(":k"), false, &w), E_USAGE);
	assert_err(kernel_wish_read(&a, S("gfx1100:"), false, &w), E_USAGE);
	assert_err(kernel_wish_read(&a, S("gfx1100"), true, &w), E_USAGE);
	assert_err(kernel_wish_read(&a, S("gfx1100:"), true, &w), E_USAGE);
	assert_err(kernel_wish_read(&a, S("gfx11000"), false, &w), E_GFX);
	assert_err(kernel_wish_read(&a, S("gfx1100:xnack+"), false, &w), E_GFX);
	assert_ok(kernel_wish_read(&a, S("gfx90a:sramecc+:xnack-:a::b"), false, &w));
	assert_str(w.kernel, "a::b");
	assert_int_equal(w.targets.n, 1);
	assert_int_equal(w.targets.v[0].xnack, FEATURE_OFF);
	assert_int_equal(w.targets.v[0].sramecc, FEATURE_ON);
}

static void changes_come_the_worst_first(void **state)
{
	(void)state;
	ARENA(a);
	struct devcode old = scan(&a, "kernels-old"), now = scan(&a, "kernels-new");
	struct kernel_changes c;
	BUF(said, &a);
	kernels_compare(&a, &old, &now, &c);
	VEC_EACH (const struct kernel_change, k, &c.kernels)
		buf_fmt(&said, "%s %.*s\n", k->change, STR(k->name));
	assert_str(buf_str(&said), "grown _Z4axpyIfEvPT_\nadded _ZN4fast3newEv\nchanged =1+1\n"
				   "gone _Z4goneiPf\nshrunk shrinks\n");
	assert_int_equal(c.targets.n, 1);
	assert_int_equal(c.targets.v[0].code_now, 320);
	kernels_compare(&a, &now, &old, &c); /* the other way round */
	assert_string_equal(c.kernels.v[0].change, "added");
	assert_int_equal(c.targets.v[0].spilling_old, 1);
	kernels_compare(&a, &now, &now, &c);
	assert_int_equal(c.kernels.n, 0);
	assert_int_equal(c.targets.v[0].kernels_now, 5);
}

/* The last byte of the file belongs to the last kernel. */
static void a_kernel_of_other_bytes_alone_is_a_change(void **state)
{
	struct fixture *f = *state;
	struct devcode old, now;
	struct kernel_changes c;
	struct str bytes, paths[2] = {at(f, "old.hsaco"), at(f, "new.hsaco")};
	const unsigned flags = DEVCODE_KERNELS | DEVCODE_RESOURCES | DEVCODE_EVERY | DEVCODE_CODE;
	assert_ok(fs_read(&f->a, S("tests/data/devcode/kernels-new.hsaco"), 1 << 20, &bytes));
	char *last = str_z(&f->a, bytes);
	assert_ok(fs_write(paths[0], bytes, 0644));
	last[bytes.n - 1] ^= 1;
	assert_ok(fs_write(paths[1], (struct str){.p = last, .n = bytes.n}, 0644));
	assert_ok(devcode_scan(&f->a, paths[0], flags, &old));
	assert_ok(devcode_scan(&f->a, paths[1], flags, &now));
	kernels_compare(&f->a, &old, &now, &c);
	assert_int_equal(c.kernels.n, 1);
	assert_string_equal(c.kernels.v[0].change, "bytes");
	assert_str(
		c.kernels.v[0].name, str_z(&f->a, now.files.v[0].objects.v[0].resources.v[4].name));
	assert_int_equal(c.targets.v[0].changed, 1);
	assert_ok(devcode_scan(&f->a, paths[1], flags & ~(unsigned)DEVCODE_CODE, &now));
	assert_ok(devcode_scan(&f->a, paths[0], flags & ~(unsigned)DEVCODE_CODE, &old));
	kernels_compare(&f->a, &old, &now, &c);
	assert_int_equal(c.kernels.n, 0);
}

/* An error while an object is taken ends the scan, also of a folder, whose other damage is only noted. */
static struct err *refuse(void *user, const struct devcode_file *f, const struct code_object *o,
	const struct bytes *src)
{
	(void)f;
	(void)o;
	(void)src;
	++*(unsigned *)user;
	return err_new(E_IO, "no");
}

static void what_a_taker_refuses_is_no_damage(void **state)
{
	(void)state;
	ARENA(a);
	struct devcode d;
	unsigned calls = 0;
	struct devcode_taker taker = {refuse, &calls};
	assert_err(devcode_take(&a, S("tests/data/devcode"), 0, &taker, &d), E_IO);
	assert_int_equal(calls, 1);
	calls = 0;
	assert_err(devcode_take(&a, S("tests/data/devcode/two-ccob3.hipfb"), 0, &taker, &d), E_IO);
	assert_int_equal(calls, 1);
}

static void names_of_strangers_stay_in_the_folder(void **state)
{
	ARENA(a);
	struct fixture *f = *state;
	static const char *const names[] = {
		"..", "...", "a/b\\c", "a\nb", "\xc3\xa9", "-rf", "CON", NULL};
	struct str object;
	struct strs paths = {0}, have = {0};
	struct taken t = {.dir = at(f, "out")};
	assert_ok(fs_read(&a, S("tests/data/devcode/gfx90a.hsaco"), 1 << 20, &object));
	for (size_t i = 0; names[i]; i++) {
		struct str path =
			str_fmt(&a, "%.*s/in/%zu/%s%s", STR(f->dir), i, names[i], i < 2 ? "x" : "");
		assert_ok(fs_mkdirs(path_dir(path)));
		assert_ok(fs_write(path, object, 0644));
		strs_add(&a, &paths, path);
	}
	assert_ok(kernel_wish_read(&a, S("all"), false, &t.wish));
	assert_ok(kernels_extract(&a, &paths, &t));
	assert_ok(fs_list(&a, at(f, "out"), &have));
	assert_str(str_join(&a, &have, S(" ")),
		"CON.0.gfx90a.hsaco _..x.0.gfx90a.hsaco _.x.0.gfx90a.hsaco "
		"__.0.gfx90a.hsaco _rf.0.gfx90a.hsaco a_b.0.gfx90a.hsaco b_c.0.gfx90a.hsaco");
	t = (struct taken){.dir = at(f, "out")};
	assert_err(kernels_extract(&a, &paths, &t), E_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_have_code_and_two_names),
		cmocka_unit_test(names_that_are_demangled_are_paid_for),
		cmocka_unit_test(code_in_compressed_objects_counts_by_its_share),
		cmocka_unit_test(kernels_are_found_by_any_of_their_names),
		cmocka_unit_test(wishes_without_a_kernel_or_a_target_are_refused),
		cmocka_unit_test(changes_come_the_worst_first),
		cmocka_unit_test_setup_teardown(
			a_kernel_of_other_bytes_alone_is_a_change, setup, teardown),
		cmocka_unit_test(what_a_taker_refuses_is_no_damage),
		cmocka_unit_test_setup_teardown(
			names_of_strangers_stay_in_the_folder, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
