/* The passes that look at directives: what the three forms of includes become, and whether the
 * header of the HIP runtime must be put in front.
 *
 * Facts: mk_repl() and hip_header_magic() of torch/utils/hipify/hipify_python.py. The forms are
 * exact: one space, none behind the "#"; the path may run over lines. All three begin with "#",
 * which is rare and found fast.
 */
#include <string.h>

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
struct includes {
	const struct torch_step *s;
	struct torch_pass pass;
	enum torch_form form;
	bool seen[FORMS]; /* forms that may stand in the text */
};

static void note_forms(struct includes *in, struct str text, size_t from, size_t to)
{
	for (size_t at = find_byte(text, from, '#'); at < to; at = find_byte(text, at + 1, '#'))
		for (unsigned f = 0; f < FORMS; f++)
			in->seen[f] |= stands_at(text, at, forms[f].prefix);
}

static struct err *one_include(struct includes *in, size_t from, size_t to)
{
	struct str path = str_sub(in->pass.text, from, to), with = {0};
	TRY(in->s->j->include(in->s->j->user, in->form, path, &with));
	if (with.p)
		torch_pass_edit(
			&in->pass, (struct torch_patch){.from = from, .to = to, .with = with});
	return NULL;
}

/* Calls back for each directive of one form. A search for a closing mark that fails ends the pass:
 * further directives would not find one either. */
static struct err *scan(struct includes *in)
{
	const struct form *form = &forms[in->form];
	struct str text = in->pass.text;
	size_t done = 0;
	for (size_t at = find_byte(text, 0, '#'); at < text.n; at = find_byte(text, done, '#')) {
		note_forms(in, text, at, at + 1);
		done = at + 1;
		size_t path = at + form->prefix.n;
		if (!stands_at(text, at, form->prefix) || path == text.n ||
			text.p[path] == form->close)
			continue;
		size_t end = find_byte(text, path, form->close);
		if (end == text.n) {
			note_forms(in, text, path, text.n);
			return NULL;
		}
		TRY(one_include(in, path, end));
		note_forms(in, text, path, end);
		done = end + 1;
	}
	return NULL;
}

struct err *torch_step_includes(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	struct includes in = {.s = s, .seen = {true}};
	*ret = text;
	if (!s->j->include)
		return NULL;
	for (unsigned f = 0; f < FORMS; f++) {
		if (!in.seen[f])
			continue;
		in.form = (enum torch_form)f;
		in.pass = torch_pass_begin(a, *ret, s->trace, "include");
		TRY(scan(&in));
		*ret = torch_pass_end(&in.pass);
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

static bool has_runtime(struct str text)
{
	for (size_t at = find_byte(text, 0, '#'); at < text.n; at = find_byte(text, at + 1, '#'))
		if (includes_header(text, at, S("hip/hip_runtime")) ||
			includes_header(text, at, S("hip/hip_runtime_api")))
			return true;
	return false;
}

static bool has_device_code(const struct torch_engine *e, struct str text)
{
	struct torch_hit h = {0};
	for (size_t at = 0; torch_find(e->marks, text, at, &h); at = h.to)
		if (h.entry->from.p[h.entry->from.n - 1] != '(' || !py_word_before(text, h.from))
			return true;
	return false;
}

struct err *torch_step_runtime(
	const struct torch_step *s, struct arena *a, struct str text, struct str *ret)
{
	if (!has_device_code(s->e, text) || has_runtime(text))
		return NULL;
	struct torch_pass p = torch_pass_begin(a, text, s->trace, "header");
	torch_pass_edit(&p, (struct torch_patch){.with = S("#include \"hip/hip_runtime.h\"\n")});
	*ret = torch_pass_end(&p);
	return NULL;
}
