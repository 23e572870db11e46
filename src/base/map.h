/* A hash map from strings to pointers, in an arena. Keys are views that must outlive the map.
 * There is no removal. Iterate over .v (insertion order). */
#pragma once

#include "base/str.h"

struct map_entry {
	struct str key;
	void *value;
};

struct map {
	struct arena *a;
	struct map_entry *v; /* n entries in insertion order */
	size_t n, cap;
	uint32_t *slots; /* index into v plus one; 0 = free */
	size_t nslots;   /* a power of two */
};

#define MAP(name, arena) struct map name = {.a = (arena)}

/* The value of key, or NULL. */
void *map_get(const struct map *m, struct str key);
/* Sets the value, replacing an older one; returns true when the key is new. */
bool map_put(struct map *m, struct str key, void *value);
uint64_t str_hash(struct str s); /* for tables in memory only, never for identity */
