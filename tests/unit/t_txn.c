/* Transactions: base/txn.h. This test is linked with tests/fault/fault.c. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fault/fault.h"
#include "base/buf.h"
#include "base/txn.h"

/* A folder with files to change, and the journal beside it. */
struct place {
	struct arena a;
	struct str top, tree, journal;
	struct str seen; /* for snapshot() */
};

static void place_open(struct place *p)
{
	*p = (struct place){0};
	p->top = test_dir(&p->a);
	p->tree = path_join(&p->a, p->top, S("tree"));
	p->journal = path_join(&p->a, p->top, S("journal"));
	assert_ok(fs_mkdirs(path_join(&p->a, p->tree, S("dir/sub"))));
	test_put(path_join(&p->a, p->tree, S("changed")), "old");
	test_put(path_join(&p->a, p->tree, S("removed file")), "old");
	test_put(path_join(&p->a, p->tree, S("dir/sub/f")), "old");
	assert_ok(fs_mkdirs(path_join(&p->a, p->top, S("stage/x"))));
	test_put(path_join(&p->a, p->top, S("stage/x/f")), "new");
}

static void place_close(struct place *p)
{
	test_dir_remove(p->top);
	arena_free(&p->a);
}

static struct str in_tree(struct place *p, const char *name)
{
	return path_join(&p->a, p->tree, str_from(name));
}

/* Replaces, creates, removes, moves a folder over a folder. */
static void stage_all(struct place *p, struct txn *t)
{
	assert_ok(txn_write(t, in_tree(p, "changed"), S("new"), 0600));
	assert_ok(txn_write(t, in_tree(p, "new/deep/file"), S("new"), 0644));
	assert_ok(txn_remove(t, in_tree(p, "removed file")));
	assert_ok(txn_remove(t, in_tree(p, "never there")));
	assert_ok(txn_move(t, path_join(&p->a, p->top, S("stage/x")), in_tree(p, "dir")));
}

static struct err *add_entry(void *user, const struct fs_entry *e, bool *prune)
{
	struct buf *b = user;
	(void)prune;
	buf_fmt(b, "%.*s%s ", STR(e->path), S_ISDIR(e->st.st_mode) ? "/" : "");
	return NULL;
}

static struct str tree_text(struct place *p)
{
	BUF(b, &p->a);
	assert_ok(fs_walk(p->tree, add_entry, &b));
	return buf_str(&b);
}

#define OLD_TREE "changed dir/ dir/sub/ dir/sub/f removed file "
#define NEW_TREE "changed dir/ dir/f new/ new/deep/ new/deep/file "

static struct err *change_and_keep(struct place *p);

static void nothing_shows_before_the_commit(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t;
	assert_ok(txn_begin(p.journal, &t));
	stage_all(&p, t);
	assert_str(tree_text(&p), OLD_TREE);
	test_has(in_tree(&p, "changed"), "old");
	txn_abandon(t);
	txn_abandon(NULL);
	assert_str(tree_text(&p), OLD_TREE);
	test_has(path_join(&p.a, p.top, S("stage/x/f")), "new");
	place_close(&p);
}

static void a_commit_makes_all_visible(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t;
	struct stat st;
	struct strs left;
	assert_ok(txn_begin(p.journal, &t));
	stage_all(&p, t);
	assert_ok(txn_commit(t, false));
	assert_str(tree_text(&p), NEW_TREE);
	test_has(in_tree(&p, "changed"), "new");
	test_has(in_tree(&p, "dir/f"), "new");
	assert_ok(fs_stat(in_tree(&p, "changed"), &st));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_ok(fs_list(&p.a, p.journal, &left));
	assert_int_equal(left.n, 1);
	assert_str(left.v[0], "lock");
	place_close(&p);
}

static void a_kept_commit_can_be_undone(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t;
	struct strs left;
	assert_ok(txn_begin(p.journal, &t));
	stage_all(&p, t);
	assert_ok(txn_commit(t, true));
	assert_str(tree_text(&p), NEW_TREE);
	assert_ok(txn_undo(p.journal));
	assert_str(tree_text(&p), OLD_TREE);
	test_has(in_tree(&p, "changed"), "old");
	test_has(in_tree(&p, "removed file"), "old");
	test_has(in_tree(&p, "dir/sub/f"), "old");
	assert_err(txn_undo(p.journal), E_NOENT);
	assert_ok(fs_list(&p.a, p.journal, &left));
	assert_int_equal(left.n, 1);
	place_close(&p);
}

