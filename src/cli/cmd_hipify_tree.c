/* rocsmith hipify status, restore, verify, lint: the commands on a whole tree. */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "hipify/waves.h"
#include "plan/plan.h"
#include "term/out.h"

/* Finds the outputs of translations of DIR: *ret is DIR itself, or the default overlay. */
static struct err *find_translated(struct arena *a, struct str dir, struct str *ret)
{
	struct str build, overlay = hipify_overlay(a, dir, &build);
	bool here = changes_made(changes_journal(a, dir, S("")));
	*ret = here || !changes_made(changes_journal(a, overlay, S(""))) ? dir : overlay;
	return hipify_check_there(dir);
}

/* ---- status ---- */

static const char *const state_names[] = {
	[STATE_CURRENT] = "current",
	[STATE_STALE] = "stale",
	[STATE_EDITED] = "edited",
	[STATE_MISSING] = "missing",
	[STATE_ORPHAN] = "orphan",
	[STATE_ORPHAN + 1] = NULL,
};

struct tree_states {
	struct str path;
	struct change_entries files;
	size_t counts[STATE_ORPHAN + 1];
};

static const struct json_field state_count_fields[] = {
	FIELD("current", struct tree_states, counts[STATE_CURRENT]),
	FIELD("stale", struct tree_states, counts[STATE_STALE]),
	FIELD("edited", struct tree_states, counts[STATE_EDITED]),
	FIELD("missing", struct tree_states, counts[STATE_MISSING]),
	FIELD_LAST(FIELD("orphan", struct tree_states, counts[STATE_ORPHAN])),
};
static const struct json_field state_fields[] = {
	FIELDS(struct change_entry, output, source),
	FIELD_ENUM("state", struct change_entry, state, state_names),
	FIELD_LAST(FIELD("replaced", struct change_entry, replaced)),
};
static const struct json_field states_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-status/1"),
	FIELD("path", struct tree_states, path),
	FIELD_LIST("files", struct tree_states, files, state_fields),
	FIELD_LAST(FIELD_PART("counts", state_count_fields)),
};

struct err *cmd_hipify_status(struct arena *a, void *args)
{
	struct hipify_args *h = args;
	struct tree_states s = {0};
	const size_t *n = s.counts;
	TRY(find_translated(a, h->o.dir, &s.path));
	TRY(changes_state(a, changes_journal(a, s.path, S("")), &s.files));
	VEC_EACH (const struct change_entry, e, &s.files)
		s.counts[e->state]++;
	h->common.status = n[STATE_CURRENT] < s.files.n;
	if (show_json(&h->common, states_fields, &s))
		return NULL;
	/* plain lines, not a table: an overlay of PyTorch has 16,000 files with long names */
	VEC_EACH (const struct change_entry, e, &s.files) {
		struct str output = hipify_in_dir(a, s.path, e->output);
		bool own = str_eq(e->source, e->output) || !e->source.n;
		out_fmt("%-8s %.*s%s%.*s%s\n", state_names[e->state], STR(output),
			own ? "" : " (from ", STR(own ? S("") : e->source), own ? "" : ")");
	}
	say_status(S("Checked"),
		"%.*s of '%.*s': %zu current, %zu stale, %zu edited, %zu missing, %zu orphaned",
		STR(human_count(a, s.files.n, "file")), STR(s.path), n[STATE_CURRENT],
		n[STATE_STALE], n[STATE_EDITED], n[STATE_MISSING], n[STATE_ORPHAN]);
	return NULL;
}

const struct opt cmd_hipify_status_opts[] = {
	HIPIFY_DIR("folder that was translated, or its overlay"),
	OPT_LAST,
};

/* ---- restore ---- */

struct restored_tree {
	struct str path;
	struct strs kept;
};

static const struct json_field restored_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-restore/1"),
	FIELD_LAST(FIELDS(struct restored_tree, path, kept)),
};

