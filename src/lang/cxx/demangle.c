/* Reads mangled names; demangle.h is the interface. One function for each rule of the grammar that kernels need; each returns
 * NULL when the name goes on in another way, and the whole name is then left as it is. */
#include "base/buf.h"
#include "base/vec.h"
#include "lang/cxx/demangle_int.h"

enum { DEPTH = 200, NODES = 20000, NAME_MAX_BYTES = 8000 };
#define AUTO "auto:" /* before the number of a DM_PARAMETER */

struct dm_reader {
	struct arena *a;
	struct str s; /* the rest of the name */
	unsigned depth, nodes;
	VEC(struct dm_node *) known; /* S_, S0_, ... stand for these */
	struct dm_node *args;        /* T_, T0_, ... stand for its parts */
	bool in_lambda;              /* there, they stand for the types of its own parameters */
};

/* Facts about the name of a function, which decide how its encoding goes on. */
struct dm_name {
	bool type;     /* it is the name of a type, whose template arguments T_ does not refer to */
	bool has_args; /* it ends with template arguments */
	bool no_result; /* constructors and conversions return nothing */
	struct str qualifiers;
};

static struct dm_node *read_type(struct dm_reader *r);
static struct dm_node *read_encoding(struct dm_reader *r);
static struct dm_node *read_name(struct dm_reader *r, struct dm_name *f);
static struct dm_node *read_argument(struct dm_reader *r);
static struct dm_node *read_expression(struct dm_reader *r);

/* ---- small pieces ---- */

static bool take(struct dm_reader *r, const char *word)
{
	struct str w = str_from(word);
	bool is = str_starts(r->s, w);
	r->s = is ? str_sub(r->s, w.n, r->s.n) : r->s;
	return is;
}

static char peek(const struct dm_reader *r, size_t at)
{
	return at < r->s.n ? r->s.p[at] : '\0';
}

static struct dm_node *node(struct dm_reader *r, enum dm_kind kind, struct str text)
{
	struct dm_node *n = NEW(r->a, struct dm_node);
	r->nodes++;
	n->kind = kind;
	n->text = text;
	return n;
}

static struct dm_node *text(struct dm_reader *r, const char *words)
{
	return node(r, DM_TEXT, str_from(words));
}

/* Makes a node of parts. One that is missing makes it missing, too. */
static struct dm_node *join(
	struct dm_reader *r, enum dm_kind kind, struct dm_node *const *parts, size_t n)
{
	struct dm_node *all = node(r, kind, S(""));
	for (size_t i = 0; i < n; i++) {
		if (!parts[i])
			return NULL;
		*VEC_PUSH(r->a, all) = parts[i];
	}
	return all;
}

#define JOIN(r, ...)                                                                               \
	join((r), DM_SEQUENCE, (struct dm_node *const[]){__VA_ARGS__},                             \
		sizeof((struct dm_node *const[]){__VA_ARGS__}) / sizeof(struct dm_node *))

static struct dm_node *wrap(
	struct dm_reader *r, enum dm_kind kind, const char *mark, struct dm_node *in)
{
	struct dm_node *n = in ? node(r, kind, str_from(mark)) : NULL;
	if (n)
		*VEC_PUSH(r->a, n) = in;
	return n;
}

static struct dm_node *remember(struct dm_reader *r, struct dm_node *n)
{
	if (n)
		*VEC_PUSH(r->a, &r->known) = n;
	return n;
}

static bool read_number(struct dm_reader *r, uint64_t *ret)
{
	size_t n = str_span(r->s, ASCII_DIGITS);
	bool is = n && n < 10 && str_u64(str_sub(r->s, 0, n), 10, ret);
	r->s = str_sub(r->s, n, r->s.n);
	return is;
}

/* The number behind S, T or fp: "_" is 0, "0_" is 1. */
static bool read_sequence_number(struct dm_reader *r, unsigned base, size_t *ret)
{
	size_t n = 0;
	for (*ret = 0; n < 6 && peek(r, n) != '_'; n++) {
		char c = peek(r, n);
		if (!ascii_digit(c) && !(base > 10 && c >= 'A' && c <= 'Z'))
			return false;
		*ret = *ret * base + (size_t)(ascii_digit(c) ? c - '0' : c - 'A' + 10);
	}
	*ret += n > 0;
	r->s = str_sub(r->s, n, r->s.n);
	return take(r, "_");
}

