/* Puts each member of a wheel through a rule, and writes the results; see rewrite.h. */
#include "wheel/rewrite.h"

#include "base/fs.h"
#include "base/proc.h"

struct zip_input wheel_input(const struct wheel *w, const struct wheel_member *m)
{
	return (struct zip_input){.name = m->zip->name,
		.mode = m->zip->mode & 0111 ? 0755 : 0644,
		.zip = &w->zip,
		.member = m->zip,
		.sha256 = m->sha256};
}

struct wheel_inputs rewrite_inputs(struct arena *a, const struct wheel *w)
{
	struct wheel_inputs ret = {.info = w->info};
	VEC_EACH (const struct wheel_member, m, &w->members)
		*VEC_PUSH(a, &ret) = wheel_input(w, m);
	return ret;
}

uint32_t wheel_time(const struct wheel *w)
{
	VEC_EACH (const struct wheel_member, m, &w->members)
		if (m->zip->time)
			return m->zip->time;
	return 0;
}

struct err *rewrite_each(
	struct rewrite *x, const struct wheel_inputs *in, rewrite_rule *rule, void *user)
{
	for (x->at = 0; x->at < in->n; x->at++) {
		struct zip_input now = in->v[x->at];
		TRY(cancel_check());
		if (now.member && !now.sha256.n)
			continue;
		TRY(rule(user, x, &now));
		if (now.name.n)
			*VEC_PUSH(x->a, &x->out) = now;
	}
	return NULL;
}

struct str rewrite_file(struct rewrite *x)
{
	return str_fmt(x->a, "%.*s/%zu", STR(x->scratch), x->files++);
}

void rewrite_content(struct zip_input *in, struct str path)
{
	in->path = path;
	in->member = NULL;
}

void rewrite_text(struct rewrite *x, const char *file, struct str text)
{
	struct zip_input *at = NULL, now = {.mode = 0644, .content = text};
	now.name = path_join(x->a, x->out.info, str_from(file));
	VEC_EACH (struct zip_input, in, &x->out)
		at = str_eq(in->name, now.name) ? in : at;
	*(at ? at : VEC_PUSH(x->a, &x->out)) = now;
}

static struct err *take_head(void *user, const void *p, size_t n, bool *stop)
{
	struct str head = {.p = p, .n = n};
	*(bool *)user = elf_is(head) || bundle_is(head);
	*stop = true;
	return NULL;
}

struct err *rewrite_slim(struct rewrite *x, const struct slim_keep *keep, struct slim_report *r,
	struct zip_input *in)
{
	CLEANUP(fd_closep) int fd = -1;
	struct bytes src = {.size = in->member ? in->member->size : in->content.n};
	struct str head = {0};
	struct stat st;
	struct budget budget;
	bool device = false, stop;
	if (in->member) {
		TRY(zip_stream(in->zip, in->member, take_head, &device));
		if (device)
			TRY(zip_src(in->zip, in->member, &src, &fd));
	} else if (in->path.n) {
		TRY(fs_stat(in->path, &st));
		TRY(fs_open(in->path, &fd));
		src = bytes_fd(fd, (uint64_t)st.st_size);
		TRY(fs_read_head(x->a, in->path, 64, &head));
		TRY(take_head(&device, head.p, head.n, &stop));
	}
	struct slim_plan p = {.after = src.size};
	budget_set(&budget, src.size);
	src.budget = src.budget ? src.budget : &budget;
	struct err *e = device ? slim_read(x->a, &src, keep, &p) : NULL;
	if (e && e->code != E_ELF && e->code != E_BUNDLE)
		return e;
	if (e)
		p = (struct slim_plan){.after = src.size};
	err_free(e);
	if (p.changed && !fs_writes_forbidden()) {
		rewrite_content(in, rewrite_file(x));
		TRY(slim_save(&p, in->path, 0644));
	}
	slim_note(x->a, r, in->name, src.size, &p);
	return NULL;
}

void rewrite_cut_list(struct rewrite *x, const struct slim_report *r)
{
	if (r->files.n)
		rewrite_text(x, CUT_LIST, cut_list_text(x->a, r));
}

struct err *rewrite_write(struct rewrite *x)
{
	struct zip_writer how = {.path = x->to,
		.time = x->time,
		.epoch = x->epoch,
		.jobs = x->jobs,
		.budget = x->budget};
	struct str dir = path_dir(x->to);
	struct stat st;
	if (fs_writes_forbidden())
		return NULL;
	bool new = !fs_present(dir);
	TRY(fs_mkdirs(dir));
	struct err *e = wheel_write(x->a, x->out.v, x->out.n, x->out.info, &how);
	if (e)
		return new ? err_join(e, fs_remove_empty(dir)) : e;
	TRY(fs_stat(x->to, &st));
	x->size = (uint64_t)st.st_size;
	return NULL;
}
