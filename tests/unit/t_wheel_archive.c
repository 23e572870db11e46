/* Wheels unpacked, packed, retagged and compared; Python's zipfile, csv and hashlib are the judges of what is
 * written, and wheels that lie are refused with nothing left behind. */
#include "fixture_wheel.h"

#include <sys/stat.h>
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

/* Every member in order, with mode, method, and what RECORD says wrongly or not at all. */
static const char judge[] =
	"import base64, csv, hashlib, io, sys, zipfile\n"
	"z = zipfile.ZipFile(sys.argv[1])\n"
	"assert z.testzip() is None\n"
	"names = z.namelist()\n"
	"assert names[-1].endswith('.dist-info/RECORD'), names\n"
	"rows = {r[0]: r[1:] for r in csv.reader(io.StringIO(z.read(names[-1]).decode()))}\n"
	"assert sorted(rows) == sorted(names), (rows, names)\n"
	"for i in z.infolist():\n"
	" d, h = z.read(i), rows[i.filename]\n"
	" s = base64.urlsafe_b64encode(hashlib.sha256(d).digest()).decode().rstrip('=')\n"
	" assert h == (['', ''] if i.filename == names[-1] else ['sha256=' + s, str(len(d))]), h\n"
	" assert not i.flag_bits & 8 and not i.is_dir() and i.date_time[0] == 1980, i\n"
	" print(i.filename, oct(i.external_attr >> 16)[-3:], i.compress_type)\n";

struct place {
	struct arena a;
	struct str dir, tree, out;
};

static struct place place_new(void)
{
	struct place p = {0};
	p.dir = test_dir(&p.a);
	p.tree = path_join(&p.a, p.dir, S("tree"));
	p.out = path_join(&p.a, p.dir, S("out"));
	return p;
}

static void place_done(struct place *p)
{
	test_dir_remove(p->dir);
	arena_free(&p->a);
}

static struct str noise(struct arena *a, size_t n)
{
	char *p = arena_alloc(a, n);
	uint64_t x = 88172645463325252u;
	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = (char)x;
	}
	return (struct str){.p = p, .n = n};
}

static struct str wheel(struct place *p, struct fx_wheel w)
{
	struct fx_file files[] = {{"demo/__init__.py", S("x = 1\n")}, {"demo/empty.py", S("")},
		{"demo/deep/noise", noise(&p->a, 5000)}, {"demo-1.0.data/scripts/run", S("#!x\n")}};
	if (!w.files[0].name)
		memcpy(w.files, files, sizeof(files));
	return fx_write(&p->a, p->dir, w);
}

static struct wheel_request request(struct place *p, struct str from, struct str to)
{
	(void)p;
	return (struct wheel_request){.from = from, .to = to, .jobs = 2};
}

static struct str bytes_of(struct arena *a, struct str path)
{
	struct str text = {0};
	assert_ok(fs_read(a, path, 1 << 24, &text));
	return text;
}

