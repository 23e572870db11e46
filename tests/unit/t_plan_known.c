/* Known projects: the descriptions that we ship, and what their rules decide. */
#include "fixture_plan.h"

#include <unistd.h>

#include "base/hash.h"
#include "formats/zip.h"

/* A description of ours, or of the test, applied to the fixture's folder. */
static void describe(struct fixture *f, const char *name, const char *text)
{
	struct plan_request r = {.dir = str_from(name), .source = f->dir};
	struct description d;
	if (text) {
		put(f, "../mine.yaml", text);
		r.config = path_join(&f->a, f->top, S("mine.yaml"));
	}
	assert_ok(known_resolve(&f->a, &r, &d));
	assert_ok(project_read(&f->a, &d, &f->project));
	f->plan = (struct plan){.project = f->dir, .name = f->project.name, .host_native = true};
	f->plan.foreign = NEW(&f->a, struct plan_foreign);
	f->plan.host.triplet = S("x86_64-linux-gnu");
	f->plan.sdk.provider = S("debian");
	f->plan.sdk.suite = S("sid");
}

static void marks_of_torch(struct fixture *f)
{
	put(f, "torch/csrc/Module.cpp", "");
	put(f, "c10/core/Device.h", "");
	put(f, "setup.py", "");
}

static struct err *choose(struct fixture *f, const char *version, const char *gpu, const char *wish)
{
	struct plan_request r = {0};
	f->plan.features.n = f->plan.gpus.n = 0;
	f->plan.foreign->env.n = f->plan.foreign->requires.n = f->plan.foreign->files.n = 0;
	f->plan.sdk.components.n = 0;
	f->plan.foreign->release = str_from(version);
	f->plan.gpus = str_split(&f->a, str_from(gpu), ',');
	if (wish)
		strs_add(&f->a, &r.features, str_from(wish));
	return features_choose(&f->a, &r, &f->project, &f->plan);
}

static const char *choice_of(const struct fixture *f, const char *name)
{
	VEC_EACH (const struct plan_feature, c, &f->plan.features)
		if (str_eq(c->name, str_from(name)))
			return c->choice.p;
	return "none";
}

static const char *why_of(struct fixture *f, const char *name)
{
	VEC_EACH (const struct plan_feature, c, &f->plan.features)
		if (str_eq(c->name, str_from(name)))
			return str_z(&f->a, c->why);
	return "none";
}

static bool has_env(const struct fixture *f, const char *line)
{
	return strs_has(&f->plan.foreign->env, str_from(line));
}

static const char *const projects[] = {
	"torch", "torchvision", "torchaudio", "triton", "apex", NULL};

static void every_description_decides_everywhere(void **state)
{
	struct fixture *f = *state;
	static const char *const gpus[] = {"gfx1201", "gfx1030", "gfx942,gfx90a", "gfx906", NULL};
	static const char *const versions[] = {"2.4.0", "2.6.0", "2.8.0", "2.13.0", "", NULL};
	for (size_t p = 0; projects[p]; p++)
		for (size_t g = 0; gpus[g]; g++)
			for (size_t v = 0; versions[v]; v++) {
				describe(f, projects[p], NULL);
				assert_ok(choose(f, versions[v], gpus[g], NULL));
				VEC_EACH (const struct plan_feature, c, &f->plan.features)
					assert_true(c->choice.n && c->why.n && c->about.n);
			}
}

static void every_rule_has_a_reason_and_the_last_one_holds_always(void **state)
{
	struct fixture *f = *state;
	for (size_t p = 0; projects[p]; p++) {
		describe(f, projects[p], NULL);
		assert_true(f->project.marks.n && f->project.origins.n && f->project.releases.n);
		VEC_EACH (const struct project_feature, x, &f->project.features) {
			const struct feature_rule *last =
				x->rules.n ? &x->rules.v[x->rules.n - 1] : NULL;
			assert_true(x->like.n || (last && last->choose.n));
			VEC_EACH (const struct feature_rule, r, &x->rules) {
				const struct when *w = &r->when;
				assert_true(!r->source.n || str_starts(r->source, S("https://")));
				assert_true(r != last ||
					    (!w->version.n && !w->gfx_none.n && !w->sdk.n &&
						    !w->absent.n && !w->file.n && !w->with.n));
			}
		}
	}
}

