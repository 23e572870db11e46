/* The entries of data/diagnoses/ against their own examples (tests/logs/ID/) and each other's, and against the sets of
 * logs in tests/logs: the table of precision and recall. */
#include <sys/wait.h>
#include <unistd.h>

#include "fixture_patterns.h"
#include "formats/json_fields.h"
#include "formats/node.h"

static struct log_answer read_text(struct arena *a, struct str text)
{
	struct log_answer answer;
	CLEANUP(stream_freep) struct stream *s = stream_new(-1, text, S("log"));
	assert_ok(log_read(a, patterns, s, &answer));
	return answer;
}

static bool confident(const struct log_answer *answer, const char *id)
{
	VEC_EACH (struct log_cause, c, &answer->causes)
		if (!c->context_only && !strcmp(c->id, id))
			return true;
	return false;
}

static bool mentioned(const struct log_answer *answer, struct str id)
{
	VEC_EACH (struct log_cause, c, &answer->causes)
		if (str_eq(id, str_from(c->id)))
			return true;
	return false;
}

static void print_causes(const struct log_answer *answer)
{
	VEC_EACH (struct log_cause, c, &answer->causes)
		print_error("    %s %s, line %u: %.*s (%.*s)\n",
			c->context_only ? "context" : "cause", c->id, (unsigned)c->at.line,
			STR(c->at.text), STR(c->reason));
}

/* An entry's examples of one kind, the texts of tests/logs/ID/KIND-*.txt. */
static struct strs examples(struct arena *a, const struct diagnosis *d, const char *kind)
{
	struct strs names, texts = {0};
	struct str dir = str_fmt(a, "tests/logs/%s", d->id);
	assert_ok(fs_list(a, dir, &names));
	VEC_EACH (struct str, name, &names) {
		struct str text;
		if (!str_starts(*name, str_fmt(a, "%s-", kind)))
			continue;
		assert_ok(
			fs_read(a, str_fmt(a, "%.*s/%.*s", STR(dir), STR(*name)), 1 << 20, &text));
		strs_add(a, &texts, text);
	}
	return texts;
}

#define ENTRY_EACH(d)                                                                              \
	for (const struct diagnosis *d = diagnosis_table();                                        \
		d < diagnosis_table() + diagnosis_count; d++)

static unsigned check_yes(struct arena *a, const struct diagnosis *d, struct str text)
{
	struct log_answer answer = read_text(a, text);
	bool first = answer.causes.n && !strcmp(answer.causes.v[0].id, d->id);
	unsigned bad = !first || (answer.causes.v[0].context_only && !d->context);
	VEC_EACH (struct log_cause, c, &answer.causes)
		bad += strcmp(c->id, d->id) != 0 && !c->context_only;
	if (bad) {
		print_error("'%s' is not the one cause of its example '%.*s'\n", d->id, STR(text));
		print_causes(&answer);
	}
	return bad;
}

/* Named, but not for sure: where nothing says that it is of AMD, or always. */
static unsigned check_weak(
	struct arena *a, const struct diagnosis *d, struct str text, bool asks_amd)
{
	struct log_answer answer = read_text(a, text);
	bool good = asks_amd ? answer.causes.n && !strcmp(answer.causes.v[0].id, d->id) &&
				       answer.causes.v[0].asks_amd
			     : mentioned(&answer, str_from(d->id)) && !confident(&answer, d->id);
	if (good)
		return 0;
	print_error(
		"'%s' is no %s in '%.*s'\n", d->id, asks_amd ? "candidate" : "context", STR(text));
	print_causes(&answer);
	return 1;
}

static unsigned check_no(struct arena *a, const struct diagnosis *d, struct str text)
{
	struct log_answer answer = read_text(a, text);
	if (!confident(&answer, d->id))
		return 0;
	print_error("'%s' is found in what it must not be: '%.*s'\n", d->id, STR(text));
	return 1;
}

