/* What code under test leaves: journals and XML, with NULs between them. Each test has one result, and a finding says of what is
 * not as it should be. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "testrun/testrun_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"1.journal", "1.xml", "2.journal", "2.xml", "other"};
	static struct log_patterns *patterns; /* what is known of logs is loaded once */
	ARENA(a);
	const char *tmp = getenv("TMPDIR");
	struct str text, rest = {.p = (const char *)data, .n = size};
	struct str dir = str_fmt(&a, "%s/fuzz-journal-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct test_request q = {.timeout = 1};
	struct test_evidence out;
	const struct test_driver driver = {.xml = true};
	struct test_run r = {.a = &a,
		.q = &q,
		.driver = &driver,
		.out = &out,
		.results.a = &a,
		.excluded.a = &a,
		.patterns = patterns};
	struct test_start s = {.folder = dir,
		.log = S("no.log"),
		.died = S("killed by SIGSEGV"),
		.timed_out = size && data[0] == ' '};
	evidence_begin(&a, &out);
	check(!fs_mkdirs(dir));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct str path = path_join(&a, dir, str_from(names[i]));
		(void)str_cut(rest, 0, &text, &rest);
		check(text.n ? !fs_write(path, text, 0644 | FS_LOOSE) : !fs_remove(path));
	}
	struct err *e = journals_read(&r, &s);
	check(!e || e->code != E_INTERNAL);
	if (!e)
		evidence_judge(&r, &(struct test_skips){0});
	for (size_t i = 0; i < r.results.n; i++) {
		const struct test_result *t = r.results.v[i].value;
		check(str_eq(t->id, r.results.v[i].key) && t->outcome < TEST_OUTCOMES);
		check(e || !out.pass || !test_is_bad(t->outcome));
	}
	check(e || out.tests.n <= r.results.n + r.excluded.n);
	check(junit_text(&a, &out).n && json_document(&a, 0, evidence_fields, &out).n);
	err_free(e);
	patterns = r.patterns;
	err_free(fs_remove_tree(dir));
	return 0;
}
