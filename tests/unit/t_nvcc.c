/* Command lines of nvcc: what becomes of each option, files with options, and sources as an overlay shows them. */
#include "test.h"

#include <unistd.h>

#include "base/fs.h"
#include "cc/cc_int.h"
#include "formats/node.h"

static struct nvcc read_line(struct arena *a, const char *line)
{
	struct strs args = str_split(a, str_from(line), ' ');
	struct nvcc call;
	assert_ok(nvcc_read(a, &args, &call));
	return call;
}

static void each_option_becomes_clangs_or_goes(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *line, *words;
		enum nvcc_does does;
	} rows[] = {
		{"-O2 -gencode arch=compute_80,code=sm_80 -Xcompiler -fPIC -c a.cu",
			"-O2 -fPIC -x hip a.cu", NVCC_COMPILES},
		{"--compile --optimize=3 --gpu-architecture sm_90 --std c++17 a.cu",
			"-O3 -std=c++17 -x hip a.cu", NVCC_COMPILES},
		{"-Xcompiler=-fPIC,-Wall --compiler-options -O3 -dc a.cu",
			"-fPIC -Wall -O3 -fgpu-rdc -x hip a.cu", NVCC_COMPILES},
		{"-Xcompiler -Wl\\,-rpath\\,/x,-pthread a.o", "-Wl,-rpath,/x -pthread a.o",
			NVCC_LINKS},
		{"-Xcompiler -Wall,-Werror,-Werror=shadow -c a.cu", "-Wall -x hip a.cu",
			NVCC_COMPILES},
		{"-Xcompiler ,\"-fPIC\",\"-DX=1,2\" -c a.cu", "-fPIC -DX=1,2 -x hip a.cu",
			NVCC_COMPILES},
		{"-Xcompiler -fno-gnu-unique,-fPIC,-fcf-protection -c a.cu", "-fPIC -x hip a.cu",
			NVCC_COMPILES},
		{"-rdc=true -c a.cu", "-fgpu-rdc -x hip a.cu", NVCC_COMPILES},
		{"-rdc false -c a.cu", "-x hip a.cu", NVCC_COMPILES},
		{"-fmad=false --use_fast_math --ftz=true a.cu",
			"-ffp-contract=off -fgpu-flush-denormals-to-zero "
			"-fgpu-flush-denormals-to-zero -x hip a.cu",
			NVCC_LINKS},
		{"-ftz=false a.cu", "-x hip a.cu", NVCC_LINKS},
		{"-DX=1,2 -D Y=3 --define-macro=Z -Idir -I=other -UW a.cu",
			"-DX=1,2 -DY=3 -DZ -Idir -Iother -UW -x hip a.cu", NVCC_LINKS},
		{"-x cu a.cpp -c", "-x hip a.cpp", NVCC_COMPILES},
		{"-c a.cpp", "a.cpp", NVCC_COMPILES},
		{"-c a.c -x c++", "-x c++ a.c", NVCC_COMPILES},
		{"-c a.c", "-x c a.c", NVCC_COMPILES},
		{"-shared a.o -lcudart b.a -Xlinker -rpath,/x -o x.so",
			"-shared a.o -lcudart b.a -Wl,-rpath -Wl,/x", NVCC_LINKS},
		{"a.cu b.cpp c.o -lfoo", "-x hip a.cu -x none b.cpp c.o -lfoo", NVCC_LINKS},
		{"a.c b.o -lfoo", "-x c a.c -x none b.o -lfoo", NVCC_LINKS},
		{"-MD -MF a.d -MT a.o -c a.cu", "-MD -MF a.d -MT a.o -x hip a.cu", NVCC_COMPILES},
		{"-E -isystem /s -include p.h a.cu", "-E -isystem /s -include p.h -x hip a.cu",
			NVCC_PREPROCESSES},
		{"-ccbin g++ -t 4 -Xptxas -v,-O3 -lineinfo -m64 -w -c a.cu", "-w -x hip a.cu",
			NVCC_COMPILES},
		{"-Werror all-warnings -fvisibility=hidden -pthread -c a.cu",
			"-fvisibility=hidden -pthread -x hip a.cu", NVCC_COMPILES},
		/* as FindCUDA.cmake passes them */
		{"-M -D__CUDACC__ a.cu -Xcompiler ,\"-fPIC\",\"-O3\" -DNVCC",
			"-M -x hip a.cu -fPIC -O3 -DNVCC", NVCC_PREPROCESSES},
		{"-dlink a.o -m64 -Xcompiler -fPIC", "a.o -fPIC", NVCC_LINKS_DEVICE},
		{"--run a.exe", "a.exe", NVCC_RUNS},
		{"--version", "", NVCC_SAYS_VERSION},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nvcc call = read_line(&a, rows[i].line);
		assert_str(str_join(&a, &call.words, S(" ")), rows[i].words);
		assert_int_equal(call.does, rows[i].does);
	}
}

