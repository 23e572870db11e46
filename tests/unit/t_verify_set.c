/* Several wheels together, what they say they are made of, and the log for code scanning. */
#include "fixture_verify.h"

#include "formats/node.h"

struct made {
	const char *name, *version;
	const char *more; /* lines of METADATA */
};

static struct str make(struct arena *a, struct str dir, const struct made *m)
{
	struct str stem = str_fmt(a, "%s-%s", m->name, m->version);
	BUF(name, a);
	for (const char *p = m->name; *p; p++)
		buf_char(&name, *p == '_' ? '-' : *p);
	struct fx_wheel w = {.files = {A_FILE}};
	w.file = str_fmt(a, "%.*s-py3-none-any.whl", STR(stem)).p;
	w.info = str_fmt(a, "%.*s.dist-info", STR(stem)).p;
	w.metadata = str_fmt(a, "Metadata-Version: 2.1\nName: %.*s\nVersion: %s\n%s",
		STR(buf_str(&name)), m->version, m->more ? m->more : "")
			     .p;
	return fx_write(a, dir, w);
}

/* "WHEEL: ids" of those that have any, by their project names. */
static void check_set(const char *want, const struct made v[4])
{
	ARENA(a);
	BUF(got, &a);
	struct str dir = test_dir(&a);
	struct strs paths = {0};
	struct verdicts all = {0};
	for (size_t i = 0; i < 4 && v[i].name; i++)
		strs_add(&a, &paths, make(&a, dir, &v[i]));
	assert_ok(verify_wheels(&a, &paths, &(struct verify_options){.jobs = 1}, &all));
	VEC_EACH (const struct verdict, it, &all.wheels)
		if (it->findings.n)
			buf_fmt(&got, "%s%.*s: %.*s", got.n ? "; " : "", STR(it->project),
				STR(ids(&a, it)));
	VEC_EACH (const struct verdict, it, &all.wheels)
		assert_int_equal(
			it->pass, !it->findings.n || findings_worst(&it->findings) < SEV_ERROR);
	assert_str(buf_str(&got), want);
	test_dir_remove(dir);
}

#define SET(want, ...) check_set(want, (const struct made[4]){__VA_ARGS__})
#define PIN "Requires-Dist: torch==2.9.1+rocm7.2\n"

static void what_wheels_require_of_each_other_is_there(void **state)
{
	(void)state;
	const struct made device = {"amd_torch_device_gfx1100", "2.9.1+rocm7.2", PIN};
	SET("", {"torch", "2.9.1+rocm7.2", NULL}, device);
	SET("", {"torchvision", "0.24", "Requires-Dist: torch>=2.9\n"},
		{"torch", "2.9.1+rocm7.2", NULL});
	SET("torchvision: set-version", {"torchvision", "0.24", "Requires-Dist: torch==2.9.0\n"},
		{"torch", "2.9.1+rocm7.2", NULL});
	SET("amd_torch_device_gfx1100: set-version", {"torch", "2.9.1+rocm7.1", NULL}, device);
	/* one of two will do */
	SET("", {"torch", "2.9.1+rocm7.1", NULL}, {"torch", "2.9.1+rocm7.2", NULL}, device);
	/* names as they are written by hand; what other systems and Pythons need is not asked for here */
	SET("a: set-version", {"a", "1", "Requires-Dist: My.Pkg (<1)\n"}, {"my_pkg", "1", NULL});
	SET("", {"a", "1", "Requires-Dist: my-pkg<1; python_version < '3.0'\n"},
		{"my_pkg", "1", NULL});
	SET("", {"a", "1", "Requires-Dist: my-pkg<1; sys_platform == 'win32'\n"},
		{"my_pkg", "1", NULL});
	SET("", {"a", "1", "Requires-Dist: elsewhere==3\n"}, {"my_pkg", "1", NULL});
}

