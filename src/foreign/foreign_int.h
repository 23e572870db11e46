/* The parts of a foreign build, each in a file of its own. Private to foreign/. */
#pragma once

#include "base/proc.h"
#include "changes/changes.h"
#include "foreign/foreign.h"

extern const struct str foreign_driver; /* driver.py */

/* ---- environment.c ---- */
/* Fills f->env and f->dropped from our own environment. */
MUST_USE struct err *foreign_environment(struct foreign *f);
/* The value of NAME in f->env, or "". */
struct str foreign_variable(const struct foreign *f, const char *name);
void foreign_set_line(struct foreign *f, struct str line); /* "NAME=value" adds or replaces */
/* A program in the PATH of the build, or "". */
struct str foreign_program(const struct foreign *f, const char *name);

/* ---- patch.c ---- */
/* Fills f->recipes; what the copy depends on by them besides its files. */
MUST_USE struct err *foreign_recipes(struct foreign *f, struct str *ret_identity);
/* The files of the copy that recipes change; what they set goes into f->env. */
MUST_USE struct err *foreign_patch(
	struct foreign *f, const struct view *view, struct change_set *ret);

/* ---- translate.c ---- */
/* Adds what hipify makes of the files, of recipes' texts where there are some. */
MUST_USE struct err *foreign_translate(
	struct foreign *f, const struct view *view, struct change_set *io);

/* ---- step.c ---- */
/* Runs a program in the build's environment as the step of this kind: its output goes to
 * log/KIND.log and to the progress display; a failure is explained by what it said. */
MUST_USE struct err *foreign_run(
	struct foreign *f, const char *kind, struct proc *p, struct proc_result *ret);
struct job_report *foreign_step(struct foreign *f, const char *kind);
bool foreign_is_part(const struct foreign *f); /* it has targets */

/* ---- explain.c ---- */
/* The error of a step that ended with a status other than 0. text: all that it said. */
MUST_USE struct err *foreign_explain(const struct foreign *f, const char *kind,
	const struct proc *p, const struct proc_result *r, struct str text);
/* A configuration that switched ROCm off although it ended well: E_FOREIGN; else NULL. */
MUST_USE struct err *foreign_check_rocm(const struct foreign *f, struct str text);

/* ---- venv.c ---- */
/* Of what a requirement asks for: "My.Pkg[x] >=1" -> "my-pkg". */
struct str foreign_package_name(struct arena *a, struct str requirement);
/* The Python environment with the plan's requirements. */
MUST_USE struct err *foreign_venv(struct foreign *f);
/* Fills f->packages: what was installed there. */
MUST_USE struct err *foreign_packages(struct foreign *f);
/* Installs more into it. */
MUST_USE struct err *foreign_install(struct foreign *f, const struct strs *requirements);

/* ---- drive.c ---- */
/* Runs driver.py there; ret: what it answered. */
MUST_USE struct err *foreign_drive(
	struct foreign *f, const char *kind, const struct strs *words, const struct node **ret);

/* ---- python.c, cmake.c ---- */
MUST_USE struct err *foreign_python(struct foreign *f);
MUST_USE struct err *foreign_cmake(struct foreign *f);
/* CMake's build step, in dir. */
MUST_USE struct err *foreign_cmake_build(struct foreign *f, struct str dir);
/* A configuration that ended well, in dir, must not have switched ROCm off. */
MUST_USE struct err *foreign_check_cmake(struct foreign *f, struct str dir, struct str said);

/* ---- torch.c ---- */
/* Looks at the torch of the environment: one for ROCm, or (torch_as_rocm) made to look like one. */
MUST_USE struct err *foreign_torch(struct foreign *f);
