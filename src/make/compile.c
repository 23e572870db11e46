/* Turns a plan into steps: which programs run with which arguments. See build.h.
 *
 * For each HIP source: one device-only pass per GPU, a bundle of their code objects, and a
 * host-only pass that embeds the bundle. With a fixed -cuid this gives, byte by byte, what one
 * clang run for all GPUs gives, but passes run in parallel, and a GPU more costs that GPU's passes
 * only (measured with clang 21). All names on command lines are relative to the translated tree, so
 * that the folder it lies in leaves no trace in the output.
 */
#include "make/build.h"

#include "base/fs.h"

static void add_args(struct arena *a, struct proc *p, const struct strs *args, const char *prefix)
{
	VEC_EACH (const struct str, s, args)
		strs_add(a, &p->argv, str_fmt(a, "%s%.*s", prefix, STR(*s)));
}

/* The compilation unit's id: fixed by names, not by paths of this machine. */
static struct str unit_id(const struct build *b, struct str path)
{
	struct str text = str_fmt(
		b->a, "%.*s %.*s %.*s", STR(b->plan->name), STR(b->plan->version), STR(path));
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	return str_sub(digest_hex(b->a, &d), 0, 16);
}

/* The host side against this machine's files: they lie below HOST_ROOT for a sandboxed compiler. */
static void host_flags(struct build *b, struct proc *p)
{
	const struct sdk *sdk = &b->ret->sdk;
	const struct host *h = &b->plan->host;
	if (!b->plan->host_native || !sdk->sandbox)
		return;
	proc_arg(b->a, p, "--sysroot=" HOST_ROOT, NULL);
	struct str gcc = str_fmt(b->a, "--gcc-install-dir=" HOST_ROOT "%.*s", STR(h->gcc_dir));
	strs_add(b->a, &p->argv, gcc);
}

static struct str host_path(struct build *b, struct str path)
{
	bool moved = b->plan->host_native && b->ret->sdk.sandbox;
	return moved ? str_fmt(b->a, HOST_ROOT "%.*s", STR(path)) : path;
}

/* Python.h of this machine, where it is seen from the compiler's side; else the SDK's. */
static void python_flags(struct build *b, struct proc *p)
{
	struct str here = b->plan->host.python_include;
	if (b->sdk_python.n)
		here = str_fmt(b->a, "/usr/include/python%.*s", STR(b->sdk_python));
	else if (b->plan->host_native || !b->ret->sdk.sandbox)
		here = host_path(b, here);
	else
		here = S(PYTHON_ROOT "/include");
	strs_add(b->a, &p->argv, str_fmt(b->a, "-isystem%.*s", STR(here)));
	if (str_starts(here, S(PYTHON_ROOT)))
		proc_arg(b->a, p, "-isystem" PYTHON_ROOT "/arch", NULL);
}

/* Headers: the translated tree, the project itself behind it (for files that are no sources), then
 * Python's and, last, the SDK's. */
static void include_flags(struct build *b, struct proc *p, const struct plan_source *src)
{
	struct arena *a = b->a;
	const struct plan *plan = b->plan;
	add_args(a, p, &plan->includes, "-I");
	VEC_EACH (const struct str, dir, &plan->includes) {
		struct str full = path_clean(a, path_join(a, plan->project, *dir));
		strs_add(a, &p->argv, str_fmt(a, "-I%.*s", STR(full)));
	}
	struct str near = path_join(a, plan->project, path_dir(src->path));
	strs_add(a, &p->argv, str_fmt(a, "-iquote%.*s", STR(path_clean(a, near))));
	if (plan->needs_python)
		python_flags(b, p);
	/* clang finds HIP's headers by itself only where the language is HIP */
	if (src->lang != PLAN_HIP && b->ret->sdk.include.n)
		strs_add(a, &p->argv, str_fmt(a, "-idirafter%.*s", STR(b->ret->sdk.include)));
}

