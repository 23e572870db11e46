/* Python source to tokens and statements; see token.h. */
#include "lang/python/token.h"

enum {
	MAX_OPEN = 200, /* as in CPython */
	MAX_MESSAGE = 300,
};

struct py_setters VEC_OF(size_t); /* ascending numbers of the statements that set a name */

struct lexer {
	struct arena *a;
	struct py_module *m;
	const char *p, *end, *line_start;
	unsigned line;
	size_t first;                /* first token of the current logical line */
	unsigned def_col, block_col; /* columns of the enclosing def and compound; 0 = none */
	unsigned open;               /* number of open brackets */
	struct {
		char c;
		unsigned line, col;
	} stack[MAX_OPEN];
};

struct err *py_error(const struct py_module *m, unsigned line, unsigned col, const char *fmt, ...)
{
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	/* A message may quote a name of any length. */
	if (text.n > MAX_MESSAGE)
		text = str_fmt(&tmp, "%.*s...", MAX_MESSAGE, text.p);
	return err_at(err_new(E_TORCH, "%.*s", STR(text)),
		(struct loc){.path = m->name, .line = line, .col = col});
}

static unsigned col_of(const struct lexer *l, const char *p)
{
	return (unsigned)(p - l->line_start) + 1;
}

static bool name_char(char c)
{
	return ascii_word(c) || (c & 0x80);
}

static char peek(const struct lexer *l, size_t ahead)
{
	return (size_t)(l->end - l->p) > ahead ? l->p[ahead] : '\0';
}

/* Steps over a line end, counting it. */
static void newline(struct lexer *l)
{
	if (*l->p == '\r' && peek(l, 1) == '\n')
		l->p++;
	l->p++;
	l->line++;
	l->line_start = l->p;
}

static void push(
	struct lexer *l, enum py_token_kind kind, const char *from, unsigned line, unsigned col)
{
	*VEC_PUSH(l->a, &l->m->tokens) = (struct py_token){
		.text = {.p = from, .n = (size_t)(l->p - from)},
		.kind = kind,
		.line = line,
		.col = col,
	};
}

/* ---- statements ---- */

static bool starts_block(const struct py_module *m, size_t token)
{
	static const char *const words[] = {"if", "elif", "else", "for", "while", "with", "try",
		"except", "finally", "match", "case", NULL};
	struct py_token t = m->tokens.v[token];
	/* match and case are ordinary names elsewhere. */
	return t.kind == PY_TOKEN_NAME && str_is_one_of(t.text, words) &&
	       !py_is(m, token + 1, S("="));
}

/* The "=" of `NAME = ...` or `NAME: type = ...` before token `to`; 0 = neither. */
static size_t assignment(const struct py_module *m, size_t from, size_t to)
{
	if (m->tokens.v[from].kind != PY_TOKEN_NAME)
		return 0;
	if (py_is(m, from + 1, S("=")))
		return from + 1;
	if (!py_is(m, from + 1, S(":")))
		return 0;
	for (size_t i = from + 2; i < to; i++)
		if (py_is(m, i, S("=")))
			return i;
	return 0;
}

static void add_statement(struct lexer *l, size_t from, size_t to, enum py_place place)
{
	struct py_module *m = l->m;
	if (from == to)
		return;
	struct py_statement s = {.from = from, .to = to, .place = place};
	size_t eq = assignment(m, from, to);
	if (eq && eq + 1 < to && !starts_block(m, from)) {
		s.target = m->tokens.v[from].text;
		s.value = eq + 1;
	}
	*VEC_PUSH(l->a, &m->statements) = s;
}