static void attention_goes_by_gpu_version_and_sources(void **state)
{
	struct fixture *f = *state;
	marks_of_torch(f);
	describe(f, "torch", NULL);
	assert_ok(choose(f, "2.6.0", "gfx1201", NULL));
	assert_string_equal(choice_of(f, "flash-attention"), "off");
	assert_says(str_from(why_of(f, "flash-attention")), "aotriton_version.txt");
	put(f, ".ci/docker/aotriton_version.txt", "0.8b\n");
	assert_ok(choose(f, "2.6.0", "gfx1201", NULL));
	assert_says(str_from(why_of(f, "flash-attention")), "yet");
	assert_ok(choose(f, "2.6.0", "gfx1201,gfx1100", NULL));
	assert_string_equal(choice_of(f, "flash-attention"), "on");
	assert_ok(choose(f, "2.9.0", "gfx1030,gfx1201", NULL));
	assert_string_equal(choice_of(f, "mem-efficient-attention"), "on");
	assert_true(has_env(f, "USE_FLASH_ATTENTION=1"));
	assert_ok(choose(f, "2.9.0", "gfx1030", NULL));
	assert_string_equal(choice_of(f, "mem-efficient-attention"), "off");
	assert_true(has_env(f, "USE_MEM_EFF_ATTENTION=0"));
	assert_err(choose(f, "2.9.0", "gfx1030", "mem-efficient-attention=on"), E_PLAN);
	assert_ok(choose(f, "2.9.0", "", NULL)); /* no target: what holds for none */
	assert_string_equal(choice_of(f, "flash-attention"), "on");
	assert_ok(choose(f, "2.6.0", "gfx1201", "flash-attention=on"));
	assert_string_equal(why_of(f, "flash-attention"), "asked for");
}

static void headers_are_precompiled_where_clang_is_the_host_compiler(void **state)
{
	struct fixture *f = *state;
	marks_of_torch(f);
	describe(f, "torch", NULL);
	assert_ok(choose(f, "2.6.0", "gfx1201", NULL));
	assert_string_equal(choice_of(f, "precompiled-headers"), "on");
	assert_true(strs_has(&f->plan.foreign->precompile, S("ATen/core/Tensor.h")));
	f->plan.foreign->precompile.n = 0;
	assert_ok(choose(f, "2.6.0", "gfx1201", "precompiled-headers=off"));
	assert_int_equal(f->plan.foreign->precompile.n, 0);
	put(f, "third_party/fmt/CMakeLists.txt", ""); /* this machine's gcc */
	assert_ok(choose(f, "2.6.0", "gfx1201", NULL));
	assert_string_equal(choice_of(f, "precompiled-headers"), "off");
	assert_int_equal(f->plan.foreign->precompile.n, 0);
	assert_err(choose(f, "2.6.0", "gfx1201", "precompiled-headers=on"), E_PLAN);
}