static void inputs_and_outputs_are_told_apart(void **state)
{
	(void)state;
	ARENA(a);
	struct nvcc call = read_line(
		&a, "-arch=sm_80 a.cu b.cc c.o -odir out -o x --keep --keep-dir k -cudart none -v");
	assert_str(str_join(&a, &call.cuda, S(" ")), "a.cu");
	assert_str(str_join(&a, &call.sources, S(" ")), "a.cu b.cc");
	assert_str(str_join(&a, &call.objects, S(" ")), "c.o");
	assert_str(call.output, "x");
	assert_str(call.folder, "out");
	assert_str(call.keep_dir, "k");
	assert_str(call.runtime, "none");
	assert_true(call.keep && call.show && !call.dry && call.archs && !call.native);
}

static void a_command_has_the_outputs_that_nvcc_has(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *line, *last;
		bool done;
	} rows[] = {
		{"-odir out -c a.cpp", "-o out/a.o", false},
		{"-odir out -c a.cpp -o b.o", "-o b.o", false},
		{"-fatbin s/a.cpp", "-o a.fatbin", false},
		{"--cubin -odir out a.cpp", "-o out/a.cubin", false},
		{"-fatbin a.cpp -o b", "-o b", false},
		{"-odir out -M -o a.d s/a.cpp", "-MT out/a.o -o a.d", false},
		{"-lib -o x.a a.o b.o", "rcs x.a a.o b.o", false},
		{"--dryrun -lib -o x.a a.o b.o", "", true},
		{"--dryrun -dlink -o x.o a.o", "", true},
		{"--dryrun -run a.out", "", true},
	};
	struct cc cc = {.dir = path_join(&a, test_dir(&a), S("shims"))};
	struct cc_config config = {0};
	struct nvcc_result result;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strs args = str_split(&a, str_from(rows[i].line), ' ');
		assert_ok(nvcc_command(&a, &cc, &config, &args, &result));
		struct str words = str_join(&a, &result.words, S(" "));
		if (!str_ends(words, str_from(rows[i].last)))
			fail_msg("%s: %.*s", rows[i].line, STR(words));
		assert_int_equal(result.done, rows[i].done);
		assert_int_equal(result.passes.n + result.run.n, 0);
	}
	struct strs several = str_split(&a, S("-odir out -c a.cpp b.cpp"), ' ');
	assert_err(nvcc_command(&a, &cc, &config, &several, &result), E_USAGE);
}

static void what_has_no_equivalent_is_refused_with_the_reason(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const lines[] = {
		"-ptx a.cu", "--ltoir a.cu", "-cuda a.cu", "-optix-ir a.cu", "-c a.cu -o"};
	struct nvcc call;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct strs args = str_split(&a, str_from(lines[i]), ' ');
		assert_err(nvcc_read(&a, &args, &call), E_USAGE);
	}
}

