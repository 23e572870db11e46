/* Writes the device code of a wheel as kpack archives, one for each target, all at once, so that each library is decoded only
 * once. See split.h, formats/kpack.h. */
#include "base/fs.h"
#include "base/proc.h"
#include "formats/kpack.h"
#include "wheel/split_int.h"

enum { MOST_TARGETS = 256 };

struct kpacking {
	struct splitting *s;
	struct str root; /* folder that gets .kpack; "" = the top of the wheel */
	/* top folder of all libraries, left out of their names; "" = they have several */
	struct str name;
	struct str group;
	VEC(struct kpack_out) out; /* parallel to s->archives */
	size_t now;                /* index of the current object's archive */
};

/* If all libraries lie below one folder, their names are relative to it. */
static void choose_names(struct kpacking *k)
{
	struct splitting *s = k->s;
	bool first = true;
	for (size_t i = 0; i < s->w.members.n; i++) {
		struct str name = s->files[i].m->zip->name, path = wheel_installed(name, name);
		size_t slash = str_chr(path, '/');
		struct str top = str_sub(path, 0, slash < path.n ? slash : 0);
		if (!s->files[i].fat)
			continue;
		k->root = k->root.n ? k->root : top;
		k->name = first || str_eq(top, k->name) ? top : S("");
		first = false;
	}
	k->group = wheel_normalise(s->a, s->w.name.dist);
}

static struct str archive_name(struct kpacking *k, struct str target)
{
	struct str file = str_fmt(k->s->a, ".kpack/%.*s_%.*s.kpack", STR(k->group), STR(target));
	return k->root.n ? path_join(k->s->a, k->root, file) : file;
}

static struct err *archive_for(struct kpacking *k, struct str target)
{
	struct splitting *s = k->s;
	for (k->now = 0; k->now < s->archives.n; k->now++)
		if (str_eq(s->archives.v[k->now].target, target))
			return NULL;
	if (s->archives.n == MOST_TARGETS)
		return err_new(E_LIMIT, "it has code for more than %d targets", MOST_TARGETS);
	target = str_dup(s->a, target);
	struct split_archive x = {.target = target,
		.name = archive_name(k, target),
		.path = str_fmt(s->a, "%.*s/archive-%zu", STR(s->scratch), k->now)};
	*VEC_PUSH(s->a, &s->archives) = x;
	return kpack_out_open(s->a, x.path, k->group, target, VEC_PUSH(s->a, &k->out));
}

struct kpack_library {
	struct kpacking *k;
	struct str name;
};

static struct err *take_object(void *user, size_t bundle, const struct bundle_entry *e,
	const struct str *piece, uint64_t at)
{
	const struct kpack_library *l = user;
	struct kpacking *k = l->k;
	if (!at) {
		TRY(archive_for(k, e->target));
		TRY(kpack_out_begin(&k->out.v[k->now], l->name, (uint32_t)bundle, e->size));
	}
	TRY(cancel_check());
	TRY(kpack_out_add(&k->out.v[k->now], piece->p, piece->n));
	return at + piece->n < e->size ? NULL : kpack_out_end(&k->out.v[k->now]);
}

static struct err *pack_library(struct kpacking *k, struct split_file *f)
{
	ARENA(tmp);
	struct splitting *s = k->s;
	struct str member = wheel_installed(f->m->zip->name, f->m->zip->name),
		   dir = path_dir(member);
	static const struct slim_keep none = {.none = true};
	struct slim_plan p;
	f->name = str_sub(member, k->name.n + (k->name.n > 0), member.n);
	struct kpack_library l = {.k = k, .name = f->name};
	struct str from = str_fmt(&tmp, "/%.*s", STR(str_eq(dir, S(".")) ? S("") : dir));
	struct str to = str_fmt(&tmp, "/%.*s", STR(archive_name(k, S("@GFXARCH@"))));
	TRY(slim_read(&tmp, &f->src, &none, &p));
	TRY(slim_objects(&p, take_object, &l));
	f->bundles = (uint32_t)p.bundles.n;
	slim_mark(&p, kpack_mark(&tmp, l.name, path_rel(&tmp, to, from)));
	f->host = str_fmt(s->a, "%.*s/host-%zu", STR(s->scratch), (size_t)(f - s->files));
	return slim_save(&p, f->host, 0644);
}

static void add_absent(struct kpacking *k, struct split_file *f, uint32_t number, struct str target)
{
	strs_add(k->s->a, &f->absent, str_fmt(k->s->a, "%u %.*s", number, STR(target)));
}

static void note_absent(struct kpacking *k, struct split_file *f)
{
	VEC_EACH (const struct kpack_out, x, &k->out) {
		uint32_t next = 0;
		bool any = false;
		VEC_EACH (const struct kpack_object, o, &x->objects) {
			if (!str_eq(o->path, f->name))
				continue;
			for (; next < o->index; next++)
				add_absent(k, f, next, x->target);
			next = o->index + 1;
			any = true;
		}
		for (; any && next < f->bundles; next++)
			add_absent(k, f, next, x->target);
		if (!any)
			strs_add(k->s->a, &f->absent, str_fmt(k->s->a, "* %.*s", STR(x->target)));
	}
}

static struct err *pack_all(struct kpacking *k)
{
	struct splitting *s = k->s;
	for (size_t i = 0; i < s->w.members.n; i++) {
		struct split_file *f = &s->files[i];
		if (!f->fat)
			continue;
		TRY(split_open(s, f));
		struct err *e = pack_library(k, f);
		split_close(s, f);
		TRY_CTX(e, "cannot split '%.*s'", STR(f->m->zip->name));
	}
	for (size_t i = 0; i < s->w.members.n; i++)
		if (s->files[i].fat)
			note_absent(k, &s->files[i]);
	VEC_EACH (struct kpack_out, o, &k->out)
		TRY(kpack_out_commit(o));
	return NULL;
}

struct err *split_kpack(struct splitting *s)
{
	struct kpacking k = {.s = s};
	choose_names(&k);
	budget_set(&s->budget, s->w.size);
	struct err *e = pack_all(&k);
	VEC_EACH (struct kpack_out, o, &k.out)
		kpack_out_close(o);
	return e;
}
