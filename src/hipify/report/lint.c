/* Faults of name tables; see torch_tables_lint() in tables.h.
 *
 * What can be seen from the pairs themselves is a rule of a line or two. Whether a value would be
 * translated again is found by translating it, with all passes that a header goes through.
 */
#include "hipify/torch/model/tables.h"
#include "hipify/torch/text/text.h"
#include "lang/python/word.h"

struct lint {
	struct arena *a;
	const struct torch_engine *engine;
	struct findings *ret;
};

static struct finding *found(
	struct lint *l, const char *id, enum severity s, const struct torch_entry *e)
{
	return finding_add(l->a, l->ret, id, s, e->file);
}

#define SAY(l, f, e, fmt, ...)                                                                     \
	finding_say((l)->a, f, "line %u: %.*s: '%.*s': " fmt, (e)->line, STR((e)->table),          \
		STR((e)->from), __VA_ARGS__)

/* ---- pairs that void each other ---- */

static void check_clash(struct lint *l, const struct torch_clash *c)
{
	const struct torch_entry *e = &c->lost, *k = &c->kept;
	bool same = str_eq(e->to, k->to);
	if (!k->from.n) {
		SAY(l, found(l, "map-dead", SEV_WARNING, e), e, "%s",
			"its kinds put it into no map, it is never used");
	} else if (str_eq(e->table, k->table)) {
		SAY(l, found(l, "map-duplicate", same ? SEV_INFO : SEV_WARNING, e), e,
			"is there again in line %u%s%.*s%s", k->line, same ? "" : ", as '",
			STR(same ? S("") : k->to), same ? ", equally" : "'");
	} else {
		SAY(l, found(l, "map-hidden", same ? SEV_INFO : SEV_WARNING, e), e,
			"'%.*s' is hidden by '%.*s' of %.*s, line %u", STR(e->to), STR(k->to),
			STR(k->table), k->line);
	}
}

/* ---- single pairs ---- */

static struct err *check_entry(struct lint *l, const struct torch_entry *e)
{
	size_t end = e->from.n;
	if (str_chr(e->from, '\r') < e->from.n)
		SAY(l, found(l, "map-dead", SEV_WARNING, e), e, "%s",
			"can never match: texts are read with plain line ends");
	else if (!py_word(utf8_prev(e->from, &end)))
		SAY(l, found(l, "map-edge", SEV_INFO, e), e, "%s",
			"ends in a mark, so it matches only in front of another mark or white "
			"space");
	if (str_eq(e->from, e->to)) {
		SAY(l, found(l, "map-no-change", SEV_INFO, e), e, "%s", "stays as it is");
		return NULL;
	}
	/* Is the value, where it stands alone, translated again? */
	struct hipify_text again = {0};
	struct torch_job job = {.path = S("/x.h")};
	struct str text = str_fmt(l->a, "\n %.*s \n", STR(e->to));
	TRY(torch_text(l->a, l->engine, &job, text, &again));
	if (!str_eq(again.text, text))
		SAY(l, found(l, "map-repeats", SEV_WARNING, e), e,
			"a second run makes '%.*s' of its '%.*s'", STR(str_trim(again.text)),
			STR(e->to));
	return NULL;
}

struct err *torch_tables_lint(struct arena *a, const struct torch_source *s, struct findings *ret)
{
	struct torch_tables t;
	TRY(torch_tables_read(a, s, &t));
	struct lint l = {.a = a, .engine = torch_engine_new(a, &t), .ret = ret};
	VEC_EACH (const struct torch_clash, c, &t.clashes)
		check_clash(&l, c);
	VEC_EACH (const struct torch_entry, e, &t.names)
		TRY(check_entry(&l, e));
	return NULL;
}

/* ---- a user's map ---- */

static struct torch_map copy_of(struct arena *a, const struct torch_map *m)
{
	struct torch_map copy = {.n = m->n, .cap = m->n};
	copy.v = arena_array(a, m->n, sizeof(*copy.v));
	for (size_t i = 0; i < m->n; i++)
		copy.v[i] = m->v[i];
	return copy;
}

static void check_known(struct lint *l, const struct map *known, const struct torch_entry *e)
{
	const struct torch_entry *old = map_get(known, e->from);
	if (old && str_eq(old->to, e->to))
		SAY(l, found(l, "map-duplicate", SEV_INFO, e), e,
			"%.*s says the same in line %u of %.*s", STR(old->table), old->line,
			STR(old->file));
	else if (old)
		SAY(l, found(l, "map-hides", SEV_INFO, e), e,
			"takes the place of '%.*s' of %.*s, line %u of %.*s", STR(old->to),
			STR(old->table), old->line, STR(old->file));
}

struct err *torch_map_lint(struct arena *a, struct str path, struct str text,
	const struct torch_tables *t, struct findings *ret)
{
	MAP(known, a);
	struct torch_tables with = *t;
	with.names = copy_of(a, &t->names);
	with.special = copy_of(a, &t->special);
	with.caffe2 = copy_of(a, &t->caffe2);
	TRY(torch_tables_add(a, path, text, &with));
	struct lint l = {.a = a, .engine = torch_engine_new(a, &with), .ret = ret};
	VEC_EACH (struct torch_entry, e, &t->names)
		map_put(&known, e->from, e);
	VEC_EACH (const struct torch_entry, e, &with.names) {
		if (!str_eq(e->table, S("custom")))
			continue;
		check_known(&l, &known, e);
		TRY(check_entry(&l, e));
	}
	return NULL;
}
