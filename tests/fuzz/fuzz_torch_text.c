/* All passes on arbitrary bytes, with a small table of each kind. The first byte chooses map, path
 * and generation. Beyond not crashing: what is refused is refused with a line; edits are in order,
 * each with a reason, and give the text; a text is the same with and without a trace; it stays
 * UTF-8 without "\r". */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "hipify/torch/text/text.h"
#include "lang/python/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

struct pair {
	const char *from, *to;
};

static void add(struct arena *a, struct torch_map *m, const struct pair *p)
{
	for (; p->from; p++)
		*VEC_PUSH(a, m) = (struct torch_entry){.from = str_from(p->from),
			.to = str_from(p->to),
			.table = S("A_MAP"),
			.file = S("maps.py"),
			.line = 1};
}

static struct torch_engine *engine_new(struct arena *a, bool v1)
{
	static const struct pair names[] = {{"cuda", "hip"}, {"cudaMalloc", "hipMalloc"},
		{"cub::", "hipcub::"}, {"cub::Max", "hipcub::Max"}, {"<nccl.h>", "<rccl.h>"},
		{"A=1", "B=1"}, {"type_t ", "kind_t "}, {"x/y.h", "hip/hip/y.h"},
		{"include <cuda.h", "include <hip/hip_runtime.h"}, {NULL, NULL}};
	static const struct pair special[] = {{"cudaMalloc", "hipOther"}, {NULL, NULL}};
	static const struct pair caffe2[] = {{"CUDA", "HIP"}, {"cuda", "hip"}, {"/gpu", "/hip/gpu"},
		{"CUDAContext", "HIPContext"}, {NULL, NULL}};
	static const struct pair paths[] = {{"m/r.cuh", "m/hip/r.cuh"}, {"c/g.h", "c/hip/g.h"},
		{"hip/hip/", "hip/"}, {NULL, NULL}};
	static const struct pair math[] = {
		{"std::max", "::max"}, {"std::exp", "::exp"}, {"::max", "max"}, {NULL, NULL}};
	struct torch_tables t = {.generation = v1 ? TORCH_V1 : TORCH_V2};
	add(a, &t.names, names);
	add(a, &t.special, special);
	add(a, &t.caffe2, caffe2);
	add(a, &t.paths, paths);
	add(a, &t.math, math);
	return torch_engine_new(a, &t);
}

/* Made once: it takes longer than a text. */
static const struct torch_engine *engine(bool v1)
{
	static struct arena a;
	static const struct torch_engine *made[2];
	if (!made[v1])
		made[v1] = engine_new(&a, v1);
	return made[v1];
}

static struct err *include(void *user, enum torch_form form, struct str path, struct str *ret)
{
	(void)user;
	require(path.n && !memchr(path.p, form == TORCH_ANGLE ? '>' : '"', path.n));
	if (path.p[0] == 'T')
		*ret = path.n % 2 ? S("") : S("H\">#include <T>");
	return path.p[0] == '!' ? err_at(err_new(E_HIPIFY, "no"), (struct loc){.line = 1}) : NULL;
}

static void check_edits(struct arena *a, struct str source, const struct hipify_text *t)
{
	BUF(b, a);
	size_t done = 0, line = 1;
	VEC_EACH (const struct hipify_edit, e, &t->edits) {
		require(e->from >= done && e->to >= e->from && e->to <= source.n && e->why);
		for (size_t i = done; i < e->from; i++)
			line += source.p[i] == '\n';
		require(e->line == line);
		buf_add(&b, str_sub(source, done, e->from));
		buf_add(&b, e->with);
		for (size_t i = e->from; i < e->to; i++)
			line += source.p[i] == '\n';
		done = e->to;
	}
	buf_add(&b, str_sub(source, done, source.n));
	require(str_eq(buf_str(&b), t->text));
}

static struct torch_job job_of(uint8_t choice)
{
	static const struct str paths[] = {S_INIT("/p/a.cu"), S_INIT("/p/a.cpp"),
		S_INIT("/p/CMakeLists.txt"), S_INIT("/p/PowKernel.cu")};
	struct torch_job job = {.path = paths[choice & 3], .include = include};
	job.map = choice & 4 ? TORCH_CAFFE2 : choice & 8 ? TORCH_SPECIAL : TORCH_NAMES;
	job.launches = choice & 16;
	return job;
}

static bool refused(struct err *e)
{
	if (e)
		require(e->code == E_HIPIFY && e->line);
	err_free(e);
	return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	ARENA(a);
	struct torch_job job = job_of(data[0]);
	const struct torch_engine *e = engine(!(data[0] & 32));
	struct hipify_text plain, traced;
	struct str bytes = {.p = (const char *)data + 1, .n = size - 1}, source, again;
	if (refused(py_decode(&a, bytes, &source)))
		return 0;
	require(!refused(py_decode(&a, source, &again)) && again.p == source.p);
	bool bad = refused(torch_text(&a, e, &job, source, &plain));
	job.trace = true;
	require(refused(torch_text(&a, e, &job, source, &traced)) == bad);
	if (bad)
		return 0;
	require(str_eq(plain.text, traced.text));
	check_edits(&a, source, &traced);
	require(!refused(py_decode(&a, plain.text, &again)) && again.p == plain.text.p);
	return 0;
}
