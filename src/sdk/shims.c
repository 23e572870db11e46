/* Makes a shim folder; see shims.h. The whole folder is made again if the SDK, this machine's compilers or rocsmith
 * itself change: its receipt, `.rocsmith/made`, is a hash of those. */
#include "sdk/shims.h"

#include <elf.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs_stage.h"
#include "base/hash.h"
#include "base/vec.h"
#include "cc/cc.h"
#include "cc/compile.h"
#include "know/know.h"
#include "machine/facts.h"
#include "sdk/provider.h"

#define LAYOUT "4" /* the version of the folder's layout; a change makes every folder again */
#define TRIPLET "x86_64-linux-gnu"

enum { MAX_VERSION = 4096, MAX_CMAKE = 1 << 26 };

struct shims {
	struct arena *a;
	const struct sdk *sdk;
	struct str dir;
	struct str prefix; /* the SDK's ROCm prefix on this machine: ROOT/opt/rocm */
	struct str root;   /* the tree's folder with its links resolved, "" = none */
	struct str llvm;   /* clang's folder on this machine */
	struct str self;   /* .rocsmith/rocsmith, to which all programs link */
	/* This machine's compilers, in the order of cc_host_programs; "" = none */
	struct strs host;
	const struct shim_options *o;
};

/* ---- links ---- */
static struct err *link_entry(
	struct shims *s, struct str target, const char *folder, struct str name)
{
	struct str dir = path_join(s->a, s->dir, str_from(folder));
	TRY(fs_mkdirs(dir));
	return fs_symlink_new(target, path_join(s->a, dir, name));
}

/* Resolves a path, relative to the tree's root; "" if it leads outside. */
static struct str in_tree(struct shims *s, struct str path)
{
	struct str real;
	if (!s->root.n || !fs_real(s->a, path, &real) || !str_starts(real, s->root))
		return S("");
	return str_sub(real, s->root.n + 1, real.n);
}

/* ---- CMake packages ---- */
struct str exports_without_missing(struct arena *a, struct str text, struct str prefix)
{
	/* list(APPEND _cmake_import_check_files_for_TARGET "${_IMPORT_PREFIX}/FILE" ), as CMake's generator writes it
	 * (cmExportFileGenerator.cxx); up to 3.24 the variable had the other name */
	const struct str starts[] = {S("list(APPEND _cmake_import_check_files_for_"),
		S("list(APPEND _IMPORT_CHECK_FILES_FOR_")};
	const struct str before = S("\"${_IMPORT_PREFIX}/"), behind = S("\" )");
	BUF(out, a);
	struct str rest = text, line, target, file;
	size_t there = 0, missing = 0;
	while (str_next(&rest, '\n', &line)) {
		struct str check = str_trim(line);
		size_t n = str_starts(check, starts[0])   ? starts[0].n
			   : str_starts(check, starts[1]) ? starts[1].n
							  : check.n;
		(void)str_cut(str_sub(check, n, check.n), ' ', &target, &file);
		bool checks = str_starts(file, before) && str_ends(file, behind);
		file = str_sub(file, before.n, file.n - behind.n);
		checks = checks && str_chr(file, '"') == file.n;
		if (!checks || fs_exists(path_join(a, prefix, file))) {
			there += checks;
			buf_fmt(&out, "%.*s\n", STR(line));
			continue;
		}
		missing++;
		buf_fmt(&out,
			"message(STATUS \"rocsmith: the SDK has no '%.*s' for the target %.*s; "
			"what links that cannot be built\")\n",
			STR(file), STR(target));
	}
	return there && missing ? buf_str(&out) : text;
}

struct package_copy {
	struct shims *s;
	struct str from, to;
};

