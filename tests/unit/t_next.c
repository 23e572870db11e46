/* The next step on machines that are made here: what is installed, what could be, and what it costs. */
#include "flow/next.h"
#include "know/environment.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct machine m;
	struct next_steps next;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	f->m = (struct machine){.root = S("/elsewhere"), .memory_free = 8ull << 30, .cpus = 4};
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	arena_free(&f->a);
	free(f);
	return 0;
}

static void add_gpu(struct fixture *f, const char *target, bool apu)
{
	*VEC_PUSH(&f->a, &f->m.gpus) = (struct machine_gpu){.target = str_from(target), .apu = apu};
}

static struct machine_python *add_python(struct fixture *f, const char *path, const char *version)
{
	struct machine_python *p = VEC_PUSH(&f->a, &f->m.pythons);
	*p = (struct machine_python){
		.path = str_from(path), .version = str_from(version), .kind = S("venv")};
	return p;
}

static void add_torch(struct fixture *f, const char *targets)
{
	struct machine_python *p = &f->m.pythons.v[f->m.pythons.n - 1];
	p->has_torch = true;
	p->torch.version = S("2.9.1+rocm6.4");
	p->torch.targets = str_split(&f->a, str_from(targets), ' ');
}

static const struct next_gpu *look(struct fixture *f, const char *gpus)
{
	struct strs list = str_split(&f->a, str_from(gpus), ' ');
	assert_ok(next_steps(&f->a, &f->m, &list, &f->next));
	assert_true(f->next.gpus.n > 0);
	return &f->next.gpus.v[0];
}

static void has(const struct strs *list, const char *text)
{
	VEC_EACH (const struct str, s, list)
		if (str_contains(*s, str_from(text)))
			return;
	fail_msg("no '%s'", text);
}

static void a_torch_that_serves_the_gpu_is_enough(void **state)
{
	struct fixture *f = *state;
	add_gpu(f, "gfx1101", false);
	add_python(f, "/usr", "3.11")->active = true;
	add_python(f, "/home/user/my env", "3.12");
	add_torch(f, "gfx1030 gfx11-generic");
	const struct next_gpu *g = look(f, "");
	assert_str(g->served_by, "/home/user/my env");
	assert_str(g->served_version, "2.9.1+rocm6.4");
	assert_int_equal(g->routes.n, 0);
	has(&g->commands, "'/home/user/my env/bin/python3' -c \"import torch; ");
	assert_str(f->next.version, "3.11");
	assert_int_equal(g->notes.n, 0);
	struct machine_torch *t = &f->m.pythons.v[1].torch;
	t->rocblas = str_split(&f->a, S("gfx1030"), ' ');
	assert_str(look(f, "")->served_by, ""); /* matrix products would fail */
	strs_add(&f->a, &t->rocblas, S("gfx1101"));
	assert_str(look(f, "")->served_by, "/home/user/my env");
	strs_add(&f->a, &t->missing, S("librccl.so.1"));
	assert_str(look(f, "")->served_by, "");
}

static void a_torch_for_other_gpus_does_not_count(void **state)
{
	struct fixture *f = *state;
	add_gpu(f, "gfx1201", false);
	add_python(f, "/home/user/venv", "3.12")->active = true;
	add_torch(f, "gfx1030 gfx1100");
	const struct next_gpu *g = look(f, "");
	assert_str(g->served_by, "");
	assert_int_equal(g->routes.n, 3);
	assert_int_equal(g->routes.v[0].by, NEXT_DEVICE_WHEEL);
	assert_int_equal(g->routes.v[1].by, NEXT_WHEEL);
	assert_int_equal(g->routes.v[1].how, COMPAT_EXACT);
	assert_int_equal(g->routes.v[1].commands.n, 2);
	assert_str(g->routes.v[1].commands.v[0],
		"/home/user/venv/bin/python3 -m pip uninstall -y torch torchvision torchaudio");
	has(&g->routes.v[1].commands, "/home/user/venv/bin/python3 -m pip install "
				      "\"torch==2.14.*\" \"torchvision==0.29.*\" "
				      "--index-url https://download.pytorch.org/whl/rocm7.2");
	has(&g->routes.v[1].notes, "--torch-backend rocm7.2");
	has(&g->routes.v[0].commands, "\"torch[device-gfx1201]==2.14.0+rocm10.1.0\"");
	assert_true(g->routes.v[1].download == 6600000000 && g->routes.v[1].disk == 15700000000);
	/* that of PyPI would stay in the folder that the one for ROCm writes to */
	*VEC_PUSH(&f->a, &f->m.pythons.v[0].packages) =
		(struct machine_package){.name = S("numpy")};
	*VEC_PUSH(&f->a, &f->m.pythons.v[0].packages) =
		(struct machine_package){.name = S("triton")};
	assert_str(look(f, "")->routes.v[1].commands.v[0],
		"/home/user/venv/bin/python3 -m pip uninstall -y torch torchvision torchaudio "
		"triton");
}