static void features_exist_in_the_versions_that_have_them(void **state)
{
	struct fixture *f = *state;
	describe(f, "torch", NULL);
	assert_ok(choose(f, "2.6.0", "gfx942", NULL));
	assert_string_equal(choice_of(f, "ck-gemm"), "none");
	assert_string_equal(choice_of(f, "composable-kernel"), "off");
	assert_err(
		choose(f, "2.6.0", "gfx942", "composable-kernel=sdk"), E_PLAN); /* sid has none */
	f->plan.sdk.suite = S("experimental");
	assert_ok(choose(f, "2.6.0", "gfx942", "composable-kernel=sdk"));
	assert_true(strs_has(&f->plan.sdk.components, S("composable-kernel")));
	assert_string_equal(choice_of(f, "distributed"), "on"); /* its RCCL fits */
	assert_string_equal(choice_of(f, "gloo"), "off");
	f->plan.sdk.suite = S("sid");
	put(f, "third_party/composable_kernel/include/ck/ck.hpp", "");
	put(f, "third_party/fbgemm/CMakeLists.txt", "");
	assert_ok(choose(f, "2.8.0", "gfx942", NULL));
	assert_string_equal(choice_of(f, "ck-gemm"), "on");
	assert_string_equal(choice_of(f, "fbgemm-genai"), "on");
	assert_string_equal(choice_of(f, "composable-kernel"), "none");
	assert_ok(choose(f, "2.8.0", "gfx1201", NULL));
	assert_string_equal(choice_of(f, "ck-gemm"), "off");
	assert_string_equal(choice_of(f, "fbgemm-genai"), "off");
	assert_err(choose(f, "2.6.0", "gfx942", "ck-sdpa=on"), E_PLAN);
	assert_string_equal(choice_of(f, "mslk"), "none");
	assert_ok(choose(f, "2.11.0", "gfx942", NULL));
	assert_string_equal(choice_of(f, "fbgemm-genai"), "none");
	assert_string_equal(choice_of(f, "mslk"), "off");
	put(f, "third_party/mslk/external/composable_kernel/include/ck/config.h.in", "");
	assert_ok(choose(f, "2.11.0", "gfx942", NULL));
	assert_true(has_env(f, "USE_MSLK=1"));
	assert_ok(choose(f, "2.11.0", "gfx1201", NULL));
	assert_true(has_env(f, "USE_MSLK=0"));
}

static void stripped_sources_take_the_libraries_of_the_distribution(void **state)
{
	struct fixture *f = *state;
	describe(f, "torch", NULL);
	assert_ok(choose(f, "2.6.0", "gfx1201", NULL));
	assert_true(has_env(f, "USE_SYSTEM_LIBS=1") && has_env(f, "ONNX_NAMESPACE=onnx"));
	assert_true(strs_has(&f->plan.sdk.components, S("torch-third-party")));
	assert_true(strs_has(&f->plan.foreign->requires, S("pybind11<3")));
	assert_false(f->plan.host_native);
	assert_string_equal(choice_of(f, "distributed"), "off");
	put(f, "third_party/fmt/README", "");
	put(f, "third_party/gloo/CMakeLists.txt", "");
	describe(f, "torch", NULL);
	assert_ok(choose(f, "2.6.0", "gfx1201", NULL));
	assert_true(f->plan.host_native);
	assert_true(has_env(f, "USE_SYSTEM_LIBS=0") && has_env(f, "USE_GLOO=1"));
	assert_false(strs_has(&f->plan.sdk.components, S("torch-third-party")));
	/* RCCL goes with the suite, and brings its component. */
	assert_true(has_env(f, "USE_RCCL=0"));
	f->plan.sdk.suite = S("experimental");
	assert_ok(choose(f, "2.6.0", "gfx1201", NULL));
	assert_true(has_env(f, "USE_RCCL=1") && has_env(f, "USE_NCCL=1"));
	assert_true(strs_has(&f->plan.sdk.components, S("rccl")));
	assert_ok(choose(f, "2.6.0", "gfx1201", "distributed=off"));
	assert_true(has_env(f, "USE_RCCL=0") && has_env(f, "USE_GLOO=0"));
}

