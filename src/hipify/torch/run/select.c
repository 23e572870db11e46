/* Selects the files to translate; see select.h. The walk makes each folder a job of a pool instead of
 * recursing, so that depth costs neither stack nor open descriptors; folders are read by their full path,
 * as in os.walk().
 */
#include "hipify/torch/run/select.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/pool.h"
#include "base/proc.h"
#include "lang/python/fnmatch.h"
#include "lang/python/path.h"

struct torch_patterns {
	struct py_glob *includes, *ignores;
	size_t nincludes, nignores;
	struct map exact; /* the includes as literal paths */
};

static struct str source_endings[] = {S_INIT(".cu"), S_INIT(".cuh"), S_INIT(".c"), S_INIT(".cc"),
	S_INIT(".cpp"), S_INIT(".h"), S_INIT(".in"), S_INIT(".hpp")};
static struct str header_endings[] = {S_INIT(".cuh"), S_INIT(".h"), S_INIT(".hpp")};
const struct strs torch_source_extensions = {
	.v = source_endings, .n = sizeof(source_endings) / sizeof(*source_endings)};
const struct strs torch_header_extensions = {
	.v = header_endings, .n = sizeof(header_endings) / sizeof(*header_endings)};

bool torch_ends_with_one(struct str path, const struct strs *endings)
{
	for (size_t i = 0; i < endings->n; i++)
		if (str_ends(path, endings->v[i]))
			return true;
	return false;
}

struct err *torch_find_build_amd(struct arena *a, struct str dir, const struct torch_source *s,
	const struct view *view, struct torch_file *ret)
{
	struct str path = path_join(a, view->root, S(TORCH_BUILD_AMD));
	*ret = s->build_amd;
	if (view_exists(view, path)) {
		ret->path = py_join(a, dir, S(TORCH_BUILD_AMD));
		return view_read(view, a, path, &ret->text);
	}
	if (ret->text.p)
		return NULL;
	return err_hint(err_new(E_TORCH, "no '%.*s', which lists what is translated", STR(path)),
		"--mode torch is for PyTorch's own source tree; an extension is translated with "
		"--mode extension");
}

static struct py_glob *compile(struct arena *a, const struct strs *list)
{
	struct py_glob *v = arena_array(a, list->n, sizeof(*v));
	for (size_t i = 0; i < list->n; i++)
		v[i] = py_glob_new(a, list->v[i]);
	return v;
}

void torch_select_open(struct arena *a, struct torch_selection *s)
{
	struct torch_patterns *p = s->patterns = NEW(a, struct torch_patterns);
	p->includes = compile(a, &s->includes);
	p->nincludes = s->includes.n;
	p->ignores = compile(a, &s->ignores);
	p->nignores = s->ignores.n;
	p->exact.a = a;
	for (size_t i = 0; i < s->includes.n; i++)
		map_put(&p->exact, s->includes.v[i], p);
	if (!s->extensions.v)
		s->extensions = torch_source_extensions;
}

static bool patterns_take(const struct torch_selection *s, struct str path)
{
	const struct torch_patterns *p = s->patterns;
	bool included = false;
	for (size_t i = 0; i < p->nincludes && !included; i++)
		included = py_glob_match(&p->includes[i], path);
	for (size_t i = 0; i < p->nignores && included; i++)
		included = !py_glob_match(&p->ignores[i], path);
	return included;
}

/* The patterns that can match below a folder; start ends in '/'. */
static struct torch_patterns narrow(
	struct arena *a, const struct torch_patterns *p, struct str start)
{
	struct torch_patterns few = {.exact.a = a};
	few.includes = arena_array(a, p->nincludes, sizeof(*few.includes));
	few.ignores = arena_array(a, p->nignores, sizeof(*few.ignores));
	for (size_t i = 0; i < p->nincludes; i++)
		if (py_glob_possible(&p->includes[i], start))
			few.includes[few.nincludes++] = p->includes[i];
	for (size_t i = 0; i < p->nignores; i++)
		if (py_glob_possible(&p->ignores[i], start))
			few.ignores[few.nignores++] = p->ignores[i];
	for (size_t i = 0; i < p->exact.n; i++)
		if (str_starts(p->exact.v[i].key, start))
			map_put(&few.exact, p->exact.v[i].key, p->exact.v[i].value);
	return few;
}

