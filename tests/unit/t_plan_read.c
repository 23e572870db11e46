/* Saved plans that were edited, damaged, or made elsewhere: plan/plan_json.c. The plan is made by
 * hand, so that every part of it is known. */
#include "fixture_plan.h"
#include "plan/plan_int.h"
#include "sdk/provider.h"

static struct str json(struct fixture *f)
{
	return json_document(&f->a, 2, plan_fields, &f->plan);
}

/* A plan with something in every field, for this machine or (host_native false) any. */
static void make_plan(struct fixture *f)
{
	struct plan *p = &f->plan;
	put(f, "src/a.cu", "");
	put(f, "src/b.cpp", "");
	p->project = f->dir;
	p->name = S("saxpy");
	p->version = S("1.0");
	p->summary = S("with \"quotes\", a\ttab and \303\244");
	p->license = S("MIT");
	strs_add(&f->a, &p->gpus, S("gfx1201"));
	strs_add(&f->a, &p->gpus, S("gfx90a:xnack-"));
	strs_add(&f->a, &p->headers, S("src/k.h"));
	strs_add(&f->a, &p->external, S("curand.h"));
	strs_add(&f->a, &p->includes, S("include"));
	strs_add(&f->a, &p->libraries, S("hiprand"));
	strs_add(&f->a, &p->defines, S("A=\"x y\""));
	strs_add(&f->a, &p->flags, S("-O3"));
	*VEC_PUSH(&f->a, &p->sources) = (struct plan_source){
		.path = S("src/a.cu"), .output = S("src/a.hip"), .lang = PLAN_HIP};
	*VEC_PUSH(&f->a, &p->sources) = (struct plan_source){
		.path = S("src/b.cpp"), .output = S("src/b.cpp"), .lang = PLAN_CXX};
	struct plan_module *m = VEC_PUSH(&f->a, &p->modules);
	*m = (struct plan_module){.name = S("saxpy"),
		.file = S("saxpy/libsaxpy.so"),
		.loader = true,
		.loader_file = S("saxpy/__init__.py")};
	strs_add(&f->a, &m->sources, S("src/b.cpp"));
	strs_add(&f->a, &m->sources, S("src/a.cu"));
	p->python_tag = S("py3");
	p->abi_tag = S("none");
	p->requires_python = S(">=3.7");
	strs_add(&f->a, &p->requires, S("numpy>=1.22"));
	p->python_dir = S("python");
	strs_add(&f->a, &p->python_files, S("pkg/x.py"));
	p->policy = 28;
	p->sdk.provider = S("debian");
	p->sdk.suite = S("sid");
	strs_add(&f->a, &p->sdk.components, S("compiler"));
	p->hipify = (struct hipify_options){.mode = HIPIFY_EXTENSION,
		.launches = LAUNCHES_KEEP,
		.torch = S("/venv"),
		.map = S("/p/rocsmith.yaml"),
		.map_text = S("{\"custom_map\": {\n\"a\": \"b\"}}\n")};
	strs_add(&f->a, &p->hipify.sources, S("src/a.cu"));
	strs_add(&f->a, &p->hipify.ignore, S("*/x[!y]*"));
	plan_explain(&f->a, p, "gpu", S("gfx1201"), "asked for");
}

static struct err *read_text(struct fixture *f, struct str text, struct plan_wish *ret)
{
	struct str path = path_join(&f->a, f->top, S("plan.json"));
	assert_ok(fs_write(path, text, 0644));
	return plan_read(&f->a, path, ret);
}

/* The text with the first `old` replaced. */
static struct str edited(struct fixture *f, const char *old, const char *with)
{
	struct str text = json(f);
	size_t at = str_find(text, str_from(old));
	if (at == text.n)
		fail_msg("'%s' is not in the plan", old);
	return str_fmt(&f->a, "%.*s%s%.*s", (int)at, text.p, with,
		STR(str_sub(text, at + strlen(old), text.n)));
}

