/* The command lines of a build, for plans made by hand: make/compile.c. */
#include "make/make.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct plan plan;
	struct sdk sdk;
	struct make b;
	struct sdk_sysroot sysroot;
};

/* A plan of two targets, one module; the SDK in a sandbox, the host side native. */
static int begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	struct plan *p = &f->plan;
	struct sdk *sdk = &f->sdk;
	p->project = S("/home/u/proj");
	p->name = S("saxpy");
	p->version = S("1.0");
	p->host_native = true;
	p->host = (struct host){
		.gcc_dir = S("/usr/lib/gcc/x86_64-linux-gnu/12"), .triplet = S("x86_64-linux-gnu")};
	p->host.python_include = S("/usr/include/python3.11");
	strs_add(&f->a, &p->gpus, S("gfx1201"));
	strs_add(&f->a, &p->gpus, S("gfx90a:xnack-"));
	strs_add(&f->a, &p->includes, S("include"));
	sdk->clang = S("/usr/lib/llvm-21/bin/clang++");
	sdk->include = S("/opt/rocm/include");
	sdk->root = S("/d/sdk");
	strs_add(&f->a, &sdk->clang_flags, S("--hip-path=/opt/rocm"));
	strs_add(&f->a, &sdk->lib_dirs, S("/opt/rocm/lib"));
	f->b = (struct make){.a = &f->a, .plan = p, .sdk = sdk, .hip = S("/b/hip")};
	f->b.sysroot = &f->sysroot;
	f->b.obj = S("/b/obj");
	f->b.mod = S("/b/mod");
	f->b.log = S("/b/log");
	f->b.tmp = S("/b/tmp");
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	arena_free(&f->a);
	free(f);
	return 0;
}

static void add_source(struct fixture *f, const char *path, const char *output, enum plan_lang lang)
{
	*VEC_PUSH(&f->a, &f->plan.sources) = (struct plan_source){
		.path = str_from(path), .output = str_from(output), .lang = lang};
}

/* A module of these sources; the list ends with -1. */
static void add_module(struct fixture *f, const char *file, const int *sources)
{
	struct plan_module *m = VEC_PUSH(&f->a, &f->plan.modules);
	m->name = m->file = str_from(file);
	for (; *sources >= 0; sources++)
		strs_add(&f->a, &m->sources, f->plan.sources.v[*sources].path);
}

static const int first_source[] = {0, -1};

static void make_one(struct fixture *f)
{
	add_source(f, "src/a.cu", "src/a.hip", PLAN_HIP);
	add_module(f, "fast.abi3.so", first_source);
	make_jobs(&f->b);
}

static struct job *step_of(struct fixture *f, const char *kind, const char *gpu)
{
	for (size_t i = 0; i < f->b.set.all.n; i++) {
		struct job *s = f->b.set.all.v[i];
		if (str_eq(s->report.kind, str_from(kind)) && str_eq(s->report.gpu, str_from(gpu)))
			return s;
	}
	fail_msg("no step '%s' %s", kind, gpu);
	return NULL;
}

static struct str command(struct fixture *f, const struct job *s)
{
	return str_fmt(&f->a, " %.*s ", STR(str_join(&f->a, &s->proc.argv, S(" "))));
}

/* The words are in argv, next to each other. */
static void assert_words(struct fixture *f, const struct job *s, const char *want)
{
	struct str spaced = str_fmt(&f->a, " %s ", want);
	if (!str_contains(command(f, s), spaced))
		fail_msg("'%s' is not in '%.*s'", want, STR(command(f, s)));
}

static void assert_no_word(struct fixture *f, const struct job *s, const char *part)
{
	if (str_contains(command(f, s), str_from(part)))
		fail_msg("'%s' is in '%.*s'", part, STR(command(f, s)));
}

