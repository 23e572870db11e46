/* Scans a path: a file, a folder, a wheel, or a source distribution. */
#include "devcode/devcode.h"

#include <unistd.h>

#include "archive/unpack.h"
#include "base/proc.h"
#include "devcode/scan.h"
#include "formats/kpack.h"
#include "formats/zip.h"
#include "target/cut_list.h"

enum { HEAD = 64, CUT_LIST_SIZE = 2 << 20 };

static struct err *scan_bare(struct scan *s, const struct bytes *src)
{
	return scan_bundles(s, src, 0, src->size, S("the file"));
}

/* The formats, recognized by a file's first bytes. */
static const struct devcode_format {
	const char *name;
	bool (*is)(struct str head);
	struct err *(*scan)(struct scan *s, const struct bytes *src);
} formats[] = {
	{"elf", elf_is, scan_elf},
	{"bundle", bundle_is, scan_bare},
	{"archive", archive_is, scan_archive},
	{"aks2", aks2_is, scan_aks2},
	{"kpack", kpack_is, scan_kpack},
	{"pe", pe_is, scan_pe},
};

static const struct devcode_format *format_of(struct str head)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (formats[i].is(head))
			return &formats[i];
	return NULL;
}

/* Reports targets that some bundles of a file have and others do not. */
static struct err *check_bundles(struct scan *s, const struct bytes *src)
{
	ARENA(tmp);
	bool here[DEVCODE_TARGETS] = {0}, served[DEVCODE_TARGETS];
	const struct devcode *d = s->out;
	VEC_EACH (struct code_object, o, &s->file->objects)
		here[o->id] = here[o->id] || !o->inner;
	for (size_t i = 0; i < d->targets.n && s->file->bundles > 1; i++) {
		if (!here[i])
			continue;
		TRY(budget_work(src->budget, 100 * d->targets.n + 4 * s->file->objects.n));
		devcode_serves(d, &d->targets.v[i].t, served);
		struct devcode_cover c = devcode_cover(s->file, served);
		if (c.without)
			scan_say(s, "bundle-without-target", "nothing for %.*s in %.*s",
				STR(d->targets.v[i].name),
				STR(devcode_cover_text(&tmp, s->file, &c)));
	}
	return NULL;
}

struct err *devcode_scan_src(struct arena *a, const struct bytes *src, struct str path,
	unsigned flags, struct devcode *ret)
{
	char bytes[HEAD];
	struct str head = {.p = bytes};
	struct devcode_file file = {.path = str_dup(a, path), .size = src->size};
	struct scan s = {.a = a, .flags = flags, .out = ret, .file = &file, .base = src->base};
	ARENA(names);
	s.names_in = flags & DEVCODE_NAMES ? &names : NULL;
	ret->looked_at++;
	ret->findings.most = FINDINGS_OF_A_KIND;
	TRY(bytes_peek(src, bytes, HEAD, 0, &head.n));
	const struct devcode_format *format = format_of(head);
	if (!format)
		return NULL;
	file.format = format->name;
	TRY(format->scan(&s, src));
	file.side = devcode_is_side(&file);
	if (file.objects.n) {
		*VEC_PUSH(a, &ret->files) = file;
		TRY(check_bundles(&s, src));
		names_judge(&s);
	}
	/* the interruption of an object was noted as damage: end here instead */
	return ret->failed ? ret->failed : cancel_check();
}

/* ---- many files: damage to one of them is a finding ---- */
struct many {
	struct arena *a;
	unsigned flags;
	struct devcode *out;
	struct str dir;
	struct str prefix; /* goes before the members' names: "some.whl/" */
	unsigned depth;    /* nesting depth of archives */
};

/* before: how many files with device code there were before this one was scanned */
static void note_side(
	struct many *m, size_t before, struct str path, uint64_t size, uint64_t stored)
{
	const struct devcode_file *found =
		before < m->out->files.n ? &m->out->files.v[before] : NULL;
	const struct devcode_part file = {.files = 1, .size = size, .stored = stored};
	devcode_note_side(m->a, m->out, path, &file, found);
}

static void note_unread(struct many *m, struct str path, const char *id, struct err *e)
{
	struct devcode_file file = {.path = path};
	struct scan s = {.a = m->a, .out = m->out, .file = &file};
	m->out->findings.most = FINDINGS_OF_A_KIND;
	scan_damage(&s, id, e);
}

