/* What a failing compiler said becomes one error in the user's source: make/diagnose.c. The texts
 * are clang's own (21.1), with the options that a build passes. */
#include "make/make.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct str top, project, hip;
	struct plan plan;
	struct make b;
	struct job job;
};

static int begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	f->top = test_dir(&f->a);
	f->project = path_join(&f->a, f->top, S("proj"));
	f->hip = path_join(&f->a, f->top, S("build/hip"));
	assert_ok(fs_mkdirs(f->project));
	assert_ok(fs_mkdirs(f->hip));
	f->plan.project = f->project;
	f->b = (struct make){.a = &f->a, .plan = &f->plan, .hip = f->hip};
	f->b.set.user = &f->b;
	f->job.set = &f->b.set;
	f->job.report.kind = S("device");
	f->job.report.name = S("src/a.cu");
	f->job.report.gpu = S("gfx1201");
	f->job.proc.cwd = f->hip;
	strs_add(&f->a, &f->job.proc.argv, S("clang++"));
	*VEC_PUSH(&f->a, &f->plan.sources) = (struct plan_source){
		.path = S("src/a.cu"), .output = S("src/a.hip"), .lang = PLAN_HIP};
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	test_dir_remove(f->top);
	arena_free(&f->a);
	free(f);
	return 0;
}

static void put(struct fixture *f, const char *name, const char *text)
{
	struct str path = path_join(&f->a, f->project, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static struct err *diagnose_text(struct fixture *f, const char *said)
{
	struct proc_result r = {.status = 1, .err = str_from(said)};
	return make_diagnose(&f->a, &f->job, &r);
}

/* The error's place, relative to the project: "src/a.cu:3:5". */
static struct str place(struct fixture *f, const struct err *e)
{
	if (!e->path)
		return S("");
	struct str path = str_from(e->path), dir = str_fmt(&f->a, "%.*s/", STR(f->project));
	if (str_starts(path, dir))
		path = str_sub(path, dir.n, path.n);
	return str_fmt(&f->a, "%.*s:%u:%u", STR(path), e->line, e->col);
}

static bool has_hint(const struct err *e, const char *part)
{
	for (const struct err_hint *h = e->hints; h; h = h->next)
		if (strstr(h->text, part))
			return true;
	return false;
}

/* ---- places ---- */
static void an_error_is_located_in_the_source_not_in_its_translation(void **state)
{
	struct fixture *f = *state;
	/* the translation has one line more in front (hip_runtime.h) */
	put(f, "src/a.cu", "__global__ void k() {}\nint x = nowhere;\n");
	struct err *e =
		diagnose_text(f, "src/a.hip:3:9: error: use of undeclared identifier "
				 "'nowhere'\n1 error generated when compiling for gfx1201.\n");
	assert_int_equal(e->code, E_COMPILE);
	assert_str(place(f, e), "src/a.cu:2:9");
	assert_string_equal(e->msg, "use of undeclared identifier 'nowhere' (compiling 'src/a.cu' "
				    "for gfx1201)");
	err_free(e);
}

static void columns_are_led_back_through_the_edits_of_their_line(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "void f(void *p)\n{\n\tcudaFree(p); nowhere();\n}\n");
	/* hipFree is one byte shorter than cudaFree */
	struct err *e = diagnose_text(f, "src/a.hip:4:14: error: use of undeclared identifier "
					 "'nowhere'\n");
	assert_str(place(f, e), "src/a.cu:3:15");
	err_free(e);
}

static void a_place_within_a_replaced_name_is_where_the_name_begins(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "void f(void *p)\n{\n\tcudaFree(p);\n}\n");
	struct err *e = diagnose_text(f, "src/a.hip:4:5: error: strange\n");
	assert_str(place(f, e), "src/a.cu:3:2");
	err_free(e);
}

static const struct {
	const char *path, *want; /* as the compiler writes it; in the user's terms */
} paths[] = {
	{"src/a.hip:3:1", "src/a.cu:2:1"},
	{"./src/a.hip:3:1", "src/a.cu:2:1"},
	{"src/../src/a.hip:3:1", "src/a.cu:2:1"},
	{"HIP/src/a.hip:3:1", "src/a.cu:2:1"},
	{"PROJECT/k.h:1:5", "k.h:1:5"},
	{"k.h:2:1", "k.h:2:1"},
	{"/usr/include/stdio.h:3:1", ""},
};