static void options_come_from_files_too_but_not_for_ever(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct str one = path_join(&a, dir, S("one")), two = path_join(&a, dir, S("two"));
	assert_ok(fs_write(two, S("-DTWO=\"a b\"\n'-Ix y'\n"), 0644));
	assert_ok(fs_write(one, str_fmt(&a, "-O2 --options-file=%.*s\n-DONE", STR(two)), 0644));
	struct nvcc call = read_line(&a, str_z(&a, str_fmt(&a, "-optf %.*s -c a.cu", STR(one))));
	assert_str(str_join(&a, &call.words, S("|")), "-O2|-DTWO=a b|-Ix y|-DONE|-x|hip|a.cu");
	/* each of the two names the other, twice */
	assert_ok(fs_write(one, str_fmt(&a, "-optf %.*s,%.*s", STR(two), STR(two)), 0644));
	assert_ok(fs_write(two, str_fmt(&a, "-optf %.*s,%.*s", STR(one), STR(one)), 0644));
	struct strs args = str_split(&a, str_fmt(&a, "-optf %.*s", STR(one)), ' ');
	assert_err(nvcc_read(&a, &args, &call), E_USAGE);
}

/* The line that a compiler would give to the byte at `at`, by #line. */
static unsigned presumed_line(struct str text, size_t at)
{
	unsigned line = 1;
	uint64_t n;
	struct str rest = text, part;
	while (str_next(&rest, '\n', &part) && (size_t)(part.p - text.p) + part.n < at)
		if (str_starts(part, S("#line ")) && str_u64(str_sub(part, 6, part.n), 10, &n))
			line = (unsigned)n;
		else
			line++;
	return line;
}

/* Makes the overlay for a.cu in a folder; returns the path of the description. */
static struct str overlay_of(struct arena *a, struct str dir, const char *line)
{
	struct cc cc = {.dir = path_join(a, dir, S("shims"))};
	struct cc_config config = {0};
	struct strs args = str_split(a, str_fmt(a, line, STR(dir), STR(dir)), ' ');
	struct nvcc call;
	struct str path;
	strs_add(a, &config.gpus, S("gfx1201"));
	assert_ok(nvcc_read(a, &args, &call));
	assert_ok(overlay_make(a, &cc, &config, &call, &path));
	return path;
}

/* The translated text of a file in an overlay; "" if it has none. */
static struct str text_of(struct arena *a, struct str overlay, const char *name)
{
	struct str json, text, rest;
	assert_ok(fs_read(a, overlay, 1 << 20, &json));
	size_t at = str_find(json, str_fmt(a, "%s\"", name));
	rest = str_sub(json, at, json.n);
	rest = str_sub(rest, str_find(rest, S("\"external-contents\": \"")) + 22, rest.n);
	if (at == json.n)
		return S("");
	assert_ok(fs_read(a, str_sub(rest, 0, str_chr(rest, '"')), 1 << 20, &text));
	return text;
}

