/* Finds what lies on the disk because of rocsmith, and how much space it takes; see disk.h. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/progress.h"
#include "disk/disk_int.h"
#include "formats/node.h"
#include "target/target.h"

const char *const disk_kinds[] = {
	"sdk", "download", "source", "build", "object", "wheel", "leftover", NULL};

const char disk_tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
			"# A build folder of rocsmith: all in here can be made again.\n";

enum { MAX_PATH_FILE = 1 << 16, MAX_PROVENANCE = 4 << 20 };

struct disk_reader {
	struct arena *a;
	struct disk *d;
	struct map known; /* paths of items */
	struct map seen;  /* files with several names, for fs_measure() */
	struct progress *progress;
};

/* ---- single items ---- */

static struct str place_path(struct arena *a, const char *pattern, struct str name)
{
	struct str place, rest;
	str_cut(str_from(pattern), '/', &place, &rest);
	return fs_place(a, str_eq(place, S("data")) ? FS_DATA : FS_CACHE,
		str_replace(a, rest, S("*"), name));
}

/* The packages of an SDK that have one GPU only: by their own word, or by their name. */
static void read_gpus(struct arena *a, struct disk_item *i)
{
	const struct node *doc = NULL, *packages;
	CLEANUP(err_freep)
	struct err *e = json_read(a, path_join(a, i->path, S("sdk.json")), &doc);
	packages = e ? NULL : node_get(doc, S("packages"));
	if (!packages)
		return;
	NODE_EACH (p, packages) {
		const struct node *gpus = node_get(p, S("gpus"));
		struct str name = node_text(p, S("name"), S(""));
		struct str gpu = str_sub(name, str_rchr(name, '-') + 1, name.n);
		if (gpus && gpus->n == 1)
			gpu = gpus->v[0].text;
		else if (name.n == gpu.n || !gpu_by_name(gpu))
			continue;
		struct disk_part *part = VEC_FIND(struct disk_part, &i->gpus, gpu, gpu);
		part = part ? part : VEC_PUSH(a, &i->gpus);
		part->gpu = gpu;
		part->bytes += node_u64(p, S("bytes"), 0);
	}
}

static void read_build(struct arena *a, bool live, struct disk_item *i)
{
	const struct node *doc = NULL;
	struct str state = path_join(a, i->path, S("state"));
	CLEANUP(err_freep)
	struct err *e = json_read(a, path_join(a, i->path, S("build.json")), &doc);
	struct str env = e ? S("") : node_text(doc, S("installed"), S(""));
	i->project = e ? S("") : node_text(doc, S("project"), S(""));
	if (!i->project.n)
		err_free(fs_read_opt(
			a, path_join(a, i->path, S("project")), MAX_PATH_FILE, &i->project));
	i->unfinished = fs_is_dir(state) && !fs_exists(path_join(a, state, S("done")));
	if (env.n && fs_is_dir(env))
		i->busy = str_fmt(a, "'%.*s' imports its modules from here", STR(env));
	else if (live && e && e->code != E_NOENT)
		i->busy = S("its build report cannot be read, so it may be installed somewhere");
}

struct err *disk_lock(const struct disk_item *i, int *ret_fd)
{
	ARENA(tmp);
	struct str inside = path_join(&tmp, i->path, S("lock"));
	if (i->lock.n && fs_present(i->lock))
		return fs_lock(i->lock, FS_LOCK_SHARED, ret_fd);
	if (i->kind == DISK_LEFTOVER && fs_present(inside))
		return fs_lock(inside, FS_LOCK_SHARED, ret_fd);
	return NULL;
}

static struct err *add_item(struct disk_reader *r, struct disk_item i)
{
	struct fs_use use = {.seen = &r->seen};
	struct stat st;
	CLEANUP(fd_closep) int lock = -1;
	if (!map_put(&r->known, i.path, &r->known))
		return NULL;
	CLEANUP(err_freep) struct err *e = disk_lock(&i, &lock);
	if (!i.busy.n && e)
		i.busy = e->code == E_LOCKED ? S("a running rocsmith uses it")
					     : str_dup(r->a, str_from(err_root(e)->msg));
	if (!i.busy.n && fs_is_dir(i.path) && fs_is_held(i.path))
		i.busy = S("a running rocsmith uses it");
	progress_add(r->progress, 0, i.name);
	TRY(fs_measure(i.path, &use));
	if (i.kind == DISK_BUILD && fs_try_lstat(i.lock, &st) && st.st_mtim.tv_sec > use.newest)
		use.newest = st.st_mtim.tv_sec;
	if (i.kind == DISK_SOURCE && fs_try_lstat(i.beside, &st) && st.st_atim.tv_sec > use.newest)
		use.newest = st.st_atim.tv_sec; /* by fs_stamp() */
	int64_t now = (int64_t)time(NULL);
	i.used = (uint64_t)(use.newest < now ? use.newest : now);
	i.bytes = use.bytes;
	r->d->bytes += use.bytes;
	r->d->unread += use.unread;
	*VEC_PUSH(r->a, &r->d->items) = i;
	return NULL;
}

