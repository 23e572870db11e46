/* Static archives (ar): the device code of every member, as one file.
 * Source: the System V format with GNU's names, as documented in the manual page ar(5). */
#include "devcode/scan.h"

#include <string.h>

enum { HEADER = 60 };

static struct err *scan_member(struct scan *s, const struct elf_src *src)
{
	char head[64];
	struct str h = {.p = head};
	TRY(elf_src_peek(src, head, sizeof(head), 0, &h.n));
	if (bundle_is(h))
		return scan_bundles(s, src, 0, src->size, S("a member"));
	return elf_is(h) ? scan_elf(s, src) : NULL;
}

struct err *scan_archive(struct scan *s, const struct elf_src *src)
{
	uint64_t at = 8, size;
	while (at < src->size) {
		char h[HEADER];
		TRY_CTX(elf_src_read(src, h, HEADER, at), "the archive is cut off");
		struct str digits = str_trim((struct str){.p = h + 48, .n = 10});
		if (memcmp(h + 58, "`\n", 2) != 0 || !str_u64(digits, 10, &size) ||
			size > src->size - at - HEADER)
			return err_new(E_FORMAT, "damaged archive header at offset %llu",
				(unsigned long long)at);
		struct elf_src member = elf_src_sub(src, at + HEADER, size);
		TRY_CTX(scan_member(s, &member), "archive member at offset %llu",
			(unsigned long long)at);
		s->file->format = "archive"; /* a member that is an object has set its own */
		at += HEADER + size + size % 2;
	}
	return NULL;
}
