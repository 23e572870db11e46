/* Judges the wheels of a set together, by their METADATA alone; see release.h. */
#include "release/release.h"

#include "lang/python/version.h"

static struct verdict verdict_of(struct arena *a, const struct release_wheel *w)
{
	struct verdict v = {.path = w->file,
		.project = wheel_normalise(a, w->project),
		.version = w->version,
		.extras = {.a = a},
		.findings.most = FINDINGS_OF_A_KIND};
	VEC_EACH (const struct dist_header, it, &w->headers) {
		struct requirement r;
		if (dist_header_is(it, "provides-extra"))
			map_put(&v.extras, wheel_normalise(a, it->value), NULL);
		if (!dist_header_is(it, "requires-dist"))
			continue;
		struct err *e = requirement_parse(it->value, &r);
		if (!e)
			*VEC_PUSH(a, &v.requires) = r;
		err_free(e);
	}
	return v;
}

/* Two files of one name: installers take either. */
static void check_names(struct arena *a, const struct release_set *set,
	const struct release_set *beside, struct findings *ret)
{
	MAP(names, a);
	const struct release_set *const both[] = {beside, set};
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; both[i] && k < both[i]->n; k++) {
			const struct release_wheel *w = &both[i]->v[k],
						   *old = map_get(&names, w->file);
			if (old && old->sha256.n && w->sha256.n && !str_eq(old->sha256, w->sha256))
				finding_note(a, ret, "release-clash", w->file,
					"there is another file of this name: %.*s and %.*s",
					STR(old->sha256), STR(w->sha256));
			else
				map_put(&names, w->file, (void *)w);
		}
}

/* Device wheels come from nowhere else. pip only warns of an extra whose wheels are missing, and installs the rest. */
static void check_devices(
	struct arena *a, const struct verdicts *all, const struct verdict *v, struct findings *ret)
{
	VEC_EACH (const struct requirement, r, &v->requires) {
		struct str name = wheel_normalise(a, r->name);
		if (VEC_FIND(struct verdict, &all->wheels, project, name) ||
			!release_device(package_name(a, name, '-')).n || r->url.n ||
			str_contains(r->marker, S("win32")) || str_contains(r->marker, S("darwin")))
			continue;
		finding_note(a, ret, "release-dangling", v->path,
			"requires '%.*s%.*s'%s%.*s, and there is no such wheel", STR(r->name),
			STR(r->specifier), r->marker.n ? " if " : "", STR(r->marker));
	}
}

void release_check(struct arena *a, const struct release_set *set, const struct release_set *beside,
	struct findings *ret)
{
	struct verdicts all = {0};
	check_names(a, set, beside, ret);
	for (size_t i = 0; beside && i < beside->n; i++)
		if (!beside->v[i].yanked.p)
			*VEC_PUSH(a, &all.wheels) = verdict_of(a, &beside->v[i]);
	size_t from = all.wheels.n;
	VEC_EACH (const struct release_wheel, w, set) {
		*VEC_PUSH(a, &all.wheels) = verdict_of(a, w);
		/* an index by folders would offer it as a wheel of another one's project */
		struct str folder = package_name(a, path_base(path_dir(w->path)), '-');
		if (!str_eq(folder, w->project) &&
			VEC_FIND(struct release_wheel, set, project, folder))
			finding_note(a, ret, "release-folder", w->path,
				"'%.*s' lies in the folder of '%.*s'", STR(w->project),
				STR(folder));
	}
	verify_set(a, &all);
	for (size_t i = 0; i < all.wheels.n; i++) {
		struct verdict *v = &all.wheels.v[i];
		if (i >= from)
			check_devices(a, &all, v, ret);
		VEC_EACH (struct finding, f, &v->findings) {
			bool order = str_eq(str_from(f->id), S("version-order"));
			if (i < from && !order) /* it was promoted already */
				continue;
			/* in an index the older version is what users get */
			if (order && f->severity == SEV_WARNING)
				f->severity = SEV_ERROR;
			*VEC_PUSH(a, ret) = *f;
		}
	}
	findings_sort(a, ret);
}

struct strs release_lacks(struct arena *a, const struct release_set *set)
{
	struct strs lacks = {0}, pythons = release_pythons(a, set);
	MAP(known, a); /* a map, because each stranger's METADATA may name thousands */
	VEC_EACH (const struct release_wheel, w, set)
		map_put(&known, w->project, NULL);
	VEC_EACH (const struct release_wheel, w, set) {
		struct verdict v = verdict_of(a, w);
		for (size_t i = 0; i < v.requires.n * pythons.n; i++) {
			const struct requirement *r = &v.requires.v[i / pythons.n];
			struct str name = package_name(a, r->name, '-');
			if (requirement_holds(r, pythons.v[i % pythons.n], S("x86_64")) &&
				map_put(&known, name, NULL))
				strs_add(a, &lacks, name);
		}
	}
	strs_sort(&lacks);
	return lacks;
}

/* ---- order ---- */

static int by_project(const void *x, const void *y)
{
	const struct release_wheel *a = x, *b = y;
	const struct version *v, *w;
	ARENA(tmp);
	int c = str_cmp(a->project, b->project);
	if (c)
		return c;
	struct err *e = version_parse(&tmp, a->version, &v),
		   *f = version_parse(&tmp, b->version, &w);
	c = !e && !f ? version_cmp(v, w) : 0;
	err_free(e);
	err_free(f);
	return c ? c : str_cmp(a->file, b->file);
}

struct release_order {
	struct arena *a;
	const struct release_set *from;
	struct map seen; /* projects */
	struct release_set out;
};

/* Device wheels require their host wheel, which offers them as extras: of such a circle the host comes last, because
 * it is what users ask for. */
static void order_project(struct release_order *o, struct str project, unsigned depth)
{
	enum { DEEP = 64 };
	if (!map_put(&o->seen, project, o))
		return;
	VEC_EACH (const struct release_wheel, w, o->from) {
		if (!str_eq(w->project, project) || depth > DEEP)
			continue;
		struct verdict v = verdict_of(o->a, w);
		VEC_EACH (const struct requirement, r, &v.requires)
			order_project(o, package_name(o->a, r->name, '-'), depth + 1);
	}
	VEC_EACH (const struct release_wheel, w, o->from)
		if (str_eq(w->project, project))
			*VEC_PUSH(o->a, &o->out) = *w;
}

void release_sort(struct arena *a, struct release_set *io, bool order)
{
	VEC_SORT(io, by_project);
	if (!order)
		return;
	struct release_order o = {.a = a, .from = io, .seen = {.a = a}};
	for (unsigned pass = 0; pass < 2; pass++) /* hosts first: they bring their device wheels */
		VEC_EACH (const struct release_wheel, w, io)
			if (pass || !release_device(w->project).n)
				order_project(&o, w->project, 0);
	*io = o.out;
}
