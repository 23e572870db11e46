/* Splits a wheel into several; see split.h. Members keep their compressed bytes wherever they go, except those with
 * device code: in a plain split they are slimmed one by one for each wheel; for kpack each is decoded once, and its
 * objects go to the archives of all targets. */
#include "wheel/split.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "devcode/devcode.h"
#include "formats/kpack.h"
#include "formats/node.h"
#include "wheel/rewrite.h"

struct split_file { /* a member */
	const struct wheel_member *m;
	struct str owner; /* the GPU or family that a side file is for */
	bool fat;         /* it has device code that is taken out */
	enum bundle_encoding encoding;
	struct bytes src; /* its content, while it is open */
	int fd;
	struct str
		path; /* its new content, a file in the scratch folder: a host part, or code for one GPU */
	/* kpack: its name in archives; number of its bundles; split_member.absent */
	struct str name;
	uint32_t bundles;
	struct strs absent;
};

struct split_archive {                 /* a kpack archive */
	struct str target, name, path; /* name in the wheel; path of the file */
	struct kpack_out out;
};

struct splitting {
	struct arena *a;
	const struct split_request *q;
	struct split_done *done;
	struct wheel w;
	struct split_file *files; /* parallel to w.members */
	struct strs families;
	struct str metadata, version, project, python, pure; /* from its dist-info folder */
	struct str set, scratch;
	struct budget budget; /* the cost of reading all contents; reset for each new wheel */
	unsigned open;        /* contents that stay open */
	bool all;             /* there is a wheel for all GPUs */
	bool again;           /* this is a host wheel already */
	/* kpack: `root` gets the folder .kpack ("": the top of the wheel does); `top` is the folder of all libraries,
	 * left out of their names ("": they have several) */
	struct str group, root, top;
	VEC(struct split_archive) archives;
	struct split_file *file;       /* the current file */
	const struct split_wheel *now; /* the current new wheel, and its NAME-VERSION */
	struct str stem;
};

static const struct slim_keep none = {.none = true};

static const char *const roles[] = {"host", "device", "family", "all", "variant", NULL};
static const struct json_field wheel_fields[] = {
	FIELD("path", struct split_wheel, path),
	FIELD_ENUM("role", struct split_wheel, role, roles),
	FIELDS(struct split_wheel, key, members, size),
	{.kind = FIELD_END},
};
const struct json_field split_fields[] = {
	FIELD_CONST("schema", "rocsmith.split/1"),
	FIELDS(struct split_done, path, output, format, gpus),
	FIELD_LIST("wheels", struct split_done, wheels, wheel_fields),
	FIELD_OPTIONAL("variants", struct split_done, variants),
	FIELD("left", struct split_done, left),
	{.kind = FIELD_END},
};

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

/* Calls fn for a file whose content is open. While few are, it stays open for the next wheel. */
static struct err *with_content(struct splitting *s, struct split_file *f,
	struct err *(*fn)(struct splitting *s, struct split_file *f))
{
	enum { OPEN = 200 };
	struct err *e = NULL;
	if (!f->src.read) {
		e = zip_src(&s->w.zip, f->m->zip, &f->src, &f->fd);
		s->open += f->fd >= 0;
	}
	f->src.budget = &s->budget;
	s->file = f;
	e = e ? e : fn(s, f);
	if (f->fd >= 0 && s->open >= OPEN) {
		fd_closep(&f->fd);
		s->open--;
		f->src = (struct bytes){0};
	}
	return e ? err_wrap(e, "cannot split '%.*s'", STR(f->m->zip->name)) : NULL;
}

/* Notes the GPUs of a file, and the file in `left` if it has code that stays, because it is in no bundle of
 * .hip_fatbin. */
static struct err *look_into(struct splitting *s, struct split_file *f)
{
	ARENA(tmp);
	struct slim_plan p = {0};
	struct devcode d = {0};
	bool left = false;
	TRY(slim_read(&tmp, &f->src, &none, &p));
	f->fat = p.changed && (p.elf.src || s->q->plain);
	uint64_t from = f->fat ? p.from : 0, size = f->fat ? p.size : 0;
	TRY(devcode_scan_src(&tmp, &f->src, f->m->zip->name, 0, &d));
	VEC_EACH (const struct devcode_file, file, &d.files)
		VEC_EACH (const struct code_object, o, &file->objects)
			left = left || (o->size && o->place.bundle - from >= size);
	if (left)
		strs_add(s->a, &s->done->left, f->m->zip->name);
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
		TRY(cancel_check());
		f->owner = slim_file_owner(s->a, f->m->zip->name);
		if (f->owner.n)
			strs_put(s->a, gpu_by_name(f->owner) ? &s->done->gpus : &s->families,
				f->owner);
		f->fat = f->fat && !f->owner.n;
		struct err *e = f->fat ? with_content(s, f, look_into) : NULL;
		if (e && e->code != E_ELF && e->code != E_BUNDLE)
			return e;
		f->fat = f->fat && !e; /* a damaged file is copied unchanged; `verify` reports it */
		err_free(e);
	}
	targets_sort(&s->done->gpus);
	strs_sort(&s->families);
	return NULL;
}

