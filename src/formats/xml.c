/* The XML reader of xml.h. Each function takes one construct off x->text, from x->at on. */
#include "formats/xml.h"

static struct err *xml_error(const struct xml *x, const char *what)
{
	unsigned line = 1 + str_count(str_sub(x->text, 0, x->at), '\n');
	return err_at(
		err_new(E_SYNTAX, "'%.*s' is no XML that can be read: %s", STR(x->name), what),
		(struct loc){.path = x->name, .line = line});
}

static struct str rest_of(const struct xml *x)
{
	return str_sub(x->text, x->at, x->text.n);
}

static bool take_text(struct xml *x, const char *text)
{
	bool is = str_starts(rest_of(x), str_from(text));
	x->at += is ? strlen(text) : 0;
	return is;
}

static bool pass_space(struct xml *x)
{
	size_t n = str_span(rest_of(x), " \t\n\r");
	x->at += n;
	return n;
}

/* Letters beyond ASCII are taken as they are: names are only compared. */
static struct err *take_name(struct xml *x, struct str *ret)
{
	size_t from = x->at;
	for (; x->at < x->text.n; x->at++) {
		char c = x->text.p[x->at];
		bool first = x->at == from;
		if (!ascii_alnum(c) && !memchr("_:", c, 2) && (unsigned char)c < 0x80 &&
			(first || !memchr("-.", c, 2)))
			break;
		if (first && ascii_digit(c))
			break;
	}
	*ret = str_sub(x->text, from, x->at);
	if (!ret->n)
		return xml_error(x, "a name is missing");
	return ret->n > XML_NAME ? xml_error(x, "a name is too long") : NULL;
}

/* Char of XML 1.0: no control characters but tab and line ends, no surrogates, not U+FFFE and U+FFFF. */
static bool xml_char(uint64_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0xd800) ||
	       (c >= 0xe000 && c < 0xfffe) || (c >= 0x10000 && c < 0x110000);
}

/* "&lt;", "&#10;", "&#xa;": x->at is behind the '&'. */
static struct err *take_reference(struct xml *x, struct buf *out)
{
	static const struct {
		const char *name;
		char c;
	} known[] = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
	uint64_t c;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (take_text(x, known[i].name)) {
			buf_char(out, known[i].c);
			return NULL;
		}
	if (!take_text(x, "#"))
		return xml_error(x, "it has an entity that is none of XML's own");
	bool hex = take_text(x, "x");
	struct str digits = str_sub(x->text, x->at, x->at + 10);
	digits.n = str_chr(digits, ';');
	if (digits.n > 8 || !str_u64(digits, hex ? 16 : 10, &c) || !xml_char(c))
		return xml_error(x, "a character has a number that is none");
	x->at += digits.n + 1;
	buf_utf8(out, (uint32_t)c);
	return NULL;
}

/* Text up to one of the characters `end`; references are replaced. */
static struct err *take_characters(struct xml *x, const char *end, struct buf *out)
{
	while (x->at < x->text.n && !(x->text.p[x->at] && strchr(end, x->text.p[x->at]))) {
		struct str rest = rest_of(x);
		size_t n = utf8_length(rest);
		uint8_t c = (uint8_t)rest.p[0];
		if (!n || (n == 1 && !xml_char(c)) ||
			(n == 3 && (str_starts(rest, S("\xef\xbf\xbe")) ||
					   str_starts(rest, S("\xef\xbf\xbf")))))
			return xml_error(x, "it has a character that XML cannot have");
		if (c == '&') {
			x->at++;
			TRY(take_reference(x, out));
			continue;
		}
		buf_add(out, str_sub(rest, 0, n));
		x->at += n;
	}
	return NULL;
}

static struct err *take_attributes(struct xml *x, struct xml_event *e)
{
	while (pass_space(x) && x->at < x->text.n && !strchr("/>", x->text.p[x->at])) {
		struct xml_attribute attribute;
		BUF(value, &x->a);
		TRY(take_name(x, &attribute.name));
		pass_space(x);
		if (!take_text(x, "="))
			return xml_error(x, "an attribute has no value");
		pass_space(x);
		const char *quote = take_text(x, "\"") ? "\"" : take_text(x, "'") ? "'" : NULL;
		if (!quote)
			return xml_error(x, "the value of an attribute is not in quotes");
		TRY(take_characters(x, *quote == '"' ? "\"<" : "'<", &value));
		if (!take_text(x, quote))
			return xml_error(x, "the value of an attribute does not end");
		attribute.value = buf_str(&value);
		if (VEC_FIND(struct xml_attribute, &e->attributes, name, attribute.name))
			return xml_error(x, "an element has an attribute twice");
		if (e->attributes.n == XML_ATTRIBUTES)
			return err_new(E_LIMIT, "'%.*s': an element has more than %d attributes",
				STR(x->name), XML_ATTRIBUTES);
		*VEC_PUSH(&x->a, &e->attributes) = attribute;
	}
	return NULL;
}

