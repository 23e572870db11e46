/* Does the steps of cells: each is a child, rocsmith itself, whose result is written last; see matrix.h. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"
#include "flow/matrix.h"
#include "formats/node.h"
#include "formats/stream.h"
#include "know/diagnosis.h"

#define SELF "/proc/self/exe"

/* ---- a step ---- */

/* The first error that it printed: "error: TEXT". */
static struct str first_error(struct arena *a, const struct proc_result *r)
{
	static const struct str mark = S_INIT("error: ");
	struct str rest = r->err, line;
	while (str_next(&rest, '\n', &line))
		if (str_starts(line, mark))
			return str_dup(a, str_sub(line, mark.n, line.n));
	return str_fmt(a, r->status > 128 ? "signal %d" : "status %d",
		r->status > 128 ? r->status - 128 : r->status);
}

/* Adds the projects that a step of a set builds, those that it needs and its own in the order of the set, and the options for
 * these. What is finished is not built again (flow/set.h). */
static void add_set(struct arena *a, const struct matrix_cell *c, const struct matrix_step *s,
	struct proc *p, struct str *io_dir)
{
	struct strs need = {0}, list = {0};
	strs_add(a, &need, s->name);
	for (size_t i = c->steps.n; i-- > 0;)
		if (strs_has(&need, c->steps.v[i].name))
			strs_put_all(a, &need, &c->steps.v[i].after);
	for (size_t i = 1; i < c->steps.n; i++)
		if (strs_has(&need, c->steps.v[i].name))
			strs_add(a, &list, c->steps.v[i].name);
	strs_add(a, &p->argv, str_join(a, &list, S(",")));
	VEC_EACH (const struct str, word, &c->words) {
		static const struct str source = S_INIT("--source=");
		struct strs pieces = str_split(a, str_sub(*word, source.n, word->n), ','),
			    kept = {0};
		bool lists = str_starts(*word, source);
		for (size_t i = 0; lists && i < pieces.n;
			i++) { /* NAME=WHERE; of one project, WHERE */
			struct str name, where;
			str_cut(pieces.v[i], '=', &name, &where);
			if (strs_has(&list, name))
				strs_add(a, &kept, list.n > 1 ? pieces.v[i] : where);
		}
		if (!lists || kept.n)
			strs_add(a, &p->argv,
				lists ? str_fmt(a, "--source=%.*s", STR(str_join(a, &kept, S(","))))
				      : *word);
	}
	if (list.n == 1) /* no set: its build folder has no folders for projects */
		*io_dir = path_join(a, *io_dir, s->name);
}

static void add_option(struct arena *a, const char *name, struct str value, struct proc *p)
{
	strs_fmt(a, &p->argv, "--%s=%.*s", name, STR(value));
}

/* folder: of the step. */
static struct proc command_of(struct arena *a, const struct matrix *m, const struct matrix_cell *c,
	const struct matrix_step *s, struct str folder)
{
	struct proc p = {.cwd = m->dir, .log = path_join(a, folder, S("log")), .limit = NODE_SIZE};
	proc_arg(a, &p, SELF, NULL);
	if (str_eq(s->name, S("plan"))) {
		proc_arg(a, &p, "plan", "--json", str_z(a, c->project), NULL);
		strs_add_all(a, &p.argv, &c->words);
	} else if (str_eq(s->name, S("sdk"))) {
		proc_arg(a, &p, "sdk", "install", NULL);
		strs_add_all(a, &p.argv, &c->sdk);
		add_option(a, "components", str_join(a, &c->components, S(",")), &p);
		add_option(a, "gpu", str_join(a, &c->gpus, S(",")), &p);
	} else if (str_eq(s->name, S("verify"))) {
		proc_arg(a, &p, "verify", NULL);
		VEC_EACH (const struct matrix_step, b, &c->steps)
			if (str_ends(b->result.wheel, S(".whl")))
				strs_add(a, &p.argv,
					matrix_path(a, m, c, S("wheels"), b->result.wheel));
	} else {
		bool own = str_eq(s->name, S("build"));
		struct str dir = matrix_path(a, m, c, own ? s->name : S("set"), S("build"));
		strs_add(a, &p.argv, S("build"));
		if (own)
			strs_add(a, &p.argv, matrix_path(a, m, c, S("plan"), S("plan.json")));
		else
			add_set(a, c, s, &p, &dir);
		add_option(a, "output", matrix_path(a, m, c, S("wheels"), S("")), &p);
		add_option(a, "build-dir", dir, &p);
	}
	return p;
}

