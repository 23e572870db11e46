/* The environment for a GPU and a torch: which lines hold on which machine, and that none is there for nothing. */
#include "know/environment.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct machine m;
	struct environment_lines lines;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	f->m = (struct machine){.cpus = 8, .memory_free = 64ull << 30};
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	arena_free(&f->a);
	free(f);
	return 0;
}

static void gpu(struct fixture *f, const char *target, bool apu)
{
	struct machine_gpu *g = VEC_PUSH(&f->a, &f->m.gpus);
	*g = (struct machine_gpu){
		.target = str_from(target), .apu = apu, .index = (unsigned)(g - f->m.gpus.v)};
}

static void torch(struct fixture *f, const char *version, const char *targets)
{
	struct machine_python *p = VEC_PUSH(&f->a, &f->m.pythons);
	*p = (struct machine_python){.path = S("/venv"), .version = S("3.12"), .has_torch = true};
	p->torch = (struct machine_torch){.version = str_from(version),
		.build = S("rocm"),
		.bundled = true,
		.targets = str_split(&f->a, str_from(targets), ' ')};
}

static void variable(struct fixture *f, const char *name, const char *value)
{
	*VEC_PUSH(&f->a, &f->m.variables) =
		(struct machine_variable){str_from(name), str_from(value), ""};
}

/* "A=1 !B": what is set, what is not to be. */
static void wants(struct fixture *f, bool build, const char *want)
{
	BUF(b, &f->a);
	const struct machine_python *p = environment_python(&f->m, S(""));
	assert_ok(environment_of(&f->a, &f->m, p, build, &f->lines));
	VEC_EACH (const struct environment_line, l, &f->lines) {
		assert_true(l->why.n && l->evidence.n && l->confidence);
		buf_fmt(&b, "%s%s%.*s", l == f->lines.v ? "" : " ", l->unset ? "!" : "",
			STR(l->name));
		if (!l->unset)
			buf_fmt(&b, "=%.*s", STR(l->value));
	}
	assert_str(buf_str(&b), want);
}

static void rows_are_sorted_and_their_conditions_can_be_read(void **state)
{
	(void)state;
	static const char *const words[] = {"maintainer", "source", "users", NULL};
	ARENA(a);
	for (size_t i = 0; i < environment_count; i++) {
		const struct environment *e = &environment_table()[i];
		enum truth t;
		const struct scope s = {0};
		assert_true(e->why && e->evidence && *e->evidence);
		assert_true(str_is_one_of(str_from(e->confidence), words));
		assert_true(!i || strcmp(e[-1].name, e->name) <= 0);
		assert_ok(predicate_ask(&a, &s, str_from(e->when), NULL, &t));
		assert_int_equal(t, TRUTH_UNKNOWN); /* it asks for a fact */
	}
}

static void a_torch_that_serves_its_gpu_needs_nothing(void **state)
{
	struct fixture *f = *state;
	gpu(f, "gfx90a", false);
	torch(f, "2.9.1+rocm6.4", "gfx908 gfx90a");
	wants(f, false, "");
	wants(f, true, "PYTORCH_ROCM_ARCH=gfx90a");
	f->m.pythons.n = 0;
	wants(f, false, "");
	f->m.gpus.n = 0;
	wants(f, true, "");
}

/* `patch` refuses an override (recipes/refused-hsa-override.yaml), a plan targets that compilers do not know. */
static void nothing_is_set_that_patch_or_plan_refuses(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < environment_count; i++)
		assert_true(strcmp(environment_table()[i].name, "HSA_OVERRIDE_GFX_VERSION") != 0 ||
			    !environment_table()[i].value);
	gpu(f, "gfx1032", false);
	torch(f, "2.9.1+rocm6.4", "gfx1030 gfx1100");
	wants(f, false, "");
	f->m.gpus.v[0].target = S("gfx1103");
	f->m.pythons.v[0].torch.build = S("");
	wants(f, false, "");
	wants(f, true, "PYTORCH_ROCM_ARCH=gfx1103");
	f->m.gpus.v[0].target = S("gfx940");
	wants(f, true, "");
	f->m.gpus.v[0].target = S("gfx9999");
	gpu(f, "gfx942", false);
	wants(f, true, "PYTORCH_ROCM_ARCH=gfx942");
}

