/* Finding compiler, device libraries, headers and versions in trees of many shapes: sdk/layout.c.
 * The trees are made here, with empty files in the places that real ones have. */
#include "sdk/provider.h"
#include "test.h"

enum { MAX_FILES = 12 };

static void put(struct arena *a, struct str root, const char *name, const char *text)
{
	struct str path = str_fmt(a, "%.*s/%s", STR(root), name);
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

struct tree {
	const char *title, *prefix;
	const char *files[MAX_FILES]; /* below the root */
};

static struct str make(struct arena *a, const char *const *files)
{
	struct str root = test_dir(a);
	for (size_t i = 0; i < MAX_FILES && files[i]; i++)
		put(a, root, files[i], "");
	return root;
}

#define HEADER(prefix) prefix "/include/hip/hip_runtime.h"
#define LIBRARY(dir) dir "/libamdhip64.so"

static const struct {
	struct tree tree;
	const char *clang, *device_libs, *libs;
	bool rocm_path; /* --rocm-path fits the layout */
} found[] = {
	{.tree = {"AMD's packages", "/opt/rocm",
		 {"opt/rocm/llvm/bin/clang++", "opt/rocm/amdgcn/bitcode/ocml.bc",
			 HEADER("opt/rocm"), LIBRARY("opt/rocm/lib")}},
		.clang = "/opt/rocm/llvm/bin/clang++",
		.device_libs = "/opt/rocm/amdgcn/bitcode",
		.libs = "/opt/rocm/lib",
		.rocm_path = true},
	{.tree = {"AMD's, device libraries in clang's folder", "/opt/rocm",
		 {"opt/rocm/llvm/bin/clang++",
			 "opt/rocm/llvm/lib/clang/19/lib/amdgcn/bitcode/ocml.bc",
			 HEADER("opt/rocm"), LIBRARY("opt/rocm/lib")}},
		.clang = "/opt/rocm/llvm/bin/clang++",
		.device_libs = "/opt/rocm/llvm/lib/clang/19/lib/amdgcn/bitcode",
		.libs = "/opt/rocm/lib",
		.rocm_path = true},
	{.tree = {"AMD's packages for RPM systems", "/opt/rocm",
		 {"opt/rocm/llvm/bin/clang++", "opt/rocm/amdgcn/bitcode/ocml.bc",
			 HEADER("opt/rocm"), LIBRARY("opt/rocm/lib64")}},
		.clang = "/opt/rocm/llvm/bin/clang++",
		.device_libs = "/opt/rocm/amdgcn/bitcode",
		.libs = "/opt/rocm/lib64",
		.rocm_path = true},
	{.tree = {"a source build", "/home/u/TheRock/build/dist",
		 {"home/u/TheRock/build/dist/lib/llvm/bin/clang++",
			 "home/u/TheRock/build/dist/lib/llvm/amdgcn/bitcode/ocml.bc",
			 HEADER("home/u/TheRock/build/dist"),
			 LIBRARY("home/u/TheRock/build/dist/lib")}},
		.clang = "/home/u/TheRock/build/dist/lib/llvm/bin/clang++",
		.device_libs = "/home/u/TheRock/build/dist/lib/llvm/amdgcn/bitcode",
		.libs = "/home/u/TheRock/build/dist/lib",
		.rocm_path = true},
	{.tree = {"Debian", "/usr",
		 {"usr/lib/llvm-21/bin/clang++", "usr/lib/llvm-19/bin/clang++",
			 "usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode/ocml.bc", HEADER("usr"),
			 LIBRARY("usr/lib/x86_64-linux-gnu")}},
		.clang = "/usr/lib/llvm-21/bin/clang++",
		.device_libs = "/usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode",
		.libs = "/usr/lib/x86_64-linux-gnu"},
	{.tree = {"both AMD's and Debian's LLVM: AMD's is first", "/opt/rocm",
		 {"opt/rocm/llvm/bin/clang++", "opt/rocm/lib/llvm-21/bin/clang++",
			 "opt/rocm/amdgcn/bitcode/ocml.bc", HEADER("opt/rocm"),
			 LIBRARY("opt/rocm/lib")}},
		.clang = "/opt/rocm/llvm/bin/clang++",
		.device_libs = "/opt/rocm/amdgcn/bitcode",
		.libs = "/opt/rocm/lib",
		.rocm_path = true},
};

static bool has_flag(const struct sdk *sdk, const char *start)
{
	VEC_EACH (const struct str, f, &sdk->clang_flags)
		if (str_starts(*f, str_from(start)))
			return true;
	return false;
}

static void check_found(size_t i)
{
	ARENA(a);
	struct str root = make(&a, found[i].tree.files);
	struct sdk sdk = {.root = root};
	const char *prefix = found[i].tree.prefix;
	print_message("# %s\n", found[i].tree.title);
	assert_ok(layout_find(&a, str_from(prefix), &sdk));
	assert_str(sdk.clang, found[i].clang);
	assert_str(sdk.device_libs, found[i].device_libs);
	assert_str(str_join(&a, &sdk.lib_dirs, S(" ")), found[i].libs);
	assert_str(sdk.hip_path, prefix);
	assert_str(sdk.include, str_fmt(&a, "%s/include", prefix).p);
	assert_true(str_eq(sdk.path.v[0], path_dir(sdk.clang)));
	assert_str(sdk.path.v[1], str_fmt(&a, "%s/bin", prefix).p);
	assert_true(has_flag(&sdk, str_fmt(&a, "--hip-path=%s", prefix).p));
	assert_int_equal(has_flag(&sdk, "--rocm-path="), found[i].rocm_path);
	assert_true(
		has_flag(&sdk, str_fmt(&a, "--rocm-device-lib-path=%s", found[i].device_libs).p));
	assert_int_equal(sdk.components.n, 0);
	test_dir_remove(root);
}

static void known_shapes_are_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		check_found(i);
}

