/* rocsmith patch: handles recipes for known stops on a tree of sources, and queues of the user's own patches. */
#include <gnu/libc-version.h>

#include "base/fs.h"
#include "cli/opt.h"
#include "formats/json_fields.h"
#include "lang/python/version.h"
#include "recipe/queue.h"
#include "recipe/recipe.h"
#include "sdk/sdk.h"
#include "target/target.h"
#include "term/out.h"

struct patch_args {
	struct common common;
	struct recipe_request q;
	struct strs recipes, gpus, versions;
	struct str sdk, rocm;
	struct queue queue;
	bool goes_on, skips, aborts;
};
#define ARGS struct patch_args

/* clang-format off */
#define TREE {OPT_ARGUMENT("TREE", OPT_POS, q.tree, "folder of sources"), .flags = OPT_REQUIRED}
#define FOLDERS                                                                                    \
	{OPT_VALUE("recipes", OPT_LIST, recipes, "DIR",                                            \
		"folder of further recipes, in front of the built-in ones")}
#define FACTS                                                                                      \
	{OPT_SDK(sdk, "SDK", "SDK that it is built with: debian:SUITE or prefix:DIR")},            \
	{OPT_VALUE("rocm", OPT_STR, rocm, "VERSION",                                               \
		"ROCm version that it is built with, if no SDK: 7.2")},                            \
	{OPT_VALUE("rocm-dir", OPT_PATH, q.facts.sdk, "DIR",                                       \
		"folder of ROCm to look into, if no SDK")},                                        \
	{OPT_SYSROOT(q.facts.sysroot, "system whose headers it is compiled with")},                \
	{OPT_VALUE("fact", OPT_LIST, versions, "NAME=N",                                           \
		"version that recipes may ask for: glibc=2.42")},                                  \
	{OPT_GPUS(gpus, "targets that it is built for: gfx1201,gfx90a or native")}
#define PATCHSET                                                                                   \
	{OPT_VALUE("patchset", OPT_STR, queue.patchset, "NAME",                                    \
		"patches of the queue to use (default: of TREE's version)")}
#define STOPPED                                                                                    \
	{OPT_FLAG("continue", goes_on, "go on with a queue: the conflict is resolved")},           \
	{OPT_FLAG("skip", skips, "go on with a queue without this patch")},                        \
	{OPT_FLAG("abort", aborts, "take back a queue that stopped at a conflict")}
/* clang-format on */

const struct opt cmd_patch_status_opts[] = {
	TREE,
	{OPT_ARGUMENT("QUEUE", OPT_POSES, q.names, "look at this queue of patches instead")},
	FACTS,
	FOLDERS,
	PATCHSET,
	OPT_LAST,
};
const struct opt cmd_patch_apply_opts[] = {
	TREE,
	{OPT_ARGUMENT(
		"RECIPE", OPT_POSES, q.names, "only these (default: all needed), or a QUEUE")},
	FACTS,
	FOLDERS,
	PATCHSET,
	STOPPED,
	{OPT_FLAG("diff", q.diff, "print what changes")},
	OPT_LAST,
};
const struct opt cmd_patch_revert_opts[] = {
	TREE,
	{OPT_ARGUMENT("RECIPE", OPT_POSES, q.names, "only these (default: all), or a QUEUE")},
	FACTS,
	FOLDERS,
	{OPT_FLAG("force", q.force, "also files that were edited since")},
	OPT_LAST,
};

const struct opt cmd_patch_save_opts[] = {
	TREE,
	{OPT_OUTPUT(queue.dir, "QUEUE", "folder of the queue"), .flags = OPT_REQUIRED},
	{OPT_VALUE("base", OPT_STR, queue.base, "REF", "commit of upstream, below the patches")},
	PATCHSET,
	OPT_LAST,
};
const struct opt cmd_patch_rebase_opts[] = {
	TREE,
	{OPT_ARGUMENT("QUEUE", OPT_POS, queue.dir, "folder of patches"), .flags = OPT_REQUIRED},
	{OPT_VALUE("onto", OPT_STR, queue.onto, "REF", "commit that the patches go on")},
	PATCHSET,
	STOPPED,
	OPT_LAST,
};

