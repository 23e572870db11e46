/* Merges wheels for one GPU each into one wheel; see split.h. Members that are the same in all of them are copied with
 * their compressed bytes. Files with device code are put together from a host part and objects, which wait in a scratch
 * file. */
#include "base/hash.h"
#include "base/proc.h"
#include "formats/kpack.h"
#include "wheel/rewrite.h"
#include "wheel/split.h"

struct merge_source { /* one of the wheels */
	struct wheel w;
	struct split_part part;
	bool is_part;
};

struct merge_copy { /* a member in one of the wheels */
	struct merge_source *from;
	const struct wheel_member *m;
	struct bytes src; /* its content and its plan, while it is open */
	int fd;
	struct slim_plan p;
};

struct merge_member { /* a member of the result */
	struct str name;
	VEC(struct merge_copy) copies;
};

struct merge_archive { /* a kpack archive */
	struct str name;
	struct bytes src;
	int fd;
	struct kpack k;
};

struct merging {
	struct arena *a;
	const struct merge_request *q;
	struct merge_done *done;
	struct merge_source *v, *first;
	struct merge_source *host; /* NULL: all are whole wheels */
	bool kpack;                /* the host part's device code is in archives */
	struct map names;          /* member name -> struct merge_member */
	struct budget budget;      /* the cost of reading all contents */
	VEC(struct merge_archive *) archives;
};

/* ---- the wheels and their members ---- */

static bool has_archives(const struct wheel *w)
{
	VEC_EACH (const struct wheel_member, m, &w->members)
		if (str_ends(m->zip->name, S(SPLIT_ARCHIVE)))
			return true;
	return false;
}

static struct err *stranger(const struct merge_source *s, const char *why)
{
	return err_new(E_WHEEL, "'%.*s' cannot be merged: %s", STR(path_base(s->w.zip.path)), why);
}

/* Opens the wheels, and checks that they belong together. */
static struct err *open_sources(struct merging *k)
{
	uint64_t size = 0;
	bool part = false, archives = false;
	for (size_t i = 0; i < k->q->from.n; i++) {
		struct merge_source *s = &k->v[i];
		TRY(wheel_open(k->a, k->q->from.v[i], &s->w));
		TRY(split_part_read(k->a, &s->w, &s->part, &s->is_part));
		if (!fs_writes_forbidden())
			TRY(wheel_check(&s->w, k->q->jobs, "Checking", NULL, NULL));
		size += s->w.size;
		part = part || s->is_part;
		archives = archives || has_archives(&s->w);
	}
	for (size_t i = 0; i < k->q->from.n; i++) {
		struct merge_source *s = &k->v[i];
		if (archives && !part)
			TRY(split_part_guess(k->a, &s->w, &s->part, &s->is_part));
		bool host = s->is_part && str_eq(s->part.role, S("host"));
		if (host && k->host)
			return err_new(
				E_WHEEL, "'%.*s' is a second host wheel", STR(s->w.zip.path));
		k->host = host ? s : k->host;
	}
	k->first = k->host ? k->host : k->v;
	k->kpack = k->host && str_eq(k->host->part.format, S("kpack"));
	budget_set(&k->budget, size);
	for (size_t i = 0; i < k->q->from.n; i++) {
		const struct merge_source *s = &k->v[i], *first = k->first;
		if (s->is_part && !k->host)
			return err_hint(stranger(s, "the host wheel of its set is not there"),
				"it is the %.*s wheel of '%.*s'", STR(s->part.role),
				STR(s->part.wheel));
		if (k->host && !s->is_part)
			return stranger(s, "it is a whole wheel, and others are parts of one");
		if (k->host && (!str_eq(s->part.set, first->part.set) ||
				       !str_eq(s->part.format, first->part.format)))
			return stranger(s, "it is part of another set than the host wheel");
		if (!k->host && !str_eq(path_base(s->w.zip.path), path_base(first->w.zip.path)))
			return stranger(s, "it has another name than the first one");
	}
	bool whole = k->host && has_archives(&k->host->w);
	return k->q->from.n > 1 || whole ? NULL
					 : err_new(E_USAGE, "'merge' needs two wheels or more");
}