/* ---- names ---- */

/* clang-format off */
static const struct dm_code {
	const char *code, *text;
	unsigned operands; /* their number in an expression */
} operators[] = {
	{"nw", " new", 0}, {"na", " new[]", 0}, {"dl", " delete", 0}, {"da", " delete[]", 0},
	{"aw", " co_await", 1}, {"ps", "+", 1}, {"ng", "-", 1}, {"ad", "&", 1}, {"de", "*", 1},
	{"co", "~", 1}, {"pl", "+", 2}, {"mi", "-", 2}, {"ml", "*", 2}, {"dv", "/", 2}, {"rm", "%", 2},
	{"an", "&", 2}, {"or", "|", 2}, {"eo", "^", 2}, {"aS", "=", 2}, {"pL", "+=", 2},
	{"mI", "-=", 2}, {"mL", "*=", 2}, {"dV", "/=", 2}, {"rM", "%=", 2}, {"aN", "&=", 2},
	{"oR", "|=", 2}, {"eO", "^=", 2}, {"ls", "<<", 2}, {"rs", ">>", 2}, {"lS", "<<=", 2},
	{"rS", ">>=", 2}, {"eq", "==", 2}, {"ne", "!=", 2}, {"lt", "<", 2}, {"gt", ">", 2},
	{"le", "<=", 2}, {"ge", ">=", 2}, {"ss", "<=>", 2}, {"nt", "!", 1}, {"aa", "&&", 2},
	{"oo", "||", 2}, {"pp", "++", 1}, {"mm", "--", 1}, {"cm", ",", 2}, {"pm", "->*", 2},
	{"pt", "->", 2}, {"cl", "()", 0}, {"ix", "[]", 0}, {"qu", "?", 3}, {0},
};

static const struct dm_code builtins[] = {
	{"v", "void", 0}, {"w", "wchar_t", 0}, {"b", "bool", 0}, {"c", "char", 0},
	{"a", "signed char", 0}, {"h", "unsigned char", 0}, {"s", "short", 0},
	{"t", "unsigned short", 0}, {"i", "int", 0}, {"j", "unsigned int", 0}, {"l", "long", 0},
	{"m", "unsigned long", 0}, {"x", "long long", 0}, {"y", "unsigned long long", 0},
	{"n", "__int128", 0}, {"o", "unsigned __int128", 0}, {"f", "float", 0}, {"d", "double", 0},
	{"e", "long double", 0}, {"g", "__float128", 0}, {"z", "...", 0}, {"Dd", "decimal64", 0},
	{"De", "decimal128", 0}, {"Df", "decimal32", 0}, {"Dh", "half", 0}, {"Di", "char32_t", 0},
	{"Ds", "char16_t", 0}, {"Du", "char8_t", 0}, {"Da", "auto", 0}, {"Dc", "decltype(auto)", 0},
	{"Dn", "decltype(nullptr)", 0}, {"DF16b", "std::bfloat16_t", 0}, {"DF16_", "_Float16", 0},
	{"DF32_", "_Float32", 0}, {"DF64_", "_Float64", 0}, {0},
};

static const struct dm_code standard[] = {
	{"Sa", "std::allocator", 0}, {"Sb", "std::basic_string", 0}, {"Ss", "std::string", 0},
	{"Si", "std::istream", 0}, {"So", "std::ostream", 0}, {"Sd", "std::iostream", 0}, {0},
};

/* clang-format on */

/* The code that comes next, which is taken, or NULL. */
static const struct dm_code *take_code(struct dm_reader *r, const struct dm_code *c)
{
	while (c->code && !take(r, c->code))
		c++;
	return c->code ? c : NULL;
}

