/* The C library, C++ headers and Python that the host side of a build can use on this computer.
 *
 * The C library and gcc are found by reading files, since a compiler driver would have to be run and may be missing.
 * clang needs an explicit gcc folder: by default it takes the newest one, even if that has no C++ headers. Python
 * itself is run in isolated mode (sysconfig), as only it can report the extension suffix and the header folder of a
 * virtual environment or of pyenv.
 */
#include <sys/utsname.h>

#include "base/proc.h"
#include "machine/facts.h"

enum { HEADER_LIMIT = 1 << 20, PYTHON_TIMEOUT = 30 };

static struct str rooted(struct arena *a, struct str root, const char *path)
{
	return root.n ? path_join(a, root, str_from(path + 1)) : str_from(path);
}

static bool have(struct arena *tmp, struct str dir, const char *name)
{
	return fs_exists(path_join(tmp, dir, str_from(name)));
}

/* Finds the newest version in /usr/lib/gcc/TRIPLET that has C++ headers and start files. Triplets of other
 * architectures belong to cross compilers. */
static void find_gcc(struct arena *a, struct str root, struct str arch, struct host *h)
{
	struct str top = rooted(a, root, "/usr/lib/gcc");
	struct str headers = rooted(a, root, "/usr/include/c++");
	struct str prefix = str_fmt(a, "%.*s-", STR(arch));
	struct strs triplets = {0}, names;
	uint64_t best[3] = {0}, v[3];
	err_free(fs_list(a, top, &triplets));
	VEC_EACH (const struct str, triplet, &triplets) {
		struct str dir = path_join(a, top, *triplet);
		names = (struct strs){0};
		if (str_starts(*triplet, prefix))
			err_free(fs_list(a, dir, &names));
		VEC_EACH (const struct str, name, &names) {
			struct str gcc = path_join(a, dir, *name);
			size_t same = 0, n = str_numbers(*name, v, 3);
			while (same < 2 && v[same] == best[same])
				same++;
			if (!n || !is_version(*name) || v[same] <= best[same] ||
				!have(a, path_join(a, headers, *name), "vector") ||
				!have(a, gcc, "crtbegin.o"))
				continue;
			memcpy(best, v, sizeof(best));
			h->gcc_dir = gcc;
			h->triplet = *triplet;
		}
	}
}

/* Requires the C library's start files as well as its headers: every distribution ships them together, and nothing links
 * without. */
struct err *host_read_files(struct arena *a, struct str root, struct str arch, struct host *ret)
{
	struct str dir = rooted(a, root, "/usr/include"), lib = rooted(a, root, "/usr/lib"), text;
	uint64_t major, minor;
	ret->triplet = str_fmt(a, "%.*s-linux-gnu", STR(arch));
	find_gcc(a, root, arch, ret);
	if (!have(a, path_join(a, lib, ret->triplet), "crti.o") && !have(a, lib, "crti.o") &&
		!have(a, rooted(a, root, "/usr/lib64"), "crti.o"))
		return NULL;
	struct str path = have(a, dir, "features.h") ? dir : path_join(a, dir, ret->triplet);
	TRY(fs_read_opt(a, path_join(a, path, S("features.h")), HEADER_LIMIT, &text));
	/* only glibc defines its version in features.h */
	if (!str_u64(define_value(text, S("__GLIBC__")), 10, &major) ||
		!str_u64(define_value(text, S("__GLIBC_MINOR__")), 10, &minor))
		return NULL;
	ret->libc = str_fmt(a, "%u.%u", (unsigned)major, (unsigned)minor);
	ret->include_dir = dir;
	return NULL;
}

/* Prints one value on each line, for host_parse_python(). */
static const char PROBE[] =
	"import os, sys, sysconfig as s\n"
	"v = s.get_config_var\n"
	"for x in (sys.implementation.name, '%d.%d' % sys.version_info[:2],\n"
	"        getattr(sys, 'abiflags', ''), v('SOABI'), v('EXT_SUFFIX'), sys.executable,\n"
	"        s.get_path('include'), v('INCLUDEPY'), os.pathsep.join(sys.path)):\n"
	"    print(x or '')\n";

struct err *host_parse_python(struct arena *a, struct str text, struct host *h)
{
	enum { IMPL, VERSION, FLAGS, SOABI, SUFFIX, EXE, INCLUDE, INCLUDEPY, SITE, LINES };
	struct str v[LINES] = {0}, digits, minor;
	for (unsigned i = 0; i < LINES; i++)
		if (!str_next(&text, '\n', &v[i]) && i != SITE)
			return err_new(E_TOOL_FAILED, "the answer of Python is not understood");
	uint64_t n;
	if (!str_cut(v[VERSION], '.', &digits, &minor) || !str_eq(digits, S("3")) ||
		!str_u64(minor, 10, &n))
		return err_hint(
			err_new(E_USAGE, "Python %.*s cannot be built for", STR(v[VERSION])),
			"name a Python 3 with --python");
	h->python = v[EXE];
	h->python_version = v[VERSION];
	h->ext_suffix = v[SUFFIX];
	h->python_path = v[SITE];
	if (str_eq(v[IMPL], S("pypy"))) {
		char *abi = str_z(a, v[SOABI]);
		for (char *p = abi; *p; p++)
			*p = *p == '-' ? '_' : *p;
		h->python_tag = str_fmt(a, "pp3%.*s", STR(minor));
		h->python_abi = str_from(abi);
	} else {
		h->python_tag = str_fmt(a, "cp3%.*s", STR(minor));
		h->python_abi = str_fmt(a, "cp3%.*s%.*s", STR(minor), STR(v[FLAGS]));
	}
	if (have(a, v[INCLUDE], "Python.h"))
		h->python_include = v[INCLUDE];
	else if (have(a, v[INCLUDEPY], "Python.h"))
		h->python_include = v[INCLUDEPY];
	return NULL;
}

static struct err *ask_python(struct arena *a, struct str python, struct host *h)
{
	struct proc p = {.timeout = PYTHON_TIMEOUT};
	struct proc_result r;
	proc_arg(a, &p, str_z(a, python), "-I", "-c", PROBE, NULL);
	TRY(proc_check(a, &p, &r));
	return host_parse_python(a, r.out, h);
}

struct err *host_look(struct arena *a, struct host *ret)
{
	struct utsname uts;
	*ret = (struct host){0};
	if (uname(&uts) < 0)
		return err_errno("cannot ask the kernel for its name");
	return host_read_files(a, S(""), str_dup(a, str_from(uts.machine)), ret);
}

struct err *host_read(struct arena *a, struct str python, struct host *ret)
{
	TRY(host_look(a, ret));
	if (python.n) { /* "3.12" stands for python3.12, a folder for an environment */
		struct str inside = path_join(a, python, S("bin/python3"));
		bool number = python.p[0] >= '0' && python.p[0] <= '9';
		struct str program = number              ? str_fmt(a, "python%.*s", STR(python))
				     : fs_exists(inside) ? inside
							 : python;
		TRY_CTX(ask_python(a, program, ret), "cannot use the Python '%.*s'", STR(python));
		return NULL;
	}
	/* This Python was not requested, so one that does not work counts as none. */
	if (proc_find(a, S("python3")).n)
		err_free(ask_python(a, S("python3"), ret));
	return NULL;
}