/* ---- kpack ---- */

static struct str archive_name(struct splitting *s, struct str target)
{
	struct str file = str_fmt(s->a, ".kpack/%.*s_%.*s.kpack", STR(s->group), STR(target));
	return s->root.n ? path_join(s->a, s->root, file) : file;
}

static struct str content_path(struct splitting *s, const struct split_file *f)
{
	return str_fmt(s->a, "%.*s/file-%zu", STR(s->scratch), (size_t)(f - s->files));
}

static struct err *take_object(void *user, size_t bundle, const struct bundle_entry *e,
	const struct str *piece, uint64_t at)
{
	enum { MOST_TARGETS = 256 };
	struct splitting *s = user;
	struct split_archive *x = NULL;
	VEC_EACH (struct split_archive, it, &s->archives)
		x = str_eq(it->target, e->target) ? it : x;
	if (!x && s->archives.n == MOST_TARGETS)
		return err_new(E_LIMIT, "it has code for more than %d targets", MOST_TARGETS);
	if (!x) {
		x = VEC_PUSH(s->a, &s->archives);
		x->target = str_dup(s->a, e->target);
		x->name = archive_name(s, x->target);
		x->path = str_fmt(s->a, "%.*s/archive-%zu", STR(s->scratch), s->archives.n);
		TRY(kpack_out_open(s->a, x->path, s->group, x->target, &x->out));
	}
	if (!at)
		TRY(kpack_out_begin(&x->out, s->file->name, (uint32_t)bundle, e->size));
	TRY(cancel_check());
	TRY(kpack_out_add(&x->out, piece->p, piece->n));
	return at + piece->n < e->size ? NULL : kpack_out_end(&x->out);
}

static struct err *pack_library(struct splitting *s, struct split_file *f)
{
	ARENA(tmp);
	struct str member = wheel_installed(f->m->zip->name, f->m->zip->name),
		   dir = path_dir(member);
	struct slim_plan p;
	f->name = str_sub(member, s->top.n + (s->top.n > 0), member.n);
	struct str from = str_fmt(&tmp, "/%.*s", STR(str_eq(dir, S(".")) ? S("") : dir));
	struct str to = str_fmt(&tmp, "/%.*s", STR(archive_name(s, S("@GFXARCH@"))));
	TRY(slim_read(&tmp, &f->src, &none, &p));
	TRY(slim_objects(&p, take_object, s));
	f->bundles = (uint32_t)p.bundles.n;
	slim_mark(&p, kpack_mark(&tmp, f->name, path_rel(&tmp, to, from)));
	f->path = content_path(s, f);
	return slim_save(&p, f->path, 0644);
}

/* Notes the bundles of a file for which an archive has no code. An archive's objects are in the order of their files
 * and bundles. */
static void note_absent(struct splitting *s, struct split_file *f)
{
	VEC_EACH (const struct split_archive, x, &s->archives) {
		uint32_t next = 0;
		for (size_t i = 0; i <= x->out.objects.n; i++) {
			const struct kpack_object *o =
				i < x->out.objects.n ? &x->out.objects.v[i] : NULL;
			if (o && !str_eq(o->path, f->name))
				continue;
			uint32_t stop = o ? o->index : next ? f->bundles : 0;
			for (; next < stop; next++)
				strs_add(s->a, &f->absent,
					str_fmt(s->a, "%u %.*s", next, STR(x->target)));
			next = o ? o->index + 1 : next;
		}
		if (!next)
			strs_add(s->a, &f->absent, str_fmt(s->a, "* %.*s", STR(x->target)));
	}
}

