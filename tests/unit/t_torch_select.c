/* Which files are taken, in which order, and how results are called. The same is compared with the
 * original itself in e2e; here each rule stands alone. */

#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "changes/manifest.h"
#include "changes/view.h"
#include "hipify/torch/run/select.h"

#define KIT_MORE                                                                                   \
	struct manifest ours;                                                                      \
	struct view view;                                                                          \
	struct torch_selection s;
#include "unit/kit.h"

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	f->ours = (struct manifest){.a = &f->a, .by_output = {.a = &f->a}};
	*VEC_PUSH(&f->a, &f->ours.made) = (struct made){.output = S("a.ours")};
	map_put(&f->ours.by_output, f->ours.made.v->output, f->ours.made.v);
	view_open(&f->view, f->dir, &f->ours);
	f->s = (struct torch_selection){.root = f->dir, .extension = true, .generation = TORCH_V1};
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	view_close(&f->view);
	return teardown(state);
}

static bool was_read(struct fixture *f, const char *dir)
{
	struct manifest all = {0};
	view_noted(&f->view, &f->a, &all);
	VEC_EACH (const struct seen, s, &all.seen)
		if (s->kind == SEEN_DIR && str_eq(s->path, str_from(dir)))
			return true;
	return false;
}

static void put_any(struct fixture *f, const char *rel)
{
	put(f, rel, "x\n");
}

static void include(struct fixture *f, const char *pattern)
{
	strs_add(&f->a, &f->s.includes, at(f, pattern));
}

/* The files taken, relative, sorted, with spaces between. */
static struct str taken(struct fixture *f)
{
	struct strs list = {0};
	torch_select_open(&f->a, &f->s);
	assert_ok(torch_select(&f->a, &f->s, &f->view, &list));
	for (size_t i = 0; i < list.n; i++)
		list.v[i] = str_sub(list.v[i], f->dir.n + 1, list.v[i].n);
	strs_sort(&list);
	return str_join(&f->a, &list, S(" "));
}

static void some_folders_are_left_out_at_the_top_only(void **state)
{
	struct fixture *f = *state;
	const char *files[] = {".git/a.h", "build/a.h", "third_party/a.h",
		"third_party/nvfuser/a.h", "x/.git/a.h", "x/build/a.h", "x/third_party/a.h", "a.h",
		".rocsmith/a.h", "x/.rocsmith/a.h", "a.ours", "b.txt"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put_any(f, files[i]);
	include(f, "*");
	assert_str(
		taken(f), "a.h third_party/nvfuser/a.h x/.git/a.h x/build/a.h x/third_party/a.h");
}

static void what_earlier_runs_made_is_not_taken(void **state)
{
	struct fixture *f = *state;
	put_any(f, "a.h");
	put_any(f, "a.ours");
	put_any(f, "overlay/a.h");
	include(f, "*");
	struct str endings[] = {S(".h"), S(".ours")};
	f->s.extensions = (struct strs){.v = endings, .n = 2};
	strs_add(&f->a, &f->view.hidden, at(f, "overlay"));
	assert_str(taken(f), "a.h");
}

static void a_file_named_literally_needs_no_extension(void **state)
{
	struct fixture *f = *state;
	put_any(f, "c10/CMakeLists.txt");
	put_any(f, "c10/x/CMakeLists.txt");
	put_any(f, "c10/a.cuh");
	include(f, "c10/*");
	include(f, "c10/CMakeLists.txt");
	assert_str(taken(f), "c10/CMakeLists.txt c10/a.cuh");
}

static void ignored_files_are_left_out(void **state)
{
	struct fixture *f = *state;
	put_any(f, "a/hip/x.h");
	put_any(f, "a/x.h");
	put_any(f, "b/x.h");
	include(f, "*");
	strs_add(&f->a, &f->s.ignores, at(f, "*/hip/*"));
	strs_add(&f->a, &f->s.ignores, at(f, "b/*"));
	assert_str(taken(f), "a/x.h");
	assert_false(was_read(f, "b"));
	assert_true(was_read(f, "a/hip"));
}

static void folders_without_a_chance_are_not_read(void **state)
{
	struct fixture *f = *state;
	put_any(f, "docs/x.h");
	put_any(f, "aten/src/x.h");
	include(f, "aten/src/*");
	assert_str(taken(f), "aten/src/x.h");
	assert_true(was_read(f, "."));
	assert_true(was_read(f, "aten/src"));
	assert_false(was_read(f, "docs"));
}

static void links_to_files_are_taken_and_links_to_folders_are_not_followed(void **state)
{
	struct fixture *f = *state;
	put_any(f, "a/x.h");
	assert_ok(fs_symlink(S("."), at(f, "a/loop")));
	assert_ok(fs_symlink(S("x.h"), at(f, "a/y.h")));
	assert_ok(fs_symlink(S("a"), at(f, "b.h")));
	assert_ok(fs_symlink(S("nowhere"), at(f, "c.h")));
	include(f, "*");
	assert_str(taken(f), "a/x.h a/y.h c.h");
}

static void a_folder_that_cannot_be_read_is_passed_over(void **state)
{
	struct fixture *f = *state;
	bool root = geteuid() == 0;
	put_any(f, "a/x.h");
	put_any(f, "b/x.h");
	include(f, "*");
	assert_int_equal(chmod(at(f, "a").p, 0), 0);
	assert_int_equal(chmod(f->dir.p, 0755), 0);
	if (root) /* to whom nothing is forbidden */
		assert_int_equal(seteuid(65534), 0);
	struct str got = taken(f);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(at(f, "a").p, 0755), 0);
	assert_str(got, "b/x.h");
}

