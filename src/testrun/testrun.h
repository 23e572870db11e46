/* Runs tests on this machine and judges them: smoke tests of a torch, a project's own tests; what two such runs have in
 * common; benchmarks.
 *
 * Tests run in the user's own Python environment, as `python` would: without a sandbox. What happens there is told by a
 * journal, which every process of pytest writes through a plugin of ours (plugin.py), line by line, so that one that is
 * killed has said which test it was at. pytest's JUnit XML is the second witness: a process that says it ended well and
 * left no XML, or one with fewer tests than its journal, fails the run, as does a test that was collected and has no
 * result. Both files are written by code under test, and are read like anything of a stranger.
 *
 *     test_torch(), test_smoke()   a request -> struct test_evidence
 *     evidence_write()             the evidence and JUnit XML as files, each whole or not at all
 *     evidence_read()              either of them again; test_diff() compares two
 *
 * A process that dies, or in which a test takes longer than `timeout`, is ended with all that it started; the next one
 * goes on behind that test. At the end, each test that failed runs once more, alone, in a fresh process: if it passes
 * now, it is flaky. The documents are described in doc/man/rocsmith-test.1.scd. */
#pragma once

#include "formats/finding.h"
#include "formats/node.h"
#include "machine/machine.h"

enum test_outcome {
	TEST_LOST, /* collected, and nothing else is known */
	TEST_PASSED,
	TEST_FAILED,
	TEST_ERROR,   /* before or after the test itself: a fixture, the import of its file */
	TEST_CRASHED, /* its process died */
	TEST_TIMEOUT,
	TEST_FLAKY, /* failed, and passed in a fresh process */
	TEST_SKIPPED,
	TEST_XFAILED, /* fails, as its author expects */
	TEST_XPASSED, /* passes, although its author expects it to fail */
	TEST_LISTED,  /* not run: the skip list has it */
	TEST_OUTCOMES
};
extern const char *const test_outcomes[]; /* "lost", "passed", ...; ends with NULL */
bool test_is_bad(enum test_outcome o);

struct test_result {
	/* the file's path, relative to the source, and pytest's names: "t/a.py::TestTorch::test_add[1]" */
	struct str id;
	enum test_outcome outcome;
	double seconds;
	struct str message; /* why it is not passed, at most 2,000 bytes */
	struct str log;     /* name of the log of the process, "" if it is passed */
	unsigned tries;     /* processes that ran it */
};

struct test_wheel {
	struct str name, version, sha256;
};

struct test_evidence {
	bool pass;
	VEC(struct test_wheel) wheels; /* installed in the environment, file by file */
	struct str gpu;                /* targets of the GPUs: "gfx1100"; "" = none was used */
	struct str python;             /* "3.12" */
	struct {
		struct str lock, commit,
			version; /* sha256 of rocsmith.lock; of the project; or "" */
	} source;
	const struct machine *machine;
	struct str suite, config; /* "torch" or "smoke" */
	unsigned shard, shards;
	struct str torch, started; /* its version; ISO 8601, UTC */
	double seconds;
	uint64_t counts[TEST_OUTCOMES];
	struct findings findings;
	struct strs kernel; /* lines of the kernel's log about GPUs, from processes that died */
	struct str logs;    /* the folder with the logs; "" once it is removed */
	VEC(struct test_result) tests;
	struct str sha256; /* the hash of the document that it was read from */
};
extern const struct json_field evidence_fields[]; /* schema rocsmith.test/1 */

struct test_request {
	struct str python; /* environment, interpreter or version; "" = python3 of PATH */
	struct str source, config;
	unsigned shard, shards;       /* from 1; 0 = 1 of 1 */
	struct strs include, exclude; /* ids, and all below them */
	struct strs skip_lists;       /* files, or folders of *.yaml */
	struct strs wheels;           /* files that must be what is installed */
	struct strs gpus;             /* indices, targets, all, none; empty = what is there */
	unsigned timeout, retries;    /* seconds for a test; how many tests are run again */
	unsigned jobs;                /* CPUs; 0 = those of the control group */
	struct str logs;              /* "" = a temporary folder, which stays if the run fails */
	bool only_skipped, strict_skips, any_version;
	bool one_gpu; /* the first of the chosen ones only; test_torch() knows it by the configuration */
};

