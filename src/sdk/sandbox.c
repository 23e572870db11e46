/* Starts programs of a tree: by bwrap if it works, else, for root, by bind mounts and chroot.
 *
 * The sandbox has an empty root in memory, the tree's folders read-only at their places, /proc, /dev (with the GPU's
 * nodes when a person starts the program), the caller's binds at their own absolute paths, and no network. With bwrap
 * it is a security barrier, as far as the kernel's namespaces are one; a chroot is none, since root can leave it.
 * Folders of the tree are bound one by one, so that binds may lie in /usr/src or /opt/x; the parents of a bind are made
 * in memory. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "sdk/provider.h"

struct tree_entry {
	struct str path;   /* below the root */
	struct str target; /* a link's target; "" = a file or folder */
	bool folder;
};

struct tree_entries VEC_OF(struct tree_entry);

/* Lists the contents of a tree's folder; of folders to be split, their own contents. */
static struct err *list_tree(
	struct arena *a, struct str root, struct str dir, struct tree_entries *ret)
{
	struct strs names;
	TRY(fs_list(a, path_join(a, root, dir), &names));
	VEC_EACH (const struct str, name, &names) {
		struct tree_entry e = {.path = path_join(a, dir, *name)};
		struct str full = path_join(a, root, e.path);
		struct stat st;
		if (!fs_try_lstat(full, &st))
			return err_errno("cannot look at '%.*s' of the tree", STR(e.path));
		e.folder = S_ISDIR(st.st_mode);
		if (S_ISLNK(st.st_mode))
			TRY(fs_readlink(a, full, &e.target));
		if (!dir.n && e.folder && str_is_one_of(*name, sandbox_names_table()->split))
			TRY(list_tree(a, root, e.path, ret));
		else
			*VEC_PUSH(a, ret) = e;
	}
	return NULL;
}

struct str sdk_outside(struct arena *a, const struct sdk *sdk, struct str path)
{
	return str_fmt(a, "%.*s%.*s", STR(sdk->root), STR(path));
}

static struct err *no_runner(void)
{
	ARENA(tmp);
	struct err *e = err_new(E_SANDBOX, "programs of the SDK cannot be run here");
	struct proc p = {0};
	struct proc_result r;
	if (!proc_find(&tmp, S("bwrap")).n) {
		e->cause = err_new(E_TOOL_MISSING, "bwrap is not installed%s",
			geteuid() ? ", and only root can do without" : "");
		return err_hint(e, "install the package 'bubblewrap'");
	}
	proc_arg(&tmp, &p, "bwrap", "--unshare-user-try", "--ro-bind", "/", "/", "/bin/true", NULL);
	e->cause = proc_check(&tmp, &p, &r);
	return err_hint(e, "bwrap needs unprivileged user namespaces: sysctls "
			   "kernel.unprivileged_userns_clone, user.max_user_namespaces; in a "
			   "container also its seccomp profile");
}