struct err *cmd_hipify_restore(struct arena *a, void *args)
{
	struct hipify_args *h = args;
	struct restored_tree r = {0};
	TRY(find_translated(a, h->o.dir, &r.path));
	TRY(changes_restore(a, changes_journal(a, r.path, S("")), h->force, &r.kept));
	h->common.status = r.kept.n > 0;
	if (show_json(&h->common, restored_fields, &r))
		return NULL;
	VEC_EACH (const struct str, k, &r.kept)
		say_warning(
			"'%.*s' was edited since, and is kept", STR(hipify_in_dir(a, r.path, *k)));
	if (r.kept.n)
		say_hint("--force restores them as well");
	say_status(fs_writes_forbidden() ? S("Checked") : S("Restored"), "'%.*s'%s", STR(r.path),
		r.kept.n ? ", except for the files above" : "");
	return NULL;
}

const struct opt cmd_hipify_restore_opts[] = {
	HIPIFY_DIR("folder that was translated, or its overlay"),
	{OPT_FLAG("force", force, "also files that were edited since")},
	OPT_LAST,
};

/* ---- verify ---- */

struct difference {
	struct str path;
	const char *kind; /* "differs", "missing", "extra", relative to the original */
	size_t line;      /* the first line that differs, 0 = none */
};

struct comparison {
	struct torch_source torch;
	VEC(struct difference) v;
	size_t compared;
	bool agree, written;
};

static const struct json_field difference_fields[] = {
	FIELDS(struct difference, path, kind),
	FIELD_LAST(FIELD_OPTIONAL("line", struct difference, line)),
};
static const struct json_field comparison_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-verify/1"),
	FIELD_STRUCT("torch", struct comparison, torch, hipify_torch_fields),
	FIELDS(struct comparison, compared, agree),
	FIELD_LIST("differences", struct comparison, v, difference_fields),
	FIELD_LAST(FIELD("written", struct comparison, written)),
};

/* Compares the two translations output by output. Ignores sources without an output text. */
static void compare(struct arena *a, const struct hipify_tree *own,
	const struct hipify_tree *original, struct comparison *ret)
{
	MAP(ours, a);
	MAP(theirs, a);
	VEC_EACH (struct change, f, &own->changes)
		if (f->text.p)
			map_put(&ours, f->output, f);
	VEC_EACH (struct change, f, &original->changes)
		if (f->text.p)
			map_put(&theirs, f->output, f);
	VEC_EACH (const struct map_entry, e, &ours) {
		const struct change *f = e->value, *g = map_get(&theirs, e->key);
		struct difference d = {.path = e->key, .kind = "extra"};
		ret->compared++;
		if (g && str_eq(f->text, g->text))
			continue;
		if (g) {
			struct str x = f->text, y = g->text;
			d.kind = "differs";
			d.line = 1;
			for (size_t i = 0; i < x.n && i < y.n && x.p[i] == y.p[i]; i++)
				d.line += x.p[i] == '\n';
		}
		*VEC_PUSH(a, &ret->v) = d;
	}
	VEC_EACH (const struct map_entry, e, &theirs) {
		if (map_get(&ours, e->key))
			continue;
		ret->compared++;
		*VEC_PUSH(a, &ret->v) = (struct difference){.path = e->key, .kind = "missing"};
	}
}

