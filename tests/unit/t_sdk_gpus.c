/* Kernels of some GPUs only: which files and which code are left out (sdk/deb.c, sdk/deb.c). */
#include <fcntl.h>
#include <unistd.h>

#include "fixture_archive.h"
#include "formats/bundle.h"
#include "sdk/provider.h"
#include "unit/fixture_elf.h"

#define HOST "host-x86_64-unknown-linux-gnu-"
#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target
#define LIBS "usr/lib/x86_64-linux-gnu/"

static struct strs list(struct arena *a, const char *words)
{
	struct strs ret = {0}, asked = {0};
	struct str rest = str_from(words), word;
	while (str_next(&rest, ' ', &word))
		strs_add(a, &asked, str_dup(a, word));
	assert_ok(gpus_parse(a, &asked, &ret));
	return ret;
}

static void gpus_are_named_as_everywhere(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *words, *want;
	} rows[] = {{"", ""}, {"all", ""}, {"gfx1201", "gfx1201"}, {"gfx1201 all", ""},
		{"gfx1201 gfx90a:xnack+ gfx90a:xnack-", "gfx90a gfx1201"}, {"RX9070XT", "gfx1201"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strs gpus = list(&a, rows[i].words);
		assert_str(str_join(&a, &gpus, S(" ")), rows[i].want);
	}
	struct strs wrong = {0}, none;
	strs_add(&a, &wrong, S("gfx12"));
	assert_err(gpus_parse(&a, &wrong, &none), E_GFX);
}

static void a_list_without_gpus_means_all(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *have, *want;
		bool covers;
	} rows[] = {{"", "", true}, {"", "gfx90a", true}, {"gfx90a", "", false},
		{"gfx90a", "gfx90a", true}, {"gfx90a", "gfx90a gfx942", false},
		{"gfx90a gfx942", "gfx942", true}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strs have = list(&a, rows[i].have), want = list(&a, rows[i].want);
		if (gpus_cover(&have, &want) != rows[i].covers)
			fail_msg("'%s' and '%s'", rows[i].have, rows[i].want);
	}
}

/* Names as the packages of ROCm 6.4 and 7.1 have them. */
static void files_are_of_the_gpus_in_their_names(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *path, *gpus;
		bool wanted;
	} rows[] = {
		{LIBS "rocblas/4.4/library/Kernels.so-000-gfx1100.hsaco", "gfx1100", true},
		{LIBS "rocblas/4.4/library/Kernels.so-000-gfx1100.hsaco", "gfx1101", false},
		{LIBS "rocblas/4.4/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a", true},
		{LIBS "rocblas/4.4/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx1201", false},
		{LIBS "rocblas/4.4/library/TensileLibrary_Type_HH_Contraction_l_fallback.dat",
			"gfx1201", true},
		{LIBS "rocblas/4.4/library/TensileLibrary_lazy_gfx906.dat", "gfx90a gfx908", false},
		{LIBS "hipblaslt/library/gfx942/x.co", "gfx950", false},
		{LIBS "hipblaslt/library/gfx942/x.co", "gfx950 gfx942", true},
		{LIBS "x/gfx942/both-gfx950.co", "gfx950", true},
		{LIBS "x/Kernels-gfx11-generic.co", "gfx1151", true},
		{LIBS "x/Kernels-gfx1151.co", "gfx11-generic", true},
		{LIBS "x/Kernels-gfx1151.co", "gfx1150", false},
		{LIBS "x/Kernels-gfx10-3-generic.co", "gfx1151", false},
		{"usr/share/miopen/db/gfx90a68.HIP.fdb.txt", "gfx90a", true},
		{"usr/share/miopen/db/gfx90a68.HIP.fdb.txt", "gfx906", false},
		{"usr/share/miopen/db/gfx1030_36.kdb", "gfx1030", true},
		{LIBS "x/Kernels-gfxfuture.co", "gfx1201", true}, /* whose is it? */
		{LIBS "librocblas.so.4.4", "gfx1201", true},
		{"usr/include/ck/arch_gfx942.hpp", "gfx1201", true},
		{"opt/gfx942", "gfx1201", true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strs gpus = list(&a, rows[i].gpus);
		if (gpus_want_file(&gpus, str_from(rows[i].path)) != rows[i].wanted)
			fail_msg("%s for %s", rows[i].path, rows[i].gpus);
	}
}

