/* Opens zip archives: end records, the central directory, and the local headers, which are compared with it. Mistakes
 * that leave an archive readable become findings; see zip.h. Members, headers and data descriptors must fill the file
 * without overlap or gap. */
#include <fcntl.h>

#include "base/fs.h"
#include "formats/zip_format.h"

enum {
	MAX_DIRECTORY = 1 << 30,
	MEMBER_MEMORY = 1000, /* bytes that all readers together keep per member */
	FIELD_WORK = 32,      /* work per byte of extra fields */
};
#define MAX_TOTAL ((uint64_t)1 << 40) /* unpacked bytes of all members */

struct zip_reader {
	struct arena *a;
	struct zip *z;
	struct findings *list;
	uint64_t end; /* offset of the end record, or of the ZIP64 end record if there is one */
	uint64_t dir, bytes; /* offset and size of the central directory */
	uint64_t count;      /* number of members, by the end record */
	uint64_t shift;      /* bytes in front of the archive: added to every offset */
	bool extras;         /* harmless extra fields were reported; once is enough */
};

static void say(struct zip_reader *r, const char *id, enum severity severity, struct str member,
	const char *fmt, ...) PRINTF(5, 6);
#define SAY_ERROR(r, id, ...) say((r), (id), SEV_ERROR, __VA_ARGS__)
#define SAY_WARNING(r, id, ...) say((r), (id), SEV_WARNING, __VA_ARGS__)
/* An error that makes a member unsafe to read. */
#define REFUSE(r, id, m, ...) ((m)->unsafe = true, SAY_ERROR((r), (id), (m)->name, __VA_ARGS__))

static void say(struct zip_reader *r, const char *id, enum severity severity, struct str member,
	const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	finding_vsay(r->a, finding_add(r->a, r->list, id, severity, member), fmt, ap);
	va_end(ap);
}

/* ---- names ---- */

const char *zip_name_problem(struct str name)
{
	if (!name.n)
		return "is empty";
	if (name.n > 4096)
		return "is longer than 4096 bytes";
	if (name.p[0] == '/')
		return "is absolute";
	char drive = name.n >= 2 && name.p[1] == ':' ? name.p[0] : 0;
	if ((drive >= 'a' && drive <= 'z') || (drive >= 'A' && drive <= 'Z'))
		return "begins with a drive letter";
	size_t backslash = str_chr(name, '\\');
	if (!str_is_plain(str_sub(name, 0, backslash), ""))
		return "has a control character";
	if (backslash < name.n)
		return "has a backslash";
	struct str rest = name.p[name.n - 1] == '/' ? str_sub(name, 0, name.n - 1) : name, piece;
	if (!rest.n || rest.p[rest.n - 1] == '/')
		return "has an empty path element";
	for (size_t depth = 0; str_next(&rest, '/', &piece); depth++) {
		if (depth == 100)
			return "is more than 100 folders deep";
		if (!piece.n)
			return "has an empty path element";
		if (str_eq(piece, S("..")))
			return "leads out of the folder that it is unpacked in";
		if (str_eq(piece, S(".")))
			return "has a '.' path element";
	}
	return NULL;
}

bool zip_ascii(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] & 0x80)
			return false;
	return true;
}

/* ---- end records ---- */

/* The ZIP64 end record lies where its locator says, or right before the locator if bytes were put in front of the
 * archive. */
