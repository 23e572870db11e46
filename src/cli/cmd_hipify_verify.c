/* hipify --verify: what rocsmith's engine gives against what that torch's own Python gives, byte by
 * byte. Only when both agree is anything written.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "term/out.h"

struct difference {
	struct str path;
	const char *kind; /* "differs", "missing", "extra": as seen from the original */
	size_t line;      /* of the first difference, 0 = none */
};

struct comparison {
	struct arena *a;
	VEC(struct difference) v;
	size_t compared;
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
	struct map ours = results(c->a, x), theirs = results(c->a, y);
	for (size_t i = 0; i < ours.n; i++) {
		const struct change *f = ours.v[i].value, *g = map_get(&theirs, f->output);
		c->compared++;
		if (!g)
			add(c, f->output, "extra", 0);
		else if (!str_eq(f->text, g->text))
			add(c, f->output, "differs", first_difference(f->text, g->text));
	}
	for (size_t i = 0; i < theirs.n; i++) {
		const struct change *g = theirs.v[i].value;
		if (map_get(&ours, g->output))
			continue;
		c->compared++;
		add(c, g->output, "missing", 0);
	}
}

static void print_json(const struct comparison *c, const struct hipify_torch *torch, bool written)
{
	BUF(b, c->a);
	struct json j = {.out = &b, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.hipify-verify/1"));
	hipify_json_torch(&j, torch);
	json_put_u64(&j, "compared", c->compared);
	json_put_bool(&j, "agree", !c->v.n);
	json_key(&j, "differences");
	json_open(&j, '[');
	VEC_EACH (const struct difference, d, &c->v) {
		json_open(&j, '{');
		json_put(&j, "path", d->path);
		json_put(&j, "kind", str_from(d->kind));
		if (d->line)
			json_put_u64(&j, "line", d->line);
		json_close(&j);
	}
	json_close(&j);
	json_put_bool(&j, "written", written);
	json_close(&j);
	hipify_print_json(&b);
}

static void print_text(const struct comparison *c)
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
	struct hipify_job *job, struct hipify_tree *ours, struct hipify_tree *theirs)
{
	struct hipify_options o = job->o;
	o.look_only = true;
	o.out = S("");
	o.in_place = false;
	o.engine = ENGINE_ROCSMITH;
	TRY(hipify_run(job->a, &o, ours));
	struct err *failed = hipify_failures(job->a, ours);
	if (failed)
		return failed;
	o.engine = ENGINE_TORCH;
	TRY_CTX(hipify_run(job->a, &o, theirs), "cannot run torch's own hipify");
	return NULL;
}

static struct err *verify(struct hipify_job *job, struct hipify_tree *ours,
	struct hipify_tree *theirs, int *ret_status)
{
	const struct hipify_args *h = job->args;
	struct comparison c = {.a = job->a};
	TRY(run_both(job, ours, theirs));
	compare(&c, ours, theirs);
	bool write = !c.v.n && (h->o.in_place || h->o.out.n);
	if (c.v.n)
		*ret_status = 1;
	if (h->common.json)
		print_json(&c, &ours->torch, write && !fs_writes_forbidden());
	else
		print_text(&c);
	return write ? hipify_translate(job, ret_status) : NULL;
}

struct err *hipify_verify(struct hipify_job *job, int *ret_status)
{
	struct hipify_tree ours = {0}, theirs = {0};
	struct err *e = verify(job, &ours, &theirs, ret_status);
	hipify_tree_free(&ours);
	hipify_tree_free(&theirs);
	return e;
}
