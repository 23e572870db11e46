/* The version of what is built from the sources of a known project: that of the sources and, as a
 * local version, what it was built for.
 *
 *     2.6.0+rocm6.4           sources of a release
 *     2.6.0+devrocm7.2.dev0   with an SDK that is no release itself
 *     2.6.0+git1a2b3c4d.rocm6.4   a git checkout
 *
 * These are the suffixes of TheRock's wheels (ROCm/TheRock: "Versioning"). An SDK
 * that is not installed yet does not say which ROCm it has: the plan then says @rocm@, and the build
 * puts it in (plan_settle()). */
#include "base/fs.h"
#include "lang/python/version.h"
#include "plan/plan_int.h"

enum { MAX_REFS = 16 << 20, MAX_LINE = 4096, SHA_SHOWN = 8 };

/* A file of git's: "" when it is not there, is a link, or belongs to somebody else than the checkout. */
static struct err *git_file(
	struct arena *a, struct str path, uid_t owner, size_t most, struct str *ret)
{
	struct stat st;
	*ret = S("");
	if (!fs_try_lstat(path, &st) || !S_ISREG(st.st_mode) || st.st_uid != owner ||
		(uint64_t)st.st_size > most)
		return NULL;
	TRY(fs_read_opt(a, path, most, ret));
	*ret = ret->p ? str_trim(*ret) : S("");
	return NULL;
}

/* What the first line says behind the key: "gitdir: PATH" of a worktree or submodule. */
static struct str said(struct str text, const char *key)
{
	struct str line = S("");
	(void)str_next(&text, '\n', &line);
	return str_starts(line, str_from(key)) ? str_sub(line, str_from(key).n, line.n) : S("");
}

/* The line of packed-refs that ends in the name begins with its commit. */
static struct err *packed_ref(
	struct arena *a, struct str git, uid_t owner, struct str name, struct str *ret)
{
	struct str text, line, sha, ref;
	TRY(git_file(a, path_join(a, git, S("packed-refs")), owner, MAX_REFS, &text));
	while (str_next(&text, '\n', &line))
		if (str_cut(line, ' ', &sha, &ref) && str_eq(ref, name))
			*ret = sha;
	return NULL;
}

/* The commit of a checkout, by reading its files; "" for another folder. The checkout may be a stranger's:
 * nothing is read but HEAD and refs of a folder of git's, which is the checkout owner's, too. */
static struct err *commit_of(struct arena *a, struct str dir, struct str *ret)
{
	struct str git = path_join(a, dir, S(".git")), text, name, common;
	struct stat st;
	*ret = S("");
	if (!fs_try_lstat(git, &st))
		return NULL;
	if (S_ISREG(st.st_mode)) {
		TRY(git_file(a, git, st.st_uid, MAX_LINE, &text));
		git = path_join(a, dir, said(text, "gitdir: "));
	}
	TRY(git_file(a, path_join(a, git, S("HEAD")), st.st_uid, MAX_LINE, ret));
	name = said(*ret, "ref: ");
	if (!name.n)
		return NULL;
	*ret = S("");
	if (!str_starts(name, S("refs/")) || !path_is_inside(name))
		return NULL;
	TRY(git_file(a, path_join(a, git, S("commondir")), st.st_uid, MAX_LINE, &common));
	git = common.n ? path_join(a, git, common) : git; /* of all worktrees */
	TRY(git_file(a, path_join(a, git, name), st.st_uid, MAX_LINE, ret));
	return ret->n ? NULL : packed_ref(a, git, st.st_uid, name, ret);
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

void plan_settle(struct arena *a, const struct sdk *sdk, struct plan *plan)
{
	if (!plan->foreign)
		return;
	struct plan_foreign *f = NEW(a, struct plan_foreign);
	*f = *plan->foreign;
	f->env = (struct strs){0};
	f->files.v = NULL;
	f->files.n = f->files.cap = 0;
	VEC_EACH (const struct str, line, &plan->foreign->env)
		strs_add(a, &f->env, sdk_rocm_put(a, sdk, *line));
	VEC_EACH (const struct plan_file, file, &plan->foreign->files)
		*VEC_PUSH(a, &f->files) =
			(struct plan_file){file->path, sdk_rocm_put(a, sdk, file->text)};
	plan->version = sdk_rocm_put(a, sdk, plan->version);
	plan->foreign = f;
}

void suffix_meet(struct arena *a, struct plan *plan)
{
	struct sdk_spec any = plan->sdk;
	struct sdk *sdk = NEW(a, struct sdk);
	any.components = (struct strs){0};
	struct err *e = sdk_open(a, &any, sdk);
	if (!e) {
		plan->here = sdk;
		plan_settle(a, sdk, plan);
	}
	err_free(e);
}

struct err *suffix_choose(struct arena *a, const struct plan_request *r, struct plan *plan)
{
	struct str commit, release = plan->foreign->release, suffix = r->suffix;
	suffix_meet(a, plan);
	const char *dev =
		plan->here && str_contains(sdk_rocm(a, plan->here), S("dev")) ? "dev" : "";
	TRY(commit_of(a, plan->project, &commit));
	if (suffix.p)
		TRY(check(a, suffix));
	else if (is_hex(commit))
		suffix = str_fmt(
			a, "+git%.*s.%srocm" SDK_ROCM, STR(str_sub(commit, 0, SHA_SHOWN)), dev);
	else
		suffix = str_fmt(a, "+%srocm" SDK_ROCM, dev);
	plan->version = str_fmt(a, "%.*s%.*s", STR(release), STR(suffix));
	VEC_EACH (struct str, line, &plan->foreign->env) {
		*line = str_replace(a, *line, S("@version@"), plan->version);
		*line = str_replace(a, *line, S("@suffix@"), suffix);
		*line = str_replace(a, *line, S("@torch@"), known_torch(&plan->foreign->with));
	}
	if (plan->here)
		plan_settle(a, plan->here, plan);
	plan_explain(a, plan, "version", str_replace(a, plan->version, S(SDK_ROCM), S("")),
		"'%.*s' of the sources, and %s", STR(release),
		r->suffix.p ? "what --version-suffix says"
		: plan->here
			? "what it is built for"
			: "what it is built for: the SDK says which ROCm once it is installed");
	return NULL;
}
