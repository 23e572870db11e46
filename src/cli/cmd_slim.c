/* rocsmith slim: removes the device code of other GPUs from a library, folder or wheel. */
#include <stdlib.h>

#include "base/fs.h"
#include "cli/opt.h"
#include "know/rule.h"
#include "sdk/sdk.h"
#include "term/out.h"
#include "term/table.h"
#include "wheel/wheel.h"

struct slim_args {
	struct common common;
	struct slim_report r; /* begins as the request: what it is about, and how to do it */
	struct str sdk, sysroot;
	bool in_place, compress, force;
};
#define ARGS struct slim_args

const struct opt cmd_slim_opts[] = {
	{OPT_ARGUMENT("PATH", OPT_POS, r.path, "library, bundle, folder or wheel"),
		.flags = OPT_REQUIRED},
	{OPT_GPUS(r.gpus, "targets whose code stays: gfx1201,gfx90a or native")},
	{OPT_OUTPUT(r.output, "OUT", "the smaller one")},
	{OPT_FLAG("in-place", in_place, "change PATH itself")},
	{OPT_FLAG("exact", r.exact, "no variants, no generic targets")},
	{OPT_FLAG("strip-device", r.strip_device,
		"code that stays loses debug information and symbols")},
	{OPT_FLAG("compress", compress, "bundles as the HIP runtime there reads them compressed")},
	{OPT_VALUE("sdk", OPT_STR, sdk, "SDK", "for --compress: whose runtime that is")},
	{OPT_VALUE(
		"without", OPT_LIST, r.without, "GLOB", "files of a folder or wheel to leave out")},
	{OPT_SYSROOT(sysroot, "find GPUs in a recorded machine")},
	{OPT_FLAG("force", force, "overwrite OUT")},
	OPT_LAST,
};

/* Warns of GPUs in this machine that lose their code. Before rocm-systems#9498, HIP used no GPU at all if one of them
 * had no code, for example the APU beside a card. */
static void warn_of_others(const struct machine *here, const struct slim_report *r)
{
	VEC_EACH (const struct machine_gpu, gpu, &here->gpus) {
		const struct target want = target_read(gpu->target);
		const struct slim_keep keep = {.v = &want, .n = 1};
		bool left = !gpu->target.n, lost = false;
		for (const struct machine_gpu *g = here->gpus.v; g < gpu; g++)
			left = left || str_eq(g->target, gpu->target);
		VEC_EACH (const struct slim_sum, s, &r->targets) {
			left = left || (s->kept && slim_keeps(&keep, s->target));
			lost = lost || (!s->kept && slim_keeps(&keep, s->target));
		}
		if (lost && !left)
			say_warning("'%.*s' of this machine loses its code: until ROCm 7.2 HIP "
				    "fails for all GPUs when one has none",
				STR(gpu->target));
	}
}

static void print(struct arena *a, const struct slim_args *o)
{
	const struct slim_report *r = &o->r;
	const struct slim_keep k = {.without = &r->without};
	struct table t = table_new(a, "REMOVED|>OBJECTS|>BYTES");
	size_t left_out = 0;
	VEC_EACH (const struct slim_done, f, &r->files) {
		left_out += !f->after;
		if (!f->after && slim_leaves_out(&k, f->path))
			out_fmt("left out: %.*s (%.*s)\n", STR(f->path),
				STR(human_bytes(a, f->before)));
		else if (o->common.verbose && f->path.n)
			out_fmt("%.*s: %.*s -> %.*s\n", STR(f->path),
				STR(human_bytes(a, f->before)), STR(human_bytes(a, f->after)));
	}
	VEC_EACH (const struct slim_sum, s, &r->targets)
		if (!s->kept)
			TABLE_ROW(&t, s->target, str_fmt(a, "%zu", (size_t)s->objects),
				human_bytes(a, s->bytes));
	table_print(&t);
	if (r->stripped)
		out_fmt("stripped: %.*s of debug information and symbols\n",
			STR(human_bytes(a, r->stripped)));
	if (left_out)
		out_fmt("left out: %.*s\n", STR(human_count(a, left_out, "file")));
	if (!r->files.n && !r->refused.n)
		out_fmt("nothing is left to take out of '%.*s': it was slimmed before\n",
			STR(r->path));
	struct stat from, to;
	struct str text = str_fmt(
		a, "%.*s -> %.*s", STR(human_bytes(a, r->before)), STR(human_bytes(a, r->after)));
	if (str_ends(r->path, S(".whl")) && fs_is_file(r->path)) {
		bool made = !o->common.dry_run && fs_try_stat(r->path, &from) &&
			    fs_try_stat(r->output, &to);
		text = made ? str_fmt(a, "%.*s -> %.*s (%.*s unpacked)",
				      STR(human_bytes(a, (uint64_t)from.st_size)),
				      STR(human_bytes(a, (uint64_t)to.st_size)), STR(text))
			    : str_fmt(a, "%.*s unpacked", STR(text));
	}
	out_fmt("%.*s: %s%.*s\n", STR(r->output), o->common.dry_run ? "would be " : "", STR(text));
	if (r->restore.n)
		out_fmt("to undo it, install again:\n");
	out_lines("  ", &r->restore);
}