static void paths_are_told_apart_by_where_they_lie(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "int x;\nint y;\nint z;\n");
	put(f, "k.h", "int a;\nint b;\n");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct str path = str_from(paths[i].path);
		if (str_starts(path, S("HIP/")))
			path = str_fmt(&f->a, "%.*s/%s", STR(f->hip), path.p + 4);
		else if (str_starts(path, S("PROJECT/")))
			path = str_fmt(&f->a, "%.*s/%s", STR(f->project), path.p + 8);
		struct err *e = diagnose_text(f, str_fmt(&f->a, "%.*s: error: bad\n", STR(path)).p);
		if (!str_eq(place(f, e), str_from(paths[i].want)))
			fail_msg("%s: '%.*s'", paths[i].path, STR(place(f, e)));
		err_free(e);
	}
}

static void an_error_in_a_header_of_the_sdk_points_to_the_include(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "#include <vector>\n#include \"lib.h\"\n");
	struct err *e =
		diagnose_text(f, "In file included from src/a.hip:3:\n"
				 "In file included from /opt/rocm/include/x.h:7:\n"
				 "/opt/rocm/include/y.h:10:2: error: \"this needs C++20\"\n");
	assert_str(place(f, e), "src/a.cu:2:0");
	assert_true(test_err_says(e, "(in /opt/rocm/include/y.h:10)"));
	err_free(e);
}

static void an_error_in_a_template_points_to_the_users_call(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "int main_part()\n{\n\treturn g(1);\n}\n");
	struct err *e = diagnose_text(f,
		"/usr/include/c++/12/x.h:5:3: error: static assertion failed\n"
		"/usr/include/c++/12/z.h:9:3: note: in instantiation of 'h<int>' requested here\n"
		"src/a.hip:4:9: note: in instantiation of 'g<int>' requested here\n"
		"src/a.hip:2:1: note: another\n"
		"1 error generated.\n");
	assert_str(place(f, e), "src/a.cu:3:9");
	struct str detail = str_from(e->detail);
	assert_true(str_contains(detail, S("z.h:9:3: note: in instantiation of 'h<int>'")));
	assert_true(str_contains(detail, S("src/a.cu:3:9: note:"))); /* the user's terms */
	err_free(e);
}

/* ---- which error ---- */
static void warnings_before_it_do_not_hide_the_first_error(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "int x;\nint y;\nint z;\n");
	struct err *e = diagnose_text(f, "src/a.hip:2:1: warning: unused variable 'x' [-Wunused]\n"
					 "src/a.hip:2:5: note: declared here\n"
					 "src/a.hip:3:1: fatal error: 'no.h' file not found\n"
					 "src/a.hip:4:1: error: second\n"
					 "src/a.hip:4:2: note: of the second\n");
	assert_str(place(f, e), "src/a.cu:2:1");
	assert_true(test_err_says(e, "'no.h' file not found"));
	assert_false(test_err_says(e, "second"));
	assert_null(e->also);
	assert_true(!e->detail || !strstr(e->detail, "second"));
	err_free(e);
}

static void with_keep_going_the_further_errors_follow(void **state)
{
	struct fixture *f = *state;
	f->b.keep_going = true;
	put(f, "src/a.cu", "int x;\nint y;\nint z;\n");
	struct err *e = diagnose_text(f, "src/a.hip:2:1: error: first\n"
					 "src/a.hip:3:1: error: second\n"
					 "src/a.hip:3:2: note: of the second\n"
					 "src/a.hip:4:1: error: third\n"
					 "3 errors generated.\n");
	unsigned n = 0;
	bool second = false, third = false;
	for (const struct err *x = e; x; x = x->also) {
		n++;
		second |= strstr(x->msg, "second") && x->line == 2;
		third |= strstr(x->msg, "third") && x->line == 3;
	}
	assert_int_equal(n, 3);
	assert_true(second && third);
	err_free(e);
}

static void a_flood_of_notes_is_cut(void **state)
{
	struct fixture *f = *state;
	struct str text = S("src/a.hip:2:1: error: first\n");
	put(f, "src/a.cu", "int x;\n");
	for (unsigned i = 0; i < 50; i++)
		text = str_fmt(&f->a, "%.*ssrc/a.hip:2:1: note: candidate %u\n", STR(text), i);
	struct err *e = diagnose_text(f, text.p);
	struct str detail = str_from(e->detail), line;
	unsigned n = 0;
	while (str_next(&detail, '\n', &line))
		n += line.n > 0;
	assert_int_equal(n, 12);
	err_free(e);
}

