/* What verify says, word by word: of which member, what is wrong, and what helps; and how far it tells that
 * it is while it reads. The ids alone are for the other t_verify files. */
#include "fixture_verify.h"

#include "base/progress.h"

/* A line for each finding: "id member: message", then its fixes. The wheel's folder is left out. */
static struct str told(struct arena *a, struct str path, struct verify_options o)
{
	struct verdict v;
	BUF(b, a);
	o.jobs = 1;
	assert_ok(verify_wheel(a, path, &o, &v));
	VEC_EACH (const struct finding, f, &v.findings) {
		buf_fmt(&b, "%s %.*s: %.*s\n", f->id, STR(path_base(f->path)), STR(f->message));
		VEC_EACH (const struct str, fix, &f->fix)
			buf_fmt(&b, "- %.*s\n", STR(*fix));
	}
	struct str dir = str_fmt(a, "%.*s/", STR(path_dir(path)));
	return str_replace(a, buf_str(&b), dir, S(""));
}

#define RETAG(tag, file) "- rocsmith wheel retag --platform-tag " tag " " file "\n"

static void tags_are_said_with_the_right_one(void **state)
{
	(void)state;
#define ANY "demo-1.0-py3-none-any.whl"
#define WIN "demo-1.0-cp311-cp311-win_amd64.whl"
#define MANY17 "demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
#define SO(python) "x.cpython-" python "-x86_64-linux-gnu.so"
	const struct {
		const char *file, *name, *want;
		struct fx_library l;
	} cases[] = {
		{ANY, NULL,
			"tag-any lib.so: machine code, but the platform tag is 'any'\n" RETAG(
				"manylinux_2_5_x86_64", ANY),
			{0}},
		{ANY, "demo/" SO("311"),
			"tag-python " SO(
				"311") ": it is a module for cp311, the wheel is for py3-none\n"
				       "tag-any " SO("311") ": machine code, but the platform tag "
							    "is 'any'\n" RETAG(
								    "manylinux_2_5_x86_64", ANY),
			{0}},
		{MANY, NULL, "", {.versions = {"GLIBC_2.28"}}},
		{MANY, NULL,
			"tag-glibc lib.so: it needs glibc 2.29, the tag promises to run with "
			"2.28\n" RETAG("manylinux_2_29_x86_64", MANY),
			{.versions = {"GLIBC_2.29"}}},
		{MANY17, NULL,
			"tag-symbols " MANY17 ": GLIBCXX_3.4.25 of 'demo/lib.so' came with "
			"distributions of glibc 2.31, the tag says 2.17\n" RETAG(
				"manylinux_2_31_x86_64", MANY17),
			{.versions_of = "libstdc++.so.6", .versions = {"GLIBCXX_3.4.25"}}},
		{MANY, NULL,
			"tag-symbols " MANY ": GLIBC_PRIVATE of 'demo/lib.so' is in no manylinux "
			"policy\n" RETAG("linux_x86_64", MANY),
			{.versions = {"GLIBC_PRIVATE"}}},
		{MANY, NULL,
			"tag-library " MANY ": tagged manylinux, but PEP 600 does not know "
			"libamdhip64.so.7 (with these allowed, it is manylinux_2_5)\n" RETAG(
				"linux_x86_64",
				MANY) "needed-rocm lib.so: needs 'libamdhip64.so.7', which ROCm "
				      "must provide\n",
			{.needed = {"libamdhip64.so.7"}}},
		{MANY, NULL,
			"tag-machine lib.so: it is for aarch64 (ELF machine 183), the tag says "
			"x86_64\n",
			{.machine = 183}},
		{MANY, NULL,
			"tag-machine " MANY ": 'demo/lib.so' is for a processor (ELF machine 99) "
			"without a wheel tag\n",
			{.machine = 99}},
		{WIN, NULL,
			"tag-platform-unknown " WIN ": the platform tag 'win_amd64' is not "
			"checked\n",
			{0}},
		{X86, "demo/" SO("312"),
			"tag-python " SO("312") ": it is a module for cp312, the wheel is for "
						"cp311-cp311\n",
			{0}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct str dir = test_dir(&a);
		struct fx_wheel w = {.file = cases[i].file,
			.files = {{.name = cases[i].name ? cases[i].name : "demo/lib.so",
				.content = fx_elf(&a, cases[i].l)}}};
		struct str path = fx_write(&a, dir, w);
		assert_str(told(&a, path, (struct verify_options){0}), cases[i].want);
		test_dir_remove(dir);
	}
}

/* What is too large for memory is looked at through a file, or where it lies. */
static void large_libraries_are_looked_at_too(void **state)
{
	(void)state;
	static const size_t sizes[] = {(4 << 20) - 1, 4 << 20, (4 << 20) + 1, 5000000};
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		ARENA(a);
		BUF(b, &a);
		struct str dir = test_dir(&a);
		uint32_t x = 1;
		buf_add(&b, fx_elf(&a, (struct fx_library){.versions = {"GLIBC_2.29"}}));
		size_t n = sizes[i / 2], from = b.n;
		char *rest = buf_space(&b, n - from);
		for (size_t k = 0; k < n - from; k++) { /* zeros are deflated, noise is stored */
			x = x * 1664525 + 1013904223;
			rest[k] = (char)(i % 2 ? x >> 24 : 0);
		}
		struct fx_wheel w = {
			.file = MANY, .files = {{.name = "demo/lib.so", .content = buf_str(&b)}}};
		assert_str(told(&a, fx_write(&a, dir, w), (struct verify_options){0}),
			"tag-glibc lib.so: it needs glibc 2.29, the tag promises to run with "
			"2.28\n" RETAG("manylinux_2_29_x86_64", MANY));
		test_dir_remove(dir);
	}
}

