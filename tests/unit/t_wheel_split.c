/* Wheels split and merged: what goes where, and that libraries of every kind get back what they had. */
#include "fixture_wheel.h"
#include "unit/fixture_fat.h"
#include "unit/kit.h"

#include "base/proc.h"
#include "formats/kpack.h"
#include "wheel/split.h"

static struct str make(struct fixture *f, struct str library)
{
	return fx_write(&f->a, f->dir,
		(struct fx_wheel){
			.files = {
				{"pkg/__init__.py", S("print('packed, packed, packed')\n")},
				{"pkg/lib.so", library},
				{"pkg/library/K_gfx90a.co", S("other")},
				{"pkg/images/amd-gfx11xx/k.aks2", S("family")},
			}});
}

static struct err *split(struct fixture *f, const char *to, bool plain, struct split_done *ret)
{
	struct split_request q = {.from = at(f, "demo-1.0-py3-none-any.whl"),
		.to = at(f, to),
		.format = plain ? SPLIT_PLAIN : SPLIT_KPACK,
		.jobs = 1};
	return wheel_split(&f->a, &q, ret);
}

static struct str part(struct fixture *f, const char *dir, const char *gpu)
{
	return str_fmt(&f->a, "%.*s/%s/%s%s-1.0-py3-none-any.whl", STR(f->dir), dir,
		*gpu ? "amd_demo_device_" : "demo", gpu);
}

static struct err *merge(struct fixture *f, const struct strs *from, struct merge_done *ret)
{
	struct merge_request q = {.from = *from, .to = at(f, "merged"), .force = true, .jobs = 1};
	return wheel_merge(&f->a, &q, ret);
}

static struct str member(struct fixture *f, struct str wheel, const char *name)
{
	CLEANUP(zip_close) struct zip z = {.fd = -1};
	struct str text = {0};
	assert_ok(zip_open(&f->a, wheel, NULL, &z));
	const struct zip_member *m = zip_find(&z, str_from(name));
	if (m)
		assert_ok(zip_read(&f->a, &z, m, 1 << 24, &text));
	return text;
}

/* Objects of a bundle in memory, by their ids: equal in both, but for those that are not wanted. */
static struct str raw(struct arena *a, struct str image, uint64_t at)
{
	struct bytes src = bytes_mem(image);
	struct bundle b;
	assert_ok(bundle_open(a, &src, at, image.n, &b));
	BUF(text, a);
	for (unsigned pass = 0; pass < 2; pass++)
		VEC_EACH (const struct bundle_entry, e, &b.entries)
			if (e->size && pass == !str_ends(e->target, S("xnack-")))
				buf_fmt(&text, "%.*s %llu\n", STR(e->id),
					(unsigned long long)e->size);
	return buf_str(&text);
}

struct reading {
	struct arena *a;
	struct strs rows;
};

static struct err *row(void *user, size_t bundle, const struct bundle_entry *e,
	const struct str *piece, uint64_t at)
{
	struct reading *r = user;
	assert_true(at == 0 && piece->n == e->size);
	struct str hash = sha256_hex(r->a, *piece);
	strs_add(r->a, &r->rows, str_fmt(r->a, "%zu %.*s %.*s", bundle, STR(e->target), STR(hash)));
	return NULL;
}

/* "BUNDLE TARGET HASH", sorted. */
static struct str objects(struct arena *a, struct str library)
{
	static const struct slim_keep none = {.none = true};
	struct reading r = {.a = a};
	struct slim_plan p;
	struct bytes src = bytes_mem(library);
	assert_ok(slim_read(a, &src, &none, &p));
	assert_ok(slim_objects(&p, row, &r));
	strs_sort(&r.rows);
	return str_join(a, &r.rows, S("\n"));
}

/* As a loader sees them: wrappers lead to the same bundles, all else that is loaded is the same. */
static void same_library(struct arena *a, const struct fx_built *old, struct str now)
{
	struct str x = fx_load(a, old->file), y = fx_load(a, now);
	assert_true(str_eq(objects(a, old->file), objects(a, now)));
	for (unsigned i = 0; i < FX_BUNDLES; i++) {
		uint64_t w = old->wrappers + i * 24;
		assert_memory_equal(x.p + w, y.p + w, 8);
		assert_true(fx_get(y, w + 16, 8) == 0);
		struct str was = raw(a, x, fx_get(x, w + 8, 8)),
			   is = raw(a, y, fx_get(y, w + 8, 8));
		assert_true(str_eq(was, is));
	}
	if (old->tail)
		assert_memory_equal(x.p + old->tail, y.p + old->tail, 26);
}

