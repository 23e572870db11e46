/* Evaluates the conditions of #if and finds the lines that they exclude; see live.h. */
#include "lang/cxx/live.h"

#include "lang/cxx/lexer.h"

enum live_truth { NO, MAYBE, YES };
enum { DEPTH_LIMIT = 100 };

/* A known macro, with the range of its values. Those of a build with PyTorch come first. */
static const struct macro {
	const char *name;
	bool defined;
	uint64_t low, high;
} macros[] = {
	{"USE_ROCM", true, 1, 1},
	{"__CUDACC__", false, 0, 0},
	{"__CUDA_ARCH__", false, 0, 0},
	{"__NVCC__", false, 0, 0},
	{"__HIP_PLATFORM_AMD__", true, 1, 1},
	{"CUDA_VERSION", false, 0, 0},
	{"CUDART_VERSION", false, 0, 0},
	{"TORCH_HIP_VERSION", true, 100, 2000},
	{"AT_CUDNN_ENABLED", true, 0, 0},
	{"AT_CUSPARSELT_ENABLED", true, 0, 0},
	{"USE_CUDNN", false, 0, 0},
	{"USE_CUSPARSELT", false, 0, 0},
	{"USE_CUFILE", false, 0, 0},
};
enum { WITH_TORCH = 4 };

struct live_condition {
	struct str s;
	size_t at;
	unsigned depth;
	size_t first; /* the first macro of the table that is known */
};

static enum live_truth any(struct live_condition *r);

static void skip_blanks(struct live_condition *r)
{
	while (r->at < r->s.n && strchr(" \t\\\n\r", r->s.p[r->at]))
		r->at++;
}

static bool take(struct live_condition *r, const char *text)
{
	skip_blanks(r);
	bool there = str_starts(str_sub(r->s, r->at, r->s.n), str_from(text));
	r->at += there ? strlen(text) : 0;
	return there;
}

static struct str word(struct live_condition *r)
{
	skip_blanks(r);
	size_t from = r->at;
	while (r->at < r->s.n && ascii_word(r->s.p[r->at]))
		r->at++;
	return str_sub(r->s, from, r->at);
}

static const struct macro *find_macro(const struct live_condition *r, struct str name)
{
	for (size_t i = r->first; i < sizeof(macros) / sizeof(*macros); i++)
		if (str_eq(name, str_from(macros[i].name)))
			return &macros[i];
	return NULL;
}

static enum live_truth is_defined(const struct live_condition *r, struct str name)
{
	const struct macro *m = find_macro(r, name);
	return !m ? MAYBE : m->defined ? YES : NO;
}

/* Joins the results for both ends of a range: MAYBE if they differ. */
static enum live_truth both(bool low, bool high)
{
	return low && high ? YES : low || high ? MAYBE : NO;
}

static enum live_truth compare(struct macro m, const char *op, uint64_t n)
{
	if (op[0] == '>')
		return both(op[1] ? m.low >= n : m.low > n, op[1] ? m.high >= n : m.high > n);
	if (op[0] == '<')
		return both(op[1] ? m.low <= n : m.low < n, op[1] ? m.high <= n : m.high < n);
	enum live_truth equal = n < m.low || n > m.high ? NO : m.low == m.high ? YES : MAYBE;
	return op[0] == '!' ? (enum live_truth)(YES - equal) : equal;
}

static bool value_of(const struct live_condition *r, struct str name, struct macro *ret)
{
	const struct macro *m = find_macro(r, name);
	*ret = m ? *m : (struct macro){0};
	if (m || !str_u64(name, 10, &ret->low))
		return m != NULL;
	ret->high = ret->low;
	return true;
}

static bool ends_operand(struct str rest)
{
	return str_starts(rest, S(")")) || str_starts(rest, S("&&")) || str_starts(rest, S("||"));
}

/* Skips to the end of an operand that cannot be evaluated. */
static enum live_truth unknown(struct live_condition *r)
{
	for (unsigned depth = 0; r->at < r->s.n; r->at++) {
		if (!depth && ends_operand(str_sub(r->s, r->at, r->s.n)))
			break;
		depth += r->s.p[r->at] == '(';
		depth -= r->s.p[r->at] == ')';
	}
	return MAYBE;
}

static bool at_end(struct live_condition *r)
{
	skip_blanks(r);
	struct str rest = str_sub(r->s, r->at, r->s.n);
	return !rest.n || ends_operand(rest) || str_starts(rest, S("//")) ||
	       str_starts(rest, S("/*"));
}

