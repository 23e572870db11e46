/* What is wrong with few wheels only; the word for word of all of it is in tests/data/said/verify_more.txt. */
#include "fixture_verify.h"

static struct str big_text(struct arena *a, size_t n)
{
	char *p = arena_alloc(a, n);
	uint32_t x = 1;
	for (size_t i = 0; i < n; i++)
		p[i] = "0123456789abcdef"[(x = x * 1664525 + 1013904223) >> 28];
	return (struct str){p, n};
}

static struct str verdict(struct fx_wheel w, struct verify_options o)
{
	static struct arena a;
	struct str dir = test_dir(&a), got = verify(&a, fx_write(&a, dir, w), o);
	test_dir_remove(dir);
	return got;
}

static struct str says(struct fx_wheel w)
{
	return verdict(w, (struct verify_options){0});
}

#define FILES(...)                                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define FILE_OF(n, text)                                                                           \
	{                                                                                          \
		.name = (n), .content = (text)                                                     \
	}

static void folders_of_dist_info(void **state)
{
	(void)state;
	assert_str(says((struct fx_wheel){
			   .files = {A_FILE, FILE_OF("other-1.0.dist-info/METADATA", S("x"))}}),
		"dist-info-several");
	/* the one of the file's name is judged wherever it is; where there is none, the first */
	assert_str(says((struct fx_wheel){.metadata = "",
			   .files = {A_FILE, FILE_OF("b-1.dist-info/x", S("x")),
				   FILE_OF("a-1.dist-info/METADATA", S("x"))}}),
		"dist-info-several metadata-missing");
	assert_str(says((struct fx_wheel){.info = "demo-2.0.dist-info",
			   .files = {A_FILE, FILE_OF("b-1.dist-info/x", S("x"))}}),
		"dist-info-name dist-info-several metadata-missing record-missing wheel-missing");
	assert_str(says((struct fx_wheel){.file = "demo.whl",
			   .info = "demo-2.0.dist-info",
			   .files = {A_FILE, FILE_OF("b-1.dist-info/x", S("x"))}}),
		"dist-info-several metadata-missing record-missing wheel-missing wheel-name");
	assert_str(says((struct fx_wheel){.info = "demo-1.0.dist-inf", .files = {A_FILE}}),
		"dist-info-missing");
	/* a name without a version, and one that is said in another way */
	assert_str(says((struct fx_wheel){.info = "demo.dist-info"}), "dist-info-name");
	assert_str(says((struct fx_wheel){.info = "Demo-1.0.0.dist-info"}), "");
}

