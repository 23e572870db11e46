/* What lies on the disk (disk/disk.h): what is found and what is not, what is in use, what is chosen, and that a removal takes
 * nothing else. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "disk/disk.h"
#include "unit/kit.h"

enum { DAY = 86400 };

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	setenv("ROCSMITH_HOME", str_z(&f->a, at(f, "home")), 1);
	setenv("HOME", str_z(&f->a, at(f, "user")), 1);
	unsetenv("XDG_CACHE_HOME");
	for (const struct disk_cache *c = disk_cache_table(); c->name; c++)
		unsetenv(c->variable ? c->variable : "");
	return 0;
}

/* Sets the time of all below it to so many days ago. */
static void age(struct fixture *f, const char *name, int days)
{
	struct proc p = {0};
	proc_arg(&f->a, &p, "find", str_z(&f->a, at(f, name)), "-exec", "touch", "-h", "-d",
		str_fmt(&f->a, "%d days ago", days).p, "{}", "+", NULL);
	ran(f, &p);
}

static void put_all(struct fixture *f)
{
	put(f, "home/data/sdk/debian-sid/sdk.json",
		"{\"packages\":[{\"name\":\"rocm-sdk-device-gfx1201\",\"bytes\":12},"
		"{\"name\":\"librocblas\",\"gpus\":[\"gfx90a\"],\"bytes\":3},"
		"{\"name\":\"more\",\"gpus\":[\"gfx90a\"],\"bytes\":4},{\"name\":\"clang\","
		"\"bytes\":9}]}");
	put(f, "home/data/sdk/debian-sid/root/x", "x");
	put(f, "home/data/sdk/of the user/x", "no receipt");
	put(f, "home/cache/sdk/debian-sid/archives/x", "x");
	put(f, "home/cache/source/torch-1/x", "x");
	put(f, "home/cache/source/torch-1.json", "{}");
	put(f, "home/cache/source/files/x", "x");
	put(f, "home/cache/source/words/x", "x");
	put(f, "home/cache/build/p-1/project", "/src/p");
	put(f, "home/cache/build/p-1/state/x", "x");
	put(f, "home/cache/build/p-1/lock", "");
	put(f, "home/cache/build/notes.txt", "of the user");
	put(f, "home/cache/build/.rocsmith.gone-q-1/x", "x");
	put(f, "home/cache/build/.mine/x", "of the user");
	put(f, "elsewhere/x", "of the user");
	assert_ok(fs_symlink(at(f, "elsewhere"), at(f, "home/cache/build/link")));
}

static struct disk read_disk(struct fixture *f)
{
	struct disk d;
	assert_ok(disk_read(&f->a, true, &d));
	return d;
}

/* "KIND NAME, KIND NAME". */
static struct str names_of(struct fixture *f, const struct disk *d)
{
	struct strs list = {0};
	VEC_EACH (const struct disk_item, i, &d->items)
		strs_add(
			&f->a, &list, str_fmt(&f->a, "%s %.*s", disk_kinds[i->kind], STR(i->name)));
	return str_join(&f->a, &list, S(", "));
}

static const struct disk_item *named(const struct disk *d, const char *name)
{
	VEC_EACH (const struct disk_item, i, &d->items)
		if (str_eq(i->name, str_from(name)))
			return i;
	fail_msg("no '%s'", name);
	return NULL;
}

static void only_what_rocsmith_made_is_found(void **state)
{
	struct fixture *f = *state;
	put_all(f);
	struct disk d = read_disk(f);
	assert_str(names_of(f, &d),
		"sdk debian-sid, download debian-sid, source torch-1, download files, "
		"leftover .rocsmith.gone-q-1, build p-1");
	const struct disk_item *sdk = named(&d, "debian-sid"), *build = named(&d, "p-1");
	assert_int_equal(sdk->gpus.n, 2);
	assert_str(sdk->gpus.v[0].gpu, "gfx1201");
	assert_int_equal(sdk->gpus.v[0].bytes, 12);
	assert_int_equal(sdk->gpus.v[1].bytes, 7);
	assert_str(build->project, "/src/p");
	assert_true(build->unfinished);
}

static void a_place_that_others_can_write_to_is_not_believed(void **state)
{
	struct fixture *f = *state;
	put_all(f);
	assert_int_equal(chmod(str_z(&f->a, at(f, "home/cache/build")), 0777), 0);
	struct disk d = read_disk(f);
	assert_false(str_contains(names_of(f, &d), S("p-1")));
	assert_int_equal(d.doubts.n, 1);
}

static void everything_can_be_removed_and_nothing_else(void **state)
{
	struct fixture *f = *state;
	put_all(f);
	struct disk d = read_disk(f);
	uint64_t freed = 0;
	VEC_EACH (const struct disk_item, i, &d.items)
		assert_ok(disk_remove(i, &freed));
	assert_int_equal(freed, d.bytes);
	d = read_disk(f);
	assert_int_equal(d.items.n, 0);
	assert_file(f, "home/data/sdk/of the user/x", "no receipt");
	assert_file(f, "home/cache/build/notes.txt", "of the user");
	assert_file(f, "home/cache/build/.mine/x", "of the user");
	assert_file(f, "elsewhere/x", "of the user");
	assert_true(fs_is_link(at(f, "home/cache/build/link")));
	assert_false(fs_present(at(f, "home/cache/source/torch-1.json")));
	assert_true(fs_present(at(f, "home/cache/source/words/x")));
}

