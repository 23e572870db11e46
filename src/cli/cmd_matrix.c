/* rocsmith matrix: plans a matrix of builds, runs it here or on Slurm, prints it for other systems, reports what came out. */
#include "base/fs.h"
#include "base/proc.h"
#include "cli/opt.h"
#include "flow/matrix.h"
#include "term/table.h"

struct matrix_args {
	struct common common;
	struct str file, state, as, step, mark, page;
	struct strs cells;
	bool trust, slurm, detach;
};
#define ARGS struct matrix_args

/* clang-format off */
#define MATRIX_OPTS                                                                                \
	{OPT_ARGUMENT("FILE", OPT_POS, file, "the matrix, a YAML file"), .flags = OPT_REQUIRED},   \
	{OPT_OUTPUT(state, "DIR", "folder of results (default: NAME.out beside FILE)")},           \
	{OPT_FLAG("trust", trust, "FILE may choose programs: Pythons, SDK folders, keyrings")}
/* clang-format on */

const struct opt cmd_matrix_plan_opts[] = {MATRIX_OPTS, OPT_LAST};

const struct opt cmd_matrix_run_opts[] = {
	MATRIX_OPTS,
	{OPT_FLAG("slurm", slurm, "submit arrays of jobs to Slurm, and wait for them")},
	{OPT_FLAG("detach", detach, "with --slurm: do not wait")},
	{OPT_VALUE("cell", OPT_LIST, cells, "NAME", "only this cell, in this process")},
	{OPT_VALUE("step", OPT_STR, step, "STEP", "only this step of the cell")},
	{OPT_VALUE("mark", OPT_STR, mark, "HASH", "fail if FILE has other cells by now"),
		.flags = OPT_HIDDEN},
	OPT_LAST,
};

const struct opt cmd_matrix_print_opts[] = {
	MATRIX_OPTS,
	{OPT_VALUE("as", OPT_STR, as, "FORMAT", "github, gitlab, shell or slurm"),
		.flags = OPT_REQUIRED},
	OPT_LAST,
};

const struct opt cmd_matrix_report_opts[] = {
	MATRIX_OPTS,
	{OPT_VALUE("html", OPT_PATH, page, "FILE", "write an HTML page as well")},
	OPT_LAST,
};

/* ---- shared ---- */

/* The options of `plan` that a matrix may set. */
static const struct matrix_option *plan_options(struct arena *a, const struct common *c)
{
	static const char *const none[] = {"output", "sysroot", "refresh", NULL};
	const struct command *plan = NULL;
	VEC(struct matrix_option) list = {0};
	COMMAND_EACH (i, c->commands)
		plan = str_eq(str_from(i->name), S("plan")) ? i : plan;
	OPT_EACH (o, plan->opts)
		if (!opt_is_positional(o) && !str_is_one_of(str_from(o->lname), none))
			*VEC_PUSH(a, &list) = (struct matrix_option){
				o->lname, o->kind == OPT_WORDS  ? MATRIX_LIST
					  : o->kind == OPT_LIST ? MATRIX_LIST
					  : o->kind == OPT_BOOL ? MATRIX_FLAG
								: MATRIX_TEXT};
	*VEC_PUSH(a, &list) = (struct matrix_option){.name = NULL};
	return list.v;
}

static struct err *open_matrix(struct arena *a, const struct matrix_args *o, struct matrix *ret)
{
	struct matrix_source source = {.path = o->file,
		.options = plan_options(a, &o->common),
		.trust = o->trust,
		.state = o->state};
	TRY_CTX(matrix_read(a, &source, ret), "cannot read the matrix '%.*s'", STR(o->file));
	VEC_EACH (const struct matrix_exclude, x, &ret->excludes)
		if (x->expired || !x->cells)
			say_warning("%.*s:%u: the exclude of %.*s %s%.*s: %.*s", STR(o->file),
				x->line, STR(str_join(a, &x->where, S(", "))),
				x->expired ? "ended on " : "matches no cell",
				STR(x->expired ? x->until : S("")), STR(x->reason));
	return NULL;
}