/* The automata of know/ are built while they are used, which is for one thread at a time. */
static pthread_mutex_t explaining = PTHREAD_MUTEX_INITIALIZER;

/* The answer of `rocsmith explain` to a step's log, "" = none. */
static struct err *explain_log(struct arena *a, struct str path, struct str *ret)
{
	CLEANUP(log_patterns_freep) struct log_patterns *p = NULL;
	struct log_answer answer;
	*ret = S("");
	TRY(log_read_file(a, &p, path, &answer));
	VEC_EACH (const struct log_cause, c, &answer.causes) {
		if (ret->n || c->context_only)
			continue;
		const char *fix = c->fixes.n ? c->fixes.v->action : c->title;
		*ret = str_fmt(a, "%s: %s", c->id, fix);
	}
	return NULL;
}

/* Keeps what came of a step. */
static struct err *take_result(struct arena *a, const struct matrix *m, const struct matrix_cell *c,
	struct matrix_step *s, const struct proc_result *r)
{
	struct matrix_result *to = &s->result;
	struct str rest = r->out, line, dir = matrix_path(a, m, c, s->name, S("build"));
	MAP(seen, a); /* a build folder has names of the SDK's files, too */
	MAP(seen_made, a);
	struct fs_use use = {.seen = &seen}, made = {.seen = &seen_made};
	char host[256] = "";
	(void)gethostname(host, sizeof(host) - 1);
	to->host = str_dup(a, str_from(host));
	to->status = (uint64_t)r->status;
	to->error = r->status ? first_error(a, r) : S("");
	to->explained = S("");
	if (r->status) {
		struct str log = matrix_path(a, m, c, s->name, S("log"));
		pthread_mutex_lock(&explaining);
		err_free(explain_log(a, log, &to->explained));
		pthread_mutex_unlock(&explaining);
	}
	/* a build that finds everything up to date says nothing about the next one */
	to->seconds = r->seconds > to->seconds ? r->seconds : to->seconds;
	to->cpu = r->cpu > to->cpu ? r->cpu : to->cpu;
	to->memory = r->memory > to->memory ? r->memory : to->memory;
	if (str_eq(s->name, S("plan")) && !r->status)
		TRY(fs_write(matrix_path(a, m, c, s->name, S("plan.json")), r->out, 0644));
	while (!str_eq(s->name, S("plan")) && str_next(&rest, '\n', &line))
		if (line.n && fs_exists(matrix_path(a, m, c, S("wheels"), path_base(line))))
			to->wheel = path_base(line); /* the last one of a set is this step's */
	if (to->wheel.n)
		TRY(fs_measure(matrix_path(a, m, c, S("wheels"), to->wheel), &made));
	to->size = made.bytes;
	if (!fs_exists(dir))
		dir = path_join(a, matrix_path(a, m, c, S("set"), S("build")), s->name);
	TRY(fs_measure(dir, &use));
	to->disk = use.bytes;
	return matrix_result_write(a, m, c, s);
}

/* Does one step, unless somebody else just did it. */
static struct err *do_step(
	struct arena *a, const struct matrix *m, const struct matrix_cell *c, struct matrix_step *s)
{
	CLEANUP(fd_closep) int lock = -1;
	const uint64_t was = s->result.started;
	struct str folder = path_dir(matrix_path(a, m, c, s->name, S("log")));
	struct proc p = command_of(a, m, c, s, folder);
	struct proc_result r = {0};
	TRY(fs_mkdirs(folder));
	TRY(progress_lock(path_join(a, folder, S("lock")), &lock, "does '%.*s' of '%.*s'",
		STR(s->name), STR(c->name)));
	TRY(matrix_result_read(a, m, c, s));
	if (s->state == MATRIX_DONE && !str_eq(s->name, S("plan")) && s->result.started != was)
		return NULL;
	s->result.started = (uint64_t)time(NULL);
	s->result.wheel = S("");
	TRY(fs_remove(p.log));
	if (!str_eq(s->name, S("verify")) ||
		p.argv.n > 2) /* CMake's folder is judged by its build */
		TRY(proc_run(a, &p, &r));
	return take_result(a, m, c, s, &r);
}

