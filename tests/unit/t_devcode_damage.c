/* Files with device code that are damaged, one thing each: what is still told of them, word by word. And sources
 * that cannot be read to the end, or would cost too much: that is never taken for "no device code". */
#include "unit/fixture_elf.h"
#include "unit/fixture_source.h"

#include <lzma.h>

#include "devcode/devcode.h"
#include "formats/kpack.h"
#include "formats/msgpack.h"

#define HOST "host-x86_64-unknown-linux-gnu-"
#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target

enum { GFX90A = 0x53f, GFX942 = 0x54c, GFX1100 = 0x41 };
enum { ALL = DEVCODE_KERNELS | DEVCODE_HASH | DEVCODE_DEBUG | DEVCODE_RESOURCES | DEVCODE_NAMES };

/* "format bundles: target/kernels ..." then "\nid severity: message" of each finding; or the error's messages. */
static struct str seen(struct arena *a, struct str bytes, unsigned flags)
{
	struct bytes src = bytes_mem(bytes);
	struct devcode d = {0};
	BUF(b, a);
	struct err *e = devcode_scan_src(a, &src, S("x"), flags, &d);
	for (const struct err *at = e; at; at = at->cause)
		buf_fmt(&b, "%s%s", b.n ? ": " : "error ", at->msg);
	err_free(e);
	VEC_EACH (const struct devcode_file, f, &d.files) {
		buf_fmt(&b, "%s %u:", f->format, f->bundles);
		VEC_EACH (const struct code_object, o, &f->objects)
			buf_fmt(&b, " %.*s/%lld", STR(o->target), (long long)o->kernels);
	}
	VEC_EACH (const struct finding, f, &d.findings)
		buf_fmt(&b, "\n%s %d: %.*s", f->id, (int)f->severity, STR(f->message));
	return buf_str(&b);
}

static void sees(struct str bytes, unsigned flags, const char *want)
{
	ARENA(a);
	assert_str(seen(&a, bytes, flags), want);
}

static struct str object(struct arena *a, unsigned flags, unsigned kernels)
{
	return fx_code_object(a, (struct fx_object){.flags = flags, .kernels = kernels});
}

static struct str two_targets(struct arena *a)
{
	const struct fx_entry v[] = {{.id = HOST},
		{.id = ID("gfx942"), .bytes = object(a, GFX942, 2)},
		{.id = ID("gfx90a"), .bytes = object(a, GFX90A, 2)}};
	return fx_bundle(a, v, 3, 4096);
}

static struct str library(struct arena *a, const char *name, struct str bytes)
{
	const struct fx_host_section v = {.name = name, .bytes = bytes};
	return host_elf(a, (struct fx_host){.v = &v, .n = 1});
}

/* The same with one number of its bytes changed. */
static struct str changed(struct arena *a, struct str bytes, size_t at, uint64_t value, unsigned n)
{
	char *p = str_z(a, bytes);
	put_le(p + at, value, n);
	return (struct str){p, bytes.n};
}

/* ---- sources that fail ---- */

static struct str in_section(struct arena *a)
{
	return library(a, ".hip_fatbin", two_targets(a));
}

static struct str in_data(struct arena *a)
{
	return library(a, ".rodata", two_targets(a));
}

static struct str compressed(struct arena *a)
{
	return library(a, ".hip_fatbin", fx_ccob(a, two_targets(a), 3, true));
}

static struct str bare(struct arena *a)
{
	return fx_code_object(a,
		(struct fx_object){.flags = GFX942, .kernels = 2, .sections = true, .pad = 10000});
}

/* Its metadata tell of both kernels, so that no symbol has to be read. */
static struct str noted(struct arena *a)
{
	BUF(b, a);
	BUF(metadata, a);
	msgpack_put_map(&metadata, 1);
	msgpack_put_str(&metadata, S("amdhsa.kernels"));
	msgpack_put_array(&metadata, 40);
	for (unsigned i = 0; i < 40; i++) {
		msgpack_put_map(&metadata, 1);
		msgpack_put_str(&metadata, S(".name"));
		msgpack_put_str(&metadata, str_fmt(a, "k%u", i));
	}
	fx_le(&b, 7, 4);
	fx_le(&b, metadata.n, 4);
	fx_le(&b, 32, 4);
	buf_add(&b, (struct str){.p = "AMDGPU\0", .n = 8});
	buf_add(&b, buf_str(&metadata));
	return fx_code_object(
		a, (struct fx_object){.flags = GFX942, .kernels = 40, .note = buf_str(&b)});
}