/* Plans into a folder that goes again; then says what is known of all cells. */
static struct err *plan_aside(struct arena *a, struct matrix *m, struct str dir)
{
	TRY(matrix_look_all(a, m));
	m->plans = dir;
	return matrix_plan(a, m);
}

static const struct column cell_columns[] = {
	{COLUMN("Cell", "name")},
	{COLUMN("State", "state")},
	{COLUMN(">Time", "cost.seconds"), .none = "-"},
	{COLUMN(">Size", "size"), .bytes = true, .none = "-"},
	{COLUMN("What went wrong", "error"), .none = "-"},
	{.title = NULL},
};

static const struct column excluded_columns[] = {
	{COLUMN("Excluded", "name")},
	{COLUMN("Why", "reason")},
	{COLUMN("Until", "until"), .none = "-"},
	{.title = NULL},
};

static void show_excluded(struct arena *a, const struct matrix *m)
{
	if (m->excluded.n)
		out_text(S("\n"));
	table_show(a, matrix_fields, "excluded", excluded_columns, m);
}

static void show_state(struct arena *a, struct matrix_args *o, const struct matrix *m)
{
	o->common.status = m->done < m->cells.n;
	if (show_json(&o->common, matrix_fields, m))
		return;
	table_show(a, matrix_fields, "cells", cell_columns, m);
	show_excluded(a, m);
	out_fmt("\n%llu of %zu cells done, %llu failed, %llu missing\n",
		(unsigned long long)m->done, m->cells.n, (unsigned long long)m->failed,
		(unsigned long long)m->missing);
}

/* ---- plan ---- */

static const struct column plan_columns[] = {
	{COLUMN("Cell", "name")},
	{COLUMN("State", "state")},
	{COLUMN(">Time", "cost.seconds"), .none = "?"},
	{COLUMN(">Memory", "cost.memory"), .bytes = true, .none = "?"},
	{COLUMN(">Disk", "cost.disk"), .bytes = true, .none = "?"},
	{COLUMN("By", "cost.by"), .none = "nothing yet"},
	{COLUMN("What is wrong", "error"), .none = "-"},
	{.title = NULL},
};

struct err *cmd_matrix_plan(struct arena *a, void *args)
{
	struct matrix_args *o = args;
	struct matrix m;
	CLEANUP(fs_tempdirp) struct str dir = {0};
	TRY(open_matrix(a, o, &m));
	TRY(fs_tempdir(a, S(""), &dir));
	TRY(plan_aside(a, &m, dir));
	if (m.failed)
		o->common.status = 1;
	if (show_json(&o->common, matrix_fields, &m))
		return NULL;
	table_show(a, matrix_fields, "cells", plan_columns, &m);
	show_excluded(a, &m);
	out_fmt("\n%s, %llu done; %.1f hours of CPU, %.*s one after another, %.*s of disk",
		str_z(a, human_count(a, m.cells.n, "cell")), (unsigned long long)m.done,
		m.cost.cpu / 3600, STR(human_seconds(a, m.cost.seconds)),
		STR(human_bytes(a, m.cost.disk)));
	if (m.unknown)
		out_fmt(", without %s of which nothing is known",
			str_z(a, human_count(a, m.unknown, "cell")));
	out_text(S("\n"));
	return NULL;
}

/* ---- run ---- */

/* One or a few cells, as an element of an array or a CI does them. */
static struct err *run_cells(struct arena *a, struct matrix_args *o, struct matrix *m)
{
	struct err *first = NULL;
	if (o->mark.n && !str_eq(o->mark, m->mark))
		return err_new(E_USAGE, "'%.*s' has other cells than when this job was submitted",
			STR(o->file));
	VEC_EACH (const struct str, word, &o->cells) {
		struct matrix_cell *c;
		TRY(matrix_find(a, m, *word, &c));
		TRY(matrix_do(a, m, c, o->step));
		struct matrix_step *step = o->step.n ? matrix_step_find(c, o->step) : NULL;
		bool done = step ? step->state == MATRIX_DONE : c->state == MATRIX_DONE;
		if (done)
			say_status(S("Done"), "%.*s%s%.*s", STR(c->name), o->step.n ? ", " : "",
				STR(o->step));
		else
			first = err_join(first,
				err_new(E_TOOL_FAILED, "the cell '%.*s' failed%s%.*s", STR(c->name),
					c->error.n ? ": " : "", STR(c->error)));
	}
	return first;
}

