/* Stages sets, and promotes them: judged first, renamed where that is asked for, then shown by one step; see release.h. */
#include <time.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "release/release.h"
#include "wheel/rewrite.h"

struct promotion {
	struct arena *a;
	const struct release_request *q;
	struct release_done *done;
	struct release_store s;
	const struct release_stream *row; /* the stream that gets the set */
	struct release_state state;       /* its state before */
	struct str before;                /* its id */
	struct release_set set;
	struct wheel_renames renames;
	struct strs projects; /* normalised names of projects that are renamed */
};

static void promotion_done(struct promotion *p)
{
	release_close(&p->s);
}

static bool has_errors(struct release_done *d)
{
	d->refused = d->findings.n && findings_worst(&d->findings) == SEV_ERROR;
	return d->refused;
}

/* ---- stage ---- */

/* Adds the errors that `verify` finds. A wheel that could not be read now is not judged: it may be good. Nor is another file
 * that lay in its place for so long: what goes into the store has the hash of before. */
static struct err *verify_all(struct promotion *p)
{
	struct strs paths = {0}, states = {0};
	struct verdicts all = {0};
	VEC_EACH (const struct release_wheel, w, &p->set) {
		if (release_is_sdist(w->file))
			continue;
		strs_add(p->a, &paths, w->path);
		strs_add(p->a, &states, w->state);
	}
	TRY(verify_wheels(p->a, &paths, &p->q->verify, &all));
	for (size_t i = 0; i < paths.n; i++)
		if (all.wheels.v[i].state.n && !str_eq(all.wheels.v[i].state, states.v[i]))
			return err_new(
				E_IO, "'%.*s' was changed while it was verified", STR(paths.v[i]));
	VEC_EACH (const struct verdict, v, &all.wheels)
		VEC_EACH (const struct finding, f, &v->findings) {
			if (str_eq(str_from(f->id), S("file-unreadable")))
				return err_new(E_IO, "cannot verify '%.*s': %.*s", STR(f->path),
					STR(f->message));
			if (f->severity != SEV_ERROR)
				continue;
			struct finding *said = VEC_PUSH(p->a, &p->done->findings);
			*said = *f;
			/* the file is in one of several wheels */
			if (!str_eq(f->path, v->path))
				said->path = path_join(p->a, path_base(v->path), f->path);
		}
	return NULL;
}

/* Adds the wheels that are staged already, but for those that are given anew. */
static struct err *add_staged(struct promotion *p)
{
	struct release_set old = {0};
	struct str id, why;
	TRY(release_staged(p->a, &p->s, &id));
	TRY(release_load(p->a, &p->s, id, &old, &why));
	VEC_EACH (const struct release_wheel, w, &old)
		if (!VEC_FIND(struct release_wheel, &p->set, file, w->file))
			*VEC_PUSH(p->a, &p->set) = *w;
	return NULL;
}

/* Makes the statements of all wheels, from the records that lie beside them. */
static struct err *make_statements(struct promotion *p)
{
	VEC_EACH (struct release_wheel, w, &p->set) {
		struct str record, path = str_fmt(p->a, "%.*s.json", STR(w->path));
		TRY(fs_read_opt(p->a, path, RELEASE_TEXT, &record));
		TRY(release_statement(p->a, w, record, &w->statement));
	}
	return NULL;
}

static struct err *put_wheels(struct promotion *p)
{
	struct arena *a = p->a;
	struct str files = path_join(a, p->s.dir, S("files"));
	TRY(release_put_all(a, &p->set, files));
	VEC_EACH (const struct release_wheel, w, &p->set)
		if (w->statement.n)
			TRY(fs_write(str_fmt(a, "%.*s/%.*s/%.*s.intoto.json", STR(files),
					     STR(w->sha256), STR(w->file)),
				w->statement, 0644 | FS_IF_CHANGED));
	return NULL;
}

struct err *release_stage(
	struct arena *a, const struct release_request *q, struct release_done *ret)
{
	CLEANUP(promotion_done) struct promotion p = {.a = a, .q = q, .done = ret};
	struct str id, why;
	TRY(release_open(a, q->place, true, &p.s));
	p.s.stream = p.s.stream.n ? p.s.stream : S("dev");
	ret->store = p.s.dir;
	ret->stream = p.s.stream;
	ret->action = S("staged");
	ret->findings.most = FINDINGS_OF_A_KIND;
	if (q->add)
		TRY(release_staged(a, &p.s, &id));
	TRY(release_read(a, &q->wheels, &p.set));
	TRY(verify_all(&p));
	TRY(make_statements(&p));
	/* a new store is made once the set is known to be good: one that is refused leaves nothing behind */
	if (q->add) {
		TRY(release_lock(a, &p.s));
		TRY(add_staged(&p));
	}
	release_check(a, &p.set, NULL, &ret->findings);
	ret->wheels = p.set;
	if (has_errors(ret))
		return NULL;
	if (!q->add)
		TRY(release_lock(a, &p.s));
	if (!fs_writes_forbidden())
		TRY(put_wheels(&p));
	TRY(release_save(a, &p.s, &p.set, &ret->set));
	TRY(release_quarantined(a, &p.s, ret->set, &why));
	if (why.n)
		return err_new(E_VERIFY, "this set is in quarantine: %.*s", STR(why));
	strs_add(a, &ret->sets, ret->set);
	if (fs_writes_forbidden())
		return NULL;
	return release_write(a, &p.s, "staged", p.s.stream,
		str_fmt(a, "{\"schema\": \"rocsmith.staged/1\", \"set\": \"%.*s\"}\n",
			STR(ret->set)));
}

