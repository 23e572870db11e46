/* Views of deflated members: the first pass gives all bytes in order, and what is read later is what was written. */
#include "fixture_said.h"
#include "test.h"

#include <unistd.h>

#include "formats/zip.h"

enum { SIZE = 5000000 };

struct seen {
	struct buf b;
	size_t stop_after, pieces;
	bool fail;
};

static struct err *collect(void *user, const void *p, size_t n, bool *stop)
{
	struct seen *s = user;
	buf_add(&s->b, (struct str){.p = p, .n = n});
	*stop = ++s->pieces == s->stop_after;
	return s->fail ? err_new(E_FORMAT, "no more") : NULL;
}

/* Words that repeat at distances of all sizes, and bytes that never do. */
static struct str text_of(struct arena *a, size_t n)
{
	BUF(b, a);
	for (uint32_t i = 1, x = 1; b.n < n; i++) {
		x = x * 1664525 + 1013904223;
		if (x >> 30 && b.n > 40000)
			buf_add(&b, str_dup(a, str_sub(buf_str(&b), b.n - 1 - (x >> 17), b.n)));
		else
			buf_fmt(&b, "%u,", x);
		if (b.n > n / 2 && i % 3)
			buf_add(&b, (struct str){.p = (const char *)&x, .n = 4});
	}
	return str_sub(buf_str(&b), 0, n);
}

struct archive {
	struct str dir, content;
	struct zip zip;
	const struct zip_member *m;
};

static void set_up(struct arena *a, size_t n, struct archive *ret)
{
	ret->dir = test_dir(a);
	ret->content = text_of(a, n);
	struct str path = path_join(a, ret->dir, S("z.zip"));
	struct zip_input v = {.name = S("d"), .content = ret->content, .mode = 0644};
	struct zip_writer w = {.path = path, .jobs = 1, .v = &v, .n = 1};
	assert_ok(zip_write(a, &w, NULL));
	assert_ok(zip_open(a, path, NULL, &ret->zip));
	ret->m = &ret->zip.members.v[0];
	assert_int_equal(ret->m->method, 8);
}

static void tear_down(struct archive *x)
{
	zip_close(&x->zip);
	test_dir_remove(x->dir);
}

static void check_reads(struct arena *a, struct str content, const struct bytes *src)
{
	char *got = arena_alloc(a, content.n);
	uint32_t x = 7;
	assert_int_equal(src->size, content.n);
	for (int i = 0; i < 60; i++) {
		x = x * 1664525 + 1013904223;
		size_t at = x % content.n, n = i % 4 ? x >> 20 : content.n;
		n = n < content.n - at ? n : content.n - at;
		assert_ok(bytes_read(src, got, n, at));
		assert_memory_equal(got, content.p + at, n);
	}
	for (size_t at = 0; at < content.n; at += 100000) { /* forward */
		size_t n = content.n - at < 100000 ? content.n - at : 100000;
		assert_ok(bytes_read(src, got, n, at));
		assert_memory_equal(got, content.p + at, n);
	}
	struct bytes part = bytes_sub(src, content.n / 3, 1000);
	assert_ok(bytes_read(&part, got, 500, 500));
	assert_memory_equal(got, content.p + content.n / 3 + 500, 500);
	assert_err(bytes_read(&part, got, 2, 999), E_ELF);
}

static void what_is_read_is_what_was_written(void **state)
{
	(void)state;
	static const size_t sizes[] = {1 << 20, SIZE, 4 << 20, 5000};
	for (int i = 0; i < 8; i++) {
		ARENA(a);
		struct archive x;
		struct seen s = {.b.a = &a};
		CLEANUP(zip_view_close) struct zip_view *v = NULL;
		set_up(&a, sizes[i / 2], &x);
		assert_ok(zip_view_open(&x.zip, x.m,
			&(struct zip_pass){.fn = collect, .user = &s, .threaded = i % 2}, &v));
		assert_true(str_eq(buf_str(&s.b), x.content));
		struct bytes src = zip_view_src(v);
		check_reads(&a, x.content, &src);
		tear_down(&x);
	}
}

static void a_pass_ends_when_its_user_or_the_data_says_so(void **state)
{
	(void)state;
	ARENA(a);
	struct archive x;
	set_up(&a, SIZE, &x);
	for (int threaded = 0; threaded < 2; threaded++) {
		struct seen one = {.b.a = &a, .stop_after = 2}, bad = {.b.a = &a, .fail = true},
			    s = {.b.a = &a};
		struct zip_member m = *x.m;
		struct zip_view *v;
		assert_ok(zip_view_open(&x.zip, x.m,
			&(struct zip_pass){.fn = collect, .user = &one, .threaded = threaded}, &v));
		assert_null(v);
		assert_int_equal(one.pieces, 2);
		assert_err_says(zip_view_open(&x.zip, x.m,
					&(struct zip_pass){
						.fn = collect, .user = &bad, .threaded = threaded},
					&v),
			E_FORMAT, "no more");
		assert_int_equal(bad.pieces, 1);
		m.crc++;
		assert_err_says(
			zip_view_open(&x.zip, &m,
				&(struct zip_pass){.fn = collect, .user = &s, .threaded = threaded},
				&v),
			E_ZIP, "its checksum is wrong");
		m = *x.m;
		m.size--;
		assert_err_says(
			zip_view_open(&x.zip, &m,
				&(struct zip_pass){.fn = collect, .user = &s, .threaded = threaded},
				&v),
			E_ZIP, "more bytes than it says");
		m.size += 2;
		assert_err_says(
			zip_view_open(&x.zip, &m,
				&(struct zip_pass){.fn = collect, .user = &s, .threaded = threaded},
				&v),
			E_ZIP, "fewer bytes than it says");
		m = *x.m;
		m.stored -= 100;
		assert_err_says(
			zip_view_open(&x.zip, &m,
				&(struct zip_pass){.fn = collect, .user = &s, .threaded = threaded},
				&v),
			E_ZIP, "cut short");
		assert_null(v);
	}
	tear_down(&x);
}

