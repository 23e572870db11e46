/* Wheels and host libraries out of a few words, for tests: each field left out has a value that
 * makes the whole right, so that a test spoils one thing. Written without the code that is tested,
 * but for the zip writer and hashes. */
#pragma once

#include "test.h"

#include "base/buf.h"
#include "base/hash.h"
#include "formats/zip.h"

/* ---- an ELF library with a dynamic section, one segment, no sections ---- */
struct fx_library {
	unsigned machine;      /* 0: x86-64 */
	const char *needed[8]; /* NULL-terminated */
	const char *soname, *rpath, *runpath;
	const char *versions[8]; /* "GLIBC_2.34", all of versions_of */
	const char *versions_of; /* NULL: libc.so.6 */
	const char *defines[4];  /* versions that it offers, the first is its name */
	const char *undefined;   /* one symbol, or ... */
	const char *defined;     /* ... one that the file has */
	bool textrel;
};

struct fx_dyn { /* growing pieces: entries, strings, version records */
	struct buf tags, strings, versions;
	size_t nversions, ndefines;
	struct buf defines;
};

static inline void fx_n(struct buf *b, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		buf_char(b, (char)(i < 8 ? v >> 8 * i : 0));
}

static inline size_t fx_string(struct fx_dyn *d, const char *text)
{
	size_t at = d->strings.n;
	buf_add(&d->strings, str_from(text));
	buf_char(&d->strings, 0);
	return at;
}

static inline void fx_tag(struct fx_dyn *d, uint64_t tag, uint64_t value)
{
	fx_n(&d->tags, tag, 8);
	fx_n(&d->tags, value, 8);
}

static inline void fx_text_tag(struct fx_dyn *d, uint64_t tag, const char *text)
{
	if (text)
		fx_tag(d, tag, fx_string(d, text));
}

static inline void fx_versions(struct fx_dyn *d, const struct fx_library *l)
{
	while (l->versions[d->nversions])
		d->nversions++;
	if (!d->nversions)
		return;
	fx_n(&d->versions, 1, 2);
	fx_n(&d->versions, d->nversions, 2);
	fx_n(&d->versions, fx_string(d, l->versions_of ? l->versions_of : "libc.so.6"), 4);
	fx_n(&d->versions, 16, 4);
	fx_n(&d->versions, 0, 4);
	for (size_t i = 0; i < d->nversions; i++) {
		fx_n(&d->versions, 0, 8);
		fx_n(&d->versions, fx_string(d, l->versions[i]), 4);
		fx_n(&d->versions, i + 1 < d->nversions ? 16 : 0, 4);
	}
}

static inline void fx_defines(struct fx_dyn *d, const struct fx_library *l)
{
	for (size_t i = 0; l->defines[i]; i++, d->ndefines++) {
		fx_n(&d->defines, 1, 2);
		fx_n(&d->defines, 0, 2);
		fx_n(&d->defines, i + 1, 2);
		fx_n(&d->defines, 1, 2);
		fx_n(&d->defines, 0, 4);
		fx_n(&d->defines, 20, 4);
		fx_n(&d->defines, l->defines[i + 1] ? 28 : 0, 4);
		fx_n(&d->defines, fx_string(d, l->defines[i]), 4);
		fx_n(&d->defines, 0, 4);
	}
}

static inline struct str fx_elf(struct arena *a, struct fx_library l)
{
	enum { HEAD = 64 + 2 * 56, TAGS = 24 * 16 };
	struct fx_dyn d = {.tags.a = a, .strings.a = a, .versions.a = a, .defines.a = a};
	BUF(b, a);
	fx_string(&d, "");
	for (size_t i = 0; l.needed[i]; i++)
		fx_tag(&d, 1, fx_string(&d, l.needed[i]));
	fx_text_tag(&d, 14, l.soname);
	fx_text_tag(&d, 15, l.rpath);
	fx_text_tag(&d, 29, l.runpath);
	if (l.textrel)
		fx_tag(&d, 22, 0);
	fx_versions(&d, &l);
	fx_defines(&d, &l);
	const char *symbol = l.undefined ? l.undefined : l.defined;
	size_t name = symbol ? fx_string(&d, symbol) : 0;
	size_t versions = HEAD + TAGS, defines = versions + d.versions.n;
	size_t strings = defines + d.defines.n;
	size_t symbols = strings + d.strings.n, end = symbols + (symbol ? 48 + 16 : 0);
	fx_tag(&d, 5, strings);
	fx_tag(&d, 10, d.strings.n);
	if (d.nversions) {
		fx_tag(&d, 0x6ffffffe, versions);
		fx_tag(&d, 0x6fffffff, 1);
	}
	if (d.ndefines) {
		fx_tag(&d, 0x6ffffffc, defines);
		fx_tag(&d, 0x6ffffffd, d.ndefines);
	}
	if (symbol) {
		fx_tag(&d, 6, symbols);
		fx_tag(&d, 4, symbols + 48);
	}
	buf_add(&b, S("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0"));
	fx_n(&b, 3, 2);
	fx_n(&b, l.machine ? l.machine : 62, 2);
	fx_n(&b, 1, 4);
	fx_n(&b, 0, 8);
	fx_n(&b, 64, 8);
	fx_n(&b, 0, 8 + 4);
	fx_n(&b, 64, 2);
	fx_n(&b, 56, 2);
	fx_n(&b, 2, 2);
	fx_n(&b, 64, 2);
	fx_n(&b, 0, 4);
	const uint64_t segments[2][4] = {{1, 0, end, end}, {2, HEAD, TAGS, TAGS}};
	for (unsigned i = 0; i < 2; i++) {
		fx_n(&b, segments[i][0], 4);
		fx_n(&b, 4, 4);
		fx_n(&b, segments[i][1], 8);
		fx_n(&b, segments[i][1], 8);
		fx_n(&b, segments[i][1], 8);
		fx_n(&b, segments[i][2], 8);
		fx_n(&b, segments[i][3], 8);
		fx_n(&b, 8, 8);
	}
	assert_int_equal(b.n, HEAD);
	assert_true(d.tags.n <= TAGS - 16);
	buf_add(&b, buf_str(&d.tags));
	buf_space(&b, TAGS - d.tags.n);
	buf_add(&b, buf_str(&d.versions));
	buf_add(&b, buf_str(&d.defines));
	buf_add(&b, buf_str(&d.strings));
	if (symbol) {
		buf_space(&b, 24);
		fx_n(&b, name, 4);
		fx_n(&b, l.undefined ? 0x12 : 0x10012, 4); /* in a section */
		fx_n(&b, 0, 16);
		fx_n(&b, 1, 4);
		fx_n(&b, 2, 4);
		fx_n(&b, 0, 8);
	}
	return buf_str(&b);
}