static const struct fx_fat kinds[] = {
	{.pointer = FX_RELATIVE},
	{.pointer = FX_BOTH},
	{.pointer = FX_RELR},
	{.pointer = FX_ABS64},
	{.pointer = FX_ABS64, .machine = 183, .symbol = true},
	{.pointer = FX_RELATIVE, .ccob = 2},
	{.pointer = FX_RELATIVE, .ccob = 3},
	{.pointer = FX_RELATIVE, .last = true},
	{.pointer = FX_RELATIVE, .writable = true},
	{.pointer = FX_RELATIVE, .align = 0x10000, .skew = true},
	{.pointer = FX_RELATIVE, .mixed = true},
};

static void libraries_of_all_kinds_come_back(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"", "gfx90a", "gfx1100", "gfx11_generic", "gfx1201"};
	for (unsigned k = 0; k < 2 * sizeof(kinds) / sizeof(*kinds); k++) {
		ARENA(a);
		struct split_done done;
		struct merge_done merged;
		struct strs from = {0};
		struct fx_built lib = fx_fat_library(&a, kinds[k / 2]);
		struct str wheel = make(f, lib.file);
		const char *dir = str_fmt(&f->a, "out%u", k).p;
		assert_ok(split(f, dir, k % 2, &done));
		assert_str(
			str_join(&a, &done.gpus, S(" ")), "gfx90a gfx11-generic gfx1100 gfx1201");
		for (unsigned i = 0; i < 5; i++)
			strs_add(&f->a, &from, part(f, dir, names[i]));
		strs_add(&f->a, &from, part(f, dir, "gfx11"));
		assert_ok(merge(f, &from, &merged));
		assert_int_equal(merged.merged, 1);
		struct str now = merged.output;
		same_library(&a, &lib, member(f, now, "pkg/lib.so"));
		static const char *const same[] = {"pkg/__init__.py", "pkg/library/K_gfx90a.co",
			"pkg/images/amd-gfx11xx/k.aks2", "demo-1.0.dist-info/METADATA",
			"demo-1.0.dist-info/WHEEL"};
		for (unsigned i = 0; i < 5; i++)
			assert_true(str_eq(member(f, wheel, same[i]), member(f, now, same[i])));
		assert_null(member(f, now, "demo-1.0.dist-info/" SPLIT_MANIFEST).p);
	}
}

static void each_file_goes_where_it_belongs(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	struct kpack k;
	make(f, fx_fat_library(&f->a, kinds[0]).file);
	assert_ok(split(f, "k", false, &done));
	struct str host = part(f, "k", ""), one = part(f, "k", "gfx90a");
	assert_non_null(member(f, host, "pkg/lib.so").p);
	assert_null(member(f, host, "pkg/library/K_gfx90a.co").p);
	assert_str(member(f, one, "pkg/library/K_gfx90a.co"), "other");
	assert_str(member(f, part(f, "k", "gfx11"), "pkg/images/amd-gfx11xx/k.aks2"), "family");
	struct str text = member(f, one, "pkg/.kpack/demo_gfx90a:xnack-.kpack");
	struct bytes src = bytes_mem(text);
	assert_ok(kpack_open(&f->a, &src, &k));
	assert_int_equal(k.objects.n, 3);
	assert_str(k.objects.v[2].path, "lib.so");
	assert_int_equal(k.objects.v[2].index, 2);
	assert_true(str_contains(member(f, part(f, "k", "gfx1100"),
					 "amd_demo_device_gfx1100-1.0.dist-info/METADATA"),
		S("Requires-Dist: demo == 1.0\nRequires-Dist: amd-demo-device-gfx11 == 1.0\n")));
	assert_ok(split(f, "p", true, &done));
	assert_null(member(f, part(f, "p", ""), "pkg/lib.so").p);
	struct str rest = objects(&f->a, member(f, part(f, "p", "gfx1201"), "pkg/lib.so")), line;
	for (unsigned i = 0; i < 3; i++) {
		assert_true(str_next(&rest, '\n', &line));
		assert_true(str_starts(line, str_fmt(&f->a, "%u gfx1201 ", i)));
	}
	assert_true(!rest.n);
	assert_int_equal(done.wheels.n, 7);
	make(f, fx_fat_library(&f->a, (struct fx_fat){.generic = true}).file);
	assert_ok(split(f, "g", false, &done));
	assert_true(str_contains(
		member(f, part(f, "g", "gfx906"), "amd_demo_device_gfx906-1.0.dist-info/METADATA"),
		S("Requires-Dist: amd-demo-device-gfx9-generic == 1.0\n")));
}

