/* Distributions in a Python environment that are related to PyTorch or ROCm, and their requirements that do not hold.
 * Sources: the specifications of recorded projects (NAME-VERSION.dist-info) and of core metadata; egg-info as
 * setuptools and Debian write it. */
#include "lang/python/dist_info.h"
#include "lang/python/requirement.h"
#include "lang/python/version.h"
#include "machine/python.h"

#define EGG_INFO ".egg-info"

enum { MANY_REQUIREMENTS = 1000 };

static int by_name(const void *x, const void *y)
{
	const struct machine_package *a = x, *b = y;
	int r = str_cmp(a->name, b->name);
	r = r ? r : str_cmp(a->version, b->version);
	return r ? r : str_cmp(a->path, b->path);
}

/* Adds the packages of a folder, such as "torch-2.9.1+rocm6.4.dist-info" or "torch-2.6.0-py3.13.egg-info", except those
 * that do not matter here and those that an earlier folder hides; one folder may have two of the same name. */
static void list_site(struct python_env *e, struct str site)
{
	struct strs names, hidden = {0};
	struct str name, version;
	struct arena *a = e->r->a;
	root_list(e->r, site, &names);
	VEC_EACH (const struct machine_package, p, &e->py->packages)
		strs_add(a, &hidden, p->name);
	for (size_t i = 0; i < names.n && e->py->packages.n < MANY_PACKAGES; i++) {
		struct str file = names.v[i], path = path_join(a, site, file);
		bool egg = str_ends(file, S(EGG_INFO));
		if (str_starts(file, S("_rocm_sdk_")) && root_real(e->r, path).n)
			strs_add(a, &e->rocm_dirs, path);
		if (str_eq(file, S("torch")) && /* a torch built in place has no dist-info */
			root_real(e->r, path_join(a, path, S("version.py"))).n)
			e->py->has_torch = true;
		if (!egg && !dist_stem_cut(file, &name, &version))
			continue;
		if (egg && !str_cut(str_sub(file, 0, file.n - S(EGG_INFO).n), '-', &name, &version))
			continue;
		if (egg)
			version = str_sub(version, 0, str_find(version, S("-py")));
		version = clean_text(a, version);
		name = clean_text(a, package_name(a, name, '-'));
		if (!version.n || !package_matters(name) || strs_has(&hidden, name))
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

/* The specifier of the torch that a wheel of AMD's was built for, if its metadata do not give it: torchaudio 2.8 and
 * torchvision 0.23 need torch 2.8. From 2.11 on torchaudio works with any torch. If torch is not a release, its version
 * does not matter. */
static struct str torch_of(
	struct arena *a, const struct machine_python *py, const struct machine_package *p)
{
	bool vision = str_eq(p->name, S("torchvision"));
	uint64_t v[2];
	VEC_EACH (const struct machine_package, t, &py->packages)
		if (str_eq(t->name, S("torch")) &&
			!is_version(str_sub(t->version, 0, str_chr(t->version, '+'))))
			return S("");
	if ((!vision && !str_eq(p->name, S("torchaudio"))) ||
		!str_contains(p->version, S("+rocm")) || str_numbers(p->version, v, 2) < 2 ||
		v[0] != (vision ? 0u : 2u) || (vision ? v[1] < 15 : v[1] > 10))
		return S("");
	return str_fmt(a, "==2.%u.*", (unsigned)v[1] - (vision ? 15 : 0));
}

static void check_requirement(struct python_env *e, struct machine_package *p, struct str text)
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
	text = str_fmt(&tmp, "%.*s%.*s, but %.*s is %shere", STR(q.name), STR(q.specifier),
		STR(here.n ? here : S("it")), here.n ? "" : "not ");
	strs_put(a, &p->unmet, clean_text(a, text));
}

void gather_packages(struct python_env *e)
{
	struct arena *a = e->r->a;
	VEC_EACH (const struct str, site, &e->sites)
		list_site(e, *site);
	VEC_SORT(&e->py->packages, by_name);
	VEC_EACH (struct machine_package, p, &e->py->packages) {
		bool egg = str_ends(p->path, S(EGG_INFO));
		struct str text, file = path_join(a, p->path, egg ? S("PKG-INFO") : S("METADATA"));
		root_exists(e->r, p->path);
		/* NVIDIA's packages are skipped: they require only each other */
		if (!str_starts(p->name, S("nvidia-")) &&
			root_head(e->r, file, METADATA_HEAD, &text) == ROOT_OK) {
			struct strs list = parse_requirements(a, text);
			for (size_t i = 0; i < list.n && i < MANY_REQUIREMENTS; i++)
				check_requirement(e, p, list.v[i]);
		}
		p->path = shown_path(a, p->path);
	}
	VEC_EACH (const struct str, dir, &e->rocm_dirs)
		root_exists(e->r, *dir);
}
