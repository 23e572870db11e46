/* Inside of the launch rewriter: launch.c drives, launch_one.c knows a single launch, launch_all.c
 * replaces all launches of a text.
 *
 * Positions are bytes. The original counts characters; that is the same thing wherever it compares
 * texts, and where it steps over characters (names, an empty pattern) we step over UTF-8.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "hipify/torch/text/launch.h"

enum launch_found { LAUNCH_NONE, LAUNCH_NAMED, LAUNCH_BARE };

/* Launches with equal texts, which the original replaces all at once. */
struct launch_shape {
	struct str old, hip;
	size_t head;               /* bytes in front of "<<<" */
	bool made;                 /* hip is known */
	uint32_t members;          /* where it stands: a list in the index */
	struct launch_shape *twin; /* the same text with another head */
};

struct launch {
	size_t at, end;     /* "<<<", and behind ">>>" */
	size_t start, stop; /* what is replaced: from the character before the name to behind the
			       "("; stop == start when no "(" follows */
	size_t name_end;    /* behind the name and its template arguments */
	enum launch_found found;
	struct launch_shape *shape; /* NULL = must be searched for in the whole text */
};

struct launch_work {
	struct arena *a;           /* for hip texts */
	struct torch_trace *trace; /* or NULL */
	struct str text;           /* as it is when all launches are looked for */
	char *masked;              /* the same without comments and strings */
	VEC(size_t) joins;         /* places in text where the line break behind "detail::" went */
	VEC(struct launch) launches;
	struct map shapes;      /* old text -> struct launch_shape * */
	struct map tails;       /* "<<<" to the end of an old text -> size_t *: the longest head */
	unsigned char *lengths; /* bits: there is a tail of this length */
	size_t longest;         /* tail */
	uint64_t steps;         /* done so far */
	struct str now;         /* the text with the replacements before the index was made */
	struct arena mem[3];    /* of now, of its successor, of the index */
	unsigned turn;          /* which of the first two is that of now */
	struct launch_index *index; /* of now, or NULL */
};

/* Comments and strings as "x", as the original sees them; ret has s.n bytes. */
void launch_mask(struct str s, char *ret);
/* The name in front of the "<<<" at l->at, looking back to floor: start and name_end. LAUNCH_BARE:
 * the text begins with it. */
enum launch_found launch_name(struct str s, size_t floor, struct launch *l);
/* The new text; false when the launch has fewer than two arguments. */
bool launch_hip(
	struct arena *a, const struct launch_work *w, const struct launch *l, struct str *ret);

/* Replaces the nth launch, which has a shape, or a text, wherever it stands; false when that is too
 * much work. */
MUST_USE bool launch_replace_shape(struct launch_work *w, uint32_t nth);
MUST_USE bool launch_replace_text(struct launch_work *w, struct str old, struct str with);
void launch_finish(struct launch_work *w); /* w->now is the result */
/* Counts work; false when it is too much. */
bool launch_steps(struct launch_work *w, size_t n);
