/* Machines of tests/machines: each must give the answer beside it, and its recording, in every form, the same.
 * ROCSMITH_BLESS=1 writes the answers anew; read the difference before you commit it. */
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"
#include "know/rule.h"
#include "machine/root.h"
#include "test.h"

#define MACHINES "tests/machines"

static const char *const names[] = {"container", "intel-only", "mi100-2", "mi210", "mi300x-8",
	"mi350", "mixed-rocm", "new-card", "no-driver", "no-permission", "override-left",
	"phoenix-780m", "rdna1", "rdna2-desktop", "rdna3-igpu", "rdna4", "recorded-vm-no-gpu",
	"strix-halo", "strix-halo-old", "vfio", "wsl2", "wsl2-torch"};

static struct str machine_file(struct arena *a, const char *name)
{
	return str_fmt(a, MACHINES "/%s.machine", name);
}

static struct str report(struct arena *a, struct str root)
{
	struct machine m;
	assert_ok(machine_examine(a, root, &m));
	return json_document(a, 2, machine_report_fields, &m);
}

static void compare(struct arena *a, const char *name, struct str got)
{
	struct str path = str_fmt(a, MACHINES "/%s.json", name), want;
	if (getenv("ROCSMITH_BLESS"))
		assert_ok(fs_write(path, got, 0644));
	assert_ok(fs_read(a, path, 1 << 20, &want));
	if (!str_eq(got, want))
		fail_msg("%s: the answer differs from its .json:\n%.*s", name, STR(got));
}

static void every_machine_gives_its_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ARENA(a);
		compare(&a, names[i], report(&a, machine_file(&a, names[i])));
	}
}

static struct err *no_secret_in(struct str text, struct str path)
{
	/* In the constructed machines: user, builder, serial numbers, the disk's id, variables. */
	static const char *const secrets[] = {"alice", "builder", "5752170827923",
		"4fd3d0e445b9207e", "c0ffee00", "4711", "Liddell", "bob", "syslog", "/bin/bash",
		"API_TOKEN", "feedbeef"};
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++)
		if (str_contains(text, str_from(secrets[i])) ||
			str_contains(path, str_from(secrets[i])))
			return err_new(E_INTERNAL, "'%s' is in '%.*s'", secrets[i], STR(path));
	return NULL;
}

static struct err *no_secret(void *user, struct fs_entry *e)
{
	ARENA(a);
	struct str *dir = user, text;
	if (!S_ISREG(e->st.st_mode))
		return NULL;
	TRY(fs_read(&a, path_join(&a, *dir, e->path), 1 << 20, &text));
	return no_secret_in(text, e->path);
}

/* Nothing that is looked at was lost: a recording of a recording is as large. */
static void a_recording_gives_the_same_answer_and_no_secrets(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ARENA(a);
		unsigned files = 0, again = 0;
		struct str copy = test_dir(&a), twice = test_dir(&a);
		assert_ok(machine_record(machine_file(&a, names[i]), copy, &files));
		assert_true(files > 5);
		assert_ok(fs_walk(copy, no_secret, &copy));
		compare(&a, names[i], report(&a, copy));
		assert_ok(machine_record(copy, twice, &again));
		assert_int_equal(again, files);
		test_dir_remove(copy);
		test_dir_remove(twice);
	}
}

static struct str record_file(struct arena *a, struct str root, struct str to)
{
	unsigned files = 0;
	struct str text;
	assert_ok(machine_record(root, to, &files));
	assert_true(files > 5);
	assert_ok(fs_read(a, to, 1 << 20, &text));
	return text;
}

static void a_machine_file_of_a_machine_file_is_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ARENA(a);
		struct str dir = test_dir(&a), one = path_join(&a, dir, S("one.machine"));
		struct str text = record_file(&a, machine_file(&a, names[i]), one);
		assert_ok(no_secret_in(text, S("one.machine")));
		compare(&a, names[i], report(&a, one));
		struct str two = path_join(&a, dir, S("two.machine"));
		assert_true(str_eq(record_file(&a, one, two), text));
		test_dir_remove(dir);
	}
}

