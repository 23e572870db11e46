/* Decides how much of a machine may be in a recording: by the table of paths in data/recording.yaml, a list of variables, and
 * the names of users, which are hidden in every path and text. */
#include <fnmatch.h>

#include "lang/python/requirement.h"
#include "machine/facts.h"

/* ---- rules for texts ---- */

/* Keeps the lines whose key is in the list. */
static void redact_keys(struct buf *out, struct str text, char sep, const char *const *keys)
{
	struct str line, key, value;
	while (str_next(&text, '\n', &line)) {
		str_cut(line, sep, &key, &value);
		if (str_is_one_of(str_trim(key), keys))
			buf_fmt(out, "%.*s\n", STR(line));
	}
}

/* Keeps "Linux version 6.1.0", without the user and host that built it. */
static void redact_version(struct buf *out, struct str text)
{
	buf_fmt(out, "Linux version %.*s\n", STR(parse_kernel_version(text)));
}

/* Keeps the number of processors, the name of the first one, and the flag of virtual machines. */
static void redact_cpuinfo(struct buf *out, struct str text)
{
	static const char *const count[] = {"processor", NULL}, *const once[] = {"vendor_id",
									"model name",
									"CPU implementer"};
	redact_keys(out, text, ':', count);
	for (size_t i = 0; i < sizeof(once) / sizeof(*once); i++) {
		struct str value = line_value(text, ':', str_from(once[i]));
		if (value.n)
			buf_fmt(out, "%s\t: %.*s\n", once[i], STR(value));
	}
	if (parse_hypervisor(text))
		buf_add(out, S("flags\t: hypervisor\n"));
}

static void redact_cmdline(struct buf *out, struct str text)
{
	struct strs words = parse_cmdline(out->a, text);
	buf_fmt(out, "%.*s\n", STR(str_join(out->a, &words, S(" "))));
}

static void redact_modules(struct buf *out, struct str text)
{
	if (line_value(text, ' ', S("amdgpu")).n)
		buf_add(out, S("amdgpu 0 0 - Live 0x0000000000000000\n"));
}

static void redact_container(struct buf *out, struct str text)
{
	struct str value = parse_environ(text, S("container"));
	if (value.n)
		buf_fmt(out, "container=%.*s%c", STR(value), 0);
}

/* Keeps the part of the path that shows the kind of container; the rest consists of ids. */
static void redact_cgroup(struct buf *out, struct str text)
{
	const struct cgroup_mark *m = parse_cgroup(text);
	if (m)
		buf_fmt(out, "0::%s%s\n", m->mark[0] == '/' ? "" : "/", m->mark);
}

/* Keeps what is said of GPUs, up to a comment. */
static void redact_modprobe(struct buf *out, struct str text)
{
	struct str line;
	while (str_next(&text, '\n', &line)) {
		line = str_sub(line, 0, str_chr(line, '#'));
		if (str_contains(line, S("amdgpu")) || str_contains(line, S("ttm")))
			buf_fmt(out, "%.*s\n", STR(line));
	}
}

static void redact_first_line(struct buf *out, struct str text)
{
	struct str line;
	if (str_next(&text, '\n', &line))
		buf_fmt(out, "%.*s\n", STR(line));
}

static void redact_header(struct buf *out, struct str text)
{
	struct str line;
	while (str_next(&text, '\n', &line))
		if (str_starts(str_trim(line), S("#")) && str_contains(line, S("_VERSION_")))
			buf_fmt(out, "%.*s\n", STR(line));
}

/* Keeps the GPUs whose code was kept, and whether torch's libraries were slimmed, without the list of files. */
static void redact_slim(struct buf *out, struct str text)
{
	struct json j = {.out = out};
	struct strs gpus = parse_slim_gpus(out->a, text);
	buf_add(out, S("{\"gpus\": "));
	json_strs(&j, &gpus);
	buf_fmt(out, ", \"files\": [%s]}\n",
		str_contains(text, S("torch/lib")) ? "{\"path\": \"torch/lib\"}" : "");
}

/* Keeps the requirements that matter, without the places that they may name. */
static void redact_metadata(struct buf *out, struct str text)
{
	struct strs list = parse_requirements(out->a, text);
	VEC_EACH (struct str, one, &list) {
		struct requirement q;
		struct err *e = requirement_parse(*one, &q);
		if (!e && q.url.n)
			*one = str_replace(out->a, *one, q.url, S("file:///hidden"));
		err_free(e);
		buf_fmt(out, "Requires-Dist: %.*s\n", STR(*one));
	}
}

