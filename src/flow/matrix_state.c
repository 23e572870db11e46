/* The folder of a matrix: which steps its cells have, by their plans, and what became of them; see matrix.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "changes/manifest.h"
#include "flow/matrix.h"
#include "formats/node.h"
#include "report/html.h"

enum { RESULT = 1 << 20 };

const char *const matrix_states[] = {"missing", "done", "failed", NULL};

/* ---- JSON ---- */

#define RESULT_FIELDS                                                                              \
	FIELDS(struct matrix_result, key, status, host, error, started, seconds, cpu, memory,      \
		disk, wheels)

static const struct json_field result_file_fields[] = {
	FIELD_CONST("schema", "rocsmith.matrix-result/1"), RESULT_FIELDS, {.kind = FIELD_END}};

static const struct json_field step_result_fields[] = {RESULT_FIELDS, {.kind = FIELD_END}};

static const struct json_field step_fields[] = {
	FIELDS(struct matrix_step, name, after),
	FIELD_ENUM("state", struct matrix_step, state, matrix_states),
	FIELD_STRUCT("result", struct matrix_step, result, step_result_fields),
	{.kind = FIELD_END},
};

static const struct json_field cost_fields[] =
	FIELDS_ONLY(struct matrix_cost, cpu, seconds, memory, disk, by);

