/* Recipes are read strictly: every mistake has a message and a place. The built-in ones are right. */
#include "test.h"

#include "recipe/recipe_int.h"

#define HEAD "id: a\ntitle: t\nevidence: [e]\nconfidence: users\n"
#define DOES HEAD "detect: [{file: x}]\n"

static void mistakes_have_a_place(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"[]", "a recipe is a map"},
		{"", "a recipe is a map"},
		{HEAD, "'steps' or 'build'"},
		{HEAD "steps: [{file: x, replace: a, with: b}]\n", "needs 'detect'"},
		{DOES "steps: []\n", "must be a list"},
		{DOES "steps: {}\n", "must be a list"},
		{DOES "steps: [{file: x}]\n", "'replace' and 'with'"},
		{DOES "steps: [{file: x, replace: a, insert: b}]\n", "'replace' and 'with'"},
		{DOES "steps: [{file: x, before: a, after: a, insert: b}]\n", "exclude each other"},
		{DOES "steps: [{replace: a, with: b}]\n", "needs a 'file'"},
		{DOES "steps: [{file: /etc/x, replace: a, with: b}]\n", "not a plain path"},
		{DOES "steps: [{file: a/../x, replace: a, with: b}]\n", "not a plain path"},
		{DOES "steps: [{file: .rocsmith/x, replace: a, with: b}]\n", "not a plain path"},
		{DOES "steps: [{in: sdk, file: x, replace: a, with: b}]\n", "is overlay"},
		{DOES "steps: [{overlay: x, patch: y}]\n", "at most one of"},
		{DOES "steps: [{overlay: x}]\n", "'text' or 'copy'"},
		{DOES "steps: [{overlay: x, text: 'a@b'}]\n", "another '@'"},
		{DOES "steps: [{generate: rm, file: x, from: y}]\n", "one of: flatbuffers"},
		{DOES "steps: [{generate: flatbuffers, file: x}]\n", "needs 'from'"},
		{DOES "steps: [{patch: text}]\n", "begins on line 6"},
		{DOES "build: [{set: x}]\n", "by 'env' or by 'cmake'"},
		{DOES "build: [{env: A}]\n", "one of 'set'"},
		{DOES "build: [{env: A, set: b, word: c}]\n", "one of 'set'"},
		{DOES "applies: [torch]\nbuild: [{env: A, set: b}]\n", "must be a map"},
		{DOES "applies: {troch: '1'}\nbuild: [{env: A, set: b}]\n",
			"no version that is known"},
		{DOES "applies: {torch: [1]}\nbuild: [{env: A, set: b}]\n", "a range of versions"},
		{DOES "applies: {torch: new}\nbuild: [{env: A, set: b}]\n", "new"},
		{HEAD "detect: [{}]\nbuild: [{env: A, set: b}]\n", "needs a 'file'"},
		{HEAD "detect: [{in: etc, file: x}]\nbuild: [{env: A, set: b}]\n", "tree, sdk"},
		{HEAD "detect: [{file: x, absent: true, contains: y}]\n", "absent file"},
		{HEAD "detect: [{file: x, is: '>1'}]\n", "belong to a 'version'"},
		{HEAD "detect: [{file: x}]\nrefused: no\nsteps: [{file: x, replace: a, with: b}]\n",
			"does nothing"},
		{"id: a b\ntitle: t\nevidence: [e]\nconfidence: users\n", "'id' of letters"},
		{"id: a\ntitle: ''\nevidence: [e]\nconfidence: users\n", "'title' of one line"},
		{"id: a\ntitle: t\nconfidence: users\n", "needs 'evidence'"},
		{"id: a\ntitle: t\nevidence: [e]\nconfidence: sure\n", "'confidence' is one of"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ARENA(a);
		struct recipe r;
		struct err *e = recipe_parse(&a, str_from(wrong[i].text), S("r.yaml"), &r);
		assert_non_null(e);
		assert_string_equal(e->path, "r.yaml");
		assert_true(e->line > 0);
		assert_err_says(e, E_SYNTAX, wrong[i].says);
	}
}

static void one_in_front_takes_the_place_of_ours(void **state)
{
	ARENA(a);
	(void)state;
	struct str dir = test_dir(&a);
	struct strs dirs = {0};
	struct recipes ours, all;
	test_put(path_join(&a, dir, S("x.yaml")), "id: torch-warp-size\ntitle: mine\nevidence: "
						  "[e]\nconfidence: users\nrefused: mine\n");
	test_put(path_join(&a, dir, S("README")), "no recipe");
	strs_add(&a, &dirs, dir);
	assert_ok(recipes_load(&a, NULL, &ours));
	assert_ok(recipes_load(&a, &dirs, &all));
	assert_int_equal(all.n, ours.n);
	assert_str(all.v[0].title, "mine");
	test_dir_remove(dir);
}

static void built_in_recipes_say_where_from(void **state)
{
	ARENA(a);
	struct recipes all;
	(void)state;
	assert_ok(recipes_load(&a, NULL, &all));
	assert_true(all.n > 15);
	VEC_EACH (const struct recipe, r, &all) {
		bool source = false;
		VEC_EACH (const struct str, e, &r->evidence)
			source = source || str_starts(*e, S("https://")) ||
				 str_starts(*e, S("measured: "));
		if (!source || (!r->refused.n && !r->trade_off.n))
			fail_msg("%.*s", STR(r->id));
	}
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
	const struct CMUnitTest tests[] = {
		T(mistakes_have_a_place),
		T(one_in_front_takes_the_place_of_ours),
		T(built_in_recipes_say_where_from),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
