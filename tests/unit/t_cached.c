/* What decides the output of a pass, and nothing else, is in its key. */
#include "test.h"

#include "base/hash.h"
#include "cc/cached.h"

#define CC1 " \"/b/rocm/llvm/bin/clang++\" \"-cc1\" \"-emit-obj\" "
#define LAST " \"-fmacro-prefix-map=/b/=\" \"-o\" \"/b/tmp/a-1.o\" \"-x\" \"hip\" \"/b/a.hip\"\n"

/* The key of what the driver showed, and of a text; "" = none. */
static struct str key_of(struct arena *a, const char *said, const char *text)
{
	struct cached_pass p = {.text = str_from(text)};
	struct strs homes = str_split(a, S("/b/rocm /sdk"), ' ');
	if (!cached_commands(a, &homes, str_from(said), &p))
		return S("");
	assert_ok(cached_key(a, &p));
	return p.good ? digest_hex(a, p.key) : S("");
}

static void only_what_decides_the_output_is_in_the_key(void **state)
{
	(void)state;
	ARENA(a);
	const char *text = "# 1 \"/b/a.hip\"\nint x;\n";
	static const struct {
		const char *said, *text;
		bool same;
	} rows[] = {
		/* where headers lie, and macros: the text has them */
		{CC1 "\"-O3\" \"-I\" \"/x\" \"-D\" \"A=1\" \"-internal-isystem\" \"/y\"" LAST, NULL,
			true},
		{CC1 "\"-O3\" \"-dependency-file\" \"/z\" \"-MT\" \"q\"" LAST, NULL, true},
		{CC1 "\"-O2\"" LAST, NULL, false},
		{CC1 "\"-O3\" \"-fnew\"" LAST, NULL, false},
		{CC1 "\"-O3\"" LAST, "# 1 \"/b/a.hip\"\nint y;\n", false},
		{CC1 "\"-O3\"" LAST, "# 2 \"/b/a.hip\"\nint x;\n", false},
		{CC1 "\"-O3\"" LAST, "# 1 \"/c/a.hip\"\nint x;\n", false},
		/* the linker's files have random names */
		{CC1 "\"-O3\"" LAST " \"/sdk/bin/lld\" \"-m\" \"-o\" \"/o\" \"/b/tmp/x\"\n", NULL,
			false},
	};
	struct str key = key_of(&a, CC1 "\"-O3\"" LAST, text);
	assert_int_equal(key.n, 64);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str other = key_of(&a, rows[i].said, rows[i].text ? rows[i].text : text);
		assert_int_equal(other.n, 64);
		if (str_eq(key, other) != rows[i].same)
			fail_msg("%s%s", rows[i].said, rows[i].text ? rows[i].text : "");
	}
	const char *lld = CC1 LAST " \"/sdk/bin/lld\" \"-m\" \"-o\" \"%s\" \"/b/tmp/%s\"\n";
	assert_true(str_eq(key_of(&a, str_fmt(&a, lld, "/o", "a-1").p, text),
		key_of(&a, str_fmt(&a, lld, "/p", "a-2").p, text)));
}

static void what_nobody_knows_has_no_key(void **state)
{
	(void)state;
	ARENA(a);
	const char *text = "int x;\n";
	static const char *const said[] = {"", "clang version 21\n",
		" \"/usr/bin/clang++\" \"-cc1\"" LAST,          /* a compiler of somebody else */
		" \"/b/rocm/llvm/bin/llvm-mc\" \"-o\" \"x\"\n", /* another program */
		CC1 "\"-mllvm\" \"-file=/x\"" LAST, CC1 "\"open\n", NULL};
	for (size_t i = 0; said[i]; i++)
		assert_int_equal(key_of(&a, said[i], text).n, 0);
	static const char *const reads[] = {"asm(\".incbin \\\"f\\\"\");",
		"asm(\".include \\\"f\\\"\");", "asm(R\"(.include\t\"f\")\");", NULL};
	for (size_t i = 0; reads[i]; i++)
		assert_int_equal(key_of(&a, CC1 LAST, reads[i]).n, 0);
	assert_int_equal(key_of(&a, CC1 LAST, "x.include(y); s.included;").n, 64);
}

static void files_are_those_that_are_entered(void **state)
{
	(void)state;
	ARENA(a);
	struct strs read = {0};
	cached_read(&a,
		S("# 1 \"a.hip\"\n# 1 \"<built-in>\" 1\n# 1 \"/x/y.h\" 1 3\n# 7 \"a.hip\" 2\n# 9 "
		  "\"lex.l\"\n"
		  "# 1 \"lex.l\"\n# 1 \"../z.h\" 1\n"),
		S("/b/c"), &read);
	assert_str(str_join(&a, &read, S(" ")), "/b/c/a.hip /x/y.h /b/z.h");
}

