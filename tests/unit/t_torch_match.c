/* Key matching against the words of its contract: cases that state the rules one by one, and a
 * plain search over random tables and texts that must agree everywhere. */
#include "test.h"

#include "base/buf.h"
#include "hipify/torch/text/passes.h"
#include "lang/python/word.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static void add(struct arena *a, struct torch_map *m, struct str from, struct str to)
{
	*VEC_PUSH(a, m) = (struct torch_entry){.from = from, .to = to};
}

/* Every hit as "[key]" in its place. */
static struct str marked(struct arena *a, const struct torch_matcher *m, struct str text)
{
	BUF(b, a);
	struct torch_hit hit = {0};
	size_t done = 0;
	for (; torch_find(m, text, done, &hit); done = hit.to) {
		buf_add(&b, str_sub(text, done, hit.from));
		buf_fmt(&b, "[%.*s]", STR(hit.entry->from));
	}
	buf_add(&b, str_sub(text, done, text.n));
	return buf_str(&b);
}

static struct torch_matcher *sample(struct arena *a, bool words)
{
	static const char *const keys[] = {"cuda", "cudaMalloc", "cudaMallocAsync",
		"cub::", "cub::Max", "<nccl.h>", "CUDA=1", "name ", "x", "ab", "\316\261beta"};
	struct torch_map m = {0};
	for (size_t i = 0; i < COUNT(keys); i++)
		add(a, &m, str_from(keys[i]), S("hip"));
	return torch_matcher_new(a, &m, words);
}

static void borders_are_characters_that_are_no_words(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"cudaMalloc ", "cudaMalloc "},
		{" cudaMalloc", " cudaMalloc"},
		{" cudaMalloc ", " [cudaMalloc] "},
		{"\ncudaMalloc\n", "\n[cudaMalloc]\n"},
		{"_cudaMalloc ", "_cudaMalloc "},
		{" cudaMalloc_ ", " cudaMalloc_ "},
		{" 1cudaMalloc ", " 1cudaMalloc "},
		{" \316\261cudaMalloc ", " \316\261cudaMalloc "},
		{" cudaMalloc\xc3\xa9 ", " cudaMalloc\xc3\xa9 "},
		{" cudaMalloc\xc2\xb2 ", " cudaMalloc\xc2\xb2 "},
		{" cudaMalloc\xcc\x81 ", " [cudaMalloc]\xcc\x81 "},
		{"\357\273\277cudaMalloc ", "\xef\xbb\xbf[cudaMalloc] "},
		{" \316\261beta ", " [\316\261beta] "},
		{" x,x x;ab.", " [x],[x] [x];[ab]."},
		{"", ""},
		{" ", " "},
	};
	ARENA(a);
	struct torch_matcher *m = sample(&a, true);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_str(marked(&a, m, str_from(cases[i][0])), cases[i][1]);
}

static void the_longest_key_that_has_its_border_wins(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{" cudaMallocAsync(", " [cudaMallocAsync]("},
		{" cudaMallocAsyn(", " cudaMallocAsyn("},
		{" cub::Max ", " [cub::Max] "},
		{" cub::Maxx ", " cub::Maxx "},
		{" cub:: x", " [cub::] x"},
		{" cub::(", " [cub::]("},
		{" name  x;", " [name ] [x];"},
		{" name x;", " name [x];"},
		{" cuda=cuda ", " [cuda]=[cuda] "},
		{" CUDA=1 CUDA=12 ", " [CUDA=1] CUDA=12 "},
		{"#include <nccl.h>\n", "#include [<nccl.h>]\n"},
		{"#include<nccl.h>\n", "#include<nccl.h>\n"},
	};
	ARENA(a);
	struct torch_matcher *m = sample(&a, true);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_str(marked(&a, m, str_from(cases[i][0])), cases[i][1]);
}

