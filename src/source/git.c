/* Finds the commit of a git checkout, and submodules that it lacks, by reading its files; see source.h. The checkout may belong to a stranger: only
 * HEAD and refs of a git folder are read, and only if they belong to the owner of the checkout. */
#include "base/fs.h"
#include "base/vec.h"
#include "source/source.h"

enum { MAX_REFS = 16 << 20, MAX_LINE = 4096, SHA_LEAST = 8 };

/* Reads one of git's files; "" if it is missing, is a link, or has another owner than the checkout. */
static struct err *read_git_file(
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

/* The rest of the first line after the key, e.g. of "gitdir: PATH" in a worktree or submodule. */
static struct str value_of(struct str text, struct str key)
{
	struct str line = S("");
	(void)str_next(&text, '\n', &line);
	return str_starts(line, key) ? str_sub(line, key.n, line.n) : S("");
}

struct err *source_commit(struct arena *a, struct str dir, struct str *ret)
{
	struct str git = path_join(a, dir, S(".git")), text, common, line, sha, ref;
	struct stat st;
	*ret = S("");
	if (!fs_try_lstat(git, &st))
		return NULL;
	if (S_ISREG(st.st_mode)) {
		TRY(read_git_file(a, git, st.st_uid, MAX_LINE, &text));
		git = path_join(a, dir, value_of(text, S("gitdir: ")));
	}
	TRY(read_git_file(a, path_join(a, git, S("HEAD")), st.st_uid, MAX_LINE, &sha));
	struct str name = value_of(sha, S("ref: "));
	if (name.n) {
		if (!str_starts(name, S("refs/")) || !path_is_inside(name))
			return NULL;
		TRY(read_git_file(
			a, path_join(a, git, S("commondir")), st.st_uid, MAX_LINE, &common));
		git = common.n ? path_join(a, git, common)
			       : git; /* all worktrees share their refs */
		TRY(read_git_file(a, path_join(a, git, name), st.st_uid, MAX_LINE, &sha));
		text = S("");
		if (!sha.n)
			TRY(read_git_file(a, path_join(a, git, S("packed-refs")), st.st_uid,
				MAX_REFS, &text));
		while (str_next(&text, '\n', &line)) {
			struct str packed;
			if (str_cut(line, ' ', &packed, &ref) && str_eq(ref, name))
				sha = packed;
		}
	}
	for (size_t i = 0; i < sha.n; i++)
		if (!ascii_digit(sha.p[i]) && !(sha.p[i] >= 'a' && sha.p[i] <= 'f'))
			return NULL;
	*ret = sha.n >= SHA_LEAST ? sha : S("");
	return NULL;
}

void source_submodule_paths(struct arena *a, struct str text, struct strs *ret)
{
	struct str line, key, value;
	while (str_next(&text, '\n', &line))
		if (str_cut(line, '=', &key, &value) && str_eq(str_trim(key), S("path")) &&
			path_is_inside(str_trim(value)))
			strs_add(a, ret, str_trim(value));
}

struct err *source_submodules(struct arena *a, struct str dir)
{
	struct str text, first = S("");
	struct strs paths = {0};
	struct stat st;
	size_t n = 0;
	if (!fs_try_lstat(path_join(a, dir, S(".git")), &st))
		return NULL;
	TRY(read_git_file(a, path_join(a, dir, S(".gitmodules")), st.st_uid, MAX_REFS, &text));
	source_submodule_paths(a, text, &paths);
	VEC_EACH (const struct str, path, &paths) {
		struct strs names = {0};
		struct str sub = path_join(a, dir, *path);
		/* git makes the folder of each submodule that it has; .gitmodules may name more */
		if (fs_is_link(sub) || !fs_is_dir(sub))
			continue;
		TRY(fs_list(a, sub, &names));
		if (!names.n && n++ == 0)
			first = *path;
	}
	if (!n)
		return NULL;
	struct err *e = err_new(
		E_PROJECT, "submodules of '%.*s' were never fetched: '%.*s'", STR(dir), STR(first));
	return err_hint(n > 1 ? err_hint(e, "%zu more are missing", n - 1) : e,
		"git -C %.*s submodule update --init --recursive", STR(str_shell(a, dir)));
}
