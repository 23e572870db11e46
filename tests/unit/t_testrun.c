/* Skip lists, JUnit XML, journals of processes, and the comparison of two runs. */
#define KIT_MORE                                                                                   \
	struct test_request q;                                                                     \
	struct test_driver driver;                                                                 \
	struct test_evidence out;                                                                  \
	struct test_run run;
#include "testrun/testrun_int.h"
#include "unit/kit.h"

/* ---- ids and skip lists ---- */

static void an_id_stands_for_what_is_below_it_and_nothing_else(void **state)
{
	(void)state;
	assert_true(test_id_below(S("a.py::T::t[1]"), S("a.py::T::t[1]")));
	assert_true(test_id_below(S("a.py::T::t[1]"), S("a.py::T::t")));
	assert_true(test_id_below(S("a.py::T::t[1]"), S("a.py::T")));
	assert_true(test_id_below(S("a.py::T::t[1]"), S("a.py")));
	assert_false(test_id_below(S("a.py::T::test_print_all"), S("a.py::T::test_print")));
	assert_false(test_id_below(S("a.py::T"), S("a.py::T::t")));
	assert_false(test_id_below(S("b.py::T"), S("a.py")));
}

#define ENTRY(more) "- {reason: r, issue: i, added: 2026-01-01, expires: 2026-12-31, " more "}\n"

static void a_skip_list_is_read_strictly(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"- {id: a.py}\n", "a skip list is"},
		{"skip: none\n", "a skip list is"},
		{"skip:\n- word\n", "is a map"},
		{"skip:\n" ENTRY("id: a.py::t, until: 1"), "until"},
		{"skip:\n- {id: a.py::t}\n", "needs 'reason'"},
		{"skip:\n" ENTRY("idd: a.py::t"), "idd"},
		{"skip:\n" ENTRY("id: /etc/a.py::t"), "no id of a test"},
		{"skip:\n" ENTRY("id: ../a.py::t"), "no id of a test"},
		{"skip:\n" ENTRY("id: test_print"), "no id of a test"},
		{"skip:\n" ENTRY("id: 'test*.py::t'"), "pattern"},
		{"skip:\n" ENTRY("id: \"a.py::t\\e[31m\""), "control character"},
		{"skip:\n" ENTRY("id: \"a.py::t\\n\""), "control character"},
		{"skip:\n" ENTRY("id: a.py::t, torch: 'new'"), "range of versions"},
		{"skip:\n" ENTRY("id: a.py::t, gfx: {a: 1}"), "gfx"},
		{"skip:\n- {id: a.py, reason: r, issue: i, added: 2026-01-01, expires: never}\n",
			"a date like"},
		{"skip:\n- {id: a.py, reason: r, issue: i, added: 2026-13-01, expires: "
		 "2027-01-01}\n",
			"a date like"},
		{"skip:\n- {id: a.py, reason: r, issue: i, added: 2026-02-01, expires: "
		 "2026-01-01}\n",
			"expires before"},
	};
	struct test_evidence e = {.started = S("2026-06-01T00:00:00Z")};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct test_skips skips = {0};
		put(f, "s.yaml", wrong[i].text);
		assert_err_says(
			skips_read(&f->a, at(f, "s.yaml"), &e, &skips), E_SYNTAX, wrong[i].says);
	}
	struct test_skips skips = {0};
	put(f, "s.yaml", "skip:\n" ENTRY("id: a.py::t"));
	e.started = S("2026-12-31T23:59:59Z");
	assert_ok(skips_read(&f->a, at(f, "s.yaml"), &e, &skips));
	e.started = S("2027-01-01T00:00:00Z");
	assert_ok(skips_read(&f->a, at(f, "s.yaml"), &e, &skips));
	assert_false(skips.v[0].expired);
	assert_true(skips.v[1].expired);
}

