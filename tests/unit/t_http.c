/* Downloads: base/http.h, against tests/unit/http_server.py, which drops connections, lies about
 * ranges, is busy, or sends the wrong bytes. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/http.h"
#include "base/proc.h"

enum { BODY = 200000, PART = 60000 };

extern char **environ;

static struct server {
	struct arena a;
	pid_t pid;
	int in; /* closing it ends the server */
	struct str dir, log, url;
	struct digest sha256;
} srv;

static bool read_port(int out)
{
	char line[256] = "";
	size_t n = 0;
	while (n < sizeof(line) - 1 && read(out, line + n, 1) == 1 && line[n] != '\n')
		n++;
	struct str port, hex, all = {.p = line, .n = n};
	if (!str_cut(all, ' ', &port, &hex) || hex.n != 64)
		return false;
	srv.url = str_fmt(&srv.a, "http://127.0.0.1:%.*s", STR(port));
	srv.sha256.n = 32;
	for (size_t i = 0; i < 32; i++) {
		uint64_t byte = 0;
		if (!str_u64(str_sub(hex, 2 * i, 2 * i + 2), 16, &byte))
			return false;
		srv.sha256.b[i] = (unsigned char)byte;
	}
	return true;
}

static bool start(void)
{
	int in[2], out[2];
	char *argv[] = {str_z(&srv.a, S("python3")), str_z(&srv.a, S("tests/unit/http_server.py")),
		str_z(&srv.a, srv.log), NULL};
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return false;
	posix_spawn_file_actions_t fa;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, in[0], 0);
	posix_spawn_file_actions_adddup2(&fa, out[1], 1);
	bool good = posix_spawnp(&srv.pid, "python3", &fa, NULL, argv, environ) == 0;
	posix_spawn_file_actions_destroy(&fa);
	close(in[0]);
	close(out[1]);
	srv.in = in[1];
	good = good && read_port(out[0]);
	close(out[0]);
	return good;
}

static int set_up(void **state)
{
	(void)state;
	/* the machine's own proxy and credentials stay out of this */
	static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
		"ALL_PROXY", "no_proxy", "NO_PROXY"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
	srv.dir = test_dir(&srv.a);
	srv.log = path_join(&srv.a, srv.dir, S("log"));
	setenv("HOME", srv.dir.p, 1);
	if (!start())
		srv.url = S("");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(srv.in);
	if (srv.pid > 0)
		waitpid(srv.pid, NULL, 0);
	test_dir_remove(srv.dir);
	arena_free(&srv.a);
	return 0;
}

/* A download of SERVER/what with a fast backoff; skips the test without a server. */
static struct download want(const char *what)
{
	if (!srv.url.n)
		skip();
	struct download d = {.backoff = 10, .stall = 1};
	d.url = str_fmt(&srv.a, "%.*s/%s", STR(srv.url), what);
	d.path = str_fmt(&srv.a, "%.*s/%s.file", STR(srv.dir), what);
	return d;
}

static struct str out_log(void)
{
	struct str log = {0};
	assert_ok(fs_read(&srv.a, srv.log, 1 << 20, &log));
	return log;
}

/* The lines that the server wrote about a path, without the path. */
static struct strs requests(const char *path)
{
	struct strs list = {0};
	struct str log = out_log(), line, key, val;
	while (str_next(&log, '\n', &line))
		if (str_cut(line, ' ', &key, &val) && str_eq(key, str_from(path)))
			strs_add(&srv.a, &list, val);
	return list;
}

static void assert_complete(const struct download *d)
{
	struct digest got;
	assert_ok(hash_file(HASH_SHA256, d->path, &got));
	assert_true(digest_eq(&got, &srv.sha256));
	assert_false(fs_exists(str_fmt(&srv.a, "%.*s.part", STR(d->path))));
	assert_false(fs_exists(str_fmt(&srv.a, "%.*s.part.tag", STR(d->path))));
}

