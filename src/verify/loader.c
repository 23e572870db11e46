/* What the dynamic loader will do with the libraries of a wheel: where each needed library comes
 * from and in which folders it is looked for. */
#include <fnmatch.h>

#include "base/fs.h"
#include "know/know.h"
#include "verify/exam.h"

enum { NEED_COST = 300 }; /* work of looking for a library in one folder */

/* Something odd that several files may share: it is said once, for the first of them. */
struct remark {
	enum verify_id id;
	struct str what; /* a library or an element of an RPATH */
	const struct wheel_elf *by;
	size_t more;
};

struct remarks {
	struct remark *v;
	size_t n, cap;
	struct map of[V_COUNT]; /* by what it is about: its index, plus one */
};

static void remark(struct exam *x, struct remarks *list, struct remark r)
{
	struct map *m = &list->of[r.id];
	m->a = x->a;
	uintptr_t at = (uintptr_t)map_get(m, r.what);
	if (at) {
		list->v[at - 1].more++;
		return;
	}
	*VEC_PUSH(x->a, list) = r;
	map_put(m, r.what, (void *)(uintptr_t)list->n);
}

/* ---- folders ---- */

static struct str search_path(const struct wheel_elf *e)
{
	return e->dyn.runpath.n ? e->dyn.runpath : e->dyn.rpath;
}

/* The libraries of the wheel, by whole name, by file name, and by soname. */
struct inside {
	struct map paths, names;
};

/* The folders of the wheel that the loader searches for this file. */
static struct strs folders_of(struct arena *a, const struct wheel_elf *by)
{
	enum { MOST = 1000 };
	struct str rest = search_path(by), element;
	struct strs dirs = {0};
	MAP(seen, a);
	while (dirs.n < MOST && str_next(&rest, ':', &element)) {
		struct str dir = wheel_origin(a, element, by->name);
		if (dir.n && map_put(&seen, dir, NULL))
			strs_add(a, &dirs, dir);
	}
	return dirs;
}

/* The loader looks for file names; a soname alone helps only once the library is loaded. */
static struct err *find_missing(
	struct exam *x, const struct inside *all, const struct wheel_elf *e, struct remarks *list)
{
	ARENA(tmp);
	struct strs dirs = folders_of(&tmp, e);
	for (size_t i = 0; i < e->dyn.needed.n; i++) {
		struct str lib = e->dyn.needed.v[i];
		bool found = false, here = map_has(&all->names, lib);
		TRY(budget_work(x->zip.src.budget, NEED_COST * (1 + (here ? dirs.n : 0))));
		for (size_t k = 0; k < dirs.n && here && !found; k++)
			found = map_has(&all->paths, path_join(&tmp, dirs.v[k], lib));
		if (!found && (here || !wheel_library_allowed(lib)))
			remark(x, list,
				(struct remark){
					here ? V_NEEDED_HIDDEN : V_NEEDED_MISSING, lib, e, 0});
	}
	return NULL;
}

/* ---- needed libraries ---- */

static struct err *missing_libraries(struct exam *x, struct remarks *ret)
{
	struct inside all = {.paths.a = x->a, .names.a = x->a};
	VEC_EACH (const struct wheel_elf, e, &x->elfs) {
		map_put(&all.paths, e->name, NULL);
		map_put(&all.names, path_base(e->name), NULL);
		map_put(&all.names, e->dyn.soname, NULL);
	}
	VEC_EACH (const struct wheel_elf, e, &x->elfs)
		TRY(find_missing(x, &all, e, ret));
	return NULL;
}

/* The pattern of --allow that lets the library come from outside, or "". */
static struct str allowed_by(struct exam *x, struct str lib)
{
	VEC_EACH (const struct str, pattern, &x->o->allow)
		if (fnmatch(str_z(x->a, *pattern), str_z(x->a, lib), 0) == 0)
			return *pattern;
	return S("");
}

/* Files of an SDK are looked for by a name that a stranger wrote. */
static bool sdk_has(struct exam *x, struct str lib)
{
	if (!lib.n || str_chr(lib, '/') < lib.n)
		return false;
	VEC_EACH (const struct str, dir, &x->o->sdk_dirs)
		if (fs_is_file(path_join(x->a, *dir, lib)))
			return true;
	return false;
}