/* In the sandbox and out of it. The machine's own libraries come behind those of the SDK. */
static void a_sysroot_takes_the_place_of_this_machines_libc(void **state)
{
	struct fixture *f = *state;
	f->sysroot = (struct sdk_sysroot){.root = S("/d/glibc-2.28"),
		.own = S("/b/policy"),
		.triplet = f->plan.host.triplet,
		.key = S("k1")};
	make_one(f);
	struct job *host = step_of(f, "host", ""), *link = step_of(f, "link", "");
	assert_words(f, host, "--sysroot=/run/policy/root -isystem/run/policy/own/include");
	assert_words(f, host, "-idirafter/run/host/usr/include");
	assert_words(f, host, "--gcc-install-dir=/run/host/usr/lib/gcc/x86_64-linux-gnu/12");
	assert_no_word(f, host, " -L");
	assert_words(f, link, "-L/run/policy/own/lib -L/run/policy/root/usr/lib64");
	assert_words(f, link, "-L/opt/rocm/lib -L/run/host/usr/lib64");
	assert_true(str_ends(f->b.set.toolchain, S("k1")));
	f->sdk.root = S("");
	make_jobs(&f->b);
	assert_words(
		f, step_of(f, "host", ""), "--sysroot=/d/glibc-2.28 -isystem/b/policy/include");
}

static bool needs(const struct job *later, const struct job *earlier)
{
	for (size_t i = 0; i < earlier->feeds.n; i++)
		if (earlier->feeds.v[i] == later)
			return true;
	return false;
}

static struct str cuid(struct fixture *f, const struct job *s)
{
	VEC_EACH (const struct str, w, &s->proc.argv)
		if (str_starts(*w, S("-cuid=")))
			return *w;
	fail_msg("no -cuid in '%.*s'", STR(command(f, s)));
	return S("");
}

/* ---- which steps, in which order ---- */
static void a_hip_source_has_a_pass_per_gpu_a_bundle_and_a_host_pass(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	assert_int_equal(f->b.set.all.n, 5);
	struct job *one = step_of(f, "device", "gfx1201");
	struct job *two = step_of(f, "device", "gfx90a:xnack-");
	struct job *bundle = step_of(f, "bundle", ""), *host = step_of(f, "host", "");
	struct job *link = step_of(f, "link", "");
	assert_true(needs(bundle, one) && needs(bundle, two));
	assert_true(needs(host, bundle) && needs(link, host));
	assert_false(needs(one, two) || needs(two, one)); /* they run side by side */
	/* nothing waits for itself, or for what comes later */
	for (size_t i = 0; i < f->b.set.all.n; i++)
		for (size_t k = 0; k <= i; k++)
			assert_false(needs(f->b.set.all.v[k], f->b.set.all.v[i]));
}

static void a_bundle_holds_the_targets_in_the_order_asked_for(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	struct job *bundle = step_of(f, "bundle", "");
	assert_int_equal(bundle->proc.argv.n, 0); /* made by us */
	assert_str(str_join(&f->a, &bundle->key, S(" ")), "gfx1201 gfx90a:xnack-");
	assert_true(str_eq(bundle->inputs.v[0], step_of(f, "device", "gfx1201")->output));
	assert_true(str_eq(bundle->inputs.v[1], step_of(f, "device", "gfx90a:xnack-")->output));
	assert_true(str_ends(bundle->output, S(".hipfb")));
}

static void sources_for_the_host_are_compiled_once_whatever_the_gpus(void **state)
{
	struct fixture *f = *state;
	static const int both[] = {0, 1, -1};
	add_source(f, "src/b.cpp", "src/b.cpp", PLAN_CXX);
	add_source(f, "src/c.c", "src/c.c", PLAN_C);
	add_module(f, "m.so", both);
	make_jobs(&f->b);
	assert_int_equal(f->b.set.all.n, 3);
	struct job *cxx = step_of(f, "c++", ""), *c = step_of(f, "c", "");
	assert_words(f, cxx, "-x c++ -c src/b.cpp");
	assert_words(f, c, "-x c -c src/c.c");
	assert_words(f, c, "-D__HIP_PLATFORM_AMD__=1");
	assert_no_word(f, cxx, "--offload");
	assert_no_word(f, cxx, "-cuid");
	assert_no_word(f, c, "WARP_SYNC");
	/* HIP's headers are found by themselves only in HIP sources */
	assert_words(f, cxx, "-idirafter/opt/rocm/include");
}

