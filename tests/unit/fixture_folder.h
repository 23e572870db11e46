/* A folder of its own for each test, with an arena. FIXTURE_MORE: what else a file's tests share. */
#pragma once

#include "test.h"

#ifndef FIXTURE_MORE
#define FIXTURE_MORE
#endif

struct fixture {
	struct arena a;
	struct str dir;
	FIXTURE_MORE
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	assert_ok(fs_tempdir(&f->a, S(""), &f->dir));
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	assert_ok(fs_remove_tree(f->dir));
	arena_free(&f->a);
	free(f);
	return 0;
}

static inline struct str in(struct fixture *f, const char *name)
{
	return path_join(&f->a, f->dir, str_from(name));
}
