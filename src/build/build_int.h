/* A build in progress, shared by the files of build/. Private to build/. */
#pragma once

#include "build/build.h"
#include "make/make.h"

struct build {
	struct arena *a;
	const struct build_request *q;
	struct build_result *ret;
	struct make make;
};

/* ---- sdk.c ---- */
/* Opens the SDK, or installs it; it has Python.h when the plan needs that, and knows all targets */
MUST_USE struct err *build_open_sdk(struct build *b);

/* ---- pack.c ---- */
MUST_USE struct err *build_pack(struct build *b);
