/* Verdicts on wheels with device code: the targets that were required, and kernels for each. */
#include "fixture_verify.h"

static struct targets required(struct arena *a, const char *words)
{
	struct targets t = {0};
	struct strs list = str_split(a, str_from(words), ',');
	assert_ok(targets_parse(a, &list, &t));
	return t;
}

static void required_targets_must_be_there(void **state)
{
	(void)state;
	static const struct {
		const char *require, *want;
	} cases[] = {
		{.require = "gfx1100", .want = ""},
		{.require = "gfx1100,gfx90a", .want = "device-fewer-kernels"},
		{.require = "gfx90a:xnack-", .want = "device-fewer-kernels"},
		{.require = "gfx90a:xnack+", .want = "device-target-missing"},
		{.require = "gfx1201", .want = "device-target-missing"},
		{.require = "gfx1200,gfx1201,gfx1100", .want = "device-target-missing"},
		{.require = "gfx1030", .want = "device-fewer-kernels"}, /* by gfx10-3-generic */
		{.require = "gfx10-3-generic", .want = "device-fewer-kernels"},
		{.require = "gfx11-generic", .want = "device-target-missing"},
		{.require = "gfx942", .want = "device-no-kernel device-target-missing"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct str dir = test_dir(&a);
		bool empty = str_eq(str_from(cases[i].require), S("gfx942"));
		struct fx_entry e[] = {
			{.id = "hipv4-amdgcn-amd-amdhsa--gfx1100",
				.bytes = fx_code_object(
					&a, (struct fx_object){.flags = 0x41, .kernels = 2})},
			{.id = "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-",
				.bytes = fx_code_object(
					&a, (struct fx_object){.flags = 0x63f, .kernels = 1})},
			{.id = "hipv4-amdgcn-amd-amdhsa--gfx10-3-generic",
				.bytes = fx_code_object(
					&a, (struct fx_object){.flags = 0x1000053, .kernels = 1})},
			{.id = "hipv4-amdgcn-amd-amdhsa--gfx942",
				.bytes = fx_code_object(&a, (struct fx_object){.flags = 0x54c})},
		};
		struct fx_wheel w = {.files = {{.name = "demo/k.hipfb",
					     .content = fx_bundle(&a, e, empty ? 4 : 3, 4096)}}};
		struct verify_options o = {.require = required(&a, cases[i].require)};
		assert_str(verify(&a, fx_write(&a, dir, w), o), cases[i].want);
		test_dir_remove(dir);
	}
}

/* One bundle of two in a file lacks a target, which another file has, too. */
static void each_bundle_must_have_a_required_target(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	const struct fx_entry e[] = {
		{.id = "hipv4-amdgcn-amd-amdhsa--gfx1100",
			.bytes = fx_code_object(&a,
				(struct fx_object){
					.flags = 0x41, .kernels = 2, .prefix = "first"})},
		{.id = "hipv4-amdgcn-amd-amdhsa--gfx90a",
			.bytes = fx_code_object(
				&a, (struct fx_object){.flags = 0x53f, .kernels = 2})}};
	BUF(both, &a);
	buf_add(&both, fx_bundle(&a, e, 2, 4096));
	fx_pad(&both, (both.n + 4095) / 4096 * 4096);
	buf_add(&both, fx_bundle(&a, e, 1, 4096));
	struct fx_wheel w = {
		.files = {{.name = "demo/k.hipfb", .content = buf_str(&both)},
			{.name = "demo/l.hipfb", .content = fx_bundle(&a, e, 2, 4096)}}};
	struct str path = fx_write(&a, dir, w);
	struct verify_options o = {.require = required(&a, "gfx1100")};
	assert_str(verify(&a, path, o), "");
	o.require = required(&a, "gfx90a");
	struct verdict v;
	assert_ok(verify_wheel(&a, path, &o, &v));
	assert_int_equal(v.findings.n, 1);
	assert_string_equal(v.findings.v[0].id, "device-target-missing");
	assert_str(v.findings.v[0].path, "demo/k.hipfb");
	assert_str(v.findings.v[0].message,
		str_fmt(&a,
			"no kernel for gfx90a in 1 of 2 bundles (2 of 4 kernels): "
			"bundle 1 at %zu (2 kernels: 'first0', ...)",
			(both.n - fx_bundle(&a, e, 1, 4096).n))
			.p);
	assert_str(str_join(&a, &v.served, S(" ")), "gfx1100");
	test_dir_remove(dir);
}

static void code_in_a_dll_counts(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct fx_entry e[] = {{.id = "hipv4-amdgcn-amd-amdhsa--gfx1100",
		.bytes = fx_code_object(&a, (struct fx_object){.kernels = 1})}};
	const struct fx_host_section v[] = {
		{.name = ".hip_fat", .bytes = fx_bundle(&a, e, 1, 4096)}};
	struct str path = fx_write(&a, dir,
		(struct fx_wheel){.files = {{.name = "demo/k.pyd", .content = fx_dll(&a, v, 1)}}});
	assert_str(
		verify(&a, path, (struct verify_options){.require = required(&a, "gfx1100")}), "");
	assert_str(verify(&a, path, (struct verify_options){.require = required(&a, "gfx942")}),
		"device-target-missing");
	test_dir_remove(dir);
}

/* The objects that inspect counts count here: those that a program loads from an array by itself, but not the kernels of
 * the runtime, which are there for every GPU. */
static void code_in_arrays_counts(void **state)
{
	(void)state;
	static const struct {
		const char *name, *require, *want;
	} cases[] = {
		{"demo/_C.so", "gfx1100", ""},
		{"demo/_C.so", "gfx942", "device-target-missing"},
		{"demo/lib.a", "gfx1100", ""},
		{"demo/lib.a", "gfx942", "device-target-missing"},
		{"demo/lib/libhsa-runtime64-d01f4dc2.so.1", "gfx1100", "device-none"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct str dir = test_dir(&a);
		BUF(data, &a);
		buf_add(&data, S("a text in front"));
		fx_pad(&data, 64);
		buf_add(&data, fx_code_object(&a, (struct fx_object){.flags = 0x41, .kernels = 3}));
		const struct fx_host_section v[] = {{.name = ".rodata", .bytes = buf_str(&data)}};
		struct str elf = host_elf(&a, (struct fx_host){.v = v, .n = 1});
		bool library = str_ends(str_from(cases[i].name), S(".a"));
		BUF(ar, &a);
		buf_fmt(&ar, "!<arch>\n%-48s%-10zu`\n", "a.o/", elf.n);
		buf_add(&ar, elf);
		struct fx_file f = {cases[i].name, library ? buf_str(&ar) : elf};
		struct fx_wheel w = {.file = library ? NULL : X86, .files = {f}};
		struct verify_options o = {.require = required(&a, cases[i].require)};
		assert_str(verify(&a, fx_write(&a, dir, w), o), cases[i].want);
		test_dir_remove(dir);
	}
}

static void promised_device_code_must_be_there(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct str path = fx_write(&a, dir, (struct fx_wheel){.files = {A_FILE}});
	assert_str(verify(&a, path, (struct verify_options){.device_code = true}), "device-none");
	assert_str(verify(&a, path, (struct verify_options){.require = required(&a, "gfx1100")}),
		"device-none");
	struct fx_entry e[] = {{.id = "hipv4-amdgcn-amd-amdhsa--gfx942",
		.bytes = fx_code_object(&a, (struct fx_object){.flags = 0x54c})}};
	path = fx_write(&a, dir,
		(struct fx_wheel){
			.files = {{.name = "demo/k.hipfb", .content = fx_bundle(&a, e, 1, 4096)}}});
	assert_str(verify(&a, path, (struct verify_options){.device_code = true}),
		"device-no-kernel device-none");
	test_dir_remove(dir);
}

/* Code for the GPU that the path names; "hollow" has none, and "wrong" that of another GPU. */
static struct str code_of_name(struct arena *a, struct str path)
{
	static const struct {
		const char *name;
		unsigned flags;
	} codes[] = {{"wrong", 0x36}, {"gfx90a", 0x53f}, {"gfx1201", 0x4e}, {"gfx942", 0x54c},
		{"gfx11", 0x41}};
	size_t i = 0;
	if (str_contains(path, S("hollow")))
		return S("<html>404 Not Found</html>");
	while (!str_contains(path, str_from(codes[i].name)))
		i++;
	return fx_code_object(a, (struct fx_object){.flags = codes[i].flags, .kernels = 1});
}

/* Files beside libraries are for one GPU each: together they must have all. */
static void code_files_of_a_folder_are_judged_together(void **state)
{
	(void)state;
	static const struct {
		const char *files[3], *require, *want, *served;
	} cases[] = {
		{{"l/K_gfx1100.co", "l/K_gfx90a.hsaco"}, "gfx1100,gfx90a", "", ""},
		{{"l/K_gfx1100.co", "l/K_gfx90a.hsaco"}, "gfx1201", "device-side-missing", ""},
		{{"l/gfx1100/K.co", "l/gfx1201/K.co"}, "gfx1201", "", ""},
		{{"l/gfx1100/K.co", "l/gfx1201/K.co"}, "gfx942", "device-side-missing", ""},
		{{"l/K_gfx1100.co", "m/K_gfx1201.co"}, "gfx1201", "device-side-missing", ""},
		{{"aotriton.images/amd-gfx11xx/k.aks2"}, "gfx1101", "", ""},
		{{"aotriton.images/amd-gfx11xx/k.aks2"}, "gfx1201", "device-side-missing", ""},
		{{"aotriton.images/amd-gfx11xx/k.aks2"}, "gfx1030", "(device-side-missing)", ""},
		{{"hipblaslt/library/K_gfx942.co"}, "gfx1030", "(device-side-missing)", ""},
		{{"hipblaslt/library/K_gfx942.co"}, "gfx1100", "device-side-missing", ""},
		{{"db/gfx90a68.kdb"}, "gfx1100", "device-none", ""},
		{{"l/K_gfx1100.co", "k.hipfb"}, "gfx1100", "", "gfx1100"},
		{{"l/K_gfx90a.co", "k.hipfb"}, "gfx90a", "device-target-missing", ""},
		{{"l/hollow_gfx1100.co"}, "gfx1100", "device-none", ""},
		{{"l/hollow_gfx1100.hsaco", "l/K_gfx90a.co"}, "gfx1100", "device-side-missing", ""},
		{{"l/wrong_gfx1100.hsaco"}, "gfx1100", "device-target-missing", "gfx1030"},
		{{"l/wrong_gfx1100.co", "l/K_gfx90a.co"}, "gfx1100",
			"device-side-missing device-target-missing", ""},
		{{"l/wrong_gfx1100.co", "l/K_gfx1100.co"}, "gfx1100", "device-target-missing", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct str dir = test_dir(&a),
			   code = fx_code_object(
				   &a, (struct fx_object){.flags = 0x41, .kernels = 1});
		struct fx_entry e[] = {{.id = "hipv4-amdgcn-amd-amdhsa--gfx1100", .bytes = code}};
		struct fx_wheel w = {0};
		for (size_t k = 0; cases[i].files[k]; k++) {
			struct str file = str_from(cases[i].files[k]);
			struct str bytes = str_ends(file, S(".hipfb")) ? fx_bundle(&a, e, 1, 4096)
					   : str_ends(file, S(".kdb")) ? S("data")
								       : code_of_name(&a, file);
			w.files[k] = (struct fx_file){file.p, bytes};
		}
		struct verify_options o = {.require = required(&a, cases[i].require), .jobs = 1};
		struct verdict v;
		assert_ok(verify_wheel(&a, fx_write(&a, dir, w), &o, &v));
		if (!str_eq(ids(&a, &v), str_from(cases[i].want)))
			print_error("case %zu\n", i);
		assert_str(ids(&a, &v), cases[i].want);
		assert_str(str_join(&a, &v.served, S(" ")), cases[i].served);
		test_dir_remove(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(required_targets_must_be_there),
		cmocka_unit_test(code_files_of_a_folder_are_judged_together),
		cmocka_unit_test(code_in_arrays_counts),
		cmocka_unit_test(promised_device_code_must_be_there),
		cmocka_unit_test(code_in_a_dll_counts),
		cmocka_unit_test(each_bundle_must_have_a_required_target),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("verify_device");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
