/* Shared libraries opened on demand: large ones that few commands use, and optional ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Fills `functions`, a struct of n function pointers, with the functions of these names. False if the library or one of
 * the functions is missing. The library stays open. */
bool library_open(const char *soname, const char *const *names, size_t n, void *functions);

/* These make the struct and the names from a list of functions: #define LIST(X) X(hs_scan) X(hs_free_database) */
#define LIBRARY_MEMBER(name) __typeof__(name) *name;
#define LIBRARY_NAME(name) #name,
