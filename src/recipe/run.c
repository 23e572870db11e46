/* Status, apply and revert: all recipes are tried in order, each on the texts that the earlier ones leave. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "changes/manifest.h"
#include "recipe/recipe_int.h"

enum { SHOW_LIMIT = 64 << 20 };

enum what { LOOK, APPLY, REVERT };

/* The recipes in effect, as the journal of a patched tree keeps them. */
struct saved {
	struct strs ids;
	struct recipe_facts facts; /* versions and GPUs that they were applied for */
};

static const struct json_field fact_fields[] = FIELDS_ONLY(struct recipe_fact, name, version, from);

static const struct json_field saved_fields[] = {
	FIELD_CONST("schema", "rocsmith.patches/1"),
	FIELD("recipes", struct saved, ids),
	FIELD_LIST("versions", struct saved, facts.versions, fact_fields),
	FIELD("gpus", struct saved, facts.gpus),
	{.kind = FIELD_END},
};

struct run {
	struct work w;
	struct strs ids; /* ids of all recipes */
	const struct recipes *all;
	enum what what;
	struct saved before, after;
	struct recipe_report *report;
};

/* ---- may this tree be patched? ---- */

/* Refuses a tree that was translated in place: its files are translations, and the originals that the translation
 * keeps would have to be the patched files. */
static struct err *check_layers(struct arena *a, struct str tree)
{
	struct manifest *m;
	if (!fs_is_dir(tree))
		return err_new(E_NOENT, "no folder '%.*s'", STR(tree));
	TRY(manifest_read(a, changes_journal(a, path_abs(a, tree), S("")), &m));
	if (!m)
		return NULL;
	if (m->kind == BASE_OVERLAY)
		return err_hint(
			err_new(E_USAGE, "'%.*s' is an output folder of rocsmith", STR(tree)),
			"patch the folder that it was made from: '%.*s'", STR(m->root));
	return err_hint(err_new(E_USAGE, "'%.*s' was translated in place", STR(tree)),
		"take that back first: rocsmith hipify restore %.*s", STR(tree));
}

/* ---- one recipe ---- */

static struct err *try_recipe(struct trial *t, enum recipe_state *ret)
{
	enum recipe_state applies;
	bool yes, generates = false, overlays = false;
	TRY(recipe_applies(t, &applies));
	*ret = applies;
	if (applies == RECIPE_OTHER)
		return NULL;
	struct str unsure = t->why;
	TRY(checks_hold(t, &t->recipe->detect, &yes));
	*ret = t->unknown ? RECIPE_UNKNOWN : RECIPE_NOT;
	VEC_EACH (const struct recipe_step, s, &t->recipe->steps) {
		generates = generates || s->kind == STEP_GENERATE;
		overlays = overlays || s->kind == STEP_OVERLAY;
	}
	if (!yes && !t->unknown && !generates && !overlays) {
		/* the problem is not there: do the sources already have the cure? */
		struct trial other = {
			.w = t->w, .recipe = t->recipe, .found = t->found, .texts.a = t->w->a};
		bool fits;
		TRY(steps_try(&other, &fits));
		if (fits && other.there) {
			*ret = RECIPE_PRESENT;
			t->why = S("the sources have it already");
		}
	}
	if (!yes)
		return NULL;
	*ret = RECIPE_UNKNOWN;
	if (applies == RECIPE_UNKNOWN) {
		t->why = unsure;
		return NULL;
	}
	struct str why = t->why;
	TRY(steps_try(t, &yes));
	if (yes && t->recipe->verify.n && (!generates || t->w->make)) {
		TRY(checks_hold(t, &t->recipe->verify, &yes));
		t->why = str_fmt(t->w->a, "afterwards %.*s", STR(t->why));
	}
	*ret = !yes                 ? RECIPE_CONFLICT
	       : t->there           ? RECIPE_PRESENT
	       : t->recipe->steps.n ? RECIPE_NEEDED
				    : RECIPE_BUILD;
	if (yes)
		t->why = t->there ? S("the sources have it already") : why;
	return NULL;
}

/* The state that the recipe would have if nothing had been applied. */
static struct err *trial_run(struct trial *t, enum recipe_state *ret)
{
	*ret = RECIPE_REFUSED;
	t->why = t->recipe->refused;
	if (t->why.n)
		return NULL;
	struct err *e = try_recipe(t, ret);
	if (!e || e->code != E_RECIPE)
		return e;
	t->why = str_dup(t->w->a, str_from(e->msg)); /* a name that has no value */
	*ret = RECIPE_UNKNOWN;
	err_free(e);
	return NULL;
}

