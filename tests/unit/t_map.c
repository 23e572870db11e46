/* The hash map and the arenas below it: base/map.h, arena.h. */
#include "test.h"

#include <time.h>

#include "base/map.h"

static void an_empty_map_has_nothing(void **state)
{
	(void)state;
	ARENA(a);
	MAP(m, &a);
	assert_null(map_get(&m, S("x")));
	assert_int_equal(m.n, 0);
}

static void values_are_found_and_replaced(void **state)
{
	(void)state;
	ARENA(a);
	MAP(m, &a);
	int one = 1, two = 2;
	assert_true(map_put(&m, S("k"), &one));
	assert_false(map_put(&m, S("k"), &two));
	assert_ptr_equal(map_get(&m, S("k")), &two);
	assert_true(map_put(&m, S(""), &one));
	assert_ptr_equal(map_get(&m, (struct str){0}), &one);
	assert_int_equal(m.n, 2);
}

static void many_keys_keep_their_order(void **state)
{
	(void)state;
	enum { N = 20000 };
	ARENA(a);
	MAP(m, &a);
	for (size_t i = 0; i < N; i++)
		assert_true(map_put(&m, str_fmt(&a, "key-%zu", i), (void *)(i + 1)));
	assert_int_equal(m.n, N);
	for (size_t i = 0; i < N; i++) {
		struct str key = str_fmt(&a, "key-%zu", i);
		assert_ptr_equal(map_get(&m, key), (void *)(i + 1));
		assert_true(str_eq(m.v[i].key, key));
	}
	assert_null(map_get(&m, S("key-20000")));
}

/* Keys for which a hash without a secret is one and the same: in each pair of words the second undoes what
 * a flipped bit of the first does to str_hash(). Compared pairwise they would take minutes. */
static void keys_that_were_chosen_to_collide_do_not(void **state)
{
	(void)state;
	enum { PAIRS = 15, N = 1 << PAIRS };
	ARENA(a);
	MAP(m, &a);
	clock_t start = clock();
	uint64_t hash = 0;
	for (unsigned i = 0; i < N; i++) {
		uint64_t words[2 * PAIRS] = {0};
		for (unsigned k = 0; k < PAIRS; k++) {
			words[2 * k] = (uint64_t)(i >> k & 1) << 63;
			words[2 * k + 1] = words[2 * k] | words[2 * k] >> 32;
		}
		struct str key = str_dup(&a, (struct str){.p = (char *)words, .n = sizeof(words)});
		hash = i ? hash : str_hash(key);
		assert_true(str_hash(key) == hash);
		assert_true(map_put(&m, key, NULL));
	}
	assert_int_equal(m.n, N);
	assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
}

static void arena_memory_is_zeroed_and_aligned(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t n = 0; n < 300; n++) {
		struct arena_mark m = arena_mark(&a);
		unsigned char *p = arena_alloc(&a, n);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
		if (n % 3)
			arena_rewind(&a, m);
	}
}

static void growing_keeps_the_content(void **state)
{
	(void)state;
	ARENA(a);
	size_t n = 10;
	unsigned char *p = arena_alloc(&a, n);
	memset(p, 7, n);
	for (int step = 0; step < 20; step++) {
		if (step % 2)
			(void)arena_alloc(&a, 1); /* so that it has to move */
		p = arena_grow(&a, p, n, n * 2);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 7);
		n *= 2;
		memset(p, 7, n);
		if (n > 1 << 16)
			break;
	}
	assert_non_null(arena_grow(&a, NULL, 0, 100));
}

static void growing_to_less_changes_nothing(void **state)
{
	(void)state;
	ARENA(a);
	char *p = arena_alloc(&a, 100);
	memset(p, 'p', 100);
	assert_ptr_equal(arena_grow(&a, p, 100, 50), p);
	assert_ptr_equal(arena_grow(&a, p, 100, 100), p);
	for (int i = 0; i < 100; i++)
		assert_int_equal(p[i], 'p');
}

static void rewinding_drops_what_came_after_the_mark(void **state)
{
	(void)state;
	ARENA(a);
	char *keep = arena_alloc(&a, 100);
	memset(keep, 'k', 100);
	struct arena_mark m = arena_mark(&a);
	for (int i = 0; i < 100; i++)
		memset(arena_alloc(&a, 100000), 'x', 100000);
	arena_rewind(&a, m);
	assert_ptr_equal(a.head, m.head);
	assert_int_equal(a.used, m.used);
	for (int i = 0; i < 100; i++)
		assert_int_equal(keep[i], 'k');
	arena_free(&a);
	assert_null(a.head);
	assert_non_null(arena_alloc(&a, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_nothing),
		cmocka_unit_test(values_are_found_and_replaced),
		cmocka_unit_test(many_keys_keep_their_order),
		cmocka_unit_test(keys_that_were_chosen_to_collide_do_not),
		cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
		cmocka_unit_test(growing_keeps_the_content),
		cmocka_unit_test(growing_to_less_changes_nothing),
		cmocka_unit_test(rewinding_drops_what_came_after_the_mark),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
