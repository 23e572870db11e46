/* The last block of deflate streams: zlib made them, and its inflate() knows the answer. */
#include "test.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zlib.h>

#include "formats/zip_format.h"

enum { SIZE = 120000, ROOM = 150000 };

/* Text, numbers, noise and zeros in turn, so that a stream has blocks of all kinds. */
static void make(unsigned char *p, unsigned seed)
{
	uint32_t x = seed;
	for (size_t i = 0; i < SIZE; i++) {
		x = x * 1664525 + 1013904223;
		unsigned kind = (unsigned)(i / 15000 + seed) % 4;
		p[i] = (unsigned char)(kind == 0   ? (size_t) "the quick brown fox"[x >> 28]
				       : kind == 1 ? i / 7
				       : kind == 2 ? x >> 24
						   : 0);
	}
}

static void ask_zlib(unsigned char *in, size_t n, uint64_t *begin, uint64_t *end)
{
	static unsigned char window[1 << 16];
	z_stream z = {.next_in = in, .avail_in = (uInt)n};
	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	*end = 0;
	for (bool last = false; !last;) {
		z.next_out = window;
		z.avail_out = sizeof(window);
		assert_int_equal(inflate(&z, Z_BLOCK), Z_OK);
		if (!(z.data_type & 128))
			continue;
		*begin = *end;
		*end = (uint64_t)z.total_in * 8 - (unsigned)(z.data_type & 63);
		last = z.data_type & 64;
	}
	inflateEnd(&z);
}

static void check(struct arena *a, unsigned char *p, size_t n)
{
	uint64_t begin, end, want_begin, want_end;
	ask_zlib(p, n, &want_begin, &want_end);
	memset(p + n, 0xff, 8);
	assert_true(deflate_last_block(a, (char *)p, n, &begin, &end));
	assert_int_equal(begin, want_begin);
	assert_int_equal(end, want_end);
	/* What is cut off, or odd, is refused, or read to some end inside. */
	assert_false(deflate_last_block(a, (char *)p, n - 1, &begin, &end));
	for (unsigned i = 0; i < 40; i++) {
		size_t at = (size_t)i * 7919 % n;
		p[at] ^= (unsigned char)(1u << i % 8);
		if (deflate_last_block(a, (char *)p, n, &begin, &end))
			assert_in_range(end, begin, n * 8);
		p[at] ^= (unsigned char)(1u << i % 8);
	}
}

static void finds_what_inflate_finds(void **state)
{
	(void)state;
	static unsigned char raw[SIZE], out[ROOM + 8];
	static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
	for (int i = 0; i < 40; i++) {
		ARENA(a);
		make(raw, (unsigned)i);
		z_stream z = {.next_in = raw,
			.avail_in = i == 39 ? 0 : SIZE - (uInt)i * 2999,
			.next_out = out,
			.avail_out = ROOM};
		assert_int_equal(
			deflateInit2(&z, i % 10, Z_DEFLATED, -15, 8, strategies[i / 10]), Z_OK);
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		check(&a, out, z.total_out);
		deflateEnd(&z);
		struct libdeflate_compressor *c = libdeflate_alloc_compressor(i % 13);
		check(&a, out, libdeflate_deflate_compress(c, raw, SIZE, out, ROOM));
		libdeflate_free_compressor(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_inflate_finds)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
