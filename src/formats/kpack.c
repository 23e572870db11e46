/* Reading and writing kpack archives, and the marks and wrappers of libraries whose device code is in them; see kpack.h.
 */
#include "formats/kpack.h"

#include <zstd.h>

#include "formats/le.h"
#include "formats/msgpack.h"

enum { HEADER = 64, MOST = 1000000, TABLE_MAX = 64 << 20, ARCHS = 256 };

bool kpack_is(struct str head)
{
	return head.n >= 16 && str_starts(head, S("KPAK"));
}

/* ---- reading ---- */

struct kpack_table {
	struct arena *a;
	const struct bytes *src;
	struct kpack *out;
	struct str text; /* the map behind its head */
	uint64_t n, end; /* number of pairs in the map; offset of the table, where objects end */
	struct kpack_object *blobs;
	size_t nblobs;
};

static struct err *damaged(const char *what)
{
	return err_new(E_BUNDLE, "the kpack archive is damaged: %s", what);
}

static bool get_number(struct str map, uint64_t n, struct str key, uint64_t *ret)
{
	struct msgpack_value v;
	bool is = msgpack_find(&map, n, key) && msgpack_take(&map, MSGPACK_UINT, &v);
	*ret = is ? v.number : 0;
	return is;
}

static struct err *add_blob(struct kpack_table *t, uint64_t offset, uint64_t size)
{
	if (offset < HEADER || offset > t->end || size > t->end - offset)
		return damaged("an object is not inside the file");
	t->blobs[t->nblobs++] = (struct kpack_object){.offset = offset, .stored = size};
	return NULL;
}

static struct err *reserve(struct kpack_table *t, uint64_t n, uint64_t room)
{
	if (n > MOST || n > room)
		return damaged("its number of objects is wrong");
	TRY(budget_memory(t->src->budget, n * sizeof(*t->blobs)));
	t->blobs = arena_array(t->a, (size_t)n + 1, sizeof(*t->blobs));
	return NULL;
}

static struct err *read_frames(struct kpack_table *t)
{
	uint64_t at, size, count;
	char word[4];
	if (!get_number(t->text, t->n, S("zstd_offset"), &at) ||
		!get_number(t->text, t->n, S("zstd_size"), &size) || at < HEADER || at > t->end ||
		size > t->end - at || size < 4)
		return damaged("it does not tell where its objects are");
	uint64_t end = at + size;
	TRY(bytes_read(t->src, word, 4, at));
	count = le32(word);
	TRY(reserve(t, count, size / 4));
	for (at += 4; count; count--) {
		if (end - at < 4)
			return damaged("a frame is missing");
		TRY(bytes_read(t->src, word, 4, at));
		TRY(add_blob(t, at + 4, le32(word)));
		at += 4 + (uint64_t)le32(word);
		if (at > end)
			return damaged("a frame is too long");
	}
	return NULL;
}

static struct err *read_blobs(struct kpack_table *t)
{
	struct msgpack_value v;
	struct str rest = t->text;
	uint64_t offset, size;
	if (!msgpack_find(&rest, t->n, S("blobs")) || !msgpack_take(&rest, MSGPACK_ARRAY, &v))
		return damaged("it has no list of objects");
	TRY(reserve(t, v.number, rest.n));
	for (uint64_t n = v.number; n; n--) {
		struct str map = rest;
		if (!msgpack_take(&map, MSGPACK_MAP, &v) || !msgpack_skip(&rest) ||
			!get_number(map, v.number, S("offset"), &offset) ||
			!get_number(map, v.number, S("size"), &size))
			return damaged("an object has no place");
		TRY(add_blob(t, offset, size));
	}
	return NULL;
}

