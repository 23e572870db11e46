/* Other search paths, libraries and names, with readelf as the judge of what became of a file; real ones come from
 * this machine's linker, which lets strings share their ends. oracle/elf_edit.py has more kinds of files. */
#include "fixture_said.h"
#include "fixture_wheel.h"

#include "base/proc.h"
#include "formats/elf_edit.h"
#include "formats/le.h"

#define KIT_MORE struct str file;
#include "unit/kit.h"

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	f->file = path_join(&f->a, f->dir, S("x.so"));
	return 0;
}

/* What readelf says of it, in full but for addresses of strings. */
static struct str readelf(struct fixture *f, const char *how)
{
	struct proc p = {0};
	struct proc_result r;
	proc_arg(&f->a, &p, "readelf", how, "-W", str_z(&f->a, f->file), NULL);
	assert_ok(proc_check(&f->a, &p, &r));
	return r.out;
}

/* Lines of the dynamic section, tag and value only. */
static struct str dynamic(struct fixture *f)
{
	struct str text = readelf(f, "-d"), line;
	BUF(b, &f->a);
	while (str_next(&text, '\n', &line))
		if (str_contains(line, S("path:")) || str_contains(line, S("NEEDED")) ||
			str_contains(line, S("SONAME")))
			buf_fmt(&b, "%.*s\n", STR(str_sub(line, str_chr(line, '['), line.n)));
	return buf_str(&b);
}

/* false: it had to grow. */
static bool change(struct fixture *f, enum elf_tag tag, const char *path)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat was, is;
	struct elf_change c = {tag, S(""), str_from(path)};
	bool changed;
	assert_ok(fs_stat(f->file, &was));
	assert_ok(fs_open_shared(f->file, 0, &fd));
	assert_ok(elf_edit_fd(fd, &(struct elf_changes){.v = &c, .n = 1}, &changed));
	assert_ok(fs_stat(f->file, &is));
	return was.st_size == is.st_size;
}

static void library(struct fixture *f, struct fx_library l)
{
	assert_ok(fs_write(f->file, fx_elf(&f->a, l), 0644));
}

static bool holds(struct fixture *f, const char *text)
{
	struct str bytes;
	assert_ok(fs_read(&f->a, f->file, 1 << 24, &bytes));
	return str_contains(bytes, str_from(text));
}

static void a_path_is_written_over_the_old_one(void **state)
{
	struct fixture *f = *state;
	library(f, (struct fx_library){.needed = {"liba.so", "libb.so"},
			   .soname = "libself.so",
			   .runpath = "/build/tree/lib:$ORIGIN",
			   .versions = {"GLIBC_2.34"},
			   .undefined = "hipMalloc"});
	assert_true(change(f, ELF_RUNPATH, "$ORIGIN"));
	assert_str(dynamic(f), "[liba.so]\n[libb.so]\n[libself.so]\n[$ORIGIN]\n");
	assert_false(holds(f, "build"));
	assert_true(str_contains(readelf(f, "-V"), S("GLIBC_2.34")) || holds(f, "GLIBC_2.34"));
	assert_true(change(f, ELF_RUNPATH, "/build/tree/lib:$ORIGIN"));
	assert_false(change(f, ELF_RUNPATH, "/build/tree/lib:$ORIGINS")); /* no room */
	assert_true(change(f, ELF_RUNPATH, "$ORIGIN"));
	assert_false(holds(f, "build"));
	assert_str(dynamic(f), "[liba.so]\n[libb.so]\n[libself.so]\n[$ORIGIN]\n");
}

static void an_empty_path_is_taken_out(void **state)
{
	struct fixture *f = *state;
	library(f, (struct fx_library){.needed = {"liba.so"},
			   .soname = "libself.so",
			   .rpath = "/build/old",
			   .runpath = "/build/new"});
	assert_true(change(f, ELF_RPATH, ""));
	assert_str(dynamic(f), "[liba.so]\n[libself.so]\n[/build/new]\n");
	assert_true(change(f, ELF_RUNPATH, ""));
	assert_str(dynamic(f), "[liba.so]\n[libself.so]\n");
	assert_false(holds(f, "build"));
	assert_true(change(f, ELF_RUNPATH, ""));  /* nothing to do */
	assert_true(change(f, ELF_RUNPATH, "x")); /* both left room */
	assert_str(dynamic(f), "[liba.so]\n[libself.so]\n[x]\n");
}