static void an_overlay_keeps_lines_and_names(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), mark, text;
	assert_ok(fs_mkdirs(path_join(&a, dir, S("inc"))));
	assert_ok(fs_write(path_join(&a, dir, S("inc/b.cuh")),
		S("#pragma once\n#include <cublas_v2.h>\n#include <cufft.h>\nint at4 = "
		  "cudaErrorUnknown;\n"
		  "#include \"again.cu\"\n"),
		0644));
	assert_ok(fs_write(path_join(&a, dir, S("inc/again.cu")), S("cudaError_t at1;\n"), 0644));
	assert_ok(fs_write(path_join(&a, dir, S("inc/same.h")), S("int at1;\n"), 0644));
	assert_ok(fs_write(path_join(&a, dir, S("a.cu")),
		S("#include \"b.cuh\"\n"
		  "#include \"same.h\"\n"
		  "#include <cublas_v2.h>\n"
		  "// caf\xe9: not UTF-8\n"
		  "#define FENCE asm volatile(\"membar.gl;\" \\\n"
		  "\t:::\"memory\"); int at6 = 0\n"
		  "__device__ void f() { asm volatile(\"membar.gl;\"\n"
		  "\t\t::: \"memory\"); }\n"
		  "int at9 = __shfl_down_sync(1, 2, 3);\n"),
		0644));
	struct str path = overlay_of(&a, dir, "-I%.*s/inc -c %.*s/a.cu");
	static const struct {
		const char *file;
		unsigned line;
	} rows[] = {{"a.cu", 6}, {"a.cu", 9}, {"b.cuh", 4}, {"inc/again.cu", 1}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text = text_of(&a, path, rows[i].file);
		mark = str_fmt(&a, "at%u", rows[i].line);
		assert_true(str_contains(text, mark));
		if (presumed_line(text, str_find(text, mark)) != rows[i].line)
			fail_msg("%s:%u is at line %u of\n%.*s", rows[i].file, rows[i].line,
				presumed_line(text, str_find(text, mark)), STR(text));
	}
	assert_true(str_contains(text_of(&a, path, "b.cuh"), S("#include \"again.cu\"")));
	assert_str(text_of(&a, path, "same.h"), "");
	struct stat st;
	assert_ok(fs_stat(path, &st));
	assert_int_equal(st.st_mode & 07777, 0600);
	/* the same file is a source with nvcc's runtime, if -x says so, and a header without */
	assert_ok(fs_write(path_join(&a, dir, S("x.cpp")), S("cudaError_t e;\n"), 0644));
	path = overlay_of(&a, dir, "-x cu -I%.*s/inc -c %.*s/x.cpp");
	assert_str(text_of(&a, path, "x.cpp"),
		"#include <hip/hip_runtime.h>\n#line 1\nhipError_t e;\n");
	path = overlay_of(&a, dir, "-include %.*s/x.cpp -c %.*s/a.cu");
	assert_str(text_of(&a, path, "x.cpp"), "hipError_t e;\n");
}

static void files_that_are_none_of_the_projects_are_not_copied(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), far = test_dir(&a), text = S("cudaError_t e;\n");
	struct str names[] = {S("far.cuh"), S("far.txt")};
	assert_ok(fs_mkdirs(path_join(&a, dir, S("inc/site-packages"))));
	for (size_t i = 0; i < 2; i++)
		assert_ok(fs_write(path_join(&a, far, names[i]), text, 0600));
	assert_ok(fs_write(path_join(&a, dir, S("inc/site-packages/pip.cuh")), text, 0644));
	assert_ok(fs_symlink(
		path_join(&a, far, S("far.cuh")), path_join(&a, dir, S("inc/link.cuh"))));
	assert_ok(fs_symlink(far, path_join(&a, dir, S("inc/away"))));
	assert_ok(fs_symlink(S("here.cuh"), path_join(&a, dir, S("inc/near.cuh"))));
	assert_ok(fs_write(path_join(&a, dir, S("inc/here.cuh")), text, 0644));
	assert_ok(fs_write(path_join(&a, dir, S("a.cu")),
		str_fmt(&a,
			"#include \"link.cuh\"\n#include \"away/far.cuh\"\n#include "
			"\"%.*s/far.cuh\"\n"
			"#include \"../%.*s/far.txt\"\n#include \"near.cuh\"\n"
			"#include \"site-packages/pip.cuh\"\n",
			STR(far), STR(path_base(far))),
		0644));
	struct str path = overlay_of(&a, dir, "-I%.*s/inc -c %.*s/a.cu");
	static const char *const no[] = {"link.cuh", "far.cuh", "far.txt", "pip.cuh"};
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_str(text_of(&a, path, no[i]), "");
	assert_true(str_contains(text_of(&a, path, "near.cuh"), S("hipError_t")));
}

