/* SDKs on disk without an archive: records, manifests, layouts, damage, sandbox and host commands.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/provider.h"
#include "test.h"

static void put(struct arena *a, struct str root, const char *name, const char *text)
{
	struct str path = path_join(a, root, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

/* ---- records ---- */
static void records_round_trip(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct sdk_package p = {.version = S("1:2-3"), .sha256 = S("abc")};
	buf_add(&b, file_list_head(&a, &p));
	file_list_add(&b, &(struct sdk_file){.type = 'f',
				  .size = 7,
				  .mtime = -5,
				  .value = S("00ff"),
				  .path = S("usr/a b")});
	file_list_add(&b, &(struct sdk_file){.type = 'l', .value = S("../x"), .path = S("usr/l")});
	struct str rest = buf_str(&b);
	struct sdk_file r;
	bool bad;
	assert_true(str_starts(rest, S("#\t1:2-3\tabc\n")));
	assert_true(file_list_next(&rest, &r, &bad));
	assert_int_equal(r.size, 7);
	assert_int_equal(r.mtime, -5);
	assert_str(r.path, "usr/a b");
	assert_true(file_list_next(&rest, &r, &bad));
	assert_true(r.type == 'l');
	assert_str(r.value, "../x");
	assert_false(file_list_next(&rest, &r, &bad));
	assert_false(bad);
}

/* What a record is of: a version, and the GPUs whose kernels were unpacked. */
static void a_record_is_of_one_version_and_some_gpus(void **state)
{
	(void)state;
	ARENA(a);
	struct sdk_package p = {.version = S("1-1"), .sha256 = S("abc"), .bytes = 7}, q = p;
	strs_add(&a, &p.gpus, S("gfx90a"));
	strs_add(&a, &p.gpus, S("gfx1201"));
	struct str head = file_list_head(&a, &p);
	assert_str(head, "#\t1-1\tabc\tgfx90a,gfx1201\t7\n");
	assert_true(file_list_is(&a, head, &q));
	assert_str(str_join(&a, &q.gpus, S(" ")), "gfx90a gfx1201");
	assert_int_equal(q.bytes, 7);
	assert_true(
		file_list_is(&a, S("#\t1-1\tabc\nf\t1\t2\tx\ty\n"), &q)); /* of an older rocsmith */
	assert_int_equal(q.gpus.n, 0);
	assert_int_equal(q.bytes, 0);
	static const char *const others[] = {"", "#\t1-1\tabc0\n", "#\t1-2\tabc\n",
		"#\t1-1\tabc\t\t7\n", "#\t1-1\tabc\tgfx90a\n", "#\t1-1\tabc\tgfx90a\tx\n"};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(file_list_is(&a, str_from(others[i]), &q));
}

static void damaged_records_are_told(void **state)
{
	(void)state;
	static const char *const lines[] = {"f", "f\t1", "f\t1\t2\tx", "f\tx\t2\tv\tp",
		"f\t1\tx\tv\tp", "d\t1\t2\tv\tp", "f\t1\t2\tv\t../p", "f\t1\t2\tv\t/p",
		"ff\t1\t2\tv\tp", "f\t1\t2\tv\t"};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct str rest = str_from(lines[i]);
		struct sdk_file r;
		bool bad;
		assert_false(file_list_next(&rest, &r, &bad));
		assert_true(bad);
	}
}

static enum file_state compare(struct str root, const struct sdk_file *r, bool deep)
{
	enum file_state state;
	assert_ok(file_list_compare(root, r, deep, &state));
	return state;
}

