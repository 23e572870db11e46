/* Compiles a YAML file of tables into C: gen_table INPUT OUTPUT HEADER.
 *
 * The file is a map of lists of maps: "NAME: [{key: value, ...}, ...]" becomes
 *     const struct NAME *NAME_table(void); and const size_t NAME_count;
 * (a map alone is one row, without a count) for the struct NAME that HEADER declares: its compiler finds unknown keys, and says so with the line of the
 * YAML file. A value in quotes is a text; true, false, numbers and constants (E_NET: capitals with an
 * underscore) stand as they are, other words are texts; a list ends with an empty element.
 * A table is filled when it is first asked for: as a constant, each of its texts would be a relocation at every
 * start of rocsmith, which were 22 pages to copy.
 * Runs at build time with the build machine's compiler, so it uses libyaml and the C library only.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static const char *input;

__attribute__((format(printf, 2, 3), noreturn)) static void fail(
	yaml_mark_t at, const char *fmt, ...)
{
	va_list ap;
	fprintf(stderr, "%s:%zu: ", input, at.line + 1);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static const char *scalar(const yaml_node_t *n)
{
	if (n->type != YAML_SCALAR_NODE)
		fail(n->start_mark, "a single value is wanted here");
	return (const char *)n->data.scalar.value;
}

static void put_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++)
		fprintf(f,
			*text == '"' || *text == '\\' ? "\\%c"
			: *text == '\n'               ? "\\n"
						      : "%c",
			*text);
	fputc('"', f);
}

/* true, false, 32, 0x20, E_NET */
static bool is_bare(const yaml_node_t *n)
{
	const char *s = (const char *)n->data.scalar.value;
	if (n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || !*s)
		return false;
	if (!strcmp(s, "true") || !strcmp(s, "false"))
		return true;
	if (isdigit((unsigned char)*s))
		return s[strspn(s, "0123456789xabcdef")] == 0;
	return strchr(s, '_') && s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == 0;
}

struct out {
	FILE *f;
	yaml_document_t *doc;
	unsigned lists; /* names that were given */
};

/* What is assigned to: a member, as C names it from the row on, and the type of a struct that it is or has. */
struct place {
	char path[256], type[128];
};

__attribute__((format(printf, 3, 4))) static struct place place_of(
	const yaml_node_t *n, const char *type, const char *fmt, ...)
{
	struct place p;
	va_list ap;
	va_start(ap, fmt);
	if ((size_t)vsnprintf(p.path, sizeof(p.path), fmt, ap) >= sizeof(p.path) ||
		(size_t)snprintf(p.type, sizeof(p.type), "%s", type) >= sizeof(p.type))
		fail(n->start_mark, "this is too deep");
	va_end(ap);
	return p;
}

static void put_value(struct out *o, const struct place *p, const yaml_node_t *n);
static void put_map(struct out *o, const struct place *p, const yaml_node_t *map);

/* Lists get an array of their own, with an empty element at the end. */
static void put_list(struct out *o, const struct place *p, const yaml_node_t *list)
{
	yaml_node_item_t *start = list->data.sequence.items.start;
	size_t n = (size_t)(list->data.sequence.items.top - start);
	bool maps = n && yaml_document_get_node(o->doc, *start)->type == YAML_MAPPING_NODE;
	unsigned id = o->lists++;
	fprintf(o->f, "\tstatic %s%s l%u[%zu];\n", maps ? "struct " : "const char *",
		maps ? p->type : "", id, n + 1);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_document_get_node(o->doc, start[i]);
		struct place at = place_of(item, p->type, "l%u[%zu]", id, i);
		if (maps != (item->type == YAML_MAPPING_NODE))
			fail(item->start_mark, "a list is of texts or of maps");
		put_value(o, &at, item);
	}
	fprintf(o->f, "\t%s = l%u;\n", p->path, id);
}

