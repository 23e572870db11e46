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

/* ---- writing ---- */

static void put_sig(struct buf *b, const struct sig *s)
{
	buf_le(b, s->size, 8);
	buf_le(b, s->mtime, 8);
	buf_le(b, s->ctime, 8);
	buf_le(b, s->ino, 8);
}

static void put_sum(struct buf *b, const struct sum *s)
{
	memcpy(buf_space(b, sizeof(s->b)), s->b, sizeof(s->b));
}

static void put_body(struct buf *b, const struct manifest *m)
{
	buf_le(b, m->kind, 1);
	buf_le(b, m->complete, 1);
	buf_le(b, m->device, 8);
	buf_le(b, m->inode, 8);
	pack_text(b, m->identity);
	pack_text(b, m->root);
	buf_le(b, m->made.n, 4);
	VEC_EACH (const struct made, e, &m->made) {
		buf_le(b, e->kind, 1);
		buf_le(b, e->replaced, 1);
		pack_text(b, e->output);
		pack_text(b, e->source);
		put_sum(b, &e->hash);
		put_sum(b, &e->before);
		put_sum(b, &e->original);
		put_sig(b, &e->sig);
	}
	buf_le(b, m->seen.n, 4);
	VEC_EACH (const struct seen, s, &m->seen) {
		buf_le(b, s->kind, 1);
		buf_le(b, s->absent, 1);
		buf_le(b, s->racy, 1);
		pack_text(b, s->path);
		put_sum(b, &s->hash);
		put_sig(b, &s->sig);
	}
	buf_le(b, m->changes.n, 4);
	VEC_EACH (const struct change, f, &m->changes) {
		buf_le(b, f->status, 1);
		buf_le(b, f->mark, 4);
		buf_le(b, f->edits, 8);
		pack_text(b, f->source);
		pack_text(b, f->output);
	}
	pack_text(b, m->report);
}

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
	put_body(&b, m);
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

static struct sig get_sig(struct unpack *c)
{
	struct sig s = {.size = unpack_u64(c, 8)};
	s.mtime = unpack_u64(c, 8);
	s.ctime = unpack_u64(c, 8);
	s.ino = unpack_u64(c, 8);
	return s;
}

static struct sum get_sum(struct unpack *c)
{
	struct sum s = {0};
	const char *p = unpack_raw(c, sizeof(s.b));
	if (p)
		memcpy(s.b, p, sizeof(s.b));
	return s;
}

static void get_body(struct unpack *c, struct manifest *m)
{
	struct str rest;
	m->kind = (enum base_kind)unpack_kind(c, BASE_OVERLAY);
	m->complete = unpack_bool(c);
	m->device = unpack_u64(c, 8);
	m->inode = unpack_u64(c, 8);
	m->identity = unpack_text(c);
	m->root = unpack_text(c);
	m->made.n = m->made.cap = unpack_count(c, MADE_BYTES);
	m->made.v = arena_array(m->a, m->made.n, sizeof(*m->made.v));
	VEC_EACH (struct made, e, &m->made) {
		e->kind = (enum made_kind)unpack_kind(c, MADE_FOUND);
		e->replaced = unpack_bool(c);
		e->output = unpack_text(c);
		e->source = unpack_text(c);
		e->hash = get_sum(c);
		e->before = get_sum(c);
		e->original = get_sum(c);
		e->sig = get_sig(c);
		/* an output lies inside BASE; when a tree is changed in place, leading "../" may also lead above it */
		unsigned above = base_ups(e->output, &rest);
		c->bad = c->bad || (above && m->kind != BASE_IN_PLACE) || !path_is_inside(rest) ||
			 str_contains(rest, S("/../"));
	}
	m->seen.n = m->seen.cap = unpack_count(c, SEEN_BYTES);
	m->seen.v = arena_array(m->a, m->seen.n, sizeof(*m->seen.v));
	VEC_EACH (struct seen, s, &m->seen) {
		s->kind = (enum seen_kind)unpack_kind(c, SEEN_PROBE);
		s->absent = unpack_bool(c);
		s->racy = unpack_bool(c);
		s->path = unpack_text(c);
		s->hash = get_sum(c);
		s->sig = get_sig(c);
	}
	m->changes.n = m->changes.cap = unpack_count(c, CHANGE_BYTES);
	m->changes.v = arena_array(m->a, m->changes.n, sizeof(*m->changes.v));
	VEC_EACH (struct change, f, &m->changes) {
		f->status = (enum change_status)unpack_kind(c, CHANGE_FAILED);
		f->mark = (unsigned)unpack_u64(c, 4);
		f->edits = (size_t)unpack_u64(c, 8);
		f->source = unpack_text(c);
		f->output = unpack_text(c);
	}
	m->report = unpack_bytes(c);
	c->bad = c->bad || c->s.n;
}

/* Finds the body and the HMAC of the manifest at the beginning of the text. */
static struct err *find_body(struct str text, struct manifest *ret, struct str *ret_behind)
{
	if (!str_starts(text, str_from(head)))
		return err_new(E_CORRUPT, "it is not a manifest that this rocsmith knows");
	struct unpack c = {.s = str_sub(text, HEAD, text.n)};
	uint64_t crc = unpack_u64(&c, 4), length = unpack_u64(&c, 8);
	ret->seal = get_sum(&c);
	if (c.bad || length > c.s.n)
		return err_new(E_CORRUPT, "it is cut off");
	ret->body = str_sub(c.s, 0, length);
	*ret_behind = str_sub(c.s, length, c.s.n);
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
	struct unpack c = {.s = ret->body};
	get_body(&c, ret);
	return c.bad ? err_new(E_CORRUPT, "it has a damaged record") : NULL;
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
	if (str_eq(m->root, path_dir(journal)))
		return NULL;
	/* the tree was moved since it was changed: "../" now leads to unrelated folders */
	size_t n = 0;
	VEC_EACH (const struct made, made, &m->made)
		if (!base_ups(made->output, &text))
			m->made.v[n++] = *made;
	m->made.n = n;
	return NULL;
}

void manifest_index(struct manifest *m)
{
	if (!m->by_output.n)
		VEC_EACH (struct made, e, &m->made)
			map_put(&m->by_output, e->output, e);
}

struct made *manifest_made(const struct manifest *m, struct str output)
{
	return m ? map_get(&m->by_output, output) : NULL;
}
