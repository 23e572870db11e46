/* Finds the parts of an SDK that a wheel needs: the libraries that its libraries name, those that these name, and so
 * on, and the files that they read. See fat.h. */
#include "base/glob.h"
#include "base/proc.h"
#include "formats/pe.h"
#include "know/know.h"
#include "wheel/fat_int.h"

/* "librocblas" for "librocblas.so.5"; "libmiopen" for a DLL, which Windows calls MIOpen.dll. */
static struct str stem(const struct fat *fat, struct str name)
{
	if (!fat->windows)
		return str_sub(name, 0, str_find(name, S(".so")));
	struct str text = str_lower(fat->a, str_sub(name, 0, str_find(name, S(".dll"))));
	return str_starts(text, S("lib")) ? text : str_fmt(fat->a, "lib%.*s", STR(text));
}

/* Is it the library `library`? The name of a DLL may contain its version: hiprtc-builtins0702.dll, amd_comgr_3.dll. */
static bool is_named(const struct fat *fat, struct str name, const char *library)
{
	struct str have = stem(fat, name), want = str_from(library);
	want = fat->windows ? str_lower(fat->a, want) : want;
	if (!str_starts(have, want))
		return false;
	struct str rest = str_sub(have, want.n, have.n);
	return !rest.n || (fat->windows && str_span(rest, ASCII_DIGITS "_") == rest.n);
}

/* Does every machine have it? No specification says so for Windows: the names below never come from the SDK, and any
 * other DLL that the SDK lacks must come from the machine. */
static bool is_everywhere(const struct fat *fat, struct str name)
{
	static const char *const begins[] = {
		"api-ms-", "vcruntime", "msvcp", "ucrtbase", "concrt", "kernel32", "python", NULL};
	return fat->windows ? str_starts_one_of(name, begins) : wheel_library_allowed(name);
}

/* ---- the SDK's libraries ---- */

struct fat_found { /* a library of the SDK */
	struct str path;
	size_t depth; /* the library that is nearest to the root counts */
};

/* Notes the libraries of the SDK; folders of other builds, of tests and of Python are not entered. */
static struct err *visit_library(void *user, struct fs_entry *e)
{
	static const char *const skipped[] = {"asan", "stubs", "debug", ".build-id", "test",
		"tests", "python3", "gcc", "dist-packages", "site-packages", NULL};
	struct fat *fat = user;
	struct str name = path_base(e->path);
	size_t depth = 1 + str_count(e->path, '/');
	TRY(cancel_check());
	if (S_ISDIR(e->st.st_mode)) {
		e->prune = str_is_one_of(name, skipped);
		return NULL;
	}
	struct str key = fat->windows ? str_lower(fat->a, name) : name;
	if (fat->windows ? !str_ends(key, S(".dll"))
			 : !str_contains(name, S(".so")) || !str_starts(name, S("lib")))
		return NULL;
	struct fat_found *x = map_get(&fat->found, key);
	if (x && x->depth <= depth)
		return NULL;
	if (!x) {
		x = NEW(fat->a, struct fat_found);
		map_put(&fat->found, str_dup(fat->a, key), x);
	}
	*x = (struct fat_found){str_dup(fat->a, e->path), depth};
	return NULL;
}

/* Resolves a path of the SDK through links that stay in it; absolute ones count from the SDK's root, as if it were the root of
 * a machine (Debian's alternatives). False for a path that leads out. */
static bool inside(struct fat *fat, struct str path, struct str *ret, struct stat *st)
{
	enum { MAX_LINKS = 8 };
	struct str below = str_fmt(fat->a, "%.*s/", STR(fat->root)), to;
	for (unsigned i = 0; i < MAX_LINKS && path_is_inside(path); i++) {
		struct str full = path_join(fat->a, fat->root, path);
		if (fs_real(fat->a, full, ret) && str_starts(*ret, below))
			return fs_try_stat(*ret, st);
		struct err *e = fs_is_link(full) ? fs_readlink(fat->a, full, &to) : NULL;
		bool is = !e && fs_is_link(full) && to.n;
		err_free(e);
		if (!is)
			return false;
		path = to.p[0] == '/' ? str_sub(to, 1, to.n)
				      : path_clean(fat->a, path_join(fat->a, path_dir(path), to));
	}
	return false;
}

