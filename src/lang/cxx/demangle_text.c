/* Writes the tree of a mangled name. Declarators of C are written from the inside out: a type has a left part and a right part,
 * with the name, or the pointer, between them. */
#include "base/buf.h"
#include "lang/cxx/demangle_int.h"

enum { STEPS = 100000, DEPTH = 400 };

struct dm_writer {
	struct buf *out;
	unsigned steps, depth;
	size_t at,
		count; /* while a pack is expanded: the argument's number, and how many there are */
	enum { PACKS_WHOLE, PACKS_SOUGHT, PACKS_FOUND } packs;
	bool failed;
};

static void write_left(struct dm_writer *w, const struct dm_node *n);
static void write_right(struct dm_writer *w, const struct dm_node *n);

static void write_whole(struct dm_writer *w, const struct dm_node *n)
{
	write_left(w, n);
	write_right(w, n);
}

static void write_list(struct dm_writer *w, const struct dm_node *n)
{
	struct buf *out = w->out;
	size_t last = out->n; /* an empty pack leaves no comma */
	for (size_t i = 0; i < n->n && !w->failed; i++) {
		size_t before = out->n;
		if (before > last)
			buf_add(out, S(", "));
		size_t start = out->n;
		write_whole(w, n->v[i]);
		out->n = out->n == start ? before : out->n;
	}
}

/* The argument that stands for a pack at present, or the node itself. */
static const struct dm_node *present(struct dm_writer *w, const struct dm_node *n)
{
	if (n->kind != DM_PACK || w->packs == PACKS_WHOLE || w->at == SIZE_MAX)
		return n;
	if (w->packs == PACKS_SOUGHT) {
		w->packs = PACKS_FOUND;
		w->count = n->n;
	}
	return w->at < n->n ? n->v[w->at] : NULL;
}

static void write_expanded(struct dm_writer *w, const struct dm_node *n)
{
	struct dm_writer outer = *w;
	size_t before = w->out->n;
	w->packs = PACKS_SOUGHT;
	w->at = 0;
	write_whole(w, n->v[0]);
	if (w->packs == PACKS_SOUGHT)
		buf_add(w->out, S("..."));
	else if (!w->count)
		w->out->n = before;
	for (w->at = 1; w->packs == PACKS_FOUND && w->at < w->count && !w->failed; w->at++) {
		buf_add(w->out, S(", "));
		write_whole(w, n->v[0]);
	}
	w->packs = outer.packs;
	w->at = outer.at;
	w->count = outer.count;
}

/* Does the declarator go between this type's parts? */
static const struct dm_node *around(struct dm_writer *w, const struct dm_node *n)
{
	while (n && (n->kind == DM_QUALIFIED || n->kind == DM_PACK)) {
		const struct dm_node *next = n->kind == DM_PACK ? present(w, n) : n->v[0];
		n = next == n ? NULL : next;
	}
	return n && (n->kind == DM_ARRAY || n->kind == DM_FUNCTION) ? n : NULL;
}

/* Writes a part of a type. If it stands for a pack, packs in it are other ones, which are written whole. */
static void write_half(struct dm_writer *w, const struct dm_node *n, bool of_pack, bool left)
{
	size_t at = w->at;
	if (of_pack)
		w->at = SIZE_MAX;
	if (left)
		write_left(w, n);
	else
		write_right(w, n);
	w->at = at;
}

static void write_pointer(struct dm_writer *w, const struct dm_node *n, bool left)
{
	struct str mark = n->text;
	bool member = n->kind == DM_MEMBER;
	const struct dm_node *to = member ? n->v[1] : present(w, n->v[0]);
	/* a reference to a reference is one: to an rvalue if both are */
	while (!member && *mark.p == '&' && to && to->kind == DM_POINTER && *to->text.p == '&') {
		mark = to->text.n < mark.n ? to->text : mark;
		to = present(w, to->v[0]);
	}
	if (!to)
		return;
	bool of_pack = !member && to != n->v[0] && n->v[0]->kind == DM_PACK;
	const struct dm_node *in = around(w, to);
	if (!left) {
		buf_add(w->out, in ? S(")") : S(""));
		write_half(w, to, of_pack, false);
		return;
	}
	write_half(w, to, of_pack, true);
	if (in) /* the result of a function has a blank behind it already */
		buf_add(w->out, in->kind == DM_ARRAY ? S(" (") : S("("));
	else if (member)
		buf_char(w->out, ' ');
	if (member)
		write_whole(w, n->v[0]);
	buf_add(w->out, member ? S("::*") : mark);
}

