/* Edits of several passes become one list: whatever the passes did, applying it to the source gives
 * the last text, its edits are in order and apart, and every reason is kept. */
#include "test.h"

#include "base/buf.h"
#include "hipify/torch/text/passes.h"

static struct str apply(struct arena *a, struct str source, const struct hipify_text *t)
{
	BUF(b, a);
	size_t done = 0;
	unsigned line = 1;
	VEC_EACH (const struct hipify_edit, e, &t->edits) {
		assert_true(e->from >= done && e->to >= e->from && e->to <= source.n);
		for (size_t i = done; i < e->from; i++)
			line += source.p[i] == '\n';
		assert_int_equal(e->line, line);
		assert_non_null(e->why);
		buf_add(&b, str_sub(source, done, e->from));
		buf_add(&b, e->with);
		for (size_t i = e->from; i < e->to; i++)
			line += source.p[i] == '\n';
		done = e->to;
	}
	buf_add(&b, str_sub(source, done, source.n));
	return buf_str(&b);
}

static struct torch_trace trace_of(struct arena *a, struct str source)
{
	return (struct torch_trace){.a = a, .source = source};
}

/* One pass that replaces every needle. */
static struct str replace(
	struct torch_trace *t, struct str text, const char *needle, const char *with)
{
	struct torch_pass p = torch_pass_begin(t->a, text, t, "name");
	struct str key = str_from(needle);
	for (size_t at = 0; (at += str_find(str_sub(text, at, text.n), key)) < text.n; at += key.n)
		torch_pass_edit(&p,
			(struct torch_patch){.from = at, .to = at + key.n, .with = str_from(with)});
	return torch_pass_end(&p);
}

static size_t reasons(const struct hipify_edit *e)
{
	size_t n = 0;
	for (const struct hipify_reason *r = e->why; r; r = r->next)
		n++;
	return n;
}

static void a_pass_without_edits_gives_back_its_text(void **state)
{
	(void)state;
	ARENA(a);
	struct str text = S("int x;");
	struct torch_pass p = torch_pass_begin(&a, text, NULL, "name");
	assert_ptr_equal(torch_pass_end(&p).p, text.p);
	p = torch_pass_begin(&a, text, NULL, "name");
	torch_pass_edit(&p, (struct torch_patch){.to = 3, .with = S("y")});
	assert_str(torch_pass_end(&p), "y x;");
}

static void a_replacement_of_a_replacement_is_one_edit(void **state)
{
	(void)state;
	ARENA(a);
	struct str source = S("\n cudaFoo; \n cudaFoo");
	struct torch_trace t = trace_of(&a, source);
	struct str text = replace(&t, source, "cudaFoo", "hip/hip/Foo");
	text = replace(&t, text, "hip/hip/", "hip/");
	text = replace(&t, text, ";", "!!");
	assert_str(text, "\n hip/Foo!! \n hip/Foo");
	struct hipify_text ret = {0};
	torch_trace_end(&t, &ret);
	assert_int_equal(ret.edits.n, 3);
	assert_str(ret.edits.v[0].with, "hip/Foo");
	assert_int_equal(reasons(&ret.edits.v[0]), 2);
	assert_str(ret.edits.v[0].why->to, "hip/hip/Foo");
	assert_str(ret.edits.v[0].why->next->to, "hip/");
	assert_int_equal(ret.edits.v[0].from, 2);
	assert_int_equal(ret.edits.v[0].line, 2);
	assert_str(ret.edits.v[1].with, "!!");
	assert_int_equal(ret.edits.v[2].line, 3);
	assert_str(apply(&a, source, &ret), text.p);
}

static void what_is_undone_is_no_edit(void **state)
{
	(void)state;
	ARENA(a);
	struct str source = S("a/b/c d");
	struct torch_trace t = trace_of(&a, source);
	struct str text = replace(&t, source, "b/", "b/b/");
	text = replace(&t, text, "b/b/", "b/");
	struct hipify_text ret = {0};
	torch_trace_end(&t, &ret);
	assert_str(text, "a/b/c d");
	assert_int_equal(ret.edits.n, 0);
}

