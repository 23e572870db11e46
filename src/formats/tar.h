/* Writes tar archives that are equal for equal content: POSIX.1-2001 (pax), which is plain ustar if the names fit;
 * times and owners are 0. The archive is made in memory. */
#pragma once

#include "base/buf.h"

enum tar_type { TAR_FILE = '0', TAR_LINK = '2', TAR_DIR = '5' };

struct tar_member {
	enum tar_type type;
	struct str path, text; /* text: the content, or the target of a symbolic link */
	unsigned mode;
	uint64_t size; /* bytes that the caller adds, in whole blocks */
};

void tar_add(struct buf *out, const struct tar_member *m);
void tar_end(struct buf *out);
/* Compresses like `gzip -n`: without name and time. */
struct str gzip_text(struct arena *a, struct str text);
