/* The evidence of a run: judged, written and read as JSON; and JUnit XML, of ours and of others. */
#include <time.h>

#include "base/fs.h"
#include "base/hash.h"
#include "formats/xml.h"
#include "testrun/testrun_int.h"

enum { EVIDENCE_TESTS = 2000000, LONGEST_MESSAGE = 2000 };

const char *const test_outcomes[] = {"lost", "passed", "failed", "error", "crashed", "timeout",
	"flaky", "skipped", "xfailed", "xpassed", "listed", NULL};

bool test_is_bad(enum test_outcome o)
{
	return o == TEST_LOST || (o >= TEST_FAILED && o <= TEST_TIMEOUT);
}

/* ---- JSON ---- */

static void write_verdict(struct json *j, const void *evidence)
{
	json_str(j, ((const struct test_evidence *)evidence)->pass ? S("pass") : S("fail"));
}

static void write_counts(struct json *j, const void *evidence)
{
	const struct test_evidence *e = evidence;
	json_open(j, '{');
	for (unsigned i = 0; i < TEST_OUTCOMES; i++)
		if (e->counts[i]) {
			json_key(j, test_outcomes[i]);
			json_u64(j, e->counts[i]);
		}
	json_close(j);
}

static const struct json_field evidence_wheel_fields[] = {
	FIELDS(struct test_wheel, name, version, sha256),
	FIELD_OTHERS,
};
static const struct json_field evidence_gpu_fields[] =
	FIELDS_ONLY(struct machine_gpu, target, name, product, vram);
static const struct json_field evidence_machine_fields[] = {
	FIELDS(struct machine, kernel, arch, distro, cpu, cpus, memory, container),
	FIELD_LIST("gpus", struct machine, gpus, evidence_gpu_fields),
	{.kind = FIELD_END},
};
static const struct json_field evidence_source_fields[] = {
	FIELDS_IN(struct test_evidence, source, lock, commit, version),
	{.kind = FIELD_END},
};
static const struct json_field result_fields[] = {
	FIELD("id", struct test_result, id),
	FIELD_ENUM("outcome", struct test_result, outcome, test_outcomes),
	FIELD("seconds", struct test_result, seconds),
	FIELD_OPTIONAL("tries", struct test_result, tries),
	FIELD_OPTIONAL("message", struct test_result, message),
	FIELD_OPTIONAL("log", struct test_result, log),
	{.kind = FIELD_END},
};
const struct json_field evidence_fields[] = {
	FIELD_CONST("schema", "rocsmith.test/1"),
	FIELD_WRITE("verdict", write_verdict),
	FIELD_LIST("wheels", struct test_evidence, wheels, evidence_wheel_fields),
	FIELDS(struct test_evidence, gpu, python),
	FIELD_PART("source", evidence_source_fields),
	FIELD_POINTER("machine", struct test_evidence, machine, evidence_machine_fields),
	FIELDS(struct test_evidence, suite, config, shard, shards, torch, started, seconds),
	FIELD_WRITE("counts", write_counts),
	FIELD_LIST("findings", struct test_evidence, findings, finding_fields),
	FIELD("kernel", struct test_evidence, kernel),
	FIELD("logs", struct test_evidence, logs),
	FIELD_LIST("tests", struct test_evidence, tests, result_fields),
	{.kind = FIELD_END},
};

void evidence_begin(struct arena *a, struct test_evidence *ret)
{
	*ret = (struct test_evidence){
		.findings.most = FINDINGS_OF_A_KIND, .started = str_utc(a, (int64_t)time(NULL))};
}

void evidence_say(struct arena *a, struct test_evidence *e, enum severity severity, const char *id,
	const char *fmt, ...)
{
	FORMAT(text, a, fmt);
	finding_say(a, finding_add(a, &e->findings, id, severity, S("")), "%.*s", STR(text));
}

/* ---- the verdict ---- */

