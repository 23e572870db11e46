/* What really runs for a program of an SDK: the whole command of each runner. sdk/sandbox.c. */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/provider.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct str root;
	struct sdk sdk;
	struct sdk_binds binds;
	struct proc p;
};

/* A tree as Debian's packages make it, with a view. */
static int begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	static const char *const folders[] = {
		"etc", "opt/rocm/bin", "usr/bin", "usr/lib/llvm-21/bin", "usr/share", "var/lib"};
	f->root = test_dir(&f->a);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_ok(fs_mkdirs(path_join(&f->a, f->root, str_from(folders[i]))));
	assert_ok(fs_symlink(S("usr/bin"), path_join(&f->a, f->root, S("bin"))));
	assert_ok(fs_symlink(S("usr/lib"), path_join(&f->a, f->root, S("lib"))));
	test_put(path_join(&f->a, f->root, S("usr/lib/llvm-21/bin/clang++")), "");
	test_put(path_join(&f->a, f->root, S("usr/bin/sh")), "");
	f->sdk = (struct sdk){.name = S("debian-sid"), .root = f->root, .runner = SDK_BWRAP};
	strs_add(&f->a, &f->sdk.path, S("/usr/lib/llvm-21/bin"));
	strs_add(&f->a, &f->sdk.path, S("/opt/rocm/bin"));
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	test_dir_remove(f->root);
	arena_free(&f->a);
	free(f);
	return 0;
}

static void bind(struct fixture *f, const char *path, const char *at, bool writable)
{
	*VEC_PUSH(&f->a, &f->binds) =
		(struct sdk_bind){.path = str_from(path), .at = str_from(at), .writable = writable};
}

static void assert_argv(struct fixture *f, const char *want)
{
	struct str got = str_join(&f->a, &f->p.argv, S(" "));
	struct str text = S(""), rest = str_from(want), piece;
	while (str_next(&rest, '@', &piece)) /* @ stands for the tree */
		text = str_fmt(&f->a, "%.*s%.*s%.*s", STR(text), STR(piece),
			rest.n ? (int)f->root.n : 0, f->root.p);
	if (!str_eq(got, text))
		fail_msg("got\n%.*s\nwant\n%.*s", STR(got), STR(text));
}

static bool sets(const struct fixture *f, const char *text)
{
	return strs_has(&f->p.setenv, str_from(text));
}

#define BWRAP_START                                                                                \
	"bwrap --unshare-user-try --unshare-ipc --unshare-pid --as-pid-1 --unshare-uts "           \
	"--die-with-parent --tmpfs / "
#define BWRAP_TREE                                                                                 \
	"--symlink usr/bin /bin --ro-bind @/etc /etc --symlink usr/lib /lib "                      \
	"--ro-bind @/opt/rocm /opt/rocm --ro-bind @/usr/bin /usr/bin "                             \
	"--ro-bind @/usr/lib /usr/lib --ro-bind @/usr/share /usr/share "                           \
	"--ro-bind @/var/lib /var/lib "
#define BWRAP_OWN "--proc /proc --dev /dev --tmpfs /tmp --dir /run "
#define BWRAP_SYSTEM BWRAP_OWN "--new-session --cap-drop ALL --ro-bind-try /proc/sys /proc/sys"
#define BWRAP_PERSON                                                                               \
	BWRAP_OWN "--dev-bind-try /dev/kfd /dev/kfd --dev-bind-try /dev/dri /dev/dri "             \
		  "--ro-bind-try /sys /sys"

static void bwrap_shows_the_tree_as_the_root_and_no_network(void **state)
{
	struct fixture *f = *state;
	proc_arg(&f->a, &f->p, "clang++", "--version", NULL);
	assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
	assert_argv(f, BWRAP_START "--unshare-net " BWRAP_TREE BWRAP_SYSTEM
				   " /usr/lib/llvm-21/bin/clang++ --version");
}

static void where_a_network_namespace_cannot_be_made_there_is_none(void **state)
{
	struct fixture *f = *state;
	f->sdk.runner = SDK_BWRAP_NET;
	proc_arg(&f->a, &f->p, "/bin/true", NULL);
	assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
	assert_argv(f, BWRAP_START BWRAP_TREE BWRAP_SYSTEM " /bin/true");
}

