/* Makes the Python environment of a foreign build, and makes it again when its list of packages changes.
 *
 * pip installs the packages, with the user's own configuration. state/packages*.json records the installed packages
 * with their hashes; requirements.txt lets anybody install the same again. We read the requirements of the wheels of
 * --with ourselves, since the user may leave some out, and pip can only install all of them or none. */
#include "archive/index.h"
#include "base/fs_stage.h"
#include "base/glob.h"
#include "base/hash.h"
#include "foreign/foreign_int.h"
#include "formats/node.h"
#include "formats/zip.h"
#include "lang/python/dist_info.h"
#include "lang/python/requirement.h"

enum { MAX_METADATA = 4 << 20, MAX_REPORTS = 9 };

/* packages that a torch for CUDA needs at run time, but no build does */
static const char *const of_cuda[] = {"nvidia-*", "cuda-*", "triton", "pytorch-triton*", NULL};

/* ---- requirements ---- */

static bool is_left_out(const struct foreign *f, struct str requirement)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct str name = requirement_name(f->a, requirement);
	VEC_EACH (const struct str, p, &how->without)
		if (glob_match(requirement_name(f->a, *p), name) || glob_match(*p, name))
			return true;
	return how->torch_as_rocm && glob_match_any(of_cuda, name);
}

/* Adds the Requires-Dist of a wheel, except those of extras and those that the user leaves out. */
static struct err *wheel_needs(struct foreign *f, struct str wheel, struct strs *ret)
{
	struct zip z;
	struct findings findings = {0};
	struct err *e = NULL;
	TRY_CTX(zip_open(f->a, wheel, &findings, &z), "cannot read the wheel '%.*s'", STR(wheel));
	for (size_t i = 0; i < z.members.n && !e; i++) {
		const struct zip_member *m = &z.members.v[i];
		struct dist_headers headers = {0};
		struct str text = {0};
		if (!str_ends(m->name, S(DIST_INFO "/METADATA")) || m->unsafe)
			continue;
		e = zip_read(f->a, &z, m, MAX_METADATA, &text);
		err_free(e ? NULL
			   : dist_headers_parse(f->a, text, &headers)); /* verify reports it */
		VEC_EACH (const struct dist_header, h, &headers)
			if (dist_header_is(h, "Requires-Dist") &&
				!str_contains(h->value, S("extra ==")) &&
				!str_contains(h->value, S("extra==")) && !is_left_out(f, h->value))
				strs_add(f->a, ret, h->value);
	}
	zip_close(&z);
	return e;
}

/* ---- pip ---- */

/* Does the Python that the environment is made of have a pip that installs into others (22.3 and later)? Then the
 * environment needs none of its own, which would take seconds. */
static bool pip_reaches(struct foreign *f)
{
	struct proc p = pip_command(f->a, f->plan->host.python);
	struct proc_result r;
	struct str version, rest;
	p.cwd = f->home;
	proc_arg(f->a, &p, "--version", NULL);
	struct err *e = proc_run(f->a, &p, &r);
	bool good = !e && !r.status && str_starts(r.out, S("pip "));
	err_free(e);
	str_cut(str_sub(r.out, S("pip ").n, r.out.n), ' ', &version, &rest);
	return good && strtod(str_z(f->a, version), NULL) > 22.25;
}

/* Runs pip as the user would, with the user's own configuration and proxies, but without secrets that are not for pip:
 * it runs code of the packages that it builds. */
static struct err *run_pip(struct foreign *f, const struct strs *words)
{
	struct str python = path_join(f->a, f->venv, S("bin/python"));
	bool own = fs_exists(path_join(f->a, f->venv, S("bin/pip")));
	struct proc p = pip_command(f->a, own ? python : f->plan->host.python);
	struct proc_result r;
	struct str report = str_fmt(f->a, "%.*s/packages.new.json", STR(f->state)), at;
	unsigned n = 0;
	p.cwd = f->home;
	do
		at = str_fmt(f->a, "%.*s/packages%u.json", STR(f->state), ++n);
	while (fs_exists(at) && n < MAX_REPORTS);
	VEC_EACH (const struct str, name, &f->withheld)
		if (!str_ends(str_lower(f->a, *name), S("_proxy")) && !str_eq(*name, S("NETRC")))
			strs_add(f->a, &p.setenv, *name);
	if (!own)
		proc_arg(f->a, &p, "--python", str_z(f->a, python), NULL);
	proc_arg(f->a, &p, "install", "--no-input", "--no-warn-script-location", "--no-compile",
		"--root-user-action=ignore", "--report", str_z(f->a, report), NULL);
	strs_add_all(f->a, &p.argv, words);
	TRY_CTX(foreign_run(f, "python", &p, &r), "cannot install what the build of '%.*s' needs",
		STR(f->plan->name));
	return fs_rename(report, at);
}