static struct str large_bare(struct arena *a)
{
	return fx_code_object(a, (struct fx_object){.flags = GFX942, .kernels = 300});
}

static struct str in_archive(struct arena *a)
{
	BUF(b, a);
	struct str o = in_section(a);
	buf_fmt(&b, "!<arch>\n%-48s%-10zu`\n", "a.o/", o.n);
	buf_add(&b, o);
	return buf_str(&b);
}

static struct str in_kpack(struct arena *a)
{
	struct str dir = test_dir(a), path = path_join(a, dir, S("a.kpack")), text;
	struct str o = object(a, GFX942, 2);
	struct kpack_out k;
	assert_ok(kpack_out_open(a, path, S("group"), S("gfx942"), &k));
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(kpack_out_begin(&k, S("lib/y.so"), i, o.n));
		assert_ok(kpack_out_add(&k, o.p, o.n));
		assert_ok(kpack_out_end(&k));
	}
	assert_ok(kpack_out_commit(&k));
	kpack_out_close(&k);
	assert_ok(fs_read(a, path, 1 << 20, &text));
	test_dir_remove(dir);
	return text;
}

/* AOTriton's: a directory of entries (hash, offset, size, length of the name, name), then the kernels, in xz. */
struct store {
	struct str kernel;
	unsigned kernels;      /* as the header says; 0: one */
	unsigned size, length; /* added to the header's size and to the directory's length */
	unsigned name;         /* added to the length of the name */
};

static struct str store_of(struct arena *a, struct store x)
{
	BUF(b, a);
	BUF(out, a);
	char *packed = arena_alloc(a, 1 << 16);
	size_t n = 0;
	fx_le(&b, 0, 12);
	fx_le(&b, x.kernel.n, 4);
	fx_le(&b, 2 + x.name, 4);
	buf_add(&b, (struct str){.p = "k", .n = 2});
	size_t directory = b.n;
	buf_add(&b, x.kernel);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (uint8_t *)b.p, b.n,
				 (uint8_t *)packed, &n, 1 << 16),
		LZMA_OK);
	buf_add(&out, S("AKS2"));
	fx_le(&out, b.n + x.size, 4);
	fx_le(&out, x.kernels ? x.kernels : 1, 4);
	fx_le(&out, directory + x.length, 4);
	buf_add(&out, (struct str){packed, n});
	return buf_str(&out);
}

static struct str in_store(struct arena *a)
{
	return store_of(a, (struct store){.kernel = object(a, GFX942, 1)});
}

