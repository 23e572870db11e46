/* The engine of the modes torch and extension without the command around it, for oracles: nothing
 * is written to the tree.
 *
 * Each line of stdin is a job, with tabs between: MODE (torch or extension), TORCH, DIR, include
 * folders, sources, ignore patterns (lists with ';' between). The answer is a line for each file:
 * "status SHA256 OUTPUT", status ok, unchanged or failed, with " repeats" behind it where that was
 * found, SHA256 "-" when nothing would be written; then a line "end", or "error ID message".
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/hash.h"
#include "hipify/hipify_int.h"

static struct strs list_of(struct arena *a, struct str text)
{
	struct strs list = {0};
	struct str item;
	while (str_next(&text, ';', &item))
		strs_add(a, &list, item);
	return list;
}

static void show_file(const struct change *f)
{
	static const char *const status[] = {"ok", "unchanged", "skipped", "failed"};
	ARENA(a);
	struct str hex = S("-");
	if (f->text.p) {
		struct digest d = hash_bytes(HASH_SHA256, f->text.p, f->text.n);
		hex = digest_hex(&a, d);
	}
	printf("%s%s %.*s %.*s\n", status[f->status], f->mark ? "+repeats" : "", STR(hex),
		STR(f->output));
	for (const struct err *e = f->error; e; e = e->cause)
		fprintf(stderr, "%s:%u: %s\n", e->path ? e->path : "", e->line, e->msg);
}

static struct err *run(struct arena *a, struct str *field)
{
	struct torch_source source;
	struct hipify_tree tree = {0};
	struct view view;
	struct hipify_options o = {
		.mode = str_eq(field[0], S("torch")) ? HIPIFY_TORCH : HIPIFY_EXTENSION,
		.torch = field[1],
		.dir = field[2],
		.in_place = true,
		.include_dirs = list_of(a, field[3]),
		.sources = list_of(a, field[4]),
		.ignore = list_of(a, field[5]),
	};
	TRY(torch_open(a, field[1], &source));
	view_open(&view, path_abs(a, o.dir), NULL);
	struct err *e = torch_run(a, &o, &source, &view, &tree);
	VEC_EACH (struct change, f, &tree.changes)
		show_file(f);
	VEC_EACH (struct finding, f, &tree.findings)
		fprintf(stderr, "%s: %.*s\n", f->id, STR(f->message));
	hipify_tree_free(&tree);
	view_close(&view);
	return e;
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	while ((n = getline(&line, &cap, stdin)) > 0) {
		ARENA(a);
		struct str rest = {.p = line, .n = (size_t)n - 1}, field[6] = {0};
		for (size_t i = 0; i < 6 && str_next(&rest, '\t', &field[i]); i++)
			;
		struct err *e = run(&a, field);
		if (e)
			printf("error %s %s\n", err_id(e->code), e->msg);
		else
			puts("end");
		err_free(e);
		fflush(stdout);
	}
	free(line);
	return 0;
}
