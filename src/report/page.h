/* The sections of the page; page.c puts them in order. Each leaves nothing when the document has
 * nothing to show. */
#pragma once

#include "report/html.h"
#include "report/report.h"

void page_stages(struct html *h, const struct report *r);   /* a bar of wall time per stage */
void page_timeline(struct html *h, const struct report *r); /* steps by lane */
void page_gpus(struct html *h, const struct report *r);     /* time and memory per GPU */
void page_slowest(struct html *h, const struct report *r);
void page_code(struct html *h, const struct report *r);     /* device code by file and target */
void page_findings(struct html *h, const struct report *r); /* verdict and findings */
void page_plan(struct html *h, const struct report *r);
void page_facts(struct html *h, const struct report *r);

/* "1.3 GB", "0.42 s"; in the arena of h. */
struct str page_bytes(struct html *h, uint64_t n);
struct str page_seconds(struct html *h, double s);
/* The class (k0..k7) that gives a kind of step, or a stage, its colour. */
const char *page_kind_class(struct str kind);
/* A heading with an anchor, and the section that it opens; html_close() ends it. */
void page_section(struct html *h, const char *id, const char *title);
