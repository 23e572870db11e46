/* The manifest's bytes: written with appending, read with a cursor that never leaves the text. */
#include "changes/manifest.h"

#include <libdeflate.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"

enum { MANIFEST_LIMIT = 1 << 28 };

static const char head[] = "rocsmith hipify manifest 2\n";
static const char old_head[] = "# rocsmith hipify manifest 1\n";

struct str base_file(struct arena *a, struct str base, const char *name)
{
	return str_fmt(a, "%.*s/.rocsmith/%s", STR(base), name);
}

/* How many folders up an output leads, and what follows. */
static unsigned ups(struct str output, struct str *ret_rest)
{
	unsigned n = 0;
	for (; str_starts(output, S("../")); n++)
		output = str_sub(output, 3, output.n);
	*ret_rest = output;
	return n;
}

struct str base_path(struct arena *a, struct str base, struct str output)
{
	struct str rest, path = path_join(a, base, output);
	return ups(output, &rest) ? path_clean(a, path) : path;
}

struct str base_slot(struct arena *a, struct str base, const char *folder, struct str output)
{
	struct str rest;
	unsigned n = ups(output, &rest);
	if (n)
		return str_fmt(a, "%.*s/.rocsmith/%s.up/%u/%.*s", STR(base), folder, n, STR(rest));
	return str_fmt(a, "%.*s/.rocsmith/%s/%.*s", STR(base), folder, STR(output));
}

struct str base_original(struct arena *a, struct str base, struct str output)
{
	return base_slot(a, base, "originals", output);
}

/* ---- writing ---- */

static void put_u64(struct buf *b, uint64_t v, unsigned bytes)
{
	char *p = buf_space(b, bytes);
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (char)(v >> (8 * i));
}

static void put_text(struct buf *b, struct str s)
{
	put_u64(b, s.n, 4);
	buf_add(b, s);
	buf_char(b, 0);
}

static void put_sig(struct buf *b, const struct sig *s)
{
	put_u64(b, s->size, 8);
	put_u64(b, s->mtime, 8);
	put_u64(b, s->ctime, 8);
	put_u64(b, s->ino, 8);
}

static void put_sum(struct buf *b, const struct sum *s)
{
	memcpy(buf_space(b, sizeof(s->b)), s->b, sizeof(s->b));
}

static void put_made(struct buf *b, const struct made *m)
{
	put_u64(b, m->kind, 1);
	put_u64(b, m->replaced, 1);
	put_text(b, m->output);
	put_text(b, m->source);
	put_sum(b, &m->hash);
	put_sum(b, &m->before);
	put_sig(b, &m->sig);
}

static void put_seen(struct buf *b, const struct seen *s)
{
	put_u64(b, s->kind, 1);
	put_u64(b, s->absent, 1);
	put_u64(b, s->racy, 1);
	put_text(b, s->path);
	put_sum(b, &s->hash);
	put_sig(b, &s->sig);
}

static void put_file(struct buf *b, const struct hipify_file *f)
{
	put_u64(b, f->status, 1);
	put_u64(b, f->repeats, 1);
	put_u64(b, f->edits, 8);
	put_text(b, f->source);
	put_text(b, f->output);
}

static void put_left(struct buf *b, const struct untranslated *l)
{
	put_u64(b, l->unsure, 1);
	put_u64(b, l->line, 4);
	put_u64(b, l->col, 4);
	put_text(b, l->path);
	put_text(b, l->name);
	put_text(b, l->suggestion);
	put_text(b, l->since);
}

static void put_finding(struct buf *b, const struct finding *f)
{
	put_u64(b, f->severity, 1);
	put_text(b, str_from(f->id));
	put_text(b, f->message);
	put_text(b, f->path);
	put_u64(b, f->fix.n, 4);
	for (size_t i = 0; i < f->fix.n; i++)
		put_text(b, f->fix.v[i]);
}