static void a_tag_without_machine_code_is_said(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct str path = fx_write(&a, dir, (struct fx_wheel){.file = X86, .files = {A_FILE}});
	assert_str(told(&a, path, (struct verify_options){0}),
		"tag-no-machine-code " X86
		": tagged 'linux_x86_64', but there is no machine code for the host\n");
	test_dir_remove(dir);
}

/* The command for the name mends WHEEL, too: none tells to write a tag there that is wrong. */
static void a_wrong_tag_in_name_and_wheel_has_one_remedy(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct fx_file lib = {.name = "demo/lib.so",
		.content = fx_elf(&a, (struct fx_library){.versions = {"GLIBC_2.29"}})};
	struct fx_wheel w = {.file = MANY,
		.wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: "
			 "cp311-cp311-linux_x86_64\n",
		.files = {lib}};
	assert_str(told(&a, fx_write(&a, dir, w), (struct verify_options){0}),
		"wheel-tags WHEEL: it says cp311-cp311-linux_x86_64, the file name "
		"cp311-cp311-manylinux_2_28_x86_64\n" RETAG("manylinux_2_29_x86_64",
			MANY) "tag-glibc lib.so: it needs glibc 2.29, the tag promises to run with "
			      "2.28\n" RETAG("manylinux_2_29_x86_64", MANY));
	test_dir_remove(dir);
}

