/* Turns a plan into jobs: which programs run with which arguments. See make.h.
 *
 * For each HIP source: one device-only pass per GPU, a bundle of their code objects, and a
 * host-only pass that embeds the bundle. With a fixed -cuid this gives, byte by byte, what one
 * clang run for all GPUs gives, but passes run in parallel, and a GPU more costs that GPU's passes
 * only (measured with clang 21). All names on command lines are relative to the translated tree, so
 * that the folder it lies in leaves no trace in the output.
 */
#include "base/fs.h"
#include "base/map.h"
#include "base/progress.h"
#include "formats/bundle.h"
#include "make/make.h"

#define HOST_ROOT "/run/host" /* where a sandboxed compiler sees this machine's root */
/* The machine's Python headers, for a compiler that sees nothing else of the machine. */
#define PYTHON_ROOT "/run/python"

struct str make_module_path(const struct make *m, const struct plan_module *module)
{
	return path_join(m->a, m->mod, job_file_name(m->a, module->file));
}

/* The host side is compiled against this machine's files, from inside a sandbox. */
static bool sees_host(const struct make *m)
{
	return m->plan->host_native && m->sdk->sandbox;
}

/* ---- what compilers see of the machine ---- */

/* Debian's pyconfig.h lies apart: /usr/include/TRIPLET/python3.11 beside /usr/include/python3.11 */
static void bind_python(struct make *m)
{
	const struct host *h = &m->plan->host;
	struct str dir = h->python_include;
	if (!m->plan->needs_python || !dir.n || !m->sdk->sandbox)
		return;
	if (m->plan->host_native) { /* of a Python that is not the system's */
		if (!str_starts(dir, S("/usr/")))
			*VEC_PUSH(m->a, &m->binds) = (struct sdk_bind){
				.path = dir, .at = str_fmt(m->a, HOST_ROOT "%.*s", STR(dir))};
		return;
	}
	*VEC_PUSH(m->a, &m->binds) =
		(struct sdk_bind){.path = dir, .at = S(PYTHON_ROOT "/include")};
	struct str inner = str_fmt(m->a, "%.*s/%.*s", STR(h->triplet), STR(path_base(dir)));
	struct str arch = path_join(m->a, path_dir(dir), inner);
	if (h->triplet.n && fs_is_dir(arch))
		*VEC_PUSH(m->a, &m->binds) = (struct sdk_bind){
			.path = arch, .at = str_fmt(m->a, PYTHON_ROOT "/arch/%.*s", STR(inner))};
}

/* Where a compiler sees a folder of the plan's python_headers. */
static struct str headers_at(const struct make *m, size_t i)
{
	return m->sdk->sandbox ? str_fmt(m->a, PYTHON_ROOT "/package%zu", i)
			       : m->plan->python_headers.v[i];
}

struct err *make_open(struct make *m)
{
	const struct {
		const char *name;
		struct str *path;
	} dirs[] = {{.name = "hip", .path = &m->hip}, {.name = "obj", .path = &m->obj},
		{.name = "mod", .path = &m->mod}, {.name = "log", .path = &m->log},
		{.name = "stamp", .path = &m->stamp}, {.name = "tmp", .path = &m->tmp}};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		struct str dir = *dirs[i].path = path_join(m->a, m->dir, str_from(dirs[i].name));
		if (dirs[i].path == &m->tmp)
			TRY(fs_remove_tree(dir));
		if (fs_is_link(dir))
			return err_new(E_USAGE, "'%.*s' is a link: no folder of a build", STR(dir));
		TRY(fs_mkdirs(dir));
	}
	for (size_t i = 0; i < m->plan->python_headers.n; i++)
		*VEC_PUSH(m->a, &m->binds) = (struct sdk_bind){
			.path = m->plan->python_headers.v[i], .at = headers_at(m, i)};
	if (sees_host(m))
		sdk_system_binds(m->a, S(HOST_ROOT), &m->binds);
	*VEC_PUSH(m->a, &m->binds) = (struct sdk_bind){.path = m->plan->project};
	*VEC_PUSH(m->a, &m->binds) = (struct sdk_bind){.path = m->hip};
	*VEC_PUSH(m->a, &m->binds) = (struct sdk_bind){.path = m->obj};
	bind_python(m);
	return NULL;
}

/* Of what the others see, each writes its own folder. */
static struct err *wrap(struct arena *tmp, const struct job *j, struct proc *p)
{
	const struct make *m = j->set->user;
	struct sdk_binds binds = {0};
	VEC_EACH (const struct sdk_bind, b, &m->binds)
		*VEC_PUSH(tmp, &binds) = *b;
	*VEC_PUSH(tmp, &binds) = (struct sdk_bind){.path = j->work, .writable = true};
	return sdk_wrap(tmp, m->sdk, &binds, p);
}

