/* Libraries and their kpack archives as pairs: in a host wheel and its device wheels, and in one wheel. Both are made here,
 * from the documents of the format. */
#include "fixture_verify.h"

#include "formats/msgpack.h"

#define HOST "torch-1.0-py3-none-linux_x86_64.whl"
#define LIBRARY "torch/lib/x.so"
#define PATTERN "../.kpack/torch_@GFXARCH@.kpack"
#define ARCHIVE(gpu) "torch/.kpack/torch_" gpu ".kpack"

struct row { /* of an archive */
	const char *key, *target;
	unsigned flags; /* of its object; 0: gfx1100; 1: no object at all */
};
enum { GFX942 = 0x54c, NO_OBJECT = 1 };

/* All is stored as it is. archs: the targets that it says to be for, joined by blanks; NULL: it says nothing. */
static struct str archive(struct arena *a, const struct row *v, const char *archs)
{
	BUF(b, a);
	BUF(blobs, a);
	BUF(toc, a);
	uint64_t n = 0;
	buf_add(&b, S("KPAK\1\0\0\0"));
	fx_pad(&b, 64);
	for (; v[n].key; n++) {
		struct str code = fx_code_object(a,
			(struct fx_object){.kernels = 2, .flags = v[n].flags > 1 ? v[n].flags : 0});
		code = v[n].flags == NO_OBJECT ? S("nothing") : code;
		msgpack_put_map(&blobs, 2);
		msgpack_put_str(&blobs, S("offset"));
		msgpack_put_uint(&blobs, b.n);
		msgpack_put_str(&blobs, S("size"));
		msgpack_put_uint(&blobs, code.n);
		msgpack_put_str(&toc, str_from(v[n].key));
		msgpack_put_map(&toc, 1);
		msgpack_put_str(&toc, str_from(v[n].target));
		msgpack_put_map(&toc, 2);
		msgpack_put_str(&toc, S("ordinal"));
		msgpack_put_uint(&toc, n);
		msgpack_put_str(&toc, S("original_size"));
		msgpack_put_uint(&toc, code.n);
		buf_add(&b, code);
	}
	fx_set(&b, 8, b.n, 8);
	msgpack_put_map(&b, archs ? 4 : 3);
	if (archs) {
		struct strs list = str_split(a, str_from(archs), ' ');
		msgpack_put_str(&b, S("gfx_arches"));
		msgpack_put_array(&b, list.n);
		for (size_t i = 0; i < list.n; i++)
			msgpack_put_str(&b, list.v[i]);
	}
	msgpack_put_str(&b, S("compression_scheme"));
	msgpack_put_str(&b, S("none"));
	msgpack_put_str(&b, S("blobs"));
	msgpack_put_array(&b, n);
	buf_add(&b, buf_str(&blobs));
	msgpack_put_str(&b, S("toc"));
	msgpack_put_map(&b, n);
	buf_add(&b, buf_str(&toc));
	return buf_str(&b);
}

/* A library of that name in archives, with wrappers of these numbers: "010" are three. */
static struct str library(struct arena *a, const char *name, const char *numbers, bool dll)
{
	BUF(mark, a);
	BUF(wrappers, a);
	msgpack_put_map(&mark, 2);
	msgpack_put_str(&mark, S("kpack_search_paths"));
	msgpack_put_array(&mark, 1);
	msgpack_put_str(&mark, S(PATTERN));
	msgpack_put_str(&mark, S("kernel_name"));
	msgpack_put_str(&mark, str_from(name));
	for (; *numbers; numbers++) {
		fx_le(&wrappers, 0x4b504948, 4);
		fx_le(&wrappers, 1, 4 + 8);
		fx_le(&wrappers, (uint64_t)(*numbers - '0'), 8);
	}
	const struct fx_host_section v[] = {
		{.name = dll ? ".hipFatB" : ".hipFatBinSegment", .bytes = buf_str(&wrappers)},
		{.name = dll ? ".kpackrf" : ".rocm_kpack_ref", .bytes = buf_str(&mark)}};
	return dll ? fx_dll(a, v, 2) : host_elf(a, (struct fx_host){.v = v, .n = 2});
}

