/* Keeps entries in folders, and decides which are believed; see cache.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "cache/cache_int.h"
#include "term/out.h"

enum {
	MAX_HEAD = 1024,
	MAX_SAID = 1 << 20,
	MAX_OBJECT = 1 << 30,
	MIN_KEY = 32,
	MAX_KEY = 4096,
	MOST_ENTRIES = 1 << 20
};

static const uint64_t MAX_ENTRY = MAX_HEAD + MAX_SAID + (uint64_t)MAX_OBJECT;
#define TAG "CACHEDIR.TAG" /* https://bford.info/cachedir/ */
static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
			  "# Objects that rocsmith compiled: all in here can be made again.\n";

/* ---- the form of an entry ---- */
static struct str seal_of(struct arena *a, struct str secret, struct str head)
{
	return secret.n ? digest_hex(a, hash_sealed(secret, head)) : S("-");
}

static struct digest payload_hash(struct str said, struct str object)
{
	struct hash *h = hash_new(HASH_SHA256);
	hash_add(h, said.p, said.n);
	hash_add(h, object.p, object.n);
	return hash_end(h);
}

static bool take_line(struct str *text, const char *word, struct str *ret)
{
	struct str line;
	if (!str_next(text, '\n', &line) || !str_starts(line, str_from(word)))
		return false;
	*ret = str_sub(line, str_from(word).n, line.n);
	return true;
}

bool cache_entry_read(
	struct str secret, const struct digest *key, struct str file, struct cache_entry *ret)
{
	ARENA(tmp);
	struct str rest = str_sub(file, 0, MAX_HEAD), word, cost, hash, seal, one, two;
	uint64_t said, object, us, cpu;
	if (!take_line(&rest, "rocsmith object 1", &word) || word.n ||
		!take_line(&rest, "key ", &word) || !str_eq(word, digest_hex(&tmp, *key)) ||
		!take_line(&rest, "cost ", &cost) || !take_line(&rest, "said ", &one) ||
		!str_u64(one, 10, &said) || said > MAX_SAID || !take_line(&rest, "object ", &two) ||
		!str_u64(two, 10, &object) || object > MAX_OBJECT ||
		!take_line(&rest, "sha256 ", &hash))
		return false;
	struct str head = str_sub(file, 0, (size_t)(rest.p - file.p));
	if (!take_line(&rest, "seal ", &seal) || !take_line(&rest, "", &word) || word.n)
		return false;
	struct str body = str_sub(file, (size_t)(rest.p - file.p), file.n);
	if (body.n != said + object)
		return false;
	if (secret.n && !str_eq(seal, seal_of(&tmp, secret, head)))
		return false;
	*ret = (struct cache_entry){
		.said = str_sub(body, 0, said), .object = str_sub(body, said, body.n)};
	struct digest d = payload_hash(ret->said, ret->object);
	if (!str_eq(hash, digest_hex(&tmp, d)) || !str_cut(cost, ' ', &one, &cost) ||
		!str_cut(cost, ' ', &two, &cost) || !str_u64(one, 10, &us) ||
		!str_u64(two, 10, &cpu) || !str_u64(cost, 10, &ret->memory))
		return false;
	ret->seconds = (double)us / 1e6;
	ret->cpu = (double)cpu / 1e6;
	return true;
}

/* ---- places ---- */
static struct str entry_name(struct arena *a, const struct digest *key)
{
	struct str hex = digest_hex(a, *key);
	return str_fmt(a, "%.*s/%.*s", 2, hex.p, STR(hex));
}

/* Notes the first error, for cache_closep(). */
static void note_trouble(struct cache *c, struct err *e)
{
	if (!e)
		return;
	pthread_mutex_lock(&c->lock);
	if (c->trouble)
		err_free(e);
	else
		c->trouble = e;
	pthread_mutex_unlock(&c->lock);
}

static bool is_troubled(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	bool ret = c->trouble != NULL;
	pthread_mutex_unlock(&c->lock);
	return ret;
}

