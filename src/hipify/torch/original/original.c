/* Runs a torch's own hipify in Python, on a scratch copy: torch_run_python().
 *
 * In the scratch folder, files/ mirrors absolute paths, so that folders outside the project keep their
 * position relative to it, and module/ holds the hipify that driver.py runs. The copy has everything that
 * the Python code may open or look for: files whose endings the algorithm mentions, files that
 * build_amd.py mentions, and all folders. Links to copied files and folders stay links, so that results
 * are written through them as they would be in the tree. Everything is read through the view. .git, build
 * and third_party are left out where the original does not visit them either.
 *
 * The user's tree is never written, and the copy is removed on every exit. Python's results are the
 * files newer than the job. Its report (driver.py) names the source of each; files that build_amd.py
 * itself edits or copies are results without a source.
 */
#include "base/fs.h"
#include "base/proc.h"
#include "base/progress.h"
#include "hipify/torch/run/project.h"
#include "lang/python/text.h"

enum { RESULT_LIMIT = 256 << 20, TIME_LIMIT = 3600 };

struct scratch {
	struct arena *a;
	const struct hipify_options *o;
	const struct torch_source *s;
	const struct view *view;
	struct str top, files; /* absolute, without links; files = TOP/files */
	struct str root;       /* the root of the copy */
	struct str script;     /* mode torch: the text of build_amd.py */
	struct strs endings;   /* extensions of the files to copy */
	struct map names;      /* mode torch: quoted texts of the script, as file names */
	struct map there;      /* paths that were copied */
	struct map made;       /* path outside the copy -> struct made_file * */
	struct hipify_tree *ret;
};

extern const struct str torch_driver; /* the text of driver.py */

struct made_file {               /* a file that Python wrote */
	struct str path, source; /* absolute paths outside the copy; source "" = not by hipify */
	struct str text;
	bool listed;
};

static struct str scratch_path(const struct scratch *c, struct str path)
{
	return str_fmt(c->a, "%.*s%.*s", STR(c->files), STR(path));
}

/* ---- the copy: choosing files ---- */

/* Collects the quoted texts of each line, in either kind of quotes. */
static void find_quoted(struct str text, struct map *ret)
{
	struct str line;
	while (str_next(&text, '\n', &line)) {
		for (size_t i = 0; i < line.n; i++) {
			char quote = line.p[i];
			if (quote != '"' && quote != '\'')
				continue;
			struct str rest = str_sub(line, i + 1, line.n);
			size_t n = str_chr(rest, quote);
			if (n < rest.n)
				map_put(ret, str_sub(rest, 0, n), ret);
			i += 1 + n;
		}
	}
}

static bool matters(const struct scratch *c, struct str path)
{
	return torch_ends_with_one(path, &c->endings) ||
	       map_get(&c->names, path_rel(c->a, path, c->view->root));
}

/* ---- the copy: files ---- */

static struct err *copy_file(struct scratch *c, struct str path)
{
	ARENA(tmp);
	struct stat st;
	struct str text, to = scratch_path(c, path);
	if (map_get(&c->there, path))
		return NULL;
	map_put(&c->there, str_dup(c->a, path), c);
	TRY(view_read(c->view, &tmp, path, &text));
	TRY(fs_stat(path, &st));
	TRY(fs_mkdirs(path_dir(to)));
	return fs_write(to, text, (st.st_mode & 0777) | 0400 | FS_LOOSE);
}

/* Copies a link: as a link if its target is in the copied folder, otherwise as the file it leads to. */
static struct err *copy_link(struct scratch *c, struct str path)
{
	ARENA(tmp);
	struct str real, root, target;
	struct stat st;
	if (!fs_real(&tmp, path, &real) || (matters(c, path) && view_leads_out(c->view, path)))
		return NULL;
	TRY(fs_stat(path, &st));
	bool file = S_ISREG(st.st_mode), inside = fs_real(&tmp, c->view->root, &root) &&
						  path_is_inside(path_rel(&tmp, real, root));
	if (!inside || (file && !matters(c, real)))
		return file && matters(c, path) ? copy_file(c, path) : NULL;
	TRY(fs_readlink(&tmp, path, &target));
	if (target.p[0] == '/')
		target = scratch_path(c, target);
	return fs_symlink(target, scratch_path(c, path));
}

static struct err *copy_dir(struct scratch *c, struct str dir)
{
	ARENA(tmp);
	struct fs_names names = {0};
	struct stat st;
	bool torch_top = c->o->mode == HIPIFY_TORCH && str_eq(dir, c->view->root);
	TRY(fs_scan(&tmp, dir, &names, &st));
	view_note_dir(c->view, dir, &st);
	TRY(fs_mkdirs(scratch_path(c, dir)));
	VEC_EACH (const struct fs_name, n, &names) {
		struct str path = path_join(&tmp, dir, n->name);
		bool pruned = str_eq(n->name, S(".git")) ||
			      (torch_top && (str_eq(n->name, S("build")) ||
						    str_eq(n->name, S("third_party"))));
		if (view_hides(c->view, path) || (n->dir && pruned))
			continue;
		if (n->link)
			TRY(copy_link(c, path));
		else if (n->dir)
			TRY(copy_dir(c, path));
		else if (fs_is_file(path) && matters(c, path))
			TRY(copy_file(c, path));
	}
	return NULL;
}

