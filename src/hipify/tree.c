/* Translates a folder: finds the sources, translates each in memory, and brings the output folder
 * up to date with the result. A source that cannot be read or translated becomes a failed entry;
 * the others go on.
 */
#include "hipify/hipify.h"

#include <string.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"
#include "hipify/listing.h"

enum { SOURCE_LIMIT = 256 << 20 };

static const char *const extensions[] = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".c++", ".h",
	".hh", ".hip", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tcc", ".tpp"};

/* One file on its way through. */
struct work {
	const struct hipify_options *o;
	const struct hipify_context *context;
	struct hipify_file *file;
	struct arena mem; /* of the text and what was found in it */
	struct str source;
	struct hipify_text text;
	bool taken; /* its output may be written */
};

struct run {
	struct arena *a;
	const struct hipify_options *o;
	struct hipify_tree *ret;
	struct work *v; /* one for each file of ret */
	struct listing old, new;
};

bool hipify_is_source(struct str path)
{
	struct str ext = path_ext(path);
	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++)
		if (str_eq(ext, str_from(extensions[i])))
			return true;
	return false;
}

struct str hipify_output_name(struct arena *a, struct str path)
{
	if (!str_ends(path, S(".cu")))
		return path;
	return str_fmt(a, "%.*s.hip", STR(str_sub(path, 0, path.n - 3)));
}

/* ---- which files ---- */

static struct hipify_file *add_file(struct run *r, struct str rel)
{
	struct hipify_file *f = VEC_PUSH(r->a, &r->ret->files);
	f->source = str_dup(r->a, rel);
	f->output = hipify_output_name(r->a, f->source);
	return f;
}

static void fail(struct hipify_file *f, struct err *e)
{
	f->status = HIPIFY_FAILED;
	f->error = err_join(f->error, e);
}

struct level { /* one folder of the tree */
	struct run *r;
	struct str rel;
	struct strs dirs; /* to look into next */
};

static bool excluded(const struct run *r, struct str rel, struct str name)
{
	if (str_eq(name, S(".git")) || str_eq(name, S(".rocsmith")))
		return true;
	for (size_t i = 0; i < r->o->exclude.n; i++)
		if (str_eq(r->o->exclude.v[i], rel) || str_eq(r->o->exclude.v[i], name))
			return true;
	return false;
}

static struct err *visit(void *user, const struct fs_entry *e, bool *prune)
{
	struct level *l = user;
	struct arena *a = l->r->a;
	struct str rel = l->rel.n ? path_join(a, l->rel, e->path) : str_dup(a, e->path);
	*prune = true;
	if (S_ISDIR(e->st.st_mode)) {
		if (!excluded(l->r, rel, e->path))
			strs_add(a, &l->dirs, rel);
		return NULL;
	}
	if (!hipify_is_source(rel) || excluded(l->r, rel, e->path))
		return NULL;
	struct stat st = e->st;
	if (S_ISLNK(st.st_mode)) {
		struct err *err = fs_stat(path_join(a, l->r->o->dir, rel), &st);
		if (err) {
			fail(add_file(l->r, rel), err);
			return NULL;
		}
	}
	if (S_ISREG(st.st_mode))
		add_file(l->r, rel);
	return NULL;
}

/* A folder and those below; one that cannot be listed is a failed entry. Links to folders are not
 * followed, so that there are no loops. */
static void collect(struct run *r, struct str rel)
{
	struct level l = {.r = r, .rel = rel};
	struct str dir = rel.n ? path_join(r->a, r->o->dir, rel) : r->o->dir;
	struct err *e = fs_walk(dir, visit, &l);
	if (e)
		fail(add_file(r, rel), e);
	for (size_t i = 0; i < l.dirs.n; i++)
		collect(r, l.dirs.v[i]);
}