static struct dm_node *read_source_name(struct dm_reader *r)
{
	uint64_t n;
	if (!read_number(r, &n) || !n || n > r->s.n)
		return NULL;
	struct str name = str_sub(r->s, 0, (size_t)n);
	r->s = str_sub(r->s, (size_t)n, r->s.n);
	return node(
		r, DM_TEXT, str_starts(name, S("_GLOBAL__N")) ? S("(anonymous namespace)") : name);
}

static struct dm_node *read_parameters(struct dm_reader *r, const char *end)
{
	struct dm_node *list = node(r, DM_LIST, S(""));
	if (take(r, "v"))
		return *end && !take(r, end) ? NULL : list;
	while (*end ? !take(r, end) : r->s.n && !strchr("EQ.", peek(r, 0))) {
		struct dm_node *type = read_type(r);
		if (!type)
			return NULL;
		*VEC_PUSH(r->a, list) = type;
	}
	return list;
}

/* The declarations of template parameters, which newer compilers write before arguments that do not tell them, and before
 * the parameters of a lambda; and the condition behind "Q". They are passed over: false if one cannot be read. */
static bool pass_declarations(struct dm_reader *r)
{
	bool good = r->depth++ < DEPTH;
	while (good && peek(r, 0) == 'T' && peek(r, 1) && strchr("yntpk", peek(r, 1))) {
		if (take(r, "Tt"))
			good = pass_declarations(r) && take(r, "E");
		else if (take(r, "Tn"))
			good = read_type(r) != NULL;
		else if (take(r, "Tk"))
			good = read_name(r, NULL) != NULL;
		else
			r->s = str_sub(r->s, 2, r->s.n);
	}
	r->depth--;
	return good && (!take(r, "Q") || read_expression(r));
}

/* Ut_ and Ul...E_, which the compiler numbers. */
static struct dm_node *read_unnamed(struct dm_reader *r)
{
	size_t number;
	struct dm_node *list = NULL;
	bool lambda = take(r, "Ul"), outer = r->in_lambda;
	if (!lambda && !take(r, "Ut"))
		return NULL;
	r->in_lambda = true;
	if (lambda && pass_declarations(r))
		list = read_parameters(r, "E");
	r->in_lambda = outer;
	if (!read_sequence_number(r, 10, &number))
		return NULL;
	struct dm_node *end = node(r, DM_TEXT, str_fmt(r->a, "#%zu}", number + 1));
	return lambda ? JOIN(r, text(r, "{lambda("), list, text(r, ")"), end)
		      : JOIN(r, text(r, "{unnamed type"), end);
}

static struct dm_node *read_unqualified(struct dm_reader *r, struct dm_name *f)
{
	const struct dm_code *c;
	struct dm_node *n = NULL;
	take(r, "L"); /* internal linkage */
	if (ascii_digit(peek(r, 0)))
		n = read_source_name(r);
	else if (peek(r, 0) == 'U')
		n = read_unnamed(r);
	else if ((f->no_result = take(r, "cv")))
		n = JOIN(r, text(r, "operator "), read_type(r));
	else if (take(r, "li"))
		n = JOIN(r, text(r, "operator\"\" "), read_source_name(r));
	else if ((c = take_code(r, operators)))
		n = JOIN(r, text(r, "operator"), text(r, c->text));
	while (n && take(r, "B")) {
		struct dm_node *tag = read_source_name(r);
		n = tag ? JOIN(r, n) : NULL;
		if (n)
			n->text = str_fmt(r->a, "[abi:%.*s]", STR(tag->text));
	}
	return n;
}

/* I...E. With `f`, of the function's own name: T_ refers to these from now on. */
static struct dm_node *read_arguments(struct dm_reader *r, struct dm_node *name, struct dm_name *f)
{
	struct dm_node *list = node(r, DM_LIST, S("")), *outer = r->args;
	bool lambda = r->in_lambda;
	r->in_lambda = false;
	if (f)
		r->args = list;
	while (!take(r, "E")) {
		struct dm_node *one = pass_declarations(r) ? read_argument(r) : NULL;
		if (!one)
			return NULL;
		*VEC_PUSH(r->a, list) = one;
		if (peek(r, 0) == 'Q' && !pass_declarations(r))
			return NULL;
	}
	r->in_lambda = lambda;
	r->args = f ? list : outer;
	struct dm_node *all = JOIN(r, name, text(r, "<"), list);
	if (all)
		all->text = S(">");
	return all;
}

