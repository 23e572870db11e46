/* Chooses the build system of a project, and its requirements; see plan_int.h. */
#include "base/fs.h"
#include "lang/python/requirement.h"
#include "lang/python/version.h"
#include "plan/plan_int.h"

enum { MAX_PYPROJECT = 4 << 20 };

/* Keys of the description that select our own build, since no other reads them. */
static const char *const own_keys[] = {
	"sources", "exclude", "includes", "libraries", "defines", "flags", "python", NULL};

static struct err *system_of(
	struct arena *a, const struct project *p, const struct source *s, enum source_system *ret)
{
	const struct node *said = node_get(node_get(p->root, S("build")), S("system"));
	*ret = s->system;
	for (size_t i = 0; own_keys[i]; i++)
		if (node_get(p->root, str_from(own_keys[i])))
			*ret = SOURCE_OWN;
	if (!p->build_system.n)
		return NULL;
	unsigned i = 0;
	while (source_systems[i] && !str_eq(p->build_system, str_from(source_systems[i])))
		i++;
	if (!source_systems[i])
		return node_error(said, E_PROJECT, "'%.*s' is none of own, python, cmake",
			STR(p->build_system));
	*ret = (enum source_system)i;
	const char *file = *ret == SOURCE_CMAKE ? "CMakeLists.txt" : "setup.py";
	bool there = *ret == SOURCE_OWN || *ret == s->system ||
		     fs_is_file(path_join(a, p->dir, str_from(file)));
	return there ? NULL
		     : node_error(said, E_PROJECT, "there is no %s%s in '%.*s'", file,
			       *ret == SOURCE_PYTHON ? " and no pyproject.toml" : "", STR(p->dir));
}

/* Does one of the requirements name this project? "setuptools>=61; python_version > '3'" names setuptools. */
static bool requires_name(struct arena *a, const struct strs *list, struct str name)
{
	VEC_EACH (const struct str, s, list)
		if (str_eq(requirement_name(a, *s), name))
			return true;
	return false;
}

static struct err *take_with(struct arena *a, const struct plan_request *r, const struct plan *plan,
	const struct source_gpu *g)
{
	struct plan_foreign *f = plan->foreign;
	TRY(known_check_with(r));
	VEC_EACH (const struct str, w, &r->with) {
		f->torch |= str_starts(path_base(*w), S("torch-"));
		strs_add(a, &f->with, path_abs(a, *w));
	}
	f->without = r->without;
	f->torch_as_rocm = r->torch_as_rocm;
	if (f->torch_as_rocm && !f->torch)
		return err_hint(err_new(E_USAGE, "--torch-as-rocm needs a torch"),
			"name its wheel: --with torch-*.whl");
	if (!f->torch && (g->torch_at.n || requires_name(a, &f->requires, S("torch"))))
		return err_hint(
			err_new(E_PLAN, "'%.*s' is built against a torch%s%.*s, and none is given",
				STR(plan->name), g->torch_at.n ? ", which it imports at " : "",
				STR(g->torch_at)),
			"name the wheel of a torch for ROCm: --with torch-*.whl");
	return NULL;
}

static void explain_system(
	struct arena *a, struct plan *plan, const struct plan_foreign *f, const struct source *s)
{
	if (f->system == SOURCE_CMAKE) {
		plan_explain(a, plan, "build system", S("CMake"), "there is a %.*s", STR(f->file));
	} else {
		plan_explain(a, plan, "build system", f->backend, "%.*s%s", STR(f->file),
			str_eq(f->backend, S(SOURCE_SETUPTOOLS))
				? " names no back end, so PEP 517 has it that setuptools is the "
				  "one"
				: " names it as the project's back end");
		plan_explain(a, plan, "build requirements", str_join(a, &f->requires, S(", ")),
			s->requires_said ? "'requires' of %.*s, and those of the description%s"
					 : "%.*s says nothing about them, so these count%s",
			STR(f->file),
			s->pkg_resources
				? "; setup.py imports pkg_resources, which setuptools 82 dropped"
				: "");
	}
	VEC_EACH (const struct str, w, &f->with)
		if (str_starts(path_base(*w), S("torch-")))
			plan_explain(a, plan, "torch", path_base(*w), "asked for%s",
				f->torch_as_rocm
					? "; it counts as a torch for ROCm, whatever it was built "
					  "for, so what is built needs a real one to be imported"
					: "");
	if (f->torch && !plan->hipify.mode)
		plan_explain(a, plan, "hipify", S("torch's own"),
			"CUDAExtension of torch translates the sources itself, in our copy");
}

/* A project of our own build: takes the values from its metadata that its description lacks. Options for wheels are
 * refused, since our build has no Python environment to install them into. */