static void put_body(struct buf *b, const struct manifest *m)
{
	put_u64(b, m->kind, 1);
	put_u64(b, m->complete, 1);
	put_text(b, m->identity);
	put_text(b, m->root);
	put_u64(b, m->made.n, 4);
	VEC_EACH (const struct made, e, &m->made)
		put_made(b, e);
	put_u64(b, m->seen.n, 4);
	VEC_EACH (const struct seen, s, &m->seen)
		put_seen(b, s);
	put_u64(b, m->files.n, 4);
	VEC_EACH (const struct hipify_file, f, &m->files)
		put_file(b, f);
	put_u64(b, m->untranslated.n, 4);
	VEC_EACH (const struct untranslated, l, &m->untranslated)
		put_left(b, l);
	put_u64(b, m->findings.n, 4);
	VEC_EACH (const struct finding, f, &m->findings)
		put_finding(b, f);
	put_u64(b, m->headers.n, 4);
	for (size_t i = 0; i < m->headers.n; i++)
		put_text(b, m->headers.v[i]);
}

/* An overlay's is megabytes: one buffer, whose head is filled in when the rest is known. */
struct str manifest_text(struct arena *a, const struct manifest *m)
{
	BUF(b, a);
	BUF(sums, a);
	size_t start = sizeof(head) - 1 + 12;
	buf_add(&b, str_from(head));
	(void)buf_space(&b, 12);
	put_body(&b, m);
	put_u64(&sums, libdeflate_crc32(0, b.p + start, b.n - start), 4);
	put_u64(&sums, b.n - start, 8);
	memcpy(b.p + sizeof(head) - 1, sums.p, 12);
	return buf_str(&b);
}

struct err *manifest_write(const struct manifest *m, struct str base)
{
	ARENA(tmp);
	return fs_write_if_changed(
		base_file(&tmp, base, "hipify.manifest"), manifest_text(&tmp, m), 0644);
}

/* ---- reading ---- */

/* Fixed bytes of each record, without the texts' own. */
enum {
	MADE_BYTES = 108,
	SEEN_BYTES = 72,
	FILE_BYTES = 20,
	LEFT_BYTES = 29,
	FINDING_BYTES = 20,
	TEXT_BYTES = 5
};

struct cursor {
	struct str s; /* what is left */
	bool bad;
};

static const char *take(struct cursor *c, uint64_t n)
{
	if (c->bad || n > c->s.n) {
		c->bad = true;
		return NULL;
	}
	const char *p = c->s.p;
	c->s.p += n;
	c->s.n -= n;
	return p;
}

static uint64_t get_u64(struct cursor *c, unsigned bytes)
{
	const char *p = take(c, bytes);
	uint64_t v = 0;
	for (unsigned i = 0; p && i < bytes; i++)
		v |= (uint64_t)(unsigned char)p[i] << (8 * i);
	return v;
}

static bool get_bool(struct cursor *c)
{
	return get_u64(c, 1) == 1;
}

/* An enum constant up to last; more is damage. */
static unsigned get_kind(struct cursor *c, unsigned last)
{
	uint64_t v = get_u64(c, 1);
	c->bad = c->bad || v > last;
	return c->bad ? 0 : (unsigned)v;
}

/* A number of records of at least so many bytes each: never more than the text can hold. */
static size_t get_count(struct cursor *c, size_t least)
{
	uint64_t n = get_u64(c, 4);
	c->bad = c->bad || n > c->s.n / least;
	return c->bad ? 0 : (size_t)n;
}

static struct str get_text(struct cursor *c)
{
	uint64_t n = get_u64(c, 4);
	const char *p = take(c, n + 1);
	if (!p || p[n] || memchr(p, 0, (size_t)n)) {
		c->bad = true;
		return S("");
	}
	return (struct str){.p = p, .n = (size_t)n};
}

static struct sig get_sig(struct cursor *c)
{
	struct sig s = {.size = get_u64(c, 8)};
	s.mtime = get_u64(c, 8);
	s.ctime = get_u64(c, 8);
	s.ino = get_u64(c, 8);
	return s;
}

