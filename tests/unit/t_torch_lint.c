/* hipify/torch/lint and custom: faults of small tables, and a user's own pairs. */
#include "test.h"

#include "base/buf.h"
#include "hipify/torch/model/tables.h"

static const char v1_constants[] = "CONV_TYPE = 33\nAPI_RUNTIME = 38\nAPI_SPECIAL = "
				   "40\nAPI_PYTORCH = 1337\nAPI_CAFFE2 = 1338\n";

static const char v2[] = "MATH_TRANSPILATIONS = OrderedDict([('std::max', ('::max'))])\n"
			 "A = OrderedDict([\n"
			 "  ('cudaOne', 'hipOne'),\n"
			 "  ('cudaTwo', 'hipTwo'),\n"
			 "  ('cudaOne', 'hipUno'),\n"
			 "  ('cudaTwo', 'hipTwo'),\n"
			 "  ('same', 'same'),\n"
			 "  ('types.h', 'hip/types.h'),\n"
			 "  ('cub::', 'hipcub::'),\n"
			 "  ('never\\r', 'x'),\n"
			 "  ('hidden', 'first'),\n"
			 "])\n"
			 "B = {'hidden': 'second'}\n"
			 "CUDA_TO_HIP_MAPPINGS = [A, B]\n";

static struct torch_source source(enum torch_generation g, const char *mappings)
{
	return (struct torch_source){
		.generation = g,
		.mappings = {.path = S("maps.py"), .text = str_from(mappings)},
		.constants = {.path = S("constants.py"), .text = str_from(v1_constants)},
	};
}

static struct str report(struct arena *a, const struct findings *list)
{
	BUF(out, a);
	VEC_EACH (const struct finding, f, list)
		buf_fmt(&out, "%s %s %.*s: %.*s\n", f->id, severity_name(f->severity), STR(f->path),
			STR(f->message));
	return buf_str(&out);
}

static void each_fault_is_found(void **state)
{
	(void)state;
	ARENA(a);
	struct findings list = {0};
	struct torch_source s = source(TORCH_V2, v2);
	assert_ok(torch_tables_lint(&a, &s, &list));
	assert_str(report(&a, &list),
		"map-duplicate warning maps.py: line 3: A: 'cudaOne': is there again in line 5, as "
		"'hipUno'\n"
		"map-duplicate info maps.py: line 4: A: 'cudaTwo': is there again in line 6, "
		"equally\n"
		"map-hidden warning maps.py: line 11: A: 'hidden': 'first' is hidden by 'second' "
		"of "
		"B, line 13\n"
		"map-no-change info maps.py: line 7: A: 'same': stays as it is\n"
		"map-repeats warning maps.py: line 8: A: 'types.h': a second run makes "
		"'hip/hip/types.h' of its 'hip/types.h'\n"
		"map-edge info maps.py: line 9: A: 'cub::': ends in a mark, so it matches only in "
		"front of another mark or white space\n"
		"map-dead warning maps.py: line 10: A: 'never\r': can never match: texts are read "
		"with plain line ends\n");
}

static void path_mappings_that_mend_a_repetition_count(void **state)
{
	(void)state;
	ARENA(a);
	struct findings list = {0};
	struct torch_source s = source(TORCH_V2,
		"MATH_TRANSPILATIONS = {}\nA = {'types.h': 'hip/types.h'}\n"
		"CAFFE2_PATH_MAPPINGS = {'hip/hip/': 'hip/'}\nCUDA_TO_HIP_MAPPINGS = [A]\n");
	assert_ok(torch_tables_lint(&a, &s, &list));
	assert_int_equal(list.n, 0);
}

static void kinds_that_lead_nowhere_are_found(void **state)
{
	(void)state;
	ARENA(a);
	struct findings list = {0};
	struct torch_source s =
		source(TORCH_V1, "MATH_TRANSPILATIONS = {}\nA = {\n"
				 "  'lost': ('x', API_CAFFE2, API_PYTORCH),\n"
				 "  'cudaOne': ('hipOne', CONV_TYPE, API_RUNTIME),\n}\n"
				 "B = {'cudaOne': ('specialOne', CONV_TYPE, API_SPECIAL)}\n"
				 "CUDA_TO_HIP_MAPPINGS = [A, B]\n");
	assert_ok(torch_tables_lint(&a, &s, &list));
	assert_str(report(&a, &list),
		"map-dead warning maps.py: line 3: A: 'lost': its kinds put it into no map, it is "
		"never used\n");
}

static void tables_that_cannot_be_read_are_an_error(void **state)
{
	(void)state;
	ARENA(a);
	struct findings list = {0};
	struct torch_source s = source(TORCH_V2, "A = (\n");
	assert_err(torch_tables_lint(&a, &s, &list), E_TORCH);
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

static void a_users_map_is_compared_with_the_tables(void **state)
{
	(void)state;
	ARENA(a);
	struct findings list = {0};
	struct torch_tables t;
	struct torch_source s = source(TORCH_V2, v2);
	assert_ok(torch_tables_read(&a, &s, &t));
	size_t before = t.names.n;
	assert_ok(torch_map_lint(&a, S("m.yaml"),
		S("custom_map:\n  cudaTwo: hipTwo\n  hidden: shown\n  same: same\n  new: xnew "
		  "new\n"),
		&t, &list));
	assert_str(report(&a, &list),
		"map-duplicate info m.yaml: line 2: custom: 'cudaTwo': A says the same in line 6 "
		"of "
		"maps.py\n"
		"map-duplicate info m.yaml: line 4: custom: 'same': A says the same in line 7 of "
		"maps.py\n"
		"map-no-change info m.yaml: line 4: custom: 'same': stays as it is\n"
		"map-hides info m.yaml: line 3: custom: 'hidden': takes the place of 'second' of "
		"B, "
		"line 13 of maps.py\n"
		"map-repeats warning m.yaml: line 5: custom: 'new': a second run makes 'xnew xnew "
		"new' of its 'xnew new'\n");
	assert_int_equal(t.names.n, before);
	assert_str(entry(&t.names, "hidden")->to, "second");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_is_found),
		cmocka_unit_test(path_mappings_that_mend_a_repetition_count),
		cmocka_unit_test(kinds_that_lead_nowhere_are_found),
		cmocka_unit_test(tables_that_cannot_be_read_are_an_error),
		cmocka_unit_test(a_users_pairs_win_over_every_map),
		cmocka_unit_test(wrong_maps_are_refused),
		cmocka_unit_test(lines_are_not_told_behind_an_escaped_key),
		cmocka_unit_test(a_users_map_is_compared_with_the_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
