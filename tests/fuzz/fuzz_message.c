/* What compilers, linkers, CMake, Python and ninja print, in any order, and what CMakeCache.txt has: no error, or one that has a
 * text, and whose place is in the project. */
#include <stdlib.h>

#include "know/know.h"
#include "know/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static struct str file(const void *user, struct str path)
{
	(void)user;
	path = str_starts(path, S("/p/")) ? str_sub(path, 3, path.n) : path;
	return str_starts(path, S("/")) ? S("") : path; /* "/p//etc" is not in the project */
}

static void map(const void *user, struct str path, struct message *at)
{
	(void)user;
	check(path.n > 0);
	at->line++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const tools[] = {
		"rocm-off", "cuda-off", "cuda-lacks", "download", "pip", "memory", "apt"};
	ARENA(a);
	struct str part, text = {.p = (const char *)data, .n = size};
	struct message_block b;
	struct message_origin o = {.a = &a,
		.project = S("/p"),
		.cmake = S("/p"),
		.about = S(" (compiling)"),
		.program = E_FOREIGN,
		.tools = {"clang", "lld"},
		.file = file,
		.map = map};
	struct err *e = message_first_error(&o, text);
	check(!e || (e->msg[0] && e->code != E_INTERNAL));
	check(!e || !e->path || str_starts(str_from(e->path), S("/p/")));
	err_free(e);
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		const struct know_rule *rule = know_match(tools[i], text, &part);
		check(!rule || part.n <= text.n);
		if (rule && rule->hint)
			check(know_hint(&a, rule, part).n > 0);
	}
	o.warnings = true;
	while (text.n) {
		size_t before = text.n;
		message_block(&o, &text, &b);
		check(text.n < before);
		if (b.found)
			err_free(message_error(&o, &b));
	}
	return 0;
}
