/* Words that say where sources are, and what comes of them. What an archive in a network gives is the
 * subject of tests/e2e/source_local.sh. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "fixture_archive.h"
#include "formats/zip.h"
#include "source/fetch_int.h"

static void words_of_every_kind(void **state)
{
	(void)state;
	static const struct {
		const char *word;
		enum source_kind kind;
		const char *suite, *package, *version;
	} rows[] = {
		{"/", SOURCE_DIR, "", "", ""},
		{"no/such folder", SOURCE_DIR, "", "", ""},
		{"debian:trixie/pytorch", SOURCE_DEBIAN, "trixie", "pytorch", ""},
		{"debian:sid/pytorch=2.6.0", SOURCE_DEBIAN, "sid", "pytorch", "2.6.0"},
		{"debian:rc-buggy/libc++=1:2.6.0~rc1+dfsg-7", SOURCE_DEBIAN, "rc-buggy", "libc++",
			"1:2.6.0~rc1+dfsg-7"},
		{"sdist:torch_scatter==2.1.2", SOURCE_SDIST, "", "torch_scatter", "2.1.2"},
		{"sdist:x==1!2.0+local.1", SOURCE_SDIST, "", "x", "1!2.0+local.1"},
		{"torch_scatter-2.1.2.tar.gz", SOURCE_SDIST, "", "torch_scatter", "2.1.2"},
		{"a/b/flash-attn-2.8.3.post2.zip", SOURCE_SDIST, "", "flash-attn", "2.8.3.post2"},
	};
	ARENA(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct source_spec s;
		assert_ok(source_spec_parse(&a, str_from(rows[i].word), &s));
		assert_int_equal(s.kind, rows[i].kind);
		assert_str(s.text, rows[i].word);
		assert_str(s.suite, rows[i].suite);
		assert_str(s.package, rows[i].package);
		assert_str(s.version, rows[i].version);
		bool here = s.kind == SOURCE_DIR || str_ends(s.text, S("gz")) ||
			    str_ends(s.text, S("zip"));
		assert_int_equal(str_starts(s.path, S("/")), here);
	}
}

static void words_that_name_nothing(void **state)
{
	(void)state;
	static const char *const words[] = {"", "debian:", "debian:trixie", "debian:trixie/",
		"debian:/pytorch", "debian:trixie/pytorch=", "debian:-o/x", "debian:trixie/-x",
		"debian:trixie/x=-1", "debian:../../x/y", "debian:trixie/a/b", "debian:trixie/a b",
		"sdist:", "sdist:x", "sdist:x==", "sdist:x=1", "sdist:-x==1", "sdist:x==-1",
		"sdist:a/b==1", "sdist:x==1/2", "git:torch", "ftp://example.org/x"};
	ARENA(a);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct source_spec s;
		assert_err(source_spec_parse(&a, str_from(words[i]), &s), E_USAGE);
	}
}

static void a_folder_is_taken_as_it_is(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct source_request r = {0};
	struct source_tree t;
	assert_ok(source_spec_parse(&a, dir, &r.spec));
	assert_ok(source_fetch(&a, &r, &t));
	assert_str(t.dir, str_z(&a, dir));
	assert_str(t.kind, "dir");
	assert_ok(source_spec_parse(&a, path_join(&a, dir, S("none")), &r.spec));
	assert_err(source_fetch(&a, &r, &t), E_NOENT);
	test_dir_remove(dir);
}

/* ---- an sdist that lies here ---- */
static struct err *fetch(struct arena *a, struct str word, struct source_tree *ret)
{
	struct source_request r = {0};
	assert_ok(source_spec_parse(a, word, &r.spec));
	return source_fetch(a, &r, ret);
}

/* A home of its own in dir. */
static struct str begin(struct arena *a)
{
	struct str dir = test_dir(a);
	setenv("ROCSMITH_HOME", str_z(a, path_join(a, dir, S("home"))), 1);
	return dir;
}

static void an_sdist_is_unpacked_once(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = begin(&a), file = path_join(&a, dir, S("My_Pkg-1.0.tar.gz"));
	const struct member v[] = {
		FILE_("My_Pkg-1.0/setup.py", "one"), FILE_("My_Pkg-1.0/x/y", "y")};
	struct source_tree t, again;
	struct stat before, after;
	put_tar(file, ARCHIVE_FILTER_GZIP, v, 2);
	assert_ok(fetch(&a, file, &t));
	test_has(path_join(&a, t.dir, S("setup.py")), "one");
	test_has(path_join(&a, t.dir, S("x/y")), "y");
	assert_str(t.package, "My_Pkg");
	assert_str(t.version, "1.0");
	assert_int_equal(t.files.n, 1);
	assert_true(str_starts(path_base(t.dir), S("My_Pkg-1.0-")));
	assert_ok(fs_stat(path_join(&a, t.dir, S("setup.py")), &before));
	assert_ok(fetch(&a, file, &again));
	assert_ok(fs_stat(path_join(&a, t.dir, S("setup.py")), &after));
	assert_str(again.dir, str_z(&a, t.dir));
	assert_str(again.kind, "sdist");
	assert_str(again.files.v[0].sha256, str_z(&a, t.files.v[0].sha256));
	assert_int_equal(before.st_ino, after.st_ino);
	/* another file of the same name is another project */
	const struct member other[] = {FILE_("My_Pkg-1.0/setup.py", "two")};
	put_tar(file, ARCHIVE_FILTER_GZIP, other, 1);
	assert_ok(fetch(&a, file, &again));
	test_has(path_join(&a, again.dir, S("setup.py")), "two");
	test_has(path_join(&a, t.dir, S("setup.py")), "one");
	test_dir_remove(dir);
}

