/* Runs a fuzz target over every file of the folders named, so that a corpus is an ordinary test:
 * one TAP line a file. Under -Dfuzz=true libFuzzer's own main takes the place of this file. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct replay {
	struct str dir;
	unsigned n;
};

static struct err *one(void *user, struct fs_entry *e)
{
	ARENA(a);
	struct replay *r = user;
	struct str bytes;
	if (!S_ISREG(e->st.st_mode))
		return NULL;
	TRY(fs_read(&a, path_join(&a, r->dir, e->path), 1 << 28, &bytes));
	/* An exact malloc, so that ASan sees a read one byte too far. */
	uint8_t *p = xmalloc(bytes.n);
	for (size_t i = 0; i < bytes.n; i++)
		p[i] = (uint8_t)bytes.p[i];
	LLVMFuzzerTestOneInput(p, bytes.n);
	free(p);
	/* Reached only when the target came back: a crash ends the stream without its plan. */
	printf("ok %u - %.*s\n", ++r->n, STR(e->path));
	return NULL;
}

int main(int argc, char **argv)
{
	struct replay r = {0};
	for (int i = 1; i < argc; i++) {
		r.dir = str_from(argv[i]);
		CLEANUP(err_freep) struct err *e = fs_walk(r.dir, one, &r);
		if (e) {
			printf("Bail out! %s: %s\n", argv[i], e->msg);
			return 1;
		}
	}
	printf("1..%u\n", r.n);
	return r.n ? 0 : 1;
}
