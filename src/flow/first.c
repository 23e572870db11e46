/* The three commands to type next, for somebody who has just got rocsmith; see next.h. */
#include "flow/next.h"

static void add_command(
	struct arena *a, struct next_commands *list, struct str command, struct str why)
{
	if (list->n < NEXT_COMMANDS)
		*VEC_PUSH(a, list) = (struct next_command){command, why};
}

/* The GPU that most users mean: a card before a part of the processor. */
static const struct next_gpu *first_gpu(const struct machine *m, const struct next_steps *s)
{
	VEC_EACH (const struct machine_gpu, g, &m->gpus)
		VEC_EACH (const struct next_gpu, n, &s->gpus)
			if (!g->apu && str_eq(n->target, g->target))
				return n;
	return s->gpus.n ? s->gpus.v : NULL;
}

/* A torch for the GPU: the one that is there, a published one, or one to be built. */
static void add_torch(struct arena *a, const struct next_gpu *g, struct next_commands *list)
{
	const struct next_route *r = g->routes.n ? g->routes.v : NULL;
	if (g->served_by.n && g->commands.n)
		add_command(a, list, g->commands.v[0],
			str_fmt(a, "see the torch %.*s that is here work", STR(g->served_version)));
	else if (r && r->by != NEXT_BUILD)
		add_command(a, list, str_fmt(a, "rocsmith get torch --gpu %.*s", STR(g->target)),
			str_fmt(a, "the smallest wheels of torch %s for it", r->torch));
	else if (r)
		add_command(a, list, str_fmt(a, "rocsmith plan torch --gpu %.*s", STR(g->target)),
			S("no published torch has code for it: what building one takes"));
}

void next_first(struct arena *a, const struct machine *m, const struct next_steps *s,
	struct next_commands *ret)
{
	const struct next_gpu *g = first_gpu(m, s);
	struct str gpu = g ? g->target : S("gfx1201");
	size_t faults = 0;
	VEC_EACH (const struct finding, f, &m->findings)
		faults += f->severity != SEV_INFO;
	*ret = (struct next_commands){0};
	add_command(a, ret, S("rocsmith doctor"),
		faults ? str_fmt(a, "%.*s found here, and how to mend it",
				 STR(human_count(a, faults, "problem")))
		       : S("all about this machine"));
	if (g)
		add_torch(a, g, ret);
	add_command(a, ret, str_fmt(a, "rocsmith plan DIR --gpu %.*s", STR(gpu)),
		g ? S("what a build of your project would do")
		  : S("what a build of your project for a GPU elsewhere would do"));
	add_command(a, ret, str_fmt(a, "rocsmith build DIR --gpu %.*s", STR(gpu)),
		S("a wheel of it; the SDK is installed for that"));
}
