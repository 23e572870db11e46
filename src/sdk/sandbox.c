/* Starting programs of a tree: bwrap where it works, for root also bind mounts and chroot.
 *
 * The sandbox is a way to make the tree appear as the root folder, not a barrier: it has an empty
 * root in memory, the tree's folders read-only at their places, /proc, /dev with the GPU's nodes,
 * the caller's binds at their own absolute paths, and no network. Folders of the tree are bound one
 * by one, so that binds may lie in /usr/src or /opt/x; parents of a bind are made in memory. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/fs.h"
#include "sdk/provider.h"

/* What points tools at another ROCm, another compiler's files, or a folder that is not there. */
static const char *const unset[] = {
	"ROCM_PATH",
	"ROCM_HOME",
	"HIP_PATH",
	"HIP_CLANG_PATH",
	"HIP_DEVICE_LIB_PATH",
	"HIP_PLATFORM",
	"HIPCC_COMPILE_FLAGS_APPEND",
	"HIPCC_LINK_FLAGS_APPEND",
	"HSA_PATH",
	"DEVICE_LIB_PATH",
	"LD_LIBRARY_PATH",
	"LD_PRELOAD",
	"CPATH",
	"C_INCLUDE_PATH",
	"CPLUS_INCLUDE_PATH",
	"LIBRARY_PATH",
	"COMPILER_PATH",
	"GCC_EXEC_PREFIX",
	"CCC_OVERRIDE_OPTIONS",
	"TMPDIR",
};

/* Folders that are bound child by child, since binds of the caller may lie in them. */
static const char *const split[] = {"usr", "opt", "var", NULL};
/* Folders that are the tree's own, or the sandbox's, whatever the machine has. */
static const char *const own[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc",
	"proc", "dev", "sys", "run", "boot", "lost+found", NULL};

static bool is_one(struct str name, const char *const *list)
{
	for (; *list; list++)
		if (str_eq(name, str_from(*list)))
			return true;
	return false;
}

/* Words that make path of the tree appear at "/" + path. */
static struct err *show(struct arena *a, const struct sdk *sdk, struct str path, struct strs *argv)
{
	struct str full = path_join(a, sdk->root, path);
	struct stat st;
	if (!fs_try_lstat(full, &st))
		return err_errno("cannot look at '%.*s'", STR(full));
	struct str at = path_join(a, S("/"), path), target = full;
	if (S_ISLNK(st.st_mode))
		TRY(fs_readlink(a, full, &target));
	strs_add(a, argv, S_ISLNK(st.st_mode) ? S("--symlink") : S("--ro-bind"));
	strs_add(a, argv, target);
	strs_add(a, argv, at);
	return NULL;
}

