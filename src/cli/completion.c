/* rocsmith completion: prints short scripts for bash, zsh and fish. These call the program itself to complete a command
 * line: `rocsmith completion bash --line "rocsmith build --gpu gfx12"`. It answers from the option tables, one word a
 * line, for fish with a description; the status is 1 if there is no completion. */
#include "cli/opt.h"
#include "disk/disk.h"
#include "know/know.h"
#include "know/rule.h"
#include "sdk/sdk.h"
#include "term/out.h"

#define BASH                                                                                       \
	"_rocsmith() {\n"                                                                          \
	"\tlocal line=\"${COMP_WORDS[*]::COMP_CWORD+1}\" IFS=$'\\n'\n"                             \
	"\tCOMPREPLY=($(\"$1\" completion bash --line \"$line\" 2>/dev/null))\n"                   \
	"}\n"                                                                                      \
	"complete -o default -F _rocsmith rocsmith\n"

static const char *const shells[][2] = {{"bash", BASH},
	{"zsh", "#compdef rocsmith\nautoload -U +X bashcompinit && bashcompinit\n" BASH},
	{"fish", "complete -c rocsmith -f -a '(rocsmith completion fish --line (commandline -cp); "
		 "or "
		 "__fish_complete_path (commandline -ct))'\n"}};

enum { SHELLS = sizeof(shells) / sizeof(*shells) };

/* ---- values ---- */

static struct strs gpus(struct arena *a)
{
	struct strs ret = {0};
	TABLE_EACH (gpu, g)
		if (!g->removed)
			strs_add(a, &ret, str_from(g->name));
	targets_sort(&ret);
	STRS_ADD(a, &ret, S("all"), S("native"));
	return ret;
}

static struct strs installed(struct arena *a)
{
	struct strs ret;
	err_free(sdk_names(a, &ret));
	return ret;
}

static struct strs fixable(struct arena *a)
{
	return rule_ids(a, true);
}

static struct strs cleanable(struct arena *a)
{
	struct strs ret = {0};
	strs_add_words(a, &ret, disk_kinds);
	TABLE_EACH (disk_cache, c)
		if (c->clean)
			strs_add(a, &ret, str_from(c->name));
	return ret;
}

static struct strs shell_names(struct arena *a)
{
	struct strs ret = {0};
	for (size_t i = 0; i < SHELLS; i++)
		strs_add(a, &ret, str_from(shells[i][0]));
	return ret;
}

static const struct {
	const char *of; /* name of an option or an argument */
	struct strs (*words)(struct arena *a);
} values[] = {{"gpu", gpus}, {"fix", fixable}, {"suite", sdk_suites},
	{"components", know_component_names}, {"sdk", installed}, {"NAME", installed},
	{"SHELL", shell_names}, {"KIND", cleanable}};

/* ---- a line ---- */

struct typing {
	struct arena *a;
	struct str lead; /* the complete items of a list */
	struct str word; /* the word or item being typed */
	bool about;      /* add the description of each word */
	size_t n;
};

static void offer(struct typing *t, struct str word, const char *about)
{
	if (!str_starts(word, t->word))
		return;
	t->n++;
	out_text(str_fmt(t->a, "%.*s%.*s%s%s\n", STR(t->lead), STR(word), t->about ? "\t" : "",
		t->about ? about : ""));
}

static void offer_values(struct typing *t, const struct opt *o)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (!str_eq(str_from(o->lname), str_from(values[i].of)))
			continue;
		struct strs words = values[i].words(t->a);
		VEC_EACH (const struct str, word, &words)
			offer(t, *word, o->help);
	}
	for (size_t i = 0; o->choices && o->choices[i]; i++)
		offer(t, str_from(o->choices[i]), o->help);
}

static void offer_options(struct typing *t, const struct command *c)
{
	OPT_ALL (o, c) {
		if (o->kind == OPT_POS || o->kind == OPT_POSES)
			offer_values(t, o);
		if (opt_is_positional(o) || o->flags & OPT_HIDDEN)
			continue;
		offer(t, str_fmt(t->a, "--%s", o->lname), o->help);
		if (o->sname)
			offer(t, str_fmt(t->a, "-%c", o->sname), o->help);
	}
}

struct completion_args {
	struct common common;
	struct str shell, line;
};
#define ARGS struct completion_args

const struct opt cmd_completion_opts[] = {
	{OPT_ARGUMENT("SHELL", OPT_POS, shell, "bash, zsh or fish"), .flags = OPT_REQUIRED},
	{OPT_VALUE("line", OPT_STR, line, "TEXT", "what is typed so far"), .flags = OPT_HIDDEN},
	OPT_LAST,
};

struct err *cmd_completion(struct arena *a, void *user)
{
	struct completion_args *args = user;
	struct str line = args->line;
	size_t i = 0, blank = str_rchr(line, ' ');
	while (i < SHELLS && !str_eq(args->shell, str_from(shells[i][0])))
		i++;
	if (i == SHELLS)
		return err_new(E_USAGE, "no completion for '%.*s'; there is bash, zsh and fish",
			STR(args->shell));
	if (!line.n) {
		out_text(str_from(shells[i][1]));
		return NULL;
	}
	/* the words after the program's name, without the one being typed */
	struct strs before = str_split(a, str_sub(line, str_chr(line, ' '), blank), ' ');
	struct typing t = {.a = a,
		.word = str_sub(line, blank + 1, line.n),
		.about = str_eq(args->shell, S("fish"))};
	const struct command *c = NULL;
	struct strs seen = {0};
	/* the next word of each command whose name begins with these words, each once */
	COMMAND_EACH (it, args->common.commands) {
		struct strs name = str_split(a, str_from(it->name), ' ');
		bool fits = name.n > before.n;
		for (size_t k = 0; fits && k < before.n; k++)
			fits = str_eq(name.v[k], before.v[k]);
		if (fits && strs_put(a, &seen, name.v[before.n]))
			offer(&t, name.v[before.n], name.n == before.n + 1 ? it->summary : "");
	}
	if (before.n)
		err_free(command_find(args->common.commands, &before, &c, &i));
	struct str last = before.n ? before.v[before.n - 1] : S("");
	const struct opt *o =
		c && str_starts(last, S("--")) ? opt_find(c, str_sub(last, 2, last.n), 0) : NULL;
	size_t comma = str_rchr(t.word, ',');
	if (o && o->arg) {
		if (comma < t.word.n) {
			t.lead = str_sub(t.word, 0, comma + 1);
			t.word = str_sub(t.word, comma + 1, t.word.n);
		}
		offer_values(&t, o);
	} else if (c) {
		offer_options(&t, c);
	}
	args->common.status = !t.n;
	return NULL;
}