/* The logical line is over: cut it at its semicolons, and at the first colon of `if x: NAME = ...`. */
static void end_line(struct lexer *l)
{
	static const char *const defs[] = {"def", "class", "async", "@", NULL};
	struct py_module *m = l->m;
	size_t from = l->first, to = m->tokens.n;
	if (from == to)
		return;
	unsigned col = m->tokens.v[from].col;
	bool head = starts_block(m, from);
	if (col <= l->def_col)
		l->def_col = 0;
	if (col <= l->block_col)
		l->block_col = 0;
	if (!l->def_col && str_is_one_of(m->tokens.v[from].text, defs))
		l->def_col = col;
	if (!l->block_col && head)
		l->block_col = col;
	enum py_place place = l->def_col                ? PY_INSIDE_DEF
			      : l->block_col || col > 1 ? PY_BLOCK
							: PY_PLAIN;
	for (size_t i = from; i < to; i++) {
		/* Inside brackets a semicolon is an error in Python; here it also ends a statement. */
		bool body = head && i + 2 < to && py_is(m, i, S(":")) && py_is(m, i + 2, S("="));
		if (!body && !py_is(m, i, S(";")))
			continue;
		add_statement(l, from, body ? i + 1 : i, place);
		from = i + 1;
		head = false;
	}
	add_statement(l, from, to, place);
	l->first = to;
}

static void link_target(struct arena *a, struct map *map, struct str name, size_t statement)
{
	struct py_setters *all = map_get(map, name);
	if (!all) {
		all = NEW(a, struct py_setters);
		map_put(map, name, all);
	}
	*VEC_PUSH(a, all) = statement;
}

struct py_statement *py_setter(
	const struct py_module *m, bool anywhere, struct str name, size_t before)
{
	const struct py_setters *all = map_get(anywhere ? &m->all_targets : &m->targets, name);
	size_t low = 0, high = all ? all->n : 0;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (all->v[mid] < before)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &m->statements.v[all->v[low - 1]] : NULL;
}

