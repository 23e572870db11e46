/* Reduces a preprocessed text to all that the result of a front end can depend on; see cc_int.h. It leaves out the bodies of
 * plain functions that were not emitted: those of system headers which are made of built-in types and builtins alone, so
 * that compiling them has no effect outside of them (no templates, no names of others, no warnings).
 *
 * The text is one of C++, but only its outermost level is looked at: whatever is not understood stays in. */
#include "base/buf.h"
#include "base/map.h"
#include "cc/cc_int.h"

enum { MAX_HEAD = 256, MAX_NAMES = 64 };

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_SIGN };

struct text_token {
	enum token_kind kind;
	struct str s;
};

struct text_reader {
	struct str text;
	size_t at;
	bool system,
		left_system; /* is this place in a system header? was any since it was cleared? */
	bool broken;
};

/* A line marker: # 12 "file" 1 3 4. Flag 3 stands for a system header. */
static bool is_marker(struct str line)
{
	return line.n > 3 && line.p[0] == '#' && line.p[1] == ' ' && ascii_digit(line.p[2]);
}

static bool is_system(struct str marker)
{
	return str_contains(str_sub(marker, str_rchr(marker, '"'), marker.n), S(" 3"));
}

static bool is_word_char(char c)
{
	return front_word_char(c) || (unsigned char)c >= 0x80;
}

/* The end of a literal that begins at `at` with a quote. */
static size_t literal_end(struct str text, size_t at, bool raw)
{
	char quote = text.p[at];
	if (raw) {
		struct str name = str_sub(text, at + 1, text.n);
		name = str_sub(name, 0, str_chr(name, '('));
		for (size_t i = at + 1 + name.n; i < text.n && name.n <= 16; i++) {
			struct str rest = str_sub(text, i + 1, text.n);
			if (text.p[i] == ')' && str_starts(rest, name) && rest.n > name.n &&
				rest.p[name.n] == '"')
				return i + name.n + 2;
		}
		return text.n;
	}
	for (size_t i = at + 1; i < text.n && text.p[i] != '\n'; i++) {
		if (text.p[i] == quote)
			return i + 1;
		i += text.p[i] == '\\';
	}
	return text.n;
}

static struct text_token next_token(struct text_reader *r)
{
	struct str t = r->text;
	struct text_token ret = {.kind = TOKEN_END, .s = S("")};
	for (bool begins = !r->at; r->at < t.n; begins = t.p[r->at++] == '\n') {
		struct str rest = str_sub(t, r->at, t.n), line;
		if (begins && is_marker(str_sub(rest, 0, 4))) {
			str_next(&rest, '\n', &line);
			r->system = is_system(line);
			r->left_system |= !r->system;
			r->at += line.n;
		}
		if (r->at >= t.n || !strchr(" \t\r\n\f\v", t.p[r->at]))
			break;
	}
	if (r->at >= t.n)
		return ret;
	size_t from = r->at, to = from + 1;
	char c = t.p[from];
	if (c == '"' || c == '\'') {
		ret.kind = TOKEN_TEXT;
		to = literal_end(t, from, false);
	} else if (is_word_char(c)) {
		ret.kind = ascii_digit(c) ? TOKEN_NUMBER : TOKEN_WORD;
		while (to < t.n &&
			(is_word_char(t.p[to]) ||
				(ret.kind == TOKEN_NUMBER && (t.p[to] == '.' || t.p[to] == '\''))))
			to++;
		static const char *const prefixes[] = {
			"R", "LR", "uR", "UR", "u8R", "L", "u", "U", "u8", NULL};
		struct str word = str_sub(t, from, to);
		if (to < t.n && (t.p[to] == '"' || t.p[to] == '\'') &&
			str_is_one_of(word, prefixes)) {
			ret.kind = TOKEN_TEXT;
			to = literal_end(t, to, word.p[word.n - 1] == 'R');
		}
	} else {
		ret.kind = TOKEN_SIGN;
	}
	r->broken |= ret.kind == TOKEN_TEXT && to == t.n;
	r->at = to;
	ret.s = str_sub(t, from, to);
	return ret;
}

