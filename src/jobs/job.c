/* Runs a job: checks the stamp, takes the output from a cache (cc/cached.h) or runs the program (or our own function), renames
 * the output into place and stamps it. See job.h. Several threads run jobs at once; they share only the stamps, and what
 * schedule.c keeps. */
#include "base/fs.h"
#include "base/progress.h"
#include "formats/depfile.h"
#include "jobs/job_int.h"

enum { KEY_FORMAT = 1, MAX_DEPFILE = 64 << 20, MAX_SAID = 1 << 20, MAX_TEXT = 512 << 20 };

/* ---- the program, and the files around it ---- */

struct err *job_run_program(
	struct arena *tmp, const struct job *j, const struct strs *argv, struct proc_result *ret)
{
	struct proc p = j->proc;
	p.argv = (struct strs){0};
	strs_add_all(tmp, &p.argv, argv);
	TRY(j->set->hooks->wrap(tmp, j, &p));
	return proc_run(tmp, &p, ret);
}

/* Takes start and costs of a run into the report. */
static void note_run(struct job *j, const struct proc_result *r)
{
	j->report.start = r->start - j->set->began;
	j->report.cost = (struct job_cost){r->seconds, r->cpu, r->memory};
}

struct str job_stamp_path(struct arena *a, const struct job *j)
{
	return path_join(a, j->set->stamps_dir, path_base(j->output));
}

static struct str said_path(struct arena *a, const struct job *j)
{
	return str_fmt(a, "%.*s.said", STR(job_stamp_path(a, j)));
}

struct str job_said(struct arena *a, const struct job *j)
{
	struct str text = S("");
	err_free(j->report.done ? fs_read(a, said_path(a, j), MAX_SAID, &text) : NULL);
	return text;
}

/* Rejects links and pipes, through which the program could make us read files that it cannot read itself. */
static struct err *check_regular(struct str path)
{
	struct stat st;
	TRY(fs_lstat(path, &st));
	return S_ISREG(st.st_mode)
		       ? NULL
		       : err_new(E_TOOL_FAILED, "'%.*s' is not a regular file", STR(path));
}

static struct err *empty_work(const struct job *j)
{
	TRY(fs_remove_tree(j->work));
	return fs_mkdirs(j->work);
}

static struct err *write_said(struct arena *tmp, const struct job *j, struct str said)
{
	struct str path = said_path(tmp, j);
	return said.n ? fs_write(path, str_sub(said, 0, MAX_SAID), 0644) : fs_remove(path);
}

/* The files that the depfile of the program's last run names, without those that the toolchain's fingerprint covers. */
static struct err *find_deps(struct arena *a, const struct job *j, struct strs *ret)
{
	struct strs deps;
	struct str text = S("");
	if (j->depfile.n)
		TRY(fs_read(a, j->depfile, MAX_DEPFILE, &text));
	depfile_parse(a, text, &deps);
	VEC_EACH (struct str, dep, &deps) {
		struct str path = path_clean(a, path_join(a, j->proc.cwd, *dep));
		path = j->set->hooks->locate(a, j, path);
		if (path.n)
			strs_add(a, ret, path);
	}
	return NULL;
}

/* ---- from the cache ---- */

/* Writes the preprocessed text where the job's output goes, and the depfile. False if the program cannot do it: then the
 * compile says why. */
static struct err *preprocess(struct arena *tmp, struct job *j, struct str part, bool *ret_good)
{
	struct job unlogged = *j;
	struct strs argv = {0};
	struct proc_result r;
	*ret_good = false;
	unlogged.proc.log = S("");
	strs_add_all(tmp, &argv, &j->proc.argv);
	strs_add(tmp, &argv, S("-E"));
	TRY(empty_work(j));
	TRY(job_run_program(tmp, &unlogged, &argv, &r));
	if (r.status)
		return NULL;
	TRY(check_regular(part));
	TRY(check_regular(j->depfile));
	note_run(j, &r);
	*ret_good = true;
	return NULL;
}

/* Runs the preprocessor, and writes `part` from the cache if it has it (j->report.restored): the depfile is then that of
 * the preprocessor. *ret is for cached_keep(). */
static struct err *restore(
	struct arena *tmp, struct job *j, struct str part, struct cached_pass *ret)
{
	const struct strs *const lists[] = {&j->proc.argv, &j->proc.setenv, &j->key};
	struct str said;
	bool good;
	*ret = (struct cached_pass){
		.cache = j->set->cache, .programs = j->set->programs, .began = cached_now()};
	TRY(preprocess(tmp, j, part, &good));
	if (!good)
		return NULL;
	TRY(fs_read(tmp, part, MAX_TEXT, &ret->text));
	TRY(find_deps(tmp, j, &ret->read));
	STRS_ADD(tmp, &ret->words, j->set->identity, j->report.kind, j->proc.cwd);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		strs_add(tmp, &ret->words, S("--"));
		strs_add_all(tmp, &ret->words, lists[i]);
	}
	VEC_EACH (const struct str, path, &j->inputs)
		if (!strs_has(&ret->read, *path))
			strs_add(tmp, &ret->others, *path);
	*VEC_PUSH(tmp, &ret->roots) = (struct cached_root){.mark = "work", .dir = j->work};
	VEC_EACH (const struct cached_root, r, &j->set->roots)
		*VEC_PUSH(tmp, &ret->roots) = *r;
	TRY(cached_key(tmp, ret));
	TRY(cached_take(tmp, ret, part, &said, &j->report.restored));
	return j->report.restored ? write_said(tmp, j, said) : NULL;
}

/* ---- the job ---- */

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
		TRY(restore(tmp, j, part, &pass));
	if (j->report.restored)
		return NULL;
	TRY(empty_work(j));
	TRY(j->run ? j->run(tmp, j, &run, io_inputs)
		   : job_run_program(tmp, j, &j->proc.argv, &run));
	note_run(j, &run);
	/* by the kernel, or as clang and gcc say it */
	j->starved =
		run.status == 128 + 9 || (run.status && str_contains(run.err, S("out of memory")));
	if (run.status)
		return j->set->hooks->explain(tmp, j, &run);
	TRY(write_said(tmp, j, run.err));
	TRY(check_regular(part));
	if (j->depfile.n)
		TRY(check_regular(j->depfile));
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
		TRY(check_regular(part));
	}
	TRY(fs_rename(part, j->output));
	strs_add_all(tmp, &inputs, &j->inputs);
	TRY(find_deps(tmp, j, &deps));
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
