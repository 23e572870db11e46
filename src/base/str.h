/* Strings as views: a pointer and a length, passed by value, owning nothing.
 *
 * A view need not end in NUL; for a system call use str_z() or str_fmt(), which guarantee one. Literals are S("text");
 * in printf formats write "%.*s" and STR(s).
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

struct str {
	const char *p;
	size_t n;
};

struct strs { /* a list; see vec.h */
	struct str *v;
	size_t n, cap;
};

#define S(lit) ((struct str){.p = "" lit, .n = sizeof(lit) - 1})
/* The same as a constant expression, for initialisers of static tables. */
#define S_INIT(lit)                                                                                \
	{                                                                                          \
		.p = "" lit, .n = sizeof(lit) - 1                                                  \
	}
#define STR(s) (int)(s).n, (s).p
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define MUST_USE __attribute__((warn_unused_result))

/* Tests that run for each character or word are inline. They ignore the locale. */
static inline bool ascii_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool ascii_alnum(char c)
{
	return ascii_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A letter, a digit or "_". */
static inline bool ascii_word(char c)
{
	return ascii_alnum(c) || c == '_';
}

/* The bytes from..to, clamped to the length. NULL + 0 is undefined in C17. */
static inline struct str str_sub(struct str s, size_t from, size_t to)
{
	to = to < s.n ? to : s.n;
	from = from < to ? from : to;
	return (struct str){.p = from ? s.p + from : s.p, .n = to - from};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_sub(s, s.n - suffix.n, s.n), suffix);
}

struct str str_from(const char *z);      /* NULL gives the empty view */
int str_cmp(struct str a, struct str b); /* by bytes */
/* The same of two strings, or of two structs whose first member is one, for qsort(). */
int str_order(const void *x, const void *y);
bool str_contains(struct str s, struct str needle);
struct str str_trim(struct str s); /* ASCII white space at both ends */
/* Offset of the first c / last c / first needle, or s.n when there is none. */
size_t str_chr(struct str s, char c);
size_t str_rchr(struct str s, char c);
size_t str_find(struct str s, struct str needle);
unsigned str_count(struct str s, char c); /* how many there are of c */
/* The length of the part at the start that has these characters only, or none of them. */
size_t str_span(struct str s, const char *characters);
size_t str_until(struct str s, const char *characters);
#define ASCII_DIGITS "0123456789"
/* Splits at the first sep; false (and key = all, val = empty) when there is none. */
bool str_cut(struct str s, char sep, struct str *ret_key, struct str *ret_val);
/* Takes the next piece up to sep off *rest; false when *rest is used up. For lines: sep '\n'. */
bool str_next(struct str *rest, char sep, struct str *ret_piece);
/* Reads the whole string as an unsigned number (base 8, 10 or 16, no sign, no prefix). */
bool str_u64(struct str s, unsigned base, uint64_t *ret);
/* Reads a whole number and the name of a unit behind it, in small or capital letters: "50G", "12h". A row without a name ends the
 * table. False without both, or above 64 bits. */
struct str_unit {
	const char *name; /* in small letters; "": for a number alone */
	uint64_t each;
};
bool str_amount(struct str s, const struct str_unit *units, uint64_t *ret);
/* 500000000, 500M, 2GiB; the first row is the one of a number alone. */
extern const struct str_unit str_sizes[];
/* Reads up to n numbers with dots between them at the start of a text: 2, 9 and 1 of "2.9.1+rocm7". Returns how many there are;
 * the others are 0. */
size_t str_numbers(struct str text, uint64_t *ret, size_t n);
/* The length of the UTF-8 sequence at the start of s (RFC 3629: no overlong forms, no surrogates), or 0. */
size_t utf8_length(struct str s);
/* The length in bytes of the longest prefix of s that has at most this many bytes and characters and ends between two
 * characters; a byte that is not UTF-8 counts as a character. */
size_t utf8_fit(struct str s, size_t bytes, size_t characters);
/* The offset of the first byte that is not part of valid UTF-8, or s.n. */
size_t utf8_end(struct str s);

