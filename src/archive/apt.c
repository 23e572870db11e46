/* Runs apt-get on its own private state, and turns its messages into one error; see apt.h. */
#include <time.h>

#include "archive/apt_int.h"
#include "base/buf.h"
#include "base/fs.h"
#include "know/know.h"

static const char updated[] = "updated"; /* see apt_has_lists() */
enum { MAX_CONF = 1 << 20, MAX_RELEASE = 16 << 20, UPDATE_SECONDS = 600 };

/* The machine's settings for reaching its archive (proxies, certificates, retries). */
static const char *const kept[] = {
	"Acquire::http",
	"Acquire::https",
	"Acquire::Retries ",
	"Acquire::Force",
	"Acquire::tor",
	NULL,
};

struct proc apt_command(struct arena *a, const struct apt *apt, const char *program)
{
	struct proc p = {.merge = true};
	proc_arg(a, &p, program, NULL);
	strs_fmt(a, &p.setenv, "APT_CONFIG=%.*s/apt.conf", STR(apt->dir));
	strs_add(a, &p.setenv, S("LC_ALL=C"));
	return p;
}

static struct str sources_text(struct arena *a, const struct apt *apt)
{
	BUF(out, a);
	for (size_t i = 0; i < apt->suites.n; i++) {
		buf_add(&out, apt->sources ? S("deb-src ") : S("deb "));
		if (apt->keyring.n)
			buf_fmt(&out, "[signed-by=%.*s] ", STR(apt->keyring));
		buf_fmt(&out, "%.*s %.*s main\n", STR(apt->mirror), STR(apt->suites.v[i]));
	}
	return buf_str(&out);
}

struct str apt_preferences(struct arena *a, struct str suite)
{
	BUF(out, a);
	buf_add(&out, S("Package:"));
	for (const char *const *s = know_family_table()->sources; *s; s++)
		buf_fmt(&out, " src:%s", *s);
	buf_fmt(&out, "\nPin: release a=%.*s\nPin-Priority: 990\n", STR(suite));
	return buf_str(&out);
}

static struct err *put_file(
	struct arena *a, const struct apt *apt, const char *name, struct str text)
{
	/* 0600, since the settings may include a proxy's password */
	return fs_write(path_join(a, apt->dir, str_from(name)), text, 0600 | FS_IF_CHANGED);
}

/* ---- checks of texts for apt's files ---- */
/* apt decodes %0a and the like (RFC 3986, 2.1) before it passes lines to its methods. */
static bool escapes_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		uint64_t byte;
		if (s.p[i] != '%')
			continue;
		if (i + 2 >= s.n || !str_u64(str_sub(s, i + 1, i + 3), 16, &byte) || byte < 0x20 ||
			byte == 0x7f || byte == '"')
			return false;
	}
	return true;
}

/* apt runs the word before ':' as a program, for example ssh, so only these schemes are allowed. */
struct err *apt_check_mirror(struct str url)
{
	static const char *const remote[] = {"http", "https", "ftp", "tor+http", "tor+https",
		"mirror", "mirror+http", "mirror+https", NULL};
	static const char *const local[] = {"file", "copy", "mirror+file", NULL};
	struct str scheme, rest;
	if (str_chr(url, '@') < url.n)
		return err_hint(
			err_new(E_USAGE, "the URL of the mirror holds a name or a password"),
			"leave them out, and put them into /etc/apt/auth.conf or "
			"~/.config/rocsmith/auth.conf: see apt_auth.conf(5)");
	(void)str_cut(url, ':', &scheme, &rest);
	bool names = str_is_one_of(scheme, local)
			     ? str_starts(rest, S("/"))
			     : str_is_one_of(scheme, remote) && str_starts(rest, S("//")) &&
				       rest.n > 2 && rest.p[2] != '/';
	if (names && str_is_plain(url, " \"'<>\\^`{|}#?") && escapes_plain(url))
		return NULL;
	return err_hint(err_new(E_USAGE, "'%.*s' is not the URL of an archive", STR(url)),
		"write it like https://HOST/debian or file:/srv/debian");
}

