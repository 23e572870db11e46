/* From options and rocsmith.yaml to what a run of hipify needs: the mode, whose tables, which
 * files, where to. Options win over the description.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "flow/build.h"
#include "plan/plan.h"
#include "term/out.h"

struct str hipify_overlay(struct arena *a, struct str dir, struct str *ret_build)
{
	*ret_build = build_folder(a, path_abs(a, dir));
	return path_join(a, *ret_build, S("hip"));
}

/* ---- the mode ---- */

static struct err *choose_mode(const struct hipify_args *h, struct hipify_options *o)
{
	const char *why;
	hipify_choose_mode(o, &why);
	if (!why)
		why = h->o.mode ? "asked for" : "'hipify' of rocsmith.yaml";
	say_verbose("mode %s: %s", hipify_modes[o->mode], why);
	if (h->verify && !hipify_by_torch(o) && !h->o.torch.n)
		return err_new(E_USAGE, "'--verify' means nothing in mode 'standalone'");
	return hipify_options_check(&h->o, o->mode);
}

static struct err *check_mode(const struct hipify_options *o)
{
	if (!hipify_by_torch(o))
		return NULL;
	if (!fs_is_dir(o->dir))
		return err_hint(err_new(E_USAGE, "mode '%s' takes a folder, and '%.*s' is a file",
					hipify_modes[o->mode], STR(o->dir)),
			"give the project's folder, then its sources: DIR SOURCE");
	if (o->mode == HIPIFY_TORCH && !hipify_is_checkout(o->dir) && !hipify_is_checkout(o->torch))
		return err_hint(err_new(E_USAGE,
					"'%.*s' is not a PyTorch checkout: it has no "
					"'tools/amd_build/build_amd.py'",
					STR(o->dir)),
			"a CUDA extension for PyTorch wants --mode extension");
	if (o->mode == HIPIFY_EXTENSION && !o->torch.n)
		return err_hint(err_new(E_USAGE, "mode 'extension' needs to know whose hipify"),
			"give --torch PATH: a checkout, an installed torch, or a wheel of one");
	return NULL;
}

/* ---- paths that were given ---- */

static struct err *check_map(const struct hipify_args *h)
{
	if (h->o.map.n && !fs_exists(h->o.map))
		return err_new(E_NOENT, "no file '%.*s' with pairs of names", STR(h->o.map));
	return NULL;
}

/* Folders are looked up in DIR, as setup.py that runs in DIR sees them, then in the current folder.
 * Those that do not exist go on as they are: the original does not mind them. */
static void find_include_dirs(struct arena *a, struct str dir, struct strs *io)
{
	struct strs given = *io;
	*io = (struct strs){0};
	VEC_EACH (const struct str, d, &given) {
		bool here = fs_is_dir(path_join(a, dir, *d)) || !fs_is_dir(*d);
		strs_add(a, io, here ? *d : path_abs(a, *d));
	}
}

/* Sources are looked up in the same way, and must be there. */
static struct err *find_sources(
	struct arena *a, const struct hipify_args *h, struct hipify_options *o)
{
	struct strs given = o->sources;
	o->sources = (struct strs){0};
	if (h->o.sources.n && !fs_is_dir(o->dir))
		return err_new(
			E_USAGE, "'%.*s' is a file: what follows it has no folder", STR(o->dir));
	o->keep = h->o.sources.n > 0 && !hipify_by_torch(o);
	VEC_EACH (const struct str, s, &given) {
		struct str inside = path_join(a, o->dir, *s);
		struct str path = path_abs(a, fs_present(inside) ? inside : *s);
		if (!fs_present(path))
			return err_new(E_NOENT, "no source '%.*s' in '%.*s' or the current folder",
				STR(*s), STR(o->dir));
		if (fs_is_dir(path))
			return err_hint(err_new(E_USAGE, "the source '%.*s' is a folder", STR(*s)),
				"name its files, or leave SOURCE out to take all that match");
		if (!hipify_by_torch(o) && !path_is_inside(path_rel(a, path, path_abs(a, o->dir))))
			return err_hint(err_new(E_USAGE, "the source '%.*s' is outside of '%.*s'",
						STR(*s), STR(o->dir)),
				"give the folder that holds both");
		strs_add(a, &o->sources, path);
	}
	return NULL;
}

/* ---- where to ---- */

static struct err *choose_target(struct hipify_job *job)
{
	const struct hipify_args *h = job->args;
	struct hipify_options *o = &job->o;
	o->look_only = h->diff || h->check;
	bool nowhere = !o->in_place && !o->out.n && !o->look_only;
	if (o->in_place)
		o->out = S("");
	if (!fs_is_dir(o->dir)) {
		strs_add(job->a, &o->only, path_base(o->dir));
		o->dir = path_dir(o->dir);
		o->keep = true;
		if (nowhere)
			return err_hint(err_new(E_USAGE, "no output folder is given"),
				"give -o OUT for a file, or --diff or --check to look only");
	} else if (nowhere && !h->verify && !h->explain.n) {
		o->out = hipify_overlay(job->a, o->dir, &job->build);
	}
	return NULL;
}

struct err *hipify_resolve(
	struct arena *a, const struct hipify_args *h, struct str path, struct hipify_job *ret)
{
	struct hipify_options described = {0};
	*ret = (struct hipify_job){.a = a, .args = h, .o = h->o};
	struct hipify_options *o = &ret->o;
	o->dir = path;
	o->jobs = h->common.jobs;
	if (fs_is_dir(path))
		TRY(plan_hipify_read(a, path, &described));
	find_include_dirs(a, path, &o->include_dirs);
	hipify_options_inherit(o, &described);
	TRY(choose_mode(h, o));
	TRY(check_map(h));
	TRY(check_mode(o));
	if (o->mode != HIPIFY_TORCH)
		TRY(find_sources(a, h, o));
	TRY(choose_target(ret));
	bool named = o->mode == HIPIFY_EXTENSION && o->sources.n;
	hipify_options_complete(a, o);
	if (named && !o->sources.n)
		return err_new(E_USAGE, "every SOURCE is excluded");
	return NULL;
}

struct err *hipify_resolve_torch(
	struct arena *a, const struct hipify_args *h, struct hipify_options *ret)
{
	struct hipify_options described = {0};
	*ret = h->o;
	if (ret->dir.n && fs_is_dir(ret->dir))
		TRY(plan_hipify_read(a, ret->dir, &described));
	hipify_options_inherit(ret, &described);
	TRY(check_map(h));
	if (!ret->torch.n)
		ret->torch = ret->dir;
	if (ret->torch.n)
		return NULL;
	return err_hint(err_new(E_USAGE, "no torch is given"),
		"give --torch PATH: a checkout, an installed torch, or a wheel of one");
}
