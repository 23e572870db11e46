/* Turns a plan into jobs, each with the command line of its program. See make.h.
 *
 * cc/compile.h splits a source into passes; here each pass becomes a job. All names on command lines are relative to
 * the translated tree, so that the location of that tree leaves no trace in the output.
 */
#include "cc/compile.h"
#include "base/fs.h"
#include "base/progress.h"
#include "make/make.h"

#define HOST_ROOT "/run/host"     /* this machine's root, as a sandboxed compiler sees it */
#define POLICY_ROOT "/run/policy" /* likewise: root/ and own/ of a sysroot */
/* the Python headers, for a sandboxed compiler that cannot see this machine's root */
#define PYTHON_ROOT "/run/python"

struct str make_module_path(const struct make *m, const struct plan_module *module)
{
	return path_join(m->a, m->mod, job_file_name(m->a, module->file));
}

/* Does a compiler in a sandbox compile the host side against this machine's files? */
static bool sees_host(const struct make *m)
{
	return m->plan->host_native && m->sdk->root.n;
}

/* ---- the paths that compilers can see ---- */

static void add_bind(struct make *m, struct str path, struct str at)
{
	*VEC_PUSH(m->a, &m->binds) = (struct sdk_bind){.path = path, .at = at};
}

/* The path at which a compiler sees a folder of the plan's python_headers. */
static struct str headers_at(const struct make *m, size_t i)
{
	return m->sdk->root.n ? str_fmt(m->a, PYTHON_ROOT "/package%zu", i)
			      : m->plan->python_headers.v[i];
}

/* The path at which a compiler sees a folder of the plan's includes. */
static struct str include_at(const struct make *m, struct str dir)
{
	if (dir.p[0] == '/' && m->sdk->root.n)
		return str_fmt(m->a, "/run/%.*s", STR(make_outside(m, dir)));
	return path_clean(m->a, path_join(m->a, m->plan->project, dir));
}

struct err *make_open(struct make *m)
{
	const struct {
		const char *name;
		struct str *path;
	} dirs[] = {{.name = "hip", .path = &m->hip}, {.name = "obj", .path = &m->obj},
		{.name = "mod", .path = &m->mod}, {.name = "log", .path = &m->log},
		{.name = "stamp", .path = &m->stamp}, {.name = "tmp", .path = &m->tmp}};
	const struct host *h = &m->plan->host;
	struct str python = h->python_include;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		struct str dir = *dirs[i].path = path_join(m->a, m->dir, str_from(dirs[i].name));
		if (dirs[i].path == &m->tmp)
			TRY(fs_remove_tree(dir));
		if (fs_is_link(dir))
			return err_new(E_USAGE, "'%.*s' is a link: no folder of a build", STR(dir));
		TRY(fs_mkdirs(dir));
	}
	for (size_t i = 0; i < m->plan->python_headers.n; i++)
		add_bind(m, m->plan->python_headers.v[i], headers_at(m, i));
	if (sees_host(m))
		sdk_system_binds(m->a, S(HOST_ROOT), &m->binds);
	if (m->sysroot->root.n && sees_host(m)) {
		add_bind(m, m->sysroot->root, S(POLICY_ROOT "/root"));
		add_bind(m, m->sysroot->own, S(POLICY_ROOT "/own"));
	}
	VEC_EACH (const struct str, dir, &m->plan->includes)
		if (dir->p[0] == '/')
			add_bind(m, *dir, include_at(m, *dir));
	add_bind(m, m->plan->project, S(""));
	add_bind(m, m->hip, S(""));
	add_bind(m, m->obj, S(""));
	if (!m->plan->needs_python || !python.n || !m->sdk->root.n)
		return NULL;
	if (m->plan->host_native) {
		if (!str_starts(python, S("/usr/"))) /* a Python other than the system's */
			add_bind(m, python, str_fmt(m->a, HOST_ROOT "%.*s", STR(python)));
		return NULL;
	}
	/* Debian splits the headers: pyconfig.h is in /usr/include/TRIPLET/python3.11 */
	struct str inner = str_fmt(m->a, "%.*s/%.*s", STR(h->triplet), STR(path_base(python)));
	struct str arch = path_join(m->a, path_dir(python), inner);
	add_bind(m, python, S(PYTHON_ROOT "/include"));
	if (h->triplet.n && fs_is_dir(arch))
		add_bind(m, arch, str_fmt(m->a, PYTHON_ROOT "/arch/%.*s", STR(inner)));
	return NULL;
}

