/* The JSON writer; see json_fields.h. */
#include "formats/json_fields.h"

#include <inttypes.h>
#include <math.h>

#include "formats/node.h"

static void newline(struct json *j)
{
	if (!j->indent)
		return;
	size_t n = (size_t)j->depth * j->indent;
	char *p = buf_space(j->out, n + 1);
	memset(p, ' ', n + 1);
	*p = '\n';
}

/* Writes the separator that precedes a value: nothing after a key, else a comma and a newline. */
static void separate(struct json *j)
{
	if (j->in_key) {
		j->in_key = false;
		return;
	}
	if (j->comma)
		buf_char(j->out, ',');
	if (j->depth)
		newline(j);
	j->comma = true;
}

void json_open(struct json *j, char bracket)
{
	separate(j);
	buf_char(j->out, bracket);
	j->closers[j->depth++ % sizeof(j->closers)] = bracket == '{' ? '}' : ']';
	j->comma = false;
}

void json_close(struct json *j)
{
	char closer = j->closers[--j->depth % sizeof(j->closers)];
	if (j->comma)
		newline(j);
	buf_char(j->out, closer);
	j->comma = true;
}

/* The number of bytes from i on that need no escape; nearly all text needs none. */
static size_t plain_run(struct str s, size_t i)
{
	size_t n = i;
	while (n < s.n && (unsigned char)s.p[n] >= 0x20 && (unsigned char)s.p[n] < 0x7f &&
		s.p[n] != '"' && s.p[n] != '\\')
		n++;
	return n - i;
}

static void write_quoted(struct buf *out, struct str s)
{
	static const char escapes[] =
		"\"\"\\\\\nn\tt\rr\bb\ff"; /* pairs of a character and its letter */
	if (plain_run(s, 0) == s.n) {
		char *p = buf_space(out, s.n + 2);
		p[0] = p[s.n + 1] = '"';
		if (s.n)
			memcpy(p + 1, s.p, s.n);
		return;
	}
	buf_char(out, '"');
	for (size_t i = 0, len; i < s.n; i += len) {
		size_t plain = plain_run(s, i);
		len = plain ? plain : utf8_length(str_sub(s, i, s.n));
		const char *p = escapes;
		while (len == 1 && *p && *p != s.p[i])
			p += 2;
		if (plain || len > 1)
			buf_add(out, str_sub(s, i, i + len));
		else if (!len)
			buf_add(out, S("\\ufffd"));
		else if (*p)
			buf_add(out, (struct str){(const char[]){'\\', p[1]}, 2});
		else
			buf_fmt(out, "\\u%04x", (unsigned char)s.p[i]);
		len = len ? len : 1;
	}
	buf_char(out, '"');
}

void json_key_str(struct json *j, struct str key)
{
	separate(j);
	write_quoted(j->out, key);
	buf_add(j->out, j->indent ? S(": ") : S(":"));
	j->in_key = true;
}

void json_key(struct json *j, const char *key)
{
	json_key_str(j, str_from(key));
}

void json_str(struct json *j, struct str s)
{
	separate(j);
	write_quoted(j->out, s);
}

void json_u64(struct json *j, uint64_t n)
{
	separate(j);
	buf_fmt(j->out, "%" PRIu64, n);
}

void json_i64(struct json *j, int64_t n)
{
	separate(j);
	buf_fmt(j->out, "%" PRId64, n);
}

void json_f64(struct json *j, double d)
{
	separate(j);
	buf_fmt(j->out, "%.6f", isfinite(d) ? d : 0);
	while (j->out->p[j->out->n - 1] == '0')
		j->out->n--;
	if (j->out->p[j->out->n - 1] == '.')
		j->out->n--;
}

void json_bool(struct json *j, bool b)
{
	separate(j);
	buf_add(j->out, b ? S("true") : S("false"));
}

void json_nothing(struct json *j)
{
	separate(j);
	buf_add(j->out, S("null"));
}

void json_strs(struct json *j, const struct strs *list)
{
	json_open(j, '[');
	for (size_t i = 0; i < list->n; i++)
		json_str(j, list->v[i]);
	json_close(j);
}

void json_names(struct json *j, const char *const *list)
{
	json_open(j, '[');
	for (; list && *list; list++)
		json_str(j, str_from(*list));
	json_close(j);
}

void json_node(struct json *j, const struct node *n)
{
	switch (n->kind) {
	case NODE_NULL:
		json_nothing(j);
		break;
	case NODE_STRING:
		json_str(j, n->text);
		break;
	case NODE_BOOL:
		json_bool(j, str_eq(n->text, S("true")));
		break;
	case NODE_NUMBER:
		separate(j);
		buf_add(j->out, n->text);
		break;
	case NODE_LIST:
	case NODE_MAP:
		json_open(j, n->kind == NODE_LIST ? '[' : '{');
		NODE_EACH (member, n) {
			if (n->kind == NODE_MAP)
				json_key_str(j, member->key);
			json_node(j, member);
		}
		json_close(j);
		break;
	}
}
