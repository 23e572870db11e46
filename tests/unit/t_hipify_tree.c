/* Folders: what is translated, where to, what is rewritten, removed, refused; and the diff. */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "hipify/hipify.h"

struct fixture {
	struct arena a;
	struct str dir, src, out;
	struct hipify_tree tree;
};

static int setup(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	assert_ok(fs_tempdir(&f->a, S(""), &f->dir));
	f->src = path_join(&f->a, f->dir, S("src"));
	f->out = path_join(&f->a, f->dir, S("out"));
	assert_ok(fs_mkdirs(f->src));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	hipify_tree_free(&f->tree);
	assert_ok(fs_remove_tree(f->dir));
	arena_free(&f->a);
	free(f);
	return 0;
}

static void put(struct fixture *f, const char *path, const char *text)
{
	struct str full = path_join(&f->a, f->src, str_from(path));
	assert_ok(fs_mkdirs(path_dir(full)));
	assert_ok(fs_write(full, str_from(text), 0644));
}

static void assert_file(struct fixture *f, const char *path, const char *want)
{
	struct str text;
	assert_ok(fs_read(&f->a, path_join(&f->a, f->out, str_from(path)), 1 << 20, &text));
	assert_str(text, want);
}

static bool there(struct fixture *f, const char *path)
{
	return fs_exists(path_join(&f->a, f->out, str_from(path)));
}

static struct err *run(struct fixture *f)
{
	struct hipify_options o = {.dir = f->src, .out = f->out, .jobs = 2};
	hipify_tree_free(&f->tree);
	return hipify_run(&f->a, &o, &f->tree);
}

static const struct change *file(struct fixture *f, const char *source)
{
	VEC_EACH (const struct change, i, &f->tree.changes)
		if (str_eq(i->source, str_from(source)))
			return i;
	fail_msg("no file '%s' in the result", source);
	return NULL;
}

#define RUNTIME "#include <hip/hip_runtime.h>\n"

static void every_source_and_header_is_in_the_output(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "cudaFree(0);\n");
	put(f, "sub/b.cuh", "cudaError_t e;\n");
	put(f, "sub/c.h", "int x;\n");
	put(f, "README.md", "cudaFree");
	put(f, ".git/x.cu", "cudaFree(0);");
	assert_ok(run(f));
	assert_int_equal(f->tree.changes.n, 3);
	assert_file(f, "a.hip", RUNTIME "hipFree(0);\n");
	assert_file(f, "sub/b.cuh", "hipError_t e;\n");
	assert_file(f, "sub/c.h", "int x;\n");
	assert_false(there(f, "README.md") || there(f, "a.cu") || there(f, ".git"));
	assert_int_equal(file(f, "a.cu")->status, CHANGE_OK);
	assert_int_equal(file(f, "sub/c.h")->status, CHANGE_UNCHANGED);
}

static struct timespec mtime(struct fixture *f, const char *path)
{
	struct stat st;
	assert_ok(fs_stat(path_join(&f->a, f->out, str_from(path)), &st));
	return st.st_mtim;
}

static void a_second_run_rewrites_only_what_differs(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "cudaFree(0);\n");
	put(f, "b.cu", "cudaFree(1);\n");
	assert_ok(run(f));
	struct timespec a = mtime(f, "a.hip"), b = mtime(f, "b.hip");
	usleep(20000);
	put(f, "b.cu", "cudaFree(2);\n");
	assert_ok(run(f));
	assert_int_equal(file(f, "a.cu")->status, CHANGE_SKIPPED);
	assert_int_equal(file(f, "b.cu")->status, CHANGE_OK);
	assert_int_equal(mtime(f, "a.hip").tv_nsec, a.tv_nsec);
	assert_true(mtime(f, "b.hip").tv_nsec != b.tv_nsec || mtime(f, "b.hip").tv_sec != b.tv_sec);
	assert_file(f, "b.hip", RUNTIME "hipFree(2);\n");
}

static void outputs_of_sources_that_are_gone_are_removed(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	put(f, "deep/er/b.cu", "");
	assert_ok(run(f));
	assert_ok(fs_write(path_join(&f->a, f->out, S("mine.txt")), S("x"), 0644));
	assert_ok(fs_remove(path_join(&f->a, f->src, S("deep/er/b.cu"))));
	assert_ok(run(f));
	assert_str(str_join(&f->a, &f->tree.changes.removed, S(" ")), "deep/er/b.hip");
	assert_false(there(f, "deep"));
	assert_true(there(f, "a.hip") && there(f, "mine.txt"));
}

