/* Matrix files: cells and their words, excludes, what is refused; the folder of results; arrays of Slurm's jobs. */
#include "base/fs.h"
#include "base/hash.h"
#include "flow/matrix.h"

#define KIT_MORE struct matrix m;
#include "unit/kit.h"

static const struct matrix_option options[] = {{"gpu", MATRIX_LIST}, {"python", MATRIX_TEXT},
	{"sdk", MATRIX_TEXT}, {"with", MATRIX_LIST}, {"torch-as-rocm", MATRIX_FLAG},
	{"keyring", MATRIX_TEXT}, {.name = NULL}};

static struct err *parse(struct fixture *f, const char *text, bool trust)
{
	const struct matrix_source s = {
		.path = at(f, "m.yaml"), .options = options, .trust = trust};
	return matrix_parse(&f->a, &s, str_from(text), &f->m);
}

static struct str words(struct fixture *f, size_t cell)
{
	const struct matrix_cell *c = &f->m.cells.v[cell];
	return str_fmt(&f->a, "%.*s %.*s %.*s", STR(c->name), STR(c->project),
		STR(str_join(&f->a, &c->words, S(" "))));
}

static void axes_are_multiplied_and_the_last_changes_first(void **state)
{
	struct fixture *f = *state;
	assert_ok(parse(f,
		"name: wheels\noptions: {sdk: debian, with: [a.whl, b.whl]}\naxes:\n"
		"  release:\n  - {name: old, project: ./old, torch-as-rocm: true}\n"
		"  - {name: new, project: ./new, sdk: 'rocm:10.1', torch-as-rocm: false}\n"
		"  gpu: [gfx1100, [gfx942, gfx90a]]\n",
		false));
	assert_str(f->m.name, "wheels");
	assert_str(f->m.state, str_z(&f->a, at(f, "m.out")));
	assert_int_equal(f->m.cells.n, 4);
	assert_str(words(f, 0),
		"old-gfx1100 ./old --sdk=debian --with=a.whl --with=b.whl --torch-as-rocm "
		"--gpu=gfx1100");
	assert_str(words(f, 3), "new-gfx942+gfx90a ./new --sdk=debian --with=a.whl --with=b.whl "
				"--sdk=rocm:10.1 --no-torch-as-rocm --gpu=gfx942 --gpu=gfx90a");
}

static void excludes_need_a_reason_and_end_on_their_day(void **state)
{
	struct fixture *f = *state;
	assert_ok(parse(f,
		"axes: {gpu: [gfx90a, gfx942, gfx1100], python: ['3.11', '3.12']}\nexclude:\n"
		"- {gpu: 'gfx9*', python: '3.12', reason: slow, until: 2999-12-31}\n"
		"- {gpu: gfx942, reason: broken then, until: 2001-01-01}\n"
		"- {python: '4.*', reason: some day}\n",
		false));
	assert_int_equal(f->m.cells.n, 4);
	assert_int_equal(f->m.excluded.n, 2);
	assert_str(f->m.excluded.v[1].name, "gfx942-3.12");
	assert_str(f->m.excluded.v[1].reason, "slow");
	assert_true(f->m.excludes.v[1].expired && f->m.excludes.v[1].cells == 2);
	assert_true(!f->m.excludes.v[2].expired && !f->m.excludes.v[2].cells);
	assert_err(parse(f, "axes: {gpu: [a]}\nexclude: [{gpu: a}]", false), E_SYNTAX);
	assert_err(parse(f, "axes: {gpu: [a]}\nexclude: [{reason: a}]", false), E_SYNTAX);
	assert_err(parse(f, "axes: {gpu: [a]}\nexclude: [{gup: a, reason: a}]", false), E_SYNTAX);
	assert_err(parse(f, "axes: {gpu: [a]}\nexclude: [{gpu: a, reason: a, until: soon}]", false),
		E_SYNTAX);
	assert_err(
		parse(f, "axes: {gpu: [a]}\nexclude: [{gpu: '*a*a*', reason: a}]", false), E_LIMIT);
}

