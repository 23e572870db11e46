/* What recipes want to know of an SDK. */
#include "recipe/recipe.h"
#include "sdk/provider.h"

/* The release that HIP is of: 7.2.53211 belongs to ROCm 7.2. */
static struct str release(struct arena *a, struct str hip)
{
	struct str major = S(""), minor = S("");
	(void)(str_next(&hip, '.', &major) && str_next(&hip, '.', &minor));
	return minor.n ? str_fmt(a, "%.*s.%.*s", STR(major), STR(minor)) : S("");
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
