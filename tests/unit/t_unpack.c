/* Archives into a closed tree, one whose links are followed from outside: nothing in it may lead out. */
#include <sys/stat.h>

#include "archive/unpack.h"
#include "fixture_archive.h"
#include "formats/zip.h"

static struct err *unpack(struct str tar, struct str root, bool *ret_leaves)
{
	ARENA(a);
	struct unpack_job u = {.path = tar, .root = root, .id = S("test"), .closed = true};
	assert_ok(fs_mkdirs(root));
	struct err *e = unpack_tar(&a, &u);
	*ret_leaves = u.leaves_top;
	return e;
}

static struct err *try_members(const struct member *v, size_t n, bool *ret_leaves)
{
	ARENA(a);
	struct str dir = test_dir(&a), tar = path_join(&a, dir, S("x.tar"));
	put_tar(tar, ARCHIVE_FILTER_NONE, v, n);
	struct err *e = unpack(tar, path_join(&a, dir, S("root")), ret_leaves);
	test_dir_remove(dir);
	return e;
}

static void modes_are_plain_and_links_stay(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), root = path_join(&a, dir, S("root"));
	struct str tar = path_join(&a, dir, S("x.tar.gz"));
	struct member v[] = {FILE_("p/run", "#!/bin/sh\n"), FILE_("p/a/text", "t"),
		LINK_("p/a/b/up", "../../run"), LINK_("p/a/dangling", "no/such"),
		{.name = "p/twin", .hard = "p/run", .type = AE_IFREG}};
	struct stat st;
	bool leaves;
	v[0].mode = 06711;
	v[1].mode = 0666;
	put_tar(tar, ARCHIVE_FILTER_GZIP, v, 5);
	assert_ok(unpack(tar, root, &leaves));
	assert_false(leaves);
	assert_ok(fs_stat(path_join(&a, root, S("p/run")), &st));
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_ok(fs_stat(path_join(&a, root, S("p/a/text")), &st));
	assert_int_equal(st.st_mode & 07777, 0644);
	test_has(path_join(&a, root, S("p/a/b/up")), "#!/bin/sh\n");
	test_has(path_join(&a, root, S("p/twin")), "#!/bin/sh\n");
	assert_true(fs_is_link(path_join(&a, root, S("p/a/dangling"))));
	test_dir_remove(dir);
}

/* All files together may have so many bytes; what is one more is not written. */
static void what_comes_out_has_a_limit(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), tar = path_join(&a, dir, S("x.tar"));
	const struct member v[] = {FILE_("one", "12345"), FILE_("two", "678"), FILE_("none", "")};
	put_tar(tar, ARCHIVE_FILTER_NONE, v, 3);
	for (uint64_t most = 0; most < 12; most++) {
		ARENA(tmp);
		struct str root = str_fmt(&tmp, "%.*s/%u", STR(dir), (unsigned)most);
		struct unpack_job u = {.path = tar, .root = root, .id = S("t"), .most = most};
		assert_ok(fs_mkdirs(root));
		struct err *e = unpack_tar(&tmp, &u);
		if (most && most < 8)
			assert_err_says(e, E_LIMIT,
				str_fmt(&tmp, "it unpacks to more than %u bytes", (unsigned)most)
					.p);
		else
			assert_ok(e);
		assert_int_equal(fs_exists(path_join(&tmp, root, S("one"))), !most || most >= 5);
		assert_int_equal(fs_exists(path_join(&tmp, root, S("none"))), !most || most >= 8);
	}
	test_dir_remove(dir);
}

static void put_head(char *p, const char *name, char type, unsigned size, const char *link)
{
	unsigned sum = 0;
	(void)snprintf(p, 100, "%s", name);
	memcpy(p + 100, "0000644", 8);
	(void)snprintf(p + 124, 12, "%011o", size);
	memcpy(p + 148, "        ", 8);
	p[156] = type;
	(void)snprintf(p + 157, 100, "%s", link);
	memcpy(p + 257, "ustar\00000", 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)p[i];
	(void)snprintf(p + 148, 8, "%06o", sum);
}

/* A hard link with data, which pax allows: nothing of it is written, but it has to be decompressed. */
static void data_that_nobody_wants_counts(void **state)
{
	(void)state;
	enum { BLOCK = 512, DATA = 1 << 20, SIZE = 6 * BLOCK + DATA };
	ARENA(a);
	struct str dir = test_dir(&a), tar = path_join(&a, dir, S("x.tar"));
	char *p = arena_alloc(&a, SIZE);
	put_head(p, "file", '0', 0, "");
	put_head(p + BLOCK, "pax", 'x', 13, "");
	memcpy(p + 2 * BLOCK, "13 path=link\n", 13);
	put_head(p + 3 * BLOCK, "link", '1', DATA, "file");
	assert_ok(fs_write(tar, (struct str){.p = p, .n = SIZE}, 0644));
	for (uint64_t most = DATA - 1; most <= DATA; most++) {
		struct unpack_job u = {.path = tar, .root = dir, .id = S("t"), .most = most};
		struct err *e = unpack_tar(&a, &u);
		assert_int_equal(e ? e->code : E_NONE, most < DATA ? E_LIMIT : E_NONE);
		err_free(e);
	}
	test_dir_remove(dir);
}

