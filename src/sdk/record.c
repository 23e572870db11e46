/* Records: the lines that say what a package put into the tree, and their comparison with it. One
 * line a file: type, size, mtime, value, path; tab-separated. deb.c refuses control characters in
 * names, so that a line is always one entry. */
#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "sdk/provider.h"

void record_add(struct buf *b, const struct record *r)
{
	buf_fmt(b, "%c\t%llu\t%lld\t%.*s\t%.*s\n", r->type, (unsigned long long)r->size,
		(long long)r->mtime, STR(r->value), STR(r->path));
}

struct str record_head(struct arena *a, struct str version, struct str sha256)
{
	return str_fmt(a, "#\t%.*s\t%.*s\n", STR(version), STR(sha256));
}

static bool parse(struct str line, struct record *r)
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

bool record_next(struct str *rest, struct record *ret, bool *ret_bad)
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

static struct err *compare_link(struct arena *tmp, struct str path, const struct record *r,
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
	struct arena *tmp, struct str path, const struct record *r, enum record_state *ret)
{
	struct digest d;
	TRY(hash_file(HASH_SHA256, path, &d));
	*ret = str_eq(digest_hex(tmp, &d), r->value) ? RECORD_OK : RECORD_CHANGED;
	return NULL;
}

struct err *record_compare(
	struct str root, const struct record *r, bool deep, enum record_state *ret)
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
