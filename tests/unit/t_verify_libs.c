/* Verdicts on wheels with libraries: tags that are not true, what is needed and where it comes from, search
 * paths, machine code that is none. */
#include "fixture_verify.h"

static struct str wheel_with(
	struct arena *a, struct str dir, const char *file, const char *name, struct fx_library l)
{
	struct fx_wheel w = {.file = file, .files = {{.name = name, .content = fx_elf(a, l)}}};
	return fx_write(a, dir, w);
}

struct lib_case {
	const char *file, *name, *want;
	struct fx_library l;
};

static void check_libs(const struct lib_case *cases, size_t n, struct verify_options o)
{
	for (size_t i = 0; i < n; i++) {
		ARENA(a);
		const struct lib_case *c = &cases[i];
		struct str dir = test_dir(&a), path = wheel_with(&a, dir, c->file ? c->file : X86,
						       c->name ? c->name : "demo/lib.so", c->l);
		struct str got = verify(&a, path, o);
		if (!str_eq(got, str_from(c->want)))
			print_error("case %zu:\n", i);
		assert_str(got, c->want);
		test_dir_remove(dir);
	}
}

#define CHECK_LIBS(cases, ...)                                                                     \
	check_libs(                                                                                \
		(cases), sizeof(cases) / sizeof((cases)[0]), (struct verify_options){__VA_ARGS__})

static void platform_tags_must_be_true(void **state)
{
	(void)state;
	const struct lib_case cases[] = {
		{.want = ""},
		{.file = "demo-1.0-py3-none-any.whl", .want = "tag-any"},
		{.file = "demo-1.0-cp311-cp311-linux_aarch64.whl", .want = "tag-machine"},
		{.l = {.machine = 183}, .want = "tag-machine"},
		{.l = {.machine = 183},
			.file = "demo-1.0-cp311-cp311-linux_aarch64.whl",
			.want = ""},
		{.l = {.machine = 99}, .want = "tag-machine"},
		{.file = "demo-1.0-cp311-cp311-win_amd64.whl", .want = "tag-platform-unknown"},
		{.file = MANY, .want = ""},
		{.file = MANY, .l = {.versions = {"GLIBC_2.2.5", "GLIBC_2.28"}}, .want = ""},
		{.file = MANY, .l = {.versions = {"GLIBC_2.29"}}, .want = "tag-glibc"},
		{.file = MANY, .l = {.versions = {"GLIBC_ABI_DT_RELR"}}, .want = "tag-glibc"},
		{.file = MANY, .l = {.versions = {"GLIBC_PRIVATE"}}, .want = "tag-symbols"},
		{.file = MANY,
			.l = {.versions_of = "libstdc++.so.6", .versions = {"GLIBCXX_3.4.24"}},
			.want = ""},
		{.file = MANY,
			.l = {.versions_of = "libstdc++.so.6", .versions = {"GLIBCXX_3.4.25"}},
			.want = "tag-symbols"},
		{.file = MANY,
			.l = {.versions_of = "libstdc++.so.6", .versions = {"CXXABI_1.3.12"}},
			.want = "tag-symbols"},
		{.file = MANY,
			.l = {.versions_of = "libstdc++.so.6", .versions = {"GLIBCXX_3.4.99"}},
			.want = "tag-symbols"},
		{.file = MANY,
			.l = {.versions_of = "libgcc_s.so.1",
				.versions = {"GCC_3.0", "GCC_12.0.0"}},
			.want = "tag-symbols"},
		{.l = {.versions = {"GLIBC_2.99"}}, .want = "tag-here"},
		{.file = "demo-1.0-cp311-cp311-manylinux2014_x86_64.whl",
			.l = {.versions = {"GLIBC_2.17"}},
			.want = ""},
		{.file = "demo-1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_34_x86_64.whl",
			.l = {.versions = {"GLIBC_2.34"}},
			.want = "tag-glibc"},
		{.file = MANY,
			.l = {.needed = {"libamdhip64.so.7"}},
			.want = "(needed-rocm) tag-library"},
	};
	CHECK_LIBS(cases, .jobs = 1);
}