static void put_one(struct place *p, const char *text)
{
	struct txn *t;
	assert_ok(txn_begin(p->journal, &t));
	assert_ok(txn_write(t, in_tree(p, "changed"), str_from(text), 0644));
	assert_ok(txn_commit(t, true));
}

static void undos_go_back_one_by_one(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	for (int i = 0; i < 12; i++)
		put_one(&p, str_fmt(&p.a, "%d", i).p);
	for (int i = 11; i > 0; i--) {
		test_has(in_tree(&p, "changed"), str_fmt(&p.a, "%d", i).p);
		assert_ok(txn_undo(p.journal));
	}
	assert_ok(txn_undo(p.journal));
	test_has(in_tree(&p, "changed"), "old");
	place_close(&p);
}

static void staging_a_path_again_replaces_it(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t;
	assert_ok(txn_begin(p.journal, &t));
	assert_ok(txn_remove(t, in_tree(&p, "changed")));
	assert_ok(txn_write(t, in_tree(&p, "changed"), S("one"), 0644));
	assert_ok(txn_write(t, in_tree(&p, "./changed"), S("two"), 0644));
	assert_ok(txn_write(t, in_tree(&p, "removed file"), S("x"), 0644));
	assert_ok(txn_remove(t, in_tree(&p, "removed file")));
	assert_ok(txn_commit(t, false));
	test_has(in_tree(&p, "changed"), "two");
	assert_false(fs_exists(in_tree(&p, "removed file")));
	place_close(&p);
}

static void changes_inside_each_other_are_refused(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t;
	assert_ok(txn_begin(p.journal, &t));
	assert_ok(txn_write(t, in_tree(&p, "dir/sub/f"), S("x"), 0644));
	assert_ok(txn_remove(t, in_tree(&p, "dir")));
	assert_err_says(txn_commit(t, false), E_INTERNAL, "lies inside");
	assert_ok(txn_begin(p.journal, &t));
	assert_ok(txn_write(t, S("relative"), S("x"), 0644));
	assert_err_says(txn_commit(t, false), E_INTERNAL, "no absolute path");
	assert_str(tree_text(&p), OLD_TREE);
	place_close(&p);
}

static void only_what_can_be_moved_is_staged(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t;
	struct str gone = path_join(&p.a, p.top, S("stage/x"));
	assert_ok(txn_begin(p.journal, &t));
	assert_err(txn_move(t, in_tree(&p, "no such file"), in_tree(&p, "changed")), E_NOENT);
	assert_err_says(txn_move(t, S("/proc/version"), in_tree(&p, "changed")), E_INTERNAL,
		"different file systems");
	assert_ok(txn_move(t, gone, in_tree(&p, "dir")));
	assert_ok(fs_remove_tree(gone));
	assert_err_says(txn_commit(t, false), E_NOENT, "stage/x");
	assert_str(tree_text(&p), OLD_TREE);
	place_close(&p);
}

static void the_root_and_odd_paths_are_refused(void **state)
{
	(void)state;
	static const char *const paths[] = {"/", "", "a", "/../.."};
	struct place p;
	place_open(&p);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct txn *t;
		assert_ok(txn_begin(p.journal, &t));
		assert_ok(txn_remove(t, str_from(paths[i])));
		assert_err_says(txn_commit(t, true), E_INTERNAL, "no absolute path");
	}
	assert_err(txn_undo(p.journal), E_NOENT);
	place_close(&p);
}

/* A receipt that a broken disk, or a hand, has damaged. */
static void a_damaged_receipt_is_not_undone(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	put_one(&p, "new");
	test_put(path_join(&p.a, p.journal, S("1/receipt")), "rubbish\n");
	assert_err_says(txn_undo(p.journal), E_CORRUPT, "1/receipt");
	test_has(in_tree(&p, "changed"), "new");
	struct txn *t;
	assert_ok(txn_begin(p.journal, &t)); /* work goes on */
	txn_abandon(t);
	place_close(&p);
}

