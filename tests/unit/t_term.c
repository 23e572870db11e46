/* What people see: the rendering of error chains, tables and human figures, read back from a file
 * that takes the place of stdout or stderr. */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "base/fs.h"
#include "base/progress.h"
#include "term/out.h"
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

/* A line of a user's file as it is shown below "at PATH:1:COL", with the caret's line. */
static void shown_line(struct str text, unsigned col, const char *want)
{
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f"));
	assert_ok(fs_write(path, text, 0644));
	struct err *e =
		err_at(err_new(E_PROJECT, "x"), (struct loc){.path = path, .line = 1, .col = col});
	struct str got = render(&a, e);
	struct str head = str_fmt(&a, "error: x\n   at %.*s:1:%u\n", STR(path), col);
	assert_true(str_starts(got, head));
	assert_str(str_sub(got, head.n, got.n), want);
	test_dir_remove(dir);
}

static void lines_of_files_cannot_command_the_terminal(void **state)
{
	(void)state;
	shown_line(S("a\033[2J\007b\x7f"), 1, "     1 | a?[2J?b?\n       | ^\n");
	shown_line(S("bad \xff\xc0 bytes"), 5, "     1 | bad ?? bytes\n       |     ^\n");
	shown_line(S("cut \xe2\x82"), 1, "     1 | cut ??\n       | ^\n");
	shown_line(S("windows\r\nx"), 8, "     1 | windows\n       |        ^\n");
	shown_line(S("a\rb"), 3, "     1 | a?b\n       |   ^\n");
}

static void the_caret_stands_below_characters_not_bytes(void **state)
{
	(void)state;
	shown_line(S("gr\xc3\xb6\xc3\x9f"
		     "e: 1"),
		9,
		"     1 | gr\xc3\xb6\xc3\x9f"
		"e: 1\n       |       ^\n");
	shown_line(S("\xf0\x9f\x98\x80 x"), 6, "     1 | \xf0\x9f\x98\x80 x\n       |   ^\n");
	shown_line(S("\t\tx"), 3, "     1 | \t\tx\n       | \t\t^\n");
	shown_line(S("ab"), 3, "     1 | ab\n       |   ^\n");
	shown_line(S("ab"), 9, "     1 | ab\n");
	shown_line(S("ab"), UINT32_MAX, "     1 | ab\n");
	shown_line(S(""), 1, "");
}

static void a_very_long_line_is_not_shown(void **state)
{
	(void)state;
	ARENA(a);
	char text[302];
	memset(text, 'x', sizeof(text));
	shown_line((struct str){text, 301}, 1, "");
	struct str want = str_fmt(&a, "     1 | %.300s\n       | ^\n", text);
	shown_line((struct str){text, 300}, 1, want.p);
}

static void empty_cells_leave_no_blanks_at_the_end(void **state)
{
	(void)state;
	ARENA(a);
	struct table t = table_new(&a, "name|>n|note");
	table_row(&t, (struct str[]){S("a"), S("1"), S("")});
	table_row(&t, (struct str[]){S(""), S(""), S("")});
	table_row(&t, (struct str[]){S("b"), S(""), S("x")});
	struct capture c = capture_begin(stdout);
	table_print(&t);
	assert_string_equal(capture_end(&a, &c).p, "name  n  note\n"
						   "a     1\n"
						   "\n"
						   "b        x\n");
}

static void a_finding_is_one_line(void **state)
{
	(void)state;
	ARENA(a);
	struct findings list = {0};
	struct finding *f = finding_add(&a, &list, "tag-any", SEV_ERROR, S("a.so"));
	finding_say(&a, f, "bad");
	finding_fix(&a, f, "one");
	finding_fix(&a, f, "two");
	struct capture c = capture_begin(stdout);
	out_finding(&a, f, S("x.whl"));
	out_finding(&a, f, S("a.so"));
	out_init(COLOR_ALWAYS, 0);
	out_fmt("%.*s", STR(styled_severity(&a, SEV_WARNING)));
	out_init(COLOR_NEVER, 0);
	assert_str(capture_end(&a, &c), "error: a.so: bad [tag-any]; fix: one; or: two\n"
					"error: bad [tag-any]; fix: one; or: two\n"
					"\033[1;33mwarning\033[0m");
}

