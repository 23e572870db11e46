/* The torch of a Python environment of a sysroot: what it was built for, what it loads, which GPUs it serves, and what is
 * recorded of that. */
#include "formats/kpack.h"
#include "know/environment.h"
#include "machine/python.h"
#include "unit/fixture_elf.h"
#include "unit/fixture_python.h"

/* ---- torch ---- */

static void a_version_is_read_as_text(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *text, *version, *hip, *rocm, *build;
	} v[] = {
		{"__version__ = '2.9.1+rocm6.4'\nhip: Optional[str] = '6.4.43484-123eb5128'\n"
		 "cuda: Optional[str] = None\n",
			"2.9.1+rocm6.4", "6.4.43484-123eb5128", "6.4", "rocm"},
		{"__version__ = \"2.0.1\"\nhip = None\ncuda = '11.8'\n", "2.0.1", "", "", "cuda"},
		{"__version__ = '2.9.0+xpu'\nxpu: Optional[str] = '20250101'\n", "2.9.0+xpu", "",
			"", "xpu"},
		{"__version__ = '2.9.0+cpu'\n", "2.9.0+cpu", "", "", "cpu"},
		{"__version__ = '2.12.0+rocm7.10.0a20251006'\n", "2.12.0+rocm7.10.0a20251006", "",
			"7.10", "rocm"},
		{"__version__ = __import__('os').system('x')\nhip = 'x' * 3\n", "2.9.1", "", "",
			""},
		{"__version__ = '", "2.9.1", "", "", ""},
		{"\xff\xfe", "2.9.1", "", "", ""},
	};
	venv(f, VENV, "torch-2.9.1");
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		put(f, TORCH "/version.py", v[i].text);
		const struct machine_torch *t = torch_of(f);
		assert_str(t->version, v[i].version);
		assert_str(t->hip, v[i].hip);
		assert_str(t->rocm, v[i].rocm);
		assert_str(t->build, v[i].build);
		assert_str(t->path, "/" TORCH);
	}
	assert_ok(fs_remove_tree(at(f, TORCH)));
	assert_str(torch_of(f)->version, "2.9.1");
	assert_str(torch_of(f)->path, "");
	/* built in place: no dist-info */
	put(f, "opt/venv/pyvenv.cfg", "");
	put(f, "opt/venv/lib/python3.9/site-packages/torch/version.py", "__version__ = '3'\n");
	assert_pythons(f, "/home/alice/venv venv 3.12 torch=2.9.1\n/opt/venv venv 3.9\n");
	assert_str(look(f)->pythons.v[1].torch.version, "3");
}

static void libraries_tell_the_build(void **state)
{
	struct fixture *f = *state;
	static const char *const kinds[][2] = {{"libtorch.so", "cpu"}, {"libtorch_xpu.so", "xpu"},
		{"libtorch_cuda.so", "cuda"}, {"libtorch_hip.so", "rocm"}};
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/version.py", "hip = '6.4.1'\n");
	assert_str(torch_of(f)->build, "rocm");
	for (size_t i = 0; i < 4; i++) {
		put(f, str_fmt(&f->a, TORCH "/lib/%s", kinds[i][0]).p, "");
		assert_str(torch_of(f)->build, kinds[i][1]);
	}
	assert_false(torch_of(f)->bundled);
	put(f, TORCH "/lib/libamdhip64.so.6", "");
	assert_true(torch_of(f)->bundled);
}