/* A job hook: adds the job's own folder, the only writable one, to the paths that all programs see. */
static struct err *wrap_job(struct arena *tmp, const struct job *j, struct proc *p)
{
	const struct make *m = j->set->user;
	struct sdk_binds binds = {0};
	VEC_EACH (const struct sdk_bind, b, &m->binds)
		*VEC_PUSH(tmp, &binds) = *b;
	*VEC_PUSH(tmp, &binds) = (struct sdk_bind){.path = j->work, .writable = true};
	return sdk_wrap(tmp, m->sdk, &binds, p);
}

/* A job hook: the path on this machine of a file that a depfile names; "" for the SDK's own files, which its
 * fingerprint covers. */
static struct str locate(struct arena *tmp, const struct job *j, struct str path)
{
	const struct make *m = j->set->user;
	if (!m->sdk->root.n)
		return path;
	if (str_starts(path, S(HOST_ROOT "/")))
		return str_sub(path, sizeof(HOST_ROOT) - 1, path.n);
	VEC_EACH (const struct sdk_bind, bind, &m->binds) {
		struct str at = bind->at.n ? bind->at : bind->path;
		struct str dir = str_fmt(tmp, "%.*s/", STR(at));
		if (str_starts(path, dir))
			return path_join(tmp, bind->path, str_sub(path, dir.n, path.n));
	}
	return S("");
}

/* The path on this machine of a file that a compiler named; "" if a link leads out of the SDK, as it does not inside. */
static struct str outside(struct arena *tmp, const struct front *f, struct str path)
{
	const struct job *j = f->user;
	const struct make *m = j->set->user;
	struct str ret = locate(tmp, j, path), real, root;
	if (ret.n)
		return ret;
	ret = sdk_outside(tmp, m->sdk, path);
	bool inside = fs_real(tmp, ret, &real) && fs_real(tmp, m->sdk->root, &root) &&
		      path_is_below(real, root);
	return inside ? ret : S("");
}

/* ---- command lines ---- */

static void add_args(struct arena *a, struct proc *p, const struct strs *args, const char *prefix)
{
	VEC_EACH (const struct str, s, args)
		strs_fmt(a, &p->argv, "%s%.*s", prefix, STR(*s));
}

/* Adds the flags of a compile or link: the SDK's, and this machine's files, or a sysroot, for the host side. ret_last: those
 * that follow the others in a link; NULL = a compile */
static void add_system(const struct make *m, struct proc *p, struct strs *ret_last)
{
	struct sdk_sysroot s = *m->sysroot;
	struct strs flags = {0}, link_flags = {0}, last = {0};
	bool inside = sees_host(m);
	add_args(m->a, p, &m->sdk->clang_flags, "");
	if (!inside && !s.root.n)
		return;
	if (inside && s.root.n)
		s = (struct sdk_sysroot){.root = S(POLICY_ROOT "/root"),
			.own = S(POLICY_ROOT "/own"),
			.machine = S(HOST_ROOT),
			.triplet = s.triplet};
	if (s.root.n)
		sysroot_flags(m->a, &s, &flags, &link_flags, ret_last ? ret_last : &last);
	else
		strs_add(m->a, &flags, S("--sysroot=" HOST_ROOT));
	add_args(m->a, p, &flags, "");
	strs_fmt(m->a, &p->argv, "--gcc-install-dir=%s%.*s", inside ? HOST_ROOT : "",
		STR(m->plan->host.gcc_dir));
	if (ret_last)
		add_args(m->a, p, &link_flags, "");
}

