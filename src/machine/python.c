/* Python environments: the one of `python3`, those that variables name, the system's, the user's, and those in the
 * places where people and tools put them. They are found by listing folders; an environment without relevant packages
 * is neither reported nor recorded, as its name may be a project's. Sources: PEP 405 (pyvenv.cfg), Python's site module
 * and Debian's version of it for the folders of packages, conda's conda-meta and environments.txt, pyenv's versions. */
#include "machine/python.h"

enum { MANY_PYTHONS = 64 };

struct pythons {
	struct root *r;
	struct machine *m;
	struct str home, active; /* active: the prefix of python3 */
	struct strs seen, found; /* folders that were read; those of them that were added */
};

/* ---- one environment ---- */

/* "a/b" for "/a/b"; "" for a path that is not absolute. */
static struct str below_root(struct arena *a, struct str path)
{
	path = path_clean(a, path);
	return str_starts(path, S("/")) ? str_sub(path, 1, path.n) : S("");
}

/* "3.12" for "python3.12"; "" for other names. */
static struct str version_of(struct str name)
{
	uint64_t minor;
	return str_starts(name, S("python3.")) && str_u64(str_sub(name, 8, name.n), 10, &minor)
		       ? str_sub(name, 6, name.n)
		       : S("");
}

/* The versions of Python that have a folder or file "python3.N" in one of these folders. */
static struct strs versions_in(struct root *r, struct str prefix, const char *const *dirs)
{
	struct strs names, list = {0};
	for (size_t i = 0; dirs[i]; i++) {
		root_list(r, path_join(r->a, prefix, str_from(dirs[i])), &names);
		for (size_t k = 0; k < names.n; k++)
			if (version_of(names.v[k]).n)
				strs_put(r->a, &list, version_of(names.v[k]));
	}
	return list;
}

/* Adds the folders prefix/PATTERN, in which '@' stands for the version of Python. */
static void add_sites(
	struct python_env *e, struct str prefix, const char *const *patterns, struct str version)
{
	struct arena *a = e->r->a;
	for (; *patterns; patterns++) {
		struct str dir = str_replace(a, str_from(*patterns), S("@"), version);
		struct str real = root_real(e->r, path_join(a, prefix, dir));
		if (real.n)
			strs_put(a, &e->sites, real);
	}
}

static const char *const own_sites[] = {
	"lib/python@/site-packages", "lib64/python@/site-packages", NULL};

/* Adds the folders of the system's Python. The folder without a version belongs to its main python3; if there is
 * another Python in /usr/local, the site-packages there are that one's. */
static void add_system_sites(struct python_env *e, struct str version, bool main)
{
	static const char *const local[] = {"local/lib64/python@/site-packages",
		"local/lib/python@/site-packages", NULL},
				 *const local_dist[] = {"local/lib/python@/dist-packages", NULL},
				 *const python3[] = {"lib/python3/dist-packages", NULL},
				 *const others[] = {"lib64/python@/site-packages",
					 "lib/python@/site-packages", "lib/python@/dist-packages",
					 NULL};
	const struct str usr = S("usr");
	if (!root_real(e->r, S("usr/local/bin/python3")).n)
		add_sites(e, usr, local, version);
	add_sites(e, usr, local_dist, version);
	if (main)
		add_sites(e, usr, python3, version);
	add_sites(e, usr, others, version);
}

/* Reads an environment, and adds it if it has relevant packages or `always` is set. Returns whether it was added.
 * Otherwise it is removed from the recording, as its name may be a project's. */
static bool finish(struct pythons *p, struct python_env *e, bool always)
{
	gather_packages(e);
	if (p->m->pythons.n >= MANY_PYTHONS ||
		(!always && !e->py->packages.n && !e->py->has_torch)) {
		root_forget(p->r, e->mark);
		return false;
	}
	e->py->path = shown_path(p->r->a, e->dir);
	root_exists(p->r, e->dir);
	VEC_EACH (const struct str, site, &e->sites)
		root_exists(p->r, *site);
	gather_torch(e);
	gather_extensions(e);
	*VEC_PUSH(p->r->a, &p->m->pythons) = *e->py;
	return true;
}

/* The path without links of this folder's python3, or "". In a sysroot the target of its link may be missing. */
static struct str python_in(struct root *r, struct str dir)
{
	struct str path = path_join(r->a, dir, S("python3")), real = root_follow(r, path);
	struct str name = real.n ? S("") : root_link_name(r, path);
	return name.n ? path_join(r->a, dir, name) : real;
}

/* The version of the system's python3; "" = not known. */
static struct str main_version(struct root *r)
{
	return version_of(path_base(python_in(r, S("usr/bin"))));
}

/* Adds the environment in `dir`. kind: the kind of a folder that belongs to neither venv nor conda; NULL = skip such a
 * folder. */