struct made { /* a wheel */
	const char *project;
	const char *numbers; /* of the library, NULL: there is none */
	const char *at;      /* of the archive, NULL: there is none */
	struct row v[6];
	const char *manifest, *second; /* second: a library's name */
	bool dll;
	const char *archs;
	bool fat; /* it also has a file with its own code, for gfx1100 */
	struct {
		const char *at, *archs;
		struct row v[3];
	} other; /* one more archive */
};

static struct str make(struct arena *a, struct str dir, const struct made *m)
{
	struct fx_wheel w = {.files = {A_FILE}};
	unsigned n = 1;
	bool host = str_eq(str_from(m->project), S("torch"));
	struct str project = str_replace(a, str_from(m->project), S("_"), S("-"));
	w.file = str_fmt(a, "%s-1.0-py3-none-linux_x86_64.whl", m->project).p;
	w.info = str_fmt(a, "%s-1.0.dist-info", m->project).p;
	w.metadata = str_fmt(a, "Metadata-Version: 2.1\nName: %.*s\nVersion: 1.0\n%s", STR(project),
		host ? "" : "Requires-Dist: torch == 1.0\n")
			     .p;
	if (m->numbers)
		w.files[n++] =
			(struct fx_file){LIBRARY, library(a, "lib/x.so", m->numbers, m->dll)};
	if (m->second)
		w.files[n++] =
			(struct fx_file){"torch/lib/y.so", library(a, m->second, "0", m->dll)};
	if (m->at)
		w.files[n++] = (struct fx_file){m->at, archive(a, m->v, m->archs)};
	const struct fx_entry e = {.id = "hipv4-amdgcn-amd-amdhsa--gfx1100",
		.bytes = fx_code_object(a, (struct fx_object){.flags = 0x41, .kernels = 1})};
	if (m->fat)
		w.files[n++] = (struct fx_file){"torch/k.hipfb", fx_bundle(a, &e, 1, 4096)};
	if (m->other.at)
		w.files[n++] =
			(struct fx_file){m->other.at, archive(a, m->other.v, m->other.archs)};
	if (m->manifest)
		w.files[n++] = (struct fx_file){
			"torch-1.0.dist-info/rocsmith-split.json", str_from(m->manifest)};
	return fx_write(a, dir, w);
}

/* The findings of the first wheel and, behind "|", those of others; *ret_text: what the first error says, and of what. */
static struct str look(struct arena *a, const struct made *v, struct verify_options o,
	struct str *ret_text, struct strs *ret_served)
{
	struct str dir = test_dir(a);
	struct strs paths = {0}, list = {0};
	struct verdicts all = {0};
	o.jobs = 1;
	for (; v->project; v++)
		strs_add(a, &paths, make(a, dir, v));
	assert_ok(verify_wheels(a, &paths, &o, &all));
	VEC_EACH (const struct verdict, it, &all.wheels) {
		struct str some = str_replace(a, ids(a, it), S("(tag-no-machine-code)"), S(""));
		if (str_trim(some).n)
			strs_add(a, &list, str_trim(some));
	}
	const struct verdict *first = all.wheels.v;
	*ret_text = first->findings.n ? str_fmt(a, "%.*s: %.*s", STR(first->findings.v[0].path),
						STR(first->findings.v[0].message))
				      : S("");
	*ret_served = first->served;
	test_dir_remove(dir);
	return str_join(a, &list, S(" | "));
}

static void check(const char *want, const char *says, const struct made *v)
{
	ARENA(a);
	struct str text;
	struct strs served;
	assert_str(look(&a, v, (struct verify_options){0}, &text, &served), want);
	if (says && !str_contains(text, str_from(says)))
		fail_msg("'%s' is not in '%.*s'", says, STR(text));
}

#define SET(want, says, ...) check(want, says, (const struct made[5]){__VA_ARGS__})
#define DEVICE(gpu) .project = "amd_torch_device_" gpu, .at = ARCHIVE(gpu)
#define BOTH(gpu)                                                                                  \
	{                                                                                          \
		{"lib/x.so#0", gpu, 0},                                                            \
		{                                                                                  \
			"lib/x.so#1", gpu, 0                                                       \
		}                                                                                  \
	}