static void data_and_folders_of_the_host_compiler_are_no_obstacle(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	char *large = arena_alloc(&a, 17 << 20);
	memset(large, '\n', 17 << 20);
	assert_ok(fs_mkdirs(path_join(&a, dir, S("x"))));
	assert_ok(
		fs_write(path_join(&a, dir, S("x/large.h")), (struct str){large, 17 << 20}, 0644));
	assert_ok(fs_write(path_join(&a, dir, S("x/h.cuh")), S("cudaError_t e;\n"), 0644));
	assert_ok(fs_write(path_join(&a, dir, S("a.cu")),
		S("#include \"large.h\"\n#include <h.cuh>\n"), 0644));
	struct str path = overlay_of(&a, dir, "-Xcompiler -I,%.*s/x -c %.*s/a.cu");
	assert_str(text_of(&a, path, "large.h"), "");
	assert_str(text_of(&a, path, "h.cuh"), "hipError_t e;\n");
	path = overlay_of(&a, dir, "-Xcompiler -I%.*s/x -c %.*s/a.cu");
	assert_str(text_of(&a, path, "h.cuh"), "hipError_t e;\n");
}

static void messages_say_why_a_name_was_left(void **state)
{
	(void)state;
	ARENA(a);
	const struct cc_config config = {0};
	struct str path = path_join(&a, test_dir(&a), S("a.cu"));
	assert_ok(fs_write(path,
		S("#include <cublas.h>\n#define SCAL cublasSscal\nint f() { return SCAL(1, 2, 0, "
		  "1); }\n"
		  "int g = cublasShutdown(), mine = 1;\n"),
		0644));
	static const char *const reason = "the first interface of cuBLAS";
	struct str said = str_fmt(&a,
		"%.*s:3:18: error: use of undeclared identifier 'cublasSscal'\n  3 | int\n"
		"%.*s:2:14: note: expanded from macro 'SCAL'\n"
		"%.*s:4:9: error: use of undeclared identifier 'cublasShutdown'\n"
		"%.*s:4:30: error: use of undeclared identifier 'other'\n"
		"none.cu:4:30: error: use of undeclared identifier 'cublasInit'\n4 errors "
		"generated.\n",
		STR(path), STR(path), STR(path), STR(path));
	struct str text = overlay_explain(&a, &config, said), line;
	struct strs lines = str_split(&a, text, '\n');
	assert_int_equal(lines.n, 9); /* two more, each behind its error */
	line = str_fmt(&a, "%.*s:2:14: note: 'cublasSscal' has no counterpart in HIP: ", STR(path));
	assert_true(str_starts(lines.v[3], line) && str_contains(lines.v[3], str_from(reason)));
	line = str_fmt(
		&a, "%.*s:4:9: note: 'cublasShutdown' has no counterpart in HIP: ", STR(path));
	assert_true(str_starts(lines.v[5], line) && str_contains(lines.v[5], str_from(reason)));
	assert_str(lines.v[8], "4 errors generated.");
}

static void messages_say_which_component_a_header_is_of(void **state)
{
	(void)state;
	ARENA(a);
	const struct cc_config config = {0};
	struct str said =
		S("no.cu:3:10: fatal error: 'hipblaslt/hipblaslt.h' file not found\n"
		  "no.cu:4:10: fatal error: 'mine.h' file not found\n2 errors generated.\n");
	struct strs lines = str_split(&a, overlay_explain(&a, &config, said), '\n');
	assert_int_equal(lines.n, 4);
	assert_true(str_starts(lines.v[1],
		S("no.cu:3:10: note: 'hipblaslt/hipblaslt.h' is of ROCm's component hipblaslt: ")));
}

