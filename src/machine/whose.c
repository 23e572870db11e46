/* Whose machine it is: the user's name and folder, and how they are kept out of a recording. Everything that the
 * observer of a root is told goes through root_hide(), so that no reader of facts has to think of it. */
#include <stdlib.h>
#include <unistd.h>

#include "machine/parse.h"
#include "machine/root.h"

void root_open(struct root *r)
{
	struct str status, users, home;
	struct machine id = {.uid = geteuid()};
	if (r->dir.n) {
		root_peek(r, S(".nodes"), &r->nodes);
		root_peek(r, S("proc/self/environ"), &r->environ);
		root_peek(r, S("proc/self/status"), &status);
		if (!parse_identity(r->a, status, &id))
			id.uid = UINT32_MAX;
	}
	root_peek(r, S("etc/passwd"), &users);
	r->user = parse_passwd(users, id.uid, PASSWD_NAME);
	if (!root_variable(r, S("HOME"), &home) || !str_starts(home, S("/")))
		home = parse_passwd(users, id.uid, PASSWD_HOME);
	home = path_clean(r->a, home);
	r->home = str_starts(home, S("/")) ? str_sub(home, 1, home.n) : S("");
	if (!r->user.n)
		r->user = path_base(r->home);
}

bool root_variable(struct root *r, struct str name, struct str *ret)
{
	ARENA(tmp);
	const char *value = r->dir.n ? NULL : getenv(str_z(&tmp, name));
	*ret = r->dir.n ? parse_environ(r->environ, name) : str_from(value);
	return r->dir.n ? ret->p != NULL : value != NULL;
}

/* ---- what is private in a path ---- */
/* How many bytes of s are the name of a file or folder. */
static size_t name_length(struct str s)
{
	size_t n = 0;
	while (n < s.n && (unsigned char)s.p[n] > ' ' && !strchr("/:;,'\"<>|()=", s.p[n]))
		n++;
	return n;
}

static bool is_path(struct str s, struct str path)
{
	return path.n && str_starts(s, path) && !name_length(str_sub(s, path.n, s.n));
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
static struct str disguise(const struct root *r, struct str home, struct str s, size_t *ret_n)
{
	static const struct str homes[] = {S_INIT("/home/"), S_INIT("/Users/"), S_INIT("/users/")};
	struct str after = str_sub(s, 1, s.n);
	*ret_n = home.n;
	if (home.n > 1 && !str_eq(home, S("/root")) && is_path(s, home))
		return S("/home/user");
	for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++) {
		size_t n = name_length(str_sub(s, homes[i].n, s.n));
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
	struct str home = str_fmt(a, "/%.*s", STR(r->home));
	for (size_t slash; (slash = str_chr(text, '/')) < text.n;) {
		size_t n;
		buf_add(&out, str_sub(text, 0, slash));
		text = str_sub(text, slash, text.n);
		buf_add(&out, disguise(r, home, text, &n));
		text = str_sub(text, n, text.n);
	}
	buf_add(&out, text);
	return buf_str(&out);
}
