/* Transactions: base/txn.h. */
#include "test.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/txn.h"

/* A folder with files to change, and the journal beside it. */
struct place {
	struct arena a;
	struct str top, tree, journal;
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
	struct place *p = user;
	(void)prune;
	(void)p;
	struct buf *b = user;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_shows_before_the_commit),
		cmocka_unit_test(a_commit_makes_all_visible),
		cmocka_unit_test(a_kept_commit_can_be_undone),
		cmocka_unit_test(undos_go_back_one_by_one),
		cmocka_unit_test(staging_a_path_again_replaces_it),
		cmocka_unit_test(changes_inside_each_other_are_refused),
		cmocka_unit_test(one_process_at_a_time),
		cmocka_unit_test(links_and_odd_names_survive),
		cmocka_unit_test(files_and_folders_take_each_others_place),
		cmocka_unit_test(damaged_journals_are_told),
		cmocka_unit_test(recovery_of_nothing_is_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
