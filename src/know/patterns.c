/* What is looked for in a log, in the order that tools/gen_scan.c compiles it in; see diagnosis.h. Uses no
 * other file, so that the tool can have it. */
#include "know/diagnosis.h"

/* A blank of a pattern stands for blanks, line ends and colours. */
#define GAP "(?:(?:\\s|\\x1b\\[[0-9;]*[mK])+)"

void diagnosis_pattern_text(const char *see, char *out, size_t room)
{
	size_t n = 0;
	for (bool in_class = false; *see; see++) {
		in_class = in_class ? *see != ']' : *see == '[';
		const char *text = *see == ' ' && !in_class ? GAP : (const char[]){*see, 0};
		size_t more = strlen(text);
		if (n + more + 1 > room)
			break;
		memcpy(out + n, text, more);
		n += more;
		if (*see == '\\' && see[1] && n + 2 <= room)
			out[n++] = *++see;
	}
	out[n] = 0;
}

/* Adds those of one match behind the first n. */
static size_t add_match(struct diagnosis_pattern *ret, size_t n, const struct diagnosis *d,
	const struct diagnosis_match *m)
{
	for (const char *const *see = m->see; *see; see++, n++)
		if (ret)
			ret[n] = (struct diagnosis_pattern){.entry = d, .match = m, .see = *see};
	return n;
}

size_t diagnosis_patterns(struct diagnosis_pattern *ret)
{
	size_t n = 0;
	for (; n < diagnosis_sign_count; n++)
		if (ret)
			ret[n] = (struct diagnosis_pattern){.sign = &diagnosis_sign_table()[n],
				.see = diagnosis_sign_table()[n].see};
	for (size_t i = 0; i < diagnosis_count; i++)
		for (const struct diagnosis_match *m = diagnosis_table()[i].match; m->text; m++)
			n = add_match(ret, n, &diagnosis_table()[i], m);
	return n;
}
