/* The patterns of all diagnoses, compiled once for a test program: a group's setup and teardown. */
#pragma once

#include "know/diagnosis.h"
#include "test.h"

static struct log_patterns *patterns;

static int compile_patterns(void **state)
{
	(void)state;
	assert_ok(log_patterns_new(&patterns));
	return 0;
}

static int free_patterns(void **state)
{
	(void)state;
	log_patterns_freep(&patterns);
	return 0;
}
