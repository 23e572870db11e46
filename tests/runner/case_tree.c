/* The folder of a case: made from its sections, compared afterwards. */
#include <string.h>

#include "base/fs.h"
#include "base/hash.h"
#include "case.h"

struct err *place_make(struct arena *a, struct place *ret)
{
	TRY(fs_tempdir(a, S(""), &ret->root));
	ret->tree = path_join(a, ret->root, S("dir"));
	ret->home = path_join(a, ret->root, S("home"));
	ret->tmp = path_join(a, ret->root, S("tmp"));
	TRY(fs_mkdirs(ret->tree));
	TRY(fs_mkdirs(ret->home));
	return fs_mkdirs(ret->tmp);
}

struct err *place_remove(const struct place *p)
{
	return fs_remove_tree(p->root);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, c);
	return c && at ? (int)(at - digits) : -1;
}

/* Pairs of hex digits; everything else separates, '#' starts a comment, "00*16" repeats a byte. */
static struct str from_hex(struct arena *a, struct str text)
{
	BUF(b, a);
	struct str line;
	while (text.n && str_next(&text, '\n', &line)) {
		struct strs words = case_words(a, str_sub(line, 0, str_chr(line, '#')));
		VEC_EACH (struct str, w, &words) {
			struct str digits, times;
			uint64_t n = 1;
			if (str_cut(*w, '*', &digits, &times) && !str_u64(times, 10, &n))
				n = 0;
			for (uint64_t k = 0; k < n; k++)
				for (size_t i = 0; i + 1 < digits.n; i += 2)
					buf_char(&b, (char)(hex_digit(digits.p[i]) << 4 |
							     hex_digit(digits.p[i + 1])));
		}
	}
	return buf_str(&b);
}

static unsigned mode_of(struct str octal)
{
	unsigned mode = 0;
	for (size_t i = 0; i < octal.n; i++)
		mode = mode * 8 + (unsigned)(octal.p[i] - '0');
	return octal.n ? mode : 0644;
}

static struct err *put_file(struct arena *a, struct str path, struct str content, struct str mode)
{
	TRY(fs_mkdirs(path_dir(path)));
	(void)a;
	return fs_write(path, content, mode_of(mode) | FS_EXACT | FS_LOOSE);
}

static struct err *copy_file(struct str from, struct str to)
{
	ARENA(tmp);
	struct str text;
	TRY(fs_read(&tmp, from, (size_t)1 << 30, &text));
	return fs_write(to, text, 0644);
}

struct copying {
	struct arena *a;
	struct str from, to;
};

static struct err *copy_entry(void *user, struct fs_entry *e)
{
	const struct copying *c = user;
	struct str to = path_join(c->a, c->to, e->path);
	if (S_ISDIR(e->st.st_mode))
		return fs_mkdirs(to);
	return copy_file(path_join(c->a, c->from, e->path), to);
}

/* A file or a folder of the data. */
static struct err *copy(struct arena *a, struct str from, struct str to)
{
	struct copying c = {.a = a, .from = from, .to = to};
	if (!fs_is_dir(from))
		return copy_file(from, to);
	TRY(fs_mkdirs(to));
	return fs_walk(from, copy_entry, &c);
}

struct err *place_setup(
	struct arena *a, const struct place *p, const struct section *s, struct str data)
{
	struct str first, second;
	str_cut(s->arg, ' ', &first, &second);
	struct str path = path_join(a, p->tree, place_show(a, p, first));
	if (str_eq(s->name, S("file")))
		return put_file(a, path, place_show(a, p, s->text), second);
	if (str_eq(s->name, S("hex")))
		return put_file(a, path, from_hex(a, s->text), second);
	if (str_eq(s->name, S("dir")))
		return fs_mkdirs(path);
	if (str_eq(s->name, S("remove")))
		return fs_remove_tree(path);
	if (str_eq(s->name, S("link")))
		return fs_symlink(str_dup(a, second), path);
	TRY(fs_mkdirs(path_dir(path)));
	return copy(a, path_join(a, data, second), path); /* @copy TO FROM */
}

static struct str replace_all(struct arena *a, struct str text, struct str from, struct str to)
{
	BUF(b, a);
	for (;;) {
		size_t at = str_find(text, from);
		buf_add(&b, str_sub(text, 0, at));
		if (at == text.n)
			return buf_str(&b);
		buf_add(&b, to);
		text = str_sub(text, at + from.n, text.n);
	}
}

struct str place_hide(struct arena *a, const struct place *p, struct str text)
{
	text = replace_all(a, text, p->tree, S("<DIR>"));
	text = replace_all(a, text, p->home, S("<HOME>"));
	return replace_all(a, text, p->tmp, S("<TMP>"));
}

struct str place_show(struct arena *a, const struct place *p, struct str text)
{
	return replace_all(a, replace_all(a, text, S("<DIR>"), p->tree), S("<HOME>"), p->home);
}

struct listing {
	struct arena *a;
	struct str dir;
	struct buf out;
	bool content;
};

static struct err *list_entry(void *user, struct fs_entry *e)
{
	struct listing *l = user;
	struct str path = path_join(l->a, l->dir, e->path), what = S("");
	if (!l->content) {
		if (!S_ISDIR(e->st.st_mode))
			buf_fmt(&l->out, "%.*s\n", STR(e->path));
		return NULL;
	}
	if (S_ISREG(e->st.st_mode)) {
		TRY(sha256_file(l->a, path, &what));
	} else if (S_ISLNK(e->st.st_mode)) {
		TRY(fs_readlink(l->a, path, &what));
	}
	buf_fmt(&l->out, "%.*s %o %.*s\n", STR(e->path), (unsigned)e->st.st_mode, STR(what));
	return NULL;
}

struct err *tree_state(struct arena *a, struct str dir, bool content, struct str *ret)
{
	struct listing l = {.a = a, .dir = dir, .out = {.a = a}, .content = content};
	TRY(fs_walk(dir, list_entry, &l));
	*ret = buf_str(&l.out);
	return NULL;
}
