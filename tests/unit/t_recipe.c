/* Recipes on a tree: what is needed, applied, there already; several on one file; and back to the
 * bytes that were there. */
#include "test.h"

#include <time.h>

#include "recipe/recipe.h"

struct fixture {
	struct arena a;
	struct str dir, tree;
	struct recipes all;
	struct recipe_request q;
	struct recipe_report r;
};

static struct str at(struct fixture *f, const char *rel)
{
	return path_join(&f->a, f->tree, str_from(rel));
}

static void put(struct fixture *f, const char *rel, const char *text)
{
	assert_ok(fs_mkdirs(path_dir(at(f, rel))));
	test_put(at(f, rel), text);
}

#define TAIL "evidence: [e]\ntrade_off: none\nconfidence: users\n"

static void add_recipe(struct fixture *f, const char *id, const char *text)
{
	struct str path = str_fmt(&f->a, "%.*s/r/%s.yaml", STR(f->dir), id);
	struct str whole = str_fmt(&f->a, "id: %s\ntitle: t\n" TAIL "%s", id, text);
	struct strs dirs = {0};
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, whole.p);
	strs_add(&f->a, &dirs, path_dir(path));
	assert_ok(recipes_load(&f->a, &dirs, &f->all));
}

static int setup(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	f->dir = test_dir(&f->a);
	f->tree = f->q.tree = path_join(&f->a, f->dir, S("t"));
	put(f, "x.h", "one\ntwo\nthree\n");
	add_recipe(f, "up",
		"detect: [{file: x.h, contains: two}]\n"
		"steps: [{file: x.h, replace: two, with: TWO}]\n");
	add_recipe(f, "line",
		"detect: [{file: x.h, contains: one}]\n"
		"steps: [{file: x.h, after: \"three\\n\", insert: \"four\\n\"}]\n"
		"verify: [{file: x.h, contains: four}]\n");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	test_dir_remove(f->dir);
	arena_free(&f->a);
	free(f);
	return 0;
}

typedef struct err *recipes_do(struct arena *a, const struct recipes *all,
	const struct recipe_request *q, struct recipe_report *ret);

/* names: up to two, NULL = none */
static struct err *with(struct fixture *f, recipes_do *how, const char *one, const char *other)
{
	f->q.names = (struct strs){0};
	if (one)
		strs_add(&f->a, &f->q.names, str_from(one));
	if (other)
		strs_add(&f->a, &f->q.names, str_from(other));
	return how(&f->a, &f->all, &f->q, &f->r);
}

static enum recipe_state state_of(struct fixture *f, const char *id)
{
	VEC_EACH (const struct recipe_entry, e, &f->r.recipes)
		if (str_eq(e->id, str_from(id)))
			return e->state;
	fail_msg("%s is not known", id);
	return RECIPE_REFUSED;
}

static enum recipe_state status_of(struct fixture *f, const char *id)
{
	assert_ok(with(f, recipes_status, NULL, NULL));
	return state_of(f, id);
}

static void several_on_one_file_are_reverted_one_by_one(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(status_of(f, "up"), RECIPE_NEEDED);
	assert_ok(with(f, recipes_apply, NULL, NULL));
	test_has(at(f, "x.h"), "one\nTWO\nthree\nfour\n");
	assert_int_equal(status_of(f, "up"), RECIPE_APPLIED);
	assert_ok(with(f, recipes_apply, NULL, NULL));
	test_has(at(f, "x.h"), "one\nTWO\nthree\nfour\n");
	assert_ok(with(f, recipes_revert, "up", NULL));
	test_has(at(f, "x.h"), "one\ntwo\nthree\nfour\n");
	assert_int_equal(status_of(f, "up"), RECIPE_NEEDED);
	assert_int_equal(status_of(f, "line"), RECIPE_APPLIED);
	assert_ok(with(f, recipes_apply, "up", NULL));
	assert_ok(with(f, recipes_revert, "up", "line"));
	test_has(at(f, "x.h"), "one\ntwo\nthree\n");
	assert_false(fs_present(at(f, ".rocsmith-patches")));
}