static void modules_link_their_own_sources_only(void **state)
{
	struct fixture *f = *state;
	static const int one[] = {0, 2, -1}, two[] = {1, 2, -1};
	add_source(f, "a.c", "a.c", PLAN_C);
	add_source(f, "b.c", "b.c", PLAN_C);
	add_source(f, "shared.c", "shared.c", PLAN_C);
	add_module(f, "pkg/one.so", one);
	add_module(f, "pkg/two.so", two);
	make_jobs(&f->b);
	assert_int_equal(f->b.set.all.n, 5);
	struct job **s = f->b.set.all.v;
	assert_str(s[3]->report.name, "pkg/one.so");
	assert_true(needs(s[3], s[0]) && needs(s[3], s[2]) && !needs(s[3], s[1]));
	assert_true(needs(s[4], s[1]) && needs(s[4], s[2]) && !needs(s[4], s[0]));
	assert_words(f, s[3], "-Wl,-soname,one.so");
	assert_false(str_eq(s[3]->output, s[4]->output));
}

/* ---- device passes ---- */
static void a_device_pass_compiles_for_one_gpu_only(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	struct job *s = step_of(f, "device", "gfx90a:xnack-");
	assert_str(s->proc.argv.v[0], "/usr/lib/llvm-21/bin/clang++");
	assert_words(f, s, "-x hip -c src/a.hip");
	assert_words(f, s, "--offload-device-only --no-gpu-bundle-output");
	assert_words(f, s, "--offload-arch=gfx90a:xnack-");
	assert_no_word(f, s, "gfx1201");
	assert_no_word(f, s, "-fcuda-include-gpubinary");
	assert_str(s->proc.cwd, "/b/hip");
	assert_str(s->inputs.v[0], "/b/hip/src/a.hip");
	assert_int_equal(s->inputs.n, 1);
}

static void the_device_side_names_its_headers_by_way_of_the_compiler_proper(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	struct job *device = step_of(f, "device", "gfx1201"), *host = step_of(f, "host", "");
	struct str want =
		str_fmt(&f->a, "-Xclang -dependency-file -Xclang %.*s", STR(device->depfile));
	assert_words(f, device, want.p);
	assert_no_word(f, device, " -MD ");
	assert_words(f, host, str_fmt(&f->a, "-MD -MF %.*s", STR(host->depfile)).p);
	assert_false(str_eq(device->depfile, host->depfile));
}

static void the_host_pass_embeds_the_bundle_and_is_made_again_with_it(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	struct job *host = step_of(f, "host", ""), *bundle = step_of(f, "bundle", "");
	assert_words(f, host, "--offload-host-only -Xclang -fcuda-include-gpubinary");
	assert_words(f, host, str_fmt(&f->a, "-Xclang %.*s", STR(bundle->output)).p);
	assert_true(strs_has(&host->inputs, bundle->output));
	assert_no_word(f, host, "--offload-arch");
}

static void all_passes_of_a_source_share_one_unit_id(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	struct str id = cuid(f, step_of(f, "host", ""));
	assert_int_equal(id.n, strlen("-cuid=") + 16);
	assert_true(str_eq(id, cuid(f, step_of(f, "device", "gfx1201"))));
	assert_true(str_eq(id, cuid(f, step_of(f, "device", "gfx90a:xnack-"))));
}

static struct str id_of(void (*change)(struct fixture *), struct arena *a)
{
	void *state = NULL;
	begin(&state);
	struct fixture *f = state;
	change(f);
	make_one(f);
	struct str id = str_dup(a, cuid(f, step_of(f, "host", "")));
	end(&state);
	return id;
}

static void leave(struct fixture *f)
{
	(void)f;
}

static void move(struct fixture *f)
{
	f->plan.project = S("/elsewhere/copy");
	f->b.hip = S("/other/hip");
	f->b.obj = S("/other/obj");
	f->b.tmp = S("/other/tmp");
}

static void rename_project(struct fixture *f)
{
	f->plan.name = S("other");
}

static void raise_version(struct fixture *f)
{
	f->plan.version = S("1.1");
}

static void the_unit_id_knows_names_but_no_folders(void **state)
{
	(void)state;
	ARENA(a);
	struct str id = id_of(leave, &a);
	assert_true(str_eq(id, id_of(move, &a)));
	assert_false(str_eq(id, id_of(rename_project, &a)));
	assert_false(str_eq(id, id_of(raise_version, &a)));
}

