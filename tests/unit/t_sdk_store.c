/* Installed SDKs on disk: names, opening, checking, removing (sdk/sdk.c). An SDK is made by hand:
 * manifest, records and a tree of small files, in a home of the test's own. */
#include <fcntl.h>

#include "base/buf.h"
#include "base/hash.h"
#include "sdk/provider.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct str home, dir; /* dir: folder of debian-sid */
};

static int begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	f->home = test_dir(&f->a);
	setenv("ROCSMITH_HOME", f->home.p, 1);
	f->dir = sdk_dir(&f->a, S("debian-sid"));
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	test_dir_remove(f->home);
	unsetenv("ROCSMITH_HOME");
	arena_free(&f->a);
	free(f);
	return 0;
}

static void put(struct fixture *f, struct str dir, const char *name, const char *text)
{
	struct str path = path_join(&f->a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static struct str hex(struct fixture *f, struct str text)
{
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	return digest_hex(&f->a, d);
}

/* Puts a file of the package into the tree and a line into its record. */
static void add_file(struct fixture *f, struct buf *record, const char *name, const char *text)
{
	struct stat st;
	struct str root = path_join(&f->a, f->dir, S("root"));
	put(f, root, name, text);
	assert_ok(fs_stat(path_join(&f->a, root, str_from(name)), &st));
	file_list_add(record, &(struct sdk_file){.type = 'f',
				      .size = strlen(text),
				      .mtime = st.st_mtim.tv_sec,
				      .value = hex(f, str_from(text)),
				      .path = str_from(name)});
}

static void add_package(struct fixture *f, struct sdk_receipt *m, const char *name)
{
	BUF(record, &f->a);
	buf_add(&record, file_list_head(&f->a,
				 &(struct sdk_package){.version = S("1-1"), .sha256 = S("00")}));
	add_file(f, &record, str_fmt(&f->a, "usr/share/%s/one", name).p, "first");
	add_file(f, &record, str_fmt(&f->a, "usr/share/%s/two", name).p, "second");
	struct str text = buf_str(&record);
	put(f, f->dir, str_fmt(&f->a, "records/%s", name).p, str_z(&f->a, text));
	*VEC_PUSH(&f->a, &m->packages) = (struct sdk_package){.name = str_from(name),
		.version = S("1-1"),
		.sha256 = S("00"),
		.list_sha256 = hex(f, text),
		.files = 2,
		.bytes = 11};
}

static void write_receipt(struct arena *a, struct str dir, const struct sdk_receipt *m)
{
	assert_ok(fs_write(path_join(a, dir, S(SDK_RECEIPT)), sdk_receipt_text(a, m), 0644));
}

static void install(struct fixture *f)
{
	struct sdk_receipt m = {.provider = S("debian"), .suite = S("sid")};
	strs_add(&f->a, &m.components, S("compiler"));
	add_package(f, &m, "alpha");
	add_package(f, &m, "beta");
	write_receipt(&f->a, f->dir, &m);
}

/* ---- names ---- */
static void only_complete_sdks_are_listed(void **state)
{
	struct fixture *f = *state;
	struct strs names;
	assert_ok(sdk_names(&f->a, &names));
	assert_int_equal(names.n, 0);
	install(f);
	struct str all = path_dir(f->dir);
	put(f, all, "debian-trixie/sdk.json", "{}");
	put(f, all, ".debian-experimental.new/sdk.json", "{}"); /* not renamed yet */
	put(f, all, "debian-half/root/usr/x", "");
	put(f, all, "debian-sid.lock", "");
	assert_ok(sdk_names(&f->a, &names));
	assert_str(str_join(&f->a, &names, S(" ")), "debian-sid debian-trixie");
}

/* ---- opening ---- */
static void what_is_not_there_is_answered_with_the_way_to_it(void **state)
{
	struct fixture *f = *state;
	struct sdk sdk;
	struct sdk_spec spec = {.provider = S("debian"), .suite = S("trixie")};
	strs_add(&f->a, &spec.components, S("hiprand"));
	struct err *e = sdk_open(&f->a, &spec, &sdk);
	assert_true(e && e->hints);
	assert_string_equal(e->hints->text, "rocsmith sdk install debian --suite trixie "
					    "--components compiler,hiprand");
	assert_err_says(e, E_SDK, "'debian-trixie' is not installed");
	install(f);
	spec.suite = S("");
	e = sdk_open(&f->a, &spec, &sdk);
	assert_true(e && e->hints);
	assert_string_equal(
		e->hints->text, "rocsmith sdk install debian --suite sid --components hiprand");
	assert_err_says(e, E_SDK, "lacks the component 'hiprand'");
}

/* A component that was installed by an older rocsmith, which knew fewer packages of it, and kernels of
 * other GPUs. */
static void what_an_sdk_lacks_is_told(void **state)
{
	struct fixture *f = *state;
	struct sdk sdk;
	struct sdk_receipt m = {.provider = S("debian"), .suite = S("sid")};
	struct sdk_spec spec = {.provider = S("debian")};
	strs_add(&f->a, &m.components, S("hiprand"));
	add_package(f, &m, "libhiprand");
	strs_add(&f->a, &spec.components, S("hiprand"));
	write_receipt(&f->a, f->dir, &m);
	assert_err_says(sdk_open(&f->a, &spec, &sdk), E_SDK, "lacks the component 'hiprand'");
	add_package(f, &m, "libhiprand-dev");
	strs_add(&f->a, &spec.gpus, S("gfx90a:xnack-"));
	write_receipt(&f->a, f->dir, &m);
	assert_err_says(sdk_open(&f->a, &spec, &sdk), E_SDK, "cannot use the SDK"); /* no tree */
	strs_add(&f->a, &m.packages.v[0].gpus, S("gfx1201"));
	write_receipt(&f->a, f->dir, &m);
	struct err *e = sdk_open(&f->a, &spec, &sdk);
	assert_string_equal(e->hints->text, "rocsmith sdk install debian --suite sid --gpu gfx90a");
	assert_err_says(e, E_SDK, "lack kernels of other GPUs than gfx1201");
	spec.gpus.v[0] = S("all");
	assert_err_says(
		sdk_open(&f->a, &spec, &sdk), E_SDK, "lack kernels of other GPUs than gfx1201");
	spec.gpus.v[0] = S("gfx1201");
	assert_err_says(sdk_open(&f->a, &spec, &sdk), E_SDK, "cannot use the SDK");
}

static void an_sdk_whose_tree_is_gone_cannot_be_opened(void **state)
{
	struct fixture *f = *state;
	struct sdk sdk;
	struct sdk_spec spec = {.provider = S("debian")};
	install(f);
	assert_err_says(sdk_open(&f->a, &spec, &sdk), E_SDK, "cannot use the SDK 'debian-sid'");
	assert_err_says(sdk_open_name(&f->a, S("debian-sid"), &sdk), E_SDK, "no clang++");
	put(f, f->dir, "sdk.json", "{");
	assert_err_says(sdk_open(&f->a, &spec, &sdk), E_CORRUPT, "which describes the SDK");
}

static const struct {
	const char *name, *says;
	enum errcode code;
} opens[] = {
	{"", "no SDK is installed", E_SDK},
	{"debian-none", "there is no SDK 'debian-none'", E_SDK},
	{"prefix:/nowhere", "there is no folder '/nowhere'", E_NOENT},
	{"/nowhere", "there is no folder '/nowhere'", E_NOENT},
	{"prefix:", "", E_SDK},
};

static void a_name_is_an_sdk_of_ours_or_a_folder(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		struct sdk sdk;
		struct err *e = sdk_open_name(&f->a, str_from(opens[i].name), &sdk);
		assert_err_says(e, opens[i].code, opens[i].says);
	}
}

static const struct {
	const char *word, *provider, *suite, *prefix;
} words[] = {
	{"debian", "debian", "sid", ""},
	{"debian:", "debian", "sid", ""},
	{"debian:sid", "debian", "sid", ""},
	{"debian-sid", "debian", "sid", ""},
	{"debian:experimental", "debian", "experimental", ""},
	{"debian-trixie", "debian", "trixie", ""},
	{"prefix:/opt/rocm", "prefix", "", "/opt/rocm"},
	{"prefix:rocm", "prefix", "", "rocm"},
	{"/opt/rocm", "prefix", "", "/opt/rocm"},
	{"./rocm", "prefix", "", "./rocm"},
	{"debian-sid/rocm", "prefix", "", "debian-sid/rocm"},
	{"prefix:debian-sid", "prefix", "", "debian-sid"},
	{"", NULL, "", ""},
	{"prefix", NULL, "", ""},
	{"prefix:", NULL, "", ""},
	{"debian-", NULL, "", ""},
	{"debianx", NULL, "", ""},
	{"Debian", NULL, "", ""},
	{"conda", NULL, "", ""},
};

static void the_names_of_sdks_are_the_same_everywhere(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct sdk_spec spec;
		struct err *e = sdk_spec_parse(&f->a, str_from(words[i].word), &spec);
		if (!words[i].provider) {
			assert_err_says(e, E_USAGE, words[i].word);
			continue;
		}
		assert_ok(e);
		assert_str(spec.provider, words[i].provider);
		assert_str(spec.suite, words[i].suite);
		assert_str(spec.prefix, words[i].prefix);
	}
}

