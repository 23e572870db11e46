/* Compiles the patterns of data/diagnoses.yaml with Hyperscan, for any CPU of this architecture, and writes
 * the result as C: gen_scan OUTPUT. Without the library the text is empty, and `explain` says so. */
#include <stdio.h>

#include "know/diagnosis.h"

#ifdef HAVE_HYPERSCAN
#include <hs/hs.h>

enum { MAX = 4096 };

static int compile(char **ret, size_t *ret_n)
{
	static struct diagnosis_pattern rows[MAX];
	static const char *texts[MAX];
	static unsigned flags[MAX], ids[MAX];
	size_t n = diagnosis_patterns(NULL);
	if (n > MAX)
		return 1;
	diagnosis_patterns(rows);
	for (unsigned i = 0; i < n; i++) {
		texts[i] = rows[i].scan.text;
		flags[i] = HS_FLAG_MULTILINE | (rows[i].scan.once ? HS_FLAG_SINGLEMATCH : 0U);
		ids[i] = i;
	}
	const hs_platform_info_t any = {.tune = HS_TUNE_FAMILY_GENERIC};
	hs_compile_error_t *why = NULL;
	hs_database_t *db;
	if (hs_compile_multi(texts, flags, ids, (unsigned)n, HS_MODE_BLOCK, &any, &db, &why)) {
		fprintf(stderr, "gen_scan: '%s': %s\n",
			why->expression >= 0 ? texts[why->expression] : "", why->message);
		return 1;
	}
	return hs_serialize_database(db, ret, ret_n) != HS_SUCCESS;
}
#else
static int compile(char **ret, size_t *ret_n)
{
	*ret = NULL;
	*ret_n = 0;
	return 0;
}
#endif

int main(int argc, char **argv)
{
	char *bytes;
	size_t n;
	FILE *out = argc == 2 && compile(&bytes, &n) == 0 ? fopen(argv[1], "w") : NULL;
	if (!out)
		return 1;
	fprintf(out, "#include \"base/str.h\"\n\nstatic const char bytes[] = {");
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%d,", i % 20 ? " " : "\n\t", (signed char)bytes[i]);
	fprintf(out,
		"\n\t0};\nextern const struct str diagnosis_scan;\n"
		"const struct str diagnosis_scan = {bytes, %zu};\n",
		n);
	return fclose(out) ? 1 : 0;
}
