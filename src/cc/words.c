/* Reads command lines of clang and hipcc, as far as the ledger and our own flags need it; see cc_int.h. Its options
 * are data (data/clang.yaml). */
#include "base/fs.h"
#include "cc/cc_int.h"

enum { MAX_RESPONSE = 16 << 20 };

const char *const cc_kind_names[] = {"other", "c", "c++", "hip", "link", NULL};

static enum cc_kind by_language(struct str word)
{
	const struct clang_words *known = clang_words_table();
	return str_is_one_of(word, known->hip)   ? CC_HIP
	       : str_is_one_of(word, known->cxx) ? CC_CXX
	       : str_is_one_of(word, known->c)   ? CC_C
						 : CC_OTHER;
}

/* "amdclang++", "clang-21" -> "clang++", "clang" */
static struct str plain_name(struct str name)
{
	if (str_starts(name, S("amd")))
		name = str_sub(name, 3, name.n);
	size_t n = name.n;
	while (n && ascii_digit(name.p[n - 1]))
		n--;
	return n && n < name.n && name.p[n - 1] == '-' ? str_sub(name, 0, n - 1) : name;
}

static bool is_targeted(struct str word, struct str own_sysroot)
{
	ARENA(tmp);
	size_t n = strlen("--sysroot=");
	if (own_sysroot.n && str_starts(word, S("--sysroot=")) &&
		str_eq(path_abs(&tmp, str_sub(word, n, word.n)), own_sysroot))
		return false;
	return str_starts_one_of(word, clang_words_table()->target_begins);
}

bool cc_takes_value(struct str word)
{
	return str_is_one_of(word, clang_words_table()->with_value);
}

struct cc_words cc_words(struct str name, const struct strs *args, struct str own_sysroot)
{
	static const char *const drivers[] = {"clang", "clang++", "clang-cpp", NULL};
	static const char *const linkers[] = {"lld", "ld.lld", NULL};
	static const char *const others[] = {"hipcc", "cc", "c++", "gcc", "g++", NULL};
	const struct clang_words *known = clang_words_table();
	struct cc_words w = {.links = true};
	enum cc_kind language = CC_OTHER;
	bool hip = false, shown = false;
	name = plain_name(name);
	w.driver = str_is_one_of(name, drivers);
	bool compiler = w.driver || str_is_one_of(name, others);
	if (!compiler) {
		w.links = str_is_one_of(name, linkers);
		w.kind = w.links ? CC_LINK : CC_OTHER;
	}
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i], value = i + 1 < args->n ? args->v[i + 1] : S("");
		if (str_is_one_of(word, known->asks)) {
			w.driver &= !str_starts(word, S("-cc1"));
			w.links = w.openmp = false;
			w.kind = CC_OTHER;
			return w;
		}
		shown |= str_is_one_of(word, known->shows);
		if (str_is_one_of(word, known->stops) || shown)
			w.links = false;
		w.targeted |= is_targeted(word, own_sysroot);
		w.openmp |= str_starts(word, S("-fopenmp"));
		hip |= str_starts(word, S("--offload-arch=")) || str_eq(word, S("--hip-link"));
		if (str_eq(word, S("-x")))
			language = by_language(value);
		if (str_eq(word, S("-x")) && str_ends(value, S("-header")))
			w.links = false;
		else if (str_starts(word, S("-x")) && word.n > 2)
			language = by_language(str_sub(word, 2, word.n));
		if (cc_takes_value(word))
			i++;
		else if (!w.input.n && word.n && (word.p[0] != '-' || word.n == 1))
			w.input = word;
	}
	w.links &= w.input.n > 0;
	w.openmp &= w.input.n > 0 && !w.links && !shown;
	if (!compiler || !w.input.n) {
		w.kind = shown ? CC_OTHER : w.kind;
		return w;
	}
	struct str ext = path_ext(w.input);
	w.kind = language ? language : by_language(str_sub(ext, 1, ext.n));
	/* hipcc compiles C++ as HIP unless -x says otherwise */
	if (w.kind == CC_CXX && !language && (str_eq(name, S("hipcc")) || hip))
		w.kind = CC_HIP;
	w.compiles = w.kind != CC_OTHER;
	if (!w.compiles && w.links)
		w.kind = CC_LINK;
	if (shown)
		w.kind = CC_OTHER;
	return w;
}

