/* The history of compiles, a hash table in a file; see cc_int.h. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "base/fs.h"
#include "cc/cc_int.h"

enum {
	PLACES = 32768,       /* 1 MiB: a build of 5,000 sources with several sets of flags fits */
	WINDOW = 32,          /* a key may be in this many places, from its hash on */
	PRIOR = 30 * 1000,    /* ms: the weight of our initial numbers against runs */
	HEAVIEST = 60 * 1000, /* ms: the largest weight of one run */
	MEMORY = 600 * 1000,  /* ms: the largest weight of all earlier runs */
};

struct history_record {
	uint64_t key;         /* 0: free; its lowest bits are enum history_by + 1 */
	uint32_t kib, spread; /* spread: for a kind, the mean distance from the mean */
	uint32_t ms;          /* the time a source took; for a kind, the weight of all runs */
	uint32_t when;        /* seconds since 1970 */
	uint64_t sum;
};

/* Mean and spread in MiB, from compiles of PyTorch 2.6.0 (1,130 of C++, 257 of HIP for one GPU). C++: mean 530, 90th
 * percentile 850, largest 2,100. HIP: 305, 420 and 580, or a third more if one hipcc run does everything. A link takes
 * this in addition to the size of its objects. */
static const struct {
	uint32_t mean, spread;
} first[] = {
	[CC_C] = {100, 25}, [CC_CXX] = {530, 180}, [CC_HIP] = {400, 120}, [CC_LINK] = {150, 75}};

static uint64_t usual(enum cc_kind kind)
{
	return (uint64_t)(first[kind].mean + 2 * first[kind].spread) << 20;
}

uint64_t compile_memory(struct str kind)
{
	return usual(str_eq(kind, S("device")) ? CC_HIP
		     : str_eq(kind, S("c"))    ? CC_C
		     : str_eq(kind, S("link")) ? CC_LINK
					       : CC_CXX);
}

const char *const history_by_names[] = {"kind", "source", "command", NULL};

static uint64_t mix(uint64_t h, struct str s)
{
	return (h ^ str_hash(s)) * 0x9e3779b97f4a7c15ull + 1;
}

struct history_key history_key(
	const struct cc *cc, const struct strs *args, const struct cc_words *w)
{
	struct history_key key = {.kind = w->kind};
	key.hash[HISTORY_KIND] = mix(w->kind, S("kind"));
	key.hash[HISTORY_SOURCE] = mix(w->kind, w->input);
	key.hash[HISTORY_COMMAND] = mix(0, cc->name);
	for (size_t i = 0; i < args->n; i++)
		key.hash[HISTORY_COMMAND] = mix(key.hash[HISTORY_COMMAND], args->v[i]);
	for (unsigned by = 0; by < HISTORY_KEYS; by++)
		key.hash[by] = (key.hash[by] << 2) | (by + 1);
	return key;
}

/* ---- the file ---- */

static uint64_t sum_of(const struct history_record *r)
{
	struct history_record plain = *r;
	plain.sum = 0;
	return mix(1, (struct str){.p = (const char *)&plain, .n = sizeof(plain)});
}

static bool is_whole(const struct history_record *r)
{
	return r->key && r->sum == sum_of(r);
}

static struct err *open_file(struct str path, int *ret)
{
	return fs_open_shared(path, (PLACES + WINDOW) * sizeof(struct history_record), ret);
}

/* Finds the record of a key, or a place for it: a free one, or else that of the oldest record. */
static struct err *find_record(
	int fd, uint64_t key, struct history_record *ret, uint64_t *ret_offset)
{
	struct history_record all[WINDOW];
	uint64_t place = (key * 0x9e3779b97f4a7c15ull) >> 32 & (PLACES - 1);
	uint64_t at = place * sizeof(*ret);
	size_t best = 0;
	TRY(fs_pread(fd, all, sizeof(all), at));
	for (size_t i = 0; i < WINDOW; i++) {
		if (!is_whole(&all[i]))
			all[i] = (struct history_record){0};
		if (all[i].key == key || all[i].when < all[best].when)
			best = i;
		if (all[i].key == key)
			break;
	}
	*ret = all[best].key == key ? all[best] : (struct history_record){.key = key};
	*ret_offset = at + best * sizeof(*ret);
	return NULL;
}

