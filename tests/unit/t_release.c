/* Releases: versions in texts, the gate, the order of wheels, pages, provenance, and a store that somebody changed. */
#include "fixture_wheel.h"

#include "base/hash.h"
#include "formats/node.h"
#include "lang/python/version.h"
#include "release/release.h"

static struct wheel_renames renames(struct arena *a, const char *words)
{
	struct wheel_renames r = {0};
	struct strs list = str_split(a, str_from(words), ' ');
	assert_ok(wheel_renames_read(a, &list, &r));
	return r;
}

static void check_text(const char *words, const char *text, const char *want)
{
	ARENA(a);
	struct wheel_renames r = renames(&a, words);
	assert_str(wheel_with_versions(&a, str_from(text), &r), want);
}

static void only_whole_versions_are_renamed(void **state)
{
	(void)state;
	static const char rc[] = "7.13.0rc2=7.13.0";
	check_text(rc, "rocm==7.13.0rc2", "rocm==7.13.0");
	check_text(rc, "2.9.1+rocm7.13.0rc2", "2.9.1+rocm7.13.0");
	check_text(rc, "'7.13.0rc2','7.13.0rc2'", "'7.13.0','7.13.0'");
	check_text(rc, "7.13.0rc2", "7.13.0");
	check_text(rc, "17.13.0rc2 0.7.13.0rc2 7.13.0rc21 7.13.0rc2.post1 7.13.0rc2-x",
		"17.13.0rc2 0.7.13.0rc2 7.13.0rc21 7.13.0rc2.post1 7.13.0rc2-x");
	check_text(rc, "7.13.0rc2.", "7.13.0.");
	check_text("7.13=7.14", "rocm==7.13.* 7.13.1", "rocm==7.14.* 7.13.1");
	check_text("1.0=2.0 2.0=3.0", "1.0", "3.0");
	check_text(rc, "", "");
}

static void words_that_name_no_version_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"7.13", "=1", "1=", "a=b", "1=2=3", NULL};
	for (const char *const *w = bad; *w; w++) {
		ARENA(a);
		struct strs list = {0};
		struct wheel_renames r = {0};
		strs_add(&a, &list, str_from(*w));
		struct err *e = wheel_renames_read(&a, &list, &r);
		assert_non_null(e);
		err_free(e);
	}
}

static void check_local(const char *old, const char *now, const char *want)
{
	ARENA(a);
	BUF(got, &a);
	struct wheel_renames r = {0};
	wheel_renames_local(&a, str_from(old), str_from(now), &r);
	VEC_EACH (const struct wheel_rename, it, &r)
		buf_fmt(&got, "%.*s=%.*s ", STR(it->old), STR(it->now));
	assert_str(buf_str(&got), want);
}

static void a_local_version_tells_which_versions_follow(void **state)
{
	(void)state;
	check_local("1.0+rocm7.12.0rc1", "1.0+rocm7.12.0",
		"1.0+rocm7.12.0rc1=1.0+rocm7.12.0 rocm7.12.0rc1=rocm7.12.0 7.12.0rc1=7.12.0 ");
	check_local("1.0+cpu", "1.0+rocm7.12.0", "1.0+cpu=1.0+rocm7.12.0 cpu=rocm7.12.0 ");
	check_local("1.0+rocm7.2", "1.0", "1.0+rocm7.2=1.0 ");
	check_local("1.0", "1.0+rocm7.2", "");
	check_local("1.0+7", "1.0+8", "1.0+7=1.0+8 7=8 ");
}

static void files_that_hold_versions_are_known_by_their_names(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const yes[] = {"torch/version.py", "torch/_rocm_init.py",
		"rocm_sdk/_dist_info.py", "x.egg-info/requires.txt", "a/.devel_links/gfx1100.json",
		"torch-1.dist-info/sboms/x.json", NULL};
	static const char *const no[] = {"torch/conversion.py", "torch/lib/x.so",
		"torch-1.dist-info/METADATA", "a.json", NULL};
	for (const char *const *n = yes; *n; n++)
		assert_true(wheel_has_versions(&a, str_from(*n)));
	for (const char *const *n = no; *n; n++)
		assert_false(wheel_has_versions(&a, str_from(*n)));
}