static void a_file_has_its_old_mode_and_time_again(void **state)
{
	struct fixture *f = *state;
	struct stat before, after;
	assert_int_equal(chmod(at(f, "x.h").p, 0755), 0);
	assert_ok(fs_stat(at(f, "x.h"), &before));
	assert_ok(with(f, recipes_apply, NULL, NULL));
	assert_ok(fs_stat(at(f, "x.h"), &after));
	assert_int_equal(after.st_mode, before.st_mode);
	assert_ok(with(f, recipes_revert, NULL, NULL));
	assert_ok(fs_stat(at(f, "x.h"), &after));
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
	assert_err_says(with(f, recipes_revert, NULL, NULL), E_NOENT, "was not patched");
}

static void what_the_sources_have_already_is_told(void **state)
{
	struct fixture *f = *state;
	put(f, "x.h", "one\nTWO\n");
	assert_int_equal(status_of(f, "up"), RECIPE_PRESENT);
	put(f, "x.h", "1\n2\n");
	assert_int_equal(status_of(f, "up"), RECIPE_NOT);
	put(f, "x.h", "two two\n");
	assert_int_equal(status_of(f, "up"), RECIPE_CONFLICT);
	assert_err_says(with(f, recipes_apply, "up", NULL), E_RECIPE, "stands 2 times");
	assert_false(fs_present(at(f, ".rocsmith-patches")));
	assert_ok(with(f, recipes_apply, NULL, NULL));
	test_has(at(f, "x.h"), "two two\n");
}

static void an_edit_since_is_kept(void **state)
{
	struct fixture *f = *state;
	assert_ok(with(f, recipes_apply, NULL, NULL));
	put(f, "x.h", "one\nTWO\nthree\nfour\nmine\n");
	assert_int_equal(status_of(f, "up"), RECIPE_EDITED);
	assert_ok(with(f, recipes_revert, NULL, NULL));
	assert_int_equal(f->r.kept.n, 1);
	test_has(at(f, "x.h"), "one\nTWO\nthree\nfour\nmine\n");
	f->q.force = true;
	assert_ok(with(f, recipes_revert, NULL, NULL));
	test_has(at(f, "x.h"), "one\ntwo\nthree\n");
}

static void what_it_is_for_must_be_known(void **state)
{
	struct fixture *f = *state;
	add_recipe(f, "seven",
		"applies: {rocm: '>=7'}\ndetect: [{file: x.h}]\n"
		"steps: [{overlay: include/v.h, text: '@rocm.0@ @rocm.1@ @rocm.2@ @@'}]\n"
		"build: [{env: CPATH, path: '@overlay@/include'}]\n");
	assert_int_equal(status_of(f, "seven"), RECIPE_UNKNOWN);
	assert_err_says(with(f, recipes_apply, "seven", NULL), E_RECIPE, "may not apply");
	struct recipe_fact six = {S("rocm"), S("6.4"), S("test")},
			   seven = {S("rocm"), S("7.2"), S("test")};
	recipe_fact_add(&f->a, &f->q.facts, six);
	assert_int_equal(status_of(f, "seven"), RECIPE_OTHER);
	f->q.facts = (struct recipe_facts){0};
	recipe_fact_add(&f->a, &f->q.facts, seven);
	assert_ok(with(f, recipes_apply, "seven", NULL));
	test_has(at(f, ".rocsmith-patches/overlay/include/v.h"), "7 2 0 @");
	struct strs there = {0};
	strs_add(&f->a, &there, S("CPATH=/mine"));
	struct strs env = recipe_environment(&f->a, &f->r, &there, false);
	struct str want =
		str_fmt(&f->a, "CPATH=%.*s/.rocsmith-patches/overlay/include:/mine", STR(f->tree));
	assert_str(env.v[0], want.p);
	f->q.facts = (struct recipe_facts){0}; /* they are remembered */
	assert_int_equal(status_of(f, "seven"), RECIPE_APPLIED);
	assert_ok(with(f, recipes_apply, NULL, NULL));
	test_has(at(f, ".rocsmith-patches/overlay/include/v.h"), "7 2 0 @");
	assert_ok(with(f, recipes_revert, NULL, NULL));
	assert_false(fs_present(at(f, ".rocsmith-patches")));
}