static void names_of_cells_are_plain_and_unique(void **state)
{
	static const char *const nasty[] = {
		"../../x", "$(id)", "a b", "-rf", ".", "..", "7", "a'b\\\"c", "%n", "\xc3\xa4"};
	struct fixture *f = *state;
	BUF(text, &f->a);
	buf_add(&text, S("axes:\n  with:\n"));
	for (size_t i = 0; i < sizeof(nasty) / sizeof(*nasty); i++)
		buf_fmt(&text, "  - \"%s\"\n", nasty[i]);
	assert_ok(parse(f, str_z(&f->a, buf_str(&text)), false));
	assert_int_equal(f->m.cells.n, sizeof(nasty) / sizeof(*nasty));
	for (size_t i = 0; i < f->m.cells.n; i++) {
		struct str name = f->m.cells.v[i].name;
		struct matrix_cell *found;
		assert_true(ascii_alnum(name.p[0]) || name.p[0] == '_');
		for (size_t k = 0; k < name.n; k++)
			assert_true(ascii_alnum(name.p[k]) || str_chr(S("._+-"), name.p[k]) < 4);
		assert_ok(matrix_find(&f->a, &f->m, name, &found));
		assert_ptr_equal(found, &f->m.cells.v[i]);
	}
	/* "a-b" and "c" are not "a" and "b-c" */
	assert_ok(parse(f, "axes:\n  with: [a, a-b]\n  keyring: [b-c, c]\n", true));
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(str_eq(f->m.cells.v[i].name, f->m.cells.v[k].name));
}

/* A file that has all names by which a cell could be told from others had no end. */
static void names_that_are_taken_on_purpose_are_not_all(void **state)
{
	struct fixture *f = *state;
	struct str hash = sha256_hex(&f->a, S("with=a b")), next = hash;
	BUF(text, &f->a);
	buf_add(&text, S("axes:\n  with:\n"));
	for (size_t n = 8; n <= hash.n; n += 8)
		buf_fmt(&text, "  - a_b-%.*s\n", STR(str_sub(hash, 0, n)));
	for (size_t i = 0; i < 20; i++) {
		next = sha256_hex(&f->a, next);
		buf_fmt(&text, "  - a_b-%.*s\n", STR(str_sub(next, 0, 8)));
	}
	buf_add(&text, S("  - a b\n"));
	assert_ok(parse(f, str_z(&f->a, buf_str(&text)), false));
	assert_int_equal(f->m.cells.n, 29);
	assert_true(str_starts(f->m.cells.v[28].name, S("a_b-")));
	for (size_t i = 0; i < 28; i++)
		assert_false(str_eq(f->m.cells.v[i].name, f->m.cells.v[28].name));
}

static void what_is_hostile_is_refused(void **state)
{
	static const struct {
		const char *text;
		enum errcode code;
	} bad[] = {
		{"", E_SYNTAX},
		{"[]", E_SYNTAX},
		{"axes: {}", E_SYNTAX},
		{"axes: []", E_SYNTAX},
		{"axes: {gpu: []}", E_SYNTAX},
		{"axes: {gpu: gfx1100}", E_SYNTAX},
		{"axes: {gpu: [a, a]}", E_SYNTAX},
		{"axes: {gpu: [[a, [b]]]}", E_SYNTAX},
		{"axes: {gpu: [{a: b}]}", E_SYNTAX},
		{"axes: {gpu: [\"a\\nb\"]}", E_SYNTAX},
		{"axes: {gpu: [\"\\e[2J\"]}", E_SYNTAX},
		{"axes: {gpu: ['']}", E_SYNTAX},
		{"axes: {gup: [a]}", E_SYNTAX},
		{"axes: {mine: [a]}", E_SYNTAX},
		{"axes: {mine: [{project: a}]}", E_SYNTAX},
		{"axes: {mine: [{name: a, output: b}]}", E_SYNTAX},
		{"axes: {gpu: [a]}\nmore: 1", E_SYNTAX},
		{"axes: {gpu: [a]}\noptions: {project: --output=/}", E_SYNTAX},
		{"axes: {gpu: [a]}\noptions: {torch-as-rocm: maybe}", E_SYNTAX},
		{"axes: {gpu: [a]}\nrequest: {cpus: -1}", E_SYNTAX},
		{"axes: {gpu: [a]}\nrequest: {wrap: id}", E_SYNTAX},
		{"axes: {gpu: [a]}\nrequest: [a]", E_SYNTAX},
		{"a: &a [x, x]\nb: &b [*a, *a]\naxes: {gpu: *b}", E_SYNTAX},
		/* programs that would be run by a plan */
		{"axes: {python: [./evil]}", E_SYNTAX},
		{"axes: {python: [evil]}", E_SYNTAX},
		{"axes: {python: ['3/../../evil']}", E_SYNTAX},
		{"axes: {sdk: ['prefix:evil']}", E_SYNTAX},
		{"axes: {sdk: [/opt/rocm]}", E_SYNTAX},
		{"axes: {keyring: [k.gpg]}", E_SYNTAX},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err *e = parse(f, bad[i].text, false);
		if (!e || e->code != bad[i].code)
			fail_msg("%s: %s", bad[i].text, e ? e->msg : "accepted");
		err_free(e);
	}
	assert_ok(parse(f, "axes: {python: [./mine], sdk: [/opt/rocm], keyring: [k.gpg]}", true));
	/* 10^9 cells by nine axes of ten values */
	BUF(text, &f->a);
	buf_add(&text, S("axes:\n"));
	for (int i = 0; i < 9; i++) {
		buf_fmt(&text, "  a%d: [", i);
		for (int k = 0; k < 10; k++)
			buf_fmt(&text, "{name: v%d},", k);
		buf_add(&text, S("]\n"));
	}
	assert_err(parse(f, str_z(&f->a, buf_str(&text)), false), E_LIMIT);
}

