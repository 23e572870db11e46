/* Reads build_amd.py; see amd.h.
 *
 * The module is examined in groups: a statement at the left margin with everything indented below
 * it. A group without calls that change files is harmless; any other must be of a known kind, or it
 * becomes a doubt. Code is recognised by shapes: has_shape(). Paths are expressions such as
 * DIR / "a/b", where every variable that is not itself set to a path stands for the checkout.
 */
#include "hipify/torch/model/amd.h"

#include "base/fs.h"
#include "lang/python/literal.h"

/* Limits far above what any such script needs; they keep the time linear for hostile scripts. */
enum {
	MAX_SIZE = 1 << 20,
	MAX_DOUBTS = 16,
	MAX_PAIRS = 1000,
	MAX_EDITS = 64,
	MAX_FUNCTION = 10000, /* tokens */
};

struct group {
	size_t from, to;   /* statements */
	size_t first, end; /* tokens */
};

struct amd_reader {
	struct arena *a;
	struct py_module m;
	struct amd_build *ret;
	VEC(struct group) groups;
	bool launches_known;
	unsigned attempts;    /* groups that were tried as edits */
	struct map functions; /* name -> struct group * */
};

static const struct py_token *token(const struct amd_reader *r, size_t i)
{
	return &r->m.tokens.v[i];
}

static bool is(const struct amd_reader *r, size_t i, const char *text)
{
	return py_is(&r->m, i, str_from(text));
}

/* Do the tokens from i on match a shape? Its words are NAME for any name, STRING for any string
 * literal, and otherwise literal tokens: "open ( NAME , STRING". */
static bool has_shape(const struct amd_reader *r, size_t i, const char *shape)
{
	struct str rest = str_from(shape), word;
	for (; str_next(&rest, ' ', &word); i++) {
		bool name = str_eq(word, S("NAME")), string = str_eq(word, S("STRING"));
		if (i >= r->m.tokens.n || (name && token(r, i)->kind != PY_TOKEN_NAME) ||
			(string && token(r, i)->kind != PY_TOKEN_STRING) ||
			(!name && !string && !py_is(&r->m, i, word)))
			return false;
	}
	return true;
}

/* Is one of the tokens from..to (exclusive) this word? */
static bool mentions(const struct amd_reader *r, size_t from, size_t to, const char *word)
{
	for (; from < to; from++)
		if (is(r, from, word))
			return true;
	return false;
}

static void doubt(struct amd_reader *r, size_t at, const char *what)
{
	const struct py_token *t = token(r, at);
	if (r->ret->doubts.n == MAX_DOUBTS)
		return;
	struct finding *f = finding_note(r->a, &r->ret->doubts, "build-amd-code", r->ret->file,
		"line %u: %s", t->line, what);
	finding_fix(r->a, f, "--engine torch runs the script itself");
}

/* Evaluates the literal at a token; false if it cannot be told. */
static bool value_at(struct amd_reader *r, size_t at, struct py_value *ret)
{
	*ret = (struct py_value){0};
	CLEANUP(err_freep) struct err *e = py_value_at(r->a, &r->m, at, ret);
	return !e;
}

/* The text of a string literal; "" if the token is not one. */
static struct str text_at(struct amd_reader *r, size_t i)
{
	struct py_value v;
	bool text = has_shape(r, i, "STRING") && value_at(r, i, &v) && v.kind == PY_STRING;
	return text ? v.text : S("");
}

/* ---- lists ---- */

/* Copies the list or tuple of strings at a token to ret; false if there is none. */
static bool strings_at(struct amd_reader *r, size_t at, struct strs *ret)
{
	struct py_value v;
	if ((!is(r, at, "[") && !is(r, at, "(")) || !value_at(r, at, &v) ||
		(v.kind != PY_LIST && v.kind != PY_TUPLE))
		return false;
	for (size_t i = 0; i < v.n; i++)
		if (v.v[i].kind != PY_STRING)
			return false;
	for (size_t i = 0; i < v.n; i++)
		strs_add(r->a, ret, v.v[i].text);
	return true;
}

