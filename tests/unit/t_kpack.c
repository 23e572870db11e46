/* kpack archives: written and read back, read from bytes made here, and damaged in every way. */
#include "unit/fixture_elf.h"
#include "unit/fixture_said.h"

#include "base/fs.h"
#include "base/vec.h"
#include "formats/kpack.h"
#include "formats/msgpack.h"

struct taken {
	char p[1 << 16];
	size_t n;
};

static struct err *take(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct taken *t = user;
	(void)stop;
	assert_int_equal(at, t->n);
	assert_true(t->n + n <= sizeof(t->p));
	memcpy(t->p + t->n, p, n);
	t->n += n;
	return NULL;
}

static void is(struct arena *a, const struct bytes *src, const struct kpack *k, size_t i,
	const char *key, struct str content)
{
	struct taken t = {.n = 0};
	const struct kpack_object *o = &k->objects.v[i];
	assert_str(str_fmt(a, "%.*s#%u %.*s", STR(o->path), o->index, STR(o->target)), key);
	assert_ok(kpack_read(src, k, o, take, &t));
	assert_true(str_eq((struct str){t.p, t.n}, content));
}

static struct str written(struct arena *a, struct str dir)
{
	static const char *const parts[] = {"first", "", "third"};
	struct str path = path_join(a, dir, S("a.kpack")), text;
	struct kpack_out o;
	assert_ok(kpack_out_open(a, path, S("group"), S("gfx90a:xnack-"), &o));
	for (unsigned i = 0; i < 3; i++) {
		struct str s = str_from(parts[i]);
		assert_ok(kpack_out_begin(&o, i ? S("lib/y.so") : S("lib/x#1.so"), i * 1000, s.n));
		for (size_t k = 0; k < s.n; k++)
			assert_ok(kpack_out_add(&o, s.p + k, 1));
		assert_ok(kpack_out_end(&o));
	}
	assert_ok(kpack_out_commit(&o));
	kpack_out_close(&o);
	assert_ok(fs_read(a, path, 1 << 20, &text));
	return text;
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir;
	struct kpack k;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	struct str text = written(&a, dir);
	struct bytes src = bytes_mem(text);
	assert_true(kpack_is(text));
	assert_ok(kpack_open(&a, &src, &k));
	assert_str(k.group, "group");
	assert_true(k.zstd);
	assert_int_equal(k.objects.n, 3);
	is(&a, &src, &k, 0, "lib/x#1.so#0 gfx90a:xnack-", S("first"));
	is(&a, &src, &k, 1, "lib/y.so#1000 gfx90a:xnack-", S(""));
	is(&a, &src, &k, 2, "lib/y.so#2000 gfx90a:xnack-", S("third"));
	assert_ok(fs_remove_tree(dir));
}

/* An archive of several targets without compression, as AMD's tool writes it. */
static struct str plain(struct arena *a)
{
	BUF(b, a);
	buf_add(&b, S("KPAK\1\0\0\0"));
	fx_le(&b, 64 + 7, 8);
	fx_pad(&b, 64);
	buf_add(&b, S("onetwo."));
	buf_add(&b, S("\x85\xae"
		      "format_version\x01\xb2"
		      "compression_scheme\xa4none\xa5"
		      "blobs\x92\x82\xa6offset\x40\xa4size\x03\x82\xa4size\x04\xa6offset\x43\xaa"
		      "group_name\xa1g\xa3toc\x81\xa5"
		      "x.s#7\x82\xa7gfx1100\x83\xa4type\xa5hsaco\xa7ordinal\x01\xad"
		      "original_size\x04\xa6gfx90a\x82\xa7ordinal\x00\xad"
		      "original_size\x03"));
	return buf_str(&b);
}

static void archives_of_several_targets_are_read(void **state)
{
	(void)state;
	ARENA(a);
	struct kpack k;
	struct bytes src = bytes_mem(plain(&a));
	assert_ok(kpack_open(&a, &src, &k));
	assert_false(k.zstd);
	assert_int_equal(k.objects.n, 2);
	is(&a, &src, &k, 0, "x.s#7 gfx1100", S("two."));
	is(&a, &src, &k, 1, "x.s#7 gfx90a", S("one"));
}

