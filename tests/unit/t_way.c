/* Who could change what a path leads to: each row is a tree, and the answer for one path in it. Another user is uid 1234,
 * so most rows need root. */
#include <grp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "unit/kit.h"

enum { OTHER = 1234, ENTRIES = 6 };

struct way_entry {
	const char *name, *link; /* link: its target; else a folder */
	unsigned mode, uid, gid;
};

struct way_row {
	const char *what, *path, *says; /* says: NULL if the way is good */
	struct way_entry v[ENTRIES];
};

static const struct way_row rows[] = {
	{"plain", "a/b", NULL, {{"a", 0, 0755, 0, 0}, {"a/b", 0, 0755, 0, 0}}},
	{"not there", "a/b/c", NULL, {{"a", 0, 0755, 0, 0}}},
	{"the user's own group", "a/b", NULL, {{"a", 0, 0775, 0, 0}, {"a/b", 0, 0775, 0, 0}}},
	{"another's end", "a", "belongs to another user", {{"a", 0, 0755, OTHER, OTHER}}},
	{"another's folder above", "a/b", "others could change",
		{{"a", 0, 0755, OTHER, OTHER}, {"a/b", 0, 0755, 0, 0}}},
	{"another's folder far above", "a/b/c/d", "belongs to another user",
		{{"a", 0, 0755, OTHER, OTHER}, {"a/b", 0, 0755, 0, 0}, {"a/b/c", 0, 0755, 0, 0},
			{"a/b/c/d", 0, 0755, 0, 0}}},
	{"nothing yet in another's folder", "a/b/c", "belongs to another user",
		{{"a", 0, 0755, OTHER, OTHER}}},
	{"an end open to all", "a", "can be written by others", {{"a", 0, 0777, 0, 0}}},
	{"an end open to all, sticky", "a", "can be written by others", {{"a", 0, 01777, 0, 0}}},
	{"above, open to all", "a/b", "chmod +t", {{"a", 0, 0777, 0, 0}, {"a/b", 0, 0755, 0, 0}}},
	{"above, open to all, sticky", "a/b", NULL,
		{{"a", 0, 01777, 0, 0}, {"a/b", 0, 0755, 0, 0}}},
	{"in a sticky folder, another's", "a/b/c", "belongs to another user",
		{{"a", 0, 01777, 0, 0}, {"a/b", 0, 0755, OTHER, OTHER}, {"a/b/c", 0, 0755, 0, 0}}},
	{"above, open to a group", "a/b", "chmod go-w",
		{{"a", 0, 0775, 0, OTHER}, {"a/b", 0, 0755, 0, 0}}},
	{"an end open to a group", "a", "chmod go-w", {{"a", 0, 0775, 0, OTHER}}},
	{"a link of ours", "l/b", NULL,
		{{"a", 0, 0755, 0, 0}, {"a/b", 0, 0755, 0, 0}, {"l", "a", 0, 0, 0}}},
	{"a link of another's", "l/b", "belongs to another user",
		{{"a", 0, 0755, 0, 0}, {"a/b", 0, 0755, 0, 0}, {"l", "a", 0, OTHER, OTHER}}},
	{"a link of another's at the end", "d/l", "belongs to another user",
		{{"a", 0, 0755, 0, 0}, {"d", 0, 01777, 0, 0}, {"d/l", "../a", 0, OTHER, OTHER}}},
	{"a link of ours in another's folder", "d/l", "belongs to another user",
		{{"a", 0, 0755, 0, 0}, {"d", 0, 0755, OTHER, OTHER}, {"d/l", "../a", 0, 0, 0}}},
	{"a link of ours through another's folder", "l", "belongs to another user",
		{{"d", 0, 0755, OTHER, OTHER}, {"d/a", 0, 0755, 0, 0}, {"l", "d/a", 0, 0, 0}}},
	{"a link of ours to another's link", "l", "belongs to another user",
		{{"d", 0, 01777, 0, 0}, {"a", 0, 0755, 0, 0}, {"d/m", "../a", 0, OTHER, OTHER},
			{"l", "d/m", 0, 0, 0}}},
	{"a link to a sticky folder", "l", "can be written by others",
		{{"d", 0, 01777, 0, 0}, {"l", "d/.", 0, 0, 0}}},
	{"a link to a sticky folder and back", "l", NULL,
		{{"d", 0, 01777, 0, 0}, {"d/e", 0, 0755, 0, 0}, {"a", 0, 0755, 0, 0},
			{"l", "d/e/../../a//", 0, 0, 0}}},
	{"a link that dangles into another's folder", "l/x", "belongs to another user",
		{{"d", 0, 0755, OTHER, OTHER}, {"l", "d/none", 0, 0, 0}}},
	{"a link to itself", "l", "leads nowhere", {{"l", "l", 0, 0, 0}}},
};