static void files_are_compared_with_records(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), f = path_join(&a, dir, S("f"));
	struct stat st;
	test_put(f, "abc");
	assert_ok(fs_stat(f, &st));
	struct sdk_file r = {.type = 'f',
		.size = 3,
		.mtime = st.st_mtim.tv_sec,
		.path = S("f"),
		.value = S("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")};
	assert_int_equal(compare(dir, &r, false), FILE_OK);
	assert_int_equal(compare(dir, &r, true), FILE_OK);
	r.mtime++; /* by content, time does not count */
	assert_int_equal(compare(dir, &r, false), FILE_CHANGED);
	assert_int_equal(compare(dir, &r, true), FILE_OK);
	test_put(f, "abd");
	assert_int_equal(compare(dir, &r, true), FILE_CHANGED);
	r.path = S("g");
	assert_int_equal(compare(dir, &r, true), FILE_MISSING);
	r.path = S("f/g");
	assert_int_equal(compare(dir, &r, true), FILE_MISSING);
	struct sdk_file l = {.type = 'l', .path = S("l"), .value = S("f")};
	assert_ok(fs_symlink(S("f"), path_join(&a, dir, S("l"))));
	assert_int_equal(compare(dir, &l, false), FILE_OK);
	l.value = S("g");
	assert_int_equal(compare(dir, &l, false), FILE_CHANGED);
	l.path = S("f");
	assert_int_equal(compare(dir, &l, false), FILE_CHANGED);
	test_dir_remove(dir);
}

/* ---- manifests ---- */
static void write_receipt(struct arena *a, struct str dir, const struct sdk_receipt *m)
{
	assert_ok(fs_write(path_join(a, dir, S(SDK_RECEIPT)), sdk_receipt_text(a, m), 0644));
}

static void manifests_round_trip(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct sdk_receipt m = {
		.provider = S("debian"), .suite = S("sid"), .mirror = S("http://m")};
	strs_add(&a, &m.components, S("compiler"));
	strs_add(&a, &m.notes, S("an \"odd\" note"));
	*VEC_PUSH(&a, &m.packages) = (struct sdk_package){.name = S("hipcc"),
		.version = S("1:7-1"),
		.sha256 = S("ab"),
		.list_sha256 = S("cd"),
		.files = 3,
		.bytes = 5000000000};
	struct sdk_receipt got;
	assert_ok(sdk_receipt_read(&a, dir, &got));
	assert_int_equal(got.provider.n, 0); /* none yet */
	write_receipt(&a, dir, &m);
	assert_ok(sdk_receipt_read(&a, dir, &got));
	assert_str(got.notes.v[0], "an \"odd\" note");
	assert_str(sdk_receipt_package(&got, S("hipcc"))->version, "1:7-1");
	assert_true(sdk_receipt_package(&got, S("hipcc"))->bytes == 5000000000);
	assert_null(sdk_receipt_package(&got, S("hip")));
	assert_true(str_eq(sdk_receipt_fingerprint(&a, &m), sdk_receipt_fingerprint(&a, &got)));
	got.packages.v[0].version = S("1:7-2");
	assert_false(str_eq(sdk_receipt_fingerprint(&a, &m), sdk_receipt_fingerprint(&a, &got)));
	test_dir_remove(dir);
}

static const char bad_name[] = "{\"schema\":\"rocsmith.sdk/1\",\"provider\":\"d\","
			       "\"packages\":[{\"name\":\"../x\"}]}";

static void bad_manifests_are_refused(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const texts[] = {"", "{", "[]", "{\"schema\":\"rocsmith.sdk/9\"}",
		"{\"schema\":\"rocsmith.sdk/1\"}", bad_name,
		"{\"schema\":\"rocsmith.sdk/1\",\"provider\":\"d\",\"components\":{}}"};
	struct str dir = test_dir(&a);
	struct sdk_receipt m;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put(&a, dir, "sdk.json", texts[i]);
		assert_err(sdk_receipt_read(&a, dir, &m), E_CORRUPT);
		assert_int_equal(m.provider.n, 0);
	}
	test_dir_remove(dir);
}

