/* Opens and calls Hyperscan; see scan.h. */
#include "know/scan.h"

#ifdef HAVE_HYPERSCAN
#include <hs/hs.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/library.h"

#define SONAME "libhs.so.5" /* both Hyperscan 5 and Vectorscan */
#define HYPERSCAN_FUNCTIONS(X)                                                                     \
	X(hs_deserialize_database)                                                                 \
	X(hs_free_database)                                                                        \
	X(hs_alloc_scratch)                                                                        \
	X(hs_free_scratch)                                                                         \
	X(hs_scan)

struct log_scan {
	hs_database_t *db;
	hs_scratch_t *scratch;
	struct hyperscan {
		HYPERSCAN_FUNCTIONS(LIBRARY_MEMBER)
	} hs;
};

/* Loads the patterns that tools/gen_scan.c compiled. Returns false if the library's version or the CPU is another
 * one. */
static bool restore(struct log_scan *s, struct str ready)
{
	enum { MOST = 64 << 20 };
	unsigned long long n = ready.n ? ZSTD_getFrameContentSize(ready.p, ready.n) : MOST;
	char *bytes = n < MOST ? malloc((size_t)n) : NULL;
	bool good = bytes && ZSTD_decompress(bytes, (size_t)n, ready.p, ready.n) == n &&
		    s->hs.hs_deserialize_database(bytes, (size_t)n, &s->db) == HS_SUCCESS;
	free(bytes);
	return good;
}

struct err *scan_new(struct str ready, struct log_scan **ret)
{
	CLEANUP(scan_freep) struct log_scan *s = calloc(1, sizeof(*s));
	if (!s || !LIBRARY_OPEN(SONAME, HYPERSCAN_FUNCTIONS, &s->hs))
		return err_hint(err_new(E_TOOL_MISSING, "logs cannot be searched without " SONAME),
			"install the package libhyperscan5 or libvectorscan5");
	if (!restore(s, ready))
		return err_hint(err_new(E_TOOL_MISSING,
					"logs cannot be searched by this " SONAME " on this CPU"),
			"build rocsmith again if Hyperscan was replaced since; on x86-64 it needs "
			"a CPU with SSSE3");
	if (s->hs.hs_alloc_scratch(s->db, &s->scratch) != HS_SUCCESS)
		return err_new(E_INTERNAL, "Hyperscan cannot use its patterns");
	*ret = s;
	s = NULL;
	return NULL;
}

void scan_freep(struct log_scan **s)
{
	if (*s && (*s)->scratch)
		(*s)->hs.hs_free_scratch((*s)->scratch);
	if (*s && (*s)->db)
		(*s)->hs.hs_free_database((*s)->db);
	free(*s);
	*s = NULL;
}

struct err *scan_block(struct log_scan *s, struct str block, scan_hit *hit, void *user)
{
	hs_error_t result = HS_SUCCESS;
	if (block.n)
		result = s->hs.hs_scan(s->db, block.p, (unsigned)block.n, 0, s->scratch, hit, user);
	if (result != HS_SUCCESS && result != HS_SCAN_TERMINATED)
		return err_new(E_INTERNAL, "Hyperscan cannot search a block");
	return NULL;
}

#else

struct err *scan_new(struct str ready, struct log_scan **ret)
{
	(void)ready;
	*ret = NULL;
	return err_hint(
		err_new(E_TOOL_MISSING,
			"this rocsmith was built without Hyperscan: logs cannot be searched"),
		"install libhyperscan-dev (libvectorscan-dev where the CPU is not x86-64), and "
		"build again");
}

void scan_freep(struct log_scan **s)
{
	*s = NULL;
}

struct err *scan_block(struct log_scan *s, struct str block, scan_hit *hit, void *user)
{
	(void)s;
	(void)block;
	(void)hit;
	(void)user;
	return NULL;
}
#endif
