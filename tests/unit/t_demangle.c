/* Mangled names of kernels as people write them, and what a stranger's name may not do. What is wanted here was written by
 * c++filt of binutils 2.40 where it can read them; tests/e2e/inspect_kernels.sh compares with it over whole libraries. */
#include "test.h"

#include "base/buf.h"
#include "lang/cxx/demangle.h"

static void check(const char *name, const char *want)
{
	ARENA(a);
	uint64_t work = 0;
	assert_str(cxx_demangle(&a, str_from(name), &work), want);
	assert_true(!work || str_starts(str_from(name), S("_Z")));
}

static void names_that_are_not_mangled_stay(void **state)
{
	(void)state;
	check("", "");
	check("saxpy", "saxpy");
	check("Cijk_Ailk_Bljk_SB_MT64x64x8", "Cijk_Ailk_Bljk_SB_MT64x64x8");
	check("_Z", "_Z");
	check("_Znonsense", "_Znonsense");
	check("_Z9short", "_Z9short");
	check("_Z3addIfEvPT", "_Z3addIfEvPT");
	check("_Z3addvE", "_Z3addvE");
}

static void functions_have_parameters_and_templates_a_result(void **state)
{
	(void)state;
	check("_Z3addPfPKfi", "add(float*, float const*, int)");
	check("_Z1kv", "k()");
	check("_Z3addIfEvPT_", "void add<float>(float*)");
	check("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
	      "11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
		"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
		"std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, "
		"1ul>)");
	check("_ZN12_GLOBAL__N_14tileIDF16_Lb1ELin2EEEvPDv4_T_",
		"void (anonymous namespace)::tile<_Float16, true, -2>(_Float16 __vector(4)*)");
	check("_ZNK3Foo3getEv.llvm.42", "Foo::get() const [clone .llvm.42]");
	check("_ZN3FooIiEC2Ev", "Foo<int>::Foo()");
	check("_ZN3FooD1Ev", "Foo::~Foo()");
	check("_ZNSt8ios_base7failureB5cxx11C1Ev", "std::ios_base::failure[abi:cxx11]::failure()");
	check("_ZN1aplERKS_S1_", "a::operator+(a const&, a const&)");
	check("_ZN1acvT_IiEEv", "_ZN1acvT_IiEEv");
	check("_ZN1a1bB5cxx11Ev", "a::b[abi:cxx11]()");
}

static void declarators_are_written_from_the_inside(void **state)
{
	(void)state;
	check("_Z1fPFviE", "f(void (*)(int))");
	check("_Z1fPFPFvvEiE", "f(void (*(*)(int))())");
	check("_Z1fRA3_Ki", "f(int const (&) [3])");
	check("_Z1fA2_A3_i", "f(int [2][3])");
	check("_Z1fM1SFivE", "f(int (S::*)())");
	check("_Z1fM1Si", "f(int S::*)");
	check("_Z1fIiEPFvvET_", "void (*f<int>(int))()");
	check("_Z1fPU3AS1i", "f(int AS1*)");
	check("_Z1f1aIKFviEE", "f(a<void (int) const>)");
}

static void packs_are_spread_and_empty_ones_vanish(void **state)
{
	(void)state;
	check("_Z1fIJifEEvDpT_", "void f<int, float>(int, float)");
	check("_Z1fIJEEvDpT_", "void f<>()");
	check("_Z1fIiJEEvT_DpT0_", "void f<int>(int)");
	check("_Z1fIJRiPfEEvDpOT_", "void f<int&, float*>(int&, float*&&)");
	check("_Z1fIRiEvOT_", "void f<int&>(int&)");
	check("_Z1fIJ1aIJifEEdEEvDpOT_",
		"void f<a<int, float>, double>(a<int, float>&&, double&&)");
}

static void lambdas_literals_and_expressions_are_read(void **state)
{
	(void)state;
	check("_ZZ4mainENKUlfiE0_clEfi",
		"main::{lambda(float, int)#2}::operator()(float, int) const");
	check("_Z1fIZ4mainEUlvE_EvT_", "void f<main::{lambda()#1}>(main::{lambda()#1})");
	check("_Z1fILj7ELx8ELc65EEvv", "void f<7u, 8ll, (char)65>()");
	check("_Z1fILN1a1bE3EEvv", "void f<(a::b)3>()");
	check("_Z1fIXadL_Z1gvEEEvv", "void f<&(g())>()");
	check("_Z1fIiENSt9enable_ifIXsr3std9is_signedIT_EE5valueEiE4typeES1_",
		"std::enable_if<std::is_signed<int>::value, int>::type f<int>(int)");
}