static const struct kind {
	const char *name;
	struct str (*make)(struct arena *a);
	unsigned flags;
	uint64_t work, memory,
		keeps; /* what a scan takes, to one part in a hundred; and of the memory, for good */
} kinds[] = {
	{"section", in_section, 0, 11309, 6445, 6445},
	{"section, deep", in_section, ALL, 22817, 8185, 7001},
	{"data", in_data, DEVCODE_INNER, 20601, 6441, 6441},
	{"compressed", compressed, 0, 82288, 6445, 6445},
	{"compressed, deep", compressed, ALL, 169566, 18073, 7001},
	{"bare", bare, ALL, 25468, 4705, 4705},
	{"noted", noted, DEVCODE_KERNELS, 10117, 3080, 3080},
	{"large", large_bare, ALL, 69986, 6841, 6841},
	{"archive", in_archive, ALL, 23717, 8185, 7001},
	{"kpack", in_kpack, ALL, 151818, 8515, 6998},
	{"store", in_store, ALL, 8961, 4040, 3170},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* A scan of which the given read fails: "" when nothing tells of it. */
static struct str failing(struct arena *a, const struct kind *k, struct source *x, struct budget *b)
{
	struct bytes src = source_of(x);
	struct devcode d = {0};
	BUF(text, a);
	src.budget = b;
	struct err *e = devcode_scan_src(a, &src, S("x"), k->flags, &d);
	if (e) {
		assert_int_equal(e->code, b ? E_LIMIT : E_IO);
		buf_fmt(&text, "%s", err_root(e)->msg);
		err_free(e);
		return buf_str(&text);
	}
	devcode_finish(a, &d);
	VEC_EACH (const struct finding, f, &d.findings)
		if (f->severity == SEV_ERROR)
			buf_fmt(&text, "%.*s", STR(f->message));
	if (!text.n) {
		assert_int_equal(d.files.n, 1);
		assert_true(d.files.v[0].objects.n > 0);
		assert_str(d.files.v[0].objects.v[0].target, "gfx942");
	}
	return buf_str(&text);
}

static void a_read_that_fails_is_told(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kind *k = &kinds[kind];
		ARENA(a);
		struct source x = {.bytes = k->make(&a), .fails = SIZE_MAX};
		assert_str(failing(&a, k, &x, NULL), "");
		size_t reads = x.reads;
		assert_true(reads > 1);
		for (size_t i = 0; i < reads; i++) {
			ARENA(tmp);
			x.reads = 0;
			x.fails = i;
			struct str got = failing(&tmp, k, &x, NULL);
			if (!str_contains(got, S("the disk is gone")))
				fail_msg("%s: read %zu: '%.*s'", k->name, i, STR(got));
		}
	}
}

static bool enough(const void *kind, struct str bytes, struct budget b)
{
	ARENA(a);
	struct source x = {.bytes = bytes, .fails = SIZE_MAX};
	return !failing(&a, kind, &x, &b).n;
}

static void a_scan_costs_what_it_takes(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kind *k = &kinds[kind];
		ARENA(a);
		struct str bytes = k->make(&a);
		uint64_t work = least(enough, k, bytes, true),
			 memory = least(enough, k, bytes, false);
		if (!is_about(work, k->work) || !is_about(memory, k->memory))
			fail_msg("%s: %llu, %llu", k->name, (unsigned long long)work,
				(unsigned long long)memory);
	}
}

/* Of what is decoded only for a look nothing stays taken. */
static void memory_comes_back(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		const struct kind *k = &kinds[kind];
		ARENA(a);
		const uint64_t most = UINT64_C(1) << 40;
		struct budget b = {.work = most, .memory = most};
		struct source x = {.bytes = k->make(&a), .fails = SIZE_MAX};
		assert_str(failing(&a, k, &x, &b), "");
		if (!is_about(most - b.memory, k->keeps))
			fail_msg("%s keeps %llu", k->name, (unsigned long long)(most - b.memory));
	}
}

/* ---- ELF files ---- */