/* A keyring from the machine's configuration may be a comma-separated list. */
static struct err *check_paths(const struct apt *apt, const char *bad)
{
	if (!str_is_plain(apt->keyring, bad))
		return err_new(E_USAGE, "apt cannot use a keyring of this name: '%.*s'",
			STR(apt->keyring));
	if (str_is_plain(apt->dir, "\"%"))
		return NULL;
	struct err *e =
		err_new(E_USAGE, "apt cannot use a folder of this name: '%.*s'", STR(apt->dir));
	return err_hint(e, "XDG_CACHE_HOME or ROCSMITH_HOME names another one");
}

struct err *apt_complete(struct arena *a, struct apt *apt)
{
	static const char *const keyrings[] = {
		"/usr/share/keyrings/debian-archive-keyring.gpg",
		"/usr/share/keyrings/debian-archive-keyring.pgp",
	};
	struct apt_source source = {0};
	if (!apt->mirror.n) {
		TRY(apt_sources_find(a, S("/etc/apt"), &source));
		apt->mirror = source.uri;
	}
	TRY(apt_check_mirror(apt->mirror));
	if (apt->keyring.n) {
		apt->keyring = path_abs(a, apt->keyring);
		if (!fs_exists(apt->keyring))
			return err_new(E_NOENT, "there is no keyring '%.*s'", STR(apt->keyring));
		return check_paths(apt, " \"'[],%#");
	}
	apt->keyring = source.keyring;
	for (size_t i = sizeof(keyrings) / sizeof(keyrings[0]); i-- > 0;)
		if (fs_exists(str_from(keyrings[i])))
			apt->keyring = str_from(keyrings[i]);
	return check_paths(apt, " \"'[]%#");
}

struct err *apt_prepare(struct arena *a, const struct apt *apt)
{
	static const char *const folders[] = {
		"etc", "lists/partial", "archives/partial", "none/partial"};
	struct str d = apt->dir, own = fs_place(a, FS_CONFIG, S("auth.conf")), line;
	struct str login =
		fs_exists(own) && str_is_plain(own, "\"%") ? own : S("/etc/apt/auth.conf");
	struct proc p = {0};
	struct proc_result r;
	if (fs_exists(own))
		TRY(fs_place_check(FS_CONFIG));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		TRY(fs_mkdirs(path_join(a, d, str_from(folders[i]))));
	BUF(out, a);
	buf_add(&out,
		str_replace(a, str_replace(a, apt_settings, S("@dir@"), d), S("@login@"), login));
	proc_arg(a, &p, "apt-config", "dump", NULL);
	strs_add(a, &p.setenv, S("LC_ALL=C"));
	TRY(proc_check(a, &p, &r));
	while (str_next(&r.out, '\n', &line))
		if (str_starts_one_of(line, kept) && !str_ends(line, S(" \"\";")))
			buf_fmt(&out, "%.*s\n", STR(line));
	TRY(put_file(a, apt, "apt.conf", buf_str(&out)));
	TRY(put_file(a, apt, "status", S("")));
	TRY(put_file(a, apt, "etc/sources.list", sources_text(a, apt)));
	struct str last = apt->suites.v[apt->suites.n - 1];
	return put_file(
		a, apt, "etc/preferences", apt->suites.n > 1 ? apt_preferences(a, last) : S(""));
}

/* ---- errors ---- */
struct err *apt_explain(struct arena *a, const struct proc *p, const struct proc_result *r)
{
	enum { LINES_MAX = 12 };
	struct strs lines = {0};
	struct str line, part, rest = r->out;
	/* Reasons of packages are indented: " librccl1 : Depends: libamdhip64-5 but it is not installable" */
	while (str_next(&rest, '\n', &line) && lines.n < LINES_MAX)
		if (str_starts(line, S("E:")) || str_starts(line, S("W:")) ||
			(str_starts(line, S(" ")) && (str_contains(line, S("Depends")) ||
							     str_contains(line, S("Breaks")))))
			strs_put(a, &lines, str_trim(line));
	struct str complaints = str_join(a, &lines, S("\n"));
	const struct know_rule *rule = know_match("apt", complaints, &part);
	if (!rule)
		return proc_failure(p, r);
	struct err *e = err_detail(err_new(rule->code, "%s", rule->about), complaints);
	return rule->hint ? err_hint(e, "%s", rule->hint) : e;
}

struct err *apt_run(struct arena *a, struct proc *p, struct proc_result *r)
{
	TRY(proc_run(a, p, r));
	return r->status == 0 ? NULL : apt_explain(a, p, r);
}

