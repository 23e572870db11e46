/* The manifest: what is written is read back, damage of any kind is one error with a hint that
 * fits, the version before can be undone, and made_content() tells whose a content is. */
#include "test.h"

#include <libdeflate.h>
#include <unistd.h>

#include "base/vec.h"
#include "changes/manifest.h"
#include "formats/le.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The files that were synced, in place of the C library's; the kernel syncs them all the same. */
static ino_t synced[64];
static unsigned syncs;

int fsync(int fd)
{
	struct stat st;
	if (fstat(fd, &st) == 0)
		synced[syncs++ % 64] = st.st_ino;
	return (int)syscall(SYS_fsync, fd);
}

/* One record of each kind, with awkward texts. */
static struct manifest sample(struct arena *a)
{
	struct manifest m = {.a = a, .kind = BASE_OVERLAY, .complete = true};
	m.identity = S("0.1.0 torch 2.6.0");
	m.root = S("/somewhere/with\nline end");
	*VEC_PUSH(a, &m.made) = (struct made){
		.output = S("a\tb.hip"),
		.source = S("größe.cu"),
		.kind = MADE_TEXT,
		.replaced = true,
		.hash = sum_of(S("one")),
		.before = sum_of(S("two")),
		.sig = {.size = 3, .mtime = UINT64_MAX, .ctime = 5, .ino = 1ull << 40},
	};
	*VEC_PUSH(a, &m.made) = (struct made){.output = S("d"), .kind = MADE_FOUND};
	*VEC_PUSH(a, &m.seen) = (struct seen){.path = S("/abs"),
		.kind = SEEN_PROBE,
		.absent = true,
		.racy = true,
		.hash = sum_of(S("x"))};
	*VEC_PUSH(a, &m.changes) = (struct change){.source = S("s"),
		.output = S("o"),
		.status = CHANGE_UNCHANGED,
		.mark = 1,
		.edits = 77};
	m.report = S("any\0bytes");
	return m;
}

static void what_is_written_is_read_back(void **state)
{
	(void)state;
	ARENA(a);
	struct manifest m = sample(&a), r;
	struct str text = manifest_text(&a, &m);
	assert_ok(manifest_parse(&a, text, &r));
	assert_true(r.complete && r.kind == BASE_OVERLAY);
	assert_str(r.identity, "0.1.0 torch 2.6.0");
	assert_str(r.root, "/somewhere/with\nline end");
	assert_int_equal(r.made.n, 2);
	assert_str(r.made.v[0].output, "a\tb.hip");
	assert_true(r.made.v[0].replaced && sum_eq(&r.made.v[0].hash, &m.made.v[0].hash));
	assert_true(sum_eq(&r.made.v[0].before, &m.made.v[0].before));
	assert_true(sig_eq(&r.made.v[0].sig, &m.made.v[0].sig));
	assert_int_equal(r.made.v[1].kind, MADE_FOUND);
	assert_true(sum_none(&r.made.v[1].hash));
	assert_true(r.seen.v[0].absent && r.seen.v[0].racy && r.seen.v[0].kind == SEEN_PROBE);
	assert_int_equal(r.changes.v[0].status, CHANGE_UNCHANGED);
	assert_true(r.changes.v[0].mark == 1 && r.changes.v[0].edits == 77);
	assert_true(str_eq(r.report, S("any\0bytes")));
	struct str again = manifest_text(&a, &r);
	assert_true(str_eq(text, again));
}

static void each_cut_and_each_flipped_bit_is_damage(void **state)
{
	(void)state;
	ARENA(a);
	struct manifest m = sample(&a), r;
	struct str text = manifest_text(&a, &m);
	for (size_t n = 0; n < text.n; n++)
		assert_err(manifest_parse(&a, str_sub(text, 0, n), &r), E_CORRUPT);
	char *p = str_z(&a, text);
	for (size_t bit = 0; bit < text.n * 8; bit++) {
		p[bit / 8] = (char)(p[bit / 8] ^ 1 << bit % 8);
		struct err *e = manifest_parse(&a, (struct str){p, text.n}, &r);
		assert_true(e ? e->code == E_CORRUPT : !sum_none(&r.seal)); /* by its seal, then */
		err_free(e);
		p[bit / 8] = (char)(p[bit / 8] ^ 1 << bit % 8);
	}
	assert_err_says(manifest_parse(&a, S("rocsmith hipify manifest 3\n"), &r), E_CORRUPT,
		"not a manifest that this rocsmith knows");
	assert_err_says(manifest_parse(&a, S("# rocsmith hipify manifest 1\n"), &r), E_CORRUPT,
		"not a manifest that this rocsmith knows");
}