/* ---- layouts ---- */
static const struct layout {
	const char *prefix, *clang, *bitcode, *lib, *flags;
} layouts[] = {
	{.prefix = "/opt/rocm-6.4.0",
		.clang = "llvm/bin/clang++",
		.bitcode = "amdgcn/bitcode",
		.lib = "lib",
		.flags = "--hip-path=/opt/rocm-6.4.0 --rocm-path=/opt/rocm-6.4.0 "
			 "--rocm-device-lib-path=/opt/rocm-6.4.0/amdgcn/bitcode"},
	{.prefix = "/dist",
		.clang = "lib/llvm/bin/clang++",
		.bitcode = "lib/llvm/amdgcn/bitcode",
		.lib = "lib",
		.flags = "--hip-path=/dist --rocm-path=/dist "
			 "--rocm-device-lib-path=/dist/lib/llvm/amdgcn/bitcode"},
	{.prefix = "/usr",
		.clang = "lib/llvm-21/bin/clang++",
		.bitcode = "lib/llvm-21/lib/clang/21/amdgcn/bitcode",
		.lib = "lib/x86_64-linux-gnu",
		.flags = "--hip-path=/usr "
			 "--rocm-device-lib-path=/usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode"},
};

static void make_layout(struct arena *a, struct str root, const struct layout *l)
{
	struct str at = str_fmt(a, "%.*s%s", STR(root), l->prefix);
	put(a, at, l->clang, "");
	put(a, at, str_fmt(a, "%s/ocml.bc", l->bitcode).p, "");
	put(a, at, "include/hip/hip_runtime.h", "");
	put(a, at, str_fmt(a, "%s/libamdhip64.so", l->lib).p, "");
	put(a, at, str_fmt(a, "%s/cmake/hip/hip-config-version.cmake", l->lib).p,
		"# made\n  set(PACKAGE_VERSION \"6.4.43484\")\n");
	put(a, at, str_fmt(a, "%s/cmake/rocPRIM/rocPRIMConfigVersion.cmake", l->lib).p,
		"set(PACKAGE_VERSION \"3.4.1\")\nset(PACKAGE_VERSION_EXACT TRUE)\n");
	put(a, at, str_fmt(a, "%s/cmake/Qt/QtConfigVersion.cmake", l->lib).p,
		"set(PACKAGE_VERSION \"5\")\n");
}

static void known_layouts_are_found(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *l = &layouts[i];
		struct str root = test_dir(&a);
		make_layout(&a, root, l);
		struct sdk sdk = {.root = root};
		assert_ok(layout_find(&a, str_from(l->prefix), &sdk));
		assert_str(sdk.clang, str_fmt(&a, "%s/%s", l->prefix, l->clang).p);
		assert_str(sdk.lib_dirs.v[0], str_fmt(&a, "%s/%s", l->prefix, l->lib).p);
		assert_str(str_join(&a, &sdk.clang_flags, S(" ")), l->flags);
		assert_int_equal(sdk.components.n, 2);
		assert_str(sdk.components.v[0].name, "hip");
		assert_str(sdk.components.v[0].version, "6.4.43484");
		assert_str(sdk.components.v[1].name, "rocprim");
		test_dir_remove(root);
	}
}

static void what_a_tree_lacks_is_said(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *remove, *says;
	} cases[] = {
		{.remove = "opt/rocm-6.4.0/llvm/bin/clang++", .says = "no clang++"},
		{.remove = "opt/rocm-6.4.0/amdgcn", .says = "no device library"},
		{.remove = "opt/rocm-6.4.0/include", .says = "no HIP header"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str root = test_dir(&a);
		make_layout(&a, root, &layouts[0]);
		assert_ok(fs_remove_tree(path_join(&a, root, str_from(cases[i].remove))));
		struct sdk sdk = {.root = root};
		assert_err_says(layout_find(&a, S("/opt/rocm-6.4.0"), &sdk), E_SDK, cases[i].says);
		test_dir_remove(root);
	}
}

