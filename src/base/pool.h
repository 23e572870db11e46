/* A pool of threads for independent jobs.
 *
 *     struct pool *p = pool_new(jobs);
 *     pool_add(p, fn, user);  ...      fn runs in some thread
 *     TRY(pool_wait(p));  ...          waits; more jobs may follow
 *     TRY(pool_end(p));                waits, lets the threads go, frees the pool
 *
 * The first error cancels the jobs that have not started; later ones are joined to it. Each job
 * gets an arena of its thread that is rewound after the job. Jobs may add jobs. The waiting thread runs jobs,
 * too, unless the pool has one thread.
 */
#pragma once

#include "base/err.h"

struct pool;
typedef struct err *pool_fn(struct arena *tmp, void *user);

struct pool *pool_new(unsigned threads); /* 0 = one per usable CPU */
void pool_add(struct pool *p, pool_fn *fn, void *user);
/* Calls fn for each of the n elements (of the given size) at v; each thread takes a few at a time. */
void pool_add_each(struct pool *p, void *v, size_t n, size_t size, pool_fn *fn);
MUST_USE struct err *pool_wait(struct pool *p); /* each error is returned once */
/* Could no thread be started? Then jobs run in pool_wait() and pool_end(), and who waits for one by other means calls these. */
bool pool_is_alone(const struct pool *p);
MUST_USE struct err *pool_end(struct pool *p);
/* pool_add_each() on a new pool, then waits. */
MUST_USE struct err *pool_each(unsigned threads, void *v, size_t n, size_t size, pool_fn *fn);
unsigned cpu_count(void); /* CPUs that this process may use: affinity and cgroup quota */
/* Leaves this process, and those that it starts, the first n of its CPUs; for programs that start a thread for each one that
 * they see, whatever the quota. Nothing happens if it has no more than n. */
void cpu_pin(unsigned n);
