/* A matrix on Slurm: what is not done becomes arrays of jobs that wait for each other. See matrix.h; sbatch(1), squeue(1).
 *
 * An element of an array is the cell of that number. It does one step, and waits for the elements of the same number
 * (aftercorr), in as many arrays as its step needs. Jobs have the matrix's mark in their names, so the queue tells what is
 * under way, also after we were killed between a job's submission and the note of it. Slurm starts the jobs of a lost node
 * again; whatever else got lost has no result, and the next run submits that. */
#include <time.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/progress.h"
#include "flow/matrix.h"

enum {
	CHUNK = 1000, /* indices below MaxArraySize, 1001 unless configured (slurm.conf(5)) */
	HOUR = 3600,
	AIM = 2 * HOUR, /* a step gets the CPUs with which it takes so long */
	MOST_CPUS = 16, /* without `request: {cpus: N}` */
	ORDINARY =
		700
		<< 20, /* the memory that one compiler takes beside the largest, see forecast.c */
};

struct slurm_job { /* an element in the queue */
	struct str name, index, id;
};

struct slurm {
	struct arena *a;
	const struct matrix *m;
	struct str program;
	VEC(struct slurm_job) queue;
	struct matrix_arrays *arrays;
};

/* ---- requests ---- */

static uint64_t wanted(const struct matrix *m, struct str name)
{
	struct str key, value;
	uint64_t n = 0;
	const struct str *line = strs_variable(&m->request, name);
	if (line && str_cut(*line, '=', &key, &value))
		(void)str_u64(value, 10, &n);
	return n;
}

/* CPUs, memory and time of a step, by what its cell takes; nothing of what is not known, which the cluster decides then. */
static void add_requests(
	struct slurm *s, const struct matrix_cell *c, struct str step, struct strs *words)
{
	static const char *const plain[] = {
		"partition", "account", "qos", "constraint", "reservation", NULL};
	bool build = !str_eq(step, S("sdk")) && !str_eq(step, S("verify"));
	uint64_t cpus = wanted(s->m, S("cpus")), gib = wanted(s->m, S("memory")),
		 hours = wanted(s->m, S("hours"));
	const struct matrix_cost *k = &c->cost;
	if (build && k->cpu > 0) {
		uint64_t most = cpus ? cpus : MOST_CPUS, need = (uint64_t)(k->cpu / AIM) + 1;
		cpus = need < most ? need : most;
		double took = k->cpu / (double)cpus;
		/* a forecast of a build's seconds is for this machine and its load */
		bool measured = str_contains(k->by, S("run")) || str_contains(k->by, S("cells"));
		took = 2 * (measured && k->seconds > took ? k->seconds : took);
		hours = hours ? hours : (uint64_t)(took / HOUR) + 1;
	}
	if (build && k->memory && !gib) {
		uint64_t other = k->memory < ORDINARY ? k->memory : ORDINARY;
		gib = (((cpus ? cpus : 1) - 1) * other + k->memory) / (1 << 30) + 2;
	}
	if (build && cpus)
		strs_fmt(s->a, words, "--cpus-per-task=%llu", (unsigned long long)cpus);
	if (build && gib)
		strs_fmt(s->a, words, "--mem=%lluG", (unsigned long long)gib);
	if (hours)
		strs_fmt(s->a, words, "--time=%llu", (unsigned long long)hours * 60);
	for (size_t i = 0; plain[i]; i++) {
		const struct str *line = strs_variable(&s->m->request, str_from(plain[i]));
		if (line)
			strs_fmt(s->a, words, "--%.*s", STR(*line));
	}
}

/* ---- arrays ---- */

static struct str job_name(struct slurm *s, struct str step, size_t chunk)
{
	return str_fmt(s->a, "rocsmith-%.*s-%.*s.%zu", STR(s->m->mark), STR(step), chunk);
}

/* The job that has an element: one in the queue, or one of our arrays; "" if there is none. */
static struct str job_of(struct slurm *s, struct str step, size_t cell)
{
	struct str name = job_name(s, step, cell / CHUNK),
		   index = str_fmt(s->a, "%zu", cell % CHUNK);
	VEC_EACH (const struct slurm_job, j, &s->queue)
		if (str_eq(j->name, name) && str_eq(j->index, index))
			return j->id;
	VEC_EACH (const struct matrix_array, x, s->arrays)
		if (str_eq(x->words.v[1], str_fmt(s->a, "--job-name=%.*s", STR(name))) &&
			strs_has(&x->indices, index))
			return x->id;
	return S("");
}