/* A library with two bundles of two targets each, whose code objects are letters. */
static struct str library(struct arena *a, bool compressed)
{
	BUF(section, a);
	char *letters = arena_alloc(a, 16384);
	for (size_t i = 0; i < 16384; i++)
		letters[i] = 'k';
	const struct fx_entry v[] = {{.id = HOST}, {.id = ID("gfx1100"), .bytes = {letters, 16384}},
		{.id = ID("gfx90a:xnack-"), .bytes = {letters, 12288}},
		{.id = ID("gfx9999"), .bytes = {letters, 4096}}};
	struct str one = fx_bundle(a, v, 4, 4096);
	one = compressed ? fx_ccob(a, one, 2, true) : one;
	buf_add(&section, one);
	fx_pad(&section, (section.n + 4095) / 4096 * 4096);
	buf_add(&section, one);
	const struct fx_host_section s = {.name = ".hip_fatbin", .bytes = buf_str(&section)};
	return host_elf(a, (struct fx_host){.v = &s, .n = 1});
}

static size_t letters_of(struct str text)
{
	size_t n = 0;
	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == 'k';
	return n;
}

/* The same as gpus_thin() on a file of that content; *ret: what is left. */
static uint64_t thin(
	struct arena *a, struct str dir, struct str text, const char *gpus, struct str *ret)
{
	struct str path = path_join(a, dir, S("lib.so"));
	struct strs for_gpus = list(a, gpus);
	assert_ok(fs_write(path, text, 0644));
	int fd = open(path.p, O_RDWR);
	uint64_t holes = gpus_thin(fd, text.n, &for_gpus);
	close(fd);
	assert_ok(fs_read(a, path, 1 << 20, ret));
	assert_int_equal(ret->n, text.n);
	return holes;
}

static void code_of_other_gpus_becomes_holes(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), text = library(&a, false), left;
	size_t all = letters_of(text);
	assert_int_equal(thin(&a, dir, text, "gfx1100 gfx90a", &left), 0);
	assert_true(str_eq(left, text));
	assert_int_equal(thin(&a, dir, text, "gfx90a", &left), 2 * 16384);
	assert_int_equal(letters_of(left), all - 2 * 16384);
	assert_int_equal(thin(&a, dir, text, "gfx1201", &left), 2 * (16384 + 12288));
	assert_int_equal(letters_of(left), all - 2 * (16384 + 12288)); /* gfx9999 is kept */
	/* what is no ELF, is compressed or is damaged stays as it is */
	text = library(&a, true);
	assert_int_equal(thin(&a, dir, text, "gfx1201", &left), 0);
	assert_true(str_eq(left, text));
	assert_int_equal(thin(&a, dir, S("no library"), "gfx1201", &left), 0);
	text = str_sub(library(&a, false), 0, 9000);
	assert_int_equal(thin(&a, dir, text, "gfx1201", &left), 0);
	test_dir_remove(dir);
}

/* A stranger's library may say that bytes are two things. Without the edit there are holes. */
static void what_is_shared_is_kept(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const whats[] = {
		"nothing", "an entry", "the next entry's beginning", "a section", "a table"};
	const struct fx_entry v[] = {{.id = HOST},
		{.id = ID("gfx1100"), .bytes = {arena_alloc(&a, 8192), 8192}},
		{.id = ID("gfx90a"), .bytes = {arena_alloc(&a, 8192), 8192}}};
	const size_t entries = BUNDLE_MAGIC + 8 + 24 + strlen(HOST);
	struct str dir = test_dir(&a), left;
	for (size_t i = 0; i < 5; i++) {
		struct str bytes = fx_bundle(&a, v, 3, 4096);
		const struct fx_host_section s[] = {{.name = ".hip_fatbin", .bytes = bytes},
			{.name = ".rodata", .bytes = S("text")}};
		struct str text = host_elf(&a, (struct fx_host){.v = s, .n = 2});
		struct buf b = {.p = str_z(&a, text), .n = text.n};
		size_t table = le64(b.p + 40), at = le64(b.p + table + 64 + 24);
		if (i == 1) /* gfx90a's begins where gfx1100's does, */
			fx_set(&b, at + entries + 24 + strlen(ID("gfx1100")), 4096, 8);
		if (i == 2) /* or gfx1100's ends in it */
			fx_set(&b, at + entries + 8, 8193, 8);
		if (i == 3)
			fx_set(&b, table + 128 + 24, at + bytes.n - 8192 - 1, 8);
		if (i == 4)
			fx_set(&b, table + 64 + 32, text.n - at, 8);
		text = (struct str){b.p, b.n};
		uint64_t holes = thin(&a, dir, text, "gfx90a", &left);
		if (holes != (i ? 0 : 8192) || (i && !str_eq(left, text)))
			fail_msg("%s: %zu", whats[i], (size_t)holes);
	}
	test_dir_remove(dir);
}

