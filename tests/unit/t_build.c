/* The build folder, dry runs, and build.json, what reports are drawn from; read back as any reader
 * would: build/. */
#include "flow/build.h"
#include "formats/node.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct plan_wish wish;
	struct build_request request;
	struct build_result result;
	const struct err *failure;
};

static int begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	f->wish.plan.project = S("/home/u/\"odd\" proj");
	f->wish.plan.name = S("saxpy");
	f->result.plan = &f->wish.plan;
	f->request = (struct build_request){.wish = &f->wish, .began = mono_now()};
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	arena_free(&f->a);
	free(f);
	return 0;
}

static const struct node *record(struct fixture *f)
{
	const struct node *doc = NULL;
	struct str text = build_report(&f->a, &f->request, &f->result, f->failure);
	assert_ok(json_parse(&f->a, text, S("build.json"), &doc));
	assert_str(node_text(doc, S("schema"), S("")), "rocsmith.build/1");
	return doc;
}

static void a_record_of_nothing_is_complete(void **state)
{
	struct fixture *f = *state;
	static const char *const members[] = {"rocsmith", "started", "seconds", "jobs", "project",
		"dir", "sdk", "stages", "steps", "wheel", "bytes", "translated", "findings",
		"plan"};
	const struct node *doc = record(f);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!node_get(doc, str_from(members[i])))
			fail_msg("no member '%s'", members[i]);
	assert_null(node_get(doc, S("error")));
	assert_str(node_text(doc, S("project"), S("")), "/home/u/\"odd\" proj");
	assert_str(node_text(node_get(node_get(doc, S("plan")), S("project")), S("name"), S("")),
		"saxpy");
}

static void all_stages_have_their_seconds(void **state)
{
	struct fixture *f = *state;
	static const char *const names[STAGE_COUNT] = {
		"sdk", "hipify", "compile", "package", "verify"};
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		f->result.seconds[i] = i + 0.5;
	const struct node *stages = node_get(record(f), S("stages"));
	assert_int_equal(stages->n, STAGE_COUNT);
	for (unsigned i = 0; i < STAGE_COUNT; i++) {
		assert_str(stages->v[i].key, names[i]);
		assert_true(node_number(stages, stages->v[i].key, 0) == i + 0.5);
	}
}

static void steps_keep_what_they_cost(void **state)
{
	struct fixture *f = *state;
	*VEC_PUSH(&f->a, &f->result.steps) = (struct job_report){.kind = S("device"),
		.name = S("a.cu"),
		.gpu = S("gfx1201"),
		.start = 0.25,
		.cost = {.seconds = 1.5, .cpu = 1.25, .memory = 5000000000},
		.done = true};
	*VEC_PUSH(&f->a, &f->result.steps) =
		(struct job_report){.kind = S("link"), .name = S("m.so"), .cached = true};
	const struct node *steps = node_get(record(f), S("steps"));
	assert_int_equal(steps->n, 2);
	const struct node *one = &steps->v[0], *two = &steps->v[1];
	assert_str(node_text(one, S("gpu"), S("")), "gfx1201");
	assert_true(node_number(one, S("start"), 0) == 0.25);
	assert_true(node_number(one, S("cpu"), 0) == 1.25);
	assert_true(node_u64(one, S("memory"), 0) == 5000000000);
	assert_true(node_bool(one, S("done"), false) && !node_bool(one, S("cached"), true));
	assert_true(node_bool(two, S("cached"), false) && !node_bool(two, S("done"), true));
}

static void versions_of_the_sdk_are_named_one_by_one(void **state)
{
	struct fixture *f = *state;
	f->result.sdk = (struct sdk){.name = S("debian-sid"), .fingerprint = S("ab12")};
	*VEC_PUSH(&f->a, &f->result.sdk.components) =
		(struct sdk_component){.name = S("hip"), .version = S("6.4.43484")};
	*VEC_PUSH(&f->a, &f->result.sdk.components) =
		(struct sdk_component){.name = S("clang"), .version = S("21.1.8")};
	const struct node *sdk = node_get(record(f), S("sdk"));
	assert_str(node_text(sdk, S("name"), S("")), "debian-sid");
	assert_str(node_text(sdk, S("fingerprint"), S("")), "ab12");
	const struct node *components = node_get(sdk, S("components"));
	assert_str(node_text(components, S("hip"), S("")), "6.4.43484");
	assert_str(node_text(components, S("clang"), S("")), "21.1.8");
}

