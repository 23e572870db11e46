/* What the words of --components mean, and which packages, headers and libraries are ROCm's. */
#include "know/know.h"
#include "know/match.h"
#include "test.h"

static struct strs packages_of(struct arena *a, const char *component, bool *alone)
{
	struct strs list = {0};
	assert_ok(know_packages(a, str_from(component), &list, alone));
	return list;
}

static void every_component_names_packages_once(void **state)
{
	(void)state;
	ARENA(a);
	struct strs names = know_component_names(&a);
	assert_true(names.n > 20);
	for (size_t i = 0; i < names.n; i++) {
		bool alone;
		struct strs list = packages_of(&a, names.v[i].p, &alone);
		assert_true(list.n > 0 && know_component(names.v[i])->about[0]);
		for (size_t k = 0; k < list.n; k++)
			for (size_t n = 0; n < k; n++)
				assert_false(str_eq(list.v[k], list.v[n]));
		for (size_t k = 0; k < i; k++)
			assert_false(str_eq(names.v[i], names.v[k]));
	}
}

/* Else their headers would not be in /opt/rocm/include, and no compile would find them. */
static void the_packages_of_libraries_are_part_of_the_view(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const others[] = {
		"compiler", "torch-build", "torch-third-party", "openmp", "python", NULL};
	struct strs names = know_component_names(&a);
	for (size_t i = 0; i < names.n; i++) {
		bool alone, skip = false;
		for (size_t k = 0; others[k]; k++)
			skip |= str_eq(names.v[i], str_from(others[k]));
		struct strs list = packages_of(&a, names.v[i].p, &alone);
		for (size_t k = 0; !skip && k < list.n; k++)
			if (!know_rocm_package(list.v[k]))
				fail_msg("'%.*s' is not ROCm's", STR(list.v[k]));
	}
}

static void single_libraries_are_part_of_math(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const libraries[] = {"hipblas", "hipblaslt", "hipcub", "hipfft",
		"hiprand", "hipsolver", "hipsparse", "rocblas", "rocfft", "rocprim", "rocrand",
		"rocsolver", "rocsparse", "rocthrust"};
	bool alone;
	struct strs math = packages_of(&a, "math", &alone);
	assert_false(alone);
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		struct strs one = packages_of(&a, libraries[i], &alone);
		assert_false(alone);
		for (size_t k = 0; k < one.n; k++)
			if (!strs_has(&math, one.v[k]))
				fail_msg("'math' lacks '%.*s'", STR(one.v[k]));
	}
}

static void only_headers_come_without_what_they_depend_on(void **state)
{
	(void)state;
	ARENA(a);
	struct strs names = know_component_names(&a);
	for (size_t i = 0; i < names.n; i++) {
		bool alone = false;
		packages_of(&a, names.v[i].p, &alone);
		assert_int_equal(alone, str_eq(names.v[i], S("headers")));
	}
}

static void a_compiler_is_what_hipcc_and_a_shell_need(void **state)
{
	(void)state;
	ARENA(a);
	bool alone;
	struct strs list = packages_of(&a, "compiler", &alone);
	assert_true(strs_has(&list, S("hipcc")) && strs_has(&list, S("libamdhip64-dev")));
	assert_true(strs_has(&list, S("dash")) && strs_has(&list, S("libc-bin")));
}

static const struct {
	const char *word, *hint;
} mistypes[] = {
	{"compilr", "did you mean 'compiler'?"},
	{"hiprnd", "did you mean 'hiprand'?"},
	{"HIPRAND", "did you mean 'hiprand'?"},
	{"maths", "did you mean 'math'?"},
	{"zzzzzzzzzzz", "'rocsmith sdk list' shows the components"},
	{"", "'rocsmith sdk list' shows the components"},
};

static void mistyped_components_are_answered(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(mistypes) / sizeof(mistypes[0]); i++) {
		struct strs list;
		bool alone;
		struct err *e = know_packages(&a, str_from(mistypes[i].word), &list, &alone);
		assert_non_null(e);
		assert_int_equal(e->code, E_USAGE);
		if (!e->hints || strcmp(e->hints->text, mistypes[i].hint) != 0)
			fail_msg("'%s': hint '%s'", mistypes[i].word,
				e->hints ? e->hints->text : "none");
		err_free(e);
	}
	assert_null(know_component(S("nothing")));
	assert_null(know_component(S("")));
}

