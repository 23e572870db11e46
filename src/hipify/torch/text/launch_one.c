/* One kernel launch: where comments and strings are, how its name is found by looking back, and the
 * hipLaunchKernelGGL text it becomes. Each step is the corresponding step of PyTorch's
 * processKernelLaunches(), add_dim3() and extract_arguments() (utils/hipify/hipify_python.py, the
 * same in all releases from 2.4 to 2.15), with replacements of all occurrences where one would
 * expect a position: that is what makes the odd cases equal.
 */
#include <string.h>

#include "hipify/torch/text/launch_int.h"
#include "lang/python/text.h"
#include "lang/python/word.h"

/* What we are in after c: 0 = code, '/' = a comment to the end of the line, '*', '"'. */
static char next_state(char state, char before, char c)
{
	switch (state) {
	case 0:
		if (before == '/' && (c == '/' || c == '*'))
			return c;
		return c == '"' && before != '\\' && before != '\'' ? c : 0;
	case '/':
		return c == '\r' || c == '\n' ? 0 : state;
	case '*':
		return c == '/' && before == '*' ? 0 : state;
	default:
		return c == '"' && before != '\\' ? 0 : state;
	}
}

void launch_mask(struct str s, char *ret)
{
	char state = 0, before = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (state || c == '/' || c == '*' || c == '"')
			state = next_state(state, before, c);
		before = c;
		ret[i] = state ? 'x' : c;
	}
}

static bool names(uint32_t c)
{
	return py_alnum(c) || c == '(' || c == ')' || c == '_' || c == ':' || c == '#';
}

/* The scanner's state: template arguments in front of "<<<" are skipped by counting angles. */
struct back {
	enum { BACK_START, BACK_TEMPLATE, BACK_BEHIND, BACK_NAME } state;
	long angles;
	size_t name_end, template_end; /* 0 = none */
};

static void angles(struct back *b, uint32_t c, size_t end)
{
	if (b->state > BACK_TEMPLATE)
		return;
	if (c == '>') {
		if (b->state == BACK_START)
			b->template_end = end;
		b->state = BACK_TEMPLATE;
		b->angles++;
	} else if (c == '<' && --b->angles == 0 && b->state == BACK_TEMPLATE) {
		b->state = BACK_BEHIND;
	}
}

enum launch_found launch_name(struct str s, size_t floor, struct launch *l)
{
	struct back b = {.state = BACK_START};
	for (size_t i = l->at; i > floor;) {
		size_t end = i;
		uint32_t c = utf8_prev(s, &i);
		angles(&b, c, end);
		if (b.state == BACK_TEMPLATE)
			continue;
		bool named = names(c);
		if (named && b.state != BACK_NAME) {
			b.state = BACK_NAME;
			b.name_end = end;
		}
		l->start = i;
		l->name_end = b.template_end ? b.template_end : b.name_end;
		if (named && i == 0)
			return LAUNCH_BARE;
		if (!named && b.state == BACK_NAME)
			return LAUNCH_NAMED;
	}
	return LAUNCH_NONE;
}

/* The first two arguments, as ranges of the text between the angles. */
struct dims {
	size_t first_end, second, second_end;
};

static bool find_dims(struct str s, struct dims *ret)
{
	long depth = 0;
	unsigned count = 0;
	for (size_t i = 0; i < s.n && count < 2; i++) {
		char c = s.p[i];
		depth += (c == '(') - (c == ')');
		if (depth != 0 || (c != ',' && i != s.n - 1))
			continue;
		size_t end = i + (c != ',');
		if (count++ == 0)
			*ret = (struct dims){.first_end = end, .second = i + 1};
		else
			ret->second_end = end;
	}
	return count == 2;
}

static struct str strip_spaces(struct str s)
{
	while (s.n && s.p[0] == ' ')
		s = str_sub(s, 1, s.n);
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

static struct str join(struct arena *a, struct str x, struct str y, struct str z)
{
	struct str parts[] = {x, y, z};
	return str_join(a, &(struct strs){.v = parts, .n = 3}, S(""));
}

/* dim3() round an argument, within the text around it. */
static struct str wrap(struct arena *a, struct str raw, struct str argument)
{
	struct str clean = strip_spaces(py_str_replace(a, argument, S("\n"), S("")));
	return py_str_replace(a, raw, clean, join(a, S("dim3("), clean, S(")")));
}

static bool add_dims(struct arena *a, struct str inside, struct str *piece)
{
	struct dims d;
	inside = py_str_replace(a, inside, S("<<<"), S(""));
	inside = py_str_replace(a, inside, S(">>>"), S(""));
	if (!find_dims(inside, &d))
		return false;
	/* The first one is replaced within itself and the comma behind it. */
	struct str first = str_sub(inside, 0, d.first_end);
	struct str second = str_sub(inside, d.second, d.second_end);
	first = wrap(a, str_sub(inside, 0, d.second), first);
	second = wrap(a, second, second);
	*piece = py_str_replace(
		a, *piece, str_sub(inside, 0, d.second_end), join(a, first, second, S("")));
	return true;
}

/* How many arguments "(a, b<c, d>)" has. */
static unsigned count_arguments(struct str s)
{
	long round = 0, angle = 0;
	unsigned n = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		round += (c == '(') - (c == ')');
		if (c == '<')
			angle++;
		else if (c == '>' && angle > 0 && s.p[i - 1] != '-')
			angle--;
		if (round == 0 && angle == 0)
			return n + 1;
		n += round == 1 && angle == 0 && c == ',';
	}
	return n;
}

/* Launches with fewer than four parameters get zeros for the others. */
static struct str zeros(struct arena *a, struct str group)
{
	group = py_str_replace(a, group, S("<<<"), S("("));
	group = py_str_replace(a, group, S(">>>"), S(")"));
	unsigned n = count_arguments(group);
	struct str all = S(", 0, 0, 0, 0>>>");
	return str_sub(all, n < 4 ? 3 * n : 12, all.n);
}

bool launch_hip(
	struct arena *a, const struct launch_work *w, const struct launch *l, struct str *ret)
{
	struct str piece = str_sub(w->text, l->start, l->stop);
	struct str name = str_sub(w->text, l->start, l->name_end);
	struct str masked = {.p = w->masked + l->at, .n = l->end - l->at};
	if (!add_dims(a, str_sub(w->text, l->at, l->end), &piece))
		return false;
	if (piece.n)
		piece.n--;
	piece = py_str_replace(a, piece, S(">>>"), zeros(a, masked));
	piece = py_str_replace(a, piece, S("<<<"), S(", "));
	piece = py_str_replace(a, piece, S(">>>"), S(", "));
	piece = py_str_replace(a, piece, name, join(a, S("("), name, S(")")));
	*ret = join(a, S("hipLaunchKernelGGL("), piece, S(""));
	return true;
}