/* Copies a file with its mtime, so that CMake does not see a change. */
static struct err *copy_entry(void *user, struct fs_entry *e)
{
	const struct package_copy *c = user;
	ARENA(tmp);
	struct str from = path_join(&tmp, c->from, e->path), to = path_join(&tmp, c->to, e->path);
	struct str text, corrected;
	struct stat st;
	if (S_ISDIR(e->st.st_mode))
		return fs_mkdirs(to);
	TRY(fs_stat(from, &st));
	if (!S_ISREG(st.st_mode))
		return NULL;
	if (!str_ends(from, S(".cmake")))
		return fs_copy(from, to, &st);
	TRY(fs_read(&tmp, from, MAX_CMAKE, &text));
	corrected = exports_without_missing(&tmp, text, c->s->dir);
	if (corrected.p == text.p)
		return fs_copy(from, to, &st);
	struct str beside = fs_temp_name(&tmp, to);
	TRY(fs_write(beside, corrected, FS_LOOSE));
	st.st_ino = 0;
	TRY(fs_copy(beside, to, &st));
	return fs_remove(beside);
}

/* A package finds its prefix by going up from its own folder, perhaps after resolving links. So it is copied to the
 * same depth as in the tree, from which going up ends at our folder. Files in lib/cmake, where others search for
 * packages by name (FindHIP.cmake), include the copies. */
static struct err *add_package(struct shims *s, struct str name)
{
	struct arena *a = s->a;
	struct str from = path_join(a, path_join(a, s->prefix, S("lib/cmake")), name);
	struct str place = in_tree(s, from), near = path_join(a, S("lib/cmake"), name);
	struct strs files;
	if (!str_starts(place, S("usr/")) || !fs_is_dir(from))
		return link_entry(s, from, "lib/cmake", name);
	place = str_sub(place, 4, place.n);
	struct package_copy c = {.s = s, .to = path_join(a, s->dir, place)};
	if (!fs_real(a, from, &c.from))
		return err_errno("cannot resolve '%.*s'", STR(from));
	TRY(fs_mkdirs(c.to));
	TRY(fs_walk(c.from, copy_entry, &c));
	if (str_eq(place, near))
		return NULL;
	TRY(fs_list(a, c.to, &files));
	struct str dir = path_join(a, s->dir, near);
	TRY(fs_mkdirs(dir));
	VEC_EACH (const struct str, file, &files) {
		struct str up = path_rel(a, path_join(a, c.to, *file), dir);
		struct str text =
			str_fmt(a, "include(\"${CMAKE_CURRENT_LIST_DIR}/%.*s\")\n", STR(up));
		if (str_ends(*file, S(".cmake")))
			TRY(fs_write(path_join(a, dir, *file), text, FS_LOOSE));
	}
	return NULL;
}

/* ---- programs ---- */
/* Is this a program to run by the SDK's loader? A tree's scripts (hipify-perl) run on this machine's interpreters.
 * Without a tree, all programs and scripts run directly. */
static struct err *is_program(struct shims *s, struct str path, bool *ret)
{
	struct str head;
	struct stat st;
	*ret = fs_try_stat(path, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0111);
	if (!*ret || !s->sdk->root.n)
		return NULL;
	TRY(fs_read_head(s->a, path, SELFMAG, &head));
	*ret = head.n == SELFMAG && memcmp(head.p, ELFMAG, SELFMAG) == 0;
	return NULL;
}

/* Makes folder/NAME, a link to rocsmith, and records the SDK's program that it runs ("" = cc produces the output
 * itself). Programs are looked up by name alone, so the first program of a name serves all folders. */
static struct err *add_program(
	struct shims *s, const char *folder, struct str name, struct str program)
{
	struct arena *a = s->a;
	struct str dir = path_join(a, s->dir, str_from(folder)), real = program;
	TRY(fs_mkdirs(dir));
	struct str path = path_join(a, dir, name);
	struct str known = path_join(a, cc_file(a, s->dir, "programs"), name);
	if (!fs_present(path))
		TRY(fs_link(s->self, path));
	if (!program.n || fs_present(known))
		return NULL;
	if (s->sdk->root.n && !fs_real(a, program, &real))
		return err_errno("cannot resolve '%.*s'", STR(program));
	return link_entry(s, real, ".rocsmith/programs", name);
}