/* Whatever the tag says; libraries beyond PEP 600 do not count. */
static void a_policy_limits_symbol_versions(void **state)
{
	(void)state;
	const struct lib_case cases[] = {
		{.l = {.versions = {"GLIBC_2.2.5", "GLIBC_2.28"}}, .want = ""},
		{.l = {.needed = {"libamdhip64.so.7"}, .versions = {"GLIBC_2.28"}},
			.want = "(needed-rocm)"},
		{.l = {.versions = {"GLIBC_2.29"}}, .want = "tag-policy"},
		{.l = {.versions = {"GLIBC_PRIVATE"}}, .want = "tag-policy"},
		{.l = {.versions_of = "libstdc++.so.6", .versions = {"GLIBCXX_3.4.25"}},
			.want = "tag-policy"},
		{.file = "demo-1.0-cp311-cp311-manylinux_2_34_x86_64.whl",
			.l = {.versions = {"GLIBC_2.34"}},
			.want = "tag-policy"},
	};
	CHECK_LIBS(cases, .jobs = 1, .policy = 28);
}

static void policies_have_names(void **state)
{
	(void)state;
	ARENA(a);
	unsigned minor;
	assert_ok(verify_policy(&a, S("manylinux_2_28"), &minor));
	assert_int_equal(minor, 28);
	assert_ok(verify_policy(&a, S("manylinux_2_34_x86_64"), &minor));
	assert_int_equal(minor, 34);
	assert_ok(verify_policy(&a, S("manylinux2014"), &minor));
	assert_int_equal(minor, 17);
	assert_err(verify_policy(&a, S("linux_x86_64"), &minor), E_USAGE);
	assert_err(verify_policy(&a, S("manylinux_2_"), &minor), E_USAGE);
	assert_err(verify_policy(&a, S("manylinux_2_28_riscv64"), &minor), E_USAGE);
	assert_ok(verify_policy(&a, S("manylinux_2_28_x86_64"), &minor));
	assert_err(verify_policy(&a, S("musllinux_1_2"), &minor), E_USAGE);
}

static void python_tags_must_fit_the_modules(void **state)
{
	(void)state;
#define SO311 "demo/_C.cpython-311-x86_64-linux-gnu.so"
	const struct lib_case cases[] = {
		{.name = SO311, .want = ""},
		{.name = "demo/_C.cpython-312-x86_64-linux-gnu.so", .want = "tag-python"},
		{.name = "demo/_C.abi3.so", .want = ""},
		{.name = "demo/_C.abi3.so",
			.file = "demo-1.0-cp38-abi3-linux_x86_64.whl",
			.want = ""},
		{.name = SO311,
			.file = "demo-1.0-cp38-abi3-linux_x86_64.whl",
			.want = "tag-python"},
		{.name = SO311, .file = "demo-1.0-py3-none-linux_x86_64.whl", .want = "tag-python"},
		{.name = SO311, .file = "demo-1.0-cp311-none-linux_x86_64.whl", .want = ""},
		{.name = SO311,
			.file = "demo-1.0-cp310.cp311-cp310.cp311-linux_x86_64.whl",
			.want = ""},
		{.name = "demo/_C.so", .file = "demo-1.0-py3-none-linux_x86_64.whl", .want = ""},
	};
	CHECK_LIBS(cases, .jobs = 1);
}

