/* The provider "artifacts": a folder of the archives that ROCm/TheRock's build makes, NAME_COMPONENT_TARGET.tar.xz or
 * .tar.zst (its artifact_builder, fileset_tool and BUILD_TOPOLOGY.toml, 2026-08). Each begins with
 * artifact_manifest.txt, whose lines are stage folders; all that lies below one of them belongs at the top of the tree.
 * Components are lib, run and dev, which an SDK is made of, and dbg, doc and test, which are left out. The target is
 * "generic", a processor (with :xnack+), or a family.
 *
 * Before anything is unpacked, the set has the compiler's archives, and rocBLAS for each wanted GPU. share/therock in
 * base_lib_generic says its version and GPUs, and whether device code was split off: if not, archives of two targets have
 * the same libraries, and only one of them fits in. */
#include "archive/item.h"
#include "base/fs.h"
#include "base/hash.h"
#include "formats/node.h"
#include "sdk/provider.h"
#include "target/target.h"

#define MANIFEST "artifact_manifest.txt"
#define BASE "base_lib"
#define SHARE "base/aux-overlay/stage/share/therock/" /* in that */
enum { MAX_MANIFEST = 1 << 20, MAX_BASE = 1 << 30 };

static const char *const needed[] = {BASE, "base_dev", "amd-llvm_lib", "amd-llvm_run",
	"amd-llvm_dev", "core-hip_lib", "core-hip_run", "core-hip_dev", "core-runtime_lib",
	"core-runtime_dev", "sysdeps_lib", NULL};

struct artifact {
	struct str stem, target; /* stem: NAME_COMPONENT */
	struct strs gpus;        /* members of the target; none = generic */
};

struct artifact_set { /* the archive of the base says */
	struct str version;
	struct strs targets; /* the GPUs of the build */
	bool split;
};

/* Reads the name of an archive; false if it is none that belongs in an SDK. */
static bool artifact_read(struct arena *a, struct str file, struct artifact *ret)
{
	static const char *const ends[] = {".tar.xz", ".tar.zst", NULL};
	static const char *const components[] = {"lib", "run", "dev", NULL};
	struct str rest = file, name, component;
	struct strs base = {0};
	*ret = (struct artifact){0};
	if (str_chr(file, '\n') < file.n || !str_ends_one_of(file, ends) ||
		!str_next(&rest, '_', &name) || !str_next(&rest, '_', &component) ||
		!str_is_one_of(component, components))
		return false;
	*ret = (struct artifact){.stem = str_sub(file, 0, name.n + 1 + component.n),
		.target = str_sub(rest, 0, str_find(rest, S(".tar.")))};
	if (str_eq(ret->target, S("generic")))
		return true;
	strs_add(a, &base, str_sub(ret->target, 0, str_chr(ret->target, ':')));
	struct err *e = gpus_parse(a, &base, &ret->gpus);
	err_free(e);
	return !e && ret->gpus.n;
}

/* ---- which archives ---- */
static struct err *read_base(struct arena *a, struct str archive, struct artifact_set *io)
{
	CLEANUP(fs_tempdirp) struct str dir = {0};
	const struct node *manifest = NULL, *dist = NULL;
	struct str list, gpu;
	TRY(fs_tempdir(a, S(""), &dir));
	struct unpack_job x = {
		.path = archive, .root = dir, .id = S(BASE), .closed = true, .most = MAX_BASE};
	TRY(unpack_tar(a, &x));
	TRY(json_read(a, path_join(a, dir, S(SHARE "therock_manifest.json")), &manifest));
	TRY(json_read(a, path_join(a, dir, S(SHARE "dist_info.json")), &dist));
	io->version = node_text(manifest, S("rocm_package_version"), S(""));
	io->split = node_bool(node_get(manifest, S("flags")), S("KPACK_SPLIT_ARTIFACTS"), false);
	list = node_text(dist, S("dist_amdgpu_targets"), S(""));
	while (str_next(&list, ';', &gpu))
		strs_put(a, &io->targets, gpu);
	return NULL;
}

