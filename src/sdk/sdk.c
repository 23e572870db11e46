/* Which provider an SDK is of, and what there is to do with one by its name; see sdk.h. */
#include <stdlib.h>

#include "archive/apt.h"
#include "base/fs_stage.h"
#include "sdk/provider.h"

static const struct sdk_provider *const providers[] = {&sdk_debian, &sdk_prefix};
enum { PROVIDERS = sizeof(providers) / sizeof(providers[0]) };

struct err *sdk_complete(
	const struct sdk_spec *spec, struct sdk_spec *ret, const struct sdk_provider **ret_provider)
{
	ARENA(tmp);
	struct strs known = {0};
	*ret = *spec;
	if (spec->mirror.n)
		TRY(apt_check_mirror(spec->mirror));
	/* a suite is part of a folder's name: it is one of those, whoever names it */
	for (size_t i = 0; i < PROVIDERS; i++) {
		const struct sdk_provider *p = *ret_provider = providers[i];
		if (spec->provider.n && !str_eq(spec->provider, str_from(p->name))) {
			strs_add(&tmp, &known, str_from(p->name));
			continue;
		}
		ret->provider = str_from(p->name);
		if (!spec->suite.n && p->suites)
			ret->suite = str_from(p->suites[0]);
		for (size_t k = 0; p->suites && p->suites[k]; k++)
			strs_add(&tmp, &known, str_from(p->suites[k]));
		if (!p->suites || strs_has(&known, ret->suite))
			return NULL;
		return err_hint(err_new(E_USAGE, "unknown suite '%.*s'", STR(ret->suite)),
			"known: %.*s", STR(str_join(&tmp, &known, S(", "))));
	}
	struct err *e = err_new(E_USAGE, "unknown provider '%.*s'", STR(spec->provider));
	return err_hint(e, "known: %.*s", STR(str_join(&tmp, &known, S(", "))));
}

struct strs sdk_suites(struct arena *a)
{
	struct strs all = {0};
	for (size_t i = 0; i < PROVIDERS; i++)
		for (size_t k = 0; providers[i]->suites && providers[i]->suites[k]; k++)
			strs_add(a, &all, str_from(providers[i]->suites[k]));
	return all;
}

struct err *sdk_spec_parse(struct arena *a, struct str word, struct sdk_spec *ret)
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		*ret = (struct sdk_spec){.provider = str_from(providers[i]->name)};
		if (providers[i]->parse(word, ret)) {
			ret->suite = str_dup(a, ret->suite);
			ret->prefix = str_dup(a, ret->prefix);
			return NULL;
		}
	}
	struct err *e = err_new(E_USAGE, "unknown SDK '%.*s'", STR(word));
	return err_hint(e, "write debian, debian:sid, debian:experimental or prefix:/opt/rocm");
}

struct err *sdk_open(struct arena *a, const struct sdk_spec *spec, struct sdk *ret)
{
	const struct sdk_provider *provider;
	struct sdk_spec full;
	TRY(sdk_complete(spec, &full, &provider));
	return provider->open(a, &full, ret);
}

static struct err *default_name(struct arena *a, struct str *ret)
{
	const char *env = getenv("ROCSMITH_SDK");
	const struct sdk_provider *first;
	struct sdk_spec usual;
	struct strs names;
	*ret = str_from(env);
	if (ret->n)
		return NULL;
	TRY(sdk_names(a, &names));
	if (!names.n) {
		struct err *e = err_new(E_SDK, "no SDK is installed");
		return err_hint(e, "rocsmith sdk install debian --suite sid --components compiler");
	}
	/* the first provider's usual one, else what there is */
	TRY(sdk_complete(&(struct sdk_spec){0}, &usual, &first));
	*ret = strs_has(&names, sdk_name(a, &usual)) ? sdk_name(a, &usual) : names.v[0];
	return NULL;
}

struct err *sdk_open_name(struct arena *a, struct str name, struct sdk *ret)
{
	const struct sdk_provider *provider;
	struct sdk_spec spec;
	if (!name.n)
		TRY(default_name(a, &name));
	struct err *e = sdk_spec_parse(a, name, &spec);
	if (!e)
		e = sdk_complete(&spec, &spec, &provider);
	if (!e) {
		struct str dir = sdk_dir(a, sdk_name(a, &spec));
		if (!provider->resolve || fs_exists(path_join(a, dir, S(SDK_RECEIPT))))
			return provider->open(a, &spec, ret);
	}
	err_free(e);
	e = err_new(E_SDK, "there is no SDK '%.*s'", STR(name));
	return err_hint(e, "'rocsmith sdk list' shows what is installed");
}

struct err *sdk_remove(struct arena *a, struct str name)
{
	struct str dir = sdk_dir(a, name);
	struct fs_stage s = {.place = dir, .beside = sdk_stage(a, name)};
	if (!name.n || str_chr(name, '/') < name.n || name.p[0] == '.')
		return err_new(E_USAGE, "'%.*s' is not an SDK that rocsmith installed", STR(name));
	CLEANUP(fd_closep) int lock = -1;
	TRY(sdk_lock(a, name, &lock));
	bool there = fs_present(path_join(a, dir, S(SDK_RECEIPT)));
	if (fs_is_link(dir) || (!there && !fs_is_dir(s.beside)))
		return err_new(E_NOENT, "there is no SDK '%.*s'", STR(name));
	TRY(fs_stage_begin(a, &s));
	/* it goes as it came, in one rename: no half SDK is ever opened */
	struct err *e = there ? fs_rename(dir, path_join(a, s.beside, S("gone"))) : NULL;
	TRY(err_join(e, fs_stage_end(&s)));
	return fs_remove_tree(path_join(a, fs_place(a, FS_CACHE, S("sdk")), name));
}
