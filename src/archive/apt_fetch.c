/* Packages by apt-get: resolves them with --print-uris, fetches their files, and checks the hashes once more. */
#include "archive/apt_int.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"

enum { RESOLVE_SECONDS = 120 };

/* Decodes %2b and the like in package file names. */
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

bool apt_parse_file(struct arena *a, struct str line, struct archive_item *ret)
{
	struct str uri, file, size, sum, rest;
	*ret = (struct archive_item){0};
	if (!str_starts(line, S("'")) || !str_cut(str_sub(line, 1, line.n), '\'', &uri, &rest) ||
		!str_cut(str_trim(rest), ' ', &file, &rest) || !str_cut(rest, ' ', &size, &sum) ||
		!str_starts(sum, S("SHA256:")) || !str_u64(size, 10, &ret->size))
		return false;
	ret->url = str_dup(a, uri);
	ret->file = str_dup(a, file);
	ret->sha256 = str_dup(a, str_sub(str_trim(sum), 7, sum.n));
	return ret->sha256.n == 64 && file.n && file.p[0] != '.' && str_chr(file, '/') == file.n;
}

bool apt_parse_uri(struct arena *a, struct str line, struct archive_item *ret)
{
	struct str name, version, arch, rest;
	/* NAME_VERSION_ARCH.deb */
	if (!apt_parse_file(a, line, ret) || !str_ends(ret->file, S(".deb")) ||
		!str_cut(str_sub(ret->file, 0, ret->file.n - 4), '_', &name, &rest) ||
		!str_cut(rest, '_', &version, &arch) || !name.n || !ascii_alnum(name.p[0]))
		return false;
	ret->name = str_dup(a, name);
	ret->version = unescape(a, version);
	return true;
}

struct err *apt_resolve(struct arena *a, const struct apt *apt, const struct strs *packages,
	bool alone, struct archive_items *ret)
{
	if (!packages->n)
		return NULL;
	struct proc p = apt_command(a, apt, "apt-get");
	struct proc_result r;
	proc_arg(a, &p, alone ? "download" : "install", "-q", "-y", "--print-uris", "-o", NULL);
	/* an empty cache folder, since apt does not list files that it has already */
	strs_fmt(a, &p.argv, "Dir::Cache::archives=%.*s/none", STR(apt->dir));
	strs_add_all(a, &p.argv, packages);
	p.merge = false;
	p.timeout = RESOLVE_SECONDS;
	TRY(proc_run(a, &p, &r));
	if (r.status != 0) {
		r.out = str_fmt(a, "%.*s\n%.*s", STR(r.out), STR(r.err));
		return err_wrap(apt_explain(a, &p, &r), "cannot resolve '%.*s' in suite '%.*s'",
			STR(str_join(a, packages, S(" "))), STR(apt->suites.v[apt->suites.n - 1]));
	}
	/* "0 upgraded, 4 newly installed, 0 to remove ..." */
	uint64_t want = packages->n;
	size_t end = str_find(r.out, S(" newly installed")), got = 0;
	size_t from = str_rchr(str_sub(r.out, 0, end), ' ') + 1;
	bool announced = end < r.out.n && str_u64(str_sub(r.out, from, end), 10, &want);
	struct str line;
	while (str_next(&r.out, '\n', &line)) {
		struct archive_item item;
		if (!apt_parse_uri(a, line, &item))
			continue;
		got++;
		if (!VEC_FIND(struct archive_item, ret, name, item.name))
			*VEC_PUSH(a, ret) = item;
	}
	if (!(alone || announced) ||
		got != want) /* otherwise half a tree would count as complete */
		return err_new(E_SDK_SOURCE, "apt announced %llu packages and named %zu",
			(unsigned long long)want, got);
	return NULL;
}

/* ---- fetching ---- */
/* Removes a file that has the right size and a wrong hash, since apt checks only the size; a shorter file stays, so
 * that apt continues it. */
