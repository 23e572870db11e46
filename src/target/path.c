/* Finds names of GPUs in the paths of libraries' data files; see target.h. */
#include "target/target.h"

/* The length of the longest name at the beginning of the text: "gfx90a68.db" belongs to gfx90a. */
static size_t one_at(struct str text)
{
	size_t best = 0;
	for (size_t i = 0; i < gpu_count; i++) {
		struct str name = str_from(gpu_table()[i].name);
		best = str_starts(text, name) && name.n > best ? name.n : best;
	}
	return best;
}

/* The length of the name of a family at the beginning of the text, or 0: AOTriton names folders "gfx11xx" and
 * "gfx110x". *ret_stem: the length of the part that its members share. */
static size_t family_at(struct str text, size_t *ret_stem)
{
	size_t n = 3;
	while (n < text.n && ascii_alnum(text.p[n]) && text.p[n] != 'x')
		n++;
	*ret_stem = n;
	while (n < text.n && text.p[n] == 'x')
		n++;
	return n > *ret_stem && *ret_stem > 3 ? n : 0;
}

bool target_word_is(const struct target_word *w, const struct gpu *gpu)
{
	struct str name = str_from(gpu->name);
	return name.n == w->text.n &&
	       str_eq(str_sub(name, 0, w->stem), str_sub(w->text, 0, w->stem));
}

static bool is_known(const struct target_word *w)
{
	bool known = false;
	for (size_t i = 0; i < gpu_count; i++)
		known = known || target_word_is(w, &gpu_table()[i]);
	return known;
}

bool target_word(struct str *rest, struct target_word *ret)
{
	const struct str mark = S("gfx");
	for (size_t at; (at = str_find(*rest, mark)) < rest->n;) {
		struct str text = str_sub(*rest, at, rest->n);
		size_t n = family_at(text, &ret->stem);
		if (!n)
			n = ret->stem = one_at(text);
		ret->text = str_sub(text, 0, n);
		*rest = str_sub(text, n > mark.n ? n : mark.n, text.n);
		if (n && is_known(ret))
			return true;
	}
	return false;
}
