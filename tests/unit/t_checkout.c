/* Pins, lock files and manifests of strangers: what is read, what is refused and where. */
#include "source/checkout.h"
#include "unit/kit.h"

#define SHA1 "1111111111111111111111111111111111111111"
#define SHA2 "2222222222222222222222222222222222222222"
#define ROW(os, commit)                                                                            \
	os "|pytorch|torchvision|release/0.29|" commit "|https://github.com/pytorch/vision\n"

static struct err *related(struct fixture *f, const char *text, struct checkout_project *ret)
{
	*ret = (struct checkout_project){0};
	return checkout_related_parse(&f->a, str_from(text), S("r"), S("torchvision"), ret);
}

static void lines_of_all_systems_agree(void **state)
{
	struct checkout_project p;
	assert_ok(related(*state, "# x\n\n" ROW("ubuntu", SHA1) ROW("centos", SHA1), &p));
	assert_str(p.commit, SHA1);
	assert_str(p.origin, "https://github.com/pytorch/vision");
	assert_str(p.pinned_by, "related_commits:3");
	assert_ok(related(*state, "\n# nothing\n", &p));
	assert_str(p.commit, "");
	assert_err_says(related(*state, ROW("ubuntu", SHA1) ROW("centos", SHA2), &p), E_SYNTAX,
		"do not agree");
}

/* The error has this place. */
static void wrong_at(struct fixture *f, const char *text, unsigned line, unsigned col)
{
	struct checkout_project p;
	struct err *e = related(f, text, &p);
	assert_non_null(e);
	assert_int_equal(e->line, line);
	assert_int_equal(e->col, col);
	err_free(e);
}

static void a_wrong_line_has_a_place(void **state)
{
	struct fixture *f = *state;
	wrong_at(f, "# x\nubuntu|pytorch|apex\n", 2, 20);
	wrong_at(f, "a|b|apex|d|" SHA1 "|https://h/x|more\n", 1, 69);
	wrong_at(f, ROW("ubuntu", SHA1) "a|b|c|d|1234|https://h/x\n", 2, 9);
	wrong_at(f, "a|b|c|d|" SHA1 "|--upload-pack=x\n", 1, 50);
	wrong_at(f, "a|b|c|d|" SHA1 "|ext::sh -c x\n", 1, 50);
	wrong_at(f, "a|b|c|d|" SHA1 "|/srv/local\n", 1, 50);
	wrong_at(f, "a|b|c|d|" SHA1 "|\n", 1, 50);
}

static void manifests_come_back_as_they_went(void **state)
{
	struct fixture *f = *state;
	struct checkout_lock l, again;
	struct str text =
		S("{\"schema_version\": 1, \"pytorch\": {\"repo\": \"https://h/p\", \"commit\": "
		  "\"" SHA1 "\", \"branch\": \"release/2.14\", \"version\": \"2.14.0\"}, "
		  "\"triton\": {\"repo\": \"https://h/t\", \"commit\": \"" SHA2 "\"}, "
		  "\"therock\": {\"repo\": \"https://h/r\", \"commit\": \"" SHA2
		  "\", \"version\": \"10.1.0\"}, \"other\": {}}");
	assert_ok(checkout_manifest_parse(&f->a, text, S("m"), &l));
	assert_int_equal(l.projects.n, 3);
	assert_str(checkout_find(&l, S("torch"))->ref, "release/2.14");
	assert_str(checkout_find(&l, S("triton"))->commit, SHA2);
	assert_str(checkout_find(&l, S("therock"))->version, "10.1.0");
	assert_null(checkout_find(&l, S("apex")));
	assert_ok(checkout_manifest_parse(&f->a, checkout_manifest(&f->a, &l), S("m"), &again));
	assert_int_equal(again.projects.n, 3);
	assert_str(checkout_find(&again, S("therock"))->version, "10.1.0");
	assert_str(checkout_find(&again, S("torch"))->ref, "release/2.14");
	assert_err_says(checkout_manifest_parse(&f->a, S("{\"schema_version\": 2}"), S("m"), &l),
		E_SYNTAX, "only 1 is known");
	assert_err_says(
		checkout_manifest_parse(&f->a,
			S("{\"pytorch\": {\"repo\": \"https://h/p\", \"commit\": \"main\"}}"),
			S("m"), &l),
		E_SYNTAX, "whole commit id");
}

static void locks_of_strangers_reach_git_only_checked(void **state)
{
	static const char *const form =
		"{\"schema\": \"rocsmith.lock/1\", \"projects\": [{\"name\": "
		"\"torch\", \"origin\": \"%s\", \"ref\": \"%s\", \"commit\": \"%s\"}]}";
	struct fixture *f = *state;
	struct checkout_lock l;
	struct str text = str_fmt(&f->a, form, "https://h/p", "main", SHA1);
	assert_ok(checkout_lock_parse(&f->a, text, S("l"), &l));
	text = str_fmt(&f->a, form, "ext::sh", "main", SHA1);
	assert_err(checkout_lock_parse(&f->a, text, S("l"), &l), E_USAGE);
	text = str_fmt(&f->a, form, "https://h/p", "-x", SHA1);
	assert_err(checkout_lock_parse(&f->a, text, S("l"), &l), E_USAGE);
	text = str_fmt(&f->a, form, "https://h/p", "main", "HEAD");
	assert_err(checkout_lock_parse(&f->a, text, S("l"), &l), E_SYNTAX);
	put(f, "none/x", "");
	assert_ok(checkout_lock_read(&f->a, at(f, "none/l"), &l));
	assert_int_equal(l.projects.n, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(lines_of_all_systems_agree, setup, teardown),
	cmocka_unit_test_setup_teardown(a_wrong_line_has_a_place, setup, teardown),
	cmocka_unit_test_setup_teardown(manifests_come_back_as_they_went, setup, teardown),
	cmocka_unit_test_setup_teardown(locks_of_strangers_reach_git_only_checked, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
