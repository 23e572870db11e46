/* Keeps what passes of one process learn of a compiler, a GPU and a source, so that others need not ask again; see cc_int.h. */
#include <pthread.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "cc/cached.h"
#include "cc/cc_int.h"

enum { MAX_FACTS = 1 << 20, MAX_FILE = 64 << 20, MAX_RECORDS = 1 << 12, MAX_NAME = 64 };

/* Words are in the code of a file, or only in its comments and strings. */
static char in_code[] = "code", in_prose[] = "prose";

struct asked_commands {
	struct str key, work, said;
};

struct front_memory {
	pthread_mutex_t lock;
	struct arena a;
	struct map words, files; /* both of all files that were read; files have states */
	VEC(struct asked_commands) commands;
	VEC(struct asked_text) texts;
};

struct front_memory *front_memory_new(void)
{
	struct front_memory *m = xmalloc(sizeof(*m));
	*m = (struct front_memory){.words = {0}};
	m->words.a = m->files.a = &m->a;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void front_memory_freep(struct front_memory **m)
{
	if (!*m)
		return;
	pthread_mutex_destroy(&(*m)->lock);
	arena_free(&(*m)->a);
	free(*m);
	*m = NULL;
}

static struct str keep(struct front_memory *m, struct str s)
{
	return str_dup(&m->a, s);
}

static struct strs keep_all(struct front_memory *m, const struct strs *list)
{
	struct strs ret = {0};
	VEC_EACH (const struct str, s, list)
		strs_add(&m->a, &ret, keep(m, *s));
	return ret;
}

/* ---- the driver's commands for all GPUs of a source ---- */

/* The arguments for all GPUs of the source, and in *ret_key those of any of them; none if they cannot be put so. The driver
 * takes no -o for several outputs. */
static struct strs words_for_all(struct arena *a, const struct front *f,
	const struct compile_pass *pass, const struct strs *argv, struct str *ret_key)
{
	struct strs ret = {0}, none = {0};
	struct str work = str_fmt(a, "%.*s/", STR(pass->work));
	struct str one = str_fmt(a, "--offload-arch=%.*s", STR(pass->gpu));
	unsigned places = 0, outputs = 0;
	bool plain = true;
	*ret_key = f->store;
	VEC_EACH (const struct str, gpu, f->gpus)
		plain &= str_starts(*gpu, S("gfx")) && str_made_of(*gpu, "");
	for (size_t i = 0; i < argv->n; i++) {
		struct str word = argv->v[i];
		if (str_eq(word, S("-o")) && i + 1 < argv->n && str_eq(argv->v[i + 1], pass->out)) {
			outputs++;
			i++;
		} else if (str_eq(word, one)) {
			places++;
			VEC_EACH (const struct str, gpu, f->gpus)
				strs_fmt(a, &ret, "--offload-arch=%.*s", STR(*gpu));
		} else {
			strs_add(a, &ret, word);
			*ret_key = str_fmt(a, "%.*s\n%.*s", STR(*ret_key), STR(word));
		}
	}
	*ret_key = str_replace(a, *ret_key, work, S("\n/"));
	strs_add(a, &ret, S("-###"));
	/* the folder must look the same in quotes */
	bool good = plain && places == 1 && outputs == 1 && strs_has(f->gpus, pass->gpu) &&
		    str_made_of(work, "/._-+");
	return good ? ret : none;
}

/* The two lines of this pass. */
static bool lines_of(struct arena *a, const struct asked_commands *c,
	const struct compile_pass *pass, struct str *ret)
{
	const struct str out = S(" \"-o\" \"");
	struct str said = c->said, line, begin, end;
	struct str cpu = str_fmt(a, " \"-target-cpu\" \"%.*s\" ", STR(pass->gpu));
	BUF(lines, a);
	size_t n = 0;
	while (str_next(&said, '\n', &line)) {
		if (!str_starts(line, S(" \"")) || (n % 2 == 0 && !str_contains(line, cpu)))
			continue;
		if (n++ % 2) { /* the linker's */
			size_t at = str_find(line, out);
			begin = str_sub(line, 0, at);
			end = str_sub(line, at + out.n, line.n);
			end = str_sub(end, str_chr(end, '"'), end.n);
			line = str_fmt(a, "%.*s%.*s%.*s%.*s", STR(begin), STR(out), STR(pass->out),
				STR(end));
		}
		buf_fmt(&lines, "%.*s\n", STR(line));
	}
	*ret = str_replace(a, buf_str(&lines), str_fmt(a, "%.*s/", STR(c->work)),
		str_fmt(a, "%.*s/", STR(pass->work)));
	return n == 2;
}

struct err *asked_commands(struct arena *a, const struct front *f, const struct compile_pass *pass,
	const struct strs *argv, struct proc_result *ret)
{
	struct front_memory *m = f->memory;
	struct str key, said;
	struct strs words = {0};
	*ret = (struct proc_result){.status = 1};
	if (m && f->gpus && f->gpus->n > 1)
		words = words_for_all(a, f, pass, argv, &key);
	if (!words.n)
		return NULL;
	bool found = false, known = false;
	pthread_mutex_lock(&m->lock);
	VEC_EACH (const struct asked_commands, c, &m->commands)
		if (str_eq(c->key, key)) {
			known = true;
			found = lines_of(a, c, pass, &said);
		}
	bool full = m->commands.n >= (size_t)MAX_RECORDS;
	pthread_mutex_unlock(&m->lock);
	if (!known && !full) {
		TRY(f->run(a, f, &words, ret));
		struct asked_commands c = {.work = pass->work, .said = ret->err};
		found = !ret->status && lines_of(a, &c, pass, &said);
		pthread_mutex_lock(&m->lock);
		*VEC_PUSH(&m->a, &m->commands) = (struct asked_commands){.key = keep(m, key),
			.work = keep(m, pass->work),
			.said = found ? keep(m, ret->err) : S("")};
		pthread_mutex_unlock(&m->lock);
	}
	ret->status = !found;
	ret->err = found ? said : S("");
	return NULL;
}

/* ---- what a clang says of a GPU ---- */

static struct str facts_path(
	struct arena *a, const struct front *f, const struct strs *words, struct str *ret_head)
{
	struct hash *h = hash_new(HASH_SHA256);
	VEC_EACH (const struct str, w, words)
		hash_word(h, *w);
	hash_word(h, S("--"));
	VEC_EACH (const struct str, file, f->programs)
		hash_word(h, *file);
	struct str hex = digest_hex(a, hash_end(h));
	*ret_head = str_fmt(a, "rocsmith gpu 1 %.*s ", STR(hex));
	return str_fmt(a, "%.*s/gpu-%.*s", STR(f->hints), STR(str_sub(hex, 0, 16)));
}

static bool facts_are_kept(const struct front *f)
{
	return f->hints.n && f->programs && f->programs->n;
}

struct err *asked_gpu(
	struct arena *a, const struct front *f, const struct strs *words, struct asked_gpu *ret)
{
	struct str head, text, line, sum, name, value;
	*ret = (struct asked_gpu){0};
	if (!facts_are_kept(f) || !cached_same(f->programs))
		return NULL;
	struct str path = facts_path(a, f, words, &head);
	TRY(fs_read_opt(a, path, MAX_FACTS, &text));
	if (!str_starts(text, head) || !str_next(&text, '\n', &line))
		return NULL;
	sum = str_sub(line, head.n, line.n);
	if (!str_eq(sum, sha256_hex(a, text)))
		return NULL;
	while (!str_starts(text, S("#")) && str_next(&text, '\n', &line)) {
		if (!str_cut(line, ' ', &name, &value))
			continue;
		if (str_eq(name, S("cpu")))
			ret->target.cpu = value;
		else if (str_eq(name, S("features")))
			ret->target.features = value;
		else if (str_eq(name, S("isa")))
			str_u64(value, 10, &ret->isa);
		else if (str_starts(name, S("__builtin_")) && value.n == 1) {
			strs_add(a, &ret->builtins, name);
			strs_add(a, &ret->accepted, value);
		}
	}
	ret->macros = text;
	return NULL;
}

struct err *asked_keep_gpu(struct arena *a, const struct front *f, const struct strs *words,
	const struct asked_gpu *gpu)
{
	BUF(out, a);
	struct str head;
	if (!facts_are_kept(f) || !cached_same(f->programs))
		return NULL;
	struct str path = facts_path(a, f, words, &head);
	buf_fmt(&out, "cpu %.*s\nfeatures %.*s\nisa %llu\n", STR(gpu->target.cpu),
		STR(gpu->target.features), (unsigned long long)gpu->isa);
	for (size_t i = 0; i < gpu->builtins.n; i++)
		buf_fmt(&out, "%.*s %.*s\n", STR(gpu->builtins.v[i]), STR(gpu->accepted.v[i]));
	buf_add(&out, gpu->macros);
	struct str text = buf_str(&out);
	if (text.n > MAX_FACTS / 2)
		return NULL;
	TRY(fs_mkdirs(f->hints));
	return fs_write(path,
		str_fmt(a, "%.*s%.*s\n%.*s", STR(head), STR(sha256_hex(a, text)), STR(text)), 0644);
}

struct str asked_answer(const struct asked_gpu *gpu, struct str builtin)
{
	for (size_t i = 0; i < gpu->builtins.n; i++)
		if (str_eq(gpu->builtins.v[i], builtin))
			return gpu->accepted.v[i];
	return S("");
}

/* ---- the words of files ---- */

/* The text without those ends of lines that a backslash hides. */
static struct str join_lines(struct arena *a, struct str text)
{
	if (!str_contains(text, S("\\")))
		return text;
	BUF(out, a);
	size_t from = 0;
	for (size_t i = 0; i < text.n; i++) {
		size_t end = i + 1;
		while (text.p[i] == '\\' && end < text.n && strchr(" \t\r\f\v", text.p[end]))
			end++;
		if (text.p[i] != '\\' || end == text.n || text.p[end] != '\n')
			continue;
		buf_add(&out, str_sub(text, from, i));
		from = end + 1;
		i = end;
	}
	buf_add(&out, str_sub(text, from, text.n));
	return buf_str(&out);
}

/* The end of a comment or literal that begins at i, or i. *ret_blind: the end of a line with a quote that has no partner, as
 * in what #if leaves out: what else is on that line begins no comment. */
static size_t prose_end(struct str t, size_t i, size_t *ret_blind)
{
	struct str rest = str_sub(t, i, t.n);
	char c = t.p[i];
	if (str_starts(rest, S("//")))
		return i + str_chr(rest, '\n');
	if (str_starts(rest, S("/*"))) {
		size_t end = str_find(str_sub(rest, 2, rest.n), S("*/"));
		return end == rest.n - 2 ? t.n : i + end + 4;
	}
	if (c != '"' && c != '\'')
		return i;
	size_t k = i + 1;
	for (; k < t.n && t.p[k] != '\n'; k++) {
		if (t.p[k] == c)
			return k + 1;
		k += t.p[k] == '\\';
	}
	*ret_blind = k;
	return i;
}

static bool has_raw_string(struct str t)
{
	static const char *const before[] = {"", "L", "u", "U", "u8", NULL};
	for (size_t at; (at = str_find(t, S("R\""))) < t.n; t = str_sub(t, at + 2, t.n)) {
		size_t from = at;
		while (from && front_word_char(t.p[from - 1]))
			from--;
		if (str_is_one_of(str_sub(t, from, at), before))
			return true;
	}
	return false;
}

/* Adds all words of a text. If it may have raw strings, all of them count as code. */
static void add_words(struct front_memory *m, struct str t)
{
	size_t prose = 0, blind = 0; /* their ends */
	bool all = has_raw_string(t);
	for (size_t i = 0; i < t.n;) {
		char c = t.p[i];
		if (!front_word_char(c)) {
			if (i >= prose && i >= blind && !all && (c == '/' || c == '"' || c == '\''))
				prose = prose_end(t, i, &blind);
			i++;
			continue;
		}
		size_t from = i;
		/* 1'000 is one word; in any case its quote begins no literal */
		bool number = ascii_digit(c);
		while (i < t.n && (front_word_char(t.p[i]) || (number && t.p[i] == '\'')))
			i++;
		struct str word = str_sub(t, from, i);
		char *old = word.n > MAX_NAME ? in_code : map_get(&m->words, word);
		if (!old)
			map_put(&m->words, keep(m, word), from >= prose ? in_code : in_prose);
		else if (old == in_prose && from >= prose)
			map_put(&m->words, word, in_code);
	}
}

/* Reads the files that a text is made of. io->files gets their states; false if they are not known well. */
static bool read_files(struct arena *a, const struct front *f, const struct strs *files,
	const struct overlay_list *shown, struct asked_text *io)
{
	struct front_memory *m = f->memory;
	VEC_EACH (const struct str, file, files) {
		struct str path = *file, text;
		struct stat st;
		VEC_EACH (const struct overlay_shown, s, &shown->files)
			path = str_eq(s->path, *file) ? s->out : path;
		if (f->outside)
			path = f->outside(a, f, path);
		struct str state = fs_exact_state(a, path);
		struct str line = str_fmt(a, "%.*s %.*s", STR(state), STR(path));
		if (!state.n || !fs_try_stat(path, &st) || cached_is_younger(&st, io->began))
			return false;
		strs_add(a, &io->files, line);
		if (map_has(&m->files, line))
			continue;
		ARENA(one);
		struct err *e = fs_read(&one, path, MAX_FILE, &text);
		err_free(e);
		if (e || str_contains(text, S("\?\?/")))
			return false;
		add_words(m, join_lines(&one, text));
		map_put(&m->files, keep(m, line), in_code);
	}
	return true;
}

/* The builtins that any of the files names. */
static void add_builtins(struct arena *a, const struct front_memory *m, struct strs *ret)
{
	for (size_t i = 0; i < m->words.n; i++)
		if (str_starts(m->words.v[i].key, S("__builtin_amdgcn_")))
			strs_put(a, ret, str_dup(a, m->words.v[i].key));
}

struct err *asked_read(struct arena *a, const struct front *f, const struct strs *cc1,
	struct asked_text *io, struct strs *ret_builtins)
{
	struct front_memory *m = f->memory;
	struct strs files = {0};
	struct overlay_list shown = {0};
	if (!m || !facts_are_kept(f))
		return NULL;
	for (size_t i = 0; i + 1 < cc1->n; i++)
		if (str_eq(cc1->v[i], S("-ivfsoverlay")))
			TRY(overlay_read(a, cc1->v[i + 1], &shown));
	cached_read(a, io->text, f->cwd.n ? f->cwd : path_abs(a, S(".")), &files);
	pthread_mutex_lock(&m->lock);
	VEC_EACH (const struct str, word, cc1)
		if (str_starts(*word, S("-D")) || str_starts(*word, S("-U")))
			add_words(m, str_sub(*word, 2, word->n));
	if (!read_files(a, f, &files, &shown, io))
		io->files = (struct strs){0};
	add_builtins(a, m, ret_builtins);
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

bool asked_word(const struct front *f, struct str word)
{
	struct front_memory *m = f->memory;
	if (!m)
		return false;
	pthread_mutex_lock(&m->lock);
	bool ret = map_has(&m->words, word);
	pthread_mutex_unlock(&m->lock);
	return ret;
}

bool asked_builtins(struct arena *a, const struct front *f, struct strs *ret)
{
	struct front_memory *m = f->memory;
	if (!m)
		return false;
	pthread_mutex_lock(&m->lock);
	bool any = VEC_FIND(const struct asked_text, &m->texts, store, f->store);
	if (any)
		add_builtins(a, m, ret);
	pthread_mutex_unlock(&m->lock);
	return any;
}

/* ---- is the text of one GPU that of another? ---- */

/* Can ## make this name of words in the files, of which at most one has only one letter? */
static bool can_be_pasted(const struct front_memory *m, struct str name)
{
	bool reach[MAX_NAME + 1][2] = {{true, false}};
	if (name.n > MAX_NAME)
		return true;
	for (size_t i = 0; i < name.n; i++) {
		size_t letters = 0;
		for (size_t end = i + 1; end <= name.n && (reach[i][0] || reach[i][1]); end++) {
			struct str piece = str_sub(name, i, end);
			char c = name.p[end - 1];
			letters += ascii_alnum(c) && !ascii_digit(c);
			if (piece.n == name.n || map_get(&m->words, piece) != in_code)
				continue;
			reach[end][1] |= letters == 1 ? reach[i][0] : reach[i][1];
			reach[end][0] |= letters != 1 && reach[i][0];
		}
	}
	return reach[name.n][0] || reach[name.n][1];
}

static void read_macros(struct str text, struct map *ret)
{
	struct str line;
	while (str_next(&text, '\n', &line)) {
		struct str name = str_sub(line, sizeof("#define ") - 1, line.n);
		size_t n = 0;
		while (n < name.n && front_word_char(name.p[n]))
			n++;
		map_put(ret, str_sub(name, 0, n), (void *)(uintptr_t)line.p);
	}
}

/* Are all macros equal of which the files have a word? */
static bool macros_agree(const struct front_memory *m, struct str x, struct str y)
{
	ARENA(tmp);
	MAP(of_x, &tmp);
	MAP(of_y, &tmp);
	const struct map *maps[] = {&of_x, &of_y};
	read_macros(x, &of_x);
	read_macros(y, &of_y);
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < maps[k]->n; i++) {
			const char *line = maps[k]->v[i].value;
			const char *other = map_get(maps[!k], maps[k]->v[i].key);
			size_t n = str_chr(str_from(line), '\n');
			bool same = other && str_chr(str_from(other), '\n') == n &&
				    !strncmp(line, other, n);
			if (!same && (map_has(&m->words, maps[k]->v[i].key) ||
					     can_be_pasted(m, maps[k]->v[i].key)))
				return false;
		}
	return x.n && y.n;
}

/* Does clang accept the same builtins for both, of those in the files and in the text? */
static bool builtins_agree(
	const struct front_memory *m, const struct asked_text *t, const struct asked_gpu *gpu)
{
	VEC_EACH (const struct str, name, &t->builtins) {
		if (front_asks_features(*name) &&
			!str_eq(t->gpu.target.features, gpu->target.features))
			return false;
		struct str one = asked_answer(&t->gpu, *name);
		if (!one.n || !str_eq(one, asked_answer(gpu, *name)))
			return false;
	}
	for (size_t i = 0; i < m->words.n; i++) {
		struct str name = m->words.v[i].key;
		if (!str_starts(name, S("__builtin_amdgcn_")))
			continue;
		struct str one = asked_answer(&t->gpu, name);
		if (!one.n || !str_eq(one, asked_answer(gpu, name)))
			return false;
	}
	return true;
}

bool asked_text(struct arena *a, const struct front *f, struct asked_text *io)
{
	struct front_memory *m = f->memory;
	bool found = false;
	if (!m || !io->gpu.macros.n)
		return false;
	pthread_mutex_lock(&m->lock);
	for (size_t i = m->texts.n; i-- && !found;) {
		const struct asked_text *t = &m->texts.v[i];
		found = str_eq(t->store, f->store) && str_eq(t->base, io->base) &&
			macros_agree(m, t->gpu.macros, io->gpu.macros) &&
			builtins_agree(m, t, &io->gpu) && cached_same(&t->files);
		if (!found)
			continue;
		io->key = str_dup(a, t->key);
		io->dep = str_dup(a, t->dep);
	}
	pthread_mutex_unlock(&m->lock);
	return found;
}

void asked_keep_text(const struct front *f, const struct asked_text *text)
{
	struct front_memory *m = f->memory;
	if (!m || !text->files.n || !text->gpu.macros.n)
		return;
	pthread_mutex_lock(&m->lock);
	if (m->texts.n < (size_t)MAX_RECORDS)
		*VEC_PUSH(&m->a, &m->texts) = (struct asked_text){.store = keep(m, f->store),
			.base = keep(m, text->base),
			.key = keep(m, text->key),
			.dep = keep(m, text->dep),
			.files = keep_all(m, &text->files),
			.builtins = keep_all(m, &text->builtins),
			.gpu = {.macros = keep(m, text->gpu.macros),
				.builtins = keep_all(m, &text->gpu.builtins),
				.accepted = keep_all(m, &text->gpu.accepted),
				.target = {.cpu = keep(m, text->gpu.target.cpu),
					.features = keep(m, text->gpu.target.features)}}};
	pthread_mutex_unlock(&m->lock);
}