static void an_archive_is_always_the_same_and_answers_as_the_folder_does(void **state)
{
	(void)state;
	static const char *const ends[] = {"tar", "tar.gz", "tgz"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ARENA(a);
		struct proc p = {0};
		struct proc_result said;
		struct str root = machine_file(&a, names[i]), one = test_dir(&a),
			   two = test_dir(&a);
		struct str name = str_fmt(&a, "facts.%s", ends[i % 3]),
			   file = path_join(&a, one, name);
		assert_true(str_eq(record_file(&a, root, file),
			record_file(&a, root, path_join(&a, two, name))));
		proc_arg(&a, &p, "tar", "-C", one.p, "-xf", file.p, NULL);
		assert_ok(proc_check(&a, &p, &said));
		one = path_join(&a, one, S("facts"));
		assert_ok(fs_walk(one, no_secret, &one));
		compare(&a, names[i], report(&a, one));
		test_dir_remove(path_dir(one));
		test_dir_remove(two);
	}
}

/* Written by hand: comments, blanks, escapes, alternatives, a text without an end of line. */
static void a_machine_file_has_few_rules(void **state)
{
	(void)state;
	ARENA(a);
	struct root_entries list, again;
	struct str text = S("rocsmith-machine 1\n# comment\n\n@ finds x\n"
			    "$HOME = /home/a b\n$EMPTY =\na/one = text\na/open = text\\\n"
			    "a/bytes = \\x06\\x00\\\\\na/none =\n"
			    "a/block:\n\tx\n\n\t\ty\n\nb -> /a/one\n"
			    "dev/kfd (0660 0 992)\nc/\nlib/lib{x,y}.so =\nsecret !\na\\x20b = 1\n");
	assert_ok(machine_file_parse(&a, text, S("m"), &list));
	static const struct {
		const char *path;
		int kind;
		struct str text;
	} want[] = {{"EMPTY", ENTRY_VARIABLE, S_INIT("")},
		{"HOME", ENTRY_VARIABLE, S_INIT("/home/a b")}, {"a b", ENTRY_FILE, S_INIT("1\n")},
		{"a/block", ENTRY_FILE, S_INIT("x\n\n\ty\n")},
		{"a/bytes", ENTRY_FILE, S_INIT("\x06\0\\\n")}, {"a/none", ENTRY_FILE, S_INIT("")},
		{"a/one", ENTRY_FILE, S_INIT("text\n")}, {"a/open", ENTRY_FILE, S_INIT("text")},
		{"b", ENTRY_LINK, S_INIT("/a/one")}, {"c", ENTRY_DIR, S_INIT("")},
		{"dev/kfd", ENTRY_NODE, S_INIT("")}, {"lib/libx.so", ENTRY_FILE, S_INIT("")},
		{"lib/liby.so", ENTRY_FILE, S_INIT("")}, {"secret", ENTRY_DENIED, S_INIT("")}};
	assert_int_equal(list.n, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < list.n; i++) {
		assert_true(str_eq(list.v[i].path, str_from(want[i].path)));
		assert_int_equal(list.v[i].kind, want[i].kind);
		if (!str_eq(list.v[i].text, want[i].text))
			fail_msg("%s: %.*s", want[i].path, STR(list.v[i].text));
	}
	assert_int_equal(list.v[10].mode, 0660);
	assert_int_equal(list.v[10].gid, 992);
	assert_ok(machine_file_parse(&a, machine_file_text(&a, &list), S("m"), &again));
	assert_int_equal(again.n, list.n);
	for (size_t i = 0; i < list.n; i++)
		assert_true(str_eq(again.v[i].text, list.v[i].text));
}

static void alternatives_do_not_fill_the_memory(void **state)
{
	(void)state;
	ARENA(a);
	struct root_entries list;
	BUF(text, &a);
	buf_add(&text, S("rocsmith-machine 1\n"));
	for (unsigned i = 0; i < 6; i++) { /* 180 kB stand for 23 MB of paths */
		buf_fmt(&text, "%u%030000u{", i, 0);
		for (unsigned k = 0; k < 128; k++)
			buf_fmt(&text, "%s%u", k ? "," : "", k);
		buf_add(&text, S("} =\n"));
	}
	struct err *e = machine_file_parse(&a, buf_str(&text), S("m"), &list);
	assert_non_null(e);
	assert_int_equal(e->code, E_SYNTAX);
	assert_int_equal(e->line, 6);
	err_free(e);
}

