/* Whole machines written file by file, each with exactly the findings that it must give: mixed and
 * equal GPUs, old and new processors, containers whose groups have other names, drivers that are
 * kept away, partly readable topologies. The other tests of src/machine look for one finding; here
 * one too many fails as well. */
#include "base/buf.h"
#include "know/rule.h"
#include "test.h"

#define KFD "sys/class/kfd/kfd/topology/nodes/"
#define PCI "sys/bus/pci/devices/"
#define ROOT_USER "proc/self/status", "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 \n"
#define KFD_NODE "dev/kfd", ""
#define CARD(slot, minor) "location_id " slot "\ndomain 0\ndrm_render_minor " minor "\n"
#define AMD(slot, driver)                                                                          \
	PCI slot "/vendor", "0x1002\n", PCI slot "/class", "0x030000\n", PCI slot "/uevent",       \
		"DRIVER=" driver "\nPCI_SLOT_NAME=" slot "\n"
#define NEVER_MADE "PCI_SLOT_NAME=0000:03:00.0\n"

enum { FILES = 40 };

struct kind {
	const char *name;
	const char *findings; /* ids, sorted, with a blank between */
	const char *targets;  /* of the GPUs, in order, with a comma between */
	const char *says;     /* in some message or remedy, or NULL */
	const char *files[FILES];
};

static struct str text_of_findings(struct arena *a, const struct machine *m)
{
	BUF(b, a);
	VEC_EACH (struct finding, f, &m->findings) {
		buf_fmt(&b, "%s: %.*s\n", f->id, STR(f->message));
		for (size_t i = 0; i < f->fix.n; i++)
			buf_fmt(&b, "  fix: %.*s\n", STR(f->fix.v[i]));
	}
	return buf_str(&b);
}

static struct str ids_of(struct arena *a, const struct machine *m)
{
	struct strs list = {0};
	VEC_EACH (struct finding, f, &m->findings)
		strs_add(a, &list, str_from(f->id));
	strs_sort(&list);
	return str_join(a, &list, S(" "));
}

static struct str targets_of(struct arena *a, const struct machine *m)
{
	struct strs list = {0};
	VEC_EACH (struct machine_gpu, g, &m->gpus)
		strs_add(a, &list, g->target);
	return str_join(a, &list, S(","));
}

static struct str build(struct arena *a, const char *const *files)
{
	struct str dir = test_dir(a);
	for (; *files; files += 2) {
		struct str path = path_join(a, dir, str_from(files[0]));
		assert_ok(fs_mkdirs(path_dir(path)));
		FILE *f = fopen(path.p, "w"); /* not fs_write(): a sync for each file takes long */
		assert_non_null(f);
		assert_true(fputs(files[1], f) >= 0);
		assert_int_equal(fclose(f), 0);
	}
	return dir;
}

static void check(const struct kind *k)
{
	ARENA(a);
	struct machine m;
	struct str dir = build(&a, k->files);
	assert_ok(machine_examine(&a, dir, &m));
	struct str ids = ids_of(&a, &m), said = text_of_findings(&a, &m);
	if (!str_eq(ids, str_from(k->findings)) ||
		(k->says && !str_contains(said, str_from(k->says))))
		print_error("%s:\n%.*s", k->name, STR(said));
	assert_str(ids, k->findings);
	assert_str(targets_of(&a, &m), k->targets);
	assert_true(!k->says || str_contains(said, str_from(k->says)));
	test_dir_remove(dir);
}

#define CHECK(kinds)                                                                               \
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*(kinds)); i++)                              \
	check(&(kinds)[i])

