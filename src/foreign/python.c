/* Builds a Python project by running its own back end in our environment (PEP 517, without pip's build isolation). */
#include "base/fs.h"
#include "base/glob.h"
#include "base/vec.h"
#include "foreign/foreign_int.h"
#include "formats/node.h"

enum { MAX_PREBUILT = 64 << 20 };

/* Arguments of driver.py: the command, then the back end. */
static struct strs backend_words(struct foreign *f, const char *what)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct strs words = {0};
	strs_add(f->a, &words, str_from(what));
	foreign_word(f, &words, "backend", how->backend);
	VEC_EACH (const struct str, dir, &how->backend_path)
		foreign_word(f, &words, "path", *dir);
	VEC_EACH (const struct str, option, &how->options)
		foreign_word(f, &words, "setting", *option);
	for (size_t i = 0; how->torch && i < f->plan->gpus.n; i++)
		foreign_word(f, &words, "gpu", f->plan->gpus.v[i]);
	return words;
}

/* Tells of an object or library among the project's sources that names this function of CUDA: it was compiled for CUDA before it was
 * packed, and no compiler of the build can change that. */
static void name_prebuilt(const struct foreign *f, struct str symbol, struct finding *fi)
{
	static const char *const names[] = {"cuda[A-Z]*", "__cuda*", "cu[A-Z]*", "cublas[A-Z]*",
		"cudnn[A-Z]*", "cufft[A-Z]*", "curand[A-Z]*", "cusolver[A-Z]*", "cusparse[A-Z]*",
		"nvrtc[A-Z]*", NULL};
	static const char *const kinds[] = {"**/*.a", "**/*.o", "**/*.so"};
	struct strs files = {0}, some;
	if (!glob_match_any(names, symbol))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct err *e = glob_files(f->a, f->plan->project, str_from(kinds[i]), &some);
		if (!e)
			strs_add_all(f->a, &files, &some);
		err_free(e);
	}
	VEC_EACH (const struct str, file, &files) {
		ARENA(tmp);
		struct str bytes = S(""), path = path_join(&tmp, f->plan->project, *file);
		err_free(fs_read_opt(&tmp, path, MAX_PREBUILT, &bytes));
		if (!str_contains(bytes, str_fmt(&tmp, "%.*s%c", STR(symbol), 0)))
			continue;
		finding_fix(f->a, fi,
			"'%.*s' of the sources was compiled for CUDA before it was packed, and "
			"names '%.*s': build it from its own sources, or ask the authors for them",
			STR(*file), STR(symbol));
		return;
	}
}

/* Loads the result's modules, or the libraries that an editable build made, since a shared library that links may still lack a symbol. */
static struct err *load_result(struct foreign *f, const struct strs *libraries)
{
	static const struct {
		const char *list, *id, *text;
	} kinds[] = {{"failed", "load-failed", "cannot be loaded"},
		{"untried", "load-untried", "loading it was not tried"}};
	struct strs words = {0};
	const struct node *answer;
	struct str folder = path_join(f->a, f->tmp, S("load"));
	if (f->plan->foreign->torch_as_rocm)
		return NULL;
	TRY(fs_remove_tree(folder)); /* a killed run may have left one */
	TRY(fs_mkdirs(folder));
	strs_add(f->a, &words, S("load"));
	foreign_word(f, &words, "wheel", f->result);
	foreign_word(f, &words, "folder", folder);
	VEC_EACH (const struct str, library, libraries)
		foreign_word(f, &words, "library", *library);
	TRY(foreign_drive(f, "load", &words, &answer));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct node *list = node_get(answer, str_from(kinds[i].list));
		for (size_t k = 0; list && k < list->n; k++) {
			const struct str lacks = S("undefined symbol: ");
			struct str why = node_text(&list->v[k], S("why"), S(""));
			size_t at = str_find(why, lacks) + lacks.n;
			struct finding *fi = finding_note(f->a, &f->findings, kinds[i].id,
				node_text(&list->v[k], S("file"), S("")), "%s: %.*s", kinds[i].text,
				STR(why));
			struct str symbol = str_sub(why, at, why.n); /* "NAME, version VERSION" */
			name_prebuilt(f, str_trim(str_sub(symbol, 0, str_chr(symbol, ','))), fi);
		}
	}
	foreign_step(f, "load")->done = true;
	return fs_remove_tree(folder);
}

