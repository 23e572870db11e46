/* A wheel for fewer GPUs. Members with device code go through a scratch folder, one by one; all others are taken
 * over with their compressed bytes. See wheel.h and slim/slim.h. */
#include "base/fs.h"
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

/* What cannot be read is left as it is: others judge it. */
static struct err *slim_member(struct slimming *s, const struct zip_member *m, struct zip_input *in)
{
	CLEANUP(fd_closep) int fd = -1;
	struct elf_src src;
	struct slim_plan p = {.after = m->size};
	bool device = false;
	TRY(zip_stream(&s->w.zip, m, head_of, &device));
	if (device) {
		TRY(zip_src(&s->w.zip, m, &src, &fd));
		struct err *e = slim_read(s->a, &src, s->keep, &p);
		if (e && e->code != E_ELF && e->code != E_BUNDLE)
			return e;
		if (e)
			p = (struct slim_plan){.after = m->size};
		err_free(e);
	}
	if (p.changed && !fs_writes_forbidden()) {
		in->path = str_fmt(s->a, "%.*s/%zu", STR(s->scratch), s->inputs.n);
		in->member = NULL;
		TRY(slim_save(&p, in->path, 0644));
	}
	slim_note(s->a, s->r, m->name, m->size, &p);
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
	if (!slim_keeps_file(s->keep, m->zip->name)) {
		slim_note(s->a, s->r, m->zip->name, m->zip->size, NULL);
		return NULL;
	}
	TRY_CTX(slim_member(s, m->zip, &in), "cannot slim '%.*s'", STR(m->zip->name));
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
