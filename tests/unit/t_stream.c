/* Streams: plain, and unpacked on the way. */
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "formats/stream.h"
#include "test.h"

enum { SIZE = 3000000 };

static struct str sample(struct arena *a)
{
	BUF(b, a);
	while (b.n < SIZE)
		buf_fmt(&b, "line %zu of a text that can be packed\n", b.n * 7919 % 100003);
	return buf_str(&b);
}

static struct str pack_gz(struct arena *a, struct str text)
{
	z_stream z = {0};
	BUF(b, a);
	size_t room = text.n + 1000;
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)text.p;
	z.avail_in = (unsigned)text.n;
	z.next_out = (unsigned char *)buf_space(&b, room);
	z.avail_out = (unsigned)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	b.n = z.total_out;
	deflateEnd(&z);
	return (struct str){b.p, b.n};
}

static struct str pack_xz(struct arena *a, struct str text)
{
	BUF(b, a);
	size_t n = 0, room = text.n + 1000;
	unsigned char *p = (unsigned char *)buf_space(&b, room);
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL,
				 (const unsigned char *)text.p, text.n, p, &n, room),
		LZMA_OK);
	return (struct str){b.p, n};
}

static struct str pack_zst(struct arena *a, struct str text)
{
	BUF(b, a);
	size_t room = ZSTD_compressBound(text.n);
	size_t n = ZSTD_compress(buf_space(&b, room), room, text.p, text.n, 1);
	assert_false(ZSTD_isError(n));
	return (struct str){b.p, n};
}

static struct err *read_all(struct arena *a, struct str packed, size_t piece, struct str *ret)
{
	CLEANUP(stream_freep) struct stream *s = stream_new(-1, packed, S("log"));
	BUF(b, a);
	for (size_t got = piece; got == piece; b.n -= piece - got)
		TRY(stream_read(s, buf_space(&b, piece), piece, &got));
	*ret = (struct str){b.p, b.n};
	return NULL;
}

static void what_was_packed_comes_out_in_pieces_of_any_size(void **state)
{
	(void)state;
	ARENA(a);
	struct str text = sample(&a), out;
	struct str kinds[] = {text, pack_gz(&a, text), pack_xz(&a, text), pack_zst(&a, text)};
	static const size_t pieces[] = {997, 65536, SIZE * 2};
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 3; k++) {
			assert_ok(read_all(&a, kinds[i], pieces[k], &out));
			assert_true(str_eq(out, text));
		}
}

static void streams_behind_each_other_are_one_text(void **state)
{
	(void)state;
	ARENA(a);
	struct str (*const packers[])(struct arena *, struct str) = {pack_gz, pack_xz, pack_zst};
	for (size_t i = 0; i < 3; i++) {
		BUF(b, &a);
		struct str out;
		buf_add(&b, packers[i](&a, S("one\n")));
		buf_add(&b, packers[i](&a, S("two\n")));
		assert_ok(read_all(&a, buf_str(&b), 100, &out));
		assert_str(out, "one\ntwo\n");
	}
}

static void damaged_and_cut_data_is_an_error(void **state)
{
	(void)state;
	ARENA(a);
	struct str text = sample(&a), out;
	struct str kinds[] = {pack_gz(&a, text), pack_xz(&a, text), pack_zst(&a, text)};
	for (size_t i = 0; i < 3; i++) {
		struct str cut = str_sub(kinds[i], 0, kinds[i].n / 2);
		assert_err_says(read_all(&a, cut, 65536, &out), E_SYNTAX, "too early");
		char *bad = memcpy(arena_raw(&a, kinds[i].n), kinds[i].p, kinds[i].n);
		memset(bad + kinds[i].n / 3, 0x55, 2000);
		assert_err(read_all(&a, (struct str){bad, kinds[i].n}, 65536, &out), E_SYNTAX);
	}
}

static void utf_16_loses_its_zero_bytes(void **state)
{
	(void)state;
	ARENA(a);
	struct str out, in = {"\xff\xfe"
			      "a\0b\0\n\0",
				8};
	assert_ok(read_all(&a, in, 100, &out));
	assert_str(out, "\xff\xfe"
			"ab\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_comes_out_in_pieces_of_any_size),
		cmocka_unit_test(streams_behind_each_other_are_one_text),
		cmocka_unit_test(damaged_and_cut_data_is_an_error),
		cmocka_unit_test(utf_16_loses_its_zero_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
