/* Reduces a preprocessed text to all that the result of a front end can depend on; see cc_int.h. It leaves out the bodies of
 * plain functions that were not emitted: those of system headers which are made of built-in types, builtins and calls of
 * other plain functions alone, so that compiling them has no effect outside of them (no templates, no warnings). And it
 * leaves out __attribute__((unavailable)) of functions that nothing else in the text names: it is an error only where one
 * is used.
 *
 * The text is one of C++, but only its outermost level is looked at: whatever is not understood stays in. */
#include "base/buf.h"
#include "base/map.h"
#include "cc/cc_int.h"
#include "lang/cxx/lexer.h"

enum { MAX_HEAD = 256, MAX_NAMES = 64, MAX_TYPES = 4 };

struct text_token {
	enum tok_kind kind; /* TOK_STRING for all literals */
	struct str s;
};

struct text_reader {
	struct lex lex;
	bool system,
		left_system; /* is this place in a system header? was any since it was cleared? */
	bool broken;
};

/* A line marker: # 12 "file" 1 3 4. Flag 3 stands for a system header. */
static bool is_marker(struct str line)
{
	return line.n > 3 && line.p[0] == '#' && line.p[1] == ' ' && ascii_digit(line.p[2]);
}

static bool is_word_char(char c)
{
	return front_word_char(c) || (unsigned char)c >= 0x80;
}

static struct text_reader read_text(struct str text)
{
	struct text_reader r = {.lex = lex_new(text, S(""))};
	r.lex.lenient = true;
	return r;
}

static struct text_token next_token(struct text_reader *r)
{
	struct lex *l = &r->lex;
	struct tok t;
	while (lex_try(l, &t) && t.kind != TOK_END) {
		if (l->want_name && is_marker(str_sub(l->s, t.from, t.from + 4))) {
			struct str line = lex_rest_of_line(l);
			r->system =
				str_contains(str_sub(line, str_rchr(line, '"'), line.n), S(" 3"));
			r->left_system |= !r->system;
			while (t.kind != TOK_LINE_END)
				(void)lex_try(l, &t);
		} else if (t.kind != TOK_LINE_END) {
			break;
		}
	}
	struct text_token ret = {.kind = t.kind, .s = tok_text(l, &t)};
	if (t.kind == TOK_RAW || t.kind == TOK_CHAR)
		ret.kind = TOK_STRING;
	r->broken |= ret.kind == TOK_STRING ? t.to == l->s.n : tok_in(l, &t, "\"'");
	return ret;
}

static bool is_sign(struct text_token t, char c)
{
	return t.kind == TOK_PUNCT && t.s.p[0] == c;
}

/* ---- plain functions ---- */

/* Classes of HIP (in its headers for fp16 and bf16, read in 6.4) whose members, conversions among them, are no templates. */
static const char *const plain_classes[] = {
	"__half2", "__half2_raw", "__hip_bfloat162", "__hip_bfloat162_raw", NULL};

/* The names of plain functions that were declared so far, all words of other declarations (a name in both may be that of a
 * template, or of an object), and plain_classes that have templates all the same. */
struct plain_names {
	struct map functions, other, templates;
};

struct plain {
	const struct text_token *v; /* tokens of a head or a body */
	size_t n;
	const struct plain_names *names;
	struct str name;
	struct str locals[MAX_NAMES], types[MAX_TYPES]; /* types are locals, too */
	size_t nlocals, ntypes;
};