/* ---- our places ---- */

/* The proof goes with the folder if it lies beside it, and is for this one alone. */
static struct str beside_of(struct arena *a, const struct disk_place *p, struct str name)
{
	struct str proof = str_from(p->proof), at = str_from(p->at);
	bool inside = str_starts(proof, at) && proof.p[at.n] == '/';
	return inside || !str_contains(at, S("*")) ? S("") : place_path(a, p->proof, name);
}

/* A killed clean, install or fetch left it. Its name says what it was. */
static struct err *add_leftover(
	struct disk_reader *r, const struct disk_place *p, struct str dir, struct str name)
{
	struct str was = fs_gone_base(name);
	struct disk_item i = {.kind = DISK_LEFTOVER,
		.name = name,
		.path = path_join(r->a, dir, name),
		.lock = place_path(r->a, p->lock, was)};
	if (was.n && !fs_present(place_path(r->a, p->at, was)))
		i.beside = beside_of(r->a, p, was);
	return add_item(r, i);
}

static struct err *add_place(
	struct disk_reader *r, const struct disk_place *p, struct str path, struct str name)
{
	struct stat st;
	struct str proof = place_path(r->a, p->proof, name);
	struct disk_item i = {.kind = p->kind,
		.name = name,
		.path = path,
		.lock = place_path(r->a, p->lock, name),
		.beside = beside_of(r->a, p, name)};
	/* a link is the user's, and so is what we have no proof for */
	if (!fs_try_lstat(path, &st) || !S_ISDIR(st.st_mode) || !fs_present(proof))
		return NULL;
	if (p->kind == DISK_SDK)
		read_gpus(r->a, &i);
	if (p->kind == DISK_BUILD)
		read_build(r->a, p->live, &i);
	return add_item(r, i);
}

static bool may_look(struct disk_reader *r, struct str dir)
{
	if (!fs_is_dir(dir))
		return false;
	CLEANUP(err_freep) struct err *e = fs_check_way(dir);
	if (e)
		strs_put(r->a, &r->d->doubts, str_dup(r->a, str_from(err_root(e)->msg)));
	return !e;
}

static struct err *read_place(struct disk_reader *r, const struct disk_place *p)
{
	struct str at = place_path(r->a, p->at, S("*")), dir = path_dir(at);
	struct strs names = {0};
	bool each = strchr(p->at, '*') != NULL;
	if (!may_look(r, dir))
		return NULL;
	if (!each)
		TRY(add_place(r, p, at, path_base(at)));
	TRY(fs_list(r->a, dir, &names));
	VEC_EACH (const struct str, name, &names) {
		struct str gone = fs_gone_base(*name);
		bool hidden = name->p[0] == '.';
		/* the names under which our folders are filled, and removed */
		bool left =
			gone.n || fs_is_temp_name(*name) || (hidden && str_ends(*name, S(".new")));
		if (each ? left : str_eq(gone, path_base(at)))
			TRY(add_leftover(r, p, dir, *name));
		else if (each && !hidden)
			TRY(add_place(r, p, path_join(r->a, dir, *name), *name));
	}
	return NULL;
}

/* ---- what builds noted ---- */

static struct str notes_dir(struct arena *a)
{
	return fs_place(a, FS_STATE, S("made"));
}

void disk_note(struct str path)
{
	ARENA(tmp);
	struct str dir = notes_dir(&tmp), abs = path_abs(&tmp, path), old;
	struct str note = path_join(&tmp, dir, str_sub(sha256_hex(&tmp, abs), 0, 16));
	if (path_is_below(abs, fs_place(&tmp, FS_CACHE, S("build"))) ||
		path_is_below(abs, fs_place(&tmp, FS_DATA, S("editable"))))
		return;
	CLEANUP(err_freep) struct err *e = fs_mkdirs(dir);
	if (!e && fs_is_link(note))
		e = fs_readlink(&tmp, note, &old);
	else if (!e)
		e = fs_symlink(abs, note);
}

struct err *disk_check_way(struct str path, const struct stat *st)
{
	return fs_check_way(S_ISDIR(st->st_mode) ? path : path_dir(path));
}

