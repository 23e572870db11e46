/* Translates single files, for the modes torch and extension; see project.h. */
#include <errno.h>
#include <unistd.h>

#include "base/fs.h"
#include "hipify/torch/run/project.h"
#include "lang/python/text.h"

struct torch_unit torch_unit_new(const struct torch_project *p, struct arena *a, struct str path)
{
	struct str root = p->select.root;
	struct torch_unit u = {.path = path, .fin = py_abspath(a, path, root)};
	u.rel = py_relpath(a, path, root, root);
	u.fout = py_abspath(a, torch_output_name(a, u.rel, p->select.extension), root);
	u.trace = p->one && str_eq(p->one->rel, u.rel);
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
	bool known = str_starts(path, S("THC")) && !str_starts(path, S("THCP"));
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		known = known || str_starts(path, starts[i]);
	if (known)
		*ret = torch_output_name(a, path, extension);
	return known;
}

/* The include callback in torch mode; `user` is the arena for the new paths. */
static struct err *plain_include(void *user, enum torch_form form, struct str path, struct str *ret)
{
	(void)form;
	torch_known_include(user, path, false, ret);
	return NULL;
}

/* ---- text ---- */

bool torch_is_marked(struct str bytes)
{
	struct str line = str_sub(torch_breadcrumb, 0, torch_breadcrumb.n - 1);
	return str_starts(bytes, line) && bytes.n > line.n &&
	       (bytes.p[line.n] == '\n' || bytes.p[line.n] == '\r');
}

/* Puts the line that marks a result in front of it, as an edit. */
static void mark(struct arena *a, struct hipify_text *t)
{
	static struct hipify_reason why = {
		.kind = "header", .from = S_INIT(""), .to = S_INIT("the mark of a result")};
	VEC_PUSH(a, &t->edits);
	memmove(t->edits.v + 1, t->edits.v, (t->edits.n - 1) * sizeof(*t->edits.v));
	t->edits.v[0] = (struct hipify_edit){.with = torch_breadcrumb, .line = 1, .why = &why};
	BUF(b, a);
	buf_add(&b, torch_breadcrumb);
	buf_add(&b, t->text);
	t->text = buf_str(&b);
}

struct err *torch_unit_translate(
	const struct torch_project *p, struct arena *a, struct torch_unit *u, struct str bytes)
{
	const struct torch_selection *s = &p->select;
	struct torch_job job = {.path = u->path, .launches = p->launches, .trace = u->trace};
	bool in_place = str_eq(u->fin, u->fout);
	struct hipify_text t = {0};
	u->outcome = UNIT_MARKED;
	if (torch_is_marked(bytes))
		return NULL;
	if (!s->extension && s->generation == TORCH_V1) {
		if (torch_special_file(u->rel, s->fbgemm))
			job.map = TORCH_SPECIAL;
		else if (!torch_pytorch_file(u->rel, s->fbgemm))
			job.map = TORCH_CAFFE2;
	}
	job.include = u->include ? u->include : plain_include;
	job.user = u->include ? u->user : a;
	a = job.trace ? p->a : a; /* the traced file outlives the work */
	TRY(py_decode(a, job.trace ? str_dup(a, bytes) : bytes, &u->source));
	TRY(torch_text(a, p->engine, &job, u->source, &t));
	/* Results with these extensions begin with the line that marks them, unless they replace their source. The
	 * user's own extensions count too, or the next hipify would take the results for sources. */
	bool listed = (torch_ends_with_one(u->fin, &torch_source_extensions) &&
			      !str_ends(u->fin, S(".in"))) ||
		      torch_ends_with_one(u->fin, &p->o->extra_extensions);
	bool same_dir = s->extension && str_eq(py_dirname(u->fin), py_dirname(u->fout));
	u->outcome = str_eq(t.text, u->source) && (in_place || same_dir) ? UNIT_SAME : UNIT_CHANGED;
	if (u->outcome == UNIT_CHANGED && listed && !in_place)
		mark(a, &t);
	if (u->outcome == UNIT_CHANGED)
		u->text = t.text;
	if (job.trace)
		*p->one = (struct torch_one){
			.rel = p->one->rel, .found = true, .source = u->source, .text = t};
	return NULL;
}

/* ---- results ---- */

struct change *torch_add_file(struct torch_project *p, struct str source, struct str output)
{
	struct change *f = VEC_PUSH(p->a, &p->ret->changes);
	f->source = py_relpath(p->a, source, p->view->root, p->view->root);
	f->output = py_relpath(p->a, output, p->view->root, p->view->root);
	f->status = CHANGE_UNCHANGED;
	return f;
}

static void say(struct torch_project *p, const char *id, struct str path, struct str text)
{
	finding_note(
		p->a, &p->ret->findings, id, torch_unit_name(p, p->a, path), "%.*s", STR(text));
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
	if (!p->o->in_place || fs_access(u->fout, W_OK))
		return true;
	return errno == ENOENT && (fs_access(py_dirname(u->fout), W_OK) || errno == ENOENT);
}

void torch_say_not_writable(struct torch_project *p, const struct torch_unit *u)
{
	say(p, "hipify-not-writable", u->fout,
		str_fmt(p->a, "'%.*s' may not be written: '%.*s' is used as it is",
			STR(torch_unit_name(p, p->a, u->fout)),
			STR(torch_unit_name(p, p->a, u->fin))));
}
