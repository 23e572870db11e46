/* Looking for the rules of data/messages.yaml; see match.h. */
#include "know/know.h"

bool know_rule_fits(const struct know_rule *rule, struct str line, struct str *ret_part)
{
	struct str text = str_from(rule->text), before, after;
	bool to_end = str_ends(text, S("$"));
	text = str_sub(text, 0, text.n - to_end);
	*ret_part = S("");
	if (!str_cut(text, '*', &before, &after))
		return to_end ? str_ends(line, text) : str_contains(line, text);
	size_t at = str_find(line, before);
	if (at == line.n)
		return false;
	struct str rest = str_sub(line, at + before.n, line.n);
	size_t end = after.n ? str_find(rest, after) : rest.n;
	*ret_part = str_sub(rest, 0, end);
	return !after.n || (end < rest.n && (!to_end || end + after.n == rest.n));
}

const struct know_rule *know_match(const char *tool, struct str text, struct str *ret_part)
{
	for (size_t i = 0; i < know_rule_count; i++) {
		const struct know_rule *rule = &know_rule_table()[i];
		struct str rest = text, line;
		if (!str_eq(str_from(rule->tool), str_from(tool)))
			continue;
		while (str_next(&rest, '\n', &line))
			if (know_rule_fits(rule, line, ret_part))
				return rule;
	}
	return NULL;
}

struct str know_hint(struct arena *a, const struct know_rule *rule, struct str part)
{
	struct str before, after, hint = str_from(rule->hint);
	if (!str_cut(hint, '*', &before, &after))
		return hint;
	return str_fmt(a, "%.*s%.*s%.*s", STR(before), STR(part), STR(after));
}