/* Makes the archives and the host parts. If all libraries lie below one folder, their names are relative to it. */
static struct err *pack_libraries(struct splitting *s)
{
	bool first = true;
	budget_set(&s->budget, s->w.size);
	s->group = wheel_normalise(s->a, s->w.name.dist);
	for (size_t i = 0; i < s->w.members.n; i++) {
		struct str name = s->files[i].m->zip->name, path = wheel_installed(name, name);
		size_t slash = str_chr(path, '/');
		struct str top = str_sub(path, 0, slash < path.n ? slash : 0);
		if (!s->files[i].fat)
			continue;
		s->root = s->root.n ? s->root : top;
		s->top = first || str_eq(top, s->top) ? top : S("");
		first = false;
	}
	struct err *e = NULL;
	for (size_t i = 0; i < s->w.members.n && !e; i++)
		if (s->files[i].fat)
			e = with_content(s, &s->files[i], pack_library);
	for (size_t i = 0; i < s->w.members.n && !e; i++)
		if (s->files[i].fat)
			note_absent(s, &s->files[i]);
	VEC_EACH (struct split_archive, x, &s->archives) {
		e = e ? e : kpack_out_commit(&x->out);
		kpack_out_close(&x->out);
	}
	return e;
}

/* ---- names and requirements ---- */

static struct str dashed(struct splitting *s, struct str name)
{
	return str_replace(s->a, name, S("_"), S("-"));
}

/* The project name of a device wheel. */
static struct str project_of(struct splitting *s, struct str key)
{
	return str_fmt(s->a, "amd-%.*s-device-%.*s",
		STR(dashed(s, wheel_normalise(s->a, s->w.name.dist))), STR(dashed(s, key)));
}

/* The wheels that a GPU's wheel needs beside the host wheel: its families, and generic code, which plain libraries contain. */
static struct strs parents(struct splitting *s, struct str key)
{
	struct strs ret = {0};
	const struct gpu *gpu = gpu_by_name(key);
	struct str generic = str_from(gpu ? gpu->generic : NULL);
	VEC_EACH (const struct str, family, &s->families)
		if (slim_owner_covers(*family, key))
			strs_add(s->a, &ret, *family);
	if (!s->q->plain && strs_has(&s->done->gpus, generic))
		strs_add(s->a, &ret, generic);
	return ret;
}

static void require_all(
	struct splitting *s, struct buf *b, const struct strs *keys, struct str marker)
{
	VEC_EACH (const struct str, key, keys)
		buf_fmt(b, "Requires-Dist: %.*s == %.*s%s%.*s\n", STR(project_of(s, *key)),
			STR(s->version), marker.n ? "; " : "", STR(marker));
}

static struct str host_headers(struct splitting *s)
{
	BUF(b, s->a);
	struct strs all = {0};
	VEC_EACH (const struct str, gpu, &s->done->gpus) {
		struct strs more = {0}, up = parents(s, *gpu);
		struct str extra = str_fmt(s->a, "device-%.*s", STR(dashed(s, *gpu)));
		strs_add(s->a, &more, *gpu);
		strs_add_all(s->a, &more, &up);
		buf_fmt(&b, "Provides-Extra: %.*s\n", STR(extra));
		require_all(s, &b, &more, str_fmt(s->a, "extra == \"%.*s\"", STR(extra)));
	}
	if (s->all) {
		strs_add(s->a, &all, S("all"));
	} else {
		strs_add_all(s->a, &all, &s->done->gpus);
		strs_add_all(s->a, &all, &s->families);
	}
	buf_add(&b, S("Provides-Extra: device-all\n"));
	require_all(s, &b, &all, S("extra == \"device-all\""));
	return buf_str(&b);
}

/* The GPUs that have code of their own or generic code; adds the requirements of each to b. */
static struct strs list_variants(struct splitting *s, struct buf *b)
{
	struct strs values = {0};
	for (size_t i = 0; i < gpu_count; i++) {
		struct str gpu = str_from(gpu_table()[i].name),
			   generic = str_from(gpu_table()[i].generic);
		struct strs keys = parents(s, gpu);
		bool own = strs_has(&s->done->gpus, gpu);
		if (gpu_table()[i].is_generic || (!own && !strs_has(&s->done->gpus, generic)))
			continue;
		strs_put(s->a, &keys, own ? gpu : generic);
		strs_add(s->a, &values, gpu);
		require_all(s, b, &keys,
			str_fmt(s->a, "\"amd :: gfx_arch :: %.*s\" in variant_properties",
				STR(gpu)));
	}
	strs_sort(&values);
	return values;
}

struct split_variants {
	struct strs namespace, gfx_arch;
};

static const struct json_field arch_fields[] = FIELDS_ONLY(struct split_variants, gfx_arch);
static const struct json_field amd_fields[] = {FIELD_PART("amd", arch_fields), {.kind = FIELD_END}};
static const struct json_field label_fields[] = {
	FIELD_PART(SPLIT_LABEL, amd_fields), {.kind = FIELD_END}};