static void a_wheel_goes_there_and_back(void **state)
{
	(void)state;
	struct place p = place_new();
	struct wheel_done done;
	struct wheel_request q = request(&p, wheel(&p, (struct fx_wheel){0}), p.tree);
	assert_ok(wheel_unpack(&p.a, &q, &done));
	assert_str(done.path, path_join(&p.a, p.tree, S("demo-1.0")).p);
	assert_int_equal(done.members, 7);
	test_has(path_join(&p.a, done.path, S("demo/__init__.py")), "x = 1\n");
	test_has(path_join(&p.a, done.path, S("demo/empty.py")), "");
	struct str script = path_join(&p.a, done.path, S("demo-1.0.data/scripts/run"));
	assert_int_equal(chmod(script.p, 0700), 0);
	test_put(path_join(&p.a, done.path, S("demo-1.0.dist-info/RECORD.jws")), "old");
	assert_ok(fs_mkdirs(path_join(&p.a, done.path, S("demo/nothing"))));

	q = request(&p, done.path, p.out);
	assert_ok(wheel_pack(&p.a, &q, &done));
	assert_str(path_base(done.path), "demo-1.0-py3-none-any.whl");
	static const char want[] = "demo-1.0.data/scripts/run 755 0\n"
				   "demo/__init__.py 644 0\n"
				   "demo/deep/noise 644 0\n"
				   "demo/empty.py 644 0\n"
				   "demo-1.0.dist-info/METADATA 644 8\n"
				   "demo-1.0.dist-info/WHEEL 644 8\n"
				   "demo-1.0.dist-info/RECORD 644 8\n";
	struct str seen = python(&p.a, judge, done.path);
	if (!str_eq(seen, str_from(want)))
		assert_str(str_replace(&p.a, seen, S(" 8\n"), S(" 0\n")),
			str_replace(&p.a, str_from(want), S(" 8\n"), S(" 0\n")).p);

	struct str first = bytes_of(&p.a, done.path);
	q.force = true;
	for (q.jobs = 1; q.jobs < 4; q.jobs++) {
		assert_ok(wheel_pack(&p.a, &q, &done));
		assert_true(str_eq(first, bytes_of(&p.a, done.path)));
	}
	place_done(&p);
}

static void nothing_is_replaced_without_force(void **state)
{
	(void)state;
	struct place p = place_new();
	struct wheel_done done;
	struct strs names;
	struct wheel_request q = request(&p, wheel(&p, (struct fx_wheel){0}), p.tree);
	assert_ok(wheel_unpack(&p.a, &q, &done));
	struct str mine = path_join(&p.a, done.path, S("demo/mine.py"));
	test_put(mine, "mine");
	assert_err_says(wheel_unpack(&p.a, &q, &done), E_USAGE, "there already");
	test_has(mine, "mine");
	q.force = true;
	assert_ok(wheel_unpack(&p.a, &q, &done));
	assert_false(fs_present(mine));
	assert_ok(fs_list(&p.a, p.tree, &names));
	assert_int_equal(names.n, 1); /* and no hidden folder */

	assert_ok(fs_remove_tree(done.path));
	assert_ok(fs_symlink(p.dir, done.path));
	assert_err_says(wheel_unpack(&p.a, &q, &done), E_USAGE, "is not replaced");
	assert_ok(fs_remove(path_join(&p.a, p.tree, S("demo-1.0"))));
	assert_ok(wheel_unpack(&p.a, &q, &done));

	q = request(&p, done.path, p.out);
	assert_ok(wheel_pack(&p.a, &q, &done));
	assert_err_says(wheel_pack(&p.a, &q, &done), E_USAGE, "there already");
	assert_ok(fs_remove(done.path));
	assert_int_equal(mkfifo(done.path.p, 0600), 0);
	q.force = true;
	assert_err_says(wheel_pack(&p.a, &q, &done), E_IO, "not a file");
	place_done(&p);
}

/* What a killed run left is used up; another one that lives keeps us out. */
static void runs_of_the_same_wheel_wait_their_turn(void **state)
{
	(void)state;
	struct place p = place_new();
	struct wheel_done done;
	struct strs names;
	CLEANUP(fd_closep) int held = -1;
	struct wheel_request q = request(&p, wheel(&p, (struct fx_wheel){0}), p.tree);
	struct str beside = fs_temp_name(&p.a, path_join(&p.a, p.tree, S("demo-1.0")));
	assert_ok(fs_mkdirs(path_join(&p.a, beside, S("tree/demo/old"))));
	test_put(path_join(&p.a, beside, S("tree/demo/old/file")), "old");
	assert_ok(fs_lock(path_join(&p.a, beside, S("lock")), FS_LOCK_NOW, &held));
	assert_err(wheel_unpack(&p.a, &q, &done), E_LOCKED);
	fd_closep(&held);
	assert_ok(wheel_unpack(&p.a, &q, &done));
	assert_false(fs_present(path_join(&p.a, done.path, S("demo/old"))));
	assert_ok(fs_list(&p.a, p.tree, &names));
	assert_int_equal(names.n, 1);
	assert_ok(fs_remove_tree(done.path));
	assert_ok(fs_symlink(p.dir, beside)); /* somebody's trap */
	assert_err(wheel_unpack(&p.a, &q, &done), E_PERM);
	place_done(&p);
}

