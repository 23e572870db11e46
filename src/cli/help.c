/* Prints -h for the program and for each command from the option tables, and the tables themselves as `help --json`,
 * for tools that check the manual pages. */
#include "cli/opt.h"
#include "term/out.h"

enum { COLUMN = 28 };

void help_main(const struct command *all)
{
	ARENA(a);
	BUF(b, &a);
	buf_fmt(&b,
		"rocsmith %s: CUDA projects as Python wheels for AMD GPUs\n\n"
		"Usage: rocsmith COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n",
		ROCSMITH_VERSION);
	COMMAND_EACH (c, all)
		buf_fmt(&b, "  %-16s %s\n", c->name, c->summary);
	buf_add(&b,
		S("\n"
		  "'rocsmith COMMAND -h' lists a command's options; 'man rocsmith-COMMAND' has "
		  "the details.\n"
		  "Exit status: 0 success, 1 the answer is no, 2 wrong usage or project files,\n"
		  "3 something is missing here, 4 network or archive, 5 a program failed,\n"
		  "70 a bug in rocsmith, 128+N ended by signal N.\n"));
	out_text(buf_str(&b));
}

/* Prints the heading and the subcommands of a group; prints nothing and returns false if there are none. */
static bool show_subcommands(const struct command *all, struct str group, struct str heading)
{
	struct str first, rest;
	bool found = false;
	COMMAND_EACH (c, all) {
		if (!str_cut(str_from(c->name), ' ', &first, &rest) || !str_eq(first, group))
			continue;
		if (!found)
			out_text(heading);
		out_fmt("  %-16.*s %s\n", STR(rest), c->summary);
		found = true;
	}
	if (found)
		out_fmt("\n'rocsmith %.*s SUBCOMMAND -h' lists the options of one; 'man "
			"rocsmith-%.*s' has the details.\n",
			STR(group), STR(group));
	return found;
}

bool help_group(const struct command *all, struct str group)
{
	ARENA(a);
	COMMAND_EACH (c, all)
		if (str_eq(str_from(c->name), group))
			return false;
	return show_subcommands(all, group,
		str_fmt(&a,
			"Usage: rocsmith %.*s SUBCOMMAND [OPTION...] [ARGUMENT...]\n\n"
			"Subcommands:\n",
			STR(group)));
}

static void list_options(const struct command *c)
{
	OPT_ALL (o, c) {
		if (o == common_opts)
			out_text(S("\nEvery command:\n"));
		if (o->flags & OPT_HIDDEN)
			continue;
		ARENA(a);
		struct str left;
		if (opt_is_positional(o))
			left = str_fmt(&a, "  %s", o->lname);
		else
			left = str_fmt(&a, "  %c%c%s --%s%s%s", o->sname ? '-' : ' ',
				o->sname ? o->sname : ' ', o->sname ? "," : " ", o->lname,
				o->arg ? " " : "", o->arg ? o->arg : "");
		if (left.n >= COLUMN)
			out_fmt("%.*s\n%*s%s\n", STR(left), COLUMN, "", o->help);
		else
			out_fmt("%-*.*s%s\n", COLUMN, STR(left), o->help);
	}
}

void help_command(const struct command *all, const struct command *c)
{
	out_fmt("%s\n\nUsage: rocsmith %s [OPTION...]", c->summary, c->name);
	OPT_EACH (o, c->opts) {
		bool must = o->flags & OPT_REQUIRED;
		if (opt_is_positional(o))
			out_fmt(" %s%s%s%s%s", must ? "" : "[", o->kind == OPT_REST ? "-- " : "",
				o->lname, o->kind == OPT_POS ? "" : "...", must ? "" : "]");
	}
	out_text(S("\n\n"));
	list_options(c);
	show_subcommands(all, str_from(c->name), S("\nSubcommands:\n"));
}

/* ---- help --json ---- */

static const char *const kind_names[] = {
	[OPT_BOOL] = "flag",
	[OPT_COUNT] = "count",
	[OPT_UINT] = "number",
	[OPT_STR] = "text",
	[OPT_LIST] = "list",
	[OPT_WORDS] = "list",
	[OPT_PATH] = "path",
	[OPT_ENUM] = "choice",
	[OPT_POS] = "argument",
	[OPT_POSES] = "arguments",
	[OPT_REST] = "rest",
	NULL,
};

static void write_letter(struct json *j, const void *opt)
{
	char letter[2] = {((const struct opt *)opt)->sname, 0};
	json_str(j, str_from(letter));
}

static void write_required(struct json *j, const void *opt)
{
	json_bool(j, ((const struct opt *)opt)->flags & OPT_REQUIRED);
}

static const struct json_field opt_fields[] = {
	FIELD("name", struct opt, lname),
	FIELD_WRITE("short", write_letter),
	FIELD_ENUM("kind", struct opt, kind, kind_names),
	FIELD("value", struct opt, arg),
	FIELD_WRITE("required", write_required),
	FIELD("help", struct opt, help),
	FIELD_LAST(FIELD_OPTIONAL("variable", struct opt, env)),
};

static void write_options(struct json *j, const void *command)
{
	json_open(j, '[');
	OPT_ALL (o, (const struct command *)command)
		if (!(o->flags & OPT_HIDDEN))
			json_struct(j, opt_fields, o);
	json_close(j);
}

static const struct json_field command_fields[] = {
	FIELDS(struct command, name, summary),
	FIELD_LAST(FIELD_WRITE("options", write_options)),
};

static const struct json_field help_fields[] = {
	FIELD_CONST("schema", "rocsmith.help/1"),
	FIELD_CONST("version", ROCSMITH_VERSION),
	FIELD_LAST(FIELD_ROWS("commands", struct common, commands, command_fields)),
};

struct help_args {
	struct common common;
	struct strs command;
};
#define ARGS struct help_args

const struct opt cmd_help_opts[] = {
	{OPT_ARGUMENT("COMMAND", OPT_POSES, command, "the command to explain")},
	OPT_LAST,
};

struct err *cmd_help(struct arena *a, void *args)
{
	const struct help_args *h = args;
	const struct command *c = NULL;
	size_t words;
	if (h->common.json)
		out_text(json_document(a, 0, help_fields, &h->common));
	else if (!h->command.n)
		help_main(h->common.commands);
	else if (h->command.n > 1 || !help_group(h->common.commands, h->command.v[0]))
		TRY(command_find(h->common.commands, &h->command, &c, &words));
	if (c)
		help_command(h->common.commands, c);
	return NULL;
}