static void a_wrong_machine_file_names_its_line(void **state)
{
	(void)state;
	ARENA(a);
	struct root_entries list;
	static const char *const wrong[] = {"a\n", "a b\n", "../x = 1\n", "/x = 1\n", "x = \\y\n",
		"x (0660 0)\n", "x (9 0 0)\n", "x = \\x0\n", " = 1\n", "a/{x,../../y} =\n"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_err_says(machine_file_parse(&a, str_fmt(&a, MACHINE_FILE "\n%s", wrong[i]),
					S("m"), &list),
			E_SYNTAX, "this is not an entry of a machine");
	assert_err_says(machine_file_parse(&a, S("x\n"), S("m"), &list), E_SYNTAX,
		"is not a recorded machine");
}

static void recording_refuses_a_folder_in_use(void **state)
{
	(void)state;
	ARENA(a);
	unsigned files;
	struct str dir = test_dir(&a);
	test_put(path_join(&a, dir, S("old")), "");
	assert_err_says(machine_record(dir, dir, &files), E_USAGE, "is not empty");
	test_put(path_join(&a, dir, S("old.tar")), "");
	assert_err_says(machine_record(dir, path_join(&a, dir, S("old.tar")), &files), E_USAGE,
		"exists already");
	assert_err_says(machine_record(S("/nonexistent"), path_join(&a, dir, S("new")), &files),
		E_NOENT, "is not a folder");
	test_dir_remove(dir);
}

/* Without root rights the owner of a node goes to .nodes; here it is written by hand. */
static void owners_may_come_from_a_list(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct str dir = test_dir(&a);
	assert_ok(fs_mkdirs(path_join(&a, dir, S("dev/dri"))));
	assert_ok(fs_mkdirs(path_join(&a, dir, S("proc/self"))));
	test_put(path_join(&a, dir, S("dev/kfd")), "");
	test_put(path_join(&a, dir, S("dev/dri/renderD128")), "");
	test_put(path_join(&a, dir, S("proc/self/status")),
		"Uid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\nGroups:\t992 \n");
	test_put(path_join(&a, dir, S(".nodes")),
		"dev/kfd 0660 0 992\ndev/dri/renderD128 0600 0 993\nbroken\ndev/kfd x y z\n");
	assert_ok(machine_examine(&a, dir, &m));
	assert_int_equal(m.nodes.n, 2);
	assert_true(m.nodes.v[0].usable);
	assert_int_equal(m.nodes.v[0].mode, 0660);
	assert_str(m.nodes.v[0].group, "992");
	assert_false(m.nodes.v[1].usable);
	assert_int_equal(m.nodes.v[1].gid, 993);
	test_dir_remove(dir);
}

static void links_do_not_lead_out_of_a_sysroot(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct str outside = test_dir(&a), dir = test_dir(&a);
	test_put(path_join(&a, outside, S("secret")), "PRETTY_NAME=secret\nID=secret\n");
	assert_ok(fs_mkdirs(path_join(&a, dir, S("etc"))));
	assert_ok(fs_mkdirs(path_join(&a, dir, S("usr/lib"))));
	struct str link = path_join(&a, dir, S("etc/os-release"));
	/* Absolute, and upwards: both stay inside, where there is nothing. */
	assert_ok(fs_symlink(path_join(&a, outside, S("secret")), link));
	assert_ok(machine_examine(&a, dir, &m));
	assert_int_equal(m.distro.n, 0);
	assert_ok(fs_symlink(str_fmt(&a, "../../../../../..%.*s/secret", STR(outside)), link));
	assert_ok(machine_examine(&a, dir, &m));
	assert_int_equal(m.distro.n, 0);
	/* As it is on a machine. */
	test_put(path_join(&a, dir, S("usr/lib/os-release")), "PRETTY_NAME='Inside \\$1'\n");
	assert_ok(fs_symlink(S("/usr/lib/os-release"), link));
	assert_ok(machine_examine(&a, dir, &m));
	assert_str(m.distro, "Inside $1");
	/* A loop. */
	assert_ok(fs_symlink(S("os-release"), link));
	assert_ok(machine_examine(&a, dir, &m));
	assert_str(m.distro, "Inside $1"); /* of usr/lib */
	test_dir_remove(dir);
	test_dir_remove(outside);
}

static void odd_files_do_not_stop_it(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct str dir = test_dir(&a);
	struct str nodes = path_join(&a, dir, S("sys/class/kfd/kfd/topology/nodes"));
	static const char *const props[] = {
		"simd_count 99999999999999999999999\ngfx_target_version 110000\n",
		"gfx_target_version 18446744073709551615\nlocation_id 18446744073709551615\n"
		"domain 18446744073709551615\ndrm_render_minor 18446744073709551615\nsimd_count "
		"1\n",
		"gfx_target_version 99999999\nsimd_count 8\nsimd_per_cu 0\n",
		"gfx_target_version 120001",      /* cut off */
		"simd_count 8\nvendor_id 4318\n", /* another maker's */
		"\0\xff\xfe simd_count 3\n",
	};
	for (size_t i = 0; i < sizeof(props) / sizeof(*props); i++) {
		struct str node = path_join(&a, nodes, str_fmt(&a, "%zu", i));
		assert_ok(fs_mkdirs(path_join(&a, node, S("mem_banks/0"))));
		test_put(path_join(&a, node, S("properties")), props[i]);
		test_put(path_join(&a, node, S("name")), "x\033[31m\nsecond line\n");
		test_put(path_join(&a, node, S("mem_banks/0/properties")),
			"heap_type 1\nsize_in_bytes 18446744073709551615\n");
	}
	assert_ok(fs_mkdirs(path_join(&a, nodes, S("not-a-number"))));
	assert_ok(fs_mkdirs(path_join(&a, nodes, S("7/properties")))); /* a folder */
	assert_ok(fs_mkdirs(path_join(&a, dir, S("proc/self"))));
	assert_int_equal(mkfifo(str_z(&a, path_join(&a, dir, S("proc/meminfo"))), 0644), 0);
	assert_ok(machine_examine(&a, dir, &m));
	assert_int_equal(m.gpus.n, 4);
	assert_str(m.gpus.v[0].target, "gfx1100");
	assert_str(m.gpus.v[0].name, "x[31m");
	assert_str(m.gpus.v[1].target, "");
	assert_int_equal(m.gpus.v[1].vram, INT64_MAX);
	assert_str(m.gpus.v[2].target, "gfx99996363");
	assert_str(m.gpus.v[3].target, "gfx1201");
	assert_false(m.has_identity);
	report(&a, dir);
	test_dir_remove(dir);
}

static bool has_finding(const struct machine *m, const char *id)
{
	VEC_EACH (struct finding, f, &m->findings)
		if (str_eq(str_from(f->id), str_from(id)))
			return true;
	return false;
}

static void write_all(struct arena *a, struct str dir, const char *const *files)
{
	for (; *files; files += 2) {
		struct str path = path_join(a, dir, str_from(files[0]));
		assert_ok(fs_mkdirs(path_dir(path)));
		test_put(path, files[1]);
	}
}

#define NODE1 "sys/class/kfd/kfd/topology/nodes/1/properties"
#define ROOT_USER "proc/self/status", "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 \n"
#define PCI "sys/bus/pci/devices/0000:03:00.0/"

/* Files of a small machine, and the finding that they must give ("" = none at all). */
static const struct {
	const char *id;
	const char *files[12];
} rules[] = {
	{.id = "",
		.files = {NODE1, "simd_count 8\ngfx_target_version 110000\ndrm_render_minor 128\n",
			"dev/kfd", "", "dev/dri/renderD128", "", ROOT_USER, "proc/meminfo", "",
			NULL}},
	{.id = "kfd-missing-node", .files = {NODE1, "gfx_target_version 110000\n", NULL}},
	{.id = "render-node-missing", .files = {NODE1, "gfx_target_version 110000\n", NULL}},
	{.id = "gpu-unknown-target", .files = {NODE1, "gfx_target_version 130105\n", NULL}},
	{.id = "gpu-unknown-target", .files = {NODE1, "simd_count 8\n", NULL}},
	{.id = "no-gpu", .files = {ROOT_USER, NULL}},
	{.id = "rock-module-not-loaded", .files = {PCI "vendor", "0x1002\n", NULL}},
	{.id = "rock-module-not-loaded",
		.files = {PCI "vendor", "0x1002\n", "sys/module/amdgpu/initstate", "coming\n",
			NULL}},
	{.id = "rock-module-not-loaded",
		.files = {PCI "vendor", "0x1002\n", "proc/cmdline", "quiet nomodeset\n", NULL}},
	{.id = "gpu-not-in-kfd",
		.files = {PCI "vendor", "0x1002\n", PCI "uevent", "DRIVER=amdgpu\n", NULL}},
	{.id = "gpu-not-in-kfd",
		.files = {PCI "vendor", "0x1002\n", "proc/modules", "amdgpu 1 0 - Live 0x0\n",
			NULL}},
	{.id = "gpu-other-driver",
		.files = {PCI "vendor", "0x1002\n", PCI "uevent", "DRIVER=radeon\n", NULL}},
	{.id = "wsl-gpu", .files = {"dev/dxg", "", NULL}},
	{.id = "wsl-no-gpu",
		.files = {"proc/version",
			"Linux version 5.15.153.1-microsoft-standard-WSL2 (root)\n", NULL}},
	{.id = "igpu-dgpu-conflict",
		.files = {NODE1, "gfx_target_version 110000\n",
			"sys/class/kfd/kfd/topology/nodes/2/properties",
			"gfx_target_version 100306\n", NULL}},
	{.id = "fact-unreadable", .files = {"proc/self/status", "Uid:\tx\n", NULL}},
};

static void findings_follow_from_facts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		ARENA(a);
		struct machine m;
		struct str dir = test_dir(&a);
		write_all(&a, dir, rules[i].files);
		assert_ok(machine_examine(&a, dir, &m));
		if (*rules[i].id ? !has_finding(&m, rules[i].id) : m.findings.n > 0)
			fail_msg("machine %zu: no '%s' in %.*s", i, rules[i].id,
				STR(report(&a, dir)));
		test_dir_remove(dir);
	}
}