static void gpus_of_every_kind_are_listed(void **state)
{
	(void)state;
	static const struct kind kinds[] = {
		{.name = "one card",
			.findings = "",
			.targets = "gfx1100",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "", KFD "1/properties",
				"gfx_target_version 110000\nsimd_count 192\n" CARD("768", "128"),
				AMD("0000:03:00.0", "amdgpu")}},
		{.name = "a card of 2018 (gfx906)",
			.findings = "",
			.targets = "gfx906",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "", KFD "1/properties",
				"gfx_target_version 90006\nsimd_count 240\n" CARD("768", "128"),
				AMD("0000:03:00.0", "amdgpu")}},
		{.name = "a processor's GPU with a share larger than what it may map",
			.findings = "apu-oom-gtt",
			.targets = "gfx1151",
			.says = "get 15 GiB of memory on GPU 1 (gfx1151), though the firmware sets "
				"96 GiB aside",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "", KFD "1/properties",
				"gfx_target_version 110501\n" CARD("768", "128"),
				KFD "1/mem_banks/0/properties",
				"heap_type 1\nsize_in_bytes 16600000000\n",
				"sys/class/drm/renderD128/device/mem_info_vram_total",
				"103079215104\n"}},
		{.name = "two cards of one kind",
			.findings = "",
			.targets = "gfx1201,gfx1201",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "",
				"dev/dri/renderD129", "", KFD "1/properties",
				"gfx_target_version 120001\n" CARD("768", "128"),
				KFD "2/properties",
				"gfx_target_version 120001\n" CARD("1792", "129"),
				AMD("0000:03:00.0", "amdgpu"), AMD("0000:07:00.0", "amdgpu")}},
		{.name = "card first, then the processor's GPU",
			.findings = "igpu-dgpu-conflict",
			.targets = "gfx1100,gfx1036",
			.says = "ROCR_VISIBLE_DEVICES=0",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "",
				"dev/dri/renderD129", "", KFD "1/properties",
				"gfx_target_version 110000\n" CARD("768", "128"),
				KFD "2/properties",
				"gfx_target_version 100306\n" CARD("4096", "129")}},
		{.name = "the processor's GPU first",
			.findings = "igpu-dgpu-conflict",
			.targets = "gfx1036,gfx1100",
			.says = "ROCR_VISIBLE_DEVICES=1",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "",
				"dev/dri/renderD129", "", KFD "1/properties",
				"gfx_target_version 100306\n" CARD("4096", "129"),
				KFD "2/properties",
				"gfx_target_version 110000\n" CARD("768", "128")}},
		{.name = "two cards and the processor's GPU: both cards stay",
			.findings = "igpu-dgpu-conflict render-node-missing",
			.targets = "gfx1100,gfx1036,gfx1100",
			.says = "ROCR_VISIBLE_DEVICES=0,2",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "", KFD "1/properties",
				"gfx_target_version 110000\n" CARD("768", "128"),
				KFD "2/properties",
				"gfx_target_version 100306\n" CARD("4096", "129"),
				KFD "3/properties",
				"gfx_target_version 110000\n" CARD("1792", "128")}},
		{.name = "a processor alone is no conflict",
			.findings = "",
			.targets = "gfx1151",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "", KFD "1/properties",
				"cpu_cores_count 32\ngfx_target_version 110501\n" CARD(
					"50432", "128")}},
		{.name = "CPU nodes and another maker's are no GPUs",
			.findings = "",
			.targets = "gfx90a",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "", KFD "0/properties",
				"cpu_cores_count 64\nsimd_count 0\n", KFD "1/properties",
				"gfx_target_version 90010\n" CARD("768", "128"), KFD "2/properties",
				"vendor_id 4318\nsimd_count 8\n"}},
	};
	CHECK(kinds);
}

