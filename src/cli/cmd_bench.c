/* rocsmith bench: the benchmarks of src/testrun/bench.py, with a Python environment's torch. */
#include "base/fs.h"
#include "cli/opt.h"
#include "term/table.h"
#include "testrun/testrun.h"

static const char *const bench_shapes[] = {"qwen2.5-0.5b", "small", NULL};

struct bench_args {
	struct common common;
	struct bench_request q;
	unsigned shape, seed, steps, batch, seq, tolerance; /* 0 = bench.py's default */
	struct str compare;
};
#define ARGS struct bench_args
#define BENCH_OPTIONS(shape_text)                                                                  \
	{OPT_VALUE("shape", OPT_ENUM, shape, "SHAPE", shape_text), .choices = bench_shapes},       \
		{OPT_VALUE("python", OPT_STR, q.python, "PYTHON",                                  \
			"environment, interpreter or version")},                                   \
		{OPT_VALUE("gpu", OPT_STR, q.gpu, "GPU", "an index or target; none = the CPU")},   \
		{OPT_VALUE("seed", OPT_UINT, seed, "N", "of all random numbers (1)")},             \
		{OPT_VALUE("hang", OPT_UINT, q.hang, "SECONDS", "without a step: a hang (300)")},  \
		{OPT_VALUE("compare", OPT_PATH, compare, "FILE",                                   \
			"fail if it is worse than this result")},                                  \
		{OPT_VALUE("tolerance", OPT_UINT, tolerance, "PERCENT",                            \
			"of speed may be lost (10)")},                                             \
	{                                                                                          \
		OPT_OUTPUT(q.output, "FILE", "write the result, rocsmith.bench/1")                 \
	}

const struct opt cmd_bench_lora_opts[] = {
	BENCH_OPTIONS("of the model: small is for CPUs"),
	{OPT_VALUE("steps", OPT_UINT, steps, "N", "steps (all samples three times: 563)")},
	{OPT_VALUE("batch", OPT_UINT, batch, "N", "samples of a step (8)")},
	{OPT_VALUE("seq", OPT_UINT, seq, "N", "tokens of a sample (256)")},
	OPT_LAST,
};

const struct opt cmd_bench_micro_opts[] = {
	BENCH_OPTIONS("of the work: small is for CPUs"),
	OPT_LAST,
};

static struct err *fill(struct arena *a, const char *name, struct bench_args *o)
{
	struct strs *words = &o->q.words;
	const struct {
		const char *name;
		unsigned value;
	} numbers[] = {{"--seed", o->seed}, {"--steps", o->steps}, {"--batch", o->batch},
		{"--seq", o->seq}, {"--tolerance", o->tolerance}};
	STRS_ADD(a, words, str_from(name), S("--shape"), str_from(bench_shapes[o->shape]));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i].value) {
			strs_add(a, words, str_from(numbers[i].name));
			strs_fmt(a, words, "%u", numbers[i].value);
		}
	if (o->compare.n && !fs_is_file(o->compare))
		return err_new(
			E_NOENT, "there is no result '%.*s' to compare with", STR(o->compare));
	if (o->compare.n)
		STRS_ADD(a, words, S("--compare"), path_abs(a, o->compare));
	o->q.jobs = o->common.jobs;
	return NULL;
}

/* ---- the result for people ---- */

static const struct {
	const char *key, *text;
} lora_rows[] = {
	{"samples_per_second", "samples/s"},
	{"steps_per_second", "steps/s"},
	{"steady_steps_per_second", "steps/s after the first"},
	{"first_step_seconds", "seconds of the first step"},
};

static void show_micro(struct arena *a, const struct node *results)
{
	struct table t = table_new(a, "kind|case|data type|>TFLOP/s");
	NODE_EACH (row, results) {
		struct str skipped = node_text(row, S("skipped"), S(""));
		double speed = node_number(row, S("tflops"), 0);
		TABLE_ROW(&t, node_text(row, S("kind"), S("")), node_text(row, S("case"), S("")),
			node_text(row, S("dtype"), S("")),
			skipped.n ? skipped : str_fmt(a, "%.3f", speed));
	}
	table_print(&t);
}

static void show_lora(struct arena *a, const struct node *r)
{
	const struct node *loss = node_get(r, S("loss"));
	out_fmt("%.*s of %.*s parameters are trained; %.*s steps, %.*s samples in %.*s\n",
		STR(node_text(r, S("trainable"), S("?"))),
		STR(node_text(r, S("parameters"), S("?"))), STR(node_text(r, S("steps"), S("0"))),
		STR(node_text(r, S("samples"), S("0"))),
		STR(human_seconds(a, node_number(r, S("seconds"), 0))));
	if (loss && loss->n)
		out_fmt("loss %.4f at first, %.4f in the end\n", strtod(loss->v[0].text.p, NULL),
			strtod(loss->v[loss->n - 1].text.p, NULL));
	for (size_t i = 0; i < sizeof(lora_rows) / sizeof(*lora_rows); i++)
		out_fmt("%8.3f %s\n", node_number(r, str_from(lora_rows[i].key), 0),
			lora_rows[i].text);
}

static void show_result(struct arena *a, const struct node *r)
{
	const struct node *device = node_get(r, S("device")), *errors = node_get(r, S("errors"));
	const struct node *results = node_get(r, S("results"));
	if (results)
		show_micro(a, results);
	else
		show_lora(a, r);
	out_fmt("%.*s of memory at most\n", STR(human_memory(a, node_u64(r, S("peak_memory"), 0))));
	for (size_t i = 0; errors && i < errors->n; i++)
		out_fmt("error: %.*s: %.*s\n", STR(node_text(&errors->v[i], S("kind"), S(""))),
			STR(node_text(&errors->v[i], S("message"), S(""))));
	out_fmt("%.*s with torch %.*s on %.*s: %.*s\n", STR(node_text(r, S("name"), S(""))),
		STR(node_text(r, S("torch"), S(""))), STR(node_text(device, S("name"), S(""))),
		STR(node_text(r, S("verdict"), S(""))));
}

static struct err *bench(struct arena *a, const char *name, struct bench_args *o)
{
	const struct node *r;
	TRY(fill(a, name, o));
	TRY(bench_run(a, &o->q, &r));
	if (!r)
		return NULL;
	o->common.status = !str_eq(node_text(r, S("verdict"), S("")), S("pass"));
	if (!o->common.json) {
		show_result(a, r);
		return NULL;
	}
	BUF(out, a);
	struct json j = {.out = &out, .indent = 2};
	json_node(&j, r);
	buf_char(&out, '\n');
	out_text(buf_str(&out));
	return NULL;
}

struct err *cmd_bench_lora(struct arena *a, void *args)
{
	return bench(a, "lora", args);
}

struct err *cmd_bench_micro(struct arena *a, void *args)
{
	return bench(a, "micro", args);
}