/* ---- results ---- */

static const char plan[] =
	"{\"schema\":\"rocsmith.plan/1\",\"gpus\":[\"gfx1100\"],\"sdk\":{\"provider\":\"debian\","
	"\"suite\":\"sid\",\"components\":[\"compiler\"]}}";
static const char set[] = "{\"schema\":\"rocsmith.plans/1\",\"members\":["
			  "{\"project\":\"triton\",\"after\":[],\"plan\":{}},"
			  "{\"project\":\"torch\",\"after\":[\"triton\"],\"plan\":{}},"
			  "{\"project\":\"torchaudio\",\"after\":[\"torch\"],\"plan\":{}}]}";

/* Writes what a step left that ended with this status; a plan has its text. */
static void leave(struct fixture *f, struct matrix_cell *c, const char *step, unsigned status,
	const char *text)
{
	struct matrix_step s = {.name = str_from(step)};
	assert_ok(matrix_result_read(&f->a, &f->m, c, &s));
	s.result.status = status;
	s.result.seconds = 60;
	s.result.cpu = 4 * 7200;
	s.result.memory = 3ull << 30;
	s.result.error = status ? S("went wrong") : S("");
	assert_ok(matrix_result_write(&f->a, &f->m, c, &s));
	if (text)
		assert_ok(fs_write(matrix_path(&f->a, &f->m, c, S("plan"), S("plan.json")),
			str_from(text), 0644));
}

static void results_count_for_the_same_words_only(void **state)
{
	struct fixture *f = *state;
	assert_ok(parse(f, "axes: {gpu: [gfx1100, gfx1201]}", false));
	assert_ok(matrix_take(&f->a, &f->m));
	assert_ok(matrix_take(&f->a, &f->m));
	struct matrix_cell *c = f->m.cells.v;
	leave(f, c, "plan", 0, plan);
	leave(f, c, "build", 0, NULL);
	leave(f, c, "verify", 0, NULL);
	assert_ok(matrix_look_all(&f->a, &f->m));
	assert_true(f->m.done == 1 && f->m.missing == 1 && c->state == MATRIX_DONE);
	assert_str(c->cost.by, "its own run");
	assert_str(c[1].cost.by, "other cells");
	assert_true(c->cost.memory == 3ull << 30);
	leave(f, c, "verify", 1, NULL);
	assert_ok(matrix_look_all(&f->a, &f->m));
	assert_true(c->state == MATRIX_FAILED && f->m.failed == 1);
	assert_str(c->error, "verify: went wrong");
	/* the same cells by other words, and a folder for another file */
	assert_ok(parse(f, "options: {sdk: debian}\naxes: {gpu: [gfx1100, gfx1201]}", false));
	assert_ok(matrix_look_all(&f->a, &f->m));
	assert_true(f->m.missing == 2);
	f->m.file = at(f, "other.yaml");
	assert_err(matrix_take(&f->a, &f->m), E_USAGE);
	/* a folder that came with a tree, and one with something else */
	assert_ok(fs_remove(at(f, "m.out/matrix.json")));
	assert_err(matrix_take(&f->a, &f->m), E_USAGE);
	put(f, "m.out/matrix.json", "{\"schema\":\"rocsmith.matrix-folder/1\"}");
	assert_err(matrix_take(&f->a, &f->m), E_USAGE);
	/* a result that nobody can read, and a plan that leads out */
	put(f, "m.out/cells/gfx1100/plan/result.json", "{");
	assert_ok(matrix_look_all(&f->a, &f->m));
	assert_true(f->m.cells.v->state == MATRIX_MISSING);
	leave(f, f->m.cells.v, "plan", 0,
		"{\"members\":[{\"project\":\"../../x\",\"after\":[],\"plan\":{}}]}");
	assert_err(matrix_look_all(&f->a, &f->m), E_CORRUPT);
	/* plans of another machine, which name more than there can be */
	BUF(gpus, &f->a);
	BUF(members, &f->a);
	buf_add(&gpus, S("{\"gpus\":[\"gfx1100\""));
	buf_add(&members, S("{\"members\":[{\"project\":\"a\"}"));
	for (unsigned i = 0; i < 20000; i++) {
		buf_fmt(&gpus, ",\"a%u\"", i);
		buf_fmt(&members, ",{\"project\":\"a%u\"}", i);
	}
	buf_add(&gpus, S("]}"));
	buf_add(&members, S("]}"));
	leave(f, f->m.cells.v, "plan", 0, str_z(&f->a, buf_str(&gpus)));
	assert_ok(matrix_look_all(&f->a, &f->m));
	assert_int_equal(f->m.cells.v->targets.n, 256);
	leave(f, f->m.cells.v, "plan", 0, str_z(&f->a, buf_str(&members)));
	assert_err(matrix_look_all(&f->a, &f->m), E_CORRUPT);
}

