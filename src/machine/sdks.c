/* ROCm trees below /opt (/opt/rocm, /opt/rocm-7.1.0, /opt/rocm/core-7.11, and the targets of links there), and the
 * distribution's own packages of HIP. The versions of their components come from headers and names of library files
 * (libamdhip64.so.6.4.43482); if a library has two versions, both are listed. */
#include "machine/facts.h"
#include "target/cut_list.h"

enum { HEADER_HEAD = 1 << 14, CUT_LIST_HEAD = 1 << 16 };

/* ---- the contents of a ROCm ---- */

static void add_part(struct root *r, struct machine_sdk *s, struct str name, struct str version)
{
	struct machine_part part = {clean_text(r->a, name), clean_text(r->a, version)};
	if (part.version.n)
		*VEC_PUSH(r->a, &s->components) = part;
}

static void read_libraries(struct root *r, struct str dir, struct machine_sdk *s)
{
	struct strs names;
	root_list(r, dir, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct str name = names.v[i], longer = str_fmt(r->a, "%.*s.", STR(name));
		size_t so = str_find(name, S(".so."));
		struct str stem = str_sub(name, 3, so), version = str_sub(name, so + 4, name.n);
		if (!str_starts(name, S("lib")) || !is_version(version) ||
			!str_is_one_of(stem, machine_names_table()->components))
			continue;
		/* libx.so.6 is a link to libx.so.6.4, which comes next in the sorted list */
		if (i + 1 < names.n && str_starts(names.v[i + 1], longer))
			continue;
		add_part(r, s, stem, version);
		root_note(r, path_join(r->a, dir, name), S(""));
	}
}

/* Reads HIP's own version; the name of its library may show the release of ROCm instead (6.4.60402). */
static void read_hip_header(struct root *r, struct str dir, struct machine_sdk *s)
{
	struct str text, path = path_join(r->a, dir, S("include/hip/hip_version.h"));
	if (root_head(r, path, HEADER_HEAD, &text) == ROOT_OK)
		add_part(r, s, S("hip"), parse_version_header(r->a, text, "HIP_VERSION_"));
}

/* The version of the ROCm is in .info/version ("7.1.0-84"), else in its header; .info/version-* are the versions of
 * components that differ from it. */
void read_components(struct root *r, struct str dir, struct machine_sdk *s)
{
	static const struct str headers[] = {
		S_INIT("include/rocm-core/rocm_version.h"), S_INIT("include/rocm_version.h")};
	struct str text, info = path_join(r->a, dir, S(".info"));
	struct str clang = path_join(r->a, dir, S("lib/llvm/lib/clang"));
	struct strs names;
	s->version = root_line(r, path_join(r->a, info, S("version")));
	for (size_t i = 0; !s->version.n && i < sizeof(headers) / sizeof(*headers); i++) {
		root_read(r, path_join(r->a, dir, headers[i]), &text);
		s->version = parse_version_header(r->a, text, "ROCM_VERSION_");
	}
	root_list(r, info, &names);
	VEC_EACH (const struct str, name, &names) {
		struct str part = root_line(r, path_join(r->a, info, *name));
		if (str_starts(*name, S("version-")) && !str_eq(part, s->version))
			add_part(r, s, str_sub(*name, 8, name->n), part);
	}
	read_hip_header(r, dir, s);
	read_libraries(r, path_join(r->a, dir, S("lib")), s);
	root_list(r, clang, &names);
	VEC_EACH (const struct str, v, &names)
		if (is_version(*v) && root_exists(r, path_join(r->a, clang, *v)))
			add_part(r, s, S("clang"), *v);
	s->slim = root_head(r, path_join(r->a, dir, S(CUT_LIST)), CUT_LIST_HEAD, &text) == ROOT_OK;
	if (s->slim)
		s->slim_gpus = parse_slim_gpus(r->a, text);
}

/* ---- where they are ---- */

/* Adds the tree in dir, which is relative to the root and has no links. */
static void add_tree(struct root *r, struct machine *m, struct str dir)
{
	struct str path = shown_path(r->a, dir);
	if (VEC_FIND(struct machine_sdk, &m->sdks, path, path) || !root_exists(r, dir))
		return;
	struct machine_sdk s = {.path = path, .kind = S("tree")};
	read_components(r, dir, &s);
	/* An uninstallation may leave an empty folder, which does not count. */
	if (s.version.n || root_exists(r, path_join(r->a, dir, S("bin"))))
		*VEC_PUSH(r->a, &m->sdks) = s;
}

void gather_sdks(struct root *r, struct machine *m)
{
	/* A distribution's packages install HIP into its usual folders for libraries. */
	static const struct str dirs[] = {S_INIT("usr/lib/x86_64-linux-gnu"), S_INIT("usr/lib64")};
	struct machine_sdk s = {.path = S("/usr"), .kind = S("system")};
	struct strs names, inner;
	root_list(r, S("opt"), &names);
	VEC_EACH (const struct str, name, &names) {
		if (!str_eq(*name, S("rocm")) && !str_starts(*name, S("rocm-")))
			continue;
		struct str real = root_follow(r, path_join(r->a, S("opt"), *name));
		if (!real.n)
			continue;
		add_tree(r, m, real);
		root_list(r, real, &inner);
		for (size_t i = 0; i < inner.n; i++) {
			struct str core = path_join(r->a, real, inner.v[i]);
			if (str_starts(inner.v[i], S("core-")) && str_eq(root_real(r, core), core))
				add_tree(r, m, core);
		}
	}
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
