/* rocsmith clean: removes what rocsmith made, and has caches of other programs cleaned by these. */
#include "base/fs.h"
#include "base/proc.h"
#include "base/progress.h"
#include "cli/opt.h"
#include "disk/disk.h"
#include "term/out.h"
#include "term/table.h"

struct clean_args {
	struct common common;
	struct strs kinds, keep;
	struct str older, budget;
};
#define ARGS struct clean_args

const struct opt cmd_clean_opts[] = {
	{OPT_ARGUMENT(
		"KIND", OPT_POSES, kinds, "of what 'rocsmith du' shows, or the name of a cache")},
	{OPT_VALUE("older", OPT_STR, older, "AGE",
		"only what was not used for so long: 12h, 14d, 8w")},
	{OPT_VALUE("keep", OPT_WORDS, keep, "N|NAME,...",
		"leave the N of each kind that were used last, or these")},
	{OPT_VALUE("budget", OPT_STR, budget, "SIZE",
		"only as much as leaves no more than this: 50G")},
	OPT_LAST,
};

enum clean_outcome { CLEAN_WOULD, CLEAN_REMOVED, CLEAN_BUSY, CLEAN_FAILED };
static const char *const outcomes[] = {"would be removed", "removed", "in use", "failed", NULL};

struct clean_item {
	const struct disk_item *item;
	enum clean_outcome outcome;
	struct str why;
};

struct clean_cache {
	struct str name, path;
	struct strs command;
	uint64_t bytes; /* freed */
	struct str why; /* why its command failed; or "" */
	bool missing;   /* there is no such program */
};

struct cleaning {
	struct arena *a;
	struct disk_wish wish;
	bool all; /* without a kind, all of them are meant */
	VEC(struct clean_item) items;
	VEC(struct clean_cache) caches;
	uint64_t bytes, left; /* freed; of these kinds afterwards */
	struct err *failed;   /* the first */
};

static const struct json_field item_fields[] = {
	FIELD_FROM(struct clean_item, item, disk_item_fields),
	FIELD_ENUM("outcome", struct clean_item, outcome, outcomes),
	FIELD("why", struct clean_item, why),
	{.kind = FIELD_END},
};

static const struct json_field cache_fields[] =
	FIELDS_ONLY(struct clean_cache, name, command, bytes, why);

static const struct json_field clean_fields[] = {
	FIELD_CONST("schema", "rocsmith.clean/1"),
	FIELD_LIST("items", struct cleaning, items, item_fields),
	FIELD_LIST("caches", struct cleaning, caches, cache_fields),
	FIELDS(struct cleaning, bytes, left),
	{.kind = FIELD_END},
};

/* ---- the request ---- */

static const struct str_unit ages[] = {{"h", 3600}, {"d", 86400}, {"w", 604800}, {0}};

static struct err *read_amount(
	struct str word, const char *option, const struct str_unit *units, uint64_t *ret)
{
	if (str_amount(word, units, ret))
		return NULL;
	return err_hint(err_new(E_USAGE, "'%.*s' is no value of %s", STR(word), option),
		"a number and a unit: %s",
		str_eq(str_from(option), S("--older")) ? "12h, 14d or 8w" : "500M, 50G or 1T");
}

static struct err *read_keep(struct cleaning *c, const struct strs *keep, const struct disk *d)
{
	struct strs known = {0};
	VEC_EACH (const struct disk_item, i, &d->items) {
		strs_put(c->a, &known, i->name);
		strs_put(c->a, &known, i->path);
	}
	VEC_EACH (const struct str, word, keep) {
		if (str_u64(*word, 10, &c->wish.newest))
			continue;
		if (!strs_has(&known, *word))
			return err_near(
				err_new(E_USAGE, "there is nothing with the name '%.*s' to keep",
					STR(*word)),
				*word, &known);
		strs_add(c->a, &c->wish.names, *word);
	}
	return NULL;
}

/* Adds the command of a cache. Only some can tell what is old. */
static struct err *add_cache(struct cleaning *c, const struct disk_cache *cache)
{
	const char *const *words = c->wish.older ? cache->older : cache->clean;
	struct clean_cache *k = VEC_PUSH(c->a, &c->caches);
	k->name = str_from(cache->name);
	k->path = disk_cache_path(c->a, cache);
	k->why = S("");
	if (!cache->clean || !*cache->clean)
		return err_hint(err_new(E_USAGE, "no program cleans the cache '%s'", cache->name),
			"'rocsmith du' shows its folder");
	if (!words || !*words)
		return err_new(E_USAGE, "%s cannot clean its cache by age", cache->name);
	struct str seconds = str_fmt(c->a, "%llu", (unsigned long long)c->wish.older);
	for (; *words; words++)
		strs_add(c->a, &k->command,
			str_replace(c->a, str_from(*words), S("{seconds}"), seconds));
	return NULL;
}

/* Kinds have their plural, too. Without one, an age or a budget is for all but wheels, which are what builds are for. */
static struct err *read_kinds(struct cleaning *c, const struct strs *words)
{
	struct strs known = {0};
	for (size_t k = 0; disk_kinds[k]; k++) {
		strs_add(c->a, &known, str_from(disk_kinds[k]));
		c->wish.kinds[k] = !words->n && (c->all ? k != DISK_WHEEL : k == DISK_LEFTOVER);
	}
	VEC_EACH (const struct str, word, words) {
		bool found = false;
		for (size_t k = 0; disk_kinds[k]; k++)
			if (str_eq(*word, known.v[k]) ||
				str_eq(*word, str_fmt(c->a, "%ss", disk_kinds[k])))
				found = c->wish.kinds[k] = true;
		TABLE_EACH (disk_cache, cache) {
			if (found)
				break;
			strs_add(c->a, &known, str_from(cache->name));
			found = str_eq(*word, str_from(cache->name));
			if (found)
				TRY(add_cache(c, cache));
		}
		if (found)
			continue;
		return err_near(err_hint(err_new(E_USAGE, "'%.*s' is nothing to clean", STR(*word)),
					"one of: %.*s", STR(str_join(c->a, &known, S(", ")))),
			*word, &known);
	}
	return NULL;
}