static void an_override_in_force_is_known(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *target, *by;
		bool borrows;
	} cases[] = {
		{"gfx1031", "gfx1030", true},
		{"gfx1103", "gfx1100", true},
		{"gfx1031", "gfx1100", false}, /* another generation */
		{"gfx1151", "gfx1100", false}, /* another family */
		{"gfx1030", "gfx1100", false}, /* it has code for its own */
		{"gfx1031", "gfx1031", false},
		{"gfx1031", "gfx1032", false}, /* no code for that either */
		{"gfx1031", "", false},
		{"", "gfx1030", false},
	};
	torch(f, "2.9.1+rocm6.4", "gfx1030 gfx1100");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct machine_gpu g = {.target = str_from(cases[i].target),
			.override_target = str_from(cases[i].by)};
		assert_int_equal(
			environment_borrows(&f->m.pythons.v[0].torch, &g), cases[i].borrows);
	}
}

static void a_needless_override_is_to_go(void **state)
{
	struct fixture *f = *state;
	gpu(f, "gfx1100", false);
	torch(f, "2.8.0+rocm6.4", "gfx1030 gfx1100");
	variable(f, "HSA_OVERRIDE_GFX_VERSION", "11.0.0");
	wants(f, false, "!HSA_OVERRIDE_GFX_VERSION");
	f->m.gpus.v[0].target = S("gfx1101"); /* it is needed, and set already */
	wants(f, false, "");
}

static void fused_attention_is_asked_for_where_it_is_experimental(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *target, *torch;
		bool want;
	} cases[] = {
		{"gfx1201", "2.6.0", false},
		{"gfx1201", "2.7.1", true},
		{"gfx1100", "2.8.0", false},
		{"gfx1100", "2.9.0", true},
		{"gfx1153", "2.10.0", false},
		{"gfx1153", "2.11.0", true},
		{"gfx942", "2.11.0", false},
		{"gfx1030", "2.11.0", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f->m.gpus.n = f->m.pythons.n = 0;
		gpu(f, cases[i].target, false);
		torch(f, cases[i].torch, cases[i].target);
		wants(f, false, cases[i].want ? "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1" : "");
	}
	f->m.pythons.v[0].torch.build = S("cpu");
	wants(f, false, "");
}

static void miopen_is_kept_from_what_stops_an_apu(void **state)
{
	struct fixture *f = *state;
	gpu(f, "gfx1151", true);
	torch(f, "2.8.0", "gfx1151");
	wants(f, false, "MIOPEN_FIND_MODE=FAST");
	f->m.pythons.v[0].torch.rocm = S("7.13");
	wants(f, false, "MIOPEN_FIND_MODE=FAST");
	f->m.pythons.v[0].torch.rocm = S("7.14");
	wants(f, false, "");
	f->m.gpus.v[0].target = S("gfx1103");
	f->m.pythons.v[0].torch.targets = str_split(&f->a, S("gfx1103"), ' ');
	wants(f, false, "MIOPEN_DEBUG_AMD_WINOGRAD_FURY_RXS_F2X3=0");
}

static void what_is_set_and_disturbs_is_named(void **state)
{
	struct fixture *f = *state;
	gpu(f, "gfx90a", false);
	torch(f, "2.8.0", "gfx90a");
	variable(f, "HIP_VISIBLE_DEVICES", "0");
	variable(f, "LD_LIBRARY_PATH", "/home/u/lib:/opt/rocm-6.1.0/lib:/x y");
	wants(f, false, "LD_LIBRARY_PATH=/home/u/lib:/x y");
	variable(f, "ROCR_VISIBLE_DEVICES", "0");
	wants(f, false, "LD_LIBRARY_PATH=/home/u/lib:/x y"); /* the first of those that are left */
	f->m.variables.v[0].value = S("1");
	wants(f, false, "!HIP_VISIBLE_DEVICES LD_LIBRARY_PATH=/home/u/lib:/x y");
	f->m.variables.v[1].value = S("/opt/rocm/lib"); /* nothing would be left */
	wants(f, false, "!HIP_VISIBLE_DEVICES !LD_LIBRARY_PATH");
	f->m.pythons.v[0].torch.bundled = false;
	f->m.variables.v[0].name = S("OTHER");
	wants(f, false, "");
	variable(f, "HSA_OVERRIDE_GFX_VERSION",
		"11.0.0"); /* of another generation: a rule says so */
	f->m.gpus.v[0].override = S("HSA_OVERRIDE_GFX_VERSION");
	f->m.pythons.n = 0;
	wants(f, false, "!HSA_OVERRIDE_GFX_VERSION");
	assert_true(str_contains(f->lines.v[0].why, S("another generation")));
}