static void examples_have_their_entry_as_the_only_cause(void **state)
{
	(void)state;
	ARENA(a);
	unsigned bad = 0;
	ENTRY_EACH(d)
	{
		const struct strs yes = examples(&a, d, "yes"), no = examples(&a, d, "no"),
				  maybe = examples(&a, d, "maybe"),
				  context = examples(&a, d, "context");
		VEC_EACH (struct str, text, &yes)
			bad += check_yes(&a, d, *text);
		VEC_EACH (struct str, text, &maybe)
			bad += check_weak(&a, d, *text, true);
		VEC_EACH (struct str, text, &context)
			bad += check_weak(&a, d, *text, false);
		VEC_EACH (struct str, text, &no)
			bad += check_no(&a, d, *text);
	}
	assert_int_equal(bad, 0);
}

static void the_same_examples_as_terminals_and_services_show_them(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const prefixes[] = {"2026-05-01T10:00:00.1234567Z ", "web-1  | ",
		"#12 34.56 ", "May 01 10:00:00 box python3[4242]: ", "[rank0]: ", "\x1b[31m",
		"      "};
	unsigned bad = 0;
	ENTRY_EACH(d)
	{
		const struct strs yes = examples(&a, d, "yes");
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
			struct str rest = yes.v[0], line;
			BUF(b, &a);
			while (str_next(&rest, '\n', &line))
				buf_fmt(&b, "%s%.*s\033[0m\r\n", prefixes[i], STR(line));
			struct log_answer answer = read_text(&a, buf_str(&b));
			if (mentioned(&answer, str_from(d->id)) &&
				(d->context || confident(&answer, d->id)))
				continue;
			print_error("'%s' is lost behind '%s'\n", d->id, prefixes[i]);
			print_causes(&answer);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
}

/* What another process prints goes into the middle of a line, as under make -j. */
static struct str torn(struct arena *a, struct str text, size_t at, size_t k)
{
	static const char *const others[] = {
		"[ 42%] Building CXX object src/CMakeFiles/x.dir/b.cpp.o\n",
		"[12/90] Linking CXX shared library lib/liby.so\n",
		"copying torch/nn/utils.py -> build/lib/torch/nn\n",
		"/src/b.cpp:12:7: warning: unused variable 'n' [-Wunused-variable]\n",
		"make[2]: Entering directory '/src/build'\n"};
	return str_fmt(a, "%.*s%s%.*s", STR(str_sub(text, 0, at)),
		others[k % (sizeof(others) / sizeof(others[0]))], STR(str_sub(text, at, text.n)));
}

static void torn_lines_are_put_together(void **state)
{
	(void)state;
	enum { STEP = 3 };
	ARENA(a);
	unsigned found = 0, all = 0, wrong = 0;
	ENTRY_EACH(d)
	{
		const struct strs all_no = examples(&a, d, "no");
		struct str yes = examples(&a, d, "yes").v[0];
		for (size_t i = 1, k = 0; i < yes.n; i++) {
			if (yes.p[i] != ' ' || yes.p[i - 1] == '\n' || k++ % STEP)
				continue;
			struct log_answer answer = read_text(&a, torn(&a, yes, i + k % 2, k));
			all++;
			found += mentioned(&answer, str_from(d->id));
		}
		VEC_EACH (struct str, no, &all_no) {
			struct log_answer answer =
				read_text(&a, torn(&a, *no, str_chr(*no, ' '), no->n));
			if (!confident(&answer, d->id))
				continue;
			print_error("'%s' is found in torn text: '%.*s'\n", d->id, STR(*no));
			wrong++;
		}
	}
	print_message("torn lines: %u of %u found, %u wrong\n", found, all, wrong);
	assert_true(all > 300 && found * 100 >= all * 97);
	assert_int_equal(wrong, 0);
}

/* Every quote as another one, lines broken at blanks near a width, indented, each word in a colour. */
static struct str disguised(struct arena *a, struct str text, size_t width, bool colour)
{
	BUF(b, a);
	size_t column = 0;
	bool open = false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		size_t word = str_chr(str_sub(text, i + 1, text.n), ' ');
		bool wrap = c == ' ' && column > 8 && column + word > width;
		column = c == '\n' || wrap ? 0 : column + 1;
		if (c == '"' || c == '\'' || c == '`') {
			open = !open && c != '\'';
			buf_add(&b, c == '\'' ? S("\xe2\x80\x99")
				    : open    ? S("\xe2\x80\x9c")
					      : S("\xe2\x80\x9d"));
		} else if (wrap) {
			buf_add(&b, S("\r\n    "));
		} else {
			buf_char(&b, c);
		}
		if (colour && c == ' ')
			buf_add(&b, S("\033[0m\033[1;31m"));
	}
	return buf_str(&b);
}