static void an_entry_applies_to_its_gpus_system_and_versions(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *entry, *gpu, *torch;
		bool applies;
	} rows[] = {
		{"os: linux", "", "", true},
		{"os: windows", "", "", false},
		{"gfx: gfx1100", "gfx1100", "", true},
		{"gfx: 'gfx12*'", "gfx1201", "", true},
		{"gfx: gfx1100", "gfx1101", "", false},
		{"gfx: gfx1100", "", "", false},
		{"torch: '>=2.6,<2.8'", "", "2.7.1+rocm6.4", true},
		{"torch: '>=2.6,<2.8'", "", "2.8.0", false},
		{"torch: '>=2.6'", "", "", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct test_skips got = {0};
		struct test_evidence e = {.started = S("2026-06-01T00:00:00Z"),
			.gpu = str_from(rows[i].gpu),
			.torch = str_from(rows[i].torch)};
		struct str entry = str_fmt(&f->a,
			"skip:\n- {id: a.py, reason: r, issue: i, added: 2026-01-01, expires: "
			"2026-12-31, %s}\n",
			rows[i].entry);
		put(f, "lists/a.yaml", entry.p);
		put(f, "lists/README", "no list");
		assert_ok(fs_symlink(S("."), at(f, "lists/again.yaml")));
		assert_ok(skips_read(&f->a, at(f, "lists"), &e, &got));
		assert_int_equal(got.n, rows[i].applies);
	}
}

static void our_own_list_names_an_issue_and_versions_for_each_entry(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *gpu, *torch, *python;
		size_t applies;
	} rows[] = {{"gfx950", "2.13.0+rocm7.14.0", "3.12", 8}, {"gfx950", "2.12.0", "3.12", 1},
		{"gfx1100", "2.13.0", "3.12", 1}, {"gfx1100", "2.8.0", "3.12", 1},
		{"", "2.6.0+cu124", "3.13", 0}, {"", "2.12.0", "3.14", 3}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct test_skips skips = {0};
		struct test_evidence e = {.started = S("2026-11-29T00:00:00Z"),
			.gpu = str_from(rows[i].gpu),
			.torch = str_from(rows[i].torch),
			.python = str_from(rows[i].python)};
		assert_ok(skips_read(&f->a, S("known"), &e, &skips));
		assert_int_equal(skips.n, rows[i].applies);
		VEC_EACH (const struct test_skip, s, &skips) {
			assert_true(
				str_starts(s->issue, S("ROCm/")) && str_contains(s->issue, S("#")));
			assert_true(s->torch.n || s->python.n);
			assert_true(str_contains(s->id, S(".py::Test")));
		}
	}
}

/* ---- journals ---- */

static int begin_run(void **state)
{
	struct fixture *f = kit_new(state);
	evidence_begin(&f->a, &f->out);
	f->q.timeout = 7;
	f->driver.xml = true;
	f->out.logs = f->dir;
	f->run = (struct test_run){.a = &f->a,
		.q = &f->q,
		.driver = &f->driver,
		.out = &f->out,
		.results.a = &f->a,
		.excluded.a = &f->a};
	put(f, "0001.log", "");
	assert_ok(fs_mkdirs(at(f, "0001")));
	return 0;
}

static int end_run(void **state)
{
	struct fixture *f = *state;
	test_run_end(&f->run);
	return teardown(state);
}

#define EVENT(name, id, more) "{\"event\": \"" name "\", \"id\": \"" id "\"" more "}\n"
#define PASSED(id) EVENT("start", id, "") EVENT("result", id, ", \"outcome\": \"passed\"")
#define FAILED(id)                                                                                 \
	EVENT("start", id, "")                                                                     \
	EVENT("result", id, ", \"outcome\": \"failed\", \"message\": \"why\"")
#define END "{\"event\": \"end\", \"status\": 0}\n"
#define XML(cases) "<testsuites><testsuite>" cases "</testsuite></testsuites>"
#define CASE(n)                                                                                    \
	"<testcase><properties><property name='rocsmith' value='" n "'/></properties></testcase>"