static const char *const state_names[] = {
	[RECIPE_NEEDED] = "needed",
	[RECIPE_APPLIED] = "applied",
	[RECIPE_BUILD] = "build",
	[RECIPE_PRESENT] = "present",
	[RECIPE_NOT] = "not-needed",
	[RECIPE_OTHER] = "does-not-apply",
	[RECIPE_UNKNOWN] = "unknown",
	[RECIPE_EDITED] = "edited",
	[RECIPE_CONFLICT] = "conflict",
	[RECIPE_REFUSED] = "refused",
	[RECIPE_REFUSED + 1] = NULL,
};

struct patch_shown {
	struct str path;
	const struct recipe_report *report;
	struct strs environment, cmake, changed, kept;
};

static const struct json_field fact_fields[] = FIELDS_ONLY(struct recipe_fact, name, version, from);
static const struct json_field recipe_fields[] = {
	FIELDS(struct recipe_entry, id, title),
	FIELD_ENUM("state", struct recipe_entry, state, state_names),
	FIELDS(struct recipe_entry, why, seen, files, notes, evidence, trade_off, confidence),
	{.kind = FIELD_END},
};
static const struct json_field report_fields[] = {
	FIELD_LIST("versions", struct recipe_report, facts.versions, fact_fields),
	FIELD("gpus", struct recipe_report, facts.gpus),
	FIELD_LIST("recipes", struct recipe_report, recipes, recipe_fields),
	{.kind = FIELD_END},
};
static const struct json_field shown_fields[] = {
	FIELD_CONST("schema", "rocsmith.patch/1"),
	FIELD("path", struct patch_shown, path),
	FIELD_FROM(struct patch_shown, report, report_fields),
	FIELDS(struct patch_shown, environment, cmake, changed, kept),
	{.kind = FIELD_END},
};

static struct patch_shown shown_of(
	struct arena *a, const struct patch_args *o, const struct recipe_report *r)
{
	struct patch_shown s = {.path = o->q.tree, .report = r, .kept = r->kept};
	s.environment = recipe_environment(a, r, NULL, false);
	s.cmake = recipe_environment(a, r, NULL, true);
	VEC_EACH (const struct change, c, &r->changes)
		if (c->status == CHANGE_OK)
			strs_add(a, &s.changed, c->output);
	strs_add_all(a, &s.changed, &r->changes.removed);
	strs_sort(&s.changed);
	return s;
}

static struct err *add_fact(struct arena *a, struct patch_args *o, const struct recipe_fact *f)
{
	const struct version *v;
	struct err *e = version_parse(a, f->version, &v);
	bool good = !e && f->name.n && ascii_digit(f->version.p[0]);
	err_free(e);
	if (!good)
		return err_new(E_USAGE, "'%.*s' takes a version such as 7.2.4, not '%.*s'",
			STR(f->from), STR(f->version));
	recipe_fact_add(a, &o->q.facts, *f);
	return NULL;
}

/* Reads the facts about the build, and the recipes. */
static struct err *prepare(struct arena *a, struct patch_args *o, struct recipes *ret)
{
	struct recipe_fact f = {S("rocm"), o->rocm, S("--rocm")};
	struct sdk sdk;
	o->q.jobs = o->common.jobs;
	if (!fs_is_dir(o->q.tree))
		return err_new(E_NOENT, "no folder '%.*s'", STR(o->q.tree));
	if (o->rocm.n)
		TRY(add_fact(a, o, &f));
	f.from = S("--fact");
	VEC_EACH (const struct str, word, &o->versions) {
		(void)str_cut(*word, '=', &f.name, &f.version);
		TRY(add_fact(a, o, &f));
	}
	f = (struct recipe_fact){S("glibc"), str_from(gnu_get_libc_version()), S("this machine")};
	recipe_fact_add(a, &o->q.facts, f);
	if (o->q.facts.sdk.n)
		o->q.facts.sdk = path_abs(a, o->q.facts.sdk);
	else if (o->sdk.n) {
		TRY(sdk_open_name(a, o->sdk, &sdk));
		sdk_recipe_facts(a, &sdk, &o->q.facts);
	}
	struct targets targets;
	TRY(opt_targets(a, S(""), &o->gpus, &targets));
	strs_add_all(a, &o->q.facts.gpus, &o->gpus);
	return recipes_load(a, &o->recipes, ret);
}