/* As pip does it: members of NAME.data go to one of five places, and what comes second replaces the first. */
static void places_of_installed_files(void **state)
{
	(void)state;
#define DATA(path) "demo-1.0.data/" path
	static const struct {
		const char *path, *text, *want;
	} cases[] = {
		{DATA("purelib/other.py"), "y", ""},
		{DATA("platlib/demo/__init__.py"), "y", "place-twice"},
		{DATA("purelib/demo/__init__.py"), "y", "place-twice"},
		{DATA("purelib/demo/__init__.py"), "x", ""},
		{DATA("data/demo/__init__.py"), "y", ""},
		{DATA("scripts/demo"), "y", ""},
		{DATA("headers/demo.h"), "y", ""},
		{DATA("lib/demo.h"), "y", "data-scheme"},
		{DATA("purelib"), "y", "data-scheme"},
		{"other.data/x", "y", "data-scheme"},
		{"x.data", "y", "data-scheme"},
		{"other-2.0.data/scripts/x", "y", "data-name"},
		{"demo-2.0.data/purelib/x.py", "y", "data-name"},
		{"Demo-1.0.data/purelib/x.py", "y", "data-name"},
		{"other.data/platlib/demo/__init__.py", "y", "data-name place-twice"},
		{"demo/other.data/x", "y", ""},
		{DATA("purelib/evil-1.0.dist-info/METADATA"), "y", "dist-info-several"},
		{DATA("purelib/demo-1.0.dist-info/entry_points.txt"), "y", "dist-info-several"},
		{DATA("purelib/demo-1.0.dist-info/METADATA"), "y", "dist-info-several place-twice"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str got = says((struct fx_wheel){
			.files = {FILE_OF("demo/__init__.py", S("x")),
				FILE_OF(cases[i].path, str_from(cases[i].text))}});
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("case %zu\n", i);
		assert_str(got, cases[i].want);
	}
}

static void fields_of_wheel(void **state)
{
	(void)state;
	ARENA(a);
	const char *const texts[] = {"no field\n", "Wheel-Version: 1\n", "Wheel-Version: 1.\n",
		"Wheel-Version: 1.x\n", "Wheel-Version: 0.1\n", "Wheel-Version: x.1\n"};
	const char *const ids[] = {
		"wheel-syntax", "wheel-version", "", "", "wheel-version", "wheel-version"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct str text =
			str_fmt(&a, "%sRoot-Is-Purelib: TRUE\nTag: py3-none-any\n", texts[i]);
		assert_str(says((struct fx_wheel){.wheel = text.p}), ids[i]);
	}
	/* Many tags: a name may have compressed sets of them, and lines add up. */
	for (unsigned n = 998; n <= 1001; n++) {
		BUF(b, &a);
		buf_fmt(&b, "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n");
		for (unsigned i = 1; i < n; i++)
			buf_fmt(&b, "Tag: py3-none-p%u\n", i);
		buf_char(&b, 0);
		assert_str(says((struct fx_wheel){.wheel = b.p}), "wheel-tags");
	}
}

static void fields_of_metadata(void **state)
{
	(void)state;
#define META(more) "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n" more
	static const struct {
		const char *metadata, *want;
	} cases[] = {
		{META("Requires-Python: >=3.8, <4\n"), ""},
		{META("Requires-Python: >=3.8, <\n"), "metadata-field"},
		{META("Summary: a\nsummary: b\n"), "metadata-field"},
		{META("License-Expression: MIT\nLicense-Expression: MIT\n"), "metadata-field"},
		{META("Classifier: a\nClassifier: b\n"), ""},
		{META("Provides-Extra: One\nRequires-Dist: a; extra == 'one'\n"), ""},
		{META("Requires-Dist: a; extra == 'one' or extra == \"two\"\nProvides-Extra: "
		      "one\n"),
			"metadata-extra"},
		{META("Requires-Dist: a; extra == 'one' and extra == 'one'\n"), "metadata-extra"},
		{META("Requires-Dist: a; 'x' == extra\n"), ""},
		{META("License-File: LICENSE\n"), "metadata-license-file"},
		{"Metadata-Version:\nName:\nVersion:\n", "metadata-field"},
		/* Python's parser sees no field at all here, and two there */
		{"\n" META(""), "metadata-field"},
		{META("Summary: a\rRequires-Dist: evil\n"), "metadata-syntax"},
		{"Metadata-Version: 2.1\r\nName: demo\r\nVersion: 1.0\r\n", ""},
		{"Name: demo\nVersion: 1.0\n", "metadata-field"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str got =
			says((struct fx_wheel){.metadata = cases[i].metadata, .files = {A_FILE}});
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("case %zu\n", i);
		assert_str(got, cases[i].want);
	}
	/* A license may lie in one of three places. */
	static const char *const places[] = {"demo-1.0.dist-info/licenses/L",
		"demo-1.0.dist-info/license_files/L", "demo-1.0.dist-info/L", "L",
		"demo-1.0.dist-info/license/L"};
	for (size_t i = 0; i < 5; i++)
		assert_str(says((struct fx_wheel){.metadata = META("License-File: L\n"),
				   .files = {FILE_OF(places[i], S("x"))}}),
			i < 3 ? "" : "metadata-license-file");
}

/* Projects that are required already are not proposed again. */
static void what_is_required_is_not_asked_for(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_file lib =
		FILE_OF("demo/lib.so", fx_elf(&a, (struct fx_library){.needed = {"libtorch.so"}}));
	struct fx_wheel w = {.file = X86, .files = {lib}};
	assert_str(says(w), "(needed-package)");
	w.metadata = META("Requires-Dist: Torch>=2\n");
	assert_str(says(w), "(needed-package)");
	w.metadata = META("Requires-Dist: torchvision\n");
	assert_str(says(w), "(needed-package)");
}

static void device_code_that_is_damaged(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry e = {.id = "hipv4-amdgcn-amd-amdhsa--gfx1100",
		.bytes = fx_code_object(&a, (struct fx_object){.kernels = 1})};
	struct str bundle = fx_bundle(&a, &e, 1, 4096), bad = str_dup(&a, bundle);
	put_le((char *)(uintptr_t)bad.p + 24, 5000, 8);
	const struct fx_host_section v = {.name = ".hip_fatbin", .bytes = bad};
	struct str lib = host_elf(&a, (struct fx_host){.v = &v, .n = 1});
	assert_str(says((struct fx_wheel){.file = X86, .files = {FILE_OF("demo/x.so", lib)}}),
		"device-broken");
	/* A section that is not in the file: of a library, and of what is none. */
	const struct fx_host_section good = {.name = ".hip_fatbin", .bytes = bundle};
	lib = host_elf(&a, (struct fx_host){.v = &good, .n = 1});
	size_t table = (size_t)le64(lib.p + 40);
	put_le((char *)(uintptr_t)lib.p + table + 64 + 24, 1 << 30, 8);
	assert_str(says((struct fx_wheel){.file = X86, .files = {FILE_OF("demo/x.so", lib)}}),
		"device-broken");
	assert_str(
		says((struct fx_wheel){.files = {FILE_OF("demo/x.hipfb", bad)}}), "device-broken");
}

/* Bills of materials are looked into when they are of a size that real ones have. */
static void bills_of_any_size(void **state)
{
	(void)state;
	ARENA(a);
	const char *const head = "{\"bomFormat\": \"CycloneDX\", \"metadata\": {\"component\": "
				 "{\"name\": \"demo\", \"version\": \"2\"}}}";
	for (unsigned i = 0; i < 3; i++) {
		size_t n = (4 << 20) - 1 + i;
		char *p = arena_alloc(&a, n);
		memset(p, ' ', n);
		memcpy(p, head, strlen(head));
		struct fx_wheel w = {
			.files = {A_FILE, FILE_OF("demo-1.0.dist-info/sboms/x.cdx.json",
						  ((struct str){p, n}))}};
		assert_str(says(w), i < 2 ? "sbom-subject" : "");
	}
	static const struct {
		const char *name, *text, *want;
	} cases[] = {
		{"x.json", "{\"spdxVersion\": \"SPDX-2.3\"}", ""},
		{"x.json", "{\"@context\": \"https://spdx.org\"}", ""},
		{"x.json", "{}", "sbom-syntax"},
		{"x.json", "[1]", "sbom-syntax"},
		{"x.xml", "[1]", ""},
		{"x.json/y", "[1]", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fx_wheel w = {
			.files = {
				FILE_OF(str_fmt(&a, "demo-1.0.dist-info/sboms/%s", cases[i].name).p,
					str_from(cases[i].text))}};
		assert_str(says(w), cases[i].want);
	}
	assert_str(says((struct fx_wheel){.files = {FILE_OF("sboms/x.json", S("[1]"))}}), "");
}

/* Names of modules; "abi3" goes with any Python that the tags let in. */
static void suffixes_of_modules(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *wheel, *file, *want;
	} cases[] = {
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "x.so", ""},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", ".so", ""},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "x.y.so", ""},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "x.cpython-310.so", "tag-python"},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "x.cpython-311.so", ""},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "x.cpython-311-a-b.so", ""},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "x.cpython-31.so", "tag-python"},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "x.cpython-310.so.1", ""},
		{"demo-1.0-py3-none-linux_x86_64.whl", "x.abi3.so", ""},
		{"demo-1.0-cp39-abi3-linux_x86_64.whl", "x.abi3.so", ""},
		{"demo-1.0-pp39-pypy39_pp73-linux_x86_64.whl", "x.abi3.so", "tag-python"},
		{"demo-1.0-cp310.cp311-none-linux_x86_64.whl", "x.cpython-311.so", ""},
		{"demo-1.0-cp310.cp311-none-linux_x86_64.whl", "x.cpython-312.so", "tag-python"},
		{"demo-1.0-cp310.cp311-cp310.cp311-linux_x86_64.whl", "x.cpython-311.so", ""},
	};
	struct str lib = fx_elf(&a, (struct fx_library){.soname = "s"});
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fx_wheel w = {.file = cases[i].wheel,
			.files = {FILE_OF(str_fmt(&a, "demo/%s", cases[i].file).p, lib)}};
		struct str got = says(w);
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("case %zu\n", i);
		assert_str(got, cases[i].want);
	}
}