static struct str half(struct arena *a, struct str record)
{
	(void)a;
	return str_sub(record, str_chr(record, '\n') + 1, record.n);
}

static struct str other_hash(struct arena *a, struct str record)
{
	struct str rest = str_sub(record, str_chr(record, '=') + 1, record.n);
	return str_fmt(a, "%.*s%c%.*s", STR(str_sub(record, 0, record.n - rest.n)),
		rest.p[0] == 'A' ? 'B' : 'A', STR(str_sub(rest, 1, rest.n)));
}

static struct str other_size(struct arena *a, struct str record)
{
	return str_replace(a, record, S(",6\n"), S(",7\n"));
}

static struct str no_hash(struct arena *a, struct str record)
{
	return str_fmt(
		a, "demo/__init__.py,,%.*s", STR(str_sub(record, str_chr(record, '\n'), record.n)));
}

/* As some packers write it: sizes only. */
static struct str no_hashes(struct arena *a, struct str record)
{
	BUF(b, a);
	struct str line;
	while (str_next(&record, '\n', &line))
		buf_fmt(&b, "%.*s,,%.*s\n", STR(str_sub(line, 0, str_chr(line, ','))),
			STR(str_sub(line, str_rchr(line, ',') + 1, line.n)));
	return buf_str(&b);
}

static struct str no_hashes_other_size(struct arena *a, struct str record)
{
	return str_replace(a, no_hashes(a, record), S(",6\n"), S(",7\n"));
}

static struct str no_hashes_half(struct arena *a, struct str record)
{
	return half(a, no_hashes(a, record));
}

static struct str empty_hash(struct arena *a, struct str record)
{
	return str_replace(a, no_hashes(a, record), S(",,6\n"), S(",sha256=,6\n"));
}

/* Nothing is lost that RECORD could have told, and the new wheel has all hashes; empty files are files. */
static void a_record_without_any_hash_will_do(void **state)
{
	(void)state;
	struct place p = place_new();
	struct wheel_done done;
	struct wheel_request q =
		request(&p, wheel(&p, (struct fx_wheel){.edit = no_hashes}), p.tree);
	assert_ok(wheel_unpack(&p.a, &q, &done));
	assert_int_equal(done.members, 7);
	test_has(path_join(&p.a, done.path, S("demo/empty.py")), "");
	q.to = p.out;
	q.build = S("1");
	assert_ok(wheel_retag(&p.a, &q, &done));
	struct str seen = python(&p.a, judge, done.path);
	assert_int_equal(str_split(&p.a, seen, '\n').n, 7);
	place_done(&p);
}

static struct str weak_hash(struct arena *a, struct str record)
{
	return str_replace(a, record, S("sha256="), S("md5="));
}

