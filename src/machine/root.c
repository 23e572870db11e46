/* Reading below a root; see root.h. */
#include "machine/root.h"

enum { READ_MAX = 1 << 20, LINKS_MAX = 40, LIST_MAX = 4096, TEXT_MAX = 200 };

static struct str parent(struct str rel)
{
	size_t at = str_rchr(rel, '/');
	return at < rel.n ? str_sub(rel, 0, at) : S("");
}

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
			done = parent(done);
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

/* Where the folder of a path leads. Files of one folder are read in a row: the last one is kept. */
static struct str place_of_dir(struct root *r, struct str path)
{
	size_t slash = str_rchr(path, '/');
	struct str dir = slash < path.n ? str_sub(path, 0, slash) : S("");
	if (!r->last_dir.p || !str_eq(dir, r->last_dir)) {
		r->last_real = follow(r->a, r->dir, S(""), dir);
		r->last_dir = str_dup(r->a, dir);
	}
	return r->last_real;
}

/* The path to open, or NULL. */
static struct str place(struct arena *tmp, struct root *r, struct str path)
{
	if (!r->dir.n)
		return str_fmt(tmp, "/%.*s", STR(path));
	struct str dir = place_of_dir(r, path);
	struct str rel = dir.p ? follow(tmp, r->dir, dir, path_base(path)) : dir;
	return rel.p ? path_join(tmp, r->dir, rel) : rel;
}

static enum root_status status_of(struct err *e)
{
	enum errcode code = e ? e->code : E_NONE;
	err_free(e);
	switch (code) {
	case E_NONE:
		return ROOT_OK;
	case E_NOENT:
		return ROOT_ABSENT;
	case E_PERM:
		return ROOT_DENIED;
	default:
		return ROOT_BAD;
	}
}

static enum root_status get(struct root *r, struct str path, size_t head, struct str *ret)
{
	ARENA(tmp);
	struct stat st;
	struct str full = place(&tmp, r, path);
	*ret = S("");
	if (!full.p)
		return ROOT_BAD;
	enum root_status s = status_of(fs_stat(full, &st));
	if (s != ROOT_OK)
		return s;
	if (!S_ISREG(st.st_mode))
		return ROOT_BAD;
	struct str text = S("");
	if (head)
		s = status_of(fs_read_head(r->a, full, head, &text));
	else
		s = status_of(fs_read(r->a, full, READ_MAX, &text));
	if (s == ROOT_OK)
		*ret = text;
	return s;
}

/* ---- telling the observer ---- */
static void tell(struct root *r, struct root_seen seen)
{
	if (r->observer)
		r->observer(r->user, &seen);
}

void root_tell_text(struct root *r, struct str path, struct str text)
{
	tell(r, (struct root_seen){.what = SEEN_FILE, .path = path, .text = text});
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

struct str clean_text(struct arena *a, struct str s)
{
	s = str_trim(str_sub(s, 0, TEXT_MAX));
	char *p = str_z(a, s);
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= ' ' && s.p[i] != 0x7f)
			p[n++] = s.p[i];
	p[n] = 0;
	return (struct str){.p = p, .n = n};
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

enum root_status root_list(struct root *r, struct str path, struct strs *ret)
{
	ARENA(tmp);
	struct str full = place(&tmp, r, path);
	*ret = (struct strs){0};
	if (!full.p)
		return ROOT_BAD;
	enum root_status s = status_of(fs_list(r->a, full, ret));
	if (s != ROOT_OK)
		*ret = (struct strs){0};
	if (ret->n > LIST_MAX)
		ret->n = LIST_MAX;
	return s;
}

bool root_exists(struct root *r, struct str path)
{
	ARENA(tmp);
	struct str full = place(&tmp, r, path);
	bool is = full.p && fs_is_dir(full);
	if (is)
		tell(r, (struct root_seen){.what = SEEN_DIR, .path = path});
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

struct str root_real(struct root *r, struct str path)
{
	struct str rel = follow(r->a, r->dir.n ? r->dir : S("/"), S(""), path);
	ARENA(tmp);
	if (!rel.p || !fs_exists(path_join(&tmp, r->dir.n ? r->dir : S("/"), rel)))
		return S("");
	return rel;
}

struct str root_link_name(struct root *r, struct str path)
{
	ARENA(tmp);
	struct str dir = place(&tmp, r, path_dir(path)), target;
	if (!dir.p)
		return S("");
	struct err *e = fs_readlink(&tmp, path_join(&tmp, dir, path_base(path)), &target);
	if (e) {
		err_free(e);
		return S("");
	}
	struct str name = clean_text(r->a, path_base(target));
	tell(r, (struct root_seen){.what = SEEN_LINK, .path = path, .text = name});
	return name;
}

/* The mode and owner that a .nodes text gives for path. */
static void owner_of(struct str nodes, struct str path, struct stat *st)
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

enum root_status root_node(struct root *r, struct str path, struct stat *ret)
{
	ARENA(tmp);
	struct str full = place(&tmp, r, path);
	if (!full.p)
		return ROOT_BAD;
	enum root_status s = status_of(fs_stat(full, ret));
	if (s != ROOT_OK)
		return s;
	/* On a live machine a node is a node; a sysroot has ordinary files in their place. */
	if (r->dir.n ? !S_ISREG(ret->st_mode) && !S_ISCHR(ret->st_mode) : !S_ISCHR(ret->st_mode))
		return ROOT_BAD;
	owner_of(r->nodes, path, ret);
	tell(r, (struct root_seen){.what = SEEN_NODE, .path = path, .st = ret});
	return ROOT_OK;
}