static void without_borders_keys_match_inside_words(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"cudaMalloc", "[cudaMalloc]"},
		{"mycudaMallocAsyn", "my[cudaMalloc]Asyn"},
		{"xxab", "[x][x][ab]"},
		{"cudcuda", "cud[cuda]"},
		{"cub:cub::Ma", "cub:[cub::]Ma"},
		{"", ""},
	};
	ARENA(a);
	struct torch_matcher *m = sample(&a, false);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_str(marked(&a, m, str_from(cases[i][0])), cases[i][1]);
}

static void empty_tables_and_keys_match_nothing(void **state)
{
	(void)state;
	ARENA(a);
	struct torch_map m = {0};
	struct torch_hit hit;
	assert_false(torch_find(torch_matcher_new(&a, &m, false), S(" some text "), 0, &hit));
	add(&a, &m, S(""), S("x"));
	assert_false(torch_find(torch_matcher_new(&a, &m, true), S(" some text "), 0, &hit));
}

static void of_equal_keys_the_last_counts(void **state)
{
	(void)state;
	ARENA(a);
	struct torch_map m = {0};
	add(&a, &m, S("key"), S("first"));
	add(&a, &m, S("other"), S("x"));
	add(&a, &m, S("key"), S("last"));
	struct torch_hit hit;
	assert_true(torch_find(torch_matcher_new(&a, &m, false), S("key"), 0, &hit));
	assert_str(hit.entry->to, "last");
}

/* ---- random tables and texts ---- */
static unsigned long long seed = 88172645463325252ull;

static size_t random_below(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed % n);
}

static struct str random_text(struct arena *a, size_t pieces)
{
	static const char *const alphabet[] = {"a", "a", "b", "b", "c", ":", ":", " ", "\n", "_",
		"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9d\x90\x80", "1"};
	BUF(b, a);
	while (pieces-- > 0)
		buf_add(&b, str_from(alphabet[random_below(COUNT(alphabet))]));
	return buf_str(&b);
}

/* The rule as it is written: for each place, all keys. */
static bool plain_find(
	const struct torch_map *m, struct str text, size_t at, bool words, struct torch_hit *ret)
{
	for (; at < text.n; at++) {
		ret->entry = NULL;
		VEC_EACH (const struct torch_entry, e, m) {
			struct str rest = str_sub(text, at, text.n);
			size_t end = at + e->from.n;
			if (!e->from.n || !str_starts(rest, e->from))
				continue;
			if (words && (!py_word_starts(text, at) || !py_word_ends(text, end)))
				continue;
			if (!ret->entry || end >= ret->to)
				*ret = (struct torch_hit){.from = at, .to = end, .entry = e};
		}
		if (ret->entry)
			return true;
	}
	return false;
}

static void compare(struct arena *a, const struct torch_map *map, struct str text, bool words)
{
	const struct torch_matcher *m = torch_matcher_new(a, map, words);
	struct torch_hit got = {0}, want = {0};
	size_t at = 0;
	while (plain_find(map, text, at, words, &want)) {
		assert_true(torch_find(m, text, at, &got));
		assert_int_equal(got.from, want.from);
		assert_int_equal(got.to, want.to);
		assert_ptr_equal(got.entry, want.entry);
		at = want.to;
	}
	assert_false(torch_find(m, text, at, &got));
}

static void it_agrees_with_the_plain_search(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		ARENA(a);
		struct torch_map map = {0};
		size_t longest = 1 + random_below(9);
		for (size_t i = random_below(30); i > 0; i--)
			add(&a, &map, random_text(&a, random_below(longest + 1)), S("x"));
		struct str text = random_text(&a, random_below(200));
		compare(&a, &map, text, true);
		compare(&a, &map, text, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(borders_are_characters_that_are_no_words),
		cmocka_unit_test(the_longest_key_that_has_its_border_wins),
		cmocka_unit_test(without_borders_keys_match_inside_words),
		cmocka_unit_test(empty_tables_and_keys_match_nothing),
		cmocka_unit_test(of_equal_keys_the_last_counts),
		cmocka_unit_test(it_agrees_with_the_plain_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
