/* Maps the places of another build system's errors from our copy of the tree, including files that torch's hipify made
 * there, to the user's files. know/message.h reads the log itself. */
#include "base/fs.h"
#include "base/glob.h"
#include "foreign/foreign_int.h"
#include "hipify/hipify.h"
#include "know/know.h"
#include "know/message.h"

enum { MAX_SOURCE = 64 << 20, NEAR = 20 };

struct log_places {
	struct arena *a;
	const struct foreign *f;
	struct str cwd;
};

/* ---- from the copy back to the project ---- */

static bool in_project(const struct log_places *p, struct str rel)
{
	return rel.n && path_is_inside(rel) &&
	       fs_is_file(path_join(p->a, p->f->plan->project, rel));
}

/* Replaces "hip" by "cuda". folders: only in the folder part of the path. */
static struct str as_cuda(struct arena *a, struct str rel, bool folders)
{
	BUF(b, a);
	size_t base = rel.n - path_base(rel).n;
	for (size_t i = 0; i < rel.n; i++) {
		bool hip = str_starts(str_sub(rel, i, rel.n), S("hip")) && (i < base || !folders);
		buf_add(&b, hip ? S("cuda") : str_sub(rel, i, i + 1));
		i += hip ? 2 : 0;
	}
	return str_dup(a, buf_str(&b));
}

static struct str in_tree(const struct log_places *p, struct str path)
{
	struct str full = path_clean(p->a, path_join(p->a, p->cwd, path));
	struct str top = str_fmt(p->a, "%.*s/", STR(p->f->tree));
	return str_starts(full, top) ? str_sub(full, top.n, full.n) : S("");
}

/* The user's file for a path in a message. For a file that torch's hipify made, it is the source: "cuda/a_cuda.cuh" for
 * "hip/a_hip.cuh". */
static struct str project_file(const void *user, struct str path)
{
	static const struct {
		const char *made, *source;
	} ends[] = {{".hip", ".cu"}, {"_hip.hip", ".cu"}, {"_hip.cpp", ".cpp"}, {"_hip.cc", ".cc"},
		{"_hip.h", ".h"}, {"_hip.hpp", ".hpp"}, {"_hip.cuh", ".cuh"}, {"", ""}};
	const struct log_places *p = user;
	struct str rel = in_tree(p, path);
	if (!rel.n || in_project(p, rel))
		return rel;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct str end = str_from(ends[i].made);
		if (!str_ends(rel, end))
			continue;
		struct str name = str_fmt(
			p->a, "%.*s%s", STR(str_sub(rel, 0, rel.n - end.n)), ends[i].source);
		struct str names[] = {name, as_cuda(p->a, name, true), as_cuda(p->a, name, false)};
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (in_project(p, names[k]))
				return names[k];
	}
	return S("");
}

struct str foreign_project_file(const struct foreign *f, struct str cwd, struct str path)
{
	const struct log_places places = {.a = f->a, .f = f, .cwd = cwd};
	return project_file(&places, path);
}

static struct strs lines_of(struct arena *a, struct str text)
{
	struct strs list = {0};
	struct str line;
	while (str_next(&text, '\n', &line))
		strs_add(a, &list, line);
	return list;
}

/* hipify adds lines at the top and changes names within lines. So the place in the source is a line nearby with the
 * same text, or else the line at the same distance from the end. */
static void map_place(const void *user, struct str file, struct message *at)
{
	const struct log_places *p = user;
	struct str made_text, text, rel = in_tree(p, at->path);
	if (str_eq(rel, file) || !rel.n)
		return;
	struct err *e = fs_read(p->a, path_join(p->a, p->f->tree, rel), MAX_SOURCE, &made_text);
	if (!e)
		e = fs_read(p->a, path_join(p->a, p->f->plan->project, file), MAX_SOURCE, &text);
	if (e) {
		err_free(e);
		return;
	}
	struct strs made = lines_of(p->a, made_text), source = lines_of(p->a, text);
	size_t more = made.n > source.n ? made.n - source.n : 0;
	if (!at->line || at->line > made.n)
		return;
	struct str line = made.v[at->line - 1];
	size_t guess = at->line > more ? at->line - more : 1;
	for (size_t off = 0; off <= NEAR; off++) {
		size_t up = guess > off ? guess - off : 1, down = guess + off;
		size_t hit = up <= source.n && str_eq(source.v[up - 1], line)       ? up
			     : down <= source.n && str_eq(source.v[down - 1], line) ? down
										    : 0;
		if (hit) {
			at->line = (unsigned)hit;
			return;
		}
	}
	at->line = (unsigned)guess;
	at->col = 0;
}

/* ---- errors ---- */

struct header_search {
	struct arena *a;
	struct str name, found;
};