static void gpus_are_patterns(void **state)
{
	static const struct {
		const char *gpus[2];
		enum recipe_state all, any;
	} rows[] = {
		{{"gfx1201", "gfx1100"}, RECIPE_NEEDED, RECIPE_OTHER},
		{{"gfx1201", "gfx942"}, RECIPE_OTHER, RECIPE_NEEDED},
		{{"gfx90a:xnack+", "gfx942"}, RECIPE_OTHER, RECIPE_NEEDED},
	};
	struct fixture *f = *state;
	const char *rest = "detect: [{file: x.h}]\nsteps: [{overlay: v.h, text: x}]\n";
	add_recipe(f, "all", str_fmt(&f->a, "applies: {gfx: [wave32]}\n%s", rest).p);
	add_recipe(f, "any", str_fmt(&f->a, "applies: {gfx_any: ['gfx9*']}\n%s", rest).p);
	assert_int_equal(status_of(f, "all"), RECIPE_UNKNOWN);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		f->q.facts.gpus = (struct strs){0};
		strs_add(&f->a, &f->q.facts.gpus, str_from(rows[i].gpus[0]));
		strs_add(&f->a, &f->q.facts.gpus, str_from(rows[i].gpus[1]));
		assert_int_equal(status_of(f, "all"), rows[i].all);
		assert_int_equal(state_of(f, "any"), rows[i].any);
	}
}

static void the_sdk_is_looked_into_and_never_written(void **state)
{
	struct fixture *f = *state;
	struct str sdk = path_join(&f->a, f->dir, S("sdk"));
	add_recipe(f, "sdk",
		"detect:\n- {as: new, in: sdk, file: 'lib/llvm-*/v.h', version: ['MAJOR', "
		"'MINOR'], is: '>=10'}\n"
		"steps:\n- {overlay: v.h, copy: new}\n"
		"- {in: overlay, file: v.h, replace: MINOR 2, with: MINOR 3}\n"
		"build: [{env: DIR, set: '@new:dir@'}, {cmake: M, path: '@sdk@/m'}]\n");
	assert_int_equal(status_of(f, "sdk"), RECIPE_UNKNOWN);
	for (unsigned v = 9; v < 12; v++) {
		struct str path = str_fmt(&f->a, "%.*s/lib/llvm-%u/v.h", STR(sdk), v);
		assert_ok(fs_mkdirs(path_dir(path)));
		test_put(path, str_fmt(&f->a, "MAJOR %u\nMINOR 2\n", v).p);
	}
	f->q.facts.sdk = sdk;
	f->q.facts.sdk_at = S("/opt/rocm");
	assert_ok(with(f, recipes_apply, "sdk", NULL));
	test_has(at(f, ".rocsmith-patches/overlay/v.h"), "MAJOR 11\nMINOR 3\n");
	test_has(path_join(&f->a, sdk, S("lib/llvm-11/v.h")), "MAJOR 11\nMINOR 2\n");
	assert_str(recipe_environment(&f->a, &f->r, NULL, false).v[0], "DIR=/opt/rocm/lib/llvm-11");
	assert_str(recipe_environment(&f->a, &f->r, NULL, true).v[0], "M=/opt/rocm/m");
	f->q.facts = (struct recipe_facts){0};
	assert_int_equal(status_of(f, "sdk"), RECIPE_APPLIED);
	assert_err_says(with(f, recipes_apply, NULL, NULL), E_RECIPE, "cannot be applied again");
	assert_ok(with(f, recipes_revert, "sdk", NULL));
}

static void the_version_of_torch_comes_from_the_tree(void **state)
{
	static const struct {
		const char *file, *text, *want;
	} rows[] = {
		{"version.txt", "2.6.0a0\n", "2.6.0"},
		{"torch/version.py", "x = 1\n__version__ = '2.7.1+git1'\n", "2.7.1"},
		{"debian/changelog", "pytorch (2.8.0+dfsg-7) unstable\n", "2.8.0"},
	};
	struct fixture *f = *state;
	put(f, "version.txt", "9.9\n"); /* of some other project */
	assert_ok(with(f, recipes_status, NULL, NULL));
	assert_int_equal(f->r.facts.versions.n, 0);
	put(f, "torch/csrc/x.h", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put(f, rows[i].file, rows[i].text);
		assert_ok(with(f, recipes_status, NULL, NULL));
		assert_str(f->r.facts.versions.v[0].version, rows[i].want);
		assert_str(f->r.facts.versions.v[0].from, rows[i].file);
	}
}

