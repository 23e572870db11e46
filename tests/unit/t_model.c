/* The basic structures against models that are too simple to be wrong: arrays that are searched
 * from end to end, characters compared one by one, a stack of path names. The inputs come from a
 * small generator with a fixed seed, over alphabets so narrow that matches, collisions and edge
 * cases are frequent. */
#include <errno.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "test.h"

static uint64_t seed;

/* Marsaglia's xorshift64. */
static unsigned roll(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static int begin(void **state)
{
	(void)state;
	seed = 0x9e3779b97f4a7c15;
	return 0;
}

/* Up to max letters of an alphabet, in a copy that ends where the view ends: ASan sees overruns. */
static struct str word(struct arena *a, struct str alphabet, unsigned max)
{
	size_t n = roll(max + 1);
	char *p = arena_alloc(a, n + 1);
	for (size_t i = 0; i < n; i++)
		p[i] = alphabet.p[roll((unsigned)alphabet.n)];
	return (struct str){.p = p, .n = n};
}

static bool same_bytes(struct str x, struct str y)
{
	bool same = x.n == y.n;
	for (size_t i = 0; same && i < x.n; i++)
		same = x.p[i] == y.p[i];
	return same;
}

/* ---- maps ---- */

struct pair {
	struct str key;
	int *value;
};

static struct pair *pair_of(struct pair *v, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (same_bytes(v[i].key, key))
			return &v[i];
	return NULL;
}

static void a_map_is_a_list_of_pairs(void **state)
{
	(void)state;
	enum { STEPS = 3000 };
	ARENA(a);
	MAP(m, &a);
	static int numbers[STEPS];
	struct pair *model = arena_array(&a, STEPS, sizeof(*model));
	size_t n = 0;
	for (size_t i = 0; i < STEPS; i++) {
		struct str key = word(&a, (struct str){.p = "ab\0\xff", .n = 4}, 6);
		struct pair *p = pair_of(model, n, key);
		assert_ptr_equal(map_get(&m, key), p ? p->value : NULL);
		assert_int_equal(map_put(&m, key, &numbers[i]), !p);
		if (!p)
			p = &model[n++];
		*p = (struct pair){.key = key, .value = &numbers[i]};
	}
	assert_int_equal(m.n, n);
	assert_true(n > 500);
	for (size_t i = 0; i < n; i++) {
		assert_true(same_bytes(m.v[i].key, model[i].key));
		assert_ptr_equal(m.v[i].value, model[i].value);
	}
}

static void a_null_value_is_a_value(void **state)
{
	(void)state;
	ARENA(a);
	MAP(m, &a);
	assert_true(map_put(&m, S("x"), NULL));
	assert_false(map_put(&m, S("x"), &a));
	assert_ptr_equal(map_get(&m, S("x")), &a);
	assert_false(map_put(&m, S("x"), NULL));
	assert_null(map_get(&m, S("x")));
	assert_int_equal(m.n, 1);
}

/* ---- memory ---- */

struct piece {
	unsigned char *p;
	size_t n;
	unsigned char mark;
};

static void fill(struct piece *p, size_t from, bool grown)
{
	for (size_t i = from; i < p->n; i++) {
		assert_true(grown || p->p[i] == 0); /* new memory is zeroed */
		p->p[i] = p->mark;
	}
}

static void check_pieces(const struct piece *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].n; k++)
			assert_int_equal(v[i].p[k], v[i].mark);
}

/* Takes or grows a piece; pieces that share a byte would spoil each other's marks. */
static void take_or_grow(struct arena *a, struct piece *v, size_t *n, size_t floor)
{
	bool grow = *n > floor && roll(2);
	struct piece *p = grow ? &v[floor + roll((unsigned)(*n - floor))] : &v[(*n)++];
	size_t old = grow ? p->n : 0, size = old + roll(roll(10) ? 60 : 40000);
	p->p = grow ? arena_grow(a, p->p, old, size) : arena_alloc(a, size);
	p->n = size;
	if (!grow)
		p->mark = (unsigned char)(1 + roll(255));
	assert_int_equal((uintptr_t)p->p % 16, 0);
	fill(p, old, grow);
}

