/* Puts the device code of a wheel's libraries into kpack archives, and makes host parts of the libraries. See split.h. */
#include "base/proc.h"
#include "wheel/split_int.h"

static struct str archive_name(struct splitting *s, struct str target)
{
	struct str file = str_fmt(s->a, ".kpack/%.*s_%.*s.kpack", STR(s->group), STR(target));
	return s->root.n ? path_join(s->a, s->root, file) : file;
}

struct str split_scratch(struct splitting *s, const struct split_file *f)
{
	return str_fmt(s->a, "%.*s/file-%zu", STR(s->scratch), (size_t)(f - s->files));
}

struct err *split_name_archives(struct splitting *s)
{
	enum { MOST_TARGETS = 256 };
	bool first = true;
	s->group = wheel_normalise(s->a, s->w.name.dist);
	s->root = s->overlay;
	for (size_t i = 0; i < s->w.members.n; i++) {
		struct split_file *f = &s->files[i];
		struct str top =
			s->overlay.n ? s->overlay : str_sub(f->path, 0, str_chr(f->path, '/'));
		top = top.n < f->path.n ? top : S("");
		if (!f->fat)
			continue;
		s->root = s->root.n ? s->root : top;
		s->top = first || str_eq(top, s->top) ? top : S("");
		first = false;
	}
	for (size_t i = 0; i < s->w.members.n; i++)
		VEC_EACH (const struct slim_sum, sum, &s->files[i].targets) {
			struct split_archive *x =
				VEC_FIND(struct split_archive, &s->archives, target, sum->target);
			if (x || !sum->bytes)
				continue;
			if (s->archives.n == MOST_TARGETS)
				return err_new(E_LIMIT, "it has code for more than %d targets",
					MOST_TARGETS);
			x = VEC_PUSH(s->a, &s->archives);
			x->target = sum->target;
			x->name = archive_name(s, x->target);
			x->out = (struct kpack_out){.out.fd = -1, .out.dir = -1};
		}
	return NULL;
}

static struct err *take_object(void *user, size_t bundle, const struct bundle_entry *e,
	const struct str *piece, uint64_t at)
{
	struct splitting *s = user;
	struct split_archive *x = VEC_FIND(struct split_archive, &s->archives, target, e->target);
	if (!at)
		TRY(kpack_out_begin(&x->out, s->file->name, (uint32_t)bundle, e->size));
	TRY(cancel_check());
	TRY(kpack_out_add(&x->out, piece->p, piece->n));
	return at + piece->n < e->size ? NULL : kpack_out_end(&x->out);
}

/* Notes the bundles of a file that have no code for a target of the set. */
static void note_absent(struct splitting *s, struct split_file *f, const struct slim_plan *p)
{
	VEC_EACH (const struct split_archive, x, &s->archives) {
		struct strs absent = {0};
		for (size_t i = 0; i < p->bundles.n; i++) {
			bool has = false;
			VEC_EACH (const struct bundle_entry, e, &p->bundles.v[i].old.entries)
				has = has || (e->size && str_eq(e->target, x->target));
			if (!has)
				strs_fmt(s->a, &absent, "%zu %.*s", i, STR(x->target));
		}
		if (absent.n < p->bundles.n)
			strs_add_all(s->a, &f->absent, &absent);
		else
			strs_fmt(s->a, &f->absent, "* %.*s", STR(x->target));
	}
}

static struct err *pack_library(struct splitting *s, struct split_file *f)
{
	ARENA(tmp);
	struct str dir = path_dir(f->path);
	struct slim_plan p;
	struct kpack_dll dll;
	f->name = str_sub(f->path, s->top.n + (s->top.n > 0), f->path.n);
	struct str from = str_fmt(&tmp, "/%.*s", STR(str_eq(dir, S(".")) ? S("") : dir));
	struct str to = str_fmt(&tmp, "/%.*s", STR(archive_name(s, S("@GFXARCH@"))));
	struct str mark = kpack_mark(&tmp, f->name, path_rel(&tmp, to, from));
	TRY(split_bundles(s, &tmp, &p, &dll));
	TRY(slim_objects(&p, take_object, s));
	note_absent(s, f, &p);
	f->content = split_scratch(s, f);
	if (dll.bundles.n)
		return kpack_dll_save(&dll, mark, f->content);
	slim_mark(&p, mark);
	return slim_save(&p, f->content);
}

struct err *split_archives(struct splitting *s)
{
	struct err *e = NULL;
	budget_set(&s->budget, s->w.size);
	for (size_t i = 0; i < s->archives.n && !e; i++) {
		struct split_archive *x = &s->archives.v[i];
		x->path = str_fmt(s->a, "%.*s/archive-%zu", STR(s->scratch), i);
		e = kpack_out_open(s->a, x->path, s->group, x->target, &x->out);
	}
	for (size_t i = 0; i < s->w.members.n && !e; i++)
		if (s->files[i].fat)
			e = split_content(s, &s->files[i], pack_library);
	VEC_EACH (struct split_archive, x, &s->archives) {
		e = e ? e : kpack_out_commit(&x->out);
		kpack_out_close(&x->out);
	}
	return e;
}
