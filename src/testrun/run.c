/* Starts the processes of a run, watches them, and goes on where one died: test_run_all() is the whole story. */
#include "base/fs.h"
#include "base/progress.h"
#include "testrun/testrun_int.h"

enum { STARTS = 100, OUTPUT = 64 << 10, WATCHED = 1 << 20, BETWEEN = 300 /* seconds */ };

/* ---- watching ---- */

struct test_watch {
	struct str folder;
	struct map journals; /* paths -> uint64_t, the bytes that were read */
	double last;         /* when a journal last grew; later, if no test runs */
	unsigned limit;
	struct progress *progress;
};

static void test_watch_end(struct test_watch *w)
{
	progress_end(w->progress);
}

/* Reads the new lines of a journal, behind *at. */
static void look(struct test_watch *w, struct str path, uint64_t *at)
{
	ARENA(tmp);
	struct stat st;
	struct str line, now = S("");
	CLEANUP(fd_closep) int fd = -1;
	uint64_t done = 0;
	if (!fs_try_lstat(path, &st) || (uint64_t)st.st_size <= *at)
		return;
	size_t n = (uint64_t)st.st_size - *at < WATCHED ? (size_t)((uint64_t)st.st_size - *at)
							: WATCHED;
	char *bytes = arena_raw(&tmp, n);
	struct err *e = fs_open(path, &fd);
	e = e ? e : fs_pread(fd, bytes, n, *at);
	err_free(e);
	struct str text = {.p = bytes, .n = e ? 0 : n};
	*at += n;
	bool within = false;
	while (str_next(&text, '\n', &line)) {
		const struct str start = S("{\"event\": \"start\", \"id\": \"");
		done += str_starts(line, S("{\"event\": \"result\""));
		within = str_starts(line, start);
		if (within)
			now = str_sub(line, start.n,
				start.n + str_chr(str_sub(line, start.n, line.n), '"'));
	}
	progress_add(w->progress, done, now);
	w->last = mono_now() + (within ? 0 : BETWEEN);
}

/* A journal grows when a test begins and when it ends; one that does not for so long is at a test that hangs. Between tests,
 * files are imported and processes start, which may take longer than a test may. */
static bool on_tick(void *user)
{
	struct test_watch *w = user;
	ARENA(tmp);
	struct strs names = {0};
	struct err *e = fs_list(&tmp, w->folder, &names);
	err_free(e);
	VEC_EACH (const struct str, name, &names) {
		struct str path = path_join(&tmp, w->folder, *name);
		if (!str_eq(path_ext(path), S(".journal")))
			continue;
		if (!map_has(&w->journals, path))
			map_put(&w->journals, str_dup(w->journals.a, path),
				NEW(w->journals.a, uint64_t));
		look(w, path, map_get(&w->journals, path));
	}
	return mono_now() - w->last <= w->limit;
}

/* ---- one start ---- */

struct test_settings { /* settings.json; plugin.py describes it */
	struct str source, device, name;
	unsigned shard, shards;
	struct strs include, exclude, only;
};
static const struct json_field settings_fields[] = FIELDS_ONLY(
	struct test_settings, source, device, name, shard, shards, include, exclude, only);

static struct err *write_settings(struct test_run *r, const struct strs *only, struct str folder)
{
	ARENA(tmp);
	const struct test_settings settings = {.source = r->driver->source,
		.device = r->driver->device,
		.name = r->driver->name,
		.shard = r->out->shard,
		.shards = r->out->shards,
		.include = r->include,
		.exclude = r->exclude,
		.only = only ? *only : (struct strs){0}};
	return fs_write(path_join(&tmp, folder, S("settings.json")),
		json_document(&tmp, 0, settings_fields, &settings), 0644 | FS_LOOSE);
}

/* Adds the files of these ids to the command: as paths, or as the modules that run_test.py knows them by. */
static void add_files(struct test_run *r, const struct strs *ids, struct proc *p)
{
	const struct test_driver *d = r->driver;
	struct strs files = {0};
	for (size_t i = 0; i < ids->n; i++)
		strs_put(r->a, &files, str_sub(ids->v[i], 0, str_find(ids->v[i], S("::"))));
	if (d->modules && files.n)
		proc_arg(r->a, p, "--include", NULL);
	for (size_t i = 0; i < files.n && (d->modules || d->xml); i++) {
		struct str file = files.v[i];
		if (d->modules && str_starts(file, S("test/")))
			file = str_sub(file, 5, file.n);
		if (d->modules && str_ends(file, S(".py")))
			file.n -= 3;
		strs_add(r->a, &p->argv, d->modules ? file : path_join(r->a, d->source, file));
	}
}

static struct proc make_process(
	struct test_run *r, const struct strs *only, const struct test_start *s)
{
	const struct test_driver *d = r->driver;
	const char *path = getenv("PYTHONPATH"), *options = getenv("PYTEST_ADDOPTS");
	struct proc p = {.cwd = d->cwd, .merge = true, .limit = OUTPUT};
	strs_add_all(r->a, &p.argv, &d->argv);
	add_files(r, only ? only : &d->files, &p);
	strs_add_all(r->a, &p.setenv, &r->env->variables);
	strs_add_all(r->a, &p.setenv, &d->variables);
	strs_fmt(r->a, &p.setenv, "ROCSMITH_TEST=%.*s", STR(s->folder));
	if (!d->xml)
		return p;
	strs_fmt(r->a, &p.setenv, "PYTHONPATH=%.*s%s%s", STR(r->out->logs),
		path && *path ? ":" : "", path ? path : "");
	/* faulthandler prints where a test hangs before the process is ended */
	strs_fmt(r->a, &p.setenv, "PYTEST_ADDOPTS=%s -p rocsmith_plugin -o faulthandler_timeout=%u",
		options ? options : "", r->q->timeout > 1 ? r->q->timeout - 1 : 1);
	return p;
}

