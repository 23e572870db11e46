/* Opening zip archives: end records and the central directory. What is wrong but readable becomes a
 * finding; see zip.h. The local headers are checked in zip_local.c. */
#include "formats/zip_read.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fs.h"

enum { MAX_DIRECTORY = 1 << 30 };
#define MAX_TOTAL ((uint64_t)1 << 40) /* unpacked bytes */

static struct err *get(struct zip_reader *r, void *p, size_t n, uint64_t at)
{
	if (at > r->z->size || r->z->size - at < n)
		return err_new(E_ZIP, "'%.*s' is cut short: %zu bytes at %llu are beyond its end",
			STR(r->z->path), n, (unsigned long long)at);
	return r->z->src.read(&r->z->src, p, n, at);
}

/* ---- end records ---- */

static struct err *find_end(struct zip_reader *r, unsigned char ret[ZIP_END_SIZE])
{
	ARENA(tmp);
	struct zip *z = r->z;
	size_t n = z->size < ZIP_END_SIZE + 0xffff ? (size_t)z->size : ZIP_END_SIZE + 0xffff;
	unsigned char *tail = arena_alloc(&tmp, n + 1);
	TRY(get(r, tail, n, z->size - n));
	for (size_t at = n < ZIP_END_SIZE ? 0 : n - ZIP_END_SIZE + 1; at-- > 0;) {
		size_t length = ZIP_END_SIZE +
				(le32(tail + at) == ZIP_END ? (size_t)le16(tail + at + 20) : n);
		if (length > n - at)
			continue;
		for (size_t i = 0; i < ZIP_END_SIZE; i++)
			ret[i] = tail[at + i];
		r->end = z->size - n + at;
		if (length < n - at)
			SAY_ERROR(r, "zip-trailing-bytes", z->path,
				"%zu bytes behind the end record", n - at - length);
		if (length > ZIP_END_SIZE)
			SAY_WARNING(r, "zip-comment", z->path,
				"an archive comment of %zu bytes, which nothing needs in a wheel",
				length - ZIP_END_SIZE);
		return NULL;
	}
	return err_new(E_ZIP, "'%.*s' is no zip file: it has no end record", STR(z->path));
}

/* Where the ZIP64 end record is: by the locator, or right before it when bytes were put in front.
 */
static struct err *find_end64(
	struct zip_reader *r, const unsigned char *locator, unsigned char ret[ZIP_END64_SIZE])
{
	uint64_t before = r->end - ZIP_LOCATOR64_SIZE, at = le64(locator + 8);
	if (le32(locator + 4) != 0 || le32(locator + 16) > 1)
		SAY_ERROR(r, "zip-multi-disk", r->z->path, "it is one part of several");
	if (before < ZIP_END64_SIZE)
		return err_new(E_ZIP, "'%.*s' has no ZIP64 end record", STR(r->z->path));
	if (at > before - ZIP_END64_SIZE)
		at = before - ZIP_END64_SIZE;
	TRY(get(r, ret, ZIP_END64_SIZE, at));
	if (le32(ret) != ZIP_END64) {
		at = before - ZIP_END64_SIZE;
		TRY(get(r, ret, ZIP_END64_SIZE, at));
	}
	if (le32(ret) != ZIP_END64)
		return err_new(E_ZIP, "'%.*s' has no ZIP64 end record where its locator points",
			STR(r->z->path));
	uint64_t length = le64(ret + 4);
	if (length > before || at + 12 + length != before)
		SAY_ERROR(r, "zip-zip64", r->z->path,
			"the ZIP64 end record does not end where its locator begins");
	r->end = at;
	return NULL;
}

