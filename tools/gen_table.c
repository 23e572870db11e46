/* Compiles tables in YAML into C. It runs at build time, so it uses libyaml and the C library only.
 *
 *     gen_table INPUT OUTPUT HEADER                  a file of tables
 *     gen_table --rows NAME OUTPUT HEADER INPUT...   one table; each file is a row, in the order of their names
 *
 * A file of tables is a map of lists of maps: "NAME: [{key: value, ...}, ...]" becomes
 *     const struct NAME *NAME_table(void); and const size_t NAME_count; TABLE(NAME) of base/vec.h declares them
 * (a map alone is one row, without a count) for the struct NAME that HEADER declares. The compiler finds unknown
 * keys and reports them with the line of the YAML file; a key that begins with '_' is for readers and tests only.
 * A value in quotes is a text; true, false, numbers and constants (E_NET: capitals with an underscore) are taken
 * as they are, other words are texts. A list ends with an empty element.
 *
 * A row with `cases`, a list of maps, stands for a row for each of them: the case, with the row's keys that it lacks.
 * With `completed: NAME` at the top of a file, NAME_complete(row) fills in what each row of that table lacks.
 * The map `named` at the top of a file is no table: {NAME} in the text of a `when` is the text that it has under NAME, and
 * NAME in a list of maps stands for the maps of that list.
 *
 * A table is filled when it is first asked for: were it constant data, each of its texts would be a relocation
 * at every start of rocsmith.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { ITEMS_MAX = 512 };

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

static void put_text(FILE *f, const char *text, size_t n)
{
	fputc('"', f);
	for (size_t i = 0; i < n; i++)
		fprintf(f,
			text[i] == '"' || text[i] == '\\' ? "\\%c"
			: text[i] == '\n'                 ? "\\n"
							  : "%c",
			text[i]);
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
	yaml_document_t *doc;  /* the one being written */
	unsigned lists;        /* numbers the arrays */
	const char *completed; /* a table; or NULL */
};

/* The left side of an assignment: a member, and the type of the structs in it. */
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

static const yaml_node_t *find(
	yaml_document_t *doc, const yaml_node_t *map, const char *key, size_t n)
{
	for (yaml_node_pair_t *i = map->data.mapping.pairs.start; i < map->data.mapping.pairs.top;
		i++) {
		const char *name = scalar(yaml_document_get_node(doc, i->key));
		if (strlen(name) == n && strncmp(name, key, n) == 0)
			return yaml_document_get_node(doc, i->value);
	}
	return NULL;
}

/* What the file has under this name at its top, in `named`. */
static const yaml_node_t *find_named(
	struct out *o, const yaml_node_t *by, const char *name, size_t n)
{
	const yaml_node_t *all = find(o->doc, yaml_document_get_root_node(o->doc), "named", 5);
	const yaml_node_t *found = all ? find(o->doc, all, name, n) : NULL;
	if (!found)
		fail(by->start_mark, "nothing is named '%.*s'", (int)n, name);
	return found;
}

/* Writes a condition with the named ones in their places. */
static void put_condition(struct out *o, const yaml_node_t *n)
{
	const char *text = scalar(n), *open, *close;
	for (; (open = strchr(text, '{')) && (close = strchr(open, '}')); text = close + 1) {
		put_text(o->f, text, (size_t)(open - text));
		put_condition(o, find_named(o, n, open + 1, (size_t)(close - open - 1)));
	}
	put_text(o->f, text, strlen(text));
}

static void put_value(struct out *o, const struct place *p, const yaml_node_t *n);
static void put_map(struct out *o, const struct place *p, const yaml_node_t *map);