static const struct json_field priority_fields[] = FIELDS_ONLY(struct split_variants, namespace);
static const struct json_field variants_fields[] = {
	FIELD_CONST("$schema", "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json"),
	FIELD_PART("default-priorities", priority_fields),
	FIELD_PART("variants", label_fields),
	{.kind = FIELD_END},
};

/* variant.json, and the index file. */
static struct str variants_text(struct splitting *s)
{
	BUF(ignored, s->a);
	struct split_variants v = {.gfx_arch = list_variants(s, &ignored)};
	strs_add(s->a, &v.namespace, S("amd"));
	return json_document(s->a, 2, variants_fields, &v);
}

/* ---- the wheels ---- */

static bool is_host(const struct split_wheel *w)
{
	return w->role == SPLIT_HOST || w->role == SPLIT_VARIANT;
}

/* New headers go behind the last one, or before the version if the last line has no line break. */
static struct str host_metadata(struct splitting *s)
{
	BUF(more, s->a);
	struct str text = s->metadata, rest = text, line;
	size_t at = text.n, version = 0, from = 0;
	for (; at == text.n && str_next(&rest, '\n', &line); from = text.n - rest.n) {
		at = str_trim(line).n ? at : from;
		version = str_starts(str_lower(s->a, line), S("version:")) ? from : version;
	}
	if (at == text.n && !str_ends(text, S("\n")))
		at = version;
	buf_add(&more, host_headers(s));
	if (s->now->role == SPLIT_VARIANT)
		(void)list_variants(s, &more);
	return str_fmt(s->a, "%.*s%.*s%.*s", STR(str_sub(text, 0, at)), STR(buf_str(&more)),
		STR(str_sub(text, at, text.n)));
}

static struct str device_metadata(struct splitting *s)
{
	BUF(b, s->a);
	struct str key = s->now->key;
	struct strs more = s->now->role == SPLIT_DEVICE ? parents(s, key) : (struct strs){0};
	buf_fmt(&b, "Metadata-Version: 2.1\nName: %.*s\nVersion: %.*s\n", STR(project_of(s, key)),
		STR(s->version));
	buf_fmt(&b, "Summary: Device code of %.*s for %.*s\n", STR(s->project), STR(key));
	if (s->python.n)
		buf_fmt(&b, "Requires-Python: %.*s\n", STR(s->python));
	buf_fmt(&b, "Requires-Dist: %.*s == %.*s\n", STR(s->project), STR(s->version));
	require_all(s, &b, &more, S(""));
	return buf_str(&b);
}

static struct str provenance(struct splitting *s)
{
	bool host = s->now->role == SPLIT_HOST;
	struct split_part x = {.wheel = path_base(s->q->from),
		.set = s->set,
		.format = s->done->format,
		.role = str_from(roles[s->now->role]),
		.key = s->now->key,
		.keys = s->done->gpus,
		.headers = host ? host_headers(s) : S("")};
	for (size_t i = 0; i < s->w.members.n; i++) {
		const struct split_file *f = &s->files[i];
		if (f->fat)
			*VEC_PUSH(s->a, &x.members) = (struct split_member){f->m->zip->name,
				str_from(split_encodings[f->encoding]),
				host ? f->absent : (struct strs){0}};
	}
	return json_document(s->a, 2, split_part_fields, &x);
}

/* Slims a file with device code to the code of one GPU. */
static struct err *slim_content(struct splitting *s, struct split_file *f)
{
	ARENA(tmp);
	struct slim_plan p;
	struct target gpu = target_read(s->now->key);
	const struct slim_keep keep = {.v = &gpu, .n = 1, .exact = gpu.gpu && gpu.gpu->is_generic};
	TRY(slim_read(&tmp, &f->src, &keep, &p));
	if (!p.changed)
		return NULL;
	f->path = content_path(s, f);
	return slim_save(&p, f->path, 0644);
}

static struct err *take_member(void *user, struct rewrite *x, struct zip_input *in)
{
	struct splitting *s = user;
	struct split_file *f = &s->files[x->at];
	const struct split_wheel *w = s->now;
	bool plain = f->fat && s->q->plain, text = rewrite_is(x, in, "METADATA") && !s->again;
	bool ours = str_eq(f->owner, w->key);
	if (is_host(w))
		ours = !plain && !f->owner.n && !text;
	else if (w->role == SPLIT_ALL)
		ours = plain || f->owner.n;
	else if (w->role == SPLIT_DEVICE)
		ours = ours || plain;
	if (!ours) {
		in->name = S("");
		return NULL;
	}
	in->name = wheel_renamed(x->a, in->name, dist_stem(s->w.info), s->stem);
	if (plain)
		f->path = S("");
	if (plain && w->role == SPLIT_DEVICE && !fs_writes_forbidden())
		TRY(with_content(s, f, slim_content));
	if (f->path.n)
		rewrite_content(in, f->path);
	return NULL;
}

