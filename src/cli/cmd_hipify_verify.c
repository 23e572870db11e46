/* How far a torch and rocsmith can be trusted: --verify compares what rocsmith's engine gives with
 * what that torch's own Python gives, byte by byte, and only when both agree is anything written.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "hipify/torch/model/tables.h"
#include "term/out.h"

/* ---- --verify ---- */

struct difference {
	struct str path;
	const char *kind; /* "differs", "missing", "extra": as seen from the original */
	size_t line;      /* of the first difference, 0 = none */
};

struct comparison {
	struct arena *a;
	struct torch_source torch;
	VEC(struct difference) v;
	size_t compared;
	bool agree, written;
};

static const struct json_field difference_fields[] = {
	FIELDS(struct difference, path, kind),
	FIELD_OPTIONAL("line", struct difference, line),
	{.kind = FIELD_END},
};
static const struct json_field comparison_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-verify/1"),
	FIELD_STRUCT("torch", struct comparison, torch, hipify_torch_fields),
	FIELDS(struct comparison, compared, agree),
	FIELD_LIST("differences", struct comparison, v, difference_fields),
	FIELD("written", struct comparison, written),
	{.kind = FIELD_END},
};

/* Files that have a result of their own, by output. */
static struct map results(struct arena *a, const struct hipify_tree *t)
{
	MAP(m, a);
	VEC_EACH (struct change, f, &t->changes)
		if (f->text.p)
			map_put(&m, f->output, f);
	return m;
}

static size_t first_difference(struct str x, struct str y)
{
	size_t line = 1;
	for (size_t i = 0; i < x.n && i < y.n && x.p[i] == y.p[i]; i++)
		line += x.p[i] == '\n';
	return line;
}

static void add(struct comparison *c, struct str path, const char *kind, size_t line)
{
	*VEC_PUSH(c->a, &c->v) = (struct difference){.path = path, .kind = kind, .line = line};
}

static void compare(struct comparison *c, const struct hipify_tree *x, const struct hipify_tree *y)
{
	struct map first = results(c->a, x), second = results(c->a, y);
	for (size_t i = 0; i < first.n; i++) {
		const struct change *f = first.v[i].value, *g = map_get(&second, f->output);
		c->compared++;
		if (!g)
			add(c, f->output, "extra", 0);
		else if (!str_eq(f->text, g->text))
			add(c, f->output, "differs", first_difference(f->text, g->text));
	}
	for (size_t i = 0; i < second.n; i++) {
		const struct change *g = second.v[i].value;
		if (map_get(&first, g->output))
			continue;
		c->compared++;
		add(c, g->output, "missing", 0);
	}
}

static void print_comparison(const struct comparison *c)
{
	VEC_EACH (const struct difference, d, &c->v) {
		if (d->line)
			out_fmt("%.*s:%zu: differs from here on\n", STR(d->path), d->line);
		else
			out_fmt("%.*s: only %s writes it\n", STR(d->path),
				d->kind[0] == 'e' ? "rocsmith" : "torch");
	}
	if (c->v.n)
		say_status(S("Verified"), "%zu of %zu files are not what torch's own hipify gives",
			c->v.n, c->compared);
	else
		say_status(S("Verified"), "all %zu files are what torch's own hipify gives",
			c->compared);
}

/* Both engines on the same tree, nothing written. */
static struct err *run_both(
	struct hipify_job *job, struct hipify_tree *own, struct hipify_tree *original)
{
	struct hipify_options o = job->o;
	o.look_only = true;
	o.out = S("");
	o.in_place = false;
	o.engine = ENGINE_ROCSMITH;
	TRY(hipify_run(job->a, &o, own));
	TRY(hipify_failures(job->a, own));
	o.engine = ENGINE_TORCH;
	TRY_CTX(hipify_run(job->a, &o, original), "cannot run torch's own hipify");
	return NULL;
}

struct err *hipify_verify(struct hipify_job *job, int *ret_status)
{
	struct hipify_tree own = {0}, original = {0};
	struct comparison c = {.a = job->a};
	struct err *e = run_both(job, &own, &original);
	if (!e)
		compare(&c, &own, &original);
	hipify_tree_free(&own);
	hipify_tree_free(&original);
	if (e)
		return e;
	c.torch = own.torch;
	c.agree = !c.v.n;
	bool write = c.agree && (job->args->o.in_place || job->args->o.out.n);
	c.written = write && !fs_writes_forbidden();
	if (!c.agree)
		*ret_status = 1;
	if (job->args->common.json)
		out_text(json_document(job->a, 2, comparison_fields, &c));
	else
		print_comparison(&c);
	return write ? hipify_translate(job, ret_status) : NULL;
}
