/* Compares texts with expressions; see match.h. */
#include "know/match.h"

#include "know/diagnosis.h"
#include "know/know.h"

bool expression_fits(
	struct arena *a, struct expression *x, const char *text, struct str s, struct span ret[2])
{
	if (!x->text) {
		ARENA(tmp);
		struct str whole = str_from(text);
		TABLE_EACH (diagnosis_word, word)
			whole = str_replace(&tmp, whole, str_fmt(&tmp, "{%s}", word->name),
				str_from(word->text));
		x->m = automaton_new(a, whole);
		x->text = text;
	}
	return x->m && automaton_fits(x->m, s, ret);
}

/* ---- data/messages.yaml ---- */

const struct know_rule *know_match(const char *tool, struct str text, struct str *ret_part)
{
	TABLE_EACH (know_rule, rule) {
		ARENA(tmp);
		struct expression x = {0};
		struct str rest = text, line;
		struct span at[2];
		if (strcmp(rule->tool, tool) != 0)
			continue;
		while (str_next(&rest, '\n', &line))
			if (expression_fits(&tmp, &x, rule->text, line, at)) {
				*ret_part = str_sub(line, at[1].from, at[1].to);
				return rule;
			}
	}
	return NULL;
}

struct str know_hint(struct arena *a, const struct know_rule *rule, struct str part)
{
	return str_replace(a, str_from(rule->hint), S("*"), part);
}
