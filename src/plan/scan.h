/* What a C++ or CUDA source says about itself, without compiling it.
 *
 * One pass over the tokens: modules that it defines (PyInit_NAME, PYBIND11_MODULE, NB_MODULE),
 * headers that it includes, the stable-ABI level. Conditions other than `#if 0` count as true: too
 * many includes do no harm. It never fails: what it cannot understand is the compiler's to complain
 * about.
 */
#pragma once

#include "base/err.h"

struct scan_include {
	struct str name; /* as written, without the quotes or brackets */
	bool quoted;
};

struct cxx_scan {
	struct strs modules; /* NAME of each module definition */
	struct {
		struct scan_include *v;
		size_t n, cap;
	} includes;
	uint32_t limited_api; /* value of #define Py_LIMITED_API: 0x03080000; 0 = not defined */
	bool has_main;        /* defines main() */
};

void scan_text(struct arena *a, struct str text, struct cxx_scan *ret);
/* "0x03080000" or "3" -> hex version of the stable ABI; 0 when it is no number. */
uint32_t scan_api_level(struct str text);