static struct err *slim(struct arena *a, struct slim_args *o, const struct slim_keep *k)
{
	struct slim_report *r = &o->r;
	struct str head;
	bool into = str_ends(r->output, S("/")) || fs_is_dir(r->output);
	while (r->output.n > 1 && str_ends(r->output, S("/")))
		r->output.n--;
	if (fs_is_dir(r->path))
		return o->in_place ? slim_tree(a, k, wheel_slim_installed, r)
				   : slim_folder(a, k, o->force, r);
	TRY(fs_read_head(a, r->path, 4, &head));
	bool wheel = str_eq(head, S("PK\3\4"));
	if (wheel && o->in_place)
		return err_hint(
			err_new(E_USAGE, "'%.*s' is a wheel: --in-place is for files and folders",
				STR(r->path)),
			"--output takes the folder for the smaller one");
	/* in a folder, the file keeps its own name; pip installs no wheel that is not called one */
	into |= wheel && !str_ends(r->output, S(".whl"));
	if (!o->in_place && into)
		r->output = path_join(a, r->output, path_base(r->path));
	if (wheel)
		return wheel_slim(a, k, o->force, o->common.jobs, r);
	if (r->without.n)
		return err_new(E_USAGE, "--without is for folders and wheels");
	if (into && !fs_writes_forbidden())
		TRY(fs_make_output(path_dir(r->output)));
	return slim_file(a, k, o->in_place, o->force, r);
}

/* Chooses the encoding for --compress: the newest that the HIP runtime of --sdk can read, or else the runtime in or
 * beside PATH. */
static struct err *choose_encoding(struct arena *a, struct slim_args *o, struct slim_keep *k)
{
	static const char *const names[] = {"", "ccob1", "ccob2", "ccob3"};
	struct slim_report *r = &o->r;
	struct slim_runtime hip = {0};
	struct str head = S("");
	struct sdk sdk;
	bool dir = fs_is_dir(r->path);
	if (!dir)
		TRY(fs_read_head(a, r->path, 4, &head));
	if (o->sdk.n && fs_is_dir(o->sdk)) {
		TRY(slim_runtime_in(a, o->sdk, true, &hip));
	} else if (o->sdk.n) {
		TRY(sdk_open_name(a, o->sdk, &sdk));
		VEC_EACH (const struct str, lib, &sdk.lib_dirs)
			TRY(slim_runtime_in(
				a, str_fmt(a, "%.*s%.*s", STR(sdk.root), STR(*lib)), false, &hip));
	} else if (str_eq(head, S("PK\3\4"))) {
		TRY(wheel_runtime(a, r->path, &hip));
	} else {
		TRY(slim_runtime_in(a, dir ? r->path : path_dir(r->path), dir, &hip));
	}
	if (!hip.path.n)
		return err_hint(
			err_new(E_SDK, "no libamdhip64 tells which compressed bundles it reads"),
			"--sdk takes a folder that has it, or an SDK: rocsmith sdk list");
	if (!hip.most)
		return err_new(E_SDK, "HIP %u.%u reads no compressed bundles: '%.*s'", hip.major,
			hip.minor, STR(hip.path));
	k->compress = hip.most;
	r->compress = str_from(names[hip.most]);
	r->runtime = hip.path;
	if (!o->common.json && (!o->common.quiet || o->common.dry_run))
		out_fmt("compressed: version %u, for HIP %u.%u (%.*s)\n", (unsigned)hip.most,
			hip.major, hip.minor, STR(hip.path));
	return NULL;
}