static void needed_libraries_have_reasons(void **state)
{
	(void)state;
	const struct lib_case cases[] = {
		{.l = {.needed = {"libc.so.6", "libstdc++.so.6", "ld-linux-x86-64.so.2"}},
			.want = ""},
		{.l = {.needed = {"libfoo.so.3"}}, .want = "needed-missing"},
		{.l = {.needed = {"libamdhip64.so.6", "librocblas.so.4", "libMIOpen.so.1",
			       "libhiprand.so.1", "librccl.so.1"}},
			.want = "(needed-rocm)"},
		{.l = {.needed = {"libtorch.so", "libc10_hip.so", "libpython3.11.so.1.0"}},
			.want = "(needed-package)"},
		{.l = {.needed = {"libcudart.so.12", "libcublas.so.12"}}, .want = "needed-cuda"},
		{.l = {.needed = {"libsycl.so.8", "libsvml.so"}}, .want = "needed-oneapi"},
		{.l = {.needed = {"libnuma.so.1"}}, .want = "(needed-allowed)"},
		{.l = {.needed = {"libgomp.so.1", "libgfortran.so.5"}}, .want = "needed-compiler"},
		{.l = {.needed = {"libgomp.so.1"}},
			.file = MANY,
			.want = "needed-missing tag-library"},
		{.l = {.needed = {"libgomp.so.1"}}, /* one of its tags is a promise */
			.file = "demo-1.0-cp311-cp311-linux_x86_64.manylinux_2_28_x86_64.whl",
			.want = "needed-missing tag-library"},
		{.l = {.undefined = "__hipRegisterFatBinary"}, .want = "needed-unstated"},
		{.l = {.undefined = "__hipRegisterFatBinary", .needed = {"libamdhip64.so.6"}},
			.want = "(needed-rocm)"},
		{.l = {.undefined = "hipMalloc"}, .want = ""},
		{.l = {.textrel = true}, .want = "elf-textrel"},
	};
	struct str allow[] = {S("libnuma.so.*")};
	CHECK_LIBS(cases, .allow = {.v = allow, .n = 1});
}

static void an_sdk_provides_what_is_in_its_folders(void **state)
{
	(void)state;
	ARENA(a);
	struct str top = test_dir(&a), dir = path_join(&a, top, S("lib"));
	static const char *const there[] = {"libamdhip64.so.6", "libprotobuf.so.32", "libtorch.so"};
	assert_ok(fs_mkdirs(path_join(&a, dir, S("libfolder.so.1"))));
	assert_ok(fs_write(path_join(&a, top, S("libup.so.1")), S(""), 0644));
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		assert_ok(fs_write(path_join(&a, dir, str_from(there[i])), S(""), 0644));
	const struct lib_case cases[] = {
		{.l = {.needed = {"libprotobuf.so.32", "libamdhip64.so.6"}},
			.want = "(needed-sdk)"},
		{.l = {.needed = {"libprotobuf.so.31"}}, .want = "needed-missing"},
		/* ROCm's of another version is nothing that this SDK gives */
		{.l = {.needed = {"libamdhip64.so.7"}}, .want = "needed-missing"},
		{.l = {.needed = {"libfolder.so.1"}}, .want = "needed-missing"},
		{.l = {.needed = {"../libup.so.1"}}, .want = "needed-missing"},
		{.l = {.needed = {"libpython3.11.so.1.0"}}, .want = "(needed-package)"},
		{.l = {.needed = {"libc.so.6"}}, .want = ""},
	};
	struct str dirs[] = {path_join(&a, top, S("none")), dir};
	CHECK_LIBS(cases, .sdk = S("demo"), .sdk_dirs = {.v = dirs, .n = 2});
	test_dir_remove(top);
}

static void search_paths_must_be_sane(void **state)
{
	(void)state;
	const struct lib_case cases[] = {
		{.l = {.runpath = "$ORIGIN:${ORIGIN}/../lib"}, .want = ""},
		{.l = {.runpath = "$ORIGIN:"}, .want = "rpath-empty"},
		{.l = {.rpath = ":$ORIGIN"}, .want = "rpath-empty"},
		{.l = {.rpath = "lib"}, .want = "rpath-relative"},
		{.l = {.rpath = "./:$ORIGIN"}, .want = "rpath-relative"},
		{.l = {.runpath = "/tmp/build/lib"}, .want = "rpath-writable"},
		{.l = {.runpath = "/tmpfs/lib"}, .want = "rpath-absolute"},
		{.l = {.runpath = "/home/ci/lib:/home/ci/lib2:/opt/rocm-7.0/lib"},
			.want = "(rpath-rocm) rpath-absolute"},
	};
	CHECK_LIBS(cases, .jobs = 1);
}

