/* JSON by tables that map the members of a struct to the members of an object.
 *
 * One table writes an object and reads it back strictly. The kind of a plain member follows from
 * its C type, so that a table cannot disagree with its struct:
 *
 *     static const struct json_field gpu_fields[] = {
 *         FIELD("target", struct gpu_time, name),
 *         FIELDS(struct gpu_time, seconds, runs),    up to 12 members whose keys are their names
 *         {.kind = FIELD_END},
 *     };
 *     const struct json_field times_fields[] = {
 *         FIELD_CONST("schema", "rocsmith.times/1"),
 *         FIELD_LIST("gpus", struct times, gpus, gpu_fields),
 *         {.kind = FIELD_END},
 *     };
 *     struct str text = json_document(a, 2, times_fields, &times);
 *
 * A document's table begins with its schema. Tables nest: an object within an object may be a
 * struct of its own or, for names only, more members of the same struct (FIELD_PART).
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

struct json;
struct node;

enum field_kind {
	FIELD_END,     /* ends a table */
	FIELD_TEXT,    /* struct str */
	FIELD_NAME,    /* const char *; NULL is written as "" */
	FIELD_STRS,    /* struct strs */
	FIELD_NAMES,   /* const char *const *, NULL-terminated; NULL is written as [] */
	FIELD_BOOL,    /* bool */
	FIELD_UINT,    /* unsigned */
	FIELD_U64,     /* uint64_t, size_t */
	FIELD_I64,     /* int64_t */
	FIELD_F64,     /* double */
	FIELD_WORD,    /* an enum, as one of .words */
	FIELD_HEX,     /* unsigned, as the text "0x1002" of .size digits */
	FIELD_FIXED,   /* the text .words[0], whatever the struct */
	FIELD_OBJECT,  /* a struct with .fields */
	FIELD_MEMBERS, /* a struct whose .fields go into the enclosing object; no key */
	FIELD_ITEMS,   /* VEC of structs of .size bytes with .fields: a list of objects */
	FIELD_ARRAY, /* rows of .size bytes up to one whose first member, a const char *, is NULL; or NULL */
	FIELD_PAIRS,  /* the same as one object: the first field is the key, the second the value */
	FIELD_CUSTOM, /* .write writes the value */
	FIELD_PARSED, /* const struct node *, written again as it was read; NULL leaves the member out */
};

/* Kept at 24 bytes: each start of the program relocates the pointers in all such tables. */
struct json_field {
	const char *key;
	uint8_t kind;  /* enum field_kind */
	bool pointer;  /* OBJECT, MEMBERS: the struct holds a pointer; NULL leaves the member out */
	bool optional; /* TEXT, NAME, UINT, I64, ITEMS: left out if "", NULL, 0, below 0, empty */
	bool written;  /* only written: a reader accepts the key, and ignores its value */
	uint16_t off, size;
	union {
		const struct json_field *fields; /* OBJECT, MEMBERS, ITEMS, PAIRS */
		const char *const *words;        /* WORD, FIXED: NULL-terminated */
		void (*write)(struct json *j, const void *object); /* CUSTOM */
	};
};

/* Derives the kind from the type of the member; other types do not compile. */
#define FIELD_KIND(T, member)                                                                      \
	_Generic(((T *)0)->member, struct str: FIELD_TEXT, const char *: FIELD_NAME,               \
		const char *const *: FIELD_NAMES, struct strs: FIELD_STRS, bool: FIELD_BOOL, unsigned: FIELD_UINT,                   \
		uint64_t: FIELD_U64, int64_t: FIELD_I64, double: FIELD_F64)
/* clang-format off */
#define FIELDS_1(T, in, m) FIELD(#m, T, in m)
#define FIELDS_2(T, in, m, ...) FIELD(#m, T, in m), FIELDS_1(T, in, __VA_ARGS__)
#define FIELDS_3(T, in, m, ...) FIELD(#m, T, in m), FIELDS_2(T, in, __VA_ARGS__)
#define FIELDS_4(T, in, m, ...) FIELD(#m, T, in m), FIELDS_3(T, in, __VA_ARGS__)
#define FIELDS_5(T, in, m, ...) FIELD(#m, T, in m), FIELDS_4(T, in, __VA_ARGS__)
#define FIELDS_6(T, in, m, ...) FIELD(#m, T, in m), FIELDS_5(T, in, __VA_ARGS__)
#define FIELDS_7(T, in, m, ...) FIELD(#m, T, in m), FIELDS_6(T, in, __VA_ARGS__)
#define FIELDS_8(T, in, m, ...) FIELD(#m, T, in m), FIELDS_7(T, in, __VA_ARGS__)
#define FIELDS_9(T, in, m, ...) FIELD(#m, T, in m), FIELDS_8(T, in, __VA_ARGS__)
#define FIELDS_10(T, in, m, ...) FIELD(#m, T, in m), FIELDS_9(T, in, __VA_ARGS__)
#define FIELDS_11(T, in, m, ...) FIELD(#m, T, in m), FIELDS_10(T, in, __VA_ARGS__)
#define FIELDS_12(T, in, m, ...) FIELD(#m, T, in m), FIELDS_11(T, in, __VA_ARGS__)
#define FIELDS_PICK(a, b, c, d, e, f, g, h, i, j, k, l, macro, ...) macro
#define FIELDS_OF(...)                                                                             \
	FIELDS_PICK(__VA_ARGS__, FIELDS_12, FIELDS_11, FIELDS_10, FIELDS_9, FIELDS_8, FIELDS_7,    \
		FIELDS_6, FIELDS_5, FIELDS_4, FIELDS_3, FIELDS_2, FIELDS_1, 0)
