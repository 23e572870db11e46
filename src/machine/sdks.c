/* ROCm trees below /opt (/opt/rocm, /opt/rocm-7.1.0, /opt/rocm/core-7.11, and the targets of links there), and the
 * distribution's own packages of HIP. */
#include "machine/facts.h"

/* Adds the tree in dir, which is relative to the root and has no links. */
static void add_tree(struct root *r, struct machine *m, struct str dir)
{
	struct str path = clean_text(r->a, str_fmt(r->a, "/%.*s", STR(dir)));
	VEC_EACH (struct machine_sdk, s, &m->sdks)
		if (str_eq(s->path, path))
			return;
	if (!root_exists(r, dir))
		return;
	struct machine_sdk s = {.path = path, .kind = S("tree")};
	read_components(r, dir, &s);
	/* An uninstallation may leave an empty folder, which does not count. */
	if (s.version.n || root_exists(r, path_join(r->a, dir, S("bin"))))
		*VEC_PUSH(r->a, &m->sdks) = s;
}

static void look_at(struct root *r, struct machine *m, struct str name)
{
	struct strs inner;
	struct str real = root_follow(r, path_join(r->a, S("opt"), name));
	if (!real.n)
		return;
	add_tree(r, m, real);
	root_list(r, real, &inner);
	for (size_t i = 0; i < inner.n; i++) {
		struct str core = path_join(r->a, real, inner.v[i]);
		if (str_starts(inner.v[i], S("core-")) && str_eq(root_real(r, core), core))
			add_tree(r, m, core);
	}
}

/* A distribution's packages install HIP into its usual folders for libraries. */
static void look_at_system(struct root *r, struct machine *m)
{
	static const struct str dirs[] = {S_INIT("usr/lib/x86_64-linux-gnu"), S_INIT("usr/lib64")};
	struct machine_sdk s = {.path = S("/usr"), .kind = S("system")};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) && !s.version.n; i++) {
		read_libraries(r, dirs[i], &s);
		VEC_EACH (struct machine_part, p, &s.components)
			if (str_eq(p->name, S("amdhip64")))
				s.version = p->version;
	}
	if (!s.version.n)
		return;
	read_hip_header(r, S("usr"), &s);
	*VEC_PUSH(r->a, &m->sdks) = s;
}

void gather_sdks(struct root *r, struct machine *m)
{
	struct strs names;
	root_list(r, S("opt"), &names);
	for (size_t i = 0; i < names.n; i++)
		if (str_eq(names.v[i], S("rocm")) || str_starts(names.v[i], S("rocm-")))
			look_at(r, m, names.v[i]);
	look_at_system(r, m);
}
