/* Reads a project's folder: the build system that builds it, and its metadata.
 *
 * No code of the project is run. The build system is, in this order:
 *     pyproject.toml with [build-system] or [project], or a setup.py   a Python project (PEP 517)
 *     CMakeLists.txt                                                   a CMake project
 *     anything else                                                    built by rocsmith
 * A project with just a [project] table and .cu files is built by rocsmith as well: setuptools, the back end that PEP
 * 517 assumes, would not compile them. Name, version and the other metadata come from pyproject.toml, PKG-INFO (in an
 * sdist), setup.cfg or CMake's project(), in this order, as far as they are literal; computed values are known only to
 * the build.
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
	struct strs data;           /* package-data, as patterns of paths: "pkg/inner/x*.h" */
	/* find: all folders with an __init__.py; namespaces: any folder; else only `names` */
	bool find, namespaces;
	/* A folder whose name differs from its package, or a second folder for all packages; or "" */
	struct str stray;
};

struct source {
	struct str dir; /* absolute */
	enum source_system system;
	/* The file that determined the system: "pyproject.toml"; "" for SOURCE_OWN */
	struct str file;
	struct str name, version; /* "" = not literal */
	struct str summary, license, requires_python;
	struct strs dependencies; /* in PEP 508 form */
	struct source_packages packages;
	struct str backend;       /* "setuptools.build_meta", "mesonpy" */
	struct strs backend_path; /* folders of the project that contain the back end */
	struct strs requires;     /* requirements of the build, in PEP 508 form */
	bool requires_said;       /* the project states `requires`; false = PEP 517's defaults */
	/* The back end is to find the version, and the project does not say where: a source distribution has it in PKG-INFO
	 * alone, which scikit-build-core does not read. */
	bool lacks_version;
	bool pkg_resources; /* setup.py imports a module that setuptools 82 dropped; `requires` has a bound */
};

/* E_SYNTAX, with a location, for a broken pyproject.toml. Does not check that the folder exists. */
MUST_USE struct err *source_read(struct arena *a, struct str dir, struct source *ret);
/* The commit of a git checkout, 8 hexadecimal digits or more; "" for any other folder. git is not run. */
MUST_USE struct err *source_commit(struct arena *a, struct str dir, struct str *ret);
/* Adds the paths inside that a text of .gitmodules (gitmodules(5)) gives to submodules. */
void source_submodule_paths(struct arena *a, struct str text, struct strs *ret);
/* E_PROJECT, with git's command, if dir is a git checkout and a folder of its .gitmodules is missing or empty: a build of it
 * would go without some features, or fail late. git is not run. */
MUST_USE struct err *source_submodules(struct arena *a, struct str dir);
