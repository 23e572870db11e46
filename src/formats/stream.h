/* The bytes of a file or pipe from its beginning to its end, unpacked on the way: gzip (RFC 1952), xz and
 * zstd (RFC 8878) are known by their first bytes, streams behind each other are one text, and all else is
 * taken as it is. UTF-16 with a byte order mark, as PowerShell writes it, loses its zero bytes, so that its
 * ASCII can be read. Memory is flat: 128 KiB, and the window of the format (at most 128 MiB).
 */
#pragma once

#include "base/err.h"

struct stream;

/* Reads from fd, which stays the caller's, or from text when fd is -1. name is for messages. */
struct stream *stream_new(int fd, struct str text, struct str name);
void stream_freep(struct stream **s);
/* Fills p as far as possible; fewer than n bytes only at the end. E_IO, E_SYNTAX for damaged data. */
MUST_USE struct err *stream_read(struct stream *s, char *p, size_t n, size_t *ret);