static void colour_follows_the_environment(void **state)
{
	(void)state;
	static const struct {
		const char *no_color, *force, *term;
		bool colour;
	} settings[] = {
		{NULL, NULL, "xterm", false}, /* no terminal here */
		{NULL, "1", "xterm", true},
		{NULL, "0", "xterm", false},
		{NULL, "", "xterm", false},
		{"1", "1", "xterm", false},
		{"", "1", "dumb", true},
	};
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		ARENA(a);
		unsetenv("NO_COLOR");
		unsetenv("CLICOLOR_FORCE");
		if (settings[i].no_color)
			setenv("NO_COLOR", settings[i].no_color, 1);
		if (settings[i].force)
			setenv("CLICOLOR_FORCE", settings[i].force, 1);
		setenv("TERM", settings[i].term, 1);
		struct capture c = capture_begin(stdout);
		out_init(COLOR_AUTO, 0);
		capture_end(&a, &c);
		bool got = styled_out(&a, STYLE_RED, S("x")).n > 1;
		assert_int_equal(got, settings[i].colour);
	}
	unsetenv("NO_COLOR");
	unsetenv("CLICOLOR_FORCE");
	out_init(COLOR_NEVER, 0);
}

static void say_everything(void)
{
	say_status(S("Did"), "%d things", 2);
	say_warning("w%d", 1);
	say_hint("h");
	say_verbose("v");
}

static void verbosity_decides_what_is_said(void **state)
{
	(void)state;
	static const char *const said[] = {
		"warning: w1\n",
		"         Did 2 things\nwarning: w1\nhint: h\n",
		"         Did 2 things\nwarning: w1\nhint: h\nnote: v\n",
	};
	for (int v = -1; v <= 1; v++) {
		ARENA(a);
		out_init(COLOR_NEVER, v);
		struct capture c = capture_begin(stderr);
		say_everything();
		assert_string_equal(capture_end(&a, &c).p, said[v + 1]);
		assert_int_equal(out_verbosity(), v);
	}
	out_init(COLOR_NEVER, 0);
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
	struct table t = table_new(&a, "target|>size");
	table_row(&t, (struct str[]){S("gfx1100"), S("12")});
	table_row(&t, (struct str[]){S("g\xc3\xa9"), S("1234567")});
	struct capture c = capture_begin(stdout);
	table_print(&t);
	assert_string_equal(capture_end(&a, &c).p, "target      size\n"
						   "gfx1100       12\n"
						   "g\xc3\xa9       1234567\n");
}

static void a_table_below_others_needs_a_row(void **state)
{
	(void)state;
	ARENA(a);
	struct table t = table_new(&a, "target|>size");
	struct capture c = capture_begin(stdout);
	assert_false(table_below(&t));
	assert_string_equal(capture_end(&a, &c).p, "");
	table_row(&t, (struct str[]){S("gfx1100"), S("12")});
	c = capture_begin(stdout);
	assert_true(table_below(&t));
	assert_string_equal(capture_end(&a, &c).p, "\ntarget   size\ngfx1100    12\n");
}

struct shown_part {
	struct str name;
	struct strs gpus;
	uint64_t size, kernels;
};

struct shown_whole {
	struct str name;
	bool done;
	VEC(struct shown_part) parts;
};