static void redact_torch_init(struct buf *out, struct str text)
{
	if (str_contains(text, S("rocm_sdk")))
		buf_add(out, S("import rocm_sdk\n"));
}

typedef void redact_fn(struct buf *out, struct str text);

static const struct {
	const char *name;
	redact_fn *redact;
} functions[] = {
	{"version", redact_version},
	{"cpuinfo", redact_cpuinfo},
	{"cmdline", redact_cmdline},
	{"modules", redact_modules},
	{"container", redact_container},
	{"cgroup", redact_cgroup},
	{"modprobe", redact_modprobe},
	{"first_line", redact_first_line},
	{"header", redact_header},
	{"slim", redact_slim},
	{"metadata", redact_metadata},
	{"torch_init", redact_torch_init},
};

bool redact_text(const struct root *r, struct str path, struct str text, struct buf *out)
{
	ARENA(tmp);
	const char *name = str_z(&tmp, path);
	if (str_eq(path, S("etc/passwd"))) { /* the user's line, with "user" as the name */
		if (parse_passwd(text, r->uid, PASSWD_NAME).n)
			buf_fmt(out, "%s:x:%u:%.*s::%.*s:\n", r->uid ? "user" : "root", r->uid,
				STR(parse_passwd(text, r->uid, PASSWD_GID)),
				STR(parse_passwd(text, r->uid, PASSWD_HOME)));
		return true;
	}
	TABLE_EACH (redaction, x) {
		if (fnmatch(x->path, name, 0))
			continue;
		for (size_t k = 0; x->by && k < sizeof(functions) / sizeof(*functions); k++)
			if (!strcmp(x->by, functions[k].name))
				functions[k].redact(out, text);
		if (x->keys)
			redact_keys(out, text, *x->separator, x->keys);
		else if (!x->by)
			buf_add(out, text);
		return true;
	}
	return false;
}

bool redact_variable(struct arena *a, struct str name, struct str *value)
{
	static const char *const more[] = {"HOME", "PATH", "container", NULL};
	/* the variable shows a pod; its value is a network address */
	if (str_eq(name, S("KUBERNETES_SERVICE_HOST"))) {
		*value = S("");
		return true;
	}
	if (str_ends(name, S("_VISIBLE_DEVICES"))) { /* "GPU-7c5a4d9c8f2b1e3a" is a unique id */
		char *id = str_z(a, *value);
		*value = str_from(id);
		while ((id = strstr(id, "GPU-")) != NULL)
			for (id += strlen("GPU-"); ascii_alnum(*id); id++)
				*id = '0';
	}
	TABLE_EACH (variable, x)
		if (str_eq(name, str_from(x->name)))
			return true;
	return str_is_one_of(name, more) || str_starts(name, S("HSA_OVERRIDE_GFX_VERSION_"));
}

/* ---- names of users ---- */

/* The length of the file name at the beginning of s. On Windows, users' names may contain spaces. */
static size_t name_length(struct str s, bool windows)
{
	size_t n = 0;
	unsigned char least = windows ? ' ' : ' ' + 1;
	while (n < s.n && (unsigned char)s.p[n] >= least && !strchr("/:;,'\"<>|()=", s.p[n]))
		n++;
	return n;
}

static bool in_word(char c)
{
	return ascii_alnum(c) || (unsigned char)c >= 0x80;
}

/* The replacement of the first *ret_n bytes of s, which begins with a slash. */
static struct str disguise(const struct root *r, struct str s, size_t *ret_n)
{
	static const struct str homes[] = {S_INIT("/home/"), S_INIT("/Users/"), S_INIT("/users/")};
	const struct str own[] = {r->home, r->real_home};
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		struct str path = str_sub(s, 1, s.n), rest = str_sub(path, own[i].n, path.n);
		*ret_n = 1 + own[i].n;
		if (own[i].n && !str_eq(own[i], S("root")) && str_starts(path, own[i]) &&
			!name_length(rest, false))
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
	words = words && r->user.n && !str_is_one_of(r->user, machine_names_table()->no_names);
	for (size_t n = 1; text.n; text = str_sub(text, n, text.n), n = 1) {
		struct str shown = str_sub(text, 0, 1);
		if (text.p[0] == '/') {
			shown = disguise(r, text, &n);
		} else if (words && !in_word(before) && str_starts(text, r->user) &&
			   (text.n == r->user.n || !in_word(text.p[r->user.n]))) {
			shown = S("user");
			n = r->user.n;
		}
		before = text.p[n - 1];
		buf_add(&out, shown);
	}
	return buf_str(&out);
}
