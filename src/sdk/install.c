/* The engine of an install, the same for all providers; see provider.h for files and steps.
 *
 * An SDK is never half replaced. A first install, or one that replaces versions, fills a separate folder, which
 * replaces the old one by one rename. An install that only adds or repairs packages renames each file into the tree and
 * writes the receipt last. A package is done when its file list exists, so that the next install continues a killed
 * one. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs_stage.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/progress.h"
#include "know/know.h"
#include "sdk/provider.h"

#define BEGUN "begun"  /* in a tree that is being filled: the fingerprint of its packages */
enum { UNPACKED = 5 }; /* unpacked size / package size: usually at most this */

struct install {
	const struct sdk_provider *provider;
	struct sdk_spec spec;
	struct sdk_job job;
	struct fs_stage stage; /* stages a fresh tree; its place is the SDK's folder */
	struct str work;       /* the folder to fill: the SDK's own, or stage.tree */
	struct sdk_receipt old, new;
	/* gpus: the libraries will have kernels for these; empty = all */
	struct strs damaged, gpus;
	struct archive_items need;
	struct progress *progress;
};

/* ---- the packages to install ---- */
static int larger_first(const void *a, const void *b)
{
	const struct archive_item *x = a, *y = b;
	return x->size < y->size ? 1 : x->size > y->size ? -1 : 0;
}

/* Sets in->need, the items to fetch and unpack, and counts them: those whose packages are not in the working tree as
 * their file lists say. */
static struct err *find_need(struct arena *a, struct install *in, struct sdk_done *ret)
{
	struct str root = path_join(a, in->work, S("root"));
	VEC_EACH (struct archive_item, i, &in->job.items) {
		ARENA(tmp);
		struct sdk_package p = {.version = i->version, .sha256 = i->sha256};
		struct str text, path = file_list_path(&tmp, in->work, i->name);
		struct sdk_file f;
		enum file_state state = FILE_OK;
		TRY(fs_read_opt(&tmp, path, FILE_LIST_MAX, &text));
		bool bad = !text.p || !file_list_is(&tmp, text, &p) ||
			   (know_rocm_package(i->name) && !gpus_cover(&p.gpus, &in->gpus)) ||
			   strs_has(&in->damaged, i->name);
		while (!bad && state == FILE_OK && file_list_next(&text, &f, &bad))
			TRY(file_list_compare(root, &f, false, &state));
		if (!bad && state == FILE_OK)
			continue;
		*VEC_PUSH(a, &in->need) = *i;
		ret->bytes += i->size;
	}
	VEC_SORT(&in->need, larger_first);
	ret->packages = in->need.n;
	ret->repaired = in->damaged.n;
	return NULL;
}

/* ---- unpacking ---- */
struct item_job {
	struct install *in;
	const struct archive_item *item;
};

static struct err *unpack_item(struct arena *tmp, void *user)
{
	struct item_job *u = user;
	struct install *in = u->in;
	ARENA(keep);
	BUF(files, &keep);
	struct sdk_package p = {.version = u->item->version, .sha256 = u->item->sha256};
	struct archive_item item = *u->item;
	struct sdk_unpack x = {.item = &item, .root = in->job.root, .files = &files};
	if (know_rocm_package(u->item->name))
		x.gpus = in->gpus;
	TRY(cancel_check());
	struct str path = file_list_path(tmp, in->work, u->item->name);
	TRY(fs_remove(path)); /* from here on the package counts as not done */
	/* a mirror on this machine may be others' to change after the hash was taken */
	bool theirs = !path_is_below(item.path, in->job.cache);
	if (theirs) {
		item.path = path_join(tmp, in->stage.beside, item.file);
		TRY(hash_copy(u->item->path, item.path, item.sha256));
	}
	TRY(in->provider->unpack(tmp, &x));
	if (theirs)
		TRY(fs_remove(item.path));
	if (x.partial)
		p.gpus = x.gpus;
	p.bytes = x.holes;
	struct str head = file_list_head(tmp, &p), list = buf_str(&files);
	TRY(fs_write(path, str_fmt(tmp, "%.*s%.*s", STR(head), STR(list)), 0644));
	progress_add(in->progress, u->item->size, u->item->name);
	return NULL;
}

