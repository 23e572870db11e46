/* What messages of other programs mean: the rules of data/messages.yaml, compiled in.
 *
 * A rule is a text to look for in one line, so that a log can be read line by line
 * (know_rule_fits()); know_match() is for texts that are at hand as a whole.
 */
#pragma once

#include "base/err.h"

struct know_rule { /* data/messages.yaml tells what each column means */
	const char *tool, *text, *about, *hint;
	enum errcode code;
};
extern const struct know_rule know_rule_table[];
extern const size_t know_rule_count;

/* Is the line a message of this rule? ret_part is what its '*' stands for, "" without one. */
bool know_rule_fits(const struct know_rule *rule, struct str line, struct str *ret_part);
/* The first rule of the tool's, in the order of the data, that a line of the text fits; or NULL. */
const struct know_rule *know_match(const char *tool, struct str text, struct str *ret_part);
/* The rule's hint with the part in its place. */
struct str know_hint(struct arena *a, const struct know_rule *rule, struct str part);
