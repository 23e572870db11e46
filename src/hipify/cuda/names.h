/* The tables of names, as compiled in from data/cuda_names by tools/gen_names.c.
 *
 * A row says what a CUDA name is called in HIP, which header declares it, since which ROCm version,
 * and what states it. Rows of kind "unsupported" are CUDA names without an equal; rows whose name
 * starts with '@' belong to rules of the engine. Rows are offsets into one pool of texts.
 */
#pragma once

#include "hipify/hipify.h"

struct hipify_rule {
	uint32_t cuda, hip, kind, header, since, source; /* offsets into names_pool */
	uint16_t table, line;
};

/* An argument that HIP wants wrapped, or (rule "@default") written out. */
struct arg_rule {
	struct str name, rule; /* of the function; of the row that explains it */
	struct str text;       /* of a default */
	unsigned arg;          /* from 1 */
};

extern const char names_pool[];
extern const struct hipify_rule names_rows[];
extern const uint16_t names_slots[]; /* 1 << 15 of them: index into names_rows plus one */
extern const struct str names_tables[];
extern const struct arg_rule names_args[]; /* ends with an empty name */

/* The row of a CUDA name, header or rule ("@runtime"), or NULL. */
const struct hipify_rule *names_find(struct str name);
/* The first rule for a function; more may follow it, as long as the name is the same. */
const struct arg_rule *names_arg(struct str name);
bool names_lacks(const struct hipify_rule *r); /* a name that HIP has no equal for */
/* Did the HIP name come after this version ("6.4.3", "" = any)? */
bool names_newer(const struct hipify_rule *r, struct str rocm);
bool names_is_header(const struct hipify_rule *r);
/* Does this identifier follow the naming of CUDA or one of its libraries (cudaX, cublasX, CU_X)? */
bool names_look_like_cuda(struct str name);
