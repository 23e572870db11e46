/* Wheels without the folders of the machine that built them; Python's zipfile, csv and hashlib are the
 * judges of what comes out. */
#include "fixture_wheel.h"
#include "unit/kit.h"

#include "base/proc.h"
#include "wheel/wheel.h"

static struct wheel_relocation relocate(struct fixture *f, struct str from, const char *to)
{
	struct wheel_relocation r = {
		.from = from, .to = at(f, to), .scratch = at(f, "scratch"), .jobs = 1};
	assert_ok(fs_remove_tree(r.scratch));
	assert_ok(fs_mkdirs(r.scratch));
	strs_add(&f->a, &r.gone, S("/b"));
	strs_add(&f->a, &r.gone, S("/home/u/sdk"));
	assert_ok(wheel_relocate(&f->a, &r));
	return r;
}

static struct str lib(struct fixture *f, const char *needed, const char *runpath)
{
	return fx_elf(&f->a, (struct fx_library){.needed = {needed}, .runpath = runpath});
}

static struct str path_in(const struct wheel_relocation *r, const char *file)
{
	VEC_EACH (const struct wheel_path, p, &r->changed)
		if (str_eq(p->file, str_from(file)))
			return p->path;
	return S("unchanged");
}

static void judge(struct fixture *f, struct str wheel)
{
	static const char script[] =
		"import base64, csv, hashlib, io, sys, zipfile\n"
		"z = zipfile.ZipFile(sys.argv[1])\n"
		"assert z.testzip() is None\n"
		"record = [n for n in z.namelist() if n.endswith('/RECORD')][0]\n"
		"assert z.namelist()[-1] == record\n"
		"rows = list(csv.reader(io.StringIO(z.read(record).decode())))\n"
		"assert [r[0] for r in rows] == z.namelist()\n"
		"for name, digest, size in rows[:-1]:\n"
		"    data = z.read(name)\n"
		"    want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=')\n"
		"    assert digest == 'sha256=' + want.decode() and int(size) == len(data), name\n"
		"    assert b'/b/' not in data, name\n"
		"assert rows[-1][1:] == ['', '']\n";
	struct proc p = {0};
	struct proc_result r;
	proc_arg(&f->a, &p, "python3", "-c", script, str_z(&f->a, wheel), NULL);
	assert_ok(proc_check(&f->a, &p, &r));
}

static void folders_of_the_build_are_taken_out(void **state)
{
	struct fixture *f = *state;
	struct str from = fx_write(&f->a, f->dir,
		(struct fx_wheel){
			.files = {
				{"p/_C.so", lib(f, "libown.so",
						    "/b/tree/lib:/opt/rocm/lib:/b/rocm/lib")},
				{"p/a.py", S("a = 1\n")},
				{"p/empty.py", S("")},
				{"p/lib/libown.so",
					lib(f, "libamdhip64.so.6", "/b/rocm/lib:/home/u/sdk/")},
				{"p/lib/sub/libz.so",
					lib(f, "libown.so", "$ORIGIN:/usr/lib/rocm::/bb")},
			}});
	struct wheel_relocation r = relocate(f, from, "one.whl");
	assert_int_equal(r.changed.n, 3);
	assert_int_equal(r.kept.n, 0);
	assert_str(path_in(&r, "p/_C.so"), "/opt/rocm/lib:$ORIGIN/lib");
	assert_str(path_in(&r, "p/lib/libown.so"), "");
	assert_str(path_in(&r, "p/lib/sub/libz.so"), "$ORIGIN:/usr/lib/rocm:/bb:$ORIGIN/..");
	judge(f, r.to);
	struct str one, two;
	assert_ok(fs_read(&f->a, r.to, 1 << 20, &one));
	assert_ok(fs_read(&f->a, relocate(f, from, "two.whl").to, 1 << 20, &two));
	assert_true(str_eq(one, two));
	assert_int_equal(relocate(f, r.to, "three.whl").changed.n, 0); /* nothing is left to do */
}

