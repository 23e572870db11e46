/* Facts of a machine's kernel, account, variables, disks and ROCm, each from a small machine that is written file by file; and
 * what of them a recording tells. */
#include "base/buf.h"
#include "unit/fixture_machine.h"

/* ---- the machine ---- */
#define TTM "sys/module/ttm/parameters/pages_limit"
#define AMDTTM "sys/module/amdttm/parameters/pages_limit"
#define GTTSIZE "sys/module/amdgpu/parameters/gttsize"
#define EFI "sys/firmware/efi/efivars/"
#define BOOT "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static void what_gpus_may_map_of_the_memory(void **state)
{
	(void)state;
	static const struct {
		uint64_t limit;
		const char *files[MORE];
	} cases[] = {
		{31457280ull << 12, {TTM, "31457280\n"}},
		{31457280ull << 12, {TTM, "31457280\n", GTTSIZE, "-1\n"}},
		{4096ull << 20, {TTM, "31457280\n", GTTSIZE, "4096\n"}},
		{1024ull << 12, {TTM, "1024\n", GTTSIZE, "4096\n"}},
		{4096ull << 20, {GTTSIZE, "4096\n"}},
		{2048ull << 12, {AMDTTM, "2048\n"}},
		{0, {TTM, "18446744073709551615\n"}},
		{0, {GTTSIZE, "18446744073709551615\n"}},
		{0, {TTM, "junk\n"}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str dir = machine_of(&a, cases[i].files), copy;
		read_twice(&a, dir, &m, &copy);
		assert_int_equal(m.gtt_limit, cases[i].limit);
		done(dir, copy);
	}
}

static void secure_boot_matters_where_the_driver_is_out(void **state)
{
	(void)state;
	static const char *const files[] = {"proc/modules", "", NULL};
	static const struct str on = S_INIT("\x06\0\0\0\x01"), off = S_INIT("\x06\0\0\0\0");
	for (unsigned i = 0; i < 4; i++) {
		ARENA(a);
		struct machine m;
		struct str dir = machine_of(&a, files), copy;
		put(&a, dir, EFI "none", "");
		assert_ok(fs_write(path_join(&a, dir, S(EFI BOOT)),
			i == 1 ? off : str_sub(on, 0, i == 2 ? 4 : 5), 0644));
		if (i == 3)
			put(&a, dir, "sys/module/amdgpu/initstate", "live\n");
		read_twice(&a, dir, &m, &copy);
		assert_int_equal(m.driver.secure_boot, i == 0);
		done(dir, copy);
	}
}

#define PARAMETERS "sys/module/amdgpu/parameters/"
#define DKMS "var/lib/dkms/amdgpu/6.10.5-1.22.04/"

static struct str driver_text(struct arena *a, const struct machine *m)
{
	BUF(b, a);
	buf_fmt(&b, "%.*s:", STR(str_join(a, &m->driver.options, S(" "))));
	VEC_EACH (const struct machine_unknown, u, &m->driver.unknown)
		buf_fmt(&b, " %.*s(%.*s)", STR(u->name), STR(u->nearest));
	return buf_str(&b);
}

static void parameters_of_modules_are_compared_with_what_they_have(void **state)
{
	(void)state;
	static const struct {
		bool whole;
		const char *want, *files[MORE];
	} cases[] = {
		{false, "amdgpu.gttsize=7:", {PARAMETERS "gttsize", "7\n"}},
		{false, ":", {PARAMETERS "gttsize", "-1\n"}},
		{false,
			"amdgpu.ggtsize=1 amdgpu.gartsize=2 ttm.pages_limit=3: "
			"amdgpu.gtt_size(gttsize) amdgpu.ggtsize(gttsize)",
			{PARAMETERS "gttsize", "-1\n", "proc/cmdline",
				"amdgpu.gtt-size=1 amdgpu.dyndbg=+p amdgpu.lbpw=0\n",
				"etc/modprobe.d/a.conf",
				"# options amdgpu x=1\noptions amdgpu ggtsize=1 "
				"gartsize=2\noptions ttm pages_limit=3\noptions snd y=1\n",
				"usr/lib/modprobe.d/a.conf", "options amdgpu z=1\n"}},
		{true, ": amdgpu.never()", {"proc/cmdline", "amdgpu.never=1 amdgpu.p7=1\n"}},
		{false, ":", {"proc/cmdline", "amdgpu.gttsiz=1 amdgpu. ttm.x\n"}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str dir = machine_of(&a, cases[i].files), copy;
		for (unsigned k = 0; cases[i].whole && k < 40; k++)
			put(&a, dir, str_fmt(&a, PARAMETERS "p%u", k).p, "0\n");
		read_twice(&a, dir, &m, &copy);
		assert_str(driver_text(&a, &m), cases[i].want);
		done(dir, copy);
	}
}

static void a_driver_may_be_built_for_another_kernel(void **state)
{
	(void)state;
	static const char log[] = "DKMS make.log for amdgpu-6.10.5-1.22.04 for kernel "
				  "6.8.0-49-generic (x86_64)\nuser alice\n";
	static const struct {
		const char *version, *log, *files[MORE];
	} cases[] = {
		{"6.10.5-1.22.04", "/" DKMS "build/make.log", {DKMS "build/make.log", log}},
		{"6.10.5-1.22.04", "",
			{DKMS "build/make.log", "DKMS make.log for kernel 6.8.0-4 (x86_64)\n"}},
		{"6.10.5-1.22.04", "", {DKMS "6.8.0-31-generic/x86_64/log/make.log", ""}},
		{"", "",
			{DKMS "build/make.log", log,
				DKMS "6.8.0-49-generic/x86_64/module/amdgpu.ko", ""}},
		{"", "", {"var/lib/dkms/amdgpu/kernel-6.8/x", ""}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str dir = machine_of(&a, cases[i].files), copy;
		put(&a, dir, "proc/sys/kernel/osrelease", "6.8.0-49-generic\n");
		read_twice(&a, dir, &m, &copy);
		assert_str(m.driver.dkms, cases[i].version);
		assert_str(m.driver.dkms_log, cases[i].log);
		done(dir, copy);
	}
}

static void pressure_is_recorded_without_names_of_groups(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	static const char *const files[] = {"proc/self/cgroup", "0::/alice.slice/build\n",
		"proc/pressure/memory", "some avg10=9.00 total=7\nfull avg10=2.50 total=5\n",
		"sys/fs/cgroup/alice.slice/memory.pressure", "full avg10=12.25 total=1\n", NULL};
	struct str dir = machine_of(&a, files), copy;
	read_twice(&a, dir, &m, &copy);
	assert_true(m.pressure > 12.24 && m.pressure < 12.26);
	test_has(path_join(&a, copy, S("proc/pressure/memory")), "full avg10=12.25\n");
	assert_false(fs_exists(path_join(&a, copy, S("proc/self/cgroup"))));
	assert_false(fs_exists(path_join(&a, copy, S("sys/fs"))));
	done(dir, copy);
}

#define GROUP "sys/kernel/iommu_groups/12/type"
#define UNIT "sys/class/iommu/ivhd0/x"

/* Where osrelease is missing, the kernel's version is in the line that also has its builder. */
static void a_kernel_is_recorded_without_its_builder(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	static const char *const files[] = {"proc/version",
		"Linux version 6.12.1-rc3 (alice@builder) (gcc 14, GNU ld 2.43) #1 SMP\n", NULL};
	struct str dir = machine_of(&a, files), copy;
	read_twice(&a, dir, &m, &copy);
	assert_str(m.kernel, "6.12.1-rc3");
	test_has(path_join(&a, copy, S("proc/version")), "Linux version 6.12.1-rc3\n");
	done(dir, copy);
}

static void the_iommu_is_what_the_kernel_says_of_the_gpu(void **state)
{
	(void)state;
	static const struct {
		const char *want, *group, *files[MORE];
	} cases[] = {
		{"", NULL, {"proc/cmdline", "quiet\n"}},
		{"on", "12", {UNIT, "", GROUP, "DMA-FQ\n"}},
		{"on", "12", {GROUP, "DMA\n", "proc/cmdline", "iommu=pt\n"}},
		{"passthrough", "12", {UNIT, "", GROUP, "identity\n"}},
		{"passthrough", NULL, {UNIT, "", "proc/cmdline", "quiet iommu=pt\n"}},
		{"passthrough", NULL, {UNIT, "", "proc/cmdline", "iommu.passthrough=1\n"}},
		{"on", "12", {UNIT, "", "proc/cmdline", "amd_iommu=on\n"}},
		{"off", NULL, {"proc/cmdline", "amd_iommu=off\n"}},
		{"off", NULL, {"proc/cmdline", "intel_iommu=off\n"}},
		/* it is asked for, but there is none */
		{"", NULL, {"proc/cmdline", "iommu=pt\n"}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str dir = machine_of(&a, cases[i].files), copy;
		put(&a, dir, PCI "vendor", "0x1002\n");
		if (cases[i].group)
			link_to(&a, dir, PCI "iommu_group", "../../../kernel/iommu_groups/12");
		read_twice(&a, dir, &m, &copy);
		assert_str(m.iommu, cases[i].want);
		done(dir, copy);
	}
	/* the folder of the class without anything in it */
	ARENA(a);
	struct machine m;
	struct str dir = test_dir(&a);
	assert_ok(fs_mkdirs(path_join(&a, dir, S("sys/class/iommu"))));
	assert_ok(machine_read(&a, dir, &m));
	assert_str(m.iommu, "off");
	test_dir_remove(dir);
}

/* ---- account ---- */
#define PASSWD "root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000:Alice L,,,:/data/alice:/bin/sh\n"

static void groups_of_the_account_are_told_without_its_name(void **state)
{
	(void)state;
	static const struct {
		const char *passwd, *group, *want, *recorded;
	} cases[] = {
		{PASSWD,
			"video:x:44:bob,alice\nrender:x:992:alice\nalice:x:1000:\nsecret:x:2001:"
			"alice,bob\n"
			"audio:x:29:alicea,malice,alic\n",
			"1000, video, render, 2001",
			"video:x:44:user\nrender:x:992:user\n2001:x:2001:user\n"},
		/* a name of its own below 1000 is private too */
		{"alice:x:1000:500::/home/alice:\n", "alice:x:500:alice\nrender:x:992: alice \n",
			"500, render", "render:x:992:user\n"},
		/* LDAP: nothing in /etc */
		{"root:x:0:0:root:/root:\n", "render:x:992:alice\n", "", ""},
		{"alice:x:1000:x\n", "render:x:junk:alice\nrender:x:99999999999:alice\n", "", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		const char *const files[] = {STATUS("1000"), "etc/passwd", cases[i].passwd,
			"etc/group", cases[i].group, NULL};
		struct str dir = machine_of(&a, files), copy;
		read_twice(&a, dir, &m, &copy);
		assert_str(str_join(&a, &m.account_groups, S(", ")), cases[i].want);
		test_has(path_join(&a, copy, S("etc/group")), cases[i].recorded);
		done(dir, copy);
	}
}

static void seccomp_is_that_of_this_process(void **state)
{
	(void)state;
	static const char *const cases[][2] = {{"Seccomp:\t0\n", "off"},
		{"Seccomp:\t1\n", "strict"}, {"Seccomp:\t2\n", "filter"}, {"Seccomp:\t7\n", ""},
		{"Seccomp:\t22\n", ""}, {"", ""}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str text = str_fmt(&a, "Uid:\t1\t1\nGid:\t1\t1\n%s", cases[i][0]), copy;
		const char *const files[] = {"proc/self/status", text.p, NULL};
		struct str dir = machine_of(&a, files);
		read_twice(&a, dir, &m, &copy);
		assert_str(m.seccomp, cases[i][1]);
		done(dir, copy);
	}
}

/* ---- variables, disks ---- */
static void names_of_users_are_hidden(void **state)
{
	(void)state;
	ARENA(a);
	const struct root r = {
		.user = S("alice"), .home = S("data/homes/alice"), .real_home = S("nfs/a.liddell")};
	static const char *const cases[][2] = {
		{"/data/homes/alice", "/home/user"},
		{"/nfs/a.liddell/x", "/home/user/x"},
		{"/data/homes/alice/venv:/data/homes/alice2/x",
			"/home/user/venv:/data/homes/alice2/x"},
		{"/home/bob/x:/home/carol", "/home/other/x:/home/other"},
		{"/home:/home/:/home//x", "/home:/home/:/home//x"},
		{"/home/user/x", "/home/other/x"},
		{"/mnt/c/Users/Bob Smith/AppData:/x", "/mnt/c/home/other/AppData:/x"},
		{"/scratch/alice/x /nfs/alice", "/scratch/user/x /nfs/user"},
		{"/opt/alice.d/malice/alices/alice-x", "/opt/user.d/malice/alices/user-x"},
		{"/tmp/miopen_alice:alice", "/tmp/miopen_user:user"},
		{"\xc3\xa9"
		 "alice alice\xc3\xa9",
			"\xc3\xa9"
			"alice alice\xc3\xa9"},
		{"a=/home/bob\nb=\"/home/bob\"", "a=/home/other\nb=\"/home/other\""},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_str(root_hide(&r, &a, str_from(cases[i][0]), true), cases[i][1]);
	assert_str(root_hide(&r, &a, S("/x/alice/home/bob"), false), "/x/alice/home/other");
	/* names that say nothing, and no user at all */
	const struct root rocm = {.user = S("rocm"), .home = S("opt/rocm")}, none = {.a = &a};
	const struct root root = {.user = S("root"), .home = S("root")};
	assert_str(root_hide(&rocm, &a, S("/usr/rocm"), true), "/usr/rocm");
	assert_str(root_hide(&none, &a, S("/usr/x/home/bob"), true), "/usr/x/home/other");
	assert_str(root_hide(&root, &a, S("/root/venv"), true), "/root/venv");
}

/* "NAME=value;..." as the kernel separates it */
static void put_environ(struct arena *a, struct str dir, const char *text)
{
	char *p = str_z(a, str_from(text));
	size_t n = strlen(p);
	for (size_t i = 0; i < n; i++)
		p[i] = p[i] == ';' ? 0 : p[i];
	assert_ok(fs_mkdirs(path_join(a, dir, S("proc/self"))));
	assert_ok(fs_write(
		path_join(a, dir, S("proc/self/environ")), (struct str){.p = p, .n = n}, 0644));
}

/* The kubelet gives each pod this variable; its mount is there only with an account. */
static void a_pod_without_an_account_is_one(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct str dir = test_dir(&a), copy;
	put_environ(&a, dir, "KUBERNETES_SERVICE_HOST=10.96.0.1;");
	read_twice(&a, dir, &m, &copy);
	assert_str(m.container_kind, "kubernetes");
	done(dir, copy);
}

static void variables_that_matter_are_told(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	static const char *const files[] = {STATUS(""), "etc/passwd", PASSWD, NULL};
	struct str dir = machine_of(&a, files), copy, text;
	put_environ(&a, dir,
		"PATH=/home/bob/bin:/bin;LD_LIBRARY_PATH=/opt/x;HIP_VISIBLE_DEVICES=;TOKEN=secret;"
		"HSA_XNACK=1\033[31m;HOME=/data/alice;USER=alice;XHSA_OVERRIDE_GFX_VERSION=1;"
		"HSA_OVERRIDE_GFX_VERSION=11.0.0;HSA_ENABLE_SDMA");
	read_twice(&a, dir, &m, &copy);
	BUF(b, &a);
	VEC_EACH (struct machine_variable, v, &m.variables) {
		buf_fmt(&b, "%.*s=%.*s;", STR(v->name), STR(v->value));
		assert_true(strlen(v->effect) > 10);
	}
	assert_str(buf_str(&b), "HIP_VISIBLE_DEVICES=;HSA_OVERRIDE_GFX_VERSION=11.0.0;"
				"HSA_XNACK=1[31m;LD_LIBRARY_PATH=/opt/x;");
	assert_ok(fs_read(&a, path_join(&a, copy, S("proc/self/environ")), 1 << 16, &text));
	for (size_t i = 0; i < text.n; i++)
		if (!text.p[i])
			((char *)(uintptr_t)text.p)[i] = ';';
	assert_str(text, "HIP_VISIBLE_DEVICES=;HOME=/home/user;HSA_OVERRIDE_GFX_VERSION=11.0.0;"
			 "HSA_XNACK=1[31m;LD_LIBRARY_PATH=/opt/x;PATH=/home/other/bin:/bin;");
	done(dir, copy);
}

/* That of its own node comes before that for all, as libhsakmt has it, and is in a recording as well. */
static void an_override_may_be_of_one_gpu(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	static const char *const files[] = {
		STATUS(""), NODES "0/properties", "cpu_cores_count 8\n", GPU("1"), GPU("2"), NULL};
	struct str dir = machine_of(&a, files), copy;
	put_environ(&a, dir, "HSA_OVERRIDE_GFX_VERSION_0=9.0.0;HSA_OVERRIDE_GFX_VERSION_2=10.3.0");
	read_twice(&a, dir, &m, &copy);
	assert_int_equal(m.gpus.n, 2);
	assert_str(m.gpus.v[0].override, "");
	assert_str(m.gpus.v[1].override, "HSA_OVERRIDE_GFX_VERSION_2");
	assert_str(m.gpus.v[1].override_target, "gfx1030");
	assert_int_equal(m.variables.n, 1);
	assert_str(m.variables.v[0].value, "10.3.0");
	put_environ(&a, dir, "HSA_OVERRIDE_GFX_VERSION=12.0.1;HSA_OVERRIDE_GFX_VERSION_2=10.3.0");
	assert_ok(machine_read(&a, dir, &m));
	assert_str(m.gpus.v[0].override, "HSA_OVERRIDE_GFX_VERSION");
	assert_str(m.gpus.v[1].override, "HSA_OVERRIDE_GFX_VERSION_2");
	done(dir, copy);
}

/* One's own name is shown on one's own machine, and "user" in what is sent away. */
static void a_home_has_another_name_in_a_recording(void **state)
{
	(void)state;
	ARENA(a);
	unsigned count;
	struct machine m;
	static const char *const files[] = {STATUS(""), "etc/passwd", PASSWD, ".disks",
		"home 9 5 /data/alice\nodd\ntmp x 3 /tmp\ncache 8 7 /data/alice/.cache/a b\n",
		"data/alice/x", "", "etc/modprobe.d/gpu.conf",
		"options amdgpu lockup_timeout=9 # as Alice said\n", NULL};
	struct str dir = machine_of(&a, files), copy = path_join(&a, test_dir(&a), S("copy"));
	put_environ(&a, dir,
		"VIRTUAL_ENV=/data/alice/venv;MIOPEN_USER_DB_PATH=/tmp/miopen-alice;"
		"ROCR_VISIBLE_DEVICES=0,GPU-7c5a4d9c8f2b1e3a");
	link_to(&a, dir, "opt/rocm", "/data/alice/rocm");
	put(&a, dir, "data/alice/rocm/.info/version", "7.0.0\n");
	assert_ok(machine_read(&a, dir, &m));
	assert_str(m.variables.v[0].value, "/tmp/miopen-alice");
	assert_str(m.variables.v[2].value, "/data/alice/venv");
	assert_int_equal(m.disks.n, 2);
	assert_str(m.disks.v[1].path, "/data/alice/.cache/a b");
	assert_str(m.sdks.v[0].path, "/data/alice/rocm");
	assert_ok(machine_record(dir, copy, &count));
	assert_ok(machine_read(&a, copy, &m));
	assert_str(m.variables.v[0].value, "/tmp/miopen-user");
	assert_str(m.variables.v[1].value, "0,GPU-0000000000000000");
	assert_str(m.variables.v[2].value, "/home/user/venv");
	test_has(path_join(&a, copy, S("etc/modprobe.d/gpu.conf")),
		"options amdgpu lockup_timeout=9 \n");
	assert_str(m.disks.v[0].path, "/home/user");
	assert_int_equal(m.disks.v[0].size, 9);
	assert_int_equal(m.disks.v[0].free, 5);
	assert_str(m.sdks.v[0].path, "/home/user/rocm");
	assert_str(m.sdks.v[0].version, "7.0.0");
	done(dir, copy);
}

static void this_process_has_variables_and_disks(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	struct str dir = test_dir(&a), text;
	unsigned count, seen = 0;
	setenv("HSA_ENABLE_SDMA", "0", 1);
	setenv("HOME", "/nonexistent/eve", 1);
	setenv("TMPDIR", "/tmp/none/of/that", 1);
	unsetenv("HSA_XNACK");
	assert_ok(machine_read(&a, S(""), &m));
	VEC_EACH (struct machine_variable, v, &m.variables) {
		seen += str_eq(v->name, S("HSA_ENABLE_SDMA")) && str_eq(v->value, S("0"));
		assert_false(str_eq(v->name, S("HSA_XNACK")));
	}
	assert_int_equal(seen, 1);
	assert_int_equal(m.disks.n, 3 + m.container); /* and its shared memory */
	assert_str(m.disks.v[1].use, "home");
	assert_str(m.disks.v[1].path, "/nonexistent/eve");
	assert_str(m.disks.v[2].path, "/tmp/none/of/that");
	assert_true(m.disks.v[2].size >= m.disks.v[2].free && m.disks.v[2].size > 1 << 20);
	assert_ok(machine_record(S(""), dir, &count));
	assert_ok(fs_read(&a, path_join(&a, dir, S(".disks")), 1 << 16, &text));
	assert_true(str_contains(text, S(" /home/user\n")) && !str_contains(text, S("eve")));
	unsetenv("TMPDIR");
	test_dir_remove(dir);
}

static void the_table_of_variables_is_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < variable_count; i++) {
		const struct variable *v = &variable_table()[i];
		if (i && strcmp(v[-1].name, v->name) >= 0)
			fail_msg("%s is not in its place", v->name);
		assert_true(*v->effect && *v->evidence);
		assert_true(v->effect[strlen(v->effect) - 1] != '.');
	}
}

/* ---- ROCm ---- */
static void components_are_named_by_files(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	static const char *const files[] = {"opt/rocm-7.1.0/.info/version", "7.1.0-84\n",
		"opt/rocm-7.1.0/.info/version-hip-libraries", "7.0.2-56\n",
		"opt/rocm-7.1.0/.info/version-utils", "7.1.0-84\n",
		"opt/rocm-7.1.0/include/hip/hip_version.h",
		"#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n"
		"#define HIP_VERSION_PATCH 52802\n",
		"opt/rocm-7.1.0/lib/libamdhip64.so", "", "opt/rocm-7.1.0/lib/libamdhip64.so.7", "",
		"opt/rocm-7.1.0/lib/libamdhip64.so.7.1.70100", "",
		/* what an older release left */
		"opt/rocm-7.1.0/lib/libamdhip64.so.6.4.60403", "",
		"opt/rocm-7.1.0/lib/librocblas.so.5", "", "opt/rocm-7.1.0/lib/librocblas.so.5x", "",
		"opt/rocm-7.1.0/lib/librocblas.so.", "", "opt/rocm-7.1.0/lib/librocblasx.so.5", "",
		"opt/rocm-7.1.0/lib/rocblas.so.5", "", "opt/rocm-7.1.0/lib/llvm/lib/clang/20/x", "",
		"opt/rocm-7.1.0/lib/llvm/lib/clang/junk/x", "",
		"opt/rocm-7.1.0/lib/rocblas/library/TensileLibrary_lazy_gfx1201.dat", "",
		"opt/rocm-7.1.0/lib/rocblas/library/TensileLibrary_lazy_gfx906.dat", "", NULL};
	struct str dir = machine_of(&a, files), copy;
	read_twice(&a, dir, &m, &copy);
	assert_int_equal(m.sdks.n, 1);
	assert_str(m.sdks.v[0].kind, "tree");
	assert_str(str_join(&a, &m.sdks.v[0].rocblas, S(" ")), "gfx906 gfx1201");
	assert_str(parts_text(&a, &m.sdks.v[0].components),
		"hip-libraries 7.0.2-56, hip 7.1.52802, amdhip64 6.4.60403, amdhip64 7.1.70100, "
		"rocblas 5, clang 20, ");
	done(dir, copy);
}

static void a_distribution_has_its_own(void **state)
{
	(void)state;
	static const char *const libs[] = {"usr/lib/x86_64-linux-gnu", "usr/lib64"};
	for (size_t i = 0; i < 2; i++) {
		ARENA(a);
		struct machine m;
		struct str dir = test_dir(&a), copy;
		put(&a, dir, str_fmt(&a, "%s/librccl.so.1.0", libs[i]).p, "");
		assert_ok(machine_read(&a, dir, &m));
		assert_int_equal(m.sdks.n, 0); /* without HIP it is no ROCm */
		put(&a, dir, str_fmt(&a, "%s/libamdhip64.so.6.4.43484", libs[i]).p, "");
		read_twice(&a, dir, &m, &copy);
		assert_int_equal(m.sdks.n, 1);
		assert_str(m.sdks.v[0].kind, "system");
		assert_str(m.sdks.v[0].path, "/usr");
		assert_str(m.sdks.v[0].version, "6.4.43484");
		assert_str(
			parts_text(&a, &m.sdks.v[0].components), "amdhip64 6.4.43484, rccl 1.0, ");
		done(dir, copy);
	}
}

static void a_slimmed_tree_says_what_it_has_left(void **state)
{
	(void)state;
	static const struct {
		const char *head, *gpus;
		unsigned files;
	} cases[] = {
		{"{\n  \"schema\": \"rocsmith.slim/1\",\n  \"gpus\": [\n    \"gfx1100\",\n    "
		 "\"gfx90a\"\n  ],\n"
		 "  \"targets\": [\n    {\n      \"target\": \"gfx803\"\n    }\n  ],\n  \"files\": "
		 "[\n",
			"gfx1100 gfx90a", 40000}, /* larger than a file that is read whole */
		{"{\"gpus\": [\"gfx1\\u001b[31m\"]}", "gfx1[31m", 0},
		{"{\"gpus\": 5}", "5", 0},
		{"junk", "", 0},
		{"", "", 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		BUF(text, &a);
		buf_fmt(&text, "%s", cases[i].head);
		for (unsigned k = 0; k < cases[i].files; k++)
			buf_fmt(&text, "    {\"path\": \"lib/libsecret%u.so\"},\n", k);
		const char *const files[] = {"opt/rocm/.info/version", "7.0.0\n",
			"opt/rocm/rocsmith-slim.json", buf_str(&text).p, NULL};
		struct str dir = machine_of(&a, files), copy, kept;
		read_twice(&a, dir, &m, &copy);
		assert_true(m.sdks.v[0].slim);
		assert_str(str_join(&a, &m.sdks.v[0].slim_gpus, S(" ")), cases[i].gpus);
		assert_ok(fs_read(
			&a, path_join(&a, copy, S("opt/rocm/rocsmith-slim.json")), 1 << 20, &kept));
		assert_false(str_contains(kept, S("secret")));
		done(dir, copy);
	}
}

/* Rules read the facts as JSON, and no reader of that holds more. */
static void numbers_that_no_machine_has_are_bounded(void **state)
{
	(void)state;
#define HUGE_NUMBER "18446744073709551615"
	ARENA(a);
	struct machine m;
	static const char *const files[] = {GPU("1"), PCI "mem_info_gtt_total", HUGE_NUMBER "\n",
		"proc/meminfo", "MemTotal: " HUGE_NUMBER " kB\nMemAvailable: 7 kB\n", ".disks",
		"tmp " HUGE_NUMBER " " HUGE_NUMBER " /tmp\n",
		"sys/module/ttm/parameters/pages_limit", "4503599627370494\n",
		"proc/pressure/memory", "full avg10=1e300 avg60=0\n", NULL};
	struct str dir = machine_of(&a, files);
	assert_ok(machine_examine(&a, dir, &m));
	assert_int_equal(m.gpus.v[0].gtt, INT64_MAX);
	assert_int_equal(m.memory, INT64_MAX);
	assert_int_equal(m.memory_free, 7 * 1024);
	assert_int_equal(m.gtt_limit, INT64_MAX);
	assert_int_equal(m.disks.v[0].size, INT64_MAX);
	assert_int_equal(m.disks.v[0].free, INT64_MAX);
	assert_true(m.pressure == 0);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_gpus_may_map_of_the_memory),
		cmocka_unit_test(secure_boot_matters_where_the_driver_is_out),
		cmocka_unit_test(parameters_of_modules_are_compared_with_what_they_have),
		cmocka_unit_test(a_driver_may_be_built_for_another_kernel),
		cmocka_unit_test(pressure_is_recorded_without_names_of_groups),
		cmocka_unit_test(a_kernel_is_recorded_without_its_builder),
		cmocka_unit_test(the_iommu_is_what_the_kernel_says_of_the_gpu),
		cmocka_unit_test(groups_of_the_account_are_told_without_its_name),
		cmocka_unit_test(seccomp_is_that_of_this_process),
		cmocka_unit_test(names_of_users_are_hidden),
		cmocka_unit_test(a_pod_without_an_account_is_one),
		cmocka_unit_test(variables_that_matter_are_told),
		cmocka_unit_test(an_override_may_be_of_one_gpu),
		cmocka_unit_test(a_home_has_another_name_in_a_recording),
		cmocka_unit_test(this_process_has_variables_and_disks),
		cmocka_unit_test(the_table_of_variables_is_in_order),
		cmocka_unit_test(components_are_named_by_files),
		cmocka_unit_test(a_distribution_has_its_own),
		cmocka_unit_test(a_slimmed_tree_says_what_it_has_left),
		cmocka_unit_test(numbers_that_no_machine_has_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
