/* What the dynamic loader will do with the libraries of a wheel: where each needed library comes
 * from and in which folders it is looked for. */
#include <fnmatch.h>

#include "base/fs.h"
#include "know/know.h"
#include "verify/look.h"

struct need { /* a library that is not on the PEP 600 list, and who wants it */
	struct str lib;
	const struct wheel_elf *by; /* the first */
	size_t more;
	bool hidden; /* in the wheel, but not where `by` looks */
};

struct needs {
	struct need *v;
	size_t n, cap;
};

static bool matches(struct str pattern, struct str name)
{
	ARENA(tmp);
	return fnmatch(str_z(&tmp, pattern), str_z(&tmp, name), 0) == 0;
}

/* ---- folders ---- */

/* "$ORIGIN/../lib" as seen from a file of the wheel; "" when it is no folder of the wheel. */
static struct str origin_folder(struct arena *a, struct str element, struct str file)
{
	static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
	for (unsigned i = 0; i < 2; i++) {
		struct str word = str_from(words[i]);
		if (str_starts(element, word))
			return path_clean(a, str_fmt(a, "%.*s/%.*s", STR(path_dir(file)),
						     STR(str_sub(element, word.n, element.n))));
	}
	return S("");
}

static struct str search_path(const struct wheel_elf *e)
{
	return e->dyn.runpath.n ? e->dyn.runpath : e->dyn.rpath;
}

static bool is_called(const struct wheel_elf *e, struct str lib)
{
	return str_eq(path_base(e->name), lib) || str_eq(e->dyn.soname, lib);
}

enum place { NOT_HERE, HIDDEN, FOUND };

/* Is the library in the wheel, and in a folder that the loader searches for this file? The loader
 * looks for file names; a soname alone helps only once the library is loaded. */
static enum place find_inside(struct look *l, const struct wheel_elf *by, struct str lib)
{
	enum place best = NOT_HERE;
	VEC_EACH (const struct wheel_elf, e, &l->elfs) {
		struct str rest = search_path(by), element;
		if (!is_called(e, lib))
			continue;
		best = HIDDEN;
		while (str_next(&rest, ':', &element)) {
			struct str dir = origin_folder(l->a, element, by->name);
			if (dir.n && str_eq(dir, path_dir(e->name)) &&
				str_eq(path_base(e->name), lib))
				return FOUND;
		}
	}
	return best;
}

/* ---- needed libraries ---- */

static void add_need(struct look *l, struct needs *list, struct need n)
{
	VEC_EACH (struct need, it, list) {
		if (it->hidden != n.hidden || !str_eq(it->lib, n.lib))
			continue;
		it->more++;
		return;
	}
	*VEC_PUSH(l->a, list) = n;
}

static struct needs collect(struct look *l)
{
	struct needs list = {0};
	VEC_EACH (const struct wheel_elf, e, &l->elfs)
		for (size_t i = 0; i < e->dyn.needed.n; i++) {
			struct str lib = e->dyn.needed.v[i];
			enum place where = find_inside(l, e, lib);
			if (where == FOUND || (where == NOT_HERE && wheel_library_allowed(lib)))
				continue;
			add_need(l, &list,
				(struct need){.lib = lib, .by = e, .hidden = where == HIDDEN});
		}
	return list;
}

static struct str and_more(struct look *l, const struct need *n)
{
	return n->more ? str_fmt(l->a, " (and by %zu more)", n->more) : S("");
}

static bool allowed_outside(struct look *l, const struct need *n)
{
	const struct strs *allow = &l->o->allow;
	for (size_t i = 0; i < allow->n; i++)
		if (matches(allow->v[i], n->lib)) {
			look_say(l, V_NEEDED_ALLOWED, n->by->name,
				"needs '%.*s'%.*s, which --allow %.*s lets come from outside",
				STR(n->lib), STR(and_more(l, n)), STR(allow->v[i]));
			return true;
		}
	return false;
}

static bool provided(struct look *l, const struct need *n)
{
	static const enum verify_id ids[] = {[KNOW_ROCM] = V_NEEDED_ROCM,
		[KNOW_PACKAGE] = V_NEEDED_PACKAGE,
		[KNOW_CUDA] = V_NEEDED_CUDA};
	const struct know_other *by = know_soname(n->lib);
	if (!by)
		return false;
	struct finding *f =
		look_say(l, ids[by->origin], n->by->name, "needs '%.*s'%.*s, which %s must provide",
			STR(n->lib), STR(and_more(l, n)), by->who);
	if (by->project && !strs_has(&l->requires, str_from(by->project)))
		finding_fix(l->a, f, "say so in METADATA: Requires-Dist: %s", by->project);
	return true;
}

