/* The language of conditions over the facts of a machine, and of texts with facts in them, for the knowledge base.
 *
 *     kernel < 6.18.4 and any g in gpus: g.target in 'gfx1151 gfx115?'
 *     python.torch.build = 'cpu' and not (wsl or container)
 *
 * Facts have the names that `rocsmith doctor --json` prints (machine/machine_json.c), items of lists the name before
 * "in". A fact alone holds if it is not false, 0, "", an empty list or null.
 *
 *     = != < <= > >=   numbers (7, 16GiB); texts in quotes; versions without quotes: by their leading numbers, and with
 *                      four of them by a distribution's, too: 6.17.0-14-generic < 6.17.0.19
 *     in               one of the words of a text in quotes (* and ? match as in file names), or an item of a list of
 *                      facts; if the left side is a list, one of its items is enough
 *     served           as `in`, for GPU targets: also true if a generic target of the list covers it
 *     borrows          has the list the target whose code this one runs under an override (data/compat.yaml)?
 *     not, and, or, ( )
 *     any NAME in LIST: ..., all NAME in LIST: ...   up to the end of the condition or of the parentheses
 *
 * The logic has three values: a comparison with an unknown fact ("", null, an empty list of targets) is UNKNOWN, and
 * "not", "and" and "or" follow three-valued logic.
 */
#pragma once

#include "formats/node.h"
#include "machine/machine.h"

enum truth { TRUTH_NO, TRUTH_UNKNOWN, TRUTH_YES };

/* A scope binds a name that a condition can use; `up` leads outwards. The outermost scope, the facts, has no name. */
struct scope {
	struct str name;
	const struct node *value; /* NULL: no value */
	const struct scope *up;
};

/* Converts the facts to a tree of nodes. */
MUST_USE struct err *facts_of(struct arena *a, const struct machine *m, const struct node **ret);
/* The fact at this path ("gpu.target"), or NULL. */
const struct node *facts_find(const struct scope *s, struct str path);
/* Evaluates a condition. because, unless NULL, gets the facts that it used ("kernel is 6.8.0-31"). Fails with E_SYNTAX
 * and the place of the mistake for a malformed condition. */
MUST_USE struct err *predicate_ask(struct arena *a, const struct scope *s, struct str text,
	struct strs *because, enum truth *ret);
/* The text with "{gpu.target}" replaced by that fact; items of a list are separated by ", ". "{gpu.vram size}" gives a
 * size with its unit, "{gpus count}" the number of items, "{gpus plural}" an "s" unless there is exactly one item,
 * "{g.index for g in gpus: not g.apu}" the indices of those GPUs, separated by ",". "{p.path shell}" is one word of a
 * shell: commands must have this form for whatever a stranger could name. "{p.torch.version local}" is what follows the last "+", such a word, too. "{g.target sibling}", "{g.target override}" and
 * "{g.target report}" are its row in data/compat.yaml: as, value and text. */
struct str facts_expand(struct arena *a, const struct scope *s, struct str text);
/* Conditions that descriptions of projects and recipes write as lists. predicate_version(): is the version ("" gives
 * UNKNOWN) in a range of PEP 440? predicate_gpu(): does a pattern match the GPU target? wave32 and wave64 are
 * patterns. */
MUST_USE struct err *predicate_version(
	struct arena *a, struct str version, struct str range, enum truth *ret);
bool predicate_gpu(struct str gpu, const struct strs *patterns);
/* Does any GPU (with `all`, every GPU) match? YES without patterns, UNKNOWN without GPUs. */
enum truth predicate_gpus(const struct strs *gpus, const struct strs *patterns, bool all);
