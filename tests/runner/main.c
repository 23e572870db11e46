/* case_runner ROCSMITH CASES [--data DIR] [--bless] [NAME...]: runs declarative cases.
 *
 * Each case gets a new folder and a home of its own; its commands run in turn with a cleared
 * environment. With names, only the cases whose path contains one of them run. --bless writes what
 * was seen (exit status, stdout, stderr) into the case files instead of comparing it; read the
 * diff. Output is TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "case.h"

struct runner {
	struct str program, cases, data;
	struct strs names; /* only these, when any */
	bool bless;
	unsigned number, failed;
};

/* One case while it runs. */
struct state {
	struct arena *a;
	const struct runner *r;
	struct str path; /* of the case file */
	struct place place;
	struct strs env;
	struct proc_result got; /* of the last command */
	struct str before;      /* content of the place before it */
	struct str wrong;       /* what the first failure is, or "" */
	bool skip;
};

static void fail(struct state *s, unsigned line, const char *what, struct str want, struct str have)
{
	if (s->wrong.n)
		return;
	s->wrong = str_fmt(
		s->a, "line %u: %s\nwanted:\n%.*s\nseen:\n%.*s", line, what, STR(want), STR(have));
}

static struct str out_of(const struct state *s)
{
	return place_hide(s->a, &s->place, s->got.out);
}

static struct str err_of(const struct state *s)
{
	return place_hide(s->a, &s->place, s->got.err);
}

/* ---- expectations, one function each ---- */
typedef struct err *check_fn(struct state *s, const struct section *x);

static struct err *check_exit(struct state *s, const struct section *x)
{
	struct str status = str_fmt(s->a, "%d", s->got.status);
	if (!str_eq(status, x->arg))
		fail(s, x->line, "exit status", x->arg,
			str_fmt(s->a, "%.*s\n%.*s", STR(status), STR(err_of(s))));
	return NULL;
}

static struct err *check_stdout(struct state *s, const struct section *x)
{
	if (!match_text(x->text, out_of(s)))
		fail(s, x->line, "stdout", x->text, out_of(s));
	return NULL;
}

static struct err *check_stderr(struct state *s, const struct section *x)
{
	if (!match_text(x->text, err_of(s)))
		fail(s, x->line, "stderr", x->text, err_of(s));
	return NULL;
}

static struct err *check_json(struct state *s, const struct section *x)
{
	const char *wrong = match_json(s->a, x->text, out_of(s));
	if (wrong)
		fail(s, x->line, wrong, x->text, out_of(s));
	return NULL;
}

static struct err *check_has(struct state *s, const struct section *x)
{
	struct str path = path_join(s->a, s->place.tree, place_show(s->a, &s->place, x->arg)), text;
	TRY(fs_read_opt(s->a, path, 64u << 20, &text));
	text = text.p ? place_hide(s->a, &s->place, text) : S("(no such file)");
	if (!match_text(x->text, text))
		fail(s, x->line, "content of the file", x->text, text);
	return NULL;
}

static struct err *check_gone(struct state *s, const struct section *x)
{
	if (fs_exists(path_join(s->a, s->place.tree, x->arg)))
		fail(s, x->line, "this should not be there", x->arg, S(""));
	return NULL;
}

static struct err *check_tree(struct state *s, const struct section *x)
{
	struct str state;
	TRY(tree_state(s->a, s->place.tree, false, &state));
	if (!match_text(x->text, state))
		fail(s, x->line, "files", x->text, state);
	return NULL;
}

static struct err *check_unchanged(struct state *s, const struct section *x)
{
	struct str state;
	TRY(tree_state(s->a, s->place.root, true, &state));
	if (!str_eq(s->before, state))
		fail(s, x->line, "nothing should have changed", s->before, state);
	return NULL;
}

static const struct check {
	const char *name;
	check_fn *fn;
} checks[] = {{"exit", check_exit}, {"stdout", check_stdout}, {"stderr", check_stderr},
	{"json", check_json}, {"has", check_has}, {"gone", check_gone}, {"tree", check_tree},
	{"unchanged", check_unchanged}};

static check_fn *check_for(struct str name)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		if (str_eq(name, str_from(checks[i].name)))
			return checks[i].fn;
	return NULL;
}

/* ---- running ---- */
/* The sections that belong to the command at first: its input and what it must answer. */
static size_t command_end(const struct sections *list, size_t first)
{
	size_t end = first + 1;
	while (end < list->n &&
		(check_for(list->v[end].name) || str_eq(list->v[end].name, S("stdin"))))
		end++;
	return end;
}

static const struct section *section_of(const struct sections *list, size_t first, const char *name)
{
	for (size_t i = first; i < command_end(list, first); i++)
		if (str_eq(list->v[i].name, str_from(name)))
			return &list->v[i];
	return NULL;
}

