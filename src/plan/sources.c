/* Finds the sources of a project and follows their includes; see plan_int.h. */
#include "plan/plan_int.h"

#include "base/fs.h"
#include "base/glob.h"
#include "hipify/hipify.h"

enum {
	MAX_SOURCES = 4096,
	MAX_SOURCE_SIZE = 16 << 20,
	MOST_EXTERNAL = 10000 /* headers; they only tell which libraries are meant */
};

struct header_finder {
	struct arena *a;
	const struct project *p;
	struct plan *plan;
	struct strs roots; /* files that the description names or matches */
	struct strs exact; /* the roots named without a wildcard */
	struct strs files; /* all files of the project; found on demand */
};

static const struct {
	const char *ext;
	enum plan_lang lang;
} langs[] = {
	{.ext = ".cu", .lang = PLAN_HIP},
	{.ext = ".hip", .lang = PLAN_HIP},
	{.ext = ".cpp", .lang = PLAN_CXX},
	{.ext = ".cc", .lang = PLAN_CXX},
	{.ext = ".cxx", .lang = PLAN_CXX},
	{.ext = ".c", .lang = PLAN_C},
};

static bool lang_of(struct str path, enum plan_lang *ret)
{
	for (size_t i = 0; i < sizeof(langs) / sizeof(langs[0]); i++)
		if (str_eq(path_ext(path), str_from(langs[i].ext))) {
			*ret = langs[i].lang;
			return true;
		}
	return false;
}

static struct err *one_pattern(struct header_finder *f, const struct node *n)
{
	struct strs hits;
	bool exact = !glob_is_pattern(n->text);
	if (n->kind == NODE_LIST || n->kind == NODE_MAP || !n->text.n)
		return node_error(n, E_PROJECT, "a file name or a pattern is expected here");
	if (!path_is_inside(n->text))
		return err_hint(
			node_error(n, E_PROJECT, "'%.*s' is outside of the project", STR(n->text)),
			"sources are named relative to the project folder, below it");
	TRY(plan_files(f->a, f->plan, f->p->dir, n->text, &hits));
	if (!hits.n && fs_is_dir(path_join(f->a, f->p->dir, n->text)))
		return err_hint(node_error(n, E_PROJECT, "'%.*s' is a folder", STR(n->text)),
			"write '%.*s/*.cu' or '%.*s/**/*.cu'", STR(n->text), STR(n->text));
	if (fs_leads_out(path_join(f->a, f->p->dir, n->text)))
		return err_hint(
			node_error(n, E_PROJECT, "'%.*s' leads out of the project", STR(n->text)),
			"put a copy of the file in its place");
	if (!hits.n && exact)
		return node_error(n, E_PROJECT, "no such source '%.*s' in '%.*s'", STR(n->text),
			STR(f->p->dir));
	if (!hits.n)
		return node_error(n, E_PROJECT, "the pattern '%.*s' matches no file in '%.*s'",
			STR(n->text), STR(f->p->dir));
	VEC_EACH (struct str, h, &hits) {
		enum plan_lang lang;
		if (exact && !lang_of(*h, &lang))
			return err_hint(node_error(n, E_PROJECT, "'%.*s' is not a source", STR(*h)),
				"sources end in .cu .hip .cpp .cc .cxx or .c; headers need not "
				"be listed");
		if (!lang_of(*h, &lang))
			continue;
		strs_put(f->a, &f->roots, *h);
		if (exact)
			strs_add(f->a, &f->exact, *h);
	}
	return NULL;
}

static struct err *drop_excluded(struct header_finder *f)
{
	const struct node *list;
	TRY(project_list(f->a, f->p->root, "exclude", &list));
	struct strs kept = {0};
	VEC_EACH (const struct str, root, &f->roots) {
		bool drop = false;
		for (size_t i = 0; list && i < list->n; i++) {
			const struct node *n = &list->v[i];
			if (n->kind == NODE_LIST || n->kind == NODE_MAP || !n->text.n)
				return node_error(
					n, E_PROJECT, "a file name or a pattern is expected here");
			drop |= glob_match(path_clean(f->a, n->text), *root);
		}
		if (!drop)
			strs_add(f->a, &kept, *root);
	}
	f->roots = kept;
	if (kept.n > MAX_SOURCES)
		return err_new(E_LIMIT, "%zu sources in '%.*s', more than %d", kept.n,
			STR(f->p->dir), MAX_SOURCES);
	return NULL;
}

