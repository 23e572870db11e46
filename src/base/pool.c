/* The worker pool: a queue under one mutex; see pool.h. The order in which jobs start is the order
 * in which they were added. */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/fs.h"

struct pool_job { /* calls fn for each of n elements */
	struct pool_job *next;
	pool_fn *fn;
	char *v;
	size_t n, size, share; /* share: the number of elements a thread takes at a time */
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t news; /* a job came, or all are done, or closing */
	struct pool_job *head, **tail;
	unsigned running;
	bool closing;
	bool helped;              /* the thread that waits for the end also runs jobs */
	struct err *first;        /* once set, queued jobs are dropped */
	unsigned nthreads, users; /* users: threads, and the owner; the last one frees it */
};

/* Takes the next elements as a job of their own and runs it, with the lock held before and after. */
static void run_one(struct pool *p, struct arena *tmp)
{
	struct pool_job *j = p->head, part = *j;
	struct err *e = NULL;
	part.n = j->n < j->share ? j->n : j->share;
	j->v += part.n * j->size;
	j->n -= part.n;
	if (!j->n) {
		p->head = j->next;
		if (!p->head)
			p->tail = &p->head;
		free(j);
	}
	p->running++;
	if (!p->first) {
		pthread_mutex_unlock(&p->lock);
		for (size_t i = 0; i < part.n && !e; i++) {
			struct arena_mark m = arena_mark(tmp);
			e = part.fn(tmp, part.v + i * part.size);
			arena_rewind(tmp, m);
		}
		pthread_mutex_lock(&p->lock);
	}
	p->first = err_join(p->first, e);
	p->running--;
	if (!p->running && !p->head)
		pthread_cond_broadcast(&p->news);
}

/* Ends one user; the lock is held, and released here. */
static void leave(struct pool *p)
{
	bool last = !--p->users;
	pthread_mutex_unlock(&p->lock);
	if (!last)
		return;
	pthread_cond_destroy(&p->news);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void *worker(void *arg)
{
	struct pool *p = arg;
	ARENA(tmp);
	pthread_mutex_lock(&p->lock);
	for (;;) {
		if (p->head)
			run_one(p, &tmp);
		else if (p->closing)
			break;
		else
			pthread_cond_wait(&p->news, &p->lock);
	}
	leave(p);
	return NULL;
}

/* It is fine if fewer threads start than requested; without any, pool_end() does the work. Threads are not joined: a
 * join takes 0.2 ms, since the thread has to wake up first. */
static struct pool *start(unsigned threads, bool helped)
{
	struct pool *p = xmalloc(sizeof(*p));
	memset(p, 0, sizeof(*p));
	p->tail = &p->head;
	p->helped = helped;
	p->users = threads + 1;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->news, NULL);
	pthread_t thread;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while (p->nthreads < threads && pthread_create(&thread, &attr, worker, p) == 0)
		p->nthreads++;
	pthread_attr_destroy(&attr);
	pthread_mutex_lock(&p->lock);
	p->users -= threads - p->nthreads;
	pthread_mutex_unlock(&p->lock);
	return p;
}

struct pool *pool_new(unsigned threads)
{
	if (!threads)
		threads = cpu_count();
	return threads > 1 ? start(threads - 1, true) : start(1, false);
}

static void add(struct pool *p, const struct pool_job *job)
{
	struct pool_job *j = xmalloc(sizeof(*j));
	*j = *job;
	pthread_mutex_lock(&p->lock);
	*p->tail = j;
	p->tail = &j->next;
	if (j->n > 1)
		pthread_cond_broadcast(&p->news);
	else
		pthread_cond_signal(&p->news);
	pthread_mutex_unlock(&p->lock);
}

void pool_add(struct pool *p, pool_fn *fn, void *user)
{
	add(p, &(struct pool_job){.fn = fn, .v = user, .n = 1, .share = 1});
}

/* Shares are small, so that all threads end at about the same time, and bounded, so that a thread soon notices when
 * another one fails. */
void pool_add_each(struct pool *p, void *v, size_t n, size_t size, pool_fn *fn)
{
	enum { MOST = 16 };
	size_t share = n / (16 * (size_t)(p->nthreads + 1)) + 1;
	struct pool_job j = {.fn = fn, .v = v, .n = n, .size = size};
	j.share = share < MOST ? share : MOST;
	if (n)
		add(p, &j);
}

bool pool_is_alone(const struct pool *p)
{
	return !p->nthreads;
}

struct err *pool_wait(struct pool *p)
{
	ARENA(tmp);
	pthread_mutex_lock(&p->lock);
	while (p->running || p->head)
		if (p->head && (p->helped || !p->nthreads))
			run_one(p, &tmp);
		else
			pthread_cond_wait(&p->news, &p->lock);
	struct err *e = p->first;
	p->first = NULL;
	pthread_mutex_unlock(&p->lock);
	return e;
}

struct err *pool_end(struct pool *p)
{
	struct err *e = pool_wait(p);
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_cond_broadcast(&p->news);
	leave(p);
	return e;
}

struct err *pool_each(unsigned threads, void *v, size_t n, size_t size, pool_fn *fn)
{
	if (!threads)
		threads = cpu_count();
	struct pool *p = start((n < threads ? (unsigned)n + !n : threads) - 1, true);
	pool_add_each(p, v, n, size, fn);
	return pool_end(p);
}

unsigned cpu_count(void)
{
	ARENA(a);
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
	unsigned most = n > 0 ? (unsigned)n : 1;
	struct str text, line, quota, period, dir = {0};
	/* cgroup v2: the tightest cpu.max on the way up from our own group */
	if (fs_exists(S("/sys/fs/cgroup/cgroup.controllers"))) {
		CLEANUP(err_freep)
		struct err *e = fs_read_opt(&a, S("/proc/self/cgroup"), 1 << 16, &text);
		while (!e && str_next(&text, '\n', &line))
			if (str_starts(line, S("0::/")))
				dir = str_sub(line, 3, line.n);
	}
	for (; dir.n; dir = dir.n > 1 ? path_dir(dir) : S("")) {
		struct str file = str_fmt(&a, "/sys/fs/cgroup%.*s/cpu.max", STR(dir));
		CLEANUP(err_freep) struct err *e = fs_read_opt(&a, file, 1 << 12, &text);
		uint64_t q, per;
		/* "max 100000" or "150000 100000" (quota and period, in microseconds): whole CPUs, rounded up */
		if (e || !text.p || !str_cut(str_trim(text), ' ', &quota, &period) ||
			!str_u64(quota, 10, &q) || !str_u64(period, 10, &per) || !per || !q)
			continue;
		uint64_t cpus = (q - 1) / per + 1;
		most = cpus < most ? (unsigned)cpus : most;
	}
	return most;
}

void cpu_pin(unsigned n)
{
	cpu_set_t set, less;
	CPU_ZERO(&less);
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && (unsigned)CPU_COUNT(&less) < n)
			CPU_SET(cpu, &less);
	if (n)
		(void)sched_setaffinity(0, sizeof(less), &less);
}