/* ---- other versions ---- */

struct release_renaming { /* one wheel */
	struct arena a;
	struct wheel w;
	struct wheel_name name;
	struct rewrite x;
	struct str sdist; /* a source distribution's new content */
	bool changed;
};

/* Decides what becomes of a wheel; nothing is written. */
static struct err *plan_renaming(
	struct promotion *p, struct release_wheel *io, struct release_renaming *r)
{
	struct arena *a = &r->a;
	const struct wheel_request q = {
		.from = io->path, .renames = p->renames, .projects = &p->projects};
	r->x = (struct rewrite){.a = a, .jobs = p->q->jobs};
	if (release_is_sdist(io->file)) {
		TRY(release_rename_sdist(a, &q, io, &r->sdist));
		r->changed = r->sdist.n;
		io->file = str_dup(p->a, io->file);
		io->metadata = str_dup(p->a, io->metadata);
		return r->changed ? release_describe(p->a, io) : NULL;
	}
	TRY(wheel_open(a, io->path, &r->w));
	r->name = r->w.name;
	struct err *e = wheel_new_name(a, &q, &r->name);
	struct wheel_inputs out = {0};
	e = e ? e : wheel_under_name(a, &q, &r->w, &r->name, &out);
	if (e)
		return e;
	rewrite_from(&r->x, &r->w);
	r->x.out = out;
	struct str file = wheel_name_text(a, &r->name);
	r->changed = !str_eq(file, io->file);
	VEC_EACH (const struct zip_input, in, &out) {
		bool tags = rewrite_is(&r->x, in, "WHEEL");
		r->changed = r->changed || (!in->member && !tags);
		if (rewrite_is(&r->x, in, "METADATA") && !in->member)
			io->metadata = str_dup(p->a, in->content);
	}
	io->file = str_dup(p->a, file);
	return r->changed ? release_describe(p->a, io) : NULL;
}

static struct err *write_renamed(
	struct promotion *p, struct release_renaming *r, struct release_wheel *io)
{
	struct arena *a = p->a;
	struct str files = path_join(a, p->s.dir, S("files"));
	r->x.to = fs_temp_name(a, path_join(a, files, io->file));
	if (r->sdist.n)
		TRY(fs_write(r->x.to, r->sdist, 0644));
	else
		TRY(rewrite_write(&r->x));
	r->x.size = r->sdist.n ? r->sdist.n : r->x.size;
	io->origin = io->origin.n ? io->origin : io->sha256;
	TRY(sha256_file(a, r->x.to, &io->sha256));
	io->size = r->x.size;
	io->provenance = S(""); /* nobody has signed this file */
	io->path = str_fmt(a, "%.*s/%.*s/%.*s", STR(files), STR(io->sha256), STR(io->file));
	TRY(fs_mkdirs(path_dir(io->path)));
	return fs_rename(r->x.to, io->path);
}

/* Renames all wheels of a set. In a first pass nothing is written, so that what is wrong with the result is known before. */
static struct err *rename_all(struct promotion *p, bool write, struct release_set *io)
{
	size_t changed = 0;
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(
		write ? S("Renaming") : S("Reading"), S("wheels"), UNIT_ITEMS, io->n);
	VEC_EACH (struct release_wheel, w, io) {
		struct release_renaming r = {.w.zip.fd = -1};
		struct release_wheel now = *w;
		struct err *e = plan_renaming(p, &now, &r);
		if (!e && write && r.changed)
			e = write_renamed(p, &r, &now);
		wheel_close(&r.w);
		arena_free(&r.a);
		TRY_CTX(e, "cannot rename '%.*s'", STR(w->file));
		changed += r.changed;
		if (r.changed)
			*w = now;
		if (r.changed && !write)
			w->sha256 = S(""); /* not known yet */
		progress_add(bar, 1, w->file);
	}
	return changed ? NULL
		       : err_new(E_USAGE,
				 "no wheel of the set has the version that --version names");
}