/* Whatever a loss of power leaves of it: then the first one counts. */
static void one_added_behind_counts_when_it_is_whole(void **state)
{
	(void)state;
	ARENA(a);
	struct manifest intent = sample(&a), end = sample(&a), r;
	intent.complete = false;
	struct str first = manifest_text(&a, &intent), last = manifest_text(&a, &end);
	struct str both =
		str_join(&a, &(struct strs){.v = (struct str[]){first, last}, .n = 2}, S(""));
	char *p = str_z(&a, both);
	for (size_t n = first.n; n < both.n; n++) {
		assert_ok(manifest_parse(&a, str_sub(both, 0, n), &r));
		assert_false(r.complete);
	}
	assert_ok(manifest_parse(&a, both, &r));
	assert_true(r.complete);
	memset(p + first.n, 0, last.n);
	assert_ok(manifest_parse(&a, (struct str){p, both.n}, &r));
	assert_false(r.complete);
}

/* A checksum does not stop a hostile file: paths that lead out of the folder are damage too. */
static void no_output_is_outside(void **state)
{
	(void)state;
	ARENA(a);
	struct manifest r;
	static const char *const outside[] = {"/etc/passwd", "../x", "a/../../x", "..", ""};
	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++) {
		struct manifest m = sample(&a);
		m.made.v[0].output = str_from(outside[i]);
		assert_err_says(
			manifest_parse(&a, manifest_text(&a, &m), &r), E_CORRUPT, "damaged record");
	}
}

/* A whole one that somebody else wrote, changed, or wrote behind ours. */
static void only_ones_own_are_believed(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), journal = changes_journal(&a, dir, S("")), text, other;
	struct str path = path_join(&a, journal, S("hipify.manifest"));
	struct manifest m = sample(&a), *r;
	m.journal = journal;
	assert_ok(fs_mkdirs(journal));
	setenv("ROCSMITH_HOME", path_join(&a, dir, S("other")).p, 1);
	assert_ok(manifest_write(&m));
	assert_ok(fs_read(&a, path, 1 << 20, &other));
	setenv("ROCSMITH_HOME", path_join(&a, dir, S("home")).p, 1);
	assert_err_says(manifest_read(&a, journal, &r), E_PERM, "not written by this user's");
	assert_null(r);
	assert_ok(manifest_write(&m));
	assert_ok(manifest_read(&a, journal, &r));
	assert_int_equal(r->made.n, 2);
	assert_ok(fs_read(&a, path, 1 << 20, &text));
	struct str mixed[] = {manifest_text(&a, &m), str_fmt(&a, "x"),
		str_join(&a, &(struct strs){.v = (struct str[]){text, other}, .n = 2}, S("")),
		str_join(&a,
			&(struct strs){.v = (struct str[]){text, manifest_text(&a, &m)}, .n = 2},
			S(""))};
	for (size_t i = 0; i < 4; i++) {
		assert_ok(fs_write(path, mixed[i], 0644));
		assert_err(manifest_read(&a, journal, &r), i == 1 ? E_CORRUPT : E_PERM);
	}
	assert_ok(fs_write(path, text, 0644));
	assert_ok(manifest_read(&a, journal, &r));
	test_dir_remove(dir);
}

static void a_manifest_is_on_the_disk_before_its_name(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), journal = changes_journal(&a, dir, S(""));
	struct manifest m = sample(&a);
	struct stat st;
	m.journal = journal;
	setenv("ROCSMITH_HOME", path_join(&a, dir, S("home")).p, 1);
	assert_ok(fs_mkdirs(journal));
	assert_ok(manifest_write(&m));
	assert_ok(fs_stat(path_join(&a, journal, S("hipify.manifest")), &st));
	bool found = false;
	for (unsigned i = 0; i < syncs && i < 64; i++)
		found = found || synced[i] == st.st_ino;
	assert_true(found);
	test_dir_remove(dir);
}

