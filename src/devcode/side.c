/* Files beside libraries that are chosen by GPU when the library runs: what they are is told by their names. Sources:
 * Tensile's and TensileLite's file names, AOTriton's folders, MIOpen's databases (arch and number of CUs, glued
 * together), as rocBLAS 7.2 and hipBLASLt 7.2 of Debian and AMD's wheels have them. */
#include <stdlib.h>

#include "base/fs.h"
#include "devcode/scan.h"

enum { MAX_SETS = 1000 };

/* The first that fits. */
static const struct rule {
	const char *kind, *starts, *ends;
	enum {
		ANY,
		NAMED,  /* only with a GPU in its name */
		UNKNOWN /* the same, of no library that is known: where that is asked for */
	} when;
} rules[] = {
	{"tensile", "TensileLibrary", "", ANY},
	{"tensile", "TensileLiteLibrary", "", ANY},
	{"tensile", "TensileManifest.txt", "", ANY},
	{"tensile", "Kernels.so-", ".hsaco", ANY},
	{"tensile", "extop_", ".co", ANY},
	{"tensile", "hipblaslt", ".dat", ANY},
	{"tensile", "hipblaslt", ".hsaco", ANY},
	{"tensile", "hipsparselt", ".dat", ANY},
	{"tensile", "hipsparselt", ".hsaco", ANY},
	{"aotriton", "", ".aks2", ANY},
	{"miopen", "", ".kdb", NAMED},
	{"miopen", "", ".db", NAMED},
	{"miopen", "", ".db.txt", NAMED},
	{"miopen", "", ".fdb.txt", NAMED},
	{"miopen", "", ".model", NAMED},
	{"rocfft", "rocfft_kernel_cache", ".db", ANY},
	{"ck", "libdevice_", ".a", NAMED},
	{"code", "", ".co", UNKNOWN},
	{"code", "", ".hsaco", UNKNOWN},
};

/* Tensile's files are of the library whose folder they are in. */
static const char *kind_of(const struct rule *r, struct str path)
{
	static const char *const libraries[] = {"rocblas", "hipblaslt", "hipsparselt"};
	for (size_t i = 0; i < 3 && str_eq(str_from(r->kind), S("tensile")); i++)
		if (str_contains(path_dir(path), str_from(libraries[i])))
			return libraries[i];
	return r->kind;
}

/* Where a file belongs: the folder above the first one with a GPU's name, and its target in words of its own. */
struct place {
	const char *kind;
	struct str dir, target; /* target: "" = for all; in the arena */
};

/* "gfx90a-xnack+" is how files spell a feature. */
static struct str target_text_of(struct arena *a, const struct target_word *w, struct str rest)
{
	static const char *const features[] = {"xnack+", "xnack-", "sramecc+", "sramecc-", NULL};
	for (size_t i = 0; features[i]; i++)
		if (rest.n && (*rest.p == '-' || *rest.p == ':') &&
			str_starts(str_sub(rest, 1, rest.n), str_from(features[i])))
			return str_fmt(a, "%.*s:%s", STR(w->text), features[i]);
	return str_dup(a, w->text);
}

static struct str folder_above(struct str path)
{
	struct target_word w;
	struct str dir = path_dir(path), rest = dir;
	while (target_word(&rest, &w)) {
		struct str head = str_sub(dir, 0, (size_t)(w.text.p - dir.p));
		size_t slash = str_rchr(head, '/');
		rest = dir = str_sub(head, 0, slash < head.n ? slash : 0);
	}
	return dir.n ? dir : S(".");
}

static bool place_of(struct arena *a, const struct devcode *d, struct str path, struct place *ret)
{
	struct target_word w;
	struct str base = path_base(path), rest = base;
	const struct rule *r = NULL;
	struct str dir = folder_above(path);
	bool named = target_word(&rest, &w);
	if (!named) {
		rest = path_dir(path);
		named = target_word(&rest, &w);
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) && !r; i++)
		if (str_starts(base, str_from(rules[i].starts)) &&
			str_ends(base, str_from(rules[i].ends)) &&
			(named || rules[i].when == ANY) && (d->unknown || rules[i].when != UNKNOWN))
			r = &rules[i];
	if (!r)
		return false;
	*ret = (struct place){.kind = kind_of(r, path),
		.dir = dir,
		.target = named ? target_text_of(a, &w, rest) : S("")};
	return true;
}

bool devcode_is_side(const struct devcode *d, struct str path)
{
	ARENA(tmp);
	struct place p;
	return place_of(&tmp, d, path, &p) && p.target.n;
}

static struct devcode_set *set_of(struct arena *a, struct devcode *d, const struct place *p)
{
	VEC_EACH (struct devcode_set, s, &d->sets)
		if (str_eq(s->path, p->dir) && str_eq(str_from(s->kind), str_from(p->kind)))
			return s;
	if (d->sets.n == MAX_SETS)
		return NULL;
	struct devcode_set *s = VEC_PUSH(a, &d->sets);
	*s = (struct devcode_set){.kind = p->kind, .path = str_dup(a, p->dir)};
	return s;
}