/* ---- the receipt ---- */
/* Adds a package of the working tree to the new receipt, with what its file list says. */
static struct err *add_package(struct arena *a, struct install *in, struct sdk_package p)
{
	ARENA(tmp);
	struct str text;
	TRY(fs_read(&tmp, file_list_path(&tmp, in->work, p.name), FILE_LIST_MAX, &text));
	p.list_sha256 = sha256_hex(a, text);
	(void)file_list_is(a, text, &p);
	struct sdk_file f;
	uint64_t bytes = 0;
	bool bad;
	for (p.files = 0; file_list_next(&text, &f, &bad); p.files++)
		bytes += f.size;
	p.bytes = bytes - p.bytes;
	*VEC_PUSH(a, &in->new.packages) = p;
	return NULL;
}

/* Makes the links that packages' scripts would have made, and the view /opt/rocm, as our own package. The receipt lists
 * the packages of this install and, for an existing tree, those that it already has. */
static struct err *complete(struct arena *a, struct install *in)
{
	struct sdk_job *j = &in->job;
	struct sdk probe = {0};
	bool in_place = str_eq(in->work, in->stage.place);
	BUF(made, a);
	j->made = &made;
	struct sdk_package own = {.name = S(SDK_MADE), .version = S("1"), .sha256 = S("-")};
	buf_add(&made, file_list_head(a, &own));
	if (in->provider->finish)
		TRY(in->provider->finish(a, j));
	in->new = (struct sdk_receipt){
		.provider = str_from(in->provider->name),
		.suite = j->spec->suite,
		.mirror = j->mirror,
		.index_date = j->index_date,
		.components = j->components,
		.notes = j->notes,
	};
	VEC_EACH (struct archive_item, i, &j->items)
		TRY(add_package(a, in,
			(struct sdk_package){
				.name = i->name, .version = i->version, .sha256 = i->sha256}));
	VEC_EACH (struct sdk_package, p, &in->old.packages)
		if (in_place && !sdk_receipt_package(&in->new, p->name) &&
			!str_eq(p->name, own.name))
			TRY(add_package(a, in, *p));
	if (in->provider->view)
		TRY(opt_rocm_make(a, in->work, &in->new, &made));
	TRY(fs_write(file_list_path(a, in->work, own.name), buf_str(&made), 0644));
	TRY(add_package(a, in, own));
	TRY(in->provider->open_tree(a, j->root, &probe));
	if (probe.runner != SDK_NORUN)
		TRY(layout_clang_version(a, &probe, &in->new.clang_version));
	struct str receipt = sdk_receipt_text(a, &in->new);
	TRY(fs_remove(path_join(a, in->work, S(BEGUN))));
	if (!in_place)
		return fs_stage_commit(&in->stage, receipt);
	TRY(fs_sync_all(in->work));
	TRY(fs_write(path_join(a, in->work, S(SDK_RECEIPT)), receipt, 0644));
	return fs_remove(path_join(a, in->work, S("damaged")));
}

/* ---- the install ---- */
/* Resolves the items. A new version of an installed package requires a fresh tree. */
static struct err *resolve(struct arena *a, struct install *in)
{
	TRY(in->provider->resolve(a, &in->job));
	bool fresh = !in->old.provider.n;
	VEC_EACH (const struct archive_item, i, &in->job.items) {
		const struct sdk_package *p = sdk_receipt_package(&in->old, i->name);
		fresh = fresh || (p && !str_eq(p->sha256, i->sha256));
	}
	in->work = fresh ? in->stage.tree : in->stage.place;
	in->job.root = path_join(a, in->work, S("root"));
	if (fresh)
		in->damaged = (struct strs){0};
	return NULL;
}

