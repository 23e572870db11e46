/* Compares libraries whose device code is in kpack archives with these archives: in one wheel, or in a host wheel and
 * its device wheels. The runtime searches an archive by the name of a library, the number in a wrapper and a GPU. Code
 * that it would not find is an error, and so is code under a number that no library has: library and archive were
 * numbered differently. Sources: formats/kpack.h; the search for archives: reference of librocm_kpack (rocm-systems
 * shared/kpack, loader). */
#include "base/proc.h"
#include "verify/exam.h"

struct holder { /* an archive with the code for one wrapper and target */
	const struct verdict *wheel;
	const struct verify_archive *archive;
	size_t target; /* index into pairs.gpus.targets */
};

struct holders {
	struct holder *v;
	size_t n, cap;
	bool wanted;
};

/* An archive that is for a variant of a GPU, and lacks code that the GPU's own archive has. ROCm 7.14's runtime looks
 * into the first one only. */
struct shadow {
	const struct verify_archive *archive;
	struct str arch, other;          /* "gfx90a:xnack+"; "gfx90a" */
	const struct verify_library *by; /* the first library */
	size_t lacks, has, libraries;    /* numbers of that one; how many more libraries */
};

struct pairs {
	struct arena *a;
	const struct verify_options *o;
	struct verdict *host;
	struct devcode gpus; /* only its targets are used */
	VEC(struct shadow) shadows;
	bool lacks[DEVCODE_TARGETS]; /* a library has no code for the target of this index */
	struct map code;             /* "NAME#NUMBER" -> struct holders */
	struct map names;            /* names of libraries -> struct verify_library */
	struct budget budget;
	/* the last two archives that were reported to have the same code */
	const struct verify_archive *twice[2];
};

/* ---- one wheel ---- */

static struct err *keep_archive(struct exam *x, const struct exam_member *m)
{
	uint64_t size;
	struct str member = m->zip->name;
	struct verify_archive *k = VEC_PUSH(x->a, &x->verdict->archives);
	*k = (struct verify_archive){
		.member = member, .installed = wheel_installed(member, member)};
	for (size_t i = 0; i < m->archs.n; i++)
		strs_add(x->a, &k->archs, str_dup(x->a, m->archs.v[i]));
	const struct devcode_file *f = m->device.files.v; /* none if it is empty */
	if (!m->device.files.n)
		return NULL;
	VEC_EACH (const struct code_object, o, &f->objects) {
		const struct devcode_pack *p = &f->packs.v[o->bundle];
		size = 2 * sizeof(struct kpack_object) + p->library.n + o->target.n;
		TRY(budget_memory(x->zip.src.budget, size));
		*VEC_PUSH(x->a, &k->objects) =
			(struct kpack_object){.path = str_dup(x->a, p->library),
				.index = p->index,
				.target = str_dup(x->a, o->target)};
	}
	return NULL;
}

struct err *kpack_keep(struct exam *x, bool *ret_any)
{
	*ret_any = false;
	x->verdict->size = x->zip.size;
	for (size_t i = 0; i < x->n; i++) {
		const struct exam_member *m = &x->members[i];
		const struct kpack_host *h = &m->host;
		*ret_any = *ret_any || h->name.n || m->kpack;
		if (m->kpack && !m->device_bad)
			TRY(keep_archive(x, m));
		if (!h->name.n)
			continue;
		TRY(budget_work(x->zip.src.budget, 20 * x->part.members.n));
		struct verify_library *l = VEC_PUSH(x->a, &x->verdict->libraries);
		*l = (struct verify_library){.member = m->zip->name,
			.installed = wheel_installed(m->zip->name, m->zip->name),
			.host.name = str_dup(x->a, h->name),
			.absent.a = x->a};
		VEC_EACH (const struct split_member, s, &x->part.members) {
			if (!str_eq(s->path, l->member))
				continue;
			l->split = true;
			for (size_t k = 0; k < s->absent.n; k++)
				map_put(&l->absent, s->absent.v[k], l);
		}
		for (size_t k = 0; k < h->patterns.n; k++)
			strs_add(x->a, &l->host.patterns, str_dup(x->a, h->patterns.v[k]));
		VEC_EACH (const uint32_t, n, &h->indexes)
			*VEC_PUSH(x->a, &l->host.indexes) = *n;
	}
	return cancel_check();
}