static void a_program_that_a_person_starts_keeps_the_terminal(void **state)
{
	struct fixture *f = *state;
	f->p.inherit = true;
	proc_arg(&f->a, &f->p, "/bin/true", NULL);
	assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
	assert_argv(f, BWRAP_START "--unshare-net " BWRAP_TREE BWRAP_PERSON " /bin/true");
}

/* No /etc, no /home, no /root: those of the user's files that the build needs are bound by name. */
static void of_the_machine_itself_only_system_folders_are_shown(void **state)
{
	struct fixture *f = *state;
	static const char *const known[] = {"/usr", "/lib", "/lib32", "/lib64", "/libx32"};
	sdk_system_binds(&f->a, S("/run/host"), &f->binds);
	assert_true(f->binds.n > 0);
	VEC_EACH (const struct sdk_bind, b, &f->binds) {
		bool found = false;
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			found |= str_eq(b->path, str_from(known[i]));
		assert_true(found && !b->writable);
		assert_str(b->at, str_fmt(&f->a, "/run/host%.*s", STR(b->path)).p);
	}
}

static void binds_come_behind_the_tree_in_their_order(void **state)
{
	struct fixture *f = *state;
	f->p.cwd = S("/home/u/proj");
	bind(f, "/home/u", "", true);
	bind(f, "/home/u/proj/secret", "", false);
	bind(f, "/usr/include/python3.11", "/run/python/include", false);
	proc_arg(&f->a, &f->p, "/bin/true", NULL);
	assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
	assert_argv(f,
		BWRAP_START "--unshare-net " BWRAP_TREE BWRAP_SYSTEM " --bind /home/u /home/u"
			    " --ro-bind /home/u/proj/secret /home/u/proj/secret"
			    " --ro-bind /usr/include/python3.11 /run/python/include"
			    " --chdir /home/u/proj /bin/true");
	assert_str(f->p.cwd, ""); /* bwrap itself starts where we are */
}

static void a_chroot_is_a_run_of_ours_that_mounts_first(void **state)
{
	struct fixture *f = *state;
	f->sdk.runner = SDK_CHROOT;
	f->p.cwd = S("/home/u");
	bind(f, "/home/u", "", true);
	bind(f, "/x", "/y", false);
	proc_arg(&f->a, &f->p, "clang++", "-c", "--", "a b.hip", NULL);
	assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
	assert_argv(f, "/proc/self/exe sdk run --chroot @ "
		       "--chroot-bind=/home/u:/home/u:w --chroot-bind=/x:/y:r "
		       "--chroot-dir=/home/u -- /usr/lib/llvm-21/bin/clang++ -c -- a b.hip");
	assert_str(f->p.cwd, "/");
}