static void a_longer_path_does_not_fit(void **state)
{
	struct fixture *f = *state;
	library(f, (struct fx_library){.soname = "libself.so", .runpath = "/b/x"});
	assert_true(change(f, ELF_RUNPATH, "/c/y"));
	assert_str(dynamic(f), "[libself.so]\n[/c/y]\n");
	assert_false(change(f, ELF_RUNPATH, "/b/xy"));
	assert_str(dynamic(f), "[libself.so]\n[/b/xy]\n");
}

/* ---- what a linker makes ---- */

/* false: no compiler, or one that shares nothing */
static bool link_real(struct fixture *f, const char *soname, const char *path, const char *symbol)
{
	struct arena *a = &f->a;
	struct proc p = {0};
	struct proc_result r;
	struct str c = path_join(a, f->dir, S("x.c"));
	assert_ok(fs_write(c, str_fmt(a, "int %s(void) { return 1; }\n", symbol), 0644));
	proc_arg(a, &p, "cc", "-shared", "-fPIC", "-nostdlib", "-o", str_z(a, f->file), str_z(a, c),
		str_fmt(a, "-Wl,--enable-new-dtags,-rpath,%s,-soname,%s", path, soname).p, NULL);
	struct err *e = proc_check(a, &p, &r);
	if (!e)
		return true;
	err_free(e);
	print_message("no C compiler\n");
	return false;
}

static void strings_that_end_in_it_stay(void **state)
{
	struct fixture *f = *state;
	if (!link_real(f, "lib", "/build/rocm/lib", "rocm_lib"))
		return;
	struct str symbols = readelf(f, "--dyn-syms");
	assert_str(dynamic(f), "[lib]\n[/build/rocm/lib]\n");
	assert_true(change(f, ELF_RUNPATH, "$ORIGIN/12")); /* 11 bytes before "lib" */
	assert_str(dynamic(f), "[lib]\n[$ORIGIN/12]\n");
	assert_true(str_eq(symbols, readelf(f, "--dyn-syms")));
	assert_true(link_real(f, "lib", "/build/rocm/lib", "rocm_lib"));
	assert_false(change(f, ELF_RUNPATH, "$ORIGIN/12345"));
	assert_str(dynamic(f), "[lib]\n[$ORIGIN/12345]\n");
	assert_true(change(f, ELF_RUNPATH, ""));
	assert_str(dynamic(f), "[lib]\n");
	assert_true(str_eq(symbols, readelf(f, "--dyn-syms")));
	assert_false(holds(f, "/build"));
}

static void a_symbol_is_the_end_of_the_path(void **state)
{
	struct fixture *f = *state;
	if (!link_real(f, "x.so", "/build/dir/twice", "twice"))
		return;
	assert_true(change(f, ELF_RUNPATH, "$ORIGIN"));
	assert_str(dynamic(f), "[x.so]\n[$ORIGIN]\n");
	assert_true(str_contains(readelf(f, "--dyn-syms"), S("twice")));
	assert_false(holds(f, "/build"));
}

static void a_path_that_is_the_end_of_another_string(void **state)
{
	struct fixture *f = *state;
	if (!link_real(f, "/build/lib", "lib", "f"))
		return;
	assert_false(change(f, ELF_RUNPATH, "x"));
	assert_str(dynamic(f), "[/build/lib]\n[x]\n");
	assert_true(change(f, ELF_RUNPATH, ""));
	assert_str(dynamic(f), "[/build/lib]\n");
}