static void files_arrive(void **state)
{
	(void)state;
	struct download d = want("plain/a");
	d.size = BODY;
	d.sha256 = srv.sha256;
	assert_ok(http_download(&d));
	assert_complete(&d);
	/* and are not fetched again */
	assert_ok(http_download(&d));
	assert_int_equal(requests("/plain/a").n, 1);
	d = want("empty");
	struct stat st;
	assert_ok(http_download(&d));
	assert_ok(fs_stat(d.path, &st));
	assert_int_equal(st.st_size, 0);
}

static void without_a_hash_a_file_is_replaced(void **state)
{
	(void)state;
	struct download d = want("plain/b");
	assert_ok(fs_mkdirs(path_dir(d.path)));
	test_put(d.path, "old");
	assert_ok(http_download(&d));
	assert_complete(&d);
}

static void dropped_connections_are_resumed(void **state)
{
	(void)state;
	struct download d = want("drops");
	d.size = BODY;
	assert_ok(http_download(&d));
	assert_complete(&d);
	struct strs r = requests("/drops");
	assert_int_equal(r.n, 4);
	assert_str(r.v[0], "- - - direct");
	assert_str(r.v[1], "bytes=60000- \"v1\" - direct");
	assert_str(r.v[2], "bytes=120000- \"v1\" - direct");
}

static void a_later_call_resumes_too(void **state)
{
	(void)state;
	struct download d = want("drops/later");
	d.tries = 1;
	assert_err(http_download(&d), E_NET);
	struct stat st;
	assert_ok(fs_stat(str_fmt(&srv.a, "%.*s.part", STR(d.path)), &st));
	assert_int_equal(st.st_size, PART);
	d.tries = 5;
	assert_ok(http_download(&d));
	assert_complete(&d);
	assert_str(requests("/drops/later").v[1], "bytes=60000- \"v1\" - direct");
}

static void parts_that_nobody_vouches_for_start_anew(void **state)
{
	(void)state;
	static const char *const names[] = {"untagged", "weak"};
	for (size_t i = 0; i < 2; i++) {
		struct download d = want(names[i]);
		assert_ok(http_download(&d));
		assert_complete(&d);
		assert_true(
			str_starts(requests(str_fmt(&srv.a, "/%s", names[i]).p).v[1], S("- - ")));
	}
	/* a hash vouches */
	struct download d = want("untagged/hash");
	d.sha256 = srv.sha256;
	assert_ok(http_download(&d));
	assert_complete(&d);
	assert_str(requests("/untagged/hash").v[1], "bytes=60000- - - direct");
}

static void a_file_that_changed_is_fetched_whole(void **state)
{
	(void)state;
	struct download d = want("changed");
	assert_ok(http_download(&d));
	assert_complete(&d);
	assert_str(requests("/changed").v[1], "bytes=60000- \"v1\" - direct");
}

static void servers_without_ranges_start_anew(void **state)
{
	(void)state;
	struct download d = want("noranges");
	assert_ok(http_download(&d));
	assert_complete(&d);
}

static void a_wrong_range_is_not_believed(void **state)
{
	(void)state;
	struct download d = want("lies");
	assert_err_says(http_download(&d), E_NET, "asked for bytes 60000-");
}

static void a_part_of_the_whole_length_is_dropped(void **state)
{
	(void)state;
	struct download d = want("plain/full");
	assert_ok(fs_mkdirs(path_dir(d.path)));
	char *junk = arena_alloc(&srv.a, BODY);
	memset(junk, 'j', BODY);
	struct str part = str_fmt(&srv.a, "%.*s.part", STR(d.path));
	struct str tag = str_fmt(&srv.a, "%.*s.part.tag", STR(d.path));
	assert_ok(fs_write(part, (struct str){.p = junk, .n = BODY}, 0644));
	test_put(tag, "\"v1\"");
	assert_ok(http_download(&d));
	assert_complete(&d);
	/* a damaged part is found by the hash, and fetched again from the start */
	d.sha256 = srv.sha256;
	assert_ok(fs_remove(d.path));
	assert_ok(fs_write(part, (struct str){.p = junk, .n = 1000}, 0644));
	test_put(tag, "\"v1\"");
	assert_ok(http_download(&d));
	assert_complete(&d);
}

