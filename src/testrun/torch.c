/* test_torch() and test_smoke(): what is started, where, with which lists; run.c does it. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "source/checkout.h"
#include "testrun/testrun_int.h"

enum { TORCH_SECONDS = 900, SMOKE_SECONDS = 600, RETRIES = 100 };

/* ---- the folder of logs ---- */

static struct err *open_logs(
	struct arena *a, const struct test_request *q, struct test_evidence *io)
{
	if (!q->logs.n)
		return fs_tempdir(a, S(""), &io->logs);
	struct strs names = {0};
	io->logs = path_abs(a, q->logs);
	if (str_contains(io->logs, S(":")))
		return err_new(E_USAGE,
			"the folder '%.*s' for logs has a ':', which PYTHONPATH cannot have",
			STR(q->logs));
	TRY(fs_make_output(io->logs));
	TRY(fs_list(a, io->logs, &names));
	return names.n ? err_hint(err_new(E_USAGE, "the folder '%.*s' for logs is not empty",
					  STR(q->logs)),
				 "logs of another run in it would be taken for those of this one")
		       : NULL;
}

/* A temporary folder of a run that failed stays: it has the logs that the evidence names. */
static struct err *close_logs(const struct test_request *q, struct test_evidence *io, struct err *e)
{
	if (q->logs.n || (!e && !io->pass))
		return e;
	e = err_join(e, fs_remove_tree(io->logs));
	io->logs = S("");
	return e;
}

/* ---- sources ---- */

/* Reads which sources these are: rocsmith.lock lies beside the folder of a project that `checkout` made. */
static struct err *read_source(struct arena *a, struct str source, struct test_evidence *io)
{
	struct checkout_lock lock;
	struct str text = {0}, path = path_join(a, source, S("rocsmith.lock"));
	if (!fs_exists(path))
		path = path_join(a, path_dir(source), S("rocsmith.lock"));
	TRY(fs_read_opt(a, path, 4 << 20, &text));
	if (text.p) {
		TRY(checkout_lock_parse(a, text, path, &lock));
		const struct checkout_project *p = checkout_find(&lock, path_base(source));
		io->source.lock = sha256_hex(a, text);
		io->source.commit = p ? p->commit : S("");
	}
	TRY(fs_read_opt(a, path_join(a, source, S("version.txt")), 4096, &text));
	io->source.version = str_trim(text);
	return NULL;
}

static struct err *check_version(
	const struct test_request *q, const struct test_env *env, const struct test_evidence *e)
{
	uint64_t source[2], here[2];
	if (q->any_version || !env->torch.n || str_numbers(e->source.version, source, 2) < 2 ||
		str_numbers(env->torch, here, 2) < 2 ||
		(source[0] == here[0] && source[1] == here[1]))
		return NULL;
	return err_hint(
		err_new(E_TORCH,
			"the tests of '%.*s' are those of torch %.*s, and torch %.*s is installed",
			STR(q->source), STR(e->source.version), STR(env->torch)),
		"--allow-version-mismatch runs them all the same");
}

/* ---- lists ---- */

static struct err *read_lists(struct test_run *r, struct test_skips *ret)
{
	const struct test_request *q = r->q;
	for (size_t i = 0; i < q->skip_lists.n; i++)
		TRY(skips_read(r->a, q->skip_lists.v[i], r->out, ret));
	r->include = q->include;
	strs_add_all(r->a, &r->exclude, &q->exclude);
	VEC_EACH (const struct test_skip, s, ret)
		if (!s->expired || q->only_skipped)
			strs_add(r->a, q->only_skipped ? &r->include : &r->exclude, s->id);
	return NULL;
}

/* ---- torch ---- */

/* Modules of the configuration, fewer if the user named some. */
static struct strs choose_files(
	struct arena *a, const struct test_config *c, const struct test_run *r)
{
	struct strs files = {0};
	for (size_t i = 0; c->include && c->include[i]; i++) {
		struct str file = str_fmt(a, "test/%s.py", c->include[i]);
		bool wanted = !r->include.n;
		for (size_t k = 0; k < r->include.n; k++)
			wanted |= test_id_below(r->include.v[k], file);
		if (wanted)
			strs_add(a, &files, file);
	}
	return c->include ? files : r->include;
}

