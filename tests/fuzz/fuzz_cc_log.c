/* cc.jsonl, to which every compiler of another build system's build adds a line, and which that build could change: its steps in
 * the report name only steps before them, and what follows a build takes it all for unknown at worst. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "cc/cc.h"
#include "flow/build.h"
#include "foreign/foreign_int.h"

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
	struct str dir = str_fmt(&a, "%s/fuzz-cc-log-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct foreign f = {.a = &a, .log = dir, .since = 1, .share = 1};
	const struct build_request q = {0};
	struct build_result r = {.foreign = &f};
	struct cc_follow follow;
	struct strs now = {0};
	check(!fs_mkdirs(dir));
	check(!fs_remove(path_join(&a, dir, S("cc.jsonl"))));
	cc_follow_start(dir, dir, 1, 0, &follow);
	check(!fs_write(path_join(&a, dir, S("cc.jsonl")),
		(struct str){.p = (const char *)data, .n = size}, 0644 | FS_LOOSE));
	build_compiles(&q, &r);
	for (size_t i = 0; i < r.compiles.n; i++)
		VEC_EACH (const unsigned, before, &r.compiles.v[i].after)
			check(*before < i);
	err_free(foreign_differences(&f));
	cc_follow_look(&a, &follow, 1, &now);
	check(!isnan(cc_follow_left(&follow, 7)) && cc_follow_left(&follow, 7) >= 0);
	err_free(fs_remove_tree(dir));
	return 0;
}
