/* Finds the parts of an SDK that a wheel needs: the libraries that its libraries name, those that these name, and so
 * on, and the files that they read. See fat.h. */
#include <string.h>

#include "base/fs.h"
#include "base/glob.h"
#include "base/proc.h"
#include "formats/pe.h"
#include "know/know.h"
#include "wheel/fat_int.h"

/* Libraries that others load by name at run time. Sources: dlopen() in ROCm 6.4 and 7.2; the libraries that PyTorch's own
 * packaging of ROCm names beside the needed ones. */
static const struct {
	const char *by, *opens;
} opened[] = {
	{"libamdhip64", "libhiprtc"},
	{"libamdhip64", "libamd_comgr"},
	{"libhiprtc", "libhiprtc-builtins"},
	{"libhsa-runtime64", "libhsa-amd-aqlprofile64"},
	{"libhipsolver", "librocsparse"},
	{"librocblas", "libhipblaslt"},
	{"librocsolver", "librocsparse"},
};

/* Files that a library reads: a folder or file, relative to the library's folder; share/ may be one folder further
 * up. */
static const struct {
	const char *by, *at;
} beside[] = {
	/* clang-format off */
	{"librocblas", "rocblas"},
	{"libhipblaslt", "hipblaslt"},
	{"libhipsparselt", "hipsparselt"},
	{"librocfft", "rocfft"},
	{"librocfft", "rocfft_kernel_cache.db"},
	{"libhipdnn_backend", "hipdnn_plugins"},
	{"libMIOpen", "../share/miopen"},
	{"librccl", "../share/rccl"},
	{"libdrm_amdgpu", "../share/libdrm"},
	{"librocm_sysdeps_drm_amdgpu", "../share/libdrm"},
	{"", "../.kpack"}, /* the device code of libraries of TheRock */
	/* clang-format on */
};

/* "librocblas" for "librocblas.so.5"; "libmiopen" for a DLL, which Windows calls MIOpen.dll. */
static struct str stem(const struct fat *f, struct str name)
{
	if (!f->windows)
		return str_sub(name, 0, str_find(name, S(".so")));
	struct str text = str_lower(f->a, str_sub(name, 0, str_find(name, S(".dll"))));
	return str_starts(text, S("lib")) ? text : str_fmt(f->a, "lib%.*s", STR(text));
}

/* Is it the library `library`? The name of a DLL may contain its version: hiprtc-builtins0702.dll, amd_comgr_3.dll. */
static bool is_named(const struct fat *f, struct str name, const char *library)
{
	struct str have = stem(f, name), want = str_from(library);
	want = f->windows ? str_lower(f->a, want) : want;
	if (!str_starts(have, want))
		return false;
	for (size_t i = want.n; i < have.n; i++)
		if (!f->windows || (!ascii_digit(have.p[i]) && have.p[i] != '_'))
			return false;
	return true;
}

/* Does every machine have it? No specification says so for Windows: the names below never come from the SDK, and any
 * other DLL that the SDK lacks must come from the machine. */
static bool is_everywhere(const struct fat *f, struct str name)
{
	static const char *const begins[] = {
		"api-ms-", "vcruntime", "msvcp", "ucrtbase", "concrt", "kernel32", "python", NULL};
	for (unsigned i = 0; f->windows && begins[i]; i++)
		if (str_starts(name, str_from(begins[i])))
			return true;
	return !f->windows && wheel_library_allowed(name);
}

/* ---- the SDK's libraries ---- */

struct library_search {
	struct fat *f;
	struct map depth; /* name -> depth (size_t) of the library that was found */
};

/* Notes the library of each name that is nearest to the root; folders of other builds, of tests and of Python are not
 * entered. */
static struct err *visit_library(void *user, const struct fs_entry *e, bool *prune)
{
	static const char *const skipped[] = {"asan", "stubs", "debug", ".build-id", "test",
		"tests", "python3", "gcc", "dist-packages", "site-packages", NULL};
	struct library_search *s = user;
	struct arena *a = s->f->a;
	struct str name = path_base(e->path);
	TRY(cancel_check());
	if (S_ISDIR(e->st.st_mode)) {
		*prune = str_is_one_of(name, skipped);
		return NULL;
	}
	struct str key = s->f->windows ? str_lower(a, name) : name;
	if (s->f->windows ? !str_ends(key, S(".dll"))
			  : !str_contains(name, S(".so")) || !str_starts(name, S("lib")))
		return NULL;
	const size_t *old = map_get(&s->depth, key);
	size_t *now = arena_array(a, 1, sizeof(*now));
	*now = 1;
	for (size_t i = 0; i < e->path.n; i++)
		*now += e->path.p[i] == '/';
	if (old && *old <= *now)
		return NULL;
	struct str *path = arena_array(a, 1, sizeof(*path)), kept = str_dup(a, e->path);
	*path = kept;
	key = s->f->windows ? key : path_base(kept);
	map_put(&s->depth, key, now);
	map_put(&s->f->found, key, path);
	return NULL;
}

