/* hipify/torch/tables: small tables of both generations; the real ones are compared with the
 * original Python by oracle/torch_tables.py. */
#include "test.h"

#include "base/buf.h"
#include "hipify/torch/model/tables.h"

static const char constants[] = "CONV_VERSION = 0,\nCONV_TYPE = 33\nAPI_RUNTIME = 38\n"
				"API_SPECIAL = 40\nAPI_PYTORCH = 1337\nAPI_CAFFE2 = 1338\n";

static struct torch_source source(enum torch_generation g, const char *mappings)
{
	return (struct torch_source){
		.generation = g,
		.mappings = {.path = S("maps.py"), .text = str_from(mappings)},
		.constants = {.path = S("constants.py"), .text = str_from(constants)},
	};
}

static void assert_map(const struct torch_map *m, const char *const (*want)[2], size_t n)
{
	assert_int_equal(m->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_str(m->v[i].from, want[i][0]);
		assert_str(m->v[i].to, want[i][1]);
	}
}

/* Every rule of v1 once: order of first pairs, last values, special beside and instead. */
static void v1_makes_three_maps(void **state)
{
	(void)state;
	static const char text[] =
		"from .constants import *\n"
		"MATH_TRANSPILATIONS = collections.OrderedDict([('std::max', ('::max'))])\n"
		"A = collections.OrderedDict([\n"
		"    ('one', ('hipOne', CONV_TYPE, API_RUNTIME)),\n"
		"    ('two', ('hipTwo', CONV_VERSION, API_RUNTIME)),\n"
		"    ('one', ('hipUno', CONV_TYPE, API_RUNTIME)),\n"
		"])\n"
		"B = collections.OrderedDict([\n"
		"    ('two', ('specialTwo', CONV_TYPE, API_SPECIAL)),\n"
		"    ('three', ('specialThree', CONV_TYPE, API_SPECIAL)),\n"
		"    ('four', ('torchFour', CONV_TYPE, API_PYTORCH)),\n"
		"    ('one', ('caffeOne', CONV_TYPE, API_CAFFE2)),\n"
		"])\n"
		"CUDA_TO_HIP_MAPPINGS = [A, B]\n";
	static const char *const names[][2] = {{"one", "hipUno"}, {"two", "hipTwo"},
		{"three", "specialThree"}, {"four", "torchFour"}};
	static const char *const special[][2] = {{"two", "specialTwo"}};
	static const char *const caffe2[][2] = {{"one", "caffeOne"}, {"two", "hipTwo"}};
	static const char *const math[][2] = {{"std::max", "::max"}};
	ARENA(a);
	struct torch_source s = source(TORCH_V1, text);
	struct torch_tables t;
	assert_ok(torch_tables_read(&a, &s, &t));
	assert_map(&t.names, names, 4);
	assert_map(&t.special, special, 1);
	assert_map(&t.caffe2, caffe2, 2);
	assert_map(&t.math, math, 1);
	assert_int_equal(t.paths.n, 0);
	assert_int_equal(t.names.v[0].line, 6);
	assert_str(t.names.v[0].table, "A");
	assert_str(t.names.v[0].file, "maps.py");
	assert_int_equal(t.caffe2.v[0].line, 12);
}

static void v2_makes_one_map(void **state)
{
	(void)state;
	static const char text[] =
		"_FLAG = os.environ.get('RS_TABLES', '0') == '1'\n_HEADER = 'a.h' if _FLAG else "
		"'b.h'\n"
		"MATH_TRANSPILATIONS = OrderedDict([])\n"
		"A = OrderedDict([('one', 'hipOne'), ('head', _HEADER)])\n"
		"CAFFE2_PATH_MAPPINGS = OrderedDict([('x/y.h', 'x/hip/y.h')])\n"
		"B = {'one': 'hipUno', 'two': 'hip' 'Two'}\n"
		"CUDA_TO_HIP_MAPPINGS = [\n    A,  # first\n    B,\n    CAFFE2_PATH_MAPPINGS\n]\n";
	static const char *const names[][2] = {
		{"one", "hipUno"}, {"head", "b.h"}, {"two", "hipTwo"}, {"x/y.h", "x/hip/y.h"}};
	ARENA(a);
	struct torch_source s = source(TORCH_V2, text);
	struct torch_tables t;
	assert_ok(torch_tables_read(&a, &s, &t));
	assert_map(&t.names, names, 4);
	assert_map(&t.paths, &names[3], 1);
	assert_int_equal(t.math.n, 0);
	assert_str(t.names.v[0].table, "B");
	setenv("RS_TABLES", "1", 1);
	assert_ok(torch_tables_read(&a, &s, &t));
	assert_str(t.names.v[1].to, "a.h");
	unsetenv("RS_TABLES");
}

