/* test_diff(): what became of each test between two runs. */
#include "base/map.h"
#include "testrun/testrun_int.h"

enum { LEAST_SECONDS = 1 };

static const struct json_field change_fields[] =
	FIELDS_ONLY(struct test_change, id, before, now, seconds_before, seconds_now, message);
const struct json_field test_diff_fields[] = {
	FIELD_CONST("schema", "rocsmith.test-diff/1"),
	FIELDS(struct test_diff, before, now, notes),
	FIELD_LIST("failed", struct test_diff, failed, change_fields),
	FIELD_LIST("fixed", struct test_diff, fixed, change_fields),
	FIELD_LIST("flaky", struct test_diff, flaky, change_fields),
	FIELD_LIST("slower", struct test_diff, slower, change_fields),
	FIELD_LIST("missing", struct test_diff, missing, change_fields),
	FIELD_LIST("added", struct test_diff, added, change_fields),
	{.kind = FIELD_END},
};

static void add_change(struct arena *a, struct test_changes *list, const struct test_result *before,
	const struct test_result *now)
{
	struct test_change *c = VEC_PUSH(a, list);
	c->id = now ? now->id : before->id;
	c->before = before ? str_from(test_outcomes[before->outcome]) : S("");
	c->now = now ? str_from(test_outcomes[now->outcome]) : S("");
	c->seconds_before = before ? before->seconds : 0;
	c->seconds_now = now ? now->seconds : 0;
	c->message = now ? now->message : S("");
}

/* Two results of one id in a document (a test that two processes ran): the worse one counts. */
static void by_id(const struct test_evidence *e, struct map *ret)
{
	VEC_EACH (struct test_result, t, &e->tests) {
		const struct test_result *other = map_get(ret, t->id);
		if (!other || (test_is_bad(t->outcome) && !test_is_bad(other->outcome)))
			map_put(ret, t->id, t);
	}
}

static void note_difference(
	struct arena *a, const char *what, struct str before, struct str now, struct strs *notes)
{
	if (!str_eq(before, now))
		strs_fmt(a, notes, "%s: '%.*s' before, '%.*s' now", what, STR(before), STR(now));
}

static struct str wheel_words(struct arena *a, const struct test_evidence *e)
{
	struct strs words = {0};
	VEC_EACH (const struct test_wheel, w, &e->wheels)
		strs_fmt(a, &words, "%.*s %.*s", STR(w->name), STR(w->version));
	return str_join(a, &words, S(", "));
}

void test_diff(struct arena *a, const struct test_evidence *before, const struct test_evidence *now,
	double factor, struct test_diff *ret)
{
	MAP(old, a);
	MAP(new, a);
	by_id(before, &old);
	by_id(now, &new);
	note_difference(a, "GPU", before->gpu, now->gpu, &ret->notes);
	note_difference(a, "Python", before->python, now->python, &ret->notes);
	note_difference(a, "configuration", before->config, now->config, &ret->notes);
	note_difference(a, "wheels", wheel_words(a, before), wheel_words(a, now), &ret->notes);
	for (size_t i = 0; i < new.n; i++) {
		const struct test_result *t = new.v[i].value, *was = map_get(&old, t->id);
		bool bad = test_is_bad(t->outcome), was_bad = was && test_is_bad(was->outcome);
		if (bad && !was_bad)
			add_change(a, &ret->failed, was, t);
		else if (!was)
			add_change(a, &ret->added, NULL, t);
		else if (was_bad && (t->outcome == TEST_PASSED || t->outcome == TEST_XPASSED))
			add_change(a, &ret->fixed, was, t);
		if (t->outcome == TEST_FLAKY)
			add_change(a, &ret->flaky, was, t);
		if (was && was->outcome == TEST_PASSED && t->outcome == TEST_PASSED &&
			t->seconds > was->seconds * factor &&
			t->seconds - was->seconds >= LEAST_SECONDS)
			add_change(a, &ret->slower, was, t);
	}
	for (size_t i = 0; i < old.n; i++)
		if (!map_has(&new, old.v[i].key))
			add_change(a, &ret->missing, old.v[i].value, NULL);
}
