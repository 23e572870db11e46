/* The escaping writer of the page; see html.h. */
#include "report/html.h"

void html_text(struct html *h, struct str s)
{
	struct buf *out = &h->out;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '&')
			buf_add(out, S("&amp;"));
		else if (c == '<')
			buf_add(out, S("&lt;"));
		else if (c == '>')
			buf_add(out, S("&gt;"));
		else if (c == '"')
			buf_add(out, S("&quot;"));
		else if ((unsigned char)c < 0x20 && c != '\n' && c != '\t')
			buf_add(out, S("\xef\xbf\xbd")); /* controls are not allowed in HTML */
		else
			buf_char(out, c);
	}
}

static void start_tag(struct html *h, const char *tag, va_list ap)
{
	buf_fmt(&h->out, "<%s", tag);
	for (const char *name; (name = va_arg(ap, const char *));) {
		buf_fmt(&h->out, " %s=\"", name);
		html_text(h, str_from(va_arg(ap, const char *)));
		buf_char(&h->out, '"');
	}
	buf_char(&h->out, '>');
}

void html_open(struct html *h, const char *tag, ...)
{
	va_list ap;
	va_start(ap, tag);
	start_tag(h, tag, ap);
	va_end(ap);
	h->open[h->depth++ % (sizeof(h->open) / sizeof(*h->open))] = tag;
}

void html_close(struct html *h, unsigned n)
{
	while (n--)
		buf_fmt(&h->out, "</%s>\n",
			h->open[--h->depth % (sizeof(h->open) / sizeof(*h->open))]);
}

void html_leaf(struct html *h, struct str text, const char *tag, ...)
{
	va_list ap;
	va_start(ap, tag);
	start_tag(h, tag, ap);
	va_end(ap);
	html_text(h, text);
	buf_fmt(&h->out, "</%s>\n", tag);
}

const char *html_num(struct html *h, double value)
{
	return str_fmt(h->out.a, "%.2f", value).p;
}

struct str html_seconds(struct html *h, double s)
{
	if (s < 0.0995)
		return str_fmt(h->out.a, s < 0.00995 ? "%.1f ms" : "%.0f ms", s * 1000);
	return human_seconds(h->out.a, s);
}