static void temporary_failures_are_retried(void **state)
{
	(void)state;
	struct download d = want("busy");
	assert_ok(http_download(&d));
	assert_complete(&d);
	assert_int_equal(requests("/busy").n, 3);
	d = want("later");
	double before = mono_now();
	assert_ok(http_download(&d));
	assert_true(mono_now() - before >= 1);
	assert_complete(&d);
	d = want("always503");
	d.tries = 3;
	assert_err_says(http_download(&d), E_NET, "status 503");
	assert_int_equal(requests("/always503").n, 3);
}

static void a_stalled_transfer_is_given_up(void **state)
{
	(void)state;
	struct download d = want("hangs");
	double before = mono_now();
	assert_ok(http_download(&d));
	assert_true(mono_now() - before < 30);
	assert_complete(&d);
}

static void other_failures_are_final(void **state)
{
	(void)state;
	struct download d = want("missing");
	assert_err_says(http_download(&d), E_NET, "status 404");
	assert_int_equal(requests("/missing").n, 1);
	assert_false(fs_exists(d.path));
	d = want("circle");
	assert_err(http_download(&d), E_NET);
	d = want("outside");
	assert_err(http_download(&d), E_NET);
	assert_false(fs_exists(d.path));
	d = want("garbage");
	d.tries = 2;
	assert_err(http_download(&d), E_NET);
}

static void wrong_bytes_are_refused(void **state)
{
	(void)state;
	struct download d = want("wrong");
	d.sha256 = srv.sha256;
	assert_err_says(http_download(&d), E_HASH, "expected SHA-256");
	assert_false(fs_exists(d.path));
	assert_false(fs_exists(str_fmt(&srv.a, "%.*s.part", STR(d.path))));
	assert_int_equal(requests("/wrong").n, 1);
	d = want("long");
	d.size = BODY;
	assert_err_says(http_download(&d), E_NET, "more than the expected 200000");
}

static void redirects_are_followed(void **state)
{
	(void)state;
	struct download d = want("moved");
	assert_ok(http_download(&d));
	assert_complete(&d);
}

static void credentials_come_from_netrc_and_are_not_shown(void **state)
{
	(void)state;
	struct download d = want("secret");
	struct str netrc = path_join(&srv.a, srv.dir, S(".netrc"));
	CLEANUP(err_freep) struct err *e = http_download(&d);
	assert_non_null(e);
	assert_non_null(e->cause->hints);
	assert_non_null(strstr(e->cause->hints->text, ".netrc"));
	test_put(netrc, "machine 127.0.0.1 login me password \"pass word\"\n");
	assert_ok(http_download(&d));
	assert_complete(&d);
	assert_ok(fs_remove(netrc));
	/* in the URL: works, and never appears in a message */
	d.url = str_fmt(&srv.a, "http://me:nope@%.*s/secret", STR(str_sub(srv.url, 7, 99)));
	CLEANUP(err_freep) struct err *f = http_download(&d);
	assert_non_null(f);
	for (const struct err *at = f; at; at = at->cause)
		assert_null(strstr(at->msg, "nope"));
	assert_non_null(strstr(f->msg, "'http://127.0.0.1"));
}

static const struct {
	const char *url, *safe;
} urls[] = {
	{.url = "http://h/p", .safe = "http://h/p"},
	{.url = "https://u:p@h/p", .safe = "https://h/p"},
	{.url = "https://u@h:1/p?a@b", .safe = "https://h:1/p?a@b"},
	{.url = "https://u:p@x@h", .safe = "https://h"},
	{.url = "https://h?x=u@y", .safe = "https://h?x=u@y"},
	{.url = "https://h#u@y", .safe = "https://h#u@y"},
	{.url = "file:///a@b", .safe = "file:///a@b"},
	{.url = "no url@all", .safe = "no url@all"},
	{.url = "", .safe = ""},
};

static void passwords_are_taken_out_of_urls(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++)
		assert_str(url_redact(&srv.a, str_from(urls[i].url)), urls[i].safe);
}

