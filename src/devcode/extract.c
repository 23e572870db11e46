/* Takes code objects out of files into a new folder; see kernels.h. Names in the folder are ours: a stranger's path gives letters
 * to them, and nothing else. */
#include "base/fs_stage.h"
#include "base/hash.h"
#include "devcode/kernels.h"

const struct json_field taken_fields[] = {
	FIELD_CONST("schema", "rocsmith.inspect-extract/1"),
	FIELDS(struct taken, dir, bytes),
	FIELD_LAST(FIELD_LIST("objects", struct taken, objects,
		((const struct json_field[])FIELDS_ONLY(
			struct taken_object, file, path, target, bundle, size, sha256)))),
};

/* A part of a file's name: other characters become '_', as does a '.' or '-' at its start. */
static void add_plain(struct buf *name, struct str text)
{
	enum { MOST = 100 };
	text = str_sub(text, text.n > MOST ? text.n - MOST : 0, text.n);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		bool plain = ascii_alnum(c) || strchr("._+-", c);
		buf_char(name, plain && c && (name->n || ascii_alnum(c)) ? c : '_');
	}
}

/* "libx.so.0.gfx90a.hsaco": the file, the bundle, the target, the kind. A name that is taken gets a number behind it. */
static struct err *name_object(struct taken *t, const struct devcode_file *f,
	const struct code_object *o, const struct bytes *src, struct str *ret)
{
	BUF(name, t->a);
	char magic[4] = {0};
	size_t n;
	TRY(bytes_peek(src, magic, sizeof(magic), 0, &n));
	bool bitcode = !memcmp(magic, "BC\xc0\xde", sizeof(magic));
	const char *kind = bitcode                                      ? "bc"
			   : !memcmp(magic, "\3\2\43\7", sizeof(magic)) ? "spv"
									: "hsaco";
	add_plain(&name, path_base(f->path));
	buf_fmt(&name, ".%u.", o->bundle);
	add_plain(&name, o->target);
	struct str stem = buf_str(&name);
	*ret = str_fmt(t->a, "%.*s.%s", STR(stem), kind);
	/* the value of a name is the last number that was given behind it: there may be 100,000 */
	struct str first = *ret;
	uintptr_t i = (uintptr_t)map_get(&t->names, first);
	while (map_has(&t->names, *ret))
		*ret = str_fmt(t->a, "%.*s-%zu.%s", STR(stem), (size_t)++i, kind);
	map_put(&t->names, *ret, (void *)1);
	map_put(&t->names, first, (void *)(i ? i : 1));
	return NULL;
}

static struct err *take_object(void *user, const struct devcode_file *f,
	const struct code_object *o, const struct bytes *src)
{
	enum { MOST = 100000 };
	struct taken *t = user;
	if (!object_wished(&t->wish, o))
		return NULL;
	if (t->objects.n == MOST)
		return err_hint(err_new(E_LIMIT, "more than %d objects are meant", MOST),
			"name a GPU and a kernel: --extract gfx1100:KERNEL");
	struct digest d;
	TRY(bytes_hash(src, 0, src->size, &d));
	struct str file;
	TRY(name_object(t, f, o, src, &file));
	struct taken_object *x = VEC_PUSH(t->a, &t->objects);
	*x = (struct taken_object){.file = file,
		.path = str_dup(t->a, f->path),
		.target = str_dup(t->a, o->target),
		.bundle = o->bundle,
		.size = src->size,
		.sha256 = digest_hex(t->a, d)};
	t->bytes += src->size;
	if (!t->tree.n)
		return NULL;
	CLEANUP(fs_out_abandon) struct fs_out out = {.fd = -1, .dir = -1};
	TRY(fs_out_open(&out, path_join(t->a, t->tree, x->file), 0666 | FS_LOOSE));
	TRY(bytes_copy(src, 0, src->size, &out));
	return fs_out_commit(&out);
}

static struct err *take_all(struct taken *t, const struct strs *paths)
{
	struct devcode_taker taker = {take_object, t};
	unsigned flags = DEVCODE_INNER | (t->wish.kernel.n ? DEVCODE_RESOURCES | DEVCODE_EVERY : 0);
	struct strs have = {0};
	VEC_EACH (const struct str, path, paths) {
		struct devcode d;
		TRY(devcode_take(t->a, *path, flags, &taker, &d));
		VEC_EACH (const struct devcode_sum, s, &d.sums)
			strs_put(t->a, &have, s->target);
	}
	if (t->objects.n)
		return NULL;
	struct err *e = err_new(E_NOTHING, "no code object matches '%.*s'", STR(t->wish.text));
	return have.n ? err_hint(e, "there is code for %.*s", STR(str_join(t->a, &have, S(", "))))
		      : e;
}

static struct err *check_absent(const struct taken *t)
{
	return fs_present(t->dir) ? err_new(E_USAGE, "'%.*s' is there already", STR(t->dir)) : NULL;
}

struct err *kernels_extract(struct arena *a, const struct strs *paths, struct taken *t)
{
	struct fs_stage s = {.place = t->dir};
	t->a = t->names.a = a;
	TRY(check_absent(t));
	if (fs_writes_forbidden())
		return take_all(t, paths);
	TRY(fs_stage_begin(a, &s));
	t->tree = s.tree;
	struct err *e = fs_mkdirs(s.tree);
	e = e ? e : take_all(t, paths);
	e = e ? e : fs_sync_all(s.tree); /* once, and not each of 100,000 files */
	e = e ? e : check_absent(t);
	e = e ? e : fs_stage_commit(&s, S(""));
	return err_join(e, fs_stage_end(&s));
}