/* The record tells what is there, not what was in the package. */
static void a_package_is_unpacked_in_part(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), deb = path_join(&a, dir, S("p.deb")),
		   lib = library(&a, false), left;
	const struct member v[] = {{.name = LIBS "lib.so",
					   .text = lib.p,
					   .size = lib.n,
					   .type = AE_IFREG,
					   .mode = 0644},
		FILE_(LIBS "k/gfx1100.co", "x"), FILE_(LIBS "k/gfx1201.co", "y"),
		LINK_(LIBS "k/gfx942.co", "x")};
	char *tar = arena_alloc(&a, 1 << 20);
	size_t n = make_tar(tar, 1 << 20, ARCHIVE_FILTER_NONE, v, 4);
	struct str ar = str_fmt(
		&a, "!<arch>\n%-16s%-12d%-6d%-6d%-8s%-10zu`\n", "data.tar", 0, 0, 0, "100644", n);
	BUF(all, &a);
	buf_add(&all, ar);
	buf_add(&all, (struct str){tar, n});
	assert_ok(fs_write(deb, buf_str(&all), 0644));
	for (unsigned whole = 0; whole < 2; whole++) {
		ARENA(tmp);
		BUF(record, &a);
		struct str root = path_join(&a, dir, whole ? S("whole") : S("part"));
		struct archive_item item = {.name = S("librocblas4"), .path = deb};
		struct sdk_unpack u = {.item = &item, .root = root, .files = &record};
		u.gpus = list(&a, whole ? "" : "gfx1201");
		assert_ok(fs_mkdirs(root));
		assert_ok(deb_unpack(&tmp, &u));
		assert_int_equal(u.partial, !whole);
		assert_int_equal(u.holes, whole ? 0 : 2 * (16384 + 12288));
		assert_int_equal(fs_present(path_join(&a, root, S(LIBS "k/gfx1100.co"))), whole);
		assert_int_equal(fs_present(path_join(&a, root, S(LIBS "k/gfx942.co"))), whole);
		assert_true(fs_present(path_join(&a, root, S(LIBS "k/gfx1201.co"))));
		assert_ok(fs_read(&a, path_join(&a, root, S(LIBS "lib.so")), 1 << 20, &left));
		assert_int_equal(str_eq(left, lib), whole);
		struct str rest = buf_str(&record);
		struct sdk_file r;
		bool bad;
		size_t files = 0;
		while (file_list_next(&rest, &r, &bad)) {
			enum file_state same;
			assert_ok(file_list_compare(root, &r, true, &same));
			assert_int_equal(same, FILE_OK);
			assert_ok(file_list_compare(root, &r, false, &same)); /* its time, too */
			assert_int_equal(same, FILE_OK);
			files++;
		}
		assert_int_equal(files, whole ? 4 : 2);
	}
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_are_named_as_everywhere),
		cmocka_unit_test(a_list_without_gpus_means_all),
		cmocka_unit_test(files_are_of_the_gpus_in_their_names),
		cmocka_unit_test(code_of_other_gpus_becomes_holes),
		cmocka_unit_test(what_is_shared_is_kept),
		cmocka_unit_test(a_package_is_unpacked_in_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
