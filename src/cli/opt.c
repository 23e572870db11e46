/* Parsing argv by a command's option table; see opt.h. */
#include "cli/help.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/vec.h"

static const char *const color_choices[] = {"auto", "always", "never", NULL};

#define COMMON(member) offsetof(struct common, member)
/* clang-format off */
const struct opt common_opts[] = {
	{.lname = "help", .sname = 'h', .kind = OPT_BOOL, .off = COMMON(help), .help = "show this help"},
	{.lname = "json", .kind = OPT_BOOL, .off = COMMON(json), .help = "print the result as one JSON object"},
	{.lname = "dry-run", .sname = 'n', .kind = OPT_BOOL, .off = COMMON(dry_run), .help = "show what would be done, change nothing"},
	{.lname = "quiet", .sname = 'q', .kind = OPT_BOOL, .off = COMMON(quiet), .help = "say errors and warnings only"},
	{.lname = "verbose", .sname = 'v', .kind = OPT_COUNT, .off = COMMON(verbose), .help = "say more; twice for all"},
	{.lname = "jobs", .sname = 'j', .kind = OPT_UINT, .off = COMMON(jobs), .arg = "N", .help = "jobs at once (default: one per CPU)"},
	{.lname = "color", .kind = OPT_ENUM, .off = COMMON(color), .arg = "WHEN", .choices = color_choices, .help = "colour: auto, always or never"},
	{.lname = "trace", .kind = OPT_PATH, .off = COMMON(trace), .arg = "FILE", .help = "write what is done, one JSON object a line"},
	{.kind = OPT_END},
};
/* clang-format on */

struct parse {
	struct arena *a;
	const struct command *c;
	const struct strs *argv;
	size_t at; /* next word */
	char *args;
	const struct opt *pos; /* next positional, in the command's table */
	VEC(const struct opt *) seen;
};

bool opt_applies(const struct command *c, const struct opt *o)
{
	bool common = o >= common_opts && o->kind != OPT_END && o->off < sizeof(struct common);
	return !common || strcmp(o->lname, "dry-run") || (c->needs & NEED_WRITE);
}

static bool is_positional(const struct opt *o)
{
	return o->kind == OPT_POS || o->kind == OPT_POSES || o->kind == OPT_REST;
}

static const struct opt *find_in(const struct opt *table, struct str name, char letter)
{
	for (const struct opt *o = table; o && o->kind != OPT_END; o++) {
		if (is_positional(o))
			continue;
		if (letter ? o->sname == letter : str_eq(name, str_from(o->lname)))
			return o;
	}
	return NULL;
}

static const struct opt *find(const struct command *c, struct str name, char letter)
{
	const struct opt *o = find_in(c->opts, name, letter);
	if (!o)
		o = find_in(common_opts, name, letter);
	return o && opt_applies(c, o) ? o : NULL;
}

static struct err *usage(const struct parse *p, struct err *e)
{
	return err_hint(e, "'rocsmith %s -h' lists what it takes", p->c->name);
}

static void collect_names(
	struct arena *a, const struct command *c, const struct opt *table, struct strs *ret)
{
	for (const struct opt *o = table; o && o->kind != OPT_END; o++)
		if (!is_positional(o) && !(o->flags & OPT_HIDDEN) && opt_applies(c, o))
			strs_add(a, ret, str_fmt(a, "--%s", o->lname));
}

static struct err *unknown_option(struct parse *p, struct str word)
{
	struct strs names = {0};
	collect_names(p->a, p->c, p->c->opts, &names);
	collect_names(p->a, p->c, common_opts, &names);
	struct str near = suggest(str_sub(word, 0, str_chr(word, '=')), &names);
	struct err *e = err_new(E_USAGE, "'%s' has no option '%.*s'", p->c->name, STR(word));
	if (near.n)
		err_hint(e, "did you mean '%.*s'?", STR(near));
	return usage(p, e);
}

static struct err *choice(
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
	struct str near = suggest(value, &names), all = str_join(p->a, &names, S(", "));
	struct err *e = err_new(E_USAGE, "'--%s' does not take '%.*s'; it takes %.*s", o->lname,
		STR(value), STR(all));
	return near.n ? err_hint(e, "did you mean '%.*s'?", STR(near)) : e;
}

