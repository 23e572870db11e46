/* Regular expressions: what they match, as POSIX says it, compared with regexec() of the C library. */
#include <regex.h>

#include "base/buf.h"
#include "know/automaton.h"
#include "test.h"

static const struct {
	const char *text, *line;
	int from, to, group_from, group_to; /* from -1: it does not match */
} rows[] = {
	{"b", "abc", 1, 2, 0, 0},
	{"", "abc", 0, 0, 0, 0},
	{"x*", "abc", 0, 0, 0, 0},
	{"b|abcd|ab", "xabcde", 1, 5, 0, 0}, /* the leftmost, and of those the longest */
	{"(a|ab)(c|bcd)", "abcd", 0, 4, 0, 1},
	{"^b", "ab", -1, 0, 0, 0},
	{"(^| )b", "a b", 1, 3, 1, 2},
	{"b($|,)", "ab", 1, 2, 2, 2},
	{"a$b", "a$b", -1, 0, 0, 0},
	{"a\\$b", "a$b", 0, 3, 0, 0},
	{"[]a]+", "xa]a", 1, 4, 0, 0},
	{"[^]a]", "a]b", 2, 3, 0, 0},
	{"[a\\]+", "a\\\\b", 0, 3, 0, 0},
	{"[0-9-]+", "x1-2", 1, 4, 0, 0},
	{"a{2}", "aaa", 0, 2, 0, 0},
	{"a{2,}", "baaa", 1, 4, 0, 0},
	{"a{,2}", "", -2, 0, 0, 0},
	{"a{1,2}b", "aaab", 1, 4, 0, 0},
	{"(ab){2,3}c", "ababababc", 2, 9, 6, 8},
	{"(a*)*b", "aab", 0, 3, 0, 0},
	{"(x|){3}y", "xxy", 0, 3, 0, 0},
	{"a+?", "", 0, 0, 0, 0},
	{"\\bis\\b", "this is", 5, 7, 0, 0},
	{"\\bis", "this", -1, 0, 0, 0},
	{".", "\n", 0, 1, 0, 0},
	{"'([^']*)' not$", "no 'x.h' not", 3, 12, 4, 7},
	{"-l(.*)", "find -lhip", 5, 10, 7, 10},
	{"\xe2\x80\x94$", "a \xe2\x80\x94", 2, 5, 0, 0},
	/* no expressions */
	{"a(", "", -2, 0, 0, 0},
	{"a)", "", -2, 0, 0, 0},
	{"*a", "", -2, 0, 0, 0},
	{"[a", "", -2, 0, 0, 0},
	{"a\\", "", -2, 0, 0, 0},
	{"(a)\\1", "", -2, 0, 0, 0},
	{"[[:digit:]]", "", -2, 0, 0, 0},
	{"a{3,2}", "", -2, 0, 0, 0},
	{"a{99999}", "", -2, 0, 0, 0},
	{"((a{100}){100}){100}", "", -2, 0, 0, 0},
};

static void the_leftmost_longest_match_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ARENA(a);
		struct automaton *m = automaton_new(&a, str_from(rows[i].text));
		struct span at[2];
		if (!m != (rows[i].from == -2))
			fail_msg("'%s' is an expression, or is none", rows[i].text);
		if (!m)
			continue;
		bool fits = automaton_fits(m, str_from(rows[i].line), at);
		assert_int_equal(fits, automaton_fits(m, str_from(rows[i].line), NULL));
		if (fits != (rows[i].from >= 0))
			fail_msg("'%s' in '%s'", rows[i].text, rows[i].line);
		if (fits && (at[0].from != (size_t)rows[i].from || at[0].to != (size_t)rows[i].to))
			fail_msg("'%s' in '%s': %zu to %zu", rows[i].text, rows[i].line, at[0].from,
				at[0].to);
		bool group = rows[i].group_to > 0;
		if (group && (at[1].from != (size_t)rows[i].group_from ||
				     at[1].to != (size_t)rows[i].group_to))
			fail_msg("'%s' in '%s': group %zu to %zu", rows[i].text, rows[i].line,
				at[1].from, at[1].to);
	}
}

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245U + 12345U;
	return *seed >> 16;
}

static void add_random(struct buf *b, unsigned *seed, int depth)
{
	static const char *const atoms[] = {"a", "b", "ab", ".", "[ab]", "[^a]", " ", "a."};
	static const char *const repetitions[] = {"", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}"};
	for (unsigned i = 0, n = 1 + next(seed) % 3; i < n; i++) {
		unsigned kind = next(seed) % 4;
		if (kind == 0 && depth < 3) {
			buf_char(b, '(');
			add_random(b, seed, depth + 1);
			buf_char(b, '|');
			add_random(b, seed, depth + 1);
			buf_char(b, ')');
		} else {
			buf_add(b, str_from(atoms[next(seed) % 8]));
		}
		buf_add(b, str_from(repetitions[next(seed) % 8]));
	}
}

/* Random expressions in random lines: whether and where they match. glibc 2.36 errs if a group with an anchor is repeated. */
static void the_c_library_finds_the_same(void **state)
{
	(void)state;
	ARENA(a);
	unsigned seed = 7, fits = 0;
	for (int i = 0; i < 3000; i++) {
		BUF(b, &a);
		buf_add(&b, i % 5 ? S("") : S("^"));
		add_random(&b, &seed, 0);
		buf_add(&b, i % 7 ? S("") : S("$"));
		regex_t re;
		char *text = str_z(&a, buf_str(&b));
		assert_int_equal(regcomp(&re, text, REG_EXTENDED), 0);
		ARENA(tmp);
		struct automaton *m = automaton_new(&tmp, str_from(text));
		assert_non_null(m);
		for (int k = 0; k < 20; k++) {
			char line[12] = {0};
			for (unsigned n = 0, most = next(&seed) % 11; n < most; n++)
				line[n] = "aabb ."[next(&seed) % 6];
			regmatch_t want[1];
			struct span at[2] = {{0, 0}, {0, 0}};
			bool is = regexec(&re, line, 1, want, 0) == 0;
			if (is != automaton_fits(m, str_from(line), at) ||
				(is && ((size_t)want->rm_so != at[0].from ||
					       (size_t)want->rm_eo != at[0].to)))
				fail_msg("'%s' in '%s': %d, %zu to %zu", text, line, is, at[0].from,
					at[0].to);
			fits += is;
		}
		regfree(&re);
	}
	assert_true(fits > 10000);
}

/* More states than are kept: which of the last 40 bytes were 'a'. */
static void states_that_were_dropped_are_made_again(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	unsigned seed = 1;
	for (int i = 0; i < 100000; i++)
		buf_char(&b, next(&seed) % 2 ? 'a' : 'b');
	struct automaton *m = automaton_new(&a, S("a.{39}c"));
	uint64_t before = automaton_steps();
	assert_false(automaton_fits(m, buf_str(&b), NULL));
	assert_true(automaton_steps() - before < 100 * b.n);
	b.p[b.n - 41] = 'a';
	b.p[b.n - 1] = 'c';
	struct span at[2];
	assert_true(automaton_fits(m, buf_str(&b), at));
	assert_int_equal(at[0].from, b.n - 41);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_leftmost_longest_match_is_found),
		cmocka_unit_test(the_c_library_finds_the_same),
		cmocka_unit_test(states_that_were_dropped_are_made_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
