/* libarchive, opened when the first package is unpacked. With its own libraries (ICU among them, by
 * way of libxml2) it costs more start-up time than everything else, and most commands never need
 * it.
 *
 * Call libarchive_open() first; then la.archive_read_new(...) and so on, as in <archive.h>. */
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "base/err.h"

#define LIBARCHIVE_FUNCTIONS(X)                                                                    \
	X(archive_read_new)                                                                        \
	X(archive_read_free)                                                                       \
	X(archive_read_support_format_ar)                                                          \
	X(archive_read_support_format_tar)                                                         \
	X(archive_read_support_filter_none)                                                        \
	X(archive_read_support_filter_xz)                                                          \
	X(archive_read_support_filter_zstd)                                                        \
	X(archive_read_support_filter_gzip)                                                        \
	X(archive_read_support_filter_bzip2)                                                       \
	X(archive_read_support_filter_lzma)                                                        \
	X(archive_read_open)                                                                       \
	X(archive_read_open_filename)                                                              \
	X(archive_read_next_header)                                                                \
	X(archive_read_data)                                                                       \
	X(archive_read_data_block)                                                                 \
	X(archive_errno)                                                                           \
	X(archive_error_string)                                                                    \
	X(archive_set_error)                                                                       \
	X(archive_entry_pathname)                                                                  \
	X(archive_entry_filetype)                                                                  \
	X(archive_entry_hardlink)                                                                  \
	X(archive_entry_symlink)                                                                   \
	X(archive_entry_mtime)                                                                     \
	X(archive_entry_perm)

struct libarchive {
#define X(name) __typeof__(name) *name;
	LIBARCHIVE_FUNCTIONS(X)
#undef X
};

extern struct libarchive la; /* filled by libarchive_open() */

/* Any thread, any number of times. E_TOOL_MISSING when the library is not installed. */
MUST_USE struct err *libarchive_open(void);
