/* ROCm trees below /opt: /opt/rocm, /opt/rocm-7.1.0, /opt/rocm/core-7.11 and what links lead to. */
#include "machine/facts.h"
#include "machine/parse.h"

/* "7.1.0-84" of .info/version, or what the header says. */
static struct str tree_version(struct root *r, struct str dir)
{
	static const struct str headers[] = {
		S_INIT("include/rocm-core/rocm_version.h"), S_INIT("include/rocm_version.h")};
	struct str text, version = root_line(r, path_join(r->a, dir, S(".info/version")));
	for (size_t i = 0; !version.n && i < sizeof(headers) / sizeof(*headers); i++) {
		root_read(r, path_join(r->a, dir, headers[i]), NULL, &text);
		version = parse_rocm_header(r->a, text);
	}
	return version;
}

/* dir: relative to the root, without links in it. */
static void add_tree(struct root *r, struct machine *m, struct str dir)
{
	struct str path = clean_text(r->a, str_fmt(r->a, "/%.*s", STR(dir)));
	VEC_EACH (struct machine_sdk, s, &m->sdks)
		if (str_eq(s->path, path))
			return;
	if (!root_exists(r, dir))
		return;
	struct str version = tree_version(r, dir);
	/* An empty folder that an uninstallation left is no tree. */
	if (version.n || root_exists(r, path_join(r->a, dir, S("bin"))))
		*VEC_PUSH(r->a, &m->sdks) = (struct machine_sdk){.path = path, .version = version};
}

static void look_at(struct root *r, struct machine *m, struct str name)
{
	struct strs inner;
	struct str dir = path_join(r->a, S("opt"), name), real = root_real(r, dir);
	if (!real.n)
		return;
	if (!str_eq(real, dir))
		root_tell_link(r, dir, real);
	add_tree(r, m, real);
	root_list(r, real, &inner);
	for (size_t i = 0; i < inner.n; i++) {
		struct str core = path_join(r->a, real, inner.v[i]);
		if (str_starts(inner.v[i], S("core-")) && str_eq(root_real(r, core), core))
			add_tree(r, m, core);
	}
}

void gather_sdks(struct root *r, struct machine *m)
{
	struct strs names;
	root_list(r, S("opt"), &names);
	for (size_t i = 0; i < names.n; i++)
		if (str_eq(names.v[i], S("rocm")) || str_starts(names.v[i], S("rocm-")))
			look_at(r, m, names.v[i]);
}
