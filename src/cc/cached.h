/* Takes the output of a compiler's pass from a cache (cache/cache.h) instead of running it; for the jobs of make/ and for
 * the shim.
 *
 * The key is a hash over all that decides the output: the content of the compiler's files, the command, the preprocessed
 * text, and the content of inputs that are not part of the text (device libraries, a bundle of device code). The text is
 * what the compiler sees, so no header, macro, search path or __has_include can differ unseen. Where the text and the
 * command only say in which folder something lies, folders of this build are replaced by marks, so the same project
 * elsewhere has the same keys: the output does not depend on these (-ffile-prefix-map). A path in a string or a macro
 * stays. Where a text says the same in other columns, or in macros that came otherwise, messages may differ: an entry
 * with messages is used only if the files are the same as well, and a text that asks for columns has them in its key. A
 * text that makes the assembler read another file (.incbin) has no key. */
#pragma once

#include <sys/stat.h>

#include "base/proc.h"
#include "base/vec.h"
#include "cache/cache.h"

struct cached_root { /* a folder whose place does not matter to what is made */
	const char *mark;
	struct str dir;
};

struct cached_pass {
	struct cache *cache;
	struct strs words;             /* all that decides the output but is no content of a file */
	struct str text;               /* as the preprocessor made it */
	struct strs read;              /* the files that it is made of, as far as they may change */
	struct strs others;            /* files whose content decides the output, too */
	VEC(struct cached_root) roots; /* one that lies in another comes before it */
	const struct strs
		*programs; /* the compiler that the first word names: cached_same(); or NULL */
	int64_t began;     /* ns: cached_now() before the text was made */
	bool good;         /* cached_key() found a key */
	struct digest key;
};

int64_t cached_now(void);
/* Was the file changed at or after that time? */
bool cached_is_younger(const struct stat *st, int64_t began);
/* Are these files, each "STATE PATH" with fs_exact_state(), still what they were? */
bool cached_same(const struct strs *files);
/* The files that a text names in its line markers, where it begins and where an #include does; relative ones are below cwd. */
void cached_read(struct arena *a, struct str text, struct str cwd, struct strs *ret);
/* Adds what decides the output to *p by the commands that the driver's -### shows (said): words, contents of files, and as
 * roots the folders that -ffile-prefix-map hides. homes: folders whose programs p's first word covers. False if there is
 * anything that nobody here knows. */
bool cached_commands(
	struct arena *a, const struct strs *homes, struct str said, struct cached_pass *p);
/* Finds p->key from the rest of *p, unless the compiler is another one by now. */
MUST_USE struct err *cached_key(struct arena *tmp, struct cached_pass *p);
/* Writes `part` from the cache, and the compiler's messages into *ret_said. False if the cache does not have it. */
MUST_USE struct err *cached_take(struct arena *tmp, const struct cached_pass *p, struct str part,
	struct str *ret_said, bool *ret_done);
/* Keeps `part`, which this run made, with its messages (run->err), unless a file that it is made of changed since p->began,
 * or the compiler did: then it may be of another text, or of another compiler. */
void cached_keep(struct arena *tmp, const struct cached_pass *p, struct str part,
	const struct proc_result *run);
/* Copies as much of a pass as cached_keep() needs. */
struct cached_pass cached_copy(struct arena *a, const struct cached_pass *p);
