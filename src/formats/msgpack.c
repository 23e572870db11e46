/* The MessagePack reader; see msgpack.h. */
#include "formats/msgpack.h"

/* What the first byte tells: how many bytes of a big-endian number follow, and what it means. */
struct format {
	enum msgpack_kind kind;
	unsigned char number; /* bytes of the number or of the length */
	unsigned char fixed;  /* length that the byte itself implies, for EXT */
};

/* From 0xc0 to 0xdf; 0xc1 is never used. */
static const struct format formats[32] = {
	[0x00] = {.kind = MSGPACK_NIL},
	[0x02] = {.kind = MSGPACK_BOOL},
	[0x03] = {.kind = MSGPACK_BOOL},
	[0x04] = {.kind = MSGPACK_BIN, .number = 1},
	[0x05] = {.kind = MSGPACK_BIN, .number = 2},
	[0x06] = {.kind = MSGPACK_BIN, .number = 4},
	[0x07] = {.kind = MSGPACK_EXT, .number = 1},
	[0x08] = {.kind = MSGPACK_EXT, .number = 2},
	[0x09] = {.kind = MSGPACK_EXT, .number = 4},
	[0x0a] = {.kind = MSGPACK_FLOAT, .number = 4},
	[0x0b] = {.kind = MSGPACK_FLOAT, .number = 8},
	[0x0c] = {.kind = MSGPACK_UINT, .number = 1},
	[0x0d] = {.kind = MSGPACK_UINT, .number = 2},
	[0x0e] = {.kind = MSGPACK_UINT, .number = 4},
	[0x0f] = {.kind = MSGPACK_UINT, .number = 8},
	[0x10] = {.kind = MSGPACK_INT, .number = 1},
	[0x11] = {.kind = MSGPACK_INT, .number = 2},
	[0x12] = {.kind = MSGPACK_INT, .number = 4},
	[0x13] = {.kind = MSGPACK_INT, .number = 8},
	[0x14] = {.kind = MSGPACK_EXT, .fixed = 1},
	[0x15] = {.kind = MSGPACK_EXT, .fixed = 2},
	[0x16] = {.kind = MSGPACK_EXT, .fixed = 4},
	[0x17] = {.kind = MSGPACK_EXT, .fixed = 8},
	[0x18] = {.kind = MSGPACK_EXT, .fixed = 16},
	[0x19] = {.kind = MSGPACK_STR, .number = 1},
	[0x1a] = {.kind = MSGPACK_STR, .number = 2},
	[0x1b] = {.kind = MSGPACK_STR, .number = 4},
	[0x1c] = {.kind = MSGPACK_ARRAY, .number = 2},
	[0x1d] = {.kind = MSGPACK_ARRAY, .number = 4},
	[0x1e] = {.kind = MSGPACK_MAP, .number = 2},
	[0x1f] = {.kind = MSGPACK_MAP, .number = 4},
};

enum { NEVER_USED = 0xc1 };

static bool take(struct str *rest, uint64_t n, struct str *ret)
{
	if (n > rest->n)
		return false;
	*ret = str_sub(*rest, 0, (size_t)n);
	*rest = str_sub(*rest, (size_t)n, rest->n);
	return true;
}

static bool take_number(struct str *rest, unsigned bytes, uint64_t *ret)
{
	struct str digits;
	if (!take(rest, bytes, &digits))
		return false;
	*ret = 0;
	for (size_t i = 0; i < digits.n; i++)
		*ret = *ret << 8 | (unsigned char)digits.p[i];
	return true;
}

/* The byte holds both the kind and a small number. */
static bool next_small(struct str *rest, unsigned byte, struct msgpack_value *ret)
{
	if (byte >= 0xe0)
		*ret = (struct msgpack_value){
			.kind = MSGPACK_INT, .number = UINT64_MAX << 8 | byte};
	else if (byte < 0x80)
		*ret = (struct msgpack_value){.kind = MSGPACK_UINT, .number = byte};
	else if (byte < 0x90)
		*ret = (struct msgpack_value){.kind = MSGPACK_MAP, .number = byte & 15};
	else if (byte < 0xa0)
		*ret = (struct msgpack_value){.kind = MSGPACK_ARRAY, .number = byte & 15};
	else
		*ret = (struct msgpack_value){.kind = MSGPACK_STR, .number = byte & 31};
	return ret->kind != MSGPACK_STR || take(rest, ret->number, &ret->text);
}

static bool next_big(struct str *rest, unsigned byte, struct msgpack_value *ret)
{
	const struct format *f = &formats[byte - 0xc0];
	struct str type;
	*ret = (struct msgpack_value){.kind = f->kind, .number = byte & 1};
	if (f->number && !take_number(rest, f->number, &ret->number))
		return false;
	switch (f->kind) {
	case MSGPACK_INT:
		if (f->number < 8 && ret->number >> (8 * f->number - 1) & 1)
			ret->number |= UINT64_MAX << 8 * f->number;
		return true;
	case MSGPACK_EXT:
		return take(rest, 1, &type) &&
		       take(rest, f->fixed ? f->fixed : ret->number, &ret->text);
	case MSGPACK_STR:
	case MSGPACK_BIN:
		return take(rest, ret->number, &ret->text);
	default:
		return true;
	}
}

bool msgpack_next(struct str *rest, struct msgpack_value *ret)
{
	struct str first;
	if (!take(rest, 1, &first))
		return false;
	unsigned byte = (unsigned char)first.p[0];
	if (byte == NEVER_USED)
		return false;
	return byte < 0xc0 || byte >= 0xe0 ? next_small(rest, byte, ret)
					   : next_big(rest, byte, ret);
}

/* Takes one value off *rest with everything in it. */
static bool skip(struct str *rest)
{
	struct msgpack_value v;
	/* Every value takes a byte, so a lie about their number ends with the input. */
	for (uint64_t pending = 1; pending; pending--) {
		if (!msgpack_next(rest, &v))
			return false;
		if (v.kind == MSGPACK_ARRAY)
			pending += v.number;
		else if (v.kind == MSGPACK_MAP)
			pending += 2 * v.number;
	}
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
		if (!skip(rest) || !skip(rest))
			return false;
	}
	return false;
}
