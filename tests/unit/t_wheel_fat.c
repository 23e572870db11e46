/* Fat wheels: which libraries of an SDK come in, under which names, and who finds them how. */
#include "fixture_wheel.h"

#include "wheel/fat.h"

#define KIT_MORE                                                                                   \
	struct str sdk;                                                                            \
	struct fat_report r;                                                                       \
	struct zip zip;
#include "unit/kit.h"

static int setup_sdk(void **state)
{
	setup(state);
	struct fixture *f = *state;
	f->zip.fd = -1;
	f->sdk = at(f, "sdk");
	assert_ok(fs_mkdirs(path_join(&f->a, f->sdk, S("lib"))));
	return 0;
}

static int teardown_sdk(void **state)
{
	zip_close(&((struct fixture *)*state)->zip);
	return teardown(state);
}

static void add(struct fixture *f, const char *path, struct str content)
{
	struct str full = path_join(&f->a, f->sdk, str_from(path));
	assert_ok(fs_mkdirs(path_dir(full)));
	assert_ok(fs_write(full, content, 0644));
}

static void library(struct fixture *f, const char *path, struct fx_library l)
{
	add(f, path, fx_elf(&f->a, l));
}

static struct str wheel(struct fixture *f, struct fx_library l)
{
	return fx_write(&f->a, f->dir,
		(struct fx_wheel){
			.file = "demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl",
			.files = {{"p/sub/_C.so", fx_elf(&f->a, l)}, {"p/a.py", S("a = 1\n")}},
		});
}

static struct err *fatten(struct fixture *f, struct str from, struct fat_request q)
{
	q.wheel.from = from;
	q.wheel.to = at(f, "out");
	q.wheel.force = true;
	q.wheel.jobs = 1;
	q.sdk = f->sdk;
	zip_close(&f->zip);
	f->zip.fd = -1;
	TRY(wheel_fatten(&f->a, &q, &f->r));
	return zip_open(&f->a, f->r.output, NULL, &f->zip);
}

static struct elf_dynamic dynamic(struct fixture *f, const char *name)
{
	struct elf_dynamic d;
	struct str bytes;
	struct elf e;
	const struct zip_member *m = zip_find(&f->zip, str_from(name));
	assert_non_null(m);
	assert_ok(zip_read(&f->a, &f->zip, m, 1 << 24, &bytes));
	struct bytes *src = arena_array(&f->a, 1, sizeof(*src));
	*src = bytes_mem(bytes);
	assert_ok(elf_open(&f->a, src, &e));
	assert_ok(elf_dynamic(&f->a, &e, &d));
	return d;
}

static struct str needed(struct fixture *f, const char *name)
{
	struct elf_dynamic d = dynamic(f, name);
	return str_join(&f->a, &d.needed, S(" "));
}

static void needs_are_followed_and_named_by_soname(void **state)
{
	struct fixture *f = *state;
	library(f, "lib/libhip.so.7.2",
		(struct fx_library){.soname = "libhip.so.7",
			.needed = {"libc.so.6", "libdeep.so"},
			.rpath = "/opt/rocm/lib"});
	assert_ok(fs_symlink(S("libhip.so.7.2"), path_join(&f->a, f->sdk, S("lib/libhip.so"))));
	library(f, "lib/deep/libdeep.so", (struct fx_library){.needed = {"libstdc++.so.6"}});
	library(f, "lib/libc.so.6", (struct fx_library){.soname = "libc.so.6"});
	library(f, "lib/libstdc++.so.6", (struct fx_library){.soname = "libstdc++.so.6"});
	assert_ok(fatten(f,
		wheel(f, (struct fx_library){.needed = {"libhip.so", "libc.so.6"},
				 .runpath = "$ORIGIN/../lib:/build/x:$ORIGIN/../../_rocm_sdk_core/"
					    "lib"}),
		(struct fat_request){0}));
	assert_int_equal(f->r.libraries.n, 2);
	assert_int_equal(f->r.outside.n, 0);
	assert_str(needed(f, "p/sub/_C.so"), "libhip.so.7 libc.so.6");
	assert_str(dynamic(f, "p/sub/_C.so").runpath, "$ORIGIN/../lib:$ORIGIN/../../demo.libs/lib");
	assert_str(needed(f, "demo.libs/lib/libhip.so.7"), "libc.so.6 libdeep.so");
	assert_str(dynamic(f, "demo.libs/lib/libhip.so.7").runpath, "$ORIGIN");
	assert_str(dynamic(f, "demo.libs/lib/libhip.so.7").rpath, "");
	assert_str(dynamic(f, "demo.libs/lib/libdeep.so").soname, "libdeep.so");
	assert_null(zip_find(&f->zip, S("demo.libs/lib/libc.so.6")));
	assert_str(f->r.platform, "manylinux_2_17_x86_64");
}

