/* Finds, makes and stores the precompiled headers of a compile; see cc_int.h. begins.c decides if a source begins with
 * the headers of a set. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/vec.h"
#include "cc/cc_int.h"
#include "formats/bytes.h"
#include "formats/depfile.h"
#include "lang/cxx/lexer.h"

/* The first line of translated sources that use __shfl_sync() and its like: HIP's headers ask for this macro. */
#define SYNC "HIP_ENABLE_WARP_SYNC_BUILTINS"
#define DEFINES_SYNC "#define " SYNC " 1\n"

enum {
	PAYS = 3,    /* headers are precompiled before the third compile of a group */
	STRIKES = 3, /* a group is given up after breaking this many compiles */
	MAX_TEXT = 64 << 20,
};

/* ---- command lines ---- */

/* Options that do not affect headers: names of outputs, with a value, and options without one. */
static const char *const outputs[] = {"-o", "-MF", "-MT", "-MQ", NULL};
static const char *const silent[] = {"-c", "-MD", "-MMD", "-MP", NULL};

static bool is_off(void)
{
	const char *wish = getenv("ROCSMITH_PRECOMPILE");
	return wish && !strcmp(wish, "off");
}

/* One side of a HIP compile, as compile_passes() makes it. */
static bool is_pass(const struct strs *args)
{
	return strs_has(args, S("--offload-device-only")) ||
	       strs_has(args, S("--offload-host-only"));
}

/* The number of words from i on that only passes of HIP have. *ret_headers: they decide how headers are compiled. */
static size_t words_of_pass(const struct strs *args, size_t i, bool *ret_headers)
{
	static const char *const sides[] = {"--offload-device-only", "--offload-host-only",
		"--no-gpu-bundle-output", "--offload-arch=", NULL};
	struct str word = args->v[i], value = i + 1 < args->n ? args->v[i + 1] : S("");
	*ret_headers = true;
	if (str_starts_one_of(word, sides))
		return 1;
	if (str_eq(word, S("-x")) && str_eq(value, S("hip")))
		return 2;
	static const char *const of_files[] = {
		"-fcuda-include-gpubinary", "-dependency-file", "-MT", NULL};
	*ret_headers = false;
	if (str_starts(word, S("-cuid=")))
		return 1;
	if (!str_eq(word, S("-Xclang")))
		return 0;
	if (str_eq(value, S("-sys-header-deps")))
		return 2;
	return str_is_one_of(value, of_files) && i + 4 <= args->n ? 4 : 0;
}

/* Splits a command line: arguments that affect how its headers are compiled go to ret_words, the folders of -I and
 * -isystem to ret_dirs. *ret_overlay: that which nvcc's face makes for this source, and in which HIP's headers have no part; or "".
 * Returns false if it cannot use precompiled headers. */
static bool split_command(struct arena *a, const struct strs *args, struct strs *ret_words,
	struct strs *ret_dirs, struct str *ret_overlay)
{
	bool compiles = false, depends = false, names_depfile = false;
	unsigned sources = 0;
	bool pass = is_pass(args), headers = false;
	*ret_overlay = S("");
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i], value = i + 1 < args->n ? args->v[i + 1] : S("");
		size_t of_pass = pass ? words_of_pass(args, i, &headers) : 0;
		for (size_t k = 0; k < of_pass && headers; k++)
			strs_add(a, ret_words, args->v[i + k]);
		if (of_pass) {
			i += of_pass - 1;
			continue;
		}
		if (pass && str_eq(word, S("-ivfsoverlay"))) {
			*ret_overlay = value;
			i++;
			continue;
		}
		if (str_starts_one_of(word, clang_words_table()->no_pch_begins))
			return false;
		compiles |= str_eq(word, S("-c"));
		depends |= str_eq(word, S("-MD")) || str_eq(word, S("-MMD"));
		names_depfile |= str_eq(word, S("-MF"));
		if (str_eq(word, S("-I")) || str_eq(word, S("-isystem")))
			strs_add(a, ret_dirs, value);
		else if (str_starts(word, S("-I")))
			strs_add(a, ret_dirs, str_sub(word, 2, word.n));
		if (word.n && word.p[0] != '-')
			sources++;
		else if (!str_is_one_of(word, outputs) && !str_is_one_of(word, silent)) {
			strs_add(a, ret_words, word);
			if (cc_takes_value(word))
				strs_add(a, ret_words, value);
		}
		i += cc_takes_value(word);
	}
	return compiles && sources == 1 && (!depends || names_depfile);
}

