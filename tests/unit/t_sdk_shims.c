/* A shim folder, file by file, for a tree and for a prefix: sdk/shims.h. This program stands for
 * rocsmith: it is what all programs of the folder are, and it is run as clang once. */
#include "sdk/shims.h"

#include <unistd.h>

#include "cc/cc.h"
#include "test.h"

#define LLVM "usr/lib/llvm-17/"
#define DEB "usr/lib/x86_64-linux-gnu/"
#define ELF "\177ELF..."

struct made {
	struct arena a;
	struct str top, root, dir, host;
	struct sdk sdk;
};

struct file {
	const char *path, *text; /* text "-> X": a link */
	unsigned mode;
};

static const struct file tree[] = {
	{"usr/lib64/ld-linux-x86-64.so.2", ELF, 0755},
	{LLVM "bin/clang-17", ELF, 0755},
	{LLVM "bin/clang", "-> clang-17", 0},
	{LLVM "bin/clang++", "-> clang-17", 0},
	{LLVM "bin/ld.lld", ELF, 0711},
	{LLVM "bin/opt-viewer", "#! /usr/bin/python3\n", 0755},
	{LLVM "bin/notes", "text\n", 0646},
	{LLVM "lib/clang/17/include/float.h", "", 0644},
	{"usr/bin/flatc", ELF, 0755},
	{"usr/include/hip/hip_version.h", "", 0644},
	{DEB "libamdhip64.so.6", ELF, 0644},
	{DEB "cmake/hip/hip-config.cmake", "set(X)\n", 0644},
	{DEB "cmake/hip/README", "", 0644},
	{"usr/lib/cmake/near/near-config.cmake", "", 0644},
	{"opt/rocm/llvm", "-> ../../" LLVM, 0},
	{"opt/rocm/bin/hipcc", ELF, 0755},
	{"opt/rocm/bin/ld.lld", ELF, 0755},
	{"opt/rocm/bin/hipify-perl", "#! /usr/bin/perl\n", 0755},
	{"opt/rocm/include/hip", "-> ../../../usr/include/hip", 0},
	{"opt/rocm/lib/libamdhip64.so.6", "-> ../../../" DEB "libamdhip64.so.6", 0},
	{"opt/rocm/lib/own.txt", "", 0644},
	{"opt/rocm/lib/cmake/hip", "-> ../../../../" DEB "cmake/hip", 0},
	{"opt/rocm/lib/cmake/near", "-> ../../../../usr/lib/cmake/near", 0},
	{"opt/rocm/lib/cmake/apart/apart-config.cmake", "", 0644},
	{"opt/rocm/share/doc/x", "", 0644},
	{"opt/rocm/amdgcn/bitcode/ocml.bc", "", 0644},
};

static void put(struct arena *a, struct str root, const struct file *f)
{
	struct str path = path_join(a, root, str_from(f->path));
	assert_ok(fs_mkdirs(path_dir(path)));
	if (strncmp(f->text, "-> ", 3) == 0)
		assert_ok(fs_symlink_new(str_from(f->text + 3), path));
	else
		assert_ok(fs_write(path, str_from(f->text), f->mode | FS_EXACT | FS_LOOSE));
}

static void set_up(struct made *m, bool is_tree)
{
	struct arena *a = &m->a;
	m->top = test_dir(a);
	m->root = path_join(a, m->top, S("root"));
	m->dir = path_join(a, m->top, S("shims"));
	m->host = path_join(a, m->top, S("host"));
	for (size_t i = 0; i < sizeof(tree) / sizeof(tree[0]); i++)
		put(a, m->root, &tree[i]);
	put(a, m->host, &(struct file){"gcc", ELF, 0755});
	put(a, m->host, &(struct file){"g++", ELF, 0755});
	setenv("PATH", m->host.p, 1);
	struct str out = is_tree ? S("") : m->root;
	m->sdk = (struct sdk){.name = S("test"),
		.dir = m->top,
		.root = is_tree ? m->root : S(""),
		.hip_path = path_join(a, is_tree ? S("/") : out, S("opt/rocm")),
		.clang = path_join(a, is_tree ? S("/") : out, S(LLVM "bin/clang++")),
		.device_libs = path_join(a, is_tree ? S("/") : out, S("opt/rocm/amdgcn/bitcode")),
		.fingerprint = S("f1")};
	*VEC_PUSH(a, &m->sdk.components) = (struct sdk_component){S("clang"), S("17.0.6")};
	*VEC_PUSH(a, &m->sdk.components) = (struct sdk_component){S("hip"), S("6.4.43484")};
}

