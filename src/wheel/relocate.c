/* Removes the build machine from a wheel's libraries: their search paths are judged and rewritten; if any changed, the wheel is
 * packed anew, with a new RECORD. See wheel.h. */
#include <string.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "formats/elf_edit.h"
#include "know/know.h"
#include "wheel/rewrite.h"

struct relocated { /* a member */
	const struct zip_member *zip;
	struct str path; /* the unpacked file; "" = not unpacked yet */
	bool elf, copy;
	struct wheel_elf facts;
};

struct relocation {
	struct arena *a;
	struct wheel_relocation *r;
	const struct zip *zip;
	VEC(struct relocated) members; /* files, in the wheel's order, without RECORD */
	struct str record;             /* name of the member RECORD */
};

struct str wheel_origin(struct arena *a, struct str element, struct str member)
{
	static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
	for (unsigned i = 0; i < 2; i++) {
		struct str word = str_from(words[i]);
		if (str_starts(element, word))
			return path_clean(a, str_fmt(a, "%.*s/%.*s", STR(path_dir(member)),
						     STR(str_sub(element, word.n, element.n))));
	}
	return S("");
}

struct str wheel_way(struct arena *a, struct str from, struct str to)
{
	struct str rel = path_rel(a, path_clean(a, str_fmt(a, "/%.*s", STR(to))),
		path_clean(a, str_fmt(a, "/%.*s", STR(from))));
	return str_eq(rel, S(".")) ? S("$ORIGIN") : str_fmt(a, "$ORIGIN/%.*s", STR(rel));
}

/* ---- members ---- */

static struct err *unpack_member(struct relocation *x, struct relocated *m)
{
	if (m->path.n)
		return NULL;
	m->path = str_fmt(x->a, "%.*s/%zu", STR(x->r->scratch), (size_t)(m - x->members.v));
	return zip_extract(x->zip, m->zip, m->path);
}

/* A damaged ELF file stays as it is; `verify` reports it. */
static struct err *read_elf(struct relocation *x, struct relocated *m)
{
	CLEANUP(fd_closep) int fd = -1;
	char bytes[64];
	struct str head = {.p = bytes};
	TRY(zip_peek(x->zip, m->zip, bytes, sizeof(bytes), &head.n));
	if (!elf_is(head))
		return NULL;
	TRY(unpack_member(x, m));
	TRY(fs_open_shared(m->path, 0, &fd));
	struct bytes src = bytes_fd(fd, m->zip->size);
	struct err *e = wheel_elf_read(x->a, &src, m->zip->name, &m->facts, &m->elf);
	if (!e || (e->code != E_ELF && e->code != E_LIMIT))
		return e;
	err_free(e);
	m->elf = false;
	return NULL;
}

/* Leaves a member out that is a copy of a library of the SDK under CUDA's name. What is linked against it needs the library
 * by its own name, which it finds in ROCm. */
static struct err *leave_out_copy(struct relocation *x, struct relocated *m)
{
	struct digest ours, theirs;
	struct stat st;
	VEC_EACH (const struct wheel_copy, c, &x->r->copies) {
		if (!m->elf || !str_starts(path_base(m->zip->name), c->name) ||
			!fs_try_stat(c->path, &st) || (uint64_t)st.st_size != m->zip->size)
			continue;
		TRY(hash_file(HASH_SHA256, m->path, &ours));
		TRY(hash_file(HASH_SHA256, c->path, &theirs));
		m->copy = memcmp(&ours, &theirs, sizeof(ours)) == 0;
		if (m->copy) {
			strs_add(x->a, &x->r->left_out, m->zip->name);
			return NULL;
		}
	}
	return NULL;
}

/* ---- search paths ---- */

/* The folder in the wheel that has the library; "" if none has it, or several. Files in NAME.data are installed
 * elsewhere. */
static struct str folder_of(const struct relocation *x, struct str lib)
{
	struct str dir = S("");
	VEC_EACH (const struct relocated, m, &x->members) {
		if (!m->elf || m->copy || !str_eq(path_base(m->zip->name), lib))
			continue;
		if (dir.n || str_contains(m->zip->name, S(".data/")))
			return S("");
		dir = path_dir(m->zip->name);
	}
	return dir;
}

/* The new search path, with $ORIGIN for each library of the wheel that the remaining elements do not lead to; the old path if nothing
 * has to go or to come. A new element may come only if nothing is found by the RPATH of whoever loads the library, which is not asked
 * where there is a RUNPATH. */
static struct str path_for(
	struct relocation *x, const struct relocated *m, struct str path, bool may_come)
{
	struct arena *a = x->a;
	struct strs kept = {0}, there = {0};
	struct str rest = path, element;
	bool changes = false;
	for (bool more = path.n; more;) {
		more = str_cut(rest, ':', &element, &rest); /* the last one may be empty */
		bool goes = !element.n;
		VEC_EACH (const struct str, dir, &x->r->gone)
			goes = goes || path_is_below(path_clean(a, element), *dir);
		changes |= goes;
		if (goes)
			continue;
		strs_add(a, &kept, element);
		strs_add(a, &there, wheel_origin(a, element, m->zip->name));
	}
	VEC_EACH (const struct str, lib, &m->facts.dyn.needed) {
		struct str dir = changes || may_come ? folder_of(x, *lib) : S("");
		if (!dir.n || strs_has(&there, dir) || str_contains(m->zip->name, S(".data/")))
			continue;
		strs_add(a, &kept, wheel_way(a, path_dir(m->zip->name), dir));
		strs_add(a, &there, dir);
		changes = true;
	}
	return changes ? str_join(a, &kept, S(":")) : path;
}

