/* Names of C++ as people write them, from the names that linkers know: _Z3addIfEvPT_ is "void add<float>(float*)".
 *
 * Source: the Itanium C++ ABI, section 5.1, with clang's and GCC's extensions that kernels have; written as c++filt does
 * it. Names come from strangers, and a short one can stand for a text of terabytes: depth, steps and the length of
 * the result are limited. */
#pragma once

#include "base/str.h"

enum { DEMANGLED_MAX = 8000 }; /* bytes of a result */

/* The name itself if it is not mangled, cannot be read, or would become too long. *io_work grows by the steps that it took,
 * which cost about as much as a byte of what a budget counts (formats/bytes.h). */
struct str cxx_demangle(struct arena *a, struct str name, uint64_t *io_work);
