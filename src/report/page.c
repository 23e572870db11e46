/* The page: style sheet, head line, figures, and the sections in order. */
#include <time.h>

#include "base/fs.h"
#include "report/html.h"

static void card(struct html *h, struct str value, const char *what)
{
	html_open(h, "div", NULL);
	html_leaf(h, value, "b", NULL);
	html_leaf(h, str_from(what), "span", NULL);
	html_close(h, 1);
}

static void write_title(struct html *h, const struct report *r)
{
	html_open(h, "h1", NULL);
	html_text(h, r->name);
	html_leaf(h, r->version, "small", NULL);
	if (r->error.n)
		html_leaf(h, S("build failed"), "span", "class", "badge fail", NULL);
	else if (str_eq(r->verdict, S("pass")))
		html_leaf(h, S("verified"), "span", "class", "badge pass", NULL);
	else if (str_eq(r->verdict, S("fail")))
		html_leaf(h, S("failed verification"), "span", "class", "badge fail", NULL);
	else
		html_leaf(h, S("not verified"), "span", "class", "badge none", NULL);
	html_close(h, 1);
	if (r->wheel.n)
		html_leaf(h, path_base(r->wheel), "p", "class", "sub", NULL);
	html_open(h, "div", "class", "cards", NULL);
	card(h, html_seconds(h, r->seconds), "wall time");
	if (r->wheel.n)
		card(h, human_bytes(h->out.a, r->bytes), "wheel");
	card(h, str_fmt(h->out.a, "%zu", r->gpus.n), "GPU targets");
	card(h, str_fmt(h->out.a, "%zu", r->steps.n), "steps");
	if (r->kernels)
		card(h, str_fmt(h->out.a, "%zu of %zu", r->spilling, r->kernels),
			"kernels spill registers");
	html_close(h, 1);
}

struct str report_html(struct arena *a, const struct report *r)
{
	struct html h = {.out = {.a = a}};
	/* only constants of ours go into the buffer unescaped */
	buf_add(&h.out, S("<!doctype html>\n"));
	html_open(&h, "html", "lang", "en", NULL);
	html_open(&h, "head", NULL);
	buf_add(&h.out, S("<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
			  "content=\"width=device-width,initial-scale=1\">\n"
			  "<meta name=\"color-scheme\" content=\"light dark\">\n"));
	html_leaf(&h, str_fmt(a, "%.*s %.*s: build report", STR(r->name), STR(r->version)), "title",
		NULL);
	html_open(&h, "style", NULL);
	buf_add(&h.out, report_style);
	html_close(&h, 2);
	html_open(&h, "body", NULL);
	html_open(&h, "main", NULL);
	write_title(&h, r);
	static void (*const sections[])(struct html *, const struct report *) = {page_failure,
		page_findings, page_gpus, page_kernels, page_code, page_wheel, page_translation,
		page_warnings, page_stages, page_timeline, page_slowest, page_plan, page_facts};
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		sections[i](&h, r);
	char started[64] = "";
	struct tm tm;
	time_t t = (time_t)node_u64(r->doc, S("started"), 0);
	if (t && gmtime_r(&t, &tm))
		(void)strftime(started, sizeof(started), "%Y-%m-%d %H:%M UTC", &tm);
	html_leaf(&h,
		str_fmt(a, "Made by rocsmith %.*s. Build started %s.",
			STR(node_text(r->doc, S("rocsmith"), S(""))), started),
		"footer", NULL);
	html_close(&h, h.depth);
	return buf_str(&h.out);
}