static void check_renamed(struct promotion *p, const struct release_set *set)
{
	VEC_EACH (const struct release_wheel, w, set) {
		struct strs texts = {0};
		strs_add(p->a, &texts, w->version);
		VEC_EACH (const struct dist_header, it, &w->headers)
			if (dist_header_is(it, "requires-dist") && str_contains(it->value, S("==")))
				strs_add(p->a, &texts, it->value);
		for (size_t i = 0; i < texts.n * p->renames.n; i++) {
			struct str text = texts.v[i / p->renames.n],
				   old = p->renames.v[i % p->renames.n].old;
			if (wheel_names_version(text, old) || wheel_same_version(text, old))
				finding_note(p->a, &p->done->findings, "release-half-renamed",
					w->file, "it still names %.*s: '%.*s'", STR(old),
					STR(text));
		}
	}
}

/* ---- promote ---- */

/* Nobody else may have changed what was judged. */
static struct err *check_contents(struct promotion *p)
{
	struct str is;
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(S("Checking"), S("wheels"), UNIT_ITEMS, p->set.n);
	VEC_EACH (const struct release_wheel, w, &p->set) {
		TRY(sha256_file(p->a, w->path, &is));
		if (!str_eq(is, w->sha256))
			return err_new(E_CORRUPT, "'%.*s' was changed", STR(w->path));
		progress_add(bar, 1, w->file);
	}
	return NULL;
}

/* Finds the set that is asked for, and loads it. */
static struct err *load_source(struct promotion *p)
{
	struct arena *a = p->a;
	struct release_state from;
	struct str why; /* check_quarantine() tells it */
	if (!p->q->to.n || str_eq(p->q->to, p->s.stream)) {
		TRY(release_staged(a, &p->s, &p->done->set));
	} else {
		TRY(release_filled(a, &p->s, &from));
		p->done->set = from.sets.v[from.sets.n - 1];
	}
	if (!str_starts(p->done->set, p->q->set))
		return err_new(E_USAGE, "the set is %.*s now, not %.*s", STR(p->done->set),
			STR(p->q->set));
	TRY(release_load(a, &p->s, p->done->set, &p->set, &why));
	return check_contents(p);
}

static struct err *check_quarantine(struct promotion *p)
{
	struct str why, id = p->done->set;
	TRY(release_quarantined(p->a, &p->s, id, &why));
	if (why.n)
		finding_note(p->a, &p->done->findings, "release-quarantine", id,
			"it is in quarantine: %.*s", STR(why));
	return NULL;
}

/* Renames the set, if that is asked for and nothing is wrong with the result, and checks it beside what is shown. */
static struct err *rename_set(struct promotion *p, const struct release_set *shown)
{
	struct arena *a = p->a;
	struct release_set now = {0};
	TRY(wheel_renames_read(a, &p->q->versions, &p->renames));
	if (!p->renames.n) {
		release_check(a, &p->set, shown, &p->done->findings);
		return NULL;
	}
	const struct release_set *const both[] = {&p->set, shown};
	for (size_t i = 0; i < 2; i++)
		VEC_EACH (const struct release_wheel, w, both[i]) {
			strs_put(a, &p->projects, wheel_normalise(a, w->project));
			if (!i)
				*VEC_PUSH(a, &now) = *w;
		}
	TRY(rename_all(p, false, &now));
	check_renamed(p, &now);
	release_check(a, &now, shown, &p->done->findings);
	if (has_errors(p->done) || fs_writes_forbidden()) {
		p->done->wheels = now;
		return NULL;
	}
	TRY(rename_all(p, true, &p->set));
	struct findings again = {0}; /* now with hashes */
	release_check(a, &p->set, shown, &again);
	VEC_EACH (const struct finding, f, &again)
		if (f->severity == SEV_ERROR)
			*VEC_PUSH(a, &p->done->findings) = *f;
	if (has_errors(p->done))
		return NULL;
	TRY(make_statements(p));
	TRY(put_wheels(p));
	return release_save(a, &p->s, &p->set, &p->done->set);
}