static struct test_driver torch_driver(
	struct arena *a, const struct test_config *c, const struct test_run *r)
{
	const struct test_env *env = r->env;
	struct test_driver d = {.source = r->q->source, .xml = true};
	bool rocm = env->hip && env->devices.n;
	d.modules = fs_is_file(path_join(a, d.source, S("test/run_test.py")));
	d.cwd = d.modules ? path_join(a, d.source, S("test")) : d.source;
	strs_add(a, &d.argv, env->python);
	if (d.modules) {
		strs_add(a, &d.argv, S("run_test.py"));
		strs_add_words(a, &d.argv, c->words);
		strs_add_words(a, &d.variables, c->set);
		d.files = choose_files(a, c, r);
	} else {
		static const char *const pytest[] = {"-m", "pytest", "-v", "-p", "no:cacheprovider",
			"--continue-on-collection-errors", NULL};
		strs_add_words(a, &d.argv, pytest);
		strs_add(a, &d.variables, S("PYTHONDONTWRITEBYTECODE=1"));
		d.files = r->include;
	}
	strs_add(a, &d.variables, test_env_gpus(a, env, 0, env->devices.n));
	strs_add(a, &d.variables, S("PYTORCH_PRINT_REPRO_ON_FAILURE=0"));
	if (rocm) {
		strs_add(a, &d.variables, S("PYTORCH_TEST_WITH_ROCM=1"));
		strs_fmt(a, &d.variables, "MIOPEN_CUSTOM_CACHE_DIR=%.*s/miopen", STR(r->out->logs));
	}
	return d;
}

static struct err *run_config(struct test_run *r)
{
	struct strs names = {0};
	bool known = false;
	TABLE_EACH (test_config, c) {
		strs_put(r->a, &names, str_from(c->name));
		if (!str_eq(r->q->config, str_from(c->name)))
			continue;
		struct test_driver d = torch_driver(r->a, c, r);
		if (known && !d.modules) /* rows differ in what they tell run_test.py */
			continue;
		known = true;
		if (c->include && d.modules && !d.files.n)
			continue;
		r->driver = &d;
		if (fs_writes_forbidden())
			progress_note(S("Would"), "run %.*s in '%.*s'",
				STR(str_join(r->a, &d.argv, S(" "))), STR(d.cwd));
		else
			TRY(test_run_all(r));
	}
	return known ? NULL
		     : err_near(err_new(E_USAGE, "there is no configuration '%.*s'",
					STR(r->q->config)),
			       r->q->config, &names);
}

static struct err *check_request(const struct test_request *q)
{
	if (q->shard > q->shards || (q->shards && !q->shard))
		return err_new(E_USAGE, "there is no shard %u of %u", q->shard, q->shards);
	if (!fs_is_dir(q->source))
		return err_new(E_NOENT, "there is no folder '%.*s' with tests", STR(q->source));
	if (q->only_skipped && !q->skip_lists.n)
		return err_new(E_USAGE, "--only-skipped needs a --skip-list");
	for (size_t i = 0; i < q->include.n + q->exclude.n; i++) {
		struct str id = i < q->include.n ? q->include.v[i] : q->exclude.v[i - q->include.n];
		if (!path_is_inside(str_sub(id, 0, str_find(id, S("::")))))
			return err_new(E_USAGE,
				"'%.*s' is no id of a test: it begins with a file below '%.*s'",
				STR(id), STR(q->source));
	}
	return NULL;
}