static struct err *fill(struct arena *a, struct install *in, struct sdk_done *done)
{
	bool fresh = str_eq(in->work, in->stage.tree);
	struct sdk_receipt items = {0};
	VEC_EACH (const struct archive_item, i, &in->job.items)
		*VEC_PUSH(a, &items.packages) = (struct sdk_package){
			.name = i->name, .version = i->version, .sha256 = i->sha256};
	struct str begun = path_join(a, in->work, S(BEGUN)), was, is;
	is = sdk_receipt_fingerprint(a, &items);
	TRY(fs_read_opt(a, begun, 4096, &was));
	if (fresh && !str_eq(was, is)) /* files of other packages would stay in it */
		TRY(fs_remove_tree(in->work));
	TRY(fs_mkdirs(in->job.root));
	if (fresh)
		TRY(fs_write(begun, is, 0644));
	TRY(fs_mkdirs(path_join(a, in->work, S("records"))));
	TRY(find_need(a, in, done));
	uint64_t want = done->bytes * UNPACKED, have, size;
	if (fs_free_space(in->work, &have, &size) && have < want) {
		struct err *e = err_new(E_NOSPACE,
			"unpacked packages need about %llu MB in '%.*s', and %llu MB are free",
			(unsigned long long)(want / 1000000), STR(in->work),
			(unsigned long long)(have / 1000000));
		e = err_hint(
			e, "XDG_DATA_HOME and XDG_CACHE_HOME, or ROCSMITH_HOME, name another disk");
		return err_hint(
			e, "'rocsmith du' shows what takes space, and 'rocsmith clean' frees some");
	}
	TRY(fs_mkdirs(in->job.cache));
	TRY(in->provider->fetch(a, &in->job, &in->need));
	size_t n = in->need.n;
	struct item_job *jobs = arena_array(a, n, sizeof(*jobs));
	for (size_t i = 0; i < n; i++)
		jobs[i] = (struct item_job){.in = in, .item = &in->need.v[i]};
	in->progress = progress_begin(
		S("Unpacking"), str_fmt(a, "%zu packages", n), UNIT_BYTES, done->bytes);
	struct err *e = pool_each(0, jobs, n, sizeof(*jobs), unpack_item);
	progress_end(in->progress);
	TRY(e);
	return complete(a, in);
}

static struct err *begin(struct arena *a, const struct sdk_spec *spec, struct install *in)
{
	TRY(sdk_complete(spec, &in->spec, &in->provider));
	in->job.spec = &in->spec;
	in->job.name = sdk_name(a, &in->spec);
	TRY(fs_place_check(FS_CACHE));
	in->job.cache = fs_place(a, FS_CACHE, S("sdk"));
	TRY(fs_check_way(path_join(a, in->job.cache, in->job.name)));
	in->stage = (struct fs_stage){.place = sdk_dir(a, in->job.name),
		.beside = sdk_stage(a, in->job.name),
		.receipt = S(SDK_RECEIPT),
		.resumes = true};
	in->job.components = sdk_wanted(a, spec);
	if (!in->provider->suites && !spec->components.n)
		strs_add(a, &in->job.components, S("math")); /* all that there is */
	TRY(gpus_parse(a, &spec->gpus, &in->gpus));
	in->job.gpus = &in->gpus;
	if (!in->provider->resolve)
		return NULL;
	/* report an unknown component before doing anything */
	VEC_EACH (const struct str, c, &in->job.components) {
		struct strs packages;
		bool alone;
		TRY(know_packages(a, *c, &packages, &alone));
	}
	return NULL;
}

/* Reads the installed SDK, and sets *ret_nothing if it is undamaged and has everything requested. An unreadable receipt
 * leads to a fresh install. */