/* More than 200 times as large, and more than 1 GiB: what it says is enough. */
static void ratios_that_no_wheel_has(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {(1 << 30) + 1, 1 << 30};
	for (unsigned i = 0; i < 2; i++) {
		ARENA(a);
		struct str dir = test_dir(&a), bytes;
		struct fx_wheel w = {.files = {FILE_OF("big", big_text(&a, 3 << 20))}};
		struct str path = fx_write(&a, dir, w);
		assert_ok(fs_read(&a, path, 1 << 24, &bytes));
		char *p = (char *)(uintptr_t)bytes.p;
		size_t central = str_rchr(bytes, '\1');
		while (memcmp(p + central, "PK\1\2", 4) != 0 ||
			memcmp(p + central + 46, "big", 3) != 0)
			central--;
		uint64_t others = 0;
		for (size_t at = central + 46 + 3; !memcmp(p + at, "PK\1\2", 4);
			at += 46 + le16(p + at + 28))
			others += le32(p + at + 24);
		put_le(p + central + 24, sizes[i] - others, 4);
		put_le(p + 22, sizes[i] - others, 4);
		assert_ok(fs_write(path, bytes, 0644));
		struct verdict v; /* not said: the size of the archive hangs on the compressor */
		assert_ok(verify_wheel(&a, path, &(struct verify_options){.jobs = 1}, &v));
		const struct finding *ratio = NULL;
		VEC_EACH (const struct finding, f, &v.findings)
			ratio = strcmp(f->id, "zip-ratio") == 0 ? f : ratio;
		assert_int_equal(ratio != NULL, i == 0);
		if (ratio)
			assert_true(str_ends(ratio->message, S(" bytes unpack to 1073741825")));
		test_dir_remove(dir);
	}
}

