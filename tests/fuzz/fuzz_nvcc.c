/* An options file of nvcc, as projects make them: an error, or the words of one command. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
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
	const char *tmp = getenv("TMPDIR");
	struct str text = {.p = (const char *)data, .n = size};
	struct str file = str_fmt(&a, "%s/fuzz-nvcc-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct strs args = {0};
	struct nvcc call;
	if (str_contains(text, S("opt")))
		return 0; /* files that it names would be read, whatever they are */
	check(!fs_write(file, text, 0644 | FS_LOOSE));
	strs_fmt(&a, &args, "--options-file=%.*s", STR(file));
	struct err *e = nvcc_read(&a, &args, &call);
	check(!e || e->code == E_USAGE);
	check(e || call.cuda.n <= call.sources.n);
	check(e || call.sources.n + call.objects.n <= size / 2 + 1);
	err_free(e);
	err_free(fs_remove(file));
	return 0;
}
