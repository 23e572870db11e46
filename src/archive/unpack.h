/* Archives into a folder. What is in them was written by strangers:
 *
 * Absolute names, names with ".." or control characters, device nodes, pipes and sockets are refused;
 * set-user-id bits are dropped. No file is created through a link that leads out of the root. Each is
 * written beside its name and renamed, so that a tree in use is completed or repaired without a torn
 * file. At most 1,000,000 members, 16 GiB a file, 64 GiB in all. Nothing is synced.
 *
 * `closed` is stricter, for trees that are read from outside with their links followed: no member lies
 * behind a link, a symbolic link leads to something inside (a relative target whose ".." come first, and
 * not more of them than there are folders above it; so does any chain of such links), and modes are 0644
 * or 0755. Source: PEP 706, which has the same aim.
 *
 * Formats: tar as libarchive reads it, by gzip, xz, zstd, bzip2 or lzma, also inside an ar archive; zip
 * as formats/zip.h does.
 */
#pragma once

#include "base/err.h"
#include "base/progress.h"

struct unpack_file {
	char type; /* 'f' file, 'l' symbolic link, 'h' hard link */
	struct str path;
	struct str value; /* sha256 of a file as hex; what a link leads to */
	uint64_t size;
	int64_t mtime;
	int fd; /* of a file: it may be read and changed before it gets its name and time */
};

struct unpack {
	struct str path; /* the archive */
	const char
		*member; /* path is an ar archive: unpack the tar whose name begins so; or NULL */
	struct str root; /* the folder, which is there */
	struct str id;   /* of those who fill this root at the same time, a word for each */
	bool closed;
	uint64_t most; /* bytes of all files, else E_LIMIT; 0: the 64 GiB, and E_ARCHIVE */
	/* Where in the root a member goes, "" = it is left out; or NULL. */
	struct str (*place)(void *user, struct arena *tmp, struct str path);
	/* Told of a file before it gets its name; may refuse it. Or NULL. */
	struct err *(*told)(void *user, const struct unpack_file *f);
	void *user;
	struct progress *progress; /* gets the archive's bytes as they are used up; or NULL */
	bool leaves_top;           /* returned: a link leads out of the first folder of its path */
};

/* E_ARCHIVE when it is damaged or hostile, and then part of it may be there. */
MUST_USE struct err *unpack_tar(struct arena *tmp, struct unpack *u);
MUST_USE struct err *unpack_zip(struct arena *tmp, struct unpack *u);
