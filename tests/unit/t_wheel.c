/* Wheel names, tags, dist-info texts and building, with Python's packaging, zipfile, csv and email
 * as judges where it has them. */
#include "fixture_wheel.h"

#include <limits.h>
#include <unistd.h>

#include "base/proc.h"
#include "wheel/archive.h"

static struct str python(struct arena *a, const char *script, struct str arg)
{
	struct proc_result r;
	struct proc p = {0};
	proc_arg(a, &p, "python3", "-c", script, str_z(a, arg), NULL);
	assert_ok(proc_check(a, &p, &r));
	return r.out;
}

/* ---- names ---- */

static void names_are_taken_apart(void **state)
{
	(void)state;
	ARENA(a);
	struct wheel_name n;
	assert_ok(wheel_name_parse(&a,
		S("dist/foo_bar-1.0+rocm7.1-2b-cp311-abi3-"
		  "manylinux_2_17_x86_64.manylinux2014_x86_64.whl"),
		&n));
	assert_str(n.dist, "foo_bar");
	assert_str(n.version, "1.0+rocm7.1");
	assert_str(n.build, "2b");
	assert_str(n.python, "cp311");
	assert_str(n.abi, "abi3");
	assert_str(n.platform, "manylinux_2_17_x86_64.manylinux2014_x86_64");
	assert_str(wheel_name_text(&a, &n), "foo_bar-1.0+rocm7.1-2b-cp311-abi3-"
					    "manylinux_2_17_x86_64.manylinux2014_x86_64.whl");
	struct strs tags = wheel_tags(&a, &n);
	assert_int_equal(tags.n, 2);
	assert_str(tags.v[1], "cp311-abi3-manylinux2014_x86_64");
}

