/* MessagePack, read forwards: the metadata notes of AMD code objects are written in it.
 *
 * Nothing is copied or allocated: values are views of the input. The state of a reader is the rest of the input,
 * which each call shortens; false means the end, or bytes that are not MessagePack. Source: the MessagePack
 * specification (msgpack.org, 2.0). */
#pragma once

#include "base/str.h"

enum msgpack_kind {
	MSGPACK_NIL,
	MSGPACK_BOOL,
	MSGPACK_UINT, /* number */
	MSGPACK_INT,  /* number, as two's complement: negative */
	MSGPACK_FLOAT,
	MSGPACK_STR,   /* text */
	MSGPACK_BIN,   /* text */
	MSGPACK_EXT,   /* text */
	MSGPACK_ARRAY, /* number of values that follow */
	MSGPACK_MAP    /* number of pairs that follow */
};

struct msgpack_value {
	enum msgpack_kind kind;
	uint64_t number;
	struct str text;
};

/* Takes the next value off *rest; of an array or map, only its head. */
bool msgpack_next(struct str *rest, struct msgpack_value *ret);
/* The same; false for a value of another kind. */
bool msgpack_take(struct str *rest, enum msgpack_kind kind, struct msgpack_value *ret);
/* Skips the next value, with everything in it. */
bool msgpack_skip(struct str *rest);
/* Moves *rest from behind the head of a map of n pairs to the value of a key; values in between are skipped, however
 * deep. */
bool msgpack_find(struct str *rest, uint64_t n, struct str key);

/* Writing: heads of maps and arrays with n members, and values, in the shortest form. */
struct buf;
void msgpack_put_map(struct buf *b, size_t n);
void msgpack_put_array(struct buf *b, size_t n);
void msgpack_put_str(struct buf *b, struct str s);
void msgpack_put_uint(struct buf *b, uint64_t n);