static void links_that_lead_out_are_refused(void **state)
{
	(void)state;
	static const struct {
		struct member v[3];
		size_t n;
		const char *says;
	} rows[] = {
		{{LINK_("l", "/etc/passwd")}, 1, "leads out"},
		{{LINK_("l", "..")}, 1, "leads out"},
		{{LINK_("a/l", "../../x")}, 1, "leads out"},
		{{LINK_("a/l", "b/../../x")}, 1, "leads out"},
		/* by text inside, on disk not: the first leads up, the second back over it */
		{{LINK_("a/b/l", "../.."), LINK_("m", "a/b/l/../x")}, 2, "leads out"},
		{{LINK_("a/b/l", "../.."), FILE_("a/b/l/f", "x")}, 2, "is to be a folder"},
		{{LINK_("a/b/l", "../.."), LINK_("a/b/l/m", "../..")}, 2, "is to be a folder"},
		{{LINK_("a/b/l", "../../x"), {.name = "m", .hard = "a/b/l", .type = AE_IFREG}}, 2,
			"hard link to no file"},
		{{{.name = "m", .hard = "none", .type = AE_IFREG}}, 1, "hard link to no file"},
		{{{.name = "m", .type = AE_IFCHR}}, 1, "device"},
		{{FILE_("a/../../x", "x")}, 1, "leads out"},
	};
	bool leaves;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_err_says(
			try_members(rows[i].v, rows[i].n, &leaves), E_ARCHIVE, rows[i].says);
}

static void a_link_out_of_the_first_folder_is_told(void **state)
{
	(void)state;
	static const struct member inside[] = {
		LINK_("p/a/l", "../x"), LINK_("p/m", "."), LINK_("n", "p")};
	static const struct member beside[] = {LINK_("p/a/l", "../../q/x")};
	bool leaves;
	assert_ok(try_members(inside, 3, &leaves));
	assert_false(leaves);
	assert_ok(try_members(beside, 1, &leaves));
	assert_true(leaves);
}

/* ---- nothing leads out, whatever the members are ---- */
static unsigned pick(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % n;
}

static const char *words(struct arena *a, unsigned *seed, unsigned most)
{
	static const char *const list[] = {"a", "b", "a", "b", "c", "..", "."};
	BUF(b, a);
	for (unsigned n = 1 + pick(seed, most); n > 0; n--)
		buf_fmt(&b, "%s%s", b.n ? "/" : "", list[pick(seed, 7)]);
	return buf_str(&b).p;
}

static struct err *check_link(void *user, struct fs_entry *e)
{
	ARENA(a);
	const struct str *root = user;
	struct str real;
	if (S_ISLNK(e->st.st_mode) && fs_real(&a, path_join(&a, *root, e->path), &real) &&
		!str_eq(real, *root) && !str_starts(real, str_fmt(&a, "%.*s/", STR(*root))))
		fail_msg("'%.*s' leads to '%.*s'", STR(e->path), STR(real));
	return NULL;
}

static void no_members_whatever_lead_out(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), root = path_join(&a, dir, S("a/b/root"));
	struct str tar = path_join(&a, dir, S("x.tar")), real;
	unsigned seed = 1, good = 0;
	static const char *const outside[] = {"a/b/a", "a/b/b", "a/b/c", "a/a", "a/c", "b", "c"};
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_ok(fs_mkdirs(path_join(&a, dir, str_from(outside[i]))));
	assert_true(fs_real(&a, path_join(&a, dir, S("a/b")), &real));
	root = path_join(&a, real, S("root"));
	for (unsigned round = 0; round < (SANITIZED ? 200 : 1500); round++) {
		ARENA(tmp);
		struct member v[6] = {0};
		size_t n = 1 + pick(&seed, 6);
		bool leaves;
		for (size_t i = 0; i < n; i++) {
			const char *name = words(&tmp, &seed, 3), *to = words(&tmp, &seed, 4);
			unsigned kind = pick(&seed, 8);
			v[i] = (struct member){.name = name, .type = AE_IFREG, .mode = 0644};
			if (kind < 4)
				v[i].link = to, v[i].type = AE_IFLNK;
			else if (kind == 4)
				v[i].hard = to;
			else if (kind == 5)
				v[i].type = AE_IFDIR;
			else
				v[i].text = "x";
		}
		put_tar(tar, ARCHIVE_FILTER_NONE, v, n);
		struct err *e = unpack(tar, root, &leaves);
		good += !e;
		err_free(e);
		assert_ok(fs_walk(root, check_link, &root));
		assert_ok(fs_remove_tree(root));
	}
	assert_true(good > 20);
	test_dir_remove(dir);
}

static void a_zip_is_unpacked_the_same_way(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), root = path_join(&a, dir, S("root"));
	struct str path = path_join(&a, dir, S("x.zip"));
	const struct zip_input in[] = {{.name = S("p/a/text"), .content = S("t"), .mode = 0644},
		{.name = S("p/run"), .content = S("#!/bin/sh\n"), .mode = 0755}};
	const struct zip_writer w = {.path = path, .v = in, .n = 2};
	struct unpack_job u = {.path = path, .root = root, .id = S("test"), .closed = true};
	struct stat st;
	assert_ok(zip_write(&a, &w, NULL));
	assert_ok(fs_mkdirs(root));
	assert_ok(unpack_zip(&a, &u));
	test_has(path_join(&a, root, S("p/a/text")), "t");
	assert_ok(fs_stat(path_join(&a, root, S("p/run")), &st));
	assert_int_equal(st.st_mode & 07777, 0755);
	test_put(path, "PK");
	assert_err(unpack_zip(&a, &u), E_ZIP);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes_are_plain_and_links_stay),
		cmocka_unit_test(what_comes_out_has_a_limit),
		cmocka_unit_test(data_that_nobody_wants_counts),
		cmocka_unit_test(links_that_lead_out_are_refused),
		cmocka_unit_test(a_link_out_of_the_first_folder_is_told),
		cmocka_unit_test(no_members_whatever_lead_out),
		cmocka_unit_test(a_zip_is_unpacked_the_same_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