/* Adds what driver.py found out while the back end ran. */
static void add_found(struct foreign *f, const struct node *found)
{
	static const char *const ids[] = {"gpu-asked-for", "cxx-standard-raised", "hipify-one-name",
		"hipify-header", "programs-left-out"};
	for (size_t i = 0; found && i < found->n; i++) {
		const struct node *one = &found->v[i];
		size_t k = 0;
		while (k + 1 < sizeof(ids) / sizeof(ids[0]) &&
			!str_eq(node_text(one, S("id"), S("")), str_from(ids[k])))
			k++;
		finding_note(f->a, &f->findings, ids[k], node_text(one, S("file"), S("")), "%.*s",
			STR(node_text(one, S("text"), S(""))));
	}
}

struct err *foreign_python(struct foreign *f)
{
	const struct node *answer;
	const struct plan_foreign *how = f->plan->foreign;
	struct str name = S(""), cmake = path_join(f->a, f->tree, how->cmake);
	struct str ninja = path_join(f->a, cmake, S("build.ninja"));
	struct str configured = path_join(f->a, f->state, S("configured")); /* with ROCm */
	struct strs words = backend_words(f, "requires"), more = {0}, wanted = {0};
	struct strs libraries = {0};
	struct proc p = {.cwd = f->tree};
	struct proc_result r;
	bool part = foreign_is_part(f), apart = how->configure.n && how->cmake.n;
	if (part && !apart)
		return err_hint(err_new(E_USAGE, "'%.*s' is built as a whole: it has no targets",
					STR(f->plan->name)),
			"--target is for CMake projects, and for PyTorch");
	foreign_word(f, &words, "editable", f->editable);
	/* the back end may require more: CMake for scikit-build-core, ninja for meson-python */
	TRY(foreign_drive(f, "configure", &words, &answer));
	TRY(node_want_strs(f->a, answer, S("requires"), &more));
	VEC_EACH (const struct str, requirement, &more)
		if (!strs_has(&how->requires, *requirement))
			strs_add(f->a, &wanted, *requirement);
	TRY(foreign_install(f, &wanted));
	foreign_step(f, "configure")->done = true;
	/* a setup script that can configure without building shows early if ROCm is switched off, and lets us build
	 * single targets with CMake */
	strs_add(f->a, &p.argv, path_join(f->a, f->venv, S("bin/python")));
	strs_add_all(f->a, &p.argv, &how->configure);
	if (apart && !(fs_exists(ninja) && fs_exists(configured))) {
		TRY(fs_remove(configured));
		TRY(fs_remove(ninja)); /* with it, PyTorch's setup.py does nothing */
		TRY(foreign_run(f, "configure", &p, &r));
		TRY(foreign_check_cmake(f, cmake, r.out));
		TRY(fs_write(configured, S(""), 0644));
	}
	if (apart &&
		(part || f->keep_going)) /* called by the script, ninja stops at the first error */
		TRY(foreign_cmake_build(f, cmake));
	if (part)
		return NULL;
	words = backend_words(f, f->editable.n ? "editable" : "wheel");
	TRY(fs_remove_tree(f->dist));
	TRY(fs_mkdirs(f->dist));
	foreign_word(f, &words, "out", f->dist);
	foreign_word(f, &words, "project", f->plan->project);
	TRY(foreign_drive(f, "wheel", &words, &answer));
	TRY(node_want_text(answer, S("wheel"), &name));
	f->result = path_join(f->a, f->dist, path_base(name));
	if (!str_ends(name, S(".whl")) || !fs_is_file(f->result))
		return err_new(E_FOREIGN,
			"the back end '%.*s' reports the wheel '%.*s', but there is no such file",
			STR(how->backend), STR(name));
	TRY(node_want_strs(f->a, answer, S("libraries"), &libraries));
	add_found(f, node_get(answer, S("found")));
	foreign_step(f, "wheel")->done = true;
	return load_result(f, &libraries);
}
