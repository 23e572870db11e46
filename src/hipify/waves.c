/* Finds the spots that assume 32 lanes; see waves.h. Each candidate token is judged by its neighbours,
 * at most FAR tokens away. A table classifies the words that matter. */
#include "hipify/waves.h"

#include "base/fs.h"
#include "base/glob.h"
#include "base/proc.h"
#include "hipify/hipify.h"
#include "lang/cxx/lexer.h"
#include "lang/cxx/live.h"

enum { FAR = 400, MAX_SOURCE = 16 << 20, MAX_WORDS = 65536 };

struct wave_spot {
	enum wave_kind kind;
	struct str place, text;
	struct str mask; /* the spot counts only if this name is used as a mask; "" = always */
};

struct waves {
	struct arena *a;
	VEC(struct wave_spot) spots;
	struct map masks; /* names used as masks: "NAME" by any file, "PATH:NAME" by that file */
	struct map words; /* word -> its classes */
};

struct wave_reader {
	struct waves *all;
	struct arena *a; /* freed after this file */
	struct str s, path;
	struct lex *l;
	VEC(struct tok) t;
	unsigned *is;
	bool *seen; /* tokens reported already */
	bool warps; /* the file calls warp functions */
	/* Names that hold a thread's index in its block, a ballot, a 32-bit value. */
	struct map threads, ballots, narrow;
};

/* ---- tokens: at() gives "" beyond either end ---- */

static struct str at(const struct wave_reader *r, size_t i)
{
	return i < r->t.n ? str_sub(r->s, r->t.v[i].from, r->t.v[i].to) : S("");
}

static bool is(const struct wave_reader *r, size_t i, const char *text)
{
	return str_eq(at(r, i), str_from(text));
}

static bool is_name(const struct wave_reader *r, size_t i)
{
	return i < r->t.n && r->t.v[i].kind == TOK_IDENT;
}

static bool is_a(const struct wave_reader *r, size_t i, unsigned class)
{
	return i < r->t.n && r->is[i] >> class & 1;
}

static unsigned classify(struct waves *w, struct str text, bool name)
{
	ARENA(tmp);
	const unsigned *known = map_get(&w->words, text);
	if (known)
		return *known;
	struct str plain = str_lower(&tmp, str_replace(&tmp, text, S("_"), S("")));
	unsigned is = 0;
	TABLE_EACH (wave_class, c) {
		bool has = c->class < W_SHFL ? str_is_one_of(text, c->words)
					     : name && str_contains_one_of(plain, c->words);
		is |= (unsigned)has << c->class;
	}
	if (w->words.n < MAX_WORDS) {
		unsigned *keep = NEW(w->a, unsigned);
		*keep = is;
		map_put(&w->words, str_dup(w->a, text), keep);
	}
	return is;
}

/* Is the token one of the words in list, such as "a b"? */
static bool is_one_of(const struct wave_reader *r, size_t i, const char *list)
{
	struct str w;
	for (struct str rest = str_from(list); str_next(&rest, ' ', &w);)
		if (str_eq(at(r, i), w))
			return true;
	return false;
}

static bool number(const struct wave_reader *r, size_t i, uint64_t *ret)
{
	struct str s = at(r, i);
	if (i >= r->t.n || r->t.v[i].kind != TOK_NUMBER)
		return false;
	while (s.n > 1 && strchr("uUlL", s.p[s.n - 1]))
		s.n--;
	bool hex = str_starts(s, S("0x")) || str_starts(s, S("0X"));
	s = str_replace(r->a, str_sub(s, hex ? 2 : 0, s.n), S("'"), S(""));
	return str_u64(s, hex ? 16 : 10, ret);
}

static bool ends_statement(const struct wave_reader *r, size_t i)
{
	return i >= r->t.n || r->t.v[i].kind == TOK_LINE_END || is_a(r, i, W_STOP);
}

/* The bracket that pairs with the one at i, forwards or backwards (step -1); i if it is too far. */
static size_t pair(const struct wave_reader *r, size_t i, int step)
{
	const char *opening = step > 0 ? "([" : ")]", *closing = step > 0 ? ")]" : "([";
	size_t depth = 0, k = i;
	for (unsigned n = 0; n < FAR && k < r->t.n; n++, k += (size_t)step) {
		struct str s = at(r, k); /* "" at the end of a directive */
		char c = s.n ? s.p[0] : 0;
		depth += c == opening[0] || c == opening[1];
		depth -= c == closing[0] || c == closing[1];
		if (!depth)
			return k;
	}
	return i;
}

