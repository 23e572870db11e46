/* hipify/torch/source: where a torch is found, what it is, and what is said when it is none. */
#include "test.h"

#include "formats/zip.h"
#include "hipify/torch/model/source.h"

static const char algorithm[] = "\"\"\"Doc.\"\"\"\nimport os  # why\n\ndef f(x):\n    'doc'\n"
				"    return x\n";

static void put_in(struct arena *a, struct str root, const char *rel, const char *text)
{
	struct str path = path_join(a, root, str_from(rel));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static void put_torch(struct arena *a, struct str root)
{
	put_in(a, root, "torch/utils/hipify/hipify_python.py", algorithm);
	put_in(a, root, "torch/utils/hipify/cuda_to_hip_mappings.py", "A = {}\n");
	put_in(a, root, "torch/utils/hipify/version.py", "__version__ = '2.0.0'\n");
	put_in(a, root, "torch/version.py", "__version__ = '2.13.0+rocm'\nhip = '6.4'\n");
}

static struct torch_source opened(struct arena *a, struct str path)
{
	struct torch_source s;
	assert_ok(torch_open(a, path, &s));
	return s;
}

static void packages_are_found_from_several_folders(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct str site = path_join(&a, dir, S("venv/lib/python3.12/site-packages"));
	assert_ok(fs_mkdirs(path_join(&a, dir, S("venv/lib/python3.9/site-packages"))));
	assert_ok(fs_mkdirs(path_join(&a, dir, S("venv/lib/other"))));
	put_torch(&a, site);
	const struct str paths[] = {site, path_join(&a, site, S("torch")),
		path_join(&a, site, S("torch/")), path_join(&a, dir, S("venv"))};
	for (size_t i = 0; i < 4; i++) {
		struct torch_source s = opened(&a, paths[i]);
		assert_str(s.version, "2.13.0+rocm");
		assert_int_equal(s.generation, TORCH_V2);
		assert_false(s.known);
		assert_null(s.build_amd.text.p);
		assert_null(s.constants.text.p);
		assert_true(str_ends(s.mappings.path, S("hipify/cuda_to_hip_mappings.py")));
	}
	test_dir_remove(dir);
}

static void a_checkout_has_build_amd_and_a_version_text(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	put_torch(&a, dir);
	put_in(&a, dir, "tools/amd_build/build_amd.py", "includes = []\n");
	put_in(&a, dir, "version.txt", "2.12.0a0\n");
	struct torch_source s = opened(&a, dir);
	assert_str(s.version, "2.12.0a0");
	assert_str(s.build_amd.text, "includes = []\n");
	test_dir_remove(dir);
}

static void comments_docs_and_layout_do_not_count(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool same;
	} cases[] = {
		{"import os\ndef f(x):\n    return x\n", true},
		{"# c\r\nimport os\r\n\r\ndef f ( x ) :   # d\r\n    'other' \\\r\n 'doc'\r\n    "
		 "return x",
			true},
		{"import os\ndef f(x):\n    return y\n", false},
		{"import os\ndef f(x):\n  return x\n", false},
		{"import os\ndef f(x):\n    pass\nreturn x\n", false},
		{"import os\ndef f(x): return x\n", false},
	};
	ARENA(a);
	struct str dir = test_dir(&a);
	put_torch(&a, dir);
	struct torch_source first = opened(&a, dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_in(&a, dir, "torch/utils/hipify/hipify_python.py", cases[i].text);
		struct torch_source s = opened(&a, dir);
		assert_int_equal(str_eq(s.fingerprint, first.fingerprint), cases[i].same);
		assert_false(str_eq(s.identity, first.identity));
	}
	test_dir_remove(dir);
}

static void the_identity_is_that_of_all_texts(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	put_torch(&a, dir);
	struct torch_source s = opened(&a, dir);
	assert_str(opened(&a, dir).identity, s.identity.p);
	assert_int_equal(s.identity.n, 64);
	put_in(&a, dir, "torch/utils/hipify/cuda_to_hip_mappings.py", "A = getenv('IS_FBCODE')\n");
	struct torch_source other = opened(&a, dir);
	assert_false(str_eq(other.identity, s.identity));
	setenv("IS_FBCODE", "1", 1);
	assert_false(str_eq(opened(&a, dir).identity, other.identity));
	unsetenv("IS_FBCODE");
	put_in(&a, dir, "tools/amd_build/build_amd.py", "x = getenv('FBCODE_BUILD_TOOL')\n");
	other = opened(&a, dir);
	setenv("FBCODE_BUILD_TOOL", "buck", 1);
	assert_false(str_eq(opened(&a, dir).identity, other.identity));
	unsetenv("FBCODE_BUILD_TOOL");
	test_dir_remove(dir);
}

