/* The page as a browser reads it: Python's HTML parser finds every tag closed, every text that a
 * hostile build document holds comes back as text, and nothing is fetched or run. */
#include "test.h"

#include "base/buf.h"
#include "base/proc.h"
#include "formats/node.h"
#include "report/html.h"
#include "report/report.h"

/* Prints what is wrong with the page on stdin; with arguments: texts that must be shown. */
static const char checker[] =
	"import sys, html.parser\n"
	"VOID = {'meta'}\n"
	"class P(html.parser.HTMLParser):\n"
	"    def __init__(self):\n"
	"        super().__init__(); self.open = []; self.text = []; self.ids = set()\n"
	"    def handle_starttag(self, tag, attrs):\n"
	"        if tag not in VOID: self.open.append(tag)\n"
	"        names = [n for n, v in attrs]\n"
	"        if len(names) != len(set(names)): print('attribute twice in', tag)\n"
	"        for n, v in attrs:\n"
	"            if n.startswith('on') or n in ('src', 'href'): print('active', n, v)\n"
	"            if n == 'id':\n"
	"                if v in self.ids: print('id twice', v)\n"
	"                self.ids.add(v)\n"
	"            if n in ('x', 'y', 'width', 'height'): float(v)\n"
	"        if tag in ('script', 'iframe', 'img', 'link', 'object'): print('tag', tag)\n"
	"    def handle_endtag(self, tag):\n"
	"        if not self.open or self.open.pop() != tag: print('not open', tag)\n"
	"    def handle_data(self, data): self.text.append(data)\n"
	"    def handle_comment(self, data): print('comment', data)\n"
	"p = P(); p.feed(sys.stdin.buffer.read().decode('utf-8')); p.close()\n"
	"if p.open: print('left open', p.open)\n"
	"text = ''.join(p.text)\n"
	"for want in sys.argv[1:]:\n"
	"    if want not in text: print('not shown', want)\n";

static struct str page_of(struct arena *a, const char *document)
{
	const struct node *doc;
	struct report r;
	assert_ok(json_parse(a, str_from(document), S("build.json"), &doc));
	assert_ok(report_read(a, doc, &r));
	return report_html(a, &r);
}

static void assert_page(const char *document, const char *const *shown)
{
	ARENA(a);
	struct proc p = {.input = page_of(&a, document)};
	struct proc_result r;
	if (!proc_find(&a, S("python3")).n)
		skip();
	proc_arg(&a, &p, "python3", "-c", checker, NULL);
	for (; shown && *shown; shown++)
		proc_arg(&a, &p, *shown, NULL);
	assert_ok(proc_check(&a, &p, &r));
	assert_str(r.out, "");
}

#define BUILD "{\"schema\":\"rocsmith.build/1\""

static void an_empty_build_is_a_page(void **state)
{
	(void)state;
	static const char *const shown[] = {"project", "not verified", "0", NULL};
	assert_page(BUILD "}", shown);
	assert_page(BUILD ",\"steps\":[],\"stages\":{},\"plan\":{},\"facts\":{},\"inspect\":{},"
			  "\"verify\":{\"wheels\":[]}}",
		shown);
}

static void a_failed_build_shows_why(void **state)
{
	(void)state;
	static const char *const shown[] = {"build failed", "'a.cu' <does> not \"compile\"", NULL};
	assert_page(BUILD ",\"error\":{\"id\":\"E0410\",\"message\":\"'a.cu' <does> not "
			  "\\\"compile\\\"\"},\"stages\":{\"sdk\":1}}",
		shown);
}

/* The template with text in place of each '@'. */
static struct str filled(struct arena *a, const char *template, const char *text)
{
	BUF(b, a);
	for (; *template; template ++)
		buf_add(&b, *template == '@' ? str_from(text) : (struct str){template, 1});
	return buf_str(&b);
}