/* ---- the index ---- */
static struct err *release_files(struct arena *a, const struct apt *apt, struct strs *ret)
{
	struct strs names;
	struct str lists = path_join(a, apt->dir, S("lists"));
	*ret = (struct strs){0};
	if (!fs_is_dir(lists))
		return NULL;
	TRY(fs_list(a, lists, &names));
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], S("_InRelease")) || str_ends(names.v[i], S("_Release")))
			strs_add(a, ret, path_join(a, lists, names.v[i]));
	return NULL;
}

/* The file "updated" is the receipt of the lists and contains their sources. It is written last, so that an interrupted
 * update is repeated. */
bool apt_has_lists(struct arena *a, const struct apt *apt)
{
	struct strs files;
	struct str stamp;
	CLEANUP(err_freep) struct err *e = release_files(a, apt, &files);
	if (!e)
		e = fs_read_opt(a, path_join(a, apt->dir, str_from(updated)), MAX_CONF, &stamp);
	return !e && stamp.p && str_eq(stamp, sources_text(a, apt)) && files.n >= apt->suites.n;
}

struct err *apt_update(struct arena *a, const struct apt *apt)
{
	struct str stamp = path_join(a, apt->dir, str_from(updated));
	struct proc p = apt_command(a, apt, "apt-get");
	struct proc_result r;
	TRY(fs_remove(stamp));
	proc_arg(a, &p, "update", "-q", NULL);
	p.timeout = UPDATE_SECONDS;
	TRY_CTX(apt_run(a, &p, &r), "cannot get the package index of suite '%.*s'",
		STR(apt->suites.v[apt->suites.n - 1]));
	return fs_write(stamp, sources_text(a, apt), 0600);
}

static struct str header(struct str text, struct str key)
{
	struct str line;
	while (str_next(&text, '\n', &line))
		if (str_starts(line, key))
			return str_trim(str_sub(line, key.n, line.n));
	return S("");
}

/* "Fri, 30 Oct 2026 08:08:01 UTC" -> seconds, or 0. */
static time_t parse_date(struct arena *a, struct str date)
{
	struct tm tm = {0};
	return strptime(str_z(a, date), "%a, %d %b %Y %H:%M:%S", &tm) ? timegm(&tm) : 0;
}

struct err *apt_index_date(
	struct arena *a, const struct apt *apt, struct str *ret, struct strs *notes)
{
	struct strs files;
	TRY(release_files(a, apt, &files));
	for (size_t i = 0; i < files.n; i++) {
		struct str text;
		TRY(fs_read(a, files.v[i], MAX_RELEASE, &text));
		time_t date = parse_date(a, header(text, S("Date:")));
		time_t until = parse_date(a, header(text, S("Valid-Until:")));
		struct str shown = date ? str_utc(a, date) : S("");
		/* use the name that users know; experimental's Codename is "rc-buggy" */
		struct str code = header(text, S("Codename:")), suite = header(text, S("Suite:"));
		if (code.n && !str_eq(suite, S("experimental")))
			suite = code;
		if (until && until < time(NULL))
			strs_fmt(a, notes,
				"the index of '%.*s' is of %.*s and expired on %.*s: "
				"accepted, a frozen archive",
				STR(suite), STR(shown), STR(str_utc(a, until)));
		if (!ret->n || str_eq(suite, apt->suites.v[apt->suites.n - 1]))
			*ret = shown;
	}
	return NULL;
}

/* ---- another folder ---- */
struct err *apt_borrow(struct arena *a, struct str from, struct str to, bool with_index)
{
	struct str lists = path_join(a, from, S("lists")), copies = path_join(a, to, S("lists"));
	struct str stamp;
	struct strs names = {0};
	TRY(fs_mkdirs(copies));
	TRY(fs_read_opt(a, path_join(a, from, str_from(updated)), MAX_CONF, &stamp));
	if (!with_index || !stamp.p)
		return NULL;
	TRY(fs_list(a, lists, &names));
	TRY(fs_write(path_join(a, to, str_from(updated)), stamp, 0600));
	for (size_t i = 0; i < names.n; i++)
		if (str_contains(names.v[i], S("_")))
			TRY(fs_symlink(
				path_join(a, lists, names.v[i]), path_join(a, copies, names.v[i])));
	return NULL;
}