/* ---- libraries ---- */

static struct err *read_elf(struct fat *fat, const struct bytes *src, struct str name,
	struct fat_lib *ret, bool *ret_elf)
{
	struct err *e;
	if (fat->windows) {
		struct strs *needed = &ret->elf.dyn.needed;
		e = pe_imports(fat->a, src, needed);
		*ret_elf = !e;
		ret->elf.name = name;
		for (size_t i = 0; !e && i < needed->n; i++)
			needed->v[i] = str_lower(fat->a, needed->v[i]);
		ret->elf.dyn.soname = str_lower(fat->a, path_base(name));
	} else {
		e = wheel_elf_read(fat->a, src, name, &ret->elf, ret_elf);
	}
	*ret_elf = *ret_elf && !e && ret->elf.machine != ELF_AMDGPU;
	if (!e || (e->code != E_ELF && e->code != E_LIMIT && e->code != E_FORMAT))
		return e;
	err_free(e);
	return NULL;
}

static void add_name(struct fat *fat, struct str name)
{
	if (name.n && !map_has(&fat->names, name))
		map_put(&fat->names, name, (void *)(uintptr_t)fat->libs.n);
}

static struct err *read_members(struct fat *fat)
{
	for (size_t i = 0; i < fat->x.in.n; i++) {
		CLEANUP(fd_closep) int fd = -1;
		char bytes[64];
		struct str head = {.p = bytes};
		const struct zip_input *in = &fat->x.in.v[i];
		struct fat_lib lib = {.site = wheel_installed(in->name, S("")), .input = i};
		struct bytes src;
		bool elf = false;
		TRY(cancel_check());
		if (in->member)
			TRY(zip_peek(in->zip, in->member, bytes, sizeof(bytes), &head.n));
		if (!elf_is(head) && !pe_is(head))
			continue;
		TRY(zip_src(in->zip, in->member, &src, &fd));
		TRY(read_elf(fat, &src, in->name, &lib, &elf));
		if (!elf)
			continue;
		lib.bare = !lib.elf.dyn.soname.n;
		*VEC_PUSH(fat->a, &fat->libs) = lib;
		if (lib.site.n) {
			add_name(fat, path_base(lib.site));
			add_name(fat, lib.elf.dyn.soname);
		}
	}
	return fat->libs.n ? NULL
			   : err_new(E_WHEEL, "'%.*s' has no libraries that could need any",
				     STR(fat->q->wheel.from));
}

static struct err *add_input(struct fat *fat, struct zip_input in)
{
	if (fat->x.in.n >= WHEEL_MEMBERS)
		return err_new(E_LIMIT, "more than %d files", WHEEL_MEMBERS);
	*VEC_PUSH(fat->a, &fat->x.in) = in;
	return NULL;
}

/* Reads a file of the SDK; `name` is what messages call it. */
static struct err *read_file(
	struct fat *fat, struct str path, struct str name, struct fat_lib *ret, bool *ret_elf)
{
	CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
	TRY(bytes_open(path, &in));
	TRY_CTX(read_elf(fat, &in.src, name, ret, ret_elf), "cannot read '%.*s'", STR(path));
	return NULL;
}

static struct err *take_side(struct fat *fat, struct str lib, struct str source, struct str real);

