/* The part of an expression that every match contains; see required.h.
 *
 * The expression becomes a tree. Of each sequence, every run of pieces that Hyperscan can look for in the raw log is
 * rated, and the best one wins; a group inside competes with the union of the best runs of its alternatives. A run must
 * not contain what cleaning a line changes: quotes that must be there, and what HTML escapes. Blanks match any white space and colours. */
#include "required.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP "(?:(?:\\s|\\x1b\\[[0-9;]*[mK])+)"
#define GAP_OR_NOTHING "(?:(?:\\s|\\x1b\\[[0-9;]*[mK])*)"
/* Any quote that line_clean() knows, or none; with colours, as gcc prints it. */
#define QUOTE                                                                                      \
	"(?:[\"'`]|\\\\[\"u]|&[a-z0-9#]{2,5};|\\xc2[\\xab\\xbb]|\\xe2\\x80[\\x98-\\x9f\\xb9\\xba]" \
	"|\\xe3\\x80[\\x8c\\x8d]"                                                                  \
	"|\\x1b\\[[0-9;]*[mK]){0,4}"
#define COLON "(?::|\xef\xbc\x9a)" /* also the wide one of Chinese and Japanese messages */
/* The beginning of a message: of a line, or behind a time stamp, a name or a colour. */
#define BEGIN "(?:^|[^A-Za-z0-9_])"

enum {
	PIECES = 256,
	BRANCHES = 64,
	RUN_MAX = 4000, /* bytes of a pattern */
	BLANKS_MAX = 3, /* in a run: the more, the likelier a wrapped line breaks it */
	LEAST = 7,      /* bits; less is found everywhere */
	ENOUGH = 40,    /* bits; more is not better */
};

enum kind { CHARACTER, CLASS, ANY, START, NOTHING, GROUP };

struct branch {
	struct piece *pieces;
	size_t n;
};

struct piece {
	enum kind kind;
	const char *text; /* of a class, with its brackets */
	size_t n;
	char c;
	bool common;  /* part of a word that tells little */
	int min, max; /* repetitions; -1: no limit */
	struct branch *branches;
	size_t branch_count;
};

struct run {
	/* ' ', '\t', '\'' and '\f' stand for GAP, GAP_OR_NOTHING, QUOTE and COLON */
	char text[RUN_MAX];
	double bits;     /* of the alternative that says least */
	double discount; /* for words that tell little, and for having many alternatives */
	int blanks;
};

struct parser {
	const char *at;
	bool failed;
};

static void *get(size_t n, size_t size)
{
	void *p = calloc(n, size);
	if (!p)
		exit(1);
	return p;
}

/* ---- reading ---- */

static struct branch *read_branches(struct parser *p, size_t *ret_n);

static void read_class(struct parser *p, struct piece *ret)
{
	const char *from = p->at++;
	p->at += *p->at == '^';
	p->at += *p->at == ']';
	while (*p->at && *p->at != ']') {
		if (p->at[0] == '[' && p->at[1] == ':' && strstr(p->at, ":]"))
			p->at = strstr(p->at, ":]") + 1; /* the ']' of [:digit:] is not the end */
		p->at++;
	}
	p->failed |= !*p->at;
	p->at += *p->at != 0;
	*ret = (struct piece){.kind = CLASS, .text = from, .n = (size_t)(p->at - from)};
}

static void read_repetition(struct parser *p, struct piece *ret)
{
	ret->min = ret->max = 1;
	if (*p->at == '?' || *p->at == '*' || *p->at == '+') {
		/* In a POSIX expression a repetition can be repeated: "x+?" is "(x+)?". */
		for (; *p->at == '?' || *p->at == '*' || *p->at == '+'; p->at++) {
			ret->min = *p->at == '+' ? ret->min : 0;
			ret->max = *p->at == '?' ? ret->max : -1;
		}
	} else if (*p->at == '{') {
		char *end;
		ret->min = ret->max = (int)strtol(p->at + 1, &end, 10);
		if (*end == ',')
			ret->max = end[1] == '}' ? -1 : (int)strtol(end + 1, &end, 10);
		end += *end == ',';
		p->failed |= *end != '}';
		p->at = end + (*end == '}');
	}
}

static struct piece read_piece(struct parser *p)
{
	struct piece piece = {.kind = CHARACTER, .c = *p->at};
	if (*p->at == '(') {
		p->at++;
		piece.kind = GROUP;
		piece.branches = read_branches(p, &piece.branch_count);
		p->failed |= *p->at != ')';
		p->at += *p->at == ')';
	} else if (*p->at == '[') {
		read_class(p, &piece);
	} else if (*p->at == '\\' && p->at[1]) {
		piece.kind = strchr("bB<>", p->at[1]) ? NOTHING : CHARACTER;
		piece.c = p->at[1];
		p->at += 2;
	} else {
		piece.kind = *p->at == '.'   ? ANY
			     : *p->at == '^' ? START
			     : *p->at == '$' ? NOTHING
					     : CHARACTER;
		p->at++;
	}
	read_repetition(p, &piece);
	return piece;
}

