/* Checks of exported targets: see exports.h. The lines are those of CMake's generator
 * (cmExportFileGenerator.cxx); up to 3.24 the variables had other names. */
#include "sdk/exports.h"

#include "base/buf.h"
#include "base/fs.h"

/* Is this line `list(APPEND _cmake_import_check_files_for_TARGET "${_IMPORT_PREFIX}/FILE" )`? */
static bool read_check(struct str line, struct str *ret_target, struct str *ret_file)
{
	static const char *const starts[] = {"list(APPEND _cmake_import_check_files_for_",
		"list(APPEND _IMPORT_CHECK_FILES_FOR_"};
	const struct str prefix = S("\"${_IMPORT_PREFIX}/"), end = S("\" )");
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct str start = str_from(starts[i]), file;
		if (!str_starts(line, start) ||
			!str_cut(str_sub(line, start.n, line.n), ' ', ret_target, &file) ||
			!str_starts(file, prefix) || !str_ends(file, end))
			continue;
		*ret_file = str_sub(file, prefix.n, file.n - end.n);
		return !str_contains(*ret_file, S("\""));
	}
	return false;
}

struct str exports_without_missing(struct arena *a, struct str text, struct str prefix)
{
	BUF(out, a);
	struct str rest = text, line, target, file;
	size_t there = 0, missing = 0;
	while (str_next(&rest, '\n', &line)) {
		bool check = read_check(str_trim(line), &target, &file);
		if (!check || fs_exists(path_join(a, prefix, file))) {
			there += check;
			buf_fmt(&out, "%.*s\n", STR(line));
			continue;
		}
		missing++;
		buf_fmt(&out,
			"message(STATUS \"rocsmith: the SDK has no '%.*s' for the target %.*s; "
			"what links that cannot be built\")\n",
			STR(file), STR(target));
	}
	return there && missing ? buf_str(&out) : text;
}