/* The lists of the script, with the names that they have had in its versions. */
static const struct list {
	const char *names[3];
	size_t off; /* the offset of its texts in struct amd_build */
} lists[] = {
	{{"includes", "INCLUDES"}, offsetof(struct amd_build, includes)},
	{{"ignores", "IGNORES"}, offsetof(struct amd_build, ignores)},
	{{"extra_files", "EXTRA_FILES"}, offsetof(struct amd_build, extra_files)},
};

/* Reads the literal that sets a list. A later statement may make its paths absolute, `X = [join(DIR, x)
 * for x in X]`, or its files optional, `X = [f for f in X if (DIR / f).exists()]`. */
static bool read_list(struct amd_reader *r, const struct list *l)
{
	struct strs *ret = (struct strs *)(void *)((char *)r->ret + l->off);
	bool files = ret == &r->ret->extra_files;
	struct str found = S("");
	VEC_EACH (struct py_statement, s, &r->m.statements) {
		bool is_it = found.n && !files ? str_eq(s->target, found)
					       : str_is_one_of(s->target, l->names);
		bool joins = is(r, s->value, "[") && mentions(r, s->value, s->to, "join") &&
			     !mentions(r, s->value, s->to, "if");
		if (!is_it)
			continue;
		if (files && mentions(r, s->value, s->to, "exists")) {
			r->ret->extra_if_there = *ret;
			*ret = (struct strs){0};
		} else if (!(files ? ret->n : found.n) && strings_at(r, s->value, ret)) {
			found = s->target;
		} else if (files) {
			doubt(r, s->from, "a list is not made of literals");
		} else if (found.n && !joins) {
			doubt(r, s->from, "a list is set a second time");
		}
	}
	return found.n > 0;
}

/* Reads changes of a list by method or operator: append() of the folders of --extra-include-dir is
 * expected, append() of a literal is carried out, anything else is a doubt. */
static void read_changes(struct amd_reader *r, const struct list *l)
{
	static const char *const methods[] = {
		"append", "extend", "insert", "remove", "clear", "pop", NULL};
	struct strs *ret = (struct strs *)(void *)((char *)r->ret + l->off);
	VEC_EACH (const struct group, g, &r->groups) {
		bool extra = mentions(r, g->first, g->end, "extra_include_dir");
		for (size_t i = g->first; i < g->end; i++) {
			if (!has_shape(r, i, "NAME") || !str_is_one_of(token(r, i)->text, l->names))
				continue;
			bool call = has_shape(r, i + 1, ". NAME") &&
				    str_is_one_of(token(r, i + 2)->text, methods);
			bool append = call && is(r, i + 2, "append");
			struct str more = append ? text_at(r, i + 4) : S("");
			if (more.n)
				strs_add(r->a, ret, more);
			else if ((call && !(append && extra)) || is(r, i + 1, "+=") ||
				 is(r, i + 1, "["))
				doubt(r, i, "a list is changed by code");
		}
	}
}

/* ---- paths ---- */

/* The last statement before that of token `at` that sets the variable named by token `name`. */
static const struct py_statement *setter(const struct amd_reader *r, size_t name, size_t at)
{
	return py_setter(&r->m, true, token(r, name)->text, py_statement_at(&r->m, at));
}

/* The value of a path expression, relative to the checkout: "text", DIR / "text", a variable. "" = not
 * a path. */
static struct str path_at(struct amd_reader *r, size_t at, unsigned depth)
{
	struct str path = S("");
	while (is(r, at, "("))
		at++;
	if (has_shape(r, at, "STRING"))
		path = text_at(r, at);
	const struct py_statement *s = has_shape(r, at, "NAME") ? setter(r, at, at) : NULL;
	if (s && depth < 8)
		path = path_at(r, s->value, depth + 1);
	for (at++; has_shape(r, at, "/ STRING"); at += 2)
		path = path_join(r->a, path, text_at(r, at + 1));
	return path.n ? path_clean(r->a, path) : path;
}

/* ---- edits ---- */