static void a_version_and_its_requirements_name_one_rocm(void **state)
{
	(void)state;
	static const char rc[] = "Requires-Dist: rocm[libraries]==7.12.0rc1\n";
	SET("torch: rocm-mixed", {"torch", "2.9.1+rocm7.12.0", rc});
	SET("torch: rocm-mixed", {"torch", "2.9.1+rocm7.12.0rc2", rc});
	SET("torch: rocm-mixed",
		{"torch", "2.9.1+rocm7.12.0rc1", "Requires-Dist: rocm-sdk-core==7.12.0\n"});
	SET("", {"torch", "2.9.1+rocm7.12.0rc1", rc});
	SET("", {"torch", "2.9.1+rocm7.12", "Requires-Dist: rocm==7.12.1\n"});
	SET("", {"torch", "2.9.1+rocm7.12.0", "Requires-Dist: rocm==7.12\n"});
	SET("", {"torch", "2.9.1+rocm7.12.0", "Requires-Dist: rocm==7.11.*\n"});
	SET("", {"torch", "2.9.1+rocm7.12.0", "Requires-Dist: rocm>=7.12.0rc1\n"});
	SET("", {"torch", "2.9.1+rocm7.12.0", "Requires-Dist: numpy==1.0\n"});
	SET("", {"torch", "2.9.1+devrocm7.10.0.dev0.abc", rc});
	SET("", {"torch", "2.9.1+cpu", rc});
	SET("", {"torch", "2.9.1", rc});
}

#define EXTRA(gpu)                                                                                 \
	"Provides-Extra: device-" gpu "\nRequires-Dist: amd-torch-device-" gpu                     \
	"==2.9.1+rocm7.2; extra == 'device-" gpu "'\n"

static void no_device_wheel_is_missing(void **state)
{
	(void)state;
	const struct made host = {"torch", "2.9.1+rocm7.2", EXTRA("gfx1100") EXTRA("gfx1201")};
	SET("", host);
	SET("torch: set-dangling", host, {"amd_torch_device_gfx1100", "2.9.1+rocm7.2", PIN});
	SET("", host, {"amd_torch_device_gfx1100", "2.9.1+rocm7.2", PIN},
		{"amd_torch_device_gfx1201", "2.9.1+rocm7.2", PIN});
	/* the family wheel that one of them needs */
	SET("amd_torch_device_gfx1100: set-dangling", {"torch", "2.9.1+rocm7.2", NULL},
		{"amd_torch_device_gfx1100", "2.9.1+rocm7.2",
			PIN "Requires-Dist: amd-torch-device-gfx11==2.9.1+rocm7.2\n"});
	SET("torch: set-version", {"torch", "2.9.1+rocm7.2", EXTRA("gfx1100")},
		{"amd_torch_device_gfx1100", "2.9.0", PIN});
}

static void device_wheels_name_one_version(void **state)
{
	(void)state;
	SET("amd_torch_device_gfx1100: set-unpinned", {"torch", "2.9.1+rocm7.2", NULL},
		{"amd_torch_device_gfx1100", "2.9.1+rocm7.2", "Requires-Dist: torch>=2.9\n"});
	SET("amd_torch_device_gfx1100: set-unpinned", {"torch", "2.9.1+rocm7.2", NULL},
		{"amd_torch_device_gfx1100", "2.9.1+rocm7.2", "Requires-Dist: torch==2.9.*\n"});
	SET("torch: set-unpinned",
		{"torch", "2.9.1+rocm7.2",
			"Provides-Extra: d\nRequires-Dist: amd-torch-device-gfx1100; extra == "
			"\"d\"\n"},
		{"amd_torch_device_gfx1100", "2.9.1+rocm7.2", PIN});
}

#define PLAIN_PIN "Requires-Dist: torch>=2\n"

