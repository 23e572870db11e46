/* Runs a job: checks the stamp, runs the program (or our own function), renames the output into place and stamps it.
 * See job.h. Several threads run jobs at once; they share only the stamps, and what schedule.c keeps. */
#include "base/fs.h"
#include "base/progress.h"
#include "jobs/job_int.h"

enum { KEY_FORMAT = 1 };

struct str job_file_name(struct arena *a, struct str path)
{
	struct str tail = str_sub(path, path.n > 80 ? path.n - 80 : 0, path.n);
	tail = str_replace(a, tail, S("/"), S("_"));
	return str_fmt(a, "%.*s-%.*s", STR(tail), STR(str_sub(sha256_hex(a, path), 0, 8)));
}

static void hash_parts(struct hash *h, const struct strs *list)
{
	VEC_EACH (struct str, s, list)
		hash_word(h, *s);
	hash_word(h, S("--"));
}

/* A hash of everything that decides the output, except the content of files. */
static struct digest key_of(struct arena *tmp, const struct job *j)
{
	struct hash *h = hash_new(HASH_SHA256);
	hash_word(h, str_fmt(tmp, "step %d", KEY_FORMAT));
	hash_word(h, j->set->toolchain);
	hash_word(h, j->report.kind);
	hash_parts(h, &j->proc.argv);
	hash_parts(h, &j->proc.setenv);
	hash_word(h, j->proc.cwd);
	hash_parts(h, &j->inputs);
	hash_parts(h, &j->key);
	return hash_end(h);
}

/* An output of which a later job may say that it is wrong, by making one of these files. */
struct job_kept {
	struct arena a;
	struct cached_pass pass;
	struct strs doubts;
	struct proc_result run;
};

static void keep_later(struct job *j, const struct cached_pass *pass, const struct strs *doubts,
	const struct proc_result *run)
{
	struct job_kept *k = j->later = xmalloc(sizeof(*k));
	*k = (struct job_kept){.run = *run};
	k->pass = cached_copy(&k->a, pass);
	k->run.err = str_dup(&k->a, run->err);
	VEC_EACH (const struct str, path, doubts)
		strs_add(&k->a, &k->doubts, str_dup(&k->a, *path));
}

void jobs_keep(struct jobs *set)
{
	for (size_t i = 0; i < set->all.n; i++) {
		struct job *j = set->all.v[i];
		struct job_kept *k = j->later;
		bool doubted = !j->report.done;
		if (!k)
			continue;
		VEC_EACH (const struct str, path, &k->doubts)
			doubted |= fs_present(*path);
		if (!doubted)
			cached_keep(&k->a, &k->pass, j->output, &k->run);
		arena_free(&k->a);
		free(k);
		j->later = NULL;
	}
}

/* Makes `part` by a program, unless the cache has what that would make. */
static struct err *run_or_restore(
	struct arena *tmp, struct job *j, struct str part, struct strs *io_inputs)
{
	struct cached_pass pass = {0};
	struct proc_result run;
	struct strs names = {0};
	bool caching = j->set->cache && j->depfile.n;
	if (caching && j->doubts.n && fs_is_dir(j->doubts))
		TRY(fs_list(tmp, j->doubts, &names));
	VEC_EACH (const struct str, name, &names)
		caching &= !str_ends(*name, S(".bad"));
	if (caching)
		TRY(job_restore(tmp, j, part, &pass));
	if (j->report.restored)
		return NULL;
	TRY(job_empty_work(j));
	TRY(j->run ? j->run(tmp, j, &run, io_inputs)
		   : job_run_program(tmp, j, &j->proc.argv, &run));
	job_note_run(j, &run);
	/* by the kernel, or as clang and gcc say it */
	j->starved =
		run.status == 128 + 9 || (run.status && str_contains(run.err, S("out of memory")));
	if (run.status)
		return j->set->hooks->explain(tmp, j, &run);
	TRY(job_write_said(tmp, j, run.err));
	TRY(job_check_regular(part));
	if (j->depfile.n)
		TRY(job_check_regular(j->depfile));
	if (caching && io_inputs->n)
		keep_later(j, &pass, io_inputs, &run);
	else if (caching)
		cached_keep(tmp, &pass, part, &run);
	return NULL;
}

static struct err *make_output(struct arena *tmp, struct job *j, const struct stamp_key *key)
{
	bool program = j->proc.argv.n > 0;
	struct str part = program ? path_join(tmp, j->work, S(JOB_OUT))
				  : str_fmt(tmp, "%.*s.part", STR(j->output));
	struct strs inputs = {0}, deps = {0};
	TRY(fs_remove(key->file));
	if (program) {
		TRY(run_or_restore(tmp, j, part, &inputs));
	} else {
		double start = mono_now();
		TRY(j->make(tmp, j, part));
		j->report.start = start - j->set->began;
		j->report.cost.seconds = mono_now() - start;
		TRY(job_check_regular(part));
	}
	TRY(fs_rename(part, j->output));
	strs_add_all(tmp, &inputs, &j->inputs);
	TRY(job_deps(tmp, j, &deps));
	VEC_EACH (const struct str, path, &deps)
		if (!strs_has(&j->inputs, *path))
			strs_add(tmp, &inputs, *path);
	if (program)
		TRY(fs_remove_tree(j->work));
	return stamp_write(j->set->stamps, key, &inputs, &j->report.cost);
}

static struct stamp_key stamp_of(struct arena *tmp, const struct job *j)
{
	return (struct stamp_key){
		.file = job_stamp_path(tmp, j), .command = key_of(tmp, j), .output = j->output};
}

static void done(struct job *j)
{
	j->report.done = true;
	progress_add(j->set->progress, 1, j->report.name);
}

bool job_is_fresh(struct arena *tmp, struct job *j)
{
	struct stamp_key key = stamp_of(tmp, j);
	struct job_cost cost = {0};
	if (!stamp_fresh(j->set->stamps, &key, &cost))
		return false;
	j->report.cached = true;
	j->report.cost = cost;
	done(j);
	return true;
}

struct err *job_make(struct arena *tmp, struct job *j)
{
	struct stamp_key key = stamp_of(tmp, j);
	TRY(cancel_check());
	struct err *e = make_output(tmp, j, &key);
	bool own = e && (e->code == E_COMPILE || e->code == E_LINK); /* needs no context */
	if (e && !own && e->code != E_CANCELLED)
		e = err_wrap(e, "cannot build '%.*s'%s%.*s", STR(j->report.name),
			j->report.gpu.n ? " for " : "", STR(j->report.gpu));
	TRY(e);
	done(j);
	return NULL;
}

struct job *job_add(struct jobs *set, const char *kind, struct str name)
{
	struct job *j = NEW(set->a, struct job);
	*j = (struct job){.set = set,
		.number = (unsigned)set->all.n,
		.report = {.kind = str_from(kind), .name = name}};
	*VEC_PUSH(set->a, &set->all) = j;
	return j;
}

void job_need(struct job *later, struct job *earlier)
{
	*VEC_PUSH(later->set->a, &earlier->feeds) = later;
	*VEC_PUSH(later->set->a, &later->report.after) = earlier->number;
	later->waiting++;
}