static struct sum get_sum(struct cursor *c)
{
	struct sum s = {0};
	const char *p = take(c, sizeof(s.b));
	if (p)
		memcpy(s.b, p, sizeof(s.b));
	return s;
}

static void get_made(struct cursor *c, struct made *m)
{
	m->kind = (enum made_kind)get_kind(c, MADE_FOUND);
	m->replaced = get_bool(c);
	m->output = get_text(c);
	m->source = get_text(c);
	m->hash = get_sum(c);
	m->before = get_sum(c);
	m->sig = get_sig(c);
}

static void get_seen(struct cursor *c, struct seen *s)
{
	s->kind = (enum seen_kind)get_kind(c, SEEN_PROBE);
	s->absent = get_bool(c);
	s->racy = get_bool(c);
	s->path = get_text(c);
	s->hash = get_sum(c);
	s->sig = get_sig(c);
}

static void get_file(struct cursor *c, struct hipify_file *f)
{
	f->status = (enum hipify_status)get_kind(c, HIPIFY_FAILED);
	f->repeats = get_bool(c);
	f->edits = (size_t)get_u64(c, 8);
	f->source = get_text(c);
	f->output = get_text(c);
}

static void get_left(struct cursor *c, struct untranslated *l)
{
	l->unsure = get_bool(c);
	l->line = (unsigned)get_u64(c, 4);
	l->col = (unsigned)get_u64(c, 4);
	l->path = get_text(c);
	l->name = get_text(c);
	l->suggestion = get_text(c);
	l->since = get_text(c);
}

static void get_finding(struct arena *a, struct cursor *c, struct finding *f)
{
	f->severity = (enum severity)get_kind(c, SEV_ERROR);
	f->id = get_text(c).p;
	f->message = get_text(c);
	f->path = get_text(c);
	for (size_t n = get_count(c, TEXT_BYTES); n > 0; n--)
		strs_add(a, &f->fix, get_text(c));
}

/* Inside BASE; in place also above it, by plain "../" in front. */
static bool good_output(const struct manifest *m, struct str output)
{
	struct str rest;
	return (!ups(output, &rest) || m->kind == BASE_IN_PLACE) && path_is_inside(rest) &&
	       !str_contains(rest, S("/../"));
}

/* A tree that came from elsewhere must not reach out of itself here. */
static void forget_others(struct manifest *m, struct str base)
{
	struct str rest;
	size_t n = 0;
	if (str_eq(m->root, base))
		return;
	VEC_EACH (struct made, e, &m->made)
		if (!ups(e->output, &rest))
			m->made.v[n++] = *e;
	m->made.n = n;
}

static void get_body(struct cursor *c, struct manifest *m)
{
	m->kind = (enum base_kind)get_kind(c, BASE_OVERLAY);
	m->complete = get_bool(c);
	m->identity = get_text(c);
	m->root = get_text(c);
	m->made.n = m->made.cap = get_count(c, MADE_BYTES);
	m->made.v = arena_array(m->a, m->made.n, sizeof(*m->made.v));
	VEC_EACH (struct made, e, &m->made) {
		get_made(c, e);
		c->bad = c->bad || !good_output(m, e->output);
	}
	m->seen.n = m->seen.cap = get_count(c, SEEN_BYTES);
	m->seen.v = arena_array(m->a, m->seen.n, sizeof(*m->seen.v));
	VEC_EACH (struct seen, s, &m->seen)
		get_seen(c, s);
	m->files.n = m->files.cap = get_count(c, FILE_BYTES);
	m->files.v = arena_array(m->a, m->files.n, sizeof(*m->files.v));
	VEC_EACH (struct hipify_file, f, &m->files)
		get_file(c, f);
	m->untranslated.n = m->untranslated.cap = get_count(c, LEFT_BYTES);
	m->untranslated.v = arena_array(m->a, m->untranslated.n, sizeof(*m->untranslated.v));
	VEC_EACH (struct untranslated, l, &m->untranslated)
		get_left(c, l);
	m->findings.n = m->findings.cap = get_count(c, FINDING_BYTES);
	m->findings.v = arena_array(m->a, m->findings.n, sizeof(*m->findings.v));
	VEC_EACH (struct finding, f, &m->findings)
		get_finding(m->a, c, f);
	for (size_t n = get_count(c, TEXT_BYTES); n > 0; n--)
		strs_add(m->a, &m->headers, get_text(c));
	c->bad = c->bad || c->s.n;
}

