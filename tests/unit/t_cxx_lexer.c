/* The tokenizer of src/lang/cxx/lexer.c: what is a token, where lines are, what is an error. */
#include "test.h"

#include "base/buf.h"
#include "lang/cxx/lexer.h"

/* Tokens as "I:name P:( ..." with their kinds. */
static struct str dump(struct arena *a, const char *source)
{
	static const char kinds[] = {[TOK_END] = 'E',
		[TOK_IDENT] = 'I',
		[TOK_PUNCT] = 'P',
		[TOK_NUMBER] = 'N',
		[TOK_STRING] = 'S',
		[TOK_RAW] = 'R',
		[TOK_CHAR] = 'C',
		[TOK_PATH] = 'H',
		[TOK_LINE_END] = 'L'};
	struct lex l = lex_new(str_from(source), S("t.cu"));
	struct tok t;
	BUF(b, a);
	for (;;) {
		assert_ok(lex_next(&l, &t));
		if (t.kind == TOK_END)
			return buf_str(&b);
		struct str text = tok_text(&l, &t);
		buf_fmt(&b, "%s%c:%.*s", b.n ? " " : "", kinds[t.kind], STR(text));
	}
}

static void check(const char *source, const char *want)
{
	ARENA(a);
	assert_str(dump(&a, source), want);
}

static void words_numbers_and_punctuation(void **state)
{
	(void)state;
	check("a b1 _c", "I:a I:b1 I:_c");
	check("x=1.5e+3f;", "I:x P:= N:1.5e+3f P:;");
	check("1'000'000+0xffu", "N:1'000'000 P:+ N:0xffu");
	check(".5 a.b", "N:.5 I:a P:. I:b");
	check("a::b##c", "I:a P::: I:b P:## I:c");
	check("k<<<1,2>>>()", "I:k P:< P:< P:< N:1 P:, N:2 P:> P:> P:> P:( P:)");
}

static void comments_are_no_tokens(void **state)
{
	(void)state;
	check("a // b\nc", "I:a I:c");
	check("a /* b\n \"c */ d", "I:a I:d");
	check("a // b \\\n still comment\nc", "I:a I:c");
	check("a /**/ b /***/ c", "I:a I:b I:c");
}

static void literals(void **state)
{
	(void)state;
	check("\"a\\\"b\" 'c' '\\''", "S:\"a\\\"b\" C:'c' C:'\\''");
	check("L\"x\" u8\"y\" u'z'", "S:L\"x\" S:u8\"y\" C:u'z'");
	check("R\"(a\"b\n)\" c", "R:R\"(a\"b\n)\" I:c");
	check("u8R\"xy()\" )xy\"", "R:u8R\"xy()\" )xy\"");
	check("LR\"(a)\"", "R:LR\"(a)\"");
	check("R\"\"\"(a)\" \")\"\"\" c", "R:R\"\"\"(a)\" \")\"\"\" I:c");
	check("FOOR \"a\"", "I:FOOR S:\"a\"");
	check("FOOR\"a\"", "I:FOOR S:\"a\"");
	check("\"// no comment\" x", "S:\"// no comment\" I:x");
}

static void preprocessor_lines_end(void **state)
{
	(void)state;
	check("#define A b\nc", "P:# I:define I:A I:b L: I:c");
	check("#define A b \\\n c\nd", "P:# I:define I:A I:b I:c L: I:d");
	check("# include <a/b.h> // x\n", "P:# I:include H:<a/b.h> L:");
	check("#include \"a.cu\"\n", "P:# I:include H:\"a.cu\" L:");
	check("#include MACRO\n", "P:# I:include I:MACRO L:");
	check("a # b", "I:a P:# I:b");
	check("#if a /* \n */ b\n", "P:# I:if I:a I:b L:");
	check("#endif", "P:# I:endif L:");
}