static void requirements_follow_where_they_are_exact(void **state)
{
	(void)state;
	ARENA(a);
	struct strs projects = {0};
	strs_add(&a, &projects, S("rocm"));
	struct wheel_request q = {
		.renames = renames(&a, "7.13.0rc2=7.13.0"), .projects = &projects};
	const struct str text =
		S("Metadata-Version: 2.1\nName: torch\nVersion: 2+rocm7.13.0rc2\n"
		  "Requires-Dist: rocm[libraries]==7.13.0rc2; extra == 'a'\n"
		  "Requires-Dist: rocm>=7.13.0rc2\nRequires-Dist: numpy==7.13.0rc2\n"
		  "\nThe body of 7.13.0rc2\n");
	struct dist_headers h;
	assert_ok(dist_headers_parse(&a, text, &h));
	assert_str(wheel_new_metadata(&a, &q, text, &h, S("2+rocm7.13.0")),
		"Metadata-Version: 2.1\nName: torch\nVersion: 2+rocm7.13.0\n"
		"Requires-Dist: rocm[libraries]==7.13.0; extra == 'a'\n"
		"Requires-Dist: rocm>=7.13.0rc2\nRequires-Dist: numpy==7.13.0rc2\n"
		"\nThe body of 7.13.0rc2\n");
}

/* ---- sets ---- */

static struct release_wheel wheel(
	struct arena *a, const char *file, const char *gpu, const char *requires)
{
	struct wheel_name n;
	struct release_wheel w = {.file = str_from(file), .path = str_from(file)};
	assert_ok(wheel_name_parse(a, w.file, &n));
	w.metadata = str_fmt(a, "Metadata-Version: 2.1\nName: %.*s\nVersion: %.*s\n%s", STR(n.dist),
		STR(n.version), requires ? requires : "");
	w.sha256 = sha256_hex(a, w.file);
	if (gpu)
		strs_add(a, &w.gpus, str_from(gpu));
	assert_ok(release_describe(a, &w));
	return w;
}

static struct release_set sample(struct arena *a)
{
	struct release_set s = {0};
	*VEC_PUSH(a, &s) = wheel(a, "torch-2.9-cp312-cp312-linux_x86_64.whl", NULL,
		"Requires-Dist: rocm==7\nProvides-Extra: device-gfx1100\n"
		"Requires-Dist: amd_rocm_device_libs_instinct; extra == 'with-rocm'\n"
		"Requires-Dist: amd-torch-device-gfx1100==2.9; extra == 'device-gfx1100'\n");
	*VEC_PUSH(a, &s) = wheel(a, "amd_torch_device_gfx1100-2.9-cp312-cp312-linux_x86_64.whl",
		"gfx1100", "Requires-Dist: torch==2.9\n");
	*VEC_PUSH(a, &s) = wheel(a, "rocm-7-py3-none-any.whl", NULL, NULL);
	*VEC_PUSH(a, &s) = wheel(a, "torchvision-0.24-cp312-cp312-linux_x86_64.whl", NULL,
		"Requires-Dist: torch==2.9\n");
	return s;
}

static void a_wheel_comes_behind_what_it_requires(void **state)
{
	(void)state;
	ARENA(a);
	struct release_set s = sample(&a);
	release_sort(&a, &s, false);
	struct strs names = release_projects(&a, &s);
	assert_str(str_join(&a, &names, S(" ")), "amd-torch-device-gfx1100 rocm torch torchvision");
	release_sort(&a, &s, true);
	names = release_projects(&a, &s);
	assert_str(str_join(&a, &names, S(" ")), "rocm amd-torch-device-gfx1100 torch torchvision");
	assert_int_equal(s.n, 4);
}

static struct str checked(
	struct arena *a, const struct release_set *s, const struct release_set *beside)
{
	struct findings f = {0};
	struct strs ids = {0};
	release_check(a, s, beside, &f);
	VEC_EACH (const struct finding, it, &f)
		if (it->severity == SEV_ERROR)
			strs_put(a, &ids, str_from(it->id));
	return str_join(a, &ids, S(" "));
}