static void print_recipes(struct arena *a, const struct recipe_report *r)
{
	/* recipes that do not concern the tree are shown with -v only */
	static const bool quiet[RECIPE_REFUSED + 1] = {[RECIPE_PRESENT] = true,
		[RECIPE_NOT] = true,
		[RECIPE_OTHER] = true,
		[RECIPE_REFUSED] = true};
	VEC_EACH (const struct recipe_entry, e, &r->recipes) {
		if (quiet[e->state] && out_verbosity() <= 0)
			continue;
		struct str id = str_fmt(a, "%-24.*s", STR(e->id));
		out_fmt("%-14s %.*s %.*s\n", state_names[e->state],
			STR(styled_out(a, STYLE_BOLD, id)), STR(e->title));
		out_fmt("%39s %.*s\n", "", STR(e->why));
		out_lines(str_fmt(a, "%39s ", "").p, &e->notes);
	}
}

static void print_variables(const struct patch_shown *s)
{
	out_lines("environment    ", &s->environment);
	out_lines("cmake          -D", &s->cmake);
}

static size_t count(const struct recipe_report *r, enum recipe_state s)
{
	size_t n = 0;
	VEC_EACH (const struct recipe_entry, e, &r->recipes)
		n += e->state == s;
	return n;
}

/* ---- queues ---- */

/* Shows the patches; the answer is no if one of them is neither in the tree nor in its base. */
static void show_queue(struct arena *a, struct patch_args *o, struct str verb)
{
	size_t in = 0;
	const struct queue *q = &o->queue;
	bool stopped = false;
	VEC_EACH (const struct queue_patch, p, &q->patches) {
		in += p->commit.n || str_eq(p->state, S("saved"));
		stopped = stopped || str_eq(p->state, S("conflict"));
	}
	bool undo = str_eq(verb, S("Reverted")), dry = fs_writes_forbidden();
	o->common.status = !undo && (in < q->patches.n || !q->patches.n);
	if (show_json(&o->common, queue_fields, q))
		return;
	VEC_EACH (const struct queue_patch, p, &q->patches) {
		struct str detail = p->detail, line;
		out_fmt("%-14.*s %.*s %.*s\n", STR(p->state), STR(p->file),
			STR(str_sub(p->commit, 0, 12)));
		while (str_next(&detail, '\n', &line))
			out_fmt("%14s %.*s\n", "", STR(line));
	}
	if (undo)
		say_status(dry ? S("Would revert") : verb, "the patches of a queue in '%.*s'",
			STR(q->tree));
	else
		say_status(dry ? S("Would be") : verb, "%zu of %.*s, '%.*s'", in,
			STR(human_count(a, q->patches.n, "patch file")), STR(q->tree));
	if (stopped && !str_eq(verb, S("Found")) && !dry)
		say_hint("edit the files, 'git add' them, and: rocsmith patch apply %.*s %.*s "
			 "--patchset %.*s --continue; --skip leaves the patch out, --abort takes "
			 "all back",
			STR(str_shell(a, o->q.tree)), STR(str_shell(a, q->dir)),
			STR(str_shell(a, q->patchset)));
}

/* Does what a command of queues says; *ret_yes is false if it is about recipes. */
static struct err *run_queue(struct arena *a, struct patch_args *o, struct str verb, bool *ret_yes)
{
	struct queue *q = &o->queue;
	enum queue_how how = o->goes_on ? QUEUE_CONTINUE : o->skips ? QUEUE_SKIP : QUEUE_APPLY;
	bool undo = o->aborts || str_eq(verb, S("Reverted"));
	bool folder = o->q.names.n == 1 && fs_is_dir(o->q.names.v[0]);
	if (o->goes_on + o->skips + o->aborts > 1)
		return err_new(E_USAGE, "--continue, --skip and --abort exclude each other");
	*ret_yes = folder || q->dir.n || how != QUEUE_APPLY || o->aborts;
	if (!*ret_yes)
		return NULL;
	if (!folder && !q->dir.n && !o->aborts)
		return err_new(E_USAGE, "the queue of patches is not named");
	q->tree = path_abs(a, o->q.tree);
	q->dir = path_abs(a, folder ? o->q.names.v[0] : q->dir);
	if (str_eq(verb, S("Saved")))
		TRY(queue_save(a, q));
	else if (str_eq(verb, S("Found")) || (fs_writes_forbidden() && !undo))
		TRY(queue_look(a, q));
	else
		TRY(queue_go(a, q, undo ? QUEUE_UNDO : how));
	show_queue(a, o, undo ? S("Reverted") : verb);
	return NULL;
}