static void libraries_of_the_wheel_are_found_by_origin(void **state)
{
	(void)state;
	static const struct {
		const char *runpath, *at, *want;
	} cases[] = {
		{.runpath = "$ORIGIN", .at = "demo/libx.so.1", .want = ""},
		{.runpath = "$ORIGIN/../demo.libs/", .at = "demo.libs/libx.so.1", .want = ""},
		{.runpath = "$ORIGIN", .at = "demo.libs/libx.so.1", .want = "needed-unreachable"},
		{.runpath = NULL, .at = "demo/libx.so.1", .want = "needed-unreachable"},
		/* the soname fits, but the loader looks for files of that name */
		{.runpath = "$ORIGIN", .at = "demo/libx.so.1.2", .want = "needed-unreachable"},
		{.runpath = "$ORIGIN", .at = "demo/liby.so.1", .want = "needed-missing"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct str dir = test_dir(&a);
		struct fx_library l = {.needed = {"libx.so.1"}, .runpath = cases[i].runpath};
		const char *soname = strstr(cases[i].at, "liby") ? "liby.so.1" : "libx.so.1";
		struct fx_wheel w = {.file = X86,
			.files = {{.name = "demo/lib.so", .content = fx_elf(&a, l)},
				{.name = cases[i].at,
					.content = fx_elf(
						&a, (struct fx_library){.soname = soname})}}};
		assert_str(verify(&a, fx_write(&a, dir, w), (struct verify_options){0}),
			cases[i].want);
		test_dir_remove(dir);
	}
}

struct lib_file {
	const char *name;
	struct fx_library l;
};

static void check_wheel(const char *want, const struct lib_file v[4])
{
	ARENA(a);
	struct str dir = test_dir(&a);
	struct fx_wheel w = {.file = X86};
	for (size_t i = 0; i < 4 && v[i].name; i++)
		w.files[i] = (struct fx_file){v[i].name, fx_elf(&a, v[i].l)};
	assert_str(verify(&a, fx_write(&a, dir, w), (struct verify_options){0}), want);
	test_dir_remove(dir);
}

#define LIBS(want, ...) check_wheel(want, (const struct lib_file[4]){__VA_ARGS__})

static void libraries_are_found_as_the_loader_does(void **state)
{
	(void)state;
	const struct lib_file b = {"libs/libb.so", {.soname = "libb.so"}},
			      a_bare = {"libs/liba.so", {.needed = {"libb.so"}}},
			      a_run = {"libs/liba.so",
				      {.needed = {"libb.so"}, .runpath = "$ORIGIN/no"}};
	/* who needs it has no path: an RPATH of who loaded it counts, a RUNPATH does not */
	LIBS("", {"m.so", {.needed = {"liba.so"}, .rpath = "$ORIGIN/libs"}}, a_bare, b);
	LIBS("needed-unreachable", {"m.so", {.needed = {"liba.so"}, .runpath = "$ORIGIN/libs"}},
		a_bare, b);
	LIBS("needed-unreachable", {"m.so", {.needed = {"liba.so"}, .rpath = "$ORIGIN/libs"}},
		a_run, b);
	/* nor does an RPATH where there is a RUNPATH too */
	LIBS("needed-unreachable",
		{"m.so", {.needed = {"liba.so"}, .rpath = "$ORIGIN/libs", .runpath = "$ORIGIN"}},
		a_bare, b);
	/* loaded already, whoever asked for it */
	LIBS("", {"m.so", {.needed = {"liba.so", "libb.so"}, .runpath = "$ORIGIN/libs"}}, a_bare,
		b);
	LIBS("", {"m.so", {.needed = {"libb.so", "liba.so"}, .runpath = "$ORIGIN/libs"}}, a_bare,
		b);
	/* by its soname, too */
	LIBS("", {"m.so", {.needed = {"libx.so", "liba.so"}, .runpath = "$ORIGIN/libs"}}, a_bare,
		{"libs/libx.so", {.soname = "libb.so"}});
	/* one of two ways to load it fails */
	LIBS("needed-unreachable",
		{"m.so", {.needed = {"liba.so", "libb.so"}, .runpath = "$ORIGIN/libs"}},
		{"n.so", {.needed = {"liba.so"}, .runpath = "$ORIGIN/libs"}}, a_bare, b);
	/* circles end */
	LIBS("", {"liba.so", {.needed = {"libb.so"}, .rpath = "$ORIGIN"}},
		{"libb.so", {.needed = {"liba.so"}, .rpath = "$ORIGIN"}});
}

static void versions_of_symbols_must_be_defined(void **state)
{
	(void)state;
#define USER                                                                                       \
	{                                                                                          \
		"m.so",                                                                            \
		{                                                                                  \
			.needed = {"libb.so"}, .runpath = "$ORIGIN", .versions_of = "libb.so",     \
			.versions = {"B_1", "B_2"},                                                \
		}                                                                                  \
	}
	LIBS("", USER, {"libb.so", {.defines = {"libb.so", "B_1", "B_2"}}});
	LIBS("symbol-version", USER, {"libb.so", {.defines = {"libb.so", "B_1"}}});
	LIBS("", USER, {"libb.so", {.soname = "libb.so"}}); /* the loader only complains */
}

static void one_of_two_libraries_of_a_name_is_loaded(void **state)
{
	(void)state;
	const struct lib_file m = {"m.so", {.needed = {"libb.so"}, .runpath = "$ORIGIN/x"}},
			      n = {"n.so", {.needed = {"libb.so"}, .runpath = "$ORIGIN/y"}},
			      x = {"x/libb.so", {.soname = "libb.so"}};
	LIBS("library-duplicate", m, n, x,
		{"y/libb.so", {.soname = "libb.so", .needed = {"libc.so.6"}}});
	LIBS("", m, n, x, {"y/libb.so", {.soname = "libb.so"}});
	/* modules of Python are loaded by their paths */
	LIBS("", {"x/_c.so", {.soname = "x"}}, {"y/_c.so", {.soname = "y"}});
}

static void machine_code_that_is_none(void **state)
{
	(void)state;
	ARENA(a);
	struct str elf = fx_elf(&a, (struct fx_library){.needed = {"libc.so.6"}});
	const struct one cases[] = {
		{.what = "cut short",
			.wheel = {.file = X86,
				.files = {{.name = "demo/lib.so",
					.content = str_sub(elf, 0, 100)}}},
			.want = "(tag-no-machine-code) elf-broken"},
		{.what = "some data",
			.wheel = {.file = X86,
				.files = {{.name = "demo/x.bin", .content = str_sub(elf, 0, 100)}}},
			.want = "(tag-no-machine-code) elf-odd"},
		{.what = "no code at all",
			.wheel = {.file = X86, .files = {A_FILE}},
			.want = "(tag-no-machine-code)"},
		{.what = "purelib",
			.wheel = {.file = X86,
				.files = {{.name = "demo/lib.so", .content = elf}},
				.wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
					 "Tag: cp311-cp311-linux_x86_64\n"},
			.want = "wheel-purelib"},
	};
	CHECK(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(platform_tags_must_be_true),
		cmocka_unit_test(a_policy_limits_symbol_versions),
		cmocka_unit_test(policies_have_names),
		cmocka_unit_test(python_tags_must_fit_the_modules),
		cmocka_unit_test(needed_libraries_have_reasons),
		cmocka_unit_test(an_sdk_provides_what_is_in_its_folders),
		cmocka_unit_test(search_paths_must_be_sane),
		cmocka_unit_test(libraries_of_the_wheel_are_found_by_origin),
		cmocka_unit_test(libraries_are_found_as_the_loader_does),
		cmocka_unit_test(versions_of_symbols_must_be_defined),
		cmocka_unit_test(one_of_two_libraries_of_a_name_is_loaded),
		cmocka_unit_test(machine_code_that_is_none),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("verify_libs");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
