/* Writes the fat wheel: search paths, smaller libraries, the texts of dist-info. See fat.h. */
#include "wheel/fat.h"

#include "wheel/fat_int.h"

/* ---- the report ---- */

static const struct json_field library_fields[] =
	FIELDS_ONLY(struct fat_library, name, source, needed_by, before, after);
static const struct json_field side_fields[] =
	FIELDS_ONLY(struct fat_side, name, source, files, bytes);
static const struct json_field outside_fields[] = FIELDS_ONLY(struct fat_outside, name, needed_by);
static const struct json_field lack_fields[] =
	FIELDS_ONLY(struct wheel_lack, version, name, library, newest);

const struct json_field fat_fields[] = {
	FIELD_CONST("schema", "rocsmith.bundle/1"),
	FIELDS(struct fat_report, path, output, sdk, platform, floor),
	FIELDS_IN(struct fat_report, slim, gpus, exact, before, after),
	FIELDS(struct fat_report, size, edited, dropped),
	FIELD_LIST("libraries", struct fat_report, libraries, library_fields),
	FIELD_LIST("side", struct fat_report, side, side_fields),
	FIELD_LIST("lacks", struct fat_report, lacks, lack_fields),
	FIELD_LAST(FIELD_LIST("outside", struct fat_report, outside, outside_fields)),
};

/* ---- search paths ---- */

/* Elements of a search path that stay: in the wheel's own libraries those that do not lead to ROCm's packages, in the
 * SDK's none. A library that needs no other path is not changed. */
