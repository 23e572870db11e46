/* hipify --explain: which rule made which change in a file or line. For the modes torch and
 * extension the file is looked at as a part of its tree, because the tree decides on its includes.
 */
#include "cli/cmd_hipify.h"

#include <limits.h>

#include "base/fs.h"
#include "term/out.h"

struct place {
	struct str file;
	unsigned line; /* 0 = the whole file */
};

struct explained {
	struct arena *a;
	struct place at;
	enum hipify_mode mode;
	struct str source;
	struct hipify_text text;
};

static struct place parse_place(struct arena *a, struct str s, struct str dir)
{
	size_t colon = str_rchr(s, ':');
	uint64_t line;
	if (colon == s.n || fs_exists(s) || fs_exists(path_join(a, dir, s)) ||
		!str_u64(str_sub(s, colon + 1, s.n), 10, &line) || line > UINT_MAX)
		return (struct place){.file = s};
	return (struct place){.file = str_sub(s, 0, colon), .line = (unsigned)line};
}

static bool wanted(const struct explained *x, unsigned line)
{
	return !x->at.line || line == x->at.line;
}

/* An edit may take several lines: a launch's name and its "<<<" often stand on two. */
static bool wanted_edit(const struct explained *x, const struct hipify_edit *e)
{
	unsigned last = e->line;
	for (size_t i = e->from; i + 1 < e->to; i++)
		last += x->source.p[i] == '\n';
	return wanted(x, e->line) || (x->at.line > e->line && x->at.line <= last);
}

/* ---- text ---- */

static struct str rule_text(struct arena *a, const struct hipify_rule *r)
{
	unsigned line;
	struct str table = hipify_rule_table(r, &line), since = hipify_rule_since(r);
	struct str header = hipify_rule_header(r);
	BUF(b, a);
	buf_fmt(&b, "%.*s:%u, %.*s", STR(table), line, STR(hipify_rule_kind(r)));
	if (header.n)
		buf_fmt(&b, " of <%.*s>", STR(header));
	if (since.n)
		buf_fmt(&b, ", found in ROCm %.*s but not in 6.4.3", STR(since));
	buf_fmt(&b, "; from %.*s", STR(hipify_rule_source(r)));
	return buf_str(&b);
}

/* "FILE:LINE, TABLE", and what it replaced when the edit as a whole is something else. */
static struct str reason_text(
	struct arena *a, const struct hipify_reason *r, struct str old, struct str new)
{
	BUF(b, a);
	if (r->table.n)
		buf_fmt(&b, "%.*s:%u, %.*s", STR(r->file), r->line, STR(r->table));
	else
		buf_fmt(&b, "rule of hipify: %s", r->kind);
	bool whole = str_eq(r->from, old) && str_eq(str_trim(r->to), str_trim(new));
	if (!whole && r->from.n)
		buf_fmt(&b, " (%.*s -> %.*s)", STR(r->from), STR(str_trim(r->to)));
	return buf_str(&b);
}

static void explain_edit(const struct explained *x, const struct hipify_edit *e)
{
	struct str old = str_sub(x->source, e->from, e->to), new = str_trim(e->with);
	if (old.n)
		out_fmt("%.*s:%u: %.*s -> %.*s\n", STR(x->at.file), e->line, STR(old), STR(new));
	else
		out_fmt("%.*s:%u: + %.*s\n", STR(x->at.file), e->line, STR(new));
	if (e->rule)
		out_fmt("    %.*s\n", STR(rule_text(x->a, e->rule)));
	for (const struct hipify_reason *r = e->why; r; r = r->next)
		out_fmt("    %.*s\n", STR(reason_text(x->a, r, old, new)));
}

static void print_text(const struct explained *x)
{
	size_t shown = 0;
	VEC_EACH (const struct hipify_edit, e, &x->text.edits) {
		if (!wanted_edit(x, e))
			continue;
		explain_edit(x, e);
		shown++;
	}
	VEC_EACH (const struct untranslated, l, &x->text.untranslated) {
		if (!wanted(x, l->line))
			continue;
		struct untranslated here = *l;
		here.path = x->at.file;
		out_fmt("%.*s\n", STR(hipify_left_text(x->a, S(""), &here)));
		shown++;
	}
	if (!shown && x->at.line)
		out_fmt("%.*s:%u: no rule applies here\n", STR(x->at.file), x->at.line);
	else if (!shown)
		out_fmt("%.*s: no rule applies here\n", STR(x->at.file));
}

/* ---- JSON ---- */

static void json_reasons(struct json *j, const struct hipify_edit *e)
{
	json_key(j, "reasons");
	json_open(j, '[');
	for (const struct hipify_reason *r = e->why; r; r = r->next) {
		json_open(j, '{');
		json_put(j, "kind", str_from(r->kind));
		json_put(j, "from", r->from);
		json_put(j, "to", r->to);
		if (r->table.n) {
			json_put(j, "table", r->table);
			json_put(j, "file", r->file);
			json_put_u64(j, "line", r->line);
		}
		json_close(j);
	}
	json_close(j);
}

