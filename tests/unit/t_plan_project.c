/* The description as the user wrote it: plan/project.c. */
#include "fixture_plan.h"

static struct err *read_yaml(struct fixture *f, const char *yaml)
{
	put(f, "rocsmith.yaml", yaml);
	return project_read(&f->a, &(struct description){.dir = f->dir}, &f->project);
}

static void every_key_reaches_its_place(void **state)
{
	struct fixture *f = *state;
	const struct project *p = &f->project;
	assert_ok(read_yaml(f, "name: saxpy\n"
			       "version: \"1.0\"\n"
			       "summary: \"a: summary\"\n"
			       "license: Apache-2.0\n"
			       "includes: [include, third party]\n"
			       "libraries: hipblas\n"
			       "defines: [A, \"B=1\"]\n"
			       "flags:\n  - -O3\n  - -g\n"
			       "gpu: [gfx1201, \"gfx90a:xnack-\"]\n"
			       "sdk: {use: \"debian:experimental\", components: [hipfft]}\n"
			       "python:\n"
			       "  abi3: 3.10\n"
			       "  into: pkg.sub\n"
			       "  package: python/pkg\n"
			       "  dir: data\n"
			       "  requires: \">=3.9\"\n"
			       "  dependencies: [numpy>=1.22]\n"));
	assert_str(p->name, "saxpy");
	assert_str(p->version, "1.0");
	assert_str(p->summary, "a: summary");
	assert_str(p->license, "Apache-2.0");
	assert_str(str_join(&f->a, &p->includes, S("|")), "include|third party");
	assert_str(joined(f, &p->libraries), "hipblas");
	assert_str(joined(f, &p->defines), "A B=1");
	assert_str(joined(f, &p->flags), "-O3 -g");
	assert_str(joined(f, &p->gpus), "gfx1201 gfx90a:xnack-");
	assert_str(p->sdk, "debian:experimental");
	assert_str(joined(f, &p->components), "hipfft");
	assert_str(p->abi3, "3.10"); /* as written, not the number 3.1 */
	assert_str(p->into, "pkg.sub");
	assert_str(p->package, "python/pkg");
	assert_str(p->data_dir, "data");
	assert_str(p->requires_python, ">=3.9");
	assert_str(joined(f, &p->requires), "numpy>=1.22");
	assert_str(p->dir, f->dir.p);
}

static void the_hipify_section_reaches_its_place(void **state)
{
	struct fixture *f = *state;
	put(f, "csrc/b.cu", "");
	put(f, "csrc/a.cu", "");
	put(f, "pairs.json", "{}");
	assert_ok(read_yaml(f, "hipify:\n"
			       "  mode: extension\n"
			       "  torch: ../venv\n"
			       "  sources: [csrc/b.cu, csrc/*.cu]\n"
			       "  include_dirs: [csrc, gone]\n"
			       "  ignore: \"*/old/*\"\n"
			       "  exclude: [x, y/z.cu]\n"
			       "  map: pairs.json\n"
			       "  extensions: [.inl]\n"
			       "  launches: keep\n"));
	const struct hipify_options *h = &f->project.hipify;
	assert_int_equal(h->mode, HIPIFY_EXTENSION);
	assert_str(h->torch, path_join(&f->a, f->top, S("venv")).p);
	assert_str(joined(f, &h->sources), "csrc/b.cu csrc/a.cu");
	assert_str(joined(f, &h->include_dirs), "csrc gone");
	assert_str(joined(f, &h->ignore), "*/old/*");
	assert_str(joined(f, &h->exclude), "x y/z.cu");
	assert_str(h->map, path_join(&f->a, f->dir, S("pairs.json")).p);
	assert_int_equal(h->map_text.n, 0);
	assert_str(joined(f, &h->extra_extensions), ".inl");
	assert_int_equal(h->launches, LAUNCHES_KEEP);
	assert_str(h->rocm, "");
}

/* Pairs in the description become a text in which each stands on its own line of the description,
 * whatever characters they have, so that what is wrong with one is told there. */
