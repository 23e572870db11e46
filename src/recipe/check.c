/* Decides whether a recipe applies (by versions and GPUs), and whether its problem is there (by files and texts in
 * them). */
#include "base/fs.h"
#include "base/glob.h"
#include "know/predicate.h"
#include "recipe/recipe_int.h"

enum { FILE_LIMIT = 64 << 20, SHOWN = 48 };

static void say(struct trial *t, const char *fmt, ...) PRINTF(2, 3);

static void say(struct trial *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	t->why = str_vfmt(t->w->a, fmt, ap);
	va_end(ap);
	strs_add(t->w->a, &t->seen, t->why);
}

/* ---- versions and GPUs ---- */

static struct err *range_holds(
	struct trial *t, const struct recipe_range *r, enum recipe_state *ret)
{
	const struct recipe_fact *f = recipe_fact(&t->w->facts, r->name);
	enum truth in_range;
	if (!f) {
		*ret = RECIPE_UNKNOWN;
		say(t, "it is for %.*s %.*s, and which one is used is not known", STR(r->name),
			STR(r->range));
		return NULL;
	}
	TRY_CTX(predicate_version(t->w->a, f->version, r->range, &in_range),
		"the version of %.*s (%.*s) cannot be read", STR(r->name), STR(f->from));
	*ret = in_range == TRUTH_YES ? RECIPE_NEEDED : RECIPE_OTHER;
	if (*ret == RECIPE_OTHER)
		say(t, "it is for %.*s %.*s, this is %.*s (%.*s)", STR(r->name), STR(r->range),
			STR(f->version), STR(f->from));
	return NULL;
}

/* Does every GPU of the build match (all), or at least one? */
static enum recipe_state gpus_hold(struct trial *t, const struct strs *patterns, bool all)
{
	const struct strs *gpus = &t->w->facts.gpus;
	struct str want = str_join(t->w->a, patterns, S(", ")), other = S("");
	enum truth match = predicate_gpus(gpus, patterns, all);
	if (match == TRUTH_YES)
		return RECIPE_NEEDED;
	if (match == TRUTH_UNKNOWN) {
		say(t, "it is for the GPUs %.*s, and the target is not known", STR(want));
		return RECIPE_UNKNOWN;
	}
	VEC_EACH (const struct str, gpu, gpus)
		if (all && !other.n && !predicate_gpu(*gpu, patterns))
			other = *gpu;
	say(t, "it is for the GPUs %.*s%s%.*s", STR(want), other.n ? ", not for " : "", STR(other));
	return RECIPE_OTHER;
}

struct err *recipe_applies(struct trial *t, enum recipe_state *ret)
{
	bool unknown = false;
	size_t n = t->recipe->ranges.n;
	for (size_t i = 0; i < n + 2; i++) {
		if (i < n)
			TRY(range_holds(t, &t->recipe->ranges.v[i], ret));
		else
			*ret = gpus_hold(
				t, i == n ? &t->recipe->gpus : &t->recipe->any_gpu, i == n);
		if (*ret == RECIPE_OTHER)
			return NULL;
		unknown = unknown || *ret == RECIPE_UNKNOWN;
	}
	*ret = unknown ? RECIPE_UNKNOWN : RECIPE_NEEDED;
	return NULL;
}

/* ---- files ---- */

/* Finds the newest of the files that match: a longer name has a greater number. */
static struct err *find_file(struct arena *a, struct str dir, struct str file, struct str *ret)
{
	struct strs all;
	*ret = S("");
	TRY(glob_files(a, dir, file, &all));
	VEC_EACH (const struct str, f, &all)
		if (f->n > ret->n || (f->n == ret->n && str_cmp(*f, *ret) > 0))
			*ret = *f;
	if (ret->n)
		*ret = path_join(a, dir, *ret);
	return NULL;
}

/* Finds and reads the file of a check; ret->p is NULL if there is none. */
static struct err *find_text(
	struct trial *t, const struct recipe_check *c, struct str *ret_path, struct str *ret)
{
	const struct recipe_facts *f = &t->w->facts;
	*ret = (struct str){0};
	*ret_path = c->file;
	if (c->place == PLACE_TREE)
		return trial_text(t, c->file, ret);
	struct str dir = c->place == PLACE_SDK ? f->sdk : f->sysroot.n ? f->sysroot : S("/");
	TRY(find_file(t->w->a, dir, c->file, ret_path));
	if (ret_path->n && (c->contains.n || c->lacks.n || c->version.n))
		return fs_read(t->w->a, *ret_path, FILE_LIMIT, ret);
	*ret = ret_path->n ? S("") : *ret;
	return NULL;
}

/* The version in a text: the numbers that follow the marks, joined by dots; "" if one is missing. */
static struct str version_in(struct arena *a, struct str text, const struct strs *marks)
{
	struct str v = S("");
	VEC_EACH (const struct str, mark, marks) {
		size_t at = str_find(text, *mark) + mark->n, n = 0;
		struct str rest = at < text.n ? str_trim(str_sub(text, at, text.n)) : S("");
		while (n < rest.n && n < 9 && ascii_digit(rest.p[n]))
			n++;
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
	enum truth in_range;
	*ret = f->version.n > 0 && (!c->differs.n || other);
	if (!*ret) {
		say(t, "%.*s does not say its version", STR(f->path));
		return NULL;
	}
	if (c->is.n) {
		TRY(predicate_version(t->w->a, f->version, c->is, &in_range));
		*ret = in_range == TRUTH_YES;
	}
	if (other && str_eq(other->version, f->version))
		*ret = false;
	if (other)
		say(t, "%.*s is of %.*s, %.*s of %.*s", STR(other->path), STR(other->version),
			STR(f->path), STR(f->version));
	else
		say(t, "%.*s is of version %.*s", STR(f->path), STR(f->version));
	return NULL;
}

static struct err *text_holds(
	struct trial *t, const struct recipe_check *c, struct str path, struct str text, bool *ret)
{
	struct arena *a = t->w->a;
	bool there = text.p != NULL, has = c->contains.n && str_contains(text, c->contains);
	bool lacks = c->lacks.n && !str_contains(text, c->lacks);
	struct found f = {.name = c->as, .path = path};
	*ret = there != c->absent && (!c->contains.n || has) && (!c->lacks.n || lacks);
	if (!there)
		say(t, "there is no %.*s%s", STR(c->file),
			c->place == PLACE_SDK ? " in the SDK" : "");
	else if (c->contains.n && (has || !*ret))
		say(t, "%.*s %s %.*s", STR(path), has ? "has" : "does not have",
			STR(shown(a, c->contains)));
	if (there && c->lacks.n && (!*ret || !c->contains.n))
		say(t, "%.*s %s %.*s", STR(path), lacks ? "does not have" : "has",
			STR(shown(a, c->lacks)));
	else if (there && !c->contains.n && !c->version.n)
		say(t, "%.*s is there", STR(path));
	if (*ret && c->version.n) {
		f.version = version_in(a, text, &c->version);
		TRY(version_holds(t, c, &f, ret));
	}
	if (*ret && c->as.n)
		*VEC_PUSH(a, &t->found) = f;
	return NULL;
}

struct err *checks_hold(struct trial *t, const struct recipe_checks *list, bool *ret)
{
	*ret = true;
	VEC_EACH (const struct recipe_check, c, list) {
		struct str path, text;
		bool known = c->place != PLACE_SDK || t->w->facts.sdk.n;
		t->unknown = t->unknown || (!known && !t->before);
		if (known) {
			TRY(find_text(t, c, &path, &text));
			TRY(text_holds(t, c, path, text, ret));
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
