/* Puts each member of a wheel through a rule, and writes the results; see rewrite.h. */
#include "wheel/rewrite.h"

#include "base/proc.h"

struct zip_input wheel_input(const struct wheel *w, const struct wheel_member *m)
{
	return (struct zip_input){.name = m->zip->name,
		.mode = m->zip->mode & 0111 ? 0755 : 0644,
		.zip = &w->zip,
		.member = m->zip,
		.sha256 = m->sha256};
}

struct err *rewrite_begin(struct rewrite *x)
{
	/* the temporary name of the wheel itself is another one */
	x->stage = (struct fs_stage){.place = x->to,
		.beside = fs_temp_name(x->a, str_fmt(x->a, "%.*s.parts", STR(x->to)))};
	if (fs_writes_forbidden())
		return NULL;
	TRY(fs_stage_begin(x->a, &x->stage));
	x->scratch = x->stage.tree;
	return fs_mkdirs(x->scratch);
}

void rewrite_from(struct rewrite *x, const struct wheel *w)
{
	x->in = x->out = (struct wheel_inputs){.info = w->info};
	x->time = 0;
	VEC_EACH (const struct wheel_member, m, &w->members) {
		*VEC_PUSH(x->a, &x->in) = wheel_input(w, m);
		x->time = x->time ? x->time : m->zip->time;
	}
}

struct err *rewrite_each(struct rewrite *x, rewrite_rule *rule, void *user)
{
	for (x->at = 0; x->at < x->in.n; x->at++) {
		struct zip_input now = x->in.v[x->at];
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

bool rewrite_is(const struct rewrite *x, const struct zip_input *in, const char *file)
{
	return path_is_below(in->name, x->out.info) &&
	       str_eq(str_sub(in->name, x->out.info.n + 1, in->name.n), str_from(file));
}

void rewrite_text(struct rewrite *x, const char *file, struct str text)
{
	struct zip_input now = {.mode = 0644, .content = text};
	now.name = path_join(x->a, x->out.info, str_from(file));
	struct zip_input *at = VEC_FIND(struct zip_input, &x->out, name, now.name);
	*(at ? at : VEC_PUSH(x->a, &x->out)) = now;
}

struct err *rewrite_slim(struct rewrite *x, struct zip_input *in, bool side)
{
	CLEANUP(fd_closep) int fd = -1;
	char bytes[64];
	struct str head = {.p = bytes};
	struct bytes src = {.size = in->member ? in->member->size : in->content.n};
	struct stat st;
	struct budget budget;
	if (side)
		slim_note_side(x->a, x->keep, x->report, in->name);
	if (side && !slim_keeps_file(x->keep, in->name)) {
		slim_note(x->a, x->report, in->name, in->member ? src.size : 0, NULL);
		in->name = S("");
		return NULL;
	}
	if (in->member) {
		TRY(zip_peek(in->zip, in->member, bytes, sizeof(bytes), &head.n));
	} else if (in->path.n) {
		TRY(fs_stat(in->path, &st));
		TRY(fs_open(in->path, &fd));
		src = bytes_fd(fd, (uint64_t)st.st_size);
		TRY(bytes_peek(&src, bytes, sizeof(bytes), 0, &head.n));
	}
	bool device = elf_is(head) || bundle_is(head);
	if (device && in->member)
		TRY(zip_src(in->zip, in->member, &src, &fd));
	struct slim_plan p = {.after = src.size};
	budget_set(&budget, src.size);
	src.budget = src.budget ? src.budget : &budget;
	struct err *e = device ? slim_read(x->a, &src, x->keep, &p) : NULL;
	/* the linker has not had it yet */
	bool object = p.elf.type == ELF_REL && p.elf.machine != ELF_AMDGPU;
	if (e && e->code != E_ELF && e->code != E_BUNDLE && !(object && e->code == E_SLIM))
		return e;
	if (object && (e ? e->code == E_SLIM : p.changed && !p.unlinked))
		*VEC_PUSH(x->a, &x->report->refused) = (struct slim_refused){
			in->name, e ? str_dup(x->a, str_from(err_root(e)->msg))
				    : S("it is an object that is not linked yet")};
	if (e || (object && !p.unlinked))
		p = (struct slim_plan){.after = src.size};
	err_free(e);
	if (p.changed && !fs_writes_forbidden()) {
		rewrite_content(in, rewrite_file(x));
		TRY(slim_save(&p, in->path));
	}
	slim_note(x->a, x->report, in->name, src.size, &p);
	return NULL;
}

struct err *rewrite_write(struct rewrite *x)
{
	struct zip_writer how = {
		.path = x->to, .time = x->time, .epoch = x->epoch, .jobs = x->jobs};
	struct str dir = path_dir(x->to);
	struct stat st;
	if (x->report && x->report->files.n)
		rewrite_text(x, CUT_LIST, cut_list_text(x->a, x->report));
	if (fs_writes_forbidden())
		return NULL;
	TRY(fs_make_output(dir));
	TRY(wheel_write(x->a, &x->out, &how));
	TRY(fs_stat(x->to, &st));
	x->size = (uint64_t)st.st_size;
	return NULL;
}

struct err *rewrite_end(struct rewrite *x, struct err *e)
{
	return x->scratch.n ? err_join(e, fs_stage_end(&x->stage)) : e;
}

/* ---- METADATA ---- */

struct str wheel_requires(struct arena *a, const struct dist_header *h)
{
	struct requirement r;
	if (!dist_header_is(h, "requires-dist"))
		return S("");
	struct err *e = dist_header_requirement(a, h, &r);
	struct str name = e ? S("") : wheel_normalise(a, r.name);
	err_free(e);
	return name;
}

/* If the last line has no line break, they go before the version. */
struct str wheel_with(struct arena *a, struct str text, struct str lines)
{
	struct str rest = text, line;
	size_t at = text.n, version = 0, from = 0;
	for (; at == text.n && str_next(&rest, '\n', &line); from = text.n - rest.n) {
		at = str_trim(line).n ? at : from;
		version = str_starts(str_lower(a, line), S("version:")) ? from : version;
	}
	if (at == text.n && !str_ends(text, S("\n")))
		at = version;
	return str_fmt(a, "%.*s%.*s%.*s", STR(str_sub(text, 0, at)), STR(lines),
		STR(str_sub(text, at, text.n)));
}

struct err *wheel_without(
	struct arena *a, struct str text, wheel_gone *gone, void *user, struct str *ret)
{
	struct dist_headers h;
	BUF(b, a);
	TRY(dist_headers_parse(a, text, &h));
	struct str head = str_sub(text, 0, text.n - h.body.n), rest = head, line;
	size_t i = 0, from = 0, to;
	bool out = h.n && gone(user, a, &h.v[0]);
	for (unsigned n = 1; str_next(&rest, '\n', &line); n++, from = to) {
		to = head.n - rest.n;
		if (i + 1 < h.n && h.v[i + 1].line == n)
			out = gone(user, a, &h.v[++i]);
		if (!out || !line.n || str_eq(line, S("\r")))
			buf_add(&b, str_sub(head, from, to));
	}
	buf_add(&b, h.body);
	*ret = buf_str(&b);
	return NULL;
}
