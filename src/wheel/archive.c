/* Opens a wheel and reads its RECORD, compares the members with it, and gives every new wheel its order of members and
 * its RECORD; see archive.h. */
#include "wheel/archive.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"

/* ---- contents ---- */

static struct err *refuse(const struct wheel *w, struct str member, const char *what)
{
	return err_new(
		E_WHEEL, "'%.*s' in '%.*s' %s", STR(member), STR(path_base(w->zip.path)), what);
}

struct member_check { /* one member */
	const struct wheel *w;
	const struct wheel_member *m;
	wheel_take *take;
	void *user;
	struct progress *progress;
	struct hash *hash;
	struct digest digest;
	uint64_t at;
};

static struct err *take_piece(void *user, const void *p, size_t n, bool *stop)
{
	struct member_check *r = user;
	(void)stop;
	hash_add(r->hash, p, n);
	progress_add(r->progress, n, r->m->zip->name);
	if (r->take)
		TRY(r->take(r->user, r->m, p, n, r->at));
	r->at += n;
	return cancel_check();
}

static struct err *read_member(struct arena *tmp, void *job)
{
	struct member_check *r = job;
	r->hash = hash_new(HASH_SHA256);
	struct err *e = zip_stream(&r->w->zip, r->m->zip, take_piece, r);
	if (!e && !r->at)
		e = take_piece(r, "", 0, NULL);
	r->digest = hash_end(r->hash);
	if (e || !r->m->sha256.n || str_eq(digest_base64url(tmp, &r->digest), r->m->sha256))
		return e;
	return refuse(r->w, r->m->zip->name, "is not what its RECORD says: the hash differs");
}

static int larger_first(const void *x, const void *y)
{
	const struct member_check *a = x, *b = y;
	uint64_t n = a->m->zip->size, k = b->m->zip->size;
	return n != k ? (n < k) - (n > k) : (a->m > b->m) - (a->m < b->m);
}

static struct err *read_members(struct member_check *v, const struct wheel *w, unsigned jobs,
	const char *verb, const struct member_check *each)
{
	CLEANUP(progress_endp)
	struct progress *p =
		progress_begin(str_from(verb), path_base(w->zip.path), UNIT_BYTES, w->size);
	for (size_t i = 0; i < w->members.n; i++) {
		v[i] = *each;
		v[i].w = w;
		v[i].m = &w->members.v[i];
		v[i].progress = p;
	}
	qsort(v, w->members.n, sizeof(*v), larger_first);
	jobs = jobs ? jobs : cpu_count();
	jobs = jobs < WHEEL_THREADS ? jobs : WHEEL_THREADS;
	/* one by one: pool_each() would give the first, the largest, to one thread */
	struct pool *pool = pool_new(jobs);
	for (size_t i = 0; i < w->members.n; i++)
		pool_add(pool, read_member, &v[i]);
	return pool_end(pool);
}

struct err *wheel_check(
	const struct wheel *w, unsigned jobs, const char *verb, wheel_take *take, void *user)
{
	ARENA(tmp);
	const struct member_check each = {.take = take, .user = user};
	return read_members(arena_array(&tmp, w->members.n, sizeof(each)), w, jobs, verb, &each);
}

/* Some packers write no hash at all. Nothing is lost then that RECORD could have told, and what is made of the wheel has
 * the hashes of the members as they are. */
static struct err *hash_members(struct arena *a, struct wheel *w)
{
	ARENA(tmp);
	const struct member_check each = {0};
	struct member_check *v = arena_array(&tmp, w->members.n, sizeof(*v));
	size_t n = 0;
	TRY(read_members(v, w, 0, "Hashing", &each));
	for (size_t i = 0; i < w->members.n; i++) {
		struct wheel_member *m = &w->members.v[v[i].m - w->members.v];
		if (wheel_is_record(w->info, m->zip->name))
			continue;
		m->sha256 = digest_base64url(a, &v[i].digest);
		n++;
	}
	progress_warn(
		"RECORD of '%.*s' has no hash for any of its %zu files: nothing tells whether they "
		"are what was packed",
		STR(path_base(w->zip.path)), n);
	return NULL;
}

