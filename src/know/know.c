/* Looks up rows of data/rocm.yaml; see know.h. */
#include "know/know.h"
#include "base/vec.h"

#include "base/fs.h"

#include <fnmatch.h>

struct strs know_component_names(struct arena *a)
{
	struct strs list = {0};
	TABLE_EACH (know_library, l)
		if (*l->name)
			strs_add(a, &list, str_from(l->name));
	return list;
}

void know_cuda_libraries(struct arena *a, struct know_cudas *ret)
{
	*ret = (struct know_cudas){0};
	TABLE_EACH (know_library, l)
		for (size_t i = 0; l->cuda && l->cuda[i]; i++) { /* "curand.10=hiprand" */
			struct know_cuda *c = VEC_PUSH(a, ret);
			c->of = l;
			str_cut(str_from(l->cuda[i]), '=', &c->name, &c->hip);
			str_cut(c->name, '.', &c->name, &c->version);
		}
}

const struct know_library *know_component(struct str name)
{
	TABLE_EACH (know_library, l)
		if (name.n && str_eq(name, str_from(l->name)))
			return l;
	return NULL;
}

static bool matches_one(struct str s, const char *const *list)
{
	ARENA(tmp);
	char *z = str_z(&tmp, s);
	for (; list && *list; list++)
		if (fnmatch(*list, z, 0) == 0)
			return true;
	return false;
}

const struct know_library *know_header(struct str path)
{
	TABLE_EACH (know_library, l)
		if (l->headers && str_starts_one_of(path, l->headers))
			return l;
	return NULL;
}

const struct know_library *know_link(struct str name)
{
	TABLE_EACH (know_library, l)
		if (l->link && str_eq(name, str_from(l->link)))
			return l;
	return NULL;
}

struct strs know_headers(struct arena *a, const struct strs *paths)
{
	struct strs out = {0};
	for (size_t i = 0; i < paths->n; i++) {
		const struct know_library *l = know_header(paths->v[i]);
		if (l)
			strs_put(a, &out, str_from(l->name));
	}
	strs_sort(&out);
	return out;
}

static void add_packages(struct arena *a, const struct know_library *l, struct strs *ret)
{
	for (const char *const *p = l->parts; p && *p; p++)
		add_packages(a, know_component(str_from(*p)), ret);
	strs_add_words(a, ret, l->packages);
}

struct err *know_packages(struct arena *a, struct str name, struct strs *ret, bool *ret_alone)
{
	const struct know_library *l = know_component(name);
	*ret = (struct strs){0};
	if (l) {
		add_packages(a, l, ret);
		*ret_alone = l->alone;
		return NULL;
	}
	struct strs names = know_component_names(a);
	struct err *e = err_new(E_USAGE, "unknown SDK component '%.*s'", STR(name));
	return err_near(e, str_lower(a, name), &names)->hints
		       ? e
		       : err_hint(e, "'rocsmith sdk list' shows the components");
}

struct str know_package_name(struct arena *a, struct str name, struct str clang)
{
	return str_replace(a, name, clang.n ? S("@clang@") : S("@clang@-"), clang);
}

bool know_rocm_package(struct str name)
{
	return matches_one(name, know_family_table()->packages);
}

bool know_rocm_cmake(struct str name)
{
	ARENA(tmp);
	return str_starts_one_of(str_lower(&tmp, name), know_family_table()->cmake);
}

const struct know_library *know_provider(struct str soname)
{
	ARENA(tmp);
	struct str version, stem = path_library(soname, &version);
	if (stem.n) /* auditwheel may have renamed it */
		soname = str_fmt(
			&tmp, "%.*s.so%s%.*s", STR(stem), version.n ? "." : "", STR(version));
	TABLE_EACH (know_library, l)
		if (matches_one(soname, l->sonames))
			return l;
	return NULL;
}

bool know_compilers_library(struct str soname)
{
	return matches_one(soname, know_compiler_table()->sonames);
}

const struct know_other *know_soname(struct str name)
{
	static const struct know_other rocm = {.who = "ROCm", .origin = KNOW_ROCM};
	if (know_provider(name))
		return &rocm;
	TABLE_EACH (know_other, other)
		if (matches_one(name, (const char *const[]){other->soname, NULL}))
			return other;
	return NULL;
}