static void what_contradicts_itself_is_found(void **state)
{
	(void)state;
	ARENA(a);
	struct release_set s = sample(&a), lacks = {0}, twice = sample(&a), old = {0};
	assert_str(checked(&a, &s, NULL), "");
	VEC_EACH (const struct release_wheel, w, &s)
		if (!release_device(w->project).n)
			*VEC_PUSH(&a, &lacks) = *w;
	assert_str(checked(&a, &lacks, NULL), "release-dangling");
	twice.v[2].sha256 = S("other");
	assert_str(checked(&a, &s, &twice), "release-clash");
	twice.v[2].sha256 = S(""); /* not known yet */
	assert_str(checked(&a, &s, &twice), "");
	*VEC_PUSH(&a, &old) = wheel(&a, "x-1+rocm10.0-py3-none-any.whl", NULL, NULL);
	struct release_set seven = {0};
	*VEC_PUSH(&a, &seven) = wheel(&a, "x-1+rocm7.0-py3-none-any.whl", NULL, NULL);
	assert_str(checked(&a, &old, &seven), "version-order");
	assert_str(checked(&a, &seven, &old), "version-order");
	seven.v[0].yanked = S("bad");
	assert_str(checked(&a, &old, &seven), "");
	struct strs names = release_lacks(&a, &lacks);
	assert_int_equal(names.n, 0);
	lacks.n = 1; /* torch alone */
	names = release_lacks(&a, &lacks);
	assert_str(str_join(&a, &names, S(" ")), "rocm");
}

static void pages_escape_what_others_wrote(void **state)
{
	(void)state;
	ARENA(a);
	struct release_set s = sample(&a);
	const struct node *doc;
	s.v[0].requires_python = S(">=3.9,<\"4\"");
	s.v[0].yanked = S("<b>\"&\n");
	struct str page = release_page(&a, &s, S("torch"), S("../"));
	assert_true(str_contains(page, S("data-requires-python=\"&gt;=3.9,&lt;&quot;4&quot;\"")));
	assert_true(str_contains(page, S("data-yanked=\"&lt;b&gt;&quot;&amp;\n\"")));
	assert_false(str_contains(page, S("<b>")));
	assert_ok(json_parse(&a, release_json(&a, &s, S("torch"), S("../")), S("x"), &doc));
	const struct node *file = &node_get(doc, S("files"))->v[0];
	assert_str(node_text(file, S("yanked"), S("")), "<b>\"&\n");
	assert_str(node_text(file, S("requires-python"), S("")), ">=3.9,<\"4\"");
	s.v[0].yanked = S("");
	assert_true(str_contains(release_page(&a, &s, S("torch"), S("")), S("data-yanked=\"\"")));
	assert_ok(json_parse(&a, release_json(&a, &s, S("torch"), S("")), S("x"), &doc));
	assert_true(node_bool(&node_get(doc, S("files"))->v[0], S("yanked"), false));
}

static void tags_say_which_python_a_wheel_is_for(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *file, *python;
		bool fits;
	} rows[] = {{"x-1-cp312-cp312-any.whl", "3.12", true},
		{"x-1-cp312-cp312-any.whl", "3.13", false}, {"x-1-cp39-abi3-any.whl", "3.13", true},
		{"x-1-cp313-abi3-any.whl", "3.9", false}, {"x-1-py3-none-any.whl", "3.13", true},
		{"x-1-cp311.cp312-none-any.whl", "3.12", true},
		{"x-1-cp312-cp312-any.whl", "", true}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct release_wheel w = {.file = str_from(rows[i].file)};
		assert_int_equal(release_fits(&a, &w, str_from(rows[i].python)), rows[i].fits);
	}
}

/* ---- the gate ---- */

struct proof_of {
	struct arena a;
	struct str dir;
	struct release_set set;
	struct release_gate gate;
	struct str more;   /* members of the evidence that is added */
	const char *tests; /* its tests; NULL = one that passed */
};

static int begin_gate(void **state)
{
	struct proof_of *p = calloc(1, sizeof(*p));
	p->dir = test_dir(&p->a);
	p->set = sample(&p->a);
	p->gate.today = S("2026-11-29");
	*state = p;
	return 0;
}

static int end_gate(void **state)
{
	struct proof_of *p = *state;
	test_dir_remove(p->dir);
	arena_free(&p->a);
	free(p);
	return 0;
}

