/* Opens the contents of a wheel's files, and chooses the format of a split. kpack archives are read by the HIP runtime
 * of ROCm 7.13 and newer; older ones stop at a library without its code. Evidence, the best first: a runtime in the wheel
 * itself; the major version of the runtime that its libraries need; the ROCm that METADATA requires, or that its local
 * version names. Sources: rocm-systems#2622, shared/kpack (loader: its names are in each runtime that has or needs it). */
#include "wheel/split_int.h"

/* Contents stay open for the next wheel while they are few. */
struct err *split_content(struct splitting *s, struct split_file *f,
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

struct err *split_bundles(
	struct splitting *s, struct arena *a, struct slim_plan *ret, struct kpack_dll *ret_dll)
{
	static const struct slim_keep none = {.none = true};
	const struct bytes *src = &s->file->src;
	char bytes[64];
	struct str head = {.p = bytes};
	*ret_dll = (struct kpack_dll){0};
	TRY(bytes_peek(src, bytes, sizeof(bytes), 0, &head.n));
	if (!pe_is(head))
		return slim_read(a, src, &none, ret);
	*ret = (struct slim_plan){.a = a, .src = src};
	struct err *e = kpack_dll_open(a, src, ret_dll);
	if (e && e->code != E_FORMAT && e->code != E_BUNDLE && e->code != E_ELF)
		return e;
	VEC_EACH (const struct bundle, b, &ret_dll->bundles)
		if (!e)
			*VEC_PUSH(a, &ret->bundles) = (struct slim_bundle){.old = *b};
	err_free(e);
	ret->changed = ret->bundles.n;
	ret->from = ret_dll->cut;
	ret->size = ret_dll->cut_size;
	return NULL;
}

/* ---- the format ---- */

enum { KPACK_MAJOR = 7, KPACK_MINOR = 13 };

struct split_evidence {
	struct str bundled;        /* a member: a runtime */
	bool reads;                /* it reads kpack archives */
	struct str member, needed; /* a member that needs a runtime, and which one */
	bool library;              /* there are libraries or programs, not just bundles */
	uint64_t major;            /* the oldest major version that is needed; 0: not known */
};

/* "libamdhip64.so.7", "libamdhip64-d01f4dc2.so.7.2", "amdhip64_7.dll" */
static bool is_runtime(struct arena *a, struct str name, uint64_t *ret_major)
{
	struct str low = str_lower(a, path_base(name)), head, version;
	bool is = str_eq(path_library(low, &version), S("libamdhip64"));
	bool dll = str_starts(low, S("amdhip64")) && str_ends(low, S(".dll"));
	if (dll)
		(void)str_cut(low, '_', &head, &version);
	str_numbers(version, ret_major, 1);
	return is || dll;
}

static struct err *has_loader(const struct bytes *src, bool *ret)
{
	enum { WINDOW = 1 << 16, WORD = 32 };
	char bytes[WINDOW];
	struct str piece = {.p = bytes};
	*ret = false;
	for (uint64_t at = 0; at < src->size && !*ret; at += WINDOW - WORD) {
		TRY(bytes_peek(src, bytes, WINDOW, at, &piece.n));
		*ret = str_contains(piece, S("kpack_load_code_object")) ||
		       str_contains(piece, S("kpack_search_paths"));
	}
	return NULL;
}

static struct err *look_for_runtime(struct splitting *s, struct split_file *f)
{
	struct split_evidence *v = s->evidence;
	struct elf_dynamic d = {0};
	struct elf e;
	char bytes[64];
	struct str head = {.p = bytes};
	uint64_t major;
	if (is_runtime(s->a, f->path, &major) &&
		!v->reads) { /* a smaller one is a stand-in for it */
		v->bundled = f->m->zip->name;
		return has_loader(&f->src, &v->reads);
	}
	TRY(bytes_peek(&f->src, bytes, sizeof(bytes), 0, &head.n));
	v->library = v->library || pe_is(head) || elf_is(head);
	if (pe_is(head)) {
		TRY(pe_imports(s->a, &f->src, &d.needed));
	} else if (elf_is(head)) {
		TRY(elf_open(s->a, &f->src, &e));
		TRY(elf_needs(s->a, &e, &d));
	}
	for (size_t i = 0; i < d.needed.n; i++) {
		if (!is_runtime(s->a, d.needed.v[i], &major) || (v->needed.n && major >= v->major))
			continue;
		v->major = major;
		v->member = f->m->zip->name;
		v->needed = str_dup(s->a, path_base(d.needed.v[i]));
	}
	return NULL;
}

/* Is there a ROCm version behind the operator, or behind the word? *ret_new: it is one whose runtime reads archives. */
static bool names_rocm(struct str text, bool *ret_new)
{
	uint64_t v[2];
	bool is = str_numbers(text, v, 2);
	*ret_new = v[0] > KPACK_MAJOR || (v[0] == KPACK_MAJOR && v[1] >= KPACK_MINOR);
	return is;
}

/* The text in METADATA that names a ROCm version: a requirement, or the local version; "" if there is none. */
static struct str declared_rocm(struct splitting *s, bool *ret_new)
{
	struct requirement r;
	VEC_EACH (const struct dist_header, h, &s->headers) {
		struct str name = wheel_requires(s->a, h);
		if (!str_eq(name, S("rocm")) && !str_starts(name, S("rocm_sdk")))
			continue;
		err_free(dist_header_requirement(s->a, h, &r));
		size_t n = str_span(r.specifier, "=>~ ");
		if (n && names_rocm(str_sub(r.specifier, n, r.specifier.n), ret_new))
			return str_fmt(s->a, "requires %.*s %.*s", STR(r.name), STR(r.specifier));
	}
	size_t at = str_find(s->version, S("+"));
	size_t word = at + str_find(str_sub(s->version, at, s->version.n), S("rocm")) + 4;
	if (word <= s->version.n && names_rocm(str_sub(s->version, word, s->version.n), ret_new))
		return str_fmt(s->a, "is version %.*s", STR(s->version));
	return S("");
}

struct err *split_choose(struct splitting *s)
{
	const char *since = "the HIP runtime reads kpack archives since ROCm 7.13";
	struct split_evidence v = {0};
	struct split_done *done = s->done;
	bool reads = false;
	s->evidence = &v;
	for (size_t i = 0; i < s->w.members.n && s->q->format != SPLIT_PLAIN; i++) {
		struct err *e = NULL;
		if (s->files[i].image)
			e = split_content(s, &s->files[i], look_for_runtime);
		if (e && e->code != E_ELF && e->code != E_FORMAT)
			return e;
		err_free(e); /* a damaged file is copied unchanged */
	}
	struct str rocm = declared_rocm(s, &reads);
	if (v.bundled.n) {
		reads = v.reads;
		done->why =
			str_fmt(s->a, "the HIP runtime '%.*s' of the wheel reads %skpack archives",
				STR(v.bundled), reads ? "" : "no ");
	} else if (!v.library) {
		reads = false;
		done->why = S("its device code is in no library, and archives belong to libraries");
	} else if (v.major && v.major != KPACK_MAJOR) {
		reads = v.major > KPACK_MAJOR;
		done->why = str_fmt(
			s->a, "'%.*s' needs %.*s, and %s", STR(v.member), STR(v.needed), since);
	} else if (rocm.n) {
		done->why = str_fmt(s->a, "the wheel %.*s, and %s", STR(rocm), since);
	} else if (v.major) {
		done->why = str_fmt(s->a, "'%.*s' needs %.*s, which ROCm 7.0 has, too, and %s",
			STR(v.member), STR(v.needed), since);
	} else {
		done->why =
			str_fmt(s->a, "nothing in the wheel names its ROCm version, and %s", since);
	}
	if (s->q->format == SPLIT_PLAIN)
		done->why = S("it was asked for");
	done->chosen = !s->q->format;
	s->plain = s->q->format ? s->q->format == SPLIT_PLAIN : !reads;
	done->reads = s->plain || reads;
	done->format = s->plain ? S("plain") : S("kpack");
	return NULL;
}