static void a_driver_that_is_kept_away_is_explained(void **state)
{
	(void)state;
#define BARE_CARD                                                                                  \
	PCI "0000:03:00.0/vendor", "0x1002\n", PCI "0000:03:00.0/class", "0x030000\n",             \
		PCI "0000:03:00.0/uevent", NEVER_MADE
	static const struct kind kinds[] = {
		{.name = "nobody loaded it",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "sudo modprobe -v amdgpu",
			.files = {ROOT_USER, BARE_CARD}},
		{.name = "blacklisted on the command line",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "from /proc/cmdline",
			.files = {ROOT_USER, BARE_CARD, "proc/cmdline",
				"root=/dev/sda1 modprobe.blacklist=nouveau,amdgpu quiet\n"}},
		{.name = "for the initial ramdisk",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "from /proc/cmdline",
			.files = {ROOT_USER, BARE_CARD, "proc/cmdline",
				"rd.driver.blacklist=amdgpu\n"}},
		{.name = "another module is blacklisted",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "sudo modprobe -v amdgpu",
			.files = {ROOT_USER, BARE_CARD, "proc/cmdline",
				"modprobe.blacklist=amdgpu_old,nouveau\n"}},
		{.name = "by a file",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "/etc/modprobe.d/no-gpu.conf, then reboot",
			.files = {ROOT_USER, BARE_CARD, "etc/modprobe.d/no-gpu.conf",
				"# ours\n  blacklist\tamdgpu\n"}},
		{.name = "a file of /etc hides that of its name in /usr",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "sudo modprobe -v amdgpu",
			.files = {ROOT_USER, BARE_CARD, "etc/modprobe.d/gpu.conf", "\n",
				"usr/lib/modprobe.d/gpu.conf", "blacklist amdgpu\n"}},
		{.name = "files that modprobe does not read",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "sudo modprobe -v amdgpu",
			.files = {ROOT_USER, BARE_CARD, "etc/modprobe.d/gpu.conf.bak",
				"blacklist amdgpu\n"}},
		{.name = "never to be installed",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "/lib/modprobe.d/x.conf",
			.files = {ROOT_USER, BARE_CARD, "lib/modprobe.d/x.conf",
				"install amdgpu /bin/false\n"}},
		{.name = "still starting",
			.findings = "rock-module-not-loaded",
			.targets = "",
			.says = "its state is 'coming'",
			.files = {ROOT_USER, BARE_CARD, "sys/module/amdgpu/initstate", "coming\n"}},
		{.name = "loaded, and this card not taken",
			.findings = "gpu-not-in-kfd",
			.targets = "",
			.says = "no driver has taken the GPU at 0000:03:00.0",
			.files = {ROOT_USER, BARE_CARD, "sys/module/amdgpu/initstate", "live\n"}},
	};
	CHECK(kinds);
}

static void cards_beside_those_of_kfd_are_seen(void **state)
{
	(void)state;
#define ONE_GPU                                                                                    \
	ROOT_USER, KFD_NODE, "dev/dri/renderD128", "", KFD "1/properties",                         \
		"gfx_target_version 110000\n" CARD("768", "128")
	static const struct kind kinds[] = {
		{.name = "one for a virtual machine",
			.findings = "gpu-other-driver",
			.targets = "gfx1100",
			.says = "the driver 'vfio-pci' holds the GPU at 0000:07:00.0",
			.files = {ONE_GPU, AMD("0000:03:00.0", "amdgpu"),
				AMD("0000:07:00.0", "vfio-pci")}},
		{.name = "one too old for computing",
			.findings = "gpu-not-in-kfd",
			.targets = "gfx1100",
			.says = "does not list it",
			.files = {ONE_GPU, AMD("0000:03:00.0", "amdgpu"),
				AMD("0000:07:00.0", "amdgpu")}},
		{.name = "sound functions of the card do not count",
			.findings = "",
			.targets = "gfx1100",
			.files = {ONE_GPU, AMD("0000:03:00.0", "amdgpu"), PCI "0000:03:00.1/vendor",
				"0x1002\n", PCI "0000:03:00.1/class", "0x040300\n"}},
		{.name = "another maker's card does not count",
			.findings = "",
			.targets = "gfx1100",
			.files = {ONE_GPU, PCI "0000:09:00.0/vendor", "0x10de\n",
				PCI "0000:09:00.0/class", "0x030000\n", PCI "0000:09:00.0/uevent",
				"DRIVER=nvidia\n"}},
		{.name = "accelerators without a display count",
			.findings = "gpu-not-in-kfd",
			.targets = "gfx1100",
			.says = "0000:0c:00.0",
			.files = {ONE_GPU, PCI "0000:0c:00.0/vendor", "0x1002\n",
				PCI "0000:0c:00.0/class", "0x120000\n", PCI "0000:0c:00.0/uevent",
				"DRIVER=amdgpu\n"}},
	};
	CHECK(kinds);
}

