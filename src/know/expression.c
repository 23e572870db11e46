/* Expressions with the words of data/logs.yaml; see expression.h. */
#include "know/expression.h"

#include "know/diagnosis.h"

/* With the words of the data in the place of {NAME}. */
static struct str expanded(struct arena *a, const char *pattern)
{
	struct str text = str_from(pattern);
	for (size_t i = 0; i < diagnosis_word_count; i++)
		text = str_replace(a, text, str_fmt(a, "{%s}", diagnosis_word_table()[i].name),
			str_from(diagnosis_word_table()[i].text));
	return text;
}

bool expression_fits(struct arena *tmp, struct expression *x, const char *pattern, struct str s,
	struct span *ret)
{
	regmatch_t at = {.rm_so = 0, .rm_eo = (regoff_t)s.n};
	if (!x->ready && regcomp(&x->re, str_z(tmp, expanded(tmp, pattern)), REG_EXTENDED) != 0)
		return false;
	x->ready = true;
	if (regexec(&x->re, s.n ? s.p : "", 1, &at, REG_STARTEND) != 0)
		return false;
	*ret = (struct span){(size_t)at.rm_so, (size_t)at.rm_eo};
	return true;
}

bool expression_fits_in(struct arena *tmp, struct expression *x, const char *pattern, struct str s)
{
	struct span at;
	return expression_fits(tmp, x, pattern, s, &at);
}

void expression_free(struct expression *x)
{
	if (x->ready)
		regfree(&x->re);
}