static void wrong_names_say_which_part(void **state)
{
	(void)state;
	static const struct {
		const char *name, *says;
	} cases[] = {
		{.name = "foo-1.0-py3-none-any.zip", .says = ".whl"},
		{.name = "foo-1.0-py3-any.whl", .says = "five or six parts"},
		{.name = "foo-1.0-1-2-py3-none-any.whl", .says = "five or six parts"},
		{.name = "f oo-1.0-py3-none-any.whl", .says = "project name 'f oo'"},
		{.name = "foo__bar-1.0-py3-none-any.whl", .says = "project name"},
		{.name = "-1.0-py3-none-any.whl", .says = "project name"},
		{.name = "foo-1.x-py3-none-any.whl", .says = "version (PEP 440) '1.x'"},
		{.name = "foo-1.0-b1-py3-none-any.whl", .says = "build tag"},
		{.name = "foo-1.0--py3-none-any.whl", .says = "empty build tag"},
		{.name = "foo-1.0-py3-none-.whl", .says = "tag"},
		{.name = "foo-1.0-py3..py2-none-any.whl", .says = "tag 'py3..py2'"},
		{.name = "", .says = ".whl"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct wheel_name n;
		assert_err_says(
			wheel_name_parse(&a, str_from(cases[i].name), &n), E_WHEEL, cases[i].says);
	}
}

static void projects_are_normalised(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(wheel_normalise(&a, S("My.Pkg")), "my_pkg");
	assert_str(wheel_normalise(&a, S("a-_.b")), "a_b");
	assert_str(wheel_normalise(&a, S("plain")), "plain");
}

/* ---- texts ---- */

static void record_is_csv(void **state)
{
	(void)state;
	ARENA(a);
	struct dist_record r;
	BUF(b, &a);
	dist_record_add(&b, S("a,\"b\".py"), S("x-_y"), 12);
	dist_record_add(&b, S("plain.py"), S("z"), 0);
	assert_str(buf_str(&b), "\"a,\"\"b\"\".py\",sha256=x-_y,12\nplain.py,sha256=z,0\n");
	assert_ok(dist_record_parse(&a, buf_str(&b), 1000, &r));
	assert_int_equal(r.n, 2);
	assert_str(r.v[0].path, "a,\"b\".py");
	assert_str(r.v[0].algorithm, "sha256");
	assert_str(r.v[0].hash, "x-_y");
	assert_str(r.v[0].size, "12");
	assert_int_equal(r.v[1].line, 2);
	assert_str(python(&a, "import csv,sys\nprint(*next(csv.reader([sys.argv[1]])),sep='|')",
			   str_sub(buf_str(&b), 0, str_chr(buf_str(&b), '\n'))),
		"a,\"b\".py|sha256=x-_y|12\n");
	assert_ok(dist_record_parse(&a, S("a,,\r\n\r\nb,,"), 1000, &r));
	assert_int_equal(r.n, 2);
	assert_err_says(
		dist_record_parse(&a, S("a,,\nb,\n"), 1000, &r), E_SYNTAX, "line 2: 2 of three");
	assert_err_says(
		dist_record_parse(&a, S("\"a\nb"), 1000, &r), E_SYNTAX, "quote is not closed");
	assert_err_says(
		dist_record_parse(&a, S("\"a\"b,,\n"), 1000, &r), E_SYNTAX, "closing quote");
}

static void headers_are_those_of_email(void **state)
{
	(void)state;
	ARENA(a);
	struct dist_headers h;
	assert_ok(dist_headers_parse(&a,
		S("Name: x\r\nDescription: one\n   two\nTag:a\nTag: b: c\n\nbody: text\n"), &h));
	assert_int_equal(h.n, 4);
	assert_str(dist_header(&h, "name")->value, "x");
	assert_str(dist_header(&h, "description")->value, "one\ntwo");
	assert_str(h.v[3].value, "b: c");
	assert_int_equal(h.v[3].line, 5);
	assert_str(h.body, "body: text\n");
	assert_null(dist_header(&h, "body"));
	assert_err_says(dist_headers_parse(&a, S("Name: x\nno colon\n"), &h), E_SYNTAX, "line 2");
	assert_err_says(dist_headers_parse(&a, S(" indented: x\n"), &h), E_SYNTAX, "line 1");
}

static void requirements_follow_pep_508(void **state)
{
	(void)state;
	static const struct {
		const char *text, *name, *specifier, *marker; /* name NULL: wrong */
	} cases[] = {
		{.text = "torch", .name = "torch"},
		{.text = " A.b-c_9 ", .name = "A.b-c_9"},
		{.text = "torch>=2.1,<3", .name = "torch", .specifier = ">=2.1,<3"},
		{.text = "torch (>=2.1)", .name = "torch", .specifier = ">=2.1"},
		{.text = "x[a, b-c]==1.*", .name = "x", .specifier = "==1.*"},
		{.text = "x[]", .name = "x"},
		{.text = "x @ https://h/p.whl ; os_name=='nt'",
			.name = "x",
			.marker = "os_name=='nt'"},
		{.text = "x; python_version < \"3.9\"",
			.name = "x",
			.marker = "python_version < \"3.9\""},
		{.text = "x;(os_name=='a' or os_name=='b')and extra not in 'c'",
			.name = "x",
			.marker = "(os_name=='a' or os_name=='b')and extra not in 'c'"},
		{.text = ""},
		{.text = "-x"},
		{.text = "x-"},
		{.text = "x>="},
		{.text = "x=1"},
		{.text = "x[a"},
		{.text = "x[a,,b]"},
		{.text = "x (>=1"},
		{.text = "x @ "},
		{.text = "x;"},
		{.text = "x; os_name"},
		{.text = "x; os_name = 'a'"},
		{.text = "x; os_nam == 'a'"},
		{.text = "x; (os_name == 'a'"},
		{.text = "x; os_name == 'a"},
		{.text = "x; os_name == 'a' xor os_name == 'b'"},
		{.text = "x y"},
		{.text = "x!"},
	};
	static const char judge[] =
		"import sys\n"
		"try:\n from packaging.requirements import Requirement\n"
		"except ImportError:\n"
		" try:\n  from pip._vendor.packaging.requirements import Requirement\n"
		" except ImportError:\n  print('none'); sys.exit()\n"
		"try: Requirement(sys.argv[1]); print('right')\n"
		"except Exception: print('wrong')\n";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct requirement r;
		struct str text = str_from(cases[i].text);
		struct err *e = requirement_parse(text, &r);
		if (!e != !!cases[i].name)
			fail_msg("'%s': %s", cases[i].text, e ? e->msg : "not refused");
		if (!e) {
			assert_str(r.name, cases[i].name);
			assert_str(r.specifier, cases[i].specifier ? cases[i].specifier : "");
			assert_str(r.marker, cases[i].marker ? cases[i].marker : "");
		}
		struct str other = python(&a, judge, text);
		if (!str_eq(other, S("none\n")) && !str_eq(other, e ? S("wrong\n") : S("right\n")))
			fail_msg("packaging disagrees about '%s'", cases[i].text);
		err_free(e);
	}
}

