/* Runs a foreign build from its folders to its result; see foreign.h. */
#include "foreign/foreign.h"

#include <stdlib.h>
#include <time.h>

#include "base/fs_stage.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/progress.h"
#include "cache/cache.h"
#include "foreign/foreign_int.h"
#include "hipify/hipify.h"
#include "lang/python/requirement.h"
#include "recipe/queue.h"
#include "recipe/recipe.h"

enum { MAX_STATE = 1 << 20, MAX_LIST = 64 << 20, SHA1_DIGITS = 40 };

/* ---- folders ---- */

/* Writes log/environment, for running steps by hand. It omits variables with the same value as in the user's own
 * environment, which may be secrets, and names that a shell cannot assign (exported functions of bash). */
static struct err *save_environment(struct foreign *f)
{
	struct str name, value;
	BUF(b, f->a);
	buf_fmt(&b, "# what programs of this build see, besides your own environment\n");
	VEC_EACH (const struct str, line, &f->env) {
		bool plain = str_cut(*line, '=', &name, &value);
		const char *own = getenv(str_z(f->a, name));
		if (own && str_eq(value, str_from(own)))
			continue;
		if (!plain || !str_made_of(name, "_"))
			continue;
		buf_fmt(&b, "export %.*s=%.*s\n", STR(name), STR(str_shell(f->a, value)));
	}
	return fs_write(
		path_join(f->a, f->log, S("environment")), buf_str(&b), 0600 | FS_IF_CHANGED);
}

/* A build for another environment, or for none, would remove the modules of this one. */
static struct err *meet_environment(struct foreign *f)
{
	struct str path = path_join(f->a, f->state, S("editable")), old;
	TRY(fs_read_opt(f->a, path, MAX_STATE, &old));
	if (old.n && !str_eq(old, f->editable) && fs_is_dir(old))
		return err_hint(err_new(E_USAGE,
					"modules in '%.*s' are in use: an editable build installed "
					"them into '%.*s'",
					STR(f->dir), STR(old)),
			"name another folder with --build-dir, or uninstall them and remove it");
	return f->editable.n ? fs_write(path, f->editable, 0644 | FS_IF_CHANGED) : NULL;
}

struct err *foreign_open(struct foreign *f)
{
	const struct {
		struct str *path;
		const char *name;
		bool make;
	} folders[] = {{&f->tree, "tree", false}, {&f->venv, "venv", false},
		{&f->rocm, "rocm", false}, {&f->cmake, "cmake", false}, {&f->dist, "dist", true},
		{&f->log, "log", true}, {&f->home, "home", true}, {&f->tmp, "tmp", true},
		{&f->state, "state", true}};
	if (str_starts(f->dir, str_fmt(f->a, "%.*s/", STR(f->plan->project))))
		return err_hint(err_new(E_USAGE,
					"the build folder '%.*s' lies in the project, which is "
					"copied into it",
					STR(f->dir)),
			"name another one with --build-dir, or leave the option out");
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		*folders[i].path = path_join(f->a, f->dir, str_from(folders[i].name));
		if (folders[i].make)
			TRY(fs_mkdirs(*folders[i].path));
	}
	TRY(meet_environment(f));
	foreign_steps(f);
	TRY(foreign_environment(f));
	struct foreign_recipes *r = f->recipes = NEW(f->a, struct foreign_recipes);
	r->request = (struct recipe_request){.tree = f->plan->project, .at = f->tree};
	r->request.facts.gpus = f->plan->gpus;
	sdk_recipe_facts(f->a, f->sdk, &r->request.facts);
	r->request.facts.sdk = f->rocm; /* the build sees the SDK there */
	r->request.facts.sdk_at = S("");
	if (!f->plan->host_native) { /* the build uses the SDK's headers and programs */
		r->request.facts.sysroot = f->sdk->root;
		strs_add(f->a, &r->request.facts.path, path_join(f->a, f->rocm, S("bin")));
	}
	TRY(recipes_load(f->a, NULL, &r->all));
	r->queue = (struct queue){.tree = f->plan->project, .dir = f->patches};
	if (f->patches.n)
		TRY(queue_open(f->a, &r->queue));
	TRY(foreign_key(f));
	TRY(save_environment(f));
	if (f->dropped.n)
		progress_note(S("Dropped"), "from the environment: %.*s",
			STR(str_join(f->a, &f->dropped, S(", "))));
	if (f->withheld.n)
		progress_note(S("Withheld"), "from the build, as possible secrets: %.*s",
			STR(str_join(f->a, &f->withheld, S(", "))));
	return NULL;
}

