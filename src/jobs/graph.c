/* Runs a graph of steps on a pool of threads; see job.h. One mutex protects the counters. */
#include "jobs/job.h"

#include <pthread.h>

#include "base/pool.h"
#include "base/proc.h"

struct graph_runner {
	struct graph *g;
	struct pool *pool;
	pthread_mutex_t lock;
	bool keep_going, stop;
};

size_t graph_add(struct arena *a, struct graph *g,
	struct err *(*run)(struct arena *tmp, void *user), void *user)
{
	*VEC_PUSH(a, g) = (struct graph_node){.run = run, .user = user};
	return g->n - 1;
}

void graph_need(struct arena *a, struct graph *g, size_t node, size_t earlier)
{
	*VEC_PUSH(a, &g->v[node].needs) = earlier;
}

static struct err *run_node(struct arena *tmp, void *node)
{
	struct graph_node *n = node;
	struct graph_runner *r = n->runner;
	pthread_mutex_lock(&r->lock);
	bool stop = r->stop || cancelled();
	pthread_mutex_unlock(&r->lock);
	if (stop)
		return NULL;
	struct err *e = n->run(tmp, n->user);
	pthread_mutex_lock(&r->lock);
	n->failure = e;
	r->stop = r->stop || (e && !r->keep_going);
	if (!e)
		VEC_EACH (size_t, next, &n->feeds)
			if (--r->g->v[*next].waiting == 0 && !r->stop)
				pool_add(r->pool, run_node, &r->g->v[*next]);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

struct err *graph_run(struct arena *a, struct graph *g, unsigned jobs, struct err **ret_more)
{
	struct graph_runner r = {
		.g = g, .keep_going = ret_more != NULL, .lock = PTHREAD_MUTEX_INITIALIZER};
	for (size_t i = 0; i < g->n; i++) {
		g->v[i].runner = &r;
		g->v[i].waiting = g->v[i].needs.n;
		VEC_EACH (size_t, from, &g->v[i].needs)
			*VEC_PUSH(a, &g->v[*from].feeds) = i;
	}
	r.pool = pool_new(jobs);
	pthread_mutex_lock(&r.lock);
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i].waiting == 0)
			pool_add(r.pool, run_node, &g->v[i]);
	pthread_mutex_unlock(&r.lock);
	struct err *e = pool_end(r.pool), *first = NULL, *more = NULL;
	for (size_t i = 0; i < g->n; i++) {
		struct err **failure = &g->v[i].failure;
		if (!first)
			first = *failure;
		else if (ret_more)
			more = err_join(more, *failure);
		else
			err_free(*failure);
		*failure = NULL;
	}
	if (ret_more)
		*ret_more = more;
	first = err_join(first, e);
	return first ? first : cancel_check();
}
