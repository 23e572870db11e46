/* Unpacks the data member of a .deb, deb(5), into a tree; the package's scripts are never read.
 *
 * Nearly all of the size of ROCm's libraries is kernels for many GPUs, in two forms. If only some GPUs
 * are wanted, files with another GPU in their name (rocBLAS's, hipBLASLt's, MIOpen's) are not unpacked, and in a
 * shared library the code of other GPUs becomes holes in the file: size and symbols stay, so that it links, and
 * it runs on the requested GPUs. Compressed bundles stay whole. See slim/slim.h. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "sdk/provider.h"
#include "slim/slim.h"

/* ---- kernels of other GPUs ---- */
static struct slim_keep keep_of(struct arena *a, const struct strs *gpus)
{
	struct target *v = arena_array(a, gpus->n + 1, sizeof(*v));
	for (size_t i = 0; i < gpus->n; i++)
		v[i] = target_read(gpus->v[i]);
	return (struct slim_keep){.v = v, .n = gpus->n};
}

bool gpus_want_file(const struct strs *gpus, struct str path)
{
	ARENA(tmp);
	struct slim_keep keep = keep_of(&tmp, gpus);
	return slim_keeps_file(&keep, path);
}

uint64_t gpus_thin(int fd, uint64_t size, const struct strs *gpus)
{
	ARENA(tmp);
	struct slim_keep keep = keep_of(&tmp, gpus);
	struct bytes src = bytes_fd(fd, size);
	struct slim_plan plan;
	struct budget budget;
	uint64_t freed = 0;
	budget_set(&budget, size);
	src.budget = &budget;
	struct err *e = slim_read(&tmp, &src, &keep, &plan);
	if (!e)
		e = slim_punch(&plan, fd, &freed);
	err_free(e); /* a library that cannot be read stays whole */
	return freed;
}

/* ---- members ---- */
static struct str choose_place(void *user, struct arena *tmp, struct str path)
{
	const struct debian_names *names = debian_names_table();
	struct sdk_unpack *u = user;
	if (str_starts_one_of(path, names->merged))
		return path_join(tmp, S("usr"), path);
	if (str_starts_one_of(path, names->left_out))
		return S("");
	if (u->gpus.n && !gpus_want_file(&u->gpus, path)) {
		u->partial = true;
		return S("");
	}
	bool doc = str_starts(path, S("usr/share/doc/")) && !str_ends(path, S("/copyright"));
	return doc ? S("") : path;
}

/* Adds a file to the package's list. A hard link gets the line of the file that it links to. */
struct err *sdk_note_file(void *user, const struct unpack_file *f)
{
	ARENA(tmp);
	struct sdk_unpack *u = user;
	struct sdk_file line = {.type = f->type,
		.path = f->path,
		.value = f->value,
		.size = f->size,
		.mtime = f->mtime};
	struct str rest = f->type == 'h' && u->files->n ? str_dup(&tmp, buf_str(u->files)) : S("");
	bool found = f->type != 'h', bad;
	while (!found && file_list_next(&rest, &line, &bad))
		found = str_eq(line.path, f->value);
	if (!found)
		return err_new(E_ARCHIVE,
			"refused to unpack '%.*s': '%.*s' is a hard link to a file that the "
			"package does not hold",
			STR(path_base(u->item->path)), STR(f->path));
	line.path = f->path;
	uint64_t holes = f->type == 'f' && u->gpus.n ? gpus_thin(f->fd, f->size, &u->gpus) : 0;
	if (holes) {
		u->holes += holes;
		u->partial = true;
		TRY(sha256_file(&tmp, str_fmt(&tmp, "/proc/self/fd/%d", f->fd), &line.value));
	}
	file_list_add(u->files, &line);
	return NULL;
}

struct err *deb_unpack(struct arena *tmp, struct sdk_unpack *u)
{
	struct unpack_job x = {.path = u->item->path,
		.member = "data.tar",
		.root = u->root,
		.id = u->item->name,
		.place = choose_place,
		.told = sdk_note_file,
		.user = u};
	return unpack_tar(tmp, &x);
}
