/* Reads a matrix file, multiplies its axes, and takes out what is excluded; see matrix.h. */

#include "base/fs.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/map.h"
#include "flow/matrix.h"
#include "formats/node.h"

enum {
	CELLS = 4096,
	AXES = 16,
	EXCLUDES = 64,
	TEXT = 1024,
	LABEL = 300,
	NAME = 80,
	STARS = 2,
	DATE = 10
};

struct matrix_value { /* a value of an axis, or the options of all cells */
	struct str label, project;
	struct strs words;
	uint64_t excludes; /* a bit for each that may match it */
};

struct matrix_axis {
	struct str name;
	VEC(struct matrix_value) values;
};

struct matrix_reader {
	struct arena *a;
	const struct matrix_source *source;
	struct matrix *m;
	struct matrix_value common;
	VEC(struct matrix_axis) axes;
	struct map names; /* names of cells */
};

static const struct matrix_option project_option = {"project", MATRIX_TEXT};

/* ---- values ---- */

static struct err *check_text(const struct node *n)
{
	struct str s = n->text;
	bool good = s.n > 0 && s.n <= TEXT && utf8_end(s) == s.n && str_is_plain(s, "");
	if (n->kind == NODE_LIST || n->kind == NODE_MAP)
		return node_error(n, E_SYNTAX, "a single value is wanted here");
	return good ? NULL
		    : node_error(n, E_SYNTAX,
			      "a value is a text of at most %d bytes without control characters",
			      TEXT);
}

/* A file that came with somebody's sources may choose among versions, but no program: `plan` runs the Python, and those of an
 * SDK's folder run without a sandbox. */
static struct err *check_trust(
	const struct matrix_reader *r, const struct node *n, struct str option, struct str value)
{
	bool number = value.n && ascii_digit(value.p[0]), folder = str_chr(value, '/') < value.n;
	bool chooses = str_eq(option, S("keyring")) ||
		       (str_eq(option, S("python")) && (!number || folder)) ||
		       (str_eq(option, S("sdk")) && (folder || str_starts(value, S("prefix"))));
	if (!chooses || r->source->trust)
		return NULL;
	return err_hint(node_error(n, E_SYNTAX, "'%.*s: %.*s' is not for a matrix file to choose",
				STR(option), STR(value)),
		"if you trust the file, say so: --trust");
}

static const struct matrix_option *find_option(const struct matrix_reader *r, struct str name)
{
	const struct matrix_option *o = r->source->options;
	while (o->name && !str_eq(name, str_from(o->name)))
		o++;
	return str_eq(name, str_from(project_option.name)) ? &project_option : o->name ? o : NULL;
}

static struct err *unknown_option(const struct matrix_reader *r, const struct node *n)
{
	struct strs names = {0};
	strs_add(r->a, &names, S("project"));
	for (const struct matrix_option *o = r->source->options; o->name; o++)
		strs_add(r->a, &names, str_from(o->name));
	struct err *e = err_new(E_SYNTAX, "'%.*s' is no option of 'rocsmith plan'", STR(n->key));
	return err_near(err_at(e, n->key_at), n->key, &names);
}

/* Adds the words for the option `key` with the value n, which may be a list if the option takes several. */
static struct err *set_option(const struct matrix_reader *r, struct str key, const struct node *n,
	struct matrix_value *io)
{
	const struct matrix_option *o = find_option(r, key);
	bool list = n->kind == NODE_LIST && n->n && o->kind == MATRIX_LIST;
	struct strs texts = {0};
	for (size_t i = 0; i < (list ? n->n : 1); i++) {
		const struct node *it = list ? &n->v[i] : n;
		TRY(check_text(it));
		TRY(check_trust(r, it, key, it->text));
		strs_add(r->a, &texts, it->text);
	}
	io->label = str_join(r->a, &texts, S("+"));
	if (o->kind == MATRIX_FLAG && n->kind != NODE_BOOL)
		return node_error(n, E_SYNTAX, "'%s' is true or false", o->name);
	if (o == &project_option && n->text.p[0] == '-')
		return node_error(n, E_SYNTAX, "a project does not begin with '-'");
	if (o == &project_option)
		io->project = n->text;
	else if (o->kind == MATRIX_FLAG)
		strs_fmt(r->a, &io->words, "--%s%s", str_eq(n->text, S("true")) ? "" : "no-",
			o->name);
	else
		VEC_EACH (const struct str, text, &texts)
			strs_fmt(r->a, &io->words, "--%s=%.*s", o->name, STR(*text));
	return NULL;
}