/* Each tag of the name, not only the first, is one of the device wheels' (TheRock's splitter: its section 9.5 h). */
static void all_tags_of_a_wheel_are_those_of_its_parts(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	struct split_request q = {.to = at(f, "k"), .format = SPLIT_KPACK, .jobs = 1};
	q.from = fx_write(&f->a, f->dir,
		(struct fx_wheel){.file = "demo-1.0-py2.py3-none-any.linux_x86_64.whl",
			.wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: "
				 "py2-none-any\nTag: "
				 "py3-none-any\nTag: py2-none-linux_x86_64\nTag: "
				 "py3-none-linux_x86_64\n",
			.files = {{"pkg/lib.so", fx_fat_library(&f->a, kinds[0]).file}}});
	assert_ok(wheel_split(&f->a, &q, &done));
	struct str one = at(f, "k/amd_demo_device_gfx1100-1.0-py2.py3-none-any.linux_x86_64.whl");
	struct str text = member(f, one, "amd_demo_device_gfx1100-1.0.dist-info/WHEEL");
	assert_true(str_ends(
		text, S("Root-Is-Purelib: false\nTag: py2-none-any\nTag: py2-none-linux_x86_64\n"
			"Tag: py3-none-any\nTag: py3-none-linux_x86_64\n")));
}

/* An installer moves what is in .data/platlib: marks and archives go by where files are then. */
static void names_are_those_of_installed_files(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	struct kpack k;
	struct str lib = fx_fat_library(&f->a, kinds[0]).file;
	fx_write(&f->a, f->dir,
		(struct fx_wheel){.files = {{"demo-1.0.data/platlib/pkg/a/lib.so", lib},
					  {"demo-1.0.data/platlib/pkg/K_gfx1201.co", S("side")},
					  {"top.so", lib}}});
	assert_ok(split(f, "k", false, &done));
	struct str one = part(f, "k", "gfx1201");
	assert_str(member(f, one, "amd_demo_device_gfx1201-1.0.data/platlib/pkg/K_gfx1201.co"),
		"side");
	struct str text = member(f, one, "pkg/.kpack/demo_gfx1201.kpack");
	struct bytes src = bytes_mem(text);
	assert_ok(kpack_open(&f->a, &src, &k));
	assert_str(k.objects.v[0].path, "pkg/a/lib.so");
	assert_str(k.objects.v[3].path, "top.so");
	struct str host = part(f, "k", "");
	assert_true(str_contains(
		member(f, host, "top.so"), S("\x91\xbfpkg/.kpack/demo_@GFXARCH@.kpack")));
	assert_true(str_contains(member(f, host, "demo-1.0.data/platlib/pkg/a/lib.so"),
		S("../.kpack/demo_@GFXARCH@.kpack")));
}

