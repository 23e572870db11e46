/* rocsmith hipify explain: shows the rule behind each change in a file or line. In the modes torch and extension, the
 * file is translated as part of its tree, because the tree decides on its includes.
 */
#include "cli/cmd_hipify.h"

#include <limits.h>

#include "base/fs.h"
#include "hipify/cuda/names.h"
#include "term/out.h"

struct explained {
	struct arena *a;
	struct str file;
	unsigned line; /* 0 = the whole file */
	bool by_torch;
	struct str source;
	struct hipify_text text;
	struct untranslated_list names; /* those in that line, with the file's name as given */
};

/* Splits FILE:LINE, unless there is a file of that whole name. */
static void split_place(struct explained *x, struct str s, struct str dir)
{
	size_t colon = str_rchr(s, ':');
	uint64_t line;
	x->file = s;
	if (colon == s.n || fs_exists(s) || fs_exists(path_join(x->a, dir, s)) ||
		!str_u64(str_sub(s, colon + 1, s.n), 10, &line) || line > UINT_MAX)
		return;
	x->file = str_sub(s, 0, colon);
	x->line = (unsigned)line;
}

/* Does the edit touch the wanted line? It may span several, since a kernel's name and its "<<<" are often on two. */
static bool wanted_edit(const struct explained *x, const struct hipify_edit *e)
{
	unsigned last = e->line;
	for (size_t i = e->from; i + 1 < e->to; i++)
		last += x->source.p[i] == '\n';
	return !x->line || x->line == e->line || (x->line > e->line && x->line <= last);
}

/* ---- text ---- */

static struct str rule_text(struct arena *a, const struct hipify_rule *r)
{
	struct str header = names_text(r->header), since = names_text(r->since);
	BUF(b, a);
	buf_fmt(&b, "%.*s:%u, %.*s", STR(names_tables[r->table]), r->line,
		STR(names_text(r->kind)));
	if (header.n)
		buf_fmt(&b, " of <%.*s>", STR(header));
	if (since.n)
		buf_fmt(&b, ", found in ROCm %.*s but not in 6.4.3", STR(since));
	buf_fmt(&b, "; from %.*s", STR(names_text(r->source)));
	return buf_str(&b);
}

/* "FILE:LINE, TABLE", with the rule's own replacement if the whole edit replaces a different text. */
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

static void explain_edit(const struct explained *x, const struct hipify_edit *e)
{
	struct str old = str_sub(x->source, e->from, e->to), new = str_trim(e->with);
	struct str from = on_one_line(x->a, old), to = on_one_line(x->a, new);
	if (old.n)
		out_fmt("%.*s:%u: %.*s -> %.*s\n", STR(x->file), e->line, STR(from), STR(to));
	else
		out_fmt("%.*s:%u: + %.*s\n", STR(x->file), e->line, STR(to));
	if (e->rule)
		out_fmt("    %.*s\n", STR(rule_text(x->a, e->rule)));
	for (const struct hipify_reason *r = e->why; r; r = r->next)
		out_fmt("    %.*s\n", STR(reason_text(x->a, r, old, new)));
}

static void print_text(const struct explained *x)
{
	size_t shown = x->names.n;
	VEC_EACH (const struct hipify_edit, e, &x->text.edits) {
		if (!wanted_edit(x, e))
			continue;
		explain_edit(x, e);
		shown++;
	}
	VEC_EACH (const struct untranslated, u, &x->names)
		out_fmt("%.*s\n", STR(hipify_untranslated_text(x->a, S(""), u)));
	if (!shown && x->line)
		out_fmt("%.*s:%u: no rule applies here\n", STR(x->file), x->line);
	else if (!shown)
		out_fmt("%.*s: no rule applies here\n", STR(x->file));
}

/* ---- JSON ---- */

struct shown_rule {
	struct str table, kind, since, evidence;
	unsigned line;
};

struct shown_reasons {
	VEC(struct hipify_reason) reasons;
};

struct shown_edit {
	unsigned line;
	struct str from, to;
	const struct shown_rule *rule;       /* mode standalone; NULL = not made by a table row */
	const struct shown_reasons *reasons; /* modes torch and extension */
};

struct shown_explanation {
	struct str path;
	VEC(struct shown_edit) edits;
	struct untranslated_list untranslated;
};