static void lone_quotes_where_compilers_do_not_look(void **state)
{
	(void)state;
	check("#error don't \"do\n x", "P:# I:error I:don P:' I:t P:\" I:do L: I:x");
	check("#if 0\n \"it\n#endif\n", "P:# I:if N:0 L: P:\" I:it P:# I:endif L:");
	check("#if 0\n#if 1\n\"\n#endif\n\"\n#else\nx\n#endif",
		"P:# I:if N:0 L: P:# I:if N:1 L: P:\" P:# I:endif L: P:\" P:# I:else L: I:x P:# "
		"I:endif L:");
	check("don't", "I:don P:' I:t");
}

static void fails(const char *source, const char *text, unsigned line, unsigned col)
{
	struct lex l = lex_new(str_from(source), S("t.cu"));
	struct tok t = {.kind = TOK_PUNCT};
	struct err *e = NULL;
	while (!e && t.kind != TOK_END)
		e = lex_next(&l, &t);
	assert_non_null(e);
	assert_int_equal(e->line, line);
	assert_int_equal(e->col, col);
	assert_string_equal(e->path, "t.cu");
	assert_err_says(e, E_HIPIFY, text);
}

static void what_does_not_end_is_an_error_with_its_place(void **state)
{
	(void)state;
	fails("a\n b /* c", "comment", 2, 4);
	fails("/*/", "comment", 1, 1);
	fails("\n\nx = \"abc\n;", "string", 3, 5);
	fails("R\"x(abc)\"", "raw string", 1, 2);
	fails("#if 1\n\"\n#endif", "string", 2, 1);
}

static void lines_are_counted(void **state)
{
	(void)state;
	struct lex l = lex_new(S("a /*\n\n*/ b\\\n c R\"(\n)\" d\n#x\ne"), S("t"));
	static const struct {
		const char *word;
		unsigned line;
	} want[] = {{"a", 1}, {"b", 3}, {"c", 4}, {"d", 5}, {"e", 7}};
	size_t i = 0;
	for (struct tok t = {0};;) {
		assert_ok(lex_next(&l, &t));
		if (t.kind == TOK_END)
			break;
		if (i < 5 && tok_is(&l, &t, str_from(want[i].word)))
			assert_int_equal(t.line, want[i++].line);
	}
	assert_int_equal(i, 5);
}

static void a_byte_order_mark_is_skipped(void **state)
{
	(void)state;
	check("\xef\xbb\xbf#define a", "P:# I:define I:a L:");
}

static void text_must_be_utf8_without_nul(void **state)
{
	(void)state;
	static const char *const bad[] = {"a\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
		"\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xf8\x88\x80\x80\x80"};
	assert_ok(lex_check_text(S("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), S("t")));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_err_says(lex_check_text(str_from(bad[i]), S("t")), E_HIPIFY, "UTF-8");
	static const char *const any[] = {"// J\xf6rg\nint a;", "/* \xe9 */ a",
		"f(\"\x92\", '\xe9')", "R\"(\xe9)\"", "#error caf\xe9\na",
		"#if 0\ncaf\xe9\n#endif\n"};
	for (size_t i = 0; i < sizeof(any) / sizeof(*any); i++)
		assert_ok(lex_check_text(str_from(any[i]), S("t")));
	struct err *e = lex_check_text(S("// J\xf6rg\nint caf\xe9;"), S("t"));
	assert_non_null(e);
	assert_int_equal(e->line, 2);
	err_free(e);
	struct str nul = {.p = "// \xe9\0b", .n = 6};
	assert_err_says(lex_check_text(nul, S("t")), E_HIPIFY, "NUL");
	nul = (struct str){.p = "a\0b", .n = 3};
	assert_err_says(lex_check_text(nul, S("t")), E_HIPIFY, "NUL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_numbers_and_punctuation),
		cmocka_unit_test(comments_are_no_tokens),
		cmocka_unit_test(literals),
		cmocka_unit_test(preprocessor_lines_end),
		cmocka_unit_test(lone_quotes_where_compilers_do_not_look),
		cmocka_unit_test(what_does_not_end_is_an_error_with_its_place),
		cmocka_unit_test(lines_are_counted),
		cmocka_unit_test(a_byte_order_mark_is_skipped),
		cmocka_unit_test(text_must_be_utf8_without_nul),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
