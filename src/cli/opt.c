/* Parses argv by a command's option table; see opt.h. */
#include "cli/opt.h"

#include "know/rule.h"
#include "term/out.h"

static const char *const color_choices[] = {"auto", "always", "never", NULL};

#define ARGS struct common

const struct opt common_opts[] = {
	{OPT_FLAG("help", help, "show this help"), .sname = 'h'},
	{OPT_FLAG("json", json, "print the result as one JSON object")},
	{OPT_FLAG("dry-run", dry_run, "show what would be done, change nothing"), .sname = 'n',
		.flags = OPT_WRITERS, .env = "ROCSMITH_DRY_RUN"},
	{OPT_FLAG("quiet", quiet, "print errors and warnings only"), .sname = 'q',
		.env = "ROCSMITH_QUIET"},
	{OPT_ARGUMENT("verbose", OPT_COUNT, verbose, "be verbose; repeat for more"), .sname = 'v',
		.env = "ROCSMITH_VERBOSE"},
	{OPT_VALUE("jobs", OPT_UINT, jobs, "N", "jobs at once (default: one per CPU)"),
		.sname = 'j', .env = "ROCSMITH_JOBS"},
	{OPT_VALUE("color", OPT_ENUM, color, "WHEN", "colour: auto, always or never"),
		.choices = color_choices, .env = "ROCSMITH_COLOR"},
	{OPT_VALUE(
		 "trace", OPT_PATH, trace, "FILE", "log every program that is run, as JSON lines"),
		.env = "ROCSMITH_TRACE"},
	OPT_LAST,
};

struct parse {
	struct arena *a;
	const struct command *c;
	const struct strs *argv;
	size_t at; /* index of the next word */
	char *args;
	const struct opt *pos; /* next positional of the command's table */
	struct strs *given;    /* common.given */
};

bool opt_is_positional(const struct opt *o)
{
	return o->kind == OPT_POS || o->kind == OPT_POSES || o->kind == OPT_REST;
}

const struct opt *opt_next(const struct command *c, const struct opt *o)
{
	const struct opt *end = common_opts + sizeof(common_opts) / sizeof(*common_opts) - 1;
	bool writes = c->needs & NEED_WRITE;
	o = o ? o + 1 : c->opts;
	while (o != end && (o->kind == OPT_END || (o->flags & OPT_WRITERS && !writes)))
		o = o->kind == OPT_END ? common_opts : o + 1;
	return o == end ? NULL : o;
}

const struct opt *opt_find(const struct command *c, struct str name, char letter)
{
	OPT_ALL (o, c)
		if (!opt_is_positional(o) &&
			(letter ? o->sname == letter : str_eq(name, str_from(o->lname))))
			return o;
	return NULL;
}

static struct err *hint_usage(const struct parse *p, struct err *e)
{
	return err_hint(e, "'rocsmith %s -h' lists its options", p->c->name);
}

static struct err *unknown_option(struct parse *p, struct str word)
{
	const struct common *common = (const void *)p->args;
	struct str name = str_sub(word, 0, str_chr(word, '='));
	struct str sub = str_starts(name, S("--")) ? str_sub(name, 2, name.n) : S("");
	struct str command = str_fmt(p->a, "%s %.*s", p->c->name, STR(sub));
	struct strs names = {0};
	OPT_ALL (o, p->c)
		if (!opt_is_positional(o) && !(o->flags & OPT_HIDDEN))
			strs_fmt(p->a, &names, "--%s", o->lname);
	struct err *e = err_new(E_USAGE, "'%s' has no option '%.*s'", p->c->name, STR(word));
	COMMAND_EACH (c, common->commands)
		if (str_eq(command, str_from(c->name)))
			return err_hint(e, "there is a command 'rocsmith %s'", c->name);
	return hint_usage(p, err_near(e, name, &names));
}

/* ---- values ---- */

static struct err *store_choice(
	const struct parse *p, const struct opt *o, struct str value, unsigned *ret)
{
	struct strs names = {0};
	for (unsigned i = 0; o->choices[i]; i++) {
		if (str_eq(value, str_from(o->choices[i]))) {
			*ret = i + (o->flags & OPT_FROM_ONE ? 1 : 0);
			return NULL;
		}
		strs_add(p->a, &names, str_from(o->choices[i]));
	}
	struct err *e = err_new(E_USAGE, "'--%s' does not take '%.*s'; it takes %.*s", o->lname,
		STR(value), STR(str_join(p->a, &names, S(", "))));
	return err_near(e, value, &names);
}

static struct err *no_value(const struct opt *o)
{
	return err_new(E_USAGE, "'--%s' needs a value (%s)", o->lname, o->arg);
}