static void device_wheels_are_of_the_hosts_version(void **state)
{
	(void)state;
	const struct made host = {"torch", "2.12.0+rocm7.14.1", NULL};
	SET("amd_torch_device_gfx90a: set-mixed", host,
		{"amd_torch_device_gfx90a", "2.12.0+rocm7.14.0", NULL});
	SET("amd_torch_device_gfx90a: set-mixed set-unpinned", host,
		{"amd_torch_device_gfx90a", "2.12.0+rocm7.14.0", PLAIN_PIN});
	SET("rocm_sdk_device_gfx90a: set-mixed", {"rocm_sdk_libraries", "7.14.0", NULL},
		{"rocm_sdk_device_gfx90a", "7.14.1", NULL});
	SET("", {"rocm_sdk_libraries", "7.14.0", NULL},
		{"rocm_sdk_device_gfx90a", "7.14.0.0", NULL});
	SET("", host, {"amd_vision_device_gfx90a", "1", NULL});
	/* each has its own */
	SET("", host, {"torch", "2.12.0+rocm7.14.0", NULL},
		{"amd_torch_device_gfx90a", "2.12.0+rocm7.14.0", NULL});
}

static void families_are_required(void **state)
{
	(void)state;
#define V "2.9.1+rocm7.2"
#define NEEDS(key) "Requires-Dist: amd-torch-device-" key "==" V "\n"
	const struct made host = {"torch", V, NULL}, gpu = {"amd_torch_device_gfx1100", V, PIN};
	SET("amd_torch_device_gfx1100: set-family", host, gpu, {"amd_torch_device_gfx11", V, PIN});
	SET("amd_torch_device_gfx1100: set-family", host, gpu,
		{"amd_torch_device_gfx110x", V, PIN});
	SET("amd_torch_device_gfx942: set-family", host, {"amd_torch_device_gfx942", V, PIN},
		{"amd_torch_device_gfx9_4", V, PIN});
	SET("", host, {"amd_torch_device_gfx1100", V, PIN NEEDS("gfx11")},
		{"amd_torch_device_gfx11", V, PIN});
	SET("",
		{"torch", V,
			"Provides-Extra: device-gfx1100\n"
			"Requires-Dist: amd-torch-device-gfx11==" V
			"; extra == 'device-gfx1100'\n"},
		gpu, {"amd_torch_device_gfx11", V, PIN});
	SET("", host, gpu, {"amd_torch_device_gfx115x", V, PIN},
		{"amd_torch_device_gfx12_0", V, PIN});
	SET("", host, gpu, {"amd_vision_device_gfx11", "1", NULL});
	/* a sub-family that is required and is not there, also where a marker names the system */
	SET("amd_torch_device_gfx1100: set-dangling", host,
		{"amd_torch_device_gfx1100", V, PIN NEEDS("gfx110x")});
	SET("torch: set-dangling",
		{"torch", V,
			"Provides-Extra: device-gfx1100\n"
			"Requires-Dist: amd-torch-device-gfx110x==" V
			"; extra == 'device-gfx1100' and sys_platform == 'linux'\n"},
		gpu);
}

static void extras_exist(void **state)
{
	(void)state;
	SET("", {"a", "1", "Provides-Extra: My_Extra\nRequires-Dist: x; extra == 'my-extra'\n"});
	SET("a: metadata-extra",
		{"a", "1", "Provides-Extra: one\nRequires-Dist: x; extra == 'two'\n"});
	SET("a: metadata-extra", {"a", "1",
					 "Provides-Extra: one\nRequires-Dist: x; extra == \"one\" "
					 "or extra == \"two\"\n"});
	SET("a: set-extra", {"a", "1", "Requires-Dist: torch[device-gfx1100]\n"},
		{"torch", "2.9.1+rocm7.2", NULL});
	SET("", {"a", "1", "Requires-Dist: torch[device_gfx1100]\n"},
		{"torch", "2.9.1+rocm7.2", "Provides-Extra: device-gfx1100\n"});
}