static bool is_sign(struct text_token t, char c)
{
	return t.kind == TOKEN_SIGN && t.s.p[0] == c;
}

/* ---- plain functions ---- */
static bool is_type(struct text_token t)
{
	static const char *const words[] = {"void", "bool", "char", "short", "int", "long",
		"unsigned", "signed", "float", "double", "_Float16", NULL};
	return t.kind == TOKEN_WORD && str_is_one_of(t.s, words);
}

static bool is_qualifier(struct text_token t)
{
	static const char *const words[] = {
		"const", "volatile", "static", "inline", "__inline", "__inline__", NULL};
	return t.kind == TOKEN_WORD && str_is_one_of(t.s, words);
}

struct plain {
	const struct text_token *v; /* tokens of a head or a body */
	size_t n;
	struct str name;
	struct str locals[MAX_NAMES];
	size_t nlocals;
};

/* The end of an attribute that changes nothing outside of the function, or `at`. */
static size_t skip_attribute(const struct plain *p, size_t at)
{
	static const char *const harmless[] = {"device", "__device__", "host", "__host__",
		"always_inline", "__always_inline__", "nothrow", "__nothrow__", "unused",
		"__unused__", "const", "__const__", "address_space", NULL};
	size_t i = at, depth = 0;
	static const char *const words[] = {"__attribute__", "__attribute", NULL};
	if (p->v[i].kind != TOKEN_WORD || !str_is_one_of(p->v[i].s, words))
		return at;
	for (i++; i < p->n; i++) {
		struct text_token t = p->v[i];
		depth += is_sign(t, '(');
		if (is_sign(t, ')') && !--depth)
			return i + 1;
		if (!depth || t.kind == TOKEN_TEXT ||
			(t.kind == TOKEN_WORD && !str_is_one_of(t.s, harmless)))
			return at;
	}
	return at;
}

/* The first place from `at` on that is behind such attributes. */
static size_t skip_attributes(const struct plain *p, size_t at)
{
	for (size_t end; at < p->n && (end = skip_attribute(p, at)) > at;)
		at = end;
	return at;
}

/* Is the word at i declared here? Then a type stands before it, perhaps with stars and const between them. */
static bool is_declared(const struct plain *p, size_t i)
{
	while (i && (is_sign(p->v[i - 1], '*') || is_sign(p->v[i - 1], '&') ||
			    str_eq(p->v[i - 1].s, S("const"))))
		i--;
	return i && is_type(p->v[i - 1]);
}

/* static or inline, of built-in types, and nothing else. */
static bool read_head(struct plain *p)
{
	bool linkage = false, type = false, closed = false;
	for (size_t i = skip_attributes(p, 0); i < p->n; i = skip_attributes(p, i + 1)) {
		struct text_token t = p->v[i];
		linkage |=
			is_qualifier(t) && !str_eq(t.s, S("const")) && !str_eq(t.s, S("volatile"));
		type |= is_type(t) && !p->name.n;
		if (closed)
			return false;
		if (is_type(t) || is_qualifier(t) || is_sign(t, '*') || is_sign(t, '&'))
			continue;
		bool opens = i + 1 < p->n && is_sign(p->v[i + 1], '(');
		if (t.kind == TOKEN_WORD && !p->name.n && type && opens) {
			p->name = t.s;
			i++;
		} else if (is_sign(t, ')') && p->name.n) {
			closed = true;
		} else if (t.kind == TOKEN_WORD && p->name.n && is_declared(p, i) &&
			   p->nlocals < MAX_NAMES) {
			p->locals[p->nlocals++] = t.s;
		} else if (!is_sign(t, ',') || !p->name.n) {
			return false;
		}
	}
	return linkage && closed;
}