static struct err *add_programs(struct shims *s)
{
	struct arena *a = s->a;
	const struct {
		const char *to;
		struct str from;
	} folders[] = {{"llvm/bin", s->llvm}, {"bin", path_join(a, s->prefix, S("bin"))}};
	bool runs;
	for (size_t i = 0; cc_gpu_programs[i]; i++) {
		TRY(add_program(s, "bin", str_from(cc_gpu_programs[i]), S("")));
		TRY(add_program(s, "llvm/bin", str_from(cc_gpu_programs[i]), S("")));
	}
	TABLE_EACH (shim_alias, x) {
		struct str program = path_join(a, s->llvm, str_from(x->program));
		TRY(is_program(s, program, &runs));
		for (size_t k = 0; runs && k < 2; k++)
			TRY(add_program(s, folders[k].to, str_from(x->name), program));
	}
	for (size_t i = 0; i < s->host.n; i++)
		if (s->host.v[i].n)
			TRY(add_program(s, "host", str_from(cc_host_programs[i]), s->host.v[i]));
	const char *const *tools = shim_data_table()->tree_tools;
	for (; s->o->own_libc && *tools; tools++) {
		struct str program = path_join(a, s->root, str_fmt(a, "usr/bin/%s", *tools));
		if (fs_is_file(program))
			TRY(add_program(s, "bin", str_from(*tools), program));
	}
	for (size_t i = 0; i < 2; i++) {
		struct strs names = {0};
		if (fs_is_dir(folders[i].from))
			TRY(fs_list(a, folders[i].from, &names));
		VEC_EACH (const struct str, name, &names) {
			struct str path = path_join(a, folders[i].from, *name);
			struct str to =
				str_fmt(a, "%.*s/%s/%.*s", STR(s->dir), folders[i].to, STR(*name));
			TRY(is_program(s, path, &runs));
			if (runs)
				TRY(add_program(s, folders[i].to, *name, path));
			else if (fs_is_file(path) && !fs_present(to))
				TRY(link_entry(s, path, folders[i].to, *name));
		}
	}
	return NULL;
}

/* ---- other files that build systems look for ---- */
/* ROCm's version, as the prefix states it; else the version of the package with HIP's headers ("6.4.3-5"); else HIP's
 * version without its last number, which is not ROCm's. */
static struct str rocm_version(struct shims *s)
{
	struct arena *a = s->a;
	struct str text = {0};
	struct sdk_receipt m = {0};
	const struct know_library *hip = know_header(S("hip/hip_version.h"));
	err_free(fs_read_opt(a, path_join(a, s->prefix, S(".info/version")), MAX_VERSION, &text));
	if (text.n)
		return str_trim(str_sub(text, 0, str_chr(text, '\n')));
	err_free(sdk_receipt_read(a, s->sdk->dir, &m));
	for (size_t i = 0; hip && hip->packages && hip->packages[i]; i++) {
		const struct sdk_package *p = sdk_receipt_package(&m, str_from(hip->packages[i]));
		if (p && str_ends(p->name, S("-dev")))
			return version_after(p->version, S(""));
	}
	struct str version = sdk_component_version(s->sdk, "hip");
	return version.n ? str_fmt(a, "%.*s.0", STR(str_sub(version, 0, str_rchr(version, '.'))))
			 : version;
}

/* Replaces rocm-core, which some SDKs lack. The header keeps its mtime when the rest is made again, so that it does not
 * cause recompiles. torchaudio's CMake reads version-dev and expects a build number there. */
