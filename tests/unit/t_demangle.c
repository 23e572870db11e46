/* Mangled names of kernels as people write them, and what a stranger's name may not do. What is wanted here was written by
 * c++filt of binutils 2.40; tests/e2e/inspect_kernels.sh compares with it over whole libraries. */
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

static void a_hostile_name_costs_little_and_stays(void **state)
{
	(void)state;
	ARENA(a);
	BUF(twice, &a);
	BUF(deep, &a);
	BUF(pairs, &a);
	BUF(empty, &a);
	uint64_t work = 0;
	/* each parameter is a template of the one before, twice: the text would double 60 times */
	buf_add(&twice, S("_Z1f1a"));
	for (unsigned i = 0; i < 60; i++)
		buf_fmt(&twice, i ? "1bIS%c_S%c_E" : "1bIS_S_E",
			"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36],
			"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]);
	buf_add(&deep, S("_Z1f"));
	buf_add(&pairs, S("_Z1f"));
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
		S("_ZNSt"), S("_Z1fIXX"), S("_ZSt"), S("_ZS_"), S("_ZC1"), S("_ZN1aIS_EC")};
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
		cmocka_unit_test(a_hostile_name_costs_little_and_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
