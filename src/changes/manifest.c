/* Reads and writes the manifest's bytes (reads are bounds-checked) and its seal. A source tree may come from strangers
 * together with its .rocsmith, and a forged manifest could make us replace or remove files. So each manifest
 * carries an HMAC of its body, whose key is stored outside all trees: FS_STATE "key". */
#include "changes/manifest.h"

#include <libdeflate.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "formats/le.h"

/* *_BYTES: the size of a record with empty texts. */
enum { MANIFEST_LIMIT = 1 << 28, MADE_BYTES = 140, SEEN_BYTES = 72, CHANGE_BYTES = 23 };
enum { KEY_BYTES = 64 };

#define MANIFEST "hipify.manifest"

static const char head[] = "rocsmith hipify manifest 5\n";
enum { HEAD = sizeof(head) - 1, SEAL_AT = HEAD + 12, BODY_AT = SEAL_AT + sizeof(struct sum) };

/* ---- the body ---- */

static void pass_sig(struct record *r, struct sig *io)
{
	record_u64(r, &io->size);
	record_u64(r, &io->mtime);
	record_u64(r, &io->ctime);
	record_u64(r, &io->ino);
}

/* Writes the body, or reads it. */
static void pass_body(struct record *r, struct manifest *io)
{
	struct str rest;
	record_kind(r, &io->kind, BASE_OVERLAY);
	record_bool(r, &io->complete);
	record_u64(r, &io->device);
	record_u64(r, &io->inode);
	record_text(r, &io->identity);
	record_text(r, &io->root);
	record_list(r, &io->made, sizeof(*io->made.v), MADE_BYTES);
	VEC_EACH (struct made, e, &io->made) {
		record_kind(r, &e->kind, MADE_FOUND);
		record_bool(r, &e->replaced);
		record_text(r, &e->output);
		record_text(r, &e->source);
		record_raw(r, &e->hash, sizeof(e->hash));
		record_raw(r, &e->before, sizeof(e->before));
		record_raw(r, &e->original, sizeof(e->original));
		pass_sig(r, &e->sig);
		/* an output lies inside BASE; when a tree is changed in place, leading "../" may also lead above it */
		unsigned above = base_ups(e->output, &rest);
		if ((above && io->kind != BASE_IN_PLACE) || !path_is_inside(rest) ||
			str_contains(rest, S("/../")))
			r->bad = true;
	}
	record_list(r, &io->seen, sizeof(*io->seen.v), SEEN_BYTES);
	VEC_EACH (struct seen, s, &io->seen) {
		record_kind(r, &s->kind, SEEN_PROBE);
		record_bool(r, &s->absent);
		record_bool(r, &s->racy);
		record_text(r, &s->path);
		record_raw(r, &s->hash, sizeof(s->hash));
		pass_sig(r, &s->sig);
	}
	record_list(r, &io->changes, sizeof(*io->changes.v), CHANGE_BYTES);
	VEC_EACH (struct change, f, &io->changes) {
		record_kind(r, &f->status, CHANGE_FAILED);
		record_u32(r, &f->mark);
		record_u64(r, &f->edits);
		record_text(r, &f->source);
		record_text(r, &f->output);
	}
	record_bytes(r, &io->report);
}

/* ---- writing ---- */

/* Covers the head and the body. */
static uint32_t checksum(struct str body)
{
	return libdeflate_crc32(libdeflate_crc32(0, head, HEAD), body.p, body.n);
}

/* An overlay's manifest has megabytes, so it is built in a single buffer, with room for records with usual texts; its
 * head is filled in last. */
struct str manifest_text(struct arena *a, const struct manifest *m)
{
	BUF(b, a);
	BUF(sums, a);
	buf_reserve(&b, 2 * (m->made.n * MADE_BYTES + m->seen.n * SEEN_BYTES +
				    m->changes.n * CHANGE_BYTES) +
				m->report.n + 4096);
	buf_add(&b, str_from(head));
	memset(buf_space(&b, BODY_AT - HEAD), 0, BODY_AT - HEAD);
	struct manifest whole = *m;
	pass_body(&(struct record){.out = &b}, &whole);
	buf_le(&sums, checksum(str_sub(buf_str(&b), BODY_AT, b.n)), 4);
	buf_le(&sums, b.n - BODY_AT, 8);
	memcpy(b.p + HEAD, sums.p, 12);
	return buf_str(&b);
}

/* ---- the seal: did this user's rocsmith write it? ---- */

static struct err *read_key(struct arena *a, struct str path, struct str *ret)
{
	TRY(fs_place_check(FS_STATE));
	TRY(fs_read_opt(a, path, KEY_BYTES, ret));
	if (ret->p && ret->n != KEY_BYTES)
		return err_new(E_CORRUPT, "'%.*s' is no key of rocsmith", STR(path));
	return NULL;
}

