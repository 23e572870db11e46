/* Open addressing over an insertion-ordered entry array; see map.h. */
#include "base/map.h"

#include <sys/auxv.h>

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

#define ROTATE(x, by) ((x) << (by) | (x) >> (64 - (by)))

static void sip_round(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	v[0] += v[1];
	v[2] += v[3];
	v[1] = ROTATE(v[1], 13) ^ v[0];
	v[3] = ROTATE(v[3], 16) ^ v[2];
	v[0] = ROTATE(v[0], 32) + v[3];
	v[2] += v[1];
	v[3] = ROTATE(v[3], 21) ^ v[0];
	v[1] = ROTATE(v[1], 17) ^ v[2];
	v[2] = ROTATE(v[2], 32);
	v[0] ^= word;
}

/* SipHash-1-3 (Aumasson and Bernstein, 2012). */
static uint64_t sip_hash(const uint64_t key[2], struct str s)
{
	uint64_t v[] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
		key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
	uint64_t word, last = (uint64_t)s.n << 56;
	for (; s.n >= sizeof(word); s = str_sub(s, sizeof(word), s.n)) {
		memcpy(&word, s.p, sizeof(word));
		sip_round(v, word);
	}
	for (size_t i = 0; i < s.n; i++)
		last |= (uint64_t)(unsigned char)s.p[i] << 8 * i;
	sip_round(v, last);
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 3; i++)
		sip_round(v, 0);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint32_t *slot_of(const struct map *m, struct str key, uint64_t hash)
{
	size_t i = (size_t)hash & (m->nslots - 1);
	for (; m->slots[i]; i = (i + 1) & (m->nslots - 1)) {
		const struct map_entry *e = &m->v[m->slots[i] - 1];
		if (e->hash == hash && str_eq(e->key, key))
			break;
	}
	return &m->slots[i];
}

void *map_get(const struct map *m, struct str key)
{
	if (!m->n)
		return NULL;
	uint32_t at = *slot_of(m, key, sip_hash(m->secret, key));
	return at ? m->v[at - 1].value : NULL;
}

bool map_has(const struct map *m, struct str key)
{
	return m->n && *slot_of(m, key, sip_hash(m->secret, key));
}

bool map_put(struct map *m, struct str key, void *value)
{
	if (m->n * 2 >= m->nslots) {
		/* 16 random bytes that the kernel gives each process, getauxval(3) */
		const void *chosen = (const void *)getauxval(AT_RANDOM);
		if (!m->nslots && chosen)
			memcpy(m->secret, chosen, sizeof(m->secret));
		m->nslots = m->nslots ? m->nslots * 2 : 16;
		m->slots = arena_array(m->a, m->nslots, sizeof(*m->slots));
		for (size_t i = 0; i < m->n; i++)
			*slot_of(m, m->v[i].key, m->v[i].hash) = (uint32_t)i + 1;
	}
	uint64_t hash = sip_hash(m->secret, key);
	uint32_t *slot = slot_of(m, key, hash);
	if (*slot) {
		m->v[*slot - 1].value = value;
		return false;
	}
	*VEC_PUSH(m->a, m) = (struct map_entry){.key = key, .value = value, .hash = hash};
	*slot = (uint32_t)m->n;
	return true;
}
