/* Looks into setup.py and CMake files for switches of GPU code; see gpu.h. */
#include "source/gpu.h"

#include "base/fs.h"
#include "base/glob.h"
#include "base/vec.h"
#include "know/know.h"
#include "lang/python/token.h"
#include "source/cmake.h"

enum { MAX_SCRIPT = 4 << 20, MAX_FILES = 2000, MAX_SWITCHES = 256 };

struct cuda_words {                  /* how CMake names one of CUDA's libraries, in lower case */
	struct str target, variable; /* "cuda::curand", "{cuda_curand_librar" */
	const struct know_library *of;
};

struct switch_search {
	struct arena *a;
	struct source_gpu *out;
	struct strs kernels; /* sources for GPUs */
	struct str decided;  /* pyproject.toml and setup.py, which may set options of CMake */
	VEC(struct cuda_words) cudas;
	struct str file; /* the one being read */
	size_t depth;
};

/* ---- names and values ---- */

enum gpu_word { WORD_NONE, WORD_CUDA, WORD_HIP, WORD_BACKEND };

/* "FINUFFT_USE_CUDA", "BUILD_CUDA_EXT", "GGML_HIP", "VKFFT_BACKEND" */
static enum gpu_word word_of(struct arena *a, struct str name)
{
	const struct source_words *of = source_words_table();
	struct strs parts = str_split(a, str_lower(a, name), '_');
	VEC_EACH (const struct str, part, &parts)
		if (str_is_one_of(*part, of->no_switch))
			return WORD_NONE;
	struct str end = parts.n ? parts.v[parts.n - 1] : S(""), last = end;
	if (parts.n > 1 && str_is_one_of(end, of->ends))
		last = parts.v[parts.n - 2];
	struct str both = str_fmt(a, "%.*s_%.*s", STR(last), STR(end));
	return str_is_one_of(last, of->cuda) || str_is_one_of(both, of->cuda) ? WORD_CUDA
	       : str_is_one_of(last, of->hip) || str_is_one_of(both, of->hip) ? WORD_HIP
	       : parts.n > 1 && str_eq(end, S("backend"))                     ? WORD_BACKEND
									      : WORD_NONE;
}

bool source_is_off(struct arena *a, struct str value)
{
	return !value.n || str_is_one_of(str_lower(a, value), source_words_table()->off);
}

bool source_is_aside(struct str path)
{
	struct str part;
	for (struct str rest = path_dir(path); str_next(&rest, '/', &part);)
		if (str_is_one_of(part, source_words_table()->no_sources))
			return true;
	return false;
}

/* Is it none that is known, and is there room for one more? What is asked of a new switch only is asked a few times, whatever
 * a stranger's script repeats. */
static bool is_new(const struct switch_search *l, struct str name)
{
	return l->out->n < MAX_SWITCHES && !VEC_FIND(struct source_switch, l->out, name, name);
}

/* The best of the words in quotes for a switch that takes one; "" if there is none. */
static struct str best_word(struct str text, char quote)
{
	static const char *const best[] = {"hip", "rocm", "cuda", NULL};
	struct str word;
	size_t found = 3;
	while (str_next(&text, quote, &word))
		for (size_t i = 0; i < found; i++)
			if (str_eq(word, str_from(best[i])))
				found = i;
	return found < 3 ? str_from(best[found]) : S("");
}

/* Adds a new switch. One that takes a word has it as its value already, and is none without such a word. */
static void add_switch(
	struct switch_search *l, struct source_switch s, unsigned line, enum gpu_word word)
{
	s.hip = word == WORD_HIP || (word == WORD_BACKEND && !str_eq(s.value, S("cuda")));
	if ((word == WORD_BACKEND && !s.value.n) || !is_new(l, s.name))
		return;
	s.name = str_dup(l->a, s.name);
	s.place = str_fmt(l->a, "%.*s:%u", STR(l->file), line);
	s.depth = l->depth;
	*VEC_PUSH(l->a, l->out) = s;
}

/* ---- Python ---- */