static void inline_pairs_keep_their_lines(void **state)
{
	struct fixture *f = *state;
	const struct node *root;
	assert_ok(read_yaml(f, "name: x\n"
			       "hipify:\n"
			       "  torch: /t\n"
			       "  map:\n"
			       "    cudaFoo: hipFoo\n"
			       "    # between\n"
			       "    \"a\\\"b\": 'c: d'\n"
			       "    \"CUDA=1\": 2\n"));
	const struct hipify_options *h = &f->project.hipify;
	assert_str(h->map, path_join(&f->a, f->dir, S("rocsmith.yaml")).p);
	assert_ok(yaml_parse(&f->a, h->map_text, S("t"), &root));
	const struct node *map = node_get(root, S("custom_map"));
	assert_int_equal(map->n, 3);
	assert_str(map->v[0].key, "cudaFoo");
	assert_str(map->v[0].text, "hipFoo");
	assert_int_equal(map->v[0].key_at.line, 5);
	assert_str(map->v[1].key, "a\"b");
	assert_str(map->v[1].text, "c: d");
	assert_int_equal(map->v[1].key_at.line, 7);
	assert_int_equal(map->v[2].key_at.line, 8);
	assert_ok(json_parse(&f->a, h->map_text, S("t"), &root));
	assert_str(node_text(node_get(root, S("custom_map")), S("CUDA=1"), S("")), "2");
}

static void the_section_alone_can_be_read(void **state)
{
	struct fixture *f = *state;
	struct hipify_options h;
	assert_ok(plan_hipify_read(&f->a, f->dir, &h));
	assert_int_equal(h.mode + h.torch.n + h.sources.n, 0);
	put(f, "rocsmith.yaml", "hipify: {rocm: 6.4.3, mode: standalone}\n");
	assert_ok(plan_hipify_read(&f->a, f->dir, &h));
	assert_int_equal(h.mode, HIPIFY_STANDALONE);
	assert_str(h.rocm, "6.4.3");
	put(f, "rocsmith.yaml", "hipify: {roc: 6.4.3}\n");
	assert_err_says(plan_hipify_read(&f->a, f->dir, &h), E_SYNTAX, "unknown key 'roc'");
}

static void an_sdk_may_be_one_word(void **state)
{
	struct fixture *f = *state;
	assert_ok(read_yaml(f, "sdk: prefix:/opt/rocm\n"));
	assert_str(f->project.sdk, "prefix:/opt/rocm");
	assert_int_equal(f->project.components.n, 0);
}

static void empty_descriptions_say_nothing(void **state)
{
	struct fixture *f = *state;
	static const char *const texts[] = {"", "\n", "# a comment\n", "---\n", "~\n",
		"name:\nversion:\nsources:\npython:\nsdk:\n"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_ok(read_yaml(f, texts[i]));
		assert_str(f->project.name, "proj"); /* the folder's */
		assert_str(f->project.version, "");
		const struct node *sources;
		assert_ok(project_list(&f->a, f->project.root, "sources", &sources));
		assert_null(sources);
	}
}

/* ---- names ---- */
static const struct {
	const char *name;
	bool good;
} names[] = {
	{"a", true},
	{"A1", true},
	{"a-b_c.d", true},
	{"1a", true},
	{"a--b", true},
	{"-a", false},
	{"a-", false},
	{".a", false},
	{"a.", false},
	{"a b", false},
	{"a/b", false},
	{"../a", false},
	{"a\\b", false},
	{"a\tb", false},
	{"\303\244", false}, /* ä */
	{"a;b", false},
};

static void names_are_those_that_an_index_would_take(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct str text = str_fmt(&f->a, "version: 1\nname: '%s'\n", names[i].name);
		struct err *e = read_yaml(f, text.p);
		bool good = !e;
		bool told = e && e->code == E_PROJECT && e->line == 2 && e->col == 7 && e->hints;
		err_free(e);
		if (good != names[i].good || (!good && !told))
			fail_msg("'%s'", names[i].name);
	}
	struct str longest = S("");
	for (unsigned i = 0; i < 128; i++)
		longest = str_fmt(&f->a, "%.*sx", STR(longest));
	assert_ok(read_yaml(f, str_fmt(&f->a, "name: %.*s\n", STR(longest)).p));
	assert_err(read_yaml(f, str_fmt(&f->a, "name: %.*sx\n", STR(longest)).p), E_PROJECT);
}