static void the_newest_llvm_with_device_libraries_wins(void **state)
{
	(void)state;
	ARENA(a);
	struct str root = test_dir(&a);
	make_layout(&a, root, &layouts[2]);
	put(&a, root, "usr/lib/llvm-22/bin/clang++", "");
	put(&a, root, "usr/lib/llvm-22/lib/clang/22/amdgcn/bitcode/ocml.bc", "");
	struct sdk sdk = {.root = root};
	assert_ok(layout_find(&a, S("/usr"), &sdk));
	assert_str(sdk.clang, "/usr/lib/llvm-22/bin/clang++");
	test_dir_remove(root);
}

/* A prefix whose clang really answers (a script) is opened and run directly. */
static void a_prefix_is_opened(void **state)
{
	(void)state;
	ARENA(a);
	struct str root = test_dir(&a), prefix = path_join(&a, root, S("opt/rocm-6.4.0"));
	make_layout(&a, root, &layouts[0]);
	struct str clang = path_join(&a, prefix, S("llvm/bin/clang++"));
	assert_ok(fs_write(clang, S("#!/bin/sh\necho 'AMD clang version 19.0.0git (x)'\n"), 0755));
	struct sdk sdk, by_name;
	struct sdk_spec spec = {.provider = S("prefix"), .prefix = prefix};
	assert_ok(sdk_open(&a, &spec, &sdk));
	assert_int_equal(sdk.runner, SDK_DIRECT);
	assert_int_equal(sdk.root.n, 0);
	assert_str(sdk.components.v[sdk.components.n - 1].name, "clang");
	assert_str(sdk.components.v[sdk.components.n - 1].version, "19.0.0");
	assert_ok(sdk_open_name(&a, str_fmt(&a, "prefix:%.*s", STR(prefix)), &by_name));
	assert_true(str_eq(sdk.fingerprint, by_name.fingerprint));
	spec.prefix = path_join(&a, root, S("none"));
	assert_err(sdk_open(&a, &spec, &sdk), E_NOENT);
	spec.prefix = root;
	assert_err(sdk_open(&a, &spec, &sdk), E_SDK);
	test_dir_remove(root);
}

/* ---- commands ---- */
static size_t index_of(const struct strs *argv, const char *word)
{
	for (size_t i = 0; i < argv->n; i++)
		if (str_eq(argv->v[i], str_from(word)))
			return i;
	return argv->n;
}

static void the_sandbox_shows_the_tree_and_the_binds(void **state)
{
	(void)state;
	ARENA(a);
	struct str root = test_dir(&a);
	make_layout(&a, root, &layouts[2]);
	put(&a, root, "opt/rocm/x", "");
	assert_ok(fs_symlink(S("usr/lib"), path_join(&a, root, S("lib"))));
	struct sdk sdk = {.root = root, .runner = SDK_BWRAP};
	struct sdk_binds binds = {0};
	strs_add(&a, &sdk.path, S("/usr/lib/llvm-21/bin"));
	*VEC_PUSH(&a, &binds) = (struct sdk_bind){.path = S("/home/u"), .writable = true};
	*VEC_PUSH(&a, &binds) = (struct sdk_bind){.path = S("/x"), .at = S("/y")};
	struct proc p = {.cwd = S("/home/u")};
	proc_arg(&a, &p, "clang++", "-c", "a.hip", NULL);
	assert_ok(sdk_wrap(&a, &sdk, &binds, &p));
	struct str text = str_join(&a, &p.argv, S(" "));
	assert_str(p.argv.v[0], "bwrap");
	assert_true(str_contains(text, S("--symlink usr/lib /lib")));
	assert_true(str_contains(text, S("--bind /home/u /home/u")));
	assert_true(str_contains(text, S("--ro-bind /x /y")));
	assert_false(str_contains(text, S("--ro-bind / ")));
	assert_true(str_contains(text, S("--unshare-net")));
	assert_true(str_contains(text, S("--chdir /home/u /usr/lib/llvm-21/bin/clang++ -c a.hip")));
	assert_true(str_contains(text, str_fmt(&a, "%.*s/opt/rocm /opt/rocm", STR(root))));
	assert_int_equal(p.cwd.n, 0);
	assert_true(index_of(&p.setenv, "ROCM_PATH") < p.setenv.n);
	test_dir_remove(root);
}

