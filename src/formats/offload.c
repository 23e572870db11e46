/* Reads offload binaries; see offload.h. */
#include "formats/offload.h"

#include <string.h>

#include "formats/le.h"

enum { HEADER = 32, TEXT = 256, IMAGES = 4096, STRINGS = 64 };

/* Reads the text at an offset of the binary, which ends at its NUL or after `most` bytes. */
static struct err *text_at(
	struct arena *a, const struct bytes *binary, uint64_t at, uint64_t most, struct str *ret)
{
	char window[TEXT];
	struct str s = {.p = window};
	TRY(budget_work(binary->budget, TEXT));
	TRY(bytes_peek(binary, window, most < TEXT ? (size_t)most : TEXT, at, &s.n));
	*ret = str_dup(a, str_sub(s, 0, str_chr(s, '\0')));
	return NULL;
}

/* Reads the entry at x->entry of the binary. lengths: the table of strings has the length of each value (version 2), which
 * else ends at a NUL. */
static struct err *read_image(
	struct arena *a, const struct bytes *binary, bool lengths, struct offload_image *x)
{
	char e[OFFLOAD_ENTRY], pair[24];
	struct str key, value;
	TRY(bytes_read(binary, e, OFFLOAD_ENTRY, x->entry));
	uint64_t strings = le64(e + 8), n = le64(e + 16);
	x->offset = le64(e + 24);
	x->size = le64(e + 32);
	if (n > STRINGS || strings > binary->size || x->offset > binary->size ||
		x->size > binary->size - x->offset)
		return err_new(E_BUNDLE, "an image of %llu bytes is not inside its offload binary",
			(unsigned long long)x->size);
	for (uint64_t i = 0, step = lengths ? 24 : 16; i < n; i++) {
		TRY(bytes_read(binary, pair, step, strings + i * step));
		TRY(text_at(a, binary, le64(pair), TEXT, &key));
		TRY(text_at(a, binary, le64(pair + 8), lengths ? le64(pair + 16) : TEXT, &value));
		if (str_eq(key, S("arch")))
			x->arch = value;
		else if (str_eq(key, S("triple")))
			x->triple = value;
	}
	return NULL;
}

struct err *offload_walk(const struct bytes *section, offload_fn *fn, void *user)
{
	for (uint64_t at = 0, size; at < section->size; at = round_up(at + size, 8)) {
		char h[HEADER];
		TRY(bytes_read(section, h, HEADER, at));
		size = le64(h + 8);
		bool second = le32(h + 4) == 2;
		uint64_t entries = le64(h + 16), n = second ? le64(h + 24) : 1;
		if (memcmp(h, "\x10\xff\x10\xad", 4) != 0 || (le32(h + 4) != 1 && !second) ||
			size < HEADER || size > section->size - at || entries > size || n > IMAGES)
			return err_new(E_BUNDLE,
				"no offload binary of version 1 or 2 at offset %llu "
				"of " OFFLOAD_SECTION,
				(unsigned long long)at);
		struct bytes binary = bytes_sub(section, at, size);
		for (uint64_t i = 0; i < n; i++) {
			ARENA(tmp);
			struct offload_image x = {.binary = at,
				.length = size,
				.of = n,
				.entry = entries + i * OFFLOAD_ENTRY,
				.arch = S(""),
				.triple = S("")};
			TRY(read_image(&tmp, &binary, second, &x));
			TRY(fn(user, &x));
		}
	}
	return NULL;
}
