/* Finds the Python modules that a project becomes, their places in the wheel, and the pure-Python files that are packed
 * with them; see plan_int.h. */
#include "base/fs.h"
#include "base/glob.h"
#include "know/know.h"
#include "plan/plan_int.h"

enum { MAX_FILES = 65536 };

/* A name that Python can import: "my_pkg" for "my-pkg". */
static struct str import_name(struct arena *a, struct str project)
{
	return str_replace(a, str_replace(a, project, S("-"), S("_")), S("."), S("_"));
}

/* ---- pure-Python files ---- */

/* Everything in a package folder is packed except compiled, generated and hidden files that the project's metadata does
 * not name as data. */
static bool is_packed(const struct source_packages *s, struct str path)
{
	static const char *const skip[] = {".cu", ".cuh", ".hip", ".c", ".cc", ".cpp", ".cxx", ".h",
		".hpp", ".hh", ".pyc", ".pyo", ".so", ".o", NULL};
	bool packed = !str_is_one_of(path_ext(path), skip) && !str_starts(path_base(path), S("."));
	VEC_EACH (const struct str, pattern, &s->data)
		packed = packed || glob_match(*pattern, path);
	return packed;
}

static struct err *check_number(const struct plan *plan)
{
	if (plan->python_files.n <= MAX_FILES)
		return NULL;
	return err_new(
		E_LIMIT, "more than %d Python files in '%.*s'", MAX_FILES, STR(plan->project));
}

/* Packs the files that match. A file that is named without a wildcard is packed whatever it is. */
static struct err *add_files(struct arena *a, const struct project *p, struct plan *plan,
	struct str pattern, size_t *ret_found)
{
	struct str dir = path_join(a, plan->project, plan->python_dir);
	struct strs hits;
	TRY(plan_files(a, plan, dir, pattern, &hits));
	VEC_EACH (struct str, h, &hits) {
		if (glob_is_pattern(pattern) && !is_packed(&p->packages, *h))
			continue;
		++*ret_found;
		strs_put(a, &plan->python_files, *h);
	}
	return check_number(plan);
}

/* Handles python: {files: [...]}: packs these files and no others. */
static struct err *named_files(
	struct arena *a, const struct project *p, struct plan *plan, const struct node *list)
{
	NODE_EACH (n, list) {
		if (!n->text.n || !path_is_inside(n->text))
			return node_error(
				n, E_PROJECT, "'%.*s' is outside of the project", STR(n->text));
		size_t found = 0;
		TRY(add_files(a, p, plan, n->text, &found));
		if (!found)
			return node_error(n, E_PROJECT, "'%.*s' matches no file in '%.*s'",
				STR(n->text), STR(path_join(a, plan->project, plan->python_dir)));
	}
	plan_explain(a, plan, "python files", human_count(a, plan->python_files.n, "file"),
		"'python: files' of %.*s", STR(path_base(p->file)));
	return NULL;
}

/* Packages become paths in the wheel, so each part must be an identifier. Python itself checks letters beyond ASCII. */
static struct err *check_package(const struct project *p, struct str package)
{
	struct str rest = package, part;
	bool ok = !str_ends(package, S("."));
	while (ok && str_next(&rest, '.', &part)) {
		ok = part.n && !ascii_digit(part.p[0]);
		for (size_t i = 0; i < part.n; i++)
			ok &= ascii_word(part.p[i]) || (part.p[i] & 0x80);
	}
	if (ok)
		return NULL;
	return err_hint(project_error(p, S("python"), E_PROJECT,
				"Python cannot import a package named '%.*s'", STR(package)),
		"write it as in Python: name or name.inner");
}

/* The package of a file: the innermost package folder on its path; "" = there is none. */
static struct str package_of(
	struct arena *a, const struct map *files, const struct source_packages *s, struct str path)
{
	struct str best = {0}, rest = path_dir(path), part;
	while (str_next(&rest, '/', &part)) {
		struct str dir = str_sub(path, 0, (size_t)(part.p - path.p) + part.n);
		struct str name = str_replace(a, dir, S("/"), S("."));
		bool init = map_has(files, str_fmt(a, "%.*s/__init__.py", STR(dir)));
		if (s->find && !s->namespaces && !init)
			break; /* find: searches folders of packages only */
		if (init || s->namespaces || strs_has(&s->names, name))
			best = name;
	}
	return best;
}