/* Like pair() forwards, but r->t.n if the bracket is too far. */
static size_t behind(const struct wave_reader *r, size_t i)
{
	size_t end = pair(r, i, 1);
	return end == i ? r->t.n : end;
}

/* Adds a spot; NULL if one was added at the token `from` already. */
static struct wave_spot *found(struct wave_reader *r, enum wave_kind kind, size_t from, size_t to)
{
	struct arena *a = r->all->a;
	const struct tok *t = &r->t.v[from];
	if (r->seen[from])
		return NULL;
	r->seen[from] = true;
	int open = 0; /* the text ends with the brackets that it opens */
	for (size_t i = from; i <= to; i++)
		open += is(r, i, "(") - is(r, i, ")");
	while (open-- > 0 && is(r, to + 1, ")"))
		to++;
	struct wave_spot *spot = VEC_PUSH(a, &r->all->spots);
	spot->kind = kind;
	spot->place = str_fmt(a, "%.*s:%u:%u", STR(r->path), t->line, lex_column(r->l, t->from));
	spot->text = str_dup(a, str_sub(r->s, t->from, r->t.v[to].to));
	return spot;
}

/* ---- names ---- */

/* Is this the call of a shuffle, or of a project's own WARP_SHFL()? Members do not count: g.shfl() of a
 * cooperative group uses the size of the group. */
static bool is_shuffle(const struct wave_reader *r, size_t i)
{
	return is_a(r, i, W_SHFL) && is(r, i + 1, "(") && !is_one_of(r, i - 1, ". define");
}

static bool takes_mask(const struct wave_reader *r, size_t i)
{
	bool sync = is_a(r, i, W_SYNC) &&
		    (str_ends(at(r, i), S("_sync")) || str_ends(at(r, i), S("_SYNC")));
	bool known = str_starts(at(r, i), S("__")) && is(r, i + 1, "(");
	return (sync && (known || is_shuffle(r, i))) || (known && is(r, i, "__syncwarp"));
}

/* The name that token i is assigned to, through casts: NAME = (T)i, #define NAME i. r->t.n if none. */
static size_t given_to(const struct wave_reader *r, size_t i)
{
	size_t k = i - 1;
	while (is_a(r, k, W_CAST) && i - k < FAR)
		k--;
	if (is(r, k, "=") && is_name(r, k - 1))
		return k - 1;
	return is_name(r, k) && is(r, k - 1, "define") ? k : r->t.n;
}

/* Does the expression depend on the thread's index in its block, not counting subscripts and the
 * arguments of calls? */
static bool by_thread(const struct wave_reader *r, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		bool call =
			is(r, i, "(") && i > from && is_name(r, i - 1) && !is_a(r, i - 1, W_CAST);
		if (is(r, i, "[") || call)
			i = behind(r, i);
		else if (is_a(r, i, W_THREAD) || (is_name(r, i) && map_get(&r->threads, at(r, i))))
			return true;
	}
	return false;
}

/* At NAME = ..., notes whether the value is a ballot or depends on the thread's index. */
static void note_value(struct wave_reader *r, size_t i)
{
	bool votes = false;
	size_t end = i + 2;
	if (!is(r, i + 1, "=") || is(r, i + 2, "="))
		return;
	for (; end < i + FAR && !ends_statement(r, end) && !is_one_of(r, end, ", )"); end++) {
		votes |= is_a(r, end, W_VOTE);
		if (is_a(r, end, W_OPEN))
			end = behind(r, end);
	}
	if (votes)
		map_put(&r->ballots, at(r, i), r);
	bool thread = end <= i + FAR && by_thread(r, i + 2, end);
	bool new = is_name(r, i - 1) && !is_one_of(r, i - 1, "else do"); /* behind its type */
	if (thread || new)
		map_put(&r->threads, at(r, i), thread ? r : NULL);
}

/* ---- masks ---- */

/* Is this a mask of 32 bits: 0xffffffff, UINT_MAX, or the 0u of ~0u? */
static bool is_full(const struct wave_reader *r, size_t i)
{
	uint64_t n = 1;
	return is_a(r, i, W_FULL) ||
	       (number(r, i, &n) &&
		       (n == 0xffffffff || (is(r, i - 1, "~") && is_one_of(r, i, "0u 0U"))));
}

