/* hipify/torch/layer: outputs in memory answer as if they had been written. */

#include "hipify/torch/run/project.h"

#define KIT_MORE                                                                                   \
	struct view view;                                                                          \
	struct torch_layer layer;
#include "unit/kit.h"

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	view_open(&f->view, f->dir, NULL);
	layer_open(&f->layer, &f->a, &f->view);
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	view_close(&f->view);
	return teardown(state);
}

static struct torch_output write_layer(struct fixture *f, const char *rel, const char *text)
{
	struct torch_output o = {
		.path = at(f, rel), .source = at(f, "source"), .text = str_from(text)};
	return layer_write(&f->layer, o);
}

static void check(struct fixture *f, const char *rel, const char *text)
{
	struct str got;
	assert_true(layer_exists(&f->layer, at(f, rel)));
	assert_ok(layer_read(&f->layer, &f->a, at(f, rel), &got));
	assert_str(got, text);
}

static void what_is_written_is_there_and_the_disk_stays_as_it_was(void **state)
{
	struct fixture *f = *state;
	struct str got;
	test_put(at(f, "a.h"), "disk");
	check(f, "a.h", "disk");
	assert_false(layer_exists(&f->layer, at(f, "b.h")));
	assert_null(write_layer(f, "b.h", "new").text.p);
	assert_null(write_layer(f, "a.h", "over").text.p);
	check(f, "b.h", "new");
	check(f, "a.h", "over");
	assert_str(write_layer(f, "a.h", "again").text, "over");
	test_has(at(f, "a.h"), "disk");
	assert_false(fs_exists(at(f, "b.h")));
	assert_err(layer_read(&f->layer, &f->a, at(f, "none.h"), &got), E_NOENT);
}

static void a_file_is_one_under_all_its_names(void **state)
{
	struct fixture *f = *state;
	assert_ok(fs_mkdirs(at(f, "real")));
	assert_ok(fs_symlink(S("real"), at(f, "alias")));
	test_put(at(f, "real/a.h"), "disk");
	assert_ok(fs_symlink(S("real/a.h"), at(f, "link.h")));
	write_layer(f, "alias/new.h", "one");
	check(f, "real/new.h", "one");
	write_layer(f, "link.h", "two");
	check(f, "real/a.h", "two");
	check(f, "alias/a.h", "two");
	assert_str(layer_find(&f->layer, at(f, "real/a.h"))->path, at(f, "real/a.h").p);
	assert_ok(fs_symlink(S("nowhere.h"), at(f, "dangling.h")));
	assert_false(layer_exists(&f->layer, at(f, "dangling.h")));
	write_layer(f, "dangling.h", "three");
	check(f, "nowhere.h", "three");
}

/* The view hides what runs before this one made, under whatever name it is reached. */
static void links_to_earlier_results_lead_to_what_was_there_before(void **state)
{
	struct fixture *f = *state;
	test_put(at(f, "a_hip.h"), "ours");
	test_put(at(f, "theirs.h"), "theirs");
	assert_ok(fs_symlink(S("a_hip.h"), at(f, "link.h")));
	assert_ok(fs_symlink(S("theirs.h"), at(f, "other.h")));
	strs_add(&f->a, &f->view.hidden, at(f, "a_hip.h"));
	layer_open(&f->layer, &f->a, &f->view);
	assert_false(layer_exists(&f->layer, at(f, "a_hip.h")));
	assert_false(layer_exists(&f->layer, at(f, "link.h")));
	check(f, "other.h", "theirs");
}

static void folders_are_there_when_they_were_made(void **state)
{
	struct fixture *f = *state;
	assert_false(layer_exists(&f->layer, at(f, "x/y")));
	layer_mkdirs(&f->layer, at(f, "x/y"));
	assert_true(layer_exists(&f->layer, at(f, "x/y")));
	assert_true(layer_exists(&f->layer, at(f, "x")));
	assert_false(layer_exists(&f->layer, at(f, "x/z")));
	assert_false(fs_exists(at(f, "x")));
	write_layer(f, "x/y/a.h", "text");
	check(f, "x/y/a.h", "text");
}

static void a_second_layer_sees_the_first_and_leaves_it(void **state)
{
	struct fixture *f = *state;
	struct torch_layer first = f->layer;
	write_layer(f, "a.h", "one");
	write_layer(f, "b.h", "one");
	layer_mkdirs(&f->layer, at(f, "d"));
	first = f->layer;
	layer_open_above(&f->layer, &f->a, &first);
	check(f, "a.h", "one");
	assert_true(layer_exists(&f->layer, at(f, "d")));
	write_layer(f, "a.h", "two");
	check(f, "a.h", "two");
	check(f, "b.h", "one");
	assert_int_equal(f->layer.outputs.n, 1);
	assert_str(layer_find(&first, at(f, "a.h"))->text, "one");
}

static void a_name_with_a_nul_byte_is_no_file(void **state)
{
	struct fixture *f = *state;
	test_put(at(f, "a.h"), "");
	struct str path = at(f, "a.h");
	char *p = memcpy(arena_alloc(&f->a, path.n + 2), path.p, path.n);
	p[path.n + 1] = 'x';
	assert_true(layer_exists(&f->layer, path));
	assert_false(layer_exists(&f->layer, (struct str){.p = p, .n = path.n + 2}));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(links_to_earlier_results_lead_to_what_was_there_before),
		TEST(what_is_written_is_there_and_the_disk_stays_as_it_was),
		TEST(a_file_is_one_under_all_its_names),
		TEST(folders_are_there_when_they_were_made),
		TEST(a_second_layer_sees_the_first_and_leaves_it),
		TEST(a_name_with_a_nul_byte_is_no_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