/* Adds the include folders: the translated tree, the project itself (for files that are not translated), Python's, the
 * SDK's. */
static void add_includes(const struct make *m, struct proc *p, const struct plan_source *src)
{
	struct arena *a = m->a;
	const struct plan *plan = m->plan;
	struct str python = plan->host.python_include, near;
	VEC_EACH (const struct str, dir, &plan->includes)
		strs_fmt(a, &p->argv, "-I%.*s",
			STR(dir->p[0] == '/' ? make_outside(m, *dir) : *dir));
	VEC_EACH (const struct str, dir, &plan->includes)
		strs_fmt(a, &p->argv, "-I%.*s", STR(include_at(m, *dir)));
	near = path_join(a, plan->project, path_dir(src->path));
	strs_fmt(a, &p->argv, "-iquote%.*s", STR(path_clean(a, near)));
	for (size_t i = 0; i < plan->python_headers.n; i++)
		strs_fmt(a, &p->argv, "-isystem%.*s", STR(headers_at(m, i)));
	/* this machine's Python headers if it has some, as the compiler sees them; else the SDK's */
	bool bound = !m->sdk_python.n && !sees_host(m) && m->sdk->root.n;
	if (m->sdk_python.n)
		python = str_fmt(a, "/usr/include/python%.*s", STR(m->sdk_python));
	else if (sees_host(m))
		python = str_fmt(a, HOST_ROOT "%.*s", STR(python));
	else if (bound)
		python = S(PYTHON_ROOT "/include");
	if (plan->needs_python)
		strs_fmt(a, &p->argv, "-isystem%.*s", STR(python));
	if (plan->needs_python && bound)
		proc_arg(a, p, "-isystem" PYTHON_ROOT "/arch", NULL);
	bool ours = false; /* rocsmith's own headers, beside the sources */
	VEC_EACH (const struct str, h, &m->tree.headers)
		ours |= hipify_is_our_header(*h);
	if (ours)
		proc_arg(a, p, "-idirafter.", NULL);
	/* clang finds HIP's headers by itself only if the language is HIP */
	if (src->lang != PLAN_HIP && m->sdk->include.n)
		strs_fmt(a, &p->argv, "-idirafter%.*s", STR(m->sdk->include));
}

/* The arguments that all passes of a compile share. */
static struct strs source_words(
	const struct make *m, const struct plan_source *src, const char *language)
{
	struct arena *a = m->a;
	struct proc p = {0};
	proc_arg(a, &p, "-x", language, "-c", NULL);
	strs_add(a, &p.argv, make_output(m, src));
	if (src->lang == PLAN_HIP) {
		/* the unit's id depends on names only, not on paths of this machine */
		struct str text = str_fmt(a, "%.*s %.*s %.*s", STR(m->plan->name),
			STR(m->plan->version), STR(src->path));
		struct str id = str_sub(sha256_hex(a, text), 0, 16);
		/* CUDA always has the *_sync warp functions; HIP's headers declare them on demand */
		proc_arg(a, &p, "-DHIP_ENABLE_WARP_SYNC_BUILTINS=1", NULL);
		strs_fmt(a, &p.argv, "-cuid=%.*s", STR(id));
		if (str_ends(src->path, S(".cu"))) /* the host's min() and max() as CUDA has them */
			proc_arg(a, &p, "-D__HIP_DEFINE_EXTENDED_HOST_MIN_MAX__=1",
				"-D__HIP_DEFINE_MIXED_HOST_MIN_MAX__=1", NULL);
	}
	add_system(m, &p, NULL);
	proc_arg(a, &p, "-O2", "-fPIC", "-D__HIP_PLATFORM_AMD__=1", "-fno-color-diagnostics",
		"-fno-caret-diagnostics", NULL);
	if (src->lang != PLAN_HIP) /* the SDK's flags are meant for HIP, and unused here */
		proc_arg(a, &p, "-Wno-unused-command-line-argument", NULL);
	strs_fmt(a, &p.argv, "-ffile-prefix-map=%.*s=.", STR(m->hip));
	strs_fmt(a, &p.argv, "-ffile-prefix-map=%.*s=.", STR(m->plan->project));
	add_args(a, &p, &m->plan->defines, "-D");
	add_args(a, &p, &m->plan->flags, "");
	add_includes(m, &p, src);
	return p.argv;
}

