/* Kernel launches. The wanted texts are what processKernelLaunches() of PyTorch 2.6.0 gave for the
 * sources (tests/oracle/torch_launch.py compares very many more). */
#include "test.h"

#include "base/buf.h"
#include "hipify/torch/text/passes.h"

struct pair {
	const char *source, *want;
};

static const struct pair plain[] = {
	{"int f() { k<<<g, b>>>(x); }\n",
		"int f() {hipLaunchKernelGGL(( k), dim3(g), dim3(b), 0, 0, x); }\n"},
	{"k<<<1,2>>>(x)", "hipLaunchKernelGGL((k), dim3(1),dim3(2), 0, 0, x)"},
	{" k<<<g, b, 0, s>>>(x)", "hipLaunchKernelGGL(( k), dim3(g), dim3(b), 0, s, x)"},
	{" k<<<g, b, smem>>>(x)", "hipLaunchKernelGGL(( k), dim3(g), dim3(b), smem, 0, x)"},
	{" n::k<T, 4><<<g, b>>>(x)",
		"hipLaunchKernelGGL(( n::k<T, 4>), dim3(g), dim3(b), 0, 0, x)"},
	{" k<a<b<c> > ><<<1, 2>>>()",
		"hipLaunchKernelGGL(( k<a<b<c> > >), dim3(1), dim3(2), 0, 0, )"},
	{" k<<<(a, b), f(c, d)>>>\n\t(x)",
		"hipLaunchKernelGGL(( k), dim3((a, b)), dim3(f(c, d)), 0, 0, \n\tx)"},
	{" k<<<dim3(1, 2), 3, a->b, s>>>(x)",
		"hipLaunchKernelGGL(( k), dim3(dim3(1, 2)), dim3(3), a->b, s, x)"},
	{" no launch", " no launch"},
};

static const struct pair everywhere[] = {
	{" k<<<1,2>>>(x); // k<<<1,2>>>(y)\n k<<<1,2>>>(z)",
		"hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, x); //hipLaunchKernelGGL(( k), "
		"dim3(1),dim3(2), 0, 0, y)\nhipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, z)"},
	{"// call k<<<1,2>>>\n k<<<1,2>>>(z)",
		"// call k<<<1,2>>>\nhipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, z)"},
	{"char *s = \" k<<<1,2>>>(\"; k<<<1,2>>>(z)",
		"char *s = \"hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, "
		"\";hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, z)"},
	{" k<<<1,2>>>(x)+k<<<1,2>>>(x)", "hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, "
					 "x)hipLaunchKernelGGL((+k), dim3(1),dim3(2), 0, 0, x)"},
	{"k<<<1,2>>>(x) kk<<<1,2>>>(y)", "hipLaunchKernelGGL((k), dim3(1),dim3(2), 0, 0, x) "
					 "khipLaunchKernelGGL((k), dim3(1),dim3(2), 0, 0, y)"},
};

static const struct pair odd[] = {
	{" k<<<1,11>>>(x)", "hipLaunchKernelGGL(( k), dim3(1),dim3(11), 0, 0, x)"},
	{" k<<<1, 1>>>(x)", "hipLaunchKernelGGL(( k), dim3(1), dim3(1), 0, 0, x)"},
	{" k<<<\n1,\n 2>>>(x)", "hipLaunchKernelGGL(( k), \ndim3(1),\n dim3(2), 0, 0, x)"},
	{" k<<<1\n+2, 3>>>(x)", "hipLaunchKernelGGL(( k), 1\n+2, dim3(3), 0, 0, x)"},
	{" k<<<, >>>(x)", "hipLaunchKernelGGL(( k), dim3(),dim3()dim3() dim3(), 0, 0, x)"},
	{" k<<< ,\n>>>(x)",
		"hipLaunchKernelGGL(( k), dim3() dim3(),dim3()dim3()\ndim3(), 0, 0, x)"},
	{" k<<<f<a,b>(x), 1>>>(y)", "hipLaunchKernelGGL(( k), dim3(f<a),dim3(b>(x)), 1, 0, 0, y)"},
	{" k<a<b<c>>><<<1,2>>>(x)",
		"hipLaunchKernelGGL( k<a<b<c, 0, 0, , dim3(1),dim3(2), 0, 0, x)"},
	{" kk<k><<<1,2>>>(k)", "hipLaunchKernelGGL(( kk<k>), dim3(1),dim3(2), 0, 0, k)"},
	{" k<<<1,2>>>;",
		"hipLaunchKernelGGL( "
		"hipLaunchKernelGGL(khipLaunchKernelGGL(<hipLaunchKernelGGL(<hipLaunchKernelGGL(<"
		"hipLaunchKernelGGL(1hipLaunchKernelGGL(,hipLaunchKernelGGL(2hipLaunchKernelGGL(>"
		"hipLaunchKernelGGL(>hipLaunchKernelGGL(>hipLaunchKernelGGL(;hipLaunchKernelGGL("},
	{" k(<<<1,2>>>(x)", "hipLaunchKernelGGL(( k(), dim3(1),dim3(2), 0, 0, x)"},
	{" k<<<1,2,3,4,5>>>(x)", "hipLaunchKernelGGL(( k), dim3(1),dim3(2),3,4,5, x)"},
	{" k<<<1,2,a<b>>>(x)", "hipLaunchKernelGGL(( k), dim3(1),dim3(2),a<b, 0, 0, x)"},
	{" k<<<1,2>>><<(<x)<<<3,4>>>(y)", "hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, "
					  "<<hipLaunchKernelGGL((<x)), dim3(3),dim3(4), 0, 0, y)"},
};

