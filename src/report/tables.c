/* Tables: slowest steps, device code, findings, plan and facts. */
#include <stdlib.h>

#include "report/page.h"

static void heads(struct html *h, const char *const *titles)
{
	html_open(h, "thead", NULL);
	html_open(h, "tr", NULL);
	for (; *titles; titles++) {
		bool right = **titles == '>';
		html_leaf(h, str_from(*titles + right), "th", "class", right ? "num" : "", "scope",
			"col", NULL);
	}
	html_close(h);
	html_close(h);
}

static void cell(struct html *h, struct str text)
{
	html_leaf(h, text, "td", NULL);
}

static void number(struct html *h, struct str text)
{
	html_leaf(h, text, "td", "class", "num", NULL);
}

static void open_table(struct html *h, const char *const *titles)
{
	html_open(h, "div", "class", "scroll", NULL);
	html_open(h, "table", NULL);
	heads(h, titles);
	html_open(h, "tbody", NULL);
}

static void close_table(struct html *h)
{
	html_close(h);
	html_close(h);
	html_close(h);
}

/* ---- slowest steps ---- */
enum { SLOWEST = 12 };

static int by_seconds(const void *x, const void *y)
{
	const struct report_step *const *a = x, *const *b = y;
	return ((*a)->seconds < (*b)->seconds) - ((*a)->seconds > (*b)->seconds);
}

static void step_row(struct html *h, const struct report_step *s)
{
	html_open(h, "tr", NULL);
	cell(h, s->kind);
	cell(h, s->name);
	cell(h, s->gpu);
	number(h, page_seconds(h, s->seconds));
	number(h, page_seconds(h, s->cpu));
	number(h, page_bytes(h, s->memory));
	html_close(h);
}

void page_slowest(struct html *h, const struct report *r)
{
	const struct report_step **v =
		arena_array(h->out.a, r->steps.n, sizeof(struct report_step *));
	size_t n = 0;
	VEC_EACH (const struct report_step, s, &r->steps)
		if (!s->cached)
			v[n++] = s;
	if (!n)
		return;
	qsort((void *)v, n, sizeof(*v), by_seconds);
	page_section(h, "slowest", "Slowest steps");
	static const char *const titles[] = {
		"Step", "Of", "GPU", ">Time", ">CPU", ">Peak memory", NULL};
	open_table(h, titles);
	for (size_t i = 0; i < n && i < SLOWEST; i++)
		step_row(h, v[i]);
	close_table(h);
	html_close(h);
}

/* ---- device code ---- */
enum { OBJECTS = 400 }; /* rows; a big wheel has thousands */

static void object_row(struct html *h, struct str file, const struct node *o)
{
	html_open(h, "tr", NULL);
	cell(h, file);
	html_open(h, "td", NULL);
	html_leaf(h, node_text(o, S("target"), S("")), "code", NULL);
	html_close(h);
	cell(h, node_text(o, S("encoding"), S("")));
	number(h, node_text(o, S("kernels"), S("")));
	number(h, page_bytes(h, node_u64(o, S("size"), 0)));
	number(h, page_bytes(h, node_u64(o, S("stored"), 0)));
	html_close(h);
}

static void served(struct html *h, const struct node *inspect)
{
	const struct node *list = node_get(inspect, S("served"));
	if (!list || !list->n)
		return;
	html_open(h, "p", NULL);
	html_text(h, S("Served by every file with device code: "));
	NODE_EACH (gpu, list) {
		html_leaf(h, gpu->text, "code", NULL);
		html_text(h, S(" "));
	}
	html_close(h);
}

/* Rows for the objects of a file while there is room; returns how many were left out. */
static size_t file_rows(struct html *h, const struct node *f, size_t *room)
{
	const struct node *objects = node_get(f, S("objects"));
	size_t n = objects ? objects->n : 0, shown = n < *room ? n : *room;
	for (size_t i = 0; i < shown; i++)
		object_row(h, node_text(f, S("path"), S("")), &objects->v[i]);
	*room -= shown;
	return n - shown;
}

void page_code(struct html *h, const struct report *r)
{
	const struct node *inspect = node_get(r->doc, S("inspect"));
	const struct node *files = node_get(inspect, S("files"));
	if (!files || !files->n)
		return;
	page_section(h, "code", "Device code");
	served(h, inspect);
	static const char *const titles[] = {
		"File", "Target", "Encoding", ">Kernels", ">Size", ">Stored", NULL};
	open_table(h, titles);
	size_t room = OBJECTS, left = 0;
	NODE_EACH (f, files)
		left += file_rows(h, f, &room);
	close_table(h);
	if (left)
		html_leaf(h, str_fmt(h->out.a, "%zu more objects are not shown", left), "p", NULL);
	html_close(h);
}