static void wheels_that_lie_leave_nothing(void **state)
{
	(void)state;
	static const struct {
		struct fx_wheel wheel;
		enum errcode code;
		const char *says;
	} cases[] = {
		{{.edit = half}, E_WHEEL, "not listed in its RECORD"},
		{{.edit = other_hash}, E_WHEEL, "the hash differs"},
		{{.edit = other_size}, E_WHEEL, "another size"},
		{{.edit = no_hash}, E_WHEEL, "no hash in its RECORD, but others have"},
		{{.edit = empty_hash}, E_WHEEL, "no hash"},
		{{.edit = no_hashes_other_size}, E_WHEEL, "another size"},
		{{.edit = no_hashes_half}, E_WHEEL, "not listed in its RECORD"},
		{{.edit = weak_hash}, E_WHEEL, "not sha256"},
		{{.record = "+demo/__init__.py,,\n"}, E_WHEEL, "listed twice"},
		{{.record = "+demo/more.py,,\n"}, E_WHEEL, "but not there"},
		{{.record = "+../more.py,,\n"}, E_WHEEL, "but not there"},
		{{.record = ""}, E_WHEEL, "'demo-1.0.dist-info/RECORD'"},
		{{.record = "a,b\n"}, E_SYNTAX, "line 1"},
		{{.info = "demo-2.0.dist-info"}, E_WHEEL, "no folder 'demo-1.0.dist-info'"},
		{{.info = "other-1.0.dist-info"}, E_WHEEL, "no folder 'demo-1.0.dist-info'"},
		{{.files = {{"x-1.dist-info/WHEEL", {0}}, {NULL, {0}}}}, E_WHEEL,
			"second dist-info"},
		{{.file = "demo-1.0-py3-any.whl"}, E_WHEEL, "not a name for a wheel"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct place p = place_new();
		struct wheel_done done;
		struct wheel_request q = request(&p, wheel(&p, cases[i].wheel), p.tree);
		assert_err_says(wheel_unpack(&p.a, &q, &done), cases[i].code, cases[i].says);
		q.build = S("1");
		assert_err_says(wheel_retag(&p.a, &q, &done), cases[i].code, cases[i].says);
		assert_false(fs_present(p.tree));
		place_done(&p);
	}
}

/* A bomb is known by what it declares, before anything is unpacked. */
static void bombs_are_refused(void **state)
{
	(void)state;
	static const char make[] =
		"import struct, sys\n"
		"n, size = 3 << 20, 1 << 31\n"
		"h = struct.pack('<HHHHHLLLHH', 20, 0, 8, 0, 33, 0, n, size, 1, 0)\n"
		"c = b'PK\\1\\2\\24\\3' + h + struct.pack('<HHHLL', 0, 0, 0, 0o100644 << 16, 0)\n"
		"with open(sys.argv[1], 'wb') as f:\n"
		" f.write(b'PK\\3\\4' + h + b'b' + bytes(n) + c + b'b')\n"
		" f.write(b'PK\\5\\6' + struct.pack('<HHHHLLH', 0, 0, 1, 1, 47, n + 31, 0))\n";
	struct place p = place_new();
	struct wheel_done done;
	struct str path = path_join(&p.a, p.dir, S("demo-1.0-py3-none-any.whl"));
	(void)python(&p.a, make, path);
	struct wheel_request q = request(&p, path, p.tree);
	assert_err_says(wheel_unpack(&p.a, &q, &done), E_LIMIT, "is a bomb");
	assert_false(fs_present(p.tree));
	place_done(&p);
}

static void another_version_changes_all_places(void **state)
{
	(void)state;
	struct place p = place_new();
	struct wheel_done done;
	static const char metadata[] = "Metadata-Version: 2.1\r\nName: Demo\r\nversion:  1.0 \r\n"
				       "Requires-Dist: demo-x==1.0\r\n\r\nVersion: 1.0\n";
	struct str from = wheel(&p, (struct fx_wheel){.metadata = metadata});
	struct wheel_request q = request(&p, from, p.out);
	q.local = S("ROCm-7.2");
	q.build = S("2x");
	q.platform = S("linux_x86_64.linux_aarch64");
	assert_ok(wheel_retag(&p.a, &q, &done));
	assert_str(path_base(done.path),
		"demo-1.0+rocm.7.2-2x-py3-none-linux_x86_64.linux_aarch64.whl");
	(void)python(&p.a, judge, done.path);
	static const char texts[] = "import sys, zipfile\n"
				    "z = zipfile.ZipFile(sys.argv[1])\n"
				    "i = 'demo-1.0+rocm.7.2.dist-info/'\n"
				    "assert 'demo-1.0+rocm.7.2.data/scripts/run' in z.namelist()\n"
				    "print(z.read(i + 'METADATA'))\n"
				    "print(z.read(i + 'WHEEL').decode())\n";
	assert_str(python(&p.a, texts, done.path),
		"b'Metadata-Version: 2.1\\r\\nName: Demo\\r\\nversion:  1.0+rocm.7.2 \\r\\n"
		"Requires-Dist: demo-x==1.0\\r\\n\\r\\nVersion: 1.0\\n'\n"
		"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nBuild: 2x\n"
		"Tag: py3-none-linux_x86_64\nTag: py3-none-linux_aarch64\n\n");

	/* and back: METADATA has its old bytes */
	q = request(&p, done.path, p.out);
	q.local = S("");
	q.build = S("");
	q.platform = S("any");
	assert_ok(wheel_retag(&p.a, &q, &done));
	assert_str(path_base(done.path), "demo-1.0-py3-none-any.whl");
	struct wheel_comparison c;
	q = request(&p, from, done.path);
	assert_ok(wheel_compare(&p.a, &q, &c));
	assert_str(str_join(&p.a, &c.differs, S(",")), "order"); /* the fixture is unsorted */
	assert_int_equal(c.members.n, 1);
	assert_str(c.members.v[0].name, "demo-1.0.dist-info/RECORD");
	place_done(&p);
}

static void wrong_words_for_tags_are_refused(void **state)
{
	(void)state;
	struct place p = place_new();
	struct wheel_done done;
	struct str from = wheel(&p, (struct fx_wheel){0});
	static const struct wheel_request cases[] = {
		{.build = S_INIT("x")},
		{.local = S_INIT("a b")},
		{.local = S_INIT("+")},
		{.python = S_INIT("cp-311")},
		{.abi = S_INIT("")},
		{.platform = S_INIT("../../x")},
		{.platform = S_INIT("a\nb")},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wheel_request q = cases[i];
		q.from = from;
		q.to = p.out;
		struct err *e = wheel_retag(&p.a, &q, &done);
		assert_non_null(e);
		assert_int_equal(err_status(e->code), 2);
		err_free(e);
		assert_false(fs_present(p.out));
	}
	place_done(&p);
}

/* A member that stays keeps its compressed bytes, whoever packed it; a data descriptor goes. */
static void members_that_stay_are_copied_as_they_are(void **state)
{
	(void)state;
	static const char make[] =
		"import base64, hashlib, sys, zipfile\n"
		"class Pipe:\n"
		" def __init__(self, f): self.f = f\n"
		" def write(self, b): return self.f.write(b)\n"
		" def flush(self): pass\n"
		"f = open(sys.argv[1], 'wb')\n"
		"h = lambda d: "
		"base64.urlsafe_b64encode(hashlib.sha256(d).digest()).decode().rstrip('=')\n"
		"i, rows = 'demo-1.0.dist-info/', ''\n"
		"with zipfile.ZipFile(Pipe(f), 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as z:\n"
		" for n, d in [('b.py', b'text ' * 999), ('a/', b''), ('a/x.py', b'y'),\n"
		"  (i + 'METADATA', b'Name: demo\\nVersion: 1.0\\n'),\n"
		"  (i + 'WHEEL', b'Wheel-Version: 1.0\\nTag: py3-none-any\\n')]:\n"
		"  z.writestr(n, d)\n"
		"  rows += '' if n[-1] == '/' else f'{n},sha256={h(d)},{len(d)}\\n'\n"
		" z.writestr(i + 'RECORD', rows + i + 'RECORD,,\\n')\n";
	static const char raw[] =
		"import sys, zipfile\n"
		"f = open(sys.argv[1], 'rb')\n"
		"for i in zipfile.ZipFile(f).infolist():\n"
		" if i.filename[-1] != '/' and 'dist-info' not in i.filename:\n"
		"  f.seek(i.header_offset + 26)\n"
		"  n = int.from_bytes(f.read(2), 'little') + int.from_bytes(f.read(2), 'little')\n"
		"  f.seek(n, 1)\n"
		"  print(i.filename, i.compress_type, f.read(i.compress_size).hex())\n";
	struct place p = place_new();
	struct wheel_done done;
	struct str from = path_join(&p.a, p.dir, S("demo-1.0-py3-none-any.whl"));
	(void)python(&p.a, make, from);
	struct wheel_request q = request(&p, from, p.out);
	q.python = S("py2.py3");
	assert_ok(wheel_retag(&p.a, &q, &done));
	(void)python(&p.a, judge, done.path);
	struct str was = python(&p.a, raw, from), is = python(&p.a, raw, done.path), one, two;
	assert_true(str_next(&was, '\n', &one) && str_next(&was, '\n', &two));
	assert_str(is, str_fmt(&p.a, "%.*s\n%.*s\n", STR(two), STR(one)).p); /* sorted now */
	place_done(&p);
}

static void trees_that_are_no_wheels_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *metadata, *wheel, *says;
	} cases[] = {
		{"Name: demo\nVersion: 1.0\n", "Tag: py3-none\n", "not all combinations"},
		{"Name: demo\nVersion: 1.0\n", "Wheel-Version: 1.0\n", "not all combinations"},
		{"Name: demo\nVersion: 1.0\n", "Tag: a-b-c\nTag: d-e-f\n", "not all combinations"},
		{"Name: demo\nVersion: 1.1\n", "Tag: a-b-c\n", "is that of 'demo' 1.1"},
		{"Name: demu\nVersion: 1.0\n", "Tag: a-b-c\n", "is that of 'demu' 1.0"},
		{"Name: demo\n", "Tag: a-b-c\n", "no version"},
		{"Name: demo\nVersion: 1.0\n \n", "Tag: a-b-c\n", "no version"},
		{"Name: demo\nVersion: 1.0\n", "Tag: a-b-c\nBuild: x\n", "build tag"},
		{"Name: demo\nVersion: 1.0\n", "Tag: a-b-/c\n", "not a name"},
		{"no header\n", "Tag: a-b-c\n", "cannot read"},
	};
	struct place p = place_new();
	struct wheel_done done;
	struct str info = path_join(&p.a, p.tree, S("demo-1.0.dist-info"));
	assert_ok(fs_mkdirs(info));
	struct wheel_request q = request(&p, p.tree, p.out);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_put(path_join(&p.a, info, S("METADATA")), cases[i].metadata);
		test_put(path_join(&p.a, info, S("WHEEL")), cases[i].wheel);
		struct err *e = wheel_pack(&p.a, &q, &done);
		assert_non_null(e);
		if (!test_err_says(e, cases[i].says))
			test_print_err(e);
		assert_true(test_err_says(e, cases[i].says));
		assert_int_equal(err_status(e->code), 2);
		err_free(e);
		assert_false(fs_present(p.out));
	}
	/* py2.py3-none-any and its halves are the same set */
	test_put(path_join(&p.a, info, S("METADATA")), "Name: demo\nVersion: 1.0\n");
	test_put(path_join(&p.a, info, S("WHEEL")),
		"Tag: py3.py2-none-any\nTag: py2-none-any\nBuild: 4\n");
	assert_ok(wheel_pack(&p.a, &q, &done));
	assert_str(path_base(done.path), "demo-1.0-4-py2.py3-none-any.whl");
	q.to = path_join(&p.a, p.tree, S("sub"));
	assert_ok(fs_mkdirs(q.to));
	assert_err_says(wheel_pack(&p.a, &q, &done), E_USAGE, "must not lie in that folder");
	place_done(&p);
}