static void functions_in_expressions_are_shown_by_name(void **state)
{
	(void)state;
	check("_Z1kIXadL_ZN1a1fEiEEEvv", "void k<&a::f>()");
	check("_Z1kIXadL_ZN1a1fIiEEiT_EEEvv", "void k<&(int a::f<int>(int))>()");
	check("_Z1kIXadL_ZN1a1xEEEEvv", "void k<&a::x>()");
	check("_Z3fooILi3EEv1AIXgtT_Li1EEE", "void foo<3>(A<((3)>(1))>)");
	check("_Z3fooILi3EEvRAquT_Li1ELi2E_i", "void foo<3>(int (&) [(3)?(1) : (2)])");
	check("_Z1fIiEDTfp_ET_", "decltype ({parm#1}) f<int>(int)");
	check("_Z1fIiEvT_DTfp0_E", "void f<int>(int, decltype ({parm#2}))");
	check("_Z1kIiEvN9enable_ifIXaa9is_same_vIT_iEnt9is_same_vIS1_fEEvE4typeE",
		"void k<int>(enable_if<(is_same_v<int, int>)&&(!(is_same_v<int, float>)), "
		"void>::type)");
	check("_Z1kILd3ff8000000000000EEvv", "void k<(double)[3ff8000000000000]>()");
	check("_Z1kIXtl2OpLi1ELf40000000EEEEvv", "void k<Op{1, (float)[40000000]}>()");
	check("_ZZ1fiiEd_NKUlvE_clEv",
		"f(int, int)::{default arg#1}::{lambda()#1}::operator()() const");
	check("_ZZ1fiiEd0_NKUlvE_clEv",
		"f(int, int)::{default arg#2}::{lambda()#1}::operator()() const");
}

/* A substitution that is a template parameter is the one of the template that has it here. */
static void a_parameter_stands_for_its_own_template(void **state)
{
	(void)state;
	check("_ZN2ck4k13bIZ4hostvEUlT_E_EEvS1_",
		"void ck::k13b<host()::{lambda(auto:1)#1}>(host()::{lambda(auto:1)#1})");
	check("_Z1kI1wIXadL_Z1fIiEvT_EEEEvS2_",
		"void k<w<&(void f<int>(int))> >(w<&(void f<int>(int))>)");
	/* a name with the bytes that a parameter is shown by is no parameter */
	check("_Z1fI6auto:9Evv", "void f<auto:9>()");
	check("_Z1fI6auto:9EvS0_", "void f<auto:9>(auto:9)");
}

/* Names of clang 18 and later, which c++filt of binutils 2.40 cannot read, as llvm-cxxfilt reads them. */
static void declarations_of_parameters_are_passed_over(void **state)
{
	(void)state;
	check("_ZN2ck2k1IfTnNS_9enable_ifIX9is_same_vIT_fEEbE4typeELb0EEEvPS2_",
		"void ck::k1<float, false>(float*)");
	check("_ZN2ck2k4ITnDaXadL_ZNS_2idEiEEEEvPi", "void ck::k4<&ck::id>(int*)");
	check("_ZN2ck3k12ITpTnDaJLi1ELc99ELb1EEEEvPi", "void ck::k12<1, (char)99, true>(int*)");
	check("_ZN2ck2k8ITkSt8integraliEEvPT_", "void ck::k8<int>(int*)");
	check("_ZN2ck2k7IiQsr3stdE8integralIT_EEEvPS1_", "void ck::k7<int>(int*)");
	check("_ZN2ck2k9IiEEvPT_QeqstS1_Li4E", "void ck::k9<int>(int*)");
	check("_ZN2ck4k13bIZ4hostvEUlTyTniT_E_EEvS1_",
		"void ck::k13b<host()::{lambda(auto:1)#1}>(host()::{lambda(auto:1)#1})");
	check("_ZN12rocrand_impl6system6detail14kernel_wrapperITnDaXadL_ZNS_4host19init_xorwow_"
	      "enginesE4dim3S4_"
	      "PN14rocrand_device13xorwow_engineEyEENS3_33static_block_size_config_"
	      "providerILj256EEEJS7_yEEEvDpT1_",
		"void "
		"rocrand_impl::system::detail::kernel_wrapper<&rocrand_impl::host::init_xorwow_"
		"engines, "
		"rocrand_impl::host::static_block_size_config_provider<256u>, "
		"rocrand_device::xorwow_engine*, "
		"unsigned long long>(rocrand_device::xorwow_engine*, unsigned long long)");
	check("_ZN9rocsolver6v32802L11scalar_caseIfPKPfTnNSt9enable_ifIXnt18rocblas_is_complexIT_"
	      "EEiE4typeE"
	      "Li0EEEv14rocblas_evect_T0_lPS6_li",
		"void rocsolver::v32802::scalar_case<float, float* const*, 0>(rocblas_evect_, "
		"float* const*, "
		"long, float*, long, int)");
	check("_Z1kITtTyE1aEvv", "void k<a>()");
	check("_Z1kITnEvv", "_Z1kITnEvv");
}

