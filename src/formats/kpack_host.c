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
	if (!msgpack_take(&mark, MSGPACK_MAP, &v))
		return;
	struct str name = mark, paths = mark;
	if (msgpack_find(&name, v.number, S("kernel_name")) && msgpack_take(&name, MSGPACK_STR, &x))
		ret->name = x.text;
	if (!msgpack_find(&paths, v.number, S("kpack_search_paths")) ||
		!msgpack_take(&paths, MSGPACK_ARRAY, &v))
		return;
	for (uint64_t i = 0; i < v.number && i < PATTERNS; i++)
		if (msgpack_take(&paths, MSGPACK_STR, &x))
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

struct err *kpack_host_read(struct arena *a, const struct bytes *src, struct kpack_host *ret)
{
	static const char *const names[2][2] = {
		{".rocm_kpack_ref", ".hipFatBinSegment"}, {".kpackrf", ".hipFatB"}};
	ARENA(tmp);
	char head[HEAD];
	struct str h = {.p = head}, mark;
	struct elf e = {0};
	struct pe pe = {0};
	uint64_t at[2] = {0}, size[2] = {0};
	*ret = (struct kpack_host){0};
	TRY(bytes_peek(src, head, HEAD, 0, &h.n));
	bool is_pe = pe_is(h);
	TRY(is_pe ? pe_open(&tmp, src, &pe) : elf_open(&tmp, src, &e));
	for (unsigned i = 0; i < 2; i++) {
		struct str name = str_from(names[is_pe][i]);
		const struct elf_section *s = elf_section(&e, name);
		at[i] = s ? s->offset : 0;
		size[i] = s && s->type != ELF_NOBITS ? s->size : 0;
		VEC_EACH (const struct pe_section, x, &pe.sections) {
			bool is = str_eq(x->name, name);
			at[i] = is ? x->offset : at[i];
			size[i] = is ? x->size : size[i];
		}
	}
	if (!size[0])
		return NULL;
	size[0] = size[0] < MARK ? size[0] : MARK;
	TRY(budget_memory(src->budget, size[0]));
	TRY(bytes_slice(a, src, at[0], size[0], &mark));
	read_mark(a, mark, ret);
	return read_wrappers(a, src, at[1], size[1], ret);
}