static void use_end64(struct zip_reader *r, const unsigned char *e, const unsigned char *wide)
{
	uint64_t n = le64(wide + 32), bytes = le64(wide + 40), dir = le64(wide + 48);
	/* An old field must say what the ZIP64 record says, or be all ones. */
	if ((r->count != 0xffff && r->count != n) ||
		(r->bytes != 0xffffffff && r->bytes != bytes) ||
		(r->dir != 0xffffffff && r->dir != dir) || le64(wide + 24) != n)
		SAY_ERROR(r, "zip-zip64", r->z->path, "the two end records disagree");
	if (le32(wide + 16) || le32(wide + 20))
		SAY_ERROR(r, "zip-multi-disk", r->z->path, "it is one part of several");
	if (le16(e + 10) != 0xffff && r->bytes != 0xffffffff && r->dir != 0xffffffff)
		SAY_WARNING(r, "zip-zip64-unneeded", r->z->path,
			"a ZIP64 end record that no value needs");
	r->count = n;
	r->bytes = bytes;
	r->dir = dir;
}

static struct err *read_end64(struct zip_reader *r, const unsigned char *e)
{
	unsigned char locator[ZIP_LOCATOR64_SIZE], wide[ZIP_END64_SIZE];
	if (r->end >= ZIP_LOCATOR64_SIZE) {
		TRY(get(r, locator, sizeof(locator), r->end - ZIP_LOCATOR64_SIZE));
		if (le32(locator) == ZIP_LOCATOR64) {
			TRY(find_end64(r, locator, wide));
			use_end64(r, e, wide);
			return NULL;
		}
	}
	if (r->bytes == 0xffffffff || r->dir == 0xffffffff)
		return err_new(
			E_ZIP, "'%.*s' has no ZIP64 end record, but needs one", STR(r->z->path));
	return NULL;
}

static struct err *read_end(struct zip_reader *r)
{
	unsigned char e[ZIP_END_SIZE];
	TRY(find_end(r, e));
	r->count = le16(e + 10);
	r->bytes = le32(e + 12);
	r->dir = le32(e + 16);
	unsigned disk = le16(e + 4), start = le16(e + 6);
	if ((disk && disk != 0xffff) || (start && start != 0xffff) || le16(e + 8) != r->count)
		SAY_ERROR(r, "zip-multi-disk", r->z->path, "it is one part of several");
	return read_end64(r, e);
}

/* The directory must end where the end record begins. When it does not, either bytes were put in
 * front of the archive (all offsets are too small) or between the two. */
static struct err *place_directory(struct zip_reader *r)
{
	unsigned char sig[4];
	struct str path = r->z->path;
	if (r->bytes > r->end || r->dir > r->end - r->bytes)
		return err_new(
			E_ZIP, "'%.*s' has a central directory beyond its end record", STR(path));
	uint64_t gap = r->end - r->bytes - r->dir;
	if (!gap)
		return NULL;
	if (r->bytes >= 4) {
		TRY(get(r, sig, 4, r->dir + gap));
		if (le32(sig) == ZIP_CENTRAL) {
			SAY_ERROR(r, "zip-gap", path, "%llu bytes in front of the archive",
				(unsigned long long)gap);
			r->shift = gap;
			r->dir += gap;
			return NULL;
		}
	}
	SAY_ERROR(r, "zip-gap", path, "%llu bytes between central directory and end record",
		(unsigned long long)gap);
	return NULL;
}

/* ---- the central directory ---- */

static void check_kind(struct zip_reader *r, struct zip_member *m)
{
	if (S_ISLNK(m->mode))
		SAY_ERROR(r, "zip-symlink", m->name, "a symbolic link, which wheels must not have");
	else if (m->mode & S_IFMT && !S_ISREG(m->mode) && !S_ISDIR(m->mode))
		SAY_ERROR(r, "zip-special-file", m->name, "a device, pipe or socket (mode %o)",
			m->mode);
	else if (m->dir && (m->size || m->stored > 2))
		SAY_ERROR(r, "zip-special-file", m->name, "a folder with content");
	else
		return;
	m->unsafe = true;
}

