/* The MessagePack reader; see msgpack.h. */
#include "formats/msgpack.h"

#include "base/buf.h"

/* The meaning of a first byte: the kind, and the bytes of the big-endian number that follows. */
struct msgpack_form {
	enum msgpack_kind kind;
	unsigned char number; /* bytes of the number or of the length */
	unsigned char fixed;  /* length that the byte itself implies, for EXT */
};

/* First bytes 0xc0 to 0xdf; 0xc1 is never used. */
/* clang-format off */
static const struct msgpack_form formats[32] = {
	[0x00] = {MSGPACK_NIL, 0, 0},
	[0x02] = {MSGPACK_BOOL, 0, 0}, {MSGPACK_BOOL, 0, 0},
	[0x04] = {MSGPACK_BIN, 1, 0}, {MSGPACK_BIN, 2, 0}, {MSGPACK_BIN, 4, 0},
	[0x07] = {MSGPACK_EXT, 1, 0}, {MSGPACK_EXT, 2, 0}, {MSGPACK_EXT, 4, 0},
	[0x0a] = {MSGPACK_FLOAT, 4, 0}, {MSGPACK_FLOAT, 8, 0},
	[0x0c] = {MSGPACK_UINT, 1, 0}, {MSGPACK_UINT, 2, 0}, {MSGPACK_UINT, 4, 0}, {MSGPACK_UINT, 8, 0},
	[0x10] = {MSGPACK_INT, 1, 0}, {MSGPACK_INT, 2, 0}, {MSGPACK_INT, 4, 0}, {MSGPACK_INT, 8, 0},
	[0x14] = {MSGPACK_EXT, 0, 1}, {MSGPACK_EXT, 0, 2}, {MSGPACK_EXT, 0, 4}, {MSGPACK_EXT, 0, 8},
	[0x18] = {MSGPACK_EXT, 0, 16},
	[0x19] = {MSGPACK_STR, 1, 0}, {MSGPACK_STR, 2, 0}, {MSGPACK_STR, 4, 0},
	[0x1c] = {MSGPACK_ARRAY, 2, 0}, {MSGPACK_ARRAY, 4, 0},
	[0x1e] = {MSGPACK_MAP, 2, 0}, {MSGPACK_MAP, 4, 0},
};
/* clang-format on */

enum { NEVER_USED = 0xc1 };

static bool take(struct str *rest, uint64_t n, struct str *ret)
{
	if (n > rest->n)
		return false;
	*ret = str_sub(*rest, 0, (size_t)n);
	*rest = str_sub(*rest, (size_t)n, rest->n);
	return true;
}

bool msgpack_next(struct str *rest, struct msgpack_value *ret)
{
	static const struct msgpack_form short_text = {MSGPACK_STR, 0, 0};
	struct str bytes;
	if (!take(rest, 1, &bytes))
		return false;
	unsigned byte = (unsigned char)bytes.p[0];
	if (byte == NEVER_USED)
		return false;
	/* in these ranges the byte holds both the kind and a small number */
	*ret = (struct msgpack_value){.kind = MSGPACK_UINT, .number = byte};
	if (byte >= 0xe0)
		*ret = (struct msgpack_value){
			.kind = MSGPACK_INT, .number = UINT64_MAX << 8 | byte};
	else if (byte >= 0x80)
		*ret = (struct msgpack_value){
			.kind = byte < 0x90 ? MSGPACK_MAP : MSGPACK_ARRAY, .number = byte & 15};
	if (byte < 0xa0 || byte >= 0xe0)
		return true;
	const struct msgpack_form *f = byte < 0xc0 ? &short_text : &formats[byte - 0xc0];
	*ret = (struct msgpack_value){.kind = f->kind, .number = byte & (byte < 0xc0 ? 31 : 1)};
	if (f->number) {
		if (!take(rest, f->number, &bytes))
			return false;
		ret->number = 0;
		for (size_t i = 0; i < bytes.n; i++)
			ret->number = ret->number << 8 | (unsigned char)bytes.p[i];
	}
	if (f->kind == MSGPACK_INT && f->number < 8 && ret->number >> (8 * f->number - 1) & 1)
		ret->number |= UINT64_MAX << 8 * f->number;
	if (f->kind == MSGPACK_EXT)
		return take(rest, 1, &bytes) &&
		       take(rest, f->fixed ? f->fixed : ret->number, &ret->text);
	bool has_text = f->kind == MSGPACK_STR || f->kind == MSGPACK_BIN;
	return !has_text || take(rest, ret->number, &ret->text);
}

bool msgpack_take(struct str *rest, enum msgpack_kind kind, struct msgpack_value *ret)
{
	return msgpack_next(rest, ret) && ret->kind == kind;
}

bool msgpack_skip(struct str *rest)
{
	struct msgpack_value v;
	struct str at = *rest;
	/* Every value takes a byte, so a false count ends with the input. */
	for (uint64_t pending = 1; pending; pending--) {
		/* Fast path: nearly all values are small numbers and short text, which need no decoding. */
		unsigned byte = at.n ? (unsigned char)*at.p : NEVER_USED;
		size_t n = byte < 0x80 ? 1 : byte >> 5 == 5 ? 1 + (byte & 31) : 0;
		if (n && n <= at.n) {
			at = (struct str){.p = at.p + n, .n = at.n - n};
			continue;
		}
		*rest = at;
		if (!msgpack_next(rest, &v))
			return false;
		at = *rest;
		if (v.kind == MSGPACK_ARRAY)
			pending += v.number;
		else if (v.kind == MSGPACK_MAP)
			pending += 2 * v.number;
	}
	*rest = at;
	return true;
}

bool msgpack_find(struct str *rest, uint64_t n, struct str key)
{
	struct msgpack_value v;
	for (; n; n--) {
		struct str at = *rest;
		if (!msgpack_next(&at, &v))
			return false;
		if (v.kind == MSGPACK_STR && str_eq(v.text, key)) {
			*rest = at;
			return true;
		}
		if (!msgpack_skip(rest) || !msgpack_skip(rest))
			return false;
	}
	return false;
}

/* ---- writing ---- */

static void put(struct buf *b, unsigned first, uint64_t n, unsigned bytes)
{
	buf_char(b, (char)first);
	while (bytes--)
		buf_char(b, (char)(n >> 8 * bytes));
}

/* Writes a length: below `most` in the first byte, else in two bytes or four. */
static void put_length(struct buf *b, unsigned small, size_t most, unsigned big, size_t n)
{
	if (n < most)
		put(b, small | (unsigned)n, 0, 0);
	else
		put(b, n < 1 << 16 ? big : big + 1, n, n < 1 << 16 ? 2 : 4);
}

void msgpack_put_map(struct buf *b, size_t n)
{
	put_length(b, 0x80, 16, 0xde, n);
}

void msgpack_put_array(struct buf *b, size_t n)
{
	put_length(b, 0x90, 16, 0xdc, n);
}

void msgpack_put_str(struct buf *b, struct str s)
{
	if (s.n >= 32 && s.n < 256)
		put(b, 0xd9, s.n, 1);
	else
		put_length(b, 0xa0, 32, 0xda, s.n);
	buf_add(b, s);
}

void msgpack_put_uint(struct buf *b, uint64_t n)
{
	unsigned size = n < 1 << 8 ? 0 : n < 1 << 16 ? 1 : n <= UINT32_MAX ? 2 : 3;
	if (n < 128)
		put(b, (unsigned)n, 0, 0);
	else
		put(b, 0xcc + size, n, 1u << size);
}
