/* Growing arrays in an arena: any struct with the members `T *v; size_t n, cap;`.
 *
 *     VEC(struct file) files = {0};
 *     *VEC_PUSH(a, &files) = f;                       a new, zeroed slot at the end
 *     VEC_EACH (struct file, f, &files) { ... }
 *     VEC_FIND(struct file, &files, name, S("x"))     the first of that name, or NULL
 *
 * Tables that tools/gen_table.c makes are declared by TABLE, and gone over by TABLE_EACH.
 */
#pragma once

#include <stdlib.h>

#include "base/str.h"

/* Declares such a struct type without writing it out; with a tag: struct files VEC_OF(struct file);
 * VEC(struct file); in a larger struct: these members, beside its others. */
#define VEC(T) struct VEC_OF(T)
#define VEC_OF(T)                                                                                  \
	{                                                                                          \
		T *v;                                                                              \
		size_t n, cap;                                                                     \
	}

/* The address of a new zeroed element at the end of *vec. */
#define VEC_PUSH(a, vec)                                                                           \
	((vec)->v = vec_room((a), (vec)->v, (vec)->n, &(vec)->cap, sizeof(*(vec)->v)),             \
		&(vec)->v[(vec)->n++])

/* The end is not computed for an empty array: NULL + 0 is undefined in C17. */
#define VEC_EACH(T, it, vec)                                                                       \
	for (T *it = (vec)->v, *it##_end = (vec)->n ? it + (vec)->n : it; it < it##_end; it++)

/* Declares a table that tools/gen_table.c makes: gpu_table(), with gpu_count rows of struct gpu. */
#define TABLE(name)                                                                                \
	const struct name *name##_table(void);                                                     \
	extern const size_t name##_count
/* TABLE_EACH (gpu, g) goes over its rows. */
#define TABLE_EACH(name, it)                                                                       \
	for (const struct name *it = name##_table(), *it##_end = it + name##_count; it < it##_end; \
		it++)

/* Sorts by a comparison for qsort(), to which the NULL of an empty array may not be given. */
#define VEC_SORT(vec, by) ((vec)->n ? qsort((vec)->v, (vec)->n, sizeof(*(vec)->v), (by)) : (void)0)

/* The first element, a T, whose member, a struct str, is the text; or NULL. */
#define VEC_FIND(T, vec, member, text)                                                             \
	((T *)vec_find((vec)->v, (vec)->n, sizeof(*(vec)->v),                                      \
		_Generic((vec)->v->member, struct str                                              \
			 : offsetof(T, member)),                                                   \
		(text)))

/* Makes room for one element more, which is zeroed; for VEC_PUSH only. */
void *vec_room(struct arena *a, void *v, size_t n, size_t *cap, size_t size);

/* Finds among n elements of a size the one with the text at an offset; for VEC_FIND only. */
void *vec_find(const void *v, size_t n, size_t size, size_t at, struct str text);