static void installers_order_versions_of_rocm_otherwise(void **state)
{
	(void)state;
	SET("torch: version-order", {"torch", "2.9.1+rocm10.0", NULL},
		{"torch", "2.9.1+rocm7.2", NULL});
	SET("torch: (version-order)", {"torch", "2.9.1+rocm10.0", NULL});
	SET("", {"torch", "2.9.1+rocm7.10", NULL}, {"torch", "2.9.1+rocm7.2", NULL});
	SET("", {"torch", "2.9.1+rocm7.2", NULL}, {"torch", "2.9.1+rocm6.4.3", NULL});
	SET("", {"torch", "2.9.1+cu130", NULL}, {"torch", "2.9.1", NULL});
	/* another version decides anyway */
	SET("torch: (version-order)", {"torch", "2.10.0+rocm10.0", NULL},
		{"torch", "2.9.1+rocm7.2", NULL});
}

/* ---- bills of materials ---- */

static void check_sbom(const char *want, const char *name, const char *text)
{
	ARENA(a);
	struct str dir = test_dir(&a);
	struct fx_wheel w = {.files = {A_FILE, {.name = name, .content = str_from(text)}}};
	assert_str(verify(&a, fx_write(&a, dir, w), (struct verify_options){0}), want);
	test_dir_remove(dir);
}

#define SBOM "demo-1.0.dist-info/sboms/x.cdx.json"
#define CDX(rest) "{\"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.6\"" rest "}"
#define ABOUT(name, version)                                                                       \
	CDX(", \"metadata\": {\"component\": {\"name\": \"" name "\", \"version\": \"" version     \
	    "\"}}")
#define FILE_OF(kind, name, sum)                                                                   \
	CDX(", \"components\": [{\"type\": \"" kind "\", \"name\": \"" name                        \
	    "\", \"hashes\": [{\"alg\": \"MD5\", \"content\": \"00\"}, {\"alg\": \"SHA-256\", "    \
	    "\"content\": \"" sum "\"}]}]")

static void bills_of_materials_are_about_this_wheel(void **state)
{
	(void)state;
	ARENA(a);
	struct digest d = hash_bytes(HASH_SHA256, "x = 1\n", 6);
	struct str sum = digest_hex(&a, d);
	check_sbom("", SBOM, CDX(""));
	check_sbom("", SBOM, "{\"spdxVersion\": \"SPDX-2.3\"}");
	check_sbom("", "demo-1.0.dist-info/sboms/x.xml", "<bom/>");
	check_sbom("sbom-syntax", SBOM, "{\"bomFormat\": ");
	check_sbom("sbom-syntax", SBOM, "{\"bomFormat\": \"Other\"}");
	check_sbom("sbom-syntax", SBOM, "[]");
	check_sbom("", SBOM, ABOUT("Demo", "1.0.0"));
	check_sbom("sbom-subject", SBOM, ABOUT("Demo", "1.1"));
	check_sbom("", SBOM, ABOUT("demo-rust", "0.5"));
	check_sbom("", SBOM, str_fmt(&a, FILE_OF("file", "demo/__init__.py", "%.*s"), STR(sum)).p);
	check_sbom("sbom-file", SBOM, FILE_OF("file", "demo/__init__.py", "00ff"));
	check_sbom("", SBOM, FILE_OF("library", "demo/__init__.py", "00ff"));
	check_sbom("", SBOM, FILE_OF("file", "other.py", "00ff"));
}

/* ---- SARIF ---- */

static const struct node *at(const struct node *n, size_t i)
{
	assert_non_null(n);
	assert_true(i < n->n);
	return &n->v[i];
}

