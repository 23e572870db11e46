/* Tests which GPU targets an SDK compiles, with an empty kernel for each. The test includes code generation and
 * linking, since only these reveal a missing device library or an unknown target. The results are stored in probe.json
 * in the SDK's folder. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/progress.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "sdk/provider.h"
#include "target/target.h"

static const char source[] =
	"extern \"C\" __attribute__((global)) void rocsmith_probe(float *p) { *p = 1; }\n";
enum { PROBE_SECONDS = 120 };

struct answers {
	struct str compiler;
	struct sdk_targets targets;
};

static const struct json_field file_fields[] = {
	FIELD("compiler", struct answers, compiler),
	FIELD_LIST("targets", struct answers, targets.list, sdk_target_fields),
	{.kind = FIELD_END},
};

struct probe {
	const struct sdk *sdk;
	struct sdk_target answer;
	struct arena keep; /* holds the answer; each thread needs its own */
};

static struct err *probe_target(struct arena *tmp, void *user)
{
	struct probe *x = user;
	struct sdk_target *answer = &x->answer;
	struct proc p = {.merge = true, .input = str_from(source), .timeout = PROBE_SECONDS};
	struct proc_result r;
	const struct str mark = S("error: ");
	strs_add(tmp, &p.argv, x->sdk->clang);
	proc_arg(tmp, &p, "-x", "hip", "-", "--offload-device-only", "-nogpuinc", "-O1", "-o",
		"/dev/null", NULL);
	strs_fmt(tmp, &p.argv, "--offload-arch=%.*s", STR(answer->name));
	strs_add_all(tmp, &p.argv, &x->sdk->clang_flags);
	TRY(sdk_wrap(tmp, x->sdk, NULL, &p));
	TRY(proc_run(tmp, &p, &r));
	answer->compiles = r.status == 0;
	if (answer->compiles)
		return NULL;
	/* the first error of clang, to the end of its line */
	struct str why = str_sub(r.out, str_find(r.out, mark) + mark.n, r.out.n);
	why = str_sub(why, 0, str_chr(why, '\n'));
	answer->why = why.n ? str_dup(&x->keep, why) : S("the compiler failed");
	return NULL;
}

struct err *sdk_probe(
	struct arena *a, const struct sdk *sdk, const struct strs *targets, struct sdk_targets *ret)
{
	struct answers all = {0}, old = {0};
	const struct node *doc;
	struct str path = path_join(a, sdk->dir, S("probe.json"));
	struct strs current = {0}, libs = {0};
	struct stat st = {0};
	/* The results depend on the compiler's file and the device libraries. Other packages are left out, so that
	 * installing another component does not repeat the test. */
	err_free(fs_stat(sdk_outside(a, sdk, sdk->clang), &st));
	err_free(fs_list(a, sdk_outside(a, sdk, sdk->device_libs), &libs));
	all.compiler = str_fmt(a, "%.*s %.*s %lld %lld %.*s", STR(sdk->name), STR(sdk->clang),
		(long long)st.st_size, (long long)st.st_mtim.tv_sec,
		STR(sha256_hex(a, str_join(a, &libs, S(" ")))));
	/* a file that cannot be read, or belongs to another compiler, is ignored */
	CLEANUP(err_freep) struct err *unread = json_read(a, path, &doc);
	if (!unread)
		unread = json_fields_read(a, doc, file_fields, &old);
	if (!unread && str_eq(old.compiler, all.compiler))
		all = old;
	TABLE_EACH (gpu, g)
		if (!g->removed)
			strs_add(a, &current, str_from(g->name));
	targets_sort(&current);
	targets = targets ? targets : &current;
	struct probe *v = arena_array(a, targets->n ? targets->n : 1, sizeof(*v));
	size_t n = 0;
	for (size_t i = 0; i < targets->n; i++)
		if (!VEC_FIND(struct sdk_target, &all.targets.list, name, targets->v[i]))
			v[n++] = (struct probe){.sdk = sdk, .answer.name = targets->v[i]};
	if (n) {
		struct progress *bar = progress_begin(S("Probing"), S("GPU targets"), UNIT_NONE, 0);
		struct err *e = pool_each(0, v, n, sizeof(*v), probe_target);
		progress_end(bar);
		for (size_t i = 0; i < n; i++) {
			v[i].answer.why = str_dup(a, v[i].answer.why);
			*VEC_PUSH(a, &all.targets.list) = v[i].answer;
			arena_free(&v[i].keep);
		}
		TRY_CTX(e, "cannot find out which GPU targets '%.*s' compiles", STR(sdk->name));
	}
	for (size_t i = 0; i < targets->n; i++)
		*VEC_PUSH(a, &ret->list) =
			*VEC_FIND(struct sdk_target, &all.targets.list, name, targets->v[i]);
	if (!n || fs_writes_forbidden())
		return NULL;
	TRY(fs_mkdirs(sdk->dir));
	return fs_write(path, json_document(a, 1, file_fields, &all), 0644);
}
