/* A torch's own Python on a scratch copy. The torch here is a small one of this test: what counts
 * is what it gets to see, how it is called, and what is made of what it does. */
#include "test.h"

#include <sys/stat.h>

#include "base/proc.h"
#include "hipify/hipify_int.h"

/* Translates each taken file to NAME.out with what it knows of its call; "die" in a file kills it,
 * "other" writes a second result, "mark" is a result itself. */
static const char algorithm[] =
	"import os\n"
	"class Result:\n"
	"    def __init__(self, path, status):\n"
	"        self.hipified_path, self.status = path, status\n"
	"HIPIFY_FINAL_RESULT = {}\n"
	"PYTORCH_SPECIAL_MAP = {}\n"
	"from .cuda_to_hip_mappings import CUDA_TO_HIP_MAPPINGS\n"
	"def preprocessor(folder, name, call):\n"
	"    path = os.path.abspath(os.path.join(folder, name))\n"
	"    text = open(path).read()\n"
	"    if 'die' in text:\n"
	"        raise RuntimeError('cannot do ' + path)\n"
	"    if 'mark' in text:\n"
	"        return Result(None, '[ignored, input is hipified output]')\n"
	"    if 'same' in text:\n"
	"        return Result(path, '[skipped, no changes]')\n"
	"    for table in CUDA_TO_HIP_MAPPINGS:\n"
	"        for key, value in table.items():\n"
	"            text = text.replace(key, value)\n"
	"    with open(path + '.out', 'w') as f:\n"
	"        f.write(text + call)\n"
	"    return Result(path + '.out', '[ok]')\n"
	"def hipify(project_directory, output_directory='', includes=('*',), ignores=(),\n"
	"           extensions=('.cu',), header_extensions=('.h',), header_include_dirs=(),\n"
	"           extra_files=(), hip_clang_launch=False, hipify_extra_files_only=False,\n"
	"           is_pytorch_extension=False, show_detailed=False):\n"
	"    root = project_directory\n"
	"    short = [i.replace(root, 'R') for i in ignores]\n"
	"    call = f'{hip_clang_launch} {is_pytorch_extension} {hipify_extra_files_only} '\\\n"
	"           f'{short} {extensions} {list(header_include_dirs)}\\n'\n"
	"    names = [os.path.join(d, n) for d, _, f in os.walk(root) for n in sorted(f)]\n"
	"    names = [n for n in names if n.endswith(tuple(extensions))]\n"
	"    for n in (extra_files if hipify_extra_files_only else names):\n"
	"        HIPIFY_FINAL_RESULT[n] = preprocessor(output_directory or root, n, call)\n";

static const char script[] =
	"import os, sys\n"
	"from hipify import hipify_python\n"
	"root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))\n"
	"names = ['third_party/a/edited.txt', \"CMakeLists.txt\"]\n"
	"for name in names:\n"
	"    path = os.path.join(root, name)\n"
	"    text = open(path).read()\n"
	"    with open(path, 'w') as f:\n"
	"        f.write(text.replace('old', 'new'))\n"
	"clang = os.path.exists(os.environ.get('HIP_PATH', '/absent') + '/lib/.hipInfo')\n"
	"hipify_python.hipify(project_directory=root, output_directory=root,\n"
	"    ignores=['x'], hip_clang_launch=clang)\n"
	"print(sys.argv[1:])\n";