static struct err *show_children(
	struct arena *a, const struct sdk *sdk, struct str dir, struct strs *argv)
{
	struct strs names;
	TRY(fs_list(a, path_join(a, sdk->root, dir), &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str path = path_join(a, dir, names.v[i]);
		struct stat st;
		struct str full = path_join(a, sdk->root, path);
		bool folder = fs_try_lstat(full, &st) && S_ISDIR(st.st_mode);
		if (!dir.n && is_one(names.v[i], split) && folder)
			TRY(show_children(a, sdk, path, argv));
		else
			TRY(show(a, sdk, path, argv));
	}
	return NULL;
}

static void words(struct arena *a, struct strs *argv, const char *const *list)
{
	for (; *list; list++)
		strs_add(a, argv, str_from(*list));
}

static struct err *bwrap_words(
	struct arena *a, const struct sdk *sdk, enum sdk_runner runner, struct strs *argv)
{
	/* as-pid-1: without a process between, bwrap waits for the program itself, and what it used
	 * (time, memory) is known to us. */
	static const char *const start[] = {"bwrap", "--unshare-user-try", "--unshare-ipc",
		"--unshare-pid", "--as-pid-1", "--unshare-uts", "--die-with-parent", "--tmpfs", "/",
		NULL};
	static const char *const system[] = {"--proc", "/proc", "--dev", "/dev", "--dev-bind-try",
		"/dev/kfd", "/dev/kfd", "--dev-bind-try", "/dev/dri", "/dev/dri", "--ro-bind-try",
		"/sys", "/sys", "--tmpfs", "/tmp", "--dir", "/run", NULL};
	words(a, argv, start);
	if (runner == SDK_BWRAP)
		strs_add(a, argv, S("--unshare-net"));
	TRY(show_children(a, sdk, S(""), argv));
	words(a, argv, system);
	return NULL;
}

static void set_env(struct arena *a, const struct sdk *sdk, struct proc *p)
{
	for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
		strs_add(a, &p->setenv, str_from(unset[i]));
	strs_add(a, &p->setenv,
		str_fmt(a, "PATH=%.*s:/usr/bin:/usr/sbin", STR(str_join(a, &sdk->path, S(":")))));
}

/* argv[0] -> its full path inside, where the tree has it in sdk->path. */
static struct str inside_path(struct arena *a, const struct sdk *sdk, struct str name)
{
	static const char *const more[] = {"/usr/bin", "/usr/sbin"};
	if (str_chr(name, '/') < name.n)
		return name;
	for (size_t i = 0; i < sdk->path.n + 2; i++) {
		struct str dir = i < sdk->path.n ? sdk->path.v[i] : str_from(more[i - sdk->path.n]);
		struct str path = path_join(a, dir, name);
		struct str full = str_fmt(a, "%.*s%.*s", STR(sdk->root), STR(path));
		struct stat st; /* a link may lead through the tree's own root */
		if (fs_try_lstat(full, &st) && !S_ISDIR(st.st_mode))
			return path;
	}
	return name;
}

static struct err *no_runner(void)
{
	struct err *e = err_new(E_SANDBOX, "programs of the SDK cannot be run here");
	struct proc p = {0};
	ARENA(tmp);
	if (!proc_find(&tmp, S("bwrap")).n) {
		e->cause = err_new(E_TOOL_MISSING, "bwrap is not installed%s",
			geteuid() ? ", and only root can do without" : "");
		return err_hint(e, "install the package 'bubblewrap'");
	}
	struct proc_result r;
	proc_arg(&tmp, &p, "bwrap", "--unshare-user-try", "--ro-bind", "/", "/", "/bin/true", NULL);
	struct err *why = proc_check(&tmp, &p, &r);
	e->cause = why;
	return err_hint(e, "bwrap needs unprivileged user namespaces: sysctls "
			   "kernel.unprivileged_userns_clone, user.max_user_namespaces; in a "
			   "container also its seccomp profile");
}

static void chroot_words(struct arena *a, const struct sdk *sdk, const struct sdk_binds *binds,
	struct str host_root, struct proc *p)
{
	struct strs old = p->argv;
	p->argv = (struct strs){0};
	proc_arg(a, p, "/proc/self/exe", "sdk", "run", "--chroot", NULL);
	strs_add(a, &p->argv, sdk->root);
	if (host_root.n)
		strs_add(a, &p->argv, str_fmt(a, "--chroot-bind=/:%.*s:r", STR(host_root)));
	VEC_EACH (const struct sdk_bind, b, binds)
		strs_add(a, &p->argv,
			str_fmt(a, "--chroot-bind=%.*s:%.*s:%c", STR(b->path),
				STR(b->at.n ? b->at : b->path), b->writable ? 'w' : 'r'));
	if (p->cwd.n)
		strs_add(a, &p->argv, str_fmt(a, "--chroot-dir=%.*s", STR(p->cwd)));
	proc_arg(a, p, "--", NULL);
	for (size_t i = 0; i < old.n; i++)
		strs_add(a, &p->argv, old.v[i]);
	p->cwd = S("/");
}

static struct err *bwrap_command(struct arena *a, const struct sdk *sdk,
	const struct sdk_binds *binds, struct str host_root, struct proc *p)
{
	struct strs old = p->argv;
	p->argv = (struct strs){0};
	TRY(bwrap_words(a, sdk, sdk->runner, &p->argv));
	if (host_root.n) {
		proc_arg(a, p, "--ro-bind", "/", NULL);
		strs_add(a, &p->argv, host_root);
	}
	VEC_EACH (const struct sdk_bind, b, binds) {
		strs_add(a, &p->argv, b->writable ? S("--bind") : S("--ro-bind"));
		strs_add(a, &p->argv, b->path);
		strs_add(a, &p->argv, b->at.n ? b->at : b->path);
	}
	if (p->cwd.n) {
		strs_add(a, &p->argv, S("--chdir"));
		strs_add(a, &p->argv, path_abs(a, p->cwd));
		p->cwd = S("");
	}
	for (size_t i = 0; i < old.n; i++)
		strs_add(a, &p->argv, old.v[i]);
	return NULL;
}

struct err *sdk_wrap(struct arena *a, const struct sdk *sdk, const struct sdk_binds *binds,
	struct str host_root, struct proc *p)
{
	if (!p->argv.n)
		return err_new(E_USAGE, "there is no program to run");
	struct strs argv = {0};
	strs_add(a, &argv, inside_path(a, sdk, p->argv.v[0]));
	for (size_t i = 1; i < p->argv.n; i++)
		strs_add(a, &argv, p->argv.v[i]);
	p->argv = argv;
	switch (sdk->runner) {
	case SDK_DIRECT:
		set_env(a, sdk, p);
		return NULL;
	case SDK_BWRAP:
	case SDK_BWRAP_NET:
		set_env(a, sdk, p);
		return bwrap_command(a, sdk, binds, host_root, p);
	case SDK_CHROOT:
		set_env(a, sdk, p);
		chroot_words(a, sdk, binds, host_root, p);
		return NULL;
	case SDK_NORUN:
		break;
	}
	return no_runner();
}

static bool works(struct arena *a, const struct sdk *sdk, enum sdk_runner runner)
{
	struct sdk copy = *sdk;
	struct sdk_binds none = {0};
	struct proc p = {.merge = true, .timeout = 20};
	struct proc_result r;
	copy.runner = runner;
	/* the tree's loader: small, and every program of the tree needs it */
	proc_arg(a, &p, "/lib64/ld-linux-x86-64.so.2", "--version", NULL);
	struct err *e = sdk_wrap(a, &copy, &none, S(""), &p);
	if (!e)
		e = proc_check(a, &p, &r);
	bool ok = !e;
	err_free(e);
	return ok;
}

enum sdk_runner sandbox_choose(struct arena *a, const struct sdk *sdk)
{
	static const enum sdk_runner ways[] = {SDK_BWRAP, SDK_BWRAP_NET};
	bool bwrap = proc_find(a, S("bwrap")).n > 0;
	for (size_t i = 0; bwrap && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (works(a, sdk, ways[i]))
			return ways[i];
	return geteuid() == 0 ? SDK_CHROOT : SDK_NORUN;
}

/* ---- everything ---- */
static struct err *bind_children(
	struct arena *a, const struct sdk *sdk, struct str dir, struct sdk_binds *ret)
{
	struct strs names;
	TRY(fs_list(a, dir, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str path = path_join(a, dir, names.v[i]);
		struct str in_tree = str_fmt(a, "%.*s%.*s", STR(sdk->root), STR(path));
		bool top = str_eq(dir, S("/"));
		if ((top && is_one(names.v[i], own)) || !fs_is_dir(path))
			continue;
		if (top && is_one(names.v[i], split))
			TRY(bind_children(a, sdk, path, ret));
		else if (!fs_exists(in_tree))
			*VEC_PUSH(a, ret) = (struct sdk_bind){.path = path, .writable = true};
	}
	return NULL;
}

struct err *sdk_all_binds(struct arena *a, const struct sdk *sdk, struct sdk_binds *ret)
{
	if (sdk->runner == SDK_DIRECT)
		return NULL;
	return bind_children(a, sdk, S("/"), ret);
}

/* ---- chroot ---- */
static struct err *enter_failed(const char *what, struct str object)
{
	struct err *e = err_errno("cannot %s '%.*s'", what, STR(object));
	e->code = E_SANDBOX;
	return err_hint(e, "without user namespaces, root needs the capability to mount");
}

/* One "FROM:AT:r" or "...:w". */
static struct err *bind_one(struct arena *a, struct str root, struct str spec)
{
	struct str from, at, mode;
	if (!str_cut(spec, ':', &from, &mode) || !str_cut(mode, ':', &at, &mode))
		return err_new(E_USAGE, "a bind is FROM:AT:r or FROM:AT:w, not '%.*s'", STR(spec));
	struct str full = str_fmt(a, "%.*s%.*s", STR(root), STR(at));
	TRY(fs_mkdirs(full));
	char *z = str_z(a, full);
	if (mount(str_z(a, from), z, NULL, MS_BIND | MS_REC, NULL) < 0)
		return enter_failed("mount", from);
	if (str_eq(mode, S("r")) &&
		mount(NULL, z, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
		return enter_failed("make read-only", from);
	return NULL;
}

/* What is mounted from here on is not to be seen outside. "/" is no mount point within a chroot:
 * then it is the nearest folder above the tree that is one, if any. */
static void make_private(struct arena *a, struct str root)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		return;
	for (struct str at = root; at.n > 1; at = path_dir(at))
		if (mount(NULL, str_z(a, at), NULL, MS_REC | MS_PRIVATE, NULL) == 0)
			return;
}

/* An entry of the tree (seen through from) at the same place in the new root. */
static struct err *place(struct arena *a, struct str from, struct str root, struct str path)
{
	struct str source = path_join(a, from, path), target;
	struct stat st;
	if (!fs_try_lstat(source, &st))
		return err_errno("cannot look at '%.*s' of the tree", STR(path));
	if (S_ISLNK(st.st_mode)) {
		TRY(fs_readlink(a, source, &target));
		return fs_symlink(target, path_join(a, root, path));
	}
	if (S_ISDIR(st.st_mode))
		return bind_one(a, root, str_fmt(a, "%.*s:/%.*s:r", STR(source), STR(path)));
	return NULL;
}

static struct err *place_children(struct arena *a, struct str from, struct str root, struct str dir)
{
	struct strs names;
	TRY(fs_list(a, path_join(a, from, dir), &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str path = path_join(a, dir, names.v[i]);
		if (!dir.n && is_one(names.v[i], split)) {
			TRY(fs_mkdirs(path_join(a, root, path)));
			TRY(place_children(a, from, root, path));
		} else {
			TRY(place(a, from, root, path));
		}
	}
	return NULL;
}

/* Covers the tree with an empty root in memory and puts the tree's folders into it, so that nothing
 * is ever made in the tree itself. */
static struct err *cover_tree(struct arena *a, struct str root)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(root, &fd));
	if (mount("tmpfs", str_z(a, root), "tmpfs", 0, "mode=755") < 0)
		return enter_failed("mount a root folder on", root);
	return place_children(a, str_fmt(a, "/proc/self/fd/%d", fd), root, S(""));
}

struct err *sdk_enter(struct arena *a, struct str root, const struct strs *binds, struct str dir,
	const struct strs *argv)
{
	static const char *const system[] = {
		"/proc:/proc:w", "/dev:/dev:w", "/sys:/sys:r", "/tmp:/tmp:w"};
	if (unshare(CLONE_NEWNS) < 0)
		return enter_failed("make a mount namespace for", root);
	make_private(a, root);
	TRY(cover_tree(a, root));
	for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++)
		TRY(bind_one(a, root, str_from(system[i])));
	for (size_t i = 0; i < binds->n; i++)
		TRY(bind_one(a, root, binds->v[i]));
	if (chroot(str_z(a, root)) < 0 || chdir(dir.n ? str_z(a, dir) : "/") < 0)
		return enter_failed("enter", root);
	char **list = arena_array(a, argv->n + 1, sizeof(*list));
	for (size_t i = 0; i < argv->n; i++)
		list[i] = str_z(a, argv->v[i]);
	execvp(list[0], list);
	struct err *e = err_errno("cannot start '%s' in the SDK", list[0]);
	return e;
}