/* Projects copy CUDA's runtime into their wheels; here that is HIP's, which what is linked finds in ROCm. */
static void copies_under_names_of_cuda_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct str hip = lib(f, "libc.so.6", NULL), other = lib(f, "libm.so.6", NULL);
	struct str from = fx_write(&f->a, f->dir,
		(struct fx_wheel){.files = {
					  {"p/_C.so", lib(f, "libamdhip64.so.6", "$ORIGIN/.libs")},
					  {"p/.libs/libcudart.so.12", hip},
					  {"p/.libs/libcufft.so.11", other},
					  {"p/libmine.so", hip},
				  }});
	struct wheel_relocation r = {
		.from = from, .to = at(f, "to.whl"), .scratch = at(f, "scratch"), .jobs = 1};
	const char *const names[] = {"libcudart.so", "libcufft.so"};
	struct zip z;
	assert_ok(fs_mkdirs(r.scratch));
	assert_ok(fs_write(at(f, "libamdhip64.so"), hip, 0644));
	for (size_t i = 0; i < 2; i++)
		*VEC_PUSH(&f->a, &r.copies) =
			(struct wheel_copy){str_from(names[i]), at(f, "libamdhip64.so")};
	assert_ok(wheel_relocate(&f->a, &r));
	assert_str(str_join(&f->a, &r.left_out, S(" ")), "p/.libs/libcudart.so.12");
	assert_ok(zip_open(&f->a, r.to, NULL, &z));
	assert_null(zip_find(&z, S("p/.libs/libcudart.so.12")));
	assert_non_null(zip_find(&z, S("p/.libs/libcufft.so.11")));
	assert_non_null(zip_find(&z, S("p/libmine.so")));
	zip_close(&z);
	judge(f, r.to);
}

/* meson-python 0.22 leaves a module with an empty path beside the library that it needs. */
static void what_no_path_leads_to_is_found_by_origin(void **state)
{
	struct fixture *f = *state;
	struct str from = fx_write(&f->a, f->dir,
		(struct fx_wheel){.files = {
					  {"p/_C.so", lib(f, "libown.so", "")},
					  {"p/_D.so", lib(f, "libown.so", NULL)},
					  {"p/_E.so", lib(f, "libown.so", "/opt/rocm/lib")},
					  {"p/_F.so", lib(f, "libtwice.so", NULL)},
					  {"p/lib/libown.so", lib(f, "libc.so.6", NULL)},
					  {"p/a/libtwice.so", lib(f, "libc.so.6", NULL)},
					  {"p/b/libtwice.so", lib(f, "libc.so.6", NULL)},
				  }});
	struct wheel_relocation r = relocate(f, from, "one.whl");
	assert_int_equal(r.changed.n, 3);
	assert_str(path_in(&r, "p/_C.so"), "$ORIGIN/lib");
	assert_str(path_in(&r, "p/_D.so"), "$ORIGIN/lib");
	assert_str(path_in(&r, "p/_E.so"), "/opt/rocm/lib:$ORIGIN/lib");
	judge(f, r.to);
	/* RPATH counts for the libraries that are loaded through it as well, unless these have a RUNPATH */
	struct str rpath =
		fx_elf(&f->a, (struct fx_library){.needed = {"libown.so"}, .rpath = "$ORIGIN/lib"});
	from = fx_write(&f->a, f->dir,
		(struct fx_wheel){.files = {
					  {"p/_C.so", rpath},
					  {"p/lib/libown.so", lib(f, "libmore.so", NULL)},
					  {"p/lib/libmore.so", lib(f, "libc.so.6", NULL)},
				  }});
	assert_int_equal(relocate(f, from, "two.whl").changed.n, 0);
}

static void what_is_clean_stays_as_it_is(void **state)
{
	struct fixture *f = *state;
	struct str from = fx_write(&f->a, f->dir,
		(struct fx_wheel){
			.files = {
				{"p/_C.so", lib(f, "libown.so", "$ORIGIN/../lib")},
				{"p/b.so",
					S("\177ELF no library at all, but long enough to look like "
					  "one to whoever looks at its head alone")},
			}});
	struct wheel_relocation r = relocate(f, from, "one.whl");
	assert_int_equal(r.changed.n, 0);
	assert_false(fs_exists(r.to));
}

/* Files of NAME.data are installed elsewhere: from there $ORIGIN leads to another place. */
static void what_is_installed_elsewhere_gets_no_origin(void **state)
{
	struct fixture *f = *state;
	struct str from = fx_write(&f->a, f->dir,
		(struct fx_wheel){.files = {
					  {"demo-1.0.data/platlib/p/_C.so",
						  lib(f, "libown.so", "/b/tree/longer")},
					  {"p/libown.so", lib(f, NULL, NULL)},
				  }});
	struct wheel_relocation r = relocate(f, from, "one.whl");
	assert_int_equal(r.changed.n, 1);
	assert_str(r.changed.v[0].path, "");
	judge(f, r.to);
}