static struct err *read_end64(struct zip_reader *r, const unsigned char *locator)
{
	unsigned char e[ZIP_END64_SIZE];
	struct str path = r->z->path;
	uint64_t before = r->end - ZIP_LOCATOR64_SIZE, at = le64(locator + 8);
	if (le32(locator + 4) != 0 || le32(locator + 16) > 1)
		SAY_ERROR(r, "zip-multi-disk", path, "it is one part of several");
	if (before < ZIP_END64_SIZE)
		return err_new(E_ZIP, "'%.*s' has no ZIP64 end record", STR(path));
	if (at > before - ZIP_END64_SIZE)
		at = before - ZIP_END64_SIZE;
	TRY(bytes_read(&r->z->src, e, ZIP_END64_SIZE, at));
	if (le32(e) != ZIP_END64) {
		at = before - ZIP_END64_SIZE;
		TRY(bytes_read(&r->z->src, e, ZIP_END64_SIZE, at));
	}
	if (le32(e) != ZIP_END64)
		return err_new(E_ZIP, "'%.*s' has no ZIP64 end record where its locator points",
			STR(path));
	uint64_t length = le64(e + 4), n = le64(e + 32), bytes = le64(e + 40), dir = le64(e + 48);
	if (length > before || at + 12 + length != before)
		SAY_ERROR(r, "zip-zip64", path,
			"the ZIP64 end record does not end where its locator begins");
	/* A field of the old record must equal the ZIP64 one, or be all ones. */
	if ((r->count != 0xffff && r->count != n) ||
		(r->bytes != 0xffffffff && r->bytes != bytes) ||
		(r->dir != 0xffffffff && r->dir != dir) || le64(e + 24) != n)
		SAY_ERROR(r, "zip-zip64", path, "the two end records disagree");
	if (le32(e + 16) || le32(e + 20))
		SAY_ERROR(r, "zip-multi-disk", path, "it is one part of several");
	if (r->count != 0xffff && r->bytes != 0xffffffff && r->dir != 0xffffffff)
		SAY_WARNING(
			r, "zip-zip64-unneeded", path, "a ZIP64 end record that no value needs");
	r->end = at;
	r->count = n;
	r->bytes = bytes;
	r->dir = dir;
	return NULL;
}

static struct err *read_end(struct zip_reader *r)
{
	ARENA(tmp);
	struct zip *z = r->z;
	unsigned char locator[ZIP_LOCATOR64_SIZE] = {0};
	const unsigned char *e = NULL;
	size_t n = z->size < ZIP_END_SIZE + 0xffff ? (size_t)z->size : ZIP_END_SIZE + 0xffff;
	unsigned char *tail = arena_alloc(&tmp, n + 1);
	TRY(bytes_read(&z->src, tail, n, z->size - n));
	for (size_t at = n < ZIP_END_SIZE ? 0 : n - ZIP_END_SIZE + 1; at-- > 0 && !e;) {
		size_t comment = le32(tail + at) == ZIP_END ? le16(tail + at + 20) : n;
		if (comment > n - at - ZIP_END_SIZE)
			continue;
		e = tail + at;
		r->end = z->size - n + at;
		if (comment < n - at - ZIP_END_SIZE)
			SAY_ERROR(r, "zip-trailing-bytes", z->path,
				"%zu bytes behind the end record", n - at - ZIP_END_SIZE - comment);
		if (comment)
			SAY_WARNING(r, "zip-comment", z->path,
				"an archive comment of %zu bytes, which nothing needs in a wheel",
				comment);
	}
	if (!e)
		return err_new(
			E_ZIP, "'%.*s' is not a zip file: it has no end record", STR(z->path));
	r->count = le16(e + 10);
	r->bytes = le32(e + 12);
	r->dir = le32(e + 16);
	unsigned disk = le16(e + 4), start = le16(e + 6);
	if ((disk && disk != 0xffff) || (start && start != 0xffff) || le16(e + 8) != r->count)
		SAY_ERROR(r, "zip-multi-disk", z->path, "it is one part of several");
	if (r->end >= ZIP_LOCATOR64_SIZE)
		TRY(bytes_read(&z->src, locator, sizeof(locator), r->end - ZIP_LOCATOR64_SIZE));
	if (le32(locator) == ZIP_LOCATOR64)
		return read_end64(r, locator);
	if (r->bytes == 0xffffffff || r->dir == 0xffffffff)
		return err_new(
			E_ZIP, "'%.*s' has no ZIP64 end record, but needs one", STR(z->path));
	return NULL;
}

/* The directory must end where the end record begins. If it does not, there are extra bytes either in front of the
 * archive (all offsets are too small) or between the two. */
static struct err *place_directory(struct zip_reader *r)
{
	unsigned char sig[4] = {0};
	struct str path = r->z->path;
	if (r->bytes > r->end || r->dir > r->end - r->bytes)
		return err_new(
			E_ZIP, "'%.*s' has a central directory beyond its end record", STR(path));
	uint64_t gap = r->end - r->bytes - r->dir;
	if (!gap)
		return NULL;
	if (r->bytes >= 4)
		TRY(bytes_read(&r->z->src, sig, 4, r->dir + gap));
	bool in_front = le32(sig) == ZIP_CENTRAL;
	r->shift = in_front ? gap : 0;
	r->dir += r->shift;
	SAY_ERROR(r, "zip-gap", path, "%llu bytes %s", (unsigned long long)gap,
		in_front ? "in front of the archive" : "between central directory and end record");
	return NULL;
}