/* The first runs of a user, all at once: one makes the key, and all use it. */
static void one_key_is_made(void **state)
{
	(void)state;
	enum { PROCESSES = 12, ROUNDS = 8 };
	ARENA(a);
	struct str dir = test_dir(&a);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct sum first, s;
		pid_t pids[PROCESSES];
		int go[2], said[2];
		char c;
		setenv("ROCSMITH_HOME", path_join(&a, dir, str_fmt(&a, "%u", round)).p, 1);
		assert_int_equal(pipe(go) + pipe(said), 0);
		for (unsigned i = 0; i < PROCESSES; i++) {
			pids[i] = fork();
			if (pids[i])
				continue;
			close(go[1]);
			(void)!read(go[0], &c, 1); /* until all are there */
			bool good =
				!seal_of(S("x"), &s) && write(said[1], &s, sizeof(s)) == sizeof(s);
			_exit(good ? 0 : 1);
		}
		close(go[0]);
		close(go[1]);
		close(said[1]);
		assert_int_equal(read(said[0], &first, sizeof(first)), sizeof(first));
		for (unsigned i = 1; i < PROCESSES; i++) {
			assert_int_equal(read(said[0], &s, sizeof(s)), sizeof(s));
			assert_memory_equal(&s, &first, sizeof(s));
		}
		close(said[0]);
		for (unsigned i = 0; i < PROCESSES; i++)
			assert_true(waitpid(pids[i], NULL, 0) == pids[i]);
	}
	test_dir_remove(dir);
}

static void what_is_no_key_is_not_replaced(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), text;
	struct sum s;
	struct strs names;
	setenv("ROCSMITH_HOME", str_z(&a, dir), 1);
	assert_ok(seal_of(S("x"), &s));
	struct str place = fs_place(&a, FS_STATE, S(""));
	assert_ok(fs_list(&a, place, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str path = path_join(&a, place, names.v[i]);
		if (str_ends(path, S(".lock")))
			continue;
		assert_ok(fs_read(&a, path, 100, &text));
		assert_int_equal(text.n, 64);
		assert_ok(fs_write(path, S("short"), 0600));
		assert_err_says(seal_of(S("x"), &s), E_CORRUPT, "is no key of rocsmith");
		test_has(path, "short");
	}
	test_dir_remove(dir);
}

static void a_journal_is_a_real_folder_of_the_user(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), journal = changes_journal(&a, dir, S("")),
		   real = path_join(&a, dir, S("real"));
	struct manifest m = sample(&a), *r;
	setenv("ROCSMITH_HOME", path_join(&a, dir, S("home")).p, 1);
	m.journal = real;
	assert_ok(fs_mkdirs(real));
	assert_ok(manifest_write(&m));
	assert_ok(fs_symlink(S("real"), journal));
	assert_err_says(manifest_read(&a, journal, &r), E_PERM, "is not a folder");
	assert_ok(fs_remove(journal));
	assert_ok(fs_mkdirs(journal));
	assert_ok(fs_symlink(
		S("../real/hipify.manifest"), path_join(&a, journal, S("hipify.manifest"))));
	assert_err(manifest_read(&a, journal, &r), E_IO);
	assert_ok(fs_remove(path_join(&a, journal, S("hipify.manifest"))));
	if (chown(journal.p, 1234, 1234) == 0)
		assert_err_says(manifest_read(&a, journal, &r), E_PERM, "another user");
	test_dir_remove(dir);
}

static bool hints(struct err *e, const char *text)
{
	bool found = false;
	for (struct err_hint *h = e ? e->hints : NULL; h; h = h->next)
		found = found || strstr(h->text, text);
	err_free(e);
	return found;
}

static void the_hint_fits_the_folder(void **state)
{
	(void)state;
	ARENA(a);
	struct manifest *m;
	struct str dir = test_dir(&a), journal = changes_journal(&a, dir, S(""));
	struct str path = path_join(&a, journal, S("hipify.manifest"));
	assert_ok(manifest_read(&a, journal, &m));
	assert_null(m);
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, "something else");
	assert_true(hints(manifest_read(&a, journal, &m), "run again; the files made so far"));
	assert_ok(fs_mkdirs(path_join(&a, journal, S("originals"))));
	assert_true(hints(manifest_read(&a, journal, &m), "copy them back over those"));
	test_dir_remove(dir);
}