static void add(struct pythons *p, struct str dir, const char *kind)
{
	static const char *const libs[] = {"lib", "lib64", NULL};
	struct root *r = p->r;
	struct str text, real = root_real(r, dir), meta = path_join(r->a, real, S("conda-meta"));
	struct machine_python py = {.active = real.n && str_eq(real, p->active)};
	struct python_env e = {.r = r, .m = p->m, .py = &py, .dir = real, .mark = root_mark(r)};
	if (!real.n || p->m->pythons.n >= MANY_PYTHONS || !strs_put(r->a, &p->seen, real))
		return;
	bool venv = root_read(r, path_join(r->a, real, S("pyvenv.cfg")), &text) == ROOT_OK;
	bool conda = !venv && root_exists(r, meta);
	if (!venv && !conda && !kind)
		return;
	py.kind = venv ? S("venv") : conda ? S("conda") : str_from(kind);
	if (venv) { /* its "home = /usr/bin" is not followed: a sysroot may lack that folder */
		struct str full = line_value(text, '=', S("version"));
		if (!full.n)
			full = line_value(text, '=', S("version_info"));
		py.version = clean_text(r->a, major_minor(r->a, full));
	}
	struct strs versions = versions_in(r, real, libs);
	if (versions.n && !strs_has(&versions, py.version))
		py.version = versions.v[versions.n - 1];
	add_sites(&e, real, own_sites, py.version);
	if (venv &&
		str_eq(str_lower(r->a, line_value(text, '=', S("include-system-site-packages"))),
			S("true")))
		add_system_sites(&e, py.version, str_eq(py.version, main_version(r)));
	if (finish(p, &e, py.active))
		strs_add(r->a, &p->found, py.path);
}

/* ---- those of the system and the user ---- */

static void add_usr(struct pythons *p)
{
	static const char *const dirs[] = {
		"usr/lib", "usr/lib64", "usr/local/lib", "usr/local/lib64", NULL};
	struct str first = main_version(p->r);
	struct strs versions = {0}, more = versions_in(p->r, S(""), dirs);
	if (first.n)
		strs_add(p->r->a, &versions, first);
	strs_put_all(p->r->a, &versions, &more);
	for (size_t i = 0; i < versions.n; i++) {
		bool main = str_eq(versions.v[i], first) || (!first.n && versions.n == 1);
		struct machine_python py = {.kind = S("system"),
			.version = versions.v[i],
			.active = main && str_eq(p->active, S("usr"))};
		struct python_env e = {p->r, p->m, &py, .dir = S("usr"), .mark = root_mark(p->r)};
		add_system_sites(&e, py.version, main || !first.n);
		finish(p, &e, main);
	}
}

/* Adds the user's packages in ~/.local, which every Python of the same version outside a venv imports before its
 * own. */
static void add_user(struct pythons *p)
{
	static const char *const dirs[] = {"lib", NULL};
	struct str dir = path_join(p->r->a, p->home, S(".local"));
	struct strs versions = versions_in(p->r, dir, dirs);
	for (size_t i = 0; i < versions.n; i++) {
		struct machine_python py = {.kind = S("user"), .version = versions.v[i]};
		struct python_env e = {p->r, p->m, &py, .dir = dir, .mark = root_mark(p->r)};
		VEC_EACH (const struct machine_python, x, &p->m->pythons)
			py.active = py.active || (x->active && !str_eq(x->kind, S("venv")) &&
							 str_eq(x->version, py.version));
		add_sites(&e, dir, own_sites, py.version);
		finish(p, &e, false);
	}
}

/* ---- where environments lie ---- */

/* Adds the folders that a file lists, one on each line. */
static void add_list(struct pythons *p, struct str path)
{
	struct str text, line;
	root_read(p->r, path, &text);
	for (unsigned i = 0; i < MANY_NAMES && str_next(&text, '\n', &line); i++)
		add(p, below_root(p->r->a, str_trim(line)), NULL);
}

/* Adds the folders in these places below `base`; '*' stands for each name that is not hidden. */
static void add_places(struct pythons *p, struct str base, const char *const *places)
{
	struct arena *a = p->r->a;
	for (; *places; places++) {
		struct str dir, then;
		struct strs names = {0};
		bool many = str_cut(str_from(*places), '*', &dir, &then);
		dir = path_clean(a, path_join(a, base, dir));
		const char *kind = str_ends(dir, S(".pyenv/versions")) ? "pyenv" : NULL;
		if (many)
			root_list(p->r, dir, &names);
		else
			add(p, dir, kind);
		for (size_t i = 0; i < names.n && i < MANY_NAMES; i++) {
			struct str one = path_join(a, dir, names.v[i]);
			if (names.v[i].p[0] != '.')
				add(p, str_fmt(a, "%.*s%.*s", STR(one), STR(then)), kind);
		}
	}
}

