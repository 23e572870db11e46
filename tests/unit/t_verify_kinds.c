/* Wheels as they come in the wild, right ones and spoilt ones: each right wheel must have no
 * finding at all, each spoilt one exactly those it is spoilt for. Beside t_verify.c, which spoils
 * one field after the other, this looks at combinations: several tags, chains of libraries, modules
 * for many Pythons, and variants of targets. */
#include "fixture_verify.h"

#define LIB(path, ...)                                                                             \
	{                                                                                          \
		.name = (path), .content = fx_elf(&a, (struct fx_library){__VA_ARGS__})            \
	}
#define WHEEL_311 "demo-1.0-cp311-cp311-linux_x86_64.whl"
#define MODULE(n) "demo/_C.cpython-" #n "-x86_64-linux-gnu.so"

/* All ids, sorted, once each; those of info in brackets. */
static struct str verdict_of(struct arena *a, struct fx_wheel w, struct verify_options o)
{
	struct verdict v;
	struct str dir = test_dir(a), path = fx_write(a, dir, w);
	o.jobs = 1;
	assert_ok(verify_wheel(a, path, &o, &v));
	VEC_EACH (struct finding, f, &v.findings)
		assert_true(f->message.n > 0 && f->path.n > 0);
	test_dir_remove(dir);
	return ids(a, &v);
}