/* Packs the packages that setup.cfg or pyproject.toml lists, with their data. A listed one that does not exist is an
 * error. */
static struct err *listed_packages(struct arena *a, const struct project *p, struct plan *plan)
{
	const struct source_packages *s = &p->packages;
	struct str lost = s->stray;
	MAP(files, a);
	struct strs all = {0};
	plan->python_dir = s->dir.n ? s->dir : S(".");
	if (!path_is_inside(plan->python_dir))
		return err_hint(
			err_new(E_PROJECT,
				"the package folder '%.*s' of %.*s is outside of the project",
				STR(plan->python_dir), STR(s->file)),
			"name its folder in rocsmith.yaml: python: {package: FOLDER}");
	struct str dir = path_join(a, plan->project, plan->python_dir);
	TRY(plan_files(a, plan, dir, S("**/*"), &all));
	VEC_EACH (struct str, path, &all)
		map_put(&files, *path, path);
	VEC_EACH (struct str, path, &all) {
		struct str package = package_of(a, &files, s, *path);
		bool listed = s->find && !s->names.n;
		VEC_EACH (const struct str, name, &s->names)
			listed |= glob_match(*name, package);
		VEC_EACH (const struct str, name, &s->exclude)
			listed &= !glob_match(*name, package);
		if (package.n && listed && is_packed(s, *path))
			strs_add(a, &plan->python_files, *path);
	}
	for (size_t i = 0; !s->find && !lost.n && i < s->names.n; i++) {
		TRY(check_package(p, s->names.v[i]));
		struct str folder = str_replace(a, s->names.v[i], S("."), S("/"));
		if (!fs_is_dir(path_join(a, dir, folder)))
			lost = s->names.v[i];
	}
	for (size_t i = 0; !lost.n && i < s->modules.n; i++) {
		struct str name = s->modules.v[i];
		size_t found = 0;
		TRY(check_package(p, name));
		struct str path = str_replace(a, name, S("."), S("/"));
		TRY(add_files(a, p, plan, str_fmt(a, "%.*s.py", STR(path)), &found));
		if (!found)
			lost = name;
	}
	if (lost.n)
		return err_hint(err_new(E_PROJECT, "the package '%.*s' of %.*s is not in '%.*s'",
					STR(lost), STR(s->file), STR(plan->python_dir)),
			"name its folder in rocsmith.yaml: python: {package: FOLDER}");
	plan_explain(a, plan, "python files", human_count(a, plan->python_files.n, "file"),
		"'packages' of %.*s", STR(s->file));
	return check_number(plan);
}

struct err *python_find(struct arena *a, const struct project *p, struct plan *plan)
{
	static const char *const parents[] = {".", "python", "src", NULL};
	const struct node *python = node_get(p->root, S("python"));
	const struct node *files;
	struct str name = import_name(a, plan->name), package = path_clean(a, p->package);
	TRY(project_list(a, python, "files", &files));
	plan->python_dir = p->data_dir.n ? path_clean(a, p->data_dir) : S(".");
	if (!path_is_inside(plan->python_dir))
		return project_error(p, S("python"), E_PROJECT, "'%.*s' is outside of the project",
			STR(plan->python_dir));
	if (p->into.n)
		TRY(check_package(p, p->into));
	if (files)
		return named_files(a, p, plan, files);
	if (p->packages.file.n && !p->package.n && !p->data_dir.n)
		return listed_packages(a, p, plan);
	bool found = p->package.n > 0;
	size_t packed = 0;
	if (found) {
		if (!path_is_inside(package) || !fs_is_dir(path_join(a, plan->project, package)))
			return project_error(p, S("python"), E_PROJECT,
				"no such package folder '%.*s'", STR(p->package));
		TRY(check_package(p, path_base(package)));
		plan_explain(a, plan, "python files", package, "'python: package' of %.*s",
			STR(path_base(p->file)));
	}
	for (size_t i = 0; parents[i] && !found; i++) {
		package = path_clean(a, path_join(a, str_from(parents[i]), name));
		found = fs_exists(
			str_fmt(a, "%.*s/%.*s/__init__.py", STR(plan->project), STR(package)));
		if (found)
			plan_explain(a, plan, "python files", package,
				"the folder has the project's name and an __init__.py");
	}
	if (found) {
		plan->python_dir = path_dir(package);
		return add_files(
			a, p, plan, str_fmt(a, "%.*s/**", STR(path_base(package))), &packed);
	}
	plan_explain(a, plan, "python files", S("none"),
		"there is no folder '%.*s' with an __init__.py, neither here nor in python/ or "
		"src/",
		STR(name));
	return NULL;
}