static void the_same_examples_wrapped_coloured_and_in_other_quotes(void **state)
{
	(void)state;
	ARENA(a);
	static const size_t widths[] = {100000, 120, 78};
	unsigned lost = 0, all = 0;
	ENTRY_EACH(d)
	{
		const struct strs all_yes = examples(&a, d, "yes");
		VEC_EACH (struct str, yes, &all_yes)
			for (size_t i = 0; i < 6; i++) {
				struct str text = disguised(&a, *yes, widths[i / 2], i % 2);
				struct log_answer answer = read_text(&a, text);
				all++;
				if (mentioned(&answer, str_from(d->id)) &&
					(d->context || confident(&answer, d->id)))
					continue;
				lost++;
				print_error("'%s' is lost in:\n%.*s\n", d->id, STR(text));
				print_causes(&answer);
			}
	}
	print_message("%u of %u disguised examples are lost\n", lost, all);
	assert_int_equal(lost, 0);
}

/* ---- the logs ---- */

struct tally {
	unsigned logs, right, missed, wrong; /* wrong: a cause that it has not */
};

static void judge(struct arena *a, const struct node *log, struct tally *t)
{
	struct str want = node_text(log, S("want"), S("")), text = node_text(log, S("text"), S(""));
	const struct diagnosis *d = diagnosis_find(want);
	if (want.n && !d)
		fail_msg("no entry '%.*s'", STR(want));
	struct log_answer answer = read_text(a, text);
	const struct log_cause *first = answer.causes.n ? answer.causes.v : NULL;
	bool candidate = node_get(log, S("candidate")) != NULL;
	bool context = d && (d->context || node_get(log, S("context")));
	bool right = !want.n || (first && str_eq(want, str_from(first->id)) &&
					(candidate ? first->asks_amd
						   : first->context_only == context || d->context));
	bool wrong = false;
	VEC_EACH (struct log_cause, c, &answer.causes)
		wrong |= !c->context_only && !str_eq(want, str_from(c->id));
	t->logs++;
	t->right += right && !wrong;
	t->missed += !right;
	t->wrong += wrong;
	if (right && !wrong)
		return;
	print_error("  %s, want '%.*s':\n", node_text(log, S("from"), S("")).p, STR(want));
	print_causes(&answer);
}

static struct tally judge_file(struct arena *a, const char *name)
{
	const struct node *root;
	struct tally all = {0}, none = {0};
	assert_ok(yaml_read(a, str_fmt(a, "tests/logs/%s.yaml", name), &root));
	NODE_EACH (log, node_get(root, S("log")))
		judge(a, log, node_text(log, S("want"), S("")).n ? &all : &none);
	unsigned told = all.right + all.wrong + none.wrong;
	print_message("%-12s %3u with a cause: recall %.0f %%, precision %.0f %%; %3u without: %u "
		      "wrong\n",
		name, all.logs, all.logs ? 100.0 * all.right / all.logs : 100,
		told ? 100.0 * all.right / told : 100, none.logs, none.wrong);
	return (struct tally){all.logs, all.right, all.missed, all.wrong + none.wrong};
}

/* What others print too is a cause below a line that says that AMD's software is at work, and below no other. */
static void the_sign_of_amd_is_no_accident(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *root;
	unsigned bad = 0;
	assert_ok(yaml_read(&a, S("tests/logs/signs.yaml"), &root));
	for (int amd = 0; amd < 2; amd++)
		NODE_EACH (line, node_get(root, amd ? S("amd") : S("other"))) {
			struct log_answer answer =
				read_text(&a, str_fmt(&a,
						      "%.*s\nRuntimeError: operator "
						      "torchvision::nms does not exist\n",
						      STR(line->text)));
			bool said = confident(&answer, "torchvision-nms");
			bad += said != (amd == 1);
			if (said != (amd == 1))
				print_error("%s AMD: %.*s\n", amd ? "not" : "is", STR(line->text));
		}
	assert_int_equal(bad, 0);
}