static void write_function(struct dm_writer *w, const struct dm_node *n, bool left)
{
	const struct dm_node *result = n->v[0], *name = n->v[1], *list = n->v[2], *in = result;
	if (left) {
		if (result)
			write_left(w, result);
		/* a part of the type may follow the name, as in "void (*name)(int)" */
		while (in && in->kind > DM_EXPAND && in->kind < DM_ARRAY)
			in = present(w, in->v[in->kind == DM_MEMBER]);
		if (result && !(in && around(w, in)))
			buf_char(w->out, ' ');
		if (name)
			write_whole(w, name);
		return;
	}
	buf_char(w->out, '(');
	write_list(w, list);
	buf_char(w->out, ')');
	buf_add(w->out, n->text);
	if (result)
		write_right(w, result);
}

static void write_left(struct dm_writer *w, const struct dm_node *n)
{
	const struct dm_node *one;
	w->failed |= ++w->steps > STEPS || w->depth > DEPTH || w->out->n > DEMANGLED_MAX;
	if (w->failed)
		return;
	w->depth++;
	switch (n->kind) {
	case DM_TEXT:
	case DM_PARAMETER:
		buf_add(w->out, n->text);
		break;
	case DM_SEQUENCE:
		for (size_t i = 0; i < n->n && !w->failed; i++)
			write_whole(w, n->v[i]);
		if (str_eq(n->text, S(">")) && w->out->n && w->out->p[w->out->n - 1] == '>')
			buf_char(w->out, ' '); /* c++filt keeps two '>' apart */
		buf_add(w->out, n->text);
		break;
	case DM_LIST:
		write_list(w, n);
		break;
	case DM_PACK:
		one = present(w, n);
		if (one == n)
			write_list(w, n);
		else if (one)
			write_half(w, one, true, true);
		break;
	case DM_EXPAND:
		write_expanded(w, n);
		break;
	case DM_POINTER:
	case DM_MEMBER:
		write_pointer(w, n, true);
		break;
	case DM_QUALIFIED:
		write_left(w, n->v[0]);
		buf_add(w->out, n->v[0]->kind == DM_FUNCTION ? S("") : n->text);
		break;
	case DM_ARRAY:
		write_left(w, n->v[0]);
		break;
	case DM_FUNCTION:
		write_function(w, n, true);
		break;
	}
	w->depth--;
}

static void write_right(struct dm_writer *w, const struct dm_node *n)
{
	const struct dm_node *one;
	w->failed |= ++w->steps > STEPS || w->depth > DEPTH;
	if (w->failed)
		return;
	w->depth++;
	if (n->kind == DM_PACK && (one = present(w, n)) && one != n)
		write_half(w, one, true, false);
	else if (n->kind == DM_POINTER || n->kind == DM_MEMBER)
		write_pointer(w, n, false);
	else if (n->kind == DM_FUNCTION)
		write_function(w, n, false);
	else if (n->kind == DM_QUALIFIED)
		write_right(w, n->v[0]);
	if (n->kind == DM_QUALIFIED && n->v[0]->kind == DM_FUNCTION)
		buf_add(w->out, n->text);
	if (n->kind == DM_ARRAY) {
		buf_add(w->out, w->out->n && w->out->p[w->out->n - 1] == ']' ? S("[") : S(" ["));
		write_whole(w, n->v[1]);
		buf_char(w->out, ']');
		write_right(w, n->v[0]);
	}
	w->depth--;
}

bool dm_write(struct buf *out, const struct dm_node *n, uint64_t *io_work)
{
	struct dm_writer w = {.out = out};
	write_whole(&w, n);
	*io_work += w.steps;
	return !w.failed && out->n <= DEMANGLED_MAX;
}
