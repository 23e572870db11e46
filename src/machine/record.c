/* Records a machine: root.c and redact.c collect the files that machine_read_all() reads, so that a recording can
 * neither lack a file nor contain an unused one. It becomes a folder, a tar archive of one, or a machine file. */
#include <errno.h>

#include "base/fs_stage.h"
#include "formats/tar.h"
#include "machine/facts.h"

/* Adds a line such as "dev/kfd 0660 0 109". */
static void add_node(struct buf *nodes, const struct root_entry *e)
{
	buf_fmt(nodes, "%.*s %04o %u %u\n", STR(e->path), e->mode, e->uid, e->gid);
}

static struct err *write_folder(struct arena *a, const struct root_entries *list, struct str dir)
{
	BUF(nodes, a);
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	TRY(fs_mkdirs(dir));
	/* recorded links may lead out of the folder: do not write through them */
	TRY(fs_guard(dir, &guard));
	VEC_EACH (const struct root_entry, e, list) {
		struct str to = path_join(a, dir, e->path);
		TRY(fs_mkdirs(e->kind == ENTRY_DIR ? to : path_dir(to)));
		if (e->kind == ENTRY_FILE)
			TRY(fs_write(to, e->text, 0644));
		else if (e->kind == ENTRY_DENIED)
			TRY(fs_write(to, ROOT_DENIED_TEXT, 0644));
		else if (e->kind == ENTRY_LINK)
			TRY(fs_symlink(e->text, to));
		if (e->kind != ENTRY_NODE)
			continue;
		TRY(fs_write(to, S(""), e->mode | FS_EXACT | FS_LOOSE));
		if (fs_try_chown(to, e->uid, e->gid))
			continue;
		if (errno != EPERM && errno != EINVAL)
			return err_errno("cannot set the owner of '%.*s'", STR(to));
		add_node(&nodes, e);
	}
	return nodes.n ? fs_write(path_join(a, dir, S(".nodes")), buf_str(&nodes), 0644) : NULL;
}

/* The text of a tar archive with all entries below a folder `top`. Owners are only in .nodes, as a user who unpacks it
 * may not be allowed to set them. */
static struct str tar_text(struct arena *a, const struct root_entries *list, struct str top)
{
	BUF(out, a);
	BUF(nodes, a);
	VEC_EACH (const struct root_entry, e, list)
		if (e->kind == ENTRY_NODE)
			add_node(&nodes, e);
	struct tar_member all = {.type = TAR_FILE,
		.path = path_join(a, top, S(".nodes")),
		.text = buf_str(&nodes),
		.mode = 0644};
	if (nodes.n)
		tar_add(&out, &all);
	VEC_EACH (const struct root_entry, e, list) {
		struct tar_member m = {.type = e->kind == ENTRY_DIR    ? TAR_DIR
					       : e->kind == ENTRY_LINK ? TAR_LINK
								       : TAR_FILE,
			.path = path_join(a, top, e->path),
			.text = e->kind == ENTRY_DENIED ? ROOT_DENIED_TEXT : e->text,
			.mode = e->kind == ENTRY_NODE                           ? e->mode
				: e->kind == ENTRY_DIR || e->kind == ENTRY_LINK ? 0755
										: 0644};
		tar_add(&out, &m);
	}
	tar_end(&out);
	return buf_str(&out);
}

/* "facts" for "x/facts.tar.gz"; "" if the name is that of a folder. */
static struct str file_stem(struct str path)
{
	static const struct str ends[] = {
		S_INIT(".machine"), S_INIT(".tar"), S_INIT(".tar.gz"), S_INIT(".tgz")};
	struct str name = path_base(path);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (str_ends(name, ends[i]))
			return str_sub(name, 0, name.n - ends[i].n);
	return S("");
}

/* A folder that has no more than a part of the recording would be in the way of the next one. */
static struct err *place_folder(struct arena *a, const struct root_entries *list, struct str path)
{
	struct fs_stage stage = {.place = path};
	TRY(fs_stage_begin(a, &stage));
	struct err *e = write_folder(a, list, stage.tree);
	e = e ? e : fs_stage_commit(&stage, S(""));
	return err_join(e, fs_stage_end(&stage));
}

static struct err *write_recording(struct arena *a, struct root_entries *list, struct str path)
{
	struct str top = file_stem(path);
	if (top.n && str_ends(path, S(".machine")))
		return fs_write(path, machine_file_text(a, list), 0644);
	/* A folder cannot hold variables as such: they become the text of proc/self/environ, where the kernel shows
	 * them. */
	BUF(environ, a);
	size_t n = 0;
	VEC_EACH (const struct root_entry, e, list)
		if (e->kind == ENTRY_VARIABLE)
			buf_fmt(&environ, "%.*s=%.*s%c", STR(e->path), STR(e->text), 0);
		else
			list->v[n++] = *e;
	list->n = n;
	if (environ.n)
		*VEC_PUSH(a, list) = (struct root_entry){.kind = ENTRY_FILE,
			.path = S("proc/self/environ"),
			.text = buf_str(&environ)};
	if (!top.n)
		return place_folder(a, list, path);
	struct str text = tar_text(a, list, top);
	return fs_write(path, str_ends(path, S("z")) ? gzip_text(a, text) : text, 0644);
}

struct err *machine_record(struct str root, struct str to, unsigned *ret_files)
{
	ARENA(tmp);
	struct machine m;
	struct root_entries list = {0};
	struct root r = {.a = &tmp, .dir = root, .record = &list};
	struct str path = path_abs(&tmp, to);
	struct strs old = {0};
	bool file = file_stem(to).n > 0;
	/* old files must be neither overwritten nor mixed into the recording */
	if (file && fs_present(path))
		return err_hint(err_new(E_USAGE, "'%.*s' exists already", STR(path)),
			"name a new file, or remove it");
	if (!file && fs_exists(path))
		TRY(fs_list(&tmp, path, &old));
	if (old.n)
		return err_hint(err_new(E_USAGE, "the folder '%.*s' is not empty", STR(path)),
			"name a new folder, so that nothing old is mixed into the recording");
	TRY(machine_gather(&r, true, &m));
	root_entries_sort(&list);
	*ret_files = (unsigned)list.n;
	if (!fs_writes_forbidden())
		TRY_CTX(write_recording(&tmp, &list, path), "cannot record the machine into '%.*s'",
			STR(to));
	return NULL;
}
