/* rocsmith explain: finds the causes in the log of a build or a run, or explains an error code or an entry. */
#include <poll.h>

#include "base/fs.h"
#include "cli/opt.h"
#include "know/address.h"
#include "know/diagnosis.h"
#include "know/rule.h"
#include "term/out.h"

struct explain_args {
	struct common common;
	struct str log, sysroot;
	bool list;
};
#define ARGS struct explain_args

const struct opt cmd_explain_opts[] = {
	{OPT_ARGUMENT("LOG", OPT_POS, log, "a log, - for stdin; a code E0101; an id of --list")},
	{OPT_FLAG("list", list, "list all entries, and what doctor finds")},
	{OPT_SYSROOT(sysroot, "the log is of the machine that this folder mirrors")},
	OPT_LAST,
};

enum { MAX_CONTEXT = 5 };

/* ---- an entry ---- */

static void item(struct arena *a, const char *name, const char *text)
{
	if (text && *text)
		out_fmt("  %.*s %s\n", STR(styled_out(a, STYLE_BOLD, str_fmt(a, "%-5s", name))),
			text);
}

static void show_fix(struct arena *a, const struct diagnosis_fix *f)
{
	item(a, "fix", f->action);
	item(a, "", address_in_text(a, str_from(f->command)).p);
	if (f->tradeoff && strcmp(f->tradeoff, "none") != 0)
		item(a, "", str_fmt(a, "(%s)", f->tradeoff).p);
}

static void show_refuted(struct arena *a, const struct diagnosis *d)
{
	for (const struct diagnosis_refuted *f = d->refuted; f && f->claim; f++)
		item(a, "wrong", str_fmt(a, "\"%s\": %s (%s)", f->claim, f->why, f->evidence).p);
}

static struct str sources(
	struct arena *a, const char *const *evidence, const char *confidence, const char *more)
{
	struct strs list = {0};
	strs_add_words(a, &list, evidence);
	return str_fmt(a, "%.*s [%s%s]", STR(str_join(a, &list, S(", "))), confidence, more);
}

static struct str entry_sources(struct arena *a, const struct diagnosis *d)
{
	return sources(a, d->evidence, d->confidence, d->inferred ? ", text inferred" : "");
}

struct entries {
	VEC(struct diagnosis) v;
	VEC(struct rule) rules;
};

static const struct json_field list_fields[] = {
	FIELD_CONST("schema", "rocsmith.explain-entries/1"),
	FIELD_LIST("entries", struct entries, v, diagnosis_fields),
	FIELD_LIST("rules", struct entries, rules, rule_fields),
	{.kind = FIELD_END},
};

/* Shows the entry and all rules with this id; an entry's title and fixes stand for those of the rules. If it is "", lists
 * all of them. */
static void show_entries(struct arena *a, const struct common *o, struct str id)
{
	const struct diagnosis *d = diagnosis_find(id);
	struct entries list = {0};
	struct strs seen = {0};
	TABLE_EACH (diagnosis, x)
		if (!id.n || d == x)
			*VEC_PUSH(a, &list.v) = *x;
	TABLE_EACH (rule, x)
		if (!id.n || str_eq(str_from(x->id), id))
			*VEC_PUSH(a, &list.rules) = *x;
	if (show_json(o, list_fields, &list))
		return;
	const struct rule *r = list.rules.v;
	if (!id.n) {
		VEC_EACH (const struct diagnosis, x, &list.v)
			out_fmt("%-28s %s\n", x->id, x->title);
		VEC_EACH (const struct rule, x, &list.rules)
			if (strs_put(a, &seen, str_from(x->id)) && !diagnosis_find(str_from(x->id)))
				out_fmt("%-28s %s\n", x->id, x->title);
		return;
	}
	struct str title = styled_out(a, STYLE_BOLD, str_from(d ? d->title : r->title));
	out_fmt("%.*s [%.*s]\n", STR(title), STR(id));
	item(a, "why", d ? d->cause : r->why);
	if (d) {
		item(a, "for",
			str_fmt(a, "torch: %s; ROCm: %s; GPU: %s; system: %s", d->applies.torch,
				d->applies.rocm, d->applies.gfx, d->applies.os)
				.p);
		for (const struct diagnosis_fix *f = d->fix; f->action; f++)
			show_fix(a, f);
		show_refuted(a, d);
		item(a, "from", entry_sources(a, d).p);
	} else {
		item(a, "from", sources(a, r->evidence, r->confidence, "").p);
	}
	VEC_EACH (const struct rule, x, &list.rules) {
		out_fmt("  doctor finds it (%s) where\n    %s\n", severity_name(x->severity),
			x->when);
		for (const struct rule_fix *f = x->fix; !d && f && f->action; f++) {
			item(a, "fix", f->action);
			item(a, "", address_in_text(a, str_from(f->command)).p);
		}
	}
}

/* ---- an error code ---- */

extern const struct str explain_errors;

struct code_text {
	struct str code, text;
};
static const struct json_field code_fields[] = {
	FIELD_CONST("schema", "rocsmith.explain-code/1"),
	FIELDS(struct code_text, code, text),
	{.kind = FIELD_END},
};