static struct err *choose_files(struct run *r)
{
	for (size_t i = 0; i < r->o->only.n; i++) {
		if (!path_is_inside(r->o->only.v[i]))
			return err_new(E_USAGE, "'%.*s' is not inside '%.*s'", STR(r->o->only.v[i]),
				STR(r->o->dir));
		add_file(r, r->o->only.v[i]);
	}
	if (r->o->only.n)
		return NULL;
	if (!fs_is_dir(r->o->dir))
		return err_new(E_NOENT, "no folder '%.*s'", STR(r->o->dir));
	collect(r, S(""));
	return NULL;
}

/* Two sources that give one output: the second fails. So do names that break the manifest's lines.
 */
static void check_outputs(struct run *r)
{
	MAP(seen, r->a);
	for (size_t i = 0; i < r->ret->files.n; i++) {
		struct hipify_file *f = &r->ret->files.v[i], *other = map_get(&seen, f->output);
		if (str_chr(f->source, '\n') < f->source.n ||
			str_chr(f->source, '\t') < f->source.n)
			fail(f, err_new(E_HIPIFY, "its name has a line end or a tab in it"));
		if (other && f->status != HIPIFY_FAILED)
			fail(f, err_new(E_HIPIFY, "'%.*s' and '%.*s' both give '%.*s'",
					STR(other->source), STR(f->source), STR(f->output)));
		else
			map_put(&seen, f->output, f);
	}
}

/* ---- translating ---- */

static void add_context(struct run *r)
{
	struct hipify_context *c = &r->ret->context;
	c->by_name.a = r->a;
	c->rocm = r->o->rocm;
	for (size_t i = 0; i < r->ret->files.n; i++) {
		struct str path = r->ret->files.v[i].source, name = path_base(path);
		struct strs *list = map_get(&c->by_name, name);
		if (!list) {
			list = NEW(r->a, struct strs);
			map_put(&c->by_name, name, list);
		}
		strs_add(r->a, list, path);
	}
}

static bool is_unit(struct str path)
{
	return str_ends(path, S(".cu")) || str_ends(path, S(".hip"));
}

static struct err *read_one(struct arena *tmp, void *user)
{
	(void)tmp;
	struct work *w = user;
	if (w->file->status == HIPIFY_FAILED)
		return NULL;
	struct str path = path_join(&w->mem, w->o->dir, w->file->source);
	struct err *e = fs_read(&w->mem, path, SOURCE_LIMIT, &w->source);
	if (e)
		fail(w->file, e);
	return NULL;
}

static struct err *translate_one(struct arena *tmp, void *user)
{
	(void)tmp;
	struct work *w = user;
	TRY(cancel_check());
	if (w->file->status == HIPIFY_FAILED)
		return NULL;
	struct err *e = hipify_text_in(&w->mem, w->source, w->file->source, w->context, &w->text);
	if (e) {
		struct str path = path_join(&w->mem, w->o->dir, w->file->source);
		fail(w->file, err_at(e, (struct loc){path, e->line, e->col}));
	}
	w->file->edits = w->text.edits.n;
	w->file->status = e ? HIPIFY_FAILED : w->text.edits.n ? HIPIFY_OK : HIPIFY_UNCHANGED;
	return NULL;
}

static struct err *translate(struct run *r)
{
	size_t n = r->ret->files.n;
	r->v = arena_array(r->a, n, sizeof(*r->v));
	for (size_t i = 0; i < n; i++)
		r->v[i] = (struct work){
			.o = r->o,
			.context = &r->ret->context,
			.file = &r->ret->files.v[i],
		};
	TRY(pool_each(r->o->jobs, r->v, n, sizeof(*r->v), read_one));
	for (size_t i = 0; i < n; i++)
		if (!is_unit(r->v[i].file->source) && str_contains(r->v[i].source, S("_sync")))
			r->ret->context.warp_sync = true;
	return pool_each(r->o->jobs, r->v, n, sizeof(*r->v), translate_one);
}

