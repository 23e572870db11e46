/* Makes headers with CUDA's names for HIP's, for sources that are not translated; see hipify.h.
 *
 * The names of one library's headers are in one file, "rocsmith/cuda/hipblas.h", by the folder of HIP's header in their
 * rows; those without a folder belong to the runtime. */
#include "base/buf.h"
#include "base/vec.h"
#include "hipify/cuda/names.h"

extern const struct str our_headers[]; /* data/rocsmith, embedded in the program */
extern const char *const our_headers_files[];
extern const size_t our_headers_count;

struct face {
	struct arena *a;
	struct str rocm;
	struct hipify_headers *ret;
	struct strs folders; /* "hip", "hipblas": folders of HIP's headers */
};

static void add_header(struct face *f, struct str path, struct str text, struct str hip)
{
	*VEC_PUSH(f->a, f->ret) = (struct hipify_header){.path = path, .text = text, .hip = hip};
}

/* The folder of a row's header. What is in our own headers belongs to the runtime, too. */
static struct str folder_of(struct str header)
{
	struct str folder, rest;
	bool any = str_cut(header, '/', &folder, &rest);
	return any && !str_eq(folder, S("rocsmith")) && !str_eq(folder, S("thrust")) ? folder
										     : S("hip");
}

/* Is it a name that an untranslated source can use by another? Not one that tells compilers apart. */
static bool is_mapped(const struct face *f, const struct hipify_rule *r)
{
	static const char *const kinds[] = {
		"function", "constant", "type", "macro", "template", "ocp", NULL};
	static const char *const compilers[] = {"__CUDACC__", "__NVCC__", "__CUDACC_RTC__", NULL};
	return str_is_one_of(names_text(r->kind), kinds) && r->hip != r->cuda &&
	       !str_is_one_of(names_text(r->cuda), compilers) && !names_newer(r, f->rocm);
}

/* Adds a macro for a function some of whose arguments need a cast. */
static void add_wrapper(struct face *f, struct buf *b, struct str cuda, struct str hip)
{
	const struct arg_rule *first = names_arg(cuda);
	unsigned last = 0;
	for (const struct arg_rule *r = first; r && str_eq(r->name, first->name); r++)
		last = str_eq(r->rule, S("@cast")) && r->arg > last ? r->arg : last;
	if (!last) {
		buf_fmt(b, "#define %.*s %.*s\n", STR(cuda), STR(hip));
		return;
	}
	buf_fmt(b, "#define %.*s(", STR(cuda));
	for (unsigned i = 1; i <= last; i++)
		buf_fmt(b, "a%u, ", i);
	buf_fmt(b, "...) %.*s(", STR(hip));
	for (unsigned i = 1; i <= last; i++) {
		struct str type = {0};
		for (const struct arg_rule *r = first; str_eq(r->name, first->name); r++)
			if (r->arg == i && str_eq(r->rule, S("@cast")))
				type = str_fmt(f->a, "(%.*s)", STR(r->text));
		buf_fmt(b, "%s%.*s(a%u)", i > 1 ? ", " : "", STR(type), i);
	}
	buf_add(b, S(", ##__VA_ARGS__)\n"));
}

/* Adds the names of a folder. device: those that our own headers declare for device code. */
static void add_names(struct face *f, struct buf *b, struct str folder, bool device)
{
	static const char *const host[] = {"rocsmith/driver.h", "rocsmith/nvtx.h", NULL};
	for (const struct hipify_rule *r = names_rows; r->cuda; r++) {
		struct str header = names_text(r->header);
		bool own = hipify_is_our_header(header) && !str_is_one_of(header, host);
		if (own == device && is_mapped(f, r) && str_eq(folder_of(header), folder))
			add_wrapper(f, b, names_text(r->cuda), names_text(r->hip));
	}
}

