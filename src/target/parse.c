/* Target ids as text: parses, checks, writes and compares them. See target.h for their meaning. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "target/target.h"

static int cmp_name(const void *key, const void *gpu)
{
	return str_cmp(*(const struct str *)key, str_from(((const struct gpu *)gpu)->name));
}

const struct gpu *gpu_by_name(struct str name)
{
	return bsearch(&name, gpu_table(), gpu_count, sizeof(*gpu_table()), cmp_name);
}

const struct gpu *gpu_by_mach(unsigned mach)
{
	TABLE_EACH (gpu, g)
		if (g->mach == mach)
			return g;
	return NULL;
}

/* Parses a target id. *ret_bad is a feature that the processor cannot have, or that is named twice, or "". */
static struct target read_id(struct str text, struct str *ret_bad)
{
	struct str word, rest;
	size_t colon = str_chr(text, ':');
	struct str name = str_sub(text, 0, colon);
	const struct gpu *gpu = gpu_by_name(name);
	struct target t = {
		.gpu = gpu,
		.name = gpu ? str_from(gpu->name) : name,
		.sramecc = !gpu || gpu->sramecc ? FEATURE_ANY : FEATURE_UNSUPPORTED,
		.xnack = !gpu || gpu->xnack ? FEATURE_ANY : FEATURE_UNSUPPORTED,
	};
	*ret_bad = colon + 1 == text.n ? S(":") : S("");
	rest = str_sub(text, colon + 1, text.n);
	while (!ret_bad->n && str_next(&rest, ':', &word)) {
		char sign = word.n ? word.p[word.n - 1] : 0;
		struct str feature = str_sub(word, 0, word.n - (sign != 0));
		enum feature *f = str_eq(feature, S("xnack"))     ? &t.xnack
				  : str_eq(feature, S("sramecc")) ? &t.sramecc
								  : NULL;
		if (f && *f == FEATURE_ANY && (sign == '+' || sign == '-'))
			*f = sign == '+' ? FEATURE_ON : FEATURE_OFF;
		else
			*ret_bad = word.n ? word : S(":");
	}
	return t;
}

struct target target_read(struct str text)
{
	struct str bad;
	struct target t = read_id(text, &bad);
	return bad.n || !t.gpu ? (struct target){.name = text} : t;
}

struct str gpu_products(struct arena *a, const struct gpu *gpu)
{
	struct strs list = {0};
	strs_add_words(a, &list, gpu->products);
	struct str all = str_join(a, &list, S(", "));
	if (!gpu->about)
		return all;
	return all.n ? str_fmt(a, "%s (%.*s)", gpu->about, STR(all)) : str_from(gpu->about);
}

/* The part of a product's name that identifies it: "9070xt" for "AMD Radeon(TM) RX 9070 XT". */
static struct str product_key(struct arena *tmp, struct str s)
{
	static const char *const noise[] = {" ", "-", "(tm)", "(r)", "graphics"};
	static const char *const prefixes[] = {
		"amd", "radeon", "instinct", "firepro", "ai", "pro", "rx"};
	s = str_lower(tmp, s);
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		s = str_replace(tmp, s, str_from(noise[i]), S(""));
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (str_starts(s, str_from(prefixes[i])))
			s = str_sub(s, strlen(prefixes[i]), s.n);
	return s;
}

/* Is the processor in this family of TheRock's: "gfx110X-all", "gfx110X-dgpu", "gfx110X", "dgpu-all"? */
static bool in_family(struct str family, const struct gpu *gpu)
{
	struct str stem, tail, name = str_from(gpu->name), kind = str_from(gpu->kind);
	bool cut = str_cut(family, '-', &stem, &tail), all = !cut || str_eq(tail, S("all"));
	struct str last = str_sub(stem, stem.n - (stem.n > 0), stem.n);
	bool mine = str_eq(stem, name) || (stem.n == name.n && str_contains(S("xX"), last) &&
						  str_starts(name, str_sub(stem, 0, stem.n - 1)));
	return kind.n && (all ? mine || (cut && str_eq(stem, kind)) : mine && str_eq(tail, kind));
}

/* The targets that have this name's beginning, such as "gfx94" and "gfx11xx"; "" if there are none. */
static struct str family_members(struct arena *tmp, struct str stem)
{
	enum { SHORTEST = 5 };
	struct strs members = {0};
	while (stem.n > SHORTEST && str_contains(S("xX*"), str_sub(stem, stem.n - 1, stem.n)))
		stem.n--;
	bool complete = gpu_by_name(stem) != NULL;
	TABLE_EACH (gpu, g)
		if (stem.n >= SHORTEST && !complete && g->current &&
			str_starts(str_from(g->name), stem))
			strs_add(tmp, &members, str_from(g->name));
	return str_join(tmp, &members, S(","));
}

static struct err *unknown_gpu(struct str name)
{
	ARENA(tmp);
	/* the likeliest first, as suggest() takes the first of equally near names */
	struct strs known = {0};
	for (int current = 1; current >= 0; current--)
		for (size_t i = gpu_count; i-- > 0;)
			if (gpu_table()[i].current == current)
				strs_add(&tmp, &known, str_from(gpu_table()[i].name));
	struct err *e = err_new(E_GFX, "unknown GPU target '%.*s'", STR(name));
	struct str family = family_members(&tmp, name);
	struct str near = suggest(str_lower(&tmp, name), &known);
	if (family.n)
		return err_hint(e, "that family is %.*s", STR(family));
	if (near.n)
		return err_hint(e, "did you mean '%.*s'?", STR(near));
	return err_hint(e, "names are like gfx1201, gfx90a:xnack-, gfx11-generic or 'RX 9070 XT'");
}

