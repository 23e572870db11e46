/* The size map as a browser reads it: everything is counted once, boxes stay in the box around them, nothing that a stranger
 * wrote is markup. tests/e2e/pages.sh opens it in a browser. */
#include "unit/kit.h"

#include "devcode/devcode.h"
#include "report/size_map.h"

/* Prints what is wrong with the page on stdin; with arguments: texts that must be shown. */
static const char checker[] =
	"import sys, html.parser, re\n"
	"class P(html.parser.HTMLParser):\n"
	"    def __init__(self):\n"
	"        super().__init__(); self.open = []; self.text = []; self.areas = [[]]; "
	"self.titles = []\n"
	"    def handle_starttag(self, tag, attrs):\n"
	"        a = dict(attrs)\n"
	"        if tag != 'meta': self.open.append((tag, a))\n"
	"        if tag in ('script', 'img', 'iframe', 'link', 'a'): print('tag', tag)\n"
	"        for n in a:\n"
	"            if n.startswith('on') or n in ('src', 'href'): print('active', n)\n"
	"        kind = a.get('class', '')\n"
	"        if kind in ('map', 'in'): self.areas.append([])\n"
	"        if kind.startswith('box'):\n"
	"            l, t, w, h = map(float, re.findall(r':([-0-9.]+)%', a['style']))\n"
	"            if min(l, t) < -.01 or l + w > 100.01 or t + h > 100.01: print('outside', a)\n"
	"            self.areas[-1].append(w * h)\n"
	"            self.titles.append(a['title'])\n"
	"    def handle_endtag(self, tag):\n"
	"        was, a = self.open.pop()\n"
	"        if was != tag: print('not open', tag)\n"
	"        if a.get('class') in ('map', 'in'):\n"
	"            got = sum(self.areas.pop())\n"
	"            if abs(got - 10000) > 20: print('area', got)\n"
	"    def handle_data(self, data): self.text.append(data)\n"
	"p = P(); p.feed(sys.stdin.buffer.read().decode('utf-8')); p.close()\n"
	"if p.open: print('left open', p.open)\n"
	"text = ''.join(p.text) + '\\n'.join(p.titles)\n"
	"for want in sys.argv[1:]:\n"
	"    if want not in text: print('not shown', want)\n";

static void assert_map(struct arena *a, const struct size_map *m, const char *const *shown)
{
	struct proc p = {.input = size_map_html(a, m)};
	struct proc_result r;
	if (!proc_find(a, S("python3")).n)
		skip();
	proc_arg(a, &p, "python3", "-c", checker, NULL);
	for (; *shown; shown++)
		proc_arg(a, &p, *shown, NULL);
	assert_ok(proc_check(a, &p, &r));
	assert_str(r.out, "");
}

static void add_code(struct arena *a, struct size_map *m, const char *path)
{
	assert_ok(devcode_scan(a, str_from(path),
		DEVCODE_INNER | DEVCODE_KERNELS | DEVCODE_DEBUG | DEVCODE_RESOURCES | DEVCODE_EVERY,
		VEC_PUSH(a, &m->codes)));
}

static void each_part_is_shown_and_fills_its_place(void **state)
{
	(void)state;
	ARENA(a);
	struct size_map m = {0};
	static const char *const shown[] = {"void axpy<float>(float*): 160 B", "fast::new()",
		"host code, data, padding", "metadata, symbols, other functions", "3 paths",
		"gfx1030", "tests/data/devcode/kernels-new.hsaco",
		"tests/data/devcode/two-ccob3.hipfb: 874 B", NULL};
	add_code(&a, &m, "tests/data/devcode/kernels-new.hsaco");
	add_code(&a, &m, "tests/data/devcode/two-ccob3.hipfb");
	add_code(&a, &m, "tests/data/devcode/two.hipfb");
	assert_map(&a, &m, shown);
}

static void a_folder_with_damage_shows_its_findings(void **state)
{
	(void)state;
	ARENA(a);
	struct size_map m = {0};
	static const char *const shown[] = {
		"object-mislabelled", "bundle-damaged", "cut.hipfb", NULL};
	add_code(&a, &m, "tests/data/devcode");
	assert_map(&a, &m, shown);
}

static void nothing_to_show_is_a_page_too(void **state)
{
	(void)state;
	ARENA(a);
	struct size_map m = {0};
	static const char *const shown[] = {"targets", NULL};
	add_code(&a, &m, "tests/data/wheel");
	assert_map(&a, &m, shown);
}

/* Side files of a library, hundreds of them, are one box; a path of markup is text. */
static void files_beside_a_library_share_a_box(void **state)
{
	ARENA(a);
	struct fixture *f = *state;
	struct size_map m = {0};
	struct str object;
	static const char *const shown[] = {"lib/rocblas/library/: 3.9 kB", "x<b>&\"'.hsaco", NULL};
	assert_ok(fs_read(&a, S("tests/data/devcode/gfx90a.hsaco"), 1 << 20, &object));
	assert_ok(fs_mkdirs(at(f, "lib/rocblas/library")));
	assert_ok(fs_write(at(f, "lib/rocblas/library/Kernels.so-000-gfx90a.hsaco"), object, 0644));
	assert_ok(fs_write(at(f, "lib/rocblas/library/TensileLibrary_gfx90a.co"), object, 0644));
	assert_ok(fs_write(at(f, "x<b>&\"'.hsaco"), object, 0644));
	add_code(&a, &m, str_z(&a, f->dir));
	assert_map(&a, &m, shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_is_shown_and_fills_its_place),
		cmocka_unit_test(a_folder_with_damage_shows_its_findings),
		cmocka_unit_test(nothing_to_show_is_a_page_too),
		cmocka_unit_test_setup_teardown(
			files_beside_a_library_share_a_box, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