static void a_text_stands_for_a_library(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/lib/libtorch_hip.so",
		TEXT
		"needed libamdhip64.so.7\nneeded libc.so.6\nneeded libamd.so.3\nrpath $ORIGIN\n"
		"unknown 7\ntargets gfx1100 gfx90a:xnack- gfx1100\nneeded \033[31m\nbundles 8\n");
	const struct machine_torch *t = torch_of(f);
	assert_list(&t->targets, "gfx90a:xnack- gfx1100");
	assert_list(&t->needed, "libamdhip64.so.7");
	assert_list(&t->missing, "libamdhip64.so.7");
	assert_str(t->runpath, "$ORIGIN");
	assert_str(t->rocm, "7");
	/* of two libraries what both have */
	put(f, TORCH "/lib/libtorch_hip_linalg.so", TEXT "targets gfx942 gfx1100\n");
	assert_list(&torch_of(f)->targets, "gfx1100");
	assert_false(torch_of(f)->split);
	put(f, TORCH "/lib/libtorch_hip_linalg.so", TEXT "archives 1\ntargets gfx942 gfx1100\n");
	assert_true(torch_of(f)->split);
	put(f, TORCH "/lib/libtorch_hip.so", "rocsmith-library 2\ntargets gfx900\n");
	assert_list(&torch_of(f)->targets, "gfx942 gfx1100");
	assert_int_equal(mkfifo(str_z(&f->a, at(f, TORCH "/lib/libtorch_hip2.so")), 0644), 0);
	assert_list(&torch_of(f)->targets, "gfx942 gfx1100");
}

static struct str bundle_of(struct arena *a, const char *const *ids, size_t n)
{
	struct fx_entry v[8] = {{"host-x86_64-unknown-linux-gnu-", {0}}};
	for (size_t i = 0; i < n; i++)
		v[i + 1] = (struct fx_entry){
			str_fmt(a, "hipv4-amdgcn-amd-amdhsa--%s", ids[i]).p, S("code")};
	return fx_bundle(a, v, n + 1, 4096);
}

static void put_library(struct fixture *f, const struct fx_host_section *v, size_t n)
{
	struct str bytes = host_elf(&f->a, (struct fx_host){.v = v, .n = n});
	assert_ok(fs_mkdirs(at(f, TORCH "/lib")));
	assert_ok(fs_write(at(f, TORCH "/lib/libtorch_hip.so"), bytes, 0644));
}

static void add_bundle(struct buf *fat, struct str bundle)
{
	fx_pad(fat, (fat->n + 4095) / 4096 * 4096);
	buf_add(fat, bundle);
}

static void most_bundles_of_a_library_decide(void **state)
{
	struct fixture *f = *state;
	static const char *const all[] = {"gfx90a:xnack-", "gfx1100"}, *const one[] = {"gfx942"};
	venv(f, VENV, "torch-2.9.1");
	BUF(fat, &f->a);
	add_bundle(&fat, bundle_of(&f->a, one, 1));
	for (unsigned i = 0; i < 3; i++)
		add_bundle(&fat, i == 1 ? fx_ccob(&f->a, bundle_of(&f->a, all, 2), 3, true)
					: bundle_of(&f->a, all, 2));
	struct fx_host_section section = {.name = ".hip_fatbin", .bytes = buf_str(&fat)};
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "gfx90a:xnack- gfx1100");
	/* only the first five are looked at */
	fat.n = 0;
	for (unsigned i = 0; i < 30; i++)
		add_bundle(&fat, i < 5 ? bundle_of(&f->a, all, 1) : S("damage"));
	section.bytes = buf_str(&fat);
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "gfx90a:xnack-");
	/* what is damaged ends it; what was read counts */
	section.bytes = str_sub(section.bytes, 0, 5000);
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "gfx90a:xnack-");
	section.bytes = S("nothing of that kind");
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "");
}

static void archives_beside_a_library_count(void **state)
{
	struct fixture *f = *state;
	/* MessagePack: {"kpack_search_paths": [".kpack/t_@GFXARCH@.kpack"], "kernel_name": "t"} */
	static const char mark[] = "\x82\xb2kpack_search_paths\x91\xb8.kpack/t_@GFXARCH@.kpack"
				   "\xabkernel_name\xa1t";
	struct fx_host_section section = {
		.name = ".rocm_kpack_ref", .bytes = {.p = mark, .n = sizeof(mark) - 1}};
	venv(f, VENV, "torch-2.9.1");
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "");
	assert_true(torch_of(f)->split);
	put(f, TORCH "/lib/.kpack/t_gfx1151.kpack", "");
	put(f, TORCH "/lib/.kpack/t_gfx942.kpack", "");
	put(f, TORCH "/lib/.kpack/other_gfx900.kpack", "");
	assert_list(&torch_of(f)->targets, "gfx942 gfx1151");
}

