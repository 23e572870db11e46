/* The fat wheel as it is written: search paths, smaller libraries, the texts of dist-info. See fat.h. */
#include "wheel/fat.h"

#include "base/fs.h"
#include "base/proc.h"
#include "base/progress.h"
#include "wheel/fat_int.h"

/* ---- the report ---- */

static const struct json_field library_fields[] =
	FIELDS_ONLY(struct fat_library, name, source, needed_by, before, after);
static const struct json_field side_fields[] =
	FIELDS_ONLY(struct fat_side, name, source, files, bytes);
static const struct json_field outside_fields[] = FIELDS_ONLY(struct fat_outside, name, needed_by);

const struct json_field fat_fields[] = {
	FIELD_CONST("schema", "rocsmith.bundle/1"),
	FIELDS(struct fat_report, path, output, sdk, platform),
	FIELDS_IN(struct fat_report, slim, gpus, exact, before, after),
	FIELDS(struct fat_report, size, edited, dropped),
	FIELD_LIST("libraries", struct fat_report, libraries, library_fields),
	FIELD_LIST("side", struct fat_report, side, side_fields),
	FIELD_LIST("outside", struct fat_report, outside, outside_fields),
	{.kind = FIELD_END},
};

/* ---- search paths ---- */

/* Of the wheel's own: elements that lead from the library to somewhere else than ROCm's packages. false: none had to go. */
static bool keep_elements(struct fat *f, const struct fat_lib *lib, struct str path,
	struct strs *elements, struct strs *there)
{
	bool gone = lib->sdk;
	for (size_t i = 0, from = 0; path.n && !lib->sdk && i <= path.n; i++) {
		if (i < path.n && path.p[i] != ':')
			continue;
		struct str element = str_sub(path, from, i);
		struct str to = wheel_origin(f->a, element, lib->site);
		from = i + 1;
		if (!to.n || str_starts(to, S("_rocm_sdk")) || str_contains(to, S("/_rocm_sdk"))) {
			gone = true;
			continue;
		}
		strs_put(f->a, elements, element);
		strs_add(f->a, there, to);
	}
	return gone;
}

static void set_path(struct fat *f, struct fat_lib *lib)
{
	struct arena *a = f->a;
	const struct elf_dynamic *dyn = &lib->elf.dyn;
	struct str path = dyn->runpath.n ? dyn->runpath : dyn->rpath;
	struct strs elements = {0}, there = {0};
	if (!lib->site.n || (!keep_elements(f, lib, path, &elements, &there) && !lib->served))
		return;
	if (lib->sdk) /* also for what it loads by name */
		strs_put(a, &lib->dirs, path_dir(lib->site));
	VEC_EACH (const struct str, dir, &lib->dirs)
		if (!strs_has(&there, *dir))
			strs_put(a, &elements, wheel_way(a, path_dir(lib->site), *dir));
	struct str now = str_join(a, &elements, S(":"));
	if (!str_eq(now, dyn->runpath))
		*VEC_PUSH(a, &lib->changes) = (struct elf_change){ELF_RUNPATH, S(""), now};
	if (dyn->rpath.n)
		*VEC_PUSH(a, &lib->changes) = (struct elf_change){ELF_RPATH, S(""), S("")};
	if (lib->sdk && lib->bare)
		*VEC_PUSH(a, &lib->changes) =
			(struct elf_change){ELF_SONAME, S(""), path_base(lib->site)};
}

/* ---- files ---- */

static struct err *copy_piece(void *user, const void *p, size_t n, bool *stop)
{
	struct zip_sink *to = user;
	(void)stop;
	to->at += n;
	return fs_pwrite(to->fd, p, n, to->at - n);
}

static struct err *copy(const struct zip_input *in, struct str path)
{
	struct zip_sink to = {.fd = -1};
	struct stat st;
	if (in->path.n) {
		TRY(fs_stat(in->path, &st));
		st.st_mode = 0644;
		return fs_stage_copy(in->path, path, &st);
	}
	TRY(fs_open_shared(path, 0, &to.fd));
	struct err *e = zip_stream(in->zip, in->member, copy_piece, &to);
	fd_closep(&to.fd);
	return e;
}

/* Other needs and paths, in a copy. */
static struct err *edit(struct zip_input *in, const struct fat_lib *lib, struct str scratch)
{
	CLEANUP(fd_closep) int fd = -1;
	bool changed;
	if (!str_eq(in->path, scratch))
		TRY(copy(in, scratch));
	in->path = scratch;
	in->member = NULL;
	TRY(fs_open_shared(scratch, 0, &fd));
	return elf_edit_fd(fd, &lib->changes, &changed);
}

