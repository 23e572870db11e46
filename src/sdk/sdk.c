/* Parses the names of SDKs, finds their providers, opens and removes SDKs by name, and reports facts about an open one;
 * see sdk.h. */
#include <stdlib.h>

#include "archive/apt.h"
#include "base/fs_stage.h"
#include "machine/parse.h"
#include "recipe/recipe.h"
#include "sdk/provider.h"

static const struct sdk_provider *const providers[] = {
	&sdk_debian, &sdk_rocm_wheels, &sdk_tarball, &sdk_artifacts, &sdk_prefix};
enum { PROVIDERS = sizeof(providers) / sizeof(providers[0]) };

struct err *sdk_complete(
	const struct sdk_spec *spec, struct sdk_spec *ret, const struct sdk_provider **ret_provider)
{
	ARENA(tmp);
	struct strs known = {0};
	*ret = *spec;
	if (spec->mirror.n)
		TRY(apt_check_mirror(spec->mirror));
	/* a suite becomes part of a folder's name, so only a known one is accepted */
	for (size_t i = 0; i < PROVIDERS; i++) {
		const struct sdk_provider *p = *ret_provider = providers[i];
		if (spec->provider.n && !str_eq(spec->provider, str_from(p->name))) {
			strs_add(&tmp, &known, str_from(p->name));
			continue;
		}
		ret->provider = str_from(p->name);
		if (!spec->suite.n && p->suites)
			ret->suite = str_from(p->suites[0]);
		strs_add_words(&tmp, &known, p->suites);
		if (!p->resolve || strs_has(&known, ret->suite))
			return NULL;
		bool word = !p->suites && str_made_of(ret->suite, "._+-") &&
			    ascii_alnum(ret->suite.p[0]);
		if (word)
			return NULL;
		if (!p->suites)
			return err_hint(
				err_new(E_USAGE, "'%.*s' is no version of the provider '%s'",
					STR(ret->suite), p->name),
				"write %s:10.1", p->name);
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
		strs_add_words(a, &all, providers[i]->suites);
	return all;
}

struct err *sdk_spec_parse(struct arena *a, struct str word, struct sdk_spec *ret)
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		const struct sdk_provider *p = providers[i];
		struct str name = str_from(p->name), rest = str_sub(word, name.n, word.n);
		*ret = (struct sdk_spec){.provider = name};
		bool fits = p->parse ? p->parse(word, ret)
				     : str_starts(word, name) && str_chr(word, '/') == word.n;
		if (fits && !p->parse) { /* "debian", "debian:sid", "debian-sid" */
			ret->suite = rest.n > 1  ? str_sub(rest, 1, rest.n)
				     : p->suites ? str_from(p->suites[0])
						 : S("");
			fits = !rest.n || rest.p[0] == ':' || (rest.p[0] == '-' && rest.n > 1);
		}
		if (fits) {
			ret->suite = str_dup(a, ret->suite);
			ret->prefix = str_dup(a, ret->prefix);
			return NULL;
		}
	}
	struct err *e = err_new(E_USAGE, "unknown SDK '%.*s'", STR(word));
	return err_hint(
		e, "write debian, debian:sid, debian:experimental, rocm:10.1 or prefix:/opt/rocm");
}

struct err *sdk_open(struct arena *a, const struct sdk_spec *spec, struct sdk *ret)
{
	const struct sdk_provider *provider;
	struct sdk_spec full;
	TRY(sdk_complete(spec, &full, &provider));
	return provider->open ? provider->open(a, &full, ret)
			      : sdk_open_installed(a, provider, &full, ret);
}

struct err *sdk_can_be_had(struct arena *a, const struct sdk_spec *spec)
{
	const struct sdk_provider *provider;
	struct sdk_spec full;
	struct sdk open;
	TRY(sdk_complete(spec, &full, &provider));
	if (!provider->by_hand)
		return NULL;
	full.components = (struct strs){0};
	struct err *e = sdk_open(a, &full, &open);
	if (e && e->code == E_NOENT)
		e->code = E_SDK;
	return e;
}

#define INSTALL "rocsmith sdk install debian --suite sid --components compiler"