/* A wheel with code for a ROCm that METADATA, a needed library or a runtime in the wheel tells of, or nothing does. */
static void archives_are_for_runtimes_that_read_them(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *metadata, *runtime, *needed;
		const char *content; /* of the runtime, behind the library */
		const char *format, *why;
	} cases[] = {
		{"", NULL, NULL, "", "plain", "nothing in the wheel names its ROCm version"},
		{"", NULL, "libamdhip64.so.6", "", "plain", "'pkg/need.so' needs libamdhip64.so.6"},
		{"", NULL, "libamdhip64.so.7", "", "plain", "which ROCm 7.0 has, too"},
		{"", NULL, "libamdhip64.so.10", "", "kpack",
			"'pkg/need.so' needs libamdhip64.so.10"},
		{"", NULL, "libamdhip64-d01f4dc2.so.6.4.43483", "", "plain",
			"needs libamdhip64-d01"},
		{"Requires-Dist: rocm[libraries]==7.14.*\n", NULL, "libamdhip64.so.7", "", "kpack",
			"the wheel requires rocm ==7.14.*"},
		{"Requires-Dist: rocm-sdk-core (~=10.1)\n", NULL, NULL, "", "kpack",
			"the wheel requires rocm-sdk-core"},
		{"Requires-Dist: rocm<7.14\n", NULL, NULL, "", "plain", "nothing"},
		{"Requires-Dist: rocm==7.2\n", NULL, "libamdhip64.so.7", "", "plain",
			"requires rocm =="},
		{"Requires-Dist: rocm==7.14\n", NULL, "libamdhip64.so.6", "", "plain",
			"needs libamdhip64.so.6"},
		{"Requires-Dist: rocm==7.14\n", "pkg/lib/libamdhip64.so.7", "libamdhip64.so.7", "",
			"plain", "'pkg/lib/libamdhip64.so.7' of the wheel reads no"},
		{"", "demo.libs/libamdhip64-d01f4dc2.so.7.2", NULL, "x kpack_load_code_object x",
			"kpack", "of the wheel reads kpack archives"},
		{"", "pkg/lib/libamdhip64.so.7", NULL, "x ROCM_KPACK_ENABLED=OFF x", "plain",
			"reads no"},
	};
	struct str lib = fx_fat_library(&f->a, kinds[0]).file;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct split_done done;
		struct str runtime =
			fx_elf(&f->a, (struct fx_library){.soname = "libamdhip64.so.7"});
		struct fx_wheel w = {
			.files = {{"pkg/lib.so", lib},
				{"pkg/need.so",
					fx_elf(&f->a, (struct fx_library){
							      .needed = {cases[i].needed}})}}};
		w.metadata = str_fmt(&f->a, "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n%s",
			cases[i].metadata)
				     .p;
		w.files[2].name = cases[i].runtime;
		BUF(content, &f->a);
		buf_add(&content, runtime);
		buf_add(&content, str_from(cases[i].content));
		w.files[2].content = buf_str(&content);
		struct split_request q = {.to = at(f, "k"), .force = true, .jobs = 1};
		q.from = fx_write(&f->a, f->dir, w);
		assert_ok(wheel_split(&f->a, &q, &done));
		assert_str(done.format, cases[i].format);
		assert_true(done.chosen && done.reads &&
			    str_contains(done.why, str_from(cases[i].why)));
		bool plain = str_eq(done.format, S("plain"));
		q.format = SPLIT_KPACK;
		assert_ok(wheel_split(&f->a, &q, &done));
		assert_int_equal(done.reads, !plain);
	}
}

/* Each GPU that a part serves has an extra: with its own part, the generic one, or both where the runtime looks into both. */
static void every_gpu_that_a_part_serves_has_an_extra(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	const struct fx_entry v[] = {{.id = FX_HOST},
		{.id = FX_ID("gfx9-4-generic:xnack+"), .bytes = S("for gfx942 and gfx950")},
		{.id = FX_ID("gfx942:sramecc+:xnack-"), .bytes = S("for gfx942")},
		{.id = FX_ID("gfx10-3-generic"), .bytes = S("for gfx1030 to gfx1036")},
		{.id = FX_ID("gfx12-generic"), .bytes = S("")}}; /* no code */
	struct split_request q = {.to = at(f, "p"), .jobs = 1};
	q.from = fx_write(&f->a, f->dir,
		(struct fx_wheel){.files = {{"pkg/k.hipfb", fx_bundle(&f->a, v, 5, 16)},
					  {"pkg/K_gfx1031.co", S("side")}}});
	assert_ok(wheel_split(&f->a, &q, &done));
	assert_str(str_join(&f->a, &done.gpus, S(" ")),
		"gfx9-4-generic gfx942 gfx10-3-generic gfx1031");
	assert_str(str_join(&f->a, &done.serves, S(" ")),
		"gfx9-4-generic gfx942 gfx950 gfx10-3-generic gfx1030 gfx1031 gfx1032 gfx1033 "
		"gfx1034 "
		"gfx1035 gfx1036");
	struct str text = member(f, part(f, "p", ""), "demo-1.0.dist-info/METADATA");
	static const char *const extras[] = {
		"gfx950\nRequires-Dist: amd-demo-device-gfx9-4-generic",
		"gfx942\nRequires-Dist: amd-demo-device-gfx942",
		"gfx1036\nRequires-Dist: amd-demo-device-gfx10-3-generic",
		"gfx1031\nRequires-Dist: amd-demo-device-gfx1031"};
	for (unsigned i = 0; i < 4; i++) /* and no other wheel: plain ones have the same files */
		assert_true(str_contains(
			text, str_fmt(&f->a,
				      "Provides-Extra: device-%s == 1.0; extra == "
				      "\"device-%.*s\"\nProvides-Extra",
				      extras[i], (int)strcspn(extras[i], "\n"), extras[i])));
	/* the side file's GPU has the generic code in its own wheel */
	assert_true(str_contains(
		member(f, part(f, "p", "gfx1031"), "pkg/k.hipfb"), S("for gfx1030 to gfx1036")));
}

