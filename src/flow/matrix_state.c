/* The folder of a matrix: which steps its cells have, by their plans, and what became of them; see matrix.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "changes/manifest.h"
#include "flow/matrix.h"
#include "formats/node.h"
#include "report/html.h"

enum {
	RESULT = 1 << 20,
	MOST = 256 /* projects, GPUs and components of a plan, or an SDK; another machine's may name any number */
};

static const char *const matrix_states[] = {"missing", "done", "failed", NULL};

/* ---- JSON ---- */

static const struct json_field result_fields[] = {
	FIELD_CONST("schema", "rocsmith.matrix-result/1"),
	FIELDS(struct matrix_result, key, status, host, error, started, seconds, cpu, memory, disk,
		wheel),
	FIELD_OPTIONAL("size", struct matrix_result, size),
	FIELD_OPTIONAL("explained", struct matrix_result, explained),
	{.kind = FIELD_END},
};

static const struct json_field step_fields[] = {
	FIELDS(struct matrix_step, name, after),
	FIELD_ENUM("state", struct matrix_step, state, matrix_states),
	FIELD_STRUCT("result", struct matrix_step, result, result_fields),
	{.kind = FIELD_END},
};

static const struct json_field cost_fields[] =
	FIELDS_ONLY(struct matrix_cost, cpu, seconds, memory, disk, by);

static const struct json_field cell_fields[] = {
	FIELDS(struct matrix_cell, name, project, values, words),
	FIELD_ENUM("state", struct matrix_cell, state, matrix_states),
	FIELDS(struct matrix_cell, error, explained, targets, size),
	FIELD_STRUCT("cost", struct matrix_cell, cost, cost_fields),
	FIELD_LIST("steps", struct matrix_cell, steps, step_fields),
	{.kind = FIELD_END},
};

static const struct json_field excluded_fields[] =
	FIELDS_ONLY(struct matrix_left_out, name, reason, until);

static const struct json_field exclude_fields[] =
	FIELDS_ONLY(struct matrix_exclude, where, reason, until, expired, line, cells);

const struct json_field matrix_fields[] = {
	FIELD_CONST("schema", "rocsmith.matrix/1"),
	FIELDS(struct matrix, name, file, state, axes, done, failed, missing, unknown),
	FIELD_STRUCT("cost", struct matrix, cost, cost_fields),
	FIELD_LIST("cells", struct matrix, cells, cell_fields),
	FIELD_LIST("excluded", struct matrix, excluded, excluded_fields),
	FIELD_LIST("excludes", struct matrix, excludes, exclude_fields),
	{.kind = FIELD_END},
};

/* ---- the folder ---- */

struct str matrix_path(struct arena *a, const struct matrix *m, const struct matrix_cell *c,
	struct str step, struct str file)
{
	struct str top = m->plans.n && str_eq(step, S("plan")) ? m->plans : m->state;
	return str_fmt(
		a, "%.*s/cells/%.*s/%.*s/%.*s", STR(top), STR(c->name), STR(step), STR(file));
}

struct err *matrix_take(struct arena *a, const struct matrix *m)
{
	struct str path = path_join(a, m->state, S("matrix.json")), text;
	struct strs there = {0};
	struct sum seal;
	struct digest d = {.n = sizeof(seal.b)};
	bool other = false, new = !fs_present(m->state);
	TRY(fs_check_way(m->state)); /* it makes the folder itself where all may write */
	TRY(fs_make_output(m->state));
	/* a folder that came with a tree may hold results, too; so it has to carry a hash by this user's key */
	TRY(seal_of(str_fmt(a, "matrix\n%.*s\n%.*s", STR(m->state), STR(m->file)), &seal));
	memcpy(d.b, seal.b, sizeof(seal.b));
	struct str own = str_fmt(a, "{\"schema\":\"rocsmith.matrix-folder/1\",\"seal\":\"%.*s\"}\n",
		STR(digest_hex(a, d)));
	TRY(fs_list(a, m->state, &there));
	TRY(fs_read_opt(a, path, RESULT, &text));
	if (text.p && !str_eq(text, own))
		return err_hint(err_new(E_USAGE,
					"'%.*s' is the folder of another matrix, or was not made "
					"here by you",
					STR(m->state)),
			"name another folder with -o");
	for (size_t i = 0; i < there.n; i++) /* Slurm's logs may come first */
		other = other || !(str_starts(there.v[i], S("slurm-rocsmith-")) ||
					 fs_is_temp_name(there.v[i]));
	if (!text.p && other)
		return err_hint(err_new(E_USAGE, "'%.*s' is no folder of a matrix, and not empty",
					STR(m->state)),
			"name a new folder with -o");
	struct err *e = text.p ? NULL : fs_write(path, own, 0644);
	return e && new ? err_join(e, fs_remove_empty(m->state)) : e;
}

