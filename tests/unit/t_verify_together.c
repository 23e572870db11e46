/* Libraries of wheels that are given together: parts of a wheel that was split, packages that load each other's libraries,
 * and extensions with the torch that they will be loaded with. */
#include "fixture_verify.h"

#include <unistd.h>

struct member {
	const char *name;
	struct fx_library l;
};

struct given { /* a wheel: its file's name, more METADATA, a part's role and key, its libraries */
	const char *file, *more, *role, *key;
	struct member v[5];
	unsigned gpu; /* e_flags of a kernel in k.hipfb; 0: none */
};

static struct str put_wheel(struct arena *a, struct str dir, const struct given *g)
{
	struct strs parts = str_split(a, str_from(g->file), '-');
	struct str stem = str_fmt(a, "%.*s-%.*s", STR(parts.v[0]), STR(parts.v[1]));
	struct fx_wheel w = {.file = g->file};
	size_t n = 0;
	w.info = str_fmt(a, "%.*s.dist-info", STR(stem)).p;
	w.metadata = str_fmt(a, "Metadata-Version: 2.1\nName: %.*s\nVersion: %.*s\n%s",
		STR(str_replace(a, parts.v[0], S("_"), S("-"))), STR(parts.v[1]),
		g->more ? g->more : "")
			     .p;
	for (; g->v[n].name; n++)
		w.files[n] = (struct fx_file){g->v[n].name, fx_elf(a, g->v[n].l)};
	const struct fx_object code = {.flags = g->gpu, .kernels = 1};
	struct str id =
		str_fmt(a, "hipv4-amdgcn-amd-amdhsa--%s", g->gpu == 0x41 ? "gfx1100" : "gfx1030");
	const struct fx_entry e = {.id = id.p, .bytes = fx_code_object(a, code)};
	if (g->gpu)
		w.files[n++] = (struct fx_file){"demo/k.hipfb", fx_bundle(a, &e, 1, 4096)};
	if (g->role)
		w.files[n++] = (struct fx_file){str_fmt(a, "%s/rocsmith-split.json", w.info).p,
			str_fmt(a,
				"{\"schema\":\"rocsmith.split-part/"
				"1\",\"wheel\":\"w\",\"set\":\"s\","
				"\"format\":\"plain\",\"role\":\"%s\",\"key\":\"%s\",\"keys\":[],"
				"\"headers\":\"\",\"members\":[{\"path\":\"demo/libk.so\","
				"\"encoding\":\"raw\"}]}",
				g->role, g->key ? g->key : "")};
	return fx_write(a, dir, w);
}

/* The ids of all wheels, and those of tags left out; *ret_text: all messages. */
static struct str look(
	struct arena *a, const struct given v[6], struct verify_options o, struct str *ret_text)
{
	struct str dir = test_dir(a);
	struct strs paths = {0}, list = {0}, texts = {0};
	struct verdicts all = {0};
	o.jobs = 1;
	for (size_t i = 0; i < 6 && v[i].file; i++)
		strs_add(a, &paths, put_wheel(a, dir, &v[i]));
	assert_ok(verify_wheels(a, &paths, &o, &all));
	VEC_EACH (const struct verdict, it, &all.wheels) {
		struct str some = str_replace(a, ids(a, it), S("(tag-no-machine-code)"), S(""));
		VEC_EACH (const struct finding, f, &it->findings)
			strs_add(a, &texts, f->message);
		if (str_trim(some).n)
			strs_add(a, &list,
				str_fmt(a, "%.*s: %.*s", STR(it->project), STR(str_trim(some))));
	}
	*ret_text = str_join(a, &texts, S("\n"));
	test_dir_remove(dir);
	return str_join(a, &list, S("; "));
}

static void check(
	const char *want, const char *says, struct verify_options o, const struct given v[6])
{
	ARENA(a);
	struct str text, got = look(&a, v, o, &text);
	assert_str(got, want);
	if (says && !str_contains(text, str_from(says)))
		fail_msg("'%s' is not in '%.*s'", says, STR(text));
}

#define SET(want, says, ...)                                                                       \
	check(want, says, (struct verify_options){0}, (const struct given[6]){__VA_ARGS__})
