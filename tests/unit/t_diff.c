/* Unified diffs: read strictly, and applied as patch(1) does, which is asked. */
#include "fixture_said.h"
#include "test.h"

#include "base/buf.h"
#include "base/proc.h"
#include "changes/changes.h"
#include "formats/diff.h"

static struct diff parse(struct arena *a, struct str text)
{
	struct diff d;
	assert_ok(diff_parse(a, text, S("x.yaml"), DIFF_RECIPE, &d));
	return d;
}

static struct diff_result apply(struct arena *a, const char *diff, const char *old)
{
	struct diff d = parse(a, str_from(diff));
	struct diff_result r;
	struct str text = old ? str_from(old) : (struct str){0};
	assert_ok(diff_apply(a, &d.v[0], text, &r));
	return r;
}

/* ---- reading ---- */

static void what_is_no_diff_is_an_error(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"", "no file"},
		{"just a text\n", "no file"},
		{"--- a/x\n", "'+++ b/PATH'"},
		{"--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", "below 'a/'"},
		{"--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", "below 'a/'"},
		{"--- a//etc/x\n+++ b//etc/x\n@@ -1 +1 @@\n-a\n+b\n", "below 'a/'"},
		{"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "does not remove"},
		{"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "does not rename"},
		{"--- a/x\n+++ b/x\n", "no hunk"},
		{"--- a/x\n+++ b/x\n@@ 1 1 @@\n-a\n", "begins with"},
		{"--- a/x\n+++ b/x\n@@ -1,99999999999 +1 @@\n-a\n", "begins with"},
		{"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n", "as many lines"},
		{"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n", "as many lines"},
		{"--- a/x\n+++ b/x\n@@ -0,0 +0,0 @@\n", "as many lines"},
		{"rename from a\n", "text files only"},
		{"GIT binary patch\n", "text files only"},
		{"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nold mode 100644\n", "text files only"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ARENA(a);
		struct diff d;
		assert_err_says(diff_parse(&a, str_from(wrong[i].text), S("x"), DIFF_RECIPE, &d),
			E_SYNTAX, wrong[i].says);
	}
}

static void descriptions_and_gits_words_are_passed_over(void **state)
{
	ARENA(a);
	(void)state;
	struct diff d = parse(&a, S("From: someone\n\ndiff --git a/s/x b/s/x\nindex 1..2 100644\n"
				    "--- a/s/x\t2025-01-01\n+++ b/s/x\n@@ -1,3 +1,3 @@ void f()\n"
				    " a\n-b\n+c\n\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+z\n"
				    "\\ No newline at end of file\n"));
	assert_int_equal(d.n, 2);
	assert_str(d.v[0].path, "s/x");
	assert_int_equal(d.v[0].hunks.v[0].lines.n, 4);
	assert_str(d.v[1].hunks.v[0].lines.v[0].text, "z");
}

/* ---- applying ---- */

#define HEAD "--- a/x\n+++ b/x\n"

static void a_hunk_that_moved_is_found_and_told(void **state)
{
	ARENA(a);
	(void)state;
	const char *diff = HEAD "@@ -2,3 +2,3 @@\n a\n-b\n+B\n c\n";
	struct diff_result r = apply(&a, diff, "1\na\nb\nc\n");
	assert_int_equal(r.fit, DIFF_FITS);
	assert_str(r.text, "1\na\nB\nc\n");
	assert_int_equal(r.notes.n, 0);
	r = apply(&a, diff, "1\n2\n3\na\nb\nc\n");
	assert_str(r.text, "1\n2\n3\na\nB\nc\n");
	assert_str(r.notes.v[0], "hunk 1 of x fits 2 lines further down");
	r = apply(&a, diff, "a\nb\nc\n");
	assert_str(r.notes.v[0], "hunk 1 of x fits 1 line further up");
}

static void fuzz_keeps_the_context_of_the_file(void **state)
{
	ARENA(a);
	(void)state;
	struct diff_result r = apply(
		&a, HEAD "@@ -1,5 +1,5 @@\n a\n b\n-c\n+C\n d\n e\n", "other\nb\nc\nd\nelse\n");
	assert_int_equal(r.fit, DIFF_FITS);
	assert_str(r.text, "other\nb\nC\nd\nelse\n");
	assert_str(r.notes.v[0], "hunk 1 of x fits with fuzz 1");
}

static void nothing_is_applied_twice_or_partly(void **state)
{
	ARENA(a);
	(void)state;
	const char *diff = HEAD "@@ -1,2 +1,3 @@\n a\n+new\n b\n@@ -4,2 +5,2 @@\n-d\n+D\n e\n";
	assert_int_equal(apply(&a, diff, "a\nb\nc\nd\ne\n").fit, DIFF_FITS);
	assert_int_equal(apply(&a, diff, "a\nnew\nb\nc\nD\ne\n").fit, DIFF_THERE);
	struct diff_result r = apply(&a, diff, "a\nb\nc\nother\ne\n");
	assert_int_equal(r.fit, DIFF_NOT);
	assert_str(r.notes.v[0], "hunk 2 of 2 does not fit x");
}

static void files_are_added_once(void **state)
{
	ARENA(a);
	(void)state;
	const char *diff = "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+one\n+two\n";
	struct diff_result r = apply(&a, diff, NULL);
	assert_int_equal(r.fit, DIFF_FITS);
	assert_str(r.text, "one\ntwo\n");
	assert_int_equal(apply(&a, diff, "one\ntwo\n").fit, DIFF_THERE);
	assert_int_equal(apply(&a, diff, "one\n").fit, DIFF_NOT);
	assert_int_equal(apply(&a, HEAD "@@ -1 +1 @@\n-a\n+b\n", NULL).fit, DIFF_NOT);
}

/* Nothing says where it belongs but its line: after so many, and not before what an earlier hunk left. */
static void an_insertion_into_nothing_fits_where_it_says(void **state)
{
#define FIRST "@@ -2 +2 @@\n-b\n+B\n"
	static const struct {
		const char *hunks, *old, *text; /* text NULL: does not fit */
	} cases[] = {
		{"@@ -0,0 +1 @@\n+x\n", "a\nb\nc\n", "x\na\nb\nc\n"},
		{"@@ -2,0 +3 @@\n+x\n", "a\nb\nc\n", "a\nb\nx\nc\n"},
		{"@@ -3,0 +4,2 @@\n+x\n+y\n", "a\nb\nc\n", "a\nb\nc\nx\ny\n"},
		{"@@ -4,0 +5 @@\n+x\n", "a\nb\nc\n", NULL},
		{FIRST "@@ -2,0 +3 @@\n+x\n", "a\nb\nc\n", "a\nB\nx\nc\n"},
		{FIRST "@@ -1,0 +2 @@\n+x\n", "a\nb\nc\n", NULL},
		{FIRST "@@ -2,0 +3 @@\n+x\n", "z\na\nb\nc\n",
			"z\na\nB\nx\nc\n"}, /* it moves along */
		{FIRST "@@ -2,0 +3 @@\n+x\n", "a\n1\nb\n", "a\n1\nB\nx\n"},
		{FIRST "@@ -3,0 +4 @@\n+x\n", "a\n1\nb\n", NULL},
		{FIRST "@@ -2,0 +3 @@\n+x\n", "b\nc\n", "B\nx\nc\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct str diff = str_fmt(&a, HEAD "%s", cases[i].hunks);
		struct diff_result r = apply(&a, diff.p, cases[i].old);
		if ((r.fit == DIFF_FITS) != !!cases[i].text)
			fail_msg("%zu: %d\n%.*s", i, (int)r.fit, STR(r.text));
		if (cases[i].text)
			assert_str(r.text, cases[i].text);
	}
#undef FIRST
}

static void looking_has_an_end(void **state)
{
	ARENA(a);
	BUF(text, &a);
	BUF(diff, &a);
	(void)state;
	for (unsigned i = 0; i < 30000; i++)
		buf_add(&text, S("same\n"));
	buf_add(&diff, S(HEAD "@@ -1,20001 +1,20001 @@\n"));
	for (unsigned i = 0; i < 20000; i++)
		buf_add(&diff, i == 10000 ? S("-other\n+x\n same\n") : S(" same\n"));
	struct diff d = parse(&a, buf_str(&diff));
	struct diff_result r;
	assert_err(diff_apply(&a, &d.v[0], buf_str(&text), &r), E_LIMIT);
}

/* ---- patch(1) ---- */

static unsigned pick(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % n;
}

/* Few different lines, so that context is found in several places. */
static void line(struct buf *b, unsigned *seed)
{
	buf_fmt(b, "%c\n", 'a' + (char)pick(seed, 6));
}

/* A text that differs from text in some lines. */
static struct str mutate(struct arena *a, struct str text, unsigned one_in, unsigned *seed)
{
	BUF(b, a);
	struct str l;
	while (str_next(&text, '\n', &l)) {
		unsigned what = pick(seed, one_in * 3);
		if (what == 0)
			continue;
		if (what == 1)
			line(&b, seed);
		if (what == 2)
			buf_fmt(&b, "%c\n", 'A' + (char)pick(seed, 26));
		else
			buf_fmt(&b, "%.*s\n", STR(l));
	}
	if (b.n && !pick(seed, 8))
		b.n--;
	return str_dup(a, buf_str(&b));
}

struct oracle {
	struct arena *a;
	struct str dir;
	bool good;
	struct str text;
};

static void ask(struct oracle *o, struct str old, struct str diff, const char *reverse)
{
	struct str in = path_join(o->a, o->dir, S("in")), out = path_join(o->a, o->dir, S("out"));
	struct str file = path_join(o->a, o->dir, S("diff"));
	struct proc p = {.merge = true};
	struct proc_result r;
	assert_ok(fs_write(in, old, 0644 | FS_LOOSE));
	assert_ok(fs_write(file, diff, 0644 | FS_LOOSE));
	assert_ok(fs_remove(out));
	proc_arg(o->a, &p, "patch", "-s", "-f", "-F2", "-r", "-", reverse, "-o", out.p, "-i",
		file.p, in.p, NULL);
	assert_ok(proc_run(o->a, &p, &r));
	o->good = r.status == 0;
	o->text = (struct str){0};
	if (o->good)
		assert_ok(fs_read(o->a, out, 1 << 20, &o->text));
}

static void compare(struct oracle *o, struct str old, struct str diff, unsigned *there)
{
	struct diff d = parse(o->a, diff);
	struct diff_result r;
	assert_ok(diff_apply(o->a, &d.v[0], old, &r));
	ask(o, old, diff, "-N");
	if (r.fit == DIFF_THERE) {
		*there += 1;
		ask(o, old, diff, "-R");
		assert_true(o->good);
		return;
	}
	if ((r.fit == DIFF_FITS) != o->good || (o->good && !str_eq(r.text, o->text)))
		fail_msg("old:\n%.*s\ndiff:\n%.*s\ngot %d:\n%.*s\npatch %d:\n%.*s\n", STR(old),
			STR(diff), (int)r.fit, STR(r.text), o->good, STR(o->text));
}

static void it_is_applied_as_patch_does(void **state)
{
	ARENA(scratch);
	(void)state;
	if (!proc_find(&scratch, S("patch")).n)
		skip();
	struct str dir = test_dir(&scratch);
	unsigned seed = 1, there = 0, fits = 0;
	for (unsigned round = 0; round < (SANITIZED ? 100 : 600); round++) {
		ARENA(a);
		BUF(b, &a);
		struct oracle o = {.a = &a, .dir = dir};
		for (unsigned n = pick(&seed, 40); n > 0; n--)
			line(&b, &seed);
		struct str old = buf_str(&b), new = mutate(&a, old, 6, &seed);
		struct changes_diff c = {
			.old_name = S("a/x"), .new_name = S("b/x"), .old = old, .new = new};
		struct str diff = changes_diff(&a, &c);
		if (!diff.n || !old.n || !new.n)
			continue;
		compare(&o, old, diff, &there);
		compare(&o, mutate(&a, old, 10, &seed), diff, &there);
		fits += o.good;
		compare(&o, new, diff, &there);
	}
	assert_true(there > 100 || SANITIZED);
	assert_true(fits > 100 || SANITIZED);
	test_dir_remove(dir);
}

/* What patch(1) does with each, written down: where it is not installed these cases judge alone. */
static void cases_of_patch(void **state)
{
#define C7 " 1\n 2\n 3\n-x\n+X\n 4\n 5\n 6\n"
	static const struct {
		const char *hunks, *old, *text, *notes; /* text NULL: does not fit */
	} cases[] = {
		/* up to two lines of context may differ, at both ends, and only the outermost */
		{"@@ -1,7 +1,7 @@\n" C7, "a\nb\n3\nx\n4\nc\nd\n", "a\nb\n3\nX\n4\nc\nd\n",
			"hunk 1 of x fits with fuzz 2"},
		{"@@ -1,7 +1,7 @@\n" C7, "a\n2\n3\nx\n4\n5\nd\n", "a\n2\n3\nX\n4\n5\nd\n",
			"hunk 1 of x fits with fuzz 1"},
		{"@@ -1,7 +1,7 @@\n" C7, "1\n2\n3\nx\n4\n5\nd\n", "1\n2\n3\nX\n4\n5\nd\n",
			"hunk 1 of x fits with fuzz 1"},
		{"@@ -1,7 +1,7 @@\n" C7, "a\nb\nc\nx\n4\n5\n6\n", NULL, NULL},
		{"@@ -1,7 +1,7 @@\n" C7, "1\n2\n3\nx\na\n5\n6\n", NULL, NULL},
		{"@@ -1,7 +1,7 @@\n" C7, "1\n2\n3\ny\n4\n5\n6\n", NULL, NULL},
		{"@@ -1,7 +1,7 @@\n" C7, "0\n0\na\nb\n3\nx\n4\nc\nd\n",
			"0\n0\na\nb\n3\nX\n4\nc\nd\n",
			"hunk 1 of x fits 2 lines further down with fuzz 2"},
		/* less context in front, at line 1: the start of the file */
		{"@@ -1,2 +1,2 @@\n-x\n+X\n b\n", "x\nb\nc\n", "X\nb\nc\n", ""},
		{"@@ -1,2 +1,2 @@\n-x\n+X\n b\n", "a\nx\nb\n", "a\nX\nb\n",
			"hunk 1 of x fits 1 line further down with fuzz 1"},
		{"@@ -2,2 +2,2 @@\n-x\n+X\n b\n", "x\nb\nc\n", "X\nb\nc\n",
			"hunk 1 of x fits 1 line further up"},
		{"@@ -1,3 +1,3 @@\n-x\n+X\n b\n c\n", "a\na\nx\nb\nc\n", "a\na\nX\nb\nc\n",
			"hunk 1 of x fits 2 lines further down with fuzz 2"},
		/* less behind: its end */
		{"@@ -2,2 +2,2 @@\n b\n-x\n+X\n", "a\nb\nx\n", "a\nb\nX\n", ""},
		{"@@ -2,2 +2,2 @@\n b\n-x\n+X\n", "a\nb\nx\nc\n", "a\nb\nX\nc\n",
			"hunk 1 of x fits with fuzz 1"},
		{"@@ -1,2 +1,2 @@\n b\n-x\n+X\n", "a\na\nb\nx\n", "a\na\nb\nX\n",
			"hunk 1 of x fits 2 lines further down"},
		/* no context: anywhere */
		{"@@ -1 +1 @@\n-x\n+X\n", "a\nx\nb\n", "a\nX\nb\n",
			"hunk 1 of x fits 1 line further down"},
		{"@@ -9 +9 @@\n-x\n+X\n", "a\nx\nb\n", "a\nX\nb\n",
			"hunk 1 of x fits 7 lines further up"},
		/* the nearest place, down before up, counted from where the hunk before has moved it */
		{"@@ -3 +3 @@\n-x\n+X\n", "0\nx\n0\nx\n0\n", "0\nx\n0\nX\n0\n",
			"hunk 1 of x fits 1 line further down"},
		{"@@ -3 +3 @@\n-x\n+X\n", "x\n0\n0\n0\n0\nx\n", "X\n0\n0\n0\n0\nx\n",
			"hunk 1 of x fits 2 lines further up"},
		{"@@ -1 +1 @@\n-h\n+H\n@@ -5 +5 @@\n-x\n+X\n", "0\n0\nh\n0\n0\n0\nx\n0\n0\nx\n",
			"0\n0\nH\n0\n0\n0\nX\n0\n0\nx\n",
			"hunk 1 of x fits 2 lines further down|hunk 2 of x fits 2 lines further "
			"down"},
		{"@@ -3 +3 @@\n-h\n+H\n@@ -7 +7 @@\n-x\n+X\n", "h\n0\n0\nx\nx\n0\n0\n0\nx\nx\n",
			"H\n0\n0\nx\nX\n0\n0\n0\nx\nx\n",
			"hunk 1 of x fits 2 lines further up|hunk 2 of x fits 2 lines further up"},
		{"@@ -1 +1 @@\n-h\n+H\n@@ -4 +4 @@\n-x\n+X\n", "0\nh\n0\nx\n0\n0\n",
			"0\nH\n0\nX\n0\n0\n", "hunk 1 of x fits 1 line further down"},
		/* hunks keep their order, and share no line */
		{"@@ -2 +2 @@\n-h\n+H\n@@ -3 +3 @@\n-x\n+X\n", "x\nh\n0\n0\n", NULL, NULL},
		{"@@ -1,2 +1,2 @@\n-h\n+H\n m\n@@ -3,2 +3,2 @@\n m\n-x\n+X\n", "h\nm\nx\n",
			"H\nm\nX\n", "hunk 2 of x fits 1 line further up"},
		/* the whole file */
		{"@@ -1,2 +1,2 @@\n-a\n-b\n+A\n+B\n", "a\nb\n", "A\nB\n", ""},
		{"@@ -1 +0,0 @@\n-a\n", "a\n", "", ""},
		/* a missing newline is part of the line */
		{"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb", "a\nb\n",
			""},
		{"@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb\n", "a\nb",
			""},
		{"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n", "a\nb\n", NULL,
			NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct str diff = str_fmt(&a, HEAD "%s", cases[i].hunks);
		struct diff_result r = apply(&a, diff.p, cases[i].old);
		struct str notes = str_join(&a, &r.notes, S("|"));
		if ((r.fit == DIFF_FITS) != !!cases[i].text ||
			(cases[i].text && (!str_eq(r.text, str_from(cases[i].text)) ||
						  !str_eq(notes, str_from(cases[i].notes)))))
			fail_msg("%zu: %d\n%.*s%.*s\n", i, (int)r.fit, STR(r.text), STR(notes));
		struct str dir = test_dir(&a);
		struct oracle o = {.a = &a, .dir = dir};
		if (proc_find(&a, S("patch")).n) {
			ask(&o, str_from(cases[i].old), diff, "-N");
			if (o.good != !!cases[i].text ||
				(o.good && !str_eq(o.text, str_from(cases[i].text))))
				fail_msg("patch %zu: %d %.*s\n", i, o.good, STR(o.text));
		}
		test_dir_remove(dir);
	}
}

/* ---- patches of others ---- */

static struct err *patch_of(struct arena *a, const char *text, struct diff *ret)
{
	return diff_parse(a, str_from(text), S("x.patch"), DIFF_PATCH, ret);
}

#define GIT "diff --git a/x b/x\n"
#define PART "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
#define ADDED "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+b\n"

static void what_stands_before_the_files_of_a_patch(void **state)
{
	static const struct {
		const char *text, *says; /* NULL: it is read */
		unsigned files;
		bool executable; /* the last one */
	} cases[] = {
		{"", NULL, 0, false},
		{"Only words.\nrename from a\nold mode 1\n@@ -1 +1 @@\n--- a/x\nno file\n", NULL, 0,
			false},
		{"words\n" PART "words\n" PART, NULL, 2, false},
		{GIT "index 1..2\n" PART, NULL, 1, false},
		{GIT "rename from a\n", "patches that rename, change modes or are binary are not",
			0, false},
		{GIT "copy from a\n", "not supported", 0, false},
		{GIT "old mode 100644\n", "not supported", 0, false},
		{GIT "new mode 100755\n", "not supported", 0, false},
		{GIT "GIT binary patch\n", "not supported", 0, false},
		{GIT "Binary files a and b differ\n", "not supported", 0, false},
		{GIT "@@ -1 +1 @@\n", "not supported", 0, false},
		{GIT PART "rename from a\n" PART, NULL, 2, false}, /* words again */
		{GIT "deleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", NULL,
			1, false},
		{GIT "new file mode 100755\n" ADDED, NULL, 1, true},
		{GIT "new file mode 100644\n" ADDED, NULL, 1, false},
		{GIT "new file mode 100755\n" GIT ADDED, NULL, 1, false},
		{GIT "new file mode 100755\n" ADDED ADDED, NULL, 2, false},
		{GIT "new file mode 100755\n" PART, NULL, 1, false}, /* it is not new */
		{"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
			"patches that rename files are not supported", 0, false},
		{"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
			"a recipe does not remove files", 0, false},
		{"--- a/.\n+++ b/.\n@@ -1 +1 @@\n-a\n+b\n", "a path below 'a/' or 'b/'", 0, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct diff d;
		struct err *e = patch_of(&a, cases[i].text, &d);
		if (cases[i].says) {
			assert_err_says(e, E_SYNTAX, cases[i].says);
			continue;
		}
		assert_ok(e);
		assert_int_equal(d.n, cases[i].files);
		if (d.n)
			assert_int_equal(d.v[d.n - 1].executable, cases[i].executable);
	}
	ARENA(a);
	struct diff d;
	assert_ok(patch_of(&a, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", &d));
	assert_true(d.v[0].removes && !d.v[0].adds);
	assert_str(d.v[0].path, "x");
	struct diff_result r;
	assert_ok(diff_apply(&a, &d.v[0], S("a\n"), &r));
	assert_true(r.fit == DIFF_FITS && !r.text.n);
	assert_ok(diff_apply(&a, &d.v[0], S("a\nmore\n"), &r));
	assert_int_equal(r.fit, DIFF_NOT);
	assert_str(str_join(&a, &r.notes, S("|")), "x has more than is removed");
}

/* Where in the text, and what numbers may be. */
static void numbers_and_sizes_have_limits(void **state)
{
	static const struct {
		const char *range;
		bool good;
	} cases[] = {{"1", true}, {"1048576", true}, {"1048577", false}, {"1,1", true},
		{"1,", false}, {"", false}, {"x", false}, {"1,x", false}, {"1,1048577", false}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct diff d;
		struct str text = str_fmt(&a, "\n\n" HEAD "@@ -%s +1 @@\n-a\n+b\n", cases[i].range);
		struct err *e = patch_of(&a, text.p, &d);
		assert_int_equal(!e, cases[i].good);
		if (e) {
			assert_int_equal(e->line, 5);
			assert_int_equal(e->col, 1);
			assert_string_equal(e->path, "x.patch");
			assert_string_equal(
				e->msg, "a hunk begins with '@@ -LINE,COUNT +LINE,COUNT @@'");
		}
		err_free(e);
	}
	ARENA(a);
	for (unsigned kind = 0; kind < 2; kind++) {
		size_t most = kind ? 64 << 20 : 1 << 20;
		char *p = arena_raw(&a, most + 1);
		struct diff d;
		memset(p, '\n', most + 1);
		struct str text = {p, most + 1};
		assert_err_says(diff_parse(&a, text, S("x"), (enum diff_kind)kind, &d), E_LIMIT,
			kind ? "the diff in 'x' is larger than 64 MiB"
			     : "the diff in 'x' is larger than 1 MiB");
		if (kind)
			break; /* reading that many lines takes its time */
		memcpy(p, HEAD "@@ -1 +1 @@\n-a\n+b\n", strlen(HEAD "@@ -1 +1 @@\n-a\n+b\n"));
		text.n--;
		assert_ok(diff_parse(&a, text, S("x"), DIFF_RECIPE, &d));
	}
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
	const struct CMUnitTest tests[] = {
		T(what_is_no_diff_is_an_error),
		T(descriptions_and_gits_words_are_passed_over),
		T(a_hunk_that_moved_is_found_and_told),
		T(fuzz_keeps_the_context_of_the_file),
		T(nothing_is_applied_twice_or_partly),
		T(files_are_added_once),
		T(an_insertion_into_nothing_fits_where_it_says),
		T(looking_has_an_end),
		T(it_is_applied_as_patch_does),
		T(cases_of_patch),
		T(what_stands_before_the_files_of_a_patch),
		T(numbers_and_sizes_have_limits),
		T(all_is_said_as_recorded),
	};
	said_begin("diff");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