static struct err *read_objects(struct kpack_table *t)
{
	struct msgpack_value v, key, targets;
	struct str rest = t->text;
	if (!msgpack_find(&rest, t->n, S("toc")) || !msgpack_take(&rest, MSGPACK_MAP, &v))
		return damaged("it has no table");
	for (uint64_t n = v.number; n; n--) {
		uint64_t index = 0, ordinal;
		bool is = msgpack_take(&rest, MSGPACK_STR, &key);
		size_t at = is ? str_rchr(key.text, '#') : 0; /* "lib/x.so#3" */
		if (!is || !at || at == key.text.n ||
			!str_u64(str_sub(key.text, at + 1, key.text.n), 10, &index) ||
			index > UINT32_MAX || !msgpack_take(&rest, MSGPACK_MAP, &targets))
			return damaged("its table has an entry that is not PATH#NUMBER");
		struct kpack_object o = {
			.path = str_sub(key.text, 0, at), .index = (uint32_t)index};
		for (uint64_t i = targets.number; i; i--) {
			if (!msgpack_take(&rest, MSGPACK_STR, &key) || !key.text.n ||
				key.text.n > 256)
				return damaged("an object has no target");
			struct str map = rest;
			if (!msgpack_take(&map, MSGPACK_MAP, &v) || !msgpack_skip(&rest) ||
				!get_number(map, v.number, S("ordinal"), &ordinal) ||
				ordinal >= t->nblobs ||
				!get_number(map, v.number, S("original_size"), &o.size))
				return damaged("an object is not described");
			if (t->out->objects.n == MOST)
				return damaged("it has too many objects");
			o.target = key.text;
			o.offset = t->blobs[ordinal].offset;
			o.stored = t->blobs[ordinal].stored;
			if (!t->out->zstd && o.size != o.stored)
				return damaged("an object has two sizes");
			TRY(budget_memory(t->src->budget, 2 * sizeof(o)));
			*VEC_PUSH(t->a, &t->out->objects) = o;
		}
	}
	return NULL;
}

struct err *kpack_open(struct arena *a, const struct bytes *src, struct kpack *ret)
{
	char head[16];
	struct msgpack_value v, x;
	struct str text;
	*ret = (struct kpack){0};
	TRY(bytes_read(src, head, sizeof(head), 0));
	uint64_t at = le64(head + 8);
	if (!kpack_is((struct str){head, sizeof(head)}) || le32(head + 4) != 1)
		return damaged("it is not of version 1");
	if (at < HEADER || at >= src->size || src->size - at > TABLE_MAX)
		return damaged("it has no table");
	TRY(bytes_slice(a, src, at, src->size - at, &text));
	TRY(budget_work(src->budget, 8 * text.n));
	if (!msgpack_take(&text, MSGPACK_MAP, &v))
		return damaged("its table is none");
	struct kpack_table t = {
		.a = a, .src = src, .out = ret, .text = text, .n = v.number, .end = at};
	struct str scheme = text, group = text, archs = text;
	if (!msgpack_find(&scheme, t.n, S("compression_scheme")) ||
		!msgpack_take(&scheme, MSGPACK_STR, &x))
		return damaged("it does not tell its compression");
	ret->zstd = str_eq(x.text, S("zstd-per-kernel"));
	if (!ret->zstd && !str_eq(x.text, S("none")))
		return err_new(E_BUNDLE, "a kpack archive with the compression '%.*s' is not known",
			STR(x.text));
	if (msgpack_find(&group, t.n, S("group_name")) && msgpack_take(&group, MSGPACK_STR, &x))
		ret->group = x.text;
	if (msgpack_find(&archs, t.n, S("gfx_arches")) && msgpack_take(&archs, MSGPACK_ARRAY, &v))
		for (; v.number && ret->archs.n < ARCHS && msgpack_take(&archs, MSGPACK_STR, &x);
			v.number--)
			strs_add(a, &ret->archs, str_dup(a, x.text));
	TRY(ret->zstd ? read_frames(&t) : read_blobs(&t));
	return read_objects(&t);
}

struct err *kpack_read(const struct bytes *src, const struct kpack *k, const struct kpack_object *o,
	bytes_fn *fn, void *user)
{
	const struct bundle b = {.encoding = k->zstd ? BUNDLE_CCOB3 : BUNDLE_RAW,
		.zstd = true,
		.offset = o->offset,
		.stored = o->stored,
		.size = o->size};
	return bundle_decode(src, &b, fn, user);
}

/* ---- writing ---- */