static void a_failed_build_tells_its_root_cause(void **state)
{
	struct fixture *f = *state;
	struct err *e = err_at(err_new(E_COMPILE, "expected ';'"),
		(struct loc){.path = S("/p/a.cu"), .line = 7, .col = 3});
	e = err_wrap(e, "cannot build");
	f->failure = e;
	const struct node *error = node_get(record(f), S("error"));
	assert_str(node_text(error, S("id"), S("")), "E0410");
	assert_str(node_text(error, S("message"), S("")), "expected ';'");
	assert_str(node_text(error, S("path"), S("")), "/p/a.cu");
	assert_int_equal(node_u64(error, S("line"), 0), 7);
	err_free(e);
}

static void further_members_and_findings_are_added(void **state)
{
	struct fixture *f = *state;
	struct finding *x =
		finding_add(&f->a, &f->result.findings, "cuda-name-left", SEV_WARNING, S("a.cu"));
	finding_say(&f->a, x, "line 3: 'cudaX' has no counterpart");
	f->result.started = f->result.verified = true;
	f->result.verdict.path = S("/out/x.whl");
	f->result.wheel = S("/out/x.whl");
	f->result.wheel_size = 1234;
	const struct node *doc = record(f);
	const struct node *facts = node_get(doc, S("facts")), *verify = node_get(doc, S("verify"));
	assert_true(facts->kind == NODE_MAP && facts->n > 0);
	assert_str(node_text(verify, S("schema"), S("")), "rocsmith.verify/1");
	const struct node *wheels = node_get(verify, S("wheels"));
	assert_int_equal(wheels->n, 1);
	assert_str(node_text(&wheels->v[0], S("path"), S("")), "/out/x.whl");
	assert_str(node_text(doc, S("wheel"), S("")), "/out/x.whl");
	assert_int_equal(node_u64(doc, S("bytes"), 0), 1234);
	const struct node *findings = node_get(doc, S("findings"));
	assert_int_equal(findings->n, 1);
	assert_str(node_text(&findings->v[0], S("id"), S("")), "cuda-name-left");
}

static bool is_proved(struct fixture *f)
{
	struct verify_options o = {.device_code = true};
	struct build_result *r = &f->result;
	r->proved = (struct build_proof){0};
	r->verdict = (struct verdict){0};
	assert_ok(build_proved(&f->a, &o, r));
	return r->proved.verify != NULL;
}

/* Builds, with that verdict, and keeps the record. */
static void keep_record(struct fixture *f, bool pass)
{
	struct finding *x = finding_add(
		&f->a, &f->result.verdict.findings, "needed-sdk", SEV_WARNING, S("\"a"));
	finding_say(&f->a, x, "needs it");
	finding_fix(&f->a, x, "bring it");
	f->result.verdict.path = f->result.wheel;
	f->result.verdict.pass = pass;
	f->result.verified = true;
	assert_ok(fs_write(path_join(&f->a, f->result.dir, S("build.json")),
		build_report(&f->a, &f->request, &f->result, NULL), 0644));
}

static void the_same_wheel_is_proved_once(void **state)
{
	struct fixture *f = *state;
	struct str dir = test_dir(&f->a);
	f->result.dir = dir;
	f->result.wheel = path_join(&f->a, dir, S("x.whl"));
	f->result.sdk.fingerprint = S("ab12");
	strs_add(&f->a, &f->wish.plan.gpus, S("gfx1201"));
	assert_ok(fs_write(f->result.wheel, S("a wheel"), 0644));
	assert_false(is_proved(f));
	keep_record(f, true);
	const struct node *before = record(f);
	for (unsigned again = 0; again < 2; again++) {
		assert_true(is_proved(f));
		assert_true(f->result.verdict.pass);
		assert_int_equal(f->result.verdict.findings.n, 1);
		const struct finding *x = f->result.verdict.findings.v;
		assert_string_equal(x->id, "needed-sdk");
		assert_int_equal(x->severity, SEV_WARNING);
		assert_str(x->path, "\"a");
		assert_str(x->message, "needs it");
		assert_str(x->fix.v[0], "bring it");
		const struct node *doc = record(f);
		assert_int_equal(doc->n, before->n);
		assert_str(node_text(doc, S("sha256"), S("")), f->result.sha256.p);
		assert_ok(fs_write(path_join(&f->a, dir, S("build.json")),
			build_report(&f->a, &f->request, &f->result, NULL), 0644));
	}
	f->result.sdk.fingerprint = S("cd34");
	assert_false(is_proved(f));
	f->result.sdk.fingerprint = S("ab12");
	f->wish.plan.gpus.v[0] = S("gfx1100");
	assert_false(is_proved(f));
	f->wish.plan.gpus.v[0] = S("gfx1201");
	assert_true(is_proved(f));
	assert_ok(fs_write(f->result.wheel, S("A wheel"), 0644));
	assert_false(is_proved(f));
	test_dir_remove(dir);
}

