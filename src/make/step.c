/* Runs one step of a build: looks at its stamp, runs the program (or writes the bundle), renames
 * the output into place and stamps it. Called from several threads; shares only the stamps. */
#include "make/build.h"

#include "base/fs.h"
#include "base/progress.h"
#include "formats/bundle.h"
#include "jobs/depfile.h"

enum { MAX_DEPFILE = 64 << 20, STEP_FORMAT = 1 };

struct str flat_name(struct arena *a, struct str path)
{
	char *z = str_z(a, path);
	for (size_t i = 0; i < path.n; i++)
		if (z[i] == '/')
			z[i] = '_';
	struct digest d = hash_bytes(HASH_SHA256, path.p, path.n);
	struct str tail =
		str_sub((struct str){.p = z, .n = path.n}, path.n > 80 ? path.n - 80 : 0, path.n);
	return str_fmt(a, "%.*s-%.*s", STR(tail), STR(str_sub(digest_hex(a, &d), 0, 8)));
}

static void hash_part(struct hash *h, struct str s)
{
	hash_add(h, s.p, s.n);
	hash_add(h, "", 1);
}

static void hash_parts(struct hash *h, const struct strs *list)
{
	VEC_EACH (struct str, s, list)
		hash_part(h, *s);
	hash_part(h, S("--"));
}

/* Everything that decides the output but the content of files. */
static struct digest command_hash(struct arena *tmp, const struct step *s)
{
	struct hash *h = hash_new(HASH_SHA256);
	hash_part(h, str_fmt(tmp, "step %d", STEP_FORMAT));
	hash_part(h, s->b->ret->sdk.fingerprint);
	hash_part(h, s->report.kind);
	hash_parts(h, &s->proc.argv);
	hash_parts(h, &s->proc.setenv);
	hash_part(h, s->proc.cwd);
	hash_parts(h, &s->inputs);
	hash_parts(h, &s->targets);
	return hash_end(h);
}

/* A path of a depfile as a path of this machine; empty for the SDK's own files, which its
 * fingerprint stands for. */
static struct str dep_path(struct arena *tmp, const struct step *s, struct str dep)
{
	const struct build *b = s->b;
	struct str path = path_clean(tmp, path_join(tmp, s->proc.cwd, dep));
	if (!b->ret->sdk.sandbox)
		return path;
	if (str_starts(path, S(HOST_ROOT "/")))
		return str_sub(path, sizeof(HOST_ROOT) - 1, path.n);
	VEC_EACH (const struct sdk_bind, bind, &b->binds) {
		struct str at = bind->at.n ? bind->at : bind->path;
		struct str dir = str_fmt(tmp, "%.*s/", STR(at));
		if (str_starts(path, dir))
			return path_join(tmp, bind->path, str_sub(path, dir.n, path.n));
	}
	return S("");
}

static struct err *add_deps(struct arena *tmp, const struct step *s, struct strs *inputs)
{
	struct str text;
	struct strs deps;
	if (!s->depfile.n)
		return NULL;
	TRY(fs_read(tmp, s->depfile, MAX_DEPFILE, &text));
	depfile_parse(tmp, text, &deps);
	VEC_EACH (struct str, dep, &deps) {
		struct str path = dep_path(tmp, s, *dep);
		if (path.n && !strs_has(&s->inputs, path))
			strs_add(tmp, inputs, path);
	}
	return NULL;
}

static void take_cost(struct make_step *r, const struct build *b, const struct proc_result *p)
{
	const struct rusage *u = &p->usage;
	r->start = p->start - b->o->began;
	r->seconds = p->seconds;
	r->cpu = (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
		 (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
	r->memory = (uint64_t)u->ru_maxrss * 1024;
}

static struct err *run_program(struct arena *tmp, struct step *s)
{
	struct build *b = s->b;
	struct proc p = s->proc;
	struct proc_result r;
	p.argv = (struct strs){0};
	VEC_EACH (struct str, arg, &s->proc.argv)
		strs_add(tmp, &p.argv, *arg);
	bool host = b->plan->host_native && b->ret->sdk.sandbox;
	TRY(sdk_wrap(tmp, &b->ret->sdk, &b->binds, host ? S(HOST_ROOT) : S(""), &p));
	TRY(proc_run(tmp, &p, &r));
	take_cost(&s->report, b, &r);
	return r.status ? diagnose(tmp, s, &r) : NULL;
}

static struct err *write_bundle(struct arena *tmp, struct step *s, struct str part)
{
	double start = mono_now();
	struct bundle_object *v = arena_array(tmp, s->inputs.n, sizeof(*v));
	for (size_t i = 0; i < s->inputs.n; i++)
		v[i] = (struct bundle_object){.target = s->targets.v[i], .path = s->inputs.v[i]};
	TRY(bundle_write(part, S("x86_64-unknown-linux-gnu"), v, s->inputs.n));
	s->report.start = start - s->b->o->began;
	s->report.seconds = mono_now() - start;
	return NULL;
}

static struct err *make_output(struct arena *tmp, struct step *s, const struct stamp_key *key)
{
	struct str part = str_fmt(tmp, "%.*s.part", STR(s->output));
	TRY(fs_remove(key->file));
	TRY(s->proc.argv.n ? run_program(tmp, s) : write_bundle(tmp, s, part));
	TRY(fs_rename(part, s->output));
	struct strs inputs = {0};
	VEC_EACH (struct str, in, &s->inputs)
		strs_add(tmp, &inputs, *in);
	TRY(add_deps(tmp, s, &inputs));
	struct stamp_cost cost = {
		.seconds = s->report.seconds, .cpu = s->report.cpu, .memory = s->report.memory};
	return stamp_write(s->b->stamps, key, &inputs, &cost);
}

/* What the compiler says stands first and for itself. */
static struct err *in_context(const struct step *s, struct err *e)
{
	if (!e || e->code == E_COMPILE || e->code == E_LINK || e->code == E_CANCELLED)
		return e;
	return err_wrap(e, "cannot build '%.*s'%s%.*s", STR(s->report.name),
		s->report.gpu.n ? " for " : "", STR(s->report.gpu));
}

struct err *step_run(struct arena *tmp, void *step)
{
	struct step *s = step;
	struct str stamp = path_join(tmp, s->b->stamp, path_base(s->output));
	struct stamp_key key = {
		.file = stamp, .command = command_hash(tmp, s), .output = s->output};
	struct stamp_cost cost = {0};
	TRY(cancel_check());
	if (stamp_fresh(s->b->stamps, &key, &cost)) {
		s->report.cached = true;
		s->report.seconds = cost.seconds;
		s->report.cpu = cost.cpu;
		s->report.memory = cost.memory;
	} else {
		TRY(in_context(s, make_output(tmp, s, &key)));
	}
	s->report.done = true;
	progress_add(s->b->progress, 1, s->report.name);
	return NULL;
}
