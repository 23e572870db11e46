/* Making files smaller: whatever comes in, it is refused, or the result was proved, is not larger by more than what
 * compressing anew may cost, and has none of the code that was to go. */
#include <stdlib.h>

#include "base/fs.h"
#include "slim/slim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static struct err *slim(
	struct arena *a, const struct bytes *src, const struct slim_keep *k, struct str path)
{
	CLEANUP(fs_out_abandon) struct fs_out out = {.fd = -1, .dir = -1};
	struct slim_plan p, again;
	TRY(slim_read(a, src, k, &p));
	TRY(fs_out_open(&out, path, 0600));
	TRY(slim_write(&p, &out));
	struct bytes now = bytes_fd(out.fd, out.offset);
	check(p.after == out.offset);
	struct err *e = slim_read(a, &now, k, &again);
	check(!e && !again.changed && again.bundles.n == p.bundles.n);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *dir = getenv("TMPDIR");
	ARENA(a);
	struct bytes src = bytes_mem((struct str){.p = (const char *)data, .n = size});
	struct target gpu = target_read(S("gfx1100"));
	static int scratch = -1;
	struct slim_keep k = {.v = &gpu, .n = 1, .strip = size % 2};
	struct budget budget;
	if (scratch < 0)
		err_free(fs_tempfile(&scratch));
	k.scratch = scratch;
	budget_set(&budget, size);
	src.budget = &budget;
	/* it never gets its name */
	err_free(slim(&a, &src, &k, path_join(&a, str_from(dir ? dir : "/tmp"), S("fuzz-slim"))));
	return 0;
}
