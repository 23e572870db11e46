/* All that was said while the tests of a program ran, word for word, against tests/data/said/NAME.txt: whatever a
 * table of cases does not ask for is seen all the same. With ROCSMITH_BLESS=1 the file is written anew; read the diff. */
#pragma once

#include "formats/finding.h"
#include "unit/test.h"

static struct buf said_all; /* in an arena that lives as long as the program */

static inline struct buf *said(void)
{
	static struct arena a;
	said_all.a = &a;
	return &said_all;
}

/* "e zip-gap PATH: message" and its fixes, a line each; dir is left out of them. */
static inline void said_findings(struct str dir, const struct findings *list)
{
	ARENA(a);
	VEC_EACH (const struct finding, f, list) {
		struct str fixes = str_join(&a, &f->fix, S("\n  "));
		struct str text = str_fmt(&a, "%c %s %.*s: %.*s%s%.*s\n", "iwe"[f->severity],
			f -> id, STR(f->path), STR(f->message), fixes.n ? "\n  " : "", STR(fixes));
		buf_add(said(), dir.n ? str_replace(&a, text, dir, S("DIR")) : text);
	}
}

/* Every error that a test asserts comes here, too; folders of test_dir() are left out. */
static inline void said_err(const struct err *e)
{
	const struct str mark = S("/rocsmith-");
	for (; e; e = e->cause) {
		ARENA(a);
		struct str text = str_from(e->msg);
		for (size_t at; (at = str_find(text, mark)) < text.n;) {
			size_t from = str_rchr(str_sub(text, 0, at), '\'') + 1,
			       to = at + mark.n + 6;
			text = str_fmt(&a, "%.*sDIR%.*s", STR(str_sub(text, 0, from)),
				STR(str_sub(text, to, text.n)));
		}
		buf_fmt(said(), "%s %s:%u:%u: %.*s\n", err_id(e->code), e->path ? e->path : "",
			e->line, e->col, STR(text));
	}
}

static const char *said_file;

/* Called by main() before the tests. */
static inline void said_begin(const char *name)
{
	said_file = name;
	test_sees_err = said_err;
}

/* The last test of a program. */
static inline void all_is_said_as_recorded(void **state)
{
	ARENA(a);
	(void)state;
	struct str path = str_fmt(&a, "tests/data/said/%s.txt", said_file), want = S("");
	struct str got = buf_str(said()), x = S(""), y = S("");
	if (getenv("ROCSMITH_BLESS"))
		assert_ok(fs_write(path, got, 0644));
	assert_ok(fs_read(&a, path, 1 << 24, &want));
	if (str_eq(got, want))
		return;
	unsigned line = 0;
	for (bool more = true; more && str_eq(x, y); line++) {
		more = str_next(&got, '\n', &x);
		more = str_next(&want, '\n', &y) || more;
	}
	fail_msg("%.*s:%u:\ngot  %.*s\nwant %.*s", STR(path), line, STR(x), STR(y));
}