/* An entry with messages is for the same files only; one without is for the same text. */
static void messages_are_about_the_files_as_they_are(void **state)
{
	(void)state;
	ARENA(a);
	struct str top = test_dir(&a), file = path_join(&a, top, S("a.hip")),
		   part = path_join(&a, top, S("part")), said, text;
	struct proc_result cost = {.seconds = 1};
	bool done;
	assert_int_equal(setenv("ROCSMITH_HOME", str_z(&a, path_join(&a, top, S("home"))), 1), 0);
	assert_ok(fs_mkdirs(path_join(&a, top, S("home"))));
	const struct cache_wish local = {.where = S("local")};
	CLEANUP(cache_closep) struct cache *c = NULL;
	assert_ok(cache_open(&local, &c));
	struct cached_pass p = {.cache = c, .text = S("int x;\n"), .began = INT64_MAX};
	strs_add(&a, &p.read, file);
	*VEC_PUSH(&a, &p.roots) = (struct cached_root){.mark = "0", .dir = top};
	for (int messages = 0; messages < 2; messages++) {
		strs_add(&a, &p.words, S("-O3"));
		assert_ok(fs_write(file, S("int x;\n"), 0644));
		assert_ok(fs_write(part, S("object"), 0644));
		assert_ok(cached_key(&a, &p));
		cost.err = messages ? str_fmt(&a, "%.*s: warning", STR(file)) : S("");
		cached_keep(&a, &p, part, &cost);
		assert_ok(fs_remove(part));
		assert_ok(cached_take(&a, &p, part, &said, &done));
		assert_true(done);
		assert_ok(fs_read(&a, part, 100, &text));
		assert_str(text, "object");
		if (messages)
			assert_true(str_eq(said, str_fmt(&a, "%.*s: warning", STR(file))));
		assert_ok(fs_write(file, S("int  x;\n"), 0644));
		assert_ok(cached_take(&a, &p, part, &said, &done));
		assert_int_equal(done, !messages);
	}
	/* what changed since the text was made is not kept */
	cost.err = S("");
	p.began = 0;
	strs_add(&a, &p.words, S("-O2"));
	assert_ok(cached_key(&a, &p));
	cached_keep(&a, &p, part, &cost);
	assert_ok(cached_take(&a, &p, part, &said, &done));
	assert_false(done);
	struct cached_pass other = {.cache = c, .text = p.text, .began = 0};
	strs_add(&a, &other.others, file); /* a device library, for example */
	assert_ok(cached_key(&a, &other));
	cached_keep(&a, &other, part, &cost);
	assert_ok(cached_take(&a, &other, part, &said, &done));
	assert_false(done);
	other.began = INT64_MAX;
	cached_keep(&a, &other, part, &cost);
	assert_ok(cached_take(&a, &other, part, &said, &done));
	assert_true(done);
	/* a compiler that is replaced during the build: what it made is not kept, and nothing is looked for */
	struct str compiler = path_join(&a, top, S("clang"));
	struct strs programs = {0};
	assert_ok(fs_write(compiler, S("one"), 0644));
	strs_add(&a, &programs,
		str_fmt(&a, "%.*s %.*s", STR(fs_exact_state(&a, compiler)), STR(compiler)));
	strs_add(&a, &other.words, S("-O2"));
	other.programs = &programs;
	assert_ok(cached_key(&a, &other));
	assert_true(other.good);
	assert_ok(fs_write(compiler, S("two"), 0644)); /* as large, by another inode */
	cached_keep(&a, &other, part, &cost);
	assert_ok(cached_take(&a, &other, part, &said, &done));
	assert_false(done);
	assert_ok(cached_key(&a, &other));
	assert_false(other.good);
	/* columns are not in the text */
	struct digest before;
	p.text = S("int x = __builtin_COLUMN();\n");
	assert_ok(cached_key(&a, &p));
	before = p.key;
	assert_ok(fs_write(file, S("int   x;\n"), 0644));
	assert_ok(cached_key(&a, &p));
	assert_memory_not_equal(before.b, p.key.b, sizeof(before.b));
	cache_closep(&c);
	test_dir_remove(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_decides_the_output_is_in_the_key),
		cmocka_unit_test(what_nobody_knows_has_no_key),
		cmocka_unit_test(files_are_those_that_are_entered),
		cmocka_unit_test(messages_are_about_the_files_as_they_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
