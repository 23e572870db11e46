/* Commands and options are data: these tables drive parsing, -h, completion and the check that man pages and tables
 * agree. commands.def lists the commands; most have a file of their own (cmd_NAME.c). The pattern of a command is:
 *
 *     struct NAME_args, which begins with struct common      the values of its options and arguments
 *     #define ARGS struct NAME_args
 *     const struct opt cmd_NAME_opts[]                       the member and the help text of each
 *     struct err *cmd_NAME(a, args)                          fills a request, calls one stage, then
 *             if (show_json(&args->common, fields, &result)) the document of --json, or
 *                     return NULL;
 *             table_show(a, fields, "list", columns, &result);   the same result for people
 */
#pragma once

#include "base/err.h"
#include "formats/json_fields.h"

enum opt_kind {
	OPT_END,   /* ends a table; .off is the size of the struct */
	OPT_BOOL,  /* bool; --name and --no-name */
	OPT_COUNT, /* unsigned: the number of times it was given */
	OPT_UINT,  /* unsigned */
	OPT_STR,   /* struct str */
	OPT_LIST,  /* struct strs; repeatable, and never "" */
	OPT_WORDS, /* struct strs; repeatable, and split at commas */
	OPT_PATH,  /* struct str, never ""; completes file names */
	OPT_ENUM,  /* unsigned: index into .choices */
	OPT_POS,   /* struct str positional */
	OPT_POSES, /* struct strs: all further positionals */
	OPT_REST,  /* struct strs: everything after "--" (or after the positionals), unparsed */
};

enum {
	OPT_REQUIRED = 1,
	OPT_HIDDEN = 2,
	OPT_FROM_ONE = 4, /* an enum stores index + 1, so that 0 = not given */
	OPT_WRITERS = 8,  /* a common option of commands with NEED_WRITE only */
};

struct opt {
	const char *lname; /* long name without dashes; the displayed name of a positional */
	char sname;        /* short name or 0 */
	enum opt_kind kind;
	unsigned flags;
	size_t off;                 /* offset of the member in the command's struct */
	const char *arg;            /* value name: "DIR" */
	const char *help;           /* <= 60 characters, lower case, no full stop */
	const char *const *choices; /* OPT_ENUM: NULL-terminated */
	/* The environment variable with the option's default, or NULL: "ROCSMITH_GPU". Only settings have one, never
	 * the actions of a command. "" and, for a flag, "0" count as not given. rocsmith(1) lists them. */
	const char *env;
};

/* The beginning of a row of a table; the file has defined ARGS as the struct of its command, "struct slim_args". More
 * members may follow: {OPT_FLAG("all", all, "list all of them"), .sname = 'a'}. */
/* clang-format off */
#define OPT_FLAG(name, member, text)                                                               \
	.lname = (name), .kind = OPT_BOOL, .off = offsetof(ARGS, member), .help = (text)
#define OPT_VALUE(name, how, member, value, text)                                                  \
	.lname = (name), .kind = (how), .off = offsetof(ARGS, member), .arg = (value), .help = (text)
#define OPT_ARGUMENT(name, how, member, text)                                                      \
	.lname = (name), .kind = (how), .off = offsetof(ARGS, member), .help = (text)
/* Options that mean the same in each command that has them. */
#define OPT_GPUS(member, text)                                                                     \
	OPT_VALUE("gpu", OPT_WORDS, member, "GFX,...", text), .env = "ROCSMITH_GPU"
#define OPT_OUTPUT(member, value, text)                                                            \
	OPT_VALUE("output", OPT_PATH, member, value, text), .sname = 'o'
#define OPT_SDK(member, value, text)                                                               \
	OPT_VALUE("sdk", OPT_STR, member, value, text), .env = "ROCSMITH_SDK"
#define OPT_SYSROOT(member, text) OPT_VALUE("sysroot", OPT_PATH, member, "DIR", text)
#define OPT_SHARE(member)                                                                          \
	{OPT_VALUE("share-frontend", OPT_ENUM, member, "HOW",                                      \
		"compile once for GPUs that agree: off, auto or prove"),                           \
		.choices = front_share_names, .env = "ROCSMITH_SHARE_FRONTEND"}
#define OPT_LAST {.kind = OPT_END, .off = sizeof(ARGS)}
/* clang-format on */

/* The options that every command has; the first member of each command's own struct. */
struct common {
	bool help, json, dry_run, quiet;
	unsigned verbose, color, jobs;
	struct str trace;
	struct strs given;              /* names of the options on the command line */
	const struct command *commands; /* all commands; set by main() */
	int status;                     /* exit status, set by the command: 1 for the answer "no" */
};

enum { NEED_WRITE = 1 /* changes files: has -n/--dry-run */ };

struct command {
	const char *name;       /* "sdk install" for a command of two words */
	const char *summary;    /* <= 60 characters */
	const struct opt *opts; /* its struct starts with struct common */
	unsigned needs;         /* NEED_* */
	struct err *(*run)(struct arena *a, void *args); /* args: filled by opt_parse() */
};

extern const struct command commands[]; /* in the order of help; the last one has no name */
extern const struct opt common_opts[];

#define X(id, name, needs, summary)                                                                \
	extern const struct opt cmd_##id##_opts[];                                                 \
	MUST_USE struct err *cmd_##id(struct arena *a, void *args);
#include "cli/commands.def"
#undef X

#define COMMAND_EACH(c, all) for (const struct command *c = (all); c->name; c++)
#define OPT_EACH(o, table) for (const struct opt *o = (table); o && o->kind != OPT_END; o++)

/* The options and arguments that the command has: its own, then those of every command. */
#define OPT_ALL(o, c) for (const struct opt *o = opt_next(c, NULL); o; o = opt_next(c, o))
const struct opt *opt_next(const struct command *c, const struct opt *o);
bool opt_is_positional(const struct opt *o);
/* The option of the command, or the common one, with this letter, or with this long name if letter is 0; or NULL. */
const struct opt *opt_find(const struct command *c, struct str name, char letter);
size_t opt_size(const struct opt *table); /* the size of the command's struct */
/* Fills args from argv and the environment. */
MUST_USE struct err *opt_parse(
	struct arena *a, const struct command *c, const struct strs *argv, void *args);
/* Finds the command that argv names, and the number of words of its name. The error has a did-you-mean hint. */
MUST_USE struct err *command_find(const struct command *all, const struct strs *argv,
	const struct command **ret, size_t *ret_words);

struct targets;
/* Reads the words of --gpu, which become canonical ids; "native" stands for the GPUs of the machine at root. */
MUST_USE struct err *opt_targets(
	struct arena *a, struct str root, struct strs *io_words, struct targets *ret);
/* With --json, prints the result as its document and returns true. If false, the command prints it for people. */
bool show_json(const struct common *c, const struct json_field *fields, const void *result);
/* The same for a command that makes something: with --quiet, there is no summary for people either, but for a dry run,
 * whose only result it is. */
bool show_made(const struct common *c, const struct json_field *fields, const void *result);

/* ---- welcome.c ---- */
MUST_USE struct err *welcome(struct arena *a); /* without a command */

/* ---- help.c ---- */
void help_main(const struct command *all);
/* Lists the subcommands of a group that is not a command itself, such as "sdk"; false if there is no such group. */
bool help_group(const struct command *all, struct str group);
/* Lists the options of a command, and its subcommands. */
void help_command(const struct command *all, const struct command *c);
