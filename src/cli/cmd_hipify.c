/* rocsmith hipify DIR: makes a request from its options and rocsmith.yaml (options win), and runs the translation. */
#include "cli/cmd_hipify.h"

#include "base/progress.h"
#include "flow/build.h"
#include "term/out.h"

const struct opt cmd_hipify_opts[] = {
	HIPIFY_MODE,
	HIPIFY_TARGET,
	{OPT_FLAG("diff", diff, "print what would change")},
	{OPT_FLAG("check", check, "exit status 1 when something would change")},
	HIPIFY_RULES,
	{OPT_VALUE("engine", OPT_ENUM, o.engine, "ENGINE", "rocsmith, or torch: its own Python"),
		.choices = hipify_engines},
	HIPIFY_DIR("folder or file to translate"),
	HIPIFY_SOURCE,
	OPT_LAST,
};

struct err *hipify_check_there(struct str path)
{
	return fs_exists(path) ? NULL : err_new(E_NOENT, "no folder or file '%.*s'", STR(path));
}

struct str hipify_overlay(struct arena *a, struct str dir, struct str *ret_build)
{
	*ret_build = build_folder(a, path_abs(a, dir), S(""));
	return path_join(a, *ret_build, S("hip"));
}

static struct err *choose_mode(const struct hipify_args *h, struct hipify_options *o)
{
	const char *why;
	hipify_choose_mode(o, &why);
	if (!why)
		why = h->o.mode ? "asked for" : "'hipify' of rocsmith.yaml";
	say_verbose("mode %s: %s", hipify_modes[o->mode], why);
	TRY(hipify_options_check(&h->o, o->mode));
	if (h->o.map.n && !fs_exists(h->o.map))
		return err_new(E_NOENT, "no file '%.*s' with pairs of names", STR(h->o.map));
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

/* Finds the sources in DIR, as a setup.py that runs there sees them, or else in the current folder. */
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

struct err *hipify_resolve(
	struct arena *a, struct hipify_args *h, struct str dir, struct hipify_job *ret)
{
	struct hipify_options described = {0};
	TRY(hipify_check_there(dir));
	*ret = (struct hipify_job){.a = a, .args = h, .o = h->o};
	struct hipify_options *o = &ret->o;
	struct strs include_dirs = o->include_dirs;
	if (o->rocm.n && !hipify_is_rocm(o->rocm))
		return err_new(E_USAGE, "'--rocm' takes a version such as 6.4.3, not '%.*s'",
			STR(o->rocm));
	if (o->in_place && o->out.n)
		return err_new(E_USAGE, "'--in-place' and '--output' exclude each other");
	o->dir = dir;
	o->jobs = h->common.jobs;
	if (fs_is_dir(dir))
		TRY(plan_hipify_read(a, dir, &described));
	/* Include folders are found like sources. The original accepts folders that do not exist, so they stay. */
	o->include_dirs = (struct strs){0};
	VEC_EACH (const struct str, d, &include_dirs) {
		bool here = fs_is_dir(path_join(a, dir, *d)) || !fs_is_dir(*d);
		strs_add(a, &o->include_dirs, here ? *d : path_abs(a, *d));
	}
	hipify_options_inherit(o, &described);
	TRY(choose_mode(h, o));
	if (o->mode != HIPIFY_TORCH)
		TRY(find_sources(a, h, o));
	bool named = o->mode == HIPIFY_EXTENSION && o->sources.n;
	hipify_options_complete(a, o);
	if (named && !o->sources.n)
		return err_new(E_USAGE, "every SOURCE is excluded");
	return NULL;
}

struct err *hipify_translate(struct hipify_job *job)
{
	struct hipify_args *h = job->args;
	CLEANUP(fd_closep) int lock = -1;
	struct hipify_tree t = {0};
	/* a build compiles from the default overlay, so no translation may run at the same time */
	if (job->build.n && !fs_writes_forbidden()) {
		TRY(build_folder_take(job->a, job->build, path_abs(job->a, job->o.dir)));
		TRY(progress_lock(path_join(job->a, job->build, S("lock")), &lock, "builds '%.*s'",
			STR(job->o.dir)));
	}
	job->o.want_untranslated = h->common.json || h->check || out_verbosity() > 0;
	struct err *e = hipify_run(job->a, &job->o, &t);
	if (!e && !(e = hipify_show(job, &t)))
		e = hipify_failures(job->a, &t);
	if (!e && h->check && hipify_count(&t, CHANGE_OK))
		h->common.status = 1;
	hipify_tree_free(&t);
	return e;
}

struct err *cmd_hipify(struct arena *a, void *args)
{
	struct hipify_args *h = args;
	struct hipify_job job;
	struct hipify_options *o = &job.o;
	TRY(hipify_resolve(a, h, h->o.dir, &job));
	o->look_only = h->diff || h->check;
	bool nowhere = !o->in_place && !o->out.n && !o->look_only;
	if (!fs_is_dir(o->dir)) {
		strs_add(a, &o->only, path_base(o->dir));
		o->dir = path_dir(o->dir);
		o->keep = true;
		if (nowhere)
			return err_hint(err_new(E_USAGE, "no output folder is given"),
				"give -o OUT for a file, or --diff or --check to look only");
	} else if (nowhere) {
		o->out = hipify_overlay(a, o->dir, &job.build);
	}
	return hipify_translate(&job);
}
