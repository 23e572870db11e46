/* Looks for CUDA names in the results; see hipify_int.h.
 *
 * The standalone translator is run on each result, and its output discarded: names that it would
 * still translate exist in HIP but not in torch's tables; names that it reports do not exist in HIP.
 */
#include "hipify/hipify_int.h"

#include "base/fs.h"
#include "base/pool.h"
#include "base/proc.h"
#include "hipify/cuda/names.h"
#include "hipify/torch/text/text.h"
#include "lang/cxx/lexer.h"
#include "lang/cxx/live.h"

struct file_search {
	struct search *all;
	const struct change *file;
	struct arena mem;
	struct untranslated_list untranslated;
	struct strs declared;
};

struct search {
	const struct view *view;
	struct file_search *v;
	size_t n;
	struct map declared; /* by the project */
	struct map asked;    /* names that an unchanged file of the project might declare */
};

/* The column of a whole word in a line, or 0. */
static unsigned find_word(struct str line, struct str name)
{
	for (size_t from = 0; from < line.n;) {
		size_t at = from + str_find(str_sub(line, from, line.n), name), end = at + name.n;
		if (at >= line.n)
			return 0;
		bool starts = at == 0 || !ascii_word(line.p[at - 1]);
		if (starts && (end == line.n || !ascii_word(line.p[end])))
			return (unsigned)at + 1;
		from = at + 1;
	}
	return 0;
}

/* Turns the line of a word in the result into its place in the source. hipify puts some lines in front, and now and then
 * joins two. */
static void locate(const struct strs *source, unsigned added, struct untranslated *l)
{
	enum { NEAR = 8 };
	size_t want = l->line > added ? l->line - added : 1;
	l->line = (unsigned)want;
	l->col = 1;
	for (size_t i = want - 1; i < source->n && i < want - 1 + NEAR; i++) {
		unsigned col = find_word(source->v[i], l->name);
		if (!col)
			continue;
		l->line = (unsigned)i + 1;
		l->col = col;
		return;
	}
}

/* ---- names ---- */

/* Is this an identifier of CUDA's API, and not a common word such as half or umin? */
static bool api_name(struct str name)
{
	return str_made_of(name, "_") && (names_look_like_cuda(name) || str_starts(name, S("CU")));
}

/* Is the name declared here, and so the project's own: TYPE name(, using name =, #define name? */
static bool declared_at(struct str s, size_t from, size_t to)
{
	static const char *const of_types[] = {"typedef", "struct", "enum", NULL};
	while (from && (s.p[from - 1] == ' ' || s.p[from - 1] == '\t'))
		from--;
	size_t end = from;
	while (from && ascii_word(s.p[from - 1]))
		from--;
	struct str before = str_sub(s, from, end);
	to += str_span(str_sub(s, to, s.n), " \t");
	if (!before.n || to == s.n || str_is_one_of(before, names_before_use) ||
		str_is_one_of(before, of_types))
		return false;
	return str_eq(before, S("define")) || strchr("(;=,)[{:", s.p[to]);
}

/* Reports a name that exists in HIP but was not translated. */
static void add_known(struct file_search *s, struct str text, const struct hipify_edit *e)
{
	static const char *const kinds[] = {
		"function", "constant", "type", "template", "macro", NULL};
	const struct hipify_rule *r = e->rule;
	struct str name = str_sub(text, e->from, e->to);
	if (!r || !str_eq(name, names_text(r->cuda)) || str_eq(name, names_text(r->hip)))
		return;
	if (!str_is_one_of(names_text(r->kind), kinds) || !api_name(name))
		return;
	if (declared_at(text, e->from, e->to)) {
		strs_add(&s->mem, &s->declared, name);
		return;
	}
	struct str since = names_text(r->since);
	bool ours = hipify_is_our_header(names_text(r->header)); /* only standalone mode has it */
	*VEC_PUSH(&s->mem, &s->untranslated) = (struct untranslated){
		.path = s->file->source,
		.name = name,
		.line = e->line,
		.suggestion = ours ? S("") : names_text(r->hip),
		.since = since.n || ours ? since : S("6.4.3"), /* the oldest in our tables */
	};
}

static int by_line(const void *x, const void *y)
{
	const struct untranslated *a = x, *b = y;
	return a->line != b->line ? (a->line > b->line) - (a->line < b->line)
				  : str_cmp(a->name, b->name);
}

/* ---- files ---- */

static struct err *quietly(struct err *e)
{
	if (e && e->code == E_CANCELLED)
		return e;
	err_free(e);
	return NULL;
}