/* ---- the platform ---- */

static void platform_is_the_lowest_true_one(void **state)
{
	(void)state;
	static const struct {
		const char *tag, *why;
		struct fx_library l;
	} cases[] = {
		{.tag = "manylinux_2_5_x86_64", .why = "no glibc version is asked for"},
		{.tag = "manylinux_2_5_x86_64",
			.why = "glibc needed is 2.2",
			.l = {.versions = {"GLIBC_2.2.5"}}},
		{.tag = "manylinux_2_14_x86_64",
			.why = "glibc needed is 2.14",
			.l = {.versions = {"GLIBC_2.2.5", "GLIBC_2.14", "GLIBC_2.4"}}},
		{.tag = "manylinux_2_36_x86_64",
			.why = "2.36",
			.l = {.versions = {"GLIBC_ABI_DT_RELR"}}},
		{.tag = "manylinux_2_17_aarch64",
			.why = "2.17",
			.l = {.machine = 183, .versions = {"GLIBC_2.17"}}},
		{.tag = "manylinux_2_31_x86_64",
			.why = "raised by GLIBCXX_3.4.26",
			.l = {.versions_of = "libstdc++.so.6", .versions = {"GLIBCXX_3.4.26"}}},
		{.tag = "manylinux_2_35_x86_64",
			.why = "raised by GCC_12.0.0",
			.l = {.versions_of = "libgcc_s.so.1", .versions = {"GCC_12.0.0"}}},
		{.tag = "linux_x86_64",
			.why = "GLIBCXX_3.4.99",
			.l = {.versions_of = "libstdc++.so.6", .versions = {"GLIBCXX_3.4.99"}}},
		{.tag = "linux_x86_64",
			.why = "GLIBC_PRIVATE",
			.l = {.versions = {"GLIBC_PRIVATE"}}},
		{.tag = "linux_x86_64",
			.why = "libamdhip64.so.6 is not on the PEP 600 list, so no manylinux tag "
			       "would be "
			       "true; the glibc needed is 2.34",
			.l = {.needed = {"libamdhip64.so.6", "libc.so.6"},
				.versions = {"GLIBC_2.34"}}},
		{.tag = "manylinux_2_5_x86_64",
			.why = "no glibc",
			.l = {.needed = {"libz.so.1", "libm.so.6", "ld-linux-x86-64.so.2"}}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		struct str dir = test_dir(&a), path = path_join(&a, dir, S("lib.so"));
		struct strs paths = {0};
		struct wheel_platform p;
		assert_ok(fs_write(path, fx_elf(&a, cases[i].l), 0644));
		strs_add(&a, &paths, path);
		assert_ok(wheel_platform(&a, &paths, &p));
		assert_str(p.tag, cases[i].tag);
		if (!str_contains(p.why, str_from(cases[i].why)))
			fail_msg("%s", p.why.p);
		test_dir_remove(dir);
	}
}

static void libraries_of_the_wheel_are_inside(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct strs paths = {0};
	struct wheel_platform p;
	struct fx_library user = {.needed = {"libx.so.1", "liby.so"}}, x = {.soname = "libx.so.1"};
	const struct {
		const char *name;
		struct str content;
	} files[] = {
		{.name = "user.so", .content = fx_elf(&a, user)},
		{.name = "libx-1.2.so", .content = fx_elf(&a, x)},
		{.name = "liby.so", .content = fx_elf(&a, (struct fx_library){0})},
		{.name = "text.py", .content = S("x = 1\n")},
		{.name = "kernel.co", .content = fx_elf(&a, (struct fx_library){.machine = 224})},
	};
	for (size_t i = 0; i < 5; i++) {
		struct str path = path_join(&a, dir, str_from(files[i].name));
		assert_ok(fs_write(path, files[i].content, 0644));
		strs_add(&a, &paths, path);
	}
	assert_ok(wheel_platform(&a, &paths, &p));
	assert_str(p.tag, "manylinux_2_5_x86_64");
	assert_int_equal(p.outside.n, 0);
	assert_ok(fs_write(paths.v[2], fx_elf(&a, (struct fx_library){.machine = 183}), 0644));
	assert_err_says(wheel_platform(&a, &paths, &p), E_WHEEL, "different processors");
	paths.n = 0;
	strs_add(&a, &paths, path_join(&a, dir, S("text.py")));
	assert_ok(wheel_platform(&a, &paths, &p));
	assert_str(p.tag, "any");
	test_dir_remove(dir);
}

static void tags_promise_a_glibc(void **state)
{
	(void)state;
	struct str arch;
	assert_int_equal(wheel_tag_glibc(S("manylinux1_x86_64"), &arch), 5);
	assert_int_equal(wheel_tag_glibc(S("manylinux2010_i686"), &arch), 12);
	assert_int_equal(wheel_tag_glibc(S("manylinux2014_aarch64"), &arch), 17);
	assert_str(arch, "aarch64");
	assert_int_equal(wheel_tag_glibc(S("manylinux_2_39_x86_64"), &arch), 39);
	assert_str(arch, "x86_64");
	assert_int_equal(wheel_tag_glibc(S("linux_x86_64"), &arch), UINT_MAX);
	assert_int_equal(wheel_tag_glibc(S("musllinux_1_2_x86_64"), &arch), 0);
	assert_int_equal(wheel_tag_glibc(S("manylinux_2_x_x86_64"), &arch), 0);
	assert_int_equal(wheel_tag_glibc(S("any"), &arch), 0);
}

/* ---- building ---- */

static struct wheel_spec demo_spec(struct arena *a)
{
	struct wheel_spec s = {
		.name = S("My.Demo"),
		.version = S("1.0.RC1+ROCm-7.1"),
		.summary = S("a demo"),
		.license = S("MIT OR Apache-2.0"),
		.requires_python = S(">=3.9"),
		.python = S("cp311"),
		.abi = S("cp311"),
		.epoch = 1700000000,
	};
	strs_add(a, &s.requires, S("numpy>=1.20"));
	*VEC_PUSH(a, &s.files) =
		(struct zip_input){.name = S("my_demo/__init__.py"), .content = S("x = 1\n")};
	*VEC_PUSH(a, &s.files) = (struct zip_input){
		.name = S("my_demo/run.sh"), .content = S("#!/bin/sh\n"), .mode = 0755};
	*VEC_PUSH(a, &s.info) =
		(struct zip_input){.name = S("licenses/LICENSE"), .content = S("MIT\n")};
	return s;
}

static void a_built_wheel_is_right_for_python(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path;
	struct wheel_spec s = demo_spec(&a);
	struct str so = path_join(&a, dir, S("lib.so"));
	struct fx_library l = {.needed = {"libamdhip64.so.6"}, .versions = {"GLIBC_2.34"}};
	assert_ok(fs_write(so, fx_elf(&a, l), 0600));
	*VEC_PUSH(&a, &s.files) = (struct zip_input){.name = S("my_demo/lib.so"), .path = so};
	assert_ok(wheel_build(&a, &s, path_join(&a, dir, S("new/out")), &path));
	assert_str(path_base(path), "my_demo-1.0rc1+rocm.7.1-cp311-cp311-linux_x86_64.whl");
	static const char script[] =
		"import sys,zipfile,csv,io,hashlib,base64,email\n"
		"z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None\n"
		"names=z.namelist(); print(*names,sep='\\n')\n"
		"d=names[-1].split('/')[0]\n"
		"rows=list(csv.reader(io.StringIO(z.read(d+'/RECORD').decode())))\n"
		"assert [r[0] for r in rows]==names and rows[-1][1:]==['','']\n"
		"for n,h,size in rows[:-1]:\n"
		" b=z.read(n); assert int(size)==len(b)\n"
		" w=base64.urlsafe_b64encode(hashlib.sha256(b).digest()).decode().rstrip('=')\n"
		" assert h=='sha256='+w\n"
		"for f in 'METADATA','WHEEL': print(z.read(d+'/'+f).decode(),end='')\n"
		"print([oct(i.external_attr>>16) for i in z.infolist()][:3])\n"
		"print({i.date_time for i in z.infolist()})\n"
		"import json; s=json.loads(z.read(d+'/sboms/rocsmith.cdx.json'))\n"
		"m=s['metadata']['component']; "
		"print(s['bomFormat'],s['specVersion'],m['name'],m['version'],m['purl'])\n"
		"for c in s['components']:\n"
		" print(c['type'],c['name'])\n"
		" assert "
		"c['hashes']==[{'alg':'SHA-256','content':hashlib.sha256(z.read(c['name']))."
		"hexdigest()}]\n";
	assert_str(python(&a, script, path),
		"my_demo/__init__.py\nmy_demo/lib.so\nmy_demo/run.sh\n"
		"my_demo-1.0rc1+rocm.7.1.dist-info/METADATA\n"
		"my_demo-1.0rc1+rocm.7.1.dist-info/WHEEL\n"
		"my_demo-1.0rc1+rocm.7.1.dist-info/licenses/LICENSE\n"
		"my_demo-1.0rc1+rocm.7.1.dist-info/sboms/rocsmith.cdx.json\n"
		"my_demo-1.0rc1+rocm.7.1.dist-info/RECORD\n"
		"Metadata-Version: 2.4\nName: My.Demo\nVersion: 1.0rc1+rocm.7.1\nSummary: a demo\n"
		"License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE\n"
		"Requires-Python: >=3.9\nRequires-Dist: numpy>=1.20\n"
		"Wheel-Version: 1.0\nGenerator: rocsmith " ROCSMITH_VERSION "\n"
		"Root-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n"
		"['0o100644', '0o100644', '0o100755']\n"
		"{(2023, 11, 14, 22, 13, 20)}\n"
		"CycloneDX 1.6 My.Demo 1.0rc1+rocm.7.1 pkg:pypi/my-demo@1.0rc1%2Brocm.7.1\n"
		"file my_demo/lib.so\nfile my_demo/run.sh\n");
	/* a wheel that is made of it has a bill of its own */
	struct wheel_request q = {.from = path, .to = dir, .local = S("x"), .time = 1};
	struct wheel_done done;
	assert_ok(wheel_retag(&a, &q, &done));
	static const char about[] =
		"import sys,zipfile,json,hashlib; z=zipfile.ZipFile(sys.argv[1])\n"
		"n=next(n for n in z.namelist() if 'sboms' in n); s=json.loads(z.read(n))\n"
		"m=s['metadata']['component']; print(n,m['name'],m['version'],m['purl'],"
		"*[c['name'] for c in s['components']]); "
		"[hashlib.sha256(z.read(c['name'])).hexdigest()==c['hashes'][0]['content'] or 1/0 "
		"for c in s['components']]\n";
	assert_str(python(&a, about, done.path),
		"my_demo-1.0rc1+x.dist-info/sboms/rocsmith.cdx.json My.Demo 1.0rc1+x "
		"pkg:pypi/my-demo@1.0rc1%2Bx my_demo/lib.so my_demo/run.sh\n");
	test_dir_remove(dir);
}

static void the_same_input_gives_the_same_bytes(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), first = {0};
	static const struct {
		const char *zone, *locale;
		unsigned jobs;
		mode_t mask;
	} runs[] = {
		{.zone = "UTC", .locale = "C", .jobs = 1, .mask = 022},
		{.zone = "Asia/Tokyo", .locale = "de_DE.UTF-8", .jobs = 2, .mask = 077},
		{.zone = "America/New_York", .locale = "tr_TR.UTF-8", .jobs = 5, .mask = 0},
	};
	for (size_t i = 0; i < 3; i++) {
		struct wheel_spec s = demo_spec(&a);
		struct str path, got;
		s.jobs = runs[i].jobs;
		if (i == 1) { /* another order */
			struct zip_input f = s.files.v[0];
			s.files.v[0] = s.files.v[1];
			s.files.v[1] = f;
		}
		setenv("TZ", runs[i].zone, 1);
		setenv("LC_ALL", runs[i].locale, 1);
		mode_t old = umask(runs[i].mask);
		assert_ok(wheel_build(&a, &s, str_fmt(&a, "%.*s/%zu", STR(dir), i), &path));
		umask(old);
		assert_ok(fs_read(&a, path, 1 << 20, &got));
		first = i ? first : got;
		assert_true(str_eq(first, got));
		struct stat st;
		assert_ok(fs_stat(path, &st));
		assert_int_equal(st.st_mode & 07777, 0644 & ~runs[i].mask);
	}
	unsetenv("TZ");
	unsetenv("LC_ALL");
	test_dir_remove(dir);
}

