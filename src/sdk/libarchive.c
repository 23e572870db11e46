/* Opening libarchive at first use; see libarchive.h. */
#include "sdk/libarchive.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define SONAME "libarchive.so.13" /* since libarchive 3.0 */

struct libarchive la;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool complete;

static void open_once(void)
{
	void *lib = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	complete = lib != NULL;
	/* ISO C has no conversion from dlsym()'s result, POSIX guarantees the representation. */
#define X(name)                                                                                    \
	{                                                                                          \
		void *p = lib ? dlsym(lib, #name) : NULL;                                          \
		memcpy(&la.name, &p, sizeof(p));                                                   \
		complete = complete && p;                                                          \
	}
	LIBARCHIVE_FUNCTIONS(X)
#undef X
}

struct err *libarchive_open(void)
{
	pthread_once(&once, open_once);
	if (complete)
		return NULL;
	return err_hint(err_new(E_TOOL_MISSING, "packages cannot be unpacked without " SONAME),
		"install the package libarchive13 or libarchive13t64");
}
