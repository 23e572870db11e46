/* Reads YAML into nodes, from libyaml's events; see node.h.
 *
 * The subset is what a project file needs: one document, scalar keys, no aliases (they can make a small file explode)
 * and only the standard tags. Scalars are typed by the core schema of YAML 1.2 (yaml.org/spec/1.2.2, 10.3.2), so `no`
 * stays text and `1.0` keeps its zero. */
#include <yaml.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/node.h"

struct yaml_reader {
	struct arena *a;
	struct str text, name;
	yaml_parser_t *parser;
	unsigned depth;
	size_t count;
};

static struct loc loc_of(const struct yaml_reader *r, yaml_mark_t m)
{
	return (struct loc){
		.path = r->name, .line = (unsigned)m.line + 1, .col = (unsigned)m.column + 1};
}

static struct err *error_at(const struct yaml_reader *r, yaml_mark_t m, const char *what)
{
	return err_at(err_new(E_SYNTAX, "%s", what), loc_of(r, m));
}

static struct err *parser_error(struct yaml_reader *r)
{
	const yaml_parser_t *p = r->parser;
	const char *problem = p->problem ? p->problem : "it is not valid YAML";
	yaml_mark_t m = p->problem_mark;
	if (p->error == YAML_READER_ERROR) { /* bad encoding; libyaml gives only a byte offset */
		struct str before = str_sub(r->text, 0, p->problem_offset);
		size_t line = str_rchr(before, '\n');
		line = line < before.n ? line + 1 : 0;
		m = (yaml_mark_t){.line = str_count(before, '\n')};
		for (size_t i = line; i < before.n; i++)
			m.column += ((unsigned char)before.p[i] & 0xc0) != 0x80;
		return error_at(r, m, problem);
	}
	struct err *e = error_at(r, m, problem);
	if (p->context)
		e->cause = err_new(E_SYNTAX, "%s that starts on line %zu", p->context,
			p->context_mark.line + 1);
	struct str rest = r->text, line = {0};
	bool there = true;
	for (size_t i = 0; i <= p->problem_mark.line && there; i++)
		there = str_next(&rest, '\n', &line);
	if (there && str_chr(line, '\t') < line.n)
		err_hint(e, "indent with spaces: YAML does not allow tabs there");
	return e;
}

static struct err *next(struct yaml_reader *r, yaml_event_t *ev)
{
	return yaml_parser_parse(r->parser, ev) ? NULL : parser_error(r);
}

/* ---- scalars ---- */

static size_t digits(struct str s, size_t at)
{
	return at + str_span(str_sub(s, at, s.n), ASCII_DIGITS);
}

static enum node_kind kind_of_plain(struct str s)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const bools[] = {
		"true", "True", "TRUE", "false", "False", "FALSE", NULL};
	static const char *const numbers[] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF",
		"-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN", NULL};
	uint64_t n;
	bool hex = str_starts(s, S("0x")), octal = str_starts(s, S("0o"));
	if (str_is_one_of(s, nulls))
		return NODE_NULL;
	if (str_is_one_of(s, bools))
		return NODE_BOOL;
	if (hex || octal)
		return str_u64(str_sub(s, 2, s.n), hex ? 16 : 8, &n) ? NODE_NUMBER : NODE_STRING;
	if (str_is_one_of(s, numbers))
		return NODE_NUMBER;
	/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
	size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+'), end = digits(s, i);
	bool any = end > i;
	if (end < s.n && s.p[end] == '.') {
		size_t from = end + 1;
		end = digits(s, from);
		any = any || end > from;
	}
	if (any && end < s.n && (s.p[end] == 'e' || s.p[end] == 'E')) {
		size_t sign = end + 1 < s.n && (s.p[end + 1] == '-' || s.p[end + 1] == '+');
		size_t from = end + 1 + sign;
		end = digits(s, from);
		any = end > from;
	}
	return any && end == s.n ? NODE_NUMBER : NODE_STRING;
}

static struct err *tag_error(const struct yaml_reader *r, const yaml_event_t *ev, const char *tag)
{
	struct err *e = err_new(E_SYNTAX, "the tag '%s' is not supported here", tag);
	return err_hint(err_at(e, loc_of(r, ev->start_mark)), "leave the tag out");
}

/* Standard tags are accepted if they agree with the kind that the value would have without them. */
static struct err *scalar(struct yaml_reader *r, const yaml_event_t *ev, struct node *n)
{
	struct str s = {.p = (const char *)ev->data.scalar.value, .n = ev->data.scalar.length};
	const char *tag = (const char *)ev->data.scalar.tag;
	bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	enum node_kind kind = plain ? kind_of_plain(s) : NODE_STRING;
	if (str_chr(s, '\0') < s.n)
		return error_at(r, ev->start_mark, "text must not contain the character NUL");
	if (tag && (!strcmp(tag, "!") || !strcmp(tag, YAML_STR_TAG)))
		kind = NODE_STRING;
	else if (tag && !(kind == NODE_NULL && !strcmp(tag, YAML_NULL_TAG)) &&
		 !(kind == NODE_BOOL && !strcmp(tag, YAML_BOOL_TAG)) &&
		 !(kind == NODE_NUMBER &&
			 (!strcmp(tag, YAML_INT_TAG) || !strcmp(tag, YAML_FLOAT_TAG))))
		return tag_error(r, ev, tag);
	n->kind = kind;
	n->text = kind == NODE_BOOL ? str_lower(r->a, s) : str_dup(r->a, s);
	return NULL;
}