static void files_of_others_are_not_replaced(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "cudaFree(0);\n");
	put(f, "b.cu", "cudaFree(0);\n");
	assert_ok(fs_mkdirs(f->out));
	assert_ok(fs_write(path_join(&f->a, f->out, S("a.hip")), S("precious"), 0644));
	assert_ok(run(f));
	assert_int_equal(file(f, "a.cu")->status, CHANGE_FAILED);
	assert_int_equal(file(f, "b.cu")->status, CHANGE_OK);
	assert_file(f, "a.hip", "precious");
	assert_ok(run(f));
	assert_file(f, "a.hip", "precious");
}

static void an_output_that_was_edited_is_made_anew(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "cudaFree(0);\n");
	assert_ok(run(f));
	assert_ok(fs_write(path_join(&f->a, f->out, S("a.hip")), S("torn"), 0644));
	assert_ok(run(f));
	assert_file(f, "a.hip", RUNTIME "hipFree(0);\n");
}

static void one_bad_file_does_not_stop_the_others(void **state)
{
	struct fixture *f = *state;
	put(f, "bad.cu", "/* no end");
	put(f, "bytes.cu", "\xff\xfe");
	put(f, "good.cu", "cudaFree(0);");
	assert_ok(run(f));
	assert_int_equal(file(f, "bad.cu")->status, CHANGE_FAILED);
	assert_int_equal(file(f, "bad.cu")->error->line, 1);
	assert_int_equal(file(f, "bytes.cu")->status, CHANGE_FAILED);
	assert_int_equal(file(f, "good.cu")->status, CHANGE_OK);
	assert_true(there(f, "good.hip") && !there(f, "bad.hip"));
}

static void a_source_that_breaks_keeps_its_older_output(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "cudaFree(0);\n");
	assert_ok(run(f));
	put(f, "a.cu", "/* no end");
	assert_ok(run(f));
	assert_file(f, "a.hip", RUNTIME "hipFree(0);\n");
	put(f, "a.cu", "cudaFree(3);\n");
	assert_ok(run(f));
	assert_file(f, "a.hip", RUNTIME "hipFree(3);\n");
}

static void of_two_sources_with_one_output_one_is_renamed(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "cudaFree(0);");
	put(f, "a.hip", "hipFree(1);");
	put(f, "b.cpp", "#include \"a.cu\"\n#include \"a.hip\"\n");
	assert_ok(run(f));
	assert_int_equal(file(f, "a.cu")->status, CHANGE_OK);
	assert_file(f, "a.cu.hip", RUNTIME "hipFree(0);");
	assert_file(f, "a.hip", RUNTIME "hipFree(1);");
	assert_file(f, "b.cpp", "#include \"a.cu.hip\"\n#include \"a.hip\"\n");
	assert_ok(run(f));
	assert_int_equal(file(f, "a.cu")->status, CHANGE_SKIPPED);
}

static void links_do_not_lead_astray(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "cudaFree(0);");
	assert_ok(fs_symlink(S("."), path_join(&f->a, f->src, S("loop"))));
	assert_ok(fs_symlink(S("a.cu"), path_join(&f->a, f->src, S("b.cu"))));
	assert_ok(fs_symlink(S("nowhere.cu"), path_join(&f->a, f->src, S("c.cu"))));
	assert_ok(run(f));
	assert_int_equal(f->tree.changes.n, 3);
	assert_file(f, "b.hip", RUNTIME "hipFree(0);");
	assert_int_equal(file(f, "c.cu")->status, CHANGE_FAILED);
}

static void the_output_folder_is_not_among_the_sources(void **state)
{
	struct fixture *f = *state;
	struct hipify_options o = {.dir = f->src, .out = f->src};
	put(f, "a.cu", "cudaFree(0);");
	assert_err_says(hipify_run(&f->a, &o, &f->tree), E_USAGE, "contains the sources");
	o.out = f->dir;
	assert_err_says(hipify_run(&f->a, &o, &f->tree), E_USAGE, "contains the sources");
	o.out = path_join(&f->a, f->src, S("build/hip"));
	assert_err_says(hipify_run(&f->a, &o, &f->tree), E_USAGE, "is inside");
	strs_add(&f->a, &o.exclude, S("build"));
	assert_ok(hipify_run(&f->a, &o, &f->tree));
	assert_ok(hipify_run(&f->a, &o, &f->tree));
	assert_int_equal(f->tree.changes.n, 1);
}

static void only_what_was_asked_for(void **state)
{
	struct fixture *f = *state;
	struct hipify_options o = {.dir = f->src, .out = f->out};
	put(f, "a.cu", "cudaFree(0);");
	put(f, "b.cu", "cudaFree(0);");
	strs_add(&f->a, &o.only, S("b.cu"));
	assert_ok(hipify_run(&f->a, &o, &f->tree));
	assert_true(there(f, "b.hip") && !there(f, "a.hip"));
	o.only = (struct strs){0};
	strs_add(&f->a, &o.only, S("../x.cu"));
	assert_err_says(hipify_run(&f->a, &o, &f->tree), E_USAGE, "is not inside");
}

