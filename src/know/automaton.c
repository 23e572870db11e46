/* Compiles regular expressions and runs them in linear time; see automaton.h. */
#include "know/automaton.h"

#include "base/vec.h"

enum {
	STATES = 256,    /* deterministic states that are kept */
	POOL = 16 << 10, /* their nodes, and at least those of any two */
	END = 256,       /* the end of the text, as a byte */
	PENDING = UINT16_MAX,
	MOST = 1000, /* repetitions */
};

enum automaton_kind { BYTES, SPLIT, AT_START, AT_END, AT_EDGE, GROUP_OPEN, GROUP_CLOSE, MATCHED };

struct byte_set {
	uint64_t bits[4];
};

struct automaton_node {
	uint8_t kind;
	uint16_t next, other; /* other: the second way of a SPLIT; the set of BYTES */
};

/* A deterministic state: the nodes that have been reached, and what is known of the byte before. */
struct automaton_state {
	uint32_t from, n; /* in the pool */
	bool first, word;
};

/* A way through the nodes, and where it began. */
struct automaton_way {
	uint16_t node;
	uint32_t from, group[2];
};

struct automaton {
	struct arena *a;
	VEC(struct automaton_node) node;
	VEC(struct byte_set) set;
	const char *group;     /* the '(' of the first group */
	bool failed, edges;    /* edges: there is a \b */
	uint32_t *mark, round; /* mark: the last round in which a node was reached */
	struct automaton_way *stack, *ways[2];
	uint8_t class_of[END + 1]; /* bytes that no node tells apart have the same class */
	size_t classes, states, pooled, pool_size;
	uint16_t *pool, *table; /* table: what follows a state and a class; see follows() */
	struct automaton_state state[STATES];
};

static _Thread_local uint64_t steps;

uint64_t automaton_steps(void)
{
	return steps;
}

void automaton_spend(uint64_t n)
{
	steps += n;
}

/* ---- compiling ---- */

static bool is_in(const struct byte_set *s, unsigned c)
{
	return s->bits[c / 64] >> c % 64 & 1;
}

static void put_range(struct byte_set *s, unsigned from, unsigned to)
{
	for (unsigned c = from; c <= to; c++)
		s->bits[c / 64] |= UINT64_C(1) << c % 64;
}

static bool is_word(unsigned c)
{
	return c < 128 && ascii_word((char)c);
}

static size_t emit(struct automaton *m, enum automaton_kind kind)
{
	m->failed |= m->node.n + 1 >= AUTOMATON_NODES;
	if (m->failed)
		return 0;
	struct automaton_node *node = VEC_PUSH(m->a, &m->node);
	*node = (struct automaton_node){(uint8_t)kind, (uint16_t)m->node.n, PENDING};
	return m->node.n - 1;
}

static void emit_set(struct automaton *m, const struct byte_set *s)
{
	size_t i = 0, at = emit(m, BYTES);
	while (i < m->set.n && memcmp(&m->set.v[i], s, sizeof(*s)) != 0)
		i++;
	if (m->failed)
		return;
	if (i == m->set.n)
		*VEC_PUSH(m->a, &m->set) = *s;
	m->node.v[at].other = (uint16_t)i;
}

/* The length of a class with its brackets, 0 if it has no end. */
static size_t class_length(struct str s)
{
	size_t n = s.n > 1 && s.p[1] == '^' ? 2 : 1;
	n += n < s.n && s.p[n] == ']';
	n += str_chr(str_sub(s, n, s.n), ']');
	return n < s.n ? n + 1 : 0;
}

static void emit_class(struct automaton *m, struct str s)
{
	struct byte_set set = {0};
	bool negated = s.p[1] == '^';
	s = str_sub(s, 1 + negated, s.n - 1);
	for (size_t i = 0; i < s.n; i++) {
		bool range = i + 2 < s.n && s.p[i + 1] == '-';
		m->failed |= s.p[i] == '[' && i + 1 < s.n && strchr(":.=", s.p[i + 1]);
		put_range(&set, (unsigned char)s.p[i], (unsigned char)s.p[i + (range ? 2 : 0)]);
		i += range ? 2 : 0;
	}
	for (size_t i = 0; i < 4 && negated; i++)
		set.bits[i] = ~set.bits[i];
	emit_set(m, &set);
}