/* ---- the requirement ---- */

bool wheel_brings_rocm(struct arena *a, struct str requirement)
{
	static const char *const bringers[] = {"torch", "rocm", NULL};
	return str_is_one_of(requirement_name(a, requirement), bringers);
}

static struct err *add_requirement(struct relocation *x)
{
	struct arena *a = x->a;
	struct relocated *metadata = NULL;
	struct dist_headers h = {0};
	struct str text, wanted = x->r->requires;
	bool rocm = false;
	x->r->requires = S("");
	VEC_EACH (struct relocated, m, &x->members) {
		if (str_eq(m->zip->name, path_join(a, path_dir(x->record), S("METADATA"))))
			metadata = m;
		VEC_EACH (const struct str, lib, &m->facts.dyn.needed)
			rocm = rocm || (know_provider(*lib) && !folder_of(x, *lib).n);
	}
	if (!wanted.n || !rocm || !metadata)
		return NULL;
	TRY(unpack_member(x, metadata));
	TRY(fs_read(a, metadata->path, WHEEL_TEXT, &text));
	err_free(dist_headers_parse(a, text, &h)); /* verify reports it */
	VEC_EACH (const struct dist_header, d, &h)
		if (dist_header_is(d, "Requires-Dist") && wheel_brings_rocm(a, d->value))
			return NULL;
	x->r->requires = wanted;
	text = wheel_with(a, text, str_fmt(a, "Requires-Dist: %.*s\n", STR(wanted)));
	return fs_write(metadata->path, text, 0644);
}

struct err *wheel_relocate(struct arena *a, struct wheel_relocation *r)
{
	CLEANUP(zip_close) struct zip zip = {.fd = -1};
	struct relocation x = {.a = a, .r = r, .zip = &zip};
	TRY(zip_open(a, r->from, NULL, &zip));
	VEC_EACH (const struct zip_member, z, &zip.members) {
		if (str_ends(z->name, S(".dist-info/RECORD")) &&
			str_chr(z->name, '/') == str_rchr(z->name, '/'))
			x.record = z->name;
		else if (!z->dir)
			*VEC_PUSH(a, &x.members) = (struct relocated){.zip = z};
	}
	if (!x.record.n)
		return err_new(E_WHEEL, "'%.*s' has no RECORD", STR(r->from));
	bool inherits = false;
	VEC_EACH (struct relocated, m, &x.members) {
		TRY(cancel_check());
		TRY(read_elf(&x, m));
		TRY(leave_out_copy(&x, m));
		inherits |= m->elf && m->facts.dyn.rpath.n && !m->facts.dyn.runpath.n;
	}
	/* the loader uses DT_RUNPATH or, without one, DT_RPATH: both are rewritten */
	VEC_EACH (struct relocated, m, &x.members) {
		CLEANUP(fd_closep) int fd = -1;
		const struct elf_dynamic *dyn = &m->facts.dyn;
		if (!m->elf || m->copy)
			continue;
		struct str run = path_for(&x, m, dyn->runpath, !inherits);
		struct str old = path_for(&x, m, dyn->rpath, false);
		struct elf_change v[] = {{ELF_RUNPATH, S(""), run}, {ELF_RPATH, S(""), old}};
		const struct elf_changes changes = {.v = v, .n = 2};
		bool changed = false;
		TRY(fs_open_shared(m->path, 0, &fd));
		struct err *e = elf_edit_fd(fd, &changes, &changed);
		if (changed && !e)
			*VEC_PUSH(a, &r->changed) =
				(struct wheel_path){m->zip->name, run.n ? run : old};
		if (e && (changed || e->code != E_ELF))
			return err_wrap(e, "cannot edit '%.*s'", STR(m->zip->name));
		if (e)
			strs_add(a, &r->kept, m->zip->name);
		err_free(e);
	}
	TRY(add_requirement(&x));
	if (!r->changed.n && !r->requires.n && !r->left_out.n)
		return NULL;
	struct wheel_inputs in = {.info = path_dir(x.record)};
	VEC_EACH (struct relocated, m, &x.members) {
		if (m->copy)
			continue;
		TRY(unpack_member(&x, m));
		*VEC_PUSH(a, &in) = (struct zip_input){.name = m->zip->name,
			.path = m->path,
			.mode = m->zip->mode & 0111 ? 0755 : 0644};
	}
	struct zip_writer w = {.path = r->to, .epoch = r->epoch, .jobs = r->jobs};
	return wheel_write(a, &in, &w);
}