/* An environment whose torch serves another GPU is left alone. */
static void a_torch_for_another_gpu_is_not_uninstalled(void **state)
{
	struct fixture *f = *state;
	add_gpu(f, "gfx1201", false);
	add_python(f, "/home/user/venv", "3.12")->active = true;
	add_torch(f, "");
	struct machine_torch *t = &f->m.pythons.v[0].torch;
	t->build = S("cuda");
	has(&look(f, "")->routes.v[0].commands, "pip uninstall"); /* it serves nothing here */
	f->m.nvidia = true;
	for (size_t i = 0; i < 2; i++) {
		const struct next_gpu *g = look(f, "");
		assert_true(g->routes.n > 1);
		VEC_EACH (const struct next_route, r, &g->routes) {
			VEC_EACH (const struct str, c, &r->commands)
				assert_false(str_contains(*c, S("uninstall")));
			if (r->by != NEXT_BUILD)
				has(&r->commands, "~/torch-rocm");
		}
		has(&g->routes.v[0].notes, "serves another GPU of this machine");
		f->m.nvidia = false;
		t->build = S("xpu");
	}
	t->build = S("rocm"); /* for an old card beside the new one */
	t->targets = str_split(&f->a, S("gfx803"), ' ');
	add_gpu(f, "gfx803", false);
	has(&look(f, "")->routes.v[0].commands, "python3 -m venv ~/torch-rocm");
	t->targets = str_split(&f->a, S("gfx1030"), ' ');
	f->m.gpus.v[1].target = S("gfx1030");
	has(&look(f, "")->routes.v[0].commands, "pip uninstall"); /* the wheel serves both */
}

static void an_override_that_works_is_said_so(void **state)
{
	struct fixture *f = *state;
	add_gpu(f, "gfx1103", true);
	f->m.gpus.v[0].override = S("HSA_OVERRIDE_GFX_VERSION");
	f->m.gpus.v[0].override_target = S("gfx1100");
	add_python(f, "/home/user/venv", "3.12")->active = true;
	add_torch(f, "gfx1030 gfx1100");
	const struct next_gpu *g = look(f, "");
	has(&g->notes,
		"HSA_OVERRIDE_GFX_VERSION is in force: the torch 2.9.1+rocm6.4 in /home/user/venv "
		"runs the code of gfx1100 on it (page faults and hangs were reported)");
	assert_int_equal(g->routes.v[0].how, COMPAT_EXACT);
	f->m.gpus.v[0].override_target = S("gfx1101");
	assert_int_equal(look(f, "")->notes.n, 0);
}

static void a_build_is_forecast_by_its_description(void **state)
{
	struct fixture *f = *state;
	struct plan_cost cost;
	assert_true(plan_known_cost(&f->a, S("torch"), &cost));
	assert_false(plan_known_cost(&f->a, S("nothing"), &cost));
	assert_true(plan_known_cost(&f->a, S("torch"), &cost));
	const struct next_gpu *g = look(f, "gfx90a");
	const struct next_route *r = &g->routes.v[g->routes.n - 1];
	assert_int_equal(r->by, NEXT_BUILD);
	has(&r->commands, "rocsmith build torch --gpu gfx90a");
	assert_true(r->memory == cost.memory << 20);
	assert_true(r->disk == (cost.disk + cost.device_disk + cost.sdk_disk) << 20);
	double all = (double)(cost.host_seconds + cost.device_seconds),
	       chain = (double)cost.chain_seconds;
	assert_true(chain > 0 && chain < all && r->seconds == chain + (all - chain) / 4);
	assert_false(r->history);
	assert_null(r->torch);
}

