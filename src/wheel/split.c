/* Splits a wheel into several; see split.h. Members keep their compressed bytes wherever they go, except those with
 * device code: in a plain split they are slimmed one by one for each wheel; for kpack each is decoded once, and its
 * objects go to the archives of all targets. */
#include "wheel/split.h"
#include "base/hash.h"
#include "base/proc.h"
#include "devcode/devcode.h"
#include "wheel/split_int.h"

static const struct json_field wheel_fields[] = {
	FIELD("path", struct split_wheel, path),
	FIELD_ENUM("role", struct split_wheel, role, split_roles),
	FIELD_LAST(FIELDS(struct split_wheel, key, members, size)),
};
const struct json_field split_fields[] = {
	FIELD_CONST("schema", "rocsmith.split/1"),
	FIELDS(struct split_done, path, output, format, why, chosen, reads, gpus, serves),
	FIELD_LIST("wheels", struct split_done, wheels, wheel_fields),
	FIELD_OPTIONAL("variants", struct split_done, variants),
	FIELD_LAST(FIELD("left", struct split_done, left)),
};

/* ---- the wheel's contents ---- */

static struct err *look_at_head(
	void *user, const struct wheel_member *m, const void *p, size_t n, uint64_t at)
{
	struct splitting *s = user;
	struct str head = {.p = p, .n = n};
	if (!at)
		s->files[m - s->w.members.v].image = elf_is(head) || bundle_is(head) || pe_is(head);
	return NULL;
}

static bool is_inside(const struct splitting *s, const struct split_file *f)
{
	return !s->overlay.n || path_is_below(f->path, s->overlay);
}

static void note_code(struct splitting *s, struct split_file *f, const struct bundle *b,
	const struct bundle_entry *e)
{
	struct slim_sum sum = {str_dup(s->a, e->target), false, 1, e->size};
	slim_sum_add(s->a, &f->targets, &sum);
	f->objects += e->size;
	struct str name = str_sub(sum.target, 0, str_chr(sum.target, ':'));
	TABLE_EACH (gpu, g) {
		bool own = !g->generic || !str_eq(str_from(g->generic), name);
		for (size_t k = 0; k < b->entries.n && !own; k++)
			own = b->entries.v[k].size &&
			      str_eq(b->entries.v[k].target, str_from(g->name));
		if (!own)
			strs_put(s->a, &s->lacking, str_from(g->name));
	}
	if (target_read(sum.target).gpu || !s->plain)
		strs_put(s->a, &s->done->gpus, name);
}

/* Notes the GPUs of a file, and the file in `left` if it has code that stays, because it is in no bundle of
 * .hip_fatbin. */
static struct err *look_into(struct splitting *s, struct split_file *f)
{
	ARENA(tmp);
	struct slim_plan p = {0};
	struct devcode d = {0};
	struct kpack_dll dll;
	bool left = false;
	TRY(split_bundles(s, &tmp, &p, &dll));
	bool right = dll.bundles.n ? !s->plain : s->plain || p.elf.src;
	f->fat = p.changed && !p.unlinked && right && is_inside(s, f);
	uint64_t from = f->fat ? p.from : 0, size = f->fat ? p.size : 0;
	TRY(devcode_scan_src(&tmp, &f->src, f->m->zip->name, 0, &d));
	VEC_EACH (const struct devcode_file, file, &d.files)
		VEC_EACH (const struct code_object, o, &file->objects)
			left = left || (o->size && o->place.bundle - from >= size);
	if (left)
		strs_add(s->a, &s->done->left, f->m->zip->name);
	if (!f->fat)
		return NULL;
	f->code = p.size;
	f->encoding = p.bundles.v[0].old.encoding;
	VEC_EACH (const struct slim_bundle, bundle, &p.bundles)
		VEC_EACH (const struct bundle_entry, e, &bundle->old.entries)
			if (e->target.n && e->size)
				note_code(s, f, &bundle->old, e);
	return NULL;
}

