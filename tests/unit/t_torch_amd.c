/* hipify/torch/amd: the shapes that build_amd.py had, each in a few lines of our own, and that code
 * which is not understood is said to be. The real script of 2.6 is read in e2e. */
#include "test.h"

#include "base/buf.h"
#include "hipify/torch/model/amd.h"

#define LISTS                                                                                      \
	"includes = ['a/*', 'b.txt']\n"                                                            \
	"includes = [os.path.join(top, i) for i in includes]\n"                                    \
	"for d in args.extra_include_dir:\n    includes.append(d)\n"                               \
	"ignores = ('*/hip/*',)\n"
#define ASK                                                                                        \
	"def is_hip_clang():\n    try:\n        with open(p + '/lib/.hipInfo') as f:\n"            \
	"            return 'x' in f.read()\n    except OSError:\n        return False\n"
#define CALL "hipify_python.hipify(includes=includes, hip_clang_launch=is_hip_clang())\n"
#define WRITE                                                                                      \
	"        with open(name, 'w') as out:\n            for line in lines:\n"                   \
	"                out.write(line)\n"

static struct amd_build read_ok(struct arena *a, const char *text)
{
	struct amd_build b;
	struct torch_file f = {.path = S("amd.py"), .text = str_from(text)};
	assert_ok(amd_build_read(a, &f, &b));
	return b;
}

static void assert_list(const struct strs *got, const char *want)
{
	ARENA(a);
	assert_str(str_join(&a, got, S(" ")), want);
}

static void assert_sure(const struct amd_build *b)
{
	for (size_t i = 0; i < b->doubts.n; i++)
		print_error("%.*s\n", STR(b->doubts.v[i].message));
	assert_int_equal(b->doubts.n, 0);
}

static void lists_are_found_in_both_spellings(void **state)
{
	(void)state;
	ARENA(a);
	struct amd_build b =
		read_ok(&a, LISTS ASK "x.hipify(ignores=ignores, extra_files=['e.py', 'f.py'],\n"
				      "  hip_clang_launch=is_hip_clang())\n");
	assert_list(&b.includes, "a/* b.txt");
	assert_list(&b.ignores, "*/hip/*");
	assert_list(&b.extra_files, "e.py f.py");
	assert_int_equal(b.launches, AMD_ASKS_HIP_INFO);
	assert_sure(&b);
	b = read_ok(&a,
		"INCLUDES = ['i/*']\nIGNORES = []\nEXTRA_FILES = ['e.py', 'f.py']\n"
		"def stage(d):\n    includes = absolute(d, INCLUDES)\n"
		"def main():\n    extra_files = [e for e in EXTRA_FILES if (top / e).exists()]\n"
		"    one = 'g.cuh'\n    extra_files.append(one)\n"
		"    x.hipify(includes=f(INCLUDES), extra_files=extra_files, "
		"hip_clang_launch=True)\n");
	assert_list(&b.includes, "i/*");
	assert_list(&b.extra_files, "");
	assert_list(&b.extra_if_there, "e.py f.py g.cuh");
	assert_int_equal(b.launches, AMD_KEEPS_LAUNCHES);
	assert_sure(&b);
}

static void launches_follow_the_call(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum amd_launches want;
		size_t doubts;
	} cases[] = {
		{LISTS ASK CALL, AMD_ASKS_HIP_INFO, 0},
		{LISTS "def is_hip_clang() -> bool:\n    return True\n" CALL, AMD_KEEPS_LAUNCHES,
			0},
		{LISTS "def is_hip_clang():\n    return False\n" CALL, AMD_REWRITES_LAUNCHES, 0},
		{LISTS "x.hipify(hip_clang_launch=True)\n", AMD_KEEPS_LAUNCHES, 0},
		{LISTS "x.hipify(hip_clang_launch=False)\n", AMD_REWRITES_LAUNCHES, 0},
		{LISTS "x.hipify(includes=includes)\n", AMD_REWRITES_LAUNCHES, 0},
		{LISTS "x.hipify(hip_clang_launch=guess())\n", AMD_REWRITES_LAUNCHES, 1},
		{LISTS "def is_hip_clang():\n    return guess()\n" CALL, AMD_REWRITES_LAUNCHES, 1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct amd_build b = read_ok(&a, cases[i].text);
		assert_int_equal(b.launches, cases[i].want);
		assert_int_equal(b.doubts.n, cases[i].doubts);
	}
}