/* ---- the copy of an earlier build ---- */

/* Does the path lie in the build folder after all links are resolved? A project may contain links. */
static bool is_inside(const struct foreign *f, struct str path)
{
	struct str real, top;
	return fs_real(f->a, path, &real) && fs_real(f->a, f->dir, &top) &&
	       str_starts(real, str_fmt(f->a, "%.*s/", STR(top)));
}

/* Removes CMake's cache, and the files it installed into the copy, so that a library that is no longer built cannot get
 * into the wheel. Objects stay: ninja records the command and the inputs of each, and rebuilds those that the new
 * settings affect. */
static struct err *configure_anew(struct foreign *f, struct str dir)
{
	static const char *const files[] = {
		"CMakeCache.txt", "build.ninja", "install_manifest.txt"};
	struct str list, line, parts = path_join(f->a, dir, S("CMakeFiles"));
	struct str inside = str_fmt(f->a, "%.*s/", STR(f->tree));
	struct strs names = {0};
	TRY(fs_read_opt(f->a, path_join(f->a, dir, str_from(files[2])), MAX_LIST, &list));
	while (str_next(&list, '\n', &line))
		if (str_starts(line, inside) && is_inside(f, path_dir(line)))
			TRY(fs_remove(line));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		TRY(fs_remove(path_join(f->a, dir, str_from(files[i]))));
	TRY(fs_list(f->a, parts, &names));
	VEC_EACH (const struct str, name, &names) /* "4.1.2": its checks of the compilers */
		if (ascii_digit(name->p[0]))
			TRY(fs_remove_tree(path_join(f->a, parts, *name)));
	names.n = 0;
	if (f->plan->foreign->system != SOURCE_CMAKE)
		TRY(fs_list(f->a, dir, &names));
	VEC_EACH (const struct str, name, &names) /* setuptools' copies of the wheel's files */
		if (str_starts(*name, S("lib.")) || str_starts(*name, S("bdist.")))
			TRY(fs_remove_tree(path_join(f->a, dir, *name)));
	return NULL;
}

/* Compares settings and tools with those of the last build, each by its receipt. If they differ, the objects in the
 * copy may be out of date. After a change of settings alone, CMake and ninja can find out which, if CMake has
 * configured a folder for ninja; otherwise the copy is removed. */
static struct err *meet_last_build(struct foreign *f)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct str settings = path_join(f->a, f->state, S("settings")), made = {0}, what;
	struct str tools = path_join(f->a, f->state, S("tools"));
	struct str gpus = path_join(f->a, f->state, S("gpus"));
	struct str dir = how->cmake.n ? path_join(f->a, f->tree, how->cmake) : S("");
	bool first = !fs_exists(settings), same_settings, same_tools, same_gpus;
	/* ninja does not notice a change in the compilers or in how the shims run them. The first word of this file
	 * identifies both; it does not change with other parts of rocsmith. */
	err_free(fs_read_opt(f->a, cc_file(f->a, f->rocm, "made"), MAX_STATE, &made));
	made = str_sub(made, 0, str_chr(made, ' '));
	TRY(fs_receipt_check(tools, made, &same_tools));
	TRY(fs_receipt_check(settings, f->key, &same_settings));
	/* nor that nvcc, which has written its texts there, compiles for other GPUs */
	struct str now = str_join(f->a, &f->plan->gpus, S(";"));
	TRY(fs_receipt_check(gpus, now, &same_gpus));
	same_tools &= same_gpus || !fs_is_dir(cc_file(f->a, f->rocm, "cuda"));
	if (same_settings && same_tools)
		return NULL;
	if (how->system == SOURCE_CMAKE)
		dir = f->cmake;
	bool keeps = same_tools && dir.n && fs_exists(path_join(f->a, dir, S(".ninja_log"))) &&
		     is_inside(f, dir) && is_inside(f, path_join(f->a, dir, S("CMakeFiles")));
	TRY(foreign_changed(f, &what));
	if (!same_tools)
		what = S("tools of the build");
	if (!first)
		progress_note(S("Changed"), "%.*s: '%.*s' is configured anew%s",
			STR(what.n ? what : S("settings of the build")), STR(f->plan->name),
			keeps ? ", and built where that matters" : "");
	f->changed = true;
	TRY(fs_remove(path_join(f->a, f->state, S("done"))));
	if (keeps) {
		TRY(configure_anew(f, dir));
	} else {
		TRY(fs_remove_tree(f->tree));
		TRY(fs_remove_tree(f->cmake));
	}
	TRY(fs_write(tools, made, 0644));
	TRY(fs_write(
		path_join(f->a, f->state, S("inputs")), str_join(f->a, &f->inputs, S("\n")), 0644));
	TRY(fs_write(gpus, now, 0644));
	return fs_write(settings, f->key, 0644);
}