static struct err *set_options(const struct matrix_reader *r, const struct node *map,
	const char *skip, struct matrix_value *io)
{
	if (map && map->kind != NODE_MAP)
		return node_error(map, E_SYNTAX, "options are a map: {NAME: VALUE}");
	for (size_t i = 0; map && i < map->n; i++) {
		const struct node *n = &map->v[i];
		if (skip && str_eq(n->key, str_from(skip)))
			continue;
		if (!find_option(r, n->key))
			return unknown_option(r, n);
		TRY(set_option(r, n->key, n, io));
	}
	return NULL;
}

/* ---- axes ---- */

static struct err *read_axis(struct matrix_reader *r, const struct node *n)
{
	struct matrix_axis *axis = VEC_PUSH(r->a, &r->axes);
	bool option = find_option(r, n->key) != NULL;
	MAP(labels, r->a);
	axis->name = n->key;
	if (n->kind != NODE_LIST || !n->n)
		return node_error(n, E_SYNTAX, "an axis is a list of values");
	NODE_EACH (it, n) {
		struct matrix_value *v = VEC_PUSH(r->a, &axis->values);
		const struct node *name = node_get(it, S("name"));
		if (!option && it->kind != NODE_MAP)
			return err_hint(unknown_option(r, n),
				"an axis of your own has values such as {name: X, project: Y}");
		if (!option && !name)
			return node_error(it, E_SYNTAX, "the value has no 'name'");
		TRY(option ? set_option(r, n->key, it, v) : set_options(r, it, "name", v));
		if (!option)
			TRY(check_text(name));
		v->label = option ? v->label : name->text;
		if (v->label.n > LABEL) /* patterns are compared with it */
			return node_error(
				it, E_LIMIT, "a value of an axis has at most %d bytes", LABEL);
		if (!map_put(&labels, v->label, v))
			return node_error(it, E_SYNTAX, "'%.*s' is twice in the axis '%.*s'",
				STR(v->label), STR(n->key));
	}
	strs_add(r->a, &r->m->axes, n->key);
	return NULL;
}

static struct err *read_axes(struct matrix_reader *r, const struct node *root)
{
	const struct node *axes = node_get(root, S("axes"));
	if (!axes || axes->kind != NODE_MAP || !axes->n)
		return node_error(axes ? axes : root, E_SYNTAX,
			"a matrix has axes: {gpu: [gfx1100, gfx1201], python: ['3.12', '3.13']}");
	if (axes->n > AXES)
		return node_error(axes, E_LIMIT, "a matrix has at most %d axes", AXES);
	NODE_EACH (n, axes)
		TRY(read_axis(r, n));
	return NULL;
}

/* ---- excludes ---- */

static struct err *read_exclude(struct matrix_reader *r, const struct node *n, struct str today)
{
	struct matrix_exclude *x = VEC_PUSH(r->a, &r->m->excludes);
	x->line = n->at.line;
	NODE_EACH (it, n) {
		unsigned stars = str_count(it->text, '*');
		TRY(check_text(it));
		if (str_eq(it->key, S("reason")))
			x->reason = it->text;
		else if (str_eq(it->key, S("until")))
			x->until = it->text;
		else if (!strs_has(&r->m->axes, it->key))
			return err_near(
				err_at(err_new(E_SYNTAX, "there is no axis '%.*s'", STR(it->key)),
					it->key_at),
				it->key, &r->m->axes);
		else if (stars > STARS)
			return node_error(it, E_LIMIT, "a pattern has at most %d stars", STARS);
		else
			strs_fmt(r->a, &x->where, "%.*s=%.*s", STR(it->key), STR(it->text));
	}
	if (!x->reason.n || !x->where.n)
		return node_error(n, E_SYNTAX,
			"an exclude says what and why: {gpu: gfx90c, reason: TEXT, until: DATE}");
	if (x->until.n && !str_is_day(x->until))
		return node_error(n, E_SYNTAX, "'until' is a date such as 2027-03-31, not '%.*s'",
			STR(x->until));
	x->expired = x->until.n && str_cmp(x->until, today) < 0;
	return NULL;
}