/* Cut off anywhere, and with any byte of the table or header changed: read within its bounds, or refused. */
static void damage_is_refused_or_harmless(void **state)
{
	(void)state;
	ARENA(a);
	struct str texts[2] = {plain(&a)}, dir;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	texts[1] = written(&a, dir);
	for (unsigned t = 0; t < 2; t++) {
		for (size_t n = 0; n < texts[t].n; n++) {
			ARENA(tmp);
			struct kpack k;
			struct bytes src = bytes_mem(str_sub(texts[t], 0, n));
			struct err *e = kpack_open(&tmp, &src, &k);
			assert_non_null(e);
			err_free(e);
		}
		for (size_t i = 0; i < texts[t].n * 3; i++) {
			ARENA(tmp);
			char *p = str_z(&tmp, texts[t]);
			static const char other[] = {'\xff', '\0', '\xcf'};
			p[i / 3] = other[i % 3];
			struct kpack k;
			struct bytes src = bytes_mem((struct str){p, texts[t].n});
			struct err *e = kpack_open(&tmp, &src, &k);
			for (size_t x = 0; !e && x < k.objects.n; x++) {
				const struct kpack_object *o = &k.objects.v[x];
				assert_true(o->offset >= 64 && o->offset + o->stored <= src.size);
				struct taken taken = {.n = 0};
				e = o->size > sizeof(taken.p)
					    ? NULL
					    : kpack_read(&src, &k, o, take, &taken);
			}
			err_free(e);
		}
	}
	assert_ok(fs_remove_tree(dir));
}

static void says_what_is_wrong(void **state)
{
	(void)state;
	ARENA(a);
	struct kpack k;
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{"KPAK\1", "KPAK\2", "version 1"},
		{"\xa4none", "\xa4xxxx", "'xxxx' is not known"},
		{"x.s#7", "x.s_7", "PATH#NUMBER"},
		{"x.s#7", "x.s#x", "PATH#NUMBER"},
		{"\xa6offset\x40", "\xa6offset\x3f", "not inside"},
		{"\xa7ordinal\x01", "\xa7ordinal\x02", "not described"},
		{"original_size\x04", "original_size\x05", "two sizes"},
		{"\xa3toc", "\xa3tic", "no table"},
		/* lists in the place of maps, bytes in the place of texts */
		{"\x85\xae", "\x9a\xae", "its table is none"},
		{"\x82\xa6offset\x40", "\x94\xa6offset\x40", "an object has no place"},
		{"\x81\xa5x.s", "\x92\xa5x.s", "it has no table"},
		{"\x82\xa7gfx1100", "\x94\xa7gfx1100", "PATH#NUMBER"},
		{"\x83\xa4type", "\x96\xa4type", "not described"},
		{"\xa4none", "\xc4\x04none", "does not tell its compression"},
		{"\xa5x.s#7", "\xc4\x05x.s#7", "PATH#NUMBER"},
		{"\xa7gfx1100", "\xc4\x07gfx1100", "has no target"},
		{"\x92\x82\xa6", "\x82\x82\xa6", "has no list"},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str text =
			str_replace(&a, plain(&a), str_from(cases[i].from), str_from(cases[i].to));
		struct bytes src = bytes_mem(text);
		assert_err_says(kpack_open(&a, &src, &k), E_BUNDLE, cases[i].says);
	}
}

static void marks_are_written_and_read(void **state)
{
	(void)state;
	ARENA(a);
	struct str mark = kpack_mark(&a, S("lib/x.so"), S("../.kpack/p_@GFXARCH@.kpack"));
	assert_true(str_starts(mark, S("\x82\xb2kpack_search_paths\x91\xbb../.kpack/")));
	assert_true(str_ends(mark, S("\xabkernel_name\xa8lib/x.so")));
}

static struct str marked(struct arena *a, bool windows, struct str mark, struct str wrappers)
{
	const struct fx_host_section v[] = {
		{.name = windows ? ".hipFatB" : ".hipFatBinSegment", .bytes = wrappers},
		{.name = windows ? ".kpackrf" : ".rocm_kpack_ref", .bytes = mark}};
	return windows ? fx_dll(a, v, 2) : host_elf(a, (struct fx_host){.v = v, .n = 2});
}