#define BOTH942                                                                                    \
	{                                                                                          \
		{"lib/x.so#0", "gfx942", GFX942},                                                  \
		{                                                                                  \
			"lib/x.so#1", "gfx942", GFX942                                             \
		}                                                                                  \
	}

static void pairs_that_are_whole_pass(void **state)
{
	(void)state;
	const struct made host = {.project = "torch", .numbers = "010"},
			  gfx1100 = {DEVICE("gfx1100"), .v = BOTH("gfx1100")},
			  gfx942 = {DEVICE("gfx942"), .v = BOTH942};
	SET("", NULL, host, gfx1100, gfx942);
	SET("", NULL, gfx942, host, gfx1100);
	SET("", NULL,
		{.project = "torch",
			.numbers = "01",
			.at = ARCHIVE("gfx1100"),
			.v = BOTH("gfx1100")});
	/* a wheel alone says that it is one */
	SET("(kpack-unpaired)", "device code of 1 file (the first is '" LIBRARY "')", host);
	SET("(kpack-unpaired)", NULL, gfx1100);
	/* an archive of another set is none of this one */
	SET("(kpack-unpaired) | (kpack-unpaired)", NULL, host,
		{.project = "vision", .at = ARCHIVE("gfx1100"), .v = BOTH("gfx1100")});
}

static void what_is_not_there_is_named(void **state)
{
	(void)state;
	const struct made host = {.project = "torch", .numbers = "01"},
			  gfx1100 = {DEVICE("gfx1100"), .v = BOTH("gfx1100")},
			  half = {DEVICE("gfx942"), .v = {{"lib/x.so#1", "gfx942", GFX942}}};
	SET("kpack-index-missing",
		LIBRARY ": no code for gfx942 of 'lib/x.so' for 1 of 2 numbers: #0", host, gfx1100,
		half);
	SET("kpack-index-missing", "for 1 of 2 numbers: #0", host, half);
	SET("kpack-index-missing", "for 1 of 2 numbers: #0",
		{.project = "torch", .numbers = "01", .dll = true}, half);
	/* wrappers counted one by one, bundles in the archive: AMD's splitter on libraries linked with -fgpu-rdc */
	SET("kpack-index-missing", "for 2 of 3 numbers: #1, #2",
		{.project = "torch", .numbers = "012"},
		{DEVICE("gfx1100"), .v = {{"lib/x.so#0", "gfx1100", 0}}});
	SET("kpack-library-missing",
		"torch/lib/y.so: the archives for gfx1100 have nothing of 'lib/y.so'",
		{.project = "torch", .numbers = "01", .second = "lib/y.so"}, gfx1100);
}

#define MANIFEST(absent)                                                                           \
	"{\"schema\":\"rocsmith.split-part/1\",\"wheel\":\"w\",\"set\":\"s\",\"format\":"          \
	"\"kpack\",\"role\":\"host\",\"key\":\"\",\"keys\":[],\"headers\":\"\",\"members\":[{"     \
	"\"path\":\"" LIBRARY "\",\"encoding\":\"raw\"" absent "}]}"