static void check_packing(struct zip_reader *r, struct zip_member *m)
{
	const unsigned secret = ZIP_FLAG_ENCRYPTED | ZIP_FLAG_STRONG | ZIP_FLAG_MASKED;
	bool known = (m->method == ZIP_STORED || m->method == ZIP_DEFLATE) &&
		     !(m->flags & ZIP_FLAG_PATCH);
	m->unsafe = m->unsafe || !known || m->flags & secret;
	if (m->flags & secret)
		SAY_ERROR(r, "zip-encrypted", m->name, "is encrypted");
	if (!known)
		SAY_ERROR(r, "zip-method", m->name,
			"method %u: a wheel may have stored (0) and deflated (8) members only",
			m->method);
	/* Deflate: a match of 258 bytes costs two bits at the least (RFC 1951), 1032 : 1. */
	bool stored = m->method == ZIP_STORED && m->size != m->stored;
	bool deflated = m->method == ZIP_DEFLATE && m->size / 1032 > m->stored;
	if (!stored && !deflated)
		return;
	SAY_ERROR(r, "zip-size", m->name, "%llu bytes cannot come out of %llu",
		(unsigned long long)m->size, (unsigned long long)m->stored);
	m->unsafe = true;
}

static void check_name(struct zip_reader *r, struct zip_member *m)
{
	const char *problem = zip_name_problem(m->name);
	if (problem)
		SAY_ERROR(r, "zip-unsafe-name", m->name, "the name %s", problem);
	else if (utf8_end(m->name) < m->name.n)
		SAY_ERROR(r, "zip-name-encoding", m->name, "the name is not valid UTF-8");
	else if (!zip_ascii(m->name) && !(m->flags & ZIP_FLAG_UTF8))
		SAY_WARNING(r, "zip-name-encoding", m->name,
			"the name is not ASCII, but not marked as UTF-8 either");
}

/* One entry of the directory; returns its length, 0 when it is none. */
static size_t read_entry(struct zip_reader *r, struct str rest)
{
	const char *p = rest.p;
	if (rest.n < ZIP_CENTRAL_SIZE || le32(p) != ZIP_CENTRAL)
		return 0;
	size_t name = le16(p + 28), extra = le16(p + 30), comment = le16(p + 32);
	if (rest.n - ZIP_CENTRAL_SIZE < name + extra + comment)
		return 0;
	struct zip_wide w = {.size = le32(p + 24), .stored = le32(p + 20), .header = le32(p + 42)};
	const bool want[] = {w.size == 0xffffffff, w.stored == 0xffffffff, w.header == 0xffffffff};
	struct zip_member *m = VEC_PUSH(r->a, &r->z->members);
	size_t to = ZIP_CENTRAL_SIZE + name;
	zip_wide_read(str_sub(rest, to, to + extra), want, &w);
	*m = (struct zip_member){
		.name = str_sub(rest, ZIP_CENTRAL_SIZE, to),
		.method = le16(p + 10),
		.flags = le16(p + 8),
		.crc = le32(p + 16),
		.mode = p[5] == 3 ? le32(p + 38) >> 16 : 0,
		.size = w.size,
		.stored = w.stored,
		.header = w.header,
	};
	m->dir = name && p[to - 1] == '/';
	if (w.problem)
		SAY_ERROR(r, "zip-zip64", m->name, "its ZIP64 extra field %s", w.problem);
	check_name(r, m);
	check_kind(r, m);
	check_packing(r, m);
	return to + extra + comment;
}