static struct err *search_text(struct file_search *s, struct str text, struct str source)
{
	struct hipify_text t;
	struct untranslated_list *list = &s->untranslated;
	TRY(hipify_text(&s->mem, text, S("result.h"), NULL, &t));
	s->declared = t.declared;
	VEC_EACH (const struct hipify_edit, e, &t.edits)
		add_known(s, text, e);
	/* Names that are missing in HIP or in our tables; reports about strings, macros that paste names, and
	 * libcu++ are left out. */
	VEC_EACH (const struct untranslated, l, &t.untranslated) {
		const struct hipify_rule *r = names_find(l->name);
		bool member = l->unsure && str_ends(l->name, S("_"));
		if (!api_name(l->name) || member || (r && !names_is(r, "unsupported")))
			continue;
		struct untranslated *copy = VEC_PUSH(&s->mem, list);
		*copy = *l;
		copy->path = s->file->source;
	}
	/* Drops lines that a ROCm build does not compile, and names that the text tests in an #if. */
	struct live_lines lines = live_lines(&s->mem, text, true);
	MAP(asked, &s->mem);
	size_t n = 0;
	VEC_EACH (const struct untranslated, l, list)
		if (line_in(&lines.conditions, l->line))
			map_put(&asked, l->name, s);
	VEC_EACH (const struct untranslated, l, list)
		if (!line_in(&lines.dead, l->line) && !map_get(&asked, l->name))
			list->v[n++] = *l;
	list->n = n;
	VEC_SORT(list, by_line);
	/* hipify puts up to two lines in front of the result. */
	struct str runtime = S("#include \"hip/hip_runtime.h\"\n");
	unsigned added =
		str_starts(text, torch_breadcrumb) && !str_starts(source, torch_breadcrumb);
	text = str_sub(text, added ? torch_breadcrumb.n : 0, text.n);
	added += str_starts(text, runtime) && !str_starts(source, runtime);
	struct strs old_lines = {0};
	struct str line;
	while (list->n && str_next(&source, '\n', &line))
		strs_add(&s->mem, &old_lines, line);
	VEC_EACH (struct untranslated, l, list)
		locate(&old_lines, added, l);
	return NULL;
}

/* Reads a source as it was before any translation; .p is NULL if it cannot be read. */
static struct err *read_source(struct arena *tmp, const struct file_search *s, struct str *ret)
{
	const struct view *view = s->all->view;
	TRY(cancel_check());
	return quietly(view_read(view, tmp, path_join(tmp, view->root, s->file->source), ret));
}

static struct err *search_result(struct arena *tmp, void *user)
{
	struct file_search *s = user;
	struct str source = {0};
	if (s->file->status != CHANGE_OK || !s->file->text.p || !hipify_is_source(s->file->source))
		return NULL;
	TRY(read_source(tmp, s, &source));
	return source.p ? quietly(search_text(s, s->file->text, source)) : NULL;
}

/* Notes the names that an unchanged file declares, as other files may use them. */
static struct err *search_unchanged(struct arena *tmp, void *user)
{
	struct file_search *s = user;
	struct str text = {0};
	struct hipify_text t;
	bool asked = false;
	if (s->file->status != CHANGE_UNCHANGED || !hipify_is_source(s->file->source))
		return NULL;
	TRY(read_source(tmp, s, &text));
	VEC_EACH (const struct map_entry, name, &s->all->asked)
		asked = asked || str_contains(text, name->key);
	if (!asked)
		return NULL;
	TRY(quietly(hipify_text(&s->mem, text, S("result.h"), NULL, &t)));
	s->declared = t.declared;
	VEC_EACH (const struct hipify_edit, e, &t.edits)
		if (declared_at(text, e->from, e->to))
			strs_add(&s->mem, &s->declared,
				str_dup(&s->mem, str_sub(text, e->from, e->to)));
	return NULL;
}

/* ---- the entry point ---- */

static void note_declared(struct search *x)
{
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->v[i].declared.n; k++)
			map_put(&x->declared, x->v[i].declared.v[k], x);
}

static struct err *search(struct search *x, unsigned jobs)
{
	TRY(pool_each(jobs, x->v, x->n, sizeof(*x->v), search_result));
	note_declared(x);
	for (size_t i = 0; i < x->n; i++)
		VEC_EACH (const struct untranslated, l, &x->v[i].untranslated)
			if (!map_get(&x->declared, l->name))
				map_put(&x->asked, l->name, x);
	if (!x->asked.n)
		return NULL;
	TRY(pool_each(jobs, x->v, x->n, sizeof(*x->v), search_unchanged));
	note_declared(x);
	return NULL;
}

struct err *torch_untranslated(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *t)
{
	ARENA(tmp);
	struct search x = {.view = view, .n = t->changes.n};
	x.declared.a = x.asked.a = &tmp;
	x.v = arena_array(&tmp, x.n, sizeof(*x.v));
	for (size_t i = 0; i < x.n; i++)
		x.v[i] = (struct file_search){.all = &x, .file = &t->changes.v[i]};
	struct err *e = search(&x, o->jobs);
	for (size_t i = 0; !e && i < x.n; i++) {
		VEC_EACH (const struct untranslated, l, &x.v[i].untranslated) {
			if (map_get(&x.declared, l->name))
				continue;
			struct untranslated *copy = VEC_PUSH(a, &t->untranslated);
			*copy = *l;
			copy->name = str_dup(a, l->name);
			copy->suggestion = str_dup(a, l->suggestion);
		}
	}
	for (size_t i = 0; i < x.n; i++)
		arena_free(&x.v[i].mem);
	return e;
}
