/* apt's configuration and output: sources in both formats, lines of --print-uris. */
#include "archive/apt.h"
#include "base/proc.h"
#include "test.h"

static void one_line_sources(void **state)
{
	(void)state;
	ARENA(a);
	struct apt_sources list = {0};
	apt_sources_lines(&a,
		S("# deb http://no.example/debian sid main\n"
		  "deb-src http://src.example/debian sid main\n"
		  "deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian bookworm main contrib "
		  "# x\n"
		  "deb\thttp://b.example/debian/\ttrixie\tmain\n"
		  "deb [ trusted=yes ] http://c.example/debian ./\n"
		  "deb http://short.example\n"),
		&list);
	assert_int_equal(list.n, 3);
	assert_str(list.v[0].uri, "http://a.example/debian");
	assert_str(list.v[0].keyring, "/k.gpg");
	assert_str(list.v[0].suites.v[0], "bookworm");
	assert_int_equal(list.v[0].components.n, 2);
	assert_str(list.v[1].uri, "http://b.example/debian/");
	assert_str(list.v[2].suites.v[0], "./");
}

static void deb822_sources(void **state)
{
	(void)state;
	ARENA(a);
	struct apt_sources list = {0};
	apt_sources_deb822(&a,
		S("# a comment\n"
		  "Types: deb deb-src\n"
		  "# another, inside\n"
		  "URIs: http://a.example/debian\n"
		  " http://b.example/debian\n"
		  "Suites: bookworm\n\tbookworm-updates\n"
		  "Components: main\n"
		  "Signed-By: /usr/share/keyrings/x.gpg\n"
		  "\n"
		  "Types: deb\nURIs: http://off.example/\nSuites: sid\nComponents: main\nEnabled: "
		  "no\n"
		  "\n"
		  "types: deb\nuris: http://c.example/\nsuites: sid\ncomponents: main\n"
		  "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDME\n"),
		&list);
	assert_int_equal(list.n, 3);
	assert_str(list.v[0].uri, "http://a.example/debian");
	assert_str(list.v[1].uri, "http://b.example/debian");
	assert_str(list.v[1].suites.v[1], "bookworm-updates");
	assert_str(list.v[0].keyring, "/usr/share/keyrings/x.gpg");
	assert_str(list.v[2].uri, "http://c.example/");
	assert_str(list.v[2].keyring, "");
}

static void the_debian_archive_is_found_among_others(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), parts = path_join(&a, dir, S("sources.list.d"));
	struct apt_source s;
	assert_err_says(apt_sources_find(&a, dir, &s), E_SDK_SOURCE, "names no");
	assert_ok(fs_mkdirs(parts));
	test_put(path_join(&a, dir, S("sources.list")),
		"deb http://vendor.example/apt stable-x main\n"
		"deb http://a.example/debian-security bookworm-security main\n"
		"deb http://a.example/debian-security bookworm main\n"
		"deb http://a.example/nonfree bookworm non-free\n");
	assert_err(apt_sources_find(&a, dir, &s), E_SDK_SOURCE);
	test_put(path_join(&a, parts, S("old.sources.bak")),
		"Types: deb\nURIs: http://bak.example\nSuites: sid\nComponents: main\n");
	assert_err(apt_sources_find(&a, dir, &s), E_SDK_SOURCE);
	test_put(path_join(&a, parts, S("debian.sources")),
		"Types: deb\nURIs: http://d.example/debian\nSuites: bookworm\nComponents: main\n");
	assert_ok(apt_sources_find(&a, dir, &s));
	assert_str(s.uri, "http://d.example/debian");
	test_dir_remove(dir);
}

#define SHA "b81ebc677d1e2c4c0db8b3968f29addc18839d173a35366958fa815f3c5d1184"

static void uris_are_parsed(void **state)
{
	(void)state;
	ARENA(a);
	struct archive_item i;
	assert_true(apt_parse_uri(&a,
		S("'http://a.example/pool/libllvm21_21.1.8-14_amd64.deb' "
		  "libllvm21_1%3a21.1.8-14_amd64.deb 28254324 SHA256:" SHA),
		&i));
	assert_str(i.name, "libllvm21");
	assert_str(i.version, "1:21.1.8-14");
	assert_str(i.file, "libllvm21_1%3a21.1.8-14_amd64.deb");
	assert_int_equal(i.size, 28254324);
	assert_str(i.sha256, SHA);
	assert_true(apt_parse_uri(
		&a, S("'file:/x/a_1+b~c_all.deb' a_1+b~c_all.deb 1 SHA256:" SHA), &i));
	assert_str(i.version, "1+b~c");
}

