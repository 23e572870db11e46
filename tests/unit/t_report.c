/* Reports: reading build documents, lanes and sums, and pages that escape what they show. */
#include "test.h"

#include "formats/node.h"
#include "report/html.h"
#include "report/report.h"

static const char document[] =
	"{\"schema\":\"rocsmith.build/1\",\"rocsmith\":\"0.1.0\",\"started\":1700000000,"
	"\"seconds\":12.5,\"plan\":{\"project\":{\"name\":\"a<b\",\"version\":\"1.0\"},"
	"\"gpus\":[\"gfx1201\",\"gfx90a\"],\"reasons\":[{\"subject\":\"gpus\",\"choice\":\"two\","
	"\"why\":\"--gpu & "
	"such\"}]},\"facts\":{\"kernel\":\"6.1\",\"gpus\":[],\"groups\":[\"video\","
	"\"render\"]},\"stages\":{\"sdk\":1.5,\"compile\":8},\"steps\":["
	"{\"kind\":\"device\",\"name\":\"b.cu\",\"gpu\":\"gfx1201\",\"start\":1,\"seconds\":2,"
	"\"cpu\":1.9,\"memory\":3000},"
	"{\"kind\":\"hipify\",\"name\":\"a.cu\",\"start\":0,\"seconds\":1},"
	"{\"kind\":\"device\",\"name\":\"a.cu\",\"gpu\":\"gfx1201\",\"start\":1.5,\"seconds\":1,"
	"\"cpu\":1,\"memory\":5000},"
	"{\"kind\":\"device\",\"name\":\"c.cu\",\"gpu\":\"gfx1201\",\"start\":3,\"seconds\":1,"
	"\"cached\":true},"
	"{\"kind\":\"host\",\"name\":\"a.cu\",\"start\":3,\"seconds\":4}],"
	"\"wheel\":\"out/a-1.0.whl\",\"bytes\":2000000,\"inspect\":{\"files\":[{\"path\":\"a.so\","
	"\"objects\":[{\"target\":\"gfx1201\",\"encoding\":\"raw\",\"size\":10,\"stored\":10,"
	"\"kernels\":3}]}],\"served\":[\"gfx1201\"]},\"verify\":{\"wheels\":[{\"path\":\"w\","
	"\"verdict\":\"fail\",\"findings\":[{\"id\":\"tag-wrong\",\"severity\":\"error\","
	"\"message\":\"the tag <lies>\",\"path\":\"a.so\"}]}]}}";

static void load(struct arena *a, const char *text, struct report *ret)
{
	const struct node *doc;
	assert_ok(json_parse(a, str_from(text), S("build.json"), &doc));
	assert_ok(report_read(a, doc, ret));
}

static void figures_come_from_the_document(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a, document, &r);
	assert_str(r.name, "a<b");
	assert_str(r.version, "1.0");
	assert_str(r.verdict, "fail");
	assert_int_equal(r.bytes, 2000000);
	assert_int_equal(r.stages.n, 2);
	assert_str(r.stages.v[0].name, "sdk");
	assert_true(r.stages.v[0].seconds > 1.49 && r.stages.v[0].seconds < 1.51);
	assert_int_equal(r.steps.n, 5);
}

static void steps_are_sorted_and_lanes_do_not_overlap(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a, document, &r);
	assert_str(r.steps.v[0].kind, "hipify");
	assert_int_equal(r.lanes, 2);
	for (size_t i = 0; i < r.steps.n; i++)
		for (size_t k = i + 1; k < r.steps.n; k++) {
			const struct report_step *x = &r.steps.v[i], *y = &r.steps.v[k];
			if (x->cached || y->cached || x->lane != y->lane)
				continue;
			assert_true(x->start + x->seconds <= y->start + 1e-3);
		}
	assert_true(r.end > 6.99 && r.end < 7.01);
}