/* Folders that others have come to use stay when the commit that made them is undone. */
static void used_folders_stay(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	assert_ok(change_and_keep(&p));
	test_put(in_tree(&p, "new/theirs"), "x");
	assert_ok(txn_undo(p.journal));
	test_has(in_tree(&p, "new/theirs"), "x");
	assert_false(fs_exists(in_tree(&p, "new/deep")));
	place_close(&p);
}

static void one_process_at_a_time(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t, *second;
	bool did;
	assert_ok(txn_begin(p.journal, &t));
	assert_err(txn_begin(p.journal, &second), E_LOCKED);
	assert_err(txn_recover(p.journal, &did), E_LOCKED);
	txn_abandonp(&t);
	assert_null(t);
	assert_ok(txn_begin(p.journal, &t));
	txn_abandon(t);
	place_close(&p);
}

static void links_and_odd_names_survive(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t;
	struct str link = in_tree(&p, "link"), got, odd = in_tree(&p, "a b%20\n\tc\x7f\xff");
	assert_ok(fs_symlink(S("nowhere"), link));
	test_put(odd, "old");
	assert_ok(txn_begin(p.journal, &t));
	assert_ok(txn_write(t, link, S("file"), 0644));
	assert_ok(txn_write(t, odd, S("new"), 0644));
	assert_ok(txn_commit(t, true));
	test_has(link, "file");
	test_has(odd, "new");
	assert_ok(txn_undo(p.journal));
	assert_ok(fs_readlink(&p.a, link, &got));
	assert_str(got, "nowhere");
	test_has(odd, "old");
	place_close(&p);
}

static void files_and_folders_take_each_others_place(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	struct txn *t;
	struct str x = path_join(&p.a, p.top, S("stage/x"));
	assert_ok(txn_begin(p.journal, &t));
	assert_ok(txn_move(t, x, in_tree(&p, "changed")));
	assert_ok(txn_write(t, in_tree(&p, "dir"), S("file"), 0644));
	assert_ok(txn_commit(t, true));
	test_has(in_tree(&p, "changed/f"), "new");
	test_has(in_tree(&p, "dir"), "file");
	assert_ok(txn_undo(p.journal));
	assert_str(tree_text(&p), OLD_TREE);
	place_close(&p);
}

static void damaged_journals_are_told(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "rocsmith-txn 2 \nend\n", "rocsmith-txn 1 \n",
		"rocsmith-txn 1 \nmove /a\nend\n", "rocsmith-txn 1 \nfly /a /b\nend\n",
		"rocsmith-txn 1 \nmove /a%2 /b\nend\n", "rocsmith-txn 1 \nmove  /b\nend\n",
		"rocsmith-txn 1 \nend\nmore\n", "rocsmith-txn 1 %zz\nend\n"};
	struct place p;
	place_open(&p);
	struct str journal = path_join(&p.a, p.journal, S("7/journal"));
	assert_ok(fs_mkdirs(path_dir(journal)));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		bool did;
		test_put(journal, bad[i]);
		assert_err_says(txn_recover(p.journal, &did), E_CORRUPT, "journal/7/journal");
	}
	struct txn *t;
	assert_err(txn_begin(p.journal, &t), E_CORRUPT);
	place_close(&p);
}

static void recovery_of_nothing_is_fine(void **state)
{
	(void)state;
	struct place p;
	place_open(&p);
	bool did = true;
	assert_ok(txn_recover(p.journal, &did));
	assert_false(did);
	put_one(&p, "kept");
	assert_ok(txn_recover(p.journal, &did));
	assert_false(did);
	test_has(in_tree(&p, "changed"), "kept");
	/* staged, then killed: the folder of the transaction is all there is */
	assert_ok(fs_mkdirs(path_join(&p.a, p.journal, S("2"))));
	test_put(path_join(&p.a, p.journal, S("2/0.new")), "x");
	assert_ok(txn_recover(p.journal, &did));
	assert_true(did);
	assert_false(fs_exists(path_join(&p.a, p.journal, S("2"))));
	place_close(&p);
}