/* One line for each library that is needed, however many need it, with what helps. */
static void needed_libraries_are_said_once(void **state)
{
	(void)state;
#define MINE "libmine-1.so"
#define MISSING(needs, who)                                                                        \
	"needed-missing a.so: needs '" MINE "'" needs ", which neither the wheel nor " who         \
	" provides\n- put the library into the wheel and link with RPATH $ORIGIN\n"                \
	"- if the machine brings it, add: --allow " MINE "\n"
#define TRY_SDK "- if an SDK of 'rocsmith sdk list' has it: name it with --sdk\n"
	static const struct {
		const char *needed, *allow, *sdk, *want;
		unsigned n; /* libraries that need it */
		bool stage;
	} cases[] = {
		{"libc.so.6", "", "", "", 3, false},
		{MINE, "", "", MISSING("", "PEP 600") TRY_SDK, 1, false},
		{MINE, "", "", MISSING(" (and by 1 more)", "PEP 600") TRY_SDK, 2, false},
		{MINE, "", "", MISSING(" (and by 2 more)", "PEP 600") TRY_SDK, 3, false},
		{MINE, "", "rocm", MISSING("", "the SDK"), 1, false},
		{MINE, "", "", MISSING("", "PEP 600"), 1, true},
		{MINE, "libmine*", "",
			"needed-allowed a.so: needs '" MINE "' (and by 1 more), which --allow "
			"libmine* lets come from outside\n",
			2, false},
		{"libamdhip64.so.7", "", "",
			"needed-rocm a.so: needs 'libamdhip64.so.7' (and by 1 more), which ROCm "
			"must provide\n",
			2, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct str dir = test_dir(&a);
		struct fx_wheel w = {.file = X86};
		struct verify_options o = {
			.sdk = str_from(cases[i].sdk), .takes_no_sdk = cases[i].stage};
		struct fx_library l = {.needed = {cases[i].needed}};
		static const char *const names[] = {"demo/a.so", "demo/b.so", "demo/c.so"};
		if (cases[i].allow[0])
			strs_add(&a, &o.allow, str_from(cases[i].allow));
		for (unsigned k = 0; k < cases[i].n; k++)
			w.files[k] = (struct fx_file){.name = names[k], .content = fx_elf(&a, l)};
		assert_str(told(&a, fx_write(&a, dir, w), o), cases[i].want);
		test_dir_remove(dir);
	}
}

/* ---- device code ---- */

#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target

/* What is said of a wheel with this bundle, of which code for a GPU is required. */
static struct str told_of_bundle(struct arena *a, struct str bundle, const char *require)
{
	struct str dir = test_dir(a);
	struct fx_wheel w = {.files = {{.name = "k.hipfb", .content = bundle}}};
	struct verify_options o = {0};
	struct strs list = {0};
	strs_add(a, &list, str_from(require));
	assert_ok(targets_parse(a, &list, &o.require));
	struct str ret = told(a, fx_write(a, dir, w), o);
	test_dir_remove(dir);
	return ret;
}

static void targets_are_said_by_name(void **state)
{
	(void)state;
	static const struct {
		const char *require, *want;
	} cases[] = {
		{"gfx1100", ""},
		{"gfx90a", "device-fewer-kernels k.hipfb: gfx90a lacks 1 of 2 kernels that others "
			   "have\n"
			   "- build it with --gpu gfx90a\n"},
		{"gfx942", "device-target-missing k.hipfb: no kernel for gfx942; it has gfx90a, "
			   "gfx1100\n"
			   "- build it with --gpu gfx942\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		const struct fx_entry e[] = {
			{.id = ID("gfx90a"),
				.bytes = fx_code_object(
					&a, (struct fx_object){.flags = 0x53f, .kernels = 1})},
			{.id = ID("gfx1100"),
				.bytes = fx_code_object(
					&a, (struct fx_object){.flags = 0x41, .kernels = 2})},
			{.id = ID("gfx942"),
				.bytes = fx_code_object(&a, (struct fx_object){.flags = 0x54c})},
			{.id = ID("gfx1201"),
				.bytes = fx_code_object(&a, (struct fx_object){.flags = 0x4e})}};
		assert_str(told_of_bundle(&a, fx_bundle(&a, e, 4, 4096), cases[i].require),
			str_fmt(&a,
				"device-no-kernel k.hipfb: 2 code objects without any kernel: "
				"gfx942, gfx1201\n%s",
				cases[i].want)
				.p);
	}
}

/* HIP takes SPIR-V where a bundle has nothing else for the GPU. */
static void spirv_stands_in(void **state)
{
	(void)state;
	static const struct {
		const char *require, *want;
	} cases[] = {
		{"gfx90a", ""},
		{"gfx942", "device-spirv k.hipfb: gfx942 has SPIR-V in the place of machine code, "
			   "which HIP compiles when it is loaded, from ROCm 6.4 on\n"
			   "- build it with --gpu gfx942\n"},
		{"gfx1100", "device-fewer-kernels k.hipfb: gfx1100 lacks 1 of 2 kernels that "
			    "others have\n"
			    "- build it with --gpu gfx1100\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		const struct fx_entry e[] = {
			{.id = ID("gfx90a"),
				.bytes = fx_code_object(
					&a, (struct fx_object){.flags = 0x53f, .kernels = 2})},
			{.id = ID("gfx1100"),
				.bytes = fx_code_object(
					&a, (struct fx_object){.flags = 0x41, .kernels = 1})},
			{.id = "hipv4-spirv64-amd-amdhsa--amdgcnspirv",
				.bytes = fx_spirv(&a, (const char *const[]){"one", "two", NULL})},
		};
		assert_str(told_of_bundle(&a, fx_bundle(&a, e, 3, 4096), cases[i].require),
			cases[i].want);
	}
}

/* ---- progress ---- */

static struct {
	struct arena *a;
	struct str begun;
	uint64_t total, done;
	unsigned ended;
	struct strs names;
} heard;

static struct progress *begin(struct str verb, struct str object, enum unit unit, uint64_t total)
{
	assert_int_equal(unit, UNIT_BYTES);
	heard.begun = str_fmt(heard.a, "%.*s %.*s", STR(verb), STR(path_base(object)));
	heard.total = total;
	return (struct progress *)&heard;
}

static void add(struct progress *p, uint64_t done, struct str now)
{
	(void)p;
	heard.done += done;
	strs_put(heard.a, &heard.names, str_dup(heard.a, path_base(now)));
}

static void end(struct progress *p)
{
	assert_ptr_equal(p, &heard);
	heard.ended++;
}

/* What takes longest comes first, so that the last thread does not work alone; small ones may be hashed beside it. */
static void the_largest_member_comes_first_and_all_bytes_count(void **state)
{
	(void)state;
	static const struct progress_sink sink = {.begin = begin, .add = add, .end = end};
	ARENA(a);
	struct str dir = test_dir(&a);
	const struct fx_wheel w = {.files = {{.name = "demo/two", .content = S("22")},
					   {.name = "demo/five", .content = S("55555")},
					   {.name = "demo/too", .content = S("22")},
					   {.name = "demo/none", .content = S("")},
					   {.name = "demo/six", .content = S("666666")}}};
	struct str path = fx_write(&a, dir, w);
	struct zip z;
	uint64_t total = 0;
	assert_ok(zip_open(&a, path, NULL, &z));
	VEC_EACH (const struct zip_member, m, &z.members)
		total += m->size;
	zip_close(&z);
	heard.a = &a;
	progress_listen(&sink);
	assert_str(told(&a, path, (struct verify_options){0}), "");
	progress_listen(NULL);
	assert_str(heard.begun, "Verifying demo-1.0-py3-none-any.whl");
	assert_int_equal(heard.total, total);
	assert_int_equal(heard.done, total);
	assert_int_equal(heard.ended, 1);
	assert_str(heard.names.v[0], "RECORD");
	assert_int_equal(heard.names.n, 7);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_are_said_with_the_right_one),
		cmocka_unit_test(large_libraries_are_looked_at_too),
		cmocka_unit_test(a_tag_without_machine_code_is_said),
		cmocka_unit_test(a_wrong_tag_in_name_and_wheel_has_one_remedy),
		cmocka_unit_test(needed_libraries_are_said_once),
		cmocka_unit_test(targets_are_said_by_name),
		cmocka_unit_test(spirv_stands_in),
		cmocka_unit_test(the_largest_member_comes_first_and_all_bytes_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