static struct err *note_damage(struct many *m, struct str path, struct err *e)
{
	if (!e || e->code == E_CANCELLED || e->code == E_NOSPACE || e == m->out->failed)
		return e;
	note_unread(m, path, "file-damaged", e);
	return NULL;
}

/* Scans the members of an archive, and those of AOTriton's archives in it. */
static struct err *scan_members(struct many *m, const struct zip *z);

static bool is_zip(struct str head)
{
	return str_starts(head, S("PK\3\4")) || str_starts(head, S("PK\5\6"));
}

/* Newer AOTriton keeps its stores in zip archives below this folder. */
#define STORES "aotriton.images/"

/* Members are unpacked only when their first bytes promise device code. */
static struct err *scan_member(
	struct many *m, const struct zip *z, const struct zip_member *x, struct str path)
{
	ARENA(tmp);
	CLEANUP(zip_view_close) struct zip_view *view = NULL;
	CLEANUP(zip_close) struct zip store = {.fd = -1};
	struct findings ignored = {0};
	struct many inner = *m;
	char bytes[HEAD];
	struct str head = {.p = bytes};
	TRY(cancel_check());
	TRY(zip_peek(z, x, bytes, HEAD, &head.n));
	bool nested = !m->depth && is_zip(head) && str_contains(path, S(STORES));
	if (!nested && !format_of(head)) {
		m->out->looked_at++;
		return NULL;
	}
	TRY(zip_view_open(z, x, &(struct zip_pass){0}, &view));
	struct bytes src = zip_view_src(view);
	if (!nested)
		return devcode_scan_src(m->a, &src, path, m->flags, m->out);
	inner.prefix = str_fmt(&tmp, "%.*s/", STR(path));
	inner.depth++;
	TRY(zip_open_src(&tmp, &src, path, &ignored, &store));
	return scan_members(&inner, &store);
}

/* Reports the cut list that `rocsmith slim` left. e: the error of reading it, or NULL; it is freed. */
static void note_cut_list(struct many *m, struct str path, struct err *e, const struct str *text)
{
	ARENA(tmp);
	struct devcode_file file = {.path = path};
	struct scan s = {.a = m->a, .out = m->out, .file = &file};
	struct str said = !e && text->p ? cut_list_describe(&tmp, *text) : S("");
	if (said.n)
		scan_say(&s, "slimmed", "%.*s", STR(said));
	err_free(e);
}

static struct err *scan_members(struct many *m, const struct zip *z)
{
	ARENA(tmp);
	VEC_EACH (const struct zip_member, x, &z->members) {
		struct str text = {0},
			   name = str_fmt(&tmp, "%.*s%.*s", STR(m->prefix), STR(x->name));
		if (x->dir)
			continue;
		size_t before = m->out->files.n;
		TRY(note_damage(m, name, scan_member(m, z, x, name)));
		note_side(m, before, name, x->size, x->stored);
		if (str_ends(x->name, S(".dist-info/" CUT_LIST)))
			note_cut_list(m, name, zip_read(&tmp, z, x, CUT_LIST_SIZE, &text), &text);
	}
	return NULL;
}

static struct err *scan_wheel(struct many *m, struct str path)
{
	ARENA(tmp);
	struct findings ignored = {0}; /* `verify` judges the wheel itself */
	CLEANUP(zip_close) struct zip z = {.fd = -1};
	TRY(zip_open(&tmp, path, &ignored, &z));
	return scan_members(m, &z);
}

static struct err *scan_file(struct many *m, struct str path, struct str name)
{
	CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
	TRY(cancel_check());
	TRY(bytes_open(path, &in));
	return devcode_scan_src(m->a, &in.src, name, m->flags, m->out);
}

static struct err *visit_file(void *user, struct fs_entry *e)
{
	ARENA(tmp);
	struct many *m = user;
	struct str text = {0}, path = path_join(&tmp, m->dir, e->path);
	e->prune = S_ISDIR(e->st.st_mode) && fs_is_live(path);
	if (!S_ISREG(e->st.st_mode))
		return NULL;
	if (str_eq(e->path, S(CUT_LIST)))
		note_cut_list(m, e->path, fs_read_opt(&tmp, path, CUT_LIST_SIZE, &text), &text);
	uint64_t size = (uint64_t)e->st.st_size;
	size_t before = m->out->files.n;
	bool plain = !str_ends(e->path, S(".whl")) &&
		     !(str_ends(e->path, S(".zip")) && str_contains(path, S(STORES)));
	if (plain)
		TRY(note_damage(m, e->path, scan_file(m, path, e->path)));
	note_side(m, before, e->path, size, size);
	if (plain)
		return NULL;
	struct many inner = *m; /* the members of a wheel count as files of the folder */
	inner.prefix = str_fmt(&tmp, "%.*s/", STR(e->path));
	return note_damage(m, e->path, scan_wheel(&inner, path));
}