static void device_passes_are_summed_by_gpu(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a, document, &r);
	assert_int_equal(r.gpus.n, 2);
	assert_str(r.gpus.v[0].name, "gfx1201");
	assert_int_equal(r.gpus.v[0].ran, 2);
	assert_int_equal(r.gpus.v[0].cached, 1);
	assert_int_equal(r.gpus.v[0].memory, 5000);
	assert_true(r.gpus.v[0].seconds > 2.99 && r.gpus.v[0].seconds < 3.01);
	assert_str(r.gpus.v[1].name, "gfx90a");
	assert_int_equal(r.gpus.v[1].ran, 0);
}

static void kernels_that_spill_come_first(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a,
		"{\"schema\":\"rocsmith.build/"
		"1\",\"inspect\":{\"files\":[{\"path\":\"a.so\",\"objects\":["
		"{\"target\":\"gfx90a\",\"kernels\":3,\"resources\":[{\"name\":\"small\",\"vgprs\":"
		"12},"
		"{\"name\":\"large\",\"vgprs\":512,\"sgprs\":33,\"vgpr_spills\":7,\"sgpr_spills\":"
		"4,"
		"\"lds\":4096,\"scratch\":2468,\"waves\":1},{\"name\":\"none\"}]}]}]}}",
		&r);
	assert_int_equal(r.kernels, 3);
	assert_int_equal(r.spilling, 1);
	struct str page = report_html(&a, &r);
	static const char *const cells[] = {"title=\"large\">large</code>",
		"data-of=\"VGPRs\">512</td>", "data-of=\"SGPRs\">33</td>",
		"data-of=\"Spilled\">11</td>", "data-of=\"LDS, bytes\">4096</td>",
		"data-of=\"Scratch, bytes\">2468</td>", "data-of=\"Waves\">1</td>", ">small</code>",
		">none</code>"};
	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++) {
		size_t at = str_find(page, str_from(cells[i]));
		assert_true(at < page.n);
		page = str_sub(page, at, page.n);
	}
}

static void a_failure_names_its_place_and_its_steps(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a,
		"{\"schema\":\"rocsmith.build/1\",\"project\":\"/home/me/"
		"p\",\"error\":{\"message\":\"no ';'\","
		"\"path\":\"/home/me/p/src/a.cu\",\"line\":5},\"warnings\":[{\"message\":\"odd\","
		"\"path\":\"b.cu:3:1\"}],\"steps\":["
		"{\"kind\":\"device\",\"name\":\"a.cu\",\"gpu\":\"gfx1201\",\"seconds\":2.5,"
		"\"done\":false},"
		"{\"kind\":\"link\",\"name\":\"never.so\",\"seconds\":0,\"done\":false}]}",
		&r);
	assert_str(r.place, "src/a.cu:5");
	assert_int_equal(r.failed.n, 1);
	assert_int_equal(r.steps.n, 0);
	assert_int_equal(r.warnings, 1);
	struct str page = report_html(&a, &r);
	assert_true(str_contains(page, S("<code>src/a.cu:5</code>\n no ';'")));
	assert_true(str_contains(
		page, S("<td data-of=\"Step\">device</td>\n<td data-of=\"Of\"><code>a.cu</code>")));
	assert_false(str_contains(page, S("never.so")));
	assert_true(str_contains(page, S("b.cu:3:1")));
	load(&a,
		"{\"schema\":\"rocsmith.build/1\",\"project\":\"/"
		"p\",\"error\":{\"message\":\"x\",\"path\":\"/q/b\"}}",
		&r);
	assert_str(r.place, "/q/b");
}

static void the_page_says_what_a_gpu_is_and_what_the_wheel_holds(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a,
		"{\"schema\":\"rocsmith.build/1\",\"plan\":{\"gpus\":[\"gfx1201\"]},\"wheel\":\"o/"
		"a-1.whl\","
		"\"sha256\":\"0b7c7ff4\",\"translated\":12,\"files\":[{\"path\":\"a/"
		"__init__.py\",\"size\":1234}],"
		"\"verify\":{\"wheels\":[{\"verdict\":\"pass\"}]}}",
		&r);
	struct str page = report_html(&a, &r);
	static const char *const shown[] = {"RX 9070 XT", "a-1.whl", "0b7c7ff4", "a/__init__.py",
		"1.2 kB", "Replacements in the sources: 12.", "Not proved:", "width=device-width"};
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		assert_true(str_contains(page, str_from(shown[i])));
}