static void clean(struct made *m)
{
	test_dir_remove(m->top);
	arena_free(&m->a);
}

/* ---- what is in the folder ---- */

struct listing {
	struct made *m;
	struct str self;
	struct strs lines;
};

static struct str shown(struct made *m, struct str target)
{
	if (str_starts(target, m->root))
		return str_fmt(&m->a, "ROOT%.*s", STR(str_sub(target, m->root.n, target.n)));
	if (str_starts(target, m->host))
		return str_fmt(&m->a, "HOST%.*s", STR(str_sub(target, m->host.n, target.n)));
	return target;
}

static struct err *list_entry(void *user, struct fs_entry *e)
{
	struct listing *l = user;
	struct arena *a = &l->m->a;
	struct str path = path_join(a, l->m->dir, e->path), target;
	struct stat self;
	e->prune = false;
	if (S_ISDIR(e->st.st_mode))
		return NULL;
	if (S_ISLNK(e->st.st_mode)) {
		TRY(fs_readlink(a, path, &target));
		strs_add(a, &l->lines,
			str_fmt(a, "%.*s -> %.*s", STR(e->path), STR(shown(l->m, target))));
		return NULL;
	}
	bool is_self = fs_try_stat(l->self, &self) && self.st_ino == e->st.st_ino;
	strs_add(a, &l->lines,
		is_self ? str_fmt(a, "%.*s is rocsmith", STR(e->path))
			: str_fmt(a, "%.*s %o", STR(e->path), e->st.st_mode & 0777u));
	return NULL;
}

static void check_listing(struct made *m, const char *const *want, size_t n)
{
	struct listing l = {.m = m, .self = cc_file(&m->a, m->dir, "rocsmith")};
	assert_ok(fs_walk(m->dir, list_entry, &l));
	strs_sort(&l.lines);
	for (size_t i = 0; i < l.lines.n || i < n; i++) {
		if (i < l.lines.n && i < n && str_eq(l.lines.v[i], str_from(want[i])))
			continue;
		for (size_t k = 0; k < l.lines.n; k++)
			print_error("\t\"%.*s\",\n", STR(l.lines.v[k]));
		fail_msg("line %zu", i);
	}
}

static void check_env(const struct made *m, const struct strs *env, const char *const *want)
{
	ARENA(a);
	size_t n = 0;
	for (; want[n]; n++) {
		struct str line = str_from(want[n]), name, value;
		str_cut(line, '=', &name, &value);
		if (str_starts(value, S("@")))
			line = str_fmt(&a, "%.*s=%.*s%.*s", STR(name), STR(m->dir),
				STR(str_sub(value, 1, value.n)));
		if (n >= env->n)
			fail_msg("no %s", want[n]);
		assert_str(env->v[n], line.p);
	}
	assert_int_equal(env->n, n);
}