static struct str own_name(const struct wave_reader *r, size_t i)
{
	return str_fmt(r->all->a, "%.*s:%.*s", STR(r->path), STR(at(r, i)));
}

/* Reports a full mask as the first argument, through casts; notes a name there as one used as a mask. */
static void check_mask(struct wave_reader *r, size_t call)
{
	size_t end = pair(r, call + 1, 1), i = call + 2;
	while (i < end && (is_a(r, i, W_CAST) || is(r, i, "~")))
		i++;
	size_t next = i + 1;
	while (next < end && is(r, next, ")"))
		next++;
	if (!is(r, next, ",") && next != end)
		return;
	if (is_full(r, i)) {
		found(r, WAVE_MASK, is(r, i - 1, "~") ? i - 1 : i, i);
	} else if (is_name(r, i)) {
		map_put(&r->all->masks, str_dup(r->all->a, at(r, i)), r->all);
		map_put(&r->all->masks, own_name(r, i), r->all);
	}
}

/* At NAME = 0xffffffff and #define NAME 0xffffffff, adds a spot that counts if NAME is used as a mask. */
static void note_mask(struct wave_reader *r, size_t i)
{
	static const char constants[] = "constexpr const define";
	size_t from = is(r, i - 1, "~") ? i - 1 : i, name = given_to(r, from), k = name;
	if (name == r->t.n)
		return;
	while (name - k < FAR && !ends_statement(r, k - 1) && !is(r, k - 1, "(") &&
		!is_one_of(r, k, constants))
		k--;
	struct wave_spot *spot = found(r, WAVE_MASK, name, i);
	if (spot)
		spot->mask = is_one_of(r, k, constants) ? str_dup(r->all->a, at(r, name))
							: own_name(r, name);
}

/* ---- the number 32 ---- */

/* Reports X % 32, X / 32, X & 31 and X >> 5 if two of these hold: X depends on the thread's index, the
 * result is assigned to a name such as lane or warp_id, the file calls warp functions. */
static void check_division(struct wave_reader *r, size_t i, uint64_t n)
{
	size_t op = i - 1, end = n == 5 ? i - 3 : i - 2, from = end;
	bool wanted = n == 32   ? is_one_of(r, op, "% /")
		      : n == 31 ? is(r, op, "&") && !is(r, op - 1, "&")
				: n == 5 && is(r, op, ">") && is(r, op - 1, ">");
	if (!wanted || end >= r->t.n)
		return;
	if (is(r, end, ")")) {
		from = pair(r, end, -1);
		if (is_name(r, from - 1) && !is_a(r, from - 1, W_CAST) &&
			!is(r, from - 1, "return"))
			return; /* divides the value of a call */
	}
	while (is(r, from - 1, ".") && is_name(r, from - 2))
		from -= 2;
	/* Go back to the "=" that assigns the result to a name. */
	size_t k = end;
	while (end - k < FAR && !ends_statement(r, k) && !is(r, k, ",") &&
		!(is(r, k, "=") && is_name(r, k - 1)))
		k--;
	bool named = is(r, k, "=") && !is(r, k + 1, "=") && !is_a(r, k - 1, W_PLANE) &&
		     (is(r, k - 1, "wid") || is_a(r, k - 1, W_WAVE));
	bool threads = by_thread(r, from, end + 1);
	if ((threads && (r->warps || named)) || (named && r->warps))
		found(r, WAVE_SIZE, from, i);
}

/* ---- shuffles ---- */

/* Reports the loop over `name` around token i if it starts or ends as one over 32 lanes does. */
static void check_loop(struct wave_reader *r, size_t i, struct str name)
{
	enum { LOOPS = 8 };
	bool mine = false;
	for (size_t k = i, n = 0; n < LOOPS && i - k < FAR && !mine; k--) {
		if (!is(r, k, "for"))
			continue;
		size_t end = pair(r, k + 1, 1);
		n++;
		for (size_t h = k + 2; h < end; h++) {
			uint64_t v = 0;
			if (!str_eq(at(r, h), name))
				continue;
			mine = true;
			bool equal = is(r, h + 2, "=");
			size_t value = equal ? h + 3 : h + 2;
			(void)number(r, value, &v);
			if ((is(r, h + 1, "=") && !equal && v == 16) ||
				(is(r, h + 1, "<") && v == (equal ? 16 : 32)))
				found(r, WAVE_SHUFFLE, h, value);
		}
	}
}

