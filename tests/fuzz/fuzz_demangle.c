/* Mangled names: a kernel's name may be anything, and its text is limited whatever it says: lang/cxx/demangle.h. */
#include <stdint.h>

#include "lang/cxx/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str name = {.p = (const char *)data, .n = size};
	uint64_t work = 0;
	struct str s = cxx_demangle(&a, name, &work);
	if ((s.p != name.p && s.n > DEMANGLED_MAX + size) || work > 1000000)
		__builtin_trap();
	return 0;
}