static struct str unquoted(const struct py_module *m, size_t at)
{
	struct str s = at < m->tokens.n ? m->tokens.v[at].text : S("");
	size_t from = str_chr(s, '"') < str_chr(s, '\'') ? str_chr(s, '"') : str_chr(s, '\'');
	return from < s.n ? str_sub(s, from + 1, s.n - 1) : s;
}

/* Is the text at this token the name of a variable that is read: environ.get("X", ...), getenv("X"), env_flag("X"),
 * environ["X"], "X" in environ? */
static bool is_read(struct arena *a, const struct py_module *m, size_t i)
{
	if (py_is(m, i + 1, S("in")))
		return py_is(m, i + 2, S("environ")) || py_is(m, i + 4, S("environ"));
	if (i < 4)
		return false;
	struct str called = str_lower(a, m->tokens.v[i - 2].text);
	if (py_is(m, i - 1, S("[")))
		return str_eq(called, S("environ")) && !py_is(m, i + 2, S("="));
	bool get = str_eq(called, S("get")) && py_is(m, i - 4, S("environ"));
	return py_is(m, i - 1, S("(")) && (get || str_contains(called, S("env")));
}

/* Reads the default of a variable, and the value that its statement compares it with. */
static void take_condition(
	struct arena *a, const struct py_module *m, size_t i, struct source_switch *s)
{
	struct str usual = py_is(m, i + 1, S(",")) ? unquoted(m, i + 2) : S("");
	size_t end = m->statements.v[py_statement_at(m, i)].to, k = i + 1;
	while (k < end && !py_is(m, k, S("==")) && !py_is(m, k, S("!=")) &&
		(!py_is(m, k, S("in")) || py_is(m, k + 1, S("os")) ||
			py_is(m, k + 1, S("environ"))))
		k++;
	k += py_is(m, k, S("in")) ? 2 : 1; /* "in" is followed by a bracket */
	bool compared = k < end && m->tokens.v[k].kind != PY_TOKEN_NAME;
	/* == and != both name the value that turns it on, or one that turns it off */
	bool wanted = compared && !source_is_off(a, unquoted(m, k));
	bool same = usual.n && source_is_off(a, usual) == source_is_off(a, unquoted(m, k));
	s->on = compared ? wanted == same : !source_is_off(a, usual);
	s->value = wanted ? unquoted(m, k) : S("1");
}

static struct err *look_at_script(struct switch_search *l, struct str text)
{
	struct str best = best_word(str_replace(l->a, text, S("'"), S("\"")), '"');
	struct py_module module = {0}, *m = &module;
	bool by_hand = !str_contains(text, S("torch")); /* its extensions have "nvcc" as a key */
	TRY(py_read(l->a, text, l->file, m));
	for (size_t i = 0; i < m->tokens.n; i++) {
		struct str name = unquoted(m, i);
		struct source_switch s = {.name = name},
				     demand = {.kind = SWITCH_NONE, .name = name, .on = true};
		unsigned line = m->tokens.v[i].line;
		bool import = i && (py_is(m, i - 1, S("import")) || py_is(m, i - 1, S("from")));
		bool torch = import && str_eq(name, S("torch"));
		bool quoted = m->tokens.v[i].kind == PY_TOKEN_STRING;
		if (torch && m->statements.v[py_statement_at(m, i)].place == PY_PLAIN)
			l->out->torch_at = str_fmt(l->a, "%.*s:%u", STR(l->file), line);
		if (torch || (by_hand && quoted && str_eq(name, S("nvcc"))))
			add_switch(l, demand, line, WORD_NONE);
		/* a setup.py that makes its extensions for this command only; PEP 517 asks for another one, which takes words */
		if (quoted && str_eq(name, S("build_ext")) && py_is(m, i + 1, S("in")) &&
			(py_is(m, i + 2, S("argv")) || py_is(m, i + 4, S("argv"))))
			add_switch(l,
				(struct source_switch){.kind = SWITCH_OPTION,
					.name = S("--build-option"),
					.value = name},
				line, WORD_CUDA);
		bool read = quoted && str_chr(name, '_') < name.n && is_read(l->a, m, i);
		enum gpu_word word = read ? word_of(l->a, name) : WORD_NONE;
		if (!word || (word == WORD_BACKEND && !best.n) || !is_new(l, name))
			continue;
		take_condition(l->a, m, i, &s);
		if (word == WORD_BACKEND) {
			s.on |= !py_is(
				m, i + 1, S(",")); /* without a default, it takes what it finds */
			s.value = best;
		}
		add_switch(l, s, line, word);
	}
	return NULL;
}