/* Shows the section of rocsmith-errors(7), without its markup. */
static struct err *show_code(struct arena *a, struct str code, const struct common *o)
{
	struct str rest = explain_errors, line;
	struct str head = str_fmt(a, "# E%.*s:", STR(str_sub(code, 1, 5)));
	BUF(b, a);
	while (str_next(&rest, '\n', &line))
		if (str_starts(line, head))
			break;
	if (!str_starts(line, head))
		return err_hint(err_new(E_USAGE, "there is no code '%.*s'", STR(code)),
			"-v shows the code of an error");
	do {
		bool title = str_starts(line, S("# "));
		if (title && b.n)
			break;
		line = str_sub(line, title ? 2 : 0, line.n);
		for (size_t i = 0; i < line.n; i++)
			if (!strchr("*_\\", line.p[i]) ||
				(line.p[i] == '_' && i && ascii_alnum(line.p[i - 1]) &&
					i + 1 < line.n && ascii_alnum(line.p[i + 1])))
				buf_char(&b, line.p[i]);
		buf_char(&b, '\n');
	} while (str_next(&rest, '\n', &line));
	struct code_text found = {str_sub(head, 2, head.n - 1), str_trim(buf_str(&b))};
	if (!show_json(o, code_fields, &found))
		out_text(str_fmt(a, "%.*s\n", STR(found.text)));
	return NULL;
}

/* ---- a log ---- */

/* Shows the causes and the first error. If there is no cause, shows those that would apply if the log is of an AMD
 * GPU. */
static void show_answer(
	struct arena *a, const struct log_answer *answer, struct str name, bool known)
{
	const struct log_line *first = &answer->first_error;
	unsigned context = 0;
	if (!known)
		out_fmt("no known problem%s\n",
			first->line ? "" : ", and no error that could be seen");
	VEC_EACH (struct log_cause, c, &answer->causes) {
		if (c->context_only && (known || !c->asks_amd))
			continue;
		if (c != answer->causes.v)
			out_text(S("\n"));
		out_fmt("%s%.*s [%s]\n", c->context_only ? "perhaps: " : "",
			STR(styled_out(a, STYLE_BOLD, str_from(c->title))), c->id);
		out_fmt("  %.*s:%llu: %.*s\n", STR(name), (unsigned long long)c->at.line,
			STR(c->at.text));
		item(a, "while", c->during.n ? c->during.p : NULL);
		item(a, "why", c->entry->cause);
		VEC_EACH (const struct diagnosis_fix, f, &c->fixes)
			show_fix(a, f);
		show_refuted(a, c->entry);
		item(a, "here", c->here.n ? c->here.p : NULL);
		if (c->context_only)
			item(a, "but",
				str_fmt(a,
					"%.*s: the whole log, or `rocsmith explain` on the "
					"machine, "
					"would tell",
					STR(c->reason))
					.p);
		item(a, "from", entry_sources(a, c->entry).p);
	}
	VEC_EACH (struct log_cause, c, &answer->causes)
		if (c->context_only && (known || !c->asks_amd) && context++ < MAX_CONTEXT)
			out_fmt("also: %.*s:%llu: %s [%s]: %.*s\n", STR(name),
				(unsigned long long)c->at.line, c->title, c->id, STR(c->reason));
	if (first->line && (!known || first->line != answer->causes.v[0].at.line))
		out_fmt("first error: %.*s:%llu: %.*s\n", STR(name),
			(unsigned long long)first->line, STR(first->text));
}

static bool is_known(struct str id)
{
	return diagnosis_find(id) || rule_find(id);
}

static struct err *open_log(struct arena *a, struct str path, int *ret_fd)
{
	struct err *e = fs_open(path, ret_fd);
	if (!e || is_known(path))
		return e;
	struct strs ids = {0};
	TABLE_EACH (diagnosis, d)
		strs_add(a, &ids, str_from(d->id));
	TABLE_EACH (rule, r)
		strs_add(a, &ids, str_from(r->id));
	struct str near = suggest(path, &ids);
	if (near.n && str_chr(path, '/') == path.n)
		err_hint(e, "did you mean the entry '%.*s'?", STR(near));
	return e;
}

struct err *cmd_explain(struct arena *a, void *args)
{
	struct explain_args *o = args;
	bool from_stdin = str_eq(o->log, S("-"));
	struct str name = from_stdin ? S("stdin") : o->log;
	struct log_answer answer;
	struct machine m;
	CLEANUP(fd_closep) int fd = -1;
	CLEANUP(stream_freep) struct stream *s = NULL;
	CLEANUP(log_patterns_freep) struct log_patterns *p = NULL;
	uint64_t n;
	if (o->list || (is_known(o->log) && !fs_present(o->log))) {
		show_entries(a, &o->common, o->list ? S("") : o->log);
		return NULL;
	}
	if (!o->log.n)
		return err_hint(err_new(E_USAGE, "no log is named"),
			"rocsmith explain build.log, or - for standard input; --list shows what is "
			"known");
	bool code = o->log.n == 5 && (o->log.p[0] == 'E' || o->log.p[0] == 'e') &&
		    str_u64(str_sub(o->log, 1, 5), 10, &n);
	if (code && !fs_present(o->log))
		return show_code(a, o->log, &o->common);
	if (!from_stdin)
		TRY(open_log(a, o->log, &fd));
	if (fs_end(from_stdin ? 0 : fd) == FS_END_NEVER)
		return err_hint(err_new(E_USAGE, "'%.*s' is a device, not a log", STR(name)),
			"a log is a file or a pipe: dmesg | rocsmith explain -");
	if (!from_stdin) /* a pipe with a name has no end before somebody has begun to write */
		(void)!poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
	s = stream_new(from_stdin ? 0 : fd, S(""), name);
	TRY(log_patterns_new(&p));
	TRY_CTX(log_read(a, p, s, &answer), "cannot explain '%.*s'", STR(name));
	if (log_asks_machine(&answer)) {
		TRY(machine_read(a, o->sysroot, &m));
		TRY(log_compare(a, &answer, &m, o->sysroot.n > 0));
	}
	bool known = answer.causes.n && !answer.causes.v[0].context_only;
	if (!show_json(&o->common, log_answer_fields, &answer))
		show_answer(a, &answer, name, known);
	o->common.status = known;
	return NULL;
}
