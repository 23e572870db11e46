/* Private to jobs/: running a job, and taking its output from a cache instead. */
#pragma once

#include "cache/cache.h"
#include "jobs/job.h"

/* ---- output.c ---- */
struct str job_stamp_path(struct arena *a, const struct job *j);
/* Rejects links and pipes, through which the program could make us read files that it cannot read itself. */
MUST_USE struct err *job_check_regular(struct str path);
MUST_USE struct err *job_empty_work(const struct job *j);
/* The files that the depfile of the program's last run names, without those that the toolchain's fingerprint covers. */
MUST_USE struct err *job_deps(struct arena *a, const struct job *j, struct strs *ret);
MUST_USE struct err *job_write_said(struct arena *tmp, const struct job *j, struct str said);

/* ---- restore.c ---- */
struct job_key {
	bool good; /* there is one */
	struct digest key;
	int64_t began; /* ns: when the text was made */
};

/* Runs the preprocessor, and finds the job's key. part: the file that the program writes. */
MUST_USE struct err *job_cache_key(
	struct arena *tmp, struct job *j, struct str part, struct job_key *ret);
/* Writes `part` from the cache, if it has it; the depfile is that of the preprocessor. */
MUST_USE struct err *job_restore(
	struct arena *tmp, struct job *j, const struct job_key *k, struct str part, bool *ret_done);
/* Puts the output of a finished run into the cache. */
void job_keep(struct arena *tmp, const struct job *j, const struct job_key *k, struct str part,
	struct str said);
