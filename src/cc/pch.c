/* Precompiled headers: which compile may have which, when they are made, and how they are kept; see
 * cc_int.h. That a source begins with the headers of a set is seen in begins.c. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/vec.h"
#include "cc/cc_int.h"
#include "formats/depfile.h"
#include "lang/cxx/lexer.h"

enum {
	PAYS = 3,    /* the compile of a group before which its headers are precompiled */
	STRIKES = 3, /* compiles that it broke, until it is given up */
	MAX_COUNT = 1 << 16,
	MAX_TEXT = 64 << 20,
};

/* ---- which command lines ---- */

/* Of these, nothing reaches a header: names of outputs with their value, and what has none. */
static const char *const outputs[] = {"-o", "-MF", "-MT", "-MQ", NULL};
static const char *const silent[] = {"-c", "-MD", "-MMD", "-MP", NULL};
/* Beginnings of what would have to be understood first: other languages and outputs, other files that
 * come before the source, debug information (it names the header), counters of every line. */
static const char *const doubtful[] = {"@", "-x", "-include", "-imacros", "-fmodule", "-fpch",
	"-save-temps", "--save-temps", "-g", "--coverage", "-fprofile", "-fcoverage", "-emit-",
	"-S", "-Wp,", "-Xclang", "-Xpreprocessor", "-ivfsoverlay", "-working-directory", "-MG",
	"--offload", NULL};

static bool is_doubtful(struct str word)
{
	for (size_t i = 0; doubtful[i]; i++)
		if (str_starts(word, str_from(doubtful[i])))
			return true;
	return false;
}

/* What decides how the headers of a command line are compiled goes to ret_words, folders of -I and
 * -isystem to ret_dirs. False: no precompiled header for this one. */
static bool take_apart(struct arena *a, const struct strs *args, struct strs *ret_words,
	struct strs *ret_dirs, unsigned *ret_sources)
{
	bool compiles = false, depends = false, names_depfile = false;
	*ret_sources = 0;
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i], value = i + 1 < args->n ? args->v[i + 1] : S("");
		if (is_doubtful(word))
			return false;
		compiles |= str_eq(word, S("-c"));
		depends |= str_eq(word, S("-MD")) || str_eq(word, S("-MMD"));
		names_depfile |= str_eq(word, S("-MF"));
		bool takes = cc_takes_value(word);
		if (str_eq(word, S("-I")) || str_eq(word, S("-isystem")))
			strs_add(a, ret_dirs, value);
		else if (str_starts(word, S("-I")))
			strs_add(a, ret_dirs, str_sub(word, 2, word.n));
		if (word.n && word.p[0] != '-')
			*ret_sources += 1;
		else if (!str_is_one_of(word, outputs) && !str_is_one_of(word, silent)) {
			strs_add(a, ret_words, word);
			if (takes)
				strs_add(a, ret_words, value);
		}
		i += takes;
	}
	return compiles && *ret_sources == 1 && (!depends || names_depfile);
}

/* ---- a group: a set and all command lines that compile its headers alike ---- */
static struct str file_of(struct arena *a, const struct pch *p, const char *name)
{
	return path_join(a, p->dir, str_from(name));
}

static struct str text_of_group(struct arena *a, const struct cc *cc,
	const struct cc_config *config, const struct strs *words)
{
	static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
		"CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH", NULL};
	const struct strs *lists[] = {
		&config->flags, &config->host_flags, &config->compile_flags, words};
	struct str program =
		str_fmt(a, "%.*s/.rocsmith/programs/%.*s", STR(cc->dir), STR(cc->name));
	BUF(b, a);
	buf_fmt(&b, "%s\n%.*s %.*s\n%.*s\n%.*s\n", ROCSMITH_VERSION, STR(program),
		STR(fs_state(a, program)), STR(config->library_path), STR(path_abs(a, S("."))));
	for (size_t i = 0; variables[i]; i++)
		buf_fmt(&b, "%s\n", getenv(variables[i]) ? getenv(variables[i]) : "");
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		VEC_EACH (const struct str, word, lists[i])
			buf_fmt(&b, "%.*s\n", STR(*word));
	return buf_str(&b);
}

/* Whether all headers are as they were, in a few characters. */
static struct str state_of(struct arena *a, const struct strs *headers)
{
	ARENA(tmp);
	BUF(b, &tmp);
	VEC_EACH (const struct str, path, headers)
		buf_fmt(&b, "%.*s\n", STR(fs_state(&tmp, *path)));
	return sha256_hex(a, buf_str(&b));
}

