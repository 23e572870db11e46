/* Completion scripts and help pages, made from the option tables: every command and option is in
 * them, shells can read them, and bash completes what a person would type. */
#include <fcntl.h>
#include <unistd.h>

#include "test.h"

#include "base/proc.h"
#include "cli/opt.h"
#include "formats/node.h"
#include "term/out.h"

/* What show() prints to stdout. */
static struct str printed(
	struct arena *a, struct err *(*show)(struct arena *a, const void *what), const void *what)
{
	fflush(stdout);
	int saved = dup(STDOUT_FILENO), file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	assert_true(file >= 0);
	dup2(file, STDOUT_FILENO);
	struct err *e = show(a, what);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_ok(e);
	off_t n = lseek(file, 0, SEEK_END);
	char *p = arena_alloc(a, (size_t)n + 1);
	assert_ok(fs_pread(file, p, (size_t)n, 0));
	close(file);
	return (struct str){.p = p, .n = (size_t)n};
}

/* Runs a command on its own. args begins with struct common. */
static struct err *run_command(struct arena *a, const char *name, struct common *args)
{
	args->commands = commands;
	COMMAND_EACH (c, commands)
		if (!strcmp(c->name, name))
			return c->run(a, args);
	return err_new(E_USAGE, "no command '%s'", name);
}

static struct err *show_completion(struct arena *a, const void *shell)
{
	struct {
		struct common common;
		struct str shell, line;
	} args = {.shell = str_from(shell)};
	return run_command(a, "completion", &args.common);
}

static struct err *show_help(struct arena *a, const void *command)
{
	(void)a;
	help_command(commands, command);
	return NULL;
}

static struct err *show_main_help(struct arena *a, const void *none)
{
	(void)a;
	(void)none;
	help_main(commands);
	return NULL;
}

static struct err *show_help_json(struct arena *a, const void *none)
{
	(void)none;
	struct {
		struct common common;
		struct strs command;
	} args = {.common.json = true};
	return run_command(a, "help", &args.common);
}

/* The scripts as programs of their shells see them. */
static void assert_syntax(struct arena *a, const char *shell, struct str script)
{
	struct proc p = {.input = script};
	struct proc_result r;
	if (!proc_find(a, str_from(shell)).n)
		return;
	proc_arg(a, &p, shell, "-n", NULL);
	assert_ok(proc_check(a, &p, &r));
}

static void shells_can_read_their_scripts(void **state)
{
	(void)state;
	static const char *const shells[] = {"bash", "zsh", "fish"};
	for (size_t i = 0; i < 3; i++) {
		ARENA(a);
		struct str script = printed(&a, show_completion, shells[i]);
		assert_true(script.n > 100);
		assert_syntax(&a, shells[i], script);
	}
}

static struct err *show_answer(struct arena *a, const void *line)
{
	struct {
		struct common common;
		struct str shell, line;
	} args = {.shell = S("fish"), .line = str_from(line)};
	return run_command(a, "completion", &args.common);
}

/* The words that are offered for a line whose last word is being typed. */
static struct strs offers(struct arena *a, const char *line)
{
	struct str rest = printed(a, show_answer, line), row, word, about;
	struct strs words = {0};
	while (str_next(&rest, '\n', &row)) {
		assert_true(str_cut(row, '\t', &word, &about));
		assert_true(strs_put(a, &words, word));
	}
	return words;
}

static void every_option_is_offered(void **state)
{
	(void)state;
	COMMAND_EACH (c, commands) {
		ARENA(a);
		struct strs words = offers(&a, str_fmt(&a, "rocsmith %s ", c->name).p);
		for (const struct opt *o = c->opts; o && o->kind != OPT_END; o++)
			if (!opt_is_positional(o))
				assert_int_equal(strs_has(&words, str_fmt(&a, "--%s", o->lname)),
					!(o->flags & OPT_HIDDEN));
		for (const struct opt *o = common_opts; o->kind != OPT_END; o++)
			assert_int_equal(strs_has(&words, str_fmt(&a, "--%s", o->lname)),
				!(o->flags & OPT_WRITERS) || (c->needs & NEED_WRITE));
	}
}

