/* Pictures: stages and the timeline, as inline SVG.
 *
 * A drawing is 1000 units wide and scales with the page. A table or a title repeats the text in a picture, so that
 * nothing depends on seeing colours. */
#include "base/map.h"
#include "report/html.h"

/* The CSS classes (page.c) that colour steps by their kind, and stages. */
static const struct {
	struct str kind;
	const char *class;
} kinds[] = {
	{S_INIT("sdk"), "k0"},
	{S_INIT("hipify"), "k1"},
	{S_INIT("device"), "k2"},
	{S_INIT("bundle"), "k3"},
	{S_INIT("host"), "k7"},
	{S_INIT("link"), "k4"},
	{S_INIT("wheel"), "k5"},
	/* stages */
	{S_INIT("compile"), "k2"},
	{S_INIT("package"), "k5"},
	{S_INIT("verify"), "k3"},
};

static const char *class_of(struct str kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_eq(kinds[i].kind, kind))
			return kinds[i].class;
	return "k6";
}

enum { WIDTH = 1000, LANE = 26, BAR = 22 };

static void svg(struct html *h, double height, const char *what)
{
	html_open(h, "svg", "viewBox", str_fmt(h->out.a, "0 0 %d %.0f", WIDTH, height).p, "role",
		"img", "aria-label", what, NULL);
}

struct box {
	double x, y, w, h;
};

static void rect(struct html *h, struct box b, const char *class, struct str title)
{
	html_open(h, "rect", "x", html_num(h, b.x), "y", html_num(h, b.y), "width",
		html_num(h, b.w), "height", html_num(h, b.h), "rx", "2", "class", class, NULL);
	html_leaf(h, title, "title", NULL);
	html_close(h, 1);
}

static void label(struct html *h, double x, double y, const char *class, struct str text)
{
	html_leaf(h, text, "text", "x", html_num(h, x), "y", html_num(h, y), "class", class, NULL);
}

/* Opens an item of a legend; html_close() ends it. */
static void legend_item(struct html *h, struct str kind)
{
	html_open(h, "li", NULL);
	html_leaf(h, S(""), "i", "class", class_of(kind), NULL);
	html_leaf(h, kind, "span", NULL);
}

/* ---- stages ---- */
void page_stages(struct html *h, const struct report *r)
{
	double total = 0, x = 0;
	VEC_EACH (const struct report_stage, s, &r->stages)
		total += s->seconds;
	if (total <= 0)
		return;
	svg(h, BAR + 8, "wall time per stage");
	VEC_EACH (const struct report_stage, s, &r->stages) {
		double w = s->seconds / total * WIDTH;
		struct str title = str_fmt(
			h->out.a, "%.*s: %.*s", STR(s->name), STR(html_seconds(h, s->seconds)));
		rect(h, (struct box){x, 2, w > 1 ? w - 1 : w, BAR}, class_of(s->name), title);
		x += w;
	}
	html_close(h, 1);
	html_open(h, "ul", "class", "legend", NULL);
	VEC_EACH (const struct report_stage, s, &r->stages) {
		legend_item(h, s->name);
		html_leaf(h, html_seconds(h, s->seconds), "b", NULL);
		html_close(h, 1);
	}
	html_close(h, 1);
}

/* ---- timeline ---- */
/* A round distance between tick marks that gives at most ten of them. */
static double tick_distance(double span)
{
	static const double steps[] = {1, 2, 5};
	for (double scale = 1e-3;; scale *= 10)
		for (size_t i = 0; i < 3; i++)
			if (span / (steps[i] * scale) <= 10)
				return steps[i] * scale;
}

static void axis(struct html *h, const struct report *r, double height)
{
	double every = tick_distance(r->end);
	int decimals = every < 0.01 ? 3 : every < 0.1 ? 2 : every < 1 ? 1 : 0;
	for (unsigned i = 0; i * every <= r->end; i++) {
		double x = i * every / r->end * WIDTH;
		html_leaf(h, S(""), "line", "x1", html_num(h, x), "x2", html_num(h, x), "y1", "0",
			"y2", html_num(h, height), "class", "grid", NULL);
		if (x < WIDTH - 40)
			label(h, x + 3, height + 14, "tick",
				str_fmt(h->out.a, "%.*f s", decimals, i * every));
	}
}

static void step_box(struct html *h, const struct report *r, const struct report_step *s)
{
	double x = s->start / r->end * WIDTH, w = s->seconds / r->end * WIDTH;
	struct box b = {x, (double)s->lane * LANE + 2, w < 1 ? 1 : w, BAR};
	rect(h, b, class_of(s->kind),
		str_fmt(h->out.a, "%.*s %.*s%s%.*s: %.*s, CPU %.*s, peak %.*s", STR(s->kind),
			STR(s->name), s->gpu.n ? " for " : "", STR(s->gpu),
			STR(html_seconds(h, s->seconds)), STR(html_seconds(h, s->cpu)),
			STR(human_bytes(h->out.a, s->memory))));
	struct str text = s->gpu.n ? s->gpu : s->kind;
	if (w > 8.0 * (double)text.n)
		label(h, x + 5, b.y + 15, "inbar", text);
}

void page_timeline(struct html *h, const struct report *r)
{
	MAP(kinds_seen,
		h->out.a); /* a map, because each step of a stranger may be of its own kind */
	if (!r->steps.n)
		return;
	size_t cached = 0;
	VEC_EACH (const struct report_step, s, &r->steps)
		cached += s->cached;
	html_leaf(h,
		str_fmt(h->out.a, "%zu steps ran in up to %u lanes at once; up to date: %zu.",
			r->steps.n - cached, r->lanes, cached),
		"p", NULL);
	if (r->end > 0) {
		double height = (double)r->lanes * LANE, *last;
		last = arena_array(h->out.a, r->lanes, sizeof(*last));
		for (unsigned i = 0; i < r->lanes; i++)
			last[i] = -1;
		html_open(h, "div", "class", "scroll wide", NULL);
		svg(h, height + 20, "steps over time, one row per lane");
		axis(h, r, height);
		VEC_EACH (const struct report_step, s, &r->steps) {
			double right = (s->start + s->seconds) / r->end * WIDTH;
			/* a box on top of the last one of its lane would not be visible */
			if (s->cached || right - last[s->lane] < 0.5)
				continue;
			last[s->lane] = right;
			step_box(h, r, s);
		}
		html_close(h, 2);
		html_open(h, "ul", "class", "legend", NULL);
		VEC_EACH (const struct report_step, s, &r->steps) {
			if (s->cached || !map_put(&kinds_seen, s->kind, NULL))
				continue;
			legend_item(h, s->kind);
			html_close(h, 1);
		}
		html_close(h, 1);
	}
}
