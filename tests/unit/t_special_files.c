/* What is no ordinary file: a FIFO that nobody writes to must not be waited for, whichever part of
 * the program is handed it; pipes with a writer, folders and links to nowhere are read or refused
 * with their own reasons. The alarm ends the test when something waits after all. */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "base/hash.h"
#include "devcode/devcode.h"
#include "formats/node.h"
#include "formats/zip.h"
#include "verify/verify.h"

struct place {
	struct arena a;
	struct str dir, fifo;
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	*state = p;
	p->dir = test_dir(&p->a);
	p->fifo = path_join(&p->a, p->dir, S("demo-1.0-py3-none-any.whl"));
	alarm(60);
	return mkfifo(p->fifo.p, 0644);
}

static int remove_place(void **state)
{
	struct place *p = *state;
	alarm(0);
	test_dir_remove(p->dir);
	arena_free(&p->a);
	free(p);
	return 0;
}

static void a_fifo_without_a_writer_is_empty(void **state)
{
	struct place *p = *state;
	struct str text = S("old");
	CLEANUP(fd_closep) int fd = -1;
	char byte;
	assert_ok(fs_read(&p->a, p->fifo, 100, &text));
	assert_int_equal(text.n, 0);
	assert_ok(fs_open(p->fifo, &fd));
	assert_int_equal(read(fd, &byte, 1), 0);
	assert_err(fs_pread(fd, &byte, 1, 0), E_IO);
}

struct writing {
	struct str path;
	size_t n;
};

/* Begins late and pauses, as a program behind a pipe does. */
static void *write_slowly(void *user)
{
	struct writing *w = user;
	FILE *f = fopen(w->path.p, "w");
	for (size_t i = 0; f && i < w->n; i++) {
		fprintf(f, "%zu\n", i % 10);
		if (i % (w->n / 4) == 0) {
			fflush(f);
			usleep(2000);
		}
	}
	if (f)
		fclose(f);
	return NULL;
}

/* The descriptor must block again once it is open, or a slow writer's text comes cut short. */
static void a_slow_writer_is_waited_for(void **state)
{
	struct place *p = *state;
	struct writing w = {.path = p->fifo, .n = 50000};
	pthread_t thread;
	struct str text;
	/* Both ends here, so that the writer can open it whatever the order is. */
	CLEANUP(fd_closep) int fd = -1;
	assert_ok(fs_open(p->fifo, &fd));
	assert_int_equal(pthread_create(&thread, NULL, write_slowly, &w), 0);
	char *bytes = arena_alloc(&p->a, 2 * w.n);
	size_t n = 0;
	while (n < 2 * w.n) {
		ssize_t got = read(fd, bytes + n, 2 * w.n - n);
		assert_true(got >= 0); /* never EAGAIN */
		if (got == 0)
			usleep(100); /* the writer has not opened it yet */
		n += (size_t)got;
	}
	pthread_join(thread, NULL);
	text = (struct str){.p = bytes, .n = n};
	assert_true(str_starts(text, S("0\n1\n2\n")));
	assert_true(str_ends(text, S("8\n9\n")));
}

static void no_reader_of_files_waits_for_a_fifo(void **state)
{
	struct place *p = *state;
	struct devcode d;
	struct verdict v;
	struct zip z;
	const struct node *n;
	struct digest digest;
	struct verify_options o = {.jobs = 1};
	assert_err_says(devcode_scan(&p->a, p->fifo, 0, &d), E_FORMAT, "neither a file nor");
	assert_err_says(zip_open(&p->a, p->fifo, NULL, &z), E_ZIP, "not a regular file");
	assert_ok(verify_wheel(&p->a, p->fifo, &o, &v));
	assert_false(v.pass);
	assert_string_equal(v.findings.v[0].id, "not-a-zip");
	assert_err(json_read(&p->a, p->fifo, &n), E_SYNTAX);
	assert_ok(yaml_read(&p->a, p->fifo, &n));
	assert_int_equal(n->kind, NODE_NULL);
	assert_ok(hash_file(HASH_MD5, p->fifo, &digest));
	assert_str(digest_hex(&p->a, digest), "d41d8cd98f00b204e9800998ecf8427e");
}

