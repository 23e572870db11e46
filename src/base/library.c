/* Loads libraries on demand; see library.h. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

#ifndef ROCSMITH_STATIC
bool library_open(const char *soname, const char *const *names, void *functions)
{
	void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; lib && names[i]; i++) {
		/* ISO C has no conversion from dlsym()'s result; POSIX guarantees the representation. */
		void *p = dlsym(lib, names[i]);
		memcpy((char *)functions + i * sizeof(p), &p, sizeof(p));
		if (!p)
			return false;
	}
	return lib != NULL;
}
#endif