/* One document with the same hostile text in every place that is shown. */
static struct str hostile_document(struct arena *a, const char *evil)
{
	static const char template[] =
		BUILD ",\"rocsmith\":\"@\",\"seconds\":2,\"plan\":{\"project\":{\"name\":\"@\","
		      "\"version\":\"@\"},\"gpus\":[\"@\"],\"reasons\":[{\"subject\":\"@\","
		      "\"choice\":\"@\",\"why\":\"@\"}],\"@\":{\"@\":[\"@\"]}},"
		      "\"facts\":{\"@\":\"@\"},\"sdk\":{\"name\":\"@\"},"
		      "\"stages\":{\"@\":2},\"steps\":[{\"kind\":\"@\",\"name\":\"@\","
		      "\"gpu\":\"@\",\"start\":0,\"seconds\":1,\"cpu\":1,\"memory\":1}],"
		      "\"wheel\":\"/x/@\",\"bytes\":1,\"error\":{\"message\":\"@\"},"
		      "\"inspect\":{\"files\":[{\"path\":\"@\",\"objects\":[{\"target\":\"@\","
		      "\"encoding\":\"@\",\"size\":1,\"stored\":1,\"kernels\":\"@\"}]}],"
		      "\"served\":[\"@\"]},\"verify\":{\"wheels\":[{\"verdict\":\"@\","
		      "\"findings\":[{\"id\":\"@\",\"severity\":\"@\",\"message\":\"@\","
		      "\"path\":\"@\"}]}]},\"findings\":[{\"severity\":\"@\"}]}";
	return filled(a, template, evil);
}

static void hostile_names_are_texts(void **state)
{
	(void)state;
	static const char *const evil[][2] = {
		/* as in JSON, as shown */
		{"<script>alert(1)</script>", "<script>alert(1)</script>"},
		{"</style></title></svg><img src=x onerror=y>",
			"</style></title></svg><img src=x onerror=y>"},
		{"\\\" onload=\\\"x", "\" onload=\"x"},
		{"' onclick='x", "' onclick='x"},
		{"<!-- ", "<!-- "},
		{"]]> <![CDATA[", "]]> <![CDATA["},
		{"&lt;b&gt; &amp;", "&lt;b&gt; &amp;"},
		{"\\u0001\\u001b[31m", "\xef\xbf\xbd\xef\xbf\xbd[31m"},
		{"gr\xc3\xb6\xc3\x9f"
		 "e \xe2\x86\x92 \xf0\x9f\x98\x80",
			"gr\xc3\xb6\xc3\x9f"
			"e \xe2\x86\x92 \xf0\x9f\x98\x80"},
		{"%s%n%1$d", "%s%n%1$d"},
	};
	for (size_t i = 0; i < sizeof(evil) / sizeof(*evil); i++) {
		ARENA(a);
		const char *const shown[] = {evil[i][1], NULL};
		assert_page(hostile_document(&a, evil[i][0]).p, shown);
	}
}

static void figures_of_any_size_are_drawn(void **state)
{
	(void)state;
	static const char *const figures[] = {"0", "-1", "1e-300", "1e300", "-1e300", "1e18", "0.5",
		"\"text\"", "null", "[]", "1234567890123456789"};
	static const char template[] =
		BUILD ",\"started\":@,\"seconds\":@,\"bytes\":@,\"stages\":{\"sdk\":@,"
		      "\"compile\":1},\"steps\":[{\"kind\":\"host\",\"start\":@,"
		      "\"seconds\":@,\"cpu\":@,\"memory\":@},{\"kind\":\"device\","
		      "\"gpu\":\"gfx90a\",\"start\":0,\"seconds\":@}]}";
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		ARENA(a);
		assert_page(filled(&a, template, figures[i]).p, NULL);
	}
}

static void many_gpus_have_a_bar_each(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	static const char *const shown[] = {"gfx900", "gfx1299", "gfx1300", NULL};
	buf_add(&b, S(BUILD ",\"steps\":["));
	for (unsigned gpu = 900; gpu < 1300; gpu++)
		buf_fmt(&b,
			"%s{\"kind\":\"device\",\"name\":\"a.cu\",\"gpu\":\"gfx%u\",\"start\":%u,"
			"\"seconds\":%u,\"cpu\":1,\"memory\":1000000}",
			gpu == 900 ? "" : ",", gpu, gpu, gpu % 7);
	for (unsigned i = 0; i < 64; i++)
		buf_fmt(&b, ",{\"kind\":\"device\",\"gpu\":\"gfx1300\",\"cached\":true}");
	buf_add(&b, S("]}"));
	assert_page(buf_str(&b).p, shown);
}

static void deep_documents_are_cut_off(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	buf_add(&b, S(BUILD ",\"facts\":"));
	for (unsigned i = 0; i < 60; i++)
		buf_add(&b, i % 2 ? S("{\"a\":") : S("[1,{},"));
	buf_add(&b, S("1"));
	for (unsigned i = 60; i-- > 0;)
		buf_add(&b, i % 2 ? S("}") : S("]"));
	buf_add(&b, S("}"));
	assert_page(buf_str(&b).p, NULL);
}

