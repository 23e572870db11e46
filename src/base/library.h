/* Shared objects that are opened when they are needed: large ones that few commands use, and optional ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Fills functions, a struct of n pointers to functions, with those of these names. false: there is no such library
 * here, or it lacks one. It stays open. */
bool library_open(const char *soname, const char *const *names, size_t n, void *functions);

/* The struct, and its names, from a list of functions: #define LIST(X) X(hs_scan) X(hs_free_database) */
#define LIBRARY_MEMBER(name) __typeof__(name) *name;
#define LIBRARY_NAME(name) #name,