struct err *plan_scan_file(struct arena *a, struct plan *plan, struct str path, size_t most,
	const struct plan_scan **ret)
{
	struct plan_scan *s = map_get(&plan->scans, path);
	if (!s) {
		s = NEW(a, struct plan_scan);
		TRY(fs_read(a, path_join(a, plan->project, path), most, &s->text));
		scan_text(a, s->text, &s->cxx);
		map_put(&plan->scans, path, s);
	}
	*ret = s;
	return NULL;
}

static void leave_out(struct header_finder *f, struct str path, const char *why)
{
	struct str subject = str_fmt(f->a, "source %.*s", STR(path));
	plan_explain(f->a, f->plan, subject.p, S("left out"), "%s", why);
}

/* Finds a header as the compiler would; *ret is relative to the project, "" if it is outside. If no include folder has
 * the header but exactly one folder of the project does, and the description names no include folders, that one becomes
 * an include folder. */
static struct err *find_header(
	struct header_finder *f, struct str from, const struct scan_include *inc, struct str *ret)
{
	const char *const *system = source_words_table()->system_headers;
	struct str head = str_sub(inc->name, 0, str_chr(inc->name, '/'));
	struct str end = str_fmt(f->a, "/%.*s", STR(inc->name)), hit = {0};
	*ret = S("");
	if (!inc->name.n || inc->name.p[0] == '/')
		return NULL;
	bool found = false;
	for (size_t i = inc->quoted ? 0 : 1; !found && i <= f->plan->includes.n; i++) {
		struct str dir = i ? f->plan->includes.v[i - 1] : path_dir(from);
		hit = path_clean(f->a, path_join(f->a, dir, inc->name));
		struct str full = path_join(f->a, f->p->dir, hit);
		found = path_is_inside(hit);
		VEC_EACH (const struct str, may, &f->plan->includes)
			found = found || path_is_below(hit, *may);
		found = found && fs_exists(full) && !fs_is_dir(full) && !fs_leads_out(full);
	}
	if (found) {
		*ret = hit;
		return NULL;
	}
	hit = S("");
	if (f->p->includes.n || str_contains(inc->name, S("..")) ||
		(!inc->quoted && (head.n == inc->name.n || str_is_one_of(head, system))))
		return NULL;
	if (!f->files.n)
		TRY(plan_files(f->a, f->plan, f->p->dir, S("**/*"), &f->files));
	VEC_EACH (const struct str, path, &f->files) {
		if (!str_ends(*path, end) || source_is_aside(*path))
			continue;
		if (hit.n)
			return NULL; /* ambiguous */
		hit = *path;
	}
	if (!hit.n)
		return NULL;
	struct str dir = str_sub(hit, 0, hit.n - end.n);
	strs_put(f->a, &f->plan->includes, dir);
	plan_explain(f->a, f->plan, str_fmt(f->a, "include folder %.*s", STR(dir)).p, dir,
		"the sources include '%.*s', which lies there alone", STR(inc->name));
	*ret = hit;
	return NULL;
}

/* Adds the facts of the file and of all files it includes, depth-first, each file once: those in `seen`. */
static struct err *follow(struct header_finder *f, struct map *seen, struct str path,
	unsigned depth, struct cxx_scan *facts)
{
	const struct plan_scan *s;
	if (!map_put(seen, path, f) || depth > 200)
		return NULL;
	TRY(plan_scan_file(f->a, f->plan, path, MAX_SOURCE_SIZE, &s));
	if (s->cxx.limited_api > facts->limited_api)
		facts->limited_api = s->cxx.limited_api;
	VEC_EACH (struct scan_include, inc, &s->cxx.includes) {
		struct str hit;
		TRY(find_header(f, path, inc, &hit));
		if (hit.n) {
			strs_put(f->a, &f->plan->headers, hit);
			TRY(follow(f, seen, hit, depth + 1, facts));
			continue;
		}
		if (str_eq(path_base(inc->name), S("Python.h")))
			facts->python = true;
		if (f->plan->external.n < MOST_EXTERNAL)
			strs_put(f->a, &f->plan->external, inc->name);
	}
	return NULL;
}

/* Drops files with main() that are only matched by a pattern, since they are programs beside the library. If there are
 * no other sources, they are the project. Their includes are not followed, since a source that only a program includes
 * must be compiled by itself. */
