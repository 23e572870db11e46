/* Private to foreign/: the parts of a foreign build, each in a file of its own. */
#pragma once

#include "base/proc.h"
#include "cc/cc.h"
#include "changes/changes.h"
#include "foreign/foreign.h"
#include "recipe/queue.h"
#include "recipe/recipe.h"

extern const struct str foreign_driver; /* the text of driver.py */

struct foreign_recipes {
	struct recipes all;
	struct recipe_request request;
	struct queue queue; /* without patches if there is no queue */
};

/* ---- key.c ---- */
/* Fills f->inputs and f->key, once f->env and f->recipes are filled. */
MUST_USE struct err *foreign_key(struct foreign *f);
/* Names the inputs that differ from those of the last build; "" if they are not known. */
MUST_USE struct err *foreign_changed(struct foreign *f, struct str *ret);

/* ---- environment.c ---- */
struct build_variables { /* data/build_variables.yaml explains each list */
	const char *const *quiet, *const *session, *const *other, *const *other_folder;
	const char *const *harmless, *const *tools, *const *programs, *const *no_script;
	const char *const *gpus, *const *forces;
};
const struct build_variables *build_variables_table(void); /* one row */
/* The folders of programs behind those of the build; the user's come after them. */
#define FOREIGN_PATH "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
/* Fills f->env, f->dropped and f->withheld from our own environment. */
MUST_USE struct err *foreign_environment(struct foreign *f);
/* The value of NAME in f->env, or "". */
struct str foreign_variable(const struct foreign *f, const char *name);
void foreign_set_line(struct foreign *f,
	struct str line); /* "NAME=value" adds or replaces; CMAKE_ARGS get longer */
/* Words for each run of CMake. */
struct strs foreign_cmake_words(const struct foreign *f);
/* A program in the PATH of the build, or "". */
struct str foreign_program(const struct foreign *f, const char *name);

/* ---- secret.c ---- */
struct build_secrets { /* likewise */
	const char *const *names, *const *parts, *const *within, *const *ends;
	const char *const *good_names, *const *good_parts, *const *tokens, *const *marks;
};
const struct build_secrets *build_secrets_table(void); /* one row */
/* May the variable be a secret, by its name or its value? The project's code may write any variable that it sees to a
 * log, or send it away. */
bool foreign_is_secret(struct str name, struct str value);

/* ---- step.c ---- */
/* Runs a program in the build's environment, as part of the step `kind`. Its output goes to log/KIND.log and to the
 * progress display; if the program fails, the error is read from that output. */
MUST_USE struct err *foreign_run(
	struct foreign *f, const char *kind, struct proc *p, struct proc_result *ret);
/* Runs driver.py in the build's Python environment, for work that only Python can do. words: its command and arguments.
 * ret: its JSON answer. */
MUST_USE struct err *foreign_drive(
	struct foreign *f, const char *kind, const struct strs *words, const struct node **ret);
/* Adds the argument NAME=VALUE, of driver.py or another program. */
void foreign_word(struct foreign *f, struct strs *words, const char *name, struct str value);
/* Adds a finding for each device pass of this build that came out otherwise with a shared front end. */
MUST_USE struct err *foreign_differences(struct foreign *f);
struct job_report *foreign_step(struct foreign *f, const char *kind);
bool foreign_is_part(const struct foreign *f); /* are only some targets built? */

/* ---- explain.c ---- */
/* The error of a step that exited with a nonzero status. text: its whole output. */
MUST_USE struct err *foreign_explain(const struct foreign *f, const char *kind,
	const struct proc *p, const struct proc_result *r, struct str text);
/* The user's file for a path in the copy, also for one that torch's hipify made there; "" = none. */
struct str foreign_project_file(const struct foreign *f, struct str cwd, struct str path);
/* Fails with E_FOREIGN if the output of a successful configuration shows that ROCm is switched off. */
MUST_USE struct err *foreign_check_rocm(const struct foreign *f, struct str text);

/* ---- venv.c ---- */
/* Makes the Python environment, and installs the plan's requirements into it. */
MUST_USE struct err *foreign_venv(struct foreign *f);
/* Fills f->packages with the packages installed there, and writes requirements.txt. */
MUST_USE struct err *foreign_packages(struct foreign *f);
/* Installs further packages into it. */
MUST_USE struct err *foreign_install(struct foreign *f, const struct strs *requirements);

/* ---- python.c, cmake.c ---- */
MUST_USE struct err *foreign_python(struct foreign *f);
MUST_USE struct err *foreign_cmake(struct foreign *f);
/* Have the project's CMake files no install()? Then what they make stays out of the result. verdict.c */
bool foreign_installs_nothing(const struct foreign *f);
/* Runs CMake's build step in dir. */
MUST_USE struct err *foreign_cmake_build(struct foreign *f, struct str dir);
/* Checks that a successful configuration in dir did not switch ROCm off. said: the output of CMake. */
MUST_USE struct err *foreign_check_cmake(struct foreign *f, struct str dir, struct str said);

/* ---- torch.c ---- */
/* Checks that the environment's torch is built for ROCm, or (torch_as_rocm) makes it look like that. */
MUST_USE struct err *foreign_torch(struct foreign *f);