/* Objects are taken from all of a folder, or from none of it; of what is only shown, a part is better than nothing. */
static struct err *scan_folder(struct many *m)
{
	struct fs_skipped skipped = {0};
	if (fs_is_live(m->dir))
		return NULL;
	if (m->out->taker)
		return fs_walk(m->dir, visit_file, m);
	struct err *e = fs_walk_rest(m->dir, visit_file, m, &skipped);
	if (skipped.n)
		note_unread(m, m->dir, "folder-unreadable",
			err_wrap(skipped.first, "%.*s left out",
				STR(human_count(m->a, skipped.n, "item"))));
	return e;
}

/* ---- source distributions: libarchive unpacks them to a scratch folder ---- */
/* The unpacked size is limited to 2 GiB, or to 20 times the archive's if that is more; honest archives stay below. */
static struct err *scan_tar(struct many *m, struct str path)
{
	ARENA(tmp);
	CLEANUP(fs_tempdirp) struct str dir = {0};
	struct many inner = *m;
	struct stat st;
	TRY(fs_stat(path, &st));
	uint64_t most = (uint64_t)st.st_size * 20, least = UINT64_C(2) << 30;
	TRY(fs_tempdir(&tmp, S(""), &dir));
	struct unpack_job u = {.path = path,
		.root = dir,
		.id = S("inspect"),
		.closed = true,
		.most = most < least ? least : most};
	TRY(unpack_tar(&tmp, &u));
	inner.dir = dir;
	return fs_walk(dir, visit_file, &inner);
}

static struct err *scan_single(struct many *m, struct str path)
{
	static const char *const packed[] = {"\x1f\x8b",
		"\xfd"
		"7zXZ",
		"BZh", "\x28\xb5\x2f\xfd", NULL}; /* tar files by gzip, xz, bzip2 and zstd */
	CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
	char bytes[HEAD];
	struct str text = {0}, head = {.p = bytes},
		   list = str_fmt(m->a, "%.*s" CUT_LIST_END, STR(path));
	TRY(bytes_open(path, &in));
	TRY(bytes_peek(&in.src, bytes, HEAD, 0, &head.n));
	bool zip = is_zip(head);
	bool tar = !zip && (str_starts_one_of(head, packed) || str_ends(path, S(".tar")));
	if (!zip && !tar && !format_of(head))
		return err_hint(err_new(E_FORMAT, "'%.*s' is of no known format", STR(path)),
			"known are 64-bit ELF files, Windows DLLs, offload bundles, code objects, "
			"static archives, AOTriton's stores, wheels, source distributions, and "
			"folders of these");
	struct err *e = zip   ? scan_wheel(m, path)
			: tar ? scan_tar(m, path)
			      : devcode_scan_src(m->a, &in.src, path, m->flags, m->out);
	TRY_CTX(e, "cannot inspect '%.*s'", STR(path));
	note_cut_list(m, list, fs_read_opt(m->a, list, CUT_LIST_SIZE, &text), &text);
	return NULL;
}

struct err *devcode_take(struct arena *a, struct str path, unsigned flags,
	const struct devcode_taker *taker, struct devcode *ret)
{
	struct many m = {.a = a, .flags = flags, .out = ret, .dir = path};
	m.flags |= taker ? DEVCODE_KERNELS : 0; /* else not every object is decoded */
	*ret = (struct devcode){.path = str_dup(a, path), .taker = taker};
	if (fs_is_dir(path))
		TRY_CTX(scan_folder(&m), "cannot inspect '%.*s'", STR(path));
	else
		TRY(scan_single(&m, path));
	devcode_finish(a, ret);
	return NULL;
}

struct err *devcode_scan(struct arena *a, struct str path, unsigned flags, struct devcode *ret)
{
	return devcode_take(a, path, flags, NULL, ret);
}