/* The value of a flag is "" to clear it. */
static struct err *store(const struct parse *p, const struct opt *o, struct str value)
{
	void *at = p->args + o->off;
	if (!value.n && (o->kind == OPT_PATH || o->kind == OPT_LIST)) /* "--output=$UNSET" */
		return no_value(o);
	switch (o->kind) {
	case OPT_BOOL:
		*(bool *)at = value.n > 0;
		return NULL;
	case OPT_COUNT:
		*(unsigned *)at += 1;
		return NULL;
	case OPT_UINT: {
		uint64_t n;
		if (!str_u64(value, 10, &n) || n > 1000000000)
			return err_new(E_USAGE, "'--%s' takes a whole number, not '%.*s'", o->lname,
				STR(value));
		*(unsigned *)at = (unsigned)n;
		return NULL;
	}
	case OPT_ENUM:
		return store_choice(p, o, value, at);
	case OPT_LIST:
	case OPT_POSES:
	case OPT_REST:
		strs_add(p->a, at, value);
		return NULL;
	case OPT_WORDS: { /* without a word it is a mistake: "--require $UNSET" */
		struct strs words = str_split(p->a, value, ',');
		strs_add_all(p->a, at, &words);
		return words.n ? NULL : no_value(o);
	}
	default:
		*(struct str *)at = value;
		return NULL;
	}
}

static bool takes_value(const struct opt *o)
{
	return o->kind != OPT_BOOL && o->kind != OPT_COUNT;
}

/* ---- words ---- */

static struct err *take_value(
	struct parse *p, const struct opt *o, struct str inline_value, bool has_inline)
{
	if (has_inline)
		return store(p, o, inline_value);
	if (p->at == p->argv->n)
		return hint_usage(p, no_value(o));
	return store(p, o, p->argv->v[p->at++]);
}

static struct err *long_option(struct parse *p, struct str word)
{
	struct str name, value;
	bool has_value = str_cut(str_sub(word, 2, word.n), '=', &name, &value);
	const struct opt *o = opt_find(p->c, name, 0);
	bool on = o || !str_starts(name, S("no-"));
	if (!on)
		o = opt_find(p->c, str_sub(name, 3, name.n), 0);
	if (!o || (!on && o->kind != OPT_BOOL))
		return unknown_option(p, word);
	strs_add(p->a, p->given, str_from(o->lname));
	if (takes_value(o))
		return take_value(p, o, value, has_value);
	if (has_value)
		return hint_usage(p, err_new(E_USAGE, "'--%s' takes no value", o->lname));
	return store(p, o, on ? S("1") : S(""));
}

static struct err *short_options(struct parse *p, struct str word)
{
	for (size_t i = 1; i < word.n; i++) {
		const struct opt *o = opt_find(p->c, S(""), word.p[i]);
		if (!o)
			return unknown_option(p, word);
		strs_add(p->a, p->given, str_from(o->lname));
		if (takes_value(o))
			return take_value(p, o, str_sub(word, i + 1, word.n), i + 1 < word.n);
		TRY(store(p, o, S("1")));
	}
	return NULL;
}

static const struct opt *next_positional(const struct opt *table)
{
	OPT_EACH (o, table)
		if (opt_is_positional(o))
			return o;
	return NULL;
}

/* Sets options that are not on the command line from the environment. */
static struct err *from_environment(const struct parse *p)
{
	OPT_ALL (o, p->c) {
		if (!o->env || strs_has(p->given, str_from(o->lname)))
			continue;
		struct str value = str_from(getenv(o->env));
		if (value.n && (takes_value(o) || !str_eq(value, S("0"))))
			TRY_CTX(store(p, o, value), "wrong value of '%s' in the environment",
				o->env);
	}
	return NULL;
}

size_t opt_size(const struct opt *table)
{
	while (table->kind != OPT_END)
		table++;
	return table->off;
}

