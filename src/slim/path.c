/* Slims one file, or a whole folder, whose files are copied, made smaller or left out. See slim.h. The new folder is
 * built beside its place and renamed, so that it appears whole or not at all. */
#include <unistd.h>

#include "base/fs_stage.h"
#include "base/proc.h"
#include "slim/slim_int.h"

static struct err *write_cut_list(struct arena *a, const struct slim_report *r, struct str file)
{
	struct str path = str_fmt(a, "%.*s" CUT_LIST_END, STR(file));
	return r->files.n ? fs_write(path, cut_list_text(a, r), 0644) : NULL;
}

static struct err *slim_in_place(
	struct arena *a, struct slim_plan *p, const struct stat *st, struct slim_report *r)
{
	CLEANUP(fd_closep) int fd = -1;
	struct str path = r->path;
	uint64_t freed;
	TRY_CTX(slim_punch(p, -1, &freed), "cannot slim '%.*s'", STR(path));
	p->after = p->src->size - freed;
	slim_note(a, r, S(""), p->src->size, p);
	if (fs_writes_forbidden() || !p->changed || !fs_real(a, r->path, &path))
		return NULL;
	TRY(fs_open_shared(path, 0, &fd));
	if (!fs_is_same(fd, st))
		return err_new(E_IO, "'%.*s' is another file by now", STR(path));
	TRY(write_cut_list(a, r, path));
	TRY_CTX(slim_punch(p, fd, &freed), "cannot slim '%.*s'", STR(path));
	return NULL;
}

struct err *slim_file(struct arena *a, const struct slim_keep *k, bool in_place, bool force,
	struct slim_report *r)
{
	CLEANUP(bytes_close) struct bytes_file in;
	CLEANUP(fs_out_abandon) struct fs_out out = {.fd = -1, .dir = -1};
	struct slim_plan p;
	struct slim_report check = *r;
	bool holes = in_place && !k->strip && !k->compress, write = !fs_writes_forbidden();
	TRY(bytes_open(r->path, &in));
	TRY_CTX(slim_read(a, &in.src, k, &p), "cannot slim '%.*s'", STR(r->path));
	if (!p.elf.src && !p.bundles.n)
		return err_new(
			E_FORMAT, "'%.*s' is neither an ELF file nor a bundle", STR(r->path));
	check.targets = p.targets;
	TRY(slim_check_served(a, &check, k));
	if (!in_place)
		TRY(slim_may_make(a, r, false, force));
	else if (in.st.st_uid != geteuid())
		return err_new(E_PERM, "'%.*s' belongs to somebody else", STR(r->path));
	if (holes && in.st.st_nlink > 1 && !force)
		return err_hint(err_new(E_PERM, "'%.*s' has other names", STR(r->path)),
			"--force takes the code out of all of them");
	if (holes)
		return slim_in_place(a, &p, &in.st, r);
	if (in_place) /* other hard links keep the old content */
		(void)fs_real(a, r->path, &r->output);
	if (write) {
		TRY(fs_out_open(&out, r->output, in.st.st_mode));
		TRY_CTX(slim_write(&p, &out), "cannot slim '%.*s'", STR(r->path));
	}
	slim_note(a, r, S(""), in.src.size, &p);
	if (!write)
		return NULL;
	/* the cut list comes before its file: a killed run must not leave a file without one */
	TRY(write_cut_list(a, r, r->output));
	return fs_out_commit(&out);
}

/* ---- folders ---- */
struct folder_slimming {
	struct arena *a;
	const struct slim_keep *keep;
	struct slim_report *r;
	struct str to; /* the new folder */
};

/* A file that cannot be slimmed safely stays whole, and is listed as refused; so does a damaged one, but it is not
 * listed: `inspect` reports it. */
struct err *slim_take_file(struct arena *a, const struct slim_keep *k, struct slim_report *r,
	struct str name, struct str to)
{
	ARENA(tmp);
	CLEANUP(bytes_close) struct bytes_file in;
	struct slim_plan p;
	bool write = to.n && !fs_writes_forbidden();
	struct str from = path_join(&tmp, r->path, name);
	TRY(bytes_open(from, &in));
	struct err *e = slim_read(&tmp, &in.src, k, &p);
	if (!e && p.changed && write)
		e = slim_save(&p, to, in.st.st_mode);
	if (e && e->code != E_SLIM && e->code != E_ELF && e->code != E_BUNDLE)
		return err_wrap(e, "cannot slim '%.*s'", STR(from));
	if (e && e->code == E_SLIM)
		*VEC_PUSH(a, &r->refused) = (struct slim_refused){
			str_dup(a, name), str_dup(a, str_from(err_root(e)->msg))};
	if (e)
		p = (struct slim_plan){.after = in.src.size};
	err_free(e);
	slim_note(a, r, name, in.src.size, &p);
	if (p.changed || !write || str_eq(from, to))
		return NULL;
	e = fs_link(from, to);
	if (!e)
		return NULL;
	err_free(e); /* another file system, or one without hard links */
	return fs_copy(from, to, &in.st);
}