static void put_archive(struct fixture *f, const char *target, size_t size)
{
	struct kpack_out k;
	struct str path =
		str_fmt(&f->a, "%.*s/t_%s.kpack", STR(at(f, TORCH "/lib/.kpack")), target);
	char *code = arena_array(&f->a, size, 1);
	memset(code, 'x', size);
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(kpack_out_open(&f->a, path, S("t"), str_from(target), &k));
	for (uint32_t i = 0; i < 2; i++) {
		assert_ok(kpack_out_begin(&k, S("lib/t.so"), i, size));
		assert_ok(kpack_out_add(&k, code, size));
		assert_ok(kpack_out_end(&k));
	}
	assert_ok(kpack_out_commit(&k));
	kpack_out_close(&k);
}

/* The runtime takes the archive for the mode of the GPU before the one for all modes (ROCm/TheRock#7620). */
static void an_archive_with_next_to_nothing_hides_another(void **state)
{
	struct fixture *f = *state;
	static const char mark[] = "\x82\xb2kpack_search_paths\x91\xb8.kpack/t_@GFXARCH@.kpack"
				   "\xabkernel_name\xa1t";
	struct fx_host_section section = {
		.name = ".rocm_kpack_ref", .bytes = {.p = mark, .n = sizeof(mark) - 1}};
	venv(f, VENV, "torch-2.12.0");
	put_library(f, &section, 1);
	put_archive(f, "gfx90a", 9000);
	put_archive(f, "gfx90a:xnack-", 100);
	put_archive(f, "gfx90a:xnack+", 8000);
	put_archive(f, "gfx942:xnack-", 10); /* alone */
	assert_list(&torch_of(f)->shadowed, "gfx90a:xnack-");
	assert_false(environment_has(torch_of(f), S("gfx90a")));
	assert_true(environment_has(torch_of(f), S("gfx942")));
	put_archive(f, "gfx90a:xnack-", 9000);
	assert_list(&torch_of(f)->shadowed, "");
	assert_true(environment_has(torch_of(f), S("gfx90a")));
	put_archive(f, "gfx90a:xnack+", 10); /* another mode than the usual one */
	assert_list(&torch_of(f)->shadowed, "gfx90a:xnack+");
	assert_true(environment_has(torch_of(f), S("gfx90a")));
	put(f, TORCH "/lib/.kpack/t_gfx90a.kpack", "none");
	assert_list(&torch_of(f)->shadowed, "");
	put(f, TORCH "/lib/libtorch_hip.so",
		TEXT "targets gfx90a\nempty gfx90a:xnack-\narchives 1\n");
	assert_list(&torch_of(f)->shadowed, "gfx90a:xnack-");
}

static void development_files_are_unpacked_or_not(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "rocm_sdk_devel-7.14.0");
	assert_str(look(f)->pythons.v[0].rocm_devel, "");
	put(f, SITE "/rocm_sdk_devel/_devel.tar.xz", "");
	assert_str(look(f)->pythons.v[0].rocm_devel, "packed");
	put(f, SITE "/_rocm_sdk_devel_linux_x86_64/__init__.py", "");
	assert_str(look(f)->pythons.v[0].rocm_devel, "stale");
	assert_ok(fs_remove_tree(at(f, SITE "/rocm_sdk_devel/_devel.tar.xz")));
	assert_str(look(f)->pythons.v[0].rocm_devel, "expanded");
}