static bool get_hex(struct str hex, struct sum *ret)
{
	uint64_t v;
	if (hex.n != 2 * sizeof(ret->b))
		return false;
	for (size_t i = 0; i < sizeof(ret->b); i++) {
		if (!str_u64(str_sub(hex, 2 * i, 2 * i + 2), 16, &v))
			return false;
		ret->b[i] = (unsigned char)v;
	}
	return true;
}

static bool parse_old(struct str text, struct manifest *m)
{
	struct str line, hash, rest;
	m->kind = BASE_OVERLAY;
	while (str_next(&text, '\n', &line)) {
		struct made e = {.kind = MADE_TEXT};
		if (!line.n)
			continue;
		if (!str_cut(line, '\t', &hash, &rest) ||
			!str_cut(rest, '\t', &e.output, &e.source) || !get_hex(hash, &e.hash) ||
			!path_is_inside(e.output))
			return false;
		e.output = str_dup(m->a, e.output);
		*VEC_PUSH(m->a, &m->made) = e;
	}
	return true;
}

struct err *manifest_parse(struct arena *a, struct str text, struct manifest *ret)
{
	*ret = (struct manifest){.a = a, .by_output = {.a = a}};
	if (str_starts(text, str_from(old_head)))
		return parse_old(str_sub(text, sizeof(old_head) - 1, text.n), ret)
			       ? NULL
			       : err_new(E_CORRUPT, "it has a damaged line");
	if (!str_starts(text, str_from(head)))
		return err_new(E_CORRUPT, "it is no manifest that this rocsmith knows");
	struct cursor c = {.s = str_sub(text, sizeof(head) - 1, text.n)};
	uint64_t crc = get_u64(&c, 4), length = get_u64(&c, 8);
	if (c.bad || length != c.s.n)
		return err_new(E_CORRUPT, "it is cut off or has more than it should");
	if (crc != libdeflate_crc32(0, c.s.p, c.s.n))
		return err_new(E_CORRUPT, "its checksum is wrong");
	get_body(&c, ret);
	return c.bad ? err_new(E_CORRUPT, "it has a damaged record") : NULL;
}

/* What helps depends on whether originals are at stake. */
static struct err *damaged(struct str base, struct err *why)
{
	ARENA(tmp);
	struct err *e = err_wrap(why, "the manifest of '%.*s' cannot be used", STR(base));
	if (!fs_exists(base_file(&tmp, base, "originals")))
		return err_hint(e,
			"remove '%.*s/.rocsmith' and run again; the files made so far then count "
			"as yours",
			STR(base));
	return err_hint(e,
		"the replaced files are in '%.*s/.rocsmith/originals': copy them back over those "
		"in '%.*s', remove '%.*s/.rocsmith', and run again",
		STR(base), STR(base), STR(base));
}

struct err *manifest_read(struct arena *a, struct str base, struct manifest **ret)
{
	struct str text;
	*ret = NULL;
	TRY(fs_read_opt(a, base_file(a, base, "hipify.manifest"), MANIFEST_LIMIT, &text));
	if (!text.p)
		return NULL;
	struct manifest *m = NEW(a, struct manifest);
	struct err *e = manifest_parse(a, text, m);
	if (e)
		return damaged(base, e);
	forget_others(m, base);
	*ret = m;
	return NULL;
}

void manifest_index(struct manifest *m)
{
	if (!m->by_output.n)
		VEC_EACH (struct made, e, &m->made)
			map_put(&m->by_output, e->output, e);
}

struct made *manifest_made(const struct manifest *m, struct str output)
{
	return m ? map_get(&m->by_output, output) : NULL;
}
