/* The disk space that rocsmith takes: SDKs, downloads, sources, build folders, wheels, and what killed runs left
 * (data/disk.yaml); and caches of other programs, which these alone clean.
 *
 * An item is rocsmith's if it lies in one of its places, which nobody else may write to, and has the proof that the table
 * names; or if a build noted it (disk_note()): a build folder that the user named has its tag, a wheel its provenance.
 * Nothing is found by searching, and links are not followed.
 *
 * A removal needs no space on the disk, and is one rename for all who look; what a killed one leaves is an item of kind
 * DISK_LEFTOVER. What runs of rocsmith use is locked or held (fs_hold()), and stays.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "formats/json_fields.h"

enum disk_kind {
	DISK_SDK,
	DISK_DOWNLOAD,
	DISK_SOURCE,
	DISK_BUILD,
	DISK_OBJECT,
	DISK_WHEEL,
	DISK_LEFTOVER
};
extern const char *const disk_kinds[]; /* "sdk", ...; ends with NULL */

struct disk_place { /* a row */
	enum disk_kind kind;
	const char *at, *proof, *lock;
	bool live;
};
TABLE(disk_place);

struct disk_cache { /* a row */
	const char *name, *variable, *at;
	const char *const *clean, *const *older, *const *evidence;
};
TABLE(disk_cache);
struct str disk_cache_path(struct arena *a, const struct disk_cache *c);

struct disk_part { /* packages of an SDK that are for one GPU */
	struct str gpu;
	uint64_t bytes;
};

struct disk_item {
	enum disk_kind kind;
	struct str name, path;
	struct str project; /* builds: the folder of the project, if it is known */
	struct str busy;    /* why it cannot be removed; "" = it can */
	uint64_t bytes;     /* as du(1) counts; what lies in several items counts in the first */
	uint64_t used;      /* when it was last used, in seconds since 1970 */
	bool unfinished;    /* builds: another one goes on from here */
	VEC(struct disk_part) gpus;
	/* its lock, a file that goes with it, and the note of a build, for disk_remove(); or "" */
	struct str lock, beside, note;
};

struct disk_other { /* a cache of another program */
	struct str name, path;
	uint64_t bytes;
	const char *const *clean; /* a row's; NULL = it has no such command */
};

struct disk {
	VEC(struct disk_item) items; /* the table's order */
	VEC(struct disk_other) caches;
	struct strs doubts;     /* places that were not looked at, and why */
	struct strs dead;       /* notes of what is gone */
	uint64_t bytes, unread; /* sum of all items; folders that could not be looked into */
};

/* Notes a build folder outside of our places, or a wheel. A note is a link in FS_STATE "made", so a note cannot be torn.
 * Failures are ignored: a build does not need it. */
void disk_note(struct str path);
/* The contents of CACHEDIR.TAG (https://bford.info/cachedir/) in build folders. */
extern const char disk_tag[];

/* Looks at everything; with others = true also at the caches of other programs. Changes nothing. */
MUST_USE struct err *disk_read(struct arena *a, bool others, struct disk *ret);
/* Removes an item, and adds the bytes that became free. E_LOCKED if it is in use; fine if it went meanwhile. */
MUST_USE struct err *disk_remove(const struct disk_item *item, uint64_t *io_bytes);
/* Hints at what would free space on the disk of this folder, if anything would: "'rocsmith clean build' would free 3.1 GB". */
struct err *disk_hint(struct err *e, struct str dir);

/* ---- what to remove ---- */
struct disk_wish {
	bool kinds[DISK_LEFTOVER + 1];
	uint64_t older; /* only what was not used for so many seconds; 0 = whenever */
	uint64_t
		budget; /* only as much as is needed for these kinds to take at most so many bytes */
	bool has_budget;
	uint64_t newest;   /* leave so many of each kind, those that were used last */
	struct strs names; /* leave what has one of these names or paths */
};

/* Chooses items, those that were not used for longest first. What is busy is among them, but does not count as freed. */
void disk_choose(
	struct arena *a, const struct disk *d, const struct disk_wish *w, struct disk *ret);

extern const struct json_field disk_fields[]; /* struct disk, with a schema */
extern const struct json_field disk_item_fields[];
