/* Device links: which inputs have relocatable code, which symbols the host object defines, which passes there are. */
#include "unit/kit.h"

#include "base/fs.h"
#include "cc/cc_int.h"

/* A file with the strings of clang's objects: NUL-terminated names, as in a table of strings. */
#define OBJECT(names) "\177ELF__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx90a\0" names "\0"
#define PUT(f, name, text) put_bytes(f, name, S(text))

static void put_bytes(struct fixture *f, const char *name, struct str text)
{
	assert_ok(fs_mkdirs(path_dir(at(f, name))));
	assert_ok(fs_write(at(f, name), text, 0644));
}

static struct nvcc read_line(struct fixture *f, const char *line)
{
	struct strs args = str_split(&f->a, str_from(line), ' ');
	struct nvcc call;
	assert_ok(nvcc_read(&f->a, &args, &call));
	return call;
}

static struct strs gpus(struct fixture *f)
{
	return str_split(&f->a, S("gfx90a gfx1201"), ' ');
}

static struct str host_text(struct fixture *f)
{
	struct str text;
	assert_ok(fs_read(&f->a, at(f, "out.o.passes/host.s"), 1 << 16, &text));
	return text;
}

static void the_code_of_objects_and_archives_is_linked_once(void **state)
{
	struct fixture *f = *state;
	struct compile_passes passes;
	PUT(f, "a.o", OBJECT("__hip_fatbin_12ab\0__hip_gpubin_handle_12ab\0__hip_fatbin_wrapper"));
	PUT(f, "plain.o", "\177ELF__hip_fatbin_77\0");
	PUT(f, "lib/libb.a", OBJECT("__hip_fatbin_34cd\0__hip_fatbin_12ab\0my__hip_fatbin_9"));
	struct nvcc call =
		read_line(f, str_z(&f->a, str_fmt(&f->a,
						  "-dlink -O2 -Xcompiler=-fPIC %.*s %.*s -L%.*s "
						  "-lb -lnone -lb -o %.*s",
						  STR(at(f, "a.o")), STR(at(f, "plain.o")),
						  STR(at(f, "lib")), STR(at(f, "out.o")))));
	struct strs targets = gpus(f);
	assert_ok(dlink_passes(&f->a, &call, &targets, &passes));
	assert_int_equal(passes.n, 3);
	struct str argv = str_join(&f->a, &passes.v[1].argv, S(" "));
	assert_str(argv, str_z(&f->a, str_fmt(&f->a,
					      "-o %.*s --hip-link -fgpu-rdc --offload-device-only "
					      "--offload-arch=gfx90a "
					      "--offload-arch=gfx1201 -O2 %.*s %.*s %.*s",
					      STR(passes.v[1].out), STR(at(f, "a.o")),
					      STR(at(f, "lib/libb.a")), STR(passes.v[0].output))));
	assert_str(passes.v[2].output, str_z(&f->a, at(f, "out.o")));
	struct str text = host_text(f);
	static const char *const has[] = {"\n__hip_fatbin_12ab:\n", "\n__hip_fatbin_34cd:\n",
		"\n__hip_gpubin_handle_12ab:\n  .zero 8\n", "  .weak __hip_fatbin_34cd\n",
		"  .incbin \"device.hipfb\"\n"};
	static const char *const lacks[] = {"wrapper", "fatbin_77", "fatbin_9"};
	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++)
		assert_true(str_contains(text, str_from(has[i])));
	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		assert_false(str_contains(text, str_from(lacks[i])));
	assert_str(dlink_folder(&f->a, &passes), str_z(&f->a, at(f, "out.o.passes")));
}

static void without_host_code_that_uses_it_no_code_is_linked(void **state)
{
	struct fixture *f = *state;
	struct compile_passes passes;
	bool needed;
	PUT(f, "plain.o", "\177ELF__hip_fatbin_77\0");
	PUT(f, "functions.o", OBJECT("__hip_cuid_1"));
	struct nvcc call =
		read_line(f, str_z(&f->a, str_fmt(&f->a, "-dlink %.*s -o %.*s",
						  STR(at(f, "plain.o")), STR(at(f, "out.o")))));
	struct strs none = {0};
	assert_ok(dlink_passes(&f->a, &call, &none, &passes));
	assert_int_equal(passes.n, 1);
	assert_false(str_contains(host_text(f), S("incbin")));
	assert_ok(dlink_needed(&f->a, &call, &needed));
	assert_false(needed);
	call = read_line(f, str_z(&f->a, str_fmt(&f->a, "%.*s", STR(at(f, "functions.o")))));
	assert_ok(dlink_needed(&f->a, &call, &needed));
	assert_true(needed);
}

static void what_cannot_be_linked_is_refused(void **state)
{
	struct fixture *f = *state;
	struct compile_passes passes;
	struct strs none = {0}, targets = gpus(f);
	PUT(f, "a.o", OBJECT("__hip_fatbin_1"));
	PUT(f, "new.o", "\177ELF.llvm.offloading\0");
	struct nvcc call =
		read_line(f, str_z(&f->a, str_fmt(&f->a, "-dlink %.*s", STR(at(f, "a.o")))));
	assert_err(dlink_passes(&f->a, &call, &none, &passes), E_USAGE);
	call = read_line(f, "-dlink a.cu");
	assert_err(dlink_passes(&f->a, &call, &targets, &passes), E_USAGE);
	call = read_line(f, str_z(&f->a, str_fmt(&f->a, "-dlink %.*s", STR(at(f, "new.o")))));
	assert_err(dlink_passes(&f->a, &call, &targets, &passes), E_LINK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_code_of_objects_and_archives_is_linked_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			without_host_code_that_uses_it_no_code_is_linked, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_linked_is_refused, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
