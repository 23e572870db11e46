/* Makes CUDA's headers as HIP's, of the tables of data/cuda_names: gen_face OUTPUT OUR-HEADER... writes C with the array hipify_face[]
 * of src/hipify/hipify.h, and all texts together as one frame of zstd, which has a tenth of their size.
 *
 * Runs at build time. Each header includes HIP's and defines CUDA's names as HIP's. The names of one library's headers are
 * in one file, "rocsmith/cuda/hipblas.h", by the folder of HIP's header in their rows; those without a folder belong to
 * the runtime. Functions some of whose arguments need a cast become macros with arguments.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cc/cc.h"
#include "hipify/cuda/names.h"

enum { FOLDERS = 32, PATH = 256, TEXT = 1 << 20 };

/* Texts in front of HIP's header and behind it. No host compiler reads some of them. */
static const struct {
	const char *hip, *before, *after;
} around[] = {
	{"hipblas/hipblas.h", "#define HIPBLAS_V2 1\n#define HIPBLAS_USE_HIP_HALF 1\n", ""},
	{"hipcub/hipcub.hpp", "#ifdef __HIPCC__\n", "namespace cub = hipcub;\n#endif\n"},
	{"hip/hip_bf16.h", "#ifdef __HIPCC__\n", "#endif\n"},
	{"hip/hip_fp8.h", "#ifdef __HIPCC__\n", "#endif\n"},
	{"hip/hip_fp4.h", "#ifdef __HIPCC__\n", "#endif\n"},
	{"hip/device_functions.h", "#ifdef __HIPCC__\n", "#endif\n"},
	{"hip/math_functions.h", "#ifdef __HIPCC__\n", "#endif\n"},
};

static const char made[] = "made by rocsmith";
static char folders[FOLDERS][PATH];
static size_t nfolders, nheaders;
static FILE *out;           /* the C text */
static char *text;          /* all headers */
static size_t ntext, begin; /* the header at hand begins there */

static const char *words(unsigned offset)
{
	return names_pool + offset;
}

static bool is_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

__attribute__((format(printf, 1, 2))) static void add(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text + ntext, TEXT - ntext, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= TEXT - ntext) {
		fprintf(stderr, "gen_face: a header has more than %d bytes\n", TEXT);
		exit(1);
	}
	ntext += (size_t)n;
}

static void end_header(FILE *rows, const char *path, const char *hip)
{
	fprintf(rows, "\t{S_INIT(\"%s\"), S_INIT(\"%s\"), %zu, %zu},\n", path, hip, begin,
		ntext - begin);
	begin = ntext;
	nheaders++;
}

static bool write_texts(void)
{
	size_t room = ZSTD_compressBound(ntext);
	unsigned char *packed = malloc(room);
	size_t n = packed ? ZSTD_compress(packed, room, text, ntext, 19) : 0;
	if (!n || ZSTD_isError(n))
		return false;
	fprintf(out, "\nstatic const unsigned char packed[] = {");
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%d,", i % 24 ? "" : "\n\t", packed[i]);
	fprintf(out,
		"};\nconst struct str hipify_face_packed = {(const char *)packed, %zu};\n"
		"const size_t hipify_face_size = %zu;\n",
		n, ntext);
	free(packed);
	return true;
}

/* The folder of a row's header. What is in our own headers belongs to the runtime, too, except for libraries. */
static const char *folder_of(const char *header)
{
	static char folder[PATH];
	if (!strcmp(header, "rocsmith/blas.h"))
		return "hipblas";
	snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(header, "/"), header);
	bool runtime =
		!strchr(header, '/') || !strcmp(folder, "rocsmith") || !strcmp(folder, "thrust");
	return runtime ? "hip" : folder;
}

static void note_folder(const char *folder)
{
	for (size_t i = 0; i < nfolders; i++)
		if (!strcmp(folders[i], folder))
			return;
	if (nfolders == FOLDERS)
		exit(1);
	snprintf(folders[nfolders++], PATH, "%s", folder);
}

