/* A foreign build from folders to result; see foreign.h. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "cc/cc.h"
#include "foreign/foreign_int.h"
#include "formats/json_fields.h"
#include "hipify/hipify.h"

enum { MAX_STATE = 1 << 20, MAX_LIST = 64 << 20 };

/* ---- folders ---- */

/* Everything but the project's own files. How many jobs run at a time decides nothing. */
static struct str key_of(struct foreign *f)
{
	static const char *const not_of_key[] = {"MAX_JOBS=", "CMAKE_BUILD_PARALLEL_LEVEL=",
		"TERM=", "COLUMNS=", "LINES=", "ROCSMITH_", NULL}; /* our own: the plan says them */
	struct plan plan = *f->plan;
	struct plan_foreign foreign = *f->plan->foreign;
	BUF(b, f->a);
	buf_fmt(&b, "foreign build 2\n%.*s\n", STR(f->sdk->fingerprint));
	plan.reasons.n = 0;
	plan.features.n = 0;                        /* the environment says them */
	plan.sdk.mirror = plan.sdk.keyring = S(""); /* the fingerprint says what came from there */
	plan.foreign = &foreign;
	foreign.precompile.n = 0; /* objects are the same */
	buf_add(&b, json_document(f->a, 0, plan_fields, &plan));
	VEC_EACH (const struct str, e, &f->env) {
		bool counts = true;
		for (size_t i = 0; not_of_key[i]; i++)
			counts = counts && !str_starts(*e, str_from(not_of_key[i]));
		if (counts)
			buf_fmt(&b, "%.*s\n", STR(*e));
	}
	VEC_EACH (const struct str, w, &f->plan->foreign->with)
		buf_fmt(&b, "%.*s\n", STR(fs_state(f->a, *w)));
	return sha256_hex(f->a, buf_str(&b));
}

static struct err *check_place(const struct foreign *f)
{
	struct str inside = str_fmt(f->a, "%.*s/", STR(f->plan->project));
	if (!str_starts(f->dir, inside))
		return NULL;
	return err_hint(err_new(E_USAGE,
				"the build folder '%.*s' lies in the project, which is copied "
				"into it",
				STR(f->dir)),
		"name another one with --build-dir, or leave the option out");
}

/* What is the user's own, unchanged, stays out of the file: it may be a secret. So do names that a shell
 * has no word for (functions of bash's). */
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
		for (size_t i = 0; i < name.n; i++)
			plain = plain && (ascii_alnum(name.p[i]) || name.p[i] == '_');
		if (!plain)
			continue;
		buf_fmt(&b, "export %.*s=%.*s\n", STR(name), STR(str_shell(f->a, value)));
	}
	return fs_write_if_changed(path_join(f->a, f->log, S("environment")), buf_str(&b), 0600);
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
	struct str recipes;
	TRY(check_place(f));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		*folders[i].path = path_join(f->a, f->dir, str_from(folders[i].name));
		if (folders[i].make)
			TRY(fs_mkdirs(*folders[i].path));
	}
	foreign_steps(f);
	TRY(foreign_environment(f));
	TRY(foreign_recipes(f, &recipes));
	f->key = sha256_hex(f->a, str_fmt(f->a, "%.*s\n%.*s", STR(key_of(f)), STR(recipes)));
	TRY(save_environment(f));
	if (f->dropped.n)
		progress_note(S("Dropped"), "from the environment: %.*s",
			STR(str_join(f->a, &f->dropped, S(", "))));
	return NULL;
}

/* ---- the copy ---- */

/* What ninja knows nothing of: the compilers, and how they are run. Which rocsmith does so is nothing
 * to objects: the first word of "made" is the same for all that run compilers alike. */
static struct str tools_of(struct foreign *f)
{
	struct str made = {0};
	err_free(fs_read_opt(f->a, cc_file(f->a, f->rocm, "made"), MAX_STATE, &made));
	return str_sub(made, 0, str_chr(made, ' '));
}