/* ---- all wheels of a set ---- */

static struct str key_of(struct arena *a, struct str name, uint32_t index)
{
	return str_fmt(a, "%.*s#%u", STR(name), index);
}

static struct err *add_object(struct pairs *k, const struct verdict *w,
	const struct verify_archive *x, const struct kpack_object *o)
{
	struct devcode *d = &k->gpus;
	struct holder h = {.wheel = w, .archive = x};
	struct str key = key_of(k->a, o->path, o->index);
	struct holders *list = map_get(&k->code, key);
	if (!list) {
		list = NEW(k->a, struct holders);
		map_put(&k->code, key, list);
	}
	while (h.target < d->targets.n && !str_eq(d->targets.v[h.target].name, o->target))
		h.target++;
	if (h.target == DEVCODE_TARGETS)
		return err_new(E_LIMIT, "code for more than %d different targets", DEVCODE_TARGETS);
	if (h.target == d->targets.n)
		*VEC_PUSH(k->a, &d->targets) =
			(struct devcode_target){.name = o->target, .t = target_read(o->target)};
	VEC_EACH (const struct holder, old, list) {
		if (old->target != h.target)
			continue;
		if (k->twice[0] != x || k->twice[1] != old->archive)
			verdict_say(k->a, k->host, V_KPACK_TWICE, S(""),
				"'%.*s' has code that '%.*s' of '%.*s' has too, such as %.*s for "
				"%.*s",
				STR(x->member), STR(old->archive->member),
				STR(path_base(old->wheel->path)), STR(key), STR(o->target));
		k->twice[0] = x;
		k->twice[1] = old->archive;
		return cancel_check();
	}
	*VEC_PUSH(k->a, list) = h;
	return cancel_check();
}

/* Does the library look into this archive for code of that target? A variant's code may be in the processor's archive. */
static bool looks_into(
	const struct verify_library *l, const struct verify_archive *x, struct str target)
{
	ARENA(tmp);
	struct str dir = path_dir(l->installed);
	const struct str words[] = {target, str_sub(target, 0, str_chr(target, ':'))};
	for (size_t i = 0; i < l->host.patterns.n; i++)
		for (unsigned w = 0; w < 2; w++) {
			struct str file =
				str_replace(&tmp, l->host.patterns.v[i], S("@GFXARCH@"), words[w]);
			if (str_eq(path_clean(&tmp, path_join(&tmp, dir, file)), x->installed))
				return true;
		}
	return false;
}

static bool never_was(const struct verify_library *l, struct str number, struct str target)
{
	ARENA(tmp);
	return map_has(&l->absent, str_fmt(&tmp, "%.*s %.*s", STR(number), STR(target)));
}

struct lack { /* the bundle numbers of a library that have no code for a target */
	size_t n, excused;
	struct strs first; /* the first ones that are not excused */
	/* has code, but lies where the library does not look */
	const struct verify_archive *elsewhere;
};

