/* Runs git in an environment of its own, and turns its messages into one error; see git.h. */
#include "archive/git.h"

#include <unistd.h>

#include "base/fs.h"
#include "base/progress.h"
#include "know/know.h"

static struct proc command(struct arena *a, const struct git *g)
{
	const struct git_words *words = git_words_table();
	struct proc p = {.input = g->input};
	struct str real;
	proc_arg(a, &p, "git", "--no-pager", NULL);
	for (size_t i = 0; words->settings[i]; i++)
		proc_arg(a, &p, "-c", words->settings[i], NULL);
	for (size_t i = 0; i < g->config.n; i++)
		proc_arg(a, &p, "-c", str_z(a, g->config.v[i]), NULL);
	for (char **e = environ; *e; e++) {
		struct str name, value;
		(void)str_cut(str_from(*e), '=', &name, &value);
		if (str_starts(name, S("GIT_")) && !str_starts_one_of(name, words->kept))
			strs_add(a, &p.setenv, name);
	}
	for (size_t i = 0; words->variables[i]; i++)
		strs_add(a, &p.setenv, str_from(words->variables[i]));
	strs_add(a, &p.setenv,
		g->local ? S("GIT_ALLOW_PROTOCOL=https:http:ssh:git:file")
			 : S("GIT_ALLOW_PROTOCOL=https:http:ssh:git"));
	if (g->dir.n && fs_real(a, g->dir, &real)) {
		proc_arg(a, &p, "-C", real.p, NULL);
		strs_fmt(a, &p.setenv, "GIT_CEILING_DIRECTORIES=%.*s", STR(path_dir(real)));
		/* core.worktree of a repository could name any folder */
		if (fs_present(path_join(a, real, S(".git"))))
			strs_fmt(a, &p.setenv, "GIT_WORK_TREE=%.*s", STR(real));
	}
	strs_add_all(a, &p.setenv, &g->setenv);
	return p;
}

/* Makes the error for a status that git ended with: the first rule of data/messages.yaml that its messages fit. */
static struct err *failure(struct arena *a, const struct proc_result *r)
{
	enum { LINES_MAX = 12 };
	struct strs lines = {0};
	struct str line, part, rest = r->err.n ? r->err : r->out;
	while (str_next(&rest, '\n', &line)) {
		line = str_sub(
			line, str_rchr(line, '\r') < line.n ? str_rchr(line, '\r') + 1 : 0, line.n);
		if (line.n && str_chr(line, '%') == line.n && lines.n < LINES_MAX)
			strs_put(a, &lines, line);
	}
	struct str text = str_join(a, &lines, S("\n"));
	const struct know_rule *rule = know_match("git", text, &part);
	struct err *e = rule ? err_new(rule->code, "%s", rule->about)
			     : err_new(E_TOOL_FAILED, "'git' ended with status %d", r->status);
	if (rule && rule->hint)
		e = err_hint(e, "%.*s", STR(know_hint(a, rule, part)));
	return text.n ? err_detail(e, text) : e;
}

static struct err *start(struct arena *a, const struct proc *p, struct proc_result *ret)
{
	struct err *e = proc_run(a, p, ret);
	return e && e->code == E_TOOL_MISSING
		       ? err_hint(e, "install the package git of your distribution")
		       : e;
}

/* Refuses a folder whose repository has a configuration that runs programs. */
static struct err *believe(struct arena *a, struct git *g)
{
	struct proc p = command(a, g);
	struct proc_result r;
	struct str scope, entry, name, value;
	if (!g->dir.n || str_eq(g->believed, g->dir))
		return NULL;
	if (!fs_is_dir(g->dir))
		return err_new(E_NOENT, "there is no folder '%.*s'", STR(g->dir));
	proc_arg(a, &p, "config", "--list", "--show-scope", "-z", NULL);
	TRY(start(a, &p, &r));
	if (r.status)
		return failure(a, &r);
	/* with -z: SCOPE NUL NAME LF VALUE NUL */
	while (str_next(&r.out, 0, &scope) && str_next(&r.out, 0, &entry)) {
		(void)str_cut(entry, '\n', &name, &value);
		struct str key =
			str_lower(a, str_fmt(a, "%.*s%.*s", (int)str_chr(name, '.'), name.p,
					     STR(str_sub(name, str_rchr(name, '.'), name.n))));
		bool own = str_eq(scope, S("local")) || str_eq(scope, S("worktree"));
		if (!own ||
			(!str_is_one_of(key, git_words_table()->dangerous) &&
				!(str_eq(key, S("submodule.update")) && str_starts(value, S("!")))))
			continue;
		struct err *e = err_new(E_PERM,
			"the repository '%.*s' has a configuration that git would run or follow: "
			"'%.*s'",
			STR(g->dir), STR(name));
		return err_hint(e,
			"if you trust it, move it to your own configuration (git config --global); "
			"to drop it: git -C %.*s config --unset-all %.*s",
			STR(str_shell(a, g->dir)), STR(str_shell(a, name)));
	}
	g->believed = g->dir;
	return NULL;
}

/* ---- progress ---- */
struct git_bar {
	struct progress *bar;
	uint64_t done;
};

/* Reads "Receiving objects:  45% (4500/10000), 12.00 MiB | 3 MiB/s". Receiving counts as the first half of the work, resolving
 * deltas and writing files as the other. */
