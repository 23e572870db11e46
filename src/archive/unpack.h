/* Unpacks untrusted archives into a folder.
 *
 * Absolute names, names with ".." or control characters, device nodes, pipes and sockets are refused; set-user-ID bits
 * are dropped. No file is created through a link that leads out of the root. Each is written under a temporary name and
 * renamed, so that a tree in use can be completed or repaired without torn files. At most 1,000,000 members, 16 GiB a
 * file, 64 GiB in all. Nothing is synced.
 *
 * `closed` is stricter, for trees whose links will be followed from outside: the path of a member has no links, every
 * symbolic link leads to a path inside (its target is relative, its ".." come first, and there are no more of them
 * than folders above it; a chain of such links stays inside, too), and modes are 0644 or 0755. PEP 706 has the same
 * aim.
 *
 * Formats: tar as libarchive reads it, compressed by gzip, xz, zstd, bzip2 or lzma, also inside an ar archive; zip as
 * formats/zip.h reads it.
 */
#pragma once

#include "base/err.h"
#include "base/progress.h"

struct unpack_file {
	char type; /* 'f' file, 'l' symbolic link, 'h' hard link */
	struct str path;
	struct str value; /* a file's sha256 as hex, or a link's target */
	uint64_t size;
	int64_t mtime;
	int fd; /* an open fd of a file, to read or change it before it gets its name and mtime */
};

struct unpack_job {
	struct str path; /* the archive */
	/* If path is an ar archive: the prefix of the tar's name in it; or NULL */
	const char *member;
	struct str root; /* the folder, which exists */
	struct str id;   /* a word that is unique among concurrent calls with this root */
	bool closed;
	/* Limit for the bytes that come out, whether they are written or not, and for members: 1,000, and one for each
	 * 4 KiB of it. Else E_LIMIT; 0 = 64 GiB, else E_ARCHIVE */
	uint64_t most;
	/* Maps a member's name to its path in the root; "" leaves it out. NULL = keep all names. */
	struct str (*place)(void *user, struct arena *tmp, struct str path);
	/* Called for each file before it gets its name; an error refuses the file. May be NULL. */
	struct err *(*told)(void *user, const struct unpack_file *f);
	void *user;
	struct progress *progress; /* counts the bytes read from the archive; or NULL */
	bool leaves_top;           /* returned: a link leads out of its top folder */
};

/* E_ARCHIVE if it is damaged or hostile; then a part of it may have been unpacked. */
MUST_USE struct err *unpack_tar(struct arena *tmp, struct unpack_job *u);
MUST_USE struct err *unpack_zip(struct arena *tmp, struct unpack_job *u);