static void a_pure_wheel_is_for_any_platform(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path;
	struct wheel_spec s = demo_spec(&a);
	s.python = s.abi = S("");
	s.license = S("see the file LICENSE");
	assert_ok(wheel_build(&a, &s, dir, &path));
	assert_str(path_base(path), "my_demo-1.0rc1+rocm.7.1-py3-none-any.whl");
	assert_str(
		python(&a,
			"import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\n"
			"t=''.join(z.read(n).decode() for n in z.namelist() if "
			"n.endswith(('/WHEEL','DATA')))\n"
			"print([l for l in t.splitlines() if l.startswith(('Root','License:'))])",
			path),
		"['License: see the file LICENSE', 'Root-Is-Purelib: true']\n");
	test_dir_remove(dir);
}

static void what_installers_would_refuse_is_not_built(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path;
	struct strs left;
	struct wheel_spec s = demo_spec(&a);
	s.name = S("-demo");
	assert_err_says(wheel_build(&a, &s, dir, &path), E_WHEEL, "'-demo' is not a name");
	s = demo_spec(&a);
	s.version = S("one");
	struct err *e = wheel_build(&a, &s, dir, &path);
	assert_non_null(e);
	err_free(e);
	s = demo_spec(&a);
	s.requires.v[0] = S("numpy >");
	assert_err_says(wheel_build(&a, &s, dir, &path), E_SYNTAX, "numpy >");
	s = demo_spec(&a);
	s.summary = S("two\nlines");
	assert_err_says(wheel_build(&a, &s, dir, &path), E_WHEEL, "Summary");
	s = demo_spec(&a);
	s.platform = S("linux x86");
	assert_err_says(wheel_build(&a, &s, dir, &path), E_WHEEL, "wrong tag 'linux x86'");
	s = demo_spec(&a);
	s.files.v[0].name = S("../up.py");
	assert_err_says(wheel_build(&a, &s, dir, &path), E_ZIP, "leads out");
	s = demo_spec(&a);
	s.files.v[1].name = s.files.v[0].name;
	assert_err_says(wheel_build(&a, &s, dir, &path), E_ZIP, "occurs twice");
	assert_ok(fs_list(&a, dir, &left));
	assert_int_equal(left.n, 0);
	test_dir_remove(dir);
}

