/* A torch's own hipify, run by Python on a scratch copy: torch_run_python().
 *
 * Nothing of the user's tree is written, and the copy is removed on every way out. What Python made
 * is what is newer than the last file of the copy. Its report (driver.py) tells which source
 * each result has; files that build_amd.py itself edits or copies are results without a source.
 */
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/progress.h"
#include "hipify/torch/original/original.h"
#include "hipify/torch/run/select.h"
#include "lang/python/path.h"
#include "lang/python/text.h"

enum { RESULT_LIMIT = 256 << 20, TIME_LIMIT = 3600 };

struct made {                    /* a file that Python wrote */
	struct str path, source; /* real absolute paths; source "" = not hipify's */
	struct str text;
	bool listed;
};

struct collect {
	struct scratch *c;
	struct hipify_tree *ret;
	struct map made; /* real path -> struct made * */
	struct timespec since;
};

static void remove_scratch(struct scratch *c)
{
	if (c->top.n)
		err_free(fs_remove_tree(c->top));
}

/* ---- the job ---- */

static void add(struct buf *b, const char *key, struct str value)
{
	buf_add(b, str_from(key));
	buf_char(b, 0);
	buf_add(b, value);
	buf_char(b, 0);
}

static void add_paths(struct scratch *c, struct buf *b, const char *key, const struct strs *list)
{
	VEC_EACH (const struct str, p, list)
		add(b, key, str_starts(*p, S("/")) ? scratch_path(c, *p) : *p);
}

static struct err *put_job(struct scratch *c)
{
	const struct hipify_options *o = c->o;
	static const char *const launches[] = {
		[LAUNCHES_REWRITE] = "rewrite", [LAUNCHES_KEEP] = "keep"};
	struct torch_tables own = {.generation = c->s->generation};
	BUF(b, c->a);
	add(&b, "root", c->root);
	add(&b, "files", c->files);
	add(&b, "module", path_join(c->a, c->top, S("module")));
	add(&b, "result", path_join(c->a, c->top, S("result")));
	add(&b, "generation", c->s->generation == TORCH_V1 ? S("1") : S("2"));
	if (launches[o->launches])
		add(&b, "launches", str_from(launches[o->launches]));
	VEC_EACH (const struct str, i, &o->ignore)
		add(&b, "ignore", scratch_path(c, py_join(c->a, c->view->root, *i)));
	VEC_EACH (const struct str, e, &o->extra_extensions)
		add(&b, "ending", *e);
	if (o->map_text.p)
		TRY(torch_tables_add(c->a, o->map, o->map_text, &own));
	VEC_EACH (const struct torch_entry, e, &own.names) {
		add(&b, "from", e->from);
		add(&b, "to", e->to);
	}
	if (o->mode == HIPIFY_TORCH) {
		add(&b, "script", path_join(c->a, c->root, S(TORCH_BUILD_AMD)));
		if (o->out_of_place_only)
			add(&b, "argument", S("--out-of-place-only"));
		if (o->extra_include.n)
			add(&b, "argument", S("--extra-include-dir"));
		add_paths(c, &b, "argument", &o->extra_include);
	} else {
		add_paths(c, &b, "include", &o->include_dirs);
		VEC_EACH (const struct str, s, &o->sources)
			add(&b, "source", scratch_path(c, py_abspath(c->a, *s, c->view->root)));
	}
	TRY(fs_stage(path_join(c->a, c->top, S("driver.py")), torch_driver, 0600));
	return fs_stage(path_join(c->a, c->top, S("job")), buf_str(&b), 0600);
}

/* Where an older build_amd.py looks whether the compiler knows <<<>>>. */
static struct err *set_compiler(struct scratch *c, struct proc *p)
{
	struct str hip = path_join(c->a, c->top, S("hip"));
	if (c->o->launches <= LAUNCHES_AUTO)
		return NULL;
	strs_add(c->a, &p->setenv, str_fmt(c->a, "HIP_PATH=%.*s", STR(hip)));
	if (c->o->launches == LAUNCHES_REWRITE)
		return NULL;
	TRY(fs_mkdirs(path_join(c->a, hip, S("lib"))));
	return fs_stage(path_join(c->a, hip, S("lib/.hipInfo")), S("HIP_COMPILER=clang\n"), 0600);
}

static struct err *run(struct scratch *c)
{
	struct proc p = {.cwd = c->root, .timeout = TIME_LIMIT};
	struct proc_result r;
	if (!proc_find(c->a, S("python3")).n)
		return err_hint(err_new(E_TOOL_MISSING,
					"'python3', which runs PyTorch's hipify, is missing"),
			"rocsmith's own engine needs no Python: leave out what asks for that of "
			"torch");
	TRY(put_job(c));
	TRY(set_compiler(c, &p));
	proc_arg(c->a, &p, "python3", "-I", "-B", "-X", "utf8", NULL);
	strs_add(c->a, &p.argv, path_join(c->a, c->top, S("driver.py")));
	strs_add(c->a, &p.argv, path_join(c->a, c->top, S("job")));
	CLEANUP(progress_endp)
	struct progress *at = progress_begin(S("Running"), S("PyTorch's own hipify"), UNIT_NONE, 0);
	progress_add(at, 0, S(""));
	struct err *e = proc_check(c->a, &p, &r);
	if (!e)
		return NULL;
	/* Paths of the copy become those they stand for. */
	struct str detail = str_from(e->detail);
	if (str_contains(detail, c->files))
		err_detail(e, py_str_replace(c->a, detail, c->files, S("")));
	return err_wrap(e, "PyTorch's own hipify failed");
}