static void json_edit(struct json *j, const struct explained *x, const struct hipify_edit *e)
{
	unsigned line = 0;
	json_open(j, '{');
	json_put_u64(j, "line", e->line);
	json_put(j, "from", str_sub(x->source, e->from, e->to));
	json_put(j, "to", e->with);
	if (e->rule) {
		json_put(j, "table", hipify_rule_table(e->rule, &line));
		json_put_u64(j, "table_line", line);
		json_put(j, "kind", hipify_rule_kind(e->rule));
		json_put(j, "since", hipify_rule_since(e->rule));
		json_put(j, "evidence", hipify_rule_source(e->rule));
	}
	if (x->mode != HIPIFY_STANDALONE)
		json_reasons(j, e);
	json_close(j);
}

static void print_json(const struct explained *x)
{
	BUF(b, x->a);
	struct json j = {.out = &b, .indent = 2};
	struct untranslated_list left = {0};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.hipify-explain/1"));
	json_put(&j, "path", x->at.file);
	json_key(&j, "edits");
	json_open(&j, '[');
	VEC_EACH (const struct hipify_edit, e, &x->text.edits)
		if (wanted_edit(x, e))
			json_edit(&j, x, e);
	json_close(&j);
	VEC_EACH (const struct untranslated, l, &x->text.untranslated) {
		if (!wanted(x, l->line))
			continue;
		struct untranslated *here = VEC_PUSH(x->a, &left);
		*here = *l;
		here->path = x->at.file;
	}
	hipify_json_left(x->a, &j, S(""), &left);
	json_close(&j);
	hipify_print_json(&b);
}

/* ---- which tree ---- */

/* The nearest folder at or above dir with one of these files; "" = none. */
static struct str folder_with(struct arena *a, struct str dir, const char *const *names)
{
	for (;; dir = path_dir(dir)) {
		for (const char *const *n = names; *n; n++)
			if (fs_exists(path_join(a, dir, str_from(*n))))
				return dir;
		if (str_eq(dir, S("/")))
			return S("");
	}
}

/* The tree of a file when nobody names it. */
static struct str infer_dir(struct arena *a, const struct hipify_args *h, struct str file)
{
	static const char *const pytorch[] = {"tools/amd_build/build_amd.py", NULL};
	static const char *const described[] = {"rocsmith.yaml", NULL};
	static const char *const project[] = {"setup.py", "pyproject.toml", NULL};
	struct str dir = path_dir(path_abs(a, file)), here = path_abs(a, S("."));
	struct str found = S("");
	if (h->o.mode != HIPIFY_EXTENSION && h->o.mode != HIPIFY_STANDALONE)
		found = folder_with(a, dir, pytorch);
	if (!found.n)
		found = folder_with(a, dir, described);
	if (!found.n)
		found = folder_with(a, dir, project);
	if (found.n)
		return found;
	return path_is_inside(path_rel(a, dir, here)) ? here : dir;
}

/* The file's path below the tree: it may be given as seen from here, or from there. */
static struct err *locate(struct arena *a, struct str dir, struct str file, struct str *ret)
{
	struct str full = path_abs(a, fs_exists(file) ? file : path_join(a, dir, file));
	*ret = path_rel(a, full, path_abs(a, dir));
	if (!fs_exists(full))
		return err_new(E_NOENT, "no file '%.*s'", STR(file));
	if (!path_is_inside(*ret))
		return err_new(E_USAGE, "'%.*s' is not inside '%.*s'", STR(file), STR(dir));
	return NULL;
}

struct err *hipify_explain(struct arena *a, const struct hipify_args *h)
{
	struct explained x = {.a = a, .at = parse_place(a, h->explain, h->o.dir)};
	struct hipify_job job;
	struct str rel, dir = h->o.dir.n ? h->o.dir : infer_dir(a, h, x.at.file);
	if (h->o.dir.n && !fs_is_dir(h->o.dir))
		return err_new(E_USAGE,
			"'--explain' takes the file's tree as DIR, and '%.*s' is "
			"no folder",
			STR(h->o.dir));
	if (fs_is_dir(x.at.file))
		return err_new(E_USAGE, "'--explain' takes a file, and '%.*s' is a folder",
			STR(x.at.file));
	TRY(hipify_resolve(a, h, dir, &job));
	x.mode = job.o.mode;
	job.o.look_only = true;
	job.o.want_untranslated = true;
	if (x.mode == HIPIFY_STANDALONE && !h->o.dir.n) {
		TRY(fs_read(a, x.at.file, 1 << 28, &x.source));
		TRY(hipify_text(a, x.source, x.at.file, &x.text));
	} else {
		TRY(locate(a, dir, x.at.file, &rel));
		TRY(hipify_file_text(a, &job.o, rel, &x.source, &x.text));
	}
	if (h->common.json)
		print_json(&x);
	else
		print_text(&x);
	return NULL;
}
