/* Packages into a tree: what is unpacked, what is left out, what is refused. The packages are
 * written by libarchive here, hostile names and all. */
#include <sys/stat.h>

#include "fixture_archive.h"
#include "sdk/provider.h"

static void ar_add(struct buf *b, const char *name, const char *p, size_t n)
{
	buf_fmt(b, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", n);
	buf_add(b, (struct str){.p = p, .n = n});
	if (n % 2)
		buf_char(b, '\n');
}

/* A .deb in dir with the given data member. */
static struct str make_deb(
	struct arena *a, struct str dir, int filter, const struct member *v, size_t n)
{
	BUF(deb, a);
	size_t cap = 1 << 20;
	char *tar = arena_alloc(a, cap);
	buf_add(&deb, S("!<arch>\n"));
	ar_add(&deb, "debian-binary", "2.0\n", 4);
	ar_add(&deb, "control.tar.gz", "none", 4);
	ar_add(&deb, filter == ARCHIVE_FILTER_XZ ? "data.tar.xz" : "data.tar", tar,
		make_tar(tar, cap, filter, v, n));
	struct str path = path_join(a, dir, S("p_1_amd64.deb"));
	assert_ok(fs_write(path, buf_str(&deb), 0644));
	return path;
}

static struct err *unpack(struct arena *a, struct str deb, struct str root, struct str *ret_record)
{
	ARENA(tmp);
	BUF(record, a);
	struct archive_item item = {.name = S("p"), .path = deb};
	struct sdk_unpack u = {.item = &item, .root = root, .files = &record};
	assert_ok(fs_mkdirs(root));
	struct err *e = deb_unpack(&tmp, &u);
	*ret_record = record.n ? str_dup(a, buf_str(&record)) : S("");
	return e;
}

static struct err *try_members(const struct member *v, size_t n)
{
	ARENA(a);
	struct str dir = test_dir(&a), record;
	struct str deb = make_deb(&a, dir, ARCHIVE_FILTER_NONE, v, n);
	struct err *e = unpack(&a, deb, path_join(&a, dir, S("root")), &record);
	struct strs left;
	assert_ok(fs_list(&a, dir, &left));
	assert_int_equal(left.n, 2); /* the package and the tree, nothing beside them */
	test_dir_remove(dir);
	return e;
}

static void files_links_and_modes_arrive(void **state)
{
	(void)state;
	ARENA(a);
	static const int filters[] = {
		ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_NONE};
	struct member v[] = {
		FILE_("./usr/bin/tool", "#!/bin/sh\n"),
		LINK_("./usr/bin/t", "tool"),
		{.name = "./usr/bin/twin", .hard = "./usr/bin/tool", .type = AE_IFREG},
		{.name = "./usr/lib/empty/", .type = AE_IFDIR, .mode = 0755},
	};
	v[0].mode = 04755;
	for (size_t i = 0; i < 4; i++) {
		struct str dir = test_dir(&a), record;
		struct str root = path_join(&a, dir, S("root"));
		assert_ok(unpack(&a, make_deb(&a, dir, filters[i], v, 4), root, &record));
		test_has(path_join(&a, root, S("usr/bin/t")), "#!/bin/sh\n");
		test_has(path_join(&a, root, S("usr/bin/twin")), "#!/bin/sh\n");
		struct stat st;
		assert_ok(fs_stat(path_join(&a, root, S("usr/bin/tool")), &st));
		assert_int_equal(st.st_mode & 07777, 0755); /* no set-user-id */
		assert_int_equal(st.st_nlink, 2);
		assert_int_equal(st.st_mtim.tv_sec, 1700000000);
		assert_true(fs_is_dir(path_join(&a, root, S("usr/lib/empty"))));
		assert_true(str_contains(record, S("\tusr/bin/twin\n")));
		test_dir_remove(dir);
	}
}

static void top_folders_are_merged_into_usr(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), record;
	struct str root = path_join(&a, dir, S("root"));
	const struct member v[] = {FILE_("./lib64/ld.so", "x"), FILE_("./bin/sh", "y")};
	assert_ok(unpack(&a, make_deb(&a, dir, ARCHIVE_FILTER_NONE, v, 2), root, &record));
	test_has(path_join(&a, root, S("usr/lib64/ld.so")), "x");
	test_has(path_join(&a, root, S("usr/bin/sh")), "y");
	test_dir_remove(dir);
}