static const struct {
	const char *folder, *name;
} folders[] = {
	{"saxpy", "saxpy"},
	{"My Project", "My-Project"},
	{"--x--", "x"},
	{"_private", "private"},
	{"a+b", "a-b"},
	{"v1.2", "v1.2"},
	{"x.", "x"},
	{"\303\244", "project"},
	{"...", "project"},
};

static void a_folders_name_is_made_fit(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		struct str dir = path_join(&f->a, f->top, str_from(folders[i].folder));
		assert_ok(fs_mkdirs(dir));
		assert_ok(project_read(&f->a, &(struct description){.dir = dir}, &f->project));
		assert_str(f->project.name, folders[i].name);
	}
}

/* ---- versions ---- */
static const struct {
	const char *version, *want; /* NULL: refused */
} versions[] = {
	{"1.0", "1.0"},
	{"1.10", "1.10"}, /* not the number 1.1 */
	{"2026.11.21", "2026.11.21"},
	{"1.0-RC1", "1.0rc1"},
	{"v2.0", "2.0"},
	{"1.0+local.1", "1.0+local.1"},
	{"1", "1"},
	{"one", NULL},
	{"1.0/2", NULL},
	{"1..0", NULL},
	{"\"1.0 beta!\"", NULL},
};

static void versions_are_those_of_pep_440_in_normal_form(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct str text = str_fmt(&f->a, "version: %s\n", versions[i].version);
		struct err *e = read_yaml(f, text.p);
		if (!versions[i].want) {
			assert_err_says(e, E_PROJECT, "is not a version");
			continue;
		}
		assert_ok(e);
		assert_str(f->project.version, versions[i].want);
	}
}

/* ---- mistakes ---- */
static const struct {
	const char *yaml, *says;
	enum errcode code;
	unsigned line;
} mistakes[] = {
	{"nmae: x\n", "unknown key 'nmae'", E_SYNTAX, 1},
	{"name: x\nsource: [a.cu]\n", "unknown key 'source'", E_SYNTAX, 2},
	{"Name: x\n", "unknown key 'Name'", E_SYNTAX, 1},
	{"python:\n  abi: 3.8\n", "unknown key 'abi'", E_SYNTAX, 2},
	{"sdk:\n  use: debian\n  suite: sid\n", "unknown key 'suite'", E_SYNTAX, 3},
	{"name: [a]\n", "", E_SYNTAX, 1},
	{"name: {a: b}\n", "", E_SYNTAX, 1},
	{"version: [1]\n", "", E_SYNTAX, 1},
	{"flags: {a: b}\n", "", E_SYNTAX, 1},
	{"gpu: [[gfx90a]]\n", "", E_SYNTAX, 1},
	{"python: 3.8\n", "'python' must be a map of keys", E_PROJECT, 1},
	{"python: [a]\n", "'python' must be a map of keys", E_PROJECT, 1},
	{"sdk: [debian]\n", "'sdk' must be a map of keys", E_PROJECT, 1},
	{"just words\n", "a map of keys is expected", E_PROJECT, 1},
	{"- a\n- b\n", "a map of keys is expected", E_PROJECT, 1},
	{"name: x\nname: y\n", "", E_SYNTAX, 2},
	{"name: \"x\n", "", E_SYNTAX, 0},
	{"\tname: x\n", "", E_SYNTAX, 1},
	{"python: {into: [a]}\n", "", E_SYNTAX, 1},
	{"hipify: extension\n", "'hipify' must be a map of keys", E_PROJECT, 1},
	{"hipify: [torch]\n", "'hipify' must be a map of keys", E_PROJECT, 1},
	{"hipify:\n  mdoe: torch\n", "unknown key 'mdoe'", E_SYNTAX, 2},
	{"hipify:\n  mode: extention\n", "'mode' does not take 'extention'", E_PROJECT, 2},
	{"hipify: {mode: [torch]}\n", "", E_SYNTAX, 1},
	{"hipify:\n  launches: never\n", "'launches' does not take 'never'", E_PROJECT, 2},
	{"hipify:\n  rocm: six\n", "'rocm' takes a version", E_PROJECT, 2},
	{"hipify:\n  map: [a, b]\n", "'map' must be a file or a map", E_PROJECT, 2},
	{"hipify:\n  map: /etc/shadow\n", "'/etc/shadow' is outside", E_PROJECT, 2},
	{"hipify:\n  map: a/../../x\n", "is outside of the project", E_PROJECT, 2},
	{"hipify:\n  include_dirs: [a, ../b]\n", "'../b' is outside", E_PROJECT, 2},
	{"hipify:\n  include_dirs: [/usr/include]\n", "is outside", E_PROJECT, 2},
	{"hipify:\n  map: none.json\n", "no such file 'none.json'", E_PROJECT, 2},
	{"hipify:\n  map:\n    cudaFoo:\n", "'cudaFoo' needs the HIP name", E_PROJECT, 3},
	{"hipify:\n  map: {cudaFoo: [a]}\n", "'cudaFoo' needs the HIP name", E_PROJECT, 2},
	{"hipify:\n  sources: [none.cu]\n", "no source 'none.cu'", E_PROJECT, 2},
	{"hipify:\n  sources: [../a.cu]\n", "outside of the project", E_PROJECT, 2},
	{"hipify:\n  sources: {a: b}\n", "a file name or a pattern", E_PROJECT, 2},
	{"hipify:\n  mode: standalone\n  torch: t\n", "'torch' means nothing in the mode",
		E_PROJECT, 3},
	{"hipify: {ignore: {a: b}}\n", "", E_SYNTAX, 1},
};