/* Resolves a path of the SDK through links that stay in it; absolute ones count from the SDK's root, as if it were the root of
 * a machine (Debian's alternatives). False for a path that leads out. */
static bool inside(struct fat *f, struct str path, struct str *ret, struct stat *st)
{
	enum { MAX_LINKS = 8 };
	struct str below = str_fmt(f->a, "%.*s/", STR(f->root)), to;
	for (unsigned i = 0; i < MAX_LINKS && path_is_inside(path); i++) {
		struct str full = path_join(f->a, f->root, path);
		if (fs_real(f->a, full, ret) && str_starts(*ret, below))
			return fs_try_stat(*ret, st);
		struct err *e = fs_is_link(full) ? fs_readlink(f->a, full, &to) : NULL;
		bool is = !e && fs_is_link(full) && to.n;
		err_free(e);
		if (!is)
			return false;
		path = to.p[0] == '/' ? str_sub(to, 1, to.n)
				      : path_clean(f->a, path_join(f->a, path_dir(path), to));
	}
	return false;
}

/* ---- libraries ---- */

static struct err *read_elf(
	struct fat *f, const struct bytes *src, struct str name, struct fat_lib *ret, bool *ret_elf)
{
	struct err *e;
	if (f->windows) {
		struct strs *needed = &ret->elf.dyn.needed;
		e = pe_imports(f->a, src, needed);
		*ret_elf = !e;
		ret->elf.name = name;
		for (size_t i = 0; !e && i < needed->n; i++)
			needed->v[i] = str_lower(f->a, needed->v[i]);
		ret->elf.dyn.soname = str_lower(f->a, path_base(name));
	} else {
		e = wheel_elf_read(f->a, src, name, &ret->elf, ret_elf);
	}
	*ret_elf = *ret_elf && !e && ret->elf.machine != ELF_AMDGPU;
	if (!e || (e->code != E_ELF && e->code != E_LIMIT && e->code != E_FORMAT))
		return e;
	err_free(e);
	return NULL;
}

static void add_name(struct fat *f, struct str name)
{
	if (name.n && !map_has(&f->names, name))
		map_put(&f->names, name, (void *)(uintptr_t)f->libs.n);
}

static struct err *take_head(void *user, const void *p, size_t n, bool *stop)
{
	struct str head = {.p = p, .n = n};
	*(bool *)user = elf_is(head) || pe_is(head);
	*stop = true;
	return NULL;
}

static struct err *read_members(struct fat *f)
{
	for (size_t i = 0; i < f->inputs.n; i++) {
		CLEANUP(fd_closep) int fd = -1;
		const struct zip_input *in = &f->inputs.v[i];
		struct fat_lib lib = {.site = wheel_installed(in->name, S("")), .input = i};
		struct bytes src;
		bool elf = false;
		TRY(cancel_check());
		if (in->member)
			TRY(zip_stream(in->zip, in->member, take_head, &elf));
		if (!elf)
			continue;
		TRY(zip_src(in->zip, in->member, &src, &fd));
		TRY(read_elf(f, &src, in->name, &lib, &elf));
		if (!elf)
			continue;
		lib.bare = !lib.elf.dyn.soname.n;
		*VEC_PUSH(f->a, &f->libs) = lib;
		if (lib.site.n) {
			add_name(f, path_base(lib.site));
			add_name(f, lib.elf.dyn.soname);
		}
	}
	return f->libs.n ? NULL
			 : err_new(E_WHEEL, "'%.*s' has no libraries that could need any",
				   STR(f->q->wheel.from));
}

static struct err *add_input(struct fat *f, struct zip_input in)
{
	if (f->inputs.n >= WHEEL_MEMBERS)
		return err_new(E_LIMIT, "more than %d files", WHEEL_MEMBERS);
	*VEC_PUSH(f->a, &f->inputs) = in;
	return NULL;
}

static struct err *take_side(struct fat *f, struct str lib, struct str source, struct str real);