static void logs_of_public_reports_are_understood(void **state)
{
	(void)state;
	ARENA(a);
	struct tally t = judge_file(&a, "reports");
	assert_int_equal(t.wrong, 0);
	assert_int_equal(t.right, t.logs);
}

static void logs_in_other_words_are_understood_and_none_wrongly(void **state)
{
	(void)state;
	ARENA(a);
	struct tally t = judge_file(&a, "variations"), others = judge_file(&a, "negatives");
	assert_int_equal(t.wrong + others.wrong, 0);
	assert_true(t.right * 10 >= t.logs * 9);
}

/* No log of the held-out ones has a wrong cause; of one that has a cause, it is found, but for a tenth. */
static void judge_held_out(const char *file)
{
	ARENA(a);
	const struct node *root;
	assert_ok(yaml_read(&a, str_from(file), &root));
	unsigned with = 0, found = 0, wrong = 0;
	NODE_EACH (log, node_get(root, S("log"))) {
		struct log_answer answer = read_text(&a, node_text(log, S("text"), S("")));
		const struct node *want = node_get(log, S("want"));
		bool right = false, said = false;
		for (size_t i = 0; i < want->n; i++)
			right |= confident(&answer, str_z(&a, want->v[i].text));
		VEC_EACH (struct log_cause, c, &answer.causes)
			said |= !c->context_only;
		with += want->n != 0;
		found += right;
		wrong += said && !right;
		if (right || (!said && !want->n))
			continue;
		print_error("  %s %s:\n", said ? "wrong" : "missed",
			node_text(log, S("name"), S("")).p);
		print_causes(&answer);
	}
	print_message("held out: %u of %u found, %u wrong\n", found, with, wrong);
	assert_int_equal(wrong, 0);
	assert_true(found * 10 >= with * 9);
}

static void held_out_logs_have_no_wrong_cause(void **state)
{
	(void)state;
	judge_held_out("tests/logs/held_out.yaml");
	judge_held_out("tests/logs/held_out_2.yaml");
	judge_held_out("tests/logs/held_out_3.yaml");
}

static void the_first_error_is_told(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *root;
	unsigned bad = 0;
	assert_ok(yaml_read(&a, S("tests/logs/first_errors.yaml"), &root));
	NODE_EACH (log, node_get(root, S("log"))) {
		struct log_answer answer = read_text(&a, node_text(log, S("text"), S("")));
		if (str_eq(answer.first_error.text, node_text(log, S("first"), S("?"))))
			continue;
		print_error("  %s: not line %u: %.*s\n", node_text(log, S("from"), S("")).p,
			(unsigned)answer.first_error.line, STR(answer.first_error.text));
		bad++;
	}
	assert_int_equal(bad, 0);
}

/* A way that neither names AMD's software nor says who alone prints it is also met by others: an entry with one has
 * an example of that. */
static unsigned check_ways(const struct diagnosis *d, bool maybe)
{
	unsigned bad = 0;
	for (const struct diagnosis_match *m = d->match; m->text; m++) {
		bool own = m->alone || m->context || d->context || strstr(m->text, "gfx") ||
			   strstr(m->text, "_hip") || line_has(str_from(m->text), "own");
		bad += !own && !maybe;
		if (!own && !maybe)
			print_error("'%s' has a way that others print, too, but no _maybe: %s\n",
				d->id, m->text);
		if (m->alone && strlen(m->alone) < 4)
			fail_msg("'%s' does not say who alone prints it", d->id);
	}
	return bad;
}

