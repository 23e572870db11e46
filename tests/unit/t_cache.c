/* The cache of objects: entries come back as they were put, and nothing else does. */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "cache/cache.h"

#define SECRET "0123456789abcdef0123456789abcdef0123"

static struct str folder(struct arena *a)
{
	struct str dir;
	assert_ok(fs_tempdir(a, S(""), &dir));
	assert_int_equal(setenv("ROCSMITH_HOME", str_z(a, path_join(a, dir, S("home"))), 1), 0);
	assert_ok(fs_mkdirs(path_join(a, dir, S("home"))));
	return dir;
}

static struct str key_file(struct arena *a, struct str dir, const char *text, unsigned mode)
{
	struct str path = path_join(a, dir, S("key"));
	assert_ok(fs_write(path, str_from(text), mode | FS_EXACT));
	return path;
}

static struct digest key_of(const char *text)
{
	return hash_bytes(HASH_SHA256, text, str_from(text).n);
}

static const struct cache_entry sample = {.said = S_INIT("a.cu:1: warning"),
	.object = S_INIT("\177ELF\0x"),
	.seconds = 1.5,
	.cpu = 2,
	.memory = 7};

static void put(const struct cache_wish *w, const char *key)
{
	CLEANUP(cache_closep) struct cache *c = NULL;
	struct digest d = key_of(key);
	assert_ok(cache_open(w, &c));
	cache_put(c, &d, &sample);
}

static bool has(const struct cache_wish *w, const char *key)
{
	ARENA(a);
	CLEANUP(cache_closep) struct cache *c = NULL;
	struct digest d = key_of(key);
	struct cache_entry e;
	assert_ok(cache_open(w, &c));
	if (!cache_get(&a, c, &d, &e))
		return false;
	assert_true(str_eq(e.said, sample.said));
	assert_true(str_eq(e.object, sample.object));
	assert_true(e.seconds > 1.49 && e.seconds < 1.51);
	assert_int_equal(e.memory, 7);
	fs_unmap(&e.file);
	return true;
}

/* The file of an entry below dir. */
static struct str entry_path(struct arena *a, struct str dir, const char *key)
{
	struct digest d = key_of(key);
	struct str hex = digest_hex(a, d);
	return str_fmt(a, "%.*s/%.2s/%.*s", STR(dir), hex.p, STR(hex));
}

static void what_is_put_comes_back(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	(void)dir;
	const struct cache_wish local = {.where = S("local")}, off = {.where = S("off")};
	struct cache *none;
	assert_ok(cache_open(&off, &none));
	assert_null(none);
	assert_false(has(&local, "one"));
	put(&local, "one");
	assert_true(has(&local, "one"));
	assert_false(has(&local, "two"));
}

/* Every byte counts: an entry with a changed one is not believed. */
static void a_changed_entry_is_absent(void **state)
{
	(void)state;
	ARENA(a);
	struct cache_entry e;
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	struct digest d = key_of("one");
	struct str text;
	const struct cache_wish w = {.where = path_join(&a, dir, S("shared")),
		.key_file = key_file(&a, dir, SECRET, 0600)};
	put(&w, "one");
	assert_ok(fs_read(&a, entry_path(&a, w.where, "one"), 4096, &text));
	assert_true(cache_entry_read(S(SECRET), &d, text, &e));
	assert_false(cache_entry_read(S("another secret"), &d, text, &e));
	for (size_t i = 0; i < text.n; i++) {
		char *copy = str_z(&a, str_dup(&a, text));
		copy[i] ^= 1;
		assert_false(cache_entry_read(S(SECRET), &d, (struct str){copy, text.n}, &e));
		assert_false(cache_entry_read(S(SECRET), &d, str_sub(text, 0, i), &e));
	}
	d = key_of("two");
	assert_false(cache_entry_read(S(SECRET), &d, text, &e));
}