/* ---- the central directory ---- */

/* Values of the ZIP64 extra field, and what is wrong with it (NULL: nothing). */
struct wide {
	uint64_t size, stored, header;
	unsigned length; /* bytes of the field; 0 = it is missing */
	const char *problem;
};

/* Extra fields that make some readers see something other than the header says, and harmless ones that a wheel has no
 * use for. Source: APPNOTE 4.6, Info-ZIP's proginfo/extrafld.txt, libarchive's zip reader. */
static const struct extra_field {
	unsigned id;
	bool harmless;
	const char *what;
} extra_fields[] = {
	{.id = ZIP_EXTRA_NAME, .what = "another name for it"},
	{.id = 0x000d, .what = "its kind, owner and the target of a link (PKWARE Unix)"},
	{.id = 0x756e, .what = "its mode, owner and the target of a link (ASi Unix)"},
	{.id = 0x6c78, .what = "its mode once more (libarchive)"},
	{.id = 0x9901, .what = "how it is encrypted (AES)"},
	{.id = 0x6375, .harmless = true, .what = "another comment"},
	{.id = 0x000a, .harmless = true, .what = "times (NTFS)"},
	{.id = 0x5455, .harmless = true, .what = "times (Info-ZIP)"},
	{.id = 0x5855, .harmless = true, .what = "times and its owner (Info-ZIP)"},
	{.id = 0x7855, .harmless = true, .what = "its owner (Info-ZIP)"},
	{.id = 0x7875, .harmless = true, .what = "its owner (Info-ZIP)"},
};

static void check_extra(struct zip_reader *r, const struct zip_member *m, struct str extra)
{
	enum { BEFORE_NAME = 5 }; /* version, CRC of the header's name */
	for (unsigned n; extra.n >= 4; extra = str_sub(extra, 4 + n, extra.n)) {
		unsigned id = le16(extra.p);
		n = le16(extra.p + 2);
		struct str field = str_sub(extra, 4, 4 + (size_t)n);
		/* a second name that equals the first does no harm */
		bool same = id == ZIP_EXTRA_NAME && field.n >= BEFORE_NAME &&
			    str_eq(str_sub(field, BEFORE_NAME, field.n), m->name);
		for (size_t i = 0; i < sizeof(extra_fields) / sizeof(*extra_fields); i++) {
			const struct extra_field *f = &extra_fields[i];
			if (f->id != id || (f->harmless && r->extras) || same)
				continue;
			r->extras = r->extras || f->harmless;
			if (f->harmless)
				say(r, "zip-extra-field", SEV_INFO, m->name,
					"an extra field (0x%04x) has %s, which no wheel needs", id,
					f->what);
			else
				SAY_ERROR(r, "zip-second-meaning", m->name,
					"an extra field (0x%04x) tells %s, which only some "
					"installers read",
					id, f->what);
		}
	}
}

/* Reads into *w those of size, stored and header whose 32-bit fields are all ones (want). */
static void read_wide(struct str extra, const bool want[3], struct wide *w)
{
	uint64_t *values[] = {&w->size, &w->stored, &w->header};
	for (size_t n; extra.n >= 4; extra = str_sub(extra, 4 + n, extra.n)) {
		size_t at = 4;
		n = le16(extra.p + 2);
		if (n > extra.n - 4)
			break;
		if (le16(extra.p) != ZIP_EXTRA64)
			continue;
		if (w->length) {
			w->problem = "occurs twice";
			continue;
		}
		w->length = (unsigned)n + 4;
		for (unsigned i = 0; i < 3; i++) {
			if (!want[i])
				continue;
			if (at + 8 <= w->length)
				*values[i] = le64(extra.p + at);
			at += 8;
		}
		if (at > w->length)
			w->problem = "is too short for the values that it stands for";
		else if (at < w->length)
			w->problem = at > 4 ? "has values that the header has already"
					    : "stands for no value of the header";
	}
	if (extra.n && !w->problem)
		w->problem = "or another extra field is cut short";
	if (!w->length && (want[0] || want[1] || want[2]))
		w->problem = "is missing";
}

