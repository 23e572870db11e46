/* Composes edits of several passes; see passes.h.
 *
 * Two sorted lists are merged in one sweep: the old edits, whose images (replacement texts) lie in the input of the
 * current pass, and those of the pass, whose offsets refer to that text. Overlapping edits form a group, which becomes one
 * edit. No edit crosses the bounds of a group, so its place in the source and its text in the result follow from the
 * lengths of all edits before them.
 */
#include "hipify/torch/text/passes.h"

struct sweep {
	const struct torch_trace *t;
	size_t old, new; /* the next edit of either list */
	ptrdiff_t
		before; /* offset in the pass's input minus offset in the source, after the last old edit */
	ptrdiff_t
		after; /* offset in its result minus offset in its input, after the last new edit */
};

/* The offset of the next old edit in the pass's input; SIZE_MAX = none. */
static size_t next_old(const struct sweep *s)
{
	const struct torch_edits *done = &s->t->done;
	return s->old < done->n ? done->v[s->old].from + (size_t)s->before : SIZE_MAX;
}

static size_t next_new(const struct sweep *s)
{
	return s->new < s->t->pass.n ? s->t->pass.v[s->new].from : SIZE_MAX;
}

/* Builds the next group; a group of a single old edit keeps the text of that edit. result: the text after the pass */
static struct hipify_edit sweep_group(struct sweep *s, struct str result)
{
	size_t old = next_old(s), new = next_new(s), start = old < new ? old : new, end = start;
	size_t out = start + (size_t)s->after, first = s->new;
	struct hipify_edit group = {.from = start - (size_t)s->before};
	struct hipify_reason **reasons = &group.why; /* the end of the list */
	const struct hipify_edit *e;
	do {
		/* At the same offset, a new insertion precedes the old edit. */
		bool insertion = new < SIZE_MAX && s->t->pass.v[s->new].to == new;
		bool is_old = old < new || (old == new && !insertion);
		e = is_old ? &s->t->done.v[s->old++] : &s->t->pass.v[s->new ++];
		size_t to = is_old ? old + e->with.n : e->to;
		end = to > end ? to : end;
		*(is_old ? &s->before : &s->after) += (ptrdiff_t)(e->with.n - (e->to - e->from));
		for (*reasons = e->why; *reasons; reasons = &(*reasons)->next)
			;
		old = next_old(s);
		new = next_new(s);
	} while (old < end || new < end);
	group.to = end - (size_t)s->before;
	group.with = e->with;
	if (s->new > first)
		group.with = str_dup(s->t->a, str_sub(result, out, end + (size_t)s->after));
	return group;
}

void torch_trace_end(struct torch_trace *t, struct hipify_text *ret)
{
	unsigned line = 1;
	size_t at = 0;
	VEC_EACH (struct hipify_edit, e, &t->done) {
		if (str_eq(e->with, str_sub(t->source, e->from, e->to)))
			continue;
		line += str_count(str_sub(t->source, at, e->from), '\n');
		at = e->from;
		e->line = line;
		*VEC_PUSH(t->a, &ret->edits) = *e;
	}
}

/* ---- one pass over a text ---- */

struct torch_pass torch_pass_begin(
	struct arena *a, struct str text, struct torch_trace *trace, const char *kind)
{
	return (struct torch_pass){
		.a = a, .text = text, .trace = trace, .kind = kind, .out = {.a = a}};
}

void torch_pass_edit(struct torch_pass *p, struct torch_patch patch)
{
	struct torch_trace *t = p->trace;
	const struct torch_entry *entry = patch.entry;
	if (!p->out.p) /* replacements are about as long as the text they replace */
		buf_reserve(&p->out, p->text.n + p->text.n / 8 + 64);
	buf_add(&p->out, str_sub(p->text, p->done, patch.from));
	buf_add(&p->out, patch.with);
	p->done = patch.to;
	if (!t)
		return;
	struct hipify_edit *e = VEC_PUSH(t->a, &t->pass);
	*e = (struct hipify_edit){
		.from = patch.from, .to = patch.to, .with = str_dup(t->a, patch.with)};
	e->why = NEW(t->a, struct hipify_reason);
	*e->why = (struct hipify_reason){
		.kind = p->kind,
		.from = entry ? entry->from : str_dup(t->a, str_sub(p->text, patch.from, patch.to)),
		.to = entry ? entry->to : e->with,
		.table = entry ? entry->table : S(""),
		.file = entry ? entry->file : S(""),
		.line = entry ? entry->line : 0,
	};
}

struct str torch_pass_end(struct torch_pass *p)
{
	if (!p->out.p)
		return p->text;
	buf_add(&p->out, str_sub(p->text, p->done, p->text.n));
	struct str result = buf_str(&p->out);
	struct torch_trace *t = p->trace;
	if (!t)
		return result;
	struct sweep s = {.t = t};
	struct torch_edits joined = t->spare;
	joined.n = 0;
	while (s.old < t->done.n || s.new < t->pass.n)
		*VEC_PUSH(t->a, &joined) = sweep_group(&s, result);
	t->spare = t->done;
	t->done = joined;
	t->pass.n = 0;
	return result;
}
