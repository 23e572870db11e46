/* Simulates how ld.so loads the libraries of a wheel: breadth first from each file that no other one needs, each
 * library once by its requested name or its soname, searched in the RPATH of the file that needs it and of those that
 * loaded that file (unless they have a RUNPATH), then in the RUNPATH. Folders outside of the wheel are not searched.
 * Source: ld.so(8), and the behaviour of glibc 2.36. */
#include "know/know.h"
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

struct inside_file { /* an ELF file of the wheel, or of one that is installed with it */
	const struct exam *of;
	const struct wheel_elf *e;
	struct str at; /* its path below site-packages */
};

struct inside { /* these files by path, and by their file names and sonames; those of the wheel itself come first */
	struct exam *x;
	struct inside_file *files;
	size_t n, most; /* files of these wheels; of all that were given */
	struct map paths, names, needed;
	struct map said; /* "FILE:LIBRARY" of the remarks on hidden libraries */
	struct remarks *missing;
};

struct loaded {
	const struct inside_file *f;
	size_t by; /* index of the file that needs it; the root's is its own */
};

struct process {
	struct inside *all;
	struct arena *a;
	struct map names; /* names of loaded libraries -> struct inside_file */
	VEC(struct loaded) order;
};

/* Adds the folders of the wheels to which the elements of a search path lead. */
static struct err *add_folders(
	struct process *p, struct str path, struct str file, struct strs *dirs)
{
	enum { MOST = 200 };
	struct str element;
	TRY(budget_work(&p->all->x->loading, 10 * path.n));
	while (dirs->n < MOST && str_next(&path, ':', &element)) {
		struct str dir = wheel_origin(p->a, element, file);
		if (dir.n && !strs_has(dirs, dir))
			strs_add(p->a, dirs, dir);
	}
	return NULL;
}

static struct err *folders_of(struct process *p, size_t i, struct strs *ret)
{
	const struct elf_dynamic *d = &p->order.v[i].f->e->dyn;
	*ret = (struct strs){0};
	for (size_t k = i, last = SIZE_MAX; !d->runpath.n && k != last; k = p->order.v[k].by) {
		const struct inside_file *f = p->order.v[k].f;
		if (!f->e->dyn.runpath.n)
			TRY(add_folders(p, f->e->dyn.rpath, f->at, ret));
		last = k;
	}
	return add_folders(p, d->runpath, p->order.v[i].f->at, ret);
}

static void load(struct process *p, const struct inside_file *f, struct str name, size_t by)
{
	struct str soname = f->e->dyn.soname.n ? f->e->dyn.soname : name;
	map_put(&p->names, name, (void *)(uintptr_t)f);
	map_put(&p->names, soname, (void *)(uintptr_t)f);
	*VEC_PUSH(p->a, &p->order) = (struct loaded){.f = f, .by = by};
}

/* The library is there, but not where the loader looks. Another package may have loaded it before: torch does. */
static struct err *note_hidden(
	struct process *p, const struct inside_file *f, struct str lib, const struct strs *dirs)
{
	struct inside *all = p->all;
	struct exam *x = all->x;
	const struct exam *in = ((const struct inside_file *)map_get(&all->names, lib))->of;
	struct remark r = {V_NEEDED_HIDDEN, lib, f->e, p->order.v[0].f->e, S(""), S(""), 0};
	struct str key = str_fmt(p->a, "%.*s:%.*s", STR(f->at), STR(lib));
	if (f->of != x || map_has(&all->said, key))
		return NULL;
	TRY(budget_memory(&x->loading, 4 * key.n));
	map_put(&all->said, str_dup(x->a, key), NULL);
	if (in != x && !set_same(in, x) && know_soname(lib))
		r.id = V_NEEDED_MISSING;
	r.in = in == x ? S("the wheel") : str_fmt(x->a, "'%.*s'", STR(path_base(in->path)));
	r.why = dirs->n ? str_fmt(x->a, "in %.*s", STR(str_join(p->a, dirs, S(", "))))
			: S("it has no RPATH with $ORIGIN");
	remark(x, all->missing, r);
	return NULL;
}

static struct err *load_needed(struct process *p, size_t i)
{
	struct inside *all = p->all;
	struct budget *budget = &all->x->loading;
	const struct inside_file *f = p->order.v[i].f, *found;
	const struct strs *needed = &f->e->dyn.needed;
	struct strs dirs;
	TRY(budget_work(budget, NAME_COST * (1 + needed->n)));
	TRY(folders_of(p, i, &dirs));
	for (size_t k = 0; k < needed->n; k++) {
		struct str lib = needed->v[k];
		if (map_has(&p->names, lib) || !map_has(&all->names, lib))
			continue;
		TRY(budget_work(budget, STEP * (1 + dirs.n)));
		found = NULL;
		for (size_t d = 0; d < dirs.n && !found; d++)
			found = map_get(
				&all->paths, path_clean(p->a, path_join(p->a, dirs.v[d], lib)));
		if (found)
			load(p, found, lib, i);
		else
			TRY(note_hidden(p, f, lib, &dirs));
	}
	return NULL;
}

