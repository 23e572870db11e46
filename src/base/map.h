/* A hash map from strings to pointers, in an arena. Keys are views that must outlive the map. There is no removal.
 * Iterate over .v (insertion order). The hash is keyed with a secret of the process, so that no file can contain keys
 * chosen to collide. */
#pragma once

#include "base/str.h"

struct map_entry {
	struct str key;
	void *value;
	uint64_t hash; /* hash of the key */
};

struct map {
	struct arena *a;
	struct map_entry *v; /* n entries in insertion order */
	size_t n, cap;
	uint32_t *slots; /* index into v plus one; 0 = free */
	size_t nslots;   /* a power of two */
	uint64_t secret[2];
};

#define MAP(name, arena) struct map name = {.a = (arena)}

/* The value of key, or NULL. */
void *map_get(const struct map *m, struct str key);
bool map_has(const struct map *m, struct str key);
/* Sets the value, replacing an older one; returns true when the key is new. */
bool map_put(struct map *m, struct str key, void *value);
/* A hash without a secret, the same in every process on this machine; two texts may share it, even on purpose. */
uint64_t str_hash(struct str s);