static void without_a_sandbox_the_error_has_a_hint(void **state)
{
	(void)state;
	ARENA(a);
	struct sdk sdk = {.root = S("/"), .runner = SDK_NORUN};
	struct sdk_binds none = {0};
	struct proc p = {0};
	char *path = str_z(&a, str_from(getenv("PATH")));
	assert_err(sdk_wrap(&a, &sdk, &none, &p), E_USAGE);
	proc_arg(&a, &p, "clang++", NULL);
	setenv("PATH", "/nonexistent", 1);
	struct err *e = sdk_wrap(&a, &sdk, &none, &p);
	setenv("PATH", path, 1);
	assert_non_null(e);
	assert_int_equal(e->code, E_SANDBOX);
	assert_true(e->hints && strstr(e->hints->text, "bubblewrap"));
	err_free(e);
}

static void a_program_of_this_machine_runs_on_a_loader(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), link = path_join(&a, dir, S("my-sh"));
	struct sdk sdk = {.name = S("none")};
	strs_add(&a, &sdk.lib_dirs, S("/opt/rocm/lib"));
	assert_ok(fs_symlink(S("/bin/sh"), link));
	struct proc p = {0};
	struct proc_result r;
	strs_add(&a, &p.argv, link);
	proc_arg(&a, &p, "-c", "echo \"$0 $1\"", "zero", "one", NULL);
	assert_ok(sdk_wrap_host(&a, &sdk, &p));
	assert_true(str_contains(p.argv.v[0], S("ld-linux")));
	assert_true(index_of(&p.argv, "/opt/rocm/lib") < p.argv.n);
	assert_true(index_of(&p.argv, link.p) == 2); /* --argv0 keeps the link's name */
	assert_ok(proc_check(&a, &p, &r));
	assert_str(r.out, "zero one\n");
	test_dir_remove(dir);
}

static void scripts_are_run_by_their_interpreter(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), script = path_join(&a, dir, S("tool"));
	struct str text = path_join(&a, dir, S("text")), shell = path_join(&a, dir, S("s"));
	struct sdk sdk = {.name = S("none")};
	assert_ok(fs_write(script, S("#!/usr/bin/env cat\nhello\n"), 0755));
	assert_ok(fs_write(text, S("no program\n"), 0755));
	assert_ok(fs_write(shell, S("#!/bin/sh\n"), 0755));
	struct proc p = {0}, q = {0}, s = {0}, none = {0};
	struct proc_result r;
	strs_add(&a, &p.argv, script);
	assert_ok(sdk_wrap_host(&a, &sdk, &p));
	assert_ok(proc_check(&a, &p, &r));
	assert_str(r.out, "#!/usr/bin/env cat\nhello\n");
	strs_add(&a, &q.argv, text);
	assert_err_says(sdk_wrap_host(&a, &sdk, &q), E_USAGE, "neither");
	strs_add(&a, &s.argv, shell);
	assert_err_says(sdk_wrap_host(&a, &sdk, &s), E_USAGE, "is a script");
	strs_add(&a, &none.argv, S("rocsmith-no-such-program"));
	proc_arg(&a, &none, "an argument", NULL);
	assert_err_says(sdk_wrap_host(&a, &sdk, &none), E_TOOL_MISSING,
		"no program 'rocsmith-no-such-program'");
	none.argv.v[0] = path_join(&a, dir, S("none"));
	assert_err_says(sdk_wrap_host(&a, &sdk, &none), E_TOOL_MISSING, "/none'");
	test_dir_remove(dir);
}

/* A tree whose loader says that it is of this glibc. */
static void put_loader(struct arena *a, struct str root, const char *version)
{
	struct str path = path_join(a, root, S("usr/lib64/ld-linux-x86-64.so.2"));
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path,
		str_fmt(a,
			"#!/bin/sh\necho 'ld.so (Debian GLIBC %s-7) stable release version %s.'\n",
			version, version),
		0755));
}