struct err *test_torch(struct arena *a, const struct test_request *asked, struct test_evidence *ret)
{
	struct test_request q = *asked;
	struct test_env *env = NEW(a, struct test_env);
	struct test_skips skips = {0};
	double began = mono_now();
	q.source = path_abs(a, q.source);
	q.timeout = q.timeout ? q.timeout : TORCH_SECONDS;
	q.retries = q.retries ? q.retries : RETRIES;
	TRY(check_request(&q));
	TABLE_EACH (test_config, c)
		if (str_eq(q.config, str_from(c->name)))
			q.one_gpu = !c->all_gpus;
	evidence_begin(a, ret);
	ret->suite = q.only_skipped ? S("torch-skipped") : S("torch");
	ret->config = q.config;
	ret->shard = q.shards ? q.shard : 1;
	ret->shards = q.shards ? q.shards : 1;
	TRY(read_source(a, q.source, ret));
	TRY(test_env_open(a, &q, env, ret));
	TRY(check_version(&q, env, ret));
	if (!env->pytest.n)
		return err_hint(err_new(E_TOOL_MISSING, "the environment of '%.*s' has no pytest",
					STR(env->python)),
			"%.*s -m pip install pytest", STR(env->python));
	struct test_run r = {
		.a = a, .q = &q, .env = env, .out = ret, .results.a = a, .excluded.a = a};
	TRY(read_lists(&r, &skips));
	if (fs_writes_forbidden())
		return run_config(&r);
	TRY(open_logs(a, &q, ret));
	struct err *e = fs_write(
		path_join(a, ret->logs, S("rocsmith_plugin.py")), testrun_plugin, 0644 | FS_LOOSE);
	e = e ? e : run_config(&r);
	test_run_end(&r);
	if (!e)
		evidence_judge(&r, &skips);
	ret->seconds = mono_now() - began;
	return close_logs(&q, ret, e);
}

/* ---- smoke ---- */

static struct err *smoke_all(struct test_run *r)
{
	struct arena *a = r->a;
	struct str script = path_join(a, r->out->logs, S("smoke.py"));
	size_t gpus = r->env->devices.n;
	TRY(fs_write(script, testrun_smoke, 0644 | FS_LOOSE));
	for (size_t i = 0; i < gpus || !i; i++) {
		struct test_driver d = {.source = S("."),
			.cwd = r->out->logs,
			.device = S("cpu"),
			.name = S("cpu")};
		if (gpus) {
			d.device = S("cuda");
			d.name = str_fmt(a, "gpu%zu", i);
		}
		STRS_ADD(a, &d.argv, r->env->python, script);
		strs_add(a, &d.variables, test_env_gpus(a, r->env, i, 1));
		r->driver = &d;
		r->results = (struct map){.a = a};
		r->excluded = (struct map){.a = a};
		TRY(test_run_all(r));
		evidence_judge(r, &(struct test_skips){0});
	}
	return NULL;
}

struct err *test_smoke(struct arena *a, const struct test_request *asked, struct test_evidence *ret)
{
	struct test_request q = *asked;
	struct test_env *env = NEW(a, struct test_env);
	double began = mono_now();
	q.timeout = q.timeout ? q.timeout : SMOKE_SECONDS;
	q.retries = q.retries ? q.retries : RETRIES;
	evidence_begin(a, ret);
	ret->suite = S("smoke");
	ret->shard = ret->shards = 1;
	TRY(test_env_open(a, &q, env, ret));
	if (!env->torch.n && !ret->findings.n)
		return test_env_lacks_torch(env, S(""));
	if (!env->devices.n)
		evidence_say(a, ret, SEV_WARNING, "test-no-gpu",
			"torch sees no GPU: only what the CPU can show was tested");
	if (fs_writes_forbidden()) {
		progress_note(S("Would"), "test torch %.*s on %s", STR(ret->torch),
			env->devices.n ? human_count(a, env->devices.n, "GPU").p : "the CPU");
		return NULL;
	}
	struct test_run r = {.a = a, .q = &q, .env = env, .out = ret};
	TRY(open_logs(a, &q, ret));
	struct err *e = smoke_all(&r);
	test_run_end(&r);
	ret->seconds = mono_now() - began;
	return close_logs(&q, ret, e);
}