/* A large member is for two threads, and whoever waits does small ones: what is said is the same. */
static void what_is_found_does_not_depend_on_threads(void **state)
{
	(void)state;
	static const unsigned jobs[] = {1, 2, 3, 16};
	ARENA(a);
	const struct fx_object one = {.flags = 0x41, .kernels = 1}, none = {.flags = 0x36};
	const struct fx_entry v[] = {{.id = "host-x86_64-unknown-linux-gnu-", .bytes = S("")},
		{"hipv4-amdgcn-amd-amdhsa--gfx1100", fx_code_object(&a, one)},
		{"hipv4-amdgcn-amd-amdhsa--gfx1030", fx_code_object(&a, none)}};
	struct str code = fx_bundle(&a, v, 3, 8), big = big_text(&a, 12 << 20), want = {0}, path;
	memcpy((char *)(uintptr_t)big.p, code.p, code.n);
	struct fx_wheel w = {
		.files = {FILE_OF("demo/big", big), FILE_OF("demo/b", big_text(&a, 600000)),
			FILE_OF("demo/c.so", S("\177ELF\2\1\1")), FILE_OF("demo/d", S("d")),
			FILE_OF("demo/e", S("e")), FILE_OF("demo/f", big_text(&a, 5 << 20))}};
	struct strs require = {0};
	strs_add(&a, &require, S("gfx1030"));
	struct verify_options o = {0};
	assert_ok(targets_parse(&a, &require, &o.require));
	struct str dir = test_dir(&a);
	path = fx_write(&a, dir, w);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		struct verdict got;
		o.jobs = jobs[i];
		assert_ok(verify_wheel(&a, path, &o, &got));
		size_t before = said()->n;
		said_verdict(&a, &got);
		struct str text = str_dup(&a, str_sub(buf_str(said()), before, said()->n));
		want = i ? want : text;
		assert_true(str_eq(text, want));
	}
	test_dir_remove(dir);
}

