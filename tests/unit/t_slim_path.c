/* Fewer GPUs in files and folders by their paths: as copies, in place, and what runs beside. */
#include <sys/stat.h>

#include "unit/fixture_slim.h"

/* ---- files and folders ---- */

static struct err *on_path(struct arena *a, struct str from, struct str to, const char *gpus,
	bool force, struct slim_report *r)
{
	struct slim_keep k = keep(a, gpus);
	*r = (struct slim_report){.path = from, .output = to};
	r->gpus = str_split(a, str_from(gpus), ' ');
	return fs_is_dir(from) ? slim_folder(a, &k, force, r) : slim_file(a, &k, !to.n, force, r);
}

static void a_manifest_tells_what_went(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), text;
	struct str lib = path_join(&a, dir, S("lib.so")), out = path_join(&a, dir, S("out.so"));
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	assert_ok(fs_write(lib, b.file, 0755));
	assert_err_says(
		on_path(&a, lib, out, "gfx942", false, &r), E_NOTHING, "has no code for gfx942");
	assert_false(fs_present(out));
	assert_false(fs_present(path_join(&a, dir, S("out.so.slim.json"))));
	assert_ok(on_path(&a, lib, out, "gfx1100", false, &r));
	assert_int_equal(r.targets.n, 4);
	assert_ok(fs_read(&a, path_join(&a, dir, S("out.so.slim.json")), 1 << 20, &text));
	assert_str(
		cut_list_describe(&a, text), "slimmed for gfx1100: without gfx90a:xnack-, gfx1201");
	assert_false(str_contains(text, dir));
	struct stat st;
	assert_ok(fs_stat(out, &st));
	assert_true(st.st_mode & 0100);
	assert_err_says(on_path(&a, lib, out, "gfx1201", false, &r), E_USAGE, "exists");
	assert_ok(on_path(&a, lib, out, "gfx1201", true, &r));
	assert_str(cut_list_describe(&a, S("{}")), "");
	assert_str(cut_list_describe(&a, S("[")), "");
	test_dir_remove(dir);
}

static void in_place_every_offset_stays(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), lib = path_join(&a, dir, S("lib.so")), now;
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	b = fx_fat_library(&a, (struct fx_fat){.ccob = 2});
	assert_ok(fs_write(lib, b.file, 0644));
	assert_err_says(on_path(&a, lib, S(""), "gfx1100", false, &r), E_SLIM, "compressed");
	assert_ok(fs_read(&a, lib, 1 << 20, &now));
	assert_true(str_eq(now, b.file));
	b = fx_fat_library(&a, (struct fx_fat){0});
	assert_ok(fs_write(lib, b.file, 0644));
	assert_ok(on_path(&a, lib, S(""), "gfx1100", false, &r));
	assert_ok(fs_read(&a, lib, 1 << 20, &now));
	assert_int_equal(now.n, b.file.n);
	assert_true(r.after < r.before);
	assert_true(fs_present(path_join(&a, dir, S("lib.so.slim.json"))));
	/* entries of what is gone have no bytes; a reader still finds all bundles, and all can go */
	struct slim_keep k = keep(&a, "gfx1100"), all = {0};
	struct bytes src = bytes_mem(now);
	struct slim_plan p;
	assert_ok(slim_read(&a, &src, &all, &p));
	assert_int_equal(p.bundles.n, FX_BUNDLES);
	for (unsigned i = 0; i < FX_BUNDLES; i++)
		for (unsigned t = 0; t < 4; t++) {
			const struct bundle *bundle = &p.bundles.v[i].old;
			const struct bundle_entry *e = &bundle->entries.v[t + 1];
			struct str letters = fx_letters(&a, i, t);
			bool kept = t == 1 || t == 2;
			assert_int_equal(e->size, kept ? letters.n : 0);
			struct str is = str_sub(now, bundle->offset + e->offset,
				bundle->offset + e->offset + letters.n);
			assert_int_equal(str_eq(is, letters), kept);
		}
	assert_ok(slim(&a, dir, now, &k, &now, &p));
	works(&a, &b, now, "gfx1100 gfx11-generic");
	/* other names of the file would change, too */
	assert_ok(fs_write(lib, b.file, 0644));
	assert_ok(fs_link(lib, path_join(&a, dir, S("other.so"))));
	assert_err_says(on_path(&a, lib, S(""), "gfx1100", false, &r), E_PERM, "other names");
	assert_ok(on_path(&a, lib, S(""), "gfx1100", true, &r));
	test_dir_remove(dir);
}

