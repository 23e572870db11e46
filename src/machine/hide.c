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

/* Names that are on many machines tell nothing, and their folders are other things as well. */
static bool is_private(struct str name)
{
	static const char *const common[] = {"root", "user", "other", "users", "home", "rocm",
		"ubuntu", "debian", "fedora", "admin", "app", "build", "docker", "runner", "python",
		"conda", "nobody", "opt", "usr", "lib", "bin", "etc", "var", "tmp", "local",
		"share", "games", "mnt", "venv", "src", "data", "torch", NULL};
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
	*ret_n = 1 + r->user.n;
	if (is_private(r->user) && is_path(after, r->user))
		return S("/user");
	*ret_n = 1;
	return S("/");
}

struct str root_hide(const struct root *r, struct arena *a, struct str text)
{
	BUF(out, a);
	for (size_t slash; (slash = str_chr(text, '/')) < text.n;) {
		size_t n;
		buf_add(&out, str_sub(text, 0, slash));
		text = str_sub(text, slash, text.n);
		buf_add(&out, disguise(r, text, &n));
		text = str_sub(text, n, text.n);
	}
	buf_add(&out, text);
	return buf_str(&out);
}
