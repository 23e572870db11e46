/* Files and folders on the real file system: base/fs.h. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fault/fault.h"
#include "base/buf.h"
#include "base/fs_int.h"
#include "base/pool.h"
#include "base/vec.h"

static void files_are_written_whole_and_read_back(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f")), got;
	struct stat st;
	assert_ok(fs_write(path, S("a\0b"), 0640));
	assert_ok(fs_read(&a, path, 3, &got));
	assert_int_equal(got.n, 3);
	assert_memory_equal(got.p, "a\0b\0", 4);
	assert_ok(fs_stat(path, &st));
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_ok(fs_write(path, S(""), 0644));
	assert_ok(fs_read(&a, path, 0, &got));
	assert_int_equal(got.n, 0);
	struct strs names;
	assert_ok(fs_list(&a, dir, &names));
	assert_int_equal(names.n, 1);
	test_dir_remove(dir);
}

static void lines_are_added_whole_and_shared_files_have_their_size(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f")), got;
	struct stat st;
	assert_ok(fs_append(path, S("one\n")));
	assert_ok(fs_append(path, S("two\n")));
	assert_ok(fs_read(&a, path, 100, &got));
	assert_str(got, "one\ntwo\n");
	CLEANUP(fd_closep) int fd = -1;
	assert_ok(fs_open_shared(path, 6, &fd));
	assert_ok(fs_stat(path, &st));
	assert_int_equal(st.st_size, 8); /* never cut */
	fd_closep(&fd);
	assert_ok(fs_open_shared(path, 20, &fd));
	assert_ok(fs_stat(path, &st));
	assert_int_equal(st.st_size, 20);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	test_dir_remove(dir);
}

static void reading_keeps_to_the_limit(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f")), got;
	test_put(path, "12345");
	assert_err_says(fs_read(&a, path, 4, &got), E_LIMIT, path.p);
	assert_ok(fs_read(&a, path, 5, &got));
	assert_str(got, "12345");
	/* a file whose size the kernel does not tell, and one without an end */
	assert_ok(fs_read(&a, S("/proc/self/status"), 1 << 20, &got));
	assert_true(str_contains(got, S("Pid:")));
	assert_err(fs_read(&a, S("/dev/zero"), 100000, &got), E_LIMIT);
	test_dir_remove(dir);
}

static void missing_files_are_told_apart(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), none = path_join(&a, dir, S("none")), got = S("x");
	assert_err_says(fs_read(&a, none, 10, &got), E_NOENT, none.p);
	assert_ok(fs_read_opt(&a, none, 10, &got));
	assert_null(got.p);
	assert_err(fs_read_opt(&a, dir, 10, &got), E_IO);
	assert_false(fs_exists(none));
	assert_false(fs_is_dir(none));
	assert_true(fs_is_dir(dir));
	struct strs names;
	assert_err(fs_list(&a, none, &names), E_NOENT);
	struct stat st;
	assert_err(fs_stat(none, &st), E_NOENT);
	test_dir_remove(dir);
}

static void exact_reads_report_the_end(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f"));
	test_put(path, "0123456789");
	CLEANUP(fd_closep) int fd = -1;
	char p[4] = "";
	assert_ok(fs_open(path, &fd));
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_ok(fs_pread(fd, p, 4, 6));
	assert_memory_equal(p, "6789", 4);
	assert_err_says(fs_pread(fd, p, 4, 7), E_IO, "unexpected end of file");
	test_dir_remove(dir);
}

static void unchanged_content_keeps_the_time(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f"));
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct stat st;
	assert_ok(fs_write(path, S("one"), 0644 | FS_IF_CHANGED));
	assert_int_equal(utimensat(AT_FDCWD, path.p, old, 0), 0);
	assert_ok(fs_write(path, S("one"), 0644 | FS_IF_CHANGED));
	assert_ok(fs_stat(path, &st));
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	assert_ok(fs_write(path, S("two"), 0644 | FS_IF_CHANGED));
	assert_ok(fs_stat(path, &st));
	assert_true(st.st_mtim.tv_sec > 1000);
	test_has(path, "two");
	test_dir_remove(dir);
}

