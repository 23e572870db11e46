/* The providers of AMD's own builds: "rocm" (wheels of a package index) and "tarball" (therock-dist-*.tar.gz). Their trees
 * run directly on this machine. Layout and rules of the wheels are those of ROCm/TheRock, the templates
 * of its Python packages (2026-08):
 *
 *     _rocm_sdk_core/       compiler, runtime; only files
 *     _rocm_sdk_libraries/  libraries; each rocm-sdk-device-GFX adds files, and .devel_links/GFX.json
 *     _rocm_sdk_devel/      in a tar in rocm-sdk-devel: headers, CMake files, and links to the files of the others
 *
 * `rocm-sdk init` makes hard links of those links; here they stay, since one receipt owns all packages. The versions of
 * all wheels are equal but for .postN. Downloads are kept: nightlies leave their index after a month. */
#include <stdlib.h>

#include "archive/index.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "know/address.h"
#include "know/know.h"
#include "lang/python/version.h"
#include "machine/parse.h"
#include "sdk/provider.h"
#include "target/target.h"

#define DEVICE "rocm-sdk-device-"
enum { MAX_TRIED = 100 }; /* versions; an index may have any number that lack a wheel */

/* ---- which wheels ---- */
/* The files of an index, and the project to whose versions those of all others have to be equal. */
struct offer {
	struct archive_items files;
	struct index_missings missing;
	struct strs projects; /* the first is rocm-sdk-core */
};

/* "rocm_sdk_core-10.1.0-py3-none-linux_x86_64.whl" -> "10.1.0"; "" if it is for another system. */
static struct str wheel_version(struct str file)
{
	struct str name, version;
	bool ours = str_ends(file, S(".whl")) &&
		    (str_ends(file, S("-any.whl")) ||
			    (str_contains(file, S("linux")) && str_contains(file, S("x86_64"))));
	if (!ours || !str_next(&file, '-', &name) || !str_next(&file, '-', &version))
		return S("");
	return version;
}

/* "10.1.0.post1" -> "10.1.0" */
static struct str without_post(struct str version)
{
	return str_sub(version, 0, str_find(version, S(".post")));
}

/* The project's newest file that fits and is older than `below`. */
static const struct archive_item *newest_wheel(
	const struct offer *o, struct str project, struct str want, const struct version *below)
{
	ARENA(tmp);
	const struct archive_item *best = NULL;
	const struct version *of_best = NULL, *v;
	VEC_EACH (const struct archive_item, f, &o->files) {
		/* the user asks for the version itself, or for releases that begin with it */
		struct str text = wheel_version(f->file), base = without_post(text);
		struct str rest = str_starts(base, want) ? str_sub(base, want.n, base.n) : S("");
		bool fits = (str_starts(rest, S(".")) && is_version(base)) || str_eq(text, want) ||
			    str_eq(base, want);
		if (!str_eq(f->name, project) || f->yanked || !fits)
			continue;
		struct err *e = version_parse(&tmp, text, &v);
		if (!e && (!below || version_cmp(v, below) < 0) &&
			(!best || version_cmp(v, of_best) > 0)) {
			best = f;
			of_best = v;
		}
		err_free(e);
	}
	return best;
}

/* The versions of a project, as a list for people. */
static struct str offered(struct arena *a, const struct offer *o, struct str project)
{
	struct strs all = {0};
	VEC_EACH (const struct archive_item, f, &o->files)
		if (str_eq(f->name, project) && wheel_version(f->file).n)
			strs_put(a, &all, wheel_version(f->file));
	return str_join(a, &all, S(", "));
}

