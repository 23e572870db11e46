/* Reading below a root, and recording what is read; see root.h. */
#include "machine/facts.h"

#include <unistd.h>

enum {
	READ_MAX = 1 << 20,
	FILE_MAX = 16 << 20, /* size of a machine file */
	LINKS_MAX = 40,
	LIST_MAX = 32768
};

/* ---- what is at a path: on a disk, or in a machine file ---- */

static enum root_status status_of(struct err *e)
{
	enum errcode code = e ? e->code : E_NONE;
	err_free(e);
	return code == E_NONE    ? ROOT_OK
	       : code == E_NOENT ? ROOT_ABSENT
	       : code == E_PERM  ? ROOT_DENIED
				 : ROOT_BAD;
}

static const struct root_entry *entry_at(const struct root *r, struct str path)
{
	size_t i = root_entries_find(&r->files, path);
	bool is = i < r->files.n && str_eq(r->files.v[i].path, path) &&
		  r->files.v[i].kind != ENTRY_VARIABLE;
	return is ? &r->files.v[i] : NULL;
}

/* Reads the target of a link; false if path, relative to the root, is not one. */
static bool read_link(struct root *r, struct arena *a, struct str path, struct str *ret)
{
	if (r->in_file) {
		const struct root_entry *e = entry_at(r, path);
		if (!e || e->kind != ENTRY_LINK)
			return false;
		*ret = e->text;
		return true;
	}
	struct err *e = fs_readlink(a, path_join(a, r->dir.n ? r->dir : S("/"), path), ret);
	err_free(e);
	return !e;
}

/* Resolves all links in the path `rest`, relative to the folder `done`, which has none; the result stays below the
 * root. NULL for a loop of links. */
static struct str follow(struct root *r, struct arena *a, struct str done, struct str rest)
{
	struct str name, target;
	unsigned links = 0;
	while (str_next(&rest, '/', &name)) {
		if (!name.n || str_eq(name, S(".")))
			continue;
		if (str_eq(name, S(".."))) {
			size_t slash = str_rchr(done, '/');
			done = slash < done.n ? str_sub(done, 0, slash) : S("");
			continue;
		}
		struct str next = path_join(a, done, name);
		/* not a link, or missing: opening it will show which */
		if (!read_link(r, a, next, &target)) {
			done = next;
			continue;
		}
		if (links++ == LINKS_MAX)
			return (struct str){0};
		if (str_starts(target, S("/")))
			done = S("");
		rest = str_fmt(a, "%.*s/%.*s", STR(target), STR(rest));
	}
	return done;
}

/* The path to open (in a machine file: to look up), or NULL. Readers take the files of one folder in a row, so the
 * resolved path of the last folder is cached. */
static struct str place(struct arena *tmp, struct root *r, struct str path)
{
	if (!r->dir.n)
		return str_fmt(tmp, "/%.*s", STR(path));
	size_t slash = str_rchr(path, '/');
	struct str dir = slash < path.n ? str_sub(path, 0, slash) : S("");
	if (!r->last_dir.p || !str_eq(dir, r->last_dir)) {
		r->last_real = follow(r, r->a, S(""), dir);
		r->last_dir = str_dup(r->a, dir);
	}
	struct str rel = r->last_real;
	if (rel.p)
		rel = follow(r, tmp, rel, path_base(path));
	return rel.p && !r->in_file ? path_join(tmp, r->dir, rel) : rel;
}

/* at: as place() returns it. */
static enum root_status stat_place(struct root *r, struct str at, struct stat *ret)
{
	static const mode_t types[] = {[ENTRY_DIR] = S_IFDIR,
		[ENTRY_FILE] = S_IFREG,
		[ENTRY_DENIED] = S_IFREG,
		[ENTRY_NODE] = S_IFCHR,
		[ENTRY_LINK] = S_IFLNK};
	ARENA(tmp);
	if (!at.p)
		return ROOT_BAD;
	if (!r->in_file)
		return status_of(fs_stat(at, ret));
	*ret = (struct stat){.st_mode = S_IFDIR};
	const struct root_entry *e = entry_at(r, at);
	if (e) {
		ret->st_mode = types[e->kind] | e->mode;
		ret->st_uid = e->uid;
		ret->st_gid = e->gid;
		ret->st_size = (off_t)e->text.n;
		return ROOT_OK;
	}
	struct str inside = str_fmt(&tmp, "%.*s/", STR(at));
	size_t i = root_entries_find(&r->files, inside);
	bool folder = !at.n || (i < r->files.n && str_starts(r->files.v[i].path, inside));
	return folder ? ROOT_OK : ROOT_ABSENT;
}