/* ---- CMake ---- */

/* Finds CUDA's libraries in the words of a call: CUDA::curand, ${CUDA_curand_LIBRARY}, "${CUDA_CUFFT_LIBRARIES}", and
 * find_package(rocblas REQUIRED), of which no header may tell, unless that is in an if(). */
static void take_libraries(struct switch_search *l, const struct cmake_call *c, bool inside_if)
{
	bool required = str_eq(c->name, S("find_package")) && strs_has(&c->words, S("REQUIRED"));
	const struct know_library *library =
		required && !inside_if ? know_component(c->words.v[0]) : NULL;
	if (library)
		strs_put(l->a, &l->out->links, str_from(library->name));
	if (str_eq(c->name, S("find_package")) && strs_has(&c->words, S("Torch")) &&
		str_eq(path_dir(l->file), S(".")))
		add_switch(l,
			(struct source_switch){.kind = SWITCH_NONE, .name = S("torch"), .on = true},
			c->line, WORD_NONE);
	VEC_EACH (const struct str, word, &c->words) {
		ARENA(tmp);
		struct str w = str_lower(&tmp, *word);
		if (!str_contains(w, S("cuda::")) && !str_contains(w, S("{cuda_")))
			continue;
		VEC_EACH (const struct cuda_words, k, &l->cudas)
			if (str_contains(w, k->target) || str_contains(w, k->variable))
				strs_put(l->a, &l->out->links, str_from(k->of->name));
	}
}

/* set_property(CACHE NAME PROPERTY STRINGS "cuda;hip"): the words that a switch takes, of which it has one already. */
static void take_property(struct switch_search *l, const struct strs *words)
{
	struct str all = str_replace(l->a, str_join(l->a, words, S(" ")), S(";"), S(" "));
	struct str best = best_word(all, ' ');
	if (words->n < 5 || !str_eq(words->v[0], S("CACHE")) || !str_eq(words->v[3], S("STRINGS")))
		return;
	VEC_EACH (struct source_switch, s, l->out) {
		bool word = s->kind == SWITCH_OPTION && !str_eq(s->value, S("ON"));
		if (!word || !str_eq(s->name, words->v[1]) || !best.n || str_eq(best, s->value))
			continue;
		s->value = best;
		s->hip = !str_eq(best, S("cuda"));
		s->on = str_contains(l->decided, s->name);
	}
}

/* option(NAME "..." OFF), set(NAME "cpu" CACHE STRING "cpu, cuda or hip"), languages and packages */
static void take_call(struct switch_search *l, const struct cmake_call *c, bool near)
{
	static const char *const options[] = {"option", "cmake_dependent_option", NULL};
	static const char *const demands[] = {"project", "enable_language", "find_package", NULL};
	static const char *const gpus[] = {"CUDA", "HIP", "CUDAToolkit", "hip", NULL};
	const struct strs *w = &c->words;
	bool set =
		str_eq(c->name, S("set")) && w->n > 3 && str_eq(w->v[2], S("CACHE")) &&
		!str_eq(w->v[w->n - 1], S("FORCE")); /* a project that forces it leaves no choice */
	bool package = str_eq(c->name, S("find_package"));
	for (size_t i = str_eq(c->name, S("project")); i < w->n && str_is_one_of(c->name, demands);
		i++) {
		bool hip = !str_starts(w->v[i], S("CUDA"));
		struct source_switch s = {.kind = SWITCH_NONE,
			.on = true,
			.name = str_fmt(
				l->a, "%s %.*s", package ? "package" : "language", STR(w->v[i]))};
		if (!str_is_one_of(w->v[i], gpus) || (package && i))
			continue;
		l->out->hip |= hip;
		if (near)
			add_switch(l, s, c->line, hip ? WORD_HIP : WORD_CUDA);
	}
	enum gpu_word word = near && w->n ? word_of(l->a, w->v[0]) : WORD_NONE;
	if (!word || (!set && !str_is_one_of(c->name, options)) || !is_new(l, w->v[0]))
		return;
	struct source_switch s = {.kind = SWITCH_OPTION, .name = w->v[0], .value = S("ON")};
	struct str all = str_join(l->a, w, S(" "));
	for (const char *p = ",()/|"; *p; p++)
		all = str_replace(l->a, all, (struct str){p, 1}, S(" "));
	if (word == WORD_BACKEND)
		s.value = best_word(all, ' ');
	bool off = source_is_off(l->a, set ? w->v[1] : w->n > 2 ? w->v[2] : S(""));
	s.on = !off || str_contains(l->decided, s.name);
	add_switch(l, s, c->line, word);
}