static struct err *no_core(struct arena *a, const struct offer *o, struct str want)
{
	struct str core = o->projects.v[0], has = offered(a, o, core);
	const struct index_missing *m = VEC_FIND(struct index_missing, &o->missing, project, core);
	if (m)
		return err_new(E_SDK_SOURCE, "no index has '%.*s': %.*s", STR(core), STR(m->why));
	struct str index = o->files.n ? o->files.v[0].index : S("");
	if (str_eq(has, S("0.1.0")) || str_eq(has, S("0.0.1.dev0")))
		return err_hint(
			err_new(E_SDK_SOURCE,
				"'%.*s' has only the placeholder %.*s of '%.*s', as PyPI does",
				STR(index), STR(has), STR(core)),
			"leave --index-url out: AMD's own index is the default");
	return err_new(E_SDK_SOURCE, "'%.*s' has '%.*s' in other versions than %.*s: %.*s",
		STR(index), STR(core), STR(want), STR(has));
}

/* Says what the newest version lacks; for kernels, which GPUs there are some for. */
static struct err *incomplete(struct arena *a, const struct index_job *job, const struct offer *o,
	struct str lacks, struct str version)
{
	struct str has = offered(a, o, lacks);
	struct err *e =
		has.n ? err_new(E_SDK_SOURCE,
				"rocm-sdk-core is of %.*s, and '%.*s' is there in %.*s only: their "
				"versions may differ in .postN alone",
				STR(version), STR(lacks), STR(has))
		      : err_new(E_SDK_SOURCE, "the index has no '%.*s' for ROCm %.*s", STR(lacks),
				STR(version));
	if (!str_starts(lacks, S(DEVICE)))
		return e;
	struct offer all = {0};
	struct strs gpus = {0};
	TABLE_EACH (gpu, g)
		strs_fmt(a, &all.projects, DEVICE "%s", g->name);
	err_free(index_lists(a, job, &all.projects, &all.files, &all.missing));
	VEC_EACH (const struct str, p, &all.projects)
		if (newest_wheel(&all, *p, without_post(version), NULL))
			strs_add(a, &gpus, str_sub(*p, sizeof(DEVICE) - 1, p->n));
	return gpus.n ? err_hint(e, "for this version, the index has device code of %.*s",
				STR(str_join(a, &gpus, S(", "))))
		      : e;
}

/* Finds the newest version of which all is there. */
static struct err *choose_wheels(struct arena *a, const struct index_job *job,
	const struct offer *o, struct str want, struct sdk_job *j)
{
	const struct version *below = NULL;
	const struct archive_item *core, *f;
	struct str first = S(""), lacks = S("");
	for (int n = 0; n < MAX_TRIED && (core = newest_wheel(o, o->projects.v[0], want, below));
		n++) {
		struct str version = wheel_version(core->file);
		j->items.n = 0;
		VEC_EACH (const struct str, p, &o->projects) {
			f = newest_wheel(o, *p, without_post(version), NULL);
			if (!f && !lacks.n) {
				lacks = *p;
				first = version;
			}
			if (!f)
				continue;
			struct archive_item *item = VEC_PUSH(a, &j->items);
			*item = *f;
			item->version = wheel_version(f->file);
		}
		if (j->items.n == o->projects.n) {
			j->mirror = core->index;
			if (lacks.n)
				strs_fmt(a, &j->notes,
					"the index has no '%.*s' of %.*s, so ROCm %.*s was "
					"taken",
					STR(lacks), STR(first), STR(version));
			return NULL;
		}
		TRY(version_parse(a, version, &below));
	}
	return lacks.n ? incomplete(a, job, o, lacks, first) : no_core(a, o, want);
}

static struct str kept_files(struct arena *a, const struct sdk_job *j)
{
	return str_fmt(a, "%.*s/%.*s/archives", STR(j->cache), STR(j->name));
}

/* Is a component more than the compiler and its headers? */
static bool needs_libraries(struct str component)
{
	return !str_eq(component, S("compiler")) && !str_eq(component, S("headers")) &&
	       !str_eq(component, S("python"));
}