static void folders_are_made_and_removed_as_trees(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), deep = path_join(&a, dir, S("a/b//c/"));
	struct str outside = path_join(&a, dir, S("outside")), top = path_join(&a, dir, S("a"));
	assert_ok(fs_mkdirs(deep));
	assert_ok(fs_mkdirs(deep));
	assert_true(fs_is_dir(deep));
	assert_ok(fs_mkdirs(outside));
	test_put(path_join(&a, outside, S("kept")), "kept");
	assert_ok(fs_symlink(outside, path_join(&a, deep, S("link"))));
	assert_int_equal(chmod(path_join(&a, dir, S("a/b")).p, 0), 0);
	assert_err(fs_mkdirs(path_join(&a, outside, S("kept/x"))), E_NOENT);
	assert_ok(fs_remove_tree(top));
	assert_ok(fs_remove_tree(top));
	assert_false(fs_exists(top));
	test_has(path_join(&a, outside, S("kept")), "kept");
	test_dir_remove(dir);
}

static struct err *note(void *user, struct fs_entry *e)
{
	buf_fmt(user, "%.*s%s ", STR(e->path), S_ISDIR(e->st.st_mode) ? "/" : "");
	e->prune = str_eq(e->path, S("b/skip"));
	if (str_eq(path_base(e->path), S("stop")))
		return err_new(E_CANCELLED, "stop");
	return NULL;
}

static void walks_go_in_order_and_do_not_follow_links(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	assert_ok(fs_mkdirs(path_join(&a, dir, S("b/skip/x"))));
	test_put(path_join(&a, dir, S("b/f")), "");
	test_put(path_join(&a, dir, S("a")), "");
	test_put(path_join(&a, dir, S("b.c")), "");
	assert_ok(fs_symlink(S(".."), path_join(&a, dir, S("b/up"))));
	BUF(seen, &a);
	assert_ok(fs_walk(dir, note, &seen));
	assert_str(buf_str(&seen), "a b/ b/f b/skip/ b/up b.c ");
	test_put(path_join(&a, dir, S("b/stop")), "");
	assert_err(fs_walk(dir, note, &seen), E_CANCELLED);
	test_dir_remove(dir);
}

static void links_are_replaced_and_read(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), link = path_join(&a, dir, S("l")), got;
	assert_ok(fs_symlink(S("one"), link));
	assert_ok(fs_symlink(S("two"), link));
	assert_ok(fs_readlink(&a, link, &got));
	assert_str(got, "two");
	assert_false(fs_exists(link));
	assert_err(fs_readlink(&a, dir, &got), E_IO);
	assert_ok(fs_remove(link));
	assert_ok(fs_remove(link));
	struct strs names;
	assert_ok(fs_list(&a, dir, &names));
	assert_int_equal(names.n, 0);
	test_dir_remove(dir);
}

static void abandoned_files_leave_nothing(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f"));
	test_put(path, "old");
	struct fs_out o;
	assert_ok(fs_out_open(&o, path, 0644));
	fs_out_write(&o, "new", 3);
	assert_true(o.offset == 3);
	fs_out_abandon(&o);
	fs_out_abandon(&o);
	test_has(path, "old");
	struct strs names;
	assert_ok(fs_list(&a, dir, &names));
	assert_int_equal(names.n, 1);
	assert_err(fs_out_open(&o, path_join(&a, path, S("below-a-file")), 0644), E_NOENT);
	test_dir_remove(dir);
}