/* ---- look-up ---- */

struct err *history_guess(struct str path, const struct history_key *key, struct history_guess *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	struct history_record r[HISTORY_KEYS];
	uint64_t offset;
	*ret = (struct history_guess){.memory = usual(key->kind)};
	TRY(open_file(path, &fd));
	for (unsigned by = 0; by < HISTORY_KEYS; by++)
		TRY(find_record(fd, key->hash[by], &r[by], &offset));
	if (r[HISTORY_KIND].when)
		ret->memory = ((uint64_t)r[HISTORY_KIND].kib + 2ull * r[HISTORY_KIND].spread) << 10;
	for (unsigned by = HISTORY_SOURCE; by <= HISTORY_COMMAND; by++) {
		if (!r[by].when)
			continue;
		ret->memory = (uint64_t)r[by].kib << 10;
		ret->seconds = r[by].ms / 1000.0;
		ret->by = by;
	}
	return NULL;
}

struct err *history_total(struct str path, struct history_total *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	struct history_record part[512];
	*ret = (struct history_total){0};
	if (!fs_is_file(path)) /* open_file() would create it */
		return NULL;
	TRY(open_file(path, &fd));
	for (size_t at = 0; at < PLACES + WINDOW; at += 512) {
		size_t n = PLACES + WINDOW - at < 512 ? PLACES + WINDOW - at : 512;
		TRY(fs_pread(fd, part, n * sizeof(*part), at * sizeof(*part)));
		for (size_t i = 0; i < n; i++) {
			if ((part[i].key & 3) != HISTORY_SOURCE + 1 || !is_whole(&part[i]))
				continue;
			uint64_t bytes = (uint64_t)part[i].kib << 10;
			ret->sources++;
			ret->seconds += part[i].ms / 1000.0;
			ret->memory = bytes > ret->memory ? bytes : ret->memory;
		}
	}
	return NULL;
}

/* ---- adding ---- */

struct err *history_add(
	struct str path, const struct history_key *key, uint64_t bytes, double seconds)
{
	CLEANUP(fd_closep) int fd = -1; /* closing it releases the lock */
	uint32_t kib = (uint32_t)(bytes >> 10 < UINT32_MAX ? bytes >> 10 : UINT32_MAX);
	uint32_t ms = (uint32_t)(seconds < 1e6 ? seconds * 1000 : 1e9);
	TRY(open_file(path, &fd));
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	while (fcntl(fd, F_OFD_SETLKW, &l) < 0)
		if (errno != EINTR || cancelled())
			return err_errno("cannot lock the history");
	for (unsigned by = 0; by < HISTORY_KEYS; by++) {
		struct history_record r;
		uint64_t offset;
		TRY(find_record(fd, key->hash[by], &r, &offset));
		if (by == HISTORY_KIND && !r.when) {
			r.kib = first[key->kind].mean << 10;
			r.spread = first[key->kind].spread << 10;
			r.ms = PRIOR;
		}
		if (by == HISTORY_KIND) {
			/* the run joins the mean; long runs weigh more, as they share the memory most of the time */
			double weight = ms < HEAVIEST ? ms + 1 : HEAVIEST;
			double before = r.ms < MEMORY ? r.ms : MEMORY;
			double part = weight / (weight + before), off = (double)kib - r.kib;
			r.spread =
				(uint32_t)(r.spread + ((off < 0 ? -off : off) - r.spread) * part);
			r.kib = (uint32_t)(r.kib + off * part);
			r.ms = (uint32_t)(before + weight);
		} else {
			r = (struct history_record){.key = r.key, .kib = kib, .ms = ms};
		}
		r.when = (uint32_t)time(NULL);
		r.sum = sum_of(&r);
		TRY(fs_pwrite(fd, &r, sizeof(r), offset));
	}
	return NULL;
}
