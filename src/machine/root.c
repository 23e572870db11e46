/* Reading below a root; see root.h. */
#include "machine/root.h"

enum {
	READ_MAX = 1 << 20,
	LINKS_MAX = 40,
	LIST_MAX = 4096,
	LONG_LIST = 1 << 15,
	TEXT_MAX = 200,
	LONG_TEXT = 8192
};

/* Where the path rest, seen from the folder done (without links), leads; both below root. NULL for
 * a loop of links. */
static struct str follow(struct arena *a, struct str root, struct str done, struct str rest)
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
		struct err *e = fs_readlink(a, path_join(a, root, next), &target);
		if (e) { /* no link, or nothing at all: opening it will tell */
			err_free(e);
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

/* The path to open, or NULL. Files of one folder are read in a row: where the last one leads is
 * kept. */
static struct str place(struct arena *tmp, struct root *r, struct str path)
{
	if (!r->dir.n)
		return str_fmt(tmp, "/%.*s", STR(path));
	size_t slash = str_rchr(path, '/');
	struct str dir = slash < path.n ? str_sub(path, 0, slash) : S("");
	if (!r->last_dir.p || !str_eq(dir, r->last_dir)) {
		r->last_real = follow(r->a, r->dir, S(""), dir);
		r->last_dir = str_dup(r->a, dir);
	}
	struct str rel = r->last_real;
	if (rel.p)
		rel = follow(tmp, r->dir, rel, path_base(path));
	return rel.p ? path_join(tmp, r->dir, rel) : rel;
}

static enum root_status status_of(struct err *e)
{
	enum errcode code = e ? e->code : E_NONE;
	err_free(e);
	return code == E_NONE    ? ROOT_OK
	       : code == E_NOENT ? ROOT_ABSENT
	       : code == E_PERM  ? ROOT_DENIED
				 : ROOT_BAD;
}

static enum root_status get(struct root *r, struct str path, size_t head, struct str *ret)
{
	ARENA(tmp);
	struct stat st;
	struct str full = place(&tmp, r, path), text = S("");
	*ret = S("");
	if (!full.p)
		return ROOT_BAD;
	enum root_status s = status_of(fs_stat(full, &st));
	if (s == ROOT_OK && !S_ISREG(st.st_mode))
		s = ROOT_BAD;
	if (s == ROOT_OK && st.st_size > 0 && (uint64_t)st.st_size < head)
		head = (size_t)st.st_size; /* those of /proc say 0 */
	if (s == ROOT_OK)
		s = status_of(head ? fs_read_head(r->a, full, head, &text)
				   : fs_read(r->a, full, READ_MAX, &text));
	if (s == ROOT_OK)
		*ret = text;
	return s;
}

/* ---- telling the observer ---- */
/* The kernel's own words are not the user's name, even if that is "max". */
static bool has_names(struct str path)
{
	static const struct str places[] = {
		S_INIT("sys/"), S_INIT("proc/"), S_INIT("dev/"), S_INIT("etc/")};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (str_starts(path, places[i]))
			return str_eq(path, S("proc/self/environ"));
	return true;
}

static void tell(struct root *r, struct root_seen seen)
{
	if (!r->observer)
		return;
	ARENA(tmp);
	bool words = has_names(seen.path);
	struct str path = root_hide(r, &tmp, str_fmt(&tmp, "/%.*s", STR(seen.path)), words);
	seen.path = str_sub(path, 1, path.n);
	seen.text = root_hide(r, &tmp, seen.text, words);
	r->observer(r->observer_data, &seen);
}

void root_tell_text(struct root *r, struct str path, struct str text)
{
	tell(r, (struct root_seen){.what = SEEN_FILE, .path = path, .text = text});
}

void root_tell_dir(struct root *r, struct str path)
{
	tell(r, (struct root_seen){.what = SEEN_DIR, .path = path});
}

void root_tell_link(struct root *r, struct str path, struct str target)
{
	ARENA(tmp);
	target = str_fmt(&tmp, "/%.*s", STR(target));
	tell(r, (struct root_seen){.what = SEEN_LINK, .path = path, .text = target});
}

enum root_status root_head(
	struct root *r, struct str path, size_t n, keep_fn *keep, struct str *ret)
{
	ARENA(tmp);
	BUF(kept, &tmp);
	enum root_status s = get(r, path, n, ret);
	if (s != ROOT_OK || !r->observer)
		return s;
	if (keep)
		keep(&kept, *ret);
	root_tell_text(r, path, keep ? buf_str(&kept) : *ret);
	return s;
}

enum root_status root_read(struct root *r, struct str path, keep_fn *keep, struct str *ret)
{
	return root_head(r, path, 0, keep, ret);
}

enum root_status root_peek(struct root *r, struct str path, struct str *ret)
{
	return get(r, path, 0, ret);
}

static struct str clean(struct arena *a, struct str s)
{
	char *p = str_z(a, s);
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= ' ' && s.p[i] != 0x7f)
			p[n++] = s.p[i];
	p[n] = 0;
	return (struct str){.p = p, .n = n};
}