/* The dynamic linker itself takes what we wrote. */
static void what_was_changed_can_be_loaded(void **state)
{
	struct fixture *f = *state;
	struct proc p = {0};
	struct proc_result r;
	if (!link_real(f, "lib", "/build/rocm/lib", "rocm_lib"))
		return;
	assert_true(change(f, ELF_RUNPATH, ""));
	proc_arg(&f->a, &p, "python3", "-c",
		"import ctypes, sys; assert ctypes.CDLL(sys.argv[1]).rocm_lib() == 1",
		str_z(&f->a, f->file), NULL);
	assert_ok(proc_check(&f->a, &p, &r));
}

/* ---- more than there is room for ---- */

/* Words as "N+liba.so", "N-liba.so", "N=liba.so>libb.so", "Sname", "Rpath" (RUNPATH), "Ppath" (RPATH). */
static struct err *edit(struct fixture *f, const char *const *words, bool *ret_changed)
{
	CLEANUP(fd_closep) int fd = -1;
	struct elf_changes c = {0};
	for (; *words; words++) {
		struct str rest = str_from(*words + 1), old = S(""), now = rest;
		char how = **words;
		if (how == 'N')
			now = str_sub(rest, 1, rest.n);
		if (how == 'N' && rest.p[0] == '-')
			old = now, now = S("");
		if (how == 'N' && rest.p[0] == '=')
			assert_true(str_cut(now, '>', &old, &now));
		*VEC_PUSH(&f->a, &c) = (struct elf_change){how == 'N'   ? ELF_NEEDED
							   : how == 'S' ? ELF_SONAME
							   : how == 'R' ? ELF_RUNPATH
									: ELF_RPATH,
			old, now};
	}
	assert_ok(fs_open_shared(f->file, 0, &fd));
	return elf_edit_fd(fd, &c, ret_changed);
}

#define EDIT(f, ...) edit((f), (const char *const[]){__VA_ARGS__, NULL}, &changed)

static void what_is_longer_gets_a_segment_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct stat one, two;
	bool changed;
	library(f, (struct fx_library){
			   .needed = {"liba.so"}, .soname = "s", .versions = {"GLIBC_2.34"}});
	assert_ok(EDIT(
		f, "R/a/path/that/was/not/there", "Sa-longer-name.so.5", "N+libb.so", "N+liba.so"));
	assert_true(changed);
	assert_str(dynamic(f),
		"[liba.so]\n[a-longer-name.so.5]\n[/a/path/that/was/not/there]\n[libb.so]\n");
	assert_ok(fs_stat(f->file, &one));
	assert_ok(EDIT(
		f, "R/a/path/that/was/not/there", "Sa-longer-name.so.5", "N+libb.so", "N+liba.so"));
	assert_false(changed);
	for (unsigned i = 0; i < 5; i++) {
		assert_ok(EDIT(f, "Ss", "R", "N-libb.so"));
		assert_str(dynamic(f), "[liba.so]\n[s]\n");
		assert_ok(
			EDIT(f, "Sa-longer-name.so.5", "R/a/path/that/was/not/there", "N+libb.so"));
	}
	assert_ok(fs_stat(f->file, &two));
	assert_int_equal(one.st_size, two.st_size);
	assert_true(str_contains(readelf(f, "-V"), S("GLIBC_2.34")) || holds(f, "GLIBC_2.34"));
}

static void a_library_is_replaced_once(void **state)
{
	struct fixture *f = *state;
	bool changed;
	library(f, (struct fx_library){.needed = {"liba.so", "libb.so"}, .soname = "s"});
	assert_ok(EDIT(f, "N=liba.so>libb.so"));
	assert_str(dynamic(f), "[libb.so]\n[s]\n");
	assert_ok(EDIT(f, "N=liba.so>libc.so", "N-libd.so"));
	assert_false(changed);
	assert_ok(EDIT(f, "N=libb.so>liba.so"));
	assert_str(dynamic(f), "[liba.so]\n[s]\n");
}