static void documentation_is_left_out(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), record;
	struct str root = path_join(&a, dir, S("root"));
	const struct member v[] = {FILE_("./usr/share/man/man1/x.1", "x"),
		FILE_("./usr/share/doc/p/README", "x"), FILE_("./usr/share/doc/p/copyright", "c")};
	assert_ok(unpack(&a, make_deb(&a, dir, ARCHIVE_FILTER_NONE, v, 3), root, &record));
	assert_false(fs_exists(path_join(&a, root, S("usr/share/man"))));
	assert_false(fs_exists(path_join(&a, root, S("usr/share/doc/p/README"))));
	test_has(path_join(&a, root, S("usr/share/doc/p/copyright")), "c");
	test_dir_remove(dir);
}

static void hostile_names_are_refused(void **state)
{
	(void)state;
	static const struct {
		struct member m;
		const char *says;
	} cases[] = {
		{FILE_("./usr/../../evil", "x"), "leads out"},
		{FILE_("../evil", "x"), "leads out"},
		{FILE_("/tmp/evil", "x"), "absolute"},
		{FILE_("./a\nb", "x"), "no acceptable"},
		{{.name = "./usr/dev", .type = AE_IFCHR, .mode = 0666}, "device"},
		{{.name = "./usr/pipe", .type = AE_IFIFO, .mode = 0666}, "device"},
		{{.name = "./usr/h", .hard = "../../../etc/passwd", .type = AE_IFREG}, "leads out"},
		{{.name = "./usr/h", .hard = "./usr/none", .type = AE_IFREG}, "does not hold"},
		{{.name = "./usr/h", .hard = "/etc/passwd", .type = AE_IFREG}, "absolute"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_err_says(try_members(&cases[i].m, 1), E_ARCHIVE, cases[i].says);
}

static void links_cannot_lead_out_of_the_tree(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), record;
	struct str root = path_join(&a, dir, S("root")), out = path_join(&a, dir, S("out"));
	assert_ok(fs_mkdirs(out));
	/* one absolute, one by "..": both are resolved inside the tree, where they name nothing */
	const char *targets[] = {str_z(&a, out), "../../out"};
	for (size_t i = 0; i < 2; i++) {
		const struct member v[] = {
			LINK_("./usr/d", targets[i]), FILE_("./usr/d/evil", "x")};
		struct str deb = make_deb(&a, dir, ARCHIVE_FILTER_NONE, v, 2);
		assert_err(unpack(&a, deb, root, &record), E_ARCHIVE);
		assert_false(fs_exists(path_join(&a, out, S("evil"))));
	}
	test_dir_remove(dir);
}

static void a_link_to_a_folder_of_the_tree_is_followed(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), record;
	struct str root = path_join(&a, dir, S("root"));
	const struct member v[] = {FILE_("./usr/lib/real/a", "a"), LINK_("./usr/lib/alias", "real"),
		FILE_("./usr/lib/alias/b", "b"), LINK_("./usr/lib/abs", "/usr/lib/real"),
		FILE_("./usr/lib/abs/c", "c")};
	assert_ok(unpack(&a, make_deb(&a, dir, ARCHIVE_FILTER_NONE, v, 5), root, &record));
	test_has(path_join(&a, root, S("usr/lib/real/b")), "b");
	test_has(path_join(&a, root, S("usr/lib/real/c")), "c");
	test_dir_remove(dir);
}

