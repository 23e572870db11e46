/* Records: the lines that say what a package put into the tree, and the comparison of trees with them. One
 * line a file: type, size, mtime, value, path; tab-separated. deb.c refuses control characters in
 * names, so that a line is always one entry. */
#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "sdk/provider.h"

enum { MAX_RECORD = 256 << 20 };

void record_add(struct buf *b, const struct sdk_record *r)
{
	buf_fmt(b, "%c\t%llu\t%lld\t%.*s\t%.*s\n", r->type, (unsigned long long)r->size,
		(long long)r->mtime, STR(r->value), STR(r->path));
}

struct str record_head(struct arena *a, struct str version, struct str sha256)
{
	return str_fmt(a, "#\t%.*s\t%.*s\n", STR(version), STR(sha256));
}

static bool parse(struct str line, struct sdk_record *r)
{
	struct str type, size, mtime, value;
	if (!str_next(&line, '\t', &type) || !str_next(&line, '\t', &size) ||
		!str_next(&line, '\t', &mtime) || !str_next(&line, '\t', &value))
		return false;
	uint64_t seconds;
	bool before_1970 = str_starts(mtime, S("-"));
	if (!str_u64(size, 10, &r->size) ||
		!str_u64(str_sub(mtime, before_1970 ? 1 : 0, mtime.n), 10, &seconds))
		return false;
	r->type = type.n == 1 ? type.p[0] : 0;
	r->mtime = before_1970 ? -(int64_t)seconds : (int64_t)seconds;
	r->value = value;
	r->path = line;
	return (r->type == 'f' || r->type == 'l') && path_is_inside(line);
}

bool record_next(struct str *rest, struct sdk_record *ret, bool *ret_bad)
{
	struct str line;
	*ret_bad = false;
	do {
		if (!str_next(rest, '\n', &line) || !line.n)
			return false;
	} while (line.p[0] == '#');
	*ret_bad = !parse(line, ret);
	return !*ret_bad;
}

static struct err *compare_link(struct arena *tmp, struct str path, const struct sdk_record *r,
	const struct stat *st, enum record_state *ret)
{
	struct str target;
	*ret = RECORD_CHANGED;
	if (!S_ISLNK(st->st_mode))
		return NULL;
	TRY(fs_readlink(tmp, path, &target));
	*ret = str_eq(target, r->value) ? RECORD_OK : RECORD_CHANGED;
	return NULL;
}

static struct err *compare_content(
	struct arena *tmp, struct str path, const struct sdk_record *r, enum record_state *ret)
{
	struct digest d;
	TRY(hash_file(HASH_SHA256, path, &d));
	*ret = str_eq(digest_hex(tmp, &d), r->value) ? RECORD_OK : RECORD_CHANGED;
	return NULL;
}

struct err *record_compare(
	struct str root, const struct sdk_record *r, bool deep, enum record_state *ret)
{
	ARENA(tmp);
	struct str path = path_join(&tmp, root, r->path);
	struct stat st;
	*ret = RECORD_MISSING;
	if (!fs_try_lstat(path, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return NULL;
		return err_errno("cannot look at '%.*s'", STR(path));
	}
	if (r->type == 'l')
		return compare_link(&tmp, path, r, &st, ret);
	bool same = S_ISREG(st.st_mode) && (uint64_t)st.st_size == r->size &&
		    st.st_mtim.tv_sec == r->mtime;
	*ret = same ? RECORD_OK : RECORD_CHANGED;
	if (deep && S_ISREG(st.st_mode) && (uint64_t)st.st_size == r->size)
		return compare_content(&tmp, path, r, ret);
	return NULL;
}

/* ---- damage ---- */
struct damage {
	struct str root;
	bool deep;
	struct findings *findings;
};

static struct err *tell(
	struct arena *a, const struct damage *d, struct str path, enum record_state state)
{
	if (!d->findings)
		return NULL;
	bool gone = state == RECORD_MISSING;
	struct finding *f = finding_add(a, d->findings,
		gone ? "sdk-file-missing" : "sdk-file-changed", SEV_ERROR, str_dup(a, path));
	finding_say(
		a, f, "'%.*s' %s", STR(path), gone ? "is missing" : "is not what was installed");
	finding_fix(a, f, "rocsmith sdk install");
	return NULL;
}

static struct err *check_package(struct arena *a, const struct damage *d,
	const struct sdk_package *p, struct str dir, bool *ret_bad)
{
	ARENA(tmp);
	struct str path = str_fmt(&tmp, "%.*s/records/%.*s", STR(dir), STR(p->name)), text;
	TRY(fs_read_opt(&tmp, path, MAX_RECORD, &text));
	struct digest h = hash_bytes(HASH_SHA256, text.p ? text.p : "", text.n);
	*ret_bad = !text.p || !str_eq(digest_hex(&tmp, &h), p->record);
	if (*ret_bad)
		return tell(a, d, path, text.p ? RECORD_CHANGED : RECORD_MISSING);
	struct sdk_record r;
	bool bad;
	while (record_next(&text, &r, &bad)) {
		enum record_state state;
		TRY(record_compare(d->root, &r, d->deep, &state));
		*ret_bad = *ret_bad || state != RECORD_OK;
		if (state != RECORD_OK)
			TRY(tell(a, d, r.path, state));
	}
	return cancel_check();
}

/* What an earlier check found, if nobody has repaired it yet. */
static struct err *remembered(struct arena *a, struct str dir, struct strs *ret)
{
	struct str text, line;
	TRY(fs_read_opt(a, path_join(a, dir, S("damaged")), MAX_RECORD, &text));
	while (text.p && str_next(&text, '\n', &line))
		if (line.n && !strs_has(ret, line))
			strs_add(a, ret, line);
	return NULL;
}

struct err *sdk_find_damage(
	struct arena *a, struct str dir, bool deep, struct strs *ret_packages, struct findings *ret)
{
	struct sdk_manifest m;
	struct damage d = {.root = path_join(a, dir, S("root")), .deep = deep, .findings = ret};
	TRY(sdk_manifest_read(a, dir, &m));
	if (!deep)
		TRY(remembered(a, dir, ret_packages));
	CLEANUP(progress_endp) struct progress *bar = NULL;
	if (deep)
		bar = progress_begin(S("Checking"), path_base(dir), UNIT_ITEMS, m.packages.n);
	VEC_EACH (struct sdk_package, p, &m.packages) {
		bool bad;
		TRY(check_package(a, &d, p, dir, &bad));
		if (bad && !strs_has(ret_packages, p->name))
			strs_add(a, ret_packages, p->name);
		progress_add(bar, 1, p->name);
	}
	return NULL;
}

static struct err *remember(struct arena *a, struct str dir, const struct strs *packages)
{
	struct str path = path_join(a, dir, S("damaged"));
	if (!packages->n)
		return fs_remove(path);
	return fs_write(path, str_join(a, packages, S("\n")), 0644);
}

struct err *sdk_check(struct arena *a, struct str name, struct findings *ret)
{
	struct sdk_manifest m;
	struct strs packages = {0};
	struct str dir = sdk_dir(a, name);
	TRY(sdk_manifest_read(a, dir, &m));
	if (!m.provider.n)
		return err_new(E_SDK, "the SDK '%.*s' is not installed", STR(name));
	CLEANUP(fd_closep) int lock = -1;
	TRY(sdk_lock(a, name, &lock));
	TRY(sdk_find_damage(a, dir, true, &packages, ret));
	return remember(a, dir, &packages);
}