static void the_badge_tells_how_it_ended(void **state)
{
	(void)state;
	static const char *const ends[][3] = {
		{"", "badge none", "not verified"},
		{",\"verify\":{\"wheels\":[{\"verdict\":\"pass\"}]}", "badge pass", "verified"},
		{",\"verify\":{\"wheels\":[{\"verdict\":\"fail\"}]}", "badge fail",
			"failed verification"},
		{",\"verify\":{\"wheels\":[{\"verdict\":\"pass\"}]},\"error\":{\"message\":\"x\"}",
			"badge fail", "build failed"},
	};
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		ARENA(a);
		struct str page = page_of(&a, str_fmt(&a, BUILD "%s}", ends[i][0]).p);
		struct str want =
			str_fmt(&a, "<span class=\"%s\">%s</span>", ends[i][1], ends[i][2]);
		assert_true(str_contains(page, want));
	}
}

static void the_same_document_gives_the_same_page(void **state)
{
	(void)state;
	ARENA(a);
	struct str doc = hostile_document(&a, "x");
	assert_true(str_eq(page_of(&a, doc.p), page_of(&a, doc.p)));
}

static void short_steps_have_milliseconds(void **state)
{
	(void)state;
	static const struct {
		double s;
		const char *text;
	} times[] = {{0, "0.0 ms"}, {0.0042, "4.2 ms"}, {0.042, "42 ms"}, {0.42, "0.42 s"},
		{9.994, "9.99 s"}, {10, "10 s"}, {3599, "59m59s"}};
	ARENA(a);
	struct html h = {.out = {.a = &a}};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		assert_str(html_seconds(&h, times[i].s), times[i].text);
}

static void elements_nest_and_attributes_are_escaped(void **state)
{
	(void)state;
	ARENA(a);
	struct html h = {.out = {.a = &a}};
	html_open(&h, "p", "class", "a\"b<c>&d", "id", "", NULL);
	html_text(&h, S("1 < 2 & \"3\""));
	html_leaf(&h, S(""), "i", NULL);
	html_close(&h, 1);
	assert_str(buf_str(&h.out), "<p class=\"a&quot;b&lt;c&gt;&amp;d\" id=\"\">"
				    "1 &lt; 2 &amp; &quot;3&quot;<i></i>\n</p>\n");
	assert_int_equal(h.depth, 0);
	assert_string_equal(html_num(&h, 1.005), "1.00");
	assert_string_equal(html_num(&h, -0.5), "-0.50");
}

/* Names of GPUs stay on one line wherever they stand, but in an attribute or a picture, where no element may be. */
static void names_of_gpus_are_never_broken(void **state)
{
	(void)state;
	ARENA(a);
	struct html h = {.out = {.a = &a}};
	html_text(&h, S("gfx90a:sramecc+:xnack-, gfx11-generic: gfx1100<x> my_gfx90a agfx906 gfx "
			"gfxx /gfx942/"));
	html_leaf(&h, S("gfx1201"), "title", "class", "gfx1030", NULL);
	assert_str(buf_str(&h.out),
		"<span class=\"gpu\">gfx90a:sramecc+:xnack-</span>, <span "
		"class=\"gpu\">gfx11-generic</span>: "
		"<span class=\"gpu\">gfx1100</span>&lt;x&gt; my_gfx90a agfx906 gfx gfxx "
		"/<span class=\"gpu\">gfx942</span>/<title class=\"gfx1030\">gfx1201</title>\n");
}

static void kernels_are_called_as_people_call_them(void **state)
{
	(void)state;
	static const char *const shown[] = {"void add<float>(float*)", "_Zoops", NULL};
	assert_page(BUILD
		",\"inspect\":{\"files\":[{\"path\":\"a.so\",\"objects\":[{\"target\":\"gfx90a\","
		"\"resources\":[{\"name\":\"_Z3addIfEvPT_\"},{\"name\":\"_Zoops\"}]}]}]}}",
		shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_gpus_are_never_broken),
		cmocka_unit_test(kernels_are_called_as_people_call_them),
		cmocka_unit_test(an_empty_build_is_a_page),
		cmocka_unit_test(a_failed_build_shows_why),
		cmocka_unit_test(hostile_names_are_texts),
		cmocka_unit_test(figures_of_any_size_are_drawn),
		cmocka_unit_test(many_gpus_have_a_bar_each),
		cmocka_unit_test(deep_documents_are_cut_off),
		cmocka_unit_test(the_badge_tells_how_it_ended),
		cmocka_unit_test(the_same_document_gives_the_same_page),
		cmocka_unit_test(short_steps_have_milliseconds),
		cmocka_unit_test(elements_nest_and_attributes_are_escaped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