static void common_flags(struct build *b, struct proc *p, const struct plan_source *src)
{
	struct arena *a = b->a;
	const struct plan *plan = b->plan;
	add_args(a, p, &b->ret->sdk.clang_flags, "");
	host_flags(b, p);
	proc_arg(a, p, "-O2", "-fPIC", "-D__HIP_PLATFORM_AMD__=1", "-fno-color-diagnostics",
		"-fno-caret-diagnostics", NULL);
	strs_add(a, &p->argv, str_fmt(a, "-ffile-prefix-map=%.*s=.", STR(b->hip)));
	strs_add(a, &p->argv, str_fmt(a, "-ffile-prefix-map=%.*s=.", STR(plan->project)));
	add_args(a, p, &plan->defines, "-D");
	add_args(a, p, &plan->flags, "");
	include_flags(b, p, src);
}

/* The same for every program: what the user's environment holds must not reach the output. */
static void clean_environment(struct build *b, struct proc *p)
{
	p->clear_env = true;
	strs_add(b->a, &p->setenv, S("PATH=/usr/local/bin:/usr/bin:/bin"));
	strs_add(b->a, &p->setenv, S("LC_ALL=C.UTF-8"));
	strs_add(b->a, &p->setenv, str_fmt(b->a, "TMPDIR=%.*s", STR(b->tmp)));
}

static struct step *add_step(struct build *b, const char *kind, struct str name)
{
	struct step *s = &b->steps[b->nsteps++];
	*s = (struct step){.b = b, .report = {.kind = str_from(kind), .name = name}};
	size_t node = graph_add(b->a, &b->graph, step_run, s);
	(void)node; /* the same number as the step's */
	return s;
}

static size_t index_of(const struct build *b, const struct step *s)
{
	return (size_t)(s - b->steps);
}

static void need(struct build *b, struct step *later, const struct step *earlier)
{
	graph_need(b->a, &b->graph, index_of(b, later), index_of(b, earlier));
}

/* CUDA has the *_sync warp functions at all times; HIP's headers declare them on demand. */
static void hip_flags(struct build *b, struct proc *p, const struct plan_source *src)
{
	proc_arg(b->a, p, "-DHIP_ENABLE_WARP_SYNC_BUILTINS=1", NULL);
	strs_add(b->a, &p->argv, str_fmt(b->a, "-cuid=%.*s", STR(unit_id(b, src->path))));
}

/* A run of clang that makes OUTPUT from the source. */
static void compile_source(struct build *b, struct step *s, const struct plan_source *src,
	struct str output, const char *language)
{
	struct arena *a = b->a;
	s->source = src;
	s->output = path_join(a, b->obj, output);
	s->depfile = str_fmt(a, "%.*s.d", STR(s->output));
	s->proc.cwd = b->hip;
	s->proc.log = str_fmt(a, "%.*s/%.*s.log", STR(b->log), STR(output));
	strs_add(a, &s->inputs, path_join(a, b->hip, src->output));
	clean_environment(b, &s->proc);
	strs_add(a, &s->proc.argv, b->ret->sdk.clang);
	proc_arg(a, &s->proc, "-x", language, "-c", NULL);
	strs_add(a, &s->proc.argv, src->output);
	proc_arg(a, &s->proc, "-o", str_fmt(a, "%.*s.part", STR(s->output)).p, NULL);
	if (src->lang == PLAN_HIP)
		hip_flags(b, &s->proc, src);
	common_flags(b, &s->proc, src);
}

/* clang's driver drops -MD where the device side of HIP is compiled; its compiler proper knows it.
 */
static void device_depfile(struct build *b, struct step *s)
{
	proc_arg(b->a, &s->proc, "-Xclang", "-dependency-file", "-Xclang", s->depfile.p, "-Xclang",
		"-sys-header-deps", "-Xclang", "-MT", "-Xclang", "out", NULL);
}

static void host_depfile(struct build *b, struct step *s)
{
	proc_arg(b->a, &s->proc, "-MD", "-MF", s->depfile.p, NULL);
}

static struct step *device_step(struct build *b, const struct plan_source *src, struct str gpu)
{
	struct arena *a = b->a;
	struct step *s = add_step(b, "device", src->path);
	s->report.gpu = gpu;
	struct str out = str_fmt(a, "%.*s.%.*s.co", STR(flat_name(a, src->path)), STR(gpu));
	compile_source(b, s, src, out, "hip");
	device_depfile(b, s);
	proc_arg(a, &s->proc, "--offload-device-only", "--no-gpu-bundle-output", NULL);
	strs_add(a, &s->proc.argv, str_fmt(a, "--offload-arch=%.*s", STR(gpu)));
	return s;
}