static void the_tag_tells_what_the_libraries_need(void **state)
{
	struct fixture *f = *state;
	library(f, "lib/libhip.so.7",
		(struct fx_library){.soname = "libhip.so.7",
			.needed = {"libc.so.6"},
			.versions = {"GLIBC_2.34"}});
	struct str from = wheel(f, (struct fx_library){.needed = {"libhip.so.7"}});
	assert_ok(fatten(f, from, (struct fat_request){0}));
	assert_str(f->r.platform, "manylinux_2_34_x86_64");
	assert_true(str_ends(f->r.output, S("-manylinux_2_34_x86_64.whl")));
	from = wheel(f, (struct fx_library){.needed = {"libhip.so.7", "libnowhere.so.1"}});
	struct fat_request q = {0};
	strs_add(&f->a, &q.allow, S("libnow*.so.1"));
	assert_ok(fatten(f, from, q));
	assert_str(f->r.platform, "linux_x86_64");
	assert_int_equal(f->r.outside.n, 1);
	assert_str(f->r.outside.v[0].name, "libnowhere.so.1");
	assert_str(f->r.outside.v[0].needed_by, "p/sub/_C.so");
}

static void what_the_sdk_lacks_is_told_with_what_it_has_instead(void **state)
{
	struct fixture *f = *state;
	struct fat_request q = {0};
	library(f, "lib/libhip.so.7", (struct fx_library){.soname = "libhip.so.7"});
	library(f, "lib/libsmi.so.7.8", (struct fx_library){.soname = "libsmi.so.7"});
	assert_ok(fs_symlink(S("libsmi.so.7.8"), path_join(&f->a, f->sdk, S("lib/libsmi.so.7"))));
	assert_ok(fs_symlink(S("libsmi.so.7"), path_join(&f->a, f->sdk, S("lib/libsmi.so"))));
	struct str from = wheel(
		f, (struct fx_library){.needed = {"libhip.so.7", "libsmi.so.1", "libprof.so.1"}});
	struct err *e = fatten(f, from, q);
	assert_int_equal(e->code, E_SDK);
	assert_true(str_contains(str_from(e->msg), S("lacks 2 of the libraries that 'demo-1.0-")));
	assert_string_equal(e->hints->text,
		"'p/sub/_C.so' needs 'libsmi.so.1'; in the SDK there is 'libsmi.so.7'");
	assert_string_equal(e->hints->next->text, "'p/sub/_C.so' needs 'libprof.so.1'");
	err_free(e);
	assert_false(fs_exists(at(f, "out")));
	strs_add(&f->a, &q.allow, S("libsmi.so.*"));
	assert_err_says(fatten(f, from, q), E_SDK, "lacks 1 of");
	strs_add(&f->a, &q.allow, S("libprof.so.1"));
	assert_ok(fatten(f, from, q));
	assert_int_equal(f->r.outside.n, 2);
	/* PyTorch's are no SDK's */
	from = wheel(f, (struct fx_library){.needed = {"libhip.so.7", "libtorch_hip.so"}});
	assert_ok(fatten(f, from, (struct fat_request){0}));
	assert_str(f->r.outside.v[0].name, "libtorch_hip.so");
}

