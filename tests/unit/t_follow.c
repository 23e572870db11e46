/* What is left of a build, told while it runs: recorded builds are played again, step by step, and each estimate is
 * compared with the time that the record shows. */
#include "test.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/vec.h"
#include "cc/cc_int.h"

struct step {
	double from, to, cpu; /* seconds */
	struct str kind;
};

struct record {
	VEC(struct step) steps; /* by their ends */
};

static void read_record(struct arena *a, const char *path, struct record *ret)
{
	struct str text, line, from, to, cpu, kind;
	assert_ok(fs_read(a, str_from(path), 1 << 20, &text));
	while (str_next(&text, '\n', &line)) {
		uint64_t x, y, z;
		if (!str_cut(line, ' ', &from, &line) || !str_cut(line, ' ', &to, &line) ||
			!str_cut(line, ' ', &cpu, &kind) || !str_u64(from, 10, &x) ||
			!str_u64(to, 10, &y) || !str_u64(cpu, 10, &z))
			continue;
		*VEC_PUSH(a, &ret->steps) = (struct step){
			(double)x / 1000, (double)y / 1000, (double)z / 1000, str_dup(a, kind)};
	}
}

/* A build that is played, how fast: `slow` times the recorded time from the step `after` on, as if others had taken
 * cores away. */
struct play {
	const struct record *record;
	size_t after;
	double slow;
	size_t first, last; /* the estimates that are judged: after so many steps */
	double whole;       /* of struct cc_follow */
	unsigned jobs;
	const double *pace; /* of struct cc_follow, or NULL */
};

static double at(const struct play *p, double t)
{
	double turn = p->record->steps.v[p->after].to;
	return t < turn ? t : turn + (t - turn) * p->slow;
}

/* The worst estimate, as a factor; the manifest has all steps of the record. */
static double worst_of(const struct play *p)
{
	ARENA(a);
	struct str dir = test_dir(&a), manifest = path_join(&a, dir, S("build.ninja"));
	struct str log = path_join(&a, dir, S("cc.jsonl"));
	const struct record *r = p->record;
	struct cc_follow f;
	double worst = 1, end = at(p, r->steps.v[r->steps.n - 1].to);
	uint64_t left_steps = 0;
	BUF(text, &a);
	VEC_EACH (const struct step, s, &r->steps)
		left_steps += !str_eq(s->kind, S("made"));
	for (size_t i = 0; i < r->steps.n; i++) {
		struct str kind = r->steps.v[i].kind;
		if (str_eq(kind, S("made")))
			continue;
		const char *rule = str_eq(kind, S("c"))      ? "C_COMPILER__x"
				   : str_eq(kind, S("c++"))  ? "CXX_COMPILER__x"
				   : str_eq(kind, S("hip"))  ? "HIP_COMPILER__x"
				   : str_eq(kind, S("link")) ? "CXX_SHARED_LIBRARY_LINKER__x"
							     : "CUSTOM_COMMAND";
		bool object = str_find(str_from(rule), S("COMPILER")) < str_from(rule).n;
		buf_fmt(&text, "build %zu%s: %s in\n", i, object ? ".o" : "", rule);
	}
	buf_fmt(&text, "build all: phony 1.o\n");
	assert_ok(fs_write(manifest, buf_str(&text), 0644));
	cc_follow_start(dir, dir, p->jobs, 0, &f);
	f.whole = p->whole;
	for (size_t i = 0; p->pace && i < FOLLOW_PARTS; i++)
		f.pace[i] = p->pace[i];
	f.chain = p->pace ? 300 : 0;
	cc_follow_steps(&f, manifest, left_steps, 0);
	for (size_t i = 0; i < r->steps.n; i++) {
		const struct step *s = &r->steps.v[i];
		struct strs names = {0};
		double now = at(p, s->to), left;
		assert_ok(
			fs_append(log, str_fmt(&a,
					       "{\"kind\":\"%.*s\",\"predicted\":1,\"seconds\":%f,"
					       "\"cpu\":%f,\"pch\":\"%.*s\"}\n",
					       STR(str_eq(s->kind, S("made")) ? S("c++") : s->kind),
					       now - at(p, s->from), s->cpu, STR(s->kind))));
		cc_follow_look(&a, &f, now, &names);
		left_steps -= !str_eq(s->kind, S("made"));
		left = cc_follow_left(&f, left_steps);
		if (i + 1 < p->first || i + 1 > p->last)
			continue;
		double factor = left / (end - now);
		worst = factor > worst ? factor : 1 / factor > worst ? 1 / factor : worst;
	}
	test_dir_remove(dir);
	return worst;
}

/* What the recorded steps took together, as a project's description has it. */
static double whole_of(const struct record *r)
{
	double sum = 0;
	VEC_EACH (const struct step, s, &r->steps)
		sum += s->cpu;
	return sum;
}

static void judge(const struct play *p, double most)
{
	double worst = worst_of(p);
	print_message("# off by %.2f at worst\n", worst);
	assert_true(worst < most);
}