/* What the plans of thousands of cells want of one SDK would be compared pairwise. */
static void plans_of_many_cells_name_no_more_than_one_may(void **state)
{
	struct fixture *f = *state;
	assert_ok(parse(f, "axes: {with: [a, b, c, d, e, f, g, h]}", false));
	assert_ok(matrix_take(&f->a, &f->m));
	VEC_EACH (struct matrix_cell, c, &f->m.cells) {
		BUF(text, &f->a);
		buf_add(&text, S("{\"sdk\":{\"components\":[\"x\""));
		for (unsigned i = 0; i < 100; i++)
			buf_fmt(&text, ",\"%.*s%u\"", STR(c->name), i);
		buf_add(&text, S("]},\"gpus\":[\"y\""));
		for (unsigned i = 0; i < 100; i++)
			buf_fmt(&text, ",\"%.*s%u\"", STR(c->name), i);
		buf_add(&text, S("]}"));
		leave(f, c, "plan", 0, str_z(&f->a, buf_str(&text)));
	}
	assert_ok(matrix_look_all(&f->a, &f->m));
	const struct matrix_cell *owner = f->m.cells.v;
	assert_in_range(owner->components.n, 256, 511);
	assert_in_range(owner->gpus.n, 256, 511);
	assert_int_equal(f->m.cells.v[7].gpus.n, 101);
}

/* ---- Slurm ---- */

static void arrays(struct fixture *f, struct matrix_arrays *ret)
{
	assert_ok(matrix_look_all(&f->a, &f->m));
	assert_ok(matrix_slurm(&f->a, &f->m, S("/a b/rocsmith"), false, ret));
}

static struct str command(struct fixture *f, const struct matrix_array *x)
{
	struct strs argv = matrix_sbatch(&f->a, x);
	return str_join(&f->a, &argv, S("\n"));
}

static void arrays_wait_for_what_they_need(void **state)
{
	struct fixture *f = *state;
	struct matrix_arrays x;
	assert_ok(parse(f,
		"axes: {gpu: [gfx1100, gfx1201, gfx942]}\nrequest: {cpus: 3, partition: fast}",
		false));
	assert_ok(matrix_take(&f->a, &f->m));
	for (size_t i = 0; i < 3; i++)
		leave(f, &f->m.cells.v[i], "plan", 0, i ? set : plan);
	leave(f, &f->m.cells.v[2], "triton", 0, NULL);
	arrays(f, &x);
	/* sdk; build of 0, triton of 1, torch of 2; torch of 1, torchaudio of 2, verify of 0; ... */
	const char *const want[] = {"sdk", "build", "triton", "torch", "verify", "torch",
		"torchaudio", "torchaudio", "verify", "verify"};
	struct strs seen = {0};
	for (size_t i = 0; i < x.n; i++)
		strs_add(&f->a, &seen, x.v[i].step);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_true(strs_has(&seen, str_from(want[i])));
	assert_false(str_contains(command(f, &x.v[0]), S("--dependency")));
	assert_true(str_contains(command(f, &x.v[1]), S("--dependency=afterok:${job_1}_0")));
	assert_true(str_contains(command(f, &x.v[1]), S("--partition=fast")));
	assert_true(str_contains(command(f, &x.v[1]), S("exec '/a b/rocsmith' matrix run ")));
	for (size_t i = 0; i < x.n; i++) {
		struct str text = command(f, &x.v[i]);
		bool has = str_contains(text, S("--dependency"));
		bool second = strs_has(&x.v[i].indices, S("2"));
		if (str_eq(x.v[i].step, S("torch"))) /* triton of cell 2 is there already */
			assert_true(has != second);
		if (str_eq(x.v[i].step, S("torchaudio")))
			assert_true(str_contains(text, S("--dependency=aftercorr:${job_")));
	}
}

