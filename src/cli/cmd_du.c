/* rocsmith du: what takes space on the disk because of rocsmith, and beside it. */
#include <time.h>

#include "base/fs.h"
#include "cli/opt.h"
#include "disk/disk.h"
#include "term/out.h"
#include "term/table.h"

enum { DAY = 86400 };

struct du_args {
	struct common common;
};
#define ARGS struct du_args

const struct opt cmd_du_opts[] = {OPT_LAST};

static struct str state_text(struct arena *a, const struct disk_item *i)
{
	struct strs list = {0};
	VEC_EACH (const struct disk_part, p, &i->gpus)
		strs_fmt(a, &list, "%.*s %.*s", STR(p->gpu), STR(human_bytes(a, p->bytes)));
	if (i->unfinished)
		strs_add(a, &list, S("unfinished: a build goes on from it"));
	if (i->busy.n)
		strs_add(a, &list, i->busy);
	if (i->project.n)
		strs_fmt(a, &list, "of %.*s", STR(i->project));
	return str_join(a, &list, S("; "));
}

struct err *cmd_du(struct arena *a, void *args)
{
	struct du_args *o = args;
	struct disk d;
	uint64_t left = 0, size;
	struct table t = table_new(a, "kind|name|>size|last use|state");
	struct table caches = table_new(a, "cache of|>size|cleaned by|folder");
	TRY(disk_read(a, true, &d));
	VEC_EACH (const struct str, s, &d.doubts)
		say_warning("not looked at: %.*s", STR(*s));
	if (show_json(&o->common, disk_fields, &d))
		return NULL;
	VEC_EACH (const struct disk_item, i, &d.items) {
		uint64_t days = ((uint64_t)time(NULL) - i->used) / DAY;
		struct str age = str_fmt(a, "%.*s ago", STR(human_count(a, days, "day")));
		TABLE_ROW(&t, str_from(disk_kinds[i->kind]), i->name, human_bytes(a, i->bytes),
			days ? age : S("today"), state_text(a, i));
	}
	table_print(&t);
	out_text(t.n ? S("\n") : S(""));
	out_fmt("%.*s of rocsmith", STR(human_bytes(a, d.bytes)));
	if (fs_free_space(fs_place(a, FS_DATA, S("")), &left, &size))
		out_fmt(", %.*s free", STR(human_bytes(a, left)));
	out_text(S("\n"));
	VEC_EACH (const struct disk_other, other, &d.caches) {
		bool own = other->clean && *other->clean;
		TABLE_ROW(&caches, other->name, human_bytes(a, other->bytes),
			own ? str_fmt(a, "rocsmith clean %.*s", STR(other->name)) : S("-"),
			other->path);
	}
	table_below(&caches);
	if (d.unread)
		say_warning("%.*s could not be looked into, and counts as empty",
			STR(human_count(a, d.unread, "folder")));
	return NULL;
}