static void put_value(struct out *o, const struct place *p, const yaml_node_t *n)
{
	if (n->type == YAML_MAPPING_NODE) {
		put_map(o, p, n);
		return;
	}
	if (n->type == YAML_SEQUENCE_NODE) {
		put_list(o, p, n);
		return;
	}
	fprintf(o->f, "\t%s = ", p->path);
	if (is_bare(n))
		fputs(scalar(n), o->f);
	else
		put_text(o->f, scalar(n));
	fputs(";\n", o->f);
}

/* A key that begins with '_' is for readers of the data and for tests. */
static void put_map(struct out *o, const struct place *p, const yaml_node_t *map)
{
	for (yaml_node_pair_t *i = map->data.mapping.pairs.start; i < map->data.mapping.pairs.top;
		i++) {
		const char *key = scalar(yaml_document_get_node(o->doc, i->key));
		if (*key == '_')
			continue;
		char type[256];
		snprintf(type, sizeof(type), "%s_%s", p->type, key);
		struct place member = place_of(map, type, "%s.%s", p->path, key);
		put_value(o, &member, yaml_document_get_node(o->doc, i->value));
	}
}

static void put_table(struct out *o, const char *name, const yaml_node_t *list)
{
	bool one = list->type == YAML_MAPPING_NODE;
	if (list->type == YAML_SCALAR_NODE)
		fail(list->start_mark, "a list is wanted here");
	yaml_node_item_t *start = one ? NULL : list->data.sequence.items.start;
	size_t n = one ? 1 : (size_t)(list->data.sequence.items.top - start);
	if (!one)
		fprintf(o->f, "\nconst size_t %s_count = %zu;", name, n);
	fprintf(o->f, "\nstatic struct %s %s_rows[%zu];\n", name, name, n + 1);
	fprintf(o->f, "__attribute__((cold)) static void %s_fill(void)\n{\n", name);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *row = one ? list : yaml_document_get_node(o->doc, start[i]);
		struct place at = place_of(row, name, "%s_rows[%zu]", name, i);
		if (row->type != YAML_MAPPING_NODE)
			fail(row->start_mark, "a map is wanted here");
		fprintf(o->f, "#line %zu \"%s\"\n", row->start_mark.line + 1, input);
		put_map(o, &at, row);
	}
	fprintf(o->f,
		"}\n\nconst struct %s *%s_table(void)\n{\n"
		"\tstatic pthread_once_t once = PTHREAD_ONCE_INIT;\n"
		"\tpthread_once(&once, %s_fill);\n\treturn %s_rows;\n}\n",
		name, name, name, name);
}

static void load(yaml_document_t *doc)
{
	yaml_parser_t parser;
	FILE *in = fopen(input, "rb");
	if (!in || !yaml_parser_initialize(&parser)) {
		perror(input);
		exit(1);
	}
	yaml_parser_set_input_file(&parser, in);
	if (!yaml_parser_load(&parser, doc))
		fail(parser.problem_mark, "%s", parser.problem);
	yaml_parser_delete(&parser);
	fclose(in);
}

int main(int argc, char **argv)
{
	yaml_document_t doc;
	if (argc != 4) {
		fprintf(stderr, "usage: gen_table INPUT OUTPUT HEADER\n");
		return 2;
	}
	input = argv[1];
	load(&doc);
	const yaml_node_t *root = yaml_document_get_root_node(&doc);
	if (!root || root->type != YAML_MAPPING_NODE)
		fail((yaml_mark_t){0}, "a map of tables is wanted");
	FILE *out = fopen(argv[2], "wb");
	if (!out) {
		perror(argv[2]);
		return 1;
	}
	fprintf(out,
		"/* Made by tools/gen_table.c from %s: edit that. */\n#include "
		"<pthread.h>\n#include \"%s\"\n",
		input, argv[3]);
	struct out o = {out, &doc, 0};
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
		p++)
		put_table(&o, scalar(yaml_document_get_node(&doc, p->key)),
			yaml_document_get_node(&doc, p->value));
	if (fclose(out)) {
		perror(argv[2]);
		return 1;
	}
	yaml_document_delete(&doc);
	return 0;
}