static void other_lines_are_no_uris(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const lines[] = {"", "'", "Reading package lists...",
		"'http://x/a_1_amd64.deb' a_1_amd64.deb 5",
		"'http://x/a_1_amd64.deb' a_1_amd64.deb 5 MD5Sum:abc",
		"'http://x/a_1_amd64.deb' a_1_amd64.deb five SHA256:" SHA,
		"'http://x/a_1_amd64.deb' a_1_amd64.deb 5 SHA256:12",
		"'http://x/a_1_amd64.deb' ../a_1_amd64.deb 5 SHA256:" SHA,
		"'http://x/a.deb' a.deb 5 SHA256:" SHA,
		"'http://x/_1_a.deb' _1_a.deb 5 SHA256:" SHA,
		"'http://x/-oX_1_a.deb' -oX_1_a.deb 5 SHA256:" SHA, /* an option of apt-get */
		"http://x/a_1_amd64.deb' a_1_amd64.deb 5 SHA256:" SHA};
	struct archive_item i;
	for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
		assert_false(apt_parse_uri(&a, str_from(lines[k]), &i));
}

/* apt_preferences(5): one stanza, which pins source packages of one suite. */
static void preferences_pin_rocm_and_nothing_else(void **state)
{
	(void)state;
	ARENA(a);
	struct str text = apt_preferences(&a, S("experimental")), line;
	assert_true(str_next(&text, '\n', &line));
	struct strs words = str_split(&a, line, ' ');
	assert_str(words.v[0], "Package:");
	for (size_t i = 1; i < words.n; i++)
		assert_true(str_starts(words.v[i], S("src:")));
	assert_true(strs_has(&words, S("src:rocm-hipamd")));
	assert_true(strs_has(&words, S("src:rocrand")) && strs_has(&words, S("src:miopen")));
	assert_false(strs_has(&words, S("src:glibc")) || strs_has(&words, S("src:*")));
	assert_true(str_next(&text, '\n', &line));
	assert_str(line, "Pin: release a=experimental");
	assert_true(str_next(&text, '\n', &line));
	assert_str(line, "Pin-Priority: 990");
}

static void versions_without_what_debian_adds(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"2.6.0+dfsg-7", "2.6.0"},
		{"1:2.6.0~rc1+ds1-7", "2.6.0~rc1"},
		{"0.21.0-3", "0.21.0"},
		{"1.0-2-3", "1.0-2"},
		{"2.0", "2.0"},
		{"2.6.0~dfsg", "2.6.0"},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_str(apt_upstream(str_from(rows[i][0])), rows[i][1]);
}

static void files_of_a_source_package(void **state)
{
	(void)state;
	ARENA(a);
	struct archive_item i;
	char hash[65] = {0};
	memset(hash, 'a', 64);
	assert_true(apt_parse_file(&a,
		str_fmt(&a, "'http://x/p_1%%2bd.orig.tar.xz' p_1+d.orig.tar.xz 12 SHA256:%s", hash),
		&i));
	assert_str(i.file, "p_1+d.orig.tar.xz");
	assert_int_equal(i.size, 12);
	assert_str(i.sha256, hash);
	static const char *const wrong[] = {"", "Need to get 27.4 MB of source archives.",
		"'http://x/p' p 12 SHA256:abc", "'http://x/p' ../p 12 SHA256:%s",
		"'http://x/p' a/b 1 SHA256:%s", "'http://x/p' .p 12 SHA256:%s",
		"'http://x/p' p x SHA256:%s", "'http://x/p' p 12 MD5Sum:%s"};
	for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
		assert_false(apt_parse_file(&a, str_fmt(&a, wrong[k], hash), &i));
}

/* ---- what is put into apt's files ---- */
static const char *const mirrors[] = {
	"http://a.example/debian",
	"https://a.example:8443/debian/",
	"http://[2001:db8::1]/debian",
	"https://a.example/~x/a%20b/d+e,f=g;h",
	"file:/srv/debian",
	"file:///srv/debian",
	"copy:/srv/debian",
	"tor+https://a.example/debian",
	"mirror+file:/etc/apt/mirrors.txt",
};

static const char *const no_mirrors[] = {
	"",
	"a.example/debian",
	"http:",
	"http://",
	"http:///debian",
	"http:/a.example",
	"file:debian",
	"HTTP ://a.example/",
	/* another line, another word, another option */
	"http://a.example/debian sid main\ndeb [trusted=yes] http://b.example/",
	"http://a.example/debian\n",
	"http://a.example/\r\n",
	"http://a.example/a b",
	"http://a.example/\t",
	"http://a.example/\x7f",
	"http://a.example/\"x",
	"http://a.example/#",
	"[trusted=yes] http://a.example/",
	/* which apt makes of %0a */
	"http://a.example/%0adeb",
	"http://a.example/%22",
	"http://a.example/%0",
	"http://a.example/%zz",
	/* programs that apt would start */
	"ssh://a.example/debian",
	"rsh://a.example/debian",
	"cdrom:/x",
	"../../bin/sh:/x",
	"store:/x",
};