static void the_newer_libc_runs_programs_of_this_machine(void **state)
{
	(void)state;
	ARENA(a);
	struct str root = test_dir(&a);
	struct sdk sdk = {.name = S("tree"), .root = root};
	static const struct {
		const char *version;
		bool tree;
	} rows[] = {{"99.1", true}, {"2.1", false}, {"2.999", true}, {"1.999", false}};
	strs_add(&a, &sdk.lib_dirs, S("/opt/rocm/lib"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc p = {0};
		put_loader(&a, root, rows[i].version);
		proc_arg(&a, &p, "/bin/true", NULL);
		assert_ok(sdk_wrap_host(&a, &sdk, &p));
		assert_int_equal(str_starts(p.argv.v[0], root), rows[i].tree);
		struct str libs = p.argv.v[4];
		struct str own = str_fmt(&a, "%.*s/opt/rocm/lib:%.*s/usr/lib/x86_64-linux-gnu",
			STR(root), STR(root));
		assert_true(str_ends(libs, own));
		assert_int_equal(str_contains(libs, S("/usr/lib:")), !rows[i].tree);
	}
	assert_ok(fs_remove(path_join(&a, root, S("usr/lib64/ld-linux-x86-64.so.2"))));
	struct proc p = {0};
	proc_arg(&a, &p, "/bin/true", NULL);
	assert_err_says(sdk_wrap_host(&a, &sdk, &p), E_SDK, "has no loader");
	test_dir_remove(root);
}

/* Whoever may write there would have us run what is said to be an SDK's clang. */
static void a_prefix_is_not_opened_with_a_state_of_others(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), own = path_join(&a, dir, S("rocsmith"));
	struct sdk_spec spec = {.provider = S("prefix"), .prefix = S("/")};
	struct sdk sdk;
	char *home = getenv("ROCSMITH_HOME"), *old = getenv("XDG_STATE_HOME");
	unsetenv("ROCSMITH_HOME");
	setenv("XDG_STATE_HOME", str_z(&a, dir), 1);
	assert_ok(fs_mkdirs(own));
	assert_int_equal(chmod(own.p, 0777), 0);
	assert_err_says(sdk_open(&a, &spec, &sdk), E_PERM, "rocsmith");
	if (home)
		setenv("ROCSMITH_HOME", home, 1);
	old ? setenv("XDG_STATE_HOME", old, 1) : unsetenv("XDG_STATE_HOME");
	test_dir_remove(dir);
}

/* Without the right to mount it is one clear error. Nobody has that right. */
static void a_chroot_without_rights_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	struct strs none = {0};
	pid_t child = fork();
	if (child == 0) {
		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(1);
		struct err *e = sdk_enter(&a, S("/"), &none, S("/"), &none);
		_exit(e && e->code == E_SANDBOX && e->hints ? 0 : 2);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_round_trip),
		cmocka_unit_test(a_record_is_of_one_version_and_some_gpus),
		cmocka_unit_test(damaged_records_are_told),
		cmocka_unit_test(files_are_compared_with_records),
		cmocka_unit_test(manifests_round_trip),
		cmocka_unit_test(bad_manifests_are_refused),
		cmocka_unit_test(known_layouts_are_found),
		cmocka_unit_test(what_a_tree_lacks_is_said),
		cmocka_unit_test(the_newest_llvm_with_device_libraries_wins),
		cmocka_unit_test(a_prefix_is_opened),
		cmocka_unit_test(the_sandbox_shows_the_tree_and_the_binds),
		cmocka_unit_test(without_a_sandbox_the_error_has_a_hint),
		cmocka_unit_test(a_program_of_this_machine_runs_on_a_loader),
		cmocka_unit_test(scripts_are_run_by_their_interpreter),
		cmocka_unit_test(the_newer_libc_runs_programs_of_this_machine),
		cmocka_unit_test(a_prefix_is_not_opened_with_a_state_of_others),
		cmocka_unit_test(a_chroot_without_rights_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