struct err *kpack_out_open(struct arena *a, struct str path, struct str group, struct str target,
	struct kpack_out *ret)
{
	static const char zeros[HEADER + 4];
	enum { LEVEL = 3 };
	*ret = (struct kpack_out){
		.out.fd = -1, .out.dir = -1, .a = a, .group = group, .target = target};
	ret->zstd = ZSTD_createCCtx();
	if (!ret->zstd ||
		ZSTD_isError(ZSTD_CCtx_setParameter(ret->zstd, ZSTD_c_compressionLevel, LEVEL)))
		return err_new(E_NOMEMORY, "no memory for a zstd encoder");
	TRY(fs_out_open(&ret->out, path, 0644));
	fs_out_write(&ret->out, zeros, sizeof(zeros));
	return NULL;
}

struct err *kpack_out_begin(struct kpack_out *o, struct str path, uint32_t index, uint64_t size)
{
	*VEC_PUSH(o->a, &o->objects) =
		(struct kpack_object){.path = path, .index = index, .size = size};
	o->frame = o->out.offset;
	fs_out_write(&o->out, "\0\0\0", 4);
	return ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(o->zstd, size))
		       ? err_new(E_INTERNAL, "zstd: a size")
		       : NULL;
}

struct err *kpack_out_add(struct kpack_out *o, const void *p, size_t n)
{
	return bundle_compress(&o->out, o->zstd, p, n, false);
}

struct err *kpack_out_end(struct kpack_out *o)
{
	char word[4];
	TRY(bundle_compress(&o->out, o->zstd, "", 0, true));
	uint64_t size = o->out.offset - o->frame - 4;
	if (size > UINT32_MAX)
		return err_new(
			E_LIMIT, "an object of more than 4 GiB does not fit into a kpack archive");
	put_le(word, size, 4);
	return o->out.first ? NULL : fs_pwrite(o->out.fd, word, 4, o->frame);
}

static void put_pair(struct buf *b, struct str key, struct str value)
{
	msgpack_put_str(b, key);
	msgpack_put_str(b, value);
}

struct err *kpack_out_commit(struct kpack_out *o)
{
	BUF(b, o->a);
	char head[16] = "KPAK", count[4];
	msgpack_put_map(&b, 8);
	msgpack_put_str(&b, S("format_version"));
	msgpack_put_uint(&b, 1);
	put_pair(&b, S("group_name"), o->group);
	put_pair(&b, S("gfx_arch_family"), o->target);
	msgpack_put_str(&b, S("gfx_arches"));
	msgpack_put_array(&b, 1);
	msgpack_put_str(&b, o->target);
	msgpack_put_str(&b, S("toc"));
	msgpack_put_map(&b, o->objects.n);
	for (size_t i = 0; i < o->objects.n; i++) {
		const struct kpack_object *x = &o->objects.v[i];
		msgpack_put_str(&b, str_fmt(o->a, "%.*s#%u", STR(x->path), x->index));
		msgpack_put_map(&b, 1);
		msgpack_put_str(&b, o->target);
		msgpack_put_map(&b, 3);
		put_pair(&b, S("type"), S("hsaco"));
		msgpack_put_str(&b, S("ordinal"));
		msgpack_put_uint(&b, i);
		msgpack_put_str(&b, S("original_size"));
		msgpack_put_uint(&b, x->size);
	}
	put_pair(&b, S("compression_scheme"), S("zstd-per-kernel"));
	msgpack_put_str(&b, S("zstd_offset"));
	msgpack_put_uint(&b, HEADER);
	msgpack_put_str(&b, S("zstd_size"));
	msgpack_put_uint(&b, o->out.offset - HEADER);
	put_le(head + 4, 1, 4);
	put_le(head + 8, o->out.offset, 8);
	put_le(count, o->objects.n, 4);
	fs_out_write(&o->out, b.p, b.n);
	if (!o->out.first) {
		TRY(fs_pwrite(o->out.fd, head, sizeof(head), 0));
		TRY(fs_pwrite(o->out.fd, count, 4, HEADER));
	}
	return fs_out_commit(&o->out);
}