/* ---- writing ---- */

static struct str out_path(struct run *r, const struct work *w)
{
	return path_join(r->a, r->o->out, w->file->output);
}

/* An output that is there but not ours is not replaced, unless it has the wanted content. */
static void claim(struct run *r, struct work *w)
{
	struct str path = out_path(r, w), there = {0};
	if (w->file->status == HIPIFY_FAILED)
		return;
	bool ours = map_get(&r->old.by_output, w->file->output) != NULL;
	struct err *e = fs_read_opt(&w->mem, path, SOURCE_LIMIT, &there);
	if (!e && there.p && str_eq(there, w->text.text)) {
		w->taken = true;
		w->file->status = w->file->status == HIPIFY_OK ? HIPIFY_SKIPPED : w->file->status;
		return;
	}
	if (!e && there.p && !ours)
		e = err_hint(err_new(E_HIPIFY, "'%.*s' is there and was not made by rocsmith",
				     STR(path)),
			"choose another folder with -o, or remove the file");
	if (e)
		fail(w->file, e);
	else
		w->taken = true;
}

static void enter(struct run *r, const struct work *w)
{
	struct digest d = hash_bytes(HASH_SHA256, w->text.text.p, w->text.text.n);
	listing_add(&r->new, (struct listing_entry){
				     .hash = digest_hex(r->a, &d),
				     .output = w->file->output,
				     .source = w->file->source,
			     });
}

static struct err *write_one(struct run *r, struct work *w)
{
	if (!w->taken || w->file->status == HIPIFY_SKIPPED)
		return NULL;
	struct str path = out_path(r, w);
	TRY(fs_mkdirs(path_dir(path)));
	return fs_write_if_changed(path, w->text.text, 0644);
}

/* Removes outputs whose sources are gone, with the folders that this empties. */
static struct err *remove_stale(struct run *r)
{
	for (size_t i = 0; i < r->old.by_output.n; i++) {
		struct str output = r->old.by_output.v[i].key;
		if (map_get(&r->new.by_output, output))
			continue;
		TRY(fs_remove(path_join(r->a, r->o->out, output)));
		strs_add(r->a, &r->ret->removed, str_dup(r->a, output));
		struct str dir = path_dir(output);
		while (!str_eq(dir, S("."))) {
			struct err *e = fs_remove(path_join(r->a, r->o->out, dir));
			err_free(e);
			dir = e ? S(".") : path_dir(dir);
		}
	}
	return NULL;
}

/* A failed source keeps its older output's entry, so that the output stays ours; so do the sources
 * that were not asked for. */
static void keep_older(struct run *r)
{
	for (size_t i = 0; r->o->keep && i < r->old.by_output.n; i++)
		if (!map_get(&r->new.by_output, r->old.by_output.v[i].key))
			listing_add(&r->new, *(struct listing_entry *)r->old.by_output.v[i].value);
	for (size_t i = 0; i < r->ret->files.n; i++) {
		struct listing_entry *e = map_get(&r->old.by_output, r->ret->files.v[i].output);
		if (e && r->ret->files.v[i].status == HIPIFY_FAILED &&
			!map_get(&r->new.by_output, e->output))
			listing_add(&r->new, *e);
	}
}

static struct err *write_intent(struct run *r)
{
	struct listing both = {.a = r->a, .by_output = {.a = r->a}};
	for (size_t i = 0; i < r->old.by_output.n; i++)
		listing_add(&both, *(struct listing_entry *)r->old.by_output.v[i].value);
	for (size_t i = 0; i < r->new.by_output.n; i++)
		listing_add(&both, *(struct listing_entry *)r->new.by_output.v[i].value);
	return listing_write(&both, r->o->out);
}