static struct dm_node *parameter_name(struct dm_reader *r, size_t i)
{
	return node(r, DM_PARAMETER, str_fmt(r->a, AUTO "%zu", i + 1));
}

static struct dm_node *parameter_of(struct dm_reader *r, size_t i)
{
	if (r->in_lambda)
		return parameter_name(r, i);
	return r->args && i < r->args->n ? r->args->v[i] : NULL;
}

/* A type is remembered by its number: T_ of a template, and of a lambda or function that is an argument of it, are one
 * substitution and stand for different types. */
static struct dm_node *read_parameter(struct dm_reader *r, bool type)
{
	size_t i;
	if (!take(r, "T") || !read_sequence_number(r, 10, &i))
		return NULL;
	if (type)
		remember(r, parameter_name(r, i));
	return parameter_of(r, i);
}

static struct dm_node *read_substitution(struct dm_reader *r)
{
	size_t i;
	uint64_t number;
	const struct dm_code *c = take_code(r, standard);
	if (c)
		return text(r, c->text);
	if (!take(r, "S") || !read_sequence_number(r, 36, &i) || i >= r->known.n)
		return NULL;
	struct dm_node *n = r->known.v[i];
	if (n->kind == DM_PARAMETER &&
		str_u64(str_sub(n->text, sizeof(AUTO) - 1, n->text.n), 10, &number))
		return parameter_of(r, (size_t)number - 1);
	return n;
}

/* Constructors and destructors are called as their class is. */
static struct dm_node *read_structor(
	struct dm_reader *r, const struct dm_node *scope, struct dm_name *f)
{
	bool gone = take(r, "D");
	if ((!gone && !take(r, "C")) || !scope || !ascii_digit(peek(r, 0)))
		return NULL;
	r->s = str_sub(r->s, 1, r->s.n);
	f->no_result = true;
	while (scope->kind == DM_SEQUENCE && scope->n) /* its last name, without arguments */
		scope = scope->text.n ? scope->v[0] : scope->v[scope->n - 1];
	struct str name = scope->text;
	size_t colon = str_rchr(name, ':'); /* the name of "std::string" is "string" */
	name = colon < name.n ? str_sub(name, colon + 1, name.n) : name;
	return node(r, DM_TEXT, gone ? str_fmt(r->a, "~%.*s", STR(name)) : name);
}

/* The next component of a nested name; *ret_new: it can be referred to. */
static struct dm_node *read_component(
	struct dm_reader *r, struct dm_node *scope, struct dm_name *f, bool *ret_new)
{
	struct dm_node *n;
	bool args = scope && take(r, "I");
	*ret_new = true;
	if (args)
		return read_arguments(r, scope, f->type ? NULL : f);
	char c = peek(r, 0);
	if (c == 'T' || (c == 'S' && peek(r, 1) != 't')) {
		*ret_new = false;
		return scope ? NULL : c == 'T' ? read_parameter(r, true) : read_substitution(r);
	}
	if (c == 'D' && (peek(r, 1) == 't' || peek(r, 1) == 'T'))
		return scope ? NULL : read_type(r);
	bool structor = c == 'C' || (c == 'D' && ascii_digit(peek(r, 1)));
	n = structor ? read_structor(r, scope, f) : read_unqualified(r, f);
	return scope ? JOIN(r, scope, text(r, "::"), n) : n;
}

/* Qualifiers of a member function follow its parameters. */
static struct str read_qualifiers(struct dm_reader *r)
{
	BUF(b, r->a);
	bool restricted = take(r, "r"), is_volatile = take(r, "V"), is_const = take(r, "K");
	buf_add(&b, is_const ? S(" const") : S(""));
	buf_add(&b, is_volatile ? S(" volatile") : S(""));
	buf_add(&b, restricted ? S(" __restrict") : S(""));
	return buf_str(&b);
}