static void edits_of_a_list_of_files(void **state)
{
	(void)state;
	ARENA(a);
	struct amd_build b = read_ok(&a,
		LISTS ASK "files = ['t/a.cu', 't/b.cmake']\n"
			  "def mend(line: str) -> str:\n    line = line.replace('old', 'new')\n"
			  "    line = line.replace(\n        'a' , \"b\")\n    return line\n"
			  "for name in files:\n    if os.path.exists(name):\n"
			  "        lines = [mend(line) for line in open(name)]\n" WRITE CALL);
	assert_sure(&b);
	assert_int_equal(b.edits.n, 1);
	const struct amd_edit *e = &b.edits.v[0];
	assert_list(&e->files, "t/a.cu t/b.cmake");
	assert_false(e->when_kept);
	assert_int_equal(e->replace.n, 2);
	assert_str(e->replace.v[0].from, "old");
	assert_str(e->replace.v[0].to, "new");
	assert_str(e->replace.v[1].from, "a");
	assert_str(e->replace.v[1].to, "b");
	assert_str(e->replace.v[1].file, "amd.py");
	assert_int_equal(e->replace.v[1].line, 16);
}

static void edits_of_one_file(void **state)
{
	(void)state;
	ARENA(a);
	struct amd_build b = read_ok(&a, LISTS ASK
		"if is_hip_clang():\n    name = 't/one.cmake'\n    if os.path.exists(name):\n"
		"        lines = [li.replace(' x ', ' y ') for li in open(name)]\n" WRITE
		"name = 't/two.cmake'\nif os.path.exists(name):\n"
		"        lines = [li.replace('A', 'B') for li in open(name)]\n" WRITE CALL);
	assert_sure(&b);
	assert_int_equal(b.edits.n, 2);
	assert_list(&b.edits.v[0].files, "t/one.cmake");
	assert_true(b.edits.v[0].when_kept);
	assert_str(b.edits.v[0].replace.v[0].to, " y ");
	assert_list(&b.edits.v[1].files, "t/two.cmake");
	assert_false(b.edits.v[1].when_kept);
}

#define COPY(guard, fail)                                                                          \
	LISTS ASK "ROOT = (\n    Path(__file__) / '..'\n)\n"                                       \
		  "buck_build = os.environ.get('FBCODE_BUILD_TOOL', '') == 'buck'\n"               \
		  "extra_files = ['e.py']\nsub = ROOT / 'm/inc/'\n"                                \
		  "if not buck_build:\n    more = sub / 'x.cuh'\n    if more.exists():\n"          \
		  "        extra_files.append(more.as_posix())\n" CALL guard                       \
		  "    a_src = sub / 'hip/x.cuh'\n    a_dst = sub / 'x_hip.cuh'\n" fail            \
		  "    shutil.copyfile(a_src, a_dst)\n"

static void the_copy_after_hipify(void **state)
{
	(void)state;
	ARENA(a);
	struct amd_build b = read_ok(&a,
		COPY("if not buck_build:\n", "    if not a_src.exists():\n        sys.exit(1)\n"));
	assert_sure(&b);
	assert_list(&b.extra_files, "e.py");
	assert_list(&b.extra_if_there, "m/inc/x.cuh");
	assert_str(b.copy.from, "m/inc/hip/x.cuh");
	assert_str(b.copy.to, "m/inc/x_hip.cuh");
	assert_true(b.copy.required);
	b = read_ok(&a, COPY("if not buck_build and (sub / 'x.cuh').exists():\n", ""));
	assert_str(b.copy.from, "m/inc/hip/x.cuh");
	assert_false(b.copy.required);
	setenv("FBCODE_BUILD_TOOL", "buck", 1);
	b = read_ok(&a, COPY("if not buck_build:\n", ""));
	unsetenv("FBCODE_BUILD_TOOL");
	assert_sure(&b);
	assert_int_equal(b.copy.from.n, 0);
	assert_int_equal(b.extra_if_there.n, 0);
}

static void code_that_is_not_understood_is_a_doubt(void **state)
{
	(void)state;
	static const char *const codes[] = {
		"includes += more\n",
		"includes.extend(more)\n",
		"includes[0] = 'x'\n",
		"ignores = [i for i in ignores if i]\n",
		"includes.append(other)\n",
		"subprocess.run(['git', 'apply', 'x'])\n",
		"shutil.copytree(a, b)\n",
		"for root, _, files in os.walk(top):\n    with open(root, 'w') as f:\n"
		"        f.write(text)\n",
		"for name in files:\n    with open(name, 'w') as f:\n        f.write(text)\n",
		"extra_files = make()\n",
		"extra_files.append(make())\n",
		"x.hipify(json_settings=3)\n",
		"text = text.replace(a, b)\n",
		"name = 'f'\nif name:\n    lines = [li.replace('a', b) for li in "
		"open(name)]\n" WRITE,
		"name = 'f'\nif name:\n    lines = [li.replace('a', 'b', 1) for li in "
		"open(name)]\n" WRITE,
		"name = 'f'\nif name:\n    lines = [li.replace(f'{a}', 'b') for li in "
		"open(name)]\n" WRITE,
		"name = 'f'\nif name:\n    lines = [re.sub('a', 'b', li).replace('c', 'd') for li "
		"in "
		"open(name)]\n" WRITE,
		"def mend(x):\n    if x:\n        x = x.replace('a', 'b')\n    return x + 'c'\n"
		"name = 'f'\nif name:\n    lines = [mend(li) for li in open(name)]\n" WRITE,
	};
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		ARENA(a);
		struct str text = str_fmt(&a, "%s%s", LISTS ASK CALL, codes[i]);
		struct amd_build b = read_ok(&a, text.p);
		if (!b.doubts.n)
			print_error("no doubt about: %s\n", codes[i]);
		assert_true(b.doubts.n > 0);
		assert_string_equal(b.doubts.v[0].id, "build-amd-code");
		assert_true(str_starts(b.doubts.v[0].message, S("line ")));
	}
}