bool slim_drops(const struct slim_keep *k, const struct fs_entry *e)
{
	bool file = S_ISREG(e->st.st_mode) && !slim_keeps_file(k, e->path);
	return file || (!S_ISDIR(e->st.st_mode) && slim_leaves_out(k, e->path));
}

static struct err *visit_entry(void *user, const struct fs_entry *e, bool *prune)
{
	(void)prune;
	ARENA(tmp);
	struct folder_slimming *j = user;
	bool write = !fs_writes_forbidden();
	struct str from = path_join(&tmp, j->r->path, e->path), target;
	struct str to = path_join(&tmp, j->to, e->path);
	TRY(cancel_check());
	if (slim_drops(j->keep, e)) {
		slim_note(j->a, j->r, e->path, (uint64_t)e->st.st_size, NULL);
		return NULL;
	}
	if (S_ISDIR(e->st.st_mode))
		return write && !slim_leaves_out(j->keep, e->path) ? fs_mkdirs(to) : NULL;
	if (S_ISLNK(e->st.st_mode)) {
		TRY(fs_readlink(&tmp, from, &target));
		return write ? fs_symlink_new(target, to) : NULL;
	}
	return slim_take_file(j->a, j->keep, j->r, e->path, to);
}

struct err *slim_remove_empty(struct str top, const struct slim_report *r)
{
	struct str done = {0};
	VEC_EACH (const struct slim_done, f, &r->files) {
		ARENA(tmp);
		struct str dir = path_dir(f->path);
		if (f->after || str_eq(dir, done))
			continue;
		for (done = dir; path_is_inside(dir) && !str_eq(dir, S(".")); dir = path_dir(dir))
			TRY(fs_remove_empty(path_join(&tmp, top, dir)));
	}
	return NULL;
}

struct err *slim_may_make(struct arena *a, const struct slim_report *r, bool folder, bool force)
{
	struct str to = r->output, from, dir;
	if (folder && fs_real(a, r->path, &from) && fs_real(a, path_dir(to), &dir)) {
		dir = str_fmt(a, "%.*s/%.*s/", STR(dir), STR(path_base(to)));
		from = str_fmt(a, "%.*s/", STR(from));
		if (str_starts(dir, from) || str_starts(from, dir))
			return err_new(E_USAGE, "'%.*s' and '%.*s' lie in each other", STR(r->path),
				STR(to));
	}
	if (!fs_present(to))
		return NULL;
	if (!force)
		return err_hint(
			err_new(E_USAGE, "'%.*s' exists", STR(to)), "--force overwrites it");
	if (folder ? !fs_is_file(path_join(a, to, S(CUT_LIST))) : fs_is_dir(to))
		return err_new(E_USAGE, "'%.*s' exists, and was not made by 'slim'", STR(to));
	return NULL;
}

struct err *slim_folder(
	struct arena *a, const struct slim_keep *k, bool force, struct slim_report *r)
{
	struct folder_slimming j = {.a = a, .keep = k, .r = r};
	struct fs_stage stage = {.place = r->output, .receipt = S(CUT_LIST)};
	bool dry = fs_writes_forbidden();
	TRY(slim_may_make(a, r, true, force));
	if (!dry)
		TRY(fs_stage_begin(a, &stage));
	j.to = stage.tree;
	struct err *e = dry ? NULL : fs_mkdirs(j.to);
	e = e ? e : fs_walk(r->path, visit_entry, &j);
	e = e ? e : slim_check_served(a, r, k);
	e = e ? e : slim_check_without(r);
	if (dry)
		return e;
	e = e ? e : slim_remove_empty(j.to, r);
	e = e ? e : fs_stage_commit(&stage, cut_list_text(a, r));
	return err_join(e, fs_stage_end(&stage));
}
