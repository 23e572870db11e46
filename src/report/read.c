/* Computes the figures of a report from the build document. */
#include "report/report.h"

uint64_t report_spills(const struct node *kernel)
{
	return node_u64(kernel, S("vgpr_spills"), 0) + node_u64(kernel, S("sgpr_spills"), 0);
}

/* A duration or a time in a build; 0 for numbers so large that sums would overflow. */
static double seconds_in(const struct node *n)
{
	const double most = 1e300;
	double s = node_value(n, 0);
	return s >= -most && s <= most ? s : 0;
}

static double seconds_of(const struct node *map, struct str key)
{
	return seconds_in(node_get(map, key));
}

static int by_start(const void *x, const void *y)
{
	const struct report_step *a = x, *b = y;
	if (a->start > b->start || a->start < b->start)
		return a->start < b->start ? -1 : 1;
	return str_cmp(a->name, b->name);
}

/* Steps that a failed build had begun, or never reached, have "done": false. */
static void read_steps(struct arena *a, struct report *r, const struct node *list, bool compile)
{
	size_t first = r->numbers;
	NODE_EACH (s, list) {
		struct report_step step = {
			.number = r->numbers++,
			.compile = compile,
			.kind = node_text(s, S("kind"), S("step")),
			.name = node_text(s, S("name"), S("")),
			.gpu = node_text(s, S("gpu"), S("")),
			.front = node_text(s, S("front"), S("")),
			.start = seconds_of(s, S("start")),
			.seconds = seconds_of(s, S("seconds")),
			.cpu = seconds_of(s, S("cpu")),
			.memory = node_u64(s, S("memory"), 0),
			.cached = node_bool(s, S("cached"), false),
			.restored = node_bool(s, S("restored"), false),
		};
		NODE_EACH (n, node_member(s, S("after"))) {
			uint64_t number;
			if (str_u64(n->text, 10, &number) && number < step.number - first)
				*VEC_PUSH(a, &step.after) = first + (size_t)number;
		}
		if (node_bool(s, S("done"), true) || step.cached)
			*VEC_PUSH(a, &r->steps) = step;
		else if (step.seconds > 0)
			*VEC_PUSH(a, &r->failed) = step;
	}
}

/* Assigns each step to the first lane that is free when it starts. Clocks are read one after the other, so an overlap
 * of up to a millisecond does not count. */
static void assign_lanes(struct report *r)
{
	enum { LANES = 256 };
	double ends[LANES];
	VEC_EACH (struct report_step, s, &r->steps) {
		if (s->cached)
			continue;
		unsigned lane = 0;
		while (lane < r->lanes && lane < LANES - 1 && ends[lane] > s->start + 1e-3)
			lane++;
		s->lane = lane;
		ends[lane] = s->start + s->seconds;
		if (lane == r->lanes)
			r->lanes++;
		if (ends[lane] > r->end)
			r->end = ends[lane];
	}
}

/* NULL for one too many: each costs a search for the longest chain, and no ROCm knows so many. */
static struct report_gpu *gpu_named(struct arena *a, struct report *r, struct str name)
{
	enum { GPUS = 256 };
	struct report_gpu *g = VEC_FIND(struct report_gpu, &r->gpus, name, name);
	if (g || r->gpus.n == GPUS)
		return g;
	g = VEC_PUSH(a, &r->gpus);
	g->name = name;
	return g;
}

static void sum_gpus(struct arena *a, struct report *r)
{
	NODE_EACH (gpu, node_member(node_member(r->doc, S("plan")), S("gpus")))
		gpu_named(a, r, gpu->text);
	VEC_EACH (struct report_step, s, &r->steps) {
		struct report_gpu *g = s->gpu.n ? gpu_named(a, r, s->gpu) : NULL;
		if (!g)
			continue;
		g->cached += s->cached;
		if (s->cached)
			continue;
		g->ran++;
		g->restored += s->restored;
		g->cloned += str_eq(s->front, S("cloned"));
		g->shared += str_eq(s->front, S("shared")) || str_eq(s->front, S("cloned"));
		g->seconds += s->seconds;
		g->cpu += s->cpu;
		if (s->memory > g->memory)
			g->memory = s->memory;
	}
}

/* ---- the critical path ---- */
struct chains {                          /* by the numbers of the steps */
	const struct report_step **step; /* NULL: no compile, or did not run */
	double *ends;                    /* length of the longest chain that ends with it */
	size_t *before; /* the step before it on that chain, or a number that no step has */
	size_t last;    /* the end of the longest of all */
};

/* The least time of the compiles; the device passes of the GPU `without` take none. */
static double least(const struct report *r, struct str without, struct chains *io)
{
	double sum = 0;
	io->last = r->numbers;
	for (size_t i = 0; i < r->numbers; i++) {
		const struct report_step *s = io->step[i];
		io->before[i] = r->numbers;
		io->ends[i] = 0;
		if (!s)
			continue;
		VEC_EACH (const size_t, n, &s->after)
			if (io->step[*n] &&
				(io->before[i] == r->numbers || io->ends[*n] > io->ends[i])) {
				io->ends[i] = io->ends[*n];
				io->before[i] = *n;
			}
		double seconds = without.n && str_eq(s->gpu, without) ? 0 : s->seconds;
		sum += seconds;
		io->ends[i] += seconds;
		if (io->last == r->numbers || io->ends[i] > io->ends[io->last])
			io->last = i;
	}
	double longest = io->last < r->numbers ? io->ends[io->last] : 0;
	sum /= r->jobs ? r->jobs : 1;
	return longest > sum ? longest : sum;
}

