/* Machine files, as strangers send them in bug reports: machine/file.c. What is written of one reads back as the same;
 * a machine of any content is examined to the end, and what is recorded of it can be read and is hidden completely. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "know/rule.h"
#include "machine/facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void same(const struct root_entries *one, const struct root_entries *two)
{
	check(one->n >= two->n); /* a folder that has entries is not written */
	size_t k = 0;
	VEC_EACH (const struct root_entry, e, two) {
		while (k < one->n &&
			(!str_eq(one->v[k].path, e->path) || one->v[k].kind != e->kind))
			check(one->v[k++].kind == ENTRY_DIR);
		check(k < one->n && str_eq(one->v[k].text, e->text) && one->v[k].uid == e->uid);
		k++;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct root_entries list, again, record = {0};
	struct machine m;
	struct str text = {.p = (const char *)data, .n = size};
	CLEANUP(err_freep) struct err *e = machine_file_parse(&a, text, S("m"), &list);
	if (e)
		return 0;
	e = machine_file_parse(&a, machine_file_text(&a, &list), S("m"), &again);
	check(!e);
	same(&list, &again);

	CLEANUP(fd_closep) int fd = memfd_create("machine", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	struct root r = {.a = &a, .dir = str_fmt(&a, "/proc/self/fd/%d", fd), .record = &record};
	e = machine_examine(&a, r.dir, &m);
	check(!e);
	e = machine_gather(&r, true, &m);
	check(!e);
	root_entries_sort(&record);
	/* in a recording, the user is "user" */
	const struct root recorded = {.user = S("user"), .home = S("home/user")};
	VEC_EACH (const struct root_entry, x, &record)
		check(str_eq(root_hide(&recorded, &a, x->text, true), x->text));
	e = machine_file_parse(&a, machine_file_text(&a, &record), S("m"), &again);
	check(!e);
	same(&record, &again);
	return 0;
}
