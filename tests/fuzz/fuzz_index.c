/* An answer of index.py, in which much is an index's own words: it is refused, or names files that are safe to write; and the
 * lock file of `get` that is made of it says, read as TOML, what the answer said. */
#include <stdlib.h>

#include "base/fs.h"
#include "flow/get.h"
#include "formats/node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

/* Does the member have this text? */
static bool same(const struct node *map, const char *key, struct str want)
{
	return str_eq(node_text(map, str_from(key), S("")), want);
}

static void check_lock(struct arena *a, const struct index_answer *got, bool local)
{
	struct get_done d = {.python = S("3.12"), .machine = S("x86_64")};
	const struct node *doc = NULL, *list, *files;
	VEC_EACH (const struct archive_item, f, &got->files)
		*VEC_PUSH(a, &d.packages) = (struct get_package){
			.name = f->name, .version = f->requires_python, .file = *f};
	err_free(toml_parse(a, get_lock(a, &d, local), S("pylock.toml"), &doc));
	check(doc != NULL);
	list = node_get(doc, S("packages"));
	check((list ? list->n : 0) == got->files.n);
	for (size_t i = 0; i < got->files.n; i++) {
		const struct archive_item *f = &got->files.v[i];
		files = node_get(&list->v[i], S("wheels"));
		files = files ? files->v : node_get(&list->v[i], S("sdist"));
		check(same(&list->v[i], "name", f->name) && same(files, "name", f->file));
		check(local || same(files, "url", f->url));
		check(same(node_get(files, S("hashes")), "sha256", f->sha256));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct index_answer got;
	struct err *e =
		index_answer_parse(&a, (struct str){.p = (const char *)data, .n = size}, &got);
	VEC_EACH (const struct archive_item, f, &got.files)
		check(e || (path_is_inside(f->file) && str_chr(f->file, '/') == f->file.n));
	for (int local = 0; local < 2 && !e; local++)
		check_lock(&a, &got, local);
	err_free(e);
	return 0;
}
