/* What host_read() finds: on trees that the test makes, and on this machine against its own tools.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/proc.h"
#include "machine/facts.h"

#define COUNT(v) (sizeof(v) / sizeof(*(v)))
#define assert_str(have, want) assert_string_equal(str_z(&a, (have)), (want))

static struct arena a;

static void ok(struct err *e)
{
	if (e)
		fail_msg("%s", e->msg);
}

static struct str tree(const char *const *files)
{
	struct str root;
	ok(fs_tempdir(&a, S(""), &root));
	for (; *files; files += 2) {
		struct str path = path_join(&a, root, str_from(files[0]));
		ok(fs_mkdirs(path_dir(path)));
		ok(fs_write(path, str_from(files[1]), 0644));
	}
	return root;
}

static const char FEATURES[] = "/* glibc */\n#undef __GLIBC__\n#ifndef X\n"
			       "# define __GLIBC_USE(F)	1\n"
			       "#define	__GLIBC__	2\n#define	__GLIBC_MINOR__	36\n";

static void newest_gcc_with_headers_wins(void **state)
{
	(void)state;
	static const char *const files[] = {
		"usr/lib/gcc/x86_64-linux-gnu/9/crtbegin.o",
		"",
		"usr/lib/gcc/x86_64-linux-gnu/11/crtbegin.o",
		"",
		"usr/lib/gcc/x86_64-linux-gnu/13/crtbegin.o",
		"", /* no C++ headers */
		"usr/lib/gcc/x86_64-linux-gnu/notes/crtbegin.o",
		"",
		"usr/lib/gcc/aarch64-linux-gnu/14/crtbegin.o",
		"", /* a cross compiler */
		"usr/include/c++/9/vector",
		"",
		"usr/include/c++/11/vector",
		"",
		"usr/include/c++/14/vector",
		"",
		"usr/include/features.h",
		FEATURES,
		"usr/lib/x86_64-linux-gnu/crti.o",
		"",
		NULL,
	};
	struct str root = tree(files);
	struct host h = {0};
	ok(host_read_files(&a, root, S("x86_64"), &h));
	struct str gcc = path_rel(&a, h.gcc_dir, root);
	assert_str(gcc, "usr/lib/gcc/x86_64-linux-gnu/11");
	assert_str(h.triplet, "x86_64-linux-gnu");
	assert_str(h.libc, "2.36");
	assert_str(path_rel(&a, h.include_dir, root), "usr/include");
	ok(fs_remove_tree(root));
}

static void other_layouts(void **state)
{
	(void)state;
	static const char *const fedora[] = {
		"usr/lib/gcc/x86_64-redhat-linux/14.2.1/crtbegin.o",
		"",
		"usr/include/c++/14.2.1/vector",
		"",
		"usr/include/features.h",
		FEATURES,
		"usr/lib64/crti.o",
		"",
		NULL,
	};
	struct str root = tree(fedora);
	struct host h = {0};
	ok(host_read_files(&a, root, S("x86_64"), &h));
	assert_str(h.triplet, "x86_64-redhat-linux");
	assert_true(h.gcc_dir.n && h.libc.n);
	ok(fs_remove_tree(root));

	/* Headers of the C library in the multiarch folder, no gcc. */
	static const char *const multi[] = {
		"usr/include/aarch64-linux-gnu/features.h",
		FEATURES,
		"usr/lib/aarch64-linux-gnu/crti.o",
		"",
		NULL,
	};
	root = tree(multi);
	h = (struct host){0};
	ok(host_read_files(&a, root, S("aarch64"), &h));
	assert_str(h.triplet, "aarch64-linux-gnu");
	assert_str(h.libc, "2.36");
	assert_int_equal(h.gcc_dir.n, 0);
	ok(fs_remove_tree(root));
}

static void incomplete_machines(void **state)
{
	(void)state;
	static const char *const no_start_files[] = {"usr/include/features.h", FEATURES, NULL};
	static const char *const musl[] = {
		"usr/include/features.h",
		"#ifndef _FEATURES_H\n#define _FEATURES_H\n#endif\n",
		"usr/lib/crti.o",
		"",
		NULL,
	};
	static const char *const empty[] = {"usr/lib/os-release", "", NULL};
	const char *const *const all[] = {no_start_files, musl, empty};
	for (size_t i = 0; i < COUNT(all); i++) {
		struct str root = tree(all[i]);
		struct host h = {0};
		ok(host_read_files(&a, root, S("x86_64"), &h));
		assert_int_equal(h.libc.n + h.include_dir.n + h.gcc_dir.n, 0);
		ok(fs_remove_tree(root));
	}
}