static const struct fat_lib *lib_of(const struct fat *f, size_t input)
{
	VEC_EACH (const struct fat_lib, lib, &f->libs)
		if (lib->input == input)
			return lib;
	return NULL;
}

static struct err *make_all(struct fat *f, struct str scratch)
{
	CLEANUP(progress_endp)
	struct progress *p =
		progress_begin(S("Bundling"), path_base(f->r->output), UNIT_ITEMS, f->inputs.n);
	struct wheel_inputs kept = {.info = f->inputs.info};
	for (size_t i = 0; i < f->inputs.n; i++) {
		const struct fat_lib *lib = lib_of(f, i);
		struct zip_input *in = &f->inputs.v[i];
		struct str file = str_fmt(f->a, "%.*s/%zu", STR(scratch), i);
		uint64_t before = f->r->slim.after;
		bool edited = lib && lib->changes.n;
		TRY(cancel_check());
		progress_add(p, 1, in->name);
		if (!lib && !slim_keeps_file(&f->q->keep, in->name)) {
			slim_note(f->a, &f->r->slim, in->name, in->member ? in->member->size : 0,
				NULL);
			continue;
		}
		TRY_CTX(wheel_slim_input(f->a, &f->q->keep, &f->r->slim, in, file),
			"cannot take '%.*s'", STR(in->name));
		if (edited && !fs_writes_forbidden())
			TRY_CTX(edit(in, lib, file), "cannot edit '%.*s'", STR(in->name));
		if (edited && !lib->sdk)
			strs_add(f->a, &f->r->edited, in->name);
		VEC_EACH (struct fat_library, x, &f->r->libraries)
			if (str_eq(x->name, in->name))
				x->after = f->r->slim.after - before;
		*VEC_PUSH(f->a, &kept) = *in;
	}
	f->inputs = kept;
	return NULL;
}

/* ---- texts ---- */

static bool is_rocm(struct arena *a, struct str project)
{
	static const char *const begins[] = {
		"rocm_sdk", "amd_torch_device", "rocm_bootstrap", NULL};
	struct str name = wheel_normalise(a, project);
	for (unsigned i = 0; begins[i]; i++)
		if (str_starts(name, str_from(begins[i])))
			return true;
	return str_eq(name, S("rocm")) || str_eq(name, S("rocm_profiler"));
}

/* Does a line of METADATA ask for packages that the wheel now has inside? Extras that were only for these go, too. */
static bool asks_for_rocm(struct fat *f, struct str key, struct str value)
{
	struct requirement r;
	key = str_lower(f->a, key);
	if (str_eq(key, S("provides-extra")))
		return str_starts(str_trim(value), S("device-")) || is_rocm(f->a, str_trim(value));
	if (!str_eq(key, S("requires-dist")))
		return false;
	struct err *e = requirement_parse(str_trim(value), &r);
	bool is = !e && is_rocm(f->a, r.name);
	err_free(e);
	if (is)
		strs_put(f->a, &f->r->dropped, str_trim(value));
	return is;
}

/* The field that a text begins with, and the lines that continue it. */
static size_t field_end(struct str text)
{
	size_t n = 0;
	do
		n += str_chr(str_sub(text, n, text.n), '\n') + 1;
	while (n < text.n && (text.p[n] == ' ' || text.p[n] == '\t'));
	return n < text.n ? n : text.n;
}

static struct str without_rocm(struct fat *f, struct str text)
{
	BUF(b, f->a);
	struct str rest = text, key, value;
	while (rest.n && str_trim(str_sub(rest, 0, str_chr(rest, '\n'))).n) {
		struct str field = str_sub(rest, 0, field_end(rest));
		struct str flat = str_replace(f->a, str_trim(field), S("\n"), S(" "));
		bool gone = str_cut(flat, ':', &key, &value) && asks_for_rocm(f, key, value);
		if (!gone)
			buf_add(&b, field);
		rest = str_sub(rest, field.n, rest.n);
	}
	buf_add(&b, rest);
	return buf_str(&b);
}

static struct err *text_of(struct fat *f, const struct zip_input *in, struct str *ret)
{
	*ret = in->content;
	return in->member ? zip_read(f->a, in->zip, in->member, WHEEL_TEXT, ret) : NULL;
}

static void set_text(struct zip_input *in, struct str text)
{
	*in = (struct zip_input){.name = in->name, .mode = in->mode, .content = text};
}

