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
/* Opens a section that begins with a heading and its anchor; html_close() ends it. */
void html_section(struct html *h, const char *id, const char *title);

/* ---- the sections of the page; page.c puts them in order, each may be empty ---- */
void page_stages(struct html *h, const struct report *r);   /* a bar of wall time per stage */
void page_timeline(struct html *h, const struct report *r); /* steps by lane */
void page_failure(struct html *h, const struct report *r);  /* the error with its place and steps */
void page_gpus(struct html *h, const struct report *r);     /* product names, time and memory */
void page_kernels(struct html *h, const struct report *r);  /* registers, LDS, scratch, spills */
void page_translation(struct html *h, const struct report *r);
void page_warnings(struct html *h, const struct report *r); /* compiler warnings */
void page_wheel(struct html *h, const struct report *r);    /* its hash and files */
void page_slowest(struct html *h, const struct report *r);
void page_code(struct html *h, const struct report *r); /* device code by file and target */
/* The proofs of verification, and findings. */
void page_findings(struct html *h, const struct report *r);
void page_plan(struct html *h, const struct report *r);
void page_facts(struct html *h, const struct report *r);
