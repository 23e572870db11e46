/* What an ordinary user meets: GPUs that a container's rules hide, files that may not be read, and
 * recordings whose nodes cannot be given to their owner. Run as root, the tests become nobody for
 * the time of the call; as another user they just call. Also ROCm trees and displays in odd
 * layouts. */
#include <unistd.h>

#include "base/buf.h"
#include "know/rule.h"
#include "test.h"

enum { NOBODY = 65534 };

#define KFD "sys/class/kfd/kfd/topology/nodes/"
#define ALICE                                                                                      \
	"proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\nGroups:\t \n"

/* A folder that nobody may enter too. */
static struct str open_dir(struct arena *a)
{
	struct str dir = test_dir(a);
	assert_int_equal(chmod(dir.p, 0777), 0);
	return dir;
}

static void put(struct arena *a, struct str dir, const char *name, const char *text)
{
	struct str path = path_join(a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static void deny(struct arena *a, struct str dir, const char *name)
{
	assert_int_equal(chmod(path_join(a, dir, str_from(name)).p, 0), 0);
}

static void put_all(struct arena *a, struct str dir, const char *const *files)
{
	for (; *files; files += 2)
		put(a, dir, files[0], files[1]);
}

static void as_nobody(bool on)
{
	static bool was_root;
	was_root = was_root || geteuid() == 0;
	if (was_root)
		assert_int_equal(seteuid(on ? NOBODY : 0), 0);
}

static void read_as_nobody(struct arena *a, struct str dir, struct machine *m)
{
	as_nobody(true);
	struct err *e = machine_examine(a, dir, m);
	as_nobody(false);
	assert_ok(e);
}

static const struct finding *finding_of(const struct machine *m, const char *id)
{
	VEC_EACH (struct finding, f, &m->findings)
		if (str_eq(str_from(f->id), str_from(id)))
			return f;
	return NULL;
}

static void hidden_gpus_are_told(void **state)
{
	(void)state;
	static const struct {
		const char *mark, *node, *id, *fix;
	} cases[] = {
		{.mark = ".dockerenv",
			.id = "kfd-missing-node",
			.fix = "start it with --device=/dev/kfd --device=/dev/dri"},
		{.mark = "run/secrets/kubernetes.io/token",
			.id = "kfd-missing-node",
			.fix = "request the resource amd.com/gpu for the pod"},
		{.mark = ".singularity.d/x",
			.id = "kfd-missing-node",
			.fix = "start it with --rocm; after --contain or --containall also with "
			       "--bind /dev/kfd,/dev/dri"},
		{.mark = "etc/x",
			.node = "dev/kfd",
			.id = "gpu-hidden",
			.fix = "start it with --device=/dev/kfd --device=/dev/dri"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str dir = open_dir(&a);
		static const char *const files[] = {ALICE, KFD "0/properties",
			"cpu_cores_count 4\n", KFD "1/properties", "simd_count 1\n",
			KFD "2/properties", "simd_count 1\n",
			"sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n", NULL};
		put_all(&a, dir, files);
		put(&a, dir, cases[i].mark, "");
		if (cases[i].node)
			put(&a, dir, cases[i].node, "");
		deny(&a, dir, KFD "1/properties");
		deny(&a, dir, KFD "2/properties");
		read_as_nobody(&a, dir, &m);
		assert_int_equal(m.hidden, 2);
		struct str copy = path_join(&a, dir, S("copy"));
		unsigned count;
		as_nobody(true);
		struct err *e = machine_record(dir, copy, &count);
		as_nobody(false);
		assert_ok(e);
		assert_ok(machine_examine(&a, copy, &m)); /* which says so, too */
		assert_int_equal(m.hidden, 2);
		const struct finding *f = finding_of(&m, cases[i].id);
		assert_non_null(f);
		assert_str(f->fix.v[0], cases[i].fix);
		test_dir_remove(dir);
	}
}

static void files_that_may_not_be_read_are_told(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct str dir = open_dir(&a);
	static const char *const files[] = {
		ALICE, "proc/meminfo", "MemTotal: 5 kB\n", "etc/group", "video:x:44:\n", NULL};
	put_all(&a, dir, files);
	deny(&a, dir, "proc/meminfo");
	deny(&a, dir, "proc/self/status");
	read_as_nobody(&a, dir, &m);
	assert_false(m.has_identity);
	assert_int_equal(m.memory, 0);
	const struct finding *f = finding_of(&m, "fact-unreadable");
	assert_non_null(f);
	assert_str(f->message, "'/proc/meminfo' may not be read: facts from it are missing");
	test_dir_remove(dir);
}

static struct str facts(struct arena *a, const struct machine *m)
{
	return json_document(a, 0, machine_report_fields, m);
}

static void a_recording_without_root_rights_keeps_owners(void **state)
{
	(void)state;
	ARENA(a);
	struct machine before, after;
	unsigned count = 0;
	if (geteuid() != 0)
		skip(); /* the nodes could not be given to root */
	struct str dir = open_dir(&a), out = open_dir(&a), copy = path_join(&a, out, S("copy"));
	static const char *const files[] = {ALICE, "dev/kfd", "", "dev/dri/renderD128", "",
		KFD "1/properties", "gfx_target_version 110000\n", NULL};
	put_all(&a, dir, files);
	assert_int_equal(chmod(path_join(&a, dir, S("dev/kfd")).p, 0660), 0);
	assert_ok(machine_examine(&a, dir, &before));
	as_nobody(true);
	struct err *e = machine_record(dir, copy, &count);
	as_nobody(false);
	assert_ok(e);
	test_has(path_join(&a, copy, S(".nodes")),
		"dev/dri/renderD128 0644 0 0\ndev/kfd 0660 0 0\n");
	assert_ok(machine_examine(&a, copy, &after));
	assert_str(facts(&a, &after), facts(&a, &before).p);
	test_dir_remove(dir);
	test_dir_remove(out);
}

static void a_full_or_closed_place_fails_a_recording(void **state)
{
	(void)state;
	ARENA(a);
	unsigned count;
	struct str dir = open_dir(&a), shut = test_dir(&a);
	put(&a, dir, "proc/meminfo", "MemTotal: 5 kB\n");
	as_nobody(true);
	struct err *e = machine_record(dir, path_join(&a, shut, S("copy")), &count);
	as_nobody(false);
	assert_err(e, E_PERM);
	test_dir_remove(dir);
	test_dir_remove(shut);
}

static void rocm_trees_are_found_once(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct str dir = open_dir(&a);
	static const char *const files[] = {"opt/rocm-6.4.3/.info/version", "6.4.3-127\n",
		"opt/rocm-7.1.0/include/rocm-core/rocm_version.h",
		"#define ROCM_VERSION_MAJOR 7\n#define ROCM_VERSION_MINOR 1\n"
		"#define ROCM_VERSION_PATCH 0\n",
		"opt/rocm-old/bin/hipcc", "", "opt/rocm-empty/lib/x", "", "opt/rocmine/bin/x", "",
		"var/rocm/core-7.11/bin/amdclang", "", "var/rocm/core-7.11/.info/version",
		"7.11.0\n", NULL};
	put_all(&a, dir, files);
	/* The newest through a link, as the packages install it; a loop; a link to nowhere. */
	assert_ok(fs_symlink(S("/opt/rocm-7.1.0"), path_join(&a, dir, S("opt/rocm"))));
	assert_ok(fs_symlink(S("rocm-loop"), path_join(&a, dir, S("opt/rocm-loop"))));
	assert_ok(fs_symlink(S("../var/rocm"), path_join(&a, dir, S("opt/rocm-var"))));
	assert_ok(fs_symlink(S("/nowhere"), path_join(&a, dir, S("opt/rocm-nowhere"))));
	assert_ok(machine_examine(&a, dir, &m));
	static const char *const want[][2] = {{"/opt/rocm-7.1.0", "7.1.0"},
		{"/opt/rocm-6.4.3", "6.4.3-127"}, {"/opt/rocm-old", ""},
		{"/var/rocm/core-7.11", "7.11.0"}};
	assert_int_equal(m.sdks.n, 4);
	for (size_t i = 0; i < m.sdks.n; i++) {
		assert_str(m.sdks.v[i].path, want[i][0]);
		assert_str(m.sdks.v[i].version, want[i][1]);
	}
	test_dir_remove(dir);
}

#define DRM(n) "sys/class/drm/renderD" n "/device/"

/* No PCI tree: the DRM devices tell; a link or a uevent file has the address. */
static void displays_may_come_from_drm(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct str dir = open_dir(&a);
	static const char *const files[] = {DRM("128") "vendor", "0x1002\n", DRM("128") "uevent",
		"DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n", DRM("128") "product_name",
		"AMD Instinct MI210\n", DRM("128") "mem_info_vram_total", "1000\n",
		DRM("129") "vendor", "0x8086\n", DRM("130") "vendor", "junk\n", DRM("131") "vendor",
		"0x1002\n", DRM("131") "class", "0x040300\n",
		"sys/devices/pci0/0000:0c:00.0/vendor", "0x1002\n", "sys/class/drm/renderD132/dev",
		"226:132\n", "sys/class/drm/card0/x", "",
		"sys/devices/virtual/kfd/kfd/topology/nodes/4/properties",
		"gfx_target_version 90010\ndrm_render_minor 128\nlocation_id 768\n", NULL};
	put_all(&a, dir, files);
	assert_ok(fs_symlink(S("../../../devices/pci0/0000:0c:00.0"),
		path_join(&a, dir, S("sys/class/drm/renderD132/device"))));
	assert_ok(machine_examine(&a, dir, &m));
	assert_int_equal(m.displays.n, 2);
	assert_str(m.displays.v[0].pci, "0000:03:00.0");
	assert_str(m.displays.v[1].pci, "0000:0c:00.0");
	assert_int_equal(m.gpus.n, 1);
	assert_str(m.gpus.v[0].name, "AMD Instinct MI210");
	assert_int_equal(m.gpus.v[0].vram, 1000);
	assert_true(m.driver.loaded);
	test_dir_remove(dir);
}

static void what_the_processor_tells(void **state)
{
	(void)state;
	static const struct {
		const char *cpuinfo, *arch;
		unsigned cpus;
		bool virtual;
	} cases[] = {
		{.cpuinfo = "processor : 0\nvendor_id : GenuineIntel\nflags : fpu hypervisor sse\n"
			    "processor : 1\n",
			.arch = "x86_64",
			.cpus = 2,
			.virtual = true},
		{.cpuinfo = "processor : 0\nvendor_id : AuthenticAMD\nflags : fpu\n",
			.arch = "x86_64",
			.cpus = 1},
		{.cpuinfo = "processor : 0\nCPU implementer : 0x41\nSerial : 00ff\n",
			.arch = "aarch64",
			.cpus = 1},
		{.cpuinfo = "", .arch = ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		unsigned count;
		struct str dir = open_dir(&a), copy = path_join(&a, dir, S("copy")), text;
		put(&a, dir, "proc/cpuinfo", cases[i].cpuinfo);
		assert_ok(machine_record(dir, copy, &count));
		assert_ok(fs_read(&a, path_join(&a, copy, S("proc/cpuinfo")), 1 << 16, &text));
		assert_false(str_contains(text, S("Serial")));
		assert_ok(machine_examine(&a, copy, &m));
		assert_str(m.arch, cases[i].arch);
		assert_int_equal(m.cpus, cases[i].cpus);
		assert_int_equal(m.virtual, cases[i].virtual);
		test_dir_remove(dir);
	}
}

/* The container's mark survives a recording, its ids do not. */
static void container_marks_are_recorded_without_ids(void **state)
{
	(void)state;
	static const char *const cases[][3] = {
		{"0::/kubepods/besteffort/podfeedbeef\n", "kubernetes", "0::/kubepods\n"},
		{"1:cpu:/docker/feedbeef\n", "docker", "0::/docker\n"},
		{"0::/libpod-feedbeef.scope\n", "podman", "0::/libpod\n"},
		{"0::/lxc/feedbeef\n", "lxc", "0::/lxc\n"},
		{"0::/system.slice/containerd-feedbeef\n", "containerd", "0::/containerd\n"},
		{"0::/user.slice/feedbeef\n", "", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		unsigned count;
		struct str dir = open_dir(&a), copy = path_join(&a, dir, S("copy"));
		put(&a, dir, "proc/1/cgroup", cases[i][0]);
		put(&a, dir, "proc/1/environ", "HOME=/feedbeef");
		assert_ok(machine_record(dir, copy, &count));
		test_has(path_join(&a, copy, S("proc/1/cgroup")), cases[i][2]);
		test_has(path_join(&a, copy, S("proc/1/environ")), "");
		assert_ok(machine_examine(&a, copy, &m));
		assert_str(m.container_kind, cases[i][1]);
		test_dir_remove(dir);
	}
}

static void what_to_do_about_access(void **state)
{
	(void)state;
	static const struct {
		unsigned mode;
		const char *group, *mark, *fix;
	} cases[] = {
		{.mode = 0660,
			.group = "render:x:%u:bob\n",
			.mark = "etc/x",
			.fix = "sudo usermod -aG render \"$USER\", then log in again"},
		{.mode = 0660,
			.group = "other:x:4242:\n",
			.mark = "etc/x",
			.fix = "make a group with the id %u and add yourself to it"},
		{.mode = 0660,
			.group = "render:x:%u:\n",
			.mark = ".dockerenv",
			.fix = "start the container with --group-add %u"},
		{.mode = 0600,
			.group = "render:x:%u:\n",
			.mark = "etc/x",
			.fix = "let its group read and write it: sudo chmod g+rw /dev/kfd"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		unsigned gid = getegid();
		struct str dir = open_dir(&a);
		static const char *const files[] = {"proc/self/status",
			"Uid:\t77777\t77777\nGid:\t77777\t77777\nGroups:\t77777\n",
			KFD "1/properties", "gfx_target_version 110000\ndrm_render_minor 128\n",
			"dev/kfd", "", "dev/dri/renderD128", "", "dev/dri/renderD129", "", NULL};
		put_all(&a, dir, files);
		put(&a, dir, cases[i].mark, "");
		put(&a, dir, "etc/group", str_fmt(&a, cases[i].group, gid).p);
		assert_int_equal(chmod(path_join(&a, dir, S("dev/kfd")).p, cases[i].mode), 0);
		assert_int_equal(chmod(path_join(&a, dir, S("dev/dri/renderD128")).p, 0666), 0);
		assert_ok(machine_examine(&a, dir, &m));
		/* The node of another maker's GPU, renderD129, does not matter. */
		assert_int_equal(m.findings.n, 1);
		assert_string_equal(m.findings.v[0].id, "kfd-permission");
		assert_str(m.findings.v[0].fix.v[0], str_fmt(&a, cases[i].fix, gid).p);
		test_dir_remove(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidden_gpus_are_told),
		cmocka_unit_test(files_that_may_not_be_read_are_told),
		cmocka_unit_test(a_recording_without_root_rights_keeps_owners),
		cmocka_unit_test(a_full_or_closed_place_fails_a_recording),
		cmocka_unit_test(rocm_trees_are_found_once),
		cmocka_unit_test(displays_may_come_from_drm),
		cmocka_unit_test(what_the_processor_tells),
		cmocka_unit_test(container_marks_are_recorded_without_ids),
		cmocka_unit_test(what_to_do_about_access),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