static void plant(struct fixture *f, const struct way_entry *v)
{
	for (size_t i = 0; i < ENTRIES && v[i].name; i++) {
		struct str path = at(f, v[i].name);
		if (v[i].link)
			assert_ok(fs_symlink_new(str_from(v[i].link), path));
		else
			assert_ok(fs_mkdirs(path));
		if (v[i].uid || v[i].gid)
			assert_true(fs_try_chown(path, v[i].uid, v[i].gid));
		if (!v[i].link)
			assert_int_equal(chmod(path.p, v[i].mode), 0);
	}
}

static bool needs_root(void)
{
	if (geteuid())
		print_message("skipped: this is not root\n");
	return geteuid();
}

static void each_folder_on_the_way_counts(void **state)
{
	struct fixture *f = *state;
	if (needs_root())
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plant(f, rows[i].v);
		struct err *e = fs_check_way(at(f, rows[i].path));
		bool hint =
			e && err_root(e)->hints && rows[i].says &&
			str_contains(str_from(err_root(e)->hints->text), str_from(rows[i].says));
		if (rows[i].says ? !hint && !test_err_says(e, rows[i].says) : e != NULL) {
			test_print_err(e);
			fail_msg("%s", rows[i].what);
		}
		err_free(e);
		assert_ok(fs_remove_tree(f->dir));
		assert_ok(fs_mkdirs(f->dir));
	}
}

/* What is above the folders of the tests is that of every machine. */
static void what_is_above_is_good(void **state)
{
	struct fixture *f = *state;
	assert_ok(fs_check_way(f->dir));
	assert_ok(fs_check_way(S("/")));
	assert_ok(fs_check_way(S("/usr/lib")));
	assert_err_says(fs_check_way(S("/tmp")), E_PERM, "can be written by others");
	assert_err_says(fs_check_way(S("/etc/passwd/x")), E_PERM, "is not a folder");
	setenv("ROCSMITH_HOME", str_z(&f->a, f->dir), 1);
	assert_ok(fs_place_check(FS_STATE));
}

/* In a folder for all, the first who makes a name owns it. */
static void a_missing_name_in_a_crowd_is_taken(void **state)
{
	struct fixture *f = *state;
	const struct way_entry v[ENTRIES] = {{"d", 0, 01777, 0, 0}};
	struct stat st;
	plant(f, v);
	int status = -1;
	pid_t pid = fork();
	if (!pid) { /* forbidding cannot be taken back */
		fs_forbid_writes();
		struct err *e = fs_check_way(at(f, "d/rs/data"));
		_exit(!e || e->code != E_PERM || fs_present(at(f, "d/rs")));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(fs_check_way(at(f, "d/rs/data")));
	assert_ok(fs_lstat(at(f, "d/rs"), &st));
	assert_true(S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022));
	assert_false(fs_present(at(f, "d/rs/data")));
}

/* An ACL's mask looks like the permissions of the group. */
static void an_acl_lets_others_write(void **state)
{
	struct fixture *f = *state;
	/* version 2; tag, permissions, id: user::rwx user:1234:rwx group::r-x mask::rwx other::r-x */
	static const unsigned char acl[] = {2, 0, 0, 0, 1, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, 2, 0, 7,
		0, 0xd2, 4, 0, 0, 4, 0, 5, 0, 0xff, 0xff, 0xff, 0xff, 0x10, 0, 7, 0, 0xff, 0xff,
		0xff, 0xff, 0x20, 0, 5, 0, 0xff, 0xff, 0xff, 0xff};
	const struct way_entry v[ENTRIES] = {{"a", 0, 0755, 0, 0}, {"a/b", 0, 0755, 0, 0}};
	plant(f, v);
	if (setxattr(at(f, "a").p, "system.posix_acl_access", acl, sizeof(acl), 0) < 0)
		return; /* this file system has none */
	assert_err_says(fs_check_way(at(f, "a/b")), E_PERM, "can be written by others");
}

