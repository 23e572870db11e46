/* Reads a project's folder: whose build system builds it, and what its metadata says.
 *
 * Nothing of the project is run, whoever wrote it. In this order:
 *     pyproject.toml with [build-system] or [project], or a setup.py   a Python project (PEP 517)
 *     CMakeLists.txt                                                   a CMake project
 *     anything else                                                    ours to build
 * A [project] table alone, in a folder with .cu files, is ours as well: setuptools, the back end that PEP 517
 * assumes, would not compile them. Name, version and the other metadata come from pyproject.toml, PKG-INFO (in
 * an sdist), setup.cfg or CMake's project(), in this order, as far as they are literal; what is computed is
 * only known to the build.
 */
#pragma once

#include "base/err.h"

enum source_system { SOURCE_OWN, SOURCE_PYTHON, SOURCE_CMAKE };
extern const char *const source_systems[]; /* "own", "python", "cmake"; NULL-terminated */

/* The back end that PEP 517 assumes for a setup.py when no pyproject.toml names one. */
#define SOURCE_SETUPTOOLS "setuptools.build_meta:__legacy__"

/* The packages and modules that setuptools' declarative configuration lists. */
struct source_packages {
	struct str file;            /* the file that lists them: "setup.cfg" */
	struct str dir;             /* the folder that they lie in; "" = the project's */
	struct strs names, exclude; /* patterns of "pkg.inner" */
	struct strs modules;        /* single files, without ".py" */
	bool find, namespaces; /* folders with an __init__.py, or any; else only those of `names` */
	struct str
		stray; /* a folder named unlike its package, or a second one for all packages; or "" */
};

struct source {
	struct str dir; /* absolute */
	enum source_system system;
	struct str file; /* the file that decided the system: "pyproject.toml"; "" for ours */
	struct str name, version; /* "" = not literal */
	struct str summary, license, requires_python;
	struct strs dependencies; /* as PEP 508 has them */
	struct source_packages packages;
	struct str backend;       /* "setuptools.build_meta", "mesonpy" */
	struct strs backend_path; /* folders of the project that the back end is found in */
	struct strs requires;     /* for the build, as PEP 508 has them */
	bool requires_said;       /* the project states them; false: PEP 517's defaults */
	bool pkg_resources; /* setup.py imports a module that setuptools 82 dropped; `requires` has a bound */
};

/* E_SYNTAX, with its place, for a broken pyproject.toml. Whether the folder exists is not checked. */
MUST_USE struct err *source_read(struct arena *a, struct str dir, struct source *ret);
/* The commit of a git checkout, 8 hexadecimal digits or more; "" for any other folder. git is not run. */
MUST_USE struct err *source_commit(struct arena *a, struct str dir, struct str *ret);
