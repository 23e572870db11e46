/* A source of CUDA: what assumes waves of 32 lanes, and which of its lines no build for ROCm compiles. Places lie in the text. */
#include <limits.h>
#include <stdlib.h>

#include "hipify/waves.h"
#include "lang/cxx/live.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_place(struct str place, uint64_t lines)
{
	uint64_t line = 0, col = 0;
	struct str name, rest, first, second;
	check(str_cut(place, ':', &name, &rest));
	check(str_cut(rest, ':', &first, &second));
	check(str_u64(first, 10, &line) && str_u64(second, 10, &col));
	check(line >= 1 && line <= lines && col >= 1);
}

static void check_ranges(const struct line_ranges *r, uint64_t lines)
{
	unsigned last = 0;
	VEC_EACH (const struct line_range, x, r) {
		check(x->from > last && x->to >= x->from);
		/* an #if without an end goes on forever */
		check(x->to <= lines || (x->to == UINT_MAX && x == r->v + r->n - 1));
		last = x->to;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	MAP(texts, &a);
	struct str text = {.p = (const char *)data, .n = size}, name = S("a.cu");
	const struct strs files = {.v = &name, .n = 1};
	uint64_t lines = 1;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	map_put(&texts, name, &text);
	for (int by_torch = 0; by_torch < 2; by_torch++) {
		struct findings found = {0};
		const struct waves_request q = {.dir = S("/nowhere"),
			.files = &files,
			.by_torch = by_torch,
			.texts = &texts};
		struct err *e = waves_find(&a, &q, &found);
		check(!e);
		VEC_EACH (const struct finding, f, &found)
			check_place(f->path, lines);
		struct live_lines live = live_lines(&a, text, by_torch);
		check_ranges(&live.dead, lines);
		check_ranges(&live.conditions, lines);
	}
	return 0;
}
