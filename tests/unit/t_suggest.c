/* Did-you-mean and progress reports: base/str.h, progress.h. */
#include "test.h"

#include "base/pool.h"
#include "base/progress.h"

static const struct {
	const char *a, *b;
	unsigned distance;
} distances[] = {
	{.a = "", .b = "", .distance = 0},
	{.a = "", .b = "abc", .distance = 3},
	{.a = "abc", .b = "abc", .distance = 0},
	{.a = "abc", .b = "abd", .distance = 1},
	{.a = "abc", .b = "ab", .distance = 1},
	{.a = "abc", .b = "xabc", .distance = 1},
	{.a = "abcd", .b = "abdc", .distance = 1},
	{.a = "ca", .b = "abc", .distance = 3}, /* a swapped pair is not edited again */
	{.a = "kitten", .b = "sitting", .distance = 3},
	{.a = "gfx1100", .b = "gfx1010", .distance = 1},
	{.a = "sources", .b = "suorces", .distance = 1},
};

/* Would word be offered for x, if x were long enough for just so many edits? Both get the same
 * tail, which changes nothing about their distance. */
static bool is_near(struct str x, struct str word, size_t edits)
{
	ARENA(a);
	size_t tail = x.n < 3 * edits ? 3 * edits - x.n : 0;
	struct strs words = {0};
	strs_add(&a, &words, str_fmt(&a, "%.*s%.*s", STR(word), (int)tail, "................"));
	x = str_fmt(&a, "%.*s%.*s", STR(x), (int)tail, "................");
	return str_eq(suggest(x, &words), words.v[0]);
}

static bool is_distance(struct str x, struct str word, unsigned distance)
{
	bool nearer = distance > 1 && x.n < 3 * distance && is_near(x, word, distance - 1);
	return is_near(x, word, distance) && !nearer;
}

static void distances_count_edits_and_swaps(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(distances) / sizeof(*distances); i++) {
		struct str a = str_from(distances[i].a), b = str_from(distances[i].b);
		if (!is_distance(a, b, distances[i].distance))
			fail_msg("%s %s", distances[i].a, distances[i].b);
		assert_true(is_distance(b, a, distances[i].distance));
	}
}

static void the_nearest_word_is_suggested(void **state)
{
	(void)state;
	ARENA(a);
	struct strs words = str_split(&a, S("install,inspect,verify,version,env,run"), ',');
	assert_str(suggest(S("isntall"), &words), "install");
	assert_str(suggest(S("inspekt"), &words), "inspect");
	assert_str(suggest(S("verfy"), &words), "verify");
	assert_str(suggest(S("rnu"), &words), "run");
	assert_str(suggest(S("verify"), &words), "verify");
	assert_str(suggest(S("zzzzzz"), &words), "");
	assert_str(suggest(S(""), &words), "");
	struct strs none = {0};
	assert_str(suggest(S("x"), &none), "");
}

static void overlong_words_get_no_suggestion(void **state)
{
	(void)state;
	ARENA(a);
	struct str word = str_fmt(&a, "%0300d", 1), other = str_fmt(&a, "%064d", 1);
	struct strs words = {0};
	strs_add(&a, &words, S("install"));
	strs_add(&a, &words, other);
	assert_str(suggest(word, &words), "");
	assert_str(suggest(str_sub(other, 1, 64), &words), other.p);
}

/* ---- a listener that counts ---- */

static struct {
	unsigned begun, ended, notes;
	uint64_t done, total;
	struct arena a;
	struct str last;
} heard;

static struct progress *on_begin(struct str verb, struct str object, enum unit unit, uint64_t total)
{
	heard.begun++;
	heard.total = total;
	heard.last = str_fmt(&heard.a, "%.*s %.*s %d", STR(verb), STR(object), (int)unit);
	return (struct progress *)&heard;
}

static void on_add(struct progress *p, uint64_t done, struct str now)
{
	assert_ptr_equal(p, &heard);
	heard.done += done;
	heard.last = str_dup(&heard.a, now);
}

static void on_end(struct progress *p)
{
	assert_ptr_equal(p, &heard);
	heard.ended++;
}

static void on_note(struct str verb, struct str text)
{
	heard.notes++;
	heard.last = str_fmt(&heard.a, "%.*s: %.*s", STR(verb), STR(text));
}

static const struct progress_sink sink = {
	.begin = on_begin, .add = on_add, .end = on_end, .note = on_note};

static void without_a_listener_reports_go_nowhere(void **state)
{
	(void)state;
	progress_listen(NULL);
	struct progress *p = progress_begin(S("Doing"), S("it"), UNIT_ITEMS, 3);
	assert_null(p);
	progress_add(p, 1, S("x"));
	progress_note(S("Did"), "it %d times", 3);
	progress_end(p);
	assert_int_equal(heard.begun, 0);
}

static void reports_reach_the_listener(void **state)
{
	(void)state;
	progress_listen(&sink);
	{
		CLEANUP(progress_endp)
		struct progress *p = progress_begin(S("Fetching"), S("2 files"), UNIT_BYTES, 10);
		assert_str(heard.last, "Fetching 2 files 2");
		assert_true(heard.total == 10);
		progress_add(p, 4, S("one"));
		progress_add(p, 6, S("two"));
		assert_str(heard.last, "two");
		assert_true(heard.done == 10);
		assert_int_equal(heard.ended, 0);
	}
	assert_int_equal(heard.begun, 1);
	assert_int_equal(heard.ended, 1);
	progress_note(S("Compiled"), "%d sources", 3);
	assert_str(heard.last, "Compiled: 3 sources");
	assert_int_equal(heard.notes, 1);
	progress_end(NULL);
	progress_add(NULL, 3, S(""));
	assert_int_equal(heard.ended, 1);
	progress_listen(NULL);
	arena_free(&heard.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_count_edits_and_swaps),
		cmocka_unit_test(the_nearest_word_is_suggested),
		cmocka_unit_test(overlong_words_get_no_suggestion),
		cmocka_unit_test(without_a_listener_reports_go_nowhere),
		cmocka_unit_test(reports_reach_the_listener),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