/* A start tag or an end tag, from behind its '<'. */
static struct err *take_tag(struct xml *x, struct xml_event *e)
{
	bool ends = take_text(x, "/");
	e->kind = ends ? XML_CLOSE : XML_OPEN;
	TRY(take_name(x, &e->name));
	if (ends) {
		pass_space(x);
		if (!x->depth || !str_eq(x->open[--x->depth], e->name))
			return xml_error(x, "an element ends that is not the one that began last");
	} else {
		if (x->closed)
			return xml_error(x, "something stands behind its end");
		if (x->depth == XML_DEPTH || x->elements++ == XML_ELEMENTS)
			return err_new(E_LIMIT,
				"'%.*s' has more than %d elements, or %d within each other",
				STR(x->name), XML_ELEMENTS, XML_DEPTH);
		x->open[x->depth++] = e->name;
		TRY(take_attributes(x, e));
		x->empty = take_text(x, "/");
	}
	x->closed = !x->depth;
	return take_text(x, ">") ? NULL : xml_error(x, "a tag does not end");
}

/* One construct; e->kind stays XML_END for those without an event. */
static struct err *take_construct(struct xml *x, struct xml_event *e)
{
	static const struct {
		const char *begin, *end;
	} sections[] = {{"<![CDATA[", "]]>"}, {"<!--", "-->"}, {"<?", "?>"}};
	for (size_t i = x->depth ? 0 : 1; i < sizeof(sections) / sizeof(*sections); i++) {
		if (!take_text(x, sections[i].begin))
			continue;
		struct str rest = rest_of(x), end = str_from(sections[i].end);
		size_t n = str_find(rest, end);
		if (n == rest.n)
			return xml_error(
				x, "it ends within a comment, an instruction or a CDATA section");
		if (i == 0) {
			e->kind = XML_TEXT;
			e->text = str_sub(rest, 0, n);
		}
		x->at += n + end.n;
		return NULL;
	}
	if (str_starts(rest_of(x), S("<!")))
		return xml_error(x, "it has a document type, which is never read");
	if (take_text(x, "<"))
		return take_tag(x, e);
	BUF(text, &x->a);
	TRY(take_characters(x, "<", &text));
	e->text = str_trim(buf_str(&text));
	e->kind = e->text.n ? XML_TEXT : XML_END;
	return e->text.n && !x->depth ? xml_error(x, "there is text outside of its elements")
				      : NULL;
}

struct xml xml_begin(struct str text, struct str name)
{
	struct xml x = {.text = text, .name = name};
	(void)take_text(&x, "\xef\xbb\xbf");
	return x;
}

struct err *xml_next(struct xml *x, struct xml_event *ret)
{
	arena_free(&x->a);
	*ret = (struct xml_event){.kind = XML_END};
	if (x->empty) {
		x->empty = false;
		ret->kind = XML_CLOSE;
		ret->name = x->open[--x->depth];
		x->closed = !x->depth;
		return NULL;
	}
	while (ret->kind == XML_END && x->at < x->text.n)
		TRY(take_construct(x, ret));
	return ret->kind == XML_END && !x->closed ? xml_error(x, "it ends too early") : NULL;
}

void xml_end(struct xml *x)
{
	arena_free(&x->a);
}

struct str xml_attribute(const struct xml_event *e, const char *name)
{
	const struct xml_attribute *one =
		VEC_FIND(const struct xml_attribute, &e->attributes, name, str_from(name));
	return one ? one->value : S("");
}

void xml_escape(struct buf *b, struct str text)
{
	for (size_t i = 0, n; i < text.n; i += n ? n : 1) {
		char c = text.p[i];
		n = utf8_length(str_sub(text, i, text.n));
		struct str sequence = str_sub(text, i, i + n);
		if (!n || (n == 1 && !xml_char((uint8_t)c)) ||
			str_eq(sequence, S("\xef\xbf\xbe")) || str_eq(sequence, S("\xef\xbf\xbf")))
			buf_add(b, S("\xef\xbf\xbd"));
		else if (strchr("<>&\"\n\r\t", c))
			buf_fmt(b, "&#%d;", c);
		else
			buf_add(b, sequence);
	}
}
