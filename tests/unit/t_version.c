/* PEP 440 and Debian versions: lang/python/version.h, against a table from the documents themselves, the
 * Python library `packaging` and dpkg. */
#include "test.h"

#include "base/proc.h"
#include "lang/python/version.h"

static const struct version *parse(struct arena *a, struct str text)
{
	const struct version *v = NULL;
	assert_ok(version_parse(a, text, &v));
	return v;
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* "Summary of permitted suffixes and relative ordering" of the specification. */
static const char *const ascending[] = {"1.dev0", "1.0.dev456", "1.0a1", "1.0a2.dev456",
	"1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2", "1.0b2.post345.dev456", "1.0b2.post345",
	"1.0rc1.dev456", "1.0rc1", "1.0", "1.0+abc.5", "1.0+abc.7", "1.0+5", "1.0.post456.dev34",
	"1.0.post456", "1.0.15", "1.1.dev1", "1!0.1"};

static void versions_have_the_order_of_the_specification(void **state)
{
	(void)state;
	ARENA(a);
	enum { N = sizeof(ascending) / sizeof(*ascending) };
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			const struct version *x = parse(&a, str_from(ascending[i])),
					     *y = parse(&a, str_from(ascending[j]));
			if (sign(version_cmp(x, y)) != sign(i - j))
				print_error("%s %s\n", ascending[i], ascending[j]);
			assert_int_equal(sign(version_cmp(x, y)), sign(i - j));
		}
}

static const struct {
	const char *text, *normal;
} normals[] = {
	{.text = "1.1RC1", .normal = "1.1rc1"},
	{.text = "00!1.01.0", .normal = "1.1.0"},
	{.text = "1.1.a1", .normal = "1.1a1"},
	{.text = "1.1-alpha_1", .normal = "1.1a1"},
	{.text = "1.1c3", .normal = "1.1rc3"},
	{.text = "1.1pre", .normal = "1.1rc0"},
	{.text = "1.2-post2", .normal = "1.2.post2"},
	{.text = "1.2rev", .normal = "1.2.post0"},
	{.text = "1.0-1", .normal = "1.0.post1"},
	{.text = "1.2-dev_2", .normal = "1.2.dev2"},
	{.text = "1.0+Ubuntu-1_x", .normal = "1.0+ubuntu.1.x"},
	{.text = "v1.0\n", .normal = "1.0"},
	{.text = "1!2", .normal = "1!2"},
	{.text = "1.0+001.0a", .normal = "1.0+1.0a"},
};

static void versions_are_normalised(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(normals) / sizeof(*normals); i++)
		assert_str(
			version_text(&a, parse(&a, str_from(normals[i].text))), normals[i].normal);
}

static const char *const wrong[] = {"", " ", "x", "1.", "1..2", "1.0+", "1.0+a..b",
	"1.0.dev1.post1", "1.0 1", "-1", "1.0a1b1", "!1", "1!", "1.0\xff", "1.0+\xc3\xa4"};

static void other_text_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	const struct version *v;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_err_says(
			version_parse(&a, str_from(wrong[i]), &v), E_SYNTAX, "is not a version");
	assert_err(version_parse(&a, (struct str){.p = "1\0002", .n = 3}, &v), E_SYNTAX);
}

static const struct {
	const char *version, *spec;
	bool match;
} matches[] = {
	{.version = "2.2.post3", .spec = "~=2.2", .match = true},
	{.version = "3.0", .spec = "~=2.2"},
	{.version = "1.4.5", .spec = "~=1.4.5a4", .match = true},
	{.version = "1.5", .spec = "~=1.4.5a4"},
	{.version = "1.1.post1", .spec = "==1.1"},
	{.version = "1.1.post1", .spec = "==1.1.*", .match = true},
	{.version = "1.1.post1", .spec = "!=1.1", .match = true},
	{.version = "1.1.post1", .spec = "!=1.1.*"},
	{.version = "1.1a1", .spec = "==1.1.*", .match = true},
	{.version = "1.7.0.post1", .spec = ">1.7"},
	{.version = "1.7.1", .spec = ">1.7", .match = true},
	{.version = "1.7.0.post3", .spec = ">1.7.post2", .match = true},
	{.version = "3.1.dev0", .spec = "<3.1"},
	{.version = "3.1rc1", .spec = "<3.1"},
	{.version = "3.1.dev0", .spec = "<3.1rc1", .match = true},
	{.version = "1.0+local", .spec = "==1.0", .match = true},
	{.version = "1.0+local", .spec = ">1.0"},
	{.version = "1.0", .spec = "==1.0+local"},
	{.version = "1.0+local", .spec = "===1.0"},
	{.version = "1.0", .spec = "===1.0", .match = true},
	{.version = "1.5", .spec = ">=1.0, !=1.3.*, <2", .match = true},
	{.version = "1.3.7", .spec = ">=1.0, !=1.3.*, <2"},
	{.version = "1.0", .spec = "", .match = true},
};

