/* The version of what is built from the sources of a known project: that of the sources and, as a
 * local version, what it was built for.
 *
 *     2.6.0+rocm6.4           sources of a release
 *     2.6.0+devrocm7.2.dev0   with an SDK that is no release itself
 *     2.6.0+git1a2b3c4d.rocm6.4   a git checkout
 *
 * These are the suffixes of TheRock's wheels (ROCm/TheRock: "Versioning"). An SDK
 * that is not installed yet does not say which ROCm it has: the plan then says @rocm@, and the build
 * puts it in (sdk_rocm()). */
#include "base/fs.h"
#include "base/version.h"
#include "plan/plan_int.h"

enum { MAX_REFS = 16 << 20, SHA_SHOWN = 8 };

/* The line of .git/packed-refs that ends in the name begins with its commit. */
static struct err *packed_ref(struct arena *a, struct str git, struct str name, struct str *ret)
{
	struct str text, line, sha, ref;
	TRY(fs_read_opt(a, path_join(a, git, S("packed-refs")), MAX_REFS, &text));
	while (text.p && str_next(&text, '\n', &line))
		if (str_cut(line, ' ', &sha, &ref) && str_eq(ref, name))
			*ret = sha;
	return NULL;
}

/* The commit of a checkout, by reading its files; "" for another folder. */
static struct err *commit_of(struct arena *a, struct str dir, struct str *ret)
{
	struct str git = path_join(a, dir, S(".git")), text, key, name;
	*ret = S("");
	if (fs_is_file(git)) { /* of a worktree or submodule: "gitdir: PATH" */
		TRY(fs_read(a, git, MAX_REFS, &text));
		(void)str_cut(str_trim(text), ' ', &key, &name);
		git = path_join(a, dir, name);
	}
	TRY(fs_read_opt(a, path_join(a, git, S("HEAD")), MAX_REFS, &text));
	if (!text.p)
		return NULL;
	*ret = str_trim(text);
	if (!str_cut(*ret, ' ', &key, &name))
		return NULL;
	*ret = S("");
	if (!path_is_inside(name)) /* the checkout is a stranger's: no branch is called so */
		return NULL;
	TRY(fs_read_opt(a, path_join(a, git, name), MAX_REFS, &text));
	if (text.p)
		*ret = str_trim(text);
	return text.p ? NULL : packed_ref(a, git, name, ret);
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_digit(s.p[i]) && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return s.n >= SHA_SHOWN;
}

static struct err *check(struct arena *a, struct str suffix)
{
	const struct version *v;
	struct err *e = version_parse(a, str_fmt(a, "1%.*s", STR(suffix)), &v);
	if (!e && (!suffix.n || suffix.p[0] == '+'))
		return NULL;
	err_free(e);
	return err_hint(err_new(E_USAGE, "'%.*s' cannot follow a version", STR(suffix)),
		"write it like +rocm6.4, or leave it empty");
}

struct str suffix_put(struct arena *a, struct str line, const char *name, struct str value)
{
	size_t at = str_find(line, str_from(name)), end = at + str_from(name).n;
	if (at == line.n)
		return line;
	return str_fmt(a, "%.*s%.*s%.*s", STR(str_sub(line, 0, at)), STR(value),
		STR(str_sub(line, end, line.n)));
}

struct err *suffix_choose(struct arena *a, const struct plan_request *r, struct plan *plan)
{
	struct str commit, release = plan->foreign->release, suffix = r->suffix;
	struct sdk_spec any = plan->sdk;
	struct sdk sdk;
	any.components = (struct strs){0};
	CLEANUP(err_freep) struct err *none = sdk_open(a, &any, &sdk);
	const char *dev = !none && str_contains(sdk_rocm(a, &sdk), S("dev")) ? "dev" : "";
	TRY(commit_of(a, plan->project, &commit));
	if (suffix.p)
		TRY(check(a, suffix));
	else if (is_hex(commit))
		suffix = str_fmt(
			a, "+git%.*s.%srocm" SDK_ROCM, STR(str_sub(commit, 0, SHA_SHOWN)), dev);
	else
		suffix = str_fmt(a, "+%srocm" SDK_ROCM, dev);
	if (!none)
		suffix = sdk_rocm_put(a, &sdk, suffix);
	plan->version = str_fmt(a, "%.*s%.*s", STR(release), STR(suffix));
	plan_explain(a, plan, "version", plan->version, "'%.*s' of the sources, and %s",
		STR(release),
		r->suffix.p ? "what --version-suffix says"
		: none      ? "what it is built for; the SDK is not installed yet"
			    : "what it is built for");
	VEC_EACH (struct str, line, &plan->foreign->env) {
		*line = suffix_put(a, *line, "@version@", plan->version);
		*line = suffix_put(a, *line, "@suffix@", suffix);
		*line = suffix_put(a, *line, "@torch@", known_torch(plan));
		if (!none)
			*line = sdk_rocm_put(a, &sdk, *line);
	}
	return NULL;
}
