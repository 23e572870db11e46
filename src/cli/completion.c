/* Completion scripts for bash, zsh and fish, generated from the option tables. */
#include <string.h>

#include "base/buf.h"
#include "cli/help.h"
#include "term/out.h"

static bool visible_option(const struct command *c, const struct opt *o)
{
	bool positional = o->kind == OPT_POS || o->kind == OPT_POSES || o->kind == OPT_REST;
	return !positional && !(o->flags & OPT_HIDDEN) && opt_applies(c, o);
}

static void add_options(struct buf *out, const struct command *c, const struct opt *table)
{
	for (const struct opt *o = table; o && o->kind != OPT_END; o++) {
		if (!visible_option(c, o))
			continue;
		buf_fmt(out, " --%s", o->lname);
		if (o->sname)
			buf_fmt(out, " -%c", o->sname);
	}
}

static void first_words(struct arena *a, struct strs *ret)
{
	for (const struct command *const *c = commands; *c; c++) {
		struct str name = str_from((*c)->name), word = str_sub(name, 0, str_chr(name, ' '));
		if (!strs_has(ret, word))
			strs_add(a, ret, word);
	}
}

static void second_words(struct arena *a, struct str first, struct strs *ret)
{
	for (const struct command *const *c = commands; *c; c++) {
		struct str head, tail;
		if (str_cut(str_from((*c)->name), ' ', &head, &tail) && str_eq(head, first))
			strs_add(a, ret, tail);
	}
}

/* bash: a table from "command" or "command sub" to its words; file names complete as usual. */
static void bash(struct arena *a, struct buf *out)
{
	struct strs firsts = {0};
	first_words(a, &firsts);
	buf_fmt(out,
		"_rocsmith() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} words= key=\"${COMP_WORDS[1]} "
		"${COMP_WORDS[2]}\"\n"
		"\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
		"\t\twords='%.*s'\n"
		"\telse\n"
		"\t\tcase $key in\n",
		STR(str_join(a, &firsts, S(" "))));
	for (const struct command *const *c = commands; *c; c++) {
		bool two = strchr((*c)->name, ' ') != NULL;
		buf_fmt(out, "\t\t'%s'%s) words='", (*c)->name, two ? "" : "\\ *");
		add_options(out, *c, (*c)->opts);
		add_options(out, *c, common_opts);
		buf_add(out, S("' ;;\n"));
	}
	for (size_t i = 0; i < firsts.n; i++) {
		struct strs subs = {0};
		second_words(a, firsts.v[i], &subs);
		if (subs.n)
			buf_fmt(out, "\t\t%.*s\\ *) words='%.*s' ;;\n", STR(firsts.v[i]),
				STR(str_join(a, &subs, S(" "))));
	}
	buf_add(out, S("\t\tesac\n\tfi\n"
		       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		       "\t[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
		       "}\n"
		       "complete -o filenames -F _rocsmith rocsmith\n"));
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

static void fish_option(struct buf *out, const struct command *c, const struct opt *o)
{
	struct str head, tail;
	bool two = str_cut(str_from(c->name), ' ', &head, &tail);
	buf_fmt(out, "complete -c rocsmith -n '__fish_seen_subcommand_from %.*s", STR(head));
	if (two)
		buf_fmt(out, "; and __fish_seen_subcommand_from %.*s", STR(tail));
	buf_fmt(out, "' -l %s", o->lname);
	if (o->sname)
		buf_fmt(out, " -s %c", o->sname);
	if (o->arg)
		buf_add(out, o->kind == OPT_PATH ? S(" -r -F") : S(" -x"));
	fish_text(out, o->help);
}

static void fish(struct arena *a, struct buf *out)
{
	struct strs firsts = {0};
	first_words(a, &firsts);
	for (const struct command *const *c = commands; *c; c++) {
		struct str head, tail;
		if (str_cut(str_from((*c)->name), ' ', &head, &tail))
			buf_fmt(out,
				"complete -c rocsmith -n '__fish_seen_subcommand_from %.*s' -f -a "
				"%.*s",
				STR(head), STR(tail));
		else
			buf_fmt(out, "complete -c rocsmith -n __fish_use_subcommand -f -a %.*s",
				STR(head));
		fish_text(out, (*c)->summary);
		for (const struct opt *o = (*c)->opts; o && o->kind != OPT_END; o++)
			if (visible_option(*c, o))
				fish_option(out, *c, o);
		for (const struct opt *o = common_opts; o->kind != OPT_END; o++)
			if (visible_option(*c, o))
				fish_option(out, *c, o);
	}
	for (size_t i = 0; i < firsts.n; i++) {
		struct strs subs = {0};
		second_words(a, firsts.v[i], &subs);
		if (subs.n)
			buf_fmt(out, "complete -c rocsmith -n __fish_use_subcommand -f -a %.*s\n",
				STR(firsts.v[i]));
	}
}

static void zsh(struct arena *a, struct buf *out)
{
	buf_add(out, S("#compdef rocsmith\nautoload -U +X bashcompinit && bashcompinit\n"));
	bash(a, out);
}

struct completion_args {
	struct common common;
	struct str shell;
};

struct err *completion_print(struct arena *a, struct str shell)
{
	static const struct {
		const char *name;
		void (*make)(struct arena *a, struct buf *out);
	} shells[] = {{.name = "bash", .make = bash}, {.name = "zsh", .make = zsh},
		{.name = "fish", .make = fish}};
	BUF(out, a);
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (str_eq(shell, str_from(shells[i].name))) {
			shells[i].make(a, &out);
			out_text(buf_str(&out));
			return NULL;
		}
	}
	return err_new(
		E_USAGE, "no completion for '%.*s'; there is bash, zsh and fish", STR(shell));
}

static struct err *completion_run(struct arena *a, void *args, int *ret_status)
{
	(void)ret_status;
	return completion_print(a, ((struct completion_args *)args)->shell);
}

static const struct opt completion_opts[] = {
	{.lname = "SHELL",
		.kind = OPT_POS,
		.flags = OPT_REQUIRED,
		.off = offsetof(struct completion_args, shell),
		.help = "bash, zsh or fish"},
	{.kind = OPT_END},
};

const struct command cmd_completion = {.name = "completion",
	.summary = "print a completion script for a shell",
	.opts = completion_opts,
	.size = sizeof(struct completion_args),
	.run = completion_run};