/* Fills ret with the items of a list, those of the lists that it names among them; returns how many there are. */
static size_t items_of(struct out *o, const yaml_node_t *list, bool maps, const yaml_node_t **ret)
{
	size_t n = 0;
	for (yaml_node_item_t *i = list->data.sequence.items.start;
		i < list->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(o->doc, *i);
		if (n == ITEMS_MAX)
			fail(item->start_mark, "this list is too long");
		if (maps && item->type == YAML_SCALAR_NODE)
			n += items_of(o, find_named(o, item, scalar(item), strlen(scalar(item))),
				true, ret + n);
		else
			ret[n++] = item;
	}
	return n;
}

/* Writes a list as an array of its own, with an empty element at the end. Lists of fixes are of maps. */
static void put_list(struct out *o, const struct place *p, const yaml_node_t *list)
{
	const yaml_node_t *items[2 * ITEMS_MAX];
	const char *member = strrchr(p->path, '.');
	size_t n = items_of(o, list, member && strcmp(member, ".fix") == 0, items);
	bool maps = n && items[0]->type == YAML_MAPPING_NODE;
	unsigned id = o->lists++;
	fprintf(o->f, "\tstatic %s%s l%u[%zu];\n", maps ? "struct " : "const char *",
		maps ? p->type : "", id, n + 1);
	for (size_t i = 0; i < n; i++) {
		struct place at = place_of(items[i], p->type, "l%u[%zu]", id, i);
		if (maps != (items[i]->type == YAML_MAPPING_NODE))
			fail(items[i]->start_mark, "a list is of texts or of maps");
		put_value(o, &at, items[i]);
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
	const char *member = strrchr(p->path, '.');
	if (is_bare(n))
		fputs(scalar(n), o->f);
	else if (member && strcmp(member, ".when") == 0)
		put_condition(o, n);
	else
		put_text(o->f, scalar(n), strlen(scalar(n)));
	fputs(";\n", o->f);
}

static void put_map(struct out *o, const struct place *p, const yaml_node_t *map)
{
	for (yaml_node_pair_t *i = map->data.mapping.pairs.start; i < map->data.mapping.pairs.top;
		i++) {
		const char *key = scalar(yaml_document_get_node(o->doc, i->key));
		if (*key == '_' || strcmp(key, "cases") == 0)
			continue;
		char type[256];
		snprintf(type, sizeof(type), "%s_%s", p->type, key);
		struct place member = place_of(map, type, "%s.%s", p->path, key);
		put_value(o, &member, yaml_document_get_node(o->doc, i->value));
	}
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
	const yaml_node_t *root = yaml_document_get_root_node(doc);
	if (!root || root->type != YAML_MAPPING_NODE)
		fail((yaml_mark_t){0}, "a map is wanted");
}

static void open_table(struct out *o, const char *name, size_t rows)
{
	fprintf(o->f, "\nstatic struct %s %s_rows[%zu];\n", name, name, rows + 1);
	fprintf(o->f, "__attribute__((cold)) static void %s_fill(void)\n{\n", name);
}

/* outer: the row of a case, whose keys are written first; or NULL. */
static void put_row(struct out *o, const char *name, size_t number, const yaml_node_t *outer,
	const yaml_node_t *row)
{
	struct place at = place_of(row, name, "%s_rows[%zu]", name, number);
	if (row->type != YAML_MAPPING_NODE)
		fail(row->start_mark, "a map is wanted here");
	if (outer) {
		fprintf(o->f, "#line %zu \"%s\"\n", outer->start_mark.line + 1, input);
		put_map(o, &at, outer);
	}
	fprintf(o->f, "#line %zu \"%s\"\n", row->start_mark.line + 1, input);
	put_map(o, &at, row);
}

static void close_table(struct out *o, const char *name)
{
	if (o->completed && strcmp(o->completed, name) == 0)
		fprintf(o->f,
			"\tfor (size_t i = 0; i < %s_count; i++)\n\t\t%s_complete(&%s_rows[i]);\n",
			name, name, name);
	fprintf(o->f,
		"}\n\nconst struct %s *%s_table(void)\n{\n"
		"\tstatic pthread_once_t once = PTHREAD_ONCE_INIT;\n"
		"\tpthread_once(&once, %s_fill);\n\treturn %s_rows;\n}\n",
		name, name, name, name);
}

static void put_table(struct out *o, const char *name, const yaml_node_t *list)
{
	yaml_node_item_t *start = list->data.sequence.items.start;
	size_t n = (size_t)(list->data.sequence.items.top - start), rows = 0, number = 0;
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *row = yaml_document_get_node(o->doc, start[i]);
		const yaml_node_t *cases =
			row->type == YAML_MAPPING_NODE ? find(o->doc, row, "cases", 5) : NULL;
		rows += cases ? (size_t)(cases->data.sequence.items.top -
					 cases->data.sequence.items.start)
			      : 1;
	}
	fprintf(o->f, "\nconst size_t %s_count = %zu;", name, rows);
	open_table(o, name, rows);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *row = yaml_document_get_node(o->doc, start[i]);
		const yaml_node_t *cases =
			row->type == YAML_MAPPING_NODE ? find(o->doc, row, "cases", 5) : NULL;
		if (!cases) {
			put_row(o, name, number++, NULL, row);
			continue;
		}
		for (yaml_node_item_t *k = cases->data.sequence.items.start;
			k < cases->data.sequence.items.top; k++)
			put_row(o, name, number++, row, yaml_document_get_node(o->doc, *k));
	}
	close_table(o, name);
}