/* ---- modules ---- */

/* The package that gets the modules; "" = the top level of the wheel. */
static struct str home_package(struct arena *a, const struct project *p, struct plan *plan)
{
	struct str name = import_name(a, plan->name);
	const struct node *python = node_get(p->root, S("python"));
	if (node_get(python, S("into")))
		return p->into;
	if (p->package.n)
		return path_base(path_clean(a, p->package));
	if (strs_has(&plan->python_files, str_fmt(a, "%.*s/__init__.py", STR(name))))
		return name;
	struct str only = {0}; /* the only top folder with Python files */
	for (size_t i = 0; p->packages.file.n && i < plan->python_files.n; i++) {
		struct str path = plan->python_files.v[i],
			   top = str_sub(path, 0, str_chr(path, '/'));
		if (top.n == path.n || (only.n && !str_eq(only, top)))
			return S("");
		only = top;
	}
	return only;
}

/* Makes a module for each PyInit_NAME, from the source that defines it and all sources that define none. */
static struct err *own_modules(
	struct arena *a, const struct project *p, const struct cxx_scan *facts, struct plan *plan)
{
	MAP(sources, a); /* name of a module -> the path of its source */
	for (size_t i = 0; i < plan->sources.n; i++) {
		struct str *path = &plan->sources.v[i].path;
		VEC_EACH (struct str, name, &facts[i].modules) {
			const struct str *other = map_get(&sources, *name);
			if (other)
				return err_hint(
					project_error(p, S("sources"), E_MODULE,
						"both '%.*s' and '%.*s' define the module '%.*s'",
						STR(*other), STR(*path), STR(*name)),
					"leave one of them out with 'exclude'");
			map_put(&sources, *name, path);
			struct plan_module *m = VEC_PUSH(a, &plan->modules);
			m->name = *name;
			strs_add(a, &m->sources, *path);
		}
	}
	VEC_EACH (struct plan_module, m, &plan->modules)
		for (size_t i = 0; i < plan->sources.n; i++)
			if (!facts[i].modules.n)
				strs_add(a, &m->sources, plan->sources.v[i].path);
	return NULL;
}

/* A project without modules becomes programs, one for each main(), from its source and all sources that have none; or
 * else one shared library, with a loader. */
static void add_plain(
	struct arena *a, const struct project *p, const struct cxx_scan *facts, struct plan *plan)
{
	for (size_t i = 0; i < plan->sources.n; i++) {
		struct str path = plan->sources.v[i].path, base = path_base(path);
		if (!facts[i].has_main)
			continue;
		struct plan_module *m = VEC_PUSH(a, &plan->modules);
		m->program = true;
		m->name = str_sub(base, 0, base.n - path_ext(base).n);
		m->file = str_fmt(a, "scripts/%.*s", STR(m->name));
		strs_add(a, &m->sources, path);
		for (size_t k = 0; k < plan->sources.n; k++)
			if (!facts[k].has_main)
				strs_add(a, &m->sources, plan->sources.v[k].path);
		plan_explain(a, plan, "modules", m->name,
			"'%.*s' defines main(): a program among the wheel's scripts", STR(path));
	}
	if (plan->modules.n)
		return;
	struct str name = import_name(a, plan->name), home = home_package(a, p, plan);
	struct plan_module *m = VEC_PUSH(a, &plan->modules);
	struct str dir = home.n ? str_replace(a, home, S("."), S("/")) : name;
	m->loader = true;
	m->name = home.n ? str_fmt(a, "%.*s._native", STR(home)) : name;
	m->file = str_fmt(a, "%.*s/lib%.*s.so", STR(dir), STR(name));
	m->loader_file = str_fmt(a, "%.*s/%s", STR(dir), home.n ? "_native.py" : "__init__.py");
	VEC_EACH (const struct plan_source, s, &plan->sources)
		strs_add(a, &m->sources, s->path);
	plan_explain(a, plan, "modules", m->name,
		"no source defines PyInit_NAME, so one shared library is built and loaded by "
		"%.*s with ctypes",
		STR(m->loader_file));
}