static void what_a_person_types_is_completed(void **state)
{
	(void)state;
	static const char *const lines[][2] = {
		{"rocsmith insp", "inspect"},
		{"rocsmith hip", "hipify"},
		{"rocsmith hipify resto", "restore"},
		{"rocsmith hipify restore --fo", "--force"},
		{"rocsmith hipify --stat", ""},
		{"rocsmith hipify --di", "--diff"},
		{"rocsmith hipify --ch", "--check"},
		{"rocsmith hipify a.cu --dry", "--dry-run"},
		{"rocsmith hipify -", "--json"}, /* and more */
		{"rocsmith report -", "-o"},
		{"rocsmith sdk inst", "install"},
		{"rocsmith sdk install --sui", "--suite"},
		{"rocsmith sdk install --suite tri", "trixie"},
		{"rocsmith doctor --fix igp", "igpu-dgpu-conflict"},
		{"rocsmith verify --dry", ""},
		{"rocsmith report --comp", ""},
		{"rocsmith nothing ", ""},
		{"rocsmith completion z", "zsh"},
		{"/usr/bin/rocsmith plan --color alw", "always"},
		{"rocsmith build p --gpu gfx120", "gfx1201"},
		{"rocsmith build p --gpu gfx90a,gfx120", "gfx90a,gfx1201"},
		{"rocsmith build p --output ", ""},
		{"rocsmith ", "sdk"},
		{"rocsmith sdk ", "verify"},
	};
	ARENA(a);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct strs words = offers(&a, lines[i][0]);
		if (lines[i][1][0] ? !strs_has(&words, str_from(lines[i][1])) : words.n)
			fail_msg("%s: %.*s", lines[i][0], STR(str_join(&a, &words, S(" "))));
	}
	assert_int_equal(offers(&a, "rocsmith insp").n, 1);
	assert_int_equal(offers(&a, "rocsmith build p --gpu gfx90a,gfx1201").n, 1);
}

static void another_shell_is_wrong_usage(void **state)
{
	(void)state;
	ARENA(a);
	assert_err_says(show_completion(&a, "tcsh"), E_USAGE, "no completion for 'tcsh'");
	assert_err_says(show_completion(&a, ""), E_USAGE, "bash, zsh and fish");
	assert_err_says(show_completion(&a, "bas"), E_USAGE, "bash, zsh and fish");
}

static void help_lists_every_command_and_exit_status(void **state)
{
	(void)state;
	ARENA(a);
	struct str text = printed(&a, show_main_help, NULL), rest = text, line;
	COMMAND_EACH (c, commands) {
		assert_true(str_contains(text, str_fmt(&a, "\n  %s ", c->name)));
		assert_true(str_contains(text, str_from(c->summary)));
	}
	for (const char *n = "012345"; *n; n++)
		assert_true(str_contains(text, str_fmt(&a, "%c ", *n)));
	while (str_next(&rest, '\n', &line))
		assert_true(line.n <= 100);
}

static void help_of_a_command_fits_and_is_complete(void **state)
{
	(void)state;
	COMMAND_EACH (c, commands) {
		ARENA(a);
		struct str text = printed(&a, show_help, c), rest = text, line;
		assert_true(str_starts(text, str_from(c->summary)));
		assert_true(str_contains(text, str_fmt(&a, "Usage: rocsmith %s", c->name)));
		for (const struct opt *o = c->opts; o && o->kind != OPT_END; o++)
			if (!(o->flags & OPT_HIDDEN))
				assert_true(str_contains(text, str_from(o->help)));
		while (str_next(&rest, '\n', &line)) {
			assert_true(line.n <= 100);
			assert_false(str_ends(line, S(" ")));
		}
		bool writes = c->needs & NEED_WRITE;
		assert_int_equal(str_contains(text, S("-n, --dry-run")), writes);
	}
}

/* `help --json` is what tools check manual pages with: the tables, neither more nor less. */
static void help_json_is_the_tables(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *doc;
	assert_ok(json_parse(&a, printed(&a, show_help_json, NULL), S("help"), &doc));
	assert_str(node_text(doc, S("schema"), S("")), "rocsmith.help/1");
	const struct node *list = node_get(doc, S("commands"));
	size_t n = 0;
	for (const struct command *c = commands; c->name; c++, n++) {
		const struct node *it = &list->v[n], *options = node_get(it, S("options"));
		size_t shown = 0;
		assert_str(node_text(it, S("name"), S("")), c->name);
		assert_str(node_text(it, S("summary"), S("")), c->summary);
		for (const struct opt *o = c->opts; o && o->kind != OPT_END; o++)
			shown += !(o->flags & OPT_HIDDEN);
		for (const struct opt *o = common_opts; o->kind != OPT_END; o++)
			shown += !(o->flags & OPT_WRITERS) || (c->needs & NEED_WRITE);
		assert_int_equal(options->n, shown);
	}
	assert_int_equal(list->n, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shells_can_read_their_scripts),
		cmocka_unit_test(every_option_is_offered),
		cmocka_unit_test(what_a_person_types_is_completed),
		cmocka_unit_test(another_shell_is_wrong_usage),
		cmocka_unit_test(help_lists_every_command_and_exit_status),
		cmocka_unit_test(help_of_a_command_fits_and_is_complete),
		cmocka_unit_test(help_json_is_the_tables),
	};
	out_init(COLOR_NEVER, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