#define LIST(...)                                                                                  \
	(const char *const[]){__VA_ARGS__},                                                        \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static void a_tree_becomes_a_prefix(void **state)
{
	(void)state;
	struct made m = {0};
	struct strs env = {0};
	struct str build = S("/b");
	set_up(&m, true);
	struct shim_options o = {.jobs = 3, .memory = 1 << 30, .build_dir = build};
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	check_listing(&m,
		LIST(".info/version 644", ".info/version-dev 644", ".rocsmith/cc.json 644",
			".rocsmith/made 644",
			".rocsmith/programs/amdclang -> ROOT/" LLVM "bin/clang-17",
			".rocsmith/programs/amdclang++ -> ROOT/" LLVM "bin/clang-17",
			".rocsmith/programs/amdlld -> ROOT/" LLVM "bin/ld.lld",
			".rocsmith/programs/clang -> ROOT/" LLVM "bin/clang-17",
			".rocsmith/programs/clang++ -> ROOT/" LLVM "bin/clang-17",
			".rocsmith/programs/clang-17 -> ROOT/" LLVM "bin/clang-17",
			".rocsmith/programs/g++ -> HOST/g++", ".rocsmith/programs/gcc -> HOST/gcc",
			".rocsmith/programs/hipcc -> ROOT/opt/rocm/bin/hipcc",
			".rocsmith/programs/ld.lld -> ROOT/" LLVM "bin/ld.lld",
			".rocsmith/rocm_version.h 644", ".rocsmith/rocsmith is rocsmith",
			"amdgcn/bitcode -> ROOT/opt/rocm/amdgcn/bitcode",
			"bin/amdclang is rocsmith", "bin/amdclang++ is rocsmith",
			"bin/amdgpu-arch is rocsmith", "bin/amdlld is rocsmith",
			"bin/hipcc is rocsmith", "bin/hipify-perl -> ROOT/opt/rocm/bin/hipify-perl",
			"bin/ld.lld is rocsmith", "bin/offload-arch is rocsmith",
			"bin/rocm_agent_enumerator is rocsmith", "host/g++ is rocsmith",
			"host/gcc is rocsmith", "include/hip -> ROOT/opt/rocm/include/hip",
			"include/rocm-core/rocm_version.h -> ../../.rocsmith/rocm_version.h",
			"lib/cmake/apart -> ROOT/opt/rocm/lib/cmake/apart",
			"lib/cmake/hip/hip-config.cmake 644",
			"lib/cmake/near/near-config.cmake 644",
			"lib/libamdhip64.so.6 -> ROOT/opt/rocm/lib/libamdhip64.so.6",
			"lib/llvm -> ../llvm", "lib/own.txt -> ROOT/opt/rocm/lib/own.txt",
			"lib/x86_64-linux-gnu/cmake/hip/README 644",
			"lib/x86_64-linux-gnu/cmake/hip/hip-config.cmake 644",
			"lib/x86_64-linux-gnu/libamdhip64.so.6 -> "
			"ROOT/opt/rocm/lib/libamdhip64.so.6",
			"llvm/bin/amdclang is rocsmith", "llvm/bin/amdclang++ is rocsmith",
			"llvm/bin/amdgpu-arch is rocsmith", "llvm/bin/amdlld is rocsmith",
			"llvm/bin/clang is rocsmith", "llvm/bin/clang++ is rocsmith",
			"llvm/bin/clang-17 is rocsmith", "llvm/bin/ld.lld is rocsmith",
			"llvm/bin/notes -> ROOT/" LLVM "bin/notes",
			"llvm/bin/offload-arch is rocsmith",
			"llvm/bin/opt-viewer -> ROOT/" LLVM "bin/opt-viewer",
			"llvm/bin/rocm_agent_enumerator is rocsmith",
			"llvm/lib -> ROOT/" LLVM "lib", "share/doc -> ROOT/opt/rocm/share/doc"));
	test_has(path_join(&m.a, m.dir, S(".info/version")), "6.4.0\n");
	test_has(path_join(&m.a, m.dir, S(".info/version-dev")), "6.4.0-0\n");
	test_has(path_join(&m.a, m.dir, S("lib/cmake/hip/hip-config.cmake")),
		"include(\"${CMAKE_CURRENT_LIST_DIR}/../../x86_64-linux-gnu/cmake/hip/"
		"hip-config.cmake\")\n");
	test_has(cc_file(&m.a, m.dir, "rocm_version.h"),
		"/* made by rocsmith: the SDK has no rocm-core */\n#pragma once\n"
		"#define ROCM_VERSION_MAJOR 6\n#define ROCM_VERSION_MINOR 4\n"
		"#define ROCM_VERSION_PATCH 0\n#define ROCM_BUILD_INFO \"6.4.0\"\n");
	check_env(&m, &env,
		(const char *const[]){"ROCM_PATH=@", "ROCM_HOME=@", "HIP_PATH=@", "HIP_ROOT_DIR=@",
			"HIP_CLANG_PATH=@/llvm/bin", "HIP_DEVICE_LIB_PATH=@/amdgcn/bitcode",
			"HIPCXX=@/llvm/bin/clang++", "CMAKE_PREFIX_PATH=@",
			"CMAKE_MODULE_PATH=@/lib/cmake/hip", "PATH=@/bin", "HIP_PLATFORM=amd",
			"LDFLAGS=-Wl,--allow-shlib-undefined", "CC=@/host/gcc", "CXX=@/host/g++",
			"MAX_JOBS=3", "CMAKE_BUILD_PARALLEL_LEVEL=3", NULL});
	clean(&m);
}