static void specifiers_select(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); i++) {
		bool match = !matches[i].match;
		const struct version *v = parse(&a, str_from(matches[i].version));
		assert_ok(version_match(v, str_from(matches[i].spec), &match));
		if (match != matches[i].match)
			print_error("%s %s\n", matches[i].version, matches[i].spec);
		assert_int_equal(match, matches[i].match);
	}
}

static const char *const wrong_specs[] = {"1.0", "=1.0", "~=1", "<1.*", "==1.dev1.*", "==1+a.*",
	"~=1.0+a", ">1.0+a", "==", ">=1,x", "===", "=== 1 2", "~=1.0.*"};

static void wrong_specifiers_are_refused(void **state)
{
	(void)state;
	ARENA(a);
	const struct version *v = parse(&a, S("1.0"));
	bool match;
	for (size_t i = 0; i < sizeof(wrong_specs) / sizeof(*wrong_specs); i++)
		assert_err_says(version_match(v, str_from(wrong_specs[i]), &match), E_SYNTAX,
			"is not a version specifier");
}

static struct str unescape(struct arena *a, struct str s)
{
	size_t at = str_find(s, S("\\t"));
	if (at == s.n)
		return s;
	return str_fmt(a, "%.*s\t%.*s", (int)at, s.p, STR(str_sub(s, at + 2, s.n)));
}

/* One line of tests/oracle/versions.py; true when we say the same. */
/* Of a normalised version: does it say a, b, rc or dev before the local part? */
static bool is_prerelease(struct str text)
{
	text = str_sub(text, 0, str_chr(text, '+'));
	return str_contains(text, S("a")) || str_contains(text, S("b")) ||
	       str_contains(text, S("rc")) || str_contains(text, S("dev"));
}

static bool agrees(struct arena *a, struct str line)
{
	struct str kind, x = {0}, y = {0}, z = {0};
	const struct version *v, *w;
	bool match = false;
	str_next(&line, '\t', &kind);
	if (str_next(&line, '\t', &x))
		x = unescape(a, x);
	if (str_next(&line, '\t', &y))
		y = unescape(a, y);
	str_next(&line, '\t', &z);
	if (kind.p[0] == 'I') {
		CLEANUP(err_freep) struct err *e = version_parse(a, x, &v);
		return e != NULL;
	}
	if (kind.p[0] == 'X') {
		CLEANUP(err_freep) struct err *e = version_match(parse(a, S("1")), x, &match);
		return e != NULL;
	}
	v = parse(a, x);
	if (kind.p[0] == 'N')
		return str_eq(version_text(a, v), y) &&
		       is_prerelease(version_text(a, v)) == str_eq(z, S("1"));
	if (kind.p[0] == 'C') {
		w = parse(a, y);
		return sign(version_cmp(v, w)) == (int)strtol(z.p, NULL, 10);
	}
	assert_ok(version_match(v, y, &match));
	return match == str_eq(z, S("1"));
}

static void python_packaging_agrees(void **state)
{
	(void)state;
	ARENA(a);
	struct proc p = {.limit = 16 << 20};
	struct proc_result r;
	proc_arg(&a, &p, "python3", "tests/oracle/versions.py", NULL);
	struct err *e = proc_run(&a, &p, &r);
	if (e || r.status == 77) {
		err_free(e);
		skip();
	}
	assert_int_equal(r.status, 0);
	struct str line;
	unsigned n = 0, bad = 0;
	while (str_next(&r.out, '\n', &line)) {
		struct arena_mark m = arena_mark(&a);
		n++;
		if (!agrees(&a, line) && ++bad < 40)
			print_error("%.*s\n", STR(line));
		arena_rewind(&a, m);
	}
	assert_int_equal(bad, 0);
	assert_true(n > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_have_the_order_of_the_specification),
		cmocka_unit_test(versions_are_normalised),
		cmocka_unit_test(other_text_is_refused),
		cmocka_unit_test(specifiers_select),
		cmocka_unit_test(wrong_specifiers_are_refused),
		cmocka_unit_test(python_packaging_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