#define PASSED "{\"id\": \"a\", \"outcome\": \"passed\"}"
#define SKIPPED "{\"id\": \"b\", \"outcome\": \"skipped\"}"

/* Evidence for the wheels of these numbers. */
static void add_evidence(
	struct proof_of *p, const char *verdict, const char *gpu, const char *wheels)
{
	BUF(b, &p->a);
	struct str path = str_fmt(&p->a, "%.*s/%zu.json", STR(p->dir), p->gate.evidence.n);
	for (; *wheels; wheels++) {
		const struct release_wheel *w = &p->set.v[*wheels - '0'];
		buf_fmt(&b, "%s{\"name\": \"%.*s\", \"sha256\": \"%.*s\", \"more\": 1}",
			b.n ? ", " : "", STR(w->file), STR(w->sha256));
	}
	test_put(path,
		str_fmt(&p->a,
			"{\"schema\": \"rocsmith.test/1\", \"verdict\": \"%s\", \"gpu\": \"%s\","
			"\"python\": \"3.12\", \"more\": [1], \"wheels\": [%.*s], \"tests\": "
			"[%s]%.*s}",
			verdict, gpu, STR(buf_str(&b)), p->tests ? p->tests : PASSED, STR(p->more))
			.p);
	strs_add(&p->a, &p->gate.evidence, path);
}

static void add_waiver(struct proof_of *p, const char *row)
{
	p->gate.waivers = path_join(&p->a, p->dir, S("w.yaml"));
	test_put(p->gate.waivers, str_fmt(&p->a, "waivers:\n- {%s}\n", row).p);
}

static void judged(struct proof_of *p, const char *want)
{
	struct strs ids = {0};
	p->gate.findings = (struct findings){0};
	p->gate.proofs = (struct release_proofs){0};
	assert_ok(release_judge(&p->a, &p->set, &p->gate));
	VEC_EACH (const struct finding, f, &p->gate.findings)
		strs_put(&p->a, &ids, str_from(f->id));
	assert_str(str_join(&p->a, &ids, S(" ")), want);
}

static void a_set_passes_when_all_that_runs_was_tested(void **state)
{
	struct proof_of *p = *state;
	judged(p, "gate-missing");
	add_evidence(p, "pass", "gfx1100", "1");
	judged(p, "gate-missing"); /* torch, which the device wheel requires, was not there */
	add_evidence(p, "pass", "gfx1100", "0");
	judged(p, ""); /* rocm and torchvision have no code for the GPU */
	assert_int_equal(p->gate.proofs.n, 1);
	struct str by = p->gate.proofs.v[0].by, hash = S(" sha256:");
	assert_true(str_starts(by, S("0.json sha256:")) && str_contains(by, S(", 1.json sha256:")));
	assert_int_equal(by.n, 2 * (6 + hash.n + 64) + 2);
}

/* `rocsmith test torch --shard 2/3` says nothing of the other two. */
static void a_shard_counts_with_all_the_others(void **state)
{
	struct proof_of *p = *state;
	static const char *const shards[] = {"1", "2", "3"}, *const tests[] = {"", PASSED,
								     PASSED ", " SKIPPED};
	for (size_t i = 0; i < 3; i++) {
		p->more = str_fmt(&p->a, ", \"config\": \"default\", \"shard\": %s, \"shards\": 3",
			shards[i]);
		p->tests = tests[i];
		add_evidence(p, "pass", "gfx1100", "01");
		judged(p, i < 2 ? "gate-missing" : "");
	}
	p->gate.evidence.n = 2;
	p->more = S(", \"config\": \"other\", \"shard\": 3, \"shards\": 3");
	add_evidence(p, "pass", "gfx1100", "01");
	judged(p, "gate-missing");
	/* the third shard was one of torch alone, so the device wheel was not in all of them */
	p->gate.evidence.n = 2;
	p->more = S(", \"config\": \"default\", \"shard\": 3, \"shards\": 3");
	add_evidence(p, "pass", "gfx1100", "0");
	judged(p, "gate-missing");
	add_evidence(p, "pass", "gfx1100", "1");
	judged(p, "");
}