static void loose_files_are_not_synced(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	uint64_t calls[2];
	for (unsigned i = 0; i < 2; i++) {
		struct fs_out o;
		struct str path = path_join(&a, dir, i ? S("loose") : S("synced"));
		fault_arm(0, 0);
		assert_ok(fs_out_open(&o, path, i ? 0644 | FS_LOOSE : 0644));
		fs_out_write(&o, "x", 1);
		assert_ok(fs_out_commit(&o));
		calls[i] = fault_calls();
		test_has(path, "x");
	}
	assert_int_equal(calls[0] - calls[1], 2); /* the file's sync and its folder's */
	test_dir_remove(dir);
}

static void full_disks_are_told(void **state)
{
	(void)state;
	struct fs_out o = {.path = strdup("/dev/full"), .fd = open("/dev/full", O_WRONLY)};
	assert_true(o.fd >= 0);
	fs_out_write(&o, "x", 1);
	fs_out_write(&o, "y", 1);
	assert_err_says(fs_out_commit(&o), E_NOSPACE, "/dev/full");
	assert_int_equal(o.fd, -1);
}

static void looking_may_find_nothing(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), file = path_join(&a, dir, S("f")), head;
	struct str link = path_join(&a, dir, S("l")), none = path_join(&a, dir, S("none"));
	struct stat st;
	uint64_t room, size;
	test_put(file, "0123456789");
	assert_ok(fs_symlink(S("none"), link));
	assert_true(fs_try_stat(file, &st) && st.st_size == 10);
	assert_false(fs_try_stat(link, &st));
	assert_int_equal(errno, ENOENT);
	assert_true(fs_try_lstat(link, &st) && S_ISLNK(st.st_mode));
	assert_false(fs_try_lstat(path_join(&a, file, S("x")), &st));
	assert_int_equal(errno, ENOTDIR);
	CLEANUP(fd_closep) int fd = -1;
	assert_ok(fs_open(dir, &fd));
	assert_true(fs_try_stat_in(fd, S("f"), true, &st) && st.st_size == 10);
	assert_false(fs_try_stat_in(fd, S("l"), true, &st));
	assert_true(fs_try_stat_in(fd, S("l"), false, &st));
	assert_ok(fs_read_head(&a, file, 4, &head));
	assert_str(head, "0123");
	assert_ok(fs_read_head(&a, file, 40, &head));
	assert_str(head, "0123456789");
	assert_err(fs_read_head(&a, none, 4, &head), E_NOENT);
	assert_true(fs_access(file, R_OK | W_OK));
	assert_false(fs_access(none, R_OK) || fs_access(none, W_OK));
	/* what is not there yet will be where its folder is */
	assert_true(fs_free_space(none, &room, &size) && room > 0 && size >= room);
	assert_str(fs_existing(path_join(&a, none, S("x/y"))), dir.p);
	test_dir_remove(dir);
}

static void names_are_exchanged_and_scratch_is_written(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), x = path_join(&a, dir, S("x")),
		   y = path_join(&a, dir, S("y"));
	CLEANUP(fd_closep) int fd = -1;
	char p[8] = "";
	test_put(x, "x");
	test_put(y, "y");
	assert_ok(fs_exchange(x, y));
	test_has(x, "y");
	test_has(y, "x");
	assert_err(fs_exchange(x, path_join(&a, dir, S("none"))), E_NOENT);
	assert_true(fs_try_chown(x, geteuid(), getegid()));
	assert_false(fs_try_chown(path_join(&a, dir, S("none")), geteuid(), getegid()));
	assert_ok(fs_tempfile(&fd));
	assert_ok(fs_pwrite(fd, "12345678", 8, 0));
	assert_ok(fs_pwrite(fd, "ab", 2, 3));
	assert_ok(fs_pread(fd, p, 8, 0));
	assert_memory_equal(p, "123ab678", 8);
	struct fs_out o;
	assert_ok(fs_out_open(&o, x, 0644));
	fs_out_write(&o, "one two", 7);
	fs_out_cut(&o, 4);
	fs_out_write(&o, "more", 4);
	assert_true(o.offset == 8);
	assert_ok(fs_out_commit(&o));
	test_has(x, "one more");
	test_dir_remove(dir);
}

