/* The files of a dist-info folder: RECORD (CSV), and the e-mail headers of METADATA and WHEEL; see dist_info.h. */
#include "lang/python/dist_info.h"

#include <strings.h>

#include "base/fs.h"

struct str dist_stem(struct str folder)
{
	struct str name = path_base(folder);
	return str_ends(name, S(DIST_INFO)) ? str_sub(name, 0, name.n - S(DIST_INFO).n) : S("");
}

bool dist_stem_cut(struct str folder, struct str *ret_name, struct str *ret_version)
{
	return str_cut(dist_stem(folder), '-', ret_name, ret_version);
}

/* ---- RECORD ---- */

void dist_record_add(struct buf *b, struct str path, struct str sha256, uint64_t size)
{
	bool quoted = str_until(path, ",\"\n\r") < path.n;
	buf_add(b, quoted ? S("\"") : S(""));
	buf_add(b, str_replace(b->a, path, S("\""), S("\"\"")));
	buf_add(b, quoted ? S("\"") : S(""));
	buf_fmt(b, ",sha256=%.*s,%llu\n", STR(sha256), (unsigned long long)size);
}

struct csv {
	struct arena *a;
	struct str text;
	size_t at;
	unsigned line;
};

static char peek(const struct csv *c)
{
	return c->at < c->text.n ? c->text.p[c->at] : '\n';
}

static bool at_end_of_field(const struct csv *c)
{
	char ch = peek(c);
	return ch == ',' || ch == '\n' || ch == '\r';
}

static struct err *read_field(struct csv *c, struct str *ret)
{
	size_t from = c->at;
	if (peek(c) != '"') {
		while (!at_end_of_field(c))
			c->at++;
		*ret = str_sub(c->text, from, c->at);
		return NULL;
	}
	BUF(b, c->a);
	for (c->at++; c->at < c->text.n; c->at++) {
		char ch = c->text.p[c->at];
		if (ch == '"' && c->at + 1 < c->text.n && c->text.p[c->at + 1] == '"')
			c->at++;
		else if (ch == '"')
			break;
		if (ch == '\n')
			c->line++;
		buf_char(&b, ch);
	}
	if (c->at >= c->text.n)
		return err_new(E_SYNTAX, "line %u: a quote is not closed", c->line);
	c->at++;
	if (!at_end_of_field(c))
		return err_new(E_SYNTAX, "line %u: text behind a closing quote", c->line);
	*ret = buf_str(&b);
	return NULL;
}

static struct err *read_row(struct csv *c, struct dist_record *ret)
{
	struct str fields[3] = {0};
	unsigned line = c->line, n = 0;
	for (;; c->at++) {
		if (n == 3)
			return err_new(E_SYNTAX, "line %u: more than three fields", line);
		TRY(read_field(c, &fields[n++]));
		if (peek(c) != ',')
			break;
	}
	if (n != 3)
		return err_new(E_SYNTAX, "line %u: %u of three fields", line, n);
	struct dist_row *e = VEC_PUSH(c->a, ret);
	*e = (struct dist_row){.path = fields[0], .size = fields[2], .line = line};
	if (!str_cut(fields[1], '=', &e->algorithm, &e->hash) && fields[1].n)
		return err_new(
			E_SYNTAX, "line %u: '%.*s' is not ALGORITHM=HASH", line, STR(fields[1]));
	return NULL;
}

struct err *dist_record_parse(
	struct arena *a, struct str text, size_t most, struct dist_record *ret)
{
	struct csv c = {.a = a, .text = text, .line = 1};
	*ret = (struct dist_record){0};
	for (; c.at < text.n; c.line++) {
		bool empty = peek(&c) == '\n' || peek(&c) == '\r';
		if (!empty && ret->n == most)
			return err_new(E_SYNTAX, "line %u: more than %zu rows", c.line, most);
		if (!empty)
			TRY(read_row(&c, ret));
		c.at += peek(&c) == '\r';
		c.at += peek(&c) == '\n';
	}
	return NULL;
}

/* ---- headers ---- */

struct err *dist_headers_parse(struct arena *a, struct str text, struct dist_headers *ret)
{
	enum { MAX_HEADERS = 10000 };
	BUF(folded, a); /* the value of the last header, if it has continuation lines */
	struct str rest = text, line;
	*ret = (struct dist_headers){0};
	for (unsigned n = 1; str_next(&rest, '\n', &line); n++) {
		struct str key, value;
		if (str_ends(line, S("\r")))
			line.n--;
		if (!line.n)
			break;
		if (memchr(line.p, 0, line.n)) /* the JSON pages of an index cannot have it */
			return err_new(E_SYNTAX, "line %u: a NUL character", n);
		if (memchr(line.p, '\r', line.n)) /* behind it, another field begins for Python */
			return err_new(E_SYNTAX, "line %u: a carriage return within the line", n);
		if ((line.p[0] == ' ' || line.p[0] == '\t') && ret->n) {
			struct dist_header *h = &ret->v[ret->n - 1];
			if (!folded.n)
				buf_add(&folded, h->value);
			buf_char(&folded, '\n');
			buf_add(&folded, str_trim(line));
			h->value = buf_str(&folded);
			continue;
		}
		bool good = str_cut(line, ':', &key, &value) && key.n;
		for (size_t i = 0; i < key.n; i++)
			good = good && key.p[i] > ' ' && key.p[i] < 0x7f;
		if (!good)
			return err_new(E_SYNTAX, "line %u: no 'Name: value'", n);
		if (ret->n == MAX_HEADERS)
			return err_new(E_SYNTAX, "line %u: more than %d fields", n, MAX_HEADERS);
		*VEC_PUSH(a, ret) =
			(struct dist_header){.key = key, .value = str_trim(value), .line = n};
		folded = (struct buf){.a = a};
	}
	ret->body = rest;
	return NULL;
}

bool dist_header_is(const struct dist_header *h, const char *key)
{
	return h->key.n == strlen(key) && !strncasecmp(h->key.p, key, h->key.n);
}

struct err *dist_header_requirement(
	struct arena *a, const struct dist_header *h, struct requirement *ret)
{
	return requirement_parse(str_replace(a, h->value, S("\n"), S(" ")), ret);
}

const struct dist_header *dist_header(const struct dist_headers *h, const char *key)
{
	VEC_EACH (const struct dist_header, it, h)
		if (dist_header_is(it, key))
			return it;
	return NULL;
}

struct str dist_header_value(const struct dist_headers *h, const char *key)
{
	const struct dist_header *it = dist_header(h, key);
	return it ? str_sub(it->value, 0, str_chr(it->value, '\n')) : S("");
}
