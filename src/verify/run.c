/* Implements verify --run: runs the wheel's own code on an emulated GPU. The emulator is rocjitsu, which runs a program
 * as `rocjitsu --config CONFIG -- PROGRAM...`; its configurations, one for each GPU, lie in share/rocjitsu/configs
 * beside the folder of the program (ROCm/rocm-systems, emulation/rocjitsu, README of 2026-08). It runs the script
 * rocsmith-smoke.py of the dist-info folder, or else imports all packages, which registers their device code. */
#include "base/proc.h"
#include "verify/exam.h"

enum { MINUTES = 10, TAIL = 300 };
#define SMOKE "rocsmith-smoke.py"

struct emulation {
	struct arena *a;
	const struct verify_options *o;
	struct verdict *v;
	struct str launcher, tmp, tree, script, imports;
};

#define SKIPPED(r, ...)                                                                            \
	verdict_say((r)->a, (r)->v, V_RUN_SKIPPED, S(""), "nothing was run: " __VA_ARGS__)

/* Can an `import` statement name it? Letters beyond ASCII are left to Python. */
static bool is_identifier(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool plain = (unsigned char)c < 0x80 && c != '_';
		if (plain && (!ascii_alnum(c) || (!i && ascii_digit(c))))
			return false;
	}
	return name.n;
}

/* Finds the smoke test, and makes "import demo, demo2" for folders with __init__.py and modules at the top. */
static struct err *find_work(struct emulation *r)
{
	struct strs names;
	BUF(b, r->a);
	TRY(fs_list(r->a, r->tree, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str name = names.v[i], path = path_join(r->a, r->tree, name), stem, rest;
		if (str_ends(name, S(DIST_INFO))) {
			struct str script = path_join(r->a, path, S(SMOKE));
			r->script = fs_is_file(script) ? script : r->script;
		}
		bool package = fs_is_file(path_join(r->a, path, S("__init__.py")));
		bool module = str_cut(name, '.', &stem, &rest) &&
			      (str_eq(rest, S("py")) || str_ends(rest, S("so")));
		stem = package ? name : stem;
		if ((package || module) && is_identifier(stem))
			buf_fmt(&b, "%s%.*s", b.n ? ", " : "import ", STR(stem));
	}
	r->imports = buf_str(&b);
	return NULL;
}

static struct err *run_on(struct emulation *r, struct str gpu)
{
	struct arena *a = r->a;
	struct str configs =
		path_join(a, path_dir(path_dir(r->launcher)), S("share/rocjitsu/configs"));
	struct proc p = {.cwd = r->tmp, .merge = true, .timeout = 60 * MINUTES};
	struct proc_result got;
	struct strs names = {0};
	struct str config = S("");
	if (fs_is_dir(configs))
		TRY(fs_list(a, configs, &names));
	for (size_t i = names.n; i-- > 0;) { /* the first one that is for the GPU */
		struct str rest = str_sub(names.v[i], gpu.n, names.v[i].n);
		if (str_starts(names.v[i], gpu) && str_ends(rest, S(".json")) &&
			!ascii_alnum(rest.p[0]))
			config = path_join(a, configs, names.v[i]);
	}
	if (!config.n) {
		SKIPPED(r, "'%.*s' has no configuration for %.*s", STR(r->launcher), STR(gpu));
		return NULL;
	}
	strs_fmt(a, &p.setenv, "PYTHONPATH=%.*s", STR(r->tree));
	STRS_ADD(a, &p.setenv, S("PYTHONDONTWRITEBYTECODE=1"), S("AMD_LOG_LEVEL=1"));
	strs_add(a, &p.argv, r->launcher);
	proc_arg(a, &p, "--config", str_z(a, config), "--", "python3", NULL);
	if (!r->script.n)
		proc_arg(a, &p, "-c", NULL);
	strs_add(a, &p.argv, r->script.n ? r->script : r->imports);
	TRY(proc_run(a, &p, &got));
	struct str what = r->script.n ? S(SMOKE) : r->imports, out = str_trim(got.out);
	struct str rest = out, line, first = {0};
	size_t calls = 0;
	/* HIP's runtime logs errors as ":1:hip_module.cpp :66 : ..."; the program may have ignored them */
	while (str_next(&rest, '\n', &line))
		if (str_starts(line, S(":1:")) && !calls++)
			first = str_trim(str_sub(line, 0, TAIL));
	if (!got.status && calls)
		verdict_say(a, r->v, V_RUN_CALLS, S(""),
			"'%.*s' ended well, but HIP logged %zu error%s on an emulated %.*s: %.*s",
			STR(what), calls, calls == 1 ? "" : "s", STR(gpu), STR(first));
	if (!got.status)
		verdict_say(a, r->v, V_RUN_DONE, S(""), "'%.*s' ran on an emulated %.*s in %.1f s",
			STR(what), STR(gpu), got.seconds);
	else
		verdict_say(a, r->v, V_RUN_FAILED, S(""),
			"'%.*s' failed on an emulated %.*s (%s %d): %.*s", STR(what), STR(gpu),
			got.timed_out ? "too slow, status" : "status", got.status,
			STR(str_sub(out, out.n > TAIL ? out.n - TAIL : 0, out.n)));
	return NULL;
}

static struct err *run_all(struct emulation *r)
{
	struct strs gpus = {0};
	struct wheel_done done;
	struct wheel_request q = {.from = r->v->path, .to = r->tmp, .jobs = r->o->jobs};
	VEC_EACH (const struct target, t, &r->o->require)
		strs_add(r->a, &gpus, t->name);
	if (!gpus.n)
		gpus = r->v->served;
	struct err *e = wheel_unpack(r->a, &q, &done);
	if (e && e->code == E_CANCELLED)
		return e;
	if (e) {
		SKIPPED(r, "it cannot be unpacked: %s", err_root(e)->msg);
		err_free(e);
		return NULL;
	}
	r->tree = done.path;
	TRY(find_work(r));
	if (!gpus.n || (!r->imports.n && !r->script.n))
		SKIPPED(r, "there is no %s",
			gpus.n ? "module at the top of the wheel" : "device code");
	for (size_t i = 0; i < gpus.n && (r->imports.n || r->script.n); i++)
		TRY(run_on(r, gpus.v[i]));
	return NULL;
}

struct err *verify_run(struct arena *a, const struct verify_options *o, struct verdict *v)
{
	struct emulation r = {.a = a, .o = o, .v = v};
	r.launcher = o->launcher.n ? path_abs(a, o->launcher) : proc_find(a, S("rocjitsu"));
	if (!v->pass) {
		SKIPPED(&r, "what is wrong with the wheel comes first");
		return NULL;
	}
	if (!r.launcher.n || !fs_is_file(r.launcher)) {
		SKIPPED(&r, "there is no emulator, %.*s",
			STR(o->launcher.n ? o->launcher : S("rocjitsu, in PATH")));
		return NULL;
	}
	CLEANUP(fs_tempdirp) struct str tmp = {0};
	TRY(fs_tempdir(a, S(""), &tmp));
	r.tmp = tmp;
	return run_all(&r);
}
