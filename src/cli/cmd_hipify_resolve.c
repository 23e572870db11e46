/* From options and rocsmith.yaml to what a run of hipify needs: the mode, whose tables, where to.
 * Options win over the description; which files is in cmd_hipify_files.c.
 */
#include "cli/cmd_hipify.h"

#include <string.h>

#include "base/fs.h"
#include "make/make.h"
#include "plan/plan.h"
#include "term/out.h"

#define BUILD_AMD "tools/amd_build/build_amd.py"

bool hipify_is_checkout(struct arena *a, struct str dir)
{
	return dir.n && fs_exists(path_join(a, dir, S(BUILD_AMD)));
}

struct str hipify_overlay(struct arena *a, struct str dir, struct str *ret_build)
{
	*ret_build = make_build_dir(a, path_abs(a, dir));
	return path_join(a, *ret_build, S("hip"));
}

static enum hipify_mode mode_named(struct str name)
{
	unsigned i = 0;
	while (hipify_modes[i + 1] && !str_eq(name, str_from(hipify_modes[i])))
		i++;
	return (enum hipify_mode)i;
}

static enum hipify_launches launches_named(struct str name)
{
	if (str_eq(name, S("rewrite")))
		return LAUNCHES_REWRITE;
	return str_eq(name, S("keep")) ? LAUNCHES_KEEP : LAUNCHES_AUTO;
}

/* ---- the mode ---- */

static void choose_mode(struct hipify_job *job, const struct plan_hipify *y)
{
	const struct hipify_args *h = job->args;
	struct hipify_options *o = &job->o;
	const char *why = "there is no --torch";
	if (h->mode) {
		o->mode = (enum hipify_mode)(h->mode - 1);
		why = "asked for";
	} else if (y->mode.n) {
		o->mode = mode_named(y->mode);
		why = "'hipify' of rocsmith.yaml";
	} else if (hipify_is_checkout(job->a, o->dir)) {
		o->mode = HIPIFY_TORCH;
		why = "'" BUILD_AMD "' is there";
	} else if (h->torch.n || y->torch.n) {
		o->mode = HIPIFY_EXTENSION;
		why = "a torch is named";
	}
	say_verbose("mode %s: %s", hipify_modes[o->mode], why);
}

static struct err *check_mode(struct hipify_job *job)
{
	const struct hipify_options *o = &job->o;
	if (o->mode == HIPIFY_STANDALONE)
		return NULL;
	if (!fs_is_dir(o->dir))
		return err_hint(err_new(E_USAGE, "mode '%s' takes a folder, and '%.*s' is a file",
					hipify_modes[o->mode], STR(o->dir)),
			"give the project's folder, then its sources: DIR SOURCE");
	if (o->mode == HIPIFY_TORCH && !hipify_is_checkout(job->a, o->dir) &&
		!hipify_is_checkout(job->a, o->torch))
		return err_hint(err_new(E_USAGE, "'%.*s' is no PyTorch checkout: it has no '%s'",
					STR(o->dir), BUILD_AMD),
			"a CUDA extension for PyTorch wants --mode extension");
	if (o->mode == HIPIFY_EXTENSION && !o->torch.n)
		return err_hint(err_new(E_USAGE, "mode 'extension' needs to know whose hipify"),
			"give --torch PATH: a checkout, an installed torch, or a wheel of one");
	return NULL;
}

enum { IN_STANDALONE = 1, IN_TORCH = 2, IN_EXTENSION = 4, IN_BOTH = IN_TORCH | IN_EXTENSION };

/* Options that would be ignored in silence elsewhere. */
static const struct {
	const char *name;
	unsigned modes;
} limits[] = {
	{"torch", IN_BOTH},
	{"verify", IN_BOTH},
	{"include-dir", IN_EXTENSION},
	{"map", IN_BOTH},
	{"ignore", IN_BOTH},
	{"extra-extension", IN_BOTH},
	{"launches", IN_BOTH},
	{"out-of-place-only", IN_TORCH},
	{"extra-include-dir", IN_TORCH},
	{"engine", IN_BOTH},
	{"rocm", IN_STANDALONE},
	{"SOURCE", IN_STANDALONE | IN_EXTENSION},
};

static bool is_given(const struct hipify_args *h, const char *name)
{
	const struct opt *o = hipify_opts;
	while (strcmp(o->lname, name))
		o++;
	const char *at = (const char *)h + o->off;
	if (o->kind == OPT_BOOL)
		return *(const bool *)at;
	if (o->kind == OPT_ENUM)
		return *(const unsigned *)(const void *)at > 0;
	if (o->kind == OPT_LIST || o->kind == OPT_POSES)
		return ((const struct strs *)(const void *)at)->n > 0;
	return ((const struct str *)(const void *)at)->n > 0;
}

