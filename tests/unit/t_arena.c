/* Arenas that take over the memory of others; growing and rewinding are tested by their users. */
#include "test.h"

#include "base/arena.h"

static char *text(struct arena *a, size_t n, char c)
{
	return memset(arena_alloc(a, n), c, n);
}

static void joined_memory_lives_as_long_as_its_new_arena(void **state)
{
	(void)state;
	ARENA(a);
	char *pieces[200];
	for (size_t i = 0; i < 200; i++) {
		ARENA(from);
		for (size_t k = 0; k < i % 5; k++) /* several blocks */
			text(&from, 5000, '-');
		pieces[i] = text(&from, 100 + i * 50, (char)i);
		arena_join(&a, &from);
		assert_null(from.head);
		text(&a, 30, 'a');
	}
	for (size_t i = 0; i < 200; i++)
		for (size_t k = 0; k < 100 + i * 50; k++)
			assert_int_equal(pieces[i][k], (char)i);
}

static void joining_nothing_changes_nothing(void **state)
{
	(void)state;
	ARENA(a);
	ARENA(empty);
	arena_join(&a, &empty);
	assert_null(a.head);
	char *p = text(&a, 10, 'x');
	arena_join(&a, &empty);
	assert_ptr_equal(arena_grow(&a, p, 10, 20), p);
	arena_join(&empty, &a);
	assert_null(a.head);
	assert_int_equal(p[9], 'x');
}

static void rewinding_to_an_older_block_frees_it(void **state)
{
	(void)state;
	ARENA(a);
	ARENA(from);
	text(&a, 10, 'x');
	struct arena_mark m = arena_mark(&a);
	text(&a, 9000, 'y');
	text(&from, 9000, 'z');
	arena_join(&a, &from);
	arena_rewind(&a, m);
	assert_ptr_equal(a.head, m.head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_memory_lives_as_long_as_its_new_arena),
		cmocka_unit_test(joining_nothing_changes_nothing),
		cmocka_unit_test(rewinding_to_an_older_block_frees_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
