/* Translates #include lines: CUDA's headers become those of HIP (data/cuda_names/headers.tsv, extra.tsv),
 * x.cu becomes x.hip, and the project's own files are left alone even if they are named like CUDA's.
 */
#include "hipify/cuda/engine.h"

#include "base/fs.h"
#include "know/know.h"

/* Folders and families of headers that HIP has no equivalent for, or that no table lists one by one. */
static const struct {
	struct str prefix, rule, suggestion;
} families[] = {
	{S_INIT("cub/"), S_INIT("@cub/"), S_INIT("")}, /* all of CUB's end in .cuh */
	{S_INIT("cuda/"), S_INIT(""), S_INIT("libcu++ is no part of HIP")},
	{S_INIT("nv/"), S_INIT(""), S_INIT("libcu++ is no part of HIP")},
	{S_INIT("cutlass/"), S_INIT(""), S_INIT("composable_kernel has other interfaces")},
	{S_INIT("cute/"), S_INIT(""), S_INIT("composable_kernel has other interfaces")},
	{S_INIT("cooperative_groups/"), S_INIT(""),
		S_INIT("HIP has one header for what it has of it")},
	{S_INIT("cudnn"), S_INIT(""), S_INIT("MIOpen has other interfaces")},
	{S_INIT("nvtx3/"), S_INIT(""), S_INIT("roctracer/roctx.h has other names")},
	{S_INIT("rmm/"), S_INIT(""), S_INIT("RMM is a library for CUDA")},
	{S_INIT("raft/"), S_INIT(""), S_INIT("RAFT is a library for CUDA")},
};

/* Notes the ROCm headers that a result includes, which show the libraries that it needs. */
static void note_header(struct engine *e, struct str path)
{
	if (know_header(path))
		strs_put(e->a, &e->ret->headers, path);
}

/* Is path, as written in an #include, a file of the project? */
static bool is_project_file(const struct engine *e, struct str path)
{
	if (!e->context)
		return false;
	while (str_starts(path, S("./")))
		path = str_sub(path, 2, path.n);
	while (str_starts(path, S("../")))
		path = str_sub(path, 3, path.n);
	struct strs *same = map_get(&e->context->by_name, path_base(path));
	for (size_t i = 0; same && i < same->n; i++) {
		struct str file = same->v[i];
		if (str_ends(file, path) &&
			(file.n == path.n || file.p[file.n - path.n - 1] == '/'))
			return true;
	}
	return false;
}

static void replace_path(
	struct engine *e, const struct tok *t, struct str hip, const struct hipify_rule *r)
{
	if (str_eq(hip, S("hipblas/hipblas.h"))) /* selects cuBLAS' types and compute types */
		engine_replace(e, e->prev2.from, e->prev2.from,
			S("#define HIPBLAS_V2 1\n#define HIPBLAS_USE_HIP_HALF 1\n"),
			names_find(S("@hipblas")));
	engine_replace(e, t->from + 1, t->to - 1, hip, r);
	note_header(e, hip);
	engine_needs(e, r);
	map_put(&e->ours, hip, NULL);
}

static void by_family(struct engine *e, const struct tok *t, struct str path)
{
	struct str thrust = S("thrust/system/cuda/");
	if (str_starts(path, thrust)) {
		struct str rest = str_sub(path, thrust.n, path.n);
		replace_path(e, t, str_fmt(e->a, "thrust/system/hip/%.*s", STR(rest)),
			names_find(S("@thrust/system/cuda/")));
		return;
	}
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		const struct hipify_rule *r = names_find(families[i].rule);
		if (!str_starts(path, families[i].prefix) || (r && !str_ends(path, S(".cuh"))))
			continue;
		if (r)
			replace_path(e, t, names_text(r->hip), r);
		else
			engine_untranslated(e, t, path, families[i].suggestion);
		return;
	}
	note_header(e, path);
}

void include_path(struct engine *e, const struct tok *t)
{
	struct str path = str_sub(e->l.s, t->from + 1, t->to - 1);
	bool local = e->l.s.p[t->from] == '"';
	bool own = is_project_file(e, path);
	size_t folder = str_find(path, S("/include/")); /* a CUDA at a place of its own has one */
	if (str_starts(path, S("/")) && folder < path.n && str_contains(path, S("/cuda")))
		path = str_sub(path, folder + S("/include/").n, path.n);
	const struct hipify_rule *r = own ? NULL : names_find(path);
	struct str hip = r && names_is(r, "header") ? names_text(r->hip) : own ? S("") : path;
	if (!e->has_include && !e->l.depth && !e->outer_prev.to) /* nothing precedes it */
		e->runtime_first = str_eq(hip, S("hip/hip_runtime.h"));
	e->has_include |= !hipify_is_our_header(hip); /* ours may stand in front of HIP's */
	map_put(&e->ours, path, NULL);
	/* HIP's groups vote and divide themselves by these functions */
	e->ret->warp_sync |= str_starts(path, S("cooperative_groups"));
	e->cublas_v1 = e->cublas_v1 || str_eq(path, S("cublas.h"));
	e->cublas_v2 = e->cublas_v2 || str_eq(path, S("cublas_v2.h"));
	if (own && !e->doubt)
		strs_put(e->a, &e->ret->includes, path_base(path));
	e->has_local_include = e->has_local_include || local;
	bool renames = e->context ? own && !e->context->stands_in : true;
	if (str_ends(path, S(".cu")) && renames) {
		/* x.cu beside x.hip is x.cu.hip, see cuda/tree.c */
		struct str hip_too = str_fmt(e->a, "%.*s.hip", STR(str_sub(path, 0, path.n - 3)));
		engine_replace(e, t->to - 4, t->to - 1,
			is_project_file(e, hip_too) ? S(".cu.hip") : S(".hip"),
			names_find(S("@cu")));
		return;
	}
	if (r && names_is(r, "unsupported")) {
		struct str instead = names_text(r->hip);
		engine_untranslated(e, t, path, instead.n ? instead : names_text(r->source));
	} else if (!own && (!r || !names_is(r, "header"))) {
		by_family(e, t, path);
	} else if (r && !engine_too_new(e, t, r)) {
		replace_path(e, t, hip, r);
	}
}
