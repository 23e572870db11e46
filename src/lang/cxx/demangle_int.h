/* The tree of a mangled name, between reading (demangle.c) and writing (demangle_text.c). Parts are shared, as the
 * substitutions of the name demand, and refer to earlier parts only. */
#pragma once

#include "base/buf.h"
#include "lang/cxx/demangle.h"

enum dm_kind {
	DM_TEXT,      /* text */
	DM_PARAMETER, /* the same, "auto:1": a template parameter, if T_ stands for nothing else */
	DM_SEQUENCE, /* the parts, one behind the other; then text: ">" behind template arguments, a tag */
	DM_LIST,      /* the parts, between commas */
	DM_PACK,      /* a list of template arguments for one parameter */
	DM_EXPAND,    /* parts[0] for each argument of the pack in it */
	DM_POINTER,   /* parts[0], then text: "*", "&", "&&" */
	DM_QUALIFIED, /* the same for "const" and its like */
	DM_MEMBER,    /* parts[1], a type of the members of parts[0] */
	DM_ARRAY,     /* parts[0], parts[1] times */
	DM_FUNCTION, /* parts[0] is the result or NULL, parts[1] the name or NULL, parts[2] a list; text: qualifiers */
};

struct dm_node {
	enum dm_kind kind;
	struct str text;
	struct dm_node **v;
	size_t n, cap;
};

/* Appends the text to out; false if it would become too long. *io_work grows by the steps that it took. */
bool dm_write(struct buf *out, const struct dm_node *n, uint64_t *io_work);
