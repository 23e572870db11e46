/* Scanning for device code: fat ELF files of every layout, bundles, objects, archives, folders. */
#include "unit/fixture_devcode.h"
#include "unit/fixture_elf.h"

#include "devcode/devcode.h"
#include "formats/zip.h"

#define HOST "host-x86_64-unknown-linux-gnu-"
#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target

enum { GFX1100 = 0x41, GFX1201 = 0x4e, GFX90A_ANY = 0x53f, GFX90A_XNACK_OFF = 0x63f };

static struct str one_section(struct arena *a, const char *name, struct str bytes)
{
	const struct fx_host_section v = {.name = name, .bytes = bytes};
	return host_elf(a, (struct fx_host){.v = &v, .n = 1});
}

/* Two targets, three and two kernels. */
static struct str two_targets(struct arena *a)
{
	const struct fx_entry v[] = {
		{.id = HOST},
		{.id = ID("gfx1100"),
			.bytes = fx_code_object(
				a, (struct fx_object){.flags = GFX1100, .kernels = 3})},
		{.id = ID("gfx90a"),
			.bytes = fx_code_object(a,
				(struct fx_object){
					.flags = GFX90A_ANY, .kernels = 2, .gnu_hash = true})},
	};
	return fx_bundle(a, v, 3, 4096);
}

static void add_member(struct buf *b, const char *name, struct str bytes)
{
	buf_fmt(b, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", name, "0", "0", "0", "644", bytes.n);
	buf_add(b, bytes);
	if (bytes.n % 2)
		buf_char(b, '\n');
}

static struct devcode scan(struct arena *a, struct str bytes, unsigned flags)
{
	struct bytes src = bytes_mem(bytes);
	struct devcode d = {0};
	assert_ok(devcode_scan_src(a, &src, S("x.so"), flags, &d));
	devcode_finish(a, &d);
	said_devcode(S(""), &d);
	return d;
}

/* "0:gfx1100/raw/3 ..." of the only file */
static struct str objects_text(struct arena *a, const struct devcode *d)
{
	BUF(out, a);
	VEC_EACH (struct devcode_file, f, &d->files) {
		VEC_EACH (struct code_object, o, &f->objects)
			buf_fmt(&out, "%u:%.*s/%s/%lld ", o->bundle, STR(o->target),
				devcode_encoding_name(o->encoding), (long long)o->kernels);
	}
	return buf_str(&out);
}

static struct str findings_text(struct arena *a, const struct devcode *d)
{
	BUF(out, a);
	VEC_EACH (struct finding, f, &d->findings)
		buf_fmt(&out, "%s ", f->id);
	return buf_str(&out);
}

#define assert_scan(bytes, flags, objects, findings)                                               \
	do {                                                                                       \
		struct devcode scanned = scan(&a, (bytes), (flags));                               \
		assert_str(objects_text(&a, &scanned), (objects));                                 \
		assert_str(findings_text(&a, &scanned), (findings));                               \
	} while (0)

static void finds_a_raw_bundle(void **state)
{
	(void)state;
	ARENA(a);
	struct str lib = one_section(&a, ".hip_fatbin", two_targets(&a));
	assert_scan(lib, 0, "0:gfx1100/raw/-1 0:gfx90a/raw/-1 ", "");
	struct devcode d = scan(&a, lib, DEVCODE_KERNELS | DEVCODE_HASH);
	assert_str(objects_text(&a, &d), "0:gfx1100/raw/3 0:gfx90a/raw/2 ");
	const struct code_object *o = &d.files.v[0].objects.v[0];
	struct str bytes = fx_code_object(&a, (struct fx_object){.flags = GFX1100, .kernels = 3});
	struct digest sha = hash_bytes(HASH_SHA256, bytes.p, bytes.n);
	assert_str(o->sha256, digest_hex(&a, sha).p);
	assert_int_equal(o->size, bytes.n);
	assert_int_equal(o->stored, bytes.n);
	assert_int_equal(o->version, 6);
	assert_string_equal(d.files.v[0].format, "elf");
	assert_str(str_join(&a, &d.served, S(" ")), "gfx90a gfx1100");
}

static void finds_compressed_bundles(void **state)
{
	(void)state;
	for (unsigned version = 1; version <= 3; version++) {
		for (int zstd = 0; zstd <= 1; zstd++) {
			ARENA(a);
			struct str raw = two_targets(&a), ccob = fx_ccob(&a, raw, version, zstd);
			struct str lib = one_section(&a, ".hip_fatbin", ccob);
			struct devcode d = scan(&a, lib, 0);
			struct str want = str_fmt(
				&a, "0:gfx1100/ccob%u/-1 0:gfx90a/ccob%u/-1 ", version, version);
			assert_str(objects_text(&a, &d), want.p);
			d = scan(&a, lib, DEVCODE_KERNELS | DEVCODE_HASH | DEVCODE_DEBUG);
			want = str_fmt(
				&a, "0:gfx1100/ccob%u/3 0:gfx90a/ccob%u/2 ", version, version);
			assert_str(objects_text(&a, &d), want.p);
			assert_int_equal(d.findings.n, 0);
			const struct code_object *o = d.files.v[0].objects.v;
			assert_in_range(o[0].stored + o[1].stored, ccob.n - 2, ccob.n);
			struct devcode plain = scan(&a, raw, DEVCODE_HASH);
			assert_str(o[1].sha256, plain.files.v[0].objects.v[1].sha256.p);
		}
	}
}

static struct err *add_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct buf *all = user;
	assert_true(at == all->n && !*stop);
	buf_add(all, (struct str){.p = p, .n = n});
	return NULL;
}