static void programs_stay_programs(void **state)
{
	struct fixture *f = *state;
	struct zip z;
	struct str record = S("demo-1.0.dist-info/RECORD");
	const struct zip_input v[] = {
		{.name = S("bin/tool"), .content = lib(f, NULL, "/b/lib"), .mode = 0755},
		{.name = S("p/x.txt"), .content = S("x"), .mode = 0644},
		{.name = record, .content = S(""), .mode = 0644}};
	struct zip_writer w = {.path = at(f, "in.whl"), .v = v, .n = 3};
	assert_ok(zip_write(&f->a, &w, NULL));
	struct wheel_relocation r = relocate(f, w.path, "out.whl");
	assert_int_equal(r.changed.n, 1);
	assert_ok(zip_open(&f->a, r.to, NULL, &z));
	assert_int_equal(zip_find(&z, S("bin/tool"))->mode & 0777, 0755);
	assert_int_equal(zip_find(&z, S("p/x.txt"))->mode & 0777, 0644);
	zip_close(&z);
	judge(f, r.to);
}

static void without_a_record_it_is_no_wheel(void **state)
{
	struct fixture *f = *state;
	struct str from = fx_write(&f->a, f->dir, (struct fx_wheel){.record = ""});
	struct wheel_relocation r = {.from = from, .to = S("x"), .scratch = f->dir};
	assert_err(wheel_relocate(&f->a, &r), E_WHEEL);
}

#define HEAD "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
#define ROCM "rocm[libraries,device-gfx1201]==10.1.*"

/* METADATA of the result; "" if the wheel stays as it is. */
static struct str required(
	struct fixture *f, const char *needed, const char *own, const char *metadata)
{
	struct zip z;
	struct str text = {0};
	struct str from = fx_write(&f->a, f->dir,
		(struct fx_wheel){.metadata = metadata,
			.files = {{"p/_C.so", lib(f, needed, "/usr/lib:$ORIGIN/lib")},
				{own, lib(f, "libc.so.6", "/usr/lib")}}});
	struct wheel_relocation r = {.from = from,
		.to = at(f, "to.whl"),
		.scratch = at(f, "scratch"),
		.requires = S(ROCM),
		.jobs = 1};
	assert_ok(fs_remove_tree(r.scratch));
	assert_ok(fs_mkdirs(r.scratch));
	assert_ok(fs_remove(r.to));
	assert_ok(wheel_relocate(&f->a, &r));
	assert_int_equal(fs_exists(r.to), r.requires.n > 0);
	if (!r.requires.n)
		return S("");
	judge(f, r.to);
	assert_ok(zip_open(&f->a, r.to, NULL, &z));
	assert_ok(zip_read(
		&f->a, &z, zip_find(&z, S("demo-1.0.dist-info/METADATA")), 1 << 20, &text));
	zip_close(&z);
	return text;
}

static void libraries_of_rocm_are_required_once(void **state)
{
	struct fixture *f = *state;
	const char *hip = "libamdhip64.so.7";
	assert_str(required(f, hip, NULL, NULL), HEAD "Requires-Dist: " ROCM "\n");
	assert_str(required(f, hip, NULL, HEAD "Requires-Dist: numpy\n\nRequires-Dist: torch\n"),
		HEAD "Requires-Dist: numpy\nRequires-Dist: " ROCM "\n\nRequires-Dist: torch\n");
	/* torch brings them; so does what the project requires itself; so does the wheel */
	assert_str(required(f, hip, NULL, HEAD "Requires-Dist: Torch >=2.8\n"), "");
	assert_str(required(f, hip, NULL, HEAD "Requires-Dist: rocm[libraries]\n"), "");
	assert_str(required(f, hip, "p/lib/libamdhip64.so.7", NULL), "");
	assert_str(required(f, "libtorch_hip.so", NULL, NULL), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			folders_of_the_build_are_taken_out, setup, teardown),
		cmocka_unit_test_setup_teardown(
			copies_under_names_of_cuda_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_no_path_leads_to_is_found_by_origin, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_clean_stays_as_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_installed_elsewhere_gets_no_origin, setup, teardown),
		cmocka_unit_test_setup_teardown(programs_stay_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(
			libraries_of_rocm_are_required_once, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_record_it_is_no_wheel, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
