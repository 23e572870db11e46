/* The one place that makes text printable. Names of files, members of wheels, symbols, messages of
 * programs: all come from strangers, and none may give orders to a terminal, or break a line and write
 * one of ours below it ("x.whl: pass").
 *
 * Shown as '?': control characters (C0, DEL, C1), bytes that are no UTF-8, and what turns the direction
 * of writing or separates lines in Unicode. Styles are ours alone: a mark that nobody outside of this
 * process knows stands for each until styles_resolve() makes a terminal's sequence of it.
 */
#pragma once

#include "base/str.h"

/* keep: control characters that stay, such as "\n\t"; with "\033" colours of other programs do. */
struct str printable(struct arena *a, struct str s, const char *keep);
/* What printf makes of fmt: its own line ends stay, the arguments are made printable. */
struct str printable_fmt(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);
/* In a function (..., fmt, ...): declares that text. */
#define PRINTABLE(text, arena, fmt)                                                                \
	va_list text##_args;                                                                       \
	va_start(text##_args, fmt);                                                                \
	struct str text = printable_fmt((arena), fmt, text##_args);                                \
	va_end(text##_args)

void styles_init(void);                                              /* while there is one thread */
struct str style_mark(struct arena *a, unsigned code, struct str s); /* SGR 1 to 99 */
struct str styles_resolve(struct arena *a, struct str s);

/* Columns on screen of printable text without styles, each character as wide as the next. */
size_t text_width(struct str s);
/* At most `columns` of it, which is not 0: the last is an ellipsis where text is cut off. */
struct str text_cut(struct arena *a, struct str s, size_t columns);
