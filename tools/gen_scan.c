/* Compiles the patterns of data/diagnoses/ and data/logs.yaml with Hyperscan, for any CPU of this architecture, and writes
 * the result as C, compressed: gen_scan OUTPUT. Without the library the text is empty, and `explain` says so. */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "know/diagnosis.h"

#ifdef HAVE_HYPERSCAN
#include <hs/hs.h>

enum { MAX = 4096 };

/* rest: without the signs of which one is enough. */
static int compile(bool rest, char **ret, size_t *ret_n)
{
	static struct diagnosis_pattern rows[MAX];
	static char *texts[MAX];
	static unsigned flags[MAX], ids[MAX];
	unsigned n = (unsigned)diagnosis_patterns(NULL), count = 0;
	if (n > MAX)
		return 1;
	diagnosis_patterns(rows);
	for (unsigned i = 0; i < n; i++) {
		if (rest && rows[i].sign && rows[i].sign->once)
			continue;
		texts[count] = malloc(DIAGNOSIS_PATTERN_MAX);
		if (!texts[count])
			return 1;
		diagnosis_pattern_text(rows[i].see, texts[count], DIAGNOSIS_PATTERN_MAX);
		flags[count] = HS_FLAG_MULTILINE;
		ids[count++] = i;
	}
	const hs_platform_info_t any = {.tune = HS_TUNE_FAMILY_GENERIC};
	hs_compile_error_t *why = NULL;
	hs_database_t *db;
	if (hs_compile_multi((const char *const *)texts, flags, ids, count, HS_MODE_BLOCK, &any,
		    &db, &why)) {
		fprintf(stderr, "gen_scan: '%s': %s\n",
			why->expression >= 0 ? texts[why->expression] : "", why->message);
		return 1;
	}
	bool bad = hs_serialize_database(db, ret, ret_n) != HS_SUCCESS;
	hs_free_database(db);
	for (unsigned i = 0; i < count; i++)
		free(texts[i]);
	return bad;
}
#else
static int compile(bool rest, char **ret, size_t *ret_n)
{
	(void)rest;
	*ret = NULL;
	*ret_n = 0;
	return 0;
}
#endif

static int put(FILE *out, const char *name, bool rest)
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
	fprintf(out, "#include \"base/str.h\"\n");
	int bad = put(out, "diagnosis_scan", false) || put(out, "diagnosis_scan_rest", true);
	return fclose(out) || bad ? 1 : 0;
}