static void in_a_tree_of_generation_1_only_some_places_count(void **state)
{
	struct fixture *f = *state;
	const char *files[] = {"aten/a.h", "aten/src/ATen/core/a.h", "torch/a.h", "caffe2/a.h",
		"caffe2/a_gpu.h", "caffe2/a.cu", "caffe2/cudnn.cu", "c10/cuda/a.h", "top.cu",
		"third_party/fbgemm/x.h", "tools/autograd/templates/a.cpp"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put_any(f, files[i]);
	include(f, "*");
	f->s.extension = false;
	assert_str(taken(f), "aten/a.h c10/cuda/a.h caffe2/a.cu caffe2/a_gpu.h "
			     "tools/autograd/templates/a.cpp top.cu torch/a.h");
	f->s.out_of_place_only = true;
	assert_str(taken(f), "aten/a.h c10/cuda/a.h caffe2/a.cu caffe2/a_gpu.h top.cu");
	f->s.generation = TORCH_V2;
	assert_str(taken(f), "aten/a.h aten/src/ATen/core/a.h c10/cuda/a.h caffe2/a.cu caffe2/a.h "
			     "caffe2/a_gpu.h caffe2/cudnn.cu tools/autograd/templates/a.cpp "
			     "top.cu torch/a.h");
}

static void headers_of_an_include_folder_keep_the_spelling_of_its_path(void **state)
{
	struct fixture *f = *state;
	put_any(f, "a/build/x.h");
	put_any(f, "a/x.cpp");
	put_any(f, "b/y.h");
	include(f, "*");
	torch_select_open(&f->a, &f->s);
	f->s.root = at(f, "b/../a");
	f->s.headers = torch_header_extensions;
	struct strs list = {0};
	assert_ok(torch_select(&f->a, &f->s, &f->view, &list));
	assert_int_equal(list.n, 1);
	assert_str(list.v[0], at(f, "b/../a/build/x.h").p);
	f->s.root = at(f, "none");
	assert_ok(torch_select(&f->a, &f->s, &f->view, &list));
	assert_int_equal(list.n, 1);
}

static void a_deep_tree_is_walked(void **state)
{
	struct fixture *f = *state;
	struct str dir = f->dir;
	for (int i = 0; i < 1500; i++)
		dir = str_fmt(&f->a, "%.*s/d", STR(dir));
	dir = str_fmt(&f->a, "%.*s/x", STR(dir));
	assert_ok(fs_mkdirs(dir));
	test_put(path_join(&f->a, dir, S("a.h")), "");
	include(f, "*");
	assert_true(str_ends(taken(f), S("/d/x/a.h")));
}

static void names_of_results(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *rel, *plain, *extension;
	} names[] = {
		{"aten/src/ATen/cuda/CUDABlas.cpp", "aten/src/ATen/hip/HIPBlas.cpp",
			"aten/src/ATen/hip/HIPBlas.cpp"},
		{"aten/src/ATen/native/cudnn/RNN.cpp", "aten/src/ATen/native/cudnn/hip/RNN.cpp",
			"aten/src/ATen/native/cudnn/RNN_hip.cpp"},
		{"torch/csrc/cuda/x.cpp", "torch/csrc/cuda/x.cpp", "torch/csrc/hip/x.cpp"},
		{"csrc/a.cu", "csrc/hip/a.hip", "csrc/a.hip"},
		{"csrc/a.cuh", "csrc/hip/a.cuh", "csrc/a_hip.cuh"},
		{"a.h", "hip/a.h", "a_hip.h"},
		{"barracuda/a.h", "barrahip/a.h", "barrahip/a.h"},
		{"x/THCThing.h", "x/hip/THHThing.h", "x/THHThing.h"},
		{"caffe2/core/THCCachingAllocator.h", "caffe2/core/hip/THCCachingAllocator.h",
			"caffe2/core/THCCachingAllocator_hip.h"},
		{"x/.cu", "x/hip/.cu", "x/.cu_hip"},
		{"x/a.cu.h", "x/hip/a.cu.h", "x/a.cu_hip.h"},
		{"../x/a.cpp", "../x/hip/a.cpp", "../x/a_hip.cpp"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct str rel = str_from(names[i].rel);
		assert_str(torch_output_name(&a, rel, false), names[i].plain);
		assert_str(torch_output_name(&a, rel, true), names[i].extension);
	}
}

static void special_files_are_those_of_sparse_and_linalg(void **state)
{
	(void)state;
	assert_true(torch_special_file(S("aten/src/ATen/native/sparse/cuda/x.cu"), false));
	assert_true(torch_special_file(S("torch/csrc/LinAlg.cpp"), false));
	assert_true(torch_special_file(S("torch/LINALG/\xe2\x84\xaa.h"), false));
	assert_false(torch_special_file(
		S("aten/src/ATen/native/cuda/linalg/BatchLinearAlgebralibBLAS.cpp"), false));
	assert_false(torch_special_file(S("caffe2/sparse.cu"), false));
	assert_false(torch_special_file(S("third_party/fbgemm/sparse.cu"), false));
	assert_true(torch_special_file(S("third_party/fbgemm/sparse.cu"), true));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(some_folders_are_left_out_at_the_top_only),
		TEST(what_earlier_runs_made_is_not_taken),
		TEST(a_file_named_literally_needs_no_extension),
		TEST(ignored_files_are_left_out),
		TEST(folders_without_a_chance_are_not_read),
		TEST(links_to_files_are_taken_and_links_to_folders_are_not_followed),
		TEST(a_folder_that_cannot_be_read_is_passed_over),
		TEST(in_a_tree_of_generation_1_only_some_places_count),
		TEST(headers_of_an_include_folder_keep_the_spelling_of_its_path),
		TEST(a_deep_tree_is_walked),
		TEST(names_of_results),
		TEST(special_files_are_those_of_sparse_and_linalg),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
