/* The kit of tests that work on files: a folder and an arena for each test, a tree in it from texts, programs run on
 * it, and comparisons. A file whose tests share more names it in KIT_MORE before it includes this:
 *
 *     #define KIT_MORE struct view view; bool open;
 *     #include "unit/kit.h"
 *
 *     static int begin(void **state)
 *     {
 *             struct fixture *f = kit_new(state);
 *             put(f, "src/a.cu", "cuda\n");
 *             return 0;
 *     }
 *     ... cmocka_unit_test_setup_teardown(NAME, begin, teardown)
 */
#pragma once

#include "test.h"

#include "base/buf.h"
#include "base/proc.h"

#ifndef KIT_MORE
#define KIT_MORE
#endif

struct fixture {
	struct arena a;
	struct str dir; /* without links */
	KIT_MORE
};

static inline struct fixture *kit_new(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	assert_true(fs_real(&f->a, test_dir(&f->a), &f->dir));
	return f;
}

static inline int setup(void **state)
{
	kit_new(state);
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	test_dir_remove(f->dir);
	arena_free(&f->a);
	free(f);
	return 0;
}

/* The path of a file of the test's folder. */
static inline struct str at(struct fixture *f, const char *name)
{
	return path_join(&f->a, f->dir, str_from(name));
}

/* Writes a file, with the folders above it. */
static inline void put(struct fixture *f, const char *name, const char *text)
{
	assert_ok(fs_mkdirs(path_dir(at(f, name))));
	test_put(at(f, name), text);
}

/* The file has this text. */
static inline void assert_file(struct fixture *f, const char *name, const char *text)
{
	test_has(at(f, name), text);
}

/* Runs a program to its end; its output, or the test fails with what it printed. */
static inline struct str ran(struct fixture *f, struct proc *p)
{
	struct proc_result r;
	assert_ok(proc_check(&f->a, p, &r));
	return r.out;
}
