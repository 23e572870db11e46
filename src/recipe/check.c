/* Decides whether a recipe applies (by versions and GPUs), and whether its problem is there (by files and texts in
 * them). */
#include "base/fs.h"
#include "base/glob.h"
#include "know/predicate.h"
#include "machine/root.h"
#include "recipe/recipe_int.h"

enum { FILE_LIMIT = 64 << 20, SHOWN = 48 };

static void PRINTF(2, 3) say(struct trial *t, const char *fmt, ...)
{
	FORMAT(text, t->w->a, fmt);
	t->why = text;
	strs_add(t->w->a, &t->seen, text);
}

/* ---- versions and GPUs ---- */

struct err *recipe_applies(struct trial *t, enum recipe_state *ret)
{
	const struct recipe_facts *facts = &t->w->facts;
	const struct strs *const gpus[] = {&t->recipe->gpus, &t->recipe->any_gpu};
	enum truth match;
	*ret = RECIPE_NEEDED;
	VEC_EACH (const struct recipe_range, r, &t->recipe->ranges) {
		const struct recipe_fact *f = recipe_fact(facts, r->name);
		if (!f) {
			*ret = RECIPE_UNKNOWN;
			say(t, "it is for %.*s %.*s, and which one is used is not known",
				STR(r->name), STR(r->range));
			continue;
		}
		TRY_CTX(predicate_version(t->w->a, f->version, r->range, &match),
			"the version of %.*s (%.*s) cannot be read", STR(r->name), STR(f->from));
		if (match == TRUTH_YES)
			continue;
		*ret = RECIPE_OTHER;
		say(t, "it is for %.*s %.*s, this is %.*s (%.*s)", STR(r->name), STR(r->range),
			STR(f->version), STR(f->from));
		return NULL;
	}
	/* every GPU of the build must match the first list, and at least one of them the second */
	for (unsigned any = 0; any < 2; any++) {
		struct str want = str_join(t->w->a, gpus[any], S(", ")), other = S("");
		match = predicate_gpus(&facts->gpus, gpus[any], !any);
		if (match == TRUTH_UNKNOWN) {
			*ret = RECIPE_UNKNOWN;
			say(t, "it is for the GPUs %.*s, and the target is not known", STR(want));
		}
		if (match != TRUTH_NO)
			continue;
		for (size_t i = facts->gpus.n; !any && i-- > 0;) /* names the first of the others */
			if (!predicate_gpu(facts->gpus.v[i], gpus[any]))
				other = facts->gpus.v[i];
		*ret = RECIPE_OTHER;
		say(t, "it is for the GPUs %.*s%s%.*s", STR(want), other.n ? ", not for " : "",
			STR(other));
		return NULL;
	}
	return NULL;
}

/* ---- files ---- */

/* Finds the file of a check, the newest of those that match: a longer name has a greater number. Reads it if its text
 * matters. f->text.p is NULL if there is no file. */
static struct err *find_text(struct trial *t, const struct recipe_check *c, struct found *f)
{
	const struct recipe_facts *facts = &t->w->facts;
	struct arena *a = t->w->a;
	struct str dir = facts->sysroot.n ? facts->sysroot : S("/"), best = {0};
	struct str text = S("");
	struct strs all = {0};
	f->path = c->file;
	if (c->place == PLACE_TREE)
		return trial_text(t, c->file, &f->text);
	if (c->place == PLACE_SDK)
		dir = facts->sdk;
	struct root recorded = {.a = a, .dir = dir};
	bool in_file = c->place == PLACE_SYSTEM && fs_is_file(dir);
	if (in_file) { /* a file by `doctor --record`: there is no folder to search */
		TRY(root_open(&recorded));
		VEC_EACH (const struct root_entry, e, &recorded.files)
			if (e->kind == ENTRY_FILE && glob_match(c->file, e->path))
				strs_add(a, &all, e->path);
		if (root_has_file(&recorded, c->file)) /* possibly by a link */
			strs_put(a, &all, c->file);
	} else {
		TRY(glob_files(a, dir, c->file, &all));
	}
	VEC_EACH (const struct str, path, &all)
		if (path->n > best.n || (path->n == best.n && str_cmp(*path, best) > 0))
			best = *path;
	if (!best.n)
		return NULL;
	f->path = path_join(a, dir, best);
	if (in_file && root_read(&recorded, best, &text) != ROOT_OK)
		return err_new(E_IO, "cannot read '%.*s' of the recorded machine '%.*s'", STR(best),
			STR(dir));
	if (!in_file && (c->contains.n || c->lacks.n || c->version.n))
		TRY(fs_read(a, f->path, FILE_LIMIT, &text));
	f->text = text.n ? text : S("");
	return NULL;
}

