/* Decides if a source begins with the headers of a set, and so may use them precompiled; see cc_int.h. This looks only
 * at the text: it does not evaluate conditions, and answers no to anything it does not understand. */
#include "base/fs.h"
#include "base/vec.h"
#include "cc/cc_int.h"
#include "cc/compile.h"
#include "formats/bytes.h"
#include "lang/cxx/lexer.h"

enum {
	LEVELS = 2, /* nested includes in a quick look */
	MOST = 400, /* files that may come before the set */
	DEEP = 40,  /* nested includes in files before the set */
	MAX_SOURCE = 16 << 20,
};

struct pch_look {
	struct arena a;
	const struct strs *dirs;
	struct map *names;             /* a quick look puts all certain includes here; else NULL */
	const struct pch_words *words; /* the set's, for a thorough look */
	struct strs missing;           /* headers of the set that have not been found yet */
	struct strs open; /* macros that the set mentions and that are defined at this point */
	struct map seen;  /* files already read */
	bool no; /* the source cannot use the set; in a quick look, the file is not read on */
};

static bool has(const struct pch_words *words, struct str word)
{
	uint64_t hash = str_hash(word);
	return words->n && bsearch(&hash, words->v, words->n, sizeof(hash), offset_order);
}

static struct str resolve(struct pch_look *l, struct str from, struct str name, bool quoted)
{
	struct str path = path_join(&l->a, path_dir(from), name);
	if (!name.n || name.p[0] == '/')
		return name;
	if (quoted && fs_is_file(path))
		return path;
	VEC_EACH (const struct str, dir, l->dirs) {
		path = str_fmt(&l->a, "%.*s/%.*s", STR(*dir), STR(name));
		if (fs_is_file(path))
			return path;
	}
	return S("");
}

/* ---- what a source begins with ---- */
static void read_file(struct pch_look *l, struct str path, unsigned level);

/* Handles an #include. A header of the set counts unless it is inside a condition other than an include guard. */
static void meet_include(struct pch_look *l, const struct lex *x, struct str word, unsigned level)
{
	struct str name = str_sub(word, 1, word.n - 1);
	bool certain = x->depth <= (level > 0);
	if (l->names && certain)
		map_put(l->names, str_dup(l->names->a, name), l->names);
	if (l->names && (!certain || level == LEVELS))
		return;
	l->no |= l->open.n > 0;
	for (size_t i = 0; i < l->missing.n && certain; i++)
		if (str_eq(l->missing.v[i], name)) {
			l->missing.v[i] = l->missing.v[--l->missing.n];
			return;
		}
	struct str path = resolve(l, x->path, name, word.p[0] == '"');
	if (!l->names && has(l->words, str_fmt(&l->a, "/%.*s", STR(path.n ? path : name))))
		return; /* a header of the set includes it */
	if (path.n)
		read_file(l, path, level + 1);
	else if (!x->depth) /* a name without an extension is the C++ library's */
		l->no |= str_chr(name, '.') < name.n;
	l->no &= !l->names; /* the thorough look tells whether that matters */
}

/* Handles a #define or #undef. A macro that is undefined again before the next #include does no harm. */
static void meet_macro(struct pch_look *l, struct str name, bool defined)
{
	bool own = str_starts(name, S("__has_")); /* built into clang */
	if (l->names || own || !has(l->words, name))
		return;
	for (size_t i = 0; i < l->open.n; i++)
		if (str_eq(l->open.v[i], name)) {
			if (!defined)
				l->open.v[i] = l->open.v[--l->open.n];
			return;
		}
	l->no |= !defined;
	strs_add(&l->a, &l->open, name);
}

static void read_directive(struct pch_look *l, struct lex *x, unsigned level)
{
	static const char *const harmless[] = {"once", "omp", "unroll", "warning", NULL};
	struct tok t, name;
	if (!lex_try(x, &name) || name.kind != TOK_IDENT)
		return;
	struct str what = tok_text(x, &name);
	bool defines = str_eq(what, S("define")) || str_eq(what, S("undef"));
	bool pragma = str_eq(what, S("pragma"));
	if (str_eq(what, S("include_next")) || str_eq(what, S("import")))
		l->no = true;
	if (!defines && !pragma && !str_eq(what, S("include")))
		return;
	if (!lex_try(x, &t))
		l->no = true;
	else if (defines)
		meet_macro(l, tok_text(x, &t), str_eq(what, S("define")));
	else if (!pragma && t.kind == TOK_PATH)
		meet_include(l, x, tok_text(x, &t), level);
	else if (!pragma)
		l->no = true;
	else if (!str_is_one_of(tok_text(x, &t), harmless) && lex_try(x, &t))
		l->no |= !tok_is(x, &t, S("diagnostic")) && !tok_is(x, &t, S("system_header"));
}

static void read_file(struct pch_look *l, struct str path, unsigned level)
{
	struct str text = {0};
	struct tok t;
	if (!map_put(&l->seen, path, l))
		return;
	l->no |= level > DEEP || l->seen.n > MOST;
	err_free(fs_read_opt(&l->a, path, MAX_SOURCE, &text));
	struct lex x = lex_new(text, path);
	x.lenient = true;
	l->no |= !text.p;
	while ((l->names || l->missing.n) && !l->no && lex_try(&x, &t) && t.kind != TOK_END) {
		bool begins = t.kind == TOK_PUNCT && tok_is(&x, &t, S("#")) && x.want_name;
		if (begins)
			read_directive(l, &x, level);
		else if (!x.directive.n && t.kind != TOK_LINE_END)
			l->no |= level == 0;
	}
}

void pch_named(struct str source, const struct strs *dirs, struct map *ret)
{
	struct pch_look l = {.dirs = dirs, .names = ret};
	l.seen.a = &l.a;
	read_file(&l, source, 0);
	arena_free(&l.a);
}

bool pch_begins(const struct pch *p)
{
	struct pch_look l = {.dirs = &p->dirs, .words = &p->words};
	l.seen.a = &l.a;
	strs_add_all(&l.a, &l.missing, &p->set);
	read_file(&l, p->source, 0);
	bool yes = !l.missing.n && !l.no;
	arena_free(&l.a);
	return yes;
}

bool compile_begins(struct str text, struct str path)
{
	struct lex l = lex_new(text, path);
	struct tok t;
	struct str words = S("");
	ARENA(a);
	l.lenient = true;
	/* hipify's first line defines what the command line does, too */
	for (unsigned i = 0; i < 16 && lex_try(&l, &t) && t.kind != TOK_END; i++) {
		if (t.kind == TOK_LINE_END)
			continue;
		words = str_fmt(&a, "%.*s %.*s", STR(words), STR(tok_text(&l, &t)));
		if (str_eq(words, S(" # include <hip/hip_runtime.h>")))
			return true;
		if (str_eq(words, S(" # define HIP_ENABLE_WARP_SYNC_BUILTINS 1")))
			words = S("");
	}
	return false;
}