static void entries_are_complete(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < diagnosis_sign_count; i++) {
		const char *cures = diagnosis_sign_table()[i].cures;
		assert_true(!cures || diagnosis_find(str_from(cures)));
	}
	unsigned bad = 0;
	ENTRY_EACH(d)
	{
		if (!examples(&a, d, "yes").n || !examples(&a, d, "no").n || !d->evidence ||
			!d->evidence[0] || !d->fix || !d->match || !d->cause || !d->applies.os)
			fail_msg("the entry '%s' lacks something: see data/diagnoses/README.md",
				d->id);
		if (strstr(d->title, "FILL IN") || strstr(d->cause, "FILL IN") ||
			strstr(d->fix->action, "FILL IN") || strstr(d->evidence[0], "FILL IN"))
			fail_msg("the entry '%s' is not filled in", d->id);
		if (!fs_present(str_fmt(&a, "data/diagnoses/%s.yaml", d->id)))
			fail_msg("the entry '%s' is not in data/diagnoses/%s.yaml", d->id, d->id);
		for (const char *const *e = d->explains; e && *e; e++)
			if (!diagnosis_find(str_from(*e)))
				fail_msg("'%s' explains '%s', which is no entry", d->id, *e);
		/* the tracker ROCm/ROCm has another name since 2026 */
		for (const char *const *e = d->evidence; *e; e++)
			if (str_starts(str_from(*e), S("ROCm/ROCm#")))
				fail_msg("'%s': %s is ROCm/legacy-rocm-build now", d->id, *e);
		bad += check_ways(d, examples(&a, d, "maybe").n > 0);
		assert_true(str_is_one_of(str_from(d->confidence),
			(const char *const[]){"maintainer", "source", "users", NULL}));
	}
	assert_int_equal(bad, 0);
}

/* Where a program's folder, or what it says, shows Windows or a program on ggml. */
static bool is_log_of(struct str text, bool windows)
{
	static const char *const words[2][7] = {
		{"ggml_cuda_init", "source=server.go", "source=gpu.go", "source=amd_linux.go",
			"ggml-cuda.cu:", "ggml/src/ggml-", NULL},
		{"C:\\Users", "D:\\", "[WinError", "site-packages\\", "C:\\Program Files", NULL},
	};
	for (const char *const *w = words[windows]; *w; w++)
		if (str_contains(text, str_from(*w)))
			return true;
	return false;
}

/* Nobody pastes bash into PowerShell, and ollama has no torch. */
static unsigned check_advice(struct arena *a, struct str text)
{
	static const char *const bash[] = {"$(", "export ", "unset ", "sudo ", "| grep", "env -u",
		"apt", "/dev/", "LD_", "/opt/", "rocminfo", "<<", "$ROCM", NULL};
	static const char *const torch[] = {"torch", "pip ", "python", NULL};
	bool windows = is_log_of(text, true) && !str_contains(text, S("WSL"));
	bool ggml = is_log_of(text, false);
	bool builds =
		str_contains(text, S("ggml/src/ggml-")); /* pip brings ROCm to compile with, too */
	unsigned bad = 0;
	if (!windows && !ggml)
		return 0;
	struct log_answer answer = read_text(a, text);
	VEC_EACH (struct log_cause, c, &answer.causes) {
		bool advice = false;
		if (c->context_only)
			continue;
		VEC_EACH (struct diagnosis_fix, f, &c->fixes) {
			struct str command = str_from(f->command ? f->command : "");
			bool assigns = str_chr(command, '=') < str_chr(command, ' ');
			advice = true;
			if (windows && command.n && assigns) {
				print_error("%s on Windows: %s\n", c->id, f->command);
				bad++;
			}
			for (const char *const *w = bash; windows && *w; w++)
				if (str_contains(command, str_from(*w))) {
					print_error("%s on Windows: %s\n", c->id, f->command);
					bad++;
				}
			bool sdk = builds && str_contains(command, S("rocm["));
			for (const char *const *w = torch; ggml && !sdk && *w; w++)
				if (str_contains(command, str_from(*w))) {
					print_error("%s of ggml: %s\n", c->id, f->command);
					bad++;
				}
		}
		bad += !advice;
		if (!advice)
			print_error("%s: no remedy is left\n", c->id);
	}
	return bad;
}