struct err *sdk_open_name(struct arena *a, struct str name, struct sdk *ret)
{
	const struct sdk_provider *provider;
	struct sdk_spec spec = {0};
	struct strs names;
	if (!name.n) /* an option table cannot supply it for a positional NAME */
		name = str_from(getenv("ROCSMITH_SDK"));
	if (!name.n) {
		TRY(sdk_names(a, &names));
		if (!names.n)
			return err_hint(err_new(E_SDK, "no SDK is installed"), INSTALL);
		/* the first provider's default, or else the first one installed */
		TRY(sdk_complete(&spec, &spec, &provider));
		name = sdk_name(a, &spec);
		name = strs_has(&names, name) ? name : names.v[0];
	}
	struct err *e = sdk_spec_parse(a, name, &spec);
	if (!e)
		e = sdk_complete(&spec, &spec, &provider);
	if (!e) {
		struct str dir = sdk_dir(a, sdk_name(a, &spec));
		if (!provider->resolve || fs_exists(path_join(a, dir, S(SDK_RECEIPT))))
			return sdk_open(a, &spec, ret);
	}
	err_free(e);
	struct sdk_spec usual = {0};
	e = sdk_complete(&usual, &usual, &provider);
	bool known = !e && str_eq(sdk_name(a, &usual), name);
	err_free(e);
	e = err_new(E_SDK, "there is no SDK '%.*s'", STR(name));
	return known ? err_hint(e, INSTALL)
		     : err_hint(e, "'rocsmith sdk list' shows what is installed");
}

struct err *sdk_remove(struct arena *a, struct str name)
{
	name = str_replace(a, name, S(":"), S("-"));
	struct str dir = sdk_dir(a, name);
	struct str stage = sdk_stage(a, name), gone = fs_gone_name(a, dir);
	struct fs_use freed = {0};
	if (!name.n || str_chr(name, '/') < name.n || name.p[0] == '.')
		return err_new(E_USAGE, "'%.*s' is not an SDK that rocsmith installed", STR(name));
	CLEANUP(fd_closep) int lock = -1;
	struct str cache = path_join(a, fs_place(a, FS_CACHE, S("sdk")), name);
	TRY(fs_place_check(FS_CACHE));
	TRY(fs_check_way(cache));
	TRY(sdk_lock(a, name, &lock));
	bool there = fs_present(path_join(a, dir, S(SDK_RECEIPT)));
	if (fs_is_link(dir) || (!there && !fs_is_dir(stage) && !fs_is_dir(gone)))
		return err_new(E_NOENT, "there is no SDK '%.*s'", STR(name));
	if (there)
		TRY(fs_hold(dir, FS_HOLD_ALONE));
	/* The SDK goes last: as long as it is found, a run that was killed can be repeated. */
	TRY(fs_remove_tree(cache));
	TRY(fs_remove_tree(stage));
	return there ? fs_retire(dir, S(""), &freed) : fs_remove_tree(gone);
}

/* ---- facts about an open SDK ---- */
struct str sdk_component_version(const struct sdk *sdk, const char *name)
{
	const struct sdk_component *c =
		VEC_FIND(struct sdk_component, &sdk->components, name, str_from(name));
	return c ? c->version : S("");
}

/* AMD's packages have the version in a file: "6.4.3-127". Else HIP's tells the release: 7.2.53211 is part of ROCm 7.2. */
struct str sdk_rocm(struct arena *a, const struct sdk *sdk)
{
	struct str text = {0}, prefix = sdk_outside(a, sdk, sdk->hip_path);
	err_free(fs_read_opt(a, path_join(a, prefix, S(".info/version")), 4096, &text));
	text = text.p ? str_trim(text) : S("");
	text = str_sub(text, 0, str_chr(text, '-'));
	if (text.n && ascii_digit(text.p[0]) && str_chr(text, '\n') == text.n)
		return text;
	return major_minor(a, sdk_component_version(sdk, "hip"));
}

struct str sdk_rocm_put(struct arena *a, const struct sdk *sdk, struct str text)
{
	struct str rocm = sdk_rocm(a, sdk), pin = rocm, two = major_minor(a, rocm);
	if (!rocm.n)
		return text;
	if (is_version(rocm) && two.n)
		pin = str_fmt(a, "%.*s.*", STR(two));
	text = str_replace(a, text, S(SDK_ROCM), rocm);
	return str_replace(a, text, S(SDK_ROCM_PIN), pin);
}

void sdk_recipe_facts(struct arena *a, const struct sdk *sdk, struct recipe_facts *ret)
{
	VEC_EACH (const struct sdk_component, c, &sdk->components) {
		struct recipe_fact f = {.name = c->name, .version = c->version, .from = sdk->name};
		recipe_fact_add(a, ret, f);
		if (!str_eq(c->name, S("hip")))
			continue;
		f.name = S("rocm");
		f.version = major_minor(a, c->version);
		recipe_fact_add(a, ret, f);
	}
	ret->sdk_at = sdk->hip_path;
	ret->sdk = sdk_outside(a, sdk, sdk->hip_path);
}
