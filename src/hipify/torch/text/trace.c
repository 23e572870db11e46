/* Composes edits of several passes; see passes.h.
 *
 * Two sorted lists are merged in one sweep: the old edits, whose images (replacement texts) lie in the
 * current text, and those of the current pass, whose offsets refer to that text. Overlapping edits form a
 * group, which becomes one edit. Inside a group every byte that no new edit covers belongs to an image,
 * because a group only grows by overlap; so only the rest of the last image must be remembered.
 */
#include "hipify/torch/text/passes.h"

struct sweep {
	struct torch_trace *t;
	size_t old, new; /* next edit of either list */
	ptrdiff_t shift; /* offset in the current text minus offset in the source, after the last
			    image */
	size_t end;      /* the end of the group, in the current text */
	size_t done;     /* the end of the part of the group that is in `with`, likewise */
	size_t image;    /* the start of the group's last image, likewise */
	struct str last; /* the text of that image */
	struct hipify_edit group;
	struct hipify_reason **reasons; /* the end of the group's list */
	struct buf with;
};

static const struct hipify_edit *old_edit(const struct sweep *s)
{
	return s->old < s->t->done.n ? &s->t->done.v[s->old] : NULL;
}

static const struct hipify_edit *new_edit(const struct sweep *s)
{
	return s->new < s->t->pass.n ? &s->t->pass.v[s->new] : NULL;
}

static size_t to_current(const struct sweep *s, size_t source)
{
	return (size_t)((ptrdiff_t)source + s->shift);
}

static size_t to_source(const struct sweep *s, size_t current)
{
	return (size_t)((ptrdiff_t)current - s->shift);
}

static void append_reasons(struct sweep *s, struct hipify_reason *why)
{
	for (*s->reasons = why; *s->reasons; s->reasons = &(*s->reasons)->next)
		;
}

/* Appends the part of the last image up to `to` that was not taken yet. */
static void take_image(struct sweep *s, size_t to)
{
	size_t image_end = s->image + s->last.n;
	if (to > image_end)
		to = image_end;
	if (s->done < to)
		buf_add(&s->with, str_sub(s->last, s->done - s->image, to - s->image));
}

static void absorb_old(struct sweep *s)
{
	const struct hipify_edit *e = old_edit(s);
	s->image = to_current(s, e->from);
	s->last = e->with;
	s->shift += (ptrdiff_t)e->with.n - (ptrdiff_t)(e->to - e->from);
	append_reasons(s, e->why);
	if (s->image + e->with.n >= s->end) {
		s->end = s->image + e->with.n;
		s->group.to = e->to;
	}
	s->old++;
}

static void absorb_new(struct sweep *s)
{
	const struct hipify_edit *e = new_edit(s);
	take_image(s, e->from);
	buf_add(&s->with, e->with);
	s->done = e->to;
	append_reasons(s, e->why);
	if (e->to > s->end)
		s->end = e->to;
	s->new ++;
}

/* Is the next old edit before the next new one? At the same offset, a new insertion precedes the old edit. */
static bool old_is_first(const struct sweep *s)
{
	const struct hipify_edit *o = old_edit(s), *n = new_edit(s);
	if (!o || !n)
		return o;
	size_t at = to_current(s, o->from);
	return at < n->from || (at == n->from && n->from < n->to);
}

/* Builds the next group; a group of a single old edit keeps the text of that edit. */
static struct hipify_edit sweep_group(struct sweep *s)
{
	bool old = old_is_first(s), new = !old;
	s->with = (struct buf){.a = s->t->a};
	s->last = S("");
	s->group = (struct hipify_edit){0};
	s->reasons = &s->group.why;
	s->group.from = old ? old_edit(s)->from : to_source(s, new_edit(s)->from);
	s->end = s->done = s->image = to_current(s, s->group.from);
	s->group.to = s->group.from;
	while (old || new) {
		if (old && (!new || old_is_first(s)))
			absorb_old(s);
		else
			absorb_new(s);
		const struct hipify_edit *o = old_edit(s), *n = new_edit(s);
		old = o && to_current(s, o->from) < s->end;
		new = n && n->from < s->end;
	}
	size_t image_end = s->image + s->last.n;
	bool kept = !s->with.n && s->done == s->image; /* no new edit touched the image */
	if (s->end > image_end)
		s->group.to = to_source(s, s->end);
	if (!kept)
		take_image(s, image_end);
	s->group.with = kept ? s->last : buf_str(&s->with);
	return s->group;
}

void torch_trace_end(struct torch_trace *t, struct hipify_text *ret)
{
	unsigned line = 1;
	size_t at = 0;
	VEC_EACH (struct hipify_edit, e, &t->done) {
		if (str_eq(e->with, str_sub(t->source, e->from, e->to)))
			continue;
		for (; at < e->from; at++)
			line += t->source.p[at] == '\n';
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
	if (p->trace) {
		struct torch_trace *t = p->trace;
		struct sweep s = {.t = t};
		struct torch_edits joined = t->spare;
		joined.n = 0;
		while (old_edit(&s) || new_edit(&s))
			*VEC_PUSH(t->a, &joined) = sweep_group(&s);
		t->spare = t->done;
		t->done = joined;
		t->pass.n = 0;
	}
	buf_add(&p->out, str_sub(p->text, p->done, p->text.n));
	return buf_str(&p->out);
}