static void nodes_that_are_not_there_are_told(void **state)
{
	(void)state;
#define TWO_GPUS                                                                                   \
	KFD "1/properties", "gfx_target_version 120001\n" CARD("768", "128"), KFD "2/properties",  \
		"gfx_target_version 120001\n" CARD("1792", "129")
	static const struct kind kinds[] = {
		{.name = "no /dev/kfd",
			.findings = "kfd-missing-node",
			.targets = "gfx1201,gfx1201",
			.says = "lists 2 GPUs for computing, but /dev/kfd is not there",
			.files = {ROOT_USER, TWO_GPUS, "dev/dri/renderD128", "",
				"dev/dri/renderD129", ""}},
		{.name = "none in a container",
			.findings = "kfd-missing-node render-node-missing",
			.targets = "gfx1201,gfx1201",
			.says = "--device=/dev/kfd --device=/dev/dri",
			.files = {ROOT_USER, TWO_GPUS, "run/.containerenv", ""}},
		{.name = "none in a pod",
			.findings = "kfd-missing-node render-node-missing",
			.targets = "gfx1201,gfx1201",
			.says = "request the resource amd.com/gpu",
			.files = {ROOT_USER, TWO_GPUS, "run/secrets/kubernetes.io/token", ""}},
		{.name = "none in apptainer",
			.findings = "kfd-missing-node render-node-missing",
			.targets = "gfx1201,gfx1201",
			.says = "start it with --rocm",
			.files = {ROOT_USER, TWO_GPUS, ".singularity.d/runscript", ""}},
		{.name = "one render node of two",
			.findings = "render-node-missing",
			.targets = "gfx1201,gfx1201",
			.says = "GPU 2 (gfx1201) has no render node: '/dev/dri/renderD129'",
			.files = {ROOT_USER, TWO_GPUS, KFD_NODE, "dev/dri/renderD128", ""}},
		{.name = "both render nodes",
			.findings = "render-node-missing",
			.targets = "gfx1201,gfx1201",
			.says = "GPU 1 (gfx1201) and 1 more has no render node",
			.files = {ROOT_USER, TWO_GPUS, KFD_NODE, "dev/dri/card0", ""}},
		{.name = "an old driver does not name the node: any will do",
			.findings = "",
			.targets = "gfx90a",
			.files = {ROOT_USER, KFD_NODE, KFD "1/properties",
				"gfx_target_version 90010\n", "dev/dri/renderD131", ""}},
	};
	CHECK(kinds);
}

static void unreadable_parts_do_not_hide_the_rest(void **state)
{
	(void)state;
	static const struct kind kinds[] = {
		{.name = "one node's properties are a folder",
			.findings = "fact-unreadable",
			.targets = "gfx1100",
			.says = "nodes/2/properties' cannot be read",
			.files = {ONE_GPU, KFD "2/properties/odd", ""}},
		{.name = "a node without properties",
			.findings = "fact-unreadable",
			.targets = "gfx1100",
			.says = "nodes/2/properties' is not there",
			.files = {ONE_GPU, KFD "2/name", "raven\n"}},
		{.name = "KFD is there and lists nothing",
			.findings = "gpu-not-in-kfd",
			.targets = "",
			.says = "the compute driver (KFD) does not list it",
			.files = {ROOT_USER, KFD_NODE, KFD "0/properties", "cpu_cores_count 8\n",
				AMD("0000:03:00.0", "amdgpu")}},
		{.name = "a kernel without KFD",
			.findings = "gpu-not-in-kfd",
			.targets = "",
			.says = "this kernel has no compute driver (KFD)",
			.files = {ROOT_USER, AMD("0000:03:00.0", "amdgpu")}},
		{.name = "memory that is a folder",
			.findings = "fact-unreadable",
			.targets = "gfx1100",
			.says = "'/proc/meminfo'",
			.files = {ONE_GPU, "proc/meminfo/x", ""}},
		{.name = "nobody knows who we are",
			.findings = "fact-unreadable no-gpu",
			.targets = "",
			.says = "'/proc/self/status' is not there",
			.files = {"etc/os-release", "ID=debian\n"}},
		{.name = "a target of the future",
			.findings = "gpu-unknown-target",
			.targets = "gfx1399",
			.says = "GPU 1 is gfx1399, which this rocsmith does not know",
			.files = {ROOT_USER, KFD_NODE, "dev/dri/renderD128", "", KFD "1/properties",
				"gfx_target_version 130909\n" CARD("768", "128")}},
		{.name = "a virtual machine without a GPU",
			.findings = "no-gpu",
			.targets = "",
			.says = "pass a GPU through",
			.files = {ROOT_USER, "proc/cpuinfo", "flags\t\t: fpu hypervisor sse\n"}},
		{.name = "a container in a virtual machine: the container is nearer",
			.findings = "no-gpu",
			.targets = "",
			.says = "no AMD GPU in this container",
			.files = {ROOT_USER, "proc/cpuinfo", "flags\t\t: hypervisor\n",
				".dockerenv", ""}},
		{.name = "a word that only begins like the flag",
			.findings = "no-gpu",
			.targets = "",
			.says = "no AMD GPU in this computer",
			.files = {ROOT_USER, "proc/cpuinfo", "flags\t\t: hypervisor2\n"}},
	};
	CHECK(kinds);
}