/* ---- steps ---- */

struct matrix_step *matrix_step_find(const struct matrix_cell *c, struct str name)
{
	return VEC_FIND(struct matrix_step, &c->steps, name, name);
}

static struct matrix_step *add_step(struct arena *a, struct matrix_cell *c, struct str name)
{
	struct matrix_step *s = VEC_PUSH(a, &c->steps);
	s->name = name;
	return s;
}

static void add_texts(struct arena *a, const struct node *list, struct strs *io)
{
	for (size_t i = 0; list && i < list->n && i < MOST && io->n < MOST; i++)
		strs_put(a, io, list->v[i].text);
}

/* Adds what installs the SDK of a plan, unless that is there already or cannot be had by a command. */
static void add_sdk(struct arena *a, const struct node *plan, struct matrix_cell *c)
{
	static const char *const by_hand[] = {"", "prefix", "tarball", "artifacts", NULL};
	static const char *const options[] = {"suite", "mirror", "keyring", NULL};
	const struct node *sdk = node_get(plan, S("sdk"));
	struct str provider = node_text(sdk, S("provider"), S(""));
	bool debian = str_eq(provider, S("debian"));
	add_texts(a, node_get(sdk, S("components")), &c->components);
	add_texts(a, node_get(plan, S("gpus")), &c->gpus);
	add_texts(a, node_get(plan, S("gpus")), &c->targets);
	if (c->sdk.n || str_is_one_of(provider, by_hand))
		return;
	strs_add(a, &c->sdk,
		debian ? provider
		       : str_fmt(a, "%.*s:%.*s", STR(provider),
				 STR(node_text(sdk, S("suite"), S("")))));
	for (size_t i = !debian; options[i]; i++) {
		struct str value = node_text(sdk, str_from(options[i]), S(""));
		if (value.n)
			strs_fmt(a, &c->sdk, "--%s=%.*s", options[i], STR(value));
	}
}

/* The steps of a plan: those of a set are its projects. */
static struct err *add_steps(struct arena *a, const struct node *doc, struct matrix_cell *c)
{
	const struct node *members = node_get(doc, S("members")), *f = node_get(doc, S("forecast"));
	struct strs builds = {0};
	if (members && members->n > MOST)
		return err_new(E_CORRUPT,
			"the plan of '%.*s' is for %zu projects, and %d are the most", STR(c->name),
			members->n, MOST);
	for (size_t i = 0; i < (members ? members->n : 1); i++) {
		const struct node *m = members ? &members->v[i] : NULL;
		struct str name = node_text(m, S("project"), S("build"));
		if (!name.n || !path_is_inside(name) || str_chr(name, '/') < name.n)
			return err_new(
				E_CORRUPT, "the plan of '%.*s' has a bad name", STR(c->name));
		struct matrix_step *s = add_step(a, c, name);
		add_texts(a, node_get(m, S("after")), &s->after);
		strs_add(a, &s->after, S("plan"));
		strs_add(a, &builds, name);
		add_sdk(a, m ? node_get(m, S("plan")) : doc, c);
	}
	add_step(a, c, S("verify"))->after = builds;
	if (f)
		c->cost = (struct matrix_cost){node_number(f, S("cpu"), 0),
			node_number(f, S("seconds"), 0), node_u64(f, S("memory"), 0),
			node_u64(f, S("disk"), 0),
			node_bool(f, S("history"), false) ? S("earlier builds")
							  : S("its description")};
	return NULL;
}