static struct err *wheels_resolve(struct arena *a, struct sdk_job *j)
{
	const struct sdk_spec *s = j->spec;
	struct index_job job = {.links = s->links, .config = &j->config},
			 kept = {.config = &j->config};
	struct offer o = {0}, here = {0};
	struct sdk_receipt old = {0};
	struct str was = j->mirror, url, archives = kept_files(a, j);
	bool libraries = false, given = s->from.n || s->links.n;
	VEC_EACH (const struct str, c, &j->components)
		libraries = libraries || needs_libraries(*c);
	STRS_ADD(a, &o.projects, S("rocm-sdk-core"), S("rocm-sdk-devel"));
	if (libraries)
		strs_add(a, &o.projects, S("rocm-sdk-libraries"));
	if (libraries && !j->gpus->n && !s->gpus.n)
		return err_hint(
			err_new(E_USAGE, "the libraries of ROCm's wheels need GPUs to be named"),
			"--gpu native, a list such as gfx1100,gfx1201, or all");
	VEC_EACH (const struct str, gpu, j->gpus)
		if (libraries)
			strs_fmt(a, &o.projects, DEVICE "%.*s", STR(*gpu));
	bool all = libraries && !j->gpus->n;
	here.projects = o.projects;
	if (!s->refresh && !all && fs_is_dir(archives)) {
		strs_add(a, &kept.links, archives);
		TRY(index_lists(a, &kept, &here.projects, &here.files, &here.missing));
		struct err *e = here.missing.n ? err_new(E_NOENT, "no")
					       : choose_wheels(a, &kept, &here, s->suite, j);
		err_free(sdk_receipt_read(a, sdk_dir(a, j->name), &old));
		VEC_EACH (struct archive_item, i, &j->items) {
			const struct sdk_package *p = sdk_receipt_package(&old, i->name);
			TRY(sha256_file(a, path_join(a, archives, i->file), &i->sha256));
			if (e || !p || !p->sha256.n || !str_eq(p->version, i->version) ||
				str_eq(p->sha256, i->sha256))
				continue;
			progress_warn(
				"'%.*s' is not the file that was installed: it is fetched again",
				STR(path_join(a, archives, i->file)));
			e = err_new(E_HASH, "'%.*s'", STR(i->file));
		}
		if (!e) {
			j->mirror = was;
			return NULL;
		}
		err_free(e);
		j->items.n = 0;
	}
	TRY(address_of(a, address_for_rocm(s->suite), S(""), s->from, &url));
	if (!s->links.n)
		strs_add(a, &job.urls, given || !was.n ? url : was);
	TABLE_EACH (gpu, g)
		if (all && g->current)
			strs_fmt(a, &o.projects, DEVICE "%s", g->name);
	TRY(index_lists(a, &job, &o.projects, &o.files, &o.missing));
	for (size_t i = o.projects.n; all && i-- > 3;) {
		bool there = newest_wheel(&o, o.projects.v[i], s->suite, NULL);
		if (!there)
			o.projects.v[i] = o.projects.v[--o.projects.n];
	}
	TRY(choose_wheels(a, &job, &o, s->suite, j));
	return index_sizes(a, &job, &j->items);
}

struct err *amd_fetch(struct arena *a, struct sdk_job *j, const struct archive_items *need)
{
	struct str dir = kept_files(a, j);
	struct archive_items wanted = *need, remote = {0};
	struct index_job job = {.links = j->spec->links, .config = &j->config};
	VEC_EACH (struct archive_item, i, &wanted)
		if (!i->path.n)
			*VEC_PUSH(a, &remote) = *i;
	if (!remote.n)
		return NULL;
	TRY(fs_mkdirs(dir));
	TRY_CTX(index_fetch(a, &job, &remote, dir), "cannot fetch %zu files of ROCm", remote.n);
	VEC_EACH (const struct archive_item, r, &remote) {
		*VEC_FIND(struct archive_item, &wanted, name, r->name) = *r;
		struct archive_item *i = VEC_FIND(struct archive_item, &j->items, name, r->name);
		bool known = i && i->sha256.n;
		if (i)
			i->sha256 = r->sha256;
		if (!known && !str_starts(r->url, S("file:")))
			strs_fmt(a, &j->notes,
				"the index gives no hash of '%.*s': the receipt has that "
				"of the file that came",
				STR(r->file));
	}
	return NULL;
}