/* ---- recording ---- */

static void record(struct root *r, struct root_entry e)
{
	/* the kernel's own words ("max") are not replaced, even if a user has that name */
	static const char *const without_names[] = {"sys/", "proc/", "dev/", "etc/", NULL};
	bool words = !str_starts_one_of(e.path, without_names);
	if (!r->record)
		return;
	e.text = root_hide(r, r->a, e.text, words);
	if (e.kind != ENTRY_VARIABLE) {
		struct str path = str_fmt(r->a, "/%.*s", STR(e.path));
		path = root_hide(r, r->a, path, words);
		e.path = str_sub(path, 1, path.n);
	}
	*VEC_PUSH(r->a, r->record) = e;
}

void root_note(struct root *r, struct str path, struct str text)
{
	record(r, (struct root_entry){.kind = ENTRY_FILE, .path = path, .text = text});
}

size_t root_mark(const struct root *r)
{
	return r->record ? r->record->n : 0;
}

void root_forget(struct root *r, size_t mark)
{
	if (r->record)
		r->record->n = mark;
}

/* ---- opening ---- */

struct err *root_open(struct root *r)
{
	struct str text, status, users, home;
	struct machine id = {.uid = geteuid()};
	struct root_entries *recording = r->record;
	BUF(variables, r->a);
	r->record = NULL; /* nothing is recorded before the names to hide are known */
	if (r->dir.n && !fs_is_dir(r->dir)) {
		if (!fs_is_file(r->dir))
			return err_new(E_NOENT,
				"the sysroot '%.*s' is not a folder or a machine file",
				STR(r->dir));
		TRY(fs_read(r->a, r->dir, FILE_MAX, &text));
		TRY(machine_file_parse(r->a, text, r->dir, &r->files));
		r->in_file = true;
		VEC_EACH (const struct root_entry, e, &r->files)
			if (e->kind == ENTRY_VARIABLE)
				buf_fmt(&variables, "%.*s=%.*s%c", STR(e->path), STR(e->text), 0);
		r->environ = buf_str(&variables);
	}
	if (r->dir.n) {
		root_read(r, S(".nodes"), &r->nodes);
		if (!r->environ.n)
			root_read(r, S("proc/self/environ"), &r->environ);
		root_read(r, S("proc/self/status"), &status);
		if (!parse_identity(r->a, status, &id))
			id.uid = UINT32_MAX;
	}
	root_read(r, S("etc/passwd"), &users);
	r->uid = id.uid;
	r->user = parse_passwd(users, id.uid, PASSWD_NAME);
	if (!root_variable(r, S("HOME"), &home) || !str_starts(home, S("/")))
		home = parse_passwd(users, id.uid, PASSWD_HOME);
	home = path_clean(r->a, home);
	r->home = str_starts(home, S("/")) ? str_sub(home, 1, home.n) : S("");
	r->real_home = root_real(r, r->home);
	if (!r->user.n)
		r->user = path_base(r->home);
	r->record = recording;
	return NULL;
}

bool root_variable(struct root *r, struct str name, struct str *ret)
{
	ARENA(tmp);
	const char *value = r->dir.n ? NULL : getenv(str_z(&tmp, name));
	*ret = r->dir.n ? parse_environ(r->environ, name) : str_from(value);
	bool is_set = r->dir.n ? ret->p != NULL : value != NULL;
	struct str kept = *ret;
	if (is_set && r->record && redact_variable(r->a, name, &kept))
		record(r, (struct root_entry){.kind = ENTRY_VARIABLE,
				  .path = str_dup(r->a, name),
				  .text = clean_long(r->a, kept)});
	return is_set;
}

/* ---- files and folders ---- */

