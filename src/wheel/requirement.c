/* Dependency specifiers: a parser for the grammar of PEP 508, to tell which Requires-Dist lines
 * installers would refuse. Environment markers are checked for form, not evaluated. */
#include "base/version.h"
#include "wheel/wheel.h"

struct parser {
	struct str text;
	size_t at;
	unsigned depth;
};

static struct err *wrong(const struct parser *s, const char *expected)
{
	struct str rest = str_sub(s->text, s->at, s->text.n);
	return err_new(E_SYNTAX, "expected %s at '%.*s'", expected, STR(rest));
}

static char peek(const struct parser *s)
{
	return s->at < s->text.n ? s->text.p[s->at] : 0;
}

/* The next character behind blanks. */
static char next(struct parser *s)
{
	while (peek(s) == ' ' || peek(s) == '\t')
		s->at++;
	return peek(s);
}

static bool word_char(char c)
{
	return ascii_alnum(c) || c == '_' || c == '-' || c == '.';
}

static struct str word(struct parser *s)
{
	size_t from = s->at;
	while (word_char(peek(s)))
		s->at++;
	return str_sub(s->text, from, s->at);
}

static struct err *identifier(struct parser *s, struct str *ret)
{
	(void)next(s);
	size_t at = s->at;
	*ret = word(s);
	if (ret->n && ascii_alnum(ret->p[0]) && ascii_alnum(ret->p[ret->n - 1]))
		return NULL;
	s->at = at;
	return wrong(s, "a name");
}

static struct err *extras(struct parser *s, struct str *ret)
{
	if (next(s) != '[')
		return NULL;
	size_t from = ++s->at;
	while (next(s) != ']') {
		struct str name;
		TRY(identifier(s, &name));
		if (next(s) == ']')
			break;
		if (peek(s) != ',')
			return wrong(s, "',' or ']'");
		s->at++;
		if (next(s) == ']')
			return wrong(s, "a name");
	}
	*ret = str_sub(s->text, from, s->at++);
	return NULL;
}

/* ---- markers ---- */

static const char *const variables[] = {"python_version", "python_full_version", "os_name",
	"sys_platform", "platform_release", "platform_system", "platform_version",
	"platform_machine", "platform_python_implementation", "implementation_name",
	"implementation_version", "extra", "extras", "dependency_groups", "os.name", "sys.platform",
	"platform.version", "platform.machine", "platform.python_implementation",
	"python_implementation", "variant_label", "variant_properties", "variant_features",
	"variant_namespaces", NULL};

static struct err *marker_value(struct parser *s)
{
	char quote = next(s);
	if (quote == '"' || quote == '\'') {
		struct str rest = str_sub(s->text, s->at + 1, s->text.n);
		size_t n = str_chr(rest, quote);
		if (n == rest.n)
			return wrong(s, "a closed string");
		s->at += n + 2;
		return NULL;
	}
	size_t at = s->at;
	if (str_is_one_of(word(s), variables))
		return NULL;
	s->at = at;
	return wrong(s, "a marker variable or a string");
}

static bool take(struct parser *s, const char *text)
{
	struct str want = str_from(text);
	(void)next(s);
	if (!str_starts(str_sub(s->text, s->at, s->text.n), want))
		return false;
	size_t end = s->at + want.n;
	if (ascii_alnum(want.p[0]) && end < s->text.n && word_char(s->text.p[end]))
		return false; /* "order" is not "or" */
	s->at = end;
	return true;
}

static struct err *marker_operator(struct parser *s)
{
	static const char *const ops[] = {
		"===", "==", "~=", "!=", "<=", ">=", "<", ">", "in", NULL};
	for (size_t i = 0; ops[i]; i++)
		if (take(s, ops[i]))
			return NULL;
	if (take(s, "not") && take(s, "in"))
		return NULL;
	return wrong(s, "a comparison");
}

static struct err *marker_expression(struct parser *s);

static struct err *marker_term(struct parser *s)
{
	if (!take(s, "(")) {
		TRY(marker_value(s));
		TRY(marker_operator(s));
		return marker_value(s);
	}
	if (++s->depth > 32)
		return wrong(s, "at most 32 nested parentheses");
	TRY(marker_expression(s));
	s->depth--;
	return take(s, ")") ? NULL : wrong(s, "')'");
}

static struct err *marker_expression(struct parser *s)
{
	do {
		TRY(marker_term(s));
	} while (take(s, "and") || take(s, "or"));
	return NULL;
}

/* ---- the whole ---- */

static struct err *url(struct parser *s, struct str *ret)
{
	s->at++;
	(void)next(s);
	size_t from = s->at;
	while (peek(s) && peek(s) != ' ' && peek(s) != '\t')
		s->at++;
	*ret = str_sub(s->text, from, s->at);
	return ret->n ? NULL : wrong(s, "a URL");
}

static struct err *specifier(struct parser *s, struct str *ret)
{
	const struct version *any;
	ARENA(tmp);
	bool parens = take(s, "("), match;
	struct str rest = str_sub(s->text, s->at, s->text.n);
	size_t n = str_chr(rest, parens ? ')' : ';');
	if (parens && n == rest.n)
		return wrong(s, "')'");
	*ret = str_trim(str_sub(rest, 0, n));
	s->at += n + (parens ? 1 : 0);
	if (!ret->n)
		return NULL;
	if (ret->p[0] == ',')
		return wrong(s, "a version specifier in front of ','");
	TRY(version_parse(&tmp, S("1"), &any));
	return version_match(any, *ret, &match);
}

struct err *wheel_requirement_parse(struct arena *a, struct str text, struct requirement *ret)
{
	(void)a;
	struct parser s = {.text = str_trim(text)};
	*ret = (struct requirement){0};
	TRY(identifier(&s, &ret->name));
	TRY(extras(&s, &ret->extras));
	if (next(&s) == '@')
		TRY(url(&s, &ret->url));
	else
		TRY(specifier(&s, &ret->specifier));
	(void)next(&s);
	if (s.at == s.text.n)
		return NULL;
	if (peek(&s) != ';')
		return wrong(&s, "';' or the end");
	s.at++;
	(void)next(&s);
	size_t from = s.at;
	TRY(marker_expression(&s));
	ret->marker = str_trim(str_sub(s.text, from, s.at));
	(void)next(&s);
	return s.at == s.text.n ? NULL : wrong(&s, "the end of the marker");
}
