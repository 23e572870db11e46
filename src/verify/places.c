/* Checks where an installer puts the members: those of NAME.data/ into one of five folders of the environment, all others below
 * site-packages. Two members in one place would leave the user with the second, and what was judged may be the first.
 * Source: the specification of the binary distribution format, "The .data directory". */
#include "verify/exam.h"
#include "wheel/archive.h"

/* A member of NAME.data, whatever the NAME: pip looks at no more than the end of the folder's name. */
static void check_scheme(struct exam *x, struct map *folders, struct str name)
{
	static const char *const schemes[] = {
		"purelib", "platlib", "headers", "scripts", "data", NULL};
	struct str folder, rest, kind, path, own = dist_stem(x->info);
	str_cut(name, '/', &folder, &rest);
	if (!str_ends(folder, S(".data")))
		return;
	if (!str_cut(rest, '/', &kind, &path) || !str_is_one_of(kind, schemes))
		exam_say(x, V_DATA_SCHEME, name,
			"installers know purelib, platlib, headers, scripts and data there");
	else if (own.n && !str_eq(str_sub(folder, 0, folder.n - S(".data").n), own) &&
		 map_put(folders, folder, x))
		exam_say(x, V_DATA_NAME, name,
			"its folder is not called '%.*s.data': pip installs it as if it were, "
			"others put '%.*s' into site-packages",
			STR(own), STR(folder));
}

void check_places(struct exam *x)
{
	MAP(folders, x->a);
	MAP(places, x->a); /* paths below site-packages -> struct exam_member * */
	for (size_t i = 0; i < x->n; i++) {
		struct exam_member *m = &x->members[i];
		struct str name = m->zip->name, at = wheel_installed(name, S("")), top, rest;
		if (m->skip)
			continue;
		check_scheme(x, &folders, name);
		bool info = str_cut(at, '/', &top, &rest) && str_ends(top, S(DIST_INFO));
		if (info && !str_eq(at, name))
			exam_say(x, V_INFO_SEVERAL, name,
				"it is installed as a file of the dist-info folder '%.*s'",
				STR(top));
		const struct exam_member *other = at.n ? map_get(&places, at) : NULL;
		if (other && m->read && other->read &&
			memcmp(m->digest.b, other->digest.b, m->digest.n) != 0)
			exam_say(x, V_PLACE_TWICE, name,
				"it is installed in the place of '%.*s', and is not the same",
				STR(other->zip->name));
		if (at.n)
			map_put(&places, at, m);
	}
}