/* What AMD's splitter is told by options, and the licences. */
static void names_folders_and_requirements_are_those_asked_for(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	struct kpack k;
	struct str lib = fx_fat_library(&f->a, kinds[0]).file;
	struct split_request q = {.to = at(f, "k"),
		.format = SPLIT_KPACK,
		.jobs = 1,
		.prefix = S("acme-demo"),
		.overlay = S("pkg/./deep/")};
	strs_add(&f->a, &q.requires, S("rocm-sdk-device-@GFXARCH@ == 7.14"));
	strs_add(&f->a, &q.requires, S("six[x]>=1; python_version > \"3\""));
	strs_add(&f->a, &q.requires,
		S("a-@GFXARCH@[x,y]>=2; os_name == \"posix\" or extra == \"z\""));
	strs_add(&f->a, &q.requires,
		S("b-@GFXARCH@ @ https://example.org/b.whl ; os_name == \"nt\""));
	q.from = fx_write(&f->a, f->dir,
		(struct fx_wheel){.metadata =
					  "Metadata-Version: 2.4\nName: demo\nVersion: "
					  "1.0\nLicense-Expression: "
					  "MIT\nLicense-File: LICENSE\nLicense-File: a/NOTICE\n",
			.files = {{"pkg/deep/a/lib.so", lib}, {"pkg/lib.so", lib},
				{"pkg/K_gfx942.co", S("outside")},
				{"pkg/deep/images/amd-gfx11xx/k.aks2", S("family")},
				{"demo-1.0.dist-info/licenses/LICENSE", S("mit")},
				{"demo-1.0.dist-info/licenses/a/NOTICE", S("all")}}});
	assert_ok(wheel_split(&f->a, &q, &done));
	assert_str(str_join(&f->a, &done.gpus, S(" ")), "gfx90a gfx11-generic gfx1100 gfx1201");
	assert_str(str_join(&f->a, &done.left, S(" ")), "pkg/lib.so");
	assert_true(str_eq(member(f, at(f, "k/demo-1.0-py3-none-any.whl"), "pkg/lib.so"), lib));
	struct str one = at(f, "k/acme_demo_gfx1100-1.0-py3-none-any.whl");
	struct str text = member(f, one, "pkg/deep/.kpack/demo_gfx1100.kpack");
	struct bytes src = bytes_mem(text);
	assert_ok(kpack_open(&f->a, &src, &k));
	assert_str(k.objects.v[0].path, "a/lib.so");
	assert_str(member(f, one, "acme_demo_gfx1100-1.0.dist-info/METADATA"),
		"Metadata-Version: 2.4\nName: acme-demo-gfx1100\nVersion: 1.0\n"
		"Summary: Device code of demo for gfx1100\nLicense-Expression: MIT\n"
		"License-File: LICENSE\nLicense-File: a/NOTICE\nRequires-Dist: demo == 1.0\n"
		"Requires-Dist: acme-demo-gfx11 == 1.0\n"
		"Requires-Dist: rocm-sdk-device-gfx1100 == 7.14\n"
		"Requires-Dist: a-gfx1100[x,y]>=2; os_name == \"posix\" or extra == \"z\"\n"
		"Requires-Dist: b-gfx1100 @ https://example.org/b.whl ; os_name == \"nt\"\n"
		"Requires-Dist: six[x]>=1; python_version > \"3\"\n");
	assert_str(member(f, one, "acme_demo_gfx1100-1.0.dist-info/licenses/LICENSE"), "mit");
	assert_str(member(f, one, "acme_demo_gfx1100-1.0.dist-info/licenses/a/NOTICE"), "all");
	static const char *const others[] = {"gfx11_generic", "gfx11"};
	for (unsigned i = 0; i < 2; i++) {
		struct str stem = str_fmt(&f->a, "acme_demo_%s-1.0", others[i]);
		text = member(f,
			str_fmt(&f->a, "%.*s/k/%.*s-py3-none-any.whl", STR(f->dir), STR(stem)),
			str_fmt(&f->a, "%.*s.dist-info/METADATA", STR(stem)).p);
		assert_true(str_contains(text, S("six")) && !str_contains(text, S("rocm-sdk")));
	}
	text = member(f, at(f, "k/demo-1.0-py3-none-any.whl"), "demo-1.0.dist-info/METADATA");
	assert_true(str_contains(text,
		S("Provides-Extra: device-gfx1151\nRequires-Dist: "
		  "acme-demo-gfx11-generic == 1.0; extra == \"device-gfx1151\"\n"
		  "Requires-Dist: acme-demo-gfx11 == 1.0; extra == \"device-gfx1151\"\n"
		  "Requires-Dist: rocm-sdk-device-gfx1151 == 7.14 ; extra == "
		  "\"device-gfx1151\"\n"
		  "Requires-Dist: a-gfx1151[x,y] >=2 ; (os_name == \"posix\" or extra == \"z\") "
		  "and extra == \"device-gfx1151\"\n"
		  "Requires-Dist: b-gfx1151 @ https://example.org/b.whl ; (os_name == \"nt\") and "
		  "extra == \"device-gfx1151\"\n")));
	q.overlay = S("deep");
	assert_err_says(wheel_split(&f->a, &q, &done), E_USAGE, "has no folder 'deep'");
	q.requires.v[1] = S("six\nName: other");
	assert_err_says(wheel_split(&f->a, &q, &done), E_USAGE, "more than one line");
}