/* A machine that is not the description's: faster and slower. The record has no CPU time, so the steps that others slowed
 * down seem to be larger ones, and the margin is wide. */
static void a_recorded_build_is_foretold(void **state)
{
	(void)state;
	ARENA(a);
	struct record r = {0};
	read_record(&a, "tests/data/steps/rocsmith.txt", &r);
	assert_int_equal(r.steps.n, 383);
	static const double other[] = {0.8, 1, 1.25};
	for (size_t i = 0; i < 3; i++) {
		struct play p = {
			&r, 0, 1, 50, r.steps.n * 95 / 100, whole_of(&r) * other[i], 16, NULL};
		judge(&p, 2.5);
	}
}

/* Others come and take two thirds of the cores: the steps after that are foretold by the share of late. */
static void a_share_that_shrinks_is_followed(void **state)
{
	(void)state;
	ARENA(a);
	struct record r = {0};
	read_record(&a, "tests/data/steps/rocsmith.txt", &r);
	struct play p = {&r, 60, 3, 200, r.steps.n * 95 / 100, whole_of(&r), 16, NULL};
	judge(&p, 2.5);
}

/* The shape of PyTorch 2.6.0, as it was measured: 200 quick steps of c10 and the like, 1,130 of C++, 257 of HIP among
 * the later ones, each as long as a few others now and then. Two jobs get six tenths of two cores. */
static void a_build_whose_first_steps_are_quick_is_foretold(void **state)
{
	(void)state;
	ARENA(a);
	struct record r = {0};
	double free[2] = {0, 0}, share = 0.6;
	for (unsigned i = 0; i < 1587; i++) {
		bool hip = i > 500 && i % 4 == 0;
		double cpu = i < 200 ? 1
			     : hip   ? 11
				     : 6 + (double)(i * 7919 % 13) - 6 + (i % 97 == 0) * 60;
		unsigned job = free[0] <= free[1] ? 0 : 1;
		double from = free[job];
		free[job] += cpu / share;
		*VEC_PUSH(&a, &r.steps) =
			(struct step){from, free[job], cpu, hip ? S("hip") : S("c++")};
	}
	static const double other[] = {0.8, 1, 1.25};
	for (size_t i = 0; i < 3; i++) {
		struct play p = {
			&r, 0, 1, 200, r.steps.n * 95 / 100, whole_of(&r) * other[i], 16, NULL};
		judge(&p, 1.5);
	}
}

static int by_start(const void *x, const void *y)
{
	double d = ((const struct step *)x)->from - ((const struct step *)y)->from;
	return d < 0 ? -1 : d > 0;
}

static int by_end(const void *x, const void *y)
{
	double d = ((const struct step *)x)->to - ((const struct step *)y)->to;
	return d < 0 ? -1 : d > 0;
}

enum { MAX_JOBS = 64 };

/* The same steps with fewer jobs, in the order in which ninja began them. A step that began when all before it had ended
 * waits for them again. */
static void schedule_again(struct record *r, unsigned jobs)
{
	double ready[MAX_JOBS] = {0}, ended = 0, last = 0;
	qsort(r->steps.v, r->steps.n, sizeof(*r->steps.v), by_start);
	VEC_EACH (struct step, s, &r->steps) {
		unsigned job = 0;
		bool waits = s->from >= ended;
		ended = s->to > ended ? s->to : ended;
		for (unsigned k = 0; waits && k < jobs; k++)
			ready[k] = last;
		for (unsigned k = 1; k < jobs; k++)
			job = ready[k] < ready[job] ? k : job;
		s->from = ready[job];
		ready[job] = s->to = s->from + s->cpu;
		last = s->to > last ? s->to : last;
	}
	qsort(r->steps.v, r->steps.n, sizeof(*r->steps.v), by_end);
}

/* PyTorch's own pace, by its description, on a machine that takes half as long again as that says. */
static void pytorch_is_foretold(void **state)
{
	static const struct {
		unsigned jobs;
		double most;
	} rows[] = {{2, 1.5}, {4, 1.5}, {8, 1.5}, {16, 1.5}, {32, 1.8}, {64, 1.8}};
	static const double host[] = {1, 4, 9, 12, 16, 20, 31, 42, 46, 50, 57, 62, 70, 76, 76, 76,
		77, 82, 92, 100},
			    device[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 34, 78, 100, 100,
				    100, 100};
	double pace[FOLLOW_PARTS];
	(void)state;
	for (size_t i = 0; i < FOLLOW_PARTS; i++)
		pace[i] = (host[i] * 10600 + device[i] * 4400) / 100 / 15000;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ARENA(a);
		struct record r = {0};
		read_record(&a, "tests/data/steps/torch.txt", &r);
		schedule_again(&r, rows[i].jobs);
		struct play p = {&r, 0, 1, 200, r.steps.n * 95 / 100, 15000, rows[i].jobs, pace};
		judge(&p, rows[i].most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_build_is_foretold),
		cmocka_unit_test(a_share_that_shrinks_is_followed),
		cmocka_unit_test(a_build_whose_first_steps_are_quick_is_foretold),
		cmocka_unit_test(pytorch_is_foretold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
