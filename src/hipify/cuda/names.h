/* The tables of names, as compiled in from data/cuda_names by tools/gen_names.c.
 *
 * A row says what a CUDA name is called in HIP, which header declares it, since which ROCm version,
 * and what states it. Rows of kind "unsupported" are CUDA names without an equal, those of kind "flag" need a flag of the compiler; rows whose name
 * starts with '@' belong to rules of the engine. Texts are offsets into one pool, see names_text().
 */
#pragma once

#include "hipify/hipify.h"

struct hipify_rule {
	uint32_t cuda, hip, kind, header;
	uint32_t since;  /* ROCm version, "" = 6.4.3 or older */
	uint32_t source; /* the evidence for the pair */
	uint16_t table;  /* in names_tables: its file in the source tree */
	uint16_t line;   /* in that file */
};

/* An argument that HIP wants wrapped, or (rule "@default") written out. */
struct arg_rule {
	struct str name, rule; /* the function; the row that explains the change */
	struct str text;       /* the value of a default */
	unsigned arg;          /* from 1 */
};

extern const char names_pool[];
extern const struct hipify_rule names_rows[];
extern const uint16_t names_slots[]; /* NAMES_SLOTS of them: index into names_rows plus one */
extern const struct str names_tables[];
extern const struct arg_rule names_args[]; /* ends with an empty name */

enum { NAMES_SLOTS = 1 << 15 };

/* The slot of a name, or the first of those it may be in: FNV-1a, 32 bits. The generator and names_find()
 * have to agree. */
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
/* The first rule for a function; more may follow it, as long as the name is the same. */
const struct arg_rule *names_arg(struct str name);
bool names_is(const struct hipify_rule *r, const char *kind);
bool names_lacks(const struct hipify_rule *r); /* a name that HIP has no equal for, or on demand */
/* Did the HIP name come after this version ("6.4.3", "" = any)? */
bool names_newer(const struct hipify_rule *r, struct str rocm);
/* Words that stand before a use of a name, never before its declaration; NULL-terminated. */
extern const char *const names_before_use[];
/* Does this identifier follow the naming of CUDA or one of its libraries (cudaX, cublasX, CU_X)? */
bool names_look_like_cuda(struct str name);
