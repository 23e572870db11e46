/* The rows of data/rules.yaml against the machines of tests/machines and their variants: each speaks of exactly those
 * that it names, has one that it speaks of and one that it does not, asks for facts that exist, and says where it
 * has its knowledge from. */
#include "base/fs.h"
#include "know/diagnosis.h"
#include "know/rule.h"
#include "test.h"

#define MACHINES "tests/machines"

struct row { /* of data/rules.yaml, in the order of rule_table() */
	struct str id;
	struct strs fires, fired;
};

static struct {
	VEC(struct row) v;
} rows;

static void add_row(struct arena *a, struct str id, const struct node *row)
{
	struct row *new = VEC_PUSH(a, &rows.v);
	new->id = id;
	NODE_EACH (name, node_get(row, S("_fires")))
		strs_add(a, &new->fires, name->text);
}

static void read_rows(struct arena *a)
{
	const struct node *root;
	assert_ok(yaml_read(a, S("data/rules.yaml"), &root));
	NODE_EACH (rule, node_get(root, S("rule"))) {
		struct str id = node_text(rule, S("id"), S(""));
		const struct node *cases = node_get(rule, S("cases"));
		for (size_t i = 0; cases && i < cases->n; i++)
			add_row(a, id, &cases->v[i]);
		if (!cases)
			add_row(a, id, rule);
	}
	assert_int_equal(rows.v.n, rule_count);
}

/* ---- variants: the facts of a machine with some replaced ---- */

static struct node *member(struct arena *a, struct node *n, struct str part)
{
	uint64_t at;
	if (n->kind == NODE_LIST && str_u64(part, 10, &at) && at < n->n)
		return &n->v[at];
	for (size_t i = 0; n->kind == NODE_MAP && i < n->n; i++)
		if (str_eq(n->v[i].key, part))
			return &n->v[i];
	if (n->kind != NODE_LIST && n->kind != NODE_MAP)
		fail_msg("variants.yaml: nothing is called '%.*s' there", STR(part));
	struct node *grown = arena_alloc(a, (n->n + 1) * sizeof(*grown));
	for (size_t i = 0; i < n->n; i++)
		grown[i] = n->v[i];
	grown[n->n] = (struct node){.key = n->kind == NODE_MAP ? part : S("")};
	n->v = grown;
	return &grown[n->n++];
}

/* A copy whose members can be replaced. */
static struct node copied(struct arena *a, const struct node *n)
{
	struct node copy = *n;
	copy.v = arena_alloc(a, (n->n + 1) * sizeof(*copy.v));
	for (size_t i = 0; i < n->n; i++)
		copy.v[i] = copied(a, &n->v[i]);
	return copy;
}

static void replace(struct arena *a, struct node *facts, const struct node *by)
{
	struct str path = by->key, part, key;
	struct node *at = facts;
	while (str_next(&path, '.', &part))
		at = member(a, at, part);
	key = at->key;
	*at = copied(a, by);
	at->key = key;
}

static struct node *facts_of_machine(
	struct arena *a, const struct node *variants, struct str name, unsigned depth)
{
	const struct node *read;
	assert_true(depth < 12);
	NODE_EACH (v, variants) {
		if (!str_eq(node_text(v, S("name"), S("")), name))
			continue;
		struct node *facts =
			facts_of_machine(a, variants, node_text(v, S("like"), S("")), depth + 1);
		NODE_EACH (by, node_get(v, S("facts")))
			replace(a, facts, by);
		return facts;
	}
	assert_ok(json_read(a, str_fmt(a, MACHINES "/%.*s.json", STR(name)), &read));
	struct node *facts = NEW(a, struct node);
	*facts = *node_get(read, S("facts"));
	return facts;
}

static void machines(struct arena *a, const struct node **ret_variants, struct strs *ret)
{
	struct strs files;
	const struct node *root;
	assert_ok(yaml_read(a, S(MACHINES "/variants.yaml"), &root));
	*ret_variants = node_get(root, S("variants"));
	assert_ok(fs_list(a, S(MACHINES), &files));
	for (size_t i = 0; i < files.n; i++)
		if (str_ends(files.v[i], S(".json")))
			strs_add(a, ret, str_sub(files.v[i], 0, files.v[i].n - 5));
	NODE_EACH (v, *ret_variants)
		strs_add(a, ret, node_text(v, S("name"), S("")));
	assert_true(ret->n >= 60);
}