static struct err *number(const struct opt *o, struct str value, unsigned *ret)
{
	uint64_t n;
	if (!str_u64(value, 10, &n) || n > 1000000000)
		return err_new(
			E_USAGE, "'--%s' takes a whole number, not '%.*s'", o->lname, STR(value));
	*ret = (unsigned)n;
	return NULL;
}

/* A list without a word in it is a mistake ("--require $UNSET"), not no wish. */
static struct err *add_words(
	const struct parse *p, const struct opt *o, struct strs *list, struct str value)
{
	size_t before = list->n;
	if (!(o->flags & OPT_COMMA)) {
		strs_add(p->a, list, value);
		return NULL;
	}
	struct strs words = str_split(p->a, value, ',');
	for (size_t i = 0; i < words.n; i++)
		if (words.v[i].n)
			strs_add(p->a, list, words.v[i]);
	return list->n > before ? NULL
				: err_new(E_USAGE, "'--%s' needs a value (%s)", o->lname, o->arg);
}

static struct err *store(const struct parse *p, const struct opt *o, struct str value)
{
	void *at = p->args + o->off;
	switch (o->kind) {
	case OPT_UINT:
		return number(o, value, at);
	case OPT_ENUM:
		return choice(p, o, value, at);
	case OPT_LIST:
	case OPT_POSES:
	case OPT_REST:
		return add_words(p, o, at, value);
	default:
		*(struct str *)at = value;
		return NULL;
	}
}

/* A flag without a value: true, or one more for a counter. */
static void store_flag(const struct parse *p, const struct opt *o, bool on)
{
	void *at = p->args + o->off;
	if (o->kind == OPT_COUNT)
		*(unsigned *)at += 1;
	else
		*(bool *)at = on;
}

static bool takes_value(const struct opt *o)
{
	return o->kind != OPT_BOOL && o->kind != OPT_COUNT;
}

static struct err *value_of(
	struct parse *p, const struct opt *o, struct str inline_value, bool has_inline)
{
	if (has_inline)
		return store(p, o, inline_value);
	if (p->at == p->argv->n)
		return usage(p, err_new(E_USAGE, "'--%s' needs a value (%s)", o->lname, o->arg));
	return store(p, o, p->argv->v[p->at++]);
}

static struct err *long_option(struct parse *p, struct str word)
{
	struct str name, value;
	bool has_value = str_cut(str_sub(word, 2, word.n), '=', &name, &value);
	const struct opt *o = find(p->c, name, 0);
	bool on = true;
	if (!o && str_starts(name, S("no-"))) {
		o = find(p->c, str_sub(name, 3, name.n), 0);
		on = false;
		if (o && o->kind != OPT_BOOL)
			o = NULL;
	}
	if (!o)
		return unknown_option(p, word);
	*VEC_PUSH(p->a, &p->seen) = o;
	if (takes_value(o))
		return value_of(p, o, value, has_value);
	if (has_value)
		return usage(p, err_new(E_USAGE, "'--%s' takes no value", o->lname));
	store_flag(p, o, on);
	return NULL;
}

static struct err *short_options(struct parse *p, struct str word)
{
	for (size_t i = 1; i < word.n; i++) {
		const struct opt *o = find(p->c, S(""), word.p[i]);
		if (!o)
			return unknown_option(p, word);
		*VEC_PUSH(p->a, &p->seen) = o;
		if (takes_value(o))
			return value_of(p, o, str_sub(word, i + 1, word.n), i + 1 < word.n);
		store_flag(p, o, true);
	}
	return NULL;
}

static const struct opt *next_positional(const struct opt *o)
{
	while (o && o->kind != OPT_END && !is_positional(o))
		o++;
	return o && o->kind != OPT_END ? o : NULL;
}

static struct err *positional(struct parse *p, struct str word)
{
	if (!p->pos)
		return usage(p, err_new(E_USAGE, "'%s' takes no further argument '%.*s'",
					p->c->name, STR(word)));
	TRY(store(p, p->pos, word));
	if (p->pos->kind == OPT_POS)
		p->pos = next_positional(p->pos + 1);
	return NULL;
}