/* ---- every I/O call fails once, and the process is killed before every one ---- */

static struct err *add_content(void *user, const struct fs_entry *e, bool *prune)
{
	struct place *p = user;
	struct str path = path_join(&p->a, p->top, e->path), text = S("");
	*prune = str_eq(e->path, S("journal"));
	if (*prune)
		return NULL;
	if (S_ISREG(e->st.st_mode))
		TRY(fs_read(&p->a, path, 1 << 20, &text));
	p->seen = str_fmt(&p->a, "%.*s%.*s %o %.*s\n", STR(p->seen), STR(e->path),
		(unsigned)e->st.st_mode, STR(text));
	return NULL;
}

/* Everything but the journal, as text. */
static struct str snapshot(struct place *p)
{
	p->seen = S("");
	assert_ok(fs_walk(p->top, add_content, p));
	return p->seen;
}

/* The journal folder holds nothing but the lock, and receipts when there may be some. */
static void assert_tidy(struct place *p)
{
	struct strs left = {0};
	if (fs_is_dir(p->journal))
		assert_ok(fs_list(&p->a, p->journal, &left));
	for (size_t i = 0; i < left.n; i++) {
		struct str receipt =
			str_fmt(&p->a, "%.*s/%.*s/receipt", STR(p->journal), STR(left.v[i]));
		if (!str_eq(left.v[i], S("lock")) && !fs_present(receipt))
			fail_msg("left behind: %s", left.v[i].p);
	}
}

static struct err *change(struct place *p, bool keep)
{
	CLEANUP(txn_abandonp) struct txn *t = NULL;
	TRY(txn_begin(p->journal, &t));
	TRY(txn_write(t, in_tree(p, "changed"), S("new"), 0600));
	TRY(txn_write(t, in_tree(p, "new/deep/file"), S("new"), 0644));
	TRY(txn_remove(t, in_tree(p, "removed file")));
	TRY(txn_move(t, path_join(&p->a, p->top, S("stage/x")), in_tree(p, "dir")));
	struct txn *mine = t;
	t = NULL;
	return txn_commit(mine, keep);
}

static struct err *change_only(struct place *p)
{
	return change(p, false);
}

static struct err *change_and_keep(struct place *p)
{
	return change(p, true);
}

static struct err *undo(struct place *p)
{
	return txn_undo(p->journal);
}

static struct err *nothing(struct place *p)
{
	(void)p;
	return NULL;
}

/* What is swept: first is done undisturbed, then work is disturbed. */
static const struct sweep {
	const char *name;
	struct err *(*first)(struct place *p);
	struct err *(*work)(struct place *p);
} sweeps[] = {
	{.name = "commit", .first = nothing, .work = change_only},
	{.name = "commit and keep", .first = nothing, .work = change_and_keep},
	{.name = "undo", .first = change_and_keep, .work = undo},
};

enum { SWEEPS = sizeof(sweeps) / sizeof(*sweeps) };

/* Both in one fixed place, so that snapshots of different runs compare. */
static void reference(const struct sweep *s, struct arena *a, struct str *old, struct str *new)
{
	struct place p;
	place_open(&p);
	assert_ok(s->first(&p));
	*old = str_dup(a, snapshot(&p));
	assert_ok(s->work(&p));
	*new = str_dup(a, snapshot(&p));
	assert_false(str_eq(*old, *new));
	place_close(&p);
}

/* One run in which call n fails; false when there was no such call any more. */
static bool fail_once(const struct sweep *s, uint64_t n, int no, const struct str both[2])
{
	struct place p;
	bool did;
	place_open(&p);
	assert_ok(s->first(&p));
	fault_arm(n, no);
	CLEANUP(err_freep) struct err *e = s->work(&p);
	const char *name = fault_hit();
	fault_arm(0, 0);
	/* after the decision only tidying up can fail, and the next recovery repeats that */
	if (!e)
		assert_ok(txn_recover(p.journal, &did));
	bool good = str_eq(snapshot(&p), both[e ? 0 : 1]);
	if (!good)
		print_error("%s, call %d (%s): %s\n%.*s", s->name, (int)n, name,
			e ? e->msg : "success", STR(p.seen));
	assert_true(good);
	assert_ok(txn_recover(p.journal, &did));
	assert_true(str_eq(snapshot(&p), both[e ? 0 : 1]));
	assert_tidy(&p);
	place_close(&p);
	return name != NULL;
}

