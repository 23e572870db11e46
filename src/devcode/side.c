/* Recognizes side files, which a library picks by GPU at run time, by their names. Sources: the file names of Tensile
 * and TensileLite, AOTriton's folders, MIOpen's databases (architecture and number of CUs, glued together), as in
 * rocBLAS 7.2 and hipBLASLt 7.2 of Debian and in AMD's wheels. */
#include "base/fs.h"
#include "devcode/scan.h"

enum { MAX_SETS = 1000 };

/* The first rule that matches counts. */
static const struct side_rule {
	const char *kind, *starts, *ends;
	enum {
		ANY,
		NAMED /* only if the path names a GPU */
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
	{"code", "", ".co", NAMED}, /* libraries that are not listed here have such, too */
	{"code", "", ".hsaco", NAMED},
};

/* The set that a file belongs to, and the target that its path names. dir: the folder above the first one that names a
 * GPU. */
struct side_place {
	const char *kind;
	struct str dir, target; /* target: "" = for all GPUs; in the arena */
};

static bool find_place(struct arena *a, struct str path, struct side_place *ret)
{
	static const char *const features[] = {"xnack+", "xnack-", "sramecc+", "sramecc-", NULL};
	static const char *const libraries[] = {"rocblas", "hipblaslt", "hipsparselt", NULL};
	struct target_word w, above;
	struct str base = path_base(path), rest = base, dir = path_dir(path), words = dir;
	const struct side_rule *r = NULL;
	bool named = target_word(&rest, &w);
	if (!named) {
		rest = path_dir(path);
		named = target_word(&rest, &w);
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) && !r; i++)
		if (str_starts(base, str_from(rules[i].starts)) &&
			str_ends(base, str_from(rules[i].ends)) && (named || rules[i].when == ANY))
			r = &rules[i];
	if (!r)
		return false;
	*ret = (struct side_place){.kind = r->kind, .target = S("")};
	/* a Tensile file belongs to the library whose folder it is in */
	for (size_t i = 0; libraries[i] && str_eq(str_from(r->kind), S("tensile")); i++)
		if (str_contains(dir, str_from(libraries[i]))) {
			ret->kind = libraries[i];
			break;
		}
	while (target_word(&words, &above)) {
		struct str head = str_sub(dir, 0, (size_t)(above.text.p - dir.p));
		size_t slash = str_rchr(head, '/');
		words = dir = str_sub(head, 0, slash < head.n ? slash : 0);
	}
	ret->dir = dir.n ? dir : S(".");
	if (!named)
		return true;
	ret->target = str_dup(a, w.text);
	/* file names spell a feature "gfx90a-xnack+" */
	for (size_t i = 0; features[i]; i++)
		if (rest.n && (*rest.p == '-' || *rest.p == ':') &&
			str_starts(str_sub(rest, 1, rest.n), str_from(features[i])))
			ret->target = str_fmt(a, "%.*s:%s", STR(w.text), features[i]);
	return true;
}

/* Is there code in a .co or .hsaco file for the target that its path names, or for one of the family? */
static bool has_code(const struct devcode_file *f, struct str target)
{
	struct target_word w = {0};
	struct str rest = target;
	struct target want = target_read(target);
	(void)target_word(&rest, &w);
	for (size_t i = 0; f && i < f->objects.n; i++) {
		const struct code_object *o = &f->objects.v[i];
		struct target have = target_read(o->target);
		if (o->size && (str_starts(o->target, str_sub(w.text, 0, w.stem)) ||
				       target_covers(&have, &want)))
			return true;
	}
	return false;
}

bool devcode_is_side(const struct devcode_file *f)
{
	ARENA(tmp);
	struct side_place p;
	return find_place(&tmp, f->path, &p) && p.target.n &&
	       (!str_eq(str_from(p.kind), S("code")) || has_code(f, p.target));
}

void devcode_note_side(struct arena *a, struct devcode *d, struct str path,
	const struct devcode_part *file, const struct devcode_file *content)
{
	static const char *const code[] = {".co", ".hsaco", ".aks2", ".a", NULL};
	static const char *const read[] = {".co", ".hsaco", NULL};
	ARENA(tmp);
	struct side_place p;
	bool there = find_place(&tmp, path, &p);
	if (!there || (str_eq(str_from(p.kind), S("code")) && !has_code(content, p.target)))
		return;
	struct devcode_set *s = NULL;
	VEC_EACH (struct devcode_set, known, &d->sets)
		if (str_eq(known->path, p.dir) && str_eq(str_from(known->kind), str_from(p.kind)))
			s = known;
	if (!s && d->sets.n == MAX_SETS) {
		d->more_sets = true;
		return;
	}
	if (!s) {
		s = VEC_PUSH(a, &d->sets);
		*s = (struct devcode_set){.kind = p.kind, .path = str_dup(a, p.dir)};
	}
	struct devcode_part *x = VEC_FIND(struct devcode_part, &s->parts, target, p.target);
	if (!x && s->parts.n == DEVCODE_TARGETS)
		x = s->parts.v;
	if (!x) {
		x = VEC_PUSH(a, &s->parts);
		x->target = str_dup(a, p.target);
	}
	struct str base = path_base(path);
	bool is_code = str_ends_one_of(base, code);
	if (content && p.target.n && str_ends_one_of(base, read))
		is_code = has_code(content, p.target);
	x->files += file->files;
	x->size += file->size;
	x->stored += file->stored;
	x->entry = x->entry || str_starts(base, S("TensileLibrary_lazy_"));
	x->code = x->code || is_code;
	x->tuned = x->tuned || (is_code && str_starts(base, S("TensileLibrary_")) &&
				       !str_contains(base, S("fallback")));
}

/* ---- judging sets ---- */

static struct str processor_of(const struct devcode_part *x)
{
	return str_sub(x->target, 0, str_chr(x->target, ':'));
}

/* The parts of all feature variants of a processor, merged. */
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
	/* a call fails without code for its GPU; without MIOpen's and rocFFT's files it is only slower */
	*ret_needed = false;
	VEC_EACH (const struct devcode_part, x, &s->parts) {
		*ret_needed = *ret_needed || (x->code && x->target.n);
		lazy = lazy || x->entry;
	}
	VEC_EACH (const struct devcode_part, x, &s->parts) {
		struct target_word w;
		struct str rest = x->target;
		struct target have = target_read(x->target);
		bool serves = x->code && want->gpu && target_word(&rest, &w) &&
			      (target_word_is(&w, want->gpu) || target_covers(&have, want));
		one = one || (serves && (!lazy || together(s, processor_of(x)).entry));
	}
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
		VEC_SORT(&s->parts, target_order_first);
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
				finding_note(a, &d->findings, lacks[i].id, s->path, "%s %.*s",
					lacks[i].text, STR(str_join(&tmp, &bad[i], S(", "))));
	}
}
