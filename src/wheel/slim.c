/* A wheel for fewer GPUs. Members with device code go through a scratch folder, one by one; all others are taken
 * over with their compressed bytes. See wheel.h and slim/slim.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/proc.h"
#include "wheel/archive.h"

struct slimming {
	struct arena *a;
	const struct slim_keep *keep;
	struct slim_report *r;
	struct wheel w;
	struct str scratch; /* a folder */
	struct wheel_inputs inputs;
};

static struct err *head_of(void *user, const void *p, size_t n, bool *stop)
{
	struct str head = {.p = p, .n = n};
	*(bool *)user = elf_is(head) || bundle_is(head);
	*stop = true;
	return NULL;
}

/* A member, a file, or a text. */
static struct err *open_input(struct arena *a, const struct zip_input *in, bool *ret_device,
	struct bytes *src, int *ret_fd)
{
	struct str head = in->content;
	struct stat st;
	bool stop;
	*src = (struct bytes){.size = in->content.n};
	if (in->member) {
		src->size = in->member->size;
		TRY(zip_stream(in->zip, in->member, head_of, ret_device));
		return *ret_device ? zip_src(in->zip, in->member, src, ret_fd) : NULL;
	}
	if (in->path.n) {
		TRY(fs_stat(in->path, &st));
		TRY(fs_open(in->path, ret_fd));
		*src = bytes_fd(*ret_fd, (uint64_t)st.st_size);
		TRY(fs_read_head(a, in->path, 64, &head));
	}
	return head_of(ret_device, head.p, head.n, &stop);
}

struct err *wheel_slim_input(struct arena *a, const struct slim_keep *keep, struct slim_report *r,
	struct zip_input *in, struct str scratch)
{
	CLEANUP(fd_closep) int fd = -1;
	struct bytes src;
	struct budget budget;
	bool device = false;
	TRY(open_input(a, in, &device, &src, &fd));
	struct slim_plan p = {.after = src.size};
	budget_set(&budget, src.size);
	src.budget = src.budget ? src.budget : &budget;
	struct err *e = device && !in->content.n ? slim_read(a, &src, keep, &p) : NULL;
	if (e && e->code != E_ELF && e->code != E_BUNDLE)
		return e;
	if (e)
		p = (struct slim_plan){.after = src.size};
	err_free(e);
	if (p.changed && !fs_writes_forbidden()) {
		in->path = scratch;
		in->member = NULL;
		TRY(slim_save(&p, in->path, 0644));
	}
	slim_note(a, r, in->name, src.size, &p);
	return NULL;
}

static struct err *take(struct slimming *s, const struct wheel_member *m)
{
	struct zip_input in = {.name = m->zip->name,
		.mode = m->zip->mode & 0111 ? 0755 : 0644,
		.zip = &s->w.zip,
		.member = m->zip,
		.sha256 = m->sha256};
	TRY(cancel_check());
	if (wheel_is_record(s->w.info, m->zip->name))
		return NULL;
	if (str_starts(m->zip->name, s->w.info) && slim_leaves_out(s->keep, m->zip->name))
		return err_new(
			E_USAGE, "'%.*s' has to stay: it is no wheel without", STR(m->zip->name));
	if (!slim_keeps_file(s->keep, m->zip->name)) {
		slim_note(s->a, s->r, m->zip->name, m->zip->size, NULL);
		return NULL;
	}
	struct str scratch = str_fmt(s->a, "%.*s/%zu", STR(s->scratch), s->inputs.n);
	TRY_CTX(wheel_slim_input(s->a, s->keep, s->r, &in, scratch), "cannot slim '%.*s'",
		STR(m->zip->name));
	*VEC_PUSH(s->a, &s->inputs) = in;
	return NULL;
}

/* In the place of an earlier one, or as a new member. */
void wheel_put_manifest(struct arena *a, struct wheel_inputs *to, const struct slim_report *r)
{
	struct zip_input *at = NULL, now = {.mode = 0644, .content = slim_manifest(a, r)};
	now.name = path_join(a, to->info, S(SLIM_MANIFEST));
	VEC_EACH (struct zip_input, in, to)
		at = str_eq(in->name, now.name) ? in : at;
	if (r->files.n)
		*(at ? at : VEC_PUSH(a, to)) = now;
}

