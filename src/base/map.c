/* Open addressing over an insertion-ordered entry array; see map.h. */
#include "base/map.h"

#include <string.h>

#include "base/vec.h"

uint64_t str_hash(struct str s)
{
	const uint64_t k = 0x9e3779b97f4a7c15u;
	uint64_t h = s.n * k, word;
	for (; s.n >= sizeof(word); s = str_sub(s, sizeof(word), s.n)) {
		memcpy(&word, s.p, sizeof(word));
		h = (h ^ word) * k;
		h ^= h >> 32;
	}
	word = 0;
	if (s.n)
		memcpy(&word, s.p, s.n);
	h = (h ^ word) * k;
	return h ^ (h >> 32);
}

static uint32_t *slot_of(const struct map *m, struct str key)
{
	size_t i = (size_t)str_hash(key) & (m->nslots - 1);
	while (m->slots[i] && !str_eq(m->v[m->slots[i] - 1].key, key))
		i = (i + 1) & (m->nslots - 1);
	return &m->slots[i];
}

static void rehash(struct map *m)
{
	m->nslots = m->nslots ? m->nslots * 2 : 16;
	m->slots = arena_array(m->a, m->nslots, sizeof(*m->slots));
	for (size_t i = 0; i < m->n; i++)
		*slot_of(m, m->v[i].key) = (uint32_t)i + 1;
}

void *map_get(const struct map *m, struct str key)
{
	if (!m->n)
		return NULL;
	uint32_t at = *slot_of(m, key);
	return at ? m->v[at - 1].value : NULL;
}

bool map_put(struct map *m, struct str key, void *value)
{
	if (m->n * 2 >= m->nslots)
		rehash(m);
	uint32_t *slot = slot_of(m, key);
	if (*slot) {
		m->v[*slot - 1].value = value;
		return false;
	}
	*VEC_PUSH(m->a, m) = (struct map_entry){.key = key, .value = value};
	*slot = (uint32_t)m->n;
	return true;
}