/* A split that cannot put all wheels in place leaves what was there. */
static void a_set_that_is_not_complete_does_not_appear(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	struct strs names;
	make(f, fx_fat_library(&f->a, kinds[0]).file);
	struct split_request q = {.from = at(f, "demo-1.0-py3-none-any.whl"),
		.to = at(f, "k"),
		.format = SPLIT_KPACK,
		.force = true,
		.variants = true,
		.jobs = 1};
	put(f, "k/demo-1.0-py3-none-any.whl", "old");
	put(f, "k/demo-1.0-variants.json/in", "the way");
	assert_ok(fs_mkdirs(at(f, "k/.rocsmith.tmp-other")));
	struct str host = part(f, "k", "");
	struct str beside = fs_temp_name(&f->a, host);
	int lock;
	/* another run, and what a killed one left */
	assert_ok(fs_mkdirs(beside));
	put(f, path_join(&f->a, beside, S("left")).p, "over");
	assert_ok(fs_lock(path_join(&f->a, beside, S("lock")), FS_LOCK_NOW, &lock));
	assert_err_says(wheel_split(&f->a, &q, &done), E_USAGE, "variants.json' exists");
	assert_ok(fs_remove_tree(at(f, "k/demo-1.0-variants.json")));
	assert_err(wheel_split(&f->a, &q, &done), E_LOCKED);
	fd_closep(&lock);
	test_has(host, "old");
	assert_ok(wheel_split(&f->a, &q, &done));
	assert_false(fs_present(beside));
	assert_ok(fs_list(&f->a, at(f, "k"), &names));
	assert_int_equal(
		names.n, 5 + 1 + 2 + 1); /* parts, family, host and variant, the index, the other */
}

static void parts_that_differ_are_refused(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	struct merge_done merged;
	struct fx_built lib = fx_fat_library(&f->a, kinds[0]);
	make(f, lib.file);
	assert_ok(split(f, "one", true, &done));
	struct str other = str_dup(&f->a, lib.file);
	((char *)(uintptr_t)other.p)[lib.tail] ^= 1;
	make(f, other);
	assert_ok(split(f, "two", true, &done));
	struct strs mixed = {0};
	strs_add(&f->a, &mixed, part(f, "one", ""));
	strs_add(&f->a, &mixed, part(f, "two", "gfx1100"));
	assert_err_says(merge(f, &mixed, &merged), E_WHEEL, "another set");
	mixed.v[1] = mixed.v[0];
	assert_err_says(merge(f, &mixed, &merged), E_WHEEL, "second host");
	mixed.n = 1;
	assert_err_says(merge(f, &mixed, &merged), E_USAGE, "two wheels");
	mixed.v[0] = part(f, "one", "gfx1100");
	assert_err_says(merge(f, &mixed, &merged), E_WHEEL, "host wheel of its set");
	assert_false(fs_present(at(f, "merged/demo-1.0-py3-none-any.whl")));
}

/* The same wheel without our manifest, as AMD's are. */
static struct str published(struct fixture *f, struct str wheel)
{
	CLEANUP(zip_close) struct zip z = {.fd = -1};
	struct fx_wheel w = {.file = path_base(wheel).p};
	unsigned n = 0;
	assert_ok(zip_open(&f->a, wheel, NULL, &z));
	VEC_EACH (const struct zip_member, m, &z.members) {
		struct str text, dir = path_dir(m->name);
		assert_ok(zip_read(&f->a, &z, m, 1 << 24, &text));
		if (str_ends(m->name, S("/METADATA"))) {
			w.info = str_z(&f->a, dir);
			w.metadata =
				str_fmt(&f->a, "%.*sRequires-Dist: rocm-bootstrap\n", STR(text)).p;
		}
		if (!str_ends(dir, S(".dist-info")))
			w.files[n++] = (struct fx_file){str_z(&f->a, m->name), text};
	}
	return fx_write(&f->a, at(f, "amd"), w);
}