/* Collects every .replace("a", "b") of a group; false if it calls anything else that could change a text. */
static bool replaces_in(struct amd_reader *r, const struct group *g, struct torch_map *ret)
{
	static const char *const harmless[] = {"open", "read", "readlines", "splitlines", "write",
		"writelines", "join", "print", "format", "exists", "isfile", "is_file",
		"is_hip_clang", NULL};
	for (size_t i = g->first; i + 1 < g->end; i++) {
		if (!has_shape(r, i, "NAME ("))
			continue;
		struct str name = token(r, i)->text;
		if (!is(r, i, "replace") &&
			(str_is_one_of(name, harmless) || map_get(&r->functions, name)))
			continue;
		if (!has_shape(r, i, "replace ( STRING , STRING )") &&
			!has_shape(r, i, "replace ( STRING , STRING , )"))
			return false;
		struct torch_entry *e = VEC_PUSH(r->a, ret);
		*e = (struct torch_entry){.from = text_at(r, i + 2),
			.to = text_at(r, i + 4),
			.table = S("build_amd.py"),
			.file = r->ret->file,
			.line = token(r, i + 2)->line};
		if (!e->from.n)
			return false;
	}
	return true;
}

/* The script's own function that is called at token i; otherwise NULL. */
static const struct group *called(const struct amd_reader *r, size_t i)
{
	return has_shape(r, i, "NAME (") ? map_get(&r->functions, token(r, i)->text) : NULL;
}

/* Collects the replace() calls of a group and of the functions that it calls. Such a function must have
 * nothing else: a head, one replace() per line, and a return. */
static bool edits_of(struct amd_reader *r, const struct group *g, struct torch_map *ret)
{
	if (!replaces_in(r, g, ret))
		return false;
	for (size_t i = g->first; i + 1 < g->end; i++) {
		const struct group *f = called(r, i);
		size_t before = ret->n;
		if (!f || f == g || is(r, i, "is_hip_clang"))
			continue;
		if (f->end - f->first > MAX_FUNCTION || !replaces_in(r, f, ret))
			return false;
		if (ret->n - before + 2 < f->to - f->from || ret->n > MAX_PAIRS)
			return false;
	}
	return ret->n > 0;
}

/* The token of the variable X of an open(X, "w") in a group; g->end if there is none. */
static size_t opened_for_writing(struct amd_reader *r, const struct group *g)
{
	for (size_t i = g->first; i + 4 < g->end; i++)
		if (has_shape(r, i, "open ( NAME , STRING") &&
			str_contains(text_at(r, i + 4), S("w")))
			return i + 2;
	return g->end;
}

/* Reads a group that opens X for writing, where X is set by `for X in FILES:` or by X = "path", and replaces texts. */
static bool read_edit(struct amd_reader *r, const struct group *g)
{
	struct amd_edit e = {0};
	size_t var = opened_for_writing(r, g);
	if (var == g->end || r->attempts == MAX_EDITS)
		return false;
	r->attempts++;
	bool loop =
		is(r, g->first, "for") && str_eq(token(r, g->first + 1)->text, token(r, var)->text);
	const struct py_statement *s = setter(r, loop ? g->first + 3 : var, var);
	struct str path = s && !loop ? text_at(r, s->value) : S("");
	if (!s || !edits_of(r, g, &e.replace))
		return false;
	if (path.n)
		strs_add(r->a, &e.files, path);
	else if (!loop || !is(r, g->first + 4, ":") || !strings_at(r, s->value, &e.files))
		return false;
	e.when_kept = is(r, g->first, "if") && is(r, g->first + 1, "is_hip_clang");
	*VEC_PUSH(r->a, &r->ret->edits) = e;
	return true;
}

/* ---- the copy after hipify ---- */