static void set_path(struct fat *fat, struct fat_lib *lib)
{
	struct arena *a = fat->a;
	const struct elf_dynamic *dyn = &lib->elf.dyn;
	struct str path = dyn->runpath.n ? dyn->runpath : dyn->rpath, element;
	struct strs elements = {0}, there = {0};
	bool gone = lib->sdk;
	if (!lib->site.n)
		return;
	for (bool more = path.n && !lib->sdk; more;) {
		more = str_cut(path, ':', &element, &path); /* the last one may be empty */
		struct str to = wheel_origin(a, element, lib->site);
		if (!to.n || str_starts(to, S("_rocm_sdk")) || str_contains(to, S("/_rocm_sdk"))) {
			gone = true;
			continue;
		}
		strs_put(a, &elements, element);
		strs_add(a, &there, to);
	}
	if (!gone && !lib->served)
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

/* Applies a library's new needs and search paths to a scratch copy of it, which is made here if there is none. */
static struct err *edit_library(struct rewrite *x, const struct fat_lib *lib, struct zip_input *in)
{
	CLEANUP(fd_closep) int fd = -1;
	struct zip_input from = *in;
	struct stat st;
	bool changed;
	if (!path_is_below(from.path, x->scratch)) {
		rewrite_content(in, rewrite_file(x));
		if (from.member) {
			TRY(zip_extract(from.zip, from.member, in->path));
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
	struct fat *fat = user;
	const struct fat_lib *lib = NULL;
	uint64_t before = x->report->after;
	VEC_EACH (const struct fat_lib, it, &fat->libs)
		lib = it->input == x->at ? it : lib;
	progress_add(fat->progress, 1, in->name);
	TRY_CTX(rewrite_slim(x, in, !lib), "cannot take '%.*s'", STR(in->name));
	bool edited = lib && lib->changes.n;
	if (edited && !fs_writes_forbidden())
		TRY_CTX(edit_library(x, lib, in), "cannot edit '%.*s'", STR(in->name));
	if (edited && !lib->sdk)
		strs_add(x->a, &fat->r->edited, in->name);
	VEC_EACH (struct fat_library, it, &fat->r->libraries)
		if (str_eq(it->name, in->name))
			it->after = x->report->after - before;
	return NULL;
}

/* ---- texts ---- */

static bool is_rocm(struct str project)
{
	static const char *const begins[] = {
		"rocm_sdk", "amd_torch_device", "rocm_bootstrap", NULL};
	return str_starts_one_of(project, begins) || str_eq(project, S("rocm")) ||
	       str_eq(project, S("rocm_profiler"));
}

/* Does a header of METADATA require packages that are now inside the wheel, or offer an extra for them? */
static bool asks_for_rocm(void *user, struct arena *a, const struct dist_header *h)
{
	struct fat *fat = user;
	if (dist_header_is(h, "provides-extra"))
		return str_starts(h->value, S("device-")) || is_rocm(wheel_normalise(a, h->value));
	bool is = is_rocm(wheel_requires(a, h));
	if (is)
		strs_put(a, &fat->r->dropped, str_replace(a, h->value, S("\n"), S(" ")));
	return is;
}

/* Rewrites METADATA, and the file by which PyTorch makes ROCm's packages load their libraries: these packages are not
 * needed. */
static struct err *write_texts(struct fat *fat)
{
	VEC_EACH (struct zip_input, in, &fat->x.in) {
		struct str text = in->content;
		bool init = str_eq(path_base(in->name), S("_rocm_init.py"));
		if (!init && !rewrite_is(&fat->x, in, "METADATA"))
			continue;
		if (in->member)
			TRY(zip_read(fat->a, in->zip, in->member, WHEEL_TEXT, &text));
		if (init && !str_contains(text, S("rocm_sdk")))
			continue;
		if (init) {
			text = S(
				"# ROCm's libraries are in this wheel.\n\n\ndef initialize():\n    "
				"pass\n");
			strs_put(fat->a, &fat->r->dropped, in->name);
		} else {
			TRY(wheel_without(fat->a, text, asks_for_rocm, fat, &text));
		}
		*in = (struct zip_input){.name = in->name, .mode = in->mode, .content = text};
	}
	return NULL;
}

/* ---- the wheel ---- */

static struct err *fatten(struct fat *fat, struct wheel_name *name)
{
	CLEANUP(progress_endp) struct progress *p = NULL;
	struct rewrite *x = &fat->x;
	const struct wheel_request *q = &fat->q->wheel;
	struct wheel_inputs again = {0};
	struct wheel_elfs elfs = {0};
	struct wheel_platform lowest;
	struct str rest = name->platform, tag, arch;
	bool holds = true;
	if (!fs_writes_forbidden())
		TRY(wheel_check(&fat->w, x->jobs, "Checking", NULL, NULL));
	rewrite_from(x, &fat->w);
	TRY(wheel_under_name(fat->a, q, &fat->w, name, &x->in));
	x->out.info = x->in.info;
	x->out.budget = fat->q->budget;
	TRY(fat_find(fat));
	/* a platform tag that is true for all libraries stays, and so does linux_ARCH, which promises nothing; else it
	 * becomes the lowest true one */
	VEC_EACH (const struct fat_lib, lib, &fat->libs)
		*VEC_PUSH(fat->a, &elfs) = lib->elf;
	if (!fat->windows) {
		TRY(wheel_platform_of(fat->a, &elfs, &lowest));
		fat->r->floor = lowest.why;
		wheel_lacks_here(fat->a, &elfs, &fat->r->lacks);
	}
	while (!fat->windows && holds && str_next(&rest, '.', &tag))
		holds = str_starts(tag, S("linux_")) ||
			(wheel_tag_glibc(tag, &arch) >= lowest.minor && !lowest.outside.n &&
				!lowest.beyond.n);
	if (!holds)
		name->platform = lowest.tag;
	fat->r->platform = name->platform;
	TRY(wheel_place(fat->a, q, name, &x->to));
	fat->r->output = x->report->output = x->to;
	TRY(rewrite_begin(x));
	/* WHEEL names the platform tag, which is known only now */
	TRY(wheel_under_name(fat->a, q, &fat->w, name, &again));
	for (size_t i = 0; i < again.n; i++)
		if (rewrite_is(x, &again.v[i], "WHEEL"))
			x->in.v[i] = again.v[i];
	for (size_t i = 0; !fat->windows && i < fat->libs.n; i++)
		set_path(fat, &fat->libs.v[i]);
	TRY(write_texts(fat));
	p = fat->progress = progress_begin(S("Bundling"), path_base(x->to), UNIT_ITEMS, x->in.n);
	TRY(rewrite_each(x, take_file, fat));
	TRY(slim_check_served(fat->a, x->report, x->keep));
	TRY(rewrite_write(x));
	fat->r->size = x->size;
	return NULL;
}

struct err *wheel_fatten(struct arena *a, const struct fat_request *q, struct fat_report *ret)
{
	struct fat fat = {.a = a, .q = q, .r = ret};
	fat.x = (struct rewrite){
		.a = a, .jobs = q->wheel.jobs, .keep = &q->keep, .report = &ret->slim};
	*ret = (struct fat_report){.path = q->wheel.from, .sdk = q->sdk};
	ret->slim = (struct slim_report){
		.path = q->wheel.from, .gpus = q->gpus, .exact = q->keep.exact};
	if (!fs_is_dir(q->sdk) || !fs_real(a, q->sdk, &fat.root))
		return err_new(E_NOENT, "'%.*s' is no folder", STR(q->sdk));
	TRY(wheel_open(a, q->wheel.from, &fat.w));
	struct wheel_name name = fat.w.name;
	fat.folder = str_fmt(a, "%.*s.libs/lib", STR(name.dist));
	fat.windows = str_starts(name.platform, S("win"));
	struct err *e = wheel_new_name(a, &q->wheel, &name);
	e = e ? e : fatten(&fat, &name);
	wheel_close(&fat.w);
	return rewrite_end(&fat.x, e);
}