/* ---- a wheel ---- */
struct fx_file {
	const char *name;
	struct str content;
};

struct fx_wheel {
	const char *file;             /* NULL: demo-1.0-py3-none-any.whl */
	const char *info;             /* NULL: demo-1.0.dist-info */
	const char *metadata, *wheel; /* NULL: right; "" = no such file */
	const char *record;      /* NULL: right; "" = no such file; "+..." = right, then this */
	struct fx_file files[8]; /* ends with .name = NULL */
	struct str (*edit)(struct arena *a, struct str record); /* changes the right RECORD */
};

static inline void fx_record_line(struct buf *b, struct str name, struct str content)
{
	struct digest d = hash_bytes(HASH_SHA256, content.p, content.n);
	buf_fmt(b, "%.*s,sha256=%.*s,%zu\n", STR(name), STR(digest_base64url(b->a, &d)), content.n);
}

static inline struct str fx_tag_lines(struct arena *a, struct str file)
{
	struct strs parts = str_split(a, str_sub(file, 0, file.n - 4), '-');
	BUF(b, a);
	struct strs platforms = str_split(a, parts.v[parts.n - 1], '.');
	for (size_t i = 0; parts.n > 4 && i < platforms.n; i++)
		buf_fmt(&b, "Tag: %.*s-%.*s-%.*s\n", STR(parts.v[parts.n - 3]),
			STR(parts.v[parts.n - 2]), STR(platforms.v[i]));
	return buf_str(&b);
}

static inline struct str fx_or(struct arena *a, const char *text, struct str normal)
{
	(void)a;
	return text ? str_from(text) : normal;
}

/* Writes the wheel into dir and returns its path. */
static inline struct str fx_write(struct arena *a, struct str dir, struct fx_wheel w)
{
	struct str file = fx_or(a, w.file, S("demo-1.0-py3-none-any.whl"));
	struct str info = fx_or(a, w.info, S("demo-1.0.dist-info"));
	struct fx_file own[] = {
		{.name = str_fmt(a, "%.*s/METADATA", STR(info)).p,
			.content = fx_or(a, w.metadata,
				S("Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"))},
		{.name = str_fmt(a, "%.*s/WHEEL", STR(info)).p,
			.content = fx_or(a, w.wheel,
				str_fmt(a, "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n%.*s",
					STR(fx_tag_lines(a, file))))},
	};
	struct zip_input v[12];
	size_t n = 0;
	BUF(record, a);
	for (size_t i = 0; w.files[i].name; i++)
		v[n++] = (struct zip_input){.name = str_from(w.files[i].name),
			.content = w.files[i].content,
			.mode = 0644};
	for (size_t i = 0; i < 2; i++)
		if (own[i].content.n)
			v[n++] = (struct zip_input){.name = str_from(own[i].name),
				.content = own[i].content,
				.mode = 0644};
	for (size_t i = 0; i < n; i++)
		fx_record_line(&record, v[i].name, v[i].content);
	struct str self = str_fmt(a, "%.*s/RECORD", STR(info));
	buf_fmt(&record, "%.*s,,\n", STR(self));
	bool more = w.record && w.record[0] == '+';
	if (more)
		buf_add(&record, str_from(w.record + 1));
	struct str text = w.record && !more ? str_from(w.record) : buf_str(&record);
	if (w.edit)
		text = w.edit(a, text);
	if (text.n)
		v[n++] = (struct zip_input){.name = self, .content = text, .mode = 0644};
	struct zip_writer z = {.path = path_join(a, dir, file), .jobs = 1, .v = v, .n = n};
	assert_ok(zip_write(a, &z, NULL));
	return z.path;
}