static void every_field_survives_saving(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	assert_ok(read_text(f, json(f), &back));
	assert_int_equal(back.plan.policy, 28);
	assert_str(back.plan.summary, "with \"quotes\", a\ttab and \303\244");
	assert_str(joined(f, &back.plan.gpus), "gfx1201 gfx90a:xnack-");
	assert_str(joined(f, &back.plan.defines), "A=\"x y\"");
	assert_str(joined(f, &back.plan.python_files), "pkg/x.py");
	assert_int_equal(back.plan.sources.v[1].lang, PLAN_CXX);
	assert_true(back.plan.modules.v[0].loader);
	assert_str(back.plan.modules.v[0].sources.v[0], "src/b.cpp"); /* the order of linking */
	assert_str(back.plan.modules.v[0].sources.v[1], "src/a.cu");
	assert_str(back.plan.reasons.v[0].why, "asked for");
	assert_int_equal(back.plan.hipify.mode, HIPIFY_EXTENSION);
	assert_str(back.plan.hipify.map_text, "{\"custom_map\": {\n\"a\": \"b\"}}\n");
	assert_str(joined(f, &back.plan.hipify.sources), "src/a.cu");
	assert_str(json_document(&f->a, 2, plan_fields, &back.plan), str_z(&f->a, json(f)));
}

/* What a build will take is of the day on which it was told. */
static void forecasts_and_findings_are_not_read_back(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	assert_ok(read_text(
		f, edited(f, "\"schema\"", "\"forecast\": {\"disk\": 5}, \"schema\""), &back));
	assert_null(back.plan.forecast);
	assert_int_equal(back.plan.findings.n, 0);
}

static void targets_may_be_edited_and_are_put_in_order(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	assert_ok(read_text(
		f, edited(f, "\"gfx1201\",", "\"gfx942\", \"gfx90a:xnack-\", \"gfx942\","), &back));
	assert_str(joined(f, &back.plan.gpus), "gfx942 gfx90a:xnack-");
	assert_err(read_text(f, edited(f, "\"gfx1201\"", "\"gfx1210\""), &back), E_GFX);
	assert_err(read_text(f, edited(f, "\"gfx1201\"", "\"native\""), &back), E_GFX);
	assert_err_says(read_text(f, edited(f, "\"gfx1201\"", "\"gfx941\""), &back), E_GFX,
		"no longer known to compilers");
}

static void flags_and_defines_may_be_edited(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	assert_ok(read_text(f, edited(f, "\"-O3\"", "\"-O1\", \"-g\""), &back));
	assert_str(joined(f, &back.plan.flags), "-O1 -g");
}