static struct err *forward(struct promotion *p)
{
	struct arena *a = p->a;
	struct release_set shown = {0};
	struct release_state now = p->state;
	struct release_gate gate = p->q->gate;
	TRY(load_source(p));
	p->done->wheels = p->set;
	TRY(check_quarantine(p));
	gate.today = str_today(a);
	if (p->row->gate || gate.evidence.n)
		TRY(release_judge(a, &p->set, &gate));
	VEC_EACH (const struct finding, f, &gate.findings)
		*VEC_PUSH(a, &p->done->findings) = *f;
	p->done->proofs = gate.proofs;
	TRY(release_shown(a, &p->s, &p->state, &shown));
	TRY(rename_set(p, &shown));
	if (p->renames.n && !has_errors(p->done)) /* the renamed one may be, too */
		TRY(check_quarantine(p));
	if (has_errors(p->done))
		return NULL;
	p->done->wheels = fs_writes_forbidden() ? p->done->wheels : p->set;
	now.sets = (struct strs){0};
	VEC_EACH (const struct str, id, &p->state.sets)
		if (!str_eq(*id, p->done->set))
			strs_add(a, &now.sets, *id);
	strs_add(a, &now.sets, p->done->set);
	p->done->action = S("unchanged");
	if (strs_eq(&now.sets, &p->state.sets))
		return NULL;
	p->done->action = S("promoted");
	now.previous = p->before;
	now.time = str_utc(a, (int64_t)time(NULL));
	now.proofs = p->done->proofs;
	p->state = now;
	return fs_writes_forbidden() ? NULL : release_switch(a, &p->s, &p->state);
}

static struct err *is_good(struct promotion *p, const struct release_state *state, bool *ret)
{
	struct str why;
	*ret = state->sets.n;
	VEC_EACH (const struct str, id, &state->sets) {
		TRY(release_quarantined(p->a, &p->s, *id, &why));
		*ret = *ret && !why.n;
	}
	return NULL;
}

/* Goes back to an earlier state, as it was. */
static struct err *go_back(struct promotion *p)
{
	struct release_state state = p->state;
	bool good, any = p->q->action == RELEASE_BACK;
	TRY(is_good(p, &state, &good));
	bool shown = good;
	struct str newest = state.sets.n ? state.sets.v[state.sets.n - 1] : S("");
	/* whoever was killed does not know whether it is done */
	if ((!any && good) || !str_starts(newest, p->q->set)) {
		p->done->action = S("unchanged");
		return NULL;
	}
	do {
		if (!state.previous.n) {
			struct err *e = err_new(E_USAGE, "the stream '%.*s' has no earlier %s",
				STR(p->state.stream), any ? "state" : "state that is good");
			return shown ? err_hint(e, "--quarantine REASON withdraws what it shows")
				     : e;
		}
		struct str id = state.previous;
		TRY(release_state_read(p->a, &p->s, p->state.stream, id, &state));
		TRY(is_good(p, &state, &good));
	} while (!any && !good);
	p->state = state;
	p->done->action = S("rolled back");
	return fs_writes_forbidden() ? NULL : release_switch(p->a, &p->s, &state);
}

struct quarantine_note {
	struct str reason, time;
};
static const struct json_field note_fields[] = {
	FIELD_CONST("schema", "rocsmith.quarantine/1"),
	FIELD_LAST(FIELDS(struct quarantine_note, reason, time)),
};

/* The record comes first: from then on nobody promotes the set. Then each stream that shows it withdraws its wheels. */
static struct err *quarantine(struct promotion *p)
{
	struct arena *a = p->a;
	VEC_EACH (const struct str, id, &p->state.sets)
		if (str_starts(*id, p->q->set))
			p->done->set = *id;
	if (!p->done->set.n)
		return err_new(E_USAGE, "the stream '%.*s' has no set %.*s", STR(p->state.stream),
			STR(p->q->set));
	p->done->action = S("quarantined");
	if (fs_writes_forbidden())
		return NULL;
	struct quarantine_note note = {p->q->reason, str_utc(a, (int64_t)time(NULL))};
	TRY(release_write(
		a, &p->s, "quarantine", p->done->set, json_document(a, 2, note_fields, &note)));
	TABLE_EACH (release_stream, row) {
		struct release_state state;
		struct str id;
		TRY(release_state(a, &p->s, str_from(row->name), &state, &id));
		if (strs_has(&state.sets, p->done->set))
			TRY(release_switch(a, &p->s, &state));
	}
	return NULL;
}

struct err *release_promote(
	struct arena *a, const struct release_request *q, struct release_done *ret)
{
	CLEANUP(promotion_done) struct promotion p = {.a = a, .q = q, .done = ret};
	TRY(release_open(a, q->place, false, &p.s));
	if (!p.s.stream.n)
		return err_new(E_USAGE, "name a stream of the store: '%.*s/rc'", STR(q->place));
	TRY(release_row(a, q->to.n ? q->to : p.s.stream, &p.row));
	ret->store = p.s.dir;
	ret->stream = str_from(p.row->name);
	TRY(release_lock(a, &p.s));
	TRY(release_state(a, &p.s, ret->stream, &p.state, &p.before));
	struct err *e = q->action == RELEASE_FORWARD      ? forward(&p)
			: q->action == RELEASE_QUARANTINE ? quarantine(&p)
							  : go_back(&p);
	ret->sets = p.state.sets;
	return e;
}