/* Sets the bit of each exclude that matches the value of this axis, or does not ask for it. */
static uint64_t excludes_of(const struct matrix_reader *r, struct str axis, struct str label)
{
	uint64_t set = 0;
	for (size_t i = 0; i < r->m->excludes.n; i++) {
		const struct str *line = strs_variable(&r->m->excludes.v[i].where, axis);
		struct str name, pattern = label;
		if (line)
			str_cut(*line, '=', &name, &pattern);
		if (str_eq(pattern, label) || glob_match(pattern, label))
			set |= 1ull << i;
	}
	return set;
}

/* ---- cells ---- */

/* A name that is plain for file systems, shells and YAML; values that are not are told apart by a hash. */
static void name_cell(struct matrix_reader *r, const struct strs *labels, struct matrix_cell *c)
{
	BUF(b, r->a);
	struct str raw = str_join(r->a, labels, S("-"));
	uint64_t number; /* as a name, it would be an index */
	bool same = raw.n <= NAME && !str_u64(raw, 10, &number);
	for (size_t i = 0; i < raw.n && i < NAME; i++) {
		bool good = ascii_alnum(raw.p[i]) ||
			    str_chr(i ? S("_+.-") : S("_"), raw.p[i]) < (i ? 4 : 1);
		same = same && good;
		buf_char(&b, good ? raw.p[i] : '_');
	}
	struct str plain = buf_str(&b), name = plain;
	struct str hash = sha256_hex(r->a, str_join(r->a, &c->values, S("\n")));
	/* another cell may have such a name on purpose: each turn tries one that was never tried */
	for (; !same || map_has(&r->names, name); same = true, hash = sha256_hex(r->a, hash))
		name = str_fmt(r->a, "%.*s-%.*s", STR(plain), STR(str_sub(hash, 0, 8)));
	map_put(&r->names, name, r->m);
	c->name = name;
}

/* The cell of this number: that of the last axis changes first. */
static void add_cell(struct matrix_reader *r, size_t number)
{
	struct matrix_cell c = {.project = r->common.project};
	struct strs labels = {0};
	const struct matrix_exclude *by = NULL;
	uint64_t hits = ~0ull;
	size_t of = 1;
	strs_add_all(r->a, &c.words, &r->common.words);
	VEC_EACH (const struct matrix_axis, axis, &r->axes)
		of *= axis->values.n;
	VEC_EACH (const struct matrix_axis, axis, &r->axes) {
		of /= axis->values.n;
		const struct matrix_value *v = &axis->values.v[number / of % axis->values.n];
		strs_add(r->a, &labels, v->label);
		strs_fmt(r->a, &c.values, "%.*s=%.*s", STR(axis->name), STR(v->label));
		strs_add_all(r->a, &c.words, &v->words);
		hits &= v->excludes;
		c.project = v->project.n ? v->project : c.project;
	}
	name_cell(r, &labels, &c);
	VEC_EACH (struct matrix_exclude, x, &r->m->excludes) {
		bool hit = hits >> (x - r->m->excludes.v) & 1;
		x->cells += hit;
		by = hit && !x->expired && !by ? x : by;
	}
	if (by)
		*VEC_PUSH(r->a, &r->m->excluded) =
			(struct matrix_left_out){c.name, by->reason, by->until};
	else
		*VEC_PUSH(r->a, &r->m->cells) = c;
}

static struct err *add_cells(struct matrix_reader *r, const struct node *axes)
{
	size_t count = 1;
	VEC_EACH (const struct matrix_axis, axis, &r->axes) {
		if (axis->values.n > CELLS / count)
			return node_error(axes, E_LIMIT, "a matrix has at most %d cells", CELLS);
		count *= axis->values.n;
	}
	VEC_EACH (struct matrix_axis, axis, &r->axes)
		VEC_EACH (struct matrix_value, v, &axis->values)
			v->excludes = excludes_of(r, axis->name, v->label);
	for (size_t i = 0; i < count; i++)
		add_cell(r, i);
	return NULL;
}

