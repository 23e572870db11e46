/* Command lines of compilers, one word a line: what is said of them agrees with itself. */
#include <stdlib.h>

#include "cc/cc_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str text = {.p = (const char *)data, .n = size}, name, word;
	struct strs args = {0};
	if (!str_next(&text, '\n', &name))
		return 0;
	while (str_next(&text, '\n', &word))
		strs_add(&a, &args, word);
	struct cc_words w = cc_words(name, &args, S("/"));
	check(!w.links || w.input.n);
	check(!w.driver || w.links || w.kind != CC_LINK);
	check(!w.input.n || w.input.p[0] != '-' || w.input.n == 1);
	check(cc_kind_names[w.kind] != NULL);
	struct cc cc = {.name = name};
	struct history_key one = history_key(&cc, &args, &w), two = history_key(&cc, &args, &w);
	for (unsigned by = 0; by < HISTORY_KEYS; by++)
		check(one.hash[by] == two.hash[by] && one.hash[by]);
	struct nvcc call;
	if (str_contains((struct str){.p = (const char *)data, .n = size}, S("opt")))
		return 0; /* files with options would be read, whatever their names are */
	struct err *e = nvcc_read(&a, &args, &call);
	check(e || call.sources.n + call.objects.n <= args.n);
	check(e || call.cuda.n <= call.sources.n);
	err_free(e);
	return 0;
}
