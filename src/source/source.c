/* Looks into a project's folder; see source.h. Sources of the formats: PEP 517, 518 and 621 for
 * pyproject.toml; packaging.python.org "Core metadata" for PKG-INFO; setuptools' documentation of
 * declarative configuration for setup.cfg; CMake's of project(). */
#include "source/source.h"

#include <strings.h>

#include "base/fs.h"
#include "base/vec.h"
#include "formats/node.h"

enum { MAX_FILE = 4 << 20 };

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

/* ---- pyproject.toml ---- */

static struct err *check_kind(const struct node *n, enum node_kind kind, const char *what)
{
	return !n || n->kind == kind
		       ? NULL
		       : node_error(n, E_SYNTAX, "'%.*s' must be %s", STR(n->key), what);
}

static struct err *build_system(struct arena *a, const struct node *n, struct source *ret)
{
	TRY(check_kind(n, NODE_MAP, "a table"));
	const struct node *requires = node_get(n, S("requires"));
	TRY(check_kind(requires, NODE_LIST, "a list of texts"));
	TRY(node_want_strs(a, n, S("requires"), &ret->requires));
	ret->requires_said = requires != NULL;
	TRY(node_want_text(n, S("build-backend"), &ret->backend));
	TRY(node_want_strs(a, n, S("backend-path"), &ret->backend_path));
	VEC_EACH (const struct str, dir, &ret->backend_path)
		if (!dir->n || !path_is_inside(*dir))
			return node_error(node_get(n, S("backend-path")), E_SYNTAX,
				"'%.*s' is outside of the project", STR(*dir));
	return NULL;
}

static struct err *read_pyproject(struct arena *a, struct source *ret, bool *ret_python)
{
	const struct node *root;
	TRY(toml_read(a, path_join(a, ret->dir, S("pyproject.toml")), &root));
	const struct node *build = node_get(root, S("build-system"));
	const struct node *project = node_get(root, S("project"));
	*ret_python = build || project;
	if (build)
		TRY(build_system(a, build, ret));
	TRY(check_kind(project, NODE_MAP, "a table"));
	set_once(a, &ret->name, node_text(project, S("name"), S("")));
	set_once(a, &ret->version, node_text(project, S("version"), S("")));
	return NULL;
}

/* ---- PKG-INFO and setup.cfg: lines "key: value" and "key = value" ---- */

/* Lines from `section` ("" = the beginning) to `end` (a line that begins so; "" = an empty one) */
struct lines {
	const char *file;
	struct str section, end;
	char between;
};

static struct err *read_lines(struct arena *a, struct source *ret, const struct lines *what)
{
	struct str text, line, key, value;
	bool in = !what->section.n;
	TRY(fs_read_opt(a, path_join(a, ret->dir, str_from(what->file)), MAX_FILE, &text));
	while (text.p && str_next(&text, '\n', &line)) {
		struct str whole = str_trim(line);
		bool ends = what->end.n ? str_starts(line, what->end) : !whole.n;
		if (in && ends && !str_eq(whole, what->section))
			return NULL;
		in |= str_eq(whole, what->section);
		if (!in || !line.n || line.p[0] == ' ' || line.p[0] == '\t' ||
			!str_cut(line, what->between, &key, &value))
			continue;
		key = str_lower(a, str_trim(key));
		value = str_trim(value);
		/* "version = attr: pkg.__version__" is computed */
		bool computed = str_starts(value, S("attr:")) || str_starts(value, S("file:"));
		if (str_eq(key, S("name")))
			set_once(a, &ret->name, value);
		else if (str_eq(key, S("version")) && !computed)
			set_once(a, &ret->version, value);
	}
	return NULL;
}

/* ---- CMakeLists.txt ---- */

static bool is_word(char c)
{
	return ascii_alnum(c) || c == '_' || c == '-' || c == '.';
}