static struct err *list_members(struct merging *k, struct merge_source *s)
{
	VEC_EACH (const struct wheel_member, m, &s->w.members) {
		struct str base = path_base(m->zip->name),
			   name = wheel_renamed(k->a, m->zip->name, dist_stem(s->w.info),
				   dist_stem(k->first->w.info));
		bool info = path_is_below(name, k->first->w.info);
		bool ours = info && (str_eq(base, S(SPLIT_MANIFEST)) || str_eq(base, S(CUT_LIST)));
		if (!m->sha256.n || (info && k->host && s != k->host) || ours)
			continue;
		if (k->kpack && str_ends(name, S(SPLIT_ARCHIVE))) {
			struct merge_archive *x = NEW(k->a, struct merge_archive);
			*x = (struct merge_archive){.name = m->zip->name, .fd = -1};
			*VEC_PUSH(k->a, &k->archives) = x;
			TRY(zip_src(&s->w.zip, m->zip, &x->src, &x->fd));
			x->src.budget = &k->budget;
			TRY_CTX(kpack_open(k->a, &x->src, &x->k), "cannot read '%.*s' of '%.*s'",
				STR(x->name), STR(path_base(s->w.zip.path)));
			continue;
		}
		struct merge_member *x = map_get(&k->names, name);
		if (!x) {
			x = NEW(k->a, struct merge_member);
			x->name = name;
			map_put(&k->names, name, x);
		}
		*VEC_PUSH(k->a, &x->copies) = (struct merge_copy){.from = s, .m = m, .fd = -1};
	}
	return NULL;
}

/* ---- a file with device code ---- */

struct merge_object {
	uint64_t at; /* offset in the scratch file */
	struct digest sha256;
};

struct joining {
	struct merging *k;
	struct arena *a;
	struct zip_sink sink;
	struct map objects; /* "BUNDLE ID" -> struct merge_object */
	struct hash *hash;
	uint64_t from;         /* offset of the current object */
	size_t bundle;         /* the bundle of the object that is read from an archive */
	struct bundle_entry e; /* the object as an entry of it */
	VEC(struct slim_object) v;
};

static void joining_done(struct joining *j)
{
	hash_free(j->hash);
	zip_sink_close(&j->sink);
}

static struct str key_of(struct joining *j, size_t bundle, struct str id)
{
	return str_fmt(j->a, "%zu %.*s", bundle, STR(id));
}

static void add_object(struct joining *j, struct slim_object object, struct str target)
{
	struct merging *k = j->k;
	*VEC_PUSH(j->a, &j->v) = object;
	if (target.n)
		strs_put(k->a, &k->done->targets, str_dup(k->a, target));
}

static struct err *take_object(void *user, size_t bundle, const struct bundle_entry *e,
	const struct str *piece, uint64_t at)
{
	enum { ALIGN = 4096 }; /* alignment of objects in their bundle */
	struct joining *j = user;
	if (!at) {
		j->hash = hash_new(HASH_SHA256);
		j->from = j->sink.at = round_up(j->sink.at, ALIGN);
	}
	hash_add(j->hash, piece->p, piece->n);
	TRY(zip_sink_write(&j->sink, piece->p, piece->n));
	TRY(cancel_check());
	if (at + piece->n < e->size)
		return NULL;
	struct merge_object now = {.at = j->from, .sha256 = hash_end(j->hash)};
	j->hash = NULL;
	struct str key = key_of(j, bundle, e->id);
	struct merge_object *old = map_get(&j->objects, key);
	if (!old) {
		old = NEW(j->a, struct merge_object);
		*old = now;
		map_put(&j->objects, key, old);
		return NULL;
	}
	j->sink.at = j->from;
	return memcmp(old->sha256.b, now.sha256.b, sizeof(now.sha256.b)) == 0
		       ? NULL
		       : err_new(E_WHEEL, "there are two codes for %.*s in bundle %zu",
				 STR(e->target), bundle);
}