/* Takes a library from the SDK by a needed name. *ret: the library in the wheel, or NULL. */
static struct err *take_library(
	struct fat *f, struct str name, struct str by, const struct fat_lib **ret)
{
	CLEANUP(fd_closep) int fd = -1;
	const struct str *path = map_get(&f->found, name);
	struct str real;
	struct stat st;
	bool elf = false;
	*ret = NULL;
	if (!path || !inside(f, *path, &real, &st) || !S_ISREG(st.st_mode))
		return NULL;
	struct fat_lib lib = {.sdk = true, .input = f->inputs.n};
	TRY(fs_open(real, &fd));
	struct bytes src = bytes_fd(fd, (uint64_t)st.st_size);
	TRY_CTX(read_elf(f, &src, *path, &lib, &elf), "cannot read '%.*s'", STR(real));
	if (!elf)
		return NULL;
	struct str own = lib.elf.dyn.soname;
	lib.bare = !own.n;
	own = path_base(own.n && !f->windows ? own : real);
	uintptr_t known = (uintptr_t)map_get(&f->names, f->windows ? name : own);
	if (known) { /* the wheel has it under another name */
		map_put(&f->names, name, (void *)known);
		*ret = &f->libs.v[known - 1];
		return NULL;
	}
	lib.site = lib.elf.name = path_join(f->a, f->folder, own);
	TRY(add_input(f, (struct zip_input){
				 .name = lib.site,
				 .path = real,
				 .mode = st.st_mode & 0111 ? 0755 : 0644,
			 }));
	*VEC_PUSH(f->a, &f->libs) = lib;
	add_name(f, own);
	add_name(f, name);
	*VEC_PUSH(f->a, &f->r->libraries) = (struct fat_library){
		.name = lib.site, .source = *path, .needed_by = by, .before = src.size};
	*ret = &f->libs.v[f->libs.n - 1];
	return take_side(f, lib.site, *path, str_sub(real, f->root.n + 1, real.n));
}

/* Takes the libraries that this one opens: if there are several versions, the one behind the plain name (.so), or else
 * the last by name. */
static struct err *take_opened(struct fat *f, struct str name, struct str by)
{
	for (size_t i = 0; i < sizeof(opened) / sizeof(*opened); i++) {
		struct str best = S("");
		const struct fat_lib *lib;
		if (!is_named(f, name, opened[i].by))
			continue;
		for (size_t k = 0; k < f->found.n; k++) {
			struct str it = f->found.v[k].key;
			bool plain = str_ends(best, S(".so"));
			if (is_named(f, it, opened[i].opens) && !plain &&
				(str_ends(it, S(".so")) || str_cmp(it, best) > 0))
				best = it;
		}
		if (best.n && !map_has(&f->names, best))
			TRY(take_library(f, best, by, &lib));
	}
	return NULL;
}

/* Takes everything that libs.v[i] needs; this may move the list. */
static struct err *follow_needs(struct fat *f, size_t i)
{
	struct str by = f->inputs.v[f->libs.v[i].input].name;
	for (size_t k = 0; k < f->libs.v[i].elf.dyn.needed.n; k++) {
		struct str name = f->libs.v[i].elf.dyn.needed.v[k];
		uintptr_t known = (uintptr_t)map_get(&f->names, name);
		const struct fat_lib *to = known ? &f->libs.v[known - 1] : NULL;
		if (!to && is_everywhere(f, name))
			continue;
		if (!to)
			TRY(take_library(f, name, by, &to));
		struct fat_lib *lib = &f->libs.v[i];
		if (!to) {
			bool listed = f->windows;
			VEC_EACH (const struct fat_outside, o, &f->r->outside)
				listed = listed || str_eq(o->name, name);
			if (!listed)
				*VEC_PUSH(f->a, &f->r->outside) = (struct fat_outside){name, by};
			continue;
		}
		struct str own = path_base(to->site);
		lib->served = lib->served || to->sdk;
		strs_put(f->a, &lib->dirs, path_dir(to->site));
		if (to->sdk && !f->windows && !str_eq(own, name)) {
			*VEC_PUSH(f->a, &lib->changes) = (struct elf_change){ELF_NEEDED, name, own};
			lib->elf.dyn.needed.v[k] = own;
		}
	}
	return f->libs.v[i].sdk ? take_opened(f, path_base(f->libs.v[i].site), by) : NULL;
}

/* ---- files beside them ---- */

struct side_walk {
	struct fat *f;
	struct str from, to; /* folders: below the SDK, in the wheel */
	struct fat_side *report;
};

/* Adds a program, such as rocFFT's helper, to the libraries: it has to find others, too, though none needs it by
 * name. */