static void put(struct str dir, const char *name, const char *text)
{
	ARENA(a);
	struct str path = path_join(&a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

struct world {
	struct arena *a;
	struct str dir, tree, torch;
	struct torch_source source;
	struct view view;
	struct hipify_options o;
	struct hipify_tree ret;
};

static void setup(struct world *w, struct arena *a)
{
	*w = (struct world){.a = a, .dir = test_dir(a)};
	w->tree = path_join(a, w->dir, S("tree"));
	w->torch = path_join(a, w->dir, S("site"));
	put(w->torch, "torch/utils/hipify/__init__.py", "from .version import __version__\n");
	put(w->torch, "torch/utils/hipify/version.py", "__version__ = '2.0.0'\n");
	put(w->torch, "torch/utils/hipify/cuda_to_hip_mappings.py",
		"CUDA_TO_HIP_MAPPINGS = [{'cuda': 'hip'}]\n");
	put(w->torch, "torch/utils/hipify/hipify_python.py", algorithm);
	assert_ok(torch_open(a, w->torch, &w->source));
	assert_ok(fs_mkdirs(w->tree));
	w->view = (struct view){.root = w->tree};
	w->o = (struct hipify_options){.mode = HIPIFY_EXTENSION, .dir = w->tree, .in_place = true};
}

static struct err *run(struct world *w)
{
	return torch_run_python(w->a, &w->o, &w->source, &w->view, &w->ret);
}

static void teardown(struct world *w)
{
	view_close(&w->view);
	hipify_tree_free(&w->ret);
	test_dir_remove(w->dir);
}

static const struct change *find(const struct world *w, const char *output)
{
	VEC_EACH (const struct change, f, &w->ret.changes)
		if (str_eq(f->output, str_from(output)))
			return f;
	return NULL;
}

static const struct change *found(const struct world *w, const char *output)
{
	const struct change *f = find(w, output);
	if (!f)
		print_error("no result '%s'\n", output);
	assert_non_null(f);
	return f;
}

static void sources_are_done_as_cuda_extension_asks(void **state)
{
	(void)state;
	ARENA(a);
	struct world w;
	setup(&w, &a);
	put(w.tree, "a.cu", "cuda 1 ");
	put(w.tree, "b.cu", "cuda 2 ");
	put(w.tree, "sub/c.cu", "same");
	strs_add(&a, &w.o.sources, S("a.cu"));
	strs_add(&a, &w.o.sources, S("sub/c.cu"));
	strs_add(&a, &w.o.include_dirs, S("include"));
	assert_ok(run(&w));
	assert_int_equal(w.ret.changes.n, 2);
	const struct change *f = found(&w, "a.cu.out");
	assert_str(f->source, "a.cu");
	assert_int_equal(f->status, CHANGE_OK);
	assert_str(f->text, "hip 1 False True True [] ('.cu',) ['include']\n");
	assert_int_equal(found(&w, "sub/c.cu")->status, CHANGE_UNCHANGED);
	assert_null(found(&w, "sub/c.cu")->text.p);
	assert_false(fs_exists(path_join(&a, w.tree, S("a.cu.out"))));
	teardown(&w);
}

static void without_sources_everything_is_done(void **state)
{
	(void)state;
	ARENA(a);
	struct world w;
	setup(&w, &a);
	put(w.tree, "a.cu", "cuda ");
	put(w.tree, "b.inl", "cuda ");
	put(w.tree, "c.cu", "mark");
	put(w.tree, "d.txt", "cuda");
	put(w.dir, "map.json", "{\"custom_map\": {\"1 \": \"2 \", \"hip\": \"HIP\"}}");
	w.o.launches = LAUNCHES_KEEP;
	w.o.map = path_join(&a, w.dir, S("map.json"));
	assert_ok(hipify_options_load_map(&a, &w.o));
	strs_add(&a, &w.o.extra_extensions, S(".inl"));
	strs_add(&a, &w.o.ignore, S("x/*"));
	strs_add(&a, &w.o.ignore, S("/y"));
	assert_ok(run(&w));
	assert_int_equal(w.ret.changes.n, 2);
	struct str text = found(&w, "b.inl.out")->text;
	assert_true(str_starts(text, S("HIP True True False ['R/x/*', '")));
	assert_true(str_ends(text, S("/y'] ('.cu', '.inl') []\n")));
	assert_int_equal(found(&w, "a.cu.out")->text.n, text.n);
	teardown(&w);
}

static void folders_outside_keep_their_place(void **state)
{
	(void)state;
	ARENA(a);
	struct world w;
	setup(&w, &a);
	put(w.dir, "other/x.cu", "cuda ");
	strs_add(&a, &w.o.sources, path_join(&a, w.dir, S("other/x.cu")));
	assert_ok(run(&w));
	assert_int_equal(w.ret.changes.n, 1);
	assert_str(found(&w, "../other/x.cu.out")->source, "../other/x.cu");
	assert_false(fs_exists(path_join(&a, w.dir, S("other/x.cu.out"))));
	teardown(&w);
}

static void a_tree_is_done_by_its_own_script(void **state)
{
	(void)state;
	ARENA(a);
	struct world w;
	setup(&w, &a);
	w.o.mode = HIPIFY_TORCH;
	put(w.tree, "tools/amd_build/build_amd.py", script);
	put(w.tree, "a.cu", "cuda ");
	put(w.tree, "CMakeLists.txt", "nothing");
	put(w.tree, "third_party/a/edited.txt", "old text");
	put(w.tree, "third_party/a/b.cu", "cuda");
	put(w.tree, ".git/c.cu", "cuda");
	put(w.tree, "build/d.cu", "cuda");
	assert_ok(run(&w));
	assert_str(found(&w, "a.cu.out")->text, "hip False False False ['x'] ('.cu',) []\n");
	const struct change *f = found(&w, "third_party/a/edited.txt");
	assert_str(f->text, "new text");
	assert_str(f->source, "third_party/a/edited.txt");
	assert_null(find(&w, "CMakeLists.txt"));
	assert_int_equal(w.ret.changes.n, 2);
	w.ret.changes.n = 0;
	w.o.launches = LAUNCHES_KEEP;
	assert_ok(run(&w));
	assert_str(found(&w, "a.cu.out")->text, "hip True False False ['x'] ('.cu',) []\n");
	teardown(&w);
}

static void links_lead_to_the_same_places(void **state)
{
	(void)state;
	ARENA(a);
	struct world w;
	setup(&w, &a);
	put(w.tree, "a.cu", "cuda ");
	put(w.dir, "outside.cu", "cuda ");
	struct str outside = path_join(&a, w.dir, S("outside.cu"));
	assert_ok(fs_symlink(S("a.cu"), path_join(&a, w.tree, S("b.cu"))));
	assert_ok(fs_symlink(outside, path_join(&a, w.tree, S("c.cu"))));
	assert_ok(fs_symlink(S("absent"), path_join(&a, w.tree, S("d.cu"))));
	assert_ok(fs_symlink(S("."), path_join(&a, w.tree, S("loop"))));
	strs_add(&a, &w.o.sources, S("b.cu"));
	strs_add(&a, &w.o.sources, S("c.cu"));
	assert_ok(run(&w));
	assert_int_equal(w.ret.changes.n, 2);
	assert_str(found(&w, "b.cu.out")->source, "b.cu");
	assert_true(str_starts(found(&w, "c.cu.out")->text, S("hip ")));
	assert_false(fs_exists(path_join(&a, w.dir, S("outside.cu.out"))));
	teardown(&w);
}

static size_t scratch_folders(struct arena *a, struct str dir)
{
	struct strs names;
	assert_ok(fs_list(a, dir, &names));
	return names.n;
}

static void its_failure_is_told_and_leaves_nothing(void **state)
{
	(void)state;
	ARENA(a);
	struct world w;
	setup(&w, &a);
	struct str tmp = path_join(&a, w.dir, S("tmp"));
	const char *old = getenv("TMPDIR");
	assert_ok(fs_mkdirs(tmp));
	put(w.tree, "a.cu", "die");
	setenv("TMPDIR", str_z(&a, tmp), 1);
	struct err *e = run(&w);
	assert_non_null(e);
	assert_int_equal(scratch_folders(&a, tmp), 0);
	const struct err *last = e->cause ? e->cause : e;
	struct str want = str_fmt(&a, "cannot do %.*s/a.cu", STR(w.tree));
	struct str file = str_fmt(&a, "the file was %.*s/a.cu", STR(w.tree));
	assert_non_null(last->detail);
	assert_true(str_contains(str_from(last->detail), want));
	assert_true(str_contains(str_from(last->detail), file));
	assert_err_says(e, E_TOOL_FAILED, "own hipify failed");
	put(w.tree, "a.cu", "cuda");
	assert_ok(run(&w));
	assert_int_equal(scratch_folders(&a, tmp), 0);
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
	teardown(&w);
}

static void no_python_is_said(void **state)
{
	(void)state;
	ARENA(a);
	struct world w;
	setup(&w, &a);
	struct str path = str_dup(&a, str_from(getenv("PATH")));
	setenv("PATH", "/nonexistent", 1);
	struct err *e = run(&w);
	setenv("PATH", str_z(&a, path), 1);
	assert_err_says(e, E_TOOL_MISSING, "python3");
	w.o.mode = HIPIFY_TORCH;
	assert_err_says(run(&w), E_TORCH, "build_amd.py");
	teardown(&w);
}

static void without_python_there_is_nothing_to_test(void **state)
{
	(void)state;
}

/* A link that leads out is neither copied nor translated; one inside stays a link. */
static void files_outside_do_not_come_into_the_copy(void **state)
{
	(void)state;
	ARENA(a);
	struct world w;
	setup(&w, &a);
	put(w.dir, "key", "cuda precious ");
	put(w.tree, "real/a.cu", "cuda 1 ");
	assert_ok(fs_symlink(S("real/a.cu"), path_join(&a, w.tree, S("in.cu"))));
	assert_ok(fs_symlink(S("../key"), path_join(&a, w.tree, S("out.cu"))));
	assert_ok(fs_symlink(path_join(&a, w.dir, S("key")), path_join(&a, w.tree, S("abs.cu"))));
	assert_ok(fs_symlink(S(".."), path_join(&a, w.tree, S("up"))));
	view_open(&w.view, w.tree, NULL);
	assert_ok(fs_guard_sources(w.tree, &w.view.guard));
	assert_ok(run(&w));
	(void)found(&w, "in.cu.out");
	VEC_EACH (const struct change, c, &w.ret.changes)
		assert_false(str_contains(c->text, S("precious")));
	struct strs out = view_left_out(&w.view, &a);
	assert_str(str_join(&a, &out, S(" ")), "abs.cu out.cu");
	teardown(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_are_done_as_cuda_extension_asks),
		cmocka_unit_test(without_sources_everything_is_done),
		cmocka_unit_test(folders_outside_keep_their_place),
		cmocka_unit_test(a_tree_is_done_by_its_own_script),
		cmocka_unit_test(links_lead_to_the_same_places),
		cmocka_unit_test(its_failure_is_told_and_leaves_nothing),
		cmocka_unit_test(no_python_is_said),
	};
	const struct CMUnitTest none[] = {
		cmocka_unit_test(without_python_there_is_nothing_to_test),
		cmocka_unit_test(files_outside_do_not_come_into_the_copy),
	};
	ARENA(a);
	if (!proc_find(&a, S("python3")).n)
		return cmocka_run_group_tests(none, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