static void the_entry_behind_an_edit_is_its_reason(void **state)
{
	(void)state;
	ARENA(a);
	struct torch_entry entry = {.from = S("cudaFoo"),
		.to = S("hipFoo"),
		.table = S("T_MAP"),
		.file = S("maps.py"),
		.line = 7};
	struct torch_trace t = trace_of(&a, S(" cudaFoo "));
	struct torch_pass p = torch_pass_begin(&a, t.source, &t, "name");
	torch_pass_edit(
		&p, (struct torch_patch){.from = 1, .to = 8, .with = entry.to, .entry = &entry});
	assert_str(torch_pass_end(&p), " hipFoo ");
	struct hipify_text ret = {0};
	torch_trace_end(&t, &ret);
	const struct hipify_reason *why = ret.edits.v[0].why;
	assert_string_equal(why->kind, "name");
	assert_str(why->from, "cudaFoo");
	assert_str(why->to, "hipFoo");
	assert_str(why->table, "T_MAP");
	assert_str(why->file, "maps.py");
	assert_int_equal(why->line, 7);
}

static unsigned long long seed = 88172645463325252ull;

static size_t random_below(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? (size_t)(seed % n) : 0;
}

/* A pass of edits at random: insertions, deletions, replacements, touching or apart. */
static struct str random_pass(struct torch_trace *t, struct str text)
{
	static const char *const with[] = {"", "", "x", "YZ", "\n", "longer text"};
	struct torch_pass p = torch_pass_begin(t->a, text, t, "name");
	size_t at = 0, reach = 1 + random_below(12);
	while (true) {
		size_t from = at + random_below(reach), to = from + random_below(reach);
		if (to > text.n)
			return torch_pass_end(&p);
		torch_pass_edit(&p,
			(struct torch_patch){
				.from = from, .to = to, .with = str_from(with[random_below(6)])});
		at = to;
		/* Two insertions at one place are not in the contract of a pass. */
		at += from == to;
	}
}

static void any_edits_of_any_passes_compose(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		ARENA(a);
		BUF(b, &a);
		for (size_t i = random_below(60); i > 0; i--)
			buf_char(&b, random_below(8) ? (char)('a' + random_below(26)) : '\n');
		struct str source = buf_str(&b), text = source;
		struct torch_trace t = trace_of(&a, source);
		for (size_t i = 1 + random_below(5); i > 0; i--)
			text = random_pass(&t, text);
		struct hipify_text ret = {0};
		torch_trace_end(&t, &ret);
		struct str got = apply(&a, source, &ret);
		if (!str_eq(got, text))
			fail_msg("round %u: got '%.*s', want '%.*s'", round, STR(got), STR(text));
	}
}

/* One edit that swallows a hundred thousand others: their reasons are not walked again and again */
static void many_edits_join_in_linear_time(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	for (unsigned i = 0; i < 100000; i++)
		buf_add(&b, S("ab"));
	struct str source = buf_str(&b);
	struct torch_trace t = trace_of(&a, source);
	struct str text = replace(&t, source, "a", "xyz");
	struct torch_pass p = torch_pass_begin(&a, text, &t, "launch");
	torch_pass_edit(&p, (struct torch_patch){.from = 1, .to = text.n - 1, .with = S("|")});
	assert_str(torch_pass_end(&p), "x|b");
	struct hipify_text ret = {0};
	torch_trace_end(&t, &ret);
	assert_int_equal(ret.edits.n, 1);
	assert_int_equal(reasons(&ret.edits.v[0]), 100001);
	assert_str(apply(&a, source, &ret), "x|b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pass_without_edits_gives_back_its_text),
		cmocka_unit_test(a_replacement_of_a_replacement_is_one_edit),
		cmocka_unit_test(what_is_undone_is_no_edit),
		cmocka_unit_test(the_entry_behind_an_edit_is_its_reason),
		cmocka_unit_test(any_edits_of_any_passes_compose),
		cmocka_unit_test(many_edits_join_in_linear_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
