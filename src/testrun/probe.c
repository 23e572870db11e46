/* The environment that tests run in: its Python and torch, the GPUs that this torch sees, the wheels that are installed, CPUs. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/progress.h"
#include "lang/python/version.h"
#include "target/target.h"
#include "testrun/testrun_int.h"
#include "wheel/archive.h"

enum { PROBE_SECONDS = 300 };

/* ---- wheels ---- */

/* The sha256 of the wheel, after each of its files was found below `site` with the hash that RECORD has. */
static struct err *compare_installed(
	struct arena *a, struct str wheel, struct str site, struct str *ret_sha256)
{
	struct wheel w;
	struct err *e = NULL;
	TRY(wheel_open(a, wheel, &w));
	CLEANUP(progress_endp)
	struct progress *p = progress_begin(S("Comparing"), path_base(wheel), UNIT_BYTES, w.size);
	VEC_EACH (const struct wheel_member, m, &w.members) {
		struct digest want, got;
		/* scripts, headers and data are elsewhere, and scripts changed; pip writes a new RECORD */
		struct str file = wheel_installed(m->zip->name, S(""));
		struct str path = path_join(a, site, file);
		if (e || !file.n || !sha256_from_base64url(m->sha256, &want))
			continue;
		if (!fs_is_file(path)) {
			e = err_new(E_VERIFY, "'%.*s' of '%.*s' is not installed in '%.*s'",
				STR(m->zip->name), STR(wheel), STR(site));
			continue;
		}
		e = hash_file(HASH_SHA256, path, &got);
		if (!e && memcmp(want.b, got.b, sizeof(want.b)) != 0)
			e = err_new(E_VERIFY, "'%.*s' is not the file that '%.*s' has", STR(path),
				STR(wheel));
		progress_add(p, m->zip->size, S(""));
	}
	/* the file that was compared, whatever has its name by now */
	e = e ? e : sha256_file(a, str_fmt(a, "/proc/self/fd/%d", w.zip.fd), ret_sha256);
	wheel_close(&w);
	if (e && e->code == E_VERIFY)
		err_hint(e, "another wheel is installed, so what is tested would say nothing of "
			    "this one");
	return e;
}

static struct err *check_wheels(struct arena *a, const struct test_request *q,
	const struct node *found, struct test_evidence *io)
{
	for (size_t i = 0; i < q->wheels.n; i++) {
		struct wheel_name name;
		struct str wheel = q->wheels.v[i], site = S("");
		TRY(wheel_name_parse(a, wheel, &name));
		struct test_wheel *w = VEC_PUSH(a, &io->wheels);
		*w = (struct test_wheel){
			.name = package_name(a, name.dist, '-'), .version = name.version};
		NODE_EACH (row, node_member(found, S("installed")))
			if (str_eq(wheel_normalise(a, node_text(row, S("name"), S(""))),
				    wheel_normalise(a, name.dist)))
				site = node_text(row, S("site"), S(""));
		if (!site.n)
			return err_hint(
				err_new(E_VERIFY,
					"'%.*s' is not installed in the environment of '%.*s'",
					STR(name.dist),
					STR(node_text(found, S("executable"), S("")))),
				"install it first, or name another environment with --python");
		TRY(compare_installed(a, wheel, site, &w->sha256));
	}
	return NULL;
}

/* ---- GPUs ---- */

struct err *test_env_lacks_torch(const struct test_env *env, struct str why)
{
	return err_hint(err_new(E_TOOL_MISSING, "the environment of '%.*s' has no torch%s%.*s",
				STR(env->python), why.n ? ": " : "", STR(why)),
		"--python names the environment with the torch that is to be tested");
}

