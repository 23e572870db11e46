/* A package of any content, unpacked: it succeeds or is an error, and nothing appears outside of
 * the tree. */
#include <stdlib.h>

#include "base/fs.h"
#include "sdk/provider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_record(struct str text)
{
	struct sdk_file r;
	bool bad;
	while (file_list_next(&text, &r, &bad))
		check(path_is_inside(r.path));
	check(!bad);
}

static void unpack(struct arena *a, struct str dir, struct str content)
{
	ARENA(tmp);
	BUF(record, a);
	struct archive_item item = {.name = S("p"), .path = path_join(a, dir, S("p.deb"))};
	struct sdk_unpack u = {
		.item = &item, .root = path_join(a, dir, S("in/root")), .files = &record};
	struct strs beside;
	err_free(fs_mkdirs(u.root));
	err_free(fs_write(item.path, content, 0644));
	err_free(deb_unpack(&tmp, &u));
	if (record.n)
		check_record(buf_str(&record));
	struct err *e = fs_list(a, path_join(a, dir, S("in")), &beside);
	check(!e && beside.n == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str dir;
	struct err *e = fs_tempdir(&a, S(""), &dir);
	check(!e);
	unpack(&a, dir, (struct str){.p = (const char *)data, .n = size});
	e = fs_remove_tree(dir);
	check(!e);
	return 0;
}