struct err *opt_parse(struct arena *a, const struct command *c, const struct strs *argv, void *args)
{
	struct common *common = args;
	struct parse p = {.a = a,
		.c = c,
		.argv = argv,
		.args = args,
		.given = &common->given,
		.pos = next_positional(c->opts)};
	bool literal = false; /* after "--", or within the arguments of another program */
	while (p.at < argv->n) {
		struct str word = argv->v[p.at++];
		if (p.pos && p.pos->kind == OPT_REST)
			literal = literal || ((struct strs *)(p.args + p.pos->off))->n;
		if (!literal && str_eq(word, S("--"))) {
			literal = true;
		} else if (!literal && word.n > 1 && word.p[0] == '-') {
			TRY(word.p[1] == '-' ? long_option(&p, word) : short_options(&p, word));
		} else {
			if (!p.pos)
				return hint_usage(&p,
					err_new(E_USAGE, "'%s' takes no further argument '%.*s'",
						c->name, STR(word)));
			TRY(store(&p, p.pos, word));
			if (p.pos->kind == OPT_POS)
				p.pos = next_positional(p.pos + 1);
		}
	}
	TRY(from_environment(&p));
	OPT_EACH (o, c->opts) {
		if (!(o->flags & OPT_REQUIRED) || common->help)
			continue;
		const char *at = p.args + o->off;
		bool list = o->kind == OPT_LIST || o->kind == OPT_WORDS || o->kind == OPT_POSES ||
			    o->kind == OPT_REST;
		bool given = list ? ((const struct strs *)at)->n > 0
				  : ((const struct str *)at)->p != NULL;
		const char *text = opt_is_positional(o) ? "'%s' needs %s" : "'%s' needs --%s";
		if (!given)
			return hint_usage(&p, err_new(E_USAGE, text, c->name, o->lname));
	}
	return NULL;
}

/* ---- finding the command ---- */

/* The number of words in the command's name if argv starts with that name, else 0. */
static size_t name_matches(const struct command *c, const struct strs *argv)
{
	struct str rest = str_from(c->name), word;
	size_t n = 0;
	while (str_next(&rest, ' ', &word)) {
		if (n == argv->n || !str_eq(argv->v[n], word))
			return 0;
		n++;
	}
	return n;
}

struct err *command_find(const struct command *all, const struct strs *argv,
	const struct command **ret, size_t *ret_words)
{
	ARENA(a);
	/* subs: the subcommands of the group argv[0]; homes: the commands that end in the unknown word */
	struct strs firsts = {0}, subs = {0}, homes = {0};
	*ret_words = 0;
	COMMAND_EACH (c, all) {
		size_t n = name_matches(c, argv);
		if (n <= *ret_words) /* the longest name wins: "hipify status", not "hipify" */
			continue;
		*ret = c;
		*ret_words = n;
	}
	if (*ret_words)
		return NULL;
	COMMAND_EACH (c, all) {
		struct str first, second;
		if (str_cut(str_from(c->name), ' ', &first, &second) && str_eq(first, argv->v[0]))
			strs_add(&a, &subs, second);
		strs_add(&a, &firsts, first);
	}
	if (subs.n && argv->n < 2)
		return err_hint(err_new(E_USAGE, "'%.*s' needs a subcommand", STR(argv->v[0])),
			"it has %.*s", STR(str_join(&a, &subs, S(", "))));
	struct str word = argv->v[subs.n ? 1 : 0];
	COMMAND_EACH (c, all) {
		struct str name = str_from(c->name), first, second;
		bool whole = str_eq(name, word);
		if (whole)
			homes.n = 0;
		if (whole || (str_cut(name, ' ', &first, &second) && str_eq(second, word)))
			strs_fmt(&a, &homes, "'rocsmith %s'", c->name);
		if (whole)
			break;
	}
	struct err *e =
		err_new(E_USAGE, "unknown %s '%.*s'", subs.n ? "subcommand" : "command", STR(word));
	if (homes.n)
		return err_hint(e, "did you mean %.*s?", STR(str_join(&a, &homes, S(" or "))));
	err_near(e, word, subs.n ? &subs : &firsts);
	if (subs.n)
		return err_hint(e, "'rocsmith %.*s -h' lists its commands", STR(argv->v[0]));
	if (str_starts(word, S("-")) && argv->n > 1)
		err_hint(e, "options stand behind the command: rocsmith COMMAND %.*s", STR(word));
	return err_hint(e, "'rocsmith -h' lists the commands");
}

struct err *opt_targets(
	struct arena *a, struct str root, struct strs *io_words, struct targets *ret)
{
	*ret = (struct targets){0};
	TRY(machine_native(a, root, io_words));
	if (io_words->n)
		TRY(targets_parse(a, io_words, ret));
	*io_words = (struct strs){0};
	VEC_EACH (const struct target, t, ret)
		strs_add(a, io_words, target_text(a, t));
	return NULL;
}

bool show_json(const struct common *c, const struct json_field *fields, const void *result)
{
	ARENA(a);
	if (c->json)
		out_text(json_document(&a, 2, fields, result));
	return c->json;
}

bool show_made(const struct common *c, const struct json_field *fields, const void *result)
{
	return show_json(c, fields, result) || (c->quiet && !c->dry_run);
}