static const struct pair nested[] = {
	{" k<<<1,2>>>(j<<<3,4>>>(x))",
		"hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, j<<<3,4>>>(x))"},
	{" k<<<1,2>>>(k<<<1,2>>>(k<<<1,2>>>(k<<<1,2>>>(x))))",
		"hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, "
		"k<<<1,2>>hipLaunchKernelGGL((>(k), dim3(1),dim3(2), 0, 0, k<<<1,2>>>(x))))"},
	{" a<<<1,2>>>( b<<<1,2>>>(x)) b<<<1,2>>>(y)",
		"hipLaunchKernelGGL(( a), dim3(1),dim3(2), 0, 0, hipLaunchKernelGGL(( b), "
		"dim3(1),dim3(2), 0, 0, x))hipLaunchKernelGGL(( b), dim3(1),dim3(2), 0, 0, y)"},
	{"a<<<1,2>>>(b<<<1,2>>>(x)) b<<<1,2>>>(y)",
		"hipLaunchKernelGGL((a), dim3(1),dim3(2), 0, 0,hipLaunchKernelGGL(( b), "
		"dim3(1),dim3(2), 0, 0, x))hipLaunchKernelGGL(( b), dim3(1),dim3(2), 0, 0, y)"},
	{" k<<<1,2>>>; j<<<3,4>>>(x) j<<<3,4>>>(y)",
		"hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, ; j, 3,4, 0, 0, "
		"x)hipLaunchKernelGGL(( j), dim3(3),dim3(4), 0, 0, y)"},
	{" k<a b<<<1,2>>>(x), c> <<<3,4>>>(y)",
		" k<ahipLaunchKernelGGL(( b), dim3(1),dim3(2), 0, 0, x), c> <<<3,4>>>(y)"},
};

static const struct pair masked[] = {
	{"/*/ k<<<1,2>>>(x)", "/*/hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, x)"},
	{"\"a\\\\\" k<<<1,2>>>(x) \" k<<<1,2>>>(y)",
		"\"a\\\\\"hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, x) "
		"\"hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, y)"},
	{"'\"' k<<<1,2>>>(x)", "'\"'hipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, x)"},
	{"// a\r k<<<1,2>>>(x)", "// a\rhipLaunchKernelGGL(( k), dim3(1),dim3(2), 0, 0, x)"},
	{" k<</* >>> , */ 1, 2>>>(x)", " k<</* >>> , */ 1, 2>>>(x)"},
	{" k<<<1, /* >>> , */ 2>>>(x)", "hipLaunchKernelGGL(( k), 1, /* , 0, 0,  , */ 2, 0, 0, x)"},
	{" k<<<1, // ,\n 2>>>(x)", "hipLaunchKernelGGL(( k), dim3(1), dim3(//) ,\n 2, 0, 0, x)"},
	{"a /* k<<<1 */ k<<<2,3>>>(x)",
		"a /* k<<<1 */hipLaunchKernelGGL(( k), dim3(2),dim3(3), 0, 0, x)"},
};

