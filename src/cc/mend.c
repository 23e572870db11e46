/* Changes a compile of CUDA that clang refused so that it takes what nvcc takes; see cc_int.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/vec.h"
#include "cc/cc_int.h"
#include "know/know.h"
#include "know/message.h"
#include "lang/cxx/lexer.h"

enum { MAX_TEXT = 32 << 20 };

/* Messages of clang (DiagnosticSemaKinds.td: err_shared_var_init, err_typecheck_incomplete_tag, err_incomplete_type). */
#define SHARED S("initialization is not supported for __shared__ variables")
#define INCOMPLETE S("incomplete type")
#define DELAYED S("-fdelayed-template-parsing")

/* The offset of a place of a message; text.n if there is none. The lines of a translated text count from its #line. */
static size_t place_at(struct str text, unsigned line, unsigned col)
{
	const struct str begin = S("#line 1\n");
	size_t at = str_find(text, begin);
	at = at < text.n ? at + begin.n : 0;
	for (; line > 1 && at < text.n; line--)
		at += str_chr(str_sub(text, at, text.n), '\n') + 1;
	at += col ? col - 1 : 0;
	return at < text.n ? at : text.n;
}

/* Rewrites "__shared__ TYPE name[N];", with the name at this offset, to uninitialised storage with a reference to it. The
 * specifier may be a macro of the project with "shared" in its name. False: it is written otherwise. */
static bool without_constructor(struct arena *a, struct str text, size_t at, struct str *ret)
{
	size_t from = at, type = at, end = at, stop, depth = 0;
	while (from && !strchr(";{}", text.p[from - 1]))
		from--;
	for (size_t i = from, k; i < at; i = k + 1) {
		for (k = i; k < at && ascii_word(text.p[k]);)
			k++;
		if (str_contains(str_lower(a, str_sub(text, i, k)), S("shared")))
			type = k;
	}
	while (end < text.n && ascii_word(text.p[end]))
		end++;
	for (stop = end; stop < text.n && (depth || text.p[stop] != ';'); stop++) {
		depth += text.p[stop] == '[';
		if (!depth && !strchr(" \t\n", text.p[stop]))
			return false;
		depth -= text.p[stop] == ']';
	}
	for (size_t i = type, angles = 0; i < at; i++) { /* several variables: TYPE a, b; */
		angles += text.p[i] == '<';
		if (!angles && strchr(",[(", text.p[i]))
			return false;
		angles -= angles && text.p[i] == '>';
	}
	struct str name = str_sub(text, at, end), of = str_trim(str_sub(text, type, at));
	if (type == at || !of.n || !name.n || stop == text.n)
		return false;
	*ret = str_fmt(a,
		"%.*s rocsmith_raw<%.*s %.*s> rocsmith_raw_%.*s; auto &%.*s = "
		"reinterpret_cast<typename decltype(rocsmith_raw_%.*s)::type "
		"&>(rocsmith_raw_%.*s)%.*s",
		STR(str_sub(text, 0, type)), STR(of), STR(str_sub(text, end, stop)), STR(name),
		STR(name), STR(name), STR(name), STR(str_sub(text, stop, text.n)));
	return true;
}

/* ---- the overlay ---- */

/* Rewrites what the message is about, if it can be. The new text is a file of its own, which the overlay then shows. */
static struct err *mend_place(struct arena *a, struct str dir, const struct message *m,
	struct overlay_list *io, bool *io_any)
{
	struct str path = path_abs(a, m->path), text, now;
	struct overlay_shown *file = NULL;
	VEC_EACH (struct overlay_shown, f, &io->files)
		file = str_eq(f->path, path) ? f : file;
	TRY(fs_read(a, file ? file->out : path, MAX_TEXT, &text));
	if (!without_constructor(a, text, place_at(text, m->line, m->col), &now))
		return NULL;
	if (!file) {
		file = VEC_PUSH(a, &io->files);
		file->path = path;
	}
	file->out = path_join(a, dir, sha256_hex(a, now));
	*io_any = true;
	return fs_write(file->out, now, 0600 | FS_EXACT);
}

/* ---- names of CUDA ---- */