/* Makes the key under a lock, since two processes may need the first key at the same time. */
static struct err *make_key(struct arena *a, struct str path, struct str *ret)
{
	CLEANUP(fd_closep) int lock = -1;
	char *key = arena_alloc(a, KEY_BYTES);
	TRY(fs_mkdirs(path_dir(path)));
	TRY(fs_lock(str_fmt(a, "%.*s.lock", STR(path)), FS_LOCK_WAIT, &lock));
	TRY(read_key(a, path, ret));
	if (ret->p)
		return NULL;
	if (getentropy(key, KEY_BYTES) < 0)
		return err_errno("cannot make a key");
	*ret = (struct str){key, KEY_BYTES};
	return fs_write(path, *ret, 0600);
}

struct err *seal_of(struct str text, struct sum *ret)
{
	ARENA(tmp);
	struct str key, path = fs_place(&tmp, FS_STATE, S("key"));
	*ret = (struct sum){0};
	TRY(read_key(&tmp, path, &key));
	if (!key.p && fs_writes_forbidden())
		return NULL;
	if (!key.p)
		TRY_CTX(make_key(&tmp, path, &key),
			"cannot store the key that marks trees as ours");
	struct digest d = hash_sealed(key, text);
	for (size_t i = 0; i < sizeof(ret->b); i++)
		ret->b[i] = d.b[i];
	return NULL;
}

static struct err *sealed(struct arena *a, const struct manifest *m, struct str *ret)
{
	struct sum seal;
	struct stat st;
	struct manifest here = *m;
	TRY(fs_stat(path_dir(m->journal), &st));
	here.device = st.st_dev;
	here.inode = st.st_ino;
	struct str text = manifest_text(a, &here);
	TRY(seal_of(str_sub(text, BODY_AT, text.n), &seal));
	memcpy((char *)(uintptr_t)text.p + SEAL_AT, seal.b, sizeof(seal.b));
	*ret = text;
	return NULL;
}

struct err *manifest_write(const struct manifest *m)
{
	ARENA(tmp);
	struct str text;
	TRY(sealed(&tmp, m, &text));
	return fs_write(path_join(&tmp, m->journal, S(MANIFEST)), text, 0644 | FS_IF_CHANGED);
}

struct err *manifest_add(const struct manifest *m)
{
	ARENA(tmp);
	struct str text, path = path_join(&tmp, m->journal, S(MANIFEST));
	TRY(sealed(&tmp, m, &text));
	struct err *e = fs_append(path, text);
	if (!e)
		return NULL;
	err_free(e); /* it may be partly written; replace the whole file */
	return manifest_write(m);
}

struct err *manifest_put(struct arena *a, const struct manifest *m, struct str *ret_path)
{
	struct str text, path = *ret_path = path_join(a, m->journal, S(MANIFEST));
	struct str staged = fs_temp_name(a, path);
	TRY(sealed(a, m, &text));
	struct err *e = fs_write(staged, text, 0644 | FS_LOOSE);
	if (e)
		return err_join(e, fs_remove(staged));
	if (!fs_present(path))
		return fs_move(staged, path, true);
	e = fs_exchange(staged, path);
	if (!e)
		return NULL;
	/* this file system cannot exchange names: sync the new file before it replaces the old */
	err_free(e);
	TRY(fs_sync(staged));
	return fs_move(staged, path, true);
}

struct err *manifest_sync(struct str path)
{
	ARENA(tmp);
	TRY(fs_sync(path));
	return fs_remove(fs_temp_name(&tmp, path));
}

/* ---- reading ---- */

/* Finds the body and the HMAC of the manifest at the beginning of the text. */
static struct err *find_body(struct str text, struct manifest *ret, struct str *ret_behind)
{
	if (!str_starts(text, str_from(head)))
		return err_new(E_CORRUPT, "it is not a manifest that this rocsmith knows");
	struct record r = {.in = str_sub(text, HEAD, text.n)};
	unsigned crc = 0;
	uint64_t length = 0;
	record_u32(&r, &crc);
	record_u64(&r, &length);
	record_raw(&r, &ret->seal, sizeof(ret->seal));
	if (r.bad || length > r.in.n)
		return err_new(E_CORRUPT, "it is cut off");
	ret->body = str_sub(r.in, 0, length);
	*ret_behind = str_sub(r.in, length, r.in.n);
	return crc == checksum(ret->body) ? NULL : err_new(E_CORRUPT, "its checksum is wrong");
}

struct err *manifest_parse(struct arena *a, struct str text, struct manifest *ret)
{
	*ret = (struct manifest){.a = a, .by_output = {.a = a}};
	TRY(find_body(text, ret, &text));
	struct manifest added = *ret;
	struct err *torn = text.n ? find_body(text, &added, &text) : NULL;
	if (!torn)
		*ret = added;
	err_free(torn);
	struct record r = {.a = a, .in = ret->body};
	pass_body(&r, ret);
	return r.bad || r.in.n ? err_new(E_CORRUPT, "it has a damaged record") : NULL;
}