static struct err *look_at_all(struct splitting *s)
{
	bool below = false;
	for (size_t i = 0; i < s->w.members.n; i++) {
		struct split_file *f = &s->files[i];
		TRY(cancel_check());
		bool inside = is_inside(s, f);
		below = below || inside;
		f->owner = inside ? slim_file_owner(s->a, f->m->zip->name) : S("");
		if (f->owner.n)
			strs_put(s->a, gpu_by_name(f->owner) ? &s->done->gpus : &s->families,
				f->owner);
		f->fat = f->image && !f->owner.n;
		struct err *e = f->fat ? split_content(s, f, look_into) : NULL;
		if (e && e->code != E_ELF && e->code != E_BUNDLE)
			return e;
		f->fat = f->fat && !e; /* a damaged file is copied unchanged; `verify` reports it */
		err_free(e);
	}
	targets_sort(&s->done->gpus);
	strs_sort(&s->families);
	return below ? NULL
		     : err_new(E_USAGE, "'%.*s' has no folder '%.*s'", STR(s->q->from),
			       STR(s->overlay));
}

/* ---- the wheels ---- */

static struct slim_keep keep_of(const struct split_wheel *w, struct target *gpu)
{
	*gpu = target_read(w->key);
	return (struct slim_keep){.v = gpu, .n = 1, .exact = gpu->gpu && gpu->gpu->is_generic};
}

/* Does the wheel have this file, or a part of it? */
static bool has_file(
	const struct splitting *s, const struct split_wheel *w, const struct split_file *f)
{
	bool plain = f->fat && s->plain, own = f->owner.n && str_eq(f->owner, w->key);
	switch (w->role) {
	case SPLIT_HOST:
	case SPLIT_VARIANT:
		return !plain && !f->owner.n;
	case SPLIT_ALL:
		return plain || f->owner.n || f->licence;
	case SPLIT_DEVICE:
		return own || plain || f->licence;
	case SPLIT_FAMILY:
		return own || f->licence;
	}
	return false;
}

/* Does the wheel have the archive of this target? */
static bool has_archive(const struct split_wheel *w, struct str target)
{
	return w->role == SPLIT_DEVICE && str_eq(str_sub(target, 0, str_chr(target, ':')), w->key);
}

/* The size that a wheel's file will have, about. Bundles that are compressed already become no smaller in a wheel; machine code
 * shrinks to a third, and so does an object that is compressed without others of its kind. */
static uint64_t expected_size(const struct splitting *s, const struct split_wheel *w)
{
	enum { ROW = 150, TEXTS = 1500 }; /* a member's headers, and its row in RECORD; dist-info */
	const double third = 0.3;
	struct target gpu;
	struct slim_keep keep = keep_of(w, &gpu);
	double sum = TEXTS;
	for (size_t i = 0; i < s->w.members.n; i++) {
		const struct split_file *f = &s->files[i];
		const struct zip_member *m = f->m->zip;
		bool has = has_file(s, w, f);
		double stored = (double)m->stored, rest = stored - (double)f->code;
		double machine = third * ((double)m->size - (double)f->code);
		rest = !f->encoding && machine > rest ? machine : rest;
		rest = rest > stored || !f->fat ? stored : rest;
		double each = f->objects ? (stored - rest) / (double)f->objects : 0;
		sum += has ? ROW + 2.0 * (double)m->name.n + rest : 0;
		VEC_EACH (const struct slim_sum, x, &f->targets) {
			if (has && (w->role == SPLIT_ALL ||
					   (s->plain && slim_keeps(&keep, x->target))))
				sum += each * (double)x->bytes;
			if (!s->plain && has_archive(w, x->target))
				sum += (f->encoding && each < third ? third : each) *
				       (double)x->bytes;
		}
	}
	return sum > 0 ? (uint64_t)sum : 0;
}

/* Slims a file with device code to the code of one GPU. */
static struct err *slim_content(struct splitting *s, struct split_file *f)
{
	ARENA(tmp);
	struct slim_plan p;
	struct target gpu;
	const struct slim_keep keep = keep_of(s->now, &gpu);
	TRY(slim_read(&tmp, &f->src, &keep, &p));
	if (!p.changed)
		return NULL;
	f->content = split_scratch(s, f);
	return slim_save(&p, f->content);
}

