/* Builds a Python project by running its own back end in our environment (PEP 517, without pip's build isolation). */
#include "base/fs.h"
#include "base/vec.h"
#include "foreign/foreign_int.h"
#include "formats/node.h"

/* Arguments of driver.py: the command, then the back end. */
static struct strs backend_words(struct foreign *f, const char *what)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct strs words = {0};
	strs_add(f->a, &words, str_from(what));
	strs_add(f->a, &words, str_fmt(f->a, "backend=%.*s", STR(how->backend)));
	VEC_EACH (const struct str, dir, &how->backend_path)
		strs_add(f->a, &words, str_fmt(f->a, "path=%.*s", STR(*dir)));
	VEC_EACH (const struct str, option, &how->options)
		strs_add(f->a, &words, str_fmt(f->a, "setting=%.*s", STR(*option)));
	return words;
}

/* Installs what the back end itself requires: CMake for scikit-build-core, ninja for meson-python. */
static struct err *install_requirements(struct foreign *f)
{
	const struct node *answer;
	struct strs words = backend_words(f, "requires"), more = {0}, wanted = {0};
	TRY(foreign_drive(f, "configure", &words, &answer));
	TRY(node_want_strs(f->a, answer, S("requires"), &more));
	VEC_EACH (const struct str, r, &more)
		if (!strs_has(&f->plan->foreign->requires, *r))
			strs_add(f->a, &wanted, *r);
	TRY(foreign_install(f, &wanted));
	foreign_step(f, "configure")->done = true;
	return NULL;
}

/* Runs a setup script that can configure without building. This shows early if ROCm is switched off, and lets us build
 * single targets with CMake. */
static struct err *configure_cmake(struct foreign *f)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct proc p = {.cwd = f->tree};
	struct proc_result r;
	struct str dir = path_join(f->a, f->tree, how->cmake);
	strs_add(f->a, &p.argv, path_join(f->a, f->venv, S("bin/python")));
	strs_add_all(f->a, &p.argv, &how->configure);
	if (!fs_exists(path_join(f->a, dir, S("build.ninja")))) {
		TRY(foreign_run(f, "configure", &p, &r));
		TRY(foreign_check_cmake(f, dir, r.out));
	}
	/* ninja stops at the first error when the script calls it */
	return foreign_is_part(f) || f->keep_going ? foreign_cmake_build(f, dir) : NULL;
}

static void say_loads(struct foreign *f, const struct node *list, const char *id,
	enum severity severity, const char *what)
{
	NODE_EACH (n, list) {
		struct finding *fi = finding_add(
			f->a, &f->findings, id, severity, node_text(n, S("file"), S("")));
		finding_say(f->a, fi, "%s: %.*s", what, STR(node_text(n, S("why"), S(""))));
	}
}

/* Imports the result, since a shared library that links may still lack a symbol. */
static struct err *load_result(struct foreign *f)
{
	struct strs words = {0};
	const struct node *answer;
	struct str folder = path_join(f->a, f->tmp, S("load"));
	if (f->plan->foreign->torch_as_rocm)
		return NULL;
	TRY(fs_remove_tree(folder)); /* a killed run may have left one */
	TRY(fs_mkdirs(folder));
	strs_add(f->a, &words, S("load"));
	strs_add(f->a, &words, str_fmt(f->a, "wheel=%.*s", STR(f->result)));
	strs_add(f->a, &words, str_fmt(f->a, "folder=%.*s", STR(folder)));
	TRY(foreign_drive(f, "load", &words, &answer));
	const struct node *failed = node_get(answer, S("failed"));
	const struct node *untried = node_get(answer, S("untried"));
	if (failed)
		say_loads(f, failed, "load-failed", SEV_ERROR, "cannot be loaded");
	if (untried)
		say_loads(f, untried, "load-untried", SEV_INFO, "loading it was not tried");
	foreign_step(f, "load")->done = true;
	return fs_remove_tree(folder);
}

struct err *foreign_python(struct foreign *f)
{
	const struct node *answer;
	const struct plan_foreign *how = f->plan->foreign;
	struct str name = S("");
	bool apart = how->configure.n && how->cmake.n;
	if (foreign_is_part(f) && !apart)
		return err_hint(err_new(E_USAGE, "'%.*s' is built as a whole: it has no targets",
					STR(f->plan->name)),
			"--target is for CMake projects, and for PyTorch");
	TRY(install_requirements(f));
	if (apart)
		TRY(configure_cmake(f));
	if (foreign_is_part(f))
		return NULL;
	struct strs words = backend_words(f, "wheel");
	TRY(fs_remove_tree(f->dist));
	TRY(fs_mkdirs(f->dist));
	strs_add(f->a, &words, str_fmt(f->a, "out=%.*s", STR(f->dist)));
	TRY(foreign_drive(f, "wheel", &words, &answer));
	TRY(node_want_text(answer, S("wheel"), &name));
	f->result = path_join(f->a, f->dist, path_base(name));
	if (!str_ends(name, S(".whl")) || !fs_is_file(f->result))
		return err_new(E_FOREIGN,
			"the back end '%.*s' says that it made '%.*s', but did not",
			STR(f->plan->foreign->backend), STR(name));
	foreign_step(f, "wheel")->done = true;
	return load_result(f);
}