static struct dm_node *read_nested(struct dm_reader *r, struct dm_name *outer)
{
	struct dm_name own = {.type = true}, *f = outer ? outer : &own;
	f->qualifiers = read_qualifiers(r);
	if (peek(r, 0) == 'R' || peek(r, 0) == 'O')
		f->qualifiers = str_fmt(r->a, "%.*s %s", STR(f->qualifiers),
			take(r, "R")   ? "&"
			: take(r, "O") ? "&&"
				       : "");
	struct dm_node *scope = take(r, "St") ? text(r, "std") : NULL;
	bool added = false;
	while (!take(r, "E")) {
		f->has_args = peek(r, 0) == 'I';
		f->no_result = f->no_result && f->has_args;
		scope = read_component(r, scope, f, &added);
		if (!scope)
			return NULL;
		if (added)
			remember(r, scope);
		take(r, "M"); /* behind the name of a member that a lambda initialises */
	}
	if (added) /* the whole is no part; a type that has this name is remembered as such */
		r->known.n--;
	return scope;
}

/* Z...E: something in a function. */
static struct dm_node *read_local(struct dm_reader *r, struct dm_name *f)
{
	uint64_t n;
	size_t from_last;
	struct dm_node *args = r->args, *in = read_encoding(r), *name;
	if (!in || !take(r, "E"))
		return NULL;
	r->args = args;
	if (in->kind == DM_FUNCTION)
		in->v[0] = NULL; /* its result is not shown in a longer name */
	if (take(r, "d")) {
		if (!read_sequence_number(r, 10, &from_last))
			return NULL;
		struct str which = str_fmt(r->a, "::{default arg#%zu}", from_last + 1);
		in = JOIN(r, in, node(r, DM_TEXT, which));
	}
	name = take(r, "s") ? text(r, "string literal") : read_name(r, f);
	if (take(r, "__")) {
		if (!read_number(r, &n) || !take(r, "_"))
			return NULL;
	} else if (peek(r, 0) == '_' && ascii_digit(peek(r, 1))) {
		r->s = str_sub(r->s, 2, r->s.n);
	}
	return JOIN(r, in, text(r, "::"), name);
}

/* f: NULL in a type. */
static struct dm_node *read_name(struct dm_reader *r, struct dm_name *f)
{
	struct dm_name own = {.type = true}, *use = f ? f : &own;
	if (take(r, "N"))
		return read_nested(r, f);
	if (take(r, "Z"))
		return read_local(r, use);
	bool standing = peek(r, 0) == 'S' && peek(r, 1) != 't', in_std = !standing && take(r, "St");
	struct dm_node *n = standing ? read_substitution(r) : read_unqualified(r, use);
	if (in_std)
		n = JOIN(r, text(r, "std::"), n);
	if (!n || !take(r, "I"))
		return standing ? NULL : n;
	if (!standing)
		remember(r, n);
	use->has_args = true;
	return read_arguments(r, n, use->type ? NULL : use);
}

/* ---- types ---- */

static struct dm_node *read_function(struct dm_reader *r)
{
	take(r, "Y"); /* extern "C" */
	struct dm_node *f = node(r, DM_FUNCTION, S("")), *result = read_type(r);
	struct dm_node *list = node(r, DM_LIST, S(""));
	if (!result)
		return NULL;
	take(r, "v");
	while (!take(r, "E")) {
		bool over = peek(r, 1) == 'E' && (peek(r, 0) == 'R' || peek(r, 0) == 'O');
		if (over) {
			f->text = take(r, "R") ? S(" &") : take(r, "O") ? S(" &&") : S("");
			continue;
		}
		struct dm_node *type = read_type(r);
		if (!type)
			return NULL;
		*VEC_PUSH(r->a, list) = type;
	}
	*VEC_PUSH(r->a, f) = result;
	*VEC_PUSH(r->a, f) = NULL;
	*VEC_PUSH(r->a, f) = list;
	return f;
}