static uint64_t number_at(struct str bytes, uint64_t offset)
{
	uint64_t n = 0;
	assert_true(offset + 8 <= bytes.n);
	for (size_t i = 8; i-- > 0;)
		n = n << 8 | (unsigned char)bytes.p[offset + i];
	return n;
}

/* Every object of an image is where its place says: by the bytes, and by the table's entry. */
static void check_places(struct arena *a, struct str image, const struct devcode *d)
{
	struct bytes src = bytes_mem(image);
	VEC_EACH (struct code_object, o, &d->files.v[0].objects) {
		const struct code_place *p = &o->place;
		struct str bytes = str_sub(image, p->bundle, p->bundle + p->length);
		struct bundle b;
		BUF(decoded, a);
		assert_int_equal(bytes.n, p->length);
		if (o->encoding != DEVCODE_OBJECT) {
			assert_ok(bundle_open(a, &src, p->bundle, p->bundle + p->length, &b));
			assert_true(b.stored == p->length);
			assert_ok(bundle_decode(&src, &b, add_piece, &decoded));
			if (o->encoding == DEVCODE_RAW)
				assert_true(str_eq(bytes, buf_str(&decoded)));
			bytes = buf_str(&decoded);
			assert_true(number_at(bytes, p->entry) == p->offset);
			assert_true(number_at(bytes, p->entry + 8) == o->size);
			struct str id = str_sub(bytes, p->entry + 24, bytes.n);
			id.n = number_at(bytes, p->entry + 16);
			assert_true(str_ends(id, o->target));
		}
		struct digest sha = hash_bytes(HASH_SHA256, bytes.p + p->offset, o->size);
		assert_str(o->sha256, digest_hex(a, sha).p);
	}
}

static void objects_know_their_place(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind <= 6; kind++) { /* raw, and three versions by two methods */
		ARENA(a);
		BUF(section, &a);
		struct str raw = two_targets(&a);
		buf_add(&section, raw);
		fx_pad(&section, (section.n + 4095) / 4096 * 4096);
		buf_add(&section, kind ? fx_ccob(&a, raw, (kind + 1) / 2, kind % 2) : raw);
		struct str lib = one_section(&a, ".hip_fatbin", buf_str(&section));
		struct devcode d = scan(&a, lib, DEVCODE_HASH);
		assert_int_equal(d.files.v[0].objects.n, 4);
		assert_int_equal(d.files.v[0].objects.v[0].place.bundle, 4096);
		check_places(&a, lib, &d);
	}
}

/* Also when the image is a part of something else, and when it holds others. */
static void places_count_from_the_start_of_the_image(void **state)
{
	(void)state;
	ARENA(a);
	BUF(whole, &a);
	struct str lib = one_section(&a, ".hip_fatbin", two_targets(&a));
	struct str bare = fx_code_object(&a, (struct fx_object){.flags = GFX1201, .kernels = 1});
	BUF(archive, &a);
	buf_add(&archive, S("!<arch>\n"));
	add_member(&archive, "x.o/", lib);
	add_member(&archive, "y.o/", bare);
	add_member(&archive, "z.hipfb/", two_targets(&a));
	fx_pad(&whole, 1000);
	buf_add(&whole, buf_str(&archive));
	fx_pad(&whole, whole.n + 1000);
	struct bytes all = bytes_mem(buf_str(&whole));
	struct bytes src = bytes_sub(&all, 1000, archive.n);
	struct devcode d = {0};
	assert_ok(devcode_scan_src(&a, &src, S("x.a"), DEVCODE_HASH, &d));
	assert_int_equal(d.files.v[0].objects.n, 5);
	check_places(&a, buf_str(&archive), &d);
}