struct str clean_text(struct arena *a, struct str s)
{
	return clean(a, str_trim(str_sub(s, 0, TEXT_MAX)));
}

struct str clean_long(struct arena *a, struct str s)
{
	return clean(a, str_sub(s, 0, LONG_TEXT));
}

struct str root_line(struct root *r, struct str path)
{
	struct str text, line;
	root_read(r, path, NULL, &text);
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

static enum root_status list(struct root *r, struct str path, size_t most, struct strs *ret)
{
	ARENA(tmp);
	struct str full = place(&tmp, r, path);
	*ret = (struct strs){0};
	if (!full.p)
		return ROOT_BAD;
	enum root_status s = status_of(fs_list(r->a, full, ret));
	if (s != ROOT_OK)
		*ret = (struct strs){0};
	if (ret->n > most)
		ret->n = most;
	return s;
}

enum root_status root_list(struct root *r, struct str path, struct strs *ret)
{
	return list(r, path, LIST_MAX, ret);
}

enum root_status root_list_long(struct root *r, struct str path, struct strs *ret)
{
	return list(r, path, LONG_LIST, ret);
}

bool root_exists(struct root *r, struct str path)
{
	ARENA(tmp);
	struct str full = place(&tmp, r, path);
	bool is = full.p && fs_is_dir(full);
	if (is)
		root_tell_dir(r, path);
	return is;
}

bool root_has_file(struct root *r, struct str path)
{
	ARENA(tmp);
	struct stat st;
	struct str full = place(&tmp, r, path);
	if (!full.p || status_of(fs_stat(full, &st)) != ROOT_OK || S_ISDIR(st.st_mode))
		return false;
	root_tell_text(r, path, S(""));
	return true;
}

enum root_status root_file(struct root *r, struct str path, int *ret_fd, uint64_t *ret_size)
{
	ARENA(tmp);
	struct stat st;
	struct str full = place(&tmp, r, path);
	enum root_status s = full.p ? status_of(fs_stat(full, &st)) : ROOT_BAD;
	if (s == ROOT_OK && !S_ISREG(st.st_mode))
		s = ROOT_BAD;
	if (s == ROOT_OK)
		s = status_of(fs_open(full, ret_fd));
	*ret_size = s == ROOT_OK ? (uint64_t)st.st_size : 0;
	return s;
}

struct str root_real(struct root *r, struct str path)
{
	ARENA(tmp);
	struct str root = r->dir.n ? r->dir : S("/"), rel = follow(r->a, root, S(""), path);
	return rel.p && fs_exists(path_join(&tmp, root, rel)) ? rel : S("");
}

struct str root_link_name(struct root *r, struct str path)
{
	ARENA(tmp);
	struct str dir = place(&tmp, r, path_dir(path)), target;
	if (!dir.p)
		return S("");
	CLEANUP(err_freep)
	struct err *e = fs_readlink(&tmp, path_join(&tmp, dir, path_base(path)), &target);
	if (e)
		return S("");
	struct str name = clean_text(r->a, path_base(target));
	tell(r, (struct root_seen){.what = SEEN_LINK, .path = path, .text = name});
	return name;
}

enum root_status root_node(struct root *r, struct str path, struct stat *ret)
{
	ARENA(tmp);
	struct str full = place(&tmp, r, path), rest = r->nodes, line, name, mode, uid, gid;
	if (!full.p)
		return ROOT_BAD;
	enum root_status s = status_of(fs_stat(full, ret));
	if (s != ROOT_OK)
		return s;
	/* On a live machine a node is a node; a sysroot has ordinary files in their place. */
	if (!S_ISCHR(ret->st_mode) && !(r->dir.n && S_ISREG(ret->st_mode)))
		return ROOT_BAD;
	while (str_next(&rest, '\n', &line)) {
		uint64_t m, u, g;
		if (!str_cut(line, ' ', &name, &mode) || !str_eq(name, path))
			continue;
		str_cut(mode, ' ', &mode, &uid);
		str_cut(uid, ' ', &uid, &gid);
		if (!str_u64(mode, 8, &m) || !str_u64(uid, 10, &u) || !str_u64(gid, 10, &g) ||
			u > UINT32_MAX || g > UINT32_MAX)
			continue;
		ret->st_mode = (mode_t)((ret->st_mode & ~07777u) | (m & 07777));
		ret->st_uid = (uid_t)u;
		ret->st_gid = (gid_t)g;
	}
	tell(r, (struct root_seen){.what = SEEN_NODE, .path = path, .st = ret});
	return ROOT_OK;
}
