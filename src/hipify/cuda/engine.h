/* The state of one pass over one text, shared by the parts of the translator.
 *
 * text.c drives the tokenizer and dispatches; the rules (args.c, include.c, untranslated.c) look at
 * the current token and may add edits, in text order. Lookahead is limited to a few tokens, one
 * statement of inline PTX or one preprocessor line, so that the pass is linear.
 */
#pragma once

#include "hipify/cuda/names.h"
#include "lang/cxx/lexer.h"

/* A call whose argument may have to be wrapped. */
struct frame {
	const struct arg_rule *rule;
	unsigned depth, arg, angle;   /* bracket depth inside the call; argument from 1; open "<" */
	bool fresh, open;             /* at the start of an argument; inside an open wrapper */
	bool directive;               /* the call is part of a preprocessor line */
	const struct arg_rule *wraps; /* the rule of the open wrapper */
	size_t opening;               /* the edit that opened it, or that stands behind the name */
};

/* An #if whose branches open and close brackets: the depth before it, and behind the first branch that changes it. */
struct branches {
	unsigned before, after;
};

/* A member's declaration, and the attributes that its definition has. */
struct member_place {
	uint64_t at; /* in the text; first, for offset_order() */
	struct str with;
};

struct engine {
	struct arena *a;
	struct lex l;
	const struct hipify_context *context; /* NULL: nothing is known about other files */
	struct hipify_text *ret;
	/* Translates an operand of inline PTX, which may name CUDA too; NULL within an operand. */
	struct str (*operand)(struct engine *e, struct str text);
	struct tok prev, prev2; /* the last two tokens, line ends not counted */
	struct tok outer_prev;  /* the last token outside preprocessor lines */
	bool ends_in_directive; /* the text ends within a preprocessor line */
	VEC(struct frame) frames;
	VEC(struct branches) branches;  /* one for each open #if */
	const struct arg_rule *pending; /* the rule of the identifier just seen */
	unsigned depth, outer_depth;    /* open brackets, now and before the current directive */
	unsigned enum_depth;            /* depth inside "enum {", or 0 */
	unsigned launch_depth;          /* depth + 1 inside of <<< >>>, or 0 */
	size_t launch_bracket;          /* the end of the last <<< or >>> */
	bool enum_head, in_asm, skip_guard;
	bool spent, outer_spent; /* the statement so far is no head of a declaration */
	bool has_warp_macro, has_local_include, has_include, runtime_first;
	bool device_head,
		host_head;     /* seen in a function's head: __device__, __global__; __host__ */
	unsigned device_depth; /* depth inside a device function, or 0 */
	bool device_only;      /* the host does not compile that function */
	unsigned doubt;        /* depth of the outermost #if that may be false in HIP, or 0 */
	struct str macro;      /* the macro being defined */
	bool keeps_v1;         /* names of cuBLAS' first interface stay, and so does its header */
	bool cublas_v1, cublas_v2; /* the cuBLAS headers that the text includes */
	bool knows_hip;            /* with marks: the text asks about HIP */
	bool adds, halves;         /* the text uses atomicAdd, a 16-bit float type */
	struct map declared;       /* names that look like CUDA's but are the project's own */
	struct map vectors;        /* the text's own names for vector types */
	struct str alias;          /* NAME of the current "using NAME =", or "typedef" */
	uint64_t classes;          /* bit n: the bracket at depth n is the body of a class */
	bool class_head;
	VEC(struct member_place) members; /* by members_find(); `member` is the next one */
	size_t member;
	struct map device, host; /* macros with __device__, __host__ in their text */
	struct map ours;         /* headers that the text or its translation includes already */
};

void engine_replace(
	struct engine *e, size_t from, size_t to, struct str with, const struct hipify_rule *rule);
void engine_untranslated(
	struct engine *e, const struct tok *at, struct str name, struct str suggestion);
/* The same of inline PTX: its opcode, or "asm". */
void engine_untranslated_ptx(
	struct engine *e, const struct tok *at, struct str name, struct str suggestion);
/* If one of our own headers declares the row's HIP name, notes that the result must include it. */
void engine_needs(struct engine *e, const struct hipify_rule *r);
/* If HIP has the name only since a version later than the target, reports it and returns true. */
bool engine_too_new(struct engine *e, const struct tok *at, const struct hipify_rule *r);
/* The token after the current one; TOK_END if there is none or it cannot be read. */
struct tok engine_peek(const struct engine *e);

/* args.c: wraps arguments; called before and after the other rules see a token. */
void args_before(struct engine *e, const struct tok *t);
void args_after(struct engine *e, const struct tok *t);
/* The text or the preprocessor line ends. An argument with a bracket that is still open stays as it is, since our own
 * would close that. */
void args_close_all(struct engine *e, bool directive_only);
/* ptx.c: translates or reports the asm statement that begins here; false if it does not look like PTX. */
bool ptx_statement(struct engine *e, const struct tok *t);
/* vectors.c: marks definitions of operators for vector types, for which HIP has its own; called at the word operator. */
void vectors_operator(struct engine *e, const struct tok *t);
/* The same for a project's own atomicMin(float *, float) and its kin, some of which HIP has. */
void vectors_atomic(struct engine *e, const struct tok *t);
/* Notes names for vector types and bodies of classes; called before each token counts as the last one. */
void vectors_track(struct engine *e, const struct tok *t);
/* members.c: members that are __host__ __device__ only in their definitions; called before the first token, and before
 * the other rules see each token. */
void members_find(struct engine *e);
void members_before(struct engine *e, const struct tok *t);
/* Notes macros that stand for __device__ or __host__, and gives a constexpr function that is __device__ alone to the
 * host, too; called at each name. */
void members_constexpr(struct engine *e, const struct tok *t);
/* include.c */
void include_path(struct engine *e, const struct tok *t);
/* untranslated.c: reports what stays untranslated, and tracks the names that the project declares. */
void untranslated_name(struct engine *e, const struct tok *t, const struct hipify_rule *r);
void untranslated_raw_string(struct engine *e, const struct tok *t);
void untranslated_asm_string(struct engine *e, const struct tok *t);
/* Is this assembly for ARM's processors, which is not to be taken for PTX? */
bool untranslated_is_arm(struct str text);
void untranslated_paste(struct engine *e);
void untranslated_libcuxx(struct engine *e, const struct tok *t);
/* Reports a call of cuBLAS' first interface, which has no handles; true if it is one. */
bool untranslated_cublas_v1(struct engine *e, const struct tok *t, struct str name);
/* Reports an 8-bit OCP float type in device code, which some GPUs lack. */
void untranslated_ocp(struct engine *e, const struct tok *t);
/* Reports kernel launches in device code; updates device_head, host_head, device_depth and device_only. */
void untranslated_launch(struct engine *e, const struct tok *t);
/* Updates `doubt` at a preprocessor line that opens or closes a condition. */
void untranslated_condition(struct engine *e, struct str directive);
/* Updates `spent` after each token. */
void untranslated_track(struct engine *e, const struct tok *t);
/* Could the last token, such as a type, make the current one a declared name? */
bool untranslated_declaration_before(const struct engine *e);