static void containers_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		const char *path, *text, *kind;
	} cases[] = {
		{.path = "run/.containerenv", .text = "", .kind = "podman"},
		{.path = ".singularity.d/labels.json", .text = "", .kind = "apptainer"},
		{.path = "run/secrets/kubernetes.io/x", .text = "", .kind = "kubernetes"},
		{.path = "proc/1/environ", .text = "PATH=/bin", .kind = ""},
		{.path = "proc/1/environ", .text = "container=lxc", .kind = "lxc"},
		{.path = "proc/1/cgroup",
			.text = "0::/kubepods/besteffort/pod1\n",
			.kind = "kubernetes"},
		{.path = "proc/1/cgroup",
			.text = "1:name=systemd:/docker/4f2a\n",
			.kind = "docker"},
		{.path = "proc/1/cgroup", .text = "0::/init.scope\n", .kind = ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str dir = test_dir(&a);
		const char *const files[] = {cases[i].path, cases[i].text, NULL};
		write_all(&a, dir, files);
		assert_ok(machine_examine(&a, dir, &m));
		assert_str(m.container_kind, cases[i].kind);
		test_dir_remove(dir);
	}
}

static void native_takes_each_target_once(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct strs list = {0};
	struct str dir = test_dir(&a);
	static const char *const two[] = {NODE1, "gfx_target_version 90402\n",
		"sys/class/kfd/kfd/topology/nodes/2/properties", "gfx_target_version 90402\n",
		"sys/class/kfd/kfd/topology/nodes/10/properties", "gfx_target_version 120001\n",
		"sys/class/kfd/kfd/topology/nodes/3/properties", "gfx_target_version 110000\n",
		NULL};
	write_all(&a, dir, two);
	strs_add(&a, &list, S("native"));
	assert_ok(machine_native(&a, dir, &list));
	assert_str(str_join(&a, &list, S(",")), "gfx942,gfx1100,gfx1201");
	assert_ok(machine_gpus(&a, dir, &m));
	assert_int_equal(m.gpus.n, 4);
	assert_int_equal(m.gpus.v[3].node, 10);
	assert_int_equal(m.gpus.v[3].index, 3);
	test_dir_remove(dir);
	dir = test_dir(&a);
	list = (struct strs){0};
	strs_add(&a, &list, S("native"));
	assert_err_says(machine_native(&a, dir, &list), E_NO_GPU, "shows no AMD GPU");
	test_dir_remove(dir);
	assert_err_says(machine_native(&a, S("/nonexistent"), &list), E_NOENT,
		"cannot find the GPUs of this machine");
}