static void two_sources_of_one_name_have_their_own_files_and_ids(void **state)
{
	struct fixture *f = *state;
	static const int both[] = {0, 1, -1};
	add_source(f, "a/k.cu", "a/k.hip", PLAN_HIP);
	add_source(f, "a_k.cu", "a_k.hip", PLAN_HIP); /* the same once flattened */
	add_module(f, "m.so", both);
	make_jobs(&f->b);
	for (size_t i = 0; i < f->b.set.all.n; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(str_eq(f->b.set.all.v[i]->output, f->b.set.all.v[k]->output));
	assert_false(str_eq(cuid(f, f->b.set.all.v[0]), cuid(f, f->b.set.all.v[4])));
}

/* ---- flags ---- */
static void the_users_flags_and_defines_reach_every_compile_but_no_link(void **state)
{
	struct fixture *f = *state;
	static const int both[] = {0, 1, -1};
	strs_add(&f->a, &f->plan.defines, S("A"));
	strs_add(&f->a, &f->plan.defines, S("B=\"x y\""));
	strs_add(&f->a, &f->plan.flags, S("-ffast-math"));
	add_source(f, "a.cu", "a.hip", PLAN_HIP);
	add_source(f, "b.cpp", "b.cpp", PLAN_CXX);
	add_module(f, "m.so", both);
	make_jobs(&f->b);
	for (size_t i = 0; i < f->b.set.all.n; i++) {
		struct job *s = f->b.set.all.v[i];
		if (str_eq(s->report.kind, S("bundle")))
			continue;
		bool compile = !str_eq(s->report.kind, S("link"));
		assert_int_equal(strs_has(&s->proc.argv, S("-DA")), compile);
		assert_int_equal(strs_has(&s->proc.argv, S("-DB=\"x y\"")), compile);
		assert_int_equal(strs_has(&s->proc.argv, S("-ffast-math")), compile);
		assert_true(strs_has(&s->proc.argv, S("--hip-path=/opt/rocm")));
	}
}

static void the_users_flags_come_behind_ours_so_that_they_win(void **state)
{
	struct fixture *f = *state;
	strs_add(&f->a, &f->plan.flags, S("-O3"));
	make_one(f);
	struct str line = command(f, step_of(f, "host", ""));
	assert_true(str_find(line, S(" -O2 ")) < str_find(line, S(" -O3 ")));
}

static void translated_headers_come_before_the_projects_own(void **state)
{
	struct fixture *f = *state;
	strs_add(&f->a, &f->plan.includes, S("."));
	make_one(f);
	assert_words(f, step_of(f, "host", ""),
		"-Iinclude -I. -I/home/u/proj/include -I/home/u/proj -iquote/home/u/proj/src");
}

static void no_folder_of_this_machine_stays_in_the_output(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	struct job *s = step_of(f, "device", "gfx1201");
	assert_words(f, s, "-ffile-prefix-map=/b/hip=. -ffile-prefix-map=/home/u/proj=.");
	struct str flat = str_sub(s->output, strlen("/b/obj/"), s->output.n);
	assert_true(str_starts(flat, S("src_a.cu-")));
	assert_true(str_ends(flat, S(".gfx1201.co")));
	assert_words(f, s, str_fmt(&f->a, "-o %.*s/" JOB_OUT, STR(s->work)).p);
}

static void the_environment_of_the_user_reaches_no_program(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	for (size_t i = 0; i < f->b.set.all.n; i++) {
		struct job *s = f->b.set.all.v[i];
		if (!s->proc.argv.n)
			continue;
		assert_true(s->proc.clear_env);
		assert_str(str_join(&f->a, &s->proc.setenv, S(" ")),
			str_fmt(&f->a,
				"PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 TMPDIR=%.*s",
				STR(s->work))
				.p);
		assert_true(str_starts(s->proc.log, S("/b/log/")));
	}
}

/* A compiler plugin of the project must not reach what we, or another step, go by. */
static void a_step_may_write_a_folder_of_its_own_and_nothing_else(void **state)
{
	struct fixture *f = *state;
	make_one(f);
	for (size_t i = 0; i < f->b.set.all.n; i++) {
		struct job *s = f->b.set.all.v[i];
		struct proc p = {0};
		if (!s->proc.argv.n)
			continue;
		proc_arg(&f->a, &p, "clang++", NULL);
		f->sdk.runner = SDK_CHROOT; /* says plainly what is bound, and needs no tree */
		assert_ok(f->b.set.hooks->wrap(&f->a, s, &p));
		struct str all = str_join(&f->a, &p.argv, S(" "));
		struct str own =
			str_fmt(&f->a, "--chroot-bind=%.*s:%.*s:w", STR(s->work), STR(s->work));
		assert_true(str_starts(s->work, S("/b/tmp/")) && str_contains(all, own));
		assert_int_equal(str_find(all, S(":w")), str_find(all, own) + own.n - 2);
		assert_true(!s->depfile.n || str_starts(s->depfile, s->work));
		for (size_t k = 0; k < i; k++)
			assert_false(str_eq(f->b.set.all.v[k]->work, s->work));
	}
}

/* ---- the host side ---- */
static const struct {
	bool native, sandbox, needs_python;
	const char *sdk_python; /* the SDK's version, "" = the machine's headers are used */
	const char *sysroot, *python;
} hosts[] = {
	{true, true, false, "", "--sysroot=/run/host", NULL},
	{true, true, true, "", "--sysroot=/run/host", "-isystem/run/host/usr/include/python3.11"},
	{true, false, true, "", NULL, "-isystem/usr/include/python3.11"},
	{false, true, false, "", NULL, NULL},
	{false, true, true, "", NULL, "-isystem/run/python/include -isystem/run/python/arch"},
	{false, true, true, "3.14", NULL, "-isystem/usr/include/python3.14"},
	{false, false, true, "", NULL, "-isystem/usr/include/python3.11"},
};

static void check_host_row(struct fixture *f, size_t i)
{
	f->plan.host_native = hosts[i].native;
	f->plan.needs_python = hosts[i].needs_python;
	f->sdk.root = hosts[i].sandbox ? S("/d/sdk") : S("");
	f->b.sdk_python = str_from(hosts[i].sdk_python);
	make_one(f);
	struct job *s = step_of(f, "host", ""), *link = step_of(f, "link", "");
	if (hosts[i].sysroot) {
		struct str gcc = str_fmt(&f->a, "%s --gcc-install-dir=/run/host%.*s",
			hosts[i].sysroot, STR(f->plan.host.gcc_dir));
		assert_words(f, s, gcc.p);
		assert_words(f, link, gcc.p);
	} else {
		assert_no_word(f, s, "--sysroot");
		assert_no_word(f, link, "--sysroot");
		assert_no_word(f, s, "--gcc-install-dir");
	}
	if (hosts[i].python)
		assert_words(f, s, hosts[i].python);
	else
		assert_no_word(f, s, "python");
	assert_no_word(f, link, "python");
}

static void the_host_side_sees_one_system_only(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		void *f = NULL;
		begin(&f);
		check_host_row(f, i);
		end(&f);
	}
}

