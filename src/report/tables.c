/* Tables: slowest steps, device code, findings, plan and facts. */
#include <stdlib.h>

#include "report/html.h"

static void open_table(struct html *h, const char *const *titles)
{
	html_open(h, "div", "class", "scroll", NULL);
	html_open(h, "table", NULL);
	html_open(h, "thead", NULL);
	html_open(h, "tr", NULL);
	for (; *titles; titles++) {
		bool right = **titles == '>';
		html_leaf(h, str_from(*titles + right), "th", "class", right ? "num" : "", "scope",
			"col", NULL);
	}
	html_close(h);
	html_close(h);
	html_open(h, "tbody", NULL);
}

static void close_table(struct html *h)
{
	html_close(h);
	html_close(h);
	html_close(h);
}

/* A row of cells; kinds has a letter for each: text, number or code. */
static void row(struct html *h, const char *kinds, const struct str *cells)
{
	html_open(h, "tr", NULL);
	for (; *kinds; kinds++, cells++) {
		if (*kinds == 'n') {
			html_leaf(h, *cells, "td", "class", "num", NULL);
		} else if (*kinds == 'c') {
			html_open(h, "td", NULL);
			html_leaf(h, *cells, "code", NULL);
			html_close(h);
		} else {
			html_leaf(h, *cells, "td", NULL);
		}
	}
	html_close(h);
}

/* ---- slowest steps ---- */
enum { SLOWEST = 12 };

static int by_seconds(const void *x, const void *y)
{
	const struct report_step *const *a = x, *const *b = y;
	return ((*a)->seconds < (*b)->seconds) - ((*a)->seconds > (*b)->seconds);
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
	html_section(h, "slowest", "Slowest steps");
	static const char *const titles[] = {
		"Step", "Of", "GPU", ">Time", ">CPU", ">Peak memory", NULL};
	open_table(h, titles);
	for (size_t i = 0; i < n && i < SLOWEST; i++) {
		const struct str cells[] = {v[i]->kind, v[i]->name, v[i]->gpu,
			html_seconds(h, v[i]->seconds), html_seconds(h, v[i]->cpu),
			html_bytes(h, v[i]->memory)};
		row(h, "tttnnn", cells);
	}
	close_table(h);
	html_close(h);
}

/* ---- device code ---- */
enum { OBJECTS = 400 }; /* rows; a big wheel has thousands */

/* Rows for the objects of a file while there is room; returns how many were left out. */
static size_t file_rows(struct html *h, const struct node *f, size_t *room)
{
	const struct node *objects = node_get(f, S("objects"));
	size_t n = objects ? objects->n : 0, shown = n < *room ? n : *room;
	for (size_t i = 0; i < shown; i++) {
		const struct node *o = &objects->v[i];
		const struct str cells[] = {node_text(f, S("path"), S("")),
			node_text(o, S("target"), S("")), node_text(o, S("encoding"), S("")),
			node_text(o, S("kernels"), S("")), html_bytes(h, node_u64(o, S("size"), 0)),
			html_bytes(h, node_u64(o, S("stored"), 0))};
		row(h, "tctnnn", cells);
	}
	*room -= shown;
	return n - shown;
}

void page_code(struct html *h, const struct report *r)
{
	const struct node *inspect = node_get(r->doc, S("inspect"));
	const struct node *files = node_get(inspect, S("files"));
	if (!files || !files->n)
		return;
	html_section(h, "code", "Device code");
	const struct node *served = node_get(inspect, S("served"));
	if (served && served->n) {
		html_open(h, "p", NULL);
		html_text(h, S("Served by every file with device code: "));
		NODE_EACH (gpu, served) {
			html_leaf(h, gpu->text, "code", NULL);
			html_text(h, S(" "));
		}
		html_close(h);
	}
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
static void findings_of(struct html *h, const struct node *list)
{
	if (!list || !list->n)
		return;
	html_open(h, "ul", "class", "findings", NULL);
	NODE_EACH (f, list) {
		struct str severity = node_text(f, S("severity"), S("info"));
		struct str path = node_text(f, S("path"), S(""));
		html_open(h, "li", NULL);
		html_leaf(h, severity, "span", "class",
			str_fmt(h->out.a, "tag %.*s", STR(severity)).p, NULL);
		html_text(h, node_text(f, S("message"), S("")));
		html_text(h, S(" "));
		html_leaf(h, node_text(f, S("id"), S("")), "code", NULL);
		if (path.n)
			html_leaf(h, path, "small", NULL);
		html_close(h);
	}
	html_close(h);
}

void page_findings(struct html *h, const struct report *r)
{
	const struct node *wheels = node_get(node_get(r->doc, S("verify")), S("wheels"));
	const struct node *own = node_get(r->doc, S("findings"));
	if ((!wheels || !wheels->n) && (!own || !own->n))
		return;
	html_section(h, "verdict", "Verdict");
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

enum { DEEPEST = 6 };

static void tree(struct html *h, const struct node *n, unsigned depth)
{
	if (is_scalar(n) || depth >= DEEPEST) {
		html_text(h, n->text);
		return;
	}
	if (n->kind == NODE_LIST && all_scalars(n)) {
		NODE_EACH (it, n) {
			html_text(h, it == n->v ? S("") : S(", "));
			html_text(h, it->text);
		}
		return;
	}
	html_open(h, "dl", NULL);
	NODE_EACH (it, n) {
		if (is_scalar(it) ? !it->text.n : !it->n)
			continue;
		if (n->kind == NODE_MAP)
			html_leaf(h, it->key, "dt", NULL);
		html_open(h, "dd", NULL);
		tree(h, it, depth + 1);
		html_close(h);
	}
	html_close(h);
}

static void folded(struct html *h, const struct node *n, const char *title)
{
	html_open(h, "details", NULL);
	html_leaf(h, str_from(title), "summary", NULL);
	tree(h, n, 0);
	html_close(h);
}

/* A list of objects with a choice and why it was made. */
static void choices(struct html *h, const struct node *list, const char *subject)
{
	static const char *const titles[] = {"Choice", "", "Because", NULL};
	if (!list || !list->n)
		return;
	open_table(h, titles);
	NODE_EACH (it, list) {
		const struct str cells[] = {node_text(it, str_from(subject), S("")),
			node_text(it, S("choice"), S("")), node_text(it, S("why"), S(""))};
		row(h, "ttt", cells);
	}
	close_table(h);
}

void page_plan(struct html *h, const struct report *r)
{
	const struct node *plan = node_get(r->doc, S("plan"));
	if (!plan || !plan->n)
		return;
	html_section(h, "plan", "Plan");
	choices(h, node_get(plan, S("features")), "name");
	choices(h, node_get(plan, S("reasons")), "subject");
	folded(h, plan, "The whole plan");
	html_close(h);
}

void page_facts(struct html *h, const struct report *r)
{
	const struct node *facts = node_get(r->doc, S("facts")), *sdk = node_get(r->doc, S("sdk"));
	if (!facts && !sdk)
		return;
	html_section(h, "facts", "Facts");
	if (sdk)
		folded(h, sdk, "SDK");
	if (facts)
		folded(h, facts, "The machine that built it");
	html_close(h);
}