static void libraries_tell_their_name_and_numbers(void **state)
{
	(void)state;
	ARENA(a);
	BUF(wrappers, &a);
	static const unsigned numbers[] = {7, 0, 7, 0x10002};
	struct kpack_host h;
	for (unsigned i = 0; i < 4; i++) {
		fx_le(&wrappers, i == 1 ? 0x48495046 : 0x4b504948,
			4); /* one still has its bundle */
		fx_le(&wrappers, 1, 4 + 8);
		fx_le(&wrappers, numbers[i] | (uint64_t)1 << 40, 8);
	}
	struct str mark = kpack_mark(&a, S("lib/x.so"), S("../.kpack/p_@GFXARCH@.kpack"));
	for (unsigned i = 0; i < 2; i++) {
		struct str file = marked(&a, i, mark, buf_str(&wrappers));
		struct bytes src = bytes_mem(file);
		assert_ok(kpack_host_read(&a, &src, &h));
		assert_str(h.name, "lib/x.so");
		assert_str(str_join(&a, &h.patterns, S(" ")), "../.kpack/p_@GFXARCH@.kpack");
		assert_int_equal(h.indexes.n, 2);
		assert_int_equal(h.indexes.v[0], 7);
		assert_int_equal(h.indexes.v[1], 0x10002);
		file = marked(&a, i, S("a mark for all bundles"), S(""));
		src = bytes_mem(file);
		assert_ok(kpack_host_read(&a, &src, &h));
		assert_true(!h.name.n && !h.indexes.n);
	}
}

static void numbers_are_written_in_their_shortest_form(void **state)
{
	(void)state;
	ARENA(a);
	static const uint64_t numbers[] = {0, 127, 128, 255, 256, 65535, 65536, UINT32_MAX,
		(uint64_t)UINT32_MAX + 1, UINT64_MAX};
	static const size_t sizes[] = {1, 1, 2, 2, 3, 3, 5, 5, 9, 9},
			    lengths[] = {0, 31, 32, 255, 256, 65535, 65536},
			    heads[] = {1, 1, 2, 2, 3, 3, 5}, maps[] = {1, 3, 3, 3, 3, 3, 5};
	struct msgpack_value v;
	for (unsigned i = 0; i < 10; i++) {
		BUF(b, &a);
		msgpack_put_uint(&b, numbers[i]);
		struct str rest = buf_str(&b);
		assert_int_equal(rest.n, sizes[i]);
		assert_true(msgpack_next(&rest, &v) && v.kind == MSGPACK_UINT);
		assert_true(v.number == numbers[i] && !rest.n);
	}
	for (unsigned i = 0; i < 7; i++) {
		BUF(b, &a);
		BUF(m, &a);
		BUF(l, &a);
		msgpack_put_str(&b, (struct str){arena_alloc(&a, lengths[i] + 1), lengths[i]});
		msgpack_put_map(&m, lengths[i]);
		msgpack_put_array(&l, lengths[i]);
		struct str rest = buf_str(&b), map = buf_str(&m), list = buf_str(&l);
		assert_int_equal(rest.n, lengths[i] + heads[i]);
		assert_int_equal(map.n, maps[i]);
		assert_true(msgpack_next(&rest, &v) && v.kind == MSGPACK_STR && !rest.n);
		assert_int_equal(v.text.n, lengths[i]);
		assert_true(msgpack_next(&map, &v) && v.kind == MSGPACK_MAP);
		assert_int_equal(v.number, lengths[i]);
		assert_true(msgpack_next(&list, &v) && v.kind == MSGPACK_ARRAY);
		assert_int_equal(v.number, lengths[i]);
	}
}