/* The next word that is written out; "" at the ')' and at what is computed. */
static struct str next_word(struct str *rest)
{
	size_t from = 0, to;
	while (from < rest->n && (rest->p[from] == ' ' || rest->p[from] == '\t' ||
					 rest->p[from] == '\n' || rest->p[from] == '\r'))
		from++;
	bool quoted = from < rest->n && rest->p[from] == '"';
	to = from += quoted;
	while (to < rest->n && is_word(rest->p[to]))
		to++;
	struct str word = str_sub(*rest, from, to);
	*rest = str_sub(*rest, to + quoted, rest->n);
	return word;
}

/* Behind the '(' of project(), when the line begins with that. */
static bool is_project(struct str line, size_t *ret)
{
	static const char call[] = "project";
	size_t n = sizeof(call) - 1, from = 0;
	while (from < line.n && (line.p[from] == ' ' || line.p[from] == '\t'))
		from++;
	struct str rest = str_sub(line, from, line.n);
	size_t open = str_chr(rest, '(');
	*ret = from + open + 1;
	return rest.n > n && strncasecmp(rest.p, call, n) == 0 && open < rest.n &&
	       !str_trim(str_sub(rest, n, open)).n;
}

static struct err *read_cmake(struct arena *a, struct source *ret)
{
	struct str text, word;
	size_t end, behind;
	TRY(fs_read(a, path_join(a, ret->dir, S("CMakeLists.txt")), MAX_FILE, &text));
	for (size_t at = 0; at < text.n; at = end + 1) {
		struct str rest = str_sub(text, at, text.n);
		end = at + str_chr(rest, '\n');
		if (!is_project(str_sub(text, at, end), &behind))
			continue;
		rest = str_sub(text, at + behind, text.n);
		set_once(a, &ret->name, next_word(&rest));
		while ((word = next_word(&rest)).n)
			if (str_eq(word, S("VERSION")))
				set_once(a, &ret->version, next_word(&rest));
		return NULL;
	}
	return NULL;
}

/* ---- the whole ---- */

/* pkg_resources was a part of setuptools until 82; scripts that import it were written long before, and
 * ask for any setuptools. */
static struct err *bound_setuptools(struct arena *a, struct source *ret)
{
	struct str script = path_join(a, ret->dir, S("setup.py")), text = {0};
	TRY(fs_read_opt(a, script, MAX_FILE, &text));
	bool old = str_contains(text, S("import pkg_resources")) ||
		   str_contains(text, S("from pkg_resources import"));
	VEC_EACH (struct str, r, &ret->requires)
		if (old && str_eq(*r, S("setuptools")))
			*r = S("setuptools<81");
	return NULL;
}

static struct err *read_python(struct arena *a, struct source *ret)
{
	static const struct lines files[] = {
		{.file = "PKG-INFO", .between = ':'},
		{.file = "setup.cfg",
			.section = S_INIT("[metadata]"),
			.end = S_INIT("["),
			.between = '='},
	};
	ret->system = SOURCE_PYTHON;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		TRY(read_lines(a, ret, &files[i]));
	if (!ret->backend.n)
		ret->backend = S(SOURCE_SETUPTOOLS);
	if (!ret->requires_said) {
		strs_add(a, &ret->requires, S("setuptools"));
		strs_add(a, &ret->requires, S("wheel"));
	}
	return bound_setuptools(a, ret);
}

struct err *source_read(struct arena *a, struct str dir, struct source *ret)
{
	bool python = false;
	*ret = (struct source){.dir = path_abs(a, dir), .file = S("")};
	if (has(a, ret->dir, "pyproject.toml"))
		TRY(read_pyproject(a, ret, &python));
	if (python)
		ret->file = S("pyproject.toml");
	else if (has(a, ret->dir, "setup.py"))
		ret->file = S("setup.py");
	if (ret->file.n)
		return read_python(a, ret);
	if (!has(a, ret->dir, "CMakeLists.txt"))
		return NULL;
	ret->file = S("CMakeLists.txt");
	ret->system = SOURCE_CMAKE;
	return read_cmake(a, ret);
}
