/* The history of compiles; see cc_int.h. */
#include "cc/cc_int.h"

#include "base/fs.h"
#include "base/map.h"

enum { HISTORY_MAX = 64 << 20 };

static uint64_t mix(uint64_t h, struct str s)
{
	return (h ^ str_hash(s)) * 0x9e3779b97f4a7c15ull + 1;
}

struct history_key history_key(
	const struct cc *cc, const struct strs *args, const struct cc_words *w)
{
	struct history_key key = {.command = mix(0, cc->name), .source = mix(w->kind, w->input)};
	for (size_t i = 0; i < args->n; i++)
		key.command = mix(key.command, args->v[i]);
	return key;
}

static uint64_t find(struct str text, struct history_key key, bool *ret_exact)
{
	struct str line, word[3];
	uint64_t exact = 0, near = 0, command, source, kib;
	while (str_next(&text, '\n', &line)) {
		for (size_t i = 0; i < 3; i++)
			if (!str_next(&line, ' ', &word[i]))
				word[i] = S("");
		if (!str_u64(word[0], 16, &command) || !str_u64(word[1], 16, &source) ||
			!str_u64(word[2], 10, &kib) || kib > UINT64_MAX >> 10)
			continue;
		if (command == key.command)
			exact = kib << 10;
		if (source == key.source)
			near = kib << 10;
	}
	*ret_exact = exact > 0;
	return exact ? exact : near;
}

/* A file that has grown beyond all sense begins anew. */
struct err *history_peak(
	struct str path, struct history_key key, uint64_t *ret_bytes, bool *ret_exact)
{
	ARENA(tmp);
	struct str text = {0};
	*ret_bytes = 0;
	struct err *e = fs_read_opt(&tmp, path, HISTORY_MAX, &text);
	if (e && e->code == E_LIMIT) {
		err_free(e);
		return fs_remove(path);
	}
	if (!e)
		*ret_bytes = find(text, key, ret_exact);
	return e;
}

struct err *history_add(struct str path, struct history_key key, uint64_t bytes)
{
	ARENA(tmp);
	struct str line = str_fmt(&tmp, "%016llx %016llx %llu\n", (unsigned long long)key.command,
		(unsigned long long)key.source, (unsigned long long)(bytes >> 10));
	return fs_append(path, line);
}