void kpack_out_close(struct kpack_out *o)
{
	ZSTD_freeCCtx(o->zstd);
	fs_out_abandon(&o->out);
}

/* ---- libraries ---- */

enum { WRAPPER = 24, INDEX = 16, HIPK = 0x4b504948, MARK = 64 << 10, PATTERNS = 100 };

struct str kpack_mark(struct arena *a, struct str name, struct str pattern)
{
	BUF(b, a);
	msgpack_put_map(&b, 2);
	msgpack_put_str(&b, S("kpack_search_paths"));
	msgpack_put_array(&b, 1);
	msgpack_put_str(&b, pattern);
	msgpack_put_str(&b, S("kernel_name"));
	msgpack_put_str(&b, name);
	return buf_str(&b);
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

static struct err *read_wrappers(struct arena *a, const struct bytes *src, uint64_t at,
	uint64_t size, struct kpack_host *ret)
{
	enum { MANY = 2048 };
	char p[MANY * WRAPPER];
	size_t n, distinct = 0;
	for (uint64_t end = at + size / WRAPPER * WRAPPER; at < end; at += n) {
		n = end - at < sizeof(p) ? (size_t)(end - at) : sizeof(p);
		TRY(budget_memory(src->budget, n / 2));
		TRY(bytes_read(src, p, n, at));
		for (size_t i = 0; i < n; i += WRAPPER)
			if (le32(p + i) == HIPK)
				*VEC_PUSH(a, &ret->indexes) = le32(p + i + INDEX);
	}
	VEC_SORT(&ret->indexes, by_number);
	VEC_EACH (const uint32_t, x, &ret->indexes)
		if (!distinct || ret->indexes.v[distinct - 1] != *x)
			ret->indexes.v[distinct++] = *x;
	ret->indexes.n = distinct;
	return NULL;
}

struct err *kpack_host_read(struct arena *a, const struct bytes *src, struct kpack_host *ret)
{
	static const char *const names[2][2] = {
		{".rocm_kpack_ref", ".hipFatBinSegment"}, {".kpackrf", ".hipFatB"}};
	ARENA(tmp);
	char head[ELF_EHDR];
	struct str h = {.p = head}, mark;
	struct elf e = {0};
	struct pe pe = {0};
	struct msgpack_value v, x;
	uint64_t at[2] = {0}, size[2] = {0};
	*ret = (struct kpack_host){0};
	TRY(bytes_peek(src, head, ELF_EHDR, 0, &h.n));
	bool is_pe = pe_is(h);
	TRY(is_pe ? pe_open(&tmp, src, &pe) : elf_open(&tmp, src, &e));
	for (unsigned i = 0; i < 2; i++) {
		struct str name = str_from(names[is_pe][i]);
		const struct elf_section *s = elf_section(&e, name);
		at[i] = s ? s->offset : 0;
		size[i] = s && s->type != ELF_NOBITS ? s->size : 0;
		VEC_EACH (const struct pe_section, p, &pe.sections) {
			bool is = str_eq(p->name, name);
			at[i] = is ? p->offset : at[i];
			size[i] = is ? p->size : size[i];
		}
	}
	if (!size[0])
		return NULL;
	size[0] = size[0] < MARK ? size[0] : MARK;
	TRY(budget_memory(src->budget, size[0]));
	TRY(bytes_slice(a, src, at[0], size[0], &mark));
	if (msgpack_take(&mark, MSGPACK_MAP, &v)) {
		struct str name = mark, paths = mark;
		if (msgpack_find(&name, v.number, S("kernel_name")) &&
			msgpack_take(&name, MSGPACK_STR, &x))
			ret->name = x.text;
		if (!msgpack_find(&paths, v.number, S("kpack_search_paths")) ||
			!msgpack_take(&paths, MSGPACK_ARRAY, &v))
			v.number = 0;
		for (uint64_t i = 0; i < v.number && i < PATTERNS; i++)
			if (msgpack_take(&paths, MSGPACK_STR, &x))
				strs_add(a, &ret->patterns, x.text);
	}
	return read_wrappers(a, src, at[1], size[1], ret);
}
