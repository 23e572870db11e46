/* rocsmith hipify: translates CUDA sources, or says what would be translated and why. */
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cli/opt.h"
#include "formats/json_write.h"
#include "hipify/hipify.h"
#include "term/out.h"

enum { MODE_STANDALONE, MODE_TORCH, MODE_EXTENSION };

struct hipify_args {
	struct common common;
	unsigned mode;
	struct str out, explain, path, rocm;
	struct strs exclude;
	bool diff, check;
};

static const char *const modes[] = {"standalone", "torch", "extension", NULL};

#define OFF(m) offsetof(struct hipify_args, m)

static const struct opt opts[] = {
	{.lname = "mode",
		.kind = OPT_ENUM,
		.off = OFF(mode),
		.arg = "MODE",
		.help = "which translation: standalone (torch, extension to come)",
		.choices = modes},
	{.lname = "output",
		.sname = 'o',
		.kind = OPT_PATH,
		.off = OFF(out),
		.arg = "OUT",
		.help = "folder for the translated sources"},
	{.lname = "diff", .kind = OPT_BOOL, .off = OFF(diff), .help = "print what would change"},
	{.lname = "check",
		.kind = OPT_BOOL,
		.off = OFF(check),
		.help = "exit status 1 when something would change"},
	{.lname = "explain",
		.kind = OPT_STR,
		.off = OFF(explain),
		.arg = "FILE[:LINE]",
		.help = "which rule changes what in this file or line"},
	{.lname = "rocm",
		.kind = OPT_STR,
		.off = OFF(rocm),
		.arg = "VERSION",
		.help = "leave names that this ROCm does not have yet"},
	{.lname = "exclude",
		.kind = OPT_LIST,
		.off = OFF(exclude),
		.flags = OPT_COMMA,
		.arg = "NAME",
		.help = "leave out this folder or file"},
	{.lname = "PATH", .kind = OPT_POS, .off = OFF(path), .help = "folder or file to translate"},
	{.kind = OPT_END},
};

static const char *const status_names[] = {
	[HIPIFY_OK] = "ok",
	[HIPIFY_UNCHANGED] = "unchanged",
	[HIPIFY_SKIPPED] = "skipped",
	[HIPIFY_FAILED] = "failed",
};

static struct str in_dir(struct arena *a, struct str dir, struct str path)
{
	return dir.n && !str_eq(dir, S(".")) ? path_join(a, dir, path) : path;
}

/* ---- JSON ---- */

static void json_error(struct json *j, const struct err *e)
{
	if (!e)
		return;
	json_key(j, "error");
	json_open(j, '{');
	json_put(j, "id", str_from(err_id(e->code)));
	json_put(j, "message", str_from(e->msg));
	if (e->line) {
		json_put_u64(j, "line", e->line);
		json_put_u64(j, "column", e->col);
	}
	json_close(j);
}

static void json_left(
	struct arena *a, struct json *j, struct str dir, const struct hipify_lefts *left)
{
	json_key(j, "untranslated");
	json_open(j, '[');
	VEC_EACH (const struct hipify_left, l, left) {
		json_open(j, '{');
		json_put(j, "path", in_dir(a, dir, l->path));
		json_put_u64(j, "line", l->line);
		json_put(j, "name", l->name);
		json_put_u64(j, "column", l->col);
		if (l->suggestion.n)
			json_put(j, "suggestion", l->suggestion);
		json_close(j);
	}
	json_close(j);
}

