/* Writes the fat wheel: search paths, smaller libraries, the texts of dist-info. See fat.h. */
#include "wheel/fat.h"

#include "base/fs.h"
#include "base/proc.h"
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

/* Collects the elements of a search path that stay: in the wheel's own libraries those that do not lead to ROCm's
 * packages, in the SDK's none. False: the path stays as it is. */
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
	if (lib->sdk) /* its own folder, for libraries that it opens by name */
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

/* Applies a library's new needs and search paths to a scratch copy of it, which is made here if there is none. */
static struct err *edit_library(struct rewrite *x, const struct fat_lib *lib, struct zip_input *in)
{
	CLEANUP(fd_closep) int fd = -1;
	struct zip_sink to = {.fd = -1};
	struct stat st;
	bool changed;
	if (!path_is_below(in->path, x->scratch)) {
		struct zip_input from = *in;
		rewrite_content(in, rewrite_file(x));
		if (from.member) {
			TRY(fs_open_shared(in->path, 0, &to.fd));
			struct err *e = zip_stream(from.zip, from.member, copy_piece, &to);
			fd_closep(&to.fd);
			TRY(e);
		} else {
			TRY(fs_stat(from.path, &st));
			st.st_mode = 0644;
			TRY(fs_copy(from.path, in->path, &st));
		}
	}
	TRY(fs_open_shared(in->path, 0, &fd));
	return elf_edit_fd(fd, &lib->changes, &changed);
}

static struct err *take_file(void *user, struct rewrite *x, struct zip_input *in)
{
	struct fat *f = user;
	const struct fat_lib *lib = NULL;
	uint64_t before = f->r->slim.after;
	VEC_EACH (const struct fat_lib, it, &f->libs)
		lib = it->input == x->at ? it : lib;
	progress_add(f->progress, 1, in->name);
	if (!lib && !slim_keeps_file(&f->q->keep, in->name)) {
		slim_note(x->a, &f->r->slim, in->name, in->member ? in->member->size : 0, NULL);
		in->name = S("");
		return NULL;
	}
	TRY_CTX(rewrite_slim(x, &f->q->keep, &f->r->slim, in), "cannot take '%.*s'", STR(in->name));
	bool edited = lib && lib->changes.n;
	if (edited && !fs_writes_forbidden())
		TRY_CTX(edit_library(x, lib, in), "cannot edit '%.*s'", STR(in->name));
	if (edited && !lib->sdk)
		strs_add(x->a, &f->r->edited, in->name);
	VEC_EACH (struct fat_library, it, &f->r->libraries)
		if (str_eq(it->name, in->name))
			it->after = f->r->slim.after - before;
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

/* Does a field of METADATA require packages that are now inside the wheel, or offer an extra for them? */
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

static struct str without_rocm(struct fat *f, struct str text)
{
	BUF(b, f->a);
	struct str rest = text, key, value;
	while (rest.n && str_trim(str_sub(rest, 0, str_chr(rest, '\n'))).n) {
		size_t n = 0; /* bytes of the field, with the lines that continue it */
		do
			n += str_chr(str_sub(rest, n, rest.n), '\n') + 1;
		while (n < rest.n && (rest.p[n] == ' ' || rest.p[n] == '\t'));
		struct str field = str_sub(rest, 0, n);
		struct str flat = str_replace(f->a, str_trim(field), S("\n"), S(" "));
		bool gone = str_cut(flat, ':', &key, &value) && asks_for_rocm(f, key, value);
		if (!gone)
			buf_add(&b, field);
		rest = str_sub(rest, field.n, rest.n);
	}
	buf_add(&b, rest);
	return buf_str(&b);
}

/* Rewrites METADATA, and the file by which PyTorch makes ROCm's packages load their libraries: these packages are not
 * needed. */
static struct err *write_texts(struct fat *f)
{
	struct str metadata = path_join(f->a, f->inputs.info, S("METADATA"));
	VEC_EACH (struct zip_input, in, &f->inputs) {
		struct str text = in->content;
		bool init = str_eq(path_base(in->name), S("_rocm_init.py"));
		if (!init && !str_eq(in->name, metadata))
			continue;
		if (in->member)
			TRY(zip_read(f->a, in->zip, in->member, WHEEL_TEXT, &text));
		if (!init)
			text = without_rocm(f, text);
		else if (!str_contains(text, S("rocm_sdk")))
			continue;
		else
			text = S(
				"# ROCm's libraries are in this wheel.\n\n\ndef initialize():\n    "
				"pass\n");
		if (init)
			strs_put(f->a, &f->r->dropped, in->name);
		*in = (struct zip_input){.name = in->name, .mode = in->mode, .content = text};
	}
	return NULL;
}

/* ---- the wheel ---- */

/* Keeps a platform tag that is true for all libraries, and linux_ARCH, which promises nothing; else takes the lowest
 * true one. */
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

static struct err *fatten(struct fat *f, struct wheel_name *name, struct rewrite *x)
{
	CLEANUP(progress_endp) struct progress *p = NULL;
	struct wheel_inputs again = {0};
	if (!fs_writes_forbidden())
		TRY(wheel_check(&f->w, x->jobs, "Checking", NULL, NULL));
	TRY(wheel_under_name(f->a, &f->q->wheel, &f->w, name, &f->inputs));
	TRY(fat_find(f));
	f->r->platform = name->platform;
	if (!f->windows)
		TRY(choose_platform(f, name));
	TRY(wheel_place(f->a, &f->q->wheel, name, &x->to));
	f->r->output = f->r->slim.output = x->to;
	/* WHEEL names the platform tag, which is known only now */
	TRY(wheel_under_name(f->a, &f->q->wheel, &f->w, name, &again));
	struct str wheel = path_join(f->a, again.info, S("WHEEL"));
	for (size_t i = 0; i < again.n; i++)
		if (str_eq(again.v[i].name, wheel))
			f->inputs.v[i] = again.v[i];
	for (size_t i = 0; !f->windows && i < f->libs.n; i++)
		set_path(f, &f->libs.v[i]);
	TRY(write_texts(f));
	x->out.info = f->inputs.info;
	x->time = wheel_time(&f->w);
	p = f->progress = progress_begin(S("Bundling"), path_base(x->to), UNIT_ITEMS, f->inputs.n);
	TRY(rewrite_each(x, &f->inputs, take_file, f));
	TRY(slim_check_served(f->a, &f->r->slim, &f->q->keep));
	rewrite_cut_list(x, &f->r->slim);
	TRY(rewrite_write(x));
	f->r->size = x->size;
	return NULL;
}

struct err *wheel_fatten(struct arena *a, const struct fat_request *q, struct fat_report *ret)
{
	struct fat f = {.a = a, .q = q, .r = ret};
	struct rewrite x = {.a = a, .jobs = q->wheel.jobs, .budget = q->budget};
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
	e = e ? e : fs_tempdir(a, S(""), &x.scratch);
	e = e ? e : fatten(&f, &name, &x);
	wheel_close(&f.w);
	return x.scratch.n ? err_join(e, fs_remove_tree(x.scratch)) : e;
}
