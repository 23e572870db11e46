/* Compares the symbols that a torch extension needs with those of the torch that it will be loaded with: one that was
 * given, that of --torch, or the versions that it requires. Only names in torch's own namespaces are looked at: nobody
 * else defines them. Source for the change of torch 2.11, whose ROCm builds have c10::cuda where older ones have
 * c10::hip: pytorch#174087. */
#include "verify/exam.h"

enum { HIPIFY_V2 = 11, MORE = 30 }; /* minor versions of torch 2 */

static bool is_torchs(struct str name)
{
	return str_starts(name, S("libtorch")) || str_starts(name, S("libc10"));
}

/* "_ZNK3c104cuda..." -> "3c104cuda...": behind the letters for a nested name, a type info or a vtable; "" for names in
 * other namespaces. */
static struct str in_torch(struct str name)
{
	static const char *const spaces[] = {"3c10", "2at", "5torch", "6caffe2", "4c10d", NULL};
	struct str rest = str_sub(name, 2, name.n);
	if (!str_starts(name, S("_Z")) || str_chr(name, 'N') == name.n)
		return S("");
	rest = str_sub(rest, str_span(rest, "TVISGNKRO"), rest.n);
	return str_starts_one_of(rest, spaces) ? rest : S("");
}

struct torch_reading {
	struct arena *a;
	struct budget *budget;
	struct wheel_elf *elf;
};

static struct err *take_symbol(void *user, const struct elf_symbol *s)
{
	enum { LOCAL = 0, WEAK = 2 };
	struct torch_reading *r = user;
	if (s->bind == LOCAL || !in_torch(s->name).n || (!s->section && s->bind == WEAK))
		return NULL;
	TRY(budget_memory(r->budget, s->section ? 16 : s->name.n + 32));
	if (s->section)
		*VEC_PUSH(r->a, &r->elf->gives) = str_hash(s->name);
	else
		strs_add(r->a, &r->elf->asks, str_dup(r->a, s->name));
	return NULL;
}

struct err *torch_symbols(struct arena *a, const struct bytes *src, struct wheel_elf *io)
{
	ARENA(tmp);
	struct elf elf;
	struct torch_reading r = {a, src->budget, io};
	bool is = is_torchs(path_base(io->name));
	VEC_EACH (const struct str, lib, &io->dyn.needed)
		is = is || is_torchs(*lib);
	if (!is)
		return NULL;
	TRY(elf_open(&tmp, src, &elf));
	return elf_symbols(&elf, true, take_symbol, &r);
}

/* ---- an installed torch ---- */

/* The folder of its libraries, below x->path. */
static struct err *find_libraries(struct exam *x, struct str *ret)
{
	struct strs dirs = {0}, names = {0};
	struct str lib = path_join(x->a, x->path, S("lib"));
	if (str_eq(path_base(path_abs(x->a, x->path)), S("torch")))
		strs_add(x->a, &dirs, S("lib"));
	strs_add(x->a, &dirs, S("torch/lib"));
	if (fs_is_dir(lib))
		TRY(fs_list(x->a, lib, &names));
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.v[i], S("python")))
			strs_fmt(x->a, &dirs, "lib/%.*s/site-packages/torch/lib", STR(names.v[i]));
	for (size_t i = 0; i < dirs.n; i++) {
		*ret = dirs.v[i];
		if (fs_is_dir(path_join(x->a, x->path, *ret)))
			return NULL;
	}
	return err_hint(err_new(E_NOENT, "'%.*s' has no torch/lib", STR(x->path)),
		"--torch wants a torch wheel, the folder torch, a site-packages, or a virtual "
		"environment");
}