/* Parses an id, or the name of a product with features. */
static struct err *parse_one(struct str text, struct target *ret)
{
	ARENA(tmp);
	struct str bad, id = text;
	const struct gpu *gpu = NULL;
	*ret = read_id(id, &bad);
	struct str product = ret->gpu ? S("") : product_key(&tmp, ret->name);
	TABLE_EACH (gpu, g)
		for (const char *const *p = g->products; product.n && !gpu && p && *p; p++)
			if (str_eq(product_key(&tmp, str_from(*p)), product))
				gpu = g;
	if (gpu) {
		id = str_fmt(&tmp, "%s%.*s", gpu->name, STR(str_sub(id, ret->name.n, id.n)));
		*ret = read_id(id, &bad);
	}
	gpu = ret->gpu;
	if (!gpu)
		return unknown_gpu(ret->name);
	if (!bad.n)
		return NULL;
	struct err *e = err_new(
		E_GFX, "'%.*s' is not a feature of '%s' in '%.*s'", STR(bad), gpu->name, STR(id));
	if (!gpu->xnack && !gpu->sramecc)
		return err_hint(
			e, "%s has no features to choose: write '%s'", gpu->name, gpu->name);
	return err_hint(e, "%s can have %s%s%s, each at most once", gpu->name,
		gpu->sramecc ? ":sramecc+ or :sramecc-" : "",
		gpu->sramecc && gpu->xnack ? ", " : "", gpu->xnack ? ":xnack+ or :xnack-" : "");
}

static void put_feature(struct buf *b, const char *name, enum feature f)
{
	if (f == FEATURE_ON || f == FEATURE_OFF)
		buf_fmt(b, ":%s%c", name, f == FEATURE_ON ? '+' : '-');
}

struct str target_text(struct arena *a, const struct target *t)
{
	BUF(b, a);
	buf_add(&b, t->name);
	put_feature(&b, "sramecc", t->sramecc);
	put_feature(&b, "xnack", t->xnack);
	return buf_str(&b);
}

/* The major version of a target: 9 for "gfx90a:xnack+" and "gfx9-4-generic", 10 for "gfx1030"; 100 for other text. */
static unsigned generation(struct str s)
{
	size_t n = 3;
	uint64_t major;
	if (!str_starts(s, S("gfx")))
		return 100;
	while (n < s.n && ascii_alnum(s.p[n]))
		n++;
	if (n >= s.n || s.p[n] != '-')
		n = n > 5 ? n - 2 : n; /* without minor and stepping */
	if (!str_u64(str_sub(s, 3, n), 10, &major) || major > 99)
		return 100;
	return (unsigned)major;
}

int target_order(struct str x, struct str y)
{
	unsigned gx = generation(x), gy = generation(y);
	return gx != gy ? (gx < gy ? -1 : 1) : str_cmp(x, y);
}

int target_order_first(const void *x, const void *y)
{
	return target_order(*(const struct str *)x, *(const struct str *)y);
}

void targets_sort(struct strs *list)
{
	VEC_SORT(list, target_order_first);
}

static bool conflict(enum feature a, enum feature b)
{
	return (a == FEATURE_ON && b == FEATURE_OFF) || (a == FEATURE_OFF && b == FEATURE_ON);
}

bool target_covers(const struct target *have, const struct target *want)
{
	bool same = str_eq(have->name, want->name);
	bool generic =
		want->gpu && want->gpu->generic && str_eq(have->name, str_from(want->gpu->generic));
	return (same || generic) && !conflict(have->sramecc, want->sramecc) &&
	       !conflict(have->xnack, want->xnack);
}

size_t target_modes(const struct target *t, struct target ret[TARGET_MODES])
{
	size_t n = 1;
	ret[0] = *t;
	for (int x = 0; x < 2; x++)
		for (size_t i = 0, old = n; i < old; i++) {
			enum feature *f = x ? &ret[i].xnack : &ret[i].sramecc;
			if (*f != FEATURE_ANY)
				continue;
			*f = FEATURE_OFF;
			ret[n] = ret[i];
			*(x ? &ret[n].xnack : &ret[n].sramecc) = FEATURE_ON;
			n++;
		}
	return n;
}

bool targets_serve(const struct strs *list, struct str gpu)
{
	struct target want = target_read(gpu);
	VEC_EACH (const struct str, text, list) {
		struct target have = target_read(*text);
		if (target_covers(&have, &want))
			return true;
	}
	return false;
}

static void add_target(struct arena *a, struct targets *list, struct target t)
{
	VEC_EACH (struct target, have, list)
		if (str_eq(have->name, t.name) && have->sramecc == t.sramecc &&
			have->xnack == t.xnack)
			return;
	*VEC_PUSH(a, list) = t;
}

struct err *targets_parse(struct arena *a, const struct strs *words, struct targets *ret)
{
	struct strs names = {0};
	*ret = (struct targets){0};
	VEC_EACH (const struct str, word, words) {
		struct strs more = str_split(a, *word, ',');
		strs_add_all(a, &names, &more);
	}
	VEC_EACH (const struct str, name, &names) {
		struct target t;
		bool all = str_eq(*name, S("all")), several = all;
		bool known = gpu_by_name(*name) != NULL;
		TABLE_EACH (gpu, g) {
			if (known || (all ? !g->current : !in_family(*name, g)))
				continue;
			add_target(a, ret, target_read(str_from(g->name)));
			several = true;
		}
		if (several)
			continue;
		TRY(parse_one(*name, &t));
		add_target(a, ret, t);
	}
	if (!ret->n)
		return err_hint(err_new(E_GFX, "no GPU target is given"),
			"give names such as gfx1201,gfx90a, or 'all'");
	return NULL;
}
