/* Reads a project's folder; see source.h. Sources of the formats: PEP 517, 518 and 621 for
 * pyproject.toml; packaging.python.org "Core metadata" for PKG-INFO; setuptools'
 * documentation of declarative configuration for setup.cfg; CMake's documentation of project(). */
#include "source/source.h"

#include "base/fs.h"
#include "base/glob.h"
#include "base/vec.h"
#include "formats/node.h"
#include "source/cmake.h"

enum { MAX_FILE = 4 << 20, MAX_LINES = 10000 };

const char *const source_systems[] = {
	[SOURCE_OWN] = "own", [SOURCE_PYTHON] = "python", [SOURCE_CMAKE] = "cmake", NULL};

static bool has(struct arena *a, struct str dir, const char *name)
{
	return fs_is_file(path_join(a, dir, str_from(name)));
}

static void set_once(struct arena *a, struct str *to, struct str value)
{
	value = str_trim(value);
	if (!to->n && value.n && value.n <= 256 && str_chr(value, '\n') == value.n)
		*to = str_dup(a, value);
}

/* ---- packages ---- */

/* Takes an entry of package_dir: "= src" for all packages, "pkg = src/pkg" for one. */
static void take_dir(struct arena *a, struct source_packages *to, struct str value)
{
	struct str package, dir;
	str_cut(value, '=', &package, &dir);
	package = str_trim(package);
	dir = path_clean(a, str_trim(dir));
	bool fits = !package.n || str_eq(path_base(dir), package);
	struct str in = package.n ? path_dir(dir) : dir;
	if (!fits || (to->dir.n && !str_eq(to->dir, in)))
		to->stray = dir;
	to->dir = str_dup(a, in);
}

/* Takes a value, or one value of a list, of a key in setup.cfg's [options] or its counterpart in pyproject.toml. */
static void take_packages(struct arena *a, struct source_packages *to, const char *file,
	struct str key, struct str value)
{
	const struct {
		const char *key;
		struct strs *to;
	} lists[] = {{"packages", &to->names}, {"include", &to->names}, {"exclude", &to->exclude},
		{"py_modules", &to->modules}, {"py-modules", &to->modules}};
	if ((to->file.n && !str_eq(to->file, str_from(file))) || !value.n || value.p[0] == '#')
		return; /* an earlier file takes precedence */
	struct strs parts = str_split(a, str_dup(a, value), ',');
	if (str_eq(key, S("packages")) && str_starts(value, S("find"))) {
		to->find = true;
		to->namespaces = str_eq(value, S("find_namespace:"));
		parts.n = 0;
	}
	if (str_eq(key, S("package_dir")))
		take_dir(a, to, value);
	else if (str_eq(key, S("where")))
		take_dir(a, to, str_fmt(a, "=%.*s", STR(value)));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (str_eq(key, str_from(lists[i].key)))
			strs_add_all(a, lists[i].to, &parts);
	if (to->find || to->names.n || to->modules.n)
		to->file = str_from(file);
}

/* Takes patterns of package-data, separated by commas: files of the package, of all packages if it is "*". */
static void take_data(
	struct arena *a, struct source_packages *to, struct str package, struct str patterns)
{
	bool all = str_eq(package, S("*"));
	struct str dir = all ? S("**") : str_replace(a, package, S("."), S("/")), pattern;
	while (str_next(&patterns, ',', &pattern))
		if ((pattern = str_trim(pattern)).n)
			strs_fmt(a, &to->data, "%.*s/%.*s", STR(dir), STR(pattern));
}

/* Reads [tool.setuptools] of pyproject.toml, the structured counterpart of setup.cfg. */
static struct err *read_packages(struct arena *a, const struct node *n, struct source_packages *to)
{
	static const char file[] = "pyproject.toml";
	const struct node *find = node_get(node_get(n, S("packages")), S("find"));
	const struct node *dirs = node_get(n, S("package-dir"));
	const struct {
		const struct node *in;
		const char *key;
	} lists[] = {{find ? NULL : n, "packages"}, {n, "py-modules"}, {find, "where"},
		{find, "include"}, {find, "exclude"}};
	if (find)
		take_packages(a, to, file, S("packages"),
			node_bool(find, S("namespaces"), true) ? S("find_namespace:") : S("find:"));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct str key = str_from(lists[i].key);
		struct strs values = {0};
		TRY(node_want_strs(a, lists[i].in, key, &values));
		VEC_EACH (const struct str, value, &values)
			take_packages(a, to, file, key, *value);
	}
	const struct node *data = node_get(n, S("package-data"));
	for (size_t i = 0; data && data->kind == NODE_MAP && i < data->n; i++) {
		struct strs patterns = {0};
		TRY(node_strs(a, &data->v[i], &patterns));
		VEC_EACH (const struct str, pattern, &patterns)
			take_data(a, to, data->v[i].key, *pattern);
	}
	for (size_t i = 0; dirs && i < dirs->n; i++)
		take_dir(a, to, str_fmt(a, "%.*s=%.*s", STR(dirs->v[i].key), STR(dirs->v[i].text)));
	return NULL;
}