/* ---- ABI ---- */

/* The level of the stable ABI, which is used only if every source that includes Python.h defines Py_LIMITED_API. */
static struct err *abi_level(struct arena *a, const struct project *p, const struct cxx_scan *facts,
	struct plan *plan, uint32_t *ret)
{
	*ret = 0;
	VEC_EACH (struct str, d, &plan->defines) {
		struct str key, value;
		str_cut(*d, '=', &key, &value);
		if (!*ret && str_eq(key, S("Py_LIMITED_API")))
			*ret = value.n ? scan_api_level(value) : 0x03020000;
	}
	if (p->abi3.n && !*ret) { /* "3.8" -> 0x03080000 */
		struct str major, minor;
		uint64_t n = 0;
		if (!str_cut(p->abi3, '.', &major, &minor) || !str_eq(major, S("3")) ||
			!str_u64(minor, 10, &n) || n < 2 || n >= 100)
			return err_hint(
				project_error(p, S("python"), E_PROJECT,
					"'abi3: %.*s' is not a Python version", STR(p->abi3)),
				"write it like abi3: \"3.8\"");
		*ret = 0x03000000u | (uint32_t)n << 16;
		strs_fmt(a, &plan->defines, "Py_LIMITED_API=0x%08x", *ret);
	}
	if (*ret)
		return NULL;
	for (size_t i = 0; i < plan->sources.n; i++) {
		if (facts[i].python && !facts[i].limited_api) {
			*ret = 0;
			plan_explain(a, plan, "python abi", S("of one Python version"),
				"'%.*s' includes Python.h without Py_LIMITED_API",
				STR(plan->sources.v[i].path));
			return NULL;
		}
		if (facts[i].python && facts[i].limited_api > *ret)
			*ret = facts[i].limited_api;
	}
	return NULL;
}

/* Gives extension modules their tags, and their files in the wheel. level: of the stable ABI, or 0. */
static void name_extensions(
	struct arena *a, const struct project *p, struct plan *plan, uint32_t level)
{
	const struct host *h = &plan->host;
	unsigned minor = level >> 16 & 0xff;
	struct str ext = h->python_include.n && h->ext_suffix.n ? h->ext_suffix : S(".so");
	if (level) {
		ext = S(".abi3.so");
		plan->python_tag = str_fmt(a, "cp3%u", minor);
		plan->abi_tag = S("abi3");
		plan_explain(a, plan, "python tag", str_fmt(a, "cp3%u-abi3", minor),
			"Py_LIMITED_API is 0x%08x: the stable ABI of Python 3.%u and later", level,
			minor);
		if (!plan->requires_python.n)
			plan->requires_python = str_fmt(a, ">=3.%u", minor);
	} else if (h->python_include.n) {
		plan->python_tag = h->python_tag;
		plan->abi_tag = h->python_abi;
		plan_explain(a, plan, "python tag", h->python_tag,
			"the Python.h in '%.*s' is that of %.*s", STR(h->python_include),
			STR(h->python));
	} else {
		plan_explain(a, plan, "python tag", S("of the SDK's Python"),
			"this machine has no Python.h, so that of the SDK is used");
	}
	struct str home = home_package(a, p, plan);
	VEC_EACH (struct plan_module, m, &plan->modules) {
		struct str bare = m->name;
		if (home.n)
			m->name = str_fmt(a, "%.*s.%.*s", STR(home), STR(bare));
		m->file = str_fmt(
			a, "%.*s%.*s", STR(str_replace(a, m->name, S("."), S("/"))), STR(ext));
		struct str subject = str_fmt(a, "module %.*s", STR(m->name));
		plan_explain(a, plan, subject.p, m->file,
			"'%.*s' defines PyInit_%.*s; %zu sources go into it", STR(m->sources.v[0]),
			STR(bare), m->sources.n);
	}
}

bool plan_is_header_folder(struct str dir, struct str *ret_source)
{
	TABLE_EACH (python_headers, h)
		for (const char *const *f = h->folders; *f; f++)
			if (str_ends(dir, str_from(*f)) && dir.p[0] == '/' &&
				!str_contains(dir, S("/../"))) {
				*ret_source = f == h->folders ? str_from(h->source) : S("");
				return true;
			}
	return false;
}