static void a_header_is_made_by_the_flatc_at_hand(void **state)
{
	struct fixture *f = *state;
	struct str bin = path_join(&f->a, f->dir, S("bin")),
		   flatc = path_join(&f->a, bin, S("flatc"));
	const char *made = "#!/bin/sh\nprintf 'FLATBUFFERS_VERSION_MAJOR == %s && "
			   "FLATBUFFERS_VERSION_MINOR == 2 "
			   "&& FLATBUFFERS_VERSION_REVISION == 3\\n' >m_generated.h; cat m.fbs "
			   ">>m_generated.h\n";
	add_recipe(f, "flat",
		"detect:\n- {as: have, file: base.h, version: [A, B, C]}\n"
		"steps: [{generate: flatbuffers, from: s/m.fbs, file: s/m_generated.h, version: "
		"have}]\n");
	put(f, "base.h", "A 1\nB 2\nC 3\n");
	put(f, "s/m.fbs", "schema\n");
	put(f, "s/m_generated.h", "old\n");
	assert_ok(fs_mkdirs(bin));
	strs_add(&f->a, &f->q.facts.path, bin);
	assert_err_says(with(f, recipes_apply, "flat", NULL), E_RECIPE, "is not installed");
	test_put(flatc, str_fmt(&f->a, made, "7").p);
	assert_int_equal(chmod(flatc.p, 0755), 0);
	assert_err_says(
		with(f, recipes_apply, "flat", NULL), E_RECIPE, "not the flatc of version 1.2.3");
	test_put(flatc, str_fmt(&f->a, made, "1").p);
	assert_int_equal(chmod(flatc.p, 0755), 0);
	assert_int_equal(status_of(f, "flat"), RECIPE_NEEDED);
	assert_ok(with(f, recipes_apply, "flat", NULL));
	test_has(at(f, "s/m_generated.h"),
		"FLATBUFFERS_VERSION_MAJOR == 1 && FLATBUFFERS_VERSION_MINOR == 2 && "
		"FLATBUFFERS_VERSION_REVISION == 3\nschema\n// @generated\n");
	assert_ok(fs_remove(flatc)); /* what is right needs no flatc */
	assert_ok(with(f, recipes_apply, NULL, NULL));
	assert_int_equal(status_of(f, "flat"), RECIPE_APPLIED);
	assert_ok(with(f, recipes_revert, NULL, NULL));
	test_has(at(f, "s/m_generated.h"), "old\n");
}

static void a_copy_is_made_with_them(void **state)
{
	struct fixture *f = *state;
	struct str copy = path_join(&f->a, f->dir, S("copy")), identity;
	struct session s;
	add_recipe(f, "new",
		"detect: [{file: x.h}]\nsteps: [{overlay: v.h, text: '@tree@'}]\n"
		"build: [{env: CPATH, path: '@overlay@'}]\n");
	f->q.at = copy;
	identity = recipes_identity(&f->a, &f->all, &f->q);
	struct change_request q = {.dir = f->tree,
		.out = copy,
		.copies = true,
		.identity = identity,
		.failure = E_IO,
		.jobs = 1};
	put(f, "y.h", "y\n");
	(void)nanosleep(
		&(struct timespec){.tv_nsec = 30000000}, NULL); /* the clock of files goes on */
	for (unsigned run = 0; run < 2; run++) {
		bool current;
		struct str report;
		struct change_set known = {0};
		assert_ok(session_open(&f->a, &q, &s));
		assert_ok(session_current(&s, &known, &report, &current));
		assert_int_equal(current, run == 1);
		if (!current) {
			assert_ok(recipes_changes(&f->a, &f->all, &f->q, &s.view, &f->r));
			assert_ok(session_apply(&s, &f->r.changes, S("")));
		}
		session_close(&s);
	}
	test_has(path_join(&f->a, copy, S("x.h")), "one\nTWO\nthree\nfour\n");
	test_has(path_join(&f->a, copy, S("y.h")), "y\n");
	test_has(path_join(&f->a, copy, S(".rocsmith-patches/overlay/v.h")), copy.p);
	test_has(at(f, "x.h"), "one\ntwo\nthree\n");
	assert_int_equal(f->r.variables.n, 1);
	f->q.at = S("");
	assert_false(str_eq(identity, recipes_identity(&f->a, &f->all, &f->q)));
}