static bool has(const struct made *m, const char *name)
{
	ARENA(a);
	return fs_present(path_join(&a, m->dir, str_from(name)));
}

static void host_code_can_be_for_the_trees_libc(void **state)
{
	(void)state;
	struct made m = {0};
	struct strs env = {0};
	struct str text;
	set_up(&m, true);
	struct strs gpus = {.v = (struct str[]){S("gfx90a"), S("gfx1201")}, .n = 2};
	struct shim_options o = {.own_libc = true,
		.memory = 1 << 30,
		.python_include = S("/usr/include/python0"),
		.gpus = &gpus};
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	assert_ok(fs_read(&m.a, cc_file(&m.a, m.dir, "cc.json"), 1 << 16, &text));
	assert_true(str_contains(text, S("\"gfx90a\"")) && str_contains(text, S("\"gfx1201\"")));
	assert_true(has(&m, "bin/flatc"));
	assert_false(has(&m, "bin/protoc"));
	assert_ok(fs_read(&m.a, path_join(&m.a, m.dir, S("toolchain.cmake")), 1 << 16, &text));
	const char *const lines[] = {"set(CMAKE_SYSROOT \"%.*s\")",
		"linker=%.*s/usr/lib64/ld-linux", "PATH \"%.*s\" \"/usr/include/python0\" \"",
		"COMPILER \"%.*s/llvm/bin/clang\"", "COMPILER \"%.*s/llvm/bin/clang++\""};
	const struct str dirs[] = {m.root, m.root, m.dir, m.dir, m.dir};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (!str_contains(text, str_fmt(&m.a, lines[i], STR(dirs[i]))))
			fail_msg("no '%s' in\n%.*s", lines[i], STR(text));
	check_env(&m, &env,
		(const char *const[]){"ROCM_PATH=@", "ROCM_HOME=@", "HIP_PATH=@", "HIP_ROOT_DIR=@",
			"HIP_CLANG_PATH=@/llvm/bin", "HIP_DEVICE_LIB_PATH=@/amdgcn/bitcode",
			"HIPCXX=@/llvm/bin/clang++", "CMAKE_PREFIX_PATH=@",
			"CMAKE_MODULE_PATH=@/lib/cmake/hip", "CC=@/llvm/bin/clang",
			"CXX=@/llvm/bin/clang++", "CMAKE_TOOLCHAIN_FILE=@/toolchain.cmake",
			"PATH=@/bin", "HIP_PLATFORM=amd",
			"LDFLAGS=-Wl,--allow-shlib-undefined -fuse-ld=lld", NULL});
	o.own_libc = false;
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	assert_false(has(&m, "bin/flatc") || has(&m, "toolchain.cmake"));
	clean(&m);
}

static void programs_of_a_prefix_run_as_they_are(void **state)
{
	(void)state;
	struct made m = {0};
	struct strs env = {0};
	set_up(&m, false);
	assert_ok(fs_mkdirs(path_join(&m.a, m.root, S("opt/rocm/.info"))));
	test_put(path_join(&m.a, m.root, S("opt/rocm/.info/version")), "7.2.4-98\nmore\n");
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &(struct shim_options){0}, &env));
	assert_true(has(&m, ".rocsmith/programs/hipify-perl")); /* a script, and yet a program */
	assert_true(has(&m, ".rocsmith/programs/opt-viewer"));
	assert_false(has(&m, ".rocsmith/programs/notes"));
	test_has(path_join(&m.a, m.dir, S(".info/version")), "7.2.4-98\n");
	assert_str(env.v[env.n - 1], "LDFLAGS=-Wl,--allow-shlib-undefined");
	assert_err_says(
		sdk_shims(&m.a, &m.sdk, m.dir, &(struct shim_options){.own_libc = true}, &env),
		E_SDK, "no libc of its own");
	clean(&m);
}

static struct stat look(const struct made *m, const char *name)
{
	ARENA(a);
	struct stat st = {0};
	assert_true(fs_try_lstat(path_join(&a, m->dir, str_from(name)), &st));
	return st;
}