static void a_hostile_name_costs_little_and_stays(void **state)
{
	(void)state;
	ARENA(a);
	BUF(twice, &a);
	BUF(deep, &a);
	BUF(pairs, &a);
	BUF(empty, &a);
	uint64_t work = 0;
	BUF(declared, &a);
	/* each parameter is a template of the one before, twice: the text would double 60 times */
	buf_add(&twice, S("_Z1f1a"));
	for (unsigned i = 0; i < 60; i++)
		buf_fmt(&twice, i ? "1bIS%c_S%c_E" : "1bIS_S_E",
			"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36],
			"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]);
	buf_add(&deep, S("_Z1f"));
	buf_add(&pairs, S("_Z1f"));
	buf_add(&declared, S("_Z1fI"));
	for (unsigned i = 0; i < 3900; i++)
		buf_add(&declared, S("Tt"));
	for (unsigned i = 0; i < 7000; i++)
		buf_add(&deep, S("P"));
	for (unsigned i = 0; i < 1500; i++)
		buf_add(&pairs, S("1aIJE"));
	buf_add(&deep, S("i"));
	/* each pack is the one before, twice; the first is empty, and so is the text */
	buf_add(&empty, S("_Z1fIJEJT_T_E"));
	for (unsigned i = 0; i < 60; i++)
		buf_fmt(&empty, "JT%u_T%u_E", i, i);
	buf_add(&empty, S("Evv"));
	struct str all[] = {buf_str(&twice), buf_str(&deep), buf_str(&pairs), buf_str(&empty),
		S("_Z1fIJEEvDpDpDpDpT_"), S("_Z99999999999999999999x"), S("_ZZZZZZZZZZZZ"),
		buf_str(&declared), S("_ZNSt"), S("_Z1fIXX"), S("_ZSt"), S("_ZS_"), S("_ZC1"),
		S("_ZN1aIS_EC")};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct str got = cxx_demangle(&a, all[i], &work);
		assert_true(got.n <= DEMANGLED_MAX);
		for (size_t n = 0; n < all[i].n && n < 200; n++)
			(void)cxx_demangle(&a, str_dup(&a, str_sub(all[i], 0, n)), &work);
	}
	assert_true(cxx_demangle(&a, all[1], &work).p == all[1].p);
	work = 0; /* what it took is told, though nothing comes of it */
	assert_true(cxx_demangle(&a, all[3], &work).p == all[3].p);
	assert_in_range(work, 100000, 130000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_are_not_mangled_stay),
		cmocka_unit_test(functions_have_parameters_and_templates_a_result),
		cmocka_unit_test(declarators_are_written_from_the_inside),
		cmocka_unit_test(packs_are_spread_and_empty_ones_vanish),
		cmocka_unit_test(lambdas_literals_and_expressions_are_read),
		cmocka_unit_test(functions_in_expressions_are_shown_by_name),
		cmocka_unit_test(a_parameter_stands_for_its_own_template),
		cmocka_unit_test(declarations_of_parameters_are_passed_over),
		cmocka_unit_test(a_hostile_name_costs_little_and_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