/* The length of what a repetition can follow: a character, a class, a group. 0: there is none. */
static size_t atom_length(struct str s)
{
	size_t n = 1, more;
	if (s.p[0] == '[')
		return class_length(s);
	if (s.p[0] == '\\')
		return s.n > 1 ? 2 : 0;
	if (s.p[0] != '(')
		return strchr("*+?{)", s.p[0]) ? 0 : 1;
	while (n < s.n && s.p[n] != ')') {
		struct str rest = str_sub(s, n, s.n);
		more = strchr("*+?{|", rest.p[0]) ? 1 : atom_length(rest);
		if (!more)
			return 0;
		n += more;
	}
	return n < s.n ? n + 1 : 0;
}

static void emit_any(struct automaton *m, struct str s);

static void emit_atom(struct automaton *m, struct str s)
{
	struct byte_set set = {0};
	char c = s.p[s.n - 1];
	if (s.p[0] == '(') {
		bool group = !m->group || m->group == s.p;
		m->group = group ? s.p : m->group;
		if (group)
			emit(m, GROUP_OPEN);
		emit_any(m, str_sub(s, 1, s.n - 1));
		if (group)
			emit(m, GROUP_CLOSE);
	} else if (s.p[0] == '[') {
		emit_class(m, s);
	} else if (s.n == 1 && (c == '^' || c == '$')) {
		emit(m, c == '^' ? AT_START : AT_END);
	} else if (s.n == 2 && c == 'b') {
		emit(m, AT_EDGE);
		m->edges = true;
	} else {
		m->failed |= s.n == 2 && ascii_alnum(c);
		if (s.n == 1 && c == '.')
			put_range(&set, 0, END - 1);
		else
			put_range(&set, (unsigned char)c, (unsigned char)c);
		emit_set(m, &set);
	}
}

/* Removes a repetition from *s. As in POSIX, it can be repeated itself: "x+?" is "(x+)?". most -1: no limit. */
static void take_repetition(struct automaton *m, struct str *s, int *least, int *most)
{
	*least = *most = 1;
	for (; s->n && strchr("*+?", s->p[0]); *s = str_sub(*s, 1, s->n)) {
		*least = s->p[0] == '+' ? *least : 0;
		*most = s->p[0] == '?' ? *most : -1;
	}
	if (!s->n || s->p[0] != '{')
		return;
	struct str inside = str_sub(*s, 1, str_chr(*s, '}')), from, to;
	uint64_t low = 0, high = 0;
	bool two = str_cut(inside, ',', &from, &to);
	m->failed |= inside.n + 2 > s->n || !str_u64(from, 10, &low) || low > MOST;
	m->failed |= two && to.n && (!str_u64(to, 10, &high) || high < low || high > MOST);
	*least = (int)low;
	*most = !two ? *least : to.n ? (int)high : -1;
	*s = str_sub(*s, inside.n + 2, s->n);
}

static void emit_repeated(struct automaton *m, struct str atom, int least, int most)
{
	size_t begin = m->node.n, split = 0;
	for (int i = 0; i < least + (least == 0 && most < 0) && !m->failed; i++) {
		split = m->node.n;
		if (least == 0)
			emit(m, SPLIT);
		begin = least == 0 ? begin : m->node.n;
		emit_atom(m, atom);
	}
	if (most < 0 && !m->failed) { /* back to the last one */
		size_t back = emit(m, SPLIT);
		m->node.v[back].other = (uint16_t)(back + 1);
		m->node.v[back].next = (uint16_t)split;
	}
	for (int i = least; i < most && !m->failed; i++) {
		emit(m, SPLIT);
		emit_atom(m, atom);
	}
	for (size_t i = begin; i < m->node.n && !m->failed; i++)
		if (m->node.v[i].kind == SPLIT && m->node.v[i].other == PENDING)
			m->node.v[i].other = (uint16_t)m->node.n;
}