/* The number of elements of an array or vector: digits, an expression, or nothing. */
static struct dm_node *read_extent(struct dm_reader *r)
{
	size_t n = str_span(r->s, ASCII_DIGITS);
	struct str digits = str_sub(r->s, 0, n);
	struct dm_node *extent =
		n || peek(r, 0) == '_' ? node(r, DM_TEXT, digits) : read_expression(r);
	r->s = str_sub(r->s, n, r->s.n);
	return take(r, "_") ? extent : NULL;
}

/* D and one letter more. */
static struct dm_node *read_type_d(struct dm_reader *r)
{
	if (take(r, "Dp"))
		return wrap(r, DM_EXPAND, "", read_type(r));
	if (take(r, "Dv")) {
		struct dm_node *extent = read_extent(r), *type = extent ? read_type(r) : NULL;
		return JOIN(r, type, text(r, " __vector("), extent, text(r, ")"));
	}
	if (take(r, "DT") || take(r, "Dt")) {
		struct dm_node *e =
			JOIN(r, text(r, "decltype ("), read_expression(r), text(r, ")"));
		return take(r, "E") ? e : NULL;
	}
	return take(r, "Do") ? read_type(r) : NULL; /* noexcept, which c++filt shows nowhere */
}

static const struct dm_code pointers[] = {{"P", "*", DM_POINTER}, {"R", "&", DM_POINTER},
	{"O", "&&", DM_POINTER}, {"C", " _Complex", DM_QUALIFIED},
	{"G", " _Imaginary", DM_QUALIFIED}, {0}};

static struct dm_node *read_qualified(struct dm_reader *r)
{
	if (take(r, "U")) { /* a vendor's: address spaces */
		struct dm_node *word = read_source_name(r), *type = word ? read_type(r) : NULL;
		return JOIN(r, type, text(r, " "), word);
	}
	struct str qualifiers = read_qualifiers(r);
	struct dm_node *n = wrap(r, DM_QUALIFIED, "", read_type(r));
	if (n)
		n->text = qualifiers;
	return n;
}

/* A type that begins with S, T or a name; the first two may be templates. */
static struct dm_node *read_named_type(struct dm_reader *r)
{
	char c = peek(r, 0);
	bool standing = c == 'S' && peek(r, 1) != 't',
	     parameter = c == 'T' && !strchr("sue", peek(r, 1));
	if (c == 'T' && !parameter)
		r->s = str_sub(r->s, 2, r->s.n); /* struct, union or enum, elaborated */
	if (!standing && !parameter)
		return remember(r, read_name(r, NULL));
	struct dm_node *n = standing ? read_substitution(r) : read_parameter(r, true);
	return n && take(r, "I") ? remember(r, read_arguments(r, n, NULL)) : n;
}

static struct dm_node *read_type_inner(struct dm_reader *r)
{
	struct dm_node *parts[2];
	const struct dm_code *c;
	if (strchr("rVKU", peek(r, 0)))
		return remember(r, read_qualified(r));
	if ((c = take_code(r, pointers)))
		return remember(r, wrap(r, (enum dm_kind)c->operands, c->text, read_type(r)));
	if (take(r, "F"))
		return remember(r, read_function(r));
	if (peek(r, 0) == 'A' || peek(r, 0) == 'M') {
		bool array = take(r, "A") || !take(r, "M");
		parts[array] = array ? read_extent(r) : read_type(r);
		parts[!array] = parts[array] ? read_type(r) : NULL;
		return remember(r, join(r, array ? DM_ARRAY : DM_MEMBER, parts, 2));
	}
	if (take(r, "u"))
		return remember(r, read_source_name(r));
	if (peek(r, 0) == 'S' || peek(r, 0) == 'T' || peek(r, 0) == 'N' || peek(r, 0) == 'Z' ||
		ascii_digit(peek(r, 0)))
		return read_named_type(r);
	if ((c = take_code(r, builtins)))
		return text(r, c->text);
	return remember(r, read_type_d(r));
}

static struct dm_node *read_type(struct dm_reader *r)
{
	if (!r->s.n || r->depth > DEPTH || r->nodes > NODES)
		return NULL;
	r->depth++;
	struct dm_node *n = read_type_inner(r);
	r->depth--;
	return n;
}

/* ---- template arguments ---- */

