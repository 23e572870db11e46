/* A project folder for the tests of plan/ and make/, and the parts of a plan that are made from it
 * one by one. The machine's facts are what a test puts into plan.host, so that the answers are the
 * same on every machine. */
#pragma once

#include "plan/plan_int.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct str top, dir; /* dir, the project, lies in top */
	struct project project;
	struct plan plan;
	struct cxx_scan *facts;
};

static inline int fixture_begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	f->top = test_dir(&f->a);
	f->dir = path_join(&f->a, f->top, S("proj"));
	assert_ok(fs_mkdirs(f->dir));
	*state = f;
	return 0;
}

static inline int fixture_end(void **state)
{
	struct fixture *f = *state;
	test_dir_remove(f->top);
	arena_free(&f->a);
	free(f);
	return 0;
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

static inline void put(struct fixture *f, const char *name, const char *text)
{
	struct str path = path_join(&f->a, f->dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static inline struct str joined(struct fixture *f, const struct strs *list)
{
	return str_join(&f->a, list, S(" "));
}

/* Reads the description; a project that cannot be read fails the test. */
static inline void read_project(struct fixture *f)
{
	assert_ok(project_read(&f->a, &(struct description){.dir = f->dir}, &f->project));
	f->plan = (struct plan){.project = f->project.dir,
		.name = f->project.name,
		.defines = f->project.defines,
		.requires_python = f->project.requires_python};
	f->plan.includes = f->project.includes;
	if (!f->plan.includes.n)
		strs_add(&f->a, &f->plan.includes, S("."));
}

static inline struct err *find_sources(struct fixture *f)
{
	read_project(f);
	return sources_find(&f->a, &f->project, &f->plan, &f->facts);
}

static inline struct str source_list(struct fixture *f)
{
	struct strs list = {0};
	VEC_EACH (struct plan_source, s, &f->plan.sources)
		strs_add(&f->a, &list, s->path);
	return joined(f, &list);
}

/* Why it was chosen; "" when the plan does not say. */
static inline struct str reason_for(const struct fixture *f, const char *subject)
{
	VEC_EACH (const struct plan_reason, r, &f->plan.reasons)
		if (str_eq(r->subject, str_from(subject)))
			return r->why;
	return S("");
}

static inline void assert_says(struct str text, const char *part)
{
	if (!str_contains(text, str_from(part)))
		fail_msg("'%s' is not in '%.*s'", part, STR(text));
}
