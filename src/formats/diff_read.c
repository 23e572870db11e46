/* Reading unified diffs; see diff.h. */
#include "base/fs.h"
#include "formats/diff.h"

enum { LINE_LIMIT = 1 << 20 };
static const struct {
	size_t limit;
	const char *too_large;
} sizes[] = {
	[DIFF_RECIPE] = {1 << 20, "1 MiB"},
	[DIFF_PATCH] = {64 << 20, "64 MiB"},
};

struct diff_reader {
	struct arena *a;
	struct str name, rest, line; /* line: the current one, with its newline */
	unsigned number;
	bool end;
	bool patch;      /* DIFF_PATCH */
	bool git;        /* between a "diff --git" line and its file */
	bool executable; /* this file is new and executable */
};

static struct err *wrong(const struct diff_reader *r, const char *what)
{
	struct loc at = {.path = r->name, .line = r->number, .col = 1};
	return err_at(err_new(E_SYNTAX, "%s", what), at);
}

static void next(struct diff_reader *r)
{
	size_t n = str_chr(r->rest, '\n');
	r->end = !r->rest.n;
	r->line = str_sub(r->rest, 0, n + 1);
	r->rest = str_sub(r->rest, r->line.n, r->rest.n);
	r->number++;
}

static struct str without_newline(struct str line)
{
	return str_ends(line, S("\n")) ? str_sub(line, 0, line.n - 1) : line;
}

/* The path of "--- a/c10/x.h\t2025-01-01", without its first component; "" = /dev/null. */
static struct err *read_path(const struct diff_reader *r, struct str *ret)
{
	struct str name = without_newline(str_sub(r->line, 4, r->line.n));
	name = str_sub(name, 0, str_chr(name, '\t'));
	*ret = S("");
	if (str_eq(name, S("/dev/null")))
		return NULL;
	size_t slash = str_chr(name, '/');
	*ret = path_clean(r->a, str_sub(name, slash + 1, name.n));
	if (slash >= name.n || !path_is_inside(*ret) || str_eq(*ret, S(".")))
		return wrong(r, "a path below 'a/' or 'b/' is expected here");
	return NULL;
}

/* Reads "12,7" or "12". */
static bool read_range(struct str s, size_t *first, size_t *count)
{
	struct str a, b;
	uint64_t f, n = 1;
	bool both = str_cut(s, ',', &a, &b);
	if (!str_u64(a, 10, &f) || (both && !str_u64(b, 10, &n)) || f > LINE_LIMIT ||
		n > LINE_LIMIT)
		return false;
	*first = (size_t)f;
	*count = (size_t)n;
	return true;
}

static void no_newline(struct diff_hunk *h)
{
	struct str *last = &h->lines.v[h->lines.n - 1].text;
	*last = without_newline(*last);
}

/* Reads "@@ -12,7 +12,8 @@ anything" and the lines behind it. */
static struct err *read_hunk(struct diff_reader *r, struct diff_file *f)
{
	struct diff_hunk h = {0};
	struct str rest = str_sub(r->line, 3, r->line.n), from, to;
	size_t old = 0, new = 0, unused;
	if (!str_starts(r->line, S("@@ -")) || !str_next(&rest, ' ', &from) ||
		!str_next(&rest, ' ', &to) || !str_starts(to, S("+")) ||
		!str_starts(rest, S("@@")) ||
		!read_range(str_sub(from, 1, from.n), &h.first, &old) ||
		!read_range(str_sub(to, 1, to.n), &unused, &new))
		return wrong(r, "a hunk begins with '@@ -LINE,COUNT +LINE,COUNT @@'");
	h.first += !old;
	next(r);
	while ((old || new) && !r->end) {
		/* mail programs strip the blank of an empty line of context */
		char kind = r->line.p[0] == '\n' ? ' ' : r->line.p[0];
		bool in_old = kind != '+', in_new = kind != '-';
		if (kind == '\\' && h.lines.n) {
			no_newline(&h);
			next(r);
			continue;
		}
		if (!str_contains(S(" -+"), (struct str){&kind, 1}) || (in_old && !old) ||
			(in_new && !new))
			return wrong(r, "the hunk does not have as many lines as it says");
		old -= in_old;
		new -= in_new;
		size_t skip = r->line.p[0] == kind;
		*VEC_PUSH(r->a, &h.lines) =
			(struct diff_line){kind, str_sub(r->line, skip, r->line.n)};
		next(r);
	}
	if (old || new || !h.lines.n)
		return wrong(r, "the hunk does not have as many lines as it says");
	if (!r->end && r->line.p[0] == '\\') {
		no_newline(&h);
		next(r);
	}
	*VEC_PUSH(r->a, &f->hunks) = h;
	return NULL;
}

static struct err *read_file(struct diff_reader *r, struct diff *ret)
{
	struct diff_file f = {0};
	struct str old;
	TRY(read_path(r, &old));
	f.adds = !old.n;
	f.executable = f.adds && r->executable;
	next(r);
	if (r->end || !str_starts(r->line, S("+++ ")))
		return wrong(r, "a line '+++ b/PATH' is expected here");
	TRY(read_path(r, &f.path));
	f.removes = !f.path.n;
	if (f.removes && (!r->patch || f.adds))
		return wrong(r, "a recipe does not remove files");
	if (old.n && !f.removes && !str_eq(old, f.path))
		return wrong(r, r->patch ? "patches that rename files are not supported"
					 : "a recipe does not rename files");
	if (f.removes)
		f.path = old;
	next(r);
	while (!r->end && str_starts(r->line, S("@@")))
		TRY(read_hunk(r, &f));
	if (!f.hunks.n)
		return wrong(r, "the file has no hunk");
	*VEC_PUSH(r->a, ret) = f;
	return NULL;
}

struct err *diff_parse(
	struct arena *a, struct str text, struct str name, enum diff_kind kind, struct diff *ret)
{
	static const char *const cannot[] = {"deleted file", "rename ", "copy ", "GIT binary",
		"Binary files", "old mode", "new mode", "@@ ", NULL};
	struct diff_reader r = {.a = a, .name = name, .rest = text, .patch = kind == DIFF_PATCH};
	*ret = (struct diff){0};
	if (text.n > sizes[kind].limit)
		return err_new(E_LIMIT, "the diff in '%.*s' is larger than %s", STR(name),
			sizes[kind].too_large);
	for (next(&r); !r.end;) {
		/* a description may have a line of dashes */
		bool file_here = !r.patch || str_starts(r.rest, S("+++ "));
		if (str_starts(r.line, S("--- ")) && file_here) {
			TRY(read_file(&r, ret));
			r.git = r.executable = false;
			continue;
		}
		/* a line before a file: a header that git writes, or a description */
		bool git = str_starts(r.line, S("diff --git "));
		r.git = r.git || git;
		r.executable =
			!git && (r.executable || str_starts(r.line, S("new file mode 100755")));
		/* a patch may remove files */
		for (const char *const *word = cannot + r.patch; *word; word++)
			if ((!r.patch || r.git) && str_starts(r.line, str_from(*word)))
				return wrong(
					&r, r.patch ? "patches that rename, change modes or are "
						      "binary are "
						      "not supported"
						    : "a recipe changes and adds text files only");
		next(&r);
	}
	return ret->n || r.patch ? NULL : wrong(&r, "there is no file in this diff");
}
