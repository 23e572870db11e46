/* What every unit test includes: cmocka with the headers it needs, and checks for our own types.
 *
 * Test functions are named as sentences and listed in the visible array of their file. A failed
 * check prints both values. Files go to a folder from test_dir(), which dies with the test. */
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/fs.h"

/* The sanitizers make all slower, about ten times: texts that are huge to show that the work is
 * linear are a tenth then, and what another program takes long to make is made once. The run
 * without them has everything. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__ /* gcc */
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
#define HUGE_SIZE(n) ((n) / (SANITIZED ? 10 : 1))

/* The view has this text. */
#define assert_str(s, text) assert_views((s), str_from(text), __FILE__, __LINE__)
/* The expression succeeds; else the whole error chain is printed. */
#define assert_ok(expr) assert_no_err((expr), __FILE__, __LINE__)
/* The expression fails with this code; the error is freed. */
#define assert_err(expr, want) assert_err_code((expr), (want), NULL, __FILE__, __LINE__)
/* The same, and some message of the chain contains text. */
#define assert_err_says(expr, want, text)                                                          \
	assert_err_code((expr), (want), (text), __FILE__, __LINE__)

/* CPU seconds of this program, for bounds that are far from what the work takes: they tell minutes from moments. */
static inline double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* With `no`, threads cannot be started: the stack of each would be larger than any address space. */
static inline void test_forbid_threads(bool no)
{
	pthread_attr_t now;
	assert_int_equal(pthread_getattr_default_np(&now), 0);
	assert_int_equal(pthread_attr_setstacksize(&now, no ? (size_t)1 << 60 : 8 << 20), 0);
	assert_int_equal(pthread_setattr_default_np(&now), 0);
}

static inline void assert_views(struct str got, struct str want, const char *file, int line)
{
	if (str_eq(got, want))
		return;
	print_error("got  '%.*s'\nwant '%.*s'\n", STR(got), STR(want));
	_fail(file, line);
}

static inline void test_print_err(const struct err *e)
{
	for (; e; e = e->cause)
		print_error("  %s %s:%u:%u: %s\n", err_id(e->code), e->path ? e->path : "", e->line,
			e->col, e->msg);
}

static inline void assert_no_err(struct err *e, const char *file, int line)
{
	if (!e)
		return;
	test_print_err(e);
	err_free(e);
	_fail(file, line);
}

static inline bool test_err_says(const struct err *e, const char *text)
{
	for (; e; e = e->cause)
		if (str_contains(str_from(e->msg), str_from(text)))
			return true;
	return false;
}

static void (*test_sees_err)(const struct err *e); /* set by fixture_said.h */

static inline void assert_err_code(
	struct err *e, enum errcode want, const char *text, const char *file, int line)
{
	if (test_sees_err)
		test_sees_err(e);
	bool good = e && e->code == want && (!text || test_err_says(e, text));
	if (!good) {
		print_error("want %s '%s', got %s\n", err_id(want), text ? text : "",
			e ? err_id(e->code) : "success");
		test_print_err(e);
	}
	err_free(e);
	if (!good)
		_fail(file, line);
}

/* A fresh folder in the arena a; remove it with test_dir_remove() at the end of the test. */
static inline struct str test_dir(struct arena *a)
{
	struct str dir = {0};
	assert_ok(fs_tempdir(a, S(""), &dir));
	return dir;
}

static inline void test_dir_remove(struct str dir)
{
	assert_ok(fs_remove_tree(dir));
}

static inline void test_put(struct str path, const char *text)
{
	assert_ok(fs_write(path, str_from(text), 0644));
}

static inline void test_has(struct str path, const char *text)
{
	ARENA(a);
	struct str got = {0};
	assert_ok(fs_read(&a, path, 1 << 20, &got));
	assert_str(got, text);
}