static bool read_body(struct plain *p)
{
	static const char *const known[] = {"if", "else", "while", "do", "for", "return", "break",
		"continue", "true", "false", NULL};
	static const char *const builtins[] = {"__builtin_", "__hip_atomic_", "__atomic_", NULL};
	for (size_t i = skip_attributes(p, 0); i < p->n; i = skip_attributes(p, i + 1)) {
		struct text_token t = p->v[i];
		bool scope = is_sign(t, ':') && i + 1 < p->n && is_sign(p->v[i + 1], ':');
		if (t.kind == TOKEN_TEXT || scope ||
			(t.kind == TOKEN_SIGN && strchr(".[]#\\@", t.s.p[0])))
			return false;
		if (t.kind != TOKEN_WORD || is_type(t) || str_is_one_of(t.s, known) ||
			str_starts_one_of(t.s, builtins) || str_eq(t.s, S("const")))
			continue;
		size_t k = 0;
		while (k < p->nlocals && !str_eq(p->locals[k], t.s))
			k++;
		if (k < p->nlocals)
			continue;
		if (!is_declared(p, i) || p->nlocals == MAX_NAMES)
			return false;
		p->locals[p->nlocals++] = t.s;
	}
	return true;
}

/* ---- the outermost level ---- */
struct text_range {
	size_t from, to;
};

struct text_ranges {
	struct text_range *v;
	size_t n, cap;
};

struct text_tokens {
	struct text_token *v;
	size_t n, cap;
};

/* Reads up to the brace that closes, which is not among the tokens. */
static void read_braces(struct arena *a, struct text_reader *r, struct text_tokens *ret)
{
	size_t depth = 1;
	ret->n = 0;
	for (;;) {
		struct text_token t = next_token(r);
		depth += is_sign(t, '{');
		depth -= is_sign(t, '}');
		r->broken |= t.kind == TOKEN_END;
		if (!depth || t.kind == TOKEN_END)
			return;
		if (ret->n <= MAX_HEAD * 4) /* a longer one is not plain */
			*VEC_PUSH(a, ret) = t;
	}
}

/* Does the declaration go on behind this brace? It may in a template's parameters, parentheses and constraints. */
static bool goes_on(const struct text_tokens *head)
{
	size_t round = 0, angle = 0;
	bool template = head->n && str_eq(head->v[0].s, S("template")), closed = false;
	for (size_t i = 0; i < head->n; i++) {
		struct text_token t = head->v[i];
		round += is_sign(t, '(');
		round -= is_sign(t, ')') && round;
		if (t.kind == TOKEN_WORD && str_eq(t.s, S("requires")))
			return true;
		angle += !round && is_sign(t, '<');
		angle -= !round && angle && is_sign(t, '>');
		closed |= !angle && !round && is_sign(t, '>');
	}
	return round || (template && !closed) || head->n > MAX_HEAD;
}

/* Finds the bodies that may be left out: those of functions whose names the IR does not have. */
static bool find_bodies(
	struct arena *a, struct str text, const struct map *names, struct text_ranges *ret)
{
	struct text_reader r = {.text = text};
	struct text_tokens head = {0}, body = {0};
	for (;;) {
		struct text_token t = next_token(&r);
		if (!head.n)
			r.left_system = !r.system;
		if (t.kind == TOKEN_END)
			return !r.broken;
		if (is_sign(t, ';') || is_sign(t, '}')) {
			head.n = 0;
			continue;
		}
		if (!is_sign(t, '{')) {
			if (head.n <= MAX_HEAD)
				*VEC_PUSH(a, &head) = t;
			continue;
		}
		size_t first = head.n && str_eq(head.v[0].s, S("inline"));
		bool space = head.n > first && str_eq(head.v[first].s, S("namespace"));
		if (space || (head.n == 2 && str_eq(head.v[0].s, S("extern")) &&
				     head.v[1].kind == TOKEN_TEXT)) {
			head.n = 0;
			continue;
		}
		size_t from = r.at;
		read_braces(a, &r, &body);
		struct plain p = {.v = head.v, .n = head.n};
		bool plain = head.n <= MAX_HEAD && body.n <= MAX_HEAD * 4 && read_head(&p);
		p.v = body.v;
		p.n = body.n;
		if (plain && !r.broken && !r.left_system && read_body(&p) &&
			!map_has(names, p.name))
			*VEC_PUSH(a, ret) = (struct text_range){.from = from, .to = r.at - 1};
		if (!goes_on(&head))
			head.n = 0;
	}
}