/* ---- collections ---- */

static struct err *value(struct yaml_reader *r, const yaml_event_t *ev, struct node *n);

static struct err *no_duplicates(const struct node *map)
{
	ARENA(tmp);
	MAP(seen, &tmp);
	for (size_t i = 0; i < map->n; i++) {
		const struct node *n = &map->v[i], *before = map_get(&seen, n->key);
		if (before)
			return err_at(err_new(E_SYNTAX, "the key '%.*s' is already on line %u",
					      STR(n->key), before->key_at.line),
				n->key_at);
		map_put(&seen, n->key, &map->v[i]);
	}
	return NULL;
}

static struct err *collection(struct yaml_reader *r, const yaml_event_t *ev, struct node *n)
{
	bool is_map = ev->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *t = is_map ? ev->data.mapping_start.tag : ev->data.sequence_start.tag;
	const char *tag = (const char *)t;
	if (tag && strcmp(tag, "!") && strcmp(tag, is_map ? YAML_MAP_TAG : YAML_SEQ_TAG))
		return tag_error(r, ev, tag);
	if (r->depth == NODE_DEPTH)
		return error_at(r, ev->start_mark, "nested more than 64 levels deep");
	n->kind = is_map ? NODE_MAP : NODE_LIST;
	r->depth++;
	for (;;) {
		CLEANUP(yaml_event_delete) yaml_event_t first = {0}, second = {0};
		struct node item = {0};
		TRY(next(r, &first));
		if (first.type == YAML_SEQUENCE_END_EVENT || first.type == YAML_MAPPING_END_EVENT)
			break;
		if (is_map &&
			first.type != YAML_ALIAS_EVENT) { /* an alias is an error of value() */
			if (first.type != YAML_SCALAR_EVENT)
				return error_at(r, first.start_mark, "a key must be plain text");
			TRY(scalar(r, &first, &item));
			item = (struct node){
				.key = item.text, .key_at = loc_of(r, first.start_mark)};
			TRY(next(r, &second));
		}
		TRY(value(r, second.type ? &second : &first, &item));
		*VEC_PUSH(r->a, n) = item;
	}
	r->depth--;
	return is_map ? no_duplicates(n) : NULL;
}

static struct err *value(struct yaml_reader *r, const yaml_event_t *ev, struct node *n)
{
	n->at = loc_of(r, ev->start_mark);
	if (r->count++ == NODE_COUNT)
		return err_new(E_LIMIT, "'%.*s' has more than %d values", STR(r->name), NODE_COUNT);
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return scalar(r, ev, n);
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		return collection(r, ev, n);
	case YAML_ALIAS_EVENT:
		return err_hint(error_at(r, ev->start_mark, "aliases (*name) are not supported"),
			"write the value out");
	default:
		return error_at(r, ev->start_mark, "a value is missing");
	}
}

struct err *yaml_parse(struct arena *a, struct str text, struct str name, const struct node **ret)
{
	if (text.n > NODE_SIZE)
		return err_new(E_LIMIT, "'%.*s' is larger than 16 MiB", STR(name));
	/* libyaml compares each %TAG with all before it, which takes quadratic time */
	size_t directives = 0;
	uint32_t line = 1;
	for (size_t i = 0; i < text.n; i++) {
		bool first = !i || text.p[i - 1] == '\n' || text.p[i - 1] == '\r';
		line += i && text.p[i - 1] == '\n';
		directives += first && text.p[i] == '%';
		if (directives > 100)
			return err_at(err_new(E_LIMIT, "there are more than 100 directives"),
				(struct loc){.path = name, .line = line, .col = 1});
	}
	CLEANUP(yaml_parser_delete) yaml_parser_t parser = {0};
	struct yaml_reader r = {.a = a, .text = text, .name = str_dup(a, name), .parser = &parser};
	if (!yaml_parser_initialize(&parser))
		return err_new(E_INTERNAL, "cannot start the YAML parser");
	/* fixed, so that a byte order mark cannot switch to UTF-16 and break our line counts */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	struct node *root = NEW(a, struct node);
	root->at.path = r.name;
	for (;;) {
		CLEANUP(yaml_event_delete) yaml_event_t ev = {0};
		TRY(next(&r, &ev));
		if (ev.type == YAML_STREAM_END_EVENT)
			break;
		if (ev.type == YAML_STREAM_START_EVENT || ev.type == YAML_DOCUMENT_END_EVENT)
			continue;
		if (ev.type != YAML_DOCUMENT_START_EVENT)
			TRY(value(&r, &ev, root));
		else if (root->at.line)
			return error_at(
				&r, ev.start_mark, "only one document is allowed in the file");
	}
	*ret = root;
	return NULL;
}

struct err *yaml_read(struct arena *a, struct str path, const struct node **ret)
{
	struct str text;
	TRY(fs_read(a, path, NODE_SIZE, &text));
	return yaml_parse(a, text, path, ret);
}