/* ---- checking ---- */
static size_t check(struct fixture *f, struct findings *found)
{
	*found = (struct findings){0};
	assert_ok(sdk_check(&f->a, S("debian-sid"), found));
	return found->n;
}

static struct str damaged(struct fixture *f)
{
	struct strs list = {0};
	assert_ok(sdk_find_damage(&f->a, f->dir, false, &list, NULL));
	return str_join(&f->a, &list, S(" "));
}

static struct str in_tree(struct fixture *f, const char *name)
{
	return str_fmt(&f->a, "%.*s/root/%s", STR(f->dir), name);
}

static void a_whole_sdk_has_no_findings(void **state)
{
	struct fixture *f = *state;
	struct findings found;
	install(f);
	assert_int_equal(check(f, &found), 0);
	assert_str(damaged(f), "");
	assert_false(fs_exists(path_join(&f->a, f->dir, S("damaged"))));
}

static void each_damaged_file_is_a_finding(void **state)
{
	struct fixture *f = *state;
	struct findings found;
	install(f);
	assert_ok(fs_remove(in_tree(f, "usr/share/alpha/two")));
	test_put(in_tree(f, "usr/share/beta/one"), "FIRST"); /* the same size */
	assert_int_equal(check(f, &found), 2);
	assert_string_equal(found.v[0].id, "sdk-file-missing");
	assert_str(found.v[0].path, "usr/share/alpha/two");
	assert_string_equal(found.v[1].id, "sdk-file-changed");
	assert_str(found.v[1].path, "usr/share/beta/one");
	assert_int_equal(findings_worst(&found), SEV_ERROR);
	assert_true(str_starts(found.v[1].fix.v[0], S("rocsmith sdk install ")) &&
		    str_contains(found.v[1].fix.v[0], S(":")));
}

