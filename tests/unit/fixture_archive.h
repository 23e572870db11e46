/* Fixtures for what unpacks: tar archives, hostile names and all, written by libarchive. */
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "base/buf.h"
#include "test.h"

struct member {
	const char *name, *text, *link, *hard;
	size_t size; /* of text; 0: it ends at its zero */
	mode_t type, mode;
};

#define FILE_(n, t)                                                                                \
	{                                                                                          \
		.name = (n), .text = (t), .type = AE_IFREG, .mode = 0644                           \
	}
#define LINK_(n, t)                                                                                \
	{                                                                                          \
		.name = (n), .link = (t), .type = AE_IFLNK, .mode = 0777                           \
	}

static inline void add_entry(struct archive *a, const struct member *m)
{
	struct archive_entry *e = archive_entry_new();
	archive_entry_set_pathname(e, m->name);
	archive_entry_set_filetype(e, m->type);
	archive_entry_set_perm(e, m->mode);
	archive_entry_set_mtime(e, 1700000000, 0);
	size_t n = m->size ? m->size : m->text ? strlen(m->text) : 0;
	archive_entry_set_size(e, (la_int64_t)n);
	if (m->link)
		archive_entry_set_symlink(e, m->link);
	if (m->hard)
		archive_entry_set_hardlink(e, m->hard);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	if (n)
		assert_int_equal(archive_write_data(a, m->text, n), (int)n);
	archive_entry_free(e);
}

static inline size_t make_tar(char *p, size_t cap, int filter, const struct member *v, size_t n)
{
	struct archive *a = archive_write_new();
	size_t used = 0;
	archive_write_set_format_gnutar(a);
	archive_write_add_filter(a, filter);
	/* without the time, the same members give the same bytes in each second */
	if (filter == ARCHIVE_FILTER_GZIP)
		assert_int_equal(
			archive_write_set_filter_option(a, "gzip", "timestamp", NULL), ARCHIVE_OK);
	archive_write_set_bytes_in_last_block(a, 1);
	assert_int_equal(archive_write_open_memory(a, p, cap, &used), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++)
		add_entry(a, &v[i]);
	archive_write_free(a);
	return used;
}

/* The tar as a file. */
static inline void put_tar(struct str path, int filter, const struct member *v, size_t n)
{
	ARENA(a);
	size_t cap = 1 << 20;
	char *p = arena_alloc(&a, cap);
	assert_ok(fs_write(path, (struct str){.p = p, .n = make_tar(p, cap, filter, v, n)}, 0644));
}