/* Libraries that several need are told of once, with how many more. */
static void what_several_need_is_said_once(void **state)
{
	(void)state;
	ARENA(a);
	struct str one = fx_elf(&a, (struct fx_library){.needed = {"libnone.so"},
					    .runpath = "/build/a:/build/b"}),
		   two = fx_elf(&a, (struct fx_library){.needed = {"libnone.so", "libin.so"},
					    .runpath = "/build/a"});
	struct fx_wheel w = {.file = X86,
		.files = {FILE_OF("demo/a.so", one), FILE_OF("demo/b.so", two),
			FILE_OF("demo/c.so", two),
			FILE_OF("demo/libs/libin.so",
				fx_elf(&a, (struct fx_library){.soname = "libin.so"}))}};
	assert_str(says(w), "needed-missing needed-unreachable rpath-absolute");
}

/* ---- --run ---- */

struct emulator {
	const char *script;  /* behind "#!/bin/sh" */
	const char *configs; /* a name of one, of two with a blank between */
	const char *require; /* GPUs, or NULL */
	struct fx_file files[4];
};

/* What is said about running, "" for nothing. */
static struct str ran(struct arena *a, const struct emulator *e)
{
	struct str dir = test_dir(a), launcher = path_join(a, dir, S("bin/emulator")), name;
	struct str configs = path_join(a, dir, S("share/rocjitsu/configs")),
		   rest = str_from(e->configs);
	struct verify_options o = {.run = true, .launcher = launcher, .jobs = 1};
	struct fx_wheel w = {0};
	struct strs paths = {0}, gpus = {0};
	struct verdicts all = {0};
	BUF(b, a);
	memcpy(w.files, e->files, sizeof(e->files));
	assert_ok(fs_mkdirs(path_dir(launcher)));
	assert_ok(fs_mkdirs(configs));
	assert_ok(fs_write(launcher, str_fmt(a, "#!/bin/sh\n%s\n", e->script), 0755));
	while (str_next(&rest, ' ', &name))
		test_put(path_join(a, configs, name), "{}");
	if (e->require) {
		strs_add(a, &gpus, str_from(e->require));
		assert_ok(targets_parse(a, &gpus, &o.require));
	}
	strs_add(a, &paths, fx_write(a, dir, w));
	assert_ok(verify_wheels(a, &paths, &o, &all));
	VEC_EACH (const struct finding, f, &all.wheels.v[0].findings) {
		struct str text = str_replace(a, f->message, dir, S("DIR"));
		size_t in = str_find(text, S(" in ")); /* so many seconds */
		if (str_starts(str_from(f->id), S("run-")))
			buf_fmt(&b, "%s%c %s %.*s", b.n ? "\n" : "", "iwe"[f->severity], f -> id,
				STR(str_sub(text, 0, str_ends(text, S(" s")) ? in : text.n)));
	}
	test_dir_remove(dir);
	return buf_str(&b);
}