static const struct {
	struct tree tree;
	const char *says;
} broken[] = {
	{.tree = {"empty", "/opt/rocm", {NULL}}, .says = "no clang++"},
	{.tree = {"no such prefix", "/opt/rocm-9",
		 {"opt/rocm/llvm/bin/clang++", HEADER("opt/rocm")}},
		.says = "no clang++ in '/opt/rocm-9'"},
	{.tree = {"clang without its ++", "/opt/rocm", {"opt/rocm/llvm/bin/clang"}},
		.says = "no clang++"},
	{.tree = {"no device libraries", "/opt/rocm",
		 {"opt/rocm/llvm/bin/clang++", HEADER("opt/rocm"), LIBRARY("opt/rocm/lib")}},
		.says = "no device library"},
	{.tree = {"device libraries of another LLVM", "/usr",
		 {"usr/lib/llvm-21/bin/clang++",
			 "usr/lib/llvm-21/lib/clang/19/amdgcn/bitcode/ocml.bc", HEADER("usr"),
			 LIBRARY("usr/lib/x86_64-linux-gnu")}},
		.says = "no device library"},
	{.tree = {"run-time packages only", "/opt/rocm",
		 {"opt/rocm/llvm/bin/clang++", "opt/rocm/amdgcn/bitcode/ocml.bc",
			 "opt/rocm/lib/libamdhip64.so.6"}},
		.says = "no HIP header"},
	{.tree = {"headers without the library to link", "/opt/rocm",
		 {"opt/rocm/llvm/bin/clang++", "opt/rocm/amdgcn/bitcode/ocml.bc",
			 HEADER("opt/rocm"), "opt/rocm/lib/libamdhip64.so.6"}},
		.says = "no HIP library"},
};

static void what_is_missing_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		ARENA(a);
		struct str root = make(&a, broken[i].tree.files);
		struct sdk sdk = {.root = root};
		print_message("# %s\n", broken[i].tree.title);
		assert_err_says(layout_find(&a, str_from(broken[i].tree.prefix), &sdk), E_SDK,
			broken[i].says);
		test_dir_remove(root);
	}
}

/* ---- versions ---- */
static const struct {
	const char *file, *text, *want; /* want: "name version", "" = none */
} versions[] = {
	{"hip/hip-config-version.cmake", "set(PACKAGE_VERSION \"6.4.1\")\n", "hip 6.4.1"},
	{"hip/hip-config-version.cmake", "  set(PACKAGE_VERSION \"7.0\") # x\n", "hip 7.0"},
	{"hip/hip-config-version.cmake", "set(PACKAGE_VERSION_MAJOR \"7\")\n", ""},
	{"hip/hip-config-version.cmake", "set(PACKAGE_VERSION \"\")\n", ""},
	{"hip/hip-config-version.cmake", "", ""},
	{"hip/hip-config-version.cmake", "set(PACKAGE_VERSION \"1.2", "hip 1.2"},
	{"hip/hip-config.cmake", "set(PACKAGE_VERSION \"6.4.1\")\n", ""},
	{"rocRAND/rocRANDConfigVersion.cmake", "set(PACKAGE_VERSION \"3.3\")\n", "rocrand 3.3"},
	{"hiprand/hiprand-config-version.cmake", "set(PACKAGE_VERSION \"2\")\n", "hiprand 2"},
	{"miopen/miopen-config-version.cmake", "set(PACKAGE_VERSION \"3\")\n", "miopen 3"},
	{"AMDDeviceLibs/AMDDeviceLibsConfigVersion.cmake", "set(PACKAGE_VERSION \"1\")\n",
		"amddevicelibs 1"},
	{"Boost-1.83/BoostConfigVersion.cmake", "set(PACKAGE_VERSION \"1.83\")\n", ""},
};

static void check_version(size_t i)
{
	ARENA(a);
	struct str root = make(&a, found[0].tree.files), got = S("");
	struct sdk sdk = {.root = root};
	put(&a, root, str_fmt(&a, "opt/rocm/lib/cmake/%s", versions[i].file).p, versions[i].text);
	put(&a, root, "opt/rocm/lib/cmake/hip.txt", ""); /* no folder */
	assert_ok(layout_find(&a, S("/opt/rocm"), &sdk));
	if (sdk.components.n)
		got = str_fmt(&a, "%.*s %.*s", STR(sdk.components.v[0].name),
			STR(sdk.components.v[0].version));
	test_dir_remove(root);
	if (!str_eq(got, str_from(versions[i].want)))
		fail_msg("%s: '%.*s'", versions[i].text, STR(got));
}