static void copies_are_equal(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), from = path_join(&a, dir, S("a")),
		   to = path_join(&a, dir, S("b")), one, two;
	struct stat st;
	size_t n = 700001;
	char *p = arena_alloc(&a, n);
	for (size_t i = 0; i < n; i++)
		p[i] = (char)(i * 7 >> 3);
	assert_ok(fs_write(from, (struct str){.p = p, .n = n}, 0644));
	assert_ok(fs_stat(from, &st));
	assert_ok(fs_copy(from, to, &st));
	assert_ok(fs_read(&a, from, n, &one));
	assert_ok(fs_read(&a, to, n, &two));
	assert_true(str_eq(one, two));
	assert_err(fs_copy(path_join(&a, dir, S("none")), to, &st), E_NOENT);
	assert_ok(fs_rename(to, from));
	assert_false(fs_exists(to));
	assert_err(fs_rename(to, from), E_NOENT);
	test_dir_remove(dir);
}

static void locks_exclude_and_name_the_holder(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("lock"));
	int fd = -1, second = -1;
	assert_ok(fs_lock(path, FS_LOCK_NOW, &fd));
	assert_err_says(fs_lock(path, FS_LOCK_NOW, &second), E_LOCKED,
		str_fmt(&a, "process %d", (int)getpid()).p);
	assert_int_equal(second, -1);
	fd_closep(&fd);
	assert_ok(fs_lock(path, FS_LOCK_WAIT, &fd));
	fd_closep(&fd);
	test_dir_remove(dir);
}

/* ---- disturbed writers (tests/fault) ---- */

static struct strs names_in(struct arena *a, struct str dir)
{
	struct strs names = {0};
	assert_ok(fs_list(a, dir, &names));
	return names;
}

static void without_nameless_files_a_temporary_name_serves(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f"));
	test_put(path, "old");
	fault_arm(2, EOPNOTSUPP);
	assert_ok(fs_write(path, S("new"), 0640));
	assert_string_equal(fault_hit(), "openat64");
	fault_arm(2, EOPNOTSUPP);
	struct fs_out o;
	assert_ok(fs_out_open(&o, path, 0644));
	assert_non_null(o.tmp);
	assert_int_equal(names_in(&a, dir).n, 2);
	fs_out_abandon(&o);
	fault_arm(0, 0);
	test_has(path, "new");
	assert_int_equal(names_in(&a, dir).n, 1);
	test_dir_remove(dir);
}

static void a_failing_call_keeps_the_old_file(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f"));
	for (uint64_t n = 1;; n++) {
		test_put(path, "old");
		fault_arm(n, n % 2 ? EIO : ENOSPC);
		CLEANUP(err_freep) struct err *e = fs_write(path, S("new"), 0644);
		const char *name = fault_hit();
		fault_arm(0, 0);
		if (!e)
			break;
		assert_int_equal(e->code, n % 2 ? E_IO : E_NOSPACE);
		assert_true(test_err_says(e, path.p) || test_err_says(e, dir.p));
		/* once it is in place, only making that durable can fail */
		test_has(path, n < 6 ? "old" : "new");
		assert_non_null(name);
		assert_int_equal(names_in(&a, dir).n, 1);
	}
	test_has(path, "new");
	test_dir_remove(dir);
}