static void sets_without_a_manifest_are_merged(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"gfx1201", "gfx1100", "", "gfx90a"};
	struct split_done done;
	struct merge_done merged;
	struct strs from = {0};
	struct fx_built lib = fx_fat_library(&f->a, kinds[0]);
	struct str wheel = make(f, lib.file);
	assert_ok(split(f, "k", false, &done));
	assert_ok(fs_mkdirs(at(f, "amd")));
	for (unsigned i = 0; i < 4; i++)
		strs_add(&f->a, &from, published(f, part(f, "k", names[i])));
	assert_ok(merge(f, &from, &merged));
	struct str meta = S("demo-1.0.dist-info/METADATA"), now = merged.output;
	assert_str(str_join(&f->a, &merged.targets, S(" ")), "gfx90a:xnack- gfx1100 gfx1201");
	assert_int_equal(merged.missing.n, 0);
	assert_true(str_eq(member(f, now, meta.p), member(f, wheel, meta.p)));
	assert_null(member(f, now, "pkg/.kpack/demo_gfx1100.kpack").p);
	struct str want = objects(&f->a, lib.file),
		   have = objects(&f->a, member(f, now, "pkg/lib.so")), line;
	while (str_next(&want, '\n', &line))
		assert_int_equal(str_contains(have, line), !str_contains(line, S("generic")));
	from.n = 2;
	from.v[0] = part(f, "amd", "gfx1100");
	from.v[1] = part(f, "amd", "gfx90a");
	assert_err_says(merge(f, &from, &merged), E_WHEEL, "host wheel of its set");
}

static void what_amd_added_to_metadata_is_taken_out(void **state)
{
	(void)state;
	ARENA(a);
	struct str now;
	assert_ok(split_without(&a,
		S("Metadata-Version: 2.1\r\nName: torch\nrequires-dist: filelock\nRequires-Dist: "
		  "rocm_bootstrap\nProvides-Extra: device-gfx1100\nRequires-Dist: "
		  "amd-torch-device-gfx1100 ==\n  2.9;\n  extra == "
		  "\"device-gfx1100\"\nProvides-Extra: dev\n"
		  "Requires-Dist: rocm-sdk\n\nRequires-Dist: rocm-bootstrap\n"),
		&now));
	assert_str(now, "Metadata-Version: 2.1\r\nName: torch\nrequires-dist: "
			"filelock\nProvides-Extra: dev\n"
			"Requires-Dist: rocm-sdk\n\nRequires-Dist: rocm-bootstrap\n");
	assert_ok(split_without(&a, S("Name: x"), &now));
	assert_str(now, "Name: x");
	assert_err(split_without(&a, S("no header\n"), &now), E_SYNTAX);
}

static void a_pointer_in_no_wrapper_is_refused(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	struct fx_built lib = fx_fat_library(&f->a, kinds[0]);
	char *p = str_z(&f->a, lib.file);
	struct elf e;
	struct bytes src = bytes_mem((struct str){p, lib.file.n});
	assert_ok(elf_open(&f->a, &src, &e));
	put_le(p + elf_offset_of(&e, lib.wrappers + 24), 0x12345678, 4);
	make(f, (struct str){p, lib.file.n});
	assert_err_says(split(f, "out", false, &done), E_SLIM, "in no wrapper");
	assert_false(fs_present(part(f, "out", "")));
	assert_ok(split(f, "out", true, &done));
}

/* A stranger's host part: no pointer leads to its mark, and no archive has a file of the name in it. */
static void a_host_part_without_pointers_is_refused(void **state)
{
	struct fixture *f = *state;
	struct split_done done;
	struct merge_done merged;
	struct strs from = {0};
	struct fx_built lib = fx_fat_library(&f->a, (struct fx_fat){.pointer = FX_RELR});
	make(f, lib.file);
	assert_ok(split(f, "k", false, &done));
	struct str host = member(f, part(f, "k", ""), "pkg/lib.so");
	char *p = str_z(&f->a, host);
	struct elf e;
	struct bytes src = bytes_mem((struct str){p, host.n});
	assert_ok(elf_open(&f->a, &src, &e));
	for (unsigned i = 0; i < FX_BUNDLES; i++)
		put_le(p + elf_offset_of(&e, lib.wrappers + i * 24 + 8), 0, 8);
	p[str_find(host, S("kernel_name")) + 16] ^= 1;
	assert_ok(fs_mkdirs(at(f, "amd")));
	strs_add(&f->a, &from,
		fx_write(&f->a, at(f, "amd"),
			(struct fx_wheel){.files = {{"pkg/lib.so", {p, host.n}}}}));
	strs_add(&f->a, &from, published(f, part(f, "k", "gfx1100")));
	assert_err_says(merge(f, &from, &merged), E_SLIM, "no wrapper points at its device code");
	assert_false(fs_present(at(f, "merged/demo-1.0-py3-none-any.whl")));
}