static void versions_come_from_cmakes_version_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		check_version(i);
}

static const struct {
	const char *says, *version; /* version NULL: none is told */
} compilers[] = {
	{"AMD clang version 19.0.0git (https://example.org 1234)", "19.0.0"},
	{"Debian clang version 21.1.8 (2)", "21.1.8"},
	{"clang version 22.1.0-rc2", "22.1.0"},
	{"gcc (Debian 12.2.0-14) 12.2.0", NULL},
	{"clang version unknown", NULL},
	{"", NULL},
};

static void a_compiler_is_asked_for_its_version(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), clang = path_join(&a, dir, S("clang++")), version;
	struct sdk sdk = {.clang = clang, .runner = SDK_DIRECT};
	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		struct str text = str_fmt(&a, "#!/bin/sh\necho '%s'\n", compilers[i].says);
		assert_ok(fs_write(clang, text, 0755));
		struct err *e = layout_clang_version(&a, &sdk, &version);
		if (compilers[i].version) {
			assert_ok(e);
			assert_str(version, compilers[i].version);
		} else {
			assert_err_says(e, E_SDK, "prints no version");
		}
	}
	assert_ok(fs_write(clang, S("#!/bin/sh\necho 'clang version 1.0'; exit 3\n"), 0755));
	assert_err(layout_clang_version(&a, &sdk, &version), E_TOOL_FAILED);
	test_dir_remove(dir);
}

/* ---- what others need to know ---- */
static void build_systems_are_told_where_the_sdk_is(void **state)
{
	(void)state;
	ARENA(a);
	struct sdk amd = {.clang = S("/opt/rocm/llvm/bin/clang++"),
		.hip_path = S("/opt/rocm"),
		.device_libs = S("/opt/rocm/amdgcn/bitcode")};
	struct sdk debian = {.clang = S("/usr/lib/llvm-21/bin/clang++"),
		.hip_path = S("/usr"),
		.device_libs = S("/usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode")};
	struct strs env = {0}, other = {0};
	strs_add(&a, &amd.path, S("/opt/rocm/llvm/bin"));
	strs_add(&a, &amd.path, S("/opt/rocm/bin"));
	sdk_environment(&a, &amd, &env);
	assert_str(str_join(&a, &env, S(" ")),
		"ROCM_PATH=/opt/rocm HIP_PATH=/opt/rocm HIP_PLATFORM=amd "
		"HIP_CLANG_PATH=/opt/rocm/llvm/bin HIP_DEVICE_LIB_PATH=/opt/rocm/amdgcn/bitcode "
		"PATH=/opt/rocm/llvm/bin:/opt/rocm/bin");
	sdk_environment(&a, &debian, &other);
	assert_false(strs_has(&other, S("ROCM_PATH=/usr"))); /* it would mislead hipcc */
	assert_true(strs_has(&other, S("HIP_CLANG_PATH=/usr/lib/llvm-21/bin")));
}

static const struct {
	const char *files[4], *want;
} llvms[] = {
	{{NULL}, ""},
	{{"usr/lib/llvm-21/bin/clang++"}, ""},
	{{"usr/lib/llvm-9/lib/clang/9/amdgcn/bitcode/o.bc",
		 "usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode/o.bc"},
		"usr/lib/llvm-21"},
	{{"usr/lib/llvm-22/bin/clang++", "usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode/o.bc"},
		"usr/lib/llvm-21"},
	{{"usr/lib/llvm-21/lib/clang/20/amdgcn/bitcode/o.bc"}, ""},
	{{"usr/lib/llvm-x/lib/clang/0/amdgcn/bitcode/o.bc"}, ""},
};

static void the_view_takes_the_newest_llvm_that_has_device_libraries(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(llvms) / sizeof(llvms[0]); i++) {
		ARENA(a);
		BUF(made, &a);
		struct sdk_receipt none = {0};
		struct str dir = test_dir(&a), root = path_join(&a, dir, S("root")), got = S("");
		struct str link = path_join(&a, root, S("opt/rocm/llvm"));
		for (size_t k = 0; k < 4 && llvms[i].files[k]; k++)
			put(&a, root, llvms[i].files[k], "");
		assert_ok(opt_rocm_make(&a, dir, &none, &made));
		if (fs_is_link(link)) {
			assert_ok(fs_readlink(&a, link, &got));
			got = path_clean(&a, path_join(&a, S("opt/rocm"), got));
		}
		assert_str(got, llvms[i].want);
		test_dir_remove(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_shapes_are_understood),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(versions_come_from_cmakes_version_files),
		cmocka_unit_test(a_compiler_is_asked_for_its_version),
		cmocka_unit_test(build_systems_are_told_where_the_sdk_is),
		cmocka_unit_test(the_view_takes_the_newest_llvm_that_has_device_libraries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