#define MATH "MATH_TRANSPILATIONS = OrderedDict([])\n"
#define LIST "CUDA_TO_HIP_MAPPINGS = [A]\n"

static void what_cannot_be_known_is_refused(void **state)
{
	(void)state;
	static const struct {
		enum torch_generation g;
		const char *text, *says;
		unsigned line, col;
	} cases[] = {
		{TORCH_V2, MATH, "no CUDA_TO_HIP_MAPPINGS", 1, 1},
		{TORCH_V2, MATH "A = {}\nCUDA_TO_HIP_MAPPINGS = [A] + B\n", "plain list", 3, 28},
		{TORCH_V2, MATH "A = {}\nCUDA_TO_HIP_MAPPINGS = [{}]\n", "plain list", 3, 25},
		{TORCH_V2, MATH LIST, "'A' is no table but a name", 2, 25},
		{TORCH_V2, MATH "A = [('a', 'b')]\n" LIST, "'A' is no table but a list", 3, 25},
		{TORCH_V2, "A = {}\n" LIST, "no table 'MATH_TRANSPILATIONS'", 1, 1},
		{TORCH_V2, MATH "A = {'a': f()}\n" LIST, "'f()' is not known", 2, 11},
		{TORCH_V2, MATH "A = {'a': B}\n" LIST, "'B', whose value is not known", 2, 11},
		{TORCH_V2, MATH "A = {'a': ('b', 1)}\n" LIST, "not a string but a tuple", 2, 11},
		{TORCH_V2, MATH "A = {1: 'b'}\n" LIST, "the key is not a string", 2, 6},
		{TORCH_V2, MATH "A = {'': 'b'}\n" LIST, "the key is empty", 2, 6},
		{TORCH_V2, MATH "A = {}\nA.update(b)\n" LIST, "may change the table 'A'", 3, 1},
		{TORCH_V2, MATH "A = {}\nA['x'] = 'y'\n" LIST, "may change the table 'A'", 3, 1},
		{TORCH_V2, MATH "A = {}\nif b:\n  del A['x']\n" LIST, "may change", 4, 7},
		{TORCH_V2, MATH "A = {}\nif b:\n  A = {}\n" LIST, "is not certain", 4, 3},
		{TORCH_V1, MATH "A = {'a': 'b'}\n" LIST, "a tuple of text and kinds", 2, 11},
		{TORCH_V1, MATH "A = {'a': ('b', API_NEW)}\n" LIST, "not in constants.py", 2, 17},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct torch_source s = source(cases[i].g, cases[i].text);
		struct torch_tables t;
		struct err *e = torch_tables_read(&a, &s, &t);
		assert_non_null(e);
		if (e->line != cases[i].line || e->col != cases[i].col)
			print_error("%zu: %u:%u\n", i, e->line, e->col);
		assert_int_equal(e->line, cases[i].line);
		assert_int_equal(e->col, cases[i].col);
		assert_non_null(e->hints);
		assert_err_says(e, E_TORCH, cases[i].says);
	}
}

static void a_table_may_not_be_listed_without_end(void **state)
{
	(void)state;
	ARENA(a);
	BUF(text, &a);
	struct torch_tables t;
	buf_add(&text, S(MATH "A = {'a': 'b'}\nCUDA_TO_HIP_MAPPINGS = ["));
	for (int i = 0; i < 65; i++)
		buf_add(&text, S("A, "));
	buf_add(&text, S("]\n"));
	struct torch_source s = source(TORCH_V2, buf_str(&text).p);
	assert_err_says(torch_tables_read(&a, &s, &t), E_TORCH, "plain list");
}

static void functions_may_mention_tables(void **state)
{
	(void)state;
	ARENA(a);
	struct torch_tables t;
	struct torch_source s = source(TORCH_V2,
		MATH "A = {'a': 'b'}\n" LIST "def f():\n    A.clear()\n__all__ = ['A']\n");
	assert_ok(torch_tables_read(&a, &s, &t));
	assert_int_equal(t.names.n, 1);
}

static void constants_must_be_there(void **state)
{
	(void)state;
	ARENA(a);
	struct torch_tables t;
	struct torch_source s = source(TORCH_V1, MATH "A = {}\n" LIST);
	s.constants.text = (struct str){0};
	assert_err_says(torch_tables_read(&a, &s, &t), E_TORCH, "there is no 'constants.py'");
	s.constants.text = S("API_PYTORCH = 1\nAPI_CAFFE2 = 2\n");
	assert_err_says(torch_tables_read(&a, &s, &t), E_TORCH, "API_SPECIAL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v1_makes_three_maps),
		cmocka_unit_test(v2_makes_one_map),
		cmocka_unit_test(what_cannot_be_known_is_refused),
		cmocka_unit_test(a_table_may_not_be_listed_without_end),
		cmocka_unit_test(functions_may_mention_tables),
		cmocka_unit_test(constants_must_be_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