#define END "-1.0-cp311-cp311-linux_x86_64.whl"
#define HERE .runpath = "$ORIGIN"
#define K(more)                                                                                    \
	{                                                                                          \
		"demo/libk.so",                                                                    \
		{                                                                                  \
			.soname = "libk.so", .needed = {"libhost.so", more}, HERE                  \
		}                                                                                  \
	}
#define PART(gpu) "amd_demo_device_" gpu END, "Requires-Dist: demo==1.0\n", "device", gpu

static const struct given host = {"demo" END, NULL, "host", "",
	{{"demo/_C.so", {.needed = {"libk.so"}, HERE}},
		{"demo/libhost.so", {.soname = "libhost.so"}}},
	0};

static void parts_of_a_set_find_each_other(void **state)
{
	(void)state;
	const struct given one = {PART("gfx1100"), {K(NULL)}, 0x41},
			   two = {PART("gfx1030"), {K(NULL)}, 0x36};
	SET("", NULL, host, one, two);
	SET("", NULL, two, one, host);
	/* one half alone says that it is one, and not what may be in the other */
	SET("demo: (kpack-unpaired)", "in device wheels, and none was given", host);
	SET("amd_demo_device_gfx1100: (kpack-unpaired)", "the host wheel of this device wheel",
		one);
	/* what neither has is missing */
	SET("amd_demo_device_gfx1100: needed-missing", "libgone.so", host,
		{PART("gfx1100"), {K("libgone.so")}, 0x41});
	/* one device wheel is installed, so each must have all */
	SET("amd_demo_device_gfx1030: needed-missing",
		"lacks 'libk.so', which 'demo/_C.so' of its host wheel needs and "
		"'amd_demo_device_gfx1100-1.0-",
		host, one,
		{PART("gfx1030"), {{"demo/libother.so", {.soname = "libother.so"}}}, 0x36});
	/* a device wheel does not find what only another one has */
	SET("amd_demo_device_gfx1030: needed-missing", "needs 'libx.so'", host,
		{PART("gfx1100"), {K(NULL), {"demo/libx.so", {.soname = "libx.so"}}}, 0x41},
		{PART("gfx1030"), {K("libx.so")}, 0x36});
}

static void a_set_serves_what_one_part_serves(void **state)
{
	(void)state;
	struct target want[] = {target_read(S("gfx1100")), target_read(S("gfx1030"))};
	struct verify_options o = {.require = {.v = want, .n = 2}};
	const struct given one = {PART("gfx1100"), {K(NULL)}, 0x41},
			   two = {PART("gfx1030"), {K(NULL)}, 0x36};
	check("", NULL, o, (const struct given[6]){host, one, two});
	check("demo: device-target-missing",
		"none of the device wheels given has all code for gfx1030", o,
		(const struct given[6]){host, one});
	check("demo: device-none", NULL, o, (const struct given[6]){host});
	/* a device wheel that lacks the code of its own GPU */
	check("amd_demo_device_gfx1030: device-target-missing; demo: device-target-missing", NULL,
		o, (const struct given[6]){one, {PART("gfx1030"), {K(NULL)}, 0x41}, host});
	/* no wheel says of itself that it need not have what is asked for */
	check("amd_demo_device_gfx1030: (kpack-unpaired) device-target-missing",
		"none of the device wheels given has all code for gfx1100", o,
		(const struct given[6]){two});
	static const char *const roles[] = {"host", "variant", "family", "odd", "", NULL};
	for (const char *const *role = roles; *role; role++)
		check("demo: device-none", "and none was given", o,
			(const struct given[6]){{"demo" END, NULL, *role, "gfx11",
				{{"demo/_C.so", {.soname = "_C.so"}}}, 0}});
	const struct given needs = {"amd_demo_device_gfx1100" END,
		"Requires-Dist: demo==1.0\nRequires-Dist: amd-demo-device-gfx11xx==1.0\n", "device",
		"gfx1100", {K(NULL)}, 0x41};
	const struct given family = {"amd_demo_device_gfx11xx" END, "Requires-Dist: demo==1.0\n",
		"family", "gfx11", {{"demo/libf.so", {.soname = "libf.so"}}}, 0};
	check("", NULL, o, (const struct given[6]){host, needs, two, family});
}

