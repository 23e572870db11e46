/* Names of wheel files and the tags in them; see wheel.h. */
#include "wheel/wheel.h"

#include "base/fs.h"
#include "lang/python/version.h"

static struct err *bad(struct str file, const char *what, struct str part)
{
	struct err *e = err_new(
		E_WHEEL, "'%.*s' is not a name for a wheel: %s '%.*s'", STR(file), what, STR(part));
	return err_hint(e, "wheels are named NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl");
}

struct err *wheel_name_parse(struct arena *a, struct str file, struct wheel_name *ret)
{
	const struct version *version;
	struct str name = path_base(file), part[6] = {0};
	if (!str_ends(name, S(".whl")))
		return bad(name, "it does not end in", S(".whl"));
	struct str rest = str_sub(name, 0, name.n - 4);
	size_t n = 1 + str_count(rest, '-');
	if (n != 5 && n != 6)
		return bad(name, "there must be five or six parts between dashes in", rest);
	for (size_t i = 0; i < n; i++)
		(void)str_cut(rest, '-', &part[i], &rest);
	*ret = (struct wheel_name){
		.dist = part[0],
		.version = part[1],
		.build = n == 6 ? part[2] : S(""),
		.python = part[n - 3],
		.abi = part[n - 2],
		.platform = part[n - 1],
	};
	if (n == 6 && !ret->build.n)
		return bad(name, "empty build tag in", name);
	if (!str_made_of(ret->dist, "_.") || str_contains(ret->dist, S("__")))
		return bad(name, "wrong project name", ret->dist);
	struct err *e = version_parse(a, ret->version, &version);
	bool wrong = e;
	err_free(e);
	if (wrong)
		return bad(name, "wrong version (PEP 440)", ret->version);
	if (n == 6 && (!ascii_digit(ret->build.p[0]) || !str_made_of(ret->build, "_.+")))
		return bad(name, "a build tag must begin with a digit, not be", ret->build);
	const struct str tags[] = {ret->python, ret->abi, ret->platform};
	for (unsigned i = 0; i < 3; i++)
		if (!str_made_of(tags[i], "_.") || tags[i].p[0] == '.' ||
			str_ends(tags[i], S(".")) || str_contains(tags[i], S("..")))
			return bad(name, "wrong tag", tags[i]);
	return NULL;
}

struct str wheel_name_text(struct arena *a, const struct wheel_name *n)
{
	return str_fmt(a, "%.*s-%.*s%s%.*s-%.*s-%.*s-%.*s.whl", STR(n->dist), STR(n->version),
		n->build.n ? "-" : "", STR(n->build), STR(n->python), STR(n->abi),
		STR(n->platform));
}

struct str wheel_normalise(struct arena *a, struct str project)
{
	return package_name(a, project, '_');
}

bool wheel_owns_info(const struct wheel_name *n, struct str folder)
{
	ARENA(tmp);
	struct str dist, version;
	return dist_stem_cut(folder, &dist, &version) &&
	       str_eq(wheel_normalise(&tmp, dist), wheel_normalise(&tmp, n->dist)) &&
	       wheel_same_version(version, n->version);
}

struct strs wheel_tags(struct arena *a, const struct wheel_name *n)
{
	struct strs ret = {0};
	struct str pythons = n->python, python, abis, abi, platforms, platform;
	while (ret.n < WHEEL_TAGS && str_next(&pythons, '.', &python))
		for (abis = n->abi; ret.n < WHEEL_TAGS && str_next(&abis, '.', &abi);)
			for (platforms = n->platform;
				ret.n < WHEEL_TAGS && str_next(&platforms, '.', &platform);)
				strs_fmt(a, &ret, "%.*s-%.*s-%.*s", STR(python), STR(abi),
					STR(platform));
	return ret;
}

void wheel_tags_add(struct arena *a, struct str tag, struct strs *list)
{
	struct strs parts = str_split(a, tag, '-'), more = {0};
	if (parts.n != 3)
		strs_add(a, list, tag);
	else
		more = wheel_tags(a,
			&(struct wheel_name){
				.python = parts.v[0], .abi = parts.v[1], .platform = parts.v[2]});
	strs_add_all(a, list, &more);
}

bool wheel_same_version(struct str x, struct str y)
{
	ARENA(tmp);
	const struct version *a, *b;
	struct err *e = version_parse(&tmp, x, &a), *f = version_parse(&tmp, y, &b);
	bool same = !e && !f ? version_cmp(a, b) == 0 : str_eq(x, y);
	err_free(e);
	err_free(f);
	return same;
}
