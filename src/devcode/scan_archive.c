/* Static archives (ar): the device code of all members, as if it were in one file.
 * Source: the manual page ar(5), System V format with GNU's names; BSD's names ("#1/12": the name is the first
 * 12 bytes of the member) as LLVM's Archive.cpp reads them. Thin archives are refused. */
#include "devcode/scan.h"

#include "formats/pe.h"

enum { HEADER = 60, MAGIC = 8 };

bool archive_is(struct str head)
{
	return str_starts(head, S("!<arch>\n")) || str_starts(head, S("!<thin>\n"));
}

struct err *scan_archive(struct scan *s, const struct bytes *src)
{
	char magic[MAGIC], h[HEADER], head[64];
	TRY(bytes_read(src, magic, MAGIC, 0));
	if (memcmp(magic, "!<arch>\n", MAGIC) != 0)
		return err_hint(err_new(E_FORMAT, "a thin archive: its members are other files"),
			"inspect the object files that it names ('ar t' lists them), or their "
			"folder");
	for (uint64_t at = MAGIC, size; at < src->size; at += HEADER + size + size % 2) {
		TRY_CTX(bytes_read(src, h, HEADER, at), "the archive is cut off");
		struct str digits = str_trim((struct str){.p = h + 48, .n = 10});
		if (memcmp(h + 58, "`\n", 2) != 0 || !str_u64(digits, 10, &size) ||
			size > src->size - at - HEADER)
			return err_new(E_FORMAT, "damaged archive header at offset %llu",
				(unsigned long long)at);
		/* BSD puts a long name in front of the member's bytes */
		uint64_t name = 0;
		struct str text = str_trim((struct str){.p = h, .n = 16});
		if (!str_starts(text, S("#1/")) || !str_u64(str_sub(text, 3, text.n), 10, &name))
			name = 0;
		if (name > size)
			return err_new(E_FORMAT,
				"the archive member at offset %llu is shorter than its name",
				(unsigned long long)at);
		struct bytes member = bytes_sub(src, at + HEADER + name, size - name);
		struct str first = {.p = head};
		struct err *e = bytes_peek(&member, head, sizeof(head), 0, &first.n);
		if (!e && bundle_is(first))
			e = scan_bundles(s, &member, 0, member.size, S("a member"));
		else if (!e && coff_is(first))
			e = scan_pe(s, &member);
		else if (!e && elf_is(first))
			e = scan_elf(s, &member);
		TRY_CTX(e, "archive member at offset %llu", (unsigned long long)at);
		s->file->format = "archive"; /* a member that is an object has set its own */
	}
	return NULL;
}
