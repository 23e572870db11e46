/* Compiles the patterns of data/diagnoses/ and data/logs.yaml with Hyperscan, for any CPU of this architecture, and writes
 * them as C: gen_scan OUTPUT. What Hyperscan looks for is derived from each expression (required.h). Without the library
 * the compiled texts are empty, and `explain` reports that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "know/diagnosis.h"
#include "required.h"

#ifdef HAVE_HYPERSCAN
#include <hs/hs.h>
#endif

enum { PATTERNS = 4096, ROOM = 64 << 10 };

static char *patterns[PATTERNS];
static bool once[PATTERNS]; /* one match is enough */
static size_t count;

/* The text with the words of the data in place of {NAME}. */
static char *expanded(const char *text)
{
	char *out = malloc(ROOM);
	size_t n = 0;
	while (out && *text && n + 1 < ROOM) {
		size_t skip = 0;
		for (size_t i = 0; *text == '{' && !skip && i < diagnosis_word_count; i++) {
			const struct diagnosis_word *w = &diagnosis_word_table()[i];
			size_t len = strlen(w->name);
			if (strncmp(text + 1, w->name, len) != 0 || text[len + 1] != '}')
				continue;
			skip = len + 2;
			n += (size_t)snprintf(out + n, ROOM - n, "%s", w->text);
		}
		if (!skip)
			out[n++] = *text;
		text += skip ? skip : 1;
	}
	if (!out || n + 1 >= ROOM)
		exit(1);
	out[n] = 0;
	return out;
}

static void add_pattern(const char *name, const char *text, const char *given, bool only_once)
{
	char *whole = expanded(text);
	patterns[count] = malloc(ROOM);
	once[count] = only_once;
	if (count + 1 == PATTERNS || !patterns[count])
		exit(1);
	bool good = given ? given_pattern(given, patterns[count], ROOM)
			  : required_pattern(whole, patterns[count], ROOM);
	if (!good) {
		fprintf(stderr,
			"gen_scan: '%s': every line that matches '%s' must contain words that few "
			"other lines have\n",
			name, text);
		exit(1);
	}
	free(whole);
	count++;
}

static void add_all(void)
{
	for (size_t i = 0; i < diagnosis_sign_count; i++) {
		const struct diagnosis_sign *s = &diagnosis_sign_table()[i];
		add_pattern(s->name, s->text, s->raw ? s->text : s->see, s->once);
	}
	for (size_t i = 0; i < diagnosis_count; i++)
		for (const struct diagnosis_match *m = diagnosis_table()[i].match; m->text; m++)
			add_pattern(diagnosis_table()[i].id, m->text, NULL, false);
}

/* rest: without the signs of which one is enough. */
static int compile(bool rest, char **ret, size_t *ret_n)
{
	*ret = NULL;
	*ret_n = 0;
#ifdef HAVE_HYPERSCAN
	static const char *texts[PATTERNS];
	static unsigned flags[PATTERNS], ids[PATTERNS];
	unsigned n = 0;
	for (unsigned i = 0; i < count; i++) {
		if (rest && once[i])
			continue;
		texts[n] = patterns[i];
		flags[n] = HS_FLAG_MULTILINE;
		ids[n++] = i;
	}
	const hs_platform_info_t any = {.tune = HS_TUNE_FAMILY_GENERIC};
	hs_compile_error_t *why = NULL;
	hs_database_t *db;
	if (hs_compile_multi(texts, flags, ids, n, HS_MODE_BLOCK, &any, &db, &why)) {
		fprintf(stderr, "gen_scan: '%s': %s\n",
			why->expression >= 0 ? texts[why->expression] : "", why->message);
		return 1;
	}
	bool bad = hs_serialize_database(db, ret, ret_n) != HS_SUCCESS;
	hs_free_database(db);
	return bad;
#else
	return 0;
#endif
}

static int put_database(FILE *out, const char *name, bool rest)
{
	char *raw;
	size_t n, size;
	if (compile(rest, &raw, &size) != 0)
		return 1;
	char *bytes = malloc(ZSTD_compressBound(size));
	n = bytes && size ? ZSTD_compress(bytes, ZSTD_compressBound(size), raw, size, 19) : 0;
	if (!bytes || ZSTD_isError(n))
		return 1;
	fprintf(out, "\nstatic const char %s_bytes[] = {", name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%d,", i % 20 ? " " : "\n\t", (signed char)bytes[i]);
	fprintf(out, "\n\t0};\nextern const struct str %s;\n", name);
	fprintf(out, "const struct str %s = {%s_bytes, %zu};\n", name, name, n);
	free(bytes);
	free(raw);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
	if (!out)
		return 1;
	add_all();
	fprintf(out, "#include \"base/str.h\"\n");
	int bad = put_database(out, "diagnosis_scan", false) ||
		  put_database(out, "diagnosis_scan_rest", true);
	return fclose(out) || bad ? 1 : 0;
}