/* Puts the step of a cell into the array whose jobs are started by the same command, which is a new one if there is none. */
static void add_element(struct slurm *s, size_t cell, struct str step, const struct strs *waits)
{
	struct arena *a = s->a;
	struct strs words = {0};
	size_t chunk = cell / CHUNK;
	struct str run = str_fmt(a,
		"ROCSMITH_JOBS=\"${SLURM_CPUS_PER_TASK:-1}\" exec %.*s matrix run %.*s --output "
		"%.*s "
		"--cell \"$((SLURM_ARRAY_TASK_ID + %zu))\" --step %.*s --mark %.*s%s",
		STR(str_shell(a, s->program)), STR(str_shell(a, s->m->file)),
		STR(str_shell(a, s->m->state)), chunk * CHUNK, STR(step), STR(s->m->mark),
		s->m->trust ? " --trust" : "");
	strs_add(a, &words, S("--parsable"));
	strs_fmt(a, &words, "--job-name=%.*s", STR(job_name(s, step, chunk)));
	STRS_ADD(a, &words, S("--requeue"), S("--kill-on-invalid-dep=yes"));
	strs_fmt(a, &words, "--chdir=%.*s", STR(s->m->state));
	STRS_ADD(a, &words, S("--output=slurm-%x-%a.log"), S("--open-mode=append"));
	add_requests(s, &s->m->cells.v[cell], step, &words);
	if (waits->n)
		strs_fmt(a, &words, "--dependency=%.*s", STR(str_join(a, waits, S(","))));
	strs_fmt(a, &words, "--wrap=%.*s", STR(run));
	struct matrix_array *into = NULL;
	VEC_EACH (struct matrix_array, x, s->arrays)
		into = strs_eq(&x->words, &words) ? x : into;
	if (!into) {
		into = VEC_PUSH(a, s->arrays);
		*into = (struct matrix_array){.step = step, .words = words};
		into->id = str_fmt(a, "${job_%zu}", s->arrays->n);
	}
	strs_fmt(a, &into->indices, "%zu", cell % CHUNK);
}

/* Adds the step at this place of all cells that lack it; in each cell, what it needs is at places before. At 0 the SDK. */
static struct err *add_steps_at(struct slurm *s, size_t place)
{
	for (size_t i = 0; i < s->m->cells.n; i++) {
		const struct matrix_cell *c = &s->m->cells.v[i];
		struct matrix_step sdk = {.name = S("sdk")}, *step = &sdk;
		struct strs waits = {0};
		if (c->state == MATRIX_DONE || c->steps.n < 2 || place >= c->steps.n ||
			(!place && (!c->sdk.n || c->sdk_owner != i)))
			continue;
		if (place)
			step = &c->steps.v[place];
		else
			TRY(matrix_result_read(s->a, s->m, c, step));
		if (step->state == MATRIX_DONE || job_of(s, step->name, i).n)
			continue;
		struct str id;
		VEC_EACH (const struct str, need, &step->after)
			if ((id = job_of(s, *need, i)).n)
				strs_fmt(s->a, &waits, "aftercorr:%.*s", STR(id));
		if (place && c->sdk.n && !waits.n && (id = job_of(s, sdk.name, c->sdk_owner)).n)
			strs_fmt(s->a, &waits, "afterok:%.*s_%zu", STR(id), c->sdk_owner % CHUNK);
		add_element(s, i, step->name, &waits);
	}
	return NULL;
}

/* ---- Slurm ---- */

static struct err *look_at_queue(struct slurm *s)
{
	struct proc p = {.timeout = 120};
	struct proc_result r;
	struct str line, name, id;
	struct str lead = str_fmt(s->a, "rocsmith-%.*s-", STR(s->m->mark));
	proc_arg(s->a, &p, "squeue", "--noheader", "--me", "--array", "--format=%j|%K|%F", NULL);
	TRY_CTX(proc_check(s->a, &p, &r), "cannot ask Slurm for its queue");
	s->queue.v = NULL;
	s->queue.n = s->queue.cap = 0;
	while (str_next(&r.out, '\n', &line))
		if (str_starts(line, lead) && str_cut(line, '|', &name, &line) &&
			str_cut(line, '|', &line, &id))
			*VEC_PUSH(s->a, &s->queue) = (struct slurm_job){name, line, str_trim(id)};
	return NULL;
}