/* Words that a log of ROCm has in every other line. */
static const char *const common_words[] = {"offload-arch", "/bin/clang", "--", "rocm", "ROCm",
	"gfx", "HIP", "hip", "torch", "rror", "arning", NULL};

static void mark_common(struct branch *b)
{
	for (const char *const *word = common_words; *word; word++)
		for (size_t i = 0, n = strlen(*word); i + n <= b->n; i++) {
			size_t k = 0;
			while (k < n && b->pieces[i + k].kind == CHARACTER &&
				b->pieces[i + k].c == (*word)[k])
				k++;
			for (size_t m = 0; k == n && m < n; m++)
				b->pieces[i + m].common = true;
		}
}

static struct branch *read_branches(struct parser *p, size_t *ret_n)
{
	struct branch *all = get(BRANCHES, sizeof(*all));
	size_t n = 0;
	do {
		struct branch *b = &all[n++];
		b->pieces = get(PIECES, sizeof(*b->pieces));
		p->at += *p->at == '|';
		while (*p->at && *p->at != '|' && *p->at != ')' && !p->failed) {
			b->pieces[b->n++] = read_piece(p);
			p->failed |= b->n == PIECES;
		}
		mark_common(b);
		p->failed |= n == BRANCHES;
	} while (*p->at == '|' && !p->failed);
	*ret_n = n;
	return all;
}

/* ---- rating ---- */

static void append(struct run *r, const char *text, size_t n)
{
	size_t have = strlen(r->text);
	if (have + n + 1 > sizeof(r->text)) {
		r->bits = -1e9; /* too long to be chosen */
		return;
	}
	memcpy(r->text + have, text, n);
	r->text[have + n] = 0;
}

/* How many characters a class has; 0: not to be looked for (negated, or with what cleaning changes). */
static int class_size(const struct piece *p)
{
	int n = 0;
	if (p->text[1] == '^' || memchr(p->text, '\'', p->n) || memchr(p->text, ' ', p->n) ||
		memchr(p->text, ':', p->n) || memchr(p->text, '<', p->n) ||
		memchr(p->text, '&', p->n) || memchr(p->text + 1, '[', p->n - 1))
		return 0;
	for (size_t i = 1; i + 1 < p->n; i++, n++) {
		unsigned char c = (unsigned char)p->text[i];
		if (c >= 128 || (c == '\\' && p->text[i + 1] != '\\'))
			return 0;
		i += c == '\\';
		if (p->text[i + 1] == '-' && i + 3 < p->n) {
			n += p->text[i + 2] - c;
			i += 2;
		}
	}
	return n;
}

static double bits_of(char c)
{
	return c >= 'a' && c <= 'z' ? 2.5 : 4;
}

static bool add_piece(struct run *r, const struct piece *p);

/* Adds a group of which every alternative can be looked for. */
static bool add_group(struct run *r, const struct piece *p)
{
	double least = 1e9, common = 0;
	if (p->max != 1)
		return false;
	append(r, "(?:", 3);
	for (size_t i = 0; i < p->branch_count; i++) {
		struct run *one = get(1, sizeof(*one));
		bool good = true;
		for (size_t k = 0; good && k < p->branches[i].n; k++)
			good = add_piece(one, &p->branches[i].pieces[k]);
		if (i)
			append(r, "|", 1);
		append(r, one->text, strlen(one->text));
		if (one->bits < least) {
			least = one->bits;
			common = one->discount;
		}
		r->blanks = one->blanks > r->blanks ? one->blanks : r->blanks;
		free(one);
		if (!good)
			return false;
	}
	append(r, ")", 1);
	append(r, "?", p->min == 0);
	common += log2((double)p->branch_count);
	r->bits += p->min ? least : 0;
	r->discount += p->min ? fmin(common, least) : 0;
	return true;
}