static void a_file_is_not_written_through_a_link(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), record;
	struct str root = path_join(&a, dir, S("root")), victim = path_join(&a, dir, S("victim"));
	test_put(victim, "mine");
	const struct member v[] = {LINK_("./usr/f", str_z(&a, victim)), FILE_("./usr/f", "evil")};
	assert_ok(unpack(&a, make_deb(&a, dir, ARCHIVE_FILTER_NONE, v, 2), root, &record));
	test_has(victim, "mine");
	test_has(path_join(&a, root, S("usr/f")), "evil");
	test_dir_remove(dir);
}

static void every_truncation_is_an_error(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), record, whole;
	struct str root = path_join(&a, dir, S("root"));
	const struct member v[] = {FILE_("./usr/a", "aaaa"), FILE_("./usr/b", "bbbb")};
	struct str deb = make_deb(&a, dir, ARCHIVE_FILTER_XZ, v, 2);
	assert_ok(fs_read(&a, deb, 1 << 20, &whole));
	for (size_t n = 0; n + 1 < whole.n; n += 5) {
		assert_ok(fs_write(deb, str_sub(whole, 0, n), 0644));
		assert_err(unpack(&a, deb, root, &record), E_ARCHIVE);
	}
	test_dir_remove(dir);
}

static void unpacking_again_replaces_and_leaves_no_litter(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), record;
	struct str root = path_join(&a, dir, S("root"));
	const struct member v[] = {FILE_("./usr/a", "good"), LINK_("./usr/l", "a"),
		{.name = "./usr/h", .hard = "./usr/a", .type = AE_IFREG}};
	struct str deb = make_deb(&a, dir, ARCHIVE_FILTER_GZIP, v, 3);
	assert_ok(unpack(&a, deb, root, &record));
	struct str before = record;
	test_put(path_join(&a, root, S("usr/a")), "torn");
	assert_ok(unpack(&a, deb, root, &record));
	test_has(path_join(&a, root, S("usr/a")), "good");
	test_has(path_join(&a, root, S("usr/h")), "good");
	assert_true(str_eq(before, record));
	struct strs names;
	assert_ok(fs_list(&a, path_join(&a, root, S("usr")), &names));
	assert_int_equal(names.n, 3);
	test_dir_remove(dir);
}

/* What a kill between making the link and giving it its name leaves. */
static void a_killed_unpacking_does_not_stop_the_next(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), record;
	struct str root = path_join(&a, dir, S("root")), usr = path_join(&a, root, S("usr"));
	const struct member v[] = {FILE_("./usr/f", "whole"), FILE_("./usr/g", "new")};
	struct str deb = make_deb(&a, dir, ARCHIVE_FILTER_NONE, v, 2);
	struct str left = path_join(&a, usr, S(".rs-p.tmp"));
	assert_ok(unpack(&a, deb, root, &record));
	assert_ok(fs_symlink(S("nowhere"), left));
	assert_ok(unpack(&a, deb, root, &record));
	assert_ok(fs_link(path_join(&a, usr, S("g")), left)); /* a hard link: the same file */
	assert_ok(unpack(&a, deb, root, &record));
	test_has(path_join(&a, usr, S("f")), "whole");
	test_has(path_join(&a, usr, S("g")), "new");
	assert_false(fs_present(left));
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_links_and_modes_arrive),
		cmocka_unit_test(top_folders_are_merged_into_usr),
		cmocka_unit_test(documentation_is_left_out),
		cmocka_unit_test(hostile_names_are_refused),
		cmocka_unit_test(links_cannot_lead_out_of_the_tree),
		cmocka_unit_test(a_link_to_a_folder_of_the_tree_is_followed),
		cmocka_unit_test(a_file_is_not_written_through_a_link),
		cmocka_unit_test(every_truncation_is_an_error),
		cmocka_unit_test(unpacking_again_replaces_and_leaves_no_litter),
		cmocka_unit_test(a_killed_unpacking_does_not_stop_the_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