/* A child that takes the lock of a run, and says so; a killed run does not keep it. */
static pid_t run_holding(struct fixture *f, const char *name, bool folder)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (!pid) {
		const char *path = str_z(&f->a, at(f, name));
		int fd = open(path, folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT, 0600);
		(void)!flock(fd, folder ? LOCK_SH : LOCK_EX);
		(void)!write(ready[1], "x", 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_run(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_is_in_use_stays(void **state)
{
	struct fixture *f = *state;
	uint64_t freed = 0;
	put_all(f);
	struct disk before = read_disk(f);
	const pid_t runs[] = {run_holding(f, "home/cache/build/p-1/lock", false),
		run_holding(f, "home/data/sdk/debian-sid", true),
		run_holding(f, "home/cache/source/lock", false)};
	struct disk d = read_disk(f);
	VEC_EACH (const struct disk_item, i, &d.items) {
		bool free = i->kind == DISK_LEFTOVER || i->kind == DISK_DOWNLOAD;
		if (!free || str_eq(i->name, S("files")))
			assert_str(i->busy, "a running rocsmith uses it");
	}
	/* they began after we looked */
	assert_err(disk_remove(named(&before, "p-1"), &freed), E_LOCKED);
	assert_err(disk_remove(named(&before, "debian-sid"), &freed), E_LOCKED);
	assert_err(disk_remove(named(&before, "torch-1"), &freed), E_LOCKED);
	assert_int_equal(freed, 0);
	for (size_t i = 0; i < 3; i++)
		end_run(runs[i]);
	assert_ok(disk_remove(named(&before, "p-1"), &freed));
	assert_ok(disk_remove(named(&before, "debian-sid"), &freed));
	assert_ok(disk_remove(named(&before, "torch-1"), &freed));
}

static void an_editable_build_stays_with_its_environment(void **state)
{
	struct fixture *f = *state;
	put(f, "venv/pyvenv.cfg", "");
	put(f, "home/data/editable/p-1/project", "/src/p");
	struct str report = str_fmt(
		&f->a, "{\"project\":\"/src/p\",\"installed\":\"%.*s\"}", STR(at(f, "venv")));
	put(f, "home/data/editable/p-1/build.json", str_z(&f->a, report));
	struct disk d = read_disk(f);
	assert_true(str_contains(named(&d, "p-1")->busy, S("imports its modules")));
	assert_ok(fs_remove_tree(at(f, "venv")));
	d = read_disk(f);
	assert_str(named(&d, "p-1")->busy, "");
	put(f, "home/data/editable/p-1/build.json", "{");
	d = read_disk(f);
	assert_true(named(&d, "p-1")->busy.n > 0);
}

/* ---- what builds noted ---- */

static void noted_folders_and_wheels_have_a_proof(void **state)
{
	struct fixture *f = *state;
	uint64_t freed = 0;
	put(f, "out/build\nfolder/CACHEDIR.TAG", disk_tag);
	put(f, "out/theirs/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
	put(f, "out/p-1.whl", "wheel");
	put(f, "out/p-1.whl.json",
		"{\"wheel\":{\"file\":\"p-1.whl\",\"bytes\":5,\"sha256\":"
		"\"d5b6d7c5b7e8f5d9c7c1cc1b3c2d6c7d5e3f1f3b9d5b6c7e8f9a0b1c2d3e4f50\"}}");
	put(f, "out/q-1.whl", "no provenance");
	disk_note(at(f, "out/build\nfolder"));
	disk_note(at(f, "out/theirs"));
	disk_note(at(f, "out/p-1.whl"));
	disk_note(at(f, "out/q-1.whl"));
	disk_note(at(f, "out/gone"));
	disk_note(at(f, "home/cache/build/ours"));
	struct disk d = read_disk(f);
	assert_int_equal(d.items.n, 2);
	assert_int_equal(d.dead.n, 2);
	assert_int_equal(named(&d, "p-1.whl")->kind, DISK_WHEEL);
	/* of the same size, but not the wheel of the build */
	assert_err(disk_remove(named(&d, "p-1.whl"), &freed), E_PERM);
	assert_file(f, "out/p-1.whl", "wheel");
	assert_ok(disk_remove(named(&d, "build\nfolder"), &freed));
	d = read_disk(f);
	assert_int_equal(d.items.n, 1);
	assert_int_equal(d.dead.n, 2);
}

static void a_noted_folder_that_changed_hands_stays(void **state)
{
	struct fixture *f = *state;
	uint64_t freed = 0;
	put(f, "out/b/CACHEDIR.TAG", disk_tag);
	put(f, "out/b/x", "x");
	disk_note(at(f, "out/b"));
	struct disk d = read_disk(f);
	assert_int_equal(d.items.n, 1);
	put(f, "out/b/CACHEDIR.TAG", "of the user by now\n");
	assert_err(disk_remove(&d.items.v[0], &freed), E_PERM);
	assert_file(f, "out/b/x", "x");
	assert_ok(fs_rename(at(f, "out/b"), at(f, "out/.rocsmith.gone-b")));
	d = read_disk(f);
	assert_str(names_of(f, &d), "leftover .rocsmith.gone-b");
	assert_ok(disk_remove(&d.items.v[0], &freed));
	assert_false(fs_present(at(f, "out/.rocsmith.gone-b")));
	d = read_disk(f);
	assert_int_equal(d.dead.n, 0);
}

static void caches_of_others_are_found_where_they_are(void **state)
{
	struct fixture *f = *state;
	put(f, "user/.cache/uv/x", "x");
	put(f, "user/.triton/cache/x", "x");
	struct disk d = read_disk(f);
	assert_int_equal(d.caches.n, 2);
	assert_str(d.caches.v[0].name, "uv");
	assert_string_equal(d.caches.v[0].clean[0], "uv");
	assert_true(!d.caches.v[1].clean || !d.caches.v[1].clean[0]);
	assert_int_equal(d.bytes, 0);
	put(f, "big disk/x", "x");
	setenv("UV_CACHE_DIR", str_z(&f->a, at(f, "big disk")), 1);
	d = read_disk(f);
	assert_str(d.caches.v[0].path, at(f, "big disk").p);
}

/* ---- choosing ---- */

static struct str chosen(struct fixture *f, const struct disk_wish *w)
{
	struct disk d = read_disk(f), ret;
	disk_choose(&f->a, &d, w, &ret);
	return names_of(f, &ret);
}

static void put_builds(struct fixture *f)
{
	put(f, "home/cache/build/new/project", "/n");
	put(f, "home/cache/build/old/project", "/o");
	put(f, "home/cache/build/older/project", "/o");
	put(f, "home/cache/build/.rocsmith.gone-x/x", "x");
	put(f, "home/cache/source/files/x", "x");
	put(f, "home/cache/source/words/x", "x");
	age(f, "home/cache/build/old", 20);
	age(f, "home/cache/build/older", 40);
	age(f, "home/cache/source", 100);
}

static void the_oldest_goes_first(void **state)
{
	struct fixture *f = *state;
	struct disk_wish w = {.kinds = {[DISK_BUILD] = true, [DISK_LEFTOVER] = true}};
	put_builds(f);
	assert_str(chosen(f, &w), "leftover .rocsmith.gone-x, build older, build old, build new");
	w.older = 30 * DAY;
	assert_str(chosen(f, &w), "build older");
	w.older = 10 * DAY;
	w.newest = 2;
	assert_str(chosen(f, &w), "build older");
	w.newest = 0;
	w.names = str_split(&f->a, S("older"), ',');
	assert_str(chosen(f, &w), "build old");
}

static void a_budget_takes_no_more_than_is_needed(void **state)
{
	struct fixture *f = *state;
	struct disk_wish w = {
		.kinds = {[DISK_BUILD] = true}, .has_budget = true, .budget = UINT64_MAX};
	put_builds(f);
	struct disk d = read_disk(f);
	assert_str(chosen(f, &w), "");
	w.budget = 2 * named(&d, "old")->bytes;
	assert_str(chosen(f, &w), "build older");
	w.budget--;
	assert_str(chosen(f, &w), "build older, build old");
	pid_t run = run_holding(f, "home/cache/build/older/lock", false);
	age(f, "home/cache/build/older", 40);
	assert_str(chosen(f, &w), "build older, build old, build new"); /* that one is busy */
	end_run(run);
}

static void a_full_disk_is_told_what_would_help(void **state)
{
	struct fixture *f = *state;
	CLEANUP(err_freep)
	struct err *e = disk_hint(err_new(E_NOSPACE, "no room"), at(f, "home/cache/build/p"));
	assert_null(e->hints);
	put_builds(f);
	e = disk_hint(e, at(f, "home/cache/build/new"));
	struct str hint = str_from(e->hints->text);
	assert_true(str_starts(hint, S("'rocsmith clean download build leftover' would free ")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_rocsmith_made_is_found, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_place_that_others_can_write_to_is_not_believed, begin, teardown),
		cmocka_unit_test_setup_teardown(
			everything_can_be_removed_and_nothing_else, begin, teardown),
		cmocka_unit_test_setup_teardown(what_is_in_use_stays, begin, teardown),
		cmocka_unit_test_setup_teardown(
			an_editable_build_stays_with_its_environment, begin, teardown),
		cmocka_unit_test_setup_teardown(
			noted_folders_and_wheels_have_a_proof, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_noted_folder_that_changed_hands_stays, begin, teardown),
		cmocka_unit_test_setup_teardown(
			caches_of_others_are_found_where_they_are, begin, teardown),
		cmocka_unit_test_setup_teardown(the_oldest_goes_first, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_budget_takes_no_more_than_is_needed, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_full_disk_is_told_what_would_help, begin, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
