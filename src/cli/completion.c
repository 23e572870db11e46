/* rocsmith completion: scripts for bash, zsh and fish, generated from the option tables. */
#include "base/buf.h"
#include "cli/opt.h"
#include "term/out.h"

struct script {
	struct arena *a;
	struct buf out;
	const struct command *const *commands;
	struct strs firsts; /* first words of the commands, each once */
};

static bool is_offered(const struct command *c, const struct opt *o)
{
	return !opt_is_positional(o) && opt_is_shown(c, o);
}

/* "install", "list", ... of "sdk"; none for a command of one word. */
static struct strs second_words(const struct script *s, struct str first)
{
	struct strs ret = {0};
	for (const struct command *const *c = s->commands; *c; c++) {
		struct str head, tail;
		if (str_cut(str_from((*c)->name), ' ', &head, &tail) && str_eq(head, first))
			strs_add(s->a, &ret, tail);
	}
	return ret;
}

static void bash_options(struct buf *out, const struct command *c, const struct opt *table)
{
	OPT_EACH (o, table) {
		if (!is_offered(c, o))
			continue;
		buf_fmt(out, " --%s", o->lname);
		if (o->sname)
			buf_fmt(out, " -%c", o->sname);
	}
}

/* A table from "command" or "command sub" to its words; file names complete as usual. */
static void bash(struct script *s)
{
	buf_fmt(&s->out,
		"_rocsmith() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} words= key=\"${COMP_WORDS[1]} "
		"${COMP_WORDS[2]}\"\n"
		"\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
		"\t\twords='%.*s'\n"
		"\telse\n"
		"\t\tcase $key in\n",
		STR(str_join(s->a, &s->firsts, S(" "))));
	for (const struct command *const *c = s->commands; *c; c++) {
		bool two = str_contains(str_from((*c)->name), S(" "));
		buf_fmt(&s->out, "\t\t'%s'%s) words='", (*c)->name, two ? "" : "\\ *");
		bash_options(&s->out, *c, (*c)->opts);
		bash_options(&s->out, *c, common_opts);
		buf_add(&s->out, S("' ;;\n"));
	}
	for (size_t i = 0; i < s->firsts.n; i++) {
		struct strs subs = second_words(s, s->firsts.v[i]);
		if (subs.n)
			buf_fmt(&s->out, "\t\t%.*s\\ *) words='%.*s' ;;\n", STR(s->firsts.v[i]),
				STR(str_join(s->a, &subs, S(" "))));
	}
	buf_add(&s->out, S("\t\tesac\n\tfi\n"
			   "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			   "\t[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
			   "}\n"
			   "complete -o filenames -F _rocsmith rocsmith\n"));
}

static void zsh(struct script *s)
{
	buf_add(&s->out, S("#compdef rocsmith\nautoload -U +X bashcompinit && bashcompinit\n"));
	bash(s);
}

/* In single quotes, where fish knows two escapes. */
static void fish_text(struct buf *out, const char *text)
{
	buf_add(out, S(" -d '"));
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_char(out, '\\');
		buf_char(out, *text);
	}
	buf_add(out, S("'\n"));
}

static void fish_options(struct buf *out, const struct command *c, const struct opt *table)
{
	struct str head, tail;
	bool two = str_cut(str_from(c->name), ' ', &head, &tail);
	OPT_EACH (o, table) {
		if (!is_offered(c, o))
			continue;
		buf_fmt(out, "complete -c rocsmith -n '__fish_seen_subcommand_from %.*s",
			STR(head));
		if (two)
			buf_fmt(out, "; and __fish_seen_subcommand_from %.*s", STR(tail));
		buf_fmt(out, "' -l %s", o->lname);
		if (o->sname)
			buf_fmt(out, " -s %c", o->sname);
		if (o->arg)
			buf_add(out, o->kind == OPT_PATH ? S(" -r -F") : S(" -x"));
		fish_text(out, o->help);
	}
}

static void fish(struct script *s)
{
	for (const struct command *const *c = s->commands; *c; c++) {
		struct str head, tail;
		if (str_cut(str_from((*c)->name), ' ', &head, &tail))
			buf_fmt(&s->out,
				"complete -c rocsmith -n '__fish_seen_subcommand_from %.*s' -f -a "
				"%.*s",
				STR(head), STR(tail));
		else
			buf_fmt(&s->out, "complete -c rocsmith -n __fish_use_subcommand -f -a %.*s",
				STR(head));
		fish_text(&s->out, (*c)->summary);
		fish_options(&s->out, *c, (*c)->opts);
		fish_options(&s->out, *c, common_opts);
	}
	for (size_t i = 0; i < s->firsts.n; i++)
		if (second_words(s, s->firsts.v[i]).n)
			buf_fmt(&s->out,
				"complete -c rocsmith -n __fish_use_subcommand -f -a %.*s\n",
				STR(s->firsts.v[i]));
}

struct completion_args {
	struct common common;
	struct str shell;
};

static const struct opt completion_opts[] = {
	{OPT_ARGUMENT("SHELL", OPT_POS, struct completion_args, shell, "bash, zsh or fish"),
		.flags = OPT_REQUIRED},
	{.kind = OPT_END},
};

static struct err *completion_run(struct arena *a, void *user, int *ret_status)
{
	static const struct {
		const char *name;
		void (*make)(struct script *s);
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
	const struct completion_args *args = user;
	struct script s = {.a = a, .out.a = a, .commands = args->common.commands};
	(void)ret_status;
	for (const struct command *const *c = s.commands; *c; c++) {
		struct str name = str_from((*c)->name), word = str_sub(name, 0, str_chr(name, ' '));
		strs_put(a, &s.firsts, word);
	}
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (str_eq(args->shell, str_from(shells[i].name))) {
			shells[i].make(&s);
			out_text(buf_str(&s.out));
			return NULL;
		}
	}
	return err_new(
		E_USAGE, "no completion for '%.*s'; there is bash, zsh and fish", STR(args->shell));
}

const struct command cmd_completion = {
	.name = "completion",
	.summary = "print a completion script for a shell",
	.opts = completion_opts,
	.size = sizeof(struct completion_args),
	.run = completion_run,
};
