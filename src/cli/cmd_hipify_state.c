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
};

enum { STATES = sizeof(state_names) / sizeof(state_names[0]) };

static bool was_translated(struct arena *a, struct str dir)
{
	return fs_exists(path_join(a, dir, S(".rocsmith/hipify.manifest")));
}

/* What was made for DIR lies in DIR itself, or in the overlay that nobody named. */
static struct str made_in(struct arena *a, struct str dir)
{
	struct str build, overlay = hipify_overlay(a, dir, &build);
	return was_translated(a, dir) || !was_translated(a, overlay) ? dir : overlay;
}

/* No table: an overlay of PyTorch has 16,000 files with long names. */
static void print_text(struct arena *a, struct str dir, const struct change_entries *s)
{
	VEC_EACH (const struct change_entry, e, s) {
		struct str output = hipify_in_dir(a, dir, e->output);
		bool own = str_eq(e->source, e->output) || !e->source.n;
		out_fmt("%-8s %.*s%s%.*s%s\n", state_names[e->state], STR(output),
			own ? "" : " (from ", STR(own ? S("") : e->source), own ? "" : ")");
	}
}

static void print_json(
	struct arena *a, struct str dir, const struct change_entries *s, const size_t *counts)
{
	BUF(b, a);
	struct json j = {.out = &b, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.hipify-status/1"));
	json_put(&j, "path", dir);
	json_key(&j, "files");
	json_open(&j, '[');
	VEC_EACH (const struct change_entry, e, s) {
		json_open(&j, '{');
		json_put(&j, "output", e->output);
		json_put(&j, "source", e->source);
		json_put(&j, "state", str_from(state_names[e->state]));
		json_put_bool(&j, "replaced", e->replaced);
		json_close(&j);
	}
	json_close(&j);
	json_key(&j, "counts");
	json_open(&j, '{');
	for (size_t i = 0; i < STATES; i++)
		json_put_u64(&j, state_names[i], counts[i]);
	json_close(&j);
	json_close(&j);
	hipify_print_json(&b);
}

struct err *hipify_show_state(struct arena *a, const struct hipify_args *h, int *ret_status)
{
	struct str dir = made_in(a, h->o.dir);
	struct change_entries s = {0};
	size_t counts[STATES] = {0};
	TRY(changes_state(a, dir, &s));
	VEC_EACH (const struct change_entry, e, &s)
		counts[e->state]++;
	if (counts[STATE_CURRENT] < s.n)
		*ret_status = 1;
	if (h->common.json) {
		print_json(a, dir, &s, counts);
		return NULL;
	}
	print_text(a, dir, &s);
	say_status(S("Checked"),
		"%zu files of '%.*s': %zu current, %zu stale, %zu edited, %zu missing, %zu "
		"orphaned",
		s.n, STR(dir), counts[STATE_CURRENT], counts[STATE_STALE], counts[STATE_EDITED],
		counts[STATE_MISSING], counts[STATE_ORPHAN]);
	return NULL;
}

struct err *hipify_take_back(struct arena *a, const struct hipify_args *h, int *ret_status)
{
	struct str dir = made_in(a, h->o.dir);
	struct strs kept = {0};
	TRY(changes_restore(a, dir, h->force, &kept));
	if (kept.n)
		*ret_status = 1;
	if (h->common.json) {
		BUF(b, a);
		struct json j = {.out = &b, .indent = 2};
		json_open(&j, '{');
		json_put(&j, "schema", S("rocsmith.hipify-restore/1"));
		json_put(&j, "path", dir);
		json_put_strs(&j, "kept", &kept);
		json_close(&j);
		hipify_print_json(&b);
		return NULL;
	}
	VEC_EACH (const struct str, k, &kept)
		say_warning("'%.*s' was edited since and stays", STR(hipify_in_dir(a, dir, *k)));
	if (kept.n)
		say_hint("--force takes them back, too");
	say_status(fs_writes_forbidden() ? S("Checked") : S("Restored"), "'%.*s'%s", STR(dir),
		kept.n ? ", but for the files above" : "");
	return NULL;
}