static void read_run(struct fixture *f, bool timed_out)
{
	struct test_start s = {.folder = at(f, "0001"),
		.log = S("0001.log"),
		.died = S("killed"),
		.timed_out = timed_out};
	assert_ok(journals_read(&f->run, &s));
	evidence_judge(&f->run, &(struct test_skips){0});
}

static const struct test_result *result(struct fixture *f, const char *id)
{
	VEC_EACH (const struct test_result, t, &f->out.tests)
		if (str_eq(t->id, str_from(id)))
			return t;
	return NULL;
}

static void a_process_that_ended_well_has_as_many_tests_in_both_files(void **state)
{
	struct fixture *f = *state;
	put(f, "0001/1.journal",
		EVENT("collected", "a.py::x", "") EVENT("collected", "a.py::y", "")
			PASSED("a.py::x") PASSED("a.py::y") END);
	put(f, "0001/1.xml", XML(CASE("0") CASE("1")));
	read_run(f, false);
	assert_true(f->out.pass);
	assert_int_equal(f->out.counts[TEST_PASSED], 2);
}

static void a_missing_short_or_hostile_xml_fails_the_run(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *xml, *id;
	} wrong[] = {{NULL, "test-no-xml"}, {"", "test-no-xml"}, {"<testsuites>", "test-no-xml"},
		{"<!DOCTYPE x [<!ENTITY a 'b'>]><testsuites>&a;</testsuites>", "test-no-xml"},
		{XML(CASE("0")), "test-xml-differs"},
		{XML(CASE("0") CASE("0")), "test-xml-differs"},
		{XML(CASE("0") CASE("1") CASE("2")), "test-xml-differs"}};
	put(f, "0001/1.journal", PASSED("a.py::x") PASSED("a.py::y") END);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		f->out.findings = (struct findings){0};
		if (wrong[i].xml)
			put(f, "0001/1.xml", wrong[i].xml);
		read_run(f, false);
		assert_false(f->out.pass);
		assert_string_equal(f->out.findings.v[0].id, wrong[i].id);
		assert_true(
			str_contains(f->out.findings.v[0].message, S("a.py::y")) || wrong[i].xml);
	}
}

static void a_dead_process_is_told_by_its_test(void **state)
{
	struct fixture *f = *state;
	put(f, "0001/1.journal",
		PASSED("a.py::x") EVENT("collected", "a.py::z", "")
			EVENT("start", "a.py::y", "") "{\"event\": \"resu");
	read_run(f, false);
	assert_false(f->out.pass);
	assert_int_equal(result(f, "a.py::y")->outcome, TEST_CRASHED);
	assert_str(result(f, "a.py::y")->message, "killed");
	assert_int_equal(result(f, "a.py::z")->outcome, TEST_LOST);
	assert_int_equal(result(f, "a.py::x")->outcome, TEST_PASSED);
}

static void a_hang_is_no_crash(void **state)
{
	struct fixture *f = *state;
	put(f, "0001/1.journal", EVENT("start", "a.py::y", ""));
	read_run(f, true);
	assert_int_equal(result(f, "a.py::y")->outcome, TEST_TIMEOUT);
	assert_str(result(f, "a.py::y")->message, "it did not end within 7 s");
}

static void two_processes_that_disagree_make_a_test_flaky(void **state)
{
	struct fixture *f = *state;
	put(f, "0001/1.journal", FAILED("a.py::x") PASSED("a.py::y") FAILED("a.py::z") END);
	put(f, "0001/2.journal", PASSED("a.py::x") FAILED("a.py::y") FAILED("a.py::z") END);
	put(f, "0001/1.xml", XML(CASE("0") CASE("1") CASE("2")));
	put(f, "0001/2.xml", XML(CASE("0") CASE("1") CASE("2")));
	read_run(f, false);
	assert_int_equal(result(f, "a.py::x")->outcome, TEST_FLAKY);
	assert_int_equal(result(f, "a.py::y")->outcome, TEST_FLAKY);
	assert_int_equal(result(f, "a.py::z")->outcome, TEST_FAILED);
	assert_str(result(f, "a.py::y")->message, "why");
	assert_int_equal(result(f, "a.py::z")->tries, 2);
}