static struct err *add_version(struct shims *s)
{
	struct arena *a = s->a;
	static const char *const parts[] = {"@MAJOR@", "@MINOR@", "@PATCH@"};
	struct str version = rocm_version(s), rest = version, part;
	struct str info = path_join(a, s->dir, S(".info")), name = S("rocm_version.h");
	struct str text = str_from(shim_data_table()->rocm_version);
	if (!version.n)
		return NULL;
	TRY(fs_mkdirs(info));
	TRY(fs_write(
		path_join(a, info, S("version")), str_fmt(a, "%.*s\n", STR(version)), FS_LOOSE));
	TRY(fs_write(path_join(a, info, S("version-dev")), str_fmt(a, "%.*s-0\n", STR(version)),
		FS_LOOSE));
	if (fs_exists(str_fmt(a, "%.*s/include/rocm-core/%.*s", STR(s->dir), STR(name))))
		return NULL;
	for (size_t i = 0; i < 3; i++)
		text = str_replace(
			a, text, str_from(parts[i]), str_next(&rest, '.', &part) ? part : S("0"));
	text = str_replace(a, text, S("@VERSION@"), version);
	TRY(fs_write(cc_file(a, s->dir, name.p), text, 0644 | FS_IF_CHANGED));
	return link_entry(s, S("../../.rocsmith/rocm_version.h"), "include/rocm-core", name);
}

/* ---- the tree as sysroot ---- */
static struct err *add_toolchain(struct shims *s)
{
	struct arena *a = s->a;
	struct str root = s->root, dir = s->dir, py = s->o->python_include;
	struct str more = py.n ? str_fmt(a, " \"%.*s\"", STR(py)) : S("");
	struct str config = str_fmt(a, "/usr/include/" TRIPLET "/%.*s", STR(path_base(py)));
	struct str build = s->o->build_dir.n ? s->o->build_dir : dir;
	struct str text = str_from(shim_data_table()->toolchain);
	if (!s->o->own_libc)
		return fs_remove(path_join(a, dir, S("toolchain.cmake")));
	/* Debian's Python.h includes <TRIPLET/pythonX.Y/pyconfig.h>, which the sysroot lacks */
	if (py.n && fs_is_dir(config))
		TRY(link_entry(s, config, "include-after/" TRIPLET, path_base(py)));
	text = str_replace(a, text, S("@MORE@"), more);
	text = str_replace(a, text, S("@BUILD@"), build);
	text = str_replace(a, text, S("@ROOT@"), root);
	text = str_replace(a, text, S("@DIR@"), dir);
	return fs_write(path_join(a, dir, S("toolchain.cmake")), text, 0644 | FS_IF_CHANGED);
}

static const char *const own_parts[] = {"bin", "llvm", "include", "lib", "share", "amdgcn", ".info",
	"host", "cuda", "include-after", ".rocsmith/cuda", ".rocsmith/programs",
	".rocsmith/rocsmith"};

/* Puts the folder's own parts aside while it is made again. */
static struct err *put_aside(const struct shims *s)
{
	struct str aside = cc_file(s->a, s->dir, "before");
	TRY(fs_remove_tree(aside));
	TRY(fs_mkdirs(aside));
	for (size_t i = 0; i < sizeof(own_parts) / sizeof(own_parts[0]); i++) {
		struct str here = path_join(s->a, s->dir, str_from(own_parts[i]));
		if (fs_present(here))
			TRY(fs_move(here, str_fmt(s->a, "%.*s/%zu", STR(aside), i), false));
	}
	return NULL;
}

/* Gives the parts back after a failure, as on a full disk. Behind a put_aside() that was complete, what has no earlier
 * part was made since. */
static struct err *put_back(const struct shims *s, bool complete)
{
	for (size_t i = 0; i < sizeof(own_parts) / sizeof(own_parts[0]); i++) {
		struct str here = path_join(s->a, s->dir, str_from(own_parts[i]));
		struct str kept =
			str_fmt(s->a, "%.*s/%zu", STR(cc_file(s->a, s->dir, "before")), i);
		if (complete || fs_present(kept))
			TRY(fs_remove_tree(here));
		if (fs_present(kept))
			TRY(fs_move(kept, here, false));
	}
	return NULL;
}