/* ---- the file ---- */

static struct err *read_request(struct matrix_reader *r, const struct node *map)
{
	static const char *const keys[] = {"cpus", "memory", "hours", "partition", "account", "qos",
		"constraint", "reservation", NULL};
	uint64_t number;
	if (!map)
		return NULL;
	if (map->kind != NODE_MAP)
		return node_error(map, E_SYNTAX, "a request is a map: {cpus: 8, partition: NAME}");
	TRY(node_check_keys(map, keys));
	NODE_EACH (n, map) {
		TRY(check_text(n));
		bool wants = str_is_one_of(
			n->key, (const char *const[]){"cpus", "memory", "hours", NULL});
		if (wants && (!str_u64(n->text, 10, &number) || !number || number > CELLS))
			return node_error(n, E_SYNTAX, "'%.*s' is a number up to %d (memory: GiB)",
				STR(n->key), CELLS);
		strs_fmt(r->a, &r->m->request, "%.*s=%.*s", STR(n->key), STR(n->text));
	}
	return NULL;
}

struct err *matrix_parse(
	struct arena *a, const struct matrix_source *s, struct str text, struct matrix *ret)
{
	static const char *const keys[] = {"name", "options", "axes", "exclude", "request", NULL};
	struct matrix_reader r = {
		.a = a, .source = s, .m = ret, .names = {.a = a}, .common.project = S(".")};
	const struct node *root;
	BUF(all, a);
	*ret = (struct matrix){.file = path_abs(a, s->path), .typed = s->path, .trust = s->trust};
	ret->dir = path_dir(ret->file);
	TRY(yaml_parse(a, text, s->path, &root));
	if (root->kind != NODE_MAP)
		return node_error(root, E_SYNTAX, "a matrix file is a map with 'axes'");
	TRY(node_check_keys(root, keys));
	ret->name = path_base(ret->file);
	ret->name = str_sub(ret->name, 0, ret->name.n - path_ext(ret->name).n);
	ret->state = s->state.n ? path_abs(a, s->state)
				: path_join(a, ret->dir, str_fmt(a, "%.*s.out", STR(ret->name)));
	if (node_get(root, S("name")))
		TRY(check_text(node_get(root, S("name"))));
	ret->name = node_text(root, S("name"), ret->name);
	TRY(set_options(&r, node_get(root, S("options")), NULL, &r.common));
	TRY(read_axes(&r, root));
	const struct node *list = node_get(root, S("exclude"));
	if (list && (list->kind != NODE_LIST || list->n > EXCLUDES))
		return node_error(
			list, E_LIMIT, "'exclude' is a list of at most %d maps", EXCLUDES);
	for (size_t i = 0; list && i < list->n; i++)
		TRY(read_exclude(&r, &list->v[i], str_today(a)));
	TRY(read_request(&r, node_get(root, S("request"))));
	TRY(add_cells(&r, node_get(root, S("axes"))));
	buf_add(&all, ret->state);
	VEC_EACH (const struct matrix_cell, c, &ret->cells)
		buf_fmt(&all, "\n%.*s %.*s %.*s", STR(c->name), STR(c->project),
			STR(str_join(a, &c->words, S("\t"))));
	ret->mark = str_sub(sha256_hex(a, buf_str(&all)), 0, 12);
	return NULL;
}

struct err *matrix_read(struct arena *a, const struct matrix_source *s, struct matrix *ret)
{
	struct str text;
	TRY(fs_read(a, s->path, NODE_SIZE, &text));
	return matrix_parse(a, s, text, ret);
}

struct err *matrix_find(
	struct arena *a, const struct matrix *m, struct str word, struct matrix_cell **ret)
{
	struct strs names = {0};
	uint64_t number;
	*ret = NULL;
	if (str_u64(word, 10, &number) && number < m->cells.n)
		*ret = &m->cells.v[number];
	VEC_EACH (struct matrix_cell, c, &m->cells) {
		strs_add(a, &names, c->name);
		*ret = str_eq(c->name, word) ? c : *ret;
	}
	return *ret ? NULL
		    : err_near(err_new(E_USAGE, "the matrix has no cell '%.*s'", STR(word)), word,
			      &names);
}