size_t py_statement_at(const struct py_module *m, size_t token)
{
	size_t low = 0, high = m->statements.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (m->statements.v[mid].to <= token)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* ---- tokens ---- */

static struct err *string(struct lexer *l, const char *from)
{
	char quote = *l->p;
	unsigned line = l->line, col = col_of(l, from);
	bool triple = peek(l, 1) == quote && peek(l, 2) == quote;
	l->p += triple ? 3 : 1;
	while (l->p < l->end) {
		bool ends_line = *l->p == '\n' || *l->p == '\r';
		if (*l->p == quote && (!triple || (peek(l, 1) == quote && peek(l, 2) == quote))) {
			l->p += triple ? 3 : 1;
			push(l, PY_TOKEN_STRING, from, line, col);
			return NULL;
		}
		if (ends_line && !triple)
			break;
		if (*l->p == '\\' && l->p + 1 < l->end) {
			l->p++;
			ends_line = *l->p == '\n' || *l->p == '\r';
		}
		if (ends_line)
			newline(l);
		else
			l->p++;
	}
	return py_error(l->m, line, col, "a string is not closed");
}

static struct err *word(struct lexer *l)
{
	static const char *const prefixes[] = {
		"r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt", NULL};
	ARENA(tmp);
	const char *from = l->p;
	while (l->p < l->end && name_char(*l->p))
		l->p++;
	struct str text = {.p = from, .n = (size_t)(l->p - from)};
	char c = peek(l, 0);
	if ((c == '"' || c == '\'') && str_is_one_of(str_lower(&tmp, text), prefixes))
		return string(l, from);
	push(l, PY_TOKEN_NAME, from, l->line, col_of(l, from));
	return NULL;
}

static void number(struct lexer *l)
{
	const char *from = l->p;
	bool hex = *l->p == '0' && (peek(l, 1) | 0x20) == 'x';
	while (l->p < l->end && (name_char(*l->p) || *l->p == '.')) {
		char c = (char)(*l->p++ | 0x20), sign = peek(l, 0);
		if (c == 'e' && !hex && (sign == '+' || sign == '-') && ascii_digit(peek(l, 1)))
			l->p++;
	}
	push(l, PY_TOKEN_NUMBER, from, l->line, col_of(l, from));
}

/* Characters that operators start with; "=" may follow the first WITH_EQUAL of them. */
static const char operators[] = "<>=!+-*/%&|^@:~.,;";
enum { WITH_EQUAL = sizeof("<>=!+-*/%&|^@:") - 1 };

static struct err *operator(struct lexer *l)
{
	const char *from = l->p, c = *from;
	const char *known = c ? strchr(operators, c) : NULL;
	unsigned col = col_of(l, from);
	if (c == '(' || c == '[' || c == '{') {
		if (l->open == MAX_OPEN)
			return py_error(
				l->m, l->line, col, "more than %d nested brackets", MAX_OPEN);
		l->stack[l->open].c = c;
		l->stack[l->open].line = l->line;
		l->stack[l->open++].col = col;
	} else if (c == ')' || c == ']' || c == '}') {
		char want = c == ')' ? '(' : c == ']' ? '[' : '{';
		if (!l->open)
			return py_error(l->m, l->line, col, "'%c' closes nothing", c);
		if (l->stack[--l->open].c != want)
			return py_error(l->m, l->line, col,
				"'%c' does not match the '%c' of line %u", c, l->stack[l->open].c,
				l->stack[l->open].line);
	} else if (!known) { /* below 0x80; other characters belong to names */
		return py_error(l->m, l->line, col,
			c > ' ' && c < 0x7f ? "unexpected character '%c'"
					    : "unexpected character 0x%02x",
			c);
	}
	l->p++;
	if (known && known < operators + WITH_EQUAL && peek(l, 0) == '=')
		l->p++;
	push(l, PY_TOKEN_OP, from, l->line, col);
	return NULL;
}

static struct err *step(struct lexer *l)
{
	char c = *l->p, next = peek(l, 1);
	if (c == ' ' || c == '\t' || c == '\f') {
		l->p++;
	} else if (c == '\n' || c == '\r') {
		if (!l->open)
			end_line(l);
		newline(l);
	} else if (c == '#') {
		while (l->p < l->end && *l->p != '\n' && *l->p != '\r')
			l->p++;
	} else if (c == '\\' && (next == '\n' || next == '\r')) {
		l->p++;
		newline(l);
	} else if (ascii_digit(c) || (c == '.' && ascii_digit(next))) {
		number(l);
	} else if (name_char(c)) {
		return word(l);
	} else {
		return c == '"' || c == '\'' ? string(l, l->p) : operator(l);
	}
	return NULL;
}

struct err *py_read(struct arena *a, struct str text, struct str name, struct py_module *ret)
{
	*ret = (struct py_module){.name = name, .targets.a = a, .all_targets.a = a};
	if (utf8_end(text) < text.n || str_chr(text, '\0') < text.n)
		return err_new(E_TORCH, "'%.*s' is not UTF-8 text", STR(name));
	if (str_starts(text, S("\xEF\xBB\xBF")))
		text = str_sub(text, 3, text.n);
	struct lexer l = {.a = a, .m = ret, .p = text.p, .line_start = text.p, .line = 1};
	l.end = text.n ? text.p + text.n : text.p;
	while (l.p < l.end)
		TRY(step(&l));
	if (l.open)
		return py_error(ret, l.stack[l.open - 1].line, l.stack[l.open - 1].col,
			"'%c' is not closed", l.stack[l.open - 1].c);
	end_line(&l);
	for (size_t i = 0; i < ret->statements.n; i++) {
		const struct py_statement *s = &ret->statements.v[i];
		if (s->target.n)
			link_target(a, &ret->all_targets, s->target, i);
		if (s->target.n && s->place != PY_INSIDE_DEF)
			link_target(a, &ret->targets, s->target, i);
	}
	return NULL;
}

bool py_is(const struct py_module *m, size_t token, struct str text)
{
	return token < m->tokens.n && m->tokens.v[token].kind != PY_TOKEN_STRING &&
	       str_eq(m->tokens.v[token].text, text);
}