struct err *cmd_patch_save(struct arena *a, void *args)
{
	bool yes;
	return run_queue(a, args, S("Saved"), &yes);
}

struct err *cmd_patch_rebase(struct arena *a, void *args)
{
	struct patch_args *o = args;
	bool yes;
	if (!o->queue.onto.n && !o->goes_on && !o->skips && !o->aborts)
		return err_new(E_USAGE, "--onto names the commit that the patches go on");
	return run_queue(a, o, S("Rebased"), &yes);
}

struct err *cmd_patch_status(struct arena *a, void *args)
{
	struct patch_args *o = args;
	struct recipes all;
	struct recipe_report r;
	struct strs built_for = {0};
	bool queue;
	TRY(run_queue(a, o, S("Found"), &queue));
	if (queue)
		return NULL;
	if (o->q.names.n)
		return err_new(E_NOENT, "no folder '%.*s'", STR(o->q.names.v[0]));
	TRY(prepare(a, o, &all));
	TRY(recipes_status(a, &all, &o->q, &r));
	struct patch_shown s = shown_of(a, o, &r);
	size_t needed = count(&r, RECIPE_NEEDED), stuck = count(&r, RECIPE_CONFLICT),
	       edited = count(&r, RECIPE_EDITED);
	o->common.status = needed || stuck || edited;
	if (show_json(&o->common, shown_fields, &s))
		return NULL;
	VEC_EACH (const struct recipe_fact, f, &r.facts.versions)
		if (str_eq(f->name, S("torch")) || str_eq(f->name, S("rocm")))
			strs_fmt(a, &built_for, "%.*s %.*s (%.*s)", STR(f->name), STR(f->version),
				STR(f->from));
	strs_add_all(a, &built_for, &r.facts.gpus);
	if (built_for.n)
		say_verbose("for %.*s", STR(str_join(a, &built_for, S(", "))));
	print_recipes(a, &r);
	print_variables(&s);
	say_status(S("Checked"),
		"%zu recipes: %zu needed, %zu applied, %zu edited since, %zu in conflict, %zu "
		"unknown, %zu for the build alone",
		r.recipes.n, needed, count(&r, RECIPE_APPLIED), edited, stuck,
		count(&r, RECIPE_UNKNOWN), count(&r, RECIPE_BUILD));
	if (count(&r, RECIPE_UNKNOWN))
		say_hint("--sdk, --rocm VERSION and --gpu name what it is built with and for");
	return NULL;
}

typedef struct err *recipes_do(struct arena *a, const struct recipes *all,
	const struct recipe_request *q, struct recipe_report *ret);

static struct err *change_tree(struct arena *a, struct patch_args *o, recipes_do *how)
{
	struct recipes all;
	struct recipe_report r = {0};
	bool dry = fs_writes_forbidden(), apply = how == recipes_apply, queue;
	TRY(run_queue(a, o, apply ? S("Applied") : S("Reverted"), &queue));
	if (queue)
		return NULL;
	o->q.diff = o->q.diff || dry;
	TRY(prepare(a, o, &all));
	TRY(how(a, &all, &o->q, &r));
	struct patch_shown s = shown_of(a, o, &r);
	o->common.status = s.kept.n || (apply && count(&r, RECIPE_CONFLICT));
	if (show_json(&o->common, shown_fields, &s))
		return NULL;
	if (apply)
		print_recipes(a, &r);
	print_variables(&s);
	out_text(r.diff);
	VEC_EACH (const struct str, kept, &s.kept)
		say_warning("'%.*s/%.*s' was edited since, and stays as it is", STR(o->q.tree),
			STR(*kept));
	if (s.kept.n)
		say_hint("--force restores it as well");
	if (apply)
		say_status(dry ? S("Would apply") : S("Applied"), "%.*s to '%.*s', changing %.*s",
			STR(human_count(a, count(&r, RECIPE_APPLIED), "recipe")), STR(o->q.tree),
			STR(human_count(a, s.changed.n, "file")));
	else
		say_status(dry ? S("Would revert") : S("Reverted"), "'%.*s'%s", STR(o->q.tree),
			s.kept.n ? ", except for the files above" : "");
	return NULL;
}

struct err *cmd_patch_apply(struct arena *a, void *args)
{
	return change_tree(a, args, recipes_apply);
}

struct err *cmd_patch_revert(struct arena *a, void *args)
{
	return change_tree(a, args, recipes_revert);
}
