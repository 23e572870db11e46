/* The page of a build report: head line, figures, and its sections in order: GPUs, kernels, slowest steps, device code, findings,
 * the wheel, plan and facts; the pictures are in picture.c. */
#include <time.h>

#include "base/fs.h"
#include "report/html.h"
#include "target/target.h"

static struct str text_of(const struct node *map, const char *key)
{
	return node_text(map, str_from(key), S(""));
}

/* ---- GPUs ---- */
static void page_gpus(struct html *h, const struct report *r)
{
	if (!r->gpus.n)
		return;
	html_leaf(h,
		S("Added: how much sooner the compiles could have ended without this GPU, by the "
		  "longest chain of steps and the number of jobs."),
		"p", NULL);
	html_table(h, "GPU|Sold as|>Compiled|>Front end shared|>Code cloned|>From the cache|>Up "
		      "to date|>Time|>CPU|>Added|>Peak memory");
	VEC_EACH (const struct report_gpu, g, &r->gpus) {
		const struct gpu *gpu = target_read(g->name).gpu;
		HTML_ROW(h, "gtnnnnnnnnn", g->name, gpu ? gpu_products(h->out.a, gpu) : S(""),
			html_count(h, g->ran), html_count(h, g->shared), html_count(h, g->cloned),
			html_count(h, g->restored), html_count(h, g->cached),
			html_seconds(h, g->seconds), html_seconds(h, g->cpu),
			html_seconds(h, g->added), human_bytes(h->out.a, g->memory));
	}
	html_table_end(h, 0, "");
}

/* ---- kernels ---- */

/* Adds a row for each kernel that spills (or for each that does not) while there is room. */
static void kernel_rows(struct html *h, const struct node *object, bool spilling, size_t *room)
{
	NODE_EACH (k, node_member(object, S("resources"))) {
		uint64_t spills = report_spills(k);
		if (!*room || (spills > 0) != spilling)
			continue;
		--*room;
		HTML_ROW(h, "kgnnnnnn", text_of(k, "name"), text_of(object, "target"),
			text_of(k, "vgprs"), text_of(k, "sgprs"), html_count(h, spills),
			text_of(k, "lds"), text_of(k, "scratch"), text_of(k, "waves"));
	}
}

static void page_kernels(struct html *h, const struct report *r)
{
	size_t room = ROWS;
	if (!r->kernels)
		return;
	html_leaf(h,
		S("Registers per lane, LDS per workgroup and scratch per work-item, from the "
		  "compiler's metadata. Waves: the most that a SIMD unit can hold with so many "
		  "registers; LDS and workgroup sizes may allow fewer. Kernels that spill "
		  "registers come first."),
		"p", NULL);
	html_table(h, "Kernel|GPU|>VGPRs|>SGPRs|>Spilled|>LDS, bytes|>Scratch, bytes|>Waves");
	for (int spilling = 1; spilling >= 0; spilling--)
		NODE_EACH (f, node_member(node_member(r->doc, S("inspect")), S("files")))
			NODE_EACH (o, node_member(f, S("objects")))
				kernel_rows(h, o, spilling, &room);
	html_table_end(h, r->kernels, "kernels");
}

/* ---- slowest steps ---- */
enum { SLOWEST = 12 };