/* A result that cannot be parsed is none. */
struct err *matrix_result_read(
	struct arena *a, const struct matrix *m, const struct matrix_cell *c, struct matrix_step *s)
{
	struct str path = matrix_path(a, m, c, s->name, S("result.json")), text;
	struct str key = sha256_hex(
		a, str_fmt(a, "%.*s\n%.*s", STR(c->project), STR(str_join(a, &c->words, S("\n")))));
	const struct node *doc;
	struct matrix_result r = {0};
	s->result = (struct matrix_result){.key = key};
	s->state = MATRIX_MISSING;
	TRY(fs_read_opt(a, path, RESULT, &text));
	if (!text.p)
		return NULL;
	struct err *e = json_parse(a, text, path, &doc);
	if (!e)
		e = json_fields_read(a, doc, result_fields, &r);
	if (e || !str_eq(r.key, key)) {
		err_free(e);
		return NULL;
	}
	s->state = r.status ? MATRIX_FAILED : MATRIX_DONE;
	if (r.wheel.n && (!path_is_inside(r.wheel) ||
				 !fs_exists(matrix_path(a, m, c, S("wheels"), r.wheel))))
		s->state = MATRIX_MISSING;
	s->result = r;
	return NULL;
}

struct err *matrix_result_write(struct arena *a, const struct matrix *m,
	const struct matrix_cell *c, struct matrix_step *step)
{
	struct str path = matrix_path(a, m, c, step->name, S("result.json"));
	step->state = step->result.status ? MATRIX_FAILED : MATRIX_DONE;
	TRY(fs_mkdirs(path_dir(path)));
	return fs_write(path, json_document(a, 2, result_fields, &step->result), 0644);
}

/* A step is not done if one that it needs is not, or was done again since. */
static void forget_older(const struct matrix_cell *c, struct matrix_step *s)
{
	VEC_EACH (const struct str, name, &s->after) {
		const struct matrix_step *need = matrix_step_find(c, *name);
		bool plan = need == c->steps.v; /* it is made again whenever something is missing */
		if (need && s->state == MATRIX_DONE &&
			(need->state != MATRIX_DONE ||
				(!plan && need->result.started > s->result.started)))
			s->state = MATRIX_MISSING;
	}
}

struct err *matrix_look(struct arena *a, const struct matrix *m, struct matrix_cell *c)
{
	struct str text, path = matrix_path(a, m, c, S("plan"), S("plan.json"));
	const struct node *doc;
	struct matrix_cost own = {.by = S("its own run")};
	c->steps.n = c->sdk.n = c->components.n = c->gpus.n = c->targets.n = 0;
	c->error = c->explained = S("");
	c->size = 0;
	c->cost = (struct matrix_cost){.by = S("")};
	TRY(matrix_result_read(a, m, c, add_step(a, c, S("plan"))));
	TRY(fs_read_opt(a, path, NODE_SIZE, &text));
	if (c->steps.v->state == MATRIX_DONE && text.p) {
		TRY(json_parse(a, text, path, &doc));
		TRY(add_steps(a, doc, c));
	}
	c->state = c->steps.n > 1 ? MATRIX_DONE : MATRIX_MISSING;
	VEC_EACH (struct matrix_step, s, &c->steps) {
		if (s != c->steps.v) {
			TRY(matrix_result_read(a, m, c, s));
			forget_older(c, s);
		}
		const struct matrix_result *r = &s->result;
		if (s->state == MATRIX_FAILED && c->state != MATRIX_FAILED) {
			c->error = str_fmt(a, "%.*s: %.*s", STR(s->name), STR(r->error));
			c->explained = r->explained;
		}
		c->size += r->size;
		if (s->state == MATRIX_FAILED || c->state == MATRIX_DONE)
			c->state = s->state;
		own.cpu += r->cpu;
		own.seconds += r->seconds;
		own.disk += r->disk;
		own.memory = own.memory > r->memory ? own.memory : r->memory;
	}
	if (c->state == MATRIX_DONE)
		c->cost = own;
	return NULL;
}

/* Gives the SDKs to the first cells that want them, and a failure of theirs to the others. */
static struct err *share_sdks(struct arena *a, struct matrix *m)
{
	VEC_EACH (struct matrix_cell, c, &m->cells) {
		struct matrix_cell *owner = m->cells.v;
		struct matrix_step sdk = {.name = S("sdk")};
		while (owner < c && !strs_eq(&owner->sdk, &c->sdk))
			owner++;
		c->sdk_owner = (size_t)(owner - m->cells.v);
		if (owner->components.n < MOST)
			strs_put_all(a, &owner->components, &c->components);
		if (owner->gpus.n < MOST)
			strs_put_all(a, &owner->gpus, &c->gpus);
		if (!c->sdk.n || c->state != MATRIX_MISSING)
			continue;
		TRY(matrix_result_read(a, m, owner, &sdk));
		c->state = sdk.state == MATRIX_FAILED ? MATRIX_FAILED : c->state;
		if (sdk.state == MATRIX_FAILED)
			c->error = str_fmt(a, "sdk: %.*s", STR(sdk.result.error));
	}
	return NULL;
}

