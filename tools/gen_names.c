/* Compiles data/cuda_names into the C tables of src/hipify: gen_names OUTPUT ARGS.tsv TABLE.tsv...
 *
 * Runs at build time. All texts go into one pool and rows hold offsets into it, so that the tables
 * need no relocation at program start. Texts of the columns that have few come first, and need 16 bits; slots is a
 * hash table over the rows. A malformed line or two rows for one CUDA name stop the build with the place.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hipify/cuda/names.h"

enum { MAX_ROWS = 1 << 14, POOL = 1 << 21, TEXTS = 1 << 16, COLUMNS = 6, LINE = 1024 };

enum column { CUDA, HIP, KIND, HEADER, SINCE, SOURCE };

struct row {
	unsigned text[COLUMNS]; /* offsets into the pool */
	unsigned table, line;
};

static char pool[POOL];
static size_t pool_n = 1; /* offset 0 is the empty text */
static unsigned texts[TEXTS];
static struct row rows[MAX_ROWS];
static size_t nrows;
static unsigned slots[NAMES_SLOTS];

static const char *input;
static unsigned input_line;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...)
{
	va_list ap;
	fprintf(stderr, "%s:%u: ", input, input_line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* The offset of a text in the pool; equal texts are kept once. */
static unsigned intern(const char *s)
{
	size_t n = strlen(s);
	if (!n)
		return 0;
	size_t i = names_hash(s, n) % TEXTS;
	for (; texts[i]; i = (i + 1) % TEXTS)
		if (!strcmp(pool + texts[i], s))
			return texts[i];
	if (pool_n + n + 1 > POOL)
		die("the tables are larger than the pool");
	texts[i] = (unsigned)pool_n;
	memcpy(pool + pool_n, s, n + 1);
	pool_n += n + 1;
	return texts[i];
}

/* Splits at tabs; returns the number of cells. */
static int split(char *line, char *cells[COLUMNS])
{
	int n = 0;
	while (line && n < COLUMNS) {
		cells[n++] = line;
		line = strchr(line, '\t');
		if (line)
			*line++ = '\0';
	}
	return line ? COLUMNS + 1 : n;
}

static void add_few(char *cells[COLUMNS], unsigned table)
{
	(void)table;
	for (int i = KIND; i < COLUMNS; i++)
		if (intern(cells[i]) > UINT16_MAX)
			die("the texts of kinds, headers, versions and sources are more than 64 "
			    "KiB");
}

static void add_row(char *cells[COLUMNS], unsigned table)
{
	if (nrows == MAX_ROWS)
		die("too many rows");
	struct row *r = &rows[nrows];
	for (int i = 0; i < COLUMNS; i++)
		r->text[i] = intern(cells[i]);
	r->table = table;
	r->line = input_line;
	size_t i = names_hash(cells[CUDA], strlen(cells[CUDA])) % NAMES_SLOTS;
	for (; slots[i]; i = (i + 1) % NAMES_SLOTS)
		if (rows[slots[i] - 1].text[CUDA] == r->text[CUDA])
			die("a second row for '%s'", cells[CUDA]);
	slots[i] = (unsigned)++nrows;
}

/* The next line that is no comment, without its newline; NULL at the end. */
static char *next_line(FILE *f, char buf[LINE])
{
	while (fgets(buf, LINE, f)) {
		input_line++;
		size_t n = strlen(buf);
		if (!n || buf[n - 1] != '\n')
			die("the line is too long or has no end");
		buf[n - 1] = '\0';
		if (buf[0] != '#' && buf[0])
			return buf;
	}
	return NULL;
}

static FILE *open_input(const char *path)
{
	input = path;
	input_line = 0;
	FILE *f = fopen(path, "r");
	if (!f)
		die("cannot be read");
	return f;
}

static void read_table(
	const char *path, unsigned table, void (*add)(char *cells[COLUMNS], unsigned table))
{
	char buf[LINE], *cells[COLUMNS];
	FILE *f = open_input(path);
	while (next_line(f, buf)) {
		int n = split(buf, cells);
		if (n != COLUMNS)
			die("%d columns are wanted, here are %d", COLUMNS, n);
		add(cells, table);
	}
	fclose(f);
}

static void write_pool(FILE *out)
{
	fputs("const char names_pool[] =\n\t\"", out);
	for (size_t i = 0; i < pool_n; i++) {
		char c = pool[i];
		if (!c)
			fputs(i % 4 ? "\\0"
				      "\"\""
				    : "\\0\"\n\t\"",
				out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			fputc(c, out);
	}
	fputs("\";\n\n", out);
}

static void write_rows(FILE *out)
{
	fputs("const struct hipify_rule names_rows[] = {\n", out);
	for (size_t i = 0; i < nrows; i++) {
		const struct row *r = &rows[i];
		fprintf(out,
			"\t{.cuda = %u, .hip = %u, .kind = %u, .header = %u, .since = %u, .source "
			"= %u, .table = %u, .line = %u},\n",
			r->text[CUDA], r->text[HIP], r->text[KIND], r->text[HEADER], r->text[SINCE],
			r->text[SOURCE], r->table, r->line);
	}
	fputs("\t{0},\n};\n\n", out);
	fputs("const uint16_t names_slots[] = {", out);
	for (size_t i = 0; i < NAMES_SLOTS; i++)
		fprintf(out, "%s%u,", i % 16 ? " " : "\n\t", slots[i]);
	fputs("\n};\n\n", out);
}

/* "data/cuda_names/runtime.tsv" of any path to that file. */
static const char *table_name(const char *path)
{
	const char *p = strstr(path, "data/cuda_names/");
	for (const char *q = p; q; q = strstr(p + 1, "data/cuda_names/"))
		p = q;
	return p ? p : path;
}

static void write_args(FILE *out, const char *path)
{
	char buf[LINE], *cells[COLUMNS];
	FILE *f = open_input(path);
	fputs("const struct arg_rule names_args[] = {\n", out);
	while (next_line(f, buf)) {
		if (split(buf, cells) != 4 || cells[2][0] < '1' || cells[2][0] > '9')
			die("name, rule, argument number and text are wanted");
		fprintf(out, "\t{S_INIT(\"%s\"), S_INIT(\"%s\"), S_INIT(\"%s\"), %s},\n", cells[0],
			cells[1], cells[3], cells[2]);
	}
	fputs("\t{S_INIT(\"\"), S_INIT(\"\"), S_INIT(\"\"), 0},\n};\n\n", out);
	fclose(f);
}

int main(int argc, char **argv)
{
	input = argv[0];
	if (argc < 4)
		die("usage: OUTPUT ARGS.tsv TABLE.tsv...");
	FILE *out = fopen(argv[1], "w");
	if (!out)
		die("cannot write %s", argv[1]);
	for (int i = 3; i < argc; i++)
		read_table(argv[i], (unsigned)(i - 3), add_few);
	for (int i = 3; i < argc; i++)
		read_table(argv[i], (unsigned)(i - 3), add_row);
	fputs("/* Generated by tools/gen_names.c from data/cuda_names. */\n"
	      "#include \"hipify/cuda/names.h\"\n\n"
	      "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n",
		out);
	write_pool(out);
	write_rows(out);
	write_args(out, argv[2]);
	fputs("const struct str names_tables[] = {\n", out);
	for (int i = 3; i < argc; i++)
		fprintf(out, "\tS_INIT(\"%s\"),\n", table_name(argv[i]));
	fputs("};\n", out);
	if (fclose(out)) {
		input = argv[1];
		die("cannot be written");
	}
	return 0;
}