/* A new file may get the number of one that is gone. */
static bool same_file(struct stat x, struct stat y)
{
	return x.st_ino == y.st_ino && x.st_ctim.tv_sec == y.st_ctim.tv_sec &&
	       x.st_ctim.tv_nsec == y.st_ctim.tv_nsec;
}

static void it_is_made_anew_for_another_sdk_only(void **state)
{
	(void)state;
	static const char *const names[] = {"llvm/bin/clang", "lib/llvm", ".info/version",
		".rocsmith/rocm_version.h", "include/rocm-core/rocm_version.h"};
	struct made m = {0};
	struct strs env = {0};
	struct shim_options o = {0};
	struct stat before[5];
	set_up(&m, true);
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	for (size_t i = 0; i < 5; i++)
		before[i] = look(&m, names[i]);
	o.jobs = 7;
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	for (size_t i = 0; i < 5; i++)
		assert_true(same_file(look(&m, names[i]), before[i]));
	m.sdk.fingerprint = S("f2");
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(same_file(look(&m, names[i]), before[i]), i == 3);
	clean(&m);
}

/* A package of CMake with a file that is too large stands for the full disk. */
static void what_was_there_stays_if_it_cannot_be_made_anew(void **state)
{
	(void)state;
	static const char *const names[] = {"llvm/bin/clang", "lib/llvm", ".info/version",
		".rocsmith/programs/clang", "cuda/bin/nvcc", "include-after/x86_64-linux-gnu",
		"toolchain.cmake", ".rocsmith/cc.json"};
	struct made m = {0};
	struct strs env = {0}, parts = {0}, now = {0};
	struct shim_options o = {.cuda = true, .own_libc = true};
	struct stat before[8];
	set_up(&m, true);
	const char *large = path_join(&m.a, m.root, S(DEB "cmake/hip/large.cmake")).p;
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	put(&m.a, m.dir, &(struct file){"include-after/x86_64-linux-gnu", "", 0644});
	for (size_t i = 0; i < 8; i++)
		before[i] = look(&m, names[i]);
	assert_ok(fs_list(&m.a, cc_file(&m.a, m.dir, ""), &parts));
	assert_ok(fs_write(str_from(large), S(""), 0644));
	assert_int_equal(truncate(large, 1 << 27), 0);
	m.sdk.fingerprint = S("f2");
	assert_err_says(
		sdk_shims(&m.a, &m.sdk, m.dir, &o, &env), E_LIMIT, "cannot make the folder '");
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(look(&m, names[i]).st_ino, before[i].st_ino);
	assert_ok(fs_list(&m.a, cc_file(&m.a, m.dir, ""), &now));
	assert_int_equal(now.n + 1, parts.n); /* but for the receipt */
	assert_ok(fs_remove(str_from(large)));
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	assert_false(same_file(look(&m, names[0]), before[0]));
	clean(&m);
}

static void a_sysroot_is_for_gcc_too_and_part_of_the_receipt(void **state)
{
	(void)state;
	struct made m = {0};
	struct strs env = {0};
	struct sdk_sysroot s = {.root = S("/d/glibc-2.28"), .own = S("/b/policy"), .key = S("k1")};
	struct shim_options o = {.sysroot = &s};
	struct str text, first, second;
	set_up(&m, true);
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	assert_ok(fs_read(&m.a, cc_file(&m.a, m.dir, "cc.json"), 1 << 20, &text));
	assert_true(str_contains(text, S("\"--sysroot=/d/glibc-2.28\"")));
	assert_true(str_contains(text, S("\"-L/b/policy/lib\"")));
	assert_ok(fs_read(&m.a, cc_file(&m.a, m.dir, "made"), 1 << 20, &first));
	s.key = S("k2");
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	assert_ok(fs_read(&m.a, cc_file(&m.a, m.dir, "made"), 1 << 20, &second));
	assert_false(str_eq(first, second));
	clean(&m);
}

static void what_cannot_work_is_refused(void **state)
{
	(void)state;
	struct made m = {0};
	struct strs env = {0};
	struct shim_options o = {0};
	set_up(&m, true);
	assert_err_says(sdk_shims(&m.a, &m.sdk, S("/tmp/a b"), &o, &env), E_USAGE,
		"hipcc does not work in '/tmp/a b'");
	assert_ok(sdk_shims_place(S("/tmp/a._-+@%,~=Z9\xc3\xa4/")));
	assert_err(sdk_shims_place(S("/tmp/$x")), E_USAGE);
	struct str loader = path_join(&m.a, m.root, S("usr/lib64/ld-linux-x86-64.so.2"));
	assert_ok(fs_remove(loader));
	assert_err_says(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env), E_SDK, "has no loader");
	test_put(path_join(&m.a, m.root, S("opt/rocm/include/stdio.h")), "");
	assert_err_says(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env), E_SDK, "another system");
	clean(&m);
}