static struct err *run_command(struct state *s, const struct sections *list, size_t at)
{
	struct arena *a = s->a;
	struct proc p = {.cwd = s->place.tree, .clear_env = true, .setenv = s->env, .timeout = 120};
	strs_add(a, &p.argv, s->r->program);
	struct strs words = case_words(a, list->v[at].arg);
	VEC_EACH (struct str, w, &words)
		strs_add(a, &p.argv, place_show(a, &s->place, *w));
	const struct section *input = section_of(list, at, "stdin");
	if (input)
		p.input = place_show(a, &s->place, input->text);
	TRY(tree_state(a, s->place.root, true, &s->before));
	return proc_run(a, &p, &s->got);
}

/* What every command must keep to, also where the case says nothing about it. */
static struct err *check_defaults(struct state *s, const struct sections *list, size_t at)
{
	unsigned line = list->v[at].line;
	struct str left;
	TRY(tree_state(s->a, s->place.tmp, false, &left));
	if (left.n)
		fail(s, line, "temporary files were left behind", S(""), left);
	if (!section_of(list, at, "exit") && s->got.status)
		fail(s, line, "exit status", S("0"), err_of(s));
	if (!section_of(list, at, "stdout") && !section_of(list, at, "json") && s->got.out.n)
		fail(s, line, "stdout", S(""), out_of(s));
	if (!section_of(list, at, "stderr") && s->got.err.n)
		fail(s, line, "stderr", S(""), err_of(s));
	return NULL;
}

static struct err *check_command(struct state *s, const struct sections *list, size_t at)
{
	for (size_t i = at + 1; i < command_end(list, at); i++) {
		check_fn *fn = check_for(list->v[i].name);
		if (fn)
			TRY(fn(s, &list->v[i]));
	}
	return check_defaults(s, list, at);
}

/* ---- blessing ---- */
static void bless_text(struct buf *out, const char *name, struct str text)
{
	if (!text.n)
		return;
	buf_fmt(out, "@%s\n", name);
	struct str line;
	while (text.n && str_next(&text, '\n', &line))
		buf_fmt(out, "%s%.*s\n", str_starts(line, S("@")) ? "@" : "", STR(line));
}

/* A section of the case as it stands when it is right, so that placeholders stay; else what was
 * seen. */
static void bless_section(
	const struct section *old, const char *name, struct str seen, struct buf *out)
{
	if (old && match_text(old->text, seen))
		buf_fmt(out, "%.*s\n", STR(str_trim(old->raw)));
	else
		bless_text(out, name, seen);
}

/* Replaces what a case says about status, stdout and stderr by what was seen. */
static void bless_command(struct state *s, const struct sections *list, size_t at, struct buf *out)
{
	buf_fmt(out, "%.*s\n", STR(str_trim(list->v[at].raw)));
	const struct section *input = section_of(list, at, "stdin");
	if (input)
		buf_fmt(out, "%.*s\n", STR(str_trim(input->raw)));
	if (s->got.status)
		buf_fmt(out, "@exit %d\n", s->got.status);
	if (!section_of(list, at, "json"))
		bless_section(section_of(list, at, "stdout"), "stdout", out_of(s), out);
	bless_section(section_of(list, at, "stderr"), "stderr", err_of(s), out);
	for (size_t i = at + 1; i < command_end(list, at); i++) {
		const struct section *x = &list->v[i];
		bool done = str_eq(x->name, S("exit")) || str_eq(x->name, S("stdout")) ||
			    str_eq(x->name, S("stderr")) || str_eq(x->name, S("stdin"));
		if (!done)
			buf_fmt(out, "%.*s\n", STR(str_trim(x->raw)));
	}
	buf_char(out, '\n');
}

