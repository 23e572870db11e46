/* Sets and unsets variables of a user's sessions; see login.h. */
#include "flow/login.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"

enum { FILE_MAX = 1 << 20 };

#define MARK "rocsmith doctor --fix "
#define BEGIN "# >>> rocsmith doctor --fix >>>\n"
#define END "# <<< rocsmith doctor --fix <<<\n"
#define MADE                                                                                       \
	"# Made by \"rocsmith doctor --fix\": the undo removes this file, unless other lines are " \
	"in it.\n"
#define HEAD                                                                                       \
	"# Made by \"rocsmith doctor --fix\", which also takes it back (--undo). Other lines do "  \
	"not belong here.\n"

struct login_work {
	struct arena *a;
	const struct login_request *r;
	struct str ours; /* env.sh */
	bool sets;       /* env.sh will set something */
	struct login_files *files;
};

/* SHELL: the file has shell commands. READS_OURS: it gets our block. MAY_COME: it is created for that if it does not
 * exist. */
enum { SHELL = 1, READS_OURS = 2, MAY_COME = 4 };
static const struct {
	const char *name;
	unsigned how;
} startup[] = {{".profile", SHELL | READS_OURS | MAY_COME}, {".bash_profile", SHELL | READS_OURS},
	{".bash_login", SHELL | READS_OURS}, {".zprofile", SHELL | READS_OURS}, {".bashrc", SHELL},
	{".zshenv", SHELL}, {".zshrc", SHELL}};

bool login_changes(const struct login_request *r, struct str name)
{
	return strs_variable(&r->set, name) || strs_has(&r->unset, name);
}

static struct err *read_file(struct login_work *w, struct str path, struct login_file *ret)
{
	struct stat st;
	*ret = (struct login_file){.path = path, .mode = 0644};
	if (!fs_present(path))
		return NULL;
	if (fs_is_link(path) && !fs_real(w->a, path, &ret->path))
		return err_new(E_PERM, "'%.*s' is a link that leads nowhere", STR(path));
	TRY(fs_lstat(ret->path, &st));
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink > 1)
		return err_hint(err_new(E_PERM, "'%.*s' is not a plain file of this user's own",
					STR(ret->path)),
			"change it yourself: the finding says what helps");
	TRY(fs_read(w->a, ret->path, FILE_MAX, &ret->old));
	if (memchr(ret->old.p, 0, ret->old.n))
		return err_new(E_SYNTAX, "'%.*s' is no text", STR(ret->path));
	ret->was = true;
	ret->mode = st.st_mode & 0777;
	return NULL;
}

static void note_change(struct login_work *w, struct login_file f, struct str text, bool stays)
{
	f.text = text;
	f.stays = stays;
	if (f.was != f.stays || !str_eq(f.old, f.text))
		*VEC_PUSH(w->a, w->files) = f;
}

/* ---- our own files ---- */

static void put_variable(struct buf *sh, struct buf *conf, struct str word, struct str id)
{
	buf_fmt(sh, "export %.*s # %.*s\n", STR(word), STR(id));
	buf_fmt(conf, "%.*s\n", STR(word));
}

/* Rewrites env.sh and rocsmith.conf. A variable has one line, so setting or unsetting it drops that of an earlier
 * fix. */
static struct err *change_own_files(struct login_work *w, struct str conf_path)
{
	const struct login_request *r = w->r;
	struct login_file sh, conf;
	struct str line, word, id, name, value;
	BUF(b, w->a);
	BUF(c, w->a);
	TRY(read_file(w, w->ours, &sh));
	TRY(read_file(w, conf_path, &conf));
	buf_add(&b, S(HEAD));
	buf_add(&c, S(HEAD));
	for (struct str rest = sh.old; str_next(&rest, '\n', &line);) {
		if (str_starts(line, S("#")))
			continue;
		bool good = str_cut(line, '#', &word, &id) && str_starts(word, S("export "));
		word = str_trim(str_sub(word, 7, word.n));
		id = str_trim(id);
		if (!good || !str_cut(word, '=', &name, &value) || !id.n)
			return err_hint(err_new(E_SYNTAX,
						"'%.*s' has a line that is not rocsmith's: '%.*s'",
						STR(sh.path), STR(line)),
				"move it to a start-up file of yours");
		if (r->undo ? str_eq(id, r->id) : login_changes(r, name))
			continue;
		put_variable(&b, &c, word, id);
		w->sets = true;
	}
	for (size_t i = 0; i < r->set.n && !r->undo; i++) {
		word = r->set.v[i];
		if (!str_cut(word, '=', &name, &value) || !name.n || !value.n ||
			str_shell(w->a, word).n != word.n)
			return err_new(
				E_USAGE, "'%.*s' cannot be set in a start-up file", STR(word));
		put_variable(&b, &c, word, r->id);
		w->sets = true;
	}
	note_change(w, sh, w->sets ? buf_str(&b) : S(""), w->sets);
	note_change(w, conf, w->sets ? buf_str(&c) : S(""), w->sets);
	return NULL;
}