/* Takes the most that other cells of the project took. */
static void guess_cost(const struct matrix *m, struct matrix_cell *c)
{
	struct matrix_cost most = {0};
	VEC_EACH (const struct matrix_cell, o, &m->cells) {
		const struct matrix_cost *k = &o->cost;
		if (o->state != MATRIX_DONE || !str_eq(o->project, c->project))
			continue;
		most.cpu = k->cpu > most.cpu ? k->cpu : most.cpu;
		most.seconds = k->seconds > most.seconds ? k->seconds : most.seconds;
		most.memory = k->memory > most.memory ? k->memory : most.memory;
		most.disk = k->disk > most.disk ? k->disk : most.disk;
		most.by = S("other cells");
	}
	c->cost = most.by.n ? most : c->cost;
}

struct err *matrix_look_all(struct arena *a, struct matrix *m)
{
	uint64_t count[MATRIX_FAILED + 1] = {0};
	struct matrix_cost all = {.by = S("")};
	m->unknown = 0;
	VEC_EACH (struct matrix_cell, c, &m->cells)
		if (!m->plans.n || c->state != MATRIX_DONE)
			TRY(matrix_look(a, m, c));
	TRY(share_sdks(a, m));
	VEC_EACH (struct matrix_cell, c, &m->cells) {
		if (c->state != MATRIX_DONE && !str_eq(c->cost.by, S("earlier builds")))
			guess_cost(m, c);
		count[c->state]++;
		m->unknown += !c->cost.by.n;
		all.cpu += c->cost.cpu;
		all.seconds += c->cost.seconds;
		all.disk += c->cost.disk;
		all.memory = all.memory > c->cost.memory ? all.memory : c->cost.memory;
	}
	m->cost = all;
	m->done = count[MATRIX_DONE];
	m->failed = count[MATRIX_FAILED];
	m->missing = count[MATRIX_MISSING];
	return NULL;
}

/* ---- the page ---- */

struct str matrix_html(struct arena *a, const struct matrix *m)
{
	struct html h = {.out = {.a = a}};
	const char *badge = m->failed ? "fail" : m->missing ? "none" : "pass";
	html_page(&h, str_fmt(a, "%.*s: matrix", STR(m->name)));
	html_open(&h, "h1", NULL);
	html_text(&h, m->name);
	html_leaf(&h,
		str_fmt(a, "%llu of %zu done, %llu failed", (unsigned long long)m->done, m->cells.n,
			(unsigned long long)m->failed),
		"span", "class", str_z(a, str_fmt(a, "badge %s", badge)), NULL);
	html_close(&h, 1);
	html_table(&h, "Cell|State|GPUs|>Time|>CPU|>Peak memory|>Size|Wheels|Error|What to do");
	VEC_EACH (const struct matrix_cell, c, &m->cells) {
		const struct matrix_cost none = {.by = S("")},
					 *k = c->state == MATRIX_DONE ? &c->cost : &none;
		struct strs wheels = {0};
		VEC_EACH (const struct matrix_step, s, &c->steps)
			if (s->result.wheel.n)
				strs_add(a, &wheels, s->result.wheel);
		HTML_ROW(&h, "gtgnnnnctt", c->name, str_from(matrix_states[c->state]),
			str_join(a, &c->targets, S(" ")), html_seconds(&h, k->seconds),
			html_seconds(&h, k->cpu), human_memory(a, k->memory),
			c->size ? human_bytes(a, c->size) : S(""), str_join(a, &wheels, S(" ")),
			c->error, c->explained);
	}
	html_table_end(&h, m->cells.n, "cells");
	html_table(&h, "Excluded|Why|Until");
	VEC_EACH (const struct matrix_left_out, x, &m->excluded)
		HTML_ROW(&h, "gtt", x->name, x->reason, x->until);
	html_table_end(&h, m->excluded.n, "excluded cells");
	return html_page_end(&h, S("Made by rocsmith " ROCSMITH_VERSION "."));
}