static void check_kind(struct zip_reader *r, struct zip_member *m, uint32_t dos)
{
	enum { DOS_FOLDER = 0x10 };
	if (S_ISLNK(m->mode))
		REFUSE(r, "zip-symlink", m, "a symbolic link, which wheels must not have");
	else if (m->mode & S_IFMT && !S_ISREG(m->mode) && !S_ISDIR(m->mode))
		REFUSE(r, "zip-special-file", m, "a device, pipe or socket (mode %o)", m->mode);
	else if (m->dir && (m->size || m->stored > 2))
		REFUSE(r, "zip-special-file", m, "a folder with content");
	else if (!m->dir && (S_ISDIR(m->mode) || dos & DOS_FOLDER))
		REFUSE(r, "zip-special-file", m, "a folder by its attributes, a file by its name");
	if (m->mode & (S_ISUID | S_ISGID | S_ISVTX) && !S_ISLNK(m->mode))
		say(r, "zip-mode", m->dir ? SEV_WARNING : SEV_ERROR, m->name,
			"its mode is %04o: a set-user-id, set-group-id or sticky bit",
			m->mode & 07777);
}

static void check_packing(struct zip_reader *r, struct zip_member *m)
{
	const unsigned secret = ZIP_FLAG_ENCRYPTED | ZIP_FLAG_STRONG | ZIP_FLAG_MASKED;
	if (m->flags & secret)
		REFUSE(r, "zip-encrypted", m, "is encrypted");
	if ((m->method != ZIP_STORED && m->method != ZIP_DEFLATE) || m->flags & ZIP_FLAG_PATCH)
		REFUSE(r, "zip-method", m,
			"method %u: a wheel may have stored (0) and deflated (8) members only",
			m->method);
	/* Deflate: a match of 258 bytes costs at least two bits (RFC 1951), which is 1032 : 1. */
	if ((m->method == ZIP_STORED && m->size != m->stored) ||
		(m->method == ZIP_DEFLATE && m->size / 1032 > m->stored))
		REFUSE(r, "zip-size", m, "%llu bytes cannot come out of %llu",
			(unsigned long long)m->size, (unsigned long long)m->stored);
}

/* Reads one entry of the directory; returns its length, or 0 if it is damaged. */
static size_t read_entry(struct zip_reader *r, struct str rest)
{
	const char *p = rest.p;
	if (rest.n < ZIP_CENTRAL_SIZE || le32(p) != ZIP_CENTRAL)
		return 0;
	size_t name = le16(p + 28), extra = le16(p + 30), comment = le16(p + 32);
	if (rest.n - ZIP_CENTRAL_SIZE < name + extra + comment)
		return 0;
	struct wide w = {.size = le32(p + 24), .stored = le32(p + 20), .header = le32(p + 42)};
	const bool want[] = {w.size == 0xffffffff, w.stored == 0xffffffff, w.header == 0xffffffff};
	struct zip_member *m = VEC_PUSH(r->a, &r->z->members);
	size_t to = ZIP_CENTRAL_SIZE + name;
	read_wide(str_sub(rest, to, to + extra), want, &w);
	*m = (struct zip_member){
		.name = str_sub(rest, ZIP_CENTRAL_SIZE, to),
		.method = le16(p + 10),
		.flags = le16(p + 8),
		.time = le32(p + 12),
		.crc = le32(p + 16),
		.mode = le32(p + 38) >> 16, /* whichever system made it, as installers do */
		.size = w.size,
		.stored = w.stored,
		.header = w.header,
	};
	m->dir = name && p[to - 1] == '/';
	if (w.problem)
		SAY_ERROR(r, "zip-zip64", m->name, "its ZIP64 extra field %s", w.problem);
	const char *problem = zip_name_problem(m->name);
	if (problem)
		SAY_ERROR(r, "zip-unsafe-name", m->name, "the name %s", problem);
	else if (utf8_end(m->name) < m->name.n)
		SAY_ERROR(r, "zip-name-encoding", m->name, "the name is not valid UTF-8");
	else if (!zip_ascii(m->name) && !(m->flags & ZIP_FLAG_UTF8))
		SAY_WARNING(r, "zip-name-encoding", m->name,
			"the name is not ASCII, but not marked as UTF-8 either");
	check_kind(r, m, le32(p + 38));
	check_extra(r, m, str_sub(rest, to, to + extra));
	check_packing(r, m);
	return to + extra + comment;
}

