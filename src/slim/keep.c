/* Decides which device code stays: targets in bundles, and side files that name a GPU. Reports what became of them. See
 * slim.h. */
#include "base/glob.h"
#include "slim/slim.h"

/* A generic target's kernels run on the GPUs that it covers; a request for a generic target means all of them. */
static bool serves(const struct target *have, const struct target *want)
{
	return target_covers(have, want) || target_covers(want, have);
}

bool slim_keeps(const struct slim_keep *k, struct str target)
{
	struct target have = target_read(target);
	bool keep = k->none ? !target.n : !have.gpu || !k->n;
	for (size_t i = 0; i < k->n && !keep; i++) {
		const struct target *want = &k->v[i];
		keep = !k->exact ? serves(&have, want)
				 : have.gpu == want->gpu && have.xnack == want->xnack &&
					   have.sramecc == want->sramecc;
	}
	return keep;
}

/* Does code for any variant of this GPU stay? Its name without features stands for all of them. */
static bool keeps_gpu(const struct slim_keep *k, const struct gpu *gpu)
{
	struct target have = target_read(str_from(gpu->name));
	for (size_t i = 0; i < k->n; i++)
		if (gpu == k->v[i].gpu || (!k->exact && serves(&have, &k->v[i])))
			return true;
	return !k->n && !k->none;
}

static bool is_side(struct str path)
{
	static const char *const ends[] = {".dat", ".co", ".hsaco", ".aks2", ".kdb", ".db",
		".db.txt", ".fdb.txt", ".model", ".a", "/TensileManifest.txt", NULL};
	return str_ends_one_of(path, ends);
}

/* A glob with a slash is matched against the path and the folders above it, others against each component. */
static bool takes(struct str glob, struct str path)
{
	bool whole = str_chr(glob, '/') < glob.n;
	for (size_t to = 0, from = 0; to <= path.n; to++) {
		if (to < path.n && path.p[to] != '/')
			continue;
		if (glob_match(glob, str_sub(path, whole ? 0 : from, to)))
			return true;
		from = to + 1;
	}
	return false;
}

bool slim_leaves_out(const struct slim_keep *k, struct str path)
{
	for (size_t i = 0; k->without && i < k->without->n; i++)
		if (takes(k->without->v[i], path))
			return true;
	return false;
}

bool slim_keeps_file(const struct slim_keep *k, struct str path)
{
	struct target_word w;
	if (slim_leaves_out(k, path))
		return false;
	bool side = is_side(path), others = false;
	while (side && target_word(&path, &w)) {
		TABLE_EACH (gpu, g)
			if (target_word_is(&w, g) && keeps_gpu(k, g))
				return true;
		others = true;
	}
	return !others;
}

/* True for "gfx9", "gfx11" and their like, false for "gfx90" and "gfx110". */
static bool is_major(struct str stem)
{
	return stem.n == 4 || (stem.n == 5 && stem.p[3] == '1');
}

struct str slim_file_owner(struct arena *a, struct str path)
{
	struct str owner = S("");
	struct target_word w;
	bool side = is_side(path);
	while (side && target_word(&path, &w)) {
		struct str key = str_sub(w.text, 0, w.stem), major = str_sub(key, 0, w.stem - 1);
		/* AMD's names of its families: "gfx11xx" -> "gfx11", "gfx110x", "gfx120x" -> "gfx12_0" */
		if (w.stem < w.text.n && !is_major(key))
			key = str_eq(major, S("gfx11"))
				      ? str_fmt(a, "%.*sx", STR(key))
				      : str_fmt(a, "%.*s_%c", STR(major), key.p[w.stem - 1]);
		if (owner.n && !str_eq(owner, key))
			return S("");
		owner = key;
	}
	return owner;
}

bool slim_owner_covers(struct str owner, struct str gpu)
{
	ARENA(tmp);
	struct str stem = str_replace(&tmp, owner, S("_"), S(""));
	stem.n -= str_ends(stem, S("x"));
	if (str_eq(owner, gpu) || gpu_by_name(owner))
		return str_eq(owner, gpu);
	return str_starts(gpu, stem) && gpu.n == stem.n + (is_major(stem) ? 2 : 1);
}

/* ---- the report ---- */

/* Code that is here: the bytes of an entry that was punched out before are not. */
static bool has_code(const struct slim_sum *s, const struct slim_keep *k, bool stays)
{
	return s->bytes && slim_keeps(k, s->target) == stays;
}

static struct str names_of(struct arena *a, const struct slim_sums *sums)
{
	struct strs names = {0};
	MAP(seen, a);
	VEC_EACH (const struct slim_sum, s, sums)
		if (s->bytes && map_put(&seen, s->target, &seen))
			strs_add(a, &names, s->target);
	targets_sort(&names);
	return str_join(a, &names, S(", "));
}