/* Loads a file with all that it needs, and checks the versions that each of them needs: the loader gives up if a
 * library defines symbol versions, but not a needed one. */
static struct err *load_all(struct inside *all, const struct inside_file *root, struct map *checked)
{
	ARENA(tmp);
	struct exam *x = all->x;
	struct process p = {.all = all, .a = &tmp, .names.a = &tmp};
	load(&p, root, path_base(root->at), 0);
	for (size_t i = 0; i < p.order.n; i++)
		TRY(load_needed(&p, i));
	VEC_EACH (const struct loaded, l, &p.order) {
		if (!map_put(checked, l->f->at, NULL) || l->f->of != x)
			continue;
		VEC_EACH (const struct elf_need_version, v, &l->f->e->dyn.versions) {
			const struct inside_file *by = map_get(&p.names, v->file);
			if (!by || v->weak || !by->e->dyn.offers.n)
				continue;
			TRY(budget_work(&x->loading, NAME_COST + 10 * by->e->dyn.offers.n));
			if (!strs_has(&by->e->dyn.offers, v->version))
				exam_say(x, V_SYMBOL_VERSION, l->f->e->name,
					"needs the version '%.*s' of '%.*s', which '%.*s' does not "
					"define",
					STR(v->version), STR(v->file), STR(by->e->name));
		}
	}
	return NULL;
}

static void add_files(struct inside *all, const struct exam *x)
{
	VEC_EACH (const struct wheel_elf, e, &x->elfs) {
		struct inside_file *f = &all->files[all->n++];
		const struct str names[] = {path_base(e->name), e->dyn.soname};
		*f = (struct inside_file){x, e, wheel_installed(e->name, e->name)};
		if (!map_has(&all->paths, f->at))
			map_put(&all->paths, f->at, f);
		for (unsigned i = 0; i < 2; i++)
			if (!map_has(&all->names, names[i]))
				map_put(&all->names, names[i], f);
		for (size_t i = 0; i < e->dyn.needed.n; i++)
			map_put(&all->needed, e->dyn.needed.v[i], NULL);
	}
}

/* Another part of the set that has the library; or NULL. */
static const struct exam *other_with(const struct exam *x, struct str lib)
{
	for (size_t k = 0; k < x->nset; k++)
		VEC_EACH (const struct wheel_elf, e, &x->set[k].elfs)
			if (set_same(&x->set[k], x) &&
				(str_eq(e->dyn.soname, lib) || str_eq(path_base(e->name), lib)))
				return &x->set[k];
	return NULL;
}

/* The parts of a plain set that are installed one at a time must have the same libraries: says what this one lacks. */
static struct err *check_others(struct inside *all, const struct inside_file *f)
{
	struct exam *x = all->x;
	for (size_t i = 0; i < f->e->dyn.needed.n; i++) {
		struct str lib = f->e->dyn.needed.v[i];
		if (map_has(&all->names, lib) || wheel_library_allowed(lib))
			continue;
		TRY(budget_work(&x->loading, STEP + 10 * all->most));
		const struct exam *has = other_with(x, lib);
		if (has && map_put(&all->said, lib, NULL))
			exam_say(x, V_NEEDED_MISSING, S(""),
				"lacks '%.*s', which '%.*s' of its host wheel needs and '%.*s' has",
				STR(lib), STR(f->e->name), STR(path_base(has->path)));
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
	for (size_t i = 0; i < x->nset; i++)
		all.most += x->set[i].elfs.n;
	all.files = arena_array(x->a, all.most + 1, sizeof(*all.files));
	add_files(&all, x);
	for (size_t i = 0; i < x->nset; i++)
		if (&x->set[i] != x && x->elfs.n && x->set[i].elfs.n && set_together(x, &x->set[i]))
			add_files(&all, &x->set[i]);
	VEC_EACH (const struct wheel_elf, e, &x->elfs)
		for (size_t i = 0; i < e->dyn.needed.n; i++) {
			struct remark r = {
				.id = V_NEEDED_MISSING, .what = e->dyn.needed.v[i], .by = e};
			if (!map_has(&all.names, r.what) && !wheel_library_allowed(r.what) &&
				!wheel_library_musl(r.what))
				remark(x, missing, r);
		}
	/* the second pass is for files that only a cycle needs */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < all.n; i++) {
			const struct inside_file *f = &all.files[i];
			struct str file = path_base(f->at), soname = f->e->dyn.soname;
			bool root = !map_has(&all.needed, soname.n ? soname : file) &&
				    !map_has(&all.needed, file);
			if (f->of != x && !set_same(f->of, x))
				continue;
			if (pass ? !map_has(&checked, f->at) : root)
				TRY(load_all(&all, f, &checked));
			if (pass && f->of != x && set_is_one_of(x))
				TRY(check_others(&all, f));
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