static void requests_come_from_what_cells_took(void **state)
{
	struct fixture *f = *state;
	struct matrix_arrays x;
	assert_ok(parse(f, "axes: {gpu: [gfx1100, gfx1201]}", false));
	assert_ok(matrix_take(&f->a, &f->m));
	leave(f, f->m.cells.v, "plan", 0, set);
	leave(f, f->m.cells.v + 1, "plan", 0, plan);
	arrays(f, &x);
	for (size_t i = 0; i < x.n; i++) /* nothing is known: the cluster decides */
		assert_false(str_contains(command(f, &x.v[i]), S("--mem=")));
	leave(f, f->m.cells.v + 1, "build", 0, NULL);
	leave(f, f->m.cells.v + 1, "verify", 0, NULL);
	arrays(f, &x);
	assert_true(x.n > 0);
	for (size_t i = 0; i < x.n; i++)
		if (str_eq(x.v[i].step, S("triton"))) {
			/* 3 steps of 8 hours of CPU, two hours each; 3 GiB for the largest compiler */
			assert_true(str_contains(command(f, &x.v[i]), S("--cpus-per-task=13")));
			assert_true(str_contains(command(f, &x.v[i]), S("--mem=13G")));
		}
}

static void a_thousand_cells_are_several_arrays(void **state)
{
	struct fixture *f = *state;
	struct matrix_arrays x;
	BUF(text, &f->a);
	buf_add(&text, S("axes:\n  gpu: ["));
	for (int i = 0; i < 1003; i++)
		buf_fmt(&text, "g%d,", i);
	buf_add(&text, S("]\n"));
	assert_ok(parse(f, str_z(&f->a, buf_str(&text)), false));
	assert_ok(matrix_take(&f->a, &f->m));
	for (size_t i = 998; i < 1003; i++)
		leave(f, &f->m.cells.v[i], "plan", 0, plan);
	leave(f, &f->m.cells.v[1001], "build", 0, NULL);
	arrays(f, &x);
	struct strs seen = {0};
	for (size_t i = 0; i < x.n; i++) {
		struct strs argv = matrix_sbatch(&f->a, &x.v[i]);
		bool more = str_contains(command(f, &x.v[i]), S("+ 1000))"));
		strs_add(&f->a, &seen,
			str_fmt(&f->a, "%.*s %.*s%s", STR(x.v[i].step), STR(argv.v[1]),
				more ? " and 1000" : ""));
	}
	assert_str(str_join(&f->a, &seen, S("; ")),
		"sdk --array=998; build --array=998-999; build --array=0,2 and 1000; verify "
		"--array=998-999; "
		"verify --array=0,2 and 1000; verify --array=1 and 1000");
}

static void formats_are_those_of_the_table(void **state)
{
	struct fixture *f = *state;
	struct matrix_arrays none = {0};
	struct str text;
	assert_ok(parse(f, "axes: {gpu: [gfx1100, gfx1201]}", false));
	f->m.typed = S("m.yaml");
	assert_err(matrix_print(&f->a, &f->m, &none, S("gihub"), &text), E_USAGE);
	f->m.typed = S("${{ secrets.X }}.yaml");
	assert_err(matrix_print(&f->a, &f->m, &none, S("github"), &text), E_USAGE);
	assert_err(matrix_print(&f->a, &f->m, &none, S("gitlab"), &text), E_USAGE);
	assert_ok(matrix_print(&f->a, &f->m, &none, S("shell"), &text));
	assert_true(str_contains(text, S("--cell gfx1201 || failed=1\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			axes_are_multiplied_and_the_last_changes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			excludes_need_a_reason_and_end_on_their_day, setup, teardown),
		cmocka_unit_test_setup_teardown(
			names_of_cells_are_plain_and_unique, setup, teardown),
		cmocka_unit_test_setup_teardown(
			names_that_are_taken_on_purpose_are_not_all, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_hostile_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			results_count_for_the_same_words_only, setup, teardown),
		cmocka_unit_test_setup_teardown(
			plans_of_many_cells_name_no_more_than_one_may, setup, teardown),
		cmocka_unit_test_setup_teardown(arrays_wait_for_what_they_need, setup, teardown),
		cmocka_unit_test_setup_teardown(
			requests_come_from_what_cells_took, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_thousand_cells_are_several_arrays, setup, teardown),
		cmocka_unit_test_setup_teardown(formats_are_those_of_the_table, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
