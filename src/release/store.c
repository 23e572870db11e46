/* The store: what lies where, read without trust, and the one step that changes what pip sees; see release.h. */
#include "release/release.h"

#include "base/fs_stage.h"
#include "base/hash.h"
#include "base/progress.h"
#include "formats/node.h"

static const char MARK[] = "rocsmith-store.json", STATE[] = "stream.json";

static const struct json_field wheel_fields[] = {
	FIELDS(struct release_wheel, file, sha256, size, project, version, gpus, origin),
	FIELD_LAST(FIELDS(struct release_wheel, metadata_sha256, provenance_sha256)),
};
static const struct json_field set_fields[] = {
	FIELD_CONST("schema", "rocsmith.set/1"),
	FIELD_LAST(FIELD_LIST("wheels", struct release_done, wheels, wheel_fields)),
};
static const struct json_field proof_fields[] =
	FIELDS_ONLY(struct release_proof, gpu, python, by, waived);
static const struct json_field state_fields[] = {
	FIELD_CONST("schema", "rocsmith.stream/1"),
	FIELDS(struct release_state, stream, sets, previous, time),
	FIELD_LAST(FIELD_LIST("proofs", struct release_state, proofs, proof_fields)),
};
const struct json_field release_done_fields[] = {
	FIELD_CONST("schema", "rocsmith.release/1"),
	FIELDS(struct release_done, store, stream, action, set, sets, refused),
	FIELD_LIST("wheels", struct release_done, wheels, wheel_fields),
	FIELD_LIST("proofs", struct release_done, proofs, proof_fields),
	FIELD_LAST(FIELD_LIST("findings", struct release_done, findings, finding_fields)),
};

/* ---- opening ---- */

struct err *release_row(struct arena *a, struct str name, const struct release_stream **ret)
{
	struct strs names = {0};
	TABLE_EACH (release_stream, row) {
		*ret = row;
		if (str_eq(name, str_from(row->name)))
			return NULL;
		strs_add(a, &names, str_from(row->name));
	}
	return err_near(err_hint(err_new(E_USAGE, "'%.*s' is no stream", STR(name)),
				"the streams: %.*s", STR(str_join(a, &names, S(", ")))),
		name, &names);
}

struct err *release_open(struct arena *a, struct str place, bool make, struct release_store *ret)
{
	const struct release_stream *row;
	struct str path = path_abs(a, place), above = path_dir(path);
	*ret = (struct release_store){.dir = path, .lock = -1};
	if (!place.n)
		return err_new(E_USAGE, "no store is named");
	if (fs_is_file(path_join(a, path, str_from(MARK))))
		return NULL;
	*ret = (struct release_store){.dir = above, .stream = path_base(path), .lock = -1};
	struct err *e = release_row(a, ret->stream, &row);
	if (fs_is_file(path_join(a, above, str_from(MARK))) || (make && !e))
		return e;
	err_free(e);
	e = err_new(E_USAGE, "'%.*s' is no store of rocsmith, and no stream of one", STR(place));
	return make ? err_hint(e, "a new store is named with a stream: %.*s/dev", STR(place))
		    : err_hint(e, "'rocsmith stage WHEEL... --to DIR/dev' makes a store");
}

struct err *release_lock(struct arena *a, struct release_store *io)
{
	struct str mark = path_join(a, io->dir, str_from(MARK));
	if (fs_writes_forbidden())
		return NULL;
	TRY(fs_make_output(io->dir));
	TRY(fs_guard(io->dir, &io->guard));
	TRY(progress_lock(path_join(a, io->dir, S(".lock")), &io->lock, "changes the store '%.*s'",
		STR(io->dir)));
	struct err *e =
		fs_write(mark, S("{\"schema\": \"rocsmith.store/1\"}\n"), 0644 | FS_IF_CHANGED);
	/* a folder with a lock alone would be no store, and not empty */
	return e ? err_join(e, fs_remove(path_join(a, io->dir, S(".lock")))) : NULL;
}

void release_close(struct release_store *s)
{
	fd_closep(&s->lock);
	fs_unguardp(&s->guard);
}

/* ---- reading ---- */

static bool is_hash(struct str s)
{
	return s.n == 64 && str_is_hex(s);
}

