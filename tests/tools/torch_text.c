/* torch-text TORCH: reads cases from stdin and prints what torch_text() makes of each with the
 * tables of that torch, so that oracle/torch_text.py can compare many with the original in one
 * process.
 *
 * A case is a line "MAP LAUNCHES PATH-BYTES TEXT-BYTES", the path and the text; the answer is "ok
 * BYTES" and the text, or "error CODE LINE MESSAGE". Each text is done with and without a trace,
 * whose edits must give the same. With --bench ROUNDS [launches] stdin names files, and the time
 * that all of them take is shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/fs.h"
#include "hipify/torch/run/select.h"
#include "hipify/torch/text/text.h"
#include "lang/python/text.h"

struct reader {
	struct str rest;
};

struct run {
	struct torch_tables tables;
	struct torch_engine *engine;
	struct arena *a; /* of the case */
	unsigned long calls;
};

static void die(const char *what)
{
	fprintf(stderr, "torch-text: %s\n", what);
	exit(1);
}

static void check(struct err *e)
{
	if (e)
		die(e->msg);
}

static struct str take(struct reader *r, size_t n)
{
	if (n > r->rest.n)
		die("the input is cut short");
	struct str s = str_sub(r->rest, 0, n);
	r->rest = str_sub(r->rest, n, r->rest.n);
	return s;
}

static size_t take_number(struct str *line)
{
	struct str word;
	uint64_t n = 0;
	str_next(line, ' ', &word);
	if (!str_u64(word, 10, &n))
		die("a number is missing");
	return (size_t)n;
}

static void read_tables(struct arena *a, const char *path, struct torch_tables *t)
{
	struct torch_source source;
	check(torch_open(a, str_from(path), &source));
	check(torch_tables_read(a, &source, t));
}

/* The rule for a PyTorch tree: paths of its own that move. */
static struct err *include(void *user, enum torch_form form, struct str path, struct str *ret)
{
	static const struct str moved[] = {S_INIT("ATen/cuda"), S_INIT("ATen/native/cuda"),
		S_INIT("ATen/native/nested/cuda"), S_INIT("ATen/native/quantized/cuda"),
		S_INIT("ATen/native/sparse/cuda"), S_INIT("ATen/native/transformers/cuda"),
		S_INIT("THC/")};
	struct run *r = user;
	bool yes = str_starts(path, S("THC")) && !str_starts(path, S("THCP"));
	(void)form;
	r->calls++;
	for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++)
		yes |= str_starts(path, moved[i]);
	if (yes)
		*ret = torch_output_name(r->a, path, false);
	return NULL;
}

static void check_edits(struct arena *a, struct str source, struct str want, struct torch_job job,
	const struct run *r)
{
	struct hipify_text t;
	job.trace = true;
	check(torch_text(a, r->engine, &job, source, &t));
	BUF(b, a);
	size_t done = 0;
	VEC_EACH (const struct hipify_edit, e, &t.edits) {
		if (e->from < done || e->to < e->from || !e->why || !e->line)
			die("edits are out of order or lack a reason");
		buf_add(&b, str_sub(source, done, e->from));
		buf_add(&b, e->with);
		done = e->to;
	}
	buf_add(&b, str_sub(source, done, source.n));
	if (!str_eq(buf_str(&b), want) || !str_eq(t.text, want))
		die("the edits do not give the text");
}

static struct err *translate(struct run *r, struct torch_job job, struct str bytes, struct str *ret)
{
	struct hipify_text t;
	struct str source;
	TRY(py_decode(r->a, bytes, &source));
	TRY(torch_text(r->a, r->engine, &job, source, &t));
	check_edits(r->a, source, t.text, job, r);
	*ret = t.text;
	return NULL;
}

static void answer(struct run *r, struct torch_job job, struct str bytes)
{
	struct str text;
	struct err *e = translate(r, job, bytes, &text);
	if (e) {
		printf("error %s %u %s\n", err_id(e->code), e->line, e->msg);
		err_free(e);
		return;
	}
	printf("ok %zu\n", text.n);
	fwrite(text.p, 1, text.n, stdout);
}

static void answer_all(struct run *r, struct str input)
{
	struct reader in = {input};
	struct str line;
	while (str_next(&in.rest, '\n', &line)) {
		ARENA(a);
		struct torch_job job = {.include = include, .user = r};
		r->a = &a;
		size_t map = take_number(&line);
		job.map = map == 2 ? TORCH_CAFFE2 : map == 1 ? TORCH_SPECIAL : TORCH_NAMES;
		job.launches = take_number(&line);
		size_t path = take_number(&line), text = take_number(&line);
		job.path = take(&in, path);
		answer(r, job, take(&in, text));
	}
}

static struct str read_stdin(struct arena *a)
{
	BUF(b, a);
	char chunk[65536];
	for (size_t n; (n = fread(chunk, 1, sizeof(chunk), stdin)) > 0;)
		buf_add(&b, (struct str){.p = chunk, .n = n});
	return buf_str(&b);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct work {
	struct str path, bytes;
};

static size_t once(struct run *r, const struct work *w, bool launches)
{
	ARENA(a);
	struct hipify_text t;
	struct str source;
	struct torch_job job = {
		.path = w->path, .include = include, .user = r, .launches = launches};
	r->a = &a;
	struct err *e = py_decode(&a, w->bytes, &source);
	e = e ? e : torch_text(&a, r->engine, &job, source, &t);
	size_t changed = !e && t.text.p != source.p;
	err_free(e);
	return changed;
}

/* Paths of files come from stdin. */
static void bench(struct arena *a, struct run *r, unsigned rounds, bool launches)
{
	struct str names = read_stdin(a), name;
	VEC(struct work) list = {0};
	size_t bytes = 0, changed = 0;
	double best = 1e9;
	while (str_next(&names, '\n', &name)) {
		struct work *w = VEC_PUSH(a, &list);
		w->path = name;
		check(fs_read(a, name, 1 << 28, &w->bytes));
		bytes += w->bytes.n;
	}
	for (unsigned i = 0; i < rounds; i++) {
		double start = now();
		changed = 0;
		VEC_EACH (const struct work, w, &list)
			changed += once(r, w, launches);
		best = now() - start < best ? now() - start : best;
	}
	printf("%zu files, %zu bytes, %zu changed: best of %u rounds %.1f ms, %.0f MB/s\n", list.n,
		bytes, changed, rounds, best * 1e3, (double)bytes / best / 1e6);
}

int main(int argc, char **argv)
{
	ARENA(a);
	struct run r = {0};
	if (argc < 2)
		die("usage: torch-text TORCH [--bench ROUNDS [launches]]");
	read_tables(&a, argv[1], &r.tables);
	double start = now();
	r.engine = torch_engine_new(&a, &r.tables);
	double built = now() - start;
	if (argc >= 4 && !strcmp(argv[2], "--bench")) {
		printf("engine: %.2f ms\n", built * 1e3);
		bench(&a, &r, (unsigned)strtoul(argv[3], NULL, 10), argc > 4);
	} else {
		answer_all(&r, read_stdin(&a));
	}
	return 0;
}