static void counts_bundles_in_file_order(void **state)
{
	(void)state;
	ARENA(a);
	BUF(section, &a);
	buf_add(&section, two_targets(&a));
	fx_pad(&section, (section.n + 4095) / 4096 * 4096);
	buf_add(&section, fx_ccob(&a, two_targets(&a), 3, true));
	fx_pad(&section, (section.n + 4095) / 4096 * 4096);
	buf_add(&section, fx_ccob(&a, two_targets(&a), 2, false));
	struct str lib = one_section(&a, ".hip_fatbin", buf_str(&section));
	assert_scan(lib, DEVCODE_KERNELS,
		"0:gfx1100/raw/3 0:gfx90a/raw/2 1:gfx1100/ccob3/3 1:gfx90a/ccob3/2 "
		"2:gfx1100/ccob2/3 2:gfx90a/ccob2/2 ",
		"");
	struct devcode d = scan(&a, lib, 0);
	assert_int_equal(d.files.v[0].bundles, 3);
}

/* One bundle and 38 wrappers that all point at it, as -fgpu-rdc links look. */
static void one_bundle_of_many_wrappers_counts_once(void **state)
{
	(void)state;
	ARENA(a);
	BUF(wrappers, &a);
	for (unsigned i = 0; i < 38; i++) {
		fx_le(&wrappers, 0x48495046, 4);
		fx_le(&wrappers, 1, 4);
		fx_le(&wrappers, 4096, 8);
		fx_le(&wrappers, 0, 8);
	}
	const struct fx_host_section v[] = {
		{.name = ".hip_fatbin", .bytes = two_targets(&a)},
		{.name = ".hipFatBinSegment", .flags = 3, .bytes = buf_str(&wrappers)},
	};
	assert_scan(host_elf(&a, (struct fx_host){.v = v, .n = 2}), DEVCODE_KERNELS,
		"0:gfx1100/raw/3 0:gfx90a/raw/2 ", "");
}

static struct str rodata(struct arena *a)
{
	BUF(b, a);
	buf_add(&b,
		S("__CLANG_OFFLOAD_BUNDLE__ is a magic, CCOB\1\0\0\0 another; text is no bundle"));
	fx_pad(&b, (b.n + 15) / 16 * 16);
	buf_add(&b, two_targets(a));
	fx_pad(&b, (b.n + 15) / 16 * 16);
	buf_add(&b, S("between"));
	fx_pad(&b, (b.n + 15) / 16 * 16);
	buf_add(&b, fx_ccob(a, two_targets(a), 2, true));
	buf_add(&b, S("behind"));
	return buf_str(&b);
}

#define IN_RODATA                                                                                  \
	"0:gfx1100/raw/3 0:gfx90a/raw/2 "                                                          \
	"1:gfx1100/ccob2/3 1:gfx90a/ccob2/2 "

static void finds_bundles_outside_the_section(void **state)
{
	(void)state;
	ARENA(a);
	struct fx_host_section v[] = {
		{.name = ".rodata", .bytes = rodata(&a), .align = 16},
		{.name = ".hip_fatbin", .bytes = two_targets(&a)},
	};
	assert_scan(host_elf(&a, (struct fx_host){.v = v, .n = 1}), DEVCODE_KERNELS, IN_RODATA, "");
	assert_scan(host_elf(&a, (struct fx_host){.v = v, .n = 2}), DEVCODE_KERNELS,
		IN_RODATA "2:gfx1100/raw/3 2:gfx90a/raw/2 ", "");
	v[0].flags = 3; /* not read-only */
	assert_scan(host_elf(&a, (struct fx_host){.v = v, .n = 1}), DEVCODE_KERNELS, IN_RODATA, "");
	v[0].flags = 6; /* code: looked at only when something registers device code */
	assert_scan(host_elf(&a, (struct fx_host){.v = v, .n = 1}), DEVCODE_KERNELS, "", "");
	v[1] = (struct fx_host_section){.name = ".hipFatBinSegment", .bytes = S("1"), .flags = 3};
	assert_scan(host_elf(&a, (struct fx_host){.v = v, .n = 2}), DEVCODE_KERNELS, IN_RODATA, "");
}

static void does_without_a_section_table(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_host_section v[] = {
		{.name = ".text", .bytes = S("code")},
		{.name = ".hip_fatbin", .bytes = two_targets(&a)},
	};
	struct fx_host h = {.v = v, .n = 2, .stripped = true};
	assert_scan(host_elf(&a, h), DEVCODE_KERNELS, "0:gfx1100/raw/3 0:gfx90a/raw/2 ", "");
}

static void sections_that_only_have_the_name(void **state)
{
	(void)state;
	ARENA(a);
	assert_scan(one_section(&a, ".hip_fatbin", S("this is something else entirely")), 0, "",
		"bundle-unrecognised ");
	assert_scan(one_section(&a, ".hip_fatbin", S("")), 0, "", "");
	const struct fx_host_section v = {.name = ".hip_fatbin", .type = 8, .bytes = S("xxxx")};
	assert_scan(host_elf(&a, (struct fx_host){.v = &v, .n = 1}), 0, "", "");
	struct str none = fx_bundle(&a, (struct fx_entry[]){{.id = HOST}}, 1, 4096);
	assert_scan(one_section(&a, ".hip_fatbin", none), 0, "", "");
}