/* The version in a text: the numbers that follow the marks, joined by dots; "" if one is missing. */
static struct str version_in(struct arena *a, struct str text, const struct strs *marks)
{
	struct str v = S("");
	VEC_EACH (const struct str, mark, marks) {
		size_t at = str_find(text, *mark) + mark->n;
		struct str rest = at < text.n ? str_trim(str_sub(text, at, text.n)) : S("");
		size_t n = str_span(str_sub(rest, 0, 9), ASCII_DIGITS);
		if (!n)
			return S("");
		v = str_fmt(a, "%.*s%s%.*s", STR(v), v.n ? "." : "", STR(str_sub(rest, 0, n)));
	}
	return v;
}

static struct str shown(struct arena *a, struct str text)
{
	struct str line = str_trim(text);
	size_t n = str_chr(line, '\n');
	n = n < SHOWN ? n : SHOWN;
	return str_fmt(a, "'%.*s%s'", STR(str_sub(line, 0, n)), n < line.n ? "..." : "");
}

static struct err *version_holds(
	struct trial *t, const struct recipe_check *c, struct found *f, bool *ret)
{
	const struct found *other = c->differs.n ? trial_found(t, c->differs) : NULL;
	enum truth in_range = TRUTH_YES;
	*ret = f->version.n > 0 && (!c->differs.n || other);
	if (!*ret) {
		say(t, "%.*s does not say its version", STR(f->path));
		return NULL;
	}
	if (c->is.n)
		TRY(predicate_version(t->w->a, f->version, c->is, &in_range));
	*ret = in_range == TRUTH_YES && !(other && str_eq(other->version, f->version));
	if (other)
		say(t, "%.*s is of %.*s, %.*s of %.*s", STR(other->path), STR(other->version),
			STR(f->path), STR(f->version));
	else
		say(t, "%.*s is of version %.*s", STR(f->path), STR(f->version));
	return NULL;
}

static struct err *text_holds(
	struct trial *t, const struct recipe_check *c, struct found *f, bool *ret)
{
	struct arena *a = t->w->a;
	bool there = f->text.p != NULL, has = c->contains.n && str_contains(f->text, c->contains);
	bool lacks = c->lacks.n && !str_contains(f->text, c->lacks);
	*ret = there != c->absent && (!c->contains.n || has) && (!c->lacks.n || lacks);
	if (!there)
		say(t, "there is no %.*s%s", STR(c->file),
			c->place == PLACE_SDK ? " in the SDK" : "");
	else if (c->contains.n && (has || !*ret))
		say(t, "%.*s %s %.*s", STR(f->path), has ? "has" : "does not have",
			STR(shown(a, c->contains)));
	if (there && c->lacks.n && (!*ret || !c->contains.n))
		say(t, "%.*s %s %.*s", STR(f->path), lacks ? "does not have" : "has",
			STR(shown(a, c->lacks)));
	else if (there && !c->contains.n && !c->version.n)
		say(t, "%.*s is there", STR(f->path));
	if (*ret && c->version.n) {
		f->version = version_in(a, f->text, &c->version);
		TRY(version_holds(t, c, f, ret));
	}
	if (*ret && c->as.n)
		*VEC_PUSH(a, &t->found) = *f;
	return NULL;
}

struct err *checks_hold(struct trial *t, const struct recipe_checks *list, bool *ret)
{
	*ret = true;
	VEC_EACH (const struct recipe_check, c, list) {
		struct found f = {.name = c->as};
		bool known = c->place != PLACE_SDK || t->w->facts.sdk.n;
		t->unknown = t->unknown || (!known && !t->before);
		if (known) {
			TRY(find_text(t, c, &f));
			TRY(text_holds(t, c, &f, ret));
		}
		if (*ret)
			continue;
		t->unknown = false; /* this check fails, whatever the SDK is */
		return NULL;
	}
	if (t->unknown)
		say(t, "it depends on the SDK, and which one is used is not known");
	*ret = !t->unknown;
	return NULL;
}
