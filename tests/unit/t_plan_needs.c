/* SDK components and libraries that follow from the sources: plan/needs.c. */
#include "fixture_plan.h"

#include <unistd.h>

static void needs(struct fixture *f)
{
	assert_ok(find_sources(f));
	f->plan.libraries = f->project.libraries;
	f->plan.sdk.components = (struct strs){0};
	strs_add(&f->a, &f->plan.sdk.components, S("compiler"));
	assert_ok(plan_needs(&f->a, &f->plan));
}

static const struct {
	const char *source, *components, *libraries;
} rows[] = {
	{"__global__ void k() {}\n", "compiler", ""},
	{"#include <cuda_runtime.h>\n", "compiler", ""},
	{"#include <hip/hip_runtime.h>\n", "compiler", ""},
	{"#include <curand_kernel.h>\n", "compiler hiprand", "hiprand"},
	{"#include <curand.h>\n", "compiler hiprand", "hiprand"},
	{"#include <cublas_v2.h>\n", "compiler hipblas", "hipblas"},
	{"#include <cufft.h>\n", "compiler hipfft", "hipfft"},
	{"#include <cusparse.h>\n", "compiler hipsparse", "hipsparse"},
	{"#include <hipblas/hipblas.h>\n", "compiler hipblas", "hipblas"},
	{"#include <miopen/miopen.h>\n", "compiler miopen", "MIOpen"},
	/* headers alone: nothing to link */
	{"#include <thrust/sort.h>\n", "compiler rocthrust", ""},
	{"#include <cub/cub.cuh>\n", "compiler hipcub", ""},
	{"// #include <curand.h>\n", "compiler", ""},
	{"#include \"mine/curand.h\"\n", "compiler", ""},
};

static void headers_bring_their_component_and_library(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(f, "a.cu", rows[i].source);
		needs(f);
		struct str c = joined(f, &f->plan.sdk.components);
		struct str l = joined(f, &f->plan.libraries);
		if (!str_eq(c, str_from(rows[i].components)) ||
			!str_eq(l, str_from(rows[i].libraries)))
			fail_msg("%s: '%.*s', '%.*s'", rows[i].source, STR(c), STR(l));
	}
}

static void headers_of_the_project_count_as_well(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include \"rng.cuh\"\n");
	put(f, "rng.cuh", "#include <curand_kernel.h>\n");
	put(f, "unused.cuh", "#include <cufft.h>\n");
	needs(f);
	assert_str(joined(f, &f->plan.sdk.components), "compiler hiprand");
	put(f, "b.cpp", "#include <hipsparse/hipsparse.h>\n"); /* which nobody translates */
	needs(f);
	assert_str(joined(f, &f->plan.sdk.components), "compiler hiprand hipsparse");
	assert_says(reason_for(f, "sdk components"), "include headers of hiprand");
}

static void headers_of_ours_are_named_with_the_source_that_wants_them(void **state)
{
	struct fixture *f = *state;
	put(f, "sub/a.cu", "#include <cuda.h>\nCUdeviceptr p;\n");
	needs(f);
	assert_says(reason_for(f, "header of rocsmith"), "'sub/a.cu' uses what this header gives");
}

static void a_library_of_the_description_brings_its_component(void **state)
{
	struct fixture *f = *state;
	put(f, "rocsmith.yaml", "libraries: [rocblas, m, rocblas]\n");
	put(f, "a.cu", "");
	needs(f);
	assert_str(joined(f, &f->plan.sdk.components), "compiler rocblas");
	assert_true(strs_has(&f->plan.libraries, S("m"))); /* of the C library */
}

static void nothing_is_listed_twice(void **state)
{
	struct fixture *f = *state;
	put(f, "rocsmith.yaml", "libraries: hiprand\n");
	put(f, "a.cu", "#include <curand.h>\n#include <curand_kernel.h>\n");
	put(f, "b.cu", "#include <curand.h>\n");
	needs(f);
	assert_str(joined(f, &f->plan.sdk.components), "compiler hiprand");
	assert_str(joined(f, &f->plan.libraries), "hiprand");
	size_t reasons = f->plan.reasons.n;
	assert_ok(plan_needs(&f->a, &f->plan)); /* again: a saved plan */
	assert_str(joined(f, &f->plan.sdk.components), "compiler hiprand");
	assert_str(joined(f, &f->plan.libraries), "hiprand");
	assert_int_equal(f->plan.reasons.n, reasons);
}