static void what_a_check_found_is_remembered_until_it_is_mended(void **state)
{
	struct fixture *f = *state;
	struct findings found;
	install(f);
	struct str file = in_tree(f, "usr/share/beta/one");
	struct stat st;
	assert_ok(fs_stat(file, &st));
	test_put(file, "FIRST");
	struct timespec times[2] = {st.st_atim, st.st_mtim};
	assert_int_equal(utimensat(AT_FDCWD, file.p, times, 0), 0);
	assert_str(damaged(f), ""); /* size and time tell nothing */
	assert_int_equal(check(f, &found), 1);
	assert_str(damaged(f), "beta");
	test_put(file, "first");
	assert_int_equal(utimensat(AT_FDCWD, file.p, times, 0), 0);
	assert_int_equal(check(f, &found), 0);
	assert_str(damaged(f), "");
}

static void a_quick_look_sees_sizes_and_missing_files(void **state)
{
	struct fixture *f = *state;
	install(f);
	test_put(in_tree(f, "usr/share/alpha/one"), "longer");
	assert_str(damaged(f), "alpha");
	assert_ok(fs_remove_tree(in_tree(f, "usr/share/beta")));
	assert_str(damaged(f), "alpha beta");
}

static void records_are_checked_themselves(void **state)
{
	struct fixture *f = *state;
	struct findings found;
	install(f);
	put(f, f->dir, "records/alpha", "#\t1-1\t00\n"); /* nothing left to compare */
	assert_ok(fs_remove(path_join(&f->a, f->dir, S("records/beta"))));
	assert_int_equal(check(f, &found), 2);
	assert_string_equal(found.v[0].id, "sdk-file-changed");
	assert_string_equal(found.v[1].id, "sdk-file-missing");
	assert_str(damaged(f), "alpha beta");
}

