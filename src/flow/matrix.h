/* A matrix: one plan for each combination of values, such as versions, sets of GPUs and Pythons, and what becomes of them.
 *
 *     matrix.yaml ──> matrix_read ──> cells ──> matrix_plan ──> a plan.json for each ──> here, Slurm, or a CI's file
 *
 * Every cell is done by rocsmith itself as a child, so that one that fails or runs out of memory harms no other: `plan`
 * makes its plan.json, `sdk install` what that needs, `build PLAN.json` (or `build torch,...` for a set, project by project)
 * the wheels, and `verify` judges them together. Each of these steps leaves its result in the folder of the matrix, written
 * last, and a step with a result that succeeded is not done again; so nothing else is needed to go on after a kill or a lost
 * node, and several machines may work in one folder:
 *
 *     matrix.json                   a hash by this user's key: the folder is ours, and this file's
 *     cells/NAME/plan/plan.json     what `plan --json` said
 *     cells/NAME/STEP/result.json   struct matrix_result; log: what the step printed; build: its build folder
 *     cells/NAME/wheels/
 *
 * The file may be a stranger's. Reading it and `plan` run no program that it names, names of cells are plain, and every value
 * reaches other programs as one argument. Format: doc/man/rocsmith-matrix.1.scd. Limits: 4,096 cells, 64 excludes, 16 axes.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "formats/json_fields.h"

/* An option of `rocsmith plan` that may be an axis; a table of them ends with an empty row. */
enum matrix_kind { MATRIX_TEXT, MATRIX_LIST, MATRIX_FLAG };
struct matrix_option {
	const char *name;
	enum matrix_kind kind;
};

struct matrix_result {
	struct str key; /* hash of the cell's words: the result of other words counts for nothing */
	uint64_t status;        /* exit status of rocsmith */
	struct str host, error; /* error: its first message, or "" */
	uint64_t started;       /* seconds since 1970 */
	double seconds, cpu;    /* these and memory: the most that it ever took */
	uint64_t memory;        /* bytes: the largest process */
	uint64_t disk;          /* bytes of the build folder */
	struct str wheel;       /* name of what a build made */
	uint64_t size;          /* its bytes */
	struct str explained;   /* "ID: what to do", if `rocsmith explain` knows the failure */
};

enum matrix_state { MATRIX_MISSING, MATRIX_DONE, MATRIX_FAILED };

struct matrix_step {
	struct str name;   /* "plan", "sdk", "build" or a project of a set, "verify" */
	struct strs after; /* steps of the cell that it needs */
	enum matrix_state state;
	struct matrix_result result;
};

struct matrix_cost { /* by the cell's own results, those of others, or its project's description */
	double cpu, seconds;
	uint64_t memory, disk;
	struct str by; /* "" = nothing is known */
};

struct matrix_cell {
	struct str name, project;  /* name: also that of its folder; project: DIR of `plan` */
	struct strs values, words; /* "gpu=gfx1100"; options of `plan` */
	VEC(struct matrix_step) steps;
	struct strs sdk; /* words of `sdk install` without the next two; none = it installs none */
	struct strs components, gpus; /* an owner has those of all cells with its SDK */
	struct strs targets;          /* the GPUs of its plan */
	size_t sdk_owner;             /* index of the cell that installs it */
	struct matrix_cost cost;
	enum matrix_state state;
	struct str error, explained; /* the first failed step's */
	uint64_t size;               /* bytes of all wheels */
};

struct matrix_exclude {
	struct strs where; /* "gpu=gfx90*" */
	struct str reason, until;
	bool expired;
	unsigned line;
	uint64_t cells; /* the number that it matches */
};

struct matrix_left_out {
	struct str name, reason, until;
};

struct matrix {
	struct str typed, file, dir, name; /* file: absolute; dir: its folder */
	struct str state;                  /* folder of the results, absolute */
	struct str plans;                  /* folder of plans that are not kept, or "" */
	bool trust;                        /* see struct matrix_source */
	VEC(struct matrix_cell) cells;
	VEC(struct matrix_left_out) excluded;
	VEC(struct matrix_exclude) excludes;
	struct strs axes;
	struct strs request; /* "partition=fast": what the file asks of a batch system */
	struct str mark; /* hash of folder and cells: jobs with another one are of another matrix */
	uint64_t done, failed, missing;
	struct matrix_cost cost; /* sums */
	uint64_t unknown;        /* cells without a cost */
};

