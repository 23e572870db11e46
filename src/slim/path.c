/* Slims one file, or a whole folder, whose files are copied, made smaller or left out. See slim.h. The new folder is
 * built beside its place and renamed, so that it appears whole or not at all. */
#include <unistd.h>

#include "base/fs_stage.h"
#include "base/proc.h"
#include "slim/slim_int.h"

/* ---- one file ---- */
struct slim_input {
	int fd;
	struct stat st;
	struct bytes src;
	struct budget budget;
	struct slim_plan p;
};

static void input_done(struct slim_input *in)
{
	fd_closep(&in->fd);
}

static struct err *look(
	struct arena *a, struct str path, const struct slim_keep *k, struct slim_input *in)
{
	in->fd = -1;
	TRY(fs_stat(path, &in->st));
	if (!S_ISREG(in->st.st_mode))
		return err_new(E_FORMAT, "'%.*s' is neither a file nor a folder", STR(path));
	TRY(fs_open(path, &in->fd));
	in->src = bytes_fd(in->fd, (uint64_t)in->st.st_size);
	budget_set(&in->budget, in->src.size);
	in->src.budget = &in->budget;
	TRY_CTX(slim_read(a, &in->src, k, &in->p), "cannot slim '%.*s'", STR(path));
	return NULL;
}

static struct err *may_punch(const struct slim_input *in, struct str path, bool force)
{
	if (in->st.st_uid != geteuid())
		return err_new(E_PERM, "'%.*s' belongs to somebody else", STR(path));
	if (in->st.st_nlink > 1 && !force)
		return err_hint(err_new(E_PERM, "'%.*s' has other names", STR(path)),
			"--force takes the code out of all of them");
	return NULL;
}

static struct err *write_cut_list(struct arena *a, const struct slim_report *r, struct str file)
{
	struct str path = str_fmt(a, "%.*s" CUT_LIST_END, STR(file));
	return r->files.n ? fs_write(path, cut_list_text(a, r), 0644) : NULL;
}

/* The cut list is written before its file: a killed run must not leave a file without one. */
static struct err *slim_new_file(struct arena *a, struct slim_input *in, struct slim_report *r)
{
	CLEANUP(fs_out_abandon) struct fs_out out = {.fd = -1, .dir = -1};
	bool write = !fs_writes_forbidden();
	if (write) {
		TRY(fs_out_open(&out, r->output, in->st.st_mode));
		TRY_CTX(slim_write(&in->p, &out), "cannot slim '%.*s'", STR(r->path));
	}
	slim_note(a, r, S(""), in->src.size, &in->p);
	if (!write)
		return NULL;
	TRY(write_cut_list(a, r, r->output));
	return fs_out_commit(&out);
}

static struct err *slim_in_place(
	struct arena *a, struct slim_input *in, bool force, struct slim_report *r)
{
	CLEANUP(fd_closep) int fd = -1;
	struct str path = r->path;
	uint64_t freed;
	TRY(may_punch(in, path, force));
	TRY_CTX(slim_punch(&in->p, -1, &freed), "cannot slim '%.*s'", STR(path));
	in->p.after = in->src.size - freed;
	slim_note(a, r, S(""), in->src.size, &in->p);
	if (fs_writes_forbidden() || !in->p.changed || !fs_real(a, r->path, &path))
		return NULL;
	TRY(fs_open_shared(path, 0, &fd));
	if (!fs_is_same(fd, &in->st))
		return err_new(E_IO, "'%.*s' is another file by now", STR(path));
	TRY(write_cut_list(a, r, path));
	TRY_CTX(slim_punch(&in->p, fd, &freed), "cannot slim '%.*s'", STR(path));
	return NULL;
}

struct err *slim_file(struct arena *a, const struct slim_keep *k, bool in_place, bool force,
	struct slim_report *r)
{
	CLEANUP(input_done) struct slim_input in;
	struct slim_report check = *r;
	TRY(look(a, r->path, k, &in));
	if (!in.p.elf.src && !in.p.bundles.n)
		return err_new(
			E_FORMAT, "'%.*s' is neither an ELF file nor a bundle", STR(r->path));
	check.targets = in.p.targets;
	TRY(slim_check_served(a, &check, k));
	if (in_place && !k->strip && !k->compress)
		return slim_in_place(a, &in, force, r);
	if (!in_place)
		TRY(slim_may_make(a, r, false, force));
	else if (fs_real(a, r->path, &r->output))
		TRY(may_punch(&in, r->path, true)); /* other hard links keep the old content */
	return slim_new_file(a, &in, r);
}

/* ---- folders ---- */
struct folder_slimming {
	struct arena *a;
	const struct slim_keep *keep;
	struct slim_report *r;
	struct str to; /* the new folder */
};

/* Does the error mean that the file stays whole? One that cannot be slimmed safely is listed as refused. A damaged one
 * is not listed: `inspect` reports it. */
static bool stays_whole(
	struct arena *a, struct slim_report *r, struct str name, const struct err *e)
{
	if (e->code == E_SLIM)
		*VEC_PUSH(a, &r->refused) = (struct slim_refused){
			str_dup(a, name), str_dup(a, str_from(err_root(e)->msg))};
	return e->code == E_SLIM || e->code == E_ELF || e->code == E_BUNDLE;
}

struct err *slim_take_file(struct arena *a, const struct slim_keep *k, struct slim_report *r,
	struct str name, struct str to)
{
	ARENA(tmp);
	CLEANUP(input_done) struct slim_input in;
	bool write = to.n && !fs_writes_forbidden();
	struct str from = path_join(&tmp, r->path, name);
	struct err *e = look(&tmp, from, k, &in);
	if (!e && in.p.changed && write)
		e = slim_save(&in.p, to, in.st.st_mode);
	if (e && !stays_whole(a, r, name, e))
		return e;
	if (e)
		in.p = (struct slim_plan){.after = in.src.size};
	err_free(e);
	slim_note(a, r, name, in.src.size, &in.p);
	if (in.p.changed || !write || str_eq(from, to))
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

static struct err *visit(void *user, const struct fs_entry *e, bool *prune)
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

static struct err *make_folder(struct folder_slimming *j, struct fs_stage *stage)
{
	TRY(fs_mkdirs(j->to));
	TRY(fs_walk(j->r->path, visit, j));
	TRY(slim_check_served(j->a, j->r, j->keep));
	TRY(slim_check_without(j->r));
	TRY(slim_remove_empty(j->to, j->r));
	return fs_stage_commit(stage, cut_list_text(j->a, j->r));
}

struct err *slim_folder(
	struct arena *a, const struct slim_keep *k, bool force, struct slim_report *r)
{
	struct folder_slimming j = {.a = a, .keep = k, .r = r};
	struct fs_stage stage = {.place = r->output, .receipt = S(CUT_LIST)};
	TRY(slim_may_make(a, r, true, force));
	if (fs_writes_forbidden()) {
		TRY(fs_walk(r->path, visit, &j));
		TRY(slim_check_without(r));
		return slim_check_served(a, r, k);
	}
	TRY(fs_stage_begin(a, &stage));
	j.to = stage.tree;
	struct err *e = make_folder(&j, &stage);
	return err_join(e, fs_stage_end(&stage));
}