static void an_sdk_that_is_not_there_cannot_be_checked(void **state)
{
	struct fixture *f = *state;
	struct findings found = {0};
	assert_err_says(sdk_check(&f->a, S("debian-sid"), &found), E_SDK, "not installed");
}

/* ---- removing ---- */
static void a_removed_sdk_leaves_nothing_but_its_lock(void **state)
{
	struct fixture *f = *state;
	struct strs left;
	install(f);
	put(f, path_dir(f->dir), ".debian-sid.new/root/x", "");
	put(f, path_dir(f->dir), "debian-trixie/sdk.json", "{}");
	assert_ok(sdk_remove(&f->a, S("debian-sid")));
	assert_ok(fs_list(&f->a, path_dir(f->dir), &left));
	assert_str(str_join(&f->a, &left, S(" ")), "debian-sid.lock debian-trixie");
	assert_err(sdk_remove(&f->a, S("debian-sid")), E_NOENT);
}

static void what_a_killed_install_left_can_be_removed(void **state)
{
	struct fixture *f = *state;
	put(f, path_dir(f->dir), ".debian-sid.new/root/x", "");
	assert_ok(sdk_remove(&f->a, S("debian-sid")));
	assert_false(fs_exists(path_join(&f->a, path_dir(f->dir), S(".debian-sid.new"))));
}

/* What is no SDK of ours stays, and no link is followed. */
static void folders_of_others_are_not_removed(void **state)
{
	struct fixture *f = *state;
	struct str dir = path_dir(f->dir), mine = path_join(&f->a, dir, S("mine"));
	install(f);
	put(f, dir, "mine/precious", "x");
	put(f, f->home, "cache/sdk/mine/precious", "x");
	assert_ok(fs_symlink(f->dir, path_join(&f->a, dir, S("linked"))));
	assert_err(sdk_remove(&f->a, S("mine")), E_NOENT);
	assert_err(sdk_remove(&f->a, S("linked")), E_NOENT);
	test_has(path_join(&f->a, mine, S("precious")), "x");
	test_has(path_join(&f->a, f->home, S("cache/sdk/mine/precious")), "x");
	assert_true(fs_exists(path_join(&f->a, f->dir, S("sdk.json"))));
}

/* A removal that was killed between the new name and the end. */
static void a_removal_can_be_taken_up_again(void **state)
{
	struct fixture *f = *state;
	struct strs left;
	put(f, path_dir(f->dir), ".debian-sid.new/gone/root/x", "");
	assert_ok(sdk_remove(&f->a, S("debian-sid")));
	assert_ok(fs_list(&f->a, path_dir(f->dir), &left));
	assert_str(str_join(&f->a, &left, S(" ")), "debian-sid.lock");
}