static struct err *fill(struct shims *s, struct str key)
{
	struct arena *a = s->a;
	static const char *const folders[] = {"include", "lib", "share"};
	const struct str exe = S("/proc/self/exe"), apart = S("usr/lib/" TRIPLET "/");
	struct str packages = path_join(a, s->prefix, S("lib/cmake"));
	struct strs names = {0};
	struct stat st;

	/* A copy of ourselves, since /proc/self/exe of a link would name its target and not this folder.
	 * ccache identifies a compiler by size and mtime: the copy's mtime is derived from the key. */
	uint64_t number = 0;
	TRY(fs_stat(exe, &st));
	str_u64(str_sub(key, 0, 6), 16, &number);
	st.st_mtim = (struct timespec){.tv_sec = 1500000000 + (time_t)number};
	TRY(fs_mkdirs(path_dir(s->self)));
	TRY(fs_copy(exe, s->self, &st));

	TRY(add_programs(s));
	/* Debian's libraries are in lib/TRIPLET, where its CMake packages expect them, so they are linked both there
	 * and in lib */
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		struct str from = path_join(a, s->prefix, str_from(folders[i]));
		if (!fs_is_dir(from))
			continue;
		TRY(fs_list(a, from, &names));
		VEC_EACH (const struct str, name, &names) {
			struct str target = path_join(a, from, *name);
			if (str_eq(*name, S("cmake")) || str_eq(*name, S("llvm")))
				continue;
			TRY(link_entry(s, target, folders[i], *name));
			if (str_starts(in_tree(s, target), apart))
				TRY(link_entry(s, target, "lib/" TRIPLET, *name));
		}
	}
	names = (struct strs){0};
	if (fs_is_dir(packages))
		TRY(fs_list(a, packages, &names));
	VEC_EACH (const struct str, name, &names)
		TRY(add_package(s, *name));
	TRY(link_entry(s, sdk_outside(a, s->sdk, s->sdk->device_libs), "amdgcn", S("bitcode")));
	TRY(link_entry(s, path_join(a, path_dir(s->llvm), S("lib")), "llvm", S("lib")));
	TRY(link_entry(s, S("../llvm"), "lib", S("llvm")));
	if (s->o->cuda) {
		TRY(add_program(s, "cuda/bin", S("nvcc"), S("")));
		TRY(shims_cuda(a, s->dir));
	}
	TRY(add_version(s));
	return add_toolchain(s);
}

/* ---- the configuration of the programs ---- */
static struct err *make_config(struct shims *s, struct cc_config *ret)
{
	struct arena *a = s->a;
	const struct shim_options *o = s->o;
	struct host host = {0};
	struct strs gccs = {0};
	*ret = (struct cc_config){.log_dir = o->log_dir,
		.memory = o->memory,
		.share = str_from(front_share_names[o->share]),
		.precompile = o->precompile,
		.objects = o->objects,
		.lender = o->lender,
		.project = o->project,
		.sdk = s->root.n ? s->root : s->prefix,
		.rocm = rocm_version(s)};
	if (o->gpus)
		ret->gpus = *o->gpus;
	/* first: what changes while it is read is another one */
	ret->programs = sdk_programs(a, s->sdk);
	if (o->objects.n)
		TRY(sdk_identity(a, s->sdk, &ret->identity));
	/* ROCm's libraries need the tree's libc, whose symbols the linker cannot find here */
	strs_add(a, &ret->link_flags, S("-Wl,--allow-shlib-undefined"));
	if (o->own_libc) {
		ret->sysroot = s->root;
		strs_fmt(a, &ret->host_flags, "--sysroot=%.*s", STR(s->root));
		strs_add(a, &ret->host_flags, S("-idirafter"));
		strs_add(a, &ret->host_flags, path_join(a, s->dir, S("include-after")));
		strs_add(a, &ret->link_flags, S("-fuse-ld=lld"));
	}
	/* clang picks the newest gcc, even one without C++ headers, so we name the gcc if there are several. With a
	 * sysroot we name it because its lib is a link to usr/lib: ninja reduces "lib/gcc/T/V/../../../../include" to
	 * "include", would not find an object's headers again, and would recompile everything each time. */
	TRY(host_read_files(a, ret->sysroot, S("x86_64"), &host));
	if (host.gcc_dir.n)
		TRY(fs_list(a, path_dir(host.gcc_dir), &gccs));
	if (o->sysroot)
		sysroot_flags(a, o->sysroot, &ret->root_flags, &ret->root_links, &ret->link_flags);
	if (gccs.n > 1 || (gccs.n && (ret->sysroot.n || o->sysroot)))
		strs_fmt(a, &ret->host_flags, "--gcc-install-dir=%.*s", STR(host.gcc_dir));

