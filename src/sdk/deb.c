/* One .deb into a tree: the files of its data member. Format: deb(5). Scripts of the package are not
 * even read. */
#include "archive/unpack.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "sdk/provider.h"

/* Documentation that no build reads; copyright files stay. */
static const char *const left_out[] = {
	"usr/share/man/",
	"usr/share/info/",
	"usr/share/locale/",
	"usr/share/lintian/",
	"usr/share/doc-base/",
};

/* Where the archive's top folders are: merged into /usr, whatever the suite's packages say. */
static const char *const merged[] = {"bin/", "sbin/", "lib/", "lib32/", "lib64/", "libx32/"};

static struct str place(void *user, struct arena *tmp, struct str path)
{
	struct sdk_unpack *u = user;
	for (size_t i = 0; i < sizeof(merged) / sizeof(merged[0]); i++)
		if (str_starts(path, str_from(merged[i])))
			return path_join(tmp, S("usr"), path);
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (str_starts(path, str_from(left_out[i])))
			return S("");
	if (u->gpus.n && !gpus_want_file(&u->gpus, path)) {
		u->partial = true;
		return S("");
	}
	bool doc = str_starts(path, S("usr/share/doc/")) && !str_ends(path, S("/copyright"));
	return doc ? S("") : path;
}

/* Of a library that is smaller now, the sum is that of what is left. */
static struct err *thin(
	struct arena *a, struct sdk_unpack *u, const struct unpack_file *f, struct sdk_record *r)
{
	struct digest d;
	uint64_t holes = f->type == 'f' && u->gpus.n ? gpus_thin(f->fd, f->size, &u->gpus) : 0;
	if (!holes)
		return NULL;
	u->holes += holes;
	u->partial = true;
	TRY(hash_file(HASH_SHA256, str_fmt(a, "/proc/self/fd/%d", f->fd), &d));
	r->value = digest_hex(a, &d);
	return NULL;
}

/* The line of a hard link is like that of the file that it links to. */
static struct err *told(void *user, const struct unpack_file *f)
{
	ARENA(tmp);
	struct sdk_unpack *u = user;
	struct sdk_record r = {.type = f->type,
		.path = f->path,
		.value = f->value,
		.size = f->size,
		.mtime = f->mtime};
	struct str rest =
		f->type == 'h' && u->record->n ? str_dup(&tmp, buf_str(u->record)) : S("");
	bool found = f->type != 'h', bad;
	while (!found && record_next(&rest, &r, &bad))
		found = str_eq(r.path, f->value);
	if (!found)
		return err_new(E_ARCHIVE,
			"refused to unpack '%.*s': '%.*s' is a hard link to a file that the "
			"package does "
			"not hold",
			STR(path_base(u->item->path)), STR(f->path));
	r.path = f->path;
	TRY(thin(&tmp, u, f, &r));
	record_add(u->record, &r);
	return NULL;
}

struct err *deb_unpack(struct arena *tmp, struct sdk_unpack *u)
{
	struct unpack x = {.path = u->item->path,
		.member = "data.tar",
		.root = u->root,
		.id = u->item->name,
		.place = place,
		.told = told,
		.user = u};
	return unpack_tar(tmp, &x);
}