static struct err *make_wheel(struct splitting *s, struct split_wheel *w)
{
	ARENA(tmp);
	struct rewrite x = {.a = &tmp, .to = w->path, .jobs = s->q->jobs};
	bool own = !s->again, host = is_host(w);
	rewrite_from(&x, &s->w);
	budget_set(&s->budget, s->w.size);
	s->now = w;
	s->stem = dist_stem(s->w.info);
	if (!host)
		s->stem = str_fmt(s->a, "%.*s-%.*s",
			STR(wheel_normalise(&tmp, project_of(s, w->key))), STR(s->w.name.version));
	x.out.info = str_fmt(&tmp, "%.*s" DIST_INFO, STR(s->stem));
	TRY(rewrite_each(&x, take_member, s));
	if (own) {
		rewrite_text(&x, "METADATA", host ? host_metadata(s) : device_metadata(s));
		rewrite_text(&x, SPLIT_MANIFEST, provenance(s));
	}
	if (own && w->role == SPLIT_VARIANT)
		rewrite_text(&x, "variant.json", variants_text(s));
	if (own && !host) /* it is installed into the same folder as the host wheel */
		rewrite_text(&x, "WHEEL", wheel_text(s->a, &s->w.name, s->pure));
	VEC_EACH (const struct split_archive, it, &s->archives)
		if (w->role == SPLIT_DEVICE &&
			str_eq(str_sub(it->target, 0, str_chr(it->target, ':')), w->key))
			*VEC_PUSH(&tmp, &x.out) =
				(struct zip_input){.name = wheel_renamed(&tmp, it->name,
							   dist_stem(s->w.info), s->stem),
					.path = it->path,
					.mode = 0644};
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
	struct split_wheel w = {.role = role, .key = key};
	struct wheel_name name = s->w.name;
	if (!is_host(&w))
		name.dist = wheel_normalise(s->a, project_of(s, key));
	w.path = path_join(s->a, s->q->to, wheel_name_text(s->a, &name));
	if (role == SPLIT_VARIANT)
		w.path = str_fmt(
			s->a, "%.*s-%.*s.whl", STR(str_sub(w.path, 0, w.path.n - 4)), STR(key));
	*VEC_PUSH(s->a, &s->done->wheels) = w;
}

/* The host wheel comes last: once it is there, the others are, too. */
static struct err *list_wheels(struct splitting *s)
{
	struct str from, to;
	VEC_EACH (const struct str, gpu, &s->done->gpus) {
		/* a target of a bundle becomes part of file names, and of METADATA */
		for (size_t i = 0; i < gpu->n; i++)
			if (!ascii_alnum(gpu->p[i]) && !memchr("-_.:+", gpu->p[i], 5))
				return err_new(E_BUNDLE,
					"'%.*s' has code for a target with an odd name",
					STR(path_base(s->w.zip.path)));
		add_wheel(s, SPLIT_DEVICE, *gpu);
	}
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
	struct dist_headers meta, wheel;
	struct str text;
	BUF(all, s->a);
	bool is = false, dry = fs_writes_forbidden();
	budget_set(&s->budget, s->w.size);
	TRY(wheel_headers(s->a, &s->w, "METADATA", &s->metadata, &meta));
	TRY(wheel_headers(s->a, &s->w, "WHEEL", &text, &wheel));
	s->project = dist_header_value(&meta, "Name");
	s->version = dist_header_value(&meta, "Version");
	s->python = dist_header_value(&meta, "Requires-Python");
	s->pure = dist_header_value(&wheel, "Root-Is-Purelib");
	if (!s->project.n || !s->version.n)
		return err_new(
			E_WHEEL, "'%.*s/METADATA' has no name or no version", STR(s->w.info));
	VEC_EACH (const struct wheel_member, m, &s->w.members)
		buf_fmt(&all, "%.*s %.*s\n", STR(m->zip->name), STR(m->sha256));
	s->set = sha256_hex(s->a, buf_str(&all));
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
	if (!dry)
		TRY(fs_mkdirs(s->q->to));
	if (!s->q->plain && !s->again && !dry)
		TRY(pack_libraries(s));
	if (s->done->variants.n && !dry)
		TRY(fs_write(s->done->variants, variants_text(s), 0644));
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