	/* clang 18 and later mangle some names of templates differently from g++ (-fclang-abi-compat). PyTorch compiles
	 * HIP with 17 for that reason (cmake/Dependencies.cmake): a libtorch_cpu that clang 21 compiled without the
	 * flag did not export the const_data_ptr<c10::Half>() that its libtorch_hip needed. */
	struct str version = sdk_component_version(s->sdk, "clang");
	uint64_t major = 0;
	str_u64(str_sub(version, 0, str_chr(version, '.')), 10, &major);
	if (major >= 18)
		strs_add(a, &ret->compile_flags, S("-fclang-abi-compat=17"));
	/* __FILE__ must not reveal the folder in which a wheel was built */
	if (o->build_dir.n)
		strs_fmt(a, &ret->compile_flags, "-ffile-prefix-map=%.*s/=", STR(o->build_dir));
	if (!s->sdk->root.n)
		return NULL;
	strs_fmt(a, &ret->compile_flags, "-ffile-prefix-map=%.*s/=/", STR(s->root));
	ret->library_path = str_fmt(a, "%.*s/lib:%.*s:%.*s", STR(path_dir(s->llvm)),
		STR(sdk_outside(a, s->sdk, S("/usr/lib/" TRIPLET))),
		STR(sdk_outside(a, s->sdk, S("/usr/lib"))));
	ret->loader = sdk_outside(a, s->sdk, S("/usr/lib64/ld-linux-x86-64.so.2"));
	strs_add(a, &ret->flags, S("-no-canonical-prefixes"));
	if (fs_exists(ret->loader))
		return NULL;
	return err_new(
		E_SDK, "the SDK '%.*s' has no loader (ld-linux-x86-64.so.2)", STR(s->sdk->name));
}

static struct err *add_state(void *user, struct fs_entry *e)
{
	struct buf *b = user;
	if (!S_ISDIR(e->st.st_mode))
		buf_fmt(b, "%.*s %lld %lld %ld\n", STR(e->path), (long long)e->st.st_size,
			(long long)e->st.st_mtim.tv_sec, e->st.st_mtim.tv_nsec);
	return NULL;
}

/* The receipt's line for the folder `cuda`, so that one into which somebody wrote is made again: build systems install
 * files into what they take for a CUDA toolkit. */
static struct str cuda_state(struct shims *s)
{
	BUF(state, s->a);
	struct str dir = path_join(s->a, s->dir, S("cuda"));
	if (fs_is_dir(dir))
		err_free(fs_walk(dir, add_state, &state));
	return str_fmt(s->a, " %.*s", STR(sha256_hex(s->a, buf_str(&state))));
}

/* The receipt: a hash of the SDK, this machine's compilers and their flags, and one of rocsmith itself. */
static struct str make_key(struct shims *s, const struct cc_config *config)
{
	const struct strs *flags[] = {&config->flags, &config->host_flags, &config->compile_flags,
		&config->link_flags, &config->root_flags, &config->root_links};
	BUF(key, s->a);
	buf_fmt(&key, LAYOUT "%d %s %.*s %.*s %.*s %.*s", s->o->cuda, cc_rules,
		STR(s->sdk->fingerprint), STR(s->prefix), STR(s->o->python_include),
		STR(s->o->build_dir));
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		buf_fmt(&key, " %.*s;", STR(str_join(s->a, flags[i], S(" "))));
	if (s->o->sysroot)
		buf_fmt(&key, " %.*s", STR(s->o->sysroot->key));
	VEC_EACH (const struct str, path, &s->host)
		buf_fmt(&key, " %.*s %.*s", STR(*path), STR(fs_state(s->a, *path)));
	return str_fmt(s->a, "%.*s %.*s", STR(sha256_hex(s->a, buf_str(&key))),
		STR(sha256_hex(s->a, fs_state(s->a, S("/proc/self/exe")))));
}