bool torch_select_takes(const struct torch_selection *s, struct str path, struct str rel)
{
	if (!torch_ends_with_one(path, &s->extensions) && !map_get(&s->patterns->exact, path))
		return false;
	if (!s->extension && s->generation == TORCH_V1) {
		if (!torch_pytorch_file(rel, s->fbgemm) && !torch_caffe2_gpu_file(rel))
			return false;
		if (s->out_of_place_only && !torch_out_of_place(rel))
			return false;
	}
	return patterns_take(s, path);
}

/* ---- walking ---- */

struct walk {
	struct arena *a; /* holds the folders and the result; under lock */
	pthread_mutex_t lock;
	struct pool *pool;
	const struct torch_selection *s;
	const struct view *view;
	struct str top;
	const struct strs *headers; /* the endings to take in an include folder, where no other rule
				       applies, such as those for the top folder; else NULL */
};

struct folder {
	struct walk *w;
	struct str path;
	struct strs files; /* the files taken, absolute */
	struct strs links; /* the links among them */
	struct folder *v;  /* its subfolders, the last one first */
	size_t n;
};

/* The contents of a folder, before they are added to the walk. */
struct finds {
	struct walk *w;
	struct torch_selection s; /* narrowed to the patterns that can match here */
	struct arena *tmp;
	struct strs files, links, dirs;
	struct buf path; /* the path of the current entry */
};

/* Do the patterns exclude everything below the folder? start ends in '/'. */
static bool hopeless(const struct torch_selection *s, struct str start)
{
	bool possible = false;
	for (size_t i = 0; i < s->patterns->nignores; i++)
		if (py_glob_certain(&s->patterns->ignores[i], start))
			return true;
	for (size_t i = 0; i < s->patterns->nincludes && !possible; i++)
		possible = py_glob_possible(&s->patterns->includes[i], start);
	return !possible;
}

/* The path of an entry; valid until the next call. */
static struct str below(struct finds *f, struct str dir, struct str name)
{
	f->path.n = 0;
	buf_add(&f->path, dir);
	if (!str_ends(dir, S("/")))
		buf_char(&f->path, '/');
	buf_add(&f->path, name);
	return buf_str(&f->path);
}

static void add_file(struct finds *f, struct str dir, const struct fs_name *name)
{
	const struct walk *w = f->w;
	struct str path = below(f, dir, name->name);
	/* hipify calls a file at the top "./x.cu". */
	struct str rel = str_sub(path, w->top.n + !str_ends(w->top, S("/")), path.n);
	if (!w->headers && str_chr(rel, '/') == rel.n)
		rel = str_fmt(f->tmp, "./%.*s", STR(rel));
	bool taken = w->headers
			     ? torch_ends_with_one(path, w->headers) && patterns_take(&f->s, path)
			     : torch_select_takes(&f->s, path, rel);
	if (!taken || (w->headers && !fs_is_file(path)) || view_hides(w->view, path))
		return;
	path = str_dup(f->tmp, path);
	strs_add(f->tmp, &f->files, path);
	if (name->link)
		strs_add(f->tmp, &f->links, path);
}

static void add_dir(struct finds *f, struct str dir, struct str name)
{
	struct str path = below(f, dir, name);
	bool out = view_hides(f->w->view, path);
	buf_char(&f->path, '/');
	if (!out && !hopeless(&f->s, buf_str(&f->path)))
		strs_add(f->tmp, &f->dirs, str_dup(f->tmp, str_sub(buf_str(&f->path), 0, path.n)));
}