/* Adds the header of this library if it defines one of these names of CUDA as HIP's. */
static struct err *add_definition(struct arena *a, const struct cc *cc, const struct know_cuda *of,
	const struct strs *names, struct strs *io_headers)
{
	struct str text = {0}, path = str_fmt(a, "%.*s/cuda/include/rocsmith/cuda/%.*s.h",
				       STR(cc->dir), STR(of->hip));
	VEC_EACH (const struct str, name, names) {
		if (!str_starts(str_lower(a, *name), str_lower(a, of->name)))
			continue;
		if (!text.p)
			TRY(fs_read_opt(a, path, MAX_TEXT, &text));
		if (str_contains(text, str_fmt(a, "#define %.*s ", STR(*name))) ||
			str_contains(text, str_fmt(a, "#define %.*s(", STR(*name))))
			strs_put(a, io_headers, path);
	}
	return NULL;
}

/* Adds headers for names that a macro of the project puts together (cuda ## Memcpy), so that no translation saw them. */
static struct err *mend_names(struct arena *a, const struct cc *cc, const struct strs *args,
	struct str said, struct strs *ret)
{
	static const char *const begins[] = {
		"use of undeclared identifier '", "unknown type name '", NULL};
	struct str line;
	struct strs names = {0}, headers = {0};
	struct know_cudas cudas;
	while (str_next(&said, '\n', &line)) {
		struct message m;
		bool error = message_parse(line, &m) && str_eq(m.kind, S("error"));
		if (!error || !str_starts_one_of(m.text, begins))
			continue;
		struct str name = str_sub(m.text, str_chr(m.text, '\'') + 1, m.text.n);
		strs_put(a, &names, str_sub(name, 0, str_chr(name, '\'')));
	}
	know_cuda_libraries(a, &cudas);
	/* the runtime's header, then those of libraries by the name's beginning */
	TRY(add_definition(a, cc, &(struct know_cuda){.hip = S("hip")}, &names, &headers));
	VEC_EACH (const struct know_cuda, k, &cudas)
		TRY(add_definition(a, cc, k, &names, &headers));
	VEC_EACH (const struct str, h, &headers)
		if (!strs_has(args, *h))
			STRS_ADD(a, ret, S("-include"), *h);
	return NULL;
}

struct err *mend_words(struct arena *a, const struct cc *cc, const struct strs *args,
	struct str said, struct strs *ret)
{
	struct str dir = path_join(a, cc->dir, S(".rocsmith/cuda")), line, overlay = S("");
	const struct str whole = said;
	struct overlay_list o = {0};
	VEC(struct message) places = {0};
	bool incomplete = false, any = false;
	size_t at = 0; /* the overlay's place among the words */
	*ret = (struct strs){0};
	while (str_next(&said, '\n', &line)) {
		struct message m;
		bool known = !message_parse(line, &m);
		incomplete |=
			!known && str_eq(m.kind, S("error")) && str_contains(m.text, INCOMPLETE);
		known = known || !str_eq(m.text, SHARED);
		VEC_EACH (const struct message, p, &places)
			known = known ||
				(p->line == m.line && p->col == m.col && str_eq(p->path, m.path));
		if (!known)
			*VEC_PUSH(a, &places) = m;
	}
	for (size_t i = 1; i < args->n; i++)
		at = str_eq(args->v[i - 1], S("-ivfsoverlay")) ? i : at;
	if (places.n && at)
		TRY(overlay_read(a, args->v[at], &o));
	/* from the last one, since an edit moves what is behind it in its line */
	for (size_t n = places.n; n--;)
		TRY(mend_place(a, dir, &places.v[n], &o, &any));
	incomplete = incomplete && !strs_has(args, DELAYED);
	TRY(mend_names(a, cc, args, whole, ret));
	if (!any && !incomplete && !ret->n)
		return NULL;
	if (incomplete)
		strs_add(a, ret, DELAYED);
	if (any) {
		TRY(overlay_write(a, cc, &o, &overlay));
		STRS_ADD(a, ret, S("-include"),
			path_join(a, cc->dir, S("cuda/include/rocsmith/device.h")));
		cc_say_once(cc, "shared",
			S("a constructor of variables in shared memory does not run, as with "
			  "nvcc"));
	}
	if (any && !at)
		STRS_ADD(a, ret, S("-ivfsoverlay"), overlay);
	strs_add_all(a, ret, args);
	if (any && at)
		ret->v[ret->n - args->n + at] = overlay;
	return NULL;
}