static void a_damaged_bundle_does_not_hide_the_next(void **state)
{
	(void)state;
	ARENA(a);
	BUF(section, &a);
	buf_add(&section, two_targets(&a));
	section.p[24 + 8 + 24 + strlen(HOST) + 8 + 7] = 0x7f; /* size of the first object */
	fx_pad(&section, (section.n + 4095) / 4096 * 4096);
	buf_add(&section, two_targets(&a));
	struct str lib = one_section(&a, ".hip_fatbin", buf_str(&section));
	assert_scan(lib, DEVCODE_KERNELS, "0:gfx1100/raw/3 0:gfx90a/raw/2 ", "bundle-damaged ");
}

static void damaged_compressed_data_is_a_finding(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry big = {.id = ID("gfx1100"),
		.bytes = fx_code_object(&a, (struct fx_object){.kernels = 1, .pad = 300000})};
	struct str ccob = fx_ccob(&a, fx_bundle(&a, &big, 1, 4096), 3, false);
	char *p = str_z(&a, ccob);
	p[ccob.n - 2] = (char)~p[ccob.n - 2]; /* the checksum of zlib, at the end */
	struct str lib = one_section(&a, ".hip_fatbin", (struct str){.p = p, .n = ccob.n});
	assert_scan(lib, 0, "0:gfx1100/ccob3/-1 ", ""); /* the table is in order */
	struct devcode d = scan(&a, lib, DEVCODE_HASH);
	assert_str(findings_text(&a, &d), "bundle-damaged ");
	struct str wrong = fx_ccob(&a, two_targets(&a), 3, true);
	p = str_z(&a, wrong);
	p[24] = (char)~p[24]; /* the hash in the header */
	lib = one_section(&a, ".hip_fatbin", (struct str){.p = p, .n = wrong.n});
	d = scan(&a, lib, DEVCODE_HASH);
	assert_str(findings_text(&a, &d), "bundle-hash-mismatch ");
}

static struct str labelled(struct arena *a, const char *id, struct fx_object o)
{
	const struct fx_entry v = {.id = id, .bytes = fx_code_object(a, o)};
	return one_section(a, ".hip_fatbin", fx_bundle(a, &v, 1, 4096));
}

static void compares_labels_with_e_flags(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *id;
		unsigned flags, abi;
		const char *findings;
	} cases[] = {
		{.id = ID("gfx1100"), .flags = GFX1100, .findings = ""},
		{.id = ID("gfx1100"), .flags = GFX1201, .findings = "object-mislabelled "},
		{.id = ID("gfx90a"), .flags = GFX90A_ANY, .findings = ""},
		{.id = ID("gfx90a:xnack-"), .flags = GFX90A_XNACK_OFF, .findings = ""},
		{.id = ID("gfx90a:xnack+"),
			.flags = GFX90A_XNACK_OFF,
			.findings = "object-mislabelled "},
		{.id = ID("gfx90a"), .flags = GFX90A_XNACK_OFF, .findings = "object-mislabelled "},
		{.id = ID("gfx11-generic"), .flags = 0x1000054, .findings = ""},
		{.id = "hip-amdgcn-amd-amdhsa-gfx906", .flags = 0x2f, .abi = 1, .findings = ""},
		{.id = ID("gfx9999"), .flags = 0x7f, .findings = "object-mislabelled "},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fx_object o = {.flags = cases[i].flags, .abi = cases[i].abi, .kernels = 1};
		struct devcode d = scan(&a, labelled(&a, cases[i].id, o), 0);
		assert_str(findings_text(&a, &d), cases[i].findings);
	}
}

static void bare_objects_take_their_target_from_the_flags(void **state)
{
	(void)state;
	ARENA(a);
	struct str o = fx_code_object(
		&a, (struct fx_object){.flags = GFX90A_XNACK_OFF, .kernels = 4, .abi = 2});
	struct devcode d = scan(&a, o, DEVCODE_KERNELS);
	assert_str(objects_text(&a, &d), "0:gfx90a:xnack-/object/4 ");
	assert_int_equal(d.files.v[0].objects.v[0].version, 4);
	assert_string_equal(d.files.v[0].format, "object");
	o = fx_code_object(&a, (struct fx_object){.flags = 0x7f});
	assert_scan(o, 0, "0:mach-0x7f/object/-1 ", "");
}