/* The remedy depends on whether the journal holds originals. */
static struct err *damaged(struct str journal, struct err *why)
{
	ARENA(tmp);
	struct str base = path_dir(journal);
	struct err *e = err_wrap(why, "the manifest of '%.*s' cannot be used", STR(base));
	if (!fs_exists(path_join(&tmp, journal, S("originals"))))
		return err_hint(e,
			"remove '%.*s' and run again; the files made so far then count "
			"as yours",
			STR(journal));
	return err_hint(e,
		"the replaced files are in '%.*s/originals': copy them back over those "
		"in '%.*s', remove '%.*s', and run again",
		STR(journal), STR(base), STR(journal));
}

/* Is the folder a whole copy of the one in which the manifest was written? All outputs that are there have the content
 * that we gave them or found; a run or an undo that did not come to its end may have left some out. If there is none,
 * nothing may be put back, and the sources are those that we read. */
static struct err *is_copy(const struct manifest *m, struct str base, bool *ret)
{
	bool some = !m->made.n, idle = true;
	struct str rest;
	*ret = false;
	VEC_EACH (const struct made, e, &m->made) {
		ARENA(tmp);
		enum content content;
		if (e->kind != MADE_TEXT || base_ups(e->output, &rest))
			continue;
		TRY(made_content(m, base, e, &content));
		if (content == CONTENT_OTHER &&
			!(e->replaced &&
				sum_is_of_file(&e->original, base_path(&tmp, base, e->output))))
			return NULL;
		some = some || content != CONTENT_NONE;
		idle = idle &&
		       !(e->replaced && fs_present(base_original(&tmp, m->journal, e->output)));
	}
	*ret = some || idle;
	VEC_EACH (const struct seen, s, &m->seen) {
		ARENA(tmp);
		bool inside = path_is_inside(s->path) && !str_starts(s->path, S(".rocsmith"));
		if (!some && inside && s->kind == SEEN_FILE && !sum_none(&s->hash))
			*ret = *ret && sum_is_of_file(&s->hash, path_join(&tmp, base, s->path));
	}
	return NULL;
}

/* A folder that was renamed keeps its inode, and one whose disk got another device number its path. */
static struct err *check_folder(const struct manifest *m)
{
	struct str base = path_dir(m->journal);
	struct stat st;
	bool copy;
	TRY(fs_stat(base, &st));
	if (st.st_ino == m->inode && (st.st_dev == m->device || str_eq(m->root, base)))
		return NULL;
	TRY(is_copy(m, base, &copy));
	if (copy)
		return NULL;
	return err_hint(err_new(E_PERM,
				"'%.*s' belongs to another folder (it was made for '%.*s'), whose "
				"files are not those in '%.*s'",
				STR(m->journal), STR(m->root), STR(base)),
		"if '%.*s' is a copy whose files were edited since, copy back those in "
		"'%.*s/originals' that you want; then remove '%.*s'",
		STR(base), STR(m->journal), STR(m->journal));
}

struct err *manifest_read(struct arena *a, struct str journal, struct manifest **ret)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct str text, path = path_join(a, journal, S(MANIFEST));
	struct sum seal;
	*ret = NULL;
	TRY(fs_check_own(journal));
	TRY(fs_guard(path_dir(journal), &guard));
	TRY(fs_read_opt(a, path, MANIFEST_LIMIT, &text));
	if (!text.p)
		return NULL;
	struct manifest *m = NEW(a, struct manifest);
	struct err *e = manifest_parse(a, text, m);
	if (e) { /* a power failure before the sync may have torn it; then use the previous manifest */
		struct err *none = fs_read(a, fs_temp_name(a, path), MANIFEST_LIMIT, &text);
		none = none ? none : manifest_parse(a, text, m);
		if (none) {
			err_free(none);
			return damaged(journal, e);
		}
		err_free(e);
	}
	TRY(seal_of(m->body, &seal));
	if (sum_none(&seal) || !sum_eq(&seal, &m->seal))
		return err_hint(err_new(E_PERM,
					"'%.*s' was not written by this user's rocsmith, or it was "
					"changed since",
					STR(journal)),
			"rocsmith does not use it: look at it, copy back the files in its folder "
			"'originals' if they are yours, and remove it");
	m->journal = journal;
	TRY(check_folder(m));
	*ret = m;
	/* if the tree was moved since it was changed, "../" now leads to unrelated folders */
	bool moved = !str_eq(m->root, path_dir(journal));
	size_t n = 0;
	VEC_EACH (const struct made, made, &m->made) {
		if (moved && base_ups(made->output, &text))
			continue;
		m->made.v[n] = *made;
		map_put(&m->by_output, made->output, &m->made.v[n++]);
	}
	m->made.n = n;
	return NULL;
}

struct made *manifest_made(const struct manifest *m, struct str output)
{
	return m ? map_get(&m->by_output, output) : NULL;
}
