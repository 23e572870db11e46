/* Code beside the libraries (Tensile's .co, .hsaco and .dat, AOTriton's .aks2), a file or a folder for each GPU: all those of
 * one folder together must have what is required. Some of ROCm's libraries are not built for all GPUs; then whoever
 * uses them does without. Databases of MIOpen only make it faster, and are not asked for. */
#include "base/fs.h"
#include "verify/exam.h"

/* Parts of paths, and the GPUs that these libraries are built for. Source: ROCm/TheRock,
 * cmake/therock_amdgpu_targets.cmake of 2026-08 (excluded projects), and ROCm/aotriton, README of 2026-08. */
static const struct {
	const char *part;
	const char *const gpus[12];
} partial[] = {
	{"hipsparselt", {"gfx942", "gfx950", "gfx125"}},
	{"hipblaslt", {"gfx908", "gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"}},
	{"aotriton", {"gfx90a", "gfx942", "gfx950", "gfx11", "gfx12"}},
};

static bool unbuilt(struct str path, struct str gpu)
{
	ARENA(tmp);
	struct str lower = str_lower(&tmp, path);
	for (size_t i = 0; i < sizeof(partial) / sizeof(partial[0]); i++) {
		bool built = false;
		if (!str_contains(lower, str_from(partial[i].part)))
			continue;
		for (size_t k = 0; partial[i].gpus[k]; k++)
			built = built || str_starts(gpu, str_from(partial[i].gpus[k]));
		if (!built)
			return true;
	}
	return false;
}

static bool side_is_for(struct str path, struct str gpu)
{
	struct target t = target_read(gpu);
	return slim_keeps_file(&(struct slim_keep){.v = &t, .n = 1}, path);
}

bool side_is_one(struct str path)
{
	static const char *const ends[] = {".co", ".hsaco", ".dat", ".aks2", NULL};
	bool code = false;
	for (size_t i = 0; ends[i]; i++)
		code = code || str_ends(path, str_from(ends[i]));
	return code && !side_is_for(path, S("gfx000"));
}

/* The folder of the set: what is in front of the part that names a GPU. */
static struct str set_of(struct str path)
{
	return path_dir(str_sub(path, 0, str_find(path, S("gfx"))));
}

struct set {
	struct str folder;
	struct strs files;
};

static struct err *find_sets(struct exam *x, struct map *ret)
{
	for (size_t i = 0; i < x->n; i++) {
		struct str path = x->members[i].zip->name;
		TRY(budget_work(x->zip.src.budget, SIDE_COST * path.n));
		if (x->members[i].skip || !side_is_one(path))
			continue;
		struct str folder = set_of(path);
		struct set *s = map_get(ret, folder);
		if (!s) {
			s = NEW(x->a, struct set);
			s->folder = folder;
			map_put(ret, folder, s);
		}
		strs_add(x->a, &s->files, path);
	}
	return NULL;
}

static struct err *has(struct exam *x, const struct set *s, struct str gpu, bool *ret)
{
	*ret = false;
	for (size_t i = 0; i < s->files.n && !*ret; i++) {
		TRY(budget_work(x->zip.src.budget, SIDE_COST * s->files.v[i].n));
		*ret = side_is_for(s->files.v[i], gpu);
	}
	return NULL;
}

static struct err *check_set(struct exam *x, const struct set *s)
{
	ARENA(tmp);
	struct strs served = {0};
	bool there;
	VEC_EACH (const struct target, want, &x->o->require) {
		struct str gpu = target_text(&tmp, want);
		TRY(has(x, s, gpu, &there));
		if (there)
			continue;
		bool never = unbuilt(s->files.v[0], gpu);
		struct finding *f = exam_say(x, V_DEVICE_SIDE, s->folder,
			"none of the %zu code files for GPUs is for %.*s (the first is '%.*s')%s",
			s->files.n, STR(gpu), STR(path_base(s->files.v[0])),
			never ? ": this library is not built for it" : "");
		f->severity = never ? SEV_INFO : f->severity;
	}
	for (size_t i = 0; i < x->verdict->served.n; i++) {
		struct str gpu = x->verdict->served.v[i];
		TRY(has(x, s, gpu, &there));
		if (there || unbuilt(s->files.v[0], gpu))
			strs_add(x->a, &served, gpu);
	}
	x->verdict->served = served;
	return NULL;
}

struct err *check_side(struct exam *x, size_t *ret_sets)
{
	MAP(sets, x->a);
	TRY(find_sets(x, &sets));
	for (size_t i = 0; i < sets.n; i++)
		TRY(check_set(x, sets.v[i].value));
	*ret_sets = sets.n;
	return NULL;
}
