/* Chooses what a user wants to have removed, and describes items as JSON; see disk.h. */
#include <stdlib.h>
#include <time.h>

#include "disk/disk.h"

/* ---- JSON ---- */

static const struct json_field part_fields[] = FIELDS_ONLY(struct disk_part, gpu, bytes);

const struct json_field disk_item_fields[] = {
	FIELD_ENUM("kind", struct disk_item, kind, disk_kinds),
	FIELDS(struct disk_item, name, path),
	FIELD_OPTIONAL("project", struct disk_item, project),
	FIELDS(struct disk_item, bytes, used, unfinished, busy),
	FIELD_LIST("gpus", struct disk_item, gpus, part_fields),
	{.kind = FIELD_END},
};

static const struct json_field other_fields[] = {
	FIELDS(struct disk_other, name, path, bytes, clean),
	{.kind = FIELD_END},
};

const struct json_field disk_fields[] = {
	FIELD_CONST("schema", "rocsmith.du/1"),
	FIELD_LIST("items", struct disk, items, disk_item_fields),
	FIELD_LIST("caches", struct disk, caches, other_fields),
	FIELDS(struct disk, bytes, unread, doubts),
	{.kind = FIELD_END},
};

/* ---- choosing ---- */

/* Leftovers are of no use to anybody, so they come first; then it goes by age. */
static int older_first(const void *x, const void *y)
{
	const struct disk_item *one = x, *two = y;
	bool a = one->kind == DISK_LEFTOVER, b = two->kind == DISK_LEFTOVER;
	if (a != b)
		return a ? -1 : 1;
	if (one->used != two->used)
		return one->used < two->used ? -1 : 1;
	return str_cmp(one->path, two->path);
}

void disk_choose(struct arena *a, const struct disk *d, const struct disk_wish *w, struct disk *ret)
{
	struct disk all = {0};
	uint64_t now = (uint64_t)time(NULL), left = 0, later[DISK_LEFTOVER + 1] = {0};
	*ret = (struct disk){0};
	VEC_EACH (const struct disk_item, i, &d->items) {
		left += w->kinds[i->kind] ? i->bytes : 0;
		*VEC_PUSH(a, &all.items) = *i;
	}
	VEC_SORT(&all.items, older_first);
	for (size_t n = all.items.n; n-- > 0;) { /* the newest first, for --keep */
		struct disk_item *i = &all.items.v[n];
		bool kept = i->kind != DISK_LEFTOVER && later[i->kind]++ < w->newest;
		kept = kept || strs_has(&w->names, i->name) || strs_has(&w->names, i->path);
		if (kept || !w->kinds[i->kind] || now - i->used < w->older)
			i->path = S("");
	}
	VEC_EACH (const struct disk_item, i, &all.items) {
		if (!i->path.n || (w->has_budget && left <= w->budget))
			continue;
		left -= i->busy.n ? 0 : i->bytes;
		*VEC_PUSH(a, &ret->items) = *i;
	}
	ret->bytes = left;
}