static struct err *find_lack(struct pairs *k, const struct verify_library *l,
	const struct target *want, struct lack *ret)
{
	enum { SHOWN = 10, WORK = 200 };
	ARENA(tmp);
	bool serves[DEVCODE_TARGETS] = {0};
	struct str target = target_text(&tmp, want);
	const struct verify_archive *fine = NULL;
	*ret = (struct lack){0};
	devcode_serves(&k->gpus, want, serves);
	TRY(budget_work(&k->budget, WORK * (l->host.indexes.n + 1)));
	VEC_EACH (const uint32_t, n, &l->host.indexes) {
		ARENA(one);
		struct str number = str_fmt(&one, "%u", *n);
		const struct holders *list = map_get(&k->code, key_of(&one, l->host.name, *n));
		const struct holder *h = NULL;
		for (size_t i = 0; list && i < list->n; i++)
			h = serves[list->v[i].target] ? &list->v[i] : h;
		if (h) {
			bool seen = h->archive == fine ||
				    looks_into(l, h->archive, k->gpus.targets.v[h->target].name);
			fine = seen ? h->archive : fine;
			ret->elsewhere = seen ? ret->elsewhere : h->archive;
			continue;
		}
		bool excused = never_was(l, number, target);
		ret->n++;
		ret->excused += excused;
		if (!excused && ret->first.n < SHOWN)
			strs_add(k->a, &ret->first, str_dup(k->a, number));
	}
	return NULL;
}

/* lacks: set if some of the library's numbers have no code for the target, which some archive has; NULL: the user
 * requires the target. */
static struct err *check_target(
	struct pairs *k, const struct verify_library *l, const struct target *want, bool *lacks)
{
	ARENA(tmp);
	struct lack x;
	struct str gpu = target_text(&tmp, want);
	TRY(find_lack(k, l, want, &x));
	if (!lacks) {
		if (x.n)
			verdict_say(k->a, k->host, V_DEVICE_MISSING, l->member,
				"%zu of %zu numbers of '%.*s' have no code for %.*s", x.n,
				l->host.indexes.n, STR(l->host.name), STR(gpu));
		return NULL;
	}
	*lacks |= x.n > 0;
	if (x.elsewhere)
		verdict_say(k->a, k->host, V_KPACK_PLACE, l->member,
			"the runtime does not look into '%.*s', where the code of '%.*s' for %.*s "
			"is, but for '%.*s'",
			STR(x.elsewhere->member), STR(l->host.name), STR(gpu),
			STR(str_join(&tmp, &l->host.patterns, S("', '"))));
	if (x.n == x.excused || never_was(l, S("*"), gpu))
		return NULL;
	if (x.n == l->host.indexes.n && !l->split)
		verdict_say(k->a, k->host, V_KPACK_NONE, l->member,
			"the archives for %.*s have nothing of '%.*s'", STR(gpu),
			STR(l->host.name));
	else
		verdict_say(k->a, k->host, V_KPACK_MISSING, l->member,
			"no code for %.*s of '%.*s' for %zu of %zu numbers: #%.*s%s", STR(gpu),
			STR(l->host.name), x.n - x.excused, l->host.indexes.n,
			STR(str_join(&tmp, &x.first, S(", #"))),
			x.first.n < x.n - x.excused
				? str_fmt(&tmp, ", and %zu more", x.n - x.excused - x.first.n).p
				: "");
	return NULL;
}

static struct err *check_library(struct pairs *k, struct verify_library *l)
{
	ARENA(tmp);
	const struct verify_library *other = map_get(&k->names, l->host.name);
	if (other)
		verdict_say(k->a, k->host, V_KPACK_TWICE, l->member,
			"it goes by the name '%.*s' in archives, as '%.*s' does", STR(l->host.name),
			STR(other->member));
	else
		map_put(&k->names, l->host.name, l);
	VEC_EACH (const uint32_t, n, &l->host.indexes) {
		struct holders *list = map_get(&k->code, key_of(&tmp, l->host.name, *n));
		if (list)
			list->wanted = true;
	}
	for (size_t i = 0; i < k->gpus.targets.n; i++)
		TRY(check_target(k, l, &k->gpus.targets.v[i].t, &k->lacks[i]));
	VEC_EACH (const struct target, want, &k->o->require)
		TRY(check_target(k, l, want, NULL));
	return NULL;
}

static bool holds(const struct pairs *k, const struct holders *list, struct str target)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (str_eq(k->gpus.targets.v[list->v[i].target].name, target))
			return true;
	return false;
}

