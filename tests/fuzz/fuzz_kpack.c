/* kpack archives, DLLs that lose their device code, and host parts that get it back: whatever comes in, it is refused, or what is read lies inside
 * of the file, and what is made was proved. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devcode/devcode.h"
#include "formats/kpack.h"
#include "formats/le.h"
#include "slim/slim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static struct err *piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	enum { ENOUGH = 4 << 20 };
	uint64_t *next = user;
	check(p && at == *next);
	*next += n;
	*stop = *next > ENOUGH;
	return NULL;
}

static void read_archive(struct arena *a, const struct bytes *src)
{
	struct kpack k;
	struct err *e = kpack_open(a, src, &k);
	for (size_t i = 0; !e && i < k.objects.n; i++) {
		const struct kpack_object *o = &k.objects.v[i];
		uint64_t next = 0;
		check(o->offset <= src->size && o->stored <= src->size - o->offset);
		e = kpack_read(src, &k, o, piece, &next);
		check(e || next == o->size || next > 1 << 20);
	}
	err_free(e);
}

static void fill(struct arena *a, const struct bytes *host)
{
	const char *dir = getenv("TMPDIR");
	struct str path = str_fmt(a, "%s/fuzz-kpack-%d", dir ? dir : "/tmp", (int)getpid());
	struct bytes content = bytes_mem(S("the code of a GPU"));
	struct slim_object v[] = {{0, S("hipv4-amdgcn-amd-amdhsa--gfx1100"), 0, content.size}};
	const struct slim_fill f = {.host = host,
		.content = &content,
		.v = v,
		.n = 1,
		.bundles = 1,
		.first = S("host-x86_64-unknown-linux-gnu-")};
	struct err *e = slim_fill(a, &f, path);
	check(e || fs_is_file(path));
	err_free(e);
	err_free(fs_remove(path));
}

static void take_out(struct arena *a, const struct bytes *src)
{
	const char *dir = getenv("TMPDIR");
	struct str path = str_fmt(a, "%s/fuzz-kpack-%d", dir ? dir : "/tmp", (int)getpid());
	struct kpack_dll d;
	struct err *e = kpack_dll_open(a, src, &d);
	if (!e && d.bundles.n)
		e = kpack_dll_save(&d, kpack_mark(a, S("x"), S("y")), path);
	err_free(e);
	err_free(fs_remove(path));
}

/* Two raw bundles with an entry of the host each. */
static struct str two_bundles(struct arena *a)
{
	enum { SIZE = 96, COUNT = 24, ENTRY = 32, ID = 56 };
	struct str id = S("host-x86_64-pc-windows-msvc--");
	char *p = arena_alloc(a, 2 * SIZE);
	for (char *at = p; at < p + 2 * SIZE; at += SIZE) {
		memset(at, 0, SIZE);
		memcpy(at, "__CLANG_OFFLOAD_BUNDLE__", COUNT);
		put_le(at + COUNT, 1, 8);
		put_le(at + ENTRY, SIZE, 8);
		put_le(at + ENTRY + 16, id.n, 8);
		memcpy(at + ID, id.p, id.n);
	}
	return (struct str){p, 2 * SIZE};
}

static void put_back(struct arena *a, const struct bytes *src)
{
	const char *dir = getenv("TMPDIR");
	struct str path = str_fmt(a, "%s/fuzz-kpack-%d", dir ? dir : "/tmp", (int)getpid());
	struct bytes code = bytes_mem(two_bundles(a));
	struct err *e = kpack_dll_fill(a, src, &code, path);
	check(!e || e->code != E_INTERNAL);
	err_free(e);
	err_free(fs_remove(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct devcode d = {0};
	struct str text = {.p = (const char *)data, .n = size};
	struct bytes src = bytes_mem(text);
	struct budget budget;
	budget_set(&budget, size);
	src.budget = &budget;
	if (elf_is(text))
		fill(&a, &src);
	else
		read_archive(&a, &src);
	if (pe_is(text)) {
		take_out(&a, &src);
		put_back(&a, &src);
	}
	struct kpack_host h;
	err_free(kpack_host_read(&a, &src, &h));
	err_free(devcode_scan_src(&a, &src, S("input"), DEVCODE_KERNELS, &d));
	return 0;
}