void slim_note(struct arena *a, struct slim_report *r, struct str path, uint64_t before,
	const struct slim_plan *p)
{
	uint64_t after = p ? p->after : 0;
	bool had = false, left = false;
	r->before += before;
	r->after += after;
	r->stripped += p ? p->stripped : 0;
	for (size_t i = 0; p && i < p->targets.n; i++) {
		const struct slim_sum *s = &p->targets.v[i];
		slim_sum_add(a, &r->targets, s);
		had = had || has_code(s, p->keep, false);
		left = left || has_code(s, p->keep, true);
	}
	if (had && !left)
		*VEC_PUSH(a, &r->emptied) = (struct slim_refused){str_dup(a, path),
			str_fmt(a, "it had code for %.*s only", STR(names_of(a, &p->targets)))};
	if (!p || p->changed)
		*VEC_PUSH(a, &r->files) = (struct slim_done){str_dup(a, path), before, after};
}

void slim_note_side(
	struct arena *a, const struct slim_keep *k, struct slim_report *r, struct str path)
{
	struct target_word w;
	struct str rest = path, dir;
	if (!is_side(path) || slim_leaves_out(k, path) || !target_word(&rest, &w))
		return;
	/* the first word is the GPU: all above it belongs together */
	for (dir = str_sub(path, 0, str_find(path, w.text)); dir.n && dir.p[dir.n - 1] != '/';)
		dir.n--;
	r->sides.a = a;
	struct slim_side *side = map_get(&r->sides, dir);
	if (!side) {
		side = NEW(a, struct slim_side);
		map_put(&r->sides, str_dup(a, dir), side);
	}
	bool keep = slim_keeps_file(k, path);
	side->kept = side->kept || keep;
	side->gone = side->gone || !keep;
}

struct err *slim_check_served(
	struct arena *a, const struct slim_report *r, const struct slim_keep *k)
{
	bool code = false, files = false, stay = false;
	VEC_EACH (const struct slim_sum, s, &r->targets) {
		if (has_code(s, k, true))
			return NULL;
		code = code || has_code(s, k, false);
	}
	VEC_EACH (const struct map_entry, e, &r->sides) {
		const struct slim_side *s = e->value;
		files = files || s->gone;
		stay = stay || s->kept;
	}
	struct str gpus = str_join(a, &r->gpus, S(", "));
	if (code)
		return err_hint(
			err_new(E_NOTHING, "'%.*s' has no code for %.*s: nothing would be left",
				STR(r->path), STR(gpus)),
			"it has code for %.*s", STR(names_of(a, &r->targets)));
	return files && !stay ? err_new(E_NOTHING,
					"'%.*s' has files for other GPUs than %.*s only: nothing "
					"would be left",
					STR(r->path), STR(gpus))
			      : NULL;
}

struct err *slim_judge(
	struct arena *a, const struct slim_keep *k, bool again, struct slim_report *r)
{
	bool code = false;
	TRY(slim_check_served(a, r, k));
	VEC_EACH (const struct map_entry, e, &r->sides) {
		const struct slim_side *s = e->value;
		if (s->gone && !s->kept)
			*VEC_PUSH(a, &r->emptied) =
				(struct slim_refused){e->key.n ? e->key : S("./"),
					S("its files were for other GPUs only")};
	}
	VEC_EACH (const struct slim_sum, s, &r->targets)
		code = code || s->bytes;
	for (size_t i = 0; code && i < k->n; i++) {
		const struct slim_keep one = {.v = &k->v[i], .n = 1, .exact = k->exact};
		bool served = false;
		VEC_EACH (const struct slim_sum, s, &r->targets)
			served = served || has_code(s, &one, true);
		if (!served)
			strs_put(a, &r->absent, k->v[i].name);
	}
	if (r->files.n || r->refused.n || again)
		return NULL;
	return err_hint(
		err_new(E_NOTHING, "there is nothing to take out of '%.*s': %.*s", STR(r->path),
			STR(r->sides.n && !code ? S("its files are for these GPUs already")
				: !code         ? S("it has no bundles of linked device code")
				: !k->n         ? S("its code is as small already")
						: str_fmt(a, "all of its code is for %.*s",
							  STR(names_of(a, &r->targets))))),
		"use '%.*s' as it is: nothing was written", STR(r->path));
}

struct err *slim_check_without(const struct slim_report *r)
{
	VEC_EACH (const struct str, glob, &r->without) {
		bool hit = false;
		VEC_EACH (const struct slim_done, f, &r->files)
			hit = hit || (!f->after && takes(*glob, f->path));
		if (!hit)
			return err_new(E_USAGE, "nothing in '%.*s' has a name like '%.*s'",
				STR(r->path), STR(*glob));
	}
	return NULL;
}