static const struct pair unicode[] = {
	{" \303\251<<<1,2>>>(x)", "hipLaunchKernelGGL(( \303\251), dim3(1),dim3(2), 0, 0, x)"},
	{"\342\200\224k<<<1,2>>>(x)",
		"hipLaunchKernelGGL((\342\200\224k), dim3(1),dim3(2), 0, 0, x)"},
	{" k\302\262<<<\303\251,2>>>(x)",
		"hipLaunchKernelGGL(( k\302\262), dim3(\303\251),dim3(2), 0, 0, x)"},
	{"\303\274 k<<<1,2>>>;\303\274",
		"hipLaunchKernelGGL(\303\274hipLaunchKernelGGL( "
		"hipLaunchKernelGGL(khipLaunchKernelGGL(<hipLaunchKernelGGL(<hipLaunchKernelGGL(<"
		"hipLaunchKernelGGL(1hipLaunchKernelGGL(,hipLaunchKernelGGL(2hipLaunchKernelGGL(>"
		"hipLaunchKernelGGL(>hipLaunchKernelGGL(>hipLaunchKernelGGL(;hipLaunchKernelGGL("
		"\303\274hipLaunchKernelGGL("},
};

static const struct pair joined[] = {
	{"#define A  detail:: \\\n    k<<<1,2>>>(x)",
		"#define A hipLaunchKernelGGL(( detail::k), dim3(1),dim3(2), 0, 0, x)"},
	{" detai::  \\\n k", " detai::k"},
	{" detail:: \\\n detail:: \\\n k", " detail::detail:: \\\n k"},
	{"detail:: \\\n k", "detail:: \\\n k"},
	{" detail:: \\\nk", " detail:: \\\nk"},
};

static void check(const struct pair *pairs, size_t n)
{
	ARENA(a);
	for (size_t i = 0; i < n; i++) {
		struct str source = str_from(pairs[i].source), got = {0};
		assert_ok(torch_launches(&a, source, NULL, &got));
		assert_str(got, pairs[i].want);
		assert_int_equal(got.p == source.p, str_eq(got, source));
	}
}

#define CHECK(pairs) check(pairs, sizeof(pairs) / sizeof(*(pairs)))

static void launches_become_calls(void **state)
{
	(void)state;
	CHECK(plain);
}

static void equal_launches_are_replaced_in_comments_and_strings_too(void **state)
{
	(void)state;
	CHECK(everywhere);
}

static void replacements_hit_whatever_is_equal(void **state)
{
	(void)state;
	CHECK(odd);
}

static void launches_in_launches(void **state)
{
	(void)state;
	CHECK(nested);
}

static void comments_and_strings_are_told_as_the_original_does(void **state)
{
	(void)state;
	CHECK(masked);
}

static void letters_of_all_scripts_are_names(void **state)
{
	(void)state;
	CHECK(unicode);
}

static void names_behind_a_continued_line_are_joined(void **state)
{
	(void)state;
	CHECK(joined);
}

/* Where the original dies or never ends. */
static void impossible_launches_are_errors_with_a_line(void **state)
{
	(void)state;
	static const struct {
		const char *source, *says;
		unsigned line;
	} cases[] = {
		{"\n\n k<<<1,2", "without '>>>'", 3},
		{"<<<1,2>>>(x)", "without a name", 1},
		{"\n;; <<<1,2>>>(x)", "without a name", 2},
		{" k<<<1>>>(x)", "fewer than two", 1},
		{" k<<<(1,2>>>(x)", "fewer than two", 1},
		{" k<<<>>>(x)", "fewer than two", 1},
		{" k<<<1,2>>>(x)\n /* >>> */ k<<<1,2 // >>>\n", "without '>>>'", 2},
		{" detail:: \\\n k<<<1,2>>>(x)\n j<<<1>>>(x)", "fewer than two", 3},
	};
	ARENA(a);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str got = {0};
		struct err *e = torch_launches(&a, str_from(cases[i].source), NULL, &got);
		assert_non_null(e);
		assert_int_equal(e->line, cases[i].line);
		assert_err_says(e, E_HIPIFY, cases[i].says);
	}
}

