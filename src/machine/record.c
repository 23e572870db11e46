/* Recording a machine: everything that machine_read() looks at is copied as it is looked at, so
 * that a recording can neither lack a file nor hold one that is not needed. What the copies leave
 * out is said by the keep functions, at the place where a file is read, and by root_hide(). */
#include <errno.h>
#include <stdlib.h>

#include "formats/tar.h"
#include "machine/facts.h"

struct item {
	struct root_seen seen;
	struct stat st; /* of a node */
	size_t order;
};

struct recording {
	struct arena *a;
	VEC(struct item) items; /* as they are looked at, then by path */
};

static void observe(void *user, const struct root_seen *seen)
{
	struct recording *rec = user;
	struct item *i = VEC_PUSH(rec->a, &rec->items);
	i->seen = *seen;
	i->order = rec->items.n;
	i->seen.path = str_dup(rec->a, seen->path);
	i->seen.text = str_dup(rec->a, seen->text);
	if (seen->st)
		i->st = *seen->st;
}

/* Of two for one path the later one: it is the same, or knows more. */
static int by_path(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int order = str_cmp(a->seen.path, b->seen.path);
	return order ? order : (a->order > b->order) - (a->order < b->order);
}

static void sort(struct recording *rec)
{
	size_t n = 0;
	if (rec->items.n)
		qsort(rec->items.v, rec->items.n, sizeof(*rec->items.v), by_path);
	for (size_t i = 0; i < rec->items.n; i++) {
		struct item *last = n ? &rec->items.v[n - 1] : NULL;
		bool same = last && str_eq(last->seen.path, rec->items.v[i].seen.path);
		rec->items.v[same ? n - 1 : n++] = rec->items.v[i];
	}
	rec->items.n = n;
}

/* "dev/kfd 0660 0 109" */
static void add_node(struct buf *nodes, const struct item *i)
{
	buf_fmt(nodes, "%.*s %04o %u %u\n", STR(i->seen.path), (unsigned)i->st.st_mode & 07777,
		(unsigned)i->st.st_uid, (unsigned)i->st.st_gid);
}

static struct err *copy(struct str dir, const struct item *i, struct buf *nodes)
{
	ARENA(tmp);
	struct str to = path_join(&tmp, dir, i->seen.path);
	if (i->seen.what == SEEN_DIR)
		return fs_mkdirs(to);
	TRY(fs_mkdirs(path_dir(to)));
	if (i->seen.what == SEEN_FILE)
		return fs_write(to, i->seen.text, 0644);
	if (i->seen.what == SEEN_LINK)
		return fs_symlink(i->seen.text, to);
	TRY(fs_stage(to, S(""), (i->st.st_mode & 07777) | FS_EXACT));
	if (fs_try_chown(to, i->st.st_uid, i->st.st_gid))
		return NULL;
	if (errno != EPERM && errno != EINVAL)
		return err_errno("cannot set the owner of '%.*s'", STR(to));
	add_node(nodes, i);
	return NULL;
}

static struct err *write_folder(const struct recording *rec, struct str dir)
{
	BUF(nodes, rec->a);
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	TRY(fs_mkdirs(dir));
	TRY(fs_guard(dir, &guard)); /* links that we copied lead out of it */
	VEC_EACH (struct item, i, &rec->items)
		TRY(copy(dir, i, &nodes));
	return nodes.n ? fs_write(path_join(rec->a, dir, S(".nodes")), buf_str(&nodes), 0644)
		       : NULL;
}

/* Everything below a folder `top`. Owners are only in .nodes: who unpacks it may not set them. */
static struct err *write_tar(const struct recording *rec, struct str path, struct str top)
{
	BUF(out, rec->a);
	BUF(nodes, rec->a);
	static const enum tar_type types[] = {[SEEN_FILE] = TAR_FILE,
		[SEEN_DIR] = TAR_DIR,
		[SEEN_LINK] = TAR_LINK,
		[SEEN_NODE] = TAR_FILE};
	VEC_EACH (struct item, i, &rec->items)
		if (i->seen.what == SEEN_NODE)
			add_node(&nodes, i);
	struct tar_member all = {.type = TAR_FILE,
		.path = path_join(rec->a, top, S(".nodes")),
		.text = buf_str(&nodes),
		.mode = 0644};
	if (nodes.n)
		tar_add(&out, &all);
	VEC_EACH (struct item, i, &rec->items) {
		struct tar_member m = {.type = types[i->seen.what],
			.path = path_join(rec->a, top, i->seen.path),
			.text = i->seen.text,
			.mode = i->seen.what == SEEN_FILE ? 0644 : 0755};
		if (i->seen.what == SEEN_NODE)
			m.mode = i->st.st_mode & 07777;
		tar_add(&out, &m);
	}
	tar_end(&out);
	struct str text = buf_str(&out);
	return fs_write(path, str_ends(path, S("z")) ? gzip_text(rec->a, text) : text, 0644);
}

/* "facts" of "x/facts.tar.gz", "" of what is no name of an archive. */
static struct str archive_name(struct str path)
{
	static const struct str ends[] = {S_INIT(".tar"), S_INIT(".tar.gz"), S_INIT(".tgz")};
	struct str name = path_base(path);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (str_ends(name, ends[i]))
			return str_sub(name, 0, name.n - ends[i].n);
	return S("");
}

/* Nothing old is mixed into a recording, or lost for it. */
static struct err *check_place(struct arena *a, struct str to, bool archive)
{
	struct strs names = {0};
	if (archive && fs_present(to))
		return err_hint(err_new(E_USAGE, "'%.*s' is there already", STR(to)),
			"name a new file, or remove it");
	if (!archive && fs_exists(to))
		TRY(fs_list(a, to, &names));
	if (names.n)
		return err_hint(err_new(E_USAGE, "the folder '%.*s' is not empty", STR(to)),
			"name a new folder, so that nothing old is mixed into the recording");
	return NULL;
}

struct err *machine_record(struct str root, struct str to, unsigned *ret_files)
{
	ARENA(tmp);
	struct machine m;
	struct recording rec = {.a = &tmp};
	struct root r = {.a = &tmp, .dir = root, .observer = observe, .observer_data = &rec};
	struct str top = archive_name(to), path = path_abs(&tmp, to);
	TRY(check_place(&tmp, path, top.n > 0));
	TRY(machine_gather(&r, true, &m));
	sort(&rec);
	*ret_files = (unsigned)rec.items.n;
	if (!fs_writes_forbidden())
		TRY_CTX(top.n ? write_tar(&rec, path, top) : write_folder(&rec, path),
			"cannot record the machine into '%.*s'", STR(to));
	return NULL;
}
