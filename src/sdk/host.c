/* A program of this machine on the SDK's loader and libraries: ld.so takes --library-path and
 * --argv0, so that a python finds its own prefix although the SDK's libc runs it. Needed where the
 * SDK's libraries ask for a newer libc than the machine has; where the machine's is the newer one,
 * its own loader runs with the SDK's libraries behind the machine's. */
#include <elf.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "sdk/provider.h"

enum { MAX_LINKS = 40, MAX_LINE = 256 };

/* Where libraries of this machine are, beyond what RPATHs name. */
static const char *const host_libs[] = {
	"/usr/local/lib/x86_64-linux-gnu",
	"/usr/local/lib",
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
};
enum { HOST_LIBS = sizeof(host_libs) / sizeof(host_libs[0]) };
static const char *const loaders[] = {
	"/usr/lib64/ld-linux-x86-64.so.2",
	"/lib64/ld-linux-x86-64.so.2",
};
static const char lib_inside[] = "/usr/lib/x86_64-linux-gnu";

static struct str loader_below(struct arena *a, struct str root)
{
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		struct str path = str_fmt(a, "%.*s%s", STR(root), loaders[i]);
		if (fs_exists(path))
			return path;
	}
	return S("");
}

/* The libc that the tree's loader belongs to: "ld.so (Debian GLIBC 2.43-7) stable release ...". */
static struct err *tree_libc(struct arena *a, struct str loader, struct str *ret)
{
	struct proc p = {0};
	struct proc_result r;
	strs_add(a, &p.argv, loader);
	proc_arg(a, &p, "--version", NULL);
	TRY(proc_check(a, &p, &r));
	size_t at = str_find(r.out, S("version ")); /* "... release version 2.43." */
	struct str rest = str_sub(r.out, at + 8, r.out.n);
	size_t n = 0;
	while (n < rest.n && ((rest.p[n] >= '0' && rest.p[n] <= '9') || rest.p[n] == '.'))
		n++;
	*ret = str_sub(rest, 0, n && rest.p[n - 1] == '.' ? n - 1 : n);
	return NULL;
}

/* A launcher that is a shell script (pyenv) is asked which python it starts. */
static struct err *ask_python(struct arena *a, struct str script, struct str *ret)
{
	struct proc p = {0};
	struct proc_result r;
	strs_add(a, &p.argv, script);
	proc_arg(a, &p, "-c", "import sys; print(sys.executable)", NULL);
	TRY(proc_check(a, &p, &r));
	*ret = str_trim(r.out);
	return NULL;
}

/* "#!/venv/bin/python -s" -> interpreter and argument in front of argv. */
static struct err *through_script(struct arena *a, struct str head, struct strs *argv)
{
	struct str line = str_trim(str_sub(head, 2, str_chr(head, '\n'))), interpreter, rest;
	struct strs out = {0};
	str_cut(line, ' ', &interpreter, &rest);
	rest = str_trim(rest);
	if (str_eq(path_base(interpreter), S("env"))) {
		interpreter = proc_find(a, rest);
		rest = S("");
	}
	bool shell = str_ends(interpreter, S("sh"));
	if (shell && str_starts(path_base(argv->v[0]), S("python"))) {
		TRY(ask_python(a, argv->v[0], &argv->v[0]));
		return NULL;
	}
	if (shell || !interpreter.n)
		return err_new(E_USAGE, "'%.*s' is a script: name the program that it starts",
			STR(argv->v[0]));
	strs_add(a, &out, str_dup(a, interpreter));
	if (rest.n)
		strs_add(a, &out, str_dup(a, rest));
	for (size_t i = 0; i < argv->n; i++)
		strs_add(a, &out, argv->v[i]);
	*argv = out;
	return NULL;
}

/* argv[0] becomes an ELF program with a slash in its name (a link keeps its own name). */
static struct err *find_program(struct arena *a, struct strs *argv)
{
	for (unsigned i = 0; i < MAX_LINKS; i++) {
		struct str path = proc_find(a, argv->v[0]), head;
		if (!path.n || !fs_exists(path))
			return err_new(
				E_TOOL_MISSING, "there is no program '%.*s'", STR(argv->v[0]));
		argv->v[0] = path_abs(a, path);
		TRY(fs_read_head(a, path, MAX_LINE, &head));
		if (head.n >= SELFMAG && memcmp(head.p, ELFMAG, SELFMAG) == 0)
			return NULL;
		if (!str_starts(head, S("#!")))
			break;
		TRY(through_script(a, head, argv));
	}
	return err_new(E_USAGE, "'%.*s' is neither an ELF program nor a script", STR(argv->v[0]));
}

/* The tree's loader finds this machine's libraries by itself (ld.so.cache), behind RUNPATHs; they
 * must not be named here, else they would hide what a RUNPATH names (a pyenv's libpython). */
static struct str library_path(struct arena *a, const struct sdk *sdk, bool tree_first)
{
	struct strs list = {0};
	for (size_t i = 0; !tree_first && sdk->root.n && i < HOST_LIBS; i++)
		if (fs_is_dir(str_from(host_libs[i])))
			strs_add(a, &list, str_from(host_libs[i]));
	for (size_t i = 0; i < sdk->lib_dirs.n; i++)
		strs_add(a, &list, str_fmt(a, "%.*s%.*s", STR(sdk->root), STR(sdk->lib_dirs.v[i])));
	if (sdk->root.n)
		strs_add(a, &list, str_fmt(a, "%.*s%s", STR(sdk->root), lib_inside));
	struct str path = str_join(a, &list, S(":")), env = str_from(getenv("LD_LIBRARY_PATH"));
	return env.n ? str_fmt(a, "%.*s:%.*s", STR(env), STR(path)) : path;
}

/* glibc's versions are "2.43": two numbers. */
static uint64_t libc_number(struct str version)
{
	struct str major, minor;
	uint64_t x = 0, y = 0;
	str_cut(version, '.', &major, &minor);
	if (!str_u64(major, 10, &x) || !str_u64(str_sub(minor, 0, str_chr(minor, '.')), 10, &y))
		return 0;
	return x * 10000 + y;
}

struct err *sdk_wrap_host(struct arena *a, const struct sdk *sdk, struct proc *p)
{
	if (!p->argv.n)
		return err_new(E_USAGE, "there is no program to run");
	struct strs argv = {0};
	for (size_t i = 0; i < p->argv.n; i++)
		strs_add(a, &argv, p->argv.v[i]);
	TRY(find_program(a, &argv));
	struct str loader = loader_below(a, sdk->root), libc;
	bool tree_first = false;
	if (!loader.n)
		return err_new(E_SDK, "the SDK '%.*s' has no loader (ld-linux-x86-64.so.2)",
			STR(sdk->name));
	if (sdk->root.n) {
		TRY(tree_libc(a, loader, &libc));
		tree_first = libc_number(libc) > libc_number(str_from(gnu_get_libc_version()));
	}
	if (!tree_first)
		loader = loader_below(a, S(""));
	p->argv = (struct strs){0};
	strs_add(a, &p->argv, loader);
	proc_arg(a, p, "--argv0", argv.v[0].p, "--library-path", NULL);
	strs_add(a, &p->argv, library_path(a, sdk, tree_first));
	struct str real;
	strs_add(a, &p->argv, fs_real(a, argv.v[0], &real) ? real : argv.v[0]);
	for (size_t i = 1; i < argv.n; i++)
		strs_add(a, &p->argv, argv.v[i]);
	return NULL;
}