/* ---- one case ---- */
static void set_env(struct state *s)
{
	struct arena *a = s->a;
	strs_add(a, &s->env, str_fmt(a, "PATH=%s", getenv("PATH")));
	strs_add(a, &s->env, str_fmt(a, "HOME=%.*s", STR(s->place.home)));
	strs_add(a, &s->env, str_fmt(a, "ROCSMITH_HOME=%.*s/rocsmith", STR(s->place.home)));
	strs_add(a, &s->env, str_fmt(a, "TMPDIR=%.*s", STR(s->place.tmp)));
	strs_add(a, &s->env, S("LC_ALL=C.UTF-8"));
	static const char *const keep[] = {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE"};
	for (size_t i = 0; i < sizeof(keep) / sizeof(*keep); i++)
		if (getenv(keep[i]))
			strs_add(a, &s->env, str_fmt(a, "%s=%s", keep[i], getenv(keep[i])));
}

/* The later value counts. */
static void forget_env(struct state *s, struct str setting)
{
	struct str name = str_sub(setting, 0, str_chr(setting, '=') + 1);
	size_t n = 0;
	for (size_t i = 0; i < s->env.n; i++)
		if (!str_starts(s->env.v[i], name))
			s->env.v[n++] = s->env.v[i];
	s->env.n = n;
}

/* Sections that are no command: folder contents, environment, needed programs. */
static struct err *prepare(struct state *s, const struct section *x)
{
	if (str_eq(x->name, S("env"))) {
		forget_env(s, x->arg);
		strs_add(s->a, &s->env, place_show(s->a, &s->place, x->arg));
		return NULL;
	}
	if (str_eq(x->name, S("needs"))) {
		s->skip = s->skip || !proc_find(s->a, x->arg).n;
		return NULL;
	}
	return place_setup(s->a, &s->place, x, s->r->data);
}

static struct err *run_sections(struct state *s, const struct sections *list, struct buf *blessed)
{
	size_t commands = 0;
	for (size_t i = 0; i < list->n && !s->skip && !s->wrong.n; i = command_end(list, i)) {
		const struct section *x = &list->v[i];
		if (!str_eq(x->name, S("args"))) {
			TRY_CTX(prepare(s, x), "line %u", x->line);
			buf_fmt(blessed, "%.*s\n", STR(str_trim(x->raw)));
			continue;
		}
		commands++;
		TRY(run_command(s, list, i));
		if (s->r->bless)
			bless_command(s, list, i, blessed);
		else
			TRY(check_command(s, list, i));
	}
	if (!commands && !s->skip && !s->wrong.n)
		s->wrong = S("the case has no @args");
	return NULL;
}

/* The blessed file: the comment on top as it was, then the sections. */
static struct err *write_blessed(
	struct state *s, const struct sections *list, struct str text, struct buf *blessed)
{
	ARENA(a);
	size_t head = list->n ? (size_t)(list->v[0].raw.p - text.p) : text.n;
	struct str body = str_trim(buf_str(blessed));
	return fs_write(s->path, str_fmt(&a, "%.*s%.*s\n", (int)head, text.p, STR(body)),
		0644 | FS_IF_CHANGED);
}

static struct err *run_case(struct state *s)
{
	struct str text;
	struct sections list = {0};
	BUF(blessed, s->a);
	TRY(fs_read(s->a, s->path, 1u << 20, &text));
	TRY(case_parse(s->a, text, s->path, &list));
	TRY(place_make(s->a, &s->place));
	set_env(s);
	struct err *e = run_sections(s, &list, &blessed);
	if (!e && s->r->bless && !s->skip)
		e = write_blessed(s, &list, text, &blessed);
	return err_join(e, place_remove(&s->place));
}

/* Why a case failed: to stderr, which meson shows for a failed test. */
static void comment(struct str text)
{
	struct str line;
	while (text.n && str_next(&text, '\n', &line))
		fprintf(stderr, "    %.*s\n", STR(line));
}

static void report(struct runner *r, const struct state *s, struct str name, const struct err *e)
{
	bool good = !e && !s->wrong.n;
	r->failed += !good;
	printf("%sok %u - %.*s%s\n", good ? "" : "not ", ++r->number, STR(name),
		s->skip ? " # SKIP a program is missing" : "");
	if (!good)
		comment(str_fmt(s->a, "FAILED %.*s", STR(s->path)));
	comment(s->wrong);
	for (; e; e = e->cause)
		comment(str_from(e->msg));
	fflush(stdout);
}

static bool selected(const struct runner *r, struct str name)
{
	VEC_EACH (struct str, n, &r->names)
		if (str_contains(name, *n))
			return true;
	return !r->names.n;
}

static struct err *visit(void *user, struct fs_entry *entry)
{
	struct runner *r = user;
	if (!S_ISREG(entry->st.st_mode) || !str_ends(entry->path, S(".case")))
		return NULL;
	struct str name = str_sub(entry->path, 0, entry->path.n - 5);
	if (!selected(r, name))
		return NULL;
	ARENA(a);
	struct state s = {.a = &a, .r = r, .path = path_join(&a, r->cases, entry->path)};
	struct err *e = run_case(&s);
	report(r, &s, name, e);
	err_free(e);
	return NULL;
}

static bool parse_args(struct arena *a, int argc, char **argv, struct runner *r)
{
	for (int i = 1; i < argc; i++) {
		struct str word = str_from(argv[i]);
		if (str_eq(word, S("--bless")))
			r->bless = true;
		else if (str_eq(word, S("--data")) && i + 1 < argc)
			r->data = path_abs(a, str_from(argv[++i]));
		else if (!r->program.n)
			r->program = path_abs(a, word);
		else if (!r->cases.n)
			r->cases = path_abs(a, word);
		else
			strs_add(a, &r->names, word);
	}
	return r->cases.n;
}

int main(int argc, char **argv)
{
	ARENA(a);
	struct runner r = {0};
	if (!parse_args(&a, argc, argv, &r)) {
		fputs("usage: case_runner ROCSMITH CASES [--data DIR] [--bless] [NAME...]\n",
			stderr);
		return 2;
	}
	CLEANUP(err_freep) struct err *e = fs_walk(r.cases, visit, &r);
	if (e)
		printf("Bail out! %s\n", e->msg);
	printf("1..%u\n", r.number);
	return e || r.failed || !r.number;
}
