/* Reads what the processes of one start of the tests left: journals, and pytest's XML as the second witness (plugin.py
 * describes both). Their lines come from code under test; each is parsed as JSON of a stranger. */
#include "base/fs.h"
#include "formats/xml.h"
#include "testrun/testrun_int.h"

enum {
	JOURNAL_BYTES = 512 << 20,
	XML_BYTES = 512 << 20,
	JOURNAL_LINE = 64 << 10,
	RESULTS = 2000000
};
enum { LONGEST_ID = 4096 };

/* One process: what its journal says up to the last line. */
struct test_process {
	struct str open, last; /* the test that it was at; the last one that has a result */
	size_t results;        /* tests that it ran to their end */
	bool ended;
};

static struct test_result *result_of(struct test_run *r, struct str id)
{
	struct test_result *found = map_get(&r->results, id);
	if (found)
		return found;
	found = NEW(r->a, struct test_result);
	found->id = str_dup(r->a, id);
	map_put(&r->results, found->id, found);
	return found;
}

/* Adds what one process says of a test. Two that disagree make it flaky. */
static void add_try(struct test_run *r, const struct test_start *s, const struct test_result *try)
{
	struct test_result *all = result_of(r, try->id);
	bool first = !all->tries++;
	if (!first && (all->outcome == TEST_FLAKY ||
			      test_is_bad(all->outcome) == test_is_bad(try->outcome)))
		return;
	enum test_outcome outcome = first ? try->outcome : TEST_FLAKY;
	if (first || test_is_bad(try->outcome)) { /* why it failed is kept */
		all->message = str_dup(r->a, try->message);
		all->log = test_is_bad(try->outcome) || outcome == TEST_FLAKY
				   ? str_dup(r->a, s->log)
				   : S("");
	}
	if (first || !test_is_bad(try->outcome))
		all->seconds = try->seconds;
	all->outcome = outcome;
}

/* A line that is none of ours is passed over: a test may have written into the file. */
static void take_line(
	struct test_run *r, const struct test_start *s, struct str line, struct test_process *p)
{
	ARENA(tmp);
	const struct node *row;
	CLEANUP(err_freep)
	struct err *e = line.n <= JOURNAL_LINE ? json_parse(&tmp, line, S("journal"), &row) : NULL;
	if (e || line.n > JOURNAL_LINE)
		return;
	struct str event = node_text(row, S("event"), S("")), id = node_text(row, S("id"), S(""));
	if (str_eq(event, S("end")))
		p->ended = true;
	if (!id.n || id.n > LONGEST_ID || r->results.n > RESULTS)
		return;
	if (str_eq(event, S("excluded")) && !map_has(&r->excluded, id))
		map_put(&r->excluded, str_dup(r->a, id), NULL);
	if (str_eq(event, S("collected")))
		(void)result_of(r, id);
	if (str_eq(event, S("start")))
		p->open = result_of(r, id)->id;
	if (!str_eq(event, S("result")))
		return;
	struct test_result try = {.id = id,
		.outcome = TEST_ERROR,
		.seconds = node_number(row, S("seconds"), 0),
		.message = node_text(row, S("message"), S(""))};
	struct str word = node_text(row, S("outcome"), S(""));
	for (unsigned i = TEST_PASSED; i < TEST_OUTCOMES; i++)
		if (str_eq(word, str_from(test_outcomes[i])))
			try.outcome = (enum test_outcome)i;
	if (node_u64(row, S("reruns"), 0) && !test_is_bad(try.outcome))
		try.outcome = TEST_FLAKY;
	add_try(r, s, &try);
	p->results += str_eq(p->open, id);
	p->last = result_of(r, id)->id;
	p->open = S("");
}

/* The number of tests that the XML has, by the property that plugin.py gives to each. */
static struct err *count_xml(struct str path, size_t *ret)
{
	ARENA(a);
	MAP(numbers, &a);
	struct str text;
	struct xml_event e;
	TRY(fs_read(&a, path, XML_BYTES, &text));
	CLEANUP(xml_end) struct xml x = xml_begin(text, path_base(path));
	do {
		TRY(xml_next(&x, &e));
		struct str value = xml_attribute(&e, "value");
		if (e.kind == XML_OPEN && str_eq(e.name, S("property")) &&
			str_eq(xml_attribute(&e, "name"), S("rocsmith")) &&
			!map_has(&numbers, value))
			map_put(&numbers, str_dup(&a, value), NULL);
	} while (e.kind != XML_END);
	*ret = numbers.n;
	return NULL;
}

static struct err *check_xml(struct test_run *r, const struct test_start *s, struct str stem,
	const struct test_process *p)
{
	ARENA(tmp);
	size_t n = 0;
	struct str path = str_fmt(&tmp, "%.*s.xml", STR(stem));
	CLEANUP(err_freep) struct err *e = count_xml(path, &n);
	if (e)
		return test_run_say(r, "test-no-xml", s->log,
			"a process ended, and its JUnit XML is not there or cannot be read: %s; "
			"its last test was '%.*s'",
			err_root(e)->msg, STR(p->last));
	if (n != p->results)
		return test_run_say(r, "test-xml-differs", s->log,
			"the JUnit XML of a process has %zu tests, and its journal %zu; the last "
			"was '%.*s'",
			n, p->results, STR(p->last));
	return NULL;
}

/* A process that died is told by the test that it was at, or by the last one. */
static struct err *bury(struct test_run *r, struct test_start *s, const struct test_process *p)
{
	struct str why;
	struct test_result try = {
		.id = p->open, .outcome = s->timed_out ? TEST_TIMEOUT : TEST_CRASHED};
	s->told = true;
	TRY(kernel_tell(r, s, p->open.n ? p->open : p->last));
	if (!p->open.n)
		return test_run_say(r, s->timed_out ? "test-hang" : "test-crash", s->log,
			"a process %s %s%.*s%s", s->timed_out ? "hung" : "died",
			p->last.n ? "behind its last test, '" : "before its first test",
			STR(p->last), p->last.n ? "'" : "");
	TRY(test_run_explain(r, s->log, &why));
	try.message = s->timed_out ? str_fmt(r->a, "it did not end within %u s%.*s", r->q->timeout,
					     STR(why))
				   : str_fmt(r->a, "%.*s%.*s", STR(s->died), STR(why));
	add_try(r, s, &try);
	return NULL;
}

struct err *journals_read(struct test_run *r, struct test_start *s)
{
	ARENA(tmp);
	struct strs names;
	TRY(fs_list(&tmp, s->folder, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct test_process p = {0};
		struct str text, line, path = path_join(&tmp, s->folder, names.v[i]);
		if (!str_eq(path_ext(path), S(".journal")))
			continue;
		TRY(fs_read(&tmp, path, JOURNAL_BYTES, &text));
		while (str_next(&text, '\n', &line))
			take_line(r, s, line, &p);
		if (!p.ended)
			TRY(bury(r, s, &p));
		else if (r->driver->xml)
			TRY(check_xml(r, s, str_sub(path, 0, path.n - strlen(".journal")), &p));
	}
	return NULL;
}