static void a_result_is_shown_by_the_keys_of_its_json(void **state)
{
	(void)state;
	ARENA(a);
	static const struct json_field part_fields[] =
		FIELDS_ONLY(struct shown_part, name, gpus, size, kernels);
	static const struct json_field inner_fields[] = {
		FIELD("done", struct shown_whole, done),
		FIELD_LIST("parts", struct shown_whole, parts, part_fields),
		{.kind = FIELD_END},
	};
	static const struct json_field fields[] = {
		FIELD("name", struct shown_whole, name),
		FIELD_PART("inner", inner_fields),
		{.kind = FIELD_END},
	};
	static const struct column columns[] = {
		{COLUMN("part", "name")},
		{COLUMN("for", "gpus"), .none = "all"},
		{COLUMN(">size", "size"), .bytes = true},
		{COLUMN(">kernels", "kernels"), .none = "-"},
		{.title = NULL},
	};
	struct shown_whole whole = {.name = S("w")};
	struct capture c = capture_begin(stdout);
	assert_false(table_show(&a, fields, "inner.parts", columns, &whole));
	*VEC_PUSH(&a, &whole.parts) = (struct shown_part){.name = S("x"), .size = 2000};
	*VEC_PUSH(&a, &whole.parts) = (struct shown_part){.name = S("y"), .kernels = 7};
	strs_add(&a, &whole.parts.v[1].gpus, S("gfx90a"));
	strs_add(&a, &whole.parts.v[1].gpus, S("gfx942"));
	assert_true(table_show(&a, fields, "inner.parts", columns, &whole));
	assert_string_equal(capture_end(&a, &c).p, "part  for               size  kernels\n"
						   "x     all             2.0 kB        -\n"
						   "y     gfx90a, gfx942     0 B        7\n");
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
	bytes(1000, "1.0 kB");
	bytes(9949, "9.9 kB");
	bytes(9950, "10 kB");
	bytes(999499, "999 kB");
	bytes(999500, "1.0 MB");
	bytes(UINT64_MAX, "18 EB");
	seconds(0, "0.00 s");
	seconds(9.994, "9.99 s");
	seconds(9.995, "10 s");
	seconds(99.4, "99 s");
	seconds(99.5, "1m40s");
	seconds(3599.4, "59m59s");
	seconds(3599.5, "1h00m");
	seconds(1e300, "277777777h46m");
}

static void colour_follows_the_mode(void **state)
{
	(void)state;
	ARENA(a);
	out_init(COLOR_ALWAYS, 0);
	struct capture c = capture_begin(stdout);
	out_fmt("%.*s", STR(styled_out(&a, STYLE_RED, S("x"))));
	out_init(COLOR_NEVER, 0);
	assert_str(capture_end(&a, &c), "\033[1;31mx\033[0m");
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

/* Names as strangers choose them, and what is to be seen of them. */
static const struct {
	const char *name, *shown;
} hostile[] = {
	{"a.so\nx.whl: pass (0 errors)", "a.so?x.whl: pass (0 errors)"},
	{"a\rerror: b", "a?error: b"},
	{"\033[31mred\033[0m", "?[31mred?[0m"},
	{"\033]0;title\007", "?]0;title?"},
	{"\033r00000000"
	 "31x",
		"?r0000000031x"}, /* like a mark of ours, but for its secret */
	{"c1 \xc2\x9b"
	 "2J",
		"c1 ?2J"},
	{"raw \x9b"
	 "2J",
		"raw ?2J"},
	{"tab\tbell\a del\x7f", "tab?bell? del?"},
	{"\xe2\x80\xaegnp.exe", "?gnp.exe"},
	{"\xe2\x80\xa8line", "?line"},
	{"cut \xe2\x82", "cut ??"},
	{"gr\xc3\xb6\xc3\x9f"
	 "e \xe2\x82\xac \xf0\x9f\x98\x80",
		"gr\xc3\xb6\xc3\x9f"
		"e \xe2\x82\xac \xf0\x9f\x98\x80"},
};

static void print_everywhere(struct arena *a, const char *name)
{
	struct findings list = {0};
	struct finding *f = finding_add(a, &list, "id", SEV_ERROR, str_from(name));
	struct table t = table_new(a, "name|more");
	finding_say(a, f, "%s", name);
	finding_fix(a, f, "%s", name);
	table_row(&t, (struct str[]){str_from(name), str_from(name)});
	table_print(&t);
	out_finding(a, f, S(""));
	out_fmt("%.*s\n%s\n", STR(styled_out(a, STYLE_BOLD, str_from(name))), name);
}

static void say_everywhere(const char *name)
{
	struct err *e = err_wrap(err_new(E_IO, "%s", name), "%s", name);
	e = err_detail(err_hint(e, "%s", name), S("\033detail"));
	e = err_join(err_at(e, (struct loc){.path = str_from(name)}), err_new(E_IO, "%s", name));
	say_error(e);
	err_free(e);
	say_status(S("Did"), "%s", name);
	say_warning("%s", name);
	say_hint("%s", name);
	say_verbose("%s", name);
}

static void names_can_neither_command_the_terminal_nor_forge_a_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		ARENA(a);
		const char *s = hostile[i].shown;
		struct str line;
		out_init(COLOR_NEVER, 1);
		struct capture out = capture_begin(stdout), err = capture_begin(stderr);
		print_everywhere(&a, hostile[i].name);
		say_everywhere(hostile[i].name);
		struct str said = capture_end(&a, &err), printed = capture_end(&a, &out);
		out_init(COLOR_NEVER, 0);
		str_next(&printed, '\n', &line); /* heads */
		assert_str(printed, str_fmt(&a, "%s  %s\nerror: %s: %s [id]; fix: %s\n%s\n%s\n", s,
					    s, s, s, s, s, s)
					    .p);
		assert_str(
			said, str_fmt(&a,
				      "error: %s [E0003]\n   at %s\n  | ?detail\n  caused by: %s\n"
				      "also: %s [E0003]\nhint: %s\n         Did %s\nwarning: "
				      "%s\nhint: %s\n"
				      "note: %s\n",
				      s, s, s, s, s, s, s, s, s)
				      .p);
	}
}