enum root_status root_head(struct root *r, struct str path, size_t n, struct str *ret)
{
	ARENA(tmp);
	BUF(kept, &tmp);
	struct stat st;
	struct str at = place(&tmp, r, path);
	enum root_status s = stat_place(r, at, &st);
	const struct root_entry *e = r->in_file && s == ROOT_OK ? entry_at(r, at) : NULL;
	*ret = S("");
	if (s != ROOT_OK || !S_ISREG(st.st_mode))
		return s == ROOT_OK ? ROOT_BAD : s;
	if (e) {
		*ret = n ? str_sub(e->text, 0, n) : e->text;
		s = e->kind == ENTRY_DENIED ? ROOT_DENIED : ret->n > READ_MAX ? ROOT_BAD : ROOT_OK;
	} else {
		if (st.st_size > 0 && (uint64_t)st.st_size < n)
			n = (size_t)st.st_size; /* files in /proc report size 0 */
		s = status_of(
			n ? fs_read_head(r->a, at, n, ret) : fs_read(r->a, at, READ_MAX, ret));
		if (s == ROOT_OK && r->dir.n && str_eq(*ret, ROOT_DENIED_TEXT))
			s = ROOT_DENIED;
	}
	if (s != ROOT_OK)
		*ret = S("");
	if (!r->record || (s != ROOT_OK && s != ROOT_DENIED) || !redact_text(r, path, *ret, &kept))
		return s;
	if (s == ROOT_DENIED)
		record(r, (struct root_entry){.kind = ENTRY_DENIED, .path = path});
	else
		root_note(r, path, buf_str(&kept));
	return s;
}

enum root_status root_read(struct root *r, struct str path, struct str *ret)
{
	return root_head(r, path, 0, ret);
}

struct str root_line(struct root *r, struct str path)
{
	struct str text, line;
	root_read(r, path, &text);
	text = str_trim(text);
	return str_next(&text, '\n', &line) ? clean_text(r->a, line) : S("");
}

uint64_t root_number(struct root *r, struct str path)
{
	uint64_t n;
	struct str line = root_line(r, path);
	bool hex = str_starts(line, S("0x"));
	return str_u64(str_sub(line, hex ? 2 : 0, line.n), hex ? 16 : 10, &n) ? n : 0;
}

enum root_status root_list(struct root *r, struct str path, struct strs *ret)
{
	ARENA(tmp);
	struct stat st;
	struct str at = place(&tmp, r, path);
	enum root_status s = stat_place(r, at, &st);
	*ret = (struct strs){0};
	if (s != ROOT_OK || !S_ISDIR(st.st_mode))
		return s == ROOT_OK ? ROOT_BAD : s;
	if (!r->in_file) {
		s = status_of(fs_list(r->a, at, ret));
		ret->n = s != ROOT_OK ? 0 : ret->n < LIST_MAX ? ret->n : LIST_MAX;
		return s;
	}
	/* the next component of each path below `at` */
	struct str inside = at.n ? str_fmt(&tmp, "%.*s/", STR(at)) : S("");
	for (size_t i = root_entries_find(&r->files, inside); i < r->files.n; i++) {
		const struct root_entry *e = &r->files.v[i];
		struct str name = str_sub(e->path, inside.n, e->path.n);
		if (!str_starts(e->path, inside))
			break;
		name = str_sub(name, 0, str_chr(name, '/'));
		if (e->kind != ENTRY_VARIABLE && (!ret->n || !str_eq(ret->v[ret->n - 1], name)))
			strs_add(r->a, ret, name);
	}
	strs_sort(ret);
	size_t n = 0; /* duplicates may have been apart: "a-b" sorts between "a" and "a/b" */
	for (size_t i = 0; i < ret->n; i++)
		if (!n || !str_eq(ret->v[n - 1], ret->v[i]))
			ret->v[n++] = ret->v[i];
	ret->n = n < LIST_MAX ? n : LIST_MAX;
	return ROOT_OK;
}

bool root_exists(struct root *r, struct str path)
{
	ARENA(tmp);
	struct stat st;
	if (stat_place(r, place(&tmp, r, path), &st) != ROOT_OK || !S_ISDIR(st.st_mode))
		return false;
	record(r, (struct root_entry){.kind = ENTRY_DIR, .path = path});
	return true;
}

