/* Inline PTX: statements whose instructions all have a row in data/cuda_names/ptx.tsv become C++.
 *
 * A row's name is "ptx:", the significant part of the instruction ("ptx:bfe.u32", "ptx:membar.gl"), and
 * the special register it reads, if any ("ptx:mov %laneid"). To find a row, parts of the instruction
 * (types, caching) are cut off from the right until one matches. Its HIP side is a statement in which
 * $0 to $9 stand for the operands and $T for the C type of the instruction's last part; rows of kind
 * "unsupported" say why there is none. One untranslatable instruction leaves the whole statement as it is,
 * or one that writes to an input. Registers become variables, for integers alone: floats are taken by their bits.
 */
#include "hipify/cuda/engine.h"

enum { MAX_OPERANDS = 10, MAX_EXPRESSIONS = 30, MAX_EXPRESSION = 1 << 10 };

/* One asm statement: its text, and the C expressions that follow it. */
struct statement {
	struct engine *e;
	struct lex at; /* a copy of the engine's lexer that reads ahead */
	struct tok t;
	struct buf text;
	struct str names[MAX_EXPRESSIONS], expressions[MAX_EXPRESSIONS];
	size_t n, outputs;
	struct map registers; /* declared by it */
	struct tok first;     /* the first string with more than a bracket */
	bool nested;          /* an operand has an asm statement of its own */
};

static bool next(struct statement *s)
{
	do {
		if (!lex_try(&s->at, &s->t) || s->t.kind == TOK_END)
			return false;
	} while (s->t.kind == TOK_LINE_END);
	return true;
}

static bool is(const struct statement *s, const char *text)
{
	return tok_is(&s->at, &s->t, str_from(text));
}

/* Reads one operand: [name] "=r" (expression) */
static bool operand(struct statement *s, bool output)
{
	struct str name = {0};
	if (is(s, "[")) {
		if (!next(s))
			return false;
		name = tok_text(&s->at, &s->t);
		if (!next(s) || !next(s))
			return false;
	}
	if (s->t.kind != TOK_STRING || s->n == MAX_EXPRESSIONS || !next(s) || !is(s, "("))
		return false;
	size_t from = s->t.from, depth = 0;
	do {
		depth += is(s, "(");
		depth -= is(s, ")");
		s->nested |= is(s, "asm") || is(s, "__asm__") || is(s, "__asm");
	} while (depth && s->t.to - from < MAX_EXPRESSION && next(s));
	s->names[s->n] = name;
	s->expressions[s->n++] = str_sub(s->at.s, from, s->t.to);
	s->outputs += output;
	return !depth && next(s);
}

/* Reads everything up to the closing bracket; false if this is no plain asm statement. */
static bool parse(struct statement *s)
{
	unsigned section = 0;
	bool comment = false;
	do {
		if (!next(s))
			return false;
	} while (s->t.kind == TOK_IDENT);
	if (!is(s, "(") || !next(s))
		return false;
	while (s->t.kind == TOK_STRING) { /* its escapes, \n and \t, are white space in PTX */
		s->first = s->text.n > S("{  ").n ? s->first : s->t; /* not a bracket alone */
		struct str text = tok_text(&s->at, &s->t);
		for (size_t i = 1; i + 1 < text.n; i++) {
			bool escape = text.p[i] == '\\';
			comment = comment ? !escape || text.p[i + 1] != 'n'
					  : str_starts(str_sub(text, i, text.n), S("//"));
			buf_char(&s->text, escape || comment ? ' ' : text.p[i]);
			i += escape;
		}
		if (!next(s))
			return false;
	}
	while (!is(s, ")")) {
		if (is(s, ":") || is(s, "::"))
			section += is(s, "::") ? 2 : 1;
		else if (section == 3 && (s->t.kind == TOK_STRING || is(s, ",")))
			;
		else if (!section || !(is(s, ",") || operand(s, section == 1)))
			return false;
		else if (!is(s, ","))
			continue; /* operand() has read the next token */
		if (!next(s))
			return false;
	}
	return true;
}

/* ---- one instruction ---- */