static struct err *look(struct arena *a, struct install *in, bool *ret_nothing)
{
	struct err *e = sdk_receipt_read(a, in->stage.place, &in->old);
	if (e && e->code != E_CORRUPT)
		return e;
	err_free(e);
	*ret_nothing = false;
	if (!in->old.provider.n)
		return NULL;
	/* a tarball's hash stays the one of its receipt, so that a repair needs no other */
	const struct sdk_package *rocm = sdk_receipt_package(&in->old, S("rocm"));
	if (rocm && in->provider->by_hand && !in->spec.sha256.n && !in->spec.unverified)
		in->spec.sha256 = rocm->sha256;
	TRY(sdk_find_damage(a, in->stage.place, false, &in->damaged, NULL));
	bool elsewhere = in->spec.mirror.n && !str_eq(in->spec.mirror, in->old.mirror);
	if (rocm && in->spec.sha256.n && !str_eq(str_lower(a, in->spec.sha256), rocm->sha256))
		elsewhere = true;
	*ret_nothing = !in->spec.refresh && !in->damaged.n && !elsewhere;
	VEC_EACH (const struct str, c, &in->job.components) {
		bool all = true;
		if (in->provider->has)
			TRY(in->provider->has(a, &in->old, *c, &all));
		*ret_nothing = *ret_nothing && all;
	}
	/* installed kernels stay; without named GPUs, no others are wanted */
	struct strs gpus = sdk_receipt_gpus(a, &in->old);
	VEC_EACH (const struct str, gpu, &gpus)
		if (in->gpus.n || !in->spec.gpus.n)
			strs_put(a, &in->gpus, *gpu);
	*ret_nothing = *ret_nothing && gpus_cover(&gpus, &in->gpus);
	in->job.mirror = in->old.mirror;
	strs_put_all(a, &in->job.components, &in->old.components);
	return NULL;
}

struct err *sdk_install(
	struct arena *a, const struct sdk_spec *spec, struct sdk *ret, struct sdk_done *ret_done)
{
	struct sdk_done none, *done = ret_done ? ret_done : &none;
	*done = (struct sdk_done){0};
	struct install in = {0};
	TRY(begin(a, spec, &in));
	if (!in.provider->resolve)
		return sdk_open(a, spec, ret);
	CLEANUP(fd_closep) int lock = -1;
	TRY(sdk_lock(a, in.job.name, &lock));
	TRY(fs_stage_begin(a, &in.stage));
	struct err *e = look(a, &in, &done->nothing);
	if (!e && !done->nothing) {
		e = resolve(a, &in);
		e = e ? e : fill(a, &in, done);
		if (e)
			e = err_wrap(e, "cannot install the SDK '%.*s'", STR(in.job.name));
	}
	TRY(err_join(e, fs_stage_end(&in.stage)));
	return sdk_open(a, spec, ret);
}

struct err *sdk_preview(struct arena *a, const struct sdk_spec *spec, struct sdk_done *ret,
	struct strs *ret_packages)
{
	struct install in = {0};
	struct sdk none;
	*ret = (struct sdk_done){.nothing = true};
	TRY(begin(a, spec, &in));
	if (!in.provider->resolve)
		return sdk_open(a, spec, &none);
	TRY(look(a, &in, &ret->nothing));
	if (ret->nothing)
		return NULL;
	/* use a copy of the index that an install would use, so that nothing changes */
	CLEANUP(fs_tempdirp) struct str scratch = {0};
	TRY(fs_tempdir(a, S(""), &scratch));
	TRY(in.provider->borrow(a, &in.job, scratch));
	in.job.cache = scratch;
	in.stage.tree = path_join(a, in.stage.beside, S("tree"));
	TRY(resolve(a, &in));
	TRY(find_need(a, &in, ret));
	VEC_EACH (struct archive_item, i, &in.need)
		strs_fmt(a, ret_packages, "%.*s %.*s", STR(i->name), STR(i->version));
	return NULL;
}
