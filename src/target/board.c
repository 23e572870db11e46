/* The products of PCI devices; see target.h. Source of amdgpu.ids: libdrm (asic_id): "DEVICE,\tREVISION,\tNAME"
 * on each line, the numbers in hex. */
#include "target/target.h"

/* Is the text this number in hex? wanted may have "0x" before it, too. */
static bool is_hex(struct str text, struct str wanted)
{
	uint64_t n, m;
	wanted = str_sub(wanted, str_starts(wanted, S("0x")) ? 2 : 0, wanted.n);
	return str_u64(str_trim(text), 16, &n) && str_u64(wanted, 16, &m) && n == m;
}

struct str board_ids_line(struct str ids, unsigned device, struct str revision)
{
	struct str line, rest, device_text, revision_text;
	uint64_t n;
	while (str_next(&ids, '\n', &line)) {
		str_cut(line, ',', &device_text, &rest);
		str_cut(rest, ',', &revision_text, &rest);
		if (str_u64(device_text, 16, &n) && n == device && is_hex(revision_text, revision))
			return line;
	}
	return S("");
}

/* "Radeon RX 580" for "AMD Radeon RX 580 Series". */
static struct str name_in(struct str line)
{
	static const struct str ends[] = {S_INIT(" Series"), S_INIT(" Graphics")};
	struct str name = str_trim(str_sub(line, str_rchr(line, ',') + 1, line.n));
	if (str_starts(name, S("AMD ")))
		name = str_sub(name, 4, name.n);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (str_ends(name, ends[i]))
			name = str_sub(name, 0, name.n - ends[i].n);
	return name;
}

struct str board_name(
	struct arena *a, unsigned device, struct str revision, uint64_t memory, struct str ids)
{
	enum { ANY = 1, BY_MEMORY = 1, BY_REVISION = 2 };
	const uint64_t gib = (memory >> 30) + (memory >> 29 & 1);
	struct str line = board_ids_line(ids, device, revision), found = S("");
	unsigned best = 0;
	const struct board *b = board_table();
	while (b < board_table() + board_count && b->device != device)
		b++;
	for (const char *const *names = b->names; names && *names; names++) {
		struct str key, name, wanted, size;
		uint64_t n = 0;
		str_cut(str_from(*names), ' ', &key, &name);
		str_cut(key, '/', &wanted, &size);
		if ((wanted.n && !is_hex(wanted, revision)) ||
			(size.n && (!str_u64(size, 10, &n) || n != gib)))
			continue;
		unsigned score = ANY + (size.n ? BY_MEMORY : 0u) + (wanted.n ? BY_REVISION : 0u);
		if (score > best)
			found = name;
		best = score > best ? score : best;
	}
	return line.n && best < ANY + BY_MEMORY + BY_REVISION ? str_dup(a, name_in(line)) : found;
}