/* ---- what came of it ---- */

static struct str real_path(const struct collect *l, struct str copy)
{
	struct str files = l->c->files;
	return str_starts(copy, files) ? str_dup(l->c->a, str_sub(copy, files.n, copy.n)) : copy;
}

static bool newer(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static struct err *note_made(void *user, const struct fs_entry *e, bool *prune)
{
	struct collect *l = user;
	struct arena *a = l->c->a;
	struct str old = {0}, text;
	(void)prune;
	if (!S_ISREG(e->st.st_mode) || !newer(e->st.st_mtim, l->since))
		return NULL;
	struct str path = path_join(a, S("/"), e->path);
	TRY(fs_read(a, scratch_path(l->c, path), RESULT_LIMIT, &text));
	if (map_get(&l->c->there, path))
		TRY(view_read(l->c->view, a, path, &old));
	if (old.p && str_eq(old, text))
		return NULL;
	struct made *m = NEW(a, struct made);
	*m = (struct made){.path = path, .source = S(""), .text = text};
	map_put(&l->made, path, m);
	return NULL;
}

static struct change *list(struct collect *l, struct str source, struct str output)
{
	struct arena *a = l->c->a;
	struct str root = l->c->view->root;
	struct change *f = VEC_PUSH(a, &l->ret->changes);
	*f = (struct change){
		.source = py_relpath(a, source, root, root),
		.output = py_relpath(a, output, root, root),
		.status = CHANGE_UNCHANGED,
	};
	return f;
}

static void take(struct made *m, struct change *f)
{
	f->text = m->text;
	f->status = CHANGE_OK;
	m->listed = true;
}

/* One line of the report about a source. */
static void list_result(struct collect *l, struct str source, struct str output, struct str status)
{
	struct made *m = output.n ? map_get(&l->made, output) : NULL;
	if (str_contains(status, S("ignored")))
		return;
	struct change *f = list(l, source, output.n ? output : source);
	if (m && str_eq(m->source, source) && !m->listed)
		take(m, f);
	else if (str_eq(status, S("[ok]"))) /* another source's result took its place */
		f->status = CHANGE_OK;
}

static struct err *each_line(struct collect *l, struct str report, bool results)
{
	struct str word[4];
	while (report.n) {
		for (unsigned i = 0; i < 4; i++)
			if (!str_next(&report, 0, &word[i]))
				return err_new(E_INTERNAL, "the report of the driver is cut short");
		struct str first = real_path(l, word[1]), second = real_path(l, word[2]);
		struct made *m = map_get(&l->made, first);
		if (results && str_eq(word[0], S("result")))
			list_result(l, first, second, word[3]);
		else if (!results && m && str_eq(word[0], S("written")))
			m->source = second;
	}
	return NULL;
}

static struct err *collect(struct collect *l)
{
	struct scratch *c = l->c;
	struct str report;
	struct stat st;
	TRY(fs_stat(path_join(c->a, c->top, S("job")), &st));
	l->since = st.st_mtim;
	TRY(fs_walk(c->files, note_made, l));
	TRY(fs_read(c->a, path_join(c->a, c->top, S("result")), RESULT_LIMIT, &report));
	TRY(each_line(l, report, false));
	TRY(each_line(l, report, true));
	for (size_t i = 0; i < l->made.n; i++) {
		struct made *m = l->made.v[i].value;
		if (!m->listed)
			take(m, list(l, m->source.n ? m->source : m->path, m->path));
	}
	return NULL;
}

/* ---- the whole ---- */

struct err *torch_run_python(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct hipify_tree *ret)
{
	CLEANUP(remove_scratch)
	struct scratch c = {.a = a, .o = o, .s = s, .view = view};
	struct collect l = {.c = &c, .ret = ret, .made.a = a};
	struct torch_file script = {0};
	struct str top;
	TRY(fs_tempdir(a, S(""), &c.top));
	if (fs_real(a, c.top, &top)) /* the original takes its folder's real path */
		c.top = top;
	c.files = path_join(a, c.top, S("files"));
	c.root = scratch_path(&c, view->root);
	if (o->mode == HIPIFY_TORCH)
		TRY(torch_find_build_amd(a, o->dir, s, view, &script));
	c.script = script.text;
	TRY(scratch_fill(&c));
	TRY(cancel_check());
	TRY(run(&c));
	return collect(&l);
}