static void a_killed_writer_leaves_old_or_new_and_no_litter(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f")), got = {0};
	struct str link = path_join(&a, dir, S("link"));
	int status = 1;
	for (uint64_t n = 1; status; n++) {
		test_put(path, "old");
		assert_ok(fs_symlink(S("old"), link));
		pid_t pid = fork();
		if (pid == 0) {
			fault_arm(n, FAULT_KILL);
			if (fs_write(path, S("new"), 0644) || fs_symlink(S("new"), link))
				_exit(1);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(status == 0 || WIFSIGNALED(status));
		assert_ok(fs_read(&a, path, 9, &got));
		assert_true(str_eq(got, S("old")) || str_eq(got, S("new")));
		assert_ok(fs_write(path, S("third"), 0644));
		assert_ok(fs_symlink(S("third"), link));
		assert_int_equal(names_in(&a, dir).n, 2);
	}
	test_dir_remove(dir);
}

struct rival {
	struct str path, content;
};

static struct err *write_often(struct arena *tmp, void *user)
{
	struct rival *r = user;
	(void)tmp;
	for (int i = 0; i < 200; i++)
		TRY(fs_write(r->path, r->content, 0644));
	return NULL;
}

static void rival_writers_do_not_mix(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f")), got = {0};
	struct rival r[4];
	for (unsigned i = 0; i < 4; i++)
		r[i] = (struct rival){.path = path, .content = str_fmt(&a, "%04096u", i)};
	assert_ok(pool_each(4, r, 4, sizeof(*r), write_often));
	assert_ok(fs_read(&a, path, 1 << 16, &got));
	assert_int_equal(got.n, 4096);
	assert_int_equal(names_in(&a, dir).n, 1);
	test_dir_remove(dir);
}

static void the_longest_names_can_be_replaced(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = str_fmt(&a, "%.*s/%0255d", STR(dir), 7);
	test_put(path, "old");
	test_put(path, "new");
	assert_ok(fs_remove(path));
	assert_ok(fs_symlink(S("a"), path));
	assert_ok(fs_symlink(S("b"), path));
	assert_err(fs_write(str_fmt(&a, "%.*s0", STR(path)), S(""), 0644), E_IO);
	test_dir_remove(dir);
}

/* In a child, because a dry run cannot be left again. */
static void dry_runs_change_nothing(void **state)
{
	(void)state;
	ARENA(a);
	/* not from fs_tempdir(), below which a dry run may write */
	struct str dir = str_fmt(&a, "/tmp/rocsmith-dry-%d", (int)getpid());
	struct str f = path_join(&a, dir, S("f")), g = path_join(&a, dir, S("g"));
	assert_ok(fs_mkdirs(dir));
	test_put(f, "old");
	pid_t pid = fork();
	if (pid == 0) {
		int fd;
		struct str s;
		struct fs_out o;
		fs_forbid_writes();
		struct err *all[] = {fs_write(f, S("new"), 0644),
			fs_write(g, S("x"), 0644 | FS_LOOSE), fs_mkdirs(g), fs_rename(f, g),
			fs_remove(f), fs_remove_tree(dir), fs_symlink(f, g),
			fs_tempdir(&a, dir, &s), fs_lock(g, FS_LOCK_NOW, &fd),
			fs_out_open(&o, g, 0644), fs_write(f, S("new"), 0644 | FS_IF_CHANGED)};
		int bad = !fs_writes_forbidden();
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			if (!all[i] || all[i]->code != E_DRY_RUN)
				bad = (int)i + 1;
		struct str own = {0}, inside;
		if (fs_tempdir(&a, S(""), &own))
			_exit(50);
		inside = path_join(&a, own, S("x/y/../z"));
		if (fs_mkdirs(path_dir(inside)) || fs_write(inside, S("x"), 0644))
			_exit(51);
		inside = str_fmt(&a, "%.*s-not", STR(own));
		all[0] = fs_mkdirs(inside);
		all[1] = fs_mkdirs(path_join(&a, own, S("../escaped")));
		if (!all[0] || !all[1] || fs_remove_tree(own))
			_exit(52);
		_exit(bad);
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	test_has(f, "old");
	struct strs names;
	assert_ok(fs_list(&a, dir, &names));
	assert_int_equal(names.n, 1);
	test_dir_remove(dir);
}

static void many_files_are_staged_and_moved(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), one = path_join(&a, dir, S("1")),
		   two = path_join(&a, dir, S("2")), to = path_join(&a, dir, S("to"));
	struct stat st, copy;
	mode_t mask = umask(027);
	assert_ok(fs_write(one, S("one"), FS_LOOSE));
	umask(mask);
	assert_ok(fs_stat(one, &st));
	assert_int_equal(st.st_mode & 07777, 0640);
	mask = umask(077);
	assert_ok(fs_write(one, S("uno"), 06755 | FS_LOOSE));
	assert_ok(fs_stat(one, &st));
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_ok(fs_write(one, S("uno"), 06755 | FS_EXACT | FS_LOOSE));
	umask(mask);
	assert_ok(fs_stat(one, &st));
	assert_int_equal(st.st_mode & 07777, 0755);
	st.st_mode |= 06000;
	st.st_mtim = (struct timespec){1000000000, 5};
	assert_ok(fs_copy(one, two, &st));
	assert_ok(fs_stat(two, &copy));
	assert_int_equal(copy.st_mode & 07777, 0755);
	assert_int_equal(copy.st_mtim.tv_sec, 1000000000);
	assert_ok(fs_move(one, to, false));
	assert_err_says(fs_move(two, to, false), E_IO, "exists");
	test_has(to, "uno");
	assert_ok(fs_write(two, S("two"), FS_LOOSE));
	assert_ok(fs_move(two, to, true));
	test_has(to, "two");
	assert_err(fs_move(two, to, true), E_NOENT);
	assert_ok(fs_symlink(S("to"), one)); /* nothing is written through a link */
	assert_err(fs_write(one, S("x"), FS_LOOSE), E_IO);
	test_dir_remove(dir);
}

/* What was looked at is what is copied; who has no look (st_ino 0) takes what comes. */
static void another_file_is_not_copied(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), one = path_join(&a, dir, S("1")),
		   secret = path_join(&a, dir, S("secret")), to = path_join(&a, dir, S("to"));
	struct stat st;
	test_put(one, "one");
	test_put(secret, "secret");
	assert_ok(fs_lstat(one, &st));
	assert_ok(fs_symlink(S("secret"), one));
	assert_err_says(fs_copy(one, to, &st), E_IO, "replaced by somebody");
	assert_false(fs_present(to));
	st.st_ino = 0;
	assert_ok(fs_copy(one, to, &st));
	test_dir_remove(dir);
}

