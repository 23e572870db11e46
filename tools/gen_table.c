/* Compiles a YAML file of tables into C: gen_table INPUT OUTPUT HEADER.
 *
 * The file is a map of lists of maps: "NAME: [{key: value, ...}, ...]" becomes
 *     const struct NAME NAME_table[] = {{.key = value, ...}, ...};
 *     const size_t NAME_count = ...;
 * and "NAME: {key: value, ...}" becomes const struct NAME NAME = {...}; for the struct NAME that
 * HEADER declares: its compiler finds unknown keys, and says so with the line of the YAML file. A
 * value in quotes is a text; true, false, numbers and constants (E_NET: capitals with an
 * underscore) stand as they are, other words are texts; a list of texts ends in NULL.
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

static void put_map(FILE *f, yaml_document_t *doc, const char *type, const yaml_node_t *map);

/* type: of the struct that it is a member of, with the key behind it */
static void put_value(FILE *f, yaml_document_t *doc, const char *type, const yaml_node_t *n)
{
	if (n->type == YAML_MAPPING_NODE) {
		put_map(f, doc, type, n);
		return;
	}
	if (n->type != YAML_SEQUENCE_NODE) {
		if (scalar(n) && is_bare(n))
			fputs(scalar(n), f);
		else
			put_text(f, scalar(n));
		return;
	}
	yaml_node_item_t *i = n->data.sequence.items.start, *end = n->data.sequence.items.top;
	bool maps = i < end && yaml_document_get_node(doc, *i)->type == YAML_MAPPING_NODE;
	fprintf(f, "(const %s%s[]){", maps ? "struct " : "char *const", maps ? type : "");
	for (; i < end; i++) {
		put_value(f, doc, type, yaml_document_get_node(doc, *i));
		fputs(", ", f);
	}
	fputs(maps ? "{0}}" : "NULL}", f);
}

/* A key that begins with '_' is for readers of the data and for tests. */
static void put_map(FILE *f, yaml_document_t *doc, const char *type, const yaml_node_t *map)
{
	fputc('{', f);
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
		p++) {
		char member[128];
		const char *key = scalar(yaml_document_get_node(doc, p->key));
		if (*key == '_')
			continue;
		snprintf(member, sizeof(member), "%s_%s", type, key);
		fprintf(f, ".%s = ", key);
		put_value(f, doc, member, yaml_document_get_node(doc, p->value));
		fputs(", ", f);
	}
	fputc('}', f);
}

static void put_row(FILE *f, yaml_document_t *doc, const char *name, const yaml_node_t *row)
{
	if (row->type != YAML_MAPPING_NODE)
		fail(row->start_mark, "a map is wanted here");
	fprintf(f, "#line %zu \"%s\"\n\t", row->start_mark.line + 1, input);
	put_map(f, doc, name, row);
}

static void put_table(FILE *f, yaml_document_t *doc, const char *name, const yaml_node_t *list)
{
	if (list->type != YAML_SEQUENCE_NODE) {
		fprintf(f, "\nconst struct %s %s =\n", name, name);
		put_row(f, doc, name, list);
		fputs(";\n", f);
		return;
	}
	yaml_node_item_t *start = list->data.sequence.items.start;
	size_t n = (size_t)(list->data.sequence.items.top - start);
	fprintf(f, "\nconst struct %s %s_table[] = {\n", name, name);
	for (size_t i = 0; i < n; i++) {
		put_row(f, doc, name, yaml_document_get_node(doc, start[i]));
		fputs(",\n", f);
	}
	fprintf(f, "};\nconst size_t %s_count = %zu;\n", name, n);
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
	fprintf(out, "/* Made by tools/gen_table.c from %s: edit that. */\n#include \"%s\"\n",
		input, argv[3]);
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
		p++)
		put_table(out, &doc, scalar(yaml_document_get_node(&doc, p->key)),
			yaml_document_get_node(&doc, p->value));
	if (fclose(out)) {
		perror(argv[2]);
		return 1;
	}
	yaml_document_delete(&doc);
	return 0;
}
