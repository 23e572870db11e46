/* The option parser over a table of its own, and rules that every real table must keep. */

#include "test.h"

#include "cli/opt.h"

struct args {
	struct common common;
	bool fast;
	unsigned count, mode, how;
	struct str out, text, first;
	struct strs gpus, more;
};

static const char *const modes[] = {"fat", "slim", NULL};

static const struct opt table[] = {
	{.lname = "fast",
		.sname = 'f',
		.kind = OPT_BOOL,
		.off = offsetof(struct args, fast),
		.env = "ROCSMITH_FAST",
		.help = "x"},
	{.lname = "count",
		.sname = 'c',
		.kind = OPT_UINT,
		.off = offsetof(struct args, count),
		.env = "ROCSMITH_COUNT",
		.arg = "N",
		.help = "x"},
	{.lname = "mode",
		.kind = OPT_ENUM,
		.off = offsetof(struct args, mode),
		.env = "ROCSMITH_MODE",
		.arg = "MODE",
		.choices = modes,
		.help = "x"},
	{.lname = "how",
		.kind = OPT_ENUM,
		.flags = OPT_FROM_ONE,
		.off = offsetof(struct args, how),
		.arg = "HOW",
		.choices = modes,
		.help = "x"},
	{.lname = "out",
		.sname = 'o',
		.kind = OPT_PATH,
		.flags = OPT_REQUIRED,
		.off = offsetof(struct args, out),
		.env = "ROCSMITH_OUT",
		.arg = "DIR",
		.help = "x"},
	{.lname = "text",
		.kind = OPT_STR,
		.off = offsetof(struct args, text),
		.arg = "TEXT",
		.help = "x"},
	{.lname = "gpu",
		.kind = OPT_WORDS,
		.off = offsetof(struct args, gpus),
		.env = "ROCSMITH_GPU",
		.arg = "LIST",
		.help = "x"},
	{.lname = "FIRST", .kind = OPT_POS, .off = offsetof(struct args, first), .help = "x"},
	{.lname = "MORE", .kind = OPT_POSES, .off = offsetof(struct args, more), .help = "x"},
	{.kind = OPT_END, .off = sizeof(struct args)},
};

static const struct command cmd = {
	.name = "try", .summary = "x", .opts = table, .needs = NEED_WRITE};

/* Splits line at spaces and parses it. */
static struct err *parse(struct arena *a, const struct command *c, const char *line, void *args)
{
	struct strs words = str_split(a, str_from(line), ' ');
	memset(args, 0, opt_size(c->opts));
	((struct common *)args)->commands = commands;
	return opt_parse(a, c, &words, args);
}

static void fails(const char *line, const char *text)
{
	ARENA(a);
	struct args args;
	CLEANUP(err_freep) struct err *e = parse(&a, &cmd, line, &args);
	assert_non_null(e);
	assert_int_equal(e->code, E_USAGE);
	assert_non_null(strstr(e->msg, text));
}

static void every_kind_of_option_is_stored(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	assert_null(parse(
		&a, &cmd, "-fc7 --mode=slim -o out --gpu a,b --gpu c one two -- -three", &args));
	assert_true(args.fast);
	assert_int_equal(args.count, 7);
	assert_int_equal(args.mode, 1);
	assert_true(str_eq(args.out, S("out")));
	assert_int_equal(args.gpus.n, 3);
	assert_true(str_eq(args.gpus.v[2], S("c")));
	assert_true(str_eq(args.first, S("one")));
	assert_int_equal(args.more.n, 2);
	assert_true(str_eq(args.more.v[1], S("-three")));
}

static void flags_can_be_negated_and_counted(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	assert_null(parse(&a, &cmd, "--fast --no-fast -vv -o x", &args));
	assert_false(args.fast);
	assert_int_equal(args.common.verbose, 2);
}

static void a_choice_may_be_told_from_none(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	assert_null(parse(&a, &cmd, "-o x", &args));
	assert_int_equal(args.how, 0);
	assert_null(parse(&a, &cmd, "-o x --how fat", &args));
	assert_int_equal(args.how, 1);
	assert_null(parse(&a, &cmd, "-o x --how slim", &args));
	assert_int_equal(args.how, 2);
	fails("-o x --how thin", "it takes fat, slim");
}

static void values_may_be_attached_or_follow(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	assert_null(parse(&a, &cmd, "-oabc", &args));
	assert_true(str_eq(args.out, S("abc")));
	assert_null(parse(&a, &cmd, "-o x --text= --count 3", &args));
	assert_int_equal(args.text.n, 0);
	assert_non_null(args.text.p);
}

static void mistakes_are_usage_errors(void **state)
{
	(void)state;
	fails("-o x --fst", "no option '--fst'");
	fails("-o x -z", "no option '-z'");
	fails("-o x --count many", "whole number");
	fails("-o x --count", "needs a value");
	fails("-o x --fast=1", "takes no value");
	fails("-o x --mode thin", "it takes fat, slim");
	fails("one", "needs --out");
	fails("-o x --no-out y", "no option");
}