static struct err *read_directory(struct zip_reader *r)
{
	if (r->bytes > MAX_DIRECTORY)
		return err_new(E_LIMIT, "'%.*s' has a central directory of %llu bytes",
			STR(r->z->path), (unsigned long long)r->bytes);
	TRY(budget_memory(
		r->z->src.budget, r->bytes + r->bytes / ZIP_CENTRAL_SIZE * MEMBER_MEMORY));
	char *p = arena_alloc(r->a, (size_t)r->bytes + 1);
	struct str rest = {.p = p, .n = (size_t)r->bytes};
	TRY(bytes_read(&r->z->src, p, rest.n, r->dir));
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
	/* The folders of `last` are known not to be files; most members share the folders of the one before. */
	struct str last = S("");
	VEC_EACH (struct zip_member, m, &z->members) {
		size_t n = zip_name_problem(m->name) ? 0 : m->name.n, i = 0;
		while (i < n && i < last.n && m->name.p[i] == last.p[i])
			i++;
		for (last = str_sub(m->name, 0, n ? n - 1 : 0); i + 1 < n; i++) {
			struct str folder = str_sub(m->name, 0, i);
			if (!i || m->name.p[i] != '/' || !map_get(&z->names, folder))
				continue;
			SAY_ERROR(r, "zip-duplicate-name", m->name,
				"'%.*s' is a file as well as a folder", STR(folder));
			last = S("");
		}
	}
	if (total < MAX_TOTAL)
		return;
	SAY_ERROR(r, "zip-bomb", z->path, "it would unpack to more than 1 TiB");
	VEC_EACH (struct zip_member, m, &z->members)
		m->unsafe = true;
}

/* ---- local headers ---- */

/* header: all of the local header. */
static void check_local(struct zip_reader *r, const struct zip_member *m, struct str header)
{
	const char *p = header.p;
	size_t to = ZIP_LOCAL_SIZE + le16(p + 26);
	struct str extra = str_sub(header, to, header.n);
	struct wide w = {.size = le32(p + 22), .stored = le32(p + 18)};
	bool marked = w.size == 0xffffffff || w.stored == 0xffffffff;
	bool half = marked && w.size != w.stored;
	const bool want[] = {marked, marked, false};
	read_wide(extra, want, &w);
	check_extra(r, m, extra);
	/* 4.5.3: a ZIP64 field in a local header has both sizes, and both 32-bit fields are all ones. Writers break
	 * that by copying the central field, which may have one size or the offset: pypa/wheel#692. */
	if (w.problem)
		SAY_ERROR(r, "zip-zip64", m->name, "the ZIP64 extra field of its local header %s",
			w.problem);
	else if (half)
		SAY_ERROR(r, "zip-zip64", m->name,
			"the ZIP64 extra field of its local header has both sizes, its header one");
	bool later = m->flags & ZIP_FLAG_DESCRIPTOR; /* crc and sizes may be zero here */
	uint32_t crc = le32(p + 14);
	const struct {
		bool same;
		const char *what;
	} checks[] = {
		{str_eq(str_sub(header, ZIP_LOCAL_SIZE, to), m->name), "names"},
		{le16(p + 6) == m->flags, "flags"},
		{le16(p + 8) == m->method, "methods"},
		{crc == m->crc || (later && !crc), "checksums"},
		{(w.size == m->size || (later && !w.size)) &&
				(w.stored == m->stored || (later && !w.stored)),
			"sizes"},
	};
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		if (!checks[i].same)
			SAY_ERROR(r, "zip-local-header", m->name,
				"the %s in the local header and in the central directory differ",
				checks[i].what);
}

static struct err *check_member(struct zip_reader *r, struct zip_member *m)
{
	ARENA(tmp);
	m->data = UINT64_MAX;
	if (m->header > r->dir - r->shift) {
		REFUSE(r, "zip-local-header", m, "its offset is behind the members");
		return NULL;
	}
	m->header += r->shift;
	/* one read is enough unless the header's name or extra fields are longer than the directory makes expect */
	uint64_t room = r->dir - m->header, want = ZIP_LOCAL_SIZE + m->name.n + 64;
	size_t n = (size_t)(room < want ? room : want);
	char *p = arena_alloc(&tmp, n + 1);
	TRY(bytes_read(&r->z->src, p, n, m->header));
	bool is = n >= ZIP_LOCAL_SIZE && le32(p) == ZIP_LOCAL;
	want = is ? ZIP_LOCAL_SIZE + (uint64_t)le16(p + 26) + le16(p + 28) : 0;
	if (!is || want > room) {
		REFUSE(r, "zip-local-header", m, "there is no local header at %llu",
			(unsigned long long)m->header);
		return NULL;
	}
	if (want > n) {
		p = arena_alloc(&tmp, (size_t)want);
		TRY(bytes_read(&r->z->src, p, (size_t)want, m->header));
	}
	/* many members may share one header */
	TRY(budget_work(r->z->src.budget, FIELD_WORK * le16(p + 28)));
	m->data = m->header + want;
	check_local(r, m, (struct str){p, (size_t)want});
	if (m->stored > r->dir - m->data)
		REFUSE(r, "zip-overlap", m, "its data runs into the central directory");
	return NULL;
}