/* A preview looks at the kept files through a link. */
struct err *amd_borrow(struct arena *a, const struct sdk_job *j, struct str dir)
{
	struct sdk_job there = *j;
	there.cache = dir;
	struct str archives = kept_files(a, j), link = kept_files(a, &there);
	if (!fs_is_dir(archives))
		return NULL;
	TRY(fs_mkdirs(path_dir(link)));
	return fs_symlink(archives, link);
}

/* ---- unpacking ---- */
#define DEVEL_TAR "rocm_sdk_devel/_devel.tar"

static struct err *note_member(void *user, const struct unpack_file *f)
{
	return str_starts(f->path, S(DEVEL_TAR)) ? NULL : sdk_note_file(user, f);
}

static struct err *wheels_unpack(struct arena *tmp, struct sdk_unpack *u)
{
	static const char *const tars[] = {DEVEL_TAR, DEVEL_TAR ".xz", DEVEL_TAR ".zst"};
	struct str name = u->item->name, device = S(DEVICE);
	struct unpack_job x = {.path = u->item->path,
		.root = u->root,
		.id = name,
		.closed = true,
		.told = note_member,
		.user = u};
	u->gpus = (struct strs){0};
	TRY(unpack_zip(tmp, &x));
	bool devel = str_eq(name, S("rocm-sdk-devel")), expanded = false;
	for (size_t i = 0; devel && i < sizeof(tars) / sizeof(tars[0]); i++) {
		x.path = path_join(tmp, u->root, str_from(tars[i]));
		if (!fs_is_file(x.path))
			continue;
		TRY(unpack_tar(tmp, &x));
		TRY(fs_remove(x.path));
		expanded = true;
	}
	if (devel && !expanded)
		return err_new(
			E_ARCHIVE, "'%.*s' does not hold '" DEVEL_TAR "'", STR(u->item->file));
	if (str_starts(name, device)) {
		u->partial = true;
		strs_add(tmp, &u->gpus, str_sub(name, device.n, name.n));
	}
	return NULL;
}

static const struct json_field link_fields[] = FIELDS_ONLY(struct devel_link, relpath, target);
const struct json_field devel_links_fields[] = {
	FIELD("version", struct devel_links, version),
	FIELD_LIST("links", struct devel_links, links, link_fields),
	{.kind = FIELD_END},
};

/* Leads the devel tree to the files of the device wheels, as their lists of links say. */
static struct err *wheels_finish(struct arena *a, struct sdk_job *j)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	TRY(fs_guard(j->root, &guard));
	VEC_EACH (const struct archive_item, i, &j->items) {
		struct str gpu = str_sub(i->name, sizeof(DEVICE) - 1, i->name.n);
		struct str path = str_fmt(a, "%.*s/_rocm_sdk_libraries/.devel_links/%.*s.json",
			STR(j->root), STR(gpu));
		const struct node *doc;
		struct devel_links all = {0};
		if (!str_starts(i->name, S(DEVICE)) || !fs_is_file(path) || fs_is_link(path))
			continue;
		TRY(json_read(a, path, &doc));
		TRY(json_fields_read(a, doc, devel_links_fields, &all));
		VEC_EACH (const struct devel_link, l, &all.links) {
			struct str at = path_join(a, S("_rocm_sdk_devel"), l->relpath);
			struct str to = path_clean(a, path_join(a, path_dir(at), l->target));
			struct str words = str_fmt(a, "%.*s%.*s", STR(l->relpath), STR(l->target));
			bool plain = str_until(words, "\n\t") == words.n;
			/* ".." after a name, which may be a link, could lead anywhere */
			if (!plain || !path_is_inside(l->relpath) ||
				!str_starts(to, S("_rocm_sdk_")) ||
				!str_eq(path_clean(a, l->target), l->target))
				return err_new(E_ARCHIVE,
					"a link of '%.*s' leads out of the SDK: '%.*s'",
					STR(i->file), STR(l->relpath));
			TRY(tree_link(a, j->root, at, l->target));
			file_list_add(j->made,
				&(struct sdk_file){.type = 'l', .path = at, .value = l->target});
		}
	}
	return NULL;
}