static void a_source_that_cannot_be_translated_is_left_to_the_build(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "/* never closed\n");
	put(f, "b.cu", "#include <curand.h>\n");
	needs(f);
	assert_str(joined(f, &f->plan.sdk.components), "compiler hiprand");
	assert_ok(fs_remove(path_join(&f->a, f->dir, S("b.cu"))));
	assert_ok(plan_needs(&f->a, &f->plan)); /* nothing is read twice */
	f->plan.scans = (struct map){0};
	assert_err(plan_needs(&f->a, &f->plan), E_NOENT);
}

static void the_reason_says_so_when_nothing_is_needed(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	needs(f);
	assert_says(reason_for(f, "sdk components"), "no header of another component");
	assert_true(reason_for(f, "libraries").n > 0);
}

/* ---- what another build system builds ---- */

static void foreign_needs(struct fixture *f)
{
	read_project(f);
	f->plan.foreign = NEW(&f->a, struct plan_foreign);
	assert_ok(plan_needs(&f->a, &f->plan));
}

static void every_file_that_it_may_compile_counts(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name;
		bool counts, device;
	} files[] = {{"a.cu", true, true}, {"sub/a.cuh", true, true}, {"a.hip", true, true},
		{"a.cpp", true, false}, {"deep/er/a.cc", true, false}, {"a.cxx", true, false},
		{"a.h", true, false}, {"a.hpp", true, false}, {"a.c", false, false},
		{"a.txt", false, false}};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		put(f, files[i].name, "#include <curand.h>\n");
		foreign_needs(f);
		assert_str(joined(f, &f->plan.sdk.components), files[i].counts ? "hiprand" : "");
		assert_int_equal(f->plan.foreign->device, files[i].device);
		assert_ok(fs_remove(path_join(&f->a, f->dir, str_from(files[i].name))));
	}
	put(f, "a.cpp", "#include <curand.h>\n");
	put(f, "b.cpp", "#include <cufft.h>\n");
	put(f, "c.cu", "");
	foreign_needs(f);
	assert_str(joined(f, &f->plan.sdk.components), "hipfft hiprand");
	assert_true(f->plan.foreign->device);
}

static void no_more_files_are_read_than_the_limit(void **state)
{
	struct fixture *f = *state;
	enum { LIMIT = 4096 };
	put(f, "0000.cu", "");
	for (unsigned i = 1; i < LIMIT - 1; i++) /* links, since writing so many takes long */
		assert_int_equal(
			0, link(path_join(&f->a, f->dir, S("0000.cu")).p,
				   path_join(&f->a, f->dir, str_fmt(&f->a, "%04u.cu", i)).p));
	put(f, "4095.cu", "#include <curand.h>\n");
	put(f, "4096.cu", "#include <cufft.h>\n");
	put(f, "0.cuh", "#include <cublas_v2.h>\n");
	foreign_needs(f);
	assert_str(joined(f, &f->plan.sdk.components), "hiprand");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(headers_bring_their_component_and_library),
		FIXTURE_TEST(headers_of_the_project_count_as_well),
		FIXTURE_TEST(headers_of_ours_are_named_with_the_source_that_wants_them),
		FIXTURE_TEST(a_library_of_the_description_brings_its_component),
		FIXTURE_TEST(nothing_is_listed_twice),
		FIXTURE_TEST(a_source_that_cannot_be_translated_is_left_to_the_build),
		FIXTURE_TEST(the_reason_says_so_when_nothing_is_needed),
		FIXTURE_TEST(every_file_that_it_may_compile_counts),
		FIXTURE_TEST(no_more_files_are_read_than_the_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