static struct err *choose_gpus(struct arena *a, const struct test_request *q,
	const struct node *found, struct test_env *env)
{
	const struct node *devices = node_member(found, S("devices"));
	/* numbers and UUIDs of the user's own choice, among which torch counts */
	const char *chosen = getenv(env->hip ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES");
	struct strs own = str_split(a, str_from(chosen), ',');
	size_t index = 0;
	if (strs_has(&q->gpus, S("none")))
		return NULL;
	NODE_EACH (row, devices) {
		struct str target = node_text(row, S("target"), S("")),
			   number = str_fmt(a, "%zu", index);
		target.n = str_chr(target, ':');
		if (!q->gpus.n || strs_has(&q->gpus, S("all")) || strs_has(&q->gpus, number) ||
			strs_has(&q->gpus, target))
			*VEC_PUSH(a, &env->devices) = (struct test_device){.target = target,
				.name = node_text(row, S("name"), S("")),
				.word = index < own.n ? own.v[index] : number};
		index++;
	}
	if (env->devices.n || !q->gpus.n)
		return NULL;
	struct str why = node_text(found, S("error"), S(""));
	if (!env->torch.n && !why.n)
		return test_env_lacks_torch(env, why); /* nothing else could see a GPU */
	return err_hint(err_new(E_NO_GPU, "%s of '%.*s' sees no GPU '%.*s'%s%.*s",
				env->torch.n ? "torch" : "the Python", STR(env->python),
				STR(str_join(a, &q->gpus, S(","))), why.n ? ": " : "", STR(why)),
		"it sees %s; --gpu none tests what needs no GPU", human_count(a, index, "GPU").p);
}

struct str test_env_gpus(struct arena *a, const struct test_env *env, size_t from, size_t n)
{
	struct strs words = {0};
	for (size_t i = from; i < from + n && i < env->devices.n; i++)
		strs_add(a, &words, env->devices.v[i].word);
	struct str list = words.n ? str_join(a, &words, S(",")) : S("-1");
	return str_fmt(
		a, "%s=%.*s", env->hip ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES", STR(list));
}

/* ---- all of it ---- */

/* Libraries start as many threads as the machine has CPUs, whatever the control group gives. */
static void pin_cpus(struct arena *a, unsigned jobs, struct test_env *env)
{
	static const char *const variables[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS",
		"OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "MAX_JOBS", NULL};
	unsigned n = cpu_count();
	n = jobs && jobs < n ? jobs : n;
	cpu_pin(n);
	for (size_t i = 0; variables[i]; i++)
		if (!getenv(variables[i]))
			strs_fmt(a, &env->variables, "%s=%u", variables[i], n);
	/* HIP ends a process that has both */
	strs_add(a, &env->variables, S("GPU_DEVICE_ORDINAL"));
}

static struct err *ask(struct arena *a, const struct test_request *q, struct test_env *env,
	const struct node **ret)
{
	struct host host;
	CLEANUP(fs_tempdirp) struct str tmp = {0};
	struct proc p = {.timeout = PROBE_SECONDS, .setenv = env->variables};
	struct proc_result got;
	TRY(host_read(a, q->python, &host));
	if (!host.python.n)
		return err_hint(err_new(E_TOOL_MISSING, "there is no python3 in PATH"),
			"--python names an environment or interpreter");
	env->python = host.python;
	TRY(fs_tempdir(a, S(""), &tmp));
	struct str script = path_join(a, tmp, S("probe.py")),
		   answer = path_join(a, tmp, S("answer.json"));
	STRS_ADD(a, &p.argv, host.python, script, answer);
	struct wheel_name name;
	TRY(fs_write(script, testrun_probe, 0644 | FS_LOOSE));
	VEC_EACH (const struct str, wheel, &q->wheels) {
		TRY(wheel_name_parse(a, *wheel, &name));
		strs_add(a, &p.argv, name.dist);
	}
	TRY(proc_check(a, &p, &got));
	return json_read(a, answer, ret);
}

struct err *test_env_open(struct arena *a, const struct test_request *q, struct test_env *ret,
	struct test_evidence *io)
{
	const struct node *found;
	struct strs targets = {0};
	*ret = (struct test_env){0};
	pin_cpus(a, q->jobs, ret);
	TRY_CTX(ask(a, q, ret, &found), "cannot look at the Python environment of the tests");
	ret->version = node_text(found, S("python"), S(""));
	ret->torch = node_text(found, S("torch"), S(""));
	ret->pytest = node_text(found, S("pytest"), S(""));
	ret->hip = node_text(found, S("hip"), S("")).n > 0;
	struct str why = node_text(found, S("error"), S(""));
	if (why.n)
		evidence_say(
			a, io, SEV_ERROR, "test-import", "torch cannot be loaded: %.*s", STR(why));
	TRY(choose_gpus(a, q, found, ret));
	TRY(check_wheels(a, q, found, io));
	TRY(machine_read(a, S(""), &ret->machine));
	if (q->one_gpu && ret->devices.n)
		ret->devices.n = 1;
	VEC_EACH (const struct test_device, d, &ret->devices)
		strs_put(a, &targets, d->target);
	targets_sort(&targets);
	io->machine = &ret->machine;
	io->gpu = str_join(a, &targets, S(","));
	io->python = ret->version;
	io->torch = ret->torch;
	return NULL;
}