static void add_folder(struct face *f, struct str folder)
{
	static const char *const host[] = {"host.h", "nvtx.h", NULL};
	BUF(b, f->a);
	buf_add(&b,
		S("/* made by rocsmith: CUDA's names, and what HIP calls them */\n#pragma once\n"));
	if (str_eq(folder, S("hip")))
		buf_add(&b,
			S("#define CUDAAPI\n#define CUDARTAPI\n#define CUDA_CB\n#define CUDART_CB\n"
			  "#include <rocsmith/driver.h>\n#ifdef __HIPCC__\n"));
	for (size_t i = 0; i < our_headers_count && str_eq(folder, S("hip")); i++)
		if (!str_is_one_of(str_from(our_headers_files[i]), host))
			buf_fmt(&b, "#include <rocsmith/%s>\n", our_headers_files[i]);
	if (str_eq(folder, S("hip"))) {
		add_names(f, &b, folder, true);
		buf_add(&b, S("#endif\n"));
	}
	add_names(f, &b, folder, false);
	add_header(f, str_fmt(f->a, "rocsmith/cuda/%.*s.h", STR(folder)), buf_str(&b), S(""));
}

/* Texts in front of HIP's header and behind it. */
static const struct {
	const char *hip, *before, *after;
} around[] = {
	{"hipblas/hipblas.h", "#define HIPBLAS_V2 1\n#define HIPBLAS_USE_HIP_HALF 1\n", ""},
	{"hipcub/hipcub.hpp", "#ifdef __HIPCC__\n", "namespace cub = hipcub;\n#endif\n"},
	/* no host compiler reads these */
	{"hip/hip_bf16.h", "#ifdef __HIPCC__\n", "#endif\n"},
	{"hip/hip_fp8.h", "#ifdef __HIPCC__\n", "#endif\n"},
	{"hip/hip_fp4.h", "#ifdef __HIPCC__\n", "#endif\n"},
	{"hip/device_functions.h", "#ifdef __HIPCC__\n", "#endif\n"},
	{"hip/math_functions.h", "#ifdef __HIPCC__\n", "#endif\n"},
};

void hipify_face(struct arena *a, struct str rocm, struct str cuda, struct hipify_headers *ret)
{
	struct face f = {.a = a, .rocm = rocm, .ret = ret};
	*ret = (struct hipify_headers){0};
	for (size_t i = 0; i < our_headers_count; i++)
		add_header(
			&f, str_fmt(a, "rocsmith/%s", our_headers_files[i]), our_headers[i], S(""));
	strs_add(a, &f.folders, S("hip"));
	for (const struct hipify_rule *r = names_rows; r->cuda; r++) {
		struct str name = names_text(r->cuda), hip = names_text(r->hip);
		struct str folder = folder_of(hip);
		const char *before = "", *after = "";
		if (!names_is(r, "header") || names_newer(r, rocm))
			continue;
		strs_put(a, &f.folders, folder);
		for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
			if (str_eq(hip, str_from(around[i].hip))) {
				before = around[i].before;
				after = around[i].after;
			}
		struct str text = str_fmt(a,
			"/* made by rocsmith: CUDA's <%.*s>, as HIP has it */\n#pragma once\n"
			"#include <rocsmith/host.h>\n#ifndef CUDA_VERSION\n#define CUDA_VERSION "
			"%.*s\n#endif\n"
			"#ifndef CUDART_VERSION\n#define CUDART_VERSION %.*s\n#endif\n"
			"%s#include <%.*s>\n%s#include <rocsmith/cuda/hip.h>\n",
			STR(name), STR(cuda), STR(cuda), before, STR(hip), after);
		if (!str_eq(folder, S("hip")))
			text = str_fmt(
				a, "%.*s#include <rocsmith/cuda/%.*s.h>\n", STR(text), STR(folder));
		bool ours = hipify_is_our_header(hip);
		add_header(&f, name, text, ours ? S("roctracer/roctx.h") : hip);
	}
	VEC_EACH (const struct str, folder, &f.folders)
		add_folder(&f, *folder);
}