/* Ids that did not run since they are on a list, with its reason; and what the run shows of the list itself. */
static void judge_skips(struct test_run *r, const struct test_skips *skips)
{
	struct test_evidence *e = r->out;
	enum severity severity = r->q->strict_skips ? SEV_ERROR : SEV_WARNING;
	bool whole = r->q->shards < 2 && !r->q->include.n;
	MAP(reasons, r->a);
	VEC_EACH (const struct test_skip, s, skips) {
		bool matched = false;
		for (size_t i = 0; i < r->excluded.n && !s->expired; i++)
			if (test_id_below(r->excluded.v[i].key, s->id)) {
				map_put(&reasons, r->excluded.v[i].key, (void *)s);
				matched = true;
			}
		for (size_t i = 0; i < r->results.n; i++) {
			struct test_result *t = r->results.v[i].value;
			if (!test_id_below(t->id, s->id))
				continue;
			matched = true;
			if (r->q->only_skipped && t->outcome == TEST_PASSED)
				evidence_say(r->a, e, severity, "skip-passes",
					"'%.*s' passes now, and is on the skip list: %.*s (%.*s)",
					STR(t->id), STR(s->reason), STR(s->issue));
			if (r->q->only_skipped)
				t->outcome = test_is_bad(t->outcome)     ? TEST_XFAILED
					     : t->outcome == TEST_PASSED ? TEST_XPASSED
									 : t->outcome;
		}
		if (s->expired)
			evidence_say(r->a, e, severity, "skip-expired",
				"the skip of '%.*s' expired on %.*s, so it runs again: %.*s (%.*s)",
				STR(s->id), STR(s->expires), STR(s->reason), STR(s->issue));
		else if (!matched && whole)
			evidence_say(r->a, e, SEV_WARNING, "skip-unmatched",
				"no test is '%.*s' of the skip list", STR(s->id));
	}
	for (size_t i = 0; i < r->excluded.n; i++) {
		const struct test_skip *s = map_get(&reasons, r->excluded.v[i].key);
		if (map_has(&r->results, r->excluded.v[i].key))
			continue;
		struct test_result *t = VEC_PUSH(r->a, &e->tests);
		t->id = r->excluded.v[i].key;
		t->outcome = TEST_LISTED;
		t->message = s ? str_fmt(r->a, "%.*s (%.*s, until %.*s)", STR(s->reason),
					 STR(s->issue), STR(s->expires))
			       : S("--exclude");
	}
}

void evidence_judge(struct test_run *r, const struct test_skips *skips)
{
	struct test_evidence *e = r->out;
	size_t from = e->tests.n;
	judge_skips(r, skips);
	for (size_t i = 0; i < r->results.n; i++)
		*VEC_PUSH(r->a, &e->tests) = *(struct test_result *)r->results.v[i].value;
	for (size_t i = from; i < e->tests.n; i++) {
		const struct test_result *t = &e->tests.v[i];
		e->counts[t->outcome]++;
		if (t->outcome == TEST_FLAKY)
			evidence_say(r->a, e, SEV_WARNING, "test-flaky",
				"'%.*s' failed, and passed when it was run again: %.*s", STR(t->id),
				STR(str_sub(t->message, 0, str_chr(t->message, '\n'))));
		if (t->outcome == TEST_CRASHED || t->outcome == TEST_TIMEOUT)
			evidence_say(r->a, e, SEV_ERROR,
				t->outcome == TEST_CRASHED ? "test-crash" : "test-hang",
				"'%.*s': %.*s (%.*s)", STR(t->id), STR(t->message), STR(t->log));
		if (t->outcome == TEST_LOST)
			evidence_say(r->a, e, SEV_ERROR, "test-lost",
				"'%.*s' was collected, and no process says what came of it",
				STR(t->id));
	}
	e->pass = findings_worst(&e->findings) != SEV_ERROR;
	for (unsigned i = 0; i < TEST_OUTCOMES; i++)
		e->pass &= !e->counts[i] || !test_is_bad((enum test_outcome)i);
}

/* ---- reading ---- */

static const struct json_field read_fields[] = {
	FIELD_LIST("wheels", struct test_evidence, wheels, evidence_wheel_fields),
	FIELDS(struct test_evidence, gpu, python, suite, config, shard, shards),
	FIELD_OTHERS,
};

static struct err *read_test(
	struct arena *a, const struct node *row, bool keeps, struct test_evidence *ret)
{
	struct str id = S(""), outcome = S(""), message = S("");
	unsigned o = 0;
	TRY(node_want_text(row, S("id"), &id));
	TRY(node_want_text(row, S("outcome"), &outcome));
	TRY(node_want_text(row, S("message"), &message));
	while (o < TEST_OUTCOMES && !str_eq(outcome, str_from(test_outcomes[o])))
		o++;
	if (!id.n || o == TEST_OUTCOMES)
		return node_error(row, E_SYNTAX, "a test needs an id and a known outcome");
	ret->counts[o]++;
	if (keeps)
		*VEC_PUSH(a, &ret->tests) = (struct test_result){.id = str_dup(a, id),
			.outcome = (enum test_outcome)o,
			.seconds = node_number(row, S("seconds"), 0),
			.message = str_dup(a, message)};
	return NULL;
}

