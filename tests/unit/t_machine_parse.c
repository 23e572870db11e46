/* The parsers behind machine_read(): texts as kernels and distributions write them, and broken
 * ones. */
#include "machine/parse.h"
#include "test.h"

static struct arena a;

static void values_of_lines(void **state)
{
	(void)state;
	struct str text =
		S("Name:\tx\nMemTotal:       24684084 kB\nMemTotal: 1 kB\nempty:\nodd line\n");
	assert_str(line_value(text, ':', S("MemTotal")), "24684084 kB");
	assert_int_equal(line_number(text, ':', S("MemTotal")), 24684084);
	assert_int_equal(line_number(text, ':', S("Name")), 0);
	assert_str(line_value(text, ':', S("empty")), "");
	assert_str(line_value(text, ':', S("odd line")), "");
	assert_str(line_value(S(""), ':', S("x")), "");
	assert_str(line_value(S("x:last"), ':', S("x")), "last");
	assert_int_equal(line_number(S("n:18446744073709551616"), ':', S("n")), 0);
}

static void kfd_properties(void **state)
{
	(void)state;
	struct str text = S("simd_count 192\nlocation_id 768\ndomain 1\ndrm_render_minor -1\n"
			    "device_id 29772\nsomething_new 7x\nnovalue\n");
	assert_int_equal(kfd_number(text, S("simd_count")), 192);
	assert_int_equal(kfd_number(text, S("device_id")), 0x744c);
	assert_int_equal(kfd_number(text, S("drm_render_minor")), 0);
	assert_int_equal(kfd_number(text, S("something_new")), 0);
	assert_int_equal(kfd_number(text, S("novalue")), 0);
	assert_str(kfd_pci_address(&a, text), "0001:03:00.0");
	/* partition bits above, device and function below */
	assert_str(kfd_pci_address(&a, S("location_id 2147468555\ndomain 1\n")), "0001:c5:01.3");
	assert_str(kfd_pci_address(&a, S("location_id 0\ndomain 0\n")), "");
}

static void kfd_banks(void **state)
{
	(void)state;
	assert_int_equal(kfd_bank_size(S("heap_type 1\nsize_in_bytes 17163091968\n")), 17163091968);
	assert_int_equal(kfd_bank_size(S("heap_type 2\nsize_in_bytes 5\n")), 5);
	assert_int_equal(kfd_bank_size(S("heap_type 0\nsize_in_bytes 5\n")), 0);
	assert_int_equal(kfd_bank_size(S("size_in_bytes 5\n")), 0);
}