static void any_failing_call_leaves_all_as_it_was(void **state)
{
	(void)state;
	static const int errnos[] = {ENOSPC, EIO};
	ARENA(a);
	struct str both[2];
	for (size_t i = 0; i < SWEEPS; i++) {
		reference(&sweeps[i], &a, &both[0], &both[1]);
		uint64_t n = 1;
		while (fail_once(&sweeps[i], n, errnos[n % 2], both))
			n++;
		assert_true(n > 30);
	}
}

/* Does work in a child that dies before its n-th call; true when it did die. */
static bool kill_at(struct place *p, struct err *(*work)(struct place *p), uint64_t n)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		fault_arm(n, FAULT_KILL);
		struct err *e = work(p);
		_exit(e ? 1 : 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_int_equal(status, 0);
	return false;
}

static struct err *recover(struct place *p)
{
	bool did;
	return txn_recover(p->journal, &did);
}

static bool kill_once(const struct sweep *s, uint64_t n, bool again, const struct str both[2])
{
	struct place p;
	place_open(&p);
	assert_ok(s->first(&p));
	bool killed = kill_at(&p, s->work, n);
	/* the recovery may be killed as well, at a later call each time */
	for (uint64_t m = 1; again && kill_at(&p, recover, m); m++)
		;
	assert_ok(recover(&p));
	struct str now = snapshot(&p);
	bool good = str_eq(now, both[0]) || str_eq(now, both[1]);
	if (!good)
		print_error("%s, killed at call %d:\n%.*s", s->name, (int)n, STR(now));
	assert_true(good);
	assert_tidy(&p);
	if (str_eq(now, both[0]))
		assert_ok(s->work(&p));
	assert_true(str_eq(snapshot(&p), both[1]));
	place_close(&p);
	return killed;
}

static void a_kill_anywhere_leaves_old_or_new(void **state)
{
	(void)state;
	ARENA(a);
	struct str both[2];
	for (size_t i = 0; i < SWEEPS; i++) {
		reference(&sweeps[i], &a, &both[0], &both[1]);
		uint64_t n = 1;
		while (kill_once(&sweeps[i], n, false, both))
			n++;
		assert_true(n > 30);
	}
}

static void a_recovery_may_be_killed_too(void **state)
{
	(void)state;
	ARENA(a);
	struct str both[2];
	for (size_t i = 0; i < SWEEPS; i++) {
		reference(&sweeps[i], &a, &both[0], &both[1]);
		for (uint64_t n = 1; kill_once(&sweeps[i], n, true, both); n += 2)
			;
	}
}

int main(void)
{
	/* thousands of syncs: in memory, where there is such a place */
	if (fs_is_dir(S("/dev/shm")))
		setenv("TMPDIR", "/dev/shm", 0);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_shows_before_the_commit),
		cmocka_unit_test(a_commit_makes_all_visible),
		cmocka_unit_test(a_kept_commit_can_be_undone),
		cmocka_unit_test(undos_go_back_one_by_one),
		cmocka_unit_test(staging_a_path_again_replaces_it),
		cmocka_unit_test(changes_inside_each_other_are_refused),
		cmocka_unit_test(only_what_can_be_moved_is_staged),
		cmocka_unit_test(the_root_and_odd_paths_are_refused),
		cmocka_unit_test(a_damaged_receipt_is_not_undone),
		cmocka_unit_test(used_folders_stay),
		cmocka_unit_test(one_process_at_a_time),
		cmocka_unit_test(links_and_odd_names_survive),
		cmocka_unit_test(files_and_folders_take_each_others_place),
		cmocka_unit_test(damaged_journals_are_told),
		cmocka_unit_test(recovery_of_nothing_is_fine),
		cmocka_unit_test(any_failing_call_leaves_all_as_it_was),
		cmocka_unit_test(a_kill_anywhere_leaves_old_or_new),
		cmocka_unit_test(a_recovery_may_be_killed_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
