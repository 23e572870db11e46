/* The options of `rocsmith inspect` and its findings, shared by its files. */
#pragma once

#include "cli/opt.h"
#include "devcode/kernels.h"
#include "wheel/wheel.h"

struct inspect_args {
	struct common common;
	struct strs paths;
	bool hash, kernels, objects, venv, resources, compare, csv;
	struct str html, extract, output, disassemble, sdk;
};

/* The document of schema rocsmith.inspect/1, with the distributions that --venv adds. */
struct inspected {
	struct devcode *code;
	struct venv_dists dists;
};

struct inspected_all {
	VEC(struct inspected) paths;
};

/* ---- cmd_inspect_show.c ---- */
void inspect_show(struct arena *a, const struct inspect_args *o, const struct inspected *shown,
	unsigned flags);
void inspect_show_kernels(struct arena *a, const struct devcode *d);
/* every: all kernels, not only the first ones */
void inspect_show_changes(struct arena *a, const struct kernel_changes *c, bool every);
/* A row for each code object, or each kernel. */
void inspect_csv(struct arena *a, const struct inspected_all *all, bool kernels);
void inspect_csv_changes(struct arena *a, const struct kernel_changes *c);

/* ---- cmd_inspect_code.c ---- */
MUST_USE struct err *inspect_extract(struct arena *a, struct inspect_args *o);
MUST_USE struct err *inspect_disassemble(struct arena *a, struct inspect_args *o);
