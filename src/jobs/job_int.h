/* Private to jobs/: running a job, and taking its output from a cache instead. */
#pragma once

#include "cc/cached.h"
#include "jobs/job.h"

/* ---- job.c ---- */
/* Is the output up to date? Its costs then go to the report. */
bool job_is_fresh(struct arena *tmp, struct job *j);
MUST_USE struct err *job_make(struct arena *tmp, struct job *j);

/* ---- output.c ---- */
/* Takes start and costs of a run into the report. */
void job_note_run(struct job *j, const struct proc_result *r);
struct str job_stamp_path(struct arena *a, const struct job *j);
/* Rejects links and pipes, through which the program could make us read files that it cannot read itself. */
MUST_USE struct err *job_check_regular(struct str path);
MUST_USE struct err *job_empty_work(const struct job *j);
/* The files that the depfile of the program's last run names, without those that the toolchain's fingerprint covers. */
MUST_USE struct err *job_deps(struct arena *a, const struct job *j, struct strs *ret);
MUST_USE struct err *job_write_said(struct arena *tmp, const struct job *j, struct str said);

/* ---- restore.c ---- */
/* Runs the preprocessor, and writes `part` from the cache if it has it (j->report.restored): the depfile is then that of
 * the preprocessor. *ret is for cached_keep(). */
MUST_USE struct err *job_restore(
	struct arena *tmp, struct job *j, struct str part, struct cached_pass *ret);
