/* Splits a wheel into several; see split.h. Members keep their compressed bytes wherever they go, except those with
 * device code, which are made one by one in a scratch folder. */
#include "base/fs.h"
#include "base/proc.h"
#include "devcode/devcode.h"
#include "wheel/split_int.h"

/* ---- the wheel's contents ---- */

static struct err *look_at_head(
	void *user, const struct wheel_member *m, const void *p, size_t n, uint64_t at)
{
	struct splitting *s = user;
	struct str head = {.p = p, .n = n};
	if (!at)
		s->files[m - s->w.members.v].fat = elf_is(head) || bundle_is(head);
	return NULL;
}

/* Notes the file in `left` if it has code that stays, because it is in no bundle of .hip_fatbin. */
static struct err *note_left(struct splitting *s, struct split_file *f, const struct slim_plan *p)
{
	ARENA(tmp);
	struct devcode d = {0};
	uint64_t from = f->fat ? p->from : 0, size = f->fat ? p->size : 0;
	bool left = false;
	TRY(devcode_scan_src(&tmp, &f->src, f->m->zip->name, 0, &d));
	VEC_EACH (const struct devcode_file, file, &d.files)
		VEC_EACH (const struct code_object, o, &file->objects)
			left = left || (o->size && o->place.bundle - from >= size);
	if (left)
		strs_add(s->a, &s->done->left, f->m->zip->name);
	return NULL;
}

static struct err *look_into(struct splitting *s, struct split_file *f)
{
	ARENA(tmp);
	struct slim_plan p = {0};
	const struct slim_keep none = {.none = true};
	TRY(slim_read(&tmp, &f->src, &none, &p));
	f->fat = p.changed && (p.elf.src || s->q->plain);
	TRY(note_left(s, f, &p));
	if (!f->fat)
		return NULL;
	f->encoding = p.bundles.v[0].old.encoding;
	VEC_EACH (const struct slim_sum, x, &p.targets)
		if (x->bytes && (target_read(x->target).gpu || !s->q->plain))
			strs_put(s->a, &s->done->gpus,
				str_dup(s->a, str_sub(x->target, 0, str_chr(x->target, ':'))));
	return NULL;
}

static struct err *look_at_all(struct splitting *s)
{
	for (size_t i = 0; i < s->w.members.n; i++) {
		struct split_file *f = &s->files[i];
		struct str name = f->m->zip->name;
		TRY(cancel_check());
		f->owner = slim_file_owner(s->a, name);
		if (f->owner.n)
			strs_put(s->a, gpu_by_name(f->owner) ? &s->done->gpus : &s->families,
				f->owner);
		f->fat = f->fat && !f->owner.n;
		if (!f->fat)
			continue;
		TRY_CTX(split_open(s, f), "cannot split '%.*s'", STR(name));
		struct err *e = look_into(s, f);
		split_close(s, f);
		if (e && e->code != E_ELF && e->code != E_BUNDLE)
			return err_wrap(e, "cannot split '%.*s'", STR(name));
		f->fat = f->fat && !e; /* a damaged file is copied unchanged; `verify` reports it */
		err_free(e);
	}
	targets_sort(&s->done->gpus);
	strs_sort(&s->families);
	return NULL;
}

/* ---- the wheels ---- */

struct making {
	struct splitting *s;
	struct split_wheel *w;
	struct str stem; /* NAME-VERSION */
};

static bool is_in(
	const struct splitting *s, const struct split_file *f, const struct split_wheel *w)
{
	bool fat = f->fat && s->q->plain, side = f->owner.n;
	switch (w->role) {
	case SPLIT_HOST:
	case SPLIT_VARIANT:
		return !fat && !side;
	case SPLIT_ALL:
		return fat || side;
	case SPLIT_DEVICE:
		return fat || str_eq(f->owner, w->key);
	default:
		return str_eq(f->owner, w->key);
	}
}