/* Reads a group that copies a file: it sets `NAME_src = PATH` and `NAME_dst = PATH`. */
static bool read_copy(struct amd_reader *r, const struct group *g)
{
	struct str from = S(""), to = S("");
	for (size_t i = g->from; i < g->to; i++) {
		const struct py_statement *s = &r->m.statements.v[i];
		if (str_ends(s->target, S("_src")))
			from = path_at(r, s->value, 0);
		else if (str_ends(s->target, S("_dst")))
			to = path_at(r, s->value, 0);
	}
	if (!from.n || !to.n)
		return false;
	const struct py_statement *head = &r->m.statements.v[g->from];
	bool fails =
		mentions(r, g->first, g->end, "exit") || mentions(r, g->first, g->end, "raise");
	r->ret->copy.from = from;
	r->ret->copy.to = to;
	r->ret->copy.required =
		fails && is(r, g->first, "if") && !mentions(r, head->from, head->to, "exists");
	return true;
}

/* Reads FILES.append(PATH), which adds a file that the checkout may lack. */
static void read_optional(struct amd_reader *r, const struct list *files)
{
	for (size_t i = 0; i < r->m.tokens.n; i++) {
		if (!has_shape(r, i, "NAME .") || !str_is_one_of(token(r, i)->text, files->names))
			continue;
		struct str path = is(r, i + 2, "append") ? path_at(r, i + 4, 0) : S("");
		if (path.n)
			strs_add(r->a, &r->ret->extra_if_there, path);
		else
			doubt(r, i, "a list is changed by code");
	}
}

/* ---- the call of hipify() ---- */

/* Evaluates hip_clang_launch: True, False, or a call of a function of the script that returns one of
 * them or reads .hipInfo. */
static enum amd_launches launches_at(struct amd_reader *r, size_t at)
{
	const struct group *f = called(r, at);
	size_t doubtful = f ? f->first : at;
	for (size_t i = f ? f->first : 0; f && i < f->end; i++)
		if (str_contains(text_at(r, i), S(".hipInfo")))
			return AMD_ASKS_HIP_INFO;
	if (f && f->to - f->from == 2)
		at = f->end - 1;
	if (is(r, at, "True") && (!f || is(r, at - 1, "return")))
		return AMD_KEEPS_LAUNCHES;
	if (!is(r, at, "False"))
		doubt(r, doubtful, "whether launches are rewritten cannot be told");
	return AMD_REWRITES_LAUNCHES;
}

/* Reads the keyword arguments of the call of hipify() whose "(" is at a token. */
static void read_call(struct amd_reader *r, size_t open)
{
	static const char *const expected[] = {"project_directory", "output_directory", "includes",
		"ignores", "out_of_place_only", "show_progress", "show_detailed", NULL};
	unsigned depth = 0;
	for (size_t i = open; i < r->m.tokens.n; i++) {
		if (is(r, i, "(") || is(r, i, "[") || is(r, i, "{"))
			depth++;
		else if ((is(r, i, ")") || is(r, i, "]") || is(r, i, "}")) && !--depth)
			return;
		if (depth != 1 || !has_shape(r, i, "NAME ="))
			continue;
		if (is(r, i, "hip_clang_launch") && !r->launches_known) {
			r->ret->launches = launches_at(r, i + 2);
			r->launches_known = true;
		} else if (is(r, i, "extra_files")) {
			strings_at(r, i + 2, &r->ret->extra_files);
		} else if (!str_is_one_of(token(r, i)->text, expected)) {
			doubt(r, i, "an argument of hipify() that is not known");
		}
	}
}

static void read_calls(struct amd_reader *r)
{
	unsigned calls = 0;
	for (size_t i = 0; i < r->m.tokens.n; i++) {
		if (!has_shape(r, i, ". hipify ("))
			continue;
		if (calls++ == 0)
			read_call(r, i + 2);
		else
			doubt(r, i + 1, "hipify() is called a second time");
	}
	if (!calls)
		doubt(r, 0, "no call of hipify() is found");
}

/* ---- groups ---- */

static void cut_groups(struct amd_reader *r)
{
	static const char *const parts[] = {"else", "elif", "except", "finally", NULL};
	for (size_t i = 0; i < r->m.statements.n; i++) {
		const struct py_statement *s = &r->m.statements.v[i];
		const struct py_token *t = token(r, s->from);
		if (!r->groups.n || (t->col == 1 && !str_is_one_of(t->text, parts)))
			*VEC_PUSH(r->a, &r->groups) = (struct group){.from = i, .first = s->from};
		struct group *g = &r->groups.v[r->groups.n - 1];
		g->to = i + 1;
		g->end = s->to;
	}
	VEC_EACH (struct group, g, &r->groups)
		if (has_shape(r, g->first, "def NAME"))
			map_put(&r->functions, token(r, g->first + 1)->text, g);
}