/* A value, behind the L. Integers have their C suffix, everything else its type before it. */
static struct dm_node *read_literal(struct dm_reader *r)
{
	static const struct dm_code suffixes[] = {{"i", "", 0}, {"j", "u", 0}, {"l", "l", 0},
		{"m", "ul", 0}, {"x", "ll", 0}, {"y", "ull", 0}, {0}};
	struct dm_node *type = NULL, *n;
	if (take(r, "_Z")) {
		n = read_encoding(r);
		return take(r, "E") ? n : NULL;
	}
	if (take(r, "b0E"))
		return text(r, "false");
	if (take(r, "b1E"))
		return text(r, "true");
	bool bits = strchr("fde", peek(r, 0)); /* a floating-point number is shown by its bits */
	const struct dm_code *c = take_code(r, suffixes);
	if (!c && !(type = read_type(r)))
		return NULL;
	const char *sign = take(r, "n") ? "-" : "";
	size_t end = str_chr(r->s, 'E');
	struct str digits = str_sub(r->s, 0, end);
	r->s = str_sub(r->s, end, r->s.n);
	n = node(r, DM_TEXT,
		str_fmt(r->a, bits ? "%s[%.*s]%s" : "%s%.*s%s", sign, STR(digits),
			c ? c->text : ""));
	if (type)
		n = JOIN(r, text(r, "("), type, text(r, ")"), n);
	return take(r, "E") ? n : NULL;
}

/* The parts of a list, up to an E. */
static struct dm_node *read_to_end(
	struct dm_reader *r, enum dm_kind kind, struct dm_node *(*read)(struct dm_reader *r))
{
	struct dm_node *list = node(r, kind, S("")), *n;
	while (!take(r, "E")) {
		if (!(n = read(r)))
			return NULL;
		*VEC_PUSH(r->a, list) = n;
	}
	return list;
}

static struct dm_node *read_argument(struct dm_reader *r)
{
	struct dm_node *n;
	if (r->depth > DEPTH || r->nodes > NODES)
		return NULL;
	if (take(r, "L"))
		return read_literal(r);
	if (take(r, "X")) {
		n = read_expression(r);
		return take(r, "E") ? n : NULL;
	}
	if (!take(r, "J"))
		return read_type(r);
	r->depth++;
	n = read_to_end(r, DM_PACK, read_argument);
	r->depth--;
	return n;
}

/* A name in scopes that ends without template arguments. */
static bool is_qualified(const struct dm_node *n)
{
	return n->kind == DM_SEQUENCE && n->n == 3 && str_eq(n->v[1]->text, S("::"));
}

static struct dm_node *in_parentheses(struct dm_reader *r, struct dm_node *n)
{
	return n && is_qualified(n) ? n : JOIN(r, text(r, "("), n, text(r, ")"));
}

/* The scope-resolution operator: "sr", a type or the names of scopes up to an E, and a name in it. */
static struct dm_node *read_resolved(struct dm_reader *r)
{
	struct dm_name own = {0};
	struct dm_node *scope = NULL, *name;
	bool more = take(r, "N") || ascii_digit(peek(r, 0));
	if (!more || !ascii_digit(peek(r, 0)))
		scope = read_type(r);
	for (bool last = !more || take(r, "E");; last = !more || take(r, "E")) {
		name = scope || more ? read_unqualified(r, &own) : NULL;
		scope = scope ? JOIN(r, scope, text(r, "::"), name) : name;
		if (scope && take(r, "I"))
			scope = read_arguments(r, scope, NULL);
		if (!scope || last)
			return scope;
	}
}

static struct dm_node *read_operation(struct dm_reader *r)
{
	const struct dm_code *c = take_code(r, operators);
	if (!c || !c->operands)
		return NULL;
	struct dm_node *x = read_expression(r), *y = NULL, *z = NULL;
	if (c->operands > 1)
		y = x ? read_expression(r) : NULL;
	if (c->operands > 2)
		z = y ? read_expression(r) : NULL;
	/* the address of a function is shown by its name */
	bool address = x && x->kind == DM_FUNCTION && *c->text == '&' && c->operands == 1;
	x = in_parentheses(r, address && is_qualified(x->v[1]) ? x->v[1] : x);
	if (c->operands == 1)
		return JOIN(r, text(r, c->text), x);
	x = JOIN(r, x, text(r, c->text), in_parentheses(r, y));
	if (c->operands > 2)
		x = JOIN(r, x, text(r, " : "), in_parentheses(r, z));
	return str_eq(str_from(c->text), S(">")) ? in_parentheses(r, x) : x;
}