/* CMake finds OpenMP only with the headers of the clang that compiles. */
static void libraries_of_llvm_are_those_of_its_clang(void **state)
{
	(void)state;
	ARENA(a);
	bool alone, found = false;
	struct strs list = packages_of(&a, "torch-third-party", &alone);
	for (size_t i = 0; i < list.n; i++)
		found |= str_eq(know_package_name(&a, list.v[i], S("22")), S("libomp-22-dev"));
	assert_true(found);
	assert_str(know_package_name(&a, S("libomp-@clang@-dev"), S("")), "libomp-dev");
	assert_str(know_package_name(&a, S("hipcc"), S("22")), "hipcc");
}

/* ---- packages ---- */
static const struct {
	const char *name;
	bool rocm;
} packages[] = {
	{"libamdhip64-6", true},
	{"libamdhip64-dev", true},
	{"libhiprand1", true},
	{"libhiprand-dev", true},
	{"librocblas4", true},
	{"librocblas4-tests-data", true},
	{"libhsa-runtime64-1", true},
	{"libamd-comgr3", true},
	{"rocm-device-libs-21", true},
	{"hipcc", true},
	{"libmiopen-dev", true},
	{"librccl-dev", true},
	{"libroctx4", true},
	{"rocm-cmake", true},
	{"libc6", false},
	{"libc6-dev", false},
	{"libstdc++-15-dev", false},
	{"linux-libc-dev", false},
	{"libllvm21", false},
	{"clang-21", false},
	{"librocksdb-dev", false},
	{"libpython3-dev", false},
	{"libamd3", false}, /* SuiteSparse */
	{"zlib1g", false},
	{"", false},
};

static void rocms_packages_are_told_from_others_of_like_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (know_rocm_package(str_from(packages[i].name)) != packages[i].rocm)
			fail_msg("'%s'", packages[i].name);
}

/* ---- headers ---- */
static const struct {
	const char *header, *component;
} headers[] = {
	{"hip/hip_runtime.h", "compiler"},
	{"hip/hip_fp16.h", "compiler"},
	{"hsa/hsa.h", "compiler"},
	{"hiprand/hiprand_kernel.h", "hiprand"},
	{"hipblas/hipblas.h", "hipblas"},
	{"hipblas.h", "hipblas"},
	{"hipblaslt/hipblaslt.h", "hipblaslt"},
	{"hipcub/hipcub.hpp", "hipcub"},
	{"hipfft/hipfft.h", "hipfft"},
	{"hipsolver/hipsolver.h", "hipsolver"},
	{"hipsparse/hipsparse.h", "hipsparse"},
	{"miopen/miopen.h", "miopen"},
	{"rccl/rccl.h", "rccl"},
	{"rccl.h", "rccl"},
	{"rocblas/rocblas.h", "rocblas"},
	{"rocprim/rocprim.hpp", "rocprim"},
	{"rocwmma/rocwmma.hpp", "rocwmma"},
	{"thrust/device_vector.h", "rocthrust"},
	{"roctracer/roctx.h", "roctx"},
	{"ck_tile/core.hpp", "composable-kernel"},
	{"amd_smi/amdsmi.h", "amd-smi"},
	{"rocm_smi/rocm_smi.h", "rocm-smi"},
	{"vector", ""},
	{"stdio.h", ""},
	{"Python.h", ""},
	{"curand.h", ""},
	{"my/hip/x.h", ""},
	{"hipper/x.h", ""},
	{"thrusters.h", ""},
	{"/opt/rocm/include/hip/hip_runtime.h", ""},
	{"", ""},
};

static void headers_lead_to_their_component(void **state)
{
	(void)state;
	ARENA(a);
	struct strs known = know_component_names(&a);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct strs one = {0};
		strs_add(&a, &one, str_from(headers[i].header));
		struct strs got = know_headers(&a, &one);
		struct str text = str_join(&a, &got, S(","));
		if (!str_eq(text, str_from(headers[i].component)))
			fail_msg("'%s' gives '%.*s'", headers[i].header, STR(text));
		assert_true(!got.n || strs_has(&known, got.v[0]));
	}
}

static void components_of_many_headers_are_sorted_and_unique(void **state)
{
	(void)state;
	ARENA(a);
	struct strs list = {0};
	for (size_t i = sizeof(headers) / sizeof(headers[0]); i-- > 0;)
		strs_add(&a, &list, str_from(headers[i].header));
	struct strs got = know_headers(&a, &list);
	for (size_t i = 1; i < got.n; i++)
		assert_true(str_cmp(got.v[i - 1], got.v[i]) < 0);
	assert_true(strs_has(&got, S("compiler")) && strs_has(&got, S("hiprand")));
}