static void sections_that_lie(void **state)
{
	(void)state;
	ARENA(a);
	struct str lib = in_section(&a), twice = two_targets(&a);
	size_t table = (size_t)le64(lib.p + 40), section = table + 64;
	enum { OFFSET = 24, SIZE = 32 };
	uint64_t at = le64(lib.p + section + OFFSET), n = le64(lib.p + section + SIZE);
	sees(lib, 0, "elf 1: gfx942/-1 gfx90a/-1");
	sees(changed(&a, lib, section + OFFSET, lib.n + 1, 8), 0,
		str_fmt(&a, "error .hip_fatbin of %llu bytes at offset %zu is not inside the file",
			(unsigned long long)n, lib.n + 1)
			.p);
	sees(changed(&a, lib, section + SIZE, lib.n - at + 1, 8), 0,
		str_fmt(&a, "error .hip_fatbin of %llu bytes at offset %llu is not inside the file",
			(unsigned long long)(lib.n - at + 1), (unsigned long long)at)
			.p);
	sees(changed(&a, lib, section + SIZE, 0, 8), 0, "");
	sees(changed(&a, lib, section + 4, 8, 4), 0, ""); /* of no bytes in the file */
	/* Two sections over each other: no object is there twice. */
	const struct fx_host_section v[] = {{.name = ".hip_fatbin", .bytes = twice},
		{.name = ".rodata", .bytes = twice}, {.name = ".data", .bytes = S("12345678")}};
	struct str two = host_elf(&a, (struct fx_host){.v = v, .n = 3});
	table = (size_t)le64(two.p + 40);
	uint64_t first = le64(two.p + table + 64 + OFFSET);
	sees(two, 0, "elf 2: gfx942/-1 gfx90a/-1 gfx942/-1 gfx90a/-1");
	sees(changed(&a, two, table + 2 * 64 + OFFSET, first, 8), 0, "elf 1: gfx942/-1 gfx90a/-1");
	sees(changed(&a, two, table + 2 * 64 + OFFSET, first + 8, 8), 0,
		"elf 1: gfx942/-1 gfx90a/-1");
	/* Without a section table it is segments. */
	struct str stripped = host_elf(&a, (struct fx_host){.v = v, .n = 1, .stripped = true});
	sees(stripped, 0, "elf 1: gfx942/-1 gfx90a/-1");
	sees(changed(&a, stripped, 64 + 32, stripped.n + 1, 8), 0,
		str_fmt(&a, "error a segment of %zu bytes at offset 0 is not inside the file",
			stripped.n + 1)
			.p);
	sees(changed(&a, stripped, 64, 2, 4), 0, ""); /* not loaded */
}

/* Which sections are searched, and by what a library tells that it has device code at all. */
static void sections_that_are_searched(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned flags;
		const char *want;
	} cases[] = {
		{".rodata", ELF_ALLOC, "elf 1: gfx942/-1 gfx90a/-1"},
		{".data", ELF_ALLOC | ELF_WRITE, "elf 1: gfx942/-1 gfx90a/-1"},
		{".text", ELF_ALLOC | ELF_EXECINSTR, ""},
		{".comment", 0x10, ""},
		{".eh_frame", ELF_ALLOC, ""},
		{".eh_frame_hdr", ELF_ALLOC, ""},
		{".gcc_except_table", ELF_ALLOC, ""},
		{".data.rel.ro", ELF_ALLOC | ELF_WRITE, ""},
		{".hip_fatbin", 0x10, "elf 1: gfx942/-1 gfx90a/-1"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct fx_host_section v[] = {
			{.name = cases[i].name, .flags = cases[i].flags, .bytes = two_targets(&a)},
			{.name = ".hipFatBinSegment", .bytes = S("123")}};
		sees(host_elf(&a, (struct fx_host){.v = v, .n = 1}), 0, cases[i].want);
		/* Something registers device code, so it must be in what is loaded. */
		bool loaded = cases[i].flags & ELF_ALLOC;
		sees(host_elf(&a, (struct fx_host){.v = v, .n = 2}), 0,
			loaded ? "elf 1: gfx942/-1 gfx90a/-1" : cases[i].want);
	}
	ARENA(a);
	const struct fx_host_section v[] = {{.name = ".rocm_kpack_ref", .bytes = S("1")},
		{.name = ".hip_fatbin", .bytes = two_targets(&a)}};
	sees(host_elf(&a, (struct fx_host){.v = v, .n = 2}), 0,
		"elf 1: gfx942/-1 gfx90a/-1\nfile-damaged 2: the mark of a library without device "
		"code cannot be read");
}

static void an_offload_binary_before_damage_counts(void **state)
{
	(void)state;
	enum { ENTRIES = 32, STRINGS = 72, TEXT = 104, SIZE = 152 };
	ARENA(a);
	BUF(b, &a);
	buf_add(&b, S("\x10\xff\x10\xad"));
	fx_le(&b, 1, 4);
	const uint64_t words[] = {
		SIZE, ENTRIES, 40, 0, STRINGS, 2, 144, 8, TEXT, TEXT + 5, TEXT + 12, TEXT + 19};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		fx_le(&b, words[i], 8);
	buf_add(&b, S("arch\0gfx942\0triple\0amdgcn-amd-amdhsa\0\0\0\0BC\xc0\xde\0\0\0\0"));
	assert_int_equal(b.n, SIZE);
	struct str one = str_dup(&a, buf_str(&b));
	sees(library(&a, ".llvm.offloading", one), 0, "elf 1: gfx942/-1");
	fx_pad(&b, SIZE + 40);
	sees(library(&a, ".llvm.offloading", buf_str(&b)), 0,
		"elf 1: gfx942/-1\nbundle-damaged 2: no offload binary of version 1 or 2 at offset "
		"152 of .llvm.offloading");
}