struct err *torch_installed(struct exam *x)
{
	const uint64_t most = (uint64_t)64 << 30; /* bytes of a library */
	struct strs names;
	struct str dir, site;
	TRY(find_libraries(x, &dir));
	x->verdict->project = S("torch");
	site = path_join(x->a, x->path, path_join(x->a, dir, S("../..")));
	TRY(fs_list(x->a, path_clean(x->a, site), &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str name, version;
		if (dist_stem_cut(names.v[i], &name, &version) && str_eq(name, S("torch")))
			x->verdict->version = version;
	}
	TRY(fs_list(x->a, path_join(x->a, x->path, dir), &names));
	for (size_t i = 0; i < names.n; i++) {
		CLEANUP(fd_closep) int fd = -1;
		CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
		struct str name = str_fmt(x->a, "torch/lib/%.*s", STR(names.v[i]));
		struct wheel_elf e;
		bool is = is_torchs(names.v[i]) && str_contains(names.v[i], S(".so"));
		struct err *bad =
			is ? fs_open_below(x->path, path_join(x->a, dir, names.v[i]), most, &fd)
			   : NULL;
		if (!is || (bad && bad->code == E_PERM)) { /* a link to somewhere else */
			err_free(bad);
			continue;
		}
		TRY(bad);
		TRY(bytes_open(str_fmt(x->a, "/proc/self/fd/%d", fd), &in));
		TRY(wheel_elf_read(x->a, &in.src, name, &e, &is));
		if (!is)
			continue;
		TRY(torch_symbols(x->a, &in.src, &e));
		*VEC_PUSH(x->a, &x->elfs) = e;
	}
	return x->elfs.n ? NULL
			 : err_new(E_NOENT, "'%.*s' has no library of torch that could be read",
				   STR(path_join(x->a, x->path, dir)));
}

/* ---- the check ---- */

/* Does a wheel accept a version of torch from 2.first to 2.last? */
static bool accepts(struct arena *a, const struct verdict *v, unsigned first, unsigned last)
{
	enum { PATCHES = 4 };
	struct str local = S("");
	VEC_EACH (const struct requirement, r, &v->requires) {
		struct str pin = str_sub(r->specifier, str_chr(r->specifier, '+'), r->specifier.n);
		if (!str_eq(wheel_normalise(a, r->name), S("torch")))
			continue;
		if (r->marker.n)
			return true; /* the machine decides which one holds */
		local = str_sub(pin, 0, str_chr(pin, ','));
	}
	for (unsigned i = first * PATCHES; i < (last + 1) * PATCHES; i++) {
		ARENA(tmp);
		const struct verdict torch = {.project = S_INIT("torch"),
			.version =
				str_fmt(&tmp, "2.%u.%u%.*s", i / PATCHES, i % PATCHES, STR(local))};
		if (!set_excludes(&tmp, v, &torch))
			return true;
	}
	return false;
}

struct torch_hashes VEC_OF(uint64_t);

/* All symbols that are there when the wheel's libraries are loaded; returns the torch among them, or NULL. */
static const struct exam *gather(struct exam *x, struct torch_hashes *ret)
{
	const struct exam *torch = x->torch;
	for (size_t i = 0; i < x->nset; i++) {
		const struct exam *o = &x->set[i];
		if (o != x && o != torch && !set_together(x, o))
			continue;
		size_t before = ret->n;
		VEC_EACH (const struct wheel_elf, e, &o->elfs)
			VEC_EACH (const uint64_t, hash, &e->gives)
				*VEC_PUSH(x->a, ret) = *hash;
		if (!torch && str_eq(o->verdict->project, S("torch")) && ret->n > before &&
			set_is_whole(o))
			torch = o;
	}
	VEC_SORT(ret, offset_order);
	return torch;
}

struct err *check_torch(struct exam *x)
{
	enum { SHOWN = 3, WORK = 100 };
	struct torch_hashes known = {0};
	size_t asks = 0;
	VEC_EACH (const struct wheel_elf, e, &x->elfs)
		asks += e->asks.n;
	if (!asks || str_eq(x->verdict->project, S("torch")))
		return NULL;
	TRY(budget_work(&x->loading, WORK * asks));
	const struct exam *torch = gather(x, &known);
	bool before = accepts(x->a, x->verdict, 0, HIPIFY_V2 - 1),
	     since = accepts(x->a, x->verdict, HIPIFY_V2, HIPIFY_V2 + MORE);
	struct str who = torch ? str_fmt(x->a, "torch %.*s (%.*s)", STR(torch->verdict->version),
					 STR(path_base(torch->path)))
			       : S("any torch that it may be installed with");
	VEC_EACH (const struct wheel_elf, e, &x->elfs) {
		struct strs lost = {0};
		bool old = false, hip = false;
		for (size_t i = 0; i < e->dyn.needed.n; i++)
			hip = hip || str_contains(e->dyn.needed.v[i], S("hip"));
		for (size_t i = 0; i < e->asks.n; i++) {
			struct str name = e->asks.v[i], rest = in_torch(name);
			bool v1 = str_starts(rest, S("3c103hip")),
			     v2 = hip && str_starts(rest, S("3c104cuda"));
			bool never = (v1 && !before) || (v2 && !since);
			uint64_t hash = str_hash(name);
			bool gone = (torch || never) &&
				    !(known.n && bsearch(&hash, known.v, known.n, sizeof(hash),
							 offset_order));
			old = old || (gone && (v1 || v2));
			if (gone)
				strs_add(x->a, &lost, name);
		}
		if (!lost.n)
			continue;
		size_t all = lost.n;
		lost.n = all < SHOWN ? all : SHOWN;
		struct finding *f = exam_say(x, V_TORCH_SYMBOL, e->name,
			"needs %s that %.*s does not export: %.*s%s%s",
			human_count(x->a, all, "symbol").p, STR(who),
			STR(str_join(x->a, &lost, S(", "))), all > SHOWN ? ", ..." : "",
			old ? "; ROCm builds since torch 2.11 have c10::cuda in place of c10::hip"
			    : "");
		finding_fix(x->a, f,
			"build it again with that torch, or require the torch that it was built "
			"with");
	}
	return NULL;
}