/* Takes a library from the SDK by a needed name. *ret: the library in the wheel, or NULL. */
static struct err *take_library(
	struct fat *fat, struct str name, struct str by, const struct fat_lib **ret)
{
	const struct fat_found *at = map_get(&fat->found, name);
	struct fat_lib lib = {.sdk = true, .input = fat->x.in.n};
	struct str real;
	struct stat st;
	bool elf = false;
	*ret = NULL;
	if (!at || !inside(fat, at->path, &real, &st) || !S_ISREG(st.st_mode))
		return NULL;
	TRY(read_file(fat, real, at->path, &lib, &elf));
	if (!elf)
		return NULL;
	struct str own = lib.elf.dyn.soname;
	lib.bare = !own.n;
	own = path_base(own.n && !fat->windows ? own : real);
	uintptr_t known = (uintptr_t)map_get(&fat->names, fat->windows ? name : own);
	if (known) { /* the wheel has it under another name */
		map_put(&fat->names, name, (void *)known);
		*ret = &fat->libs.v[known - 1];
		return NULL;
	}
	lib.site = lib.elf.name = path_join(fat->a, fat->folder, own);
	TRY(add_input(fat, (struct zip_input){
				   .name = lib.site,
				   .path = real,
				   .mode = st.st_mode & 0111 ? 0755 : 0644,
			   }));
	*VEC_PUSH(fat->a, &fat->libs) = lib;
	add_name(fat, own);
	add_name(fat, name);
	*VEC_PUSH(fat->a, &fat->r->libraries) = (struct fat_library){.name = lib.site,
		.source = at->path,
		.needed_by = by,
		.before = (uint64_t)st.st_size};
	*ret = &fat->libs.v[fat->libs.n - 1];
	return take_side(fat, lib.site, at->path, str_sub(real, fat->root.n + 1, real.n));
}

/* Takes the libraries that this one opens: if there are several versions, the one behind the plain name (.so), or else
 * the last by name. */
static struct err *take_opened(struct fat *fat, struct str name, struct str by)
{
	TABLE_EACH (fat_opened, row) {
		struct str best = S("");
		const struct fat_lib *lib;
		if (!is_named(fat, name, row->by))
			continue;
		for (size_t k = 0; k < fat->found.n; k++) {
			struct str it = fat->found.v[k].key;
			bool plain = str_ends(best, S(".so"));
			if (is_named(fat, it, row->opens) && !plain &&
				(str_ends(it, S(".so")) || str_cmp(it, best) > 0))
				best = it;
		}
		if (best.n && !map_has(&fat->names, best))
			TRY(take_library(fat, best, by, &lib));
	}
	return NULL;
}

/* Takes everything that libs.v[i] needs; this may move the list. */
static struct err *follow_needs(struct fat *fat, size_t i)
{
	struct str by = fat->x.in.v[fat->libs.v[i].input].name;
	for (size_t k = 0; k < fat->libs.v[i].elf.dyn.needed.n; k++) {
		struct str name = fat->libs.v[i].elf.dyn.needed.v[k];
		uintptr_t known = (uintptr_t)map_get(&fat->names, name);
		const struct fat_lib *to = known ? &fat->libs.v[known - 1] : NULL;
		if (!to && is_everywhere(fat, name))
			continue;
		if (!to)
			TRY(take_library(fat, name, by, &to));
		struct fat_lib *lib = &fat->libs.v[i];
		if (!to) {
			if (!fat->windows &&
				!VEC_FIND(struct fat_outside, &fat->r->outside, name, name))
				*VEC_PUSH(fat->a, &fat->r->outside) =
					(struct fat_outside){name, by};
			continue;
		}
		struct str own = path_base(to->site);
		lib->served = lib->served || to->sdk;
		strs_put(fat->a, &lib->dirs, path_dir(to->site));
		if (to->sdk && !fat->windows && !str_eq(own, name)) {
			*VEC_PUSH(fat->a, &lib->changes) =
				(struct elf_change){ELF_NEEDED, name, own};
			lib->elf.dyn.needed.v[k] = own;
		}
	}
	return fat->libs.v[i].sdk ? take_opened(fat, path_base(fat->libs.v[i].site), by) : NULL;
}

/* ---- files beside them ---- */

struct side_walk {
	struct fat *fat;
	struct str from, to; /* folders: below the SDK, in the wheel */
	struct fat_side *report;
};