static void reading_is_at_the_cost_of_the_budget(void **state)
{
	(void)state;
	ARENA(a);
	struct archive x;
	struct seen s = {.b.a = &a};
	CLEANUP(zip_view_close) struct zip_view *v = NULL;
	char c;
	set_up(&a, SIZE, &x);
	struct budget *b = x.zip.src.budget;
	uint64_t memory = b->memory;
	assert_ok(zip_view_open(&x.zip, x.m, &(struct zip_pass){.fn = collect, .user = &s}, &v));
	struct bytes src = zip_view_src(v);
	b->work = (uint64_t)9 << 19;
	for (int i = 0; i < 4; i++)
		assert_ok(bytes_read(&src, &c, 1, (uint64_t)i << 20));
	assert_err(bytes_read(&src, &c, 1, SIZE - 1), E_LIMIT);
	zip_view_close(&v);
	v = NULL;
	assert_int_equal(b->memory, memory);
	b->memory = 100000;
	assert_err(zip_view_open(&x.zip, x.m, &(struct zip_pass){.fn = collect, .user = &s}, &v),
		E_LIMIT);
	tear_down(&x);
}

/* The last four blocks that were read are kept. */
static void the_last_blocks_are_kept(void **state)
{
	(void)state;
	ARENA(a);
	struct archive x;
	CLEANUP(zip_view_close) struct zip_view *v = NULL;
	char c;
	set_up(&a, SIZE + (1 << 20), &x);
	uint64_t memory = x.zip.src.budget->memory;
	assert_ok(zip_view_open(&x.zip, x.m, &(struct zip_pass){0}, &v));
	struct bytes src = zip_view_src(v);
	for (unsigned i = 0; i < 5; i++)
		assert_ok(bytes_read(&src, &c, 1, (uint64_t)i << 20));
	src.budget->work = 100000;
	for (unsigned i = 1; i < 5; i++) {
		assert_ok(bytes_read(&src, &c, 1, ((uint64_t)i << 20) + 7));
		assert_int_equal(c, x.content.p[((size_t)i << 20) + 7]);
	}
	assert_err(bytes_read(&src, &c, 1, 7), E_LIMIT);
	zip_view_close(&v);
	v = NULL;
	assert_int_equal(x.zip.src.budget->memory, memory);
	tear_down(&x);
}

/* A stored member is where it is; a temporary file takes a deflated one, whatever number it has. */
static void files_for_random_access(void **state)
{
	(void)state;
	ARENA(a);
	struct archive x;
	struct bytes src;
	char got[4];
	int fd, in = dup(0);
	set_up(&a, 5000, &x);
	close(0); /* so that the file gets the number 0 */
	struct zip_sink sink = {.fd = -1};
	assert_ok(zip_sink_write(&sink, "12", 2));
	assert_int_equal(sink.fd, 0);
	assert_ok(zip_sink_write(&sink, "34", 2));
	assert_int_equal(sink.at, 4);
	assert_ok(fs_pread(sink.fd, got, 4, 0));
	assert_memory_equal(got, "1234", 4);
	zip_sink_close(&sink);
	assert_ok(zip_src(&x.zip, x.m, &src, &fd));
	assert_int_equal(fd, 0);
	assert_int_equal(src.size, 5000);
	assert_ok(bytes_read(&src, got, 4, 4996));
	assert_memory_equal(got, x.content.p + 4996, 4);
	close(fd);
	if (in >= 0) {
		assert_int_equal(dup2(in, 0), 0);
		close(in);
	}
	struct zip_member stored = {.name = S("s"), .size = 4, .stored = 4, .data = x.m->data};
	assert_ok(zip_src(&x.zip, &stored, &src, &fd));
	assert_int_equal(fd, -1);
	assert_int_equal(src.size, 4);
	tear_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_what_was_written),
		cmocka_unit_test(a_pass_ends_when_its_user_or_the_data_says_so),
		cmocka_unit_test(reading_is_at_the_cost_of_the_budget),
		cmocka_unit_test(the_last_blocks_are_kept),
		cmocka_unit_test(files_for_random_access),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("zip_view");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