/* The first call in a group that changes files or runs a program; g->end if there is none. */
static size_t effect(struct amd_reader *r, const struct group *g)
{
	static const char *const calls[] = {"write", "writelines", "write_text", "write_bytes",
		"copy", "copy2", "copyfile", "copytree", "move", "rename", "replace", "unlink",
		"remove", "rmtree", "symlink", "mkdir", "makedirs", "touch", "truncate", "run",
		"Popen", "call", "check_call", "check_output", "system", "exec", "eval", NULL};
	for (size_t i = g->first; i + 1 < g->end; i++) {
		if (has_shape(r, i, "NAME (") && !has_shape(r, i, "replace ( STRING") &&
			str_is_one_of(token(r, i)->text, calls))
			return i;
	}
	return opened_for_writing(r, g);
}

/* Is this Meta's own build, which the script detects by an environment variable? It copies nothing. */
static bool is_buck(struct amd_reader *r)
{
	VEC_EACH (struct py_statement, s, &r->m.statements) {
		struct py_value v;
		if (!str_eq(s->target, S("buck_build")))
			continue;
		if (!value_at(r, s->value, &v))
			doubt(r, s->from, "a condition that cannot be decided");
		return v.kind == PY_BOOL && v.text.n;
	}
	return false;
}

struct err *amd_build_read(struct arena *a, const struct torch_file *f, struct amd_build *ret)
{
	struct amd_reader r = {.a = a, .ret = ret, .functions.a = a};
	*ret = (struct amd_build){.file = f->path, .launches = AMD_REWRITES_LAUNCHES};
	if (f->text.n > MAX_SIZE)
		return err_new(E_TORCH, "'%.*s' is larger than 1 MiB", STR(f->path));
	TRY(py_read(a, f->text, f->path, &r.m));
	cut_groups(&r);
	for (size_t i = 0; i < 3; i++)
		if (!read_list(&r, &lists[i]) && i < 2)
			return err_new(E_TORCH, "'%.*s' has no literal list of %s", STR(f->path),
				lists[i].names[0]);
	read_changes(&r, &lists[0]);
	read_changes(&r, &lists[1]);
	/* The newest version of the script translates into its own folder. */
	bool staged = false;
	VEC_EACH (const struct py_token, t, &r.m.tokens)
		staged |= t->kind == PY_TOKEN_STRING &&
			  str_contains(t->text, S(".pytorch-hipify.json"));
	read_calls(&r);
	VEC_EACH (struct group, g, &r.groups) {
		size_t at = effect(&r, g);
		bool known = at == g->end || read_copy(&r, g) || read_edit(&r, g);
		if (!known && !(staged && is(&r, g->first, "def")))
			doubt(&r, at, "code that changes files in a way that is not understood");
	}
	read_optional(&r, &lists[2]);
	if (is_buck(&r)) {
		ret->extra_if_there.n = 0;
		ret->copy.from = S("");
	}
	if (staged)
		doubt(&r, 0,
			"the script makes a folder build/hipify of its own; what is done here is "
			"what it does when the output folder is the checkout");
	/* the script comes with the sources: what it names must be one of them */
	struct strs named = {0};
	strs_add_all(a, &named, &ret->extra_files);
	strs_add_all(a, &named, &ret->extra_if_there);
	VEC_EACH (const struct amd_edit, e, &ret->edits)
		strs_add_all(a, &named, &e->files);
	if (ret->copy.from.n)
		STRS_ADD(a, &named, ret->copy.from, ret->copy.to);
	VEC_EACH (const struct str, name, &named)
		if (!path_is_inside(*name))
			return err_new(E_TORCH, "'%.*s' names '%.*s', which is outside of its tree",
				STR(f->path), STR(*name));
	return NULL;
}