/* Makes the file from a host part (or none) and the objects of the scratch file. */
static struct err *fill_objects(struct joining *j, struct slim_fill *f, struct str path)
{
	TRY(zip_sink_write(&j->sink, "", 0)); /* there may be no object */
	struct bytes content = bytes_fd(j->sink.fd, j->sink.at);
	f->content = &content;
	f->v = j->v.v;
	f->n = j->v.n;
	return slim_fill(j->a, f, path);
}

/* Opens the copies, which must be the same but for device code, and puts them together: fills the host part of the first
 * with the objects of all, in the order of the new tables: the entries of the first copy, then those that only others
 * have. */
static struct err *join_copies(struct joining *j, const struct merge_member *x, struct str path)
{
	static const struct slim_keep none = {.none = true};
	CLEANUP(bytes_close) struct bytes_file host = {.fd = -1};
	struct merge_copy *first = x->copies.v;
	struct slim_plan *p = &first->p;
	MAP(seen, j->a);
	VEC_EACH (struct merge_copy, c, &x->copies) {
		TRY(zip_src(&c->from->w.zip, c->m->zip, &c->src, &c->fd));
		c->src.budget = &j->k->budget;
		TRY(slim_read(j->a, &c->src, &none, &c->p));
		if (!c->p.bundles.n)
			return err_new(E_WHEEL,
				"it is not the same in all wheels, and has no device code");
		TRY_CTX(slim_same_host(p, &c->p), "'%.*s' and '%.*s' do not belong together",
			STR(first->from->w.zip.path), STR(c->from->w.zip.path));
	}
	if (fs_writes_forbidden())
		return NULL;
	VEC_EACH (struct merge_copy, c, &x->copies)
		TRY(slim_objects(&c->p, take_object, j));
	for (size_t i = 0; i < x->copies.n * p->bundles.n; i++) {
		size_t number = i / x->copies.n;
		const struct bundle *b = &x->copies.v[i % x->copies.n].p.bundles.v[number].old;
		VEC_EACH (const struct bundle_entry, e, &b->entries) {
			struct str key = key_of(j, number, e->id);
			const struct merge_object *o = map_get(&j->objects, key);
			struct slim_object now = {number, e->id, o ? o->at : 0, e->size};
			if ((o || !e->target.n) && map_put(&seen, key, j))
				add_object(j, now, e->target);
		}
	}
	struct slim_fill f = {.bundles = p->bundles.n, .encoding = p->bundles.v[0].old.encoding};
	if (!p->elf.src)
		return fill_objects(j, &f, path);
	struct str part = str_fmt(j->a, "%.*s.host", STR(path));
	slim_mark(p, S("a mark for all bundles"));
	TRY(slim_save(p, part));
	TRY(bytes_open(part, &host));
	f.host = &host.src;
	TRY(fill_objects(j, &f, path));
	return fs_remove(part);
}

/* ---- a host part and archives ---- */

static struct err *take_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct joining *j = user;
	struct str piece = {p, n};
	(void)stop;
	return take_object(j, j->bundle, &j->e, &piece, at);
}

static struct err *read_archive(struct joining *j, const struct merge_archive *x, struct str name)
{
	VEC_EACH (const struct kpack_object, o, &x->k.objects) {
		if (!str_eq(o->path, name) || !o->size)
			continue;
		j->bundle = o->index;
		j->e = (struct bundle_entry){.target = o->target, .size = o->size};
		j->e.id = str_fmt(j->a, "hipv4-amdgcn-amd-amdhsa--%.*s", STR(o->target));
		struct str key = key_of(j, o->index, j->e.id);
		bool known = map_has(&j->objects, key);
		TRY_CTX(kpack_read(&x->src, &x->k, o, take_piece, j),
			"cannot read %.*s#%u of '%.*s'", STR(o->path), o->index, STR(x->name));
		const struct merge_object *now = map_get(&j->objects, key);
		if (!known && now)
			add_object(j, (struct slim_object){o->index, j->e.id, now->at, o->size},
				o->target);
	}
	return NULL;
}