/* In the own folder, which only this user can change, entries are believed. */
static bool get_from_own(
	struct arena *a, struct cache *c, const struct digest *key, struct cache_entry *ret)
{
	struct str path = path_join(a, c->own.dir, entry_name(a, key)), file = {0};
	struct stat st;
	if (!fs_try_lstat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	struct err *e = fs_map(path, &file);
	err_free(e);
	if (e)
		return false;
	if (!cache_entry_read(S(""), key, file, ret)) {
		fs_unmap(&file);
		return false;
	}
	ret->said = str_dup(a, ret->said);
	ret->file = file;
	fs_stamp(path);
	return true;
}

static struct err *put_into_dir(
	struct arena *tmp, const struct cache_place *p, const struct digest *key, struct str file)
{
	struct str path = path_join(tmp, p->dir, entry_name(tmp, key));
	TRY(fs_mkdirs(path_dir(path)));
	return fs_write(path, file, 0644);
}

static struct err *put_into_own(
	struct arena *tmp, struct cache *c, const struct digest *key, struct str file)
{
	TRY(put_into_dir(tmp, &c->own, key, file));
	c->written += file.n;
	return NULL;
}

/* Gets an entry from the server, or sends one as the lines of curl's configuration say. ret->there, without an error, is
 * false if the server has none. A cache that is slow to answer is no help. */
static struct err *transfer(struct arena *tmp, const struct cache *c, const struct digest *key,
	struct strs *more, struct web_answer *ret)
{
	struct str url = web_url(tmp, &c->shared.server, entry_name(tmp, key));
	strs_add(tmp, more,
		S("connect-timeout = 5\nspeed-time = 30\nspeed-limit = 1000\nretry = 0"));
	TRY(web_ask(tmp, &c->shared.server, url, more, ret));
	return ret->there || web_is_absent(ret) ? NULL
						: web_refused(tmp, &c->shared.server, ret, url);
}

/* Fetches an entry from the shared place into the own one. Others may exchange or cut a file of a shared folder at any time,
 * so it is read, not mapped, and reached through no link. */
static struct err *fetch(struct arena *tmp, struct cache *c, const struct digest *key)
{
	struct str name = entry_name(tmp, key), dir = c->shared.dir;
	struct web_answer got = {.there = dir.n && fs_present(path_join(tmp, dir, name))};
	struct strs more = {0};
	struct cache_entry entry;
	if (!dir.n)
		TRY(transfer(tmp, c, key, &more, &got));
	else if (got.there)
		TRY(fs_read_below(tmp, dir, name, MAX_ENTRY, &got.text));
	if (!got.there)
		return NULL;
	return cache_entry_read(c->shared.sealed ? c->key : S(""), key, got.text, &entry)
		       ? put_into_own(tmp, c, key, got.text)
		       : NULL;
}

bool cache_get(struct arena *a, struct cache *c, const struct digest *key, struct cache_entry *ret)
{
	ARENA(tmp);
	if (get_from_own(a, c, key, ret))
		return true;
	if (c->lender.n)
		return cache_ask(c->lender, CACHE_FETCH, key) && get_from_own(a, c, key, ret);
	if ((!c->shared.dir.n && !c->shared.server.base.n) || is_troubled(c))
		return false;
	note_trouble(c, fetch(&tmp, c, key));
	return get_from_own(a, c, key, ret);
}

/* An entry is put together in memory: it is written whole, into one place or two. */
static struct str entry_file(struct arena *a, const struct cache *c, const struct digest *key,
	const struct cache_entry *e)
{
	BUF(file, a);
	struct digest d = payload_hash(e->said, e->object);
	buf_fmt(&file,
		"rocsmith object 1\nkey %.*s\ncost %.0f %.0f %" PRIu64
		"\nsaid %zu\nobject %zu\nsha256 %.*s\n",
		STR(digest_hex(a, *key)), e->seconds * 1e6, e->cpu * 1e6, e->memory, e->said.n,
		e->object.n, STR(digest_hex(a, d)));
	buf_fmt(&file, "seal %.*s\n\n", STR(seal_of(a, c->key, buf_str(&file))));
	buf_add(&file, e->said);
	buf_add(&file, e->object);
	return buf_str(&file);
}

static struct err *put_into_shared(
	struct arena *tmp, struct cache *c, const struct digest *key, struct str file)
{
	CLEANUP(fs_tempdirp) struct str scratch = S("");
	struct strs more = {0};
	struct web_answer got = {0};
	if (is_troubled(c))
		return NULL;
	if (c->shared.dir.n)
		return put_into_dir(tmp, &c->shared, key, file);
	if (!c->shared.server.base.n)
		return NULL;
	TRY(fs_tempdir(tmp, S(""), &scratch));
	struct str part = path_join(tmp, scratch, S("entry"));
	web_set(tmp, &more, "upload-file", part);
	web_hash(tmp, &more, sha256_hex(tmp, file));
	TRY(fs_write(part, file, 0600));
	TRY(transfer(tmp, c, key, &more, &got));
	return got.there ? NULL : err_new(E_NET, "the server lets nothing be written there");
}

void cache_put(struct cache *c, const struct digest *key, const struct cache_entry *e)
{
	ARENA(tmp);
	if (e->object.n > MAX_OBJECT || e->said.n > MAX_SAID || fs_writes_forbidden())
		return;
	struct str file = entry_file(&tmp, c, key, e);
	struct err *bad = put_into_own(&tmp, c, key, file);
	if (!bad && !c->lender.n)
		bad = put_into_shared(&tmp, c, key, file);
	note_trouble(c, bad);
	if (c->lender.n) /* if it could not be written, the lender finds nothing there, and says so */
		cache_ask(c->lender, CACHE_SHARE, key);
}

void cache_share(struct cache *c, const struct digest *key)
{
	ARENA(tmp);
	struct cache_entry entry;
	if (!get_from_own(&tmp, c, key, &entry)) {
		note_trouble(
			c, err_new(E_IO, "a compiler could not write to '%.*s'", STR(c->own.dir)));
		return;
	}
	struct str file = entry_file(&tmp, c, key, &entry);
	fs_unmap(&entry.file);
	c->written += file.n;
	note_trouble(c, put_into_shared(&tmp, c, key, file));
}

/* ---- opening ---- */
/* The key is a secret: a file of this user that nobody else can read. */
static struct err *read_key(struct cache *c, struct str file)
{
	struct stat st;
	TRY_CTX(fs_stat(file, &st), "cannot read the cache's key");
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077))
		return err_hint(err_new(E_PERM, "'%.*s' is no key: others can read it", STR(file)),
			"chmod 600 %.*s", STR(file));
	TRY(fs_read(&c->a, file, MAX_KEY, &c->key));
	c->key = str_trim(c->key);
	if (c->key.n < MIN_KEY)
		return err_new(
			E_USAGE, "the key in '%.*s' is shorter than %d bytes", STR(file), MIN_KEY);
	return NULL;
}