/* ---- the copy ---- */

/* Changes the copy, unless it is as the project and the recipes want it, and adds the variables that the recipes set to
 * f->env. The project's own folder is not changed, and a resumed build sees no difference. PyTorch's own sources are
 * also translated, on top of the recipes' changes; PyTorch's tools/amd_build/build_amd.py does the same in place. */
static struct err *update_copy(struct foreign *f, struct session *s, struct change_set *set)
{
	struct foreign_recipes *r = f->recipes;
	struct recipe_report patches;
	MAP(texts, f->a); /* the texts of earlier layers, which the next one finds */
	bool current = false;
	/* the least of a repository: a detached HEAD, and the folders without which git knows it for none */
	static const char *const git_files[] = {
		".git/HEAD", ".git/objects/info/alternates", ".git/refs/heads/.keep", NULL};
	struct str report, commit = S("");
	struct change_set known = {0};
	STRS_ADD(f->a, &s->view.hidden, f->dir, f->out);
	s->view.over = r->queue.texts = &texts;
	TRY(queue_changes(f->a, &r->queue, false, &s->view, set));
	struct err *failed = recipes_changes(f->a, &r->all, &r->request, &s->view, &patches);
	s->view.over = NULL;
	TRY_CTX(failed, "cannot try the recipes on '%.*s'", STR(f->plan->project));
	for (unsigned cmake = 0; cmake < 2; cmake++) {
		struct strs lines = recipe_environment(f->a, &patches, &f->env, cmake);
		VEC_EACH (const struct str, line, &lines)
			foreign_set_line(f, *line);
	}
	VEC_EACH (const struct recipe_entry, e, &patches.recipes)
		if (e->state == RECIPE_APPLIED || e->state == RECIPE_BUILD)
			strs_add(f->a, &f->patched, e->id);
	if (f->patched.n)
		progress_note(S("Patched"), "by recipes: %.*s",
			STR(str_join(f->a, &f->patched, S(", "))));
	if (r->queue.patches.n) {
		progress_note(S("Patched"), "by %.*s of '%.*s'",
			STR(human_count(f->a, r->queue.patches.n, "patch file")), STR(f->patches));
		strs_fmt(f->a, &f->patched, "queue %.*s %.*s", STR(r->queue.patchset),
			STR(r->queue.hash));
	}
	VEC_EACH (const struct change, c, &patches.changes) /* later ones win */
		*VEC_PUSH(f->a, set) = *c;
	VEC_EACH (const struct plan_file, file, &f->plan->foreign->files)
		*VEC_PUSH(f->a, set) = (struct change){
			.source = file->path, .output = file->path, .text = file->text};
	/* setup scripts ask "git rev-parse HEAD" for the commit that they write into the result */
	if (!s->request->history)
		TRY(source_commit(f->a, f->plan->project, &commit));
	for (size_t i = 0; commit.n == SHA1_DIGITS && git_files[i]; i++)
		*VEC_PUSH(f->a, set) = (struct change){.source = str_from(git_files[i]),
			.output = str_from(git_files[i]),
			.text = i ? S("\n") : str_fmt(f->a, "%.*s\n", STR(commit))};
	TRY(session_current(s, &known, &report, &current));
	if (current)
		return NULL;
	f->changed = true;
	/* torch's own hipify translates an extension in the copy; it leaves these marks as they are */
	bool tree_of_torch = f->plan->hipify.mode == HIPIFY_TORCH, marks = f->plan->foreign->torch;
	if (tree_of_torch || marks) {
		struct hipify_tree tree;
		struct view patched = s->view;
		VEC_EACH (struct change, c, set)
			if (c->text.p)
				map_put(&texts, path_join(f->a, patched.root, c->output), &c->text);
		patched.over = &texts;
		struct hipify_options o =
			tree_of_torch ? f->plan->hipify : (struct hipify_options){.marks = true};
		o.dir = f->plan->project;
		o.jobs = f->jobs;
		hipify_options_complete(f->a, &o);
		failed = hipify_changes(f->a, &o, &patched, &tree);
		VEC_EACH (const struct finding, fi, &tree.findings)
			if (!tree_of_torch)
				*VEC_PUSH(f->a, &f->findings) = *fi;
		VEC_EACH (struct change, c, &tree.changes) {
			if (!tree_of_torch && c->status != CHANGE_OK)
				continue;
			*VEC_PUSH(f->a, set) = *c;
			if (c->text.p)
				map_put(&texts, path_join(f->a, patched.root, c->output), &c->text);
		}
		TRY(failed);
		TRY(queue_changes(f->a, &r->queue, true, &patched, set));
		s->view.hidden = patched.hidden; /* files that patches remove are not copied */
	}
	TRY(session_apply(s, set, S("")));
	return change_set_failure(set, "copy");
}

