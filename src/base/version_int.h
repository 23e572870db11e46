/* A version taken apart, shared by version.c (parse, order) and version_spec.c (specifiers). */
#pragma once

#include "base/version.h"

enum version_pre { PRE_NONE, PRE_A, PRE_B, PRE_RC };

/* Numbers are text without leading zeros; a part that is absent is the empty view. */
struct version {
	struct str epoch;
	struct strs release;
	enum version_pre pre;
	struct str pre_number, post, dev;
	struct strs local; /* lower case; numbers without leading zeros */
};

/* Views into text. False when it is no version. */
bool version_scan(struct arena *a, struct str text, struct version *ret);
int version_cmp_public(const struct version *a, const struct version *b); /* without local parts */