static struct err *open_shared(struct cache *c, struct str where)
{
	struct cache_place *p = &c->shared;
	bool server = web_is_address(where);
	if (!server && str_chr(where, ':') < where.n)
		return err_hint(err_new(E_USAGE, "'%.*s' is no place for a cache", STR(where)),
			"name a folder, https://..., s3://BUCKET/PREFIX, 'local' or 'off'");
	p->sealed = true;
	if (server) {
		TRY(web_open(&c->a, where, NULL, &p->server));
		p->server.most = MAX_ENTRY;
	} else {
		p->dir = path_abs(&c->a, where);
		TRY(fs_mkdirs(p->dir));
		TRY(fs_guard(p->dir, &c->guard));
		struct err *others = fs_check_way(p->dir);
		p->sealed = others != NULL;
		err_free(others);
	}
	if (!p->sealed || c->key.n)
		return NULL;
	return err_hint(
		err_new(E_USAGE,
			"others can write to '%.*s': entries there are believed only with a key",
			STR(where)),
		"make one, give it to those who share the cache, and name it with --cache-key: "
		"(umask 077; head -c 32 /dev/urandom | base64 > KEY)");
}

struct err *cache_open(const struct cache_wish *wish, struct cache **ret)
{
	*ret = NULL;
	if (!wish->where.n || str_eq(wish->where, S("off")))
		return NULL;
	struct cache *c = xmalloc(sizeof(*c));
	*c = (struct cache){.lock = PTHREAD_MUTEX_INITIALIZER,
		.limit = wish->limit ? wish->limit : CACHE_LIMIT};
	c->own.dir = fs_place(&c->a, FS_CACHE, S("objects"));
	struct err *e = fs_place_check(FS_CACHE);
	if (!e)
		e = fs_mkdirs(c->own.dir);
	if (!e)
		e = fs_write(
			path_join(&c->a, c->own.dir, S(TAG)), str_from(tag), 0644 | FS_IF_CHANGED);
	if (!e)
		e = fs_hold(c->own.dir, FS_HOLD_USED);
	if (!e && wish->key_file.n)
		e = read_key(c, wish->key_file);
	if (!e && !str_eq(wish->where, S("local")))
		e = open_shared(c, wish->where);
	if (!e)
		*ret = c;
	else
		cache_closep(&c);
	return e;
}