/* Copies into an arena; all of them are NUL-terminated behind .n. */
struct str str_dup(struct arena *a, struct str s);
char *str_z(struct arena *a, struct str s);
struct str str_fmt(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
struct str str_vfmt(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);
/* In a function (..., fmt, ...): declares the text that printf would make of fmt and the rest. */
#define FORMAT(text, arena, fmt)                                                                   \
	va_list text##_args;                                                                       \
	va_start(text##_args, fmt);                                                                \
	struct str text = str_vfmt((arena), fmt, text##_args);                                     \
	va_end(text##_args)
struct str str_lower(struct arena *a, struct str s);
/* Replaces each `from`, which is not empty, by `to`; returns s itself when there is none. */
struct str str_replace(struct arena *a, struct str s, struct str from, struct str to);
/* The string as one word of a shell: in single quotes unless it is plain; with control characters, or
 * bytes that are not UTF-8, in the form $'...' of POSIX.1-2024. */
struct str str_shell(struct arena *a, struct str s);
struct str str_join(struct arena *a, const struct strs *list, struct str sep);
/* The text with values ("NAME=value") in the places of their names, {NAME}; a value is not looked at again. */
struct str str_fill(struct arena *a, const char *text, const struct strs *values);
/* "a,b,,c" -> a b c: pieces are trimmed views, empty ones are dropped. */
struct strs str_split(struct arena *a, struct str s, char sep);
void strs_add(struct arena *a, struct strs *list, struct str s);
void strs_fmt(struct arena *a, struct strs *list, const char *fmt, ...) PRINTF(3, 4);
/* Adds several texts: STRS_ADD(a, &argv, S("-o"), out). */
#define STRS_ADD(a, list, ...)                                                                     \
	strs_add_all((a), (list),                                                                  \
		&(const struct strs){.v = (struct str[]){__VA_ARGS__},                             \
			.n = sizeof((struct str[]){__VA_ARGS__}) / sizeof(struct str)})
void strs_add_all(struct arena *a, struct strs *list, const struct strs *more);
void strs_add_words(struct arena *a, struct strs *list, const char *const *words); /* NULL: none */
bool strs_put(struct arena *a, struct strs *list, struct str s); /* adds s if it is new: true */
void strs_put_all(struct arena *a, struct strs *list, const struct strs *more);
bool strs_has(const struct strs *list, struct str s);
bool strs_eq(const struct strs *x, const struct strs *y); /* the same strings in the same order? */
/* The line "NAME=..." of the list, or NULL. */
struct str *strs_variable(const struct strs *list, struct str name);
/* Is it one of the words, which NULL ends? Does it begin, or end, with one, or have one in it? */
bool str_is_one_of(struct str s, const char *const *words);
bool str_starts_one_of(struct str s, const char *const *words);
bool str_ends_one_of(struct str s, const char *const *words);
bool str_contains_one_of(struct str s, const char *const *words);
void strs_sort(struct strs *list);
/* "Did you mean": the candidate with the smallest edit distance (a swap of neighbours counts as one edit), if that is
 * at most max(1, len/3), else "". Words of more than 64 bytes match nothing. */
struct str suggest(struct str word, const struct strs *candidates);

/* Is it free of ASCII's control characters, and of the characters in `bad`? */
bool str_is_plain(struct str s, const char *bad);
bool str_is_hex(struct str s); /* has it only lower-case hexadecimal digits? */
/* Is it made of letters and digits of ASCII and of `more`, and not empty? */
bool str_made_of(struct str s, const char *more);

/* ---- human-readable figures ---- */
/* "2026-11-29": as texts, days compare as they follow one another. Today's is that of UTC. */
bool str_is_day(struct str s);
struct str str_today(struct arena *a);
struct str str_utc(struct arena *a, int64_t seconds); /* "2026-11-29T08:00:00Z"; since 1970 */
struct str human_count(struct arena *a, size_t n, const char *noun); /* "1 file", "2 files" */
struct str human_bytes(struct arena *a, uint64_t n);                 /* "1.3 GB" (decimal units) */
struct str human_memory(
	struct arena *a, uint64_t n);                /* "1.2 GiB": memory is sold in binary units */
struct str human_seconds(struct arena *a, double s); /* "0.42 s", "3m05s" */