bool root_has_file(struct root *r, struct str path)
{
	ARENA(tmp);
	struct stat st;
	if (stat_place(r, place(&tmp, r, path), &st) != ROOT_OK || S_ISDIR(st.st_mode))
		return false;
	root_note(r, path, S(""));
	return true;
}

enum root_status root_bytes(struct root *r, struct str path, int *ret_fd, struct bytes *ret)
{
	ARENA(tmp);
	struct stat st;
	struct str at = place(&tmp, r, path);
	enum root_status s = stat_place(r, at, &st);
	if (s == ROOT_OK && !S_ISREG(st.st_mode))
		s = ROOT_BAD;
	if (s == ROOT_OK && r->in_file) {
		*ret = bytes_mem(entry_at(r, at)->text);
		return s;
	}
	if (s == ROOT_OK)
		s = status_of(fs_open(at, ret_fd));
	if (s == ROOT_OK)
		*ret = bytes_fd(*ret_fd, (uint64_t)st.st_size);
	return s;
}

struct str root_real(struct root *r, struct str path)
{
	ARENA(tmp);
	struct stat st;
	struct str rel = follow(r, r->a, S(""), path);
	struct str at =
		!rel.p || r->in_file ? rel : path_join(&tmp, r->dir.n ? r->dir : S("/"), rel);
	return stat_place(r, at, &st) == ROOT_OK ? rel : S("");
}

struct str root_follow(struct root *r, struct str path)
{
	struct str real = root_real(r, path);
	if (!real.n)
		return real;
	bool link = !str_eq(real, path);
	if (link)
		record(r, (struct root_entry){.kind = ENTRY_LINK,
				  .path = path,
				  .text = str_fmt(r->a, "/%.*s", STR(real))});
	if (!root_has_file(r, real) && link)
		root_exists(r, real);
	return real;
}

struct str root_link_name(struct root *r, struct str path)
{
	ARENA(tmp);
	struct str dir = follow(r, &tmp, S(""), path_dir(path)), target;
	if (!dir.p || !read_link(r, &tmp, path_join(&tmp, dir, path_base(path)), &target))
		return S("");
	struct str name = clean_text(r->a, path_base(target));
	record(r, (struct root_entry){.kind = ENTRY_LINK, .path = path, .text = name});
	return name;
}

enum root_status root_node(struct root *r, struct str path, struct stat *ret)
{
	ARENA(tmp);
	enum root_status s = stat_place(r, place(&tmp, r, path), ret);
	struct str nodes = r->nodes, line, name, rest;
	/* A live machine has device nodes; a folder has ordinary files in their place. */
	if (s == ROOT_OK && !S_ISCHR(ret->st_mode) && !(r->dir.n && S_ISREG(ret->st_mode)))
		s = ROOT_BAD;
	if (s != ROOT_OK)
		return s;
	/* A folder's .nodes has lines such as "dev/kfd 0660 0 109": without root rights, its files could not be given
	 * that owner. */
	while (str_next(&nodes, '\n', &line)) {
		struct root_entry e;
		str_cut(line, ' ', &name, &rest);
		if (!str_eq(name, path) || !root_entry_node(rest, &e))
			continue;
		ret->st_mode = (ret->st_mode & ~07777u) | e.mode;
		ret->st_uid = e.uid;
		ret->st_gid = e.gid;
	}
	record(r, (struct root_entry){.kind = ENTRY_NODE,
			  .path = path,
			  .mode = ret->st_mode & 07777,
			  .uid = ret->st_uid,
			  .gid = ret->st_gid});
	return ROOT_OK;
}

void note_unreadable(struct arena *a, struct machine *m, struct str path, enum root_status why)
{
	static const char *const reasons[] = {
		[ROOT_OK] = "is not understood",
		[ROOT_ABSENT] = "is not there",
		[ROOT_DENIED] = "may not be read",
		[ROOT_BAD] = "cannot be read or is not understood",
	};
	struct str full = str_fmt(a, "/%.*s", STR(path));
	finding_note(a, &m->findings, "fact-unreadable", full,
		"'%.*s' %s: facts from it are missing", STR(full), reasons[why]);
}
