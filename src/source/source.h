/* What a project's folder is: whose build system it has, and what it says about itself.
 *
 * Found by looking only: nothing of the project is run, whoever wrote it. In this order:
 *     pyproject.toml with [build-system] or [project], or a setup.py   a Python project (PEP 517)
 *     CMakeLists.txt                                                   a CMake project
 *     anything else                                                    nobody's: ours to build
 * A [project] alone, where .cu files are, is ours as well: setuptools, which PEP 517 has stand in,
 * compiles none. Name, version and the other metadata are those of pyproject.toml, PKG-INFO (of an
 * sdist), setup.cfg or CMake's project(), in this order, as far as they are written out; what is
 * computed only the build tells.
 *
 * Later rooms beside this one: Debian source packages, sdists and git checkouts, which end in a
 * folder.
 */
#pragma once

#include "base/err.h"

enum source_system { SOURCE_OWN, SOURCE_PYTHON, SOURCE_CMAKE };
extern const char *const source_systems[]; /* "own", "python", "cmake"; NULL-terminated */

/* The back end of a setup.py without a pyproject.toml that names one: PEP 517 says so. */
#define SOURCE_SETUPTOOLS "setuptools.build_meta:__legacy__"

/* Which Python files become packages, as setuptools' declarative configuration says it. */
struct source_packages {
	struct str file;            /* that says it: "setup.cfg" */
	struct str dir;             /* folder that they lie in; "" = the project's */
	struct strs names, exclude; /* patterns of "pkg.inner" */
	struct strs modules;        /* single files, without ".py" */
	bool find, namespaces; /* folders with an __init__.py, or any; else only those of `names` */
	struct str stray; /* folder with another name than its package, or of two for all; or "" */
};

struct source {
	struct str dir; /* absolute */
	enum source_system system;
	struct str file;          /* that tells the system: "pyproject.toml"; "" for ours */
	struct str name, version; /* "" = not written out */
	struct str summary, license, requires_python;
	struct strs dependencies; /* as PEP 508 has them */
	struct source_packages packages;
	struct str backend;       /* "setuptools.build_meta", "mesonpy" */
	struct strs backend_path; /* folders of the project that the back end is found in */
	struct strs requires;     /* for the build, as PEP 508 has them */
	bool requires_said;       /* the project says them; false: what stands in for them */
	bool pkg_resources; /* setup.py imports what left setuptools with 82: `requires` is for it */
};

/* E_SYNTAX, located, for a pyproject.toml that is none. A folder that is not there is not noticed
 * here. */
MUST_USE struct err *source_read(struct arena *a, struct str dir, struct source *ret);
/* The commit of a git checkout, 8 hexadecimal digits or more; "" for any other folder. git is not run. */
MUST_USE struct err *source_commit(struct arena *a, struct str dir, struct str *ret);
