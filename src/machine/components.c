/* The contents of a ROCm: versions of its components, from headers and names of library files
 * (libamdhip64.so.6.4.43482), and the GPUs whose code `rocsmith slim` kept. If a library has two versions, both are
 * listed. */
#include "machine/facts.h"
#include "target/cut_list.h"

enum { HEADER_HEAD = 1 << 14, CUT_LIST_HEAD = 1 << 16 };

static void add_part(struct root *r, struct machine_sdk *s, struct str name, struct str version)
{
	struct machine_part part = {clean_text(r->a, name), clean_text(r->a, version)};
	if (part.version.n)
		*VEC_PUSH(r->a, &s->components) = part;
}

static bool is_version(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_digit(s.p[i]) && s.p[i] != '.')
			return false;
	return s.n && ascii_digit(s.p[0]);
}

void read_libraries(struct root *r, struct str dir, struct machine_sdk *s)
{
	static const char *const libraries[] = {"MIOpen", "amd_comgr", "amdhip64", "hipblaslt",
		"hsa-runtime64", "rccl", "rocblas", "rocfft", "rocrand", "rocsolver", "rocsparse",
		NULL};
	struct strs names;
	root_list_long(r, dir, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct str name = names.v[i], longer = str_fmt(r->a, "%.*s.", STR(name));
		size_t so = str_find(name, S(".so."));
		struct str stem = str_sub(name, 3, so), version = str_sub(name, so + 4, name.n);
		if (!str_starts(name, S("lib")) || !is_version(version) ||
			!str_is_one_of(stem, libraries))
			continue;
		/* libx.so.6 is a link to libx.so.6.4, which comes next in the sorted list */
		if (i + 1 < names.n && str_starts(names.v[i + 1], longer))
			continue;
		add_part(r, s, stem, version);
		root_note(r, path_join(r->a, dir, name), S(""));
	}
}

/* Reads HIP's own version; the name of its library may show the release of ROCm instead (6.4.60402). */
void read_hip_header(struct root *r, struct str dir, struct machine_sdk *s)
{
	struct str text, path = path_join(r->a, dir, S("include/hip/hip_version.h"));
	if (root_head(r, path, HEADER_HEAD, &text) == ROOT_OK)
		add_part(r, s, S("hip"), parse_version_header(r->a, text, "HIP_VERSION_"));
}

/* Reads the version of the ROCm from .info/version ("7.1.0-84"), else from its header, and from .info/version-* the
 * versions of components that differ from it. */
static void read_version(struct root *r, struct str dir, struct machine_sdk *s)
{
	static const struct str headers[] = {
		S_INIT("include/rocm-core/rocm_version.h"), S_INIT("include/rocm_version.h")};
	struct str text, info = path_join(r->a, dir, S(".info"));
	struct strs names;
	s->version = root_line(r, path_join(r->a, info, S("version")));
	for (size_t i = 0; !s->version.n && i < sizeof(headers) / sizeof(*headers); i++) {
		root_read(r, path_join(r->a, dir, headers[i]), &text);
		s->version = parse_version_header(r->a, text, "ROCM_VERSION_");
	}
	root_list(r, info, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct str part = root_line(r, path_join(r->a, info, names.v[i]));
		if (str_starts(names.v[i], S("version-")) && !str_eq(part, s->version))
			add_part(r, s, str_sub(names.v[i], 8, names.v[i].n), part);
	}
}

void read_components(struct root *r, struct str dir, struct machine_sdk *s)
{
	read_version(r, dir, s);
	read_hip_header(r, dir, s);
	read_libraries(r, path_join(r->a, dir, S("lib")), s);
	struct strs versions;
	struct str clang = path_join(r->a, dir, S("lib/llvm/lib/clang")), text;
	root_list(r, clang, &versions);
	VEC_EACH (const struct str, v, &versions)
		if (is_version(*v) && root_exists(r, path_join(r->a, clang, *v)))
			add_part(r, s, S("clang"), *v);
	s->slim = root_head(r, path_join(r->a, dir, S(CUT_LIST)), CUT_LIST_HEAD, &text) == ROOT_OK;
	if (s->slim)
		s->slim_gpus = parse_slim_gpus(r->a, text);
}