/* In a process of its own, since it does not come back. */
static int entered(struct fixture *f, const struct strs *binds, const struct strs *argv)
{
	int status = -1;
	pid_t pid = fork();
	if (!pid) {
		struct err *e = sdk_enter(&f->a, f->root, binds, S("/deep"), argv);
		test_print_err(e);
		_exit(100);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static bool may_mount(void)
{
	int status = 1;
	pid_t pid = fork();
	if (!pid)
		_exit(unshare(CLONE_NEWNS) < 0);
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void within_a_chroot_are_the_tree_and_what_was_bound(void **state)
{
	struct fixture *f = *state;
	struct str shared = test_dir(&f->a), text;
	struct strs binds = {0}, argv = {0};
	if (!may_mount())
		skip();
	test_put(path_join(&f->a, f->root, S("etc/of-the-tree")), "");
	strs_add(&f->a, &binds, S("/usr:/usr:r"));
	strs_add(&f->a, &binds, S("/lib64:/lib64:r"));
	strs_add(&f->a, &binds, str_fmt(&f->a, "%.*s:/deep/er/w:w", STR(shared)));
	strs_add(&f->a, &binds, str_fmt(&f->a, "%.*s:/deep/er/r:r", STR(shared)));
	static const char *const words[] = {"sh", "-c",
		"exec 2>/dev/null; cd /deep/er || exit 1\n"
		"echo $0 $1 $OLDPWD $(ls /etc) >w/said; touch r/x && exit 2; touch /etc/x && exit "
		"3; exit 42",
		"zero", "one two"};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		strs_add(&f->a, &argv, str_from(words[i]));
	assert_int_equal(entered(f, &binds, &argv), 42);
	assert_ok(fs_read(&f->a, path_join(&f->a, shared, S("said")), 100, &text));
	assert_str(text, "zero one two /deep of-the-tree\n");
	assert_false(fs_present(path_join(&f->a, f->root, S("deep"))));
	strs_add(&f->a, &binds, S("/usr:/x"));
	assert_int_equal(entered(f, &binds, &argv), 100);
	test_dir_remove(shared);
}

/* What bwrap itself says is the cause. */
static void why_bwrap_does_not_work_is_told(void **state)
{
	struct fixture *f = *state;
	struct str bin = test_dir(&f->a), fake = path_join(&f->a, bin, S("bwrap"));
	char *path = str_z(&f->a, str_from(getenv("PATH")));
	f->sdk.runner = SDK_NORUN;
	proc_arg(&f->a, &f->p, "clang++", NULL);
	setenv("PATH", str_z(&f->a, bin), 1);
	struct err *e = sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p);
	assert_err_says(e, E_SANDBOX, "bwrap is not installed");
	assert_ok(fs_write(fake, S("#!/bin/sh\necho \"no userns for $*\" >&2\nexit 1\n"), 0755));
	e = sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p);
	assert_true(e && e->cause && e->cause->detail);
	assert_true(str_contains(str_from(e->cause->detail),
		S("no userns for --unshare-user-try --ro-bind / / /bin/true")));
	assert_err_says(e, E_SANDBOX, "'bwrap' failed: exit status 1");
	setenv("PATH", path, 1);
	test_dir_remove(bin);
}

static void a_prefix_runs_as_it_is(void **state)
{
	struct fixture *f = *state;
	f->sdk.runner = SDK_DIRECT;
	f->sdk.root = S("");
	f->p.cwd = S("/home/u");
	bind(f, "/home/u", "", true);
	proc_arg(&f->a, &f->p, "/opt/rocm/llvm/bin/clang++", "-v", NULL);
	assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
	assert_argv(f, "/opt/rocm/llvm/bin/clang++ -v");
	assert_str(f->p.cwd, "/home/u");
}

/* ---- programs ---- */
static const struct {
	const char *name, *want;
} programs[] = {
	{"clang++", "/usr/lib/llvm-21/bin/clang++"},
	{"hipcc", "/opt/rocm/bin/hipcc"}, /* a link whose target is seen inside only */
	{"sh", "/usr/bin/sh"},
	{"folder", "folder"}, /* not what can be run */
	{"nowhere", "nowhere"},
	{"/usr/bin/sh", "/usr/bin/sh"},
	{"./sh", "./sh"},
	{"bin/sh", "bin/sh"},
};

static void programs_are_looked_up_in_the_tree(void **state)
{
	struct fixture *f = *state;
	assert_ok(fs_symlink(
		S("/usr/bin/hipcc"), path_join(&f->a, f->root, S("opt/rocm/bin/hipcc"))));
	assert_ok(fs_mkdirs(path_join(&f->a, f->root, S("usr/bin/folder"))));
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		f->p = (struct proc){0};
		strs_add(&f->a, &f->p.argv, str_from(programs[i].name));
		assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
		assert_str(f->p.argv.v[f->p.argv.n - 1], programs[i].want);
	}
}

static void the_callers_list_of_words_is_left_alone(void **state)
{
	struct fixture *f = *state;
	proc_arg(&f->a, &f->p, "clang++", "-v", NULL);
	struct strs before = f->p.argv;
	assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
	assert_str(before.v[0], "clang++");
	assert_str(before.v[1], "-v");
}

static void nothing_to_run_is_a_mistake_of_the_caller(void **state)
{
	struct fixture *f = *state;
	static const enum sdk_runner runners[] = {
		SDK_DIRECT, SDK_BWRAP, SDK_BWRAP_NET, SDK_CHROOT, SDK_NORUN};
	for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++) {
		f->sdk.runner = runners[i];
		assert_err(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p), E_USAGE);
	}
}

static void a_tree_that_is_gone_is_an_error(void **state)
{
	struct fixture *f = *state;
	f->sdk.root = path_join(&f->a, f->root, S("gone"));
	proc_arg(&f->a, &f->p, "/bin/true", NULL);
	assert_err(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p), E_NOENT);
}