/* ---- jobs ---- */

/* Fills in the run of clang that writes the job's output, with an environment that has nothing of the user's. */
static void start_clang(struct make *m, struct job *j, struct str work)
{
	struct proc *p = &j->proc;
	j->work = work;
	p->cwd = m->hip;
	p->log = str_fmt(m->a, "%.*s/%.*s.log", STR(m->log), STR(path_base(j->output)));
	p->clear_env = true;
	STRS_ADD(m->a, &p->setenv, S("PATH=/usr/local/bin:/usr/bin:/bin"), S("LC_ALL=C.UTF-8"));
	strs_fmt(m->a, &p->setenv, "TMPDIR=%.*s", STR(j->work));
	strs_add(m->a, &p->argv, m->sdk->clang);
}

/* The job of the pass that needs no compiler. Its inputs are code objects, its key their GPUs. */
static struct err *join_objects(struct arena *tmp, struct job *j, struct str part)
{
	(void)tmp;
	return compile_join(&j->key, &j->inputs, part);
}

/* A program of a device pass. */
static struct err *run_program(
	struct arena *tmp, const struct front *f, const struct strs *argv, struct proc_result *ret)
{
	return job_run_program(tmp, f->user, argv, ret);
}

/* Runs a device pass. Its front ends are beside its object, under the name of the source (j->doubts). */
static struct err *run_device(
	struct arena *tmp, struct job *j, struct proc_result *ret, struct strs *io_inputs)
{
	const struct make *m = j->set->user;
	struct front_result done;
	struct strs libraries = sdk_compiler_dirs(tmp, m->sdk);
	const struct front f = {.share = m->plan->gpus.n > 1 ? m->share : FRONT_OFF,
		.store = j->doubts,
		.identity = j->set->toolchain,
		.hints = path_join(tmp, m->obj, S("compiler")),
		.compiler = sdk_outside(tmp, m->sdk, m->sdk->clang),
		.libraries = &libraries,
		.programs = &m->programs,
		.memory = m->memory,
		.cwd = j->proc.cwd,
		.outside = outside,
		.turn = str_fmt(tmp, "%.6f", m->began),
		.gpus = &m->plan->gpus,
		.run = run_program,
		.user = j};
	const struct compile_pass pass = {.gpu = j->report.gpu,
		.depfile = j->depfile,
		.work = j->work,
		.out = path_join(tmp, j->work, S(JOB_OUT)),
		.output = j->output};
	TRY(front_pass(tmp, &f, &pass, &j->proc.argv, &done));
	j->report.front = str_from(front_how_names[done.how]);
	*ret = done.run;
	if (done.said.n) /* the same for all passes that share a front end: make_add_warnings() */
		ret->err = done.said;
	if (done.doubt.n)
		strs_add(tmp, io_inputs, done.doubt);
	return NULL;
}

/* Adds the jobs that compile a source. word: one more argument, or NULL. Returns the last job, which makes the object
 * file. */