/* TMPDIR in another's folder: our folder there could be exchanged. */
static void scratch_folders_are_out_of_reach(void **state)
{
	struct fixture *f = *state;
	const struct way_entry v[ENTRIES] = {{"a", 0, 0755, OTHER, OTHER}, {"a/t", 0, 01777, 0, 0},
		{"b", 0, 01777, 0, 0}, {"c", 0, 0777, 0, 0}};
	static const char *const bad[] = {"a", "a/t", "c"};
	struct str dir, old = str_from(getenv("TMPDIR"));
	if (needs_root())
		return;
	plant(f, v);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("TMPDIR", at(f, bad[i]).p, 1);
		assert_err_says(fs_tempdir(&f->a, S(""), &dir), E_PERM, "for temporary files");
		struct strs names;
		assert_ok(fs_list(&f->a, at(f, bad[i]), &names));
		assert_int_equal(names.n, i == 0);
	}
	setenv("TMPDIR", at(f, "none").p, 1);
	struct err *e = fs_tempdir(&f->a, S(""), &dir);
	assert_non_null(e);
	assert_string_equal(e->hints->text, "TMPDIR names it: name another one");
	err_free(e);
	setenv("TMPDIR", at(f, "b").p, 1);
	assert_ok(fs_tempdir(&f->a, S(""), &dir));
	if (old.n)
		setenv("TMPDIR", str_z(&f->a, old), 1);
	else
		unsetenv("TMPDIR");
}

/* As root with another user's HOME, the next step is a command. */
static void a_folder_of_ones_own_is_named(void **state)
{
	struct fixture *f = *state;
	const struct way_entry v[ENTRIES] = {{"home", 0, 0755, OTHER, OTHER}};
	if (needs_root())
		return;
	plant(f, v);
	setenv("ROCSMITH_HOME", at(f, "home").p, 1);
	struct err *e = fs_place_check(FS_CACHE);
	assert_non_null(e);
	assert_true(e->hints && str_starts(str_from(e->hints->text), S("export ROCSMITH_HOME=")));
	err_free(e);
	unsetenv("ROCSMITH_HOME");
}

/* ---- modes ---- */
static unsigned mode_of(struct fixture *f, const char *name)
{
	struct stat st;
	assert_ok(fs_lstat(at(f, name), &st));
	return st.st_mode & 07777;
}

/* In a child, since the umask is of the process. */
static int make_all(struct fixture *f, mode_t mask)
{
	(void)umask(mask);
	setenv("ROCSMITH_HOME", at(f, "linked").p, 1);
	assert_ok(fs_mkdirs(at(f, "home")));
	assert_ok(fs_symlink_new(S("home"), at(f, "linked")));
	fs_umask_begin();
	assert_ok(fs_mkdirs(at(f, "out/dir")));
	assert_ok(fs_mkdirs(at(f, "linked/cache/dir")));
	assert_ok(fs_write(at(f, "out/loose"), S(""), FS_LOOSE));
	assert_ok(fs_write(at(f, "out/whole"), S(""), 0666));
	assert_ok(fs_write(at(f, "out/exact"), S(""), 0666 | FS_EXACT));
	assert_ok(fs_write(at(f, "linked/cache/loose"), S(""), FS_LOOSE));
	assert_ok(fs_write(at(f, "home/cache/whole"), S(""), 0666));
	struct proc p = {.cwd = at(f, "out")};
	struct proc_result r;
	proc_arg(&f->a, &p, "touch", "child", NULL);
	assert_ok(proc_check(&f->a, &p, &r));
	fs_umask_end();
	p.argv.v[1] = S("users");
	assert_ok(proc_check(&f->a, &p, &r));
	return 0;
}

static void only_what_the_user_names_has_the_users_umask(void **state)
{
	struct fixture *f = *state;
	static const mode_t masks[] = {0, 002, 022, 027, 077};
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		unsigned mask = masks[i], strict = mask | 022;
		int status = -1;
		pid_t pid = fork();
		if (!pid)
			_exit(make_all(f, masks[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_int_equal(mode_of(f, "out/dir"), 0777 & ~mask);
		assert_int_equal(mode_of(f, "out/loose"), 0666 & ~mask);
		assert_int_equal(mode_of(f, "out/whole"), 0666 & ~mask);
		assert_int_equal(mode_of(f, "out/exact"), 0666);
		assert_int_equal(mode_of(f, "out/users"), 0666 & ~mask);
		assert_int_equal(mode_of(f, "out/child"), 0666 & ~strict);
		assert_int_equal(mode_of(f, "home/cache/dir"), 0777 & ~strict);
		assert_int_equal(mode_of(f, "home/cache/loose"), 0666 & ~strict);
		assert_int_equal(mode_of(f, "home/cache/whole"), 0666 & ~strict);
		assert_ok(fs_remove_tree(f->dir));
		assert_ok(fs_mkdirs(f->dir));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_folder_on_the_way_counts),
		TEST(what_is_above_is_good),
		TEST(a_missing_name_in_a_crowd_is_taken),
		TEST(an_acl_lets_others_write),
		TEST(scratch_folders_are_out_of_reach),
		TEST(a_folder_of_ones_own_is_named),
		TEST(only_what_the_user_names_has_the_users_umask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