/* ---- hints ---- */
static const struct {
	const char *said, *hint;
	bool link;
} hints[] = {
	{"src/a.hip:2:1: fatal error: 'hiprand/hiprand.h' file not found\n", "'hiprand' has it",
		false},
	{"src/a.hip:2:1: fatal error: 'thrust/sort.h' file not found\n", "'rocthrust' has it",
		false},
	{"src/a.hip:2:1: fatal error: 'mine.h' file not found\n", "known to have 'mine.h'", false},
	{"src/a.hip:2:1: fatal error: 'mine.h' file not found with <angled> include; use "
	 "\"quotes\" instead\n",
		"its folder in 'includes'", false},
	{"ld.lld: error: unable to find library -lhipfft\n", "'hipfft' has it", true},
	{"ld.lld: error: unable to find library -lfoo\n", "'libraries' of rocsmith.yaml", true},
};

static void hints_name_what_is_missing(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "int x;\n");
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		f->job.report.kind = hints[i].link ? S("link") : S("device");
		struct err *e = diagnose_text(f, hints[i].said);
		assert_int_equal(e->code, hints[i].link ? E_LINK : E_COMPILE);
		if (!has_hint(e, hints[i].hint))
			fail_msg("no hint '%s' for %s", hints[i].hint, hints[i].said);
		err_free(e);
	}
}

static void names_of_cuda_that_are_left_are_hints_where_they_lie(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "int x;\n");
	*VEC_PUSH(&f->a, &f->b.tree.untranslated) = (struct untranslated){.path = S("src/a.cu"),
		.name = S("cudaNothing"),
		.line = 7,
		.suggestion = S("use hipSomething")};
	*VEC_PUSH(&f->a, &f->b.tree.untranslated) =
		(struct untranslated){.path = S("src/b.cu"), .name = S("cudaOther"), .line = 1};
	struct err *e = diagnose_text(f, "src/a.hip:2:1: error: unknown 'cudaNothing'\n");
	assert_true(has_hint(e, "src/a.cu:7: 'cudaNothing' has no counterpart in HIP: use hip"));
	assert_false(has_hint(e, "cudaOther"));
	err_free(e);
}

/* ---- errors without a place ---- */
static void the_linkers_error_names_the_module(void **state)
{
	struct fixture *f = *state;
	f->job.report = (struct job_report){.kind = S("link"), .name = S("fast.so")};
	struct err *e =
		diagnose_text(f, "ld.lld: error: undefined symbol: helper()\n"
				 ">>> referenced by a.cu:3\n"
				 ">>>               obj/a.o:(f())\n"
				 "clang++: error: linker command failed with exit code 1\n");
	assert_int_equal(e->code, E_LINK);
	assert_string_equal(e->msg, "ld.lld: undefined symbol: helper() (linking 'fast.so')");
	assert_null(e->path);
	assert_true(e->detail && strstr(e->detail, "referenced by a.cu:3"));
	err_free(e);
}

static void an_error_of_the_driver_is_told_as_it_is(void **state)
{
	struct fixture *f = *state;
	struct err *e = diagnose_text(f, "clang++: error: unknown argument: '-fno-such'\n");
	assert_int_equal(e->code, E_COMPILE);
	assert_string_equal(e->msg, "clang++: unknown argument: '-fno-such' (compiling 'src/a.cu' "
				    "for gfx1201)");
	err_free(e);
}

static void a_compiler_without_words_is_a_failed_program(void **state)
{
	struct fixture *f = *state;
	static const char *const texts[] = {"", "no colon\n", ":::\n", "x:1:2\n", ": error\n",
		"a.hip:1:1: remark: nice\n", "In file included from \n"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_err(diagnose_text(f, texts[i]), E_TOOL_FAILED);
}

static void a_killed_compiler_may_have_run_out_of_memory(void **state)
{
	struct fixture *f = *state;
	struct proc_result r = {.status = 128 + 9, .err = S("")};
	struct err *e = make_diagnose(&f->a, &f->job, &r);
	assert_int_equal(e->code, E_TOOL_FAILED);
	assert_true(has_hint(e, "-j1"));
	err_free(e);
	r.status = 128 + 11;
	e = make_diagnose(&f->a, &f->job, &r);
	assert_false(has_hint(e, "-j1"));
	err_free(e);
}

static void places_beyond_the_file_stay_inside_of_it(void **state)
{
	struct fixture *f = *state;
	put(f, "src/a.cu", "int x;\n");
	static const char *const places[] = {"99:1", "2:99999", "4294967295:4294967295", "1:1"};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct err *e =
			diagnose_text(f, str_fmt(&f->a, "src/a.hip:%s: error: odd\n", places[i]).p);
		assert_true(e->line >= 1 && e->line <= 2);
		err_free(e);
	}
}

