/* JUnit XML from bytes, and back: what was read is written by us, and must read as the same tests. */
#include <stdlib.h>

#include "testrun/testrun.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct test_evidence e = {0}, again = {0};
	struct str text = {.p = (const char *)data, .n = size};
	CLEANUP(err_freep) struct err *wrong = junit_parse(&a, text, S("fuzz.xml"), &e);
	if (wrong)
		return 0;
	CLEANUP(err_freep)
	struct err *odd = junit_parse(&a, junit_text(&a, &e), S("again.xml"), &again);
	if (odd || again.tests.n != e.tests.n)
		abort();
	for (size_t i = 0; i < e.tests.n; i++)
		if (!str_eq(e.tests.v[i].id, again.tests.v[i].id) ||
			e.tests.v[i].outcome != again.tests.v[i].outcome)
			abort();
	return 0;
}