static struct err *find_header(void *user, struct fs_entry *e)
{
	struct header_search *h = user;
	e->prune = str_eq(e->path, S(".git")) || h->found.n;
	if (!h->found.n && S_ISREG(e->st.st_mode) && str_eq(path_base(e->path), h->name))
		h->found = str_dup(h->a, e->path);
	return NULL;
}

/* A header that is not found may be in the project, or be missing from it: one that it includes by quotes is its own. */
static void hint_header(const struct log_places *p, struct err *e)
{
	struct str part, text = S("");
	const struct know_rule *rule = know_match("header", str_from(e->msg), &part);
	if (!rule || !e->path || know_header(part))
		return;
	struct hipify_text cuda;
	struct str include = str_fmt(p->a, "#include <%.*s>\n", STR(part));
	struct err *unread = hipify_text(p->a, include, S("x.h"), NULL, &cuda);
	if (!unread && cuda.untranslated.n) {
		err_hint(e, "%.*s", STR(hipify_lacks(p->a, cuda.untranslated.v)));
		return;
	}
	err_free(unread);
	struct header_search h = {.a = p->a, .name = path_base(part), .found = S("")};
	err_free(fs_walk(p->f->plan->project, find_header, &h));
	if (h.found.n) {
		err_hint(e,
			"the project has '%.*s', in a folder that this compile does not look into",
			STR(h.found));
		return;
	}
	err_free(fs_read(p->a, str_from(e->path), MAX_SOURCE, &text));
	struct strs lines = lines_of(p->a, text);
	if (e->line && e->line <= lines.n && str_contains(lines.v[e->line - 1], S("\"")))
		err_hint(e,
			"no file of the project is called '%.*s': this distribution of the sources "
			"lacks "
			"it, or what makes it has not run",
			STR(h.name));
}

/* The rest of an error's message behind these words, or "". */
static struct str behind(const struct err *e, struct str words)
{
	struct str text = str_from(e->msg);
	return str_sub(text, str_find(text, words) + words.n, text.n);
}

/* Says more of a library that the linker does not find: the project's own CMake files make it, or it lies in a folder of its own,
 * as HDF5's and MPI's do in Debian. */
static struct err *hint_library(const struct foreign *f, struct err *e)
{
	struct str name = behind(e, S("cannot find -l")), cmake = {0};
	struct strs found;
	if (!name.n)
		return e;
	name = str_sub(name, 0, str_chr(name, ':'));
	err_free(fs_read_opt(
		f->a, path_join(f->a, f->plan->project, S("CMakeLists.txt")), MAX_SOURCE, &cmake));
	if (str_contains(cmake, str_fmt(f->a, "add_library(%.*s", STR(name)))) {
		err_drop_hints(e); /* no package has it */
		return err_hint(e,
			"its own CMakeLists.txt makes lib%.*s, and its setup.py expects it to be "
			"installed; 'system: cmake' below 'build:' in rocsmith.yaml builds that",
			STR(name));
	}
	for (const char *up = "*/*/*/"; *up; up += 2) {
		struct err *no = glob_files(
			f->a, S("/usr/lib"), str_fmt(f->a, "%slib%.*s.so", up, STR(name)), &found);
		if (!no && found.n)
			return err_hint(e,
				"/usr/lib/%.*s has it: say so in rocsmith.yaml: build: {env: "
				"[\"LIBRARY_PATH=/usr/lib/%.*s\"]}",
				STR(path_dir(found.v[0])), STR(path_dir(found.v[0])));
		err_free(no);
	}
	return e;
}

/* Proposes an older release of a package that pip installed if a file is missing in it, as where its files have moved since. */
static struct err *hint_release(const struct foreign *f, struct err *e)
{
	struct str rest = behind(e, S("/site-packages/")), top, name, version, list;
	struct strs records;
	if (!str_contains(str_lower(f->a, str_from(e->msg)), S("no such file")) ||
		!str_cut(rest, '/', &top, &rest))
		return e;
	err_free(glob_files(
		f->a, f->venv, S("lib/python3*/site-packages/*.dist-info/RECORD"), &records));
	VEC_EACH (const struct str, record, &records) {
		list = S("");
		err_free(fs_read_opt(f->a, path_join(f->a, f->venv, *record), MAX_SOURCE, &list));
		if (!str_contains(list, str_fmt(f->a, "\n%.*s/__init__.py,", STR(top))))
			continue;
		str_cut(path_base(path_dir(*record)), '-', &name, &version);
		version = str_sub(version, 0, str_find(version, S(".dist-info")));
		size_t series = str_chr(version, '.') + 1; /* "1.2" of "1.2.8" */
		series +=
			series < version.n ? str_chr(str_sub(version, series, version.n), '.') : 0;
		return err_hint(e,
			"%.*s %.*s has no such file; an older one may have it: build: {requires: "
			"[\"%.*s<%.*s\"]}",
			STR(name), STR(version), STR(name), STR(str_sub(version, 0, series)));
	}
	return e;
}