static void folders_with_odd_files_are_scanned(void **state)
{
	struct place *p = *state;
	struct devcode d;
	struct str loop = path_join(&p->a, p->dir, S("loop"));
	assert_ok(fs_symlink(S("loop"), loop));
	assert_ok(fs_symlink(S("."), path_join(&p->a, p->dir, S("again"))));
	assert_ok(fs_symlink(S("nowhere"), path_join(&p->a, p->dir, S("dangling.so"))));
	assert_ok(devcode_scan(&p->a, p->dir, DEVCODE_KERNELS | DEVCODE_HASH, &d));
	assert_int_equal(d.files.n + d.findings.n + d.looked_at, 0);
	assert_err(devcode_scan(&p->a, loop, 0, &d), E_IO);
	assert_err(devcode_scan(&p->a, path_join(&p->a, p->dir, S("dangling.so")), 0, &d), E_NOENT);
}

static void folders_are_no_texts(void **state)
{
	struct place *p = *state;
	struct str text;
	struct digest digest;
	const struct node *n;
	struct zip z;
	assert_err(fs_read(&p->a, p->dir, 100, &text), E_IO);
	assert_err(fs_read_opt(&p->a, p->dir, 100, &text), E_IO);
	assert_err(json_read(&p->a, p->dir, &n), E_IO);
	assert_err(hash_file(HASH_SHA256, p->dir, &digest), E_IO);
	assert_err(zip_open(&p->a, p->dir, NULL, &z), E_ZIP);
}

/* Files of /proc say that they have no bytes. */
static void files_without_a_size_are_read_whole(void **state)
{
	struct place *p = *state;
	struct stat st;
	struct str text, copy = path_join(&p->a, p->dir, S("copy"));
	assert_ok(fs_read(&p->a, S("/proc/self/status"), 1 << 20, &text));
	assert_true(str_starts(text, S("Name:")) && str_ends(text, S("\n")));
	assert_ok(fs_stat(S("/proc/version"), &st));
	assert_ok(fs_copy(S("/proc/version"), copy, &st));
	assert_ok(fs_read(&p->a, copy, 1 << 20, &text));
	assert_true(str_starts(text, S("Linux version ")));
	assert_err(fs_read(&p->a, S("/proc/self/status"), 10, &text), E_LIMIT);
	assert_err(fs_read(&p->a, S("/dev/zero"), 1 << 16, &text), E_LIMIT);
}

/* Below a folder that somebody else filled: no link, no device, nothing without an end. */
static void only_files_below_a_folder_are_opened(void **state)
{
	struct place *p = *state;
	struct str text, in = path_join(&p->a, p->dir, S("in"));
	CLEANUP(fd_closep) int fd = -1;
	static const char *const links[][2] = {{"dev", "/dev"}, {"zero", "/dev/zero"}, {"up", ".."},
		{"same", "sub"}, {"file", "sub/file"}, {"nowhere", "x"}};
	static const char *const behind[] = {"dev/zero", "zero", "up/secret", "same/file", "file",
		"nowhere", "../secret", "/dev/zero", "sub/../../secret"};
	test_put(path_join(&p->a, p->dir, S("secret")), "secret");
	assert_ok(fs_mkdirs(path_join(&p->a, in, S("sub/deep"))));
	test_put(path_join(&p->a, in, S("sub/file")), "text");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		assert_ok(fs_symlink(
			str_from(links[i][1]), path_join(&p->a, in, str_from(links[i][0]))));
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
		assert_err(fs_open_below(in, str_from(behind[i]), 100, &fd), E_PERM);
	assert_err(fs_open_below(in, S("sub/deep"), 100, &fd), E_IO);
	assert_err(fs_open_below(in, S("sub/file"), 3, &fd), E_IO);
	assert_err(fs_open_below(in, S("sub/none"), 3, &fd), E_NOENT);
	assert_err(fs_open_below(p->dir, path_base(p->fifo), 100, &fd), E_IO);
	assert_ok(fs_open_below(in, S("sub/file"), 4, &fd));
	assert_ok(fs_read(&p->a, str_fmt(&p->a, "/proc/self/fd/%d", fd), 100, &text));
	assert_str(text, "text");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		TEST(a_fifo_without_a_writer_is_empty),
		TEST(a_slow_writer_is_waited_for),
		TEST(no_reader_of_files_waits_for_a_fifo),
		TEST(folders_with_odd_files_are_scanned),
		TEST(folders_are_no_texts),
		TEST(files_without_a_size_are_read_whole),
		TEST(only_files_below_a_folder_are_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
