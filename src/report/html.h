/* A writer of HTML and SVG: elements nest by calls; all text and all attribute values are escaped here and
 * nowhere else.
 *
 *     html_open(&h, "td", "class", "num", NULL); html_text(&h, name); html_close(&h, 1);
 */
#pragma once

#include "formats/finding.h"
#include "report/report.h"

extern const struct str
	report_style; /* data/report.css: text has a contrast of 4.5 to 1 in both modes */

struct html {
	struct buf out;
	unsigned depth;
	const char *open[32]; /* tags that are not closed yet */
	struct strs heads;    /* titles of the columns of the current table */
};

/* Attributes are pairs of name and value, both const char *, ended by NULL. An empty class is left out. */
void html_open(struct html *h, const char *tag, ...) __attribute__((sentinel));
void html_close(struct html *h, unsigned n); /* the innermost n elements */
/* <tag ...>text</tag> */
void html_leaf(struct html *h, struct str text, const char *tag, ...) __attribute__((sentinel));
/* Names of GPUs in the text are never broken over lines. */
void html_text(struct html *h, struct str text);
struct str html_count(struct html *h, uint64_t n); /* a whole number as a text */
/* A number as an attribute value, with two decimals. */
const char *html_num(struct html *h, double value);
/* As in the terminal, but a step of less than a tenth of a second has milliseconds: "4.2 ms". */
struct str html_seconds(struct html *h, double s);

/* ---- what both pages are made of, the report and the size map ---- */
/* Begins a page that fetches and runs nothing, up to <main>; html_page_end() closes it behind a footer. */
void html_page(struct html *h, struct str title);
struct str html_page_end(struct html *h, struct str footer);
/* A table within the page's width: on a narrow screen each row becomes a card. titles: separated by '|'; a leading '>'
 * aligns the column to the right. */
void html_table(struct html *h, const char *titles);
/* Adds a row of cells; `kinds` has a letter for each: t (text), n (number), c (code), g (GPU) or k (a kernel, by its mangled
 * name). */
void html_row(struct html *h, const char *kinds, const struct str *cells);
#define HTML_ROW(h, kinds, ...) html_row((h), (kinds), (const struct str[]){__VA_ARGS__})
enum { ROWS = 400 }; /* limit of a table: a big wheel has thousands of kernels, objects and files */
/* Ends a table of `what`, with a line about the rows beyond the limit. */
void html_table_end(struct html *h, size_t rows, const char *what);
/* A figure in large type, and what it counts. */
void html_card(struct html *h, struct str value, const char *what);
/* An item of the list <ul class="findings">. */
void html_finding(struct html *h, const struct finding *f);

/* ---- picture.c: sections of the page, which may add nothing ---- */
void page_stages(struct html *h, const struct report *r);   /* a bar of wall time per stage */
void page_timeline(struct html *h, const struct report *r); /* steps by lane */