static void a_prefix_is_looked_into(void **state)
{
	struct fixture *f = *state;
	put(f, "third_party/fmt/README", "");
	put(f, "sdk/include/roctracer/roctracer.h", "");
	describe(f, "torch", NULL);
	f->plan.sdk.provider = S("prefix");
	f->plan.sdk.prefix = path_join(&f->a, f->dir, S("sdk"));
	assert_ok(choose(f, "2.9.0", "gfx1201", NULL));
	assert_string_equal(choice_of(f, "kineto"), "on");
	assert_string_equal(choice_of(f, "rccl"), "off");
	assert_string_equal(choice_of(f, "runtime"), "sdk");
	assert_int_equal(f->plan.foreign->files.n, 0);
	f->plan.sdk.prefix = S("/venv/lib/_rocm_sdk_devel");
	assert_ok(choose(f, "2.9.0", "gfx1201", NULL));
	assert_string_equal(choice_of(f, "runtime"), "rocm-wheels");
	assert_true(has_env(f, "PYTORCH_EXTRA_INSTALL_REQUIREMENTS=@rocm-wheels@"));
	assert_str(f->plan.foreign->files.v[0].path, "torch/_rocm_init.py");
	assert_ok(choose(f, "2.9.0", "gfx1201", "runtime=sdk"));
	assert_int_equal(f->plan.foreign->files.n, 0);
	/* AMD's wheels are for torch 2.8 and later */
	f->plan.sdk = (struct sdk_spec){.provider = S("rocm"), .suite = S("10.1")};
	assert_ok(choose(f, "2.9.0", "gfx1201", NULL));
	assert_string_equal(choice_of(f, "runtime"), "rocm-wheels");
	assert_ok(choose(f, "2.7.0", "gfx1201", NULL));
	assert_string_equal(choice_of(f, "runtime"), "sdk");
}

static void python_and_torch_must_fit_the_release(void **state)
{
	struct fixture *f = *state;
	struct plan_foreign *how;
	describe(f, "torch", NULL);
	how = f->plan.foreign;
	how->release = S("2.6.0");
	f->plan.host.python_version = S("3.13");
	assert_ok(known_fits(&f->a, &f->project, &f->plan));
	f->plan.host.python_version = S("3.14");
	assert_err(known_fits(&f->a, &f->project, &f->plan), E_PLAN);
	describe(f, "torchvision", NULL);
	how = f->plan.foreign;
	how->release = S("0.21.0");
	assert_err(known_fits(&f->a, &f->project, &f->plan), E_PLAN);
	strs_add(&f->a, &how->with, S("/w/torch-2.6.0+rocm6.4-cp311-cp311-linux_x86_64.whl"));
	assert_str(known_torch(&f->plan.foreign->with), "2.6.0");
	assert_ok(known_fits(&f->a, &f->project, &f->plan));
	how->release = S("0.24.1");
	assert_err(known_fits(&f->a, &f->project, &f->plan), E_PLAN);
}

static void versions_are_read_in_the_sources(void **state)
{
	struct fixture *f = *state;
	struct str version;
	describe(f, "torch", NULL);
	assert_err(known_check(&f->a, &f->project, &version), E_PROJECT);
	marks_of_torch(f);
	assert_ok(known_check(&f->a, &f->project, &version));
	assert_str(version, "");
	put(f, "version.txt", "2.10.0a0\n");
	assert_ok(known_check(&f->a, &f->project, &version));
	assert_str(version, "2.10.0");
	put(f, "python/triton/__init__.py", "\"\"\"doc\"\"\"\n__version__ = '3.5.1'\n");
	put(f, "cmake/llvm-hash.txt", "abc");
	describe(f, "triton", NULL);
	assert_ok(known_check(&f->a, &f->project, &version));
	assert_str(version, "3.5.1");
	put(f, "python/triton/__init__.py", "__version__ = dev3\n");
	assert_ok(known_check(&f->a, &f->project, &version));
	assert_str(version, "");
	put(f, "python/triton/__init__.py", "__version__ = \"3.6.\"\n");
	assert_ok(known_check(&f->a, &f->project, &version));
	assert_str(version, "3.6");
	put(f, "python/triton/__init__.py", "__version__ =");
	assert_ok(known_check(&f->a, &f->project, &version));
	assert_str(version, "");
	/* not more of a file than any such file has */
	struct str path = path_join(&f->a, f->dir, S("python/triton/__init__.py"));
	assert_int_equal(truncate(str_z(&f->a, path), 4 << 20), 0);
	assert_ok(known_check(&f->a, &f->project, &version));
	assert_int_equal(truncate(str_z(&f->a, path), (4 << 20) + 1), 0);
	assert_err(known_check(&f->a, &f->project, &version), E_LIMIT);
}