static struct str read_text(struct arena *a, struct str dir, const char *name)
{
	struct str text;
	assert_ok(fs_read(a, path_join(a, dir, str_from(name)), 1 << 20, &text));
	return text;
}

static void a_folder_is_taken_over_whole(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), in = path_join(&a, dir, S("in")),
		   out = path_join(&a, dir, S("out"));
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	struct stat st, other;
	struct str target, now;
	assert_ok(fs_mkdirs(path_join(&a, in, S("lib/rocblas"))));
	assert_ok(fs_write(path_join(&a, in, S("lib/lib.so.1")), b.file, 0755));
	assert_ok(fs_write(path_join(&a, in, S("lib/cut.so")), str_sub(b.file, 0, 9000), 0644));
	assert_ok(fs_symlink(S("lib.so.1"), path_join(&a, in, S("lib/lib.so"))));
	assert_int_equal(chmod(str_z(&a, path_join(&a, in, S("lib/cut.so"))), 04755), 0);
	assert_ok(fs_symlink(S("/nowhere"), path_join(&a, in, S("outside"))));
	test_put(path_join(&a, in, S("README")), "read me");
	test_put(path_join(&a, in, S("lib/rocblas/K_gfx90a.co")), "other");
	test_put(path_join(&a, in, S("lib/rocblas/K_gfx1100.co")), "mine");
	assert_err_says(on_path(&a, in, path_join(&a, in, S("lib/new")), "gfx1100", false, &r),
		E_USAGE, "lie in each other");
	assert_err_says(on_path(&a, in, dir, "gfx1100", true, &r), E_USAGE, "lie in each other");
	assert_ok(on_path(&a, in, out, "gfx1100", false, &r));
	assert_int_equal(r.files.n, 2);
	test_has(path_join(&a, out, S("README")), "read me");
	test_has(path_join(&a, out, S("lib/rocblas/K_gfx1100.co")), "mine");
	assert_false(fs_present(path_join(&a, out, S("lib/rocblas/K_gfx90a.co"))));
	assert_ok(fs_readlink(&a, path_join(&a, out, S("outside")), &target));
	assert_str(target, "/nowhere");
	assert_ok(fs_read(&a, path_join(&a, out, S("lib/lib.so")), 1 << 20, &now));
	works(&a, &b, now, "gfx1100 gfx11-generic");
	/* a copy of our own, even of what may run as somebody else; changes of the one do not reach the other */
	assert_ok(fs_stat(path_join(&a, in, S("lib/cut.so")), &st));
	assert_ok(fs_stat(path_join(&a, out, S("lib/cut.so")), &other));
	assert_int_equal(st.st_mode & 07777, 04755);
	assert_int_equal(other.st_mode & 07777, 0755);
	assert_int_equal(other.st_nlink, 1);
	assert_int_not_equal(st.st_ino, other.st_ino);
	assert_int_equal(st.st_mtim.tv_nsec, other.st_mtim.tv_nsec);
	assert_true(str_eq(read_text(&a, out, "lib/cut.so"), str_sub(b.file, 0, 9000)));
	assert_true(fs_present(path_join(&a, out, S(CUT_LIST))));
	/* ours is replaced when that is asked for, another folder never */
	assert_err_says(on_path(&a, in, out, "gfx1100", false, &r), E_USAGE, "exists");
	assert_ok(on_path(&a, in, out, "gfx1201", true, &r));
	assert_false(fs_present(path_join(&a, out, S("lib/rocblas")))); /* nothing is left in it */
	assert_ok(fs_mkdirs(path_join(&a, dir, S("foreign"))));
	assert_err_says(on_path(&a, in, path_join(&a, dir, S("foreign")), "gfx1100", true, &r),
		E_USAGE, "was not made by");
	test_dir_remove(dir);
}

static struct err *stop_there(struct arena *a, struct slim_report *all)
{
	(void)a;
	return all->unfinished ? err_new(E_CANCELLED, "stopped") : NULL;
}

static struct err *in_tree(struct arena *a, struct str dir, const char *gpus, slim_then_fn *then,
	struct slim_report *r)
{
	struct slim_keep k = keep(a, gpus);
	*r = (struct slim_report){.path = dir, .output = dir};
	r->gpus = str_split(a, str_from(gpus), ' ');
	k.without = &r->without;
	return slim_tree(a, &k, then, r);
}