static int by_bundle(const void *x, const void *y)
{
	const struct slim_object *a = x, *b = y;
	return a->bundle != b->bundle ? (a->bundle > b->bundle) - (a->bundle < b->bundle)
				      : (a->at > b->at) - (a->at < b->at);
}

/* Bundles for which no archive has any code are listed in done->missing. */
static struct err *join_archives(struct joining *j, const struct split_member *m,
	const struct zip_input *in, struct str path)
{
	CLEANUP(fd_closep) int fd = -1;
	CLEANUP(bytes_close) struct bytes_file code = {.fd = -1};
	struct merging *k = j->k;
	struct bytes host;
	struct elf e = {0};
	struct kpack_host x;
	size_t i = 0;
	char bytes[64];
	struct str head = {.p = bytes};
	TRY(zip_src(in->zip, in->member, &host, &fd));
	TRY(bytes_peek(&host, bytes, sizeof(bytes), 0, &head.n));
	if (fs_writes_forbidden())
		return NULL;
	if (!pe_is(head))
		TRY(elf_open_head(j->a, &host, &e));
	TRY(kpack_host_read(j->a, &host, &x));
	if (!x.name.n)
		return err_new(E_WHEEL, "it names no kpack archive");
	for (size_t n = 0; n < k->archives.n; n++)
		TRY(read_archive(j, k->archives.v[n], x.name));
	VEC_SORT(&j->v, by_bundle);
	VEC_EACH (const uint32_t, n, &x.indexes) { /* sorted, too */
		while (i < j->v.n && j->v.v[i].bundle < *n)
			i++;
		if (i == j->v.n || j->v.v[i].bundle != *n)
			strs_fmt(k->a, &k->done->missing, "%.*s#%u", STR(x.name), *n);
	}
	struct slim_fill f = {.host = &host,
		.first = e.machine == ELF_AARCH64 ? S("host-aarch64-unknown-linux-gnu-")
						  : S("host-x86_64-unknown-linux-gnu-"),
		.encoding = split_encoding(m->encoding)};
	if (!pe_is(head))
		return fill_objects(j, &f, path);
	/* each bundle has a wrapper or an object */
	uint64_t last = x.indexes.n ? x.indexes.v[x.indexes.n - 1] : 0;
	last = j->v.n && j->v.v[j->v.n - 1].bundle > last ? j->v.v[j->v.n - 1].bundle : last;
	if (last > x.indexes.n + j->v.n)
		return err_new(E_WHEEL, "it names bundle %llu, and there are fewer",
			(unsigned long long)last);
	f.host = NULL;
	f.bundles = (size_t)last + 1;
	struct str part = str_fmt(j->a, "%.*s.code", STR(path));
	TRY(fill_objects(j, &f, part));
	TRY(bytes_open(part, &code));
	TRY(kpack_dll_fill(j->a, &host, &code.src, path));
	return fs_remove(part);
}

/* ---- the result ---- */

/* Removes from METADATA the headers that split added. */
static struct err *restore_metadata(struct merging *k, struct zip_input *in)
{
	struct str text, more = k->host->part.headers;
	TRY(zip_read(k->a, in->zip, in->member, WHEEL_TEXT, &text));
	size_t at = str_find(text, more);
	in->member = NULL;
	if (!more.n)
		return split_without(k->a, text, &in->content);
	if (at == text.n)
		return stranger(k->host, "its METADATA was changed since it was split");
	in->content = str_fmt(k->a, "%.*s%.*s", STR(str_sub(text, 0, at)),
		STR(str_sub(text, at + more.n, text.n)));
	return NULL;
}

