/* The bytes of a file or pipe from beginning to end, unpacked: gzip (RFC 1952), xz and zstd (RFC 8878) are recognized
 * by their first bytes, concatenated streams are one text, and other data passes unchanged. UTF-16 with a byte order
 * mark, as PowerShell writes it, loses its zero bytes, so that its ASCII can be read. Memory is constant: 128 KiB,
 * and the window of the format (at most 128 MiB). */
#pragma once

#include "base/err.h"

struct stream;

/* Reads from fd, which the caller closes, or from text if fd is -1. `name` appears in messages. */
struct stream *stream_new(int fd, struct str text, struct str name);
void stream_freep(struct stream **s);
/* May it go on for ever, or unpack to any size? False for a text, and for a file that is not packed. Known once it is read from. */
bool stream_is_open_ended(const struct stream *s);
/* Fills p; fewer than n bytes only at the end. E_IO, E_SYNTAX for damaged data. */
MUST_USE struct err *stream_read(struct stream *s, char *p, size_t n, size_t *ret);
