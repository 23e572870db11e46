/* hipify --status and --restore: what became of the files that earlier runs made, and taking them
 * back.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "term/out.h"

static const char *const state_names[] = {
	[STATE_CURRENT] = "current",
	[STATE_STALE] = "stale",
	[STATE_EDITED] = "edited",
	[STATE_MISSING] = "missing",
	[STATE_ORPHAN] = "orphan",
	[STATE_ORPHAN + 1] = NULL,
};

enum { STATES = sizeof(state_names) / sizeof(state_names[0]) - 1 };

struct states {
	struct str path;
	struct change_entries files;
	size_t counts[STATES];
};

#define COUNT(state, name) FIELD(name, struct states, counts[state])

static const struct json_field count_fields[] = {
	COUNT(STATE_CURRENT, "current"),
	COUNT(STATE_STALE, "stale"),
	COUNT(STATE_EDITED, "edited"),
	COUNT(STATE_MISSING, "missing"),
	COUNT(STATE_ORPHAN, "orphan"),
	{.kind = FIELD_END},
};
static const struct json_field file_fields[] = {
	FIELDS(struct change_entry, output, source),
	FIELD_ENUM("state", struct change_entry, state, state_names),
	FIELD("replaced", struct change_entry, replaced),
	{.kind = FIELD_END},
};
static const struct json_field states_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-status/1"),
	FIELD("path", struct states, path),
	FIELD_LIST("files", struct states, files, file_fields),
	FIELD_PART("counts", count_fields),
	{.kind = FIELD_END},
};

struct restored {
	struct str path;
	struct strs kept;
};

static const struct json_field restored_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-restore/1"),
	FIELDS(struct restored, path, kept),
	{.kind = FIELD_END},
};

static bool was_translated(struct arena *a, struct str dir)
{
	return changes_made(changes_journal(a, dir, S("")));
}

/* What was made for DIR lies in DIR itself, or in the overlay that nobody named. */
static struct str made_in(struct arena *a, struct str dir)
{
	struct str build, overlay = hipify_overlay(a, dir, &build);
	return was_translated(a, dir) || !was_translated(a, overlay) ? dir : overlay;
}

/* In lines, not as a table: an overlay of PyTorch has 16,000 files with long names. */
static void print_states(struct arena *a, const struct states *s)
{
	const size_t *n = s->counts;
	VEC_EACH (const struct change_entry, e, &s->files) {
		struct str output = hipify_in_dir(a, s->path, e->output);
		bool own = str_eq(e->source, e->output) || !e->source.n;
		out_fmt("%-8s %.*s%s%.*s%s\n", state_names[e->state], STR(output),
			own ? "" : " (from ", STR(own ? S("") : e->source), own ? "" : ")");
	}
	say_status(S("Checked"),
		"%.*s of '%.*s': %zu current, %zu stale, %zu edited, %zu missing, %zu "
		"orphaned",
		STR(human_count(a, s->files.n, "file")), STR(s->path), n[STATE_CURRENT],
		n[STATE_STALE], n[STATE_EDITED], n[STATE_MISSING], n[STATE_ORPHAN]);
}

struct err *hipify_show_state(struct arena *a, const struct hipify_args *h, int *ret_status)
{
	struct states s = {.path = made_in(a, h->o.dir)};
	TRY(changes_state(a, changes_journal(a, s.path, S("")), &s.files));
	VEC_EACH (const struct change_entry, e, &s.files)
		s.counts[e->state]++;
	if (s.counts[STATE_CURRENT] < s.files.n)
		*ret_status = 1;
	if (h->common.json)
		out_text(json_document(a, 2, states_fields, &s));
	else
		print_states(a, &s);
	return NULL;
}

struct err *hipify_restore_dir(struct arena *a, const struct hipify_args *h, int *ret_status)
{
	struct restored r = {.path = made_in(a, h->o.dir)};
	TRY(changes_restore(a, changes_journal(a, r.path, S("")), h->force, &r.kept));
	if (r.kept.n)
		*ret_status = 1;
	if (h->common.json) {
		out_text(json_document(a, 2, restored_fields, &r));
		return NULL;
	}
	VEC_EACH (const struct str, k, &r.kept)
		say_warning(
			"'%.*s' was edited since, and is kept", STR(hipify_in_dir(a, r.path, *k)));
	if (r.kept.n)
		say_hint("--force restores them as well");
	say_status(fs_writes_forbidden() ? S("Checked") : S("Restored"), "'%.*s'%s", STR(r.path),
		r.kept.n ? ", except for the files above" : "");
	return NULL;
}