static struct err *take_member(void *user, struct rewrite *x, struct zip_input *in)
{
	struct splitting *s = user;
	struct split_file *f = &s->files[x->at];
	const struct split_wheel *w = s->now;
	bool plain = f->fat && s->plain;
	if (!has_file(s, w, f)) {
		in->name = S("");
		return NULL;
	}
	in->name = wheel_renamed(x->a, in->name, dist_stem(s->w.info), s->stem);
	if (plain)
		f->content = S("");
	if (plain && w->role == SPLIT_DEVICE && !fs_writes_forbidden())
		TRY(split_content(s, f, slim_content));
	if (f->content.n)
		rewrite_content(in, f->content);
	return NULL;
}

/* Writes a wheel into the scratch folder, where it waits for the others. */
static struct err *make_wheel(struct splitting *s, struct split_wheel *w)
{
	ARENA(tmp);
	struct rewrite x = {.a = &tmp, .jobs = s->q->jobs};
	bool own = !s->again, host = split_is_host(w);
	x.to = path_join(&tmp, s->scratch, path_base(w->path));
	rewrite_from(&x, &s->w);
	budget_set(&s->budget, s->w.size);
	s->now = w;
	s->stem = dist_stem(s->w.info);
	if (!host)
		s->stem = str_fmt(s->a, "%.*s-%.*s",
			STR(wheel_normalise(&tmp, split_project(s, w->key))),
			STR(s->w.name.version));
	x.out.info = str_fmt(&tmp, "%.*s" DIST_INFO, STR(s->stem));
	TRY(rewrite_each(&x, take_member, s));
	if (own) {
		rewrite_text(&x, "METADATA", split_metadata(s));
		rewrite_text(&x, SPLIT_MANIFEST, split_provenance(s));
	}
	if (own && w->role == SPLIT_VARIANT)
		rewrite_text(&x, "variant.json", split_variants(s));
	if (own && !host) /* it is installed into the same folder as the host wheel */
		rewrite_text(&x, "WHEEL", wheel_text(s->a, &s->w.name, s->pure));
	VEC_EACH (const struct split_archive, it, &s->archives)
		if (has_archive(w, it->target))
			*VEC_PUSH(&tmp, &x.out) =
				(struct zip_input){.name = wheel_renamed(&tmp, it->name,
							   dist_stem(s->w.info), s->stem),
					.path = it->path,
					.mode = 0644};
	w->members = x.out.n + 1;
	TRY(rewrite_write(&x));
	if (fs_writes_forbidden())
		return NULL;
	w->size = x.size;
	if (w->role == SPLIT_VARIANT) /* the host wheel needs its files, too */
		return NULL;
	VEC_EACH (const struct zip_input, in, &x.out)
		if (in->path.n)
			TRY(fs_remove(in->path));
	return NULL;
}

static struct err *make_wheels(struct splitting *s)
{
	VEC_EACH (struct split_wheel, w, &s->done->wheels)
		TRY_CTX(make_wheel(s, w), "cannot make '%.*s'", STR(w->path));
	return NULL;
}

static void add_wheel(struct splitting *s, enum split_role role, struct str key)
{
	struct split_wheel w = {.role = role, .key = key};
	struct wheel_name name = s->w.name;
	if (!split_is_host(&w))
		name.dist = wheel_normalise(s->a, split_project(s, key));
	w.path = path_join(s->a, s->q->to, wheel_name_text(s->a, &name));
	if (role == SPLIT_VARIANT)
		w.path = str_fmt(
			s->a, "%.*s-%.*s.whl", STR(str_sub(w.path, 0, w.path.n - 4)), STR(key));
	w.size = expected_size(s, &w);
	*VEC_PUSH(s->a, &s->done->wheels) = w;
}

