/* Device code that is not linked yet, as clang's new offload driver leaves it in objects and static libraries (-fgpu-rdc,
 * LTO): offload binaries, back to back in the section .llvm.offloading, an image or more in each. The images are code
 * objects or, as a rule, LLVM's bitcode, whose kernels are not counted.
 * Source: LLVM's OffloadBinary.h, versions 1 and 2; doc/formats.md has the tables. Limits: 4,096 images in a binary, 64
 * strings of 256 bytes for each; the source's budget. */
#include <string.h>

#include "devcode/scan.h"
#include "formats/le.h"

enum { HEADER = 32, ENTRY = 40, TEXT = 256, IMAGES = 4096, STRINGS = 64 };

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

/* Adds the image of the entry at an offset of the binary, unless it is for another vendor's GPU. A target that the current
 * bundle has already begins another bundle: `ld -r` joins the sections of several objects. lengths: the table of strings
 * has the length of each value (version 2), which else ends at a NUL. */
static struct err *scan_image(
	struct scan *s, const struct bytes *binary, uint64_t at, bool lengths, size_t *first)
{
	ARENA(tmp);
	char e[ENTRY], pair[24];
	struct str arch = S(DEVCODE_UNKNOWN), triple = S(""), key, value;
	struct code_object *o;
	TRY(bytes_read(binary, e, ENTRY, at));
	uint64_t strings = le64(e + 8), n = le64(e + 16), from = le64(e + 24), size = le64(e + 32);
	if (n > STRINGS || strings > binary->size || from > binary->size ||
		size > binary->size - from)
		return err_new(E_BUNDLE, "an image of %llu bytes is not inside its offload binary",
			(unsigned long long)size);
	for (uint64_t i = 0, step = lengths ? 24 : 16; i < n; i++) {
		TRY(bytes_read(binary, pair, step, strings + i * step));
		TRY(text_at(&tmp, binary, le64(pair), TEXT, &key));
		TRY(text_at(
			&tmp, binary, le64(pair + 8), lengths ? le64(pair + 16) : TEXT, &value));
		if (str_eq(key, S("arch")) && value.n)
			arch = value;
		else if (str_eq(key, S("triple")))
			triple = value;
	}
	if (!str_contains(triple, S("-amd-")))
		return NULL;
	for (size_t i = *first; i < s->file->objects.n; i++) {
		if (!str_eq(s->file->objects.v[i].target, arch))
			continue;
		s->file->bundles++;
		*first = s->file->objects.n;
	}
	TRY(object_add(s, binary, arch, &o));
	o->encoding = DEVCODE_OFFLOAD;
	o->size = o->stored = size;
	o->place = (struct code_place){.bundle = binary->base - s->base,
		.length = binary->size,
		.entry = at,
		.offset = from};
	struct bytes image = bytes_sub(binary, from, size);
	object_look(s, &image, o);
	return NULL;
}

struct err *scan_offload(struct scan *s, const struct bytes *section)
{
	size_t first = s->file->objects.n;
	struct err *e = NULL;
	for (uint64_t at = 0, size; !e && at < section->size; at = round_up(at + size, 8)) {
		char h[HEADER] = {0};
		e = bytes_read(section, h, HEADER, at);
		size = le64(h + 8);
		uint64_t entries = le64(h + 16), n = le32(h + 4) > 1 ? le64(h + 24) : 1;
		if (!e && (memcmp(h, "\x10\xff\x10\xad", 4) != 0 || !le32(h + 4) ||
				  le32(h + 4) > 2 || size < HEADER || size > section->size - at ||
				  entries > size || n > IMAGES))
			e = err_new(E_BUNDLE,
				"no offload binary of version 1 or 2 at offset %llu of "
				".llvm.offloading",
				(unsigned long long)at);
		struct bytes binary = bytes_sub(section, at, size);
		for (uint64_t i = 0; !e && i < n; i++)
			e = scan_image(s, &binary, entries + i * ENTRY, le32(h + 4) > 1, &first);
	}
	s->file->bundles += s->file->objects.n > first;
	return e;
}