/* Reads DIR/ID.json, whose hash is its id. */
static struct err *read_object(struct arena *a, const struct release_store *s, const char *dir,
	struct str id, const struct node **ret)
{
	struct str text, name = str_fmt(a, "%s/%.*s.json", dir, STR(id));
	if (!is_hash(id))
		return err_new(
			E_CORRUPT, "'%.*s' is no id of something in '%.*s'", STR(id), STR(s->dir));
	TRY(fs_read_below(a, s->dir, name, RELEASE_TEXT, &text));
	if (!str_eq(sha256_hex(a, text), id))
		return err_new(E_CORRUPT, "'%.*s' in the store '%.*s' was changed", STR(name),
			STR(s->dir));
	return json_parse(a, text, name, ret);
}

struct err *release_state_read(struct arena *a, const struct release_store *s, struct str stream,
	struct str id, struct release_state *ret)
{
	const struct node *doc;
	*ret = (struct release_state){0};
	TRY(read_object(a, s, "states", id, &doc));
	TRY(json_fields_read(a, doc, state_fields, ret));
	if (str_eq(ret->stream, stream))
		return NULL;
	return err_new(E_CORRUPT, "'%.*s' in the store '%.*s' is a state of '%.*s', not of '%.*s'",
		STR(id), STR(s->dir), STR(ret->stream), STR(stream));
}

struct err *release_state(struct arena *a, const struct release_store *s, struct str stream,
	struct release_state *ret, struct str *ret_id)
{
	struct str text, name = str_fmt(a, "%.*s/%s", STR(stream), STATE);
	*ret = (struct release_state){.stream = stream};
	*ret_id = S("");
	if (fs_is_link(path_join(a, s->dir, stream)))
		return err_new(E_PERM, "the stream '%.*s' is a link", STR(stream));
	if (!fs_present(path_join(a, s->dir, name)))
		return NULL;
	TRY(fs_read_below(a, s->dir, name, RELEASE_TEXT, &text));
	*ret_id = sha256_hex(a, text);
	return release_state_read(a, s, stream, *ret_id, ret);
}

struct err *release_filled(
	struct arena *a, const struct release_store *s, struct release_state *ret)
{
	struct str id;
	TRY(release_state(a, s, s->stream, ret, &id));
	if (ret->sets.n)
		return NULL;
	return err_hint(err_new(E_USAGE, "the stream '%.*s' has no set yet", STR(s->stream)),
		"'rocsmith promote' shows there what is staged for it, and with '--to %.*s' what "
		"another stream shows",
		STR(s->stream));
}

struct err *release_quarantined(
	struct arena *a, const struct release_store *s, struct str id, struct str *ret_why)
{
	const struct node *doc;
	struct str text, name = str_fmt(a, "quarantine/%.*s.json", STR(id));
	*ret_why = S("");
	if (!fs_present(path_join(a, s->dir, name)))
		return NULL;
	TRY(fs_read_below(a, s->dir, name, RELEASE_TEXT, &text));
	TRY(json_parse(a, text, name, &doc));
	*ret_why = node_text(doc, S("reason"), S("no reason given"));
	return NULL;
}

struct err *release_staged(struct arena *a, const struct release_store *s, struct str *ret_id)
{
	const struct node *doc;
	struct str text, name = str_fmt(a, "staged/%.*s.json", STR(s->stream));
	if (!fs_present(path_join(a, s->dir, name)))
		return err_hint(
			err_new(E_USAGE, "nothing is staged for the stream '%.*s'", STR(s->stream)),
			"rocsmith stage WHEEL... --to %.*s/%.*s", STR(s->dir), STR(s->stream));
	TRY(fs_read_below(a, s->dir, name, RELEASE_TEXT, &text));
	TRY(json_parse(a, text, name, &doc));
	*ret_id = node_text(doc, S("set"), S(""));
	return NULL;
}

/* A text beside a wheel; "" if the set has none. */
static struct err *read_beside(struct arena *a, const struct release_store *s,
	const struct release_wheel *w, const char *suffix, struct str *io)
{
	struct str want = *io,
		   name = str_fmt(a, "files/%.*s/%.*s%s", STR(w->sha256), STR(w->file), suffix);
	*io = S("");
	if (!want.n)
		return NULL;
	TRY(fs_read_below(a, s->dir, name, RELEASE_TEXT, io));
	return str_eq(sha256_hex(a, *io), want)
		       ? NULL
		       : err_new(E_CORRUPT, "'%.*s' in the store '%.*s' was changed", STR(name),
				 STR(s->dir));
}