static void the_epoch_comes_from_the_environment(void **state)
{
	(void)state;
	int64_t epoch;
	unsetenv("SOURCE_DATE_EPOCH");
	assert_ok(wheel_epoch(&epoch));
	assert_int_equal(epoch, 315532800);
	setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
	assert_ok(wheel_epoch(&epoch));
	assert_int_equal(epoch, 1700000000);
	setenv("SOURCE_DATE_EPOCH", "yesterday", 1);
	assert_err_says(wheel_epoch(&epoch), E_USAGE, "yesterday");
	unsetenv("SOURCE_DATE_EPOCH");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_taken_apart),
		cmocka_unit_test(wrong_names_say_which_part),
		cmocka_unit_test(projects_are_normalised),
		cmocka_unit_test(record_is_csv),
		cmocka_unit_test(headers_are_those_of_email),
		cmocka_unit_test(requirements_follow_pep_508),
		cmocka_unit_test(platform_is_the_lowest_true_one),
		cmocka_unit_test(libraries_of_the_wheel_are_inside),
		cmocka_unit_test(tags_promise_a_glibc),
		cmocka_unit_test(a_built_wheel_is_right_for_python),
		cmocka_unit_test(the_same_input_gives_the_same_bytes),
		cmocka_unit_test(a_pure_wheel_is_for_any_platform),
		cmocka_unit_test(what_installers_would_refuse_is_not_built),
		cmocka_unit_test(the_epoch_comes_from_the_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