/* Copies a file or folder that is outside the project, or was left out there; it may be absent. */
static struct err *copy_other(struct scratch *c, struct str path)
{
	struct str rel = path_rel(c->a, path, c->view->root);
	bool there = path_is_inside(rel) && fs_exists(scratch_path(c, path));
	if (there || !view_exists(c->view, path))
		return NULL;
	return fs_is_dir(path) ? copy_dir(c, path) : copy_file(c, path);
}

/* Copies a source; if it is outside the project, also the headers next to it. */
static struct err *copy_beside(struct scratch *c, struct str source)
{
	struct str dir = path_dir(source);
	struct fs_names names = {0};
	struct stat st;
	TRY(copy_other(c, source));
	if (path_is_inside(path_rel(c->a, source, c->view->root)) || !fs_is_dir(dir))
		return NULL;
	TRY(fs_scan(c->a, dir, &names, &st));
	view_note_dir(c->view, dir, &st);
	VEC_EACH (const struct fs_name, n, &names) {
		struct str path = path_join(c->a, dir, n->name);
		if (!n->dir && fs_is_file(path) && matters(c, path))
			TRY(copy_file(c, path));
	}
	return NULL;
}

static struct err *copy_more(struct scratch *c)
{
	const struct hipify_options *o = c->o;
	struct str root = c->view->root;
	/* Copies the parts of third_party that the script names: the file "third_party/nvfuser/csrc/x.cpp",
	 * or the folder of "third_party/nvfuser/\*". */
	VEC_EACH (const struct map_entry, e, &c->names) {
		struct str name = e->key;
		size_t star = str_chr(name, '*');
		if (!str_starts(name, S("third_party/")) || star <= S("third_party/").n)
			continue;
		if (star < name.n)
			name = path_dir(str_sub(name, 0, star + 1));
		TRY(copy_other(c, py_join(c->a, root, name)));
	}
	VEC_EACH (const struct str, path, &o->extra_include)
		TRY(copy_other(c, py_abspath(c->a, *path, root)));
	if (o->mode != HIPIFY_EXTENSION)
		return NULL;
	VEC_EACH (const struct str, path, &o->include_dirs)
		TRY(copy_other(c, py_abspath(c->a, *path, root)));
	VEC_EACH (const struct str, path, &o->sources)
		TRY(copy_beside(c, py_abspath(c->a, *path, root)));
	return NULL;
}

/* Fills the scratch folder with the copy, the driver and the module. */
static struct err *fill_scratch(struct scratch *c)
{
	const struct torch_source *s = c->s;
	const struct {
		struct str dir, name, text;
	} files[] = {
		{c->top, S("driver.py"), torch_driver},
		{c->top, S("module/hipify/cuda_to_hip_mappings.py"), s->mappings.text},
		{c->top, S("module/hipify/hipify_python.py"), s->algorithm.text},
		{c->top, S("module/hipify/constants.py"), s->constants.text},
		{c->top, S("module/hipify/version.py"), s->hipify_version.text},
		{c->root, S(TORCH_BUILD_AMD), c->script},
	};
	/* The endings and names of files that the Python code may open or look for. An ending is a quoted text
	 * such as ".cuh". */
	MAP(quoted, c->a);
	strs_add_all(c->a, &c->endings, &torch_source_extensions); /* includes those of headers */
	strs_add_all(c->a, &c->endings, &c->o->extra_extensions);
	find_quoted(s->algorithm.text, &quoted);
	VEC_EACH (const struct map_entry, e, &quoted) {
		struct str end = e->key;
		bool good = end.n >= 2 && end.n <= 8 && end.p[0] == '.';
		for (size_t i = 1; good && i < end.n; i++)
			good = strchr("abcdefghijklmnopqrstuvwxyz+", end.p[i]) != NULL;
		if (good)
			strs_put(c->a, &c->endings, end);
	}
	find_quoted(c->script, &c->names);
	TRY(copy_dir(c, c->view->root));
	TRY(copy_more(c));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct str path = path_join(c->a, files[i].dir, files[i].name);
		if (!files[i].text.p)
			continue;
		TRY(fs_mkdirs(path_dir(path)));
		TRY(fs_write(path, files[i].text, 0600 | FS_LOOSE));
	}
	return NULL;
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
	struct torch_tables own = {.generation = c->s->generation};
	BUF(b, c->a);
	add(&b, "root", c->root);
	add(&b, "files", c->files);
	add(&b, "module", path_join(c->a, c->top, S("module")));
	add(&b, "package", path_dir(path_abs(c->a, c->s->algorithm.path)));
	add(&b, "result", path_join(c->a, c->top, S("result")));
	add(&b, "generation", c->s->generation == TORCH_V1 ? S("1") : S("2"));
	if (o->launches > LAUNCHES_AUTO)
		add(&b, "launches", str_from(hipify_launches[o->launches]));
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
	return fs_write(path_join(c->a, c->top, S("job")), buf_str(&b), 0600 | FS_LOOSE);
}