static struct devcode_part *part_of(struct arena *a, struct devcode_set *s, struct str target)
{
	VEC_EACH (struct devcode_part, x, &s->parts)
		if (str_eq(x->target, target))
			return x;
	if (s->parts.n == DEVCODE_TARGETS)
		return s->parts.v;
	struct devcode_part *x = VEC_PUSH(a, &s->parts);
	x->target = str_dup(a, target);
	return x;
}

void devcode_note_side(
	struct arena *a, struct devcode *d, struct str path, const struct devcode_part *file)
{
	static const char *const code[] = {".co", ".hsaco", ".aks2", ".a", NULL};
	ARENA(tmp);
	struct place p;
	if (!place_of(&tmp, d, path, &p))
		return;
	struct devcode_set *s = set_of(a, d, &p);
	if (!s)
		return;
	struct devcode_part *x = part_of(a, s, p.target);
	struct str base = path_base(path);
	bool is_code = false;
	for (size_t i = 0; code[i]; i++)
		is_code = is_code || str_ends(base, str_from(code[i]));
	x->files += file->files;
	x->size += file->size;
	x->stored += file->stored;
	x->entry = x->entry || str_starts(base, S("TensileLibrary_lazy_"));
	x->code = x->code || is_code;
	x->tuned = x->tuned || (is_code && str_starts(base, S("TensileLibrary_")) &&
				       !str_contains(base, S("fallback")));
}

/* ---- what the sets come to ---- */

/* Without these files a call fails; without MIOpen's and rocFFT's it is only slower. */
static bool is_needed(const struct devcode_set *s)
{
	bool code = false;
	VEC_EACH (const struct devcode_part, x, &s->parts)
		code = code || (x->code && x->target.n);
	return code;
}

static bool part_serves(const struct devcode_part *x, const struct target *want)
{
	struct target_word w;
	struct str rest = x->target;
	struct target have = target_read(x->target);
	return x->code && want->gpu && target_word(&rest, &w) &&
	       (target_word_is(&w, want->gpu) || target_covers(&have, want));
}

static struct str processor_of(const struct devcode_part *x)
{
	return str_sub(x->target, 0, str_chr(x->target, ':'));
}

/* Of all variants of a processor together. */
static struct devcode_part together(const struct devcode_set *s, struct str processor)
{
	struct devcode_part all = {.target = processor};
	VEC_EACH (const struct devcode_part, x, &s->parts) {
		if (!str_eq(processor_of(x), processor))
			continue;
		all.entry = all.entry || x->entry;
		all.code = all.code || x->code;
		all.tuned = all.tuned || x->tuned;
	}
	return all;
}

bool devcode_set_serves(const struct devcode_set *s, const struct target *want, bool *ret_needed)
{
	bool one = false, lazy = false;
	*ret_needed = is_needed(s);
	VEC_EACH (const struct devcode_part, x, &s->parts)
		lazy = lazy || x->entry;
	VEC_EACH (const struct devcode_part, x, &s->parts)
		one = one ||
		      (part_serves(x, want) && (!lazy || together(s, processor_of(x)).entry));
	return one || !*ret_needed;
}

bool sides_serve(const struct devcode *d, const struct target *want, bool *ret_any)
{
	bool all = true, needed;
	*ret_any = false;
	VEC_EACH (const struct devcode_set, s, &d->sets) {
		all = devcode_set_serves(s, want, &needed) && all;
		*ret_any = *ret_any || needed;
	}
	return all;
}

static int by_target(const void *x, const void *y)
{
	return target_order(
		((const struct devcode_part *)x)->target, ((const struct devcode_part *)y)->target);
}

enum { NO_ENTRY, SLOW, LACKS };

static const struct {
	const char *id, *text;
} lacks[LACKS] = {
	[NO_ENTRY] = {"tensile-entry-missing",
		"there are kernels, but no TensileLibrary_lazy_*.dat, so none will be found, for"},
	[SLOW] = {"tensile-fallback-only",
		"only fallback kernels, so matrix products will be slow, for"},
};

void sides_judge(struct arena *a, struct devcode *d)
{
	VEC_EACH (const struct devcode_set, s, &d->sets) {
		ARENA(tmp);
		struct strs bad[LACKS] = {0};
		bool lazy = false, tuned = false;
		if (s->parts.n)
			qsort(s->parts.v, s->parts.n, sizeof(*s->parts.v), by_target);
		VEC_EACH (const struct devcode_part, x, &s->parts) {
			lazy = lazy || x->entry;
			tuned = tuned || x->tuned;
		}
		VEC_EACH (const struct devcode_part, x, &s->parts) {
			struct str name = processor_of(x);
			struct devcode_part all = together(s, name);
			if (name.n && lazy && all.code && !all.entry)
				strs_put(&tmp, &bad[NO_ENTRY], name);
			if (name.n && tuned && all.code && all.entry && !all.tuned)
				strs_put(&tmp, &bad[SLOW], name);
		}
		for (size_t i = 0; i < LACKS; i++)
			if (bad[i].n)
				finding_say(a,
					finding_add(
						a, &d->findings, lacks[i].id, SEV_WARNING, s->path),
					"%s %.*s", lacks[i].text,
					STR(str_join(&tmp, &bad[i], S(", "))));
	}
}