/* The host wheel comes last: once it is there, the others are, too. */
static struct err *list_wheels(struct splitting *s)
{
	struct str from, to;
	VEC_EACH (const struct str, gpu, &s->done->gpus) {
		/* a target of a bundle becomes part of file names, and of METADATA */
		if (!str_made_of(*gpu, "-_.:+"))
			return err_new(E_BUNDLE, "'%.*s' has code for a target with an odd name",
				STR(path_base(s->w.zip.path)));
		add_wheel(s, SPLIT_DEVICE, *gpu);
	}
	VEC_EACH (const struct str, family, &s->families)
		add_wheel(s, SPLIT_FAMILY, *family);
	s->all = s->plain && s->done->gpus.n > 1;
	if (s->all)
		add_wheel(s, SPLIT_ALL, S("all"));
	if (s->q->variants && !s->again) {
		add_wheel(s, SPLIT_VARIANT, S(SPLIT_LABEL));
		s->done->variants = path_join(s->a, s->q->to,
			str_fmt(s->a, "%.*s-%.*s-variants.json", STR(s->w.name.dist),
				STR(s->w.name.version)));
	}
	add_wheel(s, SPLIT_HOST, S(""));
	for (size_t i = 0; i <= s->done->wheels.n; i++) {
		struct str path =
			i < s->done->wheels.n ? s->done->wheels.v[i].path : s->done->variants;
		if (!path.n || !fs_present(path))
			continue;
		if (fs_real(s->a, s->q->from, &from) && fs_real(s->a, path, &to) &&
			str_eq(from, to))
			return err_hint(
				err_new(E_USAGE, "the host wheel would replace '%.*s' itself",
					STR(s->q->from)),
				"name another folder by --output");
		if (!s->q->force || !fs_is_file(path))
			return err_hint(err_new(E_USAGE, "'%.*s' exists", STR(path)),
				"--force overwrites wheels");
	}
	return NULL;
}

/* ---- all of it ---- */

/* Gives the finished files their names, and takes all of that back if one cannot have its own. Old wheels go first, and of
 * these the host wheel; the new host wheel comes last: one that is there has its device wheels. */
static struct err *put_in_place(struct splitting *s)
{
	struct strs paths = {0}, from = {0}, to = {0};
	struct str old = path_join(s->a, s->scratch, S("old"));
	struct err *e = fs_mkdirs(old);
	size_t n = 0;
	for (size_t i = s->done->wheels.n; i-- > 0;)
		strs_add(s->a, &paths, s->done->wheels.v[i].path);
	if (s->done->variants.n)
		strs_add(s->a, &paths, s->done->variants);
	for (size_t i = 0; i < paths.n; i++) {
		if (!fs_present(paths.v[i]))
			continue;
		strs_add(s->a, &from, paths.v[i]);
		strs_add(s->a, &to, path_join(s->a, old, path_base(paths.v[i])));
	}
	for (size_t i = paths.n; i-- > 0;) {
		strs_add(s->a, &from, path_join(s->a, s->scratch, path_base(paths.v[i])));
		strs_add(s->a, &to, paths.v[i]);
	}
	for (; n < from.n && !e; n += !e)
		e = fs_move(from.v[n], to.v[n], false);
	e = e ? e : fs_sync(s->q->to);
	while (e && n-- > 0)
		e = err_join(e, fs_move(to.v[n], from.v[n], false));
	return e;
}

/* Makes all files in a hidden folder beside them. */
static struct err *make_all(struct splitting *s)
{
	struct fs_stage stage = {.place = s->done->wheels.v[s->done->wheels.n - 1].path};
	TRY(fs_stage_begin(s->a, &stage));
	s->scratch = stage.tree;
	struct err *e = fs_mkdirs(s->scratch);
	if (!e && !s->plain && !s->again)
		e = split_archives(s);
	if (!e && s->done->variants.n)
		e = fs_write(path_join(s->a, s->scratch, path_base(s->done->variants)),
			split_variants(s), 0644);
	e = e ? e : make_wheels(s);
	e = e ? e : put_in_place(s);
	return err_join(e, fs_stage_end(&stage));
}

