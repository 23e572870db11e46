/* Writing raw offload bundles, byte by byte as clang-offload-bundler does; see bundle.h.
 *
 * Layout measured with LLVM 22.1.8: table, then each object at the next multiple of 4096, zero
 * bytes between, nothing behind the last. The host entry is empty and stands first. */
#include "formats/bundle.h"

#include "base/buf.h"
#include "base/fs.h"
#include "formats/le.h"

enum { ALIGN = 4096, ENTRY = 24 };

struct part {
	struct str id, path;
	uint64_t offset, size;
};

/* clang writes a triple with all four parts and one dash more: an empty environment shows as "--".
 */
static struct str host_id(struct arena *a, struct str triple)
{
	unsigned dashes = 0;
	for (size_t i = 0; i < triple.n; i++)
		dashes += triple.p[i] == '-';
	return str_fmt(a, "host-%.*s%s-", STR(triple), dashes < 3 ? "-" : "");
}

static struct err *lay_out(struct part *v, size_t n)
{
	uint64_t at = BUNDLE_MAGIC + 8;
	for (size_t i = 0; i < n; i++)
		at += ENTRY + v[i].id.n;
	for (size_t i = 0; i < n; i++) {
		struct stat st = {0};
		if (v[i].path.n)
			TRY(fs_stat(v[i].path, &st));
		v[i].size = (uint64_t)st.st_size;
		v[i].offset = (at + ALIGN - 1) / ALIGN * ALIGN;
		at = v[i].offset + v[i].size;
	}
	return NULL;
}

static struct err *add_part(struct fs_out *o, const struct part *p)
{
	enum { CHUNK = 256 << 10 };
	static const char zeros[ALIGN];
	ARENA(tmp);
	CLEANUP(fd_closep) int fd = -1;
	if (!p->size)
		return NULL;
	while (o->offset < p->offset && !o->first)
		fs_out_write(o, zeros, (size_t)(p->offset - o->offset));
	TRY(fs_open(p->path, &fd));
	char *bytes = arena_alloc(&tmp, CHUNK);
	for (uint64_t at = 0; at < p->size && !o->first; at += CHUNK) {
		size_t n = p->size - at < CHUNK ? (size_t)(p->size - at) : CHUNK;
		TRY_CTX(fs_pread(fd, bytes, n, at), "cannot read '%.*s'", STR(p->path));
		fs_out_write(o, bytes, n);
	}
	return NULL;
}

struct err *bundle_write(
	struct str path, struct str host_triple, const struct bundle_object *v, size_t n)
{
	ARENA(a);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (str_eq(v[i].target, v[k].target))
				return err_wrap(err_new(E_BUNDLE, "target '%.*s' is named twice",
							STR(v[i].target)),
					"cannot write the bundle '%.*s'", STR(path));
	struct part *parts = arena_array(&a, n + 1, sizeof(*parts));
	parts[0].id = host_id(&a, host_triple);
	for (size_t i = 0; i < n; i++) {
		parts[i + 1].path = v[i].path;
		parts[i + 1].id = str_fmt(&a, "hipv4-amdgcn-amd-amdhsa--%.*s", STR(v[i].target));
	}
	TRY_CTX(lay_out(parts, n + 1), "cannot write the bundle '%.*s'", STR(path));
	BUF(table, &a);
	buf_add(&table, S("__CLANG_OFFLOAD_BUNDLE__"));
	buf_le(&table, n + 1, 8);
	for (size_t i = 0; i <= n; i++) {
		buf_le(&table, parts[i].offset, 8);
		buf_le(&table, parts[i].size, 8);
		buf_le(&table, parts[i].id.n, 8);
		buf_add(&table, parts[i].id);
	}
	CLEANUP(fs_out_abandon) struct fs_out o;
	TRY(fs_out_open(&o, path, 0644));
	fs_out_write(&o, table.p, table.n);
	for (size_t i = 0; i <= n; i++)
		TRY_CTX(add_part(&o, &parts[i]), "cannot write the bundle '%.*s'", STR(path));
	return fs_out_commit(&o);
}
