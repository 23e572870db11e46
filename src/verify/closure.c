/* Simulates how ld.so loads the libraries of a wheel: breadth first from each file that no other one needs, each
 * library once by its requested name or its soname, searched in the RPATH of the file that needs it and of those that
 * loaded that file (unless they have a RUNPATH), then in the RUNPATH. Folders outside of the wheel are not searched.
 * Source: ld.so(8), and the behaviour of glibc 2.36. */
#include <string.h>

#include "base/fs.h"
#include "verify/exam.h"

enum {
	STEP = 300,      /* cost of the search for a library in one folder */
	NAME_COST = 100, /* cost of a name that is loaded already */
};

void remark(struct exam *x, struct remarks *list, struct remark r)
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

struct inside { /* the wheel's ELF files by path, and their file names and sonames */
	struct exam *x;
	struct map paths, names, needed;
	struct map said; /* "FILE:LIBRARY" of the remarks on hidden libraries */
	struct remarks *missing;
};

struct loaded {
	const struct wheel_elf *e;
	size_t by; /* index of the file that needs it; the root's is its own */
};

struct process {
	struct inside *all;
	struct arena *a;
	struct map names; /* names of loaded libraries -> struct wheel_elf */
	VEC(struct loaded) order;
};

/* Adds the folders of the wheel to which the elements of a search path lead. */
static struct err *add_folders(
	struct process *p, struct str path, struct str file, struct strs *dirs)
{
	enum { MOST = 200 };
	struct str element;
	TRY(budget_work(p->all->x->zip.src.budget, 10 * path.n));
	while (dirs->n < MOST && str_next(&path, ':', &element)) {
		struct str dir = wheel_origin(p->a, element, file);
		if (dir.n && !strs_has(dirs, dir))
			strs_add(p->a, dirs, dir);
	}
	return NULL;
}

static struct err *folders_of(struct process *p, size_t i, struct strs *ret)
{
	const struct elf_dynamic *d = &p->order.v[i].e->dyn;
	*ret = (struct strs){0};
	for (size_t k = i, last = SIZE_MAX; !d->runpath.n && k != last; k = p->order.v[k].by) {
		const struct wheel_elf *e = p->order.v[k].e;
		if (!e->dyn.runpath.n)
			TRY(add_folders(p, e->dyn.rpath, e->name, ret));
		last = k;
	}
	return add_folders(p, d->runpath, p->order.v[i].e->name, ret);
}

static void load(struct process *p, const struct wheel_elf *e, struct str name, size_t by)
{
	map_put(&p->names, name, (void *)(uintptr_t)e);
	map_put(&p->names, e->dyn.soname.n ? e->dyn.soname : name, (void *)(uintptr_t)e);
	*VEC_PUSH(p->a, &p->order) = (struct loaded){.e = e, .by = by};
}

static struct err *load_needed(struct process *p, size_t i)
{
	struct inside *all = p->all;
	struct budget *budget = all->x->zip.src.budget;
	const struct wheel_elf *e = p->order.v[i].e, *found;
	struct strs dirs;
	TRY(budget_work(budget, NAME_COST * (1 + e->dyn.needed.n)));
	TRY(folders_of(p, i, &dirs));
	for (size_t k = 0; k < e->dyn.needed.n; k++) {
		struct str lib = e->dyn.needed.v[k];
		if (map_has(&p->names, lib) || !map_has(&all->names, lib))
			continue;
		TRY(budget_work(budget, STEP * (1 + dirs.n)));
		found = NULL;
		for (size_t d = 0; d < dirs.n && !found; d++)
			found = map_get(
				&all->paths, path_clean(p->a, path_join(p->a, dirs.v[d], lib)));
		if (found) {
			load(p, found, lib, i);
			continue;
		}
		/* it is in the wheel, but not where the loader looks */
		struct remark r = {V_NEEDED_HIDDEN, lib, e, p->order.v[0].e, S(""), 0};
		struct str key = str_fmt(p->a, "%.*s:%.*s", STR(e->name), STR(lib));
		if (map_has(&all->said, key))
			continue;
		TRY(budget_memory(budget, 4 * key.n));
		map_put(&all->said, str_dup(all->x->a, key), NULL);
		r.why = dirs.n ? str_fmt(all->x->a, "in %.*s", STR(str_join(p->a, &dirs, S(", "))))
			       : S("it has no RPATH with $ORIGIN");
		remark(all->x, all->missing, r);
	}
	return NULL;
}