static void find_path(struct arena *a, struct report *r)
{
	ARENA(tmp);
	struct chains c = {.step = arena_array(&tmp, r->numbers, sizeof(*c.step)),
		.ends = arena_array(&tmp, r->numbers, sizeof(*c.ends)),
		.before = arena_array(&tmp, r->numbers, sizeof(*c.before))};
	size_t n = 0;
	VEC_EACH (const struct report_step, s, &r->steps)
		c.step[s->number] = s->compile && !s->cached ? s : NULL;
	VEC_EACH (struct report_gpu, g, &r->gpus)
		g->added = -least(r, g->name, &c);
	r->least = least(r, S(""), &c);
	VEC_EACH (struct report_gpu, g, &r->gpus)
		g->added += r->least;
	for (size_t i = c.last; i < r->numbers; i = c.before[i])
		n++;
	while (r->path.n < n)
		(void)VEC_PUSH(a, &r->path);
	for (size_t i = c.last; i < r->numbers; i = c.before[i])
		r->path.v[--n] = *c.step[i];
	r->path_seconds = c.last < r->numbers ? c.ends[c.last] : 0;
}

struct err *report_read(struct arena *a, const struct node *doc, struct report *ret)
{
	struct str schema = node_text(doc, S("schema"), S(""));
	if (!str_eq(schema, S("rocsmith.build/1")))
		return err_hint(node_error(doc, E_SYNTAX,
					"not a build document: the schema is '%.*s'", STR(schema)),
			"'rocsmith build' writes build.json into its build folder");
	const struct node *wheels = node_member(node_member(doc, S("verify")), S("wheels"));
	const struct node *error = node_member(doc, S("error"));
	/* relative to the project, if inside */
	struct str place = node_text(error, S("path"), S(""));
	struct str top = str_fmt(a, "%.*s/", STR(node_text(doc, S("project"), S(""))));
	uint64_t line = node_u64(error, S("line"), 0);
	if (top.n > 1 && str_starts(place, top))
		place = str_sub(place, top.n, place.n);
	if (line)
		place = str_fmt(a, "%.*s:%llu", STR(place), (unsigned long long)line);
	const struct node *project = node_member(node_member(doc, S("plan")), S("project"));
	*ret = (struct report){
		.doc = doc,
		.name = node_text(project, S("name"), S("project")),
		.version = node_text(project, S("version"), S("")),
		.verdict = wheels->n ? node_text(wheels->v, S("verdict"), S("")) : S(""),
		.wheel = node_text(doc, S("wheel"), S("")),
		.sha256 = node_text(doc, S("sha256"), S("")),
		.error = node_text(error, S("message"), S("")),
		.place = place,
		.warnings = node_member(doc, S("warnings"))->n,
		.bytes = node_u64(doc, S("bytes"), 0),
		.seconds = seconds_of(doc, S("seconds")),
		.jobs = (unsigned)node_u64(doc, S("jobs"), 1),
	};
	NODE_EACH (s, node_member(doc, S("stages")))
		if (s->key.n) /* in a list they have none */
			*VEC_PUSH(a, &ret->stages) =
				(struct report_stage){.name = s->key, .seconds = seconds_in(s)};
	const struct node *compiles = node_member(doc, S("compiles"));
	read_steps(a, ret, node_member(doc, S("steps")), !compiles->n);
	read_steps(a, ret, compiles, true);
	VEC_SORT(&ret->steps, by_start);
	assign_lanes(ret);
	sum_gpus(a, ret);
	find_path(a, ret);
	NODE_EACH (f, node_member(node_member(doc, S("inspect")), S("files")))
		NODE_EACH (o, node_member(f, S("objects")))
			NODE_EACH (k, node_member(o, S("resources"))) {
				ret->kernels++;
				ret->spilling += report_spills(k) > 0;
			}
	return NULL;
}

static const struct json_field stage_fields[] = FIELDS_ONLY(struct report_stage, name, seconds);

static const struct json_field gpu_fields[] = {
	FIELD("gpu", struct report_gpu, name),
	FIELD_LAST(FIELDS(struct report_gpu, ran, cached, restored, shared, cloned, seconds, cpu,
		memory, added)),
};

static const struct json_field path_fields[] =
	FIELDS_ONLY(struct report_step, kind, name, gpu, seconds);

const struct json_field report_fields[] = {
	FIELD_CONST("schema", "rocsmith.report/1"),
	FIELDS(struct report, name, version, wheel, bytes, sha256, verdict, error, place, warnings,
		seconds),
	FIELD_MAP("stages", struct report, stages, stage_fields),
	FIELD("steps", struct report, steps.n),
	FIELD_LIST("gpus", struct report, gpus, gpu_fields),
	FIELDS(struct report, least, path_seconds),
	FIELD_LIST("path", struct report, path, path_fields),
	FIELD_LAST(FIELDS(struct report, kernels, spilling)),
};
