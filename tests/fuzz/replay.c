/* Runs a fuzz target over every file of the folders named, so that a corpus is an ordinary test.
 * Under -Dfuzz=true libFuzzer's own main takes the place of this file. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct err *one(void *user, const struct fs_entry *e, bool *prune)
{
	(void)prune;
	ARENA(a);
	struct str bytes, *dir = user;
	if (!S_ISREG(e->st.st_mode))
		return NULL;
	TRY(fs_read(&a, path_join(&a, *dir, e->path), 1 << 28, &bytes));
	/* An exact malloc, so that ASan sees a read one byte too far. */
	uint8_t *p = xmalloc(bytes.n);
	for (size_t i = 0; i < bytes.n; i++)
		p[i] = (uint8_t)bytes.p[i];
	LLVMFuzzerTestOneInput(p, bytes.n);
	free(p);
	return NULL;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct str dir = str_from(argv[i]);
		CLEANUP(err_freep) struct err *e = fs_walk(dir, one, &dir);
		if (e) {
			fprintf(stderr, "replay: %s: %s\n", argv[i], e->msg);
			return 1;
		}
	}
	return 0;
}