static bool is_rule(const struct arg_rule *r, const char *rule)
{
	return r->rule.n == strlen(rule) && !strncmp(r->rule.p, rule, r->rule.n);
}

/* The first argument rule of a function that becomes a macro with arguments; its others follow. */
static const struct arg_rule *rules_of(const char *name)
{
	size_t n = strlen(name);
	n -= n > 3 && !strcmp(name + n - 3, "_v2") ? 3 : 0;
	for (const struct arg_rule *r = names_args; r->arg; r++)
		if (r->name.n == n && !strncmp(r->name.p, name, n) &&
			(is_rule(r, "@cast") || is_rule(r, "@always") || is_rule(r, "@always-c")))
			return r;
	return NULL;
}

/* Adds a macro with arguments: some are cast, the others follow, and behind them are those that CUDA lacks. */
static void add_call(const char *cuda, const char *hip, const struct arg_rule *first)
{
	const struct arg_rule *r;
	unsigned last = 0;
	for (r = first; r->arg && r->name.p == first->name.p; r++)
		last = is_rule(r, "@cast") && r->arg > last ? r->arg : last;
	add("#define %s(", cuda);
	for (unsigned i = 1; i <= last; i++)
		add("a%u, ", i);
	add("...) %s(", hip);
	for (unsigned i = 1; i <= last; i++) {
		for (r = first; r->arg && r->name.p == first->name.p; r++)
			if (r->arg == i && is_rule(r, "@cast"))
				add("(%.*s)", (int)r->text.n, r->text.p);
		add("(a%u)%s", i, i < last ? ", " : "");
	}
	add("%s__VA_ARGS__", last ? ", ##" : "");
	for (r = first; r->arg && r->name.p == first->name.p; r++)
		if (!is_rule(r, "@cast"))
			add(", %.*s", (int)r->text.n, r->text.p);
	add(")\n");
}

static void add_name(const struct hipify_rule *row)
{
	const char *cuda = words(row->cuda), *hip = words(row->hip), *since = words(row->since);
	const struct arg_rule *first = rules_of(cuda);
	bool in_c = first && is_rule(first, "@always-c");
	unsigned major = 0, minor = 0;
	if (sscanf(since, "%u.%u", &major, &minor) == 2)
		add("#if HIP_VERSION >= %u\n", major * 10000000 + minor * 100000);
	if (!first || in_c)
		add("%s#define %s %s\n", in_c ? "#ifdef __cplusplus\n" : "", cuda, hip);
	if (in_c)
		add("#else\n");
	if (first)
		add_call(cuda, hip, first);
	add("%s%s", in_c ? "#endif\n" : "", major ? "#endif\n" : "");
}

/* Adds the names of a folder. device: those that our own headers declare for device code. */
static void add_names(const char *folder, bool device)
{
	static const char *const kinds[] = {
		"function", "constant", "type", "macro", "template", "ocp", NULL};
	/* by these, sources tell compilers apart */
	static const char *const compilers[] = {"__CUDACC__", "__NVCC__", "__CUDACC_RTC__", NULL};
	static const char *const host[] = {"rocsmith/blas.h", "rocsmith/cucomplex.h",
		"rocsmith/driver.h", "rocsmith/graph.h", "rocsmith/nvtx.h", NULL};
	for (const struct hipify_rule *r = names_rows; r->cuda; r++) {
		const char *header = words(r->header);
		bool own = !strncmp(header, "rocsmith/", 9) && !is_one_of(header, host);
		if (own == device && is_one_of(words(r->kind), kinds) && r->hip != r->cuda &&
			!is_one_of(words(r->cuda), compilers) && !strcmp(folder_of(header), folder))
			add_name(r);
	}
}

