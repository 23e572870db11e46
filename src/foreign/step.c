/* One program of a foreign build: its environment, its log, its progress. */
#include "base/fs.h"
#include "base/progress.h"
#include "cc/cc.h"
#include "foreign/foreign_int.h"

static const struct {
	const char *kind;
	bool python, cmake;
	const char *verb, *object;
} kinds[] = {
	{"copy", true, true, "Copying", "the sources"},
	{"python", true, false, "Preparing", "the Python environment"},
	{"torch", true, false, "Looking", "at torch"},
	{"configure", true, true, "Configuring", NULL},
	{"build", false, true, "Building", NULL}, /* Python: a part, instead of "wheel" */
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

/* ---- progress: ninja's "[12/34] what", and what the compilers work on now ---- */

struct watch {
	struct str verb, object;
	struct progress *progress;
	struct cc_follow follow;
	uint64_t total, done;
	bool steps; /* total is of steps: the rest of each may be guessed */
};

static void watch_endp(struct watch *w)
{
	progress_end(w->progress);
}

/* "[12/34] rest" of ninja, "[ 12%] rest" of make */
static bool take_count(
	struct str line, uint64_t *ret_done, uint64_t *ret_total, struct str *ret_rest)
{
	struct str done, total, count;
	if (!str_starts(line, S("[")) || !str_cut(str_sub(line, 1, line.n), ']', &count, ret_rest))
		return false;
	*ret_rest = str_trim(*ret_rest);
	if (str_ends(count, S("%"))) {
		*ret_total = 100;
		return str_u64(str_trim(str_sub(count, 0, count.n - 1)), 10, ret_done);
	}
	return str_cut(count, '/', &done, &total) && str_u64(str_trim(done), 10, ret_done) &&
	       str_u64(str_trim(total), 10, ret_total);
}

/* The last word that names a file: of a command its source or output. */
static struct str file_of(struct str text)
{
	struct str word, best = S("");
	while (str_next(&text, ' ', &word))
		if (path_ext(word).n && word.p[0] != '-')
			best = word;
	return path_base(best);
}

static void on_line(void *user, struct str line)
{
	struct watch *w = user;
	uint64_t done, total;
	struct str rest;
	if (!take_count(line, &done, &total, &rest))
		return;
	if (total != w->total || done < w->done) { /* another ninja, or one that finds less to do */
		progress_end(w->progress);
		w->progress = progress_begin(w->verb, w->object, UNIT_ITEMS, total);
		w->total = total;
		w->steps = str_chr(line, '/') < str_chr(line, ']');
		w->done = 0;
	}
	progress_add(w->progress, done > w->done ? done - w->done : 0, file_of(rest));
	w->done = done;
}

/* ninja tells of a step when it has ended; what runs now our compilers know. */
static void on_tick(void *user)
{
	struct watch *w = user;
	struct strs now = {0};
	ARENA(tmp);
	cc_follow_look(&tmp, &w->follow, &now);
	if (w->steps && w->done < w->total)
		progress_left(w->progress, cc_follow_left(&w->follow, w->total - w->done));
	progress_add(w->progress, 0, str_join(&tmp, &now, S(", ")));
}

/* ---- running ---- */

static void report(struct foreign *f, const char *kind, const struct proc_result *r)
{
	struct job_report *s = foreign_step(f, kind);
	if (s->seconds <= 0)
		s->start = r->start - f->began;
	s->seconds += r->seconds;
	s->cpu += r->cpu;
	s->memory = r->memory > s->memory ? r->memory : s->memory;
}

struct err *foreign_run(
	struct foreign *f, const char *kind, struct proc *p, struct proc_result *ret)
{
	CLEANUP(watch_endp) struct watch w = {.object = f->plan->name};
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
	cc_follow_start(f->rocm, f->log, f->jobs, &w.follow);
	p->log = str_fmt(f->a, "%.*s/%s.log", STR(f->log), kind);
	p->merge = true;
	p->line = on_line;
	p->tick = on_tick;
	p->user = &w;
	if (!p->setenv.n) {
		p->clear_env = true;
		p->setenv = f->env;
	}
	if (foreign_step(f, kind)->seconds <= 0) /* a step may be several programs */
		TRY(fs_remove(p->log));
	TRY(proc_run(f->a, p, ret));
	report(f, kind, ret);
	if (!ret->status)
		return NULL;
	struct err *e = fs_map(p->log, &text), *why;
	why = foreign_explain(f, kind, p, ret, e ? ret->out : text);
	err_free(e);
	fs_unmap(&text);
	return why;
}