static void emit_any(struct automaton *m, struct str s)
{
	size_t n = 0, split, jump;
	int least, most;
	struct str branch, rest;
	while (n < s.n && s.p[n] != '|' && !m->failed) {
		size_t more = atom_length(str_sub(s, n, s.n));
		m->failed |= !more;
		rest = str_sub(s, n + more, s.n);
		take_repetition(m, &rest, &least, &most);
		n = s.n - rest.n;
	}
	if (m->failed)
		return;
	bool more = n < s.n;
	branch = str_sub(s, 0, n);
	split = more ? emit(m, SPLIT) : 0;
	while (branch.n && !m->failed) {
		struct str atom = str_sub(branch, 0, atom_length(branch));
		branch = str_sub(branch, atom.n, branch.n);
		take_repetition(m, &branch, &least, &most);
		emit_repeated(m, atom, least, most);
	}
	if (!more || m->failed)
		return;
	jump = emit(m, SPLIT);
	m->node.v[split].other = (uint16_t)m->node.n;
	emit_any(m, str_sub(s, n + 1, s.n));
	m->node.v[jump].next = m->node.v[jump].other = (uint16_t)m->node.n;
}

/* Divides the bytes of each class into those that are in the set and the others. */
static void divide(struct automaton *m, const struct byte_set *s)
{
	uint16_t as[2 * END];
	size_t n = 0;
	memset(as, 0xff, sizeof(as));
	for (unsigned c = 0; c < END; c++) {
		uint16_t *to = &as[2 * m->class_of[c] + is_in(s, c)];
		if (*to == UINT16_MAX)
			*to = (uint16_t)n++;
		m->class_of[c] = (uint8_t)*to;
	}
	m->classes = n;
}

struct automaton *automaton_new(struct arena *a, struct str text)
{
	struct automaton *m = NEW(a, struct automaton);
	struct byte_set words = {0};
	*m = (struct automaton){.a = a, .classes = 1};
	emit_any(m, text);
	emit(m, MATCHED);
	if (m->failed)
		return NULL;
	for (unsigned c = 0; c < END; c++)
		if (is_word(c))
			put_range(&words, c, c);
	for (size_t i = 0; i < m->set.n; i++)
		divide(m, &m->set.v[i]);
	if (m->edges)
		divide(m, &words);
	return m;
}

/* ---- running ---- */

/* One step over the byte c, from several nodes. */
struct automaton_step {
	struct automaton *m;
	unsigned c;
	bool first, word;
	bool live;    /* there may be a match later */
	bool matched; /* before c */
	struct automaton_way match,
		*ways; /* ways: those behind c, in the order of the nodes from where they came */
	size_t n;
};

static void prepare(struct automaton *m)
{
	size_t n = m->node.n + 1;
	if (m->mark)
		return;
	m->pool_size = POOL + 2 * n;
	m->mark = arena_array(m->a, n, sizeof(*m->mark));
	m->stack = arena_array(m->a, 4 * n, sizeof(*m->stack)); /* and both lists of ways */
	m->ways[0] = m->stack + 2 * n;
	m->ways[1] = m->ways[0] + n;
	m->pool = arena_array(m->a, m->pool_size, sizeof(*m->pool));
	m->table = arena_array(m->a, STATES * (m->classes + 1), sizeof(*m->table));
}

static void begin_step(struct automaton_step *s)
{
	s->n = 0;
	s->matched = s->live = false;
	if (!++s->m->round) {
		memset(s->m->mark, 0, s->m->node.n * sizeof(*s->m->mark));
		s->m->round = 1;
	}
}

/* Follows a way over all nodes that take no byte, and over c. */
static void step_from(struct automaton_step *s, struct automaton_way way, uint32_t here)
{
	struct automaton *m = s->m;
	size_t depth = 0;
	m->stack[depth++] = way;
	while (depth) {
		way = m->stack[--depth];
		const struct automaton_node *node = &m->node.v[way.node];
		if (m->mark[way.node] == m->round)
			continue;
		m->mark[way.node] = m->round;
		steps++;
		way.node = node->next;
		s->live |= node->kind == BYTES || node->kind == MATCHED || node->kind == AT_END;
		bool goes = true;
		switch ((enum automaton_kind)node->kind) {
		case BYTES:
			goes = false;
			if (s->c != END && is_in(&m->set.v[node->other], s->c))
				s->ways[s->n++] = way;
			break;
		case MATCHED:
			goes = false;
			s->matched = true;
			s->match = way;
			break;
		case SPLIT:
			m->stack[depth++] = way;
			m->stack[depth - 1].node = node->other;
			break;
		case AT_START:
			goes = s->first;
			break;
		case AT_END:
			goes = s->c == END;
			break;
		case AT_EDGE:
			s->live = true;
			goes = s->word != is_word(s->c);
			break;
		case GROUP_OPEN:
			way.group[0] = here;
			break;
		case GROUP_CLOSE:
			way.group[1] = here;
			break;
		}
		if (goes)
			m->stack[depth++] = way;
	}
}