/* In the build folder, as the links have it: a project may bring some. */
static bool is_inside(const struct foreign *f, struct str path)
{
	struct str real, top;
	return fs_real(f->a, path, &real) && fs_real(f->a, f->dir, &top) &&
	       str_starts(real, str_fmt(f->a, "%.*s/", STR(top)));
}

/* Where CMake has configured for ninja, "" when nothing of that is worth keeping. */
static struct str configured(const struct foreign *f)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct str dir = how->system == SOURCE_CMAKE ? f->cmake
			 : how->cmake.n              ? path_join(f->a, f->tree, how->cmake)
						     : S("");
	bool kept = dir.n && fs_exists(path_join(f->a, dir, S(".ninja_log")));
	return kept && is_inside(f, dir) && is_inside(f, path_join(f->a, dir, S("CMakeFiles")))
		       ? dir
		       : S("");
}

/* What CMake remembers goes, and what was installed into the copy: a library that is made no longer must
 * not get into the wheel. Objects stay: ninja knows the command of each and what it read, so it makes
 * those anew that other settings touch. */
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
	VEC_EACH (const struct str, name, &names) /* "4.1.2": what it knows of the compilers */
		if (ascii_digit(name->p[0]))
			TRY(fs_remove_tree(path_join(f->a, parts, *name)));
	names.n = 0;
	if (f->plan->foreign->system != SOURCE_CMAKE)
		TRY(fs_list(f->a, dir, &names));
	VEC_EACH (
		const struct str, name, &names) /* setuptools' copies of what goes into the wheel */
		if (str_starts(*name, S("lib.")) || str_starts(*name, S("bdist.")))
			TRY(fs_remove_tree(path_join(f->a, dir, *name)));
	return NULL;
}

/* With other settings or tools the copy begins anew: what was built in it is not for them. */
static struct err *begin_anew(struct foreign *f)
{
	struct str at = path_join(f->a, f->state, S("settings")), tools = tools_of(f), old, key;
	TRY(fs_read_opt(f->a, at, MAX_STATE, &old));
	bool known = str_cut(old, '\n', &key, &old);
	if (known && str_eq(key, f->key) && str_eq(old, tools))
		return NULL;
	struct str dir = known && str_eq(old, tools) ? configured(f) : S("");
	if (key.n)
		progress_note(S("Changed"), "%s: '%.*s' is configured anew%s",
			known && !str_eq(old, tools) ? "tools of the build"
						     : "settings of the build",
			STR(f->plan->name), dir.n ? ", and built where that matters" : "");
	f->changed = true;
	TRY(fs_remove(path_join(f->a, f->state, S("done"))));
	if (dir.n) {
		TRY(configure_anew(f, dir));
	} else {
		TRY(fs_remove_tree(f->tree));
		TRY(fs_remove_tree(f->cmake));
	}
	return fs_write(at, str_fmt(f->a, "%.*s\n%.*s", STR(f->key), STR(tools)), 0644);
}

static struct err *first_failure(struct change_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->v[i].status != CHANGE_FAILED)
			continue;
		struct err *e = set->v[i].error;
		set->v[i].error = NULL;
		return err_wrap(e, "cannot copy '%.*s'", STR(set->v[i].source));
	}
	return NULL;
}

static struct err *update(struct foreign *f, struct session *s, struct change_set *set)
{
	bool current = false;
	struct str report;
	struct change_set known = {0};
	strs_add(f->a, &s->view.hidden, f->dir);
	strs_add(f->a, &s->view.hidden, f->out);
	TRY(foreign_patch(f, &s->view, set));
	TRY(session_current(s, &known, &report, &current));
	if (current)
		return NULL;
	f->changed = true;
	TRY(foreign_translate(f, &s->view, set));
	TRY(session_apply(s, set, S("")));
	return first_failure(set);
}