static void a_list_without_a_word_is_a_mistake(void **state)
{
	(void)state;
	fails("-o x --gpu=", "'--gpu' needs a value (LIST)");
	fails("--out=", "'--out' needs a value (DIR)");
	fails("-o x --gpu ,", "'--gpu' needs a value (LIST)");
	fails("-o x --gpu a --gpu ,,", "'--gpu' needs a value (LIST)");
	ARENA(a);
	struct args args;
	assert_ok(parse(&a, &cmd, "-o x --gpu ,a,,b, --gpu c", &args));
	assert_str(str_join(&a, &args.gpus, S(" ")), "a b c");
}

static void the_variable_with_a_wrong_value_is_named(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {
		{"ROCSMITH_COUNT", "-1"},
		{"ROCSMITH_COUNT", "1000000001"},
		{"ROCSMITH_MODE", "fats"},
		{"ROCSMITH_GPU", ","},
		{"ROCSMITH_JOBS", "2x"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ARENA(a);
		struct args args;
		setenv(wrong[i][0], wrong[i][1], 1);
		struct err *e = parse(&a, &cmd, "-o x", &args);
		unsetenv(wrong[i][0]);
		assert_err_says(e, E_USAGE,
			str_fmt(&a, "wrong value of '%s' in the environment", wrong[i][0]).p);
	}
}

static void a_near_miss_is_suggested(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	CLEANUP(err_freep) struct err *e = parse(&a, &cmd, "--cuont 3", &args);
	assert_non_null(e);
	assert_non_null(strstr(e->hints->text, "'--count'"));
}

static void help_needs_no_required_option(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	assert_null(parse(&a, &cmd, "-h", &args));
	assert_true(args.common.help);
}

static void dry_run_exists_only_for_commands_that_write(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	struct command reader = cmd;
	reader.needs = 0;
	assert_null(parse(&a, &cmd, "-n -o x", &args));
	CLEANUP(err_freep) struct err *e = parse(&a, &reader, "-n -o x", &args);
	assert_non_null(e);
}

static void rest_takes_options_of_others_as_they_are(void **state)
{
	(void)state;
	struct rest_args {
		struct common common;
		struct strs argv;
	} args;
	static const struct opt rest[] = {
		{.lname = "CMD",
			.kind = OPT_REST,
			.off = offsetof(struct rest_args, argv),
			.help = "x"},
		{.kind = OPT_END, .off = sizeof(struct rest_args)},
	};
	struct command c = {.name = "run", .opts = rest};
	ARENA(a);
	assert_null(parse(&a, &c, "-v ls -l --color", &args));
	assert_int_equal(args.common.verbose, 1);
	assert_int_equal(args.argv.n, 3);
	assert_null(parse(&a, &c, "-- -x", &args));
	assert_int_equal(args.argv.n, 1);
}

static void the_environment_fills_what_is_not_given(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	setenv("ROCSMITH_GPU", "x,y", 1);
	setenv("ROCSMITH_DRY_RUN", "1", 1);
	setenv("ROCSMITH_FAST", "0", 1);
	setenv("ROCSMITH_OUT", "env", 1);
	assert_ok(parse(&a, &cmd, "--gpu a", &args));
	assert_int_equal(args.gpus.n, 1);
	assert_str(str_join(&a, &args.common.given, S(" ")), "gpu");
	assert_str(args.out, "env");
	assert_true(args.common.dry_run);
	assert_false(args.fast);
	assert_ok(parse(&a, &cmd, "--no-dry-run -o here", &args));
	assert_int_equal(args.gpus.n, 2);
	assert_str(str_join(&a, &args.common.given, S(" ")), "dry-run out");
	assert_str(args.out, "here");
	assert_false(args.common.dry_run);
	setenv("ROCSMITH_COUNT", "many", 1);
	assert_err_says(parse(&a, &cmd, "", &args), E_USAGE, "'--count' takes a whole number");
	unsetenv("ROCSMITH_GPU");
	unsetenv("ROCSMITH_DRY_RUN");
	unsetenv("ROCSMITH_FAST");
	unsetenv("ROCSMITH_OUT");
	unsetenv("ROCSMITH_COUNT");
}

static void rows_without_a_variable_have_none(void **state)
{
	(void)state;
	ARENA(a);
	struct args args;
	setenv("ROCSMITH_HOW", "slim", 1);
	setenv("ROCSMITH_JSON", "1", 1);
	setenv("ROCSMITH_HELP", "1", 1);
	setenv("ROCSMITH_FIRST", "x", 1);
	assert_ok(parse(&a, &cmd, "-o x", &args));
	assert_int_equal(args.how, 0);
	assert_false(args.common.json || args.common.help);
	assert_int_equal(args.first.n, 0);
	unsetenv("ROCSMITH_HOW");
	unsetenv("ROCSMITH_JSON");
	unsetenv("ROCSMITH_HELP");
	unsetenv("ROCSMITH_FIRST");
}

static void commands_are_found_by_one_or_two_words(void **state)
{
	(void)state;
	ARENA(a);
	const struct command *c;
	size_t words;
	struct strs argv = str_split(&a, S("help completion"), ' ');
	assert_null(command_find(commands, &argv, &c, &words));
	assert_string_equal(c->name, "help");
	assert_int_equal(words, 1);
	argv = str_split(&a, S("hipify statu"), ' ');
	assert_null(command_find(commands, &argv, &c, &words));
	assert_string_equal(c->name, "hipify");
	argv = str_split(&a, S("hipify status d"), ' ');
	assert_null(command_find(commands, &argv, &c, &words));
	assert_string_equal(c->name, "hipify status");
	assert_int_equal(words, 2);
	argv = str_split(&a, S("hepl"), ' ');
	CLEANUP(err_freep) struct err *e = command_find(commands, &argv, &c, &words);
	assert_non_null(e);
	assert_non_null(strstr(e->hints->text, "'help'"));
}

/* ---- rules for all real tables ---- */

static void check_option(const struct command *c, const struct opt *o)
{
	bool positional = o->kind == OPT_POS || o->kind == OPT_POSES || o->kind == OPT_REST;
	bool value = !positional && o->kind != OPT_BOOL && o->kind != OPT_COUNT;
	assert_non_null(o->lname);
	assert_non_null(o->help);
	if (strlen(o->help) > 60)
		fail_msg("%s --%s: help is longer than 60 characters", c->name, o->lname);
	if (o->help[strlen(o->help) - 1] == '.')
		fail_msg("%s --%s: help ends in a full stop", c->name, o->lname);
	if (value && !o->arg)
		fail_msg("%s --%s takes a value but does not name it", c->name, o->lname);
	if (o->kind == OPT_ENUM && !o->choices)
		fail_msg("%s --%s has no choices", c->name, o->lname);
	if (o->off < sizeof(struct common) || o->off >= opt_size(c->opts))
		fail_msg("%s --%s is stored outside the command's struct", c->name, o->lname);
}

static void check_unique(const struct command *c, const struct opt *o)
{
	for (const struct opt *p = c->opts; p < o; p++)
		if (!strcmp(p->lname, o->lname) || (o->sname && p->sname == o->sname))
			fail_msg("%s: --%s is there twice, or its letter is", c->name, o->lname);
	for (const struct opt *p = common_opts; p->kind != OPT_END; p++)
		if (!strcmp(p->lname, o->lname) || (o->sname && p->sname == o->sname))
			fail_msg("%s: --%s hides a common option", c->name, o->lname);
}

/* Settings only; that the names are those of rocsmith(1) is for tools/lint. */
static void check_variable(const struct command *c, const struct opt *o)
{
	ARENA(a);
	if (!o->env)
		return;
	struct str name = str_from(o->env);
	assert_true(str_starts(name, S("ROCSMITH_")));
	char *word = str_z(&a, str_lower(&a, str_sub(name, S("ROCSMITH_").n, name.n)));
	for (char *p = word; *p; p++)
		*p = *p == '_' ? '-' : *p;
	assert_string_equal(word, o->lname);
	bool common = c->opts == common_opts;
	if (opt_is_positional(o) || (o->kind == OPT_BOOL && !common))
		fail_msg("%s: '%s' must not come from the environment", c->name, o->lname);
}

static void variables_are_for_settings(void **state)
{
	(void)state;
	const struct command common = {.name = "every command", .opts = common_opts};
	OPT_EACH (o, common_opts)
		check_variable(&common, o);
	COMMAND_EACH (c, commands)
		OPT_EACH (o, c->opts)
			check_variable(c, o);
}

static void every_table_keeps_the_rules(void **state)
{
	(void)state;
	COMMAND_EACH (c, commands) {
		assert_true(strlen(c->summary) <= 60);
		assert_true(opt_size(c->opts) >= sizeof(struct common));
		for (const struct opt *o = c->opts; o && o->kind != OPT_END; o++) {
			check_option(c, o);
			check_unique(c, o);
		}
	}
}

static void no_two_commands_share_a_name(void **state)
{
	(void)state;
	COMMAND_EACH (c, commands)
		for (const struct command *d = commands; d < c; d++)
			assert_string_not_equal(c->name, d->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_option_is_stored),
		cmocka_unit_test(flags_can_be_negated_and_counted),
		cmocka_unit_test(a_choice_may_be_told_from_none),
		cmocka_unit_test(values_may_be_attached_or_follow),
		cmocka_unit_test(mistakes_are_usage_errors),
		cmocka_unit_test(a_list_without_a_word_is_a_mistake),
		cmocka_unit_test(the_variable_with_a_wrong_value_is_named),
		cmocka_unit_test(a_near_miss_is_suggested),
		cmocka_unit_test(help_needs_no_required_option),
		cmocka_unit_test(dry_run_exists_only_for_commands_that_write),
		cmocka_unit_test(rest_takes_options_of_others_as_they_are),
		cmocka_unit_test(the_environment_fills_what_is_not_given),
		cmocka_unit_test(rows_without_a_variable_have_none),
		cmocka_unit_test(commands_are_found_by_one_or_two_words),
		cmocka_unit_test(every_table_keeps_the_rules),
		cmocka_unit_test(variables_are_for_settings),
		cmocka_unit_test(no_two_commands_share_a_name),
	};
	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
