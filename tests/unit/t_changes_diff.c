/* The unified diff of a translation agrees with diff(1), byte for byte, for every shape that edits
 * can have; and texts of all line ends come out as they went in. */
#include "test.h"

#include "base/buf.h"
#include "base/proc.h"
#include "hipify/hipify.h"

#define RUNTIME "#include <hip/hip_runtime.h>\n"

/* What diff -u says about a source and its translation, below the two lines with names and times */
static struct str oracle(struct arena *a, struct str dir, struct str source, struct str text)
{
	struct str old = path_join(a, dir, S("old")), new = path_join(a, dir, S("new"));
	struct proc p = {0};
	struct proc_result r;
	assert_ok(fs_write(old, source, 0644));
	assert_ok(fs_write(new, text, 0644));
	proc_arg(a, &p, "diff", "-u", old.p, new.p, NULL);
	assert_ok(proc_run(a, &p, &r));
	size_t first = str_chr(r.out, '\n');
	size_t second = first + 1 + str_chr(str_sub(r.out, first + 1, r.out.n), '\n');
	return str_sub(r.out, second + 1, r.out.n);
}

static void check(struct arena *a, struct str dir, struct str path, struct str source)
{
	struct hipify_text t;
	assert_ok(hipify_text(a, source, path, NULL, &t));
	struct changes_diff d = {.old_name = path,
		.new_name = hipify_output_name(a, path),
		.old = source,
		.new = t.text};
	struct str got = changes_diff(a, &d);
	if (!t.edits.n) {
		assert_int_equal(got.n, 0);
		return;
	}
	struct str head =
		str_fmt(a, "--- %.*s\n+++ %.*s\n", STR(path), STR(hipify_output_name(a, path)));
	assert_true(str_starts(got, head));
	struct str want = oracle(a, dir, source, t.text);
	if (!str_eq(str_sub(got, head.n, got.n), want))
		fail_msg("for:\n%.*s\ngot:\n%.*s\nwant:\n%.*s", STR(source), STR(got), STR(want));
}

static void it_is_what_diff_prints(void **state)
{
	(void)state;
	static const char *const sources[] = {
		"",
		"\n",
		"cudaFree(0);",
		"cudaFree(0);\n",
		"int x;",
		"int x;\n",
		"\n\n\n\ncudaFree(0);\n\n\n\n\n",
		"#include <cuda_runtime.h>\n",
		"#include <cuda_runtime.h>",
		RUNTIME "cudaFree(0);\ncudaFree(1);\nx\ncudaFree(2);\n",
		RUNTIME "1\n2\n3\n4\n5\n6\n7\n8\n9\ncudaFree(0); cudaFree(1);\n",
		RUNTIME "cudaFree\n1\n2\n3\n4\n5\ncudaFree\n",
		RUNTIME "cudaFree\n1\n2\n3\n4\n5\n6\ncudaFree\n",
		RUNTIME "cudaFree\n1\n2\n3\n4\n5\n6\n7\ncudaFree\n",
		RUNTIME "cudaFree\n1\n2\n3\n4\n5\n6\n7\n8\ncudaFree",
		"__shfl_sync(1, 2, 3);\n1\n2\n3\n",
		"cudaFree(\n0\n);\n@@ not a hunk @@\n--- nor a file\n+++ b\n",
		RUNTIME "\r\ncudaFree(0);\r\nx\r\n",
		"\xef\xbb\xbfint x;\n1\n2\n",
		"\xef\xbb\xbf" RUNTIME "cudaFree(0);\n",
	};
	ARENA(a);
	if (!proc_find(&a, S("diff")).n)
		skip();
	struct str dir = test_dir(&a);
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		check(&a, dir, S("d/a.cu"), str_from(sources[i]));
		check(&a, dir, S("a.cuh"), str_from(sources[i]));
	}
	test_dir_remove(dir);
}

