/* The escaping writer of the page, and the format of numbers and sections. */
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

void html_close(struct html *h)
{
	buf_fmt(&h->out, "</%s>\n", h->open[--h->depth % (sizeof(h->open) / sizeof(*h->open))]);
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

void html_raw(struct html *h, struct str markup)
{
	buf_add(&h->out, markup);
}

const char *html_num(struct html *h, double value)
{
	return str_fmt(h->out.a, "%.2f", value).p;
}

struct str html_bytes(struct html *h, uint64_t n)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double value = (double)n;
	size_t unit = 0;
	for (; value >= 999.95 && unit < 4; unit++)
		value /= 1000;
	return str_fmt(h->out.a, unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

struct str html_seconds(struct html *h, double s)
{
	if (s > 1e9)
		return S("over 30 years");
	if (s >= 60)
		return str_fmt(h->out.a, "%d min %02d s", (int)s / 60, (int)s % 60);
	if (s < 0.0995)
		return str_fmt(h->out.a, s < 0.00995 ? "%.1f ms" : "%.0f ms", s * 1000);
	return str_fmt(h->out.a, s >= 10 ? "%.1f s" : "%.2f s", s);
}

void html_section(struct html *h, const char *id, const char *title)
{
	html_open(h, "section", "aria-labelledby", id, NULL);
	html_leaf(h, str_from(title), "h2", "id", id, NULL);
}