/* Whatever its name is: "extra" in it makes no extra. */
static void what_is_required_without_an_extra_was_tested(void **state)
{
	struct proof_of *p = *state;
	static const struct {
		const char *requires, *want;
	} cases[] = {
		{"some-extras==1", "gate-missing"},
		{"some-extras", "gate-missing"},
		{"some_extras; python_version >= '3.8' or extra == 'a'", "gate-missing"},
		{"some-extras; extra == 'a'", ""},
		{"some-extras; python_version < '3.8'", ""},
		{"other[extra]==1", ""},
	};
	*VEC_PUSH(&p->a, &p->set) = wheel(&p->a, "some_extras-1-py3-none-any.whl", NULL, NULL);
	add_evidence(p, "pass", "gfx1100", "01");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str line = str_fmt(
			&p->a, "Requires-Dist: torch==2.9\nRequires-Dist: %s\n", cases[i].requires);
		struct release_wheel *w = &p->set.v[1];
		struct str sha256 = w->sha256;
		*w = wheel(&p->a, w->file.p, "gfx1100", line.p);
		assert_str(w->sha256, sha256.p);
		judged(p, cases[i].want);
	}
}

/* A stranger's METADATA may require thousands, and a folder has many wheels: they take no minutes. */
static void all_that_is_lacking_is_found_in_time(void **state)
{
	(void)state;
	enum { WHEELS = 12, EACH = 9000 };
	ARENA(a);
	struct release_set s = {0};
	for (unsigned i = 0; i < WHEELS; i++) {
		BUF(b, &a);
		for (unsigned k = 0; k < EACH; k++)
			buf_fmt(&b, "Requires-Dist: needed-%05u-%05u\n", i, k);
		buf_char(&b, 0);
		*VEC_PUSH(&a, &s) =
			wheel(&a, str_fmt(&a, "x%u-1-py3-none-any.whl", i).p, NULL, b.p);
	}
	double began = cpu_seconds();
	assert_int_equal(release_lacks(&a, &s).n, WHEELS * EACH);
	assert_true(cpu_seconds() - began < 30);
}

static void a_run_in_which_nothing_was_passed_proves_nothing(void **state)
{
	struct proof_of *p = *state;
	p->more = S(", \"shard\": 1, \"shards\": 1");
	p->tests = SKIPPED;
	add_evidence(p, "pass", "gfx1100", "01");
	judged(p, "gate-missing");
	p->tests = PASSED;
	add_evidence(p, "pass", "gfx1100,gfx1201", "01");
	judged(p, "");
}

static void evidence_counts_for_its_gpu_and_wheels_only(void **state)
{
	struct proof_of *p = *state;
	add_evidence(p, "pass", "gfx1201", "01");
	judged(p, "gate-missing");
	p->gate.evidence.n = 0;
	add_evidence(p, "pass", "cpu", "0123");
	judged(p, "gate-missing");
	p->gate.evidence.n = 0;
	add_evidence(p, "pass", "gfx1100", "01");
	p->set.v[1].origin = p->set.v[1].sha256; /* it was renamed since */
	p->set.v[1].sha256 = S("new");
	judged(p, "");
	p->set.v[1].origin = S("");
	judged(p, "gate-other gate-missing");
	p->set.v[1].file = S("renamed-1-py3-none-any.whl");
	p->set.v[0].sha256 = S("x");
	p->set.v[0].file = S("renamed-1-py3-none-any.whl");
	judged(p, "gate-other gate-missing");
}

/* `rocsmith test` names wheels by their projects. */
static void a_project_has_a_wheel_for_each_python(void **state)
{
	struct proof_of *p = *state;
	struct release_wheel torch = p->set.v[0], device = p->set.v[1];
	p->set.v[0].file = torch.project;
	p->set.v[1].file = device.project;
	add_evidence(p, "pass", "gfx1100", "01");
	p->set.v[0] = torch;
	p->set.v[1] = device;
	judged(p, "");
	torch.file = S("torch-2.9-cp313-cp313-linux_x86_64.whl");
	torch.sha256 = S("that of 3.13");
	*VEC_PUSH(&p->a, &p->set) = torch;
	judged(p, ""); /* there is no code for a GPU with 3.13 */
	p->set.v[1].sha256 = S("another amd-torch-device-gfx1100");
	judged(p, "gate-other gate-missing");
}