static void every_rule_speaks_of_exactly_the_machines_that_it_names(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *variants;
	struct strs names = {0};
	unsigned bad = 0;
	machines(&a, &variants, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct findings found = {0};
		assert_ok(rules_judge_facts(
			&a, facts_of_machine(&a, variants, names.v[i], 0), &found));
		VEC_EACH (struct finding, f, &found) {
			struct row *row = &rows.v.v[f->rule - rule_table()];
			strs_put(&a, &row->fired, names.v[i]);
			if (strs_has(&row->fires, names.v[i]))
				continue;
			print_error("row %zu, %s, fires on '%.*s': %.*s\n",
				(size_t)(f->rule - rule_table()), f->id, STR(names.v[i]),
				STR(f->message));
			bad++;
		}
	}
	VEC_EACH (struct row, row, &rows.v) {
		for (size_t i = 0; i < row->fires.n; i++)
			if (!strs_has(&row->fired, row->fires.v[i])) {
				print_error("%.*s does not fire on '%.*s'\n", STR(row->id),
					STR(row->fires.v[i]));
				bad++;
			}
		if (!row->fired.n || row->fired.n == names.n) {
			print_error("row %zu, %.*s, fires on %zu of %zu machines\n",
				(size_t)(row - rows.v.v), STR(row->id), row->fired.n, names.n);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
}

/* ---- what the texts ask for ---- */

/* A machine that has one of everything. */
static const struct node *all_facts(struct arena *a)
{
	struct machine m = {.has_identity = true};
	const struct node *facts;
	struct machine_part part = {.name = S("x")};
	struct machine_gpu gpu = {.target = S("gfx1100"), .firmware = {&part, 1, 1}};
	struct machine_sdk sdk = {.components = {&part, 1, 1}};
	struct machine_package package = {.name = S("torch")};
	struct machine_python python = {.has_torch = true};
	*VEC_PUSH(a, &python.packages) = package;
	*VEC_PUSH(a, &python.extensions) = (struct machine_extension){0};
	*VEC_PUSH(a, &m.driver.unknown) = (struct machine_unknown){0};
	*VEC_PUSH(a, &m.gpus) = gpu;
	*VEC_PUSH(a, &m.displays) = (struct machine_display){0};
	*VEC_PUSH(a, &m.nodes) = (struct machine_node){0};
	*VEC_PUSH(a, &m.sdks) = sdk;
	*VEC_PUSH(a, &m.disks) = (struct machine_disk){0};
	*VEC_PUSH(a, &m.variables) = (struct machine_variable){0};
	*VEC_PUSH(a, &m.pythons) = python;
	assert_ok(facts_of(a, &m, &facts));
	return facts;
}

struct asking {
	struct arena *a;
	const char *id;
	const struct scope *scope;
	unsigned bad;
};

/* The scope in which `name` is the first item of the list. */
static const struct scope *scope_in(
	struct arena *a, const struct scope *up, struct str name, struct str list)
{
	const struct node *n = facts_find(up, list);
	struct scope *s = NEW(a, struct scope);
	*s = (struct scope){.name = name, .value = n && n->n ? n->v : n, .up = up};
	return s;
}

/* Looks for each word of the condition that is not one of the language's among the facts, and for the words after
 * "any x in list" also in the first item of the list. */
static void ask_condition(struct asking *q, struct str text)
{
	static const char *const language[] = {"not", "and", "or", "in", "served", "borrows", NULL};
	const struct scope *s = q->scope;
	struct str name = S("");
	enum truth t;
	bool names = false;
	assert_ok(predicate_ask(q->a, s, text, NULL, &t));
	for (size_t n = 0; text.n; text = str_sub(text, n ? n : 1, text.n)) {
		if (text.p[0] == '\'')
			text = str_sub(text, 2 + str_chr(str_sub(text, 1, text.n), '\''), text.n);
		for (n = 0; n < text.n && (ascii_alnum(text.p[n]) || strchr("_.", text.p[n])); n++)
			;
		struct str word = str_sub(text, 0, n);
		if (!n || ascii_digit(word.p[0]) || str_is_one_of(word, language))
			continue;
		if (names || str_eq(word, S("any")) || str_eq(word, S("all"))) {
			name = names ? word : S("");
			names = !names;
			continue;
		}
		if (!facts_find(s, word)) {
			print_error("%s asks for '%.*s', which is no fact\n", q->id, STR(word));
			q->bad++;
		}
		if (name.n)
			s = scope_in(q->a, s, name, word);
		name = S("");
	}
}

/* "{g.vram size}", "{g.index for g in gpus: not g.apu}" */
static void ask_text(struct asking *q, const char *of)
{
	struct str text = str_from(of), word, what, rest;
	while (str_chr(text, '{') < text.n) {
		text = str_sub(text, str_chr(text, '{') + 1, text.n);
		word = str_sub(text, 0, str_chr(text, '}'));
		size_t each = str_find(word, S(" for "));
		if (each < word.n) {
			ask_condition(
				q, str_fmt(q->a, "all %.*s", STR(str_sub(word, each + 5, word.n))));
			continue;
		}
		if (str_chr(word, ' ') < word.n)
			str_cut(word, ' ', &what, &rest);
		else
			what = word;
		ask_condition(q, what);
	}
}

static const struct scope *scope_of(struct arena *a, const struct scope *top, const struct rule *r)
{
	const struct scope *s = top;
	for (const char *const *each = r->each; each && *each; each++) {
		struct str name, list;
		str_cut(str_from(*each), ' ', &name, &list);
		str_cut(list, ' ', &(struct str){0}, &list);
		s = scope_in(a, s, name, list);
	}
	return s;
}

static void conditions_and_texts_ask_for_facts_that_exist(void **state)
{
	(void)state;
	ARENA(a);
	static const struct node some = {.kind = NODE_STRING};
	const struct scope top = {.value = all_facts(&a)},
			   more = {.name = S("more"), .value = &some, .up = &top};
	struct asking q = {.a = &a};
	for (const struct rule *r = rule_table(); r < rule_table() + rule_count; r++) {
		q.id = r->id;
		q.scope = scope_of(&a, &more, r);
		ask_condition(&q, str_from(r->when));
		const char *texts[] = {r->path, r->message, r->group};
		for (size_t i = 0; i < 3; i++)
			ask_text(&q, texts[i]);
		for (const struct rule_fix *f = r->fix; f && f->action; f++) {
			const char *of[] = {f->action, f->command, f->tradeoff, f->set, f->unset};
			if (f->when)
				ask_condition(&q, str_from(f->when));
			for (size_t i = 0; i < 5; i++)
				ask_text(&q, of[i]);
		}
	}
	for (const struct diagnosis *d = diagnosis_table(); d < diagnosis_table() + diagnosis_count;
		d++) {
		q.id = d->id;
		q.scope = &top;
		if (d->when)
			ask_condition(&q, str_from(d->when));
	}
	assert_int_equal(q.bad, 0);
}

/* Paths and versions are those of a stranger's files; commands are pasted. */
static void commands_quote_what_others_name(void **state)
{
	(void)state;
	static const char *const ours[] = {"{v.name}", "{g.node}", "{g.target}", NULL};
	for (const struct rule *r = rule_table(); r < rule_table() + rule_count; r++)
		for (const struct rule_fix *f = r->fix; f && f->action; f++)
			for (struct str text = str_from(f->command); str_chr(text, '{') < text.n;) {
				text = str_sub(text, str_chr(text, '{'), text.n);
				struct str word = str_sub(text, 0, str_chr(text, '}') + 1);
				text = str_sub(text, word.n, text.n);
				if (!str_is_one_of(word, ours) && !str_ends(word, S(" shell}")) &&
					!str_ends(word, S(" override}")) &&
					!str_ends(word, S(" local}")) &&
					!str_contains(word, S(" for ")))
					fail_msg("%s: '%.*s' in a command", r->id, STR(word));
			}
}

static void every_rule_has_evidence_and_a_remedy_or_says_that_there_is_none(void **state)
{
	(void)state;
	for (const struct rule *r = rule_table(); r < rule_table() + rule_count; r++) {
		const char *sure = r->confidence;
		bool known = !strcmp(sure, "maintainer") || !strcmp(sure, "source") ||
			     !strcmp(sure, "users");
		bool remedy = r->fix || strstr(r->why, "remedy");
		if (!known || !*r->evidence || !*r->why || !remedy)
			fail_msg("%s: evidence, confidence, why, or remedy", r->id);
	}
}

static int read_all(void **state)
{
	static struct arena a;
	(void)state;
	read_rows(&a);
	*state = &a;
	return 0;
}

static int free_all(void **state)
{
	arena_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule_speaks_of_exactly_the_machines_that_it_names),
		cmocka_unit_test(conditions_and_texts_ask_for_facts_that_exist),
		cmocka_unit_test(commands_quote_what_others_name),
		cmocka_unit_test(every_rule_has_evidence_and_a_remedy_or_says_that_there_is_none),
	};
	return cmocka_run_group_tests(tests, read_all, free_all);
}