static struct dm_node *read_expression_inner(struct dm_reader *r)
{
	struct dm_node *n;
	size_t i;
	if (take(r, "L"))
		return read_literal(r);
	if (peek(r, 0) == 'T')
		return read_parameter(r, false);
	if (take(r, "sr"))
		return read_resolved(r);
	if (take(r, "sZ"))
		return JOIN(r, text(r, "sizeof...("), read_parameter(r, false), text(r, ")"));
	if (take(r, "st"))
		return JOIN(r, text(r, "sizeof ("), read_type(r), text(r, ")"));
	if (take(r, "sz"))
		return JOIN(r, text(r, "sizeof ("), read_expression(r), text(r, ")"));
	if (take(r, "sp"))
		return wrap(r, DM_EXPAND, "", read_expression(r));
	if (take(r, "cv")) {
		n = JOIN(r, text(r, "("), read_type(r), text(r, ")"));
		return n ? JOIN(r, n, in_parentheses(r, read_expression(r))) : NULL;
	}
	if (take(r, "fp"))
		return read_sequence_number(r, 10, &i)
			       ? node(r, DM_TEXT, str_fmt(r->a, "{parm#%zu}", i + 1))
			       : NULL;
	if (take(r, "tl")) { /* an object of a class: its type and members */
		struct dm_node *type = read_type(r),
			       *members = read_to_end(r, DM_LIST, read_expression);
		return JOIN(r, type, text(r, "{"), members, text(r, "}"));
	}
	if (!ascii_digit(peek(r, 0)))
		return read_operation(r);
	n = read_source_name(r);
	return n && take(r, "I") ? read_arguments(r, n, NULL) : n;
}

static struct dm_node *read_expression(struct dm_reader *r)
{
	if (!r->s.n || r->depth > DEPTH || r->nodes > NODES)
		return NULL;
	r->depth++;
	struct dm_node *n = read_expression_inner(r);
	r->depth--;
	return n;
}

/* ---- the whole ---- */

static struct dm_node *read_encoding(struct dm_reader *r)
{
	struct dm_name f = {0};
	struct dm_node *args = r->args;
	if (r->depth > DEPTH || r->nodes > NODES)
		return NULL;
	r->depth++;
	struct dm_node *name = read_name(r, &f), *result = NULL, *list, *all = name;
	bool function = name && r->s.n && peek(r, 0) != 'E' && peek(r, 0) != '.';
	if (function) {
		bool has_result = f.has_args && !f.no_result;
		result = has_result ? read_type(r) : NULL;
		list = !has_result || result ? read_parameters(r, "") : NULL;
		list = pass_declarations(r) ? list : NULL;
		all = list ? node(r, DM_FUNCTION, f.qualifiers) : NULL;
		for (size_t i = 0; all && i < 3; i++)
			*VEC_PUSH(r->a, all) = i == 0 ? result : i == 1 ? name : list;
	}
	r->depth--;
	r->args = args;
	return all;
}

struct str cxx_demangle(struct arena *a, struct str name, uint64_t *io_work)
{
	ARENA(tmp);
	struct dm_reader r = {.a = &tmp, .s = name};
	BUF(out, &tmp);
	if (name.n > NAME_MAX_BYTES || !take(&r, "_Z"))
		return name;
	struct dm_node *n = read_encoding(&r);
	*io_work += r.nodes;
	if (!n || (r.s.n && *r.s.p != '.') || !dm_write(&out, n, io_work))
		return name;
	if (r.s.n) /* a clone, such as ".llvm.42" */
		buf_fmt(&out, " [clone %.*s]", STR(r.s));
	return str_dup(a, buf_str(&out));
}