static void an_sdk_in_a_folder_of_others_is_not_believed(void **state)
{
	struct fixture *f = *state;
	struct sdk sdk;
	struct strs names;
	install(f);
	assert_int_equal(chmod(str_z(&f->a, path_dir(path_dir(f->dir))), 0777), 0);
	assert_err_says(sdk_names(&f->a, &names), E_PERM, "can be written by others");
	assert_err_says(sdk_open_name(&f->a, S("debian-sid"), &sdk), E_PERM, "not believed");
	assert_err(sdk_remove(&f->a, S("debian-sid")), E_PERM);
}

static const struct {
	const char *name;
	enum errcode code;
} removals[] = {
	{"", E_USAGE},
	{".", E_USAGE},
	{"..", E_USAGE},
	{".debian-sid.new", E_USAGE},
	{"/", E_USAGE},
	{"/usr", E_USAGE},
	{"debian-sid/../..", E_USAGE},
	{"debian-none", E_NOENT},
	{"debian-sid.lock", E_NOENT},
	{"file", E_NOENT},
};

static void only_sdks_of_ours_are_removed(void **state)
{
	struct fixture *f = *state;
	install(f);
	put(f, path_dir(f->dir), "debian-sid.lock", "");
	put(f, path_dir(f->dir), "file", "");
	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++) {
		struct err *e = sdk_remove(&f->a, str_from(removals[i].name));
		if (!e || e->code != removals[i].code) {
			test_print_err(e);
			fail_msg("'%s'", removals[i].name);
		}
		err_free(e);
	}
	assert_true(fs_exists(path_join(&f->a, f->dir, S("sdk.json"))));
	assert_true(fs_exists(path_join(&f->a, path_dir(f->dir), S("debian-sid.lock"))));
	assert_true(fs_exists(path_join(&f->a, path_dir(f->dir), S("file"))));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static void the_compiler_is_part_of_every_wish(void **state)
{
	(void)state;
	ARENA(a);
	struct sdk_spec spec = {0};
	struct strs none = sdk_wanted(&a, &spec);
	assert_str(str_join(&a, &none, S(" ")), "compiler");
	strs_add(&a, &spec.components, S("hiprand"));
	strs_add(&a, &spec.components, S("compiler"));
	strs_add(&a, &spec.components, S("hiprand"));
	struct strs got = sdk_wanted(&a, &spec);
	assert_str(str_join(&a, &got, S(" ")), "compiler hiprand");
	const struct sdk_provider *provider;
	struct sdk_spec full;
	assert_ok(sdk_complete(&spec, &full, &provider));
	assert_str(sdk_name(&a, &full), "debian-sid");
	spec.suite = S("experimental");
	assert_ok(sdk_complete(&spec, &full, &provider));
	assert_str(sdk_name(&a, &full), "debian-experimental");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_complete_sdks_are_listed),
		TEST(what_is_not_there_is_answered_with_the_way_to_it),
		TEST(what_an_sdk_lacks_is_told),
		TEST(an_sdk_whose_tree_is_gone_cannot_be_opened),
		TEST(a_name_is_an_sdk_of_ours_or_a_folder),
		TEST(the_names_of_sdks_are_the_same_everywhere),
		TEST(a_whole_sdk_has_no_findings),
		TEST(each_damaged_file_is_a_finding),
		TEST(what_a_check_found_is_remembered_until_it_is_mended),
		TEST(a_quick_look_sees_sizes_and_missing_files),
		TEST(records_are_checked_themselves),
		TEST(an_sdk_that_is_not_there_cannot_be_checked),
		TEST(a_removed_sdk_leaves_nothing_but_its_lock),
		TEST(what_a_killed_install_left_can_be_removed),
		TEST(folders_of_others_are_not_removed),
		TEST(a_removal_can_be_taken_up_again),
		TEST(an_sdk_in_a_folder_of_others_is_not_believed),
		TEST(only_sdks_of_ours_are_removed),
		cmocka_unit_test(the_compiler_is_part_of_every_wish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