/* "0-2,5" for rising numbers. */
static struct str ranges(struct arena *a, const struct strs *numbers)
{
	BUF(b, a);
	uint64_t n = 0, start = 0, last = 0;
	for (size_t i = 0; i <= numbers->n; i++) {
		bool more = i < numbers->n && str_u64(numbers->v[i], 10, &n);
		if (i > 0 && more && n == last + 1) {
			last = n;
			continue;
		}
		if (i > 0)
			buf_fmt(&b, start == last ? "%s%llu" : "%s%llu-%llu", b.n ? "," : "",
				(unsigned long long)start, (unsigned long long)last);
		start = last = n;
	}
	return buf_str(&b);
}

struct strs matrix_sbatch(struct arena *a, const struct matrix_array *array)
{
	struct strs argv = {0};
	strs_add(a, &argv, S("sbatch"));
	strs_fmt(a, &argv, "--array=%.*s", STR(ranges(a, &array->indices)));
	strs_add_all(a, &argv, &array->words);
	return argv;
}

static struct err *submit_array(struct arena *a, struct matrix_array *x)
{
	struct proc p = {.argv = matrix_sbatch(a, x), .timeout = 120};
	struct proc_result r;
	struct str id, cluster; /* sbatch says "ID" or "ID;CLUSTER" */
	uint64_t number;
	TRY_CTX(proc_check(a, &p, &r), "cannot submit the step '%.*s'", STR(x->step));
	str_cut(str_trim(r.out), ';', &id, &cluster);
	if (!str_u64(id, 10, &number))
		return err_new(E_TOOL_FAILED, "sbatch names no job, but '%.*s'", STR(id));
	x->id = id;
	progress_note(S("Submitted"), "%.*s as job %.*s, %.*s", STR(x->step), STR(id),
		STR(human_count(a, x->indices.n, "cell")));
	return NULL;
}

struct err *matrix_slurm(struct arena *a, const struct matrix *m, struct str program, bool submit,
	struct matrix_arrays *ret)
{
	struct slurm s = {.a = a, .m = m, .program = program, .arrays = ret};
	size_t places = 0;
	*ret = (struct matrix_arrays){0};
	if (submit)
		TRY(look_at_queue(&s));
	VEC_EACH (const struct matrix_cell, c, &m->cells)
		places = c->steps.n > places ? c->steps.n : places;
	for (size_t place = 0; place < places; place++) {
		size_t first = ret->n;
		TRY(add_steps_at(&s, place));
		for (size_t k = first; submit && k < ret->n; k++)
			TRY(submit_array(a, &ret->v[k]));
	}
	return NULL;
}

struct err *matrix_wait(const struct matrix *m)
{
	enum { PATIENCE = 20 }; /* failures in a row: a controller may be started again meanwhile */
	CLEANUP(progress_endp) struct progress *p = NULL;
	size_t before = 0, failures = 0;
	for (double began = mono_now(), asked;;) {
		ARENA(tmp);
		struct slurm s = {.a = &tmp, .m = m};
		struct err *e = look_at_queue(&s);
		if (!e && !s.queue.n)
			return NULL;
		failures = e ? failures + 1 : 0;
		if (failures > PATIENCE || (e && e->code == E_CANCELLED))
			return err_wrap(e, "the jobs go on, but cannot be followed");
		err_free(e);
		if (!p)
			p = progress_begin(S("Waiting"), S("for Slurm"), UNIT_ITEMS, s.queue.n);
		else if (!failures && s.queue.n < before)
			progress_add(p, before - s.queue.n, S(""));
		before = failures ? before : s.queue.n;
		asked = mono_now();
		double pause = (asked - began) / 20; /* a long wait is in no hurry */
		while (mono_now() - asked < (pause < 1 ? 1 : pause > 30 ? 30 : pause)) {
			TRY(cancel_check());
			nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
		}
	}
}