static void builds_are_told_where_and_for_what(void **state)
{
	struct fixture *f = *state;
	struct str root = test_dir(&f->a);
	gpu(f, "gfx1100", false);
	gpu(f, "gfx1036", true);
	gpu(f, "gfx1201", false);
	f->m.root = root;
	f->m.memory_free = 4ull << 30;
	*VEC_PUSH(&f->a, &f->m.sdks) =
		(struct machine_sdk){.path = S("/opt/rocm"), .kind = S("tree")};
	wants(f, true, "MAX_JOBS=3 PYTORCH_ROCM_ARCH=gfx1100;gfx1201 ROCR_VISIBLE_DEVICES=0,2");
	f->m.memory_free = 1;
	f->m.gpus.n = 1;
	f->m.sdks.v[0].path = S("/opt/rocm-7.12.0");
	assert_ok(fs_mkdirs(path_join(&f->a, root, S("opt/rocm-7.12.0/lib/llvm/amdgcn/bitcode"))));
	assert_ok(fs_mkdirs(path_join(&f->a, root, S("opt/rocm-7.12.0/lib/rocm_sysdeps/include"))));
	wants(f, true,
		"CXXFLAGS=-I/opt/rocm-7.12.0/lib/rocm_sysdeps/include "
		"HIP_DEVICE_LIB_PATH=/opt/rocm-7.12.0/lib/llvm/amdgcn/bitcode MAX_JOBS=1 "
		"PYTORCH_ROCM_ARCH=gfx1100 ROCM_PATH=/opt/rocm-7.12.0");
	assert_ok(fs_mkdirs(path_join(&f->a, root, S("opt/rocm-7.12.0/amdgcn/bitcode"))));
	f->m.memory_free = 0;
	wants(f, true,
		"CXXFLAGS=-I/opt/rocm-7.12.0/lib/rocm_sysdeps/include PYTORCH_ROCM_ARCH=gfx1100 "
		"ROCM_PATH=/opt/rocm-7.12.0");
	/* a recorded machine's link that leads out of it, to what only this machine has */
	struct str outside = test_dir(&f->a),
		   linked = path_join(&f->a, root, S("opt/rocm-linked/lib"));
	assert_ok(fs_mkdirs(path_join(&f->a, outside, S("include"))));
	assert_ok(fs_mkdirs(linked));
	assert_ok(fs_symlink(outside, path_join(&f->a, linked, S("rocm_sysdeps"))));
	f->m.sdks.v[0].path = S("/opt/rocm-linked");
	wants(f, true, "PYTORCH_ROCM_ARCH=gfx1100 ROCM_PATH=/opt/rocm-linked");
	test_dir_remove(outside);
	f->m.sdks.v[0] = (struct machine_sdk){.path = S("/usr"), .kind = S("system")};
	wants(f, true, "PYTORCH_ROCM_ARCH=gfx1100 ROCM_PATH=/usr");
	wants(f, false, "");
	test_dir_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted_and_their_conditions_can_be_read),
		cmocka_unit_test_setup_teardown(
			a_torch_that_serves_its_gpu_needs_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			nothing_is_set_that_patch_or_plan_refuses, setup, teardown),
		cmocka_unit_test_setup_teardown(an_override_in_force_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(a_needless_override_is_to_go, setup, teardown),
		cmocka_unit_test_setup_teardown(
			fused_attention_is_asked_for_where_it_is_experimental, setup, teardown),
		cmocka_unit_test_setup_teardown(
			miopen_is_kept_from_what_stops_an_apu, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_set_and_disturbs_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(
			builds_are_told_where_and_for_what, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