/* ---- linking ---- */
static void the_link_names_libraries_that_are_used_only(void **state)
{
	struct fixture *f = *state;
	strs_add(&f->a, &f->plan.libraries, S("hiprand"));
	strs_add(&f->a, &f->plan.libraries, S("hipblas"));
	make_one(f);
	struct job *link = step_of(f, "link", "");
	assert_words(f, link, "-L/opt/rocm/lib -lamdhip64 -Wl,--as-needed -lhiprand -lhipblas");
	assert_words(f, link, "-shared -fPIC -fuse-ld=lld -Wl,--build-id=sha1");
	assert_words(f, link, "-Wl,-soname,fast.abi3.so");
	assert_no_word(f, link, "-rpath");
	assert_no_word(f, link, "-L/usr");
	struct str line = command(f, link);
	struct str object = step_of(f, "host", "")->output;
	assert_true(str_find(line, object) < str_find(line, S("-lamdhip64")));
	assert_str(str_join(&f->a, &link->inputs, S(" ")), object.p);
	assert_true(str_starts(link->output, S("/b/mod/fast.abi3.so-")));
}

/* ---- file names ---- */
static void flat_names_are_safe_short_and_different(void **state)
{
	(void)state;
	ARENA(a);
	struct str one = job_file_name(&a, S("src/a.cu")), two = job_file_name(&a, S("src_a.cu"));
	assert_true(str_starts(one, S("src_a.cu-")) && str_starts(two, S("src_a.cu-")));
	assert_false(str_eq(one, two));
	assert_true(str_eq(one, job_file_name(&a, S("src/a.cu"))));
	struct str deep = S("");
	for (unsigned i = 0; i < 60; i++)
		deep = str_fmt(&a, "%.*sfolder%u/", STR(deep), i);
	struct str name = job_file_name(&a, str_fmt(&a, "%.*sx.cu", STR(deep)));
	assert_true(name.n <= 100 && str_chr(name, '/') == name.n);
	assert_true(str_contains(name, S("x.cu-")));
	assert_false(str_eq(name, job_file_name(&a, str_fmt(&a, "y%.*sx.cu", STR(deep)))));
}