static void proxies_come_from_the_environment(void **state)
{
	(void)state;
	struct download d = want("plain/p");
	d.url = S("http://nowhere.invalid/plain/proxied");
	setenv("http_proxy", srv.url.p, 1);
	struct err *e = http_download(&d);
	unsetenv("http_proxy");
	assert_ok(e);
	assert_complete(&d);
	assert_str(requests("/plain/proxied").v[0], "- - - proxied");
}

static void nobody_there_is_told_soon(void **state)
{
	(void)state;
	struct download d = want("x");
	d.url = S("http://127.0.0.1:1/x");
	double before = mono_now();
	assert_err_says(http_download(&d), E_NET, "cannot download 'http://127.0.0.1:1/x'");
	assert_true(mono_now() - before < 20);
	d.url = S("gopher://127.0.0.1/x");
	assert_err(http_download(&d), E_NET);
	d.url = S("");
	assert_err(http_download(&d), E_NET);
}

static void file_urls_are_copied(void **state)
{
	(void)state;
	struct str from = path_join(&srv.a, srv.dir, S("source")),
		   to = path_join(&srv.a, srv.dir, S("deep/er/copy"));
	test_put(from, "content");
	struct download d = {.url = str_fmt(&srv.a, "file://%.*s", STR(from)), .path = to};
	assert_ok(http_download(&d));
	test_has(to, "content");
	/* what an earlier try left is no part of it */
	test_put(str_fmt(&srv.a, "%.*s.part", STR(to)), "junk that is longer");
	d.sha256 = hash_bytes(HASH_SHA256, "content", 7);
	assert_ok(fs_remove(to));
	assert_ok(http_download(&d));
	test_has(to, "content");
	d.url = S("file:///does/not/exist");
	d.path = path_join(&srv.a, srv.dir, S("other"));
	assert_err(http_download(&d), E_NET);
	assert_false(fs_exists(d.path));
}

static void many_at_once(void **state)
{
	(void)state;
	enum { N = 40 };
	struct download d[N];
	for (unsigned i = 0; i < N; i++) {
		d[i] = want(str_fmt(&srv.a, "plain/many%u", i).p);
		d[i].sha256 = srv.sha256;
	}
	assert_ok(http_download_all(d, N, 8));
	for (unsigned i = 0; i < N; i++)
		assert_complete(&d[i]);
	assert_ok(http_download_all(d, 0, 8));
	d[7] = want("missing/one");
	assert_err_says(http_download_all(d, N, 4), E_NET, "missing/one");
}

/* In a child, because a dry run cannot be left again. */
static void dry_runs_download_nothing(void **state)
{
	(void)state;
	struct download d = want("plain/dry");
	d.path = S("/tmp/rocsmith-dry-download");
	pid_t pid = fork();
	if (pid == 0) {
		fs_forbid_writes();
		struct err *e = http_download(&d);
		_exit(e && e->code == E_DRY_RUN ? 0 : 1);
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(requests("/plain/dry").n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dry_runs_download_nothing),
		cmocka_unit_test(files_arrive),
		cmocka_unit_test(without_a_hash_a_file_is_replaced),
		cmocka_unit_test(dropped_connections_are_resumed),
		cmocka_unit_test(a_later_call_resumes_too),
		cmocka_unit_test(parts_that_nobody_vouches_for_start_anew),
		cmocka_unit_test(a_file_that_changed_is_fetched_whole),
		cmocka_unit_test(servers_without_ranges_start_anew),
		cmocka_unit_test(a_wrong_range_is_not_believed),
		cmocka_unit_test(a_part_of_the_whole_length_is_dropped),
		cmocka_unit_test(temporary_failures_are_retried),
		cmocka_unit_test(a_stalled_transfer_is_given_up),
		cmocka_unit_test(other_failures_are_final),
		cmocka_unit_test(wrong_bytes_are_refused),
		cmocka_unit_test(redirects_are_followed),
		cmocka_unit_test(credentials_come_from_netrc_and_are_not_shown),
		cmocka_unit_test(passwords_are_taken_out_of_urls),
		cmocka_unit_test(proxies_come_from_the_environment),
		cmocka_unit_test(nobody_there_is_told_soon),
		cmocka_unit_test(file_urls_are_copied),
		cmocka_unit_test(many_at_once),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