/* E_NO_GPU if the GPUs asked for are not there, E_VERIFY if a wheel is not what is installed, E_USAGE, E_SYNTAX of a
 * skip list, E_TORCH for sources of another version. In a dry run only `suite` to `torch` are known; what would run is
 * reported as progress. */
MUST_USE struct err *test_torch(
	struct arena *a, const struct test_request *q, struct test_evidence *ret);
MUST_USE struct err *test_smoke(
	struct arena *a, const struct test_request *q, struct test_evidence *ret);

/* ---- evidence ---- */
/* Either path may be "". */
MUST_USE struct err *evidence_write(
	struct arena *a, const struct test_evidence *e, struct str path, struct str junit);
/* Reads a document rocsmith.test/1, or JUnit XML of anybody, by its first character. Of the former: pass, wheels, gpu, python,
 * suite, config, shards, and up to 2,000,000 tests, which are counted, and kept if `tests` is set. E_SYNTAX, E_LIMIT. */
enum { EVIDENCE_TEXT = 512 << 20 }; /* bytes */
MUST_USE struct err *evidence_read(
	struct arena *a, struct str path, bool tests, struct test_evidence *ret);
MUST_USE struct err *junit_parse(
	struct arena *a, struct str text, struct str name, struct test_evidence *ret);
struct str junit_text(struct arena *a, const struct test_evidence *e);

struct test_change {
	struct str id;
	struct str before, now; /* outcomes; "" = not there */
	double seconds_before, seconds_now;
	struct str message;
};

struct test_changes VEC_OF(struct test_change);

struct test_diff {
	struct str before, now; /* paths */
	struct test_changes failed, fixed, flaky, slower, missing, added;
	struct strs notes; /* how the two runs differ otherwise: GPU, Python, wheels */
};
extern const struct json_field test_diff_fields[]; /* schema rocsmith.test-diff/1 */
/* slower: a passed test that takes `factor` times as long, and a second more. */
void test_diff(struct arena *a, const struct test_evidence *before, const struct test_evidence *now,
	double factor, struct test_diff *ret);

/* ---- skip lists ---- */
struct test_skip {
	struct str id, reason, issue, added, expires;
	struct strs gfx;          /* patterns (know/predicate.h); empty = every GPU */
	struct str os;            /* "linux"; "" = any */
	struct str torch, python; /* ranges of versions; "" = any */
	bool expired;
};

struct test_skips VEC_OF(struct test_skip);

/* Reads a list, all *.yaml of a folder, or ours ("known", data/skips.yaml), and adds what applies to the GPUs, torch and Python
 * of `e`, on the day when it began.
 * E_SYNTAX with its place for a key that is none, a missing one, an id that is a pattern or has control characters, a
 * date that is none. */
MUST_USE struct err *skips_read(
	struct arena *a, struct str path, const struct test_evidence *e, struct test_skips *io);
/* Is it this id, or below it? Below a::B lie a::B::c and a::B::c[1]. */
bool test_id_below(struct str id, struct str above);

/* ---- benchmarks ---- */
struct bench_request {
	struct str python, gpu, output;
	struct strs words; /* arguments of bench.py */
	unsigned hang;     /* seconds without a sign of life */
	unsigned jobs;
};

/* Runs bench.py; *ret is its document, rocsmith.bench/1, which is also written to q->output unless that is "". E_NO_GPU,
 * E_TOOL_FAILED if it left no document, E_TIMEOUT if it had to be killed. */
MUST_USE struct err *bench_run(
	struct arena *a, const struct bench_request *q, const struct node **ret);