/* Many shapes out of a few kinds of lines; the seed is fixed, so that a failure can be repeated. */
static void random_texts_agree_with_diff(void **state)
{
	(void)state;
	static const char *const lines[] = {"x\n", "x\n", "\n", "x\n", "cudaFree(0);\n",
		"cudaMalloc(&p, cudaSuccess);\n", "int y;\n", "}\n"};
	ARENA(a);
	if (!proc_find(&a, S("diff")).n)
		skip();
	struct str dir = test_dir(&a);
	uint32_t seed = 12345;
	for (unsigned round = 0; round < 60; round++) {
		BUF(b, &a);
		for (unsigned i = 0; i < round; i++) {
			seed = seed * 1664525u + 1013904223u;
			buf_add(&b, str_from(lines[seed >> 29]));
		}
		check(&a, dir, round % 2 ? S("a.cu") : S("a.h"), buf_str(&b));
	}
	test_dir_remove(dir);
}

/* ---- any two texts ---- */

static struct str take_line(struct str *s)
{
	size_t end = str_chr(*s, '\n');
	struct str line = str_sub(*s, 0, end + 1);
	*s = str_sub(*s, end + 1, s->n);
	return line;
}

static size_t number_after(struct str line, char sign)
{
	size_t n = 0;
	for (size_t i = str_chr(line, sign) + 1; i < line.n && line.p[i] >= '0' && line.p[i] <= '9';
		i++)
		n = n * 10 + (size_t)(line.p[i] - '0');
	return n;
}

/* The body of a hunk: context and removed lines must be those of the old text. */
static void patch_hunk(struct buf *out, struct str *old, struct str *diff)
{
	while (diff->n && diff->p[0] != '@') {
		struct str line = take_line(diff), body = str_sub(line, 1, line.n);
		if (str_starts(*diff, S("\\"))) {
			take_line(diff);
			body.n--;
		}
		if (line.p[0] != '+')
			assert_true(str_eq(take_line(old), body));
		if (line.p[0] != '-')
			buf_add(out, body);
	}
}

/* What patch(1) would make of the old text. */
static struct str patched(struct arena *a, struct str old, struct str diff)
{
	BUF(out, a);
	size_t line = 1;
	struct str all = old;
	take_line(&diff);
	take_line(&diff);
	while (diff.n) {
		struct str head = take_line(&diff);
		size_t first = number_after(head, '-');
		bool none = str_contains(head, S(",0 +"));
		for (; line < first + none; line++)
			buf_add(&out, take_line(&old));
		size_t before = old.n;
		patch_hunk(&out, &old, &diff);
		struct str used = str_sub(all, all.n - before, all.n - old.n);
		while (used.n) {
			take_line(&used);
			line++;
		}
	}
	buf_add(&out, old);
	return buf_str(&out);
}

static struct str random_text(struct arena *a, uint32_t *seed, unsigned lines, unsigned kinds)
{
	BUF(b, a);
	for (unsigned i = 0; i < lines; i++) {
		*seed = *seed * 1664525u + 1013904223u;
		buf_fmt(&b, "%u\n", (*seed >> 16) % kinds);
	}
	*seed = *seed * 1664525u + 1013904223u;
	size_t cut = b.n && *seed >> 31 ? 1 : 0;
	return str_dup(a, (struct str){b.p, b.n - cut});
}

/* Also where there is far more than one stretch of differences can hold. */
static void a_diff_of_any_texts_leads_from_one_to_the_other(void **state)
{
	(void)state;
	static const unsigned sizes[] = {0, 1, 2, 5, 20, 300, 3000};
	static const unsigned kinds[] = {1, 2, 7, 1000000};
	uint32_t seed = 7;
	for (size_t i = 0; i < 7 * 7 * 4; i++) {
		ARENA(a);
		struct changes_diff d = {.old_name = S("x"), .new_name = S("y")};
		d.old = random_text(&a, &seed, sizes[i % 7], kinds[i % 4]);
		d.new = random_text(&a, &seed, sizes[i / 7 % 7], kinds[i % 4]);
		struct str got = changes_diff(&a, &d);
		assert_int_equal(got.n == 0, str_eq(d.old, d.new));
		assert_true(str_eq(patched(&a, d.old, got), d.new));
	}
}