static const struct json_field cell_fields[] = {
	FIELDS(struct matrix_cell, name, project, values, words),
	FIELD_ENUM("state", struct matrix_cell, state, matrix_states),
	FIELD("error", struct matrix_cell, error),
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

struct matrix_folder {
	struct str file, seal;
};

static const struct json_field folder_fields[] = {
	FIELD_CONST("schema", "rocsmith.matrix-folder/1"),
	FIELDS(struct matrix_folder, file, seal),
	{.kind = FIELD_END},
};

struct err *matrix_take(struct arena *a, const struct matrix *m)
{
	struct str path = path_join(a, m->state, S("matrix.json")), text;
	struct strs there = {0};
	struct sum seal;
	struct digest d = {.n = sizeof(seal.b)};
	bool other = false;
	TRY(fs_check_way(m->state));
	/* a folder that came with a tree may hold results, too; so it has to carry a hash by this user's key */
	TRY(seal_of(str_fmt(a, "matrix\n%.*s\n%.*s", STR(m->state), STR(m->file)), &seal));
	memcpy(d.b, seal.b, sizeof(seal.b));
	struct matrix_folder mine = {m->file, digest_hex(a, &d)};
	struct str own = json_document(a, 2, folder_fields, &mine);
	if (fs_exists(m->state))
		TRY(fs_list(a, m->state, &there));
	TRY(fs_read_opt(a, path, RESULT, &text));
	if (text.p && !str_eq(text, own))
		return err_hint(err_new(E_USAGE,
					"'%.*s' is the folder of another matrix, or was not made "
					"here by you",
					STR(m->state)),
			"name another folder with -o");
	for (size_t i = 0; i < there.n; i++) /* Slurm's logs may come first */
		other = other || !str_starts(there.v[i], S("slurm-rocsmith-"));
	if (!text.p && other)
		return err_hint(err_new(E_USAGE, "'%.*s' is no folder of a matrix, and not empty",
					STR(m->state)),
			"name a new folder with -o");
	TRY(fs_mkdirs(path_join(a, m->state, S("cells"))));
	return text.p ? NULL : fs_write(path, own, 0644);
}

/* ---- steps ---- */

struct matrix_step *matrix_step_find(const struct matrix_cell *c, struct str name)
{
	struct matrix_step *found = NULL;
	VEC_EACH (struct matrix_step, s, &c->steps)
		found = str_eq(s->name, name) ? s : found;
	return found;
}

static struct matrix_step *add_step(struct arena *a, struct matrix_cell *c, struct str name)
{
	struct matrix_step *s = VEC_PUSH(a, &c->steps);
	s->name = name;
	return s;
}

static void add_sdk(struct arena *a, const struct node *plan, struct matrix_cell *c)
{
	static const char *const options[] = {"suite", "mirror", "keyring", NULL};
	static const char *const by_hand[] = {"prefix", "tarball", "artifacts", NULL};
	const struct node *sdk = node_get(plan, S("sdk"));
	struct str provider = node_text(sdk, S("provider"), S("")), suite;
	if (!provider.n || str_is_one_of(provider, by_hand))
		return;
	suite = node_text(sdk, S("suite"), S(""));
	bool debian = str_eq(provider, S("debian"));
	c->sdk = (struct strs){0};
	strs_add(
		a, &c->sdk, debian ? provider : str_fmt(a, "%.*s:%.*s", STR(provider), STR(suite)));
	for (size_t i = !debian; options[i]; i++) {
		struct str value = node_text(sdk, str_from(options[i]), S(""));
		if (value.n)
			strs_add(a, &c->sdk, str_fmt(a, "--%s=%.*s", options[i], STR(value)));
	}
	const struct node *components = node_get(sdk, S("components")),
			  *gpus = node_get(plan, S("gpus"));
	for (size_t i = 0; components && i < components->n; i++)
		strs_put(a, &c->components, components->v[i].text);
	for (size_t i = 0; gpus && i < gpus->n; i++)
		strs_put(a, &c->gpus, gpus->v[i].text);
}

/* The steps of a plan: those of a set are its projects. */
static struct err *add_steps(struct arena *a, const struct node *doc, struct matrix_cell *c)
{
	const struct node *members = node_get(doc, S("members"));
	struct strs wheels = {0};
	NODE_EACH (m, members ? members : doc) {
		struct str name = members ? node_text(m, S("project"), S("")) : S("build");
		if (!members && m != doc->v)
			break;
		if (!name.n || !path_is_inside(name) || str_chr(name, '/') < name.n)
			return err_new(E_CORRUPT, "the plan of '%.*s' has no name for a project",
				STR(c->name));
		add_sdk(a, members ? node_get(m, S("plan")) : doc, c);
		struct matrix_step *s = add_step(a, c, name);
		TRY(members ? node_want_strs(a, m, S("after"), &s->after) : NULL);
		strs_add(a, &s->after, S("plan"));
		strs_add(a, &wheels, name);
	}
	add_step(a, c, S("verify"))->after = wheels;
	const struct node *f = node_get(doc, S("forecast"));
	if (!f)
		return NULL;
	c->cost = (struct matrix_cost){
		.cpu = node_number(f, S("cpu"), 0),
		.seconds = node_number(f, S("seconds"), 0),
		.memory = node_u64(f, S("memory"), 0),
		.disk = node_u64(f, S("disk"), 0),
		.by = node_bool(f, S("history"), false) ? S("earlier builds")
							: S("its description"),
	};
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
		e = json_fields_read(a, doc, result_file_fields, &r);
	if (e || !str_eq(r.key, key)) {
		err_free(e);
		return NULL;
	}
	r.seconds = node_number(doc, S("seconds"), 0);
	r.cpu = node_number(doc, S("cpu"), 0);
	s->state = r.status ? MATRIX_FAILED : MATRIX_DONE;
	VEC_EACH (const struct str, w, &r.wheels)
		if (!path_is_inside(*w) || !fs_exists(matrix_path(a, m, c, S("wheels"), *w)))
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
	return fs_write(path, json_document(a, 2, result_file_fields, &step->result), 0644);
}

/* A step is not done if one that it needs is not, or was done again since. */
static void forget_older(const struct matrix_cell *c, struct matrix_step *s)
{
	VEC_EACH (const struct str, name, &s->after) {
		const struct matrix_step *need = matrix_step_find(c, *name);
		bool plan =
			need == c->steps.v; /* which is made again whenever something is missing */
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
	c->steps.n = c->sdk.n = c->components.n = c->gpus.n = 0;
	c->error = S("");
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
		if (s->state == MATRIX_FAILED && c->state != MATRIX_FAILED)
			c->error = str_fmt(a, "%.*s: %.*s", STR(s->name), STR(r->error));
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
		strs_put_all(a, &owner->components, &c->components);
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

/* What other cells of the project took, the most of each. */
static void guess_cost(const struct matrix *m, struct matrix_cell *c)
{
	VEC_EACH (const struct matrix_cell, o, &m->cells) {
		if (o->state != MATRIX_DONE || !str_eq(o->project, c->project))
			continue;
		const struct matrix_cost *from = &o->cost;
		c->cost = str_eq(c->cost.by, S("other cells")) ? c->cost : (struct matrix_cost){0};
		c->cost = (struct matrix_cost){
			.cpu = c->cost.cpu > from->cpu ? c->cost.cpu : from->cpu,
			.seconds =
				c->cost.seconds > from->seconds ? c->cost.seconds : from->seconds,
			.memory = c->cost.memory > from->memory ? c->cost.memory : from->memory,
			.disk = c->cost.disk > from->disk ? c->cost.disk : from->disk,
			.by = S("other cells"),
		};
	}
}

struct err *matrix_look_all(struct arena *a, struct matrix *m)
{
	struct matrix_cost *all = &m->cost;
	m->done = m->failed = m->missing = m->unknown = 0;
	*all = (struct matrix_cost){.by = S("")};
	VEC_EACH (struct matrix_cell, c, &m->cells)
		if (!m->plans.n || c->state != MATRIX_DONE)
			TRY(matrix_look(a, m, c));
	TRY(share_sdks(a, m));
	VEC_EACH (struct matrix_cell, c, &m->cells) {
		if (c->state != MATRIX_DONE && !str_eq(c->cost.by, S("earlier builds")))
			guess_cost(m, c);
		m->done += c->state == MATRIX_DONE;
		m->failed += c->state == MATRIX_FAILED;
		m->missing += c->state == MATRIX_MISSING;
		m->unknown += !c->cost.by.n;
		all->cpu += c->cost.cpu;
		all->seconds += c->cost.seconds;
		all->disk += c->cost.disk;
		all->memory = all->memory > c->cost.memory ? all->memory : c->cost.memory;
	}
	return NULL;
}

/* ---- the page ---- */

struct str matrix_html(struct arena *a, const struct matrix *m)
{
	struct html h = {.out = {.a = a}};
	html_page(&h, str_fmt(a, "%.*s: matrix", STR(m->name)));
	html_open(&h, "h1", NULL);
	html_text(&h, m->name);
	html_leaf(&h,
		m->failed    ? S("failed")
		: m->missing ? S("not complete")
			     : S("complete"),
		"span", "class",
		m->failed    ? "badge fail"
		: m->missing ? "badge none"
			     : "badge pass",
		NULL);
	html_close(&h, 1);
	html_open(&h, "div", "class", "cards", NULL);
	html_card(&h, str_fmt(a, "%llu of %zu", (unsigned long long)m->done, m->cells.n),
		"cells done");
	html_card(&h, str_fmt(a, "%llu", (unsigned long long)m->failed), "failed");
	html_card(&h, str_fmt(a, "%zu", m->excluded.n), "excluded");
	html_close(&h, 1);
	html_table(&h, "Cell|State|>Time|>CPU|>Peak memory|Wheels|Error");
	VEC_EACH (const struct matrix_cell, c, &m->cells) {
		struct strs wheels = {0};
		bool ran = c->state == MATRIX_DONE;
		VEC_EACH (const struct matrix_step, s, &c->steps)
			strs_add_all(a, &wheels, &s->result.wheels);
		html_row(&h, "gtnnnct",
			(struct str[]){c->name, str_from(matrix_states[c->state]),
				ran ? html_seconds(&h, c->cost.seconds) : S(""),
				ran ? html_seconds(&h, c->cost.cpu) : S(""),
				ran ? human_memory(a, c->cost.memory) : S(""),
				str_join(a, &wheels, S(" ")), c->error});
	}
	html_table_end(&h, m->cells.n, "cells");
	if (m->excluded.n)
		html_table(&h, "Excluded|Why|Until");
	VEC_EACH (const struct matrix_left_out, x, &m->excluded)
		html_row(&h, "gtt", (struct str[]){x->name, x->reason, x->until});
	if (m->excluded.n)
		html_table_end(&h, m->excluded.n, "excluded cells");
	return html_page_end(&h, S("Made by rocsmith " ROCSMITH_VERSION "."));
}