static void headers_name_components(void **state)
{
	(void)state;
	ARENA(a);
	struct strs list = {0};
	strs_add(&a, &list, S("hiprand/hiprand_kernel.h"));
	strs_add(&a, &list, S("vector"));
	strs_add(&a, &list, S("hip/hip_runtime.h"));
	strs_add(&a, &list, S("thrust/device_vector.h"));
	strs_add(&a, &list, S("hiprand/hiprand.h"));
	struct strs got = know_headers(&a, &list);
	assert_str(str_join(&a, &got, S(",")), "compiler,hiprand,rocthrust");
	struct strs known = know_component_names(&a);
	for (size_t i = 0; i < got.n; i++)
		assert_true(strs_has(&known, got.v[i]));
}

/* One row joins what is known of a library, so each part must lead back to it. */
static void a_library_is_found_by_each_of_its_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < know_library_count; i++) {
		const struct know_library *l = &know_library_table()[i];
		for (const char *const *h = l->headers; h && *h; h++)
			assert_ptr_equal(know_header(str_from(*h)), l);
		for (const char *const *p = l->parts; p && *p; p++)
			assert_non_null(know_component(str_from(*p)));
		assert_true(!l->link || (l->headers && l->sonames));
	}
}

static const struct {
	const char *soname, *who;
} sonames[] = {
	{"libamdhip64.so.6", "ROCm"},
	{"libamdhip64-d01f4dc2.so.7.2", "ROCm"},
	{"libhiprtc-builtins.so.7", "ROCm"},
	{"libhsa-runtime64.so.1", "ROCm"},
	{"libamd_comgr_loader.so.1", "ROCm"},
	{"libhipblaslt.so.0", "ROCm"},
	{"libhipsparselt.so.0", "ROCm"},
	{"libhiptensor.so.0", "ROCm"},
	{"librocsolver.so.0", "ROCm"},
	{"libroctracer64.so.4", "ROCm"},
	{"librocm-core.so.1", "ROCm"},
	{"librocprofiler-register.so.0", "ROCm"},
	{"libMIOpen.so.1", "ROCm"},
	{"libtorch_hip.so", "the torch package"},
	{"libc10.so", "the torch package"},
	{"libpython3.11.so.1.0", "the Python that loads it"},
	{"libcudart.so.12", "CUDA"},
	{"libcublas.so.12", "CUDA"},
	{"libcurand.so.10", "CUDA"},
	{"libnvrtc.so.12", "CUDA"},
	{"libc.so.6", NULL},
	{"libcurl.so.4", NULL},
	{"librocksdb.so.8", NULL},
	{"", NULL},
};

static void who_brings_a_library_is_known_by_its_soname(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sonames) / sizeof(sonames[0]); i++) {
		const struct know_other *o = know_soname(str_from(sonames[i].soname));
		if (!o != !sonames[i].who || (o && strcmp(o->who, sonames[i].who) != 0))
			fail_msg("'%s' is of %s", sonames[i].soname, o ? o->who : "nobody");
	}
}

static const struct {
	const char *text, *line, *part; /* part NULL: it does not fit */
} lines[] = {
	{"NO_PUBKEY", "W: GPG error: x NO_PUBKEY 12", ""}, {"NO_PUBKEY", "no_pubkey", NULL},
	{"is full$", "the disk is full", ""}, {"is full$", "is full of it", NULL},
	{"'([^']*)' file not found$", "'curand.h' file not found", "curand.h"},
	{"'([^']*)' file not found$", "'' file not found", ""},
	{"'([^']*)' file not found$", "'x.h' file not found with <angled> include", NULL},
	{"'([^']*)' file not found$", "", NULL},
	{": {EACCES}", "open: Keine Berechtigung", "Keine Berechtigung"},
	{"a(", "a(", NULL}, /* not an expression */
};

static void an_expression_fits_a_line_and_gives_its_group(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ARENA(tmp);
		struct expression x = {0};
		struct span at[2];
		struct str line = str_from(lines[i].line);
		bool fits = expression_fits(&tmp, &x, lines[i].text, line, at);
		if (fits != (lines[i].part != NULL) ||
			(fits && !str_eq(str_sub(line, at[1].from, at[1].to),
					 str_from(lines[i].part))))
			fail_msg("'%s' in '%s'", lines[i].text, lines[i].line);
	}
}