static const struct json_field rule_fields[] = {
	FIELD("table", struct shown_rule, table),
	FIELD("table_line", struct shown_rule, line),
	FIELDS(struct shown_rule, kind, since, evidence),
	{.kind = FIELD_END},
};
/* Table, file and line are omitted for a rule of the algorithm itself. */
static const struct json_field reason_fields[] = {
	FIELDS(struct hipify_reason, kind, from, to),
	FIELD_OPTIONAL("table", struct hipify_reason, table),
	FIELD_OPTIONAL("file", struct hipify_reason, file),
	FIELD_OPTIONAL("line", struct hipify_reason, line),
	{.kind = FIELD_END},
};
static const struct json_field reasons_fields[] = {
	FIELD_LIST("reasons", struct shown_reasons, reasons, reason_fields),
	{.kind = FIELD_END},
};
static const struct json_field edit_fields[] = {
	FIELDS(struct shown_edit, line, from, to),
	FIELD_FROM(struct shown_edit, rule, rule_fields),
	FIELD_FROM(struct shown_edit, reasons, reasons_fields),
	{.kind = FIELD_END},
};
static const struct json_field shown_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-explain/1"),
	FIELD("path", struct shown_explanation, path),
	FIELD_LIST("edits", struct shown_explanation, edits, edit_fields),
	FIELD_LIST(
		"untranslated", struct shown_explanation, untranslated, hipify_untranslated_fields),
	{.kind = FIELD_END},
};

static void print_json(const struct explained *x)
{
	struct arena *a = x->a;
	struct shown_explanation s = {.path = x->file, .untranslated = x->names};
	VEC_EACH (const struct hipify_edit, e, &x->text.edits) {
		if (!wanted_edit(x, e))
			continue;
		struct shown_rule *rule = NULL;
		struct shown_reasons *reasons = x->by_torch ? NEW(a, struct shown_reasons) : NULL;
		for (const struct hipify_reason *r = e->why; reasons && r; r = r->next)
			*VEC_PUSH(a, &reasons->reasons) = *r;
		if (e->rule) {
			rule = NEW(a, struct shown_rule);
			*rule = (struct shown_rule){
				.table = names_tables[e->rule->table],
				.line = e->rule->line,
				.kind = names_text(e->rule->kind),
				.since = names_text(e->rule->since),
				.evidence = names_text(e->rule->source),
			};
		}
		*VEC_PUSH(a, &s.edits) = (struct shown_edit){
			.line = e->line,
			.from = str_sub(x->source, e->from, e->to),
			.to = e->with,
			.rule = rule,
			.reasons = reasons,
		};
	}
	out_text(json_document(a, 2, shown_fields, &s));
}

/* ---- the tree of the file ---- */

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

static struct err *run(struct arena *a, void *args, int *ret_status)
{
	struct hipify_args *h = args;
	struct explained x = {.a = a};
	struct hipify_job job;
	(void)ret_status;
	split_place(&x, h->place, h->o.dir);
	struct str dir = h->o.dir.n ? h->o.dir : infer_dir(a, h, x.file);
	if (h->o.dir.n && !fs_is_dir(h->o.dir))
		return err_new(E_USAGE, "DIR is the tree of FILE, and '%.*s' is not a folder",
			STR(h->o.dir));
	if (fs_is_dir(x.file))
		return err_new(
			E_USAGE, "a file can be explained, and '%.*s' is a folder", STR(x.file));
	TRY(hipify_resolve(a, h, dir, &job));
	x.by_torch = hipify_by_torch(&job.o);
	job.o.look_only = true;
	job.o.want_untranslated = true;
	if (!x.by_torch && !h->o.dir.n) {
		TRY(fs_read(a, x.file, 1 << 28, &x.source));
		TRY(hipify_text(a, x.source, x.file, &x.text));
	} else {
		/* FILE may be relative to the current folder, or to DIR */
		struct str full =
			path_abs(a, fs_exists(x.file) ? x.file : path_join(a, dir, x.file));
		struct str rel = path_rel(a, full, path_abs(a, dir));
		if (!fs_exists(full))
			return err_new(E_NOENT, "no file '%.*s'", STR(x.file));
		if (!path_is_inside(rel))
			return err_new(
				E_USAGE, "'%.*s' is not inside '%.*s'", STR(x.file), STR(dir));
		TRY(hipify_file_text(a, &job.o, rel, &x.source, &x.text));
	}
	VEC_EACH (const struct untranslated, u, &x.text.untranslated) {
		if (x.line && u->line != x.line)
			continue;
		struct untranslated *name = VEC_PUSH(a, &x.names);
		*name = *u;
		name->path = x.file;
	}
	if (h->common.json)
		print_json(&x);
	else
		print_text(&x);
	return NULL;
}

static const struct opt explain_opts[] = {
	HIPIFY_MODE,
	HIPIFY_RULES,
	{OPT_ARGUMENT("FILE[:LINE]", OPT_POS, place, "file or line to explain"),
		.flags = OPT_REQUIRED},
	{OPT_ARGUMENT("DIR", OPT_POS, o.dir, "its tree (default: found)")},
	HIPIFY_SOURCE,
	{.kind = OPT_END},
};

const struct command cmd_hipify_explain = {
	.name = "hipify explain",
	.summary = "show which rule changes what in a file or line",
	.opts = explain_opts,
	.size = sizeof(struct hipify_args),
	.run = run,
};