/* ---- cells ---- */

struct err *matrix_do(
	struct arena *a, const struct matrix *m, struct matrix_cell *c, struct str only)
{
	struct matrix_step sdk = {.name = S("sdk")};
	if (c->steps.n < 2 || (!only.n && c->state != MATRIX_DONE)) {
		TRY(do_step(a, m, c, c->steps.v));
		TRY(matrix_look(a, m, c));
	}
	if (str_eq(only, sdk.name)) {
		TRY(do_step(a, m, c, &sdk));
		c->state = sdk.state;
		c->error = sdk.result.error;
		return NULL;
	}
	if (only.n && !matrix_step_find(c, only) && c->steps.n > 1)
		return err_new(
			E_USAGE, "the cell '%.*s' has no step '%.*s'", STR(c->name), STR(only));
	for (size_t i = 1; i < c->steps.n; i++) {
		struct matrix_step *s = &c->steps.v[i];
		bool ready = !only.n || str_eq(s->name, only);
		VEC_EACH (const struct str, name, &s->after) {
			const struct matrix_step *need = matrix_step_find(c, *name);
			ready = ready && need && need->state == MATRIX_DONE;
		}
		if (ready && s->state != MATRIX_DONE)
			TRY(do_step(a, m, c, s));
	}
	return matrix_look(a, m, c);
}

struct matrix_job { /* a cell for a thread */
	const struct matrix *m;
	struct matrix_cell *c;
	struct progress *progress;
	unsigned cpus; /* its child's; 0 = all */
};

static struct err *plan_cell(struct arena *tmp, void *user)
{
	struct matrix_job *j = user;
	struct matrix_step s = {.name = S("plan")};
	TRY(do_step(tmp, j->m, j->c, &s));
	progress_add(j->progress, 1, j->c->name);
	return NULL;
}

static struct err *run_cell(struct arena *tmp, void *user)
{
	struct matrix_job *j = user;
	struct matrix_cell now = {
		.name = j->c->name, .project = j->c->project, .words = j->c->words};
	struct proc p = {0};
	struct proc_result r;
	proc_arg(tmp, &p, SELF, "matrix", "run", str_z(tmp, j->m->file), "--output",
		str_z(tmp, j->m->state), "--cell", str_z(tmp, j->c->name),
		j->m->trust ? "--trust" : NULL, NULL);
	if (j->cpus)
		strs_fmt(tmp, &p.setenv, "ROCSMITH_JOBS=%u", j->cpus);
	TRY(proc_run(tmp, &p, &r));
	TRY(matrix_look(tmp, j->m, &now));
	if (now.state == MATRIX_DONE)
		progress_note(S("Done"), "%.*s in %.*s", STR(now.name),
			STR(human_seconds(tmp, r.seconds)));
	else
		progress_warn("'%.*s' failed: %.*s", STR(now.name),
			STR(now.error.n ? now.error : first_error(tmp, &r)));
	progress_add(j->progress, 1, now.name);
	return NULL;
}

/* Calls fn for each cell that is not done, `jobs` at once. */
static struct err *each_cell(
	struct arena *a, struct matrix *m, struct str verb, unsigned jobs, pool_fn *fn)
{
	VEC(struct matrix_job) list = {0};
	CLEANUP(progress_endp) struct progress *p = NULL;
	unsigned cpus = jobs > 1 ? cpu_count() / jobs : 0;
	VEC_EACH (struct matrix_cell, c, &m->cells)
		if (c->state != MATRIX_DONE)
			*VEC_PUSH(a, &list) =
				(struct matrix_job){m, c, NULL, jobs > 1 && !cpus ? 1 : cpus};
	if (!list.n)
		return NULL;
	p = progress_begin(verb, human_count(a, list.n, "cell"), UNIT_ITEMS, list.n);
	VEC_EACH (struct matrix_job, j, &list)
		j->progress = p;
	return pool_each(jobs, list.v, list.n, sizeof(*list.v), fn);
}

struct err *matrix_plan(struct arena *a, struct matrix *m)
{
	TRY(each_cell(a, m, S("Planning"), 0, plan_cell));
	return matrix_look_all(a, m);
}

struct err *matrix_run_here(struct arena *a, struct matrix *m, unsigned jobs)
{
	TRY(each_cell(a, m, S("Building"), jobs, run_cell));
	return matrix_look_all(a, m);
}