static void os_release(void **state)
{
	(void)state;
	static const struct {
		struct str text;
		const char *value;
	} cases[] = {
		{.text = S_INIT("ID=debian\n"), .value = "debian"},
		{.text = S_INIT("ID=\"rhel\"\n"), .value = "rhel"},
		{.text = S_INIT("ID='a b'\n"), .value = "a b"},
		{.text = S_INIT("ID=\"a\\\"b\\\\c\\$\""), .value = "a\"b\\c$"},
		{.text = S_INIT("ID=\"half\n"), .value = "\"half"},
		{.text = S_INIT("ID=\"\n"), .value = "\""},
		{.text = S_INIT("ID=x\\"), .value = "x\\"},
		{.text = S_INIT("ID=\n"), .value = ""},
		{.text = S_INIT("VERSION_ID=1\n"), .value = ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_str(parse_os_release(&a, cases[i].text, S("ID")), cases[i].value);
}

static void identities(void **state)
{
	(void)state;
	struct machine m = {0};
	assert_true(parse_identity(&a,
		S("Uid:\t1000\t1001\t1000\t1000\nGid:\t100\t101\t100\t100\nGroups:\t4 992 x "
		  "99999999999 \n"),
		&m));
	assert_int_equal(m.uid, 1001);
	assert_int_equal(m.gid, 101);
	assert_int_equal(m.gids.n, 2);
	assert_int_equal(m.gids.v[1], 992);
	static const char *const bad[] = {"", "Uid:\t1\n", "Uid:\t1\tx\nGid:\t1\t1\n",
		"Uid:\t1\t4294967296\nGid:\t1\t1\n", "Uid:\t1\t1\n", "Uid:\t1\t1\nGid:\t1\n"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(parse_identity(&a, str_from(bad[i]), &m));
}

static void groups(void **state)
{
	(void)state;
	struct str text = S("root:x:0:\nbroken\nrender:x:109:alice,bob\nvideo:x:44");
	assert_str(parse_passwd(text, 109, PASSWD_NAME), "render");
	assert_str(parse_passwd(text, 44, PASSWD_NAME), "video");
	assert_str(parse_passwd(text, 7, PASSWD_NAME), "");
	assert_str(parse_passwd(S(""), 0, PASSWD_NAME), "");
}

static void users(void **state)
{
	(void)state;
	struct str text = S("root:x:0:0:root:/root:/bin/sh\n#\n\nx:x:07:7\n+\nno:x:y:1::/no\n"
			    "eve:x:1000:1000:Eve,,,:/home/eve");
	assert_str(parse_passwd(text, 0, PASSWD_NAME), "root");
	assert_str(parse_passwd(text, 1000, PASSWD_HOME), "/home/eve");
	assert_str(parse_passwd(text, 1000, PASSWD_GID), "1000");
	assert_str(parse_passwd(text, 7, PASSWD_NAME), "x");
	assert_str(parse_passwd(text, 7, PASSWD_HOME), "");
	assert_str(parse_passwd(text, 1, PASSWD_NAME), "");
	assert_str(parse_passwd(S(""), 0, PASSWD_NAME), "");
}

static void cpu_lists(void **state)
{
	(void)state;
	assert_int_equal(parse_cpu_list(S("0-31\n")), 32);
	assert_int_equal(parse_cpu_list(S("0")), 1);
	assert_int_equal(parse_cpu_list(S("0-3,8,10-11")), 7);
	assert_int_equal(parse_cpu_list(S("3-1,x,4-y,1-99999999999")), 0);
	assert_int_equal(parse_cpu_list(S("0-1048575,0-1048575,0-1048575")), 1 << 20);
	assert_int_equal(parse_cpu_list(S("")), 0);
}

static void modules(void **state)
{
	(void)state;
	struct str text = S("amdgpu_extra 1 0 - Live 0x0\namdgpu 2 0 - Live 0x0\n");
	assert_true(line_value(text, ' ', S("amdgpu")).n);
	assert_false(line_value(text, ' ', S("nvidia")).n);
	assert_false(line_value(S("amdgpu"), ' ', S("amdgpu")).n);
}

static void blacklists(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool blocks;
	} cases[] = {
		{.text = "blacklist amdgpu\n", .blocks = true},
		{.text = "  blacklist\tamdgpu   # no\n", .blocks = true},
		{.text = "install amdgpu /bin/false\n", .blocks = true},
		{.text = "install amdgpu /usr/bin/true", .blocks = true},
		{.text = "install amdgpu /sbin/modprobe --ignore-install amdgpu\n"},
		{.text = "#blacklist amdgpu\n"},
		{.text = "# blacklist amdgpu\n"},
		{.text = "blacklist amdgpu2\nblacklist radeon\n"},
		{.text = "options amdgpu si_support=1\n"},
		{.text = ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(
			parse_modprobe(str_from(cases[i].text), S("amdgpu")), cases[i].blocks);
}

static void command_lines(void **state)
{
	(void)state;
	static const struct {
		const char *text, *words;
		bool blocks;
	} cases[] = {
		{.text = "BOOT_IMAGE=/x root=UUID=1 ro iommu=pt amdgpu.gttsize=1 key=secret\n",
			.words = "iommu=pt amdgpu.gttsize=1"},
		{.text = "modprobe.blacklist=radeon,amdgpu",
			.words = "modprobe.blacklist=radeon,amdgpu",
			.blocks = true},
		{.text = "module_blacklist=nouveau", .words = "module_blacklist=nouveau"},
		{.text = "quiet nomodeset", .words = "nomodeset", .blocks = true},
		{.text = "", .words = ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strs words = parse_cmdline(&a, str_from(cases[i].text));
		assert_str(str_join(&a, &words, S(" ")), cases[i].words);
		assert_int_equal(cmdline_blocks(&words, S("amdgpu")), cases[i].blocks);
	}
}

static void environments(void **state)
{
	(void)state;
	struct str text = {.p = "PATH=/bin\0container=podman\0X", .n = 28};
	assert_str(parse_environ(text, S("container")), "podman");
	assert_null(parse_environ(text, S("X")).p); /* no "=" behind it */
	struct str set = {.p = "A=\0B=1", .n = 6};
	assert_true(parse_environ(set, S("A")).p && parse_environ(set, S("A")).n == 0);
	assert_str(parse_environ(set, S("B")), "1");
	assert_str(parse_environ(S(""), S("container")), "");
}

static void version_headers(void **state)
{
	(void)state;
	static const struct {
		const char *text, *prefix, *version;
	} cases[] = {
		{"/* */\n#define ROCM_VERSION_MAJOR   7\n#define ROCM_VERSION_MINOR   1\n"
		 "#define ROCM_VERSION_PATCH   0\n",
			"ROCM_VERSION_", "7.1.0"},
		{"#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 4\n"
		 "#define HIP_VERSION_PATCH 43484\n#define HIP_VERSION (HIP_VERSION_MAJOR * 2)\n",
			"HIP_VERSION_", "6.4.43484"},
		{"#define ROCM_VERSION_MAJOR 7\n#define ROCM_VERSION_MINOR 1\n"
		 "#define ROCM_VERSION_PATCH 0\n",
			"HIP_VERSION_", ""},
		{"#define ROCM_VERSION_MAJOR 7\n", "ROCM_VERSION_", ""},
		{"#define ROCM_VERSION_MAJOR 7\n#define ROCM_VERSION_MINOR 1\n", "ROCM_VERSION_",
			""},
		{"#define ROCM_VERSION_MAJOR x\n", "ROCM_VERSION_", ""},
		{"", "ROCM_VERSION_", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_str(parse_version_header(&a, str_from(cases[i].text), cases[i].prefix),
			cases[i].version);
}

static void overrides(void **state)
{
	(void)state;
	assert_int_equal(parse_override(&a, S("11.0.1")), 110001);
	assert_int_equal(parse_override(&a, S("9.0.10")), 90010);
	static const char *const none[] = {
		"", "9.0", "9.0.x", "9.0.10.1", "9.0.100", "gfx1100", "9..0"};
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(parse_override(&a, str_from(none[i])), 0);
}

static int done(void **state)
{
	(void)state;
	arena_free(&a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_lines),
		cmocka_unit_test(kfd_properties),
		cmocka_unit_test(kfd_banks),
		cmocka_unit_test(os_release),
		cmocka_unit_test(identities),
		cmocka_unit_test(groups),
		cmocka_unit_test(users),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(modules),
		cmocka_unit_test(blacklists),
		cmocka_unit_test(command_lines),
		cmocka_unit_test(environments),
		cmocka_unit_test(version_headers),
		cmocka_unit_test(overrides),
	};
	return cmocka_run_group_tests(tests, NULL, done);
}
