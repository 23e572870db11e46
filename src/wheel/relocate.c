/* Removes the build machine from a wheel's libraries: their search paths are judged and rewritten; if any changed, the wheel is
 * packed anew, with a new RECORD. See wheel.h. */
#include "base/fs.h"
#include "base/proc.h"
#include "formats/elf_edit.h"
#include "wheel/archive.h"

struct relocated { /* a member */
	const struct zip_member *zip;
	struct str path; /* the unpacked file; "" = not unpacked yet */
	bool elf;
	struct wheel_elf facts;
};

struct relocation {
	struct arena *a;
	struct wheel_relocation *r;
	struct zip zip;
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

/* ---- unpacking ---- */

struct scratch { /* a member that is being unpacked into a file */
	struct str path;
	int fd;
	uint64_t at;
	bool elf_only;
};

static struct err *take_piece(void *user, const void *p, size_t n, bool *stop)
{
	struct scratch *u = user;
	*stop = u->fd < 0 && u->elf_only && !elf_is((struct str){.p = p, .n = n});
	if (*stop)
		return NULL;
	if (u->fd < 0)
		TRY(fs_open_shared(u->path, 0, &u->fd));
	TRY(fs_pwrite(u->fd, p, n, u->at));
	u->at += n;
	return NULL;
}

/* m->path stays "" for an empty file and, with elf_only, for one that is not ELF. */
static struct err *unpack(struct relocation *x, struct relocated *m, bool elf_only)
{
	struct scratch u = {.fd = -1, .elf_only = elf_only};
	if (m->path.n)
		return NULL;
	u.path = str_fmt(x->a, "%.*s/%zu", STR(x->r->scratch), (size_t)(m - x->members.v));
	struct err *e = zip_stream(&x->zip, m->zip, take_piece, &u);
	if (u.fd >= 0)
		m->path = u.path;
	fd_closep(&u.fd);
	return e;
}

/* A damaged ELF file stays as it is; `verify` reports it. */
static struct err *read_elf(struct relocation *x, struct relocated *m)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	TRY(fs_open_shared(m->path, 0, &fd));
	TRY(fs_stat(m->path, &st));
	struct bytes src = bytes_fd(fd, (uint64_t)st.st_size);
	struct err *e = wheel_elf_read(x->a, &src, m->zip->name, &m->facts, &m->elf);
	if (!e || (e->code != E_ELF && e->code != E_LIMIT))
		return e;
	err_free(e);
	m->elf = false;
	return NULL;
}

static struct err *read_members(struct relocation *x)
{
	VEC_EACH (const struct zip_member, z, &x->zip.members) {
		if (str_ends(z->name, S(".dist-info/RECORD")) &&
			str_chr(z->name, '/') == str_rchr(z->name, '/'))
			x->record = z->name;
		else if (!z->dir)
			*VEC_PUSH(x->a, &x->members) = (struct relocated){.zip = z};
	}
	if (!x->record.n)
		return err_new(E_WHEEL, "'%.*s' has no RECORD", STR(x->r->from));
	VEC_EACH (struct relocated, m, &x->members) {
		TRY(cancel_check());
		TRY(unpack(x, m, true));
		if (m->path.n)
			TRY(read_elf(x, m));
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
		if (!m->elf || !str_eq(path_base(m->zip->name), lib))
			continue;
		if (dir.n || str_contains(m->zip->name, S(".data/")))
			return S("");
		dir = path_dir(m->zip->name);
	}
	return dir;
}

/* Adds $ORIGIN for each library of the wheel that the elements do not lead to. */
static void add_origins(struct relocation *x, const struct relocated *m, struct strs *elements)
{
	struct arena *a = x->a;
	struct strs there = {0};
	VEC_EACH (const struct str, e, elements)
		strs_add(a, &there, wheel_origin(a, *e, m->zip->name));
	VEC_EACH (const struct str, lib, &m->facts.dyn.needed) {
		struct str dir = folder_of(x, *lib);
		if (!dir.n || strs_has(&there, dir) || str_contains(m->zip->name, S(".data/")))
			continue;
		strs_add(a, elements, wheel_way(a, path_dir(m->zip->name), dir));
		strs_add(a, &there, dir);
	}
}

/* The new search path; the old one if no element has to go. */
static struct str path_for(struct relocation *x, const struct relocated *m, struct str path)
{
	struct strs kept = {0};
	size_t from = 0;
	bool gone = false;
	for (size_t i = 0; path.n && i <= path.n; i++) {
		if (i < path.n && path.p[i] != ':')
			continue;
		struct str element = str_sub(path, from, i);
		bool goes = !element.n;
		from = i + 1;
		VEC_EACH (const struct str, dir, &x->r->gone)
			goes = goes || path_is_below(path_clean(x->a, element), *dir);
		gone = gone || goes;
		if (!goes)
			strs_add(x->a, &kept, element);
	}
	if (!gone)
		return path;
	add_origins(x, m, &kept);
	return str_join(x->a, &kept, S(":"));
}

/* The loader uses DT_RUNPATH or, without one, DT_RPATH: both are rewritten. */
static struct err *edit_paths(struct relocation *x, struct relocated *m)
{
	CLEANUP(fd_closep) int fd = -1;
	const struct elf_dynamic *dyn = &m->facts.dyn;
	struct str run = path_for(x, m, dyn->runpath), old = path_for(x, m, dyn->rpath);
	struct elf_change v[] = {{ELF_RUNPATH, S(""), run}, {ELF_RPATH, S(""), old}};
	const struct elf_changes changes = {.v = v, .n = 2};
	bool changed = false;
	TRY(fs_open_shared(m->path, 0, &fd));
	struct err *e = elf_edit_fd(fd, &changes, &changed);
	if (changed && !e)
		*VEC_PUSH(x->a, &x->r->changed) =
			(struct wheel_path){m->zip->name, run.n ? run : old};
	if (!e || changed || e->code != E_ELF)
		return e ? err_wrap(e, "cannot edit '%.*s'", STR(m->zip->name)) : NULL;
	err_free(e);
	strs_add(x->a, &x->r->kept, m->zip->name);
	return NULL;
}

/* ---- packing ---- */

static struct err *pack_members(struct relocation *x)
{
	struct zip_input *v = arena_array(x->a, x->members.n + 1, sizeof(*v));
	for (size_t i = 0; i < x->members.n; i++) {
		struct relocated *m = &x->members.v[i];
		TRY(unpack(x, m, false));
		v[i] = (struct zip_input){.name = m->zip->name,
			.path = m->path,
			.mode = m->zip->mode & 0111 ? 0755 : 0644};
	}
	struct zip_writer w = {.path = x->r->to, .epoch = x->r->epoch, .jobs = x->r->jobs};
	return wheel_write(x->a, v, x->members.n, path_dir(x->record), &w);
}

static void relocation_done(struct relocation *x)
{
	zip_close(&x->zip);
}

struct err *wheel_relocate(struct arena *a, struct wheel_relocation *r)
{
	CLEANUP(relocation_done)
	struct relocation x = {.a = a, .r = r, .zip.fd = -1};
	TRY(zip_open(a, r->from, NULL, &x.zip));
	TRY(read_members(&x));
	VEC_EACH (struct relocated, m, &x.members)
		if (m->elf)
			TRY(edit_paths(&x, m));
	return r->changed.n ? pack_members(&x) : NULL;
}
