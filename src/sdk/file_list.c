/* File lists, which have a line for each file that a package put into the tree (see provider.h), and the comparison of
 * a tree with them. deb.c refuses control characters in names, so that a line is always one entry. */
#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "sdk/provider.h"

struct str file_list_path(struct arena *a, struct str dir, struct str package)
{
	return str_fmt(a, "%.*s/records/%.*s", STR(dir), STR(package));
}

void file_list_add(struct buf *b, const struct sdk_file *f)
{
	buf_fmt(b, "%c\t%llu\t%lld\t%.*s\t%.*s\n", f->type, (unsigned long long)f->size,
		(long long)f->mtime, STR(f->value), STR(f->path));
}

struct str file_list_head(struct arena *a, const struct sdk_package *p)
{
	struct str head = str_fmt(a, "#\t%.*s\t%.*s", STR(p->version), STR(p->sha256));
	if (!p->gpus.n)
		return str_fmt(a, "%.*s\n", STR(head));
	return str_fmt(a, "%.*s\t%.*s\t%llu\n", STR(head), STR(str_join(a, &p->gpus, S(","))),
		(unsigned long long)p->bytes);
}

bool file_list_is(struct arena *a, struct str text, struct sdk_package *io)
{
	struct str line, head, word, gpus, holes = {0};
	io->gpus = (struct strs){0};
	io->bytes = 0;
	head = file_list_head(a, io);
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

bool file_list_next(struct str *rest, struct sdk_file *ret, bool *ret_bad)
{
	struct str line, type, size, mtime;
	uint64_t seconds;
	*ret_bad = false;
	do {
		if (!str_next(rest, '\n', &line) || !line.n)
			return false;
	} while (line.p[0] == '#');
	*ret_bad = true;
	if (!str_next(&line, '\t', &type) || !str_next(&line, '\t', &size) ||
		!str_next(&line, '\t', &mtime) || !str_next(&line, '\t', &ret->value))
		return false;
	bool before_1970 = str_starts(mtime, S("-"));
	if (!str_u64(size, 10, &ret->size) ||
		!str_u64(str_sub(mtime, before_1970, mtime.n), 10, &seconds))
		return false;
	ret->type = type.n == 1 ? type.p[0] : 0;
	ret->mtime = before_1970 ? -(int64_t)seconds : (int64_t)seconds;
	ret->path = line;
	*ret_bad = (ret->type != 'f' && ret->type != 'l') || !path_is_inside(line);
	return !*ret_bad;
}

struct err *file_list_compare(
	struct str root, const struct sdk_file *f, bool deep, enum file_state *ret)
{
	ARENA(tmp);
	struct str path = path_join(&tmp, root, f->path), target, is;
	struct stat st;
	bool same = false;
	*ret = FILE_MISSING;
	if (!fs_try_lstat(path, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return NULL;
		return err_errno("cannot look at '%.*s'", STR(path));
	}
	if (f->type == 'l' && S_ISLNK(st.st_mode)) {
		TRY(fs_readlink(&tmp, path, &target));
		same = str_eq(target, f->value);
	} else if (f->type == 'f' && S_ISREG(st.st_mode) && (uint64_t)st.st_size == f->size) {
		same = deep || st.st_mtim.tv_sec == f->mtime;
		if (deep) {
			TRY(sha256_file(&tmp, path, &is));
			same = str_eq(is, f->value);
		}
	}
	*ret = same ? FILE_OK : FILE_CHANGED;
	return NULL;
}

/* ---- damage ---- */
/* Adds a finding about a file that is missing or has changed, if anybody wants it. */
static void add_finding(struct arena *a, const struct sdk_receipt *m, struct findings *list,
	struct str path, enum file_state state)
{
	bool gone = state == FILE_MISSING;
	if (!list)
		return;
	struct finding *f = finding_note(a, list, gone ? "sdk-file-missing" : "sdk-file-changed",
		path, "'%.*s' %s", STR(path), gone ? "is missing" : "is not what was installed");
	finding_fix(a, f, "rocsmith sdk install %.*s:%.*s", STR(m->provider), STR(m->suite));
}

struct err *sdk_find_damage(
	struct arena *a, struct str dir, bool deep, struct strs *ret_packages, struct findings *ret)
{
	struct sdk_receipt m;
	struct str root = path_join(a, dir, S("root")), text = {0}, line;
	TRY(sdk_receipt_read(a, dir, &m));
	/* the findings of an earlier check, unless repaired since */
	if (!deep)
		TRY(fs_read_opt(a, path_join(a, dir, S("damaged")), FILE_LIST_MAX, &text));
	while (str_next(&text, '\n', &line))
		if (line.n)
			strs_put(a, ret_packages, line);
	CLEANUP(progress_endp) struct progress *bar = NULL;
	if (deep)
		bar = progress_begin(S("Checking"), path_base(dir), UNIT_ITEMS, m.packages.n);
	VEC_EACH (struct sdk_package, p, &m.packages) {
		ARENA(tmp);
		struct str path = file_list_path(&tmp, dir, p->name);
		struct sdk_file f;
		TRY(fs_read_opt(&tmp, path, FILE_LIST_MAX, &text));
		bool bad = !text.p || !str_eq(sha256_hex(&tmp, text), p->list_sha256), end = bad,
		     torn;
		if (bad)
			add_finding(a, &m, ret, path, text.p ? FILE_CHANGED : FILE_MISSING);
		while (!end && file_list_next(&text, &f, &torn)) {
			enum file_state state;
			TRY(file_list_compare(root, &f, deep, &state));
			if (state != FILE_OK)
				add_finding(a, &m, ret, f.path, state);
			bad |= state != FILE_OK;
		}
		if (bad)
			strs_put(a, ret_packages, p->name);
		TRY(cancel_check());
		progress_add(bar, 1, p->name);
	}
	return NULL;
}

struct err *sdk_check(struct arena *a, struct str name, struct findings *ret)
{
	struct sdk_receipt m;
	struct strs packages = {0};
	name = str_replace(a, name, S(":"), S("-")); /* rocm:10.1 is the SDK rocm-10.1 */
	struct str dir = sdk_dir(a, name);
	TRY(sdk_receipt_read(a, dir, &m));
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