/* Notes that an archive, in which a runtime looks for its target first, hides code of a library. */
static struct err *note_shadow(struct pairs *k, const struct verify_library *l, struct shadow s)
{
	enum { WORK = 200 };
	TRY(budget_work(&k->budget, WORK * (l->host.patterns.n + 1)));
	if (!looks_into(l, s.archive, s.arch))
		return NULL;
	TRY(budget_work(&k->budget, WORK * (l->host.indexes.n + 1)));
	VEC_EACH (const uint32_t, n, &l->host.indexes) {
		ARENA(tmp);
		const struct holders *list = map_get(&k->code, key_of(&tmp, l->host.name, *n));
		bool mine = holds(k, list, s.arch);
		s.has += mine;
		s.lacks += !mine && holds(k, list, s.other);
	}
	if (!s.lacks)
		return NULL;
	VEC_EACH (struct shadow, old, &k->shadows)
		if (old->archive == s.archive && str_eq(old->arch, s.arch)) {
			old->libraries += old->by != l;
			return NULL;
		}
	s.by = l;
	*VEC_PUSH(k->a, &k->shadows) = s;
	return NULL;
}

/* Notes all that an archive hides by saying that it is for `arch`. */
static struct err *note_shadows(struct pairs *k, const struct verify_archive *x, struct str arch)
{
	struct target t = target_read(arch);
	VEC_EACH (const struct devcode_target, other, &k->gpus.targets) {
		struct shadow s = {.archive = x, .arch = arch, .other = other->name};
		/* it names more features of the same processor, and so is looked for first */
		bool first = t.gpu && t.gpu == other->t.gpu && arch.n > other->name.n &&
			     target_covers(&t, &other->t);
		VEC_EACH (const struct verify_library, l, &k->host->libraries)
			if (first)
				TRY(note_shadow(k, l, s));
	}
	return NULL;
}

/* Judges the archives of a wheel of the set by the targets that they say to be for. */
static struct err *check_archives(struct pairs *k, struct verdict *w)
{
	VEC_EACH (const struct verify_archive, x, &w->archives) {
		size_t before = k->shadows.n;
		for (size_t i = 0; i < x->archs.n; i++)
			TRY(note_shadows(k, x, x->archs.v[i]));
		for (size_t i = before; i < k->shadows.n; i++) {
			const struct shadow *s = &k->shadows.v[i];
			struct str more = str_fmt(k->a, " (and of %zu more)", s->libraries);
			struct finding *f = verdict_say(k->a, w, V_KPACK_SHADOW, x->member,
				"it is for %.*s and lacks %zu of %zu numbers of '%.*s'%.*s, which "
				"the "
				"archive for %.*s has: ROCm up to 7.14 looks no further than here",
				STR(s->arch), s->lacks, s->lacks + s->has, STR(s->by->host.name),
				STR(s->libraries ? more : S("")), STR(s->other));
			f->severity = s->has ? SEV_WARNING : f->severity;
			if (!x->objects.n)
				finding_fix(k->a, f, "leave the empty archive out of the wheel");
		}
		if (x->objects.n || k->shadows.n > before)
			continue;
		verdict_say(k->a, w, V_KPACK_EMPTY, x->member, "it has no code%s%.*s",
			x->archs.n ? ", and says that it is for " : "",
			STR(str_join(k->a, &x->archs, S(", "))));
	}
	return NULL;
}

/* A device wheel belongs to the host wheel of its version; if there are several, to the one in its own folder. */
static bool belongs(struct pairs *k, const struct verdicts *all, const struct verdict *w)
{
	if (w == k->host)
		return true;
	if (!set_is_device(w) || !set_requires(k->a, w, k->host))
		return false;
	struct str dir = path_dir(w->path);
	VEC_EACH (const struct verdict, v, &all->wheels)
		if (v != k->host && v->libraries.n && str_eq(v->project, k->host->project) &&
			set_requires(k->a, w, v) && str_eq(path_dir(v->path), dir))
			return str_eq(path_dir(k->host->path), dir);
	return true;
}

