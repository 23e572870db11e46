/* SDK components and libraries that follow from the sources: plan/needs.c. */
#include "fixture_plan.h"

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
	assert_says(reason_for(f, "sdk components"), "include headers of hiprand");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(headers_bring_their_component_and_library),
		FIXTURE_TEST(headers_of_the_project_count_as_well),
		FIXTURE_TEST(a_library_of_the_description_brings_its_component),
		FIXTURE_TEST(nothing_is_listed_twice),
		FIXTURE_TEST(a_source_that_cannot_be_translated_is_left_to_the_build),
		FIXTURE_TEST(the_reason_says_so_when_nothing_is_needed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