static struct job *add_compile(struct make *m, const struct plan_source *src, const char *word)
{
	static const char *const kinds[] = {
		[PLAN_HIP] = "host", [PLAN_CXX] = "c++", [PLAN_C] = "c"};
	struct arena *a = m->a;
	struct str source = make_output(m, src);
	struct str name = path_join(a, m->obj, job_file_name(a, src->path));
	struct compile_step step = {.kind = kinds[src->lang],
		.words = source_words(m, src, src->lang == PLAN_HIP ? "hip" : kinds[src->lang]),
		.object = str_fmt(a, "%.*s.o", STR(name)),
		.parts = name,
		.work = m->tmp,
		.depfiles = true};
	struct compile_passes passes;
	if (src->lang == PLAN_HIP)
		step.gpus = m->plan->gpus;
	if (word)
		strs_add(a, &step.words, str_from(word));
	compile_passes(a, &step, &passes);
	struct job **jobs = arena_array(a, passes.n, sizeof(*jobs));
	for (size_t i = 0; i < passes.n; i++) {
		const struct compile_pass *p = &passes.v[i];
		struct job *j = jobs[i] = job_add(&m->set, p->kind, src->path);
		j->report.gpu = p->gpu;
		j->expected.memory = compile_memory(j->report.kind);
		j->output = p->output;
		if (p->argv.n) {
			strs_add(a, &j->inputs,
				source.p[0] == '/' ? locate(a, j, source)
						   : path_join(a, m->hip, source));
			start_clang(m, j, p->work);
			strs_add_all(a, &j->proc.argv, &p->argv);
			j->depfile = p->depfile;
			/* a cache's key is the text: clang may not see that a precompiled header is old */
			j->run = src->lang == PLAN_HIP && !m->cache ? make_run_pass : NULL;
			if (p->gpu.n && m->share != FRONT_OFF) {
				j->run = run_device;
				j->doubts = str_fmt(a, "%.*s.front", STR(name));
				strs_add(a, &j->key, S("front end"));
				strs_add(a, &j->key, str_from(front_share_names[m->share]));
			}
		} else {
			j->make = join_objects;
		}
		for (size_t k = p->first; k < p->end; k++) {
			job_need(j, jobs[k]);
			strs_add(a, &j->inputs, jobs[k]->output);
			if (j->make)
				strs_add(a, &j->key, passes.v[k].gpu);
		}
	}
	return jobs[passes.n - 1];
}

static void link_object(struct make *m, struct job *j, struct job *object)
{
	job_need(j, object);
	strs_add(m->a, &j->inputs, object->output);
	strs_add(m->a, &j->proc.argv, object->output);
}

/* Adds the link of a module. objects: path of a source -> job that makes its object file */
static void add_link(struct make *m, const struct plan_module *module, const struct map *objects)
{
	struct arena *a = m->a;
	struct job *j = job_add(&m->set, "link", module->file);
	j->expected.memory = compile_memory(j->report.kind);
	struct proc *p = &j->proc;
	struct strs last = {0};
	j->output = make_module_path(m, module);
	start_clang(m, j, path_join(a, m->tmp, path_base(j->output)));
	proc_arg(a, p, "-o", path_join(a, j->work, S(JOB_OUT)).p, NULL);
	if (module->program) /* the SDK's libraries may be for a newer libc than this machine's */
		proc_arg(a, p, "-pie", "-Wl,--allow-shlib-undefined", NULL);
	else
		strs_fmt(a, &p->argv, "-Wl,-soname,%.*s", STR(path_base(module->file)));
	VEC_EACH (const struct str, path, &module->sources)
		link_object(m, j, map_get(objects, *path));
	for (size_t i = 0; i < m->shared.n; i++)
		link_object(m, j, m->shared.v[i]);
	add_system(m, p, &last);
	if (!module->program)
		proc_arg(a, p, "-shared", NULL);
	proc_arg(a, p, "-fPIC", "-fuse-ld=lld", "-Wl,--build-id=sha1",
		"-Wno-unused-command-line-argument", NULL);
	add_args(a, p, &m->sdk->lib_dirs, "-L");
	add_args(a, p, &last, "");
	proc_arg(a, p, "-lamdhip64", "-Wl,--as-needed", NULL);
	add_args(a, p, &m->plan->libraries, "-l");
}