static void say_need(struct look *l, const struct need *n)
{
	struct finding *f;
	if (n->hidden) {
		f = look_say(l, V_NEEDED_HIDDEN, n->by->name,
			"needs '%.*s'%.*s, which is in the wheel, but in no folder that its RPATH "
			"names",
			STR(n->lib), STR(and_more(l, n)));
		finding_fix(l->a, f, "link with an RPATH that begins with $ORIGIN");
		return;
	}
	if (allowed_outside(l, n) || provided(l, n))
		return;
	f = look_say(l, V_NEEDED_MISSING, n->by->name,
		"needs '%.*s'%.*s, which neither the wheel nor PEP 600 provides", STR(n->lib),
		STR(and_more(l, n)));
	finding_fix(l->a, f, "put the library into the wheel and link with RPATH $ORIGIN");
	finding_fix(
		l->a, f, "if the machine brings it: rocsmith verify --allow '%.*s'", STR(n->lib));
}

/* HIP's start-up code is called, but no library is named that has it: it loads only where another
 * library has brought HIP in. */
static void check_unstated(struct look *l, const struct wheel_elf *e)
{
	bool uses = false;
	for (size_t i = 0; i < e->dyn.undefined.n && !uses; i++)
		uses = str_starts(e->dyn.undefined.v[i], S("__hipRegister"));
	for (size_t i = 0; i < e->dyn.needed.n; i++)
		if (str_starts(e->dyn.needed.v[i], S("libamdhip64")))
			return;
	if (uses)
		look_say(l, V_NEEDED_UNSTATED, e->name,
			"calls HIP (__hipRegister...), but does not need libamdhip64.so");
}

/* ---- RPATH ---- */

static bool below(struct str path, struct str dir)
{
	return str_starts(path, dir) &&
	       (path.n == dir.n || path.p[dir.n] == '/' || dir.p[dir.n - 1] == '/');
}

static enum verify_id judge_element(struct str e)
{
	static const char *const writable[] = {"/tmp", "/var/tmp", "/dev/shm", NULL};
	if (!e.n)
		return V_RPATH_EMPTY;
	if (e.p[0] == '$')
		return V_COUNT;
	if (e.p[0] != '/')
		return V_RPATH_RELATIVE;
	for (size_t i = 0; writable[i]; i++)
		if (below(e, str_from(writable[i])))
			return V_RPATH_WRITABLE;
	return str_starts(e, S("/opt/rocm")) ? V_RPATH_ROCM : V_RPATH_ABSOLUTE;
}

struct element { /* a bad element, and who has it */
	enum verify_id id;
	struct str at;
	const struct wheel_elf *by; /* the first */
	size_t more;
};

struct elements {
	struct element *v;
	size_t n, cap;
};

static void say_element(struct look *l, const struct element *e)
{
	static const char *const what[V_COUNT] = {
		[V_RPATH_EMPTY] = "an empty element, which means the current folder",
		[V_RPATH_RELATIVE] = "is relative to the current folder",
		[V_RPATH_WRITABLE] = "is a folder that anyone may write to",
		[V_RPATH_ABSOLUTE] = "is a folder of the machine that built it",
		[V_RPATH_ROCM] = "is where ROCm is on some machines only",
	};
	const char *tag = e->by->dyn.runpath.n ? "RUNPATH" : "RPATH";
	struct str more = e->more ? str_fmt(l->a, " (as in %zu more)", e->more) : S("");
	struct finding *f;
	if (e->id == V_RPATH_EMPTY)
		f = look_say(
			l, e->id, e->by->name, "its %s%.*s has %s", tag, STR(more), what[e->id]);
	else
		f = look_say(l, e->id, e->by->name, "'%.*s' in its %s%.*s %s", STR(e->at), tag,
			STR(more), what[e->id]);
	if (e->id != V_RPATH_ROCM)
		finding_fix(l->a, f, "patchelf --set-rpath '$ORIGIN' on the file, before packing");
}

static void add_element(struct look *l, struct elements *list, struct element e)
{
	VEC_EACH (struct element, it, list) {
		if (it->id != e.id || !str_eq(it->at, e.at))
			continue;
		it->more++;
		return;
	}
	*VEC_PUSH(l->a, list) = e;
}

/* Each kind once a file: one RUNPATH in the wild has 79 elements. */
static void check_rpath(struct look *l, const struct wheel_elf *e, struct elements *list)
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
		add_element(l, list, (struct element){.id = id, .at = at, .by = e});
	}
}

void check_loader(struct look *l)
{
	struct needs list = collect(l);
	struct elements bad = {0};
	VEC_EACH (const struct need, n, &list)
		say_need(l, n);
	VEC_EACH (const struct wheel_elf, e, &l->elfs) {
		check_unstated(l, e);
		check_rpath(l, e, &bad);
		if (e->dyn.textrel)
			look_say(l, V_ELF_TEXTREL, e->name,
				"its code must be changed while loading (DT_TEXTREL)");
	}
	VEC_EACH (const struct element, e, &bad)
		say_element(l, e);
}
