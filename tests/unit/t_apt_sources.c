/* The machine's own apt configuration, as sources.list(5) has it: archive/apt_sources.c. */
#include "archive/apt.h"
#include "base/vec.h"
#include "test.h"

/* "uri suite,suite component,component keyring" of each entry, one a line. */
static struct str shown(struct arena *a, const struct apt_sources *list)
{
	struct strs lines = {0};
	VEC_EACH (const struct apt_source, s, list)
		strs_add(a, &lines,
			str_fmt(a, "%.*s %.*s %.*s %.*s", STR(s->uri),
				STR(str_join(a, &s->suites, S(","))),
				STR(str_join(a, &s->components, S(","))), STR(s->keyring)));
	return str_join(a, &lines, S("\n"));
}

struct row {
	const char *text, *want;
};

static void check(const struct row *rows, size_t n,
	void (*parse)(struct arena *, struct str, struct apt_sources *))
{
	ARENA(a);
	for (size_t i = 0; i < n; i++) {
		struct apt_sources list = {0};
		parse(&a, str_from(rows[i].text), &list);
		struct str got = shown(&a, &list);
		if (!str_eq(got, str_from(rows[i].want)))
			fail_msg(
				"%s gives '%.*s', want '%s'", rows[i].text, STR(got), rows[i].want);
	}
}

static const struct row lines[] = {
	{"", ""},
	{"\n\n   \n", ""},
	{"deb http://a sid main", "http://a sid main "},
	{"deb http://a sid main contrib non-free", "http://a sid main,contrib,non-free "},
	{"  deb http://a sid main  \r\n", "http://a sid main "},
	{"deb \t http://a\t\tsid \t main\n", "http://a sid main "},
	{"deb http://a sid main # comment\n", "http://a sid main "},
	{"#deb http://a sid main\n", ""},
	{"deb-src http://a sid main\n", ""},
	{"debug http://a sid main\n", ""},
	{"DEB http://a sid main\n", ""},
	{"deb [arch=amd64] http://a sid main\n", "http://a sid main "},
	{"deb [signed-by=/k.gpg] http://a sid main\n", "http://a sid main /k.gpg"},
	{"deb [ signed-by=/k.gpg arch=amd64,i386 ] http://a sid main", "http://a sid main /k.gpg"},
	{"deb [arch=amd64 signed-by=/k.gpg]http://a sid main", "http://a sid main /k.gpg"},
	{"deb [never closed http://a sid main\n", ""},
	{"deb http://a\n", ""},
	{"deb\n", ""},
	{"deb http://a ./\n", "http://a ./  "},
	{"deb http://a sid main\ndeb http://b trixie main\n",
		"http://a sid main \nhttp://b trixie main "},
	{"deb file:/mnt/iso bookworm main\n", "file:/mnt/iso bookworm main "},
};

static void the_one_line_format_is_read(void **state)
{
	(void)state;
	check(lines, sizeof(lines) / sizeof(lines[0]), apt_sources_lines);
}

#define STANZA "Types: deb\nURIs: http://a\nSuites: sid\nComponents: main\n"
static const struct row stanzas[] = {
	{"", ""},
	{"\n\n\n", ""},
	{STANZA, "http://a sid main "},
	{STANZA "Enabled: yes\n", "http://a sid main "},
	{STANZA "Enabled: no\n", ""},
	{STANZA "Enabled:  False \n", ""},
	{STANZA "Enabled: 0\n", ""},
	{"Enabled: no\n" STANZA "\n" STANZA, "http://a sid main "},
	{STANZA "Signed-By: /k.gpg\n", "http://a sid main /k.gpg"},
	{STANZA "Signed-By:\n /k.gpg\n", "http://a sid main /k.gpg"},
	{STANZA "Signed-By: /k.gpg /l.gpg\n", "http://a sid main /k.gpg"},
	{STANZA "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n AAAA\n",
		"http://a sid main "},
	{STANZA "X-Unknown: deb\n more\n", "http://a sid main "},
	{STANZA "\n\n" STANZA, "http://a sid main \nhttp://a sid main "},
	{STANZA " \t\n" STANZA, "http://a sid main \nhttp://a sid main "},
	{"Types: deb-src\nURIs: http://a\nSuites: sid\nComponents: main\n", ""},
	{"Types: deb-src deb\nURIs: http://a\nSuites: sid\nComponents: main\n",
		"http://a sid main "},
	{"TYPES: deb\nuris: http://a\nSuites: sid\nComponents: main\n", "http://a sid main "},
	{"Types: deb\nURIs: http://a http://b\nSuites: sid\nComponents: main\n",
		"http://a sid main \nhttp://b sid main "},
	{"Types: deb\nURIs: http://a\nSuites: sid trixie\n forky\nComponents: main\n contrib\n",
		"http://a sid,trixie,forky main,contrib "},
	{"Types: deb\n# off: URIs: http://b\nURIs: http://a\nSuites: sid\n#\nComponents: main\n",
		"http://a sid main "},
	{"URIs: http://a\nSuites: sid\nComponents: main\n", ""},
	{"Types: deb\nSuites: sid\nComponents: main\n", ""},
	{" continued without a field\nno colon\n:\n" STANZA, "http://a sid main "},
};