static void a_failed_test_counts_more_than_a_passed_one(void **state)
{
	struct proof_of *p = *state;
	add_evidence(p, "pass", "gfx1100", "0123");
	add_evidence(p, "fail", "gfx1100", "01");
	judged(p, "gate-failed");
}

static void a_waiver_counts_until_its_last_day(void **state)
{
	struct proof_of *p = *state;
	add_waiver(p, "gpu: gfx1100, python: '*', name: J, reason: r, expires: '2026-11-29'");
	judged(p, "");
	assert_true(p->gate.proofs.v[0].waived);
	assert_str(p->gate.proofs.v[0].by, "waived by J until 2026-11-29: r");
	add_waiver(p, "gpu: gfx1100, python: '*', name: J, reason: r, expires: '2026-11-28'");
	judged(p, "gate-waiver-expired gate-missing");
	add_waiver(p, "gpu: gfx1201, python: '*', name: J, reason: r, expires: '2999-11-28'");
	judged(p, "gate-missing");
	add_waiver(p, "gpu: '*', python: '3.13', name: J, reason: r, expires: '2999-11-28'");
	judged(p, "gate-missing");
	static const char *const bad[] = {"gpu: '*', python: '*', reason: r, expires: '2999-11-28'",
		"gpu: '*', python: '*', name: J, reason: '', expires: '2999-11-28'",
		"gpu: '*', python: '*', name: J, reason: r",
		"gpu: '*', python: '*', name: J, reason: r, expires: '2999-13-28'",
		"gpu: '*', python: '*', name: J, reason: r, expires: '2999-11-00'",
		"gpu: '*', python: '*', name: J, reason: r, expires: '99-11-28'",
		"gpu: '*', python: '*', name: J, reason: r, expires: '2999-11-28', x: 1"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		add_waiver(p, bad[i]);
		struct err *e = release_judge(&p->a, &p->set, &p->gate);
		assert_non_null(e);
		assert_int_equal(e->code, E_SYNTAX);
		err_free(e);
	}
}

static void what_is_no_evidence_is_refused(void **state)
{
	struct proof_of *p = *state;
	static const char *const bad[] = {"[]", "{}", "{\"schema\": \"rocsmith.test/1\"}", "x",
		"{\"schema\": \"rocsmith.test/1\", \"verdict\": \"maybe\", \"gpu\": \"cpu\", "
		"\"python\": \"3\", \"tests\": []}",
		"{\"schema\": \"rocsmith.test/1\", \"verdict\": [], \"gpu\": \"cpu\", \"python\": "
		"\"3\", \"tests\": []}",
		/* `rocsmith test diff` reads none of these either */
		"{\"schema\": \"rocsmith.test/1\", \"verdict\": \"pass\", \"gpu\": \"cpu\"}",
		"{\"schema\": \"rocsmith.test/1\", \"verdict\": \"pass\", \"gpu\": \"cpu\", "
		"\"tests\": [{\"id\": \"a\", \"outcome\": \"good\"}]}",
		"{\"schema\": \"rocsmith.test/1\", \"verdict\": \"pass\", \"gpu\": \"cpu\", "
		"\"tests\": [" PASSED ", 1}"};
	strs_add(&p->a, &p->gate.evidence, path_join(&p->a, p->dir, S("e.json")));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		test_put(p->gate.evidence.v[0], bad[i]);
		struct err *e = release_judge(&p->a, &p->set, &p->gate);
		assert_non_null(e);
		assert_int_equal(e->code, E_SYNTAX);
		err_free(e);
	}
}

/* ---- provenance ---- */