static void take_percent(void *user, struct str line)
{
	struct git_bar *b = user;
	uint64_t percent;
	size_t end = str_chr(line, '%'), from = str_rchr(str_sub(line, 0, end), ' ');
	bool receives = str_contains(line, S("Receiving objects:"));
	if (end == line.n || !str_u64(str_sub(line, from + 1, end), 10, &percent) || percent > 100)
		return;
	if (!receives && !str_starts(line, S("Resolving deltas:")) &&
		!str_starts(line, S("Updating files:")))
		return;
	uint64_t done = receives ? percent / 2 : 50 + percent / 2;
	if (done <= b->done)
		return;
	progress_add(b->bar, done - b->done, S(""));
	b->done = done;
}

/* ---- running ---- */
static struct err *run(struct arena *a, struct git *g, va_list words, struct proc_result *ret)
{
	TRY(believe(a, g));
	struct proc p = command(a, g);
	struct git_bar bar = {0};
	g->input = S("");
	for (const char *w; (w = va_arg(words, const char *));)
		strs_add(a, &p.argv, str_from(w));
	if (g->progress.n) {
		bar.bar = progress_begin(S("Fetching"), g->progress, UNIT_NONE, 100);
		p.merge = true;
		p.line = take_percent;
		p.user = &bar;
	}
	struct err *e = start(a, &p, ret);
	progress_end(bar.bar);
	return e;
}

struct err *git_run(struct arena *a, struct git *g, struct proc_result *ret, ...)
{
	va_list words;
	va_start(words, ret);
	struct err *e = run(a, g, words, ret);
	va_end(words);
	return e || !ret->status ? e : failure(a, ret);
}

struct err *git_try(struct arena *a, struct git *g, struct proc_result *ret, ...)
{
	va_list words;
	va_start(words, ret);
	struct err *e = run(a, g, words, ret);
	va_end(words);
	return e || ret->status < 128 ? e : failure(a, ret);
}

struct err *git_believe_modules(struct arena *a, struct str dir, unsigned level)
{
	enum { LEVELS = 16 };
	struct git g = {.dir = dir};
	struct proc_result r = {0};
	struct str entry, info, path;
	struct err *e = git_run(a, &g, &r, "ls-files", "--stage", "-z", NULL);
	while (!e && str_next(&r.out, 0, &entry)) {
		(void)str_cut(entry, '\t', &info, &path);
		path = path_join(a, dir, path);
		if (!str_starts(info, S("160000 ")) || !fs_present(path_join(a, path, S(".git"))))
			continue;
		e = level < LEVELS ? git_believe_modules(a, path, level + 1)
				   : err_new(E_PERM, "'%.*s' is too deep", STR(path));
	}
	if (e && e->code != E_PERM) {
		err_free(e);
		e = NULL;
	}
	return e;
}

/* ---- words of strangers ---- */
bool git_is_sha(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_digit(s.p[i]) && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return s.n == 40 || s.n == 64;
}

static bool is_printable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
			return false;
	return true;
}

struct err *git_check_url(struct str url, bool local)
{
	static const char *const remote[] = {"https", "http", "ssh", "git", NULL};
	size_t at = str_find(url, S("://"));
	bool scheme = at < url.n, here = str_starts(url, S("/")) || str_starts(url, S("file:///"));
	struct str rest = scheme ? str_sub(url, at + 3, url.n) : url;
	struct str host = str_sub(rest, 0, str_chr(rest, '/'));
	struct str login = str_sub(host, 0, str_rchr(host, '@'));
	bool named = login.n < host.n;
	if (named && !here &&
		(str_chr(login, ':') < login.n || (scheme && str_starts(url, S("http")))))
		return err_hint(
			err_new(E_USAGE, "the URL of a repository holds a name or a password"),
			"leave them out, and let git ask a credential helper: see "
			"gitcredentials(7)");
	bool good = here     ? local
		    : scheme ? str_is_one_of(str_sub(url, 0, at), remote)
			     : str_chr(host, ':') < host.n && ascii_alnum(url.p[0]) &&
				       !str_contains(url, S("::"));
	if (good && is_printable(url) && rest.n && url.n < 2048 && rest.p[0] != '-' &&
		!str_contains(host, S("@-")))
		return NULL;
	return err_hint(err_new(E_USAGE, "'%.*s' is not the URL of a git repository", STR(url)),
		"write it like https://HOST/PROJECT, ssh://HOST/PROJECT%s",
		local ? " or /srv/PROJECT.git" : "");
}

struct err *git_check_ref(struct str ref)
{
	static const char *const never[] = {
		"..", "//", "/.", "@{", "~", "^", ":", "?", "*", "[", "\\", ".lock/"};
	bool good = ref.n && ref.n < 256 && is_printable(ref) && !str_eq(ref, S("@")) &&
		    ref.p[0] != '-' && ref.p[0] != '/' && ref.p[0] != '.' &&
		    !str_ends(ref, S("/")) && !str_ends(ref, S(".")) && !str_ends(ref, S(".lock"));
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		good = good && !str_contains(ref, str_from(never[i]));
	return good ? NULL
		    : err_new(E_USAGE, "'%.*s' is not the name of a branch, tag or commit",
			      STR(ref));
}