static void what_never_was_there_is_not_missed(void **state)
{
	(void)state;
	struct made host = {.project = "torch", .numbers = "01"};
	const struct made gfx1100 = {DEVICE("gfx1100"), .v = BOTH("gfx1100")},
			  half = {DEVICE("gfx942"), .v = {{"lib/x.so#1", "gfx942", GFX942}}},
			  none = {DEVICE("gfx942"), .v = {{"lib/y.so#0", "gfx942", GFX942}}};
	host.manifest = MANIFEST(",\"absent\":[\"0 gfx942\"]");
	SET("", NULL, host, gfx1100, half);
	SET("kpack-index-missing kpack-unwanted", ": #1", host, gfx1100, none);
	host.manifest = MANIFEST(",\"absent\":[\"* gfx942\"]");
	SET("kpack-unwanted", NULL, host, gfx1100, none);
	host.manifest = MANIFEST("");
	SET("kpack-index-missing kpack-unwanted", ": #0, #1", host, gfx1100, none);
}

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	const struct made host = {.project = "torch", .numbers = "01"},
			  gfx1100 = {DEVICE("gfx1100"), .v = BOTH("gfx1100")};
	SET("kpack-duplicate",
		"'torch/.kpack/torch_gfx1100.kpack' has code that "
		"'torch/.kpack/torch_gfx1100.kpack' of "
		"'amd_torch_device_gfx1100-1.0-py3-none-linux_x86_64.whl' has too, such as "
		"lib/x.so#0 for gfx1100",
		host, gfx1100,
		{.project = "more_torch_device_x",
			.at = ARCHIVE("gfx1100"),
			.v = {{"lib/x.so#0", "gfx1100", 0}}});
	SET("kpack-duplicate", "lib/x.so#1 for gfx1100", host,
		{DEVICE("gfx1100"),
			.v = {{"lib/x.so#0", "gfx1100", 0}, {"lib/x.so#1", "gfx1100", 0},
				{"lib/x.so#1", "gfx1100", 0}}});
	SET("kpack-duplicate",
		"torch/lib/y.so: it goes by the name 'lib/x.so' in archives, as '" LIBRARY "'",
		{.project = "torch", .numbers = "01", .second = "lib/x.so"}, gfx1100);
	SET("kpack-unwanted", "has code for gfx1100 as lib/x.so#2, but no wrapper of that library",
		host,
		{DEVICE("gfx1100"),
			.v = {{"lib/x.so#0", "gfx1100", 0}, {"lib/x.so#1", "gfx1100", 0},
				{"lib/x.so#2", "gfx1100", 0}}});
	SET("kpack-place", LIBRARY ": the runtime does not look into 'torch/torch_gfx1100.kpack'",
		host,
		{.project = "amd_torch_device_gfx1100",
			.at = "torch/torch_gfx1100.kpack",
			.v = BOTH("gfx1100")});
	/* said of the archive, with library, number and GPU */
	SET("device-broken", "(lib/x.so#1) lists 'gfx1100', but the object there is for 'gfx942'",
		{DEVICE("gfx1100"),
			.v = {{"lib/x.so#0", "gfx1100", 0}, {"lib/x.so#1", "gfx1100", GFX942}}},
		host);
	SET("device-broken", "the object for 'gfx1100' in bundle 0 (lib/x.so#0) cannot be read",
		{DEVICE("gfx1100"),
			.v = {{"lib/x.so#0", "gfx1100", NO_OBJECT}, {"lib/x.so#1", "gfx1100", 0}}},
		host);
}

/* Variants stand for their processor, and may be in its archive; a generic target's code serves what it covers. */
static void targets_count_as_runtimes_do_it(void **state)
{
	(void)state;
	ARENA(a);
	struct str text;
	struct strs served;
	const struct made host = {.project = "torch", .numbers = "01"};
	enum { GFX90A = 0x3f, XNACK_OFF = 0x200, XNACK_ON = 0x300, SRAMECC_ANY = 0x400 };
	const struct made xnack = {DEVICE("gfx90a"),
		.v = {{"lib/x.so#0", "gfx90a:xnack-", GFX90A | XNACK_OFF | SRAMECC_ANY},
			{"lib/x.so#0", "gfx90a:xnack+", GFX90A | XNACK_ON | SRAMECC_ANY},
			{"lib/x.so#1", "gfx90a", GFX90A | 0x100 | SRAMECC_ANY}}};
	SET("", NULL, host, xnack);
	struct target want[] = {target_read(S("gfx1100")), target_read(S("gfx942"))};
	struct verify_options o = {.require = {.v = want, .n = 2}};
	const struct made set[] = {host, {DEVICE("gfx1100"), .v = BOTH("gfx1100")}, {0}};
	assert_str(look(&a, set, o, &text, &served), "device-target-missing");
	assert_str(text, LIBRARY ": 2 of 2 numbers of 'lib/x.so' have no code for gfx942");
	assert_str(str_join(&a, &served, S(" ")), "gfx1100");
	assert_str(look(&a, (const struct made[]){host, {0}}, o, &text, &served), "device-none");
	/* a GPU is served if both archives and the host wheel's own code serve it */
	struct made fat[] = {host, {DEVICE("gfx1100"), .v = BOTH("gfx1100")},
		{DEVICE("gfx942"), .v = BOTH942}, {0}};
	(void)look(&a, fat, (struct verify_options){0}, &text, &served);
	assert_str(str_join(&a, &served, S(" ")), "gfx942 gfx1100");
	fat[0].fat = true;
	(void)look(&a, fat, (struct verify_options){0}, &text, &served);
	assert_str(str_join(&a, &served, S(" ")), "gfx1100");
	assert_str(look(&a, set + 1, o, &text, &served), "(kpack-unpaired)");
	o.require.n = 1;
	assert_str(look(&a, set, o, &text, &served), "");
}

