/* The files of a dist-info folder (NAME-VERSION.dist-info) as text: RECORD, and the e-mail headers of METADATA and
 * WHEEL. Nothing here touches a file; code that reads wheels, installed environments and their verdicts shares it.
 *
 * Sources: recording installed projects (RECORD), core metadata 2.4, the binary distribution format. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "lang/python/requirement.h"

#define DIST_INFO ".dist-info"

/* "torch-2.9" for "torch-2.9.dist-info", with or without folders before it; "" for any other name. */
struct str dist_stem(struct str folder);
/* Splits that into "torch" and "2.9"; false if there is nothing to split. */
bool dist_stem_cut(struct str folder, struct str *ret_name, struct str *ret_version);

struct dist_row {                               /* a line of RECORD */
	struct str path, algorithm, hash, size; /* as written; "" for an empty field */
	unsigned line;
};

struct dist_record VEC_OF(struct dist_row);

/* RECORD is CSV of three columns; E_SYNTAX with the line, also for more rows than `most`. */
MUST_USE struct err *dist_record_parse(
	struct arena *a, struct str text, size_t most, struct dist_record *ret);
void dist_record_add(struct buf *b, struct str path, struct str sha256, uint64_t size);

struct dist_header {
	struct str key, value; /* continuation lines joined by '\n' */
	unsigned line;
};

struct dist_headers {
	VEC(struct dist_header);
	struct str body;
};

/* E_SYNTAX with the line, also for more than 10,000 headers; *ret has those before the mistake. */
MUST_USE struct err *dist_headers_parse(struct arena *a, struct str text, struct dist_headers *ret);
/* The first header of that name (ignoring case), or NULL. */
const struct dist_header *dist_header(const struct dist_headers *h, const char *key);
bool dist_header_is(const struct dist_header *h, const char *key);
/* Reads the value of Requires-Dist, over several lines, too. E_SYNTAX. */
MUST_USE struct err *dist_header_requirement(
	struct arena *a, const struct dist_header *h, struct requirement *ret);
/* The first line of that header's value; "" if there is no such header. */
struct str dist_header_value(const struct dist_headers *h, const char *key);
