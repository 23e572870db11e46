/* Runs a program of this machine on the SDK's loader and libraries. ld.so takes --library-path and --argv0, so
 * that a python finds its own prefix although the SDK's libc runs it. The SDK's loader is needed if its
 * libraries require a newer libc than the machine has. If the machine's libc is newer, we use the machine's loader,
 * which then searches the SDK's libraries after its own. */
#include <elf.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "sdk/provider.h"

enum { MAX_LINKS = 40, MAX_LINE = 256 };

static const char *const loaders[] = {
	"/usr/lib64/ld-linux-x86-64.so.2",
	"/lib64/ld-linux-x86-64.so.2",
};

static struct str loader_below(struct arena *a, struct str root)
{
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		struct str path = str_fmt(a, "%.*s%s", STR(root), loaders[i]);
		if (fs_exists(path))
			return path;
	}
	return S("");
}

/* Puts the interpreter of a script and its argument ("#!/venv/bin/python -s") in front of argv. */
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
		/* the launcher is a shell script (pyenv): run it to find the python that it starts */
		struct proc p = {0};
		struct proc_result r;
		proc_arg(a, &p, str_z(a, argv->v[0]), "-c", "import sys; print(sys.executable)",
			NULL);
		TRY(proc_check(a, &p, &r));
		argv->v[0] = str_trim(r.out);
		return NULL;
	}
	if (shell || !interpreter.n)
		return err_new(E_USAGE, "'%.*s' is a script: name the program that it starts",
			STR(argv->v[0]));
	strs_add(a, &out, str_dup(a, interpreter));
	if (rest.n)
		strs_add(a, &out, str_dup(a, rest));
	strs_add_all(a, &out, argv);
	*argv = out;
	return NULL;
}

/* Makes argv[0] the absolute path of an ELF program; a link keeps its own name. */
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

/* Maps a glibc version ("2.43") to a number that sorts like it. */
static uint64_t libc_number(struct str version)
{
	uint64_t v[2];
	return str_numbers(version, v, 2) == 2 ? v[0] * 10000 + v[1] : 0;
}

void sdk_library_dirs(struct arena *a, const struct sdk *sdk, struct strs *io)
{
	for (size_t i = 0; i < sdk->lib_dirs.n; i++)
		strs_add(a, io, sdk_outside(a, sdk, sdk->lib_dirs.v[i]));
	if (sdk->root.n)
		strs_add(a, io, sdk_outside(a, sdk, S("/usr/lib/x86_64-linux-gnu")));
}

struct err *sdk_wrap_host(struct arena *a, const struct sdk *sdk, struct proc *p)
{
	struct strs argv = {0}, libs = {0};
	struct str loader = loader_below(a, sdk->root), real;
	if (!p->argv.n)
		return err_new(E_USAGE, "there is no program to run");
	strs_add_all(a, &argv, &p->argv);
	TRY(find_program(a, &argv));
	if (!loader.n)
		return err_new(E_SDK, "the SDK '%.*s' has no loader (ld-linux-x86-64.so.2)",
			STR(sdk->name));
	bool tree_first = false;
	if (sdk->root.n) {
		struct proc ask = {0};
		struct proc_result r;
		proc_arg(a, &ask, str_z(a, loader), "--version", NULL);
		TRY(proc_check(a, &ask, &r));
		/* "ld.so (Debian GLIBC 2.43-7) stable release version 2.43." */
		tree_first = libc_number(version_after(r.out, S("version "))) >
			     libc_number(str_from(gnu_get_libc_version()));
	}
	if (!tree_first)
		loader = loader_below(a, S(""));
	/* The tree's loader finds this machine's libraries by itself (ld.so.cache), after RUNPATHs. Naming them would
	 * search them before a RUNPATH, and hide its libraries (a pyenv's libpython). */
	struct str env = str_from(getenv("LD_LIBRARY_PATH"));
	if (env.n)
		strs_add(a, &libs, env);
	const char *const *lib = layout_names_table()->host_libs;
	for (; !tree_first && sdk->root.n && *lib; lib++)
		if (fs_is_dir(str_from(*lib)))
			strs_add(a, &libs, str_from(*lib));
	sdk_library_dirs(a, sdk, &libs);
	p->argv = (struct strs){0};
	proc_arg(a, p, str_z(a, loader), "--argv0", str_z(a, argv.v[0]), "--library-path",
		str_z(a, str_join(a, &libs, S(":"))), NULL);
	if (fs_real(a, argv.v[0], &real))
		argv.v[0] = real;
	strs_add_all(a, &p->argv, &argv);
	return NULL;
}
