/* Private to the zip reader and writer: record layouts, limits and name rules.
 * Source: PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5.
 */
#pragma once

#include "formats/le.h"
#include "formats/zip.h"

enum {
	ZIP_LOCAL = 0x04034b50,
	ZIP_CENTRAL = 0x02014b50,
	ZIP_END = 0x06054b50,
	ZIP_END64 = 0x06064b50,
	ZIP_LOCATOR64 = 0x07064b50,
	ZIP_DESCRIPTOR = 0x08074b50,
	ZIP_LOCAL_SIZE = 30,
	ZIP_CENTRAL_SIZE = 46,
	ZIP_END_SIZE = 22,
	ZIP_END64_SIZE = 56,
	ZIP_LOCATOR64_SIZE = 20,
	ZIP_EXTRA64 = 1,
	ZIP_EXTRA_NAME = 0x7075, /* Info-ZIP's Unicode path */
	ZIP_STORED = 0,
	ZIP_DEFLATE = 8,
	ZIP_FLAG_ENCRYPTED = 1,
	ZIP_FLAG_DESCRIPTOR = 8,
	ZIP_FLAG_PATCH = 32,
	ZIP_FLAG_STRONG = 64,
	ZIP_FLAG_UTF8 = 0x800,
	ZIP_FLAG_MASKED = 0x2000,
};

/* What is wrong with a member's name for an archive that is unpacked below a folder, or NULL. */
const char *zip_name_problem(struct str name);
bool zip_ascii(struct str name);