/* ---- opening ---- */

struct err *wheel_headers(struct arena *a, const struct wheel *w, const char *file,
	struct str *ret_text, struct dist_headers *ret)
{
	struct str path = path_join(a, w->info, str_from(file));
	const struct zip_member *m = zip_find(&w->zip, path);
	if (!m)
		return err_new(E_WHEEL, "'%.*s' is missing", STR(path));
	TRY(zip_read(a, &w->zip, m, WHEEL_TEXT, ret_text));
	TRY_CTX(dist_headers_parse(a, *ret_text, ret), "cannot read '%.*s'", STR(path));
	return NULL;
}

bool wheel_is_record(struct str info, struct str name)
{
	static const char *const names[] = {"RECORD", "RECORD.jws", "RECORD.p7s", NULL};
	return str_eq(path_dir(name), info) && str_is_one_of(path_base(name), names);
}

/* bare: no row of this RECORD has a hash. */
static struct err *check_row(
	const struct wheel *w, const struct zip_member *m, const struct dist_row *e, bool bare)
{
	ARENA(tmp);
	uint64_t size = 0;
	if (!e)
		return refuse(w, m->name, "is not listed in its RECORD");
	if (!bare && !e->hash.n)
		return err_hint(refuse(w, m->name, "has no hash in its RECORD, but others have"),
			"somebody may have changed it: if you trust it, python3 -m zipfile -e "
			"%.*s tree && rocsmith wheel pack tree",
			STR(str_shell(&tmp, w->zip.path)));
	if (!bare && !str_eq(e->algorithm, S("sha256")))
		return refuse(w, m->name, "has a hash in its RECORD that is not sha256");
	if (e->size.n && (!str_u64(e->size, 10, &size) || size != m->size))
		return refuse(w, m->name, "has another size than its RECORD says");
	return NULL;
}

static struct err *read_record(struct arena *a, struct wheel *w)
{
	MAP(listed, a);
	struct str text, self = path_join(a, w->info, S("RECORD"));
	struct dist_record rows;
	const struct zip_member *m = zip_find(&w->zip, self);
	if (!m)
		return refuse(w, self, "is missing");
	TRY(zip_read(a, &w->zip, m, 2 * WHEEL_NAMES, &text));
	TRY_CTX(dist_record_parse(a, text, w->zip.members.n + 1000, &rows),
		"cannot read '%.*s' of '%.*s'", STR(self), STR(w->zip.path));
	bool bare = true;
	VEC_EACH (struct dist_row, e, &rows) {
		bare = bare && !e->hash.n && !e->algorithm.n;
		if (!map_put(&listed, e->path, e))
			return refuse(w, e->path, "is listed twice in its RECORD");
		if (!zip_find(&w->zip, e->path) && !wheel_is_record(w->info, e->path))
			return refuse(w, e->path, "is listed in its RECORD, but not there");
	}
	VEC_EACH (const struct zip_member, z, &w->zip.members) {
		const struct dist_row *e = map_get(&listed, z->name);
		bool record = wheel_is_record(w->info, z->name);
		if (z->dir)
			continue;
		if (!record)
			TRY(check_row(w, z, e, bare));
		*VEC_PUSH(a, &w->members) =
			(struct wheel_member){.zip = z, .sha256 = record ? S("") : e->hash};
		w->size += record ? 0 : z->size;
	}
	return bare ? hash_members(a, w) : NULL;
}