static void suffix(struct fixture *f, const char *wish, const char *want)
{
	struct plan_request r = {0};
	if (wish)
		r.suffix = str_from(wish);
	f->plan.foreign->release = S("2.6.0");
	f->plan.foreign->env.n = 0;
	f->plan.sdk.suite = S("none-such");
	strs_add(&f->a, &f->plan.foreign->env, S("V=@version@!"));
	strs_add(&f->a, &f->plan.foreign->env, S("S=@suffix@"));
	struct plan_wish plan = {.plan = f->plan};
	assert_ok(suffix_choose(&f->a, &r, &plan));
	f->plan = plan.plan;
	assert_str(f->plan.version, want);
	assert_str(f->plan.foreign->env.v[0], str_fmt(&f->a, "V=%s!", want).p);
	assert_str(f->plan.foreign->env.v[1], str_fmt(&f->a, "S=%s", want + 5).p);
}

static void a_version_says_what_it_is_for(void **state)
{
	struct fixture *f = *state;
	describe(f, "torch", NULL);
	suffix(f, NULL, "2.6.0+rocm@rocm@");
	suffix(f, "", "2.6.0");
	suffix(f, "+mine.1", "2.6.0+mine.1");
	put(f, ".git/HEAD", "0123456789abcdef0123456789abcdef01234567\n");
	suffix(f, NULL, "2.6.0+git01234567.rocm@rocm@");
	put(f, ".git/HEAD", "ref: refs/heads/a\n");
	suffix(f, NULL, "2.6.0+rocm@rocm@"); /* no commit yet */
	put(f, ".git/refs/heads/a", "fedcba9876543210\n");
	suffix(f, NULL, "2.6.0+gitfedcba98.rocm@rocm@");
	struct plan_request r = {.suffix = S("+no such")};
	struct plan_wish wish = {.plan = f->plan};
	assert_err(suffix_choose(&f->a, &r, &wish), E_USAGE);
}

/* So the first build on a machine, which installs the SDK, and the next one are for the same. */
static void what_only_the_sdk_knows_is_put_in_when_it_is_there(void **state)
{
	struct fixture *f = *state;
	struct sdk sdk = {.name = S("debian-sid")};
	describe(f, "torch", NULL);
	suffix(f, NULL, "2.6.0+rocm@rocm@");
	strs_add(&f->a, &f->plan.foreign->env, S("R=rocm[libraries]==@rocm-pin@"));
	*VEC_PUSH(&f->a, &f->plan.foreign->files) =
		(struct plan_file){S("a"), S("check_version=\"@rocm@\"")};
	const struct plan_wish wish = {.plan = f->plan};
	const struct findings none = {0};
	struct plan settled;
	plan_settle(&f->a, &wish, &sdk, &none, &settled); /* it does not say */
	assert_str(settled.version, "2.6.0+rocm@rocm@");
	*VEC_PUSH(&f->a, &sdk.components) = (struct sdk_component){S("hip"), S("6.4.43484")};
	plan_settle(&f->a, &wish, &sdk, &none, &settled);
	assert_str(settled.version, "2.6.0+rocm6.4");
	assert_str(str_join(&f->a, &settled.foreign->env, S(" ")),
		"V=2.6.0+rocm6.4! S=+rocm6.4 R=rocm[libraries]==6.4.*");
	assert_str(settled.foreign->files.v[0].text, "check_version=\"6.4\"");
	assert_str(
		wish.plan.foreign->env.v[0], "V=2.6.0+rocm@rocm@!"); /* the wish is not touched */
}