static void the_umask_holds_for_whole_files(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f"));
	struct stat st;
	for (uint64_t n = 0; n < 2; n++) {
		mode_t mask = umask(027);
		fault_arm(n * 2, EOPNOTSUPP); /* the second time without nameless files */
		assert_ok(fs_write(path, S("x"), 04755));
		fault_arm(0, 0);
		umask(mask);
		assert_ok(fs_stat(path, &st));
		assert_int_equal(st.st_mode & 07777, 0750);
	}
	test_dir_remove(dir);
}

/* What is no regular file is never replaced; a user's output goes into it. */
static void special_files_are_written_to(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), f = path_join(&a, dir, S("f")),
		   link = path_join(&a, dir, S("link")), pipe = path_join(&a, dir, S("pipe")), got;
	struct stat st;
	int fd = -1;
	test_put(f, "a longer text than the new one");
	assert_ok(fs_symlink(S("f"), link));
	assert_ok(fs_write(link, S("new"), 0644 | FS_THROUGH));
	assert_true(fs_is_link(link));
	test_has(f, "new");
	assert_ok(fs_write(f, S("newer"), 0644 | FS_THROUGH));
	test_has(link, "newer");
	assert_int_equal(mkfifo(pipe.p, 0600), 0);
	assert_ok(fs_open(pipe, &fd)); /* somebody reads */
	assert_ok(fs_write(pipe, S("through"), 0644 | FS_THROUGH));
	char text[8] = "";
	assert_int_equal(read(fd, text, sizeof(text)), 7);
	assert_string_equal(text, "through");
	fd_closep(&fd);
	assert_err_says(fs_write(pipe, S("x"), 0644), E_IO, "is not a file");
	assert_err_says(fs_rename(f, pipe), E_IO, "is not a file");
	assert_err_says(fs_lock(pipe, FS_LOCK_WAIT, &fd), E_IO, "not a regular file");
	assert_err_says(fs_lock(pipe, FS_LOCK_SHARED, &fd), E_IO, "not a regular file");
	assert_ok(fs_lstat(pipe, &st));
	assert_true(S_ISFIFO(st.st_mode));
	assert_ok(fs_write(S("/dev/null"), S("x"), 0644 | FS_THROUGH));
	assert_ok(fs_lstat(S("/dev/null"), &st));
	assert_true(S_ISCHR(st.st_mode));
	assert_ok(fs_read(&a, f, 9, &got));
	assert_str(got, "newer");
	test_dir_remove(dir);
}

