/* Checks where an installer puts the members: those of NAME.data/ into one of five folders of the environment, all others below
 * site-packages. Two members in one place would leave the user with the second, and what was judged may be the first.
 * Source: the specification of the binary distribution format, "The .data directory". */
#include "verify/exam.h"
#include "wheel/archive.h"

static bool has_scheme(struct str name)
{
	static const char *const schemes[] = {
		"purelib", "platlib", "headers", "scripts", "data", NULL};
	struct str top, rest, kind, path;
	if (!str_cut(name, '/', &top, &rest) || !str_ends(top, S(".data")))
		return true;
	return str_cut(rest, '/', &kind, &path) && str_is_one_of(kind, schemes);
}

static bool differ(const struct exam_member *m, const struct exam_member *other)
{
	return m->read && other->read && memcmp(m->digest.b, other->digest.b, m->digest.n) != 0;
}

void check_places(struct exam *x)
{
	MAP(places, x->a); /* paths below site-packages -> struct exam_member * */
	for (size_t i = 0; i < x->n; i++) {
		struct exam_member *m = &x->members[i];
		struct str name = m->zip->name, at = wheel_installed(name, S("")), top, rest;
		if (m->skip)
			continue;
		if (!has_scheme(name))
			exam_say(x, V_DATA_SCHEME, name,
				"installers know purelib, platlib, headers, scripts and data "
				"there");
		bool info = str_cut(at, '/', &top, &rest) && str_ends(top, S(DIST_INFO));
		if (info && !str_eq(at, name))
			exam_say(x, V_INFO_SEVERAL, name,
				"it is installed as a file of the dist-info folder '%.*s'",
				STR(top));
		const struct exam_member *other = at.n ? map_get(&places, at) : NULL;
		if (other && differ(m, other))
			exam_say(x, V_PLACE_TWICE, name,
				"it is installed in the place of '%.*s', and is not the same",
				STR(other->zip->name));
		if (at.n)
			map_put(&places, at, m);
	}
}