static void rocm_is_looked_for_as_the_loader_does(void **state)
{
	struct fixture *f = *state;
	static const char *const places[] = {SITE "/_rocm_sdk_core/lib", "r/path", "ld/path",
		TORCH "/run/path", TORCH "/lib", "usr/lib/x86_64-linux-gnu", "opt/rocm-7.1.0/lib"};
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/lib/libtorch_hip.so",
		TEXT
		"needed librocblas.so.5\nrpath /r/path\nrunpath $ORIGIN/../run/path:relative:\n");
	put(f, TORCH "/_rocm_init.py", "");
	put(f, "opt/rocm-7.1.0/.info/version", "7.1.0\n");
	variables(f, S("HOME=/home/alice\0LD_LIBRARY_PATH=/ld/path::/nowhere\0"));
	assert_list(&torch_of(f)->missing, "librocblas.so.5");
	/* from the last place to the first: each hides the one before */
	for (size_t i = sizeof(places) / sizeof(*places); i--;) {
		struct str gpu = str_fmt(&f->a, "gfx110%zu", i < 4 ? i : 3);
		put(f, str_fmt(&f->a, "%s/librocblas.so.5", places[i]).p, "");
		if (i < 4)
			put(f,
				str_fmt(&f->a, "%s/rocblas/library/TensileLibrary_lazy_%.*s.dat",
					places[i], STR(gpu))
					.p,
				"");
		assert_int_equal(torch_of(f)->missing.n, 0);
		assert_list(&torch_of(f)->rocblas, i < 4 ? gpu.p : "");
	}
	/* a torch that brings its ROCm does not load that of wheels */
	put(f, TORCH "/lib/libamdhip64.so", "");
	assert_list(&torch_of(f)->rocblas, "gfx1101");
	const struct machine *m = look(f);
	assert_int_equal(m->sdks.n, 2);
	assert_str(m->sdks.v[1].kind, "pip");
	assert_str(m->sdks.v[1].path, "/" SITE "/_rocm_sdk_core");
}

/* The runtime opens it by name; before ROCm 7.2, and where there is no WSL, it does not. */
static void wsl_needs_a_library_of_its_own(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "targets gfx1100\n");
	put(f, TORCH "/version.py", "hip = '7.2.53211'\n");
	assert_int_equal(torch_of(f)->missing.n, 0);
	put(f, "dev/dxg", "");
	assert_list(&torch_of(f)->missing, "librocdxg.so");
	put(f, "usr/lib/librocdxg.so.1", "");
	assert_int_equal(torch_of(f)->missing.n, 0);
	assert_ok(fs_remove(at(f, "usr/lib/librocdxg.so.1")));
	put(f, TORCH "/version.py", "hip = '7.1.9'\n");
	assert_int_equal(torch_of(f)->missing.n, 0);
	put(f, TORCH "/version.py", "hip = '10.0.1'\n");
	assert_list(&torch_of(f)->missing, "librocdxg.so");
}