static const struct {
	const char *old, *with, *says;
} edits[] = {
	/* another format */
	{"rocsmith.plan/1", "rocsmith.plan/0", "the plan's schema is 'rocsmith.plan/0'"},
	{"\"schema\"", "\"scheme\"", "is not a plan"},
	/* keys */
	{"\"libraries\"", "\"librarys\"", "librarys"},
	{"\"suite\"", "\"suites\"", "suites"},
	{"\"language\"", "\"lang\"", "lang"},
	{"\"loader_file\"", "\"loaderfile\"", "loaderfile"},
	{"\"why\"", "\"because\"", "because"},
	{"\"sdk\": {", "\"sdk\": [], \"python\": {", ""},
	{"\"map_text\"", "\"map_txt\"", "map_txt"},
	{"\"mode\": \"extension\"", "\"mode\": \"torsch\"",
		"'hipify: mode' does not take 'torsch'"},
	{"\"launches\": \"keep\"", "\"launches\": \"kept\"",
		"'hipify: launches' does not take 'kept'"},
	{"\"mode\": \"extension\"", "\"mode\": \"torch\"", "standalone or extension, not 'torch'"},
	{"\"src/a.cu\"\n    ]", "\"../a.cu\"\n    ]", "outside of the project"},
	/* kinds */
	{"\"name\": \"saxpy\"", "\"name\": [\"saxpy\"]", ""},
	{"\"loader\": true", "\"loader\": \"yes\"", ""},
	{"\"flags\": [", "\"flags\": [[],", ""},
	/* what must be there */
	{"\"name\": \"saxpy\"", "\"name\": \"\"", "no project name"},
	{"\"version\": \"1.0\"", "\"version\": \"\"", "no project name or version"},
	{"\"file\": \"saxpy/libsaxpy.so\"", "\"file\": \"\"", "no usable 'file'"},
	{"\"language\": \"hip\"", "\"language\": \"cuda\"", "'language' does not take 'cuda'"},
	{"\"language\": \"hip\"", "\"language\": null", "'src/a.cu' has no 'language'"},
	/* what must stay inside */
	{"\"path\": \"src/a.cu\"", "\"path\": \"/etc/passwd\"", "outside of the project"},
	{"\"output\": \"src/a.hip\"", "\"output\": \"../a.hip\"", "outside of the project"},
	{"\"file\": \"saxpy/libsaxpy.so\"", "\"file\": \"/lib/x.so\"", "no usable 'file'"},
	{"\"loader_file\": \"saxpy/__init__.py\"", "\"loader_file\": \"../x.py\"",
		"no usable 'file'"},
	{"\"pkg/x.py\"", "\"../../etc/passwd\"", "'../../etc/passwd'"},
	{"\"pkg/x.py\"", "\"/etc/passwd\"", "'/etc/passwd'"},
	{"\"dir\": \"python\"", "\"dir\": \"/etc\"", "'/etc'"},
	{"\"dir\": \"python\"", "\"dir\": \"../x\"", "'../x'"},
	{"\"src/k.h\"", "\"../k.h\"", "'../k.h'"},
	{"\"include\"\n", "\"../include\"\n", "'../include'"},
	{"\"policy\": 28,", "\"policy\": 28, \"policy_sysroot\": \"/\",",
		"'/', 'host: policy_sysroot', holds a home"},
	/* what must fit together */
	{"\"path\": \"src/a.cu\"", "\"path\": \"src/c.cu\"", "not one of the 'sources'"},
	{"\"path\": \"src/a.cu\"", "\"path\": \"src/b.cpp\"", "not one of the 'sources'"},
};

static void edits_that_make_no_sense_are_refused(void **state)
{
	struct fixture *f = *state;
	make_plan(f);
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		struct plan_wish back;
		struct err *e = read_text(f, edited(f, edits[i].old, edits[i].with), &back);
		bool good = e && test_err_says(e, edits[i].says) && e->path &&
			    (e->code == E_PLAN || e->code == E_SYNTAX);
		if (!good) {
			test_print_err(e);
			fail_msg("%s -> %s", edits[i].old, edits[i].with);
		}
		err_free(e);
	}
}

/* ---- builds of other build systems ---- */

static void make_foreign(struct fixture *f)
{
	make_plan(f);
	put(f, "../torch-2.6.0-py3-none-any.whl", "");
	struct plan_foreign *how = f->plan.foreign = NEW(&f->a, struct plan_foreign);
	f->plan.sources.n = f->plan.modules.n = 0;
	how->system = SOURCE_PYTHON;
	how->file = S("setup.py");
	how->backend = S("setuptools.build_meta");
	strs_add(&f->a, &how->backend_path, S("back/end"));
	strs_add(&f->a, &how->with, path_join(&f->a, f->top, S("torch-2.6.0-py3-none-any.whl")));
	*VEC_PUSH(&f->a, &how->files) = (struct plan_file){S("gen/version.txt"), S("2.6.0")};
}