/* ---- files of the user's ---- */

/* Is the text one word of the shell, followed by at most a comment? */
static bool is_one_word(struct str s)
{
	size_t i = 0;
	while (i < s.n && !memchr(" \t;&|()<>`\\", s.p[i], 11)) {
		char quote = s.p[i++];
		if (quote != '\'' && quote != '"')
			continue;
		size_t end = i + str_chr(str_sub(s, i, s.n), quote);
		if (end >= s.n || str_chr(str_sub(s, i, end), '\\') < end - i ||
			str_chr(str_sub(s, i, end), '`') < end - i)
			return false;
		i = end + 1;
	}
	s = str_trim(str_sub(s, i, s.n));
	return !s.n || s.p[0] == '#';
}

/* Does the line contain NAME= as a word? */
static bool assigns(struct str line, struct str name)
{
	for (size_t from = 0, at; from < line.n; from = at + 1) {
		at = from + str_find(str_sub(line, from, line.n), name);
		size_t behind = at + name.n;
		if (behind < line.n && line.p[behind] == '=' &&
			(!at || !ascii_word(line.p[at - 1])))
			return true;
	}
	return false;
}

/* Sets *ret if the line does nothing but set a variable that is to be unset. A line that sets it in a more complex
 * way, or is part of a longer command (multi), is an error. */
static struct err *must_go(
	struct login_work *w, struct str path, struct str line, bool multi, bool *ret)
{
	static const struct str words[] = {
		S_INIT("export "), S_INIT("declare -x "), S_INIT("typeset -x "), S_INIT("")};
	struct str key, value;
	line = str_trim(line);
	if (w->r->undo || str_starts(line, S("#")) || str_starts(line, S(": # " MARK)))
		return NULL;
	VEC_EACH (const struct str, name, &w->r->unset) {
		bool yes = false;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (!str_starts(line, words[i]))
				continue;
			struct str rest = str_trim(str_sub(line, words[i].n, line.n));
			bool exported = words[i].n && str_eq(rest, *name);
			yes = yes || exported ||
			      (str_cut(rest, '=', &key, &value) && str_eq(key, *name) &&
				      is_one_word(value));
		}
		if (yes ? multi : assigns(line, *name))
			return err_hint(
				err_new(E_SYNTAX,
					"'%.*s' sets %.*s in a way that is not understood: '%.*s'",
					STR(path), STR(*name), STR(line)),
				"change that line yourself; nothing was changed");
		*ret = *ret || yes;
	}
	return NULL;
}

/* Disables lines of the text, or enables them again. */
static struct err *change_lines(
	struct login_work *w, const struct login_file *f, bool shell, struct str *text)
{
	BUF(b, w->a);
	/* `: ` is a command: a shell block with only comments would be a syntax error */
	struct str mark = str_fmt(w->a, "%s" MARK "%.*s: ", shell ? ": # " : "# ", STR(w->r->id));
	/* lines after "<<" or a continuation must not be changed */
	bool here = false, goes_on = false;
	for (struct str rest = *text; rest.n;) {
		struct str line = str_sub(rest, 0, str_chr(rest, '\n'));
		size_t lead = str_span(line, " \t");
		bool off = false;
		struct str body = str_sub(line, lead, line.n);
		TRY(must_go(w, f->path, line, here || goes_on, &off));
		buf_add(&b, str_sub(line, 0, lead));
		if (off)
			buf_add(&b, mark);
		if (w->r->undo && str_starts(body, mark))
			body = str_sub(body, mark.n, body.n);
		buf_add(&b, body);
		here = here || (shell && str_contains(line, S("<<")));
		goes_on = str_ends(line, S("\\"));
		rest = str_sub(rest, line.n, rest.n);
		buf_add(&b, str_sub(rest, 0, 1));
		rest = str_sub(rest, 1, rest.n);
	}
	*text = buf_str(&b);
	return NULL;
}