static void advice_fits_the_system_and_the_program_of_the_log(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const sets[] = {
		"reports", "variations", "held_out", "held_out_2", "held_out_3"};
	unsigned bad = 0;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		const struct node *root;
		assert_ok(yaml_read(&a, str_fmt(&a, "tests/logs/%s.yaml", sets[i]), &root));
		NODE_EACH (log, node_get(root, S("log")))
			bad += check_advice(&a, node_text(log, S("text"), S("")));
	}
	ENTRY_EACH(d)
	{
		const struct strs all = examples(&a, d, "yes");
		VEC_EACH (struct str, text, &all)
			bad += check_advice(&a, *text);
	}
	assert_int_equal(bad, 0);
}

/* What the logs of this name say: those of SET.yaml: NAME, or a file. */
static struct str answers_of(struct arena *a, struct str log)
{
	struct str set, name, text;
	BUF(b, a);
	if (!str_contains(log, S(".yaml: "))) {
		assert_ok(fs_read(a, str_fmt(a, "tests/logs/%.*s", STR(log)), 1 << 20, &text));
		const struct log_answer answer = read_text(a, text);
		return json_document(a, 0, log_answer_fields, &answer);
	}
	const struct node *root;
	size_t at = str_find(log, S(": "));
	set = str_sub(log, 0, at);
	name = str_sub(log, at + 2, log.n);
	assert_ok(yaml_read(a, str_fmt(a, "tests/logs/%.*s", STR(set)), &root));
	NODE_EACH (n, node_get(root, S("log"))) {
		if (!str_eq(node_text(n, S("name"), node_text(n, S("from"), S(""))), name))
			continue;
		const struct log_answer answer = read_text(a, node_text(n, S("text"), S("")));
		buf_add(&b, json_document(a, 0, log_answer_fields, &answer));
	}
	if (!b.n)
		fail_msg("there is no log '%.*s'", STR(log));
	return buf_str(&b);
}

/* Makes a sign or a shape match nothing, in this process. */
static void switch_off(struct str name, bool sign)
{
	static const char *const never[] = {"\x01never", NULL};
	struct diagnosis_sign *signs = (void *)(uintptr_t)diagnosis_sign_table();
	struct diagnosis_shape *shapes = (void *)(uintptr_t)diagnosis_shape_table();
	for (size_t i = 0; sign && i < diagnosis_sign_count; i++)
		if (str_eq(name, str_from(signs[i].name))) {
			signs[i].text = never[0];
			signs[i].raw = false;
		}
	for (size_t i = 0; !sign && i < diagnosis_shape_count; i++)
		if (str_eq(name, str_from(shapes[i].name))) {
			shapes[i].text = shapes[i].any ? NULL : never[0];
			shapes[i].any = shapes[i].any ? never : NULL;
		}
}