/* A licence is a file in licenses/ of the dist-info folder, or one beside METADATA that it names. */
static void note_licences(struct splitting *s)
{
	struct str folder = path_join(s->a, s->w.info, S("licenses"));
	MAP(named, s->a);
	VEC_EACH (const struct dist_header, h, &s->headers)
		if (dist_header_is(h, "License-File"))
			map_put(&named, path_join(s->a, s->w.info, h->value), NULL);
	for (size_t i = 0; i < s->w.members.n; i++) {
		struct split_file *f = &s->files[i];
		f->licence =
			path_is_below(f->m->zip->name, folder) || map_has(&named, f->m->zip->name);
	}
}

static struct err *read_texts(struct splitting *s)
{
	struct split_part part;
	struct dist_headers wheel;
	struct str text;
	BUF(all, s->a);
	bool is = false;
	TRY(wheel_headers(s->a, &s->w, "METADATA", &s->metadata, &s->headers));
	TRY(wheel_headers(s->a, &s->w, "WHEEL", &text, &wheel));
	s->project = dist_header_value(&s->headers, "Name");
	s->version = dist_header_value(&s->headers, "Version");
	s->pure = dist_header_value(&wheel, "Root-Is-Purelib");
	if (!s->project.n || !s->version.n)
		return err_new(
			E_WHEEL, "'%.*s/METADATA' has no name or no version", STR(s->w.info));
	VEC_EACH (const struct wheel_member, m, &s->w.members)
		buf_fmt(&all, "%.*s %.*s\n", STR(m->zip->name), STR(m->sha256));
	s->set = sha256_hex(s->a, buf_str(&all));
	note_licences(s);
	TRY(split_part_read(s->a, &s->w, &part, &is));
	s->again = is && str_eq(part.role, S("host"));
	if (s->again) {
		s->done->format = part.format;
		s->done->why = S("it is a host wheel already");
		s->plain = str_eq(part.format, S("plain"));
	}
	return !is || s->again
		       ? NULL
		       : err_hint(err_new(E_WHEEL,
					  "'%.*s' is the %.*s part of a wheel that was split",
					  STR(path_base(s->q->from)), STR(part.role)),
				 "'rocsmith merge' puts the parts together again");
}

static struct err *split_all(struct splitting *s)
{
	budget_set(&s->budget, s->w.size);
	TRY(read_texts(s));
	TRY(split_check_names(s));
	TRY(wheel_check(&s->w, s->q->jobs, "Checking", look_at_head, s));
	if (!s->again) {
		TRY(split_choose(s));
		TRY(look_at_all(s));
	}
	if (!s->done->gpus.n && !s->again) {
		struct err *e = err_new(E_GFX, "'%.*s' has no device code that could be taken out",
			STR(s->q->from));
		return s->done->left.n && !s->plain ? err_hint(e, "--format plain can split '%.*s'",
							      STR(s->done->left.v[0]))
						    : e;
	}
	split_list_served(s);
	if (!s->plain)
		TRY(split_name_archives(s));
	TRY(list_wheels(s));
	if (s->q->planned)
		s->q->planned(s->done);
	return fs_writes_forbidden() ? make_wheels(s) : make_all(s);
}

struct err *wheel_split(struct arena *a, const struct split_request *q, struct split_done *ret)
{
	struct splitting s = {.a = a, .q = q, .done = ret};
	*ret = (struct split_done){.path = q->from, .output = q->to, .reads = true};
	TRY(wheel_open(a, q->from, &s.w));
	s.files = arena_array(a, s.w.members.n, sizeof(*s.files));
	for (size_t i = 0; i < s.w.members.n; i++) {
		const struct wheel_member *m = &s.w.members.v[i];
		s.files[i] = (struct split_file){.m = m, .fd = -1};
		s.files[i].path = wheel_installed(m->zip->name, m->zip->name);
	}
	s.overlay = q->overlay.n ? path_clean(a, q->overlay) : S("");
	s.overlay = str_eq(s.overlay, S(".")) ? S("") : s.overlay;
	struct err *e = split_all(&s);
	for (size_t i = 0; i < s.w.members.n; i++)
		fd_closep(&s.files[i].fd);
	wheel_close(&s.w);
	return e;
}
