/* Which GPU targets an SDK compiles: an empty kernel for each, code generation and linking
 * included, since a missing device library and an unknown target show only then. Answers are kept
 * in probe.json of the SDK's folder. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/progress.h"
#include "formats/json_write.h"
#include "formats/node.h"
#include "sdk/provider.h"

static const char source[] =
	"extern \"C\" __attribute__((global)) void rocsmith_probe(float *p) { *p = 1; }\n";
enum { PROBE_SECONDS = 120 };

struct probe {
	const struct sdk *sdk;
	struct str target;
	bool *ok;
	struct str *why;
	struct arena keep; /* of this probe alone: probes run in threads */
};

static struct str answers_path(struct arena *a, const struct sdk *sdk)
{
	return path_join(a, sdk->dir, S("probe.json"));
}

/* What the answers depend on: the compiler's file and the device libraries; not the other packages,
 * so that a component more does not ask again. */
static struct str compiler_id(struct arena *a, const struct sdk *sdk)
{
	struct strs names = {0};
	struct stat st = {0};
	struct str bitcode = str_fmt(a, "%.*s%.*s", STR(sdk->root), STR(sdk->device_libs));
	err_free(fs_stat(str_fmt(a, "%.*s%.*s", STR(sdk->root), STR(sdk->clang)), &st));
	err_free(fs_list(a, bitcode, &names));
	struct str list = str_join(a, &names, S(" "));
	struct digest d = hash_bytes(HASH_SHA256, list.p, list.n);
	return str_fmt(a, "%.*s %lld %lld %.*s", STR(sdk->clang), (long long)st.st_size,
		(long long)st.st_mtim.tv_sec, STR(digest_hex(a, &d)));
}

/* The known answers; a file that is unreadable or of another SDK counts as none. */
static const struct node *known(struct arena *a, const struct sdk *sdk)
{
	const struct node *doc = NULL;
	struct str path = answers_path(a, sdk);
	if (!fs_exists(path))
		return NULL;
	struct err *e = json_read(a, path, &doc);
	bool good = !e && str_eq(node_text(doc, S("compiler"), S("")), compiler_id(a, sdk));
	err_free(e);
	return good ? node_get(doc, S("targets")) : NULL;
}

/* The first line of clang's that says what is wrong. */
static struct str complaint(struct arena *a, struct str said)
{
	struct str line;
	while (str_next(&said, '\n', &line)) {
		size_t at = str_find(line, S("error: "));
		if (at < line.n)
			return str_dup(a, str_sub(line, at + 7, line.n));
	}
	return S("the compiler failed");
}

static struct err *probe_one(struct arena *tmp, void *user)
{
	struct probe *x = user;
	struct proc p = {.merge = true, .input = str_from(source), .timeout = PROBE_SECONDS};
	struct proc_result r;
	struct sdk_binds none = {0};
	strs_add(tmp, &p.argv, x->sdk->clang);
	proc_arg(tmp, &p, "-x", "hip", "-", "--offload-device-only", "-nogpuinc", "-O1", "-o",
		"/dev/null", NULL);
	strs_add(tmp, &p.argv, str_fmt(tmp, "--offload-arch=%.*s", STR(x->target)));
	for (size_t i = 0; i < x->sdk->clang_flags.n; i++)
		strs_add(tmp, &p.argv, x->sdk->clang_flags.v[i]);
	TRY(sdk_wrap(tmp, x->sdk, &none, S(""), &p));
	TRY(proc_run(tmp, &p, &r));
	*x->ok = r.status == 0;
	*x->why = *x->ok ? S("") : complaint(&x->keep, r.out);
	return NULL;
}

static void put_answer(struct json *j, struct str target, bool ok, struct str why)
{
	json_key_str(j, target);
	json_open(j, '{');
	json_put_bool(j, "ok", ok);
	json_put(j, "why", why);
	json_close(j);
}

/* Old answers that were not asked again, and the new ones. */
static struct err *keep(struct arena *a, const struct sdk *sdk, const struct node *old,
	const struct probe *v, size_t n)
{
	BUF(out, a);
	struct json j = {.out = &out, .indent = 1};
	json_open(&j, '{');
	json_put(&j, "compiler", compiler_id(a, sdk));
	json_key(&j, "targets");
	json_open(&j, '{');
	for (size_t i = 0; old && i < old->n; i++)
		put_answer(&j, old->v[i].key, node_bool(&old->v[i], S("ok"), false),
			node_text(&old->v[i], S("why"), S("")));
	for (size_t i = 0; i < n; i++)
		put_answer(&j, v[i].target, *v[i].ok, *v[i].why);
	json_close(&j);
	json_close(&j);
	TRY(fs_mkdirs(sdk->dir));
	return fs_write(answers_path(a, sdk), buf_str(&out), 0644);
}

static struct err *run_probes(struct arena *a, struct probe *v, size_t n)
{
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(S("Probing"), S("GPU targets"), UNIT_NONE, 0);
	(void)bar; /* ends with the scope */
	struct err *e = pool_each(0, v, n, sizeof(*v), probe_one);
	for (size_t i = 0; i < n; i++) {
		*v[i].why = str_dup(a, *v[i].why);
		arena_free(&v[i].keep);
	}
	return e;
}

struct err *sdk_probe(struct arena *a, const struct sdk *sdk, const struct strs *targets,
	bool *ret_ok, struct str *ret_why)
{
	const struct node *old = known(a, sdk);
	struct probe *v = arena_array(a, targets->n ? targets->n : 1, sizeof(*v));
	size_t n = 0;
	for (size_t i = 0; i < targets->n; i++) {
		const struct node *answer = node_get(old, targets->v[i]);
		ret_ok[i] = node_bool(answer, S("ok"), false);
		ret_why[i] = node_text(answer, S("why"), S(""));
		if (!answer)
			v[n++] = (struct probe){.sdk = sdk,
				.target = targets->v[i],
				.ok = &ret_ok[i],
				.why = &ret_why[i]};
	}
	if (!n)
		return NULL;
	TRY_CTX(run_probes(a, v, n), "cannot find out which GPU targets '%.*s' compiles",
		STR(sdk->name));
	return fs_writes_forbidden() ? NULL : keep(a, sdk, old, v, n);
}