/* In a child, whose shapes are not compiled yet: does the answer change when it is switched off? */
static bool is_needed(const struct node *row, bool sign)
{
	ARENA(a);
	struct str log = node_text(row, S("_log"), S("")), first;
	pid_t pid = fork();
	if (pid == 0) {
		int ends[2];
		if (pipe(ends) != 0 || (pid = fork()) < 0)
			_exit(2);
		if (pid == 0) { /* the answer with it */
			first = answers_of(&a, log);
			_exit(write(ends[1], first.p, first.n) != (ssize_t)first.n);
		}
		char *text = arena_raw(&a, 1 << 16);
		close(ends[1]);
		ssize_t got, n = 0;
		while ((got = read(ends[0], text + n, (size_t)((1 << 16) - n))) > 0)
			n += got;
		switch_off(node_text(row, S("name"), S("")), sign);
		log_patterns_freep(&patterns);
		assert_ok(log_patterns_new(&patterns));
		_exit(str_eq(answers_of(&a, log), (struct str){text, (size_t)n}) ? 1 : 0);
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static void each_sign_and_shape_is_needed_by_the_log_that_it_names(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *root;
	unsigned bad = 0, n = 0;
	assert_ok(yaml_read(&a, S("data/logs.yaml"), &root));
	for (int sign = 0; sign < 2; sign++)
		NODE_EACH (row, node_get(root, sign ? S("diagnosis_sign") : S("diagnosis_shape"))) {
			n++;
			if (is_needed(row, sign))
				continue;
			print_error("'%s' changes nothing in the log that it names\n",
				node_text(row, S("name"), S("")).p);
			bad++;
		}
	assert_true(n > 40);
	assert_int_equal(bad, 0);
}

/* What says nothing of AMD is a cause where the machine has an AMD GPU, and no NVIDIA one. */
static void the_machine_is_a_sign_too(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *text, *machine, *id;
		bool nvidia;
	} rows[] = {
		{"AssertionError: Torch not compiled with CUDA enabled\n", "rdna2-desktop",
			"wrong-wheel-cpu-or-cuda", false},
		{"AssertionError: Torch not compiled with CUDA enabled\n", "intel-only", NULL,
			false},
		{"AssertionError: Torch not compiled with CUDA enabled\n", "rdna2-desktop", NULL,
			true},
		{"NVIDIA-SMI 550.54\nAssertionError: Torch not compiled with CUDA enabled\n",
			"rdna2-desktop", NULL, false},
		{"OSError: libtorch_cuda.so: cannot open shared object file: No such file or "
		 "directory\n",
			"strix-halo", "cuda-extension-on-rocm", false},
		{"It says OSError: libtorch_cuda.so: cannot open shared object file.\n",
			"strix-halo", NULL, false},
		{"a.cu:1:10: fatal error: 'cuda_runtime.h' file not found\n", "strix-halo", NULL,
			false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct log_answer answer = read_text(&a, str_from(rows[i].text));
		struct machine m;
		assert_int_equal(answer.causes.n, 1);
		assert_true(answer.causes.v[0].context_only);
		assert_ok(machine_read(
			&a, str_fmt(&a, "tests/machines/%s.machine", rows[i].machine), &m));
		m.nvidia |= rows[i].nvidia;
		assert_ok(log_compare(&a, &answer, &m, false));
		assert_int_equal(answer.causes.v[0].context_only, !rows[i].id);
		assert_true(!rows[i].id || confident(&answer, rows[i].id));
	}
}

extern const struct str diagnosis_scan, diagnosis_scan_rest;

/* Nothing compiles them later: those for another Hyperscan, or another CPU, cannot be used. */
static void the_patterns_were_compiled_when_the_program_was_built(void **state)
{
	(void)state;
	CLEANUP(scan_freep) struct log_scan *s = NULL;
	assert_true(diagnosis_scan.n > 10000);
	assert_true(diagnosis_scan_rest.n > 10000);
	assert_ok(scan_new(diagnosis_scan_rest, &s));
	scan_freep(&s);
	struct str half = str_sub(diagnosis_scan, 0, diagnosis_scan.n / 2);
	assert_err_says(scan_new(half, &s), E_TOOL_MISSING, "cannot be searched by this");
	assert_null(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sign_and_shape_is_needed_by_the_log_that_it_names),
		cmocka_unit_test(entries_are_complete),
		cmocka_unit_test(the_patterns_were_compiled_when_the_program_was_built),
		cmocka_unit_test(examples_have_their_entry_as_the_only_cause),
		cmocka_unit_test(the_sign_of_amd_is_no_accident),
		cmocka_unit_test(logs_of_public_reports_are_understood),
		cmocka_unit_test(logs_in_other_words_are_understood_and_none_wrongly),
		cmocka_unit_test(held_out_logs_have_no_wrong_cause),
		cmocka_unit_test(advice_fits_the_system_and_the_program_of_the_log),
		cmocka_unit_test(the_first_error_is_told),
		cmocka_unit_test(the_same_examples_wrapped_coloured_and_in_other_quotes),
		cmocka_unit_test(the_machine_is_a_sign_too),
		cmocka_unit_test(torn_lines_are_put_together),
		cmocka_unit_test(the_same_examples_as_terminals_and_services_show_them),
	};
	return cmocka_run_group_tests(tests, compile_patterns, free_patterns);
}