/* The new files and the temporary ones may lie on different disks. */
static struct err *hint_space(struct arena *a, struct err *e, const struct slim_args *o)
{
	const char *env = getenv("TMPDIR");
	struct str tmp = str_from(env && *env ? env : "/tmp"), dir = path_dir(o->r.output);
	uint64_t here, there, size;
	if (!fs_free_space(dir, &here, &size) || !fs_free_space(tmp, &there, &size))
		return e;
	return err_hint(e,
		"'%.*s' has %.*s free, '%.*s' for temporary files %.*s: make room, or name another "
		"place with %sTMPDIR",
		STR(dir), STR(human_bytes(a, here)), STR(tmp), STR(human_bytes(a, there)),
		o->in_place ? "" : "--output or ");
}

/* The commands also undo what earlier runs did to a folder. Its cut list goes with that. */
static struct err *add_restore(struct arena *a, struct slim_report *r)
{
	struct slim_report all = {0};
	struct str text, list = r->path;
	bool dir = fs_is_dir(r->path);
	(void)(dir || fs_real(a, r->path, &list));
	list = dir ? path_join(a, list, S(CUT_LIST)) : str_fmt(a, "%.*s" CUT_LIST_END, STR(list));
	TRY(fs_read_opt(a, list, 64 << 20, &text));
	if (text.p)
		TRY(cut_list_read(a, text, list, &all));
	VEC_EACH (const struct slim_done, f, &r->files)
		*VEC_PUSH(a, &all.files) = *f;
	all.path = r->path;
	if (!r->restore.n && !r->unlisted) { /* nothing was changed in a folder by this run */
		wheel_restore(a, &all, S(""));
		r->restore = all.restore;
		r->unlisted = all.unlisted;
	}
	if (r->restore.n && !r->unlisted)
		strs_fmt(a, &r->restore, "rm %.*s", STR(str_shell(a, list)));
	return NULL;
}

struct err *cmd_slim(struct arena *a, void *args)
{
	CLEANUP(fd_closep) int scratch = -1;
	struct slim_args *o = args;
	struct slim_report *r = &o->r;
	struct targets gpus;
	struct machine here = {0};
	if (!r->gpus.n && !r->strip_device && !o->compress && !r->without.n)
		return err_hint(err_new(E_USAGE, "'slim' needs --gpu"),
			"--gpu gfx1201, or --gpu native for the GPUs of this machine");
	if (!r->output.n == !o->in_place)
		return err_new(E_USAGE, "'slim' needs either --output or --in-place");
	r->output = o->in_place ? r->path : r->output;
	TRY(opt_targets(a, o->sysroot, &r->gpus, &gpus));
	err_free(machine_gpus(a, o->sysroot, &here));
	if (r->strip_device)
		TRY(fs_tempfile(&scratch));
	struct slim_keep keep = {.v = gpus.v,
		.n = gpus.n,
		.exact = r->exact,
		.without = &r->without,
		.strip = r->strip_device,
		.scratch = scratch};
	if (o->compress)
		TRY(choose_encoding(a, o, &keep));
	struct err *e = slim(a, o, &keep);
	if (e && e->code == E_NOSPACE)
		return hint_space(a, e, o);
	TRY(e);
	struct strs whole = {0}, emptied = {0};
	VEC_EACH (const struct slim_refused, x, &r->refused)
		strs_fmt(a, &whole, "'%.*s' stays whole: %.*s", STR(x->path), STR(x->why));
	VEC_EACH (const struct slim_refused, x, &r->emptied)
		strs_fmt(a, &emptied, "'%.*s' has no code left: %.*s", STR(x->path), STR(x->why));
	say_warnings(&whole);
	say_warnings(&emptied);
	VEC_EACH (const struct str, gpu, &r->absent)
		say_warning("nothing in '%.*s' has code for %.*s", STR(r->path), STR(*gpu));
	warn_of_others(&here, r);
	if (o->in_place)
		TRY(add_restore(a, r));
	if (!show_made(&o->common, slim_fields, r))
		print(a, o);
	if (r->unlisted && r->files.n)
		say_warning("no package lists %.*s that changed in '%.*s': only a copy brings "
			    "back the old content",
			STR(human_count(a, r->unlisted, "file")), STR(r->path));
	return NULL;
}