static struct step *hip_steps(struct build *b, const struct plan_source *src)
{
	struct arena *a = b->a;
	struct str flat = flat_name(a, src->path);
	struct step **devices = arena_array(a, b->plan->gpus.n, sizeof(struct step *));
	for (size_t i = 0; i < b->plan->gpus.n; i++)
		devices[i] = device_step(b, src, b->plan->gpus.v[i]);
	struct step *bundle = add_step(b, "bundle", src->path);
	bundle->source = src;
	bundle->output = str_fmt(a, "%.*s/%.*s.hipfb", STR(b->obj), STR(flat));
	for (size_t i = 0; i < b->plan->gpus.n; i++) {
		need(b, bundle, devices[i]);
		strs_add(a, &bundle->inputs, devices[i]->output);
		strs_add(a, &bundle->targets, b->plan->gpus.v[i]);
	}
	struct step *host = add_step(b, "host", src->path);
	compile_source(b, host, src, str_fmt(a, "%.*s.o", STR(flat)), "hip");
	host_depfile(b, host);
	proc_arg(a, &host->proc, "--offload-host-only", "-Xclang", "-fcuda-include-gpubinary",
		"-Xclang", bundle->output.p, NULL);
	strs_add(a, &host->inputs, bundle->output);
	need(b, host, bundle);
	return host;
}

static struct step *object_step(struct build *b, const struct plan_source *src)
{
	if (src->lang == PLAN_HIP)
		return hip_steps(b, src);
	const char *lang = src->lang == PLAN_C ? "c" : "c++";
	struct step *s = add_step(b, lang, src->path);
	compile_source(b, s, src, str_fmt(b->a, "%.*s.o", STR(flat_name(b->a, src->path))), lang);
	host_depfile(b, s);
	return s;
}

static void link_flags(struct build *b, struct proc *p)
{
	struct arena *a = b->a;
	add_args(a, p, &b->ret->sdk.clang_flags, "");
	host_flags(b, p);
	proc_arg(a, p, "-shared", "-fPIC", "-fuse-ld=lld", "-Wl,--build-id=sha1",
		"-Wno-unused-command-line-argument", NULL);
	add_args(a, p, &b->ret->sdk.lib_dirs, "-L");
	proc_arg(a, p, "-lamdhip64", "-Wl,--as-needed", NULL);
	add_args(a, p, &b->plan->libraries, "-l");
}

static void link_step(struct build *b, const struct plan_module *m, struct step *const *objects)
{
	struct arena *a = b->a;
	struct step *s = add_step(b, "link", m->file);
	s->output = path_join(a, b->mod, flat_name(a, m->file));
	s->proc.cwd = b->hip;
	s->proc.log = str_fmt(a, "%.*s/%.*s.log", STR(b->log), STR(flat_name(a, m->file)));
	clean_environment(b, &s->proc);
	strs_add(a, &s->proc.argv, b->ret->sdk.clang);
	proc_arg(a, &s->proc, "-o", str_fmt(a, "%.*s.part", STR(s->output)).p, NULL);
	strs_add(a, &s->proc.argv, str_fmt(a, "-Wl,-soname,%.*s", STR(path_base(m->file))));
	VEC_EACH (const size_t, i, &m->sources) {
		need(b, s, objects[*i]);
		strs_add(a, &s->inputs, objects[*i]->output);
		strs_add(a, &s->proc.argv, objects[*i]->output);
	}
	link_flags(b, &s->proc);
}

void steps_make(struct build *b)
{
	const struct plan *p = b->plan;
	size_t each = p->gpus.n + 2;
	struct step **objects = arena_array(b->a, p->sources.n, sizeof(*objects));
	b->steps = arena_array(b->a, p->sources.n * each + p->modules.n, sizeof(*b->steps));
	for (size_t i = 0; i < p->sources.n; i++)
		objects[i] = object_step(b, &p->sources.v[i]);
	VEC_EACH (const struct plan_module, m, &p->modules)
		link_step(b, m, objects);
}