static struct strs kept(struct arena *a, const struct strs *list)
{
	struct strs copy = {0};
	VEC_EACH (const struct str, s, list)
		strs_add(a, &copy, str_dup(a, *s));
	return copy;
}

/* The job of the pool for one folder. As in os.walk(), an unreadable folder is skipped. */
static struct err *read_folder(struct arena *tmp, void *user)
{
	struct folder *folder = user;
	struct walk *w = folder->w;
	struct finds f = {.w = w, .s = *w->s, .tmp = tmp, .path.a = tmp};
	struct fs_names names = {0};
	struct stat st;
	/* The one part of third_party that hipify visits. */
	const struct str nvfuser = S("third_party/nvfuser");
	TRY(cancel_check());
	CLEANUP(err_freep) struct err *e = fs_scan(tmp, folder->path, &names, &st);
	bool top = !w->headers && str_eq(folder->path, w->top);
	if (e)
		return NULL;
	view_note_dir(w->view, folder->path, &st);
	struct torch_patterns here = narrow(tmp, w->s->patterns, below(&f, folder->path, S("")));
	f.s.patterns = &here;
	VEC_EACH (struct fs_name, n, &names) {
		if (!n->dir)
			add_file(&f, folder->path, n);
		else if (top && str_eq(n->name, S("third_party")) &&
			 fs_try_lstat(path_join(tmp, folder->path, nvfuser), &st) &&
			 S_ISDIR(st.st_mode))
			add_dir(&f, folder->path, nvfuser); /* comes last */
	}
	for (size_t i = names.n; i-- > 0;) {
		/* hipify skips these at the top only; our own folders are skipped everywhere. */
		static const char *const out[] = {".git", "build", "third_party", NULL};
		struct str name = names.v[i].name;
		if (names.v[i].dir && !names.v[i].link && !str_starts(name, S(".rocsmith")) &&
			!(top && str_is_one_of(name, out)))
			add_dir(&f, folder->path, name);
	}
	pthread_mutex_lock(&w->lock);
	folder->files = kept(w->a, &f.files);
	folder->links = kept(w->a, &f.links);
	folder->n = f.dirs.n;
	folder->v = arena_array(w->a, folder->n, sizeof(*folder->v));
	for (size_t i = 0; i < folder->n; i++)
		folder->v[i] = (struct folder){.w = w, .path = str_dup(w->a, f.dirs.v[i])};
	pthread_mutex_unlock(&w->lock);
	pool_add_each(w->pool, folder->v, folder->n, sizeof(*folder->v), read_folder);
	return NULL;
}

/* Reads folders in any order, but lists their files in the order of os.walk(). */
static struct err *walk(struct walk *w, struct strs *ret)
{
	struct folder top = {.w = w, .path = w->top};
	VEC(struct folder *) todo = {0};
	pthread_mutex_init(&w->lock, NULL);
	w->pool = pool_new(w->s->jobs);
	pool_add(w->pool, read_folder, &top);
	struct err *e = pool_end(w->pool);
	pthread_mutex_destroy(&w->lock);
	*VEC_PUSH(w->a, &todo) = &top;
	while (!e && todo.n) {
		struct folder *f = todo.v[--todo.n];
		strs_add_all(w->a, ret, &f->files);
		VEC_EACH (const struct str, path, &f->links)
			if (w->s->links)
				map_put(w->s->links, *path, ret);
		for (size_t i = 0; i < f->n; i++)
			*VEC_PUSH(w->a, &todo) = &f->v[i];
	}
	return e;
}

struct err *torch_select(
	struct arena *a, const struct torch_selection *s, const struct view *view, struct strs *ret)
{
	struct walk w = {.a = a, .s = s, .view = view, .top = s->root};
	return walk(&w, ret);
}

struct err *torch_select_headers(
	struct arena *a, const struct torch_headers *h, const struct view *view, struct strs *ret)
{
	struct walk w = {.a = a, .s = h->s, .view = view, .top = h->dir};
	w.headers = &h->endings;
	return walk(&w, ret);
}