static void lines_of_a_journal_that_are_none_are_passed_over(void **state)
{
	struct fixture *f = *state;
	put(f, "0001/1.journal",
		"\n\xff\n[]\n1\n{}\n{\"event\": 1}\n{\"event\": \"result\"}\n{\"event\": "
		"\"start\", \"id\": [1]}\n"
		"{\"event\": \"result\", \"id\": \"a\\u001b\", \"outcome\": \"splendid\", "
		"\"seconds\": \"x\"}\n" END);
	put(f, "0001/1.xml", XML(""));
	read_run(f, false);
	assert_int_equal(f->out.tests.n, 1);
	assert_int_equal(f->out.tests.v[0].outcome, TEST_ERROR);
	assert_true(f->out.tests.v[0].seconds >= 0);
}

/* ---- the kernel's log ---- */

static void the_kernel_is_heard_from_the_mark_on(void **state)
{
	(void)state;
	ARENA(a);
	/* as dmesg gives it; the lines of the driver are those of ROCm/TheRock#1271, and the memory killer's */
	const struct str log =
		S("[  100.000001] amdgpu 0000:c5:00.0: amdgpu: GPU reset begin!\n"
		  "[  812.000001] usb 1-1: new device\n"
		  "[  812.345678] amdgpu 0000:c5:00.0: amdgpu: [gfxhub] page fault (src_id:0 "
		  "ring:169 vmid:8 pasid:32770)\n"
		  "[  812.400000] EXT4-fs (vda): mounted\n"
		  "[  813.000000] Out of memory: Killed process 4242 (python)");
	struct strs all = kernel_lines(&a, log, S("")),
		    some = kernel_lines(&a, log, S("[  812.000001] usb 1-1: new device")),
		    gone = kernel_lines(&a, log, S("[    1.000000] Linux version")),
		    none = kernel_lines(&a, log,
			    S("[  813.000000] Out of memory: Killed process 4242 (python)"));
	assert_int_equal(all.n, 3);
	assert_int_equal(some.n, 2);
	assert_true(str_contains(some.v[0], S("page fault")));
	assert_true(str_contains(some.v[1], S("Killed process")));
	assert_int_equal(gone.n, 3);
	assert_int_equal(none.n, 0);
}

/* ---- JUnit XML ---- */

static void what_is_written_as_junit_is_read_as_the_same(void **state)
{
	(void)state;
	ARENA(a);
	struct test_evidence e = {.suite = S("torch"),
				     .config = S("default"),
				     .started = S("2026-11-29T00:00:00Z")},
			     again = {0};
	for (unsigned i = 0; i < TEST_OUTCOMES; i++)
		*VEC_PUSH(&a, &e.tests) =
			(struct test_result){.id = str_fmt(&a, "t/a.py::T::t%u[<&\"\n::]", i),
				.outcome = (enum test_outcome)i,
				.seconds = i,
				.message = S("a < b")};
	assert_ok(junit_parse(&a, junit_text(&a, &e), S("x.xml"), &again));
	assert_int_equal(again.tests.n, TEST_OUTCOMES);
	for (unsigned i = 0; i < TEST_OUTCOMES; i++) {
		assert_str(again.tests.v[i].id, e.tests.v[i].id.p);
		assert_int_equal(again.tests.v[i].outcome, i);
		if (test_is_bad((enum test_outcome)i) || i == TEST_LISTED)
			assert_str(again.tests.v[i].message, "a < b");
		assert_true(
			again.tests.v[i].seconds > i - 0.1 && again.tests.v[i].seconds < i + 0.1);
	}
}

