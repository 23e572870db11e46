/* Writing JSON: calls nest, commas and escapes are taken care of. What is a struct is written by a
 * table, see json_fields.h; these calls are for the rest.
 *
 *     json_open(j, '{');
 *     json_put(j, "path", f->path);
 *     json_key(j, "counts"); json_open(j, '['); ... json_close(j);
 *     json_close(j);
 *
 * Text that is not valid UTF-8 is written with U+FFFD in place of each bad byte. With indent = 0
 * the whole value is on one line.
 */
#pragma once

#include "base/buf.h"

struct json {
	struct buf *out;
	unsigned indent;    /* spaces a level */
	unsigned depth;     /* at most 64 */
	bool comma, in_key; /* state */
	char closers[64];
};

void json_open(struct json *j, char bracket); /* '{' or '[' */
void json_close(struct json *j);
void json_key(struct json *j, const char *key);
void json_key_str(struct json *j, struct str key);
void json_str(struct json *j, struct str s);
void json_u64(struct json *j, uint64_t n);
void json_i64(struct json *j, int64_t n);
void json_f64(struct json *j, double d); /* at most 6 decimals; never NaN */
void json_bool(struct json *j, bool b);
void json_null(struct json *j);
void json_strs(struct json *j, const struct strs *list);
void json_raw(struct json *j, struct str text); /* a value that is JSON already */
/* Members in one call: key and value. */
void json_put(struct json *j, const char *key, struct str value);
void json_put_bool(struct json *j, const char *key, bool value);