bool disk_is_made(struct arena *a, struct str path, const struct stat *st)
{
	struct str text = {0};
	const struct node *doc, *wheel;
	CLEANUP(err_freep) struct err *e = disk_check_way(path, st);
	if (e || st->st_uid != geteuid())
		return false;
	if (S_ISDIR(st->st_mode)) {
		e = fs_read_below(a, path, S("CACHEDIR.TAG"), sizeof(disk_tag), &text);
		return !e && str_eq(text, str_from(disk_tag));
	}
	struct str name = str_fmt(a, "%.*s.json", STR(path_base(path)));
	if (S_ISREG(st->st_mode))
		e = fs_read_below(a, path_dir(path), name, MAX_PROVENANCE, &text);
	if (e || !text.n)
		return false;
	e = json_parse(a, text, name, &doc);
	wheel = e ? NULL : node_get(doc, S("wheel"));
	return str_eq(node_text(wheel, S("file"), S("")), path_base(path)) &&
	       node_u64(wheel, S("bytes"), 0) == (uint64_t)st->st_size;
}

static struct err *read_note(struct disk_reader *r, struct str note)
{
	struct str path;
	struct stat st;
	CLEANUP(err_freep) struct err *went = fs_readlink(r->a, note, &path);
	if (went) /* by another clean */
		return NULL;
	struct str gone = fs_gone_name(r->a, path);
	struct disk_item i = {.name = path_base(path), .path = path, .note = note};
	if (!fs_try_lstat(path, &st)) {
		bool left = fs_try_lstat(gone, &st) && st.st_uid == geteuid();
		CLEANUP(err_freep) struct err *theirs = left ? disk_check_way(gone, &st) : NULL;
		if (!left || theirs) {
			strs_add(r->a, &r->d->dead, note);
			return NULL;
		}
		i.kind = DISK_LEFTOVER;
		i.beside = S_ISDIR(st.st_mode) ? S("") : str_fmt(r->a, "%.*s.json", STR(path));
		i.name = path_base(gone);
		i.path = gone;
		return add_item(r, i);
	}
	if (!disk_is_made(r->a, path, &st)) { /* a folder may be in doubt for a while only */
		if (!S_ISDIR(st.st_mode))
			strs_add(r->a, &r->d->dead, note);
		return NULL;
	}
	i.kind = S_ISDIR(st.st_mode) ? DISK_BUILD : DISK_WHEEL;
	if (i.kind == DISK_BUILD) {
		i.lock = path_join(r->a, path, S("lock"));
		read_build(r->a, false, &i);
	} else {
		i.beside = str_fmt(r->a, "%.*s.json", STR(path));
	}
	return add_item(r, i);
}

static struct err *read_notes(struct disk_reader *r)
{
	struct str dir = notes_dir(r->a);
	struct strs names = {0};
	if (!may_look(r, dir))
		return NULL;
	TRY(fs_list(r->a, dir, &names));
	VEC_EACH (const struct str, name, &names)
		if (fs_is_link(path_join(r->a, dir, *name)))
			TRY(read_note(r, path_join(r->a, dir, *name)));
	return NULL;
}

/* ---- others ---- */

struct str disk_cache_path(struct arena *a, const struct disk_cache *c)
{
	struct str own = str_from(getenv(c->variable)), lead, rest, root = fs_home(a);
	str_cut(str_from(c->at), '/', &lead, &rest);
	if (!str_eq(lead, S("~")))
		root = fs_user_dir(a, str_eq(lead, S("~cache")) ? FS_CACHE : FS_CONFIG);
	own = own.n ? own : path_join(a, root, rest);
	return fs_real(a, own, &own) ? own : path_clean(a, own);
}

static struct err *read_caches(struct disk_reader *r)
{
	TABLE_EACH (disk_cache, c) {
		struct fs_use use = {.seen = &r->seen};
		struct disk_other o = {.name = str_from(c->name),
			.path = disk_cache_path(r->a, c),
			.clean = c->clean};
		if (!fs_is_dir(o.path) || !map_put(&r->known, o.path, r))
			continue;
		progress_add(r->progress, 0, o.name);
		TRY(fs_measure(o.path, &use));
		o.bytes = use.bytes;
		r->d->unread += use.unread;
		*VEC_PUSH(r->a, &r->d->caches) = o;
	}
	return NULL;
}

struct err *disk_read(struct arena *a, bool others, struct disk *ret)
{
	struct disk_reader r = {.a = a, .d = ret, .known = {.a = a}, .seen = {.a = a}};
	struct err *e = NULL;
	*ret = (struct disk){0};
	r.progress = progress_begin(S("Measuring"), S("folders"), UNIT_NONE, 0);
	TABLE_EACH (disk_place, place)
		e = e ? e : read_place(&r, place);
	e = e ? e : read_notes(&r);
	if (!e && others)
		e = read_caches(&r);
	progress_end(r.progress);
	return e;
}
