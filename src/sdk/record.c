/* Records: what a package put into the tree, one line a file (see provider.h), and the comparison
 * of trees with them. deb.c refuses control characters in names, so that a line is always one
 * entry. */
#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "sdk/provider.h"

struct str record_path(struct arena *a, struct str dir, struct str package)
{
	return str_fmt(a, "%.*s/records/%.*s", STR(dir), STR(package));
}

void record_add(struct buf *b, const struct sdk_record *r)
{
	buf_fmt(b, "%c\t%llu\t%lld\t%.*s\t%.*s\n", r->type, (unsigned long long)r->size,
		(long long)r->mtime, STR(r->value), STR(r->path));
}

struct str record_head(struct arena *a, const struct sdk_package *p)
{
	struct str head = str_fmt(a, "#\t%.*s\t%.*s", STR(p->version), STR(p->sha256));
	if (!p->gpus.n)
		return str_fmt(a, "%.*s\n", STR(head));
	return str_fmt(a, "%.*s\t%.*s\t%llu\n", STR(head), STR(str_join(a, &p->gpus, S(","))),
		(unsigned long long)p->bytes);
}

bool record_is(struct arena *a, struct str text, struct sdk_package *io)
{
	struct str line, head, word, gpus, holes = {0};
	io->gpus = (struct strs){0};
	io->bytes = 0;
	head = record_head(a, io);
	head.n--;
	if (!str_next(&text, '\n', &line) || !str_starts(line, head))
		return false;
	line = str_sub(line, head.n, line.n);
	if (!line.n)
		return true;
	(void)str_cut(str_sub(line, 1, line.n), '\t', &gpus, &holes);
	while (str_next(&gpus, ',', &word))
		strs_put(a, &io->gpus, str_dup(a, word));
	return line.p[0] == '\t' && io->gpus.n && str_u64(holes, 10, &io->bytes);
}

static bool parse(struct str line, struct sdk_record *r)
{
	struct str type, size, mtime;
	uint64_t seconds;
	if (!str_next(&line, '\t', &type) || !str_next(&line, '\t', &size) ||
		!str_next(&line, '\t', &mtime) || !str_next(&line, '\t', &r->value))
		return false;
	bool before_1970 = str_starts(mtime, S("-"));
	if (!str_u64(size, 10, &r->size) ||
		!str_u64(str_sub(mtime, before_1970, mtime.n), 10, &seconds))
		return false;
	r->type = type.n == 1 ? type.p[0] : 0;
	r->mtime = before_1970 ? -(int64_t)seconds : (int64_t)seconds;
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

struct err *record_compare(
	struct str root, const struct sdk_record *r, bool deep, enum record_state *ret)
{
	ARENA(tmp);
	struct str path = path_join(&tmp, root, r->path), target;
	struct stat st;
	struct digest d;
	bool same = false;
	*ret = RECORD_MISSING;
	if (!fs_try_lstat(path, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return NULL;
		return err_errno("cannot look at '%.*s'", STR(path));
	}
	if (r->type == 'l' && S_ISLNK(st.st_mode)) {
		TRY(fs_readlink(&tmp, path, &target));
		same = str_eq(target, r->value);
	} else if (r->type == 'f' && S_ISREG(st.st_mode) && (uint64_t)st.st_size == r->size) {
		same = deep || st.st_mtim.tv_sec == r->mtime;
		if (deep) {
			TRY(hash_file(HASH_SHA256, path, &d));
			same = str_eq(digest_hex(&tmp, &d), r->value);
		}
	}
	*ret = same ? RECORD_OK : RECORD_CHANGED;
	return NULL;
}

/* ---- damage ---- */
struct damage {
	struct str root;
	bool deep;
	struct findings *findings;
};

static void tell(struct arena *a, const struct damage *d, struct str path, enum record_state state)
{
	bool gone = state == RECORD_MISSING;
	if (!d->findings)
		return;
	struct finding *f = finding_add(
		a, d->findings, gone ? "sdk-file-missing" : "sdk-file-changed", SEV_ERROR, path);
	finding_say(
		a, f, "'%.*s' %s", STR(path), gone ? "is missing" : "is not what was installed");
	finding_fix(a, f, "rocsmith sdk install");
}

static struct err *check_package(struct arena *a, const struct damage *d,
	const struct sdk_package *p, struct str dir, bool *ret_bad)
{
	ARENA(tmp);
	struct str path = record_path(&tmp, dir, p->name), text;
	TRY(fs_read_opt(&tmp, path, RECORD_MAX, &text));
	*ret_bad = !text.p || !str_eq(sha256_hex(&tmp, text), p->record);
	if (*ret_bad) {
		tell(a, d, path, text.p ? RECORD_CHANGED : RECORD_MISSING);
		return NULL;
	}
	struct sdk_record r;
	bool bad;
	while (record_next(&text, &r, &bad)) {
		enum record_state state;
		TRY(record_compare(d->root, &r, d->deep, &state));
		if (state == RECORD_OK)
			continue;
		*ret_bad = true;
		tell(a, d, r.path, state);
	}
	return cancel_check();
}

struct err *sdk_find_damage(
	struct arena *a, struct str dir, bool deep, struct strs *ret_packages, struct findings *ret)
{
	struct sdk_manifest m;
	struct damage d = {.root = path_join(a, dir, S("root")), .deep = deep, .findings = ret};
	TRY(sdk_manifest_read(a, dir, &m));
	/* what an earlier check found, if nobody has repaired it yet */
	struct str text = {0}, line;
	if (!deep)
		TRY(fs_read_opt(a, path_join(a, dir, S("damaged")), RECORD_MAX, &text));
	while (str_next(&text, '\n', &line))
		if (line.n)
			strs_put(a, ret_packages, line);
	CLEANUP(progress_endp) struct progress *bar = NULL;
	if (deep)
		bar = progress_begin(S("Checking"), path_base(dir), UNIT_ITEMS, m.packages.n);
	VEC_EACH (struct sdk_package, p, &m.packages) {
		bool bad;
		TRY(check_package(a, &d, p, dir, &bad));
		if (bad)
			strs_put(a, ret_packages, p->name);
		progress_add(bar, 1, p->name);
	}
	return NULL;
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
	struct str damaged = path_join(a, dir, S("damaged"));
	if (!packages.n)
		return fs_remove(damaged);
	return fs_write(damaged, str_join(a, &packages, S("\n")), 0644);
}