static void an_unknown_algorithm_is_told_by_its_version(void **state)
{
	(void)state;
	static const struct {
		const char *version, *text;
		enum torch_generation want;
		bool fbgemm;
	} cases[] = {
		{"__version__ = '1.0.0'\n", "x = 1\n", TORCH_V1, false},
		{"__version__ = '1.0.0'\n", "x = \"third_party/fbgemm/\"\n", TORCH_V1, true},
		{"__version__ = '2.1.0'\n", "x = \"third_party/fbgemm/\"\n", TORCH_V2, false},
		{"y = 1\n", "from x import CAFFE2_PATH_MAPPINGS\n", TORCH_V2, false},
		{"y = 1\n", "x = 1\n", TORCH_V1, false},
		{"y = (\n", "x = ((\n", TORCH_V1, false},
	};
	ARENA(a);
	struct str dir = test_dir(&a);
	put_torch(&a, dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_in(&a, dir, "torch/utils/hipify/version.py", cases[i].version);
		put_in(&a, dir, "torch/utils/hipify/hipify_python.py", cases[i].text);
		struct torch_source s = opened(&a, dir);
		assert_int_equal(s.generation, cases[i].want);
		assert_int_equal(s.fbgemm, cases[i].fbgemm);
		assert_false(s.known);
	}
	test_dir_remove(dir);
}

static void make_wheel(struct arena *a, struct str path, const char *prefix, bool version)
{
	struct zip_input in[] = {
		{.name = str_fmt(a, "%storch/utils/hipify/hipify_python.py", prefix),
			.content = str_from(algorithm)},
		{.name = str_fmt(a, "%storch/utils/hipify/cuda_to_hip_mappings.py", prefix),
			.content = S("A = {}\n")},
		{.name = str_fmt(a, "%storch/utils/hipify/constants.py", prefix), .content = S("")},
		{.name = str_fmt(a, "%storch/version.py", prefix),
			.content = S("__version__ = '2.9.9'\n")},
	};
	for (size_t i = 0; i < 4; i++)
		in[i].mode = 0644;
	struct zip_writer w = {.path = path, .v = in, .n = version ? 4 : 3, .jobs = 1};
	struct zip_output out[4];
	assert_ok(zip_write(a, &w, out));
}

static void wheels_are_read_in_place(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct str path = path_join(&a, dir, S("torch-2.8.8-cp312-none-any.whl"));
	make_wheel(&a, path, "", true);
	struct torch_source s = opened(&a, path);
	assert_str(s.version, "2.9.9");
	assert_str(s.algorithm.text, algorithm);
	assert_non_null(s.constants.text.p);
	assert_true(
		str_ends(s.mappings.path, S(".whl:torch/utils/hipify/cuda_to_hip_mappings.py")));
	make_wheel(&a, path, "torch-2.8.8.data/purelib/", false);
	assert_str(opened(&a, path).version, "2.8.8");
	test_dir_remove(dir);
}

static void what_is_no_torch_is_said(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct torch_source s;
	assert_err(torch_open(&a, path_join(&a, dir, S("absent")), &s), E_NOENT);
	assert_err_says(torch_open(&a, dir, &s), E_TORCH, "torch/utils/hipify/hipify_python.py");
	put_in(&a, dir, "x.whl", "no zip");
	assert_err(torch_open(&a, path_join(&a, dir, S("x.whl")), &s), E_ZIP);
	put_in(&a, dir, "torch/utils/hipify/hipify_python.py", algorithm);
	assert_err_says(torch_open(&a, dir, &s), E_TORCH, "cuda_to_hip_mappings.py");
	struct zip_input in = {.name = S("other/x.py"), .content = S("x"), .mode = 0644};
	struct zip_writer w = {.path = path_join(&a, dir, S("y.whl")), .v = &in, .n = 1, .jobs = 1};
	struct zip_output out;
	assert_ok(zip_write(&a, &w, &out));
	assert_err_says(torch_open(&a, w.path, &s), E_TORCH, "has no hipify");
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_are_found_from_several_folders),
		cmocka_unit_test(a_checkout_has_build_amd_and_a_version_text),
		cmocka_unit_test(comments_docs_and_layout_do_not_count),
		cmocka_unit_test(the_identity_is_that_of_all_texts),
		cmocka_unit_test(an_unknown_algorithm_is_told_by_its_version),
		cmocka_unit_test(wheels_are_read_in_place),
		cmocka_unit_test(what_is_no_torch_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
