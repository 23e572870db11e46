/* Private to jobs/: what schedule.c calls of job.c. */
#pragma once

#include "jobs/job.h"

/* Is the output up to date? Its costs then go to the report. */
bool job_is_fresh(struct arena *tmp, struct job *j);
MUST_USE struct err *job_make(struct arena *tmp, struct job *j);
struct str job_stamp_path(struct arena *a, const struct job *j);
