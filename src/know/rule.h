/* The rules of `doctor`, which draw conclusions from the facts of a machine: data/rules.yaml, compiled in. The head of
 * that file is the manual of its rows; conditions and texts are those of know/predicate.h.
 */
#pragma once

#include "know/predicate.h"

struct rule_fix {
	const char *action, *command, *tradeoff; /* texts with facts; the last two may be NULL */
	const char *when;                        /* NULL: always */
	const char *set, *unset; /* "NAME=VALUE", NAME: changes by `doctor --fix`; or NULL */
};

struct rule {
	const char *id;
	enum severity severity;
	const char *const *each; /* nested loops such as "gpu in gpus"; NULL: evaluated once */
	const char *when;
	const char *const *unless; /* ids of earlier findings that silence this rule; or NULL */
	const char *path, *message, *group; /* texts with facts; group may be NULL */
	const char *title;
	const char *why; /* the explanation */
	const char *const *evidence;
	const char *confidence;     /* maintainer, source or users */
	const struct rule_fix *fix; /* ends with action NULL; or NULL: no fix is known */
};
TABLE(rule);
/* Fills in what a row of the data leaves out of title, why, evidence and confidence: those of the diagnosis with its id.
 * Without one, the title is the meaning of the id in data/findings.def, and the others are empty. */
void rule_complete(struct rule *r);

/* The first rule with this id, or NULL. */
const struct rule *rule_find(struct str id);
/* The ids of all rules, each once. can_fix: only of rules for which `doctor --fix` can do something. */
struct strs rule_ids(struct arena *a, bool can_fix);

struct rule_action {           /* a change that `doctor --fix` can make */
	struct str set, unset; /* with facts inserted; one of them is "" */
	struct str cost;       /* its trade-off, or "" */
};

/* Adds the findings of the rules on the facts (facts_of()) to ret, in the order of the table. Fails with E_SYNTAX if a
 * condition is malformed. */
MUST_USE struct err *rules_judge_facts(
	struct arena *a, const struct node *facts, struct findings *ret);
/* Like machine_read_all(), with the findings of the rules added to its own, the worst first. */
MUST_USE struct err *machine_examine(struct arena *a, struct str root, struct machine *ret);
/* Replaces the word "native" of --gpu by the targets of the GPUs of the machine at root, each once. If there is no GPU,
 * fails with E_NO_GPU, whose cause is the first finding of severity error. */
MUST_USE struct err *machine_native(struct arena *a, struct str root, struct strs *words);
/* The document of `doctor --json`: schema, facts, findings with "why", "evidence" and "confidence". */
extern const struct json_field machine_report_fields[];
extern const struct json_field rule_fields[]; /* a rule in `explain --json` */

/* The changes that `doctor --fix` can make for findings with this id, one set for each place where the rule holds. */
struct rule_actions VEC_OF(struct rule_action);
MUST_USE struct err *rules_actions(
	struct arena *a, const struct node *facts, struct str id, struct rule_actions *ret);