static void a_worktree_leads_to_its_repository(void **state)
{
	struct fixture *f = *state;
	describe(f, "torch", NULL);
	put(f, ".git", "gitdir: ../repo/.git/worktrees/w\n");
	put(f, "../repo/.git/worktrees/w/HEAD", "aabbccddeeff00112233\n");
	suffix(f, NULL, "2.6.0+gitaabbccdd.rocm@rocm@");
	put(f, "../repo/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
	put(f, "../repo/.git/worktrees/w/commondir", "../..\n");
	put(f, "../repo/.git/packed-refs", "# pack-refs\n00112233445566778899 refs/heads/w\n");
	suffix(f, NULL, "2.6.0+git00112233.rocm@rocm@");
	put(f, "../repo/.git/worktrees/w/HEAD", "ref: ../../repo/secret\n");
	put(f, "../repo/.git/secret", "aabbccddeeff00112233\n");
	suffix(f, NULL, "2.6.0+rocm@rocm@");
	put(f, ".git", "gitdir: ../repo/no-such\n");
	suffix(f, NULL, "2.6.0+rocm@rocm@");
}

static void a_description_of_the_user_is_checked(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = {
		"features: [{name: a, env: A}]", /* no rules */
		"features: [{name: a, rules: [{choose: on, why: w}]}]",
		"features: [{name: a, env: A, rules: [{choose: on}]}]",
		"features: [{name: a, env: A, rules: [{choose: on, refuse: on, why: w}]}]",
		"features: [{name: a, env: A, like: b}]",
		"features: [{name: a, env: A, rules: [{choose: on, why: w, gfx: gfx9*}]}]",
		"needs: [{write: ../x, text: y}]",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		describe(f, "torch", bad[i]);
		assert_err(choose(f, "1.0", "gfx1201", NULL), E_PROJECT);
	}
	describe(f, "torch",
		"features: [{name: a, env: A, rules: [{refuse: on, why: x}, {refuse: off, why: y},"
		" {choose: on, why: w}]}]");
	assert_err(choose(f, "1.0", "gfx1201", NULL), E_PLAN);
	describe(f, "torch",
		"features: [{name: a, env: A, rules: [{choose: off, why: w, machine_none: [arm*]}, "
		"{choose: on, why: v}]}]");
	assert_ok(choose(f, "1.0", "gfx1201", NULL));
	assert_true(has_env(f, "A=0"));
}

/* Every condition of a rule, with what it is true of; several are all to be true. */
static void a_rule_holds_where_all_its_conditions_do(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *when, *gpus;
		bool holds;
	} cases[] = {
		{"gfx: [gfx11*]", "gfx1100,gfx1151", true},
		{"gfx: [gfx11*]", "gfx1100,gfx90a", false},
		{"gfx: [gfx11*, gfx90a]", "gfx1100,gfx90a:xnack-", true},
		{"gfx: [gfx11*]", "", false},
		{"gfx_any: [gfx11*]", "gfx1100,gfx90a", true},
		{"gfx_any: [gfx11*]", "gfx942,gfx90a", false},
		{"gfx_any: [gfx11*]", "", false},
		{"gfx_none: [gfx11*]", "gfx942,gfx90a", true},
		{"gfx_none: [gfx11*]", "gfx1100", false},
		{"gfx_none: [gfx11*]", "gfx90a,gfx1100,gfx1101", false},
		{"gfx_none: [gfx11*]", "", false},
		{"version: '>=2.6'", "gfx1201", true},
		{"version: '>=2.7'", "gfx1201", false},
		{"machine: [x86_64, arm*]", "gfx1201", true},
		{"machine: [arm*]", "gfx1201", false},
		{"machine_none: [x86*]", "gfx1201", false},
		{"machine_none: [arm*]", "gfx1201", true},
		{"sdk: ['debian:*']", "gfx1201", true},
		{"sdk: ['prefix:*', 'debian:trixie']", "gfx1201", false},
		{"sdk_lacks: [lib/x.so]", "gfx1201", false}, /* only a prefix can be looked into */
		{"file: [there]", "gfx1201", true},
		{"file: [there, gone]", "gfx1201", false},
		{"absent: [gone]", "gfx1201", true},
		{"absent: [gone, there]", "gfx1201", false},
		{"with: [first]", "gfx1201", true},
		{"with: [first=on]", "gfx1201", true},
		{"with: [first=off]", "gfx1201", false},
		{"with: [second]", "gfx1201", false},
		{"with: [first, other]", "gfx1201", false},
		{"without: [second]", "gfx1201", true},
		{"without: [first]", "gfx1201", false},
		{"without: [second, first]", "gfx1201", false},
		{"gfx: [gfx12*], version: '>=2.6', file: [there]", "gfx1201", true},
		{"gfx: [gfx12*], version: '>=2.7', file: [there]", "gfx1201", false},
	};
	put(f, "there", "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		describe(f, "torch",
			str_fmt(&f->a,
				"features: [{name: first, env: F, rules: [{choose: on, why: w}]}, "
				"{name: second, env: S, rules: [{choose: off, why: w}]}, "
				"{name: it, env: IT, rules: [{choose: on, why: w, %s}, "
				"{choose: off, why: w}]}]",
				cases[i].when)
				.p);
		assert_ok(choose(f, "2.6.0", cases[i].gpus, NULL));
		if (strcmp(choice_of(f, "it"), cases[i].holds ? "on" : "off"))
			fail_msg("%s: %s", cases[i].when, choice_of(f, "it"));
	}
}

