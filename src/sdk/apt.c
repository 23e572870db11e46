/* Running apt-get on a state of our own; see apt.h. What it says is turned into one error of ours.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "know/know.h"
#include "sdk/apt.h"

static const char updated[] = "updated"; /* see apt_has_lists() */
enum { MAX_CONF = 1 << 20, MAX_RELEASE = 16 << 20, UPDATE_SECONDS = 600, RESOLVE_SECONDS = 120 };

static const char conf[] =
	"Dir \"%.*s\";\n"
	"Dir::State \"%.*s\";\n"
	"Dir::State::lists \"lists\";\n"
	"Dir::State::status \"%.*s/status\";\n"
	"Dir::State::extended_states \"%.*s/extended\";\n"
	"Dir::Cache \"%.*s\";\n"
	"Dir::Cache::archives \"archives\";\n"
	"Dir::Etc \"%.*s/etc\";\n"
	"Dir::Etc::sourceparts \"/dev/null\";\n"
	"Dir::Etc::parts \"/dev/null\";\n"
	"Dir::Etc::main \"/dev/null\";\n"
	"Dir::Etc::preferencesparts \"/dev/null\";\n"
	"Dir::Etc::netrc \"/etc/apt/auth.conf\";\n"
	"Dir::Etc::netrcparts \"/etc/apt/auth.conf.d\";\n"
	"Dir::Log \"%.*s/log\";\n"
	"APT::Sandbox::User \"root\";\n" /* _apt could not enter a home folder */
	"APT::Architecture \"amd64\";\n"
	"APT::Architectures { \"amd64\"; };\n"
	"APT::Install-Recommends \"false\";\n"
	"APT::Install-Suggests \"false\";\n"
	"APT::Get::AllowUnauthenticated \"false\";\n"
	"APT::Update::Error-Mode \"any\";\n"
	"Acquire::Languages \"none\";\n"
	"Acquire::Check-Valid-Until \"false\";\n" /* frozen archives; apt_index_date() tells */
	"Acquire::AllowInsecureRepositories \"false\";\n"
	"Acquire::AllowDowngradeToInsecureRepositories \"false\";\n"
	"Acquire::ForceHash \"sha256\";\n"
	"Acquire::PDiffs \"false\";\n"
	"Binary::apt-get::APT::Keep-Downloaded-Packages \"true\";\n"
	"APT::Keep-Downloaded-Packages \"true\";\n"
	"Dpkg::Use-Pty \"false\";\n";

/* Settings of the machine that say how to reach its archive (proxies, certificates, retries). */
static const char *const kept[] = {
	"Acquire::http",
	"Acquire::https",
	"Acquire::Retries ",
	"Acquire::Force",
	"Acquire::tor",
};

static struct proc command(struct arena *a, const struct apt *apt)
{
	struct proc p = {.merge = true};
	proc_arg(a, &p, "apt-get", NULL);
	strs_add(a, &p.setenv, str_fmt(a, "APT_CONFIG=%.*s/apt.conf", STR(apt->dir)));
	strs_add(a, &p.setenv, S("LC_ALL=C"));
	return p;
}

static struct err *add_machine_settings(struct arena *a, struct buf *out)
{
	struct proc p = {0};
	struct proc_result r;
	struct str line;
	proc_arg(a, &p, "apt-config", "dump", NULL);
	strs_add(a, &p.setenv, S("LC_ALL=C"));
	TRY(proc_check(a, &p, &r));
	while (str_next(&r.out, '\n', &line))
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (str_starts(line, str_from(kept[i])) && !str_ends(line, S(" \"\";")))
				buf_fmt(out, "%.*s\n", STR(line));
	return NULL;
}

