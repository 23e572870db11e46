/* Builds the engine and translates single files, for the modes torch and extension; see project.h. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/pool.h"
#include "hipify/torch/run/project.h"
#include "lang/python/text.h"

/* ---- the engine ---- */

struct torch_opening {
	const struct torch_source *s;
	struct pool *pool;
	struct arena mem; /* holds the engine */
};

static struct err *make_engine(struct arena *tmp, void *user)
{
	struct torch_project *p = user;
	struct arena *a = &p->opening->mem;
	struct torch_tables tables;
	(void)tmp;
	TRY(torch_tables_read(a, p->opening->s, &tables));
	if (p->o->map_text.p)
		TRY(torch_tables_add(a, p->o->map, p->o->map_text, &tables));
	p->engine = torch_engine_new(a, &tables);
	return NULL;
}

void torch_start_engine(struct torch_project *p, const struct torch_source *s)
{
	p->opening = NEW(p->a, struct torch_opening);
	*p->opening = (struct torch_opening){.s = s, .pool = pool_new(1)};
	pool_add(p->opening->pool, make_engine, p);
}

struct err *torch_wait_engine(struct torch_project *p)
{
	struct torch_opening *o = p->opening;
	if (!o)
		return NULL;
	struct err *e = pool_end(o->pool);
	arena_join(p->a, &o->mem);
	p->opening = NULL;
	return e;
}

/* ---- names ---- */

/* Is the path absolute, inside root, and already normalised? */
static bool is_plain(struct str path, struct str root)
{
	if (!str_starts(path, root) || path.n <= root.n || path.p[root.n] != '/')
		return false;
	struct str rest = str_sub(path, root.n + 1, path.n), part;
	while (str_next(&rest, '/', &part))
		if (!part.n || str_eq(part, S(".")) || str_eq(part, S("..")))
			return false;
	return !str_ends(path, S("/"));
}

struct torch_unit torch_unit_new(const struct torch_project *p, struct arena *a, struct str path)
{
	struct str root = p->select.root;
	struct torch_unit u = {.path = path, .fin = path};
	bool plain = is_plain(path, root);
	if (plain) {
		u.rel = str_sub(path, root.n + 1, path.n);
	} else {
		u.fin = py_abspath(a, path, root);
		u.rel = py_relpath(a, path, root, root);
	}
	struct str out = torch_output_name(a, u.rel, p->select.extension);
	if (plain && out.p == u.rel.p) {
		u.fout = path;
		return u;
	}
	u.fout = py_join(a, root, out);
	if (!is_plain(u.fout, root))
		u.fout = py_abspath(a, out, root);
	return u;
}

struct str torch_unit_name(const struct torch_project *p, struct arena *a, struct str path)
{
	struct str rel = py_relpath(a, path, p->select.root, p->select.root);
	return path_is_inside(rel) ? path_join(a, p->o->dir, rel) : path;
}

/* ---- includes ---- */

bool torch_known_include(struct arena *a, struct str path, bool extension, struct str *ret)
{
	static const struct str starts[] = {S_INIT("ATen/cuda"), S_INIT("ATen/native/cuda"),
		S_INIT("ATen/native/nested/cuda"), S_INIT("ATen/native/quantized/cuda"),
		S_INIT("ATen/native/sparse/cuda"), S_INIT("ATen/native/transformers/cuda"),
		S_INIT("THC/")};
	if (!path.n || (path.p[0] != 'A' && path.p[0] != 'T')) /* true of nearly all paths */
		return false;
	bool known = str_starts(path, S("THC")) && !str_starts(path, S("THCP"));
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		known = known || str_starts(path, starts[i]);
	if (known)
		*ret = torch_output_name(a, path, extension);
	return known;
}

struct err *torch_plain_include(void *user, enum torch_form form, struct str path, struct str *ret)
{
	(void)form;
	torch_known_include(user, path, false, ret);
	return NULL;
}

/* ---- text ---- */

static struct torch_job job_of(const struct torch_project *p, const struct torch_unit *u)
{
	const struct torch_selection *s = &p->select;
	struct torch_job j = {.path = u->path, .launches = p->launches, .map = TORCH_NAMES};
	if (s->extension || s->generation != TORCH_V1)
		return j;
	if (torch_special_file(u->rel, s->fbgemm))
		j.map = TORCH_SPECIAL;
	else if (!torch_pytorch_file(u->rel, s->fbgemm))
		j.map = TORCH_CAFFE2;
	return j;
}

bool torch_is_marked(struct str bytes)
{
	struct str line = str_sub(torch_breadcrumb, 0, torch_breadcrumb.n - 1);
	return str_starts(bytes, line) && bytes.n > line.n &&
	       (bytes.p[line.n] == '\n' || bytes.p[line.n] == '\r');
}

