/* Lists kernels, and finds those that a person names; see kernels.h. */
#include "devcode/kernels.h"

#include "base/glob.h"

/* ---- lists ---- */

int kernel_order(const struct kernel_place *x, const struct kernel_place *y)
{
	int c = str_cmp(x->kernel->name, y->kernel->name);
	c = c ? c : target_order(x->object->target, y->object->target);
	return c ? c : str_cmp(x->object->target, y->object->target);
}

static int by_name(const void *x, const void *y)
{
	const struct kernel_place *a = x, *b = y;
	unsigned m = a->object->bundle, n = b->object->bundle;
	int c = kernel_order(a, b);
	c = c ? c : str_cmp(a->file->path, b->file->path);
	return c ? c : (m > n) - (m < n);
}

void kernels_list(struct arena *a, const struct devcode *d, struct kernel_places *io)
{
	VEC_EACH (const struct devcode_file, f, &d->files)
		VEC_EACH (const struct code_object, o, &f->objects)
			VEC_EACH (const struct code_kernel, k, &o->resources)
				*VEC_PUSH(a, io) = (struct kernel_place){f, o, k};
	VEC_SORT(io, by_name);
}

struct str kernel_title(const struct code_kernel *k)
{
	return k->demangled.n ? k->demangled : k->name;
}

uint64_t kernel_spills(const struct code_kernel *k)
{
	uint64_t n = k->vgpr_spills + k->sgpr_spills;
	return n < k->vgpr_spills ? UINT64_MAX : n;
}

uint64_t kernel_stored(const struct kernel_place *p)
{
	double part = p->object->size ? (double)p->object->stored / (double)p->object->size : 0;
	uint64_t n = (uint64_t)((double)p->kernel->size * part);
	return n < p->object->stored ? n : p->object->stored;
}

/* ---- wishes ---- */

/* Takes "gfx90a:sramecc+:xnack-" off the start of a text. */
static struct str take_target(struct str *rest)
{
	static const char *const features[] = {"xnack+", "xnack-", "sramecc+", "sramecc-", NULL};
	struct str all = *rest, piece, after;
	size_t n = str_chr(all, ':');
	for (;;) {
		*rest = str_sub(all, n + 1, all.n);
		after = *rest;
		if (!str_next(&after, ':', &piece) || !str_is_one_of(piece, features))
			return str_sub(all, 0, n);
		n += 1 + piece.n;
	}
}

struct err *kernel_wish_read(
	struct arena *a, struct str text, bool kernel_alone, struct kernel_wish *ret)
{
	struct str rest = text, target = take_target(&rest);
	struct strs words = {0};
	bool all = str_eq(target, S("all"));
	*ret = (struct kernel_wish){.text = text, .kernel = text};
	if (kernel_alone && !all && !target_read(target).gpu)
		return NULL;
	ret->kernel = rest;
	if (!target.n || (!rest.n && (kernel_alone || target.n < text.n)))
		return err_new(
			E_USAGE, "'%.*s' names no %s", STR(text), target.n ? "kernel" : "target");
	strs_add(a, &words, target);
	return all ? NULL : targets_parse(a, &words, &ret->targets);
}

/* Does the text have the word, with the end of a name behind it and the start of one before it? */
static bool has_word(struct str text, struct str word)
{
	for (size_t at = str_find(text, word); at < text.n;) {
		char before = at ? text.p[at - 1] : ' ';
		size_t end = at + word.n;
		char after = end < text.n ? text.p[end] : '(';
		if (strchr(" :*&", before) && strchr("(<", after))
			return true;
		at += 1 + str_find(str_sub(text, at + 1, text.n), word);
	}
	return false;
}

const struct code_kernel *kernel_wished(const struct kernel_wish *w, const struct code_object *o)
{
	VEC_EACH (const struct code_kernel, k, &o->resources)
		if (str_eq(k->name, w->kernel) || str_eq(k->demangled, w->kernel) ||
			has_word(k->demangled, w->kernel) || glob_match(w->kernel, k->name) ||
			glob_match(w->kernel, k->demangled))
			return k;
	return NULL;
}

bool object_wished(const struct kernel_wish *w, const struct code_object *o)
{
	struct target have = target_read(o->target);
	bool is = !w->targets.n;
	VEC_EACH (const struct target, t, &w->targets)
		is = is || target_covers(&have, t) ||
		     (str_eq(have.name, t->name) && target_covers(t, &have));
	return is && (!w->kernel.n || kernel_wished(w, o));
}