struct err *foreign_install(struct foreign *f, const struct strs *requirements)
{
	struct strs words = {0}, given = {0};
	struct str name, rest;
	VEC_EACH (const struct str, w, &f->plan->foreign->with) {
		str_cut(path_base(*w), '-', &name, &rest);
		strs_add(f->a, &given, requirement_name(f->a, name));
	}
	VEC_EACH (const struct str, r, requirements) {
		if (!r->n || !ascii_alnum(r->p[0])) /* pip would take it for an option or a path */
			return err_hint(err_new(E_FOREIGN, "'%.*s' is not a requirement", STR(*r)),
				"a requirement names a package: numpy, or numpy>=2");
		if (!strs_has(&given, requirement_name(f->a, *r)))
			strs_add(f->a, &words, *r);
	}
	return words.n ? run_pip(f, &words) : NULL;
}

/* ---- the environment ---- */

static struct err *make_venv(struct foreign *f)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct proc p = {.cwd = f->home}, old = {.cwd = f->home};
	struct proc_result r;
	struct strs wheels = {0}, needs = {0};
	TRY(fs_remove_tree(f->venv));
	for (unsigned n = 1; n <= MAX_REPORTS; n++)
		TRY(fs_remove(str_fmt(f->a, "%.*s/packages%u.json", STR(f->state), n)));
	bool reaches = pip_reaches(f);
	strs_add(f->a, &p.argv, f->plan->host.python);
	proc_arg(f->a, &p, "-m", "venv", str_z(f->a, f->venv), reaches ? "--without-pip" : NULL,
		NULL);
	struct err *e = foreign_run(f, "python", &p, &r);
	if (e && str_contains(r.out, S("ensurepip")))
		e = err_hint(e, "Debian has it in a package of its own: apt install python3-venv");
	if (e)
		return err_wrap(e, "cannot make a Python environment with '%.*s'",
			STR(f->plan->host.python));
	/* ensurepip also installs setuptools, but the build must use the required and recorded version */
	strs_add(f->a, &old.argv, path_join(f->a, f->venv, S("bin/python")));
	proc_arg(f->a, &old, "-m", "pip", "uninstall", "-y", "-q", "--disable-pip-version-check",
		"setuptools", NULL);
	if (!reaches)
		TRY(foreign_run(f, "python", &old, &r));
	if (how->with.n) {
		strs_add(f->a, &wheels, S("--no-deps"));
		strs_add_all(f->a, &wheels, &how->with);
		TRY(run_pip(f, &wheels));
	}
	strs_add_all(f->a, &needs, &how->requires);
	VEC_EACH (const struct str, w, &how->with)
		TRY(wheel_needs(f, *w, &needs));
	return foreign_install(f, &needs);
}

/* The receipt of the environment is a hash of everything that decides its contents. */
struct err *foreign_venv(struct foreign *f)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct str receipt = path_join(f->a, f->state, S("venv"));
	struct job_report *step = foreign_step(f, "python");
	BUF(b, f->a);
	buf_fmt(&b, "environment 1\npython %.*s %.*s\nrequires %.*s\nwithout %.*s\nas_rocm %d\n",
		STR(f->plan->host.python), STR(f->plan->host.python_version),
		STR(str_join(f->a, &how->requires, S(" "))),
		STR(str_join(f->a, &how->without, S(" "))), how->torch_as_rocm);
	VEC_EACH (const struct str, w, &how->with)
		buf_fmt(&b, "%.*s %.*s\n", STR(*w), STR(fs_state(f->a, *w)));
	struct str want = sha256_hex(f->a, buf_str(&b));
	TRY(fs_receipt_check(receipt, want, &step->cached));
	if (!step->cached) {
		TRY(make_venv(f));
		TRY(fs_write(receipt, want, 0644));
	}
	step->done = true;
	return NULL;
}