/* ---- matrix_read.c ---- */
struct matrix_source {
	struct str path;
	const struct matrix_option *options;
	bool trust; /* the file may choose programs: a Python by its path, a folder as SDK, a keyring */
	struct str state; /* "" = beside the file: matrix.out for matrix.yaml */
};
/* Reads the file. E_SYNTAX and E_LIMIT with their place. */
MUST_USE struct err *matrix_read(
	struct arena *a, const struct matrix_source *s, struct matrix *ret);
MUST_USE struct err *matrix_parse(
	struct arena *a, const struct matrix_source *s, struct str text, struct matrix *ret);
/* The cell of that name, or number (from 0). E_USAGE with a did-you-mean. */
MUST_USE struct err *matrix_find(
	struct arena *a, const struct matrix *m, struct str word, struct matrix_cell **ret);

/* ---- matrix_state.c ---- */
/* Makes the folder, or checks it: E_PERM if others could change it, E_USAGE if it is another matrix's or something else. */
MUST_USE struct err *matrix_take(struct arena *a, const struct matrix *m);
/* Fills in the steps of a cell, by its plan.json, and their results; then its state. */
MUST_USE struct err *matrix_look(struct arena *a, const struct matrix *m, struct matrix_cell *io);
/* The same for all cells; then finds who installs SDKs, and sums. */
MUST_USE struct err *matrix_look_all(struct arena *a, struct matrix *io);
struct str matrix_path(struct arena *a, const struct matrix *m, const struct matrix_cell *c,
	struct str step, struct str file);
/* Reads and writes what became of a step; its state follows. */
MUST_USE struct err *matrix_result_read(struct arena *a, const struct matrix *m,
	const struct matrix_cell *c, struct matrix_step *step);
MUST_USE struct err *matrix_result_write(struct arena *a, const struct matrix *m,
	const struct matrix_cell *c, struct matrix_step *step);
struct matrix_step *matrix_step_find(const struct matrix_cell *c, struct str name);
/* The JSON form, rocsmith.matrix/1. */
extern const struct json_field matrix_fields[];
/* The gathered results as a page. */
struct str matrix_html(struct arena *a, const struct matrix *m);

/* ---- matrix_run.c ---- */
/* Plans the cells that are not done, and looks at all; into io->plans, if that is set. A cell that cannot be planned has failed. */
MUST_USE struct err *matrix_plan(struct arena *a, struct matrix *io);
/* Does the steps of a cell that are not done, or only the one of that name, in this process. */
MUST_USE struct err *matrix_do(
	struct arena *a, const struct matrix *m, struct matrix_cell *c, struct str only);
/* Does all cells that are not done in children, `jobs` at once, and looks at all. */
MUST_USE struct err *matrix_run_here(struct arena *a, struct matrix *io, unsigned jobs);

/* ---- matrix_slurm.c ---- */
struct matrix_array { /* steps of one name that are submitted together, as one array of jobs */
	struct str step;
	struct strs words;   /* arguments for sbatch, but for the indices */
	struct strs indices; /* numbers in the array */
	struct str id;       /* the job's; before it is submitted, a shell's variable */
};
struct matrix_arrays VEC_OF(struct matrix_array);
/* Sorts what is not done into arrays, in an order in which they can be submitted. program: what the nodes start. submit: asks
 * Slurm what is in the queue already, leaves that out, and submits the others; E_TOOL_MISSING without Slurm. */
MUST_USE struct err *matrix_slurm(struct arena *a, const struct matrix *m, struct str program,
	bool submit, struct matrix_arrays *ret);
/* The command that submits an array. */
struct strs matrix_sbatch(struct arena *a, const struct matrix_array *array);
/* Waits until none of the matrix's jobs is in the queue. */
MUST_USE struct err *matrix_wait(const struct matrix *m);

/* ---- matrix_print.c ---- */
struct matrix_line { /* data/matrix.yaml */
	const char *format,
		*each; /* each: "", "chunk" of at most `most` cells, "cell", or "array" of Slurm */
	unsigned most;
	const char *text; /* {NAME}: a value */
};
TABLE(matrix_line);
/* The matrix as a file for another system. arrays: what slurm prints. E_USAGE for a format that is none, and for a name of the
 * matrix file that the format cannot hold. */
MUST_USE struct err *matrix_print(struct arena *a, const struct matrix *m,
	const struct matrix_arrays *arrays, struct str format, struct str *ret);
