/* Recording a machine: everything that machine_read() looks at is copied as it is looked at, so
 * that a recording can neither lack a file nor hold one that is not needed. What the copies leave
 * out is said by the keep functions, at the place where a file is read. */
#include <errno.h>

#include "machine/facts.h"

struct recording {
	struct str dir;     /* for the copies */
	unsigned files;     /* copied, or that would be in a dry run */
	struct err *failed; /* the first failure */
};

static struct err *copy_node(
	struct arena *tmp, const struct recording *rec, struct str to, const struct root_seen *seen)
{
	unsigned mode = seen->st->st_mode & 07777;
	TRY(fs_stage(to, S(""), mode | FS_EXACT));
	if (fs_try_chown(to, seen->st->st_uid, seen->st->st_gid))
		return NULL;
	if (errno != EPERM && errno != EINVAL)
		return err_errno("cannot set the owner of '%.*s'", STR(to));
	/* A line in .nodes; there are a handful of nodes, so the file is written anew each time. */
	struct str file = path_join(tmp, rec->dir, S(".nodes")), text;
	TRY(fs_read_opt(tmp, file, 1 << 20, &text));
	text = str_fmt(tmp, "%.*s%.*s %04o %u %u\n", STR(text), STR(seen->path), mode,
		(unsigned)seen->st->st_uid, (unsigned)seen->st->st_gid);
	return fs_write(file, text, 0644);
}

static struct err *copy(const struct recording *rec, const struct root_seen *seen)
{
	ARENA(tmp);
	struct str to = path_join(&tmp, rec->dir, seen->path);
	if (seen->what == SEEN_DIR)
		return fs_mkdirs(to);
	TRY(fs_mkdirs(path_dir(to)));
	if (seen->what == SEEN_FILE)
		return fs_write(to, seen->text, 0644);
	if (seen->what == SEEN_LINK)
		return fs_symlink(seen->text, to);
	return copy_node(&tmp, rec, to, seen);
}

static void observe(void *user, const struct root_seen *seen)
{
	struct recording *rec = user;
	if (rec->failed)
		return;
	rec->files++;
	if (!fs_writes_forbidden())
		rec->failed = copy(rec, seen);
}

struct err *machine_record(struct str root, struct str dir, unsigned *ret_files)
{
	ARENA(tmp);
	struct machine m;
	struct recording rec = {.dir = path_abs(&tmp, dir)};
	struct root r = {.a = &tmp, .dir = root, .observer = observe, .observer_data = &rec};
	struct strs names = {0};
	if (fs_exists(rec.dir))
		TRY(fs_list(&tmp, rec.dir, &names));
	if (names.n)
		return err_hint(err_new(E_USAGE, "the folder '%.*s' is not empty", STR(rec.dir)),
			"name a new folder, so that nothing old is mixed into the recording");
	if (!fs_writes_forbidden())
		TRY(fs_mkdirs(rec.dir));
	TRY(machine_gather(&r, true, &m));
	*ret_files = rec.files;
	if (rec.failed)
		return err_wrap(rec.failed, "cannot record the machine into '%.*s'", STR(dir));
	return NULL;
}