static struct str sources_text(struct arena *a, const struct apt *apt)
{
	BUF(out, a);
	for (size_t i = 0; i < apt->suites.n; i++) {
		buf_add(&out, S("deb "));
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
	for (const char *const *s = know_family.sources; *s; s++)
		buf_fmt(&out, " src:%s", *s);
	buf_fmt(&out, "\nPin: release a=%.*s\nPin-Priority: 990\n", STR(suite));
	return buf_str(&out);
}

static struct err *put(struct arena *a, const struct apt *apt, const char *name, struct str text)
{
	/* 0600: a proxy's password may be among the settings */
	return fs_write_if_changed(path_join(a, apt->dir, str_from(name)), text, 0600);
}

struct err *apt_prepare(struct arena *a, const struct apt *apt)
{
	static const char *const folders[] = {
		"etc", "lists/partial", "archives/partial", "none/partial"};
	struct str d = apt->dir;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		TRY(fs_mkdirs(path_join(a, d, str_from(folders[i]))));
	BUF(out, a);
	buf_fmt(&out, conf, STR(d), STR(d), STR(d), STR(d), STR(d), STR(d), STR(d));
	TRY(add_machine_settings(a, &out));
	TRY(put(a, apt, "apt.conf", buf_str(&out)));
	TRY(put(a, apt, "status", S("")));
	TRY(put(a, apt, "etc/sources.list", sources_text(a, apt)));
	struct str last = apt->suites.v[apt->suites.n - 1];
	return put(a, apt, "etc/preferences", apt->suites.n > 1 ? apt_preferences(a, last) : S(""));
}

/* ---- errors ---- */
/* apt's own lines that begin with E: or W:, without repetition, as an error of ours. */
static struct err *explain(struct arena *a, const struct proc *p, const struct proc_result *r)
{
	enum { LINES_MAX = 12 };
	struct strs lines = {0};
	struct str line, part, rest = r->out;
	while (str_next(&rest, '\n', &line) && lines.n < LINES_MAX)
		if ((str_starts(line, S("E:")) || str_starts(line, S("W:"))))
			strs_put(a, &lines, line);
	struct str said = str_join(a, &lines, S("\n"));
	const struct know_rule *rule = know_match("apt", said, &part);
	if (!rule)
		return proc_failure(p, r);
	struct err *e = err_detail(err_new(rule->code, "%s", rule->about), said);
	return rule->hint ? err_hint(e, "%s", rule->hint) : e;
}

static struct err *run(struct arena *a, struct proc *p, struct proc_result *r)
{
	struct err *e = proc_run(a, p, r);
	if (e && e->code == E_TOOL_MISSING)
		e = err_hint(e, "the provider 'debian' needs apt-get; 'prefix' uses a tree that is "
				"already there");
	TRY(e);
	return r->status == 0 ? NULL : explain(a, p, r);
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

/* The file "updated" is written last, so that an interrupted update is repeated; what it holds is
 * what the lists are of. */
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
	struct proc p = command(a, apt);
	struct proc_result r;
	TRY(fs_remove(stamp));
	proc_arg(a, &p, "update", "-q", NULL);
	p.timeout = UPDATE_SECONDS;
	TRY_CTX(run(a, &p, &r), "cannot get the package index of suite '%.*s'",
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

static struct str short_date(struct arena *a, time_t t)
{
	struct tm tm;
	char text[64];
	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return str_dup(a, str_from(text));
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
		struct str shown = date ? short_date(a, date) : S("");
		/* the name that the user gave; Codename is "rc-buggy" for experimental */
		struct str code = header(text, S("Codename:")), suite = header(text, S("Suite:"));
		if (code.n && !str_eq(suite, S("experimental")))
			suite = code;
		if (until && until < time(NULL))
			strs_add(a, notes,
				str_fmt(a,
					"the index of '%.*s' is of %.*s and expired on %.*s: "
					"accepted, a frozen archive",
					STR(suite), STR(shown), STR(short_date(a, until))));
		if (!ret->n || str_eq(suite, apt->suites.v[apt->suites.n - 1]))
			*ret = shown;
	}
	return NULL;
}

/* ---- resolving ---- */
/* %2b and its like in the names of packages' files. */
static struct str unescape(struct arena *a, struct str s)
{
	BUF(out, a);
	for (size_t i = 0; i < s.n; i++) {
		uint64_t byte = 0;
		bool escape = s.p[i] == '%' && i + 2 < s.n &&
			      str_u64(str_sub(s, i + 1, i + 3), 16, &byte);
		buf_char(&out, escape ? (char)byte : s.p[i]);
		i += escape ? 2 : 0;
	}
	return buf_str(&out);
}

bool apt_parse_uri(struct arena *a, struct str line, struct sdk_item *ret)
{
	struct str uri, file, size, sum, name, version, arch, rest;
	*ret = (struct sdk_item){0};
	if (!str_starts(line, S("'")) || !str_cut(str_sub(line, 1, line.n), '\'', &uri, &rest) ||
		!str_cut(str_trim(rest), ' ', &file, &rest) || !str_cut(rest, ' ', &size, &sum) ||
		!str_starts(sum, S("SHA256:")) || !str_u64(size, 10, &ret->size))
		return false;
	/* NAME_VERSION_ARCH.deb */
	if (str_chr(file, '/') < file.n || !str_ends(file, S(".deb")) ||
		!str_cut(str_sub(file, 0, file.n - 4), '_', &name, &rest) ||
		!str_cut(rest, '_', &version, &arch) || !name.n)
		return false;
	ret->url = str_dup(a, uri);
	ret->file = str_dup(a, file);
	ret->name = str_dup(a, name);
	ret->version = unescape(a, version);
	ret->arch = str_dup(a, arch);
	ret->sha256 = str_dup(a, str_sub(str_trim(sum), 7, sum.n));
	return ret->sha256.n == 64;
}

/* "0 upgraded, 4 newly installed, 0 to remove ..." -> 4; false when apt does not say. */
static bool announced(struct str out, uint64_t *ret)
{
	size_t at = str_find(out, S(" newly installed"));
	struct str before = str_sub(out, 0, at);
	size_t space = str_rchr(before, ' ');
	return at < out.n && str_u64(str_sub(before, space + 1, at), 10, ret);
}

/* Adds what is not there yet, and tells how many lines named a package. */
static size_t add_items(struct arena *a, struct str out, bool alone, struct sdk_items *ret)
{
	size_t lines = 0;
	struct str line;
	while (str_next(&out, '\n', &line)) {
		struct sdk_item item;
		if (!apt_parse_uri(a, line, &item))
			continue;
		bool known = false;
		lines++;
		VEC_EACH (struct sdk_item, i, ret)
			known = known || str_eq(i->name, item.name);
		item.alone = alone;
		if (!known)
			*VEC_PUSH(a, ret) = item;
	}
	return lines;
}

struct err *apt_resolve(struct arena *a, const struct apt *apt, const struct strs *packages,
	bool alone, struct sdk_items *ret)
{
	if (!packages->n)
		return NULL;
	struct proc p = command(a, apt);
	struct proc_result r;
	proc_arg(a, &p, alone ? "download" : "install", "-q", "-y", "--print-uris", "-o", NULL);
	/* an empty cache folder: what is there already would not be listed */
	strs_add(a, &p.argv, str_fmt(a, "Dir::Cache::archives=%.*s/none", STR(apt->dir)));
	strs_add_all(a, &p.argv, packages);
	p.merge = false;
	p.timeout = RESOLVE_SECONDS;
	TRY(proc_run(a, &p, &r));
	if (r.status != 0) {
		r.out = r.err;
		return err_wrap(explain(a, &p, &r), "cannot resolve '%.*s' in suite '%.*s'",
			STR(str_join(a, packages, S(" "))), STR(apt->suites.v[apt->suites.n - 1]));
	}
	uint64_t want = packages->n;
	bool known = alone || announced(r.out, &want);
	size_t got = add_items(a, r.out, alone, ret);
	if (!known || got != want) /* half a tree that calls itself complete would be worse */
		return err_new(E_SDK_SOURCE, "apt announced %llu packages and named %zu",
			(unsigned long long)want, got);
	return NULL;
}

/* ---- fetching ---- */
/* Is the right file there? A wrong one of that size is removed, since apt goes by the size; a
 * shorter one stays, for apt to continue. */
static struct err *is_there(struct arena *a, const struct sdk_item *i, bool *ret)
{
	struct stat st;
	struct digest d;
	*ret = false;
	if (!fs_exists(i->path))
		return NULL;
	TRY(fs_stat(i->path, &st));
	if ((uint64_t)st.st_size < i->size)
		return NULL;
	if ((uint64_t)st.st_size == i->size) {
		TRY(hash_file(HASH_SHA256, i->path, &d));
		*ret = str_eq(digest_hex(a, &d), i->sha256);
	}
	return *ret || str_starts(i->url, S("file:")) ? NULL : fs_remove(i->path);
}

/* apt tells no progress to a pipe: a thread looks how large the files have become. */
struct watch {
	atomic_bool stop;
	const struct sdk_items *items;
	struct progress *bar;
};

static void *watch_files(void *user)
{
	struct watch *w = user;
	const struct timespec tick = {.tv_nsec = 200000000};
	uint64_t last = 0;
	while (!atomic_load(&w->stop)) {
		uint64_t now = 0;
		struct stat st;
		VEC_EACH (const struct sdk_item, i, w->items)
			if (fs_try_stat(i->path, &st))
				now += (uint64_t)st.st_size < i->size ? (uint64_t)st.st_size
								      : i->size;
		progress_add(w->bar, now > last ? now - last : 0, S(""));
		last = now > last ? now : last;
		nanosleep(&tick, NULL);
	}
	return NULL;
}

static struct err *run_watched(struct arena *a, struct proc *p, const struct sdk_items *items)
{
	struct watch w = {.items = items};
	struct proc_result r;
	pthread_t thread;
	uint64_t total = 0;
	VEC_EACH (const struct sdk_item, i, items)
		total += i->size;
	w.bar = progress_begin(
		S("Fetching"), str_fmt(a, "%zu packages", items->n), UNIT_BYTES, total);
	bool started = pthread_create(&thread, NULL, watch_files, &w) == 0;
	struct err *e = run(a, p, &r);
	atomic_store(&w.stop, true);
	if (started)
		pthread_join(thread, NULL);
	progress_end(w.bar);
	return e;
}

struct err *apt_fetch(struct arena *a, const struct apt *apt, const struct sdk_items *items)
{
	struct str archives = path_join(a, apt->dir, S("archives"));
	struct proc p = command(a, apt);
	bool there;
	proc_arg(a, &p, "download", "-q", "-y", NULL);
	size_t need = 0;
	VEC_EACH (struct sdk_item, i, items) {
		i->path = str_starts(i->url, S("file:")) ? unescape(a, str_sub(i->url, 5, i->url.n))
							 : path_join(a, archives, i->file);
		TRY(is_there(a, i, &there));
		if (there)
			continue;
		need++;
		strs_add(a, &p.argv, str_fmt(a, "%.*s=%.*s", STR(i->name), STR(i->version)));
	}
	if (!need)
		return NULL;
	p.cwd = archives;
	TRY_CTX(run_watched(a, &p, items), "cannot fetch %zu of %zu packages", need, items->n);
	VEC_EACH (struct sdk_item, i, items) {
		TRY(is_there(a, i, &there));
		if (!there)
			return err_new(E_HASH,
				"'%.*s' does not match the hash in the archive's "
				"signed index",
				STR(i->file));
	}
	return NULL;
}

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