static const struct wheel_change *change(const struct wheel_comparison *c, const char *name)
{
	VEC_EACH (const struct wheel_change, it, &c->members)
		if (str_eq(it->name, str_from(name)))
			return it;
	return NULL;
}

static void differences_have_their_reasons(void **state)
{
	(void)state;
	static const char remake[] = /* the same files, each spoiled in its own way */
		"import sys, zipfile\n"
		"src, dst = sys.argv[1].split('|')\n"
		"with zipfile.ZipFile(src) as z, zipfile.ZipFile(dst, 'w') as o:\n"
		" v = z.infolist()\n"
		" for i in v[1:2] + v[:1] + v[2:]:\n"
		"  n = zipfile.ZipInfo(i.filename, i.date_time)\n"
		"  n.external_attr, n.compress_type, n.create_system = i.external_attr, "
		"i.compress_type, 3\n"
		"  if i.filename == 'demo/time.py': n.date_time = (2000, 1, 1, 0, 0, 0)\n"
		"  if i.filename == 'demo/mode.py': n.external_attr = 0o100755 << 16\n"
		"  if i.filename == 'demo/pack.py': n.compress_type = 0\n"
		"  if i.filename == 'demo/head.py': n.extra = b'\\xfe\\xca\\0\\0'\n"
		"  o.writestr(n, z.read(i))\n";
	struct place p = place_new();
	struct str text = S("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	struct str from = wheel(
		&p, (struct fx_wheel){.files = {{"demo/head.py", text}, {"demo/mode.py", text},
					      {"demo/pack.py", text}, {"demo/time.py", text}}});
	struct str to = path_join(&p.a, p.out, S("demo-1.0-py3-none-any.whl"));
	assert_ok(fs_mkdirs(p.out));
	(void)python(&p.a, remake, str_fmt(&p.a, "%.*s|%.*s", STR(from), STR(to)));
	struct wheel_comparison c;
	struct wheel_request q = request(&p, from, to);
	assert_ok(wheel_compare(&p.a, &q, &c));
	assert_false(c.same);
	assert_str(str_join(&p.a, &c.differs, S(",")), "order");
	static const char *const want[][2] = {{"demo/head.py", "header"}, {"demo/mode.py", "mode"},
		{"demo/pack.py", "compression"}, {"demo/time.py", "time"}};
	for (size_t i = 0; i < 4; i++) {
		const struct wheel_change *it = change(&c, want[i][0]);
		assert_non_null(it);
		assert_str(str_join(&p.a, &it->differs, S(",")), want[i][1]);
	}
	q.to = from;
	assert_ok(wheel_compare(&p.a, &q, &c));
	assert_true(c.same && !c.differs.n && !c.members.n);
	place_done(&p);
}

