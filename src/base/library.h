/* Shared objects that only some commands need, opened when they do: their relocations and constructors would be part of
 * every start otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Fills functions, a struct of n pointers to functions, with those of these names. false: there is no such library
 * here, or it lacks one. It stays open. */
bool library_open(const char *soname, const char *const *names, size_t n, void *functions);

/* The struct, and its names, from a list of functions: #define LIST(X) X(lzma_code) X(lzma_end) */
#define LIBRARY_MEMBER(name) __typeof__(name) *name;
#define LIBRARY_NAME(name) #name,
