/* Runs one program of a foreign build: its environment, its log, its progress. */
#include "base/fs.h"
#include "base/progress.h"
#include "foreign/foreign_int.h"
#include "formats/node.h"

static const struct {
	const char *kind;
	bool python, cmake;
	const char *verb, *object;
} kinds[] = {
	{"copy", true, true, "Copying", "the sources"},
	{"python", true, false, "Preparing", "the Python environment"},
	{"torch", true, false, "Looking", "at torch"},
	{"configure", true, true, "Configuring", NULL},
	{"build", false, true, "Building",
		NULL}, /* with --target, Python has it instead of "wheel" */
	{"wheel", true, false, "Building", NULL},
	{"load", true, false, "Loading", "what was built"},
	{"install", false, true, "Installing", NULL},
};

bool foreign_is_part(const struct foreign *f)
{
	return f->targets && f->targets->n;
}

void foreign_steps(struct foreign *f)
{
	static const char *const whole[] = {"wheel", "load", "install", NULL};
	const struct plan_foreign *how = f->plan->foreign;
	size_t n = 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct str kind = str_from(kinds[i].kind);
		bool here = how->system == SOURCE_CMAKE ? kinds[i].cmake : kinds[i].python;
		if (foreign_is_part(f))
			here = (here || str_eq(kind, S("build"))) && !str_is_one_of(kind, whole);
		if ((str_eq(kind, S("torch")) && !how->torch) ||
			(str_eq(kind, S("load")) && how->torch_as_rocm))
			here = false;
		if (here)
			f->steps[n++] = (struct job_report){.kind = kind, .name = f->plan->name};
	}
	f->steps[n].kind = S("");
}

struct job_report *foreign_step(struct foreign *f, const char *kind)
{
	size_t i = 0;
	while (f->steps[i].kind.n && !str_eq(f->steps[i].kind, str_from(kind)))
		i++;
	return &f->steps[i];
}

/* ---- progress: ninja's "[12/34] text", and the files being compiled now ---- */

struct step_watch {
	struct str verb, object;
	struct progress *progress;
	struct cc_follow follow;
	struct str manifest;       /* CMake's build.ninja, or "" */
	uint64_t total, done, ran; /* ran: steps of all ninjas of this program */
	bool steps;                /* total counts steps, so the time left can be estimated */
};

static void watch_endp(struct step_watch *w)
{
	progress_end(w->progress);
}

/* Reads "[12/34] rest" (ninja) or "[ 12%] rest" (make). */
static void on_line(void *user, struct str line)
{
	struct step_watch *w = user;
	uint64_t done, total = 100;
	struct str rest, count, word, number, of, file = S("");
	if (!str_starts(line, S("[")) || !str_cut(str_sub(line, 1, line.n), ']', &count, &rest))
		return;
	bool steps = str_cut(count, '/', &number, &of);
	if (!steps && !str_ends(count, S("%")))
		return;
	number = steps ? number : str_sub(count, 0, count.n - 1);
	if (!str_u64(str_trim(number), 10, &done) || (steps && !str_u64(str_trim(of), 10, &total)))
		return;
	bool begins = steps && (!w->steps || done < w->done || total > w->total);
	uint64_t was = begins ? 0 : w->done;
	w->ran += steps && done > was ? done - was : 0;
	if (total != w->total || done < w->done) { /* another ninja, or one that found less to do */
		progress_end(w->progress);
		w->progress = progress_begin(w->verb, w->object, UNIT_ITEMS, total);
		w->total = total;
		w->steps = steps;
		w->done = 0;
		progress_left(w->progress, steps ? PROGRESS_UNKNOWN : 0);
	}
	if (begins)
		cc_follow_steps(&w->follow, w->manifest, total, mono_now());
	rest = str_trim(rest);
	while (str_next(&rest, ' ', &word)) /* the last file name: a source or an output */
		if (path_ext(word).n && word.p[0] != '-')
			file = word;
	progress_add(w->progress, done > w->done ? done - w->done : 0, path_base(file));
	w->done = done;
}

/* ninja reports a step only when it ends; the ledger of our compilers lists what runs now. */
static bool on_tick(void *user)
{
	struct step_watch *w = user;
	struct strs now = {0};
	ARENA(tmp);
	cc_follow_look(&tmp, &w->follow, mono_now(), &now);
	if (w->steps && w->done < w->total) {
		double left = cc_follow_left(&w->follow, w->total - w->done);
		progress_left(w->progress, left > 0 ? left : PROGRESS_UNKNOWN);
	}
	progress_add(w->progress, 0, str_join(&tmp, &now, S(", ")));
	return true;
}