static void print_json(struct arena *a, const struct hipify_options *o, const struct hipify_tree *t)
{
	BUF(b, a);
	struct json j = {.out = &b, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.hipify/1"));
	json_key(&j, "files");
	json_open(&j, '[');
	VEC_EACH (const struct hipify_file, f, &t->files) {
		json_open(&j, '{');
		json_put(&j, "source", in_dir(a, o->dir, f->source));
		json_put(&j, "output", in_dir(a, o->out, f->output));
		json_put(&j, "status", str_from(status_names[f->status]));
		json_put_u64(&j, "edits", f->edits);
		json_error(&j, f->error);
		json_close(&j);
	}
	json_close(&j);
	json_left(a, &j, o->dir, &t->left);
	json_put_strs(&j, "headers", &t->headers);
	json_put_strs(&j, "removed", &t->removed);
	json_close(&j);
	out_text(buf_str(&b));
	out_text(S("\n"));
}

/* ---- text ---- */

static struct str left_text(struct arena *a, struct str dir, const struct hipify_left *l)
{
	struct str path = in_dir(a, dir, l->path);
	bool name = l->suggestion.n && str_chr(l->suggestion, ' ') == l->suggestion.n;
	struct str why = S("");
	if (l->suggestion.n)
		why = str_fmt(a, name ? " (near it: %.*s)" : " (%.*s)", STR(l->suggestion));
	return str_fmt(a, "%.*s:%u:%u: '%.*s' is not translated%.*s", STR(path), l->line, l->col,
		STR(l->name), STR(why));
}

static void print_left(
	struct arena *a, struct str dir, const struct hipify_lefts *left, bool to_stdout)
{
	VEC_EACH (const struct hipify_left, l, left) {
		struct str line = left_text(a, dir, l);
		if (to_stdout)
			out_fmt("%.*s\n", STR(line));
		else
			say_warning("%.*s", STR(line));
	}
}

static size_t count(const struct hipify_tree *t, enum hipify_status s)
{
	size_t n = 0;
	VEC_EACH (const struct hipify_file, f, &t->files)
		n += f->status == s;
	return n;
}

static void print_summary(
	struct arena *a, const struct hipify_options *o, const struct hipify_tree *t)
{
	VEC_EACH (const struct hipify_file, f, &t->files)
		if (f->status == HIPIFY_OK)
			say_verbose("%.*s -> %.*s", STR(in_dir(a, o->dir, f->source)),
				STR(in_dir(a, o->out, f->output)));
	bool only_looked = !o->out.n || fs_writes_forbidden();
	say_status(only_looked ? S("Checked") : S("Translated"),
		"%zu files%s (%zu up to date, %zu need no change, %zu failed, %zu removed), "
		"%zu names left",
		count(t, HIPIFY_OK), only_looked ? " would change" : "", count(t, HIPIFY_SKIPPED),
		count(t, HIPIFY_UNCHANGED), count(t, HIPIFY_FAILED), t->removed.n, t->left.n);
}

/* Why a source failed, in one line. */
static struct str reason(struct arena *a, const struct err *e)
{
	BUF(b, a);
	if (e->path && e->line)
		buf_fmt(&b, "%s:%u:%u: ", e->path, e->line, e->col);
	for (; e; e = e->cause)
		buf_fmt(&b, "%s%s", e->msg, e->cause ? ": " : "");
	return buf_str(&b);
}

/* One error for all that failed: the only reason is its cause, several are listed as warnings. */
static struct err *failures(struct arena *a, struct hipify_tree *t)
{
	size_t n = count(t, HIPIFY_FAILED);
	struct hipify_file *last = NULL;
	VEC_EACH (struct hipify_file, f, &t->files) {
		if (f->status != HIPIFY_FAILED)
			continue;
		last = f;
		if (n > 1)
			say_warning("%.*s", STR(reason(a, f->error)));
	}
	if (!last)
		return NULL;
	if (n > 1)
		return err_new(
			E_HIPIFY, "%zu of %zu sources could not be translated", n, t->files.n);
	struct err *e = err_new(E_HIPIFY, "'%.*s' could not be translated", STR(last->source));
	e->cause = last->error;
	last->error = NULL;
	return e;
}

/* ---- what to do ---- */

static struct err *print_diff(
	struct arena *a, const struct hipify_options *o, const struct hipify_tree *t)
{
	VEC_EACH (const struct hipify_file, f, &t->files) {
		ARENA(tmp);
		struct str source;
		struct hipify_text text;
		if (f->status != HIPIFY_OK)
			continue;
		TRY(fs_read(&tmp, path_join(&tmp, o->dir, f->source), 1 << 28, &source));
		TRY(hipify_text_in(&tmp, source, f->source, &t->context, &text));
		out_text(hipify_diff(&tmp, source, in_dir(a, o->dir, f->source), &text));
	}
	return NULL;
}

static void print_check(
	struct arena *a, const struct hipify_options *o, const struct hipify_tree *t)
{
	VEC_EACH (const struct hipify_file, f, &t->files)
		if (f->status == HIPIFY_OK)
			out_fmt("%.*s: %zu changes\n", STR(in_dir(a, o->dir, f->source)), f->edits);
}

static struct err *show(struct arena *a, const struct hipify_args *h,
	const struct hipify_options *o, struct hipify_tree *t)
{
	if (h->common.json) {
		print_json(a, o, t);
		return NULL;
	}
	if (h->check)
		print_check(a, o, t);
	if (h->diff)
		TRY(print_diff(a, o, t));
	print_left(a, o->dir, &t->left, !h->diff);
	print_summary(a, o, t);
	return NULL;
}

/* ---- explain ---- */

struct place {
	struct str file;
	unsigned line; /* 0 = the whole file */
};

static struct place parse_place(struct str s)
{
	size_t colon = str_rchr(s, ':');
	uint64_t line;
	if (colon == s.n || fs_exists(s) || !str_u64(str_sub(s, colon + 1, s.n), 10, &line) ||
		line > UINT_MAX)
		return (struct place){.file = s};
	return (struct place){.file = str_sub(s, 0, colon), .line = (unsigned)line};
}

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

static void explain_edit(
	struct arena *a, struct str path, struct str source, const struct hipify_edit *e)
{
	struct str old = str_sub(source, e->from, e->to), new = str_trim(e->with);
	if (old.n)
		out_fmt("%.*s:%u: %.*s -> %.*s\n", STR(path), e->line, STR(old), STR(new));
	else
		out_fmt("%.*s:%u: + %.*s\n", STR(path), e->line, STR(new));
	if (e->rule)
		out_fmt("    %.*s\n", STR(rule_text(a, e->rule)));
}

static void json_edit(struct json *j, struct str source, const struct hipify_edit *e)
{
	unsigned line = 0;
	json_open(j, '{');
	json_put_u64(j, "line", e->line);
	json_put(j, "from", str_sub(source, e->from, e->to));
	json_put(j, "to", e->with);
	if (e->rule) {
		json_put(j, "table", hipify_rule_table(e->rule, &line));
		json_put_u64(j, "table_line", line);
		json_put(j, "kind", hipify_rule_kind(e->rule));
		json_put(j, "since", hipify_rule_since(e->rule));
		json_put(j, "evidence", hipify_rule_source(e->rule));
	}
	json_close(j);
}

static void explain_json(
	struct arena *a, struct place at, struct str source, const struct hipify_text *t)
{
	BUF(b, a);
	struct json j = {.out = &b, .indent = 2};
	struct hipify_lefts left = {0};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.hipify-explain/1"));
	json_put(&j, "path", at.file);
	json_key(&j, "edits");
	json_open(&j, '[');
	VEC_EACH (const struct hipify_edit, e, &t->edits)
		if (!at.line || e->line == at.line)
			json_edit(&j, source, e);
	json_close(&j);
	VEC_EACH (const struct hipify_left, l, &t->left)
		if (!at.line || l->line == at.line)
			*VEC_PUSH(a, &left) = *l;
	json_left(a, &j, S(""), &left);
	json_close(&j);
	out_fmt("%.*s\n", STR(buf_str(&b)));
}

static struct err *explain(struct arena *a, const struct hipify_args *h)
{
	struct place at = parse_place(h->explain);
	struct str source;
	struct hipify_text t;
	size_t shown = 0;
	if (fs_is_dir(at.file))
		return err_new(
			E_USAGE, "'--explain' takes a file, and '%.*s' is a folder", STR(at.file));
	TRY(fs_read(a, at.file, 1 << 28, &source));
	TRY(hipify_text(a, source, at.file, &t));
	if (h->common.json) {
		explain_json(a, at, source, &t);
		return NULL;
	}
	VEC_EACH (const struct hipify_edit, e, &t.edits) {
		if (at.line && e->line != at.line)
			continue;
		explain_edit(a, at.file, source, e);
		shown++;
	}
	VEC_EACH (const struct hipify_left, l, &t.left) {
		if (at.line && l->line != at.line)
			continue;
		out_fmt("%.*s\n", STR(left_text(a, S(""), l)));
		shown++;
	}
	if (!shown)
		out_fmt("%.*s: no rule applies here\n", STR(h->explain));
	return NULL;
}

/* ---- the command ---- */

static struct err *check_args(const struct hipify_args *h)
{
	if (h->mode != MODE_STANDALONE)
		return err_hint(
			err_new(E_USAGE, "this version has no mode '%s' yet", modes[h->mode]),
			"only --mode standalone is there; torch-exact translation comes later");
	for (size_t i = 0; i < h->rocm.n; i++)
		if (!strchr("0123456789.", h->rocm.p[i]))
			return err_new(E_USAGE,
				"'--rocm' wants a version such as 6.4.3, not '%.*s'", STR(h->rocm));
	if (h->explain.n)
		return NULL;
	if (!h->path.n)
		return err_hint(err_new(E_USAGE, "no folder or file to translate is given"),
			"usage: rocsmith hipify --mode standalone DIR -o OUT");
	if (!h->out.n && !h->diff && !h->check)
		return err_hint(err_new(E_USAGE, "no output folder is given"),
			"give -o OUT, or --diff or --check to look only; sources are not changed "
			"in place");
	return NULL;
}

static struct err *run(struct arena *a, void *p, int *ret_status)
{
	struct hipify_args *h = p;
	struct hipify_options o = {
		.dir = h->path,
		.out = h->diff || h->check ? S("") : h->out,
		.exclude = h->exclude,
		.rocm = h->rocm,
		.jobs = h->common.jobs,
	};
	TRY(check_args(h));
	if (h->explain.n)
		return explain(a, h);
	if (!fs_exists(h->path))
		return err_new(E_NOENT, "no folder or file '%.*s'", STR(h->path));
	if (!fs_is_dir(h->path)) {
		o.dir = path_dir(h->path);
		o.keep = true;
		strs_add(a, &o.only, path_base(h->path));
	}
	struct hipify_tree t;
	struct err *e = hipify_tree(a, &o, &t);
	if (!e)
		e = show(a, h, &o, &t);
	if (!e)
		e = failures(a, &t);
	if (!e && h->check && count(&t, HIPIFY_OK))
		*ret_status = 1;
	hipify_tree_free(&t);
	return e;
}

const struct command cmd_hipify = {
	.name = "hipify",
	.summary = "translate CUDA sources to HIP",
	.opts = opts,
	.size = sizeof(struct hipify_args),
	.needs = NEED_WRITE,
	.run = run,
};