/* ---- the work ---- */

static struct err *remove_item(struct cleaning *c, struct clean_item *i, bool dry)
{
	i->outcome = i->item->busy.n ? CLEAN_BUSY : CLEAN_WOULD;
	i->why = i->item->busy;
	if (i->item->busy.n || dry) {
		c->bytes += i->item->busy.n ? 0 : i->item->bytes;
		return NULL;
	}
	TRY(cancel_check());
	struct progress *p = progress_begin(S("Removing"), i->item->name, UNIT_NONE, 0);
	struct err *e = disk_remove(i->item, &c->bytes);
	progress_end(p);
	i->outcome = !e ? CLEAN_REMOVED : e->code == E_LOCKED ? CLEAN_BUSY : CLEAN_FAILED;
	if (!e)
		return NULL;
	i->why = str_dup(c->a, str_from(err_root(e)->msg));
	c->left += i->item->bytes;
	if (e->code == E_CANCELLED)
		return e;
	if (i->outcome == CLEAN_BUSY || c->failed)
		err_free(e);
	else
		c->failed = e;
	return NULL;
}

/* A command that fails keeps none of the others from running. */
static struct err *clean_cache(struct cleaning *c, struct clean_cache *k)
{
	struct fs_use before = {0}, after = {0};
	struct proc p = {.argv = k->command, .merge = true};
	struct proc_result r;
	TRY(fs_measure(k->path, &before));
	struct err *e = proc_check(c->a, &p, &r);
	if (e && e->code == E_CANCELLED)
		return e;
	k->missing = e && e->code == E_TOOL_MISSING;
	k->why = e ? str_dup(c->a, str_from(e->msg)) : S("");
	c->failed = err_join(c->failed, e);
	TRY(fs_measure(k->path, &after));
	k->bytes = before.bytes > after.bytes ? before.bytes - after.bytes : 0;
	c->bytes += k->bytes;
	return NULL;
}

static struct err *clean_all(struct cleaning *c, const struct disk *d, bool dry)
{
	struct disk chosen;
	struct err *e = NULL;
	disk_choose(c->a, d, &c->wish, &chosen);
	c->left = chosen.bytes;
	for (size_t i = 0; i < chosen.items.n && !e; i++) {
		struct clean_item *item = VEC_PUSH(c->a, &c->items);
		item->item = &chosen.items.v[i];
		e = remove_item(c, item, dry);
	}
	for (size_t i = 0; i < d->dead.n && !dry && !e; i++)
		e = fs_remove(d->dead.v[i]);
	for (size_t i = 0; i < c->caches.n && !dry && !e; i++)
		e = clean_cache(c, &c->caches.v[i]);
	return err_join(e, c->failed);
}

static void show_cleaning(struct cleaning *c, bool dry)
{
	struct arena *a = c->a;
	struct table t = table_new(a, "outcome|kind|name|>size|why");
	VEC_EACH (const struct clean_item, i, &c->items)
		TABLE_ROW(&t, str_from(outcomes[i->outcome]), str_from(disk_kinds[i->item->kind]),
			i->item->name, human_bytes(a, i->item->bytes), i->why);
	table_print(&t);
	VEC_EACH (const struct clean_cache, k, &c->caches)
		if (!k->missing)
			out_fmt("%s: %.*s\n", dry ? "would run" : "ran",
				STR(str_join(a, &k->command, S(" "))));
	out_fmt("%s %.*s\n", dry ? "would free" : "freed", STR(human_bytes(a, c->bytes)));
}

struct err *cmd_clean(struct arena *a, void *args)
{
	struct clean_args *o = args;
	struct disk d;
	struct cleaning c = {.a = a};
	bool dry = o->common.dry_run;
	if (o->older.n)
		TRY(read_amount(o->older, "--older", ages, &c.wish.older));
	if (o->budget.n)
		TRY(read_amount(o->budget, "--budget", str_sizes + 1, &c.wish.budget));
	c.wish.has_budget = o->budget.n > 0;
	c.all = o->older.n || o->budget.n;
	TRY(read_kinds(&c, &o->kinds));
	TRY(disk_read(a, false, &d));
	VEC_EACH (const struct str, s, &d.doubts)
		say_warning("not looked at: %.*s", STR(*s));
	TRY(read_keep(&c, &o->keep, &d));
	struct err *e = clean_all(&c, &d, dry);
	if (!show_made(&o->common, clean_fields, &c))
		show_cleaning(&c, dry);
	if (c.wish.has_budget && c.left > c.wish.budget && !e) {
		say_warning("%.*s are left: the rest is in use or was to be kept",
			STR(human_bytes(a, c.left)));
		o->common.status = 1;
	}
	if (!o->kinds.n && !c.all && d.items.n > c.items.n)
		say_hint("name what to remove, as 'rocsmith du' shows it: rocsmith clean download, "
			 "or an age: rocsmith clean --older 30d");
	return e;
}