/* ---- pyproject.toml ---- */

static struct err *check_kind(const struct node *n, enum node_kind kind, const char *what)
{
	return !n || n->kind == kind
		       ? NULL
		       : node_error(n, E_SYNTAX, "'%.*s' must be %s", STR(n->key), what);
}

/* Sets *ret_python if a Python build back end, not rocsmith, builds the project. */
static struct err *read_pyproject(struct arena *a, struct source *ret, bool *ret_python)
{
	const struct node *root;
	TRY(toml_read(a, path_join(a, ret->dir, S("pyproject.toml")), &root));
	const struct node *build = node_get(root, S("build-system"));
	const struct node *requires = node_get(build, S("requires"));
	const struct node *project = node_get(root, S("project"));
	struct strs kernels = {0}, dynamic = {0};
	if (project && !build && !has(a, ret->dir, "setup.py"))
		TRY(glob_files(a, ret->dir, S("**/*.cu"), &kernels));
	*ret_python = build || (project && !kernels.n);
	TRY(check_kind(build, NODE_MAP, "a table"));
	TRY(check_kind(requires, NODE_LIST, "a list of texts"));
	TRY(node_want_strs(a, build, S("requires"), &ret->requires));
	ret->requires_said = requires != NULL;
	TRY(node_want_text(build, S("build-backend"), &ret->backend));
	TRY(node_want_strs(a, build, S("backend-path"), &ret->backend_path));
	VEC_EACH (const struct str, dir, &ret->backend_path)
		if (!dir->n || !path_is_inside(*dir))
			return node_error(node_get(build, S("backend-path")), E_SYNTAX,
				"'%.*s' is outside of the project", STR(*dir));
	TRY(check_kind(project, NODE_MAP, "a table"));
	const struct node *place = node_get(node_get(root, S("tool")), S("scikit-build"));
	place = node_get(node_get(place, S("metadata")), S("version"));
	TRY(node_want_strs(a, project, S("dynamic"), &dynamic));
	ret->lacks_version = !place &&
			     !node_get(node_get(root, S("tool")), S("dynamic-metadata")) &&
			     strs_has(&dynamic, S("version")) &&
			     str_starts(ret->backend, S("scikit_build_core"));
	const struct node *license = node_get(project, S("license"));
	const struct {
		struct str *to;
		const struct node *from;
		const char *key;
	} texts[] = {{&ret->name, project, "name"}, {&ret->version, project, "version"},
		{&ret->summary, project, "description"}, {&ret->license, project, "license"},
		{&ret->license, license, "text"},
		{&ret->requires_python, project, "requires-python"}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		set_once(a, texts[i].to, node_text(texts[i].from, str_from(texts[i].key), S("")));
	TRY(read_packages(a, node_get(node_get(root, S("tool")), S("setuptools")), &ret->packages));
	return node_want_strs(a, project, S("dependencies"), &ret->dependencies);
}

/* ---- PKG-INFO and setup.cfg: lines "key: value" and "key = value" ---- */

/* Takes a key of either file; keys are in lower case. */
static void take_metadata(struct arena *a, struct source *ret, struct str key, struct str value)
{
	static const char *const lists[] = {"requires-dist", "install_requires", NULL};
	const struct {
		const char *key;
		struct str *to;
	} texts[] = {{"name", &ret->name}, {"version", &ret->version}, {"summary", &ret->summary},
		{"description", &ret->summary}, {"license", &ret->license},
		{"license-expression", &ret->license}, {"requires-python", &ret->requires_python},
		{"python_requires", &ret->requires_python}};
	/* "version = attr: pkg.__version__" is computed */
	if (str_starts(value, S("attr:")) || str_starts(value, S("file:")))
		return;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (str_eq(key, str_from(texts[i].key)))
			set_once(a, texts[i].to, value);
	bool extra = str_contains(value, S("extra =")); /* required only by an optional extra */
	if (str_is_one_of(key, lists) && value.n && value.p[0] != '#' && !extra)
		strs_put(a, &ret->dependencies, str_dup(a, value));
}

static struct err *read_metadata(struct arena *a, struct source *ret)
{
	/* sections of setup.cfg end at the next one; PKG-INFO has one, and ends at an empty line */
	static const struct {
		const char *file, *section;
		char between; /* a key and its value */
	} parts[] = {{"PKG-INFO", "", ':'}, {"setup.cfg", "[metadata]", '='},
		{"setup.cfg", "[options]", '='}, {"setup.cfg", "[options.packages.find]", '='},
		{"setup.cfg", "[options.package_data]", '='}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct str section = str_from(parts[i].section), text, line, key = {0}, value;
		bool in = !section.n;
		size_t lines = 0;
		TRY(fs_read_opt(
			a, path_join(a, ret->dir, str_from(parts[i].file)), MAX_FILE, &text));
		while (text.p && str_next(&text, '\n', &line)) {
			struct str whole = str_trim(line);
			bool begins = section.n && str_eq(whole, section);
			bool goes_on = line.n && (line.p[0] == ' ' || line.p[0] == '\t');
			bool ends = section.n ? str_starts(line, S("[")) : !whole.n && !goes_on;
			if (in && !begins && ends)
				break;
			in |= begins;
			if (in && ++lines > MAX_LINES)
				return err_new(E_LIMIT, "more than %d lines of metadata in %s",
					MAX_LINES, parts[i].file);
			if (!in || !line.n ||
				(!goes_on && !str_cut(line, parts[i].between, &key, &value)))
				continue;
			if (goes_on) /* a list item in setup.cfg */
				value = section.n ? line : S("");
			if (str_ends(section, S("_data]"))) {
				take_data(a, &ret->packages, str_trim(key), value);
				continue;
			}
			key = str_lower(a, str_trim(key));
			take_metadata(a, ret, key, str_trim(value));
			take_packages(a, &ret->packages, parts[i].file, key, str_trim(value));
		}
	}
	return NULL;
}

/* ---- CMakeLists.txt ---- */

static struct err *read_cmake(struct arena *a, struct source *ret)
{
	struct cmake_text t = {0};
	struct cmake_call call;
	TRY(fs_read(a, path_join(a, ret->dir, S("CMakeLists.txt")), MAX_FILE, &t.rest));
	while (cmake_next(a, &t, &call)) {
		if (!str_eq(call.name, S("project")))
			continue;
		for (size_t i = 0; i < call.words.n; i++) {
			struct str word = call.words.v[i];
			size_t n = 0; /* its literal beginning: "" of anything computed */
			while (n < word.n &&
				(ascii_alnum(word.p[n]) || str_chr(S("_-."), word.p[n]) < 3))
				n++;
			if (!i)
				set_once(a, &ret->name, str_sub(word, 0, n));
			else if (str_eq(call.words.v[i - 1], S("VERSION")))
				set_once(a, &ret->version, str_sub(word, 0, n));
		}
		return NULL;
	}
	return NULL;
}

/* ---- the project ---- */

struct err *source_read(struct arena *a, struct str dir, struct source *ret)
{
	bool python = false;
	struct str script = {0};
	*ret = (struct source){.dir = path_abs(a, dir), .file = S("")};
	if (has(a, ret->dir, "pyproject.toml"))
		TRY(read_pyproject(a, ret, &python));
	if (python)
		ret->file = S("pyproject.toml");
	else if (has(a, ret->dir, "setup.py"))
		ret->file = S("setup.py");
	if (!ret->file.n && has(a, ret->dir, "CMakeLists.txt")) {
		ret->file = S("CMakeLists.txt");
		ret->system = SOURCE_CMAKE;
		return read_cmake(a, ret);
	}
	TRY(read_metadata(a, ret));
	if (!ret->file.n)
		return NULL;
	ret->system = SOURCE_PYTHON;
	if (!ret->backend.n)
		ret->backend = S(SOURCE_SETUPTOOLS);
	if (!ret->requires_said)
		STRS_ADD(a, &ret->requires, S("setuptools"), S("wheel"));
	/* setuptools 82 dropped pkg_resources. Scripts that import it predate that, and accept any setuptools, so we
	 * add a bound. */
	TRY(fs_read_opt(a, path_join(a, ret->dir, S("setup.py")), MAX_FILE, &script));
	bool old = str_contains(script, S("import pkg_resources")) ||
		   str_contains(script, S("from pkg_resources import"));
	VEC_EACH (struct str, r, &ret->requires)
		if (old && str_eq(*r, S("setuptools"))) {
			*r = S("setuptools<81");
			ret->pkg_resources = true;
		}
	return NULL;
}