/* Clang points at an operand, or says of a whole statement that the assembler does not know it. */
static void messages_say_why_ptx_was_left(void **state)
{
	(void)state;
	ARENA(a);
	const struct cc_config config = {0};
	struct str path = path_join(&a, test_dir(&a), S("a.cu"));
	assert_ok(fs_write(path,
		S("__device__ void f(unsigned long *x)\n{\n\tasm(\"createpolicy.b64 %0;\"\n"
		  "\t\t: \"=l\"(*x));\n\tasm(\"mapa.u32 %0;\" : \"=r\"(*x));\n}\n"),
		0644));
	struct str said = str_fmt(&a,
		"%.*s:4:5: error: invalid output constraint '=l' in asm\n"
		"%.*s:5:6: error: invalid instruction\n"
		"%.*s:6:1: error: expected expression\n3 errors generated.\n",
		STR(path), STR(path), STR(path));
	struct str text = overlay_explain(&a, &config, said), p = path;
	struct strs lines = str_split(&a, text, '\n');
	assert_int_equal(lines.n, 6);
	assert_true(str_starts(lines.v[1],
		str_fmt(&a,
			"%.*s:3:6: note: 'createpolicy.b64' has no counterpart in HIP: ", STR(p))));
	assert_true(str_starts(lines.v[3],
		str_fmt(&a, "%.*s:5:6: note: 'mapa.u32' has no counterpart in HIP: ", STR(p))));
	path = path_join(&a, test_dir(&a), S("b.cu"));
	assert_ok(fs_write(path,
		S("#include <cuda/barrier>\nvoid f(long *x)\n{\n\n\tasm(\"nop\" "
		  ": \"=l\"(*x));\n}\n"),
		0644));
	said = str_fmt(&a, "%.*s:5:9: error: invalid output constraint '=l' in asm\n", STR(path));
	assert_str(overlay_explain(&a, &config, said), said.p);
	text = overlay_explain(&a, &config,
		S("lld: error: ld-temp.o <inline asm>:1:2: invalid instruction\n\taddc.u32 s3;\n"));
	assert_true(str_contains(text, S("note: with -rdc=true inline PTX is read only here")));
}

/* The text of the file that the overlay among the words shows; "" if they have none. */
static struct str shown(struct arena *a, const struct strs *words)
{
	const struct node *doc;
	struct str text = S("");
	for (size_t i = 1; i < words->n; i++)
		if (str_eq(words->v[i - 1], S("-ivfsoverlay"))) {
			assert_ok(json_read(a, words->v[i], &doc));
			doc = node_get(doc, S("roots"));
			assert_int_equal(doc->n, 1);
			assert_ok(fs_read(a, node_text(doc->v, S("external-contents"), S("")),
				1 << 16, &text));
		}
	return text;
}