static void what_a_killed_run_left_is_not_believed(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = begin(&a), file = path_join(&a, dir, S("p-1.tar.gz")), record;
	const struct member v[] = {FILE_("p-1/setup.py", "whole")};
	struct source_tree t;
	put_tar(file, ARCHIVE_FILTER_GZIP, v, 1);
	assert_ok(fetch(&a, file, &t));
	record = str_fmt(&a, "%.*s.json", STR(t.dir));
	struct str setup = path_join(&a, t.dir, S("setup.py"));
	static const char *const damages[] = {
		"", "{", "{\"schema\": \"rocsmith.source/1\", \"x\": 1}"};
	for (size_t i = 0; i < 3; i++) {
		test_put(setup, "torn");
		test_put(record, damages[i]);
		assert_ok(fetch(&a, file, &t));
		test_has(setup, "whole");
	}
	test_put(setup, "torn");
	assert_ok(fs_remove(record));
	assert_ok(fetch(&a, file, &t));
	test_has(setup, "whole");
	assert_ok(fs_remove_tree(t.dir));
	assert_ok(fetch(&a, file, &t));
	test_has(setup, "whole");
	test_dir_remove(dir);
}

/* Two archives whose folders would get one name, if the name had only the beginning of a hash. */
static void a_folder_of_another_archive_does_not_answer(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = begin(&a), file = path_join(&a, dir, S("p-1.tar.gz"));
	const struct member bad[] = {FILE_("p-1/setup.py", "bad")};
	const struct member good[] = {FILE_("p-1/setup.py", "good")};
	struct source_tree theirs, t;
	put_tar(file, ARCHIVE_FILTER_GZIP, good, 1);
	assert_ok(fetch(&a, file, &t));
	struct str hash = str_sub(t.dir, str_rchr(t.dir, '-') + 1, t.dir.n);
	assert_int_equal(hash.n, 64);
	assert_ok(fs_remove_tree(t.dir));
	assert_ok(fs_remove(str_fmt(&a, "%.*s.json", STR(t.dir))));
	put_tar(file, ARCHIVE_FILTER_GZIP, bad, 1);
	assert_ok(fetch(&a, file, &theirs));
	assert_ok(fs_rename(theirs.dir, t.dir));
	assert_ok(fs_rename(
		str_fmt(&a, "%.*s.json", STR(theirs.dir)), str_fmt(&a, "%.*s.json", STR(t.dir))));
	put_tar(file, ARCHIVE_FILTER_GZIP, good, 1);
	assert_ok(fetch(&a, file, &t));
	test_has(path_join(&a, t.dir, S("setup.py")), "good");
	test_dir_remove(dir);
}

static void an_archive_that_changes_after_its_hash_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = begin(&a), file = path_join(&a, dir, S("p-1.tar.gz"));
	struct str scratch = path_join(&a, dir, S("scratch")), tree = path_join(&a, dir, S("tree"));
	const struct member good[] = {FILE_("p-1/setup.py", "good")};
	const struct member bad[] = {FILE_("p-1/setup.py", "bad!")};
	struct source_request r = {0};
	assert_ok(fs_mkdirs(scratch));
	assert_ok(source_spec_parse(&a, file, &r.spec));
	for (int in_place = 0; in_place < 2; in_place++) {
		struct fetch f = {.a = &a, .r = &r, .files = S("/nowhere")};
		put_tar(file, ARCHIVE_FILTER_GZIP, good, 1);
		assert_ok(fetch_sdist.get(&f));
		if (!in_place)
			assert_ok(fs_remove(file));
		put_tar(file, ARCHIVE_FILTER_GZIP, bad, 1);
		assert_err_says(fetch_sdist.fill(&f, scratch, tree), E_HASH, "was changed");
		assert_false(fs_present(tree));
	}
	test_dir_remove(dir);
}

