/* Small machines that are written file by file, and their recordings. */
#pragma once

#include <unistd.h>

#include "know/rule.h"
#include "machine/root.h"
#include "test.h"

#define NODES "sys/class/kfd/kfd/topology/nodes/"
#define GPU(n) NODES n "/properties", "simd_count 8\ngfx_target_version 110000\nlocation_id 768\n"
#define PCI "sys/bus/pci/devices/0000:03:00.0/"
#define STATUS(groups)                                                                             \
	"proc/self/status", "Uid:\t1000\t1000\nGid:\t1000\t1000\nGroups:\t" groups "\n"
#define MORE 24

static inline void put(struct arena *a, struct str dir, const char *name, const char *text)
{
	struct str path = path_join(a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static inline void link_to(struct arena *a, struct str dir, const char *name, const char *target)
{
	struct str path = path_join(a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_symlink(str_from(target), path));
}

/* A machine of these files: name, text, ..., NULL. */
static inline struct str machine_of(struct arena *a, const char *const *files)
{
	struct str dir = test_dir(a);
	for (; *files; files += 2)
		put(a, dir, files[0], files[1]);
	return dir;
}

static inline struct str facts(struct arena *a, struct str dir, struct machine *m)
{
	assert_ok(machine_read_all(a, dir, m));
	return json_document(a, 0, machine_fields, m);
}

/* Reads it, and its recording, which must have the same facts and comes back in ret_copy. */
static inline void read_twice(
	struct arena *a, struct str dir, struct machine *m, struct str *ret_copy)
{
	unsigned files;
	struct machine again;
	*ret_copy = path_join(a, test_dir(a), S("copy"));
	assert_ok(machine_record(dir, *ret_copy, &files));
	assert_str(facts(a, *ret_copy, &again), facts(a, dir, m).p);
}

static inline void done(struct str dir, struct str copy)
{
	test_dir_remove(dir);
	if (copy.n)
		test_dir_remove(path_dir(copy));
}

static inline struct str parts_text(struct arena *a, const struct machine_parts *parts)
{
	BUF(b, a);
	VEC_EACH (const struct machine_part, p, parts)
		buf_fmt(&b, "%.*s %.*s, ", STR(p->name), STR(p->version));
	return buf_str(&b);
}