/* ---- bundles ---- */

static void bundles_that_are_damaged(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = two_targets(&a), packed = fx_ccob(&a, raw, 3, true);
	enum { COUNT = 24, HASH = 24 };
	sees(changed(&a, raw, COUNT, 5000, 8), 0,
		"\nbundle-damaged 2: cannot read the bundle at offset 0: a table of 5000 entries: "
		"at most 4096 are read");
	sees(changed(&a, packed, HASH, 1, 8), DEVCODE_HASH,
		"bundle 1: gfx942/-1 gfx90a/-1\nbundle-hash-mismatch 1: the hash in the header of "
		"bundle 0 is not that of its content");
	sees(changed(&a, packed, HASH, 1, 8), DEVCODE_KERNELS, "bundle 1: gfx942/2 gfx90a/2");
	BUF(two, &a);
	buf_add(&two, raw);
	buf_add(&two, S("12345678"));
	buf_add(&two, packed);
	sees(buf_str(&two), 0,
		str_fmt(&a,
			"bundle 2: gfx942/-1 gfx90a/-1 gfx942/-1 gfx90a/-1\nbundle-unrecognised 1: "
			"the file: no "
			"offload bundle at offset %zu, %zu bytes are left unread",
			raw.n, packed.n + 8)
			.p);
	/* One that is damaged does not hide the next, which begins at a multiple of 8. */
	BUF(bad, &a);
	buf_add(&bad, str_sub(changed(&a, raw, COUNT, 5000, 8), 0, 4096));
	buf_add(&bad, packed);
	sees(buf_str(&bad), 0,
		"bundle 1: gfx942/-1 gfx90a/-1\nbundle-damaged 2: cannot read the bundle at "
		"offset 0: a table of 5000 entries: at most 4096 are read");
	/* What cannot be decoded to its end is a bundle all the same, and so is what it would take too much to decode. */
	for (size_t n = 100; n < packed.n - 32; n += 50) {
		ARENA(tmp);
		struct str cut = changed(&tmp, packed, 8, packed.n - n, 8);
		struct str got = seen(&tmp, str_sub(cut, 0, packed.n - n), DEVCODE_KERNELS);
		assert_true(str_contains(got, S("\nbundle-damaged 2: cannot ")));
	}
}

static void objects_that_are_damaged(void **state)
{
	(void)state;
	ARENA(a);
	enum { MACHINE = 18, PHOFF = 32 };
	struct str o = object(&a, GFX942, 1);
	const struct fx_entry v[] = {{.id = ID("gfx942"), .bytes = changed(&a, o, MACHINE, 62, 2)},
		{.id = ID("gfx90a"), .bytes = S("no ELF file")},
		{.id = ID("gfx1100"), .bytes = S("")},
		{.id = ID("gfx1201"), .bytes = S("\3\2\x23\7 is SPIR-V")},
		{.id = ID("gfx1030"), .bytes = changed(&a, o, PHOFF, 1 << 30, 8)}};
	sees(fx_bundle(&a, v, 5, 64), DEVCODE_KERNELS,
		str_fmt(&a,
			"bundle 1: gfx942/0 gfx90a/0 gfx1100/0 gfx1201/0 gfx1030/0"
			"\nobject-unreadable 2: the object for 'gfx942' in bundle 0 cannot be "
			"read: an ELF file for machine 62, not for an AMD GPU"
			"\nobject-unreadable 2: the object for 'gfx90a' in bundle 0 cannot be "
			"read: no 64-bit little-endian ELF header"
			"\nobject-unreadable 2: the object for 'gfx1030' in bundle 0 cannot be "
			"read: cannot read the program headers: 168 bytes at offset 1073741824 "
			"are not inside the file of %zu bytes",
			o.n)
			.p);
}

