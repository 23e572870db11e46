/* Precompiled headers of cc/: which source begins with them, which command lines share them, when they
 * are made, made anew, given up. No compiler runs here. */
#include "test.h"

#include <stdlib.h>
#include <utime.h>

#include "base/fs.h"
#include "cc/cc_int.h"

struct fixture {
	struct arena a;
	struct str dir;
	struct cc cc;
	struct cc_config config;
};

static struct str at(struct fixture *f, const char *name)
{
	return path_join(&f->a, f->dir, str_from(name));
}

static void put(struct fixture *f, const char *name, const char *text)
{
	assert_ok(fs_mkdirs(path_dir(at(f, name))));
	assert_ok(fs_write(at(f, name), str_from(text), 0644));
}

static void set_up(struct fixture *f)
{
	*f = (struct fixture){0};
	assert_ok(fs_tempdir(&f->a, S(""), &f->dir));
	f->cc = (struct cc){.dir = f->dir, .name = S("clang++")};
	put(f, "clang", "");
	assert_ok(fs_mkdirs(at(f, ".rocsmith/programs")));
	assert_ok(fs_symlink(at(f, "clang"), at(f, ".rocsmith/programs/clang++")));
	strs_add(&f->a, &f->config.precompile, S("p/set.h"));
	put(f, "inc/p/set.h",
		"#pragma once\n#include <p/deep.h> // NOT_A_NAME\n#ifdef ASKED\n#endif\n"
		"#error IN_AN_ERROR\nint set_of(void);\n");
	put(f, "inc/p/deep.h", "int deep;\n");
	put(f, "inc/p/fine.h", "#pragma once\n#define FINE 1\n#include <p/set.h>\nint fine;\n");
	put(f, "inc/p/early.h", "#define ASKED 1\n");
	put(f, "inc/p/guard.h", "#ifndef GUARD\n#define GUARD\n#include <p/set.h>\n#endif\n");
	put(f, "a.cpp", "#include <p/set.h>\n");
}

static void tear_down(struct fixture *f)
{
	assert_ok(fs_remove_tree(f->dir));
	arena_free(&f->a);
}

/* One compile with these words besides its source and outputs. */
static struct pch look(struct fixture *f, const char *more, const char *source)
{
	struct pch p;
	struct str line = str_fmt(&f->a, "-I%.*s/inc %s -MD -MF %s.d -o %s.o -c %.*s", STR(f->dir),
		more, source, source, STR(at(f, source)));
	struct strs args = str_split(&f->a, line, ' ');
	assert_ok(pch_look(&f->a, &f->cc, &f->config, &args, &p));
	return p;
}

/* What clang would leave. */
static void make(struct fixture *f, struct pch *p)
{
	struct strs args;
	assert_true(p->due);
	assert_ok(pch_command(&f->a, p, &args));
	assert_true(strs_has(&args, S("c++-header")) && strs_has(&args, S("-O2")));
	assert_ok(fs_write(path_join(&f->a, p->dir, S("new.pch")), S("x"), 0644));
	assert_ok(fs_write(path_join(&f->a, p->dir, S("new.d")),
		str_fmt(&f->a, "all.pch: %.*s \\\n %.*s\n", STR(at(f, "inc/p/set.h")),
			STR(at(f, "inc/p/deep.h"))),
		0644));
	assert_ok(pch_made(&f->a, p, true));
}

static struct pch made(struct fixture *f)
{
	struct pch p;
	for (int i = 0; i < 3; i++)
		p = look(f, "-O2", "a.cpp");
	make(f, &p);
	return p;
}