static struct err *change_file(struct login_work *w, struct str file, unsigned how)
{
	struct login_file f;
	TRY(read_file(w, file, &f));
	if (!f.was && !(how & MAY_COME && w->sets))
		return NULL;
	struct str text = f.old, path = str_shell(w->a, w->ours);
	TRY(change_lines(w, &f, how & SHELL, &text));
	if (how & READS_OURS) {
		/* our block stands at the beginning */
		struct str block = str_fmt(w->a, "%s" BEGIN "if [ -r %.*s ]; then . %.*s; fi\n" END,
			!f.was || str_starts(text, S(MADE)) ? MADE : "", STR(path), STR(path));
		bool has = str_starts(text, block);
		if (!has && str_contains(text, S(BEGIN)))
			return err_hint(err_new(E_SYNTAX,
						"'%.*s' has a block of rocsmith's that is not as "
						"it was made",
						STR(f.path)),
				"remove it, from '>>> rocsmith' to '<<< rocsmith'");
		if (has && !w->sets)
			text = str_sub(text, block.n, text.n);
		else if (!has && w->sets)
			text = str_fmt(w->a, "%.*s%.*s", STR(block), STR(text));
	}
	note_change(w, f, text, text.n || !str_starts(f.old, S(MADE)));
	return NULL;
}

struct err *login_plan(struct arena *a, const struct login_request *r, struct login_files *ret)
{
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	struct login_work w = {.a = a, .r = r, .files = ret};
	struct strs names = {0};
	*ret = (struct login_files){0};
	if (!home || *home != '/')
		return err_new(E_NOENT, "HOME does not say where your start-up files are");
	struct str dir = str_from(home);
	(void)fs_real(a, dir, &dir);
	struct str user =
		config && *config == '/' ? str_from(config) : path_join(a, dir, S(".config"));
	struct str sessions = path_join(a, user, S("environment.d")), ours = S("rocsmith.conf");
	w.ours = fs_place(a, FS_CONFIG, S("env.sh"));
	TRY_CTX(fs_check_own(dir), "cannot change start-up files in '%.*s'", STR(dir));
	TRY_CTX(fs_check_way(dir), "cannot change start-up files in '%.*s'", STR(dir));
	TRY_CTX(fs_check_way(sessions), "cannot change start-up files in '%.*s'", STR(sessions));
	TRY(fs_place_check(FS_CONFIG));
	TRY(change_own_files(&w, path_join(a, sessions, ours)));
	for (size_t i = 0; i < sizeof(startup) / sizeof(startup[0]); i++)
		TRY(change_file(&w, path_join(a, dir, str_from(startup[i].name)), startup[i].how));
	if (fs_is_dir(sessions))
		TRY(fs_list(a, sessions, &names));
	VEC_EACH (const struct str, name, &names)
		if (str_ends(*name, S(".conf")) && !str_eq(*name, ours))
			TRY(change_file(&w, path_join(a, sessions, *name), 0));
	return NULL;
}

struct err *login_apply(const struct login_files *files)
{
	VEC_EACH (const struct login_file, f, files) {
		ARENA(tmp);
		struct str now = S("");
		if (f->was)
			TRY(fs_read(&tmp, f->path, FILE_MAX, &now));
		if (!str_eq(now, f->old) || (!f->was && fs_present(f->path)))
			return err_new(E_IO, "'%.*s' was changed meanwhile", STR(f->path));
		if (!f->stays) {
			TRY(fs_remove(f->path));
			continue;
		}
		TRY(fs_mkdirs(path_dir(f->path)));
		TRY(fs_write(f->path, f->text, f->was ? f->mode | FS_EXACT : f->mode));
	}
	return NULL;
}
