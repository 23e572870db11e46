/* The escaping writer of pages, and what they are made of; see html.h. */
#include "report/html.h"

#include "lang/cxx/demangle.h"

static void escape(struct html *h, struct str s)
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

void html_text(struct html *h, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool in_word = i && ascii_word(s.p[i - 1]);
		struct str word = str_sub(s, i, s.n);
		size_t n = 3; /* "gfx90a:sramecc+:xnack-", "gfx11-generic" */
		if (in_word || !str_starts(word, S("gfx")) || word.n == n ||
			!ascii_digit(word.p[n]))
			continue;
		while (n < word.n && word.p[n] &&
			(ascii_alnum(word.p[n]) || strchr(":+-", word.p[n])))
			n++;
		n -= word.p[n - 1] == ':';
		escape(h, str_sub(s, 0, i));
		buf_add(&h->out, S("<span class=\"gpu\">"));
		escape(h, str_sub(word, 0, n));
		buf_add(&h->out, S("</span>"));
		s = str_sub(word, n, word.n);
		i = (size_t)-1;
	}
	escape(h, s);
}

static void start_tag(struct html *h, const char *tag, va_list ap)
{
	buf_fmt(&h->out, "<%s", tag);
	for (const char *name; (name = va_arg(ap, const char *));) {
		const char *value = va_arg(ap, const char *);
		if (!*value && strcmp(name, "class") == 0)
			continue;
		buf_fmt(&h->out, " %s=\"", name);
		escape(h, str_from(value));
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
	static const char *const plain[] = {"title", "text", NULL}; /* no element may be in them */
	va_list ap;
	va_start(ap, tag);
	start_tag(h, tag, ap);
	va_end(ap);
	if (str_is_one_of(str_from(tag), plain))
		escape(h, text);
	else
		html_text(h, text);
	buf_fmt(&h->out, "</%s>\n", tag);
}

struct str html_count(struct html *h, uint64_t n)
{
	return str_fmt(h->out.a, "%llu", (unsigned long long)n);
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

/* ---- pages ---- */

void html_page(struct html *h, struct str title)
{
	/* only constants of ours go into the buffer unescaped */
	buf_add(&h->out, S("<!doctype html>\n"));
	html_open(h, "html", "lang", "en", NULL);
	html_open(h, "head", NULL);
	buf_add(&h->out, S("<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
			   "content=\"width=device-width,initial-scale=1\">\n"
			   "<meta name=\"color-scheme\" content=\"light dark\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" "
			   "content=\"default-src 'none';style-src 'unsafe-inline'\">\n"));
	html_leaf(h, title, "title", NULL);
	html_open(h, "style", NULL);
	buf_add(&h->out, report_style);
	html_close(h, 2);
	html_open(h, "body", NULL);
	html_open(h, "main", NULL);
}

struct str html_page_end(struct html *h, struct str footer)
{
	html_leaf(h, footer, "footer", NULL);
	html_close(h, h->depth);
	return buf_str(&h->out);
}

void html_card(struct html *h, struct str value, const char *what)
{
	html_open(h, "div", NULL);
	html_leaf(h, value, "b", NULL);
	html_leaf(h, str_from(what), "span", NULL);
	html_close(h, 1);
}

void html_finding(struct html *h, const struct finding *f)
{
	const char *severity = severity_name(f->severity);
	html_open(h, "li", NULL);
	html_leaf(h, str_from(severity), "span", "class", str_fmt(h->out.a, "tag %s", severity).p,
		NULL);
	html_text(h, f->message);
	html_text(h, S(" "));
	html_leaf(h, str_from(f->id), "code", NULL);
	if (f->path.n)
		html_leaf(h, f->path, "small", NULL);
	html_close(h, 1);
}

void html_table(struct html *h, const char *titles)
{
	struct str rest = str_from(titles), title;
	h->heads = (struct strs){0};
	html_open(h, "div", "class", "scroll", NULL);
	html_open(h, "table", NULL);
	html_open(h, "thead", NULL);
	html_open(h, "tr", NULL);
	while (str_next(&rest, '|', &title)) {
		bool right = str_starts(title, S(">"));
		title = str_sub(title, right, title.n);
		html_leaf(h, title, "th", "class", right ? "num" : "", "scope", "col", NULL);
		strs_add(h->out.a, &h->heads, str_dup(h->out.a, title));
	}
	html_close(h, 2);
	html_open(h, "tbody", NULL);
}

void html_row(struct html *h, const char *kinds, const struct str *cells)
{
	enum { SHOWN = 300 }; /* bytes of a kernel's name; the whole of it is its title */
	uint64_t work = 0;    /* a report has few kernels */
	html_open(h, "tr", NULL);
	for (size_t i = 0; kinds[i]; i++) {
		const char *head = h->heads.v[i].p;
		html_open(h, "td", "class",
			kinds[i] == 'n'   ? "num"
			: kinds[i] == 'k' ? "kernel"
					  : "",
			"data-of", head, NULL);
		struct str text =
			kinds[i] == 'k' ? cxx_demangle(h->out.a, cells[i], &work) : cells[i];
		size_t n = utf8_fit(text, SHOWN, SHOWN);
		if (kinds[i] == 'k')
			html_leaf(h,
				n == text.n ? text : str_fmt(h->out.a, "%.*s...", (int)n, text.p),
				"code", "title", str_z(h->out.a, cells[i]), NULL);
		else if (kinds[i] == 'c' || kinds[i] == 'g')
			html_leaf(h, cells[i], "code", "class", kinds[i] == 'g' ? "gpu" : "", NULL);
		else
			html_text(h, cells[i]);
		html_close(h, 1);
	}
	html_close(h, 1);
}

void html_table_end(struct html *h, size_t rows, const char *what)
{
	html_close(h, 3);
	if (rows > ROWS)
		html_leaf(h, str_fmt(h->out.a, "%zu more %s are not shown.", rows - ROWS, what),
			"p", NULL);
}
