/* Conditions over the facts of a machine, as the knowledge base writes them, and texts with facts in them.
 *
 *     kernel < 6.18.4 and any g in gpus: g.target in 'gfx1151 gfx115?'
 *     python.torch.build = 'cpu' and not (wsl or container)
 *
 * Facts are named as `rocsmith doctor --json` prints them (machine/machine_json.c), items by the name that stands
 * before "in". A fact alone holds if it is not false, 0, "", an empty list or null.
 *
 *     = != < <= > >=   numbers (7, 16GiB); texts in quotes; versions without quotes: by their leading numbers
 *     in               one of the words of a text in quotes (* and ? match as in file names), or an item of a list of
 *                      facts; if the left side is a list, one of its items is enough
 *     served           as `in`, for GPU targets: also true if a generic target of the list covers it
 *     not, and, or, ( )
 *     any NAME in LIST: ..., all NAME in LIST: ...   up to the end of the condition or of the parentheses
 *
 * An answer has three values: a comparison with a fact that is not known ("", null, an empty list of targets) is UNKNOWN,
 * and "not", "and" and "or" treat that as three-valued logic does.
 */
#pragma once

#include "formats/node.h"
#include "machine/machine.h"

enum truth { TRUTH_NO, TRUTH_UNKNOWN, TRUTH_YES };

/* The names that a condition can use: the innermost first; the facts themselves have no name. */
struct scope {
	struct str name;
	const struct node *value; /* NULL: no fact has a value, as for predicate_paths() */
	const struct scope *up;
	struct str path; /* its place in the facts, "gpus[]"; for predicate_paths() */
};

/* The facts as a tree. */
MUST_USE struct err *facts_of(struct arena *a, const struct machine *m, const struct node **ret);
/* The fact of this path ("gpu.target"), or NULL. */
const struct node *facts_find(const struct scope *s, struct str path);
/* because: gets the facts that decided ("kernel is 6.8.0-31"), or NULL. E_SYNTAX with the place for a wrong condition. */
MUST_USE struct err *predicate_ask(struct arena *a, const struct scope *s, struct str text,
	struct strs *because, enum truth *ret);
/* The text with "{gpu.target}" replaced by that fact; a list is written with ", " between its items. "{gpu.vram size}" writes
 * bytes for people, "{gpus count}" the number of items, "{gpus plural}" an "s" unless there is one,
 * "{g.index for g in gpus: not g.apu}" the indices of those GPUs, with "," between. */
struct str facts_expand(struct arena *a, const struct scope *s, struct str text);
/* Conditions that descriptions of projects and recipes write as lists. A version ("" is UNKNOWN) in a range as PEP 440
 * has it; a GPU target that one of the patterns names, where wave32 and wave64 are patterns, too. */
MUST_USE struct err *predicate_version(
	struct arena *a, struct str version, struct str range, enum truth *ret);
bool predicate_gpu(struct str gpu, const struct strs *patterns);
/* Does one of the GPUs (with all: each) match? YES without patterns, UNKNOWN without GPUs. */
enum truth predicate_gpus(const struct strs *gpus, const struct strs *patterns, bool all);
/* Names every path in the condition, for checks of the tables; items of s and of the condition's own lists as "gpus[].target". */
MUST_USE struct err *predicate_paths(
	struct arena *a, const struct scope *s, struct str text, struct strs *ret);