static void side_files_are_found_in_all_layouts(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed librocblas.so.4\n");
	put(f, TORCH "/lib/libamdhip64.so", "");
	/* hand-written kernels, as before ROCm 5.2 */
	put(f, TORCH "/lib/rocblas/library/Kernels.so-000-gfx906-xnack-.hsaco", "");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_gfx90a.co", "");
	assert_list(&torch_of(f)->rocblas, "gfx906");
	put(f, TORCH "/lib/rocblas/library/gfx942/TensileLibrary_lazy_gfx942.dat", "");
	put(f, TORCH "/lib/rocblas/library/gfx950/TensileManifest.txt", "");
	assert_list(&torch_of(f)->rocblas, "gfx942");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_lazy_gfx1100.dat", "");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_lazy_gfx90a.dat", "");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_lazy_gfx9999.dat", "");
	assert_list(&torch_of(f)->rocblas, "gfx90a gfx942 gfx1100");
	/* names of MIOpen: GPU and number of CUs, glued together */
	put(f, TORCH "/share/miopen/db/gfx90a68.HIP.fdb.txt", "");
	put(f, TORCH "/share/miopen/db/gfx90a6e.kdb", "");
	put(f, TORCH "/share/miopen/db/gfx1030_36.db.txt", "");
	put(f, TORCH "/share/miopen/db/gfx942130.HIP.db", "");
	put(f, TORCH "/share/miopen/db/README", "");
	assert_list(&torch_of(f)->miopen, "gfx90a gfx942 gfx1030");
	/* Debian's folder, of a library that the loader finds */
	put(f, "usr/lib/x86_64-linux-gnu/libhipblaslt.so.1", "");
	put(f, "usr/lib/x86_64-linux-gnu/hipblaslt/7/library/TensileLibrary_lazy_gfx1200.dat", "");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed libhipblaslt.so.1\n");
	assert_list(&torch_of(f)->hipblaslt, "gfx1200");
	/* a variable wins */
	put(f, "srv/t/TensileLibrary_lazy_gfx1010.dat", "");
	variables(f, S("HOME=/home/alice\0ROCBLAS_TENSILE_LIBPATH=/srv/t/\0"
		       "HIPBLASLT_TENSILE_LIBPATH=/srv/none\0"));
	assert_list(&torch_of(f)->rocblas, "gfx1010");
	assert_list(&torch_of(f)->hipblaslt, "");
}

static void slimming_leaves_a_mark(void **state)
{
	struct fixture *f = *state;
	static const char *const places[] = {VENV, SITE, TORCH, SITE "/torch-2.9.1.dist-info"};
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/version.py", "");
	assert_false(torch_of(f)->slim);
	put(f, VENV "/rocsmith-slim.json", "{\"files\": [{\"path\": \"lib/else.so\"}]}");
	assert_false(torch_of(f)->slim);
	for (size_t i = 0; i < 4; i++) {
		struct str path = str_fmt(&f->a, "%s/rocsmith-slim.json", places[i]);
		put(f, path.p, "{\"files\": [{\"path\": \"x/torch/lib/libtorch_hip.so\"}]}");
		assert_true(torch_of(f)->slim);
		assert_ok(fs_remove(at(f, path.p)));
	}
}

/* ---- recordings ---- */

static struct str facts(struct arena *a, struct str root)
{
	struct machine m;
	assert_ok(machine_read_all(a, root, &m));
	return json_document(a, 2, machine_fields, &m);
}

static struct err *no_alice(void *user, struct fs_entry *e)
{
	ARENA(a);
	struct str *dir = user, text = S("");
	if (S_ISREG(e->st.st_mode))
		TRY(fs_read(&a, path_join(&a, *dir, e->path), 1 << 20, &text));
	if (S_ISLNK(e->st.st_mode))
		TRY(fs_readlink(&a, path_join(&a, *dir, e->path), &text));
	text = str_fmt(&a, "%.*s %.*s", STR(e->path), STR(text));
	if (str_contains(text, S("alice")) || str_contains(text, S("secret")))
		return err_new(E_INTERNAL, "'%.*s'", STR(text));
	return NULL;
}