static void python_answers(void **state)
{
	(void)state;
	static const struct {
		const char *text, *tag, *abi, *suffix;
	} cases[] = {
		{.text = "cpython\n3.11\n\ncpython-311-x86_64-linux-gnu\n.cpython-311-x86_64-linux-"
			 "gnu.so\n"
			 "/usr/bin/python3\n/nowhere\n/nowhere\n",
			.tag = "cp311",
			.abi = "cp311",
			.suffix = ".cpython-311-x86_64-linux-gnu.so"},
		{.text = "cpython\n3.13\nt\nx\n.x.so\n/p\n/nowhere\n\n",
			.tag = "cp313",
			.abi = "cp313t",
			.suffix = ".x.so"},
		{.text = "cpython\n3.7\nm\nx\n.x.so\n/p\n\n\n",
			.tag = "cp37",
			.abi = "cp37m",
			.suffix = ".x.so"},
		{.text = "pypy\n3.10\n\npypy310-pp73\n.pypy310-pp73-x86_64-linux-gnu.so\n/p\n\n\n",
			.tag = "pp310",
			.abi = "pypy310_pp73",
			.suffix = ".pypy310-pp73-x86_64-linux-gnu.so"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct host h = {0};
		ok(host_parse_python(&a, str_from(cases[i].text), &h));
		assert_str(h.python_tag, cases[i].tag);
		assert_str(h.python_abi, cases[i].abi);
		assert_str(h.ext_suffix, cases[i].suffix);
		assert_int_equal(h.python_include.n, 0);
	}
}

static void bad_python_answers(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "cpython\n", "cpython\n2.7\n\n\n.so\n/p\n/i\n\n",
		"cpython\n3\n\n\n.so\n/p\n/i\n\n", "cpython\n3.x\n\n\n.so\n/p\n/i\n\n"};
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct host h = {0};
		CLEANUP(err_freep) struct err *e = host_parse_python(&a, str_from(texts[i]), &h);
		assert_non_null(e);
	}
}

/* Against what Python says in another way, and gcc about its own folder. */
static void this_machine(void **state)
{
	(void)state;
	struct host h;
	if (!proc_find(&a, S("python3")).n || !proc_find(&a, S("gcc")).n)
		skip();
	ok(host_read(&a, S("python3"), &h));
	struct proc p = {0};
	struct proc_result r;
	proc_arg(&a, &p, "python3", "-c",
		"import sys,importlib.machinery as "
		"m;print(sys.executable);print(m.EXTENSION_SUFFIXES[0])",
		NULL);
	ok(proc_check(&a, &p, &r));
	assert_str(r.out, str_z(&a, str_fmt(&a, "%.*s\n%.*s\n", STR(h.python), STR(h.ext_suffix))));
	if (h.python_include.n)
		assert_true(fs_exists(path_join(&a, h.python_include, S("Python.h"))));
	struct proc g = {0};
	proc_arg(&a, &g, "gcc", "-print-file-name=crtbegin.o", NULL);
	ok(proc_check(&a, &g, &r));
	struct str begin = path_clean(&a, str_trim(r.out));
	if (h.gcc_dir.n && fs_exists(path_join(&a, h.gcc_dir, S("cc1"))))
		assert_str(path_dir(begin), str_z(&a, h.gcc_dir));
}

static void asked_python_must_work(void **state)
{
	(void)state;
	struct host h;
	CLEANUP(err_freep) struct err *none = host_read(&a, S("/nonexistent/python3"), &h);
	assert_non_null(none);
	CLEANUP(err_freep) struct err *broken = host_read(&a, S("/bin/false"), &h);
	assert_int_equal(broken->code, E_TOOL_FAILED);
	CLEANUP(err_freep) struct err *number = host_read(&a, S("3.999"), &h);
	assert_int_equal(number->code, E_TOOL_MISSING);
	assert_non_null(strstr(number->msg, "3.999"));
}

static int done(void **state)
{
	(void)state;
	arena_free(&a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_gcc_with_headers_wins),
		cmocka_unit_test(other_layouts),
		cmocka_unit_test(incomplete_machines),
		cmocka_unit_test(python_answers),
		cmocka_unit_test(bad_python_answers),
		cmocka_unit_test(this_machine),
		cmocka_unit_test(asked_python_must_work),
	};
	return cmocka_run_group_tests(tests, NULL, done);
}
