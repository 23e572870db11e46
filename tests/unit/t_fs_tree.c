/* Trees of strangers, below a guard, and folders that many make at once: base/fs.h. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fs_int.h"
#include "base/pool.h"

static void a_lock_goes_through_no_link(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), key = path_join(&a, dir, S("key")),
		   path = path_join(&a, dir, S("lock")), other = path_join(&a, dir, S("other"));
	int fd = -1;
	test_put(key, "precious");
	assert_ok(fs_symlink(S("key"), path));
	assert_err(fs_lock(path, FS_LOCK_NOW, &fd), E_IO);
	assert_err(fs_lock(path, FS_LOCK_SHARED, &fd), E_IO);
	assert_err(fs_append(path, S("x\n")), E_IO);
	assert_err(fs_open_shared(path, 99, &fd), E_IO);
	assert_ok(fs_link(key, other));
	assert_ok(fs_lock(other, FS_LOCK_NOW, &fd));
	fd_closep(&fd);
	test_has(key, "precious");
	test_dir_remove(dir);
}

/* Every way to change something at path, which is not there or behind a link. */
static void assert_closed(struct str path, struct str good)
{
	struct fs_out o;
	int fd = -1;
	struct stat st = {.st_mode = 0644};
	ARENA(a);
	struct str in = path, copy = path_join(&a, path_dir(good), S("copy"));
	struct err *all[] = {fs_write(in, S("x"), 0644), fs_write(in, S("x"), FS_LOOSE),
		fs_copy(good, in, &st), fs_symlink_new(S("x"), in), fs_symlink(S("x"), in),
		fs_move(good, in, true), fs_move(good, in, false), fs_move(in, copy, true),
		fs_rename(good, in), fs_rename(in, copy), fs_exchange(good, in), fs_link(good, in),
		fs_remove(in), fs_remove_empty(in), fs_remove_tree(in),
		fs_mkdirs(path_join(&a, in, S("new/dir"))), fs_lock(in, FS_LOCK_NOW, &fd),
		fs_append(in, S("x")), fs_open_shared(in, 1, &fd), fs_out_open(&o, in, 0644)};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!all[i] || all[i]->code != E_PERM)
			fail_msg("way %zu: %s", i, all[i] ? all[i]->msg : "open");
		err_free(all[i]);
	}
	assert_false(fs_try_chown(in, geteuid(), getegid()));
	assert_true(fs_is_file(good));
	assert_false(fs_present(copy));
}

static void below_a_guarded_folder_no_link_is_followed(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	CLEANUP(fs_unguardp) struct fs_tree *inner = NULL;
	struct str dir = test_dir(&a), tree = path_join(&a, dir, S("tree")), got,
		   home = path_join(&a, dir, S("home")), key = path_join(&a, home, S("key"));
	struct str good = path_join(&a, tree, S("good"));
	assert_ok(fs_mkdirs(home));
	assert_ok(fs_guard(tree, &guard));
	assert_null(guard);
	assert_ok(fs_mkdirs(path_join(&a, tree, S("sub/real"))));
	test_put(key, "precious");
	test_put(good, "good");
	test_put(path_join(&a, tree, S("sub/real/there")), "");
	assert_ok(fs_symlink(home, path_join(&a, tree, S("out"))));
	assert_ok(fs_symlink(S("../../../home"), path_join(&a, tree, S("sub/real/out"))));
	assert_ok(fs_symlink(S("sub"), path_join(&a, tree, S("in"))));
	assert_ok(fs_symlink(home, path_join(&a, tree, S(".rocsmith"))));
	assert_ok(fs_guard(tree, &guard));
	assert_closed(path_join(&a, tree, S("out/key")), good);
	assert_closed(path_join(&a, tree, S("sub/real/out/key")), good);
	assert_closed(path_join(&a, tree, S("in/real/there")), good);
	assert_closed(path_join(&a, tree, S("sub/../../home/key")), good);
	test_has(key, "precious");
	/* sources are read through links, what is ours is not */
	test_has(path_join(&a, tree, S("out/key")), "precious");
	assert_err(fs_read(&a, path_join(&a, tree, S(".rocsmith/key")), 99, &got), E_PERM);
	assert_ok(fs_write(path_join(&a, tree, S("sub/real/f")), S("f"), 0644));
	assert_ok(
		fs_move(path_join(&a, tree, S("sub/real/f")), path_join(&a, tree, S("g")), false));
	assert_ok(fs_mkdirs(path_join(&a, tree, S("sub/a/b/c/"))));
	assert_err(fs_guard(path_join(&a, tree, S("out")), &inner), E_PERM);
	assert_ok(fs_guard(path_join(&a, tree, S("sub")), &inner));
	assert_closed(path_join(&a, tree, S("sub/real/out/key")), good);
	assert_ok(fs_remove_tree(path_join(&a, tree, S("sub/real"))));
	fs_unguardp(&inner);
	fs_unguardp(&guard);
	assert_ok(fs_write(path_join(&a, tree, S("out/new")), S("x"), 0644));
	test_has(key, "precious");
	test_dir_remove(dir);
}

