/* Finds what a pass would make in a cache of objects; see cached.h. */
#include "cc/cached.h"

#include <time.h>

#include "base/fs.h"
#include "cc/cc_int.h"

enum { MAX_COMMANDS = 8 };

int64_t cached_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool cached_is_younger(const struct stat *st, int64_t began)
{
	return (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec >= began;
}

bool cached_same(const struct strs *files)
{
	bool same = files->n > 0;
	ARENA(tmp);
	VEC_EACH (const struct str, line, files) {
		struct str state, path;
		same = same && str_cut(*line, ' ', &state, &path) &&
		       str_eq(state, fs_exact_state(&tmp, path));
	}
	return same;
}

/* Folders of this build become marks; or back. */
static struct str exchange(struct arena *a, const struct cached_pass *p, struct str text, bool back)
{
	VEC_EACH (const struct cached_root, r, &p->roots) {
		struct str mark = str_fmt(a, "@{%s}", r->mark);
		if (r->dir.n > 1)
			text = str_replace(a, text, back ? mark : r->dir, back ? r->dir : mark);
	}
	return text;
}

void cached_read(struct arena *a, struct str text, struct str cwd, struct strs *ret)
{
	struct str line, name, rest;
	bool source = true; /* the first line names it */
	for (; str_next(&text, '\n', &line); source = false) {
		/* '# 1 "NAME" 1 3': the first flag is 1 where a file begins, which no #line can say */
		if (!str_starts(line, S("# 1 \"")))
			continue;
		line = str_sub(line, 5, line.n);
		name = str_sub(line, 0, str_chr(line, '"'));
		rest = str_sub(line, name.n, line.n);
		bool file = !str_starts(name, S("<")) && !str_contains(name, S("\\"));
		if (file && (source || str_starts(rest, S("\" 1"))))
			strs_put(a, ret, path_clean(a, path_join(a, cwd, name)));
	}
}

/* ---- the commands of a pass ---- */

/* Adds the words of the compiler proper. Those that only decide the text are in it already. */
static bool add_cc1(struct arena *a, const struct strs *w, struct cached_pass *p)
{
	const struct clang_words *known = clang_words_table();
	static const char *const files[] = {
		"-mlink-builtin-bitcode", "-fcuda-include-gpubinary", NULL};
	const struct str map = S("-fmacro-prefix-map="); /* a part of -ffile-prefix-map */
	struct str from, to;
	for (size_t i = 1; i < w->n; i++) {
		struct str word = w->v[i], value = i + 1 < w->n ? w->v[i + 1] : S("");
		if (str_starts_one_of(word, known->of_text_begins))
			continue;
		if (str_is_one_of(word, known->of_text)) {
			i++;
			continue;
		}
		strs_add(a, &p->words, word);
		if (str_is_one_of(word, files)) {
			strs_add(a, &p->others, value);
			i++;
		}
		if (str_eq(word, S("-mllvm")) && str_chr(value, '/') < value.n)
			return false; /* it may read a file */
		if (str_starts(word, map) &&
			str_cut(str_sub(word, map.n, word.n), '=', &from, &to)) {
			while (from.n && from.p[from.n - 1] == '/')
				from.n--;
			*VEC_PUSH(a, &p->roots) = (struct cached_root){
				.mark = str_fmt(a, "%zu", p->roots.n).p, .dir = from};
		}
	}
	return true;
}

static int longer_first(const void *x, const void *y)
{
	const struct cached_root *a = x, *b = y;
	return (a->dir.n < b->dir.n) - (a->dir.n > b->dir.n);
}

bool cached_commands(
	struct arena *a, const struct strs *homes, struct str said, struct cached_pass *p)
{
	static const char *const linkers[] = {"lld", "ld.lld", NULL};
	struct str line;
	unsigned n = 0;
	while (str_next(&said, '\n', &line)) {
		struct strs w = {0};
		bool home = false;
		if (!str_starts(line, S(" \"")))
			continue;
		if (n++ == MAX_COMMANDS || !front_shown_words(a, line, &w))
			return false;
		VEC_EACH (const struct str, dir, homes)
			home |= path_is_below(w.v[0], *dir);
		bool links = str_is_one_of(path_base(w.v[0]), linkers);
		if (!home || (!links && !str_eq(w.v[1], S("-cc1"))))
			return false;
		strs_add(a, &p->words, S("--"));
		if (!links && !add_cc1(a, &w, p))
			return false;
		for (size_t i = 1; links && i < w.n; i++) { /* files have random names */
			if (str_eq(w.v[i], S("-o")))
				i++;
			else if (str_starts(w.v[i], S("-")))
				strs_add(a, &p->words, w.v[i]);
		}
	}
	VEC_SORT(&p->roots, longer_first);
	return n > 0;
}

/* ---- the key ---- */
static struct err *hash_files(struct hash *h, const struct strs *files)
{
	struct digest d;
	VEC_EACH (const struct str, path, files) {
		TRY(hash_file(HASH_SHA256, *path, &d));
		hash_add(h, d.b, d.n);
	}
	return NULL;
}

/* Does the text make the assembler read a file? */
static bool reads_more(struct str text)
{
	const struct str include = S(".include");
	if (str_contains(text, S(".incbin")))
		return true;
	for (size_t at; (at = str_find(text, include)) < text.n;) {
		text = str_sub(text, at + include.n, text.n);
		if (text.n && str_chr(S(" \t\\\""), text.p[0]) < 4)
			return true;
	}
	return false;
}

/* Is the compiler what it was when the build began? Somebody may have replaced it since. */
static bool has_compiler(const struct cached_pass *p)
{
	return !p->programs || cached_same(p->programs);
}

struct err *cached_key(struct arena *tmp, struct cached_pass *p)
{
	/* Folders of this build are hidden in options that only say where something is looked for, and in names of
	 * files. What another option does with a path, nobody here knows. */
	static const char *const places[] = {"-I", "-iquote", "-isystem", "-idirafter",
		"-ffile-prefix-map=", "-fmacro-prefix-map=", NULL};
	struct str rest = p->text, line;
	p->good = false;
	if (reads_more(p->text) || !has_compiler(p))
		return NULL;
	struct hash *h = hash_new(HASH_SHA256);
	hash_word(h, S("pass 2"));
	VEC_EACH (const struct str, w, &p->words) {
		bool place = !str_starts(*w, S("-")) || str_starts_one_of(*w, places);
		hash_word(h, place ? exchange(tmp, p, *w, false) : *w);
	}
	hash_word(h, S("--"));
	struct err *e = hash_files(h, &p->others);
	bool columns = str_contains(p->text, S("__builtin_COLUMN")) ||
		       str_contains(p->text, S("__builtin_source_location"));
	if (!e && columns)
		e = hash_files(h, &p->read);
	while (str_next(&rest, '\n', &line)) { /* line markers say where a line is from */
		ARENA(one);
		hash_word(h, str_starts(line, S("# ")) ? exchange(&one, p, line, false) : line);
	}
	p->key = hash_end(h);
	p->good = e == NULL;
	return e;
}

/* ---- entries ---- */

/* Messages begin with a line that has a hash of the files that they are about. */
static struct err *source_hash(struct arena *a, const struct cached_pass *p, struct str *ret)
{
	struct hash *h = hash_new(HASH_SHA256);
	struct err *e = hash_files(h, &p->read);
	*ret = digest_hex(a, hash_end(h));
	return e;
}

struct err *cached_take(struct arena *tmp, const struct cached_pass *p, struct str part,
	struct str *ret_said, bool *ret_done)
{
	struct cache_entry entry;
	struct str of;
	*ret_said = S("");
	*ret_done = false;
	if (!p->good || !cache_get(tmp, p->cache, &p->key, &entry))
		return NULL;
	struct err *e = NULL;
	bool same = true;
	if (entry.said.n) {
		e = source_hash(tmp, p, &of);
		same = !e && str_cut(entry.said, '\n', &entry.said, ret_said) &&
		       str_eq(entry.said, of);
	}
	if (same)
		e = fs_write(part, entry.object, 0644 | FS_LOOSE);
	fs_unmap(&entry.file);
	*ret_said = exchange(tmp, p, *ret_said, true);
	*ret_done = same && !e;
	return e;
}

void cached_keep(struct arena *tmp, const struct cached_pass *p, struct str part,
	const struct proc_result *run)
{
	struct str object = {0}, of = S(""), said = exchange(tmp, p, run->err, false);
	struct stat st;
	bool changed = !p->good || !has_compiler(p);
	const struct strs *const lists[] = {&p->read, &p->others};
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->n && !changed; i++)
			changed = !fs_try_stat(lists[k]->v[i], &st) ||
				  cached_is_younger(&st, p->began);
	if (changed)
		return;
	struct err *e = fs_map(part, &object);
	if (!e && said.n)
		e = source_hash(tmp, p, &of);
	if (!e) {
		struct cache_entry entry = {
			.said = said.n ? str_fmt(tmp, "%.*s\n%.*s", STR(of), STR(said)) : said,
			.object = object,
			.seconds = run->seconds,
			.cpu = run->cpu,
			.memory = run->memory};
		cache_put(p->cache, &p->key, &entry);
	}
	err_free(e);
	fs_unmap(&object);
}

struct cached_pass cached_copy(struct arena *a, const struct cached_pass *p)
{
	struct cached_pass ret = {.cache = p->cache,
		.programs = p->programs,
		.began = p->began,
		.good = p->good,
		.key = p->key};
	const struct strs *const from[] = {&p->read, &p->others};
	struct strs *const to[] = {&ret.read, &ret.others};
	for (size_t k = 0; k < 2; k++)
		VEC_EACH (const struct str, path, from[k])
			strs_add(a, to[k], str_dup(a, *path));
	VEC_EACH (const struct cached_root, r, &p->roots)
		*VEC_PUSH(a, &ret.roots) = (struct cached_root){
			.mark = str_z(a, str_from(r->mark)), .dir = str_dup(a, r->dir)};
	return ret;
}
