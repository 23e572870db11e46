/* Distributions in a Python environment that are related to PyTorch or ROCm, and their requirements that do not hold.
 * Sources: the specifications of recorded projects (NAME-VERSION.dist-info) and of core metadata; egg-info as
 * setuptools and Debian write it. */
#include <stdlib.h>

#include "lang/python/requirement.h"
#include "lang/python/version.h"
#include "machine/python.h"

enum { MANY_REQUIREMENTS = 1000 };

/* Splits "torch-2.9.1+rocm6.4.dist-info" or "torch-2.6.0-py3.13.egg-info". Returns false for other names, and for
 * packages that do not matter here. */
static bool split_name(
	struct arena *a, struct str file, struct str *ret_name, struct str *ret_version)
{
	struct str rest;
	bool egg = str_ends(file, S(".egg-info"));
	if (!egg && !str_ends(file, S(".dist-info")))
		return false;
	if (!str_cut(str_sub(file, 0, file.n - (egg ? 9 : 10)), '-', ret_name, &rest))
		return false;
	*ret_version = clean_text(a, str_sub(rest, 0, egg ? str_find(rest, S("-py")) : rest.n));
	*ret_name = clean_text(a, package_name(a, *ret_name, '-'));
	return ret_version->n && package_matters(*ret_name);
}

static int by_name(const void *x, const void *y)
{
	const struct machine_package *a = x, *b = y;
	int r = str_cmp(a->name, b->name);
	r = r ? r : str_cmp(a->version, b->version);
	return r ? r : str_cmp(a->path, b->path);
}

static bool is_listed(const struct machine_python *py, size_t before, struct str name)
{
	for (size_t i = 0; i < before; i++)
		if (str_eq(py->packages.v[i].name, name))
			return true;
	return false;
}

/* Adds the packages of a folder, except those that an earlier folder hides; one folder may have two of the same
 * name. */
static void list_site(struct environment *e, struct str site)
{
	struct strs names;
	struct str name, version;
	struct arena *a = e->r->a;
	size_t before = e->py->packages.n;
	root_list(e->r, site, &names);
	for (size_t i = 0; i < names.n && e->py->packages.n < MANY_PACKAGES; i++) {
		struct str path = path_join(a, site, names.v[i]);
		if (str_starts(names.v[i], S("_rocm_sdk_")) && root_real(e->r, path).n)
			strs_add(a, &e->rocm_dirs, path);
		if (str_eq(names.v[i], S("torch")) && /* a torch built in place has no dist-info */
			root_real(e->r, path_join(a, path, S("version.py"))).n)
			e->py->has_torch = true;
		if (!split_name(a, names.v[i], &name, &version) || is_listed(e->py, before, name))
			continue;
		*VEC_PUSH(a, &e->py->packages) =
			(struct machine_package){.name = name, .version = version, .path = path};
		e->py->has_torch = e->py->has_torch || str_eq(name, S("torch"));
	}
}

/* ---- requirements ---- */

/* Does any installed copy meet the requirement? If none does, *ret_here is a version that was found. */
static bool is_met(struct arena *a, const struct machine_python *py, const struct requirement *q,
	struct str *ret_here)
{
	const struct version *v;
	struct str name = package_name(a, q->name, '-');
	bool met = false;
	*ret_here = S("");
	VEC_EACH (const struct machine_package, p, &py->packages) {
		if (!str_eq(p->name, name))
			continue;
		struct err *e = version_parse(a, p->version, &v);
		bool fits = true;
		if (!e)
			e = version_match(v, q->specifier, &fits);
		/* a version or specifier that cannot be parsed counts as met */
		met = met || e || fits || q->url.n;
		err_free(e);
		*ret_here = p->version;
	}
	return met;
}

/* Does the public part of the version consist of numbers and dots only? */
static bool is_release(struct str version)
{
	struct str rest, local;
	str_cut(version, '+', &rest, &local);
	while (rest.n && (ascii_digit(rest.p[0]) || rest.p[0] == '.'))
		rest = str_sub(rest, 1, rest.n);
	return !rest.n;
}

/* The specifier of the torch that a wheel of AMD's was built for, if its metadata do not give it: torchaudio 2.8 and
 * torchvision 0.23 need torch 2.8. From 2.11 on torchaudio works with any torch. If torch is not a release, its version
 * does not matter. */
static struct str torch_of(
	struct arena *a, const struct machine_python *py, const struct machine_package *p)
{
	bool vision = str_eq(p->name, S("torchvision"));
	struct str major, rest, minor;
	uint64_t n;
	VEC_EACH (const struct machine_package, t, &py->packages)
		if (str_eq(t->name, S("torch")) && !is_release(t->version))
			return S("");
	if ((!vision && !str_eq(p->name, S("torchaudio"))) ||
		!str_contains(p->version, S("+rocm")) || !str_cut(p->version, '.', &major, &rest) ||
		!str_eq(major, vision ? S("0") : S("2")) || !str_cut(rest, '.', &minor, &rest) ||
		!str_u64(minor, 10, &n) || (vision ? n < 15 : n > 10))
		return S("");
	return str_fmt(a, "==2.%u.*", (unsigned)n - (vision ? 15 : 0));
}

static void check_requirement(struct environment *e, struct machine_package *p, struct str text)
{
	ARENA(tmp);
	struct arena *a = e->r->a;
	struct requirement q;
	struct str here;
	struct err *err = requirement_parse(text, &q);
	err_free(err);
	if (err || !requirement_holds(&q, e->py->version, e->m->arch))
		return;
	if (str_eq(q.name, S("torch")) && !q.specifier.n && !q.url.n)
		q.specifier = torch_of(&tmp, e->py, p);
	if (is_met(&tmp, e->py, &q, &here))
		return;
	struct str what = str_fmt(&tmp, "%.*s%.*s", STR(q.name), STR(q.specifier));
	strs_put(a, &p->unmet,
		clean_text(a, here.n ? str_fmt(&tmp, "%.*s, but %.*s is here", STR(what), STR(here))
				     : str_fmt(&tmp, "%.*s, but it is not here", STR(what))));
}

/* NVIDIA's packages are skipped: they require only each other. */
static void check_package(struct environment *e, struct machine_package *p)
{
	struct str text, one;
	bool egg = str_ends(p->path, S(".egg-info"));
	struct str path = path_join(e->r->a, p->path, egg ? S("PKG-INFO") : S("METADATA"));
	root_exists(e->r, p->path);
	if (str_starts(p->name, S("nvidia-")) ||
		root_head(e->r, path, METADATA_HEAD, &text) != ROOT_OK)
		return;
	text = metadata_lines(text);
	for (unsigned i = 0; i < MANY_REQUIREMENTS && next_requirement(&text, &one); i++)
		check_requirement(e, p, one);
}

void gather_packages(struct environment *e)
{
	VEC_EACH (const struct str, site, &e->sites)
		list_site(e, *site);
	if (e->py->packages.n)
		qsort(e->py->packages.v, e->py->packages.n, sizeof(*e->py->packages.v), by_name);
	VEC_EACH (struct machine_package, p, &e->py->packages)
		check_package(e, p);
	VEC_EACH (struct machine_package, p, &e->py->packages)
		p->path = clean_long(e->r->a, str_fmt(e->r->a, "/%.*s", STR(p->path)));
	VEC_EACH (const struct str, dir, &e->rocm_dirs)
		root_exists(e->r, *dir);
}