/* Archives of frames, damaged in one number each. */
static void frames_that_lie(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	struct str good = written(&a, dir);
	size_t table = (size_t)le64(good.p + 8), zsize = str_find(good, S("zstd_size")) + 9;
	size_t offset = str_find(good, S("zstd_offset")) + 11;
	assert_int_equal(le32(good.p + 64), 3);
	const struct {
		size_t at;
		uint64_t value;
		unsigned n;
		const char *says; /* NULL: it is read */
	} cases[] = {
		{64, 2, 4, "an object is not described"}, {64, 4, 4, "a frame is missing"},
		{64, 1000001, 4, "its number of objects is wrong"},
		{64, UINT32_MAX, 4, "its number of objects is wrong"},
		{68, 1, 4, "an object is not inside the file"},
		{68, UINT32_MAX, 4, "an object is not inside the file"},
		{8, 63, 8, "it has no table"}, {8, good.n, 8, "it has no table"},
		{8, good.n - 1, 8, "its table is none"}, {8, table + 1, 8, "its table is none"},
		{4, 2, 4, "it is not of version 1"},
		{zsize, 3, 1, "it does not tell where its objects are"},
		{zsize, 0x7f, 1, "it does not tell where its objects are"},
		{zsize, 4, 1, "its number of objects is wrong"},
		{zsize, 12, 1, "a frame is too long"},
		{offset, 63, 1, "it does not tell where its objects are"},
		{offset, 0x7f, 1, "it does not tell where its objects are"},
		{offset, 0xc0, 1, "it does not tell where its objects are"}, /* no number */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(tmp);
		struct kpack k;
		char *p = str_z(&tmp, good);
		put_le(p + cases[i].at, cases[i].value, cases[i].n);
		struct bytes src = bytes_mem((struct str){p, good.n});
		struct err *e = kpack_open(&tmp, &src, &k);
		if (!test_err_says(e, cases[i].says))
			print_error("case %zu, zstd_size %u\n", i, (unsigned char)good.p[zsize]);
		assert_err_says(e, E_BUNDLE, cases[i].says);
	}
	assert_ok(fs_remove_tree(dir));
}

/* Keys of the table are PATH#NUMBER; targets are of 256 bytes at most. */
static void keys_that_lie(void **state)
{
	(void)state;
	static const struct {
		const char *key, *path; /* NULL: refused */
		uint32_t index;
	} keys[] = {{"x.s#7", "x.s", 7}, {"x#s#7", "x#s", 7}, {"x.s#0", "x.s", 0},
		{"a#123", "a", 123}, {"#1234", NULL, 0}, {"x.s#-", NULL, 0}, {"x.s##", NULL, 0},
		{"x.s7#", NULL, 0}};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		ARENA(a);
		struct kpack k;
		struct bytes src =
			bytes_mem(str_replace(&a, plain(&a), S("x.s#7"), str_from(keys[i].key)));
		struct err *e = kpack_open(&a, &src, &k);
		if (!keys[i].path) {
			assert_err_says(e, E_BUNDLE, "PATH#NUMBER");
			continue;
		}
		assert_ok(e);
		assert_str(k.objects.v[0].path, keys[i].path);
		assert_int_equal(k.objects.v[0].index, keys[i].index);
		assert_str(k.group, "g");
	}
	static const size_t sizes[] = {0, 1, 256, 257};
	for (size_t i = 0; i < 4; i++) {
		ARENA(a);
		size_t n = sizes[i];
		BUF(b, &a);
		struct kpack k;
		char *target = arena_alloc(&a, n + 1);
		memset(target, 't', n);
		msgpack_put_str(&b, (struct str){target, n});
		struct bytes src =
			bytes_mem(str_replace(&a, plain(&a), S("\xa7gfx1100"), buf_str(&b)));
		struct err *e = kpack_open(&a, &src, &k);
		if (n && n <= 256)
			assert_ok(e);
		else
			assert_err_says(e, E_BUNDLE, "an object has no target");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(archives_of_several_targets_are_read),
		cmocka_unit_test(damage_is_refused_or_harmless),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(marks_are_written_and_read),
		cmocka_unit_test(libraries_tell_their_name_and_numbers),
		cmocka_unit_test(numbers_are_written_in_their_shortest_form),
		cmocka_unit_test(frames_that_lie),
		cmocka_unit_test(keys_that_lie),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("kpack");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
