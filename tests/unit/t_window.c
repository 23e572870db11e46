/* The part of a log at hand: its lines, and whether those around a message are a program's. */
#include <inttypes.h>
#include <unistd.h>

#include "know/window.h"
#include "test.h"

static void fill(struct window *w, struct arena *tmp, struct str text)
{
	CLEANUP(stream_freep) struct stream *s = stream_new(-1, text, S("log"));
	window_new(w, tmp);
	assert_ok(window_fill(w, s));
}

static void lines_are_found_and_numbered(void **state)
{
	(void)state;
	ARENA(a);
	struct window w;
	fill(&w, &a, S("one\n\n\033[31mtwo  \t\"x\"\033[0m\r\nlast"));
	struct span line = window_line(&w, 10);
	assert_str(window_clean(&w, line), "two 'x' ");
	assert_str(window_told(&w, &a, line).text, "two   \"x\"");
	assert_int_equal(window_told(&w, &a, line).line, 3);
	assert_true(window_down(&w, &line));
	assert_str(window_clean(&w, line), "last");
	assert_false(window_down(&w, &line));
	for (int i = 0; i < 3; i++)
		assert_true(window_up(&w, &line));
	assert_str(window_clean(&w, line), "one");
	assert_false(window_up(&w, &line));
	assert_int_equal(window_number(&w, w.n), 4);
	assert_int_equal(window_number(&w, 0), 1);
	assert_true(w.ended);
}

static void a_log_longer_than_the_window_slides_through_it(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	for (int i = 0; i < 300000; i++)
		buf_fmt(&b, "line %d\n", i + 1);
	CLEANUP(stream_freep) struct stream *s = stream_new(-1, buf_str(&b), S("log"));
	struct window w;
	window_new(&w, &a);
	uint64_t last = 0;
	do {
		assert_ok(window_fill(&w, s));
		size_t to = window_searchable(&w);
		assert_true(to > w.done && (w.ended || w.buf[to - 1] == '\n'));
		struct str first = window_clean(&w, window_line(&w, w.done));
		last = window_number(&w, w.done);
		assert_str(first, str_z(&a, str_fmt(&a, "line %" PRIu64, last)));
		w.done = to;
		window_number(&w, to);
		window_slide(&w);
	} while (!w.ended);
	assert_true(last > 100000);
}

/* So many MiB of the letter x, packed by zstd (RFC 8878) in blocks of one repeated byte; a line end behind the MiB `line`. */
static struct str packed_line(struct arena *a, unsigned mib, unsigned line)
{
	enum { BLOCKS = 8 }; /* of 128 KiB in each MiB, the most that one may have */
	BUF(b, a);
	buf_add(&b, (struct str){"\x28\xb5\x2f\xfd\x00\x38", 6});
	for (unsigned i = 0; i < mib * BLOCKS; i++) {
		buf_add(&b, (struct str){"\x02\x00\x10x", 4});
		if (i == line * BLOCKS)
			buf_add(&b, (struct str){"\x0a\x00\x00\n", 4});
	}
	buf_add(&b, (struct str){"\x01\x00\x00", 3});
	return buf_str(&b);
}

/* Reads to the end, as log_read() does, but for the search. */
static struct err *read_all(struct stream *s)
{
	ARENA(a);
	struct window w;
	window_new(&w, &a);
	do {
		TRY(window_fill(&w, s));
		w.done = window_searchable(&w);
		window_number(&w, w.done);
		window_slide(&w);
	} while (!w.ended);
	return NULL;
}

/* What goes on for ever, as a pipe from /dev/zero, has a line without an end; a file has an end in any case, and may
 * have a hole in front of its text, as a log has that was cut while it was open. */
static void a_line_without_an_end_is_no_log(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fd_closep) int fd = -1;
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("log"));
	CLEANUP(stream_freep)
	struct stream *good = stream_new(-1, packed_line(&a, 1100, 500), S("x"));
	CLEANUP(stream_freep)
	struct stream *bad = stream_new(-1, packed_line(&a, 1100, 50), S("x"));
	assert_ok(read_all(good));
	assert_err_says(read_all(bad), E_LIMIT, "line 2 has no end within 1024 MiB");
	test_put(path, "x\n");
	assert_int_equal(truncate(path.p, (off_t)1100 << 20), 0);
	assert_ok(fs_open(path, &fd));
	CLEANUP(stream_freep) struct stream *file = stream_new(fd, S(""), S("x"));
	assert_ok(read_all(file));
	test_dir_remove(dir);
}

/* The line that begins with RuntimeError is the message. */
static bool is_text(struct str text)
{
	ARENA(a);
	struct window w;
	fill(&w, &a, text);
	struct span line = window_line(&w, str_find(text, S("RuntimeError")));
	bool is = window_is_text(&w, line);
	return is;
}

static void what_stands_around_tells_a_log_from_a_text(void **state)
{
	(void)state;
	assert_false(is_text(S("RuntimeError: x\n")));
	assert_false(is_text(S("$ python a.py\nRuntimeError: x\n")));
	assert_false(is_text(
		S("Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n"
		  "    for x in the_list_of_it:\nRuntimeError: x\nand so on\n")));
	assert_false(is_text(
		S("[12:00:01.123] start\nRuntimeError: x\n[12:00:02.456] the end of it\n")));
	assert_true(is_text(S("Known problems\n\n- If your card is old:\nRuntimeError: x\n"
			      "Take the wheel that is made for the card.\n")));
	assert_true(
		is_text(S("test_a.py::test_one :: skipped\nRuntimeError: x\ntest_b :: slow\n")));
	assert_true(is_text(S("case 1:\n  puts(a);\nRuntimeError: x\n  break;\n")));
	/* of no kind: a few lines say nothing, more are a list */
	assert_false(is_text(S("alpha\nRuntimeError: x\nbeta\n")));
	assert_true(is_text(S("alpha\nRuntimeError: x\nbeta\ngamma\ndelta\nepsilon\n")));
}

static void a_check_of_cmake_is_no_failure(void **state)
{
	(void)state;
	ARENA(a);
	struct window w;
	struct str text =
		S("Performing C++ SOURCE FILE Test HAVE_X failed with the following output:\n"
		  "Change Dir: /b\n\nRuntimeError: x\n");
	fill(&w, &a, text);
	assert_true(window_is_introduced(&w, window_line(&w, text.n - 2)));
	text = S("It failed with the following output:\nChange Dir: /b\n\nRuntimeError: x\n");
	fill(&w, &a, text);
	assert_false(window_is_introduced(&w, window_line(&w, text.n - 2)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_found_and_numbered),
		cmocka_unit_test(a_log_longer_than_the_window_slides_through_it),
		cmocka_unit_test(a_line_without_an_end_is_no_log),
		cmocka_unit_test(what_stands_around_tells_a_log_from_a_text),
		cmocka_unit_test(a_check_of_cmake_is_no_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