/* What the file "made" says: the state of the headers, then their names. */
static struct err *headers_of(
	struct arena *a, const struct pch *p, struct strs *ret, struct str *ret_state)
{
	struct str text;
	*ret = (struct strs){0};
	*ret_state = S("");
	TRY(fs_read_opt(a, file_of(a, p, "made"), MAX_TEXT, &text));
	if (str_next(&text, '\n', ret_state))
		*ret = str_split(a, str_trim(text), '\n');
	return NULL;
}

static bool is_current(const struct pch *p)
{
	ARENA(tmp);
	struct strs headers;
	struct str state;
	err_free(headers_of(&tmp, p, &headers, &state));
	return state.n && str_eq(state, state_of(&tmp, &headers));
}

/* A file to which each adds a character. */
static struct err *count_up(struct arena *a, const struct pch *p, const char *name)
{
	TRY(fs_mkdirs(p->dir));
	return fs_append(file_of(a, p, name), S("."));
}

static uint64_t count_of(struct arena *a, const struct pch *p, const char *name)
{
	struct stat st;
	return fs_try_stat(file_of(a, p, name), &st) ? (uint64_t)st.st_size : 0;
}

/* Looks whether it is there; what is out of date begins anew, also with its counting. */
static struct err *open_group(struct arena *a, struct pch *p)
{
	struct str text = {0};
	p->file = S("");
	p->words = (struct pch_words){0};
	if (!fs_exists(file_of(a, p, "made")))
		return NULL;
	if (!is_current(p)) {
		TRY(fs_remove(file_of(a, p, "seen")));
		return fs_remove(file_of(a, p, "made"));
	}
	TRY(fs_read(a, file_of(a, p, "words"), MAX_TEXT, &text));
	p->words.n = text.n / sizeof(*p->words.v);
	p->words.v = arena_raw(a, text.n + 1);
	memcpy(p->words.v, text.p, p->words.n * sizeof(*p->words.v));
	p->file = file_of(a, p, "all.pch");
	return NULL;
}

static struct err *look(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct pch *ret)
{
	struct cc_words w = cc_words(cc->name, args, config->sysroot);
	struct strs words = {0}, dirs = {0};
	unsigned sources;
	if (!config->precompile.n || w.kind != CC_CXX || !w.driver || w.links ||
		!take_apart(a, args, &words, &dirs, &sources))
		return NULL;
	struct str group = text_of_group(a, cc, config, &words);
	MAP(named, a);
	pch_named(w.input, &dirs, &named);
	VEC_EACH (const struct str, set, &config->precompile) {
		struct str key = sha256_hex(a, str_fmt(a, "%.*s\n%.*s", STR(*set), STR(group)));
		struct pch p = {.set = str_split(a, *set, ' '), .lock = -1};
		bool all = true;
		VEC_EACH (const struct str, header, &p.set)
			all = all && map_get(&named, *header);
		if (!all)
			continue;
		p.dir = str_fmt(a, "%.*s/.rocsmith/pch/%.16s", STR(cc->dir), key.p);
		if (count_of(a, &p, "strikes") >= STRIKES)
			continue;
		TRY(open_group(a, &p));
		if (!pch_begins(w.input, &p.set, &dirs, p.file.n ? &p.words : NULL))
			continue;
		p.flags = words;
		*ret = p;
		return p.file.n ? NULL : count_up(a, &p, "seen");
	}
	return NULL;
}

struct err *pch_look(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct pch *ret)
{
	*ret = (struct pch){.lock = -1};
	TRY(look(a, cc, config, args, ret));
	if (!ret->dir.n || ret->file.n || count_of(a, ret, "seen") < PAYS)
		return NULL;
	struct err *e = fs_lock(file_of(a, ret, "lock"), false, &ret->lock);
	bool other = e && e->code == E_LOCKED; /* it makes them; meanwhile we compile plainly */
	if (other) {
		err_free(e);
		return NULL;
	}
	if (!e)
		e = open_group(a, ret); /* it may have been made just now */
	ret->due = !e && !ret->file.n;
	return e;
}

/* ---- making it ---- */
struct err *pch_command(struct arena *a, const struct pch *p, struct strs *ret_args)
{
	BUF(b, a);
	struct str header = file_of(a, p, "headers"), made = file_of(a, p, "new.pch");
	VEC_EACH (const struct str, h, &p->set)
		buf_fmt(&b, "#include <%.*s>\n", STR(*h));
	TRY(fs_write_if_changed(header, buf_str(&b), 0644));
	*ret_args = (struct strs){0};
	strs_add_all(a, ret_args, &p->flags);
	struct str more[] = {S("-x"), S("c++-header"), header, S("-o"), made, S("-MD"), S("-MF"),
		file_of(a, p, "new.d"), S("-MT"), S("all.pch")};
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		strs_add(a, ret_args, more[i]);
	return NULL;
}