static struct err *take_side_file(struct side_walk *s, struct str path, struct str to)
{
	struct fat *fat = s->fat;
	struct str real;
	struct stat st;
	TRY(cancel_check());
	if (!inside(fat, path, &real, &st) || !S_ISREG(st.st_mode) ||
		!map_put(&fat->taken, to, NULL))
		return NULL;
	/* a kpack archive is for the GPUs in its name, like a .co file */
	struct str judged = str_ends(to, S(".kpack")) ? str_fmt(fat->a, "%.*s.co", STR(to)) : to;
	if (!slim_keeps_file(&fat->q->keep, judged)) {
		slim_note(fat->a, &fat->r->slim, to, (uint64_t)st.st_size, NULL);
		return NULL;
	}
	s->report->files++;
	s->report->bytes += (uint64_t)st.st_size;
	unsigned mode = st.st_mode & 0111 && !fat->windows ? 0755 : 0644;
	if (mode == 0755) {
		/* a program, such as rocFFT's helper, has to find libraries, too, though none needs it by name */
		struct fat_lib lib = {.sdk = true, .input = fat->x.in.n, .site = to};
		bool elf = false;
		TRY(read_file(fat, real, to, &lib, &elf));
		if (elf && lib.elf.dyn.needed.n)
			*VEC_PUSH(fat->a, &fat->libs) = lib;
	}
	return add_input(fat, (struct zip_input){.name = to, .path = real, .mode = mode});
}

static struct err *visit_side(void *user, struct fs_entry *e)
{
	struct side_walk *s = user;
	struct arena *a = s->fat->a;
	struct str to = str_fmt(a, "%.*s/%.*s", STR(s->to), STR(e->path));
	return S_ISDIR(e->st.st_mode) ? NULL
				      : take_side_file(s, path_join(a, s->from, e->path), to);
}

/* The place of a side file: beside the library under its name (in an /opt/rocm full of links), or beside the real file;
 * "" if there is none. */
static struct str side_of(struct fat *fat, const struct str *sources, const char *at)
{
	struct str real;
	struct stat st;
	bool up = strncmp(at, "../", 3) == 0;
	for (unsigned i = 0; i < (up ? 4 : 2); i++) {
		struct str from = path_clean(
			fat->a, str_fmt(fat->a, "%.*s/%s%s", STR(path_dir(sources[i % 2])),
					i < 2 ? "" : "../", at));
		if (path_is_inside(from) && inside(fat, from, &real, &st))
			return from;
	}
	return S("");
}

/* Takes the side files of a library. lib: its place in the wheel; source, real: its places in the SDK. */
static struct err *take_side(struct fat *fat, struct str lib, struct str source, struct str real)
{
	const struct str sources[] = {source, real};
	TABLE_EACH (fat_beside, row) {
		struct stat st;
		struct str at, to = str_fmt(fat->a, "%.*s/%s", STR(path_dir(lib)), row->at);
		if (*row->by && !is_named(fat, path_base(lib), row->by))
			continue;
		struct str from = side_of(fat, sources, row->at);
		if (!from.n || !inside(fat, from, &at, &st))
			continue;
		to = path_clean(fat->a, to);
		struct fat_side report = {.name = to, .source = from};
		struct side_walk s = {.fat = fat, .from = from, .to = to, .report = &report};
		struct err *e = S_ISDIR(st.st_mode) ? fs_walk(at, visit_side, &s)
						    : take_side_file(&s, from, to);
		if (report.files)
			*VEC_PUSH(fat->a, &fat->r->side) = report;
		TRY(e);
	}
	return NULL;
}

/* Adds a stand-in of that name for the library, unless the name is taken or there is no such library. */
static struct err *add_alias(struct fat *fat, struct str name)
{
	struct zip_input alias = {.name = path_join(fat->a, fat->folder, name), .mode = 0755};
	const struct fat_lib *to = NULL;
	if (VEC_FIND(struct zip_input, &fat->x.in, name, alias.name))
		return NULL;
	VEC_EACH (const struct fat_lib, lib, &fat->libs)
		if (lib->sdk && str_eq(stem(fat, path_base(lib->site)), stem(fat, name)))
			to = lib;
	if (!to)
		return NULL;
	alias.content = fat_stand_in(fat->a, to->elf.machine, name, path_base(to->site));
	return add_input(fat, alias);
}

/* Should the SDK have it? Libraries of PyTorch and CUDA come from elsewhere. */
static bool is_missing(const struct fat *fat, struct str name)
{
	const struct know_other *other = know_soname(name);
	if (other && other->origin != KNOW_ROCM)
		return false;
	VEC_EACH (const struct str, glob, &fat->q->allow)
		if (glob_match(*glob, name))
			return false;
	return true;
}