static void environment(const struct shims *s, struct strs *ret)
{
	const struct shim_options *o = s->o;
	static const char *const names[] = {
		NULL, NULL, "CC", "CXX"}; /* in the order of cc_host_programs */
	struct arena *a = s->a;
	TABLE_EACH (shim_variable, v)
		if ((o->own_libc || !v->own_libc) && (o->cuda || !v->cuda))
			strs_fmt(a, ret, "%s=%.*s%s", v->name, STR(s->dir), v->path);
	struct str path = str_fmt(a, "PATH=%.*s/bin", STR(s->dir));
	if (o->cuda)
		path = str_fmt(a, "%.*s:%.*s/cuda/bin", STR(path), STR(s->dir));
	if (o->cuda && !o->own_libc) /* Makefiles call gcc by name: see cc_words_at_home() */
		path = str_fmt(a, "%.*s:%.*s/host", STR(path), STR(s->dir));
	STRS_ADD(a, ret, path, S("HIP_PLATFORM=amd"));
	strs_add(a, ret,
		o->own_libc ? S("LDFLAGS=-Wl,--allow-shlib-undefined -fuse-ld=lld")
			    : S("LDFLAGS=-Wl,--allow-shlib-undefined"));
	for (size_t i = 0; o->memory && !o->own_libc && i < s->host.n; i++)
		if (s->host.v[i].n && names[i])
			strs_fmt(a, ret, "%s=%.*s/host/%s", names[i], STR(s->dir),
				cc_host_programs[i]);
	if (!o->jobs)
		return;
	strs_fmt(a, ret, "MAX_JOBS=%u", o->jobs);
	strs_fmt(a, ret, "CMAKE_BUILD_PARALLEL_LEVEL=%u", o->jobs);
}

/* hipcc passes the paths of its compiler and libraries to a shell unquoted, and CMake and setup.py put them
 * into lists of flags. */
struct err *sdk_shims_place(struct str dir)
{
	const struct str plain = S("/._-+@%,~=");
	for (size_t i = 0; i < dir.n; i++) {
		char c = dir.p[i];
		bool ascii = (unsigned char)c < 0x80;
		if (ascii && !ascii_alnum(c) && str_chr(plain, c) == plain.n)
			return err_hint(err_new(E_USAGE, "hipcc does not work in '%.*s'", STR(dir)),
				"choose a folder without '%c' in its path", c);
	}
	return NULL;
}

/* Making the folder again removes what it has of its own, so it must be new, empty, or one of these. */
static struct err *check_place(const struct shims *s, bool *ret_empty)
{
	struct strs names = {0};
	if (fs_exists(s->self) || fs_exists(cc_file(s->a, s->dir, "cc.json")))
		return NULL;
	if (fs_present(s->dir))
		TRY(fs_list(s->a, s->dir, &names));
	*ret_empty = !names.n;
	/* a run that was killed may have come no further; hipify's journal has this name, too, so it stays */
	if (*ret_empty || (names.n == 1 && str_eq(names.v[0], S(".rocsmith"))))
		return NULL;
	return err_hint(
		err_new(E_USAGE, "'%.*s' has files that rocsmith did not make", STR(s->dir)),
		"name a new folder, or one that is empty");
}

