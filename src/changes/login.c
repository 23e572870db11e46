/* Sets and unsets variables of a user's sessions; see login.h. */
#include "changes/login.h"

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

struct login_entry {
	struct str name, value, id;
};

struct login_work {
	struct arena *a;
	const struct login_request *r;
	struct str home, config, ours; /* ours: env.sh */
	VEC(struct login_entry) entries;
	struct login_files *files;
};

/* READS_OURS: the file gets our block. MAY_COME: it is created for that if it does not exist. */
enum { READS_OURS = 1, MAY_COME = 2 };
static const struct {
	const char *name;
	unsigned how;
} startup[] = {{".profile", READS_OURS | MAY_COME}, {".bash_profile", READS_OURS},
	{".bash_login", READS_OURS}, {".zprofile", READS_OURS}, {".bashrc", 0}, {".zshenv", 0},
	{".zshrc", 0}};

/* ---- files ---- */

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

static struct err *read_entries(struct login_work *w, const struct login_file *f)
{
	struct str rest = f->old, line, word;
	while (str_next(&rest, '\n', &line)) {
		struct login_entry e;
		if (str_starts(line, S("#")))
			continue;
		bool good = str_starts(line, S("export ")) && str_cut(line, '#', &word, &e.id) &&
			    str_cut(str_trim(str_sub(word, 7, word.n)), '=', &e.name, &e.value);
		e.id = str_trim(e.id);
		if (!good || !e.id.n)
			return err_hint(err_new(E_SYNTAX,
						"'%.*s' has a line that is not rocsmith's: '%.*s'",
						STR(f->path), STR(line)),
				"move it to a start-up file of yours");
		*VEC_PUSH(w->a, &w->entries) = e;
	}
	return NULL;
}

/* Changes the entries as requested. A variable has one entry, so setting or unsetting it drops that of an earlier
 * fix. */
static struct err *change_entries(struct login_work *w)
{
	struct login_entry *to = w->entries.v;
	VEC_EACH (struct login_entry, e, &w->entries) {
		bool gone = w->r->undo ? str_eq(e->id, w->r->id) : strs_has(&w->r->unset, e->name);
		for (size_t i = 0; i < w->r->set.n && !w->r->undo; i++)
			gone = gone ||
			       str_starts(w->r->set.v[i], str_fmt(w->a, "%.*s=", STR(e->name)));
		if (!gone)
			*to++ = *e;
	}
	w->entries.n = w->entries.n ? (size_t)(to - w->entries.v) : 0;
	for (size_t i = 0; i < w->r->set.n && !w->r->undo; i++) {
		struct login_entry *e = VEC_PUSH(w->a, &w->entries);
		e->id = w->r->id;
		struct str word = w->r->set.v[i];
		bool good = str_cut(word, '=', &e->name, &e->value) && e->name.n && e->value.n;
		if (!good || str_shell(w->a, word).n != word.n)
			return err_new(E_USAGE, "'%.*s' cannot be set in a start-up file",
				STR(w->r->set.v[i]));
	}
	return NULL;
}

static struct err *own_files(struct login_work *w)
{
	struct login_file sh, conf;
	BUF(b, w->a);
	BUF(c, w->a);
	TRY(read_file(w, w->ours, &sh));
	TRY(read_file(w, path_join(w->a, w->config, S("environment.d/rocsmith.conf")), &conf));
	TRY(read_entries(w, &sh));
	TRY(change_entries(w));
	buf_add(&b, S(HEAD));
	buf_add(&c, S(HEAD));
	VEC_EACH (struct login_entry, e, &w->entries) {
		buf_fmt(&b, "export %.*s=%.*s # %.*s\n", STR(e->name), STR(e->value), STR(e->id));
		buf_fmt(&c, "%.*s=%.*s\n", STR(e->name), STR(e->value));
	}
	bool any = w->entries.n > 0;
	note_change(w, sh, any ? buf_str(&b) : S(""), any);
	note_change(w, conf, any ? buf_str(&c) : S(""), any);
	return NULL;
}

/* ---- lines of the user's ---- */

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
			(!at || !(ascii_alnum(line.p[at - 1]) || line.p[at - 1] == '_')))
			return true;
	}
	return false;
}

/* Does the line set the variable and do nothing else? *odd: it sets it in a more complex way, so that the line cannot
 * be disabled. */
static bool sets(struct str line, struct str name, bool *odd)
{
	static const struct str words[] = {
		S_INIT("export "), S_INIT("declare -x "), S_INIT("typeset -x "), S_INIT("")};
	line = str_trim(line);
	*odd = false;
	if (str_starts(line, S("#")) || str_starts(line, S(": # " MARK)))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!str_starts(line, words[i]))
			continue;
		struct str rest = str_trim(str_sub(line, words[i].n, line.n)), key, value;
		if (words[i].n && str_eq(rest, name))
			return true;
		if (str_cut(rest, '=', &key, &value) && str_eq(key, name) && is_one_word(value))
			return true;
	}
	*odd = assigns(line, name);
	return false;
}

