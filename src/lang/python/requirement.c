/* Dependency specifiers: a parser for the grammar of PEP 508, which evaluates markers while it parses, as far as
 * their variables are known. See requirement.h. */
#include "lang/python/requirement.h"

#include "lang/python/version.h"

struct parser {
	struct str text;
	size_t at;
	unsigned depth;
	struct str python, platform; /* "": not known */
	struct str extra;
};

enum holds { NO, MAYBE, YES }; /* "and" is the minimum, "or" the maximum */

static struct err *wrong(const struct parser *s, const char *expected)
{
	struct str rest = str_sub(s->text, s->at, s->text.n);
	return err_new(E_SYNTAX, "expected %s at '%.*s'", expected, STR(rest));
}

static char peek(const struct parser *s)
{
	return s->at < s->text.n ? s->text.p[s->at] : 0;
}

/* Skips blanks; returns the next character. */
static char next(struct parser *s)
{
	s->at += str_span(str_sub(s->text, s->at, s->text.n), " \t");
	return peek(s);
}

static bool word_char(char c)
{
	return ascii_word(c) || c == '-' || c == '.';
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

/* The variables of markers, with their values on the systems that markers are evaluated for; NULL: it depends. */
static const struct {
	const char *name, *value;
} variables[] = {{"python_version", NULL}, {"python_full_version", NULL}, {"os_name", "posix"},
	{"sys_platform", "linux"}, {"platform_release", NULL}, {"platform_system", "Linux"},
	{"platform_version", NULL}, {"platform_machine", NULL},
	{"platform_python_implementation", "CPython"}, {"implementation_name", "cpython"},
	{"implementation_version", NULL}, {"extra", ""}, {"extras", NULL},
	{"dependency_groups", NULL}, {"os.name", "posix"}, {"sys.platform", "linux"},
	{"platform.version", NULL}, {"platform.machine", NULL},
	{"platform.python_implementation", "CPython"}, {"python_implementation", "CPython"},
	{"variant_label", NULL}, {"variant_properties", NULL}, {"variant_features", NULL},
	{"variant_namespaces", NULL}};

struct operand {
	struct str text;
	bool known, version, extra;
};

static struct err *marker_value(struct parser *s, struct operand *ret)
{
	char quote = next(s);
	if (quote == '"' || quote == '\'') {
		struct str rest = str_sub(s->text, s->at + 1, s->text.n);
		size_t n = str_chr(rest, quote);
		if (n == rest.n)
			return wrong(s, "a closed string");
		s->at += n + 2;
		*ret = (struct operand){.text = str_sub(rest, 0, n), .known = true};
		return NULL;
	}
	size_t at = s->at, n = sizeof(variables) / sizeof(*variables), i = 0;
	struct str name = word(s);
	while (i < n && !str_eq(name, str_from(variables[i].name)))
		i++;
	if (i == n) {
		s->at = at;
		return wrong(s, "a marker variable or a string");
	}
	*ret = (struct operand){
		.version = str_eq(name, S("python_version")), .extra = str_eq(name, S("extra"))};
	ret->text = ret->version                          ? s->python
		    : ret->extra                          ? s->extra
		    : str_eq(name, S("platform_machine")) ? s->platform
							  : str_from(variables[i].value);
	ret->known = ret->text.n || variables[i].value;
	return NULL;
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

static enum holds compare(const struct operand *x, struct str op, const struct operand *y)
{
	ARENA(tmp);
	const struct version *v;
	bool is = false, negated = op.p[0] == 'n' || op.p[0] == '!';
	if (!x->known || !y->known || y->version)
		return MAYBE;
	bool in = str_ends(op, S("in")), equality = str_eq(op, S("==")) || str_eq(op, S("!="));
	if (x->version && !in) {
		struct err *e = version_parse(&tmp, x->text, &v);
		if (!e)
			e = version_match(v, str_fmt(&tmp, "%.*s%.*s", STR(op), STR(y->text)), &is);
		enum holds bad = e ? MAYBE : is ? YES : NO;
		err_free(e);
		return bad;
	}
	if (!in && !equality)
		return MAYBE;
	if (equality && (x->extra || y->extra)) /* "a_b" is "a-b" */
		is = str_eq(package_name(&tmp, x->text, '-'), package_name(&tmp, y->text, '-'));
	else
		is = in ? str_contains(y->text, x->text) : str_eq(x->text, y->text);
	return is != negated ? YES : NO;
}

static struct err *marker_expression(struct parser *s, enum holds *ret);

static struct err *marker_term(struct parser *s, enum holds *ret)
{
	static const char *const ops[] = {
		"===", "==", "~=", "!=", "<=", ">=", "<", ">", "in", NULL};
	struct operand x, y;
	struct str op = {0};
	if (take(s, "(")) {
		if (++s->depth > 32)
			return wrong(s, "at most 32 nested parentheses");
		TRY(marker_expression(s, ret));
		s->depth--;
		return take(s, ")") ? NULL : wrong(s, "')'");
	}
	TRY(marker_value(s, &x));
	for (size_t i = 0; ops[i] && !op.n; i++)
		if (take(s, ops[i]))
			op = str_from(ops[i]);
	if (!op.n && take(s, "not") && take(s, "in"))
		op = S("not in");
	if (!op.n)
		return wrong(s, "a comparison");
	TRY(marker_value(s, &y));
	*ret = compare(&x, op, &y);
	return NULL;
}

/* "and" binds tighter than "or". */
static struct err *marker_expression(struct parser *s, enum holds *ret)
{
	*ret = NO;
	do {
		enum holds all = YES, one;
		do {
			TRY(marker_term(s, &one));
			all = one < all ? one : all;
		} while (take(s, "and"));
		*ret = all > *ret ? all : *ret;
	} while (take(s, "or"));
	return NULL;
}

/* ---- requirements ---- */

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

struct err *requirement_parse(struct str text, struct requirement *ret)
{
	enum holds any;
	struct parser s = {.text = str_trim(text)};
	*ret = (struct requirement){0};
	TRY(identifier(&s, &ret->name));
	TRY(extras(&s, &ret->extras));
	if (take(&s, "@")) {
		(void)next(&s);
		size_t from = s.at;
		while (peek(&s) && peek(&s) != ' ' && peek(&s) != '\t')
			s.at++;
		ret->url = str_sub(s.text, from, s.at);
		if (!ret->url.n)
			return wrong(&s, "a URL");
	} else {
		TRY(specifier(&s, &ret->specifier));
	}
	(void)next(&s);
	if (s.at == s.text.n)
		return NULL;
	if (peek(&s) != ';')
		return wrong(&s, "';' or the end");
	s.at++;
	(void)next(&s);
	size_t from = s.at;
	TRY(marker_expression(&s, &any));
	ret->marker = str_trim(str_sub(s.text, from, s.at));
	(void)next(&s);
	return s.at == s.text.n ? NULL : wrong(&s, "the end of the marker");
}

struct str requirement_name(struct arena *a, struct str text)
{
	struct str name = str_trim(text);
	size_t n = 0;
	while (n < name.n && (ascii_alnum(name.p[n]) || str_chr(S("-_."), name.p[n]) < 3))
		n++;
	return package_name(a, str_sub(name, 0, n), '-');
}

static enum holds holds_with(const struct requirement *r, struct parser s)
{
	enum holds is = YES;
	s.text = r->marker;
	struct err *e = r->marker.n ? marker_expression(&s, &is) : NULL;
	is = e ? MAYBE : is;
	err_free(e);
	return is;
}

bool requirement_holds(const struct requirement *r, struct str python, struct str platform)
{
	return holds_with(r, (struct parser){.python = python, .platform = platform}) == YES;
}

bool requirement_may_hold(
	const struct requirement *r, struct str python, struct str platform, struct str extra)
{
	return holds_with(r, (struct parser){
				     .python = python, .platform = platform, .extra = extra}) != NO;
}