static void says_which_targets_have_no_kernels(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry v[] = {
		{.id = ID("gfx1100"),
			.bytes = fx_code_object(
				&a, (struct fx_object){.flags = GFX1100, .kernels = 3})},
		{.id = ID("gfx1201"),
			.bytes = fx_code_object(&a, (struct fx_object){.flags = GFX1201})},
		{.id = ID("gfx90a")},
	};
	struct str raw = fx_bundle(&a, v, 3, 4096);
	struct devcode d = scan(&a, raw, DEVCODE_KERNELS);
	assert_string_equal(d.files.v[0].format, "bundle");
	assert_str(findings_text(&a, &d), "object-without-kernels ");
	assert_str(d.findings.v[0].message,
		"bundle 0 lists 2 targets without any kernel: gfx1201, gfx90a");
	assert_str(str_join(&a, &d.served, S(" ")), "gfx1100");
	/* Device functions only, for every target alike: nothing to complain about. */
	assert_scan(fx_bundle(&a, v + 1, 1, 4096), DEVCODE_KERNELS, "0:gfx1201/raw/0 ", "");
}

/* Three bundles: both targets; the second one alone, with a name and in a compressed one. */
static void tells_which_bundles_lack_a_target(void **state)
{
	(void)state;
	ARENA(a);
	BUF(section, &a);
	const struct fx_entry some[] = {{.id = ID("gfx1100"),
		.bytes = fx_code_object(&a,
			(struct fx_object){.flags = GFX1100, .kernels = 4, .prefix = "lonely"})}};
	buf_add(&section, two_targets(&a));
	fx_pad(&section, (section.n + 4095) / 4096 * 4096);
	size_t second = section.n;
	buf_add(&section, fx_bundle(&a, some, 1, 4096));
	fx_pad(&section, (section.n + 4095) / 4096 * 4096);
	buf_add(&section, fx_ccob(&a, fx_bundle(&a, some, 1, 4096), 3, true));
	struct str lib = one_section(&a, ".hip_fatbin", buf_str(&section));
	struct devcode d = scan(&a, lib, DEVCODE_KERNELS);
	uint64_t at = d.files.v[0].objects.v[2].place.bundle;
	assert_int_equal(at - d.files.v[0].objects.v[0].place.bundle, second);
	assert_str(findings_text(&a, &d), "bundle-without-target ");
	assert_str(d.findings.v[0].message,
		str_fmt(&a,
			"nothing for gfx90a in 2 of 3 bundles (9 of 11 kernels): "
			"bundle 1 at %llu (4 kernels: 'lonely0', ...), "
			"bundle 2 at %llu (4 kernels: 'lonely0', ...)",
			(unsigned long long)at,
			(unsigned long long)d.files.v[0].objects.v[3].place.bundle)
			.p);
	assert_str(str_join(&a, &d.served, S(" ")), "gfx1100");
	/* Without counting: by what the tables list. */
	d = scan(&a, lib, 0);
	assert_true(str_starts(
		d.findings.v[0].message, S("nothing for gfx90a in 2 of 3 bundles: bundle 1 at ")));
	assert_str(str_join(&a, &d.served, S(" ")), "gfx1100");
}

static void objects_that_are_none(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_entry v[] = {
		{.id = ID("gfx1100"), .bytes = S("no ELF file at all, just text of some length")},
		{.id = "hipv4-spirv64-amd-amdhsa--amdgcnspirv",
			.bytes = S("\3\2\43\7 SPIR-V follows here")},
	};
	assert_scan(fx_bundle(&a, v, 2, 16), DEVCODE_KERNELS,
		"0:gfx1100/raw/0 0:amdgcnspirv/raw/0 ", "object-unreadable ");
}

static void spirv_has_kernels(void **state)
{
	(void)state;
	ARENA(a);
	const struct str module = fx_spirv(&a, (const char *const[]){"one", "another_one", NULL});
	struct str cut = str_sub(module, 0, module.n - 40), endless = str_dup(&a, module);
	memset((char *)endless.p + 20, 0, 4); /* an instruction without a length */
	const struct {
		struct str module;
		int64_t kernels;
		const char *first;
	} cases[] = {
		{module, 2, "one"},
		{cut, 1, "one"}, /* in the second one */
		{str_sub(module, 0, 24), 0, ""},
		{endless, 0, ""},
		{fx_spirv(&a, (const char *const[]){NULL}), 0, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct fx_entry v[] = {
			{.id = "hipv4-spirv64-amd-amdhsa--amdgcnspirv", .bytes = cases[i].module}};
		struct devcode d = scan(&a, fx_bundle(&a, v, 1, 16), DEVCODE_KERNELS);
		assert_int_equal(d.findings.n, 0);
		assert_int_equal(d.files.v[0].objects.v[0].kernels, cases[i].kernels);
		assert_str(d.files.v[0].objects.v[0].kernel, cases[i].first);
	}
}

static struct str note(struct arena *a, const char *metadata, size_t n)
{
	BUF(b, a);
	fx_le(&b, 7, 4);
	fx_le(&b, n, 4);
	fx_le(&b, 32, 4);
	buf_add(&b, (struct str){.p = "AMDGPU\0", .n = 8});
	buf_add(&b, (struct str){.p = metadata, .n = n});
	return buf_str(&b);
}

/* The note is believed only as far as the symbols bear it out. */
static void notes_do_not_decide_alone(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *metadata;
		size_t n;
	} notes[] = {
#define NOTE(lit) {.metadata = (lit), .n = sizeof(lit) - 1}
		NOTE("\x81\xae"
		     "amdhsa.kernels\x93\xc0\xc0\xc0"),
		NOTE("\x82\xaf"
		     "amdhsa.versions\x01\xae"
		     "amdhsa.kernels\x93"),
		NOTE("\x81\xae"
		     "amdhsa.kernels\xdd\xff\xff\xff\xff"),
		NOTE("\x81\xae"
		     "amdhsa.kernels\x90"),
		NOTE("\x81\xae"
		     "amdhsa.kernels\xc0"),
		NOTE("\xc1"),
		NOTE(""),
#undef NOTE
	};
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		for (unsigned kernels = 0; kernels < 5; kernels++) {
			struct str n = note(&a, notes[i].metadata, notes[i].n);
			struct str o = fx_code_object(
				&a, (struct fx_object){.kernels = kernels, .note = n});
			struct devcode d = scan(&a, o, DEVCODE_KERNELS);
			assert_int_equal(d.files.v[0].objects.v[0].kernels, kernels);
		}
	}
}