static void a_log_for_code_scanning(void **state)
{
	(void)state;
	ARENA(a);
	struct finding f[] = {{.id = "record-hash-mismatch",
				      .severity = SEV_ERROR,
				      .message = S_INIT("bad"),
				      .path = S_INIT("m/x.py")},
		{.id = "needed-rocm",
			.severity = SEV_INFO,
			.message = S_INIT("rocm"),
			.path = S_INIT("d/a b%.whl")}};
	struct str fix[] = {S("one"), S("two")};
	f[0].fix = (struct strs){.v = fix, .n = 2};
	struct verdict v[] = {
		{.path = S_INIT("ok.whl"), .pass = true}, {.path = S_INIT("d/a b%.whl")}};
	v[1].findings.v = f;
	v[1].findings.n = 2;
	struct verdicts all = {.wheels = {.v = v, .n = 2}};
	const struct node *top;
	assert_ok(json_parse(&a, verdicts_sarif(&a, &all), S("log"), &top));
	assert_str(node_text(top, S("version"), S("")), "2.1.0");
	const struct node *run = at(node_get(top, S("runs")), 0);
	const struct node *driver = node_get(node_get(run, S("tool")), S("driver"));
	assert_str(node_text(driver, S("name"), S("")), "rocsmith");
	const struct node *results = node_get(run, S("results")), *first = at(results, 0);
	assert_int_equal(results->n, 2);
	assert_str(node_text(first, S("ruleId"), S("")), "record-hash-mismatch");
	assert_str(node_text(first, S("level"), S("")), "error");
	assert_str(node_text(node_get(first, S("message")), S("text"), S("")),
		"bad; fix: one; or: two");
	const struct node *place = at(node_get(first, S("locations")), 0);
	const struct node *file =
		node_get(node_get(place, S("physicalLocation")), S("artifactLocation"));
	assert_str(node_text(file, S("uri"), S("")), "d/a%20b%25.whl");
	place = at(node_get(place, S("logicalLocations")), 0);
	assert_str(node_text(place, S("fullyQualifiedName"), S("")), "m/x.py");
	assert_str(node_text(at(results, 1), S("level"), S("")), "note");
	assert_null(
		node_get(at(node_get(at(results, 1), S("locations")), 0), S("logicalLocations")));
	size_t found = 0;
	NODE_EACH (rule, node_get(driver, S("rules")))
		found += str_eq(node_text(rule, S("id"), S("")), S("record-hash-mismatch"));
	assert_int_equal(found, 1);
}

/* What is said about a version that is none is said once: whoever requires that wheel is not to blame. */
static void a_version_that_is_none_satisfies_all(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct strs paths = {0};
	struct verdicts all = {0};
	struct fx_wheel none = {.file = "b-1.0-py3-none-any.whl",
		.info = "b-1.0.dist-info",
		.metadata = "Metadata-Version: 2.1\nName: b\nVersion: 1-x-2\n",
		.files = {A_FILE}};
	strs_add(&a, &paths, make(&a, dir, &(struct made){"a", "1", "Requires-Dist: b>=7\n"}));
	strs_add(&a, &paths, fx_write(&a, dir, none));
	assert_ok(verify_wheels(&a, &paths, &(struct verify_options){.jobs = 1}, &all));
	assert_str(ids(&a, &all.wheels.v[0]), "");
	assert_str(ids(&a, &all.wheels.v[1]), "metadata-field");
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_wheels_require_of_each_other_is_there),
		cmocka_unit_test(a_version_and_its_requirements_name_one_rocm),
		cmocka_unit_test(no_device_wheel_is_missing),
		cmocka_unit_test(device_wheels_name_one_version),
		cmocka_unit_test(device_wheels_are_of_the_hosts_version),
		cmocka_unit_test(families_are_required),
		cmocka_unit_test(extras_exist),
		cmocka_unit_test(installers_order_versions_of_rocm_otherwise),
		cmocka_unit_test(bills_of_materials_are_about_this_wheel),
		cmocka_unit_test(a_log_for_code_scanning),
		cmocka_unit_test(a_version_that_is_none_satisfies_all),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("verify_set");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