static void pieces_of_an_arena_never_overlap(void **state)
{
	(void)state;
	enum { ROUNDS = 40, PIECES = 64 };
	ARENA(a);
	struct piece v[2 * PIECES] = {0};
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t n = 0, kept;
		for (unsigned i = 0; i < PIECES; i++)
			take_or_grow(&a, v, &n, 0);
		kept = n;
		struct arena_mark m = arena_mark(&a);
		for (unsigned i = 0; i < PIECES; i++)
			take_or_grow(&a, v, &n, kept);
		check_pieces(v, n);
		arena_rewind(&a, m);
		check_pieces(v, kept);
		/* What was given back comes again, zeroed. */
		n = kept;
		for (unsigned i = 0; i < PIECES / 2; i++)
			take_or_grow(&a, v, &n, kept);
		check_pieces(v, n);
		if (round % 8 == 7)
			arena_free(&a);
	}
}

static void a_builder_is_one_long_string(void **state)
{
	(void)state;
	enum { CAP = 1 << 20 };
	ARENA(a);
	BUF(b, &a);
	char *model = arena_alloc(&a, CAP);
	size_t n = 0;
	for (unsigned i = 0; i < 4000; i++) {
		struct str s = word(&a, (struct str){.p = "xyz%\0", .n = 5}, 40);
		unsigned what = roll(4), number = roll(1000);
		if (what == 0) {
			buf_char(&b, '%');
			model[n++] = '%';
		} else if (what == 1) {
			n += (size_t)snprintf(model + n, CAP - n, "%u-%04x|", number, number);
			buf_fmt(&b, "%u-%04x|", number, number);
		} else if (what == 2) {
			memcpy(buf_space(&b, s.n), s.p, s.n);
			memcpy(model + n, s.p, s.n);
			n += s.n;
		} else {
			buf_add(&b, s);
			memcpy(model + n, s.p, s.n);
			n += s.n;
		}
		assert_int_equal(b.n, n);
		assert_int_equal(buf_str(&b).p[n], 0);
	}
	assert_memory_equal(b.p, model, n);
}

/* ---- strings ---- */

static size_t naive_find(struct str s, struct str needle)
{
	for (size_t i = 0; i + needle.n <= s.n; i++)
		if (same_bytes(str_sub(s, i, i + needle.n), needle))
			return i;
	return s.n;
}

static void searching_finds_the_first_place(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		ARENA(a);
		struct str s = word(&a, (struct str){.p = "ab\0", .n = 3}, 12);
		struct str needle = word(&a, (struct str){.p = "ab\0", .n = 3}, 4);
		size_t at = naive_find(s, needle), last = s.n;
		assert_int_equal(str_find(s, needle), at);
		assert_int_equal(str_contains(s, needle), at < s.n || (needle.n == 0 && at == s.n));
		assert_int_equal(str_starts(s, needle),
			needle.n <= s.n && same_bytes(str_sub(s, 0, needle.n), needle));
		assert_int_equal(str_ends(s, needle),
			needle.n <= s.n && same_bytes(str_sub(s, s.n - needle.n, s.n), needle));
		for (size_t k = 0; k < s.n; k++)
			last = s.p[k] == 'a' ? k : last;
		assert_int_equal(str_rchr(s, 'a'), last);
		assert_int_equal(str_chr(s, 'a'), naive_find(s, S("a")));
	}
}

static int naive_order(struct str x, struct str y)
{
	for (size_t i = 0; i < x.n && i < y.n; i++)
		if (x.p[i] != y.p[i])
			return (unsigned char)x.p[i] < (unsigned char)y.p[i] ? -1 : 1;
	return (x.n > y.n) - (x.n < y.n);
}

static void sorting_gives_the_order_of_bytes(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 30; round++) {
		ARENA(a);
		struct strs list = {0};
		unsigned n = roll(120);
		for (unsigned i = 0; i < n; i++)
			strs_add(
				&a, &list, word(&a, (struct str){.p = "a\x7f\x80\xff", .n = 4}, 5));
		struct str probe = n ? list.v[roll(n)] : S("");
		strs_sort(&list);
		assert_int_equal(list.n, n);
		for (unsigned i = 1; i < n; i++)
			assert_true(naive_order(list.v[i - 1], list.v[i]) <= 0);
		assert_int_equal(strs_has(&list, probe), n > 0);
		for (unsigned i = 0; i < n; i++) {
			struct str other = list.v[roll(n)];
			int sign = str_cmp(probe, other);
			assert_int_equal((sign > 0) - (sign < 0), naive_order(probe, other));
		}
	}
}

