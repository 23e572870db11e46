/* What recipes want to know of an SDK. */
#include "base/fs.h"
#include "recipe/recipe.h"
#include "sdk/provider.h"

/* The release that HIP is of: 7.2.53211 belongs to ROCm 7.2. */
static struct str release(struct arena *a, struct str hip)
{
	struct str major = S(""), minor = S("");
	(void)(str_next(&hip, '.', &major) && str_next(&hip, '.', &minor));
	return minor.n ? str_fmt(a, "%.*s.%.*s", STR(major), STR(minor)) : S("");
}

struct str sdk_component_version(const struct sdk *sdk, const char *name)
{
	VEC_EACH (const struct sdk_component, c, &sdk->components)
		if (str_eq(c->name, str_from(name)))
			return c->version;
	return S("");
}

/* AMD's packages say it in a file: "6.4.3-127". */
struct str sdk_rocm(struct arena *a, const struct sdk *sdk)
{
	struct str text = {0}, prefix = sdk_outside(a, sdk, sdk->hip_path);
	err_free(fs_read_opt(a, path_join(a, prefix, S(".info/version")), 4096, &text));
	text = text.p ? str_trim(text) : S("");
	text = str_sub(text, 0, str_chr(text, '-'));
	if (text.n && ascii_digit(text.p[0]) && str_chr(text, '\n') == text.n)
		return text;
	return release(a, sdk_component_version(sdk, "hip"));
}

static struct str pin(struct arena *a, struct str rocm)
{
	struct str major, minor, rest = rocm;
	for (size_t i = 0; i < rocm.n; i++)
		if (!ascii_digit(rocm.p[i]) && rocm.p[i] != '.')
			return rocm;
	if (!str_next(&rest, '.', &major) || !str_next(&rest, '.', &minor))
		return rocm;
	return str_fmt(a, "%.*s.%.*s.*", STR(major), STR(minor));
}

struct str sdk_rocm_put(struct arena *a, const struct sdk *sdk, struct str text)
{
	struct str rocm = sdk_rocm(a, sdk);
	if (!rocm.n)
		return text;
	text = str_replace(a, text, S(SDK_ROCM), rocm);
	return str_replace(a, text, S(SDK_ROCM_PIN), pin(a, rocm));
}

void sdk_recipe_facts(struct arena *a, const struct sdk *sdk, struct recipe_facts *ret)
{
	VEC_EACH (const struct sdk_component, c, &sdk->components) {
		struct recipe_fact f = {.name = c->name, .version = c->version, .from = sdk->name};
		recipe_fact_add(a, ret, f);
		if (!str_eq(c->name, S("hip")))
			continue;
		f.name = S("rocm");
		f.version = release(a, c->version);
		recipe_fact_add(a, ret, f);
	}
	ret->sdk_at = sdk->hip_path;
	ret->sdk = sdk_outside(a, sdk, sdk->hip_path);
}
