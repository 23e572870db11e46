/* Exported targets whose files are missing: sdk/exports.c. The texts are what CMake 3.18 to 4.1 write. */
#include "sdk/shims.h"
#include "test.h"

#define CHECK(name, file)                                                                          \
	"list(APPEND _cmake_import_check_targets " name " )\n"                                     \
	"list(APPEND _cmake_import_check_files_for_" name " " file " )\n"
#define OLD(name, file) "list(APPEND _IMPORT_CHECK_FILES_FOR_" name " " file " )\n"
#define TARGET(name, file)                                                                         \
	"set_target_properties(" name " PROPERTIES\n  IMPORTED_LOCATION_RELEASE " file "\n  )\n"
#define IN(file) "\"${_IMPORT_PREFIX}/" file "\""
#define SAYS(name, file)                                                                           \
	"message(STATUS \"rocsmith: the SDK has no '" file "' for the target " name                \
	"; what links that cannot be built\")\n"

static const struct {
	const char *text, *wanted; /* NULL: the text itself, the same bytes in the same place */
} rows[] = {
	{"", NULL},
	{"add_library(roc::a SHARED IMPORTED)\n", NULL},
	{TARGET("a", IN("lib/a.so.1")) CHECK("a", IN("lib/a.so.1")), NULL},
	/* one of two */
	{TARGET("roc::b", IN("lib/b.so")) CHECK("roc::b", IN("lib/b.so"))
			CHECK("a", IN("lib/a.so.1")),
		TARGET("roc::b", IN("lib/b.so")) "list(APPEND _cmake_import_check_targets roc::b "
						 ")\n" SAYS("roc::b", "lib/b.so")
							 CHECK("a", IN("lib/a.so.1"))},
	{OLD("a", IN("lib/a.so.1")) OLD("b", IN("lib/b.so")),
		OLD("a", IN("lib/a.so.1")) SAYS("b", "lib/b.so")},
	/* nothing of the package is there: that is no fault of one library */
	{CHECK("b", IN("lib/b.so")) CHECK("c", IN("lib/c.so")), NULL},
	/* what is not for us to judge: other places, several files, other lines */
	{CHECK("a", IN("lib/a.so.1")) CHECK("b", "\"/nowhere/lib/b.so\""), NULL},
	{CHECK("a", IN("lib/a.so.1")) CHECK("b", IN("lib/a.so.1") " " IN("lib/b.so")), NULL},
	{OLD("a", IN("lib/a.so.1")) "# " OLD(
		 "b", IN("lib/b.so")) "list(APPEND _IMPORT_CHECK_FILES_FOR_",
		NULL},
};

static void only_checks_of_missing_files_go(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	assert_ok(fs_mkdirs(path_join(&a, dir, S("lib"))));
	test_put(path_join(&a, dir, S("lib/a.so.1")), "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = str_from(rows[i].text);
		struct str got = exports_without_missing(&a, text, dir);
		if (rows[i].wanted)
			assert_str(got, rows[i].wanted);
		else
			assert_ptr_equal(got.p, text.p);
	}
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_checks_of_missing_files_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