static void headers_of_the_project_win_over_cudas(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu",
		"#include \"helper/cuda_fp16.h\"\n#include \"cuda_bf16.h\"\n"
		"#include \"b.cu\"\n#include \"elsewhere.cu\"\n");
	put(f, "helper/cuda_fp16.h", "");
	put(f, "b.cu", "");
	assert_ok(run(f));
	assert_file(f, "a.hip",
		RUNTIME "#include \"helper/cuda_fp16.h\"\n#include \"hip/hip_bf16.h\"\n"
			"#include \"b.hip\"\n#include \"elsewhere.cu\"\n");
}

static void names_declared_in_another_file_are_the_projects(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "cudaHelper(1); cudaNoSuchThing(2);\n");
	put(f, "b.h", "void cudaHelper(int);\n");
	assert_ok(run(f));
	assert_int_equal(f->tree.untranslated.n, 1);
	assert_str(f->tree.untranslated.v[0].name, "cudaNoSuchThing");
	assert_str(f->tree.untranslated.v[0].path, "a.cu");
}

static void warp_functions_in_a_header_are_enabled_in_the_sources(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include \"w.cuh\"\n");
	put(f, "w.cuh", "inline int f(int v) { return __shfl_sync(~0u, v, 0); }\n");
	assert_ok(run(f));
	assert_file(f, "a.hip",
		"#define HIP_ENABLE_WARP_SYNC_BUILTINS 1\n" RUNTIME "#include \"w.cuh\"\n");
}

static void a_damaged_manifest_is_an_error(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	assert_ok(run(f));
	struct str path = path_join(&f->a, f->out, S(".rocsmith/hipify.manifest"));
	assert_ok(
		fs_write(path, S("# rocsmith hipify manifest 1\nx\t../../etc/passwd\ty\n"), 0644));
	assert_err_says(run(f), E_CORRUPT, "manifest");
	assert_ok(fs_write(path, S("something else"), 0644));
	assert_err_says(run(f), E_CORRUPT, "manifest");
}

/* The diff of ours, applied by patch(1) to the source, gives the output. */
static void check_patch(struct fixture *f, const char *source)
{
	struct hipify_text t;
	struct proc_result r;
	put(f, "p.cu", source);
	struct str path = path_join(&f->a, f->src, S("p.cu")), got;
	assert_ok(hipify_text(&f->a, str_from(source), S("p.cu"), NULL, &t));
	struct changes_diff d = {.old_name = S("p.cu"),
		.new_name = S("p.hip"),
		.old = str_from(source),
		.new = t.text};
	struct proc p = {.input = changes_diff(&f->a, &d)};
	proc_arg(&f->a, &p, "patch", "-s", path.p, NULL);
	if (p.input.n)
		assert_ok(proc_check(&f->a, &p, &r));
	assert_ok(fs_read(&f->a, path, 1 << 20, &got));
	assert_true(str_eq(got, t.text));
}

static void diffs_apply(void **state)
{
	struct fixture *f = *state;
	if (!proc_find(&f->a, S("patch")).n)
		skip();
	check_patch(f, "cudaFree(0);\n");
	check_patch(f, "");
	check_patch(f, "\n\n\n\n\n\n\n\n\ncudaFree(0);");
	check_patch(f, "#include <hip/hip_runtime.h>\n1\n2\n3\n4\n5\n6\n7\ncudaFree(0)\n9\n");
	check_patch(f,
		"1\n2\n3\ncudaFree\n4\n5\n6\n7\n8\n9\n10\ncudaFree\ncudaMalloc\n11\n12\n13\n14\n");
	check_patch(f, "#include <hip/hip_runtime.h>\ncudaFree\n1\n2\n3\n4\n5\n6\ncudaFree\n7");
	check_patch(f, "x\r\ncudaFree\r\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(every_source_and_header_is_in_the_output),
		T(a_second_run_rewrites_only_what_differs),
		T(outputs_of_sources_that_are_gone_are_removed),
		T(files_of_others_are_not_replaced),
		T(an_output_that_was_edited_is_made_anew),
		T(one_bad_file_does_not_stop_the_others),
		T(a_source_that_breaks_keeps_its_older_output),
		T(of_two_sources_with_one_output_one_is_renamed),
		T(links_do_not_lead_astray),
		T(the_output_folder_is_not_among_the_sources),
		T(only_what_was_asked_for),
		T(headers_of_the_project_win_over_cudas),
		T(names_declared_in_another_file_are_the_projects),
		T(warp_functions_in_a_header_are_enabled_in_the_sources),
		T(a_damaged_manifest_is_an_error),
		T(diffs_apply),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
