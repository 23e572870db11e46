/* From the build document to the figures of a report. */
#include <stdlib.h>

#include "report/report.h"

static const struct node none = {.kind = NODE_MAP};

/* The member as a map or list to iterate over; an empty one when it is not there. */
static const struct node *member(const struct node *map, struct str key)
{
	const struct node *n = node_get(map, key);
	return n ? n : &none;
}

static int by_start(const void *x, const void *y)
{
	const struct report_step *a = x, *b = y;
	if (a->start > b->start || a->start < b->start)
		return a->start < b->start ? -1 : 1;
	return str_cmp(a->name, b->name);
}

/* Steps that a failed build never came to have "done": false. */
static void read_steps(struct arena *a, struct report *r)
{
	NODE_EACH (s, member(r->doc, S("steps")))
		if (node_bool(s, S("done"), true) || node_bool(s, S("cached"), false))
			*VEC_PUSH(a, &r->steps) = (struct report_step){
				.kind = node_text(s, S("kind"), S("step")),
				.name = node_text(s, S("name"), S("")),
				.gpu = node_text(s, S("gpu"), S("")),
				.start = node_number(s, S("start"), 0),
				.seconds = node_number(s, S("seconds"), 0),
				.cpu = node_number(s, S("cpu"), 0),
				.memory = node_u64(s, S("memory"), 0),
				.cached = node_bool(s, S("cached"), false),
			};
	if (r->steps.n)
		qsort(r->steps.v, r->steps.n, sizeof(*r->steps.v), by_start);
}

/* Each step goes to the first lane that is free when it starts; clocks are read one after the
 * other, so an overlap of a millisecond is none. */
static void assign_lanes(struct arena *a, struct report *r)
{
	double *ends = arena_array(a, r->steps.n, sizeof(*ends));
	VEC_EACH (struct report_step, s, &r->steps) {
		if (s->cached)
			continue;
		unsigned lane = 0;
		while (lane < r->lanes && ends[lane] > s->start + 1e-3)
			lane++;
		s->lane = lane;
		ends[lane] = s->start + s->seconds;
		if (lane == r->lanes)
			r->lanes++;
		if (ends[lane] > r->end)
			r->end = ends[lane];
	}
}

static struct report_gpu *gpu_named(struct arena *a, struct report *r, struct str name)
{
	VEC_EACH (struct report_gpu, g, &r->gpus)
		if (str_eq(g->name, name))
			return g;
	struct report_gpu *g = VEC_PUSH(a, &r->gpus);
	g->name = name;
	return g;
}

static void sum_gpus(struct arena *a, struct report *r)
{
	NODE_EACH (gpu, member(member(r->doc, S("plan")), S("gpus")))
		gpu_named(a, r, gpu->text);
	VEC_EACH (struct report_step, s, &r->steps) {
		if (!s->gpu.n)
			continue;
		struct report_gpu *g = gpu_named(a, r, s->gpu);
		g->cached += s->cached;
		if (s->cached)
			continue;
		g->ran++;
		g->seconds += s->seconds;
		g->cpu += s->cpu;
		if (s->memory > g->memory)
			g->memory = s->memory;
	}
}

struct err *report_read(struct arena *a, const struct node *doc, struct report *ret)
{
	struct str schema = node_text(doc, S("schema"), S(""));
	if (!str_eq(schema, S("rocsmith.build/1")))
		return err_hint(node_error(doc, E_SYNTAX,
					"not a build document: the schema is '%.*s'", STR(schema)),
			"'rocsmith build' writes build.json into its build folder");
	const struct node *wheels = member(member(doc, S("verify")), S("wheels"));
	const struct node *project = member(member(doc, S("plan")), S("project"));
	*ret = (struct report){
		.doc = doc,
		.name = node_text(project, S("name"), S("project")),
		.version = node_text(project, S("version"), S("")),
		.verdict = wheels->n ? node_text(wheels->v, S("verdict"), S("")) : S(""),
		.wheel = node_text(doc, S("wheel"), S("")),
		.error = node_text(member(doc, S("error")), S("message"), S("")),
		.bytes = node_u64(doc, S("bytes"), 0),
		.seconds = node_number(doc, S("seconds"), 0),
	};
	const struct node *stages = member(doc, S("stages"));
	NODE_EACH (s, stages)
		*VEC_PUSH(a, &ret->stages) = (struct report_stage){
			.name = s->key, .seconds = node_number(stages, s->key, 0)};
	read_steps(a, ret);
	assign_lanes(a, ret);
	sum_gpus(a, ret);
	return NULL;
}

static void write_step_count(struct json *j, const void *report)
{
	json_u64(j, ((const struct report *)report)->steps.n);
}

static const struct json_field stage_fields[] = {
	FIELD("name", struct report_stage, name),
	FIELD("seconds", struct report_stage, seconds),
	{.kind = FIELD_END},
};

static const struct json_field gpu_fields[] = {
	FIELD("gpu", struct report_gpu, name),
	FIELD("ran", struct report_gpu, ran),
	FIELD("cached", struct report_gpu, cached),
	FIELD("seconds", struct report_gpu, seconds),
	FIELD("cpu", struct report_gpu, cpu),
	FIELD("memory", struct report_gpu, memory),
	{.kind = FIELD_END},
};

const struct json_field report_fields[] = {
	FIELD_CONST("schema", "rocsmith.report/1"),
	FIELD("name", struct report, name),
	FIELD("version", struct report, version),
	FIELD("wheel", struct report, wheel),
	FIELD("bytes", struct report, bytes),
	FIELD("verdict", struct report, verdict),
	FIELD("error", struct report, error),
	FIELD("seconds", struct report, seconds),
	FIELD_MAP("stages", struct report, stages, stage_fields),
	FIELD_WRITE("steps", write_step_count),
	FIELD_LIST("gpus", struct report, gpus, gpu_fields),
	{.kind = FIELD_END},
};