static struct err *take_program(struct fat *f, struct str path, struct str to)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	struct fat_lib lib = {.sdk = true, .input = f->inputs.n, .site = to};
	bool elf = false;
	TRY(fs_stat(path, &st));
	TRY(fs_open(path, &fd));
	struct bytes src = bytes_fd(fd, (uint64_t)st.st_size);
	TRY_CTX(read_elf(f, &src, to, &lib, &elf), "cannot read '%.*s'", STR(path));
	if (elf && lib.elf.dyn.needed.n)
		*VEC_PUSH(f->a, &f->libs) = lib;
	return NULL;
}

static struct err *take_side_file(struct side_walk *s, struct str path, struct str to)
{
	struct fat *f = s->f;
	struct str real;
	struct stat st;
	TRY(cancel_check());
	if (!inside(f, path, &real, &st) || !S_ISREG(st.st_mode) || !map_put(&f->taken, to, NULL))
		return NULL;
	/* a kpack archive is for the GPUs in its name, like a .co file */
	struct str judged = str_ends(to, S(".kpack")) ? str_fmt(f->a, "%.*s.co", STR(to)) : to;
	if (!slim_keeps_file(&f->q->keep, judged)) {
		slim_note(f->a, &f->r->slim, to, (uint64_t)st.st_size, NULL);
		return NULL;
	}
	s->report->files++;
	s->report->bytes += (uint64_t)st.st_size;
	unsigned mode = st.st_mode & 0111 && !f->windows ? 0755 : 0644;
	if (mode == 0755)
		TRY(take_program(f, real, to));
	return add_input(f, (struct zip_input){.name = to, .path = real, .mode = mode});
}

static struct err *visit_side(void *user, const struct fs_entry *e, bool *prune)
{
	struct side_walk *s = user;
	struct arena *a = s->f->a;
	(void)prune;
	struct str to = str_fmt(a, "%.*s/%.*s", STR(s->to), STR(e->path));
	return S_ISDIR(e->st.st_mode) ? NULL
				      : take_side_file(s, path_join(a, s->from, e->path), to);
}

static struct err *take_tree(struct fat *f, struct str at, struct str to)
{
	struct fat_side report = {.name = to, .source = at};
	struct side_walk s = {.f = f, .from = at, .to = to, .report = &report};
	struct str real;
	struct stat st;
	if (!inside(f, at, &real, &st))
		return NULL;
	struct err *e =
		S_ISDIR(st.st_mode) ? fs_walk(real, visit_side, &s) : take_side_file(&s, at, to);
	if (report.files)
		*VEC_PUSH(f->a, &f->r->side) = report;
	return e;
}

/* The place of a side file: beside the library under its name (in an /opt/rocm full of links), or beside the real file;
 * "" if there is none. */
static struct str side_of(struct fat *f, const struct str *sources, const char *at)
{
	struct str real;
	struct stat st;
	bool up = strncmp(at, "../", 3) == 0;
	for (unsigned i = 0; i < (up ? 4 : 2); i++) {
		struct str from =
			path_clean(f->a, str_fmt(f->a, "%.*s/%s%s", STR(path_dir(sources[i % 2])),
						 i < 2 ? "" : "../", at));
		if (path_is_inside(from) && inside(f, from, &real, &st))
			return from;
	}
	return S("");
}

/* Takes the side files of a library. lib: its place in the wheel; source, real: its places in the SDK. */
static struct err *take_side(struct fat *f, struct str lib, struct str source, struct str real)
{
	const struct str sources[] = {source, real};
	struct arena *a = f->a;
	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		struct str by = str_from(beside[i].by), from;
		if (by.n && !is_named(f, path_base(lib), beside[i].by))
			continue;
		from = side_of(f, sources, beside[i].at);
		if (from.n)
			TRY(take_tree(f, from,
				path_clean(a,
					str_fmt(a, "%.*s/%s", STR(path_dir(lib)), beside[i].at))));
	}
	return NULL;
}

/* Windows looks for a DLL beside the one that needs it, and Python beside the module: DLLs go to that folder. False: no
 * library needs one of the SDK. */
static bool choose_folder(struct fat *f)
{
	const struct fat_lib *best = NULL;
	VEC_EACH (const struct fat_lib, lib, &f->libs)
		for (size_t i = 0; lib->site.n && i < lib->elf.dyn.needed.n; i++)
			if (map_has(&f->found, lib->elf.dyn.needed.v[i]) &&
				(!best || (str_ends(lib->elf.dyn.soname, S(".dll")) &&
						  !str_ends(best->elf.dyn.soname, S(".dll")))))
				best = lib;
	if (f->windows && best)
		f->folder = path_dir(best->site);
	return best;
}