static void a_tree_becomes_smaller_where_it_is(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), in = path_join(&a, dir, S("in")), now, done;
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	assert_ok(fs_mkdirs(path_join(&a, in, S("lib"))));
	assert_ok(fs_write(path_join(&a, in, S("lib/lib.so.1")), b.file, 0755));
	assert_ok(fs_link(path_join(&a, in, S("lib/lib.so.1")), path_join(&a, dir, S("other"))));
	assert_ok(fs_symlink(S("lib.so.1"), path_join(&a, in, S("lib/lib.so"))));
	assert_ok(fs_write(path_join(&a, in, S("lib/cut.so")), str_sub(b.file, 0, 9000), 0644));
	struct str gone = path_join(&a, in, S("lib/rocblas/library"));
	assert_ok(fs_mkdirs(gone));
	assert_ok(fs_mkdirs(path_join(&a, in, S("lib/extra/empty"))));
	test_put(path_join(&a, gone, S("K_gfx90a.co")), "other");
	test_put(path_join(&a, in, S("lib/extra/K_gfx90a.co")), "other");
	test_put(path_join(&a, in, S("lib/K_gfx1100.co")), "mine");
	assert_err_says(in_tree(&a, in, "gfx942", NULL, &r), E_NOTHING, "has no code for gfx942");
	assert_false(fs_present(path_join(&a, in, S(CUT_LIST))));
	/* stopped before it is done: only the same may go on */
	assert_err_says(in_tree(&a, in, "gfx1100 gfx1201", stop_there, &r), E_CANCELLED, "stopped");
	assert_true(str_starts(cut_list_describe(&a, read_text(&a, in, CUT_LIST)),
		S("unfinished: being slimmed for gfx1100, gfx1201: without gfx90a")));
	assert_err_says(in_tree(&a, in, "gfx1100", NULL, &r), E_USAGE, "is unfinished");
	assert_ok(fs_mkdirs(gone)); /* as one that was killed leaves it */
	assert_ok(in_tree(&a, in, "gfx1100 gfx1201", NULL, &r));
	assert_int_equal(r.files.n, 0);
	assert_false(fs_present(path_dir(gone)));
	assert_true(fs_is_dir(path_join(&a, in, S("lib/extra/empty"))));
	assert_ok(fs_mkdirs(gone)); /* somebody else's by now */
	now = read_text(&a, in, "lib/lib.so.1");
	works(&a, &b, now, "gfx1100 gfx11-generic gfx1201");
	assert_true(str_eq(read_text(&a, dir, "other"), b.file));
	assert_int_equal(read_text(&a, in, "lib/cut.so").n, 9000);
	assert_false(fs_present(path_join(&a, in, S("lib/extra/K_gfx90a.co"))));
	done = read_text(&a, in, CUT_LIST);
	assert_true(str_contains(done, str_fmt(&a, "\"after\": %zu\n", now.n)));
	assert_true(str_contains(done, S("\"unfinished\": false")));
	/* once more nothing happens; for fewer GPUs the manifest knows of both */
	assert_ok(in_tree(&a, in, "gfx1100 gfx1201", stop_there, &r));
	assert_true(str_eq(read_text(&a, in, CUT_LIST), done));
	assert_ok(in_tree(&a, in, "gfx1100", NULL, &r));
	assert_true(fs_is_dir(gone));
	works(&a, &b, read_text(&a, in, "lib/lib.so.1"), "gfx1100 gfx11-generic");
	done = read_text(&a, in, CUT_LIST);
	assert_str(
		cut_list_describe(&a, done), "slimmed for gfx1100: without gfx90a:xnack-, gfx1201");
	assert_true(str_contains(done, str_fmt(&a, "\"before\": %zu,", b.file.n)));
	/* nothing has such a name */
	struct str globs[] = {S("*cuda*")};
	struct slim_keep k = {.without = &r.without};
	r = (struct slim_report){.path = in, .without = {.v = globs, .n = 1}};
	assert_err_says(slim_tree(&a, &k, NULL, &r), E_USAGE, "has a name like '*cuda*'");
	/* what cannot be proved stays whole, here and in a copy; the others do not wait for it */
	struct fx_built odd = fx_fat_library(&a, (struct fx_fat){.unnamed = 1});
	assert_ok(fs_write(path_join(&a, in, S("lib/odd.so")), odd.file, 0644));
	assert_ok(fs_write(path_join(&a, in, S("lib/second.so")), b.file, 0644));
	assert_ok(on_path(&a, in, path_join(&a, dir, S("out")), "gfx1100", false, &r));
	assert_int_equal(r.refused.n, 1);
	assert_true(str_eq(read_text(&a, dir, "out/lib/odd.so"), odd.file));
	assert_ok(in_tree(&a, in, "gfx1100", NULL, &r));
	assert_int_equal(r.refused.n, 1);
	assert_str(r.refused.v[0].path, "lib/odd.so");
	assert_str(r.refused.v[0].why, "nothing that is known points at bundle 2");
	assert_true(str_eq(read_text(&a, in, "lib/odd.so"), odd.file));
	works(&a, &b, read_text(&a, in, "lib/second.so"), "gfx1100 gfx11-generic");
	assert_true(str_contains(read_text(&a, in, CUT_LIST), S("lib/odd.so")));
	/* a manifest that is none */
	test_put(path_join(&a, in, S(CUT_LIST)), "[]");
	assert_err(in_tree(&a, in, "gfx1201", NULL, &r), E_SYNTAX);
	test_dir_remove(dir);
}

