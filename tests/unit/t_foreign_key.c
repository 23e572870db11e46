/* What an interrupted foreign build depends on: foreign/key.c. The environment is that of this process. */
#include <stdlib.h>

#include "foreign/foreign_int.h"

#define KIT_MORE                                                                                   \
	struct plan plan;                                                                          \
	struct plan_foreign how;                                                                   \
	struct sdk sdk;                                                                            \
	struct foreign f;
#include "unit/kit.h"

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	put(f, "p/setup.py", "setup()\n");
	put(f, "b/state/x", "");
	f->plan = (struct plan){.project = at(f, "p"), .name = S("ext"), .foreign = &f->how};
	f->sdk.fingerprint = S("sdk");
	f->how = (struct plan_foreign){.system = SOURCE_PYTHON};
	strs_add(&f->a, &f->how.requires, S("some-tool>=1"));
	f->f = (struct foreign){.a = &f->a,
		.plan = &f->plan,
		.sdk = &f->sdk,
		.out = at(f, "out"),
		.state = at(f, "b/state"),
		.recipes = NEW(&f->a, struct foreign_recipes)};
	return 0;
}

/* Fills the key anew, with these variables of the user's, and adds those that count to a text. */
static struct str counted(struct fixture *f, const char *script, const char *const *names)
{
	struct strs list = {0};
	put(f, "p/setup.py", script);
	f->f.env.n = f->f.inputs.n = 0;
	for (size_t i = 0; names[i]; i++) {
		assert_int_equal(setenv(names[i], "value", 1), 0);
		strs_add(&f->a, &f->f.env, str_fmt(&f->a, "%s=value", names[i]));
	}
	assert_ok(foreign_key(&f->f));
	for (size_t i = 0; names[i]; i++) {
		struct str end = str_fmt(&f->a, " variable '%s'", names[i]);
		VEC_EACH (const struct str, input, &f->f.inputs)
			if (str_ends(*input, end))
				strs_add(&f->a, &list, str_from(names[i]));
		assert_int_equal(unsetenv(names[i]), 0);
	}
	return str_join(&f->a, &list, S(" "));
}

static void only_what_something_reads_counts(void **state)
{
	struct fixture *f = *state;
	static const char *const session[] = {"EDITOR", "HISTSIZE", "WT_SESSION", "A_ROOT_B",
		"MAX_JOBS", "TERM", "CXXFLAGS", "EXT_FLAG", "SOME_TOOL_X", NULL};
	static const char *const mine[] = {
		"MYFLAG", "MYFLAG2", "GGX_CUDA", "GG", "FOO_ROOT", "FOO_ROOTS", "PLAIN_NAME", NULL};
	static const struct {
		const char *script, *counts;
	} rows[] = {
		{"", ""},
		{"os.environ['MYFLAG']", "MYFLAG"},
		{"# notMYFLAG MYFLAG_ MYFLAG3", ""},
		{"for k in os.environ: k.startswith('GGX_')", "GGX_CUDA"},
		{"k.startswith('GGX_')", ""}, /* the file reads no environment */
		{"os.environ['%s_ROOT' % x]", "FOO_ROOT"},
		{"os.getenv(f'{x}_ROOT')", "FOO_ROOT"},
		{"for x in ['plain_name']: os.environ[x.upper()]", "PLAIN_NAME"},
		{"os.environ['plain_name']", ""},
		{"find_package(Foo)", "FOO_ROOT"},
	};
	assert_str(counted(f, "os.environ", session), "CXXFLAGS EXT_FLAG SOME_TOOL_X");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str got = counted(f, rows[i].script, mine);
		if (!str_eq(got, str_from(rows[i].counts)))
			fail_msg("%s: '%.*s'", rows[i].script, STR(got));
	}
	put(f, "p/src/a.cpp", "getenv(\"MYFLAG\")");
	put(f, "p/cmake/deep/Find.cmake", "$ENV{MYFLAG2}");
	assert_str(counted(f, "", mine), "MYFLAG2");
}

static void variables_of_the_build_and_its_other_inputs_count(void **state)
{
	struct fixture *f = *state;
	static const char *const none[] = {NULL};
	struct str changed;
	(void)counted(f, "", none);
	struct str key = f->f.key;
	(void)counted(f, "", none);
	assert_str(f->f.key, key.p);
	put(f, "b/state/inputs", str_join(&f->a, &f->f.inputs, S("\n")).p);
	f->f.inputs.n = 0;
	f->f.env.n = 0;
	strs_add(&f->a, &f->f.env, S("OURS=1"));
	f->sdk.fingerprint = S("another");
	strs_add(&f->a, &f->plan.gpus, S("gfx942"));
	assert_ok(foreign_key(&f->f));
	assert_false(str_eq(f->f.key, key));
	assert_ok(foreign_changed(&f->f, &changed));
	assert_str(changed, "'gpus' of the plan, SDK, variable 'OURS'");
}

static void programs_of_the_user_count_if_they_are_named(void **state)
{
	struct fixture *f = *state;
	static const char *const none[] = {NULL};
	put(f, "bin/word", "1");
	put(f, "bin/other", "1");
	put(f, "bin/sh", "the system has one");
	put(f, "bin/run/folder", "");
	strs_add(&f->a, &f->f.user_path, at(f, "bin"));
	(void)counted(f, "run('word') sh", none);
	struct str all = str_join(&f->a, &f->f.inputs, S("\n"));
	assert_true(str_contains(all, S("program 'word'")));
	assert_false(str_contains(all, S("program 'other'")));
	assert_false(str_contains(all, S("program 'sh'")));
	assert_false(str_contains(all, S("program 'run'")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_something_reads_counts, begin, teardown),
		cmocka_unit_test_setup_teardown(
			variables_of_the_build_and_its_other_inputs_count, begin, teardown),
		cmocka_unit_test_setup_teardown(
			programs_of_the_user_count_if_they_are_named, begin, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