static void a_source_that_is_gone_meanwhile_keeps_the_compilers_place(void **state)
{
	struct fixture *f = *state;
	struct err *e = diagnose_text(f, "src/a.hip:5:2: error: bad\n");
	assert_str(place(f, e), "src/a.cu:5:2");
	err_free(e);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* ---- warnings ---- */
static void a_warning_is_told_once_in_the_users_source(void **state)
{
	struct fixture *f = *state;
	struct str said = S("src/a.hip:4:18: warning: unused variable 'x' [-Wunused-variable]\n"
			    "src/a.hip:4:18: note: declared here\n"
			    "src/a.hip:9:9: error: no warning\n"
			    "/opt/x.h:1:2: warning: of a header\n"
			    "In file included from src/a.hip:2:\n"
			    "/opt/x.h:5:2: warning: because of the source\n"
			    "clang++: warning: argument unused\n"
			    "4 warnings generated.\n");
	static const char *const want[] = {"src/a.cu:3:19: unused variable 'x' [-Wunused-variable]",
		"/opt/x.h:1:2: of a header", "src/a.cu:1:0: because of the source",
		"clang++: argument unused"};
	put(f, "src/a.cu", "#include <x.h>\nvoid f() {\n\tcudaFree(0); int x;\n}\n");
	make_add_warnings(&f->b, &f->job, said);
	f->job.report.gpu = S("gfx90a");
	make_add_warnings(&f->b, &f->job, said);
	make_add_warnings(&f->b, &f->job, S(""));
	assert_int_equal(f->b.warnings.n, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct finding *w = &f->b.warnings.v[i];
		assert_str(str_fmt(&f->a, "%.*s: %.*s", STR(w->path), STR(w->message)), want[i]);
		assert_int_equal(w->severity, SEV_WARNING);
	}
}

static void warnings_without_end_are_cut_off(void **state)
{
	struct fixture *f = *state;
	BUF(said, &f->a);
	for (unsigned i = 1; i <= 1000; i++)
		buf_fmt(&said, "x.h:%u:1: warning: again\n", i);
	make_add_warnings(&f->b, &f->job, buf_str(&said));
	assert_int_equal(f->b.warnings.n, 200);
}

/* The line of a place is shown, and #line can name any file. */
static void no_place_leads_out_of_the_project(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"key.h", "PROJECT/key.h", "HIP/key.h", "lib/key",
		"./lib/../lib/key", "HIP/../hip/lib/key"};
	put(f, "src/a.cu", "int x;\n");
	put(f, "../key", "precious\n");
	assert_ok(fs_symlink(S("../key"), path_join(&f->a, f->project, S("key.h"))));
	assert_ok(fs_symlink(S(".."), path_join(&f->a, f->project, S("lib"))));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct str path = str_replace(&f->a, str_from(names[i]), S("HIP"), f->hip);
		path = str_replace(&f->a, path, S("PROJECT"), f->project);
		struct err *e =
			diagnose_text(f, str_fmt(&f->a, "%.*s:1:1: error: x\n", STR(path)).p);
		if (e->path)
			fail_msg("%s: at %s", names[i], e->path);
		err_free(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_error_is_located_in_the_source_not_in_its_translation),
		TEST(columns_are_led_back_through_the_edits_of_their_line),
		TEST(a_place_within_a_replaced_name_is_where_the_name_begins),
		TEST(paths_are_told_apart_by_where_they_lie),
		TEST(an_error_in_a_header_of_the_sdk_points_to_the_include),
		TEST(an_error_in_a_template_points_to_the_users_call),
		TEST(warnings_before_it_do_not_hide_the_first_error),
		TEST(with_keep_going_the_further_errors_follow),
		TEST(a_flood_of_notes_is_cut),
		TEST(hints_name_what_is_missing),
		TEST(names_of_cuda_that_are_left_are_hints_where_they_lie),
		TEST(the_linkers_error_names_the_module),
		TEST(an_error_of_the_driver_is_told_as_it_is),
		TEST(a_compiler_without_words_is_a_failed_program),
		TEST(a_killed_compiler_may_have_run_out_of_memory),
		TEST(places_beyond_the_file_stay_inside_of_it),
		TEST(a_source_that_is_gone_meanwhile_keeps_the_compilers_place),
		TEST(a_warning_is_told_once_in_the_users_source),
		TEST(warnings_without_end_are_cut_off),
		TEST(no_place_leads_out_of_the_project),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