static void what_others_say_is_left_alone_where_no_terminal_reads_it(void **state)
{
	(void)state;
	ARENA(a);
	struct capture c = capture_begin(stdout);
	out_text(S("a\033[2Jb\n"));
	assert_str(capture_end(&a, &c), "a\033[2Jb\n");
	c = capture_begin(stderr);
	say_text(S("a\033[2Jb\n"));
	assert_str(capture_end(&a, &c), "a\033[2Jb\n");
}

/* A terminal of so many columns in the place of a stream. */
static struct capture terminal_begin(FILE *stream, unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	struct capture c = {.stream = stream, .saved = dup(fileno(stream))};
	c.file = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(c.file >= 0 && grantpt(c.file) == 0 && unlockpt(c.file) == 0);
	int side = open(ptsname(c.file), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(side >= 0 && ioctl(side, TIOCSWINSZ, &size) == 0);
	fflush(stream);
	dup2(side, fileno(stream));
	close(side);
	return c;
}

/* What it got, with the line ends of terminals; little enough to be read at once. */
static struct str terminal_end(struct arena *a, struct capture *c)
{
	char *p = arena_alloc(a, 4096);
	fflush(c->stream);
	ssize_t n = read(c->file, p, 4096);
	dup2(c->saved, fileno(c->stream));
	close(c->saved);
	close(c->file);
	assert_true(n >= 0);
	return (struct str){.p = p, .n = (size_t)n};
}

static void a_terminal_gets_nothing_that_others_made(void **state)
{
	(void)state;
	ARENA(a);
	struct capture c = terminal_begin(stdout, 80);
	out_text(S("a\033[2J\033[1mb\n\tc\n"));
	assert_str(terminal_end(&a, &c), "a?[2J?[1mb\r\n\tc\r\n");
	c = terminal_begin(stderr, 80);
	say_text(S("a\033[2J\033[1;31mb\033[0m\n"));
	assert_str(terminal_end(&a, &c), "a?[2J\033[1;31mb\033[0m\r\n");
}

static void a_narrow_terminal_keeps_every_column(void **state)
{
	(void)state;
	ARENA(a);
	struct table t = table_new(&a, "file|>size|targets");
	table_row(&t, (struct str[]){S("a/very/long/path/to/gr\xc3\xb6\xc3\x9f"
				       "e.so"),
			      S("123456789"), S("gfx90a gfx1100 gfx1101 gfx1102")});
	table_row(&t, (struct str[]){S("b"), S("1"), S("gfx90a")});
	struct capture c = terminal_begin(stdout, 40);
	table_print(&t);
	assert_str(terminal_end(&a, &c),
		"file                 size  targets\r\n"
		"a/very/long/p\xe2\x80\xa6  123456789  gfx90a gfx11\xe2\x80\xa6\r\n"
		"b                       1  gfx90a\r\n");
	c = terminal_begin(stdout, 20);
	table_print(&t);
	assert_str(terminal_end(&a, &c), "file           size  targets\r\n"
					 "a/very/\xe2\x80\xa6  123456789  gfx90a \xe2\x80\xa6\r\n"
					 "b                 1  gfx90a\r\n");
}

static void an_error_for_programs_is_one_object(void **state)
{
	(void)state;
	ARENA(a);
	struct err *e = err_hint(err_new(E_NET, "refused"), "try later");
	e = err_hint(err_wrap(err_detail(e, S("one\ntwo")), "cannot fetch 'x'"), "try later");
	err_at(e, (struct loc){.path = S("p"), .line = 2, .col = 3});
	assert_str(error_json(&a, e),
		"{\n  \"schema\": \"rocsmith.error/1\",\n  \"code\": \"E0030\",\n"
		"  \"message\": \"cannot fetch 'x'\",\n  \"causes\": [\n    \"refused\"\n  ],\n"
		"  \"hints\": [\n    \"try later\"\n  ],\n"
		"  \"details\": [\n    \"one\",\n    \"two\"\n  ],\n"
		"  \"place\": {\n    \"path\": \"p\",\n    \"line\": 2,\n    \"column\": 3\n  "
		"}\n}\n");
	err_free(e);
}

static void who_waits_for_a_lock_says_so_once(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("lock"));
	int ready[2], fd = -1;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (!pid) {
		bool held = !fs_lock(path, FS_LOCK_NOW, &fd) && write(ready[1], "x", 1) == 1;
		usleep(350000);
		_exit(!held);
	}
	char c;
	int status;
	assert_true(read(ready[0], &c, 1) == 1);
	status_init();
	struct capture err = capture_begin(stderr);
	struct err *e = progress_lock(path, &fd, "builds '%s'", "p");
	struct str said = capture_end(&a, &err);
	progress_listen(NULL);
	assert_ok(e);
	assert_str(said, "     Waiting for another rocsmith that builds 'p'\n");
	assert_true(waitpid(pid, &status, 0) == pid && status == 0);
	close(fd);
	close(ready[0]);
	close(ready[1]);
	test_dir_remove(dir);
}

