/* The parts of ROCm (components, packages, headers, sonames, link names) and the meaning of messages of other programs:
 * data/rocm.yaml and data/messages.yaml, compiled in.
 *
 * A component is a word of --components: a library ("hiprand") or a set of others ("math"). Everything here is
 * constant, and looked up in tables of a few dozen rows. Lists end in NULL and may be NULL.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct know_library { /* data/rocm.yaml explains each column */
	const char *name, *about;
	const char *const *parts, *const *packages, *const *headers, *const *sonames, *const *cuda;
	const char *link;
	bool alone;
};
TABLE(know_library);

/* A library of CUDA, and HIP's for it. */
struct know_cuda {
	struct str name, version, hip; /* "curand", "10" (of its soname), "hiprand" */
	const struct know_library *of; /* the component that has HIP's */
};
struct know_cudas VEC_OF(struct know_cuda);
void know_cuda_libraries(struct arena *a, struct know_cudas *ret);

/* The names of all components. */
struct strs know_component_names(struct arena *a);
/* The row of a component, or NULL. */
const struct know_library *know_component(struct str name);
/* The component of a header, given its path in an #include; NULL if it is not one of ROCm's. */
const struct know_library *know_header(struct str path);
/* The library with this name after -l; NULL if it is not one that our builds link. */
const struct know_library *know_link(struct str name);
/* Components that provide these headers ("hiprand/hiprand.h" -> "hiprand"), sorted. */
struct strs know_headers(struct arena *a, const struct strs *paths);
/* The packages of a component, in the form that know_package_name() takes. *ret_alone: install them without their
 * dependencies (as for "headers"). Fails with E_USAGE and a did-you-mean hint for an unknown component. */
MUST_USE struct err *know_packages(
	struct arena *a, struct str component, struct strs *ret, bool *ret_alone);
/* The name of such a package in the archive: "libomp-@clang@-dev" becomes libomp-22-dev with clang "22", and libomp-dev
 * with clang "". */
struct str know_package_name(struct arena *a, struct str name, struct str clang);

struct know_family {
	const char *const *packages, *const *sources, *const *cmake;
};
const struct know_family *know_family_table(void); /* one row */

struct know_wheels {
	const char *requires;
};
const struct know_wheels *know_wheels_table(void); /* one row */

struct know_compiler {
	const char *const *sonames;
};
const struct know_compiler *know_compiler_table(void); /* one row */

/* Is this DT_NEEDED name that of a library of GCC's, which a distribution has beside its C++ library? */
bool know_compilers_library(struct str soname);
/* Is this binary package one of ROCm's, whose headers and libraries belong in /opt/rocm? */
bool know_rocm_package(struct str name);
/* Is this folder of lib/cmake one of ROCm's? */
bool know_rocm_cmake(struct str name);

enum know_origin { KNOW_ROCM, KNOW_PACKAGE, KNOW_CUDA, KNOW_ONEAPI };

struct know_other { /* the project that provides a library */
	const char *soname, *who, *project;
	enum know_origin origin;
};
TABLE(know_other);

/* The component that has the library with this DT_NEEDED name; NULL if it is not one of ROCm's. Its name is "" if no
 * component of ours brings the library. */
const struct know_library *know_provider(struct str soname);
/* The project that provides the library with this DT_NEEDED name ("libhiprand.so.1"); NULL if unknown. */
const struct know_other *know_soname(struct str name);

/* ---- messages of compilers, apt and build tools ---- */

struct know_rule { /* data/messages.yaml explains each column */
	const char *tool, *text, *about, *hint;
	enum errcode code;
};
TABLE(know_rule);

/* The tool's first rule, in the order of the data, that matches a line of the text; or NULL. *ret_part: the match of
 * the group in its expression, "" without one. */
const struct know_rule *know_match(const char *tool, struct str text, struct str *ret_part);
/* The rule's hint, with '*' replaced by that part. */
struct str know_hint(struct arena *a, const struct know_rule *rule, struct str part);
