/* Private to testrun/: the environment that tests run in, and the run of one suite. */
#pragma once

#include "base/map.h"
#include "base/proc.h"
#include "testrun/testrun.h"

extern const struct str testrun_plugin, testrun_probe, testrun_smoke, testrun_bench; /* *.py */
extern const struct str testrun_skips; /* data/skips.yaml */

struct test_config { /* data/test_configs.yaml; ends with name NULL */
	const char *name;
	const char *const *words, *const *include, *const *set, *const *evidence;
	bool all_gpus;
};
TABLE(test_config);

struct test_device {
	struct str target, name; /* "gfx1100", without features; or sm_90 */
	struct str word;         /* how the variable for visible GPUs names it */
};

/* ---- probe.c ---- */
struct test_env {
	struct str python;               /* the interpreter's path */
	struct str version;              /* "3.12" */
	struct str torch, pytest;        /* versions; "" = none */
	bool hip;                        /* torch is built for ROCm */
	VEC(struct test_device) devices; /* the chosen ones */
	struct strs variables; /* each process gets them: CPUs, no conflicting choice of GPUs */
	struct machine machine;
};

/* Asks the environment, chooses GPUs, compares wheels with what is installed, pins this process to its CPUs, and fills
 * what the evidence says of all that. */
MUST_USE struct err *test_env_open(struct arena *a, const struct test_request *q,
	struct test_env *ret, struct test_evidence *io);
/* E_TOOL_MISSING: it has no torch; `why` is what was said when that was loaded, or "". */
struct err *test_env_lacks_torch(const struct test_env *env, struct str why);
/* "HIP_VISIBLE_DEVICES=0" for some of the devices; none: "HIP_VISIBLE_DEVICES=-1". */
struct str test_env_gpus(struct arena *a, const struct test_env *env, size_t from, size_t n);

/* ---- run.c ---- */
struct test_driver {
	struct strs argv;       /* without the files that it shall run */
	struct str cwd, source; /* source: the folder to which ids are relative */
	struct strs variables;  /* beside those of the environment */
	struct strs
		files; /* the files that it is told to run, relative to source; empty = those it finds */
	struct str device, name; /* smoke.py: "cuda" or "cpu"; the beginning of its ids */
	bool modules; /* it is run_test.py, which wants modules of its folder behind --include */
	bool xml;     /* it is pytest, which writes XML */
};

struct test_run {
	struct arena *a;
	const struct test_request *q;
	const struct test_env *env;
	const struct test_driver *driver;
	struct test_evidence *out;
	struct strs include, exclude; /* ids, and all below them */
	struct map results;  /* by id: struct test_result *, in the order in which they were met */
	struct map excluded; /* ids that the plugin left out */
	unsigned processes;  /* starts so far */
	bool silent;         /* a test runs again: findings were said the first time */
	struct log_patterns *patterns; /* NULL until a log is to be explained */
};

/* Runs all tests of the driver, and those that failed once more. Their results stay in r->results. */
MUST_USE struct err *test_run_all(struct test_run *r);

/* ---- explain.c ---- */
void test_run_end(struct test_run *r);
/* The words of `explain` about this log, to be appended to a text: "; explain: TITLE [ID]"; "" if it says nothing. */
MUST_USE struct err *test_run_explain(struct test_run *r, struct str log, struct str *ret);
/* Adds an error with that text. */
MUST_USE struct err *test_run_say(
	struct test_run *r, const char *id, struct str log, const char *fmt, ...) PRINTF(4, 5);

/* ---- journal.c ---- */
struct test_start { /* one start of the driver, and how it ended */
	struct str folder,
		log;     /* the folder of its journals and XML; the log's name in out->logs */
	struct str died; /* the end of a process that did not say goodbye: "killed by SIGSEGV" */
	bool timed_out, told; /* told: a result or finding says that it did not end well */
	int status;
	struct str
		kernel; /* the last line of the kernel's log when it began; .p NULL: nobody asks */
};

/* ---- kernel.c ---- */
/* Remembers where the kernel's log is, on a machine with GPUs. */
MUST_USE struct err *kernel_mark(struct test_run *r, struct test_start *s);
/* Adds what the kernel has said since to the log of the process, where `explain` finds it, and to the evidence; or why
 * it cannot be read. Once for each start; id: the test that the process was at. */
MUST_USE struct err *kernel_tell(struct test_run *r, struct test_start *s, struct str id);
/* The lines about GPUs and memory behind the line `mark`; all of them if it is "" or gone. */
struct strs kernel_lines(struct arena *a, struct str text, struct str mark);

/* Reads the journals and XML of all its processes into r->results, and adds findings. */
MUST_USE struct err *journals_read(struct test_run *r, struct test_start *s);

/* ---- evidence.c ---- */
/* Takes the results over, with the skip list's reasons, counts, and decides. */
void evidence_judge(struct test_run *r, const struct test_skips *skips);
void evidence_begin(struct arena *a, struct test_evidence *ret);
/* Adds a finding; `path` may be "". */
void evidence_say(struct arena *a, struct test_evidence *e, enum severity severity, const char *id,
	const char *fmt, ...) PRINTF(5, 6);
