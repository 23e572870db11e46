/* Commands and options are data: these tables drive parsing, -h, completion and the checks that
 * man pages and tables agree. One file per command (cmd_NAME.c) holds its table; cli/commands.c
 * lists them all.
 */
#pragma once

#include "base/err.h"
#include "formats/json_fields.h"

enum opt_kind {
	OPT_END,   /* ends a table */
	OPT_BOOL,  /* bool; --name and --no-name */
	OPT_COUNT, /* unsigned: how often it was given */
	OPT_UINT,  /* unsigned */
	OPT_STR,   /* struct str */
	OPT_LIST,  /* struct strs; repeatable, and split at commas when .comma is set */
	OPT_PATH,  /* struct str; completes file names */
	OPT_ENUM,  /* unsigned: index into .choices */
	OPT_POS,   /* struct str positional */
	OPT_POSES, /* struct strs: all further positionals */
	OPT_REST,  /* struct strs: everything behind "--" (or behind the positionals) as it is */
	OPT_MOVED, /* no option any more but the command .help: the error names the new line */
};

enum {
	OPT_REQUIRED = 1,
	OPT_HIDDEN = 2,
	OPT_COMMA = 4,    /* split lists at commas */
	OPT_FROM_ONE = 8, /* of an enum: index + 1 is stored, so that 0 = not given */
	OPT_WRITERS = 16, /* common, but for commands with NEED_WRITE only */
};

struct opt {
	const char *lname; /* long name without dashes; for positionals the name shown */
	char sname;        /* short name or 0 */
	enum opt_kind kind;
	unsigned flags;
	size_t off;                 /* of the member in the command's struct */
	const char *arg;            /* value name: "DIR" */
	const char *help;           /* <= 60 characters, lower case, no full stop */
	const char *const *choices; /* OPT_ENUM: NULL-terminated */
	/* The variable that an option which is not given comes from, or NULL: "ROCSMITH_GPU". For
	 * settings only, never for what a command is to do. "" and, for a flag, "0" count as not
	 * given. rocsmith(1) lists them. */
	const char *env;
};

/* What rows begin with; more may follow: {OPT_FLAG("all", struct args, all, "all"), .sname = 'a'}. */
/* clang-format off */
#define OPT_FLAG(name, T, member, text)                                                            \
	.lname = (name), .kind = OPT_BOOL, .off = offsetof(T, member), .help = (text)
#define OPT_VALUE(name, how, T, member, value, text)                                               \
	.lname = (name), .kind = (how), .off = offsetof(T, member), .arg = (value), .help = (text)
#define OPT_ARGUMENT(name, how, T, member, text)                                                   \
	.lname = (name), .kind = (how), .off = offsetof(T, member), .help = (text)
#define OPT_MOVED_TO(name, value, command)                                                         \
	.lname = (name), .kind = OPT_MOVED, .flags = OPT_HIDDEN, .arg = (value), .help = (command)
/* clang-format on */

/* What every command has; the first member of each command's own struct. */
struct common {
	bool help, json, dry_run, quiet;
	unsigned verbose, color, jobs;
	struct str trace;
	struct strs given;                     /* names of the options that the command line has */
	const struct command *const *commands; /* all there are; from main() */
};

enum { NEED_WRITE = 1 /* changes files: has -n/--dry-run */ };

struct command {
	const char *name;    /* "sdk install" for a command of two words */
	const char *summary; /* <= 60 characters */
	const struct opt *opts;
	size_t size;    /* of the command's struct, which starts with struct common */
	unsigned needs; /* NEED_* */
	/* args is zeroed and filled; the result is the exit status: 0, or 1 for a negative answer */
	struct err *(*run)(struct arena *a, void *args, int *ret_status);
};

extern const struct command *const commands[]; /* NULL-terminated, in the order of help */
extern const struct opt common_opts[];

#define OPT_EACH(o, table) for (const struct opt *o = (table); o && o->kind != OPT_END; o++)

bool opt_is_positional(const struct opt *o);
/* Whether the command has it, and shows it. */
bool opt_is_shown(const struct command *c, const struct opt *o);
/* The command's option, or a common one, by its long name or, if it is not 0, its letter; or NULL. */
const struct opt *opt_find(const struct command *c, struct str name, char letter);
/* Fills args from argv and from the environment. */
MUST_USE struct err *opt_parse(
	struct arena *a, const struct command *c, const struct strs *argv, void *args);
/* The command that argv names, and how many words its name took; did-you-mean in the error. */
MUST_USE struct err *command_find(const struct command *const *all, const struct strs *argv,
	const struct command **ret, size_t *ret_words);

/* With --json: prints the result as its document, and is true; otherwise the command goes on to show it to people. */
bool show_json(const struct common *c, const struct json_field *fields, const void *result);

/* ---- help.c ---- */
void help_main(const struct command *const *all);
/* The subcommands of a group that is no command itself, such as "sdk"; false if it is none. */
bool help_group(const struct command *const *all, struct str group);
/* The options of a command, and the commands whose names begin with its name. */
void help_command(const struct command *const *all, const struct command *c);