static void a_recording_tells_the_same_without_names(void **state)
{
	struct fixture *f = *state;
	unsigned files = 0, again = 0;
	struct str copy = path_join(&f->a, test_dir(&f->a), S("copy"));
	struct str twice = path_join(&f->a, path_dir(copy), S("twice"));
	static const char *const all[] = {"gfx90a", "gfx1100"};
	struct fx_host_section section = {.name = ".hip_fatbin", .bytes = bundle_of(&f->a, all, 2)};
	venv(f, VENV, "torch-2.9.1+rocm6.4");
	put(f, VENV "/pyvenv.cfg", "home = /home/alice/bin\nversion = 3.12.1\nprompt = secret\n");
	dist(f, SITE, "torchvision-0.1",
		"Author: alice\nRequires-Dist: secret==1\nRequires-Dist: torch==2.8\n"
		"Requires-Dist: torch @ https://alice:secret@example.org/torch.whl");
	put(f, TORCH "/version.py", "git_version = 'secret'\nhip = '6.4.1'\n");
	put_library(f, &section, 1);
	put(f, TORCH "/lib/librocblas.so", "secret");
	put(f, TORCH "/lib/libtorch_hip_x.so",
		TEXT "runpath /home/alice/build:$ORIGIN\ntargets gfx1100\nauthor alice\n");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_lazy_gfx1100.dat", "secret");
	put(f, TORCH "/lib/libamdhip64.so", "secret");
	put(f, VENV "/rocsmith-slim.json", "{\"secret\": \"torch/lib\"}");
	venv(f, "home/alice/secret/venv", "requests-1");
	venv(f, "srv/alice/env", "torch-1.0");
	link_to(f, "home/alice/.venv", "/srv/alice/env");
	assert_ok(fs_mkdirs(at(f, "opt/conda/conda-meta")));
	put(f, "opt/conda/conda-meta/secret.json", "secret");
	dist(f, "opt/conda/lib/python3.9/site-packages", "numpy-1.0", "");
	put(f, "etc/passwd", "alice:x:7:7::/home/alice:\n");
	put(f, "proc/self/status", "Uid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\n");
	variables(f, S("HOME=/home/alice\0PATH=/home/alice/venv/bin:/usr/bin\0"));
	look(f);
	assert_ok(machine_record(f->dir, copy, &files));
	assert_ok(machine_record(copy, twice, &again));
	assert_int_equal(files, again);
	assert_ok(fs_walk(copy, no_alice, &copy));
	struct str want =
		str_replace(&f->a, facts(&f->a, f->dir), S("/home/alice"), S("/home/user"));
	want = str_replace(&f->a, want, S("/srv/alice"), S("/srv/user"));
	assert_str(facts(&f->a, copy), want.p);
	assert_str(facts(&f->a, twice), want.p);
	assert_true(str_contains(want, S("gfx1100")) && str_contains(want, S("/srv/user/env")));
	test_has(path_join(&f->a, copy,
			 S("home/user/venv/lib/python3.12/site-packages/torch/lib/"
			   "libtorch_hip.so")),
		TEXT "targets gfx90a gfx1100\nbundles 1\n");
	test_dir_remove(path_dir(copy));
}

/* "torch_scatter rocm libamdhip64.so.6, ..." */
static struct str extensions(struct fixture *f)
{
	BUF(b, &f->a);
	const struct machine *m = look(f);
	VEC_EACH (const struct machine_extension, x, &m->pythons.v[0].extensions)
		buf_fmt(&b, "%.*s %.*s %.*s, ", STR(x->name), STR(x->build),
			STR(str_join(&f->a, &x->missing, S(" "))));
	return buf_str(&b);
}

static void extensions_are_built_for_one_torch(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/version.py", "hip = '7.1.1'\n");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed libamdhip64.so\n");
	put(f, TORCH "/lib/libamdhip64.so", "");
	put(f, TORCH "/lib/librocblas.so", "");
	put(f, TORCH "/_C.so", TEXT "needed libtorch_cuda.so\n");
	put(f, "opt/rocm/lib/libamdhip64.so.6", "");
	put(f, SITE "/a/x.so",
		TEXT "needed libc10.so\nneeded libamdhip64.so.6\nneeded librocblas.so.4\n");
	put(f, SITE "/a/deep/x.so", TEXT "needed libtorch_cuda.so\n");
	put(f, SITE "/b/x.so", TEXT "needed libtorch.so\n");
	put(f, SITE "/b/y.so", TEXT "needed libc10_hip.so\nneeded libamdhip64.so.7\n");
	put(f, SITE "/c/x.so", TEXT "needed libamdhip64.so.6\n"); /* none of torch's */
	put(f, SITE "/d_cuda.cpython-312-x86_64-linux-gnu.so", TEXT "needed libtorch_cuda.so\n");
	put(f, SITE "/e/x.so", "no library");
	put(f, SITE "/torchaudio/lib/libtorchaudio.so",
		TEXT "needed libtorch_cpu.so\nneeded libhipfft.so.0\n");