/* A stranger's document: its steps all overlap. */
static void a_picture_has_no_end_of_lanes(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	BUF(doc, &a);
	buf_add(&doc, S("{\"schema\":\"rocsmith.build/1\",\"steps\":["));
	for (unsigned i = 0; i < 40000; i++)
		buf_fmt(&doc, "%s{\"start\":1,\"seconds\":1}", i ? "," : "");
	buf_add(&doc, S("]}"));
	load(&a, buf_str(&doc).p, &r);
	assert_int_equal(r.lanes, 256);
}

/* And each is for a GPU of its own, as are the targets. */
static void a_table_has_no_end_of_gpus(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	BUF(doc, &a);
	buf_add(&doc, S("{\"schema\":\"rocsmith.build/1\",\"plan\":{\"gpus\":[\"gfx1100\""));
	for (unsigned i = 0; i < 20000; i++)
		buf_fmt(&doc, ",\"a%u\"", i);
	buf_add(&doc, S("]},\"steps\":["));
	for (unsigned i = 0; i < 20000; i++)
		buf_fmt(&doc, "%s{\"gpu\":\"b%u\",\"seconds\":1}", i ? "," : "", i);
	buf_add(&doc, S("]}"));
	load(&a, buf_str(&doc).p, &r);
	assert_int_equal(r.gpus.n, 256);
	assert_str(r.gpus.v[0].name, "gfx1100");
	assert_int_equal(r.steps.n, 20000);
}

/* And each is of a kind of its own. */
static void a_legend_has_no_end_of_kinds(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	BUF(doc, &a);
	buf_add(&doc, S("{\"schema\":\"rocsmith.build/1\",\"steps\":["));
	for (unsigned i = 0; i < 60000; i++)
		buf_fmt(&doc, "%s{\"kind\":\"k%05u\",\"start\":%u,\"seconds\":1}", i ? "," : "", i,
			i);
	buf_add(&doc, S("]}"));
	double began = cpu_seconds();
	load(&a, buf_str(&doc).p, &r);
	assert_true(str_contains(report_html(&a, &r), S("k59999")));
	assert_true(cpu_seconds() - began < 30);
}

static void another_schema_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *doc;
	struct report r;
	assert_ok(json_parse(&a, S("{\"schema\":\"rocsmith.plan/1\"}"), S("p.json"), &doc));
	assert_err_says(report_read(&a, doc, &r), E_SYNTAX, "rocsmith.plan/1");
	assert_ok(json_parse(&a, S("[1,2]"), S("p.json"), &doc));
	assert_err(report_read(&a, doc, &r), E_SYNTAX);
}

static void a_failed_build_has_a_report_too(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a,
		"{\"schema\":\"rocsmith.build/1\",\"error\":{\"id\":\"E0410\","
		"\"message\":\"a.cu does not compile\"}}",
		&r);
	struct str page = report_html(&a, &r);
	assert_true(str_contains(page, S("build failed")));
	assert_true(str_contains(page, S("a.cu does not compile")));
	assert_false(str_contains(page, S("id=\"timeline\"")));
	assert_false(str_contains(page, S("id=\"code\"")));
}

static void wrong_kinds_of_members_are_harmless(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a,
		"{\"schema\":\"rocsmith.build/1\",\"steps\":{\"a\":1},\"stages\":[1,2],"
		"\"plan\":\"x\",\"inspect\":7,\"verify\":{\"wheels\":\"no\"},\"findings\":{}}",
		&r);
	assert_int_equal(r.stages.n, 0); /* they would be members of one name */
	assert_true(report_html(&a, &r).n > 1000);
}