static void a_wheel_that_failed_is_looked_at_again(void **state)
{
	struct fixture *f = *state;
	f->result.dir = test_dir(&f->a);
	f->result.wheel = path_join(&f->a, f->result.dir, S("x.whl"));
	assert_ok(fs_write(f->result.wheel, S("a wheel"), 0644));
	assert_false(is_proved(f));
	keep_record(f, false);
	assert_false(is_proved(f));
	assert_ok(fs_write(path_join(&f->a, f->result.dir, S("build.json")),
		str_fmt(&f->a, "{\"proof\":\"%.*s\",\"verify\":", STR(f->result.proof)), 0644));
	assert_false(is_proved(f)); /* the record was cut off */
	test_dir_remove(f->result.dir);
}

/* ---- dry runs, folders ---- */
static void a_dry_run_lists_the_steps_of_a_build(void **state)
{
	struct fixture *f = *state;
	static const char *const want[] = {"device a.cu gfx1201", "device a.cu gfx90a:xnack-",
		"bundle a.cu ", "host a.cu ", "c++ b.cpp ", "link m.so "};
	struct plan *p = &f->wish.plan;
	strs_add(&f->a, &p->gpus, S("gfx1201"));
	strs_add(&f->a, &p->gpus, S("gfx90a:xnack-"));
	*VEC_PUSH(&f->a, &p->sources) =
		(struct plan_source){.path = S("a.cu"), .output = S("a.hip"), .lang = PLAN_HIP};
	*VEC_PUSH(&f->a, &p->sources) =
		(struct plan_source){.path = S("b.cpp"), .output = S("b.cpp"), .lang = PLAN_CXX};
	struct plan_module *m = VEC_PUSH(&f->a, &p->modules);
	m->name = m->file = S("m.so");
	strs_add(&f->a, &m->sources, S("a.cu"));
	strs_add(&f->a, &m->sources, S("b.cpp"));
	fs_forbid_writes();
	assert_ok(build_preview(&f->a, &f->request, &f->result));
	assert_int_equal(f->result.steps.n, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < f->result.steps.n; i++) {
		const struct job_report *s = &f->result.steps.v[i];
		assert_str(
			str_fmt(&f->a, "%.*s %.*s %.*s", STR(s->kind), STR(s->name), STR(s->gpu)),
			want[i]);
		assert_false(s->done || s->cached);
	}
	assert_true(f->result.jobs > 0);
	assert_null(node_get(record(f), S("facts")));
}

static void each_project_has_a_build_folder_of_its_own(void **state)
{
	(void)state;
	ARENA(a);
	struct str one = build_folder(&a, S("/home/u/saxpy"), S(""));
	struct str two = build_folder(&a, S("/home/v/saxpy"), S(""));
	assert_true(str_starts(path_base(one), S("saxpy-")));
	assert_true(str_starts(path_base(two), S("saxpy-")));
	assert_false(str_eq(one, two));
	assert_true(str_eq(one, build_folder(&a, S("/home/u/saxpy"), S(""))));
	assert_true(one.p[0] == '/');
	/* one for each environment, and not in the cache: its modules stay in use */
	struct str live = build_folder(&a, S("/home/u/saxpy"), S("/home/u/env"));
	assert_false(str_eq(live, build_folder(&a, S("/home/u/saxpy"), S("/home/u/env2"))));
	assert_true(str_starts(live, fs_place(&a, FS_DATA, S("editable/saxpy-"))));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* Its name has 48 bits of a hash, which two paths can share. */
static void a_build_folder_of_another_project_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	struct str home = test_dir(&a);
	setenv("ROCSMITH_HOME", str_z(&a, home), 1);
	struct str dir = build_folder(&a, S("/home/u/saxpy"), S(""));
	for (int i = 0; i < 2; i++)
		assert_ok(build_folder_take(&a, dir, S("/home/u/saxpy")));
	assert_err_says(build_folder_take(&a, dir, S("/home/v/saxpy")), E_USAGE, "'/home/u/saxpy'");
	assert_int_equal(chmod(dir.p, 0777), 0);
	assert_err_says(
		build_folder_take(&a, dir, S("/home/u/saxpy")), E_PERM, "written by others");
	unsetenv("ROCSMITH_HOME");
	test_dir_remove(home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_record_of_nothing_is_complete),
		TEST(all_stages_have_their_seconds),
		TEST(steps_keep_what_they_cost),
		TEST(versions_of_the_sdk_are_named_one_by_one),
		TEST(a_failed_build_tells_its_root_cause),
		TEST(further_members_and_findings_are_added),
		TEST(the_same_wheel_is_proved_once),
		TEST(a_wheel_that_failed_is_looked_at_again),
		TEST(a_dry_run_lists_the_steps_of_a_build),
		cmocka_unit_test(each_project_has_a_build_folder_of_its_own),
		cmocka_unit_test(a_build_folder_of_another_project_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