/* Some requirements read the project's version from its history; nobody else gets it, large as it is. */
static bool wants_history(const struct foreign *f)
{
	static const char *const readers[] = {"setuptools-scm", "hatch-vcs", "versioneer",
		"setuptools-git-versioning", "pdm-backend", "poetry-dynamic-versioning", "pbr",
		"versioningit", "setuptools-git", "dunamai", "flit-scm", NULL};
	VEC_EACH (const struct str, r, &f->plan->foreign->requires)
		if (str_is_one_of(foreign_package_name(f->a, *r), readers))
			return true;
	return fs_exists(path_join(f->a, f->plan->project, S("versioneer.py")));
}

static struct err *copy_tree(struct foreign *f)
{
	struct session s;
	struct change_set set = {0};
	const struct change_request q = {.dir = f->plan->project,
		.out = f->tree,
		.copies = true,
		.worked_in = true, /* setuptools writes SOURCES.txt of an sdist anew */
		.history = wants_history(f),
		.earlier = EARLIER_GO,
		.identity = f->key, /* other recipes make another copy of the same sources */
		.failure = E_IO,
		.jobs = f->jobs};
	struct err *e = session_open(f->a, &q, &s);
	if (!e)
		e = update(f, &s, &set);
	session_close(&s);
	change_set_free(&set);
	return e;
}

struct err *foreign_copy(struct foreign *f)
{
	struct job_report *step = foreign_step(f, "copy");
	double start = mono_now();
	TRY(begin_anew(f));
	TRY_CTX(copy_tree(f), "cannot copy '%.*s' into the build folder", STR(f->plan->project));
	step->start = start - f->began;
	step->seconds = mono_now() - start;
	step->cached = !f->changed;
	step->done = true;
	return NULL;
}

/* ---- the build ---- */

/* What the last build made, when nothing has changed since; "" otherwise. */
static struct err *last_result(struct foreign *f, struct str done, struct str *ret)
{
	struct str text, key;
	*ret = S("");
	TRY(fs_read_opt(f->a, done, MAX_STATE, &text));
	if (!text.p || f->changed)
		return NULL;
	str_cut(text, '\n', &key, &text);
	if (str_eq(key, f->key) && fs_exists(str_trim(text)))
		*ret = str_trim(text);
	return NULL;
}

static struct err *all_steps(struct foreign *f)
{
	if (f->plan->foreign->system == SOURCE_CMAKE)
		return foreign_cmake(f);
	TRY(foreign_venv(f));
	if (f->plan->foreign->torch)
		TRY(foreign_torch(f));
	return foreign_python(f);
}

/* What the result will not tell by itself. */
static void report(struct foreign *f)
{
	if (!f->plan->foreign->torch_as_rocm)
		return;
	struct finding *fi =
		finding_add(f->a, &f->findings, "torch-as-rocm", SEV_WARNING, f->plan->project);
	finding_say(
		f->a, fi, "built against a torch that counts as one for ROCm (--torch-as-rocm)");
	finding_fix(
		f->a, fi, "what was built works with a torch for ROCm of the same version only");
}

struct err *foreign_build(struct foreign *f)
{
	struct str done = path_join(f->a, f->state, S("done"));
	report(f);
	if (!foreign_is_part(f))
		TRY(last_result(f, done, &f->result));
	if (f->result.n) {
		for (size_t i = 0; f->steps[i].kind.n; i++)
			f->steps[i].cached = f->steps[i].done = true;
		return foreign_packages(f);
	}
	TRY(fs_remove(done));
	struct err *e = all_steps(f);
	err_free(foreign_packages(f)); /* also of a build that failed, as far as there are */
	TRY(e);
	if (foreign_is_part(f) || findings_worst(&f->findings) == SEV_ERROR)
		return NULL;
	return fs_write(done, str_fmt(f->a, "%.*s\n%.*s\n", STR(f->key), STR(f->result)), 0644);
}
