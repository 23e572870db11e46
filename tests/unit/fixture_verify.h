/* Verdicts in one word, for tests: a wheel that is wrong in one thing, and the ids that must come. */
#pragma once

#include "fixture_elf.h"
#include "fixture_said.h"
#include "fixture_wheel.h"

#include "verify/verify.h"

#define X86 "demo-1.0-cp311-cp311-linux_x86_64.whl"
#define MANY "demo-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"

static inline void said_verdict(struct arena *a, const struct verdict *v)
{
	buf_fmt(said(), "%s %.*s %.*s %.*s, requires %zu, serves %.*s\n", v->pass ? "pass" : "fail",
		STR(v->project), STR(v->version), STR(v->platform), v->requires.n,
		STR(str_join(a, &v->served, S(" "))));
	said_findings(fs_is_dir(v->path) ? v->path : path_dir(v->path), &v->findings);
}

/* The ids of errors and warnings (those of info in brackets), sorted, once each. */
static inline struct str ids(struct arena *a, const struct verdict *v)
{
	struct strs list = {0};
	said_verdict(a, v);
	VEC_EACH (struct finding, f, &v->findings) {
		const char *form = f->severity == SEV_INFO ? "(%s)" : "%s";
		struct str id = str_fmt(a, form, f->id);
		if (!strs_has(&list, id))
			strs_add(a, &list, id);
	}
	strs_sort(&list);
	return str_join(a, &list, S(" "));
}

static inline struct str verify(struct arena *a, struct str path, struct verify_options o)
{
	struct verdict v;
	o.jobs = 1;
	assert_ok(verify_wheel(a, path, &o, &v));
	assert_int_equal(v.pass, !v.findings.n || findings_worst(&v.findings) < SEV_ERROR);
	assert_str(v.path, path.p);
	return ids(a, &v);
}

struct one {
	const char *what, *want;
	struct fx_wheel wheel;
};

static inline void check_all(const struct one *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ARENA(a);
		struct str dir = test_dir(&a), path = fx_write(&a, dir, cases[i].wheel);
		struct str got = verify(&a, path, (struct verify_options){0});
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("%s:\n", cases[i].what);
		assert_str(got, cases[i].want);
		test_dir_remove(dir);
	}
}

#define CHECK(cases) check_all((cases), sizeof(cases) / sizeof((cases)[0]))
#define A_FILE                                                                                     \
	{                                                                                          \
		.name = "demo/__init__.py", .content = S_INIT("x = 1\n")                           \
	}