/* METADATA, and the file by which PyTorch asks ROCm's packages to load themselves: there are none. */
static struct err *write_texts(struct fat *f)
{
	struct str metadata = path_join(f->a, f->inputs.info, S("METADATA")), text;
	VEC_EACH (struct zip_input, in, &f->inputs) {
		bool init = str_eq(path_base(in->name), S("_rocm_init.py"));
		if (!init && !str_eq(in->name, metadata))
			continue;
		TRY(text_of(f, in, &text));
		if (!init)
			set_text(in, without_rocm(f, text));
		if (!init || !str_contains(text, S("rocm_sdk")))
			continue;
		strs_put(f->a, &f->r->dropped, in->name);
		set_text(in, S("# ROCm's libraries are in this wheel.\n\n\ndef initialize():\n    "
			       "pass\n"));
	}
	return NULL;
}

/* ---- the wheel ---- */

/* The tag promises what all libraries keep, or it is another one. */
static struct err *choose_platform(struct fat *f, struct wheel_name *n)
{
	struct wheel_elfs elfs = {0};
	struct wheel_platform p;
	struct str rest = n->platform, tag, arch;
	bool holds = true;
	VEC_EACH (const struct fat_lib, lib, &f->libs)
		*VEC_PUSH(f->a, &elfs) = lib->elf;
	TRY(wheel_platform_of(f->a, &elfs, &p));
	while (str_next(&rest, '.', &tag)) {
		unsigned glibc = wheel_tag_glibc(tag, &arch);
		bool linux = str_starts(tag, S("linux_"));
		holds = holds && (linux || (glibc >= p.minor && !p.outside.n && !p.beyond.n));
	}
	n->platform = holds ? n->platform : p.tag;
	f->r->platform = n->platform;
	return NULL;
}

static struct err *fatten(struct fat *f, struct wheel_name *name, struct str scratch)
{
	struct zip_writer how = {.jobs = f->q->wheel.jobs, .budget = f->q->budget};
	struct stat st;
	struct str info;
	if (!fs_writes_forbidden())
		TRY(wheel_check(&f->w, how.jobs, "Checking", NULL, NULL));
	TRY(wheel_under_name(f->a, &f->q->wheel, &f->w, name, &f->inputs));
	TRY(fat_find(f));
	f->r->platform = name->platform;
	if (!f->windows)
		TRY(choose_platform(f, name));
	TRY(wheel_place(f->a, &f->q->wheel, name, &f->r->output));
	/* WHEEL has the tag */
	struct wheel_inputs again = {0};
	TRY(wheel_under_name(f->a, &f->q->wheel, &f->w, name, &again));
	info = path_join(f->a, again.info, S("WHEEL"));
	for (size_t i = 0; i < again.n; i++)
		if (str_eq(again.v[i].name, info))
			f->inputs.v[i] = again.v[i];
	for (size_t i = 0; !f->windows && i < f->libs.n; i++)
		set_path(f, &f->libs.v[i]);
	TRY(write_texts(f));
	f->r->slim.output = f->r->output;
	TRY(make_all(f, scratch));
	TRY(slim_check_served(f->a, &f->r->slim, &f->q->keep));
	if (fs_writes_forbidden())
		return NULL;
	VEC_EACH (const struct wheel_member, m, &f->w.members)
		how.time = how.time ? how.time : m->zip->time;
	wheel_put_manifest(f->a, &f->inputs, &f->r->slim);
	how.path = f->r->output;
	struct str dir = path_dir(how.path);
	bool new = !fs_present(dir);
	TRY(fs_mkdirs(dir));
	struct err *e = wheel_write(f->a, f->inputs.v, f->inputs.n, f->inputs.info, &how);
	if (e)
		return new ? err_join(e, fs_remove_empty(dir)) : e;
	TRY(fs_stat(how.path, &st));
	f->r->size = (uint64_t)st.st_size;
	return NULL;
}

struct err *wheel_fatten(struct arena *a, const struct fat_request *q, struct fat_report *ret)
{
	struct fat f = {.a = a, .q = q, .r = ret};
	struct str scratch = {0};
	*ret = (struct fat_report){.path = q->wheel.from, .sdk = q->sdk};
	ret->slim = (struct slim_report){
		.path = q->wheel.from, .gpus = q->gpus, .exact = q->keep.exact};
	if (!fs_is_dir(q->sdk) || !fs_real(a, q->sdk, &f.root))
		return err_new(E_NOENT, "'%.*s' is no folder", STR(q->sdk));
	TRY(wheel_open(a, q->wheel.from, &f.w));
	struct wheel_name name = f.w.name;
	f.folder = str_fmt(a, "%.*s.libs/lib", STR(name.dist));
	f.windows = str_starts(name.platform, S("win"));
	struct err *e = wheel_new_name(a, &q->wheel, &name);
	e = e ? e : fs_tempdir(a, S(""), &scratch);
	e = e ? e : fatten(&f, &name, scratch);
	wheel_close(&f.w);
	return scratch.n ? err_join(e, fs_remove_tree(scratch)) : e;
}
