/* Scanning a path: a file, a folder, a wheel; and what can be said about all files together. */
#include "devcode/devcode.h"

#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "devcode/scan.h"
#include "formats/kpack.h"
#include "formats/zip.h"
#include "slim/slim.h"

enum { HEAD = 64, MANIFEST = 2 << 20 };

static bool is_archive(struct str head)
{
	return str_starts(head, S("!<arch>\n"));
}

/* Is it worth scanning a file that begins so? */
static bool has_known_head(struct str head)
{
	return elf_is(head) || bundle_is(head) || is_archive(head) || kpack_is(head);
}

static struct err *scan_image(struct scan *s, const struct elf_src *src, struct str head)
{
	if (bundle_is(head)) {
		s->file->format = "bundle";
		return scan_bundles(s, src, 0, src->size, S("the file"));
	}
	if (is_archive(head)) {
		s->file->format = "archive";
		return scan_archive(s, src);
	}
	if (kpack_is(head)) {
		s->file->format = "kpack";
		return scan_kpack(s, src);
	}
	s->file->format = "elf";
	return scan_elf(s, src);
}

/* A target that some bundles of a file have, and others do not. */
static struct err *check_bundles(struct scan *s, const struct elf_src *src)
{
	ARENA(tmp);
	bool here[DEVCODE_TARGETS] = {0}, served[DEVCODE_TARGETS];
	const struct devcode *d = s->out;
	VEC_EACH (struct code_object, o, &s->file->objects)
		here[o->id] = true;
	for (size_t i = 0; i < d->targets.n && s->file->bundles > 1; i++) {
		if (!here[i])
			continue;
		TRY(budget_work(src->budget, 100 * d->targets.n + 4 * s->file->objects.n));
		devcode_serves(d, &d->targets.v[i].t, served);
		struct devcode_cover c = devcode_cover(s->file, served);
		if (c.without)
			scan_say(s, "bundle-without-target", SEV_WARNING,
				"nothing for %.*s in %.*s", STR(d->targets.v[i].name),
				STR(devcode_cover_text(&tmp, s->file, &c)));
	}
	return NULL;
}

struct err *devcode_scan_src(struct arena *a, const struct elf_src *src, struct str path,
	unsigned flags, struct devcode *ret)
{
	char bytes[HEAD];
	struct str head = {.p = bytes};
	struct devcode_file file = {.path = str_dup(a, path), .size = src->size};
	struct scan s = {.a = a, .flags = flags, .out = ret, .file = &file, .base = src->base};
	ret->looked_at++;
	ret->findings.most = FINDINGS_OF_A_KIND;
	TRY(elf_src_peek(src, bytes, HEAD, 0, &head.n));
	if (!has_known_head(head))
		return NULL;
	TRY(scan_image(&s, src, head));
	if (file.objects.n) {
		*VEC_PUSH(a, &ret->files) = file;
		TRY(check_bundles(&s, src));
	}
	return cancel_check(); /* a part that was interrupted became a finding */
}

/* ---- many files: damage to one of them is a finding ---- */
struct many {
	struct arena *a;
	unsigned flags;
	struct devcode *out;
	struct str dir;
	const struct zip *zip;
	struct str prefix; /* of the members' names: "some.whl/" */
};

static struct err *note_damage(struct many *m, struct str path, struct err *e)
{
	if (!e || e->code == E_CANCELLED || e->code == E_NOSPACE)
		return e;
	struct devcode_file file = {.path = path};
	struct scan s = {.a = m->a, .out = m->out, .file = &file};
	m->out->findings.most = FINDINGS_OF_A_KIND;
	scan_damage(&s, "file-damaged", e);
	return NULL;
}

static struct err *read_head(void *user, const void *p, size_t n, bool *stop)
{
	struct buf *head = user;
	size_t room = HEAD - head->n;
	buf_add(head, (struct str){.p = p, .n = n < room ? n : room});
	*stop = head->n == HEAD;
	return NULL;
}

static struct str member_path(struct arena *a, const struct many *m, const struct zip_member *z)
{
	return str_fmt(a, "%.*s%.*s", STR(m->prefix), STR(z->name));
}

/* Members are unpacked only when their first bytes promise device code. */
static struct err *scan_member(struct many *m, const struct zip_member *z)
{
	ARENA(tmp);
	CLEANUP(fd_closep) int fd = -1;
	BUF(head, &tmp);
	struct elf_src src;
	TRY(cancel_check());
	TRY(zip_stream(m->zip, z, read_head, &head));
	if (!has_known_head(buf_str(&head))) {
		m->out->looked_at++;
		return NULL;
	}
	TRY(zip_src(m->zip, z, &src, &fd));
	return devcode_scan_src(m->a, &src, member_path(&tmp, m, z), m->flags, m->out);
}

/* What `rocsmith slim` left behind: e tells whether it could be read. */
static void note_manifest(struct many *m, struct str path, struct err *e, const struct str *text)
{
	ARENA(tmp);
	struct devcode_file file = {.path = path};
	struct scan s = {.a = m->a, .out = m->out, .file = &file};
	struct str said = !e && text->p ? slim_manifest_text(&tmp, *text) : S("");
	if (said.n)
		scan_say(&s, "slimmed", SEV_INFO, "%.*s", STR(said));
	err_free(e);
}

