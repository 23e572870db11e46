/* Sources of a foreign project: plan/plan_int.h; and patterns over names: base/glob.h. The first line
 * is taken as a pattern and a path as well. */
#include "base/glob.h"
#include "base/vec.h"
#include "plan/plan_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str text = {.p = (const char *)data, .n = size}, pattern, path, line;
	struct cxx_scan s;
	scan_text(&a, text, &s);
	VEC_EACH (struct scan_include, inc, &s.includes)
		if (inc->name.p < text.p || inc->name.p + inc->name.n > text.p + text.n)
			__builtin_trap();
	struct str rest = text;
	if (str_next(&rest, '\n', &line) && line.n < 256) {
		str_cut(line, ' ', &pattern, &path);
		(void)glob_match(pattern, path);
	}
	return 0;
}