/* Puts all names of the IR's symbols into *ret: _ZN1a3fooEv has "a" and "foo". */
static void names_of_ir(struct str ir, struct map *ret)
{
	for (size_t at; (at = str_chr(ir, '@')) < ir.n;) {
		ir = str_sub(ir, at + 1, ir.n);
		size_t n = 0;
		while (n < ir.n && (is_word_char(ir.p[n]) || ir.p[n] == '.'))
			n++;
		struct str symbol = str_sub(ir, 0, n);
		if (!n || !map_put(ret, symbol, NULL))
			continue;
		for (size_t i = 0; i < n; i++) {
			size_t length = 0, k = i;
			while (k < n && k < i + 4 && ascii_digit(symbol.p[k]))
				length = length * 10 + (size_t)(symbol.p[k++] - '0');
			if (k > i && length && length <= n - k)
				map_put(ret, str_sub(symbol, k, k + length), NULL);
		}
	}
}

struct str front_reduce(struct arena *a, struct str text, struct str ir)
{
	MAP(names, a);
	struct text_ranges cut = {0};
	struct str rest = text, line, file = S(""), said = S("");
	BUF(out, a);
	names_of_ir(ir, &names);
	if (!find_bodies(a, text, &names, &cut))
		cut.n = 0;
	size_t at = 0, next = 0;
	uint64_t number = 0;
	while (str_next(&rest, '\n', &line)) {
		size_t from = at, end = at + line.n;
		at = end + 1;
		if (is_marker(line)) {
			struct str digits = str_sub(line, 2, line.n);
			if (str_u64(str_sub(digits, 0, str_chr(digits, ' ')), 10, &number))
				file = str_sub(digits, str_chr(digits, '"'), str_rchr(digits, '"'));
			continue;
		}
		bool begun = false;
		while (from < end) {
			while (next < cut.n && cut.v[next].to <= from)
				next++;
			bool inside = next < cut.n && cut.v[next].from <= from;
			size_t to = next == cut.n ? end
				    : inside      ? cut.v[next].to
						  : cut.v[next].from;
			to = to < end ? to : end;
			struct str piece = str_sub(text, from, to);
			from = to;
			if (inside || !str_trim(piece).n)
				continue;
			if (!str_eq(file, said))
				buf_fmt(&out, "\n#%.*s", STR(file));
			said = file;
			if (!begun)
				buf_fmt(&out, "\n%llu", (unsigned long long)number);
			buf_char(&out, ' ');
			buf_add(&out, piece);
			begun = true;
		}
		number++;
	}
	return buf_str(&out);
}

void front_builtins(struct arena *a, struct str text, struct strs *ret)
{
	const struct str begin = S("__builtin_amdgcn_");
	MAP(seen, a);
	for (size_t at; (at = str_find(text, begin)) < text.n;) {
		size_t n = begin.n;
		text = str_sub(text, at, text.n);
		while (n < text.n && is_word_char(text.p[n]))
			n++;
		struct str name = str_sub(text, 0, n);
		if (map_put(&seen, name, NULL))
			strs_add(a, ret, name);
		text = str_sub(text, n, text.n);
	}
	strs_sort(ret);
}

bool front_asks_features(struct str builtin)
{
	return str_contains(builtin, S("lds")) || str_contains(builtin, S("s_wait_event"));
}