static struct err *wheels_open_tree(struct arena *a, struct str root, struct sdk *ret)
{
	return prefix_open(a, path_join(a, root, S("_rocm_sdk_devel")), ret);
}

static struct err *wheels_have(
	struct arena *a, const struct sdk_receipt *m, struct str component, bool *ret)
{
	struct strs packages;
	bool alone;
	TRY(know_packages(a, component, &packages, &alone));
	*ret = !needs_libraries(component) || sdk_receipt_package(m, S("rocm-sdk-libraries"));
	return NULL;
}

const struct sdk_provider sdk_rocm_wheels = {
	.name = "rocm",
	.again = "rocsmith sdk install rocm:",
	.open_tree = wheels_open_tree,
	.has = wheels_have,
	.borrow = amd_borrow,
	.resolve = wheels_resolve,
	.fetch = amd_fetch,
	.unpack = wheels_unpack,
	.finish = wheels_finish,
};

/* ---- tarballs ---- */
struct err *local_item(struct arena *a, struct archive_item *io)
{
	struct stat st;
	if (!fs_is_file(io->path))
		return err_new(E_NOENT, "there is no file '%.*s'", STR(io->path));
	TRY(fs_stat(io->path, &st));
	io->size = (uint64_t)st.st_size;
	return io->sha256.n ? NULL : sha256_file(a, io->path, &io->sha256);
}

static struct err *tarball_resolve(struct arena *a, struct sdk_job *j)
{
	const struct sdk_spec *s = j->spec;
	struct str from = s->from.n ? s->from : j->mirror, sha = str_lower(a, s->sha256);
	struct archive_item item = {.name = S("rocm"), .version = s->suite, .sha256 = sha};
	bool remote = str_contains(from, S("://"));
	if (!from.n)
		return err_new(E_USAGE, "no tarball is named");
	item.file = path_base(from);
	if (sha.n != 64 && !s->unverified)
		return err_hint(
			err_new(E_USAGE, "the SHA-256 of '%.*s' is not given", STR(item.file)),
			"--sha256 HASH, as its publisher says, or --no-verify, which the receipt "
			"will tell");
	if (!remote) {
		item.path = from = path_abs(a, from);
		TRY(local_item(a, &item));
	}
	if (s->unverified)
		strs_fmt(a, &j->notes, "'%.*s' was not verified (--no-verify)", STR(item.file));
	item.url = from;
	j->mirror = address_shown(a, from);
	*VEC_PUSH(a, &j->items) = item;
	return NULL;
}

static struct err *tarball_unpack(struct arena *tmp, struct sdk_unpack *u)
{
	struct unpack_job x = {.path = u->item->path,
		.root = u->root,
		.id = S("rocm"),
		.closed = true,
		.told = sdk_note_file,
		.user = u};
	return unpack_tar(tmp, &x);
}

/* ROCm lies at the top, or in the one folder that has HIP's header. */
struct err *tarball_open_tree(struct arena *a, struct str root, struct sdk *ret)
{
	struct strs names;
	struct str at = root, header = S("include/hip/hip_runtime.h");
	TRY(fs_list(a, root, &names));
	strs_add(a, &names, S("opt/rocm"));
	for (size_t i = 0; i < names.n && !fs_exists(path_join(a, at, header)); i++)
		at = path_join(a, root, names.v[i]);
	return prefix_open(a, fs_exists(path_join(a, at, header)) ? at : root, ret);
}

const struct sdk_provider sdk_tarball = {
	.name = "tarball",
	.by_hand = true,
	.again = "rocsmith sdk install tarball:",
	.open_tree = tarball_open_tree,
	.borrow = amd_borrow,
	.resolve = tarball_resolve,
	.fetch = amd_fetch,
	.unpack = tarball_unpack,
};
