/* liblzma; see xz.h. */
#include "formats/xz.h"

#include <pthread.h>

#define SONAME "liblzma.so.5"

static struct xz xz; /* filled by open_once() */
static bool complete;

static void open_once(void)
{
	static const char *const names[] = {XZ_FUNCTIONS(LIBRARY_NAME)};
	complete = library_open(SONAME, names, sizeof(names) / sizeof(names[0]), &xz);
}

struct err *xz_open(const struct xz **ret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, open_once);
	*ret = &xz;
	if (complete)
		return NULL;
	return err_hint(err_new(E_TOOL_MISSING, "xz files cannot be read without " SONAME),
		"install the package liblzma5");
}