static void the_page_escapes_what_it_shows(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a, document, &r);
	struct str page = report_html(&a, &r);
	assert_true(str_contains(page, S("a&lt;b")));
	assert_false(str_contains(page, S("a<b")));
	assert_true(str_contains(page, S("the tag &lt;lies&gt;")));
	assert_true(str_contains(page, S("--gpu &amp; such")));
	assert_true(str_contains(page, S("video, render")));
	assert_true(str_contains(page, S("failed verification")));
}

static void the_page_needs_nothing_from_elsewhere(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a, document, &r);
	struct str page = report_html(&a, &r);
	assert_false(str_contains(page, S("<script")));
	assert_false(str_contains(page, S("http:")));
	assert_false(str_contains(page, S("https:")));
	assert_false(str_contains(page, S("url(")));
	assert_false(str_contains(page, S("<link")));
}

/* Every tag that opens is closed, in order: pages are nested by calls, so a slip shows here. */
static void tags_are_balanced(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a, document, &r);
	struct str page = report_html(&a, &r), piece;
	struct strs open = {0};
	while (page.n && str_next(&page, '<', &piece)) {
		struct str name = str_sub(piece, 0, str_chr(piece, '>'));
		name = str_sub(name, 0, str_chr(name, ' '));
		if (!name.n || name.p[0] == '!' || str_eq(name, S("meta")))
			continue;
		if (name.p[0] != '/') {
			strs_add(&a, &open, name);
			continue;
		}
		assert_true(open.n > 0);
		assert_true(str_eq(open.v[--open.n], str_sub(name, 1, name.n)));
	}
	assert_int_equal(open.n, 0);
}

static void a_long_build_makes_a_small_page(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	BUF(doc, &a);
	buf_add(&doc, S("{\"schema\":\"rocsmith.build/1\",\"steps\":["));
	for (unsigned i = 0; i < 28000; i++)
		buf_fmt(&doc,
			"%s{\"kind\":\"device\",\"name\":\"k%u.cu\",\"gpu\":\"gfx%u\","
			"\"start\":%u.5,\"seconds\":1.0}",
			i ? "," : "", i, 900 + i % 20, i / 64);
	buf_add(&doc, S("]}"));
	load(&a, buf_str(&doc).p, &r);
	assert_int_equal(r.lanes, 64);
	assert_true(report_html(&a, &r).n < 8u << 20);
}

/* Numbers that no build has must not keep the page from coming to its end. */
static void times_without_end_are_none(void **state)
{
	(void)state;
	static const char *const numbers[] = {"1e308", "-1e308", "1e301", "1e-300"};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		ARENA(a);
		struct report r;
		const char *n = numbers[i];
		struct str doc = str_fmt(&a,
			"{\"schema\":\"rocsmith.build/1\",\"seconds\":%s,\"stages\":{\"sdk\":%s},"
			"\"steps\":[{\"kind\":\"host\",\"name\":\"a\",\"start\":%s,\"seconds\":%s,"
			"\"cpu\":%s},{\"kind\":\"host\",\"name\":\"b\",\"start\":0,\"seconds\":%s}]"
			"}",
			n, n, n, n, n, n);
		load(&a, doc.p, &r);
		assert_true(r.seconds < 1 && r.end < 1 && r.stages.v[0].seconds < 1);
		assert_true(report_html(&a, &r).n < 1 << 16);
	}
}

static void attributes_are_escaped(void **state)
{
	(void)state;
	ARENA(a);
	struct html h = {.out = {.a = &a}};
	html_leaf(&h, S("x\x01"), "a", "title", "\"quoted\" & <more>", NULL);
	assert_str(buf_str(&h.out),
		"<a title=\"&quot;quoted&quot; &amp; &lt;more&gt;\">x\xef\xbf\xbd</a>\n");
}

#define STEP(kind, gpu, seconds, after)                                                            \
	"{\"kind\":\"" kind "\",\"name\":\"" kind "\",\"gpu\":\"" gpu "\",\"seconds\":" seconds    \
	",\"after\":" after "}"