static struct err *merge_copies(void *user, struct rewrite *x, struct zip_input *in)
{
	ARENA(tmp);
	struct merging *k = user;
	struct merge_member *m = k->names.v[x->at].value;
	const struct split_member *marked = NULL;
	bool same = true;
	k->done->size += in->member->size;
	if (!k->host && m->copies.n < k->q->from.n && !slim_file_owner(k->a, in->name).n)
		return err_new(E_WHEEL, "'%.*s' is not in all of the wheels", STR(in->name));
	if (k->host && rewrite_is(x, in, "METADATA"))
		return restore_metadata(k, in);
	if (k->kpack)
		marked =
			VEC_FIND(const struct split_member, &k->host->part.members, path, in->name);
	VEC_EACH (const struct merge_copy, c, &m->copies)
		same = same && str_eq(c->m->sha256, in->sha256);
	/* wheel_write() makes the bill of materials anew */
	if (!marked && (same || rewrite_is(x, in, WHEEL_SBOM)))
		return NULL;
	CLEANUP(joining_done)
	struct joining j = {.k = k, .a = &tmp, .sink.fd = -1, .objects.a = &tmp};
	struct str path = rewrite_file(x);
	struct err *e = marked ? join_archives(&j, marked, in, path) : join_copies(&j, m, path);
	VEC_EACH (struct merge_copy, c, &m->copies)
		fd_closep(&c->fd);
	rewrite_content(in, path);
	k->done->merged++;
	return e ? err_wrap(e, "cannot merge '%.*s'", STR(in->name)) : NULL;
}

static struct err *merge_all(struct merging *k, struct rewrite *x)
{
	TRY(open_sources(k));
	struct wheel_request place = {.to = k->q->to, .force = k->q->force};
	TRY(wheel_place(k->a, &place, &k->first->w.name, &x->to));
	k->done->output = x->to;
	for (size_t i = 0; i < k->q->from.n; i++)
		TRY(list_members(k, &k->v[i]));
	for (size_t i = 0; k->host && i < k->host->part.members.n; i++) {
		struct str name = k->host->part.members.v[i].path;
		if (!map_has(&k->names, name))
			return err_hint(err_new(E_WHEEL, "no wheel has '%.*s'", STR(name)),
				"a device wheel is needed beside the host wheel");
	}
	rewrite_from(x, &k->first->w);
	x->in.n = 0; /* its members are among the names */
	for (size_t i = 0; i < k->names.n; i++) {
		const struct merge_member *m = k->names.v[i].value;
		struct zip_input in = wheel_input(&m->copies.v[0].from->w, m->copies.v[0].m);
		in.name = m->name;
		*VEC_PUSH(k->a, &x->in) = in;
	}
	TRY(rewrite_begin(x));
	TRY(rewrite_each(x, merge_copies, k));
	targets_sort(&k->done->targets);
	k->done->members = x->out.n + 1;
	return rewrite_write(x);
}

const struct json_field merge_fields[] = {
	FIELD_CONST("schema", "rocsmith.merge/1"),
	FIELDS(struct merge_done, paths, output, targets),
	FIELD_OPTIONAL("missing", struct merge_done, missing),
	FIELD_LAST(FIELDS(struct merge_done, members, merged, size)),
};

struct err *wheel_merge(struct arena *a, const struct merge_request *q, struct merge_done *ret)
{
	struct merging k = {.a = a, .q = q, .done = ret, .names.a = a};
	struct rewrite x = {.a = a, .jobs = q->jobs};
	*ret = (struct merge_done){.paths = q->from};
	k.v = arena_array(a, q->from.n + 1, sizeof(*k.v));
	for (size_t i = 0; i < q->from.n; i++)
		k.v[i].w.zip.fd = -1;
	struct err *e = merge_all(&k, &x);
	for (size_t i = 0; i < q->from.n; i++)
		wheel_close(&k.v[i].w);
	for (size_t i = 0; i < k.archives.n; i++)
		fd_closep(&k.archives.v[i]->fd);
	return rewrite_end(&x, e);
}
