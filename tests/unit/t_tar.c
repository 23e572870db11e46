/* Archives of ours, as Python's tarfile and gzip read them. */
#include "base/proc.h"
#include "formats/tar.h"
#include "test.h"

#define READER                                                                                     \
	"import tarfile, sys\n"                                                                    \
	"for m in tarfile.open(sys.argv[1]):\n"                                                    \
	"    text = tarfile.open(sys.argv[1]).extractfile(m).read() if m.isreg() else b''\n"       \
	"    print(m.type.decode(), len(m.name), m.name[-9:], oct(m.mode), m.uid, m.gid, "         \
	"m.mtime, "                                                                                \
	"m.linkname[-5:], len(m.linkname), text[:3])\n"

static void python_reads_what_was_put_in(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("x.tar"));
	struct str zipped = path_join(&a, dir, S("x.tar.gz"));
	BUF(out, &a);
	/* names of 99 to 101 bytes, lengths around a block, a record whose length has one digit more with it */
	static const size_t lengths[] = {1, 99, 100, 101, 87, 88, 89, 980, 988, 989, 990, 991};
	static const size_t sizes[] = {0, 1, 511, 512, 513};
	BUF(want, &a);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		BUF(name, &a);
		BUF(text, &a);
		for (size_t n = 0; n < lengths[i]; n++)
			buf_char(&name, n % 40 == 11 ? '/' : (char)('a' + n % 26));
		for (size_t n = 0; n < sizes[i % 5]; n++)
			buf_char(&text, (char)('0' + n % 10));
		struct tar_member m = {.type = TAR_FILE,
			.path = buf_str(&name),
			.text = buf_str(&text),
			.mode = 0644};
		tar_add(&out, &m);
		struct str end = str_sub(m.path, m.path.n < 9 ? 0 : m.path.n - 9, m.path.n);
		buf_fmt(&want, "0 %zu %.*s 0o644 0 0 0  0 b'%.*s'\n", lengths[i], STR(end),
			STR(str_sub(m.text, 0, 3)));
		m.type = TAR_LINK;
		m.text = m.path;
		m.path = S("link");
		tar_add(&out, &m);
		end = str_sub(m.text, m.text.n < 5 ? 0 : m.text.n - 5, m.text.n);
		buf_fmt(&want, "2 4 link 0o644 0 0 0 %.*s %zu b''\n", STR(end), lengths[i]);
	}
	const struct tar_member folder = {.type = TAR_DIR, .path = S("d"), .mode = 0755};
	tar_add(&out, &folder);
	buf_add(&want, S("5 1 d 0o755 0 0 0  0 b''\n"));
	tar_end(&out);
	assert_ok(fs_write(path, buf_str(&out), 0644));
	assert_ok(fs_write(zipped, gzip_text(&a, buf_str(&out)), 0644));
	for (unsigned i = 0; i < 2; i++) {
		struct proc p = {0};
		struct proc_result said;
		proc_arg(&a, &p, "python3", "-c", READER, (i ? zipped : path).p, NULL);
		assert_ok(proc_check(&a, &p, &said));
		assert_str(said.out, buf_str(&want).p);
	}
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(python_reads_what_was_put_in)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