static void a_statement_says_what_the_record_says(void **state)
{
	(void)state;
	ARENA(a);
	struct release_wheel w = wheel(&a, "x-1-py3-none-any.whl", NULL, NULL);
	const struct node *doc;
	struct str text;
	assert_ok(release_statement(&a, &w, S(""), &text));
	assert_str(text, "");
	struct str record = str_fmt(&a,
		"{\"rocsmith\": \"9\", \"wheel\": {\"sha256\": \"%.*s\"}, \"gpus\": [\"gfx1100\"],"
		"\"with\": [{\"file\": \"torch.whl\", \"sha256\": \"aa\"}], \"source\": "
		"{\"files\": ["
		"{\"name\": \"s.tar\", \"sha256\": \"bb\"}]}, \"packages\": [{\"name\": \"wheel\","
		"\"version\": \"1\", \"sha256\": \"cc\"}, {\"name\": \"nothing\"}]}",
		STR(w.sha256));
	assert_ok(release_statement(&a, &w, record, &text));
	assert_ok(json_parse(&a, text, S("x"), &doc));
	assert_str(node_text(doc, S("_type"), S("")), "https://in-toto.io/Statement/v1");
	const struct node *build = node_get(node_get(doc, S("predicate")), S("buildDefinition"));
	const struct node *inputs = node_get(build, S("resolvedDependencies"));
	assert_int_equal(inputs->n, 3);
	assert_str(node_text(&inputs->v[2], S("name"), S("")), "wheel 1");
	assert_str(node_text(node_get(&inputs->v[0], S("digest")), S("sha256"), S("")), "bb");
	w.sha256 = S("other");
	struct err *e = release_statement(&a, &w, record, &text);
	assert_int_equal(e->code, E_HASH);
	err_free(e);
}

/* Whoever follows a state to the one before must not be led to another stream, or out of the store. */
static void a_state_leads_to_states_of_its_stream_only(void **state)
{
	(void)state;
	static const char *const streams[] = {"rc", "dev", "files", "/tmp", "../x", "", NULL};
	for (const char *const *name = streams; *name; name++) {
		ARENA(a);
		struct str dir = test_dir(&a);
		struct release_store s = {.dir = dir, .stream = S("rc"), .lock = -1};
		struct release_state got;
		struct str text = str_fmt(&a,
			"{\"schema\": \"rocsmith.stream/1\", \"stream\": \"%s\", \"sets\": [], "
			"\"previous\": \"\", \"time\": \"\", \"proofs\": []}",
			*name);
		struct str id = sha256_hex(&a, text);
		assert_ok(release_write(&a, &s, "states", id, text));
		struct err *e = release_state_read(&a, &s, S("rc"), id, &got);
		assert_int_equal(e ? e->code : 0, name == streams ? 0 : E_CORRUPT);
		err_free(e);
		test_dir_remove(dir);
	}
}

static void attestations_are_about_their_file(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), text;
	const struct node *doc;
	struct release_wheel w = {.file = S("x-1-py3-none-any.whl"), .sha256 = S("aa")};
	w.path = path_join(&a, dir, w.file);
	assert_ok(release_attested(&a, &w, &text));
	assert_str(text, "");
	/* {"subject":[{"name":"x-1-py3-none-any.whl","digest":{"sha256":"aa"}}]} */
	static const char good[] = "{\"version\":1,\"verification_material\":{},\"envelope\":{"
				   "\"signature\":\"c2ln\",\"statement\":"
				   "\"eyJzdWJqZWN0IjpbeyJuYW1lIjoieC0xLXB5My1ub25lLWFueS53aGwiLCJka"
				   "Wdlc3QiOnsic2hhMjU2IjoiYWEifX1d"
				   "fQ==\"}}";
	struct str path = path_join(&a, dir, S("x-1-py3-none-any.whl.publish.attestation"));
	test_put(path, good);
	assert_ok(release_attested(&a, &w, &text));
	assert_ok(json_parse(&a, text, S("x"), &doc));
	const struct node *bundle = &node_get(doc, S("attestation_bundles"))->v[0];
	assert_int_equal(node_get(bundle, S("attestations"))->n, 1);
	w.sha256 = S("bb");
	struct err *e = release_attested(&a, &w, &text);
	assert_int_equal(e->code, E_HASH);
	err_free(e);
	static const char no_statement[] =
		"{\"version\":1,\"verification_material\":{},"
		"\"envelope\":{\"signature\":\"c\",\"statement\":\"*\"}}";
	static const char *const bad[] = {"{}", "{\"version\":2}", no_statement};
	for (size_t i = 0; i < 3; i++) {
		test_put(path, bad[i]);
		e = release_attested(&a, &w, &text);
		assert_int_equal(e->code, E_SYNTAX);
		err_free(e);
	}
	test_dir_remove(dir);
}