/* A kernel of the note: only what the figures below take. */
static void add_kernel(struct buf *b, const char *name, unsigned vgprs, unsigned sgprs)
{
	buf_add(b, S("\x84\xa5.name\xa5"));
	buf_add(b, str_from(name));
	buf_fmt(b, "\xab.vgpr_count\xcd%c%c", vgprs >> 8, vgprs & 0xff);
	buf_fmt(b, "\xab.sgpr_count\xcd%c%c", sgprs >> 8, sgprs & 0xff);
	buf_fmt(b, "\xaf.wavefront_size%c", 64);
}

/* The waves are those that clang 21 gives as occupancy, with -Rpass-analysis=kernel-resource-usage. */
static void kernels_say_what_they_take(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	static const struct {
		unsigned vgprs, sgprs, waves;
	} on_gfx90a[] = {{16, 20, 8}, {64, 20, 8}, {65, 20, 7}, {128, 20, 4}, {129, 20, 3},
		{257, 20, 1}, {512, 20, 1}, {513, 20, 0}, {16, 101, 7}, {16, 100, 8}, {0, 0, 8}};
	enum { N = sizeof(on_gfx90a) / sizeof(*on_gfx90a), GFX90A_FLAGS = 0x53f };
	buf_fmt(&b,
		"\x81\xae"
		"amdhsa.kernels%c",
		0x90 + N);
	for (size_t i = 0; i < N; i++)
		add_kernel(&b, "kname", on_gfx90a[i].vgprs, on_gfx90a[i].sgprs);
	struct str text = buf_str(&b), n = note(&a, text.p, text.n);
	struct str o = fx_code_object(
		&a, (struct fx_object){.flags = GFX90A_FLAGS, .kernels = N, .note = n});
	struct devcode d = scan(&a, o, DEVCODE_RESOURCES | DEVCODE_KERNELS);
	const struct code_object *object = &d.files.v[0].objects.v[0];
	assert_str(object->target, "gfx90a");
	assert_int_equal(object->resources.n, N);
	for (size_t i = 0; i < N; i++) {
		const struct code_kernel *k = &object->resources.v[i];
		assert_str(k->name, "kname");
		assert_int_equal(k->vgprs, on_gfx90a[i].vgprs);
		assert_int_equal(k->sgprs, on_gfx90a[i].sgprs);
		assert_int_equal(k->waves, on_gfx90a[i].waves);
	}
	assert_int_equal(scan(&a, o, DEVCODE_KERNELS).files.v[0].objects.v[0].resources.n, 0);
}

/* Cut off anywhere, the note gives the kernels that are whole. */
static void a_note_that_ends_early_is_harmless(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	buf_fmt(&b,
		"\x81\xae"
		"amdhsa.kernels%c",
		0x92);
	add_kernel(&b, "first", 1, 1);
	size_t first = buf_str(&b).n;
	add_kernel(&b, "later", 1, 1);
	struct str text = buf_str(&b);
	for (size_t i = 0; i <= text.n; i++) {
		struct str n = note(&a, text.p, i);
		struct str o = fx_code_object(&a, (struct fx_object){.kernels = 2, .note = n});
		struct devcode d = scan(&a, o, DEVCODE_RESOURCES | DEVCODE_KERNELS);
		assert_int_equal(d.files.v[0].objects.v[0].resources.n, i == text.n  ? 2
									: i >= first ? 1
										     : 0);
	}
}

static void counts_debug_bytes(void **state)
{
	(void)state;
	ARENA(a);
	struct str o = fx_code_object(&a, (struct fx_object){.kernels = 1, .sections = true});
	struct devcode d = scan(&a, o, DEVCODE_DEBUG);
	assert_int_equal(d.files.v[0].objects.v[0].debug, 16);
	assert_int_equal(d.files.v[0].objects.v[0].kernels, 1);
}