static struct err *read_directory(struct zip_reader *r)
{
	if (r->bytes > MAX_DIRECTORY)
		return err_new(E_LIMIT, "'%.*s' has a central directory of %llu bytes",
			STR(r->z->path), (unsigned long long)r->bytes);
	char *p = arena_alloc(r->a, (size_t)r->bytes + 1);
	struct str rest = {.p = p, .n = (size_t)r->bytes};
	TRY(get(r, p, rest.n, r->dir));
	for (uint64_t i = 0; i < r->count; i++) {
		size_t n = read_entry(r, rest);
		if (!n)
			return err_new(E_ZIP,
				"'%.*s' has a damaged central directory: entry %llu of %llu",
				STR(r->z->path), (unsigned long long)i + 1,
				(unsigned long long)r->count);
		rest = str_sub(rest, n, rest.n);
	}
	if (rest.n)
		SAY_ERROR(r, "zip-directory", r->z->path,
			"%zu bytes of the central directory belong to no member", rest.n);
	return NULL;
}

/* ---- names against each other ---- */

static void check_folders(struct zip_reader *r, const struct zip_member *m)
{
	for (size_t i = 1; i + 1 < m->name.n; i++) {
		struct str folder = str_sub(m->name, 0, i);
		if (m->name.p[i] == '/' && map_get(&r->z->names, folder))
			SAY_ERROR(r, "zip-duplicate-name", m->name,
				"'%.*s' is a file as well as a folder", STR(folder));
	}
}

static void check_names(struct zip_reader *r)
{
	MAP(folded, r->a);
	struct zip *z = r->z;
	uint64_t total = 0;
	VEC_EACH (struct zip_member, m, &z->members) {
		struct str lower = str_lower(r->a, m->name);
		total += m->size < MAX_TOTAL ? m->size : MAX_TOTAL;
		if (map_get(&z->names, m->name))
			SAY_ERROR(r, "zip-duplicate-name", m->name, "the name occurs twice");
		else if (map_get(&folded, lower))
			SAY_WARNING(r, "zip-case-duplicate", m->name,
				"differs from another name by upper and lower case only");
		if (!map_get(&z->names, m->name))
			map_put(&z->names, m->name, m);
		map_put(&folded, lower, m);
	}
	VEC_EACH (struct zip_member, m, &z->members)
		if (!zip_name_problem(m->name))
			check_folders(r, m);
	if (total < MAX_TOTAL)
		return;
	SAY_ERROR(r, "zip-bomb", z->path, "it would unpack to more than 1 TiB");
	VEC_EACH (struct zip_member, m, &z->members)
		m->unsafe = true;
}

/* ---- opening ---- */

struct err *zip_open_src(struct arena *a, const struct elf_src *src, struct str path,
	struct findings *findings, struct zip *ret)
{
	struct findings own = {0};
	*ret = (struct zip){.path = path, .src = *src, .fd = -1, .size = src->size, .names.a = a};
	struct zip_reader r = {.a = a, .z = ret, .list = findings ? findings : &own};
	TRY(read_end(&r));
	TRY(place_directory(&r));
	TRY(read_directory(&r));
	check_names(&r);
	TRY(zip_check_local(&r));
	if (r.suppressed)
		finding_say(a, finding_add(a, r.list, "zip-more-findings", SEV_WARNING, path),
			"%zu more findings of the zip file are not shown", r.suppressed);
	VEC_EACH (struct finding, f, &own)
		if (f->severity == SEV_ERROR)
			return err_new(E_ZIP, "'%.*s' is a damaged zip file: '%.*s': %.*s",
				STR(path), STR(f->path), STR(f->message));
	return NULL;
}

struct err *zip_open(struct arena *a, struct str path, struct findings *findings, struct zip *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	TRY(fs_open(path, &fd));
	TRY(fs_stat(path, &st));
	if (!S_ISREG(st.st_mode))
		return err_new(E_ZIP, "'%.*s' is no regular file", STR(path));
	struct elf_src src = elf_src_fd(fd, (uint64_t)st.st_size);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_NORMAL); /* members are read in order */
	TRY(zip_open_src(a, &src, path, findings, ret));
	ret->fd = fd;
	fd = -1;
	return NULL;
}

void zip_close(struct zip *z)
{
	fd_closep(&z->fd);
}

const struct zip_member *zip_find(const struct zip *z, struct str name)
{
	return map_get(&z->names, name);
}
