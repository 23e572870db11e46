/* Command lines of nvcc: what becomes of each option, files with options, and sources as an overlay shows them. */
#include "test.h"

#include <unistd.h>

#include "base/fs.h"
#include "cc/cc_int.h"

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
		{"-Xcompiler ,\"-fPIC\",\"-DX=1,2\" -c a.cu", "-fPIC -DX=1,2 -x hip a.cu",
			NVCC_COMPILES},
		{"-rdc=true -c a.cu", "-fgpu-rdc -x hip a.cu", NVCC_COMPILES},
		{"-rdc false -c a.cu", "-x hip a.cu", NVCC_COMPILES},
		{"-fmad=false --use_fast_math --ftz=true a.cu",
			"-ffp-contract=off -fgpu-flush-denormals-to-zero -x hip a.cu", NVCC_LINKS},
		{"-DX=1,2 -D Y=3 --define-macro=Z -Idir -I=other -UW a.cu",
			"-DX=1,2 -DY=3 -DZ -Idir -Iother -UW -x hip a.cu", NVCC_LINKS},
		{"-x cu a.cpp -c", "-x hip a.cpp", NVCC_COMPILES},
		{"-c a.cpp", "-x none a.cpp", NVCC_COMPILES},
		{"-c a.c -x c++", "-x c++ a.c", NVCC_COMPILES},
		{"-c a.c", "-x c a.c", NVCC_COMPILES},
		{"-shared a.o -lcudart b.a -Xlinker -rpath,/x -o x.so",
			"-shared a.o -lcudart b.a -Wl,-rpath -Wl,/x", NVCC_LINKS},
		{"a.cu b.cpp c.o -lfoo", "-x hip a.cu -x none -x none b.cpp c.o -lfoo", NVCC_LINKS},
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

static void what_has_no_equivalent_is_refused_with_the_reason(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const lines[] = {
		"-ptx a.cu", "--cubin a.cu", "-fatbin a.cu", "-optix-ir a.cu", "-c a.cu -o"};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_option_becomes_clangs_or_goes),
		cmocka_unit_test(inputs_and_outputs_are_told_apart),
		cmocka_unit_test(what_has_no_equivalent_is_refused_with_the_reason),
		cmocka_unit_test(options_come_from_files_too_but_not_for_ever),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