static void versions_go_with_their_library(void **state)
{
	struct fixture *f = *state;
	bool changed;
	library(f, (struct fx_library){.needed = {"libc.so.6", "libb.so"},
			   .versions = {"GLIBC_2.34"},
			   .undefined = "hipMalloc"});
	assert_ok(EDIT(f, "N=libc.so.6>libother.so.6"));
	struct str text = readelf(f, "-V");
	assert_false(str_contains(text, S("libc.so.6")));
	assert_ok(EDIT(f, "N-libother.so.6"));
	assert_str(dynamic(f), "[libb.so]\n");
	assert_false(holds(f, "libother"));
	assert_false(holds(f, "GLIBC_2.34"));
}

static void what_cannot_be_is_refused(void **state)
{
	struct fixture *f = *state;
	struct str bytes, after;
	bool changed;
	library(f, (struct fx_library){.soname = "s", .runpath = "/x"});
	assert_ok(fs_read(&f->a, f->file, 1 << 24, &bytes));
	char *riscv = str_z(&f->a, bytes);
	memcpy(riscv, bytes.p, bytes.n);
	riscv[18] = (char)243;
	assert_ok(fs_write(f->file, (struct str){riscv, bytes.n}, 0644));
	assert_err_says(EDIT(f, "R/longer/than/it/was"), E_ELF, "pages are not known");
	assert_ok(fs_read(&f->a, f->file, 1 << 24, &after));
	assert_true(str_eq(after, (struct str){riscv, bytes.n}));
	assert_ok(EDIT(f, "R/y")); /* in its place it can */
	assert_ok(fs_write(f->file, S("no ELF file"), 0644));
	assert_err_says(EDIT(f, "R/y"), E_ELF, "no 64-bit");
}

/* A table of strangers (prelink's list of libraries is one) takes its names from the same strings: none may go. */
static void what_strangers_name_stays(void **state)
{
	struct fixture *f = *state;
	struct str bytes;
	if (!link_real(f, "x.so", "/build/dir/of/some/length", "answer"))
		return;
	assert_ok(fs_read(&f->a, f->file, 1 << 24, &bytes));
	char *p = (char *)(uintptr_t)bytes.p;
	uint64_t table = le64(p + 40), n = le16(p + 60), strings = 0;
	for (uint64_t i = 0; i < n; i++)
		if (le32(p + table + i * 64 + 4) == 11) /* DYNSYM's */
			strings = le32(p + table + i * 64 + 40);
	for (uint64_t i = 0; i < n; i++) {
		char *s = p + table + i * 64;
		if (le32(s + 4) != 1 || le32(s + 40)) /* PROGBITS */
			continue;
		put_le(s + 40, strings, 4);
		assert_ok(fs_write(f->file, bytes, 0644));
		assert_false(change(f, ELF_RUNPATH, "$ORIGIN"));
		assert_str(dynamic(f), "[x.so]\n[$ORIGIN]\n");
		put_le(s + 40, 0, 4);
	}
	assert_ok(fs_write(f->file, bytes, 0644));
	assert_true(change(f, ELF_RUNPATH, "$ORIGIN"));
}

/* What has no dynamic section is loaded by nobody; what is so already needs none. */
static void files_without_a_dynamic_section(void **state)
{
	struct fixture *f = *state;
	bool changed = true;
	library(f, (struct fx_library){.soname = "s"});
	struct str bytes, after;
	assert_ok(fs_read(&f->a, f->file, 1 << 20, &bytes));
	put_le((char *)(uintptr_t)bytes.p + 64 + 56, 4, 4); /* PT_DYNAMIC becomes a note */
	assert_ok(fs_write(f->file, bytes, 0644));
	assert_err_says(EDIT(f, "Rx"), E_ELF, "it has no dynamic section");
	assert_err_says(EDIT(f, "N+libx.so"), E_ELF, "it has no dynamic section");
	assert_ok(EDIT(f, "R", "S", "N-libx.so", "N=liba.so>libb.so"));
	assert_false(changed);
	assert_ok(fs_read(&f->a, f->file, 1 << 20, &after));
	assert_true(str_eq(bytes, after));
}