static void a_source_begins_with_its_headers_or_has_none(void **state)
{
	(void)state;
	struct fixture f;
	static const struct {
		const char *text;
		bool before, after; /* the set is made */
	} rows[] = {
		{"#include <p/set.h>\n", true, true},
		{"// a\n/* b */\n#include \"p/set.h\"\nint i;\n", true, true},
		{"#include <p/fine.h>\n", true, true},
		{"#include <vector>\n#include <p/deep.h>\n#include <p/set.h>\n", true, true},
		{"#define MINE 1\n#pragma once\n#include <p/set.h>\n", true, true},
		{"#define NOT_A_NAME\n#define IN_AN_ERROR\n#include <p/set.h>\n", true, true},
		{"#pragma GCC diagnostic ignored \"-Wall\"\n#include <p/set.h>\n", true, true},
		{"#include <p/guard.h>\n", true, true},
		{"#include <p/set.h>\n#define ASKED\n#include <unistd.h>\n", true, true},
		{"#define ASKED\n#include <p/set.h>\n", true, false},
		{"#define ASKED\n#undef ASKED\n#include <p/set.h>\n", true, true},
		{"#define ASKED\n#include <p/deep.h>\n#undef ASKED\n#include <p/set.h>\n", true,
			false},
		{"#ifdef OTHER_SYSTEM\n#include <other.h>\n#endif\n#include <p/set.h>\n", true,
			true},
		{"#undef deep\n#include <p/set.h>\n", true, false},
		{"#include <p/early.h>\n#include <p/set.h>\n", true, false},
		{"#include <unistd.h>\n#include <p/set.h>\n", true, false},
		{"int i;\n#include <p/set.h>\n", false, false},
		{"extern \"C\" {\n#include <p/set.h>\n}\n", false, false},
		{"#if X\n#include <p/set.h>\n#endif\n", false, false},
		{"#pragma pack(1)\n#include <p/set.h>\n", false, false},
		{"#include HERE\n#include <p/set.h>\n", false, false},
		{"#include <p/deep.h>\n", false, false},
		{"// #include <p/set.h>\n", false, false},
		{"/*\n#include <p/set.h>\n*/\nint i;\n", false, false},
		{"", false, false},
	};
	set_up(&f);
	struct pch p = made(&f);
	struct strs dirs = {0};
	strs_add(&f.a, &dirs, at(&f, "inc"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(&f, "x.cpp", rows[i].text);
		MAP(named, &f.a);
		pch_named(at(&f, "x.cpp"), &dirs, &named);
		bool before = map_has(&named, p.set.v[0]);
		p.source = at(&f, "x.cpp");
		bool after = pch_begins(&p);
		if (before != rows[i].before || after != rows[i].after)
			fail_msg("%s: %d %d", rows[i].text, before, after);
	}
	p.source = at(&f, "none.cpp");
	assert_false(pch_begins(&p));
	tear_down(&f);
}

static void what_says_nothing_about_headers_makes_no_other_group(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	put(&f, "b.cpp", "#include <p/set.h>\nint b;\n");
	struct pch p = look(&f, "-O2", "a.cpp");
	assert_true(p.dir.n);
	assert_str(look(&f, "-O2", "b.cpp").dir, str_z(&f.a, p.dir));
	static const char *const other[] = {
		"-O3", "-O2 -DX", "-O2 -mavx2", "-O2 -I /x", "-O2 -Wall"};
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_false(str_eq(look(&f, other[i], "a.cpp").dir, p.dir));
	static const char *const none[] = {"-O2 -g", "-O2 -include x.h", "-x hip", "-O2 @x", "-E",
		"-fmodules", "-S", "-Xclang -fx", "-O2 more.cpp", "-fprofile-use", "-MG"};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (look(&f, none[i], "a.cpp").dir.n)
			fail_msg("%s", none[i]);
	f.cc.name = S("g++");
	assert_false(look(&f, "-O2", "a.cpp").dir.n);
	tear_down(&f);
}

static void the_third_compile_makes_it_and_one_alone(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	assert_false(look(&f, "-O2", "a.cpp").due);
	assert_false(look(&f, "-O2", "a.cpp").due);
	struct pch p = look(&f, "-O2", "a.cpp");
	assert_true(p.due && !p.file.n);
	struct pch other = look(&f, "-O2", "a.cpp");
	assert_false(other.due || other.file.n);
	fd_closep(&p.lock); /* killed */
	p = look(&f, "-O2", "a.cpp");
	make(&f, &p);
	assert_str(p.file, path_join(&f.a, p.dir, S("all.pch")).p);
	assert_str(look(&f, "-O2", "a.cpp").file, p.file.p);
	/* a quick look counted one that defines what the headers ask for: it makes the file, and compiles without */
	put(&f, "asks.cpp", "#define ASKED\n#include <p/set.h>\n");
	assert_false(look(&f, "-O2 -DMORE", "a.cpp").due || look(&f, "-O2 -DMORE", "a.cpp").due);
	p = look(&f, "-O2 -DMORE", "asks.cpp");
	make(&f, &p);
	assert_false(p.file.n);
	assert_true(look(&f, "-O2 -DMORE", "a.cpp").file.n);
	tear_down(&f);
}

static void a_header_that_changed_makes_it_anew(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	struct pch p = made(&f);
	assert_true(look(&f, "-O2", "a.cpp").file.n > 0);
	struct utimbuf old = {.actime = 1, .modtime = 1};
	assert_int_equal(utime(at(&f, "inc/p/deep.h").p, &old), 0);
	p = look(&f, "-O2", "a.cpp");
	assert_false(p.due || p.file.n);
	look(&f, "-O2", "a.cpp");
	p = look(&f, "-O2", "a.cpp");
	make(&f, &p);
	assert_true(look(&f, "-O2", "a.cpp").file.n > 0);
	tear_down(&f);
}

static void what_cannot_be_made_or_breaks_compiles_is_given_up(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	strs_add(&f.a, &f.config.precompile, S("p/deep.h"));
	put(&f, "a.cpp", "#include <p/deep.h>\n#include <p/set.h>\n");
	struct pch p = made(&f);
	assert_ok(pch_failed(&f.a, &p));
	assert_ok(pch_failed(&f.a, &p));
	assert_str(look(&f, "-O2", "a.cpp").file, p.file.p);
	assert_ok(pch_failed(&f.a, &p));
	struct pch next = {0};
	for (int i = 0; i < 3; i++) /* the next set that fits */
		next = look(&f, "-O2", "a.cpp");
	assert_true(next.due && !str_eq(next.dir, p.dir));
	assert_ok(pch_made(&f.a, &next, false));
	assert_false(next.file.n || next.due);
	for (int i = 0; i < 4; i++)
		assert_false(look(&f, "-O2", "a.cpp").dir.n);
	tear_down(&f);
}

static void torn_files_are_no_precompiled_header(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	struct pch p = made(&f);
	assert_ok(fs_write(path_join(&f.a, p.dir, S("made")), S("torn"), 0644));
	assert_false(look(&f, "-O2", "a.cpp").file.n);
	tear_down(&f);
}

static void a_dependency_file_names_all_headers_but_ours(void **state)
{
	(void)state;
	struct fixture f;
	struct str text;
	set_up(&f);
	struct pch p = made(&f);
	put(&f, "a.d",
		str_fmt(&f.a, "a.o: %.*s/headers \\\n  /i/set.h \\\n  a.cpp\n", STR(p.dir)).p);
	struct strs args = {0};
	strs_add(&f.a, &args, S("-MF"));
	strs_add(&f.a, &args, at(&f, "a.d"));
	assert_ok(pch_depfile(&f.a, &p, &args));
	assert_ok(fs_read(&f.a, at(&f, "a.d"), 1000, &text));
	assert_str(text, str_fmt(&f.a, "a.o: \\\n  /i/set.h \\\n  a.cpp \\\n  %.*s \\\n  %.*s\n",
				 STR(at(&f, "inc/p/set.h")), STR(at(&f, "inc/p/deep.h")))
				 .p);
	assert_ok(pch_depfile(&f.a, &p, &args)); /* what is not in there */
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_begins_with_its_headers_or_has_none),
		cmocka_unit_test(what_says_nothing_about_headers_makes_no_other_group),
		cmocka_unit_test(the_third_compile_makes_it_and_one_alone),
		cmocka_unit_test(a_header_that_changed_makes_it_anew),
		cmocka_unit_test(what_cannot_be_made_or_breaks_compiles_is_given_up),
		cmocka_unit_test(torn_files_are_no_precompiled_header),
		cmocka_unit_test(a_dependency_file_names_all_headers_but_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