static void wheels_are_run_by_an_emulator(void **state)
{
	(void)state;
	ARENA(a);
	struct str code = fx_code_object(&a, (struct fx_object){.flags = 0x54c, .kernels = 1});
	const struct fx_file k = FILE_OF("demo/k.hsaco", code), init = A_FILE,
			     more = FILE_OF("b.py", S("x = 1\n")),
			     smoke = FILE_OF("demo-1.0.dist-info/rocsmith-smoke.py", S("x"));
	char many[400] = "";
	memset(many, '.', 300);
	struct str say300 = str_fmt(&a, "echo '%s'; exit 3", many),
		   say301 = str_fmt(&a, "echo 'X%s'; exit 3", many);
	const struct {
		struct emulator e;
		const char *want;
	} cases[] = {
		{{"exit 0", "gfx942.json", NULL, {k, init}},
			"i run-passed 'import demo' ran on an emulated gfx942"},
		{{"exit 0", "gfx942-cdna3.json", NULL, {k, init}},
			"i run-passed 'import demo' ran on an emulated gfx942"},
		{{"exit 0", "gfx9420.json gfx942.txt", NULL, {k, init}},
			"i run-skipped nothing was run: 'DIR/bin/emulator' has no configuration "
			"for "
			"gfx942"},
		{{"exit 0", "gfx942.json", NULL, {k, init, more}},
			"i run-passed 'import b, demo' ran on an emulated gfx942"},
		{{"exit 0", "gfx942.json", NULL, {k}}, "i run-skipped nothing was run: there is no "
						       "module at the top of the wheel"},
		{{"exit 0", "gfx942.json", NULL, {init}},
			"i run-skipped nothing was run: there is no device code"},
		{{"exit 0", "gfx942.json", NULL, {k, smoke}},
			"i run-passed 'rocsmith-smoke.py' ran on an emulated gfx942"},
		/* what is run, and how */
		{{"echo \"$1 ${2##*/} $3 $4 $5 $6 $# $PYTHONDONTWRITEBYTECODE $AMD_LOG_LEVEL\"; "
		  "[ -f \"$PYTHONPATH/demo/__init__.py\" ] && [ -z \"$(ls)\" ]; exit 7",
			 "gfx942-b.json gfx942-a.json", NULL, {k, init}},
			"e run-failed 'import demo' failed on an emulated gfx942 (status 7): "
			"--config gfx942-a.json -- python3 -c import demo 6 1 1"},
		{{"echo \"$4 ${5##*/} $#\"; exit 7", "gfx942.json", NULL, {k, smoke}},
			"e run-failed 'rocsmith-smoke.py' failed on an emulated gfx942 (status 7): "
			"python3 rocsmith-smoke.py 5"},
		{{say300.p, "gfx942.json", NULL, {k, init}},
			str_fmt(&a,
				"e run-failed 'import demo' failed on an emulated gfx942 (status "
				"3): %s",
				many)
				.p},
		{{say301.p, "gfx942.json", NULL, {k, init}},
			str_fmt(&a,
				"e run-failed 'import demo' failed on an emulated gfx942 (status "
				"3): %s",
				many)
				.p},
		{{"echo one; echo two >&2; exit 1", "gfx942.json", NULL, {k, init}},
			"e run-failed 'import demo' failed on an emulated gfx942 (status 1): "
			"one\ntwo"},
		{{"exit 0", "gfx942.json gfx1100.json", "gfx942", {k, init}},
			"i run-passed 'import demo' ran on an emulated gfx942"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(tmp);
		assert_str(ran(&tmp, &cases[i].e), cases[i].want);
	}
}

/* Texts of the dist-info folder are read up to 4 MiB, and what RECORD has for each member more. */
static void texts_have_a_limit(void **state)
{
	(void)state;
	static const char *const names[] = {"demo-1.0.dist-info/METADATA",
		"demo-1.0.dist-info/WHEEL", "demo-1.0.dist-info/RECORD"};
	size_t most = 4 << 20;
	for (size_t i = 0; i < 3; i++)
		most += 2 * strlen(names[i]) + 128;
	for (size_t n = most; n <= most + 1; n++) {
		ARENA(a);
		char *p = arena_alloc(&a, n + 1);
		const char *const head = META("\n");
		memset(p, 'd', n);
		memcpy(p, head, strlen(head));
		assert_str(says((struct fx_wheel){.metadata = p}), n == most ? "" : "zip-content");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_of_dist_info),
		cmocka_unit_test(places_of_installed_files),
		cmocka_unit_test(fields_of_wheel),
		cmocka_unit_test(fields_of_metadata),
		cmocka_unit_test(what_is_required_is_not_asked_for),
		cmocka_unit_test(device_code_that_is_damaged),
		cmocka_unit_test(bills_of_any_size),
		cmocka_unit_test(suffixes_of_modules),
		cmocka_unit_test(ratios_that_no_wheel_has),
		cmocka_unit_test(what_is_found_does_not_depend_on_threads),
		cmocka_unit_test(what_several_need_is_said_once),
		cmocka_unit_test(wheels_are_run_by_an_emulator),
		cmocka_unit_test(texts_have_a_limit),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("verify_more");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
