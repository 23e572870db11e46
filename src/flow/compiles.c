/* Makes steps of the build report from what the compilers of another build system's build did, by the log that each of
 * them adds a line to (cc/cc.h). ninja and setup.py keep no record of the passes for each GPU, of CPU time or of memory. */
#include <time.h>

#include "base/fs.h"
#include "base/map.h"
#include "cc/cc.h"
#include "flow/build.h"
#include "formats/node.h"

enum { MOST_COMPILES = 20000, MOST_INPUTS = 5000 };

/* Adds what the last pass of a run waits for besides its other passes: the steps that made its inputs; and notes in
 * `makers` (path to number) what it makes. */
static void connect(
	struct arena *a, const struct node *run, struct build_result *r, struct map *makers)
{
	unsigned number = (unsigned)(r->compiles.n - 1);
	struct job_report *last = &r->compiles.v[number];
	struct str before = S("");
	NODE_EACH (word, node_member(run, S("argv"))) {
		ARENA(tmp);
		struct str path = path_join(&tmp, node_text(run, S("dir"), S("/")), word->text);
		path = path_clean(&tmp, path);
		const unsigned *from = map_get(makers, path);
		if (str_eq(before, S("-o"))) {
			unsigned *maker = NEW(a, unsigned);
			*maker = number;
			map_put(makers, str_dup(a, path), maker);
		} else if (from && *from < number && last->after.n < MOST_INPUTS) {
			*VEC_PUSH(a, &last->after) = *from;
		}
		before = word->text;
	}
}

/* A run of one program, as a step for each of its passes. They ran one after the other, so each needs the one before it. */
static void add_run(struct arena *a, const struct node *run, double start, struct build_result *r)
{
	const struct node *passes = node_member(run, S("passes"));
	bool split = passes->n > 0;
	size_t n = split ? passes->n : 1;
	struct str kind = node_text(run, S("kind"), S(""));
	start += node_number(run, S("waited"), 0);
	for (size_t i = 0; i < n; i++) {
		const struct node *pass = split ? &passes->v[i] : run;
		struct job_report *s = VEC_PUSH(a, &r->compiles);
		struct str gpu = node_text(pass, S("gpu"), S(""));
		*s = (struct job_report){.kind = str_dup(a, gpu.n   ? S("device")
							    : split ? S("host")
								    : kind),
			.name = str_dup(a, node_text(run, S("input"), S(""))),
			.gpu = str_dup(a, gpu),
			.front = str_dup(a, node_text(pass, S("front"), S(""))),
			.start = start,
			.cost = {node_number(pass, S("seconds"), 0), node_number(pass, S("cpu"), 0),
				node_u64(pass, S("memory"), 0)},
			.restored = node_bool(pass, S("restored"), false),
			.done = node_u64(run, S("status"), 0) == 0};
		start += s->cost.seconds;
		if (i)
			*VEC_PUSH(a, &s->after) = (unsigned)(r->compiles.n - 2);
	}
}

struct compile_reader {
	struct build_result *r;
	struct map makers;
	double began; /* when the whole build began, in seconds since 1970 */
};

static struct err *take_run(void *user, const struct node *run)
{
	struct compile_reader *c = user;
	/* -E, --version and the like have no predicted share of the memory */
	if (c->r->compiles.n >= MOST_COMPILES || node_number(run, S("predicted"), 0) <= 0)
		return NULL;
	add_run(c->makers.a, run, node_number(run, S("start"), 0) - c->began, c->r);
	connect(c->makers.a, run, c->r, &c->makers);
	return NULL;
}

/* The log only informs: without it there are no steps. */
void build_compiles(const struct build_request *q, struct build_result *r)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	struct compile_reader c = {.r = r,
		.makers.a = r->foreign->a,
		.began = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (mono_now() - q->began)};
	if (r->foreign->since > 0) /* not in a dry run, which has no folder for a log */
		err_free(cc_log_runs(r->foreign->log, r->foreign->since, take_run, &c));
}