/* apt makes links to the files of a mirror on this machine. */
static void a_package_behind_a_link_is_copied_first(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = begin(&a), scratch = path_join(&a, dir, S("scratch"));
	struct str file = path_join(&a, dir, S("p.orig.tar.gz"));
	const struct member good[] = {FILE_("p-1/setup.py", "good")};
	const struct member bad[] = {FILE_("p-1/setup.py", "bad!")};
	struct source_request r = {0};
	struct fetch f = {.a = &a, .r = &r, .files = path_join(&a, dir, S("files"))};
	struct str link = path_join(&a, f.files, S("p.orig.tar.gz"));
	struct str tree = path_join(&a, dir, S("tree"));
	struct digest d;
	assert_ok(fs_mkdirs(scratch));
	assert_ok(fs_mkdirs(f.files));
	assert_ok(fs_symlink_new(file, link));
	put_tar(file, ARCHIVE_FILTER_GZIP, good, 1);
	assert_ok(hash_file(HASH_SHA256, link, &d));
	*VEC_PUSH(&a, &f.tree.files) =
		(struct source_file){.name = path_base(file), .sha256 = digest_hex(&a, d)};
	strs_add(&a, &f.paths, link);
	put_tar(file, ARCHIVE_FILTER_GZIP, bad, 1);
	assert_err_says(fetch_debian.fill(&f, scratch, tree), E_HASH, "was changed");
	assert_false(fs_present(tree));
	put_tar(file, ARCHIVE_FILTER_GZIP, good, 1);
	assert_ok(fetch_debian.fill(&f, scratch, tree));
	test_has(path_join(&a, tree, S("setup.py")), "good");
	test_dir_remove(dir);
}

static void bombs_are_refused_with_a_way_out(void **state)
{
	(void)state;
	enum { LARGE = 200 << 20, MANY = 50000 };
	ARENA(a);
	struct str dir = begin(&a), file = path_join(&a, dir, S("p-1.tar.gz"));
	struct source_tree t;
	const struct member large = {.name = "p-1/zeros",
		.text = arena_alloc(&a, LARGE),
		.size = LARGE,
		.type = AE_IFREG};
	struct member *many = arena_array(&a, MANY, sizeof(*many));
	for (size_t i = 0; i < MANY; i++)
		many[i] = (struct member)FILE_(str_fmt(&a, "p-1/%zu", i).p, "");
	const struct {
		const struct member *v;
		size_t n;
		const char *says;
	} rows[] = {{&large, 1, "bytes"}, {many, MANY, "files"}};
	for (size_t i = 0; i < 2; i++) {
		put_tar(file, ARCHIVE_FILTER_GZIP, rows[i].v, rows[i].n);
		struct err *e = fetch(&a, file, &t);
		assert_true(e && e->code == E_LIMIT && test_err_says(e, rows[i].says));
		assert_true(e->hints && str_contains(str_from(e->hints->text), S("tar -xf")));
		err_free(e);
	}
	test_dir_remove(dir);
}

static void archives_without_a_folder_of_their_own(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = begin(&a), flat = path_join(&a, dir, S("flat-1.tar.xz"));
	struct str zip = path_join(&a, dir, S("z-2.zip"));
	const struct member v[] = {FILE_("setup.py", "s"), LINK_("l", "x/y"), FILE_("x/y", "y"),
		LINK_("x/s", "../setup.py")};
	const struct member link[] = {LINK_("p-1/l", "../q"), FILE_("p-1/f", "")};
	const struct zip_input in = {.name = S("z-2/setup.py"), .content = S("z"), .mode = 0644};
	const struct zip_writer w = {.path = zip, .v = &in, .n = 1};
	struct source_tree t;
	put_tar(flat, ARCHIVE_FILTER_XZ, v, 4);
	assert_ok(fetch(&a, flat, &t));
	test_has(path_join(&a, t.dir, S("l")), "y");
	test_has(path_join(&a, t.dir, S("x/s")), "s");
	assert_ok(zip_write(&a, &w, NULL));
	assert_ok(fetch(&a, zip, &t));
	test_has(path_join(&a, t.dir, S("setup.py")), "z");
	put_tar(flat, ARCHIVE_FILTER_XZ, link, 2);
	assert_err_says(fetch(&a, flat, &t), E_ARCHIVE, "leads out of its folder");
	test_put(flat, "no archive");
	assert_err(fetch(&a, flat, &t), E_ARCHIVE);
	assert_err(fetch(&a, path_join(&a, dir, S("none-1.zip")), &t), E_NOENT);
	test_dir_remove(dir);
}

