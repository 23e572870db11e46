/* Hyperscan, opened when it is needed; see scan.h. */
#include "know/scan.h"

#ifdef HAVE_HYPERSCAN
#include <dlfcn.h>
#include <hs/hs.h>
#include <stdlib.h>

/* tools/gen_scan.c has the same. */
#define SCAN_FLAGS(p) (HS_FLAG_MULTILINE | ((p).once ? HS_FLAG_SINGLEMATCH : 0U))
#define SONAME "libhs.so.5" /* of Hyperscan 5 and of Vectorscan */
#define HYPERSCAN_FUNCTIONS(X)                                                                     \
	X(hs_compile_multi)                                                                        \
	X(hs_deserialize_database)                                                                 \
	X(hs_free_compile_error)                                                                   \
	X(hs_free_database)                                                                        \
	X(hs_alloc_scratch)                                                                        \
	X(hs_free_scratch)                                                                         \
	X(hs_scan)

struct scan {
	hs_database_t *db;
	hs_scratch_t *scratch;
#define X(name) __typeof__(name) *name;
	HYPERSCAN_FUNCTIONS(X)
#undef X
};

struct target {
	scan_hit *hit;
	void *user;
};

/* The library stays open: it has no state that could grow. */
static bool load(struct scan *s)
{
	void *lib = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	bool complete = lib != NULL;
#define X(name)                                                                                    \
	{                                                                                          \
		void *p = lib ? dlsym(lib, #name) : NULL;                                          \
		memcpy(&s->name, &p, sizeof(p));                                                   \
		complete = complete && p;                                                          \
	}
	HYPERSCAN_FUNCTIONS(X)
#undef X
	return complete;
}

static struct err *compile(struct scan *s, const struct scan_pattern *patterns, size_t n)
{
	ARENA(tmp);
	const char **texts = arena_array(&tmp, n, sizeof(*texts));
	unsigned *flags = arena_array(&tmp, n, sizeof(*flags)),
		 *ids = arena_array(&tmp, n, sizeof(*ids));
	for (unsigned i = 0; i < n; i++) {
		texts[i] = patterns[i].text;
		flags[i] = SCAN_FLAGS(patterns[i]);
		ids[i] = i;
	}
	hs_compile_error_t *why = NULL;
	if (s->hs_compile_multi(texts, flags, ids, (unsigned)n, HS_MODE_BLOCK, NULL, &s->db,
		    &why) == HS_SUCCESS)
		return NULL;
	struct err *e = err_new(E_INTERNAL, "the pattern '%s' cannot be used: %s",
		why && why->expression >= 0 ? texts[why->expression] : "",
		why ? why->message : "no reason given");
	s->hs_free_compile_error(why);
	return e;
}

struct err *scan_new(
	const struct scan_pattern *patterns, size_t n, struct str ready, struct scan **ret)
{
	CLEANUP(scan_freep) struct scan *s = calloc(1, sizeof(*s));
	if (!s || !load(s))
		return err_hint(err_new(E_TOOL_MISSING, "logs cannot be searched without " SONAME),
			"install the package libhyperscan5 or libvectorscan5");
	if (!ready.n || s->hs_deserialize_database(ready.p, ready.n, &s->db) != HS_SUCCESS)
		TRY(compile(s, patterns, n));
	if (s->hs_alloc_scratch(s->db, &s->scratch) != HS_SUCCESS)
		return err_new(E_INTERNAL, "Hyperscan cannot use its patterns");
	*ret = s;
	s = NULL;
	return NULL;
}

void scan_freep(struct scan **s)
{
	if (*s && (*s)->scratch)
		(*s)->hs_free_scratch((*s)->scratch);
	if (*s && (*s)->db)
		(*s)->hs_free_database((*s)->db);
	free(*s);
	*s = NULL;
}

static int on_match(
	unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *user)
{
	const struct target *t = user;
	(void)from;
	(void)flags;
	t->hit(t->user, id, (size_t)to);
	return 0;
}

struct err *scan_block(struct scan *s, struct str block, scan_hit *hit, void *user)
{
	struct target t = {hit, user};
	if (block.n && s->hs_scan(s->db, block.p, (unsigned)block.n, 0, s->scratch, on_match, &t) !=
			       HS_SUCCESS)
		return err_new(E_INTERNAL, "Hyperscan cannot search a block");
	return NULL;
}

#else

struct err *scan_new(
	const struct scan_pattern *patterns, size_t n, struct str ready, struct scan **ret)
{
	(void)patterns;
	(void)n;
	(void)ready;
	*ret = NULL;
	return err_hint(
		err_new(E_TOOL_MISSING,
			"this rocsmith was built without Hyperscan: logs cannot be searched"),
		"install libhyperscan-dev (libvectorscan-dev where the CPU is not x86-64), and "
		"build again");
}

void scan_freep(struct scan **s)
{
	*s = NULL;
}

struct err *scan_block(struct scan *s, struct str block, scan_hit *hit, void *user)
{
	(void)s;
	(void)block;
	(void)hit;
	(void)user;
	return NULL;
}
#endif
