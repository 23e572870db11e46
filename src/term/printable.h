/* Makes text printable. Names of files, members of wheels, symbols and messages of programs come from strangers: none
 * of them may control a terminal, or end a line and forge one of ours below it ("x.whl: pass").
 *
 * Control characters (C0, DEL, C1), bytes that are not UTF-8, and Unicode characters that change the direction of
 * writing or separate lines are shown as '?'. Only our own code can set styles: each is represented by a mark that
 * nobody outside of this process knows, until styles_resolve() replaces it by the terminal's sequence.
 */
#pragma once

#include "base/str.h"

/* The text made printable. keep: control characters that stay, such as "\n\t"; with "\033", colour sequences stay. */
struct str printable(struct arena *a, struct str s, const char *keep);
/* Formats like printf(); newlines of fmt stay, the arguments are made printable. */
struct str printable_fmt(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);
/* Declares `text`, the formatted and printable text, in a variadic function whose last named parameter is fmt. */
#define PRINTABLE(text, arena, fmt)                                                                \
	va_list text##_args;                                                                       \
	va_start(text##_args, fmt);                                                                \
	struct str text = printable_fmt((arena), fmt, text##_args);                                \
	va_end(text##_args)

void styles_init(void); /* call it first, while there is only one thread */
struct str style_mark(struct arena *a, unsigned code, struct str s); /* SGR 1 to 99 */
struct str styles_resolve(struct arena *a, struct str s);

/* The number of columns that printable text without styles takes; each character counts as one. */
size_t text_width(struct str s);
/* Cuts the text to `columns` (not 0) columns; if it is cut, the last one is an ellipsis. */
struct str text_cut(struct arena *a, struct str s, size_t columns);