static void reads_static_archives(void **state)
{
	(void)state;
	ARENA(a);
	BUF(ar, &a);
	buf_add(&ar, S("!<arch>\n"));
	add_member(&ar, "/", S("symbols"));
	add_member(&ar, "a.o/", one_section(&a, ".hip_fatbin", two_targets(&a)));
	add_member(&ar, "notes/", S("odd"));
	add_member(&ar, "b.o/", fx_code_object(&a, (struct fx_object){.kernels = 5}));
	add_member(&ar, "c.o/", one_section(&a, ".hip_fatbin", two_targets(&a)));
	struct devcode d = scan(&a, buf_str(&ar), DEVCODE_KERNELS);
	assert_str(objects_text(&a, &d), "0:gfx1100/raw/3 0:gfx90a/raw/2 1:gfx1100/object/5 "
					 "2:gfx1100/raw/3 2:gfx90a/raw/2 ");
	assert_string_equal(d.files.v[0].format, "archive");
	struct bytes cut = bytes_mem(str_sub(buf_str(&ar), 0, ar.n - 1));
	assert_err(devcode_scan_src(&a, &cut, S("x.a"), 0, &d), E_FORMAT);
}

static void refuses_or_reads_libraries_cut_off_anywhere(void **state)
{
	(void)state;
	ARENA(a);
	struct str lib = one_section(&a, ".hip_fatbin", fx_ccob(&a, two_targets(&a), 1, true));
	for (size_t n = 0; n < lib.n; n += n < 4096 ? 1 : 3) {
		ARENA(tmp);
		char *exact = xmalloc(n);
		if (n)
			memcpy(exact, lib.p, n);
		struct bytes src = bytes_mem((struct str){.p = exact, .n = n});
		struct devcode d = {0};
		struct err *e =
			devcode_scan_src(&tmp, &src, S("x"), DEVCODE_HASH | DEVCODE_DEBUG, &d);
		assert_true(e || n < 64);
		err_free(e);
		free(exact);
	}
}

static void put(struct str dir, const char *name, struct str bytes)
{
	ARENA(a);
	struct str path = path_join(&a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path, bytes, 0644));
}

static void scans_folders_and_says_what_all_files_serve(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct str lib = one_section(&a, ".hip_fatbin", two_targets(&a));
	put(dir, "lib/b.so", lib);
	put(dir, "a.hsaco",
		fx_code_object(&a, (struct fx_object){.flags = 0x1000054, .kernels = 1}));
	put(dir, "lib/README", S("text"));
	put(dir, "lib/broken.so", str_sub(lib, 0, lib.n - 1));
	assert_ok(fs_symlink(S("b.so"), path_join(&a, dir, S("lib/b.so.1"))));
	struct devcode d;
	assert_ok(devcode_scan(&a, dir, DEVCODE_KERNELS, &d));
	said_devcode(dir, &d);
	assert_int_equal(d.files.n, 2);
	assert_str(d.files.v[0].path, "a.hsaco");
	assert_str(d.files.v[1].path, "lib/b.so");
	assert_str(findings_text(&a, &d), "file-damaged ");
	assert_str(d.findings.v[0].path, "lib/broken.so");
	/* gfx11-generic covers gfx1100; gfx90a is in one file only. */
	assert_str(str_join(&a, &d.served, S(" ")), "gfx1100");
	assert_int_equal(d.looked_at, 4);
	test_dir_remove(dir);
}

static void opens_wheels_also_inside_folders(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), lib = path_join(&a, dir, S("b.so"));
	struct str whl = path_join(&a, dir, S("x-1-py3-none-any.whl"));
	put(dir, "b.so", one_section(&a, ".hip_fatbin", two_targets(&a)));
	const struct zip_input v[] = {
		{.name = S("x/__init__.py"), .content = S("import this"), .mode = 0644},
		{.name = S("x/b.so"), .path = lib, .mode = 0755},
		{.name = S("x/cut.so"), .content = one_section(&a, ".x", S("1")), .mode = 0644},
	};
	struct zip_input cut[3] = {v[0], v[1], v[2]};
	cut[2].content.n--;
	const struct zip_writer w = {.path = whl, .v = cut, .n = 3, .jobs = 1};
	assert_ok(zip_write(&a, &w, NULL));
	struct devcode d;
	assert_ok(devcode_scan(&a, whl, DEVCODE_KERNELS, &d));
	said_devcode(dir, &d);
	assert_str(objects_text(&a, &d), "0:gfx1100/raw/3 0:gfx90a/raw/2 ");
	assert_str(d.files.v[0].path, "x/b.so");
	assert_str(findings_text(&a, &d), "file-damaged ");
	assert_str(d.findings.v[0].path, "x/cut.so");
	assert_ok(devcode_scan(&a, dir, 0, &d));
	said_devcode(dir, &d);
	assert_int_equal(d.files.n, 2);
	assert_str(d.files.v[1].path, "x-1-py3-none-any.whl/x/b.so");
	test_dir_remove(dir);
}