/* An /opt/rocm of links into a Debian tree. */
static void side_files_are_found_where_the_library_really_is(void **state)
{
	struct fixture *f = *state;
	library(f, "usr/lib/x/libMIOpen.so.1", (struct fx_library){.soname = "libMIOpen.so.1"});
	add(f, "usr/share/miopen/db/gfx1100.db", S("db"));
	add(f, "opt/rocm/share/hip/version", S("7"));
	assert_ok(fs_mkdirs(path_join(&f->a, f->sdk, S("opt/rocm/lib"))));
	assert_ok(fs_symlink(S("../../../usr/lib/x/libMIOpen.so.1"),
		path_join(&f->a, f->sdk, S("opt/rocm/lib/libMIOpen.so.1"))));
	assert_ok(fatten(f, wheel(f, (struct fx_library){.needed = {"libMIOpen.so.1"}}),
		(struct fat_request){0}));
	assert_non_null(zip_find(&f->zip, S("demo.libs/share/miopen/db/gfx1100.db")));
	assert_int_equal(f->r.side.n, 1);
	assert_str(f->r.side.v[0].source, "usr/share/miopen");
}

static void a_name_of_a_link_leads_to_the_library(void **state)
{
	struct fixture *f = *state;
	library(f, "lib/libhsa-runtime64.so.1",
		(struct fx_library){.soname = "libhsa-runtime64.so.1"});
	library(f, "lib/librccl.so.1",
		(struct fx_library){.soname = "librccl.so.1", .needed = {"libhsa-runtime64.so.1"}});
	struct str from = wheel(f, (struct fx_library){.needed = {"librccl.so.1"}});
	assert_ok(fatten(f, from, (struct fat_request){0}));
	assert_int_equal(f->r.libraries.n, 2);
	const char *alias = "demo.libs/lib/libhsa-runtime64.so";
	assert_str(needed(f, alias), "libhsa-runtime64.so.1");
	assert_str(dynamic(f, alias).soname, "libhsa-runtime64.so");
	assert_str(dynamic(f, alias).runpath, "$ORIGIN");
	/* not when it has that name */
	library(f, "lib/libhsa-runtime64.so.1",
		(struct fx_library){.soname = "libhsa-runtime64.so"});
	assert_ok(fatten(f, from, (struct fat_request){0}));
	assert_str(needed(f, alias), "");
}

static void what_is_opened_and_read_comes_along(void **state)
{
	struct fixture *f = *state;
	library(f, "lib/libhiprtc.so.7", (struct fx_library){.soname = "libhiprtc.so.7"});
	library(f, "lib/libhiprtc-builtins.so.7",
		(struct fx_library){.soname = "libhiprtc-builtins.so.7"});
	library(f, "lib/librocblas.so.5", (struct fx_library){.soname = "librocblas.so.5"});
	library(f, "lib/libplug.so.1", (struct fx_library){.soname = "libplug.so.1"});
	add(f, "lib/rocblas/library/K_gfx90a.dat", S("one"));
	add(f, "lib/rocblas/library/K_gfx1100.dat", S("two"));
	add(f, "lib/.kpack/none", S("in another place"));
	add(f, ".kpack/blas_lib_gfx1100.kpack", S("three"));
	add(f, ".kpack/blas_lib_gfx90a.kpack", S("four"));
	assert_ok(
		fs_symlink(S("/etc/hostname"), path_join(&f->a, f->sdk, S("lib/rocblas/out.txt"))));
	struct strs gpus = {0}, with = {0};
	struct targets t;
	strs_add(&f->a, &gpus, S("gfx1100"));
	strs_add(&f->a, &with, S("libplug.so.1"));
	assert_ok(targets_parse(&f->a, &gpus, &t));
	struct fat_request q = {.keep = {.v = t.v, .n = t.n}, .gpus = gpus, .with = with};
	struct str from =
		wheel(f, (struct fx_library){.needed = {"libhiprtc.so.7", "librocblas.so.5"}});
	assert_ok(fatten(f, from, q));
	assert_int_equal(f->r.libraries.n, 4);
	assert_non_null(zip_find(&f->zip, S("demo.libs/lib/libhiprtc-builtins.so.7")));
	assert_non_null(zip_find(&f->zip, S("demo.libs/lib/libplug.so.1")));
	assert_non_null(zip_find(&f->zip, S("demo.libs/lib/rocblas/library/K_gfx1100.dat")));
	assert_non_null(zip_find(&f->zip, S("demo.libs/.kpack/blas_lib_gfx1100.kpack")));
	assert_null(zip_find(&f->zip, S("demo.libs/.kpack/blas_lib_gfx90a.kpack")));
	assert_null(zip_find(&f->zip, S("demo.libs/lib/rocblas/library/K_gfx90a.dat")));
	assert_null(zip_find(&f->zip, S("demo.libs/lib/rocblas/out.txt")));
	strs_add(&f->a, &q.with, S("libnone.so"));
	assert_err_says(fatten(f, from, q), E_SDK, "no 'libnone.so'");
}

