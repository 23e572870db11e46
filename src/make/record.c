/* The JSON record of a build: what `rocsmith report` draws its page from. See make.h. */
#include <time.h>

#include "formats/json_write.h"
#include "make/make.h"

static void write_sdk(struct json *j, const struct sdk *sdk)
{
	json_key(j, "sdk");
	json_open(j, '{');
	json_put(j, "name", sdk->name);
	json_put(j, "provider", sdk->provider);
	json_put(j, "suite", sdk->suite);
	json_put(j, "path", sdk->root);
	json_put(j, "index_date", sdk->index_date);
	json_put(j, "fingerprint", sdk->fingerprint);
	json_key(j, "components");
	json_open(j, '{');
	VEC_EACH (const struct sdk_component, c, &sdk->components) {
		json_key_str(j, c->name);
		json_str(j, c->version);
	}
	json_close(j);
	json_close(j);
}

static void write_stages(struct json *j, const struct make_result *r)
{
	json_key(j, "stages");
	json_open(j, '{');
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		json_put_f64(j, make_stage_names[i], r->seconds[i]);
	json_close(j);
}

static void write_steps(struct json *j, const struct make_result *r)
{
	json_key(j, "steps");
	json_open(j, '[');
	VEC_EACH (const struct make_step, s, &r->steps) {
		json_open(j, '{');
		json_put(j, "kind", s->kind);
		json_put(j, "name", s->name);
		json_put(j, "gpu", s->gpu);
		json_put_f64(j, "start", s->start);
		json_put_f64(j, "seconds", s->seconds);
		json_put_f64(j, "cpu", s->cpu);
		json_put_u64(j, "memory", s->memory);
		json_put_bool(j, "cached", s->cached);
		json_put_bool(j, "done", s->done);
		json_close(j);
	}
	json_close(j);
}

static void write_error(struct json *j, const struct err *e)
{
	if (!e)
		return;
	json_key(j, "error");
	json_open(j, '{');
	json_put(j, "id", str_from(err_id(e->code)));
	/* The root cause is what a reader wants first. */
	const struct err *root = e;
	while (root->cause)
		root = root->cause;
	json_put(j, "message", str_from(root->msg));
	if (root->path) {
		json_put(j, "path", str_from(root->path));
		json_put_u64(j, "line", root->line);
	}
	json_close(j);
}

struct str make_record(struct arena *a, const struct make_record *m)
{
	const struct make_result *r = m->result;
	double seconds = mono_now() - m->began;
	BUF(b, a);
	struct json j = {.out = &b};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.build/1"));
	json_put(&j, "rocsmith", S(ROCSMITH_VERSION));
	json_put_u64(&j, "started", (uint64_t)((double)time(NULL) - seconds));
	json_put_f64(&j, "seconds", seconds);
	json_put_u64(&j, "jobs", r->jobs);
	json_put(&j, "project", m->plan->project);
	json_put(&j, "dir", r->dir);
	write_sdk(&j, &r->sdk);
	write_stages(&j, r);
	write_steps(&j, r);
	json_put(&j, "wheel", r->wheel);
	json_put_u64(&j, "bytes", r->wheel_size);
	json_put(&j, "platform_why", r->platform_why);
	json_put_u64(&j, "translated", r->edits);
	json_key(&j, "findings");
	findings_json(&j, &r->findings);
	write_error(&j, m->failure);
	buf_fmt(&b, ",\"plan\":%.*s", STR(str_trim(plan_json(a, m->plan))));
	if (m->more.n)
		buf_fmt(&b, ",%.*s", STR(m->more));
	buf_fmt(&b, "}\n");
	return str_dup(a, buf_str(&b));
}