/* tmpfs and the disk are two file systems nearly everywhere. */
static void moves_reach_other_file_systems(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), there = {0}, from = path_join(&a, dir, S("f"));
	struct stat st, other;
	if (!fs_is_dir(S("/dev/shm")) || stat("/dev/shm", &other) < 0 || stat(dir.p, &st) < 0 ||
		other.st_dev == st.st_dev || access("/dev/shm", W_OK) < 0) {
		test_dir_remove(dir);
		return;
	}
	assert_ok(fs_tempdir(&a, S("/dev/shm"), &there));
	struct str to = path_join(&a, there, S("f"));
	assert_ok(fs_write(from, S("x"), 0600 | FS_LOOSE));
	assert_ok(fs_move(from, to, false));
	test_has(to, "x");
	assert_ok(fs_stat(to, &st));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_false(fs_present(from));
	assert_ok(fs_write(from, S("y"), 0600 | FS_LOOSE));
	assert_err(fs_move(from, to, false), E_IO);
	test_has(to, "x");
	assert_ok(fs_move(from, to, true));
	test_has(to, "y");
	struct strs names;
	assert_ok(fs_list(&a, there, &names));
	assert_int_equal(names.n, 1);
	test_dir_remove(there);
	test_dir_remove(dir);
}

static void lookers_share_a_lock(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("lock"));
	int one, two, three;
	assert_err(fs_lock(path, FS_LOCK_SHARED, &one), E_NOENT);
	assert_ok(fs_lock(path, FS_LOCK_NOW, &one));
	assert_err(fs_lock(path, FS_LOCK_SHARED, &two), E_LOCKED);
	close(one);
	assert_ok(fs_lock(path, FS_LOCK_SHARED, &one));
	assert_ok(fs_lock(path, FS_LOCK_SHARED, &two));
	assert_err(fs_lock(path, FS_LOCK_NOW, &three), E_LOCKED);
	close(one);
	close(two);
	test_dir_remove(dir);
}

/* Who waits for a lock whose file its holder removes must not end up with a lock of nothing. */
static void a_lock_that_was_removed_is_no_lock(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("lock"));
	int held, status;
	assert_ok(fs_lock(path, FS_LOCK_NOW, &held));
	pid_t child = fork();
	if (!child) {
		int mine = -1;
		struct stat st, there;
		close(held);
		struct err *e = fs_lock(path, FS_LOCK_WAIT, &mine);
		_exit(e || fstat(mine, &st) < 0 || stat(path.p, &there) < 0 ||
			st.st_ino != there.st_ino);
	}
	usleep(20000);
	assert_ok(fs_remove(path));
	close(held);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	test_dir_remove(dir);
}