/* Our own wheels come out again as they were, with the time that they have. */
static void what_we_packed_is_reproduced(void **state)
{
	(void)state;
	struct place p = place_new();
	struct wheel_done done;
	struct wheel_comparison c;
	struct wheel_request q = request(&p, wheel(&p, (struct fx_wheel){0}), p.tree);
	assert_ok(wheel_unpack(&p.a, &q, &done));
	q = request(&p, done.path, p.out);
	q.epoch = 1700000000;
	assert_ok(wheel_pack(&p.a, &q, &done));
	q = request(&p, done.path, S(""));
	q.epoch = -1;
	assert_ok(wheel_compare(&p.a, &q, &c));
	assert_true(c.same);
	q.epoch = 0;
	assert_ok(wheel_compare(&p.a, &q, &c));
	assert_false(c.same);
	assert_int_equal(c.members.n, 7);
	assert_str(str_join(&p.a, &c.members.v[0].differs, S(",")), "time");
	place_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wheel_goes_there_and_back),
		cmocka_unit_test(nothing_is_replaced_without_force),
		cmocka_unit_test(runs_of_the_same_wheel_wait_their_turn),
		cmocka_unit_test(a_record_without_any_hash_will_do),
		cmocka_unit_test(wheels_that_lie_leave_nothing),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(another_version_changes_all_places),
		cmocka_unit_test(wrong_words_for_tags_are_refused),
		cmocka_unit_test(members_that_stay_are_copied_as_they_are),
		cmocka_unit_test(trees_that_are_no_wheels_are_refused),
		cmocka_unit_test(differences_have_their_reasons),
		cmocka_unit_test(what_we_packed_is_reproduced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