/* Puts the marking line in front of the result, as an edit, for callers that want the edits. */
static struct str mark(struct arena *a, struct hipify_text *t)
{
	static struct hipify_reason why = {
		.kind = "header", .from = S_INIT(""), .to = S_INIT("the mark of a result")};
	BUF(b, a);
	buf_add(&b, torch_breadcrumb);
	buf_add(&b, t->text);
	VEC_PUSH(a, &t->edits);
	memmove(t->edits.v + 1, t->edits.v, (t->edits.n - 1) * sizeof(*t->edits.v));
	t->edits.v[0] = (struct hipify_edit){.with = torch_breadcrumb, .line = 1, .why = &why};
	return t->text = buf_str(&b);
}

struct err *torch_unit_translate(const struct torch_project *p, struct torch_unit *u,
	const struct torch_unit_work *w, struct str bytes)
{
	struct torch_job job = job_of(p, u);
	bool trace = p->one && str_eq(p->one->rel, u->rel);
	struct arena *a = trace ? p->a : w->a; /* the traced file outlives the work */
	/* Results with these extensions begin with the line that marks them, unless they replace
	 * their source. The user's own extensions count too, or the next hipify would take the
	 * results for sources. */
	bool listed = (torch_ends_with_one(u->fin, &torch_source_extensions) &&
			      !str_ends(u->fin, S(".in"))) ||
		      torch_ends_with_one(u->fin, &p->o->extra_extensions);
	bool marked = listed && !str_eq(u->fin, u->fout);
	struct hipify_text t = {0};
	job.include = w->include;
	job.user = w->user;
	job.trace = trace;
	job.head = marked && !trace ? torch_breadcrumb : S("");
	job.stays = str_eq(u->fin, u->fout) ||
		    (p->select.extension && str_eq(py_dirname(u->fin), py_dirname(u->fout)));
	u->outcome = UNIT_MARKED;
	if (torch_is_marked(bytes))
		return NULL;
	TRY(py_decode(a, trace ? str_dup(a, bytes) : bytes, &u->source));
	TRY(torch_text(trace ? a : w->out, p->engine, &job, u->source, &t));
	bool made = t.text.p != u->source.p;
	bool same = !made || str_eq(str_sub(t.text, job.head.n, t.text.n), u->source);
	u->outcome = same && job.stays ? UNIT_SAME : UNIT_CHANGED;
	u->text = t.text;
	if (u->outcome == UNIT_CHANGED && marked && trace)
		u->text = mark(a, &t);
	else if (u->outcome == UNIT_CHANGED && !made && w->out != w->a)
		u->text = str_dup(w->out, t.text);
	if (trace)
		*p->one = (struct torch_one){
			.rel = p->one->rel, .found = true, .source = u->source, .text = t};
	return NULL;
}

/* ---- results ---- */

static struct str relative(struct torch_project *p, struct str path)
{
	struct str root = p->select.root;
	return is_plain(path, root) ? str_sub(path, root.n + 1, path.n)
				    : py_relpath(p->a, path, root, root);
}

struct change *torch_add_file(struct torch_project *p, struct str source, struct str output)
{
	struct change *f = VEC_PUSH(p->a, &p->ret->changes);
	f->source = relative(p, source);
	f->output = relative(p, output);
	f->status = CHANGE_UNCHANGED;
	return f;
}

static void say(struct torch_project *p, const char *id, struct str path, struct str text)
{
	struct finding *f = finding_add(
		p->a, &p->ret->findings, id, SEV_WARNING, torch_unit_name(p, p->a, path));
	finding_say(p->a, f, "%.*s", STR(text));
}

void torch_say_collision(
	struct torch_project *p, struct str first, struct str second, struct str output)
{
	struct str name = py_basename(output);
	say(p, "hipify-one-output", output,
		str_fmt(p->a, "'%.*s' and '%.*s' both give '%.*s'; the latter is kept",
			STR(torch_unit_name(p, p->a, first)), STR(torch_unit_name(p, p->a, second)),
			STR(name)));
}

bool torch_may_write(const struct torch_project *p, const struct torch_unit *u)
{
	if (!p->o->in_place || fs_writable(u->fout))
		return true;
	return errno == ENOENT && (fs_writable(py_dirname(u->fout)) || errno == ENOENT);
}

void torch_say_not_writable(struct torch_project *p, const struct torch_unit *u)
{
	say(p, "hipify-not-writable", u->fout,
		str_fmt(p->a, "'%.*s' may not be written: '%.*s' is used as it is",
			STR(torch_unit_name(p, p->a, u->fout)),
			STR(torch_unit_name(p, p->a, u->fin))));
}