static void write_names(FILE *rows, const char *folder)
{
	char path[2 * PATH];
	add("/* %s: CUDA's names, and what HIP calls them */\n#pragma once\n", made);
	if (!strcmp(folder, "hip")) {
		add("#define CUDAAPI\n#define CUDARTAPI\n#define CUDA_CB\n#define CUDART_CB\n"
		    "#include <rocsmith/cucomplex.h>\n#include <rocsmith/driver.h>\n"
		    "#include <rocsmith/graph.h>\n#ifdef __HIPCC__\n");
		/* included by those of CUDA's headers that it stands for alone */
		static const char *const apart[] = {"rocsmith/nvtx.h", "rocsmith/complex.h", NULL};
		const char *seen = "";
		for (const struct hipify_rule *r = names_rows; r->cuda; r++)
			if (!strncmp(words(r->header), "rocsmith/", 9) &&
				strcmp(words(r->header), seen) &&
				!strcmp(folder_of(words(r->header)), "hip") &&
				!is_one_of(words(r->header), apart))
				add("#include <%s>\n", seen = words(r->header));
		add_names(folder, true);
		add("#endif\n");
	}
	if (!strcmp(folder, "hipblas"))
		add("#include <rocsmith/blas.h>\n");
	add_names(folder, false);
	snprintf(path, sizeof(path), "rocsmith/cuda/%s.h", folder);
	end_header(rows, path, "");
}

static void write_header(FILE *rows, const struct hipify_rule *r)
{
	const char *name = words(r->cuda), *hip = words(r->hip), *before = "", *after = "";
	const char *folder = folder_of(hip);
	note_folder(folder);
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		if (!strcmp(hip, around[i].hip)) {
			before = around[i].before;
			after = around[i].after;
		}
	add("/* %s: CUDA's <%s>, as HIP has it */\n#pragma once\n#include <rocsmith/host.h>\n"
	    "#ifndef CUDA_VERSION\n#define CUDA_VERSION " CUDA_NUMBER "\n#endif\n"
	    "#ifndef CUDART_VERSION\n#define CUDART_VERSION " CUDA_NUMBER "\n#endif\n"
	    "%s#include <%s>\n%s#include <rocsmith/cuda/hip.h>\n",
		made, name, before, hip, after);
	if (strcmp(folder, "hip"))
		add("#include <rocsmith/cuda/%s.h>\n", folder);
	if (!strcmp(name, "cublas.h")) /* its functions without handles */
		add("#include <rocsmith/blas_v1.h>\n");
	bool ours = !strncmp(hip, "rocsmith/", 9); /* it is there, whatever the SDK has */
	end_header(rows, name,
		!strcmp(hip, "rocsmith/nvtx.h") ? "roctracer/roctx.h"
		: ours                          ? ""
						: hip);
}

/* A header of data/rocsmith, as it is. */
static void copy_header(FILE *rows, const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[2 * PATH];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text + ntext, 1, TEXT - ntext, f) : 0;
	if (!n || !feof(f) || fclose(f)) {
		fprintf(stderr, "gen_face: cannot read %s\n", path);
		exit(1);
	}
	ntext += n;
	snprintf(name, sizeof(name), "rocsmith/%s", slash ? slash + 1 : path);
	end_header(rows, name, "");
}

int main(int argc, char **argv)
{
	text = malloc(TEXT);
	FILE *rows = tmpfile();
	out = argc > 2 ? fopen(argv[1], "w") : NULL;
	if (!text || !rows || !out) {
		fprintf(stderr, "usage: gen_face OUTPUT OUR-HEADER...\n");
		return 2;
	}
	fputs("#include \"hipify/hipify.h\"\n\n", out);
	for (int i = 2; i < argc; i++)
		copy_header(rows, argv[i]);
	note_folder("hip");
	for (const struct hipify_rule *r = names_rows; r->cuda; r++)
		if (!strcmp(words(r->kind), "header"))
			write_header(rows, r);
	for (size_t i = 0; i < nfolders; i++)
		write_names(rows, folders[i]);
	fputs("\nconst struct hipify_header hipify_face[] = {\n", out);
	rewind(rows);
	for (int c; (c = getc(rows)) != EOF;)
		putc(c, out);
	fprintf(out, "};\nconst size_t hipify_face_count = %zu;\n", nheaders);
	bool good = write_texts();
	return fclose(out) || !good ? 1 : 0;
}
