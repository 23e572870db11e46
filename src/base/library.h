/* Libraries opened on demand: large ones that few commands use, and optional ones. In a static program they are linked in
 * like any other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A struct of function pointers is made from a list of functions, #define LIST(X) X(hs_scan) X(hs_free_database):
 * struct functions { LIST(LIBRARY_MEMBER) }; */
#define LIBRARY_MEMBER(name) __typeof__(name) *name;

/* Fills such a struct. False if the library or one of the functions is missing. The library stays open. */
#ifdef ROCSMITH_STATIC
#define LIBRARY_HERE(name) .name = name,
#define LIBRARY_OPEN(soname, list, ret) (*(ret) = (__typeof__(*(ret))){list(LIBRARY_HERE)}, true)
#else
#define LIBRARY_NAME(name) #name,
#define LIBRARY_OPEN(soname, list, ret)                                                            \
	library_open(soname, (const char *const[]){list(LIBRARY_NAME) NULL}, ret)
bool library_open(const char *soname, const char *const *names, void *functions);
#endif