static struct err *scan_wheel(struct many *m, struct str path)
{
	ARENA(tmp);
	struct findings ignored = {0}; /* whether the wheel is sound is for verify to say */
	CLEANUP(zip_close) struct zip z = {.fd = -1};
	TRY(zip_open(&tmp, path, &ignored, &z));
	m->zip = &z;
	VEC_EACH (struct zip_member, x, &z.members) {
		struct str text = {0};
		if (!x->dir)
			TRY(note_damage(m, member_path(&tmp, m, x), scan_member(m, x)));
		if (!str_ends(x->name, S(".dist-info/" SLIM_MANIFEST)))
			continue;
		note_manifest(
			m, member_path(&tmp, m, x), zip_read(&tmp, &z, x, MANIFEST, &text), &text);
	}
	return NULL;
}

static struct err *scan_file(struct many *m, struct str path, struct str name)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	TRY(cancel_check());
	TRY(fs_stat(path, &st));
	TRY(fs_open(path, &fd));
	struct elf_src src = elf_src_fd(fd, (uint64_t)st.st_size);
	struct budget budget;
	budget_set(&budget, src.size);
	src.budget = &budget;
	return devcode_scan_src(m->a, &src, name, m->flags, m->out);
}

static struct err *visit(void *user, const struct fs_entry *e, bool *prune)
{
	(void)prune;
	ARENA(tmp);
	struct many *m = user;
	struct str text = {0};
	if (!S_ISREG(e->st.st_mode))
		return NULL;
	struct str path = path_join(&tmp, m->dir, e->path);
	if (str_eq(e->path, S(SLIM_MANIFEST)))
		note_manifest(m, e->path, fs_read_opt(&tmp, path, MANIFEST, &text), &text);
	if (!str_ends(e->path, S(".whl")))
		return note_damage(m, e->path, scan_file(m, path, e->path));
	struct many inner = *m; /* the members of a wheel count as files of the folder */
	inner.prefix = str_fmt(&tmp, "%.*s/", STR(e->path));
	return note_damage(m, e->path, scan_wheel(&inner, path));
}

/* What a single file is, or E_FORMAT. */
static struct err *sniff(struct str path, bool *ret_zip)
{
	CLEANUP(fd_closep) int fd = -1;
	char bytes[HEAD];
	struct str head = {.p = bytes};
	struct stat st;
	TRY(fs_stat(path, &st));
	TRY(fs_open(path, &fd));
	if (!S_ISREG(st.st_mode))
		return err_new(E_FORMAT, "'%.*s' is neither a file nor a folder", STR(path));
	struct elf_src src = elf_src_fd(fd, (uint64_t)st.st_size);
	TRY(elf_src_peek(&src, bytes, HEAD, 0, &head.n));
	*ret_zip = str_starts(head, S("PK\3\4")) || str_starts(head, S("PK\5\6"));
	if (*ret_zip || has_known_head(head))
		return NULL;
	return err_hint(err_new(E_FORMAT, "'%.*s' is of no known format", STR(path)),
		"known are 64-bit ELF files, offload bundles, code objects, static archives, "
		"wheels, and folders of these");
}

void devcode_finish(struct arena *a, struct devcode *d)
{
	struct strs names = {0};
	VEC_EACH (struct devcode_target, t, &d->targets)
		if (t->t.name.n)
			strs_put(a, &names, str_sub(t->name, 0, str_chr(t->name, ':')));
	d->served = (struct strs){0};
	for (size_t i = 0; i < names.n; i++) {
		bool served[DEVCODE_TARGETS], all = true;
		struct target want = target_read(names.v[i]);
		devcode_serves(d, &want, served);
		VEC_EACH (struct devcode_file, f, &d->files) {
			struct devcode_cover c = devcode_cover(f, served);
			all = all && c.bundles && !c.without;
		}
		if (all)
			strs_add(a, &d->served, names.v[i]);
	}
	targets_sort(&d->served);
}

struct err *devcode_scan(struct arena *a, struct str path, unsigned flags, struct devcode *ret)
{
	bool zip = false;
	struct str text = {0};
	struct many m = {.a = a, .flags = flags, .out = ret, .dir = path};
	*ret = (struct devcode){.path = str_dup(a, path)};
	if (fs_is_dir(path)) {
		TRY_CTX(fs_walk(path, visit, &m), "cannot inspect '%.*s'", STR(path));
	} else {
		TRY(sniff(path, &zip));
		TRY_CTX(zip ? scan_wheel(&m, path) : scan_file(&m, path, path),
			"cannot inspect '%.*s'", STR(path));
		path = str_fmt(a, "%.*s" SLIM_MANIFEST_END, STR(path));
		note_manifest(&m, path, fs_read_opt(a, path, MANIFEST, &text), &text);
	}
	devcode_finish(a, ret);
	return NULL;
}