/* ---- stores, archives, kpacks ---- */

static void stores_that_lie(void **state)
{
	(void)state;
	ARENA(a);
	struct str k = object(&a, GFX942, 1), large = {arena_alloc(&a, 300000), 300000};
	const struct {
		struct store x;
		const char *want;
	} cases[] = {
		{{.kernel = k}, "aks2 1: gfx942/-1"},
		{{.kernel = S("")}, ""},
		{{.kernel = k, .kernels = 2}, "error its directory ends before entry 1 of 2"},
		{{.kernel = k, .kernels = 65537},
			"error a store of 65537 kernels whose header makes no sense"},
		{{.kernel = k, .kernels = 65536},
			"error its directory ends before entry 1 of 65536"},
		{{.kernel = S(""), .length = 1},
			"error a store of 1 kernels whose header makes no sense"},
		{{.kernel = k, .name = 1},
			"error its directory is not of the 22 bytes that its header tells of"},
		{{.kernel = k, .length = 1}, "error kernel 0 lies outside of the decoded bytes"},
		{{.kernel = k, .size = 1},
			"error its xz stream is damaged, or not the 871 bytes that its header "
			"tells of"},
		{{.kernel = k, .size = UINT32_MAX},
			"error its xz stream is damaged, or not the 869 bytes that its header "
			"tells of"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(tmp);
		sees(store_of(&tmp, cases[i].x), 0, cases[i].want);
	}
	/* One of many pieces: all of it is decoded. */
	char *p = (char *)(uintptr_t)large.p;
	uint32_t x = 1;
	for (size_t i = 0; i < large.n / 8; i++)
		p[i] = (char)((x = x * 1664525 + 1013904223) >> 24);
	memcpy(p, k.p, k.n);
	sees(store_of(&a, (struct store){.kernel = large}), ALL, "aks2 1: gfx942/1");
}

static void archives_that_lie(void **state)
{
	(void)state;
	ARENA(a);
	struct str o = object(&a, GFX942, 1);
	const struct {
		const char *head;
		struct str content;
		const char *want;
	} cases[] = {
		{"%-48s%-10zu`\n", o, "archive 1: gfx942/-1"},
		{"%-48s%-10zu`x", o, "error damaged archive header at offset 8"},
		{"%-48sx%-9zu`\n", o, "error damaged archive header at offset 8"},
		{"%-48s9%-9zu`\n", o, "error damaged archive header at offset 8"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		BUF(b, &a);
		buf_add(&b, S("!<arch>\n"));
		buf_fmt(&b, cases[i].head, "a.o/", cases[i].content.n);
		buf_add(&b, cases[i].content);
		sees(buf_str(&b), 0, cases[i].want);
	}
	/* BSD has long names in front of the member, and counts them. */
	for (unsigned name = 0; name < 30; name += 9) {
		BUF(b, &a);
		buf_add(&b, S("!<arch>\n"));
		buf_fmt(&b, "#1/%-45u%-10zu`\n", name, o.n + name);
		fx_pad(&b, b.n + name);
		buf_add(&b, o);
		sees(buf_str(&b), 0, "archive 1: gfx942/-1");
	}
	BUF(b, &a);
	buf_fmt(&b, "!<arch>\n#1/%-45u%-10u`\n12345", 6, 5);
	sees(buf_str(&b), 0, "error the archive member at offset 8 is shorter than its name");
	sees(str_fmt(&a, "!<arch>\n%-48s%-10u`\n%59s", "x/", 0, ""), 0,
		"error the archive is cut off: 60 bytes at offset 68 are not inside the file of "
		"127 bytes");
	sees(S("!<thin>\nwith a header of so many bytes"), 0,
		"error a thin archive: its members are other files");
	/* A member of an odd length is followed by one byte more. */
	BUF(odd, &a);
	buf_fmt(&odd, "!<arch>\n%-48s%-10u`\nabc\n%-48s%-10zu`\n", "x/", 3, "a.o/", o.n);
	buf_add(&odd, o);
	sees(buf_str(&odd), 0, "archive 1: gfx942/-1");
}

static void kpacks_that_lie(void **state)
{
	(void)state;
	ARENA(a);
	struct str k = in_kpack(&a);
	sees(k, 0, "kpack 2: gfx942/-1 gfx942/-1");
	sees(k, ALL, "kpack 2: gfx942/2 gfx942/2");
	/* The first frame: its magic. It is only told when it is looked into. */
	struct str bad = changed(&a, k, 64 + 4 + 4, 0, 4);
	sees(bad, 0, "kpack 2: gfx942/-1 gfx942/-1");
#define CANNOT                                                                                     \
	"kpack 2: gfx942/-1 gfx942/2\nbundle-damaged 2: cannot decode lib/y.so#0 for gfx942: "
	sees(bad, DEVCODE_KERNELS, CANNOT "no zstd frame where one should be");
	/* The table tells of more or fewer bytes than there are. */
	size_t at = str_find(k, S("original_size")) + 14;
	sees(changed(&a, k, at + 1, 0, 1), DEVCODE_KERNELS,
		CANNOT "the content is larger than the 768 bytes it claims");
	sees(changed(&a, k, at, 0xffff, 2), DEVCODE_KERNELS,
		CANNOT "the content is 848 bytes long, not 65535 as it claims");
}

/* Objects come out of the decoder in pieces, in any order of the table; what is behind the last is not decoded, unless
 * the hash of all is asked for. */
static void compressed_objects_of_many_pieces(void **state)
{
	(void)state;
	ARENA(a);
	BUF(tail, &a);
	uint32_t x = 1;
	for (size_t i = 0; i < 600000; i++)
		buf_char(&tail, (char)((x = x * 1664525 + 1013904223) >> 24));
	struct fx_object large = {.flags = GFX942, .kernels = 2, .pad = 300000};
	struct str one = fx_code_object(&a, large), two;
	large = (struct fx_object){.flags = GFX90A, .kernels = 3, .pad = 200000};
	two = fx_code_object(&a, large);
	for (size_t i = 400; i < 190000; i++) { /* not to be packed into one block */
		((char *)(uintptr_t)one.p)[one.n - 200 - i] = tail.p[i];
		((char *)(uintptr_t)two.p)[two.n - 200 - i] = tail.p[i + 200000];
	}
	const struct fx_entry v[] = {{.id = ID("gfx942"), .bytes = one},
		{.id = ID("gfx90a"), .bytes = two}, {.id = HOST, .bytes = buf_str(&tail)}};
	for (int zstd = 0; zstd <= 1; zstd++) {
		struct str packed = fx_ccob(&a, fx_bundle(&a, v, 3, 4096), 3, zstd);
		sees(packed, DEVCODE_KERNELS, "bundle 1: gfx942/2 gfx90a/3");
		sees(packed, ALL & ~(unsigned)DEVCODE_NAMES, "bundle 1: gfx942/2 gfx90a/3");
		char *p = str_z(&a, packed);
		memset(p + packed.n - 400, 0x55, 300);
		struct str bad = {p, packed.n}, got;
		sees(bad, DEVCODE_KERNELS, "bundle 1: gfx942/2 gfx90a/3");
		got = seen(&a, bad, DEVCODE_HASH);
		assert_true(str_contains(got, S("\nbundle-")));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_that_fails_is_told),
		cmocka_unit_test(a_scan_costs_what_it_takes),
		cmocka_unit_test(memory_comes_back),
		cmocka_unit_test(sections_that_lie),
		cmocka_unit_test(sections_that_are_searched),
		cmocka_unit_test(an_offload_binary_before_damage_counts),
		cmocka_unit_test(bundles_that_are_damaged),
		cmocka_unit_test(objects_that_are_damaged),
		cmocka_unit_test(stores_that_lie),
		cmocka_unit_test(archives_that_lie),
		cmocka_unit_test(kpacks_that_lie),
		cmocka_unit_test(compressed_objects_of_many_pieces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