/* ---- running ---- */

/* A number of a pace, as a part of one; 0 if the description has none. */
static double pace_of(const struct strs *pace, size_t i)
{
	uint64_t percent = 0;
	return pace->n == FOLLOW_PARTS && str_u64(pace->v[i], 10, &percent) ? (double)percent / 100
									    : 0;
}

struct err *foreign_run(
	struct foreign *f, const char *kind, struct proc *p, struct proc_result *ret)
{
	static const char *const builds[] = {"build", "wheel", NULL};
	CLEANUP(watch_endp) struct step_watch w = {.object = f->plan->name};
	const struct plan_foreign *how = f->plan->foreign;
	struct job_report *s = foreign_step(f, kind);
	struct str text;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!str_eq(str_from(kinds[i].kind), str_from(kind)))
			continue;
		w.verb = str_from(kinds[i].verb);
		if (kinds[i].object)
			w.object = str_from(kinds[i].object);
	}
	w.progress = progress_begin(w.verb, w.object, UNIT_NONE, 0);
	progress_add(w.progress, 0, S(""));
	w.manifest = path_join(f->a,
		how->system == SOURCE_CMAKE ? f->cmake : path_join(f->a, f->tree, how->cmake),
		S("build.ninja"));
	cc_follow_start(f->rocm, f->log, f->jobs, mono_now(), &w.follow);
	double host = (double)how->cost.host_seconds,
	       device = (double)how->cost.device_seconds * (double)f->plan->gpus.n;
	w.follow.whole = host + device;
	w.follow.chain = (double)how->cost.chain_seconds;
	for (size_t i = 0; host > 0 && i < FOLLOW_PARTS; i++)
		w.follow.pace[i] = (host * pace_of(&how->cost.host_pace, i) +
					   device * pace_of(&how->cost.device_pace, i)) /
				   (host + device);
	p->log = str_fmt(f->a, "%.*s/%s.log", STR(f->log), kind);
	p->merge = true;
	p->line = on_line;
	p->tick = on_tick;
	p->user = &w;
	if (!p->setenv.n) {
		p->clear_env = true;
		p->setenv = f->env;
	}
	if (s->cost.seconds <= 0) /* the first of the step's programs */
		TRY(fs_remove(p->log));
	TRY(proc_run(f->a, p, ret));
	if (str_is_one_of(str_from(kind), builds)) { /* without ninja, only our programs count */
		(void)on_tick(&w);
		f->compiled += w.ran ? w.ran : w.follow.seen;
	}
	if (s->cost.seconds <= 0)
		s->start = ret->start - f->began;
	s->cost.seconds += ret->seconds;
	s->cost.cpu += ret->cpu;
	s->cost.memory = ret->memory > s->cost.memory ? ret->memory : s->cost.memory;
	if (!ret->status)
		return NULL;
	struct err *e = fs_map(p->log, &text), *why;
	why = foreign_explain(f, kind, p, ret, e ? ret->out : text);
	err_free(e);
	fs_unmap(&text);
	return why;
}

void foreign_word(struct foreign *f, struct strs *words, const char *name, struct str value)
{
	strs_fmt(f->a, words, "%s=%.*s", name, STR(value));
}

struct err *foreign_drive(
	struct foreign *f, const char *kind, const struct strs *words, const struct node **ret)
{
	struct proc p = {.cwd = f->tree};
	struct proc_result r;
	struct str driver = path_join(f->a, f->state, S("driver.py"));
	struct str result = path_join(f->a, f->state, S("answer.json"));
	TRY(fs_write(driver, foreign_driver, 0644 | FS_IF_CHANGED));
	TRY(fs_remove(result));
	strs_add(f->a, &p.argv, path_join(f->a, f->venv, S("bin/python")));
	proc_arg(f->a, &p, "-I", "-X", "utf8", str_z(f->a, driver), str_z(f->a, words->v[0]),
		str_z(f->a, result), NULL);
	for (size_t i = 1; i < words->n; i++)
		strs_add(f->a, &p.argv, words->v[i]);
	/* a torch for a newer libc than this machine's can be imported only with that libc; so can the result */
	bool loads = str_eq(words->v[0], S("load"));
	if (loads || (!f->plan->host_native && f->plan->foreign->torch))
		TRY(sdk_wrap_host(f->a, f->sdk, &p));
	TRY(foreign_run(f, kind, &p, &r));
	return json_read(f->a, result, ret);
}