static void others_are_believed_only_with_the_key(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	struct cache *none = NULL;
	struct str shared = path_join(&a, dir, S("shared"));
	assert_ok(fs_mkdirs(shared));
	assert_int_equal(chmod(str_z(&a, shared), 0777), 0);
	struct cache_wish w = {.where = shared};
	assert_err(cache_open(&w, &none), E_USAGE);
	w.key_file = key_file(&a, dir, SECRET, 0644);
	assert_err(cache_open(&w, &none), E_PERM);
	w.key_file = key_file(&a, dir, "short", 0600);
	assert_err(cache_open(&w, &none), E_USAGE);
	w.key_file = key_file(&a, dir, SECRET, 0600);
	put(&w, "one");
	assert_ok(fs_remove_tree(fs_place(&a, FS_CACHE, S("objects"))));
	assert_true(has(&w, "one")); /* from the shared folder, into the own one */
	assert_ok(fs_remove_tree(fs_place(&a, FS_CACHE, S("objects"))));
	key_file(&a, dir, SECRET "x", 0600);
	assert_false(has(&w, "one"));
	assert_null(none);
}

static void places_of_no_known_kind_are_refused(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	struct cache *none = NULL;
	struct cache_wish w = {.where = S("ftp://x/y")};
	assert_err(cache_open(&w, &none), E_USAGE);
	w.where = S("https://127.0.0.1:9/x"); /* no key */
	assert_err(cache_open(&w, &none), E_USAGE);
	unsetenv("AWS_ACCESS_KEY_ID");
	w.where = S("s3://bucket/x");
	w.key_file = key_file(&a, dir, SECRET, 0600);
	assert_err(cache_open(&w, &none), E_USAGE);
	assert_null(none);
}

static void a_link_is_no_entry(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	const struct cache_wish local = {.where = S("local")};
	put(&local, "one");
	struct str path = entry_path(&a, fs_place(&a, FS_CACHE, S("objects")), "one");
	struct str moved = path_join(&a, dir, S("moved"));
	assert_ok(fs_rename(path, moved));
	assert_ok(fs_symlink(moved, path));
	assert_false(has(&local, "one"));
}

static void the_longest_unused_go_first(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	(void)dir;
	struct str own = fs_place(&a, FS_CACHE, S("objects"));
	struct cache_wish w = {.where = S("local")};
	static const char *const keys[] = {"one", "two", "three"};
	for (size_t i = 0; i < 3; i++) {
		put(&w, keys[i]);
		struct timespec t[2] = {{.tv_sec = 1000 + (time_t)i}, {.tv_sec = 1000}};
		assert_int_equal(
			utimensat(AT_FDCWD, str_z(&a, entry_path(&a, own, keys[i])), t, 0), 0);
	}
	assert_true(has(&w, "one")); /* which makes it the newest */
	w.limit = 800;               /* two and a bit */
	put(&w, "four");
	assert_false(fs_exists(entry_path(&a, own, "two")));
	assert_true(fs_exists(entry_path(&a, own, "one")));
	assert_true(fs_exists(entry_path(&a, own, "four")));
}

/* Others may put links into a folder that they share with us. */
static void nothing_is_written_through_a_link_of_others(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	struct str mine = path_join(&a, dir, S("mine"));
	const struct cache_wish w = {.where = path_join(&a, dir, S("shared")),
		.key_file = key_file(&a, dir, SECRET, 0600)};
	struct str entry = entry_path(&a, w.where, "one");
	struct strs names = {0};
	assert_ok(fs_mkdirs(w.where));
	assert_ok(fs_mkdirs(mine));
	assert_ok(fs_symlink(mine, path_dir(entry)));
	put(&w, "one");
	assert_ok(fs_list(&a, mine, &names));
	assert_int_equal(names.n, 0);
}

/* A machine that only takes from others keeps its limit, too. */
static void what_was_fetched_counts(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	struct cache_wish w = {.where = path_join(&a, dir, S("shared")),
		.key_file = key_file(&a, dir, SECRET, 0600)};
	struct str own = fs_place(&a, FS_CACHE, S("objects"));
	put(&w, "one");
	assert_ok(fs_remove_tree(own));
	w.limit = 1;
	assert_true(has(&w, "one"));
	assert_false(fs_exists(entry_path(&a, own, "one")));
}