/* A wheel whose libc10.so is this program. */
static struct str torch_wheel(struct fixture *f)
{
	struct zip_input member = {.name = S("torch/lib/libc10.so"), .mode = 0755};
	struct zip_writer w = {.path = path_join(&f->a, f->top, S("torch-2.6.0-x.whl")),
		.jobs = 1,
		.v = &member,
		.n = 1};
	member.path = S("/proc/self/exe");
	assert_ok(zip_write(&f->a, &w, NULL));
	return w.path;
}

static void a_torch_for_a_newer_libc_wants_that_one(void **state)
{
	struct fixture *f = *state;
	describe(f, "torchvision", NULL);
	strs_add(&f->a, &f->plan.foreign->with, torch_wheel(f));
	f->plan.host.libc = S("2.999");
	assert_ok(libc_choose(&f->a, &f->plan));
	assert_true(f->plan.host_native);
	f->plan.host.libc = S("2.2");
	assert_ok(libc_choose(&f->a, &f->plan));
	assert_false(f->plan.host_native);
	assert_says(reason_for(f, "host libc"), "this machine has 2.2");
	put(f, "../torch-1.whl", "no zip");
	f->plan.foreign->with.v[0] = path_join(&f->a, f->top, S("torch-1.whl"));
	f->plan.host_native = true;
	assert_ok(libc_choose(&f->a, &f->plan));
	assert_true(f->plan.host_native);
}

/* The words are those of torch/version.py of the wheels on the index. */
static void a_torch_for_something_else_is_refused(void **state)
{
	static const struct {
		const char *version, *said;
	} rows[] = {
		{"__version__ = '2.9.0'\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n",
			"a torch for CUDA '12.8'"},
		{"cuda = None\nhip = None\n", "a torch for the CPU"},
		{"cuda: Optional[str] = None\nhip: Optional[str] = '7.2.1'\n", NULL},
		{"cuda = '12.8'\n", NULL}, /* an old one, which does not say */
	};
	struct fixture *f = *state;
	struct zip_input member = {.name = S("torch/version.py")};
	struct zip_writer w = {.path = path_join(&f->a, f->top, S("torch-2.9.0-x.whl")),
		.jobs = 1,
		.v = &member,
		.n = 1};
	describe(f, "torchvision", NULL);
	f->plan.host.libc = S("2.36");
	strs_add(&f->a, &f->plan.foreign->with, w.path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(f, "../version.py", rows[i].version);
		member.path = path_join(&f->a, f->top, S("version.py"));
		assert_ok(zip_write(&f->a, &w, NULL));
		struct err *e = libc_choose(&f->a, &f->plan);
		assert_int_equal(e != NULL, rows[i].said != NULL);
		if (e)
			assert_says(str_from(e->msg), rows[i].said);
		err_free(e);
		f->plan.foreign->torch_as_rocm = true;
		assert_ok(libc_choose(&f->a, &f->plan));
		f->plan.foreign->torch_as_rocm = false;
	}
}

/* ---- with which patches ---- */

/* The sources of a word as if they had been fetched, with the patches of Debian or without: the name of a folder has
 * the hash of what it is made of, and of that of each word. */