/* Evaluates NAME or NAME op NUMBER. */
static enum live_truth relation(struct live_condition *r)
{
	static const char *const ops[] = {">=", "<=", "==", "!=", ">", "<"};
	struct macro m, n;
	const char *op = NULL;
	bool known = value_of(r, word(r), &m);
	take(r, "()");
	for (size_t i = 0; i < 6 && !op; i++)
		op = take(r, ops[i]) ? ops[i] : NULL;
	if (!op)
		return known && at_end(r) ? compare(m, "!=", 0) : unknown(r);
	bool good = value_of(r, word(r), &n) && n.low == n.high && known;
	return good && at_end(r) ? compare(m, op, n.low) : unknown(r);
}

static enum live_truth one(struct live_condition *r)
{
	if (r->depth > DEPTH_LIMIT)
		return unknown(r);
	r->depth++;
	enum live_truth t;
	if (take(r, "!")) {
		t = (enum live_truth)(YES - one(r));
	} else if (take(r, "(")) {
		t = any(r);
		t = take(r, ")") && at_end(r) ? t : unknown(r);
	} else {
		struct live_condition before = *r;
		bool defined = str_eq(word(r), S("defined"));
		bool round = defined && take(r, "(");
		struct str name = defined ? word(r) : S("");
		if (defined && (!round || take(r, ")")) && at_end(r)) {
			t = is_defined(r, name);
		} else {
			*r = before;
			t = relation(r);
		}
	}
	r->depth--;
	return t;
}

static enum live_truth all(struct live_condition *r)
{
	enum live_truth t = one(r);
	while (take(r, "&&")) {
		enum live_truth next = one(r);
		t = next < t ? next : t;
	}
	return t;
}

static enum live_truth any(struct live_condition *r)
{
	enum live_truth t = all(r);
	while (take(r, "||")) {
		enum live_truth next = all(r);
		t = next > t ? next : t;
	}
	return t;
}

/* ---- lines ---- */

struct branch {
	bool dead, taken;
};

struct live {
	struct arena *a;
	VEC(struct branch) open;
	size_t dead; /* the number of open branches that are dead */
	struct live_lines ret;
};

static void set(struct live *l, struct branch *b, bool dead, unsigned line)
{
	size_t before = l->dead;
	l->dead = l->dead + dead - b->dead;
	b->dead = dead;
	if (!before && l->dead)
		*VEC_PUSH(l->a, &l->ret.dead) = (struct line_range){line + 1, (unsigned)-1};
	if (before && !l->dead)
		l->ret.dead.v[l->ret.dead.n - 1].to = line;
}

/* Handles the directive `name`, whose condition is r->s and whose last line is `line`. */
static void directive(struct live *l, struct str name, struct live_condition *r, unsigned line)
{
	bool defined = str_eq(name, S("ifdef")), lacks = str_eq(name, S("ifndef"));
	bool opens = str_eq(name, S("if")) || defined || lacks;
	enum live_truth t = MAYBE;
	if (defined || lacks) {
		t = is_defined(r, word(r));
		t = lacks ? (enum live_truth)(YES - t) : t;
	} else if (opens || str_eq(name, S("elif"))) {
		t = any(r);
		skip_blanks(r);
		if (r->at < r->s.n && r->s.p[r->at] != '/') /* not a comment */
			t = MAYBE;
	}
	if (opens)
		*VEC_PUSH(l->a, &l->open) = (struct branch){0};
	if (!l->open.n)
		return;
	struct branch *b = &l->open.v[l->open.n - 1];
	if (str_eq(name, S("endif"))) {
		set(l, b, false, line);
		l->open.n--;
	} else if (str_eq(name, S("else"))) {
		set(l, b, b->taken, line);
	} else if (opens || str_eq(name, S("elif"))) {
		set(l, b, b->taken || t == NO, line);
		b->taken = b->taken || t == YES;
	}
}

struct live_lines live_lines(struct arena *a, struct str text, bool by_torch)
{
	struct live l = {.a = a};
	struct lex x = lex_new(text, S(""));
	struct tok t = {0};
	while (lex_try(&x, &t) && t.kind != TOK_END) {
		/* the word that names the directive, not one that looks like it further on */
		if (!x.directive.n || tok_text(&x, &t).p != x.directive.p)
			continue;
		struct live_condition r = {
			.s = lex_rest_of_line(&x), .first = by_torch ? 0 : WITH_TORCH};
		unsigned last = t.line + str_count(r.s, '\n');
		directive(&l, x.directive, &r, last);
		if (str_starts(x.directive, S("if")) || str_eq(x.directive, S("elif")))
			*VEC_PUSH(a, &l.ret.conditions) = (struct line_range){t.line, last};
	}
	return l.ret;
}

static int compare_line(const void *line, const void *range)
{
	unsigned n = *(const unsigned *)line;
	const struct line_range *r = range;
	return n < r->from ? -1 : n > r->to;
}

bool line_in(const struct line_ranges *r, unsigned line)
{
	return r->n && bsearch(&line, r->v, r->n, sizeof(*r->v), compare_line);
}