static void single_files_of_no_format_are_errors(void **state)
{
	(void)state;
	ARENA(a);
	struct devcode d;
	struct str dir = test_dir(&a), text = path_join(&a, dir, S("text"));
	struct str cut = path_join(&a, dir, S("cut.so"));
	test_put(text, "text");
	put(dir, "cut.so", str_sub(one_section(&a, ".hip_fatbin", two_targets(&a)), 0, 5000));
	assert_err_says(devcode_scan(&a, text, 0, &d), E_FORMAT, "of no known format");
	assert_err(devcode_scan(&a, path_join(&a, dir, S("gone")), 0, &d), E_NOENT);
	assert_err_says(devcode_scan(&a, cut, 0, &d), E_ELF, "cut.so");
	assert_err_says(devcode_scan(&a, S("/dev/null"), 0, &d), E_FORMAT, "neither a file");
	assert_ok(devcode_scan(&a, S("/proc/self/exe"), DEVCODE_KERNELS, &d));
	said_devcode(dir, &d);
	assert_int_equal(d.files.n, 0); /* though the magic texts are in it */
	assert_int_equal(d.findings.n, 0);
	test_dir_remove(dir);
}

static void writes_the_json_of_the_design(void **state)
{
	(void)state;
	ARENA(a);
	struct str o = fx_code_object(&a, (struct fx_object){.flags = GFX1100, .kernels = 2});
	const struct fx_entry v = {.id = ID("gfx1100"), .bytes = o};
	struct devcode d = scan(&a, fx_bundle(&a, &v, 1, 4096), DEVCODE_KERNELS | DEVCODE_HASH);
	d.path = S("x");
	struct str out = json_document(&a, 0, devcode_fields, &d);
	struct digest sha = hash_bytes(HASH_SHA256, o.p, o.n);
	struct str hex = digest_hex(&a, sha);
	struct str want = str_fmt(&a,
		"{\"schema\":\"rocsmith.inspect/1\",\"path\":\"x\",\"files\":[{\"path\":\"x.so\","
		"\"format\":\"bundle\",\"size\":%llu,\"objects\":[{\"target\":\"gfx1100\","
		"\"bundle\":0,"
		"\"encoding\":\"raw\",\"size\":%zu,\"stored\":%zu,\"kernels\":2,"
		"\"sha256\":\"%.*s\"}],\"served\":[\"gfx1100\"]}],\"served\":[\"gfx1100\"],"
		"\"served_by_some\":[\"gfx1100\"],\"targets\":[{\"target\":\"gfx1100\","
		"\"objects\":1,\"size\":%zu,\"stored\":%zu,\"kernels\":2}],\"findings\":[]}",
		(unsigned long long)d.files.v[0].size, o.n, o.n, STR(hex), o.n, o.n);
	assert_str(str_trim(out), want.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_raw_bundle),
		cmocka_unit_test(finds_compressed_bundles),
		cmocka_unit_test(objects_know_their_place),
		cmocka_unit_test(places_count_from_the_start_of_the_image),
		cmocka_unit_test(counts_bundles_in_file_order),
		cmocka_unit_test(one_bundle_of_many_wrappers_counts_once),
		cmocka_unit_test(finds_bundles_outside_the_section),
		cmocka_unit_test(does_without_a_section_table),
		cmocka_unit_test(sections_that_only_have_the_name),
		cmocka_unit_test(a_damaged_bundle_does_not_hide_the_next),
		cmocka_unit_test(damaged_compressed_data_is_a_finding),
		cmocka_unit_test(compares_labels_with_e_flags),
		cmocka_unit_test(bare_objects_take_their_target_from_the_flags),
		cmocka_unit_test(says_which_targets_have_no_kernels),
		cmocka_unit_test(objects_that_are_none),
		cmocka_unit_test(spirv_has_kernels),
		cmocka_unit_test(tells_which_bundles_lack_a_target),
		cmocka_unit_test(notes_do_not_decide_alone),
		cmocka_unit_test(kernels_say_what_they_take),
		cmocka_unit_test(a_note_that_ends_early_is_harmless),
		cmocka_unit_test(counts_debug_bytes),
		cmocka_unit_test(reads_static_archives),
		cmocka_unit_test(refuses_or_reads_libraries_cut_off_anywhere),
		cmocka_unit_test(scans_folders_and_says_what_all_files_serve),
		cmocka_unit_test(opens_wheels_also_inside_folders),
		cmocka_unit_test(single_files_of_no_format_are_errors),
		cmocka_unit_test(writes_the_json_of_the_design),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("devcode");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