/* A build that ended here writes over its own files; one of another project says nothing. */
static void a_build_folder_of_pytorch_is_found(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {
		"pytorch-audio-2.6.0-1", "torchvision-0.2-1", "torch-x"};
	struct str home = test_dir(&f->a);
	assert_int_equal(setenv("ROCSMITH_HOME", str_z(&f->a, home), 1), 0);
	f->m.root = S("");
	for (size_t i = 0; i < 3; i++) {
		struct str dir = str_fmt(&f->a, "%.*s/cache/build/%s/state", STR(home), names[i]);
		assert_ok(fs_mkdirs(dir));
		assert_ok(fs_write(path_join(&f->a, dir, S("done")), S(""), 0644));
	}
	const struct next_gpu *g = look(f, "gfx90a");
	uint64_t whole = g->routes.v[g->routes.n - 1].disk;
	struct str dir =
		str_fmt(&f->a, "%.*s/cache/build/pytorch-2.6.0+dfsg-7-ab12/state", STR(home));
	assert_ok(fs_mkdirs(dir));
	assert_ok(fs_write(path_join(&f->a, dir, S("done")), S(""), 0644));
	g = look(f, "gfx90a");
	assert_true(g->routes.v[g->routes.n - 1].disk < whole);
	f->m.root = S("/elsewhere"); /* another machine has another history */
	g = look(f, "gfx90a");
	assert_true(g->routes.v[g->routes.n - 1].disk == whole);
	assert_int_equal(unsetenv("ROCSMITH_HOME"), 0);
	test_dir_remove(home);
}

static void an_old_python_gets_an_old_torch_and_is_told(void **state)
{
	struct fixture *f = *state;
	add_python(f, "/usr", "3.9")->kind = S("system");
	f->m.pythons.v[0].active = true;
	const struct next_gpu *g = look(f, "gfx1102");
	assert_int_equal(g->routes.n, 2);
	assert_string_equal(g->routes.v[0].torch, "2.8");
	has(&g->notes, "torch 2.14 needs Python >=3.10,<3.15; '/usr' has 3.9");
	has(&g->routes.v[0].commands, "python3 -m venv ~/torch");
	f->m.pythons.v[0].version = S("3.8");
	g = look(f, "gfx1102");
	assert_int_equal(g->routes.v[0].how, COMPAT_EXACT); /* another Python before an override */
	has(&g->routes.v[0].commands, "uv venv --seed --python 3.12 ~/torch");
	assert_int_equal(g->routes.v[1].how, COMPAT_OVERRIDE);
	assert_false(g->routes.v[1].sure);
	has(&g->routes.v[1].notes, "with HSA_OVERRIDE_GFX_VERSION=11.0.0 it uses that of gfx1100");
	has(&g->routes.v[1].notes, "it was not looked into");
}

/* One torch for two cards: a wheel that leaves one out comes last, and says so. */
static void two_cards_want_one_torch(void **state)
{
	struct fixture *f = *state;
	add_gpu(f, "gfx1030", false);
	add_gpu(f, "gfx1201", false);
	f->m.distro_id = S("nixos");
	const struct next_gpu *g = &look(f, "")[1];
	has(&g->notes, "nix-ld");
	assert_string_equal(g->routes.v[0].rocm, "7.2");
	has(&g->routes.v[1].commands,
		"\"torch[device-gfx1201,device-gfx1030]==2.12.0+rocm7.14.1\"");
	f->m.gpus.v[0].target = S("gfx906");
	g = &look(f, "")[1];
	assert_string_equal(g->routes.v[0].rocm, "6.3");
	assert_string_equal(g->routes.v[1].rocm, "10.1");
	has(&g->routes.v[1].notes, "it has no code for the gfx906 beside it");
	assert_string_equal(look(f, "gfx1201 gfx906")->routes.v[0].rocm, "10.1");
}

static void what_nothing_serves_is_said(void **state)
{
	struct fixture *f = *state;
	const struct next_gpu *g =
		look(f, "gfx803 gfx1033 gfx9999 gfx90a:xnack- gfx90a:xnack+ gfx802");
	assert_int_equal(f->next.gpus.n, 5);
	has(&g->notes, "no published wheel that is known here has code for gfx803");
	assert_int_equal(g->routes.n, 1); /* Debian's libraries have kernels for it */
	has(&g->routes.v[0].commands, "rocsmith build torch --gpu gfx803");
	assert_int_equal(g->routes.v[0].notes.n, 1);
	assert_int_equal(g[4].routes.n, 0);
	has(&g[4].notes, "no published wheel that is known here has code for gfx802");
	has(&g[4].notes, "not built for it any more");
	has(&g[1].routes.v[1].notes, "no kernels for gfx1033: matrix products may fail");
	has(&g[1].notes, "wrong results");
	assert_string_equal(g[1].routes.v[0].rocm, "7.14");
	has(&g[2].notes, "does not know this target");
	assert_str(g[3].target, "gfx90a");
	has(&look(f, "gfx1103")->routes.v[1].notes, "it was not looked into");
	add_python(f, "/usr", "3.9")->active = true;
	assert_string_equal(look(f, "gfx906")->routes.v[0].rocm, "6.3");
}