/* Starts the driver for all tests that are left, or for those of `only`, and reads what came of it. */
static struct err *start_tests(struct test_run *r, const struct strs *only, struct test_start *s)
{
	struct proc_result got;
	struct str number = str_fmt(r->a, "%04u", ++r->processes);
	*s = (struct test_start){.folder = path_join(r->a, r->out->logs, number),
		.log = str_fmt(r->a, "%.*s.log", STR(number))};
	struct proc p = make_process(r, only, s);
	CLEANUP(test_watch_end)
	struct test_watch w = {.folder = s->folder,
		.journals.a = r->a,
		.last = mono_now() + BETWEEN,
		.limit = r->q->timeout};
	TRY(fs_mkdirs(s->folder));
	TRY(write_settings(r, only, s->folder));
	w.progress = progress_begin(S("Testing"), only ? only->v[0] : r->out->suite, UNIT_ITEMS, 0);
	p.tick = on_tick;
	p.user = &w;
	p.log = path_join(r->a, r->out->logs, s->log);
	TRY(kernel_mark(r, s));
	TRY(proc_run(r->a, &p, &got));
	const char *name = got.status > 128 ? sigabbrev_np(got.status - 128) : NULL;
	s->status = got.status;
	s->timed_out = got.timed_out;
	s->died = r->driver->modules ? S("its process died")
		  : name             ? str_fmt(r->a, "killed by SIG%s", name)
			 : str_fmt(r->a, "its process ended in the middle of it, with status %d",
				   got.status);
	TRY(journals_read(r, s));
	if (s->told || !(s->timed_out || name))
		return NULL;
	s->told = true;
	TRY(kernel_tell(r, s, p.argv.v[0]));
	return test_run_say(r, s->timed_out ? "test-hang" : "test-crash", s->log,
		"the program of the tests %s", s->timed_out ? "hung, and was ended" : "was killed");
}

/* ---- the run ---- */

static void count_results(struct test_run *r, size_t *ret_tried, size_t *ret_bad)
{
	*ret_tried = *ret_bad = 0;
	for (size_t i = 0; i < r->results.n; i++) {
		const struct test_result *t = r->results.v[i].value;
		*ret_tried += t->tries > 0;
		*ret_bad += t->tries && test_is_bad(t->outcome);
	}
}

/* Runs each test from number `from` on that failed once more, alone. What a second failure says was said before. */
static struct err *run_again(struct test_run *r, size_t from)
{
	unsigned again = 0;
	struct test_start s;
	for (size_t i = from, n = r->results.n; i < n; i++) {
		const struct test_result *t = r->results.v[i].value;
		struct strs only = {0};
		if (!test_is_bad(t->outcome) || !t->tries)
			continue;
		if (again++ == r->q->retries) {
			evidence_say(r->a, r->out, SEV_WARNING, "test-retries",
				"more than %u tests failed; the others were not run again",
				r->q->retries);
			break;
		}
		strs_add(r->a, &only, t->id);
		r->silent = true;
		struct err *e = start_tests(r, &only, &s);
		r->silent = false;
		TRY(e);
	}
	return NULL;
}

/* The program of the tests may know of failures that no test of pytest is. */
static struct err *judge_status(
	struct test_run *r, const struct test_start *s, size_t ran, size_t bad)
{
	enum { NONE_COLLECTED = 5 };
	bool good = !s->status || s->status == NONE_COLLECTED;
	if (!ran && good && r->q->shards > 1)
		evidence_say(r->a, r->out, SEV_WARNING, "test-none", "no test of this shard ran");
	else if (!ran && !s->told)
		return test_run_say(r, "test-none", s->log,
			"no test ran: the program of the tests ended with status %d", s->status);
	else if (!good && !bad && !s->told && s->status < 128)
		return test_run_say(r, "test-status", s->log,
			"the program of the tests ended with status %d, although no test failed",
			s->status);
	return NULL;
}

struct err *test_run_all(struct test_run *r)
{
	size_t from = r->results.n, first, tried, before, bad;
	struct test_start s;
	unsigned starts = 0;
	count_results(r, &first, &bad);
	tried = first;
	do {
		struct strs done = r->exclude;
		for (size_t i = 0; i < r->results.n; i++)
			if (((struct test_result *)r->results.v[i].value)->tries)
				strs_add(r->a, &r->exclude, r->results.v[i].key);
		struct err *e = start_tests(r, NULL, &s);
		r->exclude = done;
		TRY(e);
		before = tried;
		count_results(r, &tried, &bad);
	} while ((s.timed_out || s.status > 128 || tried < r->results.n) && tried > before &&
		 ++starts < STARTS);
	if (starts == STARTS)
		evidence_say(r->a, r->out, SEV_ERROR, "test-starts",
			"the tests were started %d times, and did not come to their end", STARTS);
	TRY(judge_status(r, &s, tried - first, bad));
	return run_again(r, from);
}