static void pieces_put_together_are_the_whole(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		ARENA(a);
		BUF(b, &a);
		struct str text = word(&a, S("x,y"), 12), rest = text, piece, key, value;
		size_t pieces = 0, commas = 0;
		while (str_next(&rest, ',', &piece)) {
			buf_fmt(&b, "%s%.*s", pieces++ ? "," : "", STR(piece));
			assert_int_equal(str_chr(piece, ','), piece.n);
		}
		for (size_t k = 0; k < text.n; k++)
			commas += text.p[k] == ',';
		/* One separator at the very end begins no further piece. */
		bool open = text.n && text.p[text.n - 1] == ',';
		assert_int_equal(pieces, text.n ? commas + !open : 0);
		assert_true(same_bytes(buf_str(&b), str_sub(text, 0, text.n - open)));
		bool cut = str_cut(text, ',', &key, &value);
		assert_int_equal(cut, commas > 0);
		assert_true(same_bytes(
			cut ? str_fmt(&a, "%.*s,%.*s", STR(key), STR(value)) : key, text));
	}
}

static void numbers_are_those_of_strtoull(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		ARENA(a);
		unsigned base = roll(2) ? 10 : 16;
		struct str s = word(&a, base == 10 ? S("0189") : S("0fF9a"), roll(4) ? 6 : 24);
		uint64_t got = 0;
		char *end;
		errno = 0;
		unsigned long long want = strtoull(s.p, &end, (int)base);
		bool good = s.n && *end == 0 && errno == 0;
		assert_int_equal(str_u64(s, base, &got), good);
		assert_true(!good || got == want);
	}
}

static void other_characters_are_no_numbers(void **state)
{
	(void)state;
	static const char *const texts[] = {"", " 1", "1 ", "+1", "-1", "0x1", "1e3", "1.0", "1_0",
		"\xd9\xa1", "18446744073709551616", "99999999999999999999999999", "a"};
	uint64_t n;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_false(str_u64(str_from(texts[i]), 10, &n));
	assert_false(str_u64(S("10000000000000000"), 16, &n));
	assert_false(str_u64(S("g"), 16, &n));
	assert_true(str_u64(S("18446744073709551615"), 10, &n) && n == UINT64_MAX);
	assert_true(str_u64(S("0000000000000000000000001"), 10, &n) && n == 1);
	assert_true(str_u64(S("0ffffffffffffffff"), 16, &n) && n == UINT64_MAX);
}

/* ---- paths ---- */

/* Names on a stack; ".." above the start stays for relative paths and vanishes for absolute ones */
static struct str naive_clean(struct arena *a, struct str path)
{
	struct strs stack = {0};
	bool absolute = str_starts(path, S("/"));
	struct str rest = path, name;
	while (str_next(&rest, '/', &name)) {
		bool up = str_eq(name, S(".."));
		if (!name.n || str_eq(name, S(".")))
			continue;
		if (!up || (!absolute && (!stack.n || str_eq(stack.v[stack.n - 1], S("..")))))
			strs_add(a, &stack, name);
		else if (stack.n)
			stack.n--;
	}
	struct str joined = str_join(a, &stack, S("/"));
	if (absolute)
		return str_fmt(a, "/%.*s", STR(joined));
	return joined.n ? joined : S(".");
}

static void cleaning_is_a_stack_of_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		ARENA(a);
		struct str path = word(&a, S("a/.b/."), 14);
		if (!path.n)
			continue;
		struct str clean = path_clean(&a, path), want = naive_clean(&a, path);
		if (!str_eq(clean, want))
			print_error("'%.*s'\n", STR(path));
		assert_str(clean, want.p);
		assert_str(path_clean(&a, clean), clean.p);
		bool inside =
			path.p[0] != '/' && !str_eq(want, S("..")) && !str_starts(want, S("../"));
		if (inside != path_is_inside(path))
			print_error("inside: '%.*s'\n", STR(path));
		/* A path that goes up in between may count as leading out, never the reverse. */
		assert_true(inside || !path_is_inside(path));
	}
}

