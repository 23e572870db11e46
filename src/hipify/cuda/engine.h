/* The state that the parts of the translator share: that of one pass over one text.
 *
 * text.c drives the tokenizer and dispatches; the rules (args.c, include.c, untranslated.c) look at
 * the current token and may add edits, in the order of the text. Nothing looks further ahead than
 * one token or one preprocessor line, so that the pass is linear.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "hipify/cuda/names.h"
#include "lang/cxx/lexer.h"

/* A call whose argument may have to be wrapped. */
struct frame {
	const struct arg_rule *rule;
	unsigned depth, arg, angle;   /* bracket depth inside the call; argument from 1; open < */
	bool fresh, open;             /* at the start of an argument; a wrapper was opened */
	bool directive;               /* the call is part of a preprocessor line */
	const struct arg_rule *wraps; /* the rule of the open wrapper */
};

struct engine {
	struct arena *a;
	struct lex l;
	const struct hipify_context *context; /* NULL: nothing is known about other files */
	struct hipify_text *ret;
	struct tok prev, prev2; /* the last two tokens (line ends do not count) */
	struct tok outer_prev;  /* the last one outside preprocessor lines */
	VEC(struct frame) frames;
	const struct arg_rule *pending; /* rule of the identifier just seen */
	unsigned depth,
		outer_depth; /* open brackets; the number in front of the current directive */
	unsigned enum_depth; /* depth inside "enum {", or 0 */
	bool enum_head, in_asm, skip_guard;
	bool plain; /* the statement so far may be the head of a declaration: const char *name */
	bool has_warp_macro, has_local_include, has_include, runtime_first;
	bool device_head, host_head; /* words seen in the head of a function that may follow */
	unsigned device_depth;       /* depth inside a function of the device, or 0 */
	bool device_only;            /* and the host does not compile it */
	unsigned doubt;              /* depth of the outermost #if that HIP need not take, or 0 */
	struct str macro;            /* the one being defined */
	bool cublas_v1, cublas_v2;   /* which of cuBLAS' headers it includes */
	bool adds, halves;           /* it says atomicAdd, a type of 16 bits */
	size_t bol_scanned, bol; /* up to where columns were counted, and the line's begin there */
	struct map declared;     /* names that look like CUDA's but are the project's own */
	struct map headers;
	struct strs ours; /* headers of ours that the text includes itself */
};

void engine_replace(
	struct engine *e, size_t from, size_t to, struct str with, const struct hipify_rule *rule);
void engine_insert(struct engine *e, size_t at, struct str text, const struct hipify_rule *rule);
void engine_untranslated(
	struct engine *e, const struct tok *at, struct str name, struct str suggestion);
/* Notes the header of ours that a row's name is declared in. */
void engine_needs(struct engine *e, const struct hipify_rule *r);
/* Reports the name if HIP has it, but only since a later version than the wanted one. */
bool engine_too_new(struct engine *e, const struct tok *at, const struct hipify_rule *r);
/* The token behind the current one; TOK_END when there is none that can be read. */
struct tok engine_peek(const struct engine *e);
struct str engine_text(const struct engine *e, const struct tok *t);
bool engine_is(const struct engine *e, const struct tok *t, struct str text);

/* args.c: wraps arguments; called for every token, before and after it is looked at. */
void args_before(struct engine *e, const struct tok *t);
void args_after(struct engine *e, const struct tok *t);
void args_close_all(struct engine *e, bool directive_only);
/* ptx.c: the asm statement that begins here; false when it is no PTX as far as can be seen. */
bool ptx_statement(struct engine *e, const struct tok *t);
/* include.c */
void include_path(struct engine *e, const struct tok *t);
/* untranslated.c: what is reported as not translated, and which names are the project's own. */
void untranslated_name(struct engine *e, const struct tok *t, const struct hipify_rule *r);
void untranslated_raw_string(struct engine *e, const struct tok *t);
void untranslated_asm_string(struct engine *e, const struct tok *t);
void untranslated_paste(struct engine *e);
void untranslated_libcuxx(struct engine *e, const struct tok *t);
/* A call of cuBLAS' first interface, which has no handles. */
bool untranslated_cublas_v1(struct engine *e, const struct tok *t, struct str name);
/* A type of 8 bits that device code for some GPU lacks. */
void untranslated_ocp(struct engine *e, const struct tok *t);
/* Kernels that kernels launch. */
void untranslated_launch(struct engine *e, const struct tok *t);
/* A preprocessor line that opens or closes a condition: keeps `doubt`. */
void untranslated_condition(struct engine *e, struct str directive);
/* After each token: keeps `plain`. */
void untranslated_track(struct engine *e, const struct tok *t);
/* Does the last token make this one a new name? */
bool untranslated_declaration_before(const struct engine *e);