static struct err *switch_off(
	struct login_work *w, const struct login_file *f, struct str line, bool multi, bool *ret)
{
	VEC_EACH (const struct str, name, &w->r->unset) {
		bool odd, yes = sets(line, *name, &odd);
		if (odd || (yes && multi))
			return err_hint(
				err_new(E_SYNTAX,
					"'%.*s' sets %.*s in a way that is not understood: '%.*s'",
					STR(f->path), STR(*name), STR(str_trim(line))),
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
	struct str rest = *text,
		   mark = str_fmt(w->a, "%s" MARK "%.*s: ", shell ? ": # " : "# ", STR(w->r->id));
	bool here = false,
	     goes_on = false; /* lines after "<<" or a continuation must not be changed */
	while (rest.n) {
		struct str line = str_sub(rest, 0, str_chr(rest, '\n'));
		size_t lead = 0;
		bool off = false;
		while (lead < line.n && (line.p[lead] == ' ' || line.p[lead] == '\t'))
			lead++;
		struct str body = str_sub(line, lead, line.n);
		if (!w->r->undo)
			TRY(switch_off(w, f, line, here || goes_on, &off));
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

/* Adds our block at the beginning of the text, or removes it. */
static struct err *change_block(
	struct login_work *w, const struct login_file *f, bool wanted, struct str *text)
{
	struct str path = str_shell(w->a, w->ours);
	struct str block = str_fmt(w->a, "%s" BEGIN "if [ -r %.*s ]; then . %.*s; fi\n" END,
		!f->was || str_starts(*text, S(MADE)) ? MADE : "", STR(path), STR(path));
	bool has = str_starts(*text, block);
	if (!has && str_contains(*text, S(BEGIN)))
		return err_hint(
			err_new(E_SYNTAX,
				"'%.*s' has a block of rocsmith's that is not as it was made",
				STR(f->path)),
			"remove it, from '>>> rocsmith' to '<<< rocsmith'");
	if (has && !wanted)
		*text = str_sub(*text, block.n, text->n);
	else if (!has && wanted)
		*text = str_fmt(w->a, "%.*s%.*s", STR(block), STR(*text));
	return NULL;
}

static struct err *startup_file(struct login_work *w, const char *name, unsigned how)
{
	struct login_file f;
	TRY(read_file(w, path_join(w->a, w->home, str_from(name)), &f));
	bool comes = how & MAY_COME && w->entries.n;
	if (!f.was && !comes)
		return NULL;
	struct str text = f.old;
	TRY(change_lines(w, &f, true, &text));
	if (how & READS_OURS)
		TRY(change_block(w, &f, w->entries.n > 0, &text));
	note_change(w, f, text, text.n || !str_starts(f.old, S(MADE)));
	return NULL;
}

static struct err *conf_files(struct login_work *w)
{
	struct strs names = {0};
	struct str dir = path_join(w->a, w->config, S("environment.d"));
	if (fs_is_dir(dir))
		TRY(fs_list(w->a, dir, &names));
	VEC_EACH (const struct str, name, &names) {
		struct login_file f;
		if (!str_ends(*name, S(".conf")) || str_eq(*name, S("rocsmith.conf")))
			continue;
		TRY(read_file(w, path_join(w->a, dir, *name), &f));
		struct str text = f.old;
		TRY(change_lines(w, &f, false, &text));
		note_change(w, f, text, true);
	}
	return NULL;
}

struct err *login_plan(struct arena *a, const struct login_request *r, struct login_files *ret)
{
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	*ret = (struct login_files){0};
	if (!home || *home != '/')
		return err_new(E_NOENT, "HOME does not say where your start-up files are");
	struct login_work w = {.a = a, .r = r, .files = ret, .home = str_from(home)};
	(void)fs_real(a, w.home, &w.home);
	w.config = config && *config == '/' ? str_from(config) : path_join(a, w.home, S(".config"));
	w.ours = fs_place(a, FS_CONFIG, S("env.sh"));
	TRY_CTX(fs_check_own(w.home, false), "cannot change start-up files in '%.*s'", STR(w.home));
	TRY(fs_place_check(FS_CONFIG));
	TRY(own_files(&w));
	for (size_t i = 0; i < sizeof(startup) / sizeof(startup[0]); i++)
		TRY(startup_file(&w, startup[i].name, startup[i].how));
	return conf_files(&w);
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