static struct err *read_document(
	struct arena *a, struct str text, struct str path, bool keeps, struct test_evidence *ret)
{
	struct json_list list = {.name = path, .key = S("tests")};
	const struct node *doc, *row;
	TRY(json_list_open(a, text, &list, &doc));
	struct str verdict = node_text(doc, S("verdict"), S(""));
	const struct node *tests = node_get(doc, S("tests"));
	if (!str_eq(node_text(doc, S("schema"), S("")), S("rocsmith.test/1")) || !tests ||
		tests->kind != NODE_LIST)
		return node_error(
			doc, E_SYNTAX, "it is no evidence of rocsmith test (rocsmith.test/1)");
	TRY(json_fields_read(a, doc, read_fields, ret));
	for (size_t n = 0;; n++) {
		ARENA(tmp);
		TRY(json_list_next(&tmp, &list, &row));
		if (!row)
			break;
		if (n == EVIDENCE_TESTS)
			return node_error(
				row, E_LIMIT, "there are more than %d tests", EVIDENCE_TESTS);
		TRY(read_test(a, row, keeps, ret));
	}
	ret->pass = str_eq(verdict, S("pass"));
	return ret->pass || str_eq(verdict, S("fail"))
		       ? NULL
		       : node_error(doc, E_SYNTAX, "it has no verdict, pass or fail");
}

/* The id of a testcase: its file, if the writer says so (pytest's xunit1), else what its class name has. */
static struct str junit_id(struct arena *a, const struct xml_event *e)
{
	struct str file = xml_attribute(e, "file"), class = xml_attribute(e, "classname"),
		   name = xml_attribute(e, "name");
	if (file.n) { /* the module of the file, then the class */
		struct str module =
			str_replace(a, str_sub(file, 0, file.n - path_ext(file).n), S("/"), S("."));
		bool inner =
			str_starts(class, module) && class.n > module.n && class.p[module.n] == '.';
		class = inner ? str_replace(
					a, str_sub(class, module.n + 1, class.n), S("."), S("::"))
			      : S("");
		return str_fmt(a, "%.*s%s%.*s::%.*s", STR(file), class.n ? "::" : "", STR(class),
			STR(name));
	}
	return class.n ? str_fmt(a, "%.*s::%.*s", STR(class), STR(name)) : str_dup(a, name);
}

/* "1.25", or "1,234.5" as some write it. */
static double junit_seconds(struct str text)
{
	char digits[32] = {0};
	size_t n = 0;
	for (size_t i = 0; i < text.n && n < sizeof(digits) - 1; i++)
		if (text.p[i] != ',')
			digits[n++] = text.p[i];
	double seconds = strtod(digits, NULL);
	return seconds >= 0 && seconds < 1e9 ? seconds : 0; /* false for NaN, too */
}

/* An element within a testcase may change its outcome; a failure outweighs the others. */
static void junit_part(struct arena *a, const struct xml_event *e, struct test_result *t)
{
	static const struct {
		const char *name;
		enum test_outcome outcome;
	} parts[] = {
		{"failure", TEST_FAILED},
		{"error", TEST_ERROR},
		{"skipped", TEST_SKIPPED},
		{"rerunFailure", TEST_FLAKY},
		{"flakyFailure", TEST_FLAKY},
	};
	struct str message = xml_attribute(e, "message");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!str_eq(e->name, str_from(parts[i].name)))
			continue;
		if (t->outcome == TEST_PASSED ||
			(test_is_bad(parts[i].outcome) && !test_is_bad(t->outcome)))
			t->outcome = parts[i].outcome;
		t->message = t->message.n ? t->message
					  : str_dup(a, str_sub(message, 0, LONGEST_MESSAGE));
	}
	if (t->outcome == TEST_SKIPPED && str_eq(xml_attribute(e, "type"), S("pytest.xfail")))
		t->outcome = TEST_XFAILED;
	/* our own, which know more */
	if (str_eq(e->name, S("property")) && str_eq(xml_attribute(e, "name"), S("rocsmith.id")))
		t->id = str_dup(a, xml_attribute(e, "value"));
	for (unsigned i = 0; i < TEST_OUTCOMES && str_eq(e->name, S("property")); i++)
		if (str_eq(xml_attribute(e, "name"), S("rocsmith.outcome")) &&
			str_eq(xml_attribute(e, "value"), str_from(test_outcomes[i])))
			t->outcome = (enum test_outcome)i;
}