/* try_clang() runs the folder's clang. */
static int as_clang(const char *self)
{
	struct str dir = path_dir(path_dir(str_from(self)));
	printf("%.*s/lib/clang/17\n", STR(dir));
	return 0;
}

static void a_folder_inside_looks_like_a_cuda_toolkit(void **state)
{
	(void)state;
	static const struct file more[] = {{"usr/include/hip/hip_runtime.h", "", 0644},
		{"usr/include/hip/hip_runtime_api.h", "", 0644},
		{"opt/rocm/include/cuda/README", "", 0644},
		{"opt/rocm/include/cuda.h", "real", 0644},
		{"opt/rocm/lib/libamdhip64.so", "-> libamdhip64.so.6", 0}};
	struct made m = {0};
	struct strs env = {0}, names = {0};
	struct str text, made, to;
	set_up(&m, true);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		put(&m.a, m.root, &more[i]);
	struct shim_options o = {.cuda = true};
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	struct str cuda = path_join(&m.a, m.dir, S("cuda"));
	struct str header = path_join(&m.a, cuda, S("include/cuda.h"));
	assert_str(
		*strs_variable(&env, S("CUDA_HOME")), str_fmt(&m.a, "CUDA_HOME=%.*s", STR(cuda)).p);
	assert_ok(fs_read(&m.a, header, 4096, &text));
	assert_true(str_contains(text, S("#include <hip/hip_runtime.h>")));
	assert_false(fs_present(path_join(&m.a, cuda, S("include/cublas_v2.h")))); /* no hipBLAS */
	assert_ok(fs_readlink(&m.a, path_join(&m.a, cuda, S("lib64/libcudart.so")), &to));
	assert_str(to, "../../lib/libamdhip64.so");
	assert_ok(fs_readlink(&m.a, path_join(&m.a, cuda, S("lib64/libcudart.so.12")), &to));
	assert_str(to, "../../lib/libamdhip64.so");
	assert_true(fs_exists(path_join(&m.a, cuda, S("lib64/libcuda.so.1"))));
	assert_false(fs_present(path_join(&m.a, cuda, S("lib64/libcublas.so"))));
	/* nothing is written through a link into the SDK */
	assert_ok(fs_list(&m.a, path_join(&m.a, m.root, S("opt/rocm/include/cuda")), &names));
	assert_int_equal(names.n, 1);
	assert_ok(fs_read(&m.a, path_join(&m.a, m.root, S("opt/rocm/include/cuda.h")), 64, &text));
	assert_str(text, "real");
	/* it stays as it is, until somebody writes into it */
	made = fs_state(&m.a, header);
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	assert_str(fs_state(&m.a, header), made.p);
	assert_ok(fs_write(path_join(&m.a, cuda, S("lib64/libx.so")), S("x"), 0644));
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	assert_false(fs_present(path_join(&m.a, cuda, S("lib64/libx.so"))));
	o.cuda = false;
	assert_ok(sdk_shims(&m.a, &m.sdk, m.dir, &o, &env));
	assert_false(fs_present(cuda));
	clean(&m);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_becomes_a_prefix),
		cmocka_unit_test(host_code_can_be_for_the_trees_libc),
		cmocka_unit_test(programs_of_a_prefix_run_as_they_are),
		cmocka_unit_test(it_is_made_anew_for_another_sdk_only),
		cmocka_unit_test(what_was_there_stays_if_it_cannot_be_made_anew),
		cmocka_unit_test(a_sysroot_is_for_gcc_too_and_part_of_the_receipt),
		cmocka_unit_test(what_cannot_work_is_refused),
		cmocka_unit_test(a_folder_inside_looks_like_a_cuda_toolkit),
	};
	(void)argc;
	if (str_ends(str_from(argv[0]), S("/llvm/bin/clang")))
		return as_clang(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