static void appended_literals_are_taken(void **state)
{
	(void)state;
	ARENA(a);
	struct amd_build b = read_ok(&a, LISTS ASK "includes.append('c/*')\n" CALL);
	assert_list(&b.includes, "a/* b.txt c/*");
	assert_sure(&b);
}

static void a_script_with_a_folder_of_its_own_is_said_to_have_one(void **state)
{
	(void)state;
	ARENA(a);
	struct amd_build b = read_ok(&a, "NAME = '.pytorch-hipify.json'\n" LISTS ASK
					 "def stage(d):\n    shutil.rmtree(d)\n" CALL);
	assert_int_equal(b.doubts.n, 1);
	assert_true(str_contains(b.doubts.v[0].message, S("a folder build/hipify of its own")));
}

static void scripts_without_lists_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "no literal list of includes"},
		{"includes = find()\n", "no literal list of includes"},
		{"includes = ['a', b]\n", "no literal list of includes"},
		{"includes = ['a']\n", "no literal list of ignores"},
		{"includes = ['a'\n", "'[' is not closed"},
		{LISTS "x.hipify(ignores=ignores, extra_files=['a', '../../key'])\n",
			"names '../../key', which is outside of its tree"},
		{LISTS "x.hipify(ignores=ignores, extra_files=['/root/key'])\n",
			"names '/root/key'"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct amd_build b;
		struct torch_file f = {.path = S("amd.py"), .text = str_from(cases[i].text)};
		assert_err_says(amd_build_read(&a, &f, &b), E_TORCH, cases[i].says);
	}
	ARENA(a);
	struct amd_build b = read_ok(&a, "includes = ['a']\nignores = []\n");
	assert_int_equal(b.doubts.n, 1);
	assert_true(str_contains(b.doubts.v[0].message, S("no call of hipify()")));
}

static void hostile_scripts_take_no_time(void **state)
{
	(void)state;
	ARENA(a);
	BUF(text, &a);
	buf_add(&text, S(LISTS "files = ["));
	for (int i = 0; i < 50000; i++)
		buf_add(&text, S("'f',"));
	buf_add(&text, S("]\ndef mend(x):\n    y = ["));
	for (int i = 0; i < 50000; i++)
		buf_add(&text, S("1,"));
	buf_add(&text, S("]\n    return x.replace('a', 'b')\n"));
	for (int i = 0; i < 5000; i++)
		buf_add(&text, S("for n in files:\n    mend(mend(x)); open(n, 'w').write(x)\n"));
	buf_add(&text, S("x.hipify("));
	for (int i = 0; i < 5000; i++)
		buf_add(&text, S("hip_clang_launch=mend(),"));
	buf_add(&text, S(")\n"));
	struct amd_build b = read_ok(&a, text.p);
	assert_int_equal(b.edits.n, 0);
	assert_int_equal(b.doubts.n, 16);
	while (text.n <= 1 << 20)
		buf_add(&text, S("# more and more\n"));
	struct torch_file f = {.path = S("amd.py"), .text = buf_str(&text)};
	assert_err_says(amd_build_read(&a, &f, &b), E_TORCH, "larger than 1 MiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_found_in_both_spellings),
		cmocka_unit_test(launches_follow_the_call),
		cmocka_unit_test(edits_of_a_list_of_files),
		cmocka_unit_test(edits_of_one_file),
		cmocka_unit_test(the_copy_after_hipify),
		cmocka_unit_test(code_that_is_not_understood_is_a_doubt),
		cmocka_unit_test(appended_literals_are_taken),
		cmocka_unit_test(a_script_with_a_folder_of_its_own_is_said_to_have_one),
		cmocka_unit_test(scripts_without_lists_are_refused),
		cmocka_unit_test(hostile_scripts_take_no_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
