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
