/* What a recording must not say: the names of users, in paths and in any text. Everything that the observer of a root
 * is told goes through root_hide(), so that no reader of facts has to think of it. */
#include "machine/root.h"

/* How many bytes of s are the name of a file or folder. Windows has spaces in those of users. */
static size_t name_length(struct str s, bool windows)
{
	size_t n = 0;
	unsigned char least = windows ? ' ' : ' ' + 1;
	while (n < s.n && (unsigned char)s.p[n] >= least && !strchr("/:;,'\"<>|()=", s.p[n]))
		n++;
	return n;
}

static bool is_path(struct str s, struct str path)
{
	return path.n && str_starts(s, path) && !name_length(str_sub(s, path.n, s.n), false);
}

static bool in_word(char c)
{
	return ascii_alnum(c) || (unsigned char)c >= 0x80;
}

static bool is_word(struct str s, struct str word)
{
	return word.n && str_starts(s, word) && !(s.n > word.n && in_word(s.p[word.n]));
}

/* Names that are on many machines tell nothing, and their folders are other things as well. */
static bool is_private(struct str name)
{
	static const char *const common[] = {"root", "user", "other", "users", "home", "rocm",
		"ubuntu", "debian", "fedora", "admin", "app", "build", "docker", "runner", "python",
		"conda", "nobody", "opt", "usr", "lib", "bin", "etc", "var", "tmp", "local",
		"share", "games", "mnt", "venv", "src", "data", "torch", "triton", "dev", "lib64",
		NULL};
	return name.n && !str_is_one_of(name, common);
}

/* Something that begins with a slash: what is said in place of its first *ret_n bytes. */
static struct str disguise(const struct root *r, struct str s, size_t *ret_n)
{
	const struct str own[] = {r->home, r->real_home};
	static const struct str homes[] = {S_INIT("/home/"), S_INIT("/Users/"), S_INIT("/users/")};
	struct str after = str_sub(s, 1, s.n);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		*ret_n = 1 + own[i].n;
		if (!str_eq(own[i], S("root")) && is_path(after, own[i]))
			return S("/home/user");
	}
	for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++) {
		size_t n = name_length(str_sub(s, homes[i].n, s.n), i > 0);
		*ret_n = homes[i].n + n;
		if (str_starts(s, homes[i]) && n)
			return S("/home/other");
	}
	*ret_n = 1;
	return S("/");
}

struct str root_hide(const struct root *r, struct arena *a, struct str text, bool words)
{
	BUF(out, a);
	char before = 0;
	words = words && is_private(r->user);
	for (size_t n = 1; text.n; text = str_sub(text, n, text.n), n = 1) {
		struct str said = str_sub(text, 0, 1);
		if (text.p[0] == '/') {
			said = disguise(r, text, &n);
		} else if (words && !in_word(before) && is_word(text, r->user)) {
			said = S("user");
			n = r->user.n;
		}
		before = text.p[n - 1];
		buf_add(&out, said);
	}
	return buf_str(&out);
}