/* Checks f(mask, value, delta, width); functions without "sync" in their names have no mask. */
static void check_shuffle(struct wave_reader *r, size_t call)
{
	size_t end = pair(r, call + 1, 1), args[5] = {call + 1}, n = 1;
	size_t delta = is_a(r, call, W_SYNC) ? 2 : 1;
	uint64_t v;
	for (size_t i = call + 2; i < end && n < 5; i++) {
		if (is_a(r, i, W_OPEN))
			i = pair(r, i, 1);
		if (is(r, i, ","))
			args[n++] = i;
	}
	bool width = n > delta + 1;
	if (n <= delta || !is_a(r, call, W_WAY) ||
		(width && !is(r, args[delta + 1] + 1, "warpSize")))
		return;
	size_t i = args[delta] + 1;
	if (i + 1 != (width ? args[delta + 1] : end))
		return;
	if (is_name(r, i))
		check_loop(r, call, at(r, i));
	else if (number(r, i, &v) && v == 16)
		found(r, WAVE_SHUFFLE, i, i);
}

/* ---- ballots ---- */

/* Is the function around token i declared to return 32 bits? */
static bool gives_32(const struct wave_reader *r, size_t i)
{
	for (size_t n = 0, depth = 0; n < FAR && i < r->t.n; n++, i--) {
		depth += is(r, i, "}");
		if (!is(r, i, "{") || (depth && depth--))
			continue;
		size_t open = is(r, i - 1, ")") ? pair(r, i - 1, -1) : i, type = open - 2;
		if (open == i - 1)
			return false;
		if (is_name(r, open - 1) && is_name(r, type))
			return is_a(r, type, W_NARROW) && !is(r, type - 1, "long");
	}
	return false;
}

static void check_vote(struct wave_reader *r, size_t i)
{
	size_t name = given_to(r, i), from = i - 1, next = pair(r, i + 1, 1) + 1;
	while (is_a(r, from, W_CAST) && i - from < FAR)
		from--;
	while (is(r, next, ")"))
		next++;
	bool bit = is(r, next, "&") && is_one_of(r, next + 1, "& 1 1u");
	bool narrow = is(r, from, "return") ? gives_32(r, i)
					    : name < r->t.n && map_get(&r->narrow, at(r, name));
	if (narrow && !bit && !is_one_of(r, next, "= ! < > ?"))
		found(r, WAVE_BALLOT, i, i);
}

/* ---- warpSize, except the member of device properties ---- */

static void check_constant(struct wave_reader *r, size_t i)
{
	size_t k = i - 1;
	bool wanted = (is_one_of(r, k, "< ,") && is(r, i + 1, ">")) || is(r, k, "case");
	if (is(r, k, ".") || (is(r, k, ">") && is(r, k - 1, "-")))
		return;
	for (size_t n = 0; n < FAR && !wanted && !ends_statement(r, k); n++, k--) {
		if (is(r, k, "]") && pair(r, k, -1) == k)
			return;
		if (is(r, k, "]"))
			k = pair(r, k, -1);
		else if (is(r, k, "["))
			wanted = is_name(r, k - 1) && (is_name(r, k - 2) || is(r, k - 2, ">")) &&
				 !is_one_of(r, k - 2, "return new else case delete throw");
		else
			wanted = is_one_of(r, k, "constexpr static_assert __launch_bounds__");
	}
	if (wanted)
		found(r, WAVE_CONSTANT, i, i);
}

/* ---- files ---- */