static int by_seconds(const void *x, const void *y)
{
	const struct report_step *a = x, *b = y;
	return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

static void step_table(struct html *h, const struct report_step *steps, size_t n)
{
	html_table(h, "Step|Of|GPU|>Time|>CPU|>Peak memory");
	for (size_t i = 0; i < n && i < ROWS; i++) {
		const struct report_step *s = &steps[i];
		HTML_ROW(h, "ttgnnn", s->kind, s->name, s->gpu, html_seconds(h, s->seconds),
			html_seconds(h, s->cpu), human_bytes(h->out.a, s->memory));
	}
	html_table_end(h, n, "steps");
}

static void page_slowest(struct html *h, const struct report *r)
{
	VEC(struct report_step) ran = {0};
	VEC_EACH (const struct report_step, s, &r->steps)
		if (!s->cached)
			*VEC_PUSH(h->out.a, &ran) = *s;
	if (!ran.n)
		return;
	qsort(ran.v, ran.n, sizeof(*ran.v), by_seconds);
	step_table(h, ran.v, ran.n < SLOWEST ? ran.n : SLOWEST);
}

static void page_path(struct html *h, const struct report *r)
{
	if (r->path.n < 2)
		return;
	html_leaf(h,
		str_fmt(h->out.a,
			"Each of these steps needs the one before it. Together they take %.*s, and "
			"no number of processors makes the build shorter. With %u jobs, the "
			"compiles take %.*s at least.",
			STR(html_seconds(h, r->path_seconds)), r->jobs,
			STR(html_seconds(h, r->least))),
		"p", NULL);
	step_table(h, r->path.v, r->path.n);
}

/* ---- device code ---- */
static void page_code(struct html *h, const struct report *r)
{
	const struct node *inspect = node_member(r->doc, S("inspect"));
	const struct node *files = node_member(inspect, S("files"));
	if (!files->n)
		return;
	const struct node *served = node_member(inspect, S("served"));
	if (served->n) {
		html_open(h, "p", NULL);
		html_text(h, S("Served by every file with device code: "));
		NODE_EACH (gpu, served) {
			html_leaf(h, gpu->text, "code", NULL);
			html_text(h, S(" "));
		}
		html_close(h, 1);
	}
	html_table(h, "File|Target|Encoding|>Kernels|>Size|>Stored");
	size_t rows = 0;
	NODE_EACH (f, files)
		NODE_EACH (o, node_member(f, S("objects"))) {
			if (rows++ >= ROWS)
				continue;
			HTML_ROW(h, "tgtnnn", text_of(f, "path"), text_of(o, "target"),
				text_of(o, "encoding"), text_of(o, "kernels"),
				human_bytes(h->out.a, node_u64(o, S("size"), 0)),
				human_bytes(h->out.a, node_u64(o, S("stored"), 0)));
		}
	html_table_end(h, rows, "objects");
}

/* ---- verdict ---- */
/* A text, and the findings of a list. */
static void add_findings(struct html *h, struct str text, const struct node *list)
{
	html_leaf(h, text, "p", NULL);
	if (!list || !list->n)
		return;
	html_open(h, "ul", "class", "findings", NULL);
	NODE_EACH (f, list) {
		struct finding one = {.id = text_of(f, "id").p,
			.message = text_of(f, "message"),
			.path = text_of(f, "path")};
		struct str severity = node_text(f, S("severity"), S("info"));
		while (one.severity < SEV_ERROR &&
			!str_eq(severity, str_from(severity_name(one.severity))))
			one.severity++;
		html_finding(h, &one);
	}
	html_close(h, 1);
}

static void page_findings(struct html *h, const struct report *r)
{
	static const char proved[] =
		"Proved, from the finished wheel and without a GPU: the archive is sound, and "
		"RECORD has every file with its hash and size; METADATA, WHEEL and the file name "
		"agree; the tags are true: processor, C library and Python are what the machine "
		"code asks for; each library that is needed is in the wheel or comes from the "
		"system, Python, ROCm or another package; device code is there for each GPU that "
		"was asked for. Not proved: that the kernels compute what they should. That takes "
		"a GPU.";
	const struct node *wheels = node_member(node_member(r->doc, S("verify")), S("wheels"));
	bool pass = str_eq(r->verdict, S("pass"));
	if (!wheels->n)
		return;
	add_findings(h, pass ? str_from(proved) : S("The wheel failed verification."),
		node_get(wheels->v, S("findings")));
}

static void page_translation(struct html *h, const struct report *r)
{
	const struct node *findings = node_member(r->doc, S("findings"));
	uint64_t edits = node_u64(r->doc, S("translated"), 0);
	if (!edits && !findings->n)
		return;
	add_findings(h,
		str_fmt(h->out.a, "Replacements in the sources: %llu. Findings: %zu.",
			(unsigned long long)edits, findings->n),
		findings);
}

static void page_warnings(struct html *h, const struct report *r)
{
	if (!r->warnings)
		return;
	add_findings(h, str_fmt(h->out.a, "%zu, each place once.", r->warnings),
		node_get(r->doc, S("warnings")));
}

static void page_failure(struct html *h, const struct report *r)
{
	if (!r->error.n)
		return;
	html_open(h, "p", "class", "fail", NULL);
	if (r->place.n) {
		html_leaf(h, r->place, "code", NULL);
		html_text(h, S(" "));
	}
	html_text(h, r->error);
	html_close(h, 1);
	if (r->failed.n) {
		html_leaf(h, S("Steps that failed, or were stopped by the failure:"), "p", NULL);
		html_table(h, "Step|Of|GPU|>Time");
		VEC_EACH (const struct report_step, s, &r->failed)
			HTML_ROW(h, "tcgn", s->kind, s->name, s->gpu, html_seconds(h, s->seconds));
		html_table_end(h, 0, "");
	}
}

/* ---- the wheel ---- */
static void page_wheel(struct html *h, const struct report *r)
{
	const struct node *files = node_member(r->doc, S("files"));
	if (!r->wheel.n)
		return;
	html_open(h, "p", NULL);
	html_leaf(h, path_base(r->wheel), "code", NULL);
	html_text(h, str_fmt(h->out.a, " %.*s", STR(human_bytes(h->out.a, r->bytes))));
	if (r->sha256.n) {
		html_text(h, S(", SHA-256 "));
		html_leaf(h, r->sha256, "code", "class", "hash", NULL);
	}
	html_close(h, 1);
	html_leaf(h, text_of(r->doc, "platform_why"), "p", NULL);
	html_table(h, "File|>Size");
	for (size_t i = 0; i < files->n && i < ROWS; i++)
		HTML_ROW(h, "cn", text_of(&files->v[i], "path"),
			human_bytes(h->out.a, node_u64(&files->v[i], S("size"), 0)));
	html_table_end(h, files->n, "files");
}

/* ---- plan and facts: any document as nested tables ---- */
static bool is_scalar(const struct node *n)
{
	return n->kind != NODE_MAP && n->kind != NODE_LIST;
}

enum { DEEPEST = 6 };

static void add_tree(struct html *h, const struct node *n, unsigned depth)
{
	if (is_scalar(n) || depth >= DEEPEST) {
		html_text(h, n->text);
		return;
	}
	bool line = n->kind == NODE_LIST; /* a list of scalars is shown on one line */
	for (size_t i = 0; line && i < n->n; i++)
		line = is_scalar(&n->v[i]);
	if (line) {
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
		add_tree(h, it, depth + 1);
		html_close(h, 1);
	}
	html_close(h, 1);
}

static void add_details(struct html *h, const struct node *n, const char *title)
{
	html_open(h, "details", NULL);
	html_leaf(h, str_from(title), "summary", NULL);
	add_tree(h, n, 0);
	html_close(h, 1);
}

/* Adds a table of the choices in a list, with their reasons. */
static void add_choices(struct html *h, const struct node *list, const char *subject)
{
	if (!list || !list->n)
		return;
	html_table(h, "Choice||Because");
	NODE_EACH (it, list)
		HTML_ROW(h, "ttt", text_of(it, subject), text_of(it, "choice"), text_of(it, "why"));
	html_table_end(h, 0, "");
}

static void page_plan(struct html *h, const struct report *r)
{
	const struct node *plan = node_get(r->doc, S("plan"));
	if (!plan || !plan->n)
		return;
	add_choices(h, node_get(plan, S("features")), "name");
	add_choices(h, node_get(plan, S("reasons")), "subject");
	add_details(h, plan, "The whole plan");
}

static void page_facts(struct html *h, const struct report *r)
{
	const struct node *facts = node_get(r->doc, S("facts")), *sdk = node_get(r->doc, S("sdk"));
	if (sdk)
		add_details(h, sdk, "SDK");
	if (facts)
		add_details(h, facts, "The machine that built it");
}

/* ---- the whole ---- */
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
	html_card(h, html_seconds(h, r->seconds), "wall time");
	if (r->wheel.n)
		html_card(h, human_bytes(h->out.a, r->bytes), "wheel");
	html_card(h, html_count(h, r->gpus.n), "GPU targets");
	html_card(h, html_count(h, r->steps.n), "steps");
	if (r->kernels)
		html_card(h, str_fmt(h->out.a, "%zu of %zu", r->spilling, r->kernels),
			"kernels spill registers");
	html_close(h, 1);
}