static enum content look(struct str dir, const struct made *e)
{
	ARENA(a);
	struct manifest m = {.root = dir, .journal = changes_journal(&a, dir, S(""))};
	enum content h = CONTENT_NONE;
	assert_ok(made_content(&m, dir, e, &h));
	return h;
}

static void contents_are_told_apart(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("x.h"));
	struct made e = {.output = S("x.h"),
		.source = S("y.h"),
		.replaced = true,
		.hash = sum_of(S("new")),
		.before = sum_of(S("earlier")),
		.sig = {.size = 3}};
	assert_int_equal(look(dir, &e), CONTENT_NONE);
	test_put(path, "new");
	assert_int_equal(look(dir, &e), CONTENT_MADE);
	test_put(path, "earlier");
	assert_int_equal(look(dir, &e), CONTENT_MADE);
	test_put(path, "");
	assert_int_equal(look(dir, &e), CONTENT_MADE); /* torn */
	test_put(path, "cuda");
	assert_int_equal(look(dir, &e), CONTENT_OTHER);
	struct str journal = changes_journal(&a, dir, S(""));
	assert_ok(fs_mkdirs(path_join(&a, journal, S("originals"))));
	assert_ok(fs_link(path, base_original(&a, journal, S("x.h"))));
	assert_int_equal(look(dir, &e), CONTENT_ORIGINAL); /* the same file */
	test_put(path, "cuda");
	assert_int_equal(look(dir, &e), CONTENT_OTHER); /* but not the one that was replaced */
	assert_ok(sum_of_original(base_original(&a, journal, S("x.h")), &e.original));
	assert_int_equal(look(dir, &e), CONTENT_ORIGINAL); /* the same content */
	test_put(path_join(&a, dir, S("y.h")), "cuda");
	e.kind = MADE_COPY;
	e.replaced = false;
	assert_int_equal(look(dir, &e), CONTENT_MADE);
	test_put(path_join(&a, dir, S("y.h")), "cudb");
	assert_int_equal(look(dir, &e), CONTENT_OTHER);
	e.hash = sum_of(S("cuda"));
	assert_int_equal(look(dir, &e), CONTENT_MADE);
	test_dir_remove(dir);
}

static void links_are_told_by_their_target(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct made e = {.output = S("x"), .source = S("y"), .kind = MADE_LINK};
	assert_ok(fs_symlink(S("nowhere"), path_join(&a, dir, S("x"))));
	assert_int_equal(look(dir, &e), CONTENT_OTHER);
	assert_ok(fs_symlink(S("nowhere"), path_join(&a, dir, S("y"))));
	assert_int_equal(look(dir, &e), CONTENT_MADE);
	test_dir_remove(dir);
}

static void times_too_fresh_are_racy(void **state)
{
	(void)state;
	struct stat st = {.st_dev = 7, .st_ctim = {.tv_sec = 1700000000, .tv_nsec = 1}};
	uint64_t start = 1700000000000000000u;
	assert_true(sig_unsure(&st, start + 1, 0));
	assert_true(sig_unsure(&st, start + 1, 8));
	assert_false(sig_unsure(&st, start + 1, 7)); /* a file system that tells all changes */
	assert_false(sig_unsure(&st, start + 2, 0));
	st.st_ctim.tv_nsec = 0; /* whole seconds: the clock may be that coarse */
	assert_true(sig_unsure(&st, start + 1999999999u, 0));
	assert_false(sig_unsure(&st, start + 2000000001u, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(each_cut_and_each_flipped_bit_is_damage),
		cmocka_unit_test(one_added_behind_counts_when_it_is_whole),
		cmocka_unit_test(no_output_is_outside),
		cmocka_unit_test(only_ones_own_are_believed),
		cmocka_unit_test(a_manifest_is_on_the_disk_before_its_name),
		cmocka_unit_test(one_key_is_made),
		cmocka_unit_test(what_is_no_key_is_not_replaced),
		cmocka_unit_test(a_journal_is_a_real_folder_of_the_user),
		cmocka_unit_test(the_hint_fits_the_folder),
		cmocka_unit_test(contents_are_told_apart),
		cmocka_unit_test(links_are_told_by_their_target),
		cmocka_unit_test(times_too_fresh_are_racy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
