/* Unpacks archives, written by strangers, into a folder.
 *
 * Absolute names, names with ".." or control characters, device nodes, pipes and sockets are refused;
 * set-user-id bits are dropped. No file is created through a link that leads out of the root. Each is
 * written beside its name and renamed, so that a tree in use can be completed or repaired without torn files.
 * At most 1,000,000 members, 16 GiB a file, 64 GiB in all. Nothing is synced.
 *
 * `closed` is stricter, for trees whose links will be followed from outside: no member lies behind a link, every
 * symbolic link leads to something inside (its target is relative, its ".." come first, and there are no more
 * of them than folders above it; a chain of such links stays inside, too), and modes are 0644 or 0755. PEP 706
 * has the same aim.
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
	int fd; /* open, for a file: it may be read and changed before it gets its name and mtime */
};

struct unpack {
	struct str path; /* the archive */
	const char
		*member; /* path is an ar archive: unpack the tar whose name begins so; or NULL */
	struct str root; /* the folder; it exists */
	struct str id;   /* a word that no other unpacking into this root at the same time has */
	bool closed;
	uint64_t most; /* limit for the bytes of all files, E_LIMIT; 0: 64 GiB, E_ARCHIVE */
	/* Maps a member's name to its path in the root; "" leaves it out. NULL: as it is. */
	struct str (*place)(void *user, struct arena *tmp, struct str path);
	/* Called for a file before it gets its name; an error refuses it. NULL: none. */
	struct err *(*told)(void *user, const struct unpack_file *f);
	void *user;
	struct progress *progress; /* gets the archive's bytes as they are read; or NULL */
	bool leaves_top;           /* returned: a link leads out of the top folder that it is in */
};

/* E_ARCHIVE when it is damaged or hostile; part of it may have been unpacked then. */
MUST_USE struct err *unpack_tar(struct arena *tmp, struct unpack *u);
MUST_USE struct err *unpack_zip(struct arena *tmp, struct unpack *u);