static const struct {
	const char *old, *with, *says;
} foreign_edits[] = {
	{"\"system\": \"python\"", "\"system\": \"own\"", "does not take 'own'"},
	{"\"back/end\"", "\"../end\"", "'../end' of 'build: backend_path' is outside"},
	{"\"back/end\"", "\"/end\"", "'/end' of 'build: backend_path' is outside"},
	{"\"back/end\"", "\"\"", "'' of 'build: backend_path' is outside"},
	{"torch-2.6.0-", "torch-2.7.0-", "torch-2.7.0-py3-none-any.whl' of this plan is gone"},
	{"\"gen/version.txt\"", "\"gen/../../x\"", "of 'build: files' is outside"},
	{"\"gen/version.txt\"", "\"/etc/x\"", "'/etc/x' of 'build: files' is outside"},
	{"\"gen/version.txt\"", "\"\"", "'' of 'build: files' is outside"},
	{"\"setuptools.build_meta\"", "\"\"", "names no back end"},
};

static void plans_of_other_build_systems_are_checked_too(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_foreign(f);
	assert_ok(read_text(f, json(f), &back));
	assert_int_equal(back.plan.foreign->system, SOURCE_PYTHON);
	assert_str(back.plan.foreign->files.v[0].text, "2.6.0");
	assert_str(joined(f, &back.plan.foreign->backend_path), "back/end");
	for (size_t i = 0; i < sizeof(foreign_edits) / sizeof(*foreign_edits); i++) {
		struct str text = edited(f, foreign_edits[i].old, foreign_edits[i].with);
		assert_err_says(read_text(f, text, &back), E_PLAN, foreign_edits[i].says);
	}
	assert_err_says(
		read_text(f, edited(f, "\"system\": \"python\"", "\"system\": \"meson\""), &back),
		E_SYNTAX, "'build: system' does not take 'meson'");
	f->plan.foreign->system = SOURCE_CMAKE; /* which has none */
	f->plan.foreign->backend = S("");
	assert_ok(read_text(f, json(f), &back));
}

static void a_plan_of_nothing_is_refused(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	struct plan whole = f->plan;
	f->plan.gpus.n = 0;
	assert_err_says(read_text(f, json(f), &back), E_PLAN, "names no GPU target");
	f->plan = whole;
	f->plan.sources.n = 0;
	assert_err_says(read_text(f, json(f), &back), E_PLAN, "the plan has no sources");
	f->plan = whole;
	f->plan.modules.n = 0;
	assert_err_says(read_text(f, json(f), &back), E_PLAN, "the plan has no modules");
	f->plan = whole;
	f->plan.modules.v[0].sources.n = 0;
	assert_err_says(read_text(f, json(f), &back), E_PLAN, "'saxpy' has no sources");
}

/* What a compiler is told to look into is one of the folders that we look for ourselves. */
static void header_folders_are_those_of_known_packages(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	static const struct {
		const char *dir;
		bool good;
		const char *source;
	} dirs[] = {
		{"/v/pybind11/include", true, ""},
		{"/v/numpy/_core/include", true, ""},
		{"/v/numpy/core/include", true, ""},
		{"/v/nanobind/src", true, "nb_combined.cpp"},
		{"/v/nanobind/include", true, ""},
		{"/v/nanobind/ext/robin_map/include", true, ""},
		{"/v/pybind11/include/x", false, ""},
		{"v/pybind11/include", false, ""},
		{"/v/../pybind11/include", false, ""},
		{"/etc", false, ""},
	};
	make_plan(f);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		struct str dir = str_from(dirs[i].dir), source = S("none");
		assert_int_equal(plan_is_header_folder(dir, &source), dirs[i].good);
		assert_str(source, dirs[i].good ? dirs[i].source : "none");
		f->plan.python_headers.n = 0;
		strs_add(&f->a, &f->plan.python_headers, dir);
		struct err *e = read_text(f, json(f), &back);
		if (dirs[i].good)
			assert_ok(e);
		else
			assert_err_says(e, E_PLAN, "has no package's headers");
	}
}