static void look_at_cmake(struct switch_search *l, struct str text)
{
	ARENA(tmp);
	unsigned branches = 0;
	struct cmake_text t = {.rest = text};
	struct cmake_call c;
	struct str dir = path_dir(l->file), part;
	bool near = str_eq(dir, S("."));
	VEC_EACH (const struct str, k, &l->kernels)
		near |= str_starts(*k, str_fmt(&tmp, "%.*s/", STR(dir)));
	for (l->depth = !str_eq(dir, S(".")); str_next(&dir, '/', &part); l->depth++)
		if (str_is_one_of(part, source_words_table()->no_cmake))
			return;
	while (cmake_next(&tmp, &t, &c)) {
		take_call(l, &c, near);
		if (str_eq(c.name, S("set_property")))
			take_property(l, &c.words);
		branches += str_eq(c.name, S("if"));
		branches -= str_eq(c.name, S("endif")) && branches;
		take_libraries(l, &c, branches > 0);
	}
}

struct err *source_gpu_read(struct arena *a, const struct source *s, struct source_gpu *ret)
{
	struct switch_search l = {.a = a, .out = ret, .file = S("setup.py")};
	struct strs hip, files;
	struct str project, setup, text;
	struct know_cudas cudas;
	size_t nearest = SIZE_MAX, n = 0;
	*ret = (struct source_gpu){0};
	TRY(glob_files(a, s->dir, S("**/*.cu"), &l.kernels));
	TRY(glob_files(a, s->dir, S("**/*.hip"), &hip));
	TRY(glob_files(a, s->dir, S("**/CMakeLists.txt"), &files));
	strs_add_all(a, &l.kernels, &hip);
	TRY(fs_read_opt(a, path_join(a, s->dir, S("pyproject.toml")), MAX_SCRIPT, &project));
	TRY(fs_read_opt(a, path_join(a, s->dir, l.file), MAX_SCRIPT, &setup));
	l.decided = str_fmt(a, "%.*s\n%.*s", STR(project), STR(setup));
	know_cuda_libraries(a, &cudas);
	VEC_EACH (const struct know_cuda, k, &cudas) {
		struct str name = str_lower(a, k->name);
		*VEC_PUSH(a, &l.cudas) = (struct cuda_words){str_fmt(a, "cuda::%.*s", STR(name)),
			str_fmt(a, "{cuda_%.*s_librar", STR(name)), k->of};
	}
	ret->sources = l.kernels.n > 0;
	ret->passes_on =
		str_contains(l.decided, S("CMAKE_ARGS")) || str_contains(l.decided, S("skbuild"));
	if (s->system ==
		SOURCE_PYTHON) /* a script that is no Python 3 has no switch that we know */
		err_free(look_at_script(&l, setup));
	for (size_t i = 0; i < files.n && i < MAX_FILES; i++) {
		l.file = files.v[i];
		TRY(fs_read_opt(a, path_join(a, s->dir, l.file), MAX_SCRIPT, &text));
		look_at_cmake(&l, text);
	}
	VEC_EACH (const struct source_switch, w, ret)
		nearest = w->depth && w->depth < nearest ? w->depth : nearest;
	VEC_EACH (const struct source_switch, w, ret) /* the nearest CMake files count */
		if (!w->depth || w->depth == nearest)
			ret->v[n++] = *w;
	ret->n = n;
	return NULL;
}