static void mistakes_are_told_at_their_line(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct err *e = read_yaml(f, mistakes[i].yaml);
		bool good = e && e->code == mistakes[i].code && e->path &&
			    test_err_says(e, mistakes[i].says) &&
			    (!mistakes[i].line || e->line == mistakes[i].line);
		if (!good) {
			test_print_err(e);
			fail_msg("%s", mistakes[i].yaml);
		}
		assert_true(str_ends(str_from(e->path), S("proj/rocsmith.yaml")));
		err_free(e);
	}
}

static void a_description_that_is_named_must_be_there(void **state)
{
	struct fixture *f = *state;
	struct str other = path_join(&f->a, f->top, S("other.yaml"));
	assert_err(project_read(&f->a, &(struct description){.dir = f->dir, .config = other},
			   &f->project),
		E_NOENT);
	test_put(other, "name: other\n");
	put(f, "rocsmith.yaml", "nonsense: 1\n"); /* not looked at */
	assert_ok(project_read(
		&f->a, &(struct description){.dir = f->dir, .config = other}, &f->project));
	assert_str(f->project.name, "other");
	assert_str(f->project.file, other.p);
	assert_str(f->project.dir, f->dir.p);
}

static void errors_point_to_the_key_or_else_to_the_file(void **state)
{
	struct fixture *f = *state;
	assert_ok(read_yaml(f, "name: x\nversion: 1\n"));
	struct err *e = project_error(&f->project, S("version"), E_MODULE, "number %d", 7);
	assert_int_equal(e->line, 2);
	assert_string_equal(e->msg, "number 7");
	err_free(e);
	e = project_error(&f->project, S("sources"), E_PROJECT, "x");
	assert_true(e->path && e->line == 0);
	err_free(e);
	assert_ok(fs_remove(path_join(&f->a, f->dir, S("rocsmith.yaml"))));
	assert_ok(project_read(&f->a, &(struct description){.dir = f->dir}, &f->project));
	e = project_error(&f->project, S("sources"), E_PROJECT, "x");
	assert_null(e->path);
	err_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(every_key_reaches_its_place),
		FIXTURE_TEST(the_hipify_section_reaches_its_place),
		FIXTURE_TEST(inline_pairs_keep_their_lines),
		FIXTURE_TEST(the_section_alone_can_be_read),
		FIXTURE_TEST(an_sdk_may_be_one_word),
		FIXTURE_TEST(empty_descriptions_say_nothing),
		FIXTURE_TEST(names_are_those_that_an_index_would_take),
		FIXTURE_TEST(a_folders_name_is_made_fit),
		FIXTURE_TEST(versions_are_those_of_pep_440_in_normal_form),
		FIXTURE_TEST(mistakes_are_told_at_their_line),
		FIXTURE_TEST(a_description_that_is_named_must_be_there),
		FIXTURE_TEST(errors_point_to_the_key_or_else_to_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