static const struct {
	const char *text;
	enum errcode code;
} others[] = {
	{"", E_SYNTAX},
	{"{", E_SYNTAX},
	{"null", E_PLAN},
	{"[]", E_PLAN},
	{"\"rocsmith.plan/1\"", E_PLAN},
	{"{}", E_PLAN},
	{"{\"schema\": 1}", E_PLAN},
	{"{\"schema\": \"rocsmith.plan/1\"}", E_PLAN},
	{"{\"schema\": \"rocsmith.plan/1\", \"project\": {}, \"python\": {}, \"sdk\": {}, "
	 "\"host\": {}}",
		E_PLAN},
	{"name: saxpy\n", E_SYNTAX},
};

static void what_is_no_plan_is_told_so(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct plan_wish back;
		struct err *e = read_text(f, str_from(others[i].text), &back);
		if (!e || e->code != others[i].code) {
			test_print_err(e);
			fail_msg("'%s'", others[i].text);
		}
		err_free(e);
	}
}

static void a_plan_of_parts_that_are_gone_is_refused(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	struct str text = json(f);
	assert_ok(fs_remove(path_join(&f->a, f->dir, S("src/b.cpp"))));
	struct err *e = read_text(f, text, &back);
	assert_true(e && e->hints && strstr(e->hints->text, "make the plan again"));
	assert_err_says(e, E_PLAN, "the source 'src/b.cpp' of this plan is gone");
	assert_ok(fs_rename(f->dir, path_join(&f->a, f->top, S("moved"))));
	assert_err_says(read_text(f, text, &back), E_PLAN, "project folder");
	f->plan.project = S("relative/path");
	assert_err_says(read_text(f, json(f), &back), E_PLAN, "must be an absolute folder");
	assert_err(plan_read(&f->a, path_join(&f->a, f->top, S("none.json")), &back), E_NOENT);
}

/* ---- machines ---- */
static void a_plan_for_the_sdks_libc_fits_any_machine(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	f->plan.host.libc = S("2.17"); /* of another machine */
	f->plan.host.triplet = S("s390x-linux-gnu");
	f->plan.host.python_version = S("2.7");
	assert_ok(read_text(f, json(f), &back));
	assert_str(back.plan.host.libc, "2.17");
}

static void a_plan_for_this_machines_libc_fits_this_machine_only(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	assert_ok(host_read(&f->a, S(""), &f->plan.host));
	f->plan.host_native = true;
	assert_ok(read_text(f, json(f), &back));
	f->plan.host.libc = S("2.17");
	struct err *e = read_text(f, json(f), &back);
	assert_true(e && e->hints);
	assert_err_says(e, E_PLAN, "its C library is");
	assert_ok(host_read(&f->a, S(""), &f->plan.host));
	f->plan.host.gcc_dir = S("/usr/lib/gcc/x86_64-linux-gnu/1");
	assert_err_says(read_text(f, json(f), &back), E_PLAN, "its C++ headers is");
}

static void pythons_version_matters_where_its_headers_are_used(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	assert_ok(host_read(&f->a, S(""), &f->plan.host));
	f->plan.host.python_version = S("3.1");
	f->plan.host.python_include = S("/usr/include/python3.1");
	assert_ok(read_text(f, json(f), &back));
	f->plan.needs_python = true;
	assert_ok(read_text(f, json(f), &back));
	assert_err_says(plan_meet_python(&f->a, &back), E_PLAN, "planned was '3.1'");
	struct plan_wish made = {.plan = f->plan};
	assert_ok(plan_meet_python(&f->a, &made)); /* made just now: nobody else's */
}

