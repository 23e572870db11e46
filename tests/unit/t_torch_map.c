/* hipify/torch/model/tables: a user's own pairs. */
#include "test.h"

#include "hipify/torch/model/tables.h"

static const char v1_constants[] = "CONV_TYPE = 33\nAPI_RUNTIME = 38\nAPI_SPECIAL = "
				   "40\nAPI_PYTORCH = 1337\nAPI_CAFFE2 = 1338\n";

static struct torch_source source(enum torch_generation g, const char *mappings)
{
	return (struct torch_source){
		.generation = g,
		.mappings = {.path = S("maps.py"), .text = str_from(mappings)},
		.constants = {.path = S("constants.py"), .text = str_from(v1_constants)},
	};
}

static const struct torch_entry *entry(const struct torch_map *m, const char *key)
{
	VEC_EACH (const struct torch_entry, e, m)
		if (str_eq(e->from, str_from(key)))
			return e;
	return NULL;
}

static void a_users_pairs_win_over_every_map(void **state)
{
	(void)state;
	static const char v1[] = "MATH_TRANSPILATIONS = {}\n"
				 "A = {'cudaOne': ('hipOne', CONV_TYPE, API_RUNTIME)}\n"
				 "B = {'cudaOne': ('specialOne', CONV_TYPE, API_SPECIAL)}\n"
				 "CUDA_TO_HIP_MAPPINGS = [A, B]\n";
	static const struct {
		const char *path, *text;
		unsigned line;
	} forms[] = {
		{"m.json",
			"{\"custom_map\": {\n \"cudaOne\": \"myOne\",\n \"cudaNew\": \"myNew\"}}\n",
			3},
		{"m.yaml", "custom_map:\n  # why\n  cudaOne: myOne\n  cudaNew: myNew\n", 4},
	};
	for (size_t i = 0; i < 2; i++) {
		ARENA(a);
		struct torch_tables t;
		struct torch_source s = source(TORCH_V1, v1);
		assert_ok(torch_tables_read(&a, &s, &t));
		assert_ok(
			torch_tables_add(&a, str_from(forms[i].path), str_from(forms[i].text), &t));
		const struct torch_map *maps[] = {&t.names, &t.special, &t.caffe2};
		for (size_t m = 0; m < 3; m++) {
			assert_str(entry(maps[m], "cudaOne")->to, "myOne");
			assert_str(entry(maps[m], "cudaOne")->table, "custom");
		}
		assert_str(entry(&t.names, "cudaNew")->to, "myNew");
		assert_str(entry(&t.names, "cudaNew")->file, forms[i].path);
		assert_int_equal(entry(&t.names, "cudaNew")->line, forms[i].line);
		assert_non_null(entry(&t.caffe2, "cudaNew"));
		assert_null(entry(&t.special, "cudaNew"));
		assert_int_equal(t.names.n, 2);
	}
}

static void wrong_maps_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *path, *text, *says;
		enum errcode code;
	} cases[] = {
		{"m.json", "{", "", E_SYNTAX},
		{"m.json", "{}", "no map 'custom_map'", E_TORCH},
		{"m.json", "[]", "no map 'custom_map'", E_TORCH},
		{"m.yaml", "", "no map 'custom_map'", E_TORCH},
		{"m.yaml", "custom_map: [a]\n", "no map 'custom_map'", E_TORCH},
		{"m.json", "{\"custom_map\": {\"a\": 1}}", "translation of 'a' is not", E_TORCH},
		{"m.json", "{\"custom_map\": {\"\": \"a\"}}", "an empty name", E_TORCH},
		{"m.json", "{\"custom_map\": {\"a\": \"b\", \"a\": \"c\"}}", "", E_SYNTAX},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct torch_tables t = {.generation = TORCH_V2};
		assert_err_says(
			torch_tables_add(&a, str_from(cases[i].path), str_from(cases[i].text), &t),
			cases[i].code, cases[i].says);
	}
}

static void lines_are_not_told_behind_an_escaped_key(void **state)
{
	(void)state;
	ARENA(a);
	struct torch_tables t = {.generation = TORCH_V2};
	assert_ok(torch_tables_add(&a, S("m.json"),
		S("{\"custom_map\": {\n\"a\": \"b\",\n\"\\u0062\": \"c\",\n\"d\": \"e\"}}"), &t));
	assert_int_equal(entry(&t.names, "a")->line, 2);
	assert_int_equal(entry(&t.names, "b")->line, 0);
	assert_int_equal(entry(&t.names, "d")->line, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_users_pairs_win_over_every_map),
		cmocka_unit_test(wrong_maps_are_refused),
		cmocka_unit_test(lines_are_not_told_behind_an_escaped_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