/* Adds the piece to the run; false if Hyperscan cannot look for it in the raw log. */
static bool add_piece(struct run *r, const struct piece *p)
{
	char times[32] = "";
	double bits = 0;
	if (p->kind == NOTHING)
		return true;
	if (p->kind == START) {
		append(r, BEGIN, sizeof(BEGIN) - 1);
		r->bits += 2;
		return true;
	}
	if (p->kind == ANY)
		return false;
	if (p->kind == GROUP)
		return add_group(r, p);
	if (p->kind == CHARACTER && p->c == ' ') {
		append(r, p->min ? " " : "\t", 1);
		r->bits += 1.5 * p->min;
		r->blanks++;
		return true;
	}
	if (p->max < 0 && p->min == 0)
		return false;
	if (p->kind == CHARACTER && p->c == '\'' && !p->min) {
		append(r, "'", 1);
		return true;
	}
	if (p->kind == CHARACTER) {
		if (strchr("'<>&", p->c))
			return false;
		append(r, "\\", strchr("\\^$.|?*+()[]{}", p->c) != NULL);
		append(r, p->c == ':' ? "\f" : &p->c, 1);
		bits = bits_of(p->c);
	} else {
		int size = class_size(p);
		if (!size)
			return false;
		append(r, p->text, p->n);
		bits = size == 2 ? 2.5 : 4 - 0.65 * log2(size);
	}
	if (p->max < 0)
		snprintf(times, sizeof(times), "{%d,}", p->min);
	else if (p->min != 1 || p->max != 1)
		snprintf(times, sizeof(times), "{%d,%d}", p->min, p->max);
	append(r, times, strlen(times));
	r->bits += bits > 0 ? bits * p->min : 0;
	r->discount += p->common ? 0.9 * bits * p->min : 0;
	return true;
}

static double score_of(const struct run *r)
{
	double bits = fmin(r->bits - r->discount, ENOUGH);
	return r->blanks > BLANKS_MAX ? -1 : bits - r->blanks - 0.02 * (double)strlen(r->text);
}

static void keep_best(struct run *best, const struct run *r)
{
	if (r->bits >= LEAST && (best->bits < LEAST || score_of(r) > score_of(best)))
		*best = *r;
}

/* Is this piece in the middle of a character in UTF-8? */
static bool continues(const struct branch *b, size_t i)
{
	return i < b->n && b->pieces[i].kind == CHARACTER && (b->pieces[i].c & 0xc0) == 0x80;
}

/* The union of the best runs of all alternatives; bits 0: one of them has none. */
static void best_of(const struct branch *branches, size_t n, struct run *ret)
{
	struct run *best = get(1, sizeof(*best)), *r = get(1, sizeof(*r));
	*ret = (struct run){.bits = 1e9};
	for (size_t i = 0; i < n; i++) {
		const struct branch *b = &branches[i];
		*best = (struct run){0};
		for (size_t from = 0; from < b->n; from++) {
			*r = (struct run){0};
			for (size_t k = from; k < b->n && add_piece(r, &b->pieces[k]); k++)
				if (!continues(b, from) && !continues(b, k + 1))
					keep_best(best, r);
			const struct piece *p = &b->pieces[from];
			if (p->kind == GROUP && p->min > 0) {
				best_of(p->branches, p->branch_count, r);
				keep_best(best, r);
			}
		}
		if (i)
			append(ret, "|", 1);
		append(ret, best->text, strlen(best->text));
		if (best->bits < ret->bits) {
			ret->bits = best->bits;
			ret->discount = best->discount;
		}
		ret->blanks = best->blanks > ret->blanks ? best->blanks : ret->blanks;
	}
	if (n > 1) {
		*best = *ret;
		best->text[0] = 0;
		append(best, "(?:", 3);
		append(best, ret->text, strlen(ret->text));
		append(best, ")", 1);
		*ret = *best;
	}
	ret->discount = fmin(ret->discount + log2((double)n), ret->bits);
	free(best);
	free(r);
}

/* Writes the text with GAP, COLON and, if quotes, QUOTE in their places. */
static bool spell_out(const char *text, bool quotes, char *out, size_t room)
{
	size_t n = 0;
	for (bool in_class = false; *text; text++) {
		in_class = in_class ? *text != ']' : *text == '[';
		const char *as = (const char[]){*text, 0};
		if (!in_class && *text == ' ')
			as = GAP;
		else if (!in_class && *text == '\t')
			as = GAP_OR_NOTHING;
		else if (!in_class && *text == '\f')
			as = COLON;
		else if (!in_class && quotes && *text == '\'')
			as = QUOTE;
		size_t more = strlen(as);
		if (n + more + 2 > room)
			return false;
		memcpy(out + n, as, more);
		n += more;
		if (*text == '\\' && text[1])
			out[n++] = *++text;
	}
	out[n] = 0;
	return true;
}

static void free_branches(struct branch *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < all[i].n; k++)
			free_branches(all[i].pieces[k].branches, all[i].pieces[k].branch_count);
		free(all[i].pieces);
	}
	free(all);
}

bool given_pattern(const char *text, char *out, size_t room)
{
	return spell_out(text, false, out, room);
}

bool required_pattern(const char *text, char *out, size_t room)
{
	struct parser p = {.at = text};
	size_t n;
	struct branch *branches = read_branches(&p, &n);
	struct run *best = get(1, sizeof(*best));
	if (!p.failed && !*p.at)
		best_of(branches, n, best);
	bool good = best->bits >= LEAST && spell_out(best->text, true, out, room);
	free(best);
	free_branches(branches, n);
	return good;
}