/* Owner, group and mode of the nodes come from .nodes, which works without root rights. */
static void access_depends_on_ids_and_not_on_names(void **state)
{
	(void)state;
#define GPU_NODES                                                                                  \
	KFD_NODE, "dev/dri/renderD128", "", KFD "1/properties",                                    \
		"gfx_target_version 110000\n" CARD("768", "128")
#define ALICE(groups)                                                                              \
	"proc/self/status",                                                                        \
		"Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t" groups     \
		" \n"
	static const struct kind kinds[] = {
		{.name = "in the group",
			.findings = "",
			.targets = "gfx1100",
			.files = {GPU_NODES, ALICE("27 992"), ".nodes",
				"dev/kfd 0660 0 992\ndev/dri/renderD128 0660 0 992\n"}},
		{.name = "in a group of that name with another number",
			.findings = "kfd-permission",
			.targets = "gfx1100",
			.says = "start the container with --group-add 992",
			.files = {GPU_NODES, ALICE("44 109"), ".dockerenv", "", "etc/group",
				"video:x:44:\nrender:x:109:\n", ".nodes",
				"dev/kfd 0660 0 992\ndev/dri/renderD128 0660 0 992\n"}},
		{.name = "two groups, one of them ours",
			.findings = "kfd-permission",
			.targets = "gfx1100",
			.says = "sudo usermod -aG video",
			.files = {GPU_NODES, ALICE("109"), "etc/group",
				"video:x:44:\nrender:x:109:\n", ".nodes",
				"dev/kfd 0660 0 44\ndev/dri/renderD128 0660 0 109\n"}},
		{.name = "both of one group: said once",
			.findings = "kfd-permission",
			.targets = "gfx1100",
			.says = "may not open '/dev/kfd' and 1 more",
			.files = {GPU_NODES, ALICE("27"), "etc/group", "render:x:109:\n", ".nodes",
				"dev/kfd 0660 0 109\ndev/dri/renderD128 0660 0 109\n"}},
		{.name = "root of a user namespace, whose device is of ids that are not mapped",
			.findings = "kfd-permission",
			.targets = "gfx1100",
			.says = "podman run --group-add keep-groups",
			.files = {GPU_NODES, ROOT_USER, "run/.containerenv", "", ".nodes",
				"dev/kfd 0660 65534 65534\ndev/dri/renderD128 0660 65534 65534\n"}},
		{.name = "it kept its groups, which it sees so",
			.findings = "",
			.targets = "gfx1100",
			.files = {GPU_NODES, "proc/self/status",
				"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t65534 \n", ".nodes",
				"dev/kfd 0660 65534 65534\ndev/dri/renderD128 0660 65534 65534\n"}},
		{.name = "open to all",
			.findings = "",
			.targets = "gfx1100",
			.files = {GPU_NODES, ALICE(""), ".nodes",
				"dev/kfd 0666 0 0\ndev/dri/renderD128 0666 0 0\n"}},
		{.name = "the owner's bits count for the owner, not the group's",
			.findings = "kfd-permission",
			.targets = "gfx1100",
			.says = "mode 0066",
			.files = {GPU_NODES, ALICE("992"), ".nodes",
				"dev/kfd 0066 1000 992\ndev/dri/renderD128 0666 0 0\n"}},
		{.name = "the group's bits count for the group, not the others'",
			.findings = "kfd-permission",
			.targets = "gfx1100",
			.says = "sudo chmod g+rw /dev/kfd",
			.files = {GPU_NODES, ALICE("992"), ".nodes",
				"dev/kfd 0606 0 992\ndev/dri/renderD128 0666 0 0\n"}},
		{.name = "reading alone is not enough",
			.findings = "kfd-permission",
			.targets = "gfx1100",
			.says = "sudo chmod g+rw /dev/kfd",
			.files = {GPU_NODES, ALICE("992"), ".nodes",
				"dev/kfd 0640 0 992\ndev/dri/renderD128 0666 0 0\n"}},
	};
	CHECK(kinds);
}

