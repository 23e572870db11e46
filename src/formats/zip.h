/* Zip archives: strict reading, deterministic writing (ZIP64 where needed, never otherwise).
 *
 * Reading follows the central directory and checks it against the local headers: no overlap, no gaps, no duplicate
 * names, no traversal, no bytes behind the end record, sizes within limits (central directory 1 GiB, extra fields and
 * names 64 KiB). A member's content is read only on request, and all reading shares one budget (bytes.h). After
 * zip_open() any number of threads may read from one struct zip. Source: PKWARE APPNOTE 6.3.10; PEP 427 (deflate or
 * stored only). */
#pragma once

#include "base/map.h"
#include "formats/elf.h"
#include "formats/finding.h"

struct zip_member {
	struct str name;
	uint16_t method, flags; /* method: 0 = stored, 8 = deflate */
	uint32_t crc, mode;     /* mode: Unix mode, 0 if the archive has none */
	uint32_t time;          /* MS-DOS date (upper half) and time, in steps of two seconds */
	uint64_t size, stored;  /* uncompressed and compressed bytes */
	uint64_t header, data;  /* offsets of the local header and of the data */
	bool dir;
	bool unsafe; /* must not be unpacked or read; a finding says why */
};

struct zip {
	struct str path;
	struct bytes src; /* the archive's bytes */
	int fd;           /* -1 if the archive is in memory */
	uint64_t size;
	VEC(struct zip_member) members; /* in order of the central directory */
	struct map names;               /* first member of each name */
	struct budget budget;           /* pays for all reading, unless src brought one */
};

/* Opens an archive and reads its central directory; ret must not move afterwards. E_ZIP if it is not a zip file, or
 * its directory cannot be read. Other mistakes become findings (rocsmith-verify(1) lists their ids); if `findings` is
 * NULL, one of severity error is E_ZIP. */
MUST_USE struct err *zip_open(
	struct arena *a, struct str path, struct findings *findings, struct zip *ret);
/* The same for an archive in any source of bytes, which must outlive ret. */
MUST_USE struct err *zip_open_src(struct arena *a, const struct bytes *src, struct str path,
	struct findings *findings, struct zip *ret);
void zip_close(struct zip *z);
const struct zip_member *zip_find(const struct zip *z, struct str name); /* or NULL */
/* Reads the whole content, checked against size and CRC; E_LIMIT if it is more than `limit` bytes. */
MUST_USE struct err *zip_read(struct arena *a, const struct zip *z, const struct zip_member *m,
	size_t limit, struct str *ret);
/* Passes the content to fn in pieces; it is checked likewise, unless fn stops early. */
typedef struct err *zip_fn(void *user, const void *p, size_t n, bool *stop);
MUST_USE struct err *zip_stream(
	const struct zip *z, const struct zip_member *m, zip_fn *fn, void *user);
/* Reads up to n bytes from the content's beginning; a large member is not read any further, and not checked. */
MUST_USE struct err *zip_peek(
	const struct zip *z, const struct zip_member *m, void *p, size_t n, size_t *ret_n);
/* Writes the content to the file `path`. */
MUST_USE struct err *zip_extract(const struct zip *z, const struct zip_member *m, struct str path);
/* Random access without a temporary file. A stored member is read in place. A deflated one is unpacked, checked and
 * passed to fn (may be NULL) once, as by zip_stream(). Later reads unpack again, a block (1 MiB, or a 384th of the
 * member) at a time: cheap for reading forward, or at a few places. Memory: at most 33 MiB, and four blocks. *ret is
 * NULL if fn stopped. Only one thread may use the source. */
struct zip_view;
struct zip_pass {
	zip_fn *fn;
	void *user;
	bool threaded; /* fn runs in a thread of its own */
};
MUST_USE struct err *zip_view_open(const struct zip *z, const struct zip_member *m,
	const struct zip_pass *pass, struct zip_view **ret);
struct bytes zip_view_src(struct zip_view *v);
void zip_view_close(struct zip_view **v); /* NULL is fine */
/* Random access to a member: in place if it is stored (then *ret_fd = -1, and z must stay open), else through an
 * unnamed temporary file that *ret_fd owns. */
MUST_USE struct err *zip_src(
	const struct zip *z, const struct zip_member *m, struct bytes *ret, int *ret_fd);
/* An unnamed file in $TMPDIR (or /tmp) that members are unpacked to. The first write creates it; start with .fd = -1.
 */
struct zip_sink {
	int fd;
	uint64_t at; /* bytes written */
};
MUST_USE struct err *zip_sink_write(struct zip_sink *s, const void *p, size_t n);
void zip_sink_close(struct zip_sink *s);

/* ---- writing ---- */
struct zip_input {
	struct str name; /* in the archive */
	struct str path; /* file to read; "": `content` is used */
	struct str content;
	unsigned mode; /* 0644 or 0755 */
	/* Or the member of an archive, with its hash for RECORD: its compressed bytes are copied without unpacking. */
	const struct zip *zip;
	const struct zip_member *member;
	struct str sha256;
};

struct zip_output { /* the result for one input */
	uint64_t size, stored;
	uint32_t crc;
	struct str sha256; /* base64url, for RECORD */
};

/* The smallest values that do not fit into the fields without ZIP64; 0: the format's own. Tests lower them; the
 * result is still valid ZIP64, because the 32-bit fields then hold 0xffffffff. */
struct zip_limits {
	uint64_t size, count;
	uint64_t chunk; /* members above two chunks are deflated in pieces */
};

struct zip_writer {
	struct str path;
	int64_t epoch;
	uint32_t time; /* like zip_member.time; 0: epoch is used */
	unsigned jobs;
	const struct zip_input *v;
	size_t n;
	struct err *(*last)(
		struct arena *a, void *user, const struct zip_output *outs, struct zip_input *ret);
	void *user;
	struct zip_limits limits;
};

/* Writes the archive atomically: members in the given order, all with the time `epoch` (seconds; before 1980 counts
 * as 1980-01-01), compressed in parallel. The bytes do not depend on `jobs` (0 = one per CPU, ZIP_THREADS at most).
 * Members that do not shrink are stored. ret (may be NULL) has n elements. `last` (may be NULL) makes one more member
 * from the results of the others, such as a RECORD. E_ZIP for a name that must not be in an archive or occurs twice.
 * Memory, whatever the members' sizes: 68 MiB of results that wait to be written (8 MiB for each thread, at most 64,
 * and one member of 4 on top), 5 MiB for each thread, and 1.5 KiB for each member. */
enum { ZIP_THREADS = 24 };
MUST_USE struct err *zip_write(struct arena *a, const struct zip_writer *w, struct zip_output *ret);
