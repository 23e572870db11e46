/* What people see: the rendering of error chains, tables and human figures, read back from a file
 * that takes the place of stdout or stderr. */
#include <fcntl.h>
#include <unistd.h>

#include "test.h"

#include "base/fs.h"
#include "base/progress.h"
#include "term/out.h"
#include "term/status.h"
#include "term/table.h"

struct capture {
	FILE *stream;
	int saved, file;
};

static struct capture capture_begin(FILE *stream)
{
	fflush(stream);
	struct capture c = {.stream = stream, .saved = dup(fileno(stream))};
	c.file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	assert_true(c.file >= 0);
	dup2(c.file, fileno(stream));
	return c;
}

static struct str capture_end(struct arena *a, struct capture *c)
{
	fflush(c->stream);
	dup2(c->saved, fileno(c->stream));
	close(c->saved);
	off_t n = lseek(c->file, 0, SEEK_END);
	char *p = arena_alloc(a, (size_t)n + 1);
	assert_null(fs_pread(c->file, p, (size_t)n, 0));
	close(c->file);
	return (struct str){.p = p, .n = (size_t)n};
}

static struct str render(struct arena *a, struct err *e)
{
	struct capture c = capture_begin(stderr);
	say_error(e);
	err_free(e);
	return capture_end(a, &c);
}

static void an_error_shows_its_causes_and_each_hint_once(void **state)
{
	(void)state;
	ARENA(a);
	struct err *e = err_hint(err_new(E_NET, "connection refused"), "try later");
	e = err_hint(err_wrap(e, "cannot fetch '%s'", "x.deb"), "try later");
	assert_string_equal(render(&a, e).p, "error: cannot fetch 'x.deb'\n"
					     "  caused by: connection refused\n"
					     "hint: try later\n");
}

static void a_second_failure_is_shown_as_such(void **state)
{
	(void)state;
	ARENA(a);
	struct err *e = err_join(err_new(E_IO, "first"), err_new(E_IO, "second"));
	assert_string_equal(render(&a, e).p, "error: first\nalso: second\n");
}

static void a_place_in_a_file_shows_the_line_and_a_caret(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir;
	assert_null(fs_tempdir(&a, S(""), &dir));
	struct str path = path_join(&a, dir, S("p.yaml"));
	assert_null(fs_write(path, S("name: x\n\tgpuz: 1\n"), 0644));
	struct err *e = err_at(err_new(E_PROJECT, "unknown key 'gpuz'"),
		(struct loc){.path = path, .line = 2, .col = 2});
	struct str want = str_fmt(&a,
		"error: unknown key 'gpuz'\n   at %.*s:2:2\n     2 | \tgpuz: 1\n       | \t^\n",
		STR(path));
	assert_string_equal(render(&a, e).p, want.p);
	assert_null(fs_remove_tree(dir));
}

static void a_place_in_a_file_that_is_gone_does_no_harm(void **state)
{
	(void)state;
	ARENA(a);
	struct err *e =
		err_at(err_new(E_PROJECT, "x"), (struct loc){.path = S("/no/such"), .line = 3});
	assert_string_equal(render(&a, e).p, "error: x\n   at /no/such:3\n");
}

static void output_of_a_tool_is_set_apart(void **state)
{
	(void)state;
	ARENA(a);
	struct err *e = err_detail(err_new(E_TOOL_FAILED, "'clang' failed"), S("one\ntwo"));
	assert_string_equal(render(&a, e).p, "error: 'clang' failed\n  | one\n  | two\n");
}

static void columns_fit_and_align(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const heads[] = {"target", ">size", NULL};
	struct table t = table_new(&a, heads);
	table_row(&t, (struct str[]){S("gfx1100"), S("12")});
	table_row(&t, (struct str[]){S("g\xc3\xa9"), S("1234567")});
	struct capture c = capture_begin(stdout);
	table_print(&t);
	assert_string_equal(capture_end(&a, &c).p, "target      size\n"
						   "gfx1100       12\n"
						   "g\xc3\xa9       1234567\n");
}

static void bytes(uint64_t n, const char *text)
{
	ARENA(a);
	assert_string_equal(human_bytes(&a, n).p, text);
}

static void seconds(double s, const char *text)
{
	ARENA(a);
	assert_string_equal(human_seconds(&a, s).p, text);
}

static void figures_are_short(void **state)
{
	(void)state;
	bytes(0, "0 B");
	bytes(999, "999 B");
	bytes(1500, "1.5 kB");
	bytes(171000000, "171 MB");
	bytes(999999999, "1.0 GB");
	seconds(0.42, "0.42 s");
	seconds(42.4, "42 s");
	seconds(185, "3m05s");
	seconds(7260, "2h01m");
}

static void colour_follows_the_mode(void **state)
{
	(void)state;
	ARENA(a);
	out_init(COLOR_ALWAYS, 0);
	assert_string_equal(styled_out(&a, STYLE_RED, S("x")).p, "\033[1;31mx\033[0m");
	out_init(COLOR_NEVER, 0);
	assert_string_equal(styled_out(&a, STYLE_RED, S("x")).p, "x");
}

static void progress_is_silent_without_a_terminal_when_short(void **state)
{
	(void)state;
	ARENA(a);
	struct capture c = capture_begin(stderr);
	status_init();
	struct progress *p = progress_begin(S("Fetching"), S("3 files"), UNIT_BYTES, 100);
	progress_add(p, 50, S("a.deb"));
	progress_end(p);
	progress_note(S("Fetched"), "%d files", 3);
	struct str text = capture_end(&a, &c);
	progress_listen(NULL);
	assert_string_equal(text.p, "     Fetched 3 files\n");
}

static void a_full_disk_is_noticed_at_the_end(void **state)
{
	(void)state;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (full < 0)
		skip();
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	dup2(full, STDOUT_FILENO);
	out_text(S("result"));
	CLEANUP(err_freep) struct err *e = out_finish();
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(full);
	clearerr(stdout);
	assert_non_null(e);
	assert_int_equal(e->code, E_NOSPACE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_shows_its_causes_and_each_hint_once),
		cmocka_unit_test(a_second_failure_is_shown_as_such),
		cmocka_unit_test(a_place_in_a_file_shows_the_line_and_a_caret),
		cmocka_unit_test(a_place_in_a_file_that_is_gone_does_no_harm),
		cmocka_unit_test(output_of_a_tool_is_set_apart),
		cmocka_unit_test(columns_fit_and_align),
		cmocka_unit_test(figures_are_short),
		cmocka_unit_test(colour_follows_the_mode),
		cmocka_unit_test(progress_is_silent_without_a_terminal_when_short),
		cmocka_unit_test(a_full_disk_is_noticed_at_the_end),
	};
	out_init(COLOR_NEVER, 0);
	return cmocka_run_group_tests_name("term", tests, NULL, NULL);
}
