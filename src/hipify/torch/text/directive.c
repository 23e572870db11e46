/* The passes over directives: they rewrite the three forms of includes, and put the header of the HIP
 * runtime in front where it is needed.
 *
 * Source: mk_repl() and hip_header_magic() of torch/utils/hipify/hipify_python.py. The forms are
 * exact: one space, none after the "#"; the path may span lines. All three begin with "#",
 * which is rare and fast to find.
 */
#include "hipify/torch/text/passes.h"
#include "lang/python/word.h"

enum { FORMS = TORCH_GENERIC_FILE + 1 };

static const struct form {
	struct str prefix;
	char close;
} forms[FORMS] = {
	[TORCH_QUOTE] = {S_INIT("#include \""), '"'},
	[TORCH_ANGLE] = {S_INIT("#include <"), '>'},
	[TORCH_GENERIC_FILE] = {S_INIT("#define THC_GENERIC_FILE \""), '"'},
};

static size_t find_byte(struct str text, size_t at, char c)
{
	return at + str_chr(str_sub(text, at, text.n), c);
}

static bool stands_at(struct str text, size_t at, struct str what)
{
	return text.n - at >= what.n && !memcmp(text.p + at, what.p, what.n);
}

/* ---- includes ---- */

/* Calls back for each directive of one form. If there is no closing mark, the pass ends: later
 * directives would not find one either. */
static struct err *one_form(const struct torch_step *s, enum torch_form form, struct torch_pass *p)
{
	struct str text = p->text, prefix = forms[form].prefix;
	size_t done = 0;
	for (size_t at = find_byte(text, 0, '#'); at < text.n; at = find_byte(text, done, '#')) {
		done = at + 1;
		size_t from = at + prefix.n;
		if (!stands_at(text, at, prefix) || from == text.n ||
			text.p[from] == forms[form].close)
			continue;
		size_t to = find_byte(text, from, forms[form].close);
		if (to == text.n)
			return NULL;
		struct str with = {0};
		TRY(s->j->include(s->j->user, form, str_sub(text, from, to), &with));
		if (with.p)
			torch_pass_edit(p, (struct torch_patch){from, to, with, NULL});
		done = to + 1;
	}
	return NULL;
}

struct err *torch_step_includes(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	*ret = text;
	for (unsigned f = 0; s->j->include && f < FORMS; f++) {
		struct torch_pass p = torch_pass_begin(a, *ret, s->trace, "include");
		TRY(one_form(s, (enum torch_form)f, &p));
		*ret = torch_pass_end(&p);
	}
	return NULL;
}

/* ---- the runtime header ---- */
/* The dots of the original's expressions stand for any character but a newline. */
static bool includes_header(struct str text, size_t at, struct str stem)
{
	static const struct str dot_h[] = {S_INIT("h\""), S_INIT("h>")};
	bool angle = stands_at(text, at, S("#include <"));
	if (!angle && !stands_at(text, at, S("#include \"")))
		return false;
	at += sizeof("#include <") - 1;
	if (!stands_at(text, at, stem))
		return false;
	at += stem.n;
	if (at >= text.n || utf8_next(text, &at) == '\n')
		return false;
	return stands_at(text, at, dot_h[angle]);
}

struct err *torch_step_runtime(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	struct torch_hit h = {0};
	bool device = false;
	for (size_t at = 0; !device && torch_find(s->e->marks, text, at, &h); at = h.to)
		device = h.entry->from.p[h.entry->from.n - 1] != '(' ||
			 !py_word_before(text, h.from);
	if (!device)
		return NULL;
	for (size_t at = find_byte(text, 0, '#'); at < text.n; at = find_byte(text, at + 1, '#'))
		if (includes_header(text, at, S("hip/hip_runtime")) ||
			includes_header(text, at, S("hip/hip_runtime_api")))
			return NULL;
	struct torch_pass p = torch_pass_begin(a, text, s->trace, "header");
	torch_pass_edit(&p, (struct torch_patch){.with = S("#include \"hip/hip_runtime.h\"\n")});
	*ret = torch_pass_end(&p);
	return NULL;
}