static void wsl_is_told_from_linux(void **state)
{
	(void)state;
	static const struct kind kinds[] = {
		{.name = "WSL with a GPU",
			.findings = "wsl-gpu",
			.targets = "",
			.says = "rocsmith doctor --gpu",
			.files = {ROOT_USER, "dev/dxg", "", "proc/sys/kernel/osrelease",
				"5.15.167.4-microsoft-standard-WSL2\n"}},
		{.name = "WSL without",
			.findings = "wsl-no-gpu",
			.targets = "",
			.says = "wsl --shutdown",
			.files = {ROOT_USER, "proc/sys/kernel/osrelease",
				"5.15.167.4-Microsoft-standard-WSL2\n"}},
		{.name = "a GPU that KFD shows is better than /dev/dxg",
			.findings = "",
			.targets = "gfx1100",
			.files = {ONE_GPU, "dev/dxg", ""}},
	};
	CHECK(kinds);
}

/* The facts of a recording are those of its machine, whatever the machine is like. */
static void a_recording_keeps_findings_and_targets(void **state)
{
	(void)state;
	static const char *const machines[][FILES] = {
		{ONE_GPU, AMD("0000:03:00.0", "amdgpu"), AMD("0000:07:00.0", "vfio-pci")},
		{ROOT_USER, BARE_CARD, "etc/modprobe.d/no.conf", "blacklist amdgpu\n# by alice\n"},
		{GPU_NODES, ALICE("109"), "etc/group",
			"video:x:44:\nrender:x:109:\nalice:x:1000:\n", ".nodes",
			"dev/kfd 0660 0 44\ndev/dri/renderD128 0660 0 109\n"},
		{ROOT_USER, TWO_GPUS, "run/secrets/kubernetes.io/token", "secret"},
	};
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		ARENA(a);
		struct machine m, again;
		unsigned files;
		struct str dir = build(&a, machines[i]), copy = test_dir(&a), text;
		assert_ok(machine_record(dir, copy, &files));
		assert_ok(machine_examine(&a, dir, &m));
		assert_ok(machine_examine(&a, copy, &again));
		assert_str(text_of_findings(&a, &again), text_of_findings(&a, &m).p);
		assert_str(targets_of(&a, &again), targets_of(&a, &m).p);
		assert_false(fs_exists(path_join(&a, copy, S("run/secrets/kubernetes.io/token"))));
		assert_ok(fs_read_opt(
			&a, path_join(&a, copy, S("etc/modprobe.d/no.conf")), 1 << 16, &text));
		assert_false(text.p && str_contains(text, S("alice")));
		assert_ok(fs_read_opt(&a, path_join(&a, copy, S("etc/group")), 1 << 16, &text));
		assert_false(text.p && str_contains(text, S("alice")));
		test_dir_remove(dir);
		test_dir_remove(copy);
	}
}