/* Another version of the library in the SDK, as the end of a sentence; or "". */
static struct str instead(const struct fat *fat, struct str name)
{
	struct str best = S("");
	if (map_has(&fat->found, name))
		return S("; that of the SDK is no library, or leads out of it");
	for (size_t i = 0; i < fat->found.n; i++) {
		struct str it = fat->found.v[i].key;
		if (str_eq(stem(fat, it), stem(fat, name)) && !str_ends(it, S(".so")) &&
			(!best.n || it.n < best.n))
			best = it;
	}
	return best.n ? str_fmt(fat->a, "; in the SDK there is '%.*s'", STR(best)) : best;
}

/* some: other libraries were found. */
static struct err *say_missing(struct fat *fat, const struct fat_outsides *missing, bool some)
{
	enum { MOST = 20 };
	struct str sdk = fat->q->sdk, wheel = path_base(fat->q->wheel.from);
	struct err *e = some ? err_new(E_SDK, "'%.*s' lacks %zu of the libraries that '%.*s' needs",
				       STR(sdk), missing->n, STR(wheel))
			     : err_new(E_SDK, "'%.*s' has none of the libraries that are missing",
				       STR(sdk));
	for (size_t i = 0; i < missing->n && i < MOST; i++) {
		struct fat_outside o = missing->v[i];
		e = err_hint(e, "'%.*s' needs '%.*s'%.*s", STR(o.needed_by), STR(o.name),
			STR(instead(fat, o.name)));
	}
	if (missing->n > MOST)
		e = err_hint(e, "and so on: %zu more", missing->n - MOST);
	return missing->n ? err_hint(e, "take the ROCm that the wheel was built for, or name what "
					"each machine will have: --allow LIB,...")
			  : e;
}

struct err *fat_find(struct fat *fat)
{
	const struct fat_lib *lib, *best = NULL;
	fat->found.a = fat->names.a = fat->taken.a = fat->a;
	TRY(read_members(fat));
	TRY_CTX(fs_walk(fat->root, visit_library, fat), "cannot read '%.*s'", STR(fat->q->sdk));
	/* Windows looks for a DLL beside the one that needs it, and Python beside the module: DLLs go to that folder */
	VEC_EACH (const struct fat_lib, it, &fat->libs)
		for (size_t i = 0; it->site.n && i < it->elf.dyn.needed.n; i++)
			if (map_has(&fat->found, it->elf.dyn.needed.v[i]) &&
				(!best || (str_ends(it->elf.dyn.soname, S(".dll")) &&
						  !str_ends(best->elf.dyn.soname, S(".dll")))))
				best = it;
	bool any = best;
	if (fat->windows && any)
		fat->folder = path_dir(best->site);
	size_t first = fat->libs.n;
	VEC_EACH (const struct str, name, &fat->q->with) {
		TRY(take_library(
			fat, fat->windows ? str_lower(fat->a, *name) : *name, S(""), &lib));
		if (!lib)
			return err_new(E_SDK, "there is no '%.*s' in '%.*s'", STR(*name),
				STR(fat->q->sdk));
	}
	for (size_t i = 0; i < fat->libs.n; i++)
		TRY(follow_needs(fat, i));
	for (size_t k = 0; !fat->windows && k < fat->libs.n; k++)
		TABLE_EACH (fat_alias, row) {
			struct str name = path_base(fat->libs.v[k].site), by = str_from(row->by);
			bool is = str_starts(name, by) && (name.n == by.n || name.p[by.n] == '.');
			if (fat->libs.v[k].sdk && is)
				TRY(add_alias(fat, str_from(row->name)));
		}
	struct fat_outsides missing = {0};
	VEC_EACH (const struct fat_outside, o, &fat->r->outside)
		if (is_missing(fat, o->name))
			*VEC_PUSH(fat->a, &missing) = *o;
	bool fine = fat->windows ? any : !missing.n;
	return fine ? NULL : say_missing(fat, &missing, fat->libs.n > first);
}