/* A plan may come from a stranger, and to look at it is no consent. */
static void nothing_that_a_plan_names_is_run_by_reading_it(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	struct str program = path_join(&f->a, f->top, S("program"));
	struct str mark = path_join(&f->a, f->top, S("mark"));
	struct str script = str_fmt(&f->a, "#!/bin/sh\n>'%.*s'\nexit 1\n", STR(mark));
	struct str clang = path_join(&f->a, f->top, S("rocm/llvm/bin/clang++"));
	make_plan(f);
	assert_ok(fs_write(program, script, 0755));
	assert_ok(fs_mkdirs(path_dir(clang)));
	assert_ok(fs_write(clang, script, 0755));
	put(f, "../rocm/amdgcn/bitcode/x.bc", "");
	put(f, "../rocm/include/hip/hip_runtime.h", "");
	put(f, "../rocm/lib/libamdhip64.so", "");
	f->plan.host.python = program;
	f->plan.host.python_include = S("/usr/include/python3.1");
	f->plan.needs_python = true;
	f->plan.version = S("1.0+rocm" SDK_ROCM);
	f->plan.sdk = (struct sdk_spec){
		.provider = S("prefix"), .prefix = path_join(&f->a, f->top, S("rocm"))};
	f->plan.foreign = NEW(&f->a, struct plan_foreign);
	f->plan.foreign->system = SOURCE_CMAKE;
	f->plan.foreign->cost.memory = 1;
	assert_ok(read_text(f, json(f), &back));
	assert_false(fs_present(mark));
	assert_null(back.here);
	assert_err(plan_meet_python(&f->a, &back), E_TOOL_FAILED); /* the trap works */
	assert_true(fs_present(mark));
	assert_ok(fs_remove(mark));
	suffix_meet(&f->a, &back);
	assert_true(fs_present(mark));
}

/* A suite is part of a folder's name, and SDKs are programs. */
static void an_sdk_elsewhere_is_not_reached_by_the_name_of_a_suite(void **state)
{
	struct fixture *f = *state;
	static const char *const suites[] = {"sid/../../../x", "../sid", "", "none", "sid\n"};
	const struct sdk_provider *provider;
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		struct sdk_spec spec = {.provider = S("debian"), .suite = str_from(suites[i])},
				full;
		if (*suites[i])
			assert_err_says(
				sdk_complete(&spec, &full, &provider), E_USAGE, "unknown suite");
		else
			assert_ok(sdk_complete(&spec, &full, &provider));
	}
	(void)f;
}

static void a_plan_that_names_no_archive_is_refused(void **state)
{
	struct fixture *f = *state;
	struct plan_wish back;
	make_plan(f);
	assert_err(read_text(f, edited(f, "\"mirror\": \"\"", "\"mirror\": \"ssh://x/\""), &back),
		E_USAGE);
	assert_err(
		read_text(f, edited(f, "\"mirror\": \"\"", "\"mirror\": \"http://x/ y\""), &back),
		E_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(every_field_survives_saving),
		FIXTURE_TEST(forecasts_and_findings_are_not_read_back),
		FIXTURE_TEST(targets_may_be_edited_and_are_put_in_order),
		FIXTURE_TEST(flags_and_defines_may_be_edited),
		FIXTURE_TEST(edits_that_make_no_sense_are_refused),
		FIXTURE_TEST(plans_of_other_build_systems_are_checked_too),
		FIXTURE_TEST(a_plan_of_nothing_is_refused),
		FIXTURE_TEST(header_folders_are_those_of_known_packages),
		FIXTURE_TEST(what_is_no_plan_is_told_so),
		FIXTURE_TEST(a_plan_of_parts_that_are_gone_is_refused),
		FIXTURE_TEST(a_plan_for_the_sdks_libc_fits_any_machine),
		FIXTURE_TEST(a_plan_for_this_machines_libc_fits_this_machine_only),
		FIXTURE_TEST(pythons_version_matters_where_its_headers_are_used),
		FIXTURE_TEST(nothing_that_a_plan_names_is_run_by_reading_it),
		FIXTURE_TEST(an_sdk_elsewhere_is_not_reached_by_the_name_of_a_suite),
		FIXTURE_TEST(a_plan_that_names_no_archive_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