struct instruction {
	struct str opcode, special, operands[MAX_OPERANDS];
	size_t n;
	bool to_input; /* the first operand is one of those that the statement only reads */
};

static struct str in_hip(const struct statement *s, size_t i)
{
	return s->e->operand ? s->e->operand(s->e, s->expressions[i]) : s->expressions[i];
}

/* Translates an operand ("%0", "%[name]", "[%1]", "42U", "%%laneid", a register) to C; "" for anything else. */
static struct str expression(const struct statement *s, struct str text, struct instruction *in)
{
	uint64_t i;
	if (str_starts(text, S("[")) && str_ends(text, S("]")))
		text = str_trim(str_sub(text, 1, text.n - 1));
	struct str digits = str_sub(text, 0, text.n - str_ends(text, S("U")));
	if (str_u64(digits, 10, &i) ||
		(str_starts(digits, S("0x")) && str_u64(str_sub(digits, 2, digits.n), 16, &i)))
		return text;
	if (map_get(&s->registers, text))
		return str_fmt(s->e->a, "rocsmith_%.*s", STR(text));
	if (!str_starts(text, S("%")) || text.n < 2)
		return S("");
	struct str name = str_sub(text, 1, text.n);
	if (str_starts(name, S("%")))
		name = str_sub(name, 1, name.n);
	bool number = str_u64(name, 10, &i);
	in->to_input |= number && !in->n && i >= s->outputs;
	if (number)
		return i < s->n ? in_hip(s, i) : S("");
	for (i = 0; i < s->n && str_starts(name, S("[")); i++)
		if (s->names[i].n && str_eq(s->names[i], str_sub(name, 1, name.n - 1)))
			return in_hip(s, i);
	in->special = name;
	return S("0"); /* a placeholder that the row does not use */
}

/* Splits "bfe.u32 %0, %1, 4, 8". */
static bool split(const struct statement *s, struct str text, struct instruction *ret)
{
	struct str rest, part;
	size_t n = 0;
	while (n < text.n && text.p[n] > ' ')
		n++;
	*ret = (struct instruction){.opcode = str_sub(text, 0, n)};
	rest = str_trim(str_sub(text, n, text.n));
	while (str_next(&rest, ',', &part)) {
		if (ret->n == MAX_OPERANDS)
			return false;
		struct str c = expression(s, str_trim(part), ret);
		if (!c.n)
			return false;
		ret->operands[ret->n++] = c;
	}
	return true;
}

static const struct hipify_rule *row_of(struct arena *a, const struct instruction *in)
{
	const struct hipify_rule *r = NULL;
	for (struct str op = in->opcode; !r && op.n;) {
		struct str special = in->special;
		r = names_find(
			str_fmt(a, "ptx:%.*s%s%.*s", STR(op), special.n ? " %" : "", STR(special)));
		size_t dot = op.n;
		while (dot && op.p[dot - 1] != '.')
			dot--;
		op = str_sub(op, 0, dot ? dot - 1 : 0);
	}
	return r;
}

static struct str c_type(struct str opcode)
{
	static const char *const types[][2] = {{".f32", "float"}, {".f64", "double"},
		{".u32", "unsigned"}, {".b32", "unsigned"}, {".s32", "int"},
		{".u64", "unsigned long long"}, {".b64", "unsigned long long"},
		{".s64", "long long"}, {".u16", "unsigned short"}, {".b16", "unsigned short"},
		{".s16", "short"}, {".u8", "unsigned char"}, {".b8", "unsigned char"},
		{".s8", "signed char"}};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (str_ends(opcode, str_from(types[i][0])))
			return str_from(types[i][1]);
	return S("");
}

