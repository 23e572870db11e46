/* No log takes more time than its length allows: for every expression of the data there are texts made of the expression
 * itself, in which each of its words repeats itself. Time is counted in steps (know/automaton.h), not in seconds: an engine
 * that goes back in the text would not end before the limit of the test runner. */
#include <signal.h>
#include <sys/time.h>

#include "base/proc.h"
#include "fixture_patterns.h"
#include "formats/stream.h"
#include "know/know.h"
#include "know/match.h"

enum { LINE = 4096, LOG = 1 << 20, PART = 4 << 10 };

/* ---- every expression of the data ---- */

/* Adds the expression with words and shapes in place of {NAME}. */
static void add_text(struct arena *a, struct strs *list, const char *text)
{
	struct str whole = str_from(text);
	for (size_t i = 0; i < diagnosis_word_count; i++)
		whole = str_replace(a, whole, str_fmt(a, "{%s}", diagnosis_word_table()[i].name),
			str_from(diagnosis_word_table()[i].text));
	for (size_t i = 0; i < diagnosis_shape_count; i++) {
		const struct diagnosis_shape *s = &diagnosis_shape_table()[i];
		struct str name = str_fmt(a, "{%s}", s->name);
		struct strs any = {0};
		for (const char *const *x = s->any; x && *x; x++)
			strs_add(a, &any, str_from(*x));
		if (str_contains(whole, name))
			whole = str_replace(a, whole, name, str_join(a, &any, S("|")));
	}
	if (text)
		strs_put(a, list, str_from(str_z(a, whole)));
}

static struct strs all_expressions(struct arena *a)
{
	struct strs list = {0};
	for (size_t i = 0; i < diagnosis_shape_count; i++) {
		const struct diagnosis_shape *s = &diagnosis_shape_table()[i];
		for (const char *const *any = s->any; any && *any; any++)
			add_text(a, &list, *any);
		add_text(a, &list, s->text ? s->text : str_z(a, str_fmt(a, "{%s}", s->name)));
	}
	for (size_t i = 0; i < diagnosis_sign_count; i++) {
		add_text(a, &list, diagnosis_sign_table()[i].text);
		add_text(a, &list, diagnosis_sign_table()[i].without);
	}
	for (size_t i = 0; i < diagnosis_count; i++)
		for (const struct diagnosis_match *m = diagnosis_table()[i].match; m->text; m++) {
			add_text(a, &list, m->text);
			add_text(a, &list, m->near);
			add_text(a, &list, m->without);
		}
	for (size_t i = 0; i < know_rule_count; i++)
		add_text(a, &list, know_rule_table()[i].text);
	return list;
}

/* What the expression looks for, as a text: its characters, one member of each class, and a blank where an alternative
 * or a repetition ends. */
static struct str words_of(struct arena *a, struct str x)
{
	BUF(b, a);
	for (size_t i = 0; i < x.n; i++) {
		char c = x.p[i];
		if (c == '[') {
			size_t in = i + 1 + (x.p[i + 1] == '^');
			buf_char(&b, x.p[i + 1] == '^' ? 'x' : x.p[in]);
			i = in + 1 + str_chr(str_sub(x, in + 1, x.n), ']');
		} else if (c == '{') {
			i += str_chr(str_sub(x, i, x.n), '}');
		} else if (c == '\\' && i + 1 < x.n) {
			if (x.p[++i] != 'b')
				buf_char(&b, x.p[i]);
		} else if (c == '.') {
			buf_char(&b, 'x');
		} else if (c == '|') {
			buf_char(&b, ' ');
		} else if (!strchr("()*+?^$", c)) {
			buf_char(&b, c);
		}
	}
	return b.n ? buf_str(&b) : S("x");
}

/* The words again and again: all of them, or each of them for itself; with `end` behind each time. */
static struct str repeated(struct arena *a, struct str words, bool each, struct str end, size_t n)
{
	BUF(b, a);
	struct str word, rest = words;
	while (b.n < n) {
		if (!rest.n)
			rest = words;
		word = rest;
		if (each)
			str_cut(rest, ' ', &word, &rest);
		for (size_t from = b.n; word.n && b.n < n && (b.n - from < LINE / 2 || !each);)
			buf_fmt(&b, "%.*s%.*s", STR(word), STR(end));
		buf_char(&b, '\n');
	}
	return buf_str(&b);
}

static uint64_t work_of(struct arena *a, struct str log)
{
	uint64_t before = automaton_steps();
	struct log_answer answer;
	CLEANUP(stream_freep) struct stream *s = stream_new(-1, log, S("log"));
	assert_ok(log_read(a, patterns, s, &answer));
	return automaton_steps() - before;
}

/* ---- the tests ---- */

static const char *const ends[] = {"", " ", "\n", ": ", "'"};
enum { ENDS = sizeof(ends) / sizeof(ends[0]) };