/* Compilers of another build system: they find what the lender's shared place has, and give it what they make. */
static void what_is_lent_is_shared(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	struct cache_wish w = {.where = path_join(&a, dir, S("shared")),
		.key_file = key_file(&a, dir, SECRET, 0600)};
	struct str own = fs_place(&a, FS_CACHE, S("objects")), text;
	struct digest one = key_of("one"), two = key_of("two");
	struct cache_entry e;
	put(&w, "one");
	assert_ok(fs_remove_tree(own));
	CLEANUP(cache_closep) struct cache *c = NULL;
	CLEANUP(cache_reclaimp) struct cache_lent *lent = NULL;
	assert_ok(cache_open(&w, &c));
	CLEANUP(cache_closep) struct cache *early = cache_borrow(own, dir);
	assert_false(cache_get(&a, early, &one, &e)); /* nobody lends yet */
	assert_ok(cache_lend(c, dir, &lent));
	CLEANUP(cache_closep) struct cache *borrowed = cache_borrow(cache_own_dir(c), dir);
	assert_true(cache_get(&a, borrowed, &one, &e));
	assert_true(str_eq(e.object, sample.object));
	fs_unmap(&e.file);
	assert_false(cache_get(&a, borrowed, &two, &e));
	cache_put(borrowed, &two, &sample);
	/* the borrower has no key: the lender seals */
	assert_ok(fs_read(&a, entry_path(&a, w.where, "two"), 4096, &text));
	assert_true(cache_entry_read(S(SECRET), &two, text, &e));
	assert_false(cache_entry_read(S("another secret"), &two, text, &e));
	/* a folder may have a longer name than the address of a socket */
	struct str deep = path_join(&a, dir, str_fmt(&a, "%0100d", 1));
	CLEANUP(cache_reclaimp) struct cache_lent *again = NULL;
	assert_ok(fs_mkdirs(deep));
	assert_ok(cache_lend(c, deep, &again));
	assert_ok(fs_remove_tree(own));
	CLEANUP(cache_closep) struct cache *far = cache_borrow(own, deep);
	assert_true(cache_get(&a, far, &two, &e));
	fs_unmap(&e.file);
}

/* A borrower that asked would never get an answer: the build waits for it. */
static void nothing_is_lent_where_no_thread_can_be_started(void **state)
{
	(void)state;
	ARENA(a);
	CLEANUP(fs_tempdirp) struct str dir = folder(&a);
	struct cache_wish w = {.where = path_join(&a, dir, S("shared")),
		.key_file = key_file(&a, dir, SECRET, 0600)};
	struct digest one = key_of("one"), two = key_of("two");
	struct cache_entry e;
	put(&w, "one");
	CLEANUP(cache_closep) struct cache *c = NULL;
	CLEANUP(cache_reclaimp) struct cache_lent *lent = NULL;
	assert_ok(cache_open(&w, &c));
	test_forbid_threads(true);
	struct err *wrong = cache_lend(c, dir, &lent);
	test_forbid_threads(false);
	assert_ok(wrong);
	CLEANUP(cache_closep) struct cache *borrowed = cache_borrow(cache_own_dir(c), dir);
	assert_true(cache_get(&a, borrowed, &one, &e)); /* the own folder is always there */
	fs_unmap(&e.file);
	assert_false(cache_get(&a, borrowed, &two, &e));
	cache_put(borrowed, &two, &sample);
	assert_false(fs_exists(entry_path(&a, w.where, "two")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_lent_is_shared),
		cmocka_unit_test(nothing_is_lent_where_no_thread_can_be_started),
		cmocka_unit_test(what_is_put_comes_back),
		cmocka_unit_test(a_changed_entry_is_absent),
		cmocka_unit_test(others_are_believed_only_with_the_key),
		cmocka_unit_test(places_of_no_known_kind_are_refused),
		cmocka_unit_test(a_link_is_no_entry),
		cmocka_unit_test(the_longest_unused_go_first),
		cmocka_unit_test(nothing_is_written_through_a_link_of_others),
		cmocka_unit_test(what_was_fetched_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