/* Headers that no loader takes; each is an error before anything is written. */
static void segments_that_are_not_valid(void **state)
{
	struct fixture *f = *state;
	static const struct {
		unsigned at; /* in the first program header */
		uint64_t value;
		bool good;
	} cases[] = {{48, 8, true}, {48, 0, true}, {48, 1 << 30, true},
		{48, UINT64_C(1) << 31, false}, {48, 12, false}, {40, 1, false},
		{40, UINT64_MAX, false}, {40, INT64_MAX, true},
		{40, (uint64_t)INT64_MAX + 1, false}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str bytes, after;
		bool changed;
		library(f, (struct fx_library){.soname = "s", .runpath = "/x"});
		assert_ok(fs_read(&f->a, f->file, 1 << 20, &bytes));
		put_le((char *)(uintptr_t)bytes.p + 64 + cases[i].at, cases[i].value, 8);
		assert_ok(fs_write(f->file, bytes, 0644));
		struct err *e = EDIT(f, "R/a/path/that/is/longer/than/the/one/that/was/there");
		if (!e != cases[i].good)
			fail_msg("case %zu: %s", i, e ? e->msg : "good");
		if (e) {
			assert_true(test_err_says(e, "segment 0 is not valid"));
			assert_ok(fs_read(&f->a, f->file, 1 << 20, &after));
			assert_true(str_eq(bytes, after));
		}
		err_free(e);
	}
}

/* What lies behind the program headers moves out of the way, so that they stay: strip wants that. Without section
 * headers nobody knows what that is, and they move. */
static void the_program_headers_stay(void **state)
{
	struct fixture *f = *state;
	struct str bytes;
	if (!link_real(f, "x.so", "/build/lib", "answer"))
		return;
	for (unsigned sections = 1; sections < 2; sections--) {
		assert_ok(fs_read(&f->a, f->file, 1 << 24, &bytes));
		char *p = (char *)(uintptr_t)bytes.p;
		unsigned before = le16(p + 56);
		if (!sections) {
			put_le(p + 40, 0, 8);
			put_le(p + 58, 0, 6);
			assert_ok(fs_write(f->file, bytes, 0644));
		}
		assert_false(change(f, ELF_RUNPATH,
			"$ORIGIN/a/path/that/is/longer/than/what/was/there/and/than/any/hole"));
		assert_ok(fs_read(&f->a, f->file, 1 << 24, &bytes));
		assert_int_equal(le64(bytes.p + 32) == 64, sections);
		assert_int_equal(le16(bytes.p + 56), before + 1);
		assert_true(link_real(f, "x.so", "/build/lib", "answer"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_is_longer_gets_a_segment_of_its_own, begin, teardown),
		cmocka_unit_test_setup_teardown(a_library_is_replaced_once, begin, teardown),
		cmocka_unit_test_setup_teardown(versions_go_with_their_library, begin, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_is_refused, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_path_is_written_over_the_old_one, begin, teardown),
		cmocka_unit_test_setup_teardown(an_empty_path_is_taken_out, begin, teardown),
		cmocka_unit_test_setup_teardown(a_longer_path_does_not_fit, begin, teardown),
		cmocka_unit_test_setup_teardown(strings_that_end_in_it_stay, begin, teardown),
		cmocka_unit_test_setup_teardown(a_symbol_is_the_end_of_the_path, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_path_that_is_the_end_of_another_string, begin, teardown),
		cmocka_unit_test_setup_teardown(what_was_changed_can_be_loaded, begin, teardown),
		cmocka_unit_test_setup_teardown(what_strangers_name_stays, begin, teardown),
		cmocka_unit_test_setup_teardown(files_without_a_dynamic_section, begin, teardown),
		cmocka_unit_test_setup_teardown(segments_that_are_not_valid, begin, teardown),
		cmocka_unit_test_setup_teardown(the_program_headers_stay, begin, teardown),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("elf_edit");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