static struct err *load_wheel(
	struct arena *a, const struct release_store *s, struct release_wheel *w)
{
	struct str name, version;
	struct stat st;
	TRY(release_file_name(a, w->file, &name, &version));
	if (!is_hash(w->sha256) || !str_eq(path_base(w->file), w->file) ||
		(w->origin.n && !is_hash(w->origin)))
		return err_new(E_CORRUPT, "a set of the store '%.*s' names no wheel", STR(s->dir));
	w->path = str_fmt(a, "%.*s/files/%.*s/%.*s", STR(s->dir), STR(w->sha256), STR(w->file));
	TRY(fs_lstat(w->path, &st));
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != w->size)
		return err_new(E_CORRUPT, "'%.*s' was changed", STR(w->path));
	w->time = st.st_mtime;
	w->metadata = w->metadata_sha256;
	w->provenance = w->provenance_sha256;
	TRY(read_beside(a, s, w, ".metadata", &w->metadata));
	TRY(read_beside(a, s, w, ".provenance", &w->provenance));
	return release_describe(a, w);
}

struct err *release_load(struct arena *a, const struct release_store *s, struct str id,
	struct release_set *io, struct str *ret_why)
{
	struct release_done set = {0};
	const struct node *doc;
	TRY(read_object(a, s, "sets", id, &doc));
	TRY(json_fields_read(a, doc, set_fields, &set));
	TRY(release_quarantined(a, s, id, ret_why));
	VEC_EACH (struct release_wheel, w, &set.wheels) {
		bool known = false;
		TRY(load_wheel(a, s, w));
		if (ret_why->n)
			w->yanked = *ret_why;
		VEC_EACH (struct release_wheel, old, io) {
			bool same = str_eq(old->sha256, w->sha256) && str_eq(old->file, w->file);
			if (same && !ret_why->n) /* another set, which is good, has it, too */
				old->yanked = (struct str){0};
			known = known || same;
		}
		if (!known)
			*VEC_PUSH(a, io) = *w;
	}
	return NULL;
}

struct err *release_shown(struct arena *a, const struct release_store *s,
	const struct release_state *state, struct release_set *ret)
{
	struct str why;
	VEC_EACH (const struct str, id, &state->sets)
		TRY(release_load(a, s, *id, ret, &why));
	release_sort(a, ret, false);
	return NULL;
}

/* ---- writing ---- */

struct err *release_write(struct arena *a, const struct release_store *s, const char *dir,
	struct str id, struct str text)
{
	struct str path = str_fmt(a, "%.*s/%s/%.*s.json", STR(s->dir), dir, STR(id));
	TRY(fs_mkdirs(path_dir(path)));
	return fs_write(path, text, 0644 | FS_IF_CHANGED);
}

struct err *release_save(struct arena *a, const struct release_store *s,
	const struct release_set *set, struct str *ret_id)
{
	struct release_done doc = {.wheels = *set};
	VEC_EACH (struct release_wheel, w, &doc.wheels) {
		w->metadata_sha256 = sha256_hex(a, w->metadata);
		w->provenance_sha256 = w->provenance.n ? sha256_hex(a, w->provenance) : S("");
	}
	VEC_SORT(&doc.wheels, str_order);
	struct str text = json_document(a, 2, set_fields, &doc);
	*ret_id = sha256_hex(a, text);
	return fs_writes_forbidden() ? NULL : release_write(a, s, "sets", *ret_id, text);
}

struct err *release_switch(
	struct arena *a, const struct release_store *s, const struct release_state *state)
{
	struct fs_stage stage = {
		.place = path_join(a, s->dir, state->stream), .receipt = str_from(STATE)};
	struct release_set set = {0};
	struct str text = json_document(a, 2, state_fields, state);
	TRY(release_shown(a, s, state, &set));
	TRY(release_write(a, s, "states", sha256_hex(a, text), text));
	TRY(fs_stage_begin(a, &stage));
	struct err *e = fs_mkdirs(stage.tree);
	e = e ? e : release_site(a, &set, stage.tree, S("../"));
	e = e ? e : fs_stage_commit(&stage, text);
	return err_join(e, fs_stage_end(&stage));
}