/* ---- verdict ---- */
static void finding_item(struct html *h, const struct node *f)
{
	struct str severity = node_text(f, S("severity"), S("info"));
	html_open(h, "li", NULL);
	html_leaf(
		h, severity, "span", "class", str_fmt(h->out.a, "tag %.*s", STR(severity)).p, NULL);
	html_text(h, node_text(f, S("message"), S("")));
	html_text(h, S(" "));
	html_leaf(h, node_text(f, S("id"), S("")), "code", NULL);
	struct str path = node_text(f, S("path"), S(""));
	if (path.n)
		html_leaf(h, path, "small", NULL);
	html_close(h);
}

static void findings_of(struct html *h, const struct node *list)
{
	if (!list || !list->n)
		return;
	html_open(h, "ul", "class", "findings", NULL);
	NODE_EACH (f, list)
		finding_item(h, f);
	html_close(h);
}

void page_findings(struct html *h, const struct report *r)
{
	const struct node *wheels = node_get(node_get(r->doc, S("verify")), S("wheels"));
	const struct node *own = node_get(r->doc, S("findings"));
	if ((!wheels || !wheels->n) && (!own || !own->n))
		return;
	page_section(h, "verdict", "Verdict");
	if (wheels) {
		NODE_EACH (w, wheels) {
			bool pass = str_eq(node_text(w, S("verdict"), S("")), S("pass"));
			html_leaf(h,
				pass ? S("The wheel passed every check.") : S("The wheel failed."),
				"p", NULL);
			findings_of(h, node_get(w, S("findings")));
		}
	}
	findings_of(h, own);
	html_close(h);
}

/* ---- plan and facts: any document as nested tables ---- */
static struct str joined(struct html *h, const struct node *list)
{
	BUF(b, h->out.a);
	NODE_EACH (it, list)
		buf_fmt(&b, "%s%.*s", it == list->v ? "" : ", ", STR(it->text));
	return buf_str(&b);
}

static bool is_scalar(const struct node *n)
{
	return n->kind != NODE_MAP && n->kind != NODE_LIST;
}

static bool all_scalars(const struct node *list)
{
	NODE_EACH (it, list)
		if (!is_scalar(it))
			return false;
	return true;
}

static bool is_empty(const struct node *n)
{
	return is_scalar(n) ? !n->text.n : !n->n;
}

enum { DEEPEST = 6 };

static void tree(struct html *h, const struct node *n, unsigned depth)
{
	if (is_scalar(n) || depth >= DEEPEST) {
		html_text(h, n->text);
		return;
	}
	if (n->kind == NODE_LIST && all_scalars(n)) {
		html_text(h, joined(h, n));
		return;
	}
	html_open(h, "dl", NULL);
	NODE_EACH (it, n) {
		if (is_empty(it))
			continue;
		if (n->kind == NODE_MAP)
			html_leaf(h, it->key, "dt", NULL);
		html_open(h, "dd", NULL);
		tree(h, it, depth + 1);
		html_close(h);
	}
	html_close(h);
}

static void reasons(struct html *h, const struct node *list)
{
	static const char *const titles[] = {"Choice", "", "Because", NULL};
	if (!list || !list->n)
		return;
	open_table(h, titles);
	NODE_EACH (it, list) {
		html_open(h, "tr", NULL);
		cell(h, node_text(it, S("subject"), S("")));
		cell(h, node_text(it, S("choice"), S("")));
		cell(h, node_text(it, S("why"), S("")));
		html_close(h);
	}
	close_table(h);
}

static void folded(struct html *h, const struct node *n, const char *title)
{
	html_open(h, "details", NULL);
	html_leaf(h, str_from(title), "summary", NULL);
	tree(h, n, 0);
	html_close(h);
}

void page_plan(struct html *h, const struct report *r)
{
	const struct node *plan = node_get(r->doc, S("plan"));
	if (!plan || !plan->n)
		return;
	page_section(h, "plan", "Plan");
	reasons(h, node_get(plan, S("reasons")));
	folded(h, plan, "The whole plan");
	html_close(h);
}

void page_facts(struct html *h, const struct report *r)
{
	const struct node *facts = node_get(r->doc, S("facts")), *sdk = node_get(r->doc, S("sdk"));
	if (!facts && !sdk)
		return;
	page_section(h, "facts", "Facts");
	if (sdk)
		folded(h, sdk, "SDK");
	if (facts)
		folded(h, facts, "The machine that built it");
	html_close(h);
}