static void messages_of_clang_tell_what_nvcc_would_take(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("a.cu"));
	const struct cc cc = {.dir = dir, .name = S("clang++")};
	const char *what = "initialization is not supported for __shared__ variables";
	static const struct {
		const char *text, *now; /* the place is that of '@', which is no part of it */
	} rows[] = {{"SHARED_MEM c<T, 2> @y[2 * N]; y[0] = 1;",
			    "SHARED_MEM rocsmith_raw<c<T, 2> [2 * N]> rocsmith_raw_y; auto &y = "
			    "reinterpret_cast<typename decltype(rocsmith_raw_y)::type "
			    "&>(rocsmith_raw_y); y[0] = 1;"},
		{"{ static __shared__ c @z; }",
			"{ static __shared__ rocsmith_raw<c > rocsmith_raw_z; auto &z = "
			"reinterpret_cast<typename decltype(rocsmith_raw_z)::type "
			"&>(rocsmith_raw_z); }"},
		{"__shared__ c a, @b;", NULL}, {"__shared__ c @a, b;", NULL},
		{"__shared__ c a[2], @b[3];", NULL}, {"__shared__ c @a(1);", NULL},
		{"__shared__ c @a", NULL}, {"c @a;", NULL}, {"@", NULL}};
	assert_ok(fs_mkdirs(path_join(&a, dir, S(".rocsmith/cuda"))));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = str_from(rows[i].text), before, behind;
		struct strs words = str_split(&a, S("-c a.cu"), ' '), next;
		str_cut(text, '@', &before, &behind);
		test_put(path, str_fmt(&a, "int first;\n%.*s%.*s", STR(before), STR(behind)).p);
		struct str said = str_fmt(&a, "%.*s:2:%zu: error: %s\n%.*s:900:1: error: %s\n",
			STR(path), before.n + 1, what, STR(path), what);
		assert_ok(mend_words(&a, &cc, &words, said, &next));
		assert_int_equal(next.n > 0, rows[i].now != NULL);
		if (!rows[i].now)
			continue;
		assert_true(strs_has(&next, S("-include")));
		assert_str(shown(&a, &next), str_fmt(&a, "int first;\n%s", rows[i].now).p);
		/* an overlay that is there is changed, and lines count from its #line */
		struct str json = str_replace(&a,
			S("{\"version\": \"0\", \"case-sensitive\": \"true\", "
			  "\"use-external-names\": "
			  "\"false\", \"roots\": [{\"type\": \"file\", \"name\": \"NAME\", "
			  "\"external-contents\": \"NAME.hip\"}]}"),
			S("NAME"), path);
		struct str old = path_join(&a, dir, S("old.json"));
		test_put(old, json.p);
		test_put(str_fmt(&a, "%.*s.hip", STR(path)),
			str_fmt(&a, "#include <x>\n#line 1\nint first;\n%.*s%.*s", STR(before),
				STR(behind))
				.p);
		words = str_split(&a, str_fmt(&a, "-ivfsoverlay %.*s -c a.cu", STR(old)), ' ');
		assert_ok(mend_words(&a, &cc, &words, said, &next));
		assert_str(shown(&a, &next),
			str_fmt(&a, "#include <x>\n#line 1\nint first;\n%s", rows[i].now).p);
	}
	struct strs words = str_split(&a, S("-c a.cu"), ' '), next, again;
	struct str said = S("a.cu:1:2: error: member access into incomplete type 'P'\n");
	assert_ok(mend_words(&a, &cc, &words, said, &next));
	assert_str(str_join(&a, &next, S(" ")), "-fdelayed-template-parsing -c a.cu");
	assert_ok(mend_words(&a, &cc, &next, said, &again));
	assert_int_equal(again.n, 0);
	assert_ok(
		mend_words(&a, &cc, &words, S("a.cu:1:2: warning: incomplete type 'P'\n"), &next));
	assert_int_equal(next.n, 0);
	/* names that a macro put together */
	struct str face = path_join(&a, dir, S("cuda/include/rocsmith/cuda"));
	assert_ok(fs_mkdirs(face));
	test_put(path_join(&a, face, S("hip.h")), "#define cudaMalloc hipMalloc\n");
	test_put(path_join(&a, face, S("hipblas.h")), "#define cublasSgemm(a) hipblasSgemm(a)\n");
	said = S("a.cu:1:2: error: use of undeclared identifier 'cudaMalloc'; did you mean "
		 "'hipMalloc'?\n"
		 "a.cu:1:2: error: use of undeclared identifier 'cudaOther'\n"
		 "a.cu:2:2: error: use of undeclared identifier 'cublasSgemm'\n");
	assert_ok(mend_words(&a, &cc, &words, said, &next));
	assert_str(str_join(&a, &next, S(" ")),
		str_fmt(&a, "-include %.*s/hip.h -include %.*s/hipblas.h -c a.cu", STR(face),
			STR(face))
			.p);
	assert_ok(mend_words(&a, &cc, &next, said, &again));
	assert_int_equal(again.n, 0);
	assert_ok(mend_words(&a, &cc, &words,
		S("a.cu:1:2: error: use of undeclared identifier 'cudaOther'\n"), &next));
	assert_int_equal(next.n, 0);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_option_becomes_clangs_or_goes),
		cmocka_unit_test(inputs_and_outputs_are_told_apart),
		cmocka_unit_test(a_command_has_the_outputs_that_nvcc_has),
		cmocka_unit_test(what_has_no_equivalent_is_refused_with_the_reason),
		cmocka_unit_test(options_come_from_files_too_but_not_for_ever),
		cmocka_unit_test(an_overlay_keeps_lines_and_names),
		cmocka_unit_test(data_and_folders_of_the_host_compiler_are_no_obstacle),
		cmocka_unit_test(files_that_are_none_of_the_projects_are_not_copied),
		cmocka_unit_test(messages_say_why_a_name_was_left),
		cmocka_unit_test(messages_say_which_component_a_header_is_of),
		cmocka_unit_test(messages_say_why_ptx_was_left),
		cmocka_unit_test(messages_of_clang_tell_what_nvcc_would_take),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