static void the_first_rule_of_a_tool_counts(void **state)
{
	(void)state;
	ARENA(a);
	struct str part;
	struct str said = S("W: the GPG error of x\nE: The file: NO_PUBKEY 1\n");
	const struct know_rule *rule = know_match("apt", said, &part);
	assert_non_null(rule);
	assert_string_equal(rule->text, "NO_PUBKEY");
	assert_null(know_match("clang", said, &part));
	assert_null(know_match("apt", S(""), &part));
	rule = know_match("clang", S("'my.h' file not found"), &part);
	assert_non_null(rule);
	assert_str(str_sub(know_hint(&a, rule, part), 0, 51),
		"no component of the SDK is known to have 'my.h'; na");
	assert_string_equal(know_link(S("MIOpen"))->name, "miopen");
	assert_null(know_link(S("rocprim")));
}

/* ---- findings ---- */
static const struct {
	const char *id, *meaning;
} findings[] = {
#define X(name, id, severity, meaning) {id, meaning},
#define FINDING(id, severity, meaning) {id, meaning},
#include "../../data/findings.def"
};

static void findings_have_an_id_of_their_own_and_a_meaning(void **state)
{
	(void)state;
	size_t n = sizeof(findings) / sizeof(findings[0]);
	assert_true(n > 100);
	for (size_t i = 0; i < n; i++) {
		assert_true(strspn(findings[i].id, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
			    strlen(findings[i].id));
		assert_true(findings[i].meaning[0]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(findings[i].id, findings[k].id);
	}
}

/* Lines of pyvkfft, MinkowskiEngine, nimpa, implicit, CMake, torch, and others that say nothing of the kind. */
static void lines_that_give_cuda_up_are_known(void **state)
{
	static const struct {
		const char *line;
		bool gives_up;
	} rows[] = {
		{"UserWarning: CUDA not available ($CUDAHOME/$CUDA_PATH variables missing and nvcc "
		 "not in "
		 "path. Skipping pyvkfft.cuda module installation.",
			true},
		{"torch.cuda.is_available() is False. MinkowskiEngine will compile with CPU_ONLY.",
			true},
		{"could not set up CUDA: No module named 'cuvec'", true},
		{"Disabling building the GPU extension since IMPLICIT_DISABLE_CUDA env var is set",
			true},
		{"-- Could NOT find CUDA (missing: CUDA_NVCC_EXECUTABLE)", true},
		{"No CUDA runtime is found, using CUDA_HOME='/usr/local/cuda'", true},
		{"nvcc not found", true},
		{"Building without CUDA support", true},
		{"-- The CUDA compiler identification is NVIDIA 12.4.131", false},
		{"building 'pkg._cuda' extension", false},
		{"copying pkg/cpu.py -> build/lib/pkg", false},
		{"nvcc -c src/a.cu -o build/a.o -DNOTHING", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str part;
		if ((know_match("cuda-off", str_from(rows[i].line), &part) != NULL) !=
			rows[i].gives_up)
			fail_msg("%s", rows[i].line);
	}
	ARENA(a);
	struct str part;
	const struct know_rule *lacks = know_match("cuda-lacks",
		S("WARNING: Import or CUDA device detection error:\nNo module named 'cuvec'\n"),
		&part);
	assert_non_null(lacks);
	assert_true(str_contains(know_hint(&a, lacks, part), S("build: {requires: [cuvec]}")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_component_names_packages_once),
		cmocka_unit_test(the_packages_of_libraries_are_part_of_the_view),
		cmocka_unit_test(single_libraries_are_part_of_math),
		cmocka_unit_test(only_headers_come_without_what_they_depend_on),
		cmocka_unit_test(a_compiler_is_what_hipcc_and_a_shell_need),
		cmocka_unit_test(mistyped_components_are_answered),
		cmocka_unit_test(libraries_of_llvm_are_those_of_its_clang),
		cmocka_unit_test(rocms_packages_are_told_from_others_of_like_names),
		cmocka_unit_test(headers_lead_to_their_component),
		cmocka_unit_test(components_of_many_headers_are_sorted_and_unique),
		cmocka_unit_test(headers_name_components),
		cmocka_unit_test(a_library_is_found_by_each_of_its_names),
		cmocka_unit_test(who_brings_a_library_is_known_by_its_soname),
		cmocka_unit_test(an_expression_fits_a_line_and_gives_its_group),
		cmocka_unit_test(the_first_rule_of_a_tool_counts),
		cmocka_unit_test(lines_that_give_cuda_up_are_known),
		cmocka_unit_test(findings_have_an_id_of_their_own_and_a_meaning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