static struct str variable(struct pythons *p, const char *name)
{
	struct str value;
	root_variable(p->r, str_from(name), &value);
	return value;
}

/* ---- python3 of PATH ---- */

/* The prefix of the version that a pyenv shim runs: PYENV_VERSION or ~/.pyenv/version names it. */
static struct str shim_prefix(struct pythons *p)
{
	struct arena *a = p->r->a;
	struct str file = path_join(a, p->home, S(".pyenv/version")), rest;
	struct str name = variable(p, "PYENV_VERSION");
	if (!name.n)
		root_read(p->r, file, &name);
	str_cut(str_trim(name), '\n', &name, &rest);
	str_cut(name, ':', &name, &rest);
	struct str dir = path_join(a, path_join(a, p->home, S(".pyenv/versions")), name);
	struct str prefix = name.n && path_is_inside(name) ? root_real(p->r, dir) : S("");
	if (prefix.n)
		root_note(p->r, file, name);
	return prefix;
}

/* The prefix of the Python whose bin/ is `dir`, or "". Follows links. In a sysroot the interpreter itself may be
 * missing. */
static struct str prefix_of(struct pythons *p, struct str dir)
{
	struct arena *a = p->r->a;
	struct str real = root_real(p->r, dir);
	if (str_ends(dir, S(".pyenv/shims")))
		return shim_prefix(p);
	dir = real.n ? real : dir;
	struct str prefix = root_real(p->r, path_dir(dir));
	if (!str_eq(path_base(dir), S("bin")))
		return S("");
	if (root_real(p->r, path_join(a, prefix, S("pyvenv.cfg"))).n ||
		root_real(p->r, path_join(a, prefix, S("conda-meta"))).n)
		return prefix;
	dir = path_dir(python_in(p->r, dir));
	return str_eq(path_base(dir), S("bin")) ? path_dir(dir) : S("");
}

static struct str active_prefix(struct pythons *p)
{
	struct arena *a = p->r->a;
	struct str one, path = variable(p, "PATH"), prefix = S("");
	if (!path.n)
		path = str_fmt(a, "%.*s/bin:%.*s/bin:/usr/local/bin:/usr/bin",
			STR(variable(p, "VIRTUAL_ENV")), STR(variable(p, "CONDA_PREFIX")));
	for (unsigned i = 0; i < MANY_FOLDERS && !prefix.n && str_next(&path, ':', &one); i++)
		prefix = prefix_of(p, one = below_root(a, one));
	if (prefix.n)
		root_follow(p->r, one); /* /bin may be a link */
	return prefix;
}

static int by_path(const void *x, const void *y)
{
	const struct machine_python *a = x, *b = y;
	const struct str user = S("user"); /* its packages are imported before the system's */
	int r = (int)b->active - (int)a->active;
	if (!r && a->active)
		r = (int)str_eq(b->kind, user) - (int)str_eq(a->kind, user);
	r = r ? r : str_cmp(a->path, b->path);
	return r ? r : str_cmp(a->version, b->version);
}

void gather_pythons(struct root *r, struct machine *m)
{
	static const char *const more[] = {".venv", "venv"};
	const struct str list = S(".pythons");
	struct pythons p = {.r = r, .m = m, .home = root_real(r, r->home)};
	struct strs names;
	root_list(r, S("home"), &names);
	/* if a sysroot does not show its user, its only folder in /home, or /root, is taken */
	if (!p.home.n && names.n < 2)
		p.home = names.n ? path_join(r->a, S("home"), names.v[0]) : root_real(r, S("root"));
	p.active = active_prefix(&p);
	strs_add(r->a, &p.seen, S("usr"));
	if (p.active.n)
		add(&p, p.active, str_contains(p.active, S(".pyenv/")) ? "pyenv" : "system");
	add(&p, below_root(r->a, variable(&p, "VIRTUAL_ENV")), NULL);
	add(&p, below_root(r->a, variable(&p, "CONDA_PREFIX")), NULL);
	add_usr(&p);
	if (root_real(r, S("usr/local/bin/python3")).n)
		add(&p, S("usr/local"), "system");
	if (p.home.n)
		add_user(&p);
	for (size_t i = 0; !r->dir.n && i < 2; i++)
		add(&p, below_root(r->a, path_abs(r->a, str_from(more[i]))), NULL);
	add_places(&p, S(""), machine_names_table()->environments);
	if (p.home.n) {
		add_places(&p, p.home, machine_names_table()->own_environments);
		add_list(&p, path_join(r->a, p.home, S(".conda/environments.txt")));
	}
	/* in a recording, the list of all environments, some of which only the machine could find */
	add_list(&p, list);
	if (p.found.n)
		root_note(r, list, str_join(r->a, &p.found, S("\n")));
	VEC_SORT(&m->pythons, by_path);
}