static void addresses_that_leak_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"http://example.org", "http://127.0.0.1.example.org/",
		"https://a:b@example.org/", "https://", "ftp://localhost/",
		"http://localhost.evil/", "https://example.org/?a", "https://example.org/a b",
		"s3://a b/c", "s3:///x"};
	static const char *const good[] = {"https://example.org/x/", "http://127.0.0.1:80",
		"http://localhost/", "http://[::1]:8080/x", "http://[::1]"};
	struct web r;
	setenv("AWS_ACCESS_KEY_ID", "AK", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "s\"e\\c", 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ARENA(a);
		struct err *e = web_open(&a, str_from(bad[i]), NULL, &r);
		assert_non_null(e);
		assert_int_equal(e->code, E_USAGE);
		err_free(e);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ARENA(a);
		assert_ok(web_open(&a, str_from(good[i]), NULL, &r));
	}
	ARENA(a);
	assert_ok(web_open(&a, S("s3://bucket/a/b/"), NULL, &r));
	assert_str(r.base, "https://s3.us-east-1.amazonaws.com/bucket/a/b");
	assert_true(strs_has(&r.settings, S("user = \"AK:s\\\"e\\\\c\"")));
	setenv("AWS_SECRET_ACCESS_KEY", "a\nurl = file:///etc/passwd", 1);
	struct err *e = web_open(&a, S("s3://bucket"), NULL, &r);
	assert_int_equal(e->code, E_USAGE);
	err_free(e);
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
}

/* A folder may have thousands of wheels, and its names are read for each. */
static void names_beside_a_wheel_are_not_kept(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), text;
	const struct release_wheel w = {
		.file = S("demo-1.0-py3-none-any.whl"), .path = path_join(&a, dir, S("demo.whl"))};
	for (unsigned i = 0; i < 9; i++)
		test_put(str_fmt(&a, "%.*s/%u.whl", STR(dir), i), "x");
	struct arena_mark before = arena_mark(&a);
	assert_ok(release_attested(&a, &w, &text));
	struct arena_mark now = arena_mark(&a);
	assert_int_equal(text.n, 0);
	assert_memory_equal(&before, &now, sizeof(now));
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_beside_a_wheel_are_not_kept),
		cmocka_unit_test(only_whole_versions_are_renamed),
		cmocka_unit_test(words_that_name_no_version_are_refused),
		cmocka_unit_test(a_local_version_tells_which_versions_follow),
		cmocka_unit_test(files_that_hold_versions_are_known_by_their_names),
		cmocka_unit_test(requirements_follow_where_they_are_exact),
		cmocka_unit_test(a_wheel_comes_behind_what_it_requires),
		cmocka_unit_test(what_contradicts_itself_is_found),
		cmocka_unit_test(pages_escape_what_others_wrote),
		cmocka_unit_test(tags_say_which_python_a_wheel_is_for),
		cmocka_unit_test_setup_teardown(
			a_set_passes_when_all_that_runs_was_tested, begin_gate, end_gate),
		cmocka_unit_test_setup_teardown(
			evidence_counts_for_its_gpu_and_wheels_only, begin_gate, end_gate),
		cmocka_unit_test_setup_teardown(
			a_project_has_a_wheel_for_each_python, begin_gate, end_gate),
		cmocka_unit_test_setup_teardown(
			a_shard_counts_with_all_the_others, begin_gate, end_gate),
		cmocka_unit_test_setup_teardown(
			a_run_in_which_nothing_was_passed_proves_nothing, begin_gate, end_gate),
		cmocka_unit_test_setup_teardown(
			a_failed_test_counts_more_than_a_passed_one, begin_gate, end_gate),
		cmocka_unit_test_setup_teardown(
			a_waiver_counts_until_its_last_day, begin_gate, end_gate),
		cmocka_unit_test_setup_teardown(
			what_is_no_evidence_is_refused, begin_gate, end_gate),
		cmocka_unit_test_setup_teardown(
			what_is_required_without_an_extra_was_tested, begin_gate, end_gate),
		cmocka_unit_test(all_that_is_lacking_is_found_in_time),
		cmocka_unit_test(a_state_leads_to_states_of_its_stream_only),
		cmocka_unit_test(a_statement_says_what_the_record_says),
		cmocka_unit_test(attestations_are_about_their_file),
		cmocka_unit_test(addresses_that_leak_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