/* Checks the limits, and finds the dist-info folder. */
static struct err *check_members(struct wheel *w)
{
	struct str folder, rest, name = path_base(w->zip.path);
	uint64_t size = 0, names = 0;
	VEC_EACH (const struct zip_member, m, &w->zip.members) {
		size += m->size;
		names += m->name.n;
	}
	if (w->zip.members.n > WHEEL_MEMBERS || names > WHEEL_NAMES)
		return err_new(E_LIMIT, "'%.*s' has more than %d members, or too long names",
			STR(name), WHEEL_MEMBERS);
	if (size > WHEEL_BOMB && size / WHEEL_RATIO > w->zip.size)
		return err_new(E_LIMIT, "'%.*s' is a bomb: %llu bytes would unpack to %llu",
			STR(name), (unsigned long long)w->zip.size, (unsigned long long)size);
	VEC_EACH (const struct zip_member, m, &w->zip.members) {
		if (!str_cut(m->name, '/', &folder, &rest) || !str_ends(folder, S(DIST_INFO)))
			continue;
		if (w->info.n && !str_eq(w->info, folder))
			return refuse(w, folder, "is a second dist-info folder");
		w->info = folder;
	}
	if (wheel_owns_info(&w->name, w->info))
		return NULL;
	return err_new(E_WHEEL, "'%.*s' has no folder '%.*s-%.*s.dist-info'", STR(name),
		STR(w->name.dist), STR(w->name.version));
}

struct err *wheel_open(struct arena *a, struct str path, struct wheel *ret)
{
	*ret = (struct wheel){.zip.fd = -1};
	if (fs_exists(path)) /* a pattern that matched nothing has no name that could be wrong */
		TRY(wheel_name_parse(a, path, &ret->name));
	TRY(zip_open(a, path, NULL, &ret->zip));
	struct err *e = check_members(ret);
	e = e ? e : read_record(a, ret);
	if (e)
		wheel_close(ret);
	return e;
}

void wheel_close(struct wheel *w)
{
	zip_close(&w->zip);
}

/* ---- writing ---- */

/* Makes RECORD. If the wheel is too large, the error names the largest members: the user may do without one of them. */
static struct err *make_record(
	struct arena *a, void *user, const struct zip_output *outs, struct zip_input *ret)
{
	enum { NAMED = 5 };
	const struct wheel_inputs *in = user;
	struct str self = path_join(a, in->info, S("RECORD"));
	bool *named = arena_array(a, in->n + 1, sizeof(*named));
	uint64_t sum = 0;
	BUF(b, a);
	for (size_t i = 0; i < in->n; i++) {
		sum += outs[i].stored;
		dist_record_add(&b, in->v[i].name, outs[i].sha256, outs[i].size);
	}
	buf_fmt(&b, "%.*s,,\n", STR(self));
	*ret = (struct zip_input){.name = self, .content = buf_str(&b), .mode = 0644};
	if (!in->budget || sum <= in->budget)
		return NULL;
	struct err *e = err_new(E_LIMIT, "it would have %llu bytes, and at most %llu are allowed",
		(unsigned long long)sum, (unsigned long long)in->budget);
	for (unsigned k = 0; k < NAMED && k < in->n; k++) {
		size_t best = in->n;
		for (size_t i = 0; i < in->n; i++)
			if (!named[i] && (best == in->n || outs[i].stored > outs[best].stored))
				best = i;
		named[best] = true;
		e = err_hint(e, "'%.*s' takes %llu bytes of it", STR(in->v[best].name),
			(unsigned long long)outs[best].stored);
	}
	return e;
}

static bool in_info(struct str name)
{
	return str_ends(str_sub(name, 0, str_chr(name, '/')), S(".dist-info"));
}

static int by_place(const void *x, const void *y)
{
	const struct zip_input *a = x, *b = y;
	int r = in_info(a->name) - in_info(b->name);
	return r ? r : str_cmp(a->name, b->name);
}

struct err *wheel_write(struct arena *a, struct wheel_inputs *in, const struct zip_writer *how)
{
	struct zip_writer w = *how;
	TRY(wheel_sbom_renew(a, in));
	VEC_SORT(in, by_place);
	w.v = in->v;
	w.n = in->n;
	w.last = make_record;
	w.user = in;
	return zip_write(a, &w, NULL);
}