/* Declares the variables of ".reg .b32 x, y"; false if these are no integers. */
static bool declare_registers(struct statement *s, struct str text, struct buf *b)
{
	struct str rest = str_trim(str_sub(text, 4, text.n)), name;
	size_t n = str_chr(rest, ' ');
	struct str type = str_contains(rest, S("%")) ? S("") : c_type(str_sub(rest, 0, n));
	if (!type.n || str_starts(rest, S(".f")) || str_contains(rest, S("<")))
		return false;
	rest = str_sub(rest, n, rest.n);
	while (str_next(&rest, ',', &name)) {
		name = str_trim(name);
		if (!str_made_of(name, "_$"))
			return false;
		map_put(&s->registers, name, s);
		buf_fmt(b, "%.*s rocsmith_%.*s; ", STR(type), STR(name));
	}
	return true;
}

/* Puts the operands into the row's statement; false unless it uses exactly as many as there are. */
static bool fill(struct buf *b, const struct instruction *in, struct str with)
{
	size_t used = in->special.n ? 2 : 0;
	for (size_t i = 0; i < with.n; i++) {
		char c = with.p[i] == '$' && i + 1 < with.n ? with.p[++i] : '\0';
		struct str text = !c                          ? str_sub(with, i, i + 1)
				  : c == 'T'                  ? c_type(in->opcode)
				  : (size_t)(c - '0') < in->n ? in->operands[c - '0']
							      : S("");
		if (!text.n)
			return false;
		if (ascii_digit(c) && (size_t)(c - '0') >= used)
			used = (size_t)(c - '0') + 1;
		buf_add(b, text);
	}
	return used == in->n;
}

/* ---- the statement ---- */

/* Reports the instruction because of which the statement stays as it is. */
static void report(struct statement *s, const struct instruction *in, const struct hipify_rule *r)
{
	bool known = r && names_is(r, "unsupported");
	struct str why = names_text((known ? r : names_find(S("@asm")))->source);
	engine_untranslated_ptx(s->e, &s->first, known ? in->opcode : S("asm"), why);
}

bool ptx_statement(struct engine *e, const struct tok *t)
{
	struct statement s = {.e = e, .at = e->l, .text = {.a = e->a}, .registers = {.a = e->a}};
	BUF(with, e->a);
	const struct hipify_rule *last = NULL;
	bool text = e->l.directive.n && !str_eq(e->l.directive, S("define")); /* as in #pragma */
	if (text || !parse(&s))
		return false;
	struct str rest = buf_str(&s.text), part;
	if (untranslated_is_arm(rest))
		return false;
	if (s.nested) { /* it stays with all that is in it */
		report(&s, NULL, NULL);
		e->l = s.at;
		return true;
	}
	unsigned count = 0;
	bool scope = str_starts(str_trim(rest), S("{"));
	rest = str_sub(str_trim(rest), scope, rest.n);
	while (str_next(&rest, ';', &part)) {
		struct instruction in = {0};
		part = str_trim(part);
		if (!part.n || (scope && str_eq(part, S("}"))))
			continue;
		if (str_starts(part, S(".reg ")) && declare_registers(&s, part, &with))
			continue;
		bool whole = split(&s, part, &in);
		whole &= !s.registers.n ||
			 !(str_contains(in.opcode, S(".f")) || str_contains(in.opcode, S(".bf")));
		const struct hipify_rule *r = row_of(e->a, &in);
		whole &= !in.to_input || !r || !str_starts(names_text(r->hip), S("$0 ="));
		if (!whole || !r || names_is(r, "unsupported") || in.opcode.p[0] == '{') {
			bool directive = str_starts(in.opcode, S(".")); /* .p2align of an x86 */
			if ((!str_contains(in.opcode, S(".")) || directive) && !r)
				return false; /* not recognisable as PTX */
			report(&s, &in, r);
			return true;
		}
		buf_add(&with, count++ ? S("; ") : S(""));
		if (!fill(&with, &in, names_text(r->hip))) {
			report(&s, &in, NULL);
			return true;
		}
		last = r;
		engine_needs(e, r);
	}
	if (!count)
		return false;
	struct str code = buf_str(&with);
	if (count > 1 || s.registers.n)
		code = str_fmt(e->a, "do { %.*s; } while (0)", STR(code));
	e->adds |= str_contains(code, S("atomicAdd"));
	engine_replace(e, t->from, s.t.to, code, last);
	e->l = s.at;
	return true;
}
