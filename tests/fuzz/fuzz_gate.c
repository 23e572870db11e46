/* Results of tests, and waivers, with NULs between them, as others hand them in: does a set pass? What has no test of its own
 * hash, and no waiver, never does. Two results are compared as `rocsmith test diff` does it. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "release/release.h"
#include "testrun/testrun.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
enum { RESULTS = 3 };

static void check(bool good)
{
	if (!good)
		abort();
}

/* Does one of them say that a wheel of this hash passed? */
static bool is_tested(struct arena *a, const struct strs *paths)
{
	bool tested = false;
	VEC_EACH (const struct str, path, paths) {
		struct json_list tests = {.name = *path, .key = S("tests")};
		const struct node *doc = NULL;
		struct str text;
		struct err *e = fs_read(a, *path, NODE_SIZE, &text);
		e = e ? e : json_list_open(a, text, &tests, &doc);
		NODE_EACH (w, node_member(doc, S("wheels")))
			tested = tested ||
				 (str_eq(node_text(doc, S("verdict"), S("")), S("pass")) &&
					 str_eq(node_text(w, S("sha256"), S("")), S(HASH)));
		err_free(e);
	}
	return tested;
}

static void compare(struct arena *a, const struct strs *paths)
{
	struct test_evidence old, now;
	struct test_diff d = {0};
	struct err *e = evidence_read(a, paths->v[0], true, &old);
	e = e ? e : evidence_read(a, paths->v[1], true, &now);
	if (!e) {
		test_diff(a, &old, &now, 1.5, &d);
		check(d.failed.n + d.fixed.n + d.added.n <= now.tests.n);
		check(json_document(a, 2, test_diff_fields, &d).n > 0);
	}
	err_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	const char *tmp = getenv("TMPDIR");
	struct str text, rest = {.p = (const char *)data, .n = size};
	struct str dir = str_fmt(&a, "%s/fuzz-gate-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct release_wheel w = {.file = S("x-1.0-cp312-cp312-linux_x86_64.whl"),
		.sha256 = S(HASH),
		.project = S("x"),
		.version = S("1.0")};
	const struct release_set set = {.v = &w, .n = 1};
	struct release_gate gate = {
		.waivers = path_join(&a, dir, S("waivers.yaml")), .today = S("2026-11-29")};
	STRS_ADD(&a, &w.gpus, S("gfx1100"), S("gfx1201"));
	check(!fs_mkdirs(dir));
	for (unsigned i = 0; i < RESULTS; i++) {
		struct str path = str_fmt(&a, "%.*s/%u.json", STR(dir), i);
		(void)str_cut(rest, 0, &text, &rest);
		check(!fs_write(path, text, 0644));
		if (text.n)
			strs_add(&a, &gate.evidence, path);
	}
	check(!fs_write(gate.waivers, rest.n ? rest : S("waivers: []\n"), 0644));
	struct err *e = release_judge(&a, &set, &gate);
	check(!e || e->code != E_INTERNAL);
	if (!e)
		VEC_EACH (const struct release_proof, p, &gate.proofs)
			check(p->waived ? rest.n > 0 : is_tested(&a, &gate.evidence));
	err_free(e);
	if (gate.evidence.n > 1)
		compare(&a, &gate.evidence);
	err_free(fs_remove_tree(dir));
	return 0;
}