static void each_target_once_and_no_igpu_beside_a_card(void **state)
{
	struct fixture *f = *state;
	add_gpu(f, "gfx1100", false);
	add_gpu(f, "", false);
	add_gpu(f, "gfx1100", false);
	add_gpu(f, "gfx1036", true);
	*VEC_PUSH(&f->a, &f->m.disks) = (struct machine_disk){S("tmp"), S("/tmp"), 9, 8};
	*VEC_PUSH(&f->a, &f->m.disks) = (struct machine_disk){S("home"), S("/home"), 7, 6};
	const struct next_gpu *g = look(f, "");
	assert_int_equal(f->next.gpus.n, 2);
	assert_int_equal(g[1].routes.n, 0);
	has(&g[1].notes, "leave it out");
	f->m.gpus.v[3].compute_units = 40; /* Strix Halo */
	assert_int_equal(look(f, "")[1].routes.n, 2);
	assert_str(f->next.disk, "/home");
	assert_true(f->next.disk_free == 6 && f->next.memory_free == 8ull << 30);
	f->m.gpus.n = 0;
	add_gpu(f, "gfx1036", true);
	assert_int_equal(look(f, "")->routes.n, 2);
}

static void the_python_is_the_active_one_or_the_named_one(void **state)
{
	struct fixture *f = *state;
	assert_null(environment_python(&f->m, S("")));
	add_python(f, "/a", "3.10");
	assert_null(environment_python(&f->m, S("")));
	add_python(f, "/b", "3.11");
	add_torch(f, "gfx1030");
	assert_str(environment_python(&f->m, S(""))->path, "/b");
	add_python(f, "/c", "3.12")->active = true;
	assert_str(environment_python(&f->m, S(""))->path, "/c");
	add_python(f, "/d/.local", "3.12")->active = true;
	add_torch(f, "gfx1030"); /* beside it, with the torch */
	assert_str(environment_python(&f->m, S(""))->path, "/d/.local");
	assert_str(environment_python(&f->m, S("/a"))->path, "/a");
	assert_null(environment_python(&f->m, S("/d")));
}

/* ---- the three first commands ---- */

static struct str first_commands(struct fixture *f, const char *gpus)
{
	struct next_commands list;
	struct strs words = str_split(&f->a, str_from(gpus), ' '), lines = {0};
	assert_ok(next_steps(&f->a, &f->m, &words, &f->next));
	next_first(&f->a, &f->m, &f->next, &list);
	VEC_EACH (const struct next_command, c, &list) {
		strs_add(&f->a, &lines, c->command);
		assert_true(c->why.n > 0);
	}
	assert_int_equal(list.n, 3);
	return str_join(&f->a, &lines, S("\n"));
}

static void a_newcomer_without_a_gpu_builds_for_one_elsewhere(void **state)
{
	struct fixture *f = *state;
	assert_str(first_commands(f, ""), "rocsmith doctor\nrocsmith plan DIR --gpu "
					  "gfx1201\nrocsmith build DIR --gpu gfx1201");
}

static void a_newcomer_with_a_gpu_gets_a_torch_for_the_card(void **state)
{
	struct fixture *f = *state;
	add_gpu(f, "gfx1036", true);
	add_gpu(f, "gfx1201", false);
	add_python(f, "/usr", "3.12")->active = true;
	assert_str(first_commands(f, ""), "rocsmith doctor\nrocsmith get torch --gpu "
					  "gfx1201\nrocsmith plan DIR --gpu gfx1201");
	add_python(f, "/env", "3.12");
	add_torch(f, "gfx1201");
	assert_true(str_contains(first_commands(f, ""), S("/env/bin/python3 -c")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_newcomer_without_a_gpu_builds_for_one_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_newcomer_with_a_gpu_gets_a_torch_for_the_card, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_torch_that_serves_the_gpu_is_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_torch_for_other_gpus_does_not_count, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_torch_for_another_gpu_is_not_uninstalled, setup, teardown),
		cmocka_unit_test_setup_teardown(an_override_that_works_is_said_so, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_build_is_forecast_by_its_description, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_build_folder_of_pytorch_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_old_python_gets_an_old_torch_and_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(two_cards_want_one_torch, setup, teardown),
		cmocka_unit_test_setup_teardown(what_nothing_serves_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(
			each_target_once_and_no_igpu_beside_a_card, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_python_is_the_active_one_or_the_named_one, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