#define FIELDS(T, ...) FIELDS_OF(__VA_ARGS__)(T, , __VA_ARGS__)
#define FIELDS_IN(T, part, ...) FIELDS_OF(__VA_ARGS__)(T, part., __VA_ARGS__) /* a struct in T */
#define FIELDS_ONLY(T, ...) {FIELDS(T, __VA_ARGS__), {.kind = FIELD_END}} /* a whole table */
#define FIELD_LAST(...) __VA_ARGS__, {.kind = FIELD_END} /* the last row of a table */
/* The same for a table whose reader passes over keys that it does not have. */
#define FIELD_OTHERS {.kind = FIELD_END, .optional = true}
#define FIELD(k, T, member)                                                                        \
	{.key = (k), .kind = FIELD_KIND(T, member), .off = offsetof(T, member)}
#define FIELD_OPTIONAL(k, T, member)                                                               \
	{.key = (k), .kind = FIELD_KIND(T, member), .off = offsetof(T, member), .optional = true}
#define FIELD_ENUM(k, T, member, names)                                                            \
	{.key = (k), .kind = FIELD_WORD, .off = offsetof(T, member), .words = (names)}
#define FIELD_NUMBER_HEX(k, T, member, digits)                                                     \
	{.key = (k), .kind = FIELD_HEX, .off = offsetof(T, member), .size = (digits)}
#define FIELD_CONST(k, text)                                                                       \
	{.key = (k), .kind = FIELD_FIXED, .words = (const char *const[]){(text), NULL}}
#define FIELD_STRUCT(k, T, member, table)                                                          \
	{.key = (k), .kind = FIELD_OBJECT, .off = offsetof(T, member), .fields = (table)}
#define FIELD_POINTER(k, T, member, table)                                                         \
	{.key = (k), .kind = FIELD_OBJECT, .off = offsetof(T, member), .fields = (table), .pointer = true}
#define FIELD_PART(k, table) {.key = (k), .kind = FIELD_OBJECT, .fields = (table)}
#define FIELD_FROM(T, member, table)                                                               \
	{.kind = FIELD_MEMBERS, .off = offsetof(T, member), .fields = (table), .pointer = true}
#define FIELD_LIST(k, T, member, table)                                                            \
	{.key = (k), .kind = FIELD_ITEMS, .off = offsetof(T, member),                              \
		.size = sizeof(*((T *)0)->member.v), .fields = (table)}
#define FIELD_ROWS(k, T, member, table)                                                            \
	{.key = (k), .kind = FIELD_ARRAY, .off = offsetof(T, member),                              \
		.size = sizeof(*((T *)0)->member), .fields = (table)}
#define FIELD_LIST_OPTIONAL(k, T, member, table)                                                   \
	{.key = (k), .kind = FIELD_ITEMS, .off = offsetof(T, member), .optional = true,            \
		.size = sizeof(*((T *)0)->member.v), .fields = (table)}
#define FIELD_MAP(k, T, member, table)                                                             \
	{.key = (k), .kind = FIELD_PAIRS, .off = offsetof(T, member),                              \
		.size = sizeof(*((T *)0)->member.v), .fields = (table)}
#define FIELD_AS_PARSED(k, T, member)                                                              \
	{.key = (k), .kind = FIELD_PARSED, .off = offsetof(T, member), .pointer = true}
/* a key that a reader accepts, but reads by other means */
#define FIELD_LATER(k) {.key = (k), .kind = FIELD_STRS, .written = true}
#define FIELD_WRITE(k, function) {.key = (k), .kind = FIELD_CUSTOM, .write = (function)}
/* clang-format on */

/* Writing values by calls, for results that are not structs. Calls nest; commas and escapes are added.
 *
 *     json_open(j, '{');
 *     json_key(j, "path"); json_str(j, f->path);
 *     json_key(j, "counts"); json_open(j, '['); ... json_close(j);
 *     json_close(j);
 *
 * Text that is not valid UTF-8 is written with U+FFFD in place of each bad byte. With indent = 0 the whole value is
 * on one line. */
struct json {
	struct buf *out;
	unsigned indent;    /* spaces per level */
	unsigned depth;     /* at most 128: a parsed document, and what is around it */
	bool comma, in_key; /* state */
	char closers[128];
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
void json_nothing(struct json *j);
void json_strs(struct json *j, const struct strs *list);
void json_names(struct json *j, const char *const *list); /* NULL-terminated, or NULL */
void json_node(struct json *j, const struct node *n);     /* a value that was read from JSON */

/* Writes an object as a value. */
void json_struct(struct json *j, const struct json_field *fields, const void *object);
/* A whole document, with a final newline. The table begins with the schema. */
struct str json_document(
	struct arena *a, unsigned indent, const struct json_field *fields, const void *object);

/* The row of the table that writes `key`, and the address of its member in the object; "paths.clang" is the key
 * "clang" of the object under "paths". NULL: the table has no such key. */
const struct json_field *json_field_find(
	const struct json_field *fields, struct str key, const void *object, const void **ret_at);
/* A VEC of any type. It is copied, since its pointer has another type in its own struct. */
struct json_items VEC_OF(char);
struct json_items json_items_at(const void *at);

/* Reads map into the object, which holds the defaults: an absent or null member leaves its part
 * alone. E_SYNTAX, with its place, for a key that the table does not have and for a value of the
 * wrong kind. Texts point into the document, but for NAME. Members of kinds that are not a value, a word, OBJECT or ITEMS
 * are accepted and ignored. */
MUST_USE struct err *json_fields_read(
	struct arena *a, const struct node *map, const struct json_field *fields, void *object);