static void scanning_tells_what_each_entry_is(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	assert_ok(fs_mkdirs(path_join(&a, dir, S("folder"))));
	test_put(path_join(&a, dir, S("file")), "");
	assert_ok(fs_symlink(S("folder"), path_join(&a, dir, S("to-folder"))));
	assert_ok(fs_symlink(S("nowhere"), path_join(&a, dir, S("to-nothing"))));
	struct fs_names names;
	struct stat st, want;
	assert_ok(fs_scan(&a, dir, &names, &st));
	assert_ok(fs_stat(dir, &want));
	assert_true(st.st_ino == want.st_ino);
	assert_int_equal(names.n, 4);
	VEC_EACH (struct fs_name, n, &names) {
		assert_true(n->link == str_starts(n->name, S("to-")));
		assert_true(n->dir == str_ends(n->name, S("folder")));
	}
	assert_true(fs_is_file(path_join(&a, dir, S("file"))));
	assert_false(fs_is_file(path_join(&a, dir, S("to-folder"))));
	assert_false(fs_is_file(path_join(&a, dir, S("to-nothing"))));
	assert_err(fs_scan(&a, path_join(&a, dir, S("none")), &names, &st), E_NOENT);
	test_dir_remove(dir);
}

static void folders_for_results_go_again_if_they_stay_empty(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), there = path_join(&a, dir, S("there"));
	assert_ok(fs_mkdirs(there));
	assert_ok(fs_make_output(there));
	assert_ok(fs_make_output(path_join(&a, there, S("a/b/"))));
	assert_ok(fs_make_output(path_join(&a, there, S("a/b/c"))));
	assert_ok(fs_make_output(path_join(&a, dir, S("kept/x"))));
	test_put(path_join(&a, dir, S("kept/result")), "r");
	fs_outputs_end();
	assert_true(fs_is_dir(there)); /* it is the user's own */
	assert_false(fs_present(path_join(&a, there, S("a"))));
	assert_true(fs_is_file(path_join(&a, dir, S("kept/result"))));
	assert_false(fs_present(path_join(&a, dir, S("kept/x"))));
	fs_outputs_end();
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_written_whole_and_read_back),
		cmocka_unit_test(lines_are_added_whole_and_shared_files_have_their_size),
		cmocka_unit_test(reading_keeps_to_the_limit),
		cmocka_unit_test(missing_files_are_told_apart),
		cmocka_unit_test(exact_reads_report_the_end),
		cmocka_unit_test(unchanged_content_keeps_the_time),
		cmocka_unit_test(folders_are_made_and_removed_as_trees),
		cmocka_unit_test(walks_go_in_order_and_do_not_follow_links),
		cmocka_unit_test(links_are_replaced_and_read),
		cmocka_unit_test(abandoned_files_leave_nothing),
		cmocka_unit_test(loose_files_are_not_synced),
		cmocka_unit_test(full_disks_are_told),
		cmocka_unit_test(looking_may_find_nothing),
		cmocka_unit_test(names_are_exchanged_and_scratch_is_written),
		cmocka_unit_test(copies_are_equal),
		cmocka_unit_test(locks_exclude_and_name_the_holder),
		cmocka_unit_test(without_nameless_files_a_temporary_name_serves),
		cmocka_unit_test(a_failing_call_keeps_the_old_file),
		cmocka_unit_test(a_killed_writer_leaves_old_or_new_and_no_litter),
		cmocka_unit_test(rival_writers_do_not_mix),
		cmocka_unit_test(the_longest_names_can_be_replaced),
		cmocka_unit_test(dry_runs_change_nothing),
		cmocka_unit_test(many_files_are_staged_and_moved),
		cmocka_unit_test(another_file_is_not_copied),
		cmocka_unit_test(the_umask_holds_for_whole_files),
		cmocka_unit_test(special_files_are_written_to),
		cmocka_unit_test(moves_reach_other_file_systems),
		cmocka_unit_test(lookers_share_a_lock),
		cmocka_unit_test(a_lock_that_was_removed_is_no_lock),
		cmocka_unit_test(scanning_tells_what_each_entry_is),
		cmocka_unit_test(folders_for_results_go_again_if_they_stay_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