/* Another package is where its files say that it is; that of another Python or version is not there. */
static void packages_find_each_other(void **state)
{
	(void)state;
	const struct given user = {"user" END, "Requires-Dist: lib==1.0\n", NULL, NULL,
				   {{"user/_C.so",
					   {.needed = {"libx.so"}, .runpath = "$ORIGIN/../lib"}}},
				   0},
			   lib = {"lib" END, NULL, NULL, NULL,
				   {{"lib/libx.so", {.soname = "libx.so"}}}, 0};
	SET("user: needed-missing", NULL, user);
	SET("", NULL, user, lib);
	SET("", NULL, user,
		{"lib" END, NULL, NULL, NULL,
			{{"lib-1.0.data/platlib/lib/libx.so", {.soname = "libx.so"}}}, 0});
	SET("user: needed-unreachable", "which is in 'lib-1.0-", user,
		{"lib" END, NULL, NULL, NULL, {{"lib/sub/libx.so", {.soname = "libx.so"}}}, 0});
	SET("user: needed-missing", NULL, user,
		{"lib-1.0-cp312-cp312-linux_x86_64.whl", NULL, NULL, NULL,
			{{"lib/libx.so", {.soname = "libx.so"}}}, 0});
	SET("user: needed-missing set-version", NULL, user,
		{"lib-2.0-cp311-cp311-linux_x86_64.whl", NULL, NULL, NULL,
			{{"lib/libx.so", {.soname = "libx.so"}}}, 0});
}

#define STREAM_V1 "_ZN3c103hip19getCurrentHIPStreamEa"
#define STREAM_V2 "_ZN3c104cuda20getCurrentCUDAStreamEa"
#define TORCH(version, symbol)                                                                     \
	{                                                                                          \
		"torch-" version "-cp311-cp311-linux_x86_64.whl", NULL, NULL, NULL,                \
			{{"torch/lib/libc10_hip.so",                                               \
				{.soname = "libc10_hip.so", .defined = symbol}}},                  \
			0                                                                          \
	}
#define EXT(requires, symbol)                                                                      \
	{                                                                                          \
		"ext" END, requires, NULL, NULL,                                                   \
			{{"ext/_C.so", {.needed = {"libc10_hip.so"}, .undefined = symbol}}}, 0     \
	}
#define LOST "ext: (needed-package) torch-symbol"
#define FINE "ext: (needed-package)"

static void extensions_find_the_symbols_of_their_torch(void **state)
{
	(void)state;
	SET(FINE, NULL, EXT("Requires-Dist: torch\n", STREAM_V1), TORCH("2.10.0", STREAM_V1));
	SET(LOST,
		"needs 1 symbol that torch 2.11.0 (torch-2.11.0-cp311-cp311-linux_x86_64.whl) does "
		"not "
		"export: " STREAM_V1 "; ROCm builds since torch 2.11 have c10::cuda",
		EXT("Requires-Dist: torch\n", STREAM_V1), TORCH("2.11.0", STREAM_V2));
	SET(LOST, NULL, EXT(NULL, STREAM_V2), TORCH("2.10.0", STREAM_V1));
	SET(LOST, "does not export: _ZNK2at6Tensor4gone", EXT(NULL, "_ZNK2at6Tensor4goneEv"),
		TORCH("2.11.0", STREAM_V2));
	/* other names are for others to define, and a torch of which nothing is known proves nothing */
	SET(FINE, NULL, EXT(NULL, "_ZN6python4goneEv"), TORCH("2.11.0", STREAM_V2));
	SET(FINE, NULL, EXT(NULL, "_ZN3c104goneEv"), TORCH("2.11.0", NULL));
	/* without a torch: the versions that METADATA accepts */
	SET(LOST, "any torch that it may be installed with",
		EXT("Requires-Dist: torch==2.11.0\n", STREAM_V1));
	SET(LOST, NULL, EXT("Requires-Dist: torch==2.14.1+rocm7.14\n", STREAM_V1));
	SET(LOST, NULL, EXT("Requires-Dist: torch>=2.11,<3\n", STREAM_V1));
	SET(LOST, NULL, EXT("Requires-Dist: torch~=2.12\n", STREAM_V1));
	SET(LOST, NULL, EXT("Requires-Dist: torch==2.10.*\n", STREAM_V2));
	SET(LOST, NULL, EXT("Requires-Dist: torch<2.11\n", STREAM_V2));
	SET(LOST, NULL, EXT("Requires-Dist: torch~=2.9.1\n", STREAM_V2));
	SET(FINE, NULL, EXT("Requires-Dist: torch==2.10.0+rocm7.1\n", STREAM_V1));
	SET(FINE, NULL, EXT("Requires-Dist: torch>=2.9\n", STREAM_V1));
	SET(FINE, NULL, EXT("Requires-Dist: torch!=2.11\n", STREAM_V1));
	SET(FINE, NULL, EXT("Requires-Dist: torch~=2.9\n", STREAM_V2));
	SET(FINE, NULL, EXT("Requires-Dist: torch<2.11.1\n", STREAM_V2));
	SET(FINE, NULL, EXT("Requires-Dist: torch==2.11.0\n", STREAM_V2));
	SET(FINE, NULL, EXT("Requires-Dist: torchvision==2.11.0\n", STREAM_V1));
	/* that of another version is not the one that it gets */
	SET("ext: (needed-package) set-version torch-symbol", NULL,
		EXT("Requires-Dist: torch==2.11.0\n", STREAM_V1), TORCH("2.10.0", STREAM_V1));
}

