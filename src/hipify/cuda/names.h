/* The tables of names, compiled in from data/cuda_names by tools/gen_names.c.
 *
 * A row maps a CUDA name to its HIP name, with the header that declares it, the first ROCm version
 * that has it, and the source of that fact. Rows of kind "unsupported" are CUDA names without a HIP
 * equivalent; rows whose name starts with '@' document rules of the engine. Texts are offsets into one
 * pool, see names_text().
 */
#pragma once

#include "hipify/hipify.h"

struct hipify_rule {
	uint32_t cuda, hip;
	uint16_t kind, header; /* few texts, which are the first in the pool */
	uint16_t since;        /* ROCm version, "" = 6.4.3 or older */
	uint16_t source;       /* the evidence for the pair */
	uint16_t table;        /* index into names_tables: the row's file in the source tree */
	uint16_t line;         /* in that file */
};

/* An argument that HIP needs wrapped, or (rule "@default") written out. */
struct arg_rule {
	struct str name, rule; /* the function; the name of the row that explains the change */
	struct str text;       /* the value of the default argument, or the type to cast to */
	unsigned arg;          /* from 1 */
};

extern const char names_pool[];
extern const struct hipify_rule names_rows[]; /* ends with an empty name */
extern const uint16_t
	names_slots[]; /* NAMES_SLOTS entries: index into names_rows plus one, 0 = free */
extern const struct str names_tables[];
extern const struct arg_rule names_args[]; /* ends with an empty name */

enum { NAMES_SLOTS = 1 << 15 };

/* The hash of a name, 32-bit FNV-1a; modulo NAMES_SLOTS, the slot where probing starts. The generator
 * and names_find() have to agree. */
static inline uint32_t names_hash(const char *p, size_t n)
{
	uint32_t h = 2166136261u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 16777619u;
	return h;
}

struct str names_text(uint32_t offset); /* lives as long as the program */
/* The row of a CUDA name, header or rule ("@runtime"), or NULL. */
const struct hipify_rule *names_find(struct str name);
/* The first argument rule of a function, or NULL. Its other rules follow in the array, under the same name. */
const struct arg_rule *names_arg(struct str name);
bool names_is(const struct hipify_rule *r, const char *kind);
/* Is the HIP name newer than this ROCm version ("6.4.3", "" = any)? */
bool names_newer(const struct hipify_rule *r, struct str rocm);
/* Words that precede a use of a name, never its declaration; NULL-terminated. */
extern const char *const names_before_use[];
/* Does this identifier follow the naming of CUDA or one of its libraries (cudaX, cublasX, CU_X)? */
bool names_look_like_cuda(struct str name);
/* Is the name one of those that the project declares itself, or a member of its own namespace cuda: cuda::f, but not
 * libcu++'s cuda::std? */
bool names_are_own(const struct map *declared, struct str name);