static void add_word(struct arena *a, struct map *seen, struct pch_words *words, struct str word)
{
	if (!map_put(seen, word, seen))
		return;
	*VEC_PUSH(a, words) = str_hash(word);
}

/* All names in the text that a macro could stand for. */
static struct err *add_names(
	struct arena *a, struct map *seen, struct pch_words *words, struct str path)
{
	struct str text;
	struct tok t;
	TRY(fs_read(a, path, MAX_TEXT, &text));
	struct lex l = lex_new(text, path);
	l.lenient = true;
	while (lex_try(&l, &t) && t.kind != TOK_END)
		if (t.kind == TOK_IDENT && !str_eq(l.directive, S("error")))
			add_word(a, seen, words, tok_text(&l, &t));
	return NULL;
}

/* A header is known by its whole path, and by each end of it that an #include may say. */
static void add_path(struct arena *a, struct map *seen, struct pch_words *words, struct str path)
{
	add_word(a, seen, words, str_fmt(a, "/%.*s", STR(path)));
	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/')
			add_word(a, seen, words, str_sub(path, i, path.n));
}

/* clang has written it; what is to be known of it is written, and in the end "made". */
static struct err *keep(struct arena *a, const struct pch *p)
{
	struct str text;
	struct strs headers;
	struct pch_words words = {0};
	MAP(seen, a);
	TRY(fs_read(a, file_of(a, p, "new.d"), MAX_TEXT, &text));
	depfile_parse(a, text, &headers);
	VEC_EACH (const struct str, path, &headers) {
		for (size_t i = 0; i < path->n; i++) /* what a make rule would have to quote */
			if (str_chr(S(" #$\\\n"), path->p[i]) < 5)
				return err_new(
					E_LIMIT, "no dependency file names '%.*s'", STR(*path));
		TRY(add_names(a, &seen, &words, *path));
		add_path(a, &seen, &words, *path);
	}
	pch_sort(&words);
	text = (struct str){.p = (const char *)words.v, .n = words.n * sizeof(*words.v)};
	TRY(fs_write(file_of(a, p, "words"), text, 0644));
	TRY(fs_rename(file_of(a, p, "new.pch"), file_of(a, p, "all.pch")));
	text = str_fmt(
		a, "%.*s\n%.*s\n", STR(state_of(a, &headers)), STR(str_join(a, &headers, S("\n"))));
	return fs_write(file_of(a, p, "made"), text, 0644);
}

struct err *pch_made(struct arena *a, struct pch *p, bool good)
{
	struct err *e = good ? keep(a, p) : NULL;
	/* what cannot be made once cannot be made: no second try */
	for (unsigned i = 0; (e || !good) && i < STRIKES; i++)
		e = err_join(e, count_up(a, p, "strikes"));
	if (!e && good)
		e = open_group(a, p);
	fd_closep(&p->lock);
	p->due = false;
	return e;
}

struct err *pch_failed(struct arena *a, const struct pch *p)
{
	return count_up(a, p, "strikes");
}

/* ---- the compile that has it ---- */

/* clang names the headers, but for those that are only asked for (__has_include), and ours, of which
 * nothing may depend. */
struct err *pch_depfile(struct arena *a, const struct pch *p, const struct strs *args)
{
	struct str text, path = S(""), own = file_of(a, p, "headers");
	struct strs named = {0}, headers;
	MAP(has, a);
	for (size_t i = 0; i + 1 < args->n; i++)
		if (str_eq(args->v[i], S("-MF")))
			path = args->v[i + 1];
	if (!path.n)
		return NULL;
	TRY(fs_read(a, path, MAX_TEXT, &text));
	depfile_parse(a, text, &named);
	size_t at = str_find(text, own);
	if (at >= text.n)
		return NULL;
	BUF(b, a);
	buf_add(&b, str_sub(text, 0, at));
	buf_add(&b, str_trim(str_sub(text, at + own.n, text.n)));
	VEC_EACH (const struct str, n, &named)
		map_put(&has, *n, &has);
	TRY(headers_of(a, p, &headers, &text));
	VEC_EACH (const struct str, h, &headers)
		if (!map_get(&has, *h))
			buf_fmt(&b, " \\\n  %.*s", STR(*h));
	buf_char(&b, '\n');
	return fs_write(path, buf_str(&b), 0644);
}
