/* Asks a cache of objects for the output of a job's program; see cc/cached.h. */
#include "base/fs.h"
#include "jobs/job_int.h"

enum { MAX_TEXT = 512 << 20 };

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
	TRY(job_empty_work(j));
	TRY(job_run_program(tmp, &unlogged, &argv, &r));
	if (r.status)
		return NULL;
	TRY(job_check_regular(part));
	TRY(job_check_regular(j->depfile));
	job_note_run(j, &r);
	*ret_good = true;
	return NULL;
}

struct err *job_restore(struct arena *tmp, struct job *j, struct str part, struct cached_pass *ret)
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
	TRY(job_deps(tmp, j, &ret->read));
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
	return j->report.restored ? job_write_said(tmp, j, said) : NULL;
}