static struct err *check_host(struct pairs *k, struct verdicts *all, bool *paired)
{
	bool any = false;
	uint64_t size = 0;
	VEC_EACH (const struct verdict, w, &all->wheels)
		size += w->size;
	budget_set(&k->budget, size);
	for (size_t i = 0; i < all->wheels.n; i++) {
		const struct verdict *w = &all->wheels.v[i];
		if (!w->archives.n || !belongs(k, all, w))
			continue;
		VEC_EACH (const struct verify_archive, x, &w->archives) {
			paired[i] = any = true;
			VEC_EACH (const struct kpack_object, o, &x->objects)
				TRY(add_object(k, w, x, o));
		}
	}
	if (!any)
		return NULL;
	paired[k->host - all->wheels.v] = true;
	VEC_EACH (struct verify_library, l, &k->host->libraries)
		TRY(check_library(k, l));
	VEC_EACH (struct verdict, w, &all->wheels)
		if (w->archives.n && belongs(k, all, w))
			TRY(check_archives(k, w));
	/* code under a number that no wrapper has: archive and library were numbered differently */
	for (size_t i = 0; i < k->code.n; i++) {
		struct str key = k->code.v[i].key, name = str_sub(key, 0, str_rchr(key, '#'));
		const struct holders *list = k->code.v[i].value;
		const struct verify_library *l = map_get(&k->names, name);
		if (list->wanted)
			continue;
		struct finding *f = verdict_say(k->a, k->host, V_KPACK_STRAY, S(""),
			"'%.*s' has code for %.*s as %.*s, but %s", STR(list->v[0].archive->member),
			STR(k->gpus.targets.v[list->v[0].target].name), STR(key),
			l ? "no wrapper of that library has this number"
			  : "there is no such library");
		f->severity = l ? SEV_ERROR : f->severity;
	}
	struct strs served = k->host->served;
	k->host->served = (struct strs){0};
	for (size_t i = 0; i < k->gpus.targets.n; i++) {
		struct str name = k->gpus.targets.v[i].name;
		if (!k->lacks[i] && (!k->host->fat || targets_serve(&served, name)))
			strs_put(k->a, &k->host->served, name);
	}
	return NULL;
}

struct err *check_kpack(struct arena *a, const struct verify_options *o, struct verdicts *all)
{
	bool wanted = o->require.n || o->device_code;
	bool *paired = arena_array(a, all->wheels.n + 1, sizeof(*paired));
	VEC_EACH (struct verdict, v, &all->wheels) {
		struct pairs k = {.a = a, .o = o, .host = v, .code.a = a, .names.a = a};
		struct err *e = v->libraries.n ? check_host(&k, all, paired) : NULL;
		if (e && e->code != E_LIMIT)
			return err_wrap(e, "cannot verify '%.*s'", STR(v->path));
		if (e)
			verdict_say(a, v, V_COSTLY, S(""), "%s", e->msg);
		err_free(e);
	}
	for (size_t i = 0; i < all->wheels.n; i++) {
		struct verdict *v = &all->wheels.v[i];
		if (paired[i])
			continue;
		if (v->libraries.n)
			verdict_say(a, v, wanted ? V_DEVICE_NONE : V_KPACK_ALONE, S(""),
				"the device code of %zu file%s (the first is '%.*s') is in kpack "
				"archives, and no wheel given has one",
				v->libraries.n, v->libraries.n == 1 ? "" : "s",
				STR(v->libraries.v[0].member));
		else if (v->archives.n)
			verdict_say(a, v, V_KPACK_ALONE, S(""),
				"no wheel given has the libraries that '%.*s' is for",
				STR(v->archives.v[0].member));
	}
	return NULL;
}