struct err *junit_parse(
	struct arena *a, struct str text, struct str name, struct test_evidence *ret)
{
	struct xml_event e;
	struct test_result *t = NULL;
	bool suites = false;
	CLEANUP(xml_end) struct xml x = xml_begin(text, name);
	ret->pass = true;
	do {
		TRY(xml_next(&x, &e));
		bool is_case = str_eq(e.name, S("testcase"));
		suites |= e.kind == XML_OPEN && str_starts(e.name, S("testsuite"));
		if (e.kind == XML_OPEN && is_case) {
			if (ret->tests.n == EVIDENCE_TESTS)
				return err_new(E_LIMIT, "'%.*s' has more than %d tests", STR(name),
					EVIDENCE_TESTS);
			t = VEC_PUSH(a, &ret->tests);
			*t = (struct test_result){.id = junit_id(a, &e),
				.outcome = TEST_PASSED,
				.seconds = junit_seconds(xml_attribute(&e, "time"))};
		} else if (e.kind == XML_OPEN && t) {
			junit_part(a, &e, t);
		} else if (e.kind == XML_CLOSE && is_case && t) {
			ret->pass &= !test_is_bad(t->outcome);
			t = NULL;
		}
	} while (e.kind != XML_END);
	return suites ? NULL : err_new(E_SYNTAX, "'%.*s' is XML, but no JUnit report", STR(name));
}

struct err *evidence_read(struct arena *a, struct str path, bool tests, struct test_evidence *ret)
{
	ARENA(tmp);
	struct str text;
	*ret = (struct test_evidence){0};
	TRY(fs_read(&tmp, path, EVIDENCE_TEXT, &text));
	ret->sha256 = sha256_hex(a, text);
	if (str_starts(str_trim(text), S("<")) || str_starts(text, S("\xef\xbb\xbf<")))
		return junit_parse(a, text, path, ret);
	return read_document(a, text, path, tests, ret);
}

/* ---- writing ---- */

static void add_attribute(struct buf *b, const char *name, struct str value)
{
	buf_fmt(b, " %s=\"", name);
	xml_escape(b, value);
	buf_char(b, '"');
}

static void add_case(struct buf *b, const struct test_result *t)
{
	static const char *const part[TEST_OUTCOMES] = {[TEST_LOST] = "error",
		[TEST_FAILED] = "failure",
		[TEST_ERROR] = "error",
		[TEST_CRASHED] = "error",
		[TEST_TIMEOUT] = "error",
		[TEST_SKIPPED] = "skipped",
		[TEST_XFAILED] = "skipped",
		[TEST_LISTED] = "skipped"};
	size_t at = str_rchr(t->id, ':');
	bool cut = at < t->id.n && at && t->id.p[at - 1] == ':';
	buf_add(b, S("<testcase"));
	add_attribute(b, "classname", cut ? str_sub(t->id, 0, at - 1) : S(""));
	add_attribute(b, "name", cut ? str_sub(t->id, at + 1, t->id.n) : t->id);
	buf_fmt(b, " time=\"%.6f\"><properties><property name=\"rocsmith.id\"", t->seconds);
	add_attribute(b, "value", t->id);
	buf_fmt(b, "/><property name=\"rocsmith.outcome\" value=\"%s\"/></properties>",
		test_outcomes[t->outcome]);
	if (part[t->outcome]) {
		buf_fmt(b, "<%s", part[t->outcome]);
		if (t->outcome == TEST_XFAILED)
			buf_add(b, S(" type=\"pytest.xfail\""));
		add_attribute(b, "message", t->message);
		buf_add(b, S("/>"));
	}
	buf_add(b, S("</testcase>\n"));
}

struct str junit_text(struct arena *a, const struct test_evidence *e)
{
	BUF(b, a);
	const uint64_t *n = e->counts;
	buf_add(&b, S("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n<testsuite"));
	add_attribute(&b, "name",
		str_fmt(a, "%.*s%s%.*s", STR(e->suite), e->config.n ? "-" : "", STR(e->config)));
	buf_fmt(&b,
		" tests=\"%zu\" failures=\"%llu\" errors=\"%llu\" skipped=\"%llu\" time=\"%.3f\"",
		e->tests.n, (unsigned long long)n[TEST_FAILED],
		(unsigned long long)(n[TEST_LOST] + n[TEST_ERROR] + n[TEST_CRASHED] +
				     n[TEST_TIMEOUT]),
		(unsigned long long)(n[TEST_SKIPPED] + n[TEST_XFAILED] + n[TEST_LISTED]),
		e->seconds);
	add_attribute(&b, "timestamp", e->started);
	buf_add(&b, S(">\n"));
	VEC_EACH (const struct test_result, t, &e->tests)
		add_case(&b, t);
	buf_add(&b, S("</testsuite>\n</testsuites>\n"));
	return buf_str(&b);
}

struct err *evidence_write(
	struct arena *a, const struct test_evidence *e, struct str path, struct str junit)
{
	if (junit.n)
		TRY(fs_write(junit, junit_text(a, e), 0644));
	return path.n ? fs_write(path, json_document(a, 2, evidence_fields, e), 0644) : NULL;
}
