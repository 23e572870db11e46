/* A writer of HTML and SVG: elements nest by calls; all text and all attribute values are escaped here and
 * nowhere else.
 *
 *     html_open(&h, "td", "class", "num", NULL); html_text(&h, name); html_close(&h, 1);
 */
#pragma once

#include "report/report.h"

extern const struct str
	report_style; /* data/report.css: text has a contrast of 4.5 to 1 in both modes */

struct html {
	struct buf out;
	unsigned depth;
	const char *open[32]; /* tags that are not closed yet */
};

/* Attributes are pairs of name and value, both const char *, ended by NULL. */
void html_open(struct html *h, const char *tag, ...) __attribute__((sentinel));
void html_close(struct html *h, unsigned n); /* the innermost n elements */
/* <tag ...>text</tag> */
void html_leaf(struct html *h, struct str text, const char *tag, ...) __attribute__((sentinel));
void html_text(struct html *h, struct str text);
/* A number as an attribute value, with two decimals. */
const char *html_num(struct html *h, double value);
/* As in the terminal, but a step of less than a tenth of a second has milliseconds: "4.2 ms". */
struct str html_seconds(struct html *h, double s);

/* ---- picture.c: sections of the page, which may add nothing ---- */
void page_stages(struct html *h, const struct report *r);   /* a bar of wall time per stage */
void page_timeline(struct html *h, const struct report *r); /* steps by lane */