/* The table holds one of these, or the number of a state + BEHIND. */
enum { UNKNOWN, FOUND, NEVER, BEHIND };

static uint16_t state_of(struct automaton *m, const struct automaton_step *s)
{
	struct automaton_state *x;
	size_t i = 0, k;
	bool word = m->edges && !s->first && is_word(s->c);
	for (i = 0; i < m->states; i++) {
		x = &m->state[i];
		if (x->n != s->n || x->word != word || x->first != s->first)
			continue;
		for (k = 0; k < s->n && m->pool[x->from + k] == s->ways[k].node; k++)
			;
		if (k == s->n)
			return (uint16_t)(i + BEHIND);
	}
	steps += i / 4; /* a look at a state costs about a quarter of a step */
	if (i == STATES || m->pooled + s->n > m->pool_size) {
		memset(m->table, 0, STATES * (m->classes + 1) * sizeof(*m->table));
		m->states = m->pooled = i = 0;
	}
	x = &m->state[m->states++];
	*x = (struct automaton_state){(uint32_t)m->pooled, (uint32_t)s->n, s->first, word};
	for (k = 0; k < s->n; k++)
		m->pool[m->pooled++] = s->ways[k].node;
	return (uint16_t)(i + BEHIND);
}

/* Makes the state that follows this one on c. */
static uint16_t follows(struct automaton *m, size_t at, unsigned c)
{
	const struct automaton_state x = m->state[at];
	struct automaton_step s = {
		.m = m, .c = c, .first = x.first, .word = x.word, .ways = m->ways[0]};
	size_t states = m->states;
	begin_step(&s);
	for (size_t i = 0; i < x.n; i++)
		step_from(&s, (struct automaton_way){.node = m->pool[x.from + i]}, 0);
	step_from(&s, (struct automaton_way){0}, 0);
	s.first = false;
	uint16_t next = s.matched ? FOUND : !s.live && !x.first ? NEVER : state_of(m, &s);
	if (m->states >= states) /* else they have been dropped */
		m->table[at * (m->classes + 1) + (c == END ? m->classes : m->class_of[c])] = next;
	return next;
}

static bool has_match(struct automaton *m, struct str s)
{
	size_t i = 0;
	struct automaton_step start = {.first = true, .ways = m->ways[0]};
	uint16_t next = state_of(m, &start);
	for (; i <= s.n && next >= BEHIND; i++) {
		size_t at = next - BEHIND;
		unsigned c = i < s.n ? (unsigned char)s.p[i] : END;
		next = m->table[at * (m->classes + 1) + (c == END ? m->classes : m->class_of[c])];
		if (next == UNKNOWN)
			next = follows(m, at, c);
	}
	steps += i;
	return next == FOUND;
}

/* Reads the text again with all ways at once, each with the place where it began: of ways that meet, the one that began
 * first goes on. */
static void find(struct automaton *m, struct str s, struct span ret[2])
{
	struct automaton_step step = {.m = m, .first = true};
	struct automaton_way best = {.from = UINT32_MAX}, *now = m->ways[0];
	size_t n = 0;
	for (size_t i = 0; i <= s.n && (n || best.from == UINT32_MAX); i++) {
		step.ways = now == m->ways[0] ? m->ways[1] : m->ways[0];
		step.c = i < s.n ? (unsigned char)s.p[i] : END;
		begin_step(&step);
		for (size_t k = 0; k < n && now[k].from <= best.from; k++)
			step_from(&step, now[k], (uint32_t)i);
		if (best.from == UINT32_MAX)
			step_from(&step, (struct automaton_way){.from = (uint32_t)i}, (uint32_t)i);
		if (step.matched && step.match.from <= best.from) {
			best = step.match;
			ret[0] = (struct span){best.from, i};
			ret[1] = (struct span){best.group[0], best.group[1]};
		}
		now = step.ways;
		n = step.n;
		step.first = false;
		step.word = is_word(step.c);
	}
}

bool automaton_fits(struct automaton *m, struct str s, struct span ret[2])
{
	s = str_sub(s, 0, UINT32_MAX - 1);
	prepare(m);
	if (!has_match(m, s))
		return false;
	if (ret)
		find(m, s, ret);
	return true;
}