void make_jobs(struct make *m)
{
	static const struct job_hooks hooks = {
		.wrap = wrap_job, .locate = locate, .explain = make_diagnose};
	struct arena *a = m->a;
	struct str name;
	MAP(objects, a);
	m->set = (struct jobs){.a = a,
		.hooks = &hooks,
		.user = m,
		.stamps_dir = m->stamp,
		.toolchain = str_fmt(a, "%.*s%.*s", STR(m->sdk->fingerprint), STR(m->sysroot->key)),
		.cache = m->cache,
		.identity = str_fmt(a, "%.*s%.*s", STR(m->identity), STR(m->sysroot->key)),
		.programs = &m->programs,
		.began = m->began};
	const struct cached_root roots[] = {
		{"hip", m->hip}, {"obj", m->obj}, {"project", m->plan->project}};
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		*VEC_PUSH(a, &m->set.roots) = roots[i];
	VEC_EACH (const struct plan_source, src, &m->plan->sources)
		map_put(&objects, src->path, add_compile(m, src, NULL));
	/* some Python packages ship a source with their headers, whose object goes into every module */
	for (size_t i = 0; i < m->plan->python_headers.n; i++) {
		if (!plan_is_header_folder(m->plan->python_headers.v[i], &name) || !name.n)
			continue;
		struct plan_source *src = NEW(a, struct plan_source);
		*src = (struct plan_source){.path = name,
			.output = path_join(a, headers_at(m, i), name),
			.lang = PLAN_CXX};
		*VEC_PUSH(a, &m->shared) =
			add_compile(m, src, "-fno-strict-aliasing"); /* nanobind needs it */
	}
	VEC_EACH (const struct plan_module, module, &m->plan->modules)
		add_link(m, module, &objects);
}

/* Adds a finding for each object that came out otherwise with a shared front end. Is a second run needed, as other objects may
 * have been made with that front end before? */
static bool find_differences(struct make *m)
{
	bool any = false;
	for (size_t i = 0; i < m->set.all.n; i++) {
		const struct job *j = m->set.all.v[i];
		struct str other = str_fmt(m->a, "%.*s.shared", STR(j->output));
		if (!j->report.gpu.n || m->share == FRONT_OFF || !fs_present(other))
			continue;
		any = true;
		struct finding *f = finding_note(m->a, &m->findings, "front-end-differs", j->output,
			"the object of '%.*s' for %.*s differs with a shared front end: '%.*s'; "
			"the "
			"direct one is used",
			STR(j->report.name), STR(j->report.gpu), STR(other));
		f->severity = m->share == FRONT_PROVE ? SEV_ERROR : SEV_WARNING;
		finding_fix(m->a, f, "rocsmith build --share-frontend=off");
		progress_warn("%.*s", STR(f->message));
	}
	return any;
}

static struct err *run_jobs(struct make *m)
{
	make_jobs(m);
	struct str what =
		str_fmt(m->a, "%.*s for %.*s", STR(human_count(m->a, m->plan->sources.n, "source")),
			STR(str_join(m->a, &m->plan->gpus, S(", "))));
	m->set.progress = progress_begin(S("Compiling"), what, UNIT_ITEMS, m->set.all.n);
	struct err *e = jobs_run(&m->set, m->jobs, m->keep_going ? &m->failures : NULL);
	progress_end(m->set.progress);
	return e;
}

struct err *make_compile(struct make *m)
{
	CLEANUP(front_memory_freep) struct front_memory *memory = front_memory_new();
	ARENA(of_headers);
	struct make_headers headers = {.lock = PTHREAD_MUTEX_INITIALIZER, .a = &of_headers};
	m->memory = memory;
	m->headers = &headers;
	TRY(fs_write(path_join(m->a, m->obj, S("hip_runtime.hip")),
		S("#include <hip/hip_runtime.h>\n"), 0644 | FS_IF_CHANGED));
	struct err *e = run_jobs(m);
	/* the stamp of an object is void once its front end was found wrong, by another pass */
	if (!e && find_differences(m)) {
		jobs_keep(&m->set);
		e = run_jobs(m);
	}
	jobs_keep(&m->set);
	e = err_join(e, make_headers_prune(m));
	m->memory = NULL;
	m->headers = NULL;
	for (size_t i = 0; i < m->set.all.n; i++)
		make_add_warnings(m, m->set.all.v[i], job_said(m->a, m->set.all.v[i]));
	return e;
}