static void sources_are_read_below_their_folder(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct str real = test_dir(&a), got, dir = path_join(&a, real, S("by/link")),
		   tree = path_join(&a, dir, S("tree"));
	static const struct {
		const char *name,
			*to; /* "DIR/" stands for the folder of the tree, by its real path */
		bool out;
	} links[] = {{"a", "sub/file", false}, {"sub/b", "../sub/file", false}, {"c", "sub", false},
		{"d", "DIR/tree/sub/file", false}, {"sub/e", "../c/file", false},
		{"f", "../key", true}, {"g", "DIR/key", true}, {"h", "..", true}, {"i", "g", true},
		{"sub/j", "../../tree/sub/file", false}, {"k", "/etc/passwd", true},
		{"l", "/proc/self/fd/0", true}};
	assert_ok(fs_mkdirs(path_join(&a, real, S("by"))));
	assert_ok(fs_mkdirs(path_join(&a, real, S("top/tree/sub"))));
	assert_ok(fs_symlink(S("../top"), dir));
	test_put(path_join(&a, dir, S("key")), "precious");
	test_put(path_join(&a, tree, S("sub/file")), "good");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		assert_ok(fs_symlink(str_replace(&a, str_from(links[i].to), S("DIR"),
					     path_join(&a, real, S("top"))),
			path_join(&a, tree, str_from(links[i].name))));
	assert_ok(fs_guard_sources(tree, &guard));
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		struct str path = path_join(&a, tree, str_from(links[i].name));
		struct err *e = fs_is_dir(path) ? NULL : fs_read(&a, path, 99, &got);
		if (fs_leads_out(path) != links[i].out || (e ? e->code != E_PERM : 0) ||
			(!fs_is_dir(path) && !e == links[i].out))
			fail_msg("%s: %s", links[i].name, e ? e->msg : "read");
		err_free(e);
	}
	static const char *const more[] = {
		"h/key", "h/tree/sub/../../key", "sub/../../key", "c/../f"};
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		assert_err(fs_read(&a, path_join(&a, tree, str_from(more[i])), 99, &got), E_PERM);
	test_has(path_join(&a, tree, S("c/file")), "good");
	test_has(path_join(&a, tree, S("h/tree/sub/file")), "good");
	assert_err(fs_read(&a, path_join(&a, tree, S("none")), 99, &got), E_NOENT);
	assert_err(fs_read(&a, path_join(&a, tree, S("c/none")), 99, &got), E_NOENT);
	assert_ok(fs_read_opt(&a, path_join(&a, tree, S("c/none")), 99, &got));
	/* changes are no matter of this guard, nor are other folders */
	assert_ok(fs_write(path_join(&a, tree, S("h/new")), S("x"), 0644));
	test_has(path_join(&a, dir, S("key")), "precious");
	fs_unguardp(&guard);
	test_has(path_join(&a, tree, S("f")), "precious");
	test_dir_remove(real);
}

/* The judge of the way without openat2() is openat2(). */
static void both_ways_of_going_down_agree(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *path;
		int no;
	} ways[] = {{"", 0}, {".", 0}, {"d", 0}, {"d/e", 0}, {"d//e/.", 0}, {"none", ENOENT},
		{"d/none/x", ENOENT}, {"f", ENOTDIR}, {"f/x", ENOTDIR}, {"link", ELOOP},
		{"link/e", ELOOP}, {"d/up", ELOOP}, {"d/up/d", ELOOP}, {"loop/x", ELOOP},
		{"..", EXDEV}, {"../x", EXDEV}};
	struct str dir = test_dir(&a);
	const uint64_t closed = 0x08 | 0x04; /* RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS */
	assert_ok(fs_mkdirs(path_join(&a, dir, S("d/e"))));
	test_put(path_join(&a, dir, S("f")), "");
	assert_ok(fs_symlink(S("d"), path_join(&a, dir, S("link"))));
	assert_ok(fs_symlink(S(".."), path_join(&a, dir, S("d/up"))));
	assert_ok(fs_symlink(S("loop"), path_join(&a, dir, S("loop"))));
	CLEANUP(fd_closep) int root = -1;
	assert_ok(fs_open(dir, &root));
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (int how = 0; how < 2; how++) {
			errno = 0;
			CLEANUP(fd_closep)
			int fd = how ? fs_open_steps(root, ways[i].path)
				     : fs_open_inside(root, ways[i].path, closed);
			if ((fd < 0) != (ways[i].no != 0) || (fd < 0 && errno != ways[i].no))
				fail_msg("'%s' by way %d: %d", ways[i].path, how, errno);
		}
	test_dir_remove(dir);
}

/* ---- many at once ---- */

static struct err *make_it(struct arena *tmp, void *path)
{
	(void)tmp;
	return fs_mkdirs(*(struct str *)path);
}

/* Each finds, now and then, that another has just made the folder it missed. */
static void threads_make_the_same_folders(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct pool *pool = pool_new(8);
	for (unsigned i = 0; i < 200; i++) {
		struct str deep = str_fmt(&a, "%.*s/%u/a/b/c/d/e", STR(dir), i);
		for (unsigned k = 0; k < 8; k++)
			pool_add(pool, make_it, &deep);
		assert_ok(pool_wait(pool));
	}
	assert_ok(pool_end(pool));
	assert_int_equal(chdir(dir.p), 0);
	assert_ok(fs_remove_tree(dir));
	assert_err(fs_mkdirs(S("a/b")), E_NOENT); /* a folder that is gone has no parent to make */
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_goes_through_no_link),
		cmocka_unit_test(below_a_guarded_folder_no_link_is_followed),
		cmocka_unit_test(sources_are_read_below_their_folder),
		cmocka_unit_test(both_ways_of_going_down_agree),
		cmocka_unit_test(threads_make_the_same_folders),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