struct err *foreign_requirements(struct foreign *f, struct str *ret_site)
{
	struct strs records;
	struct plan *plan = NEW(f->a, struct plan);
	*plan = *f->plan;
	plan->foreign = NEW(f->a, struct plan_foreign);
	*plan->foreign =
		(struct plan_foreign){.system = SOURCE_PYTHON, .requires = plan->build_requires};
	f->plan = plan;
	f->tree = f->tmp = f->home = path_join(f->a, f->dir, S("home"));
	f->venv = path_join(f->a, f->dir, S("venv"));
	f->log = path_join(f->a, f->dir, S("log"));
	f->state = path_join(f->a, f->dir, S("state"));
	f->steps[0] = (struct job_report){.kind = S("python"), .name = plan->name};
	const struct str made[] = {f->home, f->log, f->state};
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		TRY(fs_mkdirs(made[i]));
	if (!plan->host.python.n)
		return err_hint(
			err_new(E_PLAN,
				"there is no python3 on this machine to install '%.*s' with",
				STR(str_join(f->a, &plan->build_requires, S(", ")))),
			"install python3, or name one with --python");
	struct err *e = foreign_environment(f);
	if (!e)
		e = foreign_venv(f);
	if (!e)
		e = foreign_packages(f);
	TRY(e);
	TRY(glob_files(f->a, f->venv, S("lib/python3*/site-packages/*/RECORD"), &records));
	*ret_site = records.n ? path_join(f->a, f->venv, path_dir(path_dir(records.v[0]))) : S("");
	return NULL;
}

struct err *foreign_packages(struct foreign *f)
{
	/* lines for "pip install -r", which then accepts only files with these hashes */
	struct strs lines = {0};
	f->packages.n = 0;
	for (unsigned n = 1; n <= MAX_REPORTS; n++) {
		const struct node *root = NULL;
		struct str path = str_fmt(f->a, "%.*s/packages%u.json", STR(f->state), n);
		if (fs_exists(path))
			TRY(json_read(f->a, path, &root));
		const struct node *list = node_get(root, S("install"));
		for (size_t i = 0; list && list->kind == NODE_LIST && i < list->n; i++) {
			const struct node *meta = node_get(&list->v[i], S("metadata"));
			const struct node *from = node_get(&list->v[i], S("download_info"));
			struct str hash =
				node_text(node_get(from, S("archive_info")), S("hash"), S(""));
			*VEC_PUSH(f->a, &f->packages) = (struct foreign_package){
				.name = node_text(meta, S("name"), S("")),
				.version = node_text(meta, S("version"), S("")),
				.url = node_text(from, S("url"), S("")),
				.sha256 = str_starts(hash, S("sha256=")) ? str_sub(hash, 7, hash.n)
									 : S(""),
			};
		}
	}
	VEC_EACH (const struct foreign_package, p, &f->packages) {
		struct str name = requirement_name(f->a, p->name);
		struct str what = str_fmt(f->a, "%.*s==%.*s", STR(name), STR(p->version));
		if (str_starts(p->url, S("file:")))
			what = str_fmt(f->a, "%.*s @ %.*s", STR(name), STR(p->url));
		strs_put(f->a, &lines,
			p->sha256.n ? str_fmt(f->a, "%.*s --hash=sha256:%.*s", STR(what),
					      STR(p->sha256))
				    : str_fmt(f->a, "# %.*s: no hash is known", STR(what)));
	}
	if (!lines.n)
		return NULL;
	strs_sort(&lines);
	struct str text = str_fmt(f->a,
		"# What the build of '%.*s' installed: pip install --no-deps --require-hashes -r\n"
		"%.*s\n",
		STR(f->plan->name), STR(str_join(f->a, &lines, S("\n"))));
	return fs_write(path_join(f->a, f->dir, S("requirements.txt")), text, 0644 | FS_IF_CHANGED);
}