/* Loads a file with all that it needs, and checks the versions that each of them needs: the loader gives up if a
 * library defines symbol versions, but not a needed one. */
static struct err *load_all(struct inside *all, const struct wheel_elf *root, struct map *checked)
{
	ARENA(tmp);
	struct exam *x = all->x;
	struct process p = {.all = all, .a = &tmp, .names.a = &tmp};
	load(&p, root, path_base(root->name), 0);
	for (size_t i = 0; i < p.order.n; i++)
		TRY(load_needed(&p, i));
	VEC_EACH (const struct loaded, l, &p.order) {
		if (!map_put(checked, l->e->name, NULL))
			continue;
		VEC_EACH (const struct elf_need_version, v, &l->e->dyn.versions) {
			const struct wheel_elf *by = map_get(&p.names, v->file);
			if (!by || v->weak || !by->dyn.offers.n)
				continue;
			TRY(budget_work(x->zip.src.budget, NAME_COST + 10 * by->dyn.offers.n));
			if (!strs_has(&by->dyn.offers, v->version))
				exam_say(x, V_SYMBOL_VERSION, l->e->name,
					"needs the version '%.*s' of '%.*s', which '%.*s' does not "
					"define",
					STR(v->version), STR(v->file), STR(by->name));
		}
	}
	return NULL;
}

struct err *check_closure(struct exam *x, struct remarks *missing)
{
	struct inside all = {.x = x,
		.paths.a = x->a,
		.names.a = x->a,
		.needed.a = x->a,
		.said.a = x->a,
		.missing = missing};
	MAP(checked, x->a);
	MAP(first, x->a); /* by file name: the first member of that name */
	VEC_EACH (const struct wheel_elf, e, &x->elfs) {
		map_put(&all.paths, e->name, (void *)(uintptr_t)e);
		map_put(&all.names, path_base(e->name), NULL);
		map_put(&all.names, e->dyn.soname, NULL);
		for (size_t i = 0; i < e->dyn.needed.n; i++)
			map_put(&all.needed, e->dyn.needed.v[i], NULL);
	}
	VEC_EACH (const struct wheel_elf, e, &x->elfs)
		for (size_t i = 0; i < e->dyn.needed.n; i++) {
			struct remark r = {
				.id = V_NEEDED_MISSING, .what = e->dyn.needed.v[i], .by = e};
			if (!map_has(&all.names, r.what) && !wheel_library_allowed(r.what))
				remark(x, missing, r);
		}
	/* the second pass is for files that only a cycle needs */
	for (int pass = 0; pass < 2; pass++)
		VEC_EACH (const struct wheel_elf, e, &x->elfs) {
			struct str name = e->dyn.soname.n ? e->dyn.soname : path_base(e->name);
			bool root = !map_has(&all.needed, name) &&
				    !map_has(&all.needed, path_base(e->name));
			if (pass ? !map_has(&checked, e->name) : root)
				TRY(load_all(&all, e, &checked));
		}
	/* the first library of a name that is loaded serves everybody */
	for (size_t i = 0, k = 0; i < x->elfs.n; i++, k++) {
		struct str path = x->elfs.v[i].name, name = path_base(path);
		while (!str_eq(x->members[k].zip->name, path))
			k++;
		const struct exam_member *m = &x->members[k], *other = map_get(&first, name);
		if (!map_has(&all.needed, name))
			continue;
		if (!other)
			map_put(&first, name, (void *)(uintptr_t)m);
		else if (memcmp(other->digest.b, m->digest.b, m->digest.n))
			exam_say(x, V_LIBRARY_TWICE, path,
				"another library of this name is '%.*s'; who needs '%.*s' gets "
				"whichever was loaded first",
				STR(other->zip->name), STR(name));
	}
	return NULL;
}