/* A section whose function adds nothing is left out. */
static const struct {
	const char *id, *title;
	void (*add)(struct html *, const struct report *);
} sections[] = {
	{"failure", "What failed", page_failure},
	{"verdict", "Verdict", page_findings},
	{"gpus", "GPUs", page_gpus},
	{"kernels", "Kernels", page_kernels},
	{"code", "Device code", page_code},
	{"wheel", "Wheel", page_wheel},
	{"translation", "Translation from CUDA to HIP", page_translation},
	{"warnings", "Warnings of the compiler", page_warnings},
	{"stages", "Stages", page_stages},
	{"timeline", "Timeline", page_timeline},
	{"path", "Critical path", page_path},
	{"slowest", "Slowest steps", page_slowest},
	{"plan", "Plan", page_plan},
	{"facts", "Facts", page_facts},
};

/* The heading has the section's anchor. */
static void add_sections(struct html *h, const struct report *r)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		size_t before = h->out.n;
		html_open(h, "section", "aria-labelledby", sections[i].id, NULL);
		html_leaf(h, str_from(sections[i].title), "h2", "id", sections[i].id, NULL);
		size_t empty = h->out.n;
		sections[i].add(h, r);
		bool more = h->out.n > empty;
		html_close(h, 1);
		h->out.n = more ? h->out.n : before;
	}
}

struct str report_html(struct arena *a, const struct report *r)
{
	struct html h = {.out = {.a = a}};
	html_page(&h, str_fmt(a, "%.*s %.*s: build report", STR(r->name), STR(r->version)));
	write_title(&h, r);
	add_sections(&h, r);
	char started[64] = "";
	struct tm tm;
	time_t t = (time_t)node_u64(r->doc, S("started"), 0);
	if (t && gmtime_r(&t, &tm))
		(void)strftime(started, sizeof(started), "%Y-%m-%d %H:%M UTC", &tm);
	return html_page_end(&h, str_fmt(a, "Made by rocsmith %.*s. Build started %s.",
					 STR(node_text(r->doc, S("rocsmith"), S(""))), started));
}