/* Writes the tables of one file. */
static void put_tables(struct out *o)
{
	const yaml_node_t *root = yaml_document_get_root_node(o->doc);
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
		p++) {
		const char *name = scalar(yaml_document_get_node(o->doc, p->key));
		const yaml_node_t *list = yaml_document_get_node(o->doc, p->value);
		if (strcmp(name, "named") == 0)
			continue;
		if (strcmp(name, "completed") == 0) {
			o->completed = scalar(list);
			continue;
		}
		if (list->type == YAML_SCALAR_NODE)
			fail(list->start_mark, "a list is wanted here");
		if (list->type == YAML_MAPPING_NODE) {
			open_table(o, name, 1);
			put_row(o, name, 0, NULL, list);
			close_table(o, name);
		} else {
			put_table(o, name, list);
		}
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static FILE *begin(const char *output, const char *from, const char *header)
{
	FILE *f = fopen(output, "wb");
	if (!f) {
		perror(output);
		exit(1);
	}
	fprintf(f,
		"/* Made by tools/gen_table.c from %s: edit that. */\n#include <pthread.h>\n"
		"#include \"%s\"\n",
		from, header);
	return f;
}

int main(int argc, char **argv)
{
	yaml_document_t doc;
	struct out o = {.doc = &doc};
	bool rows = argc > 5 && strcmp(argv[1], "--rows") == 0;
	if (!rows && argc != 4) {
		fprintf(stderr, "usage: gen_table INPUT OUTPUT HEADER\n"
				"       gen_table --rows NAME OUTPUT HEADER INPUT...\n");
		return 2;
	}
	const char *output = argv[rows ? 3 : 2];
	if (rows) {
		const char *name = argv[2];
		char **files = argv + 5;
		size_t n = (size_t)argc - 5;
		qsort(files, n, sizeof(*files), by_name);
		o.f = begin(output, files[0], argv[4]);
		fprintf(o.f, "\nconst size_t %s_count = %zu;", name, n);
		open_table(&o, name, n);
		for (size_t i = 0; i < n; i++) {
			input = files[i];
			load(&doc);
			put_row(&o, name, i, NULL, yaml_document_get_root_node(&doc));
			yaml_document_delete(&doc);
		}
		close_table(&o, name);
	} else {
		input = argv[1];
		o.f = begin(output, input, argv[3]);
		load(&doc);
		put_tables(&o);
		yaml_document_delete(&doc);
	}
	if (fclose(o.f)) {
		perror(output);
		return 1;
	}
	return 0;
}