static void a_mirror_is_a_url_that_apt_reaches_by_itself(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mirrors) / sizeof(mirrors[0]); i++)
		assert_ok(apt_check_mirror(str_from(mirrors[i])));
	for (size_t i = 0; i < sizeof(no_mirrors) / sizeof(no_mirrors[0]); i++)
		assert_err_says(apt_check_mirror(str_from(no_mirrors[i])), E_USAGE,
			"is not the URL of an archive");
}

static void a_password_is_refused_and_not_shown(void **state)
{
	(void)state;
	static const char *const urls[] = {"https://user:secret@a.example/debian",
		"https://secret@a.example/", "http://a.example/x@secret", "ssh://secret@x",
		"secret@a.example", "http://u:secret@a.example/\ndeb x"};
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		struct err *e = apt_check_mirror(str_from(urls[i]));
		assert_non_null(e);
		assert_int_equal(e->code, E_USAGE);
		assert_true(e->hints && !e->hints->next && !e->cause);
		assert_null(strstr(e->msg, "secret"));
		assert_null(strstr(e->hints->text, "secret"));
		err_free(e);
	}
}

static const struct {
	const char *dir, *keyring;
	const char *says; /* NULL: fine */
} places[] = {
	{"/home/u/a b/cache", "k.gpg", NULL},
	{"/home/u/x\";Dir::Bin \"y", "k.gpg", "a folder of this name"},
	{"/home/u/x\ny", "k.gpg", "a folder of this name"},
	{"/home/u/100%41", "k.gpg", "a folder of this name"},
	{"/home/u/cache", "a b.gpg", "a keyring of this name"},
	{"/home/u/cache", "k.gpg]", "a keyring of this name"},
	{"/home/u/cache", "k\n.gpg", "a keyring of this name"},
	{"/home/u/cache", "none.gpg", "there is no keyring"},
};

static void names_that_apts_files_cannot_hold_are_refused(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct str keyring = path_join(&a, dir, str_from(places[i].keyring));
		struct apt apt = {.dir = str_from(places[i].dir), .mirror = S("file:/x")};
		if (!str_contains(keyring, S("none")))
			test_put(keyring, "");
		apt.keyring = keyring;
		if (places[i].says)
			assert_err_says(apt_complete(&a, &apt),
				str_contains(keyring, S("none")) ? E_NOENT : E_USAGE,
				places[i].says);
		else
			assert_ok(apt_complete(&a, &apt));
	}
	test_dir_remove(dir);
}

static void passwords_are_where_apt_looks_for_them(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), home = path_join(&a, dir, S("home")), text;
	struct apt apt = {.dir = path_join(&a, dir, S("apt")), .mirror = S("file:/x")};
	struct str own = path_join(&a, home, S("config/auth.conf"));
	strs_add(&a, &apt.suites, S("sid"));
	if (!proc_find(&a, S("apt-config")).n)
		skip();
	setenv("ROCSMITH_HOME", home.p, 1);
	for (unsigned twice = 0; twice < 2; twice++) {
		assert_ok(apt_prepare(&a, &apt));
		assert_ok(fs_read(&a, path_join(&a, apt.dir, S("apt.conf")), 1 << 20, &text));
		struct str line = str_fmt(&a, "Dir::Etc::netrc \"%.*s\";\n",
			STR(twice ? own : S("/etc/apt/auth.conf")));
		assert_true(str_contains(text, line));
		assert_ok(fs_mkdirs(path_dir(own)));
		test_put(own, "machine a.example login u password p\n");
	}
	unsetenv("ROCSMITH_HOME");
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_sources),
		cmocka_unit_test(deb822_sources),
		cmocka_unit_test(the_debian_archive_is_found_among_others),
		cmocka_unit_test(uris_are_parsed),
		cmocka_unit_test(other_lines_are_no_uris),
		cmocka_unit_test(preferences_pin_rocm_and_nothing_else),
		cmocka_unit_test(versions_without_what_debian_adds),
		cmocka_unit_test(files_of_a_source_package),
		cmocka_unit_test(a_mirror_is_a_url_that_apt_reaches_by_itself),
		cmocka_unit_test(a_password_is_refused_and_not_shown),
		cmocka_unit_test(passwords_are_where_apt_looks_for_them),
		cmocka_unit_test(names_that_apts_files_cannot_hold_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