/* ---- environment ---- */
static void other_rocms_and_compilers_are_kept_out_of_the_environment(void **state)
{
	struct fixture *f = *state;
	static const char *const out[] = {"ROCM_PATH", "HIP_PATH", "HIP_CLANG_PATH", "HIP_PLATFORM",
		"HIP_DEVICE_LIB_PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "CPATH", "LIBRARY_PATH",
		"CCC_OVERRIDE_OPTIONS", "TMPDIR"};
	static const enum sdk_runner runners[] = {SDK_DIRECT, SDK_BWRAP, SDK_BWRAP_NET, SDK_CHROOT};
	for (size_t r = 0; r < sizeof(runners) / sizeof(runners[0]); r++) {
		f->sdk.runner = runners[r];
		f->p = (struct proc){0};
		proc_arg(&f->a, &f->p, "/bin/true", NULL);
		assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
		for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
			if (!sets(f, out[i]))
				fail_msg("'%s' is not removed", out[i]);
		assert_true(sets(f, "PATH=/usr/lib/llvm-21/bin:/opt/rocm/bin:/usr/bin:/usr/sbin"));
	}
}

static void settings_of_the_caller_stay(void **state)
{
	struct fixture *f = *state;
	strs_add(&f->a, &f->p.setenv, S("LC_ALL=C.UTF-8"));
	strs_add(&f->a, &f->p.setenv, S("TMPDIR=/b/tmp/x"));
	f->p.clear_env = true;
	f->p.timeout = 7;
	proc_arg(&f->a, &f->p, "/bin/true", NULL);
	assert_ok(sdk_wrap(&f->a, &f->sdk, &f->binds, &f->p));
	assert_str(f->p.setenv.v[f->p.setenv.n - 3], "LC_ALL=C.UTF-8");
	assert_str(f->p.setenv.v[f->p.setenv.n - 2], "TMPDIR=/b/tmp/x"); /* behind its removal */
	assert_true(f->p.clear_env && f->p.timeout == 7);
}

/* ---- everything of the machine ---- */
static void a_person_sees_the_own_folders_but_none_that_hide_the_sdk(void **state)
{
	struct fixture *f = *state;
	static const char *const hidden[] = {"/usr/lib", "/usr/bin", "/etc", "/proc", "/dev",
		"/sys", "/run", "/opt/rocm", "/usr/share", "/var/lib", "/bin", "/lib", "/lib64"};
	assert_ok(sdk_all_binds(&f->a, &f->sdk, &f->binds));
	VEC_EACH (const struct sdk_bind, b, &f->binds) {
		assert_true(b->writable && b->path.p[0] == '/' && !b->at.n);
		for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
			if (str_eq(b->path, str_from(hidden[i])))
				fail_msg("'%s' is bound", hidden[i]);
	}
	struct sdk_binds none = {0};
	f->sdk.runner = SDK_DIRECT; /* nothing is hidden, nothing need be shown */
	assert_ok(sdk_all_binds(&f->a, &f->sdk, &none));
	assert_int_equal(none.n, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bwrap_shows_the_tree_as_the_root_and_no_network),
		TEST(where_a_network_namespace_cannot_be_made_there_is_none),
		TEST(a_program_that_a_person_starts_keeps_the_terminal),
		TEST(of_the_machine_itself_only_system_folders_are_shown),
		TEST(binds_come_behind_the_tree_in_their_order),
		TEST(a_chroot_is_a_run_of_ours_that_mounts_first),
		TEST(within_a_chroot_are_the_tree_and_what_was_bound),
		TEST(why_bwrap_does_not_work_is_told),
		TEST(a_prefix_runs_as_it_is),
		TEST(programs_are_looked_up_in_the_tree),
		TEST(the_callers_list_of_words_is_left_alone),
		TEST(nothing_to_run_is_a_mistake_of_the_caller),
		TEST(a_tree_that_is_gone_is_an_error),
		TEST(other_rocms_and_compilers_are_kept_out_of_the_environment),
		TEST(settings_of_the_caller_stay),
		TEST(a_person_sees_the_own_folders_but_none_that_hide_the_sdk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
