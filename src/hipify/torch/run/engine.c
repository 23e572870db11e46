/* The engine of a project is made while its files are listed: reading a torch's tables takes as
 * long as walking its tree. See project.h. */
#include "base/pool.h"
#include "hipify/torch/run/project.h"

struct torch_opening {
	const struct torch_source *s;
	struct pool *pool;
	struct arena mem; /* of the engine */
};

static struct err *make_engine(struct arena *tmp, void *user)
{
	struct torch_project *p = user;
	struct arena *a = &p->opening->mem;
	struct torch_tables tables;
	(void)tmp;
	TRY(torch_tables_read(a, p->opening->s, &tables));
	if (p->o->map_text.p)
		TRY(torch_tables_add(a, p->o->map, p->o->map_text, &tables));
	p->engine = torch_engine_new(a, &tables);
	return NULL;
}

void torch_start_engine(struct torch_project *p, const struct torch_source *s)
{
	p->opening = NEW(p->a, struct torch_opening);
	*p->opening = (struct torch_opening){.s = s, .pool = pool_new(1)};
	pool_add(p->opening->pool, make_engine, p);
}

struct err *torch_wait_engine(struct torch_project *p)
{
	struct torch_opening *o = p->opening;
	if (!o)
		return NULL;
	struct err *e = pool_end(o->pool);
	arena_join(p->a, &o->mem);
	p->opening = NULL;
	return e;
}