static void edits_give_the_text(void **state)
{
	(void)state;
	ARENA(a);
	struct str source =
		S("#define A detail:: \\\n k<<<1,2>>>(k<<<1,2>>>(x))\n k<<<1,2>>>(y)\n");
	struct torch_trace trace = {.a = &a, .source = source};
	struct hipify_text t = {0};
	size_t done = 0;
	assert_ok(torch_launches(&a, source, &trace, &t.text));
	torch_trace_end(&trace, &t);
	BUF(b, &a);
	VEC_EACH (const struct hipify_edit, e, &t.edits) {
		buf_add(&b, str_sub(source, done, e->from));
		buf_add(&b, e->with);
		assert_string_equal(e->why->kind, "launch");
		done = e->to;
	}
	buf_add(&b, str_sub(source, done, source.n));
	assert_true(t.edits.n >= 2);
	assert_true(str_eq(buf_str(&b), t.text));
}

static struct str repeat(struct arena *a, const char *piece, size_t n)
{
	BUF(b, a);
	buf_char(&b, ' ');
	for (size_t i = 0; i < n; i++) {
		struct str s = str_from(piece);
		size_t at = str_chr(s, '#');
		buf_add(&b, str_sub(s, 0, at));
		if (at < s.n)
			buf_fmt(&b, "%zu", i);
		buf_add(&b, str_sub(s, at + 1, s.n));
	}
	return buf_str(&b);
}

/* Quadratic work would not end within the test's time limit; launches that overlap are searched for
 * in the whole text. */
static void very_many_launches(void **state)
{
	(void)state;
	static const struct {
		const char *piece;
		size_t n;
	} cases[] = {
		{"k<<<1,2>>>(x);\n", 200000},
		{"k#<<<g,b>>>(x);\n", 200000},
		{"k#<<<g,b>>>(x); ", 200000},
		{"k<<<1,2>>>(", 1000},
		{"k#<<<1,2>>>(", 1000},
		{"k<a<b>><<<1,2>>>(x)/*> <<<1,2>>>(*/", 1000},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		size_t n = HUGE_SIZE(cases[i].n);
		struct str text = repeat(&a, cases[i].piece, n), got = {0};
		assert_ok(torch_launches(&a, text, NULL, &got));
		assert_true(str_contains(got, S("hipLaunchKernelGGL(( k")));
		assert_true(got.n > text.n + n / 2 * 20);
	}
}

static void a_launch_in_a_huge_line(void **state)
{
	(void)state;
	ARENA(a);
	struct str junk = repeat(&a, "<<<", 300000), nest = repeat(&a, "k<", 300000), got = {0};
	struct str close = repeat(&a, ">", 300000);
	struct str text =
		str_fmt(&a, "//%.*s\n %.*s%.*s<<<1,2>>>(x)", STR(junk), STR(nest), STR(close));
	assert_ok(torch_launches(&a, text, NULL, &got));
	assert_true(str_contains(got, S("dim3(1),dim3(2)")));
}

/* The original would need hours and all memory. */
static void launches_over_launches_are_an_error(void **state)
{
	(void)state;
	ARENA(a);
	struct str got = {0};
	struct str far = repeat(&a, "k#<<<1,2>>>; ", 200000);
	struct str text = str_fmt(&a, "%.*s(", STR(far));
	assert_err_says(torch_launches(&a, text, NULL, &got), E_HIPIFY, "too many to search");
	text = repeat(&a, "k<<<1,2>>>; ", 12);
	assert_err_says(torch_launches(&a, text, NULL, &got), E_HIPIFY, "too large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_become_calls),
		cmocka_unit_test(equal_launches_are_replaced_in_comments_and_strings_too),
		cmocka_unit_test(replacements_hit_whatever_is_equal),
		cmocka_unit_test(launches_in_launches),
		cmocka_unit_test(comments_and_strings_are_told_as_the_original_does),
		cmocka_unit_test(letters_of_all_scripts_are_names),
		cmocka_unit_test(names_behind_a_continued_line_are_joined),
		cmocka_unit_test(impossible_launches_are_errors_with_a_line),
		cmocka_unit_test(edits_give_the_text),
		cmocka_unit_test(very_many_launches),
		cmocka_unit_test(a_launch_in_a_huge_line),
		cmocka_unit_test(launches_over_launches_are_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