static void put_elf(struct arena *a, struct str path, struct fx_library l)
{
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path, fx_elf(a, l), 0644));
}

/* A torch that is installed, wherever one points at; links out of it, and what is no file, are not opened. */
static void an_installed_torch_is_read(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), venv = path_join(&a, dir, S("venv")),
		   site = path_join(&a, venv, S("lib/python3.11/site-packages")),
		   lib = path_join(&a, site, S("torch/lib")), text;
	const struct given ext[6] = {EXT(NULL, STREAM_V1)};
	put_elf(&a, path_join(&a, lib, S("libc10_hip.so")),
		(struct fx_library){.defined = STREAM_V2});
	assert_ok(fs_mkdirs(path_join(&a, site, S("torch-2.11.0+rocm7.2.dist-info"))));
	assert_ok(fs_symlink(S("/dev/zero"), path_join(&a, lib, S("libtorch.so"))));
	assert_int_equal(mkfifo(path_join(&a, lib, S("fifo")).p, 0600), 0);
	struct str places[] = {venv, site, path_join(&a, site, S("torch"))};
	for (size_t i = 0; i < 3; i++) {
		struct verify_options o = {.torch = places[i]};
		assert_str(look(&a, ext, o, &text), LOST);
		assert_true(str_contains(text, S("torch 2.11.0+rocm7.2 (")));
	}
	/* what it has behind a link does not count */
	put_elf(&a, path_join(&a, dir, S("out/libc10.so")),
		(struct fx_library){.defined = STREAM_V1});
	assert_ok(fs_symlink(
		S("../../../../../../out/libc10.so"), path_join(&a, lib, S("libc10.so"))));
	struct verify_options o = {.torch = venv};
	assert_str(look(&a, ext, o, &text), LOST);
	put_elf(&a, path_join(&a, lib, S("libtorch_hip.so")),
		(struct fx_library){.defined = STREAM_V1});
	assert_str(look(&a, ext, o, &text), FINE);
	struct verdicts all = {0};
	struct strs paths = {0};
	strs_add(&a, &paths, put_wheel(&a, dir, ext));
	o.torch = dir;
	assert_err(verify_wheels(&a, &paths, &o, &all), E_NOENT);
	o.torch = paths.v[0];
	all = (struct verdicts){0};
	assert_err_says(verify_wheels(&a, &paths, &o, &all), E_USAGE, "is no torch");
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_set_find_each_other),
		cmocka_unit_test(a_set_serves_what_one_part_serves),
		cmocka_unit_test(packages_find_each_other),
		cmocka_unit_test(extensions_find_the_symbols_of_their_torch),
		cmocka_unit_test(an_installed_torch_is_read),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("verify_together");
	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
