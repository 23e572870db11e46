/* Libraries whose device code is in kpack archives: their marks and wrappers. See kpack.h. */
#include <stdlib.h>

#include "base/buf.h"
#include "formats/kpack.h"
#include "formats/le.h"
#include "formats/msgpack.h"
#include "formats/pe.h"

enum { HEAD = 64, WRAPPER = 24, INDEX = 16, HIPK = 0x4b504948, MARK = 64 << 10, PATTERNS = 100 };

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

static void read_mark(struct arena *a, struct str mark, struct kpack_host *ret)
{
	struct msgpack_value v, x;
	if (!msgpack_next(&mark, &v) || v.kind != MSGPACK_MAP)
		return;
	struct str name = mark, paths = mark;
	if (msgpack_find(&name, v.number, S("kernel_name")) && msgpack_next(&name, &x) &&
		x.kind == MSGPACK_STR)
		ret->name = x.text;
	if (!msgpack_find(&paths, v.number, S("kpack_search_paths")) || !msgpack_next(&paths, &v) ||
		v.kind != MSGPACK_ARRAY)
		return;
	for (uint64_t i = 0; i < v.number && i < PATTERNS; i++)
		if (msgpack_next(&paths, &x) && x.kind == MSGPACK_STR)
			strs_add(a, &ret->patterns, x.text);
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
	if (ret->indexes.n)
		qsort(ret->indexes.v, ret->indexes.n, sizeof(uint32_t), by_number);
	VEC_EACH (const uint32_t, x, &ret->indexes)
		if (!distinct || ret->indexes.v[distinct - 1] != *x)
			ret->indexes.v[distinct++] = *x;
	ret->indexes.n = distinct;
	return NULL;
}

struct place {
	uint64_t at, size;
};

static struct err *find(struct arena *a, const struct bytes *src, struct place v[2])
{
	static const char *const names[2][2] = {
		{".rocm_kpack_ref", ".hipFatBinSegment"}, {".kpackrf", ".hipFatB"}};
	char head[HEAD];
	struct str h = {.p = head};
	struct elf e = {0};
	struct pe pe = {0};
	TRY(bytes_peek(src, head, HEAD, 0, &h.n));
	bool is_pe = pe_is(h);
	TRY(is_pe ? pe_open(a, src, &pe) : elf_open(a, src, &e));
	for (unsigned i = 0; i < 2; i++) {
		struct str name = str_from(names[is_pe][i]);
		VEC_EACH (const struct pe_section, s, &pe.sections)
			if (str_eq(s->name, name))
				v[i] = (struct place){s->offset, s->size};
		const struct elf_section *s = is_pe ? NULL : elf_section(&e, name);
		if (s && s->type != ELF_NOBITS)
			v[i] = (struct place){s->offset, s->size};
	}
	return NULL;
}

struct err *kpack_host_read(struct arena *a, const struct bytes *src, struct kpack_host *ret)
{
	ARENA(tmp);
	struct str mark;
	struct place v[2] = {0};
	*ret = (struct kpack_host){0};
	TRY(find(&tmp, src, v));
	if (!v[0].size)
		return NULL;
	uint64_t size = v[0].size < MARK ? v[0].size : MARK;
	TRY(budget_memory(src->budget, size));
	TRY(bytes_slice(a, src, v[0].at, size, &mark));
	read_mark(a, mark, ret);
	return read_wrappers(a, src, v[1].at, v[1].size, ret);
}