static void the_deb822_format_is_read(void **state)
{
	(void)state;
	check(stanzas, sizeof(stanzas) / sizeof(stanzas[0]), apt_sources_deb822);
}

/* ---- which of them is Debian's ---- */
static const struct machine {
	const char *list;                                      /* sources.list, or NULL */
	const char *first_name, *first, *second_name, *second; /* in sources.list.d */
	const char *want;                                      /* URI, or NULL for an error */
} machines[] = {
	/* Debian 12, classic */
	{.list = "deb http://deb.debian.example/debian bookworm main non-free-firmware\n"
		 "deb http://security.example/debian-security bookworm-security main\n",
		.want = "http://deb.debian.example/debian"},
	/* Debian 12 and later, deb822 */
	{.first_name = "debian.sources",
		.first = "Types: deb\nURIs: http://m.example/debian\n"
			 "Suites: bookworm bookworm-updates\nComponents: main\n"
			 "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n"
			 "Types: deb\nURIs: http://m.example/debian-security\n"
			 "Suites: bookworm-security\nComponents: main\n",
		.want = "http://m.example/debian"},
	/* cloud images */
	{.first_name = "debian.sources",
		.first = "Types: deb deb-src\nURIs: mirror+file:/etc/apt/mirrors/debian.list\n"
			 "Suites: trixie trixie-updates trixie-backports\nComponents: main\n",
		.want = "mirror+file:/etc/apt/mirrors/debian.list"},
	/* a vendor's archive with Debian's suite and component names sorts before Debian's */
	{.first_name = "azure.sources",
		.first = "Types: deb\nURIs: https://vendor.example/repos/tool/\nSuites: bookworm\n"
			 "Components: main\nSigned-By: /etc/apt/keyrings/vendor.gpg\n",
		.second_name = "debian.sources",
		.second = "Types: deb\nURIs: http://m.example/debian\nSuites: bookworm\n"
			  "Components: main\n",
		.want = "http://m.example/debian"},
	{.list = "deb https://vendor.example/debian bookworm main\n",
		.first_name = "debian.sources",
		.first = "Types: deb\nURIs: http://mirror.example/linux/\nSuites: bookworm\n"
			 "Components: main\n"
			 "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
		.want = "http://mirror.example/linux/"},
	/* an own mirror under another name is better than nothing */
	{.list = "deb http://cache.example/apt/ sid main\n", .want = "http://cache.example/apt/"},
	/* the first of equals, as apt has it */
	{.list = "deb http://a.example/debian sid main\ndeb http://b.example/debian sid main\n",
		.want = "http://a.example/debian"},
	/* an installation disk is no archive */
	{.list = "deb cdrom:[Debian GNU/Linux 12.0 _Bookworm_ - NETINST]/ bookworm main\n"
		 "deb http://a.example/debian bookworm main\n",
		.want = "http://a.example/debian"},
	/* Ubuntu */
	{.list = "deb http://archive.example/ubuntu noble main universe\n", .want = NULL},
	/* without main */
	{.list = "deb http://vendor.example/debian bookworm stable\n", .want = NULL},
	{.list = "", .want = NULL},
	{.want = NULL},
	/* apt reads no other names */
	{.first_name = "debian.sources.save",
		.first = "Types: deb\nURIs: http://a/debian\nSuites: sid\nComponents: main\n",
		.second_name = "debian",
		.second = "deb http://a/debian sid main\n",
		.want = NULL},
};

static void check_machine(const struct machine *m)
{
	ARENA(a);
	struct str dir = test_dir(&a), parts = path_join(&a, dir, S("sources.list.d"));
	struct apt_source got = {0};
	assert_ok(fs_mkdirs(parts));
	if (m->list)
		test_put(path_join(&a, dir, S("sources.list")), m->list);
	if (m->first_name)
		test_put(path_join(&a, parts, str_from(m->first_name)), m->first);
	if (m->second_name)
		test_put(path_join(&a, parts, str_from(m->second_name)), m->second);
	struct err *e = apt_sources_find(&a, dir, &got);
	test_dir_remove(dir);
	if (m->want) {
		assert_ok(e);
		assert_str(got.uri, m->want);
		return;
	}
	assert_true(e && e->hints && strstr(e->hints->text, "--mirror"));
	assert_err_says(e, E_SDK_SOURCE, "names no Debian archive");
}

static void debians_own_archive_is_picked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		check_machine(&machines[i]);
}

static void a_machine_without_apt_has_no_archive(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct apt_source got;
	struct str none = path_join(&a, dir, S("etc/apt"));
	assert_err_says(apt_sources_find(&a, none, &got), E_SDK_SOURCE, none.p);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_line_format_is_read),
		cmocka_unit_test(the_deb822_format_is_read),
		cmocka_unit_test(debians_own_archive_is_picked),
		cmocka_unit_test(a_machine_without_apt_has_no_archive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