static struct err *check_limits(const struct hipify_job *job)
{
	unsigned mode = 1u << job->o.mode;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const char *name = limits[i].name;
		if ((limits[i].modes & mode) || !is_given(job->args, name))
			continue;
		return err_new(E_USAGE, "%s%s%s means nothing in mode '%s'",
			name[0] == 'S' ? "" : "'--", name, name[0] == 'S' ? "" : "'",
			hipify_modes[job->o.mode]);
	}
	return NULL;
}

/* ---- lists ---- */

/* Folders that do not exist go on as they are: the original does not mind them. */
static void choose_include_dirs(struct hipify_job *job, const struct plan_hipify *y)
{
	struct arena *a = job->a;
	if (!job->args->include_dirs.n)
		job->o.include_dirs = y->include_dirs;
	VEC_EACH (const struct str, dir, &job->args->include_dirs) {
		bool here = fs_is_dir(path_join(a, job->o.dir, *dir)) || !fs_is_dir(*dir);
		strs_add(a, &job->o.include_dirs, here ? *dir : path_abs(a, *dir));
	}
}

static void choose_extensions(struct hipify_job *job, const struct plan_hipify *y)
{
	const struct strs *given =
		job->args->extensions.n ? &job->args->extensions : &y->extensions;
	VEC_EACH (const struct str, e, given)
		strs_add(job->a, &job->o.extra_extensions,
			str_starts(*e, S(".")) ? *e : str_fmt(job->a, ".%.*s", STR(*e)));
}

static struct err *choose_map(struct hipify_job *job, const struct plan_hipify *y)
{
	const struct hipify_args *h = job->args;
	job->o.map = h->map.n ? h->map : y->map;
	if (!h->map.n && y->map_text.n)
		job->o.map_text = y->map_text;
	if (h->map.n && !fs_exists(h->map))
		return err_new(E_NOENT, "no file '%.*s' with pairs of names", STR(h->map));
	return NULL;
}

/* ---- where to ---- */

static struct err *choose_target(struct hipify_job *job)
{
	const struct hipify_args *h = job->args;
	struct hipify_options *o = &job->o;
	bool looks = h->diff || h->check;
	o->in_place = h->in_place;
	o->look_only = looks;
	o->out = h->in_place ? S("") : h->out;
	if (!fs_is_dir(o->dir)) {
		strs_add(job->a, &o->only, path_base(o->dir));
		o->dir = path_dir(o->dir);
		o->keep = true;
		if (!h->in_place && !h->out.n && !looks)
			return err_hint(err_new(E_USAGE, "no output folder is given"),
				"give -o OUT for a file, or --diff or --check to look only");
	} else if (!h->in_place && !h->out.n && !looks && !h->verify && !h->explain.n) {
		o->out = hipify_overlay(job->a, o->dir, &job->build);
	}
	return NULL;
}

static struct err *torch_options(struct hipify_job *job, const struct plan_hipify *y)
{
	const struct hipify_args *h = job->args;
	struct hipify_options *o = &job->o;
	o->torch = h->torch.n ? h->torch : y->torch;
	o->python = h->engine > 0;
	o->ignore = h->ignore.n ? h->ignore : y->ignore;
	o->launches =
		h->launches ? (enum hipify_launches)(h->launches - 1) : launches_named(y->launches);
	o->out_of_place_only = h->out_of_place_only;
	o->extra_include = h->extra_include;
	TRY(choose_map(job, y));
	choose_extensions(job, y);
	choose_include_dirs(job, y);
	return NULL;
}

struct err *hipify_resolve(
	struct arena *a, const struct hipify_args *h, struct str path, struct hipify_job *ret)
{
	struct plan_hipify y = {0};
	*ret = (struct hipify_job){.a = a, .args = h};
	struct hipify_options *o = &ret->o;
	*o = (struct hipify_options){.dir = path, .jobs = h->common.jobs};
	if (fs_is_dir(path))
		TRY(plan_hipify_read(a, path, &y));
	choose_mode(ret, &y);
	TRY(check_limits(ret));
	o->exclude = h->exclude.n ? h->exclude : y.exclude;
	o->rocm = h->rocm.n ? h->rocm : y.rocm;
	TRY(torch_options(ret, &y));
	TRY(check_mode(ret));
	TRY(hipify_choose_sources(ret, &y.sources));
	return choose_target(ret);
}

struct err *hipify_resolve_torch(
	struct arena *a, const struct hipify_args *h, struct hipify_options *ret)
{
	struct plan_hipify y = {0};
	struct hipify_job job = {.a = a, .args = h};
	if (h->path.n && fs_is_dir(h->path))
		TRY(plan_hipify_read(a, h->path, &y));
	TRY(choose_map(&job, &y));
	*ret = job.o;
	ret->torch = h->torch.n ? h->torch : y.torch.n ? y.torch : h->path;
	if (ret->torch.n)
		return NULL;
	return err_hint(err_new(E_USAGE, "no torch is given"),
		"give --torch PATH: a checkout, an installed torch, or a wheel of one");
}