static struct err *take_metadata(struct arena *a, const struct plan_request *r,
	const struct project *p, const struct source *s, struct plan *plan)
{
	const struct version *v;
	const struct {
		const char *what;
		struct str *to, from;
		bool said;
	} texts[] = {{"name", &plan->name, s->name, node_get(p->root, S("name")) != NULL},
		{"version", &plan->version, s->version, p->version.n > 0},
		{"summary", &plan->summary, s->summary, p->summary.n > 0},
		{"license", &plan->license, s->license, p->license.n > 0},
		{"requires python", &plan->requires_python, s->requires_python,
			p->requires_python.n > 0}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].said || !texts[i].from.n)
			continue;
		*texts[i].to = texts[i].from;
		plan_explain(a, plan, texts[i].what, texts[i].from,
			"the project's own metadata (pyproject.toml, PKG-INFO or setup.cfg)");
	}
	plan->build_requires = p->build_requires;
	if (p->build_requires.n)
		plan_explain(a, plan, "build requirements",
			str_join(a, &p->build_requires, S(", ")),
			"'build: requires' of %.*s: an environment of the build gets them, and "
			"their headers are found there",
			STR(path_base(p->file)));
	struct strs *needs = &plan->requires; /* clang-format treats `requires` as C++ */
	if (!needs->n)
		*needs = s->dependencies;
	if (!project_name_valid(plan->name))
		return err_new(E_PROJECT, "'%.*s' of the project's metadata is no project name",
			STR(plan->name));
	TRY_CTX(version_parse(a, plan->version, &v),
		"cannot use the version in the project's metadata");
	plan->version = version_text(a, v);
	const char *option = r->with.n          ? "--with"
			     : r->without.n     ? "--without"
			     : r->torch_as_rocm ? "--torch-as-rocm"
						: NULL;
	if (!option)
		return NULL;
	return err_hint(
		err_new(E_USAGE, "%s is for projects with a build system of their own", option),
		"rocsmith itself builds '%.*s': 'rocsmith why %.*s' has the reason", STR(p->dir),
		STR(p->dir));
}

/* Does a pyproject.toml say that the version is this one? */
static bool has_version(struct arena *a, struct str text, struct str version)
{
	const struct node *root;
	struct strs dynamic = {0};
	CLEANUP(err_freep) struct err *e = toml_parse(a, text, S("pyproject.toml"), &root);
	if (e)
		return false;
	const struct node *project = node_get(root, S("project"));
	CLEANUP(err_freep)
	struct err *no = node_want_strs(a, project, S("dynamic"), &dynamic);
	return !no && !strs_has(&dynamic, S("version")) &&
	       str_eq(node_text(project, S("version"), S("")), version);
}

/* Writes the version of PKG-INFO into the copy's pyproject.toml: "dynamic" loses it. A file that is written in a way that
 * this does not find stays as it is. */
static struct err *write_version(struct arena *a, const struct source *s, struct plan *plan)
{
	const char *const names[] = {"\"version\",", "\"version\"", "'version',", "'version'"};
	const struct str file = S("pyproject.toml");
	struct str text, head, list, rest;
	TRY(fs_read(a, path_join(a, s->dir, file), MAX_PYPROJECT, &text));
	size_t at = str_find(text, S("\ndynamic"));
	head = str_sub(text, 0, at);
	str_cut(str_sub(text, at, text.n), ']', &list, &rest);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		list = str_replace(a, list, str_from(names[i]), S(""));
	text = str_fmt(a, "%.*s%.*s]\nversion = \"%.*s\"%.*s", STR(head), STR(list),
		STR(s->version), STR(rest));
	if (!has_version(a, text, s->version))
		return NULL;
	*VEC_PUSH(a, &plan->foreign->files) = (struct plan_file){file, text};
	plan_explain(a, plan, "version of the copy", s->version,
		"pyproject.toml leaves it to a back end that does not look into PKG-INFO, so the "
		"copy gets it");
	return NULL;
}

struct err *foreign_choose(
	struct arena *a, const struct plan_request *r, struct project *p, struct plan *plan)
{
	struct source s;
	enum source_system system;
	struct str release;
	TRY(known_check(a, p, &release));
	TRY(source_read(a, p->dir, &s));
	TRY(system_of(a, p, &s, &system));
	p->packages = s.packages;
	if (system == SOURCE_OWN)
		return take_metadata(a, r, p, &s, plan);
	if (!release.n)
		release = p->tree.upstream.n ? p->tree.upstream : s.version;
	struct plan_foreign *f = plan->foreign = NEW(a, struct plan_foreign);
	*f = (struct plan_foreign){.system = system,
		.file = s.file,
		.options = p->build_options,
		.env = p->build_env,
		.allow = p->build_allow,
		.cost = p->cost,
		.source = p->tree,
		.release = release};
	if (system != s.system) /* a CMake project that also has a setup.py */
		f->file = S("CMakeLists.txt");
	if (system == SOURCE_PYTHON) {
		f->backend = s.backend;
		f->backend_path = s.backend_path;
		strs_add_all(a, &f->requires, &s.requires);
	}
	strs_add_all(a, &f->requires, &p->build_requires);
	if (!node_get(p->root, S("name")) && s.name.n) {
		plan->name = s.name;
		plan_explain(a, plan, "name", s.name, "the project says so");
	}
	plan->version = release;
	plan_explain(a, plan, "version", release.n ? release : S("of the build"),
		release.n ? "the project says so"
			  : "it is written out nowhere: the build determines it");
	if (s.lacks_version && s.version.n && system == SOURCE_PYTHON)
		TRY(write_version(a, &s, plan));
	struct source_gpu g = {0};
	if (!p->known)
		TRY(source_gpu_read(a, &s, &g));
	TRY(take_with(a, r, plan, &g));
	/* without ninja, torch compiles the files of an extension one after another */
	if (system == SOURCE_PYTHON && f->torch && !requires_name(a, &f->requires, S("ninja")))
		strs_add(a, &f->requires, S("ninja"));
	explain_system(a, plan, f, &s);
	gpu_choose(a, &g, plan);
	if (system == SOURCE_CMAKE && f->requires.n)
		strs_add(a, &f->advice,
			S("'requires' is for Python's back ends: CMake runs the Python of PATH, "
			  "which "
			  "needs them itself"));
	return NULL;
}