/* A package that is installed, and that Meson's `run_command(python, '-c', 'import NAME ...')` cannot import, needs no other one. */
static struct err *hint_import(const struct foreign *f, struct err *e)
{
	struct str name = behind(e, S("-c 'import "));
	struct strs found = {0};
	size_t end = 0;
	while (end < name.n && ascii_word(name.p[end]))
		end++;
	name = str_sub(name, 0, end);
	if (!name.n)
		return e;
	err_free(glob_files(f->a, f->venv,
		str_fmt(f->a, "lib/python3*/site-packages/%.*s/__init__.py", STR(name)), &found));
	if (!found.n)
		return e;
	err_drop_hints(e);
	return err_hint(e,
		"'%.*s' is installed, but cannot be imported: %.*s/bin/python -c 'import %.*s' "
		"says why",
		STR(name), STR(f->venv), STR(name));
}

/* Names all modules that driver.py knows the build to lack: Python stops at the first, and the next build would at the second. */
static struct err *hint_modules(const struct foreign *f, struct err *e, struct str text)
{
	const struct str said = S("rocsmith: modules that are not there: ");
	const struct know_rule *rule, *plain = NULL;
	struct strs packages = {0};
	struct str part, list = str_sub(text, str_find(text, said) + said.n, text.n);
	struct strs names = str_split(f->a, str_sub(list, 0, str_chr(list, '\n')), ',');
	if (!str_contains(str_from(e->msg), S("No module named")) || names.n < 2)
		return e;
	err_drop_hints(e);
	VEC_EACH (const struct str, name, &names) {
		struct str told = str_fmt(f->a, "No module named '%.*s'", STR(*name));
		rule = know_match("build", told, &part);
		if (rule && part.n) {
			strs_add(f->a, &packages, part);
			plain = rule;
		} else if (rule && rule->hint) {
			err_hint(e, "%s", rule->hint);
		}
	}
	list = str_join(f->a, &packages, S(", "));
	if (packages.n > 1)
		return err_hint(e,
			"%.*s are not there: name the packages that have them in rocsmith.yaml: "
			"build: {requires: [%.*s]}",
			STR(list), STR(list));
	return plain ? err_hint(e, "%.*s", STR(know_hint(f->a, plain, list))) : e;
}

struct err *foreign_explain(const struct foreign *f, const char *kind, const struct proc *p,
	const struct proc_result *r, struct str text)
{
	struct log_places places = {.a = f->a, .f = f, .cwd = p->cwd};
	const struct message_origin origin = {.a = f->a,
		.project = f->plan->project,
		.cmake = f->tree,
		.program = E_FOREIGN,
		.tools = {"build", "header", "ld"},
		.user = &places,
		.file = project_file,
		.map = map_place};
	bool ended = r->timed_out || r->status > 128; /* a signal ended it */
	struct err *e = ended ? NULL : message_first_error(&origin, text);
	struct str part;
	const struct know_rule *net = know_match("download", text, &part);
	if (e)
		hint_header(&places, e);
	/* CMake and Python often go on after a download that failed, and stop at what lacks it */
	if (e && net && e->code == E_FOREIGN) {
		struct err *first = err_new(net->code, "%.*s",
			STR(str_replace(f->a, str_from(net->about), S("*"), part)));
		err_detail(first, str_fmt(f->a, "then: %s\n", e->msg));
		if (net->hint)
			err_hint(first, "%s", net->hint);
		if (e->path)
			err_at(first, (struct loc){str_from(e->path), e->line, e->col});
		err_free(e);
		e = first;
	}
	const struct know_rule *pip = e || ended ? NULL : know_match("pip", text, &part);
	if (pip)
		e = err_hint(err_new(E_FOREIGN, "%.*s",
				     STR(str_replace(f->a, str_from(pip->about), S("*"), part))),
			"%.*s", STR(know_hint(f->a, pip, part)));
	bool full = proc_lacks_space(e ? str_from(e->msg) : text);
	if (!e)
		e = err_wrap(proc_failure(p, r), "the step '%s' of '%.*s' failed", kind,
			STR(f->plan->name));
	e->code = full ? E_NOSPACE : e->code;
	e = hint_modules(f, hint_import(f, hint_release(f, hint_library(f, e))), text);
	return err_hint(message_hint_killed(e, r), "its whole output is in '%.*s'", STR(p->log));
}

struct err *foreign_check_rocm(const struct foreign *f, struct str text)
{
	struct str part;
	const struct know_rule *rule = know_match("rocm-off", text, &part);
	if (!rule)
		return NULL;
	struct err *e = err_new(E_FOREIGN, "'%.*s' is configured, but without ROCm: %s",
		STR(f->plan->name), rule->about);
	if (rule->hint)
		err_hint(e, "%.*s", STR(know_hint(f->a, rule, part)));
	return err_hint(e, "its whole output is in '%.*s/configure.log'", STR(f->log));
}