static void add_lines(struct buf *b, const char *name, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_fmt(b, "%s %u\n", name, i);
}

/* More edits than one search bears: what came furthest is kept, and nothing is shown that stays. */
static void far_edits_do_not_hide_what_stays(void **state)
{
	(void)state;
	ARENA(a);
	BUF(old, &a);
	BUF(new, &a);
	struct changes_diff d = {.old_name = S("x"), .new_name = S("y")};
	add_lines(&new, "above", 200);
	add_lines(&old, "same", 1000);
	add_lines(&new, "same", 1000);
	add_lines(&old, "gone", 300);
	add_lines(&new, "came", 300);
	d.old = buf_str(&old);
	d.new = buf_str(&new);
	struct str got = changes_diff(&a, &d), line;
	unsigned n = 0;
	while (str_next(&got, '\n', &line))
		n += line.n && (line.p[0] == '+' || line.p[0] == '-');
	assert_int_equal(n, 2 + 200 + 300 + 300);
}

static void all_line_ends_stay(void **state)
{
	(void)state;
	static const struct {
		const char *source, *want;
	} texts[] = {
		{"#include <cuda.h>\r\ncudaFree(0);\r\n",
			"#include <hip/hip_runtime.h>\r\nhipFree(0);\r\n"},
		{"#define F cudaFree \\\r\n (0)\r\nx\r\n", "#define F hipFree \\\r\n (0)\r\nx\r\n"},
		{"// cudaFree \\\r\ncudaFree\r\ncudaFree\r\n",
			"// cudaFree \\\r\ncudaFree\r\nhipFree\r\n"},
		{"cudaFree\rcudaFree\n", "hipFree\rhipFree\n"},
		{"\f\vcudaFree\n\n\n", "\f\vhipFree\n\n\n"},
		{"#if __CUDA_ARCH__ > \\\r\n 1\r\n#endif\r\n",
			"#if __CUDA_ARCH__ > \\\r\n 1\r\n#endif\r\n"},
		{"cudaFree", "hipFree"},
		{"#ifdef __CUDACC__", "#ifdef __HIPCC__"},
		{"#include <cuda.h>", "#include <hip/hip_runtime.h>"},
		{"cudaMemcpyToSymbol(a, b, 4", "hipMemcpyToSymbol(HIP_SYMBOL(a), b, 4"},
		{"cudaMemcpyToSymbol(a", "hipMemcpyToSymbol(HIP_SYMBOL(a)"},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		ARENA(a);
		struct hipify_text t;
		assert_ok(hipify_text(&a, str_from(texts[i].source), S("t.h"), NULL, &t));
		assert_str(t.text, texts[i].want);
	}
}

/* The line of an edit is that of the source, also behind spliced lines and raw strings. */
static void edits_know_their_line(void **state)
{
	(void)state;
	ARENA(a);
	struct hipify_text t;
	struct str source = S("/* 1\n2 */ cudaFree; \"a\\\nb\" cudaFree\nR\"(4\n5)\" cudaFree\n"
			      "#define x \\\n cudaFree\ncudaFree // \\\n 9\n\ncudaFree");
	static const unsigned want[] = {2, 3, 5, 7, 8, 11};
	assert_ok(hipify_text(&a, source, S("t.h"), NULL, &t));
	assert_int_equal(t.edits.n, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < t.edits.n; i++)
		assert_int_equal(t.edits.v[i].line, want[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_diff_prints),
		cmocka_unit_test(random_texts_agree_with_diff),
		cmocka_unit_test(a_diff_of_any_texts_leads_from_one_to_the_other),
		cmocka_unit_test(far_edits_do_not_hide_what_stays),
		cmocka_unit_test(all_line_ends_stay),
		cmocka_unit_test(edits_know_their_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