static void a_source_begins_with_hip_if_nothing_stands_before_it(void **state)
{
	(void)state;
	static const char *const good[] = {"#include <hip/hip_runtime.h>\n",
		"// a\n/* b */ # include <hip/hip_runtime.h> // c\n#define X",
		"#define HIP_ENABLE_WARP_SYNC_BUILTINS 1\n\n#include <hip/hip_runtime.h>\n", NULL};
	static const char *const bad[] = {"", "int x;\n#include <hip/hip_runtime.h>\n",
		"#define X 1\n#include <hip/hip_runtime.h>\n",
		"#define HIP_ENABLE_WARP_SYNC_BUILTINS 10\n#include <hip/hip_runtime.h>\n",
		"#define HIP_ENABLE_WARP_SYNC_BUILTINS 1 + x\n#include <hip/hip_runtime.h>\n",
		"#include \"hip/hip_runtime.h\"\n", "#if 1\n#include <hip/hip_runtime.h>\n#endif\n",
		"#include <vector>\n#include <hip/hip_runtime.h>\n", "#include <hip/hip_runtime.h",
		NULL};
	for (size_t i = 0; good[i]; i++)
		if (!compile_begins(str_from(good[i]), S("a.hip")))
			fail_msg("refused: %s", good[i]);
	for (size_t i = 0; bad[i]; i++)
		if (compile_begins(str_from(bad[i]), S("a.hip")))
			fail_msg("taken: %s", bad[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_hip_source_has_a_pass_per_gpu_a_bundle_and_a_host_pass),
		TEST(a_bundle_holds_the_targets_in_the_order_asked_for),
		TEST(sources_for_the_host_are_compiled_once_whatever_the_gpus),
		TEST(modules_link_their_own_sources_only),
		TEST(a_device_pass_compiles_for_one_gpu_only),
		TEST(the_device_side_names_its_headers_by_way_of_the_compiler_proper),
		TEST(the_host_pass_embeds_the_bundle_and_is_made_again_with_it),
		TEST(all_passes_of_a_source_share_one_unit_id),
		TEST(a_sysroot_takes_the_place_of_this_machines_libc),
		cmocka_unit_test(the_unit_id_knows_names_but_no_folders),
		TEST(two_sources_of_one_name_have_their_own_files_and_ids),
		TEST(the_users_flags_and_defines_reach_every_compile_but_no_link),
		TEST(the_users_flags_come_behind_ours_so_that_they_win),
		TEST(translated_headers_come_before_the_projects_own),
		TEST(no_folder_of_this_machine_stays_in_the_output),
		TEST(the_environment_of_the_user_reaches_no_program),
		TEST(a_step_may_write_a_folder_of_its_own_and_nothing_else),
		cmocka_unit_test(the_host_side_sees_one_system_only),
		TEST(the_link_names_libraries_that_are_used_only),
		cmocka_unit_test(flat_names_are_safe_short_and_different),
		cmocka_unit_test(a_source_begins_with_hip_if_nothing_stands_before_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