/* What the kernel says in numbers, at its edges. */
static void numbers_of_a_gpu_are_understood(void **state)
{
	(void)state;
	static const struct {
		const char *properties;
		const char *pci, *render;
		unsigned units;
		bool apu;
	} cases[] = {
		{.properties = "gfx_target_version 110000\nlocation_id 768\nsimd_count 192\n"
			       "simd_per_cu 2\ndrm_render_minor 128\n",
			.pci = "0000:03:00.0",
			.render = "/dev/dri/renderD128",
			.units = 96},
		{.properties = "gfx_target_version 90402\nlocation_id 771\ndomain 2\n",
			.pci = "0002:03:00.3",
			.render = ""},
		{.properties = "gfx_target_version 90402\nlocation_id 536871680\n", /* partition */
			.pci = "0000:03:00.0",
			.render = ""},
		{.properties = "gfx_target_version 90402\ndomain 65536\nlocation_id 65535\n",
			.pci = "10000:ff:1f.7",
			.render = ""},
		{.properties = "gfx_target_version 110000\ndrm_render_minor 127\n",
			.pci = "",
			.render = ""},
		{.properties = "gfx_target_version 110000\ndrm_render_minor -1\nsimd_count 8\n",
			.pci = "",
			.render = ""},
		{.properties = "gfx_target_version 90402\ndevice_id 29856\n", /* MI300A */
			.pci = "",
			.render = "",
			.apu = true},
		{.properties = "gfx_target_version 90402\ndevice_id 29857\n",
			.pci = "",
			.render = ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		const char *files[] = {KFD "3/properties", cases[i].properties, NULL};
		struct str dir = build(&a, files);
		assert_ok(machine_examine(&a, dir, &m));
		assert_int_equal(m.gpus.n, 1);
		assert_int_equal(m.gpus.v[0].node, 3);
		assert_str(m.gpus.v[0].pci, cases[i].pci);
		assert_str(m.gpus.v[0].render, cases[i].render);
		assert_int_equal(m.gpus.v[0].compute_units, cases[i].units);
		assert_int_equal(m.gpus.v[0].apu, cases[i].apu);
		test_dir_remove(dir);
	}
}

static void free_memory_is_some_of_it(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	assert_ok(machine_examine(&a, S(""), &m));
	assert_true(machine_memory_free(S("")) > 0 && machine_memory_free(S("")) <= m.memory);
}

static void put(struct arena *a, struct str dir, const char *path, const char *text)
{
	struct str full = path_join(a, dir, str_from(path));
	assert_ok(fs_mkdirs(path_dir(full)));
	test_put(full, text);
}

static void limits_of_control_groups_count(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	put(&a, dir, "proc/meminfo", "MemTotal: 8000 kB\nMemAvailable:    1000 kB\n");
	assert_int_equal(machine_memory_free(dir), 1000 << 10);
	/* version 2: the group has no limit, the one above it has */
	put(&a, dir, "proc/self/cgroup", "0::/user/build\n");
	put(&a, dir, "sys/fs/cgroup/user/build/memory.max", "max\n");
	put(&a, dir, "sys/fs/cgroup/user/memory.max", "600000\n");
	put(&a, dir, "sys/fs/cgroup/user/memory.current", "500000\n");
	put(&a, dir, "sys/fs/cgroup/user/memory.stat", "anon 5\ninactive_file 300000\n");
	assert_int_equal(machine_memory_free(dir), 400000);
	put(&a, dir, "sys/fs/cgroup/user/memory.stat", "inactive_file 999999999\n");
	assert_int_equal(machine_memory_free(dir), 600000);
	/* what has to be slowed down is a limit, too; files that are read often can go as well */
	put(&a, dir, "sys/fs/cgroup/user/memory.stat", "inactive_file 100000\nactive_file 50000\n");
	put(&a, dir, "sys/fs/cgroup/user/build/memory.high", "max\n");
	put(&a, dir, "sys/fs/cgroup/user/memory.high", "550000\n");
	assert_int_equal(machine_memory_free(dir), 200000);
	/* pressure is the worst of what the kernel tells */
	assert_int_equal(machine_memory_room(dir), 200000);
	put(&a, dir, "proc/pressure/memory",
		"some avg10=90.00 avg60=1.00 total=7\nfull avg10=2.50 avg60=0.00 total=5\n");
	assert_int_equal(machine_memory_room(dir), 200000);
	put(&a, dir, "sys/fs/cgroup/user/memory.pressure", "full avg10=12.00 avg60=0.00\n");
	assert_int_equal(machine_memory_room(dir), 0);
	/* version 1, and nothing left */
	put(&a, dir, "proc/self/cgroup", "5:cpu,memory:/\n0::/\n4:pids:/user\n\nodd\n");
	put(&a, dir, "sys/fs/cgroup/memory/memory.limit_in_bytes", "300000\n");
	put(&a, dir, "sys/fs/cgroup/memory/memory.usage_in_bytes", "300001\n");
	assert_int_equal(machine_memory_free(dir), 0);
	put(&a, dir, "sys/fs/cgroup/memory/memory.stat", "total_inactive_file 100001\n");
	assert_int_equal(machine_memory_free(dir), 100000);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_of_every_kind_are_listed),
		cmocka_unit_test(a_driver_that_is_kept_away_is_explained),
		cmocka_unit_test(cards_beside_those_of_kfd_are_seen),
		cmocka_unit_test(nodes_that_are_not_there_are_told),
		cmocka_unit_test(unreadable_parts_do_not_hide_the_rest),
		cmocka_unit_test(access_depends_on_ids_and_not_on_names),
		cmocka_unit_test(wsl_is_told_from_linux),
		cmocka_unit_test(a_recording_keeps_findings_and_targets),
		cmocka_unit_test(numbers_of_a_gpu_are_understood),
		cmocka_unit_test(free_memory_is_some_of_it),
		cmocka_unit_test(limits_of_control_groups_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