/* Adds a stand-in of that name for the library, unless the name is taken or there is no such library. */
static struct err *add_alias(struct fat *f, struct str name)
{
	struct zip_input alias = {.name = path_join(f->a, f->folder, name), .mode = 0755};
	const struct fat_lib *to = NULL;
	VEC_EACH (const struct zip_input, in, &f->inputs)
		if (str_eq(in->name, alias.name))
			return NULL;
	VEC_EACH (const struct fat_lib, lib, &f->libs)
		if (lib->sdk && str_eq(stem(f, path_base(lib->site)), stem(f, name)))
			to = lib;
	if (!to)
		return NULL;
	alias.content = fat_alias(f->a, to->elf.machine, name, path_base(to->site));
	return add_input(f, alias);
}

/* Should the SDK have it? Libraries of PyTorch and CUDA come from elsewhere. */
static bool is_missing(const struct fat *f, struct str name)
{
	const struct know_other *other = know_soname(name);
	if (other && other->origin != KNOW_ROCM)
		return false;
	VEC_EACH (const struct str, glob, &f->q->allow)
		if (glob_match(*glob, name))
			return false;
	return true;
}

static size_t count_missing(const struct fat *f)
{
	size_t n = 0;
	VEC_EACH (const struct fat_outside, o, &f->r->outside)
		n += is_missing(f, o->name);
	return n;
}

/* Another version of the library in the SDK, as the end of a sentence; or "". */
static struct str instead(const struct fat *f, struct str name)
{
	struct str best = S("");
	if (map_has(&f->found, name))
		return S("; that of the SDK is no library, or leads out of it");
	for (size_t i = 0; i < f->found.n; i++) {
		struct str it = f->found.v[i].key;
		if (str_eq(stem(f, it), stem(f, name)) && !str_ends(it, S(".so")) &&
			(!best.n || it.n < best.n))
			best = it;
	}
	return best.n ? str_fmt(f->a, "; in the SDK there is '%.*s'", STR(best)) : best;
}

static struct err *say_missing(struct fat *f, bool some)
{
	enum { MOST = 20 };
	struct str sdk = f->q->sdk, wheel = path_base(f->q->wheel.from);
	size_t n = count_missing(f), said = 0;
	struct err *e = some ? err_new(E_SDK, "'%.*s' lacks %zu of the libraries that '%.*s' needs",
				       STR(sdk), n, STR(wheel))
			     : err_new(E_SDK, "'%.*s' has none of the libraries that are missing",
				       STR(sdk));
	VEC_EACH (const struct fat_outside, o, &f->r->outside) {
		if (!is_missing(f, o->name) || said++ >= MOST)
			continue;
		e = err_hint(e, "'%.*s' needs '%.*s'%.*s", STR(o->needed_by), STR(o->name),
			STR(instead(f, o->name)));
	}
	if (n > MOST)
		e = err_hint(e, "and so on: %zu more", n - MOST);
	return n ? err_hint(e, "take the ROCm that the wheel was built for, or name what each "
			       "machine will have: --allow LIB,...")
		 : e;
}

struct err *fat_find(struct fat *f)
{
	struct library_search s = {.f = f, .depth.a = f->a};
	const struct fat_lib *lib;
	f->found.a = f->names.a = f->taken.a = f->a;
	TRY(read_members(f));
	TRY_CTX(fs_walk(f->root, visit_library, &s), "cannot read '%.*s'", STR(f->q->sdk));
	bool any = choose_folder(f);
	size_t first = f->libs.n;
	VEC_EACH (const struct str, name, &f->q->with) {
		TRY(take_library(f, f->windows ? str_lower(f->a, *name) : *name, S(""), &lib));
		if (!lib)
			return err_new(
				E_SDK, "there is no '%.*s' in '%.*s'", STR(*name), STR(f->q->sdk));
	}
	for (size_t i = 0; i < f->libs.n; i++)
		TRY(follow_needs(f, i));
	for (size_t k = 0; !f->windows && k < f->libs.n; k++) {
		const char *name;
		for (size_t i = 0; f->libs.v[k].sdk &&
				   (name = fat_alias_of(path_base(f->libs.v[k].site), &i));)
			TRY(add_alias(f, str_from(name)));
	}
	return (f->windows && any) || (!f->windows && !count_missing(f))
		       ? NULL
		       : say_missing(f, f->libs.n > first);
}
