/* Cuts the text of a CMakeLists.txt into calls; see cmake.h. */
#include "source/cmake.h"

bool cmake_next(struct arena *a, struct cmake_text *t, struct cmake_call *ret)
{
	static const char blank[] = " \t\r\n;()#\"";
	struct str last = {0};
	size_t depth = 0;
	while (t->rest.n) {
		struct str s = t->rest;
		bool quoted = s.p[0] == '"', word = quoted || !memchr(blank, s.p[0], sizeof(blank));
		size_t n = 1;
		while (word && n < s.n &&
			(quoted ? s.p[n] != '"' : !memchr(blank, s.p[n], sizeof(blank))))
			n += s.p[n] == '\\' && n + 1 < s.n ? 2 : 1;
		if (s.p[0] == '#')
			n = str_chr(s, '\n');
		if (s.p[0] == '(' && !depth++)
			*ret = (struct cmake_call){.name = str_lower(a, last), .line = t->line + 1};
		else if (word && depth)
			strs_add(a, &ret->words, str_sub(s, quoted, n));
		else if (word)
			last = str_sub(s, 0, n);
		n += quoted && n < s.n; /* the quote at the end */
		t->line += str_count(str_sub(s, 0, n), '\n');
		t->rest = str_sub(s, n, s.n);
		if (s.p[0] == ')' && depth && !--depth)
			return true;
	}
	return depth > 0;
}