static struct err *missing(const struct parse *p)
{
	for (const struct opt *o = p->c->opts; o && o->kind != OPT_END; o++) {
		if (!(o->flags & OPT_REQUIRED))
			continue;
		const char *at = p->args + o->off;
		bool list = o->kind == OPT_LIST || o->kind == OPT_POSES || o->kind == OPT_REST;
		bool given = list ? ((const struct strs *)at)->n > 0
				  : ((const struct str *)at)->p != NULL;
		if (!given)
			return usage(
				p, err_new(E_USAGE,
					   is_positional(o) ? "'%s' needs %s" : "'%s' needs --%s",
					   p->c->name, o->lname));
	}
	return NULL;
}

static struct err *word_of(struct parse *p, bool *literal)
{
	struct str word = p->argv->v[p->at++];
	bool rest_has_begun =
		p->pos && p->pos->kind == OPT_REST && ((struct strs *)(p->args + p->pos->off))->n;
	if (*literal || rest_has_begun || word.n < 2 || word.p[0] != '-')
		return positional(p, word);
	if (str_eq(word, S("--"))) {
		*literal = true;
		return NULL;
	}
	return word.p[1] == '-' ? long_option(p, word) : short_options(p, word);
}

static bool was_seen(const struct parse *p, const struct opt *o)
{
	for (size_t i = 0; i < p->seen.n; i++)
		if (p->seen.v[i] == o)
			return true;
	return false;
}

/* ROCSMITH_DRY_RUN for the option dry-run. */
static const char *env_name(struct arena *a, const struct opt *o)
{
	char *name = str_z(a, str_fmt(a, "ROCSMITH_%s", o->lname));
	for (char *c = name; *c; c++) {
		if (*c == '-')
			*c = '_';
		else if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	}
	return name;
}

/* Options that the command line leaves open may come from the environment. */
static struct err *from_environment(const struct parse *p, const struct opt *table)
{
	for (const struct opt *o = table; o && o->kind != OPT_END; o++) {
		if (is_positional(o) || !opt_applies(p->c, o) || was_seen(p, o))
			continue;
		const char *name = env_name(p->a, o);
		struct str value = str_from(getenv(name));
		if (!value.n || !strcmp(o->lname, "help"))
			continue;
		if (takes_value(o))
			TRY_CTX(store(p, o, value), "wrong value of '%s' in the environment", name);
		else if (!str_eq(value, S("0")))
			store_flag(p, o, true);
	}
	return NULL;
}

struct err *opt_parse(struct arena *a, const struct command *c, const struct strs *argv, void *args)
{
	struct parse p = {
		.a = a, .c = c, .argv = argv, .args = args, .pos = next_positional(c->opts)};
	bool literal = false;
	while (p.at < argv->n)
		TRY(word_of(&p, &literal));
	TRY(from_environment(&p, c->opts));
	TRY(from_environment(&p, common_opts));
	return ((struct common *)args)->help ? NULL : missing(&p);
}

/* Words of the command's name that argv starts with, or 0. */
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

struct err *command_find(const struct strs *argv, const struct command **ret, size_t *ret_words)
{
	ARENA(a);
	struct strs names = {0};
	bool group = false;
	for (const struct command *const *c = commands; *c; c++) {
		size_t n = name_matches(*c, argv);
		if (n) {
			*ret = *c;
			*ret_words = n;
			return NULL;
		}
		struct str first, second;
		bool two = str_cut(str_from((*c)->name), ' ', &first, &second);
		if (two && str_eq(first, argv->v[0])) {
			if (!group)
				names = (struct strs){0};
			group = true;
			strs_add(&a, &names, second);
		} else if (!group) {
			strs_add(&a, &names, first);
		}
	}
	if (group && argv->n < 2)
		return err_hint(err_new(E_USAGE, "'%.*s' needs a subcommand", STR(argv->v[0])),
			"it has %.*s", STR(str_join(&a, &names, S(", "))));
	struct str word = argv->v[group ? 1 : 0], near = suggest(word, &names);
	struct err *e =
		err_new(E_USAGE, "unknown %s '%.*s'", group ? "subcommand" : "command", STR(word));
	if (near.n)
		err_hint(e, "did you mean '%.*s'?", STR(near));
	return err_hint(e, "'rocsmith -h' lists the commands");
}