static struct err *refuse(const struct trial *t, enum recipe_state state, struct str tree)
{
	struct str id = t->recipe->id, why = t->why;
	switch (state) {
	case RECIPE_REFUSED:
		return err_new(E_RECIPE, "'%.*s' is never applied: %.*s", STR(id), STR(why));
	case RECIPE_OTHER:
		return err_new(E_RECIPE, "'%.*s' does not apply to '%.*s': %.*s", STR(id),
			STR(tree), STR(why));
	case RECIPE_UNKNOWN:
		return err_hint(err_new(E_RECIPE, "'%.*s' may not apply: %.*s", STR(id), STR(why)),
			"--sdk, --rocm VERSION and --gpu name what the build is for");
	case RECIPE_CONFLICT:
		return err_new(
			E_RECIPE, "'%.*s' does not fit '%.*s': %.*s", STR(id), STR(tree), STR(why));
	default:
		return NULL;
	}
}

static struct err *try_one(struct run *r, const struct recipe *recipe)
{
	struct arena *a = r->w.a;
	bool named = strs_has(&r->w.request->names, recipe->id);
	bool before = strs_has(&r->before.ids, recipe->id);
	struct trial t = {.w = &r->w, .recipe = recipe, .texts.a = a, .before = before};
	enum recipe_state state;
	TRY_CTX(trial_run(&t, &state), "cannot try the recipe '%.*s'", STR(recipe->id));
	if (r->what == APPLY && named && !before)
		TRY(refuse(&t, state, r->w.request->tree));
	bool unsure = state == RECIPE_UNKNOWN || state == RECIPE_OTHER;
	if (r->what != LOOK && before && unsure && !(r->what == REVERT && named))
		return err_wrap(refuse(&t, state, r->w.request->tree),
			"a recipe that was applied earlier cannot be applied again");
	struct recipe_entry e = {.id = recipe->id,
		.title = recipe->title,
		.state = state,
		.why = t.why,
		.seen = t.seen,
		.files = recipe->files,
		.notes = t.notes,
		.evidence = recipe->evidence,
		.trade_off = recipe->trade_off,
		.confidence = recipe->confidence};
	/* will it be in effect after this run? */
	bool all = !r->w.request->names.n, effect = before;
	if (r->what == REVERT)
		effect = before && !all && !named;
	else if (r->what == APPLY)
		effect = before || all || named;
	effect = effect && state == RECIPE_NEEDED;
	if (effect) {
		trial_keep(&t);
		strs_add(a, &r->after.ids, recipe->id);
	}
	if (effect || (r->what == LOOK && before && unsure))
		e.state = RECIPE_APPLIED;
	if (effect || state == RECIPE_BUILD)
		TRY(settings_add(&t, r->report));
	*VEC_PUSH(a, &r->report->recipes) = e;
	return NULL;
}

/* ---- the tree ---- */

/* Tries all recipes, and puts the changed texts into the report. */
static struct err *try_all(struct run *r)
{
	VEC_EACH (const struct recipe, it, r->all)
		TRY(try_one(r, it));
	VEC_EACH (const struct map_entry, e, &r->w.texts) {
		const struct tree_text *t = e->value;
		if (t->changed)
			*VEC_PUSH(r->w.a, &r->report->changes) =
				(struct change){.source = e->key, .output = e->key, .text = t->now};
	}
	r->report->facts = r->after.facts = r->w.facts;
	return NULL;
}

static struct err *run_session(struct run *r, struct session *s)
{
	struct arena *a = r->w.a;
	const struct node *journal;
	BUF(diff, a);
	if (s->old && s->old->report.n) {
		struct err *e = json_parse(a, s->old->report, S(RECIPE_JOURNAL), &journal);
		e = e ? e : json_fields_read(a, journal, saved_fields, &r->before);
		TRY_CTX(e, "the journal of '%.*s' cannot be used", STR(r->w.request->tree));
	}
	VEC_EACH (const struct recipe_fact, f, &r->before.facts.versions)
		recipe_fact_add(a, &r->w.facts, *f);
	if (!r->w.facts.gpus.n)
		r->w.facts.gpus = r->before.facts.gpus;
	/* the edits of recipes that were applied earlier are made again, from the originals */
	for (size_t i = 0; r->what != LOOK && i < r->before.ids.n; i++)
		if (!strs_has(&r->ids, r->before.ids.v[i]))
			return err_hint(
				err_new(E_RECIPE,
					"the recipe '%.*s', which was applied earlier, is not "
					"known here",
					STR(r->before.ids.v[i])),
				"name its folder with --recipes, or revert all of them");
	TRY(try_all(r));
	if (r->what == LOOK)
		return NULL;
	for (size_t i = 0; r->w.request->diff && i < r->report->changes.n; i++) {
		const struct change *c = &r->report->changes.v[i];
		struct changes_diff d = {.new = c->text};
		struct str path = path_join(a, r->w.request->tree, c->output);
		TRY(fs_read_opt(a, path, SHOW_LIMIT, &d.old));
		d.old_name = d.old.p ? str_fmt(a, "a/%.*s", STR(c->output)) : S("/dev/null");
		d.new_name = str_fmt(a, "b/%.*s", STR(c->output));
		buf_add(&diff, changes_diff(a, &d));
	}
	r->report->diff = buf_str(&diff);
	struct err *e =
		session_apply(s, &r->report->changes, json_document(a, 0, saved_fields, &r->after));
	VEC_EACH (struct change, c, &r->report->changes) {
		if (c->error)
			e = err_join(e,
				err_wrap(c->error, "'%.*s' could not be patched", STR(c->output)));
		c->error = NULL;
	}
	return e;
}