/* Runs both engines on the same tree, and writes the result only if they agree. */
struct err *cmd_hipify_verify(struct arena *a, void *args)
{
	struct hipify_args *h = args;
	struct hipify_tree own = {0}, original = {0};
	struct comparison c = {0};
	struct hipify_job job;
	TRY(hipify_resolve(a, h, h->o.dir, &job));
	if (!hipify_by_torch(&job.o))
		return err_hint(err_new(E_USAGE, "mode 'standalone' has no Python of a torch to "
						 "compare with"),
			"give --torch PATH: a checkout, an installed torch, or a wheel of one");
	struct hipify_options o = job.o;
	o.look_only = true;
	o.out = S("");
	o.in_place = false;
	struct err *e = hipify_run(a, &o, &own);
	if (!e)
		e = hipify_failures(a, &own);
	o.engine = ENGINE_TORCH;
	if (!e && (e = hipify_run(a, &o, &original)))
		e = err_wrap(e, "cannot run torch's own hipify");
	if (!e)
		compare(a, &own, &original, &c);
	hipify_tree_free(&own);
	hipify_tree_free(&original);
	TRY(e);
	c.torch = own.torch;
	c.agree = !c.v.n;
	h->common.status = !c.agree;
	bool write = c.agree && (h->o.in_place || h->o.out.n);
	c.written = write && !fs_writes_forbidden();
	job.answered = true;
	if (show_json(&h->common, comparison_fields, &c))
		return write ? hipify_translate(&job) : NULL;
	VEC_EACH (const struct difference, d, &c.v)
		if (d->line)
			out_fmt("%.*s:%zu: differs from here on\n", STR(d->path), d->line);
		else
			out_fmt("%.*s: only %s writes it\n", STR(d->path),
				d->kind[0] == 'e' ? "rocsmith" : "torch");
	if (c.v.n)
		say_status(S("Verified"), "%zu of %zu files are not what torch's own hipify gives",
			c.v.n, c.compared);
	else
		say_status(S("Verified"), "all %zu files are what torch's own hipify gives",
			c.compared);
	return write ? hipify_translate(&job) : NULL;
}

const struct opt cmd_hipify_verify_opts[] = {
	HIPIFY_MODE,
	HIPIFY_TARGET,
	HIPIFY_RULES,
	HIPIFY_DIR("folder to translate"),
	HIPIFY_SOURCE,
	OPT_LAST,
};

/* ---- lint ---- */

struct wave_spots {
	struct str dir;
	struct findings findings;
	size_t counts[SEV_ERROR + 1]; /* by severity */
};

static const struct json_field spot_count_fields[] = {
	FIELD("error", struct wave_spots, counts[SEV_ERROR]),
	FIELD("warning", struct wave_spots, counts[SEV_WARNING]),
	FIELD_LAST(FIELD("info", struct wave_spots, counts[SEV_INFO])),
};
static const struct json_field lint_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-lint/1"),
	FIELD("directory", struct wave_spots, dir),
	FIELD_LIST("findings", struct wave_spots, findings, finding_fields),
	FIELD_LAST(FIELD_PART("counts", spot_count_fields)),
};

struct err *cmd_hipify_lint(struct arena *a, void *args)
{
	struct hipify_args *h = args;
	struct hipify_options o = h->o, described = {0};
	struct wave_spots l = {.dir = o.dir};
	struct str file = path_base(o.dir);
	const char *why;
	bool folder = fs_is_dir(o.dir);
	TRY(hipify_check_there(o.dir));
	if (folder)
		TRY(plan_hipify_read(a, o.dir, &described));
	hipify_options_inherit(&o, &described);
	hipify_choose_mode(&o, &why);
	if (!folder && !o.sources.n)
		strs_add(a, &o.sources, file);
	struct waves_request q = {.dir = folder ? o.dir : path_dir(o.dir),
		.files = o.sources.n ? &o.sources : NULL,
		.exclude = o.exclude,
		.by_torch = hipify_by_torch(&o)};
	TRY(waves_find(a, &q, &l.findings));
	VEC_EACH (const struct finding, f, &l.findings)
		l.counts[f->severity]++;
	h->common.status = l.counts[SEV_ERROR] || l.counts[SEV_WARNING];
	if (show_json(&h->common, lint_fields, &l))
		return NULL;
	VEC_EACH (const struct finding, f, &l.findings) {
		out_fmt("%s: %.*s: %.*s [%s]\n", severity_name(f->severity), STR(f->path),
			STR(f->message), f->id);
		/* once, after the last of several findings of the same kind */
		if (f + 1 == f_end || strcmp(f->id, f[1].id) != 0)
			out_lines("    ", &f->fix);
	}
	say_status(S("Checked"), "'%.*s': %.*s where waves of 32 lanes are assumed", STR(l.dir),
		STR(human_count(a, l.findings.n, "place")));
	return NULL;
}

const struct opt cmd_hipify_lint_opts[] = {
	HIPIFY_MODE,
	HIPIFY_EXCLUDE,
	HIPIFY_DIR("folder or file to look into"),
	HIPIFY_SOURCE,
	OPT_LAST,
};