/* Slims a file with device code to the code of one GPU. */
static struct err *slim_member(
	struct making *k, struct rewrite *x, struct split_file *f, struct zip_input *in)
{
	struct slim_plan p;
	struct target gpu = target_read(k->w->key);
	const struct slim_keep keep = {.v = &gpu, .n = 1, .exact = gpu.gpu && gpu.gpu->is_generic};
	TRY(split_open(k->s, f));
	struct err *e = slim_read(x->a, &f->src, &keep, &p);
	if (!e && p.changed) {
		rewrite_content(in, rewrite_file(x));
		e = slim_save(&p, in->path, 0644);
	}
	split_close(k->s, f);
	return e;
}

static struct err *take_member(void *user, struct rewrite *x, struct zip_input *in)
{
	struct making *k = user;
	struct splitting *s = k->s;
	struct split_file *f = &s->files[x->at];
	bool text = str_eq(in->name, path_join(x->a, s->w.info, S("METADATA"))) && !s->again;
	if (!is_in(s, f, k->w) || text) {
		in->name = S("");
		return NULL;
	}
	in->name = wheel_renamed(x->a, in->name, dist_stem(s->w.info), k->stem);
	if (f->fat && s->q->plain && k->w->role == SPLIT_DEVICE && !fs_writes_forbidden())
		TRY_CTX(slim_member(k, x, f, in), "cannot split '%.*s'", STR(f->m->zip->name));
	if (f->host.n)
		rewrite_content(in, f->host);
	return NULL;
}

static void add_info(struct making *k, struct rewrite *x)
{
	struct splitting *s = k->s;
	bool variant = k->w->role == SPLIT_VARIANT, host = variant || k->w->role == SPLIT_HOST;
	rewrite_text(x, "METADATA",
		host ? split_host_metadata(s, variant) : split_device_metadata(s, k->w));
	rewrite_text(x, SPLIT_MANIFEST, split_manifest(s, k->w));
	if (variant)
		rewrite_text(x, "variant.json", split_variants(s));
	if (!host)
		rewrite_text(x, "WHEEL", split_device_wheel(s));
	VEC_EACH (const struct split_archive, it, &s->archives)
		if (k->w->role == SPLIT_DEVICE &&
			str_eq(str_sub(it->target, 0, str_chr(it->target, ':')), k->w->key))
			*VEC_PUSH(x->a, &x->out) =
				(struct zip_input){.name = wheel_renamed(x->a, it->name,
							   dist_stem(s->w.info), k->stem),
					.path = it->path,
					.mode = 0644};
}

static struct err *make_wheel(struct splitting *s, struct split_wheel *w)
{
	ARENA(tmp);
	struct making k = {.s = s, .w = w, .stem = dist_stem(s->w.info)};
	struct wheel_inputs all = rewrite_inputs(&tmp, &s->w);
	struct rewrite x = {.a = &tmp,
		.scratch = s->scratch,
		.to = w->path,
		.time = wheel_time(&s->w),
		.jobs = s->q->jobs};
	budget_set(&s->budget, s->w.size);
	if (w->role != SPLIT_HOST && w->role != SPLIT_VARIANT)
		k.stem = str_fmt(&tmp, "%.*s-%.*s",
			STR(wheel_normalise(&tmp, split_name(s, w->key))), STR(s->w.name.version));
	x.out.info = str_fmt(&tmp, "%.*s" DIST_INFO, STR(k.stem));
	TRY(rewrite_each(&x, &all, take_member, &k));
	if (!s->again)
		add_info(&k, &x);
	w->members = x.out.n + 1;
	TRY(rewrite_write(&x));
	w->size = x.size;
	if (fs_writes_forbidden() ||
		w->role == SPLIT_VARIANT) /* the host wheel needs its files, too */
		return NULL;
	VEC_EACH (const struct zip_input, in, &x.out)
		if (in->path.n)
			TRY(fs_remove(in->path));
	return NULL;
}

static void add_wheel(struct splitting *s, enum split_role role, struct str key)
{
	struct wheel_name name = s->w.name;
	if (role != SPLIT_HOST && role != SPLIT_VARIANT)
		name.dist = wheel_normalise(s->a, split_name(s, key));
	struct str file = wheel_name_text(s->a, &name);
	if (role == SPLIT_VARIANT)
		file = str_fmt(s->a, "%.*s-%.*s.whl", STR(str_sub(file, 0, file.n - 4)), STR(key));
	*VEC_PUSH(s->a, &s->done->wheels) = (struct split_wheel){
		.path = path_join(s->a, s->q->to, file),
		.role = role,
		.key = key,
	};
}