/* ---- every byte belongs to one member ---- */

/* Do these bytes hold the member's data descriptor (4.3.9)? It may have a signature, and sizes of 4 or 8 bytes. */
static bool descriptor_fits(const struct zip_member *m, const unsigned char *p, size_t n)
{
	bool sig = n == 16 || n == 24;
	const unsigned char *v = p + (sig ? 4 : 0);
	if (n != 12 && n != 16 && n != 20 && n != 24)
		return false;
	if ((sig && le32(p) != ZIP_DESCRIPTOR) || le32(v) != m->crc)
		return false;
	if (n >= 20)
		return le64(v + 4) == m->stored && le64(v + 12) == m->size;
	return le32(v + 4) == m->stored && le32(v + 8) == m->size;
}

static int by_header(const void *x, const void *y)
{
	const struct zip_member *a = *(struct zip_member *const *)x;
	const struct zip_member *b = *(struct zip_member *const *)y;
	return (a->header > b->header) - (a->header < b->header);
}

static struct err *check_locals(struct zip_reader *r)
{
	struct zip *z = r->z;
	size_t n = 0;
	struct zip_member **v = arena_array(r->a, z->members.n + 1, sizeof(struct zip_member *));
	VEC_EACH (struct zip_member, m, &z->members) {
		TRY(check_member(r, m));
		if (m->data <= r->dir && m->stored <= r->dir - m->data)
			v[n++] = m;
	}
	if (n)
		qsort(v, n, sizeof(struct zip_member *), by_header);
	uint64_t first = n ? v[0]->header : r->dir;
	if (first > r->shift)
		SAY_ERROR(r, "zip-gap", z->path, "%llu bytes in front of the first member",
			(unsigned long long)(first - r->shift));
	for (size_t i = 0; i < n; i++) {
		struct zip_member *m = v[i];
		uint64_t end = m->data + m->stored, next = i + 1 < n ? v[i + 1]->header : r->dir;
		unsigned char p[24] = {0};
		size_t gap = end < next && next - end <= sizeof(p) ? (size_t)(next - end) : 0;
		if (end > next) {
			REFUSE(r, "zip-overlap", m, "shares bytes with the next member");
		} else if (m->flags & ZIP_FLAG_DESCRIPTOR) {
			if (gap)
				TRY(bytes_read(&z->src, p, gap, end));
			SAY_WARNING(r, "zip-data-descriptor", m->name,
				"sizes follow the data (a data descriptor): it cannot be unpacked "
				"as a stream");
			if (!descriptor_fits(m, p, gap))
				SAY_ERROR(r, "zip-local-header", m->name,
					"its data descriptor is wrong");
		} else if (end < next) {
			SAY_ERROR(r, "zip-gap", m->name, "%llu bytes behind it belong to no member",
				(unsigned long long)(next - end));
		}
	}
	return NULL;
}

/* ---- opening ---- */

struct err *zip_open_src(struct arena *a, const struct bytes *src, struct str path,
	struct findings *findings, struct zip *ret)
{
	struct findings own = {0};
	*ret = (struct zip){.path = path, .src = *src, .fd = -1, .size = src->size, .names.a = a};
	struct zip_reader r = {.a = a, .z = ret, .list = findings ? findings : &own};
	r.list->most = FINDINGS_OF_A_KIND;
	budget_set(&ret->budget, src->size);
	if (!src->budget)
		ret->src.budget = &ret->budget;
	TRY(read_end(&r));
	TRY(place_directory(&r));
	TRY(read_directory(&r));
	check_names(&r);
	TRY(check_locals(&r));
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
		return err_new(E_ZIP, "'%.*s' is not a regular file", STR(path));
	struct bytes src = bytes_fd(fd, (uint64_t)st.st_size);
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