static bool has_name(const struct str *names, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

static bool is_type(const struct plain *p, struct text_token t)
{
	static const char *const words[] = {"void", "bool", "char", "short", "int", "long",
		"unsigned", "signed", "float", "double", "_Float16", NULL};
	if (t.kind != TOK_IDENT)
		return false;
	return str_is_one_of(t.s, words) || has_name(p->types, p->ntypes, t.s) ||
	       (str_is_one_of(t.s, plain_classes) && !map_has(&p->names->templates, t.s));
}

static bool is_qualifier(struct text_token t)
{
	static const char *const words[] = {
		"const", "volatile", "static", "inline", "__inline", "__inline__", NULL};
	return t.kind == TOK_IDENT && str_is_one_of(t.s, words);
}

/* The end of an attribute that changes nothing outside of the function, or `at`. */
static size_t skip_attribute(const struct plain *p, size_t at)
{
	static const char *const harmless[] = {"device", "__device__", "host", "__host__",
		"always_inline", "__always_inline__", "nothrow", "__nothrow__", "unused",
		"__unused__", "const", "__const__", "address_space", "ext_vector_type", NULL};
	size_t i = at, depth = 0;
	static const char *const words[] = {"__attribute__", "__attribute", NULL};
	if (p->v[i].kind != TOK_IDENT || !str_is_one_of(p->v[i].s, words))
		return at;
	for (i++; i < p->n; i++) {
		struct text_token t = p->v[i];
		depth += is_sign(t, '(');
		if (is_sign(t, ')') && !--depth)
			return i + 1;
		if (!depth || t.kind == TOK_STRING ||
			(t.kind == TOK_IDENT && !str_is_one_of(t.s, harmless)))
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
	return i && is_type(p, p->v[i - 1]);
}

/* static or inline, of built-in types, and nothing else. */
static bool read_head(struct plain *p)
{
	bool linkage = false, type = false, closed = false;
	for (size_t i = skip_attributes(p, 0); i < p->n; i = skip_attributes(p, i + 1)) {
		struct text_token t = p->v[i];
		linkage |=
			is_qualifier(t) && !str_eq(t.s, S("const")) && !str_eq(t.s, S("volatile"));
		type |= is_type(p, t) && !p->name.n;
		if (closed)
			return false;
		if (is_type(p, t) || is_qualifier(t) || is_sign(t, '*') || is_sign(t, '&'))
			continue;
		bool opens = i + 1 < p->n && is_sign(p->v[i + 1], '(');
		if (t.kind == TOK_IDENT && !p->name.n && type && opens) {
			p->name = t.s;
			i++;
		} else if (is_sign(t, ')') && p->name.n) {
			closed = true;
		} else if (t.kind == TOK_IDENT && p->name.n && is_declared(p, i) &&
			   p->nlocals < MAX_NAMES) {
			p->locals[p->nlocals++] = t.s;
		} else if (!is_sign(t, ',') || !p->name.n) {
			return false;
		}
	}
	return linkage && closed;
}

static bool add_local(struct plain *p, struct str name, bool type)
{
	if (p->nlocals == MAX_NAMES || (type && p->ntypes == MAX_TYPES))
		return false;
	p->locals[p->nlocals++] = name;
	if (type)
		p->types[p->ntypes++] = name;
	return true;
}

/* The place at which the body goes on behind `union` or `typedef` at i, whose name is added: behind union NAME, or, if it has
 * none, at union; at the end of a typedef. p->n: it is not plain. */
static size_t read_local_type(struct plain *p, size_t i)
{
	bool is_union = str_eq(p->v[i].s, S("union"));
	size_t at = skip_attributes(p, i + 1);
	if (is_union && at < p->n && is_sign(p->v[at], '{'))
		return i;
	while (!is_union && at < p->n && is_type(p, p->v[at]))
		at = skip_attributes(p, at + 1);
	bool good = at + 1 < p->n && p->v[at].kind == TOK_IDENT &&
		    is_sign(p->v[at + 1], is_union ? '{' : ';');
	return good && add_local(p, p->v[at].s, true) ? at : p->n;
}

/* Does a union without a name end before the word at i, which it declares? */
static bool is_of_union(const struct plain *p, size_t i)
{
	size_t depth = 0;
	if (!i || !is_sign(p->v[i - 1], '}'))
		return false;
	while (i--) {
		depth += is_sign(p->v[i], '}');
		if (is_sign(p->v[i], '{') && !--depth)
			return i && str_eq(p->v[i - 1].s, S("union"));
	}
	return false;
}

/* May this word stand in the body of a plain function? Those that it declares are added. */
static bool is_plain_word(struct plain *p, size_t i)
{
	static const char *const known[] = {"if", "else", "while", "do", "for", "return", "break",
		"continue", "true", "false", "const", "sizeof", "static_cast", "static_assert",
		"union", NULL};
	static const char *const builtins[] = {"__builtin_", "__hip_atomic_", "__atomic_", NULL};
	struct str word = p->v[i].s;
	if (is_type(p, p->v[i]) || str_is_one_of(word, known) ||
		str_starts_one_of(word, builtins) || has_name(p->locals, p->nlocals, word))
		return true;
	if (i + 1 < p->n && is_sign(p->v[i + 1], '(') && map_has(&p->names->functions, word) &&
		!map_has(&p->names->other, word))
		return true;
	size_t first = i; /* float a, b; */
	while (first > 2 && is_sign(p->v[first - 1], ',') && p->v[first - 2].kind == TOK_IDENT)
		first -= 2;
	return (is_declared(p, first) || is_of_union(p, i)) && add_local(p, word, false);
}

static bool read_body(struct plain *p)
{
	for (size_t i = skip_attributes(p, 0); i < p->n; i = skip_attributes(p, i + 1)) {
		struct text_token t = p->v[i];
		if (str_eq(t.s, S("union")) || str_eq(t.s, S("typedef")))
			i = read_local_type(p, i);
		if (i == p->n)
			return false;
		t = p->v[i];
		bool next = i + 1 < p->n, scope = str_eq(t.s, S("::"));
		if (is_sign(t, '.') && i && has_name(p->locals, p->nlocals, p->v[i - 1].s) &&
			next && p->v[i + 1].kind == TOK_IDENT)
			i++; /* a member */
		else if (t.kind == TOK_STRING || scope ||
			 (t.kind == TOK_PUNCT && strchr(".[]#\\@", t.s.p[0])) ||
			 (t.kind == TOK_IDENT && !is_plain_word(p, i)))
			return false;
	}
	return true;
}

/* ---- the outermost level ---- */
struct text_range {
	size_t from, to;
	bool attribute; /* or it is a body */
};

struct text_ranges VEC_OF(struct text_range);

struct text_tokens VEC_OF(struct text_token);

/* Reads up to the brace that closes, which is not among the tokens. Is there a template? */
static bool read_braces(struct arena *a, struct text_reader *r, struct text_tokens *ret)
{
	size_t depth = 1;
	bool template = false;
	ret->n = 0;
	for (;;) {
		struct text_token t = next_token(r);
		depth += is_sign(t, '{');
		depth -= is_sign(t, '}');
		template |= str_eq(t.s, S("template"));
		r->broken |= t.kind == TOK_END;
		if (!depth || t.kind == TOK_END)
			return template;
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
		if (t.kind == TOK_IDENT && str_eq(t.s, S("requires")))
			return true;
		angle += !round && is_sign(t, '<');
		angle -= !round && angle && is_sign(t, '>');
		closed |= !angle && !round && is_sign(t, '>');
	}
	return round || (template && !closed) || head->n > MAX_HEAD;
}

/* How far find_cuts() has come. */
struct text_scan {
	struct arena *a;
	struct text_reader r;
	struct text_tokens head, body;
	struct plain_names names;
	struct map
		unavailable; /* words before a parenthesis in functions of which the attribute may be left out */
	size_t mentions; /* number of those words in such functions */
	struct text_ranges *ret;
};

/* The number of tokens from i on that are the attribute `unavailable`, or 0. */
static size_t unavailable_length(const struct text_tokens *head, size_t i)
{
	static const char *const begin[] = {"__attribute__", "(", "(", "unavailable", NULL};
	size_t k = 0, end = i + 4;
	while (begin[k] && i + k < head->n && str_eq(head->v[i + k].s, str_from(begin[k])))
		k++;
	if (begin[k])
		return 0;
	if (end + 2 < head->n && is_sign(head->v[end], '(') && head->v[end + 1].kind == TOK_STRING)
		end += 3; /* with a reason */
	/* a token must follow, up to which it is left out */
	bool whole = end + 2 < head->n && is_sign(head->v[end], ')') &&
		     is_sign(head->v[end + 1], ')') &&
		     is_sign(head->v[end - 1], ')') == (end > i + 4);
	return whole ? end + 2 - i : 0;
}

static size_t place_of(const struct text_scan *s, size_t token)
{
	return (size_t)(s->head.v[token].s.p - s->r.lex.s.p);
}

/* Notes the attribute of a function whose head has been read, and its body if it has one, and what it names. */
static void note_unavailable(struct text_scan *s)
{
	const struct text_tokens *parts[] = {&s->head, &s->body};
	size_t at = 0, n = 0;
	while (at < s->head.n && !(n = unavailable_length(&s->head, at)))
		at++;
	if (!n || s->r.left_system || s->head.n > MAX_HEAD || s->body.n > MAX_HEAD * 4)
		return;
	*VEC_PUSH(s->a, s->ret) = (struct text_range){
		.from = place_of(s, at), .to = place_of(s, at + n), .attribute = true};
	for (size_t i = at + n; i + 1 < s->head.n; i++)
		if (s->head.v[i].kind == TOK_IDENT && is_sign(s->head.v[i + 1], '('))
			map_put(&s->unavailable, s->head.v[i].s, NULL);
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < parts[k]->n; i++)
			s->mentions += map_has(&s->unavailable, parts[k]->v[i].s);
}

/* Drops the attributes from *ret if anything else in the text names one of those functions. */
static void drop_attributes(struct text_scan *s)
{
	struct text_reader r = read_text(s->r.lex.s);
	size_t mentions = 0, n = 0;
	if (!s->unavailable.n)
		return;
	for (struct text_token t; (t = next_token(&r)).kind != TOK_END;)
		mentions += map_has(&s->unavailable, t.s);
	for (size_t i = 0; i < s->ret->n; i++)
		if (!s->ret->v[i].attribute || mentions == s->mentions)
			s->ret->v[n++] = s->ret->v[i];
	s->ret->n = n;
}

/* The declaration that has been read ends here. */
static void end_declaration(struct text_scan *s, const struct plain *plain)
{
	if (plain)
		map_put(&s->names.functions, plain->name, NULL);
	for (size_t i = 0; i < s->head.n && !plain; i++)
		map_put(&s->names.other, s->head.v[i].s, NULL);
	note_unavailable(s);
	s->head.n = s->body.n = 0;
}

/* Reads what follows an opening brace; all that a namespace has belongs to the outermost level, too. emitted: names in
 * the IR. */
static void read_block(struct text_scan *s, const struct map *emitted)
{
	const struct text_tokens *head = &s->head;
	size_t first = head->n && str_eq(head->v[0].s, S("inline"));
	bool space = head->n > first && str_eq(head->v[first].s, S("namespace"));
	if (space || (head->n == 2 && str_eq(head->v[0].s, S("extern")) &&
			     head->v[1].kind == TOK_STRING)) {
		s->head.n = 0;
		return;
	}
	size_t from = s->r.lex.at;
	bool template = read_braces(s->a, &s->r, &s->body);
	for (size_t i = 0; i < head->n && template; i++)
		if (str_is_one_of(head->v[i].s, plain_classes))
			map_put(&s->names.templates, head->v[i].s, NULL);
	struct plain p = {.v = head->v, .n = head->n, .names = &s->names};
	bool plain = head->n <= MAX_HEAD && read_head(&p);
	p.v = s->body.v;
	p.n = s->body.n;
	bool small = plain && s->body.n <= MAX_HEAD * 4;
	if (small && !s->r.broken && !s->r.left_system && read_body(&p) &&
		!map_has(emitted, p.name))
		*VEC_PUSH(s->a, s->ret) = (struct text_range){.from = from, .to = s->r.lex.at - 1};
	if (!goes_on(head))
		end_declaration(s, plain ? &p : NULL);
}

/* Finds what may be left out: bodies of functions whose names the IR does not have, and attributes. */
static bool find_cuts(
	struct arena *a, struct str text, const struct map *emitted, struct text_ranges *ret)
{
	struct text_scan s = {.a = a, .r = read_text(text), .ret = ret};
	s.names.functions.a = s.names.other.a = s.names.templates.a = s.unavailable.a = a;
	for (struct text_token t; (t = next_token(&s.r)).kind != TOK_END;) {
		if (!s.head.n)
			s.r.left_system = !s.r.system;
		struct plain p = {.v = s.head.v, .n = s.head.n, .names = &s.names};
		if (is_sign(t, ';') || is_sign(t, '}'))
			end_declaration(&s, s.head.n <= MAX_HEAD && read_head(&p) ? &p : NULL);
		else if (is_sign(t, '{'))
			read_block(&s, emitted);
		else if (s.head.n <= MAX_HEAD)
			*VEC_PUSH(a, &s.head) = t;
		else
			map_put(&s.names.other, t.s, NULL);
	}
	drop_attributes(&s);
	return !s.r.broken;
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
	if (!find_cuts(a, text, &names, &cut))
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
				buf_fmt(&out, "\n%llu ", (unsigned long long)number);
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
