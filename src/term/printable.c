/* Makes text printable; see printable.h. */
#include "term/printable.h"

#include <sys/random.h>

#include "base/buf.h"

enum { MARK = 9, MARKED = 1 + MARK + 2 /* ESC, mark, code */ };

/* The placeholder for a newline of ours: ESC, a random mark, '\n'. out_init() makes it, while there is only one thread. */
static char line_text[] = "\033r01234567\n";
static const struct str line_mark = {.p = line_text, .n = sizeof(line_text) - 1};
static const struct str mark = {.p = line_text + 1, .n = MARK};

void styles_init(void)
{
	uint32_t n;
	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = (uint32_t)(uintptr_t)&n; /* an address: random by ASLR */
	for (int i = 2; i < 1 + MARK; i++, n >>= 4)
		line_text[i] = "0123456789abcdef"[n % 16];
}

static bool is_marked(struct str s)
{
	return s.n >= MARKED && s.p[0] == '\033' && str_eq(str_sub(s, 1, 1 + MARK), mark);
}

struct str style_mark(struct arena *a, unsigned code, struct str s)
{
	return str_fmt(a, "\033%.*s%02u%.*s\033%.*s00", STR(mark), code, STR(s), STR(mark));
}

struct str styles_resolve(struct arena *a, struct str s)
{
	BUF(out, a);
	if (str_chr(s, '\033') == s.n)
		return s;
	for (size_t i = 0; i < s.n; i++) {
		struct str rest = str_sub(s, i, s.n);
		if (!is_marked(rest)) {
			buf_char(&out, s.p[i]);
			continue;
		}
		uint64_t code = 0;
		(void)str_u64(str_sub(rest, 1 + MARK, MARKED), 10, &code);
		buf_fmt(&out, code < 30 ? "\033[%um" : "\033[1;%um", (unsigned)code);
		i += MARKED - 1;
	}
	return buf_str(&out);
}

/* The length of a sequence that only sets colours (ESC [ digits and semicolons m), or 0. */
static size_t colour_length(struct str s)
{
	if (s.n < 3 || s.p[0] != '\033' || s.p[1] != '[')
		return 0;
	size_t n = 2 + str_span(str_sub(s, 2, s.n), ASCII_DIGITS ";");
	return n < s.n && s.p[n] == 'm' ? n + 1 : 0;
}

/* Characters that change the direction of writing or separate lines: Unicode 15, 9.2 and 23.2 (marks, embeddings,
 * overrides and isolates; separators of lines and paragraphs). */
static bool misleads(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	if (n == 2)
		return (u[0] == 0xc2 && u[1] < 0xa0) || (u[0] == 0xd8 && u[1] == 0x9c);
	if (n != 3 || u[0] != 0xe2)
		return false;
	return (u[1] == 0x80 && (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xa8 && u[2] <= 0xae))) ||
	       (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);
}

static void add_printable(struct buf *out, struct str s, const char *keep)
{
	for (size_t i = 0, n; i < s.n; i += n) {
		size_t plain = i; /* nearly all text is ASCII */
		while (plain < s.n && s.p[plain] >= 0x20 && s.p[plain] < 0x7f)
			plain++;
		buf_add(out, str_sub(s, i, plain));
		i = plain;
		struct str rest = str_sub(s, i, s.n);
		if (!rest.n)
			break;
		/* the bytes that may be shown as they are; 0 = the first character may not */
		unsigned char c = (unsigned char)rest.p[0];
		if (is_marked(rest))
			n = MARKED;
		else if (c == 033 && strchr(keep, 033))
			n = colour_length(rest);
		else if (c < 0x20 || c == 0x7f)
			n = c && strchr(keep, c);
		else if ((n = utf8_length(rest)) > 1 && misleads(rest.p, n))
			n = 0;
		buf_add(out, n ? str_sub(rest, 0, n) : S("?"));
		if (!n)
			n = utf8_length(rest);
		n = n ? n : 1;
	}
}

struct str printable(struct arena *a, struct str s, const char *keep)
{
	BUF(out, a);
	add_printable(&out, s, keep);
	return buf_str(&out);
}

/* Newlines of fmt are ours and stay: each is replaced by a mark that no argument can guess until the text is
 * formatted. */
struct str printable_fmt(struct arena *a, const char *fmt, va_list ap)
{
	BUF(marked, a);
	BUF(out, a);
	for (struct str rest = str_from(fmt), part; rest.n;) {
		bool end = str_cut(rest, '\n', &part, &rest);
		buf_add(&marked, part);
		buf_add(&marked, end ? line_mark : S(""));
	}
	struct str text = str_vfmt(a, buf_str(&marked).p, ap);
	for (size_t end; (end = str_find(text, line_mark)) < text.n;
		text = str_sub(text, end + line_mark.n, text.n)) {
		add_printable(&out, str_sub(text, 0, end), "");
		buf_char(&out, '\n');
	}
	add_printable(&out, text, "");
	return buf_str(&out);
}

size_t text_width(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

struct str text_cut(struct arena *a, struct str s, size_t columns)
{
	if (text_width(s) <= columns)
		return s;
	return str_fmt(a, "%.*s\xe2\x80\xa6", (int)utf8_fit(s, s.n, columns - 1), s.p);
}