static void say_missing(struct exam *x, const struct remark *r)
{
	static const enum verify_id ids[] = {[KNOW_ROCM] = V_NEEDED_ROCM,
		[KNOW_PACKAGE] = V_NEEDED_PACKAGE,
		[KNOW_CUDA] = V_NEEDED_CUDA};
	struct str needs = str_fmt(x->a, "needs '%.*s'", STR(r->what)), file = r->by->name;
	struct str pattern = allowed_by(x, r->what);
	const struct know_other *other = know_soname(r->what);
	bool sdk = x->o->sdk.n > 0;
	struct finding *f;
	if (sdk && other && other->origin == KNOW_ROCM)
		other = NULL;
	if (r->more)
		needs = str_fmt(x->a, "%.*s (and by %zu more)", STR(needs), r->more);
	if (r->id == V_NEEDED_HIDDEN) {
		f = exam_say(x, r->id, file,
			"%.*s, which is in the wheel, but in no folder that its RPATH names",
			STR(needs));
		finding_fix(x->a, f, "link with an RPATH that begins with $ORIGIN");
	} else if (pattern.n) {
		exam_say(x, V_NEEDED_ALLOWED, file,
			"%.*s, which --allow %.*s lets come from outside", STR(needs),
			STR(pattern));
	} else if (sdk_has(x, r->what)) {
		exam_say(x, V_NEEDED_SDK, file, "%.*s, which the SDK '%.*s' provides", STR(needs),
			STR(x->o->sdk));
	} else if (other) {
		f = exam_say(x, ids[other->origin], file, "%.*s, which %s must provide", STR(needs),
			other->who);
		if (other->project && !strs_has(&x->requires, str_from(other->project)))
			finding_fix(
				x->a, f, "say so in METADATA: Requires-Dist: %s", other->project);
	} else {
		f = exam_say(x, r->id, file, "%.*s, which neither the wheel nor %s provides",
			STR(needs), sdk ? "the SDK" : "PEP 600");
		finding_fix(x->a, f, "put the library into the wheel and link with RPATH $ORIGIN");
		finding_fix(x->a, f, "if the machine brings it: rocsmith verify --allow '%.*s'",
			STR(r->what));
		if (!sdk)
			finding_fix(x->a, f, "if an SDK has it: rocsmith verify --sdk NAME");
	}
}

/* HIP's start-up code is called, but no library is named that has it: it loads only where another
 * library has brought HIP in. */
static void check_unstated(struct exam *x, const struct wheel_elf *e)
{
	bool uses = false;
	for (size_t i = 0; i < e->dyn.undefined.n && !uses; i++)
		uses = str_starts(e->dyn.undefined.v[i], S("__hipRegister"));
	for (size_t i = 0; i < e->dyn.needed.n; i++)
		if (str_starts(e->dyn.needed.v[i], S("libamdhip64")))
			return;
	if (uses)
		exam_say(x, V_NEEDED_UNSTATED, e->name,
			"calls HIP (__hipRegister...), but does not need libamdhip64.so");
}

/* ---- RPATH ---- */

static enum verify_id judge_element(struct str e)
{
	static const char *const writable[] = {"/tmp", "/var/tmp", "/dev/shm", NULL};
	if (!e.n)
		return V_RPATH_EMPTY;
	if (e.p[0] == '$')
		return V_COUNT;
	if (e.p[0] != '/')
		return V_RPATH_RELATIVE;
	for (size_t i = 0; writable[i]; i++) {
		struct str dir = str_from(writable[i]);
		if (str_starts(e, dir) && (e.n == dir.n || e.p[dir.n] == '/'))
			return V_RPATH_WRITABLE;
	}
	return str_starts(e, S("/opt/rocm")) ? V_RPATH_ROCM : V_RPATH_ABSOLUTE;
}

static void say_element(struct exam *x, const struct remark *e)
{
	static const char *const what[V_COUNT] = {
		[V_RPATH_EMPTY] = "an empty element, which means the current folder",
		[V_RPATH_RELATIVE] = "is relative to the current folder",
		[V_RPATH_WRITABLE] = "is a folder that anyone may write to",
		[V_RPATH_ABSOLUTE] = "is a folder of the machine that built it",
		[V_RPATH_ROCM] = "is where ROCm is on some machines only",
	};
	const char *tag = e->by->dyn.runpath.n ? "RUNPATH" : "RPATH";
	struct str more = e->more ? str_fmt(x->a, " (as in %zu more)", e->more) : S("");
	struct finding *f;
	if (e->id == V_RPATH_EMPTY)
		f = exam_say(
			x, e->id, e->by->name, "its %s%.*s has %s", tag, STR(more), what[e->id]);
	else
		f = exam_say(x, e->id, e->by->name, "'%.*s' in its %s%.*s %s", STR(e->what), tag,
			STR(more), what[e->id]);
	if (e->id != V_RPATH_ROCM)
		finding_fix(x->a, f, "patchelf --set-rpath '$ORIGIN' on the file, before packing");
}

/* Each kind once a file: one RUNPATH in the wild has 79 elements. */
static void check_rpath(struct exam *x, const struct wheel_elf *e, struct remarks *list)
{
	struct str path = search_path(e);
	bool said[V_COUNT] = {0};
	size_t from = 0;
	for (size_t i = 0; path.n && i <= path.n; i++) {
		if (i < path.n && path.p[i] != ':')
			continue;
		struct str at = str_sub(path, from, i);
		enum verify_id id = judge_element(at);
		from = i + 1;
		if (id == V_COUNT || said[id])
			continue;
		said[id] = true;
		remark(x, list, (struct remark){.id = id, .what = at, .by = e});
	}
}

struct err *check_loader(struct exam *x)
{
	struct remarks missing = {0}, bad = {0};
	TRY(missing_libraries(x, &missing));
	VEC_EACH (const struct remark, r, &missing)
		say_missing(x, r);
	VEC_EACH (const struct wheel_elf, e, &x->elfs) {
		check_unstated(x, e);
		check_rpath(x, e, &bad);
		if (e->dyn.textrel)
			exam_say(x, V_ELF_TEXTREL, e->name,
				"its code must be changed while loading (DT_TEXTREL)");
	}
	VEC_EACH (const struct remark, e, &bad)
		say_element(x, e);
	return NULL;
}
