/* Removes what disk_read() found; see disk.h. */
#include <errno.h>

#include "base/fs.h"
#include "base/hash.h"
#include "disk/disk_int.h"
#include "formats/node.h"

/* The user may have put another wheel in its place, of the same size. */
static struct err *check_wheel(const struct disk_item *i)
{
	ARENA(tmp);
	struct str is;
	const struct node *doc;
	TRY(json_read(&tmp, i->beside, &doc));
	TRY(sha256_file(&tmp, i->path, &is));
	struct str was = node_text(node_get(doc, S("wheel")), S("sha256"), S(""));
	return str_eq(was, is) ? NULL
			       : err_new(E_PERM, "'%.*s' is not what rocsmith made", STR(i->path));
}

/* Takes an item for this process alone, and looks once more whether it may go: it was measured a while ago, where nobody
 * watches. */
static struct err *take_item(const struct disk_item *i, const struct stat *st, int *ret_lock)
{
	ARENA(tmp);
	TRY(disk_lock(i, ret_lock));
	if (*ret_lock < 0 && i->kind == DISK_BUILD) /* a build that starts now would make it */
		TRY(fs_lock(i->lock, FS_LOCK_NOW, ret_lock));
	if (S_ISDIR(st->st_mode))
		TRY(fs_hold(i->path, FS_HOLD_ALONE));
	if (i->note.n && i->kind == DISK_LEFTOVER)
		TRY(disk_check_way(i->path, st));
	else if (i->note.n && !disk_is_made(&tmp, i->path, st))
		return err_new(E_PERM, "'%.*s' is not what rocsmith made", STR(i->path));
	return i->kind == DISK_WHEEL ? check_wheel(i) : NULL;
}

struct err *disk_remove(const struct disk_item *i, uint64_t *io_bytes)
{
	CLEANUP(fd_closep) int lock = -1;
	struct fs_use freed = {0};
	struct stat st;
	if (!fs_try_lstat(i->path, &st))
		return errno == ENOENT ? NULL : err_errno("cannot look at '%.*s'", STR(i->path));
	struct err *e = take_item(i, &st, &lock);
	if (e && !fs_present(i->path)) { /* another clean has removed it meanwhile */
		err_free(e);
		return NULL;
	}
	TRY(e);
	e = fs_retire(i->path, i->beside, &freed);
	*io_bytes += freed.bytes;
	if (!e && i->note.n)
		e = fs_remove(i->note);
	return e;
}

struct err *disk_hint(struct err *e, struct str dir)
{
	ARENA(tmp);
	struct disk d;
	struct stat here, there;
	uint64_t sum[DISK_LEFTOVER + 1] = {0}, all = 0;
	struct strs kinds = {0}, parts = {0};
	CLEANUP(err_freep) struct err *failed = disk_read(&tmp, false, &d);
	if (failed || !fs_try_stat(fs_existing(dir), &here))
		return e;
	VEC_EACH (const struct disk_item, i, &d.items)
		if (!i->busy.n && i->kind != DISK_WHEEL && !str_eq(i->path, dir) &&
			fs_try_lstat(i->path, &there) && there.st_dev == here.st_dev)
			sum[i->kind] += i->bytes;
	for (size_t k = 0; k <= DISK_LEFTOVER; k++) {
		if (!sum[k])
			continue;
		all += sum[k];
		strs_add(&tmp, &kinds, str_from(disk_kinds[k]));
		strs_fmt(&tmp, &parts, "%s %.*s", disk_kinds[k], STR(human_bytes(&tmp, sum[k])));
	}
	return all ? err_hint(e,
			     "'rocsmith clean %.*s' would free %.*s there (%.*s); -n shows what",
			     STR(str_join(&tmp, &kinds, S(" "))), STR(human_bytes(&tmp, all)),
			     STR(str_join(&tmp, &parts, S(", "))))
		   : e;
}