static struct err *begin_run(
	struct run *r, const struct recipe_request *q, struct arena *a, const struct view *view)
{
	*r->report = (struct recipe_report){0};
	r->w = (struct work){.a = a,
		.request = q,
		.facts = q->facts,
		.view = view,
		.texts.a = a,
		.make = r->what != LOOK};
	VEC_EACH (const struct recipe, known, r->all)
		strs_add(a, &r->ids, known->id);
	VEC_EACH (const struct str, name, &q->names) {
		if (strs_has(&r->ids, *name))
			continue;
		struct err *e = err_new(E_USAGE, "there is no recipe '%.*s'", STR(*name));
		return err_near(e, *name, &r->ids)->hints
			       ? e
			       : err_hint(e, "'rocsmith patch status' lists them");
	}
	return recipe_facts_of_tree(a, q->tree, &r->w.facts);
}

static struct err *run_all(struct run *r, const struct recipe_request *q, struct arena *a)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct session s;
	struct change_entries files = {0};
	struct str journal = changes_journal(a, q->tree, S(RECIPE_JOURNAL));
	struct change_request c = {.dir = q->tree,
		.in_place = true,
		.look_only = r->what == LOOK,
		.journal = S(RECIPE_JOURNAL),
		.identity = S("patches"),
		.failure = E_RECIPE,
		.jobs = q->jobs ? q->jobs : 1};
	TRY(check_layers(a, q->tree));
	TRY(fs_guard_sources(q->tree, &guard));
	TRY(begin_run(r, q, a, &s.view));
	struct err *e = session_open(a, &c, &s);
	if (!e)
		e = run_session(r, &s);
	session_close(&s);
	if (!e && changes_made(journal))
		e = changes_state(a, journal, &files);
	for (size_t i = 0; !e && i < files.n; i++) {
		const struct change_entry *f = &files.v[i];
		bool edited = f->state == STATE_EDITED || f->state == STATE_MISSING;
		VEC_EACH (struct recipe_entry, it, &r->report->recipes)
			if (edited && strs_has(&r->before.ids, it->id) &&
				strs_has(&it->files, f->output)) {
				it->state = RECIPE_EDITED;
				it->why = str_fmt(a, "%.*s was edited since", STR(f->output));
			}
	}
	/* the journal is removed with the last recipe, or if none was ever applied */
	bool empty = e ? !changes_made(journal) : !r->after.ids.n;
	if (r->what == LOOK || fs_writes_forbidden() || !empty || !fs_present(journal))
		return e;
	return err_join(e, changes_restore(a, journal, q->force, &r->report->kept));
}

struct err *recipes_status(struct arena *a, const struct recipes *all,
	const struct recipe_request *q, struct recipe_report *ret)
{
	struct run r = {.all = all, .what = LOOK, .report = ret};
	return run_all(&r, q, a);
}

struct err *recipes_apply(struct arena *a, const struct recipes *all,
	const struct recipe_request *q, struct recipe_report *ret)
{
	struct run r = {.all = all, .what = APPLY, .report = ret};
	return run_all(&r, q, a);
}

struct err *recipes_changes(struct arena *a, const struct recipes *all,
	const struct recipe_request *q, const struct view *view, struct recipe_report *ret)
{
	struct run r = {.all = all, .what = APPLY, .report = ret};
	TRY(begin_run(&r, q, a, view));
	return try_all(&r);
}

struct str recipes_identity(
	struct arena *a, const struct recipes *all, const struct recipe_request *q)
{
	struct saved what = {.ids = q->names, .facts = q->facts};
	BUF(b, a);
	VEC_EACH (const struct recipe, r, all)
		buf_fmt(&b, "%.*s\n", STR(r->hash));
	buf_fmt(&b, "%.*s\n%.*s\n%.*s\n%.*s\n", STR(q->facts.sdk), STR(q->facts.sdk_at),
		STR(q->facts.sysroot), STR(q->at));
	buf_add(&b, json_document(a, 0, saved_fields, &what));
	return sha256_hex(a, buf_str(&b));
}

struct err *recipes_revert(struct arena *a, const struct recipes *all,
	const struct recipe_request *q, struct recipe_report *ret)
{
	struct run r = {.all = all, .what = REVERT, .report = ret};
	if (q->names.n)
		return run_all(&r, q, a);
	/* reverting everything needs no facts, and not even the recipes */
	struct str journal = changes_journal(a, q->tree, S(RECIPE_JOURNAL));
	*ret = (struct recipe_report){0};
	TRY(check_layers(a, q->tree));
	if (!fs_present(journal))
		return err_new(E_NOENT, "'%.*s' was not patched by rocsmith", STR(q->tree));
	return changes_restore(a, journal, q->force, &ret->kept);
}