static void an_expression_takes_steps_in_proportion_to_the_text(void **state)
{
	(void)state;
	enum { MOST = 200 }; /* steps for each byte */
	ARENA(a);
	const struct strs list = all_expressions(&a);
	uint64_t worst = 0;
	assert_true(list.n > 500);
	VEC_EACH (struct str, x, &list)
		for (size_t k = 0; k < ENDS; k++) {
			ARENA(tmp);
			struct expression e = {0};
			struct str line =
				repeated(&tmp, words_of(&tmp, *x), false, str_from(ends[k]), PART);
			uint64_t before = automaton_steps();
			struct span at[2];
			expression_fits(&tmp, &e, x->p, line, at);
			assert_non_null(e.m);
			uint64_t work = (automaton_steps() - before) / line.n;
			worst = work > worst ? work : worst;
			if (work > MOST)
				fail_msg("%u steps for each byte: %s", (unsigned)work, x->p);
		}
	print_message("at most %u steps for a byte\n", (unsigned)worst);
}

/* Fills logs of 1 MiB with the words of one expression after the other. */
static void a_log_takes_work_in_proportion_to_its_length(void **state)
{
	(void)state;
	enum {
		WAYS = 3,
		MOST = 160 << 20
	}; /* log.c: ALL_WORK, BYTE_WORK, and what hits take beyond */
	ARENA(a);
	const struct strs list = all_expressions(&a);
	uint64_t worst = 0;
	BUF(log, &a);
	for (size_t i = 0; i < list.n * WAYS; i++) {
		ARENA(tmp);
		struct str words = words_of(&tmp, list.v[i / WAYS]);
		/* a line of them, lines of one word, and another pair each time */
		size_t way = i % WAYS == 2 ? i / WAYS % (2 * ENDS) : i % WAYS * 5;
		buf_add(&log, repeated(&tmp, words, way % 2, str_from(ends[way / 2]), PART));
		if (log.n < LOG && i + 1 < list.n * WAYS)
			continue;
		uint64_t work = work_of(&tmp, buf_str(&log));
		worst = work > worst ? work : worst;
		log.n = 0;
	}
	print_message("at most %u million steps for a log\n", (unsigned)(worst / 1000000));
	assert_true(worst < MOST);
}

static void one_word_fills_a_log(void **state)
{
	(void)state;
	enum { MOST = 160 << 20 };
	static const char *const words[] = {"hipError", "hipErrorInvalidValue ",
		"HSA_STATUS_ERROR_X", "error: ", "[", "'", "a\\ ", "&quot;", "the a ", "|",
		"gfx900 ", "# [ 1%] B", "\xe2\x80\x98"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		ARENA(tmp);
		struct str log = repeated(&tmp, str_from(words[i]), i % 2, S(""), LOG);
		assert_true(work_of(&tmp, log) < MOST);
	}
}

/* Most of a log are the commands of a build. None is compared with an expression: that takes longer than to look for words. */
static void commands_of_a_build_are_not_compared(void **state)
{
	(void)state;
	ARENA(a);
	struct str lines = S("[7/99] /opt/rocm/llvm/bin/clang++ -DUSE_ROCM -Werror=return-type "
			     "-Wno-error=format "
			     "-fno-math-errno --offload-arch=gfx1100 -c "
			     "aten/src/ATen/native/hip/Sort.hip -o Sort.hip.o\n"
			     "Sort.hip:12:7: warning: ignoring return value [-Wunused-result]\n");
	assert_true(work_of(&a, repeated(&a, lines, false, S(""), LOG)) < LOG / 16);
}

static void interrupt(int sig)
{
	(void)sig;
	raise(SIGTERM);
}

/* The signal comes when a millisecond of a block is read, which takes a hundred. */
static void a_signal_ends_it_in_the_middle_of_a_block(void **state)
{
	(void)state;
	ARENA(a);
	struct log_answer answer;
	struct str log = repeated(&a, S("HSA_STATUS_ERROR_X"), false, S(""), LOG);
	uint64_t all = work_of(&a, log), before = automaton_steps();
	CLEANUP(stream_freep) struct stream *s = stream_new(-1, log, S("log"));
	signal(SIGVTALRM, interrupt);
	cancel_init();
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_usec = 1000}}, NULL);
	struct err *e = log_read(&a, patterns, s, &answer);
	assert_non_null(e);
	assert_int_equal(e->code, E_CANCELLED);
	assert_true(automaton_steps() - before < all / 2);
	err_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_expression_takes_steps_in_proportion_to_the_text),
		cmocka_unit_test(a_log_takes_work_in_proportion_to_its_length),
		cmocka_unit_test(one_word_fills_a_log),
		cmocka_unit_test(commands_of_a_build_are_not_compared),
		cmocka_unit_test(a_signal_ends_it_in_the_middle_of_a_block), /* stays interrupted */
	};
	return cmocka_run_group_tests(tests, compile_patterns, free_patterns);
}
