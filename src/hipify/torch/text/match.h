/* Finds the keys of a name table in a text, as the two regular expressions of PyTorch's hipify do.
 *
 * One is (?<=\W)(KEYS)(?=\W): leftmost; at one place the longest key that has a \W behind it, and
 * shorter ones when a longer has none. The other has no such borders: leftmost, longest. Keys may
 * hold any bytes. A matcher keeps views of the table's entries, is never changed after it was made
 * and is shared by threads. Time: about one cycle per byte where nothing begins like a key.
 */
#pragma once

#include "hipify/torch/model/tables.h"

struct torch_matcher;

struct torch_hit {
	size_t from, to;
	const struct torch_entry *entry;
};

/* words: with borders. An empty key is left out: it could match nowhere that matters. */
struct torch_matcher *torch_matcher_new(struct arena *a, const struct torch_map *map, bool words);
/* The first hit at or behind `at`. To go on like re.sub(), call again with at = ret->to. */
bool torch_find(const struct torch_matcher *m, struct str text, size_t at, struct torch_hit *ret);