/* ROCm 7.14 looks for a device's code in the archive of the most specific target only: an empty one for a variant broke
 * every MI200. */
static void a_variants_archive_hides_nothing(void **state)
{
	(void)state;
	enum { GFX90A = 0x53f, XNACK_ON = 0x73f };
	const struct made host = {.project = "torch", .numbers = "01"};
#define FULL                                                                                       \
	DEVICE("gfx90a"), .archs = "gfx90a",                                                       \
			  .v = { {"lib/x.so#0", "gfx90a", GFX90A},                                 \
				  {"lib/x.so#1", "gfx90a", GFX90A} }
	SET("", NULL, host, {FULL});
	SET("kpack-shadow",
		"it is for gfx90a:xnack+ and lacks 2 of 2 numbers of 'lib/x.so', which the archive "
		"for "
		"gfx90a has",
		{FULL, .other = {ARCHIVE("gfx90a:xnack+"), "gfx90a:xnack+", {{0}}}}, host);
	SET("kpack-shadow", "it is for gfx90a:xnack-",
		{FULL, .other = {ARCHIVE("gfx90a:xnack-"), "gfx90a:xnack- gfx90a:xnack+", {{0}}}},
		host);
	SET("kpack-shadow", "it is for gfx90a:sramecc+:xnack-",
		{FULL, .other = {ARCHIVE("gfx90a:sramecc+:xnack-"), "gfx90a:sramecc+:xnack-",
			       {{0}}}},
		host);
	/* half of the code is as bad, but newer runtimes go on */
	SET("kpack-shadow", "lacks 1 of 2 numbers",
		{FULL, .other = {ARCHIVE("gfx90a:xnack+"), "gfx90a:xnack+",
			       .v = {{"lib/x.so#1", "gfx90a:xnack+", XNACK_ON}}}},
		host);
	SET("", NULL,
		{FULL, .other = {ARCHIVE("gfx90a:xnack+"), "gfx90a:xnack+",
			       .v = {{"lib/x.so#0", "gfx90a:xnack+", XNACK_ON},
				       {"lib/x.so#1", "gfx90a:xnack+", XNACK_ON}}}},
		host);
	/* where nobody looks, or for another GPU, it hides nothing */
	SET("kpack-empty", "it has no code, and says that it is for gfx90a:xnack+",
		{FULL, .other = {"torch/gfx90a:xnack+.kpack", "gfx90a:xnack+", {{0}}}}, host);
	SET("kpack-empty", "it has no code, and says that it is for gfx942:xnack+",
		{FULL, .other = {ARCHIVE("gfx942:xnack+"), "gfx942:xnack+", {{0}}}}, host);
	SET("kpack-empty", "it has no code",
		{FULL, .other = {ARCHIVE("gfx90a:xnack+"), NULL, {{0}}}}, host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_that_are_whole_pass),
		cmocka_unit_test(what_is_not_there_is_named),
		cmocka_unit_test(what_never_was_there_is_not_missed),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(targets_count_as_runtimes_do_it),
		cmocka_unit_test(a_variants_archive_hides_nothing),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("verify_kpack");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