static struct err *bwrap_command(
	struct arena *a, const struct sdk *sdk, const struct sdk_binds *binds, struct proc *p)
{
	struct tree_entries tree = {0};
	TRY(list_tree(a, sdk->root, S(""), &tree));
	/* as-pid-1: bwrap waits for the program itself, without a process in between, so that we see the
	 * time and memory that it used. */
	proc_arg(a, p, "bwrap", "--unshare-user-try", "--unshare-ipc", "--unshare-pid",
		"--as-pid-1", "--unshare-uts", "--die-with-parent", "--tmpfs", "/", NULL);
	if (sdk->runner == SDK_BWRAP)
		proc_arg(a, p, "--unshare-net", NULL);
	VEC_EACH (const struct tree_entry, e, &tree) {
		const char *from =
			str_z(a, e->target.n ? e->target : path_join(a, sdk->root, e->path));
		proc_arg(a, p, e->target.n ? "--symlink" : "--ro-bind", from,
			str_z(a, path_join(a, S("/"), e->path)), NULL);
	}
	proc_arg(
		a, p, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/run", NULL);
	/* A program with our terminal could type commands into the user's shell; root's capabilities would make
	 * read-only binds writable again; and bwrap leaves /proc/sys writable for root, against its intent. */
	if (!p->inherit)
		proc_arg(a, p, "--new-session", "--cap-drop", "ALL", "--ro-bind-try", "/proc/sys",
			"/proc/sys", NULL);
	else
		proc_arg(a, p, "--dev-bind-try", "/dev/kfd", "/dev/kfd", "--dev-bind-try",
			"/dev/dri", "/dev/dri", "--ro-bind-try", "/sys", "/sys", NULL);
	VEC_EACH (const struct sdk_bind, b, binds)
		proc_arg(a, p, b->writable ? "--bind" : "--ro-bind", str_z(a, b->path),
			str_z(a, b->at.n ? b->at : b->path), NULL);
	if (p->cwd.n)
		proc_arg(a, p, "--chdir", str_z(a, path_abs(a, p->cwd)), NULL);
	p->cwd = S("");
	return NULL;
}

struct err *sdk_wrap(
	struct arena *a, const struct sdk *sdk, const struct sdk_binds *binds, struct proc *p)
{
	static const struct sdk_binds none;
	struct strs argv = p->argv, given = p->setenv, path = {0};
	binds = binds ? binds : &none;
	if (!argv.n)
		return err_new(E_USAGE, "there is no program to run");
	if (sdk->runner == SDK_NORUN)
		return no_runner();
	strs_add_all(a, &path, &sdk->path);
	STRS_ADD(a, &path, S("/usr/bin"), S("/usr/sbin"));
	p->setenv = (struct strs){0};
	strs_add_words(a, &p->setenv, sandbox_names_table()->unset);
	strs_add_all(a, &p->setenv, &given);
	strs_fmt(a, &p->setenv, "PATH=%.*s", STR(str_join(a, &path, S(":"))));
	p->argv = (struct strs){0};
	if (sdk->runner == SDK_CHROOT) { /* our own sdk_enter() starts the program */
		proc_arg(a, p, "/proc/self/exe", "sdk", "run", "--chroot", str_z(a, sdk->root),
			NULL);
		VEC_EACH (const struct sdk_bind, b, binds)
			strs_fmt(a, &p->argv, "--chroot-bind=%.*s:%.*s:%c", STR(b->path),
				STR(b->at.n ? b->at : b->path), b->writable ? 'w' : 'r');
		if (p->cwd.n)
			strs_fmt(a, &p->argv, "--chroot-dir=%.*s", STR(p->cwd));
		proc_arg(a, p, "--", NULL);
		p->cwd = S("/");
	} else if (sdk->runner != SDK_DIRECT) {
		TRY(bwrap_command(a, sdk, binds, p));
	}
	size_t program = p->argv.n;
	strs_add_all(a, &p->argv, &argv);
	/* Look up a name without a slash in the tree's PATH folders. A dangling link is fine, since its target may
	 * exist only inside. */
	for (size_t i = path.n; i-- > 0 && str_chr(argv.v[0], '/') == argv.v[0].n;) {
		struct str full = path_join(a, path.v[i], argv.v[0]);
		struct stat st;
		if (fs_try_lstat(sdk_outside(a, sdk, full), &st) && !S_ISDIR(st.st_mode))
			p->argv.v[program] = full;
	}
	return NULL;
}

enum sdk_runner sandbox_choose(struct arena *a, const struct sdk *sdk)
{
	static const enum sdk_runner ways[] = {SDK_BWRAP, SDK_BWRAP_NET};
	bool bwrap = proc_find(a, S("bwrap")).n > 0;
	for (size_t i = 0; bwrap && i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct sdk copy = *sdk;
		struct proc p = {.merge = true, .timeout = 20};
		struct proc_result r;
		copy.runner = ways[i];
		/* try the tree's loader: it is small, and every program of the tree needs it */
		proc_arg(a, &p, "/lib64/ld-linux-x86-64.so.2", "--version", NULL);
		CLEANUP(err_freep) struct err *e = sdk_wrap(a, &copy, NULL, &p);
		if (!e)
			e = proc_check(a, &p, &r);
		if (!e)
			return ways[i];
	}
	return geteuid() == 0 ? SDK_CHROOT : SDK_NORUN;
}

/* ---- binds of the machine's folders ---- */
void sdk_system_binds(struct arena *a, struct str at, struct sdk_binds *ret)
{
	static const char *const folders[] = {"/usr", "/lib", "/lib32", "/lib64", "/libx32"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (fs_is_dir(str_from(folders[i])))
			*VEC_PUSH(a, ret) = (struct sdk_bind){.path = str_from(folders[i]),
				.at = str_fmt(a, "%.*s%s", STR(at), folders[i])};
}

static struct err *bind_children(
	struct arena *a, const struct sdk *sdk, struct str dir, struct sdk_binds *ret)
{
	bool top = str_eq(dir, S("/"));
	struct strs names;
	TRY(fs_list(a, dir, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str path = path_join(a, dir, names.v[i]);
		if ((top && str_is_one_of(names.v[i], sandbox_names_table()->own)) ||
			!fs_is_dir(path))
			continue;
		if (top && str_is_one_of(names.v[i], sandbox_names_table()->split))
			TRY(bind_children(a, sdk, path, ret));
		else if (!fs_exists(sdk_outside(a, sdk, path)))
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

/* Mounts one bind, "FROM:AT:r" or "FROM:AT:w". */
static struct err *mount_bind(struct arena *a, struct str root, struct str spec)
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

struct err *sdk_enter(struct arena *a, struct str root, const struct strs *binds, struct str dir,
	const struct strs *argv)
{
	static const char *const system[] = {
		"/proc:/proc:w", "/dev:/dev:w", "/sys:/sys:r", "/tmp:/tmp:w"};
	struct tree_entries all = {0};
	TRY(list_tree(a, root, S(""), &all));
	if (unshare(CLONE_NEWNS) < 0)
		return enter_failed("make a mount namespace for", root);
	/* Keep the following mounts invisible outside. Within a chroot "/" is not a mount point; then make the nearest
	 * mount point above the tree private, if there is one. */
	bool hidden = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	for (struct str at = root; !hidden && at.n > 1; at = path_dir(at))
		hidden = mount(NULL, str_z(a, at), NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	/* Cover the tree with an empty root in memory and bind the tree's folders into that, so that mount points are
	 * never created in the tree itself. */
	CLEANUP(fd_closep) int tree = -1;
	TRY(fs_open(root, &tree));
	if (mount("tmpfs", str_z(a, root), "tmpfs", 0, "mode=755") < 0)
		return enter_failed("mount a root folder on", root);
	VEC_EACH (const struct tree_entry, e, &all) {
		struct str at = path_join(a, root, e->path);
		TRY(fs_mkdirs(path_dir(at)));
		if (e->target.n)
			TRY(fs_symlink(e->target, at));
		else if (e->folder)
			TRY(mount_bind(a, root,
				str_fmt(a, "/proc/self/fd/%d/%.*s:/%.*s:r", tree, STR(e->path),
					STR(e->path))));
	}
	for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++)
		TRY(mount_bind(a, root, str_from(system[i])));
	for (size_t i = 0; i < binds->n; i++)
		TRY(mount_bind(a, root, binds->v[i]));
	if (chroot(str_z(a, root)) < 0 || chdir(dir.n ? str_z(a, dir) : "/") < 0)
		return enter_failed("enter", root);
	const struct proc p = {.argv = *argv};
	return err_wrap(proc_become(&p), "cannot start '%.*s' in the SDK", STR(argv->v[0]));
}
