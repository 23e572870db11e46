/* Private to the zip reader: its state, and how it says what is wrong. */
#pragma once

#include "formats/zip_format.h"

struct zip_reader {
	struct arena *a;
	struct zip *z;
	struct findings *list;
	uint64_t end;        /* of the central directory and what precedes the end record */
	uint64_t dir, bytes; /* where the central directory begins; its size */
	uint64_t count;      /* members that the end record promises */
	uint64_t shift;      /* bytes in front of the archive: added to every offset */
	struct {
		const char *id;
		size_t n;
	} counts[24];      /* findings by id, so that one kind cannot drown the others */
	size_t suppressed; /* those that are not shown */
};

/* Values of the ZIP64 extra field, and what is wrong with it (NULL = nothing). */
struct zip_wide {
	uint64_t size, stored, header;
	unsigned length; /* of the field; 0 = there is none */
	const char *problem;
};

void zip_say(struct zip_reader *r, const char *id, enum severity severity, struct str member,
	const char *fmt, ...) PRINTF(5, 6);
#define SAY_ERROR(r, id, ...) zip_say((r), (id), SEV_ERROR, __VA_ARGS__)
#define SAY_WARNING(r, id, ...) zip_say((r), (id), SEV_WARNING, __VA_ARGS__)
/* Walks the extra fields. want: which of size, stored, header the 32-bit fields left out (then they
 * are replaced in *w). */
void zip_wide_read(struct str extra, const bool want[3], struct zip_wide *w);
/* Local headers against the central directory, and the places of all members. */
MUST_USE struct err *zip_check_local(struct zip_reader *r);