static struct err *artifacts_resolve(struct arena *a, struct sdk_job *j)
{
	struct str from = j->spec->from.n ? path_abs(a, j->spec->from) : j->mirror,
		   blas = S("blas_lib");
	struct artifact_set set = {.version = j->spec->suite};
	struct strs files, there = {0}, lacks = {0}, own = {0};
	if (!fs_is_dir(from))
		return err_new(E_USAGE, "there is no folder of artifacts '%.*s'", STR(from));
	TRY(fs_list(a, from, &files));
	VEC_EACH (const struct str, file, &files) {
		struct archive_item item = {.file = *file, .path = path_join(a, from, *file)};
		struct artifact x;
		bool known = artifact_read(a, *file, &x), serves = !x.gpus.n || !j->gpus->n;
		item.name = str_fmt(a, "%.*s_%.*s", STR(x.stem), STR(x.target));
		if (!known ||
			!strs_put(a, &there, item.name)) /* one of two compressions is enough */
			continue;
		strs_put(a, &there, x.stem);
		VEC_EACH (const struct str, gpu, &x.gpus) {
			strs_put(a, &there, str_fmt(a, "%.*s_%.*s", STR(x.stem), STR(*gpu)));
			serves = serves || strs_has(j->gpus, *gpu);
		}
		if (str_eq(x.stem, S(BASE)))
			TRY(read_base(a, item.path, &set));
		if (serves)
			*VEC_PUSH(a, &j->items) = item;
		if (serves && x.gpus.n)
			strs_put(a, &own, x.target);
	}
	for (size_t i = 0; needed[i]; i++)
		if (!strs_has(&there, str_from(needed[i])))
			strs_fmt(a, &lacks, "%s_generic", needed[i]);
	VEC_EACH (const struct str, gpu, j->gpus->n ? j->gpus : &set.targets) {
		struct str kernels = str_fmt(a, "%.*s_%.*s", STR(blas), STR(*gpu));
		if (strs_has(&there, blas) && !strs_has(&there, kernels))
			strs_add(a, &lacks, kernels);
	}
	if (lacks.n)
		return err_new(E_SDK_SOURCE, "'%.*s' is incomplete: it has no %.*s", STR(from),
			STR(str_join(a, &lacks, S(", "))));
	if (own.n > 1 && !set.split)
		return err_new(E_USAGE,
			"libraries of '%.*s' and '%.*s' would replace each other: their device "
			"code was not split off",
			STR(own.v[0]), STR(own.v[1]));
	VEC_EACH (struct archive_item, i, &j->items) {
		i->version = set.version;
		i->url = i->path;
		/* TheRock writes one when it uploads */
		TRY(fs_read_opt(a, str_fmt(a, "%.*s.sha256sum", STR(i->path)), 4096, &i->sha256));
		i->sha256 = str_lower(a, str_trim(i->sha256));
		TRY(local_item(a, i));
	}
	j->mirror = from;
	return NULL;
}

/* ---- unpacking ---- */
struct artifact_unpack {
	struct arena *own; /* outlives a member */
	struct sdk_unpack *sdk;
	struct strs stages;
	struct str listed; /* the manifest's place in the tree */
	struct str stray;  /* a member that it does not cover */
};

static struct str in_stage(void *user, struct arena *tmp, struct str path)
{
	struct artifact_unpack *x = user;
	(void)tmp;
	if (!x->stages.n && str_eq(path, S(MANIFEST)))
		return x->listed;
	VEC_EACH (const struct str, stage, &x->stages)
		if (path_is_below(path, *stage) && path.n > stage->n)
			return str_sub(path, stage->n + 1, path.n);
	if (!x->stray.n)
		x->stray = str_dup(x->own, path);
	return S("");
}

static struct err *note_member(void *user, const struct unpack_file *f)
{
	struct artifact_unpack *x = user;
	struct str line;
	if (str_eq(f->path, x->listed) && f->size <= MAX_MANIFEST) {
		struct str text = {.p = arena_alloc(x->own, f->size + 1), .n = f->size};
		TRY(fs_pread(f->fd, (char *)text.p, text.n, 0));
		while (str_next(&text, '\n', &line))
			if (path_is_inside(str_trim(line)))
				strs_add(x->own, &x->stages, path_clean(x->own, str_trim(line)));
	}
	return sdk_note_file(x->sdk, f);
}

static struct err *artifacts_unpack(struct arena *tmp, struct sdk_unpack *u)
{
	ARENA(own);
	struct str name = u->item->name;
	struct artifact_unpack x = {.own = &own,
		.sdk = u,
		.listed = str_fmt(&own, "share/therock/artifacts/%.*s.txt", STR(name))};
	struct unpack_job job = {.path = u->item->path,
		.root = u->root,
		.id = name,
		.closed = true,
		.place = in_stage,
		.told = note_member,
		.user = &x};
	struct artifact named;
	u->gpus = (struct strs){0};
	TRY(unpack_tar(tmp, &job));
	if (!x.stages.n)
		return err_new(
			E_ARCHIVE, "'%.*s' does not begin with '" MANIFEST "'", STR(u->item->file));
	if (x.stray.n)
		return err_new(E_ARCHIVE,
			"'%.*s' has '%.*s', which is in no folder of its '" MANIFEST "'",
			STR(u->item->file), STR(x.stray));
	u->partial = artifact_read(tmp, u->item->file, &named) && named.gpus.n;
	u->gpus = named.gpus;
	return NULL;
}

const struct sdk_provider sdk_artifacts = {
	.name = "artifacts",
	.by_hand = true,
	.again = "rocsmith sdk install artifacts:",
	.open_tree = tarball_open_tree,
	.borrow = amd_borrow,
	.resolve = artifacts_resolve,
	.fetch = amd_fetch,
	.unpack = artifacts_unpack,
};