/* What becomes of a result that is written to `to`, which is closed. */
static struct err *finish_to(int to)
{
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	dup2(to, STDOUT_FILENO);
	close(to);
	out_text(S("result"));
	struct err *e = out_finish();
	dup2(saved, STDOUT_FILENO);
	close(saved);
	clearerr(stdout);
	return e;
}

static void a_full_disk_is_noticed_at_the_end(void **state)
{
	(void)state;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (full < 0)
		skip();
	CLEANUP(err_freep) struct err *e = finish_to(full);
	assert_non_null(e);
	assert_int_equal(e->code, E_NOSPACE);
	assert_false(out_reader_gone());
}

static void a_reader_that_has_enough_is_no_error(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	assert_ok(finish_to(ends[1]));
	assert_true(out_reader_gone());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_shows_its_causes_and_each_hint_once),
		cmocka_unit_test(a_second_failure_is_shown_as_such),
		cmocka_unit_test(a_place_in_a_file_shows_the_line_and_a_caret),
		cmocka_unit_test(a_place_in_a_file_that_is_gone_does_no_harm),
		cmocka_unit_test(lines_of_files_cannot_command_the_terminal),
		cmocka_unit_test(the_caret_stands_below_characters_not_bytes),
		cmocka_unit_test(a_very_long_line_is_not_shown),
		cmocka_unit_test(empty_cells_leave_no_blanks_at_the_end),
		cmocka_unit_test(a_finding_is_one_line),
		cmocka_unit_test(colour_follows_the_environment),
		cmocka_unit_test(verbosity_decides_what_is_said),
		cmocka_unit_test(output_of_a_tool_is_set_apart),
		cmocka_unit_test(columns_fit_and_align),
		cmocka_unit_test(a_table_below_others_needs_a_row),
		cmocka_unit_test(a_result_is_shown_by_the_keys_of_its_json),
		cmocka_unit_test(figures_are_short),
		cmocka_unit_test(colour_follows_the_mode),
		cmocka_unit_test(progress_is_silent_without_a_terminal_when_short),
		cmocka_unit_test(names_can_neither_command_the_terminal_nor_forge_a_line),
		cmocka_unit_test(what_others_say_is_left_alone_where_no_terminal_reads_it),
		cmocka_unit_test(a_terminal_gets_nothing_that_others_made),
		cmocka_unit_test(a_narrow_terminal_keeps_every_column),
		cmocka_unit_test(an_error_for_programs_is_one_object),
		cmocka_unit_test(who_waits_for_a_lock_says_so_once),
		cmocka_unit_test(a_full_disk_is_noticed_at_the_end),
		cmocka_unit_test(a_reader_that_has_enough_is_no_error),
	};
	out_init(COLOR_NEVER, 0);
	return cmocka_run_group_tests_name("term", tests, NULL, NULL);
}