/* ---- a group: a set and all command lines that compile its headers alike ---- */
static struct str file_of(struct arena *a, const struct pch *p, const char *name)
{
	return path_join(a, p->dir, str_from(name));
}

/* A hash of the states of all headers: it changes when one of them does. */
static struct str state_of(struct arena *a, const struct strs *headers)
{
	ARENA(tmp);
	BUF(b, &tmp);
	VEC_EACH (const struct str, path, headers)
		buf_fmt(&b, "%.*s\n", STR(fs_state(&tmp, *path)));
	return sha256_hex(a, buf_str(&b));
}

/* Reads the file "made": the state of the headers, then their names. */
static struct err *read_made(
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

/* Counts by appending a character to a file. */
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

/* Opens the precompiled file of a group if there is one. If it is out of date, drops it and restarts the count. */
static struct err *open_group(struct arena *a, struct pch *p)
{
	struct str text = {0}, state;
	struct strs headers;
	p->file = S("");
	p->words = (struct pch_words){0};
	if (!fs_exists(file_of(a, p, "made")))
		return NULL;
	err_free(read_made(a, p, &headers, &state));
	if (!state.n || !str_eq(state, state_of(a, &headers))) {
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

/* The file whose text clang reads for a source: nvcc's face shows a translated one, which begins with hip/hip_runtime.h.
 * *ret_sync: and which defines that macro before. */
static struct str text_of(struct arena *a, struct str source, struct str overlay, bool *ret_sync)
{
	struct overlay_list list = {0};
	struct str path = path_abs(a, source), begin = S("");
	if (overlay.n)
		err_free(overlay_read(a, overlay, &list)); /* without it, clang fails and says so */
	VEC_EACH (const struct overlay_shown, shown, &list.files)
		if (str_eq(shown->path, path))
			source = shown->out;
	err_free(fs_read_head(a, source, sizeof(DEFINES_SYNC) - 1, &begin));
	*ret_sync = str_eq(begin, S(DEFINES_SYNC));
	return source;
}

/* Finds the group of a compile, and counts the compile if there is no file for it yet. */
static struct err *find_group(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct pch *ret)
{
	static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
		"CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH", NULL};
	struct cc_words w = cc_words(cc->name, args, config->sysroot);
	struct strs words = {0}, dirs = {0}, hip = {0};
	struct str overlay;
	bool pass = w.kind == CC_HIP && is_pass(args);
	if ((!pass && (w.kind != CC_CXX || !w.driver)) || is_off() || w.links ||
		!split_command(a, args, &words, &dirs, &overlay))
		return NULL;
	/* another one might show other headers of HIP */
	if (overlay.n && !path_is_below(overlay, path_join(a, cc->dir, S(".rocsmith/cuda"))))
		return NULL;
	bool sync = false;
	struct str source = pass ? text_of(a, w.input, overlay, &sync) : w.input;
	strs_add(a, &hip, S("hip/hip_runtime.h"));
	/* everything that decides how a group compiles its headers */
	const struct strs *lists[] = {
		&config->flags, &config->host_flags, &config->compile_flags, &words};
	struct str program =
		str_fmt(a, "%.*s/.rocsmith/programs/%.*s", STR(cc->dir), STR(cc->name));
	BUF(group, a);
	buf_fmt(&group, "%s\n%.*s %.*s\n%.*s\n%.*s\n", ROCSMITH_VERSION, STR(program),
		STR(fs_state(a, program)), STR(config->library_path), STR(path_abs(a, S("."))));
	for (size_t i = 0; variables[i]; i++)
		buf_fmt(&group, "%s\n", getenv(variables[i]) ? getenv(variables[i]) : "");
	buf_fmt(&group, "%s\n", sync ? SYNC : "");
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		VEC_EACH (const struct str, word, lists[i])
			buf_fmt(&group, "%.*s\n", STR(*word));
	MAP(named, a);
	pch_named(source, &dirs, &named);
	const struct strs *sets = pass ? &hip : &config->precompile;
	VEC_EACH (const struct str, set, sets) {
		struct str key =
			sha256_hex(a, str_fmt(a, "%.*s\n%.*s", STR(*set), STR(buf_str(&group))));
		struct pch p = {.set = str_split(a, *set, ' '),
			.lock = -1,
			.flags = words,
			.hip = pass,
			.sync = sync,
			.source = source,
			.dirs = dirs};
		bool all = true;
		VEC_EACH (const struct str, header, &p.set)
			all = all && map_get(&named, *header);
		p.dir = str_fmt(a, "%.*s/.rocsmith/pch/%.*s", STR(cc->dir), STR(key));
		if (!all || count_of(a, &p, "strikes") >= STRIKES)
			continue;
		TRY(open_group(a, &p));
		if (p.file.n && !pch_begins(&p))
			continue;
		*ret = p;
		return p.file.n ? NULL : count_up(a, &p, "seen");
	}
	return NULL;
}

struct err *pch_look(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct pch *ret)
{
	*ret = (struct pch){.lock = -1};
	TRY(find_group(a, cc, config, args, ret));
	if (!ret->dir.n || ret->file.n || count_of(a, ret, "seen") < PAYS)
		return NULL;
	struct err *e = fs_lock(file_of(a, ret, "lock"), FS_LOCK_NOW, &ret->lock);
	if (e && e->code == E_LOCKED) { /* another process makes it: compile without it */
		err_free(e);
		return NULL;
	}
	if (!e)
		e = open_group(a, ret); /* another process may just have made it */
	ret->due = !e && !ret->file.n;
	return e;
}

/* ---- making the file ---- */

/* The words that precompile a header of HIP: the driver has no such language, and drops -MD on its device side. */
static void add_hip_header(
	struct arena *a, struct str header, struct str made, struct str depfile, struct strs *ret)
{
	const struct str to_clang[] = {S("-emit-pch"), S("-o"), made, S("-dependency-file"),
		depfile, S("-sys-header-deps"), S("-MT"), S("all.pch")};
	for (size_t i = 0; i < sizeof(to_clang) / sizeof(to_clang[0]); i++)
		STRS_ADD(a, ret, S("-Xclang"), to_clang[i]);
	STRS_ADD(a, ret, S("-fsyntax-only"), S("-x"), S("hip"), header);
}

bool compile_headers(struct arena *a, const struct strs *args, struct str header, struct str made,
	struct strs *ret)
{
	struct strs dirs = {0};
	struct str overlay;
	*ret = (struct strs){0};
	if (is_off() || !is_pass(args) || !split_command(a, args, ret, &dirs, &overlay) ||
		overlay.n)
		return false;
	add_hip_header(a, header, made, str_fmt(a, "%.*s.d", STR(made)), ret);
	return true;
}

struct err *pch_command(struct arena *a, const struct pch *p, struct strs *ret_args)
{
	BUF(b, a);
	struct str header = file_of(a, p, "headers"), made = file_of(a, p, "new.pch");
	buf_add(&b, p->sync ? S(DEFINES_SYNC) : S(""));
	VEC_EACH (const struct str, h, &p->set)
		buf_fmt(&b, "#include <%.*s>\n", STR(*h));
	TRY(fs_write(header, buf_str(&b), 0644 | FS_IF_CHANGED));
	*ret_args = (struct strs){0};
	strs_add_all(a, ret_args, &p->flags);
	struct str depfile = file_of(a, p, "new.d");
	if (p->hip)
		add_hip_header(a, header, made, depfile, ret_args);
	else
		STRS_ADD(a, ret_args, S("-x"), S("c++-header"), header, S("-o"), made, S("-MD"),
			S("-MF"), depfile, S("-MT"), S("all.pch"));
	return NULL;
}

static void add_word(struct arena *a, struct map *seen, struct pch_words *words, struct str word)
{
	if (map_put(seen, word, seen))
		*VEC_PUSH(a, words) = str_hash(word);
}

/* Stores the file that clang has written: writes "words", renames the file into place, and writes "made" last. */
static struct err *keep_made(struct arena *a, const struct pch *p)
{
	struct str text;
	struct strs headers;
	struct pch_words words = {0};
	struct tok t;
	MAP(seen, a);
	TRY(fs_read(a, file_of(a, p, "new.d"), MAX_TEXT, &text));
	depfile_parse(a, text, &headers);
	VEC_EACH (const struct str, path, &headers) {
		for (size_t i = 0; i < path->n; i++)
			if (str_chr(S(" #$\\\n"), path->p[i]) < 5) /* make rules would quote it */
				return err_new(
					E_LIMIT, "no dependency file names '%.*s'", STR(*path));
		/* all names in the header that a macro could replace */
		TRY(fs_read(a, *path, MAX_TEXT, &text));
		struct lex l = lex_new(text, *path);
		l.lenient = true;
		/* the text of the set itself defines SYNC first, as its sources do */
		while (lex_try(&l, &t) && t.kind != TOK_END)
			if (t.kind == TOK_IDENT && !str_eq(l.directive, S("error")) &&
				!(p->sync && tok_is(&l, &t, S(SYNC))))
				add_word(a, &seen, &words, tok_text(&l, &t));
		/* an #include may name the header by its path or by any suffix of the path */
		add_word(a, &seen, &words, str_fmt(a, "/%.*s", STR(*path)));
		for (size_t i = 0; i < path->n; i++)
			if (path->p[i] == '/')
				add_word(a, &seen, &words, str_sub(*path, i, path->n));
	}
	VEC_SORT(&words, offset_order);
	text = (struct str){.p = (const char *)words.v, .n = words.n * sizeof(*words.v)};
	TRY(fs_write(file_of(a, p, "words"), text, 0644));
	TRY(fs_rename(file_of(a, p, "new.pch"), file_of(a, p, "all.pch")));
	text = str_fmt(
		a, "%.*s\n%.*s\n", STR(state_of(a, &headers)), STR(str_join(a, &headers, S("\n"))));
	return fs_write(file_of(a, p, "made"), text, 0644);
}

struct err *pch_made(struct arena *a, struct pch *p, bool good)
{
	struct err *e = good ? keep_made(a, p) : NULL;
	/* a failure to make it will repeat itself, so the group is given up at once */
	for (unsigned i = 0; (e || !good) && i < STRIKES; i++)
		e = err_join(e, count_up(a, p, "strikes"));
	if (!e && good)
		e = open_group(a, p);
	if (p->file.n && !pch_begins(p)) /* this source was counted by a quick look */
		p->file = S("");
	fd_closep(&p->lock);
	p->due = false;
	return e;
}

struct err *pch_failed(struct arena *a, const struct pch *p)
{
	return count_up(a, p, "strikes");
}

/* ---- the compile that uses the file ---- */

/* clang's list lacks headers that the set only tests for (__has_include), and names our file, on which nothing may
 * depend. */
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
	TRY(read_made(a, p, &headers, &text));
	VEC_EACH (const struct str, h, &headers)
		if (!map_get(&has, *h))
			buf_fmt(&b, " \\\n  %.*s", STR(*h));
	buf_char(&b, '\n');
	return fs_write(path, buf_str(&b), 0644);
}