static void relative_paths_lead_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		ARENA(a);
		struct str to = path_clean(&a, str_fmt(&a, "/%.*s", STR(word(&a, S("ab/"), 9))));
		struct str base = path_clean(&a, str_fmt(&a, "/%.*s", STR(word(&a, S("ab/"), 9))));
		struct str rel = path_rel(&a, to, base);
		assert_true(rel.n > 0 && rel.p[0] != '/');
		assert_str(path_clean(&a, path_join(&a, base, rel)), to.p);
		assert_str(path_clean(&a, path_join(&a, path_dir(to), path_base(to))), to.p);
	}
}

/* ---- distances ---- */

/* The definition, over all prefixes. */
static unsigned naive_distance(struct str x, struct str y)
{
	unsigned d[10][10];
	for (unsigned i = 0; i <= x.n; i++)
		for (unsigned j = 0; j <= y.n; j++) {
			unsigned best =
				i && j ? d[i - 1][j - 1] + (x.p[i - 1] != y.p[j - 1]) : i + j;
			if (i && d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (j && d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			bool swap = i > 1 && j > 1 && x.p[i - 1] == y.p[j - 2] &&
				    x.p[i - 2] == y.p[j - 1];
			if (swap && d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	return d[x.n][y.n];
}

/* Is y offered for x, when x is long enough for so many edits? A common tail changes no distance */
static bool is_near(struct str x, struct str y, size_t edits)
{
	ARENA(a);
	size_t tail = x.n < 3 * edits ? 3 * edits - x.n : 0;
	struct strs words = {0};
	strs_add(&a, &words, str_fmt(&a, "%.*s%0*d", STR(y), (int)tail + 1, 0));
	x = str_fmt(&a, "%.*s%0*d", STR(x), (int)tail + 1, 0);
	return str_eq(suggest(x, &words), words.v[0]);
}

static void distances_follow_the_definition(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		ARENA(a);
		struct str x = word(&a, S("abc"), 8), y = word(&a, S("abc"), 8);
		unsigned want = naive_distance(x, y);
		assert_true(is_near(x, y, want) && is_near(y, x, want));
		if (want > 1 && x.n + 1 < 3 * want)
			assert_false(is_near(x, y, want - 1));
		assert_int_equal(want == 0, same_bytes(x, y));
	}
}

/* ---- hashes ---- */

static void hashes_do_not_depend_on_the_pieces(void **state)
{
	(void)state;
	static const enum hash_kind kinds[] = {HASH_SHA256, HASH_MD5};
	for (unsigned i = 0; i < 200; i++) {
		ARENA(a);
		struct str s = word(&a, S("0123456789abcdef"), 300);
		enum hash_kind kind = kinds[i % 2];
		struct digest whole = hash_bytes(kind, s.p, s.n), pieces;
		struct hash *h = hash_new(kind);
		for (size_t at = 0; at < s.n;) {
			size_t n = 1 + roll(70);
			n = n < s.n - at ? n : s.n - at;
			hash_add(h, s.p + at, n);
			at += n;
		}
		pieces = hash_end(h);
		assert_int_equal(pieces.n, whole.n);
		assert_memory_equal(pieces.b, whole.b, whole.n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_is_a_list_of_pairs),
		cmocka_unit_test(a_null_value_is_a_value),
		cmocka_unit_test(pieces_of_an_arena_never_overlap),
		cmocka_unit_test(a_builder_is_one_long_string),
		cmocka_unit_test(searching_finds_the_first_place),
		cmocka_unit_test(sorting_gives_the_order_of_bytes),
		cmocka_unit_test(pieces_put_together_are_the_whole),
		cmocka_unit_test(numbers_are_those_of_strtoull),
		cmocka_unit_test(other_characters_are_no_numbers),
		cmocka_unit_test(cleaning_is_a_stack_of_names),
		cmocka_unit_test(relative_paths_lead_back),
		cmocka_unit_test(distances_follow_the_definition),
		cmocka_unit_test(hashes_do_not_depend_on_the_pieces),
	};
	return cmocka_run_group_tests(tests, begin, NULL);
}