struct str cache_own_dir(const struct cache *c)
{
	return c->own.dir;
}

struct cache *cache_borrow(struct str own, struct str dir)
{
	struct cache *c = xmalloc(sizeof(*c));
	*c = (struct cache){.lock = PTHREAD_MUTEX_INITIALIZER};
	c->own.dir = str_dup(&c->a, own);
	c->lender = str_dup(&c->a, dir);
	return c;
}

/* ---- the limit ---- */
struct kept {
	struct str path;
	uint64_t bytes;
	int64_t used;
};

struct kept_list {
	struct arena *a;
	VEC(struct kept) files;
	uint64_t bytes;
};

static struct err *list_entry(void *user, struct fs_entry *e)
{
	struct kept_list *l = user;
	if (!S_ISREG(e->st.st_mode) || str_eq(e->path, S(TAG)) || l->files.n >= MOST_ENTRIES)
		return NULL;
	l->bytes += (uint64_t)e->st.st_size;
	*VEC_PUSH(l->a, &l->files) = (struct kept){.path = str_dup(l->a, e->path),
		.bytes = (uint64_t)e->st.st_size,
		.used = (int64_t)e->st.st_atim.tv_sec};
	return NULL;
}

static int by_use(const void *x, const void *y)
{
	const struct kept *a = x, *b = y;
	return (a->used > b->used) - (a->used < b->used);
}

/* Removes the longest unused entries until nine tenths of the limit are left, so that not every build has to. */
static struct err *keep_limit(struct cache *c)
{
	ARENA(tmp);
	struct kept_list l = {.a = &tmp};
	TRY(fs_walk(c->own.dir, list_entry, &l));
	if (l.bytes <= c->limit)
		return NULL;
	VEC_SORT(&l.files, by_use);
	for (size_t i = 0; i < l.files.n && l.bytes > c->limit / 10 * 9; i++) {
		TRY(fs_remove(path_join(&tmp, c->own.dir, l.files.v[i].path)));
		l.bytes -= l.files.v[i].bytes;
	}
	return NULL;
}

void cache_closep(struct cache **c)
{
	struct cache *it = *c;
	if (!it)
		return;
	if (it->written && !it->lender.n)
		note_trouble(it, keep_limit(it));
	if (it->trouble && !it->lender.n)
		say_warning(
			"the cache of objects is not used fully: %s", err_root(it->trouble)->msg);
	err_free(it->trouble);
	fs_unguardp(&it->guard);
	arena_free(&it->a);
	pthread_mutex_destroy(&it->lock);
	free(it);
	*c = NULL;
}