static struct err *run_python(struct scratch *c)
{
	struct proc p = {.cwd = c->root, .timeout = TIME_LIMIT};
	struct proc_result r;
	if (!proc_find(c->a, S("python3")).n)
		return err_hint(err_new(E_TOOL_MISSING,
					"'python3', which runs PyTorch's hipify, is missing"),
			"rocsmith's own engine needs no Python: leave out what asks for that of "
			"torch");
	TRY(put_job(c));
	proc_arg(c->a, &p, "python3", "-I", "-B", "-X", "utf8", NULL);
	strs_add(c->a, &p.argv, path_join(c->a, c->top, S("driver.py")));
	strs_add(c->a, &p.argv, path_join(c->a, c->top, S("job")));
	CLEANUP(progress_endp)
	struct progress *at = progress_begin(S("Running"), S("PyTorch's own hipify"), UNIT_NONE, 0);
	progress_add(at, 0, S(""));
	struct err *e = proc_check(c->a, &p, &r);
	if (!e)
		return NULL;
	/* Turn paths in the copy into the user's paths. */
	struct str detail = str_from(e->detail);
	if (str_contains(detail, c->files))
		err_detail(e, py_str_replace(c->a, detail, c->files, S("")));
	return err_wrap(e, "PyTorch's own hipify failed");
}

/* ---- the results ---- */

static void take(struct made_file *m, struct change *f)
{
	f->text = m->text;
	f->status = CHANGE_OK;
	m->listed = true;
}

/* Reads a file that Python wrote, unless it has the text that it had. */
static struct err *read_made(struct scratch *c, struct str path, struct str source)
{
	struct str old = {0}, text;
	TRY(fs_read(c->a, scratch_path(c, path), RESULT_LIMIT, &text));
	if (map_get(&c->there, path))
		TRY(view_read(c->view, c->a, path, &old));
	if (old.p && str_eq(old, text))
		return NULL;
	struct made_file *m = NEW(c->a, struct made_file);
	*m = (struct made_file){.path = path, .source = source, .text = text};
	map_put(&c->made, path, m);
	return NULL;
}

/* Reads the report: "made" PATH SOURCE for each file that was written, then "result" SOURCE OUTPUT STATUS. */
static struct err *collect(struct scratch *c)
{
	struct torch_project p = {.a = c->a, .view = c->view, .ret = c->ret};
	struct str report, word[4];
	TRY(fs_read(c->a, path_join(c->a, c->top, S("result")), RESULT_LIMIT, &report));
	while (report.n) {
		for (unsigned i = 0; i < 4; i++)
			if (!str_next(&report, 0, &word[i]))
				return err_new(E_INTERNAL, "the report of the driver is cut short");
		struct str source = word[1], output = word[2].n ? word[2] : source;
		if (str_eq(word[0], S("made"))) {
			TRY(read_made(c, word[1], word[2]));
			continue;
		}
		if (str_contains(word[3], S("ignored")))
			continue;
		struct made_file *m = word[2].n ? map_get(&c->made, output) : NULL;
		struct change *f = torch_add_file(&p, source, output);
		if (m && str_eq(m->source, source) && !m->listed)
			take(m, f);
		else if (str_eq(word[3], S("[ok]"))) /* overwritten by that of another source */
			f->status = CHANGE_OK;
	}
	for (size_t i = 0; i < c->made.n; i++) {
		struct made_file *m = c->made.v[i].value;
		if (!m->listed)
			take(m, torch_add_file(&p, m->source.n ? m->source : m->path, m->path));
	}
	return NULL;
}

/* ---- the entry point ---- */

struct err *torch_run_python(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct hipify_tree *ret)
{
	CLEANUP(fs_tempdirp) struct str dir = S("");
	struct scratch c = {.a = a, .o = o, .s = s, .view = view, .ret = ret};
	struct torch_file script = {0};
	c.names.a = c.there.a = c.made.a = a;
	TRY(fs_tempdir(a, S(""), &dir));
	if (!fs_real(a, dir, &c.top)) /* the original uses its folder's real path */
		c.top = dir;
	c.files = path_join(a, c.top, S("files"));
	c.root = scratch_path(&c, view->root);
	if (o->mode == HIPIFY_TORCH)
		TRY(torch_find_build_amd(a, o->dir, s, view, &script));
	c.script = script.text;
	TRY(fill_scratch(&c));
	TRY(cancel_check());
	TRY(run_python(&c));
	return collect(&c);
}
