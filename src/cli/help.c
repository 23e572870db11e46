/* -h for the program and for each command, out of the tables; and `help --json`, the tables as data
 * for tools that check the manual pages. */
#include <string.h>

#include "base/buf.h"
#include "cli/help.h"
#include "formats/json_write.h"
#include "term/out.h"

enum { COLUMN = 28 };

static const char *const exit_codes =
	"Exit status: 0 ok, 1 negative answer, 2 wrong usage or recipe, 3 environment unmet,\n"
	"4 network or source, 5 a tool failed, 70 our bug, 128+signal when interrupted.\n";

void help_main(void)
{
	out_fmt("rocsmith %s: from an AMD GPU to a verified PyTorch wheel for it\n\n"
		"Usage: rocsmith COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n",
		ROCSMITH_VERSION);
	for (const struct command *const *c = commands; *c; c++)
		out_fmt("  %-16s %s\n", (*c)->name, (*c)->summary);
	out_fmt("\n'rocsmith COMMAND -h' lists a command's options; 'man rocsmith-COMMAND' tells "
		"all.\n%s",
		exit_codes);
}

static bool positional(const struct opt *o)
{
	return o->kind == OPT_POS || o->kind == OPT_POSES || o->kind == OPT_REST;
}

static struct str synopsis(struct arena *a, const struct command *c)
{
	BUF(out, a);
	buf_fmt(&out, "rocsmith %s [OPTION...]", c->name);
	for (const struct opt *o = c->opts; o && o->kind != OPT_END; o++) {
		if (!positional(o))
			continue;
		bool must = o->flags & OPT_REQUIRED;
		buf_fmt(&out, " %s%s%s%s%s", must ? "" : "[", o->kind == OPT_REST ? "-- " : "",
			o->lname, o->kind == OPT_POS ? "" : "...", must ? "" : "]");
	}
	return buf_str(&out);
}

static void show_table(const struct command *c, const struct opt *table)
{
	for (const struct opt *o = table; o && o->kind != OPT_END; o++) {
		if ((o->flags & OPT_HIDDEN) || !opt_applies(c, o))
			continue;
		ARENA(a);
		struct str left;
		if (positional(o))
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

void help_command(const struct command *c)
{
	ARENA(a);
	struct str usage = synopsis(&a, c);
	out_fmt("%s\n\nUsage: %.*s\n\n", c->summary, STR(usage));
	show_table(c, c->opts);
	out_text(S("\nEvery command:\n"));
	show_table(c, common_opts);
}

static const char *kind_name(enum opt_kind k)
{
	static const char *const names[] = {
		[OPT_BOOL] = "flag",
		[OPT_COUNT] = "count",
		[OPT_UINT] = "number",
		[OPT_STR] = "text",
		[OPT_LIST] = "list",
		[OPT_PATH] = "path",
		[OPT_ENUM] = "choice",
		[OPT_POS] = "argument",
		[OPT_POSES] = "arguments",
		[OPT_REST] = "rest",
	};
	return names[k];
}

static void opts_json(struct json *j, const struct command *c, const struct opt *table)
{
	for (const struct opt *o = table; o && o->kind != OPT_END; o++) {
		if ((o->flags & OPT_HIDDEN) || !opt_applies(c, o))
			continue;
		char letter[2] = {o->sname, 0};
		json_open(j, '{');
		json_put(j, "name", str_from(o->lname));
		json_put(j, "short", str_from(letter));
		json_put(j, "kind", str_from(kind_name(o->kind)));
		json_put(j, "value", str_from(o->arg));
		json_put_bool(j, "required", o->flags & OPT_REQUIRED);
		json_put(j, "help", str_from(o->help));
		json_close(j);
	}
}

static void commands_json(void)
{
	ARENA(a);
	BUF(out, &a);
	struct json j = {.out = &out};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.help/1"));
	json_put(&j, "version", S(ROCSMITH_VERSION));
	json_key(&j, "commands");
	json_open(&j, '[');
	for (const struct command *const *c = commands; *c; c++) {
		json_open(&j, '{');
		json_put(&j, "name", str_from((*c)->name));
		json_put(&j, "summary", str_from((*c)->summary));
		json_key(&j, "options");
		json_open(&j, '[');
		opts_json(&j, *c, (*c)->opts);
		opts_json(&j, *c, common_opts);
		json_close(&j);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	out_fmt("%.*s\n", STR(buf_str(&out)));
}

struct help_args {
	struct common common;
	struct strs command;
};

static struct err *help_run(struct arena *a, void *args, int *ret_status)
{
	(void)a;
	(void)ret_status;
	const struct help_args *h = args;
	const struct command *c = NULL;
	size_t words;
	if (h->common.json) {
		commands_json();
		return NULL;
	}
	if (h->command.n)
		TRY(command_find(&h->command, &c, &words));
	if (c)
		help_command(c);
	else
		help_main();
	return NULL;
}

static const struct opt help_opts[] = {
	{.lname = "COMMAND",
		.kind = OPT_POSES,
		.off = offsetof(struct help_args, command),
		.help = "the command to explain"},
	{.kind = OPT_END},
};

const struct command cmd_help = {.name = "help",
	.summary = "list the commands, or the options of one",
	.opts = help_opts,
	.size = sizeof(struct help_args),
	.run = help_run};