static struct err *make_folder(struct shims *s, const struct cc_config *config, struct str key)
{
	struct arena *a = s->a;
	const struct shim_options *o = s->o;
	struct str made = cc_file(a, s->dir, "made");
	bool same;
	TRY(fs_receipt_check(made, str_fmt(a, "%.*s%.*s", STR(key), STR(cuda_state(s))), &same));
	if (!same) {
		struct err *e = put_aside(s);
		bool complete = !e;
		e = e ? e : fill(s, key);
		e = e ? err_join(e, put_back(s, complete)) : NULL;
		TRY_CTX(err_join(e, fs_remove_tree(cc_file(a, s->dir, "before"))),
			"cannot make the folder '%.*s'", STR(s->dir));
	}
	if (config->log_dir.n)
		TRY(fs_mkdirs(config->log_dir));
	TRY(cc_config_write(a, s->dir, config));
	if (o->cuda)
		TRY(fs_write(cc_file(a, s->dir, "gpus"), str_join(a, &config->gpus, S("\n")),
			0644 | FS_IF_CHANGED));
	if (same)
		return NULL;
	if (config->loader.n) {
		/* one run of clang shows that the loader, the libraries and clang's own folder match */
		struct proc p = {0};
		struct proc_result r;
		proc_arg(a, &p, path_join(a, s->dir, S("llvm/bin/clang")).p, "-print-resource-dir",
			NULL);
		TRY_CTX(proc_check(a, &p, &r), "clang of the SDK '%.*s' does not run outside of it",
			STR(s->sdk->name));
		struct str include = path_join(a, str_trim(r.out), S("include"));
		if (!fs_is_dir(include))
			return err_new(E_SDK,
				"clang of the SDK '%.*s' does not find its headers ('%.*s')",
				STR(s->sdk->name), STR(include));
	}
	return fs_write(made, str_fmt(a, "%.*s%.*s", STR(key), STR(cuda_state(s))), 0644);
}

struct err *sdk_shims(struct arena *a, const struct sdk *sdk, struct str dir,
	const struct shim_options *o, struct strs *ret_env)
{
	struct shims s = {.a = a, .sdk = sdk, .dir = path_abs(a, dir), .o = o};
	struct cc_config config;
	bool empty = false;
	s.prefix = sdk_outside(a, sdk, sdk->hip_path);
	s.llvm = path_dir(sdk_outside(a, sdk, sdk->clang));
	s.self = cc_file(a, s.dir, "rocsmith");
	TRY(sdk_shims_place(s.dir));
	TRY(check_place(&s, &empty));
	/* another libc's headers must not be found before this machine's */
	if (sdk->root.n && fs_exists(path_join(a, s.prefix, S("include/stdio.h"))))
		return err_hint(
			err_new(E_SDK, "ROCm lies among the files of another system in '%.*s'",
				STR(s.prefix)),
			"'rocsmith sdk install debian' makes an SDK that has it apart");
	if (sdk->root.n && !fs_real(a, sdk->root, &s.root))
		return err_errno("cannot resolve '%.*s'", STR(sdk->root));
	if (o->own_libc && !s.root.n)
		return err_new(E_SDK, "the SDK '%.*s' has no libc of its own to build for",
			STR(sdk->name));
	TRY(make_config(&s, &config));
	for (size_t i = 0; cc_host_programs[i]; i++) {
		struct str path = proc_find(a, str_from(cc_host_programs[i]));
		if (str_starts(path, str_fmt(a, "%.*s/", STR(s.dir)))) { /* PATH has this folder */
			struct str known =
				path_join(a, cc_file(a, s.dir, "programs"), path_base(path));
			path = S("");
			err_free(fs_readlink(a, known, &path));
		}
		strs_add(a, &s.host, path);
	}
	environment(&s, ret_env);
	TRY(fs_make_output(s.dir));
	struct err *e = make_folder(&s, &config, make_key(&s, &config));
	if (e && empty) { /* as before */
		struct strs names = {0};
		e = err_join(e, fs_list(a, s.dir, &names));
		VEC_EACH (const struct str, name, &names)
			e = err_join(e, fs_remove_tree(path_join(a, s.dir, *name)));
	}
	return e;
}