static struct err *drop_programs(struct header_finder *f)
{
	struct strs kept = {0}, programs = {0};
	bool others = false;
	VEC_EACH (const struct str, path, &f->roots) {
		const struct plan_scan *s;
		TRY(plan_scan_file(f->a, f->plan, *path, MAX_SOURCE_SIZE, &s));
		bool program = s->cxx.has_main && !s->cxx.modules.n;
		others |= !program;
		strs_add(f->a, program && !strs_has(&f->exact, *path) ? &programs : &kept, *path);
	}
	if (!others)
		return NULL;
	VEC_EACH (const struct str, path, &programs)
		leave_out(f, *path, "it defines main(), so it is a program, not part of a library");
	f->roots = kept;
	return NULL;
}

/* Makes sources of the roots, except those that another source includes, which are compiled there. */
static struct err *select_sources(struct header_finder *f, struct cxx_scan **ret)
{
	struct cxx_scan *facts = *ret = arena_array(f->a, f->roots.n + 1, sizeof(*facts));
	for (size_t i = 0; i < f->roots.n; i++) {
		const struct plan_scan *s;
		MAP(seen, f->a);
		TRY(plan_scan_file(f->a, f->plan, f->roots.v[i], MAX_SOURCE_SIZE, &s));
		facts[i] = s->cxx;
		TRY(follow(f, &seen, f->roots.v[i], 0, &facts[i]));
		/* pybind11 and the like include Python.h themselves. */
		facts[i].python |= s->cxx.modules.n > 0;
	}
	for (size_t i = 0; i < f->roots.n; i++) {
		struct plan_source s = {
			.path = f->roots.v[i],
		};
		if (!strs_has(&f->exact, s.path) && strs_has(&f->plan->headers, s.path)) {
			leave_out(f, s.path, "another source includes it, so it is compiled there");
			continue;
		}
		s.output = hipify_output_name(f->a, s.path);
		if (!str_eq(s.output, s.path) && strs_has(&f->roots, s.output))
			s.output = str_fmt(f->a, "%.*s.hip", STR(s.path));
		(void)lang_of(s.path, &s.lang);
		facts[f->plan->sources.n] = facts[i];
		*VEC_PUSH(f->a, &f->plan->sources) = s;
	}
	if (f->plan->sources.n)
		return NULL;
	return err_hint(project_error(f->p, S("sources"), E_PROJECT,
				"every source of '%.*s' is left out", STR(f->p->dir)),
		"name the wanted ones in 'sources' without wildcards");
}

struct err *sources_find(
	struct arena *a, const struct project *p, struct plan *plan, struct cxx_scan **ret)
{
	struct header_finder f = {.a = a, .p = p, .plan = plan};
	const struct node *list;
	plan->scans.a = a;
	TRY(project_list(a, p->root, "sources", &list));
	if (list)
		NODE_EACH (n, list)
			TRY(one_pattern(&f, n));
	for (size_t i = 0; !list && i < sizeof(langs) / sizeof(langs[0]); i++) {
		struct strs hits;
		TRY(plan_files(a, plan, p->dir, str_fmt(a, "**/*%s", langs[i].ext), &hits));
		VEC_EACH (struct str, h, &hits)
			if (!source_is_aside(*h))
				strs_add(a, &f.roots, *h);
	}
	if (!f.roots.n && list)
		return node_error(list, E_PROJECT, "'sources' names no source");
	if (!f.roots.n)
		return err_hint(project_error(p, S("sources"), E_PROJECT, "no sources in '%.*s'",
					STR(p->dir)),
			"put .cu files there, or list them as 'sources' in rocsmith.yaml");
	if (!list)
		strs_sort(&f.roots);
	TRY(drop_excluded(&f));
	size_t found = f.roots.n;
	TRY(drop_programs(&f));
	TRY(select_sources(&f, ret));
	strs_sort(&plan->headers);
	struct str count = str_fmt(a, "%zu of %zu files", plan->sources.n, found);
	if (list)
		plan_explain(
			a, plan, "sources", count, "'sources' of %.*s", STR(path_base(p->file)));
	else
		plan_explain(a, plan, "sources", count,
			"no 'sources' are named, so all .cu .hip .cpp .cc .cxx .c files count, "
			"without folders for tests, examples, documents and build output");
	return NULL;
}
