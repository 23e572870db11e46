/* rocsmith hipify explain: shows the rule behind each change in a file or line. In the modes torch and extension, the
 * file is translated as part of its tree, because the tree decides on its includes.
 */
#include "cli/cmd_hipify.h"

#include <limits.h>

#include "base/fs.h"
#include "hipify/cuda/names.h"
#include "term/out.h"

struct explained_rule {
	struct str table, kind, header, since, evidence;
	unsigned line;
};

struct explained_edit {
	unsigned line;
	struct str from, to;
	const struct explained_rule *rule; /* mode standalone; NULL = not made by a table row */
	VEC(struct hipify_reason) reasons; /* modes torch and extension */
};

struct explanation { /* the document: rocsmith.hipify-explain/1 */
	struct str path;
	unsigned line; /* 0 = the whole file */
	VEC(struct explained_edit) edits;
	struct untranslated_list untranslated;
};

static const struct json_field rule_fields[] = {
	FIELD("table", struct explained_rule, table),
	FIELD("table_line", struct explained_rule, line),
	FIELD_LAST(FIELDS(struct explained_rule, kind, since, evidence)),
};
/* Table, file and line are omitted for a rule of the algorithm itself. */
static const struct json_field reason_fields[] = {
	FIELDS(struct hipify_reason, kind, from, to),
	FIELD_OPTIONAL("table", struct hipify_reason, table),
	FIELD_OPTIONAL("file", struct hipify_reason, file),
	FIELD_LAST(FIELD_OPTIONAL("line", struct hipify_reason, line)),
};
static const struct json_field edit_fields[] = {
	FIELDS(struct explained_edit, line, from, to),
	FIELD_FROM(struct explained_edit, rule, rule_fields),
	FIELD_LAST(FIELD_LIST_OPTIONAL("reasons", struct explained_edit, reasons, reason_fields)),
};
static const struct json_field explanation_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-explain/1"),
	FIELD("path", struct explanation, path),
	FIELD_LIST("edits", struct explanation, edits, edit_fields),
	FIELD_LAST(FIELD_LIST(
		"untranslated", struct explanation, untranslated, hipify_untranslated_fields)),
};

/* Adds the edits and names of the wanted line. An edit may span several lines, since a kernel's name and its "<<<" are
 * often on two. */
static void explain_text(
	struct arena *a, const struct hipify_text *text, struct str source, struct explanation *x)
{
	VEC_EACH (const struct hipify_edit, e, &text->edits) {
		size_t end = e->to ? e->to - 1 : 0;
		unsigned last = e->line + str_count(str_sub(source, e->from, end), '\n');
		if (x->line && (x->line < e->line || x->line > last))
			continue;
		struct explained_edit *edit = VEC_PUSH(a, &x->edits);
		*edit = (struct explained_edit){
			.line = e->line, .from = str_sub(source, e->from, e->to), .to = e->with};
		for (const struct hipify_reason *r = e->why; r; r = r->next)
			*VEC_PUSH(a, &edit->reasons) = *r;
		if (!e->rule)
			continue;
		struct explained_rule *rule = NEW(a, struct explained_rule);
		*rule = (struct explained_rule){
			.table = names_tables[e->rule->table],
			.line = e->rule->line,
			.kind = names_text(e->rule->kind),
			.header = names_text(e->rule->header),
			.since = names_text(e->rule->since),
			.evidence = names_text(e->rule->source),
		};
		edit->rule = rule;
	}
	VEC_EACH (const struct untranslated, u, &text->untranslated) {
		if (x->line && u->line != x->line)
			continue;
		struct untranslated *name = VEC_PUSH(a, &x->untranslated);
		*name = *u;
		name->path = x->path;
	}
}

/* Source text with each run of white space, also line ends, as one space. */
static struct str on_one_line(struct arena *a, struct str s)
{
	BUF(out, a);
	for (size_t i = 0; i < s.n; i++)
		if (str_chr(S(" \t\r\n"), s.p[i]) == 4)
			buf_char(&out, s.p[i]);
		else if (!out.n || out.p[out.n - 1] != ' ')
			buf_char(&out, ' ');
	return buf_str(&out);
}

static void print_edit(struct arena *a, struct str path, const struct explained_edit *e)
{
	struct str new = str_trim(e->to);
	struct str from = on_one_line(a, e->from), to = on_one_line(a, new);
	const struct explained_rule *rule = e->rule;
	out_fmt("%.*s:%u: %.*s%s %.*s\n", STR(path), e->line, STR(from), e->from.n ? " ->" : "+",
		STR(to));
	if (rule) {
		out_fmt("    %.*s:%u, %.*s", STR(rule->table), rule->line, STR(rule->kind));
		if (rule->header.n)
			out_fmt(" of <%.*s>", STR(rule->header));
		if (rule->since.n)
			out_fmt(", found in ROCm %.*s but not in 6.4.3", STR(rule->since));
		out_fmt("; from %.*s\n", STR(rule->evidence));
	}
	VEC_EACH (const struct hipify_reason, r, &e->reasons) {
		bool whole = str_eq(r->from, e->from) && str_eq(str_trim(r->to), new);
		if (r->table.n)
			out_fmt("    %.*s:%u, %.*s", STR(r->file), r->line, STR(r->table));
		else
			out_fmt("    rule of hipify: %s", r->kind);
		if (!whole && r->from.n) /* it replaces a part of the edit's text */
			out_fmt(" (%.*s -> %.*s)", STR(r->from), STR(str_trim(r->to)));
		out_text(S("\n"));
	}
}