struct err *apt_is_there(struct arena *a, const struct archive_item *i, bool *ret)
{
	struct stat st;
	struct str is;
	*ret = false;
	if (!fs_exists(i->path))
		return NULL;
	TRY(fs_stat(i->path, &st));
	if ((uint64_t)st.st_size < i->size)
		return NULL;
	if ((uint64_t)st.st_size == i->size) {
		TRY(sha256_file(a, i->path, &is));
		*ret = str_eq(is, i->sha256);
	}
	return *ret || str_starts(i->url, S("file:")) ? NULL : fs_remove(i->path);
}

/* apt reports no progress to a pipe: the sizes of the files tell. */
struct fetch_watch {
	const struct archive_items *items;
	struct progress *bar;
	uint64_t last; /* bytes that the bar has */
};

static bool watch_files(void *user)
{
	struct fetch_watch *w = user;
	uint64_t now = 0;
	struct stat st;
	VEC_EACH (const struct archive_item, i, w->items)
		if (fs_try_stat(i->path, &st))
			now += (uint64_t)st.st_size < i->size ? (uint64_t)st.st_size : i->size;
	progress_add(w->bar, now > w->last ? now - w->last : 0, S(""));
	w->last = now > w->last ? now : w->last;
	return true;
}

/* Did apt fail because the archive has no such file, and not for another reason? */
static bool is_gone(struct str output, const struct archive_item *i)
{
	struct str line;
	while (str_next(&output, '\n', &line))
		if (str_contains(line, S("Failed to fetch ")) && str_contains(line, i->url) &&
			(str_contains(line, S("  404  ")) ||
				str_contains(line, S("File not found"))))
			return true;
	return false;
}

struct err *apt_get_items(struct arena *a, struct proc *p, struct str what,
	const struct archive_items *items, struct strs *ret_gone)
{
	struct fetch_watch w = {.items = items};
	struct proc_result r = {0};
	uint64_t total = 0;
	bool there;
	VEC_EACH (const struct archive_item, i, items)
		total += i->size;
	w.bar = progress_begin(S("Fetching"), what, UNIT_BYTES, total);
	p->tick = watch_files;
	p->user = &w;
	struct err *e = proc_run(a, p, &r);
	progress_end(w.bar);
	TRY(e);
	if (r.status != 0 && !ret_gone)
		return apt_explain(a, p, &r);
	VEC_EACH (struct archive_item, i, items) {
		TRY(apt_is_there(a, i, &there));
		if (there)
			continue;
		if (r.status == 0)
			return err_new(E_HASH,
				"'%.*s' does not match the hash in the archive's signed index",
				STR(i->file));
		if (!is_gone(r.out, i))
			return apt_explain(a, p, &r);
		strs_add(a, ret_gone, i->file);
		i->path = S("");
	}
	return NULL;
}

struct err *apt_fetch(struct arena *a, const struct apt *apt, const struct archive_items *items)
{
	struct str archives = path_join(a, apt->dir, S("archives"));
	struct proc p = apt_command(a, apt, "apt-get");
	bool there;
	proc_arg(a, &p, "download", "-q", "-y", NULL);
	size_t need = 0;
	VEC_EACH (struct archive_item, i, items) {
		i->path = str_starts(i->url, S("file:")) ? unescape(a, str_sub(i->url, 5, i->url.n))
							 : path_join(a, archives, i->file);
		TRY(apt_is_there(a, i, &there));
		if (there)
			continue;
		need++;
		strs_fmt(a, &p.argv, "%.*s=%.*s", STR(i->name), STR(i->version));
	}
	if (!need)
		return NULL;
	p.cwd = archives;
	TRY_CTX(apt_get_items(a, &p, str_fmt(a, "%zu packages", items->n), items, NULL),
		"cannot fetch %zu of %zu packages", need, items->n);
	return NULL;
}