static void fetched(struct fixture *f, const char *word, bool patches)
{
	struct arena *a = &f->a;
	struct str cache = fs_place(a, FS_CACHE, S("source"));
	struct str made = str_fmt(a, "1 %d", patches),
		   said = str_fmt(a, "%s\n\n\n\n%d\n", word, patches);
	struct str name = str_fmt(a, "p-1-%.*s", STR(sha256_hex(a, made)));
	const struct source_tree tree = {.kind = S("debian"), .package = S("p"), .version = S("1")};
	struct str json = json_document(a, 0, source_tree_fields, &tree);
	assert_ok(fs_mkdirs(path_join(a, cache, S("words"))));
	assert_ok(fs_mkdirs(path_join(a, cache, name)));
	test_put(path_join(a, path_join(a, cache, name), S("which")), patches ? "with" : "without");
	assert_ok(fs_write(
		str_fmt(a, "%.*s/words/%.*s", STR(cache), STR(sha256_hex(a, said))), name, 0644));
	assert_ok(fs_write(str_fmt(a, "%.*s/%.*s.json", STR(cache), STR(name)),
		str_fmt(a, "{\"schema\": \"rocsmith.source/1\", \"source\": %.*s}", STR(json)),
		0644));
}

/* Debian's changes belong to what it builds, unless a description says that they are not wanted. */
static void a_package_of_debian_comes_with_its_patches(void **state)
{
	struct fixture *f = *state;
	static const char text[] =
		"origins: [{word: debian:sid/up, upstream: true}, {word: debian:sid/all}]\n";
	static const struct {
		const char *dir, *source; /* source "": dir is the word */
		bool patches;
	} cases[] = {{"debian:sid/p", "", true}, {"debian:sid/p=1.0", "", true},
		{"torch", "debian:sid/other", true}, {"torch", "debian:sid/all", true},
		{"torch", "debian:sid/up", false}, {"torch", "debian:sid/up=1.0", false}};
	char *before = getenv("ROCSMITH_HOME");
	struct str home = before ? str_dup(&f->a, str_from(before)) : S("");
	setenv("ROCSMITH_HOME", path_join(&f->a, f->top, S("home")).p, 1);
	put(f, "../mine.yaml", text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *word = cases[i].source[0] ? cases[i].source : cases[i].dir;
		struct plan_request r = {
			.dir = str_from(cases[i].dir), .source = str_from(cases[i].source)};
		struct description d;
		if (r.source.n)
			r.config = path_join(&f->a, f->top, S("mine.yaml"));
		fetched(f, word, true);
		fetched(f, word, false);
		assert_ok(known_resolve(&f->a, &r, &d));
		struct str which;
		assert_ok(fs_read(&f->a, path_join(&f->a, d.dir, S("which")), 16, &which));
		assert_str(which, cases[i].patches ? "with" : "without");
	}
	home.n ? setenv("ROCSMITH_HOME", home.p, 1) : unsetenv("ROCSMITH_HOME");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(every_description_decides_everywhere),
		FIXTURE_TEST(every_rule_has_a_reason_and_the_last_one_holds_always),
		FIXTURE_TEST(attention_goes_by_gpu_version_and_sources),
		FIXTURE_TEST(headers_are_precompiled_where_clang_is_the_host_compiler),
		FIXTURE_TEST(features_exist_in_the_versions_that_have_them),
		FIXTURE_TEST(stripped_sources_take_the_libraries_of_the_distribution),
		FIXTURE_TEST(a_prefix_is_looked_into),
		FIXTURE_TEST(python_and_torch_must_fit_the_release),
		FIXTURE_TEST(versions_are_read_in_the_sources),
		FIXTURE_TEST(a_version_says_what_it_is_for),
		FIXTURE_TEST(what_only_the_sdk_knows_is_put_in_when_it_is_there),
		FIXTURE_TEST(a_worktree_leads_to_its_repository),
		FIXTURE_TEST(a_torch_for_something_else_is_refused),
		FIXTURE_TEST(a_torch_for_a_newer_libc_wants_that_one),
		FIXTURE_TEST(a_description_of_the_user_is_checked),
		FIXTURE_TEST(a_package_of_debian_comes_with_its_patches),
		FIXTURE_TEST(a_rule_holds_where_all_its_conditions_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