/* Empty for the SDK's own files, which its fingerprint stands for. */
static struct str locate(struct arena *tmp, const struct job *j, struct str path)
{
	const struct make *m = j->set->user;
	if (!m->sdk->sandbox)
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

static struct err *explain(struct arena *tmp, const struct job *j, const struct proc_result *r)
{
	return make_diagnose(tmp, j->set->user, j, r);
}

/* ---- flags ---- */

static void add_args(struct arena *a, struct proc *p, const struct strs *args, const char *prefix)
{
	VEC_EACH (const struct str, s, args)
		strs_add(a, &p->argv, str_fmt(a, "%s%.*s", prefix, STR(*s)));
}

/* The host side against this machine's files. */
static void host_flags(const struct make *m, struct proc *p)
{
	if (!sees_host(m))
		return;
	proc_arg(m->a, p, "--sysroot=" HOST_ROOT, NULL);
	struct str gcc = m->plan->host.gcc_dir;
	strs_add(m->a, &p->argv, str_fmt(m->a, "--gcc-install-dir=" HOST_ROOT "%.*s", STR(gcc)));
}

/* Python.h of this machine, where it is seen from the compiler's side; else the SDK's. */
static void python_flags(const struct make *m, struct proc *p)
{
	struct str here = m->plan->host.python_include;
	if (m->sdk_python.n)
		here = str_fmt(m->a, "/usr/include/python%.*s", STR(m->sdk_python));
	else if (sees_host(m))
		here = str_fmt(m->a, HOST_ROOT "%.*s", STR(here));
	else if (m->sdk->sandbox)
		here = S(PYTHON_ROOT "/include");
	strs_add(m->a, &p->argv, str_fmt(m->a, "-isystem%.*s", STR(here)));
	if (str_starts(here, S(PYTHON_ROOT)))
		proc_arg(m->a, p, "-isystem" PYTHON_ROOT "/arch", NULL);
}

/* Headers: the translated tree, the project itself behind it (for files that are no sources), then
 * Python's and, last, the SDK's. */
static void include_flags(const struct make *m, struct proc *p, const struct plan_source *src)
{
	struct arena *a = m->a;
	const struct plan *plan = m->plan;
	add_args(a, p, &plan->includes, "-I");
	VEC_EACH (const struct str, dir, &plan->includes) {
		struct str full = path_clean(a, path_join(a, plan->project, *dir));
		strs_add(a, &p->argv, str_fmt(a, "-I%.*s", STR(full)));
	}
	struct str near = path_join(a, plan->project, path_dir(src->path));
	strs_add(a, &p->argv, str_fmt(a, "-iquote%.*s", STR(path_clean(a, near))));
	for (size_t i = 0; i < plan->python_headers.n; i++)
		strs_add(a, &p->argv, str_fmt(a, "-isystem%.*s", STR(headers_at(m, i))));
	if (plan->needs_python)
		python_flags(m, p);
	VEC_EACH (const struct str, h, &m->tree.headers)
		if (hipify_is_our_header(*h)) {
			proc_arg(a, p, "-idirafter.", NULL); /* beside the sources */
			break;
		}
	/* clang finds HIP's headers by itself only where the language is HIP */
	if (src->lang != PLAN_HIP && m->sdk->include.n)
		strs_add(a, &p->argv, str_fmt(a, "-idirafter%.*s", STR(m->sdk->include)));
}

static void common_flags(const struct make *m, struct proc *p, const struct plan_source *src)
{
	struct arena *a = m->a;
	add_args(a, p, &m->sdk->clang_flags, "");
	host_flags(m, p);
	proc_arg(a, p, "-O2", "-fPIC", "-D__HIP_PLATFORM_AMD__=1", "-fno-color-diagnostics",
		"-fno-caret-diagnostics", NULL);
	if (src->lang != PLAN_HIP) /* the SDK's flags are for HIP */
		proc_arg(a, p, "-Wno-unused-command-line-argument", NULL);
	strs_add(a, &p->argv, str_fmt(a, "-ffile-prefix-map=%.*s=.", STR(m->hip)));
	strs_add(a, &p->argv, str_fmt(a, "-ffile-prefix-map=%.*s=.", STR(m->plan->project)));
	add_args(a, p, &m->plan->defines, "-D");
	add_args(a, p, &m->plan->flags, "");
	include_flags(m, p, src);
}

/* CUDA has the *_sync warp functions at all times; HIP's headers declare them on demand. The id of
 * the compilation unit is fixed by names, not by paths of this machine. */
static void hip_flags(const struct make *m, struct proc *p, const struct plan_source *src)
{
	struct str text = str_fmt(
		m->a, "%.*s %.*s %.*s", STR(m->plan->name), STR(m->plan->version), STR(src->path));
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	proc_arg(m->a, p, "-DHIP_ENABLE_WARP_SYNC_BUILTINS=1", NULL);
	strs_add(m->a, &p->argv,
		str_fmt(m->a, "-cuid=%.*s", STR(str_sub(digest_hex(m->a, &d), 0, 16))));
}

/* ---- jobs ---- */

/* A run of clang that writes the job's output. What the user's environment holds must not reach it.
 */
static void start_clang(struct make *m, struct job *j)
{
	struct proc *p = &j->proc;
	j->work = path_join(m->a, m->tmp, path_base(j->output));
	p->cwd = m->hip;
	p->log = str_fmt(m->a, "%.*s/%.*s.log", STR(m->log), STR(path_base(j->output)));
	p->clear_env = true;
	strs_add(m->a, &p->setenv, S("PATH=/usr/local/bin:/usr/bin:/bin"));
	strs_add(m->a, &p->setenv, S("LC_ALL=C.UTF-8"));
	strs_add(m->a, &p->setenv, str_fmt(m->a, "TMPDIR=%.*s", STR(j->work)));
	strs_add(m->a, &p->argv, m->sdk->clang);
}

static struct job *compile_job(struct make *m, const char *kind, const struct plan_source *src,
	struct str output, const char *language)
{
	struct arena *a = m->a;
	struct job *j = job_add(&m->set, kind, src->path);
	struct str source = make_output(m, src);
	j->output = path_join(a, m->obj, output);
	strs_add(a, &j->inputs,
		source.p[0] == '/' ? locate(a, j, source) : path_join(a, m->hip, source));
	start_clang(m, j);
	j->depfile = path_join(a, j->work, S("dep"));
	proc_arg(a, &j->proc, "-x", language, "-c", NULL);
	strs_add(a, &j->proc.argv, source);
	proc_arg(a, &j->proc, "-o", path_join(a, j->work, S(JOB_OUT)).p, NULL);
	if (src->lang == PLAN_HIP)
		hip_flags(m, &j->proc, src);
	common_flags(m, &j->proc, src);
	return j;
}

/* The device pass for one GPU. clang's driver drops -MD where the device side of HIP is compiled;
 * its compiler proper knows it. */
static struct job *device_job(struct make *m, const struct plan_source *src, struct str gpu)
{
	struct arena *a = m->a;
	struct str out = str_fmt(a, "%.*s.%.*s.co", STR(job_file_name(a, src->path)), STR(gpu));
	struct job *j = compile_job(m, "device", src, out, "hip");
	j->report.gpu = gpu;
	proc_arg(a, &j->proc, "-Xclang", "-dependency-file", "-Xclang", j->depfile.p, "-Xclang",
		"-sys-header-deps", "-Xclang", "-MT", "-Xclang", "out", "--offload-device-only",
		"--no-gpu-bundle-output", NULL);
	strs_add(a, &j->proc.argv, str_fmt(a, "--offload-arch=%.*s", STR(gpu)));
	return j;
}

/* The object file of a source; what the host's compiler sees. */
static struct job *host_job(
	struct make *m, const char *kind, const struct plan_source *src, const char *language)
{
	struct str out = str_fmt(m->a, "%.*s.o", STR(job_file_name(m->a, src->path)));
	struct job *j = compile_job(m, kind, src, out, language);
	proc_arg(m->a, &j->proc, "-MD", "-MF", j->depfile.p, NULL);
	return j;
}

/* The inputs of a bundle are code objects, its key their targets. */
static struct err *write_bundle(struct arena *tmp, struct job *j, struct str part)
{
	struct bundle_object *v = arena_array(tmp, j->inputs.n, sizeof(*v));
	for (size_t i = 0; i < j->inputs.n; i++)
		v[i] = (struct bundle_object){.target = j->key.v[i], .path = j->inputs.v[i]};
	return bundle_write(part, S("x86_64-unknown-linux-gnu"), v, j->inputs.n);
}

static struct job *hip_jobs(struct make *m, const struct plan_source *src)
{
	struct arena *a = m->a;
	const struct strs *gpus = &m->plan->gpus;
	struct job **devices = arena_array(a, gpus->n, sizeof(struct job *));
	for (size_t i = 0; i < gpus->n; i++)
		devices[i] = device_job(m, src, gpus->v[i]);
	struct job *bundle = job_add(&m->set, "bundle", src->path);
	bundle->make = write_bundle;
	bundle->output =
		str_fmt(a, "%.*s/%.*s.hipfb", STR(m->obj), STR(job_file_name(a, src->path)));
	for (size_t i = 0; i < gpus->n; i++) {
		job_need(bundle, devices[i]);
		strs_add(a, &bundle->inputs, devices[i]->output);
		strs_add(a, &bundle->key, gpus->v[i]);
	}
	struct job *host = host_job(m, "host", src, "hip");
	proc_arg(a, &host->proc, "--offload-host-only", "-Xclang", "-fcuda-include-gpubinary",
		"-Xclang", bundle->output.p, NULL);
	strs_add(a, &host->inputs, bundle->output);
	job_need(host, bundle);
	return host;
}

/* Sources that come with headers of Python packages: their objects go into every module. */
static void package_jobs(struct make *m)
{
	struct arena *a = m->a;
	struct str name;
	for (size_t i = 0; i < m->plan->python_headers.n; i++) {
		if (!plan_is_header_folder(m->plan->python_headers.v[i], &name) || !name.n)
			continue;
		struct plan_source *src = NEW(a, struct plan_source);
		*src = (struct plan_source){.path = name,
			.output = path_join(a, headers_at(m, i), name),
			.lang = PLAN_CXX};
		struct job *j = host_job(m, "c++", src, "c++");
		proc_arg(a, &j->proc, "-fno-strict-aliasing", NULL); /* nanobind asks for it */
		*VEC_PUSH(a, &m->shared) = j;
	}
}

static void link_object(struct make *m, struct job *j, const struct job *object)
{
	job_need(j, object);
	strs_add(m->a, &j->inputs, object->output);
	strs_add(m->a, &j->proc.argv, object->output);
}

/* objects: by the path of the source, the job that makes its object file */
static void link_job(struct make *m, const struct plan_module *module, const struct map *objects)
{
	struct arena *a = m->a;
	struct job *j = job_add(&m->set, "link", module->file);
	struct proc *p = &j->proc;
	j->output = make_module_path(m, module);
	start_clang(m, j);
	proc_arg(a, p, "-o", path_join(a, j->work, S(JOB_OUT)).p, NULL);
	if (module->program) /* the SDK's libraries may be for a newer libc than this machine's */
		proc_arg(a, p, "-pie", "-Wl,--allow-shlib-undefined", NULL);
	else
		strs_add(a, &p->argv, str_fmt(a, "-Wl,-soname,%.*s", STR(path_base(module->file))));
	VEC_EACH (const struct str, path, &module->sources)
		link_object(m, j, map_get(objects, *path));
	for (size_t i = 0; i < m->shared.n; i++)
		link_object(m, j, m->shared.v[i]);
	add_args(a, p, &m->sdk->clang_flags, "");
	host_flags(m, p);
	if (!module->program)
		proc_arg(a, p, "-shared", NULL);
	proc_arg(a, p, "-fPIC", "-fuse-ld=lld", "-Wl,--build-id=sha1",
		"-Wno-unused-command-line-argument", NULL);
	add_args(a, p, &m->sdk->lib_dirs, "-L");
	proc_arg(a, p, "-lamdhip64", "-Wl,--as-needed", NULL);
	add_args(a, p, &m->plan->libraries, "-l");
}

void make_jobs(struct make *m)
{
	static const struct job_hooks hooks = {.wrap = wrap, .locate = locate, .explain = explain};
	MAP(objects, m->a);
	m->set = (struct jobs){.a = m->a,
		.hooks = &hooks,
		.user = m,
		.stamps_dir = m->stamp,
		.toolchain = m->sdk->fingerprint,
		.began = m->began};
	VEC_EACH (const struct plan_source, src, &m->plan->sources)
		map_put(&objects, src->path,
			src->lang == PLAN_HIP ? hip_jobs(m, src)
			: src->lang == PLAN_C ? host_job(m, "c", src, "c")
					      : host_job(m, "c++", src, "c++"));
	package_jobs(m);
	VEC_EACH (const struct plan_module, module, &m->plan->modules)
		link_job(m, module, &objects);
}

struct err *make_compile(struct make *m)
{
	make_jobs(m);
	size_t n = m->plan->sources.n;
	struct str what = str_fmt(m->a, "%zu source%s for %.*s", n, n == 1 ? "" : "s",
		STR(str_join(m->a, &m->plan->gpus, S(", "))));
	m->set.progress = progress_begin(S("Compiling"), what, UNIT_ITEMS, m->set.all.n);
	struct err *e = jobs_run(&m->set, m->jobs, m->keep_going ? &m->failures : NULL);
	progress_end(m->set.progress);
	for (size_t i = 0; i < m->set.all.n; i++)
		make_add_warnings(m, m->set.all.v[i], job_said(m->a, m->set.all.v[i]));
	return e;
}