static void this_computer_can_be_read(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	assert_ok(machine_examine(&a, S(""), &m));
	assert_true(m.kernel.n > 0 && m.arch.n > 0 && m.cpus > 0 && m.memory > 1 << 20);
	assert_true(m.has_identity);
	assert_int_equal(m.uid, geteuid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_machine_gives_its_answer),
		cmocka_unit_test(a_recording_gives_the_same_answer_and_no_secrets),
		cmocka_unit_test(a_machine_file_of_a_machine_file_is_the_same),
		cmocka_unit_test(a_machine_file_has_few_rules),
		cmocka_unit_test(alternatives_do_not_fill_the_memory),
		cmocka_unit_test(a_wrong_machine_file_names_its_line),
		cmocka_unit_test(an_archive_is_always_the_same_and_answers_as_the_folder_does),
		cmocka_unit_test(recording_refuses_a_folder_in_use),
		cmocka_unit_test(owners_may_come_from_a_list),
		cmocka_unit_test(links_do_not_lead_out_of_a_sysroot),
		cmocka_unit_test(odd_files_do_not_stop_it),
		cmocka_unit_test(findings_follow_from_facts),
		cmocka_unit_test(containers_are_told_apart),
		cmocka_unit_test(native_takes_each_target_once),
		cmocka_unit_test(this_computer_can_be_read),
	};
	/* Recordings are synced file by file: half a minute on a disk. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
