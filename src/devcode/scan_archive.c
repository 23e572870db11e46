/* Static archives (ar): the device code of every member, as one file.
 * Source: the manual page ar(5), System V format with GNU's names; BSD's names ("#1/12": the name is the first
 * 12 bytes of the member) as LLVM's Archive.cpp reads them; of thin archives the members are other files. */
#include "devcode/scan.h"

#include <string.h>

#include "formats/pe.h"

enum { HEADER = 60, MAGIC = 8 };

bool archive_is(struct str head)
{
	return str_starts(head, S("!<arch>\n")) || str_starts(head, S("!<thin>\n"));
}

static struct err *scan_member(struct scan *s, const struct bytes *src)
{
	char head[64];
	struct str h = {.p = head};
	TRY(bytes_peek(src, head, sizeof(head), 0, &h.n));
	if (bundle_is(h))
		return scan_bundles(s, src, 0, src->size, S("a member"));
	if (coff_is(h))
		return scan_pe(s, src);
	return elf_is(h) ? scan_elf(s, src) : NULL;
}

/* Bytes of a BSD name in front of the member's. */
static uint64_t name_in_front(const char *header)
{
	uint64_t n = 0;
	struct str name = str_trim((struct str){.p = header, .n = 16});
	return str_starts(name, S("#1/")) && str_u64(str_sub(name, 3, name.n), 10, &n) ? n : 0;
}

static struct err *check_thin(const struct bytes *src)
{
	char magic[MAGIC];
	TRY(bytes_read(src, magic, MAGIC, 0));
	if (!memcmp(magic, "!<arch>\n", MAGIC))
		return NULL;
	return err_hint(err_new(E_FORMAT, "a thin archive: its members are other files"),
		"inspect the object files that it names ('ar t' lists them), or their folder");
}

struct err *scan_archive(struct scan *s, const struct bytes *src)
{
	uint64_t at = MAGIC, size;
	TRY(check_thin(src));
	while (at < src->size) {
		char h[HEADER];
		TRY_CTX(bytes_read(src, h, HEADER, at), "the archive is cut off");
		struct str digits = str_trim((struct str){.p = h + 48, .n = 10});
		if (memcmp(h + 58, "`\n", 2) != 0 || !str_u64(digits, 10, &size) ||
			size > src->size - at - HEADER)
			return err_new(E_FORMAT, "damaged archive header at offset %llu",
				(unsigned long long)at);
		uint64_t name = name_in_front(h);
		if (name > size)
			return err_new(E_FORMAT,
				"the archive member at offset %llu is shorter than its name",
				(unsigned long long)at);
		struct bytes member = bytes_sub(src, at + HEADER + name, size - name);
		TRY_CTX(scan_member(s, &member), "archive member at offset %llu",
			(unsigned long long)at);
		s->file->format = "archive"; /* a member that is an object has set its own */
		at += HEADER + size + size % 2;
	}
	return NULL;
}