static void owners_of_side_files(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *path, *owner;
	} cases[] = {
		{"lib/TensileLibrary_lazy_gfx90a.dat", "gfx90a"},
		{"lib/library/gfx942/TensileManifest.txt", "gfx942"},
		{"lib/K_fallback_gfx90a-xnack+.hsaco", "gfx90a"},
		{"share/miopen/db/gfx90878.db.txt", "gfx908"},
		{"images/amd-gfx11xx/k.aks2", "gfx11"},
		{"images/amd-gfx110x/k.aks2", "gfx110x"},
		{"images/amd-gfx115x/k.aks2", "gfx115x"},
		{"images/amd-gfx120x/k.aks2", "gfx12_0"},
		{"images/amd-gfx103x/k.aks2", "gfx10_3"},
		{"images/amd-gfx94x/k.aks2", "gfx9_4"},
		{"lib/K_gfx90a_gfx942.dat", ""},
		{"lib/K_gfx90a/K_gfx90a.dat", "gfx90a"},
		{"lib/K.dat", ""},
		{"lib/K_gfx90a.so", ""},
		{"lib/K_gfx7777.dat", ""},
	};
	static const char *const covers[][2] = {{"gfx11", "gfx1100"}, {"gfx11", "gfx1151"},
		{"gfx110x", "gfx1103"}, {"gfx12_0", "gfx1201"}, {"gfx9_4", "gfx942"},
		{"gfx9", "gfx90a"}, {"gfx90a", "gfx90a"}};
	static const char *const not [][2] = {{"gfx11", "gfx11-generic"}, {"gfx110x", "gfx1150"},
		{"gfx12_0", "gfx1250"}, {"gfx9", "gfx1100"}, {"gfx90a", "gfx908"},
		{"gfx9_0", "gfx942"}};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_str(slim_file_owner(&a, str_from(cases[i].path)), cases[i].owner);
	/* MIOpen's, of every processor there is, with the number of its compute units or without */
	static const char *const ends[] = {
		".db.txt", "40.db", "_36.kdb", "78.HIP.2_20_0.fdb.txt", "_ConvHip.tn.model"};
	for (size_t g = 0; g < gpu_count; g++)
		for (unsigned i = 0; i < 5 && !gpu_table()[g].is_generic; i++)
			assert_str(slim_file_owner(&a, str_fmt(&a, "share/miopen/db/%s%s",
							       gpu_table()[g].name, ends[i])),
				gpu_table()[g].name);
	for (unsigned i = 0; i < sizeof(covers) / sizeof(*covers); i++)
		assert_true(slim_owner_covers(str_from(covers[i][0]), str_from(covers[i][1])));
	for (unsigned i = 0; i < sizeof(not ) / sizeof(*not ); i++)
		assert_false(slim_owner_covers(str_from(not [i][0]), str_from(not [i][1])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(libraries_of_all_kinds_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(each_file_goes_where_it_belongs, setup, teardown),
		cmocka_unit_test_setup_teardown(
			archives_are_for_runtimes_that_read_them, setup, teardown),
		cmocka_unit_test_setup_teardown(
			every_gpu_that_a_part_serves_has_an_extra, setup, teardown),
		cmocka_unit_test_setup_teardown(
			names_folders_and_requirements_are_those_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_set_that_is_not_complete_does_not_appear, setup, teardown),
		cmocka_unit_test_setup_teardown(
			names_are_those_of_installed_files, setup, teardown),
		cmocka_unit_test_setup_teardown(
			all_tags_of_a_wheel_are_those_of_its_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_that_differ_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			sets_without_a_manifest_are_merged, setup, teardown),
		cmocka_unit_test(what_amd_added_to_metadata_is_taken_out),
		cmocka_unit_test_setup_teardown(
			a_pointer_in_no_wrapper_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_host_part_without_pointers_is_refused, setup, teardown),
		cmocka_unit_test(owners_of_side_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