/* The nearest folder at or above dir with this file; "" = none. */
static struct str folder_with(struct arena *a, struct str dir, const char *name)
{
	for (;; dir = path_dir(dir)) {
		if (fs_exists(path_join(a, dir, str_from(name))))
			return dir;
		if (str_eq(dir, S("/")))
			return S("");
	}
}

/* The tree of a file if no DIR is given. */
static struct str infer_dir(struct arena *a, const struct hipify_args *h, struct str file)
{
	struct str dir = path_dir(path_abs(a, file)), here = path_abs(a, S("."));
	struct str found = S("");
	if (!h->o.mode || h->o.mode == HIPIFY_TORCH)
		found = folder_with(a, dir, "tools/amd_build/build_amd.py");
	if (!found.n)
		found = folder_with(a, dir, "rocsmith.yaml");
	if (!found.n) {
		struct str setup = folder_with(a, dir, "setup.py");
		found = folder_with(a, dir, "pyproject.toml");
		found = setup.n > found.n ? setup : found; /* the nearer one */
	}
	if (found.n)
		return found;
	return path_is_inside(path_rel(a, dir, here)) ? here : dir;
}

struct err *cmd_hipify_explain(struct arena *a, void *args)
{
	struct hipify_args *h = args;
	struct explanation x = {.path = h->place};
	struct hipify_job job;
	struct hipify_text text = {0};
	struct str source;
	uint64_t line;
	/* FILE:LINE, unless there is a file of that whole name */
	size_t colon = str_rchr(x.path, ':');
	if (colon < x.path.n && !fs_exists(x.path) && !fs_exists(path_join(a, h->o.dir, x.path)) &&
		str_u64(str_sub(x.path, colon + 1, x.path.n), 10, &line) && line <= UINT_MAX) {
		x.path = str_sub(x.path, 0, colon);
		x.line = (unsigned)line;
	}
	struct str dir = h->o.dir.n ? h->o.dir : infer_dir(a, h, x.path);
	if (h->o.dir.n && !fs_is_dir(h->o.dir))
		return err_new(E_USAGE, "DIR is the tree of FILE, and '%.*s' is not a folder",
			STR(h->o.dir));
	if (fs_is_dir(x.path))
		return err_new(
			E_USAGE, "a file can be explained, and '%.*s' is a folder", STR(x.path));
	TRY(hipify_resolve(a, h, dir, &job));
	job.o.look_only = true;
	job.o.want_untranslated = true;
	if (!hipify_by_torch(&job.o) && !h->o.dir.n) {
		TRY(fs_read(a, x.path, 1 << 28, &source));
		TRY(hipify_text(a, source, x.path, NULL, &text));
	} else {
		/* FILE may be relative to the current folder, or to DIR */
		struct str full =
			path_abs(a, fs_exists(x.path) ? x.path : path_join(a, dir, x.path));
		struct str rel = path_rel(a, full, path_abs(a, dir));
		if (!fs_exists(full))
			return err_new(E_NOENT, "no file '%.*s'", STR(x.path));
		if (!path_is_inside(rel))
			return err_new(
				E_USAGE, "'%.*s' is not inside '%.*s'", STR(x.path), STR(dir));
		TRY(hipify_file_text(a, &job.o, rel, &source, &text));
	}
	explain_text(a, &text, source, &x);
	if (show_json(&h->common, explanation_fields, &x))
		return NULL;
	VEC_EACH (const struct explained_edit, e, &x.edits)
		print_edit(a, x.path, e);
	VEC_EACH (const struct untranslated, u, &x.untranslated)
		out_fmt("%.*s\n", STR(hipify_untranslated_text(a, S(""), u)));
	if (!x.edits.n && !x.untranslated.n)
		out_fmt("%.*s%.*s: no rule applies here\n", STR(x.path),
			STR(x.line ? str_fmt(a, ":%u", x.line) : S("")));
	return NULL;
}

const struct opt cmd_hipify_explain_opts[] = {
	HIPIFY_MODE,
	HIPIFY_RULES,
	{OPT_ARGUMENT("FILE[:LINE]", OPT_POS, place, "file or line to explain"),
		.flags = OPT_REQUIRED},
	{OPT_ARGUMENT("DIR", OPT_POS, o.dir, "its tree (default: found)")},
	HIPIFY_SOURCE,
	OPT_LAST,
};