/* Adds the folder of each other header that a file of the packages in dir is, by its name in the #include. */
static struct err *any_headers(struct arena *a, struct plan *plan, struct str dir)
{
	struct strs files;
	TRY(glob_files(a, dir, S("**/*.h*"), &files));
	VEC_EACH (const struct str, h, &plan->external) {
		struct str end = str_fmt(a, "/%.*s", STR(*h)), hit = {0};
		VEC_EACH (const struct str, folder, &plan->python_headers)
			if (fs_exists(path_join(a, *folder, *h)))
				hit = *folder;
		bool ours = hit.n || fs_exists(path_join(a, S("/usr/include"), *h)) ||
			    know_headers(a, &(struct strs){.v = (struct str *)h, .n = 1}).n;
		for (size_t i = 0; i < files.n && !hit.n && !ours; i++)
			if (str_ends(files.v[i], end) && !str_starts(files.v[i], S("nvidia/")))
				hit = str_sub(files.v[i], 0, files.v[i].n - end.n);
		if (!hit.n || ours)
			continue;
		hit = path_join(a, dir, hit);
		strs_add(a, &plan->python_headers, hit);
		plan_explain(a, plan, str_fmt(a, "headers %.*s", STR(*h)).p, hit,
			"the sources include it, and a requirement of the build has it");
	}
	return NULL;
}

struct err *plan_find_headers(struct arena *a, struct plan *plan, struct str path)
{
	struct str done = {0}, dir;
	TABLE_EACH (python_headers, row) {
		const char *const *folders = row->folders;
		struct str rest = path, starts = str_from(row->starts);
		bool wanted = false;
		VEC_EACH (const struct str, h, &plan->external)
			wanted = wanted || (str_starts(*h, starts) && !str_eq(done, starts));
		while (wanted && str_next(&rest, ':', &dir)) {
			struct str first = str_fmt(a, "%.*s%s", STR(dir), folders[0]);
			if (!str_starts(dir, S("/")) || !fs_is_dir(first))
				continue;
			for (size_t k = 0; folders[k]; k++)
				strs_fmt(a, &plan->python_headers, "%.*s%s", STR(dir), folders[k]);
			plan_explain(a, plan, str_fmt(a, "headers %.*s", STR(starts)).p, first,
				"the sources include them, and %.*s has them",
				STR(plan->build_requires.n ? S("a requirement of the build")
							   : plan->host.python));
			done = starts;
			break;
		}
	}
	return plan->build_requires.n ? any_headers(a, plan, path) : NULL;
}

struct err *modules_find(
	struct arena *a, const struct project *p, const struct cxx_scan *facts, struct plan *plan)
{
	if (!plan->build_requires.n) /* else they are known once the build has installed these */
		TRY(plan_find_headers(a, plan, plan->host.python_path));
	for (size_t i = 0; i < plan->sources.n; i++)
		plan->needs_python |= facts[i].python;
	TRY(own_modules(a, p, facts, plan));
	if (plan->modules.n) {
		uint32_t level;
		TRY(abi_level(a, p, facts, plan, &level));
		name_extensions(a, p, plan, level);
	} else {
		add_plain(a, p, facts, plan);
		plan->python_tag = S("py3");
		plan->abi_tag = S("none");
		if (!plan->requires_python.n)
			plan->requires_python = S(">=3.7");
	}
	/* else Python imports a package of the module's name and never sees the module, or a file is there twice */
	VEC_EACH (struct plan_module, m, &plan->modules) {
		struct str path = str_replace(a, m->name, S("."), S("/"));
		const struct str rivals[] = {str_fmt(a, "%.*s/__init__.py", STR(path)),
			str_fmt(a, "%.*s.py", STR(path)), m->file, m->loader_file};
		for (size_t i = 0; i < 4; i++)
			if (rivals[i].n && strs_has(&plan->python_files, rivals[i]))
				return err_hint(project_error(p, S("python"), E_MODULE,
							"the module '%.*s' and the Python file "
							"'%.*s' clash: only one of them can be "
							"imported",
							STR(m->name), STR(rivals[i])),
					"put the module elsewhere with 'python: {into: PACKAGE}', "
					"or rename one of them");
	}
	return NULL;
}