static void modules_for_several_pythons(void **state)
{
	(void)state;
	static const struct {
		const char *file, *modules[3], *want;
	} cases[] = {
		{.file = WHEEL_311, .modules = {MODULE(311), MODULE(312)}, .want = ""},
		{.file = WHEEL_311, .modules = {MODULE(310), MODULE(312)}, .want = "tag-python"},
		{.file = "demo-1.0-py3-none-linux_x86_64.whl",
			.modules = {MODULE(311), MODULE(312)},
			.want = "tag-python"},
		{.file = "demo-1.0-cp311.cp312-none-linux_x86_64.whl",
			.modules = {MODULE(311), MODULE(312)},
			.want = ""},
		{.file = "demo-1.0-py3-none-linux_x86_64.whl",
			.modules = {"demo/_C.abi3.so"},
			.want = ""},
		{.file = "demo-1.0-cp39-abi3-linux_x86_64.whl",
			.modules = {"demo/_C.abi3.so", "demo/libk.so"},
			.want = ""},
		{.file = "demo-1.0-cp39-abi3-linux_x86_64.whl",
			.modules = {"demo/_C.abi3.so", MODULE(311)},
			.want = ""},
		{.file = "demo-1.0-cp313-cp313t-linux_x86_64.whl",
			.modules = {"demo/_C.cpython-313t-x86_64-linux-gnu.so"},
			.want = ""},
		{.file = "demo-1.0-cp313-cp313t-linux_x86_64.whl",
			.modules = {MODULE(313)},
			.want = "tag-python"},
		{.file = "demo-1.0-py3-none-linux_x86_64.whl",
			.modules = {"demo/libk.so.1.2.3"},
			.want = ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct fx_wheel w = {.file = cases[i].file};
		for (size_t k = 0; cases[i].modules[k]; k++)
			w.files[k] =
				(struct fx_file)LIB(cases[i].modules[k], .needed = {"libc.so.6"});
		struct str got = verdict_of(&a, w, (struct verify_options){0});
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("%s with %s:\n", cases[i].file, cases[i].modules[0]);
		assert_str(got, cases[i].want);
	}
}

/* The module finds a library by its own path, that library the next one by its own. */
static void chains_of_libraries(void **state)
{
	(void)state;
	static const struct {
		const char *first, *second, *want;
	} cases[] = {
		{.first = "$ORIGIN/lib", .second = "$ORIGIN/../../demo.libs", .want = ""},
		{.first = "${ORIGIN}/./lib/", .second = "$ORIGIN/../../demo.libs/.", .want = ""},
		{.first = "/usr/lib/x:$ORIGIN/lib",
			.second = "$ORIGIN/../../demo.libs",
			.want = "rpath-absolute"},
		{.first = "$ORIGIN/lib",
			.second = "$ORIGIN/../demo.libs",
			.want = "needed-unreachable"},
		{.first = "$ORIGIN/lib", .second = NULL, .want = "needed-unreachable"},
		{.first = "lib",
			.second = "$ORIGIN/../../demo.libs",
			.want = "needed-unreachable rpath-relative"},
		{.first = "$ORIGIN/../../../demo/lib",
			.second = "$ORIGIN/../../demo.libs",
			.want = "needed-unreachable"},
		{.first = "$ORIGIN/lib:/tmp",
			.second = "/opt/rocm/lib:$ORIGIN/../../demo.libs",
			.want = "(rpath-rocm) rpath-writable"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct fx_wheel w = {.file = WHEEL_311,
			.files = {LIB(MODULE(311), .needed = {"liba.so.1"},
					  .runpath = cases[i].first),
				LIB("demo/lib/liba.so.1", .needed = {"libb.so.2", "libm.so.6"},
					.rpath = cases[i].second),
				LIB("demo.libs/libb.so.2", .soname = "libb.so.2")}};
		struct str got = verdict_of(&a, w, (struct verify_options){0});
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("case %zu:\n", i);
		assert_str(got, cases[i].want);
	}
}

/* RUNPATH wins: the loader ignores RPATH where there is one. */
static void runpath_wins_over_rpath(void **state)
{
	(void)state;
	ARENA(a);
	struct fx_wheel w = {.file = WHEEL_311,
		.files = {LIB("demo/x.so", .needed = {"liba.so"}, .rpath = "$ORIGIN/lib",
				  .runpath = "$ORIGIN/other"),
			LIB("demo/lib/liba.so", .soname = "liba.so")}};
	assert_str(verdict_of(&a, w, (struct verify_options){0}), "needed-unreachable");
	w.files[0] = (struct fx_file)LIB(
		"demo/x.so", .needed = {"liba.so"}, .rpath = "/tmp/x", .runpath = "$ORIGIN/lib");
	assert_str(verdict_of(&a, w, (struct verify_options){0}), "");
}

static void several_platform_tags_are_all_promises(void **state)
{
	(void)state;
	static const struct {
		const char *tags, *version, *want, *needed;
	} cases[] = {
		{.tags = "manylinux_2_17_x86_64.manylinux2014_x86_64",
			.version = "GLIBC_2.17",
			.want = ""},
		{.tags = "manylinux_2_17_x86_64.manylinux2014_x86_64",
			.version = "GLIBC_2.18",
			.want = "tag-glibc"},
		{.tags = "manylinux_2_34_x86_64.linux_x86_64", .version = "GLIBC_2.34", .want = ""},
		{.tags = "manylinux_2_34_x86_64.manylinux_2_34_aarch64",
			.version = "GLIBC_2.34",
			.want = "tag-machine"},
		{.tags = "manylinux1_x86_64", .version = "GLIBC_2.5", .want = ""},
		{.tags = "manylinux1_x86_64", .version = "GLIBC_2.6", .want = "tag-glibc"},
		{.tags = "manylinux2010_x86_64", .version = "GLIBC_2.12", .want = ""},
		{.tags = "manylinux2010_x86_64", .version = "GLIBC_2.13", .want = "tag-glibc"},
		{.tags = "musllinux_1_2_x86_64", .version = "GLIBC_2.5", .want = "tag-musl"},
		{.tags = "musllinux_1_2_x86_64", .needed = "libc.musl-x86_64.so.1", .want = ""},
		{.tags = "musllinux_1_2_aarch64", .needed = "libc.so", .want = "tag-machine"},
		{.tags = "musllinux_x86_64", .needed = "libc.so", .want = "tag-platform-unknown"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct fx_wheel w = {
			.file = str_fmt(&a, "demo-1.0-cp311-cp311-%s.whl", cases[i].tags).p,
			.files = {LIB("demo/x.so",
				.needed = {cases[i].needed ? cases[i].needed : "libc.so.6"},
				.versions = {cases[i].version})}};
		struct str got = verdict_of(&a, w, (struct verify_options){0});
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("%s with %s:\n", cases[i].tags, cases[i].version);
		assert_str(got, cases[i].want);
	}
}

static void metadata_of_real_projects(void **state)
{
	(void)state;
#define HEAD "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
	static const struct {
		const char *metadata, *want;
	} cases[] = {
		{.metadata = "metadata-version: 2.4\nNAME: De.Mo\nversion: 1.0\n",
			.want = "metadata-name"},
		{.metadata = "Metadata-Version: 2.1\r\nName: demo\r\nVersion: 1.0\r\n", .want = ""},
		{.metadata = HEAD "Version: 1.0\n", .want = "metadata-field"},
		{.metadata = HEAD "Classifier: A\nClassifier: B\n", .want = ""},
		{.metadata = "Metadata-Version: 2.1\nName: demo\nVersion: 1\n", .want = ""},
		{.metadata = "Metadata-Version: 2.1\nName: demo\nVersion: v1.0.0\n", .want = ""},
		{.metadata = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0+local\n",
			.want = "metadata-version"},
		{.metadata = "Metadata-Version: 2.1\nName:\nVersion: 1.0\n",
			.want = "metadata-field"},
		{.metadata = HEAD "Requires-Python: >=3.8,!=3.9.*,~=3.10\n", .want = ""},
		{.metadata = HEAD "Requires-Python: => 3\n", .want = "metadata-field"},
		{.metadata = HEAD "Provides-Extra: b\nRequires-Dist: a @ https://example.com/a.whl "
				  "; extra == 'b'\n",
			.want = ""},
		{.metadata = HEAD "Requires-Dist: a[b c]\n", .want = "metadata-requires"},
		{.metadata = HEAD "Requires-Dist: a (>1,<2)\nRequires-Dist: b>1,<2\n", .want = ""},
		{.metadata = HEAD "Requires-Dist: a ; python_version > \"3\n",
			.want = "metadata-requires"},
		{.metadata = HEAD "Requires-Dist: \n", .want = "metadata-requires"},
		{.metadata = HEAD "Summary: one\n two\n\tthree\n", .want = ""},
		{.metadata = HEAD "Summary: x\nSummary: y\n", .want = "metadata-field"},
		{.metadata = HEAD "License-File: a/b/COPYING\n", .want = "metadata-license-file"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct fx_wheel w = {.metadata = cases[i].metadata};
		struct str got = verdict_of(&a, w, (struct verify_options){0});
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("%s", cases[i].metadata);
		assert_str(got, cases[i].want);
	}
}

/* What one file lacks, another one does not make up for. */
static void every_file_must_serve_every_target(void **state)
{
	(void)state;
	static const struct {
		unsigned first, second; /* e_flags */
		const char *require, *want, *served;
	} cases[] = {
		{.first = 0x41,
			.second = 0x41,
			.require = "gfx1100",
			.want = "",
			.served = "gfx1100"},
		{.first = 0x41,
			.second = 0x4e,
			.require = "gfx1100",
			.want = "device-target-missing",
			.served = ""},
		/* a generic target serves the GPUs that it covers */
		{.first = 0x1000054,
			.second = 0x41,
			.require = "gfx1100",
			.want = "",
			.served = "gfx1100"},
		{.first = 0x1000054,
			.second = 0x36,
			.require = "gfx1030",
			.want = "device-target-missing",
			.served = ""},
		{.first = 0x63f,
			.second = 0x53f,
			.require = "gfx90a:xnack-",
			.want = "",
			.served = "gfx90a:xnack-"},
		{.first = 0x73f,
			.second = 0x63f,
			.require = "gfx90a:xnack-",
			.want = "device-target-missing",
			.served = ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct targets t = {0};
		struct strs words = str_split(&a, str_from(cases[i].require), ',');
		assert_ok(targets_parse(&a, &words, &t));
		struct fx_wheel w = {
			.files = {{.name = "demo/a.hsaco",
					  .content = fx_code_object(
						  &a, (struct fx_object){.flags = cases[i].first,
							      .kernels = 1})},
				{.name = "demo/b.hsaco",
					.content = fx_code_object(
						&a, (struct fx_object){.flags = cases[i].second,
							    .kernels = 1})}}};
		struct verify_options o = {.require = t, .jobs = 2};
		struct verdict v;
		struct str dir = test_dir(&a), path = fx_write(&a, dir, w);
		assert_ok(verify_wheel(&a, path, &o, &v));
		assert_int_equal(v.pass, *cases[i].want == 0);
		if (*cases[i].want)
			assert_string_equal(v.findings.v[0].id, cases[i].want);
		assert_str(str_join(&a, &v.served, S(",")), cases[i].served);
		test_dir_remove(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_for_several_pythons),
		cmocka_unit_test(chains_of_libraries),
		cmocka_unit_test(runpath_wins_over_rpath),
		cmocka_unit_test(several_platform_tags_are_all_promises),
		cmocka_unit_test(metadata_of_real_projects),
		cmocka_unit_test(every_file_must_serve_every_target),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("verify_kinds");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
