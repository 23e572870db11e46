/* Compiles data/targets.yaml into the C table of src/target: gen_targets INPUT OUTPUT.
 *
 * Runs at build time with the build machine's compiler, so it uses libyaml and the C library only.
 * A mistake in the data (unknown key, two targets with one number, a generic that nobody defines)
 * stops the build with its line. The output is sorted by name, as gpu_by_name() needs it.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_TARGETS = 256 };

struct entry {
	const char *name, *mach, *wave, *status, *generic, *apu, *products;
	bool xnack, sramecc;
	size_t line;
};

static const char *input;

__attribute__((format(printf, 2, 3), noreturn)) static void die(size_t line, const char *fmt, ...)
{
	va_list ap;
	fprintf(stderr, "%s:%zu: ", input, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static size_t line_of(const yaml_node_t *n)
{
	return n->start_mark.line + 1;
}

static const char *scalar(const yaml_node_t *n)
{
	if (n->type != YAML_SCALAR_NODE)
		die(line_of(n), "a single value is wanted here");
	return (const char *)n->data.scalar.value;
}

static void set_features(yaml_document_t *doc, yaml_node_t *list, struct entry *e)
{
	if (list->type != YAML_SEQUENCE_NODE)
		die(line_of(list), "features must be a list");
	for (yaml_node_item_t *i = list->data.sequence.items.start;
		i < list->data.sequence.items.top; i++) {
		const char *f = scalar(yaml_document_get_node(doc, *i));
		if (!strcmp(f, "xnack"))
			e->xnack = true;
		else if (!strcmp(f, "sramecc"))
			e->sramecc = true;
		else
			die(line_of(list), "unknown feature '%s'", f);
	}
}

static void set_member(yaml_document_t *doc, struct entry *e, const char *key, yaml_node_t *val)
{
	const struct {
		const char *key, **at;
	} members[] = {
		{.key = "name", .at = &e->name},
		{.key = "mach", .at = &e->mach},
		{.key = "wave", .at = &e->wave},
		{.key = "status", .at = &e->status},
		{.key = "generic", .at = &e->generic},
		{.key = "apu", .at = &e->apu},
		{.key = "products", .at = &e->products},
	};
	if (!strcmp(key, "features")) {
		set_features(doc, val, e);
		return;
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (!strcmp(key, members[i].key)) {
			*members[i].at = scalar(val);
			return;
		}
	}
	die(line_of(val), "unknown key '%s'", key);
}

static bool one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

static void check_entry(const struct entry *e)
{
	static const char *const statuses[] = {"current", "old", "new", "removed", "generic", NULL};
	char *end;
	if (!e->name || !e->mach || !e->wave || !e->status)
		die(e->line, "name, mach, wave and status are needed");
	unsigned long mach = strtoul(e->mach, &end, 16);
	if (*end || mach == 0 || mach > 0xff)
		die(e->line, "mach '%s' is not a byte in hex", e->mach);
	if (strcmp(e->wave, "32") && strcmp(e->wave, "64"))
		die(e->line, "wave must be 32 or 64");
	if (!one_of(e->status, statuses))
		die(e->line, "unknown status '%s'", e->status);
	if (e->apu && strcmp(e->apu, "true"))
		die(e->line, "apu can only be true");
	if ((strstr(e->name, "-generic") != NULL) != (strcmp(e->status, "generic") == 0))
		die(e->line, "'%s': names of generic targets, and only those, end in -generic",
			e->name);
}

static void check_all(const struct entry *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool found = !v[i].generic;
		for (size_t k = 0; k < n; k++) {
			if (v[i].generic && !strcmp(v[i].generic, v[k].name))
				found = !strcmp(v[k].status, "generic");
			if (k != i && !strcmp(v[i].name, v[k].name))
				die(v[i].line, "'%s' is there twice", v[i].name);
			if (k != i && strtoul(v[i].mach, NULL, 16) == strtoul(v[k].mach, NULL, 16))
				die(v[i].line, "mach %s is that of '%s' too", v[i].mach, v[k].name);
		}
		if (!found)
			die(v[i].line, "'%s' is no generic target", v[i].generic);
	}
}

static size_t load(yaml_document_t *doc, struct entry *v)
{
	yaml_node_t *root = yaml_document_get_root_node(doc);
	size_t n = 0;
	if (!root || root->type != YAML_SEQUENCE_NODE)
		die(1, "a list of targets is wanted");
	for (yaml_node_item_t *i = root->data.sequence.items.start;
		i < root->data.sequence.items.top; i++) {
		yaml_node_t *map = yaml_document_get_node(doc, *i);
		if (map->type != YAML_MAPPING_NODE || n == MAX_TARGETS)
			die(line_of(map), n == MAX_TARGETS ? "too many targets" : "not a map");
		v[n] = (struct entry){.line = line_of(map)};
		for (yaml_node_pair_t *p = map->data.mapping.pairs.start;
			p < map->data.mapping.pairs.top; p++)
			set_member(doc, &v[n], scalar(yaml_document_get_node(doc, p->key)),
				yaml_document_get_node(doc, p->value));
		check_entry(&v[n++]);
	}
	return n;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static void put_text(FILE *f, const char *member, const char *text)
{
	if (!text)
		return;
	fprintf(f, ", .%s = \"", member);
	for (; *text; text++)
		fprintf(f, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	fputc('"', f);
}

static void put_flag(FILE *f, const char *member, bool on)
{
	if (on)
		fprintf(f, ", .%s = true", member);
}

static void emit(FILE *f, const struct entry *v, size_t n)
{
	fprintf(f, "/* Made by tools/gen_targets.c from data/targets.yaml: edit that. */\n"
		   "#include \"target/target.h\"\n\nconst struct gpu gpu_table[] = {\n");
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "\t{.name = \"%s\", .mach = %s", v[i].name, v[i].mach);
		put_text(f, "generic", v[i].generic);
		put_text(f, "products", v[i].products ? v[i].products : "");
		put_flag(f, "is_generic", !strcmp(v[i].status, "generic"));
		put_flag(f, "removed", !strcmp(v[i].status, "removed"));
		put_flag(f, "current", !strcmp(v[i].status, "current"));
		put_flag(f, "xnack", v[i].xnack);
		put_flag(f, "sramecc", v[i].sramecc);
		put_flag(f, "wave32", !strcmp(v[i].wave, "32"));
		put_flag(f, "apu", v[i].apu != NULL);
		fprintf(f, "},\n");
	}
	fprintf(f, "};\nconst size_t gpu_count = %zu;\n", n);
}

static void parse(yaml_document_t *doc)
{
	yaml_parser_t parser;
	FILE *in = fopen(input, "rb");
	if (!in || !yaml_parser_initialize(&parser)) {
		perror(input);
		exit(1);
	}
	yaml_parser_set_input_file(&parser, in);
	if (!yaml_parser_load(&parser, doc))
		die(parser.problem_mark.line + 1, "%s", parser.problem);
	yaml_parser_delete(&parser);
	fclose(in);
}

int main(int argc, char **argv)
{
	static struct entry v[MAX_TARGETS];
	yaml_document_t doc;
	if (argc != 3) {
		fprintf(stderr, "usage: gen_targets INPUT OUTPUT\n");
		return 2;
	}
	input = argv[1];
	parse(&doc);
	size_t n = load(&doc, v);
	check_all(v, n);
	qsort(v, n, sizeof(*v), by_name);
	FILE *out = fopen(argv[2], "wb");
	if (out)
		emit(out, v, n);
	if (!out || fclose(out)) {
		perror(argv[2]);
		return 1;
	}
	yaml_document_delete(&doc);
	return 0;
}