/* The host wheel comes last: once it is there, the others are, too. */
static struct err *list_wheels(struct splitting *s)
{
	struct str from, to;
	VEC_EACH (const struct str, gpu, &s->done->gpus)
		add_wheel(s, SPLIT_DEVICE, *gpu);
	VEC_EACH (const struct str, family, &s->families)
		add_wheel(s, SPLIT_FAMILY, *family);
	s->all = s->q->plain && s->done->gpus.n > 1;
	if (s->all)
		add_wheel(s, SPLIT_ALL, S("all"));
	if (s->q->variants && !s->again) {
		add_wheel(s, SPLIT_VARIANT, S(SPLIT_LABEL));
		s->done->variants = path_join(s->a, s->q->to,
			str_fmt(s->a, "%.*s-%.*s-variants.json", STR(s->w.name.dist),
				STR(s->w.name.version)));
	}
	add_wheel(s, SPLIT_HOST, S(""));
	VEC_EACH (const struct split_wheel, w, &s->done->wheels) {
		if (!fs_present(w->path))
			continue;
		if (fs_real(s->a, s->q->from, &from) && fs_real(s->a, w->path, &to) &&
			str_eq(from, to))
			return err_hint(
				err_new(E_USAGE, "the host wheel would replace '%.*s' itself",
					STR(s->q->from)),
				"name another folder by --output");
		if (!s->q->force || !fs_is_file(w->path))
			return err_hint(err_new(E_USAGE, "'%.*s' exists", STR(w->path)),
				"--force overwrites wheels");
	}
	return NULL;
}

static struct err *split_all(struct splitting *s)
{
	struct split_part part;
	bool is = false;
	budget_set(&s->budget, s->w.size);
	TRY(split_info_read(s));
	TRY(split_part_read(s->a, &s->w, &part, &is));
	s->again = is && str_eq(part.role, S("host"));
	if (is && !s->again)
		return err_hint(
			err_new(E_WHEEL, "'%.*s' is the %.*s part of a wheel that was split",
				STR(path_base(s->q->from)), STR(part.role)),
			"'rocsmith merge' puts the parts together again");
	TRY(wheel_check(&s->w, s->q->jobs, "Checking", look_at_head, s));
	if (!s->again)
		TRY(look_at_all(s));
	if (!s->done->gpus.n && !s->again) {
		struct err *e = err_new(E_GFX, "'%.*s' has no device code that could be taken out",
			STR(s->q->from));
		return s->done->left.n ? err_hint(e, "--format plain can split '%.*s'",
						 STR(s->done->left.v[0]))
				       : e;
	}
	TRY(list_wheels(s));
	if (!fs_writes_forbidden())
		TRY(fs_mkdirs(s->q->to));
	if (!s->q->plain && !s->again && !fs_writes_forbidden())
		TRY(split_kpack(s));
	if (s->done->variants.n && !fs_writes_forbidden())
		TRY(fs_write(s->done->variants, split_variants(s), 0644));
	VEC_EACH (struct split_wheel, w, &s->done->wheels)
		TRY_CTX(make_wheel(s, w), "cannot make '%.*s'", STR(w->path));
	return NULL;
}

struct err *wheel_split(struct arena *a, const struct split_request *q, struct split_done *ret)
{
	struct splitting s = {.a = a, .q = q, .done = ret};
	*ret = (struct split_done){
		.path = q->from, .output = q->to, .format = q->plain ? S("plain") : S("kpack")};
	TRY(wheel_open(a, q->from, &s.w));
	s.files = arena_array(a, s.w.members.n, sizeof(*s.files));
	for (size_t i = 0; i < s.w.members.n; i++)
		s.files[i] = (struct split_file){.m = &s.w.members.v[i], .fd = -1};
	struct err *e = fs_tempdir(a, S(""), &s.scratch);
	e = e ? e : split_all(&s);
	for (size_t i = 0; i < s.w.members.n; i++)
		fd_closep(&s.files[i].fd);
	wheel_close(&s.w);
	return s.scratch.n ? err_join(e, fs_remove_tree(s.scratch)) : e;
}
