/* Finds the newest compressed bundles that a HIP runtime reads. See slim.h.
 *
 * If there are several runtimes, the oldest one decides. HIP takes a bundle's length from its header, which contains it
 * since version 2 (llvm/llvm-project#88827); compilers write that version since ROCm 6.2 (ROCm/composable_kernel#1433).
 * Version 3 needs a runtime that supports it (llvm/llvm-project#152600): Debian's 7.2.4 does, as its rocBLAS needs
 * it. */
#include "base/fs.h"
#include "base/proc.h"
#include "slim/slim.h"

static const struct reads {
	unsigned major, minor;
	enum bundle_encoding most;
} table[] = {{7, 2, BUNDLE_CCOB3}, {6, 2, BUNDLE_CCOB2}, {0, 0, BUNDLE_RAW}};

bool slim_is_runtime(struct str name)
{
	struct str version;
	return str_eq(path_library(name, &version), S("libamdhip64"));
}

/* A runtime's version is the newest of its symbol versions: "hip_6.4". */
struct err *slim_runtime(
	struct arena *a, const struct bytes *src, struct str path, struct slim_runtime *io)
{
	struct elf e;
	struct elf_dynamic d;
	struct slim_runtime found = {.path = path};
	TRY(elf_open(a, src, &e));
	TRY(elf_needs(a, &e, &d));
	VEC_EACH (const struct str, name, &d.offers) {
		uint64_t v[2];
		str_numbers(str_sub(*name, 4, name->n), v, 2);
		if (!str_starts(*name, S("hip_")) || v[0] > 9999 || v[1] > 9999)
			continue;
		unsigned major = (unsigned)v[0], minor = (unsigned)v[1];
		bool newer = major > found.major || (major == found.major && minor > found.minor);
		found.major = newer ? major : found.major;
		found.minor = newer ? minor : found.minor;
	}
	size_t i = 0;
	while (found.major < table[i].major ||
		(found.major == table[i].major && found.minor < table[i].minor))
		i++;
	found.most = table[i].most;
	if (found.major && (!io->path.n || found.most < io->most)) {
		found.path = str_dup(a, path);
		*io = found;
	}
	return NULL;
}

struct runtime_search {
	struct arena *a;
	struct str dir;
	bool deep;
	struct slim_runtime *found;
};

static struct err *visit_library(void *user, struct fs_entry *e)
{
	struct runtime_search *s = user;
	CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
	e->prune = !s->deep;
	TRY(cancel_check());
	struct str path = path_join(s->a, s->dir, e->path);
	struct stat st;
	if (!slim_is_runtime(e->path) || !fs_try_stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	TRY(bytes_open(path, &in));
	struct err *err = slim_runtime(s->a, &in.src, path, s->found);
	if (err && err->code != E_ELF)
		return err;
	err_free(err); /* a linker script, for example */
	return NULL;
}

struct err *slim_runtime_in(struct arena *a, struct str dir, bool deep, struct slim_runtime *io)
{
	struct runtime_search s = {a, dir, deep, io};
	return fs_walk(dir, visit_library, &s);
}
