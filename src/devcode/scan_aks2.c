/* AOTriton's kernel stores (.aks2): the kernels of one function for one GPU, in one xz stream.
 * Source: the format as AOTriton's packed_kernel.cc describes it; doc/formats.md has the tables. Its objects
 * differ by parameters, not by GPU, so a store counts as one bundle. */
#include <lzma.h>

#include "base/proc.h"
#include "devcode/scan.h"
#include "formats/le.h"

enum { HEADER = 16, ENTRY = 20, MAX_KERNELS = 1 << 16 };

struct aks2_store {
	const struct bytes *src;
	uint32_t size, kernels, directory; /* decoded bytes; the directory takes so many of them */
	char *p;                           /* malloc'ed */
	uint64_t taken;                    /* bytes of the budget in use */
};

static void store_done(struct aks2_store *x)
{
	free(x->p);
	budget_return(x->src->budget, x->taken);
}

bool aks2_is(struct str head)
{
	return head.n >= HEADER && str_starts(head, S("AKS2"));
}

/* Decodes the stream up to its end; the output must fill x->p exactly. */
static struct err *inflate_store(struct aks2_store *x)
{
	enum { CHUNK = 64 << 10, WINDOW = 80 << 20 /* xz -9 needs 65 MiB */ };
	ARENA(tmp);
	CLEANUP(lzma_end) lzma_stream z = LZMA_STREAM_INIT;
	uint8_t *in = arena_raw(&tmp, CHUNK);
	uint64_t at = HEADER;
	lzma_ret r = LZMA_OK;
	TRY(budget_memory(x->src->budget, x->size));
	x->taken = x->size;
	x->p = malloc(x->size ? x->size : 1);
	if (!x->p || lzma_stream_decoder(&z, WINDOW, 0) != LZMA_OK)
		return err_new(E_LIMIT, "no memory for %u bytes", x->size);
	z.next_out = (uint8_t *)x->p;
	z.avail_out = x->size;
	while (r == LZMA_OK) {
		size_t before = z.avail_out;
		if (!z.avail_in) {
			TRY(bytes_peek(x->src, in, CHUNK, at, &z.avail_in));
			z.next_in = in;
			at += z.avail_in;
		}
		r = lzma_code(&z, z.avail_in ? LZMA_RUN : LZMA_FINISH);
		TRY(budget_work(x->src->budget, before - z.avail_out + 1));
	}
	if (r == LZMA_MEMLIMIT_ERROR)
		return err_new(E_LIMIT, "its xz stream needs more than 80 MiB to be decoded");
	if (r != LZMA_STREAM_END || z.avail_out)
		return err_new(E_FORMAT,
			"its xz stream is damaged, or not the %u bytes that its header tells of",
			x->size);
	return NULL;
}

/* Adds the objects. The share of each in the file is in proportion to its size. */
static struct err *read_kernels(struct scan *s, const struct aks2_store *x)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < x->kernels; i++) {
		struct code_object *o;
		if (at + ENTRY > x->directory)
			return err_new(E_FORMAT, "its directory ends before entry %u of %u", i,
				x->kernels);
		const char *p = x->p + at;
		uint64_t from = (uint64_t)x->directory + le32(p + 8), size = le32(p + 12);
		at += ENTRY + (uint64_t)le32(p + 16);
		if (from > x->size || size > x->size - from)
			return err_new(E_FORMAT, "kernel %u lies outside of the decoded bytes", i);
		if (!size) /* a kernel that AOTriton chose not to compile */
			continue;
		struct bytes src = bytes_mem((struct str){.p = x->p + from, .n = (size_t)size});
		src.budget = x->src->budget;
		TRY(object_add(s, x->src, S(""), &o));
		o->encoding = DEVCODE_AKS2;
		o->size = size;
		o->stored = (uint64_t)((double)x->src->size * ((double)size / (double)x->size));
		o->place = (struct code_place){
			.bundle = x->src->base - s->base, .length = x->src->size, .offset = from};
		object_look(s, &src, o);
		TRY(cancel_check());
	}
	if (at != x->directory)
		return err_new(E_FORMAT,
			"its directory is not of the %u bytes that its header tells of",
			x->directory);
	return NULL;
}

struct err *scan_aks2(struct scan *s, const struct bytes *src)
{
	char head[HEADER];
	TRY(bytes_read(src, head, HEADER, 0));
	CLEANUP(store_done)
	struct aks2_store x = {.src = src,
		.size = le32(head + 4),
		.kernels = le32(head + 8),
		.directory = le32(head + 12)};
	if (x.directory > x.size || x.kernels > MAX_KERNELS)
		return err_new(
			E_FORMAT, "a store of %u kernels whose header makes no sense", x.kernels);
	TRY(inflate_store(&x));
	TRY(read_kernels(s, &x));
	s->file->bundles++;
	return NULL;
}