/* Held as another run holds it, the lock of a folder stops all that change what is in it, by any name. */
static void runs_in_place_do_not_meet(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), top = path_join(&a, dir, S("top")),
		   in = path_join(&a, top, S("in")), sub = path_join(&a, in, S("sub")),
		   lib = path_join(&a, sub, S("lib.so")), other = path_join(&a, dir, S("other"));
	const struct str held[] = {top, in, sub};
	struct fx_built b = fx_fat_library(&a, (struct fx_fat){0});
	struct slim_report r;
	assert_ok(fs_mkdirs(sub));
	assert_ok(fs_write(lib, b.file, 0644));
	assert_ok(fs_write(path_join(&a, top, S("own.so")), b.file, 0644));
	assert_ok(fs_symlink(S("top/in"), other));
	for (size_t i = 0; i < 3; i++) {
		int fd;
		struct str lock = path_join(&a, held[i], S(".rocsmith-slim.lock"));
		assert_ok(fs_lock(lock, FS_LOCK_NOW, &fd));
		for (size_t k = 0; k < 3; k++)
			assert_err(in_tree(&a, held[k], "gfx1100", NULL, &r), E_LOCKED);
		assert_err(in_tree(&a, other, "gfx1100", NULL, &r), E_LOCKED);
		assert_err(on_path(&a, lib, S(""), "gfx1100", false, &r), E_LOCKED);
		/* nor is something half changed copied */
		assert_err_says(on_path(&a, in, path_join(&a, dir, S("out")), "gfx1100", false, &r),
			E_LOCKED, "another 'slim --in-place' changes");
		assert_true(fs_present(lock));
		fd_closep(&fd); /* as a kill leaves it */
		assert_true(str_eq(read_text(&a, lib, ""), b.file));
	}
	/* a file is locked itself, by all of its names */
	CLEANUP(fd_closep) int fd = -1;
	assert_ok(fs_link(lib, path_join(&a, dir, S("name.so"))));
	assert_ok(fs_open(path_join(&a, dir, S("name.so")), &fd));
	assert_true(fs_try_lock(fd));
	assert_err(on_path(&a, lib, S(""), "gfx1100", true, &r), E_LOCKED);
	assert_err(in_tree(&a, in, "gfx1100", NULL, &r), E_LOCKED);
	assert_false(fs_present(path_join(&a, in, S(CUT_LIST)))); /* nothing was changed */
	fd_closep(&fd);
	assert_ok(on_path(&a, in, path_join(&a, dir, S("out")), "gfx1100", false, &r));
	assert_false(fs_present(path_join(&a, dir, S("out/.rocsmith-slim.lock"))));
	assert_ok(in_tree(&a, other, "gfx1100", NULL, &r));
	assert_false(fs_present(path_join(&a, in, S(".rocsmith-slim.lock"))));
	works(&a, &b, read_text(&a, lib, ""), "gfx1100 gfx11-generic");
	/* what the first run left is what the second one asks */
	assert_err(in_tree(&a, in, "gfx1201", NULL, &r), E_NOTHING);
	works(&a, &b, read_text(&a, lib, ""), "gfx1100 gfx11-generic");
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manifest_tells_what_went),
		cmocka_unit_test(in_place_every_offset_stays),
		cmocka_unit_test(a_folder_is_taken_over_whole),
		cmocka_unit_test(a_tree_becomes_smaller_where_it_is),
		cmocka_unit_test(runs_in_place_do_not_meet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
