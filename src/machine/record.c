/* Recording a machine: everything that machine_read() looks at is copied as it is looked at, so
 * that a recording can neither lack a file nor hold one that is not needed. What the copies leave
 * out is said by the keep functions (keep.h), at the place where a file is read. */
#include "machine/record.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/facts.h"

static void copied(struct root *r, struct err *e)
{
	r->files++;
	r->failed = err_join(r->failed, e);
}

static bool recording(struct root *r)
{
	bool on = r->record.n && !r->failed;
	if (on && fs_writes_forbidden())
		r->files++;
	return on && !fs_writes_forbidden();
}

/* The path of a copy, its folder made. */
static struct err *copy_place(struct arena *tmp, struct root *r, struct str path, struct str *ret)
{
	*ret = path_join(tmp, r->record, path);
	return fs_mkdirs(path_dir(*ret));
}

static struct err *copy_text(struct root *r, struct str path, struct str text)
{
	ARENA(tmp);
	struct str to;
	TRY(copy_place(&tmp, r, path, &to));
	return fs_write(to, text, 0644);
}

void record_text(struct root *r, struct str path, keep_fn *keep, struct str text)
{
	ARENA(tmp);
	BUF(kept, &tmp);
	if (!recording(r))
		return;
	if (keep)
		keep(&kept, text);
	copied(r, copy_text(r, path, keep ? buf_str(&kept) : text));
}

void record_dir(struct root *r, struct str path)
{
	ARENA(tmp);
	if (recording(r))
		copied(r, fs_mkdirs(path_join(&tmp, r->record, path)));
}

static struct err *copy_link(struct root *r, struct str path, struct str target)
{
	ARENA(tmp);
	struct str to;
	TRY(copy_place(&tmp, r, path, &to));
	return fs_symlink(target, to);
}

void record_link(struct root *r, struct str path, struct str target)
{
	if (recording(r))
		copied(r, copy_link(r, path, target));
}

/* Adds a line to .nodes; there are a handful of nodes, so the file is written anew each time. */
static struct err *note_owner(
	struct arena *tmp, struct root *r, struct str path, const struct stat *st)
{
	struct str file = path_join(tmp, r->record, S(".nodes")), text;
	TRY(fs_read_opt(tmp, file, 1 << 20, &text));
	text = str_fmt(tmp, "%.*s%.*s %04o %u %u\n", STR(text), STR(path), st->st_mode & 07777,
		(unsigned)st->st_uid, (unsigned)st->st_gid);
	return fs_write(file, text, 0644);
}

static struct err *copy_node(struct root *r, struct str path, const struct stat *st)
{
	ARENA(tmp);
	struct str to;
	TRY(copy_place(&tmp, r, path, &to));
	TRY(fs_write(to, S(""), st->st_mode & 07777));
	if (fs_try_chown(to, st->st_uid, st->st_gid))
		return NULL;
	if (errno != EPERM && errno != EINVAL)
		return err_errno("cannot set the owner of '%.*s'", STR(to));
	return note_owner(&tmp, r, path, st);
}

void record_node(struct root *r, struct str path, const struct stat *st)
{
	if (recording(r))
		copied(r, copy_node(r, path, st));
}

void record_owner_of(struct str nodes, struct str path, struct stat *st)
{
	struct str line, name, mode, uid, rest;
	while (str_next(&nodes, '\n', &line)) {
		uint64_t m = 0, u, g;
		if (!str_cut(line, ' ', &name, &rest) || !str_eq(name, path))
			continue;
		str_cut(rest, ' ', &mode, &rest);
		str_cut(rest, ' ', &uid, &rest);
		for (size_t i = 0; i < mode.n && mode.p[i] >= '0' && mode.p[i] <= '7'; i++)
			m = m * 8 + (uint64_t)(mode.p[i] - '0');
		if (!str_u64(uid, 10, &u) || !str_u64(rest, 10, &g) || u > UINT32_MAX ||
			g > UINT32_MAX)
			continue;
		st->st_mode = (mode_t)((st->st_mode & ~07777u) | (m & 07777));
		st->st_uid = (uid_t)u;
		st->st_gid = (gid_t)g;
	}
}

static struct err *check_target(struct arena *tmp, struct str dir)
{
	struct strs names;
	if (!fs_exists(dir))
		return NULL;
	TRY(fs_list(tmp, dir, &names));
	if (!names.n)
		return NULL;
	return err_hint(err_new(E_USAGE, "the folder '%.*s' is not empty", STR(dir)),
		"name a new folder, so that nothing old is mixed into the recording");
}

struct err *machine_record(struct str root, struct str dir, unsigned *ret_files)
{
	ARENA(tmp);
	struct machine m;
	struct root r = {.a = &tmp, .dir = root, .record = path_abs(&tmp, dir)};
	TRY(check_target(&tmp, r.record));
	if (!fs_writes_forbidden())
		TRY(fs_mkdirs(r.record));
	TRY(machine_gather(&r, &m));
	*ret_files = r.files;
	if (r.failed)
		return err_wrap(r.failed, "cannot record the machine into '%.*s'", STR(dir));
	return NULL;
}
