/* Runs the program git, without trust in the repositories that it works on.
 *
 *     struct git g = {.dir = tree};
 *     struct proc_result r;
 *     TRY(git_run(a, &g, &r, "status", "--porcelain", NULL));
 *
 * A repository may come from a stranger, and git runs what a repository's own configuration names (hooks, filters,
 * fsmonitor, drivers, helpers). So before the first run in a folder, git_run() lists that configuration, with what it
 * includes, and fails with E_PERM if it names a program. Hooks, fsmonitor, refs/replace, core.worktree and background
 * maintenance are off in any case. What the user's own and the machine's configuration say (proxies, credential helpers, url.insteadOf)
 * counts, but not what would change bytes: line endings, attributes, ignored files.
 * Of the caller's GIT_* variables only GIT_SSH*, GIT_SSL*, GIT_PROXY* and those of names and dates (GIT_AUTHOR_*,
 * GIT_COMMITTER_*) are passed on. No repository above `dir` is found. git speaks https, http, ssh and its own protocol;
 * with `local` also reads repositories of this machine; never ext. Nothing is asked for: a login comes from a
 * credential helper or an ssh agent. A connection on which nothing comes for a minute fails. Sources: git-config(1),
 * git(1), gitprotocol-v2(5) as of git 2.39; older versions than 2.28 are not looked after.
 *
 * Words that come from strangers are checked first: git_check_url(), git_check_ref(). Paths are literal, but a command
 * wants "--" before them.
 */
#pragma once

#include "base/proc.h"

struct git {
	struct str
		dir; /* the folder of the work tree, which exists; "" for commands that need none */
	bool local;  /* a URL may be a path of this machine */
	struct strs config;  /* "name=value", for these runs only */
	struct strs setenv;  /* as in struct proc */
	struct str input;    /* as in struct proc, for the next run alone */
	struct str progress; /* show git's percentages as "Fetching PROGRESS"; "" = do not */
	struct str believed; /* set by git_run(): the folder whose configuration was looked at */
};

/* Runs git with these words, which NULL ends. ret->out is its standard output, ret->err its messages; a run that shows
 * progress keeps all in ret->out. A status other than 0 is an error: E_NET, E_SOURCE, E_PERM, E_NOSPACE as
 * data/messages.yaml tells from the messages, else E_TOOL_FAILED; the messages are its detail. E_TOOL_MISSING if git is
 * not installed. */
MUST_USE struct err *git_run(struct arena *a, struct git *g, struct proc_result *ret, ...)
	__attribute__((sentinel));
/* The same, but a status from 1 to 127 is no error: look at ret->status. */
MUST_USE struct err *git_try(struct arena *a, struct git *g, struct proc_result *ret, ...)
	__attribute__((sentinel));
/* Looks at the configurations of dir and its submodules, in which git's own status, add and submodule run: E_PERM, as
 * git_run() says. Other errors are left to those. level: 0. */
MUST_USE struct err *git_believe_modules(struct arena *a, struct str dir, unsigned level);

/* A URL of a repository as a person or a file of a stranger gives it: https://, http://, ssh://, git://, HOST:PATH; with
 * `local` also file:// and absolute paths. E_USAGE for others, for control characters, and for names with passwords,
 * which the error does not show. */
MUST_USE struct err *git_check_url(struct str url, bool local);
/* A branch, tag, commit or full name of a ref, by the rules of git-check-ref-format(1). E_USAGE. */
MUST_USE struct err *git_check_ref(struct str ref);
/* Is it the whole name of a commit or tree: 40 or 64 lower-case hexadecimal digits? */
bool git_is_sha(struct str s);

/* ---- private: data/git.yaml, which explains each list ---- */
struct git_words {
	const char *const *settings, *const *variables, *const *kept, *const *dangerous;
};
const struct git_words *git_words_table(void); /* one row */