struct strs cc_fit_standard(struct arena *a, struct str name, const struct cc_words *w,
	const struct strs *args, struct str *ret_left_out)
{
	struct strs out = {0};
	/* clang++ compiles a.c as C++ */
	bool cxx = w->kind != CC_C || (str_eq(plain_name(name), S("clang++")) &&
					      (w->links || !strs_has(args, S("-x"))));
	*ret_left_out = S("");
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i];
		if (w->driver && w->compiles && str_starts(word, S("-std=")) &&
			str_contains(word, S("++")) != cxx) { /* "gnu++17" is for C++ */
			*ret_left_out = word;
			continue;
		}
		strs_add(a, &out, word);
		if (cc_takes_value(word) && i + 1 < args->n)
			strs_add(a, &out, args->v[++i]);
	}
	return out;
}

struct strs cc_words_at_home(struct arena *a, struct str cuda, const struct strs *args)
{
	static const char *const options[] = {"", "-I", "-L", "-isystem", "-isystem=", NULL};
	static const char *const places[] = {"/usr/local/cuda", "/opt/cuda", NULL};
	struct strs out = {0};
	bool face = fs_is_dir(cuda), links = false;
	VEC_EACH (struct str, word, args) {
		links |= str_starts(*word, S("-lcu")) || str_starts(*word, S("-lnv"));
		size_t from = str_chr(*word, '/');
		struct str path = str_sub(*word, from, word->n), option = str_sub(*word, 0, from);
		for (size_t i = 0; face && places[i] && str_is_one_of(option, options); i++) {
			size_t n = strlen(places[i]);
			struct str rest = str_sub(path, n, path.n);
			if (!str_starts(path, str_from(places[i])) ||
				(rest.n && !strchr("-/", rest.p[0])))
				continue;
			rest = str_sub(rest, str_chr(rest, '/'), rest.n);
			if (!fs_exists(str_sub(path, 0, path.n - rest.n)))
				path = str_fmt(a, "%.*s%.*s", STR(cuda), STR(rest));
		}
		strs_fmt(a, &out, "%.*s%.*s", STR(option), STR(path));
	}
	if (face && links) /* CUDA's installers make the folder known to the linker */
		strs_fmt(a, &out, "-L%.*s/lib64", STR(cuda));
	return out;
}

struct str cc_torch_standard(struct arena *a, const struct strs *args)
{
	const struct str sign = S("#error C++"), end = S("torch/csrc/api/include");
	VEC_EACH (const struct str, word, args) {
		struct str text = {0}, dir = str_sub(*word, str_chr(*word, '/'), word->n);
		if (!str_ends(dir, end))
			continue;
		err_free(fs_read_opt(a, path_join(a, dir, S("torch/all.h")), MAX_RESPONSE, &text));
		size_t at = str_find(text, sign) + sign.n;
		if (at + 2 < text.n)
			return str_sub(text, at, at + 2);
	}
	return S("");
}

struct str cc_raise_standard(struct arena *a, struct str least, struct strs *io)
{
	static const char *const years[] = {
		"98", "03", "0x", "11", "1y", "14", "17", "1z", "20", "2a", "23", NULL};
	struct str raised = S("");
	VEC_EACH (struct str, w, io) {
		bool old = false;
		for (size_t i = 0; years[i] && !str_eq(least, str_from(years[i])); i++)
			old |= str_ends(*w, str_fmt(a, "++%s", years[i]));
		if (!old || !str_contains(str_sub(*w, 0, 6), S("-std=")))
			continue;
		raised = str_sub(*w, str_chr(*w, '=') + 1, w->n);
		*w = str_fmt(a, "%.*s%.*s", STR(str_sub(*w, 0, w->n - 2)), STR(least));
	}
	return raised;
}

/* The size of an object or archive, 0 for any other word. */
static uint64_t object_bytes(struct str word)
{
	static const char *const kinds[] = {".o", ".a", ".obj", ".lo", NULL};
	struct stat st;
	bool object = word.n && word.p[0] != '-' && str_is_one_of(path_ext(word), kinds);
	return object && fs_try_stat(word, &st) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

uint64_t cc_link_bytes(const struct strs *args)
{
	ARENA(tmp);
	uint64_t sum = 0;
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i], text = {0};
		sum += object_bytes(word);
		if (!str_starts(word, S("@")))
			continue;
		err_free(fs_read_opt(&tmp, str_sub(word, 1, word.n), MAX_RESPONSE, &text));
		text = str_replace(&tmp, text, S("\n"), S(" "));
		while (str_next(&text, ' ', &word)) /* does not handle quoted names with spaces */
			sum += object_bytes(word);
	}
	return sum;
}
