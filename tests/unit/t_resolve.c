/* Versions that fit together, from a folder of wheels; indexes on servers: tests/e2e/get.sh. */
#include "flow/get.h"

#define KIT_MORE                                                                                   \
	struct get_search search;                                                                  \
	struct str config;                                                                         \
	struct get_packages got;                                                                   \
	struct archive_items all;
#include "unit/kit.h"

/* Makes wheels of lines "NAME VERSION REQUIREMENT&..." in `wheels`; "~" breaks the line of a requirement. */
static void make_wheels(struct fixture *f, const char *lines)
{
	struct proc p = {.cwd = f->dir, .input = str_from(lines)};
	proc_arg(&f->a, &p, "python3", "-c",
		"import sys, zipfile\n"
		"for line in sys.stdin:\n"
		"    name, version, *needs = line.split()\n"
		"    needs = ''.join(f'Requires-Dist: {n}\\n' for n in ''.join(needs).replace('~', "
		"'\\n ').split('&'))\n"
		"    with zipfile.ZipFile(f'wheels/{name}-{version}-py3-none-any.whl', 'w') as z:\n"
		"        z.writestr(f'{name}-{version}.dist-info/METADATA',\n"
		"            f'Name: {name}\\nVersion: {version}\\n' + needs * (len(needs) > "
		"16))\n",
		NULL);
	ran(f, &p);
}

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	assert_ok(fs_mkdirs(at(f, "wheels")));
	f->search = (struct get_search){
		.python = S("3.12"), .minor = 12, .glibc = 36, .machine = S("x86_64")};
	f->config = S("{}"); /* pip need not be asked */
	f->search.vendor.config = f->search.pip.config = &f->config;
	strs_add(&f->a, &f->search.vendor.links, at(f, "wheels"));
	strs_add(&f->a, &f->search.pip.links, at(f, "wheels"));
	return 0;
}

static struct err *resolve(struct fixture *f, const char *first, const char *second)
{
	struct strs roots = {0};
	strs_add(&f->a, &roots, str_from(first));
	if (second)
		strs_add(&f->a, &roots, str_from(second));
	return get_resolve(&f->a, &f->search, &roots, &f->got, &f->all);
}

/* "NAME VERSION NAME VERSION": what was found. */
static void found(struct fixture *f, const char *want)
{
	struct strs words = {0};
	VEC_EACH (const struct get_package, p, &f->got)
		strs_fmt(&f->a, &words, "%.*s %.*s", STR(p->name), STR(p->version));
	assert_str(str_join(&f->a, &words, S(" ")), want);
}

static void requirements_of_several_are_met_by_one_version(void **state)
{
	struct fixture *f = *state;
	make_wheels(f, "one 1.0 base~>=1.2\ntwo 1.0 base<2\nbase 1.0\nbase 1.5\nbase 2.0\n");
	assert_ok(resolve(f, "one", "two"));
	found(f, "base 1.5 one 1.0 two 1.0");
	assert_str(f->got.v[0].by, "one");
}

static void a_requirement_that_comes_later_refuses_what_was_chosen(void **state)
{
	struct fixture *f = *state;
	make_wheels(f, "one 1.0 base&two\ntwo 1.0 base<2\nbase 1.5\nbase 2.0 more\nmore 1.0\n");
	assert_ok(resolve(f, "one", NULL));
	found(f, "base 1.5 one 1.0 two 1.0");
}

static void a_version_that_wants_what_there_is_not_is_left_out(void **state)
{
	struct fixture *f = *state;
	make_wheels(f, "one 2.0 base>=3\none 1.0 base\nbase 1.5\n");
	assert_ok(resolve(f, "one", NULL));
	found(f, "base 1.5 one 1.0");
}

static void requirements_that_contradict_each_other_are_all_named(void **state)
{
	struct fixture *f = *state;
	make_wheels(f, "one 1.0 base>=2\ntwo 1.0 base<2\nbase 1.5\nbase 2.0\n");
	struct err *e = resolve(f, "one", "two");
	assert_err_says(e, E_PLAN, "'base>=2' of one, 'base<2' of two");
}

static void a_wheel_without_metadata_is_named(void **state)
{
	struct fixture *f = *state;
	make_wheels(f, "one 1.0 base\nbase 1.5\n");
	struct proc p = {.cwd = at(f, "wheels")};
	proc_arg(&f->a, &p, "python3", "-c",
		"import zipfile\nzipfile.ZipFile('base-1.5-py3-none-any.whl', 'w').close()", NULL);
	ran(f, &p);
	assert_err_says(
		resolve(f, "one", NULL), E_NOENT, "'base-1.5-py3-none-any.whl' has no metadata");
}

int main(void)
{
#define WITH_WHEELS(name) cmocka_unit_test_setup_teardown(name, begin, teardown)
	const struct CMUnitTest tests[] = {
		WITH_WHEELS(requirements_of_several_are_met_by_one_version),
		WITH_WHEELS(a_requirement_that_comes_later_refuses_what_was_chosen),
		WITH_WHEELS(a_version_that_wants_what_there_is_not_is_left_out),
		WITH_WHEELS(requirements_that_contradict_each_other_are_all_named),
		WITH_WHEELS(a_wheel_without_metadata_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
