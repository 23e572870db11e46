/* Turns a user's word into a folder of sources; see fetch.h. */
#include <limits.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs_stage.h"
#include "base/hash.h"
#include "base/progress.h"
#include "formats/node.h"
#include "source/fetch_int.h"

enum { LAYOUT = 1 }; /* the version of the folders' layout; a change gives them new names */

static const struct json_field file_fields[] = FIELDS_ONLY(struct source_file, name, size, sha256);

const struct json_field source_tree_fields[] = {
	FIELDS(struct source_tree, kind, from, package, version, upstream, mirror, index_date),
	FIELD_LIST("files", struct source_tree, files, file_fields),
	FIELDS(struct source_tree, patches, notes),
	{.kind = FIELD_END},
};

/* ---- existing folders ---- */
static const struct json_field receipt_fields[] = {
	FIELD_CONST("schema", "rocsmith.source/1"),
	FIELD_PART("source", source_tree_fields),
	{.kind = FIELD_END},
};

static struct str receipt_path(const struct fetch *f, struct str name)
{
	return str_fmt(f->a, "%.*s/%.*s.json", STR(f->cache), STR(name));
}

/* The path of the file that records the folder for a word. The hash covers everything that could lead the word to other
 * sources, but for pip's files of configuration. */
static struct str word_path(const struct fetch *f)
{
	const struct source_request *r = f->r;
	BUF(key, f->a);
	buf_fmt(&key, "%.*s\n%.*s\n%.*s\n%.*s\n%d\n", STR(r->spec.text), STR(r->mirror),
		STR(r->keyring), STR(r->python), r->patches);
	for (char **e = environ; *e && r->spec.kind == SOURCE_SDIST; e++)
		if (str_starts(str_from(*e), S("PIP_")))
			buf_fmt(&key, "%s\n", *e);
	struct str hash = sha256_hex(f->a, buf_str(&key));
	return str_fmt(f->a, "%.*s/words/%.*s", STR(f->cache), STR(hash));
}

/* The folder's name, NAME-VERSION-HASH; the hash covers everything that the folder is made from. It is whole, since
 * nothing else tells the folder from one of other archives. */
static struct str folder_name(const struct fetch *f, const struct source_tree *tree)
{
	BUF(key, f->a);
	buf_fmt(&key, "%d %d", LAYOUT, f->r->patches && f->r->spec.kind == SOURCE_DEBIAN);
	VEC_EACH (const struct source_file, i, &tree->files)
		buf_fmt(&key, " %.*s %.*s", STR(i->name), STR(i->sha256));
	struct str hash = sha256_hex(f->a, buf_str(&key));
	return str_fmt(f->a, "%.*s-%.*s-%.*s", STR(tree->package), STR(tree->version), STR(hash));
}

/* A receipt that cannot be read, or is of other archives, is ignored, so the folder is made again. */
static bool find_made(const struct fetch *f, struct str name, struct source_tree *ret)
{
	struct str path = receipt_path(f, name), dir = path_join(f->a, f->cache, name);
	const struct node *doc;
	struct source_tree tree = {0};
	if (!fs_is_dir(dir) || !fs_is_file(path))
		return false;
	CLEANUP(err_freep) struct err *e = json_read(f->a, path, &doc);
	if (!e)
		e = json_fields_read(f->a, doc, receipt_fields, &tree);
	if (e || !str_eq(folder_name(f, &tree), name))
		return false;
	*ret = tree;
	ret->dir = dir;
	ret->from = f->r->spec.text;
	return true;
}

static const struct fetch_kind *const kinds[] = {
	[SOURCE_DEBIAN] = &fetch_debian, [SOURCE_SDIST] = &fetch_sdist, [SOURCE_GIT] = &fetch_git};

/* Finds an existing folder. The user's own sdist or lock is read each time, since the file may have changed. */
static struct err *find(struct fetch *f, struct source_tree *ret, bool *ret_found)
{
	struct str name = {0};
	*ret_found = false;
	if (f->r->spec.path.n) {
		TRY(kinds[f->r->spec.kind]->get(f));
		name = folder_name(f, &f->tree);
	} else if (!f->r->refresh) {
		TRY(fs_read_opt(f->a, word_path(f), NAME_MAX, &name));
	}
	*ret_found = name.p && path_is_inside(name) && find_made(f, name, ret);
	return NULL;
}

/* Keeps the folder until this process ends. Its receipt says when that was the last time. */
static struct err *use(struct fetch *f, struct str dir)
{
	fs_stamp(receipt_path(f, path_base(dir)));
	return fs_hold(dir, FS_HOLD_SOURCES);
}

struct err *source_fetch(struct arena *a, const struct source_request *r, struct source_tree *ret)
{
	const struct source_spec *s = &r->spec;
	CLEANUP(fd_closep) int lock = -1;
	bool found;
	*ret = (struct source_tree){
		.kind = str_from(source_kinds[s->kind]), .from = s->text, .dir = s->path};
	if (s->kind == SOURCE_DIR)
		return fs_is_dir(s->path)
			       ? NULL
			       : err_new(E_NOENT, "there is no folder '%.*s'", STR(s->path));
	struct fetch f = {
		.a = a, .r = r, .tree = *ret, .cache = fs_place(a, FS_CACHE, S("source"))};
	TRY(fs_place_check(FS_CACHE));
	TRY(fs_check_way(f.cache));
	f.files = path_join(a, f.cache, S("files"));
	TRY(find(&f, ret, &found));
	if (found)
		return use(&f, ret->dir);
	if (fs_writes_forbidden())
		return err_hint(
			err_new(E_SOURCE, "the sources '%.*s' are not here yet", STR(s->text)),
			"a dry run fetches nothing; 'rocsmith plan' without -n does");
	TRY(fs_mkdirs(f.files));
	TRY(fs_mkdirs(path_join(a, f.cache, S("words"))));
	TRY(progress_lock(path_join(a, f.cache, S("lock")), &lock, "fetches sources"));
	TRY(find(&f, ret, &found)); /* another process may have made it meanwhile */
	if (found)
		return use(&f, ret->dir);
	TRY(kinds[s->kind]->get(&f));
	struct str name = folder_name(&f, &f.tree);
	if (!find_made(&f, name, ret)) {
		/* all sources share a hidden folder, so that the next fetch removes what a killed run left */
		struct fs_stage stage = {.place = path_join(a, f.cache, name),
			.beside = path_join(a, f.cache, S(".new")),
			.receipt = receipt_path(&f, name)};
		TRY(fs_stage_begin(a, &stage));
		struct err *e = kinds[s->kind]->fill(&f, stage.beside, stage.tree);
		e = e ? e : fs_stage_commit(&stage, json_document(a, 1, receipt_fields, &f.tree));
		TRY(err_join(e, fs_stage_end(&stage)));
		*ret = f.tree;
		ret->dir = stage.place;
		VEC_EACH (const struct str, note, &ret->notes)
			progress_note(S("Note"), "%.*s", STR(*note));
	}
	TRY(s->path.n ? NULL : fs_write(word_path(&f), name, 0644));
	return use(&f, ret->dir);
}