struct err *foreign_copy(struct foreign *f)
{
	/* some build requirements read the version from git's history, which is large: other builds get no copy of it */
	static const char *const readers[] = {"setuptools-scm", "hatch-vcs", "versioneer",
		"setuptools-git-versioning", "pdm-backend", "poetry-dynamic-versioning", "pbr",
		"versioningit", "setuptools-git", "dunamai", "flit-scm", NULL};
	bool history = fs_exists(path_join(f->a, f->plan->project, S("versioneer.py")));
	VEC_EACH (const struct str, r, &f->plan->foreign->requires)
		history = history || str_is_one_of(requirement_name(f->a, *r), readers);
	struct job_report *step = foreign_step(f, "copy");
	double start = mono_now();
	struct session s;
	struct change_set set = {0};
	const struct change_request q = {.dir = f->plan->project,
		.out = f->tree,
		.copies = true,
		.worked_in = true, /* setuptools rewrites the SOURCES.txt of an sdist */
		.history = history,
		.earlier = EARLIER_GO,
		.identity = f->key, /* with other recipes the same sources give another copy */
		.failure = E_IO,
		.jobs = f->jobs};
	TRY(meet_last_build(f));
	struct err *e = session_open(f->a, &q, &s);
	if (!e)
		e = update_copy(f, &s, &set);
	session_close(&s);
	change_set_free(&set);
	TRY_CTX(e, "cannot copy '%.*s' into the build folder", STR(f->plan->project));
	step->start = start - f->began;
	step->cost.seconds = mono_now() - start;
	step->cached = !f->changed;
	step->done = true;
	return NULL;
}

/* ---- the build ---- */

struct err *foreign_build(struct foreign *f)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct str done = path_join(f->a, f->state, S("done")), key, result = {0};
	CLEANUP(cache_reclaimp) struct cache_lent *lent = NULL;
	if (how->torch_as_rocm) { /* nothing in the result shows this */
		struct finding *fi = finding_note(f->a, &f->findings, "torch-as-rocm",
			f->plan->project,
			"built against a torch that counts as one for ROCm (--torch-as-rocm)");
		finding_fix(f->a, fi,
			"what was built works with a torch for ROCm of the same version only");
	}
	/* the result of the last build, if nothing has changed since */
	if (!foreign_is_part(f) && !f->changed)
		TRY(fs_read_opt(f->a, done, MAX_STATE, &result));
	str_cut(result, '\n', &key, &result);
	result = str_trim(result);
	if (result.n && str_eq(key, f->key) && fs_exists(result)) {
		f->result = result;
		for (size_t i = 0; f->steps[i].kind.n; i++)
			f->steps[i].cached = f->steps[i].done = true;
		return foreign_packages(f);
	}
	TRY(fs_remove(done));
	bool cmake = how->system == SOURCE_CMAKE;
	if (f->cache)
		TRY(cache_lend(f->cache, f->state, &lent));
	f->since = (double)time(NULL);
	struct err *e = cmake ? foreign_cmake(f) : foreign_venv(f);
	if (!e && !cmake && how->torch)
		e = foreign_torch(f);
	if (!e && !cmake)
		e = foreign_python(f);
	err_free(foreign_packages(f)); /* after a failure too: some may be installed */
	TRY(e);
	TRY(foreign_differences(f));
	if (foreign_is_part(f) || findings_worst(&f->findings) == SEV_ERROR)
		return NULL;
	return fs_write(done, str_fmt(f->a, "%.*s\n%.*s\n", STR(f->key), STR(f->result)), 0644);
}