static struct err *slim(struct slimming *s, unsigned jobs)
{
	struct zip_writer how = {.path = s->r->output, .jobs = jobs};
	if (!fs_writes_forbidden())
		TRY(wheel_check(&s->w, jobs, "Checking", NULL, NULL));
	VEC_EACH (const struct wheel_member, m, &s->w.members) {
		TRY(take(s, m));
		how.time = how.time ? how.time : m->zip->time;
	}
	TRY(slim_check_served(s->a, s->r, s->keep));
	TRY(slim_check_without(s->r));
	if (fs_writes_forbidden())
		return NULL;
	s->inputs.info = s->w.info;
	wheel_put_manifest(s->a, &s->inputs, s->r);
	return wheel_write(s->a, s->inputs.v, s->inputs.n, s->w.info, &how);
}

struct err *wheel_slim(struct arena *a, const struct slim_keep *k, bool force, unsigned jobs,
	struct slim_report *r)
{
	struct slimming s = {.a = a, .keep = k, .r = r};
	TRY(slim_may_make(a, r, false, force));
	TRY(wheel_open(a, r->path, &s.w));
	struct err *e = fs_tempdir(a, S(""), &s.scratch);
	if (!e)
		e = slim(&s, jobs);
	wheel_close(&s.w);
	return s.scratch.n ? err_join(e, fs_remove_tree(s.scratch)) : e;
}

static struct err *look_for_runtime(struct arena *a, struct wheel *w, struct slim_runtime *ret)
{
	VEC_EACH (const struct wheel_member, m, &w->members) {
		CLEANUP(fd_closep) int fd = -1;
		struct bytes src;
		if (!slim_is_runtime(m->zip->name))
			continue;
		TRY(zip_src(&w->zip, m->zip, &src, &fd));
		TRY_CTX(slim_runtime(a, &src, m->zip->name, ret), "cannot read '%.*s'",
			STR(m->zip->name));
	}
	return NULL;
}

struct err *wheel_runtime(struct arena *a, struct str path, struct slim_runtime *ret)
{
	struct wheel w;
	TRY(wheel_open(a, path, &w));
	struct err *e = look_for_runtime(a, &w, ret);
	wheel_close(&w);
	return e;
}

/* ---- what is installed ---- */

struct installed {
	struct arena *a;
	const struct slim_report *r;
	struct map done; /* by its path below the folder */
};

/* Of a file that changed the line is made anew, of one that is gone there is none. */
static struct err *update_line(
	struct installed *x, const struct record_entry *row, struct str path, struct buf *to)
{
	struct digest d;
	struct stat st;
	struct str file = path_join(x->a, x->r->path, path);
	if (!fs_try_lstat(file, &st))
		return NULL;
	TRY(hash_file(HASH_SHA256, file, &d));
	wheel_record_add(to, row->path, digest_base64url(x->a, &d), (uint64_t)st.st_size);
	return NULL;
}

static struct err *update_record(struct installed *x, struct str name)
{
	struct str text, path = path_join(x->a, x->r->path, name);
	struct str site = path_dir(path_dir(name));
	struct record rows;
	BUF(now, x->a);
	TRY(fs_read(x->a, path, 64 << 20, &text));
	struct strs lines = str_split(x->a, text, '\n');
	lines.n -= lines.n && !lines.v[lines.n - 1].n;
	struct err *e = wheel_record_parse(x->a, text, lines.n, &rows);
	bool plain = !e && rows.n == lines.n;
	err_free(e);
	for (size_t i = 0; plain && i < rows.n; i++) {
		struct str row = path_clean(x->a, path_join(x->a, site, rows.v[i].path));
		if (map_has(&x->done, row)) {
			TRY(update_line(x, &rows.v[i], row, &now));
			continue;
		}
		buf_add(&now, lines.v[i]);
		buf_char(&now, '\n');
	}
	return !plain || str_eq(buf_str(&now), text) ? NULL : fs_write(path, buf_str(&now), 0644);
}

static struct err *find_record(void *user, const struct fs_entry *e, bool *prune)
{
	(void)prune;
	struct installed *x = user;
	bool record = str_ends(e->path, S(".dist-info/RECORD")) && S_ISREG(e->st.st_mode);
	return record ? update_record(x, e->path) : NULL;
}

struct err *wheel_slim_installed(const struct slim_report *all)
{
	ARENA(a);
	struct installed x = {.a = &a, .r = all, .done = {.a = &a}};
	VEC_EACH (struct slim_done, f, &all->files)
		if (path_is_inside(f->path))
			map_put(&x.done, f->path, f);
	return fs_walk(all->path, find_record, &x);
}