/* The system may be a folder, or a recorded machine in one file. */
static void the_system_may_be_a_recorded_machine(void **state)
{
	struct fixture *f = *state;
	struct str folder = path_join(&f->a, f->dir, S("sys/usr/include/v-10"));
	const struct str systems[] = {
		path_join(&f->a, f->dir, S("sys")), path_join(&f->a, f->dir, S("sys.machine"))};
	assert_ok(fs_mkdirs(folder));
	test_put(path_join(&f->a, folder, S("v.h")), "#define V 10\n");
	test_put(systems[1],
		"rocsmith-machine 1\nusr/include/v-9/v.h:\n\t#define V 9\n"
		"usr/include/v-10/v.h:\n\t#define V 10\nusr/include/w.h -> v-10/v.h\n");
	add_recipe(f, "sys",
		"detect:\n- {as: v, in: system, file: usr/include/v-*/v.h, version: ['#define V'], "
		"is: '>=10'}\n"
		"- {in: system, file: usr/include/none.h, absent: true}\n"
		"steps: [{overlay: v.h, copy: v}]\n");
	add_recipe(f, "link",
		"detect: [{in: system, file: usr/include/w.h, contains: V 10}]\n"
		"build: [{env: W, set: '1'}]\n");
	for (size_t i = 0; i < 2; i++) {
		f->q.facts.sysroot = systems[i];
		assert_int_equal(status_of(f, "sys"), RECIPE_NEEDED);
		assert_int_equal(status_of(f, "link"), i ? RECIPE_BUILD : RECIPE_NOT);
	}
	assert_ok(with(f, recipes_apply, "sys", NULL));
	test_has(at(f, ".rocsmith-patches/overlay/v.h"), "#define V 10\n");
	test_put(systems[1], "no machine\n");
	assert_err(with(f, recipes_status, NULL, NULL), E_SYNTAX);
}

static void a_file_outside_of_the_tree_is_not_there(void **state)
{
	struct fixture *f = *state;
	put(f, "../key", "one\ntwo\nthree\n");
	assert_ok(fs_symlink(S("../key"), at(f, "x.h")));
	assert_int_equal(status_of(f, "up"), RECIPE_NOT);
	assert_ok(with(f, recipes_apply, NULL, NULL));
	assert_int_equal(f->r.changes.n, 0);
	test_has(at(f, "../key"), "one\ntwo\nthree\n");
	put(f, "real.h", "one\ntwo\nthree\n");
	assert_ok(fs_symlink(S("real.h"), at(f, "x.h")));
	assert_ok(with(f, recipes_apply, NULL, NULL));
	test_has(at(f, "real.h"), "one\nTWO\nthree\nfour\n");
}

static void an_original_that_somebody_changed_is_not_put_back(void **state)
{
	struct fixture *f = *state;
	assert_ok(with(f, recipes_apply, NULL, NULL));
	put(f, ".rocsmith-patches/originals/x.h", "evil\n");
	assert_err(with(f, recipes_revert, NULL, NULL), E_CORRUPT);
	assert_err(with(f, recipes_revert, "up", NULL), E_CORRUPT);
	test_has(at(f, "x.h"), "one\nTWO\nthree\nfour\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(several_on_one_file_are_reverted_one_by_one),
		T(a_file_has_its_old_mode_and_time_again),
		T(what_the_sources_have_already_is_told),
		T(an_edit_since_is_kept),
		T(what_it_is_for_must_be_known),
		T(gpus_are_patterns),
		T(the_sdk_is_looked_into_and_never_written),
		T(the_version_of_torch_comes_from_the_tree),
		T(the_system_may_be_a_recorded_machine),
		T(a_file_outside_of_the_tree_is_not_there),
		T(an_original_that_somebody_changed_is_not_put_back),
		T(a_copy_is_made_with_them),
		T(a_header_is_made_by_the_flatc_at_hand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
