/* Reader and writer of machine files, for `doctor --record FILE.machine` and `doctor --sysroot FILE.machine`. The form
 * is described in rocsmith-doctor(1); people write such files by hand, too. */
#include "machine/parse.h"
#include "machine/root.h"

/* Limits for a path, its alternatives, and the bytes of all paths that alternatives make: a short text cannot become an
 * endless list. */
enum { PATH_BYTES = 1 << 16, ALTERNATIVES = 128, MADE_BYTES = 16 << 20 };

/* ---- lists of entries ---- */

/* Orders by path; among entries for one path the last one wins: a link over a folder or file, a text over an empty
 * file. */
static int by_path(const void *x, const void *y)
{
	const struct root_entry *a = x, *b = y;
	int order = str_cmp(a->path, b->path);
	if (!order)
		order = (a->kind == ENTRY_VARIABLE) - (b->kind == ENTRY_VARIABLE);
	if (!order)
		order = (a->kind > b->kind) - (a->kind < b->kind);
	return order ? order : (a->text.n > b->text.n) - (a->text.n < b->text.n);
}

size_t root_entries_find(const struct root_entries *list, struct str path)
{
	size_t low = 0, high = list->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (str_cmp(list->v[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void root_entries_sort(struct root_entries *list)
{
	size_t n = 0;
	VEC_SORT(list, by_path);
	for (size_t i = 0; i < list->n; i++) {
		bool same = n && str_eq(list->v[n - 1].path, list->v[i].path) &&
			    (list->v[n - 1].kind == ENTRY_VARIABLE) ==
				    (list->v[i].kind == ENTRY_VARIABLE);
		list->v[same ? n - 1 : n++] = list->v[i];
	}
	list->n = n;
}

/* ---- reading ---- */

struct machine_text {
	struct arena *a;
	struct str rest; /* the text behind the present line */
	unsigned line;   /* the number of the present line */
	size_t made;     /* bytes of the paths that alternatives have made */
	struct root_entries *ret;
};

/* Adds the text with the escapes \\ and \xHH undone; a single \ at the end means that it has no newline there
 * (*ret_open). */
static bool unescape(struct buf *out, struct str s, bool *ret_open)
{
	*ret_open = false;
	for (size_t i = 0; i < s.n; i++) {
		uint64_t byte;
		if (s.p[i] != '\\') {
			buf_char(out, s.p[i]);
		} else if (i + 1 == s.n) {
			*ret_open = true;
		} else if (s.p[i + 1] == '\\') {
			buf_char(out, s.p[++i]);
		} else {
			struct str digits = str_sub(s, i + 2, i + 4);
			if (s.p[i + 1] != 'x' || digits.n != 2 || !str_u64(digits, 16, &byte))
				return false;
			buf_char(out, (char)byte);
			i += 3;
		}
	}
	return true;
}

/* Reads the block of lines that begin with a tab; an empty line inside the block needs no tab. */
static bool read_block(struct machine_text *t, struct buf *out)
{
	for (;;) {
		size_t empty = str_span(t->rest, "\n");
		struct str text = S("");
		bool open;
		if (empty == t->rest.n || t->rest.p[empty] != '\t')
			return true;
		t->rest = str_sub(t->rest, empty + 1, t->rest.n);
		t->line += (unsigned)empty + 1;
		for (size_t i = 0; i < empty; i++)
			buf_char(out, '\n');
		str_next(&t->rest, '\n', &text);
		if (!unescape(out, text, &open))
			return false;
		if (!open)
			buf_char(out, '\n');
	}
}

bool root_entry_node(struct str s, struct root_entry *e)
{
	uint64_t mode, uid, gid;
	struct str a, b, c;
	str_cut(s, ' ', &a, &b);
	str_cut(b, ' ', &b, &c);
	if (!str_u64(a, 8, &mode) || mode > 07777 || !str_u64(b, 10, &uid) || uid > UINT32_MAX ||
		!str_u64(c, 10, &gid) || gid > UINT32_MAX)
		return false;
	e->mode = (unsigned)mode;
	e->uid = (unsigned)uid;
	e->gid = (unsigned)gid;
	return true;
}

/* Adds the entry; a path such as "lib/{liba,libb}.so" adds one entry for each alternative. */
static bool add_entry(struct machine_text *t, struct root_entry e, struct str path)
{
	bool open;
	struct str before, rest, list, after, one;
	bool many = str_cut(path, '{', &before, &rest) && str_cut(rest, '}', &list, &after);
	if (before.n + rest.n > PATH_BYTES)
		return false;
	if (!many)
		list = S("-");
	for (size_t n = 0; str_next(&list, ',', &one); n++) {
		BUF(plain, t->a);
		t->made += many ? before.n + one.n + after.n : 0;
		if (n == ALTERNATIVES || t->made > MADE_BYTES)
			return false;
		if (many)
			path = str_fmt(t->a, "%.*s%.*s%.*s", STR(before), STR(one), STR(after));
		if (!unescape(&plain, path, &open) || open)
			return false;
		e.path = buf_str(&plain);
		if (!e.path.n || (e.kind != ENTRY_VARIABLE && !path_is_inside(e.path)))
			return false;
		*VEC_PUSH(t->a, t->ret) = e;
	}
	return true;
}

/* Reads the entry whose first line is `line`, and the lines of its text behind it. */
static bool read_entry(struct machine_text *t, struct str line)
{
	struct root_entry e = {.kind = ENTRY_FILE};
	struct str path, value = S("");
	BUF(text, t->a);
	bool open = false, more = str_cut(line, ' ', &path, &value);
	if (!more && str_ends(path, S("/"))) {
		e.kind = ENTRY_DIR;
		path.n--;
	} else if (!more && str_ends(path, S(":"))) {
		path.n--;
		if (!read_block(t, &text))
			return false;
	} else if (str_starts(value, S("-> "))) {
		e.kind = ENTRY_LINK;
		if (!unescape(&text, str_sub(value, 3, value.n), &open))
			return false;
	} else if (str_starts(value, S("= "))) {
		if (!unescape(&text, str_sub(value, 2, value.n), &open))
			return false;
		if (!open && path.p[0] != '$')
			buf_char(&text, '\n');
	} else if (str_eq(value, S("!"))) {
		e.kind = ENTRY_DENIED;
	} else if (str_starts(value, S("(")) && str_ends(value, S(")")) &&
		   root_entry_node(str_sub(value, 1, value.n - 1), &e)) {
		e.kind = ENTRY_NODE;
	} else if (!str_eq(value, S("="))) {
		return false;
	}
	if (str_starts(path, S("$")) && e.kind == ENTRY_FILE) {
		e.kind = ENTRY_VARIABLE;
		path = str_sub(path, 1, path.n);
	}
	e.text = text.n ? buf_str(&text) : S("");
	return add_entry(t, e, path);
}

struct err *machine_file_parse(
	struct arena *a, struct str text, struct str name, struct root_entries *ret)
{
	struct machine_text t = {.a = a, .rest = text, .line = 1, .ret = ret};
	struct str line;
	*ret = (struct root_entries){0};
	if (!str_next(&t.rest, '\n', &line) || !str_eq(str_trim(line), S(MACHINE_FILE)))
		return err_new(E_SYNTAX,
			"'%.*s' is not a recorded machine: its first line is not '%s'", STR(name),
			MACHINE_FILE);
	while (str_next(&t.rest, '\n', &line)) {
		unsigned at = ++t.line;
		if (!line.n || line.p[0] == '#' || line.p[0] == '@')
			continue;
		if (!read_entry(&t, line))
			return err_at(err_new(E_SYNTAX, "this is not an entry of a machine: '%.*s'",
					      STR(clean_text(a, line))),
				(struct loc){.path = name, .line = at});
	}
	root_entries_sort(ret);
	return NULL;
}

/* ---- writing ---- */

/* path: also escapes the characters that have a meaning in a path: blanks, braces, a ':' at the end, and '#', '@' or
 * '$' at the beginning. */
static void escape(struct buf *out, struct str s, bool path)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		bool sign = path ? c == ' ' || c == '{' || c == '}' || (c == ':' && i + 1 == s.n) ||
					    (!i && (c == '#' || c == '@' || c == '$'))
				 : c == ' ' && i + 1 == s.n;
		if (c == '\\')
			buf_add(out, S("\\\\"));
		else if ((c < ' ' && (path || c != '\t')) || c == 0x7f || sign)
			buf_fmt(out, "\\x%02x", c);
		else
			buf_char(out, s.p[i]);
	}
}

static void write_text(struct buf *out, struct str text)
{
	struct str line;
	size_t end = str_chr(text, '\n');
	if (!text.n) {
		buf_add(out, S(" =\n"));
		return;
	}
	if (end && end + 1 >= text.n) { /* one line */
		buf_add(out, S(" = "));
		escape(out, str_sub(text, 0, end), false);
		buf_add(out, end < text.n ? S("\n") : S("\\\n"));
		return;
	}
	buf_add(out, S(":\n"));
	while (text.n) {
		end = str_chr(text, '\n');
		line = str_sub(text, 0, end);
		bool open = end == text.n;
		text = str_sub(text, end + 1, text.n);
		if (line.n || !text.n)
			buf_char(out, '\t');
		escape(out, line, false);
		buf_add(out, open ? S("\\\n") : S("\n"));
	}
}

/* Counts the entries from i on that can be written as one line with {...}: empty files of one folder, such as libraries
 * or files for one GPU each. Their paths share the first *ret_start bytes and, from a dot on, the last *ret_end
 * bytes. */
static size_t count_alike(
	const struct root_entries *list, size_t i, size_t *ret_start, size_t *ret_end)
{
	struct str first = list->v[i].path;
	size_t n = 1, folder = str_rchr(first, '/') + 1;
	size_t start = first.n, end = first.n - str_rchr(first, '.');
	for (; i + n < list->n && n < ALTERNATIVES; n++) {
		struct str path = list->v[i + n].path;
		size_t same = 0;
		while (same < path.n && same < start && path.p[same] == first.p[same])
			same++;
		while (same > 0 && ascii_alnum(first.p[same - 1]))
			same--;
		bool alike = list->v[i + n].kind == ENTRY_FILE && !list->v[i + n].text.n &&
			     folder < first.n && same >= folder && path.n > same + end &&
			     str_eq(str_sub(path, path.n - end, path.n),
				     str_sub(first, first.n - end, first.n)) &&
			     str_chr(str_sub(path, same, path.n), '/') == path.n - same &&
			     str_chr(path, ',') == path.n;
		if (!alike)
			break;
		start = same;
	}
	*ret_start = start;
	*ret_end = end;
	return end && end < first.n - folder && str_chr(first, ',') == first.n ? n : 1;
}

struct str machine_file_text(struct arena *a, const struct root_entries *entries)
{
	BUF(out, a);
	buf_add(&out,
		S(MACHINE_FILE
			"\n# Written by 'rocsmith doctor --record'; rocsmith-doctor(1) describes "
			"this form.\n\n"));
	for (size_t i = 0, n = 1; i < entries->n; i += n) {
		const struct root_entry *e = &entries->v[i];
		size_t start, end;
		bool empty = e->kind == ENTRY_FILE && !e->text.n;
		n = empty ? count_alike(entries, i, &start, &end) : 1;
		if (n > 1) {
			escape(&out, str_sub(e->path, 0, start), true);
			for (size_t k = 0; k < n; k++) {
				struct str path = e[k].path;
				buf_char(&out, k ? ',' : '{');
				escape(&out, str_sub(path, start, path.n - end), true);
			}
			buf_char(&out, '}');
			escape(&out, str_sub(e->path, e->path.n - end, e->path.n), true);
			buf_add(&out, S(" =\n"));
			continue;
		}
		struct str inside = str_fmt(a, "%.*s/", STR(e->path));
		size_t next = root_entries_find(entries, inside);
		if (e->kind == ENTRY_DIR && next < entries->n &&
			str_starts(entries->v[next].path, inside))
			continue; /* the entries inside imply it */
		if (e->kind == ENTRY_VARIABLE)
			buf_char(&out, '$');
		escape(&out, e->path, true);
		if (e->kind == ENTRY_DIR) {
			buf_add(&out, S("/\n"));
		} else if (e->kind == ENTRY_LINK || e->kind == ENTRY_VARIABLE) {
			buf_add(&out, e->kind == ENTRY_LINK ? S(" -> ")
				      : e->text.n           ? S(" = ")
							    : S(" ="));
			escape(&out, e->text, false);
			buf_char(&out, '\n');
		} else if (e->kind == ENTRY_NODE) {
			buf_fmt(&out, " (%04o %u %u)\n", e->mode, e->uid, e->gid);
		} else if (e->kind == ENTRY_DENIED) {
			buf_add(&out, S(" !\n"));
		} else {
			write_text(&out, e->text);
		}
	}
	return buf_str(&out);
}