static struct err *write_all(struct run *r)
{
	CLEANUP(fd_closep) int lock = -1;
	if (!fs_writes_forbidden())
		TRY(listing_lock(r->o->out, &lock));
	TRY(listing_read(r->a, r->o->out, &r->old));
	r->new = (struct listing){.a = r->a, .by_output = {.a = r->a}};
	for (size_t i = 0; i < r->ret->files.n; i++) {
		claim(r, &r->v[i]);
		if (r->v[i].taken)
			enter(r, &r->v[i]);
	}
	if (fs_writes_forbidden())
		return NULL;
	keep_older(r);
	TRY(write_intent(r));
	for (size_t i = 0; i < r->ret->files.n; i++) {
		TRY(cancel_check());
		TRY(write_one(r, &r->v[i]));
	}
	TRY(remove_stale(r));
	return listing_write(&r->new, r->o->out);
}

/* ---- the whole ---- */

static struct err *check_folders(struct arena *a, const struct hipify_options *o)
{
	if (!o->out.n)
		return NULL;
	struct str dir = path_abs(a, o->dir), out = path_abs(a, o->out);
	struct str rel = path_rel(a, out, dir), back = path_rel(a, dir, out);
	if (str_eq(rel, S(".")) || path_is_inside(back))
		return err_new(E_USAGE, "the output folder '%.*s' contains the sources of '%.*s'",
			STR(o->out), STR(o->dir));
	for (size_t i = 0; i < o->exclude.n; i++)
		if (str_eq(rel, o->exclude.v[i]) ||
			str_starts(rel, str_fmt(a, "%.*s/", STR(o->exclude.v[i]))))
			return NULL;
	if (path_is_inside(rel) && !o->only.n)
		return err_hint(err_new(E_USAGE, "the output folder '%.*s' is inside '%.*s'",
					STR(o->out), STR(o->dir)),
			"give a folder outside, or leave it out with --exclude %.*s", STR(rel));
	return NULL;
}

static void keep_names(struct run *r, struct map *declared)
{
	for (size_t i = 0; i < r->ret->files.n; i++)
		for (size_t k = 0; k < r->v[i].text.declared.n; k++)
			map_put(declared, str_dup(r->a, r->v[i].text.declared.v[k]), r);
}

/* Joins what was found in the files; a name that one of them declares is the project's own. */
static void gather(struct run *r)
{
	MAP(declared, r->a);
	MAP(headers, r->a);
	keep_names(r, &declared);
	for (size_t i = 0; i < r->ret->files.n; i++) {
		struct hipify_text *t = &r->v[i].text;
		for (size_t k = 0; k < t->left.n; k++) {
			struct hipify_left l = t->left.v[k];
			if (map_get(&declared, l.name))
				continue;
			l.path = r->v[i].file->source;
			l.name = str_dup(r->a, l.name);
			l.suggestion = str_dup(r->a, l.suggestion);
			*VEC_PUSH(r->a, &r->ret->left) = l;
		}
		for (size_t k = 0; k < t->headers.n; k++) {
			struct str h = str_dup(r->a, t->headers.v[k]);
			if (map_put(&headers, h, r))
				strs_add(r->a, &r->ret->headers, h);
		}
		arena_free(&r->v[i].mem);
	}
}

struct err *hipify_tree(struct arena *a, const struct hipify_options *o, struct hipify_tree *ret)
{
	struct run r = {.a = a, .o = o, .ret = ret};
	*ret = (struct hipify_tree){0};
	TRY(check_folders(a, o));
	TRY(choose_files(&r));
	check_outputs(&r);
	add_context(&r);
	struct progress *p = progress_begin(S("Translating"), o->dir, UNIT_ITEMS, ret->files.n);
	struct err *e = translate(&r);
	if (!e && o->out.n)
		e = write_all(&r);
	progress_end(p);
	gather(&r);
	strs_sort(&ret->headers);
	return e;
}

void hipify_tree_free(struct hipify_tree *t)
{
	VEC_EACH (struct hipify_file, f, &t->files)
		err_freep(&f->error);
}