static void junit_of_others_has_ids_of_file_class_and_name(void **state)
{
	(void)state;
	ARENA(a);
	struct test_evidence e = {0};
	assert_ok(junit_parse(&a,
		S("<testsuite><testcase file='test/test_a.py' classname='test.test_a.TestX' "
		  "name='t[1]' time='nan'/>"
		  "<testcase classname='pkg.mod.TestY' name='t' time='2e3'><skipped "
		  "type='pytest.xfail' message='m'/></testcase>"
		  "<testcase name='alone'><failure message='one'/><error message='two'/></testcase>"
		  "<testcase name='again'><rerunFailure message='first'/></testcase></testsuite>"),
		S("x.xml"), &e));
	assert_str(e.tests.v[0].id, "test/test_a.py::TestX::t[1]");
	assert_true(e.tests.v[0].seconds >= 0 && e.tests.v[0].seconds <= 0);
	assert_str(e.tests.v[1].id, "pkg.mod.TestY::t");
	assert_int_equal(e.tests.v[1].outcome, TEST_XFAILED);
	assert_str(e.tests.v[2].id, "alone");
	assert_int_equal(e.tests.v[2].outcome, TEST_FAILED);
	assert_int_equal(e.tests.v[3].outcome, TEST_FLAKY);
	assert_false(e.pass);
}

static void evidence_of_half_a_million_tests_is_read_again(void **state)
{
	struct fixture *f = *state;
	enum { MANY = 500000 };
	static const struct machine machine;
	struct test_evidence e, again;
	evidence_begin(&f->a, &e);
	e.machine = &machine;
	e.pass = true;
	for (unsigned i = 0; i < MANY; i++)
		*VEC_PUSH(&f->a, &e.tests) = (struct test_result){
			.id = str_fmt(&f->a,
				"test/test_ops.py::TestCommonCPU::test_out_%u_cpu_float32", i),
			.outcome = i % 2 ? TEST_PASSED : TEST_SKIPPED,
			.message = i % 2 ? S("") : S("only for \"CUDA\", [not] here"),
			.tries = 1};
	assert_ok(evidence_write(&f->a, &e, at(f, "e.json"), at(f, "e.xml")));
	static const char *const names[] = {"e.json", "e.xml"};
	for (size_t i = 0; i < 2; i++) {
		ARENA(a);
		assert_ok(evidence_read(&a, at(f, names[i]), true, &again));
		assert_int_equal(again.tests.n, MANY);
		assert_true(again.pass);
		assert_str(again.tests.v[MANY - 2].message, "only for \"CUDA\", [not] here");
		assert_int_equal(again.tests.v[MANY - 1].outcome, TEST_PASSED);
	}
}

int main(void)
{
#define IN_RUN(name) cmocka_unit_test_setup_teardown(name, begin_run, end_run)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_stands_for_what_is_below_it_and_nothing_else),
		cmocka_unit_test_setup_teardown(a_skip_list_is_read_strictly, setup, teardown),
		cmocka_unit_test_setup_teardown(
			our_own_list_names_an_issue_and_versions_for_each_entry, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_entry_applies_to_its_gpus_system_and_versions, setup, teardown),
		IN_RUN(a_process_that_ended_well_has_as_many_tests_in_both_files),
		IN_RUN(a_missing_short_or_hostile_xml_fails_the_run),
		IN_RUN(a_dead_process_is_told_by_its_test),
		IN_RUN(a_hang_is_no_crash),
		IN_RUN(two_processes_that_disagree_make_a_test_flaky),
		IN_RUN(lines_of_a_journal_that_are_none_are_passed_over),
		cmocka_unit_test(the_kernel_is_heard_from_the_mark_on),
		cmocka_unit_test(what_is_written_as_junit_is_read_as_the_same),
		cmocka_unit_test(junit_of_others_has_ids_of_file_class_and_name),
		cmocka_unit_test_setup_teardown(
			evidence_of_half_a_million_tests_is_read_again, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
