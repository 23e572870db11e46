/* Decides which ready job runs next: of those whose memory fits, the one that is expected to take longest; see job.h. */
#include <poll.h>

#include "base/pool.h"
#include "jobs/job_int.h"
#include "machine/machine.h"
#include "term/out.h"

enum { TICK = 100 }; /* ms */

/* Jobs that did not run before are expected to cost what this one does for another GPU. */
static void learn(struct jobs *set, const struct job *from, const struct job_cost *cost)
{
	for (size_t i = 0; i < set->all.n && cost->memory; i++) {
		struct job *j = set->all.v[i];
		if (!j->known && str_eq(j->report.kind, from->report.kind) &&
			str_eq(j->report.name, from->report.name))
			j->expected = *cost;
	}
}

static uint64_t share(const struct job *j)
{
	return j->alone ? UINT64_MAX : j->proc.argv.n ? j->expected.memory : 0;
}

/* May it run beside those that do? room: what the machine has for it; other programs take memory too, and our compilers may have
 * exceeded their shares. */
static bool fits(const struct jobs *set, const struct job *j, uint64_t room)
{
	uint64_t want = share(j);
	return !set->running || !want ||
	       (set->used <= set->memory && want <= set->memory - set->used && want <= room);
}

static struct err *run(struct arena *tmp, void *job);

static struct err *look_again(struct arena *tmp, void *jobs);

/* Starts what may start; under the lock. Not while jobs are looked at, one of which may take longer than those that are ready. */
static void dispatch(struct jobs *set)
{
	while (!set->checking && !set->stop && set->running < set->most && set->ready.n) {
		uint64_t room = set->running ? machine_memory_room(S("")) : 0;
		size_t best = set->ready.n;
		for (size_t i = 0; i < set->ready.n; i++)
			if ((best == set->ready.n ||
				    set->ready.v[i]->expected.seconds >
					    set->ready.v[best]->expected.seconds) &&
				fits(set, set->ready.v[i], room))
				best = i;
		if (best == set->ready.n && !set->looking) {
			set->looking = true;
			pool_add(set->pool, look_again, set);
		}
		if (best == set->ready.n)
			return;
		struct job *j = set->ready.v[best];
		for (size_t i = best + 1; i < set->ready.n; i++) /* the rest keeps its order */
			set->ready.v[i - 1] = set->ready.v[i];
		set->ready.n--;
		set->running++;
		j->held = share(j);
		set->used += j->held;
		pool_add(set->pool, run, j);
	}
}

/* Memory becomes free without an event, too. */
static struct err *look_again(struct arena *tmp, void *jobs)
{
	struct jobs *set = jobs;
	(void)tmp;
	(void)poll(NULL, 0, TICK);
	pthread_mutex_lock(&set->lock);
	set->looking = false;
	dispatch(set);
	pthread_mutex_unlock(&set->lock);
	return NULL;
}

static struct err *check(struct arena *tmp, void *job);

static void look_at(struct jobs *set, struct job *j)
{
	set->checking++;
	pool_add(set->pool, check, j);
}

/* Notes how a job ended, and looks at those that waited for it alone; under the lock. */
static void end(struct job *j, struct err *e)
{
	struct jobs *set = j->set;
	j->failure = e;
	set->stop = set->stop || (e && !set->keep_going);
	for (size_t i = 0; !e && i < j->feeds.n; i++)
		if (--j->feeds.v[i]->waiting == 0 && !set->stop)
			look_at(set, j->feeds.v[i]);
}

static bool stopped(struct jobs *set)
{
	pthread_mutex_lock(&set->lock);
	set->stop = set->stop || cancelled();
	bool stop = set->stop;
	pthread_mutex_unlock(&set->lock);
	return stop;
}

/* Is the output up to date? Else the job becomes ready. */
static struct err *check(struct arena *tmp, void *job)
{
	struct job *j = job;
	struct jobs *set = j->set;
	bool fresh = !stopped(set) && job_is_fresh(tmp, j);
	pthread_mutex_lock(&set->lock);
	set->checking--;
	if (fresh)
		end(j, NULL);
	else if (!set->stop)
		*VEC_PUSH(set->a, &set->ready) = j;
	dispatch(set);
	pthread_mutex_unlock(&set->lock);
	return NULL;
}

/* One that lacked memory runs once more when no other does. */
static struct err *run(struct arena *tmp, void *job)
{
	struct job *j = job;
	struct jobs *set = j->set;
	bool stop = stopped(set);
	struct err *e = stop ? NULL : job_make(tmp, j);
	pthread_mutex_lock(&set->lock);
	bool again = e && j->starved && set->running > 1;
	set->running--;
	set->used -= j->held;
	if (again) {
		say_warning("'%.*s'%s%.*s ran out of memory at %llu MiB: once more, alone",
			STR(j->report.name), j->report.gpu.n ? " for " : "", STR(j->report.gpu),
			(unsigned long long)(j->report.cost.memory >> 20));
		err_free(e);
		j->alone = true;
		*VEC_PUSH(set->a, &set->ready) = j;
	} else if (!stop) {
		learn(set, j, &j->report.cost);
		end(j, e);
	}
	dispatch(set);
	pthread_mutex_unlock(&set->lock);
	return NULL;
}

struct err *jobs_run(struct jobs *set, unsigned n, struct err **ret_more)
{
	ARENA(of_stamps);
	STAMPS(stamps, &of_stamps);
	struct err *first = NULL, *more = NULL;
	set->stamps = &stamps;
	set->keep_going = ret_more != NULL;
	set->most = n ? n : 1;
	set->memory = set->memory ? set->memory : machine_memory_free(S(""));
	set->pool = pool_new(set->most);
	set->ready.v = arena_array(
		set->a, set->all.n, sizeof(*set->ready.v)); /* the threads share no arena */
	set->ready.cap = set->all.n;
	for (size_t i = 0; i < set->all.n; i++) {
		ARENA(tmp);
		struct job *j = set->all.v[i];
		j->known = stamp_last(job_stamp_path(&tmp, j), &j->expected);
	}
	for (size_t i = 0; i < set->all.n; i++)
		if (set->all.v[i]->known)
			learn(set, set->all.v[i], &set->all.v[i]->expected);
	pthread_mutex_init(&set->lock, NULL);
	pthread_mutex_lock(&set->lock);
	for (size_t i = 0; i < set->all.n; i++)
		if (set->all.v[i]->waiting == 0)
			look_at(set, set->all.v[i]);
	pthread_mutex_unlock(&set->lock);
	struct err *e = pool_end(set->pool);
	for (size_t i = 0; i < set->all.n; i++) {
		struct err *failure = set->all.v[i]->failure;
		if (!first)
			first = failure;
		else if (ret_more)
			more = err_join(more, failure);
		else
			err_free(failure);
	}
	if (ret_more)
		*ret_more = more;
	first = err_join(first, e);
	return first ? first : cancel_check();
}