#define LIKELY "d_cuda cuda , torchaudio cpu libhipfft.so.0, "
	assert_str(extensions(f), LIKELY); /* of one that is not in use */
	variables(f, S("HOME=/home/alice\0VIRTUAL_ENV=/home/alice/venv\0"));
	assert_str(extensions(f), LIKELY "a rocm libamdhip64.so.6, b rocm , ");
	assert_int_equal(look(f)->pythons.v[0].torch.missing.n, 0);
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed libamdhip64.so.6\n");
	assert_str(extensions(f), LIKELY "a rocm , b rocm libamdhip64.so.7, ");
	for (unsigned i = 0; i < 200; i++)
		put(f, str_fmt(&f->a, SITE "/0/%u.so", i).p, TEXT "needed libtorch.so\n");
	assert_str(extensions(f), LIKELY "0 cpu , ");
}

static void rocm_wheels_are_there_when_torch_loads_them(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/version.py", "hip = '7.1.1'\n");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed libamdhip64.so.7\nrunpath $ORIGIN\n");
	put(f, TORCH "/lib/libtorch_cpu.so",
		TEXT "needed librocprofiler-sdk.so.1\nneeded libm.so.6\n");
	put(f, SITE "/_rocm_sdk_core/lib/libamdhip64.so.7", "");
	assert_list(&torch_of(f)->missing, "libamdhip64.so.7 librocprofiler-sdk.so.1");
	assert_true(torch_of(f)->unloaded);
	put(f, TORCH "/__init__.py", "import os\n");
	assert_true(torch_of(f)->unloaded);
	put(f, TORCH "/__init__.py", "import os  # alice\nimport rocm_sdk\n");
	assert_list(&torch_of(f)->missing, "librocprofiler-sdk.so.1");
	assert_false(torch_of(f)->unloaded);
	/* a recording has the one line that counts */
	struct str copy = path_join(&f->a, test_dir(&f->a), S("copy"));
	unsigned files;
	assert_ok(machine_record(f->dir, copy, &files));
	struct machine m;
	assert_ok(machine_read_all(&f->a, copy, &m));
	assert_false(m.pythons.v[0].torch.unloaded);
	test_has(path_join(&f->a, copy,
			 S("home/other/venv/lib/python3.12/site-packages/torch/__init__.py")),
		"import rocm_sdk\n");
	test_dir_remove(path_dir(copy));
	put(f, TORCH "/__init__.py", "");
	put(f, TORCH "/_rocm_init.py", "");
	assert_false(torch_of(f)->unloaded);
	assert_ok(fs_remove_tree(at(f, TORCH "/_rocm_init.py")));
	put(f, TORCH "/lib/libtorch_hip.so",
		TEXT "needed libamdhip64.so.7\nrunpath $ORIGIN/../../_rocm_sdk_core/lib\n");
	assert_list(&torch_of(f)->missing, "librocprofiler-sdk.so.1");
	assert_false(torch_of(f)->unloaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
		T(a_version_is_read_as_text),
		T(libraries_tell_the_build),
		T(a_text_stands_for_a_library),
		T(extensions_are_built_for_one_torch),
		T(rocm_wheels_are_there_when_torch_loads_them),
		T(most_bundles_of_a_library_decide),
		T(archives_beside_a_library_count),
		T(an_archive_with_next_to_nothing_hides_another),
		T(development_files_are_unpacked_or_not),
		T(rocm_is_looked_for_as_the_loader_does),
		T(wsl_needs_a_library_of_its_own),
		T(side_files_are_found_in_all_layouts),
		T(slimming_leaves_a_mark),
		T(a_recording_tells_the_same_without_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