static struct err *run_slurm(struct arena *a, const struct matrix_args *o, struct matrix *m)
{
	struct matrix_arrays arrays;
	struct str self;
	if (!proc_find(a, S("sbatch")).n)
		return err_hint(err_new(E_TOOL_MISSING, "there is no sbatch here"),
			"run this where jobs are submitted, or leave out --slurm");
	TRY(fs_readlink(a, S("/proc/self/exe"), &self));
	TRY(matrix_plan(a, m));
	TRY(matrix_slurm(a, m, self, true, &arrays));
	if (o->detach)
		return NULL;
	TRY(matrix_wait(m));
	return matrix_look_all(a, m);
}

struct err *cmd_matrix_run(struct arena *a, void *args)
{
	struct matrix_args *o = args;
	struct matrix m;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	unsigned jobs =
		strs_has(&o->common.given, S("jobs")) && o->common.jobs ? o->common.jobs : 1;
	if ((o->step.n && !o->cells.n) || (o->slurm && o->cells.n) || (o->detach && !o->slurm))
		return err_new(E_USAGE,
			"--step is for a --cell, which is done here, and --detach for --slurm");
	TRY(open_matrix(a, o, &m));
	if (o->cells.n && strs_has(&o->common.given, S("jobs")) &&
		setenv("ROCSMITH_JOBS", str_z(a, str_fmt(a, "%u", jobs)), 1) < 0)
		return err_errno("cannot set the number of jobs");
	if (fs_writes_forbidden()) {
		TRY(matrix_look_all(a, &m));
		show_state(a, o, &m);
		o->common.status = 0;
		return NULL;
	}
	TRY(matrix_take(a, &m));
	TRY(fs_guard(m.state, &guard));
	TRY(matrix_look_all(a, &m));
	if (o->cells.n)
		return run_cells(a, o, &m);
	TRY(o->slurm ? run_slurm(a, o, &m) : matrix_run_here(a, &m, jobs));
	if (o->detach) {
		say_hint("'rocsmith matrix report %.*s' shows what is done; to end all: scancel "
			 "--me --name=...",
			STR(str_shell(a, o->file)));
		return NULL;
	}
	if (!o->common.quiet || o->common.json)
		show_state(a, o, &m);
	if (m.done == m.cells.n)
		return NULL;
	struct err *e = err_new(E_TOOL_FAILED, "%llu of %zu cells failed, and %llu have no result",
		(unsigned long long)m.failed, m.cells.n, (unsigned long long)m.missing);
	return err_hint(e, "the same command does only these again; their logs are in %.*s/cells",
		STR(str_shell(a, m.state)));
}

/* ---- print, report ---- */

struct err *cmd_matrix_print(struct arena *a, void *args)
{
	struct matrix_args *o = args;
	struct matrix m;
	struct matrix_arrays arrays = {0};
	struct str text;
	CLEANUP(fs_tempdirp) struct str dir = {0};
	TRY(open_matrix(a, o, &m));
	if (str_eq(o->as, S("slurm"))) { /* requests and steps are in the plans */
		TRY(fs_tempdir(a, S(""), &dir));
		TRY(plan_aside(a, &m, dir));
		TRY(matrix_slurm(a, &m, S("rocsmith"), false, &arrays));
	}
	TRY(matrix_print(a, &m, &arrays, o->as, &text));
	out_text(text);
	return NULL;
}

struct err *cmd_matrix_report(struct arena *a, void *args)
{
	struct matrix_args *o = args;
	struct matrix m;
	TRY(open_matrix(a, o, &m));
	TRY(fs_check_way(m.state));
	TRY(matrix_look_all(a, &m));
	if (o->page.n && !fs_writes_forbidden()) {
		TRY(fs_write(o->page, matrix_html(a, &m), 0644 | FS_THROUGH));
		say_status(S("Wrote"), "%.*s", STR(o->page));
	}
	show_state(a, o, &m);
	return NULL;
}
