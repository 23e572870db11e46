/* Adds findings about needed libraries, with the provider of those that the wheel lacks, and about elements of search
 * paths that are wrong on any machine. */
#include <fnmatch.h>

#include "know/know.h"
#include "verify/exam.h"

/* The name comes from a stranger: it must not be a path. */
static bool sdk_has(struct exam *x, struct str lib)
{
	if (!lib.n || str_chr(lib, '/') < lib.n)
		return false;
	VEC_EACH (const struct str, dir, &x->o->sdk_dirs)
		if (fs_is_file(path_join(x->a, *dir, lib)))
			return true;
	return false;
}

/* May a library that a part of a plain set lacks be in the other half, which was not given? */
static bool in_other_half(const struct exam *x, struct str lib)
{
	bool is = set_is_one_of(x);
	VEC_EACH (const struct split_member, m, &x->part.members)
		is = is || str_eq(path_base(m->path), lib);
	return is;
}

static void say_missing(struct exam *x, const struct remark *r)
{
	static const enum verify_id ids[] = {[KNOW_ROCM] = V_NEEDED_ROCM,
		[KNOW_PACKAGE] = V_NEEDED_PACKAGE,
		[KNOW_CUDA] = V_NEEDED_CUDA,
		[KNOW_ONEAPI] = V_NEEDED_ONEAPI};
	struct str needs = str_fmt(x->a, "needs '%.*s'", STR(r->what)), file = r->by->name;
	struct str pattern = S(""); /* the pattern of --allow that matches */
	const struct know_other *other = know_soname(r->what);
	bool sdk = x->o->sdk.n > 0;
	/* each platform tag leaves open which machines the wheel is for, as linux_x86_64 does */
	struct str rest = x->name.platform, tag;
	bool native = !x->o->policy && rest.n;
	while (str_next(&rest, '.', &tag))
		native = native && str_starts(tag, S("linux_"));
	struct finding *f;
	VEC_EACH (const struct str, p, &x->o->allow)
		if (!pattern.n && fnmatch(str_z(x->a, *p), str_z(x->a, r->what), 0) == 0)
			pattern = *p;
	if (sdk && other && other->origin == KNOW_ROCM)
		other = NULL;
	if (r->more)
		needs = str_fmt(x->a, "%.*s (and by %zu more)", STR(needs), r->more);
	if (r->id == V_NEEDED_HIDDEN) {
		f = exam_say(x, r->id, file,
			"%.*s, which is in %.*s, but not where the loader looks when '%.*s' is "
			"loaded: %.*s",
			STR(needs), STR(r->in), STR(r->root->name), STR(r->why));
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
		if (other->project && !set_names(x->a, x->verdict, str_from(other->project), S("")))
			finding_fix(
				x->a, f, "say so in METADATA: Requires-Dist: %s", other->project);
	} else if (native && know_compilers_library(r->what)) {
		exam_say(x, V_NEEDED_COMPILER, file,
			"%.*s, a library of GCC's, which each machine that uses it must have",
			STR(needs));
	} else if (set_is_whole(x) || !in_other_half(x, r->what)) {
		f = exam_say(x, r->id, file, "%.*s, which neither the wheel nor %s provides",
			STR(needs), sdk ? "the SDK" : "PEP 600");
		finding_fix(x->a, f, "put the library into the wheel and link with RPATH $ORIGIN");
		if (x->o->description)
			finding_fix(x->a, f,
				"if the machines that use it bring it, say so in rocsmith.yaml: "
				"build: {allow: [%.*s]}",
				STR(r->what));
		else
			finding_fix(x->a, f, "if the machine brings it, add: --allow %.*s",
				STR(str_shell(x->a, r->what)));
		if (!sdk && !x->o->takes_no_sdk)
			finding_fix(x->a, f,
				"if an SDK of 'rocsmith sdk list' has it: name it with --sdk");
	}
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
	for (size_t i = 0; writable[i]; i++)
		if (path_is_below(e, str_from(writable[i])))
			return V_RPATH_WRITABLE;
	return str_starts(e, S("/opt/rocm")) ? V_RPATH_ROCM : V_RPATH_ABSOLUTE;
}

static void say_element(struct exam *x, const struct remark *e)
{
	static const char *const what[V_COUNT] = {
		[V_RPATH_EMPTY] = "has an empty element, which means the current folder",
		[V_RPATH_RELATIVE] = "is relative to the current folder",
		[V_RPATH_WRITABLE] = "is a folder that anyone may write to",
		[V_RPATH_ABSOLUTE] = "is a folder of the machine that built it",
		[V_RPATH_ROCM] = "is where ROCm is on some machines only",
	};
	const char *tag = e->by->dyn.runpath.n ? "RUNPATH" : "RPATH";
	struct str more = e->more ? str_fmt(x->a, " (as in %zu more)", e->more) : S("");
	struct str of = e->what.n ? str_fmt(x->a, "'%.*s' in ", STR(e->what)) : S("");
	struct finding *f = exam_say(
		x, e->id, e->by->name, "%.*sits %s%.*s %s", STR(of), tag, STR(more), what[e->id]);
	if (e->id != V_RPATH_ROCM)
		finding_fix(x->a, f, "patchelf --set-rpath '$ORIGIN' on the file, before packing");
}

struct err *check_loader(struct exam *x)
{
	struct remarks missing = {0}, bad = {0};
	TRY(check_closure(x, &missing));
	VEC_EACH (const struct remark, r, &missing)
		say_missing(x, r);
	VEC_EACH (const struct wheel_elf, e, &x->elfs) {
		struct str path = e->dyn.runpath.n ? e->dyn.runpath : e->dyn.rpath, at;
		bool said[V_COUNT + 1] = {[V_COUNT] = true};
		if (e->calls_hip) /* it loads only after another library has loaded HIP */
			exam_say(x, V_NEEDED_UNSTATED, e->name,
				"calls HIP (__hipRegister...), but does not need libamdhip64.so");
		/* each kind of element once for a file: one RUNPATH in the wild has 79 elements */
		for (bool more = path.n > 0; more;) {
			more = str_cut(path, ':', &at, &path); /* the last element may be empty */
			enum verify_id id = judge_element(at);
			if (!said[id])
				remark(x, &bad, (struct remark){.id = id, .what = at, .by = e});
			said[id] = true;
		}
		if (e->dyn.textrel)
			exam_say(x, V_ELF_TEXTREL, e->name,
				"its code must be changed while loading (DT_TEXTREL)");
	}
	VEC_EACH (const struct remark, e, &bad)
		say_element(x, e);
	return NULL;
}