static void look_at_token(struct wave_reader *r, size_t i)
{
	uint64_t n;
	if (r->t.v[i].kind != TOK_NUMBER && r->t.v[i].kind != TOK_IDENT)
		return;
	if (is_full(r, i))
		note_mask(r, i);
	if (number(r, i, &n)) {
		check_division(r, i, n);
		/* WARP_SIZE = 32, #define LOG_WARP_SIZE 5 */
		size_t name = given_to(r, i);
		if (n == 32       ? is_a(r, name, W_LANES)
			: n == 31 ? is_a(r, name, W_LANE) && is_a(r, name, W_MASKS)
				  : n == 5 && is_a(r, name, W_LANE) && is_a(r, name, W_LOG))
			found(r, WAVE_SIZE, name, i);
		return;
	}
	/* At TYPE NAME, note whether NAME has 32 bits. */
	bool narrow = is_a(r, i, W_NARROW) && !is(r, i - 1, "long");
	if ((narrow || is_a(r, i, W_WIDE)) && is_name(r, i + 1) && !is_a(r, i + 1, W_CAST))
		map_put(&r->narrow, at(r, i + 1), narrow ? r : NULL);
	note_value(r, i);
	for (size_t k = i + 2, end = is_a(r, i, W_BITS) ? pair(r, i + 1, 1) : 0; k < end; k++)
		if (is_a(r, k, W_VOTE) || (is_name(r, k) && map_has(&r->ballots, at(r, k))))
			found(r, WAVE_COUNT, i, i);
	if (takes_mask(r, i))
		check_mask(r, i);
	if (is_shuffle(r, i))
		check_shuffle(r, i);
	if (is_a(r, i, W_VOTE))
		check_vote(r, i);
	if (is(r, i, "warpSize"))
		check_constant(r, i);
}

static void read_text(struct waves *w, struct str path, struct str text, bool by_torch)
{
	ARENA(a);
	struct wave_reader r = {.all = w, .a = &a, .s = text, .path = path};
	struct live_lines lines = live_lines(&a, text, by_torch);
	struct lex l = lex_new(text, path);
	struct tok t = {0};
	unsigned aware = 0; /* depth of the #if that tests the kind of GPU, or 0 */
	r.l = &l;
	r.threads.a = r.ballots.a = r.narrow.a = &a;
	l.lenient = true;
	/* The tokens that a build compiles; preprocessor lines other than #define are left out. */
	while (lex_try(&l, &t) && t.kind != TOK_END) {
		bool heads = l.directive.n && tok_text(&l, &t).p == l.directive.p;
		if (heads && !aware &&
			(str_starts(l.directive, S("if")) || str_eq(l.directive, S("elif")))) {
			struct str rest = str_lower(&a, lex_rest_of_line(&l));
			bool asks = str_contains(rest, S("__gfx")) ||
				    str_contains(rest, S("wavefront"));
			aware = asks ? l.depth : 0;
		}
		aware = aware > l.depth ? 0 : aware;
		bool skip = l.directive.n && !str_eq(l.directive, S("define"));
		if (!skip && !aware && !l.dead && !line_in(&lines.dead, t.line))
			*VEC_PUSH(&a, &r.t) = t;
	}
	r.seen = arena_array(&a, r.t.n + 1, sizeof(*r.seen));
	r.is = arena_array(&a, r.t.n + 1, sizeof(*r.is));
	for (size_t i = 0; i < r.t.n; i++)
		r.is[i] = classify(w, at(&r, i), is_name(&r, i));
	for (size_t i = 0; i < r.t.n && !r.warps; i++)
		r.warps = is_shuffle(&r, i) || is_a(&r, i, W_VOTE) || takes_mask(&r, i);
	for (size_t i = 0; i < r.t.n; i++)
		look_at_token(&r, i);
}

struct err *waves_find(struct arena *a, const struct waves_request *q, struct findings *ret)
{
	struct waves w = {.a = a, .words.a = a, .masks.a = a};
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct strs all = {0};
	TRY(fs_guard_sources(q->dir, &guard));
	if (!q->files)
		TRY(glob_files(a, q->dir, S("**/*"), &all));
	VEC_EACH (const struct str, path, q->files ? q->files : &all) {
		ARENA(tmp);
		const struct str *known = q->texts ? map_get(q->texts, *path) : NULL;
		struct str text, file = path_join(&tmp, q->dir, *path);
		TRY(cancel_check());
		if (!hipify_is_source(*path) || hipify_is_excluded(&q->exclude, *path))
			continue;
		struct err *e = known ? NULL : fs_read(&tmp, file, MAX_SOURCE, &text);
		if (!e)
			read_text(&w, *path, known ? *known : text, q->by_torch);
		err_free(e);
	}
	ret->most = q->most;
	TABLE_EACH (wave_finding, row)
		VEC_EACH (const struct wave_spot, s, &w.spots) {
			if (s->kind != row->kind || (s->mask.n && !map_has(&w.masks, s->mask)))
				continue;
			struct finding *f = finding_note(
				a, ret, row->id, s->place, "'%.*s' %s", STR(s->text), row->why);
			finding_fix(a, f, "%s", row->instead);
		}
	return NULL;
}