/* Two sources of two GPUs each; the second source's pass for gfx90a is slow. */
#define STEPS                                                                                      \
	STEP("device", "gfx90a", "2", "[]")                                                        \
	"," STEP("device", "gfx1201", "1", "[]") "," STEP("host", "", "3", "[0, 1]") "," STEP(     \
		"device", "gfx90a", "9", "[]") "," STEP("host2", "", "1", "[3]") "," STEP("link",  \
		"", "0.5", "[2, 4]")

static void near(double is, double wanted)
{
	assert_true(is > wanted - 1e-6 && is < wanted + 1e-6);
}

static void the_longest_chain_is_the_critical_path(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a, "{\"schema\":\"rocsmith.build/1\",\"jobs\":8,\"steps\":[" STEPS "]}", &r);
	near(r.least, 10.5);
	assert_int_equal(r.path.n, 3);
	near(r.path.v[0].seconds, 9);
	assert_str(r.path.v[1].kind, "host2");
	assert_str(r.path.v[2].kind, "link");
	assert_str(r.gpus.v[0].name, "gfx90a");
	near(r.gpus.v[0].added, 10.5 - (1 + 3 + 0.5)); /* then the other source is the longest */
	near(r.gpus.v[1].added, 0);
	/* with one job, the sum counts */
	load(&a, "{\"schema\":\"rocsmith.build/1\",\"jobs\":1,\"steps\":[" STEPS "]}", &r);
	near(r.least, 16.5);
	near(r.gpus.v[0].added, 11);
	near(r.gpus.v[1].added, 1);
	assert_true(str_contains(report_html(&a, &r), S("Critical path")));
}

/* Steps of another build system contain its compiles, so only these are added up. */
static void compiles_count_instead_of_the_steps_around_them(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a,
		"{\"schema\":\"rocsmith.build/1\",\"jobs\":8,\"steps\":[" STEP(
			"wheel", "", "100", "[]") "],\"compiles\":[" STEPS "]}",
		&r);
	assert_int_equal(r.steps.n, 7);
	near(r.least, 10.5);
	assert_int_equal(r.path.n, 3);
	near(r.path.v[0].seconds, 9);
	assert_int_equal(r.gpus.v[0].ran, 2);
}

static void a_step_waits_for_none_that_comes_later(void **state)
{
	(void)state;
	ARENA(a);
	struct report r;
	load(&a,
		"{\"schema\":\"rocsmith.build/1\",\"jobs\":8,\"steps\":[" STEP(
			"host", "", "1", "[0, 1, 7, -1, \"x\"]") "," STEP("link", "", "1",
			"[0, 0, 1, 4294967296]") "]}",
		&r);
	near(r.least, 2);
	assert_int_equal(r.path.n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_come_from_the_document),
		cmocka_unit_test(steps_are_sorted_and_lanes_do_not_overlap),
		cmocka_unit_test(device_passes_are_summed_by_gpu),
		cmocka_unit_test(times_without_end_are_none),
		cmocka_unit_test(kernels_that_spill_come_first),
		cmocka_unit_test(a_failure_names_its_place_and_its_steps),
		cmocka_unit_test(the_page_says_what_a_gpu_is_and_what_the_wheel_holds),
		cmocka_unit_test(a_picture_has_no_end_of_lanes),
		cmocka_unit_test(a_table_has_no_end_of_gpus),
		cmocka_unit_test(a_legend_has_no_end_of_kinds),
		cmocka_unit_test(another_schema_is_refused),
		cmocka_unit_test(a_failed_build_has_a_report_too),
		cmocka_unit_test(wrong_kinds_of_members_are_harmless),
		cmocka_unit_test(the_page_escapes_what_it_shows),
		cmocka_unit_test(the_page_needs_nothing_from_elsewhere),
		cmocka_unit_test(tags_are_balanced),
		cmocka_unit_test(a_long_build_makes_a_small_page),
		cmocka_unit_test(attributes_are_escaped),
		cmocka_unit_test(the_longest_chain_is_the_critical_path),
		cmocka_unit_test(compiles_count_instead_of_the_steps_around_them),
		cmocka_unit_test(a_step_waits_for_none_that_comes_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
