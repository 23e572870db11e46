/* The page: style sheet, head line, figures, and the sections in order. */
#include <time.h>

#include "base/fs.h"
#include "report/html.h"

/* Text has a contrast of at least 4.5 to 1 in both modes; k0..k7 are the kinds of steps. */
static const char style[] =
	":root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--card:#f6f8fa;--good:#116329;"
	"--bad:#b3261e;--warn:#7a4d00;--k0:#0b5cad;--k1:#7b3fb5;--k2:#b5410a;--k3:#0f766e;"
	"--k4:#8a1c56;--k5:#4d5b00;--k6:#5a5f66;--k7:#344bb3}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6edf3;--dim:#9aa5b1;"
	"--line:#343b44;--card:#1c2128;--good:#6fdd8b;--bad:#ff8a80;--warn:#f0b95c;--k0:#6cb6ff;"
	"--k1:#cfa3ff;--k2:#ff9d66;--k3:#4fd1c5;--k4:#ff8fc4;--k5:#c3d650;--k6:#a8b0ba;"
	"--k7:#a0b0ff}}\n"
	"*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);"
	"font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
	"main{max-width:1120px;margin:0 auto;padding:32px 24px 64px}\n"
	"h1{font-size:28px;margin:0;display:flex;gap:14px;align-items:center;flex-wrap:wrap}"
	"h2{font-size:18px;margin:36px 0 10px}h1 small{font-weight:400;color:var(--dim);"
	"font-size:20px}\n"
	".badge{font-size:14px;font-weight:600;border:1.5px solid currentColor;border-radius:99px;"
	"padding:2px 14px}.pass{color:var(--good)}.fail{color:var(--bad)}.none{color:var(--dim)}\n"
	".sub{color:var(--dim);margin:6px 0 0;overflow-wrap:anywhere}\n"
	".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;"
	"margin:24px 0 0}.cards div{background:var(--card);border:1px solid var(--line);"
	"border-radius:8px;padding:12px 16px}.cards b{display:block;font-size:22px;"
	"font-variant-numeric:tabular-nums}.cards span{color:var(--dim);font-size:13px}\n"
	"svg{width:100%;height:auto;display:block}svg text{fill:var(--fg);font-size:13px}"
	"svg .tick{fill:var(--dim);font-size:12px}svg .inbar{fill:var(--bg);font-weight:600;"
	"font-size:12px;pointer-events:none}svg .grid{stroke:var(--line);stroke-width:1}"
	"svg .name{font-family:ui-monospace,'DejaVu Sans Mono',monospace}\n";

static const char style_more[] =
	".k0{fill:var(--k0);background:var(--k0)}.k1{fill:var(--k1);background:var(--k1)}"
	".k2{fill:var(--k2);background:var(--k2)}.k3{fill:var(--k3);background:var(--k3)}"
	".k4{fill:var(--k4);background:var(--k4)}.k5{fill:var(--k5);background:var(--k5)}"
	".k6{fill:var(--k6);background:var(--k6)}.k7{fill:var(--k7);background:var(--k7)}\n"
	".legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 22px;padding:0;margin:10px 0 "
	"0}"
	".legend i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:7px}"
	".legend b{margin-left:8px;font-variant-numeric:tabular-nums}\n"
	".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;"
	"padding:6px 12px 6px 0;border-bottom:1px solid var(--line);vertical-align:top}"
	"th{color:var(--dim);font-weight:600;font-size:13px}.num{text-align:right;"
	"font-variant-numeric:tabular-nums;white-space:nowrap}\n"
	"code{font:13px ui-monospace,'DejaVu Sans Mono',monospace;background:var(--card);"
	"border:1px solid var(--line);border-radius:4px;padding:1px 5px}\n"
	".findings{padding:0;list-style:none}.findings li{margin:8px 0}.findings "
	"small{display:block;"
	"color:var(--dim)}.tag{font-size:12px;font-weight:700;margin-right:8px}"
	".error{color:var(--bad)}.warning{color:var(--warn)}.info{color:var(--dim)}\n"
	"details{margin:10px 0}summary{cursor:pointer}dl{margin:4px 0;padding-left:14px;"
	"border-left:1px solid var(--line)}dt{color:var(--dim);font-size:13px}dd{margin:0 0 6px;"
	"overflow-wrap:anywhere}footer{margin-top:48px;color:var(--dim);font-size:13px}\n"
	".hash{overflow-wrap:anywhere}.wide svg{min-width:680px}td code{overflow-wrap:anywhere}\n"
	"@media(max-width:640px){main{padding:16px 12px "
	"40px}h1{font-size:22px}th,td{padding-right:9px}"
	"td code{display:inline-block;min-width:130px}}\n"
	"@media print{details{display:none}}\n";

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
	buf_add(&h.out, str_from(style));
	buf_add(&h.out, str_from(style_more));
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