static void a_dry_run_fetches_nothing(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = begin(&a), file = path_join(&a, dir, S("p-1.tar.gz"));
	const struct member v[] = {FILE_("p-1/setup.py", "")};
	struct source_tree t;
	put_tar(file, ARCHIVE_FILTER_GZIP, v, 1);
	for (int there = 0; there < 2; there++) {
		int status;
		pid_t pid = fork();
		if (!pid) { /* forbidding cannot be taken back */
			fs_forbid_writes();
			struct err *e = fetch(&a, file, &t);
			_exit(there ? e != NULL : !e || e->code != E_SOURCE);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_int_equal(fs_exists(path_join(&a, dir, S("home"))), there);
		assert_ok(fetch(&a, file, &t));
	}
	test_dir_remove(dir);
}

/* ---- patches ---- */
static const char change[] = "Description: --- not a file\n--- p.orig/a/f\n+++ p/a/f\n"
			     "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n";

/* A tree with these patches, applied. */
static struct err *patch(
	struct arena *a, struct str tree, const char *series, const char *text, struct strs *ret)
{
	struct str patches = path_join(a, tree, S("debian/patches"));
	assert_ok(fs_remove_tree(tree));
	assert_ok(fs_mkdirs(path_join(a, patches, S("sub"))));
	assert_ok(fs_mkdirs(path_join(a, tree, S("a"))));
	test_put(path_join(a, tree, S("a/f")), "one\ntwo\n");
	test_put(path_join(a, patches, S("series")), series);
	test_put(path_join(a, patches, S("1.patch")), text);
	test_put(path_join(a, patches, S("sub/2.patch")),
		"diff --git a/n/new b/n/new\nnew file mode 100755\n--- /dev/null\n+++ b/n/new\n"
		"@@ -0,0 +1 @@\n+new\n"
		"diff --git a/a/f b/a/f\ndeleted file mode 100644\n--- a/a/f\n+++ /dev/null\n"
		"@@ -1,2 +0,0 @@\n-one\n-TWO\n");
	*ret = (struct strs){0};
	return fill_patches(a, tree, ret);
}

static void patches_are_applied_in_their_order(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), tree = path_join(&a, dir, S("p"));
	struct strs applied;
	struct stat st;
	assert_ok(patch(&a, tree, "# first\n1.patch -p1 # why\n\nsub/2.patch\n", change, &applied));
	assert_str(str_join(&a, &applied, S(" ")), "1.patch sub/2.patch");
	test_has(path_join(&a, tree, S("n/new")), "new\n");
	assert_ok(fs_stat(path_join(&a, tree, S("n/new")), &st));
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_false(fs_exists(path_join(&a, tree, S("a")))); /* empty now */
	assert_ok(patch(&a, tree, "1.patch\n", change, &applied));
	test_has(path_join(&a, tree, S("a/f")), "one\nTWO\n");
	test_put(path_join(&a, tree, S("debian/patches/debian.series")), "");
	assert_ok(fill_patches(&a, tree, &applied));
	test_dir_remove(dir);
}

static void patches_that_cannot_be_applied(void **state)
{
	(void)state;
	static const struct {
		const char *series, *text;
		enum errcode code;
		const char *says;
	} rows[] = {
		{"1.patch -p0\n", change, E_SOURCE, "not understood"},
		{"../../../x\n", change, E_SOURCE, "not understood"},
		{"none.patch\n", change, E_NOENT, "none.patch"},
		{"sub/2.patch\n", change, E_SOURCE, "does not fit 'a/f'"},
		{"1.patch\n1.patch\n", change, E_SOURCE, "does not fit"},
		{"1.patch\n", "--- a/l\n+++ b/l\n@@ -1 +1 @@\n-one\n+two\n", E_SOURCE,
			"does not fit 'l'"},
		{"1.patch\n", "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n", E_SOURCE,
			"is not a file"},
		{"1.patch\n", "--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", E_SYNTAX, "a path"},
		{"1.patch\n", "diff --git a/a/f b/g\nrename from a/f\n", E_SYNTAX, "rename"},
	};
	ARENA(a);
	struct str dir = test_dir(&a);
	struct strs applied;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err *e = patch(
			&a, path_join(&a, dir, S("p")), rows[i].series, rows[i].text, &applied);
		assert_err_says(e, rows[i].code, rows[i].says);
	}
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_every_kind),
		cmocka_unit_test(words_that_name_nothing),
		cmocka_unit_test(a_folder_is_taken_as_it_is),
		cmocka_unit_test(an_sdist_is_unpacked_once),
		cmocka_unit_test(what_a_killed_run_left_is_not_believed),
		cmocka_unit_test(a_folder_of_another_archive_does_not_answer),
		cmocka_unit_test(an_archive_that_changes_after_its_hash_is_refused),
		cmocka_unit_test(a_package_behind_a_link_is_copied_first),
		cmocka_unit_test(bombs_are_refused_with_a_way_out),
		cmocka_unit_test(archives_without_a_folder_of_their_own),
		cmocka_unit_test(a_dry_run_fetches_nothing),
		cmocka_unit_test(patches_are_applied_in_their_order),
		cmocka_unit_test(patches_that_cannot_be_applied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