static void a_link_out_of_the_sdk_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct str beside = at(f, "libhip.so.7");
	assert_ok(fs_write(
		beside, fx_elf(&f->a, (struct fx_library){.soname = "libhip.so.7"}), 0644));
	assert_ok(
		fs_symlink(S("../../libhip.so.7"), path_join(&f->a, f->sdk, S("lib/libhip.so.7"))));
	struct str from = wheel(f, (struct fx_library){.needed = {"libhip.so.7"}});
	struct err *e = fatten(f, from, (struct fat_request){0});
	assert_non_null(strstr(e->hints->text, "that of the SDK is no library, or leads out"));
	assert_err_says(e, E_SDK, "none of the libraries");
	assert_false(fs_exists(at(f, "out")));
	/* as in the root of a machine */
	library(f, "etc/alternatives/hip", (struct fx_library){.soname = "libhip.so.7"});
	assert_ok(fs_symlink(
		S("/etc/alternatives/hip"), path_join(&f->a, f->sdk, S("lib/libhip.so.7"))));
	assert_ok(fatten(f, from, (struct fat_request){0}));
	assert_int_equal(f->r.libraries.n, 1);
}

static void a_wheel_that_is_too_large_names_what_is(void **state)
{
	struct fixture *f = *state;
	library(f, "lib/libhip.so.7", (struct fx_library){.soname = "libhip.so.7"});
	struct str from = wheel(f, (struct fx_library){.needed = {"libhip.so.7"}});
	assert_err_says(
		fatten(f, from, (struct fat_request){.budget = 100}), E_LIMIT, "at most 100");
	assert_false(fs_exists(at(f, "out")));
	assert_ok(fatten(f, from, (struct fat_request){.budget = 100000}));
}

static void libraries_of_data_folders_are_where_they_are_installed(void **state)
{
	struct fixture *f = *state;
	library(f, "lib/libhip.so.7", (struct fx_library){.soname = "libhip.so.7"});
	struct fx_library l = {.needed = {"libhip.so.7"}, .runpath = "/b"};
	struct str from = fx_write(&f->a, f->dir,
		(struct fx_wheel){
			.file = "demo-1.0-cp311-cp311-linux_x86_64.whl",
			.files = {{"demo-1.0.data/platlib/p/_C.so", fx_elf(&f->a, l)},
				{"demo-1.0.data/scripts/run", fx_elf(&f->a, l)}},
		});
	assert_ok(fatten(f, from, (struct fat_request){.wheel.local = S("rocm7.2")}));
	assert_str(dynamic(f, "demo-1.0+rocm7.2.data/platlib/p/_C.so").runpath,
		"$ORIGIN/../demo.libs/lib");
	assert_str(dynamic(f, "demo-1.0+rocm7.2.data/scripts/run").runpath, "/b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			needs_are_followed_and_named_by_soname, setup_sdk, teardown_sdk),
		cmocka_unit_test_setup_teardown(
			the_tag_tells_what_the_libraries_need, setup_sdk, teardown_sdk),
		cmocka_unit_test_setup_teardown(what_the_sdk_lacks_is_told_with_what_it_has_instead,
			setup_sdk, teardown_sdk),
		cmocka_unit_test_setup_teardown(
			side_files_are_found_where_the_library_really_is, setup_sdk, teardown_sdk),
		cmocka_unit_test_setup_teardown(
			a_name_of_a_link_leads_to_the_library, setup_sdk, teardown_sdk),
		cmocka_unit_test_setup_teardown(
			what_is_opened_and_read_comes_along, setup_sdk, teardown_sdk),
		cmocka_unit_test_setup_teardown(
			a_link_out_of_the_sdk_is_not_followed, setup_sdk, teardown_sdk),
		cmocka_unit_test_setup_teardown(
			a_wheel_that_is_too_large_names_what_is, setup_sdk, teardown_sdk),
		cmocka_unit_test_setup_teardown(
			libraries_of_data_folders_are_where_they_are_installed, setup_sdk,
			teardown_sdk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
